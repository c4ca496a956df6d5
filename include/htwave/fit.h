/* The medium of finite differences: the bulk modulus K at the primary nodes x_m and b_k = 1/rho at
 * x_m + h_k/2 along axis k, one number each. For the system "wave", K = c^2 and b = 1.
 *
 * With F_k the average along axis k and indices i, j of the other axes,
 *     1/K = F_1 F_2 F_3 [1/K],     b_k = F_i F_j [ 1 / F_k[rho] ].
 * F is the exact integral of the medium, which is constant on boxes, with
 *     sinc   a windowed sinc, four spacings to either side,
 *     box    1/h over one spacing.
 * The medium continues periodically or as a mirror image behind walls. Boxes are the layers, the
 * samples of a file (half a spacing to either side) or, for expressions, of a quarter of a spacing.
 * point: values at the points.
 *
 * In absorbing layers the values are those of the nearest point outside.
 *
 * The sinc is negative in places: where an average along an axis came out below half of the least
 * value in reach it is set to that half, and its neighbours along the axis give half of the
 * difference each, so that integrals stay.
 */
#ifndef HTWAVE_FIT_H
#define HTWAVE_FIT_H

#include "htwave/layers.h"
#include "htwave/medium.h"

enum { HT_FIT_MODULUS = 0 }; /* else 1 + axis: b along that axis */

struct ht_fit;
/* Spacings to either side that the windowed sinc of a fit takes. */
enum { HT_FIT_REACH = 4 };

/* auto: point where the medium is a smooth expression, else sinc. Refuses systems other than
 * acoustic and wave. The medium must outlive the fit. */
HT_CHECKED enum ht_err ht_fit_create(const struct ht_medium *medium, enum ht_fit_kind kind,
                                     struct ht_fit **out);
void ht_fit_destroy(struct ht_fit *fit); /* NULL allowed */
/* What auto became. */
enum ht_fit_kind ht_fit_chosen(const struct ht_fit *fit);
/* Whether K and all b are constant; then *K, *b are their values. */
bool ht_fit_uniform(const struct ht_fit *fit, double *K, double *b);
/* Whether b is constant along all axes; then *b is its value. */
bool ht_fit_density_uniform(const struct ht_fit *fit, double *b);

/* K (what: HT_FIT_MODULUS) or b_k (1 + k) for the primary nodes of x3 planes [first, last) (2-D,
 * 1-D: plane 0), x1 fastest: out[plane][m2][m1]. b_k of a node m is that at x_m + h_k/2, also at
 * the last node, where it lies behind the periodic seam or a wall. Values are positive and finite;
 * adjacent boxes (point: nodes) that differ by more than 10^4 are refused with key and place.
 * Planes of other ranks are allowed; planes do not depend on how they are divided among calls, nor
 * on threads. Averages along x3 begin anew with each call, from some ten planes more: fill many
 * planes at once. Memory beyond out:
 * for each thread some 9 h/s planes of its rows, s the size of the boxes along x3; point: a plane.
 */
HT_CHECKED enum ht_err ht_fit_fill(struct ht_fit *fit, int what, int64_t first, int64_t last,
                                   double *out);

/* Of the fills that were counted. */
struct ht_fit_counts {
    /* cut: averages along an axis that were raised, at points of that axis and of those before it,
     * on boxes of those after it; once where they repeat along an axis. */
    int64_t values, cut;
    double place[3];          /* of the value that was cut lowest along x3, of
                                 these along x2, of these along x1 */
    double least[2], most[2]; /* of K, of b; least > most: none yet */
};
struct ht_fit_counts ht_fit_counts(const struct ht_fit *fit);
/* Whether the next fills are counted; at first they are. */
void ht_fit_count(struct ht_fit *fit, bool count);
/* Makes the counts those of all ranks, the place that of the lowest rank with a cut. Collective. */
HT_CHECKED enum ht_err ht_fit_counts_share(struct ht_fit *fit, struct ht_comm *comm);
/* "(x1, x2)" of `place`. */
const char *ht_fit_cut_place(const struct ht_fit *fit, char *buffer, size_t size);

#endif
