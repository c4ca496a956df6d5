/* Runs for the convergence tests: from `key=value` texts to the error at the end, on the device
 * that test/open_device.h opens. A step is compiled once for each (variant, system, dimension, N,
 * precision, layout, degree of the medium); grids, walls, stages and time steps are its arguments.
 *
 * The error of the scheme is C h^(2N+1) at a fixed CFL number. A ladder is the same run on several
 * grids; observed is
 *     log(e_1/e_2) / log(h_1/h_2)
 * between one rung and the next. What is judged is the least of them. Theory says 2N+1; initial
 * data are not quite the scheme's own wave, and what else they excite decays slowly near c dt = h,
 * so that orders over short times beat about 2N+1: hence 2N+0.7. */
#pragma once

#include <float.h>
#include <stdarg.h>

#include "../open_device.h"
#include "../test.h"
#include "htwave/energy.h"
#include "must.h"
#include "options.h"

enum { SCENE_TEXT = 1024, SCENE_RUNGS = 8 };

/* ---- compiled steps ---- */

struct scene_step {
    struct ht_equations eq;
    struct ht_kernels kernels;
    struct scene_step *next;
};

struct scene {
    struct ht_device *device;
    struct scene_step *steps;
    double compile_s;
    bool plain;  /* flat grids in double precision by the serial reference: nothing is compiled */
    double part; /* of the largest step, in place of the planned one; 0: that */
};

static inline bool scene_start(struct scene *scene) {
    *scene = (struct scene){0};
    return test_have_double() && test_open_device(&scene->device) == HT_OK;
}

/* Of what judges numbers and not kernels, which test/kernel compares with the reference: by night
 * and where a device is chosen by kernels, too. */
static inline bool scene_start_plain(struct scene *scene) {
    const bool started = scene_start(scene);
    scene->plain = strcmp(test_judged(), "oracle") == 0;
    return started;
}

static inline void scene_end(struct scene *scene) {
    struct scene_step *next;
    for (struct scene_step *s = scene->steps; s != NULL; s = next) {
        next = s->next;
        ht_kernels_destroy(&s->kernels);
        free(s);
    }
    ht_device_close(scene->device);
    printf("compiled in %.1f s\n", scene->compile_s);
}

static inline bool scene_same(const struct ht_spec *a, const struct ht_spec *b) {
    return a->eq->system == b->eq->system && a->eq->dims == b->eq->dims && a->order == b->order &&
           a->fp64 == b->fp64 && a->block == b->block && a->medium_degree == b->medium_degree &&
           a->src == b->src && a->dst == b->dst && a->old_sign == b->old_sign &&
           a->differences == b->differences && a->density == b->density && a->pair == b->pair &&
           a->wide == b->wide && (a->pair == HT_PAIR_NONE || a->stages == b->stages);
}

static inline enum ht_err scene_compile(struct scene *scene, const struct ht_plan *plan,
                                        const struct ht_tuning *tuning, struct scene_step *entry) {
    struct ht_problem problem = plan->problem;
    double began = ht_clock();
    problem.eq = &entry->eq;
    enum ht_err err = ht_kernels_create(&problem, scene->device, tuning, &entry->kernels);
    scene->compile_s += ht_clock() - began;
    return err;
}

