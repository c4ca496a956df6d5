/* Parity blocks, computed by the adjoint of the evolution: one row at a time.
 *
 * The output (f, i) is a functional e on polynomial coefficients w_f'(j): it
 * selects j = i of f. The adjoint of q stages maps e to
 *     phi = sum_{n=0..q} (L^T)^n e / n!,
 * where L^T raises indices: a term row <- col along axis a adds
 *     scale[term] (j_a+1) .. (j_a+derivative) phi(row, j)  to
 *     phi(col, j + derivative e_a),
 * up to degree 2N+1. Every term of a system with parities preserves
 * j + parity mod 2. Therefore phi(f', .) of a row in block g is nonzero in one
 * parity class only, j_k mod 2 = bit k of g XOR parity(f'). The even or odd
 * half of the Hermite matrix along each axis gives the coefficients of this
 * class from the sums S_g.
 *
 * A term with a profile sum_a M_a xi^a along its axis k maps phi(row, j) to
 * M_a (j_k-a+1) .. (j_k-a+derivative) phi(row, j) at j_k - a + derivative: odd
 * a leave the class for the one with the other bit k, so there are 2^L of these
 * in L layers.
 */
#include "blocks.h"
#include "counts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 2 * HT_MAX_ORDER + 2 };

struct builder {
    const struct ht_spec *spec;
    int dims;
    int n[3], stride[3];  /* N+1 up to axis dims, else 1; strides of m below */
    int coefs;            /* product of n */
    long double *half[2]; /* even and odd: [m][i] */
    int mixes;            /* 2^L, and their masks of the equations' axes */
    unsigned mix[8];
    /* [mix][field][m3][m2][m1]: the coefficients j_k = 2 m_k + bit k of the
     * class that the field has in the row's block, with the bits of mix. */
    long double *phi, *now, *next;
    long double *a, *b; /* scratch of the contraction, [coefs] */
};

static unsigned all_axes(int dims) {
    return (1u << dims) - 1;
}

static unsigned field_parity(const struct ht_equations *eq, int field) {
    return eq->field[field].parity & all_axes(eq->dims);
}

bool ht_blocks_apply(const struct ht_equations *eq) {
    for (int t = 0; t < eq->nterms; t++) {
        const struct ht_term *term = &eq->term[t];
        unsigned odd = term->derivative % 2 ? 1u << term->axis : 0;
        if (field_parity(eq, term->row) != (field_parity(eq, term->col) ^ odd))
            return false;
    }
    return true;
}

/* The layers' axes where profiles vary about a node: masks of all sets of them.
 */
static int mixes_of(const struct ht_equations *eq, unsigned mix[8]) {
    int count = 1;
    mix[0] = 0;
    for (int k = 0; eq->profile_degree > 0 && k < eq->dims; k++) {
        if (!ht_equations_layer(eq, k)) continue;
        for (int h = 0; h < count; h++) mix[count + h] = mix[h] | 1u << k;
        count *= 2;
    }
    return count;
}

int ht_blocks_mixes(const struct ht_spec *spec, int mix[8]) {
    unsigned masks[8];
    const int count = mixes_of(spec->eq, masks);
    for (int h = 0; h < count; h++)
        mix[h] = (int)ht_spec_turned(spec, masks[h]);
    return count;
}

static bool stored(unsigned mask, int field) {
    return mask == 0 || mask >> field & 1u;
}

/* Multi-index of coefficient i and its parities, one bit per axis. */
static unsigned split(const struct builder *b, int i, int index[3]) {
    unsigned parity = 0;
    for (int k = 0; k < 3; k++) {
        index[k] = i % b->n[k];
        i /= b->n[k];
        parity |= (unsigned)(index[k] & 1) << k;
    }
    return parity;
}

static void builder_free(struct builder *b) {
    free(b->half[0]);
    free(b->half[1]);
    free(b->phi);
    free(b->now);
    free(b->next);
    free(b->a);
    free(b->b);
}

static enum ht_err builder_init(struct builder *b, const struct ht_spec *spec) {
    double even[MOST * MOST / 4], odd[MOST * MOST / 4];
    int n = spec->order + 1, fields = spec->eq->nfields;
    b->spec = spec;
    b->dims = spec->eq->dims;
    b->coefs = 1;
    for (int k = 0; k < 3; k++) {
        b->n[k] = k < b->dims ? n : 1;
        b->stride[k] = b->coefs;
        b->coefs *= b->n[k];
    }
    TRY(HT_ALLOC(b->half[0], n * n));
    TRY(HT_ALLOC(b->half[1], n * n));
    b->mixes = mixes_of(spec->eq, b->mix);
    TRY(HT_ALLOC(b->phi, b->mixes * fields * b->coefs));
    TRY(HT_ALLOC(b->now, b->mixes * fields * b->coefs));
    TRY(HT_ALLOC(b->next, b->mixes * fields * b->coefs));
    TRY(HT_ALLOC(b->a, b->coefs));
    TRY(HT_ALLOC(b->b, b->coefs));
    ht_hermite_parity(spec->order, even, odd);
    for (int m = 0; m < n * n; m++) {
        b->half[0][m] = even[m];
        b->half[1][m] = odd[m];
    }
    return HT_OK;
}

