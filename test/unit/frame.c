/* The medium of staggered fields (htwave/medium.h, frame.c): values at points, averages in the
 * frame of a face. */
#include "fit_window.h"

#define open_case(c, ...) open_frame(c, true, __VA_ARGS__)

/* All coefficients, one after the other, filled by `parts` calls; the caller frees it. */
static double *filled(const struct case_ *c, int64_t parts) {
    const int64_t plane = c->n[0] * c->n[1];
    double *all;
    must(HT_ALLOC(all, c->pair.ncoefficients * c->planes * plane));
    for (int64_t i = 0; i < parts; i++) {
        const int64_t first = c->planes * i / parts, last = c->planes * (i + 1) / parts;
        for (int k = 0; k < c->pair.ncoefficients; k++)
            must(ht_frame_fill(c->frame, k, first, last, all + (k * c->planes + first) * plane));
    }
    return all;
}

/* Of coefficient k at node m. */
static double value_of(const struct case_ *c, const double *all, int k, const int64_t m[3]) {
    return all[((k * c->planes + m[2]) * c->n[1] + m[1]) * c->n[0] + m[0]];
}

#define ELASTIC(lambda, mu, rho)                                            \
    "medium.type=expression; medium.lambda=\"" lambda "\"; medium.mu=\"" mu \
    "\"; medium.rho=\"" rho "\""

/* ---- values at points ---- */

/* The place of a node's point of a parity, back in the box. */
static void place(const struct case_ *c, unsigned parity, const int64_t m[3], double x[3]) {
    const struct ht_grid *grid = &c->scene.grid;
    for (int k = 0; k < 3; k++) {
        const double half = parity >> k & 1u ? grid->h[k] / 2 : 0;
        x[k] = ht_grid_x(grid, HT_PRIMARY, k, m[k]) + half;
        if (x[k] <= grid->upper[k]) continue;
        x[k] = ht_grid_periodic(grid, k) ? x[k] - (grid->upper[k] - grid->lower[k])
                                         : 2 * grid->upper[k] - x[k];
    }
}

static double off_points(const struct case_ *c, const double *all) {
    double worst = 0;
    for (int k = 0; k < c->pair.ncoefficients; k++) {
        const struct ht_pair_coefficient *of = &c->pair.coefficient[k];
        for (int64_t n = 0; n < c->planes * c->n[1] * c->n[0]; n++) {
            const int64_t m[3] = {n % c->n[0], n / c->n[0] % c->n[1], n / c->n[0] / c->n[1]};
            double x[3], material[HT_MAX_MATERIALS];
            place(c, of->parity, m, x);
            must(ht_medium_point(c->scene.medium, x, material));
            worst = fmax(worst, fabs(value_of(c, all, k, m) - material[of->material]));
        }
    }
    return worst;
}

static void test_points(void) {
    static const struct {
        const char *name, *options;
        int64_t cells[3];
        int walls;
    } cases[] = {
        {"3-D",
         ELASTIC("2+0.3*sin(2*pi*x1)*cos(2*pi*x2)*sin(2*pi*x3)", "1", "1.5+x1*x2"),
         {5, 4, 6},
         5},
        {"of x1 and x3", ELASTIC("2+x3*(1-x3)", "1+x1*x1", "1.5"), {5, 4, 6}, 2},
        {"of x2", ELASTIC("3", "0.5+0.2*sin(2*pi*x2)", "1"), {6, 7, 0}, 1},
        {"1-D", ELASTIC("3+x1", "0.5", "1+x1"), {9, 0, 0}, 0},
        {"numbers", ELASTIC("3", "0", "1.1"), {5, 4, 3}, 0},
    };
    TEST_EACH(row, cases) {
        HT_ENDED(close_case) struct case_ c;
        must(open_case(&c, "elastic", row->cells, row->walls, HT_FIT_POINT, "%s", row->options));
        HT_FREED double *whole = filled(&c, 1), *parts = filled(&c, c.planes < 3 ? 1 : 3);
        const size_t bytes = (size_t)(c.pair.ncoefficients * c.planes * c.n[0] * c.n[1]) * 8;
        TEST_BELOW(off_points(&c, whole), 1e-14, "points, %s: off the materials by", row->name);
        TEST_CHECK(memcmp(whole, parts, bytes) == 0, "points, %s: equal in parts", row->name);
    }
}

