/* Couplings of fields at different places (src/fd/pair_faces.c), where faces are oblique to the
 * grid: what they gain, against the series of a dielectric cylinder and against finer grids; that
 * the scheme stays symmetric, not negative and below the bound of the step in rough media; kernels
 * against the plain engine. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* jn, yn */
#include <complex.h>

#include "compiler.h"
#include "scene.h"
#include "src/fd/fd.h"

/* coupled: 1 as planned, 0 without, 2 however many points are coupled. */
static void open_run(struct scene *scene, int coupled, const char *text, struct scene_run *run) {
    scene_plan(scene, run, text);
    struct ht_plan *plan = run->plan;
    if (coupled != 1) plan->problem.fd.faces = coupled ? plan->faces : NULL;
    if (coupled == 2) plan->problem.fd.wide = true;
    for (int group = 0; coupled == 2 && group < 2; group++)
        plan->faces->listed[group].used = plan->faces->listed[group].count > 0;
    fd_start(&run->of);
}

/* ---- a dielectric cylinder ---- */

enum { ORDERS = 24 };
static const double source = -2.2, wave = 4.04, inside = 2; /* radius 1, index inside */

static double _Complex hankel(int n, double x) {
    return jn(n, x) + I * yn(n, x);
}

static double bessel_slope(int n, double x) {
    return n > 0 ? jn(n - 1, x) - n / x * jn(n, x) : -jn(1, x);
}

static double _Complex hankel_slope(int n, double x) {
    return n > 0 ? hankel(n - 1, x) - n / x * hankel(n, x) : -hankel(1, x);
}

/* H3 of a line source outside: both sides of the surface have the same H3 and H3_r/eps. */
static double _Complex series(double x1, double x2, const double _Complex *in,
                              const double _Complex *out) {
    const double r = hypot(x1, x2), phi = atan2(x2, x1) - acos(-1.0);
    double _Complex sum = r > 1 ? hankel(0, wave * hypot(x1 - source, x2)) : 0;
    for (int n = 0; n < ORDERS; n++) {
        const double part = (n > 0 ? 2 : 1) * cos(n * phi);
        sum += part * (r > 1 ? out[n] * hankel(n, wave * r) : in[n] * jn(n, inside * wave * r));
    }
    return sum;
}

static void find_series(double _Complex *in, double _Complex *out) {
    for (int n = 0; n < ORDERS; n++) {
        const double _Complex come = hankel(n, wave * fabs(source));
        const double k = inside * wave;
        const double a = jn(n, k), b = bessel_slope(n, k) / inside; /* k/(eps wave) */
        const double _Complex h = hankel(n, wave), g = hankel_slope(n, wave);
        const double j = jn(n, wave), i = bessel_slope(n, wave);
        /* in a = come j + out h,  in b = come i + out g */
        out[n] = come * (j * b - i * a) / (g * a - h * b);
        in[n] = (come * j + out[n] * h) / a;
    }
}

/* The same equations: p as H3, rho as eps. */
static const struct {
    const char *name, *text, *field;
} cylinders[] = {
    {"dielectric", "system=maxwell medium.mu=1.0 medium.eps", "H3"},
    {"heavy", "system=acoustic medium.K=1.0 medium.rho", "p"},
};

/* Relative error of the field at its frequency, but for a factor, within 0.15 of which nodes there
 * are neither face nor source nor layer. */
