/* Jets: truncated multivariate Taylor series over a fixed set of multi-indices.
 *
 * The set is downward closed (with a it holds every b <= a), so that the product, cut to the set,
 * has exact coefficients:
 *     (f g)_k = sum over i + j = k of f_i g_j            (Leibniz, scaled).
 *
 * Invariants that expr.c builds on: entry 0 is the zero multi-index; if b <= a in every component
 * and b != a, b comes before a; the pairs are grouped by k in ascending order, and the first pair
 * of a group has i = 0.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jet.h"

enum { MAX_DEGREE = 32 };

/* Position of every multi-index of a set in the enclosing cube. */
struct lookup {
    int side;
    int *entry;
};

static int lookup_cell(const struct lookup *lookup, const int a[3]) {
    return (a[2] * lookup->side + a[1]) * lookup->side + a[0];
}

static int fill_group(struct ht_jets *jets, const struct lookup *lookup, int entry, int at) {
    const int *k = jets->index[entry];
    int i[3];
    for (i[2] = 0; i[2] <= k[2]; i[2]++)
        for (i[1] = 0; i[1] <= k[1]; i[1]++)
            for (i[0] = 0; i[0] <= k[0]; i[0]++) {
                int j[3] = {k[0] - i[0], k[1] - i[1], k[2] - i[2]};
                jets->pair[at][0] = lookup->entry[lookup_cell(lookup, i)];
                jets->pair[at][1] = lookup->entry[lookup_cell(lookup, j)];
                jets->pair[at][2] = entry;
                at++;
            }
    return at;
}

/* Degree and pairs of a set whose indices are filled in. */
static enum ht_err complete(struct ht_jets *jets) {
    jets->pairs = 0;
    for (int n = 0; n < jets->count; n++) {
        const int *a = jets->index[n];
        int total = a[0] + a[1] + a[2];
        if (total > jets->degree) jets->degree = total;
        /* Number of multi-indices i <= k. */
        jets->pairs += (a[0] + 1) * (a[1] + 1) * (a[2] + 1);
    }
    TRY(HT_ALLOC(jets->pair, jets->pairs));
    struct lookup lookup;
    int largest = 0;
    for (int n = 0; n < jets->count; n++)
        for (int k = 0; k < 3; k++)
            if (jets->index[n][k] > largest) largest = jets->index[n][k];
    lookup.side = largest + 1;
    TRY(HT_ALLOC(lookup.entry, lookup.side * lookup.side * lookup.side));
    for (int n = 0; n < jets->count; n++) lookup.entry[lookup_cell(&lookup, jets->index[n])] = n;
    int at = 0;
    for (int n = 0; n < jets->count; n++) at = fill_group(jets, &lookup, n, at);
    free(lookup.entry);
    return HT_OK;
}

/* Ends both constructors: *out is set only on success. */
static enum ht_err finish(struct ht_jets *jets, enum ht_err err, struct ht_jets **out) {
    if (err == HT_OK) err = complete(jets);
    return HT_MADE(err, jets, ht_jets_destroy, out);
}

static enum ht_err start(int dims, int degree, struct ht_jets **out) {
    REQUIRE(dims >= 1 && dims <= HT_MAX_DIMS, HT_ERR_INTERNAL,
            "jets in %d dimensions: 1 to 3 exist", dims);
    REQUIRE(degree >= 0 && degree <= MAX_DEGREE, HT_ERR_INTERNAL,
            "jets of degree %d: 0 to %d exist", degree, MAX_DEGREE);
    TRY(HT_ALLOC(*out, 1));
    (*out)->dims = dims;
    return HT_OK;
}

enum ht_err ht_jets_total(int dims, int degree, struct ht_jets **out) {
    *out = NULL;
    struct ht_jets *jets;
    TRY(start(dims, degree, &jets));
    jets->count = degree + 1;
    if (dims >= 2) jets->count = jets->count * (degree + 2) / 2;
    if (dims >= 3) jets->count = jets->count * (degree + 3) / 3;
    enum ht_err err = HT_ALLOC(jets->index, jets->count);
    int n = 0;
    for (int a1 = 0; err == HT_OK && a1 <= degree; a1++)
        for (int a2 = 0; a2 <= (dims >= 2 ? degree - a1 : 0); a2++)
            for (int a3 = 0; a3 <= (dims >= 3 ? degree - a1 - a2 : 0); a3++) {
                jets->index[n][0] = a1;
                jets->index[n][1] = a2;
                jets->index[n][2] = a3;
                n++;
            }
    return finish(jets, err, out);
}

