/* The kernels of finite differences for
 *     u_tt = L u,    (L u)(x) = a(x) sum_k 1/h_k^2 (D_k u)(x),
 * where D_k is the second difference along axis k (uniform density), or D_k u = d_k(b_k d_k u) with
 * staggered first differences d_k and b_k given at x + e_k/2 (density varies). Weights:
 * htwave/num.h.
 *
 * Fields are [m3][m2][m1] of a window; axes that a run does not have take one node. Along x2 and x3
 * there are at least ht_fd_reach nodes to either side of the targets. Along x1 whole packs of
 * HT_FD_PACK nodes are read: row is a multiple of HT_FD_PACK, and around the packs that hold
 * targets there is room for ht_fd_reach nodes, rounded up to packs, to either side. The values at
 * nodes that are no neighbours do not matter. Launches write to nodes of their box alone. */
#pragma once

#include "htwave/tool.h"

enum { HT_FD_PACK = 4, HT_FD_LINE = 32 };

struct ht_fd_spec {
    int dims, radius;
    bool fp64;
    bool density; /* b_k varies */
    bool wide;    /* one node more, for couplings of a pair */
    unsigned map; /* what updates keep beside: 1 << enum ht_map_kind; 0: nothing */
    bool open;    /* matched layers change d before an update; out then holds p - d of before */
};
/* Nodes that a launch reads to either side of its targets along each axis:
 * radius, or 2 radius - 1 where density varies; one more for couplings. */
int ht_fd_reach(const struct ht_fd_spec *spec);

/* What a group of fd-march takes; 0: chosen. fd-vectors has rows and planes, fd-plain none. */
struct ht_fd_shape {
    int packs;     /* along x1 */
    int rows;      /* along x2, in three dimensions */
    int planes;    /* along the last axis, where it marches */
    int registers; /* most per work-item */
};
/* What a tuning asks for: its cells are nodes. */
struct ht_fd_shape ht_fd_asked(const struct ht_tuning *tuning);
/* The shape that a variant takes on a device: of `asked` (NULL: nothing) what is 0 or does not fit
 * is chosen; planes that depend on the box stay 0. */
struct ht_fd_shape ht_fd_shape(const struct ht_fd_spec *spec, const struct ht_variant *variant,
                               const struct ht_fd_shape *asked, const struct ht_device_info *info);

/* The targets of a launch in a window. */
struct ht_fd_box {
    int64_t row, plane; /* nodes of a row, of a plane of the window */
    int64_t begin[3], end[3];
};

/* Rows of a window along x1: nodes [begin, begin + nodes) of `row`, with room for `reach` to either
 * side, from cache lines of 128 bytes in single precision: on GPUs up to a third faster. */
struct ht_fd_row {
    int64_t begin, row;
};
struct ht_fd_row ht_fd_row(int64_t nodes, int64_t reach);

/* A tool; `ht_tool_total` knows parts. shape: NULL: all chosen. */
HT_ERR ht_fd_kernels_create(struct ht_device *device, const struct ht_fd_spec *spec,
                            const struct ht_variant *variant, const struct ht_fd_shape *shape,
                            struct ht_tool **out);
/* Whether a variant's updates can keep maps; layered: sides absorb. */
bool ht_fd_keeps(const struct ht_variant *variant, bool layered);
/* From now on updates by these kernels can keep a map, always of the same kind, beside matched
 * layers or none: more of them are compiled, once. */
HT_ERR ht_fd_keeper_build(struct ht_tool *kernels, unsigned what, bool open);
/* What L is made of. */
struct ht_fd_operator {
    struct ht_buffer *a;    /* [node] */
    struct ht_buffer *b[3]; /* [node]: at x + e_k/2, valid in the ghosts that
                               ht_fd_reach spans; not used unless density */
    double scale[3];        /* factor / h_k^2 */
};
/* After ht_fd_keeper_build the map takes, before a step, the peak of p + level between the values
 * at this step and at the one before, which was p - d (cl/fd_common.cl). */
struct ht_fd_keep {
    struct ht_buffer *map; /* [node] */
    double level;
    double rate;     /* 1/(2 tan(w dt/2)), w the highest frequency */
    double steepest; /* of rate d / p, beyond which a peak lies nearer to another update's */
};
/* An operation on one field: the targets, the law with its factors, and arrays of one window, NULL
 * those that it has not. u is neither d nor out. Where p is u it is read once. */
