/* The table of time-stepping schemes and functions common to all schemes.
 */
#include <math.h>
#include <string.h>

#include "schemes.h"
#include "src/solve/methods.h"

const struct ht_method ht_method_hermite = HT_METHOD_ROW(hermite);
const struct ht_method ht_method_differences = HT_METHOD_ROW(differences);

static const struct ht_scheme *const schemes[] = {
    [HT_TAYLOR] = &ht_scheme_taylor,
    [HT_LEAPFROG] = &ht_scheme_leapfrog,
    [HT_DIFFERENCES] = &ht_scheme_fd,
};
enum { COUNT = sizeof schemes / sizeof schemes[0] };

#define NUMBER(constant, word) NUMBER_OF_##constant,
enum { HT_EACH_SCHEME(NUMBER) WORDS };
_Static_assert((int)COUNT == (int)WORDS, "a row per value of time.scheme");

int ht_scheme_count(void) {
    return COUNT;
}

const struct ht_scheme *ht_scheme_at(int index) {
    return schemes[index];
}

const struct ht_scheme *ht_scheme_find(const char *name) {
    for (int i = 0; i < COUNT; i++)
        if (strcmp(schemes[i]->name, name) == 0) return schemes[i];
    return NULL;
}

const char *ht_scheme_mark(const struct ht_scheme *scheme) {
    return scheme == schemes[0] ? "" : scheme->name;
}

bool ht_scheme_steps(const struct ht_scheme *scheme, const struct ht_equations *eq) {
    struct ht_form form;
    return scheme->form(eq, &form) == NULL;
}

/* ---- problems ---- */

/* ---- the invariant ---- */
