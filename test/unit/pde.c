/* Every row of the table of systems: what the terms decide against the symbol of the equations: the
 * energy, which makes the operator skew; the largest speeds; plane waves, standing modes and the
 * leapfrog form as solutions; the jets of the materials; the options of the parameters. Rows that
 * contradict their terms are refused.
 *
 * For u = a exp(i k.x) the equations are a_t = L(k) a,
 *     L_rc = sum over terms of coef M (i k_axis)^derivative.
 * Numbers are judged relative to the largest entries that enter; each is made of some ten
 * operations. */
#include <complex.h>

#include "../test.h"
#include "htwave/params.h"
#include "htwave/system.h"

/* Rounding of some ten operations, with a margin. */
static const double rounding = 100 * DBL_EPSILON;

enum { DRAWS = 4, MOST_FIELDS = HT_MAX_FIELDS };
typedef double complex matrix[MOST_FIELDS][MOST_FIELDS];

/* One system in some dimensions, with a medium and a wave vector. */
struct sample {
    struct ht_equations eq;
    double material[HT_MAX_MATERIALS];
    double k[3];
    matrix symbol; /* L(k) */
};

static double uniform(double low, double high) {
    static uint64_t index;
    double half = ht_rng_uniform(29, index++); /* -1..1 */
    return low + (high - low) * (half + 1) / 2;
}

/* ---- the medium ---- */

/* Materials of parameters drawn at random, `chosen` alternatives. */
static bool draw_materials(const struct ht_system *system, const int *chosen, double *material) {
    struct ht_jets *jets = NULL;
    double value[HT_MAX_MATERIALS] = {0};
    const double *in[HT_MAX_MATERIALS] = {0};
    double *out[HT_MAX_MATERIALS] = {0};
    if (ht_jets_make(1, 0, true, &jets) != HT_OK) return false;
    for (int p = 0; p < system->nparameters; p++) {
        value[p] = uniform(0.5, 2);
        if (!system->parameter[p].positive) value[p] -= 1.2;
        if (system->parameter[p].loss) value[p] = system->parameter[p].fallback;
        in[p] = &value[p];
    }
    for (int m = 0; m < system->nmaterials; m++) out[m] = &material[m];
    bool good = true;
    system->materials(jets, chosen, in, out);
    ht_jets_destroy(jets);
    for (int m = 0; m < system->nmaterials - system->nlost; m++)
        good = good && isfinite(material[m]) && (material[m] > 0 || !system->material[m].positive);
    return good;
}

static double polynomial(const struct ht_jets *jets, const double *jet, const double xi[2]) {
    double sum = 0;
    for (int n = 0; n < jets->count; n++)
        sum += jet[n] * pow(xi[0], jets->index[n][0]) * pow(xi[1], jets->index[n][1]);
    return sum;
}

/* Materials of parameters that are polynomials in two variables: their jets, summed up near the
 * node, against the materials of the parameters there. What the jets leave out is of the order
 * size^(degree + 1) there. */
static double jets_difference(const struct ht_system *system, const int *chosen) {
    enum { DEGREE = 6, COEFS = 28 };
    static double in[HT_MAX_MATERIALS][COEFS], out[HT_MAX_MATERIALS][COEFS];
    const double *from[HT_MAX_MATERIALS] = {0}, *value[HT_MAX_MATERIALS] = {0};
    double *to[HT_MAX_MATERIALS] = {0}, *single[HT_MAX_MATERIALS] = {0};
    double at[HT_MAX_MATERIALS] = {0}, expected[HT_MAX_MATERIALS] = {0};
    double worst = 0;
    const double xi[2] = {0.003, -0.002};
    struct ht_jets *jets = NULL, *scalar = NULL;
    if (ht_jets_make(2, DEGREE, true, &jets) || ht_jets_make(1, 0, true, &scalar)) return NAN;
    for (int p = 0; p < system->nparameters; p++) {
        const struct ht_parameter *of = &system->parameter[p];
        for (int n = 0; n < jets->count; n++) in[p][n] = n ? uniform(-0.5, 0.5) : uniform(1, 2);
        for (int n = 0; of->loss && n < jets->count; n++) in[p][n] = n ? 0 : of->fallback;
        at[p] = polynomial(jets, in[p], xi);
        from[p] = in[p];
        value[p] = &at[p];
    }
    for (int m = 0; m < system->nmaterials; m++) {
        to[m] = out[m];
        single[m] = &expected[m];
    }
    if (jets->count != COEFS)
        worst = NAN;
    else
        system->materials(jets, chosen, from, to);
    system->materials(scalar, chosen, value, single);
    for (int m = 0; m < system->nmaterials - system->nlost; m++)
        worst =
            test_worse(worst, fabs(polynomial(jets, out[m], xi) - expected[m]) / fabs(expected[m]));
    ht_jets_destroy(jets);
    ht_jets_destroy(scalar);
    return worst;
}

