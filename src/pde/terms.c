/* What the terms of a system decide, for a number of dimensions: which fields exist, their
 * parities, the energy, the groups of leapfrog, the form of second order, speeds and waves.
 *
 * Energy of fields in two groups that change each other by first derivatives: with one material m_c
 * per row c of one group,
 *     v_c,t = m_c sum a_ck,r d_k s_r,     s_r,t = sum C_rq sum a_ck,q d_k v_c,
 * 1/2 integral of sum v_c^2/m_c + s^T C^-1 s stays, since derivatives are skew. */
#include "systems.h"

/* ---- parities and groups ---- */

enum joined { PARITIES, GROUPS };

/* Numbers of fields that the terms join: D along axis k turns bit k of a parity, every term changes
 * the group. False: they contradict each other. */
static bool join(const struct ht_equations *eq, enum joined what, unsigned first,
                 unsigned out[HT_MAX_FIELDS]) {
    unsigned known = 0;
    bool good = true;
    for (int f = 0; f < eq->nfields; f++) {
        if (known >> f & 1u) continue;
        known |= 1u << f;
        out[f] = f == 0 ? first : 0;
        for (bool more = true; more;) {
            more = false;
            HT_EACH_BY(i, const struct ht_term, t, &eq->term[i / 2], 2 * eq->nterms) {
                const int from = i % 2 ? t->row : t->col, to = i % 2 ? t->col : t->row;
                const unsigned turned = what == GROUPS          ? 1u
                                        : t->derivative % 2 > 0 ? 1u << t->axis
                                                                : 0;
                if (!(known >> from & 1u)) continue;
                more = more || !(known >> to & 1u);
                if (!(known >> to & 1u)) out[to] = out[from] ^ turned;
                known |= 1u << to;
                good = good && out[to] == (out[from] ^ turned);
            }
        }
    }
    return good;
}

/* ---- the form of second order ---- */

/* u_t = v, v_t = M lap u. */
static bool is_pair(const struct ht_equations *eq, struct ht_second_order *form) {
    unsigned axes = 0;
    for (int i = 0; i < eq->nterms; i++)
        if (eq->term[i].row == form->field) form->rate = eq->term[i].col;
    HT_EACH(const struct ht_term, t, eq->term, eq->nterms) {
        const bool first = t->row == form->field;
        if (t->coef != 1 || t->derivative != (first ? 0 : 2)) return false;
        if (first && t->material >= 0) return false;
        if (first) continue;
        if (axes == 0) form->modulus = t->material;
        if (t->row != form->rate || t->col != form->field || t->material != form->modulus)
            return false;
        axes |= 1u << t->axis;
    }
    return eq->nfields == 2 && eq->nterms == 1 + eq->dims && axes == (1u << eq->dims) - 1 &&
           form->modulus >= 0;
}

/* u_t = sum s_k K d_k f_k, f_k,t = s_k b d_k u. */
static bool is_flux(const struct ht_equations *eq, struct ht_second_order *form) {
    int count[2] = {0, 0};
    form->rate = -1;
    HT_EACH_BY(i, const struct ht_term, t, &eq->term[i % eq->nterms], 2 * eq->nterms) {
        const bool first = t->row == form->field, other = i >= eq->nterms;
        int *material = first ? &form->modulus : &form->inverse_density;
        if (t->derivative != 1 || fabs(t->coef) != 1 || t->material < 0) return false;
        if (first == other) continue;
        if (count[other]++ == 0) *material = t->material;
        if (*material != t->material) return false;
        if (first) form->flux[t->axis] = t->col;
        if (first) form->sign[t->axis] = (int)t->coef;
        if (t->col != (first ? form->flux[t->axis] : form->field) ||
            t->row != (first ? form->field : form->flux[t->axis]) || t->coef != form->sign[t->axis])
            return false;
    }
    return eq->nfields == 1 + eq->dims && count[0] == eq->dims && count[1] == eq->dims;
}

