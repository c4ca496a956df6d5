/* The files of a run: snapshots with their attributes, the XDMF list, pictures, what an earlier run
 * left, refusals.
 *
 * With a directory and a precision as its arguments the program only writes a run there, for
 * readback.sh: value_of() is written down there as well. */
#include "src/io/files.h"

#include <hdf5.h>
#include <sys/stat.h>

#include "damage.h"
#include "htwave/h5.h"
#include "planned.h"
#include "redirect.h"
#include "scratch.h"

enum { FIELDS = 4, ORDER = 1, N1 = 4, N2 = 4, N3 = 3, NODES = N1 * N2 * N3 };
enum { COEFS = 8 };

/* Exact in float32; no two equal. */
static double value_of(int snapshot, int field, int node) {
    return 1000.0 * snapshot + 100.0 * field + node + 0.5;
}

struct run {
    struct planned of;
    struct ht_output *output;
    double value[FIELDS][NODES], coefs[FIELDS * COEFS * NODES];
};

/* Cells 4 x 3 x 2, periodic along x1, walls along x2 and x3, free on top. */
static enum ht_err open_run(struct run *run, const char *directory, const char *more) {
    memset(run, 0, sizeof *run);
    TRY(plan_make(&run->of, '|',
                  "output.directory=\"%s\"|system=\"acoustic\"|grid.cells=[4,3,2]|"
                  "grid.upper=[1.0,1.5,2.0]|grid.order=1|time.scheme=\"taylor\"|"
                  "initial.type=\"zero\"|boundary.x2=[\"rigid\",\"rigid\"]|"
                  "boundary.x3=[\"free\",\"rigid\"]|%s",
                  directory, more));
    return ht_output_create(run->of.params, run->of.plan->medium, 0, &run->output);
}

static void close_run(struct run *run) {
    ht_output_destroy(run->output);
    planned_end(&run->of);
}

/* Coefficient i of a node is its value plus 10000 i. */
static enum ht_err snapshot(struct run *run, int index) {
    const double *const nodal[] = {run->value[0], run->value[1], run->value[2], run->value[3]};
    for (int f = 0; f < FIELDS; f++)
        for (int n = 0; n < NODES; n++) {
            run->value[f][n] = value_of(index, f, n);
            for (int i = 0; i < COEFS; i++)
                run->coefs[(f * COEFS + i) * NODES + n] = value_of(index, f, n) + 10000.0 * i;
        }
    const struct ht_pair pair = {.group = {1 << 3}, .parity = {[3] = 1 << 1}}; /* v3 alone */
    ht_output_stagger(run->output, &pair, 0.02);
    TRY(ht_output_snapshot(run->output, 0.25 * index, (int64_t)10 * index, nodal, run->coefs));
    return ht_output_picture(run->output, 0.25 * index, nodal);
}

/* Largest deviation of a dataset of snapshot 1 from what was written; -1 when it cannot be read. */
static double deviation(struct ht_h5 *file, const char *name, int field, int coefs) {
    double back[COEFS * NODES], most = 0.0;
    if (ht_h5_read(file, name, (int64_t)coefs * NODES, back) != HT_OK) return -1.0;
    for (int i = 0; i < coefs; i++)
        for (int n = 0; n < NODES; n++)
            most = fmax(most, fabs(back[i * NODES + n] - value_of(1, field, n) - 10000.0 * i));
    return most;
}

