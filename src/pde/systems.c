/* The table of systems and what follows from it for any of them. */
#include "systems.h"

#include <string.h>

static const struct ht_system *const systems[] = {
    &ht_system_advection,
    &ht_system_acoustic,
};

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

struct ht_equations ht_equations_make(const struct ht_system *system,
                                      int dims) {
    struct ht_equations eq = {.system = system, .dims = dims};
    int renumbered[HT_MAX_FIELDS];
    eq.nmaterials = system->nmaterials;
    for (int f = 0; f < system->nfields; f++) {
        renumbered[f] = -1;
        if (system->field[f].min_dims > dims) continue;
        renumbered[f] = eq.nfields;
        eq.energy_material[eq.nfields] = system->energy.material[f];
        eq.field[eq.nfields++] = system->field[f];
    }
    for (int t = 0; t < system->nterms; t++) {
        struct ht_term term = system->term[t];
        if (term.axis >= dims) continue;
        if (renumbered[term.row] < 0 || renumbered[term.col] < 0) continue;
        term.row = renumbered[term.row];
        term.col = renumbered[term.col];
        eq.term[eq.nterms++] = term;
    }
    return eq;
}

int ht_equations_field(const struct ht_equations *eq, const char *name) {
    for (int f = 0; f < eq->nfields; f++)
        if (strcmp(eq->field[f].name, name) == 0) return f;
    return -1;
}

int ht_wall_sign(const struct ht_equations *eq, int field, int axis,
                 int factor) {
    return (eq->field[field].parity >> axis) & 1u ? -factor : factor;
}

const struct ht_wall_kind *ht_wall_find(const struct ht_system *system,
                                        const char *name) {
    static const struct ht_wall_kind periodic = {"periodic", 0,
                                                 "continues at the far side"};
    if (strcmp(name, periodic.name) == 0) return &periodic;
    for (int w = 0; w < system->nwalls; w++)
        if (strcmp(system->wall[w].name, name) == 0) return &system->wall[w];
    return NULL;
}
