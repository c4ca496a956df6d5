/* Leapfrog: twice the odd or even powers of dt of a Taylor half step, added to the values one step
 * earlier (docs/method.md, section 13):
 *     dst(t + dt/2) = old_sign dst(t - dt/2) + 2 (odd or even part of E I src).
 * For systems whose fields form two groups that only change each other (struct ht_leapfrog). With
 * -dt the odd or even part is multiplied by -old_sign, so the same half step runs backwards; the
 * scheme damps nothing.
 */
#include <string.h>

#include "schemes.h"

static const char *form(const struct ht_equations *eq, struct ht_form *out) {
    if (eq->leapfrog.old_sign == 0) return "do not fall into groups that only change each other";
    out->old_sign = eq->leapfrog.old_sign;
    memcpy(out->stored, eq->leapfrog.stored, sizeof out->stored);
    return NULL;
}

/* Two equal groups need the even powers. */
static enum ht_symbol symbol_of(const struct ht_equations *eq) {
    return eq->leapfrog.old_sign < 0 ? HT_SYMBOL_LEAPFROG_EVEN : HT_SYMBOL_LEAPFROG_ODD;
}

static int full_stages(const struct ht_equations *eq, int order) {
    return ht_stability_full(symbol_of(eq), eq->dims, order);
}

static double largest_cfl(const struct ht_equations *eq, int order, int stages) {
    return ht_stability_cfl(symbol_of(eq), eq->dims, order, stages);
}

static int least_stages(const struct ht_equations *eq, int order, double cfl) {
    return ht_stability_stages(symbol_of(eq), eq->dims, order, cfl);
}

/* Wide brackets: nothing is damped, and the accumulated errors are erratic. `wave`: its mean moves,
 * too (expect.c). In single precision variants with operators are near the likely value, those that
 * compute stages at the upper end (docs/method.md, section 13). */
static const struct ht_rounding *rounding(const struct ht_equations *eq) {
    static const struct ht_rounding even = {.power = 0.6,
                                            .below = 80,
                                            .above = 40,
                                            .factor = {20, 20, 25, 25, 25, 40, 200, 500},
                                            .wide = 6};
    static const struct ht_rounding odd = {
        .power = 0.6, .below = 25, .above = 20, .factor = {20, 20, 30, 30, 65, 170, 650, 2000}};
    return eq->leapfrog.old_sign < 0 ? &even : &odd;
}

/* In a varying medium leapfrog is unstable: interpolation projects in a seminorm that the medium
 * does not conserve, and nothing damps the added energy (docs/method.md, section 13). */
const struct ht_scheme ht_scheme_leapfrog = {
    .name = "leapfrog",
    .title = "leapfrog",
    .two_level = true,
    .reversible = true,
    .usual_part = 1,
    .usual_order = 3,
    .varying = "leapfrog grows in varying media, also in smooth ones: use "
               "\"taylor\" or a uniform medium",
    .most_growth = 1e4,
    .starter = &ht_scheme_taylor,
    .does = &ht_method_hermite,
    .form = form,
    .full_stages = full_stages,
    .largest_cfl = largest_cfl,
    .least_stages = least_stages,
    .rounding = rounding,
    .invariant = &ht_leapfrog_energy,
};
