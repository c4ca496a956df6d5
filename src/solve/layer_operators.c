/* Which layers are computed by operators, and by which kernels; see
 * layer_kernels.h.
 */
#include "layer_kernels.h"

#include <math.h>
#include <string.h>

/* The kernel's axes: those without a layer first. */
static void set_turn(unsigned axes, int dims, int turn[3]) {
    int order[3] = {0, 1, 2}, count = 0;
    for (int k = 0; k < dims; k++)
        if ((axes >> k & 1u) == 0) order[count++] = k;
    for (int k = 0; k < dims; k++)
        if (axes >> k & 1u) order[count++] = k;
    for (int k = 0; k < 3; k++) turn[k] = (order[k] + 3 - k) % 3;
}

/* The fastest kernels by operators that compute the spec. */
static const struct ht_variant *find_variant(const struct ht_problem *law,
                                             const struct ht_device_info *info,
                                             const struct ht_tuning *tuning) {
    struct ht_tuning layers = *tuning;
    if (!info->gpu) return ht_variant_find("propagator", NULL, false);
    layers.variant = ht_variant_find("propagator-layers", NULL, true);
    const struct ht_spec spec = ht_problem_spec(law, &layers, HT_PRIMARY);
    return ht_variant_refuses(layers.variant, &spec) == NULL
               ? layers.variant
               : ht_variant_find("propagator-tensor", NULL, true);
}

void ht_layer_plan(const struct ht_problem *law,
                   const struct ht_device_info *info,
                   const struct ht_tuning *interior, unsigned axes,
                   bool operators, struct ht_layer_plan *out) {
    const bool each = axes + 1 == 1u << law->eq->dims;
    struct ht_tuning *tuning = &out->tuning;
    int turn[3] = {0};
    *tuning = *interior;
    tuning->variant = operators ? find_variant(law, info, tuning)
                                : ht_variant_find("monolithic", NULL, true);
    tuning->sorted = ht_problem_spec(law, interior, HT_PRIMARY).sorted;
    tuning->trim = false;
    tuning->cells = tuning->rows = tuning->planes = 0;
    if (operators) set_turn(axes, law->eq->dims, turn);
    for (int i = 0; i < 2; i++) {
        out->spec[i] = ht_problem_spec(law, tuning, i ? HT_DUAL : HT_PRIMARY);
        memcpy(out->spec[i].turn, turn, sizeof turn);
    }
    /* neighbours may have different operators */
    if (operators && each) tuning->cells = 1;
    if (operators && (axes >> ht_spec_axis(&out->spec[0], 1) & 1u))
        tuning->rows = 1;
}

enum ht_err ht_layer_law(const struct ht_problem *problem, unsigned axes,
                         struct ht_equations *eq, struct ht_law *law) {
    TRY(ht_equations_absorb(problem->eq, axes, eq));
    eq->profile_degree = problem->layers->profile_degree;
    *law = (struct ht_law){.medium_degree = problem->medium_degree < 0 ? -1 : 0,
                           .eq = eq,
                           .stages = problem->layers->stages};
    memcpy(law->uniform, problem->uniform, sizeof law->uniform);
    return HT_OK;
}

/* The plan of a set of axes by operators, whether they apply or not. */
static enum ht_err plan_operators(const struct ht_problem *problem,
                                  const struct ht_device_info *info,
                                  const struct ht_tuning *tuning, unsigned axes,
                                  struct ht_equations *eq,
                                  struct ht_layer_plan *out) {
    struct ht_law law;
    TRY(ht_layer_law(problem, axes, eq, &law));
    const struct ht_problem p = ht_problem_with_law(problem, &law);
    ht_layer_plan(&p, info, tuning, axes, true, out);
    return HT_OK;
}

/* Why the equations of these axes have none; the plan refers to eq. */
static const char *refuses(const struct ht_problem *problem,
                           const struct ht_device_info *info,
                           const struct ht_tuning *tuning, unsigned axes,
                           struct ht_equations *eq,
                           struct ht_layer_plan *plan) {
    const bool sorted = ht_problem_spec(problem, tuning, HT_PRIMARY).sorted;
    if (problem->medium_degree >= 0) return "they need a uniform medium";
    if (axes + 1 == 1u << problem->eq->dims &&
        (info->gpu || problem->eq->dims == 3))
        return "groups of targets have no operator in common";
    if (plan_operators(problem, info, tuning, axes, eq, plan) != HT_OK)
        return ht_err_message();
    const struct ht_variant *variant = plan->tuning.variant;
    if (!sorted && (variant->layouts & HT_READS_PLAIN) == 0)
        return "the interior's kernels do not sort coefficients by parity";
    const char *reason = ht_variant_refuses(variant, &plan->spec[0]);
    return reason != NULL ? reason : ht_variant_lacks(variant, info);
}

const char *ht_layer_refuses_operators(const struct ht_problem *problem,
                                       const struct ht_device_info *info,
                                       const struct ht_tuning *tuning) {
    const unsigned all = ht_absorbing_axes(problem->layers);
    struct ht_equations eq;
    struct ht_layer_plan plan = {.tuning = {.variant = NULL}};
    for (int k = 0; k < 3; k++) {
        const char *reason =
            all >> k & 1u ? refuses(problem, info, tuning, 1u << k, &eq, &plan)
                          : NULL;
        if (reason != NULL) return reason;
    }
    return NULL;
}

/* Whether the layers of an axis share operators: the upper one is the lower
 * one's mirror image. */
static bool is_mirror(const struct ht_layer side[2]) {
    return side[0].cells == side[1].cells && side[0].length == side[1].length &&
           side[0].degree == side[1].degree && side[0].most == side[1].most &&
           side[0].alpha == side[1].alpha && side[0].sponge == side[1].sponge;
}

