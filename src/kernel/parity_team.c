/* Host side of cl/parity_team.cl. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "local_sizes.h"
#include "variant.h"

enum { CLASSES = 8, MOST = HT_MAX_ORDER + 1 };

static const char *refuses(const struct ht_spec *spec) {
    const struct ht_sizes z = ht_sizes_of(spec);
    if (z.chain != 0)
        return "the system is not one scalar with a partner per axis";
    if (spec->eq->dims < 3) return "it is for three dimensions";
    if (spec->old_sign != 0) return "it has no leapfrog form";
    if (ht_chain_materials_differ(spec)) return "materials differ between axes";
    return NULL;
}

/* Whether a variant can compute a spec in the place of this one. */
static bool applies(const struct ht_variant *other,
                    const struct ht_spec *spec) {
    return ht_variant_refuses(other, spec) == NULL;
}

/* Measured on an H200 (bench/NOTES_team.md): at N = 4 as fast as products of
 * tensor cores, with less rounding. Without the local memory that launches by
 * CUDA give, the highest orders do not fit in double precision. */
static bool pays(const struct ht_spec *spec) {
    if (!spec->fp64) return spec->order > 3;
    if (spec->order > 6 && !spec->ptx_own) return false;
    if (!applies(&ht_variant_propagator_planes, spec)) return spec->order > 2;
    return spec->order > (spec->ptx_own ? 3 : 4);
}

/* Positions of results along an axis; of S, HT_REACH in cl/parity_team.cl. */
static int results_of(const struct ht_spec *spec) {
    return spec->order / 2 + 1;
}

static int reach_of(const struct ht_spec *spec) {
    return (spec->order + 1) / 2 + 1;
}

/* ---- tables ---- */

/* Values of HT_TABLES in cl/parity_team.cl. */
static int table_values(const struct ht_spec *spec) {
    const int n = spec->order, n1 = n + 1, h = results_of(spec);
    const int wide = spec->fp64 ? 2 : 4;
    const int padded = (int)ht_divide_up(n1, wide) * wide;
    return 4 * n1 * padded + 6 * padded + 4 * (2 * n + 1) * n1 + 4 * n1 +
           2 * (h + 1) + 10 * h;
}

/* The numbers of the series, as in cl/parity_team.cl: alpha_k, beta_k, lambda
 * sigma, r_k; what is put into the tables. */
struct series {
    int order, n1, h, stages;
    int wide;     /* rows of matrices are padded to a multiple of it */
    double least; /* of the precision */
    long double alpha[3], beta[3], lambda, ratio[3];
    double even[MOST * MOST], odd[MOST * MOST];
    int count;
    double *value;
};

static long double factorial(int n) {
    return n > 1 ? n * factorial(n - 1) : 1;
}

static long double binomial(int n, int k) {
    long double value = 1;
    for (int i = 1; i <= k; i++) value = value * (n - k + i) / i;
    return value;
}

/* Values below those of the precision are 0. */
static void put(struct series *s, long double value) {
    s->value[s->count++] = fabsl(value) < s->least ? 0 : (double)value;
}

static void pad(struct series *s) {
    while (s->count % s->wide != 0) put(s, 0);
}

static const double *line_of(const struct series *s, int odd, int m) {
    return (odd ? s->odd : s->even) + (ptrdiff_t)m * s->n1;
}

/* Of position a along an axis, from coefficients. */
static long double scale(const struct series *s, int axis, int odd, int a) {
    return factorial(2 * a + odd) * powl(s->ratio[axis], a);
}

/* The interpolation along x2 and x3. */
static void put_lines(struct series *s) {
    for (int axis = 1; axis < 3; axis++)
        for (int odd = 0; odd < 2; odd++)
            for (int m = 0; m < s->n1; m++) {
                const long double factor = 0.5L * scale(s, axis, odd, m);
                for (int i = 0; i < s->n1; i++)
                    put(s, factor * line_of(s, odd, m)[i]);
                pad(s);
            }
}

/* The derivative of order N + 1, times N + 1, at the upper end of what sums of
 * derivatives interpolate; then the factors of the others. */
