/* A test program checks things and prints one line of TAP each (Test Anything Protocol, read by
 * prove): "ok - TEXT", "not ok - TEXT", "ok # skip WHY". The text says what was judged: the number
 * and its bound. The plan "1..N" at the end tells a program that ended from one that broke off. */
#pragma once

#include <stdarg.h>

#include "htwave/base.h"

static int test_passed, test_failed, test_skipped;

/* Each line leaves at once and whole: standard error may go to the same file. */
static inline void test_line(void) {
    printf("\n");
    fflush(stdout);
}

static inline void test_begin(bool ok) {
    printf("%s - ", ok ? "ok" : "not ok");
}

static inline void test_done(bool ok, const char *file, int line, const char *what) {
    if (!ok) printf("  [%s:%d: %s]", file, line, what);
    test_line();
    *(ok ? &test_passed : &test_failed) += 1;
}

/* The printf arguments name the check. */
#define TEST_CHECK(ok, ...)                           \
    do {                                              \
        bool test_ok_ = (ok);                         \
        test_begin(test_ok_);                         \
        printf(__VA_ARGS__);                          \
        test_done(test_ok_, __FILE__, __LINE__, #ok); \
    } while (0)

/* value <= bound (a NaN fails); both are printed. */
#define TEST_BELOW(value, bound, ...)                    \
    do {                                                 \
        double test_v_ = (value), test_b_ = (bound);     \
        bool test_ok_ = test_v_ <= test_b_;              \
        test_begin(test_ok_);                            \
        printf(__VA_ARGS__);                             \
        printf(": %.3g (bound %.3g)", test_v_, test_b_); \
        test_done(test_ok_, __FILE__, __LINE__, #value); \
    } while (0)

/* Two numbers are the same; both are printed. */
#define TEST_EQUAL(value, expected, ...)                                \
    do {                                                                \
        double test_v_ = (double)(value), test_e_ = (double)(expected); \
        bool test_ok_ = test_v_ == test_e_;                             \
        test_begin(test_ok_);                                           \
        printf(__VA_ARGS__);                                            \
        printf(": %.17g (expected %.17g)", test_v_, test_e_);           \
        test_done(test_ok_, __FILE__, __LINE__, #value);                \
    } while (0)

/* The call fails with this code and a message that holds the text, which is printed. */
#define TEST_ERROR(call, code, text, ...)                                              \
    do {                                                                               \
        enum ht_err test_err_ = (call);                                                \
        bool test_ok_ = test_err_ == (code) && strstr(ht_err_message(), text) != NULL; \
        test_begin(test_ok_);                                                          \
        printf(__VA_ARGS__);                                                           \
        printf(": %s", test_err_ ? ht_err_message() : "no failure");                   \
        test_done(test_ok_, __FILE__, __LINE__, #call);                                \
    } while (0)

/* The text of printf's arguments that begin behind `format`. NOLINTBEGIN */
#define TEST_TEXT(text, size, format)           \
    char text[size];                            \
    va_list text##_args;                        \
    va_start(text##_args, format);              \
    vsnprintf(text, size, format, text##_args); \
    va_end(text##_args)
/* NOLINTEND */

/* For the end of a check's text: what the failure says, "" where there is none. */
static inline const char *test_said(enum ht_err err) {
    return err == HT_OK ? "" : ht_err_message();
}

/* A loop over the rows of a table. A name cannot stand in parentheses. NOLINTBEGIN */
#define TEST_EACH(row, rows) \
    for (__typeof__(&*(rows)) row = (rows); row < (rows) + sizeof(rows) / sizeof *(rows); row++)
/* NOLINTEND */

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
