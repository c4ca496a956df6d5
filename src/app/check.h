/* The parts of htwave check, by its flags. */
#pragma once

#include "htwave/estimate.h"
#include "htwave/simulation.h"

struct ht_estimate {
    int64_t cells[3]; /* of the small grid */
    double rate;      /* cell half-steps per second there, by all ranks together,
                         each rank on one such grid, outside of layers */
    /* With perfectly matched layers of Hermite methods, else 0. */
    struct ht_region_rates regions;
    /* What other layers take beyond that: cells of ht_region_damped per second; NaN: none, not
     * known. */
    double damped_rate;
    bool layers_left_out;  /* so thick that no small grid has them */
    double sample_s;       /* of the receivers' samples of a step; NaN */
    int64_t sampler_bytes; /* on the host; with sample_s */
    double seconds;        /* of the run's steps; NaN: not known */
    double layer_s;        /* of these in layers; NaN: none, not known */
    double layer_rate;     /* cell half-steps per second there */
};
#define HT_NO_ESTIMATE                                                      \
    (struct ht_estimate) {                                                  \
        .damped_rate = NAN, .sample_s = NAN, .seconds = NAN, .layer_s = NAN \
    }

/* ---- check_time.c ---- */
/* Times the compiled kernels of a simulation on a small version of its grid. Collective. */
HT_CHECKED enum ht_err ht_estimate_time(struct ht_simulation *sim, struct ht_estimate *out);

/* ---- check_error.c ---- */
/* check --error: which scheme, order, grid and precision reach an error, and what they take.
 * params: as read from the operands of args. */
HT_CHECKED enum ht_err ht_check_error(const struct ht_args *args, const struct ht_params *params);

/* ---- check_machine.c ---- */
/* check --machine: prints strong and weak scaling of a run on a machine. No device is needed. */
HT_CHECKED enum ht_err ht_check_machine(const struct ht_args *args, const struct ht_params *params);
