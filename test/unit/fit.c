/* The medium of finite differences (htwave/fit.h) against a plain quadrature of
 * its definition, and what it keeps: constants, integrals, mirror images,
 * whatever the planes and the kind of source.
 */
#include "htwave/fit.h"
#include "medium_scene.h"

static double worse(double a, double b) {
    return isnan(a) || a > b ? a : b;
}

/* ---- scenes ---- */

struct case_ {
    struct scene scene;
    struct ht_fit *fit;
    int64_t count, planes, plane;
};

static enum ht_err open_case(struct case_ *c, const char *system,
                             const int64_t *cells, int walls,
                             enum ht_fit_kind kind, const char *options) {
    *c = (struct case_){.scene = {.grid = make_grid(cells, 2, walls)}};
    stop_on(open_scene(&c->scene, system, options));
    c->planes = ht_grid_planes(&c->scene.grid, HT_PRIMARY);
    c->plane = ht_grid_plane(&c->scene.grid, HT_PRIMARY);
    c->count = c->planes * c->plane;
    return ht_fit_create(c->scene.medium, kind, &c->fit);
}

static void close_case(struct case_ *c) {
    ht_fit_destroy(c->fit);
    close_scene(&c->scene);
}

/* The caller frees it. */
static double *filled(struct case_ *c, int what) {
    double *out;
    stop_on(HT_ALLOC(out, c->count));
    stop_on(ht_fit_fill(c->fit, what, 0, c->planes, out));
    return out;
}

/* ---- the definition, by plain quadrature ---- */

static double bessel(double x) {
    double sum = 1, term = 1;
    for (int k = 1; k < 60; k++) {
        term *= x / 2 / k;
        sum += term * term;
    }
    return sum;
}

static double kaiser(double r) {
    const double pi = acos(-1), shape = 5.125221525907206;
    if (fabs(r) >= 4) return 0;
    double sinc = r == 0 ? 1 : sin(pi * r) / (pi * r);
    return sinc * bessel(shape * sqrt(1 - r * r / 16));
}

/* The window of the definition. */
static double window(enum ht_fit_kind kind, double r) {
    double s0 = 0, s1 = 0, s2 = 0;
    if (kind == HT_FIT_BOX) return fabs(r) < 0.5;
    for (int m = -9; m <= 9; m++) {
        s0 += kaiser(r - m);
        s1 += kaiser(r - m) * (r - m);
        s2 += kaiser(r - m) * (r - m) * (r - m);
    }
    return kaiser(r) * (s2 - s1 * r) / (s0 * s2 - s1 * s1);
}

/* Gauss's rule with six points in each of 8 * 40 panels of the window: exact
 * for jumps at multiples of h/40 from a point. */
enum { PANELS = 320, GAUSS = 6, POINTS = PANELS * GAUSS };
struct rule {
    double at[POINTS], weight[POINTS]; /* spacings */
};
static void rule_make(enum ht_fit_kind kind, struct rule *rule) {
    static const double place[3] = {0.23861918608319691, 0.66120938646626451,
                                    0.93246951420315203};
    static const double weight[3] = {0.46791393457269104, 0.36076157304813861,
                                     0.17132449237917036};
    for (int i = 0; i < POINTS; i++) {
        int g = i % GAUSS, j = g < 3 ? g : g - 3;
        double middle = -4 + (i / GAUSS + 0.5) / 40;
        rule->at[i] = middle + (g < 3 ? -1 : 1) * place[j] / 80;
        rule->weight[i] = weight[j] / 80 * window(kind, rule->at[i]);
    }
}

static void test_window(void) {
    struct rule rule;
    double sum = 0, second = 0;
    rule_make(HT_FIT_SINC, &rule);
    for (int i = 0; i < POINTS; i++) {
        sum += rule.weight[i];
        second += rule.weight[i] * rule.at[i] * rule.at[i];
    }
    TEST_BELOW(fabs(sum - 1), 1e-14, "the window's integral less 1");
    TEST_BELOW(fabs(second), 1e-12, "the window's second moment");
}

typedef double medium_function(const double x[3]);

static double fold(double x, bool wall) {
    x -= 2 * floor(x / 2); /* box [0, 1] */
    if (x < 1) return x;
    return wall ? 2 - x : x - 1;
}

