/* Traces from the values that receivers read at each step, and back
 * (docs/developers/differences.md, docs/developers/gradients.md). All samples of a run are
 * data[group][reading][receiver][sample]. */
#pragma once

#include "htwave/sampler.h"

/* ---- from steps to samples, while the steps are taken; gather.c; for one rank ---- */
/* Takes samples [first, last) of a group, which follow those before,
 * data[reading][receiver][sample]. */
struct ht_sink {
    enum ht_err (*take)(void *context, int group, int64_t first, int64_t last, const double *data);
    void *context;
    /* All are taken at the end: where samples are made of all steps (ht_resampling), these of fewer
     * steps differ by 1e-7, and from those that ht_gather_transpose is made for. */
    bool at_end;
};
struct ht_gather;
/* period: most steps of one ht_gather_add. */
HT_ERR ht_gather_create(const struct ht_plan *plan, int64_t period, struct ht_sink sink,
                        struct ht_gather **out);
void ht_gather_destroy(struct ht_gather *gather); /* NULL allowed */
/* Where the values of the next steps go, as ht_sampler_collect has them. */
double *ht_gather_next(struct ht_gather *gather);
/* So many have come, up to number `step`; last: no more will. Gives the sink what can be made. */
HT_ERR ht_gather_add(struct ht_gather *gather, int64_t steps, int64_t step, bool last);
/* With `steps` that have come and of which ht_gather_add makes samples after the load; from: the
 * checkpoint, for messages. */
HT_ERR ht_gather_archive(struct ht_gather *gather, int64_t steps, const char *from,
                         struct ht_archive *archive);
/* ---- all at once; gather_transpose.c ---- */
/* The transpose of what makes samples of the steps' values, for schemes by finite differences:
 * out[step][trace], steps 0 .. ht_resampling_last = the derivative by the value of a trace at a
 * step, where data is that by the samples. Values at the start of integrals do not count. */
HT_ERR ht_gather_transpose(const struct ht_plan *plan, double *const *data, double *out);
