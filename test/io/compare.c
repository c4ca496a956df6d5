/* A planted difference is found with its size; what cannot be compared is refused in words. */
#include "htwave/h5.h"
#include "htwave/output.h"

#include <sys/stat.h>

#include "../test.h"
#include "scratch.h"

enum { ROWS = 6, COLUMNS = 7, COUNT = ROWS * COLUMNS };

/* p = 1 .. COUNT, q = factor p; plant is added to q at index 5. */
static bool write_scaled(const char *path, double factor, double plant, int rows) {
    double p[COUNT], q[COUNT];
    const int64_t extent[2] = {rows, COLUMNS};
    for (int i = 0; i < COUNT; i++) q[i] = factor * (p[i] = i + 1.0);
    q[5] += plant;
    struct ht_h5 *file;
    return ht_h5_create(path, false, &file) == HT_OK &&
           ht_h5_write(file, "p", 2, extent, p, false) == HT_OK &&
           ht_h5_write(file, "q", 2, extent, q, false) == HT_OK && ht_h5_commit(file) == HT_OK;
}

static bool write_pair(const char *path, double plant, int rows) {
    return write_scaled(path, 100.0, plant, rows);
}

static void test_files(const char *a, const char *b) {
    struct ht_difference d;
    TEST_CHECK(write_pair(a, 0.0, ROWS) && write_pair(b, 0.0, ROWS), "write");
    TEST_CHECK(ht_compare(a, b, &d) == HT_OK && d.max_abs == 0.0 && d.max_rel == 0.0 &&
                   d.l2_rel == 0.0,
               "equal files: %g", d.max_abs);
    TEST_CHECK(d.values == (int64_t)2 * COUNT, "%d values of %d", (int)d.values, 2 * COUNT);

    const double plant = 0.25, largest = 100.0 * COUNT;
    double norm = 600.25 * 600.25 - 600.0 * 600.0; /* that of b is larger */
    for (int i = 1; i <= COUNT; i++) norm += (1e4 + 1.0) * i * i;
    TEST_CHECK(write_pair(b, plant, ROWS), "plant %g", plant);
    TEST_CHECK(ht_compare(a, b, &d) == HT_OK && strcmp(d.dataset, "q") == 0, "found in %s",
               d.dataset);
    TEST_BELOW(fabs(d.max_abs - plant), 0.0, "its size %g, off by", d.max_abs);
    TEST_BELOW(fabs(d.max_rel * largest / plant - 1.0), 1e-14, "relative to the maximum %g, off by",
               d.max_rel);
    TEST_BELOW(fabs(d.l2_rel * sqrt(norm) / plant - 1.0), 1e-14, "relative l2 %g, off by",
               d.l2_rel);
    TEST_CHECK(d.largest == largest, "largest value %g of %g", d.largest, largest);
    TEST_CHECK(write_pair(b, NAN, ROWS), "plant NaN");
    TEST_CHECK(ht_compare(a, b, &d) == HT_OK && isinf(d.max_rel) && isinf(d.max_abs) &&
                   isinf(d.l2_rel),
               "NaN differs by %g", d.max_rel);
}

/* A field that is zero in one file differs by all that it is in the other, in either order; one
 * that is zero in both does not differ. */
static void test_zeros(const char *a, const char *b) {
    const double plant = 1e-9;
    struct ht_difference d, swapped;
    double norm = 0.0;
    for (int i = 1; i <= COUNT; i++) norm += (double)i * i;
    bool ok = write_scaled(a, 0.0, 0.0, ROWS);
    TEST_CHECK(ok && write_scaled(b, 0.0, 0.0, ROWS), "q zero in both");
    TEST_CHECK(ht_compare(a, b, &d) == HT_OK && d.max_rel == 0.0, "differ by %g", d.max_rel);
    TEST_CHECK(write_scaled(b, 0.0, plant, ROWS), "q zero in one but for %g", plant);
    TEST_CHECK(ht_compare(a, b, &d) == HT_OK && strcmp(d.dataset, "q") == 0, "found in %s",
               d.dataset);
    TEST_CHECK(d.max_abs == plant && d.largest == plant && d.max_rel == 1.0,
               "by %g beside values up to %g, relative %g", d.max_abs, d.largest, d.max_rel);
    TEST_BELOW(fabs(d.l2_rel * sqrt(norm) / plant - 1.0), 1e-14, "relative l2 of all %g, off by",
               d.l2_rel);
    TEST_CHECK(ht_compare(b, a, &swapped) == HT_OK && swapped.max_rel == d.max_rel &&
                   swapped.l2_rel == d.l2_rel,
               "the other way round: %g, %g", swapped.max_rel, swapped.l2_rel);
    TEST_CHECK(write_scaled(b, -1.0, 0.0, ROWS) && write_scaled(a, 1.0, 0.0, ROWS),
               "q of opposite signs");
    TEST_CHECK(ht_compare(a, b, &d) == HT_OK && d.max_rel == 2.0, "relative %g, the most there is",
               d.max_rel);
}