struct ht_fd_work {
    enum ht_fd_operation {
        HT_FD_ADD,     /* out = u + L u */
        HT_FD_STEP,    /* d += L u, then out = p + d, which may be p where u is not; out NULL: d
                          alone */
        HT_FD_ADVANCE, /* p += factor d; d NULL: p += factor */
        HT_FD_ABSORB,  /* of ht_fd_layer_launch, as the next one */
        HT_FD_SQUARES
    } operation;
    enum ht_step_part part;
    struct ht_fd_box box;
    struct ht_fd_operator law;
    struct ht_buffer *u, *d, *p, *out;
    double factor;
    const struct ht_fd_layers *layers;
    const struct ht_fd_keep *keep; /* of a step; NULL: no map */
};
/* Enqueued in order. */
HT_ERR ht_fd_launch(struct ht_tool *kernels, const struct ht_fd_work *work);
/* Sums of an adjoint run (cl/fd_correlate.cl), by a tool of its own: arrays of one window; of one
 * term o and w are NULL, of uniform density slopes are not used. */
struct ht_fd_products {
    struct ht_fd_box box;
    struct ht_buffer *e, *d, *q, *o, *u, *w;
    double sign; /* of d */
    struct ht_buffer *compliance, *light, *slopes[3];
};
/* fields: of a pair, for ht_pair_product_add; 0: of one field of second order. */
HT_ERR ht_fd_products_create(struct ht_device *device, const struct ht_fd_spec *spec, int terms,
                             int fields, struct ht_tool **out);
HT_ERR ht_fd_products_add(struct ht_tool *products, const struct ht_fd_products *of);
/* Either tool: to = from, so many numbers. */
HT_ERR ht_fd_products_copy(struct ht_tool *products, int64_t count, struct ht_buffer *from,
                           struct ht_buffer *to);
/* Of a pair, of so many fields that C couples, or of one: with parts y of the adjoint fields and of
 * the changes from `before` to `after` (ht_pair_parts), sum_ij += y_i y_j + y_j y_i, j >= i, of
 * i = j once; lit: light += the squares of the changes. */
enum { HT_PAIR_TOGETHER_MOST = 3 };
struct ht_pair_product {
    struct ht_fd_box box;
    int count;
    bool lit;
    struct {
        struct ht_buffer *adjoint, *after, *before, *sum[HT_PAIR_TOGETHER_MOST];
    } field[HT_PAIR_TOGETHER_MOST];
    struct ht_buffer *light;
    struct ht_tool *tool; /* by ht_fd_products_create; NULL of the plain engine */
};
HT_ERR ht_pair_product_add(const struct ht_pair_product *p);
/* The sum of some values, then the differences of neighbours: pressure, which is large, is kept
 * apart from what is small beside it. */
static inline void ht_pair_parts(int count, double *x) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += x[i];
    for (int i = count - 1; i > 0; i--) x[i] = x[i - 1] - x[i];
    x[0] = sum;
}
/* Fills the ghosts of u to either side of box, `reach` nodes deep along each axis of the grid:
 * sides[k][side] 0: from the other end (period end - begin), +1 or -1: mirror image about the
 * outermost node of the box with that sign, HT_FD_SIDE_HALF +- 1: the same of values that lie half
 * a spacing above the nodes, HT_FD_SIDE_NONE: left alone (a neighbour's planes). Faces only, no
 * edges: the operators are stars. A box that is filled from both ends along an axis has more than
 * `reach` nodes there. Compiled when made. */
enum { HT_FD_SIDE_NONE = 2, HT_FD_SIDE_HALF = 4 };
HT_ERR ht_fd_ghosts_create(struct ht_device *device, const struct ht_fd_spec *spec,
                           struct ht_tool **out);
HT_ERR ht_fd_ghosts_fill(struct ht_tool *ghosts, const struct ht_fd_box *box, const int sides[3][2],
                         struct ht_buffer *u);

