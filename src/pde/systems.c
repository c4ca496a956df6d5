/* The table of systems and functions common to all systems. */
#include "systems.h"

#include <string.h>

#define ADDRESS(name) &ht_system_##name,
static const struct ht_system *const systems[] = {HT_EACH_SYSTEM(ADDRESS)};

int ht_system_count(void) {
    return (int)(sizeof systems / sizeof systems[0]);
}

const struct ht_system *ht_system_at(int index) {
    return systems[index];
}

const struct ht_system *ht_system_find(const char *name) {
    for (int i = 0; i < ht_system_count(); i++)
        if (strcmp(systems[i]->name, name) == 0) return systems[i];
    return NULL;
}

/* The term of a row that its form of second order takes. */
static bool is_of_form(const struct ht_second_order *form, const struct ht_term *t) {
    const bool first = t->row == form->field;
    if (form->flux < 0 && first)
        return t->col == form->rate && t->derivative == 0 && t->coef == 1 && t->material < 0;
    if (form->flux < 0)
        return t->col == form->field && t->derivative == 2 && t->coef == 1 &&
               t->material == form->modulus && form->inverse_density < 0;
    return t->derivative == 1 && t->coef == -1 &&
           (first ? t->col == form->flux + t->axis
                  : t->col == form->field && t->row == form->flux + t->axis) &&
           t->material == (first ? form->modulus : form->inverse_density);
}

bool ht_second_order_holds(const struct ht_system *system) {
    const struct ht_second_order *form = &system->second_order;
    const int other = form->flux < 0 ? form->rate : form->flux;
    const int others = form->flux < 0 ? 1 : 3;
    int found = 0;
    for (int i = 0; form->known && i < system->nterms; i++) {
        const struct ht_term *term = &system->term[i];
        if (term->row != form->field && (term->row < other || term->row >= other + others))
            continue;
        if (!is_of_form(form, term)) return false;
        found++;
    }
    return !form->known || found == (form->flux < 0 ? 4 : 6);
}

const char *ht_alternative(const char *list, int index, int *length) {
    for (; index > 0; index--) {
        list = strchr(list, '|');
        if (!list) return NULL;
        list++;
    }
    *length = (int)strcspn(list, "|");
    return list;
}

/* A mask of fields with the fields' new numbers; fields that do not exist in this number of
 * dimensions are dropped. */
static unsigned renumber_bits(unsigned bits, const int *renumbered) {
    unsigned out = 0;
    for (int f = 0; f < HT_MAX_FIELDS; f++)
        if ((bits >> f & 1u) && renumbered[f] >= 0) out |= 1u << renumbered[f];
    return out;
}

static void add_terms(struct ht_equations *eq, const int *renumbered) {
    const struct ht_system *system = eq->system;
    for (int t = 0; t < system->nterms; t++) {
        struct ht_term term = system->term[t];
        if (term.axis >= eq->dims) continue;
        if (renumbered[term.row] < 0 || renumbered[term.col] < 0) continue;
        term.row = renumbered[term.row];
        term.col = renumbered[term.col];
        eq->term[eq->nterms++] = term;
    }
    for (int t = 0; t < system->energy.nterms; t++) {
        struct ht_energy_term term = system->energy.term[t];
        if (renumbered[term.field] < 0) continue;
        term.field = renumbered[term.field];
        eq->energy[eq->nenergy++] = term;
    }
}

struct ht_equations ht_equations_make(const struct ht_system *system, int dims) {
    struct ht_equations eq = {.system = system, .dims = dims};
    int renumbered[HT_MAX_FIELDS];
    eq.nmaterials = system->nmaterials;
    for (int f = 0; f < HT_MAX_FIELDS; f++) {
        renumbered[f] = -1;
        if (f >= system->nfields || system->field[f].min_dims > dims) continue;
        renumbered[f] = eq.nfields;
        eq.field[eq.nfields++] = system->field[f];
    }
    add_terms(&eq, renumbered);
    eq.leapfrog = system->leapfrog;
    for (int subgrid = 0; subgrid < 2; subgrid++)
        eq.leapfrog.stored[subgrid] = renumber_bits(system->leapfrog.stored[subgrid], renumbered);
    return eq;
}

int ht_equations_field(const struct ht_equations *eq, const char *name) {
    for (int f = 0; f < eq->nfields; f++)
        if (strcmp(eq->field[f].name, name) == 0) return f;
    return -1;
}

int ht_wall_sign(const struct ht_equations *eq, int field, int axis, int factor) {
    return (eq->field[field].parity >> axis) & 1u ? -factor : factor;
}

const struct ht_wall_kind *ht_wall_find(const struct ht_system *system, const char *name) {
    static const struct ht_wall_kind periodic = {"periodic", 0, "continues at the far side"};
    if (strcmp(name, periodic.name) == 0) return &periodic;
    for (int w = 0; w < system->nwalls; w++)
        if (strcmp(system->wall[w].name, name) == 0) return &system->wall[w];
    return NULL;
}

bool ht_equations_first_order(const struct ht_equations *eq) {
    for (int t = 0; t < eq->nterms; t++)
        if (eq->term[t].derivative > 1) return false;
    return true;
}
