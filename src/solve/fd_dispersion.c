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
#include "htwave/resampler.h"
#include "htwave/shots.h"

/* Values of the signal per step: it has nothing at frequencies that differ by
 * 2 pi FINE/dt from those of the steps, at most 2/dt. */
enum { FINE = 4 };

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
    const enum ht_err err =
        ht_transform_signal(values, 1.0 / FINE, f, *count, *out);
    free(f);
    return err;
}
