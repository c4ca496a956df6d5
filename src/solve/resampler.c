/* Samples at any time; see the header. */
#include <complex.h>

#include "htwave/sampler.h"

/* Exact removal of the dispersion of one term in time, by the transforms of
 * docs/developers/differences.md. A frequency w at time t moves to t cos(w dt/2) in the source,
 * earlier, and back in the trace.
 *
 * Samples are made all those of a trace at once. Means over a period of w are sums
 *     1/M sum over q of ..,   w = 2 pi q/M,
 * but for J_2n(2 tau) of n beyond M less the number of steps. C at all w is a Fourier transform.
 * The sums, of uneven frequencies s at even times, are sums on a grid of frequencies over which
 * each s is spread with the window exp(B sqrt(1 - (2 y/W)^2)), a Fourier transform again, and a
 * division by the window's (A. H. Barnett, J. Magland, L. af Klinteberg, SIAM J. Sci. Comput. 41,
 * 2019, C479): 1e-13. Two traces are the parts of one complex number. The signals of sources take
 * the same way back.
 *
 * Of staggered pairs one group has values half a step before the steps, and begins with 0. Then
 * with the sine series S(w) = 2 sum over n of u_(n+1/2) sin((n + 1/2) w) the sample is the mean of
 * S(w) sin(s tau), that is 2 sum_n J_(2n+1)(2t/dt) u_(n+1/2). */

/* The grid of frequencies has twice the points of samples, or more. */
enum { W = 14, PARTS = 32, TRACES = 2 * HT_LANES };
static const double B = 2.3 * W;

/* Steps after a time, in steps, that matter to it: the weights 2 J_2n(2 tau) of all later ones
 * together are below 1e-7, those of Ai, J_2n(2 tau) = tau^(-1/3) Ai(2 (n - tau)/tau^(1/3)), beyond
 * 7.4. */
static int64_t ht_fd_steps_beside(double step) {
    return (int64_t)(3.7 * cbrt(step)) + 1;
}

struct transform {
    const struct ht_whole *of;
    int bits[2];             /* of the numbers of points: */
    int64_t size, grid;      /* M, and of the grid of frequencies */
    double complex *turn[2]; /* of both transforms */
    int64_t middle_sample;
    int64_t count;         /* q = 0 .. M/2 */
    int64_t *first;        /* [q]: of W points of the grid */
    double *weight;        /* [q][W] */
    double complex *value; /* [q]: C is value times the transform's number q, and conjugates */
    double complex *wave;  /* [q]: exp(i s tau) of the sample in the middle, times its share */
    double *factor;        /* [sample]: 1 over the window's transform */
    ht_lanes **room;       /* [worker] of both transforms */
    struct ht_pool pool;   /* of these */
    int64_t traces, steps;
    const double *given; /* of the transpose: [trace][sample]; out: as of->value */
    double *out;
};

static void set_frequency(struct transform *t, int64_t q) {
    const struct ht_whole *of = t->of;
    const double half = HT_PI * (double)q / (double)t->size, s = 2 * sin(half);
    const double turns = s * of->every / (2 * HT_PI);
    const double at = (turns - floor(turns)) * (double)t->grid;
    const double tau = of->at + (double)t->middle_sample * of->every;
    /* of the waves s and -s; a frequency between 0 and pi stands for two */
    const double share = (q == 0 || 2 * q == t->size ? 0.5 : 1.0) / (double)t->size;
    const double part = !of->integral ? share : q > 0 ? share / s : 0;
    const bool sine = of->integral || of->between;
    t->first[q] = (int64_t)ceil(at - W / 2.0);
    t->value[q] = of->between ? ht_complex(sin(half), cos(half)) : 1;
    t->wave[q] = sine ? part * ht_complex(sin(s * tau), -cos(s * tau))
                      : part * ht_complex(cos(s * tau), sin(s * tau));
    for (int k = 0; k < W; k++) {
        const double y = 2 * ((double)(t->first[q] + k) - at) / W;
        t->weight[q * W + k] = exp(B * (sqrt(fmax(1 - y * y, 0)) - 1));
    }
}

