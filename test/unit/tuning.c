/* Results of the tuner: what is kept in the device's cache comes back, and names of classes. The
 * statistics of timings. test/unit/program_cache.c damages files of the cache. */
#include "htwave/tune.h"
#include "io/scratch.h"
#include "open_device.h"

static const char other_class[] = "acoustic 3d order=3 double";
static const char class_name[] = "acoustic 3d order=3 single";

static struct ht_tuned make_tuned(int cells) {
    struct ht_tuned tuned = {.rate = 1e8};
    tuned.tuning = (struct ht_tuning){
        .variant = ht_variant_at(1), .trim = true, .block = 4, .cells = cells, .planes = 16};
    return tuned;
}

static bool same(const struct ht_tuning *a, const struct ht_tuning *b) {
    return a->variant == b->variant && a->trim == b->trim && a->block == b->block &&
           a->cells == b->cells && a->rows == b->rows && a->planes == b->planes;
}

static void expect(struct ht_device *device, const char *name, int cells, const char *what) {
    struct ht_tuned got = {.rate = 0}, wanted = make_tuned(cells);
    const bool found = ht_tuning_load(device, name, &got);
    TEST_CHECK(found == (cells > 0) &&
                   (!found || (same(&got.tuning, &wanted.tuning) && got.rate == wanted.rate)),
               "%s: %d cells (expected %d)", what, got.tuning.cells, cells);
}

static void store(struct ht_device *device, const char *name, int cells) {
    const struct ht_tuned tuned = make_tuned(cells);
    TEST_CHECK(ht_tuning_store(device, name, &tuned), "kept: %s", ht_err_message());
}

static void test_kept(struct ht_device *device) {
    char *directory = scratch_make("tuning"), *below = scratch_path(directory, "file");
    expect(device, class_name, 0, "no cache");
    ht_device_cache(device, directory);
    expect(device, class_name, 0, "nothing kept");
    store(device, class_name, 4);
    store(device, other_class, 2);
    store(device, class_name, 8);
    expect(device, class_name, 8, "a replaced result");
    expect(device, other_class, 2, "another class");
    expect(device, "acoustic 3d order=3", 0, "a part of a class's name");
    const struct ht_tuned tuned = make_tuned(1);
    TEST_CHECK(ht_file_write(below, "x", 1) == HT_OK, "a file: %s", ht_err_message());
    ht_device_cache(device, below);
    TEST_CHECK(!ht_tuning_store(device, class_name, &tuned), "a file as cache directory: %s",
               ht_err_message());
    ht_device_cache(device, NULL);
    free(below);
    scratch_remove(directory);
}

/* Problems that may have another best have another name. */
static void test_classes(void) {
    struct ht_equations eq = ht_equations_make(ht_system_find("acoustic"), 3);
    enum { KINDS = 10 };
    char name[KINDS][HT_TUNE_CLASS];
    const struct ht_tune_choice open = {0}, blocked = {.block = 4};
    struct ht_part sample;
    ht_test_problem_plain(&eq, 3, 0, ht_scheme_at(HT_TAYLOR), &sample);
    ht_tune_class(&sample.problem, false, &open, name[0]);
    ht_tune_class(&sample.problem, true, &open, name[1]);
    ht_tune_class(&sample.problem, false, &blocked, name[2]);
    ht_test_problem_plain(&eq, 2, 0, ht_scheme_at(HT_TAYLOR), &sample);
    ht_tune_class(&sample.problem, false, &open, name[3]);
    ht_test_problem_plain(&eq, 3, 8, ht_scheme_at(HT_TAYLOR), &sample);
    ht_tune_class(&sample.problem, false, &open, name[4]);
    sample.problem.medium_degree = 4;
    ht_tune_class(&sample.problem, false, &open, name[5]);
    ht_test_problem_plain(&eq, 3, 0, ht_scheme_at(HT_LEAPFROG), &sample);
    ht_tune_class(&sample.problem, false, &open, name[6]);
    for (int n = 7; n < KINDS; n++) {
        ht_test_problem_plain(&eq, n == 7 ? 4 : 8, 1, ht_scheme_at(HT_DIFFERENCES), &sample);
        sample.problem.fd.density = n == 9;
        ht_tune_class(&sample.problem, false, &open, name[n]);
    }
    int equal = 0;
    for (int a = 0; a < KINDS; a++)
        for (int b = 0; b < a; b++) equal += strcmp(name[a], name[b]) == 0;
    TEST_CHECK(equal == 0, "%d kinds of problems, %d pairs of one name", KINDS, equal);
}

/* Least, median and mean of the steps differ, of both kernels and of their sums; the sum's median
 * is not that of one kernel's step. */
static void test_statistics(void) {
    const double seconds[5][2] = {{9, 1}, {2, 4}, {3, 30}, {40, 2}, {4, 3}};
    struct ht_rate rate = {.joules = 7};
    ht_rate_summarise(5, seconds, &rate);
    TEST_CHECK(rate.median == 5 && rate.best == 3,
               "half steps of 5, 3, 16.5, 21 and 3.5 s: median %g (5), least %g (3)", rate.median,
               rate.best);
    TEST_CHECK(rate.kernel[0] == 2 && rate.kernel[1] == 1.5,
               "its kernels: medians %g (2), %g (1.5)", rate.kernel[0], rate.kernel[1]);
    TEST_CHECK(rate.timed == 5 && rate.joules == 7, "%d steps, energy left at %g", rate.timed,
               rate.joules);
}

int main(void) {
    test_classes();
    test_statistics();
    return test_on_device("unit/tuning", test_kept);
}
