/* Weights, dispersion and timing of the finite-difference baseline. */
#include "htwave/finite_differences.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "htwave/kernel_sources.h"
#include "htwave/num.h"

static const double pi = 3.14159265358979323846;

/* ---- the scheme ---- */

struct ht_fd ht_fd_make(int order, int time_order) {
    struct ht_fd fd = {.order = order, .time_order = time_order};
    int r = order / 2;
    double ratio = 1; /* R!^2/((R-k)! (R+k)!) */
    for (int k = 1; k <= r; k++) {
        ratio *= (double)(r - k + 1) / (r + k);
        fd.weight[k] = (k % 2 ? 2 : -2) * ratio / (k * k);
        fd.weight[0] -= 2 * fd.weight[k];
    }
    return fd;
}

/* Symbol of minus the second difference; theta^2 for small theta. */
static double symbol(const struct ht_fd *fd, double theta) {
    double sum = 0;
    for (int k = 1; k <= fd->order / 2; k++) {
        double s = sin(k * theta / 2);
        sum += 4 * fd->weight[k] * s * s;
    }
    return sum;
}

/* Dispersion relation: cos(omega dt) = 1 - x/2 [+ x^2/24 in fourth order in
 * time] with x = nu^2 times the symbol; stable, in [-1, 1], up to x = 4 [12].
 * Half the angle is computed from its sine, because a cosine near 1 loses the
 * digits of the phase. */
double ht_fd_stable(const struct ht_fd *fd, int dims) {
    return sqrt((fd->time_order == 4 ? 12 : 4) / (dims * symbol(fd, pi)));
}

double ht_fd_error(const struct ht_fd *fd, const double k[3], double points,
                   double nu, double wavelengths) {
    double length = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    double theta = 2 * pi / points, x = 0;
    for (int j = 0; j < 3; j++)
        x += nu * nu * symbol(fd, theta * k[j] / length);
    double square = x / 4 - (fd->time_order == 4 ? x * x / 48 : 0);
    if (!(square >= 0 && square <= 1)) return INFINITY;
    double shift = 2 * asin(sqrt(square)) / (theta * nu) - 1;
    double phase = 2 * pi * wavelengths * shift;
    return fabs(phase) >= pi ? 2 : 2 * fabs(sin(phase / 2));
}

/* ---- the kernels ---- */

enum { GROUP_SIZE = 64 };

struct state {
    struct ht_device *device;
    const struct ht_fd *fd;
    int64_t n;
    double nu;
    struct ht_program *program;
    struct ht_kernel *laplacian, *update;
    struct ht_buffer *u[2], *work; /* work: fourth order in time */
};

static void release(struct state *s) {
    for (int i = 0; i < 2; i++) ht_buffer_destroy(s->u[i]);
    ht_buffer_destroy(s->work);
    ht_kernel_destroy(s->laplacian);
    ht_kernel_destroy(s->update);
    ht_program_destroy(s->program);
}

static enum ht_err build(struct state *s, const char *cache) {
    struct ht_text text = {0};
    int r = s->fd->order / 2;
    ht_text_add(&text,
                "#define HT_DOUBLE 0\n#define HT_FD_ITEMS %d\n"
                "#define HT_FD_R %d\n#define HT_FD_WEIGHTS {",
                GROUP_SIZE, r);
    for (int k = 0; k <= r; k++)
        ht_text_add(&text, "%s%.17ef", k ? ", " : "", s->fd->weight[k]);
    ht_text_add(&text, "}\n");
    enum ht_err err = ht_kernel_add_source("prelude.cl", &text);
    if (err == HT_OK)
        err = ht_kernel_add_source("finite_differences.cl", &text);
    if (err == HT_OK) err = ht_text_status(&text);
    if (err == HT_OK)
        err = ht_program_build(s->device, text.data, cache, &s->program);
    ht_text_free(&text);
    if (err == HT_OK)
        err = ht_kernel_create(s->program, "ht_fd_laplacian", &s->laplacian);
    if (err == HT_OK)
        err = ht_kernel_create(s->program, "ht_fd_update", &s->update);
    return err;
}