/* ---- the symbol ---- */

static double complex power(double complex base, int exponent) {
    double complex out = 1;
    while (exponent-- > 0) out *= base;
    return out;
}

static void make_symbol(struct sample *s) {
    memset(s->symbol, 0, sizeof s->symbol);
    for (int t = 0; t < s->eq.nterms; t++) {
        const struct ht_term *term = &s->eq.term[t];
        double m = term->material < 0 ? 1 : s->material[term->material];
        s->symbol[term->row][term->col] +=
            term->coef * m * power(I * s->k[term->axis], term->derivative);
    }
}

static bool make_sample(const struct ht_system *system, int dims, struct sample *s) {
    const int chosen[HT_MAX_MATERIALS] = {0};
    *s = (struct sample){.eq = ht_equations_make(system, dims)};
    for (int k = 0; k < dims; k++) s->k[k] = uniform(-3, 3);
    bool good = draw_materials(system, chosen, s->material);
    make_symbol(s);
    return good;
}

static double largest(const struct sample *s) {
    double most = 0;
    for (int r = 0; r < s->eq.nfields; r++)
        for (int c = 0; c < s->eq.nfields; c++) most = test_worse(most, cabs(s->symbol[r][c]));
    return most;
}

/* ---- energy ---- */

/* C of the energy 1/2 a^* C^-1 a of a wave. */
static void make_energy(const struct sample *s, matrix C) {
    double square = 0;
    memset(C, 0, sizeof(matrix));
    for (int k = 0; k < s->eq.dims; k++) square += s->k[k] * s->k[k];
    for (int t = 0; t < s->eq.nenergy; t++) {
        const struct ht_energy_term *term = &s->eq.energy[t];
        const double m = term->material < 0 ? 1 : s->material[term->material];
        C[term->field][term->other] = C[term->other][term->field] = term->gradient ? m / square : m;
    }
}

/* L C + (L C)^* over the largest entry of L C: 0 exactly where the energy of every wave stays. */
static double energy_change(const struct sample *s) {
    matrix C, product;
    double change = 0, size = 0;
    make_energy(s, C);
    for (int r = 0; r < s->eq.nfields; r++)
        for (int c = 0; c < s->eq.nfields; c++) {
            product[r][c] = 0;
            for (int n = 0; n < s->eq.nfields; n++) product[r][c] += s->symbol[r][n] * C[n][c];
            size = test_worse(size, cabs(product[r][c]));
        }
    for (int r = 0; r < s->eq.nfields; r++)
        for (int c = 0; c < s->eq.nfields; c++)
            change = test_worse(change, cabs(product[r][c] + conj(product[c][r])));
    return size > 0 ? change / size : INFINITY;
}

/* ---- speeds ---- */

static double vector_norm(const double complex *a, int count) {
    double sum = 0;
    for (int n = 0; n < count; n++) sum += creal(a[n] * conj(a[n]));
    return sqrt(sum);
}

