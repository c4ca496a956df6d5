/* The primary grid x_m = lower + m h and the dual grid of cell midpoints. Along an axis with n
 * cells the dual grid has n nodes and the primary grid n (periodic) or n + 1 (walls). Axes beyond
 * dims have one node and h = 1. */
#pragma once

#include "htwave/comm.h"
#include "htwave/params.h"
#include "htwave/system.h"

enum ht_subgrid { HT_PRIMARY, HT_DUAL };

/* The part of a grid that one of several ranks works on. A rank owns the planes of dual nodes in
 * its cells and of primary nodes at their lower sides; the last rank also those on the upper wall.
 * All zero: one rank owns everything. */
struct ht_slab {
    struct ht_comm *comm; /* ranks in the order of their slabs */
    int64_t first, last;  /* x3 planes of cells [first, last) */
    bool nodes;           /* of nodes of the primary grid: ht_grid_inner */
};

/* Some that follow each other: [first, last). */
struct ht_range {
    int64_t first, last;
};

struct ht_grid {
    int dims, order;
    int64_t cells[3];
    double lower[3], upper[3], h[3];
    int wall[3][2]; /* factors of struct ht_wall_kind; 0 periodic */
    /* Cells of the layer in front of an absorbing side, whose wall is rigid; 0: none. */
    int64_t layer[3][2];
    int64_t outer[3][2]; /* of these cells those outside of the user's box: all or none */
    int point_nodes;     /* about a point along an axis */
    /* From the nodes to the places of values, in spacings: 0 but for copies of a grid that stand
     * for staggered fields (ht_places_find), of which ht_grid_x and points know. */
    double shift[3];
    struct ht_slab slab;
};

/* Coefficients per node and field: (order + 1)^dims, index (i3 (N+1) + i2) (N+1) + i1. */
int ht_grid_coefs(const struct ht_grid *grid);
int64_t ht_grid_nodes(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis);
/* Nodes of one x3 plane (3-D), of the grid (1-D, 2-D). */
static inline int64_t ht_grid_plane(const struct ht_grid *grid, enum ht_subgrid subgrid) {
    return ht_grid_nodes(grid, subgrid, 0) * ht_grid_nodes(grid, subgrid, 1);
}
/* Number of x3 planes: nodes along x3 in 3-D, else 1. */
static inline int64_t ht_grid_planes(const struct ht_grid *grid, enum ht_subgrid subgrid) {
    return ht_grid_nodes(grid, subgrid, 2);
}
static inline int64_t ht_grid_total(const struct ht_grid *grid, enum ht_subgrid subgrid) {
    return ht_grid_plane(grid, subgrid) * ht_grid_planes(grid, subgrid);
}
/* Of a cell, and its largest side. */
double ht_grid_volume(const struct ht_grid *grid);
double ht_grid_widest(const struct ht_grid *grid);
double ht_grid_x(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis, int64_t m);
/* Of a node of the whole grid. */
void ht_grid_position(const struct ht_grid *grid, enum ht_subgrid subgrid, int64_t node,
                      double x[3]);
/* "(x1, x2)" in as many dimensions as the grid has, for messages. */
enum { HT_PLACE = 96 };
const char *ht_grid_place(const struct ht_grid *grid, const double x[3], char out[HT_PLACE]);
/* For arguments of a message. */
#define HT_PLACED(grid, x) ht_grid_place((grid), (x), (char[HT_PLACE]){0})
static inline bool ht_grid_periodic(const struct ht_grid *grid, int axis) {
    return grid->wall[axis][0] == 0;
}
/* Whether there is nothing beyond a side (HT_WALL_CLOSED); beyond any. */
static inline bool ht_grid_closed(const struct ht_grid *grid, int axis, int side) {
    return axis < grid->dims && grid->wall[axis][side] >= HT_WALL_CLOSED;
}
bool ht_grid_closes(const struct ht_grid *grid);
/* Whether place m of an axis is a node on a wall on which even fields are 0. */
bool ht_grid_held(const struct ht_grid *grid, int axis, int64_t m);
/* Node m of grid `from`, perhaps behind walls or the periodic seam: returns the node that holds the
 * values of a field, which may be odd under reflection; sign: of the even and of the odd
 * derivatives along the axis, as they are there. */
