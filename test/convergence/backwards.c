/* Half steps backwards.
 *   return     by leapfrog, which is reversible, 100 steps there and back lead
 *              to the start but for rounding: noise, with and without walls, by
 *              the reference and on the device;
 *   earlier    by the Taylor scheme, which dissipates, steps with -dt give the
 *              solution at the earlier time to the scheme's error, and not the
 *              start itself.
 */
#include "scene.h"

enum { STEPS = 100, HALVES = 2 * STEPS };

/* ---- return ---- */

struct trial {
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_problem problem;
    struct ht_tuning tuning;
    double *start, *now; /* of a grid: [field][i][node] */
    char name[120];
};

static void make(struct trial *t, const char *system, int dims, int order, bool walls,
                 const char *variant) {
    *t = (struct trial){.eq = ht_equations_make(ht_system_find(system), dims),
                        .grid = {.dims = dims, .order = order}};
    for (int k = 0; k < 3; k++) {
        t->grid.cells[k] = k < dims ? 4 + k : 1;
        t->grid.h[k] = 1;
        t->grid.upper[k] = (double)t->grid.cells[k];
        for (int side = 0; side < 2; side++)
            t->grid.wall[k][side] = walls && k < dims ? 1 - 2 * side : 0;
    }
    t->problem =
        (struct ht_problem){.eq = &t->eq, .grid = &t->grid, .medium_degree = -1, .dt = 0.8};
    for (int m = 0; m < HT_MAX_MATERIALS; m++) t->problem.uniform[m] = 1;
    const struct ht_scheme *leapfrog = ht_scheme_at(HT_LEAPFROG);
    const char *why = ht_problem_set_scheme(&t->problem, leapfrog);
    if (why != NULL) TEST_CHECK(false, "the fields of %s %s", system, why);
    t->problem.stages = ht_scheme_full_stages(leapfrog, &t->eq, order);
    t->tuning =
        (struct ht_tuning){.variant = ht_variant_find(variant ? variant : "monolithic", NULL, 0),
                           .fp64 = true,
                           .trim = true,
                           .block = 1};
    snprintf(t->name, sizeof t->name, "%s %d-D N=%d %s by %s", system, dims, order,
             walls ? "walls" : "periodic", variant ? variant : "the reference");
}

static int64_t values_of(const struct trial *t, enum ht_subgrid subgrid) {
    return ht_grid_total(&t->grid, subgrid) * ht_grid_coefs(&t->grid) * t->eq.nfields;
}

/* Data of a grid: noise, or `one` everywhere. */
static void fill(const struct trial *t, enum ht_subgrid subgrid, bool one, double *out) {
    for (int64_t n = 0; n < values_of(t, subgrid); n++)
        out[n] = one ? 1 : ht_rng_uniform(11 + (uint64_t)subgrid, (uint64_t)n);
}

static enum ht_err put(const struct trial *t, const struct ht_stepper *s, bool one) {
    for (int m = 0; m < 2; m++) {
        const enum ht_subgrid subgrid = m ? HT_DUAL : HT_PRIMARY;
        fill(t, subgrid, one, t->start);
        TRY(s->ops->put(s->self, subgrid, 0, ht_grid_planes(&t->grid, subgrid), t->start));
    }
    return HT_OK;
}

/* The largest stored value of both grids, and the largest change from the start. */
static enum ht_err look(const struct trial *t, const struct ht_stepper *s, double *largest,
                        double *change) {
    const int coefs = ht_grid_coefs(&t->grid);
    for (int m = 0; m < 2 * t->eq.nfields; m++) {
        const enum ht_subgrid subgrid = m % 2 ? HT_DUAL : HT_PRIMARY;
        const int64_t values = ht_grid_total(&t->grid, subgrid) * coefs;
        if (!ht_problem_stores(&t->problem, subgrid, m / 2)) continue;
        TRY(s->ops->get(s->self, subgrid, m / 2, coefs, 0, ht_grid_planes(&t->grid, subgrid),
                        t->now));
        fill(t, subgrid, false, t->start);
        for (int64_t n = 0; n < values; n++) {
            *largest = fmax(*largest, fabs(t->now[n]));
            *change = fmax(*change, fabs(t->now[n] - t->start[m / 2 * values + n]));
        }
    }
    return HT_OK;
}

/* What a half step from data of at most 1 may be off by rounding. */
static enum ht_err rounding(const struct trial *t, double *out) {
    struct ht_stepper s = {0};
    double largest = 0, change = 0;
    TRY(ht_oracle_create(&t->problem, &s));
    ht_oracle_absolute(&s);
    enum ht_err err = HT_OK;
    for (int from = 0; from < 2 && err == HT_OK; from++) {
        err = put(t, &s, true);
        if (err == HT_OK) err = s.ops->half_step(s.self, from ? HT_DUAL : HT_PRIMARY);
        if (err == HT_OK) err = look(t, &s, &largest, &change);
    }
    ht_stepper_destroy(&s);
    *out = ht_oracle_roundings(&t->problem) * DBL_EPSILON / 2 * largest;
    return err;
}

