/* Host side of cl/registers.cl: how many work-items share a target, and tables
 * with the factors of the coefficients
 *     t(n) = 2^d product over k of n_k! r_k^n_k b(n).
 * With s_k = sum of scale along axis k, sigma = max |s_k| and r_k = s_k/sigma,
 * no less than an eighth, a stage is
 *     (L t)(n) = sum over k of ratio_k t(n + e_k),  ratio_k = s_k/(sigma r_k),
 * where ratio_k = 1 for r_k = s_k/sigma; weight_m = sigma^m/m!. The factors 2^d
 * are those of sums over the ends of lines that are not halved.
 */
#include "variant.h"

#include <float.h>
#include <math.h>

#include "local_sizes.h"

/* Leaves 1e22 for the coefficients in single precision. */
static const double most_factor = 1e16;

enum { MOST_ROWS = 4, MOST_VALUES = 220 }; /* values of 4 bytes in registers */

static int polynomial_words(const struct ht_spec *spec) {
    return ht_sizes_of(spec).cube * (spec->fp64 ? 2 : 1);
}

/* Work-items of a target: one, or one for each pair n1. */
static int items_per_cell(const struct ht_spec *spec) {
    return polynomial_words(spec) <= MOST_VALUES ? 1 : spec->order + 1;
}

/* Several must be in one warp, and shuffles move 4 bytes. */
static bool fits(const struct ht_spec *spec) {
    const int items = items_per_cell(spec);
    if (items == 1) return true;
    return !spec->fp64 && (items & (items - 1)) == 0 &&
           polynomial_words(spec) / items <= MOST_VALUES;
}

/* The largest n1! n2! n3!. */
static double largest_factor(const struct ht_spec *spec) {
    return pow(tgamma(2 * spec->order + 2), spec->eq->dims);
}

static const char *refuses(const struct ht_spec *spec) {
    const struct ht_equations *eq = spec->eq;
    bool one = eq->nfields == 1 && spec->old_sign == 0;
    for (int t = 0; t < eq->nterms; t++)
        one = one && eq->term[t].derivative == 1;
    if (!one) return "the system is not one field advected by a velocity";
    if (!fits(spec)) return "the order is too high for its registers";
    if (!spec->fp64 && largest_factor(spec) > most_factor)
        return "single precision does not hold its factors";
    return NULL;
}

/* Bytes of the kernel's HT_LOCAL_ARRAYs. */
static int64_t local_bytes(const struct ht_spec *spec,
                           const struct ht_shape *shape, int per_cell) {
    const struct ht_sizes z = ht_sizes_of(spec);
    const bool passes = per_cell > 1 && (spec->ptx < 70 || spec->fp64);
    const int64_t items = shape->group_size, plane = (int64_t)z.t2 * z.t3;
    const int64_t bytes = spec->fp64 ? 8 : 4;
    const int64_t face = bytes * z.n3 * z.t2 * z.t1 / per_cell / 16;
    return 16 * HT_SIZE_KEPT_FACES(spec->eq->dims, face, items) +
           bytes * (2 * HT_SIZE_TURNED(per_cell, z.t2, z.n1, items / per_cell) +
                    HT_SIZE_PASSED(passes, plane, items));
}

static enum ht_err choose_shape(const struct ht_tuning *tuning,
                                const struct ht_spec *spec,
                                const struct ht_device_info *info,
                                struct ht_shape *out) {
    const int per_cell = items_per_cell(spec);
    const int64_t limit = ht_local_limit(info);
    struct ht_device_info of_cells = *info;
    struct ht_tuning some = *tuning;
    of_cells.max_group /= per_cell;
    out->flat = true;
    do {
        TRY(ht_target_group(&some, &of_cells, spec->eq->dims, out));
        out->group_size = out->cells * out->rows * per_cell;
        out->local_bytes = local_bytes(spec, out, per_cell);
        some.rows =
            tuning->rows == 0 && out->rows > 1 ? out->rows / 2 : out->rows;
        some.cells = out->rows == some.rows ? out->cells / 2 : out->cells;
        if (out->local_bytes <= limit) return HT_OK;
    } while (some.cells > 0 && (tuning->cells == 0 || out->rows > some.rows));
    return ht_local_too_little(spec, info, out->cells, limit);
}

/* ---- tables ---- */

struct factors {
    long double sigma, r[3], ratio[3];
};

