/* Runs of finite differences for the convergence tests: from "key=value" texts by the way that a
 * run takes (htwave/simulation.h), on the device of test/open_device.h. */
#pragma once

#include <float.h>
#include <stdarg.h>
#include <unistd.h>

#include "../open_device.h"
#include "errors.h"
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

/* Options separated by blanks; in double precision unless they say so. */
HT_PRINTF(2, 3)
static inline void fd_plan(struct fd_run *run, const char *format, ...) {
    TEST_TEXT(text, FD_TEXT, format);
    if (strlen(text) == FD_TEXT - 1) abort();
    *run = (struct fd_run){0};
    must(test_params(NULL, ' ', &run->params,
                     "time.scheme=fd device.precision=double output.snapshots=false "
                     "output.pictures=false device.tune=never device.selfcheck=false "
                     "device.select=%s device.backend=%s %s",
                     test_select(), test_backend(), text));
    must(ht_simulation_plan(run->params, NULL, NULL, &run->sim));
    run->nodes = ht_grid_total(&run->sim->plan->grid, HT_PRIMARY);
}

/* The state is that at time 0. */
static inline void fd_start(struct fd_run *run) {
    must(ht_simulation_compile(run->sim));
    must(ht_simulation_start(run->sim));
}

#define fd_open(run, ...) (fd_plan(run, __VA_ARGS__), fd_start(run))

static inline struct ht_stepper *fd_stepper(const struct fd_run *run) {
    return &run->sim->run.stepper;
}

static inline void fd_advance(struct fd_run *run, int64_t steps) {
    must(ht_run_advance(&run->sim->run, steps));
}

/* A field: nodes values, to be freed. */
static inline double *fd_field(const struct fd_run *run, enum ht_subgrid subgrid, int field) {
    const struct ht_stepper *s = fd_stepper(run);
    double *u = NULL;
    must(HT_ALLOC(u, run->nodes));
    must(s->ops->get(s->self, subgrid, field, 1, 0,
                     ht_grid_planes(&run->sim->plan->grid, HT_PRIMARY), u));
    return u;
}

static inline double *fd_named(const struct fd_run *run, const char *name) {
    return fd_field(run, HT_PRIMARY, ht_equations_field(&run->sim->plan->eq, name));
}

/* u, or d of the dual grid. */
static inline double *fd_values(const struct fd_run *run, enum ht_subgrid subgrid) {
    return fd_field(run, subgrid, run->sim->plan->eq.second_order.field);
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

static inline struct ht_state fd_state(const struct fd_run *run) {
    struct ht_state state;
    must(ht_state_measure(run->sim->plan, fd_stepper(run), 0, &state));
    return state;
}

/* ---- what comes back: a run and one in a larger box around the same middle, spacing 1 ---- */

/* "[1.0,1.0]": a number for each axis. */
static inline const char *fd_axes(int dims, int value, const char *point, char out[64]) {
    int used = 0;
    for (int k = 0; k < dims; k++)
        used += snprintf(out + used, 64 - (size_t)used, "%c%d%s", k > 0 ? ',' : '[', value, point);
    snprintf(out + used, 64 - (size_t)used, "]");
    return out;
}

/* Of the nodes at most so near the middle along each axis: the largest |difference| of a field, and
 * its largest value on the faces of their box. */
static inline void fd_compare(const struct fd_run run[2], int field, int near, double *incident,
                              double *worst) {
    const int side = 2 * near + 1, dims = run->sim->plan->grid.dims;
    HT_FREED double *a = fd_field(&run[0], HT_PRIMARY, field);
    HT_FREED double *b = fd_field(&run[1], HT_PRIMARY, field);
    for (int m = 0; m < (int)pow(side, dims); m++) {
        const int x[3] = {m % side, m / side % side, m / side / side};
        int64_t at[2] = {0, 0};
        bool face = false;
        for (int k = dims - 1; k >= 0; k--) {
            for (int i = 0; i < 2; i++) {
                const struct ht_grid *grid = &run[i].sim->plan->grid;
                const int64_t first = (grid->cells[k] - (int64_t)2 * near) / 2;
                at[i] = at[i] * ht_grid_nodes(grid, HT_PRIMARY, k) + first + x[k];
            }
            face = face || x[k] == 0 || x[k] == side - 1;
        }
        *worst = test_worse(fabs(a[at[0]] - b[at[1]]), *worst);
        if (face) *incident = fmax(*incident, fabs(b[at[1]]));
    }
}

/* All steps, by some at a time: the former over the latter in dB. Closes both runs. */
static inline double fd_reflection(struct fd_run run[2], int field, int near, int at_a_time) {
    double incident = 0, worst = 0;
    for (int64_t k = 0; k < run->sim->plan->steps; k += at_a_time) {
        for (int i = 0; i < 2; i++) fd_advance(&run[i], at_a_time);
        fd_compare(run, field, near, &incident, &worst);
    }
    for (int i = 0; i < 2; i++) fd_close(&run[i]);
    return 20 * log10(worst / incident);
}

/* ---- kernels ---- */

/* Both kernels meet the reference of self-checks, and give the same bits, but through CUDA, whose
 * compiler fuses products and sums of losses in each kernel as it likes: some 16 roundings of a
 * step, where there are losses. */
static inline void fd_judge_kernels(const char *text, const char *more, bool lossy) {
    static const char *const variants[] = {"fd-plain", "fd-vectors"};
    enum { STEPS = 9 };
    struct fd_run run[2];
    double worst = 0;
    for (int i = 0; i < 2; i++) {
        fd_open(&run[i],
                "boundary.x1=absorbing boundary.x2=absorbing absorbing.cells=6 initial.type=random "
                "time.end=10 device.precision=single device.selfcheck=true device.variant=%s %s %s",
                variants[i], text, more);
        fd_advance(&run[i], STEPS);
    }
    for (int f = 0; f < run[0].sim->plan->eq.nfields; f++) {
        HT_FREED double *a = fd_field(&run[0], HT_PRIMARY, f);
        HT_FREED double *b = fd_field(&run[1], HT_PRIMARY, f);
        const struct errors e = errors_of(run[0].nodes, b, a);
        worst = test_worse(e.most / fmax(e.largest, DBL_MIN), worst);
    }
    const bool fuses = lossy && strcmp(ht_device_info(run[0].sim->device)->backend, "cuda") == 0;
    TEST_CHECK(worst <= (fuses ? STEPS * 16 * ldexp(1, -24) : 0),
               "%.30s %s: values of fd-vectors are unlike those of fd-plain by %.2g", text, more,
               worst);
    for (int i = 0; i < 2; i++) fd_close(&run[i]);
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
