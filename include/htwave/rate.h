/* How fast compiled kernels are on a device: what bench and the tuner share.
 * Never zeros: random data, in a box that is periodic on all sides.
 */
#ifndef HTWAVE_RATE_H
#define HTWAVE_RATE_H

#include "htwave/kernels.h"
#include "htwave/part.h"
#include "htwave/plan.h"
#include "htwave/stepper.h"

/* A problem to be timed. As `like` in equations, order, steps, stages and kind
 * of medium, in a periodic box of so many cells (those beyond the dimensions
 * are ignored). */
void ht_test_problem(const struct ht_problem *like, const int64_t cells[3],
                     struct ht_part *out);
/* A problem of its own: unit cells and materials, 0.9 of the largest stable
 * step. eq must outlive the test problem, and has a form of the scheme; stages
 * 0: the full number. */
void ht_test_problem_plain(const struct ht_equations *eq, int order, int stages,
                           const struct ht_scheme *scheme, struct ht_part *out);
/* The largest number of cells along each axis, at most `most`, for which the
 * state takes no more than so many bytes and a half step of the costliest
 * variant counts no more than so many multiply-adds; a multiple of 8 from 16
 * on, and at least 4. */
int64_t ht_test_problem_cells(const struct ht_problem *like,
                              const struct ht_tuning *tuning, int64_t most,
                              double bytes, double fma);

/* Random data on the grids of a stepper of a test problem. */
HT_CHECKED enum ht_err ht_test_problem_fill(const struct ht_part *sample,
                                            const struct ht_stepper *stepper);

/* How long to measure. */
struct ht_effort {
    int warm, least;  /* steps before, and timed in any case */
    double seconds;   /* more are timed until so many have passed */
    double joules_of; /* seconds for the energy; 0: it is not measured */
};
struct ht_rate {
    double median, best; /* device seconds per half step */
    double kernel[2];    /* median of each kernel of the variant */
    double total;        /* device seconds of all timed steps */
    double joules;       /* per half step, whole board; NaN: not known */
    int timed;           /* steps (two half steps each) behind median, best */
};
/* From device seconds of whole steps, in each kernel of the variant; of the
 * energy it leaves what stands there. count: 1 .. HT_RATE_MOST. */
enum { HT_RATE_MOST = 201 };
void ht_rate_summarise(int count, const double (*seconds)[2],
                       struct ht_rate *out);
HT_CHECKED enum ht_err ht_rate_measure(const struct ht_part *sample,
                                       struct ht_device *device,
                                       struct ht_kernels *kernels,
                                       const struct ht_effort *effort,
                                       struct ht_rate *out);

/* ---- the ranks' devices, for slabs in proportion ---- */
/* Cell half-steps per second by the host's clock, in a periodic box of eight
 * planes of at most the grid's size. Takes a few tenths of a second.
 * Collective: all ranks compute at the same time, so that those that share a
 * device see their part of it. */
HT_CHECKED enum ht_err ht_device_speed(const struct ht_problem *problem,
                                       struct ht_device *device,
                                       struct ht_kernels *kernels,
                                       double *speed);
/* weights[rank] for ht_plan_cut from positive speeds. Timings scatter: speeds
 * within 5 % of their mean become the mean, from the fastest on, so that equal
 * devices get equal slabs. */
HT_CHECKED enum ht_err ht_speed_weights(int ranks, const double *speed,
                                        double *weights);
/* Cuts the plan's slabs in proportion to the measured speeds; kernels: as
 * compiled for the plan's problem. Collective, ends in agreement. */
HT_CHECKED enum ht_err ht_speed_cut(struct ht_plan *plan,
                                    struct ht_device *device,
                                    struct ht_kernels *kernels);

/* The kernels against the reference on three cells along each axis, with all
 * the stages where that is affordable; *worst as in ht_verify_kernels. */
HT_CHECKED enum ht_err ht_test_problem_verify(const struct ht_part *sample,
                                              struct ht_device *device,
                                              const struct ht_kernels *kernels,
                                              double *worst);

#endif
