/* The user's names of units, output.units. */
#ifndef HTWAVE_IO_UNITS_H
#define HTWAVE_IO_UNITS_H

#include "htwave/h5.h"
#include "htwave/params.h"
#include "htwave/system.h"

/* Refuses units of what the equations do not have, and what is no text. */
HT_CHECKED enum ht_err ht_units_check(const struct ht_params *params,
                                      const struct ht_equations *eq);
/* Of "length", "time", a field or a parameter of the medium; NULL: not given, or empty. */
const char *ht_units_name(const struct ht_params *params, const char *quantity);

/* Attributes of a file: unit_NAME for each that is given. */
HT_CHECKED enum ht_err ht_units_write(const struct ht_map *units, struct ht_h5 *file);

#endif
