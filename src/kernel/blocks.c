/* Parity blocks (blocks.h): their sizes and masks, and the arithmetic of their entries. */
#include "blocks.h"
#include "counts.h"

bool ht_blocks_apply(const struct ht_equations *eq) {
    HT_EACH(const struct ht_term, term, eq->term, eq->nterms) {
        unsigned odd = term->derivative % 2 ? 1u << term->axis : 0;
        if (eq->field[term->row].parity != (eq->field[term->col].parity ^ odd)) return false;
    }
    return true;
}

int ht_blocks_class(const struct ht_spec *spec, int field, unsigned g) {
    const int evens = spec->order / 2 + 1, odds = (spec->order + 1) / 2;
    int count = 1;
    for (int k = 0; k < spec->eq->dims; k++)
        count *= (g ^ spec->eq->field[field].parity) >> k & 1u ? odds : evens;
    return count;
}

void ht_blocks_rows(const struct ht_spec *spec, int rows[8]) {
    const struct ht_sizes z = ht_sizes_of(spec);
    memset(rows, 0, 8 * sizeof rows[0]);
    for (unsigned g = 0; g < 1u << spec->eq->dims; g++)
        for (int s = 0; s < z.targets; s++) rows[g] += ht_blocks_class(spec, z.target_field[s], g);
}

int ht_blocks_padded(const int rows[8], int tile) {
    int sum = 0;
    for (int g = 0; g < 8; g++) sum += (rows[g] + tile - 1) / tile * tile;
    return sum;
}

int ht_blocks_tile(const int rows[8], int step, int most, double reads) {
    int best = step;
    double least = INFINITY;
    for (int tile = step; tile <= most; tile += step) {
        const double cost = ht_blocks_padded(rows, tile) * (1 + reads / tile);
        if (cost >= least) continue;
        best = tile;
        least = cost;
    }
    return best;
}

void ht_blocks_pad(const struct ht_blocks *blocks, int tile, int first[9], int *target,
                   const double **entry) {
    int count = 0;
    for (int g = 0; g < blocks->blocks; g++) {
        first[g] = count;
        for (int r = 0; r < blocks->rows[g] || r % tile != 0; r++, count++) {
            const bool padding = r >= blocks->rows[g];
            target[count] = padding ? -1 : blocks->row[g][r];
            entry[count] = padding ? NULL : blocks->entry[g] + (ptrdiff_t)r * blocks->sources;
        }
    }
    first[blocks->blocks] = count;
}

/* Entries of single precision keep 24 bits: double precision suffices for them. */
static HT_ERR fill(const struct ht_spec *spec, struct ht_blocks *blocks) {
    const struct ht_sizes z = ht_sizes_of(spec);
    blocks->dims = spec->eq->dims;
    blocks->blocks = 1 << blocks->dims;
    blocks->sources = z.sources * z.coefs;
    TRY(HT_ALLOC(blocks->parity, blocks->sources));
    for (int s = 0; s < blocks->sources; s++)
        blocks->parity[s] = ht_parity_of(&z, s % z.coefs) ^
                            (int)spec->eq->field[z.source_field[s / z.coefs]].parity;
    ht_blocks_rows(spec, blocks->rows);
    for (int g = 0; g < blocks->blocks; g++) {
        TRY(HT_ALLOC(blocks->row[g], blocks->rows[g]));
        TRY(HT_ALLOC(blocks->entry[g], (int64_t)blocks->rows[g] * blocks->sources));
    }
    return spec->fp64 ? ht_blocks_fill_long(spec, blocks) : ht_blocks_fill_double(spec, blocks);
}

HT_ERR ht_blocks_create(const struct ht_spec *spec, struct ht_blocks **out) {
    struct ht_blocks *blocks = NULL;
    *out = NULL;
    REQUIRE(ht_blocks_apply(spec->eq), HT_ERR_INTERNAL,
            "parity blocks of system %s, which has no parities", spec->eq->system->name);
    TRY(HT_ALLOC(blocks, 1));
    const enum ht_err err = fill(spec, blocks);
    return HT_MADE(err, blocks, ht_blocks_destroy, out);
}

