/* The error of a plane wave exp(i k.x) in a uniform medium, computed by the
 * scheme itself (Bloch analysis). All nodes hold the same coefficients except
 * for the phase, so a half step is a linear map of the coefficients of one
 * node,
 *
 *     U' = E (H x H x H) U,
 *
 * with theta_k = k_k h_k and the phases exp(-+ i theta_k/2) of the vertices in
 * the interpolation. With coefficients u_j = i^|j| a_j the matrix H is real:
 * column i, row j along an axis is 2 H[j][N+1+i] times
 *
 *     (-1)^((i-j)/2) cos(theta/2)     i - j even,
 *     (-1)^((i-j+1)/2) sin(theta/2)   i - j odd,
 *
 * and a derivative has a factor i. E is the series of docs/method.md, section
 * 4, with the run's stages and step; only coefficients that an output depends
 * on are computed. Axes along which the wave does not vary are omitted, since
 * only the zeroth coefficient is nonzero there.
 *
 * For a one-level scheme the map is this half step, for a two-level scheme a
 * full step of the fields stored on both grids. src/num/krylov.c applies powers
 * of the map to the exact coefficients of the wave. Unknowns are scaled by
 * BALANCE^|j| to keep norms small.
 */
#include "bloch.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/krylov.h"

#define BALANCE 0.25

enum {
    NODE = HT_MAX_ORDER + 1,
    CELL = 2 * NODE,
    STAGES = HT_MAX_DIMS * CELL /* more than the longest series */
};

typedef double complex number;

/* A term of (dt/2) L: cube[row] += factor i^derivative D cube[col]. */
struct factor {
    int row, col, axis, derivative;
    double value;
};

struct bloch {
    const struct ht_problem *problem;
    int64_t fields;
    int n[3], t[3];               /* N+1, 2N+2 where the wave varies, else 1 */
    int coefs, cube;              /* products of n, of t */
    double matrix[3][CELL][NODE]; /* interpolation along an axis, scaled */
    double theta[3], omega;
    double size[HT_MAX_FIELDS];      /* units of the fields' amplitudes */
    number amplitude[HT_MAX_FIELDS]; /* in units of `size` */
    int nfactors;
    struct factor factor[HT_MAX_TERMS];
    int least[STAGES], most[STAGES]; /* derivatives in L^r */
    int (*index)[3];                 /* [cube] */
    int *excess, *total;             /* [cube] sums of max(0, j - N), of j */
    double *weight;                  /* [coefs] BALANCE^|j| */
    number *b, *w, *lines;           /* [cube][fields], [cube] */
};

static double turned(int quarters, double cosine, double sine) {
    int m = ((quarters % 4) + 4) % 4;
    return m == 0 ? cosine : m == 1 ? sine : m == 2 ? -cosine : -sine;
}

static void fill_matrix(int order, double theta, double out[CELL][NODE]) {
    double h[CELL * CELL];
    int m = order + 1, size = 2 * m;
    double c = cos(theta / 2), s = sin(theta / 2);
    ht_hermite_matrix(order, h);
    for (int j = 0; j < size; j++)
        for (int i = 0; i < m; i++) {
            double phase = (i - j) % 2 == 0 ? turned(i - j, c, 0)
                                            : turned(i - j + 1, s, 0);
            out[j][i] = 2 * h[j * size + m + i] * phase * pow(BALANCE, -i);
        }
}

static void fill_degrees(struct bloch *s) {
    int order = s->problem->grid->order;
    for (int q = 0, rest = 0; q < s->cube; q++) {
        s->excess[q] = s->total[q] = 0;
        rest = q;
        for (int k = 0; k < 3; k++) {
            int j = s->index[q][k] = rest % s->t[k];
            rest /= s->t[k];
            s->total[q] += j;
            s->excess[q] += j > order ? j - order : 0;
        }
    }
    for (int i = 0; i < s->coefs; i++) {
        int sum = i % s->n[0] + i / s->n[0] % s->n[1] + i / (s->n[0] * s->n[1]);
        s->weight[i] = pow(BALANCE, sum);
    }
}

static void fill_factors(struct bloch *s, const struct ht_bloch_run *run,
                         const bool varies[3]) {
    const struct ht_equations *eq = s->problem->eq;
    for (int t = 0; t < eq->nterms; t++) {
        const struct ht_term *term = &eq->term[t];
        double value = term->coef * run->dt / 2;
        if (term->material >= 0) value *= run->material[term->material];
        if (term->derivative > 0 && !varies[term->axis]) continue;
        value *= pow(s->problem->grid->h[term->axis], -term->derivative);
        value *= s->size[term->col] / s->size[term->row];
        s->factor[s->nfactors++] = (struct factor){
            term->row, term->col, term->axis, term->derivative, value};
    }
}

