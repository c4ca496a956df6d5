/* The medium of each type: materials against closed forms, expressions and files at full order,
 * walls, rough media, plane ranges. */
#include "medium_scene.h"

#include "htwave/h5.h"

/* Node number -> its indices and position. */
static void node_at(const struct ht_grid *grid, enum ht_subgrid subgrid, int64_t node,
                    int64_t index[3], double x[3]) {
    for (int k = 0; k < 3; k++) {
        int64_t n = ht_grid_nodes(grid, subgrid, k);
        index[k] = node % n;
        node /= n;
        x[k] = ht_grid_x(grid, subgrid, k, index[k]);
    }
}

static double at(const struct scene *s, const char *parameter, double x1) {
    double value;
    must(ht_medium_parameter(s->medium, parameter, (double[3]){x1}, &value));
    return value;
}

/* ---- constant ---- */

static void test_constant(void) {
    HT_ENDED(close_scene) struct scene s, line;
    acoustic(&s, BOX, 2, 0, "medium.c=2; medium.rho=3");
    const struct ht_medium *m = s.medium;
    TEST_CHECK(m->uniform && m->degree == 0 && m->coefs == 1, "constant: uniform, degree %d",
               m->degree);
    TEST_BELOW(fabs(m->constant[0] - 12) + fabs(m->constant[1] - 1 / 3.0), 1e-15,
               "constant: K = rho c^2 and 1/rho");
    TEST_BELOW(fabs(m->speed[0] - 2) + fabs(m->speed[2] - 2) + fabs(m->speed_min - 2), 1e-14,
               "constant: speeds");
    HT_FREED double *out = fill(&s, HT_DUAL);
    TEST_BELOW(fabs(out[119] - 12) + fabs(out[120] - 1 / 3.0), 1e-15,
               "constant: fill, material by material");
    acoustic(&line, LINE, 2, 0, "medium.K=12; medium.rho=3");
    const double x[3] = {0.3};
    TEST_BELOW(fabs(at(&line, "c", *x) - 2) + fabs(at(&line, "K", *x) - 12) +
                   fabs(at(&line, "rho", *x) - 3),
               1e-14, "parameters by name, c from K and rho");
    double c;
    TEST_ERROR(ht_medium_parameter(line.medium, "vp", x, &c), HT_ERR_INPUT, "c|K, rho",
               "unknown parameter");
}

static void test_advection(void) {
    HT_ENDED(close_scene) struct scene s = {.grid = make_grid(SQUARE, 2, 0)};
    must(open_scene(&s, "advection", "medium.velocity=[0.0, -2.0]"));
    TEST_CHECK(s.medium->uniform && s.medium->constant[1] == -2, "advection: velocity2 = %g",
               s.medium->constant[1]);
    TEST_CHECK(s.medium->speed[0] == 0 && s.medium->speed[1] == 2 && s.medium->speed_min == 2,
               "advection: speeds 0 and 2, smallest above 0 is %g", s.medium->speed_min);
}

/* ---- expressions ---- */

/* Largest difference of a filled material from the jet of a text. */
static double against_text(const struct scene *s, enum ht_subgrid subgrid, const double *out,
                           int material, const char *text) {
    const struct ht_medium *m = s->medium;
    int64_t total = ht_grid_total(&s->grid, subgrid);
    struct ht_jets *jets;
    struct ht_expr *expr;
    double want[300], worst = 0;
    must(ht_jets_make(s->grid.dims, m->degree, true, &jets));
    must(ht_expr_parse(text, &expr));
    for (int64_t node = 0; node < total; node++) {
        int64_t index[3];
        double x[3];
        node_at(&s->grid, subgrid, node, index, x);
        must(ht_expr_jet(expr, jets, x, s->grid.h, want));
        for (int a = 0; a < jets->count; a++) {
            bool odd = false;
            for (int k = 0; k < 3; k++)
                odd |= s->grid.wall[k][0] && subgrid == HT_PRIMARY &&
                       (index[k] == 0 || index[k] == s->grid.cells[k]) && jets->index[a][k] % 2;
            double got = out[(material * m->coefs + a) * total + node];
            worst = test_worse(worst, fabs(got - (odd ? 0 : want[a])));
        }
    }
    ht_expr_destroy(expr);
    ht_jets_destroy(jets);
    return worst;
}