/* ---- the rules of the systems ---- */

/* Of scalars that do not vary C_rq is what the terms say, whatever n. */
static double off_uniform(const char *name, int dims, const double *material) {
    const struct ht_system *system = ht_system_find(name);
    const struct ht_average *rule = &system->average;
    const struct ht_equations eq = ht_equations_make(system, dims);
    double copy[HT_MAX_MATERIALS], worst = 0, *out[HT_MAX_SCALARS];
    struct ht_face face = {.dims = dims};
    double *in[HT_MAX_MATERIALS];
    struct ht_pair pair;
    for (int q = 0; q < HT_MAX_SCALARS; q++) out[q] = &face.mean[q];
    for (int m = 0; m < system->nmaterials; m++) copy[m] = material[m], in[m] = &copy[m];
    rule->scalars(1, in, out);
    if (ht_pair_make(&eq, HT_PAIR_APART, &pair) != NULL) return INFINITY;
    for (int i = 0; i < 20; i++) {
        const double u = 0.3 * i, v = dims == 3 ? 0.17 * i * i : 0;
        const double n[3] = {cos(u) * cos(v), sin(u) * cos(v), sin(v)};
        memcpy(face.n, n, sizeof n);
        for (int c = 0; c < pair.ncoefficients; c++) {
            int of[2] = {pair.coefficient[c].row, pair.coefficient[c].col};
            for (int j = 0; j < 2; j++) {
                int f = 0;
                while (strcmp(system->field[f].name, eq.field[of[j]].name) != 0) f++;
                of[j] = f;
            }
            worst = fmax(worst, fabs(rule->coefficient(&face, of[0], of[1]) -
                                     material[pair.coefficient[c].material]));
        }
    }
    return worst;
}

static void test_uniform(void) {
    const double elastic[HT_MAX_MATERIALS] = {0.8, 4.2, 1.6, 1.3};
    const double maxwell[HT_MAX_MATERIALS] = {0.4, 0.9}, fluid[HT_MAX_MATERIALS] = {1.7, 0.6};
    for (int dims = 2; dims <= 3; dims++) {
        TEST_BELOW(off_uniform("elastic", dims, elastic), 2e-14, "uniform solid, %d-D", dims);
        TEST_BELOW(off_uniform("maxwell", dims, maxwell), 2e-15, "uniform dielectric, %d-D", dims);
        TEST_BELOW(off_uniform("acoustic", dims, fluid), 2e-15, "uniform fluid, %d-D", dims);
    }
    TEST_BELOW(off_uniform("maxwell_tm", 2, maxwell), 2e-15, "uniform dielectric, TM");
}

/* ---- averages ---- */

/* By names of fields. */
static int coefficient_of(const struct case_ *c, const char *row, const char *col) {
    for (int k = 0; k < c->pair.ncoefficients; k++) {
        const struct ht_pair_coefficient *of = &c->pair.coefficient[k];
        if (strcmp(c->scene.eq.field[of->row].name, row) == 0 &&
            strcmp(c->scene.eq.field[of->col].name, col) == 0)
            return k;
    }
    TEST_CHECK(false, "no coefficient %s %s", row, col);
    exit(1);
}

/* Two solids or a fluid and a solid on 16 x 16 cells, with faces at angles of 0, 45 and 26 degrees
 * and around a circle: C_11, C_12, C_22 at a node and C_66 at the edge beside it from what boxes of
 * a quarter of a spacing have of the second material: in a fluid by their centres, else by 4 x 4
 * points. */
