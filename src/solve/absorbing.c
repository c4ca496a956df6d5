/* Absorbing layers of Hermite methods: places and profiles; see the header. */
#include <math.h>

#include "htwave/schedule.h"

unsigned ht_absorbing_axes(const struct ht_layers *layers) {
    unsigned axes = 0;
    if (layers == NULL || layers->type != HT_ABSORBING_CPML) return 0;
    for (int k = 0; k < layers->dims; k++)
        if (layers->side[k][0].cells > 0 || layers->side[k][1].cells > 0) axes |= 1u << k;
    return axes;
}

double ht_absorbing_at(enum ht_subgrid subgrid, int64_t node) {
    return (double)node + (subgrid == HT_DUAL ? 0.5 : 0);
}

int ht_absorbing_side(const struct ht_layers *layers, int axis, double at) {
    const struct ht_layer *side = layers->side[axis];
    const double end = (double)(layers->cells[axis] - side[1].cells);
    if (side[0].cells > 0 && at <= (double)side[0].cells) return 0;
    return side[1].cells > 0 && at >= end ? 1 : -1;
}

void ht_absorbing_profiles(const struct ht_layers *layers, int axis, double at,
                           double out[HT_LAYER_PROFILES][HT_PROFILE_DEGREE + 1]) {
    const int side = ht_absorbing_side(layers, axis, at);
    double sigma[HT_PROFILE_DEGREE + 1] = {0};
    if (side >= 0) ht_layers_jets(layers, axis, at, layers->profile_degree + 1, sigma);
    for (int a = 0; a <= HT_PROFILE_DEGREE; a++) {
        out[HT_PROFILE_SIGMA][a] = out[HT_PROFILE_DECAY][a] = sigma[a];
        out[HT_PROFILE_SPONGE][a] = side < 0 ? 0 : sigma[a] * layers->side[axis][side].sponge;
    }
    if (side >= 0) out[HT_PROFILE_DECAY][0] += layers->side[axis][side].alpha;
}

/* ---- boxes ---- */

/* Sets the cells of part -1 (between the layers), 0 or 1 of an axis. */
static void set_part(const struct ht_grid *grid, const struct ht_layers *layers, int axis, int part,
                     struct ht_absorbing_box *box) {
    const int64_t low = layers->side[axis][0].cells;
    const int64_t high = grid->cells[axis] - layers->side[axis][1].cells;
    box->cells.begin[axis] = part < 0 ? low : part == 0 ? 0 : high;
    box->cells.end[axis] = part < 0 ? high : part == 0 ? low : grid->cells[axis];
    box->later[axis][0] = part < 0 && low > 0;
    box->later[axis][1] = part == 0;
    box->side[axis] = part;
    if (part >= 0) box->axes |= 1u << axis;
}

int ht_absorbing_boxes(const struct ht_grid *grid, const struct ht_layers *layers,
                       struct ht_absorbing_box out[HT_ABSORBING_BOXES]) {
    int count = 0;
    for (int n = 0; n < HT_ABSORBING_BOXES; n++) {
        const int part[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        struct ht_absorbing_box box = {.axes = 0};
        for (int k = 0; k < 3; k++) set_part(grid, layers, k, part[k], &box);
        if (ht_box_nodes(&box.cells) > 0) out[count++] = box;
    }
    return count;
}

/* ---- windows ---- */

struct ht_window ht_absorbing_window(const struct ht_problem *problem, enum ht_subgrid subgrid,
                                     int axis, int side, int64_t first[3]) {
    struct ht_window w = ht_problem_window(problem, subgrid);
    const int64_t ghosts = w.count[axis] - w.held.end[axis];
    int64_t begin, end;
    /* Nodes of the grid along the layer's normal: those of the layer and, on the dual grid, one
     * before its face. */
    const int64_t cells = problem->layers->side[axis][side].cells;
    const int64_t nodes = ht_grid_nodes(problem->grid, subgrid, axis);
    const int64_t count = cells + 1;
    begin = side == 0 ? 0 : nodes - count;
    end = side == 0 ? count : nodes;
    begin = ht_most(begin - w.origin[axis], w.held.begin[axis]);
    end = ht_least(end - w.origin[axis], w.held.end[axis]);
    for (int k = 0; k < 3; k++) first[k] = 0;
    if (begin >= end) return (struct ht_window){.count = {0}};
    /* Ghosts lie behind the outer wall, where the held nodes end. */
    const bool below = begin == w.held.begin[axis] && side == 0;
    const bool above = end == w.held.end[axis] && side == 1;
    first[axis] = below ? 0 : begin;
    w.held.begin[axis] = begin - first[axis];
    w.held.end[axis] = end - first[axis];
    w.count[axis] = w.held.end[axis] + (above ? ghosts : 0);
    w.origin[axis] += first[axis];
    w.own.begin[axis] = ht_most(w.own.begin[axis] - first[axis], 0);
    w.own.end[axis] = ht_least(w.own.end[axis] - first[axis], w.held.end[axis]);
    return w;
}

/* ---- the sponge: what polynomials are multiplied by ---- */

double ht_sponge_rate(const struct ht_problem *problem, enum ht_subgrid subgrid) {
    const struct ht_layers *layers = problem->layers;
    if (layers == NULL || layers->type != HT_ABSORBING_SPONGE) return 0;
    if (problem->stored[HT_PRIMARY] == problem->stored[HT_DUAL]) return 1;
    return subgrid == HT_PRIMARY ? 2 : 0;
}

bool ht_sponge_damps(const struct ht_problem *problem, enum ht_subgrid subgrid, int axis) {
    return ht_sponge_rate(problem, subgrid) > 0 &&
           (problem->layers->side[axis][0].cells > 0 || problem->layers->side[axis][1].cells > 0);
}

/* Of g = exp(-tau sigma) from i g_i = -tau sum_j j sigma_j g_(i-j). */
void ht_sponge_jets(const struct ht_problem *problem, enum ht_subgrid subgrid, int axis,
                    int64_t node, double *out) {
    const struct ht_layers *layers = problem->layers;
    const double tau = ht_sponge_rate(problem, subgrid) * problem->dt / 2;
    const double at = ht_absorbing_at(subgrid, node);
    const int count = problem->grid->order + 1;
    double sigma[HT_MAX_ORDER + 1];
    ht_layers_jets(layers, axis, at, count, sigma);
    out[0] = exp(-tau * sigma[0]);
    for (int i = 1; i < count; i++) {
        out[i] = 0;
        for (int j = 1; j <= i; j++) out[i] -= tau * j * sigma[j] * out[i - j] / i;
    }
}
