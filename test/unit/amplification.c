/* How far series amplify rounding: the table against the reference's sums of magnitudes; that only
 * CFL numbers matter; what is refused for it. */

#include "planned.h"

/* Of a run with these options, separated by blanks, on many steps. */
static const struct ht_plan *plan_of(const char *options, struct planned *p) {
    must(plan_make(p, ' ', "time.end=1000 time.scheme=taylor %s", options));
    return p->plan;
}

static double amplification_of(const char *options) {
    HT_ENDED(planned_end) struct planned p;
    const struct ht_plan *plan = plan_of(options, &p);
    return ht_series_amplification(&plan->problem, plan->medium->speed);
}

/* ---- against the reference ---- */

enum { VALUES = 4096 };

/* A half step of all values of a grid's fields, divided by the largest, which is returned; a scheme
 * of two levels finds zeros on the other grid. */
static double half_step(const struct ht_part *cell, const struct ht_stepper *oracle,
                        enum ht_subgrid from, double x[VALUES]) {
    static const double zeros[VALUES];
    const enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const int coefs = ht_grid_coefs(&cell->grid);
    double growth = 0;
    bool ok = oracle->ops->put(oracle->self, to, 0, 1, zeros) == HT_OK &&
              oracle->ops->put(oracle->self, from, 0, 1, x) == HT_OK &&
              oracle->ops->half_step(oracle->self, from) == HT_OK;
    for (int n = 0; n < VALUES; n++) x[n] = 0;
    for (int f = 0; ok && f < cell->problem.eq->nfields; f++)
        if (ht_problem_stores(&cell->problem, to, f))
            ok = oracle->ops->get(oracle->self, to, f, coefs, 0, 1, x + (ptrdiff_t)f * coefs) ==
                 HT_OK;
    for (int n = 0; n < VALUES; n++) growth = fmax(growth, x[n]);
    for (int n = 0; n < VALUES; n++) x[n] /= growth;
    return ok ? growth : (double)NAN;
}

/* On one periodic cell of a plan with c = 1, rho = 1, by its half steps there and back; so many are
 * enough for 1 %. */
static double reference_of(const char *options) {
    static double x[VALUES];
    const struct ht_box box = {.end = {1, 1, 1}};
    HT_ENDED(planned_end) struct planned p;
    const struct ht_plan *plan = plan_of(options, &p);
    HT_ENDED(ht_stepper_destroy) struct ht_stepper oracle = {.ops = NULL};
    struct ht_part cell;
    double there = NAN, back = NAN;
    ht_problem_part(&plan->problem, &box, HT_SIDES_PERIODIC, HT_MEDIUM_TEST, &cell);
    if (ht_oracle_create(&cell.problem, &oracle) == HT_OK) {
        ht_oracle_absolute(&oracle);
        for (int n = 0; n < VALUES; n++) x[n] = 1;
        for (int i = 0; i < 12; i++) {
            there = half_step(&cell, &oracle, HT_PRIMARY, x);
            back = half_step(&cell, &oracle, HT_DUAL, x);
        }
    }
    return sqrt(there * back);
}

/* cells: along x1 to x3 or fewer, which say the dimensions. */
static void judge(const char *method, const char *cells, int order, double cfl, double bound) {
    char text[200];
    snprintf(text, sizeof text, "%s grid.cells=%s grid.order=%d time.cfl=%g device.variant=auto",
             method, cells, order, cfl);
    const double found = amplification_of(text);
    const double expected = reference_of(text);
    TEST_CHECK(fabs(found / expected - 1) < bound,
               "%s, cells %s, N = %d, cfl %g: %.4g, by the reference %.4g", method, cells, order,
               cfl, found, expected);
}

/* Bounds: those that src/solve/scale.c states. The table has three decimals and is interpolated
 * between cfl 3/4 and 1. */
static void test_reference(void) {
    for (int order = 5; order <= HT_MAX_ORDER; order++)
        judge("system=advection medium.velocity=[2]", "[20]", order, 0.9, 0.02);
    judge("system=acoustic", "[4,4]", 8, 0.75, 0.02);
    judge("system=acoustic", "[4,4,4]", 5, 1, 0.02);
    judge("system=advection medium.velocity=[1,1,0.5]", "[4,4,4]", 5, 0.8, 0.02);
    judge("system=wave", "[4,4,4]", 6, 0.6, 0.06);
    judge("system=wave time.scheme=leapfrog", "[4,4]", 7, 0.9, 0.06);
    judge("system=acoustic time.scheme=leapfrog", "[4,4]", 5, 0.5, 0.06);
    judge("system=acoustic", "[8,4]", 8, 0.9, 0.17);
    judge("system=acoustic", "[8,4,2]", 5, 0.9, 0.17);
}

static void test_media(void) {
    const double plain =
        amplification_of("system=acoustic grid.order=5 time.cfl=0.9 grid.cells=[20,20]");
    const double other = amplification_of(
        "system=acoustic grid.order=5 time.cfl=0.9 grid.cells=[7,7] medium.c=3 medium.rho=50");
    TEST_CHECK(fabs(other / plain - 1) < 0.02,
               "the same CFL number, other medium and cells: %.4g, %.4g", plain, other);
    const double slow =
        amplification_of("system=acoustic grid.order=5 time.cfl=0.9 grid.cells=[20,5]");
    TEST_CHECK(slow < plain / 2 && slow > 1, "long cells along an axis: less, %.4g", slow);
}

static bool refuses(const char *name, int order, double cfl, bool fp64) {
    HT_ENDED(planned_end) struct planned p;
    const struct ht_plan *plan = plan_of(
        HT_KEY("system=acoustic grid.cells=[5,5,5] grid.order=%d time.cfl=%g", order, cfl), &p);
    const struct ht_tuning tuning = {.fp64 = fp64, .block = 1};
    const struct ht_spec spec = ht_problem_spec(&plan->problem, &tuning, HT_PRIMARY);
    const char *why = ht_variant_refuses(ht_variant_find(name, &spec, true), &spec);
    return why != NULL && strstr(why, "rounding") != NULL;
}

static void test_refusals(void) {
    static const struct {
        const char *name;
        int order;
        double cfl;
        bool fp64, refused;
    } row[] = {
        {"monolithic", 8, 0.9, false, true},  {"monolithic", 8, 0.9, true, false},
        {"monolithic", 8, 0.8, false, false}, {"monolithic", 7, 1, false, false},
        {"propagator", 8, 1, false, false},
    };
    TEST_EACH(r, row)
        TEST_CHECK(refuses(r->name, r->order, r->cfl, r->fp64) == r->refused,
                   "%s, N = %d, cfl %g, %s: %s", r->name, r->order, r->cfl,
                   r->fp64 ? "double" : "single", r->refused ? "refused" : "taken");
}

/* Where the medium varies, a step that the input leaves open is short enough. */
static void test_open_step(void) {
    HT_ENDED(planned_end) struct planned p;
    const struct ht_plan *plan =
        plan_of("system=acoustic grid.cells=[5,5,5] grid.order=8 medium.degree=1 "
                "medium.type=expression medium.c=1+0.1*sin(6.283185307179586*x1)",
                &p);
    const double noise = plan->problem.amplification * FLT_EPSILON / 2;
    TEST_CHECK(!ht_noise_grows(noise, 3) && ht_noise_grows(2 * noise, 3),
               "N = 8 in a medium that varies: noise %.1f at cfl %.3f, of 32 at most, and more "
               "than half of it",
               noise, plan->cfl);
}

int main(void) {
    test_reference();
    test_media();
    test_refusals();
    test_open_step();
    return test_end("amplification");
}
