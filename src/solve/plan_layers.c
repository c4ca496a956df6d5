/* The layers of absorbing sides: which kind a scheme takes, and what it takes
 * where the input leaves it open.
 */
#include "plan_layers.h"

#include <math.h>

/* Measured (docs/absorbing.md): what layers of at least so many cells take
 * where the input leaves it open, and what they reflect at 10 points per
 * wavelength and 0, 30, 60 degrees, dB. */
struct usual {
    int64_t cells;
    double degree, reflection, db[3];
};
static const struct usual order_four[] = {
    {1, 2, 1e-2, {-8, -9, -12}},   {2, 2, 1e-2, {-24, -24, -30}},
    {4, 2, 1e-4, {-37, -36, -33}}, {6, 2, 1e-4, {-50, -49, -55}},
    {8, 2, 1e-5, {-57, -56, -54}}, {12, 3, 1e-6, {-66, -68, -59}},
    {16, 3, 1e-7, {-80, -83, -65}}};
static const struct usual others[] = {
    {1, 2, 1e-2, {-8, -10, -19}},   {2, 2, 1e-2, {-29, -32, -22}},
    {3, 2, 1e-4, {-38, -47, -44}},  {4, 2, 1e-5, {-49, -52, -53}},
    {6, 3, 1e-7, {-65, -66, -71}},  {8, 3, 1e-8, {-65, -77, -84}},
    {12, 4, 1e-8, {-67, -99, -82}}, {16, 4, 1e-8, {-91, -120, -80}}};
static const struct usual sponges[] = {
    {1, 2, 4e-3, {-1, -1, -1}},     {4, 2, 4e-3, {-7, -6, -4}},
    {8, 2, 4e-3, {-25, -19, -8}},   {12, 2, 4e-3, {-44, -36, -13}},
    {16, 2, 4e-3, {-45, -51, -18}}, {24, 2, 4e-3, {-47, -51, -31}},
    {32, 2, 4e-3, {-47, -53, -46}}};
enum {
    FOURS = sizeof order_four / sizeof *order_four,
    OTHERS = sizeof others / sizeof *others,
    SPONGES = sizeof sponges / sizeof *sponges
};

static const struct usual *usual_of(enum ht_absorbing_type type, int order,
                                    int64_t cells) {
    const bool sponge = type == HT_ABSORBING_SPONGE;
    const struct usual *rows = sponge       ? sponges
                               : order == 4 ? order_four
                                            : others;
    int last = (sponge ? SPONGES : order == 4 ? FOURS : OTHERS) - 1;
    while (rows[last].cells > cells) last--;
    return &rows[last];
}

static void usual_differences(enum ht_absorbing_type type, int order,
                              struct ht_layer *layer) {
    const struct usual *usual = usual_of(type, order, layer->cells);
    layer->alpha = 0;
    layer->sponge = 0;
    layer->degree = usual->degree;
    layer->reflection = usual->reflection;
}

/* A damping that was given in place of the usual one cannot reflect less than
 * its R at normal incidence, R^cos at others. */
void ht_plan_layer_reflection(const struct ht_plan *plan, double db[3]) {
    const double cosine[3] = {1, sqrt(0.75), 0.5};
    for (int i = 0; i < 3; i++) db[i] = -INFINITY;
    for (int n = 0; n < 6; n++) {
        const struct ht_layer *layer = &plan->layers.side[n / 2][n % 2];
        if (layer->cells == 0) continue;
        const struct usual *usual =
            usual_of(plan->layers.type, plan->order, layer->cells);
        for (int i = 0; i < 3; i++)
            db[i] =
                fmax(db[i], fmax(usual->db[i],
                                 20 * log10(layer->reflection) * cosine[i]));
    }
}

/* Words per point and step: of the update in the interior u, d, the modulus and
 * both results; of each layer at a point u, the modulus, d, u', v, F, r and the
 * results of these five; of a sponge u and d, read and written. */
double ht_plan_layer_share(const struct ht_plan *plan) {
    const bool sponge = plan->layers.type == HT_ABSORBING_SPONGE;
    const double inner = 5, words = sponge ? 4 : 12;
    double layers = 0;
    for (int n = 0; n < 6; n++) {
        const struct ht_layer *layer = &plan->layers.side[n / 2][n % 2];
        if (layer->cells > 0)
            layers += (double)layer->cells /
                      (double)ht_grid_nodes(&plan->grid, HT_PRIMARY, n / 2);
    }
    return words * layers / (inner + words * layers);
}

/* Keys of the perfectly matched layers of Hermite methods. */
static enum ht_err refuse_hermite(const struct ht_params *params,
                                  const char *with) {
    const bool meant[] = {params->absorbing.alpha.kind == HT_VALUE_NUMBERS,
                          params->absorbing.sponge.kind == HT_VALUE_NUMBERS,
                          params->absorbing.profile != HT_PROFILE_AUTO};
    static const char *const keys[] = {"absorbing.alpha", "absorbing.sponge",
                                       "absorbing.profile"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (meant[i])
            return ht_params_error(
                params, keys[i],
                "has no meaning with %s: it is for the perfectly matched "
                "layers of Hermite methods",
                with);
    return HT_OK;
}

enum ht_err ht_plan_check_sponge(const struct ht_params *params) {
    TRY(refuse_hermite(params, "absorbing.type = \"sponge\""));
    if (params->absorbing.organisation == HT_ORGANISATION_AUTO) return HT_OK;
    return ht_params_error(params, "absorbing.organisation",
                           "is of perfectly matched layers: has no meaning "
                           "with absorbing.type = \"sponge\"");
}

enum ht_err ht_plan_make_layers(struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    enum ht_absorbing_type type = params->absorbing.type;
    if (!ht_layers_any(&plan->grid)) return HT_OK;
    if (ht_problem_scheme(&plan->problem)->method != HT_FINITE_DIFFERENCES)
        return ht_plan_make_hermite_layers(plan);
    TRY(refuse_hermite(params, "time.scheme = \"fd\""));
    if (params->absorbing.organisation == HT_ORGANISATION_OPERATORS)
        return ht_params_error(params, "absorbing.organisation",
                               "time.scheme = \"fd\" has \"faces\", "
                               "\"regions\" and \"combined\"");
    if (type == HT_ABSORBING_AUTO) type = HT_ABSORBING_CPML;
    if (type == HT_ABSORBING_SPONGE) TRY(ht_plan_check_sponge(params));
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
