/* Every row of the table of systems against what its other entries imply:
 * indices and names; the parity of each term; the energy, whose weights make the operator
 * skew-symmetric; the largest speeds; plane waves, standing modes and the leapfrog form as
 * solutions of the equations; the jets of the materials; the options of the parameters.
 *
 * For u = a exp(i k.x) the equations are a_t = L(k) a,
 *     L_rc = sum over terms of coef M (i k_axis)^derivative.
 * Numbers are judged relative to the largest entries that enter; each is made of some ten
 * operations.
 */
#include <complex.h>
#include <ctype.h>
#include <float.h>

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

/* The larger one, and a NaN once there is one. */
static double worse(double a, double b) {
    return isnan(a) || a > b ? a : b;
}

/* ---- the medium ---- */

/* Materials of parameters drawn at random, `chosen` alternatives. */
static bool draw_materials(const struct ht_system *system, const int *chosen, double *material) {
    struct ht_jets *jets = NULL;
    double value[HT_MAX_MATERIALS] = {0};
    const double *in[HT_MAX_MATERIALS] = {0};
    double *out[HT_MAX_MATERIALS] = {0};
    if (ht_jets_total(1, 0, &jets) != HT_OK) return false;
    for (int p = 0; p < system->nparameters; p++) {
        value[p] = uniform(0.5, 2);
        if (!system->parameter[p].positive) value[p] -= 1.2;
        in[p] = &value[p];
    }
    for (int m = 0; m < system->nmaterials; m++) out[m] = &material[m];
    bool good = system->materials(jets, chosen, in, out) == HT_OK;
    ht_jets_destroy(jets);
    for (int m = 0; m < system->nmaterials; m++)
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
    if (ht_jets_total(2, DEGREE, &jets) || ht_jets_total(1, 0, &scalar)) return NAN;
    for (int p = 0; p < system->nparameters; p++) {
        for (int n = 0; n < jets->count; n++) in[p][n] = n ? uniform(-0.5, 0.5) : uniform(1, 2);
        at[p] = polynomial(jets, in[p], xi);
        from[p] = in[p];
        value[p] = &at[p];
    }
    for (int m = 0; m < system->nmaterials; m++) {
        to[m] = out[m];
        single[m] = &expected[m];
    }
    if (jets->count != COEFS || system->materials(jets, chosen, from, to) ||
        system->materials(scalar, chosen, value, single))
        worst = NAN;
    for (int m = 0; m < system->nmaterials; m++)
        worst = worse(worst, fabs(polynomial(jets, out[m], xi) - expected[m]) / fabs(expected[m]));
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
        for (int c = 0; c < s->eq.nfields; c++) most = worse(most, cabs(s->symbol[r][c]));
    return most;
}

/* ---- parities ---- */

/* Terms that do not map fields of one parity to fields of one parity: D along axis k flips bit k.
 */
static int wrong_parities(const struct ht_system *system) {
    int wrong = 0;
    for (int t = 0; t < system->nterms; t++) {
        const struct ht_term *term = &system->term[t];
        unsigned flips = term->derivative % 2 ? 1u << term->axis : 0;
        wrong += (system->field[term->col].parity ^ flips) != system->field[term->row].parity;
    }
    return wrong;
}

/* ---- energy ---- */

/* Weight of |a_f|^2 in the energy of a wave. */
static double energy_weight(const struct sample *s, int field) {
    double sum = 0, square = 0;
    for (int k = 0; k < s->eq.dims; k++) square += s->k[k] * s->k[k];
    for (int t = 0; t < s->eq.nenergy; t++) {
        const struct ht_energy_term *term = &s->eq.energy[t];
        if (term->field != field) continue;
        sum +=
            (term->gradient ? square : 1) / (term->material < 0 ? 1 : s->material[term->material]);
    }
    return sum;
}

/* W L + (W L)^* over the largest entry of W L: 0 exactly where the energy of every wave stays. */
static double energy_change(const struct sample *s) {
    double change = 0, size = 0;
    for (int r = 0; r < s->eq.nfields; r++)
        for (int c = 0; c < s->eq.nfields; c++) {
            double complex a = energy_weight(s, r) * s->symbol[r][c];
            double complex b = energy_weight(s, c) * s->symbol[c][r];
            change = worse(change, cabs(a + conj(b)));
            size = worse(size, cabs(a));
        }
    return change / size;
}

