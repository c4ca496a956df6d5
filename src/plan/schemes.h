/* The rows of src/plan/scheme.c. A new scheme needs its name in HT_EACH_SCHEME (htwave/params.h), a
 * row and a line here.
 */
#ifndef HTWAVE_PLAN_SCHEMES_H
#define HTWAVE_PLAN_SCHEMES_H

#include "src/solve/methods.h"

extern const struct ht_scheme ht_scheme_taylor;
extern const struct ht_scheme ht_scheme_leapfrog;
extern const struct ht_scheme ht_scheme_fd;

#endif
