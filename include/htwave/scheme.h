/* Time-stepping schemes: how half steps make time steps. One row per scheme in src/plan/scheme_*.c;
 * the rest of the program uses the properties of a row, never its name. Names of time.scheme:
 * params.h.
 */
#ifndef HTWAVE_SCHEME_H
#define HTWAVE_SCHEME_H

#include "htwave/params.h"
#include "htwave/system.h"

struct ht_method;
struct ht_plan;
struct ht_problem;
struct ht_stepper;

/* The form of equations for a scheme. */
struct ht_form {
    unsigned stored[2]; /* field mask per grid; 0: all fields */
    int old_sign;       /* as in ht_spec */
};

/* Model of the rounding errors: src/plan/expect.c. */
struct ht_rounding {
    double power, below, above;  /* a, b, c */
    double factor[HT_MAX_ORDER]; /* A, for N = 1, 2, .. */
    double wide;                 /* A and c in double precision, relative; 0: the same */
};

/* A quadratic form that a run conserves up to rounding; `measure` as ht_conserved_energy, for plans
 * with `known`. physical: the energy of docs/method.md, section 9, at the primary grid's time;
 * NULL:
 * ht_state_measure has it. */
struct ht_invariant {
    bool (*known)(const struct ht_plan *plan);
    enum ht_err (*measure)(const struct ht_plan *plan, const struct ht_stepper *stepper,
                           double *energy);
    enum ht_err (*physical)(const struct ht_plan *plan, const struct ht_stepper *stepper,
                            double *energy);
};

/* How a grid holds fields: their derivatives at the nodes, or values alone. */
enum ht_method_name { HT_HERMITE, HT_FINITE_DIFFERENCES };

struct ht_scheme {
    const char *name;  /* value of time.scheme */
    const char *title; /* name in a sentence */
    enum ht_method_name method;
    const struct ht_method *does; /* src/solve/methods.h */

    /* Whether a half step adds to the values of its target grid one step earlier. Then the grids
     * hold fields at times dt/2 apart, and both together are the state. Else a half step overwrites
     * the target grid with the state half a step later. */
    bool two_level;
    bool dissipates; /* the energy of a conserving system can only fall */
    bool reversible; /* in a uniform medium a half step with -dt from the same
                        grid undoes one with dt, up to rounding */
    /* Why varying media are refused, to follow "the medium varies, and"; NULL:
     * they are allowed. */
    const char *varying;
    /* Growth of the watched energy at which a run is stopped; 0:
     * src/solve/energy_watch.c chooses it by the resolution of the state. */
    double most_growth;
    double usual_part; /* of the largest stable step: the default step */
    int usual_order;   /* what grid.order = 0 takes */
    /* A one-level scheme whose backward half step from time 0 gives the dual grid's values at
     * -dt/2; NULL if the primary grid suffices as start, which is the case if two_level is false.
     */
    const struct ht_scheme *starter;

    /* Sets *out and returns NULL; or returns why the equations have no such form, to follow "the
     * fields of SYSTEM". */
    const char *(*form)(const struct ht_equations *eq, struct ht_form *out);
    /* The functions below need equations that have the form. */
    /* As ht_stability_full, ht_stability_cfl and ht_stability_stages. */
    int (*full_stages)(const struct ht_equations *eq, int order);
    double (*largest_cfl)(const struct ht_equations *eq, int order, int stages);
    int (*least_stages)(const struct ht_equations *eq, int order, double cfl);
    const struct ht_rounding *(*rounding)(const struct ht_equations *eq);
    const struct ht_invariant *invariant; /* NULL: none */
};

/* The rows in the order of enum ht_scheme_name. The first is the default scheme, which titles omit.
 */
int ht_scheme_count(void);
const struct ht_scheme *ht_scheme_at(int index);
/* The scheme with this name, or NULL. */
const struct ht_scheme *ht_scheme_find(const char *name);
/* The scheme's name for titles: "" for the default scheme. */
const char *ht_scheme_mark(const struct ht_scheme *scheme);
bool ht_scheme_steps(const struct ht_scheme *scheme, const struct ht_equations *eq);

#endif
