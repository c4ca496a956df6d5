/* The shapes of sources: G_r of htwave/duhamel.h with all derivatives at a node.
 *
 * For u_tt = c^2 lap u the powers L^j g are those of the Laplacian, with one derivative more or two
 * for the other fields. In units of a cell, with the numbers nu_k = c tau/h_k,
 *     (c tau)^(2l) lap^l = sum over a + b + c = l of
 *         l!/(a! b! c!) (nu_1 d_1)^(2a) (nu_2 d_2)^(2b) (nu_3 d_3)^(2c),
 * so that for a product of functions of each axis lap^l is a convolution of three sequences over a,
 * b and c; and
 *     int_0^tau (tau - th)^j/j! P_r(2 th/tau - 1) dth
 *         = tau^(j+1) (-1)^r j!/((j - r)! (j + r + 1)!),   0 for j < r.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/duhamel.h"

/* Powers of the Laplacian, at most. */
/* MOST_TERMS: derivatives of up to four powers of L of all fields. */
enum { MOST_POWERS = 48, MOST_TERMS = 35 * HT_MAX_FIELDS };
/* Factorials up to j + r + 1. */
enum { FACTORIALS = 2 * MOST_POWERS + 4 + HT_DUHAMEL_TERMS };

/* Waves of two speeds c_1 > c_2 have with s = 1, 2 and (c^2 lap)^l as that of c_1
 *     L^(2l+s) g = (c^2 lap)^l [OWN_l L^s g] + (c^2 lap)^(l-1) [MORE_(l-1) L^(s+2) g],
 * since L^2 is c_1^2 lap or c_2^2 lap on what it makes: OWN_l = (r^l - r)/(1 - r), MORE_l = (1 -
 * r^(l+1))/(1 - r), r = c_2^2/c_1^2. Of one speed L^(2l+s) g = (c^2 lap)^l L^s g. */
enum { ALONE, OWN, MORE, SCALES };

/* factor times the shift-th derivatives of lap^l of the Gaussian, of all l or of 0 alone, for j = 2
 * (l + first) + odd. */
struct term {
    int field, odd, first, shift[3], scale;
    bool single;
    long double factor;
};

/* ---- the series ---- */

static void add_term(struct term *list, int *count, struct term term) {
    if (term.factor != 0) list[(*count)++] = term;
}

static struct term derivative(int field, int odd, int axis, double factor) {
    struct term term = {.field = field, .odd = odd, .factor = factor};
    if (axis >= 0) term.shift[axis]++;
    return term;
}

/* u_t = v, v_t = c^2 lap u. */
static void list_pair(const struct ht_second_order *form, const struct ht_source_vector *v,
                      struct term *list, int *count) {
    const double rate = v->field[form->rate];
    add_term(list, count, derivative(form->field, 1, -1, rate));
    add_term(list, count, derivative(form->rate, 0, -1, rate));
}

/* p_t = sum s_k K d_k f_k, f_k,t = s_k B d_k p. */
static void list_flux(const struct ht_second_order *form, int dims,
                      const struct ht_source_vector *v, struct term *list, int *count) {
    const double K = v->material[form->modulus], B = v->material[form->inverse_density];
    const double p = v->field[form->field];
    add_term(list, count, derivative(form->field, 0, -1, p));
    for (int k = 0; k < dims; k++) {
        const double flux = v->field[form->flux[k]];
        struct term own = derivative(form->flux[k], 0, -1, flux);
        own.single = true;
        add_term(list, count, own);
        add_term(list, count, derivative(form->field, 1, k, form->sign[k] * K * flux));
        add_term(list, count, derivative(form->flux[k], 1, k, form->sign[k] * B * p));
        for (int i = 0; i < dims; i++) {
            const int signs = form->sign[k] * form->sign[i];
            struct term more =
                derivative(form->flux[k], 0, k, signs * K * B * v->field[form->flux[i]]);
            more.shift[i]++;
            more.first = 1;
            add_term(list, count, more);
        }
    }
}

/* ---- any first-order system of waves of one or two speeds ---- */

/* Adds `term`, to one of its field and shift. */
static void merge(struct term *list, int *count, const struct term *term) {
    int i = 0;
    while (i < *count && (list[i].field != term->field ||
                          memcmp(list[i].shift, term->shift, sizeof term->shift) != 0))
        i++;
    if (i == *count)
        list[(*count)++] = *term;
    else
        list[i].factor += term->factor;
}

