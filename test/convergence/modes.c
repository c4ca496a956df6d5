/* Standing modes between walls by finite differences: against the exact solution the order is that
 * of the differences in space, 2 or 4 in time. */
#include "differences.h"

struct walls {
    const char *name, *text;
    int dims;
};

static const struct walls rooms[] = {
    {"rigid", "initial.modes=[5] boundary.x1=rigid", 1},
    {"free", "initial.modes=[5] boundary.x1=free", 1},
    {"rigid and free", "initial.modes=[4] boundary.x1=[\"rigid\",\"free\"]", 1},
    {"rigid, free", "initial.modes=[2,5] boundary.x1=rigid boundary.x2=free", 2},
    {"periodic, free and rigid", "initial.modes=[2,2] boundary.x2=[\"free\",\"rigid\"]", 2},
    {"rigid on all sides",
     "initial.modes=[1,4,1] boundary.x1=rigid boundary.x2=rigid "
     "boundary.x3=rigid",
     3},
};
enum { ROOMS = sizeof rooms / sizeof *rooms };

/* Relative l2 error of p; cells of the same size along all axes. */
static double error_of(const struct walls *room, int order, int terms, int cells, double step,
                       double end) {
    struct fd_run run;
    double error = NAN, *nodal[HT_MAX_FIELDS] = {0};
    struct ht_text list = {0};
    for (int k = 0; k < room->dims; k++) ht_text_add(&list, "%s%d", k ? "," : "", cells);
    fd_open(&run,
            "%s initial.type=standing initial.phase=0.7 medium.c=1.3 "
            "medium.rho=2.1 grid.cells=[%s] grid.order=%d time.stages=%d "
            "time.step=%.17g time.end=%.17g",
            room->text, list.data, order, terms, step, end);
    ht_text_free(&list);
    const struct ht_plan *plan = run.sim->plan;
    fd_advance(&run, plan->steps);
    nodal[plan->eq.second_order.field] = fd_values(&run, HT_PRIMARY);
    must(ht_nodal_error(plan, (const double *const *)nodal, end, &error));
    free(nodal[plan->eq.second_order.field]);
    fd_close(&run);
    return error;
}

/* Short steps of two terms: their error is (omega dt)^4/1440 or so of the phase; 20 to 10^7 times
 * less than that of the differences. */
static void test_space(const struct walls *room, int order) {
    const int coarse = order < 4 ? 48 : order < 8 ? 24 : 16;
    const int fine = coarse * 5 / 4;
    const double step = order < 16 ? 0.004 : 0.0003, end = 0.69;
    const double a = error_of(room, order, 2, coarse, step, end);
    const double b = error_of(room, order, 2, fine, step, end);
    const double found = log(a / b) / log((double)fine / coarse);
    TEST_CHECK(found > order - 0.35 - 0.06 * order && found < order + 1,
               "%d-D, %s: order %d in space, observed %.2f, errors %.1e and "
               "%.1e",
               room->dims, room->name, order, found, a, b);
}

/* At this end the errors of the phase show in p in every room. 48 cells of order 16 have no error
 * to speak of. */
static void test_time(const struct walls *room, int terms) {
    const int cells = room->dims > 2 ? 24 : 48;
    const double step = 0.3 / cells, end = 0.69;
    const double a = error_of(room, 16, terms, cells, step, end);
    const double b = error_of(room, 16, terms, cells, step / 2, end);
    const double found = log2(a / b);
    TEST_CHECK(fabs(found - 2 * terms) < 0.1,
               "%d-D, %s: order %d in time, observed %.2f, errors %.1e and "
               "%.1e",
               room->dims, room->name, 2 * terms, found, a, b);
}

int main(void) {
    if (!fd_have_device()) return test_end("modes");
    /* order 16 on lines alone: its program takes long to compile */
    for (int i = 0; i < ROOMS; i++) {
        const int most = rooms[i].dims > 1 && !test_all() ? 8 : 16;
        for (int order = i % 2 ? 4 : 2; order <= most; order *= 4) test_space(&rooms[i], order);
    }
    for (int i = 0; i < ROOMS && test_all(); i++)
        for (int order = i % 2 ? 2 : 4; order <= 16; order *= 4) test_space(&rooms[i], order);
    for (int i = 0; i < ROOMS; i++)
        for (int terms = 1; terms <= 2 && (rooms[i].dims < 2 || test_all()); terms++)
            test_time(&rooms[i], terms);
    return test_end("modes");
}
