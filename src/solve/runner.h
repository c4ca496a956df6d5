/* What steppers on slabs have in common: a stepper describes its steps by passes, and its row does
 * each kind of task on a box; the runner makes schedules, runs them, exchanges planes, records time
 * steps that repeat, and counts. It is the first member of its stepper, so that `self` of the
 * functions of htwave/stepper.h is both. */
#pragma once

#include "halo.h"

/* Device seconds of kernels, also for other steppers; ghosts is a part of the interior's. */
struct ht_task_seconds {
    double part[2], ghosts; /* [enum ht_step_part] */
};

struct ht_runner_ops {
    /* One function per kind of task; the runner sends and receives. */
    enum ht_err (*task[HT_TASK_KINDS])(void *self, const struct ht_task *task);
    /* Before the passes of a half step, and after those of so many time steps. */
    enum ht_err (*before)(void *self, enum ht_subgrid from);
    void (*after)(void *self, int64_t steps);
    /* Of one slab: the time steps from now on of which each launches the same as the one *period
     * (1 unless set) steps before it. A sequence of so many is recorded at the first call with
     * some, and serves all later ones. */
    int64_t (*alike)(void *self, int64_t *period);
    struct ht_task_seconds (*seconds)(const void *self);
};

struct ht_runner {
    const struct ht_runner_ops *ops;
    struct ht_device *device; /* NULL: none */
    struct ht_partition partition;
    struct ht_passes passes; /* of a time step */
    struct ht_halo_state state;
    struct ht_halo halo;          /* where the partition is cut */
    struct ht_schedule schedule;  /* the last one */
    struct ht_sequence *sequence; /* of a period; NULL: not recorded */
    bool recording;
    int64_t half_steps;
    struct ht_task_counts counts;
    struct ht_task_seconds since; /* of the kernels before */
};

/* Makes what needs neither kernels nor memory of the device. The partition is made. */
HT_ERR ht_runner_make(struct ht_runner *r, const struct ht_runner_ops *ops,
                      const struct ht_problem *problem, struct ht_device *device);
void ht_runner_free(struct ht_runner *r);
/* Where the grid is cut: opens a copy of a planned halo. After the ranks agreed; collective. */
HT_ERR ht_runner_connect(struct ht_runner *r, const struct ht_problem *problem,
                         const struct ht_halo *planned);
HT_ERR ht_runner_run(struct ht_runner *r, const struct ht_passes *passes, int first, int last);
/* Waits for the messages of an exchange in progress. */
HT_ERR ht_runner_complete(struct ht_runner *r);

/* As in struct ht_stepper_ops. */
HT_ERR ht_runner_half_step(void *self, enum ht_subgrid from);
HT_ERR ht_runner_repeat(void *self, int64_t steps, int64_t *done);
HT_ERR ht_runner_finish(void *self);
void ht_runner_traffic(void *self, struct ht_traffic *out);
