/* What steps a problem's state: kernels, steppers, the start, the reference. */
#pragma once

#include "htwave/archive.h"
#include "htwave/fd_kernel.h"
#include "htwave/plan.h"

/* Compiled for a problem on a device. [0] from the primary grid, [1] from the dual grid; if these
 * do not differ, both entries are the same step. */
struct ht_kernels {
    /* Of finite differences, which have no steps: of one field or of a pair. */
    struct ht_tool *fd;
    struct ht_tool *meeting[2]; /* of its groups with couplings; NULL: none */
    struct ht_tool *fd_layers;  /* NULL: no side absorbs */
    const struct ht_variant *variant;
    struct ht_spec spec[2];
    struct ht_shape shape[2];
    struct ht_tool *step[2];   /* NULL: not compiled */
    struct ht_tool *ghosts[2]; /* [subgrid]: as the source of a half step */
    struct ht_tool *sums;
    struct ht_tool *injector;        /* NULL: no sources */
    struct ht_tool *packer[2];       /* [subgrid]; NULL: the grid is one slab */
    struct ht_layer_kernels *layers; /* NULL: no perfectly matched layers */
    struct ht_tool *sponge;          /* NULL: none */
};

/* Of perfectly matched layers: of the boxes where the layers of the same axes overlap, one set
 * each, beside those of the interior. */
enum { HT_LAYER_SETS = 8 }; /* by the mask of axes; 0: the interior, none */
struct ht_layer_kernels {
    struct ht_equations full; /* with the memory variables of all axes */
    struct ht_equations eq[HT_LAYER_SETS];
    struct ht_law law[HT_LAYER_SETS];
    struct ht_kernels set[HT_LAYER_SETS];
    /* Of an axis's memory variables: ghosts on the dual grid, messages (NULL:
     * the grid is one slab). */
    struct ht_tool *ghosts[3], *packer[3];
};

/* Sets all members except the compiled steps; fails as ht_variant_shape does. The problem's
 * equations must outlive the kernels. */
HT_ERR ht_kernels_plan(const struct ht_problem *problem, const struct ht_device_info *info,
                       const struct ht_tuning *tuning, struct ht_kernels *out);
HT_ERR ht_kernels_create(const struct ht_problem *problem, struct ht_device *device,
                         const struct ht_tuning *tuning, struct ht_kernels *out);
void ht_kernels_destroy(struct ht_kernels *kernels); /* NULL allowed */
/* Adds the device seconds since the last call: of the first kernel of the variant and the ghosts,
 * of the second kernel. */
void ht_kernels_add_seconds(struct ht_kernels *kernels, double seconds[2]);
/* Device seconds of all kernels since the last call. */
double ht_kernels_seconds(struct ht_kernels *kernels);
bool ht_kernels_cached(const struct ht_kernels *kernels);

/* The square of a coefficient (index as in ht_grid_coefs) of a field, divided by M[material] if
 * material >= 0. With weights: the sum of the squares of values at some points about the node, each
 * linear in all of its coefficients. */
struct ht_quantity {
    int field, coef, material;
    const double *weights; /* [point][coefficient]; NULL: coef only */
    int points;            /* at most HT_MEASURE_POINTS of cl/tool_args.h */
    bool beside;           /* absorbing layers are left out: ht_measure_beside */
};

/* Names of the transports, the fastest first; NULL after the last. */
const char *ht_transport_name(int i);
/* Messages and seconds of this rank since the stepper was created. */
struct ht_traffic {
    /* down and up; NULL: no neighbour */
    const char *transport[2];
    int64_t half_steps, exchanges;
    int64_t messages, bytes; /* sent */
    /* Device seconds of kernels. ghosts is included in interior; pack includes unpacking. */
    double interior_s, boundary_s, ghosts_s, pack_s;
};

/* Arrays of a stepper on a device. */
struct ht_arrays {
    struct ht_device *device;
    bool fp64;
    int block, coefs;                      /* of the layout; of a node, with gaps */
    const int *storage;                    /* [coefficient] its index */
    const struct ht_window *window;        /* [subgrid] */
    struct ht_buffer *u[2][HT_MAX_FIELDS]; /* [subgrid][field] */
    double level;                          /* values of u less this are in the arrays */
    const struct ht_variant *variant;      /* of finite differences */
};

/* A stepper owns the state and makes half steps: on a device, or as the serial reference. A time
 * step is a half step from the primary to the dual grid and one back. If the grid is divided into
 * slabs, a stepper holds the planes that its rank owns; plane numbers are those of the whole grid.
 * (The reference supports one slab only.) */
