/* Host side of cl/team_series.cl. */
#include "team_series.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "blocks.h"
#include "local_sizes.h"

const char *ht_team_refuses(const struct ht_spec *spec) {
    const struct ht_sizes z = ht_sizes_of(spec);
    if (z.chain != 0)
        return "the system is not one scalar with a partner per axis";
    if (spec->eq->dims < 3) return "it is for three dimensions";
    if (spec->old_sign != 0) return "it has no leapfrog form";
    if (ht_chain_materials_differ(spec)) return "materials differ between axes";
    return NULL;
}

static int wide_of(const struct ht_spec *spec) {
    return spec->fp64 ? 2 : 4;
}

int ht_team_results(const struct ht_spec *spec) {
    return spec->order / 2 + 1;
}

int ht_team_reach(const struct ht_spec *spec) {
    return (spec->order + 1) / 2 + 1;
}

int ht_team_line(const struct ht_spec *spec) {
    const int wide = wide_of(spec);
    return (int)ht_divide_up(spec->order + 1, wide) * wide;
}

int ht_team_tables(const struct ht_spec *spec) {
    const int n = spec->order, wide = wide_of(spec);
    const int values = 4 * (2 * n + 1) * (n + 1) + 2 * ht_team_reach(spec) +
                       10 * ht_team_results(spec);
    return (int)ht_divide_up(values, wide) * wide;
}

int64_t ht_team_row(const struct ht_spec *spec, int planes) {
    const int n1 = spec->order + 1;
    const int64_t h = ht_team_results(spec), more = ht_team_reach(spec) - h;
    return HT_SIZE_TEAM_ROW(wide_of(spec), planes, (int64_t)n1 * n1,
                            2 * h * (h + more));
}

/* ---- tables ---- */

static long double factorial(int n) {
    return n > 1 ? n * factorial(n - 1) : 1;
}

static long double binomial(int n, int k) {
    long double value = 1;
    for (int i = 1; i <= k; i++) value = value * (n - k + i) / i;
    return value;
}

void ht_team_put(struct ht_team_series *s, long double value) {
    s->value[s->count++] = fabsl(value) < s->least ? 0 : (double)value;
}

void ht_team_pad(struct ht_team_series *s) {
    while (s->count % s->wide != 0) ht_team_put(s, 0);
}

static const double *line_of(const struct ht_team_series *s, int odd, int m) {
    return (odd ? s->odd : s->even) + (ptrdiff_t)m * s->n1;
}

long double ht_team_scale(const struct ht_team_series *s, int axis, int odd,
                          int a) {
    return factorial(2 * a + odd) * powl(s->ratio[axis], a);
}

void ht_team_put_lines(struct ht_team_series *s, int axis, int odd) {
    double lines[HT_TEAM_ORDERS * HT_TEAM_ORDERS];
    const int n1 = s->n1;
    for (int n = 0; n < n1 * n1; n++)
        lines[n] = (double)(0.5L * ht_team_scale(s, axis, odd, n / n1) *
                            line_of(s, odd, n / n1)[n % n1]);
    ht_lines_round(s->spec, odd, lines);
    for (int n = 0; n < n1 * n1; n++) {
        ht_team_put(s, lines[n]);
        if (n % n1 == n1 - 1) ht_team_pad(s);
    }
}

void ht_team_put_top(struct ht_team_series *s, int axis, int odd) {
    for (int i = 0; i < s->n1; i++) {
        long double sum = 0;
        for (int m = 0; m < s->n1; m++) {
            const int n = 2 * m + odd;
            if (n >= s->n1)
                sum += binomial(n, s->n1) * powl(0.5L, n - s->n1) *
                       line_of(s, odd, m)[i];
        }
        ht_team_put(s, s->alpha[axis] * s->n1 * sum);
    }
    ht_team_pad(s);
}

void ht_team_put_next(struct ht_team_series *s, int axis) {
    for (int i = 0; i < s->n1; i++) ht_team_put(s, s->alpha[axis] * (i + 1));
    ht_team_pad(s);
}

static long double reciprocal(const struct ht_team_series *s, int n) {
    return n <= s->spec->stages ? 1 / factorial(n) : 0;
}

/* Of p, then of e, to P and to S. */
static void put_weights(struct ht_team_series *s) {
    for (int odd = 0; odd < 2; odd++)
        for (int m = 0; m <= 2 * s->spec->order; m++)
            for (int c = 0; c <= s->spec->order; c++)
                for (int more = 0; more < 2; more++)
                    ht_team_put(s, binomial(m + c, c) * powl(s->lambda, m + c) *
                                       reciprocal(s, 2 * (m + c) + odd + more));
}

/* From positions to coefficients: HT_AT_UNSCALE, HT_AT_BACK. */
static void put_back(struct ht_team_series *s, int axis, int count) {
    for (int odd = 0; odd < 2; odd++)
        for (int a = 0; a < count; a++)
            ht_team_put(s, 1 / ht_team_scale(s, axis, odd, a));
}

