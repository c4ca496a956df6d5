/* Central finite differences on an equal grid: weights, symbols, dispersion. Lengths are in units
 * of the spacing.
 *
 * Second derivative of order 2R (Fornberg 1988):
 *     u''(0) = w_0 u(0) + sum_(k=1..R) w_k (u(k) + u(-k)).
 * Staggered first derivative of order 2R:
 *     u'(1/2) = sum_(j=0..R-1) s_j (u(j+1) - u(-j)).
 */
#ifndef HTWAVE_FD_H
#define HTWAVE_FD_H

#include "htwave/base.h"

enum { HT_FD_RADIUS = 8 }; /* largest R: order 16 */

struct ht_fd_weights {
    int radius; /* R */
    double second[HT_FD_RADIUS + 1], first[HT_FD_RADIUS];
};
/* order: 2, 4 .. 16.
 *     w_k = 2 (-1)^(k+1) R!^2 / (k^2 (R-k)! (R+k)!), w_0 = -2 sum w_k;
 *     s_j = (-1)^j ((2R-1)!!)^2 / (2^(2R-2) (R-1-j)! (R+j)! (2j+1)^2). */
struct ht_fd_weights ht_fd_weights(int order);
/* Of minus the second derivative and of the staggered first one (over i), at theta radians per
 * point: near theta^2 and theta. */
double ht_fd_second_symbol(const struct ht_fd_weights *w, double theta);
double ht_fd_first_symbol(const struct ht_fd_weights *w, double theta);
/* Of the operator: the second, or, where the density varies, the first one squared. */
double ht_fd_symbol(const struct ht_fd_weights *w, bool density, double theta);

/* The scheme for u_tt = c^2 laplacian u with second derivatives, with `terms` (1 or 2) terms of the
 * series in time, order 2 or 4, nu = c dt/h:
 *     u(t+dt) = 2 u - u(t-dt) + nu^2 L u [+ nu^4/12 L^2 u].
 * Largest stable nu in dims dimensions (von Neumann): */
double ht_fd_stable(const struct ht_fd_weights *w, bool density, int terms, int dims);
/* The angle omega dt by which a step turns a wave, x = nu^2 times the symbol; Inf: it is not
 * carried. */
double ht_fd_turn(int terms, double x);
/* The relative error of a wave whose phase is off by so much. */
double ht_fd_phase_error(double phase);
/* Relative error of a plane wave along direction k (any length) after so many wavelengths, exactly:
 * the scheme changes its frequency only. points: per wavelength; Inf: the wave is not carried. */
double ht_fd_error(const struct ht_fd_weights *w, int terms, const double k[3], double points,
                   double nu, double wavelengths);

#endif
