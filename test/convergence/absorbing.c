/* Absorbing layers of Hermite methods in runs:
 *   corner      a source 4 cells from a layer on each axis, rigid sides behind
 *               it, against a box that no wave comes back from; three
 *               dimensions by check-all, since programs take a minute;
 *   decay       random data in a small square with layers on all sides, whose
 *               corners have the memory of two axes;
 *   sponge      a wavelet that goes into the layer along its normal, against a
 *               longer line, and what is expected of it (ht_sponge_reflection);
 *   planted     the same without alpha and sponge reflects, or grows; a sponge
 *               that begins with a jump reflects more. */
#include <float.h>

#include "differences.h"

/* Lengths in cells. */
enum { STEPS_APART = 3 };

/* ---- a source near layers ---- */

/* Cells from the source to the layers; time until the signal has passed. */
enum { NEAR = 4, SIGNAL = 11 };
struct close {
    const char *system;
    int dims, order, layer;
    int more; /* cells beyond the layers in the box for comparison */
    int end;
};

/* From the source through a layer, back from its wall, and past the source to the other layer; from
 * the far walls nothing comes back to the layers. */
static struct close close_to(const char *system, int dims, int order, int layer) {
    struct close c = {.system = system, .dims = dims, .order = order, .layer = layer};
    c.end = 2 * (NEAR + layer) + NEAR + SIGNAL;
    c.more = (c.end - NEAR) / 2 + 1 - layer;
    return c;
}

static void open_close(struct fd_run *run, const struct close *c, bool large) {
    const int more = large ? c->more : 0, width = 2 * (NEAR + c->layer);
    char cells[64], lower[64], upper[64], source[64], sides[192] = "";
    for (int k = 1; k <= c->dims; k++)
        snprintf(sides + strlen(sides), sizeof sides - strlen(sides), "boundary.x%d=%s ", k,
                 large ? "rigid" : "absorbing");
    if (!large)
        snprintf(sides + strlen(sides), sizeof sides - strlen(sides),
                 "absorbing.place=inside absorbing.cells=%d ", c->layer);
    fd_open(run,
            "time.scheme=taylor system=%s grid.order=%d grid.cells=%s grid.lower=%s grid.upper=%s "
            "%stime.step=0.8 time.end=%d initial.type=zero "
            "sources=({position=%s;frequency=0.2;}) device.backend=%s",
            c->system, c->order, fd_axes(c->dims, width + 2 * more, "", cells),
            fd_axes(c->dims, -more, ".0", lower), fd_axes(c->dims, width + more, ".0", upper),
            sides, c->end, fd_axes(c->dims, width / 2, ".0", source),
            c->dims > 1 ? test_backend() : test_numbers());
}

static void test_near(const char *system, int dims, int order, int layer, double bound) {
    const struct close c = close_to(system, dims, order, layer);
    struct fd_run run[2];
    for (int i = 0; i < 2; i++) open_close(&run[i], &c, i);
    const int field = run->sim->plan->eq.second_order.field;
    TEST_BELOW(fd_reflection(run, field, NEAR, STEPS_APART), bound,
               "%s, %d-D, N = %d, a source 4 cells from layers of %d: reflection, dB", system, dims,
               order, layer);
}

/* ---- a sponge ---- */

enum { LINE = 48, SPONGE = 12, AT = 24, LINE_END = 92 };

static void open_line(struct fd_run *run, const char *scheme, const char *system, int order,
                      bool large, double wavelength, const char *more) {
    const char *field = strcmp(system, "wave") == 0 ? "u" : "p";
    const double a = pow(acos(-1.0) / wavelength, 2);
    const int cells = LINE + SPONGE + (large ? LINE + SPONGE : 0);
    fd_open(run,
            "time.scheme=%s system=%s grid.order=%d grid.cells=[%d] grid.upper=[%d.0] "
            "boundary.x1=[\"rigid\",%s time.end=%d "
            "initial.type=expression initial.values.%s=exp(-%.17g*(x1-%d)^2)*(1-2*%.17g*(x1-%d)^2) "
            "device.backend=%s %s",
            scheme, system, order, cells, cells,
            large ? "\"rigid\"]"
                  : HT_KEY("\"absorbing\"] absorbing.type=sponge absorbing.cells=%d", SPONGE),
            LINE_END, field, a, AT, a, AT, test_numbers(), more);
}

/* The largest difference over half of the wavelet, which each way gets, in dB; *expected: at this
 * thickness in wavelengths. */
static double line_reflection(const char *scheme, const char *system, int order, double wavelengths,
                              const char *more, double *expected) {
    struct fd_run run[2];
    double worst = 0;
    for (int i = 0; i < 2; i++)
        open_line(&run[i], scheme, system, order, i, SPONGE / wavelengths, i ? "" : more);
    for (int64_t k = 0; k < run[0].sim->plan->steps; k++) {
        double *u[2];
        for (int i = 0; i < 2; i++) {
            fd_advance(&run[i], 1);
            u[i] = fd_values(&run[i], HT_PRIMARY);
        }
        /* the half that nothing reaches from the wall before the end */
        for (int m = LINE / 2; m < LINE; m++) worst = fmax(worst, fabs(u[0][m] - u[1][m]));
        free(u[0]);
        free(u[1]);
    }
    *expected = ht_sponge_reflection(&run[0].sim->plan->problem, 0, 1, wavelengths, 1);
    for (int i = 0; i < 2; i++) fd_close(&run[i]);
    return 20 * log10(fmax(worst, DBL_MIN) / 0.5);
}