/* L of a list of derivatives of the Gaussian. */
static int apply(const struct ht_equations *eq, const double *material, int count,
                 const struct term *list, struct term *out) {
    int made = 0;
    for (int i = 0; i < count; i++)
        for (int t = 0; t < eq->nterms; t++) {
            const struct ht_term *by = &eq->term[t];
            struct term term = list[i];
            if (by->col != term.field) continue;
            term.field = by->row;
            term.shift[by->axis]++;
            term.factor *= by->coef * (by->material < 0 ? 1 : material[by->material]);
            merge(out, &made, &term);
        }
    return made;
}

double ht_source_ratio(const struct ht_equations *eq, const double *material) {
    const double k[3] = {1, 0, 0};
    double real[HT_MAX_FIELDS] = {0}, imaginary[HT_MAX_FIELDS] = {0}, omega[2];
    if (eq->second_order.known ||
        !ht_equations_plane(eq, material, k, 1, real, imaginary, &omega[0]) ||
        !ht_equations_plane(eq, material, k, 2, real, imaginary, &omega[1]))
        return 1;
    return omega[1] / omega[0];
}

static void list_waves(const struct ht_equations *eq, const struct ht_source_vector *v,
                       struct term *list, int *count) {
    struct term power[2][MOST_TERMS];
    const bool two = ht_source_ratio(eq, v->material) < 1;
    int made = 0;
    for (int f = 0; f < eq->nfields; f++) {
        power[0][made] = derivative(f, 0, -1, v->field[f]);
        power[0][made].single = true;
        if (v->field[f] != 0) list[(*count)++] = power[0][made++];
    }
    for (int j = 1; j <= (two ? 4 : 2); j++) {
        made = apply(eq, v->material, made, power[(j - 1) % 2], power[j % 2]);
        for (int i = 0; i < made; i++) {
            struct term *term = &power[j % 2][i];
            term->single = false;
            term->odd = j % 2;
            term->first = j / 2;
            term->scale = !two ? ALONE : j <= 2 ? OWN : MORE;
            add_term(list, count, *term);
        }
    }
}

static int list_terms(const struct ht_problem *p, const struct ht_source_vector *v,
                      struct term *list) {
    const struct ht_second_order *form = &p->eq->second_order;
    const long double tau = p->dt / 2;
    int count = 0;
    if (!form->known)
        list_waves(p->eq, v, list, &count);
    else if (form->rate >= 0)
        list_pair(form, v, list, &count);
    else
        list_flux(form, p->eq->dims, v, list, &count);
    for (int n = 0; n < count; n++) {
        struct term *term = &list[n];
        term->factor *= powl(tau, term->odd + 1 + 2 * term->first);
        for (int k = 0; k < p->eq->dims; k++)
            term->factor /= powl(p->grid->h[k], (v->along[k] > 0) + term->shift[k]);
    }
    return count;
}

/* ---- numbers ---- */

/* The least power beyond which a wave of any length adds less than 1e-13:
 * (nu k)^(2m)/(2m)! times the spectrum; nu in radii. */
static int powers_of(const struct ht_source_vector *v, double nu) {
    const double small = 1e-13;
    double part[63]; /* of waves k = (i + 1)/4 */
    for (int i = 0; i < 63; i++)
        part[i] = fmax(1 - ht_flat_missing(v->order, (i + 1) / 4.0), 1e-15);
    for (int m = 1; m < MOST_POWERS; m++) {
        double most = 0;
        for (int i = 0; i < 63; i++) {
            const double x = nu * (i + 1) / 4.0;
            part[i] *= x * x / (2 * m * (2 * m - 1));
            most = fmax(most, part[i]);
        }
        if (most < small) return m;
    }
    return MOST_POWERS;
}

/* What all places have in common, ... */
struct shaping {
    const struct ht_problem *problem;
    const struct ht_source_vector *vector;
    int powers, count, n[3];                /* n: derivatives per axis */
    long double travel[3][MOST_POWERS + 1]; /* nu^(2a)/a! */
    long double inverse[HT_MAX_ORDER + 1];  /* 1/i! */
    long double factorial[FACTORIALS];
    long double scale[SCALES][MOST_POWERS + 1];
};

/* ... and the derivatives of each axis' factor at a distance. */
struct place {
    long double axis[3][HT_FLAT_DERIVATIVES];
};

/* Cells that waves travel in half a step. */
static double courant(const struct ht_problem *p, const struct ht_source_vector *v, int axis) {
    const double speed = ht_equations_speed(p->eq, v->material, 0);
    return axis < p->eq->dims ? speed * p->dt / 2 / p->grid->h[axis] : 0;
}