enum { FLAT, AT_45, AT_26, CIRCLE };
static double side_of(int face, double x1, double x2) {
    const double turn = 2 * acos(-1.0);
    return face == FLAT    ? sin(turn * x1 + 0.7)
           : face == AT_45 ? sin(turn * (x1 + x2) + 0.3)
           : face == AT_26 ? sin(turn * (x1 + 2 * x2) + 0.4)
                           : 0.09 - pow(x1 - 0.5, 2) - pow(x2 - 0.45, 2);
}
#define FACE(phi, mu) ELASTIC("2+2*step(" phi ")", mu "*step(" phi ")", "1+0.3*step(" phi ")")
#define FACES(phi) \
    { FACE(phi, "1+1.2"), FACE(phi, "1.5") }
static const char *const faces[][2] = {FACES("sin(2*pi*x1+0.7)"), FACES("sin(2*pi*(x1+x2)+0.3)"),
                                       FACES("sin(2*pi*(x1+2*x2)+0.4)"),
                                       FACES("0.09-(x1-0.5)^2-(x2-0.45)^2")};
static const struct cell {
    int face;
    enum ht_fit_kind kind;
    int fluid;
    int64_t m[2];
} cells[] = {
    {FLAT, HT_FIT_BOX, 0, {6, 15}},    {FLAT, HT_FIT_SINC, 0, {14, 8}},
    {FLAT, HT_FIT_SINC, 1, {6, 15}},   {AT_45, HT_FIT_SINC, 0, {7, 15}},
    {AT_45, HT_FIT_BOX, 1, {7, 15}},   {AT_26, HT_FIT_BOX, 0, {9, 15}},
    {AT_26, HT_FIT_SINC, 0, {7, 4}},   {AT_26, HT_FIT_SINC, 1, {9, 15}},
    {CIRCLE, HT_FIT_BOX, 0, {12, 5}},  {CIRCLE, HT_FIT_SINC, 0, {8, 12}},
    {CIRCLE, HT_FIT_SINC, 0, {8, 11}}, {CIRCLE, HT_FIT_BOX, 1, {12, 5}},
    {CIRCLE, HT_FIT_SINC, 1, {12, 5}}, {CIRCLE, HT_FIT_SINC, 1, {11, 3}},
};

/* Of the second material in box (i1, i2). */
static double part_of(const struct cell *cell, int i1, int i2) {
    const int points = cell->fluid ? 1 : 4;
    double sum = 0;
    for (int j2 = 0; j2 < points; j2++)
        for (int j1 = 0; j1 < points; j1++)
            sum += side_of(cell->face, (i1 + (j1 + 0.5) / points) / 64,
                           (i2 + (j2 + 0.5) / points) / 64) >= 0;
    return sum / (points * points);
}

/* The integral of a window over a quarter of a spacing from r on. */
static double integral(enum ht_fit_kind kind, bool normal, double r) {
    double sum = 0, weight;
    for (int i = 0; i < 6; i++) {
        const double at = r + 0.125 + 0.125 * gauss(i, &weight);
        sum += weight / 8 * window(kind, normal, at);
    }
    return sum;
}

/* The window's mean of the second material about x, in spacings; *least: in its reach. */
static double mean_of(const struct cell *cell, enum ht_fit_kind kind, bool normal, const double *x,
                      double *least) {
    const double reach = kind == HT_FIT_BOX ? 0.5 : 4;
    const int low[2] = {(int)floor(4 * (x[0] - reach)), (int)floor(4 * (x[1] - reach))};
    double sum = 0;
    *least = 1;
    for (int i2 = low[1]; i2 < 4 * (x[1] + reach); i2++)
        for (int i1 = low[0]; i1 < 4 * (x[0] + reach); i1++) {
            const double part = part_of(cell, (i1 + 64) % 64, (i2 + 64) % 64);
            *least = fmin(*least, part);
            sum += part * integral(kind, normal, i1 / 4. - x[0]) *
                   integral(kind, normal, i2 / 4. - x[1]);
        }
    return sum;
}

static double mix(double part, double first, double second) {
    return first + part * (second - first);
}