static void check_snapshot(const char *path) {
    static const struct {
        const char *name;
        int field, coefs;
    } set[] = {{"p", 0, 1}, {"v3", 3, 1}, {"v3_coefficients", 3, COEFS}};
    struct ht_h5 *file;
    int rank = 0;
    int64_t e[8] = {0};
    must(ht_h5_open(path, &file));
    must(ht_h5_extent(file, "p", &rank, e));
    TEST_CHECK(rank == 3 && e[0] == N3 && e[1] == N2 && e[2] == N1, "p is %d x %d x %d", (int)e[0],
               (int)e[1], (int)e[2]);
    must(ht_h5_extent(file, "v3_coefficients", &rank, e));
    TEST_CHECK(rank == 4 && e[0] == COEFS && e[3] == N1, "v3_coefficients is %d x %d x %d x %d",
               (int)e[0], (int)e[1], (int)e[2], (int)e[3]);
    TEST_EACH(s, set)
        TEST_EQUAL(deviation(file, s->name, s->field, s->coefs), 0, "%s deviates by", s->name);
    TEST_CHECK(ht_h5_extent(file, "v1", &rank, e) == HT_ERR_IO, "v1 was not asked for");
    double time = 0, step = 0, order = 0, cells[3] = {0}, h[3] = {0};
    must(ht_h5_get_number(file, "time", 1, &time));
    must(ht_h5_get_number(file, "step", 1, &step));
    must(ht_h5_get_number(file, "order", 1, &order));
    must(ht_h5_get_number(file, "cells", 3, cells));
    must(ht_h5_get_number(file, "spacing", 3, h));
    TEST_CHECK(time == 0.25 && step == 10 && order == ORDER && cells[2] == 2 && h[1] == 0.5,
               "time %g, step %g, order %g, cells[2] %g, spacing[1] %g", time, step, order,
               cells[2], h[1]);
    double offset[3] = {-1, -1, -1}, at[2] = {0, 0};
    must(ht_h5_get_number(file, "offset_v3", 3, offset));
    must(ht_h5_get_number(file, "time_v3", 1, &at[0]));
    must(ht_h5_get_number(file, "time_p", 1, &at[1]));
    TEST_CHECK(offset[0] == 0 && offset[1] == 0.25 && offset[2] == 0 && at[0] == 0.24 &&
                   at[1] == 0.25,
               "v3 is half a spacing up x2, %g, at time %g", offset[1], at[0]);
    ht_h5_close(file);
}

/* Bytes that are others: what is read of the file is what was written, or it is refused. */
static void check_damage(const char *path) {
    static const struct {
        const char *name;
        int field, coefs;
    } set[] = {
        {"p", 0, 1}, {"v3", 3, 1}, {"p_coefficients", 0, COEFS}, {"v3_coefficients", 3, COEFS}};
    HT_FREED char *data = NULL;
    size_t size = 0;
    int refused = 0, wrong = 0, tried = 0;
    must(ht_file_read(path, &data, &size));
    for (size_t at = 0; at < size; at += 7, tried++) {
        struct ht_h5 *file = NULL;
        double most = 0;
        data[at] ^= (char)(1 << at % 8);
        must(ht_file_write(path, data, size));
        if (ht_h5_open(path, &file) != HT_OK) most = -1;
        for (int i = 0; i < 4 && most == 0; i++)
            most = deviation(file, set[i].name, set[i].field, set[i].coefs);
        ht_h5_close(file);
        refused += most < 0;
        wrong += most > 0;
        data[at] ^= (char)(1 << at % 8);
    }
    must(ht_file_write(path, data, size));
    TEST_CHECK(wrong == 0 && 2 * refused > tried,
               "of %d damaged files %d are refused, %d are wrong", tried, refused, wrong);
}

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word)) count++;
    return count;
}

static void check_xdmf(const char *path) {
    HT_FREED char *text = NULL;
    size_t size;
    must(ht_file_read(path, &text, &size));
    /* A snapshot is a collection of two grids, of p and v3, which are staggered. */
    TEST_CHECK(count_of(text, "<Time ") == 9 && count_of(text, "fields_000002.h5:/v3<") == 1,
               "it lists %d times of 3 snapshots of 2 grids", count_of(text, "<Time "));
    TEST_CHECK(count_of(text, "\"3 4 4\"") == 12, "%d dimensions of 12 are 3 4 4",
               count_of(text, "\"3 4 4\""));
    TEST_CHECK(count_of(text, ">1 0.5 0.25<") == 6, "spacing in the order x3 x2 x1: %d of 6",
               count_of(text, ">1 0.5 0.25<"));
}

static void write_run(const char *directory, int snapshots, const char *precision) {
    HT_ENDED(close_run) struct run run;
    must(open_run(
        &run, directory,
        ht_text_format((char[192]){0}, 192,
                       "output.fields=[\"p\",\"v3\"]|%s|output.coefficients=true|"
                       "output.checksums=true|device.precision=%s",
                       ht_picture_cairo() ? "output.picture.plane=\"x1\"" : "output.pictures=false",
                       precision)));
    for (int i = 0; i < snapshots; i++) must(snapshot(&run, i));
    must(ht_output_summary(run.output, "{}"));
}

static bool has(const char *directory, const char *name) {
    HT_FREED char *path = scratch_path(directory, name);
    return ht_file_exists(path);
}

