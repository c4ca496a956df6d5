/* Initial data that come by planes, at random or from files, and the rules that initial.* must
 * keep. */
#include "solution_setup.h"

#include "htwave/h5.h"
#include "io/scratch.h"

/* ---- random, ranges ---- */

static double range_difference(const struct setup *setup, enum ht_subgrid subgrid) {
    const int64_t planes = ht_grid_planes(&setup->grid, subgrid),
                  plane = ht_grid_plane(&setup->grid, subgrid);
    const int64_t rows = setup->eq.nfields * (int64_t)ht_grid_coefs(&setup->grid);
    HT_FREED double *all = filled(setup, subgrid, 0), *part;
    double worst = 0;
    must(HT_ALLOC(part, rows * plane * 2));
    for (int64_t first = 0; first + 2 <= planes; first++) {
        must(ht_solution_fill(setup->solution, subgrid, 0, first, first + 2, part));
        for (int64_t r = 0; r < rows; r++)
            worst = test_worse(worst, errors_of(2 * plane, part + r * 2 * plane,
                                                all + (r * planes + first) * plane)
                                          .most);
    }
    return worst;
}

static void test_ranges(void) {
    static const char *const kinds[] = {"random", "gaussian; initial.centre=[0, 1, 1.3]",
                                        "standing; initial.modes=[1, 0, 1]",
                                        "expression; initial.values.v3=\"x1*x2^2*x3^3\"", "zero"};
    TEST_EACH(kind, kinds) {
        const struct request request =
            ask("acoustic", 3, 2, 3, 4, 5, "rr pp rf", "initial.type=%s", *kind);
        HT_ENDED(tear_down) struct setup setup;
        set_up(&setup, &request);
        for (int subgrid = 0; subgrid < 2; subgrid++)
            TEST_BELOW(range_difference(&setup, (enum ht_subgrid)subgrid), 0,
                       "%s: ranges of planes, %s grid", *kind, subgrid ? "dual" : "primary");
    }
}

static void test_random(void) {
    HT_ENDED(tear_down) struct setup setup, another;
    const struct request request = ask("advection", 2, 2, 40, 40, 1, "",
                                       "initial.type=random; initial.amplitude=3; initial.seed=5");
    const struct request seed = ask("advection", 2, 2, 40, 40, 1, "",
                                    "initial.type=random; initial.amplitude=3; initial.seed=6");
    set_up(&setup, &request);
    set_up(&another, &seed);
    HT_FREED double *u = filled(&setup, HT_PRIMARY, 0), *v = filled(&setup, HT_DUAL, 0);
    HT_FREED double *again = filled(&setup, HT_PRIMARY, 0);
    HT_FREED double *other = filled(&another, HT_PRIMARY, 0);
    double mean = 0, square = 0;
    for (int n = 0; n < 1600; n++) {
        mean += u[n] / 1600;
        square += u[n] * u[n] / 1600;
    }
    /* uniform in [-3, 3]: variance 3; four standard errors */
    TEST_BELOW(fabs(mean), 4 * sqrt(3.0 / 1600), "random: mean");
    TEST_BELOW(fabs(square - 3), 4 * sqrt(7.2 / 1600), "random: variance 3");
    const double top = errors_of(1600, u + 12800, u + 12800).largest * 256;
    TEST_CHECK(top > 2.9 && top <= 3, "random: coefficient (2, 2) * 4^4: %g", top);
    TEST_CHECK(errors_of(1600, u, v).most > 1, "random: meshes differ");
    TEST_BELOW(errors_of(14400, u, again).most, 0, "random: the same seed again");
    TEST_CHECK(errors_of(1600, u, other).most > 1, "random: another seed differs");
}

/* ---- files ---- */

