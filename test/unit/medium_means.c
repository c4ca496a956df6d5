/* Means over the cells of nodes: expressions against integrals in closed form, jumps inside a cell,
 * and the same medium given as layers, as a file and as an expression, at the periodic seam, too.
 *
 * Gauss's rule with n points on a cell of size h errs by h^(2n) f^(2n) (n!)^4 / ((2n+1) (2n)!^3):
 * for n = 4 by 5.6e-10 h^8 f^(8). A jump is seen by n points in pairs of Gauss's to half their
 * largest distance, 0.58/n of the cell. */
#include "medium_scene.h"

/* ---- smooth ---- */

/* K = 1/(1 + 0.3 sin(w x)), so that 1/K has the mean 1 + 0.3 sin(w x) sin(w h/2)/(w h/2), and rho =
 * 2 + 0.5 cos(w x). */
static double smooth_error(const int64_t *cells, int axes) {
    HT_ENDED(close_scene) struct scene s;
    const double w = 4;
    const char *sum = axes == 1 ? "4*x1" : "4*x1 + 4*x2";
    acoustic(&s, cells, 2, 3,
             "medium.type=expression; medium.degree=0;medium.K=\"1/(1 + 0.3*sin(%s))\"; "
             "medium.rho=\"2 + 0.5*cos(%s)\"",
             sum, sum);
    double worst = 0, h = s.grid.h[0], part = sin(w * h / 2) / (w * h / 2);
    HT_FREED double *out = fill(&s, HT_DUAL);
    int64_t total = ht_grid_total(&s.grid, HT_DUAL);
    if (axes == 2) part *= sin(w * s.grid.h[1] / 2) / (w * s.grid.h[1] / 2);
    for (int64_t i = 0; i < total; i++) {
        double x = ht_grid_x(&s.grid, HT_DUAL, 0, i % s.grid.cells[0]);
        if (axes == 2) x += ht_grid_x(&s.grid, HT_DUAL, 1, i / s.grid.cells[0]);
        double K = 1 / (1 + 0.3 * sin(w * x) * part);
        double rho = 2 + 0.5 * cos(w * x) * part;
        worst = test_worse(worst, fabs(out[i] / K - 1));
        worst = test_worse(worst, fabs(out[total + i] * rho - 1));
    }
    if (s.medium->rough || s.medium->degree != 0) worst = NAN;
    return worst;
}

static void test_smooth(void) {
    /* 1/K is 0.7 at least */
    const int64_t fine[3] = {16, 16, 0};
    double part = 5.6e-10 * 0.3 / 0.7;
    TEST_BELOW(smooth_error(LINE, 1), part * pow(0.5, 8) + 1e-14,
               "degree 0, 1-D: means over cells, relative");
    TEST_BELOW(smooth_error(fine, 2), 2 * part * pow(0.25, 8) + 1e-14,
               "degree 0, 2-D: means over cells, relative");
    HT_ENDED(close_scene) struct scene s;
    acoustic(&s, LINE, 3, 0, "medium.type=expression; medium.c=\"1 + x1\"; medium.degree=0");
    HT_FREED double *out = fill(&s, HT_DUAL);
    /* The harmonic mean of (1 + x)^2 over [a, b] is (1 + a)(1 + b). */
    TEST_BELOW(fabs(out[3] - (1 + 3 / 8.) * (1 + 4 / 8.)), 1e-9,
               "degree 0: (1 + x1)^2, not the value at the node, off by");
}

/* ---- jumps ---- */

/* K = 1 below x1 = 0.3, 4 above; rho 1 and 3. Dual node 2 has the cell [0.25, 0.375], 0.4 of it
 * below. */