/* The step that suits a plan. An operator variant has one for each medium, step and grid. */
static inline enum ht_err scene_find(struct scene *scene, const struct ht_plan *plan,
                                     struct scene_step **out) {
    const struct ht_params *params = plan->params;
    bool fp64 = params->device.precision == HT_DOUBLE;
    bool blocked = params->device.layout == HT_LAYOUT_BLOCKED;
    struct ht_tuning tuning = {.fp64 = fp64,
                               .ptx = ht_device_info(scene->device)->ptx,
                               .ptx_own = ht_device_info(scene->device)->ptx_own,
                               .trim = true,
                               .block = !blocked ? 1
                                        : fp64   ? 2
                                                 : 4};
    struct ht_spec spec = ht_problem_spec(&plan->problem, &tuning, HT_PRIMARY);
    struct scene_step *s = scene->steps;
    tuning.variant =
        ht_variant_find(params->device.variant, &spec, ht_device_info(scene->device)->gpu);
    REQUIRE(tuning.variant, HT_ERR_INPUT, "no variant %s", params->device.variant);
    while (s && (s->kernels.variant != tuning.variant || tuning.variant->pack ||
                 !scene_same(&s->kernels.spec[0], &spec)))
        s = s->next;
    *out = s;
    if (s != NULL) return HT_OK;
    TRY(HT_ALLOC(s, 1));
    *s = (struct scene_step){.eq = plan->eq, .next = scene->steps};
    *out = scene->steps = s;
    return scene_compile(scene, plan, &tuning, s);
}

/* ---- one run ---- */

struct scene_run {
    struct ht_params *params;
    struct ht_plan *plan;
    struct ht_stepper stepper;
    double *nodal[HT_MAX_FIELDS];
    int64_t done; /* steps */
};

static inline void scene_close(struct scene_run *run) {
    for (int f = 0; f < HT_MAX_FIELDS; f++) free(run->nodal[f]);
    ht_stepper_destroy(&run->stepper);
    ht_plan_destroy(run->plan);
    ht_params_destroy(run->params);
    *run = (struct scene_run){0};
}

/* Options separated by blanks; by Taylor series in double precision unless they say otherwise. */
static inline enum ht_err scene_read(const char *text, struct ht_params **out) {
    return test_params(NULL, ' ', out, "device.precision=double time.scheme=taylor %s", text);
}

static inline enum ht_err scene_prepare(struct scene *scene, const char *text,
                                        struct scene_run *run) {
    struct scene_step *step;
    TRY(scene_read(text, &run->params));
    TRY(ht_plan_create(run->params, NULL, &run->plan));
    if (scene->part > 0)
        run->plan->problem.dt *= scene->part * run->plan->cfl_limit / run->plan->cfl;
    int64_t nodes = ht_grid_total(&run->plan->grid, HT_PRIMARY);
    for (int f = 0; f < run->plan->eq.nfields; f++)
        if (ht_problem_stores(&run->plan->problem, HT_PRIMARY, f))
            TRY(HT_ALLOC(run->nodal[f], nodes));
    const bool fp64 = run->params->device.precision == HT_DOUBLE;
    if (scene->plain && fp64 && run->plan->grid.dims < 3) {
        TRY(ht_oracle_create(&run->plan->problem, &run->stepper));
        return ht_start(run->plan, NULL, NULL, &run->stepper);
    }
    TRY(scene_find(scene, run->plan, &step));
    TRY(ht_stepper_create(&run->plan->problem, scene->device, &step->kernels, &run->stepper));
    const struct ht_spec *spec = &step->kernels.spec[0];
    const struct ht_tuning tuning = {.variant = step->kernels.variant,
                                     .fp64 = spec->fp64,
                                     .trim = spec->trim,
                                     .block = spec->block};
    return ht_start(run->plan, scene->device, &tuning, &run->stepper);
}

/* The state at time 0. */
HT_PRINTF(3, 4)
static inline void scene_open(struct scene *scene, struct scene_run *run, const char *format, ...) {
    TEST_TEXT(text, SCENE_TEXT, format);
    *run = (struct scene_run){0};
    must(scene_prepare(scene, text, run));
}

static inline void scene_advance(struct scene_run *run, int64_t steps) {
    run->done += steps;
    must(ht_stepper_advance(&run->stepper, steps));
    must(ht_nodal_read(run->plan, &run->stepper, run->nodal));
}

static inline struct ht_state scene_state(const struct scene_run *run) {
    struct ht_state state;
    must(ht_state_measure(run->plan, &run->stepper, 0, &state));
    return state;
}

