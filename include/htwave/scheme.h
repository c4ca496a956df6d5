/* Time-stepping schemes: how the values of the two grids lead to the next ones.
 * One row per scheme, src/method/scheme_*.c; the rest of the program asks a row
 * for its properties, never for its name. Words of time.scheme: params.h.
 */
#ifndef HTWAVE_SCHEME_H
#define HTWAVE_SCHEME_H

#include "htwave/params.h"
#include "htwave/system.h"

struct ht_plan;
struct ht_problem;
struct ht_stepper;

/* Equations as a scheme steps them. */
struct ht_form {
    unsigned stored[2]; /* per grid a bit per field; 0: all fields */
    int old_sign;       /* as in ht_spec */
};

/* Model of the rounding errors: src/solve/rounding.c. */
struct ht_rounding {
    double power, below, above;  /* a, b, c */
    double factor[HT_MAX_ORDER]; /* A, for N = 1, 2, .. */
};

/* A quadratic form that a run conserves to rounding; measure as
 * ht_conserved_energy, for plans for which it is known. */
struct ht_invariant {
    bool (*known)(const struct ht_plan *plan);
    enum ht_err (*measure)(const struct ht_plan *plan,
                           const struct ht_stepper *stepper, double *energy);
};

struct ht_scheme {
    const char *name;  /* the word of time.scheme */
    const char *title; /* in a sentence */

    /* A half step adds to the values that its target grid held a step before:
     * the grids hold their fields at times dt/2 apart, and none of them is the
     * whole state. Else it overwrites them with the state half a step later. */
    bool two_level;
    bool dissipates; /* the energy of a conserving system can only fall */
    bool reversible; /* in a uniform medium a half step with -dt from the same
                        grid undoes one with dt, but for rounding */
    /* Why media that vary are refused, behind "the medium varies, and"; NULL:
     * they are not. */
    const char *varying;
    /* Growth of the watched energy at which a run ends; 0: as
     * src/solve/energy_watch.c finds by how well the state is resolved. */
    double most_growth;
    /* A scheme of one level, whose half step back from time 0 gives the dual
     * grid's values at -dt/2; NULL where the primary grid is enough to start
     * from, which is where two_level is false. */
    const struct ht_scheme *starter;

    /* NULL, or why the equations have no such form, behind "the fields of
     * SYSTEM"; then *out is not set. */
    const char *(*form)(const struct ht_equations *eq, struct ht_form *out);
    /* The functions below: of equations that have the form. */
    /* As ht_stability_full, ht_stability_cfl and ht_stability_stages. */
    int (*full_stages)(const struct ht_equations *eq, int order);
    double (*largest_cfl)(const struct ht_equations *eq, int order, int stages);
    int (*least_stages)(const struct ht_equations *eq, int order, double cfl);
    const struct ht_rounding *(*rounding)(const struct ht_equations *eq);
    const struct ht_invariant *invariant; /* NULL: none */
};

/* The rows, in the order of enum ht_scheme_name; the first one is the usual
 * scheme, which titles leave out. */
int ht_scheme_count(void);
const struct ht_scheme *ht_scheme_at(int index);
int ht_scheme_index(const struct ht_scheme *scheme);
/* NULL when there is none of that name. */
const struct ht_scheme *ht_scheme_find(const char *name);
/* Its name for titles: "" of the usual scheme. */
const char *ht_scheme_mark(const struct ht_scheme *scheme);
bool ht_scheme_steps(const struct ht_scheme *scheme,
                     const struct ht_equations *eq);

/* Sets a problem's scheme and what follows from it and problem->eq, where these
 * have the form. The result is that of `form`. */
const char *ht_problem_set_scheme(struct ht_problem *problem,
                                  const struct ht_scheme *scheme);
/* The scheme that was set; of a problem without one that of its `keep`. */
const struct ht_scheme *ht_problem_scheme(const struct ht_problem *problem);

#endif