static void find_form(struct ht_equations *eq) {
    struct ht_second_order *form = &eq->second_order;
    form->known = false;
    for (int i = 0; i < 2 * eq->nfields && !form->known; i++) {
        *form = (struct ht_second_order){
            .field = i / 2, .modulus = -1, .inverse_density = -1, .rate = -1, .flux = {-1, -1, -1}};
        form->known = (i % 2 == 0 ? is_pair : is_flux)(eq, form);
    }
}

/* ---- energy ---- */

static void add_energy(struct ht_equations *eq, int field, bool gradient, int material, int other) {
    eq->measured = other == field && (eq->measured || eq->nenergy == 0);
    eq->energy[eq->nenergy++] = (struct ht_energy_term){field, gradient, material, other};
}

/* Whether every row of some fields has one material. */
static bool is_simple(const struct ht_equations *eq, unsigned fields) {
    for (int i = 0; i < eq->nterms; i++)
        for (int j = 0; j < i; j++) {
            const struct ht_term *s = &eq->term[i], *t = &eq->term[j];
            if ((fields >> t->row & 1u) && s->row == t->row && s->material != t->material)
                return false;
        }
    return true;
}

/* C[r][q]: numbers of materials; NONE. */
enum { NONE = -2 };
typedef int matrix[HT_MAX_FIELDS][HT_MAX_FIELDS];

/* Fills C from the rows that are not simple; *wrong: a term that has no energy, or -1. */
static void find_matrix(const struct ht_equations *eq, unsigned simple, matrix C, int *wrong) {
    *wrong = -1;
    for (int i = 0; i < HT_MAX_FIELDS * HT_MAX_FIELDS; i++)
        C[i / HT_MAX_FIELDS][i % HT_MAX_FIELDS] = NONE;
    HT_EACH_AT(i, const struct ht_term, t, eq->term, eq->nterms) {
        double coef = t->coef;
        const int q =
            simple >> t->row & 1u ? t->row : ht_equations_partner(eq, t->col, t->axis, &coef);
        if (t->derivative != 1 || q < 0 || coef != t->coef ||
            (C[t->row][q] != NONE && C[t->row][q] != t->material)) {
            *wrong = i;
            return;
        }
        C[t->row][q] = t->material;
    }
    /* each derivative of a field q is in all rows that C joins with it */
    HT_EACH_AT(i, const struct ht_term, t, eq->term, eq->nterms) {
        int rows = 0, found = 0;
        if (!(simple >> t->row & 1u)) continue;
        for (int r = 0; r < eq->nfields; r++) rows += !(simple >> r & 1u) && C[r][t->col] != NONE;
        for (int j = 0; j < eq->nterms; j++)
            found += eq->term[j].col == t->row && eq->term[j].axis == t->axis;
        if (rows != found || C[t->col][t->col] == NONE) *wrong = i;
    }
    for (int i = 0; i < eq->nterms; i++)
        for (int r = 0; r < eq->nfields; r++)
            if (C[r][eq->term[i].row] != C[eq->term[i].row][r]) *wrong = i;
}

/* *wrong: as find_matrix. */
static void find_energy(struct ht_equations *eq, int *wrong) {
    const struct ht_second_order *form = &eq->second_order;
    matrix C;
    *wrong = -1;
    eq->nenergy = eq->measured = 0;
    if (eq->translates) {
        add_energy(eq, 0, false, -1, 0);
    } else if (form->known && form->rate >= 0) {
        add_energy(eq, form->rate, false, form->modulus, form->rate);
        add_energy(eq, form->field, true, -1, form->field);
    } else {
        const unsigned *group = eq->leapfrog.stored;
        const unsigned simple = group[is_simple(eq, group[0]) ? 0 : 1];
        *wrong = 0;
        if (simple != 0 && is_simple(eq, simple)) find_matrix(eq, simple, C, wrong);
        for (int i = 0; *wrong < 0 && i < eq->nfields * eq->nfields; i++) {
            const int f = i / eq->nfields, other = i % eq->nfields;
            if (other >= f && C[f][other] != NONE) add_energy(eq, f, false, C[f][other], other);
        }
    }
}

