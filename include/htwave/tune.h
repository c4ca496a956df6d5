/* Speed of kernels: measured, tuned, and predicted from counts. */
#pragma once

#include "htwave/schedule.h"

/* ---- rate.c ---- */
/* A test problem: equations, order, step, stages and kind of medium of `like` in a periodic box
 * with `cells` cells. */
void ht_test_problem(const struct ht_problem *like, const int64_t cells[3], struct ht_part *out);
/* One of unit cells and materials and 0.9 of the largest stable step. eq must outlive it and have a
 * form of the scheme; stages 0: the full number. */
void ht_test_problem_plain(const struct ht_equations *eq, int order, int stages,
                           const struct ht_scheme *scheme, struct ht_part *out);
/* The largest number of cells along each axis, at most `most`, for which the state needs at most
 * `bytes` bytes and a half step of the most expensive variant at most `fma` multiply-adds; a
 * multiple of 8 from 16 on, at least 4. */
int64_t ht_test_problem_cells(const struct ht_problem *like, const struct ht_tuning *tuning,
                              int64_t most, double bytes, double fma);

/* Random data, never zeros, on the own planes. */
HT_ERR ht_test_problem_fill(const struct ht_part *test, const struct ht_stepper *stepper);

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
/* Of device seconds of whole steps, [step][kernel of the variant]; not out->joules. */
enum { HT_RATE_MOST = 201 };
void ht_rate_summarise(int count, const double (*seconds)[2], struct ht_rate *out);
HT_ERR ht_rate_measure(const struct ht_part *test, struct ht_device *device,
                       struct ht_kernels *kernels, const struct ht_effort *effort,
                       struct ht_rate *out);

struct ht_tune_choice {
    const struct ht_variant *variant; /* NULL: any */
    int block;                        /* 0: any layout */
};

enum { HT_TUNE_CLASS = 192 };
void ht_tune_class(const struct ht_problem *problem, bool fp64, const struct ht_tune_choice *choice,
                   char name[HT_TUNE_CLASS]);

/* "small" or "large", the classes of grid sizes. */
const char *ht_tune_size(const struct ht_grid *grid);

struct ht_tuned {
    struct ht_tuning tuning;
    double rate; /* cell half-steps per second, as measured by the tuner */
};

/* One timing. seconds: per half step; NaN: it failed or its results were wrong: `why`. */
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
/* Times the variants that apply on a test problem of the problem's kind and searches the shapes of
 * the best, which are compared with the reference. HT_ERR_DEVICE if nothing could be timed. */
HT_ERR ht_tune(const struct ht_problem *problem, struct ht_device *device, bool fp64,
               const struct ht_tune_choice *choice, const struct ht_tune_effort *effort,
               struct ht_tuned *out);

/* The result kept for a class in the device's cache, by these kernels; false: none. */
bool ht_tuning_load(const struct ht_device *device, const char *class_name, struct ht_tuned *out);
/* False: it could not be kept, for the reason that ht_err_message says. */
bool ht_tuning_store(const struct ht_device *device, const char *class_name,
                     const struct ht_tuned *tuned);
