/* Times of the regions of absorbing layers, put together for another grid; see the header.
 */
#include "htwave/estimate.h"

#include <math.h>

#include "src/hermite/layer_kernels.h"

_Static_assert((int)HT_REGION_KINDS == (int)HT_LAYER_SETS, "kinds of regions");

/* ---- work ---- */

/* Targets of a box: ends on the primary grid move, and the last cells of an axis between walls have
 * the nodes on the upper wall, too. */
static double box_targets(const struct ht_grid *grid, const struct ht_absorbing_box *box,
                          enum ht_subgrid subgrid) {
    double targets = 1;
    for (int k = 0; k < grid->dims; k++) {
        int64_t begin = box->cells.begin[k], end = box->cells.end[k];
        if (end == grid->cells[k]) end = ht_grid_nodes(grid, subgrid, k);
        if (subgrid == HT_PRIMARY) begin += box->later[k][0];
        if (subgrid == HT_PRIMARY) end += box->later[k][1];
        targets *= (double)(end - begin);
    }
    return targets;
}

void ht_region_work(const struct ht_grid *grid, const struct ht_layers *layers,
                    struct ht_region_work *out) {
    struct ht_absorbing_box box[HT_ABSORBING_BOXES];
    const int count = ht_absorbing_boxes(grid, layers, box);
    *out = (struct ht_region_work){.boxes = count};
    for (int i = 0; i < count; i++)
        out->targets[box[i].axes] +=
            box_targets(grid, &box[i], HT_PRIMARY) + box_targets(grid, &box[i], HT_DUAL);
    for (int k = 0; k < grid->dims; k++)
        out->surface += 2 * (double)ht_grid_total(grid, HT_DUAL) / (double)grid->cells[k];
}

double ht_region_damped(const struct ht_grid *grid, const struct ht_layers *layers) {
    const double cells = (double)ht_grid_total(grid, HT_DUAL);
    double damped = 0;
    for (int k = 0; k < grid->dims; k++)
        damped += (double)(layers->side[k][0].cells + layers->side[k][1].cells) * cells /
                  (double)grid->cells[k];
    return damped;
}

/* ---- the grid to time ---- */

/* Its cells along an axis with `inside` of them between the layers. */
static int64_t length_of(const struct ht_grid *grid, const struct ht_layers *all,
                         const struct ht_layers *kept, int axis, int64_t inside) {
    const struct ht_layer *side = all->side[axis], *less = kept->side[axis];
    const int64_t between = grid->cells[axis] - side[0].cells - side[1].cells;
    return ht_least(inside, between) + less[0].cells + less[1].cells;
}

int64_t ht_region_grid(const struct ht_grid *grid, const struct ht_layers *layers, bool both,
                       double most, int64_t cells[3], struct ht_layers *out) {
    int64_t inside = 4096;
    double all = INFINITY;
    *out = *layers;
    for (int k = 0; k < grid->dims && !both; k++) {
        const int64_t *low = &layers->side[k][0].cells;
        const int64_t *high = &layers->side[k][1].cells;
        out->side[k][*low < *high ? 0 : 1].cells = 0;
    }
    for (; inside > 0; inside -= inside > 16 ? 16 : 4) {
        all = 1;
        for (int k = 0; k < 3; k++) {
            cells[k] = k < grid->dims ? length_of(grid, layers, out, k, inside) : 1;
            out->cells[k] = cells[k];
            all *= (double)cells[k];
        }
        if (all <= most) break;
    }
    return inside;
}

/* ---- times ---- */

void ht_region_add_seconds(struct ht_kernels *kernels, struct ht_region_seconds *out) {
    struct ht_layer_kernels *layers = kernels->layers;
    double both[HT_REGION_KINDS][2] = {{0}};
    for (int i = 0; i < 2; i++) {
        if (i == 0 || kernels->step[1] != kernels->step[0])
            ht_step_add_seconds(kernels->step[i], both[0]);
        out->ghosts += ht_tool_seconds(kernels->ghosts[i]);
    }
    for (int axes = 1; axes < HT_REGION_KINDS; axes++)
        if (layers->set[axes].step[0] != NULL)
            ht_step_add_seconds(layers->set[axes].step[0], both[axes]);
    for (int axis = 0; axis < 3; axis++) out->ghosts += ht_tool_seconds(layers->ghosts[axis]);
    for (int axes = 0; axes < HT_REGION_KINDS; axes++)
        out->kernels[axes] += both[axes][0] + both[axes][1];
}

void ht_region_fit(double whole, struct ht_region_seconds *seconds) {
    double sum = seconds->ghosts;
    for (int i = 0; i < HT_REGION_KINDS; i++) sum += seconds->kernels[i];
    const double factor = sum > whole ? whole / sum : 1;
    for (int i = 0; i < HT_REGION_KINDS; i++) seconds->kernels[i] *= factor;
    seconds->ghosts *= factor;
    seconds->rest = fmax(whole - sum, 0);
}

static double quotient(double a, double b) {
    return b > 0 ? a / b : 0;
}

void ht_region_rates(const struct ht_region_work *work, const struct ht_region_seconds *seconds,
                     double steps, struct ht_region_rates *out) {
    for (int i = 0; i < HT_REGION_KINDS; i++)
        out->targets[i] = quotient(steps * work->targets[i], seconds->kernels[i]);
    out->surface = quotient(steps * work->surface, seconds->ghosts);
    out->box_s = seconds->rest / (steps * work->boxes);
}

double ht_region_expect(const struct ht_region_rates *rates, const struct ht_region_work *work,
                        double *layers) {
    *layers = 0;
    for (int i = 1; i < HT_REGION_KINDS; i++)
        *layers += quotient(work->targets[i], rates->targets[i]);
    return *layers + quotient(work->targets[0], rates->targets[0]) +
           quotient(work->surface, rates->surface) + work->boxes * rates->box_s;
}