/* A term's coefficient M_a along an axis, that of its profile or its own. */
struct product {
    int axis, a, derivative;
    double factor;
};

/* to += factor/n L^T from for one product; `from` belongs to class `class`.
 * False if no coefficient was added. */
static bool add_product(const struct builder *b, const struct product *p, int n,
                        unsigned class, const long double *from,
                        long double *to) {
    const int size = b->n[p->axis], stride = b->stride[p->axis];
    const int odd = (int)(class >> p->axis & 1u);
    bool any = false;
    for (int m = 0; m < size; m++) {
        const int low = 2 * m + odd - p->a, up = (low + p->derivative) / 2;
        long double factor = (long double)p->factor / n;
        if (low < 0 || up >= size) continue;
        for (int i = 1; i <= p->derivative; i++) factor *= low + i;
        for (int first = m * stride; first < b->coefs; first += size * stride)
            for (int at = first; at < first + stride; at++) {
                if (from[at] == 0) continue;
                to[at + (up - m) * stride] += factor * from[at];
                any = true;
            }
    }
    return any;
}

/* The place of a field's numbers of mix h. */
static int64_t part_of(const struct builder *b, int h, int field) {
    return ((int64_t)h * b->spec->eq->nfields + field) * b->coefs;
}

/* next(col) += 1/n L^T now(row) for one term, in row block g. */
static bool add_term(struct builder *b, int t, int n, unsigned g) {
    const struct ht_equations *eq = b->spec->eq;
    const struct ht_term *term = &eq->term[t];
    const int layer = ht_spec_profile(b->spec, term);
    const int highest = layer >= 0 ? eq->profile_degree : 0;
    bool any = false;
    for (int h = 0; h < b->mixes; h++)
        for (int a = 0; a <= highest; a++) {
            const struct product p = {.axis = layer >= 0 ? layer : term->axis,
                                      .a = a,
                                      .derivative = term->derivative,
                                      .factor = a > 0 ? b->spec->rise[t][a - 1]
                                                      : b->spec->scale[t]};
            int to = 0;
            while (b->mix[to] != (b->mix[h] ^ (a % 2 ? 1u << p.axis : 0))) to++;
            any |= add_product(b, &p, n,
                               g ^ b->mix[h] ^ field_parity(eq, term->row),
                               b->now + part_of(b, h, term->row),
                               b->next + part_of(b, to, term->col));
        }
    return any;
}

/* phi of output (field, index) in block g. */
static void evolve(struct builder *b, int field, const int index[3],
                   unsigned g) {
    const struct ht_equations *eq = b->spec->eq;
    int count = b->mixes * eq->nfields * b->coefs, at = field * b->coefs;
    for (int k = 0; k < 3; k++) at += index[k] / 2 * b->stride[k];
    memset(b->phi, 0, (size_t)count * sizeof *b->phi);
    memset(b->now, 0, (size_t)count * sizeof *b->now);
    b->phi[at] = b->now[at] = 1;
    bool any = true;
    for (int n = 1; any && n <= b->spec->stages; n++) {
        any = false;
        memset(b->next, 0, (size_t)count * sizeof *b->next);
        for (int t = 0; t < eq->nterms; t++)
            if (add_term(b, t, n, g)) any = true;
        for (int q = 0; q < count; q++) b->phi[q] += b->next[q];
        long double *swap = b->now;
        b->now = b->next;
        b->next = swap;
    }
}

/* out[source derivative][rest] = sum_m half[m][derivative] in[rest][m]. The
 * fastest index becomes the slowest, so one call per axis restores the
 * order. */
static void contract(const long double *half, int n, int rest,
                     const long double *in, long double *out) {
    for (int i = 0; i < n; i++)
        for (int r = 0; r < rest; r++) {
            long double sum = 0;
            for (int m = 0; m < n; m++) sum += half[m * n + i] * in[r * n + m];
            out[i * rest + r] = sum;
        }
}

/* Entries of a row for a source field, from its phi of mix h, which is of class
 * `class`. */
static void interpolate(struct builder *b, int h, int field, unsigned class,
                        double *entry) {
    long double *in = b->a, *out = b->b;
    long double factor = b->spec->old_sign != 0 ? 2 : 1;
    memcpy(in, b->phi + part_of(b, h, field), (size_t)b->coefs * sizeof *in);
    for (int k = 0; k < b->dims; k++) {
        contract(b->half[class >> k & 1u], b->n[0], b->coefs / b->n[0], in,
                 out);
        long double *swap = in;
        in = out;
        out = swap;
        factor /= 2;
    }
    for (int i = 0; i < b->coefs; i++) entry[i] = (double)(factor * in[i]);
}

