/* Baseline of htwave bench: central finite differences for
 * u_tt = c^2 laplacian u in a periodic box,
 *
 *     u(t+dt) = 2 u - u(t-dt) + (nu^2 L + [nu^4/12 L^2]) u,   nu = c dt/h,
 *
 * where L is the laplacian of even order p on a uniform grid of spacing 1; the
 * term in brackets gives fourth order in time (modified equation).
 */
#ifndef HTWAVE_FINITE_DIFFERENCES_H
#define HTWAVE_FINITE_DIFFERENCES_H

#include "htwave/device.h"

enum { HT_FD_RADIUS = 8 }; /* largest half width: order 16 */

struct ht_fd {
    int order, time_order; /* 2, 4 .. 16; 2 or 4 */
    double weight[HT_FD_RADIUS + 1];
};
/* weight[k] is the weight of both neighbours at distance k in a second
 * derivative: 2 (-1)^(k+1) R!^2/(k^2 (R-k)! (R+k)!), R = order/2. */
struct ht_fd ht_fd_make(int order, int time_order);
/* Largest stable nu in dims dimensions (von Neumann). */
double ht_fd_stable(const struct ht_fd *fd, int dims);
/* Relative error of a plane wave along direction k (any length) after this
 * number of wavelengths; exact, since the scheme changes only the frequency.
 * points: per wavelength. Inf: the scheme does not propagate the wave. */
double ht_fd_error(const struct ht_fd *fd, const double k[3], double points,
                   double nu, double wavelengths);

/* Points times steps per second of a plain kernel (cl/finite_differences.cl) in
 * single precision on cells^3 points with random data: median after a warm-up.
 * *worst: largest difference from the formulas on a small box over its rounding
 * bound. */
HT_CHECKED enum ht_err ht_fd_measure(struct ht_device *device,
                                     const struct ht_fd *fd, int64_t cells,
                                     const char *cache, double *rate,
                                     double *worst);

#endif
