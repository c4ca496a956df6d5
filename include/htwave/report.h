/* The report of a run: a banner before it and a summary after it, as text and as JSON.
 */
#ifndef HTWAVE_REPORT_H
#define HTWAVE_REPORT_H

#include "htwave/observers.h"
#include "htwave/parallel.h"

/* What a run's observers found; NaN: not known. */
struct ht_result {
    double wall_s;
    struct ht_energies energy;
    struct ht_conserved conserved;
    double error;
    struct ht_parallel parallel; /* joules: from the first step on */
};

/* What is known before the run: device, grid, memory, steps, accuracy; without a device the rest.
 */
void ht_report_plan(const struct ht_simulation *sim, struct ht_facts *facts);
/* Notes about the medium that a user should know before trusting a run. */
void ht_report_notes(const struct ht_simulation *sim);
void ht_report_result(const struct ht_simulation *sim, const struct ht_result *result,
                      const struct ht_output *output, struct ht_facts *facts);

#endif