/* The row of the output (field, i). */
static void add_row(struct builder *b, struct ht_blocks *blocks, int field,
                    int i, int slot) {
    const struct ht_equations *eq = b->spec->eq;
    int index[3], source = 0;
    const unsigned g = split(b, i, index) ^ field_parity(eq, field);
    const unsigned to = ht_spec_turned(b->spec, g);
    int r = blocks->rows[to]++;
    double *entry = blocks->entry[to] + (int64_t)r * b->mixes * blocks->sources;
    blocks->row[to][r] = slot * b->coefs + i;
    evolve(b, field, index, g);
    for (int h = 0; h < b->mixes; h++)
        for (int f = 0; f < eq->nfields; f++) {
            if (!stored(b->spec->src, f)) continue;
            interpolate(b, h, f, g ^ b->mix[h] ^ field_parity(eq, f),
                        entry + source);
            source += b->coefs;
        }
}

static void add_rows(struct builder *b, struct ht_blocks *blocks) {
    int slot = 0;
    memset(blocks->rows, 0, sizeof blocks->rows);
    for (int f = 0; f < b->spec->eq->nfields; f++) {
        if (!stored(b->spec->dst, f)) continue;
        for (int i = 0; i < b->coefs; i++) add_row(b, blocks, f, i, slot);
        slot++;
    }
}

static enum ht_err number_sources(const struct builder *b,
                                  struct ht_blocks *blocks) {
    const struct ht_equations *eq = b->spec->eq;
    int source = 0;
    for (int f = 0; f < eq->nfields; f++)
        if (stored(b->spec->src, f)) blocks->sources += b->coefs;
    TRY(HT_ALLOC(blocks->parity, blocks->sources));
    for (int f = 0; f < eq->nfields; f++)
        for (int i = 0; stored(b->spec->src, f) && i < b->coefs; i++) {
            int index[3];
            blocks->parity[source++] = (int)ht_spec_turned(
                b->spec, split(b, i, index) ^ field_parity(eq, f));
        }
    return HT_OK;
}

static enum ht_err fill(struct builder *b, struct ht_blocks *blocks) {
    blocks->dims = b->dims;
    blocks->blocks = 1 << b->dims;
    blocks->mixes = ht_blocks_mixes(b->spec, blocks->mix);
    TRY(number_sources(b, blocks));
    ht_blocks_rows(b->spec, blocks->rows);
    for (int g = 0; g < blocks->blocks; g++) {
        TRY(HT_ALLOC(blocks->row[g], blocks->rows[g]));
        TRY(HT_ALLOC(blocks->entry[g],
                     (int64_t)blocks->rows[g] * b->mixes * blocks->sources));
    }
    add_rows(b, blocks);
    return HT_OK;
}

void ht_blocks_rows(const struct ht_spec *spec, int rows[8]) {
    const struct ht_equations *eq = spec->eq;
    int evens = spec->order / 2 + 1, odds = (spec->order + 1) / 2;
    memset(rows, 0, 8 * sizeof rows[0]);
    for (int f = 0; f < eq->nfields; f++)
        for (unsigned g = 0; stored(spec->dst, f) && g < 1u << eq->dims; g++) {
            int count = 1;
            for (int k = 0; k < eq->dims; k++)
                count *= (g ^ field_parity(eq, f)) >> k & 1u ? odds : evens;
            rows[ht_spec_turned(spec, g)] += count;
        }
}

enum ht_err ht_blocks_create(const struct ht_spec *spec,
                             struct ht_blocks **out) {
    struct ht_blocks *blocks = NULL;
    struct builder b = {0};
    *out = NULL;
    REQUIRE(ht_blocks_apply(spec->eq), HT_ERR_INTERNAL,
            "parity blocks of system %s, which has no parities",
            spec->eq->system->name);
    TRY(HT_ALLOC(blocks, 1));
    enum ht_err err = builder_init(&b, spec);
    if (err == HT_OK) err = fill(&b, blocks);
    builder_free(&b);
    if (err != HT_OK) {
        ht_blocks_destroy(blocks);
        return err;
    }
    *out = blocks;
    return HT_OK;
}

/* A source is a vertex of 2^dims targets; sums with minus signs vanish. */
enum ht_err ht_blocks_sums(const struct ht_spec *spec, int field, double *out) {
    struct builder b = {0};
    enum ht_err err = builder_init(&b, spec);
    const int coefs = b.coefs, corners = 1 << spec->eq->dims;
    for (int i = 0; err == HT_OK && i < coefs; i++) {
        int index[3];
        double *row = out + (int64_t)i * coefs;
        const bool odd = split(&b, i, index) != 0;
        memset(row, 0, (size_t)coefs * sizeof *row);
        if (odd) continue;
        const unsigned g = field_parity(spec->eq, field);
        evolve(&b, field, index, g);
        interpolate(&b, 0, field, 0, row);
        for (int j = 0; j < coefs; j++)
            row[j] = split(&b, j, index) != 0 ? 0 : corners * row[j];
    }
    builder_free(&b);
    return err;
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

const char *ht_blocks_refuse(const struct ht_spec *spec) {
    return ht_blocks_apply(spec->eq) ? NULL : "the system has no parities";
}

int ht_storage_entry(int entry, int coefs, int padded_coefs,
                     const int *storage) {
    return entry / coefs * padded_coefs + storage[entry % coefs];
}
