/* Values of steps become samples at the times of the input, and leave in blocks; see the header. */
#include "htwave/gather.h"

/* MOST: samples of a block; VALUES: of all blocks, unless one sample of each trace is more. */
enum { MOST = 256, VALUES = 1 << 21 };

/* The samples of a group that are not written yet. */
struct block {
    const struct ht_receiver_group *group;
    int number;             /* of the group */
    int64_t from, traces;   /* its first trace, and how many */
    int64_t first, count;   /* samples */
    double *data;           /* [sample][reading][receiver] */
    bool integrals;         /* some readings are; of them, [reading][receiver]: */
    double *start, *factor; /* of ht_integrals_find */
    double *sum;            /* the integral up to a step, in steps */
    int64_t summed;         /* that step */
    int64_t due;            /* steps for the next samples, where they are made of all so far */
};
struct ht_gather {
    struct ht_sink sink;
    const struct ht_receivers *receivers;
    struct ht_resampler resampler;
    struct ht_source_samples *near; /* of sources; NULL: none */
    int64_t keeps;                  /* newest steps that later samples may need */
    int64_t width, step;            /* values of a level: traces times derivatives; of a step */
    double *value;                  /* [level][width] of steps first .. first + count - 1 */
    int64_t room;                   /* values */
    int64_t first, count;
    int64_t most;        /* samples of a block */
    struct block *block; /* [group] */
    double *turned;      /* [reading][receiver][sample] of a block */
    struct ht_pool pool; /* of the run's arrays */
};

/* `count` samples are in r->turned. */
static HT_ERR write_turned(struct ht_gather *r, struct block *b, int64_t count) {
    TRY(r->sink.take(r->sink.context, b->number, b->first, b->first + count, r->turned));
    b->first += count;
    return HT_OK;
}

static HT_ERR write_block(struct ht_gather *r, struct block *b) {
    const int64_t count = b->count;
    for (int64_t t = 0; t < b->traces; t++)
        for (int64_t i = 0; i < count; i++) r->turned[t * count + i] = b->data[i * b->traces + t];
    b->count = 0;
    return write_turned(r, b, count);
}

/* out += the weighted values of traces [from, from + traces). */
static void add_weighted(const struct ht_gather *r, const struct ht_resampled *by, int64_t from,
                         int64_t traces, double *out) {
    const int derivatives = r->resampler.of.derivatives;
    for (int64_t j = 0; j < by->count; j++)
        for (int d = 0; d < derivatives; d++) {
            const double weight = by->weight[j * derivatives + d];
            const double *value = r->value + (by->low + j) * r->width + from * derivatives + d;
            if (weight == 0) continue;
            for (int64_t t = 0; t < traces; t++) out[t] += weight * value[t * derivatives];
        }
}

static int64_t reached(const struct ht_gather *r) {
    return r->first + r->count - 1;
}

/* The sums of an integral of `count` traces += those between two times. */
static HT_ERR add_integral(struct ht_gather *r, int64_t traces, int64_t count, double from,
                           double to, double *out) {
    struct ht_resampled by;
    TRY(ht_resampler_integral(&r->resampler, from, to, r->first, reached(r), &by));
    add_weighted(r, &by, traces, count, out);
    return HT_OK;
}

/* The sums of a group's integrals up to a step. */
static HT_ERR sum_up(struct ht_gather *r, struct block *b, int64_t step) {
    const int64_t count = b->group->count;
    for (; b->integrals && b->summed < step; b->summed++)
        for (int i = 0; i < b->group->readings; i++)
            if (b->group->reading[i].integral)
                TRY(add_integral(r, b->from + i * count, count, (double)b->summed,
                                 (double)(b->summed + 1), b->sum + i * count));
    return HT_OK;
}

/* Whether a sample can be made; at: its time in steps. Integrals need the steps about the one
 * before, early values those about the one after. */