/* least[r], most[r]: number of derivatives along any chain of r terms. */
static void fill_chains(struct bloch *s) {
    int low[HT_MAX_FIELDS] = {0}, high[HT_MAX_FIELDS] = {0};
    for (int r = 0; r < STAGES; r++) {
        int low_next[HT_MAX_FIELDS], high_next[HT_MAX_FIELDS];
        s->least[r] = INT_MAX;
        for (int f = 0; f < s->fields; f++) {
            if (low[f] < s->least[r]) s->least[r] = low[f];
            if (high[f] > s->most[r]) s->most[r] = high[f];
            low_next[f] = INT_MAX;
            high_next[f] = -1;
        }
        for (int t = 0; t < s->nfactors; t++) {
            const struct factor *x = &s->factor[t];
            if (high[x->col] < 0) continue;
            if (low[x->col] + x->derivative < low_next[x->row])
                low_next[x->row] = low[x->col] + x->derivative;
            if (high[x->col] + x->derivative > high_next[x->row])
                high_next[x->row] = high[x->col] + x->derivative;
        }
        memcpy(low, low_next, sizeof low);
        memcpy(high, high_next, sizeof high);
    }
}

static void bloch_destroy(struct bloch *s) {
    if (s == NULL) return;
    free(s->index);
    free(s->excess);
    free(s->total);
    free(s->weight);
    free(s->b);
    free(s->w);
    free(s->lines);
    free(s);
}

static enum ht_err allocate(struct bloch *s) {
    TRY(HT_ALLOC(s->index, s->cube));
    TRY(HT_ALLOC(s->excess, s->cube));
    TRY(HT_ALLOC(s->total, s->cube));
    TRY(HT_ALLOC(s->weight, s->coefs));
    TRY(HT_ALLOC(s->b, s->cube * s->fields));
    TRY(HT_ALLOC(s->w, s->cube * s->fields));
    return HT_ALLOC(s->lines, 2 * s->cube);
}

/* Amplitudes of the fields in units of their size, and the frequency. */
static void fill_wave(struct bloch *s, const struct ht_bloch_run *run,
                      const double k[3]) {
    const struct ht_equations *eq = s->problem->eq;
    const struct ht_system *system = eq->system;
    double real[HT_MAX_FIELDS] = {0}, imaginary[HT_MAX_FIELDS] = {0};
    system->plane(run->material, eq->dims, k, real, imaginary, &s->omega);
    for (int f = 0; f < system->nfields; f++) {
        int at = ht_equations_field(eq, system->field[f].name);
        double size = hypot(real[f], imaginary[f]);
        if (at < 0) continue;
        s->size[at] = size > 0 ? size : 1;
        s->amplitude[at] = ht_complex(real[f], imaginary[f]) / s->size[at];
    }
}

static enum ht_err bloch_create(const struct ht_bloch_run *run,
                                const double k[3], struct bloch **out) {
    const struct ht_grid *grid = run->problem->grid;
    struct bloch *s = NULL;
    bool varies[3] = {false};
    TRY(HT_ALLOC(s, 1));
    s->problem = run->problem;
    s->fields = s->problem->eq->nfields;
    s->coefs = s->cube = 1;
    for (int j = 0; j < 3; j++) {
        s->theta[j] = j < grid->dims ? k[j] * grid->h[j] : 0;
        varies[j] = s->theta[j] != 0;
        s->n[j] = varies[j] ? grid->order + 1 : 1;
        s->t[j] = varies[j] ? 2 * s->n[j] : 1;
        s->coefs *= s->n[j];
        s->cube *= s->t[j];
        fill_matrix(grid->order, s->theta[j], s->matrix[j]);
    }
    fill_wave(s, run, k);
    fill_factors(s, run, varies);
    fill_chains(s);
    enum ht_err err = allocate(s);
    if (err != HT_OK) {
        bloch_destroy(s);
        return err;
    }
    fill_degrees(s);
    *out = s;
    return HT_OK;
}

/* ---- half step ---- */

/* Transforms lines of n entries along an axis into lines of t entries. before,
 * behind: number of entries along the axes before and after this one. */
