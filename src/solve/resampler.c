/* Samples at any time; see the header. */
#include "htwave/resampler.h"

#include <math.h>
#include <stdlib.h>

struct ht_resampler {
    struct ht_resampling of;
    struct ht_birkhoff polynomial; /* of as many steps as the last sample */
    double *weight;
};

/* ---- what is needed ---- */

static bool between_steps(const struct ht_receivers *receivers) {
    bool between = false;
    for (int n = 0; n < receivers->count; n++)
        between = between || receivers->group[n].every > 0;
    return between;
}

struct ht_resampling ht_resampling_of(const struct ht_plan *plan) {
    const struct ht_scheme *scheme = ht_problem_scheme(&plan->problem);
    struct ht_resampling out = {.steps = 1, .derivatives = 1};
    if (!between_steps(plan->receivers)) return out;
    if (scheme->method == HT_FINITE_DIFFERENCES) {
        out.steps = HT_RECEIVERS_STENCIL;
    } else if (scheme->two_level) {
        out.steps =
            (int)ht_least(2 * (int64_t)plan->order + 4, HT_RECEIVERS_STENCIL);
        out.derivatives = 2;
        out.derivative[1] = 2;
    } else {
        out.steps = 2;
        out.derivatives = plan->order + 1;
        for (int l = 0; l <= plan->order; l++) out.derivative[l] = l;
    }
    return out;
}

int64_t ht_resampler_keeps(const struct ht_resampler *r) {
    return r->of.steps;
}

bool ht_resampler_ready(const struct ht_resampler *r, double at,
                        int64_t reached, bool last) {
    const double most = (double)reached, below = floor(at);
    if (at > most) return false;
    if (at == below || last) return true;
    return reached + 1 >= r->of.steps && below + r->of.steps / 2 <= most;
}

/* ---- weights ---- */

/* Values and second derivatives of an odd number of steps fix no polynomial. */
static int64_t steps_of(const struct ht_resampler *r, int64_t held) {
    const int64_t steps = ht_least(r->of.steps, held);
    return r->of.derivatives > 1 ? steps / 2 * 2 : steps;
}

static enum ht_err find_weights(struct ht_resampler *r, double at,
                                int64_t count) {
    const struct ht_resampling *of = &r->of;
    if (of->derivatives == 1) {
        ht_lagrange_weights((int)count, at, r->weight);
        return HT_OK;
    }
    if (r->polynomial.levels != count)
        TRY(ht_birkhoff_make((int)count, of->derivatives, of->derivative,
                             &r->polynomial));
    ht_birkhoff_weights(&r->polynomial, at, r->weight);
    return HT_OK;
}

enum ht_err ht_resampler_weights(struct ht_resampler *r, double at,
                                 int64_t first, int64_t reached,
                                 struct ht_resampled *out) {
    const int64_t below = (int64_t)floor(at), held = reached - first + 1;
    *out = (struct ht_resampled){.low = below, .count = 1, .weight = r->weight};
    if (at == (double)below) {
        for (int i = 0; i < r->of.derivatives; i++) r->weight[i] = i == 0;
        return HT_OK;
    }
    out->count = steps_of(r, held);
    out->low = below - (out->count / 2 - 1);
    out->low = ht_least(out->low, reached + 1 - out->count);
    out->low = ht_most(out->low, first);
    return find_weights(r, at - (double)out->low, out->count);
}

/* ---- making ---- */

enum ht_err ht_resampler_create(const struct ht_plan *plan,
                                struct ht_resampler **out) {
    struct ht_resampler *r = NULL;
    *out = NULL;
    TRY(HT_ALLOC(r, 1));
    r->of = ht_resampling_of(plan);
    const enum ht_err err =
        HT_ALLOC(r->weight, r->of.steps * r->of.derivatives);
    if (err == HT_OK)
        *out = r;
    else
        ht_resampler_destroy(r);
    return err;
}

void ht_resampler_destroy(struct ht_resampler *r) {
    if (r == NULL) return;
    free(r->weight);
    free(r);
}