static void plant_infinity(const char *a, const char *b, double in_a) {
    struct ht_difference d;
    bool ok = write_pair(a, in_a, ROWS);
    TEST_CHECK(ok && write_pair(b, INFINITY, ROWS), "plant %g and infinity", in_a);
    bool same = isinf(in_a);
    TEST_CHECK(ht_compare(a, b, &d) == HT_OK && (same ? d.max_rel == 0.0 : isinf(d.max_rel)),
               "infinity and %g differ by %g", in_a, d.max_rel);
}

static void test_refusals(const char *a, const char *b, const char *directory) {
    struct ht_difference d;
    TEST_CHECK(write_pair(b, 0.0, ROWS - 1), "fewer rows");
    enum ht_err err = ht_compare(a, b, &d);
    TEST_CHECK(err == HT_ERR_DIFFERENT && strstr(ht_err_message(), "6 x 7") &&
                   strstr(ht_err_message(), "5 x 7"),
               "%s", ht_err_message());
    const double one = 1.0;
    const int64_t extent = 1;
    struct ht_h5 *file;
    bool written = ht_h5_create(b, false, &file) == HT_OK &&
                   ht_h5_write(file, "p", 1, &extent, &one, false) == HT_OK &&
                   ht_h5_commit(file) == HT_OK;
    TEST_CHECK(written, "only p");
    TEST_CHECK(ht_compare(a, b, &d) == HT_ERR_DIFFERENT, "%s", ht_err_message());
    TEST_CHECK(ht_compare(b, a, &d) == HT_ERR_DIFFERENT, "%s", ht_err_message());
    char *path = scratch_path(directory, "absent.h5");
    TEST_CHECK(ht_compare(a, path, &d) == HT_ERR_IO, "%s", ht_err_message());
    free(path);
    TEST_CHECK(ht_compare(a, directory, &d) == HT_ERR_IO, "%s", ht_err_message());
}

/* Directories stand for their last snapshot; seven digits beat six. */
static void test_directories(const char *directory) {
    struct ht_difference d;
    HT_FREED char *one = scratch_path(directory, "one");
    HT_FREED char *two = scratch_path(directory, "two");
    bool ok = mkdir(one, 0777) == 0 && mkdir(two, 0777) == 0;
    const char *const name[3] = {"fields_000000.h5", "fields_999999.h5", "fields_1000000.h5"};
    for (int i = 0; i < 3; i++) {
        HT_FREED char *a = scratch_path(one, name[i]), *b = scratch_path(two, name[i]);
        ok = ok && write_pair(a, 0.0, ROWS) && write_pair(b, i + 1.0, ROWS);
    }
    TEST_CHECK(ok, "two directories of three snapshots");
    TEST_CHECK(ht_compare(one, two, &d) == HT_OK && d.max_abs == 3.0, "the last ones differ by %g",
               d.max_abs);
}

int main(void) {
    char *directory = scratch_make("compare");
    if (!directory) return 1;
    char *a = scratch_path(directory, "a.h5");
    char *b = scratch_path(directory, "b.h5");
    test_files(a, b);
    test_zeros(a, b);
    plant_infinity(a, b, 0.0);
    plant_infinity(a, b, INFINITY);
    test_refusals(a, b, directory);
    test_directories(directory);
    free(a);
    free(b);
    scratch_remove(directory);
    return test_end("io/compare");
}
