/* Exact solutions in layers (src/model/solution_layered.c): the equations, the
 * conditions at interfaces and walls, what is conserved, coefficients of
 * reflection, and a fine run of finite differences.
 */
#include "htwave/solution.h"
#include "medium_scene.h"

static double worse(double a, double b) {
    return isnan(a) || a > b ? a : b;
}

struct exact {
    struct scene scene;
    struct ht_solution *solution;
    int64_t nodes; /* dual */
    int coefs;
};

/* 1-D on [0, 1]. */
static enum ht_err open_exact(struct exact *e, const char *system, int cells,
                              int order, int walls, const char *options) {
    const int64_t line[3] = {cells, 0, 0};
    *e = (struct exact){.scene = {.grid = make_grid(line, order, walls != 0)},
                        .nodes = cells,
                        .coefs = order + 1};
    if (walls < 0) e->scene.grid.wall[0][0] = e->scene.grid.wall[0][1] = -1;
    stop_on(open_scene(&e->scene, system, options));
    return ht_solution_create(e->scene.params, e->scene.medium, &e->solution);
}

static void close_exact(struct exact *e) {
    ht_solution_destroy(e->solution);
    close_scene(&e->scene);
}

/* Both fields on the dual grid: [field][i][node]. The caller frees it. */
static double *at_time(const struct exact *e, double time) {
    double *out;
    stop_on(HT_ALLOC(out, 2 * (int64_t)e->coefs * e->nodes));
    stop_on(ht_solution_fill(e->solution, HT_DUAL, time, 0, 1, out));
    return out;
}

#define TWO                                                             \
    "medium.type=layers; medium.axis=x1; medium.interfaces=[0.5, 0.8];" \
    "medium.c=[1.0, 2.5, 0.7]; medium.rho=[1.0, 1.5, 3.0]; time.end=9;" \
    "initial.centre=[0.3, 0, 0]; initial.width=0.03"

static double modulus(double x) {
    return x < 0.5 ? 1 : x < 0.8 ? 2.5 * 2.5 * 1.5 : 0.7 * 0.7 * 3;
}
static double density(double x) {
    return x < 0.5 ? 1 : x < 0.8 ? 1.5 : 3;
}

/* ---- what is conserved ---- */

/* Integrals over all cells of p/K, and of (p^2/K + rho v^2)/2. */
static void integrals(const struct exact *e, const double *u, double sum[2]) {
    double h = e->scene.grid.h[0];
    sum[0] = sum[1] = 0;
    for (int64_t m = 0; m < e->nodes; m++) {
        double x = ht_grid_x(&e->scene.grid, HT_DUAL, 0, m);
        for (int i = 0; i < e->coefs; i++) {
            double p = u[i * e->nodes + m];
            double v = u[(e->coefs + i) * e->nodes + m];
            if (i % 2 == 0)
                sum[0] += h * p / modulus(x) * pow(0.5, i) / (i + 1);
            for (int j = i % 2; j < e->coefs; j += 2) {
                double q = u[j * e->nodes + m];
                double w = u[(e->coefs + j) * e->nodes + m];
                double weight = h * pow(0.5, i + j) / (i + j + 1) / 2;
                sum[1] += weight * (p * q / modulus(x) + density(x) * v * w);
            }
        }
    }
}

static void test_conserved(int walls) {
    struct exact e;
    double start[2], now[2], worst[2] = {0};
    stop_on(open_exact(&e, "acoustic", 400, 8, walls, TWO));
    double *u = at_time(&e, 0);
    integrals(&e, u, start);
    free(u);
    for (int t = 1; t <= 12; t++) {
        u = at_time(&e, 0.737 * t);
        integrals(&e, u, now);
        worst[0] = worse(worst[0], fabs(now[0] / start[0] - 1));
        worst[1] = worse(worst[1], fabs(now[1] / start[1] - 1));
        free(u);
    }
    if (walls >= 0)
        TEST_BELOW(worst[0], 1e-10, "walls %d: integral of p/K, relative",
                   walls);
    TEST_BELOW(worst[1], 1e-10, "walls %d: energy, relative", walls);
    close_exact(&e);
}

/* ---- the equations ---- */

/* p_t = -K v_x, rho v_t = -p_x where no interface is near; p and v continuous
 * at interfaces, by Taylor's polynomials from both sides. */