static enum ht_err there_and_back(const struct trial *t, const struct ht_stepper *s,
                                  double *largest, double *off) {
    double change = 0, unused = 0;
    TRY(put(t, s, false));
    for (int n = 0; n < STEPS; n++) {
        TRY(s->ops->half_step(s->self, HT_PRIMARY));
        TRY(s->ops->half_step(s->self, HT_DUAL));
        TRY(look(t, s, largest, &change));
    }
    TEST_CHECK(change > 0.5, "%s: %d steps change values by up to %.2g", t->name, STEPS, change);
    for (int n = 0; n < STEPS; n++) TRY(ht_stepper_step_back(s, t->problem.scheme));
    TRY(s->ops->finish(s->self));
    return look(t, s, &unused, off);
}

/* device NULL: the reference. */
static enum ht_err run_return(const struct trial *t, struct ht_device *device, double *largest,
                              double *off) {
    const struct ht_problem reversed = ht_problem_reversed(&t->problem);
    struct ht_kernels kernels[2] = {{0}, {0}};
    struct ht_stepper s = {0};
    struct ht_region all = {.kernels = &kernels[0], .back = &kernels[1]};
    enum ht_err err = HT_OK;
    for (int k = 0; k < 3; k++) all.cells.end[k] = t->grid.cells[k];
    if (device == NULL) {
        err = ht_oracle_create(&t->problem, &s);
    } else {
        err = ht_kernels_create(&t->problem, device, &t->tuning, &kernels[0]);
        if (err == HT_OK) err = ht_kernels_create(&reversed, device, &t->tuning, &kernels[1]);
        if (err == HT_OK) err = ht_stepper_create_regions(&t->problem, device, 1, &all, &s);
    }
    if (err == HT_OK) err = there_and_back(t, &s, largest, off);
    ht_stepper_destroy(&s);
    for (int i = 0; i < 2; i++) ht_kernels_destroy(&kernels[i]);
    return err;
}

/* Each half step is off by rounding of the largest values on the way, which the later ones, 2
 * HALVES in all, carry on at most 2 HALVES-fold: modes of leapfrog grow no faster than linearly. */
static void test_return(struct ht_device *device, const char *system, int dims, int order,
                        bool walls, const char *variant) {
    struct trial t;
    double largest = 1, off = 0, each = 0;
    make(&t, system, dims, order, walls, variant);
    const int64_t room = values_of(&t, HT_PRIMARY);
    enum ht_err err = HT_ALLOC(t.start, room);
    if (err == HT_OK) err = HT_ALLOC(t.now, room);
    if (err == HT_OK) err = rounding(&t, &each);
    if (err == HT_OK) err = run_return(&t, variant ? device : NULL, &largest, &off);
    free(t.start);
    free(t.now);
    if (err != HT_OK)
        TEST_CHECK(false, "%s: %s", t.name, ht_err_message());
    else
        TEST_BELOW(off, 4.0 * HALVES * HALVES * each * largest,
                   "%s: back after %d steps, values up to %.2g", t.name, STEPS, largest);
}

/* ---- earlier ---- */

/* The error E of the run to the end; that of the steps back from the exact solution is E, too,
 * since a mirror turns the one wave into the other. What stands at the end is off by E before it
 * takes these steps, which do not magnify it in the seminorm of interpolation; a tenth for nodal
 * values. */
static enum ht_err go_back(struct scene *scene, struct scene_run *run, const char *system,
                           int order, double *there, double *back) {
    TRY(scene_open(scene, run,
                   "system=%s grid.order=%d grid.cells=[%d] initial.type=plane "
                   "initial.cycles=[1] time.cfl=0.8 time.end=2.6 "
                   "device.variant=monolithic",
                   system, order, 24 / order));
    TRY(scene_finish(run, there));
    const struct ht_stepper *s = &run->stepper;
    for (int64_t n = 0; n < run->plan->steps; n++)
        TRY(ht_stepper_step_back(s, run->plan->problem.scheme));
    TRY(s->ops->finish(s->self));
    TRY(ht_nodal_read(run->plan, s, run->nodal));
    return ht_nodal_error(run->plan, (const double *const *)run->nodal, 0, back);
}

static void test_earlier(struct scene *scene, const char *system, int order) {
    struct scene_run run;
    double there = 0, back = 0;
    enum ht_err err = go_back(scene, &run, system, order, &there, &back);
    if (err != HT_OK) {
        TEST_CHECK(false, "%s N=%d: %s", system, order, ht_err_message());
        scene_close(&run);
        return;
    }
    TEST_BELOW(back, 2.2 * there + scene_rounding(run.plan),
               "%s N=%d: error at time 0 after %lld steps and back, %.2e at "
               "the end",
               system, order, (long long)run.plan->steps, there);
    TEST_CHECK(back > 2 * scene_rounding(run.plan),
               "%s N=%d: does not return but for rounding, %.2g", system, order,
               scene_rounding(run.plan));
    scene_close(&run);
}

int main(void) {
    struct scene scene;
    for (int i = 0; i < 4; i++) {
        const char *system = i % 2 ? "acoustic" : "wave";
        test_return(NULL, system, 1, 3, i / 2, NULL);
        test_return(NULL, system, 2, 1, i / 2, NULL);
    }
    if (!scene_start(&scene)) return test_end("backwards");
    for (int i = 0; i < 4; i++) {
        const char *system = i % 2 ? "acoustic" : "wave";
        test_return(scene.device, system, 2, 2, i / 2, "propagator");
        test_return(scene.device, system, 3, 1, i / 2, "monolithic");
    }
    for (int order = 1; order <= 3; order++) {
        test_earlier(&scene, "acoustic", order);
        test_earlier(&scene, "advection", order);
    }
    scene_end(&scene);
    return test_end("backwards");
}