static void check_expression(const int64_t *cells, int order, int walls) {
    static const char *const sums[] = {"2*x1", "2*x1 + x2", "2*x1 + x2 - x3"};
    int dims = cells[1] == 0 ? 1 : cells[2] == 0 ? 2 : 3;
    const char *rho = HT_KEY("2 + 0.1*x1*%s", dims > 1 ? "x2" : "x1");
    const char *text[] = {HT_KEY("(%s)*(1 + 0.1*sin(%s))^2", rho, sums[dims - 1]),
                          HT_KEY("1/(%s)", rho)};
    HT_ENDED(close_scene) struct scene s;
    acoustic(&s, cells, order, walls,
             "medium.type=expression; medium.c=\"1 + 0.1*sin(%s)\";medium.rho=\"%s\"",
             sums[dims - 1], rho);
    TEST_CHECK(s.medium->degree == order + 1 && s.medium->flattened == 0,
               "expression in %d-D: degree %d, %lld flattened", s.grid.dims, s.medium->degree,
               (long long)s.medium->flattened);
    for (int i = 0; i < 4; i++) {
        const enum ht_subgrid subgrid = i / 2 ? HT_DUAL : HT_PRIMARY;
        HT_FREED double *out = fill(&s, subgrid);
        TEST_BELOW(against_text(&s, subgrid, out, i % 2, text[i % 2]), 1e-14,
                   "expression in %d-D, walls %d, mesh %d: %s", dims, walls, i / 2,
                   i % 2 ? "1/rho" : "K");
    }
    if (walls) TEST_CHECK(s.medium->wall_gradient, "gradient at the wall is seen");
}

static void test_expression(void) {
    check_expression(LINE, 3, 0);
    check_expression(SQUARE, 2, 0);
    check_expression(BOX, 1, 0);
    check_expression(LINE, 3, 1);
    check_expression(SQUARE, 2, 3);
    check_expression(BOX, 2, 6);
    HT_ENDED(close_scene) struct scene s, number;
    acoustic(&s, SQUARE, 3, 1, "medium.type=expression;medium.c=\"1 + 0.05*cos(pi*x1) + 0.1*x2\"");
    TEST_CHECK(!s.medium->wall_gradient, "no gradient across walls of x1 where c is even there");
    TEST_BELOW(fabs(s.medium->speed[1] - 1.09 - 0.05 * cos(acos(-1) / 12)), 1e-14,
               "largest speed over the nodes of both grids");
    acoustic(&number, SQUARE, 3, 0, "medium.type=expression; medium.c=1.5");
    TEST_CHECK(number.medium->uniform, "expression of numbers alone is uniform");
}

/* ---- layers ---- */