/* C_11, C_12, C_22 and C_66 at x: thin layers normal to n. */
static void expect(const struct cell *cell, const double x[2], double C[4]) {
    const double lambda[2] = {2, 4}, mu[2] = {cell->fluid ? 0 : 1, cell->fluid ? 1.5 : 2.2};
    double a[2], b[2], d[2], g[2], n[2], least, beside;
    double part = mean_of(cell, cell->kind, false, x, &least);
    const double box = mean_of(cell, HT_FIT_BOX, false, x, &beside);
    if (cell->fluid && least == 0) part = box;
    for (int i = 0; i < 2; i++) {
        const double P = lambda[i] + 2 * mu[i];
        a[i] = 1 / P, b[i] = lambda[i] / P, d[i] = 4 * mu[i] * (lambda[i] + mu[i]) / P;
        g[i] = mu[i] > 0 ? 1 / mu[i] : 0;
    }
    for (int k = 0; k < 2; k++) {
        double up[2] = {x[0], x[1]}, down[2] = {x[0], x[1]}, unused;
        up[k] += 0.5;
        down[k] -= 0.5;
        n[k] = mean_of(cell, cell->kind, true, up, &unused) -
               mean_of(cell, cell->kind, true, down, &unused);
    }
    const double c = cell->face == FLAT ? 1 : n[0] * n[0] / (n[0] * n[0] + n[1] * n[1]), s = 1 - c;
    const double nn = 1 / mix(part, a[0], a[1]), nt = mix(part, b[0], b[1]) * nn;
    const double tt = mix(part, d[0], d[1]) + nt * nt / nn;
    const double G = cell->fluid && beside == 0 ? 0 : 1 / mix(part, g[0], g[1]);
    C[0] = nn * c * c + 2 * nt * c * s + tt * s * s + 4 * G * c * s;
    C[1] = nn * c * s + nt * (c * c + s * s) + tt * c * s - 4 * G * c * s;
    C[2] = nn * s * s + 2 * nt * c * s + tt * c * c + 4 * G * c * s;
    C[3] = (nn - 2 * nt + tt) * c * s + G * (c - s) * (c - s);
}

static void test_cells(void) {
    static const char *const entry[4][2] = {
        {"s11", "s11"}, {"s11", "s22"}, {"s22", "s22"}, {"s12", "s12"}};
    static const int64_t size[3] = {16, 16, 0};
    TEST_EACH(cell, cells) {
        const int64_t m[3] = {cell->m[0], cell->m[1], 0};
        HT_ENDED(close_case) struct case_ c;
        double worst = 0, expected[2][4];
        must(open_case(&c, "elastic", size, 0, cell->kind, "%s", faces[cell->face][cell->fluid]));
        HT_FREED double *all = filled(&c, 1);
        for (int half = 0; half < 2; half++)
            expect(cell, (double[2]){(double)m[0] + 0.5 * half, (double)m[1] + 0.5 * half},
                   expected[half]);
        for (int e = 0; e < 4; e++) {
            const int k = coefficient_of(&c, entry[e][0], entry[e][1]);
            worst = fmax(worst, fabs(value_of(&c, all, k, m) - expected[e == 3][e]));
        }
        TEST_BELOW(worst, 1e-11, "face %d, %s%s, cell (%d, %d)", cell->face,
                   cell->kind == HT_FIT_BOX ? "box" : "sinc", cell->fluid ? ", fluid" : "",
                   (int)m[0], (int)m[1]);
    }
}

