/* Samplers: what is the same for all methods; see the header. */
#include <stdlib.h>
#include <string.h>

#include "methods.h"
#include "sampler_private.h"

/* Values of a ring, and its slots at most and at least. */
enum { RING_VALUES = 1 << 21, MOST_SLOTS = 1024, LEAST_SLOTS = 16 };

int64_t ht_sampler_slots(int64_t parts) {
    int64_t slots = RING_VALUES / (parts > 0 ? parts : 1);
    if (slots > MOST_SLOTS) slots = MOST_SLOTS;
    return slots < LEAST_SLOTS ? LEAST_SLOTS : slots;
}

struct ht_trace ht_trace_at(const struct ht_receivers *receivers, int64_t trace) {
    const struct ht_receiver_group *group = receivers->group;
    for (; trace >= group->count * group->readings; group++)
        trace -= group->count * group->readings;
    return (struct ht_trace){.x = group->x[trace % group->count],
                             .reading = group->reading[trace / group->count]};
}

void ht_sampler_destroy(struct ht_sampler *s) {
    if (s == NULL) return;
    if (s->self != NULL) s->ops->destroy(s->self);
    free(s->first);
    free(s->weight);
    free(s->sums);
    free(s);
}

static enum ht_err make(const struct ht_plan *plan, const struct ht_stepper *stepper,
                        const char *cache, struct ht_sampler *s) {
    TRY(plan->problem.scheme->does->sampler_make(plan, stepper, cache, s));
    return HT_ALLOC(s->sums, s->period * s->parts);
}

enum ht_err ht_sampler_create(const struct ht_plan *plan, const struct ht_stepper *stepper,
                              const char *cache, struct ht_sampler **out) {
    struct ht_sampler *s = NULL;
    *out = NULL;
    enum ht_err err = HT_ALLOC(s, 1);
    if (err == HT_OK) {
        s->grid = &plan->grid;
        s->scale = plan->scale;
        const struct ht_resampling need = ht_resampling_of(plan);
        s->traces = plan->receivers->traces * need.per_step * need.derivatives;
        err = make(plan, stepper, cache, s);
    }
    err = ht_comm_agree(plan->grid.slab.comm, err);
    if (err == HT_OK)
        *out = s;
    else
        ht_sampler_destroy(s);
    return err;
}

int64_t ht_sampler_period(const struct ht_sampler *s) {
    return s->period;
}

double ht_sampler_seconds(const struct ht_sampler *s) {
    return s->ops->seconds != NULL ? s->ops->seconds(s->self) : 0;
}

int64_t ht_sampler_bytes(const struct ht_plan *plan, bool fp64) {
    if (plan->receivers == NULL) return 0;
    return plan->problem.scheme->does->sampler_bytes(plan, fp64);
}

/* Ranks add zeros for planes of others, which is exact. */
static enum ht_err share_sums(struct ht_sampler *s, int64_t steps) {
    const int64_t most = 1 << 24, all = steps * s->parts;
    if (!ht_grid_cut(s->grid)) return HT_OK;
    for (int64_t at = 0; at < all; at += most)
        TRY(ht_comm_sum(s->grid->slab.comm, (int)(all - at < most ? all - at : most),
                        s->sums + at));
    return HT_OK;
}

enum ht_err ht_sampler_collect(struct ht_sampler *s, int64_t *steps, double *values) {
    memset(s->sums, 0, (size_t)(s->period * s->parts) * sizeof *s->sums);
    TRY(ht_comm_agree(s->grid->slab.comm, s->ops->take(s->self, steps, s->sums)));
    TRY(share_sums(s, *steps));
    for (int64_t n = 0; values != NULL && n < *steps; n++)
        for (int64_t t = 0; t < s->traces; t++) {
            double value = 0;
            for (int64_t p = s->first[t]; p < s->first[t + 1]; p++)
                value += s->weight[p] * s->sums[n * s->parts + p];
            values[n * s->traces + t] = value / s->scale;
        }
    return HT_OK;
}
