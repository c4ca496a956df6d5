/* The parts of htwave check that its flag --error shares. */
#ifndef HTWAVE_APP_CHECK_H
#define HTWAVE_APP_CHECK_H

#include "htwave/args.h"
#include "htwave/simulation.h"

struct ht_estimate {
    int64_t cells[3]; /* of the small grid */
    double rate; /* cell half-steps per second there, by all ranks together,
                    each rank on one such grid, outside of layers */
    double layer_rate; /* the same in absorbing layers; NaN: none, not known */
    double sample_s;   /* of the receivers' samples of a step; NaN */
    int64_t sampler_bytes; /* on the host; with sample_s */
};

/* ---- command_check.c ---- */
/* Times the compiled kernels of a simulation on a small version of its grid.
 * Collective. */
HT_CHECKED enum ht_err ht_estimate_time(struct ht_simulation *sim,
                                        struct ht_estimate *out);
/* Of the run's steps; NaN: not known. */
double ht_estimate_seconds(const struct ht_simulation *sim,
                           const struct ht_estimate *estimate);

/* ---- check_error.c ---- */
/* check --error: which scheme, order, grid and precision reach an error, and
 * what they take. params: as read from the operands of args. */
HT_CHECKED enum ht_err ht_check_error(const struct ht_args *args,
                                      const struct ht_params *params);

#endif