/* A face normal to x3 that divides a cell: Backus' means, exactly. */
static void test_backus(void) {
    static const char *const solid =
        "medium.type=layers; medium.axis=x3; medium.fit=box;medium.interfaces=[0.45]; "
        "medium.lambda=[2.0, 7.0];medium.mu=[1.0, 3.0]; medium.rho=[1.0, 4.0]";
    static const char *const name[][2] = {{"s33", "s33"}, {"s11", "s33"}, {"s22", "s33"},
                                          {"s11", "s11"}, {"s11", "s22"}, {"s12", "s12"},
                                          {"v1", "v1"},   {"v2", "v2"}};
    static const int64_t size[3] = {4, 3, 4};
    const double f = 0.3; /* of the node's cell, 0.375 to 0.625, in the first layer */
    const double a = f / 4 + (1 - f) / 13, b = f / 2 + (1 - f) * 7 / 13;
    const double d = f * 3 + (1 - f) * 120 / 13, m = f + (1 - f) * 3;
    const double tt = d + b * b / a, rho = f + (1 - f) * 4;
    const double expected[] = {1 / a, b / a, b / a, tt, tt - 2 * m, m, 1 / rho, 1 / rho};
    const int64_t node[3] = {1, 2, 2};
    HT_ENDED(close_case) struct case_ c;
    double worst = 0;
    must(open_case(&c, "elastic", size, 4, HT_FIT_BOX, "%s", solid));
    HT_FREED double *all = filled(&c, 1);
    for (int e = 0; e < 8; e++) {
        const int k = coefficient_of(&c, name[e][0], name[e][1]);
        worst = fmax(worst, fabs(value_of(&c, all, k, node) - expected[e]));
    }
    TEST_BELOW(worst, 1e-13, "layers along x3: off Backus' means by");
}

/* eps jumps from 1 to 4 at a face: 1/eps at a point of E2 along it, and of E1 where n has the same
 * part of all axes and f is what the point's cell has of the larger one: boxes of a quarter of a
 * spacing by 4 points along each axis, in three dimensions by 2. */
static void test_dielectric(void) {
    static const int64_t at[3][3] = {{8, 3, 0}, {7, 8, 0}, {7, 6, 1}};
    static const char *const options[] = {
        "medium.type=layers; medium.axis=x1; medium.interfaces=[0.53125]; medium.eps=[1.0, 4.0]",
        "medium.type=expression; medium.eps=\"1+3*step(sin(2*pi*(x1+x2)+0.3))\"",
        "medium.type=expression; medium.eps=\"1+3*step(sin(2*pi*(x1+x2+x3)+0.3))\""};
    for (int i = 0; i < 3; i++) {
        const int dims = i == 2 ? 3 : 2, points = dims == 3 ? 8 : 16; /* of a spacing */
        const int64_t size[3] = {16, 16, dims == 3 ? 16 : 0};
        const int count = (int)pow(points, dims);
        double f = i == 0 ? 0.5 : 0;
        for (int j = 0; i > 0 && j < count; j++) {
            const int j1 = j % points, j2 = j / points % points, j3 = j / points / points;
            const double x1 = ((double)at[i][0] - 0.5 + (j1 + 0.5) / points) / 16;
            const double x2 = ((double)at[i][1] + (j2 + 0.5) / points) / 16;
            const double x3 = dims == 3 ? ((double)at[i][2] + (j3 + 0.5) / points) / 16 : 0;
            f += sin(2 * acos(-1) * (x1 + x2 + x3) + 0.3) >= 0 ? 1. / count : 0;
        }
        const double along = i == 0 ? 0 : 1. / dims;
        const double expected = along * (1 - f + f / 4) + (1 - along) / (1 + 3 * f);
        HT_ENDED(close_case) struct case_ c;
        must(open_case(&c, "maxwell", size, 0, HT_FIT_BOX, "%s", options[i]));
        HT_FREED double *all = filled(&c, 1);
        const int k = i ? coefficient_of(&c, "E1", "E1") : coefficient_of(&c, "E2", "E2");
        TEST_CHECK(f > 0.05 && f < 0.95, "the face crosses the cell: f = %.3g", f);
        TEST_BELOW(fabs(value_of(&c, all, k, at[i]) - expected), 1e-14,
                   "E in %d-D, %s a face: 1/eps off by", dims, i ? "oblique to" : "along");
    }
}

/* ---- random media ---- */

