/* Samplers: what is the same for all methods; see the header. */
#include <stdlib.h>
#include <string.h>

#include "methods.h"
#include "sampler_private.h"

/* Values of a ring, and its slots at most and at least. */
enum { RING_VALUES = 1 << 21, MOST_SLOTS = 1024, LEAST_SLOTS = 16 };

int64_t ht_sampler_slots(int64_t rows) {
    const int64_t slots = ht_least(RING_VALUES / ht_most(rows, 1), MOST_SLOTS);
    return ht_most(slots, LEAST_SLOTS);
}

struct ht_trace ht_trace_at(const struct ht_receivers *receivers, int64_t trace) {
    const struct ht_receiver_group *group = receivers->group;
    for (; trace >= group->count * group->readings; group++)
        trace -= group->count * group->readings;
    return (struct ht_trace){.x = group->x[trace % group->count],
                             .reading = group->reading[trace / group->count]};
}

/* ---- samples ---- */

static bool same_plane(const struct ht_sampler_row *a, const struct ht_sampler_row *b) {
    return a->subgrid == b->subgrid && a->field == b->field && a->plane == b->plane;
}

/* On the host: of a stepper without a device. */
static enum ht_err take_plain(struct ht_sampler *s, int64_t slot) {
    const struct ht_stepper *stepper = s->stepper;
    for (int64_t i = 0; i < s->rows; i++) {
        const struct ht_sampler_row *row = &s->row[i];
        if (i == 0 || !same_plane(row, row - 1))
            TRY(stepper->ops->get(stepper->self, row->subgrid, row->field, s->coefs, row->plane,
                                  row->plane + 1, s->plane));
        s->ring[slot * s->rows + i] = s->ops->sum(s->self, row, s->plane);
    }
    return HT_OK;
}

enum ht_err ht_sampler_take(struct ht_sampler *s) {
    REQUIRE(s->taken < s->slots, HT_ERR_INTERNAL,
            "receivers: more than %lld steps without reading their samples", (long long)s->slots);
    const int64_t slot = s->taken++;
    return s->ops->take != NULL ? s->ops->take(s->self, slot) : take_plain(s, slot);
}

/* Ranks add zeros for planes of others, which is exact. */
static enum ht_err share_sums(struct ht_sampler *s, int64_t steps) {
    const int64_t most = 1 << 24, all = steps * s->all;
    if (!ht_grid_cut(s->grid)) return HT_OK;
    for (int64_t at = 0; at < all; at += most)
        TRY(ht_comm_sum(s->grid->slab.comm, (int)ht_least(all - at, most), s->sums + at));
    return HT_OK;
}

enum ht_err ht_sampler_collect(struct ht_sampler *s, int64_t *steps, double *values) {
    *steps = s->taken;
    s->taken = 0;
    memset(s->sums, 0, (size_t)(s->slots * s->all) * sizeof *s->sums);
    TRY(ht_comm_agree(s->grid->slab.comm,
                      s->ops->read != NULL ? s->ops->read(s->self, *steps, s->ring) : HT_OK));
    for (int64_t n = 0; n < *steps; n++)
        for (int64_t i = 0; i < s->rows; i++)
            s->sums[n * s->all + s->row[i].number] = s->ring[n * s->rows + i];
    TRY(share_sums(s, *steps));
    for (int64_t n = 0; values != NULL && n < *steps; n++)
        for (int64_t t = 0; t < s->traces; t++) {
            double value = 0;
            for (int64_t p = s->first[t]; p < s->first[t + 1]; p++)
                value += s->weight[p] * s->sums[n * s->all + p];
            values[n * s->traces + t] = value / s->scale;
        }
    return HT_OK;
}

int64_t ht_sampler_period(const struct ht_sampler *s) {
    return s->slots;
}

double ht_sampler_seconds(const struct ht_sampler *s) {
    return s->ops->seconds != NULL ? s->ops->seconds(s->self) : 0;
}

int64_t ht_sampler_bytes(const struct ht_plan *plan, bool fp64) {
    if (plan->receivers == NULL) return 0;
    return plan->problem.scheme->does->sampler_bytes(plan, fp64);
}

/* ---- making ---- */

enum ht_err ht_sampler_add(struct ht_sampler *s, const struct ht_sampler_row *row, double weight,
                           bool *own) {
    int64_t first, last;
    ht_grid_own(s->grid, row->subgrid, &first, &last);
    *own = row->plane >= first && row->plane < last;
    TRY(HT_GROW(s->weight, s->all + 1, s->room[0]));
    TRY(HT_GROW(s->row, s->rows + 1, s->room[1]));
    if (*own) {
        s->row[s->rows] = *row;
        s->row[s->rows++].number = s->all;
    }
    s->weight[s->all++] = weight;
    return HT_OK;
}

void ht_sampler_destroy(struct ht_sampler *s) {
    if (s == NULL) return;
    if (s->stepper->sampler == s) s->stepper->sampler = NULL;
    if (s->self != NULL) s->ops->destroy(s->self);
    free(s->first);
    free(s->weight);
    free(s->row);
    free(s->ring);
    free(s->sums);
    free(s->plane);
    free(s);
}

static int by_plane(const void *a, const void *b) {
    const struct ht_sampler_row *x = a, *y = b;
    if (x->subgrid != y->subgrid) return x->subgrid < y->subgrid ? -1 : 1;
    if (x->field != y->field) return x->field < y->field ? -1 : 1;
    if (x->plane != y->plane) return x->plane < y->plane ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

enum ht_err ht_sampler_listed(struct ht_sampler *s) {
    if (s->rows > 0) qsort(s->row, (size_t)s->rows, sizeof *s->row, by_plane);
    s->slots = ht_sampler_slots(s->all);
    TRY(HT_ALLOC(s->ring, s->slots * s->rows));
    TRY(HT_ALLOC(s->sums, s->slots * s->all));
    return HT_ALLOC(s->plane, s->coefs * ht_grid_plane(s->grid, HT_PRIMARY));
}

static enum ht_err make(const struct ht_plan *plan, struct ht_sampler *s) {
    const struct ht_resampling need = ht_resampling_of(plan);
    s->grid = &plan->grid;
    s->scale = plan->scale;
    s->traces = plan->receivers->traces * need.per_step * need.derivatives;
    TRY(HT_ALLOC(s->first, s->traces + 1));
    TRY(plan->problem.scheme->does->sampler_make(plan, s));
    s->stepper->sampler = s;
    return ht_sampler_take(s);
}

enum ht_err ht_sampler_create(const struct ht_plan *plan, struct ht_stepper *stepper,
                              struct ht_sampler **out) {
    struct ht_sampler *s = NULL;
    *out = NULL;
    enum ht_err err = HT_ALLOC(s, 1);
    if (err == HT_OK) s->stepper = stepper;
    if (err == HT_OK) err = make(plan, s);
    err = ht_comm_agree(plan->grid.slab.comm, err);
    return HT_MADE(err, s, ht_sampler_destroy, out);
}