/* ---- pairs: staggered first-order systems (struct ht_pair) ---- */
/* One program per group of fields, made from the terms. Windows and boxes are those above; a pass
 * reads `radius` nodes to either side of its targets along each axis, and on CPUs up to
 * HT_PAIR_BEYOND nodes beyond the last target of a row, whatever lies there. Beside free sides a
 * program of its own steps the rows of the closures (cl/pair_surface.cl). */
enum { HT_PAIR_BEYOND = 16, HT_PAIR_FAR = 1 << 29 };
/* Absorbing layers (cl/pair_layers.cl): none, a sponge, matched ones that damp differences along
 * their normals, or the others, too. */
enum ht_pair_damping { HT_PAIR_UNDAMPED, HT_PAIR_SPONGE, HT_PAIR_MATCHED, HT_PAIR_MIXED };
struct ht_pair_spec {
    const struct ht_pair *pair;
    int radius;
    bool fp64;
    unsigned constant; /* bit i: coefficient i is a number */
    bool staged;       /* has HT_PAIR_STAGE; without layers and losses */
    enum ht_pair_damping damping;
    int free; /* rows of a closure beside free sides (struct ht_fd_closure); 0: there are none */
};
/* Numbers of a point's profile; differences of a group that a layer of an axis remembers. */
int ht_pair_profiles(enum ht_pair_damping damping);
int ht_pair_slots(const struct ht_pair *pair, enum ht_pair_damping damping, int group, int axis);
/* Number 2 axis + side: its nodes in the window, none where they end as they begin; its first
 * numbers in the memory of each group and in the table of profiles. */
struct ht_pair_layers {
    struct {
        int64_t begin[3], end[3], memory, profile;
    } layer[6];
    int64_t memory, profiles; /* numbers in all */
};
/* What a pass works on. Arrays that it does not touch may be NULL. */
struct ht_pair_arrays {
    struct ht_buffer *field[HT_MAX_FIELDS];      /* [node] */
    struct ht_buffer *rate[HT_MAX_FIELDS];       /* [node] */
    struct ht_buffer *coefficient[HT_MAX_TERMS]; /* [node]; of constant ones: not used */
    double number[HT_MAX_TERMS];                 /* of constant ones */
    struct ht_buffer *partner[HT_MAX_FIELDS];    /* [node]: what losses remember */
    double lossy_dt;                             /* for losses */
    struct ht_buffer *solved[HT_MAX_FIELDS];     /* [node]: of HT_PAIR_SOLVE, coupled fields */
    /* Of layers, with room for HT_PAIR_BEYOND numbers more; memory of each group. */
    struct ht_buffer *profile, *memory[2];
    /* Nodes on free sides, in the window; -+HT_PAIR_FAR: there is none. */
    int64_t wall[3][2];
};
/* Tools, with those of the second group and of free sides. variant: fd-plain or fd-vectors. shape:
 * NULL: chosen. Compiled when they are made. */
HT_ERR ht_pair_kernels_create(struct ht_device *device, const struct ht_pair_spec *spec,
                              const struct ht_variant *variant, const struct ht_fd_shape *shape,
                              struct ht_tool **out);
/* STEP: the fields of a group at the nodes of the box change by factor times the derivatives of the
 * other group's; scale[k]: factor / h_k. RATE: these changes alone, without layers, in rate,
 * STAGE: the fields with them. SOLVE: of those fields f that are coupled (ht_pair_coupled)
 * solved = C^+ f, by a generalized inverse; f is in the range of C. */
enum ht_pair_work { HT_PAIR_STEP, HT_PAIR_RATE, HT_PAIR_STAGE, HT_PAIR_SOLVE };
struct ht_pair_stepper;
struct ht_pair_task {
    const struct ht_pair_stepper *s; /* of engines */
    enum ht_pair_work work;
    enum ht_step_part part;
    int group;
    struct ht_fd_box box;
    double scale[3];
    const struct ht_pair_layers *layers; /* of a step; NULL: none */
    bool keeps;                          /* what losses remember changes with couplings */
};
/* Enqueued. */
HT_ERR ht_pair_pass(struct ht_tool *kernels, const struct ht_pair_task *task,
                    const struct ht_pair_arrays *arrays);
/* The programs of both groups, one after the other. ptx: as in struct ht_device_info. */
HT_ERR ht_pair_text(const struct ht_pair_spec *spec, const struct ht_variant *variant,
                    const struct ht_fd_shape *shape, int ptx, struct ht_text *out);

