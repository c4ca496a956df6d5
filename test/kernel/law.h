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

/* Law number n in some dimensions. Coverings ask for each many thousand times: each is derived
 * once. */
static inline struct ht_equations law_at(int n, int dims, bool *leapfrog) {
    enum { MOST = 32 };
    static struct ht_equations eq[MOST][3];
    static bool old[MOST];
    static int count;
    if (count == 0)
        for (int s = 0; s < law_systems(); s++)
            for (int scheme = 0; scheme < 2; scheme++) {
                for (int d = 0; d < 3; d++)
                    eq[count][d] = ht_equations_make(ht_system_at(s), d + 1);
                old[count] = scheme > 0;
                if (scheme == 0 || eq[count][2].leapfrog.old_sign != 0) count++;
            }
    if (n < count) *leapfrog = old[n];
    return n < count ? eq[n][dims - 1] : (struct ht_equations){0};
}

static inline int law_count(void) {
    bool leapfrog;
    int n = 0;
    while (law_at(n, 1, &leapfrog).system != NULL) n++;
    return n;
}
