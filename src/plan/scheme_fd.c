/* Finite differences for u_tt = K div(1/rho grad u): one value per node, order 2R in space, 2 or 4
 * in time (docs/differences.md). Conserves a discrete energy in every positive medium, and is
 * reversible.
 */
#include <math.h>

#include "schemes.h"

static const char *form(const struct ht_equations *eq, struct ht_form *out) {
    const struct ht_second_order *form = &eq->second_order;
    if (!form->known) return "do not obey u_tt = K div(1/rho grad u)";
    *out = (struct ht_form){.stored = {1u << form->field, 1u << form->field}};
    return NULL;
}

/* Terms of the series in time. */
static int full_stages(const struct ht_equations *eq, int order) {
    (void)eq;
    (void)order;
    return 2;
}

/* Largest c dt/h where the spacing is the same along all axes. One term is stable up to dt omega =
 * 2, two up to sqrt 12. */
static double largest_cfl(const struct ht_equations *eq, int order, int stages) {
    const struct ht_fd_weights w = ht_fd_weights(order);
    return ht_fd_stable(&w, false, stages, eq->dims);
}

static int least_stages(const struct ht_equations *eq, int order, double cfl) {
    return cfl <= largest_cfl(eq, order, 1) ? 1 : 2;
}

static const struct ht_rounding *rounding(const struct ht_equations *eq) {
    (void)eq;
    return NULL;
}

const struct ht_scheme ht_scheme_fd = {
    .name = "fd",
    .title = "finite differences",
    .two_level = true,
    .reversible = true,
    .usual_part = 0.95,
    .usual_order = 8,
    .most_growth = 1.01,
    .method = HT_FINITE_DIFFERENCES,
    .does = &ht_method_differences,
    .form = form,
    .full_stages = full_stages,
    .largest_cfl = largest_cfl,
    .least_stages = least_stages,
    .rounding = rounding,
    .invariant = &ht_fd_energy,
};