/* In media that vary the weight must be that of the term's own row, 1/M with the same M: terms of
 * which it is not. */
static int wrong_weights(const struct ht_system *system) {
    int wrong = 0;
    for (int t = 0; t < system->nterms; t++) {
        const struct ht_term *term = &system->term[t];
        bool found = false;
        for (int e = 0; e < system->energy.nterms; e++)
            found = found || (system->energy.term[e].field == term->row &&
                              system->energy.term[e].material == term->material);
        bool varies = term->material >= 0 && system->material[term->material].varies;
        wrong += varies && !found;
    }
    return wrong;
}

/* ---- speeds ---- */

/* out = B in, B = W^(1/2) L W^(-1/2), or by -B^* = B where it is skew. */
static void apply_scaled(const struct sample *s, const double complex *in, double complex *out) {
    for (int r = 0; r < s->eq.nfields; r++) {
        out[r] = 0;
        for (int c = 0; c < s->eq.nfields; c++)
            out[r] += sqrt(energy_weight(s, r) / energy_weight(s, c)) * s->symbol[r][c] * in[c];
    }
}

static double vector_norm(const double complex *a, int count) {
    double sum = 0;
    for (int n = 0; n < count; n++) sum += creal(a[n] * conj(a[n]));
    return sqrt(sum);
}

/* The largest frequency of waves along an axis with |k| = 1 by iteration: B is skew, so |B^2 a|/|B
 * a| grows to it. */
static double speed_difference(const struct ht_system *system, int dims, int axis) {
    enum { TIMES = 400 };
    struct sample s;
    double complex a[MOST_FIELDS], b[MOST_FIELDS];
    double found = 0;
    if (!make_sample(system, dims, &s)) return NAN;
    for (int k = 0; k < 3; k++) s.k[k] = k == axis;
    make_symbol(&s);
    for (int f = 0; f < s.eq.nfields; f++) a[f] = uniform(0.1, 1) + I * uniform(0.1, 1);
    for (int n = 0; n < TIMES; n++) {
        double before = vector_norm(a, s.eq.nfields);
        apply_scaled(&s, a, b);
        found = vector_norm(b, s.eq.nfields) / before;
        for (int f = 0; f < s.eq.nfields; f++) a[f] = b[f] / (found * before);
    }
    double claimed = system->speed(s.material, axis);
    return fabs(found - claimed) / claimed;
}

/* ---- solutions ---- */

/* The fields that exist, from those of the system. */
static void take_fields(const struct ht_equations *eq, const double *from, double *to) {
    for (int f = 0, n = 0; f < eq->system->nfields; f++)
        if (eq->system->field[f].min_dims <= eq->dims) to[n++] = from[f];
}