/* F_axis of f or 1/f at x, the other coordinates kept. */
static double average(const struct rule *rule, const struct ht_grid *grid,
                      int axis, const double x[3], medium_function *f) {
    double sum = 0, y[3] = {x[0], x[1], x[2]};
    for (int i = 0; i < POINTS; i++) {
        y[axis] = fold(x[axis] + rule->at[i] * grid->h[axis],
                       grid->wall[axis][0] != 0);
        sum += rule->weight[i] * f(y);
    }
    return sum;
}

/* ---- one axis ---- */

static double jumps_K(const double x[3]) {
    return x[0] < 0.30 ? 1 : x[0] < 0.75 ? 6.25 : 2.5;
}
static double jumps_rho(const double x[3]) {
    return x[0] < 0.30 ? 1 : x[0] < 0.75 ? 1.5 : 4;
}
static double jumps_compliance(const double x[3]) {
    return 1 / jumps_K(x);
}
#define JUMPS                                                            \
    "medium.type=layers; medium.axis=x1; medium.interfaces=[0.3, 0.75];" \
    "medium.K=[1.0, 6.25, 2.5]; medium.rho=[1.0, 1.5, 4.0]"

/* 20 cells: jumps at points and halfway between. */
static void test_one_axis(enum ht_fit_kind kind, int walls) {
    const int64_t cells[3] = {20, 0, 0};
    struct case_ c;
    struct rule rule;
    double worst = 0;
    rule_make(kind, &rule);
    stop_on(open_case(&c, "acoustic", cells, walls, kind, JUMPS));
    double *K = filled(&c, 0), *b = filled(&c, 1);
    for (int64_t m = 0; m < c.count; m++) {
        double x[3] = {(double)m / 20}, y[3] = {((double)m + 0.5) / 20};
        double one = average(&rule, &c.scene.grid, 0, x, jumps_compliance);
        double two = average(&rule, &c.scene.grid, 0, y, jumps_rho);
        worst = worse(worst, fabs(K[m] * one - 1));
        worst = worse(worst, fabs(b[m] * two - 1));
    }
    TEST_BELOW(worst, 1e-13, "1-D, %s, %s: against quadrature, relative",
               ht_fit_word(kind), walls ? "walls" : "periodic");
    free(K);
    free(b);
    close_case(&c);
}

/* Sums over points of 1/K, 1/b and of x/K equal the integrals. */
static void test_integrals(void) {
    const int64_t cells[3] = {64, 0, 0};
    double worst[3] = {0};
    for (int offset = 0; offset < 37; offset++) {
        struct case_ c;
        char options[300];
        double at = 0.4 + offset / 37. / 64, far = 0.7 + 0.001 * offset;
        double sums[3] = {0};
        snprintf(options, sizeof options,
                 "medium.type=layers; medium.axis=x1;"
                 "medium.interfaces=[%.17g, %.17g];"
                 "medium.K=[1.0, 6.25, 1.0]; medium.rho=[1.0, 3.0, 1.0]",
                 at, far);
        stop_on(open_case(&c, "acoustic", cells, 0, HT_FIT_SINC, options));
        double *K = filled(&c, 0), *b = filled(&c, 1);
        for (int64_t m = 0; m < c.count; m++) {
            sums[0] += 1 / K[m] / 64;
            sums[1] += 1 / b[m] / 64;
            sums[2] += (double)m / 64 * (1 / K[m] - 1) / 64;
        }
        double exact = (1 / 6.25 - 1) * (far * far - at * at) / 2;
        worst[0] =
            worse(worst[0], fabs(sums[0] - (1 + (1 / 6.25 - 1) * (far - at))));
        worst[1] = worse(worst[1], fabs(sums[1] - (1 + 2 * (far - at))));
        worst[2] = worse(worst[2], fabs(sums[2] - exact));
        free(K);
        free(b);
        close_case(&c);
    }
    TEST_BELOW(worst[0], 1e-14, "jumps anywhere: mean of 1/K, off by");
    TEST_BELOW(worst[1], 1e-14, "jumps anywhere: mean of rho, off by");
    TEST_BELOW(worst[2], 1e-14, "jumps anywhere: integral of x/K, off by");
}