static void apply(const struct sample *s, const double complex *in, double complex *out) {
    for (int r = 0; r < s->eq.nfields; r++) {
        out[r] = 0;
        for (int c = 0; c < s->eq.nfields; c++) out[r] += s->symbol[r][c] * in[c];
    }
}

/* The largest frequency of waves along an axis with |k| = 1 by iteration: L has imaginary
 * eigenvalues, so |L^2 a|/|a| grows to the square of the largest. */
static double speed_difference(const struct ht_system *system, int dims, int axis) {
    enum { TIMES = 4000 }; /* speeds of two waves may be near each other */
    struct sample s;
    double complex a[MOST_FIELDS], b[MOST_FIELDS];
    double found = 0;
    if (!make_sample(system, dims, &s)) return NAN;
    for (int k = 0; k < 3; k++) s.k[k] = k == axis;
    make_symbol(&s);
    for (int f = 0; f < s.eq.nfields; f++) a[f] = uniform(0.1, 1) + I * uniform(0.1, 1);
    for (int n = 0; n < TIMES; n++) {
        const double before = vector_norm(a, s.eq.nfields);
        apply(&s, a, b);
        apply(&s, b, a);
        const double after = vector_norm(a, s.eq.nfields);
        found = sqrt(after / before);
        for (int f = 0; f < s.eq.nfields; f++) a[f] /= after;
    }
    const double claimed = ht_equations_speed(&s.eq, s.material, axis, false);
    return fabs(found - claimed) / claimed;
}

/* ---- solutions ---- */

/* L a + i omega a over |L| |a| of a wave (ht_equations_plane); -1: there is none. */
static double plane_residual(const struct sample *s, int wave) {
    double re[MOST_FIELDS] = {0}, im[MOST_FIELDS] = {0}, omega = 0, worst = 0, size = 0;
    if (!ht_equations_plane(&s->eq, s->material, s->k, wave, re, im, &omega)) return -1;
    for (int r = 0; r < s->eq.nfields; r++) {
        double complex sum = I * omega * (re[r] + I * im[r]);
        size = test_worse(size, hypot(re[r], im[r]));
        for (int c = 0; c < s->eq.nfields; c++) sum += s->symbol[r][c] * (re[c] + I * im[c]);
        worst = test_worse(worst, cabs(sum));
    }
    return worst / (size * largest(s));
}

/* What D of a term makes of a standing field's factor along its axis, over the factor of the term's
 * row: cos' = -k sin, sin' = k cos. */
static double standing_factor(const struct sample *s, const struct ht_term *t, const int *factor) {
    double k = s->k[t->axis], out = 1;
    bool even = ht_wall_sign(&s->eq, t->col, t->axis, factor[t->axis]) > 0;
    for (int n = 0; n < t->derivative; n++, even = !even) out *= even ? -k : k;
    return out;
}

/* The residual of u_t = L u in cos and in sin, over |L| |u|. */
static double standing_residual(struct sample *s, const int *factor) {
    double c[MOST_FIELDS] = {0}, d[MOST_FIELDS] = {0}, omega = 0, worst = 0, size = 0;
    double of_cos[MOST_FIELDS] = {0}, of_sin[MOST_FIELDS] = {0};
    for (int k = 0; k < s->eq.dims; k++) s->k[k] = fabs(s->k[k]);
    if (!ht_equations_standing(&s->eq, s->material, s->k, factor, c, d, &omega)) return 0;
    for (int t = 0; t < s->eq.nterms; t++) {
        const struct ht_term *term = &s->eq.term[t];
        double m = term->material < 0 ? 1 : s->material[term->material];
        double by = term->coef * m * standing_factor(s, term, factor);
        of_cos[term->row] += by * c[term->col];
        of_sin[term->row] += by * d[term->col];
    }
    for (int r = 0; r < s->eq.nfields; r++) {
        worst = test_worse(worst, fabs(omega * d[r] - of_cos[r]));
        worst = test_worse(worst, fabs(-omega * c[r] - of_sin[r]));
        size = test_worse(size, test_worse(fabs(c[r]), fabs(d[r])));
    }
    return worst / (size * largest(s));
}