static void put_derivatives(struct series *s) {
    for (int axis = 1; axis < 3; axis++)
        for (int odd = 0; odd < 2; odd++) {
            for (int i = 0; i < s->n1; i++) {
                long double sum = 0;
                for (int m = 0; m < s->n1; m++) {
                    const int n = 2 * m + odd;
                    if (n >= s->n1)
                        sum += binomial(n, s->n1) * powl(0.5L, n - s->n1) *
                               line_of(s, odd, m)[i];
                }
                put(s, s->alpha[axis] * s->n1 * sum);
            }
            pad(s);
        }
    for (int axis = 1; axis < 3; axis++) {
        for (int i = 0; i < s->n1; i++) put(s, s->alpha[axis] * (i + 1));
        pad(s);
    }
}

static long double reciprocal(const struct series *s, int n) {
    return n <= s->stages ? 1 / factorial(n) : 0;
}

/* Of p, then of e, to P and to S. */
static void put_weights(struct series *s) {
    for (int odd = 0; odd < 2; odd++)
        for (int m = 0; m <= 2 * s->order; m++)
            for (int c = 0; c <= s->order; c++)
                for (int more = 0; more < 2; more++)
                    put(s, binomial(m + c, c) * powl(s->lambda, m + c) *
                               reciprocal(s, 2 * (m + c) + odd + more));
}

/* Along x1: to and from the positions that powers take, from twice the
 * coefficients and to these; the derivative of v_1, in those. */
static void put_scales(struct series *s) {
    for (int odd = 0; odd < 2; odd++)
        for (int b = 0; b < s->n1; b++) put(s, 0.5L * scale(s, 0, odd, b));
    for (int odd = 0; odd < 2; odd++)
        for (int a = 0; a <= s->h; a++) put(s, 1 / scale(s, 0, odd, a));
    for (int odd = 0; odd < 2; odd++)
        for (int b = 0; b < s->n1; b++)
            put(s, odd && b == s->order ? 0
                                        : 0.5L * scale(s, 0, odd, b) *
                                              s->alpha[0] * (2 * b + odd + 1));
}

/* From positions to coefficients; derivatives of S. */
static void put_results(struct series *s) {
    for (int axis = 1; axis < 3; axis++)
        for (int odd = 0; odd < 2; odd++)
            for (int a = 0; a < s->h; a++) put(s, 1 / scale(s, axis, odd, a));
    for (int axis = 0; axis < 3; axis++)
        for (int odd = 0; odd < 2; odd++)
            for (int a = 0; a < s->h; a++)
                put(s, axis == 0 ? s->beta[0] * (2 * a + (odd ? 1 : 2))
                       : odd     ? s->beta[axis]
                                 : s->beta[axis] / s->ratio[axis]);
}

static void start_series(const struct ht_spec *spec, struct series *s) {
    const struct ht_sizes z = ht_sizes_of(spec);
    *s = (struct series){.order = spec->order,
                         .n1 = spec->order + 1,
                         .h = results_of(spec),
                         .stages = spec->stages,
                         .wide = spec->fp64 ? 2 : 4,
                         .least = spec->fp64 ? DBL_MIN : FLT_MIN};
    ht_hermite_parity(spec->order, s->even, s->odd);
    for (int k = 0; k < 3; k++) {
        s->alpha[k] = spec->scale[z.term_of_chain[k]];
        s->beta[k] = spec->scale[z.term_of_partner[k]];
    }
    const long double sigma = (long double)s->n1 * s->n1;
    for (int k = 0; k < 3; k++)
        s->lambda = fmaxl(s->lambda, sigma * s->alpha[k] * s->beta[k]);
    for (int k = 0; k < 3; k++)
        s->ratio[k] = s->lambda > 0 ? s->alpha[k] * s->beta[k] / s->lambda : 1;
}

/* Position a of results has contributions of the planes b >= a. Each work-item
 * of a team has planes of one position: positions get one work-item each, then
 * one more as long as there are any, first that with the most planes for each
 * of its work-items. In the text: a, begin and end of b for each work-item;
 * the first work-item of each position, and their number. */
static void put_planes(const struct ht_spec *spec, struct ht_text *out) {
    const int n1 = spec->order + 1, positions = reach_of(spec);
    int owners[MOST + 1] = {0}, first[MOST + 2] = {0}, planes[3 * MOST];
    for (int own = 0; own < n1; own++) {
        int next = 0;
        int64_t most = 0;
        for (int a = positions - 1; a >= 0; a--) {
            const int64_t each =
                owners[a] == 0 ? INT_MAX : ht_divide_up(n1 - a, owners[a]);
            if (each < most) continue;
            most = each;
            next = a;
        }
        owners[next]++;
    }
    for (int a = 0; a < positions; a++) {
        first[a + 1] = first[a] + owners[a];
        for (int n = 0; n < owners[a]; n++) {
            int *at = planes + (ptrdiff_t)3 * (first[a] + n);
            at[0] = a;
            at[1] = a + (n1 - a) * n / owners[a];
            at[2] = a + (n1 - a) * (n + 1) / owners[a];
        }
    }
    ht_text_ints(out, "team_planes", planes, 3 * n1);
    ht_text_ints(out, "team_owners", first, positions + 1);
}

