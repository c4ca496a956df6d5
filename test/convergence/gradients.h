/* Shots of gradients for the convergence tests (docs/developers/gradients.md): random derivatives r
 * of chi by what receivers read at each step, the run, and the adjoint one. */
#pragma once

#include "differences.h"
#include "htwave/gradient.h"
#include "src/fd/fd_gradient.h"
#include "src/solve/sampler_private.h"

struct kind {
    const char *name, *options, *engine;
    double bound;
    bool born; /* the medium is judged, too */
};

#define DOUBLE "device.precision=double "
#define SINGLE "device.precision=single "
#define PLAIN "device.backend=oracle "

struct shot {
    struct fd_run run;
    struct ht_gradient *gradient;
    int64_t steps, traces; /* N */
    double *r, *p;         /* [step][trace] */
    bool squares;          /* chi = 1/2 sum of (p - data)^2, else <r, p> */
};

static inline struct ht_fd_stepper *fd_of(const struct shot *s) {
    return fd_stepper(&s->run)->self;
}

static inline double *room(int64_t count) {
    double *x = NULL;
    must(HT_ALLOC(x, count));
    return x;
}

static inline double norm(int64_t count, const double *x) {
    return sqrt(dot(count, x, x));
}

static inline double data_of(int64_t value) {
    return 0.2 * ht_rng_uniform(17, (uint64_t)value);
}

/* A run forwards, with its looks, and back. */
static inline void take(struct shot *s, const struct ht_gradient_choice *choice, const char *engine,
                        const char *options) {
    struct ht_sampler *sampler;
    int64_t some;
    fd_open(&s->run, "initial.type=zero %s %s", options, engine);
    const struct ht_plan *plan = s->run.sim->plan;
    s->steps = ht_resampling_last(plan);
    s->traces = plan->receivers->traces;
    const int64_t values = (s->steps + 1) * s->traces;
    s->r = room(values);
    s->p = room(values);
    for (int64_t i = 0; i < values; i++) s->r[i] = ht_rng_uniform(7, (uint64_t)i);
    must(ht_gradient_create(plan, fd_stepper(&s->run), choice, &s->gradient));
    must(ht_gradient_aim(s->gradient, plan->receivers));
    must(ht_sampler_create(plan, fd_stepper(&s->run), &sampler));
    for (int64_t n = 0; n <= s->steps; n++) {
        if (n > 0) must(ht_stepper_advance(fd_stepper(&s->run), 1));
        must(ht_gradient_look(s->gradient, n));
        must(ht_sampler_collect(sampler, &some, s->p + n * s->traces));
    }
    ht_sampler_destroy(sampler);
    for (int64_t i = 0; s->squares && i < values; i++) s->r[i] = s->p[i] - data_of(i);
    must(ht_gradient_run(s->gradient, s->r));
}

static inline void finish(struct shot *s) {
    ht_gradient_destroy(s->gradient);
    fd_close(&s->run);
    free(s->r);
    free(s->p);
}

static inline double *sums_of(const struct shot *s, int sum) {
    double *out = room(s->run.nodes);
    must(ht_gradient_get(s->gradient, (enum ht_gradient_sum)sum, 0,
                         ht_grid_planes(&s->run.sim->plan->grid, HT_PRIMARY), out));
    return out;
}

/* Random outside of layers, where their stencils do not reach. */
static inline enum ht_err fill_change(const void *context, int what, int64_t first, int64_t last,
                                      double *out) {
    const struct ht_fd_stepper *s = context;
    const struct ht_grid *grid = s->problem.grid;
    const int64_t far = what == 0 ? 0 : ht_fd_reach(&s->engine.spec);
    int64_t n[3];
    for (int k = 0; k < 3; k++) n[k] = ht_grid_nodes(grid, HT_PRIMARY, k);
    for (int64_t node = first * n[0] * n[1]; node < last * n[0] * n[1]; node++, out++) {
        const int64_t m[3] = {node % n[0], node / n[0] % n[1], node / n[0] / n[1]};
        bool inside = true;
        for (int k = 0; k < grid->dims; k++)
            for (int side = 0; side < 2; side++)
                if (grid->layer[k][side] > 0)
                    inside = inside &&
                             (side == 0 ? m[k] : n[k] - 1 - m[k]) >= grid->layer[k][side] + far;
        *out = inside ? ht_rng_uniform(11 + (unsigned)what, (uint64_t)node) : 0;
    }
    return HT_OK;
}

