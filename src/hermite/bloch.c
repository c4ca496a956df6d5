/* The error of a plane wave exp(i k.x) in a uniform medium, computed by the scheme itself (Bloch
 * analysis; docs/developers/method.md, section 10): a map S of the N + 1 coefficients of each field
 * for one axis at a time, with the exact wave along the others, where a derivative is a factor i k.
 * What the series does without interpolation, which is in the map of each axis, counts once.
 *
 * The exact wave w is multiplied by lambda in a step. With T = S/lambda what n steps add to it is
 * d_n = T^n w - w, of which small values are precise by
 *
 *     d_1 = (S w - lambda w)/lambda,    d_(m+n) = d_n + T^n d_m,
 *
 * for powers T^n by squaring.
 *
 * A half step of a scheme of two levels is a half of the map: its unknowns are those of both grids.
 * They are scaled by BALANCE^j to keep norms small. */
#include "bloch.h"

#include <complex.h>

#include "src/solve/methods.h"

#define BALANCE 0.25

enum { NODE = HT_MAX_ORDER + 1, CELL = 2 * NODE };

typedef double complex number;

/* Without the tests of C for infinite values. */
static inline number times(number a, number b) {
    return ht_complex(creal(a) * creal(b) - cimag(a) * cimag(b),
                      creal(a) * cimag(b) + cimag(a) * creal(b));
}

/* A term of (dt/2) L: cell[row] += value D^derivative cell[col] along the axis. */
struct factor {
    int row, col, derivative;
    number value;
};

/* The map of an axis, or, with axis -1, of the exact wave along all. */
struct map {
    const struct ht_problem *problem;
    bool two_level;
    int axis, n, t; /* coefficients of a field at a node, in a cell */
    int size;       /* unknowns */
    number matrix[CELL][NODE];
    number lambda, early;            /* of the exact wave: a step; half a step before */
    double size_of[HT_MAX_FIELDS];   /* of the amplitudes */
    number amplitude[HT_MAX_FIELDS]; /* in these units */
    int nfactors;
    struct factor factor[HT_MAX_TERMS];
    number b[CELL][HT_MAX_FIELDS], w[CELL][HT_MAX_FIELDS];
};

/* ---- the map ---- */

/* Amplitudes of the fields in units of their size, and the frequency. wave: of
 * ht_equations_plane; 0: the fastest. */
static double fill_wave(struct map *s, int wave, const double k[3]) {
    const struct ht_equations *eq = s->problem->eq;
    double real[HT_MAX_FIELDS] = {0}, imaginary[HT_MAX_FIELDS] = {0}, omega;
    (void)ht_equations_plane(eq, s->problem->uniform, k, wave > 0 ? wave : 1, real, imaginary,
                             &omega);
    for (int f = 0; f < eq->nfields; f++) {
        const double size = hypot(real[f], imaginary[f]);
        s->size_of[f] = size > 0 ? size : 1;
        s->amplitude[f] = ht_complex(real[f], imaginary[f]) / s->size_of[f];
    }
    return omega;
}

static void fill_factors(struct map *s, const double k[3]) {
    const struct ht_equations *eq = s->problem->eq;
    s->nfactors = 0;
    HT_EACH(const struct ht_term, term, eq->term, eq->nterms) {
        const bool along = term->axis == s->axis && term->derivative > 0;
        number value =
            term->coef * s->problem->dt / 2 * s->size_of[term->col] / s->size_of[term->row];
        if (term->material >= 0) value *= s->problem->uniform[term->material];
        for (int n = 0; n < term->derivative; n++)
            value *= along ? 1 / (BALANCE * s->problem->grid->h[term->axis])
                           : ht_complex(0, k[term->axis]);
        s->factor[s->nfactors++] =
            (struct factor){term->row, term->col, along ? term->derivative : 0, value};
    }
}