/* ---- leapfrog ---- */

/* Entries that violate the leapfrog form. old_sign 1: the groups only change each other. old_sign
 * -1: even powers of L map the stored fields to themselves only. */
static double leapfrog_leak(const struct sample *s) {
    const struct ht_leapfrog *leapfrog = &s->eq.leapfrog;
    const unsigned *stored = leapfrog->stored;
    double leak = 0;
    for (int r = 0; r < s->eq.nfields; r++)
        for (int c = 0; c < s->eq.nfields; c++) {
            bool row = stored[0] >> r & 1u, col = stored[0] >> c & 1u;
            double complex square = 0;
            for (int n = 0; n < s->eq.nfields; n++) square += s->symbol[r][n] * s->symbol[n][c];
            if (leapfrog->old_sign > 0 && row == col)
                leak = test_worse(leak, cabs(s->symbol[r][c]));
            if (leapfrog->old_sign < 0 && row && !col) leak = test_worse(leak, cabs(square));
        }
    return leak;
}

static bool groups_fit(const struct ht_equations *eq) {
    const struct ht_leapfrog *leapfrog = &eq->leapfrog;
    unsigned all = eq->nfields == 32 ? ~0u : (1u << eq->nfields) - 1;
    unsigned one = leapfrog->stored[0], other = leapfrog->stored[1];
    if (leapfrog->old_sign > 0) return (one & other) == 0 && (one | other) == all;
    return leapfrog->old_sign == -1 && one == other && one != 0 && (one & ~all) == 0;
}

/* ---- entries ---- */

static bool is_name(const char *name, size_t longest) {
    if (!name || !isalpha((unsigned char)*name) || strlen(name) > longest) return false;
    while (isalnum((unsigned char)*name) || *name == '_') name++;
    return *name == '\0';
}

static int wrong_names(const struct ht_system *system) {
    int wrong = !is_name(system->name, 15) || !system->title || !system->equations;
    for (int f = 0; f < system->nfields; f++) {
        const char *name = system->field[f].name, *meaning = system->field[f].meaning;
        wrong += !is_name(name, 15) || !meaning || !*meaning;
        for (int g = 0; g < f; g++) wrong += strcmp(name, system->field[g].name) == 0;
    }
    for (int m = 0; m < system->nmaterials; m++)
        wrong += !system->material[m].name || !system->material[m].meaning;
    for (int w = 0; w < system->nwalls; w++) wrong += !is_name(system->wall[w].name, 15);
    return wrong;
}

static int entries(const char *list) {
    char entry[64];
    int count = 0;
    while (list && ht_alternative(list, count, entry, sizeof entry)) count++;
    return count;
}

/* Names, meanings and units belong together, and options are made of them. */
static int wrong_parameters(const struct ht_system *system) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    int wrong = ht_params_read(NULL, 0, NULL, &params) != HT_OK;
    for (int p = 0; p < system->nparameters && params; p++) {
        const struct ht_parameter *row = &system->parameter[p];
        int count = entries(row->names);
        wrong += count < 1 || entries(row->meanings) != count || entries(row->units) != count ||
                 (row->positive && !(row->fallback > 0) && !(row->loss && row->zero));
        for (int i = 0; i < count; i++) {
            char name[24];
            ht_alternative(row->names, i, name, sizeof name);
            wrong += !is_name(name, 20);
            const struct ht_medium_given *given =
                ht_params_medium(params, row->vector ? row->vector : name);
            wrong += !given;
            if (given && row->vector)
                wrong += row->axis < 0 || row->axis > 2 || count != 1 ||
                         given->vector[row->axis] != row->fallback;
        }
    }
    return wrong;
}

/* ---- all rows ---- */