static void test_sponge(const char *scheme, const char *system, int order, double wavelengths) {
    double expected;
    const double db = line_reflection(scheme, system, order, wavelengths, "", &expected);
    TEST_BELOW(fabs(db - expected), 1.5,
               "%s %s, N = %d, sponge of %g wavelengths: %.1f dB, %.1f expected, difference",
               scheme, system, order, wavelengths, db, expected);
}

static void test_sponges(void) {
    double expected;
    for (int wavelengths = 1; wavelengths <= 3; wavelengths++) {
        test_sponge("leapfrog", "wave", 3, wavelengths);
        /* waves of period 2 dt, which are in shorter wavelets, come back */
        if (wavelengths < 3) test_sponge("leapfrog", "acoustic", 3, wavelengths);
    }
    test_sponge("taylor", "acoustic", 3, 1);
    const double db = line_reflection("leapfrog", "wave", 3, 2, "absorbing.degree=0", &expected);
    TEST_CHECK(db > -30, "planted sponge with a jump: %.1f dB", db);
}

/* ---- decay ---- */

/* Energy after `steps` over that after `before` of them. */
static double decay(const char *system, int order, int before, int steps, const char *more) {
    HT_ENDED(fd_close) struct fd_run run;
    fd_open(&run,
            "time.scheme=taylor system=%s grid.order=%d grid.cells=[10,9] grid.upper=[10.0,9.0] "
            "boundary.x1=absorbing boundary.x2=absorbing absorbing.cells=4 time.end=100 "
            "initial.type=random %s",
            system, order, more);
    fd_advance(&run, before);
    const double early = fd_state(&run).energy;
    fd_advance(&run, steps - before);
    const double late = fd_state(&run).energy;
    return late / early;
}

/* ---- layers around the box ---- */

/* p at time 1.2 on the nodes of the box of side 1, cells of 1/n, of a source on one of its sides or
 * in a corner; on a grid of three times the side where `large`, whose walls nothing comes back
 * from. The medium changes along x2, where its layers have it as well. */
static double *boxed(int n, bool large, const char *source) {
    HT_ENDED(fd_close) struct fd_run run;
    fd_open(&run,
            "grid.order=8 grid.cells=[%d,%d] grid.lower=[%d.0,%d.0] grid.upper=[%d.0,%d.0] "
            "boundary.x1=%s boundary.x2=%s time.stages=1 time.step=%.17g "
            "time.end=1.2 medium.type=layers medium.axis=x2 medium.interfaces=[0.5] "
            "medium.c=[1.0,1.2] initial.type=zero sources=({position=%s;frequency=2.5;}) "
            "device.backend=oracle",
            large ? 3 * n : n, large ? 3 * n : n, -large, -large, 1 + large, 1 + large,
            large ? "rigid" : "absorbing", large ? "rigid" : "absorbing absorbing.width=0.2",
            0.3 / n, source);
    fd_advance(&run, run.sim->plan->steps);
    double *u = fd_values(&run, HT_PRIMARY);
    /* the middle of the large grid, as a box of which outputs would be */
    struct ht_grid grid = run.sim->plan->grid;
    for (int k = 0; k < 2; k++)
        for (int side = 0; large && side < 2; side++) grid.outer[k][side] = n;
    ht_grid_crop(&grid, 1, u);
    return u;
}

/* Layers of one width around the same box, on two grids: what comes back is what layers of 8 cells
 * and more reflect, -50 dB (of the banner -61 at 10 points per wavelength, less of longer waves).
 */
static void test_outside(const char *source) {
    for (int cells = 40; cells <= 80; cells *= 2) {
        double *u[2] = {boxed(cells, false, source), boxed(cells, true, source)};
        const struct errors e = errors_of((int64_t)(cells + 1) * (cells + 1), u[0], u[1]);
        TEST_BELOW(20 * log10(errors_most(e)), -50,
                   "layers around a box of %d cells, a source at %s: reflection, dB", cells,
                   source);
        for (int i = 0; i < 2; i++) free(u[i]);
    }
}

int main(void) {
    enum { STEPS = 300, BEFORE = 200 }; /* in which the planted one grows */
    if (!test_have_double()) return test_end("absorbing");
    test_near("acoustic", 1, 2, 8, -95);
    test_near("acoustic", 1, 3, 8, -95);
    test_near("wave", 1, 2, 8, -90);
    test_near("wave", 1, 3, 8, -90);
    for (int order = 2; order <= 3; order++) {
        if (order > 2 && !test_all()) continue;
        for (int dims = 2; dims <= (test_all() ? 3 : 2); dims++) {
            test_near("wave", dims, order, 8, -60);
            if (test_all()) test_near("acoustic", dims, order, 12, -75);
        }
    }
    test_outside("[0.0,0.35]");
    test_outside("[0.0,0.0]");
    test_sponges();
    TEST_BELOW(decay("acoustic", 2, BEFORE, STEPS, ""), 1, "energy after %d steps of random data",
               STEPS);
    const double grown =
        decay("acoustic", 2, BEFORE, STEPS, "absorbing.alpha=0 absorbing.sponge=0");
    TEST_CHECK(grown > 1, "planted: without alpha and sponge the energy grows by %.3g", grown);
    return test_end("absorbing");
}
