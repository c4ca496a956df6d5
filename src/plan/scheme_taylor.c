/* The Taylor scheme: the state of the dual grid half a step later is the Taylor series in time of
 * the cells' interpolants, and likewise from the dual to the primary grid (docs/method.md, sections
 * 2 to 5). Interpolation is a projection, so waves that the grid does not resolve are damped.
 */
#include "schemes.h"

static const char *form(const struct ht_equations *eq, struct ht_form *out) {
    (void)eq;
    *out = (struct ht_form){.old_sign = 0};
    return NULL;
}

static int full_stages(const struct ht_equations *eq, int order) {
    return ht_stability_full(eq->symbol, eq->dims, order);
}

static double largest_cfl(const struct ht_equations *eq, int order, int stages) {
    return ht_stability_cfl(eq->symbol, eq->dims, order, stages);
}

static int least_stages(const struct ht_equations *eq, int order, double cfl) {
    return ht_stability_stages(eq->symbol, eq->dims, order, cfl);
}

/* Rounding of the pair (u, u_t) was measured in 1-D only. */
static const struct ht_rounding *rounding(const struct ht_equations *eq) {
    static const struct ht_rounding first_order = {
        .power = 0.75, .below = 15, .above = 12, .factor = {6, 6, 8, 8, 12, 28, 70, 180}};
    static const struct ht_rounding pair = {
        .power = 0.75, .below = 20, .above = 20, .factor = {20, 20, 20, 40, 80, 350, 1600, 7000}};
    return eq->symbol == HT_SYMBOL_PAIR ? &pair : &first_order;
}

const struct ht_scheme ht_scheme_taylor = {
    .name = "taylor",
    .title = "Taylor",
    .dissipates = true,
    .usual_part = 1,
    .usual_order = 3,
    .does = &ht_method_hermite,
    .form = form,
    .full_stages = full_stages,
    .largest_cfl = largest_cfl,
    .least_stages = least_stages,
    .rounding = rounding,
};
