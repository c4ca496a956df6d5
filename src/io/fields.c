#include "fields.h"

bool ht_fields_stored(unsigned stored, int field) {
    return stored == 0 || (stored >> field & 1u);
}

/* Names of the fields that can be written. */
static void add_names(const struct ht_equations *eq, unsigned stored, struct ht_text *names) {
    for (int f = 0; f < eq->nfields; f++)
        if (ht_fields_stored(stored, f))
            ht_text_add(names, "%s%s", names->length > 0 ? ", " : "", eq->field[f].name);
}

enum ht_err ht_fields_find(const struct ht_params *params, const struct ht_equations *eq,
                           unsigned stored, const char *key, const char *name, int *field) {
    struct ht_text known = {0};
    *field = ht_equations_field(eq, name);
    if (*field >= 0 && ht_fields_stored(stored, *field)) return HT_OK;
    add_names(eq, stored, &known);
    enum ht_err err = ht_text_status(&known);
    if (!err && *field >= 0)
        err = ht_params_error(params, key,
                              "\"%s\" is not stored at the times and nodes of "
                              "outputs by time.scheme = \"%s\", which stores "
                              "%s there; \"taylor\" stores all fields",
                              name, ht_scheme_word(params->time.scheme), known.data);
    else if (!err)
        err = ht_params_error(params, key, "no field \"%s\": %s in %d dimension%s has %s", name,
                              eq->system->name, eq->dims, eq->dims == 1 ? "" : "s", known.data);
    ht_text_free(&known);
    return err;
}