static void test_layers(void) {
    static const char options[] = "medium.type=layers; medium.axis=x1;medium.interfaces=[0.28125, "
                                  "0.5];medium.K=[1.0, 4.0, 2.0]; medium.rho=[1.0, 3.0, 1.0]";
    HT_ENDED(close_scene) struct scene s, periodic;
    acoustic(&s, LINE, 3, 1, options);
    acoustic(&periodic, LINE, 3, 0, options);
    TEST_CHECK(s.medium->degree == 0 && !s.medium->uniform && !s.medium->wall_gradient,
               "layers: degree 0, no gradient at walls");
    /* Dual node 2 has the cell [0.25, 0.375]: a quarter of layer 1. */
    HT_FREED double *dual = fill(&s, HT_DUAL), *primary = fill(&s, HT_PRIMARY);
    HT_FREED double *seam = fill(&periodic, HT_PRIMARY);
    TEST_BELOW(fabs(dual[2] - 1 / (0.25 + 0.75 / 4)), 1e-14,
               "layers: K, harmonic mean over the cell");
    TEST_BELOW(fabs(dual[8 + 2] - 1 / (0.25 + 0.75 * 3)), 1e-14,
               "layers: 1/rho, from the arithmetic mean of rho");
    TEST_BELOW(fabs(primary[4] - 2 / (0.25 + 0.5)), 1e-14,
               "layers: node on an interface, half of each");
    TEST_BELOW(fabs(primary[0] - 1) + fabs(primary[8] - 2), 1e-14,
               "layers: nodes at walls, the part inside");
    TEST_BELOW(fabs(at(&s, "K", 0.28) - 1) + fabs(at(&s, "K", 0.29) - 4), 0,
               "layers: point values");
    TEST_BELOW(fabs(seam[0] - 2 / (1 + 0.5)), 1e-14,
               "layers: node on the periodic seam, half of each");
}

/* ---- files ---- */

static void test_file_mean(void) {
    static const float c[8] = {1, 1, 2, 1, 1, 1, 1, 1};
    HT_ENDED(close_scene) struct scene s;
    write_raw("c.f32", 8, c);
    acoustic(&s, ((const int64_t[3]){2, 0, 0}), 3, 0,
             "medium.type=file; medium.c=\"%s\"; medium.shape=[8];medium.spacing=[0.125]; "
             "medium.origin=[0.0625];medium.scale=2.0; medium.degree=0; medium.rho=0.25",
             path_of("c.f32"));
    HT_FREED double *out = fill(&s, HT_DUAL);
    TEST_BELOW(fabs(out[0] - 4 / (1 + 1 + 0.25 + 1)), 1e-14,
               "file at degree 0: harmonic mean of K of 4 samples");
    TEST_BELOW(fabs(out[2] - 4), 1e-15, "file at degree 0: 1/rho of a number");
    TEST_EQUAL(s.medium->flattened, 0, "degree 0 asked for: flattened");
    TEST_BELOW(fabs(at(&s, "c", 0.25) - 3), 1e-14, "file: point values are linear");
}

/* ---- rough media ---- */

enum { ROUGH_SIZE = 41 };

/* Random, rougher and rougher along x1. */
static void write_rough(void) {
    static float c[ROUGH_SIZE * ROUGH_SIZE];
    for (int i = 0; i < ROUGH_SIZE * ROUGH_SIZE; i++)
        c[i] = (float)(1 + 0.2 * (i % ROUGH_SIZE) / ROUGH_SIZE * ht_rng_uniform(7, (uint64_t)i));
    write_raw("rough.f32", ROUGH_SIZE * ROUGH_SIZE, c);
}

/* c = 1 everywhere while the density jumps between nodes. */
static void test_density_jump(void) {
    static const float rho[5] = {1, 100, 1, 1, 0.01F};
    char file[512];
    write_raw("c.f32", 5, rho);
    snprintf(file, sizeof file,
             "medium.type=file; medium.rho=\"%s\"; medium.shape=[5];medium.spacing=[0.23]",
             path_of("c.f32"));
    const char *const options[] = {
        "medium.type=layers; medium.axis=x1; medium.interfaces=[0.29];medium.c=[1.0, 1.0]; "
        "medium.rho=[1.0, 100.0]",
        "medium.type=expression; medium.rho=\"1 + 99*step(x1-0.29)\"", file};
    for (int i = 0; i < 3; i++) {
        HT_ENDED(close_scene) struct scene s;
        acoustic(&s, LINE, 2, 1, "%s", options[i]);
        TEST_BELOW(fabs(s.medium->speed_min - 1), 1e-12,
                   "density jumps, c = 1: the slowest speed (case %d)", i);
    }
}

