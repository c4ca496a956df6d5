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

const char *ht_alternative(const char *list, int index, int *length) {
    for (; index > 0; index--) {
        list = strchr(list, '|');
        if (!list) return NULL;
        list++;
    }
    *length = (int)strcspn(list, "|");
    return list;
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
