/* Exact removal of the dispersion of one term in time (docs/differences.md). A
 * step multiplies exp(i w t) of a mode by the factor of the exact semi-discrete
 * system at the frequency
 *     W(w) = (2/dt) sin(w dt/2),
 * so the signal f of a source, with the transform F, is replaced by
 *     f_n = (1/pi) Re integral over 0 < w < pi/dt of
 *               F(W) cos(w dt/2) exp(i w n dt) dw,
 * and samples come from the values of the steps by
 *     u(t) = (1/pi) Re integral of U_n(w) exp(i W t) dw
 *          = J_0(2t/dt) u_0 + 2 sum_n J_2n(2t/dt) u_n    (resampler_whole.c).
 * Both integrals are those over w, not W, so that the traces of initial data at
 * rest, cos(w t) of each mode, are transformed in the same way, mode by mode
 * without any error (Jacobi and Anger). With a rate they begin with sin(w t),
 * whose continuation to times before 0 is not smooth. A frequency w at time t
 * moves to t cos(w dt/2) in the source, earlier, and back in the trace.
 */
#include <math.h>
#include <stdlib.h>

#include "fd.h"
#include "htwave/shots.h"

static const double pi = 3.14159265358979323846;

/* exp(i angle n), n = 0, 1 .., by rotation; set again now and then. */
struct turning {
    double angle, step[2], now[2];
    int64_t n;
};

static struct turning turn_by(double angle) {
    return (struct turning){
        .angle = angle, .step = {cos(angle), sin(angle)}, .now = {1, 0}};
}

static void turn(struct turning *t) {
    enum { AGAIN = 64 };
    const double re = t->now[0] * t->step[0] - t->now[1] * t->step[1];
    t->now[1] = t->now[0] * t->step[1] + t->now[1] * t->step[0];
    t->now[0] = re;
    if (++t->n % AGAIN != 0) return;
    t->now[0] = cos(t->angle * (double)t->n);
    t->now[1] = sin(t->angle * (double)t->n);
}

/* Values of the signal per step: it has nothing at frequencies that differ by
 * 2 pi FINE/dt from those of the steps, at most 2/dt. */
enum { FINE = 4 };

/* Adds the part of frequency w, times its share dw of the integral. */
static void add_frequency(double w, double dw, double dt, int64_t values,
                          const double *f, int64_t count, double *out) {
    const double exact = 2 / dt * sin(w * dt / 2);
    struct turning t = turn_by(-exact * dt / FINE);
    double re = 0, im = 0;
    for (int64_t j = 0; j < values; j++, turn(&t)) {
        re += f[j] * t.now[0];
        im += f[j] * t.now[1];
    }
    const double factor = dw / pi * dt / FINE * cos(w * dt / 2);
    t = turn_by(w * dt);
    for (int64_t n = 0; n < count; n++, turn(&t))
        out[n] += factor * (re * t.now[0] - im * t.now[1]);
}

/* The trapezoidal rule in w: a period of 2 pi/dw, four times the signal's end,
 * separates its images in time. */
static void transform_signal(double dt, int64_t values, const double *f,
                             int64_t count, double *out) {
    const int64_t parts = 2 * ht_most(count, 16);
    const double dw = pi / dt / (double)parts;
    for (int64_t q = 0; q < parts; q++)
        add_frequency(dw * (double)q, q == 0 ? dw / 2 : dw, dt, values, f,
                      count, out);
}

int64_t ht_fd_steps_beside(double step) {
    return (int64_t)ceil(4 * cbrt(step)) + 4;
}

enum ht_err ht_fd_undispersed(const struct ht_shot *shot, int order, double dt,
                              int64_t *count, double **out) {
    const double end = ht_signal_traits(shot->signal).end + shot->delay;
    const int64_t last = (int64_t)ceil(fmax(end, 0) / dt) + 1;
    const int64_t values = FINE * last;
    double *f = NULL;
    *out = NULL;
    *count = last + ht_fd_steps_beside((double)last);
    TRY(HT_ALLOC(*out, *count));
    TRY(HT_ALLOC(f, values));
    for (int64_t j = 0; j < values; j++) {
        const double t = dt * (double)j / FINE;
        f[j] = ht_shot_acts(shot, t, t) ? ht_shot_at(shot, t, order) : 0;
    }
    transform_signal(dt, values, f, *count, *out);
    free(f);
    return HT_OK;
}