static void check_medium(const struct ht_system *system) {
    int chosen[HT_MAX_MATERIALS] = {0}, count = 1;
    double worst = 0, material[HT_MAX_MATERIALS];
    bool good = true;
    for (int p = 0; p < system->nparameters; p++)
        count = entries(system->parameter[p].names) > count ? entries(system->parameter[p].names)
                                                            : count;
    for (int a = 0; a < count; a++) {
        for (int p = 0; p < system->nparameters; p++) {
            const int alternatives = entries(system->parameter[p].names);
            chosen[p] = alternatives > 0 ? a % alternatives : 0;
        }
        good = good && draw_materials(system, chosen, material);
        worst = test_worse(worst, jets_difference(system, chosen));
    }
    TEST_CHECK(good, "%s: materials of %d alternatives are finite, positive", system->name, count);
    /* (0.5 (0.003 + 0.002))^7 = 2e-18, times the sums of products. */
    TEST_BELOW(worst, 1e-14, "%s: jets of materials against their values", system->name);
}

static void check_energy(const struct ht_system *system, int dims) {
    double change = 0, speed = 0;
    struct sample s;
    for (int n = 0; n < DRAWS; n++) {
        bool good = make_sample(system, dims, &s);
        change = test_worse(change, good ? energy_change(&s) : NAN);
        for (int axis = 0; axis < dims; axis++)
            speed = test_worse(speed, speed_difference(system, dims, axis));
    }
    TEST_BELOW(change, rounding, "%s in %d-D: change of the energy", system->name, dims);
    TEST_BELOW(speed, rounding, "%s in %d-D: speeds against the symbol", system->name, dims);
}

static void check_solutions(const struct ht_system *system, int dims) {
    double plane = 0, standing = 0, leak = 0;
    struct sample s;
    int waves = 0;
    for (int n = 0; n < DRAWS; n++) {
        if (!make_sample(system, dims, &s)) plane = NAN;
        for (int wave = 1; plane_residual(&s, wave) >= 0; wave++) {
            plane = test_worse(plane, plane_residual(&s, wave));
            waves = wave > waves ? wave : waves;
        }
        leak = test_worse(leak, leapfrog_leak(&s));
        for (int walls = 0; walls < 1 << dims && system->nwalls > 0; walls++) {
            int factor[3] = {1, 1, 1};
            for (int k = 0; k < dims; k++) factor[k] = walls >> k & 1 ? -1 : 1;
            standing = test_worse(standing, standing_residual(&s, factor));
        }
    }
    TEST_BELOW(plane, rounding, "%s in %d-D: residual of plane waves of %d kinds", system->name,
               dims, waves);
    TEST_BELOW(standing, rounding, "%s in %d-D: residual of modes", system->name, dims);
    if (s.eq.leapfrog.old_sign == 0) return;
    TEST_BELOW(leak, 0, "%s in %d-D: what leapfrog leaves out", system->name, dims);
    TEST_CHECK(groups_fit(&s.eq), "%s in %d-D: leapfrog's fields %x and %x", system->name, dims,
               s.eq.leapfrog.stored[0], s.eq.leapfrog.stored[1]);
}

static void check_row(const struct ht_system *system) {
    const enum ht_err err = ht_system_check(system);
    TEST_CHECK(err == HT_OK && wrong_names(system) == 0, "%s: %s", system->name,
               err == HT_OK ? "names" : ht_err_message());
    if (err != HT_OK) return;
    check_medium(system);
    for (int dims = 1; dims <= ht_system_largest(system); dims++) {
        check_energy(system, dims);
        check_solutions(system, dims);
    }
}

/* No two systems share a name, no two options a key, and a parameter has one meaning as a vector or
 * a number. */
