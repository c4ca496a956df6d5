/* Fields that outputs can hold. */
#ifndef HTWAVE_IO_FIELDS_H
#define HTWAVE_IO_FIELDS_H

#include "htwave/medium.h"

/* stored: bit per field of the primary grid, 0: all. */
bool ht_fields_stored(unsigned stored, int field);
/* The field of this name; refuses, naming the key, one that the equations do not have, or that is
 * not stored. */
HT_CHECKED enum ht_err ht_fields_find(const struct ht_params *params, const struct ht_equations *eq,
                                      unsigned stored, const char *key, const char *name,
                                      int *field);

#endif