static void fill_matrix(struct map *s, double theta) {
    double h[CELL * CELL];
    const number turn = ht_complex(cos(theta / 2), sin(theta / 2));
    s->matrix[0][0] = 1;
    if (s->axis < 0) return;
    ht_hermite_matrix(s->problem->grid->order, h);
    for (int j = 0; j < s->t; j++)
        for (int i = 0; i < s->n; i++)
            s->matrix[j][i] = (h[j * s->t + i] * conj(turn) + h[j * s->t + s->n + i] * turn) *
                              pow(BALANCE, j - i);
}

/* out: the fields stored on the other grid, one after the other; for a two-level scheme on entry
 * their values one step earlier. */
static void half_step(struct map *s, enum ht_subgrid from, const number *in, number *out) {
    const int fields = s->problem->eq->nfields, sign = s->problem->old_sign;
    memset(s->b, 0, sizeof s->b);
    HT_EACH_STORED(f, s->problem, from) {
        for (int j = 0; j < s->t; j++)
            for (int i = 0; i < s->n; i++) s->b[j][f] += times(s->matrix[j][i], in[i]);
        in += s->n;
    }
    memcpy(s->w, s->b, sizeof s->w);
    for (int stage = s->problem->stages; stage >= 1; stage--)
        for (int j = 0; j < s->t; j++) {
            /* w[j] = b[j] + (1/stage) (dt/2) L w. Derivatives read entries after j, which have
             * their values of the stage before. */
            const size_t bytes = (size_t)fields * sizeof(number);
            number sum[HT_MAX_FIELDS];
            memcpy(sum, s->b[j], bytes);
            HT_EACH(const struct factor, x, s->factor, s->nfactors) {
                const int at = j + x->derivative;
                double scale = 1.0 / stage;
                if (at >= s->t) continue;
                for (int n = j + 1; n <= at; n++) scale *= n;
                sum[x->row] += times(scale * x->value, s->w[at][x->col]);
            }
            memcpy(s->w[j], sum, bytes);
        }
    HT_EACH_STORED(f, s->problem, from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY) {
        for (int i = 0; i < s->n; i++)
            out[i] = sign == 0 ? s->w[i][f] : sign * out[i] + 2 * s->w[i][f];
        out += s->n;
    }
}

/* y = S x */
static void step(struct map *s, const number *x, number *y) {
    const int split = s->n * ht_problem_stored(s->problem, HT_PRIMARY);
    if (!s->two_level) {
        half_step(s, HT_PRIMARY, x, y);
        return;
    }
    memcpy(y, x, (size_t)s->size * sizeof *x);
    half_step(s, HT_PRIMARY, y, y + split);
    half_step(s, HT_DUAL, y + split, y);
}

/* The exact wave: what a grid stores, times `phase`. */
static number *put_wave(const struct map *s, enum ht_subgrid subgrid, double theta, number phase,
                        number *out) {
    HT_EACH_STORED(f, s->problem, subgrid) {
        number jet = s->amplitude[f] * phase;
        for (int i = 0; i < s->n; i++) {
            *out++ = jet;
            jet *= ht_complex(0, BALANCE * theta / (i + 1));
        }
    }
    return out;
}

/* ---- many steps ---- */

/* matrix: T; change: d_1 */
static void fill_step(struct map *s, double theta, number *matrix, number *change, number *wave,
                      number *unit) {
    const int n = s->size;
    number *dual = put_wave(s, HT_PRIMARY, theta, 1, wave);
    if (s->two_level) (void)put_wave(s, HT_DUAL, theta, s->early, dual);
    for (int c = 0; c < n; c++) {
        for (int r = 0; r < n; r++) unit[r] = r == c;
        step(s, unit, change);
        for (int r = 0; r < n; r++) matrix[r * n + c] = times(change[r], conj(s->lambda));
    }
    step(s, wave, change);
    for (int r = 0; r < n; r++)
        change[r] = times(change[r] - times(s->lambda, wave[r]), conj(s->lambda));
}

