/* The order of work of a half step: a list of tasks over regions. That of finite differences:
 * htwave/fd_schedule.h.
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
#ifndef HTWAVE_SCHEDULE_H
#define HTWAVE_SCHEDULE_H

#include "htwave/stepper.h"

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
    X(HT_TASK_SEND, "send")       \
    X(HT_TASK_SAMPLE, "sample")
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

#endif