static bool is_translation(const struct ht_equations *eq) {
    unsigned axes = 0;
    HT_EACH(const struct ht_term, t, eq->term, eq->nterms) {
        if (t->derivative != 1 || t->coef != -1 || t->material != t->axis) return false;
        axes |= 1u << t->axis;
    }
    return eq->nfields == 1 && eq->nterms == eq->dims && axes == (1u << eq->dims) - 1;
}

int ht_system_largest(const struct ht_system *system) {
    return system->max_dims > 0 ? system->max_dims : HT_MAX_DIMS;
}

/* In all dimensions that the system may have, with all of its fields. */
static struct ht_equations ht_terms_derive(const struct ht_system *system, int *wrong) {
    struct ht_equations eq = {.system = system, .dims = ht_system_largest(system)};
    unsigned group[HT_MAX_FIELDS] = {0};
    eq.nfields = system->nfields;
    eq.nterms = system->nterms;
    eq.nmaterials = system->nmaterials - system->nlost;
    for (int f = 0; f < eq.nfields; f++)
        eq.field[f] = (struct ht_field){system->field[f].name, system->field[f].meaning, 0};
    memcpy(eq.term, system->term, sizeof eq.term);
    const bool groups = join(&eq, GROUPS, 0, group) && eq.nfields > 1;
    unsigned parity[HT_MAX_FIELDS];
    eq.mirrors = join(&eq, PARITIES, eq.system->parity, parity);
    for (int f = 0; f < eq.nfields; f++) eq.field[f].parity = eq.mirrors ? parity[f] : 0;
    eq.translates = is_translation(&eq);
    find_form(&eq);
    eq.symbol = eq.translates                                        ? HT_SYMBOL_ADVECTION
                : eq.second_order.known && eq.second_order.rate >= 0 ? HT_SYMBOL_PAIR
                                                                     : HT_SYMBOL_WAVE;
    const struct ht_second_order *form = &eq.second_order;
    struct ht_leapfrog *out = &eq.leapfrog;
    if (form->known && form->rate >= 0) {
        *out = (struct ht_leapfrog){{1u << form->field, 1u << form->field}, -1};
    } else if (groups) {
        out->old_sign = 1;
        for (int f = 0; f < eq.nfields; f++) out->stored[group[f]] |= 1u << f;
    }
    find_energy(&eq, wrong);
    return eq;
}

/* The fields of which others have derivatives, as a mask, and of these the first with those that it
 * is coupled to: others, such as v3 of elastic waves in a plane, are waves of their own. */
static unsigned find_fields(const struct ht_equations *all, int dims) {
    unsigned mask = ~0u, before = 0, exist;
    while (mask != before) {
        before = mask;
        mask = 0;
        for (int i = 0; i < all->nterms; i++)
            if (all->term[i].axis < dims && (before >> all->term[i].row & 1u))
                mask |= 1u << all->term[i].col;
    }
    exist = mask & -mask;
    for (before = 0; exist != before;) {
        before = exist;
        for (int i = 0; i < all->nterms; i++) {
            const unsigned both = 1u << all->term[i].row | 1u << all->term[i].col;
            if (all->term[i].axis < dims && (exist & both) && (mask & both) == both) exist |= both;
        }
    }
    return exist;
}

