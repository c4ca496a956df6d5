/* The polynomials that values on a regular grid give.
 *
 * About a point x each axis contributes Lagrange interpolation of degree g through g+1 samples at
 * the stride s = max(1, round(h/(2 spacing))): with t_j = (sample_j - x)/h,
 *     L_j(xi) = prod_(i != j) (xi - t_i)/(t_j - t_i),
 * whose coefficients in xi are the scaled derivatives of a jet at once (de Boor, A Practical Guide
 * to Splines, chapter I). The error is O(h^(g+1)) in every coefficient of a smooth function.
 *
 * Invariants: stencils never leave the samples: near the ends they turn one-sided, and outside the
 * samples the value at the end continues; so a polynomial of degree g is reproduced wherever
 * samples exist. */
#include "medium_private.h"

enum { MAX_POINTS = 11 }; /* samples per axis of a stencil, for the largest medium.degree */

void ht_samples_destroy(struct ht_samples *samples) {
    if (!samples) return;
    free(samples->value);
    free(samples);
}

/* The samples first, first + stride, .. along one axis and the coefficients of their Lagrange
 * polynomials: weight[a][j] multiplies sample j. */
struct stencil {
    int points, rows;
    int64_t first, stride;
    double weight[MAX_POINTS][MAX_POINTS];
};

/* The stencil of one axis about x for a cell of size h; rows coefficients of it are wanted, from a
 * polynomial of that degree. */
static void stencil_make(const struct ht_samples *samples, int axis, double x, double h, int degree,
                         int rows, struct stencil *stencil) {
    int64_t last = samples->shape[axis] - 1;
    double spacing = samples->spacing[axis];
    double at = (x - samples->origin[axis]) / spacing; /* in samples */
    double slack = 1e-9 * (1 + fabs(at)), t[MAX_POINTS];
    /* At a sample nothing else counts: no weight below 0, nothing of a solid in a fluid. */
    if (fabs(at - round(at)) <= slack) at = round(at);
    double wish = fmin(fmax(1, round(h / (2 * spacing))), (double)last + 1);
    stencil->rows = rows;
    stencil->points = 1;
    stencil->stride = 1;
    if (last > 0 && at >= -slack && at <= (double)last + slack) {
        stencil->points = last < degree ? (int)last + 1 : degree + 1;
        if (degree > 0) stencil->stride = ht_most(ht_least((int64_t)wish, last / degree), 1);
    }
    int64_t width = (stencil->points - 1) * stencil->stride;
    double centred = fmin(fmax(at, 0), (double)last) - (double)width / 2;
    stencil->first = ht_most(ht_least((int64_t)floor(centred + 0.5), last - width), 0);
    for (int j = 0; j < stencil->points; j++)
        t[j] = ((double)(stencil->first + j * stencil->stride) - at) * spacing / h;
    /* weight[.][j] = coefficients of L_j, multiplied out factor by factor */
    const int points = stencil->points;
    for (int j = 0; j < points; j++) {
        double poly[MAX_POINTS] = {1};
        int power = 0;
        for (int i = 0; i < points; i++) {
            if (i == j) continue;
            double scale = 1 / (t[j] - t[i]);
            for (int a = ++power; a >= 0; a--)
                poly[a] = ((a ? poly[a - 1] : 0) - t[i] * poly[a]) * scale;
        }
        for (int a = 0; a < rows; a++) stencil->weight[a][j] = a < points ? poly[a] : 0;
    }
}

/* The coefficients of these powers; inverse: of 1/value, 0 where the value is 0. */
static void contract(const struct ht_samples *samples, const struct stencil stencil[3],
                     bool inverse, int count, int (*power)[3], double *out) {
    const struct stencil *s1 = &stencil[0], *s2 = &stencil[1];
    double plane[MAX_POINTS][MAX_POINTS]; /* [a2][a1], of one i3 */
    plane[0][0] = 0;
    for (int a = 0; a < count; a++) out[a] = 0;
    for (int j3 = 0; j3 < stencil[2].points; j3++) {
        const int64_t i3 = stencil[2].first + j3 * stencil[2].stride;
        for (int b = 0; b < s2->rows; b++)
            for (int a = 0; a < s1->rows; a++) plane[b][a] = 0;
        for (int j2 = 0; j2 < s2->points; j2++) {
            const int64_t i2 = s2->first + j2 * s2->stride;
            const double *row = samples->value + (i3 * samples->shape[1] + i2) * samples->shape[0];
            for (int a = 0; a < s1->rows; a++) {
                double sum = 0;
                for (int j1 = 0; j1 < s1->points; j1++) {
                    const double value = row[s1->first + j1 * s1->stride];
                    sum += s1->weight[a][j1] * (inverse && value != 0 ? 1 / value : value);
                }
                for (int b = 0; b < s2->rows; b++) plane[b][a] += s2->weight[b][j2] * sum;
            }
        }
        for (int a = 0; a < count; a++)
            out[a] += stencil[2].weight[power[a][2]][j3] * plane[power[a][1]][power[a][0]];
    }
}

void ht_samples_jet(const struct ht_samples *samples, const struct ht_jets *jets, const double x[3],
                    const double h[3], double *out) {
    struct stencil stencil[3];
    int powers[3] = {0}; /* the largest of each axis in the set */
    for (int a = 0; a < jets->count; a++)
        for (int k = 0; k < 3; k++)
            if (jets->index[a][k] > powers[k]) powers[k] = jets->index[a][k];
    for (int k = 0; k < 3; k++)
        stencil_make(samples, k, x[k], h[k], powers[k], powers[k] + 1, &stencil[k]);
    contract(samples, stencil, false, jets->count, jets->index, out);
}

void ht_samples_spread(const struct ht_samples *samples, int dims, const double x[3], double by,
                       double *out) {
    struct stencil s[3];
    for (int k = 0; k < 3; k++)
        stencil_make(samples, k, x[k], samples->spacing[k], k < dims, 1, &s[k]);
    for (int j3 = 0; j3 < s[2].points; j3++)
        for (int j2 = 0; j2 < s[1].points; j2++)
            for (int j1 = 0; j1 < s[0].points; j1++)
                out[((s[2].first + j3) * samples->shape[1] + s[1].first + j2) * samples->shape[0] +
                    s[0].first + j1] +=
                    by * s[2].weight[0][j3] * s[1].weight[0][j2] * s[0].weight[0][j1];
}

double ht_samples_value(const struct ht_samples *samples, bool inverse, int dims, int degree,
                        const double x[3], const double h[3]) {
    struct stencil stencil[3];
    int none[1][3] = {{0}};
    double sum;
    for (int k = 0; k < 3; k++)
        stencil_make(samples, k, x[k], h[k], k < dims ? degree : 0, 1, &stencil[k]);
    contract(samples, stencil, inverse, 1, none, &sum);
    return inverse && sum != 0 ? 1 / sum : sum;
}