/* Writes fields of `setup` as nodal values or all coefficients. */
static void write_file(const struct setup *setup, const char *path, const double *u,
                       bool coefficients) {
    const struct ht_grid *grid = &setup->grid;
    struct ht_h5 *file;
    int rank = 0;
    const int64_t coefs = ht_grid_coefs(grid);
    int64_t extent[4];
    if (coefficients) extent[rank++] = coefs;
    for (int j = grid->dims - 1; j >= 0; j--) extent[rank++] = ht_grid_nodes(grid, HT_PRIMARY, j);
    must(ht_h5_create(path, false, &file));
    for (int f = 0; f < setup->eq.nfields; f++)
        must(ht_h5_write(
            file, HT_KEY("%s%s", setup->eq.field[f].name, coefficients ? "_coefficients" : ""),
            rank, extent, u + f * coefs * row(setup, HT_PRIMARY), false));
    must(ht_h5_commit(file));
}

/* Reading back must give `source`'s data: exactly from coefficients, up to `bound` from nodal
 * values. */
static void check_file(const struct request *source, bool coefficients, double bound) {
    char *directory = scratch_make("solution");
    if (directory == NULL) exit(1);
    HT_FREED char *path = scratch_path(directory, "u.h5");
    HT_ENDED(tear_down) struct setup setup, copy, wider;
    struct request request =
        ask(source->system, source->dims, source->order, source->cells[0], source->cells[1],
            source->cells[2], source->walls, "initial.type=file; initial.file=\"%s\"", path);
    set_up(&setup, source);
    HT_FREED double *u = filled(&setup, HT_PRIMARY, 0), *v = NULL;
    write_file(&setup, path, u, coefficients);
    set_up(&copy, &request);
    v = filled(&copy, HT_PRIMARY, 0);
    TEST_BELOW(errors_of(size_of(&setup, HT_PRIMARY), u, v).most, bound,
               "file with %s, %d-D, N = %d", coefficients ? "coefficients" : "nodal values",
               source->dims, source->order);
    if (!coefficients) {
        double unused[1];
        TEST_BELOW(range_difference(&copy, HT_PRIMARY), 0, "file: ranges of planes");
        TEST_ERROR(ht_solution_fill(copy.solution, HT_DUAL, 0, 0, 0, unused), HT_ERR_INPUT, "",
                   "file: dual grid");
    }
    request.cells[0]++;
    set_up(&wider, &request);
    TEST_ERROR(wider.err, HT_ERR_INPUT, "the grid's nodes are", "file: wrong shape is refused");
    scratch_remove(directory);
}

/* The interpolant through 2N + 3 nodes errs by theta^(2N+3) times the node polynomial: for
 * derivative i at the middle node |prod (xi - s)| has the coefficient ((N+1)!)^2 at xi and less
 * than twice its sum of ratios beyond; so ((N+1)!)^2/(2N+3)! theta^(2N+3) * 2^i. */
static void test_files(void) {
    for (int dims = 1; dims <= 3; dims++) {
        const struct request request = ask("acoustic", dims, 3, 12, 14, 10, "rf pp ff",
                                           "initial.type=standing; initial.modes=[1, 1, 1]");
        double theta = 2 * HT_PI / 14;
        double bound = 1.5 * dims * 576.0 / 362880 * pow(theta, 9) * 8;
        check_file(&request, false, bound + 1e-13);
        check_file(&request, true, 0);
    }
}

/* ---- rules ---- */

static void refuse(const char *system, int dims, const char *walls, const char *options,
                   const char *words) {
    const struct request request = ask(system, dims, 3, 4, 4, 4, walls, "%s", options);
    HT_ENDED(tear_down) struct setup setup;
    set_up(&setup, &request);
    TEST_CHECK(setup.err == HT_ERR_INPUT && !setup.solution && strstr(ht_err_message(), words),
               "refused, naming '%s'", words);
}

