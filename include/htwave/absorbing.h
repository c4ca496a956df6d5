/* Absorbing layers of Hermite methods (docs/absorbing.md): the equations of src/pde/absorbing.c,
 * with profiles that are constant about each node, or polynomials in xi there.
 *
 * A target is in the layer of an axis if it is as deep as its inner face or deeper. Memory
 * variables of an axis exist there only; elsewhere they are zero. The layers divide the grid into
 * boxes: the interior, faces, edges and corners, each with the memory variables of its axes.
 */
#ifndef HTWAVE_ABSORBING_H
#define HTWAVE_ABSORBING_H

#include "htwave/problem.h"

/* Axes with memory variables, bit k for axis k; 0 if layers is NULL or a sponge. */
unsigned ht_absorbing_axes(const struct ht_layers *layers);
/* The position of a node along an axis, in cells from the lower end. */
double ht_absorbing_at(enum ht_subgrid subgrid, int64_t node);
/* The side in whose layer a position is, 0 or 1; -1: in none. */
int ht_absorbing_side(const struct ht_layers *layers, int axis, double at);
/* The profiles of enum ht_layer_profile about a position, 1/time: their coefficients in xi, those
 * above layers->profile_degree 0; 0 outside. */
void ht_absorbing_profiles(const struct ht_layers *layers, int axis, double at,
                           double out[HT_LAYER_PROFILES][HT_PROFILE_DEGREE + 1]);

/* ---- boxes ---- */
enum { HT_ABSORBING_BOXES = 27 };
/* On the primary grid the targets begin and end `later` nodes after those of a region of these
 * cells (htwave/stepper.h): the inner face is the layer's at both sides. */
struct ht_absorbing_box {
    struct ht_box cells;
    int later[3][2];
    int side[3]; /* as ht_absorbing_side */
    unsigned axes;
};
/* The boxes of a grid, which cover it; the first is the interior. Returns their number. */
int ht_absorbing_boxes(const struct ht_grid *grid, const struct ht_layers *layers,
                       struct ht_absorbing_box out[HT_ABSORBING_BOXES]);

/* ---- sponge ---- */
/* A half step onto a grid ends with a product of its polynomials with those of exp(-rate sigma
 * dt/2), once for each axis with layers, and one that adds begins with it, too:
 *     dst(t + dt/2) = G (old_sign G dst(t - dt/2) + 2 ...).
 * rate: 1, or where the grids store different fields 2 on the primary grid and 0 on the dual one
 * (docs/absorbing.md); 0 without a sponge. */
double ht_sponge_rate(const struct ht_problem *problem, enum ht_subgrid subgrid);
/* Whether a grid is damped along an axis. */
bool ht_sponge_damps(const struct ht_problem *problem, enum ht_subgrid subgrid, int axis);
/* The N+1 Taylor coefficients in xi of one axis's factor of G at a node. Those of odd degree are
 * zero on the wall, as in its mirror image, so that the parities of fields there stay. */
void ht_sponge_jets(const struct ht_problem *problem, enum ht_subgrid subgrid, int axis,
                    int64_t node, double *out);

/* ---- src/plan/plan_layers.c ---- */
/* The part of a plane wave of a frequency that comes back from the layer of a side, by the
 * equations: its amplitude, at an angle with this cosine. */
double ht_layer_returned(const struct ht_problem *problem, int axis, int side, double frequency,
                         double cosine);
/* What the layer of a side reflects of a plane Ricker wavelet at an angle with this cosine, by the
 * equations: the largest value, in dB. So many of the wavelengths of its peak frequency make up the
 * layer's thickness. */
double ht_sponge_reflection(const struct ht_problem *problem, int axis, int side,
                            double wavelengths, double cosine);

/* ---- where memory variables are ---- */
/* The part of a rank's window that holds those of an axis and side: the layer, its ghosts and, on
 * the dual grid, the nodes before its inner face, where they are zero. No nodes: the rank has no
 * part of it. Node (m1, m2, m3) of the rank's window is node (m1, m2, m3) - first of this one. */
struct ht_window ht_absorbing_window(const struct ht_problem *problem, enum ht_subgrid subgrid,
                                     int axis, int side, int64_t first[3]);

#endif