void ht_blocks_destroy(struct ht_blocks *blocks) {
    if (blocks == NULL) return;
    free(blocks->parity);
    for (int g = 0; g < 8; g++) {
        free(blocks->row[g]);
        free(blocks->entry[g]);
    }
    free(blocks);
}

int ht_storage_entry(int entry, int coefs, int padded_coefs, const int *storage) {
    return entry / coefs * padded_coefs + storage[entry % coefs];
}

/* Entries of parity blocks in single precision (blocks.h), rounded so that their errors cancel for
 * resolved waves.
 *
 * The errors of entries are the same in every half step, so what they do to the eigenvalue of a
 * wave grows linearly in time. For a plane wave with kappa_k = k_k h_k the sums that a block reads
 * of a field are, but for a factor that all have in common,
 *     s_i(kappa) = prod over axes of (+-) kappa^i / i! (cos or sin)(kappa / 2),
 * the cosine where the sum adds both sides. So the errors d_i of a row should make
 *     mean over 0 <= kappa_k <= K of (sum_i s_i d_i)^2
 *         + sum_i (KEEP d_i / size_i)^2
 * small. The second sum, with the sizes of a column's entries, keeps what unresolved waves see.
 * Entries are rounded one after the other, the one that matters most first, each to the nearest
 * number to what is best given the errors before it, as if those behind it were real numbers. (That
 * is the nearest plane of Babai, Combinatorica 6, 1986, by a Cholesky decomposition.) Entries fall
 * by powers of ten along a row, so that the last ones mend what the first ones lost. */

enum {
    HALF_BITS = 11,
    POINTS = 64, /* of the mean over an axis */
    MOST = HT_MAX_ORDER + 1
};
/* Waves to kappa = RESOLVED N count: at N = 5 those of 2.1 cells and more. */
static const double RESOLVED = 0.6;
static const double KEEP = 1e-3;
static const double LEAST_SIZE = 1e-12, NOISE = 1e-13; /* of the largest */

double ht_first_half(double value) {
    int exponent = 0;
    const double fraction = frexp(value, &exponent);
    return ldexp(nearbyint(ldexp(fraction, HALF_BITS)), exponent - HALF_BITS);
}

/* The nearest sum of two numbers of 11 bits, the first one rounded (ht_high of cl/tf32.cl): 23
 * bits, 24 where the second one is at most half of what it can be. */
static double two_halves(double value) {
    const double high = ht_first_half(value);
    return (float)(high + ht_first_half(value - high));
}

struct rounding {
    const struct ht_spec *spec;
    struct ht_blocks *blocks;
    int coefs, n[3];
    /* mean[odd][i][j] of s_i s_j along an axis. odd: of the field's interpolant. */
    double mean[2][MOST][MOST];
};

/* Of a field's rows of a block. */
struct part {
    int coefs, order[HT_MAX_COEFS]; /* columns, those that matter least first */
    double size[HT_MAX_COEFS];      /* of columns */
    double *factor;                 /* [i][j] Cholesky's, j <= i */
};

/* s_i without the factor sqrt(-1)^odd. */
static double wave_sum(int i, int odd, double kappa) {
    const bool sine = (i & 1) != odd;
    double value = sine ? sin(kappa / 2) : cos(kappa / 2);
    for (int j = 1; j <= i; j++) value *= kappa / j;
    return ((i + sine - odd) / 2) % 2 ? -value : value;
}

/* Of the sums s_i s_j of a field with the interpolant's parities `odd`, a bit for each axis. */
static double mean_of(const struct rounding *r, unsigned odd, int i, int j) {
    double value = 1;
    for (int k = 0; k < 3; k++) {
        value *= r->n[k] > 1 ? r->mean[odd >> k & 1u][i % r->n[k]][j % r->n[k]] : 1;
        i /= r->n[k];
        j /= r->n[k];
    }
    return value;
}

/* Cholesky's factor of the means and sizes, in the columns' order: first its transpose, row after
 * row, whose sums the compiler does in vectors. */
