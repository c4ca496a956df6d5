/* Speed of kernels: measured, tuned, and predicted from counts. */
#pragma once

#include "htwave/schedule.h"

/* Speed of compiled kernels on a device, for bench and the tuner. Test problems have random data,
 * never zeros, in a box that is periodic along all axes. */

/* A test problem: equations, order, step, stages and kind of medium of `like` in a periodic box
 * with `cells` cells (axes beyond the dimensions are ignored). */
void ht_test_problem(const struct ht_problem *like, const int64_t cells[3], struct ht_part *out);
/* A test problem without `like`: unit cells and materials, 0.9 of the largest stable step. eq must
 * outlive the test problem and have a form of the scheme; stages 0 means the full number. */
void ht_test_problem_plain(const struct ht_equations *eq, int order, int stages,
                           const struct ht_scheme *scheme, struct ht_part *out);
/* The largest number of cells along each axis, at most `most`, for which the state needs at most
 * `bytes` bytes and a half step of the most expensive variant at most `fma` multiply-adds; a
 * multiple of 8 from 16 on, at least 4. */
int64_t ht_test_problem_cells(const struct ht_problem *like, const struct ht_tuning *tuning,
                              int64_t most, double bytes, double fma);

/* Writes random data to the own planes of a test problem's stepper. */
HT_CHECKED enum ht_err ht_test_problem_fill(const struct ht_part *test,
                                            const struct ht_stepper *stepper);

/* Duration of a measurement. */
struct ht_effort {
    int warm, least;  /* steps before timing; least number of timed steps */
    double seconds;   /* further steps are timed until these have passed */
    double joules_of; /* seconds for measuring energy; 0: not measured */
};
struct ht_rate {
    double median, best; /* device seconds per half step */
    double kernel[2];    /* median of each kernel of the variant */
    double joules;       /* per half step, whole board; NaN: unknown */
    int timed;           /* steps (two half steps each) behind median, best */
};
/* Summarises device seconds of whole steps, [step][kernel of the variant]. Does not change
 * out->joules. count: 1 .. HT_RATE_MOST. */
enum { HT_RATE_MOST = 201 };
void ht_rate_summarise(int count, const double (*seconds)[2], struct ht_rate *out);
HT_CHECKED enum ht_err ht_rate_measure(const struct ht_part *test, struct ht_device *device,
                                       struct ht_kernels *kernels, const struct ht_effort *effort,
                                       struct ht_rate *out);

/* Compares the kernels with the reference on three cells along each axis, or two points more than a
 * stencil of finite differences spans, with all stages if the reference is fast enough; *worst as
 * in ht_verify_kernels. */
HT_CHECKED enum ht_err ht_test_problem_verify(const struct ht_part *test, struct ht_device *device,
                                              const struct ht_kernels *kernels, double *worst);

/* The fastest tuning for a class of problems on a device: found by timing, stored in a file per
 * device. */

/* The user's choices; the rest is open. */
struct ht_tune_choice {
    const struct ht_variant *variant; /* NULL: any */
    int block;                        /* 0: any layout */
};

enum { HT_TUNE_CLASS = 192 };
/* The name of the class that a problem belongs to, one line: system, dimensions, order, precision,
 * stages, kind of medium, scheme, small or large, and the user's choices. */
void ht_tune_class(const struct ht_problem *problem, bool fp64, const struct ht_tune_choice *choice,
                   char name[HT_TUNE_CLASS]);

/* "small" or "large", the classes of grid sizes. */
const char *ht_tune_size(const struct ht_grid *grid);

struct ht_tuned {
    struct ht_tuning tuning;
    double rate; /* cell half-steps per second, as measured by the tuner */
};

/* ---- search: tuner.c ---- */
/* One timing. seconds: per half step; NaN: it failed or its results were wrong, for the reason
 * `why`. */
struct ht_trial {
    struct ht_tuning tuning;
    int64_t cells; /* of the whole test problem */
    double seconds;
    const char *why;
};
struct ht_tune_effort {
    double seconds; /* limit, including compilation */
    /* Called after each timing, if not NULL. */
    void (*report)(void *context, const struct ht_trial *trial);
    void *context;
};
/* Times the variants that apply on a test problem of the problem's kind, in the order of expected
 * speed, and searches the shapes of the best. Tunings that need more memory for the problem than
 * the device has are skipped. Every best tuning is compared with the reference. HT_ERR_DEVICE if
 * nothing could be timed. */
HT_CHECKED enum ht_err ht_tune(const struct ht_problem *problem, struct ht_device *device,
                               bool fp64, const struct ht_tune_choice *choice,
                               const struct ht_tune_effort *effort, struct ht_tuned *out);

/* ---- storage: tuning_file.c ---- */
/* Path of the file of a device in a cache directory; free it. */
HT_CHECKED enum ht_err ht_tuning_path(const char *directory, const struct ht_device_info *info,
                                      char **path);
/* Loads the result stored for a class; false: none. A file that is damaged or of another driver or
 * version of the kernels is ignored with a note that names it. */
bool ht_tuning_load(const char *directory, const struct ht_device_info *info,
                    const char *class_name, struct ht_tuned *out);
/* Adds or replaces the class's line. */
HT_CHECKED enum ht_err ht_tuning_store(const char *directory, const struct ht_device_info *info,
                                       const char *class_name, const struct ht_tuned *tuned);