struct ht_equations ht_equations_make(const struct ht_system *system, int dims) {
    int number[HT_MAX_FIELDS], wrong;
    const struct ht_equations all = ht_terms_derive(system, &wrong);
    const unsigned exist = find_fields(&all, dims);
    struct ht_equations eq = all;
    eq.dims = dims;
    eq.nfields = eq.nterms = 0;
    eq.first_order = true;
    memset(eq.leapfrog.stored, 0, sizeof eq.leapfrog.stored);
    HT_EACH_BIT(f, exist) {
        const int to = number[f] = eq.nfields++;
        eq.field[to] = all.field[f];
        eq.field[to].parity &= (1u << dims) - 1; /* of the axes that there are */
        for (int g = 0; g < 2; g++)
            eq.leapfrog.stored[g] |= (all.leapfrog.stored[g] >> f & 1u) << to;
    }
    for (int i = 0; i < all.nterms; i++) {
        struct ht_term term = all.term[i];
        if (term.axis >= dims || !(exist >> term.row & exist >> term.col & 1u)) continue;
        term.row = number[term.row];
        term.col = number[term.col];
        eq.term[eq.nterms++] = term;
        eq.first_order = eq.first_order && term.derivative < 2;
    }
    if (eq.second_order.known) find_form(&eq);
    find_energy(&eq, &wrong);
    return eq;
}

/* ---- speeds ---- */

double ht_largest_eigenvalue(int n, double a[HT_MAX_FIELDS][HT_MAX_FIELDS]) {
    enum { SQUARINGS = 50 };
    double b[HT_MAX_FIELDS][HT_MAX_FIELDS], logarithm = 0, part = 1;
    bool diagonal = true;
    double most = 0;
    for (int i = 0; i < n * n; i++)
        if (i / n == i % n)
            most = fmax(most, a[i / n][i / n]);
        else
            diagonal = diagonal && a[i / n][i % n] == 0;
    for (int s = 0; s < SQUARINGS && !diagonal; s++) {
        double size = 0;
        for (int i = 0; i < n * n; i++) size = fmax(size, fabs(a[i / n][i % n]));
        if (size == 0) return 0;
        logarithm += part * log(size);
        part /= 2;
        for (int i = 0; i < n * n; i++) {
            b[i / n][i % n] = 0;
            for (int j = 0; j < n; j++)
                b[i / n][i % n] += a[i / n][j] / size * (a[j][i % n] / size);
        }
        for (int i = 0; i < n; i++) memcpy(a[i], b[i], (size_t)n * sizeof **a);
    }
    for (int i = 0; i < n && diagonal; i++) a[i][i] = a[i][i] == most;
    return diagonal ? most : exp(logarithm);
}

/* What a derivative is multiplied with. */
static double factor_of(const struct ht_term *t, const double *material) {
    return t->coef * (t->material < 0 ? 1 : material[t->material]);
}

/* B of one group of fields a, by way of the other group b and back: with a_t = i A b, b_t = i A' a
 * of waves exp(i k.x), omega^2 a = B a. number: of the fields of the group, out. */
static int make_round(const struct ht_equations *eq, const double *material, const double *k,
                      int number[HT_MAX_FIELDS], double B[HT_MAX_FIELDS][HT_MAX_FIELDS]) {
    int n = 0;
    for (int f = 0; f < eq->nfields; f++) number[f] = eq->leapfrog.stored[0] >> f & 1u ? n++ : -1;
    memset(B, 0, (size_t)n * sizeof *B);
    HT_EACH(const struct ht_term, s, eq->term, eq->nterms) {
        if (number[s->row] < 0 || k[s->axis] == 0) continue;
        for (const struct ht_term *t = eq->term; t < eq->term + eq->nterms; t++)
            if (s->col == t->row)
                B[number[s->row]][number[t->col]] +=
                    factor_of(s, material) * k[s->axis] * factor_of(t, material) * k[t->axis];
    }
    return n;
}

static double speed_of_form(const struct ht_second_order *form, const double *material) {
    const double b = form->inverse_density >= 0 ? material[form->inverse_density] : 1;
    return sqrt(material[form->modulus] * b);
}