static void test_equations(int walls) {
    struct exact e;
    const double t = 3.21, d = 1e-4;
    double worst[2] = {0}, jump = 0, scale[2] = {0};
    stop_on(open_exact(&e, "acoustic", 200, 8, walls, TWO));
    double h = e.scene.grid.h[0], *u[5];
    for (int i = 0; i < 5; i++) u[i] = at_time(&e, t + (i - 2) * d);
    int64_t n = e.nodes, field = e.coefs * n;
    for (int64_t m = 0; m < n; m++) {
        double x = ht_grid_x(&e.scene.grid, HT_DUAL, 0, m);
        if (fabs(x - 0.5) < 2e-3 || fabs(x - 0.8) < 2e-3) continue;
        double time[2];
        for (int f = 0; f < 2; f++)
            time[f] = (u[0][f * field + m] - 8 * u[1][f * field + m] +
                       8 * u[3][f * field + m] - u[4][f * field + m]) /
                      (12 * d);
        double v_x = u[2][field + n + m] / h, p_x = u[2][n + m] / h;
        worst[0] = worse(worst[0], fabs(time[0] + modulus(x) * v_x));
        worst[1] = worse(worst[1], fabs(time[1] * density(x) + p_x));
        scale[0] = fmax(scale[0], fabs(modulus(x) * v_x));
        scale[1] = fmax(scale[1], fabs(p_x));
    }
    TEST_BELOW(worst[0] / scale[0], 1e-7, "walls %d: p_t = -K v_x", walls);
    TEST_BELOW(worst[1] / scale[1], 1e-7, "walls %d: rho v_t = -p_x", walls);
    for (int side = 0; side < 2; side++) {
        int64_t right = side ? 160 : 100; /* nodes h/2 to either side */
        for (int f = 0; f < 2; f++) {
            double a = 0, b = 0;
            for (int i = 0; i < e.coefs; i++) {
                a += u[2][f * field + i * n + right - 1] * pow(0.5, i);
                b += u[2][f * field + i * n + right] * pow(-0.5, i);
            }
            jump = worse(jump, fabs(a - b));
        }
    }
    TEST_BELOW(jump, 1e-10, "walls %d: p and v continuous, jump", walls);
    for (int i = 0; i < 5; i++) free(u[i]);
    close_exact(&e);
}

/* ---- one interface ---- */

/* A pulse p, v = 0 splits into halves; that which meets the jump returns with
 * (Z2 - Z1)/(Z2 + Z1) and goes on with 2 Z2/(Z1 + Z2). */
static void test_reflection(void) {
    struct exact e;
    stop_on(open_exact(
        &e, "acoustic", 400, 0, 1,
        "medium.type=layers; medium.axis=x1; medium.interfaces=[0.6];"
        "medium.c=[1.0, 2.5]; medium.rho=[1.0, 1.5]; time.end=1;"
        "initial.centre=[0.40125, 0, 0]; initial.width=0.015"));
    /* to the jump 0.19875; at 0.3 the halves are 0.10125 beyond it */
    double *u = at_time(&e, 0.3), r = 2.75 / 4.75;
    int64_t back = (int64_t)lround((0.6 - 0.10125) * 400 - 0.5);
    int64_t on = (int64_t)lround((0.6 + 2.5 * 0.10125) * 400 - 0.5);
    double x = 0.6 + 2.5 * 0.10125 - ((double)on + 0.5) / 400;
    double bell = exp(-pow(x / 2.5 / 0.015, 2) / 2);
    TEST_BELOW(fabs(u[back] - r / 2), 1e-12, "reflected %.6f, off by", u[back]);
    TEST_BELOW(fabs(u[on] - (1 + r) / 2 * bell), 1e-12,
               "transmitted %.6f, off by", u[on]);
    free(u);
    close_exact(&e);
}

/* ---- finite differences of order 2 ---- */

enum { FINE = 4000, COARSE = 100 };

/* p at x = i/FINE, v half a spacing on, both sides walls or periodic. */
struct lattice {
    double p[FINE + 1], v[FINE];
    double K[FINE + 1], b[FINE];
};

static void lattice_step(struct lattice *l, int walls, double ratio) {
    for (int i = 0; i < FINE; i++)
        l->v[i] -= ratio * l->b[i] * (l->p[i + 1] - l->p[i]);
    for (int i = 1; i < FINE; i++)
        l->p[i] -= ratio * l->K[i] * (l->v[i] - l->v[i - 1]);
    if (walls > 0) {
        l->p[0] -= ratio * l->K[0] * 2 * l->v[0];
        l->p[FINE] += ratio * l->K[FINE] * 2 * l->v[FINE - 1];
    } else if (walls == 0) {
        l->p[0] -= ratio * l->K[0] * (l->v[0] - l->v[FINE - 1]);
        l->p[FINE] = l->p[0];
    }
}

/* Interfaces are at nodes: there 1/K is the mean of both sides. */
static double side_modulus(int i, int walls) {
    double x = (double)i / FINE, d = 0.5 / FINE;
    double left = x - d, right = x + d;
    if (left < 0) left = walls ? right : 1 - d;
    if (right > 1) right = walls ? left : d;
    return 2 / (1 / modulus(left) + 1 / modulus(right));
}

