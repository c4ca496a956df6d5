/* Host side of cl/propagator_potential.cl: its sizes, and the operator of the
 * scalar and its potential in the order in which the kernel reads it.
 */
#include <math.h>
#include <stdlib.h>

#include "blocks.h"
#include "htwave/num.h"
#include "local_sizes.h"
#include "variant.h"

enum { MOST = HT_MAX_ORDER + 1 };

/* Whether the partners' interpolants count beside the gradient. */
static bool interpolates(const struct ht_spec *spec) {
    const struct ht_chain_fields s = ht_chain_fields(spec);
    return s.v_from && s.v_to;
}

static const char *refuses(const struct ht_spec *spec) {
    const struct ht_sizes z = ht_sizes_of(spec);
    if (z.chain < 0)
        return "the system is not one scalar with a partner per axis";
    for (int k = 0; k < spec->eq->dims; k++)
        if (z.partner[k] != k + 1) return "the partners are not in order";
    return NULL;
}

/* Measured on two cores by PoCL (bench/NOTES.md): with fewer coefficients what
 * is done besides products costs more than is saved. In one dimension not, as
 * parity blocks (variants.c). */
static bool pays(const struct ht_spec *spec) {
    if (spec->eq->dims < 3) return spec->eq->dims == 2 && spec->order > 4;
    return spec->order > (spec->old_sign != 0 ? 3 : 2);
}

/* ---- rows ---- */

/* Coefficients of parity `bits` with indices up to N, along `axis` (-1: none)
 * N + 1. */
static int count_rows(const struct ht_spec *spec, unsigned bits, int axis) {
    int count = 1;
    for (int k = 0; k < spec->eq->dims; k++) {
        const int odd = bits >> k & 1u;
        count *= k == axis ? (spec->order + 1) % 2 == odd
                           : (spec->order - odd + 2) / 2;
    }
    return count;
}

static int result_rows(const struct ht_spec *spec, unsigned g) {
    const struct ht_chain_fields s = ht_chain_fields(spec);
    const int own = count_rows(spec, g, -1);
    int count = (s.p_to ? own : 0) + (s.v_to ? own : 0);
    for (int k = 0; s.v_to && k < spec->eq->dims; k++)
        count += count_rows(spec, g, k);
    return count;
}

static int padded(int rows, int tile) {
    return (rows + tile - 1) / tile * tile;
}

/* Of p and its potential, and of the interpolated partners; tile 1: without
 * padding. */
static int all_results(const struct ht_spec *spec, int tile) {
    int sum = 0;
    for (unsigned g = 0; g < 1u << spec->eq->dims; g++)
        sum += padded(result_rows(spec, g), tile);
    return sum;
}
static int all_velocities(const struct ht_spec *spec, int tile) {
    int sum = 0;
    if (!interpolates(spec)) return 0;
    for (int k = 0; k < spec->eq->dims; k++)
        for (unsigned g = 0; g < 1u << spec->eq->dims; g++)
            sum += padded(count_rows(spec, g ^ 1u << k, -1), tile);
    return sum;
}

/* ---- cost and shape ---- */

static int coefs_of(const struct ht_spec *spec) {
    const struct ht_sizes z = ht_sizes_of(spec);
    return z.n1 * z.n2 * z.n3;
}

static struct ht_cost cost(const struct ht_variant *variant,
                           const struct ht_spec *spec, int kernel) {
    struct ht_cost c = ht_cost_dense(variant, spec, kernel);
    c.fma = ht_potential_fma(spec);
    return c;
}

static int64_t local_bytes(const struct ht_spec *spec,
                           const struct ht_shape *s) {
    const int64_t corners = 1 << spec->eq->dims, all = s->rows;
    const int64_t entries =
        (int64_t)ht_slots(spec->src, spec->eq->nfields) * coefs_of(spec);
    const int64_t vectors =
        2 * HT_SIZE_BLOCK_SUMS(corners, s->chunk, all) +
        HT_SIZE_BLOCK_RESULT(all_results(spec, s->tile), all) +
        HT_SIZE_BLOCK_RESULT(all_velocities(spec, s->tile) + 1, all) +
        HT_SIZE_BLOCK_FACES(s->roll, entries, 4, all);
    const int64_t values = vectors * s->cells + HT_SIZE_SIDE(s->cells);
    return values * (spec->fp64 ? 8 : 4);
}

