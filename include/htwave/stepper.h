/* A stepper owns the coefficients of both grids and takes half steps: on a
 * device (here) or as the serial reference (oracle.h).
 *
 * One time step is a half step from the primary to the dual grid and one back.
 */
#ifndef HTWAVE_STEPPER_H
#define HTWAVE_STEPPER_H

#include "htwave/kernels.h"

/* The square of one coefficient (index as in ht_grid_coefs) of a field, over
 * M[material] where material >= 0. With weights the squares of values at some
 * points about the node, linear in all of its coefficients. */
struct ht_quantity {
    int field, coef, material;
    const double *weights; /* [point][coefficient]; NULL: coef alone */
    int points;            /* at most HT_REDUCE_POINTS of cl/reduce_args.h */
};

/* Ways of messages between slabs, the fastest first; NULL behind the last. */
const char *ht_transport_name(int i);
/* What exchanges between slabs took since the stepper was made, for this rank.
 */
struct ht_traffic {
    /* downwards and upwards; NULL: no neighbour is there */
    const char *transport[2];
    int64_t half_steps, exchanges;
    int64_t messages, bytes; /* sent */
    /* Device seconds of kernels: ghosts, which are counted in interior, too;
     * pack: into messages and out of them. */
    double interior_s, boundary_s, ghosts_s, pack_s;
};

struct ht_stepper;
/* Of a grid cut into slabs a stepper holds the planes that its rank owns (of
 * the oracle: there is none); plane numbers are those of the whole grid. */
struct ht_stepper_ops {
    /* Coefficients [field][i][node of planes first..last) of a grid; those of
     * fields that are not stored there are ignored. Where the grid is cut, all
     * ranks put planes of a grid between two half steps or none does. */
    enum ht_err (*put)(void *self, enum ht_subgrid subgrid, int64_t first,
                       int64_t last, const double *coefs);
    /* Coefficients i < count of one stored field: [i][node of those planes].
     */
    enum ht_err (*get)(void *self, enum ht_subgrid subgrid, int field,
                       int count, int64_t first, int64_t last, double *out);
    /* Measures `count` quantities over the own planes of a grid, out[i] of
     * what[i], first as a node of the whole grid: sums are integrals, with the
     * cell volume as weight, half of it at each wall that a node lies on. Moves
     * no field. */
    enum ht_err (*measure)(void *self, enum ht_subgrid subgrid, int count,
                           const struct ht_quantity *what,
                           struct ht_measure *out);
    /* From grid `from` to the other one; may return before it is done.
     * Collective where the grid is cut. */
    enum ht_err (*half_step)(void *self, enum ht_subgrid from);
    /* The same with -dt. By a scheme that is reversible it undoes a half step
     * from the same grid, in a uniform medium and but for rounding. */
    enum ht_err (*half_step_back)(void *self, enum ht_subgrid from);
    /* Waits for all of it; collective where the grid is cut. */
    enum ht_err (*finish)(void *self);
    /* Where the grid is cut, nothing has happened since `finish`, or the ranks
     * have agreed on a failure. */
    void (*destroy)(void *self);
    /* After finish; NULL: a stepper that knows no slabs. */
    void (*traffic)(void *self, struct ht_traffic *out);
};
struct ht_stepper {
    const struct ht_stepper_ops *ops;
    void *self;
};
void ht_stepper_destroy(struct ht_stepper *stepper);
/* So many time steps, and waits for them. */
HT_CHECKED enum ht_err ht_stepper_advance(const struct ht_stepper *stepper,
                                          int64_t steps);
/* A time step backwards. A scheme of two levels takes the half steps of a time
 * step back in reverse order, each from the grid that it was taken from; one of
 * one level only has the primary grid's values to begin with. */
HT_CHECKED enum ht_err ht_stepper_step_back(const struct ht_stepper *stepper,
                                            const struct ht_scheme *scheme);

/* The operation `measure` on plain arrays, in double precision: u [i][node] of
 * the grid, medium one value per node (NULL: the material is uniform). */
struct ht_measure ht_measure_plain(const struct ht_problem *problem,
                                   enum ht_subgrid subgrid,
                                   const struct ht_quantity *what,
                                   const double *u, const double *medium);
/* What such a sum over weights of 1 is multiplied by: the cell volume, over
 * the material where that is uniform. */
double ht_measure_factor(const struct ht_problem *problem,
                         const struct ht_quantity *what);
/* Nodes of this end of an axis, along x3 of the own planes, lie on a wall and
 * weigh half. */
bool ht_measure_half(const struct ht_grid *grid, enum ht_subgrid subgrid,
                     int axis, int side);

/* On a device; the kernels must fit the problem's equations, order, degree and
 * stored fields, those of an operator variant also its stages and scale; they
 * outlive the stepper. */
HT_CHECKED enum ht_err ht_stepper_create(const struct ht_problem *problem,
                                         struct ht_device *device,
                                         const struct ht_kernels *kernels,
                                         struct ht_stepper *out);
/* A region: the targets of a box of cells, and the kernels that compute them.
 * The targets are the dual nodes in these cells and the primary nodes at their
 * lower ends, of the last cells along an axis also those on the upper wall. */
struct ht_region {
    struct ht_box cells; /* of the whole grid */
    const struct ht_kernels *kernels;
    /* For half steps back: of the same variant, for the reversed problem. NULL:
     * the same kernels, or no half steps back where the operator is part of
     * their program (`pack` of the variant). */
    const struct ht_kernels *back;
};
/* The same with a grid in several regions, which are disjoint and leave out no
 * cell; all ranks name the same ones. Their kernels must agree in precision,
 * layout and order. */
HT_CHECKED enum ht_err ht_stepper_create_regions(
    const struct ht_problem *problem, struct ht_device *device, int regions,
    const struct ht_region *region, struct ht_stepper *out);

/* Device bytes that ht_stepper_create takes for a problem, on this rank. */
struct ht_budget {
    int64_t state, medium, interpolants, messages, total;
    int64_t largest_buffer;
    int64_t poly_planes; /* planes of interpolants kept at a time */
};
struct ht_budget ht_stepper_budget(const struct ht_problem *problem,
                                   const struct ht_tuning *tuning,
                                   const struct ht_device_info *info);

#endif
