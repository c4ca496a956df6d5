/* Laws, as factors of the tests count them: a system and a scheme. */
#pragma once

#include "htwave/system.h"

#include "test.h"

/* Systems that kernels are tested with: unless all cases are wanted the first three, which have all
 * kinds of terms. Those after them differ in the numbers of fields and terms alone, as do the
 * systems of many_fields.c; their waves are judged by convergence/systems. */
static inline int law_systems(void) {
    return test_all() ? ht_system_count() : 3;
}

/* Law number n: a system, and its scheme. */
static inline const struct ht_system *law_at(int n, bool *leapfrog) {
    for (int s = 0; s < law_systems(); s++)
        for (int scheme = 0; scheme < 2; scheme++) {
            const struct ht_system *system = ht_system_at(s);
            *leapfrog = scheme > 0;
            if (*leapfrog && ht_equations_make(system, 3).leapfrog.old_sign == 0) continue;
            if (n-- == 0) return system;
        }
    return NULL;
}

static inline int law_count(void) {
    bool leapfrog;
    int n = 0;
    while (law_at(n, &leapfrog) != NULL) n++;
    return n;
}
