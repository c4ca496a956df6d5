/* The rate of the finite-difference kernels. */
#include <stdlib.h>

#include "htwave/fd_kernel.h"
#include "htwave/num.h"

enum { U, W, D, A, B, BUFFERS = B + 3 };

struct state {
    struct ht_device *device;
    struct ht_fd_kernels *kernels;
    struct ht_fd_box box;
    struct ht_fd_operator op;
    struct ht_buffer *buffer[BUFFERS]; /* B to B + 2: where density varies */
};

static void release(struct state *s) {
    for (int i = 0; i < BUFFERS; i++) ht_buffer_destroy(s->buffer[i]);
    ht_fd_kernels_destroy(s->kernels);
}

static void set_box(const struct ht_fd_spec *spec, int64_t reach, int64_t cells,
                    struct state *s) {
    const struct ht_fd_row row = ht_fd_row(cells, reach);
    for (int k = 0; k < 3; k++) {
        s->box.begin[k] = k == 0 ? row.begin : k < spec->dims ? reach : 0;
        s->box.end[k] = s->box.begin[k] + (k < spec->dims ? cells : 1);
    }
    s->box.row = row.row;
    s->box.plane = row.row * (s->box.begin[1] + s->box.end[1]);
}

/* Random values in factor (1/2, 3/2), the same ones in every PLANES planes. */
enum { PLANES = 8 };
static void make_values(const struct ht_fd_spec *spec, int64_t count, int which,
                        double factor, void *out) {
    for (int64_t i = 0; i < count; i++) {
        const double random = ht_rng_uniform(5 + (uint64_t)which, (uint64_t)i);
        const double value = factor * (1 + random / 2);
        if (spec->fp64)
            ((double *)out)[i] = value;
        else
            ((float *)out)[i] = (float)value;
    }
}

static enum ht_err fill(struct state *s, const struct ht_fd_spec *spec,
                        int which, double factor) {
    const int64_t planes = s->box.begin[2] + s->box.end[2];
    const int64_t width = s->box.plane * (spec->fp64 ? 8 : 4);
    double *values = NULL; /* or as many of float */
    TRY(ht_buffer_create(s->device, planes * width, &s->buffer[which]));
    TRY(HT_ALLOC(values, PLANES * s->box.plane));
    make_values(spec, PLANES * s->box.plane, which, factor, values);
    enum ht_err err = HT_OK;
    for (int64_t m = 0; err == HT_OK && m < planes; m += PLANES) {
        const int64_t rest = planes - m < PLANES ? planes - m : PLANES;
        const struct ht_span span = {.offset = m * width,
                                     .width = rest * width,
                                     .pitch = rest * width,
                                     .rows = 1};
        err = ht_buffer_write(s->buffer[which], span, values);
    }
    free(values);
    return err;
}

static enum ht_err prepare(struct state *s, const struct ht_fd_spec *spec) {
    const int buffers = spec->density ? BUFFERS : B;
    for (int i = 0; i < buffers; i++) TRY(fill(s, spec, i, i == D ? 1e-3 : 1));
    s->op.a = s->buffer[A];
    for (int k = 0; k < 3; k++) {
        s->op.b[k] = s->buffer[B + k];
        s->op.scale[k] = 1e-3;
    }
    return HT_OK;
}

/* One launch takes its values from u to w and back. */
static enum ht_err step(struct state *s, int passes) {
    struct ht_buffer *u = s->buffer[U], *w = s->buffer[W], *d = s->buffer[D];
    if (passes == 2) {
        TRY(ht_fd_stage(s->kernels, HT_PART_INTERIOR, &s->box, &s->op, u, w));
        return ht_fd_update(s->kernels, HT_PART_INTERIOR, &s->box, &s->op, w, d,
                            u, u);
    }
    s->buffer[U] = w;
    s->buffer[W] = u;
    return ht_fd_update(s->kernels, HT_PART_INTERIOR, &s->box, &s->op, u, d, u,
                        w);
}

static enum ht_err time_steps(struct state *s, int passes, double *seconds) {
    enum { WARM = 2, TIMED = 9 };
    double taken[TIMED];
    for (int n = -WARM; n < TIMED; n++) {
        TRY(step(s, passes));
        TRY(ht_device_finish(s->device));
        double now = ht_fd_kernels_seconds(s->kernels);
        if (n >= 0) taken[n] = now;
    }
    *seconds = ht_median(TIMED, taken);
    return HT_OK;
}

enum ht_err ht_fd_measure(struct ht_device *device,
                          const struct ht_fd_spec *spec,
                          const struct ht_fd_variant *variant,
                          const struct ht_fd_shape *shape, int passes,
                          int64_t cells, const char *cache, double *rate) {
    struct state s = {.device = device};
    double seconds = 1;
    set_box(spec, ht_fd_reach(spec), cells, &s);
    enum ht_err err =
        ht_fd_kernels_create(device, spec, variant, shape, cache, &s.kernels);
    if (err == HT_OK) err = prepare(&s, spec);
    if (err == HT_OK) err = time_steps(&s, passes, &seconds);
    *rate = 1 / seconds;
    for (int k = 0; k < spec->dims; k++) *rate *= (double)cells;
    release(&s);
    return err;
}