/* Rows in registers at a time: padded rows of all products, and one row for
 * reading the sums. */
static void choose_tile(const struct ht_spec *spec, struct ht_shape *s) {
    const int most_registers = 28; /* of 32 vector registers */
    const struct ht_chain_fields f = ht_chain_fields(spec);
    double least = INFINITY;
    for (int tile = 1; tile <= most_registers / s->rows; tile++) {
        const int rows = (f.p_from + f.v_from) * all_results(spec, tile) +
                         all_velocities(spec, tile);
        const double time = rows * (1 + 1.0 / tile);
        if (time >= least) continue;
        least = time;
        s->tile = tile;
    }
}

static enum ht_err choose_shape(const struct ht_tuning *tuning,
                                const struct ht_spec *spec,
                                const struct ht_device_info *info,
                                struct ht_shape *out) {
    const int64_t limit = ht_vector_limit(info);
    TRY(ht_vector_cells(tuning, spec, info, &out->cells));
    out->rows = spec->eq->dims < 2 ? 1 : tuning->rows > 0 ? tuning->rows : 2;
    out->chunk = coefs_of(spec);
    out->roll = spec->eq->dims == 3;
    if (out->planes == 0 && spec->eq->dims == 3) out->planes = 8;
    choose_tile(spec, out);
    if (local_bytes(spec, out) > limit) out->roll = false;
    if (local_bytes(spec, out) > limit && tuning->rows == 0) {
        out->rows = 1;
        choose_tile(spec, out);
    }
    while (local_bytes(spec, out) > limit && out->cells > 1 &&
           tuning->cells == 0)
        out->cells /= 2;
    out->local_bytes = local_bytes(spec, out);
    if (out->local_bytes > limit)
        return ht_local_too_little(spec, info, out->cells, limit);
    return HT_OK;
}

/* ---- the operator ---- */

/* Of a coefficient with indices i, coefficients of one parity: index m[k] of
 * axis k stands for 2 m[k] + its bit. */
struct series {
    const struct ht_spec *spec;
    const double *line[2]; /* ht_hermite_parity: even, odd */
    double stretch[3];     /* of d_k^2: s_k t_k */
    unsigned bits;         /* parity along each axis */
    int n1, coefs;         /* N + 1; (N + 1)^dims */
    int *digit[3];         /* m[k] of coefficient m */
    long double *a, *next; /* [coefs] */
    long double *p, *potential;
};

static void set_digits(struct series *s) {
    for (int k = 0, along = 1; k < 3; k++, along *= s->n1)
        for (int m = 0; m < s->coefs; m++) s->digit[k][m] = m / along % s->n1;
}

/* a: the interpolant of entry i of the source's class sums. */
static void interpolate(struct series *s, int i) {
    for (int m = 0; m < s->coefs; m++) {
        s->a[m] = 1;
        for (int k = 0; k < s->spec->eq->dims; k++)
            s->a[m] *= s->line[s->bits >> k & 1u]
                              [s->digit[k][m] * s->n1 + s->digit[k][i]] /
                       2;
    }
}

/* a <- sum of s_k t_k d_k^2 a. */
static void apply_laplacian(struct series *s) {
    for (int m = 0; m < s->coefs; m++) s->next[m] = 0;
    for (int k = 0, along = 1; k < s->spec->eq->dims; k++, along *= s->n1)
        for (int m = along; m < s->coefs; m++) {
            const int n = 2 * s->digit[k][m] + (int)(s->bits >> k & 1u);
            if (s->digit[k][m] > 0 && s->a[m] != 0)
                s->next[m - along] +=
                    (long double)s->stretch[k] * (n * (n - 1)) * s->a[m];
        }
    long double *const old = s->a;
    s->a = s->next;
    s->next = old;
}