/* The least of the leading minors of a symmetric matrix, over powers of its trace. */
static double least_minor(double C[3][3], int n) {
    const double trace = C[0][0] + C[1][1] + C[2][2];
    const double two = C[0][0] * C[1][1] - C[0][1] * C[0][1];
    const double other =
        fmin(C[0][0] * C[2][2] - C[0][2] * C[0][2], C[1][1] * C[2][2] - C[1][2] * C[1][2]);
    const double three = C[0][0] * (C[1][1] * C[2][2] - C[1][2] * C[1][2]) -
                         C[0][1] * (C[0][1] * C[2][2] - C[1][2] * C[0][2]) +
                         C[0][2] * (C[0][1] * C[1][2] - C[1][1] * C[0][2]);
    double least = fmin(C[0][0], C[1][1]) / trace;
    least = fmin(least, two / trace / trace);
    if (n < 3) return least;
    least = fmin(least, fmin(C[2][2] / trace, other / trace / trace));
    return fmin(least, three / trace / trace / trace);
}

static double worst_block(const struct case_ *c, const double *all) {
    static const char *const name[] = {"s11", "s22", "s33"};
    const int dims = c->scene.grid.dims;
    int entry[3][3] = {{0}};
    double worst = INFINITY;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3 && j < dims; j++) entry[i][j] = coefficient_of(c, name[i], name[j]);
    for (int64_t n = 0; n < c->planes * c->n[1] * c->n[0]; n++) {
        const int64_t m[3] = {n % c->n[0], n / c->n[0] % c->n[1], n / c->n[0] / c->n[1]};
        double C[3][3] = {{0}};
        for (int i = 0; i < 3; i++)
            for (int j = i; j < 3 && j < dims; j++)
                C[i][j] = C[j][i] = value_of(c, all, entry[i][j], m);
        worst = fmin(worst, least_minor(C, dims));
    }
    return worst;
}

/* Random samples, 30 % of them fluid. */
static void write_rough(const int64_t *size) {
    static const char *const name[] = {"lambda", "mu", "rho"};
    const int count = (int)(size[0] * size[1] * size[2]);
    uint64_t state = 1;
    HT_FREED float *value = NULL;
    must(HT_ALLOC(value, count));
    for (int p = 0; p < 3; p++) {
        char file[32];
        for (int i = 0; i < count; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const float u = (float)(state >> 40) / (float)(1 << 24);
            value[i] = p == 1 ? (u < 0.3f ? 0 : 6 * u) : 0.5f + 8 * u;
        }
        snprintf(file, sizeof file, "%s.f32", name[p]);
        write_raw(file, count, value);
    }
}

static void test_rough(void) {
    for (int i = 0; i < 4; i++) {
        const int64_t size[3] = {9, 8, i / 2 ? 7 : 0}, shape[3] = {12, 9, i / 2 ? 8 : 1};
        const enum ht_fit_kind kind = i % 2 ? HT_FIT_SINC : HT_FIT_BOX;
        const char *word = i % 2 ? "sinc" : "box";
        HT_ENDED(close_case) struct case_ c;
        write_rough(shape);
        must(open_case(&c, "elastic", size, 2, kind,
                       "medium.type=file; medium.lambda=%s/lambda.f32; "
                       "medium.mu=%s/mu.f32;medium.rho=%s/rho.f32; %s",
                       scene_directory, scene_directory, scene_directory,
                       i / 2 ? "medium.shape=[12, 9, 8]; medium.spacing=[0.083, 0.11, 0.12]"
                             : "medium.shape=[12, 9]; medium.spacing=[0.083, 0.11]"));
        HT_FREED double *whole = filled(&c, 1), *parts = filled(&c, c.planes > 1 ? 3 : 1);
        const size_t bytes = (size_t)(c.pair.ncoefficients * c.planes * c.n[0] * c.n[1]) * 8;
        TEST_BELOW(-worst_block(&c, whole), 1e-14, "rough, %d-D, %s: least minor below 0 by",
                   c.scene.grid.dims, word);
        TEST_CHECK(memcmp(whole, parts, bytes) == 0, "rough, %d-D, %s: equal in parts",
                   c.scene.grid.dims, word);
    }
}

int main(void) {
    if ((scene_directory = scratch_make("frame")) == NULL) return 1;
    test_points();
    test_uniform();
    test_cells();
    test_backus();
    test_dielectric();
    test_rough();
    scratch_remove(scene_directory);
    return test_end("frame");
}
