#include "units.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 24 }; /* bytes of a unit's name */

const char *ht_units_name(const struct ht_params *params, const char *quantity) {
    const struct ht_map *units = &params->output.units;
    for (int i = 0; i < units->count; i++)
        if (strcmp(units->name[i], quantity) == 0) return *units->text[i] ? units->text[i] : NULL;
    return NULL;
}

/* What may have a unit: "length, time, p, v1, c, K, rho". */
static void add_quantities(const struct ht_equations *eq, struct ht_text *list) {
    ht_text_add(list, "length, time");
    for (int f = 0; f < eq->nfields; f++) ht_text_add(list, ", %s", eq->field[f].name);
    for (int p = 0; p < eq->system->nparameters; p++) {
        ht_text_add(list, ", ");
        for (const char *c = eq->system->parameter[p].names; *c; c++)
            if (*c == '|')
                ht_text_add(list, ", ");
            else
                ht_text_add(list, "%c", *c);
    }
}

static bool is_listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; *at; at += strspn(at, ", ")) {
        size_t size = strcspn(at, ",");
        if (size == length && strncmp(at, name, size) == 0) return true;
        at += size;
    }
    return false;
}

/* A control character, or bytes that are no UTF-8, cannot be drawn. */
static bool is_text(const char *unit) {
    return strlen(unit) <= LONGEST && !strchr(unit, '\t') && strcmp(HT_SHOWN(unit), unit) == 0;
}

enum ht_err ht_units_check(const struct ht_params *params, const struct ht_equations *eq) {
    const struct ht_map *units = &params->output.units;
    struct ht_text list = {0}, key = {0};
    add_quantities(eq, &list);
    enum ht_err err = ht_text_status(&list);
    for (int i = 0; !err && i < units->count; i++) {
        ht_text_free(&key);
        ht_text_add(&key, "output.units.%s", units->name[i]);
        err = ht_text_status(&key);
        if (!err && !is_listed(list.data, units->name[i]))
            err = ht_params_error(params, key.data, "must be the unit of one of %s", list.data);
        if (!err && !is_text(units->text[i]))
            err = ht_params_error(params, key.data, "must be text in UTF-8 of at most %d bytes",
                                  LONGEST);
    }
    ht_text_free(&key);
    ht_text_free(&list);
    return err;
}

enum ht_err ht_units_write(const struct ht_map *units, struct ht_h5 *file) {
    for (int i = 0; i < units->count; i++) {
        char name[64];
        snprintf(name, sizeof name, "unit_%s", units->name[i]);
        if (*units->text[i]) TRY(ht_h5_set_text(file, name, units->text[i]));
    }
    return HT_OK;
}