/* p and its integral over the half step, from p (`first` 0) or its rate (1) at
 * the start. Terms of the partners are of one order more. */
static void sum_series(struct series *s, int i, int first) {
    long double factor = s->spec->old_sign != 0 ? 2 : 1;
    interpolate(s, i);
    for (int m = 0; m < s->coefs; m++) s->p[m] = s->potential[m] = 0;
    for (int order = first; order <= s->spec->stages; order += 2) {
        if (order > 1) factor /= order;
        for (int m = 0; m < s->coefs; m++) s->p[m] += factor * s->a[m];
        factor /= order + 1;
        for (int m = 0; order < s->spec->stages && m < s->coefs; m++)
            s->potential[m] += factor * s->a[m];
        apply_laplacian(s);
    }
}

struct row {
    bool potential;
    int index[3]; /* of the coefficient along each axis */
};

/* Places of the potential: N + 2 along each axis. */
static int cube_of(const struct ht_spec *spec) {
    int cube = 1;
    for (int k = 0; k < spec->eq->dims; k++) cube *= spec->order + 2;
    return cube;
}

/* The rows of a block in their order, those of p first; their number. */
static int list_rows(const struct ht_spec *spec, unsigned bits, bool p,
                     bool potential, struct row *out) {
    const int side = spec->order + 2, dims = spec->eq->dims;
    int count = 0;
    for (int kind = p ? 0 : 1; kind < (potential ? 2 : 1); kind++)
        for (int n = 0; n < cube_of(spec); n++) {
            const int index[3] = {n % side, n / side % side, n / side / side};
            int beyond = 0;
            unsigned parity = 0;
            for (int k = 0; k < dims; k++) {
                beyond += index[k] > spec->order;
                parity |= (unsigned)(index[k] % 2) << k;
            }
            if (parity != bits || beyond > kind) continue;
            out[count++] =
                (struct row){kind == 1, {index[0], index[1], index[2]}};
        }
    return count;
}

enum { MOST_ROWS = 2 * (MOST + 1) * (MOST + 1) * (MOST + 1) / 4 };

struct packing {
    const struct ht_spec *spec;
    const struct ht_shape *shape;
    struct series series;
    struct ht_operator *out;
};

static long double result_of(const struct series *s, const struct row *row) {
    int at = 0;
    for (int k = s->spec->eq->dims - 1; k >= 0; k--)
        at = at * s->n1 + row->index[k] / 2;
    return (row->potential ? s->potential : s->p)[at];
}

/* Appends a block: [tile][entry][row of the tile]. first: 0 and 1 as in
 * sum_series, -1: interpolation. */
static enum ht_err pack_block(struct packing *p, unsigned bits, bool pressure,
                              bool potential, int first) {
    const int tile = p->shape->tile, coefs = p->series.coefs;
    struct row *rows = NULL;
    TRY(HT_ALLOC(rows, MOST_ROWS));
    const int count = list_rows(p->spec, bits, pressure, potential, rows);
    double *to = p->out->value + p->out->count;
    p->series.bits = bits;
    for (int i = 0; i < coefs; i++) {
        if (first >= 0)
            sum_series(&p->series, i, first);
        else
            interpolate(&p->series, i);
        for (int r = 0; r < count; r++) {
            const struct series *s = &p->series;
            struct series plain = *s;
            plain.p = s->a;
            to[(r / tile * coefs + i) * tile + r % tile] =
                (double)result_of(first >= 0 ? s : &plain, &rows[r]);
        }
    }
    p->out->count += (int64_t)padded(count, tile) * coefs;
    free(rows);
    return HT_OK;
}

