/* The layers of absorbing sides: which kind a scheme takes, and what it takes
 * where the input leaves it open.
 */
#include "plan_layers.h"
#include "src/solve/methods.h"

#include <math.h>

/* Reflection of sponges of at least so many cells at 10 points per wavelength
 * and 0, 30, 60 degrees, dB, measured (docs/absorbing.md). */
struct usual {
    int64_t cells;
    double db[3];
};
static const struct usual sponges[] = {
    {1, {-1, -1, -1}},     {4, {-7, -6, -4}},     {8, {-25, -19, -8}},
    {12, {-44, -36, -13}}, {16, {-45, -51, -18}}, {24, {-47, -51, -31}},
    {32, {-47, -53, -46}}};
enum { SPONGES = sizeof sponges / sizeof *sponges };
/* Thinner matched layers grow beside media that vary. */
enum { least_matched = 6 };

static const struct usual *usual_of(int64_t cells) {
    int last = SPONGES - 1;
    while (sponges[last].cells > cells) last--;
    return &sponges[last];
}

/* Of sponges as measured; of a damping that was given in place of the usual
 * one no less than its R at normal incidence, R^cos at others. */
static double sponge_db(const struct ht_layer *layer, int angle) {
    const double cosine[3] = {1, sqrt(0.75), 0.5};
    return fmax(usual_of(layer->cells)->db[angle],
                20 * log10(layer->reflection) * cosine[angle]);
}

void ht_plan_layer_reflection(const struct ht_plan *plan, double db[3]) {
    const double cosine[3] = {1, sqrt(0.75), 0.5}, points = 10;
    for (int i = 0; i < 3; i++) db[i] = -INFINITY;
    for (int n = 0; n < 18; n++) {
        const int axis = n / 6, side = n / 3 % 2, i = n % 3;
        const struct ht_layer *layer = &plan->layers.side[axis][side];
        if (layer->cells == 0) continue;
        const double frequency = layer->speed / (points * plan->grid.h[axis]);
        db[i] = fmax(db[i], plan->layers.type == HT_ABSORBING_SPONGE
                                ? sponge_db(layer, i)
                                : 20 * log10(ht_fd_layer_returned(
                                           &plan->problem, axis, side,
                                           frequency, cosine[i])));
    }
}

/* Words per point and step: of the update in the interior u, d, the modulus and
 * both results; of each layer at a point u, the modulus, d, two memories, and
 * the results of these and u; of a sponge u and d, read and written. */
double ht_plan_layer_share(const struct ht_plan *plan) {
    const bool sponge = plan->layers.type == HT_ABSORBING_SPONGE;
    const double inner = 5, words = sponge ? 4 : 9;
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
static enum ht_err refuse_hermite(const struct ht_params *params, size_t first,
                                  const char *with) {
    const bool meant[] = {params->absorbing.alpha.kind == HT_VALUE_NUMBERS,
                          params->absorbing.sponge.kind == HT_VALUE_NUMBERS};
    static const char *const keys[] = {"absorbing.alpha", "absorbing.sponge"};
    for (size_t i = first; i < sizeof keys / sizeof *keys; i++)
        if (meant[i])
            return ht_params_error(
                params, keys[i],
                "has no meaning with %s: it is for the perfectly matched "
                "layers of Hermite methods",
                with);
    return HT_OK;
}

enum ht_err ht_plan_check_sponge(const struct ht_params *params) {
    TRY(refuse_hermite(params, 0, "absorbing.type = \"sponge\""));
    if (params->absorbing.organisation == HT_ORGANISATION_AUTO) return HT_OK;
    return ht_params_error(params, "absorbing.organisation",
                           "is of perfectly matched layers: has no meaning "
                           "with absorbing.type = \"sponge\"");
}

/* Behind matched layers of finite differences waves are 0: the tails of guided
 * waves, which a rigid wall feeds, are damped, and no constant is left over. */
static enum ht_err place_matched(struct ht_plan *plan) {
    for (int k = 0; k < plan->grid.dims; k++)
        if (plan->grid.layer[k][0] * plan->grid.layer[k][1] > 0 &&
            plan->grid.cells[k] - plan->grid.layer[k][0] -
                    plan->grid.layer[k][1] <
                plan->order / 2)
            return ht_params_error(
                plan->params, "absorbing.cells",
                "the layers leave less than %d of the %lld cells along x%d, "
                "half of the stencil of order %d",
                plan->order / 2, (long long)plan->grid.cells[k], k + 1,
                plan->order);
    for (int n = 0; n < 6; n++) {
        const int64_t cells = plan->grid.layer[n / 2][n % 2];
        if (cells == 0) continue;
        if (plan->grid.dims > 1 && cells < least_matched)
            return ht_params_error(
                plan->params, "absorbing.cells",
                "%lld: perfectly matched layers of time.scheme = \"fd\" with "
                "less than %d points grow beside media that vary; take more, "
                "or absorbing.type = \"sponge\"",
                (long long)cells, least_matched);
        plan->grid.wall[n / 2][n % 2] = -1;
    }
    return HT_OK;
}

enum ht_err ht_plan_make_layers(struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    enum ht_absorbing_type type = params->absorbing.type;
    if (!ht_layers_any(&plan->grid)) return HT_OK;
    if (ht_problem_scheme(&plan->problem)->method != HT_FINITE_DIFFERENCES)
        return ht_plan_make_hermite_layers(plan);
    TRY(refuse_hermite(params, 1, "time.scheme = \"fd\""));
    if (type == HT_ABSORBING_AUTO) type = HT_ABSORBING_CPML;
    if (type == HT_ABSORBING_SPONGE) TRY(ht_plan_check_sponge(params));
    TRY(ht_layers_make(
        params, &plan->grid, plan->medium->speed, type, plan->order,
        plan->grid.dims > 1 ? ht_layers_usual : ht_layers_usual_line,
        &plan->layers));
    if (type == HT_ABSORBING_CPML) TRY(place_matched(plan));
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
