/* A run of time steps: what ends it early, the loop with its observers, the observers. */
#pragma once

#include "htwave/energy.h"
#include "htwave/output.h"

/* The time steps of a plan by a stepper, with observers that look at the state between steps. A new
 * observer is a file in src/run with a function ht_observe_<what>, its declaration below, and a
 * line in the list of each command that uses it. */

struct ht_run {
    const struct ht_plan *plan;
    struct ht_stepper stepper;  /* holds the state after `steps` */
    struct ht_kernels *kernels; /* of the stepper; NULL: the oracle */
    int64_t steps;              /* taken */
    bool interrupted;           /* by a signal, before the last step */
    bool refused;               /* its state, by an observer that judges */
    double step_s;              /* of the steps, by the host's clock */
    double kernel_s;            /* of the steps, by the device's clock */
    double look_s;              /* of the observers */
    const char *from;           /* a checkpoint that it goes on from; NULL: it begins at 0 */
    const char *title;          /* of its progress; NULL: that is not shown */
    const char *physics; /* for checkpoints, of ht_params_physics; NULL: none, or not rank 0 */
};

/* What an observer sees of the run at a step. */
struct ht_view {
    const struct ht_run *run;
    double time;
    bool last; /* the run ends here, also interrupted or refused */
    /* NULL: not needed; of the nodes of ht_grid_inner that the rank owns: */
    const double *const *nodal; /* of ht_fields_read */
    const double *coefs;        /* [field][i][node] of the primary grid's stored fields */
};

/* What the looks of an observer need. */
enum ht_need {
    HT_NEED_JUDGED = 1, /* observers with `judges` look at the same steps */
    HT_NEED_NODAL = 2,
    HT_NEED_COEFS = 4
};

/* All functions but `look` may be NULL. On several ranks all have the same list, `next` gives the
 * same steps, and `begin`, `look` and `archive` may be collective. An error ends the run. */
struct ht_observer {
    const char *name;
    void *context;  /* of the functions; owned by the caller */
    unsigned needs; /* of enum ht_need */
    bool judges;    /* refuses a bad state; listed before those that need it */
    bool keeps;     /* looks a last time where a judge has refused the state */
    double seconds; /* looks after so many, behind a batch of steps; 0: at steps only */
    /* Before the first step. */
    enum ht_err (*begin)(void *context, struct ht_run *run);
    double every; /* looks at the steps nearest to multiples of this time; 0: at the last step */
    /* In its place: the first step >= from at which to look, called before the first step (from 0)
     * and after each look. The last step is looked at in any case. */
    int64_t (*next)(void *context, const struct ht_run *run, int64_t from);
    enum ht_err (*look)(void *context, const struct ht_view *view);
    /* Stores what it has kept of earlier looks, before or after its look at a step; or loads it
     * after `begin`: then the run goes on as if it had not ended. */
    enum ht_err (*archive)(void *context, struct ht_run *run, struct ht_archive *archive);
    /* After a failure that is no refusal: writes what it holds in memory; neither the device nor
     * the other ranks may answer. */
    enum ht_err (*save)(void *context, const struct ht_run *run);
    /* Releases what `begin` has taken, also after a failure of `begin`. Not collective. */
    void (*end)(void *context);
};
enum { HT_MAX_OBSERVERS = 16 };

/* Takes the plan's remaining steps. Observers look in the order of the list. A signal to any rank,
 * where the command watches for signals, ends the run with the last look and HT_OK: see
 * run->interrupted. Collective; a rank that fails must enter ht_comm_agree. */
HT_ERR ht_run_execute(struct ht_run *run, int count, const struct ht_observer *observer);
/* Of the walk over a run, its stepper and observers: */
struct ht_run_parts {
    struct ht_run *run;
    int count;
    const struct ht_observer *observer;
};
ht_archive_walk ht_run_archive;
/* Scheme and fields that a run steps, "fd of p": what else a checkpoint must have in common. */
enum { HT_STEPPED = 256 };
void ht_run_stepped(const struct ht_plan *plan, char out[HT_STEPPED]);
/* No observer looks. */
HT_ERR ht_run_advance(struct ht_run *run, int64_t steps);

/* Exactly the end after the last step. */
double ht_run_time(const struct ht_run *run);
/* The first step >= from that is nearest to a multiple of a time; every 0: the last step. */
int64_t ht_run_multiple(const struct ht_run *run, double every, int64_t from);

/* Observers of a run. What they are given must outlive it; results are NaN until it begins. */

/* Physical energies (docs/developers/method.md, section 9), NaN where they are not known and where
 * none is conserved. */
struct ht_energies {
    double initial, final;
    double rate; /* of finite differences: their own at the start */
    double rise; /* of the watch, by a scheme that dissipates; else NaN */
    struct ht_energy_watch watch;
    int64_t looked;           /* the last step looked at; -1: none */
    struct ht_output *series; /* set by the caller, gets a row per look; or NULL */
};

/* Judges the state: finite, and its energy not grown (ht_energy_watch); at least twenty times and
 * every five seconds. A first rise is a warning. */
struct ht_observer ht_observe_energy(struct ht_energies *energies);
/* The energy that the scheme conserves, at the start or the end of the sources and at the end, and
 * the physical one, where the scheme conserves it as well. A change by 1 % is a warning. */
struct ht_conserved {
    double energy[2], physical[2];
};
struct ht_observer ht_observe_conserved(struct ht_conserved *conserved);
/* ht_nodal_error at the end, where the solution is known then. */
struct ht_observer ht_observe_error(const struct ht_plan *plan, double *error);
/* At the multiples of output.every and output.picture.every, and at the end. */
struct ht_observer ht_observe_snapshots(const struct ht_params *params, struct ht_output *output);
struct ht_observer ht_observe_pictures(const struct ht_params *params, struct ht_output *output);
/* Checkpoints of the run whose observers these are, as output.checkpoint asks for them: behind
 * those that judge, before those that write. One that cannot be written is a warning. */
struct ht_checkpoints {
    struct ht_output *output;
    struct ht_run_parts of; /* its run since `begin` */
    struct ht_text physics;
    int64_t saved;      /* step of the last one */
    double ended, took; /* it, by the clock: when, how long; took 0: none yet */
};
bool ht_checkpoints_wanted(const struct ht_params *params);
struct ht_observer ht_observe_checkpoints(const struct ht_params *params,
                                          struct ht_checkpoints *checkpoints);
/* Traces of the plan's receivers, if it has any: into traces.h5, or where `output` is NULL into
 * memory of rank 0. */
struct ht_recording {
    struct ht_output *output;
    double **data; /* [group][reading][receiver][sample], 0 where the run has not been; from `begin`
                      until ht_recording_free */
    struct ht_pool pool;
    /* From `begin` to `end`, receivers NULL: there are none. */
    const struct ht_receivers *receivers;
    struct ht_sampler *sampler;
    struct ht_gather *gather; /* on rank 0 */
    bool writes;              /* the traces are begun and not ended */
    int64_t next;             /* step to look at */
    bool loaded;              /* it is that of a checkpoint */
};
struct ht_observer ht_observe_receivers(struct ht_recording *recording);
void ht_recording_free(struct ht_recording *recording); /* the data */
/* The maps of output.maps, kept on the device and written at the end. */
struct ht_maps {
    const struct ht_plan *plan;
    const struct ht_stepper *stepper;
    int64_t step;
    int count;
    struct ht_map_kept *kept; /* from `begin` to `end` */
};
struct ht_observer ht_observe_maps(struct ht_maps *maps);
