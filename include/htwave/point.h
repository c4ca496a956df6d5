/* A point anywhere in the box by nodes of the primary grid: what reads a field there, and what
 * spreads a source over the nodes. Per axis the weights are those of the polynomial through the
 * values at the n = grid->point_nodes nodes about the point, as many to either side; a slope takes
 * its derivative, on a node from one node more. So a point on a node is that node alone, and errors
 * fall with the spacing h as h^n, of slopes as h^(n - 1); docs/differences.md, Receivers, has the
 * bounds. Errors of the axes add up.
 *
 * A periodic axis wraps around. Nodes behind a wall are the mirror images of those inside, with the
 * wall's sign; nodes on a free wall, where the field is 0, are left out.
 */
#ifndef HTWAVE_POINT_H
#define HTWAVE_POINT_H

#include "htwave/grid.h"

/* Nodes of a list at most, one more than of any order. */
enum { HT_POINT_NODES = 21 };
/* For grid->point_nodes: of finite differences of this order in space. */
int ht_point_nodes(int order);
/* In spacings: weights of nodes beyond it are below 2e-3. */
double ht_point_reach(const struct ht_grid *grid);

/* Nodes of an axis in increasing order, each once. */
struct ht_point_axis {
    int count;
    int64_t node[HT_POINT_NODES];
    double weight[HT_POINT_NODES];
};
/* Nodes of the whole grid, sorted by m[2], then m[1], then m[0], each once. */
struct ht_point {
    int count;
    struct ht_point_node {
        int64_t m[3];
        double weight;
    } * node;
};

/* The first axis along which x is outside the box; -1: inside. Positions on its ends, but for
 * rounding, are inside. */
int ht_point_outside(const struct ht_grid *grid, const double x[3]);

/* Along one axis, for reading; x inside. slope: the derivative along it. An axis beyond grid->dims
 * has its one node, with weight 1. */
void ht_point_axis_read(const struct ht_grid *grid, int axis, double x, bool slope,
                        struct ht_point_axis *out);
/* The weights for spreading along one axis: those for reading over h, and at the ends of the axis,
 * where nodes have half a spacing, over h/2. So with the sum over nodes for the integral (half at
 * walls) reading is the adjoint of spreading, and a source and a receiver may change places. */
void ht_point_axis_spread(const struct ht_grid *grid, int axis, double x, bool slope,
                          struct ht_point_axis *out);

/* Radii of a Gaussian to either side, beyond which it is left out. */
#define HT_POINT_WIDEST 6.5
/* Adds to weight[node] the density at the nodes of an axis of a Gaussian of integral 1 about x,
 * exp(-(. - x)^2/(2 radius^2)), as far as 1e-9 of its peak, with its mirror images; slope: of its
 * derivative by x. Nodes on free walls take none. radius: a spacing or more. Axes beyond grid->dims
 * as above. */
void ht_point_axis_gaussian(const struct ht_grid *grid, int axis, double x, double radius,
                            bool slope, double *weight);
/* The same of a constant 1, which has no slope. */
void ht_point_axis_constant(const struct ht_grid *grid, int axis, double *weight);

/* u(x) is the sum of weight u(m); slope: an axis, then it is du/dx_slope, or -1. x inside. count
 * may be 0: on a free wall. Needs ht_point_free. */
HT_CHECKED enum ht_err ht_point_read(const struct ht_grid *grid, const double x[3], int slope,
                                     struct ht_point *out);
/* delta(. - x) at node m is weight; slope: the derivative by x_slope of that, -d/dx of the delta in
 * space. Else as above. */
HT_CHECKED enum ht_err ht_point_spread(const struct ht_grid *grid, const double x[3], int slope,
                                       struct ht_point *out);
void ht_point_free(struct ht_point *point); /* after a failure, too */

#endif