/* M: at least so much. rooms: of workers. */
static HT_ERR make(struct transform *t, int64_t least, int64_t rooms) {
    const struct ht_whole *of = t->of;
    for (t->size = 1; t->size < least; t->size *= 2) t->bits[0]++;
    for (t->grid = 1; t->grid < 2 * ht_most(of->samples, W); t->grid *= 2) t->bits[1]++;
    t->middle_sample = of->samples / 2;
    t->count = t->size / 2 + 1;
    TRY(HT_TAKE(&t->pool, t->first, t->count));
    TRY(HT_TAKE(&t->pool, t->weight, t->count * W));
    TRY(HT_TAKE(&t->pool, t->value, t->count));
    TRY(HT_TAKE(&t->pool, t->wave, t->count));
    TRY(HT_TAKE(&t->pool, t->factor, of->samples));
    TRY(HT_TAKE(&t->pool, t->room, ht_threads_count()));
    for (int64_t i = 0; i < ht_least(rooms, ht_threads_count()); i++)
        TRY(HT_TAKE(&t->pool, t->room[i], t->size + t->grid));
    for (int i = 0; i < 2; i++) {
        const int64_t n = (int64_t)1 << t->bits[i];
        TRY(HT_TAKE(&t->pool, t->turn[i], n / 2 + 1));
        for (int64_t q = 0; q < n / 2; q++) {
            const double angle = 2 * HT_PI * (double)q / (double)n;
            t->turn[i][q] = ht_complex(cos(angle), -sin(angle));
        }
    }
    for (int64_t q = 0; q < t->count; q++) set_frequency(t, q);
    for (int64_t j = 0; j < of->samples; j++) {
        /* By the trapezoidal rule in a, y = W/2 sin a, at whose ends all is 1e-14. */
        const double angle = 2 * HT_PI / (double)t->grid * (double)(j - t->middle_sample);
        double sum = 0;
        for (int k = -PARTS; k <= PARTS; k++) {
            const double a = HT_PI / 2 * k / PARTS;
            sum += exp(B * (cos(a) - 1)) * cos(angle * W / 2 * sin(a)) * cos(a);
        }
        t->factor[j] = 1 / (sum * W / 2 * HT_PI / 2 / PARTS);
    }
    return HT_OK;
}

/* sum += by x */
static inline void add(double complex by, const double *restrict x, double *restrict sum) {
    const double re = creal(by), im = cimag(by);
    for (int lane = 0; lane < HT_LANES; lane++) {
        sum[lane] += re * x[lane] - im * x[lane + HT_LANES];
        sum[lane + HT_LANES] += re * x[lane + HT_LANES] + im * x[lane];
    }
}

static inline void add_real(double by, const double *restrict x, double *restrict sum) {
    for (int lane = 0; lane < TRACES; lane++) sum[lane] += by * x[lane];
}

/* From the transform of steps, x, to waves on the grid and, at frequency 0, what grows with the
 * time; or the transpose, back. */
static void spread(const struct transform *t, bool back, ht_lanes *x, ht_lanes *grid,
                   double *still) {
    const double part = t->of->integral ? 1 / (double)t->size : 0;
    for (int64_t q = 0; q < t->count; q++) {
        ht_lanes value = {0};
        double *upper = x[-q & (t->size - 1)];
        if (!back) {
            add(t->value[q], x[q], value);
            add(conj(t->value[q]), upper, value);
        }
        if (q == 0) add_real(part, back ? still : value, back ? value : still);
        for (int side = 0; side < 2; side++) {
            const double complex by = side ? conj(t->wave[q]) : t->wave[q];
            ht_lanes wave = {0};
            if (!back) add(by, value, wave);
            for (int k = 0; k < W; k++) {
                const int64_t at = t->first[q] + k;
                double *point = grid[(side ? -at : at) & (t->grid - 1)];
                const double weight = t->weight[q * W + k];
                add_real(weight, back ? point : wave, back ? wave : point);
            }
            if (back) add(by, wave, value);
        }
        if (back) {
            add(t->value[q], value, x[q]);
            add(conj(t->value[q]), value, upper);
        }
    }
}

