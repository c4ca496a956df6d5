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
    const int count = grid->point_nodes + (centred ? 1 : 0);
    const int64_t first = (int64_t)floor(at) - (count - 1) / 2;
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
    const bool walls = axis < grid->dims && !ht_grid_periodic(grid, axis) && grid->shift[axis] == 0;
    const int64_t last = ht_grid_nodes(grid, HT_PRIMARY, axis) - 1;
    ht_point_axis_read(grid, axis, x, slope, out);
    for (int i = 0; i < out->count; i++) {
        const bool end = out->node[i] == 0 || out->node[i] == last;
        out->weight[i] *= (walls && end ? 2 : 1) / grid->h[axis];
    }
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
    const int64_t last = ht_grid_nodes(grid, HT_PRIMARY, axis) - 1;
    const bool walls = !ht_grid_periodic(grid, axis) && grid->shift[axis] == 0;
    for (int64_t m = (int64_t)floor(at - widest * r); (double)m <= at + widest * r; m++) {
        int sign;
        const int64_t node = fold(grid, axis, m, &sign);
        const double z = ((double)m - at) / r;
        const double value = exp(-z * z / 2) / (root * r * h);
        if (on_free_wall(grid, axis, node)) continue;
        weight[node] += (walls && (node == 0 || node == last) ? 2 : 1) * sign * value *
                        (slope ? z / (r * h) : 1);
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