int64_t ht_grid_source(const struct ht_grid *grid, enum ht_subgrid from, int axis, bool odd,
                       int64_t m, int sign[2]);

/* ---- slabs ---- */
/* Are there others? Only 3-D grids are cut. */
bool ht_grid_cut(const struct ht_grid *grid);
/* x3 planes of a grid that this rank owns, and the nodes on them. */
struct ht_range ht_grid_own(const struct ht_grid *grid, enum ht_subgrid subgrid);
int64_t ht_grid_own_total(const struct ht_grid *grid, enum ht_subgrid subgrid);
/* The rank with the slab below (side 0) or above (1), through the periodic seam, too; -1: none, or
 * there are no others. */
int ht_grid_neighbour(const struct ht_grid *grid, int side);
/* The same grid for a rank alone; with places half a spacing up along the axes of a parity. */
struct ht_grid ht_grid_whole(const struct ht_grid *grid);
struct ht_grid ht_grid_places(const struct ht_grid *grid, unsigned parity);
/* The user's box, which is the grid without layers outside of it: its ends, and x moved into it,
 * with a bit for each axis along which x lies beyond. */
double ht_grid_end(const struct ht_grid *grid, int axis, int side);
static inline double ht_grid_middle(const struct ht_grid *grid, int axis) {
    return (ht_grid_end(grid, axis, 0) + ht_grid_end(grid, axis, 1)) / 2;
}
unsigned ht_grid_clamp(const struct ht_grid *grid, const double x[3], double at[3]);
/* The box as a grid: what outputs are of. Ranks own what they own of its nodes, perhaps none. */
struct ht_grid ht_grid_inner(const struct ht_grid *grid);
/* values[group][own primary node] become, in place, those of the box. */
void ht_grid_crop(const struct ht_grid *grid, int64_t groups, double *values);

/* Absorbing layers (docs/developers/absorbing.md): in front of each end of the grid that absorbs
 * lies a layer of cells in which waves are damped along the side's normal, before a rigid wall.
 * With the depth d from its inner face and its thickness L sigma(d) = most (d/L)^degree [pole / (1
 * + pole - d/L)], the second factor only with a pole, of the integral -c ln R / 2, c the largest
 * speed along the axis. The medium in it is that of the inner face: ht_layers_inside. */

struct ht_layer {
    int64_t cells; /* 0: none at this side */
    double length;
    double speed; /* c */
    double degree;
    double reflection; /* R */
    double most;       /* sigma at the wall, 1/time */
    double alpha;      /* of s = 1 + sigma/(alpha + i omega), 1/time */
    double sponge;     /* cpml: damping of all fields, as a part of sigma */
    /* Of finite differences: kappa and the damping of the field's rate, 1/time, at the wall, and
     * the pole behind it; 0: none. */
    double stretch, loss, pole;
    /* Of pairs: the other axes' sigma as a part of the normal's, and what it follows from: the
     * largest factor by which a modulus or the density lies above or below those to both sides
     * along the layer, within its thickness, as in a guide of waves (0: not looked at), and whether
     * there is fluid beside solid. */
    double mix, guide;
    bool fluid;
};
struct ht_layers {
    enum ht_absorbing_type type; /* cpml or sponge */
    int dims;
    int stages;         /* of the Taylor series in matched layers of Hermite methods; else 0 */
    double most;        /* of sigma times half a step; 0: any */
    int profile_degree; /* there, of sigma about a node: struct ht_equations */
    int64_t cells[3];   /* of the grid */
    double mix;         /* the largest of all sides */
    struct ht_layer side[3][2];
};
/* Of all sides that have one: axis n / 2, side n % 2. Names cannot stand in parentheses:
 * NOLINTBEGIN */