/* y += A x, of so many columns */
static void add_product(int n, const number *a, int columns, const number *x, number *y) {
    for (int r = 0; r < n; r++)
        for (int k = 0; k < n; k++)
            for (int c = 0; c < columns; c++)
                y[r * columns + c] += times(a[r * n + k], x[k * columns + c]);
}

/* change becomes d_steps. matrix and power, of n rows, and sum, of 2 n values, are overwritten. */
static void take_steps(int n, int64_t steps, number *matrix, number *power, number *change,
                       number *sum) {
    number *next = sum + n;
    const size_t bytes = (size_t)n * sizeof *sum;
    memset(sum, 0, bytes);
    for (; steps > 0; steps /= 2) {
        if (steps % 2 == 1) { /* sum: d_m, matrix: T^l, change: d_l */
            memcpy(next, change, bytes);
            add_product(n, matrix, 1, sum, next);
            memcpy(sum, next, bytes);
        }
        memcpy(next, change, bytes);
        add_product(n, matrix, 1, change, next);
        memcpy(change, next, bytes);
        memset(power, 0, (size_t)(n * n) * sizeof *power);
        add_product(n, matrix, n, matrix, power);
        number *old = matrix;
        matrix = power;
        power = old;
    }
    memcpy(change, sum, bytes);
}

/* What all steps add to the fields of the primary grid by the map of an axis. */
static HT_ERR change_axis(struct map *s, double steps, const double k[3], int axis, number *out) {
    s->axis = axis;
    s->n = axis < 0 ? 1 : s->problem->grid->order + 1;
    s->t = axis < 0 ? 1 : 2 * s->n;
    s->size = s->n * (ht_problem_stored(s->problem, HT_PRIMARY) +
                      (s->two_level ? ht_problem_stored(s->problem, HT_DUAL) : 0));
    const int64_t n = s->size;
    const double theta = axis < 0 ? 0 : k[axis] * s->problem->grid->h[axis];
    fill_factors(s, k);
    fill_matrix(s, theta);
    HT_ARRAY(number, room, 2 * n * n + 3 * n);
    number *power = room + n * n, *change = power + n * n, *sum = change + n;
    fill_step(s, theta, room, change, sum, sum + n);
    take_steps(s->size, (int64_t)steps * (s->two_level ? 1 : 2), room, power, change, sum);
    HT_EACH_STORED(f, s->problem, HT_PRIMARY) {
        out[f] = *change;
        change += s->n;
    }
    return HT_OK;
}

/* Of a field without amplitude what is added sums up. */
static void add_change(const struct map *s, const number *base, const number *axis, number *out) {
    for (int f = 0; f < s->problem->eq->nfields; f++) {
        const number a = s->amplitude[f], more = axis[f] - base[f];
        out[f] += a == 0 ? more : more * (a + out[f]) / (a + base[f]);
    }
}

/* Nodal amplitudes at the end of the fields stored on the primary grid, as factors of exp(i k.x):
 * of the wave and of the error. */
struct amplitudes {
    number exact[HT_MAX_FIELDS], error[HT_MAX_FIELDS];
};

static HT_ERR find(const struct ht_problem *problem, double steps, int wave, const double k[3],
                   struct amplitudes *out) {
    *out = (struct amplitudes){{0}, {0}};
    HT_ARRAY(struct map, s, 1);
    s->problem = problem;
    s->two_level = s->problem->scheme->two_level;
    const double omega = fill_wave(s, wave, k);
    const double angle = omega * problem->dt / (s->two_level ? 1 : 2);
    const double end = fmod(omega * problem->dt * steps, 2 * acos(-1.0));
    const number turned = ht_complex(cos(end), -sin(end));
    s->lambda = ht_complex(cos(angle), -sin(angle));
    s->early = ht_complex(cos(angle / 2), sin(angle / 2));
    number base[HT_MAX_FIELDS] = {0}, axis[HT_MAX_FIELDS] = {0};
    for (int j = 0, count = 0; j < s->problem->grid->dims; j++) {
        if (k[j] == 0) continue;
        if (count == 1) TRY(change_axis(s, steps, k, -1, base));
        TRY(change_axis(s, steps, k, j, count == 0 ? out->error : axis));
        if (count++ > 0) add_change(s, base, axis, out->error);
    }
    HT_EACH_STORED(f, s->problem, HT_PRIMARY) {
        out->exact[f] = s->size_of[f] * times(turned, s->amplitude[f]);
        out->error[f] = s->size_of[f] * times(turned, out->error[f]);
    }
    return HT_OK;
}

