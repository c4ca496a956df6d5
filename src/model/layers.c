/* Absorbing layers; see the header. */
#include "htwave/grid.h"

bool ht_layers_any(const struct ht_grid *grid) {
    bool any = false;
    for (int k = 0; k < grid->dims; k++) any |= grid->layer[k][0] > 0 || grid->layer[k][1] > 0;
    return any;
}

/* ---- where they are ---- */

const char *ht_layers_key(const struct ht_params *params) {
    return params->absorbing.width.kind != HT_VALUE_NONE ? "absorbing.width" : "absorbing.cells";
}

HT_ERR ht_layers_place(const struct ht_params *params, const bool sides[3][2],
                       struct ht_grid *grid) {
    const bool outside = params->absorbing.place == HT_OUTSIDE;
    const bool wide = params->absorbing.width.kind != HT_VALUE_NONE;
    const struct ht_value *given = wide ? &params->absorbing.width : &params->absorbing.cells;
    const double close = 1e-9, most = 10000; /* the latter that of absorbing.cells */
    const int count = given->count, dims = grid->dims;
    const char *key = ht_layers_key(params);
    HT_EACH_BY(k, int64_t, layer, grid->layer[k], grid->dims) {
        for (int side = 0; side < 2; side++) {
            if (!sides[k][side]) continue;
            REFUSE(wide && ht_params_is_set(params, "absorbing.cells"), params, key,
                   "absorbing.cells is given, too: give one of them");
            REFUSE(count != 1 && count != dims && count != 2 * dims, params, key,
                   "must be one number, %d (one per axis) or %d (lower and upper of each axis)",
                   dims, 2 * dims);
            const double one = given->number[count == 1 ? 0 : count == dims ? k : 2 * k + side];
            const double h = grid->h[k];
            REFUSE(!wide && one != floor(one), params, key, "must be whole numbers of cells");
            REFUSE(wide && one / h > most, params, key, "%g are more than %g cells of %g", one,
                   most, h);
            layer[side] = (int64_t)(wide ? ceil(one / h - close) : one);
            REFUSE(!outside && 2 * layer[side] > grid->cells[k], params, key,
                   "the layer of %lld cells at the %s side of x%d is thicker than half of the "
                   "axis, which has %lld cells: it lies inside the box (absorbing.place)",
                   (long long)layer[side], side == 0 ? "lower" : "upper", k + 1,
                   (long long)grid->cells[k]);
        }
        REFUSE(!outside && layer[0] + layer[1] == grid->cells[k], params, key,
               "the layers leave nothing of the %lld cells along x%d", (long long)grid->cells[k],
               k + 1);
        if (!outside) continue;
        memcpy(grid->outer[k], layer, sizeof grid->outer[k]);
        grid->cells[k] += layer[0] + layer[1];
        grid->lower[k] -= (double)layer[0] * grid->h[k];
        grid->upper[k] += (double)layer[1] * grid->h[k];
    }
    return HT_OK;
}

int64_t ht_layers_inside(const struct ht_grid *grid, int axis, bool half, int64_t m) {
    if (axis >= grid->dims) return m;
    const int64_t low = grid->layer[axis][0];
    const int64_t high = grid->cells[axis] - grid->layer[axis][1] - (half ? 1 : 0);
    if (grid->layer[axis][0] > 0 && m < low) return low;
    if (grid->layer[axis][1] > 0 && m > high) return high;
    return m;
}

void ht_layers_continue(const struct ht_grid *grid, enum ht_subgrid subgrid, unsigned half,
                        double *plane) {
    const int64_t n1 = ht_grid_nodes(grid, subgrid, 0), nodes = ht_grid_plane(grid, subgrid);
    for (int64_t n = 0; n < nodes; n++) {
        const int64_t m2 = ht_layers_inside(grid, 1, half >> 1 & 1u, n / n1);
        plane[n] = plane[m2 * n1 + ht_layers_inside(grid, 0, half & 1u, n % n1)];
    }
}

double ht_layers_end(const struct ht_grid *grid, int axis, int side) {
    const int64_t cells = grid->layer[axis][side];
    return side == 0 ? ht_grid_x(grid, HT_PRIMARY, axis, cells)
                     : ht_grid_x(grid, HT_PRIMARY, axis, grid->cells[axis] - cells);
}

bool ht_layers_hold(const struct ht_grid *grid, const double x[3], int *axis) {
    const double close = 1e-9;
    for (int k = 0; k < grid->dims; k++) {
        const double at = (x[k] - grid->lower[k]) / grid->h[k];
        const double end = (double)(grid->cells[k] - grid->layer[k][1]);
        *axis = k;
        if (grid->layer[k][0] > 0 && at < (double)grid->layer[k][0] - close) return true;
        if (grid->layer[k][1] > 0 && at > end + close) return true;
    }
    return false;
}

/* ---- how they damp ---- */

void ht_layers_usual_line(enum ht_absorbing_type type, HT_UNUSED int order,
                          struct ht_layer *layer) {
    const int64_t cells = layer->cells;
    const struct ht_layer sponge = {.cells = cells, .degree = 2, .reflection = 4e-3};
    const struct ht_layer matched = {
        .cells = cells, .degree = 3, .reflection = 1e-8, .alpha = 0.016 / (double)cells};
    *layer = type == HT_ABSORBING_CPML ? matched : sponge;
}