static void check_table(void) {
    int same = 0, vectors = 0;
    for (int i = 0; i < ht_system_count(); i++)
        same += ht_system_find(ht_system_at(i)->name) != ht_system_at(i);
    TEST_CHECK(same == 0, "%d systems share a name", same);
    same = 0;
    for (int i = 0; i < ht_option_count(); i++)
        for (int j = 0; j < i; j++) same += !strcmp(ht_option_at(i)->key, ht_option_at(j)->key);
    TEST_CHECK(same == 0, "%d options share a key", same);
    TEST_CHECK(ht_option_count() < 192 && ht_medium_option_count() < HT_MAX_MEDIUM_OPTIONS,
               "%d options, %d of the medium", ht_option_count(), ht_medium_option_count());
    for (int i = 0; i < ht_medium_option_count(); i++) {
        const struct ht_option *option = ht_medium_option_at(i);
        for (int s = 0; s < ht_system_count(); s++)
            for (int p = 0; p < ht_system_at(s)->nparameters; p++) {
                const struct ht_parameter *row = &ht_system_at(s)->parameter[p];
                const char *name = row->vector ? row->vector : row->names;
                if (strcmp(option->key + strlen("medium."), name) == 0)
                    vectors += (row->vector != NULL) != (option->type == HT_OPT_REAL3);
            }
    }
    TEST_CHECK(vectors == 0, "%d parameters both vector and number", vectors);
}

/* ---- what the terms of known systems decide ---- */

static bool has_parities(const struct ht_equations *eq, const unsigned *parity) {
    bool same = eq->mirrors;
    for (int f = 0; f < eq->nfields; f++) same = same && eq->field[f].parity == parity[f];
    return same;
}

static bool has_groups(const struct ht_equations *eq, unsigned one, unsigned other) {
    return eq->leapfrog.old_sign == 1 && eq->leapfrog.stored[0] == one &&
           eq->leapfrog.stored[1] == other && eq->symbol == HT_SYMBOL_WAVE;
}

static void check_scalar(void) {
    const struct ht_system *tm = ht_system_find("maxwell_tm");
    const struct ht_equations eq = ht_equations_make(tm, 2), line = ht_equations_make(tm, 1);
    const struct ht_second_order *form = &eq.second_order;
    const double material[HT_MAX_MATERIALS] = {9, 0.25};
    TEST_CHECK(has_groups(&eq, 1, 6) && has_parities(&eq, (const unsigned[]){3, 1, 2}),
               "maxwell_tm: groups %x, %x, parities", eq.leapfrog.stored[0], eq.leapfrog.stored[1]);
    TEST_CHECK(form->known && form->field == 0 && form->modulus == 0 &&
                   form->inverse_density == 1 && form->flux[0] == 2 && form->flux[1] == 1 &&
                   form->sign[0] == 1 && form->sign[1] == -1,
               "maxwell_tm: its form of second order is that of E3, with signs +1, -1");
    TEST_CHECK(line.nfields == 2 && line.second_order.known && line.second_order.flux[1] == -1,
               "maxwell_tm: two fields along a line");
    TEST_BELOW(fabs(ht_equations_speed(&eq, material, 1, false) - 1.5), 1e-15, "maxwell_tm: speed");
}

static void check_vectors(void) {
    const struct ht_system *solid = ht_system_find("elastic");
    const struct ht_equations te = ht_equations_make(ht_system_find("maxwell"), 2);
    const struct ht_equations eq = ht_equations_make(solid, 2), line = ht_equations_make(solid, 1);
    const double material[HT_MAX_MATERIALS] = {0.25, 4, 2, 1};
    int coupled = 0;
    TEST_CHECK(has_groups(&te, 3, 4) && has_parities(&te, (const unsigned[]){2, 1, 0}),
               "maxwell in 2-D: groups %x, %x, parities", te.leapfrog.stored[0],
               te.leapfrog.stored[1]);
    for (int t = 0; t < eq.nenergy; t++) coupled += eq.energy[t].field != eq.energy[t].other;
    TEST_CHECK(has_groups(&eq, 3, 28) && has_parities(&eq, (const unsigned[]){1, 2, 0, 0, 3}),
               "elastic in 2-D: groups %x, %x, parities", eq.leapfrog.stored[0],
               eq.leapfrog.stored[1]);
    TEST_CHECK(!eq.second_order.known && coupled == 1 && !eq.measured,
               "elastic: no form of second order, an energy with one coupling");
    TEST_CHECK(line.nfields == 2 && ht_equations_field(&line, "v2") < 0,
               "elastic: %d fields along a line", line.nfields);
    TEST_BELOW(fabs(ht_equations_speed(&eq, material, 0, false) - 1), 1e-14,
               "elastic: speed of P waves");
}