double ht_equations_speed(const struct ht_equations *eq, const double *material, int axis,
                          bool slowest) {
    double B[HT_MAX_FIELDS][HT_MAX_FIELDS], least = INFINITY;
    const double k[3] = {axis == 0, axis == 1, axis == 2};
    int number[HT_MAX_FIELDS];
    if (eq->translates) return fabs(material[axis]);
    if (eq->second_order.known) return speed_of_form(&eq->second_order, material);
    if (eq->leapfrog.old_sign <= 0) return 0;
    const int n = make_round(eq, material, k, number, B);
    for (int i = 0; i < n * n && slowest; i++) {
        const double b = B[i / n][i % n];
        if (i / n == i % n && b > 0) least = fmin(least, b);
        slowest = i / n == i % n || b == 0;
    }
    return sqrt(slowest && isfinite(least) ? least : ht_largest_eigenvalue(n, B));
}

/* ---- waves ---- */

static double frequency(const struct ht_equations *eq, const double *material, const double *k) {
    double sum = 0;
    for (int j = 0; j < eq->dims; j++) sum += k[j] * k[j];
    if (eq->second_order.rate >= 0) return sqrt(material[eq->second_order.modulus] * sum);
    return speed_of_form(&eq->second_order, material) * sqrt(sum);
}

/* Leaves the part of a vector in the space of B's largest eigenvalue; B becomes B (1 - B/lambda),
 * whose largest one is of the next space. False: there is none above tiny. */
static bool take_largest(int n, double tiny, double B[HT_MAX_FIELDS][HT_MAX_FIELDS],
                         double vector[HT_MAX_FIELDS]) {
    double space[HT_MAX_FIELDS][HT_MAX_FIELDS], part[HT_MAX_FIELDS] = {0};
    double rest[HT_MAX_FIELDS][HT_MAX_FIELDS];
    memcpy(space, B, sizeof space);
    const double lambda = ht_largest_eigenvalue(n, space);
    if (!(lambda > tiny)) return false;
    for (int i = 0; i < n * n; i++) {
        part[i / n] += space[i / n][i % n] * vector[i % n];
        rest[i / n][i % n] = B[i / n][i % n];
        for (int j = 0; j < n; j++) rest[i / n][i % n] -= B[i / n][j] * B[j][i % n] / lambda;
    }
    memcpy(vector, part, sizeof part);
    memcpy(B, rest, sizeof rest);
    return true;
}

/* The wave number `wave` by speed, the fastest first, of two groups of fields: a in the
 * space of an eigenvalue omega^2 of B, b = -A' a / omega. */
static bool plane_of_groups(const struct ht_equations *eq, const double *material, const double *k,
                            int wave, double *real, double *omega) {
    double B[HT_MAX_FIELDS][HT_MAX_FIELDS], rest[HT_MAX_FIELDS][HT_MAX_FIELDS];
    static const double rounding = 1e-12;
    double vector[HT_MAX_FIELDS] = {0}, most = 0, square = 0, tiny = 0;
    int number[HT_MAX_FIELDS], largest = 0;
    const int n = make_round(eq, material, k, number, B);
    memcpy(rest, B, sizeof rest);
    for (int i = 0; i < n; i++) tiny += 1e-9 * B[i][i];
    for (int w = 0; w < wave; w++) {
        /* any vector that no direction singles out */
        for (int i = 0; i < n; i++) vector[i] = cos(1 + 2.3 * i);
        if (!take_largest(n, tiny, rest, vector)) return false;
    }
    for (int i = 0; i < n; i++)
        if (fabs(vector[i]) > fabs(vector[largest])) largest = i;
    most = fabs(vector[largest]);
    for (int i = 0; i < n; i++) square += B[largest][i] * vector[i] / vector[largest];
    *omega = sqrt(square);
    for (int f = 0; f < eq->nfields; f++)
        if (number[f] >= 0) real[f] = vector[number[f]] / most;
    for (int f = 0; f < eq->nfields; f++) {
        /* What rounding leaves of a field that the wave does not have is 0. */
        double size = number[f] >= 0;
        for (const struct ht_term *t = eq->term; t < eq->term + eq->nterms && number[f] < 0; t++) {
            const double part = factor_of(t, material) * k[t->axis] / *omega;
            if (t->row != f) continue;
            real[f] -= part * real[t->col];
            size = fmax(size, fabs(part));
        }
        if (fabs(real[f]) < rounding * size) real[f] = 0;
    }
    return true;
}

