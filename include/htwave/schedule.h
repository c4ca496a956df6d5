/* The order of work: counts of messages, schedules of half steps and of time steps. */
#ifndef HTWAVE_SCHEDULE_H
#define HTWAVE_SCHEDULE_H

#include "htwave/stepper.h"

/* Counts of the messages between slabs (docs/scaling.md). */

/* Device buffers of a link to a neighbour, each of its longest message: one for outgoing messages
 * and two slots for incoming ones. */
enum { HT_LINK_BUFFERS = 3 };

/* Numbers of a plane of a grid, each with all coefficients, of Hermite methods:
 * fields, and memory variables of absorbing layers along x1 and x2. */
double ht_message_values(const struct ht_problem *problem, enum ht_subgrid of);

/* Bytes that a slab sends to the slab below (0) and above (1) in one exchange, before half steps of
 * which the first is from grid `from`. */
struct ht_exchange {
    double bytes[2];
};
struct ht_exchange ht_exchange_count(const struct ht_problem *problem, bool fp64,
                                     enum ht_subgrid from);

/* Bytes of one value at each node of a plane of the primary grid. */
double ht_message_plane(const struct ht_problem *problem, bool fp64);

/* Sent by a slab with two neighbours, mean per time step. */
struct ht_sent {
    double messages, bytes;
};
struct ht_sent ht_sent_here(const struct ht_problem *problem, bool fp64);
/* Sent by a nodal discontinuous Galerkin method on the same cells, of the degree 2N+1 of this
 * method's polynomials, with five stages per step. */
struct ht_sent ht_sent_dg(const struct ht_problem *problem, bool fp64);
/* Largest stable step of the dG method as a fraction of the time in which the fastest wave crosses
 * a cell. */
double ht_dg_step(int order);

/* The order of work of a half step: a list of tasks over regions. That of finite differences:
 * below.
 *
 * The tasks of a half step, as far as it needs them:
 *   - receive: the messages of an exchange, into the planes beyond the slab;
 *   - send, receive: if planes are still missing;
 *   - ghosts of the source grid;
 *   - step: boundary planes, which the neighbours wait for, region by region;
 *     after steps their planes get sources, if there are some; a sponge's
 *     layers damp the targets after sources, those that steps add to before
 *     these, too;
 *   - send: boundary planes, for the next half step;
 *   - step: the interior, region by region, during the transfer.
 * The planes that are up to date determine the tasks. They depend only on the sequence of half
 * steps and transfers, so all ranks make the same schedule without communication. The same list
 * serves forward and backward half steps, the run, the counts, and the model of docs/scaling.md.
 *
 * Tasks wait for those before them, but steps that follow one another do not wait for each other:
 * their targets are disjoint, and they read the other grid. So they are branches of a sequence
 * (htwave/device.h); kernels that pass interpolants through the buffers of all regions are of one
 * branch. Steps of few targets come first: a device begins launches that may run side by side in
 * their order, and those of few, often long work-groups would be left over at its end, with nothing
 * to fill the other units.
 */

/* ---- the parts of a rank's grids ---- */
/* Targets of a region on one grid: a box of held nodes of the window. */
struct ht_targets {
    struct ht_box box;
    int region;
    bool shares; /* by kernels that use the buffers of interpolants */
};
struct ht_partition {
    struct ht_window window[2]; /* of each grid */
    bool cut;                   /* the grid is divided into several slabs */
    bool neighbour[2];          /* a slab exists below, above */
    int depth;                  /* half steps per exchange */
    bool two_level;             /* targets must be up to date as well */
    bool sources;               /* are added after steps */
    bool damped[2];             /* by a sponge */
    int count[2];
    /* disjoint; together all held nodes; those of few nodes first */
    struct ht_targets *targets[2];
};
/* A partition without regions; it owns no memory. */
void ht_partition_slab(const struct ht_problem *problem, struct ht_partition *out);
/* HT_ERR_INTERNAL if regions overlap or omit targets. */
HT_CHECKED enum ht_err ht_partition_make(const struct ht_problem *problem, int regions,
                                         const struct ht_region *region, struct ht_partition *out);
