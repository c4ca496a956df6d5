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
#include "htwave/num.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEGREE = 32 };

/* Position of every multi-index of a set in the enclosing cube. */
struct lookup {
    int side;
    int *entry;
};

static int lookup_cell(const struct lookup *lookup, const int a[3]) {
    return (a[2] * lookup->side + a[1]) * lookup->side + a[0];
}

static enum ht_err lookup_create(const struct ht_jets *jets, struct lookup *out) {
    int largest = 0;
    for (int n = 0; n < jets->count; n++)
        for (int k = 0; k < 3; k++)
            if (jets->index[n][k] > largest) largest = jets->index[n][k];
    out->side = largest + 1;
    TRY(HT_ALLOC(out->entry, out->side * out->side * out->side));
    for (int n = 0; n < jets->count; n++) out->entry[lookup_cell(out, jets->index[n])] = n;
    return HT_OK;
}

/* Number of multi-indices i <= k. */
static int parts(const int k[3]) {
    return (k[0] + 1) * (k[1] + 1) * (k[2] + 1);
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
        jets->pairs += parts(a);
    }
    TRY(HT_ALLOC(jets->pair, jets->pairs));
    struct lookup lookup;
    TRY(lookup_create(jets, &lookup));
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