struct ht_stepper_ops {
    /* Writes coefficients [field][i][node of planes first..last) of a grid; fields that are not
     * stored there are ignored. With several slabs all ranks put planes of a grid between two half
     * steps, or none does. */
    enum ht_err (*put)(void *self, enum ht_subgrid subgrid, int64_t first, int64_t last,
                       const double *coefs);
    /* Reads coefficients i < count of a stored field: [i][node of planes first..last). */
    enum ht_err (*get)(void *self, enum ht_subgrid subgrid, int field, int count, int64_t first,
                       int64_t last, double *out);
    /* NULL for finite differences, or: measures `count` quantities over the own planes of a grid,
     * out[i] of what[i]. Sums are integrals, with the cell volume as weight, halved for each wall
     * that a node lies on; `first` is a node of the whole grid. Transfers no field. */
    enum ht_err (*measure)(void *self, enum ht_subgrid subgrid, int count,
                           const struct ht_quantity *what, struct ht_measure *out);
    /* Half step from grid `from` to the other; may return before it is done. Collective. */
    enum ht_err (*half_step)(void *self, enum ht_subgrid from);
    /* NULL, or: takes the next time steps, *done of them, at most `steps`, at less cost than by
     * half_step, with the same results; 0 where the next one must be taken so. */
    enum ht_err (*repeat)(void *self, int64_t steps, int64_t *done);
    /* Other sources, of a problem that differs in nothing else: the next call is ht_start. problem
     * NULL: none, so that the old ones may go. NULL: such a stepper must be made anew. */
    enum ht_err (*aim)(void *self, const struct ht_problem *problem);
    /* Of a reference (ht_oracle_absolute); else NULL. */
    void (*absolute)(void *self);
    /* Stores or loads all that the next steps depend on, between two time steps. */
    void (*archive)(void *self, struct ht_archive *archive);
    /* Waits for all half steps; collective with several slabs. */
    enum ht_err (*finish)(void *self);
    /* With several slabs: directly after `finish`, or after the ranks agreed on a failure. */
    void (*destroy)(void *self);
    /* What it has on a device; NULL: nothing. */
    void (*arrays)(const void *self, struct ht_arrays *out);
    /* What the next step's updates keep beside (fd_kernel.h), always the same `what`; or NULL. */
    enum ht_err (*keep)(void *self, unsigned what, const struct ht_fd_keep *keep);
    /* After finish; NULL for a stepper without slabs. */
    void (*traffic)(void *self, struct ht_traffic *out);
};
struct ht_sampler;
struct ht_stepper {
    const struct ht_stepper_ops *ops;
    void *self;
    struct ht_sampler *sampler; /* of receivers (sampler.h); NULL: none */
    /* After each step of ht_stepper_advance; NULL: nobody. */
    enum ht_err (*follow)(void *follower);
    void *follower;
};
void ht_stepper_destroy(struct ht_stepper *stepper);
/* So many time steps, a sample after each where there is a sampler, and waits for them. */
HT_ERR ht_stepper_advance(const struct ht_stepper *stepper, int64_t steps);
/* The operation `measure` on plain arrays, in double precision: u [i][node] of the grid, medium one
 * value per node (NULL: the material is uniform). */
struct ht_measure ht_measure_plain(const struct ht_problem *problem, enum ht_subgrid subgrid,
                                   const struct ht_quantity *what, const double *u,
                                   const double *medium);
/* Of a sum with weights of 1: the cell volume, divided by the material if that is uniform. */
double ht_measure_factor(const struct ht_problem *problem, const struct ht_quantity *what);
/* Whether nodes at this end of an axis (along x3 of own planes) lie on a wall and count half. */
bool ht_measure_half(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis, int side);

/* The nodes [*begin, *end) of an axis of the whole grid that are beside its absorbing layers.
 * Primary nodes on a layer's inner face, which are the first and the last one, count half. */
void ht_measure_beside(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis,
                       int64_t *begin, int64_t *end);
/* The part of a node, or of the cell about it, in the domain; beside: without layers. */
double ht_measure_weight(const struct ht_grid *grid, enum ht_subgrid subgrid, bool beside,
                         int64_t node);

/* A stepper on a device. The kernels must match the problem's equations, order, degree and stored
 * fields, in operator variants also its stages and scale. The kernels must outlive the stepper. */
