/* The layers of absorbing sides: which kind a scheme takes, and what it takes
 * where the input leaves it open.
 */
#include "plan_layers.h"

/* Measured: docs/absorbing.md. */
static void usual_differences(enum ht_absorbing_type type, int order,
                              struct ht_layer *layer) {
    layer->alpha = 0;
    layer->sponge = 0;
    layer->degree = 2;
    layer->reflection = 4e-3;
    if (type == HT_ABSORBING_SPONGE) return;
    if (order == 4) {
        layer->degree = layer->cells < 16 ? 2 : 3;
        layer->reflection = layer->cells < 16 ? 1e-5 : 1e-7;
    } else {
        layer->degree = layer->cells < 6 ? 2 : layer->cells < 12 ? 3 : 4;
        layer->reflection = layer->cells < 6   ? 1e-5
                            : layer->cells < 8 ? 1e-7
                                               : 1e-8;
    }
}

static enum ht_err refuse(const struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    const struct ht_scheme *scheme = ht_problem_scheme(&plan->problem);
    for (int k = 0; k < plan->grid.dims; k++) {
        char key[24];
        snprintf(key, sizeof key, "boundary.x%d", k + 1);
        if (plan->grid.layer[k][0] > 0 || plan->grid.layer[k][1] > 0)
            return ht_params_error(params, key,
                                   "time.scheme = \"%s\" has no absorbing "
                                   "sides: \"fd\" has",
                                   scheme->name);
    }
    return HT_OK;
}

/* Keys of the Hermite methods' layers. */
static enum ht_err check_differences(const struct ht_params *params) {
    const bool meant[] = {params->absorbing.organisation ==
                              HT_ORGANISATION_OPERATORS,
                          params->absorbing.profile != HT_PROFILE_AUTO,
                          params->absorbing.alpha.kind == HT_VALUE_NUMBERS,
                          params->absorbing.sponge.kind == HT_VALUE_NUMBERS};
    static const char *const keys[] = {"absorbing.organisation",
                                       "absorbing.profile", "absorbing.alpha",
                                       "absorbing.sponge"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (meant[i])
            return ht_params_error(params, keys[i],
                                   "has no meaning with time.scheme = \"fd\": "
                                   "it is for Hermite methods");
    return HT_OK;
}

enum ht_err ht_plan_make_layers(struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    enum ht_absorbing_type type = params->absorbing.type;
    if (!ht_layers_any(&plan->grid)) return HT_OK;
    if (ht_problem_scheme(&plan->problem)->method != HT_FINITE_DIFFERENCES)
        return refuse(plan);
    TRY(check_differences(params));
    if (type == HT_ABSORBING_AUTO) type = HT_ABSORBING_CPML;
    if (type == HT_ABSORBING_SPONGE &&
        params->absorbing.organisation != HT_ORGANISATION_AUTO)
        return ht_params_error(params, "absorbing.organisation",
                               "is of perfectly matched layers: has no meaning "
                               "with absorbing.type = \"sponge\"");
    TRY(ht_layers_make(params, &plan->grid, plan->medium->speed, type,
                       plan->order, usual_differences, &plan->layers));
    if (type == HT_ABSORBING_CPML && params->parallel.halo_depth > 1)
        return ht_params_error(params, "parallel.halo_depth",
                               "must be 1 with absorbing sides (cpml)");
    plan->problem.fd.organisation =
        params->absorbing.organisation == HT_ORGANISATION_AUTO
            ? HT_ORGANISATION_FACES
            : params->absorbing.organisation;
    plan->problem.layers = &plan->layers;
    return HT_OK;
}