/* Derivatives of S: along HT_OWN of coefficients, else of positions. */
static void put_gain(struct ht_team_series *s, int axis) {
    for (int odd = 0; odd < 2; odd++)
        for (int a = 0; a < s->h; a++)
            ht_team_put(s, axis == s->axes.own
                               ? s->beta[axis] * (2 * a + (odd ? 1 : 2))
                           : odd ? s->beta[axis]
                                 : s->beta[axis] / s->ratio[axis]);
}

static void set_numbers(struct ht_team_series *s) {
    const struct ht_spec *spec = s->spec;
    const struct ht_sizes z = ht_sizes_of(spec);
    ht_hermite_parity(spec->order, s->even, s->odd);
    for (int k = 0; k < 3; k++) {
        s->alpha[k] = spec->scale[z.term_of_chain[k]];
        s->beta[k] = spec->scale[z.term_of_partner[k]];
    }
    /* a power of two, which rounds no number of a table */
    const long double sigma = exp2l(roundl(2 * log2l(s->n1)));
    for (int k = 0; k < 3; k++)
        s->lambda = fmaxl(s->lambda, sigma * s->alpha[k] * s->beta[k]);
    for (int k = 0; k < 3; k++)
        s->ratio[k] = s->lambda > 0 ? s->alpha[k] * s->beta[k] / s->lambda : 1;
}

enum ht_err ht_team_start(const struct ht_spec *spec, struct ht_team_axes axes,
                          int own, struct ht_team_series *s) {
    *s = (struct ht_team_series){.spec = spec,
                                 .axes = axes,
                                 .n1 = spec->order + 1,
                                 .h = ht_team_results(spec),
                                 .reach = ht_team_reach(spec),
                                 .wide = wide_of(spec),
                                 .least = spec->fp64 ? DBL_MIN : FLT_MIN};
    set_numbers(s);
    TRY(HT_ALLOC(s->value, ht_team_tables(spec) + own));
    put_weights(s);
    put_back(s, axes.own, s->reach);
    put_back(s, axes.fast, s->h);
    put_back(s, axes.slow, s->h);
    put_gain(s, axes.own);
    put_gain(s, axes.fast);
    put_gain(s, axes.slow);
    ht_team_pad(s);
    return HT_OK;
}

/* Position a of results has contributions of the planes b >= a. Each work-item
 * of a team has planes of one position: positions get one work-item each, then
 * one more as long as there are any, first that with the most planes for each
 * of its work-items. In the text: a, begin and end of b for each work-item;
 * the first work-item of each position, and their number. */
static void put_planes(const struct ht_team_series *s, struct ht_text *out) {
    const int n1 = s->n1, positions = s->reach;
    int owners[HT_TEAM_ORDERS + 1] = {0}, first[HT_TEAM_ORDERS + 2] = {0};
    int planes[3 * HT_TEAM_ORDERS];
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

void ht_team_take(struct ht_team_series *s, int begin, const char *name,
                  struct ht_text *out) {
    ht_text_table(out, name, s->value + begin, s->count - begin, s->spec->fp64);
    s->count = begin;
}

void ht_team_finish(struct ht_team_series *s, int planes, struct ht_text *out) {
    ht_text_add(out,
                "#define HT_OWN %d\n#define HT_FAST %d\n#define HT_SLOW %d\n"
                "#define HT_PLANES %d\n#define HT_TABLES %d\n",
                s->axes.own, s->axes.fast, s->axes.slow, planes, s->count);
    put_planes(s, out);
    ht_team_take(s, 0, "team_tables", out);
    free(s->value);
    s->value = NULL;
}

/* ---- shape ---- */

int64_t ht_team_limit(const struct ht_device_info *info) {
    return info->open_memory > 0 ? info->open_memory : ht_local_limit(info);
}

enum ht_err ht_team_shape(const struct ht_tuning *tuning,
                          const struct ht_spec *spec,
                          const struct ht_device_info *info,
                          ht_team_bytes *bytes, struct ht_shape *out) {
    const int team = HT_TEAM_CLASSES * (spec->order + 1);
    const int most = 256; /* work-items of a group with all registers */
    const int64_t limit = ht_team_limit(info);
    out->cells = tuning->cells > 0 ? tuning->cells : 4;
    while (tuning->cells == 0 && out->cells > 1 &&
           (bytes(spec, out) > limit || out->cells * team > most ||
            (int64_t)out->cells * team > info->max_group))
        out->cells /= 2;
    TRY(ht_group_fits(out->cells, team, info));
    out->group_size = out->cells * team;
    out->local_bytes = bytes(spec, out);
    if (out->local_bytes > limit)
        return ht_local_too_little(spec, info, out->cells, limit);
    return HT_OK;
}
