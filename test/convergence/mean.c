/* The mean of `wave` by leapfrog where nothing fixes it.
 *   law      the weighted sum of ht_mean_weights is linear in time: noise,
 *            stepped by the reference, periodic and between rigid walls;
 *   kept     in single precision a stepper on a device keeps it to what its
 *            own roundings add between two looks at it, forwards and back;
 *   waves    so do waves after 100 wavelengths on a few cells.
 */
#include "htwave/means.h"
#include "htwave/oracle.h"
#include "scene.h"

struct trial {
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_problem problem;
    struct ht_tuning tuning;
    double weight[HT_MAX_COEFS];
    double *data;
    char name[120];
};

static void make(struct trial *t, int dims, int order, bool walls, double dt) {
    *t = (struct trial){.eq = ht_equations_make(ht_system_find("wave"), dims),
                        .grid = {.dims = dims, .order = order}};
    for (int k = 0; k < 3; k++) {
        t->grid.cells[k] = k < dims ? 4 + k : 1;
        t->grid.h[k] = 1 + 0.25 * k;
        t->grid.upper[k] = t->grid.h[k] * (double)t->grid.cells[k];
        for (int side = 0; side < 2; side++)
            t->grid.wall[k][side] = walls && k < dims;
    }
    t->problem = (struct ht_problem){
        .eq = &t->eq, .grid = &t->grid, .medium_degree = -1, .dt = dt};
    for (int m = 0; m < HT_MAX_MATERIALS; m++) t->problem.uniform[m] = 1;
    const struct ht_scheme *leapfrog = ht_scheme_at(HT_LEAPFROG);
    const char *why = ht_problem_set_scheme(&t->problem, leapfrog);
    if (why != NULL) TEST_CHECK(false, "the fields of wave %s", why);
    t->problem.stages = leapfrog->full_stages(&t->eq, order);
    t->tuning =
        (struct ht_tuning){.variant = ht_variant_find("propagator", NULL, 0),
                           .trim = true,
                           .block = order == 3 ? 4 : 1};
    snprintf(t->name, sizeof t->name, "%d-D N=%d %s", dims, order,
             walls ? "rigid" : "periodic");
}

static enum ht_err prepare(struct trial *t) {
    const struct ht_tuning plain = {.block = 1};
    const struct ht_spec spec =
        ht_problem_spec(&t->problem, &plain, HT_PRIMARY);
    TRY(ht_mean_weights(&spec, 0, t->weight));
    return HT_ALLOC(t->data, ht_grid_total(&t->grid, HT_PRIMARY) *
                                 ht_grid_coefs(&t->grid) * t->eq.nfields);
}

/* Whether a wall makes coefficient i of a node vanish: odd across it. */
static bool vanishes(const struct trial *t, enum ht_subgrid subgrid, int i,
                     int64_t node) {
    const int order = t->grid.order;
    for (int k = 0; k < t->grid.dims; k++) {
        const int64_t count = ht_grid_nodes(&t->grid, subgrid, k);
        const int64_t at = node % count;
        const bool wall = (at == 0 && t->grid.wall[k][0]) ||
                          (at == count - 1 && t->grid.wall[k][1]);
        if (subgrid == HT_PRIMARY && wall && i % (order + 1) % 2) return true;
        node /= count;
        i /= order + 1;
    }
    return false;
}

/* Noise of at most 1; u itself has a mean, which grows by `slope` per half
 * step. */
static enum ht_err put(const struct trial *t, const struct ht_stepper *s,
                       double slope) {
    for (int m = 0; m < 2; m++) {
        const enum ht_subgrid subgrid = m ? HT_DUAL : HT_PRIMARY;
        const int64_t nodes = ht_grid_total(&t->grid, subgrid);
        const int coefs = ht_grid_coefs(&t->grid);
        memset(t->data, 0,
               (size_t)(nodes * coefs * t->eq.nfields) * sizeof *t->data);
        for (int64_t n = 0; n < nodes * coefs; n++)
            if (!vanishes(t, subgrid, (int)(n / nodes), n % nodes))
                t->data[n] = ht_rng_uniform(11 + (uint64_t)m, (uint64_t)n) / 2 +
                             (n < nodes ? 0.25 - m * slope : 0);
        TRY(s->ops->put(s->self, subgrid, 0, ht_grid_planes(&t->grid, subgrid),
                        t->data));
    }
    return HT_OK;
}

/* The weighted mean of a grid, and the mean magnitude of its terms. */
static enum ht_err look(const struct trial *t, const struct ht_stepper *s,
                        enum ht_subgrid subgrid, double *mean, double *size) {
    const int coefs = ht_grid_coefs(&t->grid);
    const int64_t nodes = ht_grid_total(&t->grid, subgrid);
    double cells = 1;
    *mean = *size = 0;
    TRY(s->ops->get(s->self, subgrid, 0, coefs, 0,
                    ht_grid_planes(&t->grid, subgrid), t->data));
    for (int k = 0; k < 3; k++) cells *= (double)t->grid.cells[k];
    for (int64_t n = 0; n < nodes; n++) {
        double part = 1 / cells;
        int64_t rest = n;
        for (int k = 0; k < 3; k++) {
            const int64_t count = ht_grid_nodes(&t->grid, subgrid, k);
            const bool end = rest % count == 0 || rest % count == count - 1;
            if (ht_measure_half(&t->grid, subgrid, k, 0) && end) part /= 2;
            rest /= count;
        }
        for (int i = 0; i < coefs; i++) {
            *mean += part * t->weight[i] * t->data[i * nodes + n];
            *size += part * fabs(t->weight[i] * t->data[i * nodes + n]);
        }
    }
    return HT_OK;
}