/* Of the pair u = exp(i(k.x - omega t)), v = u_t. */
bool ht_equations_plane(const struct ht_equations *eq, const double *material, const double *k,
                        int wave, double *real, double *imaginary, double *omega) {
    const struct ht_second_order *form = &eq->second_order;
    *omega = 0;
    if (eq->leapfrog.old_sign > 0) return plane_of_groups(eq, material, k, wave, real, omega);
    if (wave > 1 || (!eq->translates && !form->known)) return false;
    for (int j = 0; j < eq->dims && eq->translates; j++) *omega += material[j] * k[j];
    if (!eq->translates) *omega = frequency(eq, material, k);
    if (!eq->translates) imaginary[form->rate] = -*omega;
    real[eq->translates ? 0 : form->field] = 1;
    return true;
}

/* u = cos(omega t) prod_j phi_j, v = u_t; f_j from f_j,t = s_j b d_j u, where phi_j' is -k_j times
 * the odd function of an even mirror (cos -> -k sin) and +k_j times that of an odd one. */
bool ht_equations_standing(const struct ht_equations *eq, const double *material, const double *k,
                           const int *factor, double *cosine, double *sine, double *omega) {
    const struct ht_second_order *form = &eq->second_order;
    if (!form->known) return false;
    *omega = frequency(eq, material, k);
    cosine[form->field] = 1;
    if (form->rate >= 0) sine[form->rate] = -*omega;
    for (int j = 0; j < eq->dims && form->rate < 0; j++) {
        const double slope = ht_wall_sign(eq, form->field, j, factor[j]) < 0 ? k[j] : -k[j];
        sine[form->flux[j]] =
            *omega > 0 ? form->sign[j] * material[form->inverse_density] * slope / *omega : 0;
    }
    return true;
}

/* Checks of a system's row: what it states must agree with its terms. */

static HT_ERR check_entries(const struct ht_system *s) {
    unsigned fields = 0, materials = 0;
    REQUIRE(s->nfields > 0 && s->nfields <= HT_MAX_FIELDS && s->nterms > 0 &&
                s->nterms <= HT_MAX_TERMS && s->nmaterials <= HT_MAX_MATERIALS &&
                s->nparameters <= HT_MAX_MATERIALS && s->nwalls <= 4 && s->materials != NULL &&
                s->nlosses <= HT_MAX_LOSSES,
            HT_ERR_INTERNAL, "system %s: more entries than there is room for, or none", s->name);
    REQUIRE(ht_system_largest(s) <= HT_MAX_DIMS, HT_ERR_INTERNAL, "system %s: no %d dimensions",
            s->name, s->max_dims);
    HT_EACH_AT(i, const struct ht_term, t, s->term, s->nterms) {
        REQUIRE(t->row >= 0 && t->row < s->nfields && t->col >= 0 && t->col < s->nfields &&
                    t->axis >= 0 && t->axis < ht_system_largest(s) && t->derivative >= 0 &&
                    t->derivative <= 2 && t->coef != 0 && t->material >= -1 &&
                    t->material < s->nmaterials - s->nlost,
                HT_ERR_INTERNAL, "system %s: term %d names what does not exist", s->name, i + 1);
        fields |= 1u << t->row | 1u << t->col;
        if (t->material >= 0) materials |= 1u << t->material;
    }
    for (int f = 0; f < s->nfields; f++)
        REQUIRE(fields >> f & 1u, HT_ERR_INTERNAL, "system %s: the field %s is in no term", s->name,
                s->field[f].name);
    for (int m = 0; m < s->nmaterials - s->nlost; m++)
        REQUIRE(materials >> m & 1u, HT_ERR_INTERNAL, "system %s: the material %s is in no term",
                s->name, s->material[m].name);
    return HT_OK;
}