/* Samples of TRACES traces, or as many as there are; or the transpose, where samples are given. */
static HT_ERR transform_some(void *data, int64_t chunk) {
    const struct transform *t = data;
    const struct ht_whole *of = t->of;
    const bool back = t->given != NULL;
    const int64_t trace = TRACES * chunk, traces = ht_least(TRACES, t->traces - trace);
    const int64_t begin = of->between ? 1 : 0, steps = t->steps - begin;
    const double once = of->between ? 1 : 0.5; /* u_0 counts once */
    ht_lanes *x = t->room[ht_threads_worker()], *grid = x + t->size, still = {0};
    memset(x, 0, (size_t)(t->size + t->grid) * sizeof *x);
    for (int64_t n = 0; !back && n < steps; n++)
        memcpy(x[n], of->value + (n + begin) * of->width + trace, (size_t)traces * sizeof **x);
    for (int64_t j = 0; back && j < of->samples; j++)
        for (int64_t i = 0; i < traces; i++) {
            const double sample = t->given[(trace + i) * of->samples + j];
            grid[(t->middle_sample - j) & (t->grid - 1)][i] = t->factor[j] * sample;
            still[i] += (of->at + (double)j * of->every) * sample;
        }
    for (int lane = 0; lane < TRACES; lane++) x[0][lane] *= once;
    ht_fourier_lanes(t->bits[back], t->turn[back], back ? grid : x);
    spread(t, back, x, grid, still);
    ht_fourier_lanes(t->bits[!back], t->turn[!back], back ? x : grid);
    for (int lane = 0; lane < TRACES; lane++) x[0][lane] *= once;
    for (int64_t n = 0; back && n < steps; n++)
        for (int64_t i = 0; i < traces; i++) t->out[(n + begin) * of->width + trace + i] += x[n][i];
    for (int64_t j = 0; !back && j < of->samples; j++)
        for (int64_t i = 0; i < traces; i++)
            t->out[(trace + i) * of->samples + j] =
                t->factor[j] * grid[(t->middle_sample - j) & (t->grid - 1)][i] +
                (of->at + (double)j * of->every) * still[i];
    return HT_OK;
}

/* Steps before the first one that is not finite. */
static int64_t finite_steps(const struct transform *t) {
    const struct ht_whole *of = t->of;
    for (int64_t n = 0; n < of->steps; n++)
        for (int64_t i = 0; i < t->traces; i++)
            if (!isfinite(of->value[n * of->width + i])) return n;
    return of->steps;
}

static void release(struct transform *t) {
    ht_pool_free(&t->pool);
}

/* M is twice the steps: then J_2n of those n alone come in again that the steps leave out. */
static HT_ERR run(struct transform *t) {
    const int64_t chunks = ht_divide_up(t->traces, TRACES);
    TRY(make(t, 2 * t->of->steps, chunks));
    return ht_threads_run(chunks, transform_some, t);
}

HT_ERR ht_resample_whole(const struct ht_whole *of, int64_t traces, double *out) {
    HT_ENDED(release) struct transform t = {.of = of, .traces = traces};
    t.steps = finite_steps(&t);
    t.out = out;
    return run(&t);
}

HT_ERR ht_resample_whole_transposed(const struct ht_whole *of, int64_t traces, const double *data,
                                    double *value) {
    HT_ENDED(release) struct transform t = {.of = of, .traces = traces, .steps = of->steps};
    t.given = data;
    t.out = value;
    return run(&t);
}