static void interpolate_axis(const struct bloch *s, int axis, int64_t before,
                             int64_t behind, const number *in, number *out) {
    int n = s->n[axis], t = s->t[axis];
    for (int64_t outer = 0; outer < behind; outer++)
        for (int j = 0; j < t; j++) {
            number *to = out + (outer * t + j) * before;
            for (int64_t q = 0; q < before; q++) to[q] = 0;
            for (int i = 0; i < n; i++) {
                const number *from = in + (outer * n + i) * before;
                double entry = t == 1 ? 1 : s->matrix[axis][j][i];
                for (int64_t q = 0; q < before; q++) to[q] += entry * from[q];
            }
        }
}

static void interpolate(struct bloch *s, int field, const number *x) {
    number *a = s->lines, *b = s->lines + s->cube;
    int64_t behind1 = (int64_t)s->n[1] * s->n[2];
    int64_t before2 = (int64_t)s->t[0] * s->t[1];
    interpolate_axis(s, 0, 1, behind1, x, a);
    interpolate_axis(s, 1, s->t[0], s->n[2], a, b);
    interpolate_axis(s, 2, before2, 1, b, a);
    for (int q = 0; q < s->cube; q++) s->b[q * s->fields + field] = a[q];
}

/* Whether an output depends on entry q at stage k, with k - 1 applications of L
 * to follow. */
static bool needed(const struct bloch *s, int q, int k) {
    return s->excess[q] <= s->most[k - 1] && s->total[q] >= s->least[k - 1];
}

/* w[q] = b[q] + (1/k) (dt/2) L w. Derivatives read entries after q, which still
 * have their values from the previous stage. */
static void evolve_entry(struct bloch *s, int q, int k) {
    const int64_t row = s->fields * s->t[0];
    const int64_t stride[3] = {s->fields, row, row * s->t[1]};
    const int64_t at = q * s->fields;
    number sum[HT_MAX_FIELDS];
    for (int f = 0; f < s->fields; f++) sum[f] = s->b[at + f];
    for (int f = 0; f < s->nfactors; f++) {
        const struct factor *factor = &s->factor[f];
        const int a = factor->axis, order = factor->derivative;
        const int power = s->index[q][a];
        double value = factor->value / k;
        if (power + order >= s->t[a]) continue;
        for (int n = 1; n <= order; n++) value *= power + n;
        number z = value * s->w[at + order * stride[a] + factor->col];
        for (int n = 0; n < order; n++) z = ht_complex(-cimag(z), creal(z));
        sum[factor->row] += z;
    }
    for (int f = 0; f < s->fields; f++) s->w[at + f] = sum[f];
}

static void evolve(struct bloch *s) {
    size_t bytes = (size_t)(s->cube * s->fields) * sizeof *s->w;
    memcpy(s->w, s->b, bytes);
    for (int k = s->problem->stages; k >= 1; k--)
        for (int q = 0; q < s->cube; q++)
            if (needed(s, q, k)) evolve_entry(s, q, k);
}

/* out: the fields stored on the other grid, one after the other; for a
 * two-level scheme on entry their values one step earlier. */
static void half_step(struct bloch *s, enum ht_subgrid from, const number *in,
                      number *out) {
    enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    memset(s->b, 0, (size_t)(s->cube * s->fields) * sizeof *s->b);
    for (int f = 0; f < s->fields; f++) {
        if (!ht_problem_stores(s->problem, from, f)) continue;
        interpolate(s, f, in);
        in += s->coefs;
    }
    evolve(s);
    for (int f = 0; f < s->fields; f++) {
        if (!ht_problem_stores(s->problem, to, f)) continue;
        for (int i = 0; i < s->coefs; i++) {
            int q =
                (i / (s->n[0] * s->n[1]) * s->t[1] + i / s->n[0] % s->n[1]) *
                    s->t[0] +
                i % s->n[0];
            number w = s->weight[i] * s->w[q * s->fields + f];
            int old_sign = s->problem->old_sign;
            out[i] = old_sign == 0 ? w : old_sign * out[i] + 2 * w;
        }
        out += s->coefs;
    }
}

/* ---- powers ---- */

static bool is_two_level(const struct bloch *s) {
    return ht_problem_scheme(s->problem)->two_level;
}

static int64_t values(const struct bloch *s, enum ht_subgrid subgrid) {
    return (int64_t)s->coefs * ht_problem_stored(s->problem, subgrid);
}

static void step(void *self, const number *x, number *y) {
    struct bloch *s = self;
    int64_t split = values(s, HT_PRIMARY);
    if (!is_two_level(s)) {
        half_step(s, HT_PRIMARY, x, y);
        return;
    }
    memcpy(y, x, (size_t)(split + values(s, HT_DUAL)) * sizeof *x);
    half_step(s, HT_PRIMARY, y, y + split);
    half_step(s, HT_DUAL, y + split, y);
}