static enum ht_err pack_results(struct packing *p, int first) {
    const struct ht_chain_fields s = ht_chain_fields(p->spec);
    for (unsigned g = 0; g < 1u << p->spec->eq->dims; g++)
        TRY(pack_block(p, g, s.p_to, s.v_to, first));
    return HT_OK;
}

/* s_k (i + 1); top[parity][j] s_k: the derivative of order N + 1 at the upper
 * end, times N + 1, of what entry j of the sums of a parity gives; t_k (i + 1).
 */
static void pack_factors(struct packing *p, double chain, double partner) {
    const int n1 = p->series.n1;
    double *to = p->out->value + p->out->count;
    for (int i = 0; i + 1 < n1; i++) *to++ = chain * (i + 1);
    for (int bit = 0; bit < 2; bit++)
        for (int j = 0; j < n1; j++) {
            const int odd = 1 - bit; /* of the partner's coefficients */
            long double sum = 0;
            for (int m = 0; m < n1; m++) {
                const int n = 2 * m + odd;
                long double binomial = 1;
                for (int b = 0; b < n1; b++)
                    binomial *= (long double)(n - b) / (b + 1);
                sum += binomial * powl(0.5L, n - n1) *
                       p->series.line[odd][m * n1 + j];
            }
            *to++ = (double)(chain * n1 * sum);
        }
    for (int i = 0; i < n1; i++) *to++ = partner * (i + 1);
    p->out->count = to - p->out->value;
}

static enum ht_err pack_values(struct packing *p) {
    const struct ht_sizes z = ht_sizes_of(p->spec);
    const struct ht_chain_fields s = ht_chain_fields(p->spec);
    if (s.p_from) TRY(pack_results(p, 0));
    for (int k = 0; interpolates(p->spec) && k < p->spec->eq->dims; k++)
        for (unsigned g = 0; g < 1u << p->spec->eq->dims; g++)
            TRY(pack_block(p, g ^ 1u << k, true, false, -1));
    if (s.v_from) TRY(pack_results(p, 1));
    ht_text_add(&p->out->text, "#define HT_OP_VALUES %lld\n",
                (long long)p->out->count);
    for (int k = 0; k < p->spec->eq->dims; k++)
        pack_factors(p, p->spec->scale[z.term_of_chain[k]],
                     p->spec->scale[z.term_of_partner[k]]);
    return HT_OK;
}

/* ---- tables ---- */

/* Appends the first rows of the blocks, [blocks + 1], and where coefficients
 * are: at[0] of p or the partner, at[1] of the potential. */
static enum ht_err place_rows(const struct packing *p, unsigned turned,
                              bool pressure, bool potential, int *next,
                              int *first, int *at[2]) {
    const int side = p->spec->order + 2, n1 = side - 1;
    const int blocks = 1 << p->spec->eq->dims;
    struct row *rows = NULL;
    TRY(HT_ALLOC(rows, MOST_ROWS));
    for (int g = 0; g < blocks; g++) {
        const int count =
            list_rows(p->spec, (unsigned)g ^ turned, pressure, potential, rows);
        first[g] = *next;
        for (int r = 0; r < count; r++) {
            const int *n = rows[r].index;
            if (rows[r].potential)
                at[1][n[0] + side * (n[1] + side * n[2])] = *next + r;
            else
                at[0][n[0] + n1 * (n[1] + n1 * n[2])] = *next + r;
        }
        *next += padded(count, p->shape->tile);
    }
    first[blocks] = *next;
    free(rows);
    return HT_OK;
}