/* A medium and its mirror image. */
static void test_mirror(enum ht_fit_kind kind, int walls) {
    const int64_t cells[3] = {24, 0, 0};
    struct case_ c, d;
    stop_on(open_case(&c, "acoustic", cells, walls, kind,
                      "medium.type=layers; medium.axis=x1;"
                      "medium.interfaces=[0.31, 0.77];"
                      "medium.K=[1.0, 5.0, 2.0]; medium.rho=[1.0, 2.0, 7.0]"));
    stop_on(open_case(&d, "acoustic", cells, walls, kind,
                      "medium.type=layers; medium.axis=x1;"
                      "medium.interfaces=[0.23, 0.69];"
                      "medium.K=[2.0, 5.0, 1.0]; medium.rho=[7.0, 2.0, 1.0]"));
    double *K = filled(&c, 0), *b = filled(&c, 1), worst = 0;
    double *L = filled(&d, 0), *a = filled(&d, 1);
    for (int64_t m = 0; m < c.count; m++) {
        int64_t other = (24 - m) % c.count;
        worst = worse(worst, fabs(K[m] / L[other] - 1));
        if (m < 24) worst = worse(worst, fabs(b[m] / a[23 - m] - 1));
    }
    if (walls) worst = worse(worst, fabs(b[24] / b[23] - 1)); /* behind it */
    TEST_BELOW(worst, 1e-13, "mirror image, %s, %s: relative difference",
               ht_fit_word(kind), walls ? "walls" : "periodic");
    free(K);
    free(b);
    free(L);
    free(a);
    close_case(&c);
    close_case(&d);
}

/* ---- files ---- */

static unsigned noise = 1;
static double uniform(void) {
    noise = noise * 1664525u + 1013904223u;
    return (noise >> 8) / 16777216.;
}

/* Random samples of c and rho on [0, 1]^dims, shape per axis, and the options
 * that read them. */
static float *sample_c, *sample_rho;
static int64_t shape[3];
static double contrast_of_samples = 3;
static void make_samples(int dims, const int64_t *size, char *options,
                         size_t length) {
    int64_t count = 1;
    for (int k = 0; k < 3; k++) {
        shape[k] = k < dims ? size[k] : 1;
        count *= shape[k];
    }
    sample_c = realloc(sample_c, (size_t)count * sizeof *sample_c);
    sample_rho = realloc(sample_rho, (size_t)count * sizeof *sample_rho);
    if (!sample_c || !sample_rho) exit(1);
    for (int64_t i = 0; i < count; i++) {
        sample_c[i] = (float)(1 + 1.5 * uniform());
        sample_rho[i] = (float)(1 + contrast_of_samples * uniform());
    }
    write_raw(path_of("c.bin"), (int)count, sample_c);
    write_raw(path_of("rho.bin"), (int)count, sample_rho);
    snprintf(options, length,
             "medium.type=file; medium.c=%s/c.bin; medium.rho=%s/rho.bin;"
             "medium.shape=[%lld, %lld, %lld];"
             "medium.spacing=[%.17g, %.17g, %.17g];"
             "medium.origin=[%.17g, %.17g, %.17g]",
             scene_directory, scene_directory, (long long)shape[0],
             (long long)(dims > 1 ? shape[1] : 0),
             (long long)(dims > 2 ? shape[2] : 0), 1. / (double)shape[0],
             1. / (double)shape[1], 1. / (double)shape[2],
             0.5 / (double)shape[0], 0.5 / (double)shape[1],
             0.5 / (double)shape[2]);
}

static double sampled(const float *values, const double x[3]) {
    int64_t at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = (int64_t)floor(x[k] * (double)shape[k]);
        if (at[k] >= shape[k]) at[k] = shape[k] - 1;
    }
    return (double)values[(at[2] * shape[1] + at[1]) * shape[0] + at[0]];
}

static double file_rho(const double x[3]) {
    return sampled(sample_rho, x);
}
static double file_compliance(const double x[3]) {
    double c = sampled(sample_c, x);
    return 1 / (c * c * sampled(sample_rho, x));
}

/* The definition in two dimensions, without the cut. */
static double two_axes(const struct rule *rule, const struct ht_grid *grid,
                       int what, const double x[3]) {
    double sum = 0, y[3] = {x[0], x[1], 0.5};
    int own = what == 2 ? 1 : 0, other = 1 - own;
    for (int i = 0; i < POINTS; i++) {
        y[other] = fold(x[other] + rule->at[i] * grid->h[other],
                        grid->wall[other][0] != 0);
        double part =
            average(rule, grid, own, y, what ? file_rho : file_compliance);
        sum += rule->weight[i] * (what ? 1 / part : part);
    }
    return what ? sum : 1 / sum;
}