static void test_run(const char *root) {
    const bool drawn = ht_picture_cairo() != NULL;
    const int three = drawn ? 9 : 6, one = drawn ? 7 : 6; /* files */
    HT_FREED char *directory = scratch_path(root, "deep/run"),
                  *second = scratch_path(directory, "fields_000001.h5"),
                  *list = scratch_path(directory, "fields.xdmf"),
                  *before = scratch_path(directory, "run-001");
    write_run(directory, 3, "single");
    TEST_CHECK(has(directory, "input.cfg") && has(directory, "summary.json") &&
                   has(directory, "wave_0002.png") == drawn,
               "input, summary and picture are there");
    TEST_EQUAL(scratch_entries(directory), three, "files");
    check_snapshot(second);
    check_damage(second);
    check_xdmf(list);
    must(ht_file_write_in(directory, "fields_mine.h5", "", 0));
    write_run(directory, 1, "single");
    TEST_CHECK(!has(directory, "fields_000001.h5") && !has(directory, "wave_0001.png") &&
                   has(directory, "fields_000000.h5") && has(directory, "fields_mine.h5") &&
                   scratch_entries(directory) == one,
               "a longer run's files are elsewhere, the user's is not: %d of %d",
               scratch_entries(directory), one);
    TEST_CHECK(scratch_entries(before) == three && has(before, "fields_000002.h5"),
               "in run-001 are %d of %d", scratch_entries(before), three);
    TEST_CHECK(!has(directory, ".htwave.lock"), "no lock is left");
}

/* Bytes of a value of p in the file, by HDF5 itself. */
static int stored_bytes(const char *path) {
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = file < 0 ? -1 : H5Dopen2(file, "p", H5P_DEFAULT);
    hid_t type = set < 0 ? -1 : H5Dget_type(set);
    int bytes = type < 0 ? -1 : (int)H5Tget_size(type);
    if (type >= 0) H5Tclose(type);
    if (set >= 0) H5Dclose(set);
    if (file >= 0) H5Fclose(file);
    return bytes;
}

/* The XDMF file tells the size that the datasets have. */
static void test_precision(const char *root) {
    static const char *const names[] = {"single", "double"};
    for (int i = 0; i < 2; i++) {
        HT_FREED char *directory = scratch_path(root, names[i]), *text = NULL;
        char mark[64];
        size_t size;
        write_run(directory, 1, names[i]);
        HT_FREED char *path = scratch_path(directory, "fields_000000.h5");
        HT_FREED char *list = scratch_path(directory, "fields.xdmf");
        const int bytes = stored_bytes(path);
        must(ht_file_read(list, &text, &size));
        snprintf(mark, sizeof mark, "Precision=\"%d\" Dimensions=\"3 4 4\"", bytes);
        TEST_CHECK(bytes == (i ? 8 : 4) && count_of(text, mark) == 2,
                   "%s: %d bytes in HDF5, %d times in XDMF of 2", names[i], bytes,
                   count_of(text, mark));
    }
}

static void refuse(const char *directory, const char *key, enum ht_err expected, const char *part) {
    HT_ENDED(close_run) struct run run;
    TEST_ERROR(open_run(&run, directory, key), expected, part, "refused");
}

static void test_refusals(const char *root) {
    HT_FREED char *directory = scratch_path(root, "refused");
    refuse(directory, "output.fields=[\"rho\"]", HT_ERR_INPUT, "p, v1, v2, v3");
    refuse(directory, "output.picture.field=\"q\"", HT_ERR_INPUT, "output.picture.field");
    refuse(directory, "output.picture.background=\"z\"", HT_ERR_INPUT, "output.picture.background");
    TEST_CHECK(!ht_file_exists(directory), "nothing was made for them");
    TEST_CHECK(ht_file_write(directory, "", 0) == HT_OK, "a file in the way");
    refuse(directory, "grid.order=1", HT_ERR_INPUT, "output.directory");
}

static void test_disk_full(const char *root) {
    HT_FREED char *directory = scratch_path(root, "full");
    HT_ENDED(close_run) struct run run;
    must(open_run(&run, directory, ""));
    limit_files(2000);
    const enum ht_err err = snapshot(&run, 0);
    limit_files(RLIM_INFINITY);
    TEST_CHECK(err == HT_ERR_IO, "disk full: %s", ht_err_message());
    TEST_CHECK(scratch_entries(directory) == 2 && has(directory, "input.cfg"),
               "only input.cfg and the lock: %d files", scratch_entries(directory));
    TEST_CHECK(run.output && run.output->count == 0, "no list is claimed");
}

int main(int argc, char **argv) {
    if (argc > 1) {
        write_run(argv[1], 3, argc > 2 ? argv[2] : "single");
        return 0;
    }
    char *root = scratch_make("output");
    if (!root) return 1;
    test_run(root);
    test_precision(root);
    test_refusals(root);
    test_disk_full(root);
    scratch_remove(root);
    return test_end("io/output");
}
