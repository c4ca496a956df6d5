/* Initial data that come by planes, at random or from files, and the rules that initial.* must
 * keep. */
#include "solution_setup.h"

#include "htwave/h5.h"
#include "io/scratch.h"

/* ---- random, ranges ---- */

static double range_difference(const struct setup *setup, enum ht_subgrid subgrid) {
    double *all = filled(setup, subgrid, 0), worst = 0;
    int64_t planes = ht_grid_planes(&setup->grid, subgrid),
            plane = ht_grid_plane(&setup->grid, subgrid);
    int64_t rows = setup->eq.nfields * (int64_t)ht_grid_coefs(&setup->grid);
    HT_FREED double *part = calloc((size_t)(rows * plane * 2), sizeof *part);
    for (int64_t first = 0; all && part && first + 2 <= planes; first++) {
        if (ht_solution_fill(setup->solution, subgrid, 0, first, first + 2, part) != HT_OK)
            worst = NAN;
        for (int64_t r = 0; r < rows; r++)
            worst = test_worse(worst, difference(part + r * 2 * plane,
                                                 all + (r * planes + first) * plane, 2 * plane));
    }
    bool ok = all && part;
    free(all);
    return ok ? worst : (double)NAN;
}

static void test_ranges(void) {
    static const char *const kinds[] = {"initial.type=random", "initial.type=gaussian",
                                        "initial.type=standing", "initial.type=expression",
                                        "initial.type=zero"};
    TEST_EACH(row, kinds) {
        struct request request = {
            "acoustic",
            3,
            2,
            {3, 4, 5},
            {"rr", "pp", "rf"},
            {*row, "initial.modes=[1, 0, 1]", "initial.values.v3=\"x1*x2^2*x3^3\""}};
        request.setting[3] = "initial.centre=[0, 1, 1.3]";
        struct setup setup;
        set_up(&setup, &request);
        for (int subgrid = 0; subgrid < 2; subgrid++)
            TEST_BELOW(range_difference(&setup, (enum ht_subgrid)subgrid), 0,
                       "%s: ranges of planes, %s grid", *row, subgrid ? "dual" : "primary");
        tear_down(&setup);
    }
}

static void test_random(void) {
    struct request request = {
        "advection", 2,   2,
        {40, 40, 1}, {0}, {"initial.type=random", "initial.seed=5", "initial.amplitude=3"}};
    struct setup setup;
    set_up(&setup, &request);
    HT_FREED double *u = filled(&setup, HT_PRIMARY, 0), *v = filled(&setup, HT_DUAL, 0);
    bool ok = u && v;
    double mean = 0, square = 0;
    for (int n = 0; ok && n < 1600; n++) {
        mean += u[n] / 1600;
        square += u[n] * u[n] / 1600;
    }
    /* uniform in [-3, 3]: variance 3; four standard errors */
    TEST_BELOW(ok ? fabs(mean) : NAN, 4 * sqrt(3.0 / 1600), "random: mean");
    TEST_BELOW(ok ? fabs(square - 3) : NAN, 4 * sqrt(7.2 / 1600), "random: variance 3");
    double top = ok ? largest(u + 12800, 1600) * 256 : (double)NAN;
    TEST_CHECK(top > 2.9 && top <= 3, "random: coefficient (2, 2) * 4^4: %g", top);
    TEST_CHECK(ok && difference(u, v, 1600) > 1, "random: meshes differ");
    HT_FREED double *again = filled(&setup, HT_PRIMARY, 0);
    TEST_BELOW(ok && again ? difference(u, again, 14400) : NAN, 0, "random: the same seed again");
    tear_down(&setup);
    request.setting[1] = "initial.seed=6";
    set_up(&setup, &request);
    HT_FREED double *other = filled(&setup, HT_PRIMARY, 0);
    TEST_CHECK(ok && other && difference(u, other, 1600) > 1, "random: another seed differs");
    tear_down(&setup);
}

/* ---- files ---- */

/* Writes fields of `setup` as nodal values or all coefficients. */
static bool write_file(const struct setup *setup, const char *path, const double *u,
                       bool coefficients) {
    const struct ht_grid *grid = &setup->grid;
    struct ht_h5 *file;
    int rank = 0;
    int64_t coefs = ht_grid_coefs(grid);
    int64_t extent[4];
    if (coefficients) extent[rank++] = coefs;
    for (int j = grid->dims - 1; j >= 0; j--) extent[rank++] = ht_grid_nodes(grid, HT_PRIMARY, j);
    if (ht_h5_create(path, false, &file) != HT_OK) return false;
    for (int f = 0; f < setup->eq.nfields; f++) {
        char name[40];
        snprintf(name, sizeof name, "%s%s", setup->eq.field[f].name,
                 coefficients ? "_coefficients" : "");
        const double *from = u + f * coefs * row(setup, HT_PRIMARY);
        if (ht_h5_write(file, name, rank, extent, from, false) != HT_OK) {
            ht_h5_discard(file);
            return false;
        }
    }
    return ht_h5_commit(file) == HT_OK;
}

