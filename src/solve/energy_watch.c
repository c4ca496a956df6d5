/* Does a run grow? By a scheme that dissipates energy can only fall, by others
 * it stays within bounds, so growth is an instability long before it overflows.
 *
 * Two measures of a state are watched (ht_state_measure), and the lower growth
 * of the two counts, since each alone can rise in a run that is right. Nodal
 * values give the energy of waves of more than two cells per wavelength
 * exactly, but of shorter ones and of a pulse between nodes what the nodes
 * happen to see. The Taylor polynomials at h/4 from the nodes see waves down to
 * one cell per wavelength, with the error of these polynomials. Where the two
 * differ the data are not resolved, and the energy is known roughly only.
 *
 * By a scheme of two levels only a part of the energy is known at one time;
 * that of both grids together is watched.
 */
#include <math.h>
#include <string.h>

#include "htwave/energy.h"

/* A field that has decayed to rounding errors may fluctuate: values below this
 * part of the first are not watched. (2^-24)^2 in single precision, and some
 * for their accumulation. */
static const double ROUNDING = 1e-11;

const char *ht_growth_cause(const struct ht_plan *plan) {
    if (plan->problem.fd.order > 0)
        return "the largest stable step was estimated too long for this "
               "medium, or the device computes wrongly; take a smaller time.cfl";
    if (plan->medium->uniform)
        return "the step is stable for this scheme, so the grid does not "
               "resolve the initial data, or rounding or the device is to "
               "blame; try more cells or device.precision = \"double\"";
    return "the medium: Hermite methods are not proven stable where it varies, "
           "and grow where it jumps or is not resolved, at every order; smooth "
           "it over six cells or more, with medium.degree at its default, or "
           "take a lower grid.order or time.cfl";
}

/* The value as a multiple of the lowest so far, or of `least`. */
static double growth(double now, double least, double *lowest, double *first) {
    if (!(*first > 0)) *first = *lowest = now;
    if (!(*first > 0) || isinf(*first)) return 1; /* squares overflowed */
    if (!isfinite(now)) return (double)INFINITY;
    *lowest = fmax(fmin(*lowest, now), ROUNDING * *first);
    return now / fmax(*lowest, least);
}

/* The two energies agree within the polynomials' error, 0.15 for N = 1 at four
 * cells per wavelength, and the waves are resolved as far as the initial data
 * tell: of a Gaussian the shortest are meant, which have little of its energy.
 * Random data may seem resolved by chance. Others of which nothing is known
 * count as resolved where the medium varies, which is where runs grow. */
static bool resolved(const struct ht_plan *plan, const struct ht_state *state) {
    const double differ = 0.25;
    const double cells = plan->solution->single_wave ? 2.5 : 1.2;
    bool known = plan->cells_per_wavelength > 0;
    bool random = strcmp(plan->params->initial.type, "random") == 0;
    bool fine = known ? plan->cells_per_wavelength >= cells
                      : !plan->medium->uniform && !random;
    return fine &&
           fabs(state->content - state->energy) <= differ * state->energy;
}

static bool is_first_order(const struct ht_plan *plan) {
    for (int t = 0; t < plan->eq.nterms; t++)
        if (plan->eq.term[t].derivative > 1) return false;
    return true;
}

/* Growth at which a run ends, where the scheme does not say. A varying medium
 * is the likely cause, and what grows there is not resolved. Elsewhere data
 * that are not resolved show an energy that fluctuates, of the second-order
 * equation most. */
static double most_growth(const struct ht_plan *plan,
                          const struct ht_energy_watch *watch) {
    const double doubled = 2,
                 given = ht_problem_scheme(&plan->problem)->most_growth;
    if (given > 0) return given;
    if (!watch->rough) return doubled;
    if (plan->medium->uniform) return is_first_order(plan) ? 100 : 1e4;
    return is_first_order(plan) || !watch->began_rough ? doubled : 100;
}

/* Rise above which a run is said to grow: random data in smooth media were seen
 * to rise by 0.1, those of second-order equations by 4, a pulse of theirs by
 * 0.05; and rounding may add what is expected of it. */
static double small_rise(const struct ht_plan *plan,
                         const struct ht_energy_watch *watch) {
    const double small = is_first_order(plan) ? 0.01 : 0.1;
    if (watch->rough) return is_first_order(plan) ? 0.2 : 10;
    return plan->medium->uniform ? fmax(small, 2 * plan->expected.high) : small;
}

enum ht_err ht_energy_watch(const struct ht_plan *plan, double time,
                            const struct ht_state *state,
                            struct ht_energy_watch *watch) {
    const struct ht_scheme *scheme = ht_problem_scheme(&plan->problem);
    bool loses = scheme->dissipates, begins = !(watch->first_content > 0);
    if (!plan->eq.system->energy.conserved) return HT_OK;
    watch->rough = watch->rough || !resolved(plan, state);
    if (begins) watch->began_rough = watch->rough;
    double most = most_growth(plan, watch);
    /* Gradients between the nodes that polynomials of low order do not see. */
    watch->slope = fmax(watch->slope, state->slope);
    double least = watch->rough ? 0.01 * watch->slope : 0;
    double content =
        growth(state->content, least, &watch->content, &watch->first_content);
    double energy =
        growth(state->energy, least, &watch->energy, &watch->first_energy);
    double both = scheme->two_level ? content : fmin(content, energy);
    if (loses && (!watch->rough || !plan->medium->uniform))
        watch->rise = fmax(watch->rise, both - 1);
    watch->grows = watch->grows || watch->rise > small_rise(plan, watch);
    if (both < most) return HT_OK;
    FAIL(HT_ERR_NOT_FINITE,
         "the energy has grown %.3g-fold by time %g%s: unstable; likely "
         "cause: %s",
         both, time, loses ? ", and this scheme can only lose it" : "",
         ht_growth_cause(plan));
}
