/* Pure mathematics: Hermite interpolation, jets (truncated Taylor series), expressions, stability
 * of the scheme. No device, no files. */
#pragma once

#include "htwave/base.h"

#define HT_MAX_ORDER 8
#define HT_MAX_DIMS 3
#define HT_PI 3.14159265358979323846

/* ---- hermite.c ---- */
/* The (2N+2) x (2N+2) matrix H, row-major, from the scaled derivatives (u_0..u_N) at the left node,
 * then at the right node of a cell to the Taylor coefficients of the Hermite interpolant about the
 * midpoint in eta = (x - mid)/h (docs/developers/method.md). Entries are exact in float32. */
void ht_hermite_matrix(int order, double *matrix);
/* x = M x along an axis of an array [t[2]][t[1]][t[0]]; M: of t[axis] rows, row-major. */
void ht_hermite_along(const double *matrix, const int t[3], int axis, double *x);
/* The same map split by parity: even[(N+1)*(N+1)] takes s_i = (u_i(R) + (-1)^i u_i(L))/2 to the
 * coefficients b_0, b_2, ..; odd[(N+1)*(N+1)] takes d_i = (u_i(R) - (-1)^i u_i(L))/2 to b_1, b_3,
 * .. */
void ht_hermite_parity(int order, double *even, double *odd);

/* ---- expr.c: truncated multivariate Taylor series ---- */
/* A set of multi-indices with its multiplication table. Coefficients are scaled Taylor
 * coefficients: entry a of a jet of f is h^a/a! D^a f(x). */
struct ht_jets {
    int dims;
    int count;       /* number of multi-indices */
    int degree;      /* largest total degree in the set; 0: `count` values at places of their own */
    int (*index)[3]; /* [count] multi-indices (a1, a2, a3) */
    int (*pair)[2];  /* [first[k], first[k + 1]) (i, j): index[i] + index[j] = index[k] */
    int *first;
};
/* All a_k <= degree; a1 fastest: the order of a node's coefficients. total: all |a| <= degree; a1
 * slowest, a_dims fastest, as of media. */
HT_ERR ht_jets_make(int dims, int degree, bool total, struct ht_jets **out);
void ht_jets_destroy(struct ht_jets *jets);
/* out must not overlap a or b. */
void ht_jet_multiply(const struct ht_jets *jets, const double *a, const double *b, double *out);
/* out = 1 / a; a[0] is not 0, out must not overlap a. */
void ht_jet_reciprocal(const struct ht_jets *jets, const double *a, double *out);

/* ---- expressions in x1, x2, x3 evaluated as jets ---- */
/* Grammar: + - * / ^ (right associative), unary minus, parentheses, numbers, and the names of
 * ht_expr_word. min, max, abs and step are differentiated on the side the point lies on. */
struct ht_expr;
/* The message of a syntax error names the column and what was expected. */
HT_ERR ht_expr_parse(const char *text, struct ht_expr **out);
void ht_expr_destroy(struct ht_expr *expr);
/* The jet of the expression at x with cell sizes h (scaled derivatives), jets->count values.
 * Not-finite results are returned, not refused. */
HT_ERR ht_expr_jet(const struct ht_expr *expr, const struct ht_jets *jets, const double x[3],
                   const double h[3], double *out);
/* The value alone. branches (or NULL): a hash of the sides that step, abs, min and max took is
 * added to it. Equal hashes at two points mean that no jump and no kink was passed an odd number of
 * times between them. */
double ht_expr_value(const struct ht_expr *expr, const double x[3], uint64_t *branches);
/* out[i]: the value at x1[i], x[1], x[2], bit by bit that of ht_expr_value. What does not depend on
 * x1 is computed once. */
HT_ERR ht_expr_line(const struct ht_expr *expr, int64_t count, const double *x1, const double x[3],
                    double *out);
/* Whether the expression depends on x1 (axis 0), x2 (1), x3 (2). */
bool ht_expr_uses(const struct ht_expr *expr, int axis);
/* False where step, abs, min or max of an operand that depends on a coordinate may make a jump or a
 * kink. Roots and quotients count as smooth: where they are singular they are not finite. */
