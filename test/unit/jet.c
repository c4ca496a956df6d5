/* Jets: the sets, their order, and products against a dense convolution. */
#include "../test.h"

#include "htwave/num.h"

/* The order that the contract states, written out for small sets. */
static void test_order(void) {
    static const int total[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {2, 0}};
    static const int tensor[4][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    struct ht_jets *a = NULL, *b = NULL;
    bool made = ht_jets_total(2, 2, &a) == HT_OK && ht_jets_tensor(2, 1, &b) == HT_OK;
    TEST_CHECK(made && a->count == 6 && b->count == 4,
               "counts of total(2, 2) = %d and tensor(2, 1) = %d", made ? a->count : 0,
               made ? b->count : 0);
    int wrong = 0;
    for (int n = 0; made && n < 6; n++)
        wrong += a->index[n][0] != total[n][0] || a->index[n][1] != total[n][1];
    for (int n = 0; made && n < 4; n++)
        wrong += b->index[n][0] != tensor[n][0] || b->index[n][1] != tensor[n][1];
    TEST_CHECK(made && wrong == 0, "order of the indices: %d wrong", wrong);
    ht_jets_destroy(a);
    ht_jets_destroy(b);
}

static long long binomial(int n, int k) {
    long long value = 1;
    for (int i = 1; i <= k; i++) value = value * (n - k + i) / i;
    return value;
}

static double uniform(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 8388608.0 - 1;
}

/* Product by definition: every pair of indices, sums looked up linearly. */
static double dense_difference(const struct ht_jets *jets) {
    unsigned state = 7;
    size_t size = (size_t)jets->count;
    double *a = calloc(4 * size, sizeof *a), worst = 0;
    if (!a) return NAN;
    double *b = a + size, *c = b + size, *want = c + size;
    for (int n = 0; n < jets->count; n++) {
        a[n] = uniform(&state);
        b[n] = uniform(&state);
    }
    for (int i = 0; i < jets->count; i++)
        for (int j = 0; j < jets->count; j++)
            for (int k = 0; k < jets->count; k++) {
                bool sum = true;
                for (int d = 0; d < 3; d++)
                    sum = sum && jets->index[i][d] + jets->index[j][d] == jets->index[k][d];
                if (sum) want[k] += a[i] * b[j];
            }
    ht_jet_multiply(jets, a, b, c);
    for (int n = 0; n < jets->count; n++)
        worst = isnan(c[n]) ? INFINITY : fmax(worst, fabs(c[n] - want[n]));
    free(a);
    return worst;
}

/* a times 1/a is 1: the largest difference. The entries of a beyond the first are small enough for
 * those of 1/a to stay below 1. */
static double reciprocal_difference(const struct ht_jets *jets) {
    unsigned state = 11;
    size_t size = (size_t)jets->count;
    double *a = calloc(3 * size, sizeof *a), worst = 0;
    if (!a) return NAN;
    double *b = a + size, *one = b + size;
    for (int n = 0; n < jets->count; n++) a[n] = n ? uniform(&state) / jets->count : 2;
    ht_jet_reciprocal(jets, a, b);
    ht_jet_multiply(jets, a, b, one);
    one[0] -= 1;
    for (int n = 0; n < jets->count; n++)
        worst = isnan(one[n]) ? INFINITY : fmax(worst, fabs(one[n]));
    free(a);
    return worst;
}

/* Entries come after all their parts; pairs are grouped by their sum. */
static int misplaced(const struct ht_jets *jets) {
    int wrong = 0, before = -1;
    for (int p = 0; p < jets->pairs; p++) {
        const int *pair = jets->pair[p];
        for (int d = 0; d < 3; d++)
            wrong += jets->index[pair[0]][d] + jets->index[pair[1]][d] != jets->index[pair[2]][d];
        wrong += pair[0] > pair[2] || pair[1] > pair[2] || pair[2] < before;
        wrong += pair[2] != before && pair[0] != 0;
        before = pair[2];
    }
    return wrong;
}

static void test_set(const char *name, struct ht_jets *jets, int size, long long count,
                     long long pairs) {
    TEST_CHECK(jets->count == count && jets->pairs == pairs,
               "%s(%d, %d): %d indices of %lld, %d pairs of %lld", name, jets->dims, size,
               jets->count, count, jets->pairs, pairs);
    int wrong = misplaced(jets);
    TEST_CHECK(wrong == 0, "%s(%d, %d): %d pairs out of place", name, jets->dims, size, wrong);
    /* At most `count` products of numbers below 1 are added. */
    if (jets->count <= 130)
        TEST_BELOW(dense_difference(jets), 2.3e-16 * jets->count,
                   "%s(%d, %d): product against the definition", name, jets->dims, size);
    TEST_BELOW(reciprocal_difference(jets), 2.3e-16 * (jets->count + 3),
               "%s(%d, %d): a times 1/a is 1", name, jets->dims, size);
    ht_jets_destroy(jets);
}

static void test_sets(void) {
    static const int degree[] = {0, 1, 4, 7}, order[] = {1, 2, 4, 8};
    for (int dims = 1; dims <= 3; dims++)
        for (int n = 0; n < 4; n++) {
            struct ht_jets *jets;
            /* pairs = pairs of multi-indices with |i| + |j| <= degree */
            if (ht_jets_total(dims, degree[n], &jets) == HT_OK)
                test_set("total", jets, degree[n], binomial(degree[n] + dims, dims),
                         binomial(degree[n] + 2 * dims, 2 * dims));
            long long count = 1, pairs = 1;
            for (int d = 0; d < dims; d++) {
                count *= order[n] + 1;
                pairs *= (order[n] + 1) * (order[n] + 2) / 2;
            }
            if (ht_jets_tensor(dims, order[n], &jets) == HT_OK)
                test_set("tensor", jets, order[n], count, pairs);
        }
    struct ht_jets *none = NULL;
    TEST_CHECK(ht_jets_total(4, 1, &none) == HT_ERR_INTERNAL && !none,
               "four dimensions are refused");
    TEST_CHECK(ht_jets_tensor(1, -1, &none) == HT_ERR_INTERNAL && !none,
               "a negative order is refused");
}

int main(void) {
    test_order();
    test_sets();
    return test_end("jet");
}