static void test_two_axes(enum ht_fit_kind kind, int walls) {
    /* h is 2 and 1.6 samples: their ends are multiples of h/40 from points. */
    const int64_t cells[3] = {8, 10, 0}, size[3] = {16, 16, 0};
    struct case_ c;
    struct rule rule;
    char options[800];
    rule_make(kind, &rule);
    make_samples(2, size, options, sizeof options);
    stop_on(open_case(&c, "acoustic", cells, walls, kind, options));
    for (int what = 0; what < 3; what++) {
        double *out = filled(&c, what), worst = 0;
        int64_t n1 = ht_grid_nodes(&c.scene.grid, HT_PRIMARY, 0);
        for (int64_t i = 0; i < c.count; i += 7) {
            double x[3] = {((double)(i % n1) + 0.5 * (what == 1)) / 8,
                           ((double)(i / n1) + 0.5 * (what == 2)) / 10, 0.5};
            double exact = two_axes(&rule, &c.scene.grid, what, x);
            worst = worse(worst, fabs(out[i] / exact - 1));
        }
        TEST_BELOW(worst, 1e-12,
                   "2-D samples, %s, walls %d, %s: against quadrature",
                   ht_fit_word(kind), walls, what ? "b" : "K");
        free(out);
    }
    TEST_CHECK(ht_fit_counts(c.fit).cut == 0, "nothing is cut");
    close_case(&c);
}

/* Slabs of planes, and x3 made x1: b_3 takes another way through the code. */
static void test_three_axes(int walls) {
    const int64_t cells[3] = {6, 7, 9}, size[3] = {11, 9, 13};
    struct case_ c, d;
    char options[800];
    make_samples(3, size, options, sizeof options);
    stop_on(open_case(&c, "acoustic", cells, walls, HT_FIT_SINC, options));
    double *whole[4], worst = 0;
    for (int what = 0; what < 4; what++) {
        whole[what] = filled(&c, what);
        for (int64_t first = 0; first < c.planes; first += 2) {
            int64_t last = first + 2 < c.planes ? first + 2 : c.planes;
            double *part;
            stop_on(HT_ALLOC(part, 2 * c.plane));
            stop_on(ht_fit_fill(c.fit, what, first, last, part));
            if (memcmp(part, whole[what] + first * c.plane,
                       (size_t)((last - first) * c.plane) * sizeof *part) != 0)
                worst = 1;
            free(part);
        }
    }
    TEST_CHECK(worst == 0, "3-D, walls %d: planes by twos are the same bits",
               walls);
    /* The same with x1 and x3 exchanged. */
    const int64_t turned_cells[3] = {9, 7, 6};
    int64_t n[3];
    for (int k = 0; k < 3; k++)
        n[k] = ht_grid_nodes(&c.scene.grid, HT_PRIMARY, k);
    int turned_walls = (walls & 2) | (walls & 1) << 2 | walls >> 2;
    snprintf(options + strlen(options), sizeof options - strlen(options),
             "; medium.axes=[\"x3\", \"x2\", \"x1\"]");
    stop_on(open_case(&d, "acoustic", turned_cells, turned_walls, HT_FIT_SINC,
                      options));
    worst = 0;
    for (int what = 0; what < 4; what++) {
        double *turned = filled(&d, what ? 4 - what : 0);
        for (int64_t i = 0; i < c.count; i++) {
            int64_t m[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
            int64_t j = (m[0] * n[1] + m[1]) * n[2] + m[2];
            worst = worse(worst, fabs(whole[what][i] / turned[j] - 1));
        }
        free(turned);
        free(whole[what]);
    }
    TEST_BELOW(worst, 1e-13, "3-D, walls %d: x1 and x3 exchanged, relative",
               walls);
    close_case(&c);
    close_case(&d);
}

int main(void) {
    if (!mkdtemp(scene_directory)) return 1;
    test_window();
    for (int walls = 0; walls < 2; walls++) {
        test_one_axis(HT_FIT_SINC, walls);
        test_one_axis(HT_FIT_BOX, walls);
        test_mirror(HT_FIT_SINC, walls);
        test_mirror(HT_FIT_BOX, walls);
    }
    test_mirror(HT_FIT_POINT, 1); /* the seam itself has one value */
    test_integrals();
    test_two_axes(HT_FIT_SINC, 0);
    test_two_axes(HT_FIT_SINC, 2);
    test_two_axes(HT_FIT_BOX, 1);
    test_three_axes(0);
    test_three_axes(5);
    unlink(path_of("c.bin"));
    unlink(path_of("rho.bin"));
    rmdir(scene_directory);
    free(sample_c);
    free(sample_rho);
    return test_end("fit");
}