static void test_step(int degree) {
    HT_ENDED(close_scene) struct scene s;
    acoustic(&s, LINE, 3, 1,
             "medium.type=expression; medium.degree=%d;medium.K=\"1 + 3*step(x1 - "
             "0.3)\";medium.rho=\"1 + 2*step(x1 - 0.3)\"",
             degree);
    const struct ht_medium *m = s.medium;
    HT_FREED double *out = fill(&s, HT_DUAL);
    double rest = 0;
    TEST_BELOW(fabs(1 / out[2] - (0.4 + 0.6 / 4)), 0.75 * 0.58 / 64,
               "step, degree %d: 1/K of the cell that it crosses, off by", degree);
    TEST_BELOW(fabs(1 / out[8 * m->coefs + 2] - (0.4 + 0.6 * 3)), 2 * 0.58 / 64,
               "step, degree %d: rho of the cell that it crosses, off by", degree);
    for (int i = 0; i < 8; i++)
        if (i != 2) rest += fabs(out[i] - (i < 2 ? 1 : 4));
    TEST_BELOW(rest, 1e-14, "step, degree %d: K beside it, off by", degree);
    TEST_CHECK(m->rough && m->flattened == (degree ? 2 : 0),
               "step, degree %d: rough, %lld nodes flattened", degree, (long long)m->flattened);
}

/* Polynomials stay where the kink is not. */
static void test_kink(void) {
    HT_ENDED(close_scene) struct scene s;
    acoustic(&s, LINE, 3, 1, "medium.type=expression;medium.K=\"2 + sin(x1) + abs(x1 - 0.3)\"");
    const struct ht_medium *m = s.medium;
    HT_FREED double *out = fill(&s, HT_DUAL);
    const double mean = 2 + 1.0 / 16;
    TEST_BELOW(fabs(out[8 + 1] - (cos(3 / 16.) - 1) / 8), 1e-15,
               "kink: slope of the cell beside it, off by");
    TEST_CHECK(out[8 + 2] == 0 && out[16 + 2] == 0 && fabs(out[2] - mean) < 0.4,
               "kink: the cell that has it is constant, %.4g", out[2]);
    TEST_CHECK(m->rough && m->flattened == 2, "kink: %lld nodes flattened",
               (long long)m->flattened);
}

static void test_roughness(void) {
    static const struct {
        const char *options;
        bool rough;
    } media[] = {
        {"medium.c=2", false},
        {"medium.type=expression; medium.c=\"2 + max(0.1, 0.2)\"", false},
        {"medium.type=expression; medium.c=\"2 + 0.1*sin(x1)\"", false},
        {"medium.type=expression; medium.c=\"2 + 0.1*min(x1, 0.5)\"", true},
        {"medium.type=expression; medium.c=\"2 + sin(70*x1)\"", true},
        {"medium.type=layers; medium.axis=x1; medium.interfaces=[0.5];medium.c=[1.0, 2.0]", true},
        {"medium.type=layers; medium.axis=x1; medium.interfaces=[0.5];medium.c=[2.0, 2.0]", false},
    };
    TEST_EACH(row, media) {
        HT_ENDED(close_scene) struct scene s;
        acoustic(&s, LINE, 3, 1, "%s", row->options);
        TEST_CHECK(s.medium->rough == row->rough, "%s: %s", row->options,
                   s.medium->rough ? "rough" : "smooth");
    }
}

/* ---- one medium, three ways ---- */

enum { SAMPLES = 16 };

/* Largest difference of two media over both grids, material by material. */
static double difference(const char *a, const char *b, double *at_seam) {
    const int64_t cells[3] = {8, 3, 0};
    double worst = 0;
    for (int subgrid = HT_PRIMARY; subgrid <= HT_DUAL; subgrid++) {
        HT_ENDED(close_scene) struct scene s, t;
        acoustic(&s, cells, 2, 0, "%s", a);
        acoustic(&t, cells, 2, 0, "%s", b);
        int64_t total = ht_grid_total(&s.grid, (enum ht_subgrid)subgrid);
        HT_FREED double *u = fill(&s, (enum ht_subgrid)subgrid);
        HT_FREED double *v = fill(&t, (enum ht_subgrid)subgrid);
        for (int64_t i = 0; i < 2 * total; i++) worst = test_worse(worst, fabs(u[i] / v[i] - 1));
        if (subgrid == HT_PRIMARY) *at_seam = u[0];
    }
    return worst;
}