/* L a + i omega a over |L| |a|. */
static double plane_residual(const struct sample *s) {
    double real[MOST_FIELDS] = {0}, imaginary[MOST_FIELDS] = {0};
    double re[MOST_FIELDS] = {0}, im[MOST_FIELDS] = {0}, omega = 0, worst = 0, size = 0;
    s->eq.system->plane(s->material, s->eq.dims, s->k, real, imaginary, &omega);
    take_fields(&s->eq, real, re);
    take_fields(&s->eq, imaginary, im);
    for (int r = 0; r < s->eq.nfields; r++) {
        double complex sum = I * omega * (re[r] + I * im[r]);
        size = worse(size, hypot(re[r], im[r]));
        for (int c = 0; c < s->eq.nfields; c++) sum += s->symbol[r][c] * (re[c] + I * im[c]);
        worst = worse(worst, cabs(sum));
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
    double cosine[MOST_FIELDS] = {0}, sine[MOST_FIELDS] = {0};
    double c[MOST_FIELDS] = {0}, d[MOST_FIELDS] = {0}, omega = 0, worst = 0, size = 0;
    double of_cos[MOST_FIELDS] = {0}, of_sin[MOST_FIELDS] = {0};
    for (int k = 0; k < s->eq.dims; k++) s->k[k] = fabs(s->k[k]);
    s->eq.system->standing(s->material, s->eq.dims, s->k, factor, cosine, sine, &omega);
    take_fields(&s->eq, cosine, c);
    take_fields(&s->eq, sine, d);
    for (int t = 0; t < s->eq.nterms; t++) {
        const struct ht_term *term = &s->eq.term[t];
        double m = term->material < 0 ? 1 : s->material[term->material];
        double by = term->coef * m * standing_factor(s, term, factor);
        of_cos[term->row] += by * c[term->col];
        of_sin[term->row] += by * d[term->col];
    }
    for (int r = 0; r < s->eq.nfields; r++) {
        worst = worse(worst, fabs(omega * d[r] - of_cos[r]));
        worst = worse(worst, fabs(-omega * c[r] - of_sin[r]));
        size = worse(size, worse(fabs(c[r]), fabs(d[r])));
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
            if (leapfrog->old_sign > 0 && row == col) leak = worse(leak, cabs(s->symbol[r][c]));
            if (leapfrog->old_sign < 0 && row && !col) leak = worse(leak, cabs(square));
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

static bool is_name(const char *name) {
    if (!name || !isalpha((unsigned char)*name) || strlen(name) > 15) return false;
    while (isalnum((unsigned char)*name) || *name == '_') name++;
    return *name == '\0';
}

static int wrong_fields(const struct ht_system *system) {
    int wrong = 0;
    for (int f = 0; f < system->nfields; f++) {
        const struct ht_field *field = &system->field[f];
        wrong += !is_name(field->name) || !field->meaning || !*field->meaning ||
                 field->parity > 7 || field->min_dims < 1 || field->min_dims > 3;
        for (int g = 0; g < f; g++) wrong += strcmp(field->name, system->field[g].name) == 0;
    }
    struct ht_equations eq = ht_equations_make(system, 1);
    return wrong + (ht_equations_field(&eq, system->first_field) < 0);
}

/* A term exists where both of its fields do; every field and material is in one. */
static int wrong_terms(const struct ht_system *system) {
    unsigned rows = 0, cols = 0, materials = 0;
    int wrong = 0;
    for (int t = 0; t < system->nterms; t++) {
        const struct ht_term *term = &system->term[t];
        bool good = term->row >= 0 && term->row < system->nfields && term->col >= 0 &&
                    term->col < system->nfields && term->axis >= 0 && term->axis < 3 &&
                    term->derivative >= 0 && term->derivative <= 2 && term->material >= -1 &&
                    term->material < system->nmaterials && term->coef != 0;
        wrong += !good;
        if (!good) continue;
        rows |= 1u << term->row;
        cols |= 1u << term->col;
        if (term->material >= 0) materials |= 1u << term->material;
    }
    for (int f = 0; f < system->nfields; f++) wrong += !((rows | cols) >> f & 1u);
    for (int m = 0; m < system->nmaterials; m++)
        wrong +=
            !(materials >> m & 1u) || !system->material[m].name || !system->material[m].meaning;
    return wrong;
}

static int wrong_walls(const struct ht_system *system) {
    int wrong = 0;
    for (int w = 0; w < system->nwalls; w++) {
        const struct ht_wall_kind *wall = &system->wall[w];
        wrong += !is_name(wall->name) || !strcmp(wall->name, "periodic") ||
                 (wall->factor != 1 && wall->factor != -1) ||
                 ht_wall_find(system, wall->name) != wall;
    }
    return wrong;
}

static int entries(const char *list) {
    int count = 0, length = 0;
    while (list && ht_alternative(list, count, &length)) count++;
    return count;
}

/* Names, meanings and units belong together, and options are made of them. */
static int wrong_parameters(const struct ht_system *system) {
    struct ht_params *params = NULL;
    int wrong = ht_params_read(NULL, 0, NULL, &params) != HT_OK;
    for (int p = 0; p < system->nparameters && params; p++) {
        const struct ht_parameter *row = &system->parameter[p];
        int count = entries(row->names);
        wrong += count < 1 || entries(row->meanings) != count || entries(row->units) != count ||
                 (row->positive && !(row->fallback > 0));
        for (int i = 0; i < count; i++) {
            int length = 0;
            const char *at = ht_alternative(row->names, i, &length);
            char name[24];
            snprintf(name, sizeof name, "%.*s", length, at);
            wrong += !is_name(name);
            const struct ht_medium_given *given =
                ht_params_medium(params, row->vector ? row->vector : name);
            wrong += !given;
            if (given && row->vector)
                wrong += row->axis < 0 || row->axis > 2 || count != 1 ||
                         given->vector[row->axis] != row->fallback;
        }
    }
    ht_params_destroy(params);
    return wrong;
}

static int wrong_energy(const struct ht_system *system) {
    int wrong = system->energy.conserved && system->energy.nterms < 1;
    for (int t = 0; t < system->energy.nterms; t++) {
        const struct ht_energy_term *term = &system->energy.term[t];
        wrong += term->field < 0 || term->field >= system->nfields || term->material < -1 ||
                 term->material >= system->nmaterials;
    }
    return wrong;
}

static int wrong_entries(const struct ht_system *system) {
    bool counts = system->nfields >= 1 && system->nfields <= HT_MAX_FIELDS && system->nterms >= 1 &&
                  system->nterms <= HT_MAX_TERMS && system->nmaterials >= 0 &&
                  system->nmaterials <= HT_MAX_MATERIALS && system->nparameters >= 0 &&
                  system->nparameters <= HT_MAX_MATERIALS && system->nwalls >= 0 &&
                  system->nwalls <= 4 && system->energy.nterms <= HT_MAX_FIELDS;
    if (!counts || !system->materials || !system->speed) return 1;
    return wrong_fields(system) + wrong_terms(system) + wrong_walls(system) +
           wrong_parameters(system) + wrong_energy(system) +
           (!is_name(system->name) || !system->title || !system->equations);
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
        worst = worse(worst, jets_difference(system, chosen));
    }
    TEST_CHECK(good, "%s: materials of %d alternatives are finite, positive", system->name, count);
    /* (0.5 (0.003 + 0.002))^7 = 2e-18, times the sums of products. */
    TEST_BELOW(worst, 1e-14, "%s: jets of materials against their values", system->name);
}

static void check_energy(const struct ht_system *system, int dims) {
    double change = 0, speed = 0;
    struct sample s;
    if (!system->energy.conserved) return;
    for (int n = 0; n < DRAWS; n++) {
        bool good = make_sample(system, dims, &s);
        change = worse(change, good ? energy_change(&s) : NAN);
        for (int axis = 0; axis < dims; axis++)
            speed = worse(speed, speed_difference(system, dims, axis));
    }
    TEST_BELOW(change, rounding, "%s in %d-D: change of the energy", system->name, dims);
    TEST_BELOW(speed, rounding, "%s in %d-D: speeds against the symbol", system->name, dims);
}

static void check_solutions(const struct ht_system *system, int dims) {
    double plane = 0, standing = 0, leak = 0;
    struct sample s;
    for (int n = 0; n < DRAWS; n++) {
        if (!make_sample(system, dims, &s)) plane = NAN;
        if (system->plane) plane = worse(plane, plane_residual(&s));
        leak = worse(leak, leapfrog_leak(&s));
        for (int walls = 0; walls < 1 << dims && system->standing; walls++) {
            int factor[3] = {1, 1, 1};
            for (int k = 0; k < dims; k++) factor[k] = walls >> k & 1 ? -1 : 1;
            standing = worse(standing, standing_residual(&s, factor));
        }
    }
    if (system->plane)
        TEST_BELOW(plane, rounding, "%s in %d-D: residual of plane waves", system->name, dims);
    if (system->standing)
        TEST_BELOW(standing, rounding, "%s in %d-D: residual of modes", system->name, dims);
    if (system->leapfrog.old_sign != 0) {
        TEST_BELOW(leak, 0, "%s in %d-D: what leapfrog leaves out", system->name, dims);
        TEST_CHECK(groups_fit(&s.eq), "%s in %d-D: leapfrog's fields %x and %x", system->name, dims,
                   s.eq.leapfrog.stored[0], s.eq.leapfrog.stored[1]);
    }
}

/* u(x, t) = u0(x - M t): one field and a first derivative along each axis. */
static int wrong_translation(const struct ht_system *system) {
    int wrong = system->nfields != 1 || system->nmaterials != 3;
    for (int t = 0; t < system->nterms; t++) {
        const struct ht_term *term = &system->term[t];
        wrong += term->derivative != 1 || term->coef != -1 || term->material != term->axis;
    }
    return wrong;
}

static void check_system(const struct ht_system *system) {
    int wrong = wrong_entries(system);
    TEST_CHECK(wrong == 0, "%s: %d wrong entries", system->name, wrong);
    if (wrong > 0) return;
    /* Without walls nothing is mirrored. */
    if (system->nwalls > 0)
        TEST_CHECK(wrong_parities(system) == 0, "%s: %d terms of wrong parity", system->name,
                   wrong_parities(system));
    if (system->energy.conserved)
        TEST_CHECK(wrong_weights(system) == 0,
                   "%s: %d terms whose material the energy does not undo", system->name,
                   wrong_weights(system));
    if (system->translates)
        TEST_CHECK(wrong_translation(system) == 0, "%s: translates", system->name);
    TEST_CHECK(ht_second_order_holds(system), "%s: the terms are those of its form of second order",
               system->name);
    check_medium(system);
    for (int dims = 1; dims <= 3; dims++) {
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

/* ---- that wrong rows are found ---- */

static double twice_speed(const double *material, int axis) {
    return 2 * ht_system_find("acoustic")->speed(material, axis);
}

static double worst_energy(const struct ht_system *system) {
    struct sample s;
    return make_sample(system, 2, &s) ? energy_change(&s) : 0;
}

static double worst_plane(const struct ht_system *system) {
    struct sample s;
    return make_sample(system, 2, &s) ? plane_residual(&s) : 0;
}

static void check_planted(void) {
    const struct ht_system *good = ht_system_find("acoustic");
    const int upper[3] = {1, -1, 1};
    struct ht_system bad = *good;
    struct sample s;
    bad.field[1].parity = 2;
    TEST_CHECK(wrong_parities(&bad) > 0, "planted: a field's parity");
    bad = *good;
    bad.term[3].coef = -bad.term[3].coef;
    TEST_CHECK(worst_energy(&bad) > 0.01, "planted: a term's sign, energy %.2g",
               worst_energy(&bad));
    TEST_CHECK(worst_plane(&bad) > 0.01, "planted: a term's sign, plane wave %.2g",
               worst_plane(&bad));
    TEST_CHECK(make_sample(&bad, 2, &s) && standing_residual(&s, upper) > 0.01,
               "planted: a term's sign, mode %.2g", standing_residual(&s, upper));
    /* SH waves, v_t = 1/rho div s, s_t = mu grad v: the energy stays. */
    bad = *good;
    for (int t = 0; t < bad.nterms; t++) bad.term[t].coef = 1;
    TEST_CHECK(worst_energy(&bad) < 1e-12 && !ht_second_order_holds(&bad),
               "planted: signs unlike those of the form of second order");
    bad = *good;
    bad.second_order.flux = 2;
    TEST_CHECK(!ht_second_order_holds(&bad), "planted: fluxes elsewhere");
    bad = *ht_system_find("wave");
    bad.nterms--;
    TEST_CHECK(!ht_second_order_holds(&bad), "planted: a term left out");
    bad = *good;
    bad.energy.term[0].material = 1;
    TEST_CHECK(worst_energy(&bad) > 0.01 && wrong_weights(&bad) > 0,
               "planted: an energy's material, %.2g", worst_energy(&bad));
    bad = *good;
    bad.speed = twice_speed;
    TEST_CHECK(speed_difference(&bad, 2, 1) > 0.01, "planted: a speed, %.2g",
               speed_difference(&bad, 2, 1));
    bad = *good;
    bad.leapfrog.stored[0] = 3;
    TEST_CHECK(make_sample(&bad, 2, &s) && leapfrog_leak(&s) > 0.01 && !groups_fit(&s.eq),
               "planted: leapfrog's fields, %.2g", leapfrog_leak(&s));
    bad = *good;
    bad.parameter[0].units = "length/time";
    TEST_CHECK(wrong_entries(&bad) == 1, "planted: a unit left out");
    bad = *good;
    bad.nmaterials = 1;
    TEST_CHECK(wrong_entries(&bad) > 0, "planted: a material left out");
}

int main(void) {
    check_table();
    for (int s = 0; s < ht_system_count(); s++) check_system(ht_system_at(s));
    check_planted();
    return test_end("pde");
}
