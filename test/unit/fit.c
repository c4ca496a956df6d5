/* The medium of the form of second order (htwave/medium.h, frame.c) against a plain quadrature of
 * its definition, and what it keeps: constants, integrals, mirror images, whatever the planes and
 * the kind of source. */
#include "fit_window.h"

/* ---- scenes ---- */

#define open_case(c, ...) open_frame(c, false, __VA_ARGS__)

/* The caller frees it. */
static double *filled(struct case_ *c, int what) {
    double *out;
    must(HT_ALLOC(out, c->count));
    must(ht_frame_fill(c->frame, what, 0, c->planes, out));
    return out;
}

/* ---- the definition, by plain quadrature ---- */

/* Gauss's rule with six points in each of 8 * 40 panels of the window: exact for jumps at multiples
 * of h/40 from a point. */
enum { PANELS = 320, GAUSS = 6, POINTS = PANELS * GAUSS };
struct rule {
    double at[POINTS], weight[POINTS]; /* spacings */
};
static void rule_make(enum ht_fit_kind kind, bool normal, struct rule *rule) {
    for (int i = 0; i < POINTS; i++) {
        const int panel = i / GAUSS;
        double weight;
        rule->at[i] = -4 + (panel + 0.5) / 40 + gauss(i % GAUSS, &weight) / 80;
        rule->weight[i] = weight / 80 * window(kind, normal, rule->at[i]);
    }
}