static struct factors factors_of(const struct ht_spec *spec) {
    const long double least = 0.125L;
    struct factors f = {.r = {1, 1, 1}, .ratio = {1, 1, 1}};
    long double s[3] = {0};
    for (int t = 0; t < spec->eq->nterms; t++)
        s[spec->eq->term[t].axis] += spec->scale[t];
    for (int k = 0; k < 3; k++) f.sigma = fmaxl(f.sigma, fabsl(s[k]));
    for (int k = 0; k < spec->eq->dims && f.sigma > 0; k++) {
        f.r[k] = s[k] / f.sigma;
        if (fabsl(f.r[k]) >= least) continue;
        f.ratio[k] = f.r[k] / least;
        f.r[k] = least;
    }
    return f;
}

/* n! r^n. */
static long double factor(int n, long double r) {
    long double value = 1;
    for (int i = 1; i <= n; i++) value *= i * r;
    return value;
}

/* A number as a literal. What the precision does not hold is 0, as on devices
 * that flush it, so that no compiler warns. */
static void add_literal(long double value, bool fp64, struct ht_text *text) {
    const long double least = fp64 ? DBL_MIN : FLT_MIN;
    ht_text_add(text, "%.17e%s", fabsl(value) < least ? 0.0 : (double)value,
                fp64 ? "" : "f");
}

static void add_ratio(int axis, long double ratio, const struct ht_spec *spec,
                      struct ht_text *text) {
    ht_text_add(text, "#define HT_RATIO_%d (", axis + 1);
    add_literal(ratio, spec->fp64, text);
    ht_text_add(text, ")\n");
    ht_text_add(text, "#define HT_UNIT_%d (%d)\n", axis + 1, ratio == 1);
}

static void add_stages(const struct factors *f, const struct ht_spec *spec,
                       struct ht_text *text) {
    long double weight = 1;
    ht_text_add(text, "#define HT_SERIES_STAGES (%d)\n", spec->stages);
    ht_text_add(text, "/* X(m, weight) */\n#define HT_EACH_STAGE(X)");
    for (int m = 1; m <= spec->stages; m++) {
        weight *= f->sigma / m;
        ht_text_add(text, " X(%d, ", m);
        add_literal(weight, spec->fp64, text);
        ht_text_add(text, ")");
    }
    ht_text_add(text, "\n");
}

static enum ht_err pack_factors(const struct ht_blocks *blocks,
                                const struct ht_spec *spec,
                                const struct ht_shape *shape,
                                struct ht_operator *out) {
    enum { MOST = HT_MAX_ORDER + 1 };
    double even[MOST * MOST], odd[MOST * MOST], last[3 * MOST];
    double scaled_even[3 * MOST * MOST], scaled_odd[3 * MOST * MOST];
    const struct factors f = factors_of(spec);
    const int n = spec->order + 1, square = n * n;
    (void)blocks;
    ht_hermite_parity(spec->order, even, odd);
    for (int k = 0; k < 3; k++) {
        const bool there = k < spec->eq->dims;
        add_ratio(k, f.ratio[k], spec, &out->text);
        for (int i = 0; i < n; i++)
            last[k * n + i] = (double)((there ? 0.5L : 1) / factor(i, f.r[k]));
        for (int i = 0; i < square; i++) {
            const int row = 2 * (i / n);
            scaled_even[k * square + i] =
                (double)(even[i] * factor(row, f.r[k]));
            scaled_odd[k * square + i] =
                (double)(odd[i] * factor(row + 1, f.r[k]));
        }
    }
    ht_text_add(&out->text, "#define HT_PER_CELL (%d)\n",
                shape->group_size / (shape->cells * shape->rows));
    add_stages(&f, spec, &out->text);
    ht_text_table(&out->text, "scaled_even", scaled_even, 3 * square,
                  spec->fp64);
    ht_text_table(&out->text, "scaled_odd", scaled_odd, 3 * square, spec->fp64);
    ht_text_table(&out->text, "last", last, 3 * n, spec->fp64);
    return HT_OK;
}

const struct ht_variant ht_variant_registers = {
    .name = "registers",
    .meaning = "the Taylor series of one field, a target's polynomial in the "
               "registers of one work-item or a few (constant velocity)",
    .made_for = HT_FOR_GPU,
    .medium = HT_UNIFORM,
    .series = true,
    .layouts = HT_READS_PLAIN,
    .counts32 = true,
    .refuses = refuses,
    .shape = choose_shape,
    .pack = pack_factors,
    .cost = ht_cost_series,
    .files = {"common.cl", "packs.cl", "wide.cl", "ptx.cl", "registers.cl"},
    .stage = {{HT_STAGE_OPERATOR, "ht_registers"}}};
