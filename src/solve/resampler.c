/* Samples at any time; see the header. */
#include "htwave/resampler.h"

#include <math.h>
#include <stdlib.h>

#include "fd.h"

struct ht_resampler {
    struct ht_resampling of;
    struct ht_birkhoff polynomial; /* of as many levels as the last sample */
    int64_t steps; /* of the run, and beyond: if all are taken */
    double *weight;
    double *bessel; /* J_0, J_1 .. if all are taken */
};

/* ---- what is needed ---- */

static bool between_steps(const struct ht_receivers *receivers) {
    bool between = false;
    for (int n = 0; n < receivers->count; n++)
        between = between || receivers->group[n].every > 0;
    return between;
}

struct ht_resampling ht_resampling_of(const struct ht_plan *plan) {
    const struct ht_problem *problem = &plan->problem;
    const struct ht_scheme *scheme = ht_problem_scheme(problem);
    struct ht_resampling out = {.levels = 1, .per_step = 1, .derivatives = 1};
    out.whole = problem->fd.undispersed;
    if (out.whole || !between_steps(plan->receivers)) return out;
    if (scheme->method == HT_FINITE_DIFFERENCES) {
        out.levels = HT_RECEIVERS_STENCIL;
    } else if (scheme->two_level) {
        out.levels = 6;
        out.per_step =
            problem->stored[HT_PRIMARY] == problem->stored[HT_DUAL] ? 2 : 1;
        out.derivatives = 2;
        out.derivative[1] = 2;
    } else {
        out.levels = 2;
        out.derivatives = plan->order + 1;
        for (int l = 0; l <= plan->order; l++) out.derivative[l] = l;
    }
    return out;
}

int64_t ht_resampling_beyond(const struct ht_plan *plan) {
    if (!ht_resampling_of(plan).whole) return 0;
    return ht_fd_steps_beside((double)plan->steps);
}

int64_t ht_resampler_keeps(const struct ht_resampler *r) {
    if (r->of.whole) return r->steps;
    return ht_divide_up(r->of.levels, r->of.per_step);
}

bool ht_resampler_ready(const struct ht_resampler *r, double at,
                        int64_t reached, bool last) {
    const int64_t newest = reached * r->of.per_step;
    const double below = floor(at * r->of.per_step);
    if (r->of.whole)
        return at + (double)ht_fd_steps_beside(at) <= (double)reached;
    if (at > (double)reached) return false;
    if (at == floor(at) || last) return true;
    return newest + 1 >= r->of.levels &&
           below + r->of.levels / 2 <= (double)newest;
}

/* ---- weights ---- */

/* Values and second derivatives at an odd number of levels fix no polynomial.
 */
static int64_t levels_of(const struct ht_resampler *r, int64_t held) {
    const int64_t levels = ht_least(r->of.levels, held);
    return r->of.derivatives > 1 ? levels / 2 * 2 : levels;
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

/* fd_dispersion.c */
static void take_all(struct ht_resampler *r, double at, int64_t reached,
                     struct ht_resampled *out) {
    const int64_t last = (int64_t)ceil(at) + ht_fd_steps_beside(at);
    out->low = 0;
    out->count = ht_least(reached, last) + 1;
    ht_bessel_orders(2 * at, 2 * out->count, r->bessel);
    for (int64_t n = 0; n < out->count; n++)
        r->weight[n] = (n > 0 ? 2 : 1) * r->bessel[2 * n];
}

enum ht_err ht_resampler_weights(struct ht_resampler *r, double at,
                                 int64_t first, int64_t reached,
                                 struct ht_resampled *out) {
    const int per_step = r->of.per_step;
    const int64_t held = (reached - first + 1) * per_step;
    /* the first level, half a step before the first step */
    const double from = (double)(first * per_step - (per_step - 1));
    const double level = at * per_step - from, below = floor(level);
    *out = (struct ht_resampled){
        .low = (int64_t)below, .count = 1, .weight = r->weight};
    if (r->of.whole) {
        take_all(r, at, reached, out);
        return HT_OK;
    }
    if (level == below) {
        for (int i = 0; i < r->of.derivatives; i++) r->weight[i] = i == 0;
        return HT_OK;
    }
    out->count = levels_of(r, held);
    out->low -= out->count / 2 - 1;
    out->low = ht_least(out->low, held - out->count);
    out->low = ht_most(out->low, 0);
    return find_weights(r, level - (double)out->low, out->count);
}

/* ---- making ---- */

enum ht_err ht_resampler_create(const struct ht_plan *plan,
                                struct ht_resampler **out) {
    struct ht_resampler *r = NULL;
    *out = NULL;
    TRY(HT_ALLOC(r, 1));
    r->of = ht_resampling_of(plan);
    r->steps = plan->steps + ht_resampling_beyond(plan) + 1;
    const int64_t most = r->of.whole ? r->steps : r->of.levels;
    enum ht_err err = HT_ALLOC(r->weight, most * r->of.derivatives);
    if (err == HT_OK && r->of.whole) err = HT_ALLOC(r->bessel, 2 * most);
    if (err == HT_OK)
        *out = r;
    else
        ht_resampler_destroy(r);
    return err;
}

void ht_resampler_destroy(struct ht_resampler *r) {
    if (r == NULL) return;
    free(r->weight);
    free(r->bessel);
    free(r);
}
