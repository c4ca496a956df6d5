/* HDF5 files: round trip, atomic commit, discard, refusals, disk full. */
#include "htwave/h5.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../test.h"
#include "scratch.h"

enum { N3 = 3, N2 = 4, N1 = 5, COUNT = N3 * N2 * N1 };

static double value(int i) {
    return sin(0.7 * i) * pow(10.0, i % 7 - 3);
}

static enum ht_err count_sets(const char *name, void *context) {
    (void)name;
    ++*(int *)context;
    return HT_OK;
}

static enum ht_err stop_at_once(const char *name, void *context) {
    ++*(int *)context;
    return ht_err_set(HT_ERR_DIFFERENT, "stopped at %s", name);
}

static enum ht_err fill(struct ht_h5 *file, const double *data) {
    const int64_t extent[3] = {N3, N2, N1};
    const double spacing[3] = {0.25, 0.5, 1.0 / 3};
    TRY(ht_h5_write(file, "p", 3, extent, data, false));
    TRY(ht_h5_write(file, "deep/down/q", 3, extent, data, true));
    TRY(ht_h5_set_number(file, "spacing", 3, spacing));
    TRY(ht_h5_set_number(file, "spacing", 3, spacing)); /* replaces */
    return ht_h5_set_text(file, "system", "acoustic");
}

static double worst(const double *a, const double *b, bool relative) {
    double most = 0;
    for (int i = 0; i < COUNT; i++)
        most = fmax(most, fabs(a[i] - b[i]) / (relative ? fabs(b[i]) : 1.0));
    return most;
}

static void test_roundtrip(const char *path) {
    double data[COUNT], back[COUNT];
    for (int i = 0; i < COUNT; i++) data[i] = value(i + 1);
    struct ht_h5 *file = NULL;
    TEST_CHECK(ht_h5_create(path, false, &file) == HT_OK, "create");
    TEST_CHECK(fill(file, data) == HT_OK, "write datasets and attributes");
    TEST_CHECK(!ht_file_exists(path), "nothing under the name before commit");
    TEST_CHECK(ht_h5_commit(file) == HT_OK, "commit");

    int rank = 0, sets = 0;
    int64_t extent[8] = {0};
    TEST_CHECK(ht_h5_open(path, &file) == HT_OK, "open");
    enum ht_err err = ht_h5_extent(file, "p", &rank, extent);
    TEST_CHECK(!err && rank == 3 && extent[0] == N3 && extent[1] == N2 && extent[2] == N1,
               "extent %d: %d x %d x %d", rank, (int)extent[0], (int)extent[1], (int)extent[2]);
    err = ht_h5_read(file, "p", COUNT, back);
    TEST_BELOW(err ? 1.0 : worst(back, data, false), 0.0,
               "float64 comes back bit for bit, difference");
    err = ht_h5_read(file, "deep/down/q", COUNT, back);
    TEST_BELOW(err ? 1.0 : worst(back, data, true), 0.5 * FLT_EPSILON,
               "float32 comes back within half an ulp, relative difference");
    double spacing[3] = {0};
    err = ht_h5_get_number(file, "spacing", 3, spacing);
    TEST_CHECK(!err && spacing[2] == 1.0 / 3, "attribute %.17g", spacing[2]);
    err = ht_h5_each(file, count_sets, &sets);
    TEST_CHECK(!err && sets == 2, "visits %d datasets of 2", sets);
    sets = 0;
    err = ht_h5_each(file, stop_at_once, &sets);
    TEST_CHECK(err == HT_ERR_DIFFERENT && sets == 1, "a visitor's error stops after %d", sets);
    ht_h5_close(file);
}

/* Uneven parts along the slowest and the second axis come back as one. */
static void test_planes(const char *directory) {
    const int64_t extent[3] = {N3, N2, N1}, start[4] = {0, 1, 3, N2};
    double data[COUNT], part[COUNT], back[COUNT] = {0};
    HT_FREED char *path = scratch_path(directory, "planes.h5");
    struct ht_h5 *file = NULL;
    for (int i = 0; i < COUNT; i++) data[i] = value(i + 1);
    enum ht_err err = ht_h5_create(path, false, &file);
    if (!err) err = ht_h5_reserve(file, "slow", 3, extent, false, false);
    if (!err) err = ht_h5_reserve(file, "second", 3, extent, false, false);
    for (int64_t k = N3 - 1; !err && k >= 0; k--)
        err = ht_h5_write_planes(file, "slow", 0, k, k + 1, data + k * N2 * N1);
    for (int k = 0; !err && k < 3; k++) {
        int64_t run = (start[k + 1] - start[k]) * N1;
        for (int64_t i = 0; i < N3; i++)
            memcpy(part + i * run, data + (i * N2 + start[k]) * N1, (size_t)run * sizeof *part);
        err = ht_h5_write_planes(file, "second", 1, start[k], start[k + 1], part);
    }
    TEST_CHECK(!err, "planes one by one %s", test_said(err));
    TEST_CHECK(ht_h5_write_planes(file, "slow", 0, 1, N3 + 1, data) == HT_ERR_IO,
               "beyond the end: %s", ht_err_message());
    TEST_CHECK(ht_h5_commit(file) == HT_OK && ht_h5_open(path, &file) == HT_OK, "commit and open");
    err = ht_h5_read(file, "slow", COUNT, back);
    TEST_BELOW(err ? 1.0 : worst(back, data, false), 0.0, "parts of the slowest axis, difference");
    err = ht_h5_read(file, "second", COUNT, back);
    TEST_BELOW(err ? 1.0 : worst(back, data, false), 0.0, "parts of the second axis, difference");
    ht_h5_close(file);
}

