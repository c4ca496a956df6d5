/* Samples at any time; see the header. */
#include "htwave/sampler.h"

#include <math.h>
#include <stdlib.h>

/* Of the sinc over 32 levels: errs by 7e-7 up to 2.2 radians from a level to the next, by 2e-4 at
 * 2.4, 1.3e-2 at 2.6. */
enum { SINC = 16, LEVELS = 2 * SINC, POLYNOMIAL = 6 };
static const double SHAPE = 13.4;

struct ht_resampler {
    struct ht_resampling of;
    struct ht_birkhoff polynomial; /* of as many levels as the last sample */
    double *weight;
};

/* ---- what is needed ---- */

static bool between_steps(const struct ht_receivers *receivers) {
    bool between = false;
    for (int n = 0; n < receivers->count; n++) {
        const struct ht_receiver_group *group = &receivers->group[n];
        between = between || group->every > 0;
        for (int i = 0; i < group->readings; i++)
            between = between || group->reading[i].integral || group->reading[i].late > 0;
    }
    return between;
}

struct ht_resampling ht_resampling_of(const struct ht_plan *plan) {
    const struct ht_problem *problem = &plan->problem;
    const struct ht_scheme *scheme = problem->scheme;
    struct ht_resampling out = {.levels = 1, .per_step = 1, .derivatives = 1};
    out.whole = problem->fd.undispersed;
    if (out.whole || !between_steps(plan->receivers)) return out;
    if (scheme->nodal) {
        out.levels = HT_RECEIVERS_STENCIL;
    } else if (scheme->two_level) {
        out.sinc = true;
        out.levels = LEVELS;
        out.per_step = problem->stored[HT_PRIMARY] == problem->stored[HT_DUAL] ? 2 : 1;
        out.derivatives = plan->solution->rest ? 1 : 2;
        out.derivative[1] = 2;
    } else {
        out.levels = 2;
        out.derivatives = plan->order + 1;
        for (int l = 0; l <= plan->order; l++) out.derivative[l] = l;
    }
    return out;
}

int64_t ht_resampling_beyond(const struct ht_plan *plan) {
    const struct ht_resampling of = ht_resampling_of(plan);
    if (of.sinc) return ht_divide_up(SINC - 1, of.per_step);
    if (plan->problem.fd.pair != HT_PAIR_NONE) return HT_RECEIVERS_STENCIL / 2;
    if (!of.whole) return 0;
    return ht_fd_steps_beside((double)plan->steps);
}

bool ht_resampler_is_whole(const struct ht_resampler *r) {
    return r->of.whole;
}

int64_t ht_resampling_keeps(const struct ht_plan *plan) {
    const struct ht_resampling of = ht_resampling_of(plan);
    if (of.whole) return plan->steps + ht_resampling_beyond(plan) + 1;
    return ht_divide_up(of.levels, of.per_step);
}

bool ht_resampler_ready(const struct ht_resampler *r, double at, int64_t reached, bool last) {
    const int64_t newest = reached * r->of.per_step;
    const int beside = r->of.levels / 2;
    const double below = floor(at * r->of.per_step);
    if (r->of.whole) return at + (double)ht_fd_steps_beside(at) <= (double)reached;
    if (at > (double)reached) return false;
    if (at == floor(at) || (last && !r->of.sinc)) return true;
    return (r->of.sinc || newest + 1 >= r->of.levels) && below + beside <= (double)newest;
}

/* ---- weights ---- */

/* Values and second derivatives at an odd number of levels fix no polynomial.
 */
static int64_t levels_of(const struct ht_resampler *r, int64_t held) {
    const int64_t most = r->of.sinc ? POLYNOMIAL : r->of.levels;
    const int64_t levels = ht_least(most, held);
    return r->of.derivatives > 1 ? levels / 2 * 2 : levels;
}

static enum ht_err find_weights(struct ht_resampler *r, double at, int64_t count) {
    const struct ht_resampling *of = &r->of;
    if (of->derivatives == 1) {
        ht_lagrange_weights((int)count, at, r->weight);
        return HT_OK;
    }
    if (r->polynomial.levels != count)
        TRY(ht_birkhoff_make((int)count, of->derivatives, of->derivative, &r->polynomial));
    ht_birkhoff_weights(&r->polynomial, at, r->weight);
    return HT_OK;
}