/* Whether the symmetric matrix C of the energy is positive. */
static bool is_positive(const struct ht_equations *eq, const double *material) {
    static const double tiny = 1e-12;
    double a[HT_MAX_FIELDS * HT_MAX_FIELDS] = {0}, vectors[HT_MAX_FIELDS * HT_MAX_FIELDS];
    double least = INFINITY, most = 0;
    const int n = eq->nfields;
    HT_EACH(const struct ht_energy_term, t, eq->energy, eq->nenergy)
        a[t->other * n + t->field] = a[t->field * n + t->other] =
            t->material < 0 ? 1 : material[t->material];
    ht_eigen(n, a, vectors);
    for (int i = 0; i < n; i++) {
        least = fmin(least, a[i * n + i]);
        most = fmax(most, a[i * n + i]);
    }
    return least > tiny * most;
}

HT_ERR ht_system_check(const struct ht_system *system) {
    int wrong;
    TRY(check_entries(system));
    const struct ht_equations eq = ht_terms_derive(system, &wrong);
    if (wrong >= 0) {
        const struct ht_term *t = &system->term[wrong];
        FAIL(HT_ERR_INTERNAL,
             "system %s: its terms have no energy: that of %s with %s along x%d, or its sign, has "
             "no counterpart",
             system->name, system->field[t->row].name, system->field[t->col].name, t->axis + 1);
    }
    REQUIRE(system->nwalls == 0 || eq.mirrors, HT_ERR_INTERNAL,
            "system %s has walls, but its terms no mirrors: a derivative along an axis must lead "
            "from fields that are even to fields that are odd there",
            system->name);
    const struct ht_wall_kind *kind;
    for (int n = 0; (kind = ht_wall_at(system, n)) != NULL; n++) {
        const bool of_system = kind >= system->wall && kind < system->wall + system->nwalls;
        REQUIRE((!of_system || kind->factor == 1 || kind->factor == -1 ||
                 (kind->factor >= HT_WALL_CLOSED && kind->closed != NULL)) &&
                    ht_wall_find(system, kind->name) == kind,
                HT_ERR_INTERNAL, "system %s: the wall \"%s\" is no mirror, or its name is taken",
                system->name, kind->name);
    }
    /* Of the parameters' defaults. */
    const int chosen[HT_MAX_MATERIALS] = {0};
    const double *in[HT_MAX_MATERIALS] = {0};
    double material[HT_MAX_MATERIALS], *out[HT_MAX_MATERIALS] = {0};
    struct ht_jets *jets;
    for (int p = 0; p < system->nparameters; p++) in[p] = &system->parameter[p].fallback;
    for (int m = 0; m < system->nmaterials; m++) out[m] = &material[m];
    TRY(ht_jets_make(1, 0, true, &jets));
    system->materials(jets, chosen, in, out);
    ht_jets_destroy(jets);
    REQUIRE(is_positive(&eq, material), HT_ERR_INTERNAL,
            "system %s: the energy of its default medium is not positive", system->name);
    return HT_OK;
}

/* The equations of absorbing layers with their memory variables as fields
 * (docs/developers/absorbing.md): D u = d_k u + psi, one psi for each column of a term, D D u = d_k
 * (d_k u + psi) + psi', sigma_k being constant about each node. Reflected along x_k, psi has the
 * other parity than u, psi' the same. Damping u of u_t = v by the sponge would let it grow. */

/* Terms without a derivative have axis 0, as those of the systems. */
static HT_ERR add_term(struct ht_equations *eq, int row, int col, int axis, int derivative,
                       double coef, int material) {
    REQUIRE(eq->nterms < HT_MAX_TERMS, HT_ERR_INTERNAL,
            "%s: more than %d terms in absorbing layers", eq->system->name, HT_MAX_TERMS);
    eq->term[eq->nterms++] = (struct ht_term){.row = row,
                                              .col = col,
                                              .axis = derivative > 0 ? axis : 0,
                                              .derivative = derivative,
                                              .coef = coef,
                                              .material = material};
    return HT_OK;
}