/* Columns in turn, more than a chunk's; some of them are read. */
static void test_chunks(const char *directory) {
    enum { ROWS = 3, COLUMNS = 300, FIRST = 50, LAST = 251, STEP = 60 };
    const int64_t extent[2] = {ROWS, COLUMNS};
    double part[ROWS * STEP], back[ROWS * (LAST - FIRST)];
    HT_FREED char *path = scratch_path(directory, "chunks.h5");
    struct ht_h5 *file = NULL;
    int wrong = 0;
    enum ht_err err = ht_h5_create(path, false, &file);
    if (!err) err = ht_h5_reserve(file, "a/b", 2, extent, true, true);
    for (int first = 0; !err && first < COLUMNS; first += STEP) {
        for (int i = 0; i < ROWS * STEP; i++) {
            const int row = i / STEP, column = first + i % STEP;
            part[i] = 1000 * row + column;
        }
        err = ht_h5_write_planes(file, "a/b", 1, first, first + STEP, part);
    }
    if (!err) err = ht_h5_read_planes(file, "a/b", 1, FIRST, LAST, back);
    for (int i = 0; !err && i < ROWS * (LAST - FIRST); i++) {
        const int row = i / (LAST - FIRST), column = FIRST + i % (LAST - FIRST);
        wrong += back[i] != 1000 * row + column;
    }
    TEST_CHECK(!err && wrong == 0, "columns %d to %d: %d of %d values wrong%s", FIRST, LAST, wrong,
               ROWS * (LAST - FIRST), test_said(err));
    TEST_CHECK(ht_h5_read_planes(file, "a/b", 1, LAST, COLUMNS + 1, back) == HT_ERR_IO, "%s",
               ht_err_message());
    if (file) ht_h5_discard(file);
}

static void test_refusals(const char *path, const char *directory) {
    struct ht_h5 *file = NULL;
    double back[COUNT];
    TEST_CHECK(ht_h5_open(path, &file) == HT_OK, "open again");
    TEST_CHECK(ht_h5_read(file, "nothing", COUNT, back) == HT_ERR_IO, "missing dataset: %s",
               ht_err_message());
    TEST_CHECK(ht_h5_read(file, "p", COUNT - 1, back) == HT_ERR_IO, "wrong count: %s",
               ht_err_message());
    TEST_CHECK(ht_h5_get_number(file, "spacing", 2, back) == HT_ERR_IO, "wrong attribute: %s",
               ht_err_message());
    ht_h5_close(file);
    ht_h5_close(NULL);

    HT_FREED char *name = scratch_path(directory, "text.h5");
    TEST_CHECK(ht_file_write(name, "no HDF5", 7) == HT_OK, "a text file");
    TEST_CHECK(ht_h5_open(name, &file) == HT_ERR_IO && !file, "text: %s", ht_err_message());
    free(name);
    name = scratch_path(directory, "absent.h5");
    TEST_CHECK(ht_h5_open(name, &file) == HT_ERR_IO && !file, "absent: %s", ht_err_message());
    free(name);
    name = scratch_path(directory, "absent/x.h5");
    TEST_CHECK(ht_h5_create(name, false, &file) == HT_ERR_IO && !file, "no directory: %s",
               ht_err_message());
}

static void test_discard(const char *path, const char *directory) {
    struct ht_h5 *file = NULL;
    double data[COUNT] = {0}, back[COUNT] = {0};
    int before = scratch_entries(directory);
    TEST_CHECK(ht_h5_create(path, false, &file) == HT_OK, "create over a file");
    TEST_CHECK(fill(file, data) == HT_OK, "write zeros");
    TEST_CHECK(scratch_entries(directory) == before + 1, "one temporary file");
    ht_h5_discard(file);
    ht_h5_discard(NULL);
    TEST_CHECK(scratch_entries(directory) == before, "discard leaves none");
    TEST_CHECK(ht_h5_open(path, &file) == HT_OK && ht_h5_read(file, "p", COUNT, back) == HT_OK &&
                   back[0] == value(1),
               "the old file is as it was: %.17g", back[0]);
    ht_h5_close(file);
}

/* A limit on file sizes stands for the full disk, at three places: inside the superblock, inside
 * the metadata, inside the values. */
static void test_disk_full(const char *directory) {
    enum { MANY = 100000 };
    const rlim_t limits[] = {50, 1000, 300000};
    const int64_t extent = MANY;
    HT_FREED char *path = scratch_path(directory, "full.h5");
    HT_FREED double *data = calloc(MANY, sizeof *data);
    struct rlimit old;
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; data && i < 3; i++) {
        struct ht_h5 *file = NULL;
        int before = scratch_entries(directory);
        struct rlimit limit = {limits[i], old.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
        enum ht_err err = ht_h5_create(path, false, &file);
        if (!err) {
            err = ht_h5_write(file, "p", 1, &extent, data, false);
            if (err)
                ht_h5_discard(file);
            else
                err = ht_h5_commit(file);
        }
        setrlimit(RLIMIT_FSIZE, &old);
        TEST_CHECK(err == HT_ERR_IO, "disk full after %d bytes: %s", (int)limits[i],
                   ht_err_message());
        TEST_CHECK(!ht_file_exists(path) && scratch_entries(directory) == before,
                   "nothing is left behind");
    }
}

int main(void) {
    char *directory = scratch_make("h5");
    if (!directory) return 1;
    char *path = scratch_path(directory, "a.h5");
    test_roundtrip(path);
    test_refusals(path, directory);
    test_discard(path, directory);
    test_planes(directory);
    test_chunks(directory);
    test_disk_full(directory);
    free(path);
    scratch_remove(directory);
    return test_end("io/h5");
}