enum ht_err ht_jets_tensor(int dims, int order, struct ht_jets **out) {
    *out = NULL;
    struct ht_jets *jets;
    TRY(start(dims, order, &jets));
    int side = order + 1;
    jets->count = side * (dims >= 2 ? side : 1) * (dims >= 3 ? side : 1);
    enum ht_err err = HT_ALLOC(jets->index, jets->count);
    for (int n = 0; err == HT_OK && n < jets->count; n++) {
        jets->index[n][0] = n % side;
        jets->index[n][1] = n / side % side;
        jets->index[n][2] = n / side / side;
    }
    return finish(jets, err, out);
}

void ht_jets_destroy(struct ht_jets *jets) {
    if (!jets) return;
    free(jets->index);
    free(jets->pair);
    free(jets);
}

void ht_jet_multiply(const struct ht_jets *jets, const double *a, const double *b, double *out) {
    if (jets->degree == 0) {
        for (int n = 0; n < jets->count; n++) out[n] = a[n] * b[n];
        return;
    }
    memset(out, 0, (size_t)jets->count * sizeof *out);
    for (int p = 0; p < jets->pairs; p++) {
        const int *pair = jets->pair[p];
        out[pair[2]] += a[pair[0]] * b[pair[1]];
    }
}

/* Elementary functions of jets through first-order differential equations.
 *
 * With the Euler operator E = sum over axes of xi_k d/d xi_k, entry k of E f is |k| f_k, so that
 * F = f(g), F' = w, gives
 *     |k| F_k = sum over i + j = k of |i| g_i w_j            (E F = w E g)
 * for k != 0, where F_0 = f(g_0). It costs one product instead of the `degree` products of a Horner
 * composition. When w depends on F itself (exp: w = F), the entries w_j, j < k, that the sum asks
 * for are known, because jets list every part of k before k. Source: Griewank and
 * Walther, Evaluating Derivatives (2008), chapter 13.
 */

static int total(const struct ht_jets *jets, int entry) {
    const int *a = jets->index[entry];
    return a[0] + a[1] + a[2];
}

static bool is_constant(const struct ht_jets *jets, const double *g) {
    for (int n = 1; n < jets->count; n++)
        if (g[n] != 0) return false;
    return true;
}

static void set_constant(const struct ht_jets *jets, double value, double *out) {
    memset(out, 0, (size_t)jets->count * sizeof *out);
    out[0] = value;
}

/* F with F_0 = value and derivative w, a jet known in full. */
static void integrate(const struct ht_jets *jets, const double *g, const double *w, double value,
                      double *out) {
    set_constant(jets, value, out);
    for (int p = 1; p < jets->pairs; p++) {
        const int *pair = jets->pair[p];
        out[pair[2]] += total(jets, pair[0]) * g[pair[0]] * w[pair[1]];
    }
    for (int n = 1; n < jets->count; n++) out[n] /= total(jets, n);
}

void ht_jet_divide(const struct ht_jets *jets, const double *a, const double *b, double *out) {
    if (is_constant(jets, b)) {
        for (int n = 0; n < jets->count; n++) out[n] = a[n] / b[0];
        return;
    }
    int p = 0;
    for (int k = 0; k < jets->count; k++) {
        double rest = a[k];
        /* The first pair of a group has i = 0: the unknown itself. */
        for (p++; p < jets->pairs && jets->pair[p][2] == k; p++)
            rest -= b[jets->pair[p][0]] * out[jets->pair[p][1]];
        out[k] = rest / b[0];
    }
}

void ht_jet_reciprocal(const struct ht_jets *jets, const double *a, double *out) {
    if (jets->degree == 0) {
        for (int n = 0; n < jets->count; n++) out[n] = 1 / a[n];
        return;
    }
    set_constant(jets, 1, out);
    /* Each entry of the numerator is read before it is overwritten. */
    ht_jet_divide(jets, out, a, out);
}

void ht_jet_exp(const struct ht_jets *jets, const double *g, double *out) {
    out[0] = exp(g[0]);
    int p = 1;
    for (int k = 1; k < jets->count; k++) {
        double sum = 0;
        for (p++; p < jets->pairs && jets->pair[p][2] == k; p++) {
            const int *pair = jets->pair[p];
            sum += total(jets, pair[0]) * g[pair[0]] * out[pair[1]];
        }
        out[k] = sum / total(jets, k);
    }
}