/* c 1 and 2, rho 1 and 3, the jump at 0.46875 and at the periodic seam. The samples stand for the
 * sixteenths between whose middles they are. */
static void test_three_ways(void) {
    static const char layers[] =
        "medium.type=layers; medium.axis=x1; medium.interfaces=[0.4375];medium.c=[1.0, 2.0]; "
        "medium.rho=[1.0, 3.0]";
    float c[SAMPLES], rho[SAMPLES];
    char file[600], name[128];
    double seam = 0;
    for (int i = 0; i < SAMPLES; i++) {
        c[i] = i < 7 ? 1 : 2;
        rho[i] = i < 7 ? 1 : 3;
    }
    write_raw("c.f32", SAMPLES, c);
    write_raw("rho.f32", SAMPLES, rho);
    snprintf(name, sizeof name, "%s", path_of("c.f32"));
    snprintf(file, sizeof file,
             "medium.type=file; medium.degree=0; medium.shape=[16];medium.spacing=[0.0625]; "
             "medium.origin=[0.03125];medium.c=\"%s\"; medium.rho=\"%s\"",
             name, path_of("rho.f32"));
    TEST_BELOW(difference(layers, file, &seam), 1e-14,
               "periodic layers and a file of their values, relative");
    TEST_BELOW(fabs(1 / seam - (1 + 1 / 12.) / 2), 1e-15,
               "the node on the seam: half of either end, 1/K off by");
    TEST_BELOW(difference("medium.type=expression; medium.degree=0;medium.c=\"1 + step(x1 - "
                          "0.4375)\";medium.rho=\"1 + 2*step(x1 - 0.4375)\"",
                          layers, &seam),
               1e-12, "and an expression, relative");
}

/* Samples stand for a tenth to either side; those at the ends have no end. */
static void test_samples(void) {
    const float K[4] = {1, 4, 2, 8}, rho[4] = {1, 3, 1, 1};
    char name[128];
    HT_ENDED(close_scene) struct scene s;
    write_raw("K.f32", 4, K);
    write_raw("rho.f32", 4, rho);
    snprintf(name, sizeof name, "%s", path_of("K.f32"));
    acoustic(&s, LINE, 2, 1,
             "medium.type=file; medium.degree=0; medium.shape=[4]; "
             "medium.spacing=[0.2];medium.origin=[0.3]; medium.K=\"%s\"; medium.rho=\"%s\"",
             name, path_of("rho.f32"));
    HT_FREED double *out = fill(&s, HT_DUAL);
    /* 0.025 of the first and 0.1 of the second sample */
    TEST_BELOW(fabs(1 / out[3] - 0.4), 1e-7, "harmonic mean of a modulus, inverse");
    TEST_BELOW(fabs(1 / out[8 + 3] - 2.6), 1e-7, "arithmetic mean of a density");
    TEST_CHECK(out[0] == 1 && out[7] == 8, "beyond the samples: %g, %g", out[0], out[7]);
}

/* A slab narrower than the distance of the points that are looked at, about a node: its value may
 * not stand for the whole cell, 0.02 of 0.125. */
static void test_thin(void) {
    HT_ENDED(close_scene) struct scene s;
    acoustic(&s, LINE, 3, 0, "medium.type=expression; medium.c=\"1+step(0.0001-(x1-0.5)^2)\"");
    HT_FREED double *out = fill(&s, HT_PRIMARY);
    /* 1/K is 1/4 in 0.16 of the cell; each side of the slab is seen by 64 points to 0.58/64 of the
     * cell (file head). */
    TEST_BELOW(fabs(1 / out[4] - (1 - 0.75 * 0.16)), 2 * 0.75 * 0.58 / 64,
               "a thin slab about a node: 1/K of its cell, off by");
}

int main(void) {
    if ((scene_directory = scratch_make("medium")) == NULL) return 1;
    test_smooth();
    test_step(0);
    test_step(-1);
    test_kink();
    test_thin();
    test_roughness();
    test_three_ways();
    test_samples();
    scratch_remove(scene_directory);
    return test_end("medium_means");
}