static void test_window(void) {
    struct rule rule;
    double sum = 0, second = 0;
    rule_make(HT_FIT_SINC, false, &rule);
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
static double average(const struct rule *rule, const struct ht_grid *grid, int axis,
                      const double x[3], medium_function *f) {
    double sum = 0, y[3] = {x[0], x[1], x[2]};
    for (int i = 0; i < POINTS; i++) {
        y[axis] = fold(x[axis] + rule->at[i] * grid->h[axis], grid->wall[axis][0] != 0);
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
    HT_ENDED(close_case) struct case_ c;
    struct rule rule;
    double worst = 0;
    rule_make(kind, false, &rule);
    must(open_case(&c, "acoustic", cells, walls, kind, JUMPS));
    HT_FREED double *K = filled(&c, 0), *b = filled(&c, 1);
    for (int64_t m = 0; m < c.count; m++) {
        double x[3] = {(double)m / 20}, y[3] = {((double)m + 0.5) / 20};
        double one = average(&rule, &c.scene.grid, 0, x, jumps_compliance);
        double two = average(&rule, &c.scene.grid, 0, y, jumps_rho);
        worst = test_worse(worst, fabs(K[m] * one - 1));
        worst = test_worse(worst, fabs(b[m] * two - 1));
    }
    TEST_BELOW(worst, 1e-13, "1-D, %s, %s: against quadrature, relative", HT_WORD(FIT, kind),
               walls ? "walls" : "periodic");
}

/* Sums over points of 1/K, 1/b and of x/K equal the integrals, whether values are cut or not. */
static void test_integrals(double contrast) {
    const int64_t cells[3] = {64, 0, 0};
    double worst[3] = {0};
    int64_t cut = 0;
    for (int offset = 0; offset < 37; offset++) {
        HT_ENDED(close_case) struct case_ c;
        double at = 0.4 + offset / 37. / 64, far = 0.7 + 0.001 * offset;
        double sums[3] = {0};
        must(open_case(&c, "acoustic", cells, 0, HT_FIT_SINC,
                       "medium.type=layers; medium.axis=x1;medium.interfaces=[%.17g, "
                       "%.17g];medium.K=[1.0, %g, 1.0]; medium.rho=[%g, 1.0, %g]",
                       at, far, contrast, contrast, contrast));
        HT_FREED double *K = filled(&c, 0), *b = filled(&c, 1);
        for (int64_t m = 0; m < c.count; m++) {
            sums[0] += 1 / K[m] / 64;
            sums[1] += 1 / b[m] / 64;
            sums[2] += (double)m / 64 * (1 / K[m] - 1) / 64;
        }
        double exact = (1 / contrast - 1) * (far * far - at * at) / 2;
        worst[0] = test_worse(worst[0], fabs(sums[0] - (1 + (1 / contrast - 1) * (far - at))));
        worst[1] = test_worse(worst[1], fabs(sums[1] - contrast - (1 - contrast) * (far - at)));
        worst[2] = test_worse(worst[2], fabs(sums[2] - exact));
        cut += ht_frame_counts(c.frame).cut;
    }
    TEST_BELOW(worst[0], 1e-14, "jumps by %g: mean of 1/K, off by", contrast);
    TEST_BELOW(worst[1] / contrast, 1e-14, "jumps by %g: mean of rho, off by", contrast);
    TEST_BELOW(worst[2], 1e-14, "jumps by %g: integral of x/K, off by", contrast);
    TEST_CHECK(contrast > 10 ? cut > 0 : cut == 0, "%lld values were cut", (long long)cut);
}

static void count_mean(double value, double mean, int *count) {
    *count += fabs(value / mean - 1) < 1e-13;
}

/* Where c = 1 and rho jumps from or to 100 the medium is split: one K and one 1/rho are geometric
 * means, sums are kept and nothing is cut. 1/rho beside the axis follows 1/K. */
static void test_split(bool falls, int along) {
    double worst[3] = {0};
    int means[2] = {0}, cut = 0;
    for (int offset = 0; offset <= 40; offset++) {
        const int64_t cells[3] = {along ? 5 : 20, along ? 20 : 5, 0};
        HT_ENDED(close_case) struct case_ c;
        const double at = 8 + offset / 40., heavy = falls ? at : 20 - at;
        double sums[2] = {0};
        must(open_case(
            &c, "acoustic", cells, 1 << along, HT_FIT_SINC,
            "medium.type=layers; medium.axis=x%d;medium.interfaces=[%.17g]; medium.rho=[%s]",
            along + 1, at / 20, falls ? "100.0, 1.0" : "1.0, 100.0"));
        HT_FREED double *K = filled(&c, 0), *b = filled(&c, 1 + along);
        HT_FREED double *other = filled(&c, 2 - along);
        const int64_t step = along ? 5 : 1;
        for (int64_t m = 2; m <= 18; m++) {
            const int64_t i = m * step;
            sums[0] += 1 / K[i];
            sums[1] += m < 18 ? 1 / b[i] : 0;
            count_mean(K[i], 10, &means[0]);
            count_mean(b[i], 0.1, &means[1]);
            worst[2] = test_worse(worst[2], fabs(other[i] * K[i] - 1));
        }
        worst[0] = test_worse(worst[0], fabs(sums[0] - 0.01 * (heavy - 1.5) - (18.5 - heavy)));
        worst[1] = test_worse(worst[1], fabs(sums[1] - 100 * (heavy - 2) - (18 - heavy)));
        cut += ht_frame_counts(c.frame).cut > 0;
    }
    const char *name = falls ? "falls" : "rises";
    TEST_CHECK(means[0] == 41 && means[1] == 41 && cut == 0,
               "split, rho %s along x%d: %d and %d means of 41, %d cut", name, along + 1, means[0],
               means[1], cut);
    TEST_BELOW(worst[0], 1e-13, "its sum of 1/K, off by");
    TEST_BELOW(worst[1], 1e-11, "its sum of rho, off by");
    TEST_BELOW(worst[2], 1e-12, "its 1/rho beside the axis as 1/K, off by");
}

/* ---- files ---- */

/* Random samples of c and rho on [0, 1]^dims, shape per axis, 1 to 1 + spread, and the options that
 * read them. */
enum { MOST_SAMPLES = 9 * 90 * 11 };
static float sample_c[MOST_SAMPLES], sample_rho[MOST_SAMPLES];
static int64_t shape[3];
static char samples[800]; /* options */
static void write_samples(void) {
    const int count = (int)(shape[0] * shape[1] * shape[2]);
    write_raw("c.bin", count, sample_c);
    write_raw("rho.bin", count, sample_rho);
}
static void make_samples(int dims, const int64_t *size, double spread) {
    static uint64_t drawn;
    for (int k = 0; k < 3; k++) shape[k] = k < dims ? size[k] : 1;
    for (int64_t i = 0; i < shape[0] * shape[1] * shape[2]; i++) {
        sample_c[i] = (float)(1 + spread * (1 + ht_rng_uniform(1, drawn++)) / 2);
        sample_rho[i] = (float)(1 + spread * (1 + ht_rng_uniform(1, drawn++)) / 2);
    }
    write_samples();
    snprintf(samples, sizeof samples,
             "medium.type=file; medium.c=%s/c.bin; medium.rho=%s/rho.bin;medium.shape=[%lld, %lld, "
             "%lld];medium.spacing=[%.17g, %.17g, %.17g];medium.origin=[%.17g, %.17g, %.17g]",
             scene_directory, scene_directory, (long long)shape[0],
             (long long)(dims > 1 ? shape[1] : 0), (long long)(dims > 2 ? shape[2] : 0),
             1. / (double)shape[0], 1. / (double)shape[1], 1. / (double)shape[2],
             0.5 / (double)shape[0], 0.5 / (double)shape[1], 0.5 / (double)shape[2]);
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

static double file_inverse_rho(const double x[3]) {
    return 1 / sampled(sample_rho, x);
}

/* In two dimensions, without the cut, at x and `away` spacings along an axis from it. */
static double mean(const struct rule *rule, const struct ht_grid *grid, const double x[3], int axis,
                   double away, medium_function *f) {
    double sum = 0, y[3] = {x[0], x[1], 0.5};
    y[axis] += away * grid->h[axis];
    const double x2 = y[1];
    for (int i = 0; i < POINTS; i++) {
        y[1] = fold(x2 + rule->at[i] * grid->h[1], grid->wall[1][0] != 0);
        sum += rule->weight[i] * average(rule, grid, 0, y, f);
    }
    return sum;
}

/* The definition: K, or b_k from the means and n, along the slope of the mean of rho by `smooth`.
 */
static double two_axes(const struct rule *rule, const struct rule *smooth,
                       const struct ht_grid *grid, int what, const double x[3]) {
    double slope[2];
    if (what == 0) return 1 / mean(rule, grid, x, 0, 0, file_compliance);
    for (int k = 0; k < 2; k++)
        slope[k] =
            (mean(smooth, grid, x, k, 0.5, file_rho) - mean(smooth, grid, x, k, -0.5, file_rho)) /
            grid->h[k];
    const double along = pow(slope[what - 1] / hypot(slope[0], slope[1]), 2);
    return along / mean(rule, grid, x, 0, 0, file_rho) +
           (1 - along) * mean(rule, grid, x, 0, 0, file_inverse_rho);
}

static void test_two_axes(enum ht_fit_kind kind, int walls) {
    /* h is 2 and 1.6 samples: their ends are multiples of h/40 from points. */
    const int64_t cells[3] = {8, 10, 0}, size[3] = {16, 16, 0};
    HT_ENDED(close_case) struct case_ c;
    struct rule rule, smooth;
    rule_make(kind, false, &rule);
    rule_make(kind, true, &smooth);
    make_samples(2, size, 0.4);
    must(open_case(&c, "acoustic", cells, walls, kind, "%s", samples));
    for (int what = 0; what < 3; what++) {
        HT_FREED double *out = filled(&c, what);
        double worst = 0;
        int64_t n1 = ht_grid_nodes(&c.scene.grid, HT_PRIMARY, 0);
        for (int64_t i = 0; i < c.count; i += what ? 29 : 7) {
            const int64_t m1 = i % n1, m2 = i / n1;
            double x[3] = {((double)m1 + 0.5 * (what == 1)) / 8,
                           ((double)m2 + 0.5 * (what == 2)) / 10, 0.5};
            double exact = two_axes(&rule, &smooth, &c.scene.grid, what, x);
            worst = test_worse(worst, fabs(out[i] / exact - 1));
        }
        TEST_BELOW(worst, 1e-12, "2-D samples, %s, walls %d, %s: against quadrature",
                   HT_WORD(FIT, kind), walls, what ? "b" : "K");
    }
    TEST_CHECK(ht_frame_counts(c.frame).cut == 0, "nothing is cut");
}

/* Slabs of planes, and x3 made x1: b_3 takes another way through the code. */
static void test_three_axes(int walls) {
    const int64_t cells[3] = {6, 7, 9}, size[3] = {11, 9, 13};
    HT_ENDED(close_case) struct case_ c, d;
    make_samples(3, size, 0.4);
    must(open_case(&c, "acoustic", cells, walls, HT_FIT_SINC, "%s", samples));
    double *whole[4], worst = 0;
    for (int what = 0; what < 4; what++) {
        whole[what] = filled(&c, what);
        for (int64_t first = 0; first < c.planes; first += 2) {
            int64_t last = first + 2 < c.planes ? first + 2 : c.planes;
            HT_FREED double *part = NULL;
            must(HT_ALLOC(part, 2 * c.plane));
            must(ht_frame_fill(c.frame, what, first, last, part));
            if (memcmp(part, whole[what] + first * c.plane,
                       (size_t)((last - first) * c.plane) * sizeof *part) != 0)
                worst = 1;
        }
    }
    TEST_CHECK(worst == 0, "3-D, walls %d: planes by twos are the same bits", walls);
    /* The same with x1 and x3 exchanged. */
    const int64_t turned_cells[3] = {9, 7, 6};
    int64_t n[3];
    for (int k = 0; k < 3; k++) n[k] = ht_grid_nodes(&c.scene.grid, HT_PRIMARY, k);
    int turned_walls = (walls & 2) | (walls & 1) << 2 | walls >> 2;
    must(open_case(&d, "acoustic", turned_cells, turned_walls, HT_FIT_SINC,
                   "%s; medium.axes=[\"x3\", \"x2\", \"x1\"]", samples));
    worst = 0;
    for (int what = 0; what < 4; what++) {
        HT_FREED double *turned = filled(&d, what ? 4 - what : 0);
        for (int64_t i = 0; i < c.count; i++) {
            int64_t m[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
            int64_t j = (m[0] * n[1] + m[1]) * n[2] + m[2];
            worst = test_worse(worst, fabs(whole[what][i] / turned[j] - 1));
        }
        free(whole[what]);
    }
    TEST_BELOW(worst, 1e-13, "3-D, walls %d: x1 and x3 exchanged, relative", walls);
}

/* ---- kinds of media ---- */

static double spread(const double *values, int64_t count, double about) {
    double most = 0;
    for (int64_t i = 0; i < count; i++) most = test_worse(most, fabs(values[i] / about - 1));
    return most;
}

/* A file whose samples are all equal. */
static void test_constant(void) {
    const int64_t cells[3] = {6, 7, 8}, size[3] = {5, 5, 5};
    HT_ENDED(close_case) struct case_ c;
    double worst = 0;
    make_samples(3, size, 0);
    for (int i = 0; i < 125; i++) sample_c[i] = 2, sample_rho[i] = 4;
    write_samples();
    must(open_case(&c, "acoustic", cells, 5, HT_FIT_SINC, "%s", samples));
    for (int what = 0; what < 4; what++) {
        HT_FREED double *out = filled(&c, what);
        worst = test_worse(worst, spread(out, c.count, what ? 0.25 : 16));
    }
    TEST_BELOW(worst, 1e-14, "equal samples stay constant, relative");
    TEST_CHECK((c.scene.medium->constant_materials & 2u) != 0, "their density is uniform");
}

/* Layers, aligned samples and an expression of the same medium in 3-D. */
static void test_same(enum ht_fit_kind kind, int walls) {
    const int64_t cells[3] = {5, 6, 12};
    static const float c[4] = {1, 2, 2, 1.5F}, rho[4] = {1, 1, 3, 2};
    HT_ENDED(close_case) struct case_ layers, file, expression;
    double worst[2] = {0};
    must(open_case(&layers, "acoustic", cells, walls, kind,
                   "medium.type=layers; medium.axis=x3;medium.interfaces=[0.25, 0.5, "
                   "0.75];medium.c=[1.0, 2.0, 2.0, 1.5];medium.rho=[1.0, 1.0, 3.0, 2.0]"));
    write_raw("c.bin", 4, c);
    write_raw("rho.bin", 4, rho);
    must(open_case(
        &file, "acoustic", cells, walls, kind,
        "medium.type=file; medium.c=%s/c.bin; medium.rho=%s/rho.bin;medium.shape=[4, 0, 0]; "
        "medium.spacing=[0.25, 1.0, 1.0];medium.origin=[0.125, 0.0, 0.0]; medium.axes=[\"x3\"]",
        scene_directory, scene_directory));
    must(open_case(&expression, "acoustic", cells, walls, kind,
                   "medium.type=expression;medium.c=\"1 + step(x3 - 0.25) - step(x3 - "
                   "0.75)/2\";medium.rho=\"1 + 2*step(x3 - 0.5) - step(x3 - 0.75)\""));
    for (int what = 0; what < 4; what++) {
        HT_FREED double *a = filled(&layers, what), *b = filled(&file, what);
        HT_FREED double *d = filled(&expression, what);
        for (int64_t i = 0; i < layers.count; i++) {
            worst[0] = test_worse(worst[0], fabs(a[i] / b[i] - 1));
            worst[1] = test_worse(worst[1], fabs(a[i] / d[i] - 1));
        }
    }
    TEST_BELOW(worst[0], 1e-13, "layers and samples, %s, walls %d: relative", HT_WORD(FIT, kind),
               walls);
    TEST_BELOW(worst[1], 1e-13, "layers and expression, %s, walls %d: relative", HT_WORD(FIT, kind),
               walls);
}

static void test_auto(void) {
    const int64_t cells[3] = {6, 8, 0};
    HT_ENDED(close_case) struct case_ c, jumps, wave;
    double worst = 0;
    must(open_case(&c, "acoustic", cells, 2, HT_FIT_AUTO,
                   "medium.type=expression; medium.c=\"1 + 0.1*x1\";medium.rho=\"2 + 0.1*x2\""));
    TEST_CHECK(ht_frame_kind(c.scene.medium, HT_FIT_AUTO) == HT_FIT_POINT,
               "auto: smooth expressions take point");
    double *out[3];
    for (int what = 0; what < 3; what++) out[what] = filled(&c, what);
    for (int64_t i = 0; i < c.count; i++) {
        const int64_t m1 = i % 6, m2 = i / 6;
        double x = (double)m1 / 6, y = (double)m2 / 8, half = 1 / 16.;
        double z = y + half > 1 ? 1 - half : y + half; /* behind the wall */
        double speed = 1 + 0.1 * x, rho = 2 + 0.1 * y;
        worst = test_worse(worst, fabs(out[0][i] - speed * speed * rho));
        worst = test_worse(worst, fabs(out[1][i] - 1 / rho));
        worst = test_worse(worst, fabs(out[2][i] - 1 / (2 + 0.1 * z)));
    }
    TEST_BELOW(worst, 1e-14, "values at points, off by");
    for (int what = 0; what < 3; what++) free(out[what]);
    must(open_case(&jumps, "acoustic", cells, 0, HT_FIT_AUTO,
                   "medium.type=expression; medium.c=\"1 + step(x1-0.4)\""));
    TEST_CHECK(ht_frame_kind(jumps.scene.medium, HT_FIT_AUTO) == HT_FIT_SINC,
               "auto: expressions with jumps take sinc");
    TEST_CHECK((jumps.scene.medium->constant_materials & 3u) == 2u,
               "density given as a number is uniform");
    must(open_case(&wave, "wave", cells, 0, HT_FIT_AUTO, "medium.c=3.0"));
    HT_FREED double *all = filled(&wave, 0);
    TEST_EQUAL(spread(all, wave.count, 9), 0, "wave: filled with it");
}

/* ---- the cut and refusals ---- */

/* Ratio 100: the sinc falls below half of the least 1/K on one side. Counts do not depend on how
 * planes are divided. */
static void test_cut(void) {
    const int64_t cells[3] = {20, 5, 6};
    HT_ENDED(close_case) struct case_ c, d;
    static const char options[] = "medium.type=layers; medium.axis=x1;medium.interfaces=[0.52]; "
                                  "medium.K=[1.0, 100.0];medium.rho=[100.0, 1.0]";
    must(open_case(&c, "acoustic", cells, 7, HT_FIT_SINC, options));
    must(open_case(&d, "acoustic", cells, 7, HT_FIT_BOX, options));
    HT_FREED double *K = filled(&c, 0), *box = filled(&d, 0);
    struct ht_fit_counts of = ht_frame_counts(c.frame);
    double most[2] = {0};
    for (int64_t i = 0; i < c.count; i++) most[0] = fmax(most[0], K[i]);
    for (int64_t i = 0; i < d.count; i++) most[1] = fmax(most[1], box[i]);
    TEST_BELOW(fabs(most[0] / 200 - 1), 1e-14, "cut: 1/K is half of the least, K = %g", most[0]);
    int64_t line = 0, wrong = 0;
    for (int64_t i = 0; i < 21; i++) line += K[i] > 199.9;
    for (int64_t i = 0; i < c.count; i++) wrong += !(K[i] > 0.9 && K[i] < 201);
    TEST_CHECK(of.cut == line && wrong == 0 && of.values == c.count,
               "cut: %lld in a line, %lld counted", (long long)line, (long long)of.cut);
    TEST_CHECK(of.place[0] > 0.52 && of.place[0] < 0.75 &&
                   K[(int64_t)round(of.place[0] * 20)] > 199.9,
               "cut: the first at %g, right of the jump", of.place[0]);
    TEST_CHECK(ht_frame_counts(d.frame).cut == 0 && most[1] <= 100 + 1e-12, "box: nothing is cut");
}

/* Cuts of random samples of great contrast, by one strip and by those of three threads. */
static void test_cut_strips(void) {
    const int64_t cells[3] = {6, 70, 5}, size[3] = {9, 90, 11};
    make_samples(3, size, 8);
    int64_t cut[2][4];
    for (int i = 0; i < 2; i++) {
        HT_ENDED(close_case) struct case_ c;
        ht_threads_set(i == 0 ? 1 : 3);
        must(open_case(&c, "acoustic", cells, 4, HT_FIT_SINC, "%s", samples));
        for (int what = 0; what < 4; what++) {
            const int64_t before = ht_frame_counts(c.frame).cut;
            free(filled(&c, what));
            cut[i][what] = ht_frame_counts(c.frame).cut - before;
        }
    }
    ht_threads_set(0);
    for (int what = 0; what < 4; what++)
        TEST_CHECK(cut[0][what] > 0 && cut[0][what] == cut[1][what],
                   "what %d: %lld cut, by three threads %lld", what, (long long)cut[0][what],
                   (long long)cut[1][what]);
}

static bool message_has(const char *part) {
    return strstr(ht_err_message(), part) != NULL;
}

/* At points: from plane to plane, filled one at a time, and across the seams, but not from wall to
 * wall. */
static void test_points_refused(void) {
    static const struct {
        const char *medium, *place;
        int walls, first;
    } rows[] = {
        {"medium.c=\"1 + 200*step(x3 - 0.4)\"", "(0, 0, 0.5) next to 1 along x3", 4, 4},
        {"medium.rho=\"1 + 20000*step(x3 - 0.4)\"", "(0.0625, 0, 0.5) next to 1 along x3", 4, 4},
        {"medium.c=\"exp(10*x1)\"", "(0, 0, 0) next to", 0, 0},
        {"medium.c=\"exp(10*x2)\"", "(0, 0, 0) next to", 1, 0},
        {"medium.c=\"exp(10*x3)\"", "(0, 0, 0) next to", 3, 0},
        {"medium.c=\"exp(10*x3)\"", NULL, 7, 0},
    };
    TEST_EACH(row, rows) {
        const int64_t cells[3] = {8, 8, 8};
        const int what = strstr(row->medium, "rho") ? 1 : 0;
        HT_ENDED(close_case) struct case_ c;
        double out[81];
        enum ht_err err = HT_OK;
        must(open_case(&c, "acoustic", cells, row->walls, HT_FIT_POINT, "medium.type=expression;%s",
                       row->medium));
        int m = 0;
        for (; err == HT_OK && m < 8; m++) err = ht_frame_fill(c.frame, what, m, m + 1, out);
        TEST_CHECK(row->place == NULL
                       ? err == HT_OK
                       : err == HT_ERR_INPUT && m == row->first + 1 && message_has(row->place),
                   "points, walls %d, %s: %s", row->walls, row->medium,
                   err ? ht_err_message() : "taken");
    }
}

static void test_refusals(void) {
    const int64_t cells[3] = {8, 8, 0};
    HT_ENDED(close_case) struct case_ contrast, points, infinite;
    double out[72];
    must(open_case(
        &contrast, "acoustic", cells, 2, HT_FIT_AUTO,
        "medium.type=layers; medium.axis=x2;medium.interfaces=[0.5]; medium.rho=[1.0, 20000.0]"));
    TEST_CHECK(ht_frame_fill(contrast.frame, 2, 0, 1, out) == HT_ERR_INPUT &&
                   message_has("medium.rho") && message_has("along x2") && message_has("10000"),
               "contrast of 20000: %s", ht_err_message());
    must(open_case(&points, "acoustic", cells, 0, HT_FIT_POINT,
                   "medium.type=expression;medium.c=\"1 + 200*step(x1 - 0.3)\""));
    TEST_CHECK(ht_frame_fill(points.frame, 0, 0, 1, out) == HT_ERR_INPUT &&
                   message_has("medium.c") && message_has("(0.375, 0)"),
               "points: %s", ht_err_message());
    test_points_refused();
    TEST_ERROR(
        open_case(
            &infinite, "acoustic", cells, 0, HT_FIT_SINC,
            "medium.type=layers; medium.axis=x1;device.precision=double;medium.interfaces=[0.5]; "
            "medium.c=[1e-155, 2e-155];medium.rho=[1.0, 2.0]"),
        HT_ERR_INPUT, "medium.c", "1/K is not finite");
}

int main(void) {
    if ((scene_directory = scratch_make("medium")) == NULL) return 1;
    test_window();
    for (int walls = 0; walls < 2; walls++) {
        test_one_axis(HT_FIT_SINC, walls);
        test_one_axis(HT_FIT_BOX, walls);
    }
    test_integrals(6.25);
    test_integrals(20);
    for (int i = 0; i < 4; i++) test_split(i % 2, i / 2);
    test_two_axes(HT_FIT_SINC, 0);
    test_two_axes(HT_FIT_SINC, 2);
    test_two_axes(HT_FIT_BOX, 1);
    test_three_axes(0);
    test_three_axes(5);
    test_constant();
    test_same(HT_FIT_SINC, 0);
    test_same(HT_FIT_SINC, 7);
    test_same(HT_FIT_BOX, 4);
    test_auto();
    test_cut();
    test_cut_strips();
    test_refusals();
    scratch_remove(scene_directory);
    return test_end("fit");
}