static void test_rules(void) {
    refuse("acoustic", 1, "rr", "initial.type=plane", "periodic");
    refuse("acoustic", 1, "", "initial.type=plane; initial.cycles=[0, 1, 1]", "initial.cycles");
    refuse("advection", 2, "", "initial.type=standing",
           "no standing modes are known for advection");
    refuse("acoustic", 1, "ff", "initial.type=standing; initial.modes=[0, 0, 0]", "at least 1");
    refuse("acoustic", 2, "rr rf", "initial.type=standing; initial.modes=[1, 0, 0]", "along x2");
    refuse("acoustic", 2, "rr pp", "initial.type=standing; initial.modes=[0, 0, 0]", "above 0");
    refuse("acoustic", 2, "", "initial.type=gaussian; initial.field=v3",
           " in 2 dimensions has p, v1, v2");
    refuse("acoustic", 1, "ff", "initial.type=gaussian; initial.centre=[0.5, 0, 0]", "cancels");
    refuse("acoustic", 1, "rr", "initial.type=gaussian; initial.centre=[0.7, 0, 0]",
           "between the walls");
    refuse("acoustic", 1, "", "initial.type=gaussian; initial.width=11.0", "initial.width");
    refuse("acoustic", 1, "rr", "initial.pulses=({centre=[0.1,0.0,0.0]},{centre=[0.7,0.0,0.0]})",
           "initial.pulses.2.centre = [0.7, 0.0, 0.0]: along x1");
    refuse("acoustic", 2, "", "initial.pulses=({centre=[0.1,0.0,0.0],field=\"v3\"})",
           "initial.pulses.1.field = \"v3\": no field");
    refuse("acoustic", 1, "", "initial.pulses=({centre=[0.1,0.0,0.0],width=11.0})",
           "initial.pulses.1.width = 11.0: at most");
    refuse("acoustic", 1, "", "initial.type=expression; initial.values.q=\"x1\"",
           "initial.values.q");
    refuse("acoustic", 1, "", "initial.type=expression; initial.values.v1=\"sin(x1\"", "column 7");
    refuse("acoustic", 1, "", "initial.type=file; initial.file=\"/no/such.h5\"", "does not exist");
    const struct request pole =
        ask("acoustic", 1, 3, 4, 1, 1, "", "initial.type=expression; initial.values.p=\"1/x1\"");
    HT_ENDED(tear_down) struct setup setup;
    double out[64];
    set_up(&setup, &pole);
    must(setup.err);
    TEST_ERROR(ht_solution_fill(setup.solution, HT_PRIMARY, 0, 0, 1, out), HT_ERR_INPUT,
               "finite at", "a pole on a node");
}

/* ---- several pulses ---- */

/* Adds the data of a request to out. */
static void add_data(const struct request *request, enum ht_subgrid subgrid, double time,
                     double *out) {
    HT_ENDED(tear_down) struct setup setup;
    set_up(&setup, request);
    HT_FREED double *data = filled(&setup, subgrid, time);
    for (int64_t n = 0; n < size_of(&setup, subgrid); n++) out[n] += data[n];
}

/* A list of pulses is the sum of each alone, bit by bit: no sum has more than two terms other than
 * 0. */
static void check_sum(const char *what, const char *system, int dims, int order, const char *walls,
                      double time) {
    static const char *const options[] = {
        "initial.pulses=({centre=[0.1,0.7,1.2],amplitude=2.0},{centre=[-0.3,0.5,1.5],width=0.2})",
        "initial.centre=[0.1,0.7,1.2]; initial.amplitude=2.0",
        "initial.centre=[-0.3,0.5,1.5]; initial.width=0.2"};
    for (int n = 0; n < 2; n++) {
        const enum ht_subgrid subgrid = n ? HT_DUAL : HT_PRIMARY;
        HT_ENDED(tear_down) struct setup setup;
        struct request request[3];
        for (int i = 0; i < 3; i++)
            request[i] = ask(system, dims, order, 4, dims > 2 ? 3 : 5, 5, walls, "%s", options[i]);
        set_up(&setup, &request[0]);
        const int64_t size = size_of(&setup, subgrid);
        HT_FREED double *data = filled(&setup, subgrid, time), *sum = NULL;
        must(HT_ALLOC(sum, size));
        for (int i = 1; i < 3; i++) add_data(&request[i], subgrid, time, sum);
        const struct errors e = errors_of(size, data, sum);
        TEST_BELOW(e.most, 0, "%s, grid %d: two pulses less each alone (largest %g)", what, n,
                   e.largest);
    }
}

int main(void) {
    check_sum("between walls", "acoustic", 3, 2, "rf pp rr", 0);
    check_sum("carried", "advection", 2, 3, "", 0.3);
    test_ranges();
    test_random();
    test_files();
    test_rules();
    return test_end("solution_data");
}