bool ht_expr_smooth(const struct ht_expr *expr);
/* The names of an expression: coordinates and constants, then functions; NULL after the last. */
struct ht_expr_word {
    const char *name, *operand, *help; /* "min", "(a, b)", "the smaller one" */
    bool smooth;                       /* no jump, no kink */
    int operands;                      /* 0: no function */
};
const struct ht_expr_word *ht_expr_word(int i);

/* ---- stability.c ---- */
/* Largest stable CFL number (0 < result <= 1) of the Hermite-Taylor scheme with `stages` Taylor
 * stages by von Neumann analysis (tools/stability.py), with a margin of 0.01; 0 when no useful step
 * is stable. Full stages give 1 for the first-order systems and 0.99 for leapfrog, some modes of
 * which grow linearly at 1. Symbols: of a single advected field, of fields that are coupled. */
enum ht_symbol {
    HT_SYMBOL_ADVECTION,
    HT_SYMBOL_WAVE,
    HT_SYMBOL_PAIR,          /* u_t = v, v_t = c^2 lap u */
    HT_SYMBOL_LEAPFROG_EVEN, /* even powers of dt, groups that are equal */
    HT_SYMBOL_LEAPFROG_ODD
};
double ht_stability_cfl(enum ht_symbol kind, int dims, int order, int stages);
/* Stages that sum the whole series in time of a uniform medium: more change nothing there. */
int ht_stability_full(enum ht_symbol kind, int dims, int order);
/* The smallest number of stages that is stable at cfl and accurate to order 2N+1 in time (at least
 * 2N+1 stages), else the full number. */
int ht_stability_stages(enum ht_symbol kind, int dims, int order, double cfl);
/* The logarithm of the spectral radius of the sums of magnitudes in a half step with all stages and
 * this cfl along all axes, of waves (src/solve/ amplification.c); 0 below N = 5. */
double ht_stability_growth(int dims, int order, double cfl);

/* ---- special.c, to the end but for interpolation.c and fd.c ---- */
/* sin(pi r)/(pi r) I_0(shape sqrt(1 - (r/half)^2)) for |r| < half, else 0. */
double ht_kaiser_sinc(double r, double half, double shape);

/* ---- interpolation.c ---- */
/* The value at `at` of the polynomial through values at 0, 1 .. count - 1 is their sum with these
 * weights; at a node it is the value there, exactly. */
void ht_lagrange_weights(int count, double at, double *weight);
/* The same of its derivative. */
void ht_lagrange_slopes(int count, double at, double *weight);

/* The value at `at` of the polynomial through derivatives of given orders, the same at 0, 1 ..
 * levels - 1, is the sum of these data times weight[level][derivative]. Fails where they do not fix
 * a polynomial of degree levels * derivatives - 1. */
enum { HT_BIRKHOFF_MOST = 24 }; /* data */
HT_ERR ht_birkhoff_weights(int levels, int derivatives, const int *derivative, double at,
                           double *weight);

/* Legendre's polynomials of degrees below count at x. */
void ht_legendre(int count, double x, double *out);
/* Gauss points and weights on [-1/2, 1/2]. */
enum { HT_GAUSS_MOST = 64 };
void ht_gauss_points(int count, double *x, double *weight);

/* Gaussians of order 2Q: */
/* exp(-x^2/2) times the even polynomial of degree 2Q - 2 such that, with z = k^2/2,
 *     spectrum(k) = exp(-z) sum over j < Q of z^j/j! = 1 - O(k^(2Q)). */
enum { HT_FLAT_ORDER = 32, HT_FLAT_DERIVATIVES = 128 };
/* Derivatives 0 .. count - 1 at x; order Q; both at most these. At -x odd ones have exactly the
 * opposite sign. */
void ht_flat_derivatives(int order, long double x, int count, long double *out);
/* 1 - spectrum(k). */
double ht_flat_missing(int order, double wavenumber);

/* The middle value, for an even number the larger of both; sorts them. */
double ht_median(int count, double *values);

/* Central finite differences on an equal grid: weights, symbols, dispersion. Lengths are in units
 * of the spacing.
 *
 * Second derivative of order 2R (Fornberg 1988):
 *     u''(0) = w_0 u(0) + sum_(k=1..R) w_k (u(k) + u(-k)).
 * Staggered first derivative of order 2R:
 *     u'(1/2) = sum_(j=0..R-1) s_j (u(j+1) - u(-j)). */