/* Reading back must give `source`'s data: exactly from coefficients, up to `bound` from nodal
 * values. */
static void check_file(const struct request *source, bool coefficients, double bound) {
    char setting[400], *directory = scratch_make("solution");
    if (directory == NULL) exit(1);
    char *path = scratch_path(directory, "u.h5");
    snprintf(setting, sizeof setting, "initial.file=\"%s\"", path);
    struct setup setup, copy;
    set_up(&setup, source);
    HT_FREED double *u = filled(&setup, HT_PRIMARY, 0), *v = NULL;
    struct request request = *source;
    memset(request.setting, 0, sizeof request.setting);
    request.setting[0] = "initial.type=file";
    request.setting[1] = setting;
    bool ok = u && write_file(&setup, path, u, coefficients);
    set_up(&copy, &request);
    if (ok) v = filled(&copy, HT_PRIMARY, 0);
    TEST_BELOW(v ? difference(u, v, size_of(&setup, HT_PRIMARY)) : NAN, bound,
               "file with %s, %d-D, N = %d", coefficients ? "coefficients" : "nodal values",
               source->dims, source->order);
    if (!coefficients && copy.err == HT_OK) {
        TEST_BELOW(range_difference(&copy, HT_PRIMARY), 0, "file: ranges of planes");
        double unused[1];
        enum ht_err err = ht_solution_fill(copy.solution, HT_DUAL, 0, 0, 0, unused);
        TEST_CHECK(err == HT_ERR_INPUT, "file: dual grid: %s", ht_err_message());
    }
    tear_down(&copy);
    request.cells[0]++;
    set_up(&copy, &request);
    TEST_CHECK(copy.err == HT_ERR_INPUT && strstr(ht_err_message(), "the grid's nodes are"),
               "file: wrong shape is refused");
    tear_down(&copy);
    tear_down(&setup);
    free(path);
    scratch_remove(directory);
}

/* The interpolant through 2N + 3 nodes errs by theta^(2N+3) times the node polynomial: for
 * derivative i at the middle node |prod (xi - s)| has the coefficient ((N+1)!)^2 at xi and less
 * than twice its sum of ratios beyond; so ((N+1)!)^2/(2N+3)! theta^(2N+3) * 2^i. */
static void test_files(void) {
    for (int dims = 1; dims <= 3; dims++) {
        struct request request = {"acoustic",
                                  dims,
                                  3,
                                  {12, 14, 10},
                                  {"rf", "pp", "ff"},
                                  {"initial.type=standing", "initial.modes=[1, 1, 1]"}};
        double theta = 2 * HT_PI / 14;
        double bound = 1.5 * dims * 576.0 / 362880 * pow(theta, 9) * 8;
        check_file(&request, false, bound + 1e-13);
        check_file(&request, true, 0);
    }
}

/* ---- rules ---- */

struct rule {
    struct request request;
    const char *words;
};

static const struct rule rules[] = {
    {{"acoustic", 1, 3, {4}, {"rr"}, {"initial.type=plane"}}, "periodic"},
    {{"acoustic", 1, 3, {4}, {0}, {"initial.type=plane", "initial.cycles=[0, 1, 1]"}},
     "initial.cycles"},
    {{"advection", 2, 3, {4, 4}, {0}, {"initial.type=standing"}},
     "no standing modes are known for advection"},
    {{"acoustic", 1, 3, {4}, {"ff"}, {"initial.type=standing", "initial.modes=[0, 0, 0]"}},
     "at least 1"},
    {{"acoustic", 2, 3, {4, 4}, {"rr", "rf"}, {"initial.type=standing", "initial.modes=[1, 0, 0]"}},
     "along x2"},
    {{"acoustic", 2, 3, {4, 4}, {"rr", "pp"}, {"initial.type=standing", "initial.modes=[0, 0, 0]"}},
     "above 0"},
    {{"acoustic", 2, 3, {4, 4}, {0}, {"initial.type=gaussian", "initial.field=v3"}},
     " in 2 dimensions has p, v1, v2"},
    {{"acoustic", 1, 3, {4}, {"ff"}, {"initial.type=gaussian", "initial.centre=[0.5, 0, 0]"}},
     "cancels"},
    {{"acoustic", 1, 3, {4}, {"rr"}, {"initial.type=gaussian", "initial.centre=[0.7, 0, 0]"}},
     "between the walls"},
    {{"acoustic", 1, 3, {4}, {0}, {"initial.type=gaussian", "initial.width=11.0"}},
     "initial.width"},
    {{"acoustic",
      1,
      3,
      {4},
      {"rr"},
      {"initial.pulses=({centre=[0.1,0.0,0.0];},{centre=[0.7,0.0,0.0];})"}},
     "initial.pulses.2.centre = [0.7, 0.0, 0.0]: along x1"},
    {{"acoustic", 2, 3, {4, 4}, {0}, {"initial.pulses=({centre=[0.1,0.0,0.0];field=\"v3\";})"}},
     "initial.pulses.1.field = \"v3\": no field"},
    {{"acoustic", 1, 3, {4}, {0}, {"initial.pulses=({centre=[0.1,0.0,0.0];width=11.0;})"}},
     "initial.pulses.1.width = 11.0: at most"},
    {{"acoustic", 1, 3, {4}, {0}, {"initial.type=expression", "initial.values.q=\"x1\""}},
     "initial.values.q"},
    {{"acoustic", 1, 3, {4}, {0}, {"initial.type=expression", "initial.values.v1=\"sin(x1\""}},
     "column 7"},
    {{"acoustic", 1, 3, {4}, {0}, {"initial.type=file", "initial.file=\"/no/such.h5\""}},
     "does not exist"},
};

