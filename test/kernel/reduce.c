/* Reductions on the device against the plain host twin: sums of squares over materials with halved
 * weights at walls, largest magnitudes, values that are not finite. Systems, dimensions, walls,
 * media, precisions, layouts, both kinds of partial sums, both grids; grids of several groups with
 * a partial last one.
 *
 * Data are exact in single precision, so sums differ by
 *   - a rounded material where the device holds it in single precision: u1,
 *   - square, quotient and the compensated sum in the wide type: 4 uw,
 *   - the host's own sum: one rounding per node in double: n u2,
 * each times the sum itself, as all terms are positive. A value from c coefficients has c more
 * roundings, relative to the sum of magnitudes of its products, of at most (sum of |weights|)^2
 * max(u)^2 per square. The largest magnitude and the counts have no error. */
#include "open_device.h"
#include "options.h"
#include "test.h"

#include "htwave/energy.h"

struct reduce_case {
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_problem problem;
    struct ht_kernels kernels;
    struct ht_stepper device, host;
    bool wide;
    char name[160];
};

static struct ht_grid make_grid(int dims, int order, bool walls) {
    static const int64_t cells[3][3] = {{7001, 1, 1}, {83, 61, 1}, {19, 17, 15}};
    static const int wall[3][2] = {{1, -1}, {0, 0}, {1, 1}};
    struct ht_grid grid = {.dims = dims, .order = order};
    for (int k = 0; k < 3; k++) {
        grid.cells[k] = cells[dims - 1][k];
        grid.h[k] = k < dims ? 0.5 + 0.25 * k : 1;
        grid.upper[k] = grid.h[k] * (double)grid.cells[k];
        grid.layer[k][0] = k < dims && walls ? 2 : 0;
        grid.layer[k][1] = k < dims && walls ? 3 - k : 0;
        for (int side = 0; side < 2; side++)
            grid.wall[k][side] = k < dims && walls ? wall[k][side] : 0;
    }
    return grid;
}

static struct ht_problem make_problem(const struct reduce_case *c, int degree) {
    struct ht_problem p = {.eq = &c->eq,
                           .grid = &c->grid,
                           .scheme = ht_scheme_at(HT_TAYLOR),
                           .medium_degree = degree,
                           .dt = 0.4,
                           .stages = 3};
    for (int m = 0; m < HT_MAX_MATERIALS; m++) p.uniform[m] = 0.75 + 0.125 * m;
    if (degree < 0) return p;
    p.medium_coefs = 1;
    for (int k = 1; k <= c->eq.dims; k++) p.medium_coefs = p.medium_coefs * (degree + k) / k;
    p.medium_fill = ht_test_medium;
    return p;
}

static enum ht_err create(struct reduce_case *c, struct ht_device *device,
                          const struct ht_tuning *tuning) {
    c->problem.medium = &c->problem;
    TRY(ht_kernels_plan(&c->problem, ht_device_info(device), tuning, &c->kernels));
    TRY(ht_sums_create(device, &c->kernels.spec[0], c->wide, false, &c->kernels.sums));
    TRY(ht_stepper_create(&c->problem, device, &c->kernels, &c->device));
    return ht_oracle_create(&c->problem, &c->host);
}

static void destroy(struct reduce_case *c) {
    ht_stepper_destroy(&c->device);
    ht_stepper_destroy(&c->host);
    ht_kernels_destroy(&c->kernels);
}

/* The same random data on both; bad > 0: value number `bad` and the one 5 places after it of the
 * last field's nodal coefficient are not finite. */
static enum ht_err fill(struct reduce_case *c, enum ht_subgrid subgrid, int64_t bad) {
    int64_t nodes = ht_grid_total(&c->grid, subgrid);
    int64_t coefs = ht_grid_coefs(&c->grid), fields = c->eq.nfields;
    HT_FREED double *data = NULL;
    TRY(HT_ALLOC(data, nodes * coefs * fields));
    for (int64_t n = 0; n < nodes * coefs * fields; n++)
        data[n] = (double)(float)ht_rng_uniform(11, (uint64_t)n);
    double *last = data + (fields - 1) * coefs * nodes;
    if (bad > 0) last[bad] = (double)NAN;
    if (bad > 0) last[bad + 5] = -(double)INFINITY;
    enum ht_err err = HT_OK;
    const struct ht_stepper *both[2] = {&c->device, &c->host};
    for (int s = 0; err == HT_OK && s < 2; s++)
        err = both[s]->ops->put(both[s]->self, subgrid, 0, ht_grid_planes(&c->grid, subgrid), data);
    return err;
}