struct ht_whole ht_whole_of(const struct ht_receivers *receivers,
                            const struct ht_receiver_group *group, const struct ht_reading *reading,
                            int64_t first, int64_t count) {
    const double every = receivers->dt > 0 ? group->every / receivers->dt : 0;
    return (struct ht_whole){.at = ht_receivers_step(receivers, group, first),
                             .every = group->every > 0 ? every : 1,
                             .samples = count,
                             .integral = reading->integral,
                             .between = reading->late > 0};
}

/* M is four times the signal's length, so that its images are apart. */
HT_ERR ht_transform_signal(int64_t values, double apart, const double *f, bool later, int64_t count,
                           double *out) {
    const struct ht_whole of = {.every = apart, .samples = values};
    HT_ENDED(release) struct transform t = {.of = &of};
    TRY(make(&t, 4 * ht_most(count, 16), 0));
    const int64_t mask = t.grid - 1;
    HT_ARRAY(double complex, x, t.size + t.grid);
    double complex *grid = x + t.size;
    for (int64_t j = 0; j < values; j++) grid[(j - t.middle_sample) & mask] = f[j] * t.factor[j];
    ht_fourier(t.bits[1], grid);
    for (int64_t q = 0; q < t.count; q++) {
        const double half = HT_PI * (double)q / (double)t.size;
        double complex sum = 0;
        for (int k = 0; k < W; k++) sum += t.weight[q * W + k] * grid[(t.first[q] + k) & mask];
        x[q] = conj(sum) * t.wave[q] * (2 * apart * cos(half)) *
               (later ? ht_complex(cos(half), -sin(half)) : 1);
    }
    ht_fourier(t.bits[0], x);
    for (int64_t n = 0; n < count; n++) out[n] = creal(x[n]);
    return HT_OK;
}

/* Values of the signal per step: it has nothing at frequencies that differ by 2 pi FINE/dt from
 * those of the steps, at most 2/dt. */
enum { FINE = 4 };

HT_ERR ht_fd_undispersed(const struct ht_shot *shot, int order, double dt, bool later,
                         int64_t *count, double **out) {
    const double end = shot->signal->end + shot->delay;
    REQUIRE(fmax(end, 0) < 1e12 * dt, HT_ERR_INPUT,
            "time.end, time.step: a source's signal, until %g, takes more than 1e12 steps of %g",
            end, dt);
    const int64_t last = (int64_t)ceil(fmax(end, 0) / dt) + 1;
    const int64_t values = FINE * last;
    double *signal = NULL;
    *out = NULL;
    *count = last + ht_fd_steps_beside((double)last);
    HT_ARRAY(double, f, values);
    TRY(HT_ALLOC(signal, *count));
    for (int64_t j = 0; j < values; j++) {
        const double t = dt * (double)j / FINE;
        f[j] = ht_shot_acts(shot, t, t) ? ht_shot_at(shot, t, order) : 0;
    }
    const enum ht_err err = ht_transform_signal(values, 1.0 / FINE, f, later, *count, signal);
    return HT_MADE(err, signal, free, out);
}

/* Of the sinc over 32 levels: errs by 7e-7 up to 2.2 radians from a level to the next, by 2e-4 at
 * 2.4, 1.3e-2 at 2.6. */
enum { SINC = 16, LEVELS = 2 * SINC, POLYNOMIAL = 6 };
static const double SHAPE = 13.4;

_Static_assert(2 * LEVELS <= HT_RESAMPLING_WEIGHTS, "levels and their second derivatives");

/* ---- what is needed ---- */

static bool between_steps(const struct ht_receivers *receivers) {
    bool between = false;
    HT_EACH(const struct ht_receiver_group, group, receivers->group, receivers->count) {
        between = between || group->every > 0;
        for (int i = 0; i < group->readings; i++)
            between = between || group->reading[i].integral || group->reading[i].late > 0;
    }
    return between;
}