static bool is_ready(const struct ht_gather *r, const struct block *b, int64_t sample, bool last,
                     double *at) {
    if (sample >= b->group->samples) return false;
    *at = ht_receivers_step(r->receivers, b->group, sample);
    double later = b->integrals && !last ? nextafter(*at, INFINITY) : *at;
    for (int i = 0; i < b->group->readings; i++)
        later = fmax(later, *at + b->group->reading[i].late);
    return ht_resampler_ready(&r->resampler, later, reached(r), last);
}

/* The samples that the steps so far give. */
static HT_ERR make_samples(struct ht_gather *r, struct block *b, bool last) {
    double at;
    while (is_ready(r, b, b->first + b->count, last, &at)) {
        double *out = b->data + b->count * b->traces;
        const struct ht_receiver_group *group = b->group;
        const int64_t count = group->count;
        struct ht_resampled by;
        TRY(sum_up(r, b, (int64_t)floor(at)));
        for (int64_t t = 0; t < b->traces; t++) out[t] = 0;
        for (int i = 0; i < group->readings; i++) {
            if (group->reading[i].integral) continue;
            TRY(ht_resampler_weights(&r->resampler, at + group->reading[i].late, r->first,
                                     reached(r), &by));
            add_weighted(r, &by, b->from + i * count, count, out + i * count);
        }
        TRY(ht_resampler_weights(&r->resampler, at, r->first, reached(r), &by));
        ht_source_samples_add(r->near, at, &by, b->from, b->traces, out);
        for (int i = 0; i < group->readings; i++)
            if (group->reading[i].integral) {
                double *own = out + i * count;
                const int64_t from = i * count;
                memcpy(own, b->sum + from, (size_t)count * sizeof *own);
                if (at > (double)b->summed)
                    TRY(add_integral(r, b->from + from, count, (double)b->summed, at, own));
                for (int64_t t = 0; t < count; t++)
                    own[t] = b->start[from + t] + b->factor[from + t] * r->receivers->dt * own[t];
            }
        if (++b->count == r->most) TRY(write_block(r, b));
    }
    /* before the steps that it takes are forgotten */
    if (!last) TRY(sum_up(r, b, reached(r) - HT_RECEIVERS_STENCIL / 2));
    return last ? write_block(r, b) : HT_OK;
}

/* Transforms of all steps so far are made after an eighth, a quarter, half and all of them:
 * together they take less than twice as long as the last. */
static HT_ERR make_whole(struct ht_gather *r, struct block *b, bool last) {
    int64_t ready = 0;
    double at;
    if (!last && (r->sink.at_end || r->count < b->due)) return HT_OK;
    while (b->due <= r->count) b->due *= 2;
    while (is_ready(r, b, b->first + ready, last, &at)) ready++;
    for (int64_t some; ready > 0; ready -= some) {
        some = ht_least(ready, r->most);
        const struct ht_receiver_group *group = b->group;
        const double dt = r->receivers->dt;
        for (int i = 0; i < group->readings; i++) {
            const int64_t own = i * group->count;
            double *out = r->turned + own * some;
            struct ht_whole whole =
                ht_whole_of(r->receivers, group, &group->reading[i], b->first, some);
            whole.value = r->value + b->from + own;
            whole.width = r->width;
            whole.steps = r->count;
            TRY(ht_resample_whole(&whole, group->count, out));
            for (int64_t t = 0; whole.integral && t < group->count * some; t++)
                out[t] = b->start[own + t / some] + b->factor[own + t / some] * dt * out[t];
        }
        TRY(write_turned(r, b, some));
    }
    return HT_OK;
}

HT_ERR ht_gather_add(struct ht_gather *r, int64_t steps, int64_t step, bool last) {
    r->count += steps;
    REQUIRE(steps == 0 || reached(r) == step, HT_ERR_INTERNAL,
            "receivers: %lld samples after %lld steps", (long long)reached(r) + 1, (long long)step);
    for (int n = 0; n < r->receivers->count; n++)
        TRY((r->resampler.of.whole ? make_whole : make_samples)(r, &r->block[n], last));
    /* Keeps the steps that later samples may need. */
    const int64_t gone = r->count - r->keeps;
    if (gone <= 0) return HT_OK;
    r->first += gone;
    r->count -= gone;
    memmove(r->value, r->value + gone * r->step, (size_t)(r->count * r->step) * sizeof *r->value);
    return HT_OK;
}