/* The material of a field's part of the energy, -1 where it has none. */
static int energy_material(const struct reduce_case *c, int field) {
    for (int t = 0; t < c->eq.nenergy; t++)
        if (c->eq.energy[t].field == field) return c->eq.energy[t].material;
    return -1;
}

/* Every field with the material of its energy, the last coefficient too, one beside absorbing
 * layers, and values at some points from all coefficients. */
enum { QUANTITIES = HT_MAX_FIELDS + 4, POINTS = 3 };
static int quantities(const struct reduce_case *c, double *weights, struct ht_quantity *what) {
    int count = 0;
    for (int f = 0; f < c->eq.nfields; f++)
        what[count++] =
            (struct ht_quantity){.field = f, .coef = 0, .material = energy_material(c, f)};
    what[count++] = (struct ht_quantity){.field = 0, .coef = 0, .material = -1};
    what[count++] = (struct ht_quantity){.field = c->eq.nfields - 1,
                                         .coef = ht_grid_coefs(&c->grid) - 1,
                                         .material = energy_material(c, 0)};
    what[count++] = (struct ht_quantity){.field = 0, .coef = 1, .material = -1, .beside = true};
    for (int n = 0; n < POINTS * ht_grid_coefs(&c->grid); n++)
        weights[n] = (double)(float)ht_rng_uniform(5, (uint64_t)n);
    what[count++] = (struct ht_quantity){.field = c->eq.nfields - 1,
                                         .material = energy_material(c, 0),
                                         .weights = weights,
                                         .points = POINTS};
    return count;
}

/* Of a value from c coefficients, magnitudes at most 1: (c + 1) roundings of its sum of products,
 * twice that in its square; materials are above 0.75. */
static double value_bound(const struct reduce_case *c, enum ht_subgrid subgrid,
                          const struct ht_quantity *what) {
    const int coefs = ht_grid_coefs(&c->grid);
    double wide = c->wide ? DBL_EPSILON / 2 : FLT_EPSILON / 2, squares = 0;
    for (int q = 0; q < what->points; q++) {
        double sum = 0;
        for (int i = 0; i < coefs; i++) sum += fabs(what->weights[q * coefs + i]);
        squares += sum * sum;
    }
    for (int k = 0; k < c->grid.dims; k++) squares *= c->grid.h[k];
    return 2 * (coefs + 1) * wide * squares / 0.75 * (double)ht_grid_total(&c->grid, subgrid);
}

/* Of the sum itself; see the head of this file. */
static double sum_bound(const struct reduce_case *c, enum ht_subgrid subgrid,
                        const struct ht_quantity *what) {
    bool rounded = c->problem.medium_degree >= 0 && what->material >= 0 && !c->kernels.spec[0].fp64;
    double wide = c->wide ? DBL_EPSILON / 2 : FLT_EPSILON / 2;
    return (rounded ? FLT_EPSILON / 2 : 0) + 4 * wide +
           (double)ht_grid_total(&c->grid, subgrid) * DBL_EPSILON / 2;
}

struct verdict {
    double ratio; /* worst difference of sums over its bound */
    int wrong;    /* maxima, counts, places; results that change */
};

