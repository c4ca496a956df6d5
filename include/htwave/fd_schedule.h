/* The order of work of a time step of finite differences (docs/differences.md):
 * the tasks of htwave/schedule.h over arrays in place of grids.
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
#ifndef HTWAVE_FD_SCHEDULE_H
#define HTWAVE_FD_SCHEDULE_H

#include "htwave/messages.h"
#include "htwave/schedule.h"

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
    bool samples;      /* receivers read u after each step forwards */
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
