/* Runs with receivers, for tests of traces: a run in a scratch directory, its trace file's sets,
 * the state at nodes meanwhile. */
#pragma once

#include "../open_device.h"
#include "htwave/h5.h"
#include "htwave/simulation.h"
#include "must.h"
#include "options.h"
#include "scratch.h"

enum { TEXT = 2048, NONE = -1 };

/* ---- a run with receivers ---- */

/* Nodal values of a field at each step. */
struct nodal {
    int field;
    int64_t nodes, steps;
    double *value; /* [step][node] */
};

static int64_t nodal_next(void *context, const struct ht_run *run, int64_t from) {
    (void)context, (void)run;
    return from;
}

static enum ht_err nodal_look(void *context, const struct ht_view *view) {
    struct nodal *n = context;
    memcpy(n->value + n->steps++ * n->nodes, view->nodal[n->field],
           (size_t)n->nodes * sizeof *n->value);
    return HT_OK;
}

struct trial {
    struct ht_params *params;
    struct ht_simulation *sim;
    struct ht_output *output;
    struct nodal nodal;
    struct ht_h5 *file;
    char *directory;
};

static void observe(struct trial *t, int field) {
    const bool nodal = field >= 0;
    const struct ht_grid *grid = &t->sim->plan->grid;
    t->nodal.field = field;
    t->nodal.nodes = ht_grid_total(grid, HT_PRIMARY);
    if (nodal) must(HT_ALLOC(t->nodal.value, t->nodal.nodes * (t->sim->plan->steps + 1)));
    struct ht_recording recording = {.output = t->output};
    struct ht_maps maps;
    const struct ht_observer observers[] = {ht_observe_maps(&maps),
                                            ht_observe_receivers(&recording),
                                            {.name = "nodal",
                                             .context = &t->nodal,
                                             .needs = HT_NEED_NODAL,
                                             .next = nodal_next,
                                             .look = nodal_look}};
    must(ht_run_execute(&t->sim->run, nodal ? 3 : 2, observers));
}

/* field: whose nodal values are kept, or NONE. backend: "oracle", or "device":
 * what test/open_device.h says. Options are separated by blanks. */
HT_PRINTF(4, 5)
static void record(struct trial *t, const char *backend, int field, const char *format, ...) {
    TEST_TEXT(text, TEXT, format);
    const bool oracle = strcmp(backend, "oracle") == 0;
    *t = (struct trial){.directory = scratch_make("traces")};
    if (t->directory == NULL) exit(1);
    if (strlen(text) == TEXT - 1) abort();
    must(test_params(NULL, ' ', &t->params,
                     "output={snapshots=false;pictures=false;} output.directory=\"%s\" "
                     "device={backend=\"%s\";select=\"%s\";} device.tune=never "
                     "device.selfcheck=false %s",
                     t->directory, oracle ? "oracle" : test_backend(), test_select(), text));
    must(ht_simulation_plan(t->params, NULL, NULL, &t->sim));
    must(ht_output_check_traces(t->params, t->sim->plan->receivers));
    must(ht_simulation_compile(t->sim));
    must(ht_simulation_start(t->sim));
    must(ht_output_create(t->params, t->sim->plan->medium, 0, &t->output));
    observe(t, field);
    HT_FREED char *path = scratch_path(t->directory, "traces.h5");
    must(ht_h5_open(path, &t->file));
}

static void finish(struct trial *t) {
    ht_h5_close(t->file);
    ht_output_destroy(t->output);
    ht_simulation_destroy(t->sim);
    ht_params_destroy(t->params);
    free(t->nodal.value);
    scratch_remove(t->directory);
}

/* A dataset; its extents where asked for. */
static double *read_set(struct trial *t, const char *name, int64_t extent[8]) {
    int rank;
    int64_t own[8] = {0}, count = 1;
    double *data = NULL;
    must(ht_h5_extent(t->file, name, &rank, own));
    for (int k = 0; k < rank; k++) count *= own[k];
    must(HT_ALLOC(data, count));
    must(ht_h5_read(t->file, name, count, data));
    if (extent != NULL) memcpy(extent, own, sizeof own);
    return data;
}

/* The largest error of a field of receivers; *largest: exact value, NULL: not asked for. x:
 * position, one number per axis. */
typedef double exact_value(const struct trial *t, const void *context, const double *x, double time,
                           const char *field);
static inline double set_error(struct trial *t, const char *group, const char *field,
                               exact_value *exact, const void *context, double *largest) {
    int64_t extent[8];
    double worst = 0, most = 0;
    HT_FREED double *data = read_set(t, HT_KEY("%s/%s", group, field), extent);
    HT_FREED double *x = read_set(t, HT_KEY("%s/position", group), NULL);
    HT_FREED double *time = read_set(t, HT_KEY("%s/time", group), NULL);
    const int dims = t->sim->plan->grid.dims;
    for (int64_t i = 0; i < extent[0] * extent[1]; i++) {
        const double value =
            exact(t, context, x + dims * (i / extent[1]), time[i % extent[1]], field);
        worst = test_worse(worst, fabs(data[i] - value));
        most = fmax(most, fabs(value));
    }
    if (largest != NULL) *largest = most;
    return worst;
}

/* Over the largest exact value. */
static inline double group_error(struct trial *t, const char *group, const char *field,
                                 exact_value *exact, const void *context) {
    double largest = 0;
    const double worst = set_error(t, group, field, exact, context, &largest);
    return worst / largest;
}