static inline double run_chi(const struct shot *s, const struct ht_problem *problem) {
    struct ht_stepper stepper;
    struct ht_sampler *sampler;
    int64_t some;
    double sum = 0;
    HT_FREED double *p = room(s->traces);
    must(ht_fd_stepper_create(problem, &fd_of(s)->engine, NULL, &stepper));
    stepper.sampler = NULL;
    must(ht_sampler_create(s->run.sim->plan, &stepper, &sampler));
    for (int64_t n = 0; n <= s->steps; n++) {
        if (n > 0) must(ht_stepper_advance(&stepper, 1));
        must(ht_sampler_collect(sampler, &some, p));
        for (int64_t i = 0; i < s->traces; i++)
            sum += s->squares ? pow(p[i] - data_of(n * s->traces + i), 2) / 2
                              : s->r[n * s->traces + i] * p[i];
    }
    ht_sampler_destroy(sampler);
    ht_stepper_destroy(&stepper);
    return sum;
}

/* ---- states that are kept ---- */

/* Sums of all kinds and derivatives by amplitudes, one after the other. */
static inline double *all_of(const struct shot *s, int64_t *count) {
    const int64_t amplitudes = s->steps * s->run.sim->plan->shots->count;
    double *all = room(HT_GRADIENT_SUMS * s->run.nodes + 2 * amplitudes);
    *count = 0;
    for (int i = 0; i < HT_GRADIENT_SUMS; i++) {
        if (!ht_gradient_has(s->gradient, (enum ht_gradient_sum)i)) continue;
        HT_FREED double *sums = sums_of(s, i);
        memcpy(all + *count, sums, (size_t)s->run.nodes * sizeof *all);
        *count += s->run.nodes;
    }
    for (int stage = 0; stage < 2; stage++) {
        const double *of = s->gradient->amplitude[stage ? HT_FD_BY_STAGE : HT_FD_BY_UPDATE];
        if (of == NULL) continue;
        memcpy(all + *count, of, (size_t)amplitudes * sizeof *all);
        *count += amplitudes;
    }
    return all;
}

/* The same bits from the states of more segments, up to three, as from all, whose shot the caller
 * finishes. */
static inline void judge_segments(const char *name, int least, enum ht_gradient_field field,
                                  const char *engine, const char *options, struct shot *whole) {
    struct ht_gradient_facts stored, kept;
    int64_t count;
    *whole = (struct shot){.gradient = NULL};
    take(whole, &(struct ht_gradient_choice){.field = HT_GRADIENT_STORE}, engine, options);
    ht_gradient_facts(whole->gradient, &stored);
    HT_FREED double *expected = all_of(whole, &count);
    const int64_t beside = stored.device - stored.field_bytes;
    for (int part = least; part <= 3; part++) {
        struct shot s = {.gradient = NULL};
        const struct ht_gradient_choice choice = {.field = field,
                                                  .memory = stored.field_bytes / part};
        int64_t same = 0;
        take(&s, &choice, engine, options);
        ht_gradient_facts(s.gradient, &kept);
        HT_FREED double *got = all_of(&s, &count);
        for (int64_t i = 0; i < count; i++) same += got[i] == expected[i];
        TEST_CHECK(same == count && kept.field == HT_GRADIENT_CHECKPOINT && kept.segments >= part &&
                       kept.field_bytes <= choice.memory &&
                       kept.device - kept.field_bytes == beside,
                   "%s: %d segments, %lld of %lld bytes: %lld of %lld numbers are those of one",
                   name, (int)kept.segments, (long long)kept.field_bytes,
                   (long long)stored.field_bytes, (long long)same, (long long)count);
        finish(&s);
    }
}