static void test_differences(int walls) {
    static struct lattice l;
    struct exact e;
    const double time = 4;
    double sum = 0, square = 0, h = 1. / FINE;
    int steps = (int)ceil(time * 2.5 / (0.95 * h));
    double dt = time / steps;
    memset(&l, 0, sizeof l);
    for (int i = 0; i <= FINE; i++) {
        l.p[i] = exp(-pow((i * h - 0.3) / 0.03, 2) / 2);
        l.K[i] = side_modulus(i, walls);
    }
    for (int i = 0; i < FINE; i++) l.b[i] = 1 / density((i + 0.5) * h);
    /* half a step of v first: the loop makes a whole one of b/2 */
    for (int i = 0; i < FINE; i++) l.b[i] /= 2;
    lattice_step(&l, walls, dt / h);
    for (int i = 0; i < FINE; i++) l.b[i] *= 2;
    for (int n = 1; n < steps; n++) lattice_step(&l, walls, dt / h);
    stop_on(open_exact(&e, "acoustic", COARSE, 0, walls, TWO));
    double *u = at_time(&e, time);
    for (int64_t m = 0; m < e.nodes; m++) {
        double p = l.p[(2 * m + 1) * FINE / COARSE / 2];
        sum += pow(u[m] - p, 2);
        square += p * p;
    }
    TEST_BELOW(sqrt(sum / square), 2e-3,
               "walls %d: against %d points of order 2, relative", walls,
               (int)FINE);
    free(u);
    close_exact(&e);
}

/* ---- the wave equation, expressions ---- */

#define RICKER "(1 - ((x1 - 0.3)/0.03)^2)*exp(-((x1 - 0.3)/0.03)^2/2)"

static void test_wave(void) {
    struct exact a, b;
    const double t = 1.37, d = 1e-4;
    double worst[3] = {0};
    stop_on(open_exact(
        &a, "wave", 200, 3, 1,
        "medium.type=layers; medium.axis=x1; medium.interfaces=[0.5];"
        "medium.c=[1.0, 2.0]; time.end=2; initial.type=expression;"
        "initial.values.u=\"" RICKER "\""));
    stop_on(open_exact(
        &b, "acoustic", 200, 3, 1,
        "medium.type=layers; medium.axis=x1; medium.interfaces=[0.5];"
        "medium.K=[1.0, 4.0]; time.end=2; initial.type=expression;"
        "initial.values.p=\"" RICKER "\""));
    double *u = at_time(&a, t), *p = at_time(&b, t);
    double *before = at_time(&a, t - d), *after = at_time(&a, t + d);
    for (int64_t i = 0; i < 800; i++)
        worst[0] = worse(worst[0], fabs(u[i] - p[i]));
    for (int64_t m = 0; m < 200; m++) {
        double rate = (after[m] - before[m]) / (2 * d);
        worst[1] = worse(worst[1], fabs(u[800 + m] - rate));
        worst[2] = fmax(worst[2], fabs(rate));
    }
    TEST_BELOW(worst[0], 1e-13, "wave: u is p of acoustics, off by");
    TEST_BELOW(worst[1] / worst[2], 1e-4, "wave: v = u_t, relative");
    TEST_CHECK(a.solution->exact && b.solution->exact,
               "expressions are exact in layers");
    free(u);
    free(p);
    free(before);
    free(after);
    close_exact(&a);
    close_exact(&b);
}

/* At time 0 and just after it, data for v, too. */
static void test_start(void) {
    struct exact e;
    double worst = 0;
    stop_on(open_exact(&e, "acoustic", 50, 4, 1, TWO "; initial.field=v1"));
    double *u = at_time(&e, 0), *w = at_time(&e, 1e-13);
    for (int64_t i = 0; i < 10 * e.nodes; i++)
        worst = worse(worst, fabs(u[i] - w[i]));
    TEST_BELOW(worst, 1e-9, "v1 at the start and just after, difference");
    free(u);
    free(w);
    close_exact(&e);
}

static bool is_exact(const char *system, const char *options) {
    struct exact e;
    stop_on(open_exact(&e, system, 50, 2, 0, options));
    bool exact = e.solution->exact;
    close_exact(&e);
    return exact;
}

static void test_refused(void) {
    TEST_CHECK(is_exact("acoustic", TWO), "acoustics in layers are exact");
    TEST_CHECK(!is_exact("acoustic", "medium.type=expression; time.end=9;"
                                     "medium.c=\"1 + step(x1 - 0.5)\""),
               "expressions as media are not");
    TEST_CHECK(!is_exact("wave", "medium.type=layers; medium.axis=x1;"
                                 "medium.interfaces=[0.5]; time.end=9;"
                                 "medium.c=[1.0, 2.0]; initial.field=v"),
               "data for u_t of the wave equation are not");
    TEST_CHECK(
        !is_exact("acoustic",
                  "medium.type=layers; medium.axis=x1; time.end=1000;"
                  "medium.interfaces=[0.11, 0.23, 0.37, 0.52, 0.71, 0.83];"
                  "medium.c=[1.0, 2.1, 1.3, 2.7, 1.1, 1.9, 3.0]"),
        "too many echoes are not");
}

int main(void) {
    for (int walls = -1; walls <= 1; walls++) {
        test_conserved(walls);
        test_equations(walls);
        test_differences(walls);
    }
    test_reflection();
    test_wave();
    test_start();
    test_refused();
    return test_end("solution_layered");
}
