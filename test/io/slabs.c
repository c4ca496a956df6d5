/* Outputs of a grid that ranks share: whatever their number, the files have to be those of a rank
 * alone. Values are functions of the node's indices in the whole grid. Alone, two runs are
 * compared; test/mpi/output.sh runs it by mpiexec:
 *
 *     slabs DIRECTORY              writes snapshots and pictures there
 *     slabs DIRECTORY full RANK    files of that rank (-1: of all) cannot grow
 *     slabs DIRECTORY gone         the directory is lost meanwhile
 *     slabs compare A B            two such directories, in one process */
#include "slab_cut.h"
#include "src/io/files.h"

#include "options.h"
#include "redirect.h"
#include "scratch.h"

enum { FIELDS = 4, ORDER = 1, COEFS = 8, MOST_RANKS = 64 };
enum { N1 = 7, N2 = 5, N3 = 11, FULL = 3000 };

/* A picture of each plane, or of two slices; x3 with walls and periodic. */
struct scene {
    const char *plane, *walls, *precision, *snapshots;
    int factor; /* of the walls */
    const char *picture;
};
static const struct scene scenes[] = {
    {"x1", "\"rigid\",\"rigid\"", "double", "true", 1, "plane=\"x1\";position=0.7;"},
    {"x2", "\"periodic\",\"periodic\"", "single", "true", 0, "plane=\"x2\";position=0.7;"},
    {"x3", "\"rigid\",\"rigid\"", "double", "false", 1, "plane=\"x3\";position=0.7;"},
    {"slices", "\"rigid\",\"rigid\"", "double", "false", 1,
     "scale=\"run\";slices=({position=0.1;},{name=\"b\";plane=\"x1\";});"},
};

struct run {
    struct ht_params *params;
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_medium *medium;
    struct ht_output *output;
    double *value[FIELDS], *coefs;
};

/* Without cairo the pictures are left out. */
static bool draws(void) {
    return ht_picture_cairo() != NULL;
}

static enum ht_err read_params(const char *directory, const struct scene *scene, struct run *run) {
    return test_params(NULL, '|', &run->params,
                       "output.directory=\"%s/%s\"|"
                       "output.picture={background=\"c\";pixels=64;%s}|boundary.x3=[%s]|"
                       "device.precision=\"%s\"|output.snapshots=%s|output.pictures=%s|"
                       "system=\"acoustic\"|grid.cells=[7,5,11]|grid.upper=[1.4,1.0,2.2]|"
                       "grid.order=1|boundary.x2=[\"rigid\",\"rigid\"]|time.scheme=\"taylor\"|"
                       "medium.type=\"expression\"|medium.c=\"1 + 0.2 * x1 + 0.3 * x3\"|"
                       "output.coefficients=true|output.checksums=true",
                       directory, scene->plane, scene->picture, scene->walls, scene->precision,
                       scene->snapshots, draws() ? "true" : "false");
}

/* Uneven slabs. */
static void cut(struct ht_comm *comm, struct ht_grid *grid) {
    double weights[MOST_RANKS];
    int64_t start[MOST_RANKS + 1];
    int rank = ht_comm_rank(comm), size = ht_comm_size(comm);
    if (size == 1) return;
    for (int r = 0; r < size; r++) weights[r] = 1 + (r * 5 + 2) % 4;
    test_slab_cut(grid->cells[2], size, weights, start);
    grid->slab = (struct ht_slab){comm, start[rank], start[rank + 1], false};
}

/* No two alike; of all digits. */
static double value_of(int field, int coef, int64_t m1, int64_t m2, int64_t m3) {
    return sin(0.4 * (double)m1 + field) * cos(0.3 * (double)m2) + 0.11 * (double)m3 * (1 + coef) +
           0.01 * coef;
}

static enum ht_err fill(struct run *run) {
    const struct ht_grid *grid = &run->grid;
    const int64_t first = ht_grid_own(grid, HT_PRIMARY).first;
    const int64_t count = ht_grid_own_total(grid, HT_PRIMARY);
    int64_t n[2] = {ht_grid_nodes(grid, HT_PRIMARY, 0), ht_grid_nodes(grid, HT_PRIMARY, 1)};
    TRY(HT_ALLOC(run->coefs, FIELDS * count * COEFS));
    for (int f = 0; f < FIELDS; f++) {
        TRY(HT_ALLOC(run->value[f], count));
        for (int64_t at = 0; at < count; at++) {
            int64_t m3 = first + at / (n[0] * n[1]);
            int64_t m2 = at / n[0] % n[1], m1 = at % n[0];
            run->value[f][at] = value_of(f, 0, m1, m2, m3);
            for (int i = 0; i < COEFS; i++)
                run->coefs[count * (f * COEFS + i) + at] = value_of(f, i, m1, m2, m3);
        }
    }
    return HT_OK;
}

static enum ht_err open_run(struct run *run, struct ht_comm *comm, const char *directory,
                            const struct scene *scene) {
    memset(run, 0, sizeof *run);
    TRY(read_params(directory, scene, run));
    run->eq = ht_equations_make(ht_system_find("acoustic"), 3);
    run->grid = (struct ht_grid){.dims = 3,
                                 .order = ORDER,
                                 .cells = {N1, N2, N3},
                                 .upper = {1.4, 1.0, 2.2},
                                 .h = {1.4 / N1, 1.0 / N2, 2.2 / N3},
                                 .wall = {{0, 0}, {1, 1}, {scene->factor, scene->factor}}};
    cut(comm, &run->grid);
    TRY(ht_medium_read(run->params, &run->eq, &run->grid, &run->medium));
    TRY(ht_medium_scan(run->medium, false));
    TRY(fill(run));
    return ht_output_create(run->params, run->medium, 0, &run->output);
}