#define HT_EACH_LAYER(n, layer, of)                                               \
    HT_EACH_BY(n, const struct ht_layer, layer, &(of)->side[(n) / 2][(n) % 2], 6) \
        if (layer->cells > 0)
/* NOLINTEND */

/* What a method takes where the input says "auto", for a layer of so many cells: degree,
 * reflection, sponge, and alpha and loss in speeds per cell. */
typedef void ht_layer_usual(enum ht_absorbing_type type, int order, struct ht_layer *layer);

/* Of finite differences; and in one dimension, where nothing is guided and no layer grows. */
ht_layer_usual ht_layers_usual, ht_layers_usual_line;

/* Members that follow from a speed and a spacing; alpha and loss are in speeds per cell before. */
void ht_layer_scale(struct ht_layer *layer, double speed, double h);

/* Whether a side absorbs. */
bool ht_layers_any(const struct ht_grid *grid);
/* Sets grid->layer from absorbing.cells or absorbing.width; sides: which absorb. The grid, until
 * then the user's box, grows by layers outside of it; inside of it those are refused that are
 * thicker than half of their axis, or fill it. */
HT_ERR ht_layers_place(const struct ht_params *params, const bool sides[3][2],
                       struct ht_grid *grid);
/* The key that their thickness comes from. */
const char *ht_layers_key(const struct ht_params *params);
/* The layers of a grid with some. speed: the largest along each axis, which absorbing.speed
 * replaces. type: chosen. order: handed to `usual`. */
void ht_layers_make(const struct ht_params *params, const struct ht_grid *grid,
                    const double speed[3], enum ht_absorbing_type type, int order,
                    ht_layer_usual *usual, struct ht_layers *out);
/* What derivatives along an axis are divided by at so many cells from its lower end, kappa +
 * sigma/(alpha + i omega), and the loss: whole numbers are primary nodes, halves dual ones, and
 * those behind walls are of the mirror image. In no layer kappa is 1, the rest 0. */
struct ht_stretch {
    double sigma, kappa, alpha, loss, mixed; /* mixed: sigma of the other axes */
};
struct ht_stretch ht_layers_stretch(const struct ht_layers *layers, int axis, double at);
/* What a step leaves of a rate that the loss there damps. */
double ht_layers_factor(const struct ht_layers *layers, int axis, double at, double dt);
/* The coefficients of sigma in xi, the distance in cells from there, outside of layers and on their
 * inner faces zeros; on the outer walls those of odd degree are, too, since waves there are their
 * own mirror images. */
void ht_layers_jets(const struct ht_layers *layers, int axis, double at, int count, double *out);
/* Limits sigma to `most` where it is larger at the wall; the number of sides that were. */
int ht_layers_cap(struct ht_layers *layers, double most);
/* The primary node, or with half the point half a cell above it, that the medium at node m of an
 * axis is taken from: the nearest that is in no layer. */
int64_t ht_layers_inside(const struct ht_grid *grid, int axis, bool half, int64_t m);
/* Values of a plane that are in layers along x1 and x2 become those of these nodes; half: bit k,
 * the values are those half a cell up axis k. */
void ht_layers_continue(const struct ht_grid *grid, enum ht_subgrid subgrid, unsigned half,
                        double *plane);
/* x of the layer's inner face, or of the side without one. */
double ht_layers_end(const struct ht_grid *grid, int axis, int side);
/* Whether x lies in a layer, deeper than its inner face; *axis: along which. */
bool ht_layers_hold(const struct ht_grid *grid, const double x[3], int *axis);

/* Parts of a grid. A box is a half-open range of nodes, begin <= m < end along every axis. A window
 * is the box that a rank's buffers hold:
 *     ghosts | neighbours' planes | own nodes | neighbours' planes | ghosts
 * along x3, ghosts and own nodes along x1 and x2. Node (m1, m2, m3) of a window, counted from its
 * first, is number (m3 count[1] + m2) count[0] + m1 of every field.
 *
 * Ghosts are the mirror images, with a sign, of nodes of the same window: the values that a half
 * step reads behind a wall. Only the dual grid is read there, half a cell behind the wall. A
 * periodic axis has no ghosts; kernels wrap indices instead. */