void ht_jet_sincos(const struct ht_jets *jets, const double *g, int curvature, double *sine,
                   double *cosine) {
    sine[0] = curvature < 0 ? sin(g[0]) : sinh(g[0]);
    cosine[0] = curvature < 0 ? cos(g[0]) : cosh(g[0]);
    int p = 1;
    for (int k = 1; k < jets->count; k++) {
        double s = 0, c = 0;
        for (p++; p < jets->pairs && jets->pair[p][2] == k; p++) {
            const int *pair = jets->pair[p];
            double slope = total(jets, pair[0]) * g[pair[0]];
            s += slope * cosine[pair[1]];
            c += slope * sine[pair[1]];
        }
        sine[k] = s / total(jets, k);
        cosine[k] = curvature * c / total(jets, k);
    }
}

/* g^exponent, exponent >= 0, by repeated squaring. scratch: 2 jets. */
static void power_integer(const struct ht_jets *jets, const double *g, int exponent,
                          double *scratch, double *out) {
    size_t bytes = (size_t)jets->count * sizeof *out;
    double *square = scratch, *product = scratch + jets->count;
    memcpy(square, g, bytes);
    set_constant(jets, 1, out);
    for (bool first = true; exponent > 0; exponent >>= 1) {
        if (exponent & 1) {
            if (first)
                memcpy(out, square, bytes);
            else {
                ht_jet_multiply(jets, out, square, product);
                memcpy(out, product, bytes);
            }
            first = false;
        }
        if (exponent > 1) {
            ht_jet_multiply(jets, square, square, product);
            memcpy(square, product, bytes);
        }
    }
}

void ht_jet_power(const struct ht_jets *jets, const double *g, double exponent, double *scratch,
                  double *out) {
    if (is_constant(jets, g)) {
        set_constant(jets, ht_power(g[0], exponent), out);
    } else if (exponent == floor(exponent) && fabs(exponent) <= 1024) {
        power_integer(jets, g, (int)fabs(exponent), scratch, out);
        if (exponent < 0) {
            memcpy(scratch, out, (size_t)jets->count * sizeof *out);
            set_constant(jets, 1, scratch + jets->count);
            ht_jet_divide(jets, scratch + jets->count, scratch, out);
        }
    } else {
        /* g E P = exponent P E g, solved for the entry with the highest index. */
        out[0] = pow(g[0], exponent);
        int p = 1;
        for (int k = 1; k < jets->count; k++) {
            double sum = 0;
            for (p++; p < jets->pairs && jets->pair[p][2] == k; p++) {
                const int *pair = jets->pair[p];
                double weight = exponent * total(jets, pair[0]) - total(jets, pair[1]);
                sum += weight * g[pair[0]] * out[pair[1]];
            }
            out[k] = sum / (total(jets, k) * g[0]);
        }
    }
}

void ht_jet_log(const struct ht_jets *jets, const double *g, double *scratch, double *out) {
    double *one = scratch, *slope = scratch + jets->count;
    set_constant(jets, 1, one);
    ht_jet_divide(jets, one, g, slope);
    integrate(jets, g, slope, log(g[0]), out);
}

void ht_jet_tan(const struct ht_jets *jets, const double *g, double *scratch, double *out) {
    double *sine = scratch, *cosine = scratch + jets->count;
    ht_jet_sincos(jets, g, -1, sine, cosine);
    ht_jet_divide(jets, sine, cosine, out);
}

/* tanh g = s (1 - e)/(1 + e), e = exp(-2 s g), s the sign of g: no overflow anywhere. */
void ht_jet_tanh(const struct ht_jets *jets, const double *g, double *scratch, double *out) {
    double *decay = scratch, *upper = scratch + jets->count;
    double sign = g[0] < 0 ? -1 : 1;
    for (int n = 0; n < jets->count; n++) upper[n] = -2 * sign * g[n];
    ht_jet_exp(jets, upper, decay);
    for (int n = 0; n < jets->count; n++) upper[n] = -sign * decay[n];
    upper[0] += sign;
    decay[0] += 1;
    ht_jet_divide(jets, upper, decay, out);
    out[0] = tanh(g[0]);
}

void ht_jet_atan(const struct ht_jets *jets, const double *g, double *scratch, double *out) {
    double *lower = scratch, *slope = scratch + jets->count;
    ht_jet_multiply(jets, g, g, lower);
    lower[0] += 1;
    set_constant(jets, 1, out);
    ht_jet_divide(jets, out, lower, slope);
    integrate(jets, g, slope, atan(g[0]), out);
}

void ht_jet_erf(const struct ht_jets *jets, const double *g, double *scratch, double *out) {
    double *square = scratch, *slope = scratch + jets->count;
    ht_jet_multiply(jets, g, g, square);
    for (int n = 0; n < jets->count; n++) square[n] = -square[n];
    ht_jet_exp(jets, square, slope);
    for (int n = 0; n < jets->count; n++) slope[n] *= 2 / sqrt(HT_PI);
    integrate(jets, g, slope, erf(g[0]), out);
}