static void close_run(struct run *run) {
    ht_output_destroy(run->output);
    for (int f = 0; f < FIELDS; f++) free(run->value[f]);
    free(run->coefs);
    ht_medium_destroy(run->medium);
    ht_params_destroy(run->params);
}

static enum ht_err write_files(struct run *run) {
    const double *const *nodal = (const double *const *)run->value;
    for (int i = 0; i < 2; i++) {
        TRY(ht_output_snapshot(run->output, 0.25 * i, i, nodal, run->coefs));
        TRY(ht_output_picture(run->output, 0.25 * i, nodal));
    }
    REQUIRE(!draws() || run->output->last_picture != NULL, HT_ERR_INTERNAL,
            "the last picture is not known");
    return ht_output_summary(run->output, "{}");
}

static enum ht_err write_all(struct ht_comm *comm, const char *directory) {
    TEST_EACH(scene, scenes) {
        HT_ENDED(close_run) struct run run;
        TRY(open_run(&run, comm, directory, scene));
        TRY(write_files(&run));
    }
    return HT_OK;
}

/* ---- failures ---- */

static enum ht_err write_full(struct ht_comm *comm, const char *directory, int rank) {
    HT_ENDED(close_run) struct run run;
    enum ht_err err = open_run(&run, comm, directory, &scenes[0]);
    if (rank < 0 || rank == ht_comm_rank(comm)) limit_files(FULL);
    if (!err) err = write_files(&run);
    return err;
}

static enum ht_err write_gone(struct ht_comm *comm, const char *directory) {
    HT_ENDED(close_run) struct run run;
    enum ht_err err = open_run(&run, comm, directory, &scenes[0]);
    if (!err && ht_comm_rank(comm) == 0) scratch_remove(scratch_path(directory, scenes[0].plane));
    if (!err) err = write_files(&run);
    return err;
}

/* By mpiexec or not; each rank prints how a failure looks to it. */
static int run_ranks(int argc, char **argv) {
    struct ht_comm *comm = NULL;
    enum ht_err err = ht_comm_start(&comm);
    if (!err && argc > 3)
        err = write_full(comm, argv[1], (int)strtol(argv[3], NULL, 10));
    else if (!err && argc > 2)
        err = write_gone(comm, argv[1]);
    else if (!err)
        err = write_all(comm, argv[1]);
    err = ht_comm_agree(comm, err);
    if (err) printf("%d: %s\n", (int)err, ht_err_message());
    ht_comm_end(comm, err != HT_OK, ht_err_exit_code(err));
    return ht_err_exit_code(err);
}

/* ---- comparison ---- */

static void compare_bytes(const char *a, const char *b, const char *name) {
    HT_FREED char *path = scratch_path(a, name), *other = scratch_path(b, name);
    HT_FREED char *data = NULL, *found = NULL;
    size_t size[2] = {0, 0};
    if (ht_file_read(path, &data, &size[0]) != HT_OK ||
        ht_file_read(other, &found, &size[1]) != HT_OK)
        printf("%s\n", ht_err_message());
    TEST_CHECK(data && found && size[0] == size[1] && memcmp(data, found, size[0]) == 0,
               "%s: %zu bytes are those of a rank alone", other, size[1]);
}

static void compare_fields(const char *a, const char *b, bool periodic) {
    const int64_t row = N1, rows = N2 + 1;
    const int64_t nodes = row * rows * (periodic ? N3 : N3 + 1);
    struct ht_difference difference;
    must(ht_compare(a, b, &difference));
    TEST_BELOW(difference.max_abs, 0.0, "%s: difference of fields", b);
    TEST_EQUAL(difference.values, nodes * FIELDS * (1 + COEFS), "%s: values", b);
}

static void compare(const char *a, const char *b) {
    TEST_EACH(scene, scenes) {
        HT_FREED char *one = scratch_path(a, scene->plane), *in = scratch_path(b, scene->plane);
        const bool fields = strcmp(scene->snapshots, "true") == 0;
        const bool slices = strcmp(scene->plane, "slices") == 0;
        const int drawn = slices ? 4 : 2; /* pictures */
        if (draws() && !slices) compare_bytes(one, in, "wave_0001.png");
        if (draws() && slices) {
            compare_bytes(one, in, "wave_slice-1_0001.png");
            compare_bytes(one, in, "wave_b_0001.png");
        }
        if (fields) {
            compare_fields(one, in, scene->factor == 0);
            compare_bytes(one, in, "fields_000001.h5");
            compare_bytes(one, in, "fields.xdmf");
        }
        TEST_EQUAL(scratch_entries(in), (fields ? 5 : 2) + (draws() ? drawn : 0), "%s: files", in);
    }
}

static void compare_alone(void) {
    char *root = scratch_make("slabs");
    if (!root) return;
    HT_FREED char *a = scratch_path(root, "a"), *b = scratch_path(root, "b");
    must(write_all(NULL, a));
    must(write_all(NULL, b));
    compare(a, b);
    scratch_remove(root);
}

int main(int argc, char **argv) {
    if (argc > 3 && strcmp(argv[1], "compare") == 0)
        compare(argv[2], argv[3]);
    else if (argc > 1)
        return run_ranks(argc, argv);
    else
        compare_alone();
    return test_end("io/slabs");
}