/* Smallest M/M_0 over points of all cells of a 2-D grid; *flat: nodes that have a constant only. */
static double smallest_ratio(const struct scene *s, enum ht_subgrid subgrid, int64_t *flat) {
    enum { POINTS = 9 };
    const struct ht_medium *m = s->medium;
    int64_t total = ht_grid_total(&s->grid, subgrid);
    HT_FREED double *out = fill(s, subgrid);
    double smallest = INFINITY;
    struct ht_jets *jets;
    must(ht_jets_make(s->grid.dims, m->degree, true, &jets));
    for (int64_t i = 0; i < total; i++) {
        bool constant = true;
        for (int a = 1; a < jets->count; a++) constant = constant && out[a * total + i] == 0;
        *flat += constant;
        for (int p = 0; p < POINTS * POINTS; p++) {
            double xi = (p % POINTS) / (POINTS - 1.0) - 0.5, sum = 0;
            double eta = (int)(p / POINTS) / (POINTS - 1.0) - 0.5;
            for (int a = 0; a < jets->count; a++)
                sum +=
                    out[a * total + i] * pow(xi, jets->index[a][0]) * pow(eta, jets->index[a][1]);
            smallest = fmin(smallest, sum / fabs(out[i]));
        }
    }
    ht_jets_destroy(jets);
    return smallest;
}

static void test_rough(void) {
    int64_t flat = 0;
    HT_ENDED(close_scene) struct scene s, sine;
    write_rough();
    acoustic(
        &s, ((const int64_t[3]){20, 20, 0}), 3, 0,
        "medium.type=file; medium.c=\"%s\"; medium.shape=[%d, %d];medium.spacing=[0.025, 0.025]",
        path_of("rough.f32"), ROUGH_SIZE, ROUGH_SIZE);
    for (int subgrid = HT_PRIMARY; subgrid <= HT_DUAL; subgrid++)
        TEST_BELOW(
            0.5 - smallest_ratio(&s, (enum ht_subgrid)subgrid, &flat), 1e-15,
            "rough file, mesh %d: K stays above half its node's value in every cell, missing",
            subgrid);
    TEST_CHECK(s.medium->flattened > 100 && s.medium->flattened < 700 &&
                   s.medium->flattened == flat,
               "rough file: %lld of 800 nodes flattened, %lld found so",
               (long long)s.medium->flattened, (long long)flat);
    TEST_BELOW(s.medium->speed[0], 1.2, "rough file: no speed above its own");
    acoustic(&sine, LINE, 3, 0, "medium.type=expression; medium.c=\"1 + 0.9*sin(40*x1)\"");
    TEST_EQUAL(sine.medium->flattened, 16, "unresolved expression: flattened of 16 nodes");
}

/* A fluid over a solid whose face slopes, on samples between and at nodes: nothing lies between
 * them, neither a speed nor a quality factor; 0 stays 0. */
static void test_fluid_over_solid(void) {
    static float vs[ROUGH_SIZE * ROUGH_SIZE], q[ROUGH_SIZE * ROUGH_SIZE];
    char file[2][128];
    for (int i = 0; i < ROUGH_SIZE * ROUGH_SIZE; i++) {
        const bool solid = i / ROUGH_SIZE > 14 + i % ROUGH_SIZE / 3;
        vs[i] = solid ? 1.2F : 0;
        q[i] = solid ? 50 : 0;
    }
    snprintf(file[0], sizeof *file, "%s", path_of("c.f32"));
    snprintf(file[1], sizeof *file, "%s", path_of("rough.f32"));
    write_raw("c.f32", ROUGH_SIZE * ROUGH_SIZE, vs);
    write_raw("rough.f32", ROUGH_SIZE * ROUGH_SIZE, q);
    for (int64_t n = 31; n <= 50; n++) {
        const int64_t cells[3] = {n, n, 0};
        HT_ENDED(close_scene) struct scene s = {.grid = make_grid(cells, 1, 0)};
        enum ht_err err =
            open_scene(&s, "elastic",
                       "time.scheme=fd; medium.type=file; medium.vp=3.0; medium.vs=\"%s\"; "
                       "medium.qp=\"%s\"; medium.qs=\"%s\"; medium.shape=[%d, %d]; "
                       "medium.spacing=[0.025, 0.025]",
                       file[0], file[1], file[1], ROUGH_SIZE, ROUGH_SIZE);
        TEST_CHECK(err == HT_OK && s.medium->vanishes && fabs(s.medium->slowest - 1.2) < 0.1,
                   "fluid over solid, %lld cells: slowest %.17g %s", (long long)n,
                   err == HT_OK ? s.medium->slowest : 0, test_said(err));
    }
}

