/* All that a run needs, from its parameters, in the order in which errors can occur: plan (nothing
 * is allocated on the device), compile, start. Then ht_run_execute takes the steps (htwave/run.h).
 */
#ifndef HTWAVE_SIMULATION_H
#define HTWAVE_SIMULATION_H

#include "htwave/ranks.h"
#include "htwave/run.h"

struct ht_simulation {
    const struct ht_params *params;
    struct ht_comm *comm; /* NULL: a single rank */
    int rank, ranks;
    struct ht_assignment *assignment; /* [rank] */
    int64_t *planes;                  /* of cells along x3 [rank]; 3-D */
    struct ht_plan *plan;
    bool oracle;                /* the serial reference on the host */
    struct ht_device *device;   /* NULL: the oracle, or no device */
    char *no_device;            /* why there is none */
    struct ht_device_info info; /* of the device; the host for the oracle */
    struct ht_tuning tuning;    /* variant NULL: the oracle */
    bool tuned;                 /* by timing on this device, not by rule */
    struct ht_kernels kernels;  /* without steps before they are compiled;
                                   empty for the oracle or without a device */
    struct ht_budget budget;    /* of this rank */
    char *cache;                /* directory; NULL: none */
    double tune_s, compile_s, selfcheck_s, measure_s, start_s;
    double selfcheck_ratio;  /* NaN: not checked */
    struct ht_limits limits; /* 0: not measured */
    double joules_before;    /* the device's counter at the start, or < 0 */
    struct ht_run run;       /* after ht_simulation_start */
};

/* Every rank calls these functions, in the same order. A rank that fails by itself must enter
 * ht_comm_agree before it destroys the simulation.
 */

/* Performs all checks that need no compilation: parameters, grid, medium, initial data, device,
 * variant, memory. A missing device, on any rank, is no failure yet: device is NULL then and
 * no_device has the reason. A failed call leaves nothing to destroy. params and comm (NULL: a
 * single rank) must outlive the simulation. */
HT_CHECKED enum ht_err ht_simulation_plan(const struct ht_params *params, struct ht_comm *comm,
                                          struct ht_simulation **out);
void ht_simulation_destroy(struct ht_simulation *sim); /* NULL allowed */
/* Times kernels where device.tune asks for it and no result is stored for this class of problems;
 * changes tuning and budget. Failures are notes. */
HT_CHECKED enum ht_err ht_simulation_tune(struct ht_simulation *sim);
/* Compiles and checks the kernels on the device; fails without a device. Where slabs are cut by the
 * devices' speeds, these are then measured. */
HT_CHECKED enum ht_err ht_simulation_compile(struct ht_simulation *sim);
/* Whether this rank is the lowest that uses its device. */
bool ht_simulation_leads(const struct ht_simulation *sim);
/* Measures the limits of the device once, on the rank that leads it; before start, which may take
 * all memory. A failure is a note only.
 */
void ht_simulation_measure(struct ht_simulation *sim);
/* Makes the run: allocates the state and sets it to the initial data. */
HT_CHECKED enum ht_err ht_simulation_start(struct ht_simulation *sim);
/* A stepper for the same kernels on another problem, of the same kind. */
HT_CHECKED enum ht_err ht_simulation_stepper(struct ht_simulation *sim,
                                             const struct ht_problem *problem,
                                             struct ht_stepper *out);

/* Cells of the grid; a step is two half steps of each. */
double ht_simulation_cells(const struct ht_simulation *sim);
/* Coefficients of the fields stored on the primary grid. */
double ht_simulation_unknowns(const struct ht_simulation *sim);

/* Joules that the device used since the start of the steps; NaN: it does not report them. */
double ht_simulation_joules(const struct ht_simulation *sim);

/* Cell half-steps per second with the least work of the method at the limits of this device; NaN:
 * not known. */
double ht_simulation_limit(const struct ht_simulation *sim);

/* As the input names them. */
const char *ht_simulation_precision(const struct ht_simulation *sim);
const char *ht_simulation_layout(const struct ht_simulation *sim);

#endif
