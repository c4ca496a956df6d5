/* A planted difference is found with its size; what cannot be compared is refused in words. */
#include "htwave/h5.h"
#include "htwave/output.h"

#include <sys/stat.h>

#include "must.h"
#include "scratch.h"

enum { ROWS = 6, COLUMNS = 7, COUNT = ROWS * COLUMNS };

/* p = 1 .. COUNT, q = factor p; plant is added to q at index 5. */
static void write_scaled(const char *path, double factor, double plant, int rows) {
    double p[COUNT], q[COUNT];
    const int64_t extent[2] = {rows, COLUMNS};
    for (int i = 0; i < COUNT; i++) q[i] = factor * (p[i] = i + 1.0);
    q[5] += plant;
    struct ht_h5 *file;
    must(ht_h5_create(path, false, &file));
    must(ht_h5_write(file, "p", 2, extent, p, false));
    must(ht_h5_write(file, "q", 2, extent, q, false));
    must(ht_h5_commit(file));
}

static void write_pair(const char *path, double plant, int rows) {
    write_scaled(path, 100.0, plant, rows);
}

static struct ht_difference compared(const char *a, const char *b) {
    struct ht_difference d;
    must(ht_compare(a, b, &d));
    return d;
}

static void test_files(const char *a, const char *b) {
    const double plant = 0.25, largest = 100.0 * COUNT;
    double norm = 600.25 * 600.25 - 600.0 * 600.0; /* that of b is larger */
    for (int i = 1; i <= COUNT; i++) norm += (1e4 + 1.0) * i * i;
    write_pair(a, 0.0, ROWS);
    write_pair(b, 0.0, ROWS);
    struct ht_difference d = compared(a, b);
    TEST_CHECK(d.max_abs == 0.0 && d.max_rel == 0.0 && d.l2_rel == 0.0, "equal files: %g",
               d.max_abs);
    TEST_EQUAL(d.values, 2 * COUNT, "values");
    write_pair(b, plant, ROWS);
    d = compared(a, b);
    TEST_CHECK(strcmp(d.dataset, "q") == 0, "planted %g is found in %s", plant, d.dataset);
    TEST_BELOW(fabs(d.max_abs - plant), 0.0, "its size %g, off by", d.max_abs);
    TEST_BELOW(fabs(d.max_rel * largest / plant - 1.0), 1e-14, "relative to the maximum %g, off by",
               d.max_rel);
    TEST_BELOW(fabs(d.l2_rel * sqrt(norm) / plant - 1.0), 1e-14, "relative l2 %g, off by",
               d.l2_rel);
    TEST_EQUAL(d.largest, largest, "largest value");
    write_pair(b, NAN, ROWS);
    d = compared(a, b);
    TEST_CHECK(isinf(d.max_rel) && isinf(d.max_abs) && isinf(d.l2_rel), "NaN differs by %g",
               d.max_rel);
}

/* A field that is zero in one file differs by all that it is in the other, in either order; one
 * that is zero in both does not differ. */
static void test_zeros(const char *a, const char *b) {
    const double plant = 1e-9;
    double norm = 0.0;
    for (int i = 1; i <= COUNT; i++) norm += (double)i * i;
    write_scaled(a, 0.0, 0.0, ROWS);
    write_scaled(b, 0.0, 0.0, ROWS);
    TEST_EQUAL(compared(a, b).max_rel, 0.0, "zero in both: they differ by");
    write_scaled(b, 0.0, plant, ROWS);
    const struct ht_difference d = compared(a, b), swapped = compared(b, a);
    TEST_CHECK(strcmp(d.dataset, "q") == 0, "zero in one but for %g: found in %s", plant,
               d.dataset);
    TEST_CHECK(d.max_abs == plant && d.largest == plant && d.max_rel == 1.0,
               "by %g beside values up to %g, relative %g", d.max_abs, d.largest, d.max_rel);
    TEST_BELOW(fabs(d.l2_rel * sqrt(norm) / plant - 1.0), 1e-14, "relative l2 of all %g, off by",
               d.l2_rel);
    TEST_CHECK(swapped.max_rel == d.max_rel && swapped.l2_rel == d.l2_rel,
               "the other way round: %g, %g", swapped.max_rel, swapped.l2_rel);
    write_scaled(b, -1.0, 0.0, ROWS);
    write_scaled(a, 1.0, 0.0, ROWS);
    TEST_EQUAL(compared(a, b).max_rel, 2.0, "opposite signs: relative, the most there is");
}