static float value_at(int64_t i, int which) {
    return (float)ht_rng_uniform(5, (uint64_t)(2 * i + which));
}

static enum ht_err fill(struct state *s) {
    int64_t plane = s->n * s->n;
    int64_t bytes = plane * s->n * (int64_t)sizeof(float);
    float *values = NULL;
    TRY(HT_ALLOC(values, plane));
    enum ht_err err = ht_buffer_create(s->device, bytes, &s->work);
    for (int i = 0; err == HT_OK && i < 2; i++) {
        err = ht_buffer_create(s->device, bytes, &s->u[i]);
        for (int64_t m = 0; err == HT_OK && m < s->n; m++) {
            const int64_t width = plane * (int64_t)sizeof *values;
            for (int64_t p = 0; p < plane; p++)
                values[p] = value_at(m % 8 * plane + p, i);
            err = ht_buffer_write(s->u[i],
                                  (struct ht_span){.offset = m * width,
                                                   .width = width,
                                                   .pitch = width,
                                                   .rows = 1},
                                  values);
        }
    }
    free(values);
    return err;
}

static enum ht_err launch(struct state *s, struct ht_kernel *kernel,
                          const float scale[2], struct ht_buffer *src,
                          struct ht_buffer *out, struct ht_buffer *u) {
    const int64_t march = s->n < 64 ? s->n : 64;
    const int64_t size[4] = {s->n, s->n, s->n, march};
    struct ht_arg args[9];
    for (int i = 0; i < 4; i++)
        args[i] = (struct ht_arg){.value = &size[i], .size = sizeof size[i]};
    for (int i = 0; i < 2; i++)
        args[4 + i] =
            (struct ht_arg){.value = &scale[i], .size = sizeof scale[i]};
    args[6] = (struct ht_arg){.buffer = src};
    args[7] = (struct ht_arg){.buffer = out};
    args[8] = (struct ht_arg){.buffer = u};
    const int64_t groups[3] = {(s->n + GROUP_SIZE - 1) / GROUP_SIZE, s->n,
                               (s->n + march - 1) / march};
    return ht_kernel_launch(kernel, u != NULL ? 9 : 8, args, groups,
                            GROUP_SIZE);
}

/* One time step: from u[0], u[1] at t, t - dt to u[1], u[0] at t + dt, t. */
static enum ht_err step(struct state *s) {
    const float one[2] = {0, 1}, square = (float)(s->nu * s->nu);
    const float second[2] = {0, square};
    const float fourth[2] = {square, square * square / 12};
    struct ht_buffer *now = s->u[0], *out = s->u[1];
    if (s->fd->time_order == 4) {
        TRY(launch(s, s->laplacian, one, now, s->work, NULL));
        TRY(launch(s, s->update, fourth, s->work, out, now));
    } else {
        TRY(launch(s, s->update, second, now, out, now));
    }
    s->u[0] = out;
    s->u[1] = now;
    return HT_OK;
}

/* ---- check against the host ---- */

/* Laplacian of `in`; if absolute, with |weights| and |values|. */
static double laplacian_at(const struct ht_fd *fd, const double *in, int64_t n,
                           const int64_t i[3], bool absolute) {
    double sum = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int k = -fd->order / 2; k <= fd->order / 2; k++) {
            int64_t m[3] = {i[0], i[1], i[2]};
            m[axis] = (m[axis] + k + n) % n;
            double x =
                fd->weight[k < 0 ? -k : k] * in[(m[2] * n + m[1]) * n + m[0]];
            sum += absolute ? fabs(x) : x;
        }
    return sum;
}

static void apply(const struct ht_fd *fd, const double *in, int64_t n,
                  bool absolute, double *out) {
    for (int64_t p = 0; p < n * n * n; p++) {
        const int64_t i[3] = {p % n, p / n % n, p / (n * n)};
        out[p] = laplacian_at(fd, in, n, i, absolute);
    }
}

/* [0] values, [1] sums of magnitudes. */
struct check {
    double *in, *lap[2], *lap2[2];
    float *got;
};

static void free_check(struct check *c) {
    for (int a = 0; a < 2; a++) {
        free(c->lap[a]);
        free(c->lap2[a]);
    }
    free(c->in);
    free(c->got);
}

