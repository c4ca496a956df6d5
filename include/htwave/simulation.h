/* All of a run from its parameters: ranks, preparation, tuning, results of ranks, report, disk. */
#pragma once

#include "htwave/args.h"
#include "htwave/run.h"
#include "htwave/tune.h"

/* ---- ranks.c; collective ---- */
/* Refuse ranks that run another program, command, flags or parameters than rank 0. */
HT_ERR ht_ranks_check_program(struct ht_comm *comm, const char *command);
HT_ERR ht_ranks_check_flags(const struct ht_args *args);
HT_ERR ht_ranks_check_params(struct ht_comm *comm, const struct ht_params *params);

/* As ht_device_open; ranks of a machine that can use the same devices take them in turn. */
HT_ERR ht_ranks_open(struct ht_comm *comm, const char *backend, const char *select,
                     struct ht_device **out);
/* *out: number of lower ranks of this machine with the same list. */
HT_ERR ht_ranks_sharer(struct ht_comm *comm, int count, const struct ht_device_info *infos,
                       int *out);

/* The device assigned to a rank. */
struct ht_assignment {
    uint64_t device; /* a hash of what tells devices apart; 0: it has none */
    int machine;     /* the lowest rank on the same machine */
    int first;       /* the lowest rank that uses the same device; -1: it has none */
    char name[128];
};
/* *out: the assignments of all ranks, freed by the caller; info NULL: this rank has no device. */
HT_ERR ht_ranks_assignments(struct ht_comm *comm, const struct ht_device_info *info,
                            struct ht_assignment **out);

/* "4 ranks on 3 x A, 1 x B": number of devices of each name; several ranks may share one. */
void ht_ranks_add_devices(int ranks, const struct ht_assignment *assignment, struct ht_text *text);
int ht_ranks_devices(int ranks, const struct ht_assignment *assignment);
int ht_ranks_machines(int ranks, const struct ht_assignment *assignment);

/* ---- simulation.c: plan (nothing is allocated on the device), compile, start; then ht_run_execute
 * takes the steps ---- */

struct ht_survey;
enum { HT_DISK_PARTS = 5 }; /* disk.c */
struct ht_simulation {
    const struct ht_params *params;
    struct ht_survey *survey; /* whose shots it runs (htwave/survey.h); NULL: one run */
    struct ht_comm *comm;     /* NULL: a single rank */
    int rank, ranks;
    struct ht_assignment *assignment; /* [rank] */
    struct ht_assignment *everyone;   /* [rank of all groups of a survey] */
    int64_t *planes;                  /* of cells along x3 [rank]; 3-D */
    struct ht_plan *plan;
    bool oracle;                /* the serial reference on the host */
    struct ht_device *device;   /* NULL: the oracle, or no device */
    char *no_device;            /* why there is none */
    bool too_large;             /* for a group of a survey that may be larger: not planned */
    struct ht_device_info info; /* of the device; the host for the oracle */
    struct ht_tuning tuning;    /* variant NULL: the oracle */
    bool tuned;                 /* by timing on this device, not by rule */
    struct ht_kernels kernels;  /* without steps before they are compiled;
                                   empty for the oracle or without a device */
    struct ht_budget budget;    /* of this rank; of the largest shot */
    double disk[HT_DISK_PARTS]; /* of ht_disk_need, of all shots */
    char *cache;                /* directory; NULL: none */
    double tune_s, compile_s, selfcheck_s, measure_s, start_s;
    double selfcheck_ratio;  /* NaN: not checked */
    struct ht_limits limits; /* 0: not measured */
    double joules_before;    /* the device's counter at the start, or < 0 */
    struct ht_run run;       /* after ht_simulation_start */
};

/* Collective; a rank that fails by itself must enter ht_comm_agree before it destroys the
 * simulation. A missing device, on any rank, is no failure yet: no_device has the reason. params
 * and comm must outlive the simulation. survey: NULL of one run. */
HT_ERR ht_simulation_plan(const struct ht_params *params, struct ht_comm *comm,
                          struct ht_survey *survey, struct ht_simulation **out);
void ht_simulation_destroy(struct ht_simulation *sim); /* NULL allowed */
HT_ENDS(ht_simulation)
/* Plans anew, a survey for all shots, for other values of the medium (struct ht_medium_given), on
 * the same device, ready for ht_simulation_start. Programs that the device keeps serve again. */
