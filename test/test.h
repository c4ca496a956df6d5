/* A test program checks things and prints one line of TAP each (Test Anything Protocol, read by
 * prove): "ok - TEXT", "not ok - TEXT", "ok # skip WHY". The text says what was judged: the number
 * and its bound. The plan "1..N" at the end tells a program that ended from one that broke off. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_passed, test_failed, test_skipped;

/* Each line leaves at once and whole: standard error may go to the same file. */
static inline void test_line(void) {
    printf("\n");
    fflush(stdout);
}

/* The printf arguments name the check. */
#define TEST_CHECK(ok, ...)                                              \
    do {                                                                 \
        bool test_ok_ = (ok);                                            \
        printf("%s - ", test_ok_ ? "ok" : "not ok");                     \
        printf(__VA_ARGS__);                                             \
        if (!test_ok_) printf("  [%s:%d: %s]", __FILE__, __LINE__, #ok); \
        test_line();                                                     \
        if (test_ok_)                                                    \
            test_passed++;                                               \
        else                                                             \
            test_failed++;                                               \
    } while (0)

/* value <= bound (a NaN fails); both are printed. */
#define TEST_BELOW(value, bound, ...)                           \
    do {                                                        \
        double test_v_ = (value), test_b_ = (bound);            \
        bool test_ok_ = test_v_ <= test_b_;                     \
        printf("%s - ", test_ok_ ? "ok" : "not ok");            \
        printf(__VA_ARGS__);                                    \
        printf(": %.3g (bound %.3g)", test_v_, test_b_);        \
        if (!test_ok_) printf("  [%s:%d]", __FILE__, __LINE__); \
        test_line();                                            \
        if (test_ok_)                                           \
            test_passed++;                                      \
        else                                                    \
            test_failed++;                                      \
    } while (0)

/* The larger one; unlike fmax it keeps a NaN. */
static inline double test_worse(double a, double b) {
    return isnan(a) || a > b ? a : b;
}

/* Whether cases are wanted that say at length what the others say, too: on a GPU and for check-all
 * (HTWAVE_COVER). docs/developers/testing.md lists them. */
static inline bool test_all(void) {
    const char *cover = getenv("HTWAVE_COVER");
    const char *device = getenv("HTWAVE_DEVICE");
    return (cover && strcmp(cover, "all") == 0) || (device && strcmp(device, "gpu") == 0);
}

#define TEST_SKIP(...)        \
    do {                      \
        printf("ok # skip "); \
        printf(__VA_ARGS__);  \
        test_line();          \
        test_skipped++;       \
    } while (0)

/* The plan alone: of a part of a script, which may judge nothing. */
static inline void test_plan(void) {
    printf("1..%d\n", test_passed + test_failed + test_skipped);
}

/* Ends main: the plan, and the counts for people. */
static inline int test_end(const char *name) {
    if (test_passed + test_failed + test_skipped == 0) TEST_CHECK(false, "%s judged nothing", name);
    printf("# %s: %d passed, %d failed, %d skipped\n", name, test_passed, test_failed,
           test_skipped);
    test_plan();
    return test_failed ? 1 : 0;
}