static enum ht_err alloc_check(int64_t count, struct check *c) {
    TRY(HT_ALLOC(c->in, count));
    for (int a = 0; a < 2; a++) {
        TRY(HT_ALLOC(c->lap[a], count));
        TRY(HT_ALLOC(c->lap2[a], count));
    }
    return HT_ALLOC(c->got, count);
}

/* Initial value at point p of u[which]. */
static double filled(const struct state *s, int64_t p, int which) {
    int64_t plane = s->n * s->n;
    return value_at(p / plane % 8 * plane + p % plane, which);
}

/* Largest difference after one step over its bound, the number of roundings
 * times the sum of magnitudes. */
static double compare(const struct state *s, const struct check *c) {
    const bool fourth = s->fd->time_order == 4;
    const double roundings = (fourth ? 2 : 1) * (3.0 * s->fd->order + 8);
    const double square = s->nu * s->nu;
    const double more = fourth ? square * square / 12 : 0;
    double worst = 0;
    for (int64_t p = 0; p < s->n * s->n * s->n; p++) {
        double before = filled(s, p, 1);
        double exact = 2 * c->in[p] - before + square * c->lap[0][p] +
                       more * c->lap2[0][p];
        double bound = 2 * fabs(c->in[p]) + fabs(before) +
                       square * c->lap[1][p] + more * c->lap2[1][p];
        double ratio = fabs((double)c->got[p] - exact) /
                       (roundings * FLT_EPSILON / 2 * bound);
        if (!(ratio <= worst)) worst = isfinite(ratio) ? ratio : INFINITY;
    }
    return worst;
}

static enum ht_err check_step(struct state *s, struct check *c) {
    const int64_t count = s->n * s->n * s->n;
    const int64_t bytes = count * (int64_t)sizeof *c->got;
    const struct ht_span all = {.width = bytes, .pitch = bytes, .rows = 1};
    TRY(alloc_check(count, c));
    TRY(step(s));
    TRY(ht_device_finish(s->device));
    TRY(ht_buffer_read(s->u[0], all, c->got));
    for (int64_t p = 0; p < count; p++) c->in[p] = filled(s, p, 0);
    for (int a = 0; a < 2; a++) {
        apply(s->fd, c->in, s->n, a, c->lap[a]);
        apply(s->fd, c->lap[a], s->n, a, c->lap2[a]);
    }
    return HT_OK;
}

static enum ht_err verify(struct state *s, double *worst) {
    struct check c = {0};
    enum ht_err err = check_step(s, &c);
    if (err == HT_OK) *worst = compare(s, &c);
    free_check(&c);
    return err;
}

/* ---- time ---- */

static enum ht_err time_steps(struct state *s, double *rate) {
    enum { WARM = 2, TIMED = 9 };
    double seconds[TIMED];
    for (int n = -WARM; n < TIMED; n++) {
        TRY(step(s));
        TRY(ht_device_finish(s->device));
        double taken =
            ht_kernel_seconds(s->laplacian) + ht_kernel_seconds(s->update);
        if (n >= 0) seconds[n] = taken;
    }
    *rate = (double)(s->n * s->n * s->n) / ht_median(TIMED, seconds);
    return HT_OK;
}

static enum ht_err run(struct ht_device *device, const struct ht_fd *fd,
                       int64_t n, const char *cache, double *rate,
                       double *worst) {
    struct state s = {.device = device, .fd = fd, .n = n};
    s.nu = 0.5 * ht_fd_stable(fd, 3);
    enum ht_err err = build(&s, cache);
    if (err == HT_OK) err = fill(&s);
    if (err == HT_OK)
        err = worst != NULL ? verify(&s, worst) : time_steps(&s, rate);
    release(&s);
    return err;
}

enum ht_err ht_fd_measure(struct ht_device *device, const struct ht_fd *fd,
                          int64_t cells, const char *cache, double *rate,
                          double *worst) {
    const int64_t few = 2 * HT_FD_RADIUS + 3;
    TRY(run(device, fd, few, cache, NULL, worst));
    return run(device, fd, cells, cache, rate, NULL);
}