/* The largest distance of the mean from the line through its first two values,
 * over a number of half steps; *size: of what it is a mean of. */
static enum ht_err follow(const struct trial *t, const struct ht_stepper *s,
                          int half_steps, double *off, double *size) {
    double first[2], now, large;
    *off = *size = 0;
    TRY(look(t, s, HT_DUAL, &first[0], &large));
    TRY(look(t, s, HT_PRIMARY, &first[1], &large));
    for (int n = 0; n < half_steps; n++) {
        const enum ht_subgrid from = n % 2 ? HT_DUAL : HT_PRIMARY;
        TRY(s->ops->half_step(s->self, from));
        TRY(look(t, s, n % 2 ? HT_PRIMARY : HT_DUAL, &now, &large));
        const double line = first[1] + (n + 1) * (first[1] - first[0]);
        *off = fmax(*off, fabs(now - line));
        *size = fmax(*size, large);
    }
    return HT_OK;
}

/* ---- law ---- */

/* The sums of a half step have some roundings each, of which each moves the
 * slope. */
static void test_law(int dims, int order, bool walls) {
    enum { HALF_STEPS = 24 };
    struct trial t;
    struct ht_stepper s = {0};
    double off = 0, size = 0;
    make(&t, dims, order, walls, 0.85);
    enum ht_err err = prepare(&t);
    if (err == HT_OK) err = ht_oracle_create(&t.problem, &s);
    if (err == HT_OK) err = put(&t, &s, 0.1);
    if (err == HT_OK) err = follow(&t, &s, HALF_STEPS, &off, &size);
    ht_stepper_destroy(&s);
    free(t.data);
    if (err != HT_OK)
        TEST_CHECK(false, "%s: %s", t.name, ht_err_message());
    else
        TEST_BELOW(off,
                   ht_oracle_roundings(&t.problem) * DBL_EPSILON / 2 *
                       HALF_STEPS * HALF_STEPS * size,
                   "%s: the mean of noise in %d half steps", t.name,
                   HALF_STEPS);
}

/* ---- kept ---- */

/* Roundings of independent nodes move the mean by less than 6 roundings of
 * their size over the root of their number each half step (the stepper expects
 * 4). Between two looks, fewer than 60 half steps apart here, they grow as
 * n^(3/2); left alone they would in all HALF_STEPS. */
static void test_kept(struct ht_device *device, int dims, int order,
                      bool walls) {
    enum { HALF_STEPS = 1200, BETWEEN = 60 };
    struct trial t;
    struct ht_kernels kernels = {0};
    struct ht_stepper s = {0};
    double off = 0, size = 0, nodes = 1;
    make(&t, dims, order, walls, 0.85);
    for (int k = 0; k < dims; k++) nodes *= (double)t.grid.cells[k];
    enum ht_err err = prepare(&t);
    if (err == HT_OK)
        err = ht_kernels_create(&t.problem, device, &t.tuning, NULL, &kernels);
    if (err == HT_OK) err = ht_stepper_create(&t.problem, device, &kernels, &s);
    if (err == HT_OK) err = put(&t, &s, 0.001);
    if (err == HT_OK) err = follow(&t, &s, HALF_STEPS, &off, &size);
    ht_stepper_destroy(&s);
    ht_kernels_destroy(&kernels);
    free(t.data);
    if (err != HT_OK)
        TEST_CHECK(false, "%s: %s", t.name, ht_err_message());
    else
        TEST_BELOW(off,
                   6 * FLT_EPSILON / 2 * size / sqrt(nodes) *
                       pow(BETWEEN, 1.5) / sqrt(3),
                   "%s in single precision: the mean of noise in %d half "
                   "steps",
                   t.name, HALF_STEPS);
}

/* ---- waves ---- */

static void test_wave(struct scene *scene, const char *options, double bound) {
    struct scene_run run;
    double error = 0;
    enum ht_err err = scene_open(
        scene, &run,
        "system=wave time.scheme=leapfrog initial.type=plane "
        "initial.phase=0.7 device.precision=single device.variant=propagator "
        "%s",
        options);
    if (err == HT_OK) err = scene_finish(&run, &error);
    scene_close(&run);
    if (err != HT_OK)
        TEST_CHECK(false, "%s: %s", options, ht_err_message());
    else
        TEST_BELOW(error, bound, "%s: error", options);
}

int main(void) {
    struct scene scene;
    for (int order = 1; order <= 8; order++) {
        test_law(1, order, order % 2 == 0);
        if (order <= 5) test_law(2, order, order % 2 == 1);
        if (order <= 3) test_law(3, order, order % 2 == 0);
    }
    if (!scene_start(&scene)) return test_end("mean");
    test_kept(scene.device, 2, 2, true);
    test_kept(scene.device, 2, 3, false);
    test_wave(&scene,
              "grid.order=5 grid.cells=[10,10] initial.cycles=[4,2] "
              "time.end=22.360679775",
              2e-5);
    test_wave(&scene,
              "grid.order=4 grid.cells=[25,23] grid.upper=[25,23] "
              "initial.cycles=[5,4] time.end=376.5",
              2e-5);
    scene_end(&scene);
    return test_end("mean");
}