/* Operators where these axes overlap, of all sides and both grids. */
static int64_t count_operators(const struct ht_layers *layers, unsigned axes) {
    int64_t count[2] = {1, 1};
    for (int n = 0; n < 6; n++) {
        const struct ht_layer *side = layers->side[n / 2];
        int64_t depths = 0;
        if ((axes >> n / 2 & 1u) == 0) continue;
        for (int i = 0; i < (is_mirror(side) ? 1 : 2); i++)
            if (side[i].cells > 0) depths += side[i].cells + n % 2;
        count[n % 2] *= depths;
    }
    return count[0] + count[1];
}

/* Making operators takes a core some 4e-8 to 1e-7 s per number, of cubic
 * profiles and in double precision 4e-7 s, and they stay in the device's
 * memory. A tenth of a second is none. GPUs make four of an operator's
 * multiplications on tensor cores, in single precision, while they make one of
 * the series (measured: bench/NOTES_layers.md).
 */
static bool pays(const struct ht_problem *problem,
                 const struct ht_device_info *info,
                 const struct ht_layer_plan *plan, unsigned axes) {
    const bool fast = info->gpu && !plan->spec[0].fp64;
    const double part = fast ? 1.0 / 8 : info->gpu ? 1.0 / 32 : 4, few = 2.5e5;
    const double worth = fast ? 4 : 1;
    const struct ht_variant *series = ht_variant_find("monolithic", NULL, true);
    const double fma =
        ht_variant_cost(plan->tuning.variant, &plan->spec[0], -1).fma;
    const double state = (double)ht_grid_total(problem->grid, HT_PRIMARY) *
                         ht_grid_coefs(problem->grid) * problem->eq->nfields;
    return problem->eq->dims > 1 &&
           fma < worth * ht_variant_cost(series, &plan->spec[0], -1).fma &&
           (double)count_operators(problem->layers, axes) * fma <
               fmax(part * state, few);
}

/* The plan of these axes, if they are computed by operators; it refers to eq.
 */
static bool chosen(const struct ht_problem *problem,
                   const struct ht_device_info *info,
                   const struct ht_tuning *tuning, unsigned axes,
                   struct ht_equations *eq, struct ht_layer_plan *plan) {
    const enum ht_organisation organisation = problem->fd.organisation;
    if (organisation != HT_ORGANISATION_OPERATORS &&
        organisation != HT_ORGANISATION_AUTO)
        return false;
    if (refuses(problem, info, tuning, axes, eq, plan) != NULL ||
        plan->tuning.variant == NULL) /* as before it was planned */
        return false;
    return organisation == HT_ORGANISATION_OPERATORS ||
           pays(problem, info, plan, axes);
}

bool ht_layer_by_operators(const struct ht_problem *problem,
                           const struct ht_device_info *info,
                           const struct ht_tuning *tuning, unsigned axes) {
    struct ht_equations eq;
    struct ht_layer_plan plan = {.tuning = {.variant = NULL}};
    return chosen(problem, info, tuning, axes, &eq, &plan);
}

bool ht_layer_sorts(const struct ht_problem *problem,
                    const struct ht_device_info *info,
                    const struct ht_tuning *tuning) {
    const unsigned all =
        problem->layers != NULL ? ht_absorbing_axes(problem->layers) : 0;
    struct ht_tuning sorted = *tuning;
    sorted.sorted = true;
    if (tuning->variant == NULL || tuning->variant->layouts != HT_READS_ANY)
        return false;
    for (unsigned axes = 1; axes < HT_LAYER_SETS; axes++) {
        struct ht_equations eq;
        struct ht_layer_plan plan = {.tuning = {.variant = NULL}};
        if ((axes & ~all) == 0 &&
            chosen(problem, info, &sorted, axes, &eq, &plan) &&
            (plan.tuning.variant->layouts & HT_READS_PLAIN) == 0)
            return true;
    }
    return false;
}

int64_t ht_layer_operator_bytes(const struct ht_problem *problem,
                                const struct ht_device_info *info,
                                const struct ht_tuning *tuning) {
    const unsigned all = ht_absorbing_axes(problem->layers);
    int64_t bytes = 0;
    for (unsigned axes = 1; axes < HT_LAYER_SETS; axes++) {
        struct ht_equations eq;
        struct ht_layer_plan plan = {.tuning = {.variant = NULL}};
        struct ht_shape shape;
        int64_t values;
        if ((axes & ~all) != 0 ||
            !chosen(problem, info, tuning, axes, &eq, &plan))
            continue;
        if (ht_variant_shape(&plan.tuning, &plan.spec[0], info, &shape) ==
                HT_OK &&
            ht_operator_values(plan.tuning.variant, &plan.spec[0], &shape,
                               &values) == HT_OK)
            bytes += count_operators(problem->layers, axes) * values *
                     (tuning->fp64 ? 8 : 4);
    }
    return bytes;
}

const char *ht_layer_organisation(const struct ht_problem *problem,
                                  const struct ht_device_info *info,
                                  const struct ht_tuning *tuning) {
    const unsigned all = ht_absorbing_axes(problem->layers);
    bool by = false, series = false;
    for (unsigned axes = 1; axes < HT_LAYER_SETS; axes++) {
        const bool corner =
            problem->eq->dims > 1 && axes + 1 == 1u << problem->eq->dims;
        if ((axes & ~all) != 0) continue;
        if (ht_layer_by_operators(problem, info, tuning, axes))
            by = true;
        else
            series = series || !corner;
    }
    return !by      ? "regions"
           : series ? "operators, regions where these need less"
                    : "operators";
}