static int powers_within(const struct ht_problem *p, const struct ht_source_vector *v,
                         double span) {
    double most = 0;
    for (int k = 0; k < p->eq->dims; k++)
        if (v->along[k] > 0) most = fmax(most, span * fabs(courant(p, v, k)) / v->along[k]);
    return powers_of(v, most);
}

/* For so many powers and `more` derivatives beyond those of all powers. */
static void prepare(const struct ht_problem *p, const struct ht_source_vector *v, int powers,
                    int more, struct shaping *s) {
    s->problem = p;
    s->vector = v;
    s->powers = powers;
    s->count = more + 2 * powers + (p->eq->second_order.known ? 2 : 4);
    s->factorial[0] = 1;
    for (int n = 1; n < FACTORIALS; n++) s->factorial[n] = n * s->factorial[n - 1];
    const long double ratio = ht_source_ratio(p->eq, v->material), r = ratio * ratio;
    for (int l = 0; l <= powers; l++) {
        s->scale[ALONE][l] = 1;
        s->scale[OWN][l] = r < 1 ? (powl(r, l) - r) / (1 - r) : 0;
        s->scale[MORE][l] = r < 1 ? (1 - powl(r, l + 1)) / (1 - r) : 0;
    }
    for (int i = 0; i <= HT_MAX_ORDER; i++) s->inverse[i] = 1 / s->factorial[i];
    for (int k = 0; k < 3; k++) {
        const long double nu = courant(p, v, k);
        s->n[k] = k < p->eq->dims ? p->grid->order + 1 : 1;
        s->travel[k][0] = 1;
        for (int a = 1; a <= powers; a++) s->travel[k][a] = s->travel[k][a - 1] * nu * nu / a;
    }
}

/* Derivatives of the Gaussians. */
static void find_place(const struct shaping *s, const long double distance[3],
                       struct place *place) {
    const struct ht_source_vector *v = s->vector;
    memset(place, 0, sizeof *place);
    for (int k = 0; k < s->problem->eq->dims; k++) {
        const double radius = v->along[k];
        long double *out = place->axis[k], power = 1;
        out[0] = 1;
        if (!(radius > 0)) continue;
        ht_flat_derivatives(v->order, distance[k] / radius, s->count, out);
        for (int n = 0; n < s->count; n++) {
            power /= radius;
            out[n] *= power;
        }
    }
}

/* The sequence of an axis over a, of the i-th coefficient. */
static void sequence(const struct shaping *s, const struct place *place, int axis, int i, int shift,
                     int powers, long double *out) {
    if (axis >= s->problem->eq->dims) {
        memset(out, 0, (size_t)(powers + 1) * sizeof *out);
        out[0] = 1;
        return;
    }
    const long double *derivative = place->axis[axis] + i + shift;
    for (int a = 0; a <= powers; a++)
        out[a] = s->inverse[i] * s->travel[axis][a] * derivative[(ptrdiff_t)2 * a];
}

static void convolve(int powers, const long double *a, const long double *b, long double *out) {
    for (int l = 0; l <= powers; l++) {
        long double sum = 0;
        for (int m = 0; m <= l; m++) sum += a[m] * b[l - m];
        out[l] = sum;
    }
}

/* ---- one vector ---- */

struct ht_source_shaper {
    struct shaping s;
    enum ht_subgrid to;
    int terms, coefs, count;
    struct term list[MOST_TERMS];
    /* [first][odd][r][l]: l! times the integral of P_r for j = 2 (l + first) + odd, over tau^(j+1);
     * 0 for j < r. */
    long double weight[3][2][HT_DUHAMEL_TERMS][MOST_POWERS + 1];
};

static void make_weights(struct ht_source_shaper *m, int first, int odd) {
    const long double *f = m->s.factorial;
    for (int r = 0; r < m->terms; r++)
        for (int l = 0; l <= m->s.powers; l++) {
            const int j = 2 * (l + first) + odd;
            m->weight[first][odd][r][l] =
                j < r ? 0 : (r % 2 ? -1 : 1) * f[l] * f[j] / (f[j - r] * f[j + r + 1]);
        }
}