static double cylinder(struct scene *scene, int which, double points, int coupled) {
    const double h = 2 * acos(-1.0) / (wave * inside * points), layer = 12 * h;
    const int64_t cells = 2 * (int64_t)ceil((3.2 + layer) / h);
    char text[SCENE_TEXT];
    struct scene_run run;
    const double half = 0.5 * (double)cells * h;
    snprintf(text, sizeof text,
             "%s=\"1+3*step(1-x1^2-x2^2)\" time.scheme=fd grid.order=8 grid.cells=[%d,%d] "
             "grid.lower=[%.15g,%.15g] grid.upper=[%.15g,%.15g] boundary.x1=absorbing "
             "boundary.x2=absorbing absorbing.place=inside absorbing.cells=12 "
             "medium.type=expression time.cfl=0.25 time.end=70 "
             "initial.type=gaussian initial.field=%s initial.centre=[%g,0] initial.width=0.25",
             cylinders[which].text, (int)cells, (int)cells, -half, -half, half, half,
             cylinders[which].field, source);
    open_run(scene, coupled, text, &run);
    const struct ht_plan *plan = run.plan;
    const int f = ht_equations_field(&plan->eq, cylinders[which].field);
    const int64_t n = ht_grid_nodes(&plan->grid, HT_PRIMARY, 0);
    const double dt = plan->problem.dt, omega = 2 / dt * asin(wave * dt / 2);
    double _Complex *sum = calloc((size_t)(n * n), sizeof *sum), in[ORDERS], out[ORDERS];
    const int64_t every = 4;
    for (int64_t i = 0; i < plan->steps / every; i++) {
        scene_advance(&run, every);
        const double _Complex turn = cexp(I * omega * dt * (double)(i * every));
        for (int64_t m = 0; m < n * n; m++) sum[m] += turn * run.nodal[f][m];
    }
    double _Complex product = 0;
    double norm = 0, exact = 0;
    find_series(in, out);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t m = 0; m < n * n; m++) {
            const int64_t row = m / n;
            const double x1 = -half + (double)(m - row * n) * h, x2 = -half + (double)row * h;
            const double r = hypot(x1, x2);
            if (r > 2 || fabs(r - 1) < 0.15 || hypot(x1 - source, x2) < 1) continue;
            const double _Complex u = series(x1, x2, in, out);
            if (pass == 0) {
                product += conj(u) * sum[m];
                exact += creal(u * conj(u));
            } else {
                norm += pow(cabs(sum[m] * exact / product - u), 2);
            }
        }
    free(sum);
    scene_close(&run);
    return sqrt(norm / exact);
}

/* ---- a solid in a solid ---- */

/* s11 at the nodes of the coarsest grid at the end; all grids take the same steps. */
enum { COARSE = 32, FINE = 4 * COARSE };
static void inclusion(struct scene *scene, const char *losses, int cells, int coupled,
                      double *out) {
    char text[SCENE_TEXT];
    struct scene_run run;
    const char *ball = "step(0.0529-(x1-0.52)^2-(x2-0.47)^2)";
    snprintf(text, sizeof text,
             "system=elastic time.scheme=fd grid.order=8 grid.cells=[%d,%d] medium.type=expression "
             "medium.vp=\"1.6+1.6*%s\" medium.vs=\"0.9+%s\" medium.rho=\"1+0.4*%s\" time.cfl=%g "
             "time.end=0.4 initial.type=gaussian initial.field=s11 initial.width=0.06 "
             "initial.centre=[0.15,0.2] %s",
             cells, cells, ball, ball, ball, 0.06 * cells / COARSE, losses);
    open_run(scene, coupled, text, &run);
    scene_advance(&run, run.plan->steps);
    const int f = ht_equations_field(&run.plan->eq, "s11"), ratio = cells / COARSE;
    for (int m = 0; m < COARSE * COARSE; m++)
        out[m] = run.nodal[f][m / COARSE * ratio * cells + m % COARSE * ratio];
    scene_close(&run);
}

/* Away from the face, where normal stress along it jumps. */
static double off_inclusion(const double *a, const double *b) {
    struct errors e = {0};
    for (int m = 0; m < COARSE * COARSE; m++) {
        const int row = m / COARSE;
        const double x1 = (double)(m - row * COARSE) / COARSE, x2 = (double)row / COARSE;
        if (fabs(hypot(x1 - 0.52, x2 - 0.47) - 0.23) < 0.06) continue;
        errors_add(&e, a[m], b[m]);
    }
    return errors_l2(e);
}

static void judge_inclusion(struct scene *scene, const char *losses) {
    static double s11[5][COARSE * COARSE];
    const int cells[] = {COARSE, 2 * COARSE, COARSE, 2 * COARSE, FINE};
    double e[4];
    for (int i = 0; i < 5; i++) inclusion(scene, losses, cells[i], i >= 2, s11[i]);
    for (int i = 0; i < 4; i++) e[i] = off_inclusion(s11[i], s11[4]);
    TEST_BELOW(e[2], 1.3e-2, "a solid in a solid %s, %d^2 cells (without couplings %.2g)", losses,
               COARSE, e[0]);
    TEST_BELOW(e[3], 2e-3, "%d^2 cells (without %.2g)", 2 * COARSE, e[1]);
    TEST_BELOW(e[1], 8e-3, "without");
    TEST_CHECK(e[1] > 3 * e[3] && log2(e[2] / e[3]) > 1.8, "orders %.2f, without %.2f",
               log2(e[2] / e[3]), log2(e[0] / e[1]));
}

