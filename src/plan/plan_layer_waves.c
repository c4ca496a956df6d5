/* What layers of absorbing sides send back of the waves of a run: by the
 * equations in them (layer_reflection.c), and no less than what the grid
 * reflects, which is measured.
 */
#include <math.h>

#include "htwave/absorbing.h"
#include "plan_layers.h"

static double returned(const struct ht_plan *plan, double frequency,
                       double cosine) {
    double most = 0;
    for (int n = 0; n < 6; n++)
        most = fmax(most, ht_layer_returned(&plan->problem, n / 2, n % 2,
                                            frequency, cosine));
    return most;
}

/* Of all waves of a source the root of their energy, of the source that has the
 * most. */
static double returned_shots(const struct ht_plan *plan, double cosine,
                             int *shot) {
    double most = 0;
    for (int i = 0; i < plan->shots->count; i++) {
        const struct ht_shot *at = &plan->shots->shot[i];
        double energy[HT_SIGNAL_BANDS], sum = 0;
        ht_shot_bands(&plan->eq, at, energy);
        for (int b = 0; b < HT_SIGNAL_BANDS; b++)
            sum +=
                energy[b] * pow(returned(plan, ht_shot_band(at, b), cosine), 2);
        if (sqrt(sum) > most) *shot = i;
        most = fmax(most, sqrt(sum));
    }
    return most;
}

/* What the grid reflects is measured, and in what matched layers of finite
 * differences send back; a point's waves come at all angles. */
bool ht_plan_layer_shots_db(const struct ht_plan *plan, double db[2]) {
    double grid[3] = {-INFINITY, -INFINITY, -INFINITY};
    int shot;
    if (plan->problem.layers == NULL || plan->shots == NULL) return false;
    if (plan->problem.fd.order == 0)
        grid[0] = grid[2] = ht_plan_layer_point_reflection(plan);
    else if (plan->layers.type == HT_ABSORBING_SPONGE)
        ht_plan_layer_reflection(plan, grid);
    for (int i = 0; i < 2; i++)
        db[i] = fmax(20 * log10(returned_shots(plan, i ? 0.5 : 1, &shot)),
                     grid[i ? 2 : 0]);
    return true;
}

static double fastest(const struct ht_plan *plan) {
    double speed = 0;
    for (int k = 0; k < plan->grid.dims; k++)
        speed = fmax(speed, plan->medium->speed[k]);
    return speed;
}

/* Between factors of two, then by halving. */
double ht_plan_layer_longest(const struct ht_plan *plan, double part) {
    const double speed = fastest(plan);
    const double resolved = plan->problem.fd.order > 0 ? 8 : 1; /* cells */
    double low = resolved * plan->grid.h[0], high = low;
    for (int n = 0; n < 40 && returned(plan, speed / high, 1) < part; n++) {
        low = high;
        high *= 2;
    }
    if (returned(plan, speed / high, 1) < part) return INFINITY;
    for (int n = 0; n < 20; n++) {
        const double middle = sqrt(low * high);
        const bool passes = returned(plan, speed / middle, 1) >= part;
        *(passes ? &high : &low) = middle;
    }
    return high;
}

void ht_plan_warn_layers(const struct ht_plan *plan) {
    const double most = 0.03;
    int shot = 0;
    if (plan->problem.layers == NULL || plan->shots == NULL) return;
    const double part = returned_shots(plan, 1, &shot);
    if (part > most)
        ht_warn("absorbing: of the waves of sources.%d %.3g %% come back from "
                "the layers, which absorb no waves longer than %.3g well: take "
                "%s",
                shot + 1, 100 * part, ht_plan_layer_longest(plan, most),
                plan->layers.type == HT_ABSORBING_SPONGE ||
                        plan->problem.fd.order > 0
                    ? "thicker ones (absorbing.cells)"
                    : "a smaller absorbing.alpha, or larger cells");
}