HT_ERR ht_simulation_replan(struct ht_simulation *sim);
/* Where device.tune asks for it and this class of problems has no result. Failures are notes. */
HT_ERR ht_simulation_tune(struct ht_simulation *sim);
/* Compiles and checks the kernels; fails without a device. */
HT_ERR ht_simulation_compile(struct ht_simulation *sim);
/* Whether this rank is the lowest that uses its device. */
bool ht_simulation_leads(const struct ht_simulation *sim);
/* The limits of the device, once, on the rank that leads it; before start, which may take all
 * memory. A failure is a note. */
void ht_simulation_measure(struct ht_simulation *sim);
/* Again after ht_plan_aim: with the stepper that there is. */
HT_ERR ht_simulation_start(struct ht_simulation *sim);
/* A stepper for the same kernels on another problem, of the same kind. */
HT_ERR ht_simulation_stepper(struct ht_simulation *sim, const struct ht_problem *problem,
                             struct ht_stepper *out);

/* Cells of the grid; a step is two half steps of each. */
static inline double ht_simulation_cells(const struct ht_simulation *sim) {
    return (double)ht_grid_total(&sim->plan->grid, HT_DUAL);
}
/* Cell half-steps per second by the method's least work at the device's limits; NaN: not known. */
double ht_simulation_limit(const struct ht_simulation *sim);

/* Coefficients of a block by device.layout. */
static inline int ht_layout_block(enum ht_layout_choice layout, bool gpu, bool fp64) {
    const bool blocked = layout == HT_LAYOUT_AUTO ? gpu : layout == HT_LAYOUT_BLOCKED;
    return !blocked ? 1 : fp64 ? 2 : 4;
}
/* The choices of a tuning that the input leaves open. */
struct ht_tune_choice ht_tuning_choice(const struct ht_simulation *sim);
/* The directory that device.cache means; NULL: none. Free it. */
HT_ERR ht_cache_directory(const char *given, char **out);

/* ---- report.c ---- */
/* Seconds of several ranks: of the kernels; of all steps, by the hosts' clocks, and of these steps;
 * ghosts of the interior; exposed: none of these kernels. */
enum {
    HT_TIME_KERNEL,
    HT_TIME_STEP,
    HT_TIME_INTERIOR,
    HT_TIME_BOUNDARY,
    HT_TIME_GHOSTS,
    HT_TIME_PACK,
    HT_TIME_EXPOSED,
    HT_TIMES
};
enum { HT_TRANSPORT_NAMES = 64 };
struct ht_parallel {
    struct {
        double mean, worst; /* over the ranks */
    } part[HT_TIMES];
    double exchanges;                   /* per step */
    double messages, bytes;             /* per step, sent by all ranks */
    double limit;                       /* of all devices, or NaN */
    double joules;                      /* likewise */
    unsigned transports;                /* bit per name of ht_transport_name, that some rank uses */
    char transport[HT_TRANSPORT_NAMES]; /* "peer + staged" */
};

/* Collective; after the last step. */
HT_ERR ht_parallel_gather(const struct ht_simulation *sim, struct ht_parallel *out);
/* A member "parallel"; parallel NULL: before the run. */
void ht_parallel_add_json(const struct ht_simulation *sim, const struct ht_parallel *parallel,
                          struct ht_json *json);

/* What a run's observers found; NaN: not known. */
struct ht_result {
    double wall_s;
    struct ht_energies energy;
    struct ht_conserved conserved;
    double error;
    struct ht_parallel parallel; /* joules: from the first step on */
};

void ht_report_plan(const struct ht_simulation *sim, struct ht_facts *facts);
/* Notes about the medium that a user should know before trusting a run. */
void ht_report_notes(const struct ht_simulation *sim);
void ht_report_result(const struct ht_simulation *sim, const struct ht_result *result,
                      const struct ht_output *output, struct ht_facts *facts);

/* ---- disk.c ---- */
/* Bytes of traces in all their formats, of snapshots, and about those of pictures and
 * checkpoints, and of maps. */
void ht_disk_need(const struct ht_plan *plan, double part[HT_DISK_PARTS]);
/* Of all shots and parts. */
double ht_disk_sum(const struct ht_simulation *sim);
/* Refuses a run that writes more than its output.directory has room for. For one rank. */
HT_ERR ht_disk_check(const struct ht_simulation *sim);
/* "1.2 GiB to write: traces .., snapshots .., pictures ..; 20 GiB free" */
void ht_disk_describe(const struct ht_simulation *sim, struct ht_text *text);