/* ---- the whole matrix ---- */

/* Periodic media where every cell is a frame of its own, some of it fluid. Where the coefficients
 * of one group are 1, a step from v of that group alone makes v - dt^2 A0^T C A0 v of it: a step,
 * or two of the group that changes first. Where losses are fast, C is what they leave at rest. */
static const struct {
    const char *name, *text;
    int group; /* of v */
} rough[] = {
    {"elastic",
     "system=elastic grid.cells=[8,7] grid.order=4 grid.upper=[1,0.875] medium.rho=1.0 "
     "medium.vp=\"2+1.5*sin(19*x1+3)*cos(17*x2-8*x1)\" "
     "medium.vs=\"0.3*step(sin(23*x1+5*x2))+0.2*step(sin(9*x1+13*x2)+0.6)\"",
     1},
    {"elastic in 3-D",
     "system=elastic grid.cells=[4,5,4] grid.order=2 grid.upper=[0.5,0.625,0.5] medium.rho=1.0 "
     "medium.vp=\"2+step(sin(14*x1+9*x2-12*x3))\" "
     "medium.vs=\"(1+0.5*step(sin(14*x1+9*x2-12*x3)))*step(0.7-cos(9*x3-14*x1))\"",
     1},
    {"elastic in 3-D, losses",
     "system=elastic grid.cells=[4,5,4] grid.order=2 grid.upper=[0.5,0.625,0.5] medium.rho=1.0 "
     "medium.vp=\"2+step(sin(14*x1+9*x2-12*x3))\" medium.qp=\"2+step(sin(19*x1+9*x2))\" "
     "medium.vs=\"(1+0.5*step(sin(14*x1+9*x2-12*x3)))*step(0.7-cos(9*x3-14*x1))\" "
     "medium.qs=\"2+3*step(sin(9*x2+19*x3))\" medium.q_frequency=1e6",
     1},
    {"maxwell, TE",
     "system=maxwell grid.cells=[9,8] grid.order=4 grid.upper=[0.9,0.8] medium.mu=1.0 "
     "medium.eps=\"1+11*step(sin(9*x1+13*x2))\"",
     0},
    {"maxwell, TE, losses",
     "system=maxwell grid.cells=[9,8] grid.order=4 grid.upper=[0.9,0.8] medium.mu=1.0 "
     "medium.eps=\"1+11*step(sin(9*x1+13*x2))\" medium.debye_eps=\"30*step(sin(13*x1+9*x2))\" "
     "medium.debye_tau=1e-6 medium.lorentz_w0=1e6 "
     "medium.lorentz_eps=\"step(sin(9*x1-13*x2))\" medium.sigma=\"5*step(x1-0.5)\"",
     0},
    {"maxwell in 3-D, mu",
     "system=maxwell grid.cells=[4,5,4] grid.order=2 grid.upper=[0.5,0.625,0.5] medium.eps=1.0 "
     "medium.mu=\"1+11*step(sin(9*x1+13*x2-14*x3))\"",
     1},
};
enum { ROUGH = sizeof rough / sizeof *rough };

static enum ht_err fill_raised(const void *medium, int what, int64_t first, int64_t last,
                               double *out) {
    const struct ht_plan *plan = medium;
    TRY(plan->problem.fd.fill(plan->problem.fd.medium, what, first, last, out));
    return ht_pair_faces_raise(plan->faces, what, first, last, out);
}

/* Row i of the matrix: what v = 1 at place i alone changes. */
static void find_row(struct scene_run *run, const struct ht_pair *pair, int group, int64_t place,
                     double *values, double *row) {
    const struct ht_plan *plan = run->plan;
    const int64_t nodes = ht_grid_total(&plan->grid, HT_PRIMARY);
    const double dt = plan->problem.dt;
    const struct ht_stepper *stepper = fd_stepper(&run->of);
    int64_t i = 0, from = -1;
    for (int f = 0; f < pair->nfields; f++)
        for (int64_t n = 0; n < nodes; n++, i += pair->group[group] >> f & 1u)
            if (pair->group[group] >> f & 1u && i == place) from = f * nodes + n;
    memset(values, 0, (size_t)(nodes * pair->nfields) * sizeof *values);
    values[from] = 1;
    must(stepper->ops->put(stepper->self, HT_PRIMARY, 0, ht_grid_planes(&plan->grid, HT_PRIMARY),
                           values));
    scene_advance(run, group == 0 ? 2 : 1);
    i = 0;
    for (int f = 0; f < pair->nfields; f++)
        for (int64_t n = 0; n < nodes && (pair->group[group] >> f & 1u); n++, i++)
            row[i] = ((i == place) - run->nodal[f][n]) / (dt * dt);
}