void ht_partition_free(struct ht_partition *partition);

/* ---- planes that are up to date ---- */
/* Numbers of planes below and above a slab. */
struct ht_extent {
    int64_t below, above;
};
/* Extents ignore walls, so that all ranks exchange at the same half steps. The initial state is
 * zero: own planes only. */
struct ht_halo_state {
    struct ht_extent valid[2];
    bool open;            /* an exchange is in progress, */
    enum ht_subgrid next; /* for a half step from this grid */
    bool stale[2];        /* its values have been overwritten since */
};
/* Planes of `subgrid` beyond the slab that an exchange for a half step from `from` brings. */
struct ht_extent ht_exchange_extent(const struct ht_partition *partition, enum ht_subgrid from,
                                    enum ht_subgrid subgrid);
/* The own planes of a grid were overwritten: an exchange in progress is completed, and its planes
 * are not used. */
void ht_halo_overwritten(struct ht_halo_state *state, enum ht_subgrid subgrid);
/* The exchange in progress has ended. */
void ht_halo_received(const struct ht_partition *partition, struct ht_halo_state *state);

/* Planes of grid `of` that a slab receives from its neighbour on a side (0:
 * below) for `depth` half steps without exchange, the first one from grid `from`. A two-level
 * scheme also needs the target grid up to date. */
int ht_halo_planes(int depth, enum ht_subgrid from, enum ht_subgrid of, bool two_level, int side);

/* ---- tasks ---- */
#define HT_EACH_TASK_KIND(X)      \
    X(HT_TASK_RECEIVE, "receive") \
    X(HT_TASK_GHOSTS, "ghosts")   \
    X(HT_TASK_STEP, "step")       \
    X(HT_TASK_LAYERS, "layers")   \
    X(HT_TASK_INJECT, "inject")   \
    X(HT_TASK_SEND, "send")
#define HT_TASK_CONSTANT(constant, name) constant,
enum ht_task_kind { HT_EACH_TASK_KIND(HT_TASK_CONSTANT) HT_TASK_KINDS };

struct ht_task {
    enum ht_task_kind kind;
    int pass;   /* the half step, by its source grid (enum ht_subgrid); send,
                   receive: the one that needs the planes */
    int branch; /* 0: in order; steps in a row whose branches differ are
                   independent */
    /* for a step, and the planes that get sources or a sponge: */
    enum ht_step_part part;
    struct ht_targets targets;
    /* for send and receive of finite differences: planes of each array */
    int64_t planes[3];
};
struct ht_schedule {
    int count;
    struct ht_task *task;
};
/* Most tasks of a half step with this number of targets (struct ht_partition). */
#define HT_MOST_TASKS(targets) (3 * (targets) + 14)
/* The tasks of a half step, and the state after it. out->task must have room for HT_MOST_TASKS
 * tasks. */
void ht_schedule_make(const struct ht_partition *partition, enum ht_subgrid from,
                      struct ht_halo_state *state, struct ht_schedule *out);

/* Appends the tasks as text: "receive, ghosts, step boundary, send, step interior". */
void ht_schedule_add_text(const struct ht_schedule *schedule, struct ht_text *out);

/* Sums over the tasks of half steps. */
struct ht_task_counts {
    int64_t tasks[HT_TASK_KINDS];
    int64_t launches[2], nodes[2]; /* steps, [enum ht_step_part] */
};
/* Adds those of a schedule, `times` times. */
void ht_schedule_count(const struct ht_schedule *schedule, int64_t times,
                       struct ht_task_counts *sum);