enum { HT_FD_RADIUS = 8 }; /* largest R: order 16 */

struct ht_fd_weights {
    int radius; /* R */
    double second[HT_FD_RADIUS + 1], first[HT_FD_RADIUS];
};
/* order: 2, 4 .. 16.
 *     w_k = 2 (-1)^(k+1) R!^2 / (k^2 (R-k)! (R+k)!), w_0 = -2 sum w_k;
 *     s_j = (-1)^j ((2R-1)!!)^2 / (2^(2R-2) (R-1-j)! (R+j)! (2j+1)^2). */
struct ht_fd_weights ht_fd_weights(int order);
/* Beside a free surface through a node, counted from there, with nodes 0, 1, .. and half points
 * 0, 1, .. half a spacing behind them: row i < nodes - up of a difference of values at half points
 * (up 0, at nodes) or at nodes (up 1, at half points) is
 *
 *     over[up][i] (sum over j < n of block[up][i][j] f_j
 *                  + sum over l with i + up + l >= n of s_l f_(i + up + l)),   n = nodes - 1 + up,
 *
 * and every further row the staggered difference. stresses: of those that change by them, of which
 * the normal one does not on the surface; else of velocities, which change by differences of
 * stresses. With the weights of nodes [0] and half points [1], which are 1 further inside, the
 * differences of one kind are minus the adjoints of the other's (src/num/closure.c). */
enum { HT_FD_CLOSED = 6 };
struct ht_fd_closure {
    int nodes; /* 0: there is none of this order */
    double weight[2][HT_FD_CLOSED], over[2][HT_FD_CLOSED];
    double block[2][HT_FD_CLOSED][HT_FD_CLOSED];
};
struct ht_fd_closure ht_fd_closure(int order, bool stresses);
/* The difference of node or half point m, so many nodes from the lower and to the upper free side
 * (far: none is there), as a sum of weights times values at nodes, or half points, m + offset;
 * returns how many, -1: of the staggered difference. None of half points beyond a side. */
enum { HT_FD_CLOSED_ROW = HT_FD_CLOSED + 4 };
int ht_fd_closed_row(const struct ht_fd_closure *closure, const struct ht_fd_weights *w, int up,
                     int64_t low, int64_t high, int offset[HT_FD_CLOSED_ROW],
                     double weight[HT_FD_CLOSED_ROW]);
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
/* Angle omega dt by which a step turns a wave, x = nu^2 times the symbol; Inf: it is not carried.
 * HT_FD_PAIR: of two groups that take two terms each, L (1 + dt^2/24 L)^2 in place of L. */
enum { HT_FD_PAIR = 3 };
double ht_fd_turn(int terms, double x);
/* The relative error of a wave whose phase is off by so much. */
double ht_fd_phase_error(double phase);
/* Relative error of a plane wave along direction k (any length) after so many wavelengths, exactly:
 * the scheme changes its frequency only. points: per wavelength; Inf: the wave is not carried. */
double ht_fd_error(const struct ht_fd_weights *w, int terms, const double k[3], double points,
                   double nu, double wavelengths);

/* ---- eigenvalues; special.c ---- */
/* The symmetric a[n][n] becomes diagonal, the eigenvalues, whose vectors are the columns of V. */
void ht_eigen(int n, double *a, double *V);

/* Complex numbers; discrete Fourier transform. */

/* re + i im without the products of re + I * im; some compilers lack CMPLX. */
static inline double _Complex ht_complex(double re, double im) {
    const union {
        double part[2];
        double _Complex z;
    } both = {{re, im}};
    return both.z;
}

/* x_q becomes the sum over l of x_l exp(-2 pi i q l / n), n = 2^bits. */
void ht_fourier(int bits, double _Complex *x);
/* Complex numbers beside each other: their real parts, then their imaginary parts. */
enum { HT_LANES = 4 };
typedef double ht_lanes[2 * HT_LANES];
/* The same of each of them; turn[q]: exp(-2 pi i q / n), q < n/2. */
void ht_fourier_lanes(int bits, const double _Complex *turn, ht_lanes *x);
