/* The transpose of src/run/gather.c; see the header. */
#include "htwave/gather.h"

struct transpose {
    const struct ht_plan *plan;
    struct ht_resampler resampler;
    int64_t last, width; /* step, values of a step */
    double *out;
    /* Of a reading of a group: */
    const struct ht_receiver_group *group;
    const struct ht_reading *reading;
    int64_t from;        /* its first trace */
    const double *data;  /* [receiver][sample] */
    double *factor;      /* [receiver], of data */
    double *row, *later; /* [receiver]: of a sample, of all samples after a time */
};

static void find_row(struct transpose *t, int64_t sample) {
    for (int64_t i = 0; i < t->group->count; i++)
        t->row[i] = t->factor[i] * t->data[i * t->group->samples + sample];
}

static void scatter(const struct transpose *t, const struct ht_resampled *by, const double *row) {
    for (int64_t j = 0; j < by->count; j++) {
        double *out = t->out + (by->low + j) * t->width + t->from;
        for (int64_t i = 0; i < t->group->count; i++) out[i] += by->weight[j] * row[i];
    }
}

static HT_ERR add_values(struct transpose *t) {
    struct ht_resampled by;
    for (int64_t n = 0; n < t->group->samples; n++) {
        const double at = ht_receivers_step(t->plan->receivers, t->group, n) + t->reading->late;
        TRY(ht_resampler_weights(&t->resampler, at, 0, t->last, &by));
        find_row(t, n);
        scatter(t, &by, t->row);
    }
    return HT_OK;
}

static HT_ERR add_integral(struct transpose *t, double from, double to, const double *row) {
    struct ht_resampled by;
    TRY(ht_resampler_integral(&t->resampler, from, to, 0, t->last, &by));
    scatter(t, &by, row);
    return HT_OK;
}

/* A step's part is in all samples after it. */
static HT_ERR add_integrals(struct transpose *t) {
    int64_t step = 0;
    memset(t->later, 0, (size_t)t->group->count * sizeof *t->later);
    for (int64_t n = t->group->samples - 1; n >= 0; n--) {
        const double at = ht_receivers_step(t->plan->receivers, t->group, n), below = floor(at);
        if (n == t->group->samples - 1) step = (int64_t)below;
        for (; (double)step > below; step--)
            TRY(add_integral(t, (double)(step - 1), (double)step, t->later));
        find_row(t, n);
        if (at > below) TRY(add_integral(t, below, at, t->row));
        for (int64_t i = 0; i < t->group->count; i++) t->later[i] += t->row[i];
    }
    for (; step > 0; step--) TRY(add_integral(t, (double)(step - 1), (double)step, t->later));
    return HT_OK;
}

static HT_ERR add_whole(struct transpose *t) {
    const struct ht_receiver_group *group = t->group;
    struct ht_whole whole = ht_whole_of(t->plan->receivers, group, t->reading, 0, group->samples);
    HT_ARRAY(double, data, group->count * group->samples);
    whole.width = t->width;
    whole.steps = t->last + 1;
    for (int64_t i = 0; i < group->count * group->samples; i++)
        data[i] = t->factor[i / group->samples] * t->data[i];
    return ht_resample_whole_transposed(&whole, group->count, data, t->out + t->from);
}

static HT_ERR add_all(struct transpose *t, double *const *data) {
    const struct ht_receivers *receivers = t->plan->receivers;
    for (int n = 0; n < receivers->count; n++) {
        t->group = &receivers->group[n];
        for (int i = 0; i < t->group->readings; i++) {
            t->reading = &t->group->reading[i];
            t->data = data[n] + i * t->group->count * t->group->samples;
            for (int64_t j = 0; j < t->group->count; j++) t->factor[j] = 1;
            if (t->reading->integral) {
                TRY(ht_integrals_find(t->plan, t->group, t->reading, t->row, t->factor));
                for (int64_t j = 0; j < t->group->count; j++) t->factor[j] *= receivers->dt;
            }
            TRY((t->resampler.of.whole  ? add_whole
                 : t->reading->integral ? add_integrals
                                        : add_values)(t));
            t->from += t->group->count;
        }
    }
    return HT_OK;
}

HT_ERR ht_gather_transpose(const struct ht_plan *plan, double *const *data, double *out) {
    struct transpose t = {.plan = plan, .last = ht_resampling_last(plan), .out = out};
    t.resampler.of = ht_resampling_of(plan);
    t.width = plan->receivers->traces;
    HT_ARRAY(double, room, 3 * t.width);
    REQUIRE(t.resampler.of.derivatives == 1, HT_ERR_INTERNAL, "the transpose of traces by %s",
            plan->problem.scheme->name);
    t.factor = room;
    t.row = room + t.width;
    t.later = room + 2 * t.width;
    memset(out, 0, (size_t)((t.last + 1) * t.width) * sizeof *out);
    return add_all(&t, data);
}
