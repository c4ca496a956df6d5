/* Finite differences in three dimensions against themselves on a fine grid: a pulse of width 1.5 in
 * random blocks (c from 1 to 2.5, sides of 0.5 to 4, faces that grids miss) and in a smooth medium.
 * The error of p at nodes a unit apart
 *   - falls like h^2 in blocks, and the fit errs by half of what box averages
 *     err by, and values at points by far more;
 *   - has the full order where the medium is smooth.
 * And in one dimension a pulse of mostly 16 points per wavelength and more before a jump of rho at
 * c = 1, against d'Alembert's solution. bench/media.py measures the same in a larger box. */
#include "differences.h"
#include "random_blocks.h"

enum {
    SIDE = 10,
    PARTS = 4,
    SAMPLES = SIDE * PARTS,
    ALL = SAMPLES * SAMPLES * SAMPLES,
    NODES = SIDE * SIDE * SIDE
};

static void write_blocks(int seed) {
    const struct random_blocks blocks = {.samples = {SAMPLES, SAMPLES, SAMPLES},
                                         .unit = PARTS,
                                         .c = 2.5,
                                         .rho = 1,
                                         .seed = (uint64_t)seed};
    static float c[ALL];
    random_blocks_fill(&blocks, c, NULL);
    fd_write("c.f32", ALL, c);
}

struct trial {
    bool smooth;
    int points; /* per unit and axis */
    int order, terms;
    const char *fit, *more;
};

static const char *medium_of(const struct trial *t) {
    static char text[400];
    if (t->smooth)
        return "medium.type=expression medium.c=1.5+0.5*sin(pi/5*x1)*sin(pi/5*x2)*sin(pi/5*x3)";
    snprintf(text, sizeof text,
             "medium.type=file medium.c=%s medium.shape=[%d,%d,%d] medium.spacing=[0.25,0.25,0.25] "
             "medium.origin=[-0.012,-0.293,-0.146] medium.fit=%s",
             fd_path("c.f32"), SAMPLES, SAMPLES, SAMPLES, t->fit);
    return text;
}

/* p at nodes a unit apart. */
static void run(const struct trial *t, double out[NODES]) {
    const int n = SIDE * t->points;
    struct fd_run run;
    fd_open(&run,
            "grid.cells=[%d,%d,%d] grid.upper=[%d,%d,%d] grid.order=%d time.stages=%d time.end=8 "
            "initial.type=gaussian initial.width=1.5 initial.centre=[5.31,4.77,5.12] %s %s",
            n, n, n, SIDE, SIDE, SIDE, t->order, t->terms, medium_of(t), t->more);
    fd_advance(&run, run.sim->plan->steps);
    double *u = fd_values(&run, HT_PRIMARY);
    for (int64_t i = 0; i < NODES; i++) {
        const int64_t at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        out[i] = u[((at[2] * n + at[1]) * n + at[0]) * (int64_t)t->points];
    }
    free(u);
    fd_close(&run);
}

static double error_of(const struct trial *t, const double exact[NODES]) {
    double found[NODES];
    run(t, found);
    return fd_distance(NODES, found, exact, 0);
}

/* Three points per unit: four would lie alike in all samples. Ratios differ from medium to medium,
 * between 1.7 and 2.8: their geometric mean counts. */
static void test_blocks(void) {
    const int media = test_all() ? 3 : 1;
    static double exact[NODES], half[NODES];
    const struct trial fine = {false, 10, 8, 2, "sinc", ""};
    const struct trial coarse = {false, 5, 8, 2, "sinc", ""};
    const struct trial fit = {false, 3, 8, 2, "sinc", ""};
    const struct trial box = {false, 3, 8, 2, "box", ""};
    const struct trial point = {false, 3, 8, 2, "point", ""};
    double order = 0, boxes = 0, points = INFINITY;
    for (int m = 0; m < media; m++) {
        write_blocks(m + 1);
        run(&fine, exact);
        run(&coarse, half);
        const double five = fd_distance(NODES, half, exact, 0);
        const double three = error_of(&fit, exact);
        order += log(three / five) / log(5.0 / 3) / media;
        boxes += log(error_of(&box, exact) / three) / media;
        points = fmin(points, error_of(&point, exact) / three);
        printf("blocks, seed %d: errors %.2e and %.2e of 3 and 5 points per unit (reference: about "
               "%.1e)\n",
               m + 1, three, five, five / 3);
    }
    TEST_CHECK(order > 1.8, "blocks: errors fall with order %.2f", order);
    TEST_CHECK(exp(boxes) > 2, "blocks: box averages err by %.2f times more", exp(boxes));
    TEST_CHECK(points > 10, "blocks: values at points by %.0f times", points);
}

/* Steps of 0.2 of the limit have no error to speak of. */
static void test_smooth(int order, int coarse, int fine) {
    static double exact[NODES];
    const struct trial reference = {true, 6, 16, 2, "", "time.cfl=0.3"};
    const struct trial a = {true, coarse, order, 2, "", "time.cfl=0.2"};
    const struct trial b = {true, fine, order, 2, "", "time.cfl=0.2"};
    run(&reference, exact);
    const double errors[2] = {error_of(&a, exact), error_of(&b, exact)};
    const double found = log(errors[0] / errors[1]) / log((double)fine / coarse);
    TEST_CHECK(
        found > 0.85 * order,
        "smooth medium: order %d, observed %.2f, errors %.2e and %.2e of %d and %d points per unit",
        order, found, errors[0], errors[1], coarse, fine);
}

static double pulse(double x) {
    return exp(-x * x / 16) / 2;
}

/* p at x, 18 after the pulse at 35; rho before the jump at z, 1 behind it. */
static double reflected(double x, double z, double rho) {
    const double R = (rho - 1) / (rho + 1);
    if (x < z) return (1 + R) * pulse(x - 17);
    return pulse(x - 17) + R * pulse(2 * z - x - 17) + pulse(x - 53) + pulse(120 - x - 53);
}

static void test_jump(double rho, double z) {
    struct fd_run run;
    double exact[121];
    fd_open(&run,
            "grid.cells=[120] grid.upper=[60] time.end=18 boundary.x1=rigid medium.type=layers "
            "medium.axis=x1 medium.interfaces=[%.17g] medium.rho=[%.17g,1.0] "
            "initial.type=expression initial.values.p=\"exp(-((x1-35)/4)^2)\"",
            z, rho);
    fd_advance(&run, run.sim->plan->steps);
    double *u = fd_values(&run, HT_PRIMARY);
    for (int i = 0; i <= 120; i++) exact[i] = reflected(i / 2., z, rho);
    TEST_BELOW(fd_distance(121, u, exact, 0), 0.04,
               "c = 1, rho %g before %g, 1 behind it, relative", rho, z);
    free(u);
    fd_close(&run);
}

int main(void) {
    if (!test_have_double()) return test_end("blocks");
    if ((fd_directory = scratch_make("differences")) == NULL) return 1;
    test_blocks();
    if (test_all()) test_smooth(4, 2, 4);
    test_smooth(8, 2, 3);
    for (int i = 0; i < 10; i++) test_jump(i % 2 ? 1000 : i % 4 ? 0.01 : 100, 20 + 0.05 * i);
    unlink(fd_path("c.f32"));
    rmdir(fd_directory);
    return test_end("blocks");
}
