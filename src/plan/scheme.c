/* The time-stepping schemes, a row each, and functions common to all of them. */
#include "plan_parts.h"

const struct ht_method ht_method_hermite = HT_METHOD_ROW(hermite, hermite);
const struct ht_method ht_method_differences = HT_METHOD_ROW(differences, differences);
const struct ht_method ht_method_staggered = HT_METHOD_ROW(staggered, differences);

/* What the rows of Hermite methods have in common. */
#define HERMITE                                                                        \
    .does = &ht_method_hermite, .cells = "cells", .order_is = "N = ", .usual_part = 1, \
    .usual_order = 3, .orders = {1, 2, 3, 4, 5, 6, 7, 8}, .order_step = 1,             \
    .most_order = HT_MAX_ORDER, .order_of = "N of Hermite methods",                    \
    .closed = "Hermite methods have mirrors alone",                                    \
    .losses = "finite differences, which damp by the trapezoidal rule"

/* The state of the dual grid half a step later is the Taylor series in time of the cells'
 * interpolants, and likewise from the dual to the primary grid (docs/developers/method.md, sections
 * 2 to 5). Interpolation is a projection, so waves that the grid does not resolve are damped. */
static const char *taylor_form(HT_UNUSED const struct ht_equations *eq, struct ht_form *out) {
    *out = (struct ht_form){.old_sign = 0};
    return NULL;
}

static enum ht_symbol taylor_symbol(const struct ht_equations *eq) {
    return eq->symbol;
}

const struct ht_scheme ht_scheme_taylor = {
    HERMITE,
    .name = "taylor",
    .title = "Taylor",
    .dissipates = true,
    .margin = {1, 1.25},
    .form = taylor_form,
    .symbol = taylor_symbol,
    .rounding = {{.power = 0.75, .below = 15, .above = 12, .factor = {6, 6, 8, 8, 12, 28, 70, 180}},
                 /* measured in 1-D only */
                 {.power = 0.75,
                  .below = 20,
                  .above = 20,
                  .factor = {20, 20, 20, 40, 80, 350, 1600, 7000}}},
};

/* Twice the odd or even powers of dt of a Taylor half step, added to the values one step earlier,
 * for systems whose fields form two groups that only change each other (docs/developers/method.md,
 * section 13). With -dt that part is multiplied by -old_sign: the same half step runs backwards. */
static const char *leapfrog_form(const struct ht_equations *eq, struct ht_form *out) {
    if (eq->leapfrog.old_sign == 0) return "do not fall into groups that only change each other";
    *out = (struct ht_form){.old_sign = eq->leapfrog.old_sign};
    memcpy(out->stored, eq->leapfrog.stored, sizeof out->stored);
    return NULL;
}

/* Two equal groups need the even powers. */
static enum ht_symbol leapfrog_symbol(const struct ht_equations *eq) {
    return eq->leapfrog.old_sign < 0 ? HT_SYMBOL_LEAPFROG_EVEN : HT_SYMBOL_LEAPFROG_ODD;
}

/* In a varying medium leapfrog is unstable: interpolation projects in a seminorm that the medium
 * does not conserve, and nothing damps the added energy (docs/developers/method.md, section 13).
 *
 * Wide brackets of rounding: nothing is damped, and the accumulated errors are erratic. `wave`: its
 * mean moves, too (expect.c). In single precision variants with operators are near the likely
 * value, those that compute stages at the upper end. */
const struct ht_scheme ht_scheme_leapfrog = {
    HERMITE,
    .name = "leapfrog",
    .title = "leapfrog",
    .two_level = true,
    .margin = {1, 2},
    .varying =
        "leapfrog grows in varying media, also in smooth ones: use \"taylor\" or a uniform medium",
    .most_growth = 1e4,
    .starter = &ht_scheme_taylor,
    .form = leapfrog_form,
    .symbol = leapfrog_symbol,
    .rounding =
        {{.power = 0.6, .below = 25, .above = 20, .factor = {20, 20, 30, 30, 65, 170, 650, 2000}},
         {.power = 0.6,
          .below = 80,
          .above = 40,
          .factor = {20, 20, 25, 25, 25, 40, 200, 500},
          .wide = 6}},
    .invariant = &ht_leapfrog_energy,
};

/* For u_tt = K div(1/rho grad u): one value per node, order 2R in space, 2 or 4 in time
 * (docs/developers/differences.md). Conserves an energy in every positive medium, and is
 * reversible. */
static const char *fd_form(const struct ht_equations *eq, struct ht_form *out) {
    const struct ht_second_order *form = &eq->second_order;
    if (!form->known) return "do not obey u_tt = K div(1/rho grad u)";
    /* The kernels take walls' factors as they are. */
    if (eq->field[form->field].parity != 0) return "have a u that walls mirror with other signs";
    if (eq->losses != 0) return "lose energy at a point";
    *out = (struct ht_form){.stored = {1u << form->field, 1u << form->field}, .second = form};
    return NULL;
}

/* For first-order systems whose fields are two groups that only change each other: all fields,
 * staggered; order 2R in space, 2 in time. Conserves a discrete energy in every medium. */
static const char *lossy_form(const struct ht_equations *eq, struct ht_form *out) {
    struct ht_pair pair;
    const char *why = ht_pair_make(eq, HT_PAIR_TOGETHER, &pair);
    *out = (struct ht_form){.pair = HT_PAIR_TOGETHER, .early = pair.group[0]};
    return why;
}

static const char *pair_form(const struct ht_equations *eq, struct ht_form *out) {
    return eq->losses != 0 ? "lose energy at a point" : lossy_form(eq, out);
}

/* What the rows of finite differences have in common. */
#define DIFFERENCES                                                                           \
    .name = "fd", .title = "finite differences", .cells = "points", .order_is = "order ",     \
    .order_of = "the order in space of finite differences", .nodal = true, .two_level = true, \
    .usual_part = 0.95, .usual_order = 8, .orders = {4, 8, 16}, .order_step = 2,              \
    .most_order = 2 * HT_FD_RADIUS, .margin = {2, 2}, .most_growth = 1.01

/* The same where fields lose energy at a point, by the trapezoidal rule. */
static const struct ht_scheme scheme_lossy = {DIFFERENCES, .dissipates = true,
                                              .does = &ht_method_staggered, .form = lossy_form};

static const struct ht_scheme scheme_pair = {DIFFERENCES, .does = &ht_method_staggered,
                                             .form = pair_form, .invariant = &ht_fd_energy,
                                             .otherwise = &scheme_lossy};

const struct ht_scheme ht_scheme_fd = {DIFFERENCES, .does = &ht_method_differences, .form = fd_form,
                                       .invariant = &ht_fd_energy, .otherwise = &scheme_pair};

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

const char *ht_scheme_mark(const struct ht_scheme *scheme) {
    return scheme == schemes[0] ? "" : scheme->name;
}

bool ht_scheme_steps(const struct ht_scheme *scheme, const struct ht_equations *eq) {
    struct ht_form form;
    const struct ht_scheme *other = scheme->otherwise;
    return scheme->form(eq, &form) == NULL || (other != NULL && ht_scheme_steps(other, eq));
}