/* Beyond two million nodes every second one is looked at. */
static void test_many_nodes(void) {
    const int64_t many[3] = {1000001, 0, 0};
    HT_ENDED(close_scene) struct scene s;
    int64_t flat = 0;
    acoustic(&s, many, 1, 0,
             "medium.type=expression;medium.c=\"1 + 0.9*sin(1e8*x1)*exp(-1e4*(x1 - 0.5)^2)\"");
    for (int subgrid = HT_PRIMARY; subgrid <= HT_DUAL; subgrid++) {
        const int64_t nodes = ht_grid_total(&s.grid, (enum ht_subgrid)subgrid);
        HT_FREED double *all = fill(&s, (enum ht_subgrid)subgrid);
        for (int64_t n = 0; n < nodes; n++)
            flat += all[n] != 1 && all[nodes + n] == 0 && all[2 * nodes + n] == 0; /* 1: far away */
    }
    TEST_CHECK(flat > 20000, "many nodes: %lld are flattened", (long long)flat);
    TEST_BELOW(fabs((double)s.medium->flattened / (double)flat - 1), 0.02,
               "their number by the scan, relative");
}

/* ---- plane ranges ---- */

static void check_ranges(const char *what, const char *options) {
    HT_ENDED(close_scene) struct scene s;
    acoustic(&s, BOX, 1, 4, "%s", options);
    for (int subgrid = HT_PRIMARY; subgrid <= HT_DUAL; subgrid++) {
        HT_FREED double *whole = fill(&s, (enum ht_subgrid)subgrid), *part = NULL;
        double worst = 0;
        int64_t planes = ht_grid_planes(&s.grid, (enum ht_subgrid)subgrid);
        int64_t size = ht_grid_plane(&s.grid, (enum ht_subgrid)subgrid);
        int64_t rows = (int64_t)s.medium->coefs * s.eq.nmaterials;
        must(HT_ALLOC(part, rows * size * 2));
        for (int64_t p = 0; p + 2 <= planes; p++) {
            must(ht_medium_fill(s.medium, (enum ht_subgrid)subgrid, p, p + 2, part));
            for (int64_t row = 0; row < rows; row++)
                for (int64_t i = 0; i < 2 * size; i++)
                    worst = test_worse(worst, fabs(part[row * 2 * size + i] -
                                                   whole[(row * planes + p) * size + i]));
        }
        TEST_BELOW(worst, 0, "%s, mesh %d: planes two by two equal the whole", what, subgrid);
    }
}

static void test_ranges(void) {
    char options[512];
    check_ranges("constant", "medium.c=2");
    check_ranges("layers", "medium.type=layers; medium.interfaces=[0.4];medium.c=[1.0, 2.0]");
    check_ranges("expression in all axes",
                 "medium.type=expression;medium.c=\"1 + 0.1*x1 + 0.2*x2*x3\"");
    check_ranges("expression in x2 alone", "medium.type=expression; medium.c=\"1 + 0.1*x2\"");
    snprintf(options, sizeof options,
             "medium.type=file; medium.c=\"%s\"; medium.shape=[%d, %d];medium.axes=[\"x3\", "
             "\"x1\"]; medium.spacing=[0.025, 0.025]",
             path_of("rough.f32"), ROUGH_SIZE, ROUGH_SIZE);
    check_ranges("section extruded along x2", options);
}

