/* Rules between options that need neither the system nor the device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "params_parts.h"

/* ---- axes that the grid does not have ---- */

/* Entry k of a default such as "[0.0, 0.5]". */
static double default_entry(const struct ht_option *option, int k) {
    if (!option->fallback) return 0;
    const char *at = option->fallback + 1;
    while (k-- > 0) {
        at += strcspn(at, ",");
        if (*at) at++;
    }
    return strtod(at, NULL);
}

static double entry(const struct ht_leaf *leaf, int k) {
    const struct ht_option *option = leaf->option;
    const void *at = (const char *)leaf->base + option->offset;
    if (option->type == HT_OPT_INT3) return ((const int *)at)[k];
    return ((const double *)at)[k];
}

/* Entries for axes beyond the grid's must be the defaults, as the resolved
 * input has them; samples of files have axes of their own. */
static enum ht_err check_entries(const struct ht_params *p) {
    struct ht_leaf leaf;
    for (int i = 0; ht_params_leaf(p, i, &leaf); i++) {
        const struct ht_option *option = leaf.option;
        if (option->type != HT_OPT_REAL3 && option->type != HT_OPT_INT3)
            continue;
        for (int k = p->grid.dims; k < 3; k++)
            if (entry(&leaf, k) != default_entry(option, k))
                return ht_params_error(p, leaf.key,
                                       "has an entry for x%d, but the grid has "
                                       "%d %s (grid.cells)",
                                       k + 1, p->grid.dims,
                                       p->grid.dims > 1 ? "axes" : "axis");
    }
    return HT_OK;
}

static enum ht_err check_boundaries(const struct ht_params *p) {
    for (int k = p->grid.dims; k < 3; k++) {
        char key[32];
        snprintf(key, sizeof key, "boundary.x%d", k + 1);
        if (ht_params_is_set(p, key))
            return ht_params_error(p, key,
                                   "x%d is no axis of the grid, which has %d "
                                   "(grid.cells)",
                                   k + 1, p->grid.dims);
    }
    return HT_OK;
}

/* ---- values together ---- */

static enum ht_err check_box(const struct ht_params *p) {
    for (int axis = 0; axis < p->grid.dims; axis++) {
        double lower = p->grid.lower[axis], upper = p->grid.upper[axis];
        bool blame_lower = !ht_params_is_set(p, "grid.upper");
        if (isfinite(upper - lower) && upper - lower > 0) continue;
        if (blame_lower)
            return ht_params_error(
                p, "grid.lower",
                "must be below grid.upper along every axis, but x%d has %g "
                "and %g",
                axis + 1, lower, upper);
        return ht_params_error(
            p, "grid.upper",
            "must be above grid.lower along every axis, but x%d has %g and %g",
            axis + 1, upper, lower);
    }
    return HT_OK;
}

static enum ht_err check_sides(const struct ht_params *p) {
    for (int axis = 0; axis < p->grid.dims; axis++) {
        char *const *side = p->boundary.side[axis];
        char key[32];
        if (!strcmp(side[0], "periodic") == !strcmp(side[1], "periodic"))
            continue;
        snprintf(key, sizeof key, "boundary.x%d", axis + 1);
        return ht_params_error(p, key,
                               "must be periodic on both sides or on neither");
    }
    return HT_OK;
}

static enum ht_err check_stages(const struct ht_params *p) {
    const struct ht_value *stages = &p->time.stages;
    if (stages->kind != HT_VALUE_NUMBERS) return HT_OK;
    if (stages->count == 1 && stages->number[0] == floor(stages->number[0]))
        return HT_OK;
    return ht_params_error(p, "time.stages",
                           "must be \"auto\", \"full\", \"least\" or a whole "
                           "number");
}

static enum ht_err check_layers(const struct ht_params *p) {
    const struct ht_value *at = &p->medium.interfaces;
    if (p->medium.type != HT_MEDIUM_LAYERS) return HT_OK;
    if ((int)p->medium.axis >= p->grid.dims)
        return ht_params_error(p, "medium.axis",
                               "must be an axis of the grid, which has %d",
                               p->grid.dims);
    if (at->kind != HT_VALUE_NUMBERS)
        return ht_params_error(
            p, "medium.interfaces",
            "must be positions when medium.type is \"layers\"");
    for (int i = 1; i < at->count; i++)
        if (!(at->number[i] > at->number[i - 1]))
            return ht_params_error(p, "medium.interfaces",
                                   "must increase, but %.12g follows %.12g",
                                   at->number[i], at->number[i - 1]);
    return HT_OK;
}

/* Pulses in a list replace the single one. */
static enum ht_err check_pulses(const struct ht_params *p) {
    static const char *const single[] = {"initial.centre", "initial.width",
                                         "initial.amplitude", "initial.field"};
    if (p->initial.pulses.count == 0) return HT_OK;
    if (strcmp(p->initial.type, "gaussian") != 0)
        return ht_params_error(p, "initial.pulses",
                               "is for initial.type \"gaussian\", but the type "
                               "is \"%s\"",
                               p->initial.type);
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (ht_params_is_set(p, single[i]))
            return ht_params_error(p, single[i],
                                   "initial.pulses is given too, whose groups "
                                   "have their own: give one of them");
    return HT_OK;
}

static enum ht_err check_initial(const struct ht_params *p) {
    TRY(check_pulses(p));
    if (strcmp(p->initial.type, "expression") == 0 &&
        p->initial.values.count == 0)
        return ht_params_error(p, "initial.values",
                               "must give a field, such as { p = \"x1\"; }, "
                               "when initial.type is \"expression\"");
    if (strcmp(p->initial.type, "file") == 0 && !*p->initial.file)
        return ht_params_error(
            p, "initial.file",
            "must name a file when initial.type is \"file\"");
    return HT_OK;
}

enum ht_err ht_params_check(const struct ht_params *params) {
    TRY(ht_params_check_lists(params));
    TRY(check_entries(params));
    TRY(check_boundaries(params));
    TRY(check_box(params));
    TRY(check_sides(params));
    TRY(check_stages(params));
    TRY(check_layers(params));
    TRY(ht_params_check_receivers(params));
    TRY(ht_params_check_slices(params));
    TRY(ht_params_check_shots(params));
    return check_initial(params);
}
