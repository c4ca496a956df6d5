/* The rows of src/solve/scheme.c, one file each. A new scheme needs its name in
 * HT_EACH_SCHEME (htwave/params.h), a file and a line here.
 */
#ifndef HTWAVE_SOLVE_SCHEMES_H
#define HTWAVE_SOLVE_SCHEMES_H

#include "htwave/scheme.h"
#include "methods.h"

extern const struct ht_scheme ht_scheme_taylor;
extern const struct ht_scheme ht_scheme_leapfrog;
extern const struct ht_scheme ht_scheme_fd;

/* energy.c */
extern const struct ht_invariant ht_leapfrog_energy;
/* fd_energy.c */
extern const struct ht_invariant ht_fd_energy;

#endif