/* ---- a real section, where there is one ---- */

static void test_real(void) {
    const char *data = getenv("HTWAVE_TEST_DATA");
    const char *name = "marmousi_vp_1601x401.f32";
    char path[256], options[512];
    snprintf(path, sizeof path, "%s/%s", data ? data : ".", name);
    if (!data || !ht_file_exists(path)) {
        TEST_SKIP("%s: HTWAVE_TEST_DATA names no directory with it", name);
        return;
    }
    snprintf(options, sizeof options,
             "medium.type=file; medium.c=\"%s\"; medium.shape=[401, 1601];medium.axes=[\"x2\", "
             "\"x1\"]; medium.spacing=[0.0075, 0.0075]",
             path);
    const int64_t cells[3] = {400, 100, 0};
    HT_ENDED(close_scene) struct scene s = {.grid = make_grid(cells, 3, 2)};
    for (int k = 0; k < 2; k++) {
        s.grid.upper[k] = k == 0 ? 12 : 3;
        s.grid.h[k] = 0.03;
    }
    must(open_scene(&s, "acoustic", "%s", options));
    int64_t flat = 0, total = ht_grid_total(&s.grid, HT_PRIMARY) + ht_grid_total(&s.grid, HT_DUAL);
    double ratio = smallest_ratio(&s, HT_DUAL, &flat);
    TEST_CHECK(s.medium->speed[0] <= 4.7 * 1.5 && s.medium->speed_min >= 1,
               "Marmousi at 30 m: speeds %.3f to %.3f km/s, %lld of %lld nodes flattened",
               s.medium->speed_min, s.medium->speed[0], (long long)s.medium->flattened,
               (long long)total);
    TEST_BELOW(0.5 - ratio, 1e-15, "Marmousi: K positive in every cell, short");
}

/* Materials 0, K, and 1, 1/rho, that are numbers in every cell, and that the fill has nothing but
 * these numbers there. */
static void test_constant_materials(void) {
    static const struct {
        const char *options;
        unsigned constant;
    } cases[] = {{"medium.type=expression; medium.c=1+0.2*x1; medium.rho=2", 2u},
                 {"medium.type=expression; medium.c=1+0.2*x1; medium.rho=2-x2", 0u},
                 {"medium.type=expression; medium.c=2; medium.rho=2-x2", 0u},
                 {"medium.type=expression; medium.K=2; medium.rho=2-x2", 1u}};
    for (int i = 0; i < 4; i++) {
        HT_ENDED(close_scene) struct scene s;
        acoustic(&s, SQUARE, 2, 0, "%s", cases[i].options);
        double *all = fill(&s, HT_PRIMARY);
        const int64_t nodes = ht_grid_total(&s.grid, HT_PRIMARY);
        unsigned found = 0;
        for (int m = 0; m < 2; m++) {
            int64_t slopes = 0;
            for (int64_t n = nodes; n < s.medium->coefs * nodes; n++)
                slopes += all[(int64_t)m * s.medium->coefs * nodes + n] != 0;
            if (slopes == 0) found |= 1u << m;
        }
        free(all);
        TEST_CHECK(s.medium->constant_materials == cases[i].constant && found == cases[i].constant,
                   "%s: materials %x said to be numbers, %x found (expected %x)", cases[i].options,
                   s.medium->constant_materials, found, cases[i].constant);
    }
}

int main(void) {
    if ((scene_directory = scratch_make("medium")) == NULL) return 1;
    test_constant();
    test_constant_materials();
    test_advection();
    test_expression();
    test_layers();
    test_file_mean();
    test_rough();
    test_density_jump();
    test_many_nodes();
    test_ranges();
    test_real();
    test_fluid_over_solid(); /* writes the files anew */
    scratch_remove(scene_directory);
    return test_end("medium");
}
