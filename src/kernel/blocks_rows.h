/* Entries of parity blocks, computed by the adjoint of the evolution, of LANES rows at a time that
 * belong to one field and class. blocks_double.c and blocks_long.c define the arithmetic,
 * `ht_entry` and LANES, and include this file.
 *
 * The output (f, i) is a functional e on polynomial coefficients w_f'(j): it selects j = i of f.
 * The adjoint of q stages maps e to
 *     phi = sum_{n=0..q} (L^T)^n e / n!,
 * where L^T raises indices: a term row <- col along axis a adds
 *     scale[term] (j_a+1) .. (j_a+derivative) phi(row, j)  to
 *     phi(col, j + derivative e_a),
 * up to degree 2N+1. Every term of a system with parities preserves j + parity mod 2. Therefore
 * phi(f', .) of a row in block g is nonzero in one parity class only, j_k mod 2 = bit k of g XOR
 * parity(f'). The even or odd half of the Hermite matrix along each axis gives the coefficients of
 * this class from the sums S_g. */
#include "blocks.h"
#include "counts.h"

enum { MOST = 2 * HT_MAX_ORDER + 2 };

/* Numbers of LANES rows side by side, so that the compiler uses vectors. */
struct lanes {
    ht_entry row[LANES];
};

struct builder {
    const struct ht_spec *spec;
    struct ht_sizes z;
    int dims, coefs;
    int n[3], stride[3]; /* N+1 up to axis dims, else 1; strides of m below */
    ht_entry *half[2];   /* even and odd: [m][i] */
    /* [field][m3][m2][m1]: the coefficients j_k = 2 m_k + bit k of the class that the field has in
     * the rows' block. */
    struct lanes *phi, *now, *next;
    bool *some, *more;   /* whether now, next are not zero */
    struct lanes *a, *b; /* scratch of the contraction, [coefs] */
    struct ht_pool pool; /* of these */
};

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

static HT_ERR builder_init(struct builder *b, const struct ht_spec *spec) {
    double half[2][MOST * MOST / 4];
    const int n = spec->order + 1, count = spec->eq->nfields * ht_sizes_of(spec).coefs;
    *b = (struct builder){.spec = spec, .z = ht_sizes_of(spec), .dims = spec->eq->dims};
    b->coefs = b->z.coefs;
    for (int k = 0, stride = 1; k < 3; k++) {
        b->n[k] = k < b->dims ? n : 1;
        b->stride[k] = stride;
        stride *= b->n[k];
    }
    ht_hermite_parity(spec->order, half[0], half[1]);
    for (int i = 0; i < 2; i++) {
        TRY(HT_TAKE(&b->pool, b->half[i], n * n));
        for (int m = 0; m < n * n; m++) b->half[i][m] = half[i][m];
    }
    TRY(HT_TAKE(&b->pool, b->phi, count));
    TRY(HT_TAKE(&b->pool, b->now, count));
    TRY(HT_TAKE(&b->pool, b->next, count));
    TRY(HT_TAKE(&b->pool, b->some, count));
    TRY(HT_TAKE(&b->pool, b->more, count));
    TRY(HT_TAKE(&b->pool, b->a, b->coefs));
    return HT_TAKE(&b->pool, b->b, b->coefs);
}

/* next(col) += 1/n L^T now(row) for one term, in block g. */
static void add_term(struct builder *b, int t, int n, unsigned g) {
    const struct ht_equations *eq = b->spec->eq;
    const struct ht_term *term = &eq->term[t];
    const int size = b->n[term->axis], stride = b->stride[term->axis];
    const int from = term->row * b->coefs, to = term->col * b->coefs;
    const unsigned class = g ^ eq->field[term->row].parity;
    const int odd = (int)(class >> term->axis & 1u);
    for (int m = 0; m < size; m++) {
        const int low = 2 * m + odd, up = (low + term->derivative) / 2;
        const int shift = (up - m) * stride;
        ht_entry factor = (ht_entry)b->spec->scale[t] / n;
        if (up >= size || b->spec->scale[t] == 0) continue;
        for (int i = 1; i <= term->derivative; i++) factor *= low + i;
        for (int first = m * stride; first < b->coefs; first += size * stride)
            for (int at = first; at < first + stride; at++) {
                const struct lanes *x = &b->now[from + at];
                const int target = to + at + shift;
                struct lanes *y = &b->next[target];
                if (!b->some[from + at]) continue;
                b->more[target] = true;
                for (int l = 0; l < LANES; l++) y->row[l] += factor * x->row[l];
            }
    }
}

/* phi += next, and next becomes now; false if it is zero. */
static bool take_stage(struct builder *b, int count) {
    bool any = false;
    struct lanes *swap = b->now;
    bool *swap_some = b->some;
    for (int q = 0; q < count; q++) {
        if (!b->more[q]) continue;
        any = true;
        for (int l = 0; l < LANES; l++) b->phi[q].row[l] += b->next[q].row[l];
    }
    b->now = b->next;
    b->next = swap;
    b->some = b->more;
    b->more = swap_some;
    return any;
}