static enum ht_err compare(struct reduce_case *c, enum ht_subgrid subgrid, int64_t bad,
                           struct verdict *v) {
    double weights[POINTS * HT_MAX_COEFS];
    struct ht_quantity what[QUANTITIES];
    struct ht_measure a[QUANTITIES], b[QUANTITIES], again[QUANTITIES];
    int count = quantities(c, weights, what);
    TRY(fill(c, subgrid, bad));
    TRY(c->device.ops->measure(c->device.self, subgrid, count, what, a));
    TRY(c->device.ops->measure(c->device.self, subgrid, count, what, again));
    TRY(c->host.ops->measure(c->host.self, subgrid, count, what, b));
    for (int i = 0; i < count; i++) {
        double bound =
            b[i].sum * sum_bound(c, subgrid, &what[i]) + value_bound(c, subgrid, &what[i]);
        double ratio = fabs(a[i].sum - b[i].sum) / bound;
        if (!(ratio <= v->ratio)) v->ratio = ratio;
        bool planted = bad > 0 && what[i].coef == 0 && what[i].field == c->eq.nfields - 1;
        v->wrong +=
            a[i].largest != b[i].largest || a[i].bad != b[i].bad || a[i].first != b[i].first;
        v->wrong += a[i].bad != (planted ? 2 : 0) || a[i].first != (planted ? bad : -1);
        v->wrong += a[i].sum != again[i].sum;
    }
    return HT_OK;
}

static void run_case(struct reduce_case *c, struct ht_device *device,
                     const struct ht_tuning *tuning) {
    struct verdict v = {.ratio = 0};
    enum ht_err err = create(c, device, tuning);
    for (int subgrid = 0; err == HT_OK && subgrid < 2; subgrid++) {
        enum ht_subgrid which = subgrid ? HT_DUAL : HT_PRIMARY;
        err = compare(c, which, 0, &v);
        if (err == HT_OK) err = compare(c, which, 4097, &v);
    }
    if (err == HT_OK) TEST_BELOW(v.ratio, 1.0, "%s: sums, difference over bound", c->name);
    TEST_CHECK(err == HT_OK && v.wrong == 0, "%s: %d wrong maxima, counts or places (bound 0)%s%s",
               c->name, v.wrong, err ? ": " : "", test_said(err));
    destroy(c);
}

static void run_system(const struct ht_system *system, struct ht_device *device) {
    static const int degrees[] = {-1, 0, 2};
    bool can = ht_device_info(device)->fp64;
    bool varies = system->material[0].varies;
    int n = 0;
    for (int dims = 1; dims <= 3; dims++)
        for (int d = 0; d < (varies ? 3 : 1); d++)
            for (int pass = 0; pass < 4; pass++, n++) {
                struct reduce_case c = {.wide = can && n % 3 != 0};
                bool walls = pass % 2 && system->nwalls > 0;
                struct ht_tuning tuning = {.variant = ht_variant_find("monolithic", NULL, true),
                                           .fp64 = can && pass / 2};
                if (tuning.fp64) c.wide = true;
                tuning.block = n % 2 ? 1 : tuning.fp64 ? 2 : 4;
                c.eq = ht_equations_make(system, dims);
                c.grid = make_grid(dims, 1 + n % 2, walls);
                c.problem = make_problem(&c, degrees[d]);
                snprintf(c.name, sizeof c.name, "%s %dD %s block %d medium %d %s, sums in %s",
                         system->name, dims, tuning.fp64 ? "double" : "single", tuning.block,
                         degrees[d], walls ? "walls" : "periodic", c.wide ? "double" : "single");
                run_case(&c, device, &tuning);
            }
}

/* Squares beyond the range of the sums are infinite, never NaN or small. */
static void run_overflow(struct ht_device *device) {
    struct reduce_case c = {.name = "overflow"};
    struct ht_tuning tuning = {.variant = ht_variant_find("monolithic", NULL, true), .block = 1};
    struct ht_quantity what = {.field = 0, .coef = 0, .material = -1};
    struct ht_measure m = {.sum = 0};
    HT_FREED double *data = NULL;
    c.eq = ht_equations_make(ht_system_at(0), 1);
    c.grid = make_grid(1, 1, false);
    c.problem = make_problem(&c, -1);
    int64_t values = ht_grid_total(&c.grid, HT_PRIMARY) * 2 * c.eq.nfields;
    enum ht_err err = HT_ALLOC(data, values);
    for (int64_t n = 0; err == HT_OK && n < values; n++) data[n] = 1e30;
    if (err == HT_OK) err = create(&c, device, &tuning);
    if (err == HT_OK) err = c.device.ops->put(c.device.self, HT_PRIMARY, 0, 1, data);
    if (err == HT_OK) err = c.device.ops->measure(c.device.self, HT_PRIMARY, 1, &what, &m);
    TEST_CHECK(err == HT_OK && isinf(m.sum) && m.bad == 0 && fabs(m.largest / 1e30 - 1) < 1e-6,
               "values of 1e30 summed in single precision: sum %g, largest %g, %lld not finite",
               m.sum, m.largest, (long long)m.bad);
    destroy(&c);
}