/* ---- that wrong rows are refused ---- */

static void refused(const struct ht_system *bad, const char *what, const char *says) {
    const enum ht_err err = ht_system_check(bad);
    TEST_CHECK(err == HT_ERR_INTERNAL && strstr(ht_err_message(), says) != NULL &&
                   strstr(ht_err_message(), bad->name) != NULL,
               "%s with %s: %s", bad->name, what, err == HT_OK ? "accepted" : ht_err_message());
}

static void refuse_terms(const struct ht_system *good) {
    for (int t = 0; t < good->nterms; t++) {
        struct ht_system bad = *good;
        bad.term[t].coef = -bad.term[t].coef;
        refused(&bad, "a wrong sign", "no energy");
        bad.term[t].coef = 2 * good->term[t].coef;
        refused(&bad, "a coefficient that has no partner", "no energy");
        bad = *good;
        bad.term[t].axis = (good->term[t].axis + 1) % 3;
        refused(&bad, "a wrong axis", "");
        bad = *good;
        bad.term[t].col = bad.term[t].row;
        refused(&bad, "a term inside a group", "");
    }
}

/* lambda + 2 mu and lambda exchanged: the speed would be that of lambda. */
static void exchanged(const struct ht_jets *jets, const int *chosen, const double *const *value,
                      double *const *out) {
    double *other[HT_MAX_MATERIALS];
    for (int m = 0; m < HT_MAX_MATERIALS; m++) other[m] = out[m == 1 ? 2 : m == 2 ? 1 : m];
    ht_system_find("elastic")->materials(jets, chosen, value, other);
}

static void check_refused(void) {
    const struct ht_system *tm = ht_system_find("maxwell_tm"), *solid = ht_system_find("elastic");
    struct ht_system bad = *tm;
    refuse_terms(tm);
    refuse_terms(ht_system_find("maxwell"));
    refuse_terms(solid);
    refuse_terms(ht_system_find("acoustic"));
    bad.wall[0].factor = 0;
    refused(&bad, "a wall without a sign", "no mirror");
    bad = *ht_system_find("maxwell");
    bad.wall[1].name = "absorbing";
    refused(&bad, "a wall of a taken name", "taken");
    bad = *ht_system_find("advection");
    bad.nwalls = 1;
    bad.wall[0] = (struct ht_wall_kind){.name = "wall", .factor = 1, .meaning = "u"};
    refused(&bad, "a wall at a single field", "no mirrors");
    bad = *solid;
    bad.materials = exchanged;
    refused(&bad, "a wrong speed", "not positive");
    bad = *solid;
    bad.term[10].material = 3;
    refused(&bad, "an energy that is not symmetric", "no energy");
    bad = *solid;
    bad.nterms--;
    refused(&bad, "a term left out", "no energy");
    bad = *tm;
    bad.max_dims = 1;
    refused(&bad, "a term beyond its dimensions", "does not exist");
    bad = *tm;
    bad.term[0].material = bad.nmaterials;
    refused(&bad, "a material that does not exist", "does not exist");
    bad = *ht_system_find("wave");
    bad.nterms--;
    refused(&bad, "a term left out", "no energy");
}

int main(void) {
    check_table();
    for (int i = 0; i < ht_system_count(); i++) {
        check_row(ht_system_at(i));
        TEST_CHECK(wrong_parameters(ht_system_at(i)) == 0, "%s: options of its parameters",
                   ht_system_at(i)->name);
    }
    check_scalar();
    check_vectors();
    check_refused();
    return test_end("pde");
}