HT_ERR ht_bloch_error(const struct ht_problem *of, int axes, double cells, double steps,
                      double *error) {
    const struct ht_equations eq = ht_equations_make(of->eq->system, axes);
    const double h = of->grid->h[0], each = 2 * HT_PI / (cells * h * sqrt(axes));
    const double k[3] = {each, axes > 1 ? each : 0, axes > 2 ? each : 0};
    const struct ht_grid grid = {
        .dims = axes, .order = of->grid->order, .h = {h, h, h}, .cells = {1, 1, 1}};
    struct ht_problem problem = *of;
    struct amplitudes wave;
    double sum = 0, whole = 0;
    problem.eq = &eq;
    problem.grid = &grid;
    (void)ht_problem_set_scheme(&problem, of->scheme);
    TRY(find(&problem, steps, 1, k, &wave));
    for (int f = 0; f < eq.nfields; f++) {
        sum += pow(cabs(wave.error[f]), 2);
        whole += pow(cabs(wave.exact[f]), 2);
    }
    *error = sqrt(sum / whole);
    return HT_OK;
}

/* Contribution of an amplitude z to the mean square over nodes. For a travelling wave |z|^2. For a
 * mode, whose even fields vary as the real part and whose odd fields as the imaginary part, and for
 * a wave in one phase the square of that part. */
static double shown(const struct ht_plan *plan, int field, const double k[3], number z) {
    const struct ht_params *params = plan->params;
    bool standing = params->initial.type == HT_DATA_STANDING;
    double phase = params->initial.phase;
    /* Whether the phase at all nodes is equal modulo pi: it changes by a multiple of pi from each
     * node to the next. */
    bool one_phase = true;
    for (int j = 0; j < 3; j++)
        one_phase = one_phase && !(fabs(sin(k[j] * plan->grid.h[j])) > 1e-6);
    if (!plan->solution->single_wave || (!standing && !one_phase))
        return creal(z) * creal(z) + cimag(z) * cimag(z);
    for (int j = 0; j < 3 && !standing; j++) phase += k[j] * plan->grid.lower[j];
    z *= ht_complex(cos(phase), sin(phase));
    bool odd = standing && plan->eq.field[field].parity != 0;
    return odd ? cimag(z) * cimag(z) : creal(z) * creal(z);
}

/* Materials of a uniform medium: those of the run or, if its medium varies, of a corner. Then the
 * time step is scaled so that their speed corresponds to the slowest speed of the run. */
enum ht_err ht_hermite_wave_error(const struct ht_plan *plan, const double k[3], double *out) {
    struct ht_problem problem = plan->problem;
    struct amplitudes wave;
    double error = 0, whole = 0, all = 0;
    TRY(ht_medium_point(plan->medium, plan->grid.lower, problem.uniform));
    if (!plan->medium->uniform)
        problem.dt *=
            plan->medium->speed_min / ht_equations_speed(&plan->eq, problem.uniform, 0, false);
    TRY(find(&problem, (double)plan->steps, plan->params->initial.wave, k, &wave));
    for (int f = 0; f < plan->eq.nfields; f++) {
        error += shown(plan, f, k, wave.error[f]);
        whole += shown(plan, f, k, wave.exact[f]);
        all += pow(cabs(wave.exact[f]), 2);
    }
    /* otherwise the nodal values are rounding errors only */
    *out = whole > 1e-20 * all ? sqrt(error / whole) : 0;
    return HT_OK;
}