static void test_rules(void) {
    for (size_t n = 0; n < sizeof rules / sizeof rules[0]; n++) {
        struct setup setup;
        set_up(&setup, &rules[n].request);
        TEST_CHECK(setup.err == HT_ERR_INPUT && !setup.solution &&
                       strstr(ht_err_message(), rules[n].words),
                   "rule %zu: refused, naming '%s'", n, rules[n].words);
        tear_down(&setup);
    }
    struct request pole = {
        "acoustic", 1, 3, {4}, {0}, {"initial.type=expression", "initial.values.p=\"1/x1\""}};
    struct setup setup;
    set_up(&setup, &pole);
    double out[64];
    enum ht_err err = setup.err;
    if (err == HT_OK) err = ht_solution_fill(setup.solution, HT_PRIMARY, 0, 0, 1, out);
    TEST_CHECK(err == HT_ERR_INPUT && strstr(ht_err_message(), "finite at"), "a pole on a node: %s",
               ht_err_message());
    tear_down(&setup);
}

/* ---- several pulses ---- */

/* Adds the data of a request to out, or fails. */
static bool add_data(const struct request *request, enum ht_subgrid subgrid, double time,
                     double *out) {
    struct setup setup;
    set_up(&setup, request);
    double *data = filled(&setup, subgrid, time);
    for (int64_t n = 0; data && n < size_of(&setup, subgrid); n++) out[n] += data[n];
    bool good = data != NULL;
    free(data);
    tear_down(&setup);
    return good;
}

/* A list of pulses is the sum of each alone, bit by bit: no sum has more than two terms other than
 * 0. */
static void check_sum(const char *what, struct request request, double time) {
    static const char *const list =
        "initial.pulses=({centre=[0.1,0.7,1.2];amplitude=2.0;},{centre=[-0.3,0.5,1.5];width=0.2;})";
    request.setting[0] = list;
    for (int subgrid = HT_PRIMARY; subgrid <= HT_DUAL; subgrid++) {
        struct setup setup;
        set_up(&setup, &request);
        double *data = filled(&setup, (enum ht_subgrid)subgrid, time);
        int64_t size = size_of(&setup, (enum ht_subgrid)subgrid);
        double *sum = calloc((size_t)size, sizeof *sum);
        struct request first = request, second = request;
        first.setting[0] = "initial.centre=[0.1,0.7,1.2]";
        first.setting[1] = "initial.amplitude=2.0";
        second.setting[0] = "initial.centre=[-0.3,0.5,1.5]";
        second.setting[1] = "initial.width=0.2";
        bool good = data && sum && add_data(&first, (enum ht_subgrid)subgrid, time, sum) &&
                    add_data(&second, (enum ht_subgrid)subgrid, time, sum);
        TEST_BELOW(good ? difference(data, sum, size) : (double)NAN, 0,
                   "%s, grid %d: two pulses less each alone (largest %g)", what, subgrid,
                   good ? largest(sum, size) : (double)NAN);
        free(data);
        free(sum);
        tear_down(&setup);
    }
}

static void test_pulses(void) {
    struct request walls = {"acoustic", 3, 2, {4, 3, 5}, {"rf", "pp", "rr"}, {NULL}};
    struct request carried = {"advection", 2, 3, {4, 5}, {0}, {NULL}};
    check_sum("between walls", walls, 0);
    check_sum("carried", carried, 0.3);
}

int main(void) {
    test_pulses();
    test_ranges();
    test_random();
    test_files();
    test_rules();
    return test_end("solution_data");
}