struct ht_resampling ht_resampling_of(const struct ht_plan *plan) {
    const struct ht_problem *problem = &plan->problem;
    struct ht_resampling out = {.levels = 1, .per_step = 1, .derivatives = 1};
    out.whole = problem->fd.undispersed;
    if (out.whole || !between_steps(plan->receivers)) return out;
    if (plan->grid.order == 0) {
        out.levels = HT_RECEIVERS_STENCIL;
    } else if (problem->scheme->two_level) {
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

int64_t ht_resampling_last(const struct ht_plan *plan) {
    const struct ht_resampling of = ht_resampling_of(plan);
    const bool early = plan->problem.early != 0;
    if (of.sinc) return plan->steps + ht_divide_up(SINC - 1, of.per_step);
    if (of.whole) return plan->steps + ht_fd_steps_beside((double)plan->steps) + early;
    return plan->steps + (early ? HT_RECEIVERS_STENCIL / 2 : 0);
}

int64_t ht_resampling_keeps(const struct ht_plan *plan) {
    const struct ht_resampling of = ht_resampling_of(plan);
    if (of.whole) return ht_resampling_last(plan) + 1;
    return ht_divide_up(of.levels, of.per_step);
}

bool ht_resampler_ready(const struct ht_resampler *r, double at, int64_t reached, bool last) {
    const int64_t newest = reached * r->of.per_step;
    const double below = floor(at * r->of.per_step);
    if (r->of.whole) return at + (double)ht_fd_steps_beside(at) <= (double)reached;
    if (at > (double)reached) return false;
    if (at == floor(at) || (last && !r->of.sinc)) return true;
    const int beside = r->of.levels / 2;
    return (r->of.sinc || newest + 1 >= r->of.levels) && below + beside <= (double)newest;
}

/* ---- weights ---- */

static HT_ERR find_weights(struct ht_resampler *r, double at, int64_t count) {
    const struct ht_resampling *of = &r->of;
    if (of->derivatives == 1) {
        ht_lagrange_weights((int)count, at, r->weight);
        return HT_OK;
    }
    return ht_birkhoff_weights((int)count, of->derivatives, of->derivative, at, r->weight);
}

/* Levels around those below and above `below`, from the first on. */
static void find_window(const struct ht_resampler *r, double below, int64_t held,
                        struct ht_resampled *out) {
    /* Values and second derivatives at an odd number of levels fix no polynomial. */
    const int64_t levels = ht_least(r->of.sinc ? POLYNOMIAL : r->of.levels, held);
    out->count = r->of.derivatives > 1 ? levels / 2 * 2 : levels;
    out->low = (int64_t)below - (out->count / 2 - 1);
    out->low = ht_least(out->low, held - out->count);
    out->low = ht_most(out->low, 0);
}

HT_ERR ht_resampler_weights(struct ht_resampler *r, double at, int64_t first, int64_t reached,
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
        /* Of the levels around those below and above `below`; those before the first are 0. */
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

HT_ERR ht_resampler_integral(struct ht_resampler *r, double from, double to, int64_t first,
                             int64_t reached, struct ht_resampled *out) {
    double part[HT_RECEIVERS_STENCIL];
    *out = (struct ht_resampled){.weight = r->weight};
    find_window(r, floor(from) - (double)first, reached - first + 1, out);
    for (int64_t j = 0; j < out->count; j++) r->weight[j] = 0;
    HT_EACH_BY(g, const double, row, gauss[g / 2], GAUSS) {
        const double place = g % 2 ? row[0] : -row[0];
        const double at = (from + to + place * (to - from)) / 2;
        ht_lagrange_weights((int)out->count, at - (double)(first + out->low), part);
        for (int64_t j = 0; j < out->count; j++) r->weight[j] += (to - from) / 2 * row[1] * part[j];
    }
    return HT_OK;
}