static void find_matrix(struct scene *scene, int which, double **out, int *size, double *share,
                        double *bound) {
    char text[SCENE_TEXT];
    struct ht_pair pair;
    struct scene_run run;
    HT_FREED double *values = NULL;
    snprintf(text, sizeof text,
             "%s medium.type=expression time.scheme=fd time.end=1 medium.fit=box "
             "device.backend=oracle",
             rough[which].text);
    open_run(scene, 2, text, &run);
    const struct ht_plan *plan = run.plan;
    double range[HT_MAX_TERMS][2];
    const int64_t nodes = ht_grid_total(&plan->grid, HT_PRIMARY);
    const int group = rough[which].group;
    ht_problem_pair(&plan->problem, &pair);
    *size = 0;
    for (int f = 0; f < pair.nfields; f++)
        if (pair.group[group] >> f & 1u) *size += (int)nodes;
    must(HT_ALLOC(*out, *size * *size));
    must(HT_ALLOC(values, nodes * pair.nfields));
    for (int i = 0; i < *size; i++)
        find_row(&run, &pair, group, i, values, *out + (int64_t)i * *size);
    *share = ht_pair_faces_share(plan->faces, 1 - group);
    struct ht_problem raised = plan->problem;
    raised.fd.fill = fill_raised;
    raised.fd.medium = plan;
    pair.ncouplings = 0;
    must(ht_pair_bound(&raised, &pair, range, bound));
    scene_close(&run);
}

static void judge_matrix(struct scene *scene, int which) {
    HT_FREED double *a = NULL, *V = NULL;
    double share = 0, bound = 0, apart = 0, least = INFINITY, most = 0;
    int n = 0;
    find_matrix(scene, which, &a, &n, &share, &bound);
    must(HT_ALLOC(V, n * n));
    for (int i = 0; i < n * n; i++) {
        apart = fmax(apart, fabs(a[i] - a[i % n * n + i / n]));
        most = fmax(most, fabs(a[i]));
    }
    apart /= most;
    ht_eigen(n, a, V);
    for (int i = 0; i < n; i++) {
        least = fmin(least, a[i * n + i]);
        most = fmax(most, a[i * n + i]);
    }
    TEST_BELOW(apart, 1e-13, "%s, %.2f of the points coupled: the matrix is symmetric",
               rough[which].name, share);
    TEST_BELOW(-least / most, 1e-13, "%s: least eigenvalue over the largest", rough[which].name);
    TEST_BELOW(most / bound, 1 + 1e-12, "%s: the largest over the bound", rough[which].name);
}

/* ---- kernels ---- */

static const struct {
    const char *name, *text;
} boxes[] = {
    {"elastic, walls", "system=elastic grid.cells=[21,18] grid.order=8 boundary.x1=roller "
                       "boundary.x2=antisymmetric medium.vp=\"2+step(0.09-(x1-0.9)^2-(x2-0.1)^2)\" "
                       "medium.vs=\"1+0.6*step(0.09-(x1-0.9)^2-(x2-0.1)^2)\" "
                       "medium.rho=\"1+step(0.09-(x1-0.9)^2-(x2-0.1)^2)\""},
    {"elastic in 3-D", "system=elastic grid.cells=[9,8,10] grid.order=2 boundary.x1=antisymmetric "
                       "boundary.x3=roller medium.vp=\"2+step(0.1-(x1-0.1)^2-x2^2-(x3-0.9)^2)\" "
                       "medium.vs=\"1+0.6*step(0.1-(x1-0.1)^2-x2^2-(x3-0.9)^2)\" medium.rho=1.0"},
    {"elastic in 3-D, losses",
     "system=elastic grid.cells=[9,8,10] grid.order=2 boundary.x1=antisymmetric "
     "boundary.x3=roller medium.vp=\"2+step(0.1-(x1-0.1)^2-x2^2-(x3-0.9)^2)\" medium.rho=1.0 "
     "medium.vs=\"1+0.6*step(0.1-(x1-0.1)^2-x2^2-(x3-0.9)^2)\" medium.qp=12.0 "
     "medium.qs=\"6+9*x1\""},
    {"maxwell in 3-D, losses",
     "system=maxwell grid.cells=[9,8,10] grid.order=4 boundary.x1=electric boundary.x3=magnetic "
     "medium.eps=\"1+3*step(0.1-(x1-0.1)^2-x2^2-(x3-0.9)^2)\" medium.debye_eps=\"0.3+0.2*x1\" "
     "medium.lorentz_eps=0.4 medium.lorentz_w0=\"3+x2\" "
     "medium.sigma=\"step(0.04-(x1-0.1)^2-x2^2-(x3-0.5)^2)\""},
    {"maxwell in 3-D",
     "system=maxwell grid.cells=[9,8,10] grid.order=4 boundary.x1=electric boundary.x3=magnetic "
     "medium.eps=\"1+3*step(0.1-(x1-0.1)^2-x2^2-(x3-0.9)^2)\" "
     "medium.mu=\"1+step(0.1-(x1-0.1)^2-x2^2-(x3-0.9)^2)\""},
};
enum { BOXES = sizeof boxes / sizeof *boxes };