/* phi of the outputs (field, output[l]), all in block g. */
static void evolve(struct builder *b, int field, int outputs, const int *output, unsigned g) {
    const struct ht_equations *eq = b->spec->eq;
    const int count = eq->nfields * b->coefs;
    const size_t bytes = (size_t)count * sizeof *b->phi;
    memset(b->phi, 0, bytes);
    memset(b->now, 0, bytes);
    memset(b->some, 0, (size_t)count * sizeof *b->some);
    for (int l = 0; l < outputs; l++) {
        int index[3], at = field * b->coefs;
        (void)split(b, output[l], index);
        for (int k = 0; k < 3; k++) at += index[k] / 2 * b->stride[k];
        b->phi[at].row[l] = b->now[at].row[l] = 1;
        b->some[at] = true;
    }
    bool any = true;
    for (int n = 1; any && n <= b->spec->stages; n++) {
        memset(b->next, 0, bytes);
        memset(b->more, 0, (size_t)count * sizeof *b->more);
        for (int t = 0; t < eq->nterms; t++) add_term(b, t, n, g);
        any = take_stage(b, count);
    }
}

/* out[source derivative][rest] = sum_m half[m][derivative] in[rest][m]. The fastest index becomes
 * the slowest, so one call per axis restores the order. */
static void contract(const ht_entry *half, int n, int rest, const struct lanes *in,
                     struct lanes *out) {
    for (int i = 0; i < n; i++)
        for (int r = 0; r < rest; r++) {
            struct lanes sum = {{0}};
            for (int m = 0; m < n; m++)
                for (int l = 0; l < LANES; l++)
                    sum.row[l] += half[m * n + i] * in[r * n + m].row[l];
            out[i * rest + r] = sum;
        }
}

/* Entries of the rows for a source field, from their phi, of class `class`: row l from entry[l]. */
static void interpolate(struct builder *b, int field, unsigned class, int outputs,
                        double *const *entry) {
    struct lanes *in = b->a, *out = b->b;
    ht_entry factor = b->spec->old_sign != 0 ? 2 : 1;
    memcpy(in, b->phi + (ptrdiff_t)field * b->coefs, (size_t)b->coefs * sizeof *in);
    for (int k = 0; k < b->dims; k++) {
        contract(b->half[class >> k & 1u], b->n[0], b->coefs / b->n[0], in, out);
        struct lanes *swap = in;
        in = out;
        out = swap;
        factor /= 2;
    }
    for (int l = 0; l < outputs; l++)
        for (int i = 0; i < b->coefs; i++) entry[l][i] = (double)(factor * in[i].row[l]);
}

/* The rows of the outputs (field, output[l]), all in block g. */
static void add_rows(struct builder *b, struct ht_blocks *blocks, int field, int slot, int outputs,
                     const int *output, unsigned g) {
    const struct ht_equations *eq = b->spec->eq;
    double *entry[LANES] = {NULL};
    for (int l = 0; l < outputs; l++) {
        const int64_t r = blocks->rows[g]++;
        blocks->row[g][r] = slot * b->coefs + output[l];
        entry[l] = blocks->entry[g] + r * blocks->sources;
    }
    evolve(b, field, outputs, output, g);
    for (int s = 0; s < b->z.sources; s++) {
        const int f = b->z.source_field[s];
        interpolate(b, f, g ^ eq->field[f].parity, outputs, entry);
        for (int l = 0; l < outputs; l++) entry[l] += b->coefs;
    }
}

/* The rows of a field, class by class. */
static void add_field(struct builder *b, struct ht_blocks *blocks, int field, int slot) {
    for (unsigned own = 0; own < 1u << b->dims; own++) {
        const unsigned g = own ^ b->spec->eq->field[field].parity;
        int output[LANES] = {0}, count = 0, index[3];
        for (int i = 0; i < b->coefs; i++) {
            if (split(b, i, index) != own) continue;
            output[count++] = i;
            if (count < LANES) continue;
            add_rows(b, blocks, field, slot, count, output, g);
            count = 0;
        }
        if (count > 0) add_rows(b, blocks, field, slot, count, output, g);
    }
}

static HT_ERR fill_blocks(const struct ht_spec *spec, struct ht_blocks *blocks) {
    struct builder b;
    const enum ht_err err = builder_init(&b, spec);
    memset(blocks->rows, 0, sizeof blocks->rows);
    for (int s = 0; err == HT_OK && s < b.z.targets; s++)
        add_field(&b, blocks, b.z.target_field[s], s);
    ht_pool_free(&b.pool);
    return err;
}