static void factorise(const struct rounding *r, const struct part *p, unsigned odd) {
    const int64_t n = p->coefs;
    for (int64_t i = 0; i < n; i++) {
        const double keep = KEEP / p->size[p->order[i]];
        for (int64_t j = i; j < n; j++)
            p->factor[i * n + j] = mean_of(r, odd, p->order[i], p->order[j]);
        p->factor[i * n + i] += keep * keep;
    }
    for (int64_t k = 0; k < n; k++) {
        const double *row = p->factor + k * n;
        const double root = sqrt(row[k]);
        for (int64_t j = k; j < n; j++) p->factor[k * n + j] /= root;
        for (int64_t i = k + 1; i < n; i++) {
            double *to = p->factor + i * n;
            for (int64_t j = i; j < n; j++) to[j] -= row[i] * row[j];
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) p->factor[i * n + j] = p->factor[j * n + i];
}

static void round_row(const struct part *p, double *entry) {
    double largest = 0, before[HT_MAX_COEFS] = {0}; /* errors */
    for (int i = 0; i < p->coefs; i++) largest = fmax(largest, fabs(entry[i]));
    for (int i = p->coefs - 1; i >= 0; i--) {
        const double *row = p->factor + (int64_t)i * p->coefs;
        double *value = entry + p->order[i];
        const double exact = *value;
        const bool noise = fabs(exact) <= NOISE * largest;
        *value = two_halves(noise ? exact : exact - before[i] / row[i]);
        const double error = *value - exact;
        for (int j = 0; j < i; j++) before[j] += row[j] * error;
    }
}

static HT_ERR round_part(void *data, int64_t chunk) {
    const struct rounding *r = data;
    const int coefs = r->coefs, g = (int)(chunk % r->blocks->blocks);
    const int64_t slot = chunk / r->blocks->blocks, pitch = r->blocks->sources;
    /* Parities of a field's interpolant in block g, bits of the equations' axes. */
    const unsigned odd = (unsigned)(g ^ r->blocks->parity[slot * coefs]);
    double *first = r->blocks->entry[g] + slot * coefs, *end = first + r->blocks->rows[g] * pitch;
    double most = 0, weights[HT_MAX_COEFS];
    HT_ARRAY(double, factor, (int64_t)coefs *coefs);
    struct part p = {.coefs = coefs, .factor = factor};
    /* Root mean square of a column's entries, each over the largest of its row. */
    for (const double *entry = first; entry < end; entry += pitch) {
        double largest = 0;
        for (int i = 0; i < coefs; i++) largest = fmax(largest, fabs(entry[i]));
        for (int i = 0; largest > 0 && i < coefs; i++)
            p.size[i] += entry[i] / largest * (entry[i] / largest);
    }
    for (int i = 0; i < coefs; i++) {
        p.size[i] = sqrt(p.size[i]);
        most = fmax(most, p.size[i]);
    }
    for (int i = 0; i < coefs; i++) {
        p.size[i] = fmax(most > 0 ? p.size[i] / most : 0, LEAST_SIZE);
        const double weight = p.size[i] * sqrt(mean_of(r, odd, i, i));
        int at = i;
        for (; at > 0 && weights[at - 1] > weight; at--) {
            weights[at] = weights[at - 1];
            p.order[at] = p.order[at - 1];
        }
        weights[at] = weight;
        p.order[at] = i;
    }
    factorise(r, &p, odd);
    for (double *entry = first; entry < end; entry += pitch) round_row(&p, entry);
    return HT_OK;
}

HT_ERR ht_blocks_round(const struct ht_spec *spec, struct ht_blocks *blocks) {
    const struct ht_sizes z = ht_sizes_of(spec);
    struct rounding r = {.spec = spec, .blocks = blocks, .coefs = z.coefs, .n = {z.n1, z.n2, z.n3}};
    if (spec->fp64) return HT_OK;
    const int n1 = r.spec->order + 1;
    for (int point = 0; point < POINTS; point++) {
        const double kappa = RESOLVED * r.spec->order * (point + 0.5) / POINTS;
        for (int odd = 0; odd < 2; odd++)
            for (int i = 0; i < n1; i++)
                for (int j = 0; j < n1; j++)
                    r.mean[odd][i][j] += wave_sum(i, odd, kappa) * wave_sum(j, odd, kappa) / POINTS;
    }
    return ht_threads_run((int64_t)blocks->blocks * (blocks->sources / r.coefs), round_part, &r);
}