struct ht_box {
    int64_t begin[3], end[3];
};
/* Number of nodes; 0 if the box is empty along an axis. */
int64_t ht_box_nodes(const struct ht_box *box);

struct ht_window {
    int64_t count[3];   /* nodes, including ghosts */
    int64_t origin[3];  /* node of the grid at index 0; on a periodic grid it may
                           be below 0 or beyond the last node */
    struct ht_box own;  /* own nodes, in indices of the window */
    struct ht_box held; /* own nodes and neighbours' planes, no ghosts */
};

/* The window of the part of a grid that this rank owns, with this number of planes of the
 * neighbours below and above, if these exist. */
struct ht_window ht_window_make(const struct ht_grid *grid, enum ht_subgrid subgrid, int64_t below,
                                int64_t above);
/* Nodes of a plane of x1 and x2, of the window. */
static inline int64_t ht_window_plane(const struct ht_window *window) {
    return window->count[0] * window->count[1];
}
static inline int64_t ht_window_nodes(const struct ht_window *window) {
    return window->count[0] * window->count[1] * window->count[2];
}
/* Number of a node, which may lie outside. */
static inline int64_t ht_window_at(const struct ht_window *window, int64_t m1, int64_t m2,
                                   int64_t m3) {
    return (m3 * window->count[1] + m2) * window->count[0] + m1;
}
/* shift: per axis the lower of the two source indices of target index 0 in the half step from a
 * grid. period: source nodes after which a periodic axis wraps, else larger than any index. */
void ht_window_shift(const struct ht_grid *grid, enum ht_subgrid from,
                     const struct ht_window *source, const struct ht_window *target,
                     int64_t shift[3], int64_t period[3]);
/* Arguments of the ghost kernel (cl/tool_args.h) for a window of a grid. HT_ERR_DEVICE if int
 * cannot count the ghosts. */
struct ht_ghost_args;
/* From nodes and sides along each axis: the numbers of ghosts. */
HT_ERR ht_window_ghosts(const struct ht_grid *grid, const struct ht_window *window,
                        struct ht_ghost_args *out);

/* A point anywhere in the box by nodes of the primary grid: what reads a field there, and what
 * spreads a source over the nodes. Per axis the weights are those of the polynomial through the
 * values at the n = grid->point_nodes nodes about the point, as many to either side; a slope takes
 * its derivative, on a node from one node more. Errors fall with the spacing h as h^n, of slopes as
 * h^(n - 1) (docs/developers/differences.md, Receivers).
 *
 * A periodic axis wraps around. Nodes behind a wall are the mirror images of those inside, with the
 * wall's sign; nodes on a free wall, where the field is 0, are left out. */

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
/* Parts of a spacing that node m of an axis stands for, whose value lies grid->shift up: at walls
 * half of one, beside free sides of solids those of their closures, beyond an upper wall 0. */
double ht_grid_weight(const struct ht_grid *grid, int axis, int64_t m);
/* Radii of a Gaussian to either side, beyond which it is left out. */
#define HT_POINT_WIDEST 6.5
/* Sets weight[node], zeros before, to the density at the nodes of an axis of a Gaussian of integral
 * 1 about x, exp(-(. - x)^2/(2 radius^2)), as far as 1e-9 of its peak, with its mirror images;
 * slope: of its derivative by x. radius: a spacing or more, or 0: of a constant 1. Nodes on free
 * walls take none. Axes beyond grid->dims as above. */
void ht_point_axis_spread(const struct ht_grid *grid, int axis, double x, double radius, bool slope,
                          double *weight);

void ht_point_free(struct ht_point *point); /* after a failure, too */
