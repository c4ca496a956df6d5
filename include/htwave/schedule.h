/* The order of work of steps: a list of tasks on a slab, made of passes over arrays.
 *
 * An array is what is up to date together: all fields of a grid of Hermite methods; u, d or w of
 * finite differences. A pass computes arrays at the nodes of a grid, the targets, region by region.
 * It reads arrays at its targets, and one or more, its sources, `reach` planes below and above
 * them. Methods describe their steps by tables of passes (ht_schedule_passes): half steps of
 * Hermite methods are two, steps of finite differences one or two.
 *
 * The tasks of a pass, as far as it needs them:
 *   - receive: the messages of an exchange, into the planes beyond the slab;
 *   - send, receive: if planes are still missing;
 *   - ghosts of its sources;
 *   - step: boundary planes, which the neighbours wait for, region by region, and the pass's other
 *     work there, in its order: layers of absorbing sides, sources;
 *   - send: boundary planes, for the next pass;
 *   - step: the interior, during the transfer;
 *   - record, on all own planes.
 * An exchange brings what the next `depth` passes with sources read. The planes that are up to date
 * determine the tasks, the same on all ranks (docs/developers/scaling.md, section 8).
 *
 * Tasks wait for those before them, but steps that follow one another do not wait for each other:
 * their targets are disjoint, and they read other arrays. So they are branches of a sequence
 * (htwave/device.h); kernels that pass interpolants through the buffers of all regions are of one
 * branch. Steps of few targets come first: a device begins launches that may run side by side in
 * their order, and those of few, often long work-groups would be left over at its end, with nothing
 * to fill the other units. */
#pragma once

#include "htwave/stepper.h"

/* ---- tasks ---- */
#define HT_EACH_TASK_KIND(X)      \
    X(HT_TASK_RECEIVE, "receive") \
    X(HT_TASK_GHOSTS, "ghosts")   \
    X(HT_TASK_STEP, "step")       \
    X(HT_TASK_LAYERS, "layers")   \
    X(HT_TASK_INJECT, "inject")   \
    X(HT_TASK_RESTORE, "restore") \
    X(HT_TASK_SEND, "send")       \
    X(HT_TASK_RECORD, "record")
#define HT_TASK_CONSTANT(constant, name) constant,
enum ht_task_kind { HT_EACH_TASK_KIND(HT_TASK_CONSTANT) HT_TASK_KINDS };

/* ---- passes ---- */
enum { HT_ARRAYS = 4, HT_PASSES = 6, HT_WORKS = 4 }; /* at most */
struct ht_pass {
    int number;                      /* the method's own; of Hermite methods the source grid */
    enum ht_subgrid from, to;        /* grids of the sources and of the targets */
    unsigned sources, reads, writes; /* masks of arrays */
    int64_t reach[2];                /* of the sources, below and above */
    int works;
    enum ht_task_kind work[HT_WORKS]; /* on the planes of each box, HT_TASK_STEP among them */
    bool records;                     /* HT_TASK_RECORD at its end */
};
/* Passes that follow each other: again and again, or once. */
struct ht_passes {
    int count;
    struct ht_pass pass[HT_PASSES];
    bool once;
    int half[2][2]; /* the half step from a grid is passes [half[grid][0], half[grid][1]) */
};
/* Those of a time step. */
void ht_schedule_passes(const struct ht_problem *problem, struct ht_passes *out);
void ht_pass_add(struct ht_pass *pass, enum ht_task_kind kind);

/* Planes of each array beyond a slab, below and above it. */
struct ht_planes {
    int64_t of[HT_ARRAYS][2];
};
/* Those that an exchange brings before pass number `index`, for `depth` passes with sources. */
struct ht_planes ht_exchange_planes(const struct ht_passes *passes, int depth, int index);
/* The most planes of an array that an exchange brings to a side: no slab may be thinner. */
int64_t ht_planes_needed(const struct ht_passes *passes, int depth);

/* ---- the parts of a rank's grids ---- */
/* Targets of a region on one grid: a box of held nodes of the window. */
struct ht_targets {
    struct ht_box box;
    int region;
    bool shares; /* by kernels that use the buffers of interpolants */
};
struct ht_partition {
    struct ht_window window[2]; /* of each grid */
    bool ghosts[2];             /* the window has some */
    bool cut;                   /* the grid is divided into several slabs */
    bool neighbour[2];          /* a slab exists below, above */
    int depth;                  /* passes with sources per exchange */
    int count[2];
    /* disjoint; together all held nodes; those of few nodes first */
    struct ht_targets *targets[2];
};
/* HT_ERR_INTERNAL if regions overlap or omit targets. */
HT_ERR ht_partition_make(const struct ht_problem *problem, int regions,
                         const struct ht_region *region, struct ht_partition *out);
void ht_partition_free(struct ht_partition *partition);

/* ---- planes that are up to date ---- */
/* They ignore walls, so that all ranks exchange at the same passes. Zero at first: own planes. */
struct ht_halo_state {
    struct ht_planes valid;
    bool open;               /* an exchange is in progress, */
    struct ht_planes coming; /* of these planes */
    bool stale[HT_ARRAYS];   /* own planes have been overwritten since */
};
/* The own planes of an array were overwritten: an exchange in progress is completed, and its planes
 * are not used. */
void ht_halo_overwritten(struct ht_halo_state *state, int array);
void ht_halo_received(struct ht_halo_state *state);

/* ---- schedules ---- */
struct ht_task {
    enum ht_task_kind kind;
    int pass;   /* its number; send, receive: of the one that needs the planes */
    int branch; /* 0: in order; steps in a row, of one pass, whose branches
                   differ are independent */
    bool first; /* of the steps of the pass */
    /* for what is done on boxes: */
    enum ht_step_part part;
    struct ht_targets targets;
    struct ht_planes planes; /* for send and receive */
};
struct ht_schedule {
    int count;
    struct ht_task *task;
};
/* Most tasks of so many passes over this number of targets (struct ht_partition). */
#define HT_MOST_TASKS(passes, targets) ((passes) * (3 * (targets) + 18))
/* The tasks of passes [first, last), and the state after them. out->task must have room for
 * HT_MOST_TASKS tasks. */
void ht_schedule_make(const struct ht_partition *partition, const struct ht_passes *passes,
                      int first, int last, struct ht_halo_state *state, struct ht_schedule *out);

/* Appends the tasks as text: "receive, ghosts, step boundary, send, step interior". */
void ht_schedule_add_text(const struct ht_schedule *schedule, struct ht_text *out);

struct ht_task_counts {
    int64_t tasks[HT_TASK_KINDS];
    int64_t launches[2], nodes[2]; /* steps, [enum ht_step_part] */
};
/* Adds those of a schedule, `times` times. */
void ht_schedule_count(const struct ht_schedule *schedule, int64_t times,
                       struct ht_task_counts *sum);

/* ---- messages between slabs (docs/developers/scaling.md) ---- */
/* Device buffers of a link to a neighbour, each of its longest message: one for outgoing messages
 * and two slots for incoming ones. */
enum { HT_LINK_BUFFERS = 3 };