/* memory[order - 1][col], -1: none yet, becomes the psi of D^order of a column along an axis, with
 * its equation. profile: number of the axis's first one. */
static HT_ERR find_memory(struct ht_equations *eq, int axis, int profile, int col, int order,
                          int memory[2][HT_MAX_FIELDS]) {
    if (memory[order - 1][col] >= 0) return HT_OK;
    if (order == 2) TRY(find_memory(eq, axis, profile, col, 1, memory));
    REQUIRE(eq->nfields < HT_MAX_FIELDS, HT_ERR_INTERNAL,
            "%s: more than %d fields in absorbing layers", eq->system->name, HT_MAX_FIELDS);
    const int psi = memory[order - 1][col] = eq->nfields++;
    eq->field[psi] = eq->field[col];
    eq->field[psi].name = "memory";
    eq->field[psi].parity ^= order == 1 ? 1u << axis : 0;
    eq->along[psi] = axis;
    eq->nmemory++;
    TRY(add_term(eq, psi, psi, axis, 0, -1, profile + HT_PROFILE_DECAY));
    TRY(add_term(eq, psi, col, axis, order, -1, profile + HT_PROFILE_SIGMA));
    if (order == 1) return HT_OK;
    return add_term(eq, psi, memory[0][col], axis, 1, -1, profile + HT_PROFILE_SIGMA);
}

static HT_ERR absorb_axis(const struct ht_equations *base, int axis, struct ht_equations *eq) {
    const int profile = eq->nmaterials;
    int memory[2][HT_MAX_FIELDS];
    memset(memory, -1, sizeof memory);
    REQUIRE(eq->nmaterials + HT_LAYER_PROFILES <= HT_MAX_MATERIALS, HT_ERR_INTERNAL,
            "%s: more than %d materials in absorbing layers", eq->system->name, HT_MAX_MATERIALS);
    for (int i = 0; i < HT_LAYER_PROFILES; i++) eq->profile_axis[eq->nmaterials++] = axis;
    eq->nprofiles += HT_LAYER_PROFILES;
    HT_EACH(const struct ht_term, t, base->term, base->nterms) {
        if (t->axis != axis || t->derivative == 0) continue;
        TRY(find_memory(eq, axis, profile, t->col, t->derivative, memory));
        for (int order = 1; order <= t->derivative; order++)
            TRY(add_term(eq, t->row, memory[order - 1][t->col], axis, t->derivative - order,
                         t->coef, t->material));
    }
    for (int f = 0; f < base->nfields; f++) {
        bool driven = false; /* by derivatives of others */
        for (int t = 0; t < base->nterms; t++)
            driven |= base->term[t].row == f && base->term[t].derivative > 0;
        if (driven) TRY(add_term(eq, f, f, axis, 0, -1, profile + HT_PROFILE_SPONGE));
    }
    return HT_OK;
}

HT_ERR ht_equations_absorb(const struct ht_equations *eq, unsigned axes, struct ht_equations *out) {
    *out = *eq;
    HT_EACH_BIT(k, axes & ((1u << eq->dims) - 1)) TRY(absorb_axis(eq, k, out));
    return HT_OK;
}

int ht_field_layer(const struct ht_equations *eq, int field) {
    return field >= eq->nfields - eq->nmemory ? eq->along[field] : -1;
}

int ht_material_layer(const struct ht_equations *eq, int material) {
    return material >= 0 && material >= eq->nmaterials - eq->nprofiles ? eq->profile_axis[material]
                                                                       : -1;
}

int ht_term_layer(const struct ht_equations *eq, const struct ht_term *term) {
    const int row = ht_field_layer(eq, term->row);
    const int col = ht_field_layer(eq, term->col);
    if (row >= 0) return row;
    return col >= 0 ? col : ht_material_layer(eq, term->material);
}

int ht_layer_fields(const struct ht_equations *eq, int axis) {
    int count = 0;
    for (int f = 0; f < eq->nfields; f++) count += ht_field_layer(eq, f) == axis;
    return count;
}