static HT_ERR make(struct ht_gather *r, const struct ht_plan *plan, int64_t period,
                   struct ht_sink sink) {
    int64_t most = 0, from = 0;
    const struct ht_resampling of = ht_resampling_of(plan);
    r->sink = sink;
    r->resampler.of = of;
    r->receivers = plan->receivers;
    r->width = r->receivers->traces * of.derivatives;
    r->step = r->width * of.per_step;
    r->keeps = ht_resampling_keeps(plan);
    TRY(ht_source_samples_create(plan, &r->near));
    r->most = ht_most(ht_least(VALUES / r->receivers->traces, MOST), of.whole ? r->keeps / 2 : 1);
    r->room = (r->keeps + period) * r->step; /* with those since the last look */
    TRY(HT_TAKE(&r->pool, r->value, r->room));
    TRY(HT_TAKE(&r->pool, r->block, r->receivers->count));
    HT_EACH_AT(n, const struct ht_receiver_group, group, r->receivers->group, r->receivers->count) {
        struct block *b = &r->block[n];
        *b = (struct block){.group = group,
                            .number = n,
                            .from = from,
                            .traces = group->count * group->readings,
                            .due = ht_divide_up(r->keeps, 8)};
        from += b->traces;
        most = ht_most(most, b->traces * r->most);
        if (!of.whole) TRY(HT_TAKE(&r->pool, b->data, b->traces * r->most));
        for (int i = 0; i < group->readings; i++) {
            if (!group->reading[i].integral) continue;
            if (!b->integrals) {
                TRY(HT_TAKE(&r->pool, b->start, 3 * b->traces));
                b->factor = b->start + b->traces;
                b->sum = b->factor + b->traces;
            }
            b->integrals = true;
            TRY(ht_integrals_find(plan, group, &group->reading[i], b->start + i * group->count,
                                  b->factor + i * group->count));
        }
    }
    return HT_TAKE(&r->pool, r->turned, most);
}

HT_ERR ht_gather_create(const struct ht_plan *plan, int64_t period, struct ht_sink sink,
                        struct ht_gather **out) {
    HT_CREATE(out, make(*out, plan, period, sink), ht_gather_destroy);
}

void ht_gather_destroy(struct ht_gather *r) {
    if (r == NULL) return;
    ht_source_samples_destroy(r->near);
    ht_pool_free(&r->pool);
    free(r);
}

double *ht_gather_next(struct ht_gather *r) {
    return r->value + r->count * r->step;
}

HT_ERR ht_gather_archive(struct ht_gather *r, int64_t steps, const char *from,
                         struct ht_archive *archive) {
    if (!ht_archive_loads(archive)) r->count += steps;
    ht_archive_integer(archive, "receivers/first", &r->first);
    ht_archive_integer(archive, "receivers/count", &r->count);
    const int64_t values = r->count * r->step;
    REQUIRE(values <= r->room, HT_ERR_IO, "%s holds %lld steps of traces: it is of another run",
            from, (long long)r->count);
    ht_archive_numbers(archive, "receivers/values", values, r->value, false);
    HT_EACH_AT(n, struct block, b, r->block, r->receivers->count) {
        ht_archive_integer(archive, HT_KEY("receivers/%d/first", n), &b->first);
        ht_archive_integer(archive, HT_KEY("receivers/%d/count", n), &b->count);
        ht_archive_integer(archive, HT_KEY("receivers/%d/summed", n), &b->summed);
        ht_archive_integer(archive, HT_KEY("receivers/%d/due", n), &b->due);
        if (b->count <= r->most)
            ht_archive_numbers(archive, HT_KEY("receivers/%d/data", n), b->count * b->traces,
                               b->data, false);
        ht_archive_numbers(archive, HT_KEY("receivers/%d/sum", n), b->traces, b->sum, false);
    }
    return HT_OK;
}