/* Couplings of fields of a group at different places (struct ht_pair): points of a window where
 * they meet, and the nodes whose fields change by them, both by planes; cl/pair_faces.cl. */
struct ht_pair_meets {
    int64_t points, targets;
    int64_t *at;        /* [point] node */
    double *value;      /* [point][coupling] */
    int64_t *to;        /* [target] node * rows of the group + number of the row */
    int corners, *from; /* [target][corner] points around, -1: none */
    int64_t *first[2];  /* [plane of the window] the first point, target there; and the end */
};
HT_ERR ht_pair_meeting_create(struct ht_device *device, const struct ht_pair_spec *spec, int group,
                              struct ht_tool **out);
/* The lists on the device. */
struct ht_pair_met;
HT_ERR ht_pair_met_create(struct ht_tool *meeting, const struct ht_pair_meets *meets,
                          struct ht_pair_met **out);
void ht_pair_met_destroy(struct ht_pair_met *met); /* NULL allowed */
int64_t ht_pair_met_bytes(const struct ht_pair *pair, int group, bool fp64, int64_t points);
/* After a pass, which reads a node more: what couplings add to its fields or rates at targets
 * [target_range), from points [point_range) around them; keeps: and to arrays->partner. Enqueued.
 */
HT_ERR ht_pair_meet(struct ht_pair_met *met, const struct ht_pair_task *task,
                    const int64_t point_range[2], const int64_t target_range[2],
                    const struct ht_pair_arrays *arrays);
/* sum[point][coupling] += y_r e_q + y_q e_r of means of y and e, by fields, at the points [range),
 * in the window of the box. Enqueued. */
HT_ERR ht_pair_meet_add(struct ht_pair_met *met, const struct ht_fd_box *box,
                        const int64_t range[2], struct ht_buffer *const *y,
                        struct ht_buffer *const *e, struct ht_buffer *sum);

/* Kernels of the absorbing layers of finite differences (cl/fd_layers.cl,
 * docs/developers/absorbing.md). A layer is an end of an axis of a window: along the axis nodes
 * count from its wall, 0, inwards, and half point i lies between nodes i and i + 1. Half points and
 * nodes 0 .. cells - 1 are damped; nodes up to cells + radius - 1 take part of what the damped half
 * points change, where radius is that of the layers' first differences. */

enum { HT_FD_MOST_SIDES = 6, HT_FD_PROFILES = 9, HT_FD_LAYER_MARGIN = 64 };

/* Half width and weights of the layers' first differences: where density varies those of the
 * operator, where it is uniform such that their square is below the second differences at every
 * wavenumber, else the layer would grow. */
int ht_fd_layer_radius(const struct ht_fd_spec *spec);
struct ht_fd_weights ht_fd_layer_weights(const struct ht_fd_spec *spec);

struct ht_fd_side {
    int axis, side;
    int64_t cells;
    int64_t wall; /* index in the window of the wall's nodes, along the axis */
    /* Memory of node (m1, m2, m3) of the window, whose index along the axis counts from the wall:
     * number offset + sum of m_k pitch[k]. At an upper side along x1 pitch[0] is -1, so that
     * memories and the profile lie as nodes do. */
    int64_t offset, pitch[3];
    int64_t profile; /* its first number in the table */
};
/* Of what has an entry for each depth of a side. */
static inline int64_t ht_fd_side_entry(const struct ht_fd_side *side, int64_t depth) {
    return side->pitch[side->axis] < 0 ? side->cells - 1 - depth : depth;
}
/* Number `which` of a depth, in the table. */
static inline int64_t ht_fd_side_profile(const struct ht_fd_side *side, int which, int64_t depth) {
    return side->profile + (side->axis > 0 ? depth * HT_FD_PROFILES + which
                                           : which * side->cells + ht_fd_side_entry(side, depth));
}
struct ht_fd_sides {
    int count;
    struct ht_fd_side side[HT_FD_MOST_SIDES];
    /* Nodes that a layer changes beyond its own: radius, of a sponge 0. */
    int64_t beyond;
    int64_t profiles, memory; /* numbers of the table, of each of the others */
};
/* What layers remember, of half points before a step and after it, and of nodes. */
enum { HT_FD_BEFORE, HT_FD_HALVES, HT_FD_NODES };
/* profile: HT_FD_PROFILES numbers of each cell of each layer, as in cl/fd_layers.cl; of a sponge
 * the last one alone, exp(-sigma dt) at nodes. */
