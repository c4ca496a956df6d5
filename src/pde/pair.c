/* The staggered form of a system from its terms; see the header. */
#include "htwave/system.h"

int ht_equations_partner(const struct ht_equations *eq, int col, int axis, double *coef) {
    int found = -1, count = 0;
    for (int t = 0; t < eq->nterms; t++)
        if (eq->term[t].row == col && eq->term[t].axis == axis) {
            found = eq->term[t].col;
            *coef = eq->term[t].coef;
            count++;
        }
    return count == 1 ? found : -1;
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

/* ---- losses ---- */

double ht_pair_value(const struct ht_pair_coefficient *coefficient, double material, double own) {
    const double value = coefficient->own >= 0 ? material * own : material;
    return coefficient->root ? sqrt(value) : value;
}

/* The coefficient of a row's loss; of several rows of a parity the same one where it is. */
static int add_lost(int material, int row, bool root, int own, bool apart, struct ht_pair *pair) {
    const struct ht_pair_coefficient of = {.parity = pair->parity[row],
                                           .row = row,
                                           .col = row,
                                           .material = material,
                                           .loss = true,
                                           .root = root,
                                           .own = own};
    if (material == 0) return -1;
    for (int i = pair->nown; i < pair->ncoefficients; i++) {
        const struct ht_pair_coefficient *c = &pair->coefficient[i];
        if (c->parity == of.parity && c->material == material && c->own == own &&
            (c->row == row || own < 0 || !apart))
            return i;
    }
    pair->coefficient[pair->ncoefficients] = of;
    return pair->ncoefficients++;
}

static int add_partner(int row, bool has, struct ht_pair *pair) {
    if (!has) return -1;
    pair->owner[pair->npartners] = row;
    return pair->npartners++;
}

static void add_loss(const struct ht_loss *loss, int row, bool apart, struct ht_pair *pair) {
    const bool conducts = loss->kind == HT_LOSS_CONDUCTS;
    const bool oscillates = loss->kind == HT_LOSS_OSCILLATES;
    const bool coupled = ht_pair_coupled(pair) >> row & 1u;
    const int bulk = loss->bulk > 0 ? loss->bulk + pair->dims - 1 : 0;
    const int normal = bulk > 0 && pair->parity[row] == 0;
    int own = -1;
    for (int t = 0; t < pair->nterms; t++)
        if (pair->term[t].row == row && pair->term[t].partner == row)
            own = pair->coefficient[pair->term[t].coefficient].material;
    if (loss->kind == HT_LOSS_ATTENUATES) own = -1;
    pair->loss[pair->nlosses++] = (struct ht_pair_loss){
        .kind = loss->kind,
        .row = row,
        .strength =
            add_lost(normal && !coupled ? bulk : loss->strength, row, !conducts, own, apart, pair),
        .bulk = normal && coupled ? add_lost(bulk, row, true, -1, apart, pair) : -1,
        .frequency = add_lost(loss->frequency, row, false, -1, apart, pair),
        .rate = add_lost(loss->rate, row, false, -1, apart, pair),
        .position = add_partner(row, !conducts && (!oscillates || loss->frequency > 0), pair),
        .current = add_partner(row, oscillates, pair)};
}

/* Fields of the system by name: those of the equations have other numbers. */
static void add_losses(const struct ht_equations *eq, bool apart, struct ht_pair *pair) {
    const struct ht_system *system = eq->system;
    pair->nown = pair->ncoefficients;
    for (int f = 0; f < eq->nfields; f++)
        for (int l = 0; l < system->nlosses; l++)
            for (int n = 0; n < system->nfields; n++)
                if ((eq->losses >> l & 1u) && (system->loss[l].fields >> n & 1u) &&
                    strcmp(system->field[n].name, eq->field[f].name) == 0)
                    add_loss(&system->loss[l], f, apart, pair);
}

int ht_equations_system_field(const struct ht_equations *eq, int field) {
    int f = 0;
    while (strcmp(eq->system->field[f].name, eq->field[field].name) != 0) f++;
    return f;
}

int ht_pair_axes(unsigned parity) {
    return (int)((parity & 1u) + (parity >> 1 & 1u) + (parity >> 2 & 1u));
}

int ht_pair_couplings(const struct ht_pair *pair, int group, int *first) {
    int count = 0;
    for (int c = pair->ncoefficients + pair->ncouplings - 1; c >= pair->ncoefficients; c--) {
        if (!(pair->group[group] >> pair->coefficient[c].row & 1u)) continue;
        *first = c;
        count++;
    }
    return count;
}

int ht_pair_rows(const struct ht_pair *pair, int group, int row[HT_MAX_FIELDS]) {
    int first = 0, count = 0;
    unsigned rows = 0;
    for (int c = ht_pair_couplings(pair, group, &first) - 1; c >= 0; c--)
        rows |= 1u << pair->coefficient[first + c].row | 1u << pair->coefficient[first + c].col;
    HT_EACH_BIT(f, rows) row[count++] = f;
    return count;
}

int ht_pair_corners(const struct ht_pair *pair, int group) {
    int row[HT_MAX_FIELDS], axes = 0;
    for (int i = ht_pair_rows(pair, group, row) - 1; i >= 0; i--) {
        const int apart = ht_pair_axes(pair->parity[row[i]] ^ pair->meets[group]);
        axes = apart > axes ? apart : axes;
    }
    return 1 << axes;
}

/* The fields of a group whose coefficients depend on the normal of a face, if there are several. */
static unsigned find_turning(const struct ht_equations *eq, unsigned group) {
    unsigned turning = 0;
    for (int f = 0; f < eq->nfields; f++) {
        const unsigned uses = eq->system->average.uses[ht_equations_system_field(eq, f)];
        if (group >> f & 1u && (uses & (uses - 1)) != 0) turning |= 1u << f;
    }
    return turning;
}

/* Whether terms have C_rq. */
static bool has(const struct ht_pair *pair, int row, int col) {
    for (int c = 0; c < pair->ncoefficients; c++)
        if (pair->coefficient[c].row == row && pair->coefficient[c].col == col) return true;
    return false;
}

/* They meet where they differ in the fewest axes; entries of terms are at their own place, which
 * must be that one. */
static void add_couplings(const struct ht_equations *eq, int group, struct ht_pair *out) {
    const unsigned turning = find_turning(eq, out->group[group]);
    int least = 3 * HT_MAX_FIELDS;
    for (unsigned parity = 0; parity < 1u << eq->dims; parity++) {
        int differ = 0;
        HT_EACH_BIT(f, turning) differ += ht_pair_axes(out->parity[f] ^ parity);
        if (differ <= least) out->meets[group] = parity;
        if (differ <= least) least = differ;
    }
    HT_EACH(const struct ht_pair_coefficient, of, out->coefficient, out->ncoefficients)
        if (turning >> of->row & 1u && of->row != of->col && of->parity != out->meets[group])
            return;
    for (int r = 0; r < eq->nfields; r++)
        for (int q = r + 1; q < eq->nfields; q++) {
            const int to = out->ncoefficients + out->ncouplings;
            if (!(turning >> r & turning >> q & 1u) || has(out, r, q)) continue;
            if (to >= HT_MAX_TERMS) return;
            out->ncouplings++;
            out->coefficient[to] = (struct ht_pair_coefficient){
                .parity = out->meets[group], .row = r, .col = q, .material = -1};
        }
}

const char *ht_pair_make(const struct ht_equations *eq, enum ht_pair_kind kind,
                         struct ht_pair *out) {
    *out = (struct ht_pair){.dims = eq->dims, .nfields = eq->nfields};
    if (eq->leapfrog.old_sign <= 0) return "do not fall into two groups that change each other";
    if (!eq->mirrors) return "have no places on a staggered grid";
    for (int g = 0; g < 2; g++) out->group[g] = eq->leapfrog.stored[g == 0 ? 1 : 0];
    for (int f = 0; f < eq->nfields; f++) out->parity[f] = eq->field[f].parity;
    HT_EACH(const struct ht_term, term, eq->term, eq->nterms) {
        double coef;
        const int partner = ht_equations_partner(eq, term->col, term->axis, &coef);
        if (term->derivative != 1 || partner < 0) return "do not change by first derivatives alone";
        out->term[out->nterms++] = (struct ht_pair_term){
            .row = term->row,
            .col = term->col,
            .axis = term->axis,
            .partner = partner,
            .factor = term->coef,
            .coefficient = find_coefficient(term, partner, kind == HT_PAIR_APART, out)};
    }
    add_losses(eq, kind == HT_PAIR_APART, out);
    for (int group = 0; group < 2 && kind == HT_PAIR_APART; group++) add_couplings(eq, group, out);
    return NULL;
}

unsigned ht_pair_coupled(const struct ht_pair *pair) {
    unsigned coupled = 0;
    for (int t = 0; t < pair->nterms; t++)
        if (pair->term[t].partner != pair->term[t].row) coupled |= 1u << pair->term[t].row;
    return coupled;
}

/* Elimination with the largest pivots, which ends where the rest is rounding. */
void ht_pair_invert(int count, double (*c)[HT_MAX_FIELDS], double *x, double *y) {
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
    HT_EACH(const struct ht_pair_term, term, pair->term, pair->nterms)
        if (pair->group[ht_pair_stresses(pair)] >> term->row & 1u && term->axis == axis &&
            term->partner == term->row && !ht_pair_up(pair, term->col, axis))
            return term->row;
    return -1;
}

/* Elimination; of rows that depend on those before, as in a fluid, nothing is left but rounding. */
void ht_pair_release(int count, unsigned fixed, bool absolute, double (*c)[HT_MAX_FIELDS],
                     double *x) {
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