/* Writes the exact wave times `phase` for the fields stored on a grid. */
static number *put_wave(const struct bloch *s, enum ht_subgrid subgrid,
                        number phase, number *out) {
    for (int f = 0; f < s->fields; f++) {
        if (!ht_problem_stores(s->problem, subgrid, f)) continue;
        for (int i = 0; i < s->coefs; i++) {
            int j[3] = {i % s->n[0], i / s->n[0] % s->n[1],
                        i / (s->n[0] * s->n[1])};
            double jet = s->weight[i];
            for (int k = 0; k < 3; k++)
                for (int n = 1; n <= j[k]; n++) jet *= s->theta[k] / n;
            *out++ = jet * s->amplitude[f] * phase;
        }
    }
    return out;
}

static void subtract_exact(const struct bloch *s,
                           const struct ht_bloch_run *run,
                           const struct ht_power_result *result,
                           struct ht_bloch_wave *out) {
    double end = fmod(s->omega * run->dt * run->steps, 2 * acos(-1.0));
    for (int f = 0, w = 0; f < s->fields; f++) {
        if (!ht_problem_stores(s->problem, HT_PRIMARY, f)) continue;
        number exact = s->amplitude[f] * ht_complex(cos(end), -sin(end));
        out->exact[f] = s->size[f] * exact;
        out->error[f] = s->size[f] * (result->value[w] - exact);
        out->rest[f] = s->size[f] * result->rest[w++];
    }
}

/* Multiply-adds of a step: interpolation of all fields and the series. */
static double step_operations(const struct bloch *s) {
    const struct ht_problem *p = s->problem;
    double line = s->t[0] * s->coefs +
                  (double)s->t[0] * s->t[1] * s->n[1] * s->n[2] +
                  (double)s->cube * s->n[2];
    double series = 0, fields = ht_problem_stored(p, HT_PRIMARY);
    for (int k = 1; k <= p->stages; k++)
        for (int q = 0; q < s->cube; q++) series += needed(s, q, k);
    series *= s->nfactors;
    if (!is_two_level(s)) return fields * line + series;
    return (fields + ht_problem_stored(p, HT_DUAL)) * line + 2 * series;
}

/* Limits of ht_power from the limit on operations: steps that are computed
 * directly, and products beyond these. The eigenvalues of m products cost about
 * 100 m^3 operations. */
static void choose_products(const struct bloch *s,
                            const struct ht_bloch_run *run,
                            struct ht_power *power) {
    enum { LEAST = 10, ENOUGH = 40 };
    power->direct = run->operations / step_operations(s);
    double most = fmin(power->direct, cbrt(run->operations / 100));
    power->most = (int)fmax(fmin(most, ENOUGH), LEAST);
}

static enum ht_err take_power(struct bloch *s, const struct ht_bloch_run *run,
                              struct ht_bloch_wave *out) {
    const bool full = is_two_level(s);
    const double angle = s->omega * run->dt / (full ? 1 : 2);
    struct ht_linear_map map = {values(s, HT_PRIMARY), s, step};
    struct ht_power power = {.steps = run->steps * (full ? 1 : 2),
                             .guess = ht_complex(cos(angle), -sin(angle)),
                             .conservative =
                                 !ht_problem_scheme(s->problem)->dissipates};
    struct ht_power_result result;
    number *start = NULL;
    choose_products(s, run, &power);
    if (full) map.size += values(s, HT_DUAL);
    TRY(HT_ALLOC(start, map.size));
    number *dual = put_wave(s, HT_PRIMARY, 1, start);
    number early = ht_complex(cos(angle / 2), sin(angle / 2));
    if (full) (void)put_wave(s, HT_DUAL, early, dual);
    for (int f = 0; f < ht_problem_stored(s->problem, HT_PRIMARY); f++)
        power.watch[power.watched++] = (int64_t)f * s->coefs;
    enum ht_err err = ht_krylov_power(&map, start, &power, &result);
    if (err == HT_OK) subtract_exact(s, run, &result, out);
    free(start);
    return err;
}

enum ht_err ht_bloch_step(const struct ht_bloch_run *run, const double k[3],
                          struct ht_bloch_wave *out) {
    struct bloch *s = NULL;
    *out = (struct ht_bloch_wave){{0}, {0}, {0}};
    TRY(bloch_create(run, k, &s));
    enum ht_err err = take_power(s, run, out);
    bloch_destroy(s);
    return err;
}