struct ht_fd_layers {
    bool sponge;
    struct ht_fd_sides sides; /* none: no layers */
    struct ht_buffer *profile, *memory[HT_FD_NODES + 1];
    bool start; /* no step was taken: memories hold data (cl/fd_layers.cl) */
};

/* Most nodes from one to its neighbour along an axis of the window. */
int64_t ht_fd_layer_limit(const struct ht_fd_spec *spec);

/* Compiled when they are made; variant, asked: of the kernels that step nodes; cells: of the
 * deepest layer along x1. On CPUs beside
 * fd-vectors those of layers step a box themselves (ht_fd_layers_step), with each row its layers,
 * and read as many numbers as HT_FD_LAYER_MARGIN before and behind memories and the table. */
HT_ERR ht_fd_layer_kernels_create(struct ht_device *device, const struct ht_fd_spec *spec,
                                  const struct ht_variant *variant, const struct ht_fd_shape *asked,
                                  int64_t cells, struct ht_tool **out);
bool ht_fd_layers_step(const struct ht_tool *k);

/* Enqueued in order, one launch each for all layers of a box of the window.
 *     ABSORB:  u: before the step; d of nodes that layers change, before d = d + L u; where they
 * step a box themselves, the step of all its nodes, too. Of sponges: damps d and out after a step
 *     SQUARES: out = a times what a node has of - <u, L u>, which is L's share of the energy, by
 *              differences alone: where density is uniform half of the weights of second
 *              differences times squares of differences from the node, else half of b times
 *              squares of first differences at the half points to either side. Over all nodes
 *              out / a adds up to - <u, L u>; over some of them, too, a constant counts nothing */
HT_ERR ht_fd_layer_launch(struct ht_tool *k, const struct ht_fd_work *work);

/* ---- fd_shell.c: values in boxes of a window, recorded and put back (cl/fd_shell.cl) ---- */
/* Disjoint boxes with blocks of x3 planes: first .. first + planes * blocks - 1 of a record. */
enum { HT_FD_SHELL_BOXES = 6, HT_FD_SHELL_RECORDS = 8, HT_FD_SHELL_BLOCK = 64 };
struct ht_fd_shell_form {
    bool fp64;
    bool coded; /* 16 bits a value, with a factor for each block; else as u has them */
    int count;
    struct ht_fd_shell_box {
        struct ht_fd_box box;
        int64_t first, blocks; /* blocks: of a plane */
    } box[HT_FD_SHELL_BOXES];
    int64_t blocks;         /* of a record */
    int64_t bytes, factors; /* of a record; its first factor's byte */
};
/* With a box more, unless it is empty. */
void ht_fd_shell_add(struct ht_fd_shell_form *form, const struct ht_fd_box *box);
/* Compiled when made. */
HT_ERR ht_fd_shell_kernels_create(struct ht_device *device, bool fp64, bool coded,
                                  struct ht_tool **out);
/* Records, each with its weight. */
struct ht_fd_shell_sum {
    int count;
    double weight[HT_FD_SHELL_RECORDS];
    int64_t record[HT_FD_SHELL_RECORDS]; /* its number; of launches its slot in the ring */
};
/* Enqueued, one launch for the planes [first, last) of the window of all boxes.
 *     take: u + level into a slot
 *     put:  the sum into u, and d = u - old; old may be u */
HT_ERR ht_fd_shell_take(struct ht_tool *tool, const struct ht_fd_shell_form *form,
                        struct ht_buffer *u, double level, struct ht_buffer *ring, int64_t slot);
HT_ERR ht_fd_shell_put(struct ht_tool *tool, enum ht_step_part part,
                       const struct ht_fd_shell_form *form, int64_t first, int64_t last,
                       const struct ht_fd_shell_sum *sum, struct ht_buffer *ring,
                       struct ht_buffer *old, struct ht_buffer *u, struct ht_buffer *d);