static void plant_infinity(const char *a, const char *b, double in_a) {
    write_pair(a, in_a, ROWS);
    write_pair(b, INFINITY, ROWS);
    TEST_EQUAL(compared(a, b).max_rel, isinf(in_a) ? 0.0 : (double)INFINITY,
               "infinity and %g differ by", in_a);
}

static void test_refusals(const char *a, const char *b, const char *directory) {
    HT_FREED char *absent = scratch_path(directory, "absent.h5");
    const double one = 1.0;
    const int64_t extent = 1;
    struct ht_difference d;
    struct ht_h5 *file;
    write_pair(b, 0.0, ROWS - 1);
    enum ht_err err = ht_compare(a, b, &d);
    TEST_CHECK(err == HT_ERR_DIFFERENT && strstr(ht_err_message(), "6 x 7") &&
                   strstr(ht_err_message(), "5 x 7"),
               "%s", ht_err_message());
    must(ht_h5_create(b, false, &file));
    must(ht_h5_write(file, "p", 1, &extent, &one, false));
    must(ht_h5_commit(file));
    TEST_ERROR(ht_compare(a, b, &d), HT_ERR_DIFFERENT, "", "only p in one");
    TEST_ERROR(ht_compare(b, a, &d), HT_ERR_DIFFERENT, "", "or in the other");
    TEST_ERROR(ht_compare(a, absent, &d), HT_ERR_IO, "absent.h5", "no file");
    TEST_ERROR(ht_compare(a, directory, &d), HT_ERR_IO, "", "a directory without snapshots");
}

/* Traces of two grids have as many samples, and signals by other steps. */
static void test_grids(const char *a, const char *b) {
    const double value[5] = {1, 2, 3, 5, 8};
    for (int i = 0; i < 4; i++) {
        const int64_t samples = 2, steps = 3 + (i == 1), sources = 1 + (i == 3);
        struct ht_h5 *file;
        must(ht_h5_create(i % 2 ? b : a, false, &file));
        must(ht_h5_write(file, "line/p", 1, &samples, value + i, false));
        must(ht_h5_write(file, "sources/signal", 1, &steps, value, false));
        must(ht_h5_write(file, "sources/position", 1, &sources, value, false));
        must(ht_h5_commit(file));
        if (i == 1) TEST_EQUAL(compared(a, b).max_abs, 1.0, "receivers' data of two grids");
    }
    struct ht_difference d;
    TEST_ERROR(ht_compare(a, b, &d), HT_ERR_DIFFERENT, "sources/position", "sources of one more");
}

/* Directories stand for their last snapshot; seven digits beat six. */
static void test_directories(const char *directory) {
    static const char *const name[] = {"fields_000000.h5", "fields_999999.h5", "fields_1000000.h5"};
    HT_FREED char *one = scratch_path(directory, "one"), *two = scratch_path(directory, "two");
    if (mkdir(one, 0777) != 0 || mkdir(two, 0777) != 0) exit(1);
    for (int i = 0; i < 3; i++) {
        HT_FREED char *a = scratch_path(one, name[i]), *b = scratch_path(two, name[i]);
        write_pair(a, 0.0, ROWS);
        write_pair(b, i + 1.0, ROWS);
    }
    TEST_EQUAL(compared(one, two).max_abs, 3.0, "the last ones of directories differ by");
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
    test_grids(a, b);
    test_directories(directory);
    free(a);
    free(b);
    scratch_remove(directory);
    return test_end("io/compare");
}
