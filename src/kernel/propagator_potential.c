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

/* With A_k^a = (s_k t_k d_k^2)^a / a! of the interpolant along axis k, a power
 * of their sum over the axes is k! times the sum of the products A_1^a A_2^b
 * A_3^c with a + b + c = k. So all powers are summed axis by axis, for every
 * entry and coefficient of one parity block at once; index m of axis k stands
 * for coefficient 2 m + its bit. */
enum { POWERS = 3 * MOST, HALF = (MOST + 2) / 2 };
struct series {
    const struct ht_spec *spec;
    const double *line[2]; /* ht_hermite_parity: even, odd */
    double stretch[3];     /* s_k t_k */
    unsigned bits;         /* parity along each axis */
    int n1, coefs;         /* N + 1; (N + 1)^dims */
    /* k! times the factor of power k: of p, of its potential */
    long double weight[2][POWERS];
    long double power[3][MOST][MOST][MOST]; /* [axis][a][m][entry] */
    /* both kinds, summed over x3: [a + b][m3][entry]; over x2 as well:
     * [m3][entry][m2][entry][a] */
    long double outer[2][2 * MOST][HALF][MOST];
    long double inner[2][HALF][MOST][HALF][MOST][MOST];
};

/* Entries of an axis, powers that do not vanish, and coefficients of results.
 */
static int entries_of(const struct series *s, int axis) {
    return axis < s->spec->eq->dims ? s->n1 : 1;
}
static int half_of(const struct series *s, int axis) {
    return axis < s->spec->eq->dims ? (s->n1 + 2) / 2 : 1;
}

/* Of p and its integral over the half step, from p (`first` 0) or its rate (1)
 * at the start; -1: of the interpolant alone. Terms of the partners are of one
 * order more. */
static void set_weights(struct series *s, int first) {
    long double factor = s->spec->old_sign != 0 ? 2 : 1, permutations = 1;
    int order = first;
    for (int k = 0; k < POWERS; k++, order += 2) {
        s->weight[0][k] = s->weight[1][k] = 0;
        if (first < 0) s->weight[0][k] = k == 0;
        if (first < 0 || order > s->spec->stages) continue;
        if (k > 0) permutations *= k;
        if (order > 1) factor /= order;
        s->weight[0][k] = factor * permutations;
        factor /= order + 1;
        if (order < s->spec->stages) s->weight[1][k] = factor * permutations;
    }
}

static void set_powers(struct series *s, int axis) {
    const int n = entries_of(s, axis), bit = (int)(s->bits >> axis & 1u);
    const bool there = axis < s->spec->eq->dims;
    for (int a = 0; a < n; a++)
        for (int m = 0; m < n; m++)
            for (int i = 0; i < n; i++) {
                const int from = 2 * (m + 1) + bit;
                long double *to = &s->power[axis][a][m][i];
                if (a == 0)
                    *to = there ? (long double)s->line[bit][m * n + i] / 2 : 1;
                else
                    *to = m + 1 == n
                              ? 0
                              : s->power[axis][a - 1][m + 1][i] *
                                    s->stretch[axis] * (from * (from - 1)) / a;
            }
}

/* outer[kind][e][m3][i3]: sum over c of A_3^c times weight e + c. */
static void sum_outer(struct series *s, int kind) {
    const int n = entries_of(s, 2);
    for (int e = 0; e < 2 * MOST; e++)
        for (int m = 0; m < half_of(s, 2); m++)
            for (int i = 0; i < n; i++) {
                long double sum = 0;
                for (int c = 0; c < n && e + c < POWERS; c++)
                    sum += s->power[2][c][m][i] * s->weight[kind][e + c];
                s->outer[kind][e][m][i] = sum;
            }
}

/* inner[kind][m3][i3][m2][i2][a]: sum over b of A_2^b times outer a + b. */
static void sum_inner(struct series *s, int kind, int m3, int i3) {
    const int n = entries_of(s, 1);
    for (int m = 0; m < half_of(s, 1); m++)
        for (int i = 0; i < n; i++)
            for (int a = 0; a < s->n1; a++) {
                long double sum = 0;
                for (int b = 0; b < n; b++)
                    sum += s->power[1][b][m][i] * s->outer[kind][a + b][m3][i3];
                s->inner[kind][m3][i3][m][i][a] = sum;
            }
}

static void sum_series(struct series *s, unsigned bits, int first) {
    s->bits = bits;
    set_weights(s, first);
    for (int k = 0; k < 3; k++) set_powers(s, k);
    for (int kind = 0; kind < 2; kind++) {
        sum_outer(s, kind);
        for (int m = 0; m < half_of(s, 2); m++)
            for (int i = 0; i < entries_of(s, 2); i++) sum_inner(s, kind, m, i);
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
    struct series *series;
    struct ht_operator *out;
};

/* What entry i of the class sums contributes to a row. */
static double value_of(const struct series *s, const struct row *row, int i) {
    const int *index = row->index, n2 = entries_of(s, 1);
    const int i1 = i % s->n1, i2 = i / s->n1 % n2, i3 = i / s->n1 / n2;
    const long double *inner =
        s->inner[row->potential][index[2] / 2][i3][index[1] / 2][i2];
    long double sum = 0;
    for (int a = 0; a < s->n1; a++)
        sum += s->power[0][a][index[0] / 2][i1] * inner[a];
    return (double)sum;
}

/* Appends a block: [tile][entry][row of the tile]. first: as set_weights. */
static enum ht_err pack_block(struct packing *p, unsigned bits, bool pressure,
                              bool potential, int first) {
    const int tile = p->shape->tile, coefs = p->series->coefs;
    struct row *rows = NULL;
    TRY(HT_ALLOC(rows, MOST_ROWS));
    const int count = list_rows(p->spec, bits, pressure, potential, rows);
    double *to = p->out->value + p->out->count;
    sum_series(p->series, bits, first);
    for (int i = 0; i < coefs; i++)
        for (int r = 0; r < count; r++)
            to[(r / tile * coefs + i) * tile + r % tile] =
                value_of(p->series, &rows[r], i);
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
    const int n1 = p->series->n1;
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
                       p->series->line[odd][m * n1 + j];
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
    const int64_t coefs = p->series->coefs, row = blocks + 1;
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
    struct packing p = {.spec = spec, .shape = shape, .out = out};
    (void)blocks;
    TRY(HT_ALLOC(p.series, 1));
    p.series->spec = spec;
    p.series->line[0] = even;
    p.series->line[1] = odd;
    p.series->n1 = spec->order + 1;
    p.series->coefs = (int)coefs;
    ht_hermite_parity(spec->order, even, odd);
    for (int k = 0; k < spec->eq->dims; k++)
        p.series->stretch[k] =
            spec->scale[z.term_of_chain[k]] * spec->scale[z.term_of_partner[k]];
    enum ht_err err =
        HT_ALLOC(out->value, coefs * rows + spec->eq->dims * factors);
    if (err == HT_OK) err = add_tables(&p);
    if (err == HT_OK) err = pack_values(&p);
    free(p.series);
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
