/* HDF5 files: round trip, atomic commit, discard, refusals, disk full. */
#include "htwave/h5.h"

#include <sys/stat.h>
#include <unistd.h>

#include "redirect.h"
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

static void fill(struct ht_h5 *file, const double *data) {
    const int64_t extent[3] = {N3, N2, N1};
    const double spacing[3] = {0.25, 0.5, 1.0 / 3};
    must(ht_h5_write(file, "p", 3, extent, data, false));
    must(ht_h5_write(file, "deep/down/q", 3, extent, data, true));
    must(ht_h5_set_number(file, "spacing", 3, spacing));
    must(ht_h5_set_number(file, "spacing", 3, spacing)); /* replaces */
    must(ht_h5_set_text(file, "system", "acoustic"));
}

/* The largest difference of a dataset, relative or not. */
static double worst(struct ht_h5 *file, const char *name, const double *b, bool relative) {
    double a[COUNT], most = 0;
    must(ht_h5_read(file, name, COUNT, a));
    for (int i = 0; i < COUNT; i++)
        most = test_worse(most, fabs(a[i] - b[i]) / (relative ? fabs(b[i]) : 1.0));
    return most;
}

static void test_roundtrip(const char *path) {
    double data[COUNT], spacing[3] = {0};
    int rank = 0, sets = 0;
    int64_t extent[8] = {0};
    struct ht_h5 *file = NULL;
    for (int i = 0; i < COUNT; i++) data[i] = value(i + 1);
    must(ht_h5_create(path, false, &file));
    fill(file, data);
    TEST_CHECK(!ht_file_exists(path), "nothing under the name before commit");
    must(ht_h5_commit(file));
    must(ht_h5_open(path, &file));
    must(ht_h5_extent(file, "p", &rank, extent));
    TEST_CHECK(rank == 3 && extent[0] == N3 && extent[1] == N2 && extent[2] == N1,
               "extent %d: %d x %d x %d", rank, (int)extent[0], (int)extent[1], (int)extent[2]);
    TEST_BELOW(worst(file, "p", data, false), 0.0, "float64 comes back bit for bit, difference");
    TEST_BELOW(worst(file, "deep/down/q", data, true), 0.5 * FLT_EPSILON,
               "float32 comes back within half an ulp, relative difference");
    must(ht_h5_get_number(file, "spacing", 3, spacing));
    TEST_EQUAL(spacing[2], 1.0 / 3, "attribute");
    must(ht_h5_each(file, count_sets, &sets));
    TEST_EQUAL(sets, 2, "datasets that are visited");
    sets = 0;
    TEST_ERROR(ht_h5_each(file, stop_at_once, &sets), HT_ERR_DIFFERENT, "", "a visitor's error");
    TEST_EQUAL(sets, 1, "stops after");
    ht_h5_close(file);
}

/* Uneven parts along the slowest and the second axis come back as one. */
static void test_planes(const char *directory) {
    const int64_t extent[3] = {N3, N2, N1}, start[4] = {0, 1, 3, N2};
    double data[COUNT], part[COUNT];
    HT_FREED char *path = scratch_path(directory, "planes.h5");
    struct ht_h5 *file = NULL;
    for (int i = 0; i < COUNT; i++) data[i] = value(i + 1);
    must(ht_h5_create(path, false, &file));
    must(ht_h5_reserve(file, "slow", 3, extent, false, false));
    must(ht_h5_reserve(file, "second", 3, extent, false, false));
    for (int64_t k = N3 - 1; k >= 0; k--)
        must(ht_h5_write_planes(file, "slow", 0, k, k + 1, data + k * N2 * N1));
    for (int k = 0; k < 3; k++) {
        const int64_t run = (start[k + 1] - start[k]) * N1;
        for (int64_t i = 0; i < N3; i++)
            memcpy(part + i * run, data + (i * N2 + start[k]) * N1, (size_t)run * sizeof *part);
        must(ht_h5_write_planes(file, "second", 1, start[k], start[k + 1], part));
    }
    TEST_ERROR(ht_h5_write_planes(file, "slow", 0, 1, N3 + 1, data), HT_ERR_IO, "",
               "beyond the end");
    must(ht_h5_commit(file));
    must(ht_h5_open(path, &file));
    TEST_BELOW(worst(file, "slow", data, false), 0.0, "parts of the slowest axis, difference");
    TEST_BELOW(worst(file, "second", data, false), 0.0, "parts of the second axis, difference");
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
    must(ht_h5_create(path, false, &file));
    must(ht_h5_reserve(file, "a/b", 2, extent, true, true));
    for (int first = 0; first < COLUMNS; first += STEP) {
        for (int i = 0; i < ROWS * STEP; i++) {
            const int row = i / STEP, column = first + i % STEP;
            part[i] = 1000 * row + column;
        }
        must(ht_h5_write_planes(file, "a/b", 1, first, first + STEP, part));
    }
    must(ht_h5_read_planes(file, "a/b", 1, FIRST, LAST, back));
    for (int i = 0; i < ROWS * (LAST - FIRST); i++) {
        const int row = i / (LAST - FIRST), column = FIRST + i % (LAST - FIRST);
        wrong += back[i] != 1000 * row + column;
    }
    TEST_EQUAL(wrong, 0, "columns %d to %d: values wrong", FIRST, LAST);
    TEST_ERROR(ht_h5_read_planes(file, "a/b", 1, LAST, COLUMNS + 1, back), HT_ERR_IO, "",
               "beyond the columns");
    ht_h5_close(file);
}