HT_ERR ht_stepper_create(const struct ht_problem *problem, struct ht_device *device,
                         const struct ht_kernels *kernels, struct ht_stepper *out);

/* A region: the targets of a box of cells and the kernels that compute them. The targets are the
 * dual nodes in these cells and the primary nodes at their lower ends; the last cells along an axis
 * include those on the upper wall. */
struct ht_region {
    struct ht_box cells;              /* of the whole grid */
    int later[3][2];                  /* on the primary grid the targets begin, end so many nodes
                                         later: the inner face is the layer's at both sides */
    int side[3];                      /* as ht_absorbing_side: of the layers, along these */
    unsigned axes;                    /* axes, whose memory variables the law has */
    const struct ht_law *law;         /* NULL: the problem's own */
    const struct ht_kernels *kernels; /* compiled for it */
};
/* Those of absorbing layers, without laws and kernels, which cover the grid; the first is the
 * interior. Returns their number. */
enum { HT_ABSORBING_BOXES = 27 };
int ht_absorbing_boxes(const struct ht_grid *grid, const struct ht_layers *layers,
                       struct ht_region out[HT_ABSORBING_BOXES]);
/* With at most HT_ABSORBING_BOXES regions, which are disjoint and cover all cells; all ranks pass
 * the same. Their kernels must agree in precision, layout and order. */
HT_ERR ht_stepper_create_regions(const struct ht_problem *problem, struct ht_device *device,
                                 int regions, const struct ht_region *region,
                                 struct ht_stepper *out);

/* Sent by a slab with two neighbours, mean per time step. */
struct ht_sent {
    double messages, bytes;
    double longest; /* bytes of the longer message of an exchange, mean */
};
/* Device bytes that ht_stepper_create allocates for a problem on this rank. */
struct ht_budget {
    int64_t state, medium, interpolants, messages, total;
    int64_t layers; /* of the state: what absorbing layers remember */
    int64_t largest_buffer;
    int64_t poly_planes; /* planes of interpolants stored at a time */
    struct ht_sent sent; /* in three dimensions */
};
struct ht_budget ht_stepper_budget(const struct ht_problem *problem, const struct ht_tuning *tuning,
                                   const struct ht_device_info *info);

/* Sets the stepper's own planes to the solution at time 0, and for a two-level scheme the dual grid
 * to the solution at -dt/2. If the solution is known only at time 0, the scheme's starter computes
 * the dual grid by a backward half step from all fields on the primary grid, some x3 planes at a
 * time, on the device (NULL: by the oracle) with kernels of the tuning.
 * No communication: data of other slabs are computed here. */
HT_ERR ht_start(const struct ht_plan *plan, struct ht_device *device,
                const struct ht_tuning *tuning, const struct ht_stepper *stepper);
/* Device bytes that ht_start needs in addition to the stepper. */
int64_t ht_start_bytes(const struct ht_plan *plan, const struct ht_tuning *tuning,
                       const struct ht_device_info *info);

/* The serial reference: double precision, from the formulas; it shares only tables with kernels. */
HT_ERR ht_oracle_create(const struct ht_problem *problem, struct ht_stepper *out);
/* Switches the oracle to absolute mode: |H|, |coef|, |M| applied to |u|. For the same data its
 * result times n eps with n = ht_oracle_roundings bounds the rounding error of a half step in any
 * order of summation. */
void ht_oracle_absolute(struct ht_stepper *oracle);
double ht_oracle_roundings(const struct ht_problem *problem);

/* Compares compiled kernels with the oracle for one half step of random data from each grid.
 * *worst: largest difference over the bound for rounding (<= 1 if correct, infinite if either gives
 * NaN). Needs the memory and time of the oracle, so it is for small problems. */
HT_ERR ht_verify_kernels(const struct ht_problem *problem, struct ht_device *device,
                         const struct ht_kernels *kernels, double *worst);
/* A medium_fill for problems that only test kernels: a smooth positive medium of their
 * medium_degree. context: the struct ht_problem. */
HT_ERR ht_test_medium(const void *context, enum ht_subgrid subgrid, int64_t first, int64_t last,
                      double *out);

/* Compares the compiled kernels with the oracle on a few cells with this problem's walls, sizes and
 * kind of medium. HT_ERR_DEVICE if they differ by more than rounding explains; *worst: largest
 * difference over its bound. */
HT_ERR ht_selfcheck(const struct ht_problem *problem, struct ht_device *device,
                    const struct ht_kernels *kernels, double *worst);
