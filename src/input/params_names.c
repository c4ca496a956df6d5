/* Keys that are not there: what they may have meant. */
#include <string.h>
#include <strings.h>

#include "params_parts.h"

enum { KEYS_MAX = 192 }; /* more than there are options */

/* The names directly inside a section, or the sections: members of a section without the section's
 * name. */
struct key_list {
    int count;
    const char *name[KEYS_MAX];
};

/* What other programs, or other countries, call an option or a group. */
static const struct {
    const char *word, *key;
} synonyms[] = {
    {"dt", "time.step"},
    {"timestep", "time.step"},
    {"time_step", "time.step"},
    {"delta_t", "time.step"},
    {"tmax", "time.end"},
    {"t_end", "time.end"},
    {"duration", "time.end"},
    {"courant", "time.cfl"},
    {"integrator", "time.scheme"},
    {"nx", "grid.cells"},
    {"ny", "grid.cells"},
    {"nz", "grid.cells"},
    {"size", "grid.cells"},
    {"resolution", "grid.cells"},
    {"dims", "grid.cells"},
    {"dx", "grid.cells"},
    {"min", "grid.lower"},
    {"max", "grid.upper"},
    {"origin", "grid.lower"},
    {"degree", "grid.order"},
    {"center", "initial.centre"},
    {"position", "initial.centre"},
    {"sigma", "initial.width"},
    {"frequency", "initial.frequency"},
    {"f0", "initial.frequency"},
    {"wavenumber", "initial.cycles"},
    {"wavevector", "initial.cycles"},
    {"vp", "medium.c"},
    {"speed", "medium.c"},
    {"density", "medium.rho"},
    {"kappa", "medium.K"},
    {"bulk", "medium.K"},
    {"dir", "output.directory"},
    {"folder", "output.directory"},
    {"path", "output.directory"},
    {"interval", "output.every"},
    {"gpu", "device.select"},
    {"float", "device.precision"},
    {"kernel", "device.variant"},
    {"boundaries", "boundary.x1"},
    {"bc", "boundary.x1"},
    {"mesh", "grid"},
    {"domain", "grid"},
    {"box", "grid"},
    {"model", "medium"},
    {"material", "medium"},
    {"source", "initial"},
    {"mpi", "parallel"},
};

/* The key of a synonym; a section that exists is believed. */
static const char *synonym(const char *key) {
    int section = ht_option_section(key);
    const char *name = key + (section ? section + 1 : 0), *found = NULL;
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++) {
        if (strcasecmp(name, synonyms[i].word) != 0) continue;
        const char *other = synonyms[i].key;
        bool same = strncmp(other, key, (size_t)section + 1) == 0;
        if (same && section) return other;
        if (!found) found = other;
    }
    return found;
}

const char *ht_params_synonym(const char *word, int index) {
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++) {
        const char *key = synonyms[i].key, *dot = strrchr(key, '.');
        if (strcasecmp(word, synonyms[i].word) == 0 && index-- == 0) return dot ? dot + 1 : key;
    }
    return NULL;
}

/* section.name for a name of the list that is near, else NULL; a key of the same name elsewhere is
 * near as well. */
static const char *suggest(const char *key, const struct key_list *list) {
    int section = ht_option_section(key);
    const char *name = key + (section ? section + 1 : 0);
    const char *whole[KEYS_MAX];
    int count = 0;
    const char *near = ht_text_nearest(name, list->name, list->count);
    if (near) return near - (section ? section + 1 : 0);
    const char *meant = synonym(key);
    if (meant && section && !strncmp(meant, key, (size_t)section + 1)) return meant;
    for (int i = 0; i < ht_option_count() && count < KEYS_MAX; i++) {
        const char *other = ht_option_at(i)->key;
        int skip = ht_option_section(other);
        if (strcmp(other + (skip ? skip + 1 : 0), name) == 0) return other;
        whole[count++] = other;
    }
    if (meant) return meant;
    /* A section that exists was searched: other sections only mislead. At the top a name may be
     * that of any of them. */
    if (section && list->count) return NULL;
    if (section) return ht_text_nearest(key, whole, count);
    for (int i = 0; i < count; i++) {
        int skip = ht_option_section(whole[i]);
        const char *other = whole[i] + (skip ? skip + 1 : 0);
        if (ht_text_nearest(name, &other, 1)) return whole[i];
    }
    return ht_text_nearest(key, whole, count);
}

enum ht_err ht_params_unknown_key(const struct ht_setting *setting) {
    struct key_list list = {0};
    const int section = ht_option_section(setting->key);
    char has[96];
    for (int i = 0; i < ht_option_count() && list.count < KEYS_MAX; i++) {
        const char *key = ht_option_at(i)->key;
        if (ht_option_section(key) != section || strncmp(key, setting->key, (size_t)section) != 0)
            continue;
        list.name[list.count++] = key + (section ? section + 1 : 0);
    }
    snprintf(has, sizeof has, "; %.*s has the keys", section, setting->key);
    return ht_option_unknown(setting, "key", suggest(setting->key, &list), has,
                             section ? list.count : 0, list.name);
}

/* All sections, each once; the names end at the section's length, so they are copied. */
enum ht_err ht_params_unknown_group(const struct ht_setting *setting) {
    char name[16][32];
    const char *pointer[16];
    int count = 0;
    for (int i = 0; i < ht_option_count() && count < 16; i++) {
        const char *key = ht_option_at(i)->key;
        int length = ht_option_section(key);
        snprintf(name[count], sizeof name[count], "%.*s", length, key);
        if (!length || (count && !strcmp(name[count - 1], name[count]))) continue;
        pointer[count] = name[count];
        count++;
    }
    const char *near = ht_text_nearest(setting->key, pointer, count);
    return ht_option_unknown(setting, "group", near ? near : synonym(setting->key), "; there are",
                             count, pointer);
}
