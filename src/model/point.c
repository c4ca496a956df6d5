/* A point by nodes of the primary grid; see the header. */
#include "htwave/grid.h"

#include <math.h>
#include <stdlib.h>

static const double CLOSE = 1e-9; /* spacings; rounding of positions */

int ht_point_nodes(int order) {
    return order + 4;
}

double ht_point_reach(const struct ht_grid *grid) {
    return 2 + grid->point_nodes / 4.0;
}

int ht_point_outside(const struct ht_grid *grid, const double x[3]) {
    for (int k = 0; k < 3 && k < grid->dims; k++) {
        const double slack = CLOSE * grid->h[k];
        if (!(x[k] >= grid->lower[k] - slack && x[k] <= grid->upper[k] + slack)) return k;
    }
    return -1;
}

/* ---- one axis ---- */

/* The node that holds the value of node m, and the sign of the walls passed on the way; walls may
 * be passed several times. Values half a spacing above the nodes are odd where those at nodes are
 * even. */
static int64_t fold(const struct ht_grid *grid, int axis, int64_t m, int *sign) {
    const int64_t half = grid->shift[axis] > 0, n = ht_grid_nodes(grid, HT_PRIMARY, axis) - half;
    *sign = 1;
    if (ht_grid_periodic(grid, axis)) return (m % (n + half) + n + half) % (n + half);
    while (m < 0 || m >= n) {
        *sign *= grid->wall[axis][m < 0 ? 0 : 1] * (half ? -1 : 1);
        m = (m < 0 ? -m : 2 * (n - 1) - m) - (half ? m < 0 ? 1 : -1 : 0);
    }
    return m;
}

/* Free sides of solids, beyond which there are no values. */
static bool ends(const struct ht_grid *grid, int axis, int side) {
    return axis < grid->dims && grid->wall[axis][side] == HT_WALL_FREE;
}

static int64_t last_of(const struct ht_grid *grid, int axis) {
    const int64_t last = ht_grid_nodes(grid, HT_PRIMARY, axis) - 1;
    return last - (grid->shift[axis] > 0 && !ht_grid_periodic(grid, axis));
}

static bool is_beyond(const struct ht_grid *grid, int axis, int64_t m) {
    return (ends(grid, axis, 0) && m < 0) || (ends(grid, axis, 1) && m > last_of(grid, axis));
}

/* The parts of a spacing that nodes of an axis stand for; half of one at walls. */
static double weight_of(const struct ht_grid *grid, int axis, int64_t m) {
    const int half = grid->shift[axis] > 0, order = grid->point_nodes - ht_point_nodes(0);
    const int64_t from[2] = {m, last_of(grid, axis) - m};
    double weight = 1;
    if (axis >= grid->dims || ht_grid_periodic(grid, axis)) return 1;
    for (int side = 0; side < 2; side++) {
        if (!ends(grid, axis, side)) {
            weight /= from[side] == 0 && !half ? 2 : 1;
            continue;
        }
        const struct ht_fd_closure closure = ht_fd_closure(order, false);
        if (from[side] < closure.nodes - half) weight *= closure.weight[half][from[side]];
    }
    return weight;
}

/* The first of `count` nodes about a place, which lie at free sides no further than the last ones
 * inside: then they are as many as the order. */
static int64_t first_node(const struct ht_grid *grid, int axis, double at, int *count) {
    const int64_t first = (int64_t)floor(at) - (*count - 1) / 2, last = last_of(grid, axis);
    if (!is_beyond(grid, axis, first) && !is_beyond(grid, axis, first + *count - 1)) return first;
    const int64_t order = ht_most(grid->point_nodes - ht_point_nodes(0), 4);
    const int some = (int)ht_least(order, last + 1);
    const int64_t low = ends(grid, axis, 0) ? 0 : INT64_MIN;
    const int64_t high = ends(grid, axis, 1) ? last - some + 1 : INT64_MAX;
    *count = some;
    return ht_least(ht_most((int64_t)floor(at) - (some - 1) / 2, low), high);
}

