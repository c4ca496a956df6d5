/* Laws, as factors of the tests count them: a system and a scheme. */
#ifndef TEST_KERNEL_LAW_H
#define TEST_KERNEL_LAW_H

#include "htwave/system.h"

/* Law number n: a system, and its scheme. */
static inline const struct ht_system *law_at(int n, bool *leapfrog) {
    for (int s = 0; s < ht_system_count(); s++)
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

#endif
