/* Speed of compiled kernels on a device, for bench and the tuner. Test problems have random data,
 * never zeros, in a box that is periodic along all axes.
 */
#ifndef HTWAVE_RATE_H
#define HTWAVE_RATE_H

#include "htwave/kernels.h"
#include "htwave/part.h"
#include "htwave/plan.h"
#include "htwave/stepper.h"

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
    double total;        /* device seconds of all timed steps */
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
 * in ht_verify_kernels.
 */
HT_CHECKED enum ht_err ht_test_problem_verify(const struct ht_part *test, struct ht_device *device,
                                              const struct ht_kernels *kernels, double *worst);

#endif