static void test_refusals(const char *path, const char *directory) {
    HT_FREED char *text = scratch_path(directory, "text.h5"),
                  *absent = scratch_path(directory, "absent.h5"),
                  *nowhere = scratch_path(directory, "absent/x.h5");
    struct ht_h5 *file = NULL;
    double back[COUNT];
    must(ht_h5_open(path, &file));
    TEST_ERROR(ht_h5_read(file, "nothing", COUNT, back), HT_ERR_IO, "", "missing dataset");
    TEST_ERROR(ht_h5_read(file, "p", COUNT - 1, back), HT_ERR_IO, "", "wrong count");
    TEST_ERROR(ht_h5_get_number(file, "spacing", 2, back), HT_ERR_IO, "", "wrong attribute");
    ht_h5_close(file);
    ht_h5_close(NULL);
    file = NULL;
    must(ht_file_write(text, "no HDF5", 7));
    TEST_CHECK(ht_h5_open(text, &file) == HT_ERR_IO && !file, "text: %s", ht_err_message());
    TEST_CHECK(ht_h5_open(absent, &file) == HT_ERR_IO && !file, "absent: %s", ht_err_message());
    TEST_CHECK(ht_h5_create(nowhere, false, &file) == HT_ERR_IO && !file, "no directory: %s",
               ht_err_message());
}

static void test_discard(const char *path, const char *directory) {
    struct ht_h5 *file = NULL;
    double data[COUNT] = {0}, back[COUNT] = {0};
    const int before = scratch_entries(directory);
    must(ht_h5_create(path, false, &file));
    fill(file, data);
    TEST_EQUAL(scratch_entries(directory), before + 1, "with one temporary file, files");
    ht_h5_close(file);
    ht_h5_close(NULL);
    TEST_EQUAL(scratch_entries(directory), before, "discard leaves none, files");
    must(ht_h5_open(path, &file));
    must(ht_h5_read(file, "p", COUNT, back));
    TEST_EQUAL(back[0], value(1), "the old file is as it was");
    ht_h5_close(file);
}

/* A limit on file sizes stands for the full disk, at three places: inside the superblock, inside
 * the metadata, inside the values. */
static void test_disk_full(const char *directory) {
    enum { MANY = 100000 };
    static const rlim_t limits[] = {50, 1000, 300000};
    const int64_t extent = MANY;
    HT_FREED char *path = scratch_path(directory, "full.h5");
    HT_FREED double *data = calloc(MANY, sizeof *data);
    for (int i = 0; data && i < 3; i++) {
        struct ht_h5 *file = NULL;
        int before = scratch_entries(directory);
        limit_files(limits[i]);
        enum ht_err err = ht_h5_create(path, false, &file);
        if (!err) {
            err = ht_h5_write(file, "p", 1, &extent, data, false);
            if (err)
                ht_h5_close(file);
            else
                err = ht_h5_commit(file);
        }
        limit_files(RLIM_INFINITY);
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