static bool on_free_wall(const struct ht_grid *grid, int axis, int64_t m) {
    const int64_t last = ht_grid_nodes(grid, HT_PRIMARY, axis) - 1;
    if (grid->shift[axis] > 0) return false;
    return (m == 0 && grid->wall[axis][0] < 0) || (m == last && grid->wall[axis][1] < 0);
}

static void add_node(struct ht_point_axis *axis, int64_t m, double weight) {
    int at = axis->count;
    while (at > 0 && axis->node[at - 1] >= m) at--;
    if (at < axis->count && axis->node[at] == m) {
        axis->weight[at] += weight;
        return;
    }
    for (int i = axis->count++; i > at; i--) {
        axis->node[i] = axis->node[i - 1];
        axis->weight[i] = axis->weight[i - 1];
    }
    axis->node[at] = m;
    axis->weight[at] = weight;
}

void ht_point_axis_read(const struct ht_grid *grid, int axis, double x, bool slope,
                        struct ht_point_axis *out) {
    double weight[HT_POINT_NODES] = {0};
    *out = (struct ht_point_axis){.count = 0};
    if (axis >= grid->dims) {
        add_node(out, 0, slope ? 0 : 1);
        return;
    }
    const double h = grid->h[axis];
    double at = (x - grid->lower[axis]) / h - grid->shift[axis];
    if (fabs(at - round(at)) <= CLOSE) at = round(at);
    const bool centred = slope && at == floor(at);
    int count = grid->point_nodes + (centred ? 1 : 0);
    const int64_t first = first_node(grid, axis, at, &count);
    (slope ? ht_lagrange_slopes : ht_lagrange_weights)(count, at - (double)first, weight);
    for (int i = 0; i < count; i++) {
        int sign;
        const int64_t node = fold(grid, axis, first + i, &sign);
        if (weight[i] == 0 || on_free_wall(grid, axis, node)) continue;
        add_node(out, node, sign * weight[i] / (slope ? h : 1));
    }
}

void ht_point_axis_spread(const struct ht_grid *grid, int axis, double x, bool slope,
                          struct ht_point_axis *out) {
    ht_point_axis_read(grid, axis, x, slope, out);
    for (int i = 0; i < out->count; i++)
        out->weight[i] *= 1 / weight_of(grid, axis, out->node[i]) / grid->h[axis];
}

void ht_point_axis_gaussian(const struct ht_grid *grid, int axis, double x, double radius,
                            bool slope, double *weight) {
    const double widest = HT_POINT_WIDEST, root = sqrt(2 * acos(-1.0));
    if (axis >= grid->dims) {
        weight[0] += slope ? 0 : 1;
        return;
    }
    const double h = grid->h[axis], at = (x - grid->lower[axis]) / h - grid->shift[axis];
    const double r = radius / h;
    for (int64_t m = (int64_t)floor(at - widest * r); (double)m <= at + widest * r; m++) {
        int sign;
        if (is_beyond(grid, axis, m)) continue;
        const int64_t node = fold(grid, axis, m, &sign);
        const double z = ((double)m - at) / r;
        const double value = exp(-z * z / 2) / (root * r * h);
        if (on_free_wall(grid, axis, node)) continue;
        weight[node] += 1 / weight_of(grid, axis, node) * sign * value * (slope ? z / (r * h) : 1);
    }
}

void ht_point_axis_constant(const struct ht_grid *grid, int axis, double *weight) {
    const int64_t nodes = axis < grid->dims ? ht_grid_nodes(grid, HT_PRIMARY, axis) : 1;
    for (int64_t m = 0; m < nodes; m++)
        weight[m] += axis < grid->dims && on_free_wall(grid, axis, m) ? 0 : 1;
}

void ht_point_free(struct ht_point *point) {
    free(point->node);
    *point = (struct ht_point){.count = 0};
}
