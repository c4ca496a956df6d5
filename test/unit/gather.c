/* Traces from the values of all steps, and the transpose: <T v, r> = <v, T^T r> for random values v
 * of steps and r of samples, of each kind of group. */
#include "htwave/gather.h"
#include "errors.h"
#include "planned.h"

struct traces {
    const struct ht_receivers *receivers;
    double **data;
};

static enum ht_err take(void *context, int n, int64_t first, int64_t last, const double *data) {
    const struct traces *to = context;
    const struct ht_receiver_group *group = &to->receivers->group[n];
    for (int64_t t = 0; t < group->count * group->readings; t++)
        for (int64_t j = first; j < last; j++)
            to->data[n][t * group->samples + j] = data[t * (last - first) + j - first];
    return HT_OK;
}

/* As a run gives them, some steps at a time. */
static void record(const struct ht_plan *plan, const double *value, struct traces *to) {
    const int64_t steps = ht_resampling_last(plan) + 1, width = plan->receivers->traces,
                  period = 17;
    struct ht_gather *gather;
    must(ht_gather_create(plan, period, (struct ht_sink){take, to, true}, &gather));
    for (int64_t n = 0; n < steps; n += period) {
        const int64_t some = ht_least(period, steps - n);
        memcpy(ht_gather_next(gather), value + n * width, (size_t)(some * width) * sizeof *value);
        must(ht_gather_add(gather, some, n + some - 1, n + some == steps));
    }
    ht_gather_destroy(gather);
}

static void dots(const char *what, const char *options) {
    HT_ENDED(planned_end) struct planned p;
    HT_ENDED(ht_pool_free) struct ht_pool pool = {0};
    must(plan_make(&p, ' ', "%s", options));
    const struct ht_plan *plan = p.plan;
    const struct ht_receivers *receivers = plan->receivers;
    const int64_t values = (ht_resampling_last(plan) + 1) * receivers->traces;
    double *v, *back, **r, sums[4] = {0};
    struct traces made = {.receivers = receivers};
    must(HT_TAKE(&pool, v, values));
    must(HT_TAKE(&pool, back, values));
    must(ht_receivers_room(&pool, receivers, &made.data));
    must(ht_receivers_room(&pool, receivers, &r));
    for (int64_t i = 0; i < values; i++) v[i] = ht_rng_uniform(1, (uint64_t)i);
    for (int n = 0; n < receivers->count; n++) {
        const struct ht_receiver_group *group = &receivers->group[n];
        const int64_t samples = group->count * group->readings * group->samples;
        for (int64_t i = 0; i < samples; i++)
            r[n][i] = ht_rng_uniform(2 + (uint64_t)n, (uint64_t)i);
    }
    record(plan, v, &made);
    must(ht_gather_transpose(plan, r, back));
    for (int n = 0; n < receivers->count; n++) {
        const struct ht_receiver_group *group = &receivers->group[n];
        const int64_t samples = group->count * group->readings * group->samples;
        sums[0] += dot(samples, made.data[n], r[n]);
        sums[1] += dot(samples, made.data[n], made.data[n]);
        sums[2] += dot(samples, r[n], r[n]);
    }
    sums[3] = dot(values, v, back);
    TEST_BELOW(fabs(sums[0] - sums[3]) / sqrt(sums[1] * sums[2]), 1e-13,
               "%s: %d steps, %d traces, <T v, r> = %.6g", what, (int)ht_resampling_last(plan),
               (int)receivers->traces, sums[0]);
}

#define BOX "grid={cells=[20,18];} initial.type=zero time.scheme=fd time.end=1.7 "
#define AT "type=\"line\";from=[0.21,0.33];to=[0.8,0.7];"
#define STEPS "{" AT "count=3;fields=[\"p\"];start=0.3;}"
#define TIMES "{" AT "count=2;fields=[\"p\",\"p_x1\"];every=0.0371;start=0.05;}"
#define FLOWS "{" AT "count=3;fields=[\"v2\",\"p\",\"v1\"];every=0.0113;}"
#define FLOWS_STEPS "{position=[0.4,0.45];fields=[\"v1\"];}"
#define ACOUSTIC BOX "system=acoustic medium.rho=1.3 receivers=("
#define ELASTIC                                                                                \
    BOX "system=elastic receivers=({" AT "count=2;fields=[\"v1\",\"s11\"];every=0.0113;},{" AT \
        "count=3;start=0.2;}) "                                                                \
        "time.stages=1 time.dispersion="

int main(void) {
    ht_log_level_set(HT_LOG_QUIET);
    dots("values at steps", ACOUSTIC STEPS ")");
    dots("values between steps", ACOUSTIC TIMES ")");
    dots("integrals", ACOUSTIC FLOWS "," FLOWS_STEPS ")");
    dots("all groups", ACOUSTIC STEPS "," TIMES "," FLOWS "," FLOWS_STEPS ")");
    dots("few steps", ACOUSTIC TIMES "," FLOWS ") time.end=0.1 time.step=0.02");
    dots("without dispersion",
         ACOUSTIC STEPS "," TIMES "," FLOWS "," FLOWS_STEPS ") time.stages=1");
    dots("staggered fields", ELASTIC "keep");
    dots("staggered fields without dispersion", ELASTIC "remove");
    return test_end("gather");
}
