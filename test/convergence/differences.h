/* Runs of finite differences for the convergence tests: from "key=value" texts by the way that a
 * run takes (htwave/simulation.h), on the device of test/open_device.h. */
#pragma once

#include <stdarg.h>
#include <unistd.h>

#include "../open_device.h"
#include "htwave/simulation.h"
#include "io/scratch.h"
#include "must.h"
#include "options.h"

enum { FD_TEXT = 2048 };

struct fd_run {
    struct ht_params *params;
    struct ht_simulation *sim;
    int64_t nodes;
};

static inline void fd_close(struct fd_run *run) {
    ht_simulation_destroy(run->sim);
    ht_params_destroy(run->params);
    *run = (struct fd_run){0};
}

/* Options separated by blanks; in double precision unless they say so. The state is that at time 0.
 */
HT_PRINTF(2, 3)
static inline void fd_open(struct fd_run *run, const char *format, ...) {
    char text[FD_TEXT];
    va_list args;
    va_start(args, format);
    if (vsnprintf(text, sizeof text, format, args) >= FD_TEXT) abort();
    va_end(args);
    *run = (struct fd_run){0};
    must(test_params(NULL, ' ', &run->params,
                     "time.scheme=fd device.precision=double output.snapshots=false "
                     "output.pictures=false device.tune=never device.selfcheck=false "
                     "device.select=%s device.backend=%s %s",
                     test_select(), test_backend(), text));
    must(ht_simulation_plan(run->params, NULL, NULL, &run->sim));
    must(ht_simulation_compile(run->sim));
    must(ht_simulation_start(run->sim));
    run->nodes = ht_grid_total(&run->sim->plan->grid, HT_PRIMARY);
}

static inline struct ht_stepper *fd_stepper(const struct fd_run *run) {
    return &run->sim->run.stepper;
}

static inline void fd_advance(struct fd_run *run, int64_t steps) {
    must(ht_run_advance(&run->sim->run, steps));
}

/* u, or d of the dual grid: nodes values, to be freed. */
static inline double *fd_values(const struct fd_run *run, enum ht_subgrid subgrid) {
    const struct ht_stepper *s = fd_stepper(run);
    const struct ht_plan *plan = run->sim->plan;
    double *u = NULL;
    must(HT_ALLOC(u, run->nodes));
    must(s->ops->get(s->self, subgrid, plan->eq.second_order.field, 1, 0,
                     ht_grid_planes(&plan->grid, HT_PRIMARY), u));
    return u;
}

static inline void fd_put(const struct fd_run *run, enum ht_subgrid subgrid, const double *values) {
    const struct ht_stepper *s = fd_stepper(run);
    const struct ht_plan *plan = run->sim->plan;
    HT_FREED double *all = NULL;
    must(HT_ALLOC(all, run->nodes * plan->eq.nfields));
    memcpy(all + plan->eq.second_order.field * run->nodes, values,
           (size_t)run->nodes * sizeof *all);
    must(s->ops->put(s->self, subgrid, 0, ht_grid_planes(&plan->grid, HT_PRIMARY), all));
}

static inline double fd_energy(const struct fd_run *run) {
    double energy = NAN;
    must(ht_conserved_energy(run->sim->plan, fd_stepper(run), &energy));
    return energy;
}

/* |a - b| / |b - mean|. */
static inline double fd_distance(int64_t count, const double *a, const double *b, double mean) {
    double sum = 0, all = 0;
    for (int64_t n = 0; n < count; n++) {
        sum += (a[n] - b[n]) * (a[n] - b[n]);
        all += (b[n] - mean) * (b[n] - mean);
    }
    return sqrt(sum / all);
}

/* ---- media in files ---- */

static char *fd_directory;

static inline const char *fd_path(const char *name) {
    static char path[2][128];
    static int turn;
    turn = 1 - turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", fd_directory, name);
    return path[turn];
}

static inline void fd_write(const char *name, int64_t count, const float *values) {
    must(ht_file_write(fd_path(name), values, (size_t)count * sizeof *values));
}
