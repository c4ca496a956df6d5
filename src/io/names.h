/* What an input may name of outputs: fields, and the user's names of units (output.units). */
#pragma once

#include "htwave/h5.h"
#include "htwave/medium.h"

/* stored: bit per field of the primary grid, 0: all. */
bool ht_fields_stored(unsigned stored, int field);
/* The field of this name; refuses, naming the key, one that the equations do not have, or that is
 * not stored. */
HT_CHECKED enum ht_err ht_fields_find(const struct ht_params *params, const struct ht_equations *eq,
                                      unsigned stored, const char *key, const char *name,
                                      int *field);

/* Refuses units of what the equations do not have, and what is no text. */
HT_CHECKED enum ht_err ht_units_check(const struct ht_params *params,
                                      const struct ht_equations *eq);
/* Of "length", "time", a field or a parameter of the medium; NULL: not given, or empty. */
const char *ht_units_name(const struct ht_params *params, const char *quantity);
/* Attributes of a file: unit_NAME for each that is given. */
HT_CHECKED enum ht_err ht_units_write(const struct ht_map *units, struct ht_h5 *file);
