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
#include "planned.h"
#include "problem.h"

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
    struct ht_grid grid = hand_grid(dims, order, cells[dims - 1], walls ? wall : NULL);
    for (int k = 0; k < dims && walls; k++) {
        grid.layer[k][0] = 2;
        grid.layer[k][1] = 3 - k;
    }
    return grid;
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
static void fill(struct reduce_case *c, enum ht_subgrid subgrid, int64_t bad) {
    const int64_t nodes = ht_grid_total(&c->grid, subgrid);
    const int64_t coefs = ht_grid_coefs(&c->grid), fields = c->eq.nfields;
    const struct ht_stepper *both[2] = {&c->device, &c->host};
    HT_FREED double *data = NULL;
    must(HT_ALLOC(data, nodes * coefs * fields));
    for (int64_t n = 0; n < nodes * coefs * fields; n++)
        data[n] = (double)(float)ht_rng_uniform(11, (uint64_t)n);
    double *last = data + (fields - 1) * coefs * nodes;
    if (bad > 0) last[bad] = (double)NAN;
    if (bad > 0) last[bad + 5] = -(double)INFINITY;
    for (int s = 0; s < 2; s++)
        must(both[s]->ops->put(both[s]->self, subgrid, 0, ht_grid_planes(&c->grid, subgrid), data));
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

static void compare(struct reduce_case *c, enum ht_subgrid subgrid, int64_t bad,
                    struct verdict *v) {
    double weights[POINTS * HT_MAX_COEFS];
    struct ht_quantity what[QUANTITIES];
    struct ht_measure a[QUANTITIES], b[QUANTITIES], again[QUANTITIES];
    int count = quantities(c, weights, what);
    fill(c, subgrid, bad);
    must(c->device.ops->measure(c->device.self, subgrid, count, what, a));
    must(c->device.ops->measure(c->device.self, subgrid, count, what, again));
    must(c->host.ops->measure(c->host.self, subgrid, count, what, b));
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
}

static void run_case(struct reduce_case *c, struct ht_device *device,
                     const struct ht_tuning *tuning) {
    struct verdict v = {.ratio = 0};
    must(create(c, device, tuning));
    for (int i = 0; i < 4; i++) compare(c, i / 2 ? HT_DUAL : HT_PRIMARY, i % 2 ? 4097 : 0, &v);
    TEST_BELOW(v.ratio, 1.0, "%s: sums, difference over bound", c->name);
    TEST_EQUAL(v.wrong, 0, "%s: wrong maxima, counts or places", c->name);
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
                c.problem = hand_problem(&c.eq, &c.grid, HT_TAYLOR, degrees[d], 0.4, 3);
                snprintf(c.name, sizeof c.name, "%s %dD %s block %d medium %d %s, sums in %s",
                         system->name, dims, tuning.fp64 ? "double" : "single", tuning.block,
                         degrees[d], walls ? "walls" : "periodic", c.wide ? "double" : "single");
                run_case(&c, device, &tuning);
            }
}

/* Squares beyond the range of the sums are infinite, never NaN or small. */
static void run_overflow(struct ht_device *device) {
    HT_ENDED(destroy) struct reduce_case c = {.name = "overflow"};
    struct ht_tuning tuning = {.variant = ht_variant_find("monolithic", NULL, true), .block = 1};
    struct ht_quantity what = {.field = 0, .coef = 0, .material = -1};
    struct ht_measure m = {.sum = 0};
    HT_FREED double *data = NULL;
    c.eq = ht_equations_make(ht_system_at(0), 1);
    c.grid = make_grid(1, 1, false);
    c.problem = hand_problem(&c.eq, &c.grid, HT_TAYLOR, -1, 0.4, 3);
    const int64_t values = ht_grid_total(&c.grid, HT_PRIMARY) * 2 * c.eq.nfields;
    must(HT_ALLOC(data, values));
    for (int64_t n = 0; n < values; n++) data[n] = 1e30;
    must(create(&c, device, &tuning));
    must(c.device.ops->put(c.device.self, HT_PRIMARY, 0, 1, data));
    must(c.device.ops->measure(c.device.self, HT_PRIMARY, 1, &what, &m));
    TEST_CHECK(isinf(m.sum) && m.bad == 0 && fabs(m.largest / 1e30 - 1) < 1e-6,
               "values of 1e30 summed in single precision: sum %g, largest %g, %lld not finite",
               m.sum, m.largest, (long long)m.bad);
}

/* All coefficients are 1 on 4 x 3 cells of 0.5 x 0.5 between walls, but for the nodal value of the
 * last field at node (3, 2). */
static enum ht_err measure_state(const struct planned *p, double value, struct ht_state *state) {
    enum { NODES = 5 * 4, COEFS = 4, VALUES = 3 * COEFS * NODES };
    double data[VALUES];
    for (int n = 0; n < VALUES; n++) data[n] = 1;
    data[(p->plan->eq.nfields - 1) * COEFS * NODES + 2 * 5 + 3] = value;
    must(p->stepper.ops->put(p->stepper.self, HT_PRIMARY, 0, 1, data));
    return ht_state_measure(p->plan, &p->stepper, 0.5, state);
}

/* The rule of half weights at walls is exact for constants, so the energy is the area 3 times the
 * density `uniform` of ones; a value of 3 instead of 1 at one inner node adds (9 - 1)/2
 * density_last h1 h2. */
static void run_state(const char *system, const char *c, double uniform, double density_last) {
    HT_ENDED(planned_end) struct planned p;
    struct ht_state state = {0};
    must(plan_make(&p, ' ',
                   "system=%s medium.c=%s grid.order=1 grid.cells=[4,3] grid.upper=[2.0,1.5] "
                   "initial.type=random boundary.x1=rigid boundary.x2=rigid medium.type=constant "
                   "time.end=1.0 time.scheme=taylor",
                   system, c));
    must(plan_oracle(&p, false));
    must(measure_state(&p, 3, &state));
    const double expected = 3 * uniform + 4 * density_last * 0.25;
    TEST_CHECK(state.largest[0] == 1 && state.largest[p.plan->eq.nfields - 1] == 3,
               "%s: largest of the first field %g (1)", system, state.largest[0]);
    TEST_BELOW(fabs(state.energy / expected - 1), 1e-14, "%s: energy %g, expected %g", system,
               state.energy, expected);
    TEST_ERROR(measure_state(&p, NAN, &state), HT_ERR_NOT_FINITE,
               " is not finite at (1.5, 1, 0), time 0.5", "%s, a planted NaN", system);
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