static enum ht_err add_tables(const struct packing *p) {
    const struct ht_chain_fields s = ht_chain_fields(p->spec);
    const int dims = p->spec->eq->dims;
    const int blocks = 1 << dims, cube = cube_of(p->spec);
    const int64_t coefs = p->series.coefs, row = blocks + 1;
    struct ht_text *text = &p->out->text;
    int *at = NULL, first[9] = {0}, velocity_first[27] = {0};
    int next = 0, velocities = 0;
    TRY(HT_ALLOC(at, 4 * coefs + cube));
    int *const potential_at = at + 4 * coefs;
    int *results[2] = {at, potential_at};
    enum ht_err err = place_rows(p, 0, s.p_to, s.v_to, &next, first, results);
    for (int k = 0; err == HT_OK && interpolates(p->spec) && k < dims; k++) {
        int *partner[2] = {at + (k + 1) * coefs, NULL};
        err = place_rows(p, 1u << k, true, false, &velocities,
                         velocity_first + k * row, partner);
    }
    if (err == HT_OK) {
        ht_text_add(text,
                    "#define HT_RESULT_ROWS %d\n#define HT_VELOCITY_ROWS %d\n"
                    "#define HT_INTERPOLATES %d\n#define HT_FROM_PRESSURE %d\n"
                    "#define HT_FROM_VELOCITY %d\n#define HT_TO_PRESSURE %d\n"
                    "#define HT_MIXES 1\n",
                    next, velocities, interpolates(p->spec), s.p_from, s.v_from,
                    s.p_to);
        ht_text_ints(text, "block_row", first, blocks + 1);
        ht_text_ints(text, "pressure_at", at, (int)coefs);
        ht_text_ints(text, "potential_at", potential_at, cube);
        if (interpolates(p->spec)) {
            ht_text_ints(text, "velocity_row", velocity_first,
                         dims * (blocks + 1));
            ht_text_ints(text, "velocity_at", at + coefs, dims * (int)coefs);
        }
    }
    free(at);
    return err;
}

static enum ht_err pack(const struct ht_blocks *blocks,
                        const struct ht_spec *spec,
                        const struct ht_shape *shape, struct ht_operator *out) {
    double even[MOST * MOST], odd[MOST * MOST];
    const struct ht_sizes z = ht_sizes_of(spec);
    const int64_t coefs = coefs_of(spec);
    const int64_t rows = 2 * (int64_t)all_results(spec, shape->tile) +
                         all_velocities(spec, shape->tile);
    const int64_t factors = 4 * (int64_t)(spec->order + 1);
    long double *work = NULL;
    int *digits = NULL;
    (void)blocks;
    TRY(HT_ALLOC(work, 4 * coefs));
    enum ht_err err = HT_ALLOC(digits, 3 * coefs);
    if (err != HT_OK) {
        free(work);
        return err;
    }
    struct packing p = {
        .spec = spec,
        .shape = shape,
        .out = out,
        .series = {.spec = spec,
                   .line = {even, odd},
                   .n1 = spec->order + 1,
                   .coefs = (int)coefs,
                   .a = work,
                   .next = work + coefs,
                   .p = work + 2 * coefs,
                   .potential = work + 3 * coefs,
                   .digit = {digits, digits + coefs, digits + 2 * coefs}}};
    set_digits(&p.series);
    ht_hermite_parity(spec->order, even, odd);
    for (int k = 0; k < spec->eq->dims; k++)
        p.series.stretch[k] =
            spec->scale[z.term_of_chain[k]] * spec->scale[z.term_of_partner[k]];
    err = HT_ALLOC(out->value, coefs * rows + spec->eq->dims * factors);
    if (err == HT_OK) err = add_tables(&p);
    if (err == HT_OK) err = pack_values(&p);
    free(digits);
    free(work);
    return err;
}

const struct ht_variant ht_variant_propagator_potential = {
    .name = "propagator-potential",
    .meaning = "acoustics: pressure and its potential as dense parity blocks, "
               "targets along x1 as vectors; for CPUs (uniform media)",
    .medium = HT_UNIFORM,
    .layouts = HT_READS_ANY,
    .refuses = refuses,
    .pays = pays,
    .made_for = HT_FOR_CPU,
    .shape = choose_shape,
    .cost = cost,
    .pack = pack,
    .files = {"common.cl", "loose.cl", "vectors.cl", "mixes.cl",
              "block_sums.cl", "propagator_potential.cl"},
    .stage = {{HT_STAGE_OPERATOR, "ht_propagator_potential"}}};
