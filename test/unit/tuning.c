/* The file of tuning results: what is stored comes back; whatever is wrong with the file means no
 * result, one note that names it, and a good file after the next store. The statistics of timings.
 * No device is needed. */
#include <sys/stat.h>
#include <unistd.h>

#include "htwave/tune.h"
#include "io/scratch.h"
#include "test.h"

static const char other_class[] = "acoustic 3d order=3 double";
static const char class_name[] = "acoustic 3d order=3 single";

static struct ht_device_info make_info(const char *driver) {
    struct ht_device_info info = {.backend = "opencl", .gpu = true};
    snprintf(info.name, sizeof info.name, "device of a test");
    snprintf(info.platform, sizeof info.platform, "platform");
    snprintf(info.driver, sizeof info.driver, "%s", driver);
    return info;
}

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

/* Loads with standard error in a file; how often the file is named in it. */
static bool load(const char *directory, const struct ht_device_info *info, const char *name,
                 struct ht_tuned *out, int *notes) {
    char *noted = scratch_path(directory, "stderr"), *path = NULL, *data = NULL;
    size_t size = 0;
    int kept = dup(STDERR_FILENO);
    *notes = 0;
    fflush(stderr);
    if (!freopen(noted, "w", stderr)) exit(1);
    bool found = ht_tuning_load(directory, info, name, out);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    if (ht_tuning_path(directory, info, &path) != HT_OK ||
        ht_file_read(noted, &data, &size) != HT_OK)
        exit(1);
    for (const char *at = data; (at = strstr(at, path)) != NULL; at++) ++*notes;
    remove(noted);
    free(noted);
    free(path);
    free(data);
    return found;
}

static void expect(const char *directory, const struct ht_device_info *info, bool there,
                   const char *what) {
    struct ht_tuned got;
    int notes = 0;
    bool found = load(directory, info, class_name, &got, &notes);
    TEST_CHECK(found == there && notes == !there,
               "%s: %s, %d note(s) that name the file (expected %s, %d)", what,
               found ? "found" : "nothing", notes, there ? "found" : "nothing", !there);
}

static void store(const char *directory, const struct ht_device_info *info, const char *name,
                  int cells) {
    struct ht_tuned tuned = make_tuned(cells);
    if (ht_tuning_store(directory, info, name, &tuned) == HT_OK) return;
    printf("not ok - set-up: %s\n", ht_err_message());
    exit(1);
}

static void test_round_trip(const char *directory) {
    const struct ht_device_info info = make_info("1.0");
    struct ht_tuned got, wanted = make_tuned(8), second = make_tuned(2);
    int notes = 0;
    bool found = load(directory, &info, class_name, &got, &notes);
    TEST_CHECK(!found && notes == 0, "no file: nothing, and no note");
    store(directory, &info, class_name, 4);
    store(directory, &info, other_class, 2);
    store(directory, &info, class_name, 8);
    found = load(directory, &info, class_name, &got, &notes);
    TEST_CHECK(found && same(&got.tuning, &wanted.tuning) && notes == 0,
               "a replaced result comes back: %d cells (expected 8)", got.tuning.cells);
    found = load(directory, &info, other_class, &got, &notes);
    TEST_CHECK(found && same(&got.tuning, &second.tuning),
               "the other class is kept: %d cells (expected 2)", got.tuning.cells);
    found = load(directory, &info, "acoustic 3d order=3", &got, &notes);
    TEST_CHECK(!found && notes == 0, "a part of a class's name is no class");
}

/* Writes the good file with one change, sees it ignored, mends it. */
static void test_damage(const char *directory, const char *what, size_t cut, size_t flip) {
    const struct ht_device_info info = make_info("1.0");
    char *path = NULL, *data = NULL;
    size_t size = 0;
    store(directory, &info, class_name, 8);
    if (ht_tuning_path(directory, &info, &path) != HT_OK ||
        ht_file_read(path, &data, &size) != HT_OK)
        exit(1);
    data[size - flip] ^= 1;
    if (ht_file_write(path, data, size - cut) != HT_OK) exit(1);
    expect(directory, &info, false, what);
    store(directory, &info, class_name, 8);
    expect(directory, &info, true, "mended");
    free(path);
    free(data);
}

static void test_others(const char *directory) {
    const struct ht_device_info info = make_info("1.0"), fresh = make_info("2");
    store(directory, &info, class_name, 8);
    expect(directory, &fresh, false, "another driver");
    store(directory, &fresh, class_name, 8);
    expect(directory, &fresh, true, "stored for that driver");
}

static void test_unreadable(const char *directory) {
    const struct ht_device_info info = make_info("1.0");
    char *path = NULL;
    if (ht_tuning_path(directory, &info, &path) != HT_OK) exit(1);
    remove(path);
    if (mkdir(path, 0700) != 0) exit(1);
    expect(directory, &info, false, "a directory in the file's place");
    rmdir(path);
    struct ht_tuned tuned = make_tuned(1);
    char *below = scratch_path(directory, "file");
    if (ht_file_write(below, "x", 1) != HT_OK) exit(1);
    enum ht_err err = ht_tuning_store(below, &info, class_name, &tuned);
    TEST_CHECK(err == HT_ERR_IO, "a file as cache directory: %s", ht_err_message());
    int notes = 0;
    bool found = load(directory, &info, class_name, &tuned, &notes);
    TEST_CHECK(!found && notes == 0, "nothing there: no note");
    remove(below);
    free(below);
    free(path);
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
    char *directory = scratch_make("tuning");
    if (!directory) return 1;
    test_round_trip(directory);
    test_damage(directory, "truncated by a line", 30, 1);
    test_damage(directory, "truncated by a byte", 1, 1);
    test_damage(directory, "a digit of a result changed", 0, 40);
    test_damage(directory, "the checksum changed", 0, 3);
    test_others(directory);
    test_unreadable(directory);
    test_classes();
    test_statistics();
    scratch_remove(directory);
    return test_end("unit/tuning");
}