/* Levels around those below and above `below`, from the first on. */
static void find_window(const struct ht_resampler *r, double below, int64_t held,
                        struct ht_resampled *out) {
    out->count = levels_of(r, held);
    out->low = (int64_t)below - (out->count / 2 - 1);
    out->low = ht_least(out->low, held - out->count);
    out->low = ht_most(out->low, 0);
}

/* Of the levels around those below and above `below`; those before the first are 0. */
static void take_sinc(struct ht_resampler *r, double level, double below,
                      struct ht_resampled *out) {
    const int64_t before = ht_most(SINC - 1 - (int64_t)below, 0);
    const int step = r->of.derivatives;
    double sum = 0;
    for (int64_t j = 0; j < LEVELS; j++) {
        double *weight = r->weight + j * step;
        weight[0] = ht_kaiser_sinc(level - below + SINC - 1 - (double)j, SINC, SHAPE);
        for (int d = 1; d < step; d++) weight[d] = 0;
        sum += weight[0];
    }
    for (int64_t j = 0; j < LEVELS; j++) r->weight[j * step] /= sum;
    out->low = (int64_t)below - (SINC - 1) + before;
    out->count = LEVELS - before;
    out->weight = r->weight + before * step;
}

enum ht_err ht_resampler_weights(struct ht_resampler *r, double at, int64_t first, int64_t reached,
                                 struct ht_resampled *out) {
    const int per_step = r->of.per_step;
    const int64_t held = (reached - first + 1) * per_step;
    /* the first level, half a step before the first step */
    const double from = (double)(first * per_step - (per_step - 1));
    const double level = at * per_step - from, below = floor(level);
    *out = (struct ht_resampled){.low = (int64_t)below, .count = 1, .weight = r->weight};
    if (level == below) {
        for (int i = 0; i < r->of.derivatives; i++) r->weight[i] = i == 0;
        return HT_OK;
    }
    out->apart = 1.0 / per_step;
    if (r->of.sinc && (r->of.derivatives == 1 || below >= SINC - 1)) {
        take_sinc(r, level, below, out);
        return HT_OK;
    }
    find_window(r, below, held, out);
    out->from = (from + (double)out->low) / per_step;
    return find_weights(r, level - (double)out->low, out->count);
}

/* Gauss's formula of six points: exact for polynomials of degree 11. */
enum { GAUSS = 6 };
static const double gauss[GAUSS / 2][2] = {{0.2386191860831969086, 0.4679139345726910473},
                                           {0.6612093864662645137, 0.3607615730481386076},
                                           {0.9324695142031520278, 0.1713244923791703450}};

enum ht_err ht_resampler_integral(struct ht_resampler *r, double from, double to, int64_t first,
                                  int64_t reached, struct ht_resampled *out) {
    double part[HT_RECEIVERS_STENCIL];
    *out = (struct ht_resampled){.weight = r->weight};
    find_window(r, floor(from) - (double)first, reached - first + 1, out);
    for (int64_t j = 0; j < out->count; j++) r->weight[j] = 0;
    for (int g = 0; g < GAUSS; g++) {
        const double *row = gauss[g / 2];
        const double place = g % 2 ? row[0] : -row[0];
        const double at = (from + to + place * (to - from)) / 2;
        ht_lagrange_weights((int)out->count, at - (double)(first + out->low), part);
        for (int64_t j = 0; j < out->count; j++) r->weight[j] += (to - from) / 2 * row[1] * part[j];
    }
    return HT_OK;
}

/* ---- making ---- */

enum ht_err ht_resampler_create(const struct ht_plan *plan, struct ht_resampler **out) {
    struct ht_resampler *r = NULL;
    *out = NULL;
    TRY(HT_ALLOC(r, 1));
    r->of = ht_resampling_of(plan);
    enum ht_err err = HT_ALLOC(r->weight, r->of.levels * r->of.derivatives);
    return HT_MADE(err, r, ht_resampler_destroy, out);
}

void ht_resampler_destroy(struct ht_resampler *r) {
    if (r == NULL) return;
    free(r->weight);
    free(r);
}
