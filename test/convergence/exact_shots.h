/* Exact traces of sources in a box of speed 1, sums over image sources, and those of runs. */
#pragma once

#include "../io/recorded.h"
#include "errors.h"

enum { RIGID = 1, FREE = -1, PERIODIC = 0 };

struct exact {
    int dims, wall; /* of all sides: PERIODIC, RIGID; FREE: free below, rigid
                       above along x1 */
    double size[3], source[3], receiver[3];
    double density, frequency, delay;
    bool force; /* along x1 */
    bool wave;  /* the system */
    const struct ht_signal *signal;
};

/* Of one source at distance r, x1 apart along x1, at time t after the delay. */
static inline double free_space(const struct exact *e, double x1, double r, double t) {
    const struct ht_signal *s = e->signal;
    const double rho = e->density;
    if (e->dims == 1 && e->wave) return ht_signal_at(s, t - r, -1) / 2;
    if (e->dims == 1 && e->force) return x1 / r / 2 * ht_signal_at(s, t - r, 0);
    if (e->dims == 1) return rho / 2 * ht_signal_at(s, t - r, 0);
    if (e->dims == 2) {
        /* the integral over the line of sources in three dimensions */
        double sum = 0;
        const double apart = 0.002;
        for (int i = 0; r * cosh(i * apart) < t + 2 / e->frequency; i++) {
            const double stretch = cosh(i * apart);
            sum += (i > 0 ? 1 : 0.5) * apart *
                   (e->force  ? x1 / r * stretch
                    : e->wave ? 1
                              : rho) *
                   ht_signal_at(s, t - r * stretch, !e->wave);
        }
        return sum / (2 * HT_PI);
    }
    if (e->wave) return ht_signal_at(s, t - r, 0) / (4 * HT_PI * r);
    if (e->force)
        return x1 / r / (4 * HT_PI) *
               (ht_signal_at(s, t - r, 1) / r + ht_signal_at(s, t - r, 0) / (r * r));
    return rho * ht_signal_at(s, t - r, 1) / (4 * HT_PI * r);
}

/* Image number n of an axis: its place, and the sign of a monopole there. */
static inline double image(const struct exact *e, int axis, int n, double *sign) {
    const double L = e->size[axis], x = e->source[axis];
    const int low = axis == 0 ? e->wall : 1, half = (n - (n & 1)) / 2;
    *sign = 1;
    if (e->wall == PERIODIC) return x + n * L;
    /* images 0, 1, 2 ..: x, 2 L - x, 2 L + x, ..; -1: -x; each wall passed takes its sign */
    const int lower = n >= 0 ? n / 2 : (1 - n) / 2;
    if (low < 0 && lower % 2 != 0) *sign = -1;
    return n & 1 ? 2 * L * (half + 1) - x : 2 * L * half + x;
}

static inline double exact_at(const struct exact *e, double time) {
    const double t = time - e->delay, far = t + 2 / e->frequency;
    int n[3], most[3];
    double sum = 0;
    for (int k = 0; k < 3; k++) most[k] = k < e->dims ? (int)(far / e->size[k]) + 2 : 0;
    for (n[2] = -most[2]; n[2] <= most[2]; n[2]++)
        for (n[1] = -most[1]; n[1] <= most[1]; n[1]++)
            for (n[0] = -most[0]; n[0] <= most[0]; n[0]++) {
                double sign = 1, square = 0, x1 = 0;
                for (int k = 0; k < e->dims; k++) {
                    double factor;
                    const double x = e->receiver[k] - image(e, k, n[k], &factor);
                    sign *= factor;
                    square += x * x;
                    if (k == 0) x1 = x;
                }
                /* a force along x1 changes its sign in an image by x1 */
                if (e->force && e->wall != PERIODIC && (n[0] & 1)) sign = -sign;
                if (sqrt(square) < far) sum += sign * free_space(e, x1, sqrt(square), t);
            }
    return sum;
}

/* What a plan expects of its trace's error after a way. */
typedef double exact_expects(const struct ht_plan *plan, const struct exact *e, double way);

/* A run's trace against the exact one at all steps: relative error in L2, and what is expected of
 * it. scheme: options; more: keys of the source. */
static inline double exact_error(const struct exact *given, const char *backend, const char *scheme,
                                 const char *more, double end, exact_expects *expects,
                                 double *expected) {
    static const char *const sides[] = {"[\"free\",\"rigid\"]", "\"periodic\"", "\"rigid\""};
    static const char *const along[] = {"[2.0]", "[2.0,0.0]", "[2.0,0.0,0.0]"};
    struct exact e = *given;
    struct ht_text cells = {0}, upper = {0}, source = {0}, receiver = {0}, options = {0};
    struct trial t;
    int64_t extent[8];
    for (int k = 0; k < e.dims; k++) {
        const char *comma = k ? "," : "";
        ht_text_add(&cells, "%s%d", comma, (int)e.size[k]);
        ht_text_add(&upper, "%s%d.0", comma, (int)e.size[k]);
        ht_text_add(&source, "%s%.17g", comma, e.source[k]);
        ht_text_add(&receiver, "%s%.17g", comma, e.receiver[k]);
        ht_text_add(&options, "boundary.x%d=%s ", k + 1,
                    sides[(k > 0 && e.wall < 0 ? RIGID : e.wall) + 1]);
    }
    if (!e.wave) ht_text_add(&options, "medium.rho=%g", e.density);
    ht_text_add(&source, "]");
    if (e.force) ht_text_add(&source, ";kind=\"force\";direction=%s", along[e.dims - 1]);
    record(&t, backend, NONE,
           "system=%s grid={cells=[%s];upper=[%s];} %s %s time.end=%.17g device.precision=double "
           "sources=({position=[%s;frequency=%.17g;%s}) receivers=({name=\"r\";position=[%s];})",
           e.wave ? "wave" : "acoustic", cells.data, upper.data, scheme, options.data, end,
           source.data, e.frequency, more, receiver.data);
    e.signal = t.sim->plan->shots->shot[0].signal;
    e.delay = t.sim->plan->shots->shot[0].delay;
    if (expected != NULL) *expected = expects(t.sim->plan, &e, end - e.delay);
    double *got = read_set(&t, e.wave ? "r/u" : "r/p", extent),
           *time = read_set(&t, "r/time", NULL);
    struct errors errors = {0};
    for (int64_t i = 0; i < extent[1]; i++) errors_add(&errors, got[i], exact_at(&e, time[i]));
    free(got);
    free(time);
    for (int i = 0; i < 5; i++)
        ht_text_free((struct ht_text *[]){&cells, &upper, &source, &receiver, &options}[i]);
    finish(&t);
    return errors_l2(errors);
}
