/* The table of systems and functions common to all systems. */
#include "systems.h"

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

bool ht_alternative(const char *list, int index, char *out, size_t size) {
    for (; index > 0 && list != NULL; index--) {
        list = strchr(list, '|');
        list += list != NULL;
    }
    snprintf(out, size, "%.*s", list ? (int)strcspn(list, "|") : 0, list ? list : "");
    return list != NULL;
}

int ht_equations_field(const struct ht_equations *eq, const char *name) {
    for (int f = 0; f < eq->nfields; f++)
        if (strcmp(eq->field[f].name, name) == 0) return f;
    return -1;
}

int ht_wall_sign(const struct ht_equations *eq, int field, int axis, int factor) {
    if (factor >= HT_WALL_CLOSED) return 0;
    return (eq->field[field].parity >> axis) & 1u ? -factor : factor;
}

/* Sides of all systems, of those with walls. Behind the layer of an absorbing one is a mirror. */
static const struct ht_wall_kind periodic = {"periodic", 0, "both sides continue at the other",
                                             .layer = false};
static const struct ht_wall_kind absorbing = {
    "absorbing", +1, "a layer around the box in which waves die out", .layer = true};

const struct ht_wall_kind *ht_wall_at(const struct ht_system *system, int index) {
    const int walls = system->nwalls;
    if (index == 0) return &periodic;
    if (index <= walls) return &system->wall[index - 1];
    return index == walls + 1 && walls > 0 ? &absorbing : NULL;
}

const struct ht_wall_kind *ht_wall_find(const struct ht_system *system, const char *name) {
    const struct ht_wall_kind *kind;
    for (int n = 0; (kind = ht_wall_at(system, n)) != NULL; n++)
        if (strcmp(kind->name, name) == 0) return kind;
    return NULL;
}

const struct ht_wall_kind *ht_wall_of(const struct ht_system *system, int factor) {
    int n = 0;
    while (ht_wall_at(system, n)->factor != factor) n++;
    return ht_wall_at(system, n);
}

struct ht_attenuation ht_attenuation_of(double q, double power, double frequency) {
    const double x = power < 2 ? sqrt(2 / power - 1) : 0, omega = 2 * acos(-1.0) * frequency;
    struct ht_attenuation of = {.stiffer = 1, .strength = 0, .rate = x > 0 ? omega / x : omega};
    if (!(q > 0)) return of;
    const double square = 1 + 1 / (q * q);
    of.strength = x > 0 && q > x ? (1 + x * x) / (x * (q - x)) : 3;
    if (!(power < 2)) of.rate = -1;
    if (x > 0) of.stiffer = (1 + 1 / (q * x)) * (1 + sqrt(square)) / (2 * square);
    return of;
}

double ht_absorption_quality(double absorption, double c, double frequency) {
    const double t = absorption * c / (2 * acos(-1.0) * frequency);
    /* where waves do not propagate: a Q that is refused */
    return t > 0 ? fmax(1 - t * t, 1e-3) / (2 * t) : 0;
}
