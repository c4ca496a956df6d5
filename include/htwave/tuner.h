/* The fastest tuning for a class of problems on a device: found by timing, stored in a file per
 * device.
 */
#ifndef HTWAVE_TUNER_H
#define HTWAVE_TUNER_H

#include "htwave/rate.h"

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
    double seconds;    /* limit, including compilation */
    const char *cache; /* of compiled kernels; NULL: none */
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

#endif