enum ht_err ht_source_shaper_create(const struct ht_problem *problem, enum ht_subgrid to,
                                    const struct ht_source_vector *vector,
                                    struct ht_source_shaper **out) {
    struct ht_source_shaper *m;
    *out = NULL;
    TRY(HT_ALLOC(m, 1));
    m->to = to;
    m->terms = problem->duhamel->terms;
    m->coefs = ht_grid_coefs(problem->grid);
    m->count = list_terms(problem, vector, m->list);
    prepare(problem, vector, powers_within(problem, vector, 1), problem->grid->order + 1, &m->s);
    for (int i = 0; i < 6; i++) make_weights(m, i / 2, i % 2);
    *out = m;
    return HT_OK;
}

void ht_source_shaper_destroy(struct ht_source_shaper *shaper) {
    free(shaper);
}

/* Adds one coefficient of a term to out[r]. */
static void add_terms(const struct ht_source_shaper *m, const struct term *term, int powers,
                      const long double *all, double *out) {
    for (int r = 0; r < m->terms; r++) {
        const long double *w = m->weight[term->first][term->odd][r];
        const long double *scale = m->s.scale[term->scale];
        const int from = (r - term->odd + 1) / 2 - term->first; /* j >= r */
        long double sum = 0;
        for (int l = from > 0 ? from : 0; l <= powers; l++) sum += w[l] * scale[l] * all[l];
        out[(ptrdiff_t)r * m->coefs] += (double)(term->factor * sum);
    }
}

/* Adds a term to out[r][coefficient]. */
static void add_shape(const struct ht_source_shaper *m, const struct place *place,
                      const struct term *term, double *out) {
    const struct shaping *s = &m->s;
    const int powers = term->single ? 0 : s->powers;
    long double a[HT_MAX_ORDER + 1][MOST_POWERS + 1], b[MOST_POWERS + 1], c[MOST_POWERS + 1],
        lower[MOST_POWERS + 1], all[MOST_POWERS + 1];
    for (int i1 = 0; i1 < s->n[0]; i1++) sequence(s, place, 0, i1, term->shift[0], powers, a[i1]);
    for (int i3 = 0; i3 < s->n[2]; i3++) {
        sequence(s, place, 2, i3, term->shift[2], powers, c);
        for (int i2 = 0; i2 < s->n[1]; i2++) {
            sequence(s, place, 1, i2, term->shift[1], powers, b);
            convolve(powers, b, c, lower);
            for (int i1 = 0; i1 < s->n[0]; i1++) {
                convolve(powers, a[i1], lower, all);
                add_terms(m, term, powers, all, out++);
            }
        }
    }
}

void ht_source_shaper_apply(const struct ht_source_shaper *shaper, const long double distance[3],
                            double *out) {
    const struct ht_problem *p = shaper->s.problem;
    struct place place;
    find_place(&shaper->s, distance, &place);
    for (int f = 0; f < p->eq->nfields; f++) {
        if (!ht_problem_stores(p, shaper->to, f)) continue;
        memset(out, 0, (size_t)(shaper->terms * shaper->coefs) * sizeof *out);
        for (int n = 0; n < shaper->count; n++)
            if (shaper->list[n].field == f) add_shape(shaper, &place, &shaper->list[n], out);
        out += (int64_t)shaper->terms * shaper->coefs;
    }
}

/* ---- powers at a place ---- */

int ht_source_last_power(const struct ht_problem *problem, const struct ht_source_vector *vector,
                         double span) {
    return 2 * powers_within(problem, vector, span) + 1;
}

void ht_source_powers(const struct ht_problem *problem, const struct ht_source_vector *vector,
                      const long double distance[3], int field, int slope, int last, double *out) {
    long double a[3][MOST_POWERS + 1], lower[MOST_POWERS + 1], all[MOST_POWERS + 1] = {0};
    const int powers = (int)ht_least(last / 2, MOST_POWERS);
    struct term list[MOST_TERMS];
    struct shaping s;
    struct place place;
    const int count = list_terms(problem, vector, list);
    prepare(problem, vector, powers, 2, &s);
    find_place(&s, distance, &place);
    for (int n = 0; n < count; n++) {
        const struct term *term = &list[n];
        if (term->field != field) continue;
        for (int k = 0; k < 3; k++)
            sequence(&s, &place, k, 0, term->shift[k] + (k == slope), powers, a[k]);
        convolve(powers, a[1], a[2], lower);
        convolve(powers, a[0], lower, all);
        for (int l = 0; l <= (term->single ? 0 : powers); l++) {
            const int j = 2 * (l + term->first) + term->odd;
            if (j > last) break;
            out[j] += (double)(term->factor * s.factorial[l] * s.scale[term->scale][l] * all[l] /
                               (slope < 0 ? 1 : problem->grid->h[slope]));
        }
    }
}
