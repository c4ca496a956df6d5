/* Receivers of finite differences: values by the polynomials of htwave/grid.h. The nodes of a
 * point are a product of lists per axis. A part is the sum over those in one x3 plane, taken by the
 * plane's owner after each step (task SAMPLE); the weight of the plane comes in on the host.
 */
#include <stdlib.h>

#include "fd.h"
#include "src/solve/methods.h"
#include "src/solve/sampler_private.h"

struct sampler {
    struct ht_fd_stepper *stepper;
    struct ht_fd_probes probes;
    int64_t parts;
    int64_t *part; /* [item] */
    double *whole; /* [item] sum of its weights */
    double *sums;  /* [slot][item] */
};

static int64_t most_parts(const struct ht_plan *plan) {
    return plan->receivers->traces * (plan->grid.dims > 2 ? plan->grid.point_nodes + 1 : 1);
}

int64_t ht_differences_sampler_bytes(const struct ht_plan *plan, bool fp64) {
    const int64_t parts = most_parts(plan);
    return ht_fd_sampler_bytes(plan->grid.point_nodes + 1, plan->receivers->traces, parts,
                               ht_sampler_slots(parts), fp64);
}

static void sampler_destroy(void *self) {
    struct sampler *s = self;
    s->stepper->probes = NULL;
    s->stepper->slab.samples = false;
    s->stepper->engine.ops->probes_destroy(&s->probes);
    free(s->probes.pattern);
    free(s->probes.item);
    free(s->probes.level);
    free(s->part);
    free(s->whole);
    free(s->sums);
    free(s);
}

static enum ht_err sampler_take(void *self, int64_t *steps, double *sums) {
    struct sampler *s = self;
    struct ht_fd_probes *probes = &s->probes;
    *steps = probes->taken;
    if (probes->items > 0)
        TRY(s->stepper->engine.ops->probes_read(&s->stepper->engine, probes, *steps, s->sums));
    for (int64_t n = 0; n < *steps; n++)
        for (int64_t i = 0; i < probes->items; i++)
            sums[n * s->parts + s->part[i]] =
                s->sums[n * probes->items + i] + probes->level[n] * s->whole[i];
    probes->taken = 0;
    return HT_OK;
}

static double sampler_seconds(const void *self) {
    const struct sampler *s = self;
    return s->probes.device != NULL ? ht_fd_sampler_seconds(s->probes.device) : 0;
}

static const struct ht_sampler_ops sampler_ops = {
    .take = sampler_take, .seconds = sampler_seconds, .destroy = sampler_destroy};

/* The nodes of a trace along one axis, in indices of the window along x1 and x2, of the grid along
 * x3. */
static struct ht_point_axis axis_of(const struct sampler *s, const struct ht_trace *trace,
                                    int axis) {
    struct ht_point_axis out;
    ht_point_axis_read(s->stepper->problem.grid, axis, trace->x[axis], trace->reading.slope == axis,
                       &out);
    for (int i = 0; axis < 2 && i < out.count; i++) out.node[i] += s->stepper->box.begin[axis];
    return out;
}

static double sum_of_weights(const struct ht_point_axis *axis) {
    double sum = 0;
    for (int i = 0; i < axis->count; i++) sum += axis->weight[i];
    return sum;
}

/* The parts of a trace, and the items of those on own planes. */
static void add_trace(struct sampler *s, const struct ht_trace *trace, double *weight) {
    const struct ht_fd_stepper *stepper = s->stepper;
    const struct ht_point_axis axis[3] = {axis_of(s, trace, 0), axis_of(s, trace, 1),
                                          axis_of(s, trace, 2)};
    const struct ht_point_axis *planes = &axis[2];
    const double whole = sum_of_weights(&axis[0]) * sum_of_weights(&axis[1]);
    struct ht_fd_probes *probes = &s->probes;
    const int64_t pattern = probes->patterns;
    for (int k = 0; k < planes->count; k++) {
        const int64_t plane = planes->node[k], part = s->parts++;
        weight[part] = planes->weight[k];
        if (plane < stepper->first || plane >= stepper->last) continue;
        probes->patterns = pattern + 1;
        probes->item[probes->items] = (struct ht_fd_item){
            .pattern = pattern, .plane = plane - stepper->first + stepper->box.begin[2]};
        s->whole[probes->items] = whole;
        s->part[probes->items++] = part;
    }
    if (probes->patterns > pattern)
        for (int k = 0; k < 2; k++) probes->pattern[pattern].axis[k] = axis[k];
}

static enum ht_err list_parts(const struct ht_plan *plan, struct sampler *s,
                              struct ht_sampler *out) {
    const int64_t most = most_parts(plan);
    TRY(HT_ALLOC(out->first, out->traces + 1));
    TRY(HT_ALLOC(out->weight, most));
    TRY(HT_ALLOC(s->probes.pattern, out->traces));
    TRY(HT_ALLOC(s->probes.item, most));
    TRY(HT_ALLOC(s->part, most));
    TRY(HT_ALLOC(s->whole, most));
    for (int64_t t = 0; t < out->traces; t++) {
        const struct ht_trace trace = ht_trace_at(plan->receivers, t);
        add_trace(s, &trace, out->weight);
        out->first[t + 1] = s->parts;
    }
    out->parts = s->parts;
    out->period = s->probes.slots = ht_sampler_slots(most);
    TRY(HT_ALLOC(s->probes.level, s->probes.slots));
    return HT_ALLOC(s->sums, s->probes.slots * s->probes.items);
}

enum ht_err ht_differences_sampler_make(const struct ht_plan *plan,
                                        const struct ht_stepper *stepper, const char *cache,
                                        struct ht_sampler *out) {
    struct sampler *s = NULL;
    TRY(HT_ALLOC(s, 1));
    s->stepper = ht_fd_stepper_of(stepper);
    out->ops = &sampler_ops;
    out->self = s;
    TRY(list_parts(plan, s, out));
    if (s->probes.items > 0)
        TRY(s->stepper->engine.ops->probes_create(&s->stepper->engine, cache, &s->probes));
    s->stepper->probes = &s->probes;
    s->stepper->slab.samples = true;
    return ht_fd_sample(s->stepper);
}
