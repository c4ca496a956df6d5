/* Runs of any scheme for the convergence tests: from `key=value` texts to the error at the end.
 *
 * The error of the scheme is C h^(2N+1) at a fixed CFL number. A ladder is the same run on several
 * grids; observed is
 *     log(e_1/e_2) / log(h_1/h_2)
 * between one rung and the next. What is judged is the least of them. Theory says 2N+1; initial
 * data are not quite the scheme's own wave, and what else they excite decays slowly near c dt = h,
 * so that orders over short times beat about 2N+1: hence 2N+0.7. */
#pragma once

#include "differences.h"

enum { SCENE_TEXT = 1024, SCENE_RUNGS = 8 };

struct scene {
    bool plain;  /* flat grids in double precision by the serial reference: nothing is compiled */
    double part; /* of the largest step, in place of the planned one; 0: that */
};

static inline bool scene_start(struct scene *scene) {
    *scene = (struct scene){0};
    return test_have_double();
}

/* Of what judges numbers and not kernels, which test/kernel compares with the reference: by night
 * and where a device is chosen by kernels, too. */
static inline bool scene_start_plain(struct scene *scene) {
    const bool started = scene_start(scene);
    scene->plain = strcmp(test_judged(), "oracle") == 0;
    return started;
}

/* ---- one run ---- */

struct scene_run {
    struct fd_run of;
    struct ht_plan *plan;
    double *nodal[HT_MAX_FIELDS];
    int64_t done; /* steps */
};

static inline void scene_close(struct scene_run *run) {
    for (int f = 0; f < HT_MAX_FIELDS; f++) free(run->nodal[f]);
    fd_close(&run->of);
    *run = (struct scene_run){0};
}

/* Options separated by blanks; by Taylor series in double precision unless they say otherwise. */
static inline enum ht_err scene_read(const char *text, struct ht_params **out) {
    return test_params(NULL, ' ', out, "device.precision=double time.scheme=taylor %s", text);
}

static inline void scene_plan(const struct scene *scene, struct scene_run *run, const char *text) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    must(scene_read(text, &params));
    const bool flat = params->device.precision == HT_DOUBLE && params->grid.dims < 3;
    *run = (struct scene_run){0};
    fd_plan(&run->of, "time.scheme=taylor device.backend=%s %s",
            scene->plain && flat ? "oracle" : test_backend(), text);
    struct ht_plan *plan = run->plan = run->of.sim->plan;
    if (scene->part > 0) plan->problem.dt *= scene->part * plan->cfl_limit / plan->cfl;
    for (int f = 0; f < plan->eq.nfields; f++)
        if (ht_problem_stores(&plan->problem, HT_PRIMARY, f))
            must(HT_ALLOC(run->nodal[f], run->of.nodes));
}

/* The state at time 0. */
HT_PRINTF(3, 4)
static inline void scene_open(struct scene *scene, struct scene_run *run, const char *format, ...) {
    TEST_TEXT(text, SCENE_TEXT, format);
    scene_plan(scene, run, text);
    fd_start(&run->of);
}

static inline void scene_advance(struct scene_run *run, int64_t steps) {
    run->done += steps;
    fd_advance(&run->of, steps);
    must(ht_fields_read(run->plan, fd_stepper(&run->of), 1, run->nodal));
}

/* To the end: the error there. */
static inline double scene_finish(struct scene_run *run) {
    const double *const *nodal = (const double *const *)run->nodal;
    double error = NAN;
    scene_advance(run, run->plan->steps - run->done);
    must(ht_nodal_error(run->plan, nodal, run->of.params->time.end, &error));
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
