/* The rows of src/plan/scheme.c. A new scheme needs its name in HT_EACH_SCHEME (htwave/params.h), a
 * row and a line here. */
#pragma once

#include "src/solve/methods.h"

extern const struct ht_scheme ht_scheme_taylor;
extern const struct ht_scheme ht_scheme_leapfrog;
extern const struct ht_scheme ht_scheme_fd;
