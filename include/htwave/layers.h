/* Absorbing layers: in front of each absorbing side of the grid lies a layer of cells in which
 * waves are damped along the side's normal, before a rigid wall. With the depth d from the layer's
 * inner face and its thickness L
 *     sigma(d) = most (d/L)^degree [pole / (1 + pole - d/L)],
 * the second factor only with a pole, and -c ln R / 2 the integral of sigma, c the largest speed
 * along the axis: a wave that goes into the layer along its normal and back is damped by R (Collino
 * and Tsogka 2001).
 *
 * Layers lie inside the box of the grid. In them the medium is that of the inner face, constant
 * along the normal: ht_layers_inside.
 */
#ifndef HTWAVE_LAYERS_H
#define HTWAVE_LAYERS_H

#include "htwave/grid.h"
#include "htwave/params.h"

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
};
struct ht_layers {
    enum ht_absorbing_type type; /* cpml or sponge */
    int dims;
    int stages;         /* of the Taylor series in layers of Hermite methods */
    int profile_degree; /* there, of sigma about a node: struct ht_equations */
    int64_t cells[3];   /* of the grid */
    struct ht_layer side[3][2];
};

/* What a method takes where the input says "auto", for a layer of so many cells: degree,
 * reflection, sponge, and alpha and loss in speeds per cell. */
typedef void ht_layer_usual(enum ht_absorbing_type type, int order, struct ht_layer *layer);

/* Of finite differences. Matched layers are chosen for waves that slow layers guide, with their
 * tails in the absorbing one, which must not grow, and for reflection to 85 degrees
 * (docs/absorbing.md); in one dimension, where nothing is guided and no layer grows, for long
 * waves, with next to no alpha. */
ht_layer_usual ht_layers_usual, ht_layers_usual_line;

/* The members that follow from a speed and a spacing; alpha and loss are in speeds per cell before.
 */
void ht_layer_scale(struct ht_layer *layer, double speed, double h);

/* Whether a side absorbs. */
bool ht_layers_any(const struct ht_grid *grid);
/* Sets grid->layer from absorbing.cells; sides: which absorb. Refuses layers thicker than half of
 * their axis, or that fill it. */
HT_CHECKED enum ht_err ht_layers_place(const struct ht_params *params, const bool sides[3][2],
                                       struct ht_grid *grid);
/* The layers of a grid with some. speed: the largest along each axis. type:
 * chosen. order: handed to `usual`. */
HT_CHECKED enum ht_err ht_layers_make(const struct ht_params *params, const struct ht_grid *grid,
                                      const double speed[3], enum ht_absorbing_type type, int order,
                                      ht_layer_usual *usual, struct ht_layers *out);
/* What derivatives along an axis are divided by at so many cells from its lower end, kappa +
 * sigma/(alpha + i omega), and the loss: whole numbers are primary nodes, halves dual ones, and
 * those behind walls are of the mirror image. In no layer kappa is 1, the rest 0. */
struct ht_stretch {
    double sigma, kappa, alpha, loss;
};
struct ht_stretch ht_layers_stretch(const struct ht_layers *layers, int axis, double at);
/* The coefficients of sigma in xi, the distance in cells from there, outside of layers and on their
 * inner faces zeros; on the outer walls those of odd degree are, too, since waves there are their
 * own mirror images. */
void ht_layers_jets(const struct ht_layers *layers, int axis, double at, int count, double *out);
/* Limits sigma to `most` where it is larger at the wall; the number of sides that were. */
int ht_layers_cap(struct ht_layers *layers, double most);
/* The primary node, or with half the point half a cell above it, that the medium at node m of an
 * axis is taken from: the nearest that is in no layer.
 */
int64_t ht_layers_inside(const struct ht_grid *grid, int axis, bool half, int64_t m);
/* x of the layer's inner face, or of the side without one. */
double ht_layers_end(const struct ht_grid *grid, int axis, int side);
/* Whether x lies in a layer, deeper than its inner face; *axis: along which. */
bool ht_layers_hold(const struct ht_grid *grid, const double x[3], int *axis);

#endif
