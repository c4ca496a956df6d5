/* Observers of a run (htwave/run.h). What they are given must outlive the run; results are set to
 * NaN, not known, when the run begins.
 */
#ifndef HTWAVE_OBSERVERS_H
#define HTWAVE_OBSERVERS_H

#include "htwave/energy.h"
#include "htwave/output.h"
#include "htwave/run.h"

/* Physical energies (docs/method.md, section 9), NaN where they are not known and where none is
 * conserved. */
struct ht_energies {
    double initial, final;
    double rate; /* of finite differences: their own at the start */
    double rise; /* of the watch, by a scheme that dissipates; else NaN */
    struct ht_energy_watch watch;
    struct ht_output *series; /* set by the caller: gets a row per look; NULL:
                                 none */
};

/* Judges the state: finite, and its energy not grown (ht_energy_watch); at least twenty times and
 * every five seconds. A first rise is a warning. */
struct ht_observer ht_observe_energy(struct ht_energies *energies);
/* The energy that the scheme conserves (ht_conserved_energy), at the start or the end of the
 * sources and at the end, and the physical one, where the scheme conserves it as well. A change by
 * 1 % is a warning. */
struct ht_conserved {
    double energy[2], physical[2];
};
struct ht_observer ht_observe_conserved(struct ht_conserved *conserved);
/* ht_nodal_error at the end, where the solution is known then. */
struct ht_observer ht_observe_error(const struct ht_plan *plan, double *error);
/* At the multiples of output.every and output.picture.every, and at the end. */
struct ht_observer ht_observe_snapshots(const struct ht_params *params, struct ht_output *output);
struct ht_observer ht_observe_pictures(const struct ht_params *params, struct ht_output *output);
/* Traces of the plan's receivers, if it has any. cache: of compiled programs; NULL: none. */
struct ht_recorder;
HT_CHECKED enum ht_err ht_recorder_create(struct ht_output *output, const char *cache,
                                          struct ht_recorder **out);
void ht_recorder_destroy(struct ht_recorder *recorder); /* NULL allowed */
struct ht_observer ht_observe_receivers(struct ht_recorder *recorder);
/* For a plan with receivers: of the host's memory, that rank 0 takes for samples on their way to
 * the file; period: of the sampler. */
int64_t ht_recorder_bytes(const struct ht_plan *plan, int64_t period);
/* Seconds that rank 0 takes in all for making samples of all steps, where they are made so: from
 * the time of two traces of each group. */
HT_CHECKED enum ht_err ht_recorder_time(const struct ht_plan *plan, double *seconds);
struct ht_observer ht_observe_progress(struct ht_progress *progress);

#endif