static enum ht_err pack_series(const struct ht_blocks *blocks,
                               const struct ht_spec *spec,
                               const struct ht_shape *shape,
                               struct ht_operator *out) {
    struct series s;
    (void)blocks;
    (void)shape;
    start_series(spec, &s);
    TRY(HT_ALLOC(s.value, table_values(spec)));
    put_lines(&s);
    put_derivatives(&s);
    put_weights(&s);
    put_scales(&s);
    put_results(&s);
    put_planes(spec, &out->text);
    ht_text_table(&out->text, "team_tables", s.value, s.count, spec->fp64);
    free(s.value);
    return HT_OK;
}

/* ---- shape ---- */

static int64_t local_bytes(const struct ht_spec *spec,
                           const struct ht_shape *shape) {
    const int wide = spec->fp64 ? 2 : 4, n1 = spec->order + 1;
    const int64_t h = results_of(spec), more = reach_of(spec) - h;
    const int64_t row = HT_SIZE_TEAM_ROW(wide, shape->roll ? 2 : 1,
                                         (int64_t)n1 * n1, 2 * h * (h + more));
    const int64_t values =
        HT_SIZE_TEAM_ROWS((int64_t)CLASSES * n1 * shape->cells, row) +
        HT_SIZE_TEAM_LOWS((int64_t)shape->cells, h) + table_values(spec);
    return ht_divide_up(values, wide) * 16;
}

/* Measured on an H200 (bench/NOTES_team.md): registers with which more groups
 * are worth what does not fit into them; 0: all. */
static int registers_for(const struct ht_spec *spec) {
    if (spec->fp64) return spec->order < 6 ? 168 : 0;
    if (spec->order < 4) return 96;
    return spec->order < 5 ? 128 : spec->order < 6 ? 168 : 0;
}

/* Four cells make a warp of the work-items of one position. Rows hold planes of
 * both scalars where no cells or groups are lost by it. */
static enum ht_err choose_shape(const struct ht_tuning *tuning,
                                const struct ht_spec *spec,
                                const struct ht_device_info *info,
                                struct ht_shape *out) {
    const int64_t limit =
        info->open_memory > 0 ? info->open_memory : ht_local_limit(info);
    const int team = CLASSES * (spec->order + 1);
    const int most = 256;  /* work-items of a group with all registers */
    const int all = 65536; /* registers of a multiprocessor */
    out->registers = registers_for(spec);
    out->cells = tuning->cells > 0 ? tuning->cells : 4;
    while (tuning->cells == 0 && out->cells > 1 &&
           (local_bytes(spec, out) > limit || out->cells * team > most ||
            (int64_t)out->cells * team > info->max_group))
        out->cells /= 2;
    TRY(ht_group_fits(out->cells, team, info));
    out->group_size = out->cells * team;
    const int64_t groups =
        info->open_memory > 0 && out->registers > 0
            ? ht_most(1, all / (out->registers * out->group_size))
            : 1;
    out->roll = true;
    out->roll = groups * local_bytes(spec, out) <= limit;
    out->local_bytes = local_bytes(spec, out);
    if (out->local_bytes > limit)
        return ht_local_too_little(spec, info, out->cells, limit);
    return HT_OK;
}

const struct ht_variant ht_variant_parity_team = {
    .name = "parity-team",
    .meaning = "as parity-chains, each class of a target by a team of "
               "work-items; in three dimensions at high orders (media constant "
               "per node)",
    .medium = HT_PER_NODE,
    .layouts = HT_READS_PLAIN,
    .refuses = refuses,
    .pays = pays,
    .made_for = HT_FOR_GPU,
    .counts32 = true,
    .open_memory = true,
    .shape = choose_shape,
    .pack = pack_series,
    .cost = ht_cost_series,
    .files = {"common.cl", "packs.cl", "wide.cl", "ptx.cl", "vertices.cl",
              "partners.cl", "parity_team.cl"},
    .stage = {{HT_STAGE_STEP, "ht_parity_team"}}};
