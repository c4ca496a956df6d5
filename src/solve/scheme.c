/* The table of time-stepping schemes and functions common to all schemes.
 */
#include <math.h>
#include <string.h>

#include "htwave/energy.h"
#include "schemes.h"

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

int ht_scheme_index(const struct ht_scheme *scheme) {
    int i = 0;
    while (i < COUNT - 1 && schemes[i] != scheme) i++;
    return i;
}

const struct ht_scheme *ht_scheme_find(const char *name) {
    for (int i = 0; i < COUNT; i++)
        if (strcmp(schemes[i]->name, name) == 0) return schemes[i];
    return NULL;
}

const char *ht_scheme_mark(const struct ht_scheme *scheme) {
    return scheme == schemes[0] ? "" : scheme->name;
}

bool ht_scheme_steps(const struct ht_scheme *scheme,
                     const struct ht_equations *eq) {
    struct ht_form form;
    return scheme->form(eq, &form) == NULL;
}

/* ---- problems ---- */

const char *ht_problem_set_scheme(struct ht_problem *problem,
                                  const struct ht_scheme *scheme) {
    struct ht_form form;
    const char *why = scheme->form(problem->eq, &form);
    /* cppcheck-suppress returnDanglingLifetime ; the reason is a literal */
    if (why != NULL) return why;
    problem->scheme = scheme;
    problem->old_sign = form.old_sign;
    memcpy(problem->stored, form.stored, sizeof problem->stored);
    return NULL;
}

const struct ht_scheme *ht_problem_scheme(const struct ht_problem *problem) {
    if (problem->scheme != NULL) return problem->scheme;
    return problem->old_sign != 0 ? &ht_scheme_leapfrog : &ht_scheme_taylor;
}

/* ---- the invariant ---- */

bool ht_conserves_energy(const struct ht_plan *plan) {
    const struct ht_scheme *scheme = ht_problem_scheme(&plan->problem);
    return scheme->invariant != NULL && scheme->invariant->known(plan);
}

enum ht_err ht_conserved_energy(const struct ht_plan *plan,
                                const struct ht_stepper *stepper,
                                double *energy) {
    const struct ht_scheme *scheme = ht_problem_scheme(&plan->problem);
    *energy = 0;
    REQUIRE(scheme->invariant != NULL, HT_ERR_INTERNAL,
            "%s has no conserved energy", scheme->name);
    TRY(scheme->invariant->measure(plan, stepper, energy));
    *energy /= plan->scale * plan->scale;
    return HT_OK;
}

/* Of acoustics finite differences measure the energy of the rate. */
enum ht_err ht_physical_energy(const struct ht_plan *plan,
                               const struct ht_stepper *stepper,
                               const struct ht_state *state, double *energy) {
    const struct ht_scheme *scheme = ht_problem_scheme(&plan->problem);
    const bool fd = scheme->method == HT_FINITE_DIFFERENCES;
    *energy = NAN;
    if (!plan->eq.system->energy.conserved) return HT_OK;
    if (fd && ht_equations_first_order(&plan->eq)) return HT_OK;
    if (fd || !scheme->two_level) {
        *energy = state->energy / (plan->scale * plan->scale);
        return HT_OK;
    }
    if (!ht_conserves_energy(plan)) return HT_OK;
    *energy = 0;
    TRY(scheme->invariant->physical(plan, stepper, energy));
    *energy /= plan->scale * plan->scale;
    return HT_OK;
}
