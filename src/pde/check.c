/* Checks of a system's row: what it states must agree with its terms. */
#include <math.h>
#include <string.h>

#include "systems.h"

static enum ht_err check_entries(const struct ht_system *s) {
    unsigned fields = 0, materials = 0;
    REQUIRE(s->nfields > 0 && s->nfields <= HT_MAX_FIELDS && s->nterms > 0 &&
                s->nterms <= HT_MAX_TERMS && s->nmaterials <= HT_MAX_MATERIALS &&
                s->nparameters <= HT_MAX_MATERIALS && s->nwalls <= 4 && s->materials != NULL,
            HT_ERR_INTERNAL, "system %s: more entries than there is room for, or none", s->name);
    REQUIRE(s->min_dims <= ht_system_largest(s) && ht_system_largest(s) <= HT_MAX_DIMS,
            HT_ERR_INTERNAL, "system %s: no dimensions %d to %d", s->name, s->min_dims,
            s->max_dims);
    for (int i = 0; i < s->nterms; i++) {
        const struct ht_term *t = &s->term[i];
        REQUIRE(t->row >= 0 && t->row < s->nfields && t->col >= 0 && t->col < s->nfields &&
                    t->axis >= 0 && t->axis < ht_system_largest(s) && t->derivative >= 0 &&
                    t->derivative <= 2 && t->coef != 0 && t->material >= -1 &&
                    t->material < s->nmaterials,
                HT_ERR_INTERNAL, "system %s: term %d names what does not exist", s->name, i + 1);
        fields |= 1u << t->row | 1u << t->col;
        if (t->material >= 0) materials |= 1u << t->material;
    }
    for (int f = 0; f < s->nfields; f++)
        REQUIRE(fields >> f & 1u, HT_ERR_INTERNAL, "system %s: the field %s is in no term", s->name,
                s->field[f].name);
    for (int m = 0; m < s->nmaterials; m++)
        REQUIRE(materials >> m & 1u, HT_ERR_INTERNAL, "system %s: the material %s is in no term",
                s->name, s->material[m].name);
    return HT_OK;
}

static enum ht_err check_walls(const struct ht_system *s, const struct ht_equations *eq) {
    REQUIRE(s->nwalls == 0 || eq->mirrors, HT_ERR_INTERNAL,
            "system %s has walls, but its terms no mirrors: a derivative along an axis must lead "
            "from fields that are even to fields that are odd there",
            s->name);
    const struct ht_wall_kind *kind;
    for (int n = 0; (kind = ht_wall_at(s, n)) != NULL; n++) {
        const bool of_system = kind >= s->wall && kind < s->wall + s->nwalls;
        REQUIRE((!of_system || kind->factor == 1 || kind->factor == -1) &&
                    ht_wall_find(s, kind->name) == kind,
                HT_ERR_INTERNAL, "system %s: the wall \"%s\" is no mirror, or its name is taken",
                s->name, kind->name);
    }
    return HT_OK;
}

/* Whether the symmetric matrix C of the energy is positive, by its Cholesky factors. */
static bool is_positive(const struct ht_equations *eq, const double *material) {
    static const double tiny = 1e-12;
    double a[HT_MAX_FIELDS][HT_MAX_FIELDS] = {{0}};
    for (int i = 0; i < eq->nenergy; i++) {
        const struct ht_energy_term *t = &eq->energy[i];
        a[t->other][t->field] = t->material < 0 ? 1 : material[t->material];
    }
    for (int j = 0; j < eq->nfields; j++) {
        const double whole = a[j][j];
        for (int k = 0; k < j; k++) a[j][j] -= a[j][k] * a[j][k];
        if (!(a[j][j] > tiny * whole) || !(whole > 0)) return false;
        a[j][j] = sqrt(a[j][j]);
        for (int i = j + 1; i < eq->nfields; i++) {
            for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k];
            a[i][j] /= a[j][j];
        }
    }
    return true;
}

/* Of the parameters' defaults. */
static enum ht_err check_medium(const struct ht_system *s, const struct ht_equations *eq) {
    const int chosen[HT_MAX_MATERIALS] = {0};
    const double *in[HT_MAX_MATERIALS] = {0};
    double material[HT_MAX_MATERIALS], *out[HT_MAX_MATERIALS] = {0};
    struct ht_jets *jets;
    for (int p = 0; p < s->nparameters; p++) in[p] = &s->parameter[p].fallback;
    for (int m = 0; m < s->nmaterials; m++) out[m] = &material[m];
    TRY(ht_jets_total(1, 0, &jets));
    const enum ht_err err = s->materials(jets, chosen, in, out);
    ht_jets_destroy(jets);
    TRY(err);
    REQUIRE(is_positive(eq, material), HT_ERR_INTERNAL,
            "system %s: the energy of its default medium is not positive", s->name);
    return HT_OK;
}

enum ht_err ht_system_check(const struct ht_system *system) {
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
    TRY(check_walls(system, &eq));
    return check_medium(system, &eq);
}