void ht_layers_usual(enum ht_absorbing_type type, int order, struct ht_layer *layer) {
    const double cells = (double)layer->cells, rest = order > 6 ? 1.4 : 1.7;
    ht_layers_usual_line(type, order, layer);
    if (type == HT_ABSORBING_CPML)
        *layer = (struct ht_layer){.cells = layer->cells,
                                   .degree = 2,
                                   .pole = 0.5,
                                   .reflection = 1.4e-20,
                                   .stretch = 25,
                                   .alpha = rest * pow(8 / cells, 1.75) / cells,
                                   .loss = 1e-3};
}

/* The profile of sigma over its value at the wall, x = d/L. */
static double shape(const struct ht_layer *layer, double x) {
    const double pole = layer->pole;
    return pow(x, layer->degree) * (pole > 0 ? pole / (1 + pole - x) : 1);
}

void ht_layer_scale(struct ht_layer *layer, double speed, double h) {
    enum { PARTS = 1000 };
    double mean =
        1 / (layer->degree + 1); /* of shape; by the midpoint rule where there is a pole */
    if (layer->pole > 0) {
        mean = 0;
        for (int i = 0; i < PARTS; i++) mean += shape(layer, (i + 0.5) / PARTS);
        mean /= PARTS;
    }
    layer->length = (double)layer->cells * h;
    layer->speed = speed;
    layer->alpha *= speed / h;
    layer->loss *= speed / h;
    layer->most = -speed * log(layer->reflection) / (2 * layer->length * mean);
}

void ht_layers_make(const struct ht_params *params, const struct ht_grid *grid,
                    const double speed[3], enum ht_absorbing_type type, int order,
                    ht_layer_usual *usual, struct ht_layers *out) {
    *out = (struct ht_layers){.type = type, .dims = grid->dims};
    for (int n = 0; n < 2 * grid->dims; n++) {
        const int k = n / 2;
        struct ht_layer *layer = &out->side[k][n % 2];
        out->cells[k] = grid->cells[k];
        layer->cells = grid->layer[k][n % 2];
        if (layer->cells == 0) continue;
        usual(type, order, layer);
        layer->degree = ht_value_or(&params->absorbing.degree, layer->degree);
        layer->reflection = ht_value_or(&params->absorbing.reflection, layer->reflection);
        layer->alpha = ht_value_or(&params->absorbing.alpha, layer->alpha);
        layer->sponge = ht_value_or(&params->absorbing.sponge, layer->sponge);
        ht_layer_scale(layer, ht_value_or(&params->absorbing.speed, speed[k]), grid->h[k]);
    }
}

struct ht_stretch ht_layers_stretch(const struct ht_layers *layers, int axis, double at) {
    const double n = (double)layers->cells[axis], power = 6;
    struct ht_stretch out = {.kappa = 1};
    if (axis >= layers->dims) return out;
    if (at < 0) at = -at;
    if (at > n) at = 2 * n - at;
    HT_EACH_AT(side, const struct ht_layer, layer, layers->side[axis], 2) {
        const double depth = (double)layer->cells - (side == 0 ? at : n - at);
        if (layer->cells == 0 || depth <= 0) continue;
        const double x = depth / (double)layer->cells;
        out.sigma += layer->most * shape(layer, x);
        out.mixed += layer->mix * layer->most * shape(layer, x);
        out.kappa += layer->stretch > 1 ? (layer->stretch - 1) * pow(x, power) : 0;
        out.alpha = fmax(out.alpha, layer->alpha);
        out.loss += layer->loss * x * x;
    }
    return out;
}

double ht_layers_factor(const struct ht_layers *layers, int axis, double at, double dt) {
    return 1 / (1 + ht_layers_stretch(layers, axis, at).loss * dt);
}

void ht_layers_jets(const struct ht_layers *layers, int axis, double at, int count, double *out) {
    const double end = (double)layers->cells[axis];
    for (int i = 0; i < count; i++) out[i] = 0;
    HT_EACH_AT(side, const struct ht_layer, layer, layers->side[axis], 2) {
        const double depth = (double)layer->cells - (side == 0 ? at : end - at);
        const double length = (double)layer->cells, m = layer->degree;
        double binomial = 1;
        /* Of most (d/L)^m, d and L in cells, which grows towards the wall. */
        for (int i = 0; i < count && layer->cells > 0 && depth > 0; i++) {
            out[i] += layer->most * binomial * pow(depth / length, m - i) *
                      pow((side == 0 ? -1 : 1) / length, i);
            binomial *= (m - i) / (i + 1);
        }
    }
    for (int i = 1; i < count && (at <= 0 || at >= end); i += 2) out[i] = 0;
}

int ht_layers_cap(struct ht_layers *layers, double most) {
    int capped = 0;
    HT_EACH_BY(n, struct ht_layer, layer, &layers->side[n / 2][n % 2], 6) {
        if (layer->cells == 0 || layer->most <= most) continue;
        layer->reflection = pow(layer->reflection, most / layer->most);
        layer->most = most;
        capped++;
    }
    return capped;
}