/* To the end: the error there. */
static inline double scene_finish(struct scene_run *run) {
    const double *const *nodal = (const double *const *)run->nodal;
    double error = NAN;
    scene_advance(run, run->plan->steps - run->done);
    must(ht_nodal_error(run->plan, nodal, run->params->time.end, &error));
    return error;
}

/* ---- rounding ---- */

/* Sum of the magnitudes that a half step adds up for coefficient `row`, along one axis, for a wave
 * of amplitude 1 (u_i = theta^i/i!): row `row` of the shift by s cells times |H|. */
static inline double scene_growth(int order, int row, double s, double theta) {
    enum { MOST = 2 * HT_MAX_ORDER + 2 };
    double h[MOST * MOST], factor = 1, sum = 0;
    int m = order + 1;
    ht_hermite_matrix(order, h);
    for (int j = row; j < 2 * m; j++) {
        double u = 1;
        for (int i = 0; i < m; i++) {
            sum += factor * u * (fabs(h[2 * m * j + i]) + fabs(h[2 * m * j + m + i]));
            u *= theta / (i + 1);
        }
        factor *= s * (j + 1) / (j + 1 - row); /* C(j, row) s^(j-row) */
    }
    return sum;
}

static inline double scene_epsilon(const struct ht_plan *plan) {
    bool fp64 = plan->params->device.precision == HT_DOUBLE;
    return fp64 ? DBL_EPSILON : FLT_EPSILON;
}

/* What rounding may add to the relative error: each half step commits eps times the growth of
 * values. They need not be independent: a wave on few cells meets the same numbers over and over.
 */
static inline double scene_rounding(const struct ht_plan *plan) {
    const struct ht_grid *grid = &plan->grid;
    double growth = 1;
    for (int k = 0; k < grid->dims; k++) {
        double theta = fmax(plan->solution->wavenumber[k] * grid->h[k], 1);
        double s = plan->medium->speed[k] * plan->problem.dt / grid->h[k] / 2;
        growth *= scene_growth(grid->order, 0, s, theta);
    }
    return scene_epsilon(plan) * (2.0 * (double)plan->steps + 1) * growth;
}

/* ---- ladders ---- */

struct scene_ladder {
    int ratio[3];           /* cells along axis k: ratio[k] times those of the rung */
    int cells[SCENE_RUNGS]; /* of the rungs; ends with 0 */
    double wanted;          /* order */
};

/* Runs `text` (all options but grid.cells): the least order between two rungs is judged, of errors
 * that are no rounding. */
static inline void scene_ladder(struct scene *scene, const char *name,
                                const struct scene_ladder *ladder, const char *text) {
    HT_ENDED(ht_text_free) struct ht_text errors = {0};
    double before = 0, order = INFINITY;
    bool seen = true;
    for (int n = 0; n < SCENE_RUNGS && ladder->cells[n] > 0; n++) {
        HT_ENDED(scene_close) struct scene_run run;
        char cells[64] = "";
        int used = 0;
        for (int k = 0; k < 3 && ladder->ratio[k] > 0; k++)
            used += snprintf(cells + used, sizeof cells - (size_t)used, "%s%d", k ? "," : "",
                             ladder->ratio[k] * ladder->cells[n]);
        scene_open(scene, &run, "grid.cells=[%s] %s", cells, text);
        const double error = scene_finish(&run);
        seen = seen && error > scene_rounding(run.plan);
        ht_text_add(&errors, "%s%d: %.2e", n ? ", " : "", ladder->cells[n], error);
        const double ratio = (double)ladder->cells[n] / (double)ladder->cells[n > 0 ? n - 1 : 0];
        if (n > 0) order = fmin(order, log(before / error) / log(ratio));
        before = error;
    }
    TEST_CHECK(seen && order >= ladder->wanted && order < INFINITY,
               "%s: order %.2f (at least %.2f); %s%s", name, order, ladder->wanted, errors.data,
               seen ? "" : ", which may be rounding");
}
