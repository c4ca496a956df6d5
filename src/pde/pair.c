/* The staggered form of a system from its terms; see the header. */
#include "htwave/system.h"

#include <math.h>

/* The field by which field `col` changes along an axis; -1: by none, or several. */
static int partner_of(const struct ht_equations *eq, int col, int axis) {
    int partner = -1;
    for (int t = 0; t < eq->nterms; t++) {
        const struct ht_term *term = &eq->term[t];
        if (term->row != col || term->axis != axis) continue;
        if (partner >= 0) return -1;
        partner = term->col;
    }
    return partner;
}

static int find_coefficient(const struct ht_term *term, int partner, bool apart,
                            struct ht_pair *pair) {
    const int row = term->row < partner ? term->row : partner;
    const int col = term->row < partner ? partner : term->row;
    int i = 0;
    for (; i < pair->ncoefficients; i++) {
        const struct ht_pair_coefficient *c = &pair->coefficient[i];
        if (c->row == row && c->col == col) return i;
        if (!apart && c->material == term->material && c->parity == pair->parity[term->row])
            return i;
    }
    pair->coefficient[pair->ncoefficients++] = (struct ht_pair_coefficient){
        .parity = pair->parity[term->row], .row = row, .col = col, .material = term->material};
    return i;
}

const char *ht_pair_make(const struct ht_equations *eq, enum ht_pair_kind kind,
                         struct ht_pair *out) {
    *out = (struct ht_pair){.dims = eq->dims, .nfields = eq->nfields};
    if (eq->leapfrog.old_sign <= 0) return "do not fall into two groups that change each other";
    if (!eq->mirrors) return "have no places on a staggered grid";
    for (int g = 0; g < 2; g++) out->group[g] = eq->leapfrog.stored[g == 0 ? 1 : 0];
    for (int f = 0; f < eq->nfields; f++) out->parity[f] = eq->field[f].parity;
    for (int t = 0; t < eq->nterms; t++) {
        const struct ht_term *term = &eq->term[t];
        const int partner = partner_of(eq, term->col, term->axis);
        if (term->derivative != 1 || partner < 0) return "do not change by first derivatives alone";
        out->term[out->nterms++] = (struct ht_pair_term){
            .row = term->row,
            .col = term->col,
            .axis = term->axis,
            .partner = partner,
            .factor = term->coef,
            .coefficient = find_coefficient(term, partner, kind == HT_PAIR_APART, out)};
    }
    return NULL;
}

unsigned ht_pair_coupled(const struct ht_pair *pair) {
    unsigned coupled = 0;
    for (int t = 0; t < pair->nterms; t++)
        if (pair->term[t].partner != pair->term[t].row) coupled |= 1u << pair->term[t].row;
    return coupled;
}

/* Elimination with the largest pivots, which ends where the rest is rounding. */
void ht_pair_invert(int count, double c[HT_MAX_FIELDS][HT_MAX_FIELDS], double *x, double *y) {
    const double rounding = 1e-13;
    int row[HT_MAX_FIELDS], rank = 0;
    double most = 0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, c[i][i]);
        row[i] = i;
        y[i] = 0;
    }
    for (; rank < count; rank++) {
        int best = rank;
        for (int i = rank + 1; i < count; i++)
            if (c[row[i]][row[i]] > c[row[best]][row[best]]) best = i;
        const int pivot = row[best];
        row[best] = row[rank];
        row[rank] = pivot;
        if (!(c[pivot][pivot] > rounding * most)) break;
        for (int i = rank + 1; i < count; i++) {
            const double factor = c[row[i]][pivot] / c[pivot][pivot];
            for (int j = rank + 1; j < count; j++) c[row[i]][row[j]] -= factor * c[pivot][row[j]];
            x[row[i]] -= factor * x[pivot];
        }
    }
    for (int k = rank - 1; k >= 0; k--) {
        double sum = x[row[k]];
        for (int j = k + 1; j < rank; j++) sum -= c[row[k]][row[j]] * y[row[j]];
        y[row[k]] = sum / c[row[k]][row[k]];
    }
}

int ht_pair_stresses(const struct ht_pair *pair) {
    int field = 0;
    while (field < pair->nfields - 1 && pair->parity[field] != 0) field++;
    return (int)(pair->group[1] >> field & 1u);
}

int ht_pair_normal(const struct ht_pair *pair, int axis) {
    for (int t = 0; t < pair->nterms; t++) {
        const struct ht_pair_term *term = &pair->term[t];
        if (pair->group[ht_pair_stresses(pair)] >> term->row & 1u && term->axis == axis &&
            term->partner == term->row && !ht_pair_up(pair, term->col, axis))
            return term->row;
    }
    return -1;
}

/* Elimination; of rows that depend on those before, as in a fluid, nothing is left but rounding. */
void ht_pair_release(int count, unsigned fixed, bool absolute,
                     double c[HT_MAX_FIELDS][HT_MAX_FIELDS], double *x) {
    const double rounding = 1e-13;
    double least = 0;
    for (int i = 0; i < count; i++) least = fmax(least, rounding * c[i][i]);
    for (int p = 0; p < count; p++) {
        if (!(fixed >> p & 1u) || !(c[p][p] > least)) continue;
        for (int i = 0; i < count; i++) {
            const double factor = i != p ? c[i][p] / c[p][p] : 0;
            x[i] += absolute ? fabs(factor) * x[p] : -factor * x[p];
            for (int j = 0; j < count; j++) c[i][j] -= factor * c[p][j];
        }
    }
    for (int p = 0; p < count; p++)
        if (fixed >> p & 1u) x[p] = 0;
}