/* The order of work of a time step of finite differences (docs/differences.md):
 * the tasks of half steps over arrays in place of grids.
 *
 * A step is made of passes over the nodes; with two terms of the series in time
 *     stage:      w = u + dt^2/12 L u
 *     update:     d = d + dt^2 L w, u = u + d;
 * with one term there is no stage, and L is applied to u. A step back is
 *     retreat:    u = u - d
 *     stage       as above
 *     increment:  d = d - dt^2 L w.
 * Where sides absorb, a task before the update takes the fluxes in the layers from u, and one after
 * each of its boxes does what the layers change there. Where there are sources a task after each
 * box of a pass adds to its targets.
 *
 * An operator L reads `reach` planes to either side of its targets, so a pass may have targets on
 * `reach` planes less beyond the slab than are up to date of the array that it is applied to. When
 * these do not suffice, an exchange brings what the next `depth` applications of L read. Its
 * messages travel behind the interior of the pass before. Receivers read own nodes of u after a
 * step. All ranks make the same schedule, without communication.
 */

enum ht_fd_name { HT_FD_U, HT_FD_D, HT_FD_W, HT_FD_NAMES }; /* of arrays */

enum ht_fd_pass {
    HT_FD_STAGE,
    HT_FD_UPDATE,
    HT_FD_RETREAT,
    HT_FD_INCREMENT,
    HT_FD_APPLY,      /* dt^2 M u into another array, at the own nodes only */
    HT_FD_START,      /* d = w + dt^2/6 L w */
    HT_FD_MOST_PASSES /* of a sequence, too */
};
/* Passes that follow each other, again and again but for the last two. */
enum ht_fd_sequence {
    HT_FD_FORWARDS,  /* stage, update */
    HT_FD_BACKWARDS, /* retreat, stage, increment */
    HT_FD_MEASURE,   /* stage, apply */
    HT_FD_BEGIN      /* start */
};
/* A slab of finite differences. */
struct ht_fd_slab {
    struct ht_box own; /* nodes, in indices of the window */
    bool neighbour[2]; /* a slab exists below, above */
    bool layers;       /* of absorbing sides: along with updates */
    bool sources;      /* added after the passes of steps that apply L */
    bool ghosts;       /* some side is a wall or a periodic seam of its own */
    int terms;         /* of the series in time */
    int depth;         /* applications of L per exchange */
    int64_t reach;
};
/* Terms, depth and reach of a problem. */
struct ht_fd_slab ht_fd_slab_of(const struct ht_problem *problem);
int ht_fd_sequence_passes(const struct ht_fd_slab *slab, enum ht_fd_sequence sequence,
                          enum ht_fd_pass out[HT_FD_MOST_PASSES]);

/* The array that L is applied to; -1: none. */
int ht_fd_source(int terms, enum ht_fd_pass pass);

/* Planes beyond each end with a neighbour, of each array. */
struct ht_fd_planes {
    int64_t of[HT_FD_NAMES];
};
/* Planes that an exchange brings before pass number `index` of a sequence. */
struct ht_fd_planes ht_fd_exchange(const struct ht_fd_slab *slab, enum ht_fd_sequence sequence,
                                   int index);
/* The most planes that an exchange brings: no slab may be thinner. */
int64_t ht_fd_planes_needed(int64_t reach, int depth);

/* Sent by a slab with two neighbours, mean per time step; array_bytes: of a plane of an array in a
 * message. */
struct ht_sent ht_fd_sent(const struct ht_fd_slab *slab, double array_bytes);

/* As struct ht_halo_state. */
struct ht_fd_halo_state {
    struct ht_fd_planes valid;
    bool open;
    struct ht_fd_planes coming; /* if it is open */
    bool stale[HT_FD_NAMES];
};
void ht_fd_halo_overwritten(struct ht_fd_halo_state *state, enum ht_fd_name name);
void ht_fd_halo_received(struct ht_fd_halo_state *state);

/* Most tasks of a sequence. */
enum { HT_FD_MOST_TASKS = 40 };
/* The tasks of passes [first, last) of a sequence, and the state after them. out->task must have
 * room for HT_FD_MOST_TASKS tasks. `pass` of a task is an enum ht_fd_pass, `planes` are those of an
 * enum ht_fd_name. */
void ht_fd_schedule_make(const struct ht_fd_slab *whole, enum ht_fd_sequence sequence, int first,
                         int last, struct ht_fd_halo_state *state, struct ht_schedule *out);

#endif