/* All coefficients are 1 on 4 x 3 cells of 0.5 x 0.5 between walls, but for the nodal value of the
 * last field at node (3, 2). */
static enum ht_err measure_state(const struct ht_plan *plan, const struct ht_stepper *stepper,
                                 double value, struct ht_state *state) {
    enum { NODES = 5 * 4, COEFS = 4, VALUES = 3 * COEFS * NODES };
    int last = plan->eq.nfields - 1;
    double data[VALUES];
    for (int n = 0; n < VALUES; n++) data[n] = 1;
    data[last * COEFS * NODES + 2 * 5 + 3] = value;
    TRY(stepper->ops->put(stepper->self, HT_PRIMARY, 0, 1, data));
    return ht_state_measure(plan, stepper, 0.5, state);
}

static enum ht_err make_plan(const char *system, const char *c, struct ht_params **params,
                             struct ht_plan **plan) {
    TRY(test_params(NULL, ' ', params,
                    "system=%s medium.c=%s grid.order=1 grid.cells=[4,3] grid.upper=[2.0,1.5] "
                    "initial.type=random boundary.x1=rigid boundary.x2=rigid medium.type=constant "
                    "time.end=1.0 time.scheme=taylor",
                    system, c));
    return ht_plan_create(*params, NULL, plan);
}

/* The rule of half weights at walls is exact for constants, so the energy is the area 3 times the
 * density `uniform` of ones; a value of 3 instead of 1 at one inner node adds (9 - 1)/2
 * density_last h1 h2. */
static void run_state(const char *system, const char *c, double uniform, double density_last) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    HT_ENDED(ht_plan_end) struct ht_plan *plan = NULL;
    HT_ENDED(ht_stepper_destroy) struct ht_stepper host = {0};
    struct ht_state state = {0};
    enum ht_err err = make_plan(system, c, &params, &plan);
    if (err == HT_OK) err = ht_oracle_create(&plan->problem, &host);
    if (err == HT_OK) err = measure_state(plan, &host, 3, &state);
    double expected = 3 * uniform + 4 * density_last * 0.25;
    TEST_CHECK(err == HT_OK && state.largest[0] == 1 && state.largest[plan->eq.nfields - 1] == 3,
               "%s: largest of the first field %g (1)%s", system, state.largest[0], test_said(err));
    TEST_BELOW(fabs(state.energy / expected - 1), 1e-14, "%s: energy %g, expected %g", system,
               state.energy, expected);
    if (err == HT_OK) err = measure_state(plan, &host, NAN, &state);
    TEST_CHECK(err == HT_ERR_NOT_FINITE &&
                   strstr(ht_err_message(), " is not finite at (1.5, 1, 0), time 0.5") != NULL,
               "%s, a planted NaN: %s", system, ht_err_message());
}

static void judge(struct ht_device *device) {
    for (int s = 0; s < ht_system_count(); s++) run_system(ht_system_at(s), device);
    run_overflow(device);
}

int main(void) {
    /* 1/2 (p^2/K + rho |v|^2) with K = 4, rho = 1 */
    run_state("acoustic", "2.0", (1 / 4.0 + 2) / 2, 1);
    /* 1/2 (v^2/c^2 + |grad u|^2): scaled derivatives are slopes times h */
    run_state("wave", "2.0", (1 / 4.0 + 2 / (0.5 * 0.5)) / 2, 1 / 4.0);
    return test_on_device("reduce", judge);
}