/* The largest difference of two runs over the largest value. */
static double difference(const struct scene_run *a, const struct scene_run *b) {
    struct errors e = {0};
    for (int f = 0; f < a->plan->eq.nfields; f++)
        for (int64_t n = 0; n < a->of.nodes; n++) errors_add(&e, b->nodal[f][n], a->nodal[f][n]);
    return errors_most(e);
}

/* Steps by kernels and by the plain engine from the same data; single: of rounding of the medium,
 * too. */
static void judge_kernels(struct scene *scene, int which) {
    enum { DOUBLE, SINGLE, WITHOUT, PLAIN, RUNS, STEPS = 20 };
    struct scene_run run[RUNS];
    for (int i = DOUBLE; i < RUNS; i++) {
        char text[SCENE_TEXT];
        snprintf(text, sizeof text,
                 "%s medium.type=expression medium.fit=box time.scheme=fd time.end=9 "
                 "initial.type=gaussian initial.width=0.15 initial.centre=[0.8,0.2%s] "
                 "device.precision=%s device.backend=%s",
                 boxes[which].text, strstr(boxes[which].name, "3-D") ? ",0.7" : "",
                 i == SINGLE ? "single" : "double", i >= WITHOUT ? "oracle" : test_backend());
        open_run(scene, i == WITHOUT ? 0 : 2, text, &run[i]);
        scene_advance(&run[i], STEPS);
    }
    const double change = difference(&run[PLAIN], &run[WITHOUT]);
    TEST_BELOW(difference(&run[PLAIN], &run[DOUBLE]), 1e-13, "%s: kernels against the plain engine",
               boxes[which].name);
    TEST_BELOW(difference(&run[PLAIN], &run[SINGLE]), 5e-6, "%s: in single precision",
               boxes[which].name);
    TEST_CHECK(change > 1e-3, "%s: couplings change %.2g", boxes[which].name, change);
    for (int i = DOUBLE; i < RUNS; i++) scene_close(&run[i]);
}

int main(void) {
    static const struct {
        double points, most[2]; /* error without couplings, with them */
    } rungs[] = {{6, {0.05, 0.016}}, {8, {0.03, 0.01}}, {12, {0.02, 0.007}}};
    struct scene scene;
    if (!scene_start(&scene)) return test_end("faces");
    for (int i = 0; i < 9; i++) {
        const int which = i / 6, coupled = i % 2 && which == 0, rung = which ? i - 6 : i / 2;
        if (!test_all() && !(rung == 2 && coupled)) continue;
        TEST_BELOW(cylinder(&scene, which, rungs[rung].points, coupled), rungs[rung].most[coupled],
                   "a %s cylinder, %g points per wavelength inside%s", cylinders[which].name,
                   rungs[rung].points, coupled ? ", coupled" : "");
    }
    judge_inclusion(&scene, "");
    judge_inclusion(&scene, "medium.q_frequency=4.0 "
                            "medium.qp=\"40-15*step(0.0529-(x1-0.52)^2-(x2-0.47)^2)\" "
                            "medium.qs=\"25-10*step(0.0529-(x1-0.52)^2-(x2-0.47)^2)\"");
    for (int which = 0; which < BOXES; which++) {
        test_optimise(which == 0); /* few steps */
        judge_kernels(&scene, which);
    }
    for (int which = 0; which < ROUGH; which++) judge_matrix(&scene, which);
    return test_end("faces");
}
