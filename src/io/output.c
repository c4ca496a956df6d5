/* The files of a run: input.cfg, fields_NNNNNN.h5 with fields.xdmf, wave_NNNN.png, summary.json.
 * Their directory has those of one run only (directory.c).
 *
 * Every file but series.csv and traces.h5, which grow, is written under a temporary name and
 * renamed, so a reader (also ParaView during a run) sees complete files only. Numbers in names
 * count from 0, those of snapshots from directory.first.
 */
#include "htwave/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "directory.h"
#include "fields.h"
#include "htwave/h5.h"
#include "pictures.h"
#include "snapshot.h"
#include "traces.h"
#include "units.h"
#include "xdmf.h"

struct ht_output {
    const struct ht_params *params;
    const struct ht_medium *medium;
    struct ht_directory directory;
    unsigned stored;          /* bit per field of the primary grid, 0: all */
    int field[HT_MAX_FIELDS]; /* selected fields, count in xdmf.nfields */
    struct ht_xdmf xdmf;
    char *xdmf_path;
    bool listed; /* fields.xdmf has been written */
    struct ht_pictures *pictures;
    struct ht_traces *traces; /* on rank 0, while they are written */
    bool traced;              /* traces.h5 is complete */
    FILE *series;             /* on rank 0; NULL: not begun */
};

static const struct ht_equations *equations(const struct ht_output *output) {
    return output->medium->eq;
}

static struct ht_comm *comm_of(const struct ht_output *output) {
    return output->medium->grid->slab.comm;
}

static bool is_first(const struct ht_output *output) {
    return ht_comm_rank(comm_of(output)) == 0;
}

/* ---- creation ---- */

static enum ht_err select_fields(struct ht_output *output) {
    const struct ht_equations *eq = equations(output);
    const struct ht_names *names = &output->params->output.fields;
    bool taken[HT_MAX_FIELDS] = {false};
    for (int i = 0; i < names->count; i++) {
        int field;
        TRY(ht_fields_find(output->params, eq, output->stored, "output.fields", names->name[i],
                           &field));
        taken[field] = true;
    }
    for (int f = 0; f < eq->nfields; f++) {
        if (names->count > 0 ? !taken[f] : !ht_fields_stored(output->stored, f)) continue;
        output->field[output->xdmf.nfields] = f;
        output->xdmf.field[output->xdmf.nfields++] = eq->field[f].name;
    }
    return HT_OK;
}

static enum ht_err check_ranks(const struct ht_output *output) {
    if (!output->params->output.snapshots || !ht_grid_cut(output->medium->grid) || ht_h5_parallel())
        return HT_OK;
    return ht_params_error(output->params, "output.snapshots",
                           "must be false with several ranks: the HDF5 library "
                           "was built without MPI");
}

enum ht_err ht_output_check(const struct ht_params *params, const struct ht_medium *medium,
                            unsigned stored) {
    struct ht_output output = {.params = params, .medium = medium, .stored = stored};
    TRY(select_fields(&output));
    TRY(ht_pictures_check(params, medium, stored));
    TRY(check_ranks(&output));
    return is_first(&output) ? ht_directory_check(params) : HT_OK;
}

enum ht_err ht_output_idle(const struct ht_params *params) {
    return ht_directory_idle(params);
}

static enum ht_err start(struct ht_output *output) {
    const struct ht_params *params = output->params;
    output->xdmf.grid = output->medium->grid;
    output->xdmf.single = params->device.precision == HT_SINGLE;
    TRY(select_fields(output));
    TRY(ht_pictures_check(params, output->medium, output->stored));
    TRY(ht_pictures_create(params, output->medium, output->stored, &output->pictures));
    TRY(check_ranks(output));
    TRY(ht_directory_path(params->output.directory, HT_XDMF_NAME, &output->xdmf_path));
    return is_first(output) ? ht_directory_take(params, &output->directory) : HT_OK;
}

/* All ranks use the names of rank 0. */
static enum ht_err share_first(struct ht_output *output) {
    output->xdmf.first = output->directory.first;
    return ht_comm_broadcast(comm_of(output), &output->xdmf.first, sizeof output->xdmf.first);
}

enum ht_err ht_output_create(const struct ht_params *params, const struct ht_medium *medium,
                             unsigned stored, struct ht_output **out) {
    struct ht_output *output = NULL;
    *out = NULL;
    enum ht_err err = HT_ALLOC(output, 1);
    if (!err) {
        output->params = params;
        output->medium = medium;
        output->stored = stored;
        output->directory.lock.fd = -1;
        err = start(output);
    }
    err = ht_comm_agree(medium->grid->slab.comm, err);
    if (!err) err = share_first(output);
    if (err)
        ht_output_destroy(output);
    else
        *out = output;
    return err;
}

void ht_output_destroy(struct ht_output *output) {
    if (!output) return;
    ht_traces_destroy(output->traces);
    if (output->series) fclose(output->series);
    ht_directory_release(&output->directory);
    ht_pictures_destroy(output->pictures);
    free(output->xdmf_path);
    free(output->xdmf.time);
    free(output);
}

/* ---- snapshots ---- */

static enum ht_err write_snapshot(const struct ht_output *output, double time, int64_t step,
                                  const double *const *nodal, const double *coefs,
                                  const char *name) {
    const struct ht_params *params = output->params;
    const struct ht_snapshot snapshot = {.system = equations(output)->system->name,
                                         .grid = output->medium->grid,
                                         .units = &params->output.units,
                                         .time = time,
                                         .step = step,
                                         .single = output->xdmf.single,
                                         .nfields = output->xdmf.nfields,
                                         .field = output->field,
                                         .name = output->xdmf.field,
                                         .nodal = nodal,
                                         .coefs = params->output.coefficients ? coefs : NULL};
    char *path = NULL;
    enum ht_err err = ht_directory_path(params->output.directory, name, &path);
    if (!err && params->output.coefficients && !coefs)
        err = ht_err_set(HT_ERR_INTERNAL, "snapshot without the coefficients that "
                                          "output.coefficients asks for");
    err = ht_comm_agree(comm_of(output), err);
    if (!err) err = ht_snapshot_write(&snapshot, path);
    free(path);
    return err;
}

enum ht_err ht_output_snapshot(struct ht_output *output, double time, int64_t step,
                               const double *const *nodal, const double *coefs) {
    if (!output->params->output.snapshots) return HT_OK;
    char name[32];
    snprintf(name, sizeof name, HT_SNAPSHOT_NAME, output->xdmf.first + output->xdmf.count);
    TRY(write_snapshot(output, time, step, nodal, coefs, name));
    enum ht_err err = ht_xdmf_add(&output->xdmf, time);
    if (!err && is_first(output)) err = ht_xdmf_write(&output->xdmf, output->xdmf_path);
    TRY(ht_comm_agree(comm_of(output), err));
    output->listed = true;
    return HT_OK;
}

/* ---- pictures ---- */

enum ht_err ht_output_mark(struct ht_output *output, const struct ht_shots *shots,
                           const struct ht_receivers *receivers) {
    if (!output->params->output.picture.marks || !is_first(output)) return HT_OK;
    return ht_pictures_mark(output->pictures, shots, receivers);
}

enum ht_err ht_output_picture(struct ht_output *output, double time, const double *const *nodal) {
    if (!ht_output_draws(output->params)) return HT_OK;
    return ht_pictures_draw(output->pictures, time, nodal);
}

/* ---- the end ---- */

static enum ht_err write_summary(const struct ht_output *output, const char *json) {
    char *path = NULL;
    TRY(ht_directory_path(output->params->output.directory, HT_SUMMARY_NAME, &path));
    enum ht_err err = ht_file_write(path, json, strlen(json));
    free(path);
    return err;
}

enum ht_err ht_output_summary(struct ht_output *output, const char *json) {
    enum ht_err err = HT_OK;
    if (is_first(output)) err = write_summary(output, json);
    return ht_comm_agree(comm_of(output), err);
}

const char *ht_output_last_picture(const struct ht_output *output) {
    return ht_pictures_last(output->pictures);
}

const char *ht_output_xdmf(const struct ht_output *output) {
    return output->listed ? output->xdmf_path : NULL;
}

/* ---- traces ---- */

enum ht_err ht_output_traces_begin(struct ht_output *output, const struct ht_receivers *receivers) {
    return ht_traces_create(output->params, receivers, output->medium->grid->dims, &output->traces);
}

enum ht_err ht_output_traces_add(struct ht_output *output, int group, int64_t first, int64_t last,
                                 const double *data) {
    return ht_traces_add(output->traces, group, first, last, data);
}

enum ht_err ht_output_traces_end(struct ht_output *output, const char *how, double time) {
    enum ht_err err = ht_traces_finish(output->traces, how, time);
    ht_traces_destroy(output->traces);
    output->traces = NULL;
    output->traced = err == HT_OK;
    return err;
}

bool ht_output_has_traces(const struct ht_output *output) {
    return output->traced;
}

/* ---- series ---- */

static enum ht_err series_begin(struct ht_output *output, const char *path) {
    output->series = fopen(path, "w");
    REQUIRE(output->series, HT_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    fprintf(output->series, "time,energy");
    for (int f = 0; f < equations(output)->nfields; f++)
        if (ht_fields_stored(output->stored, f))
            fprintf(output->series, ",largest_%s", equations(output)->field[f].name);
    fprintf(output->series, "\n");
    return HT_OK;
}

static enum ht_err add_row(struct ht_output *output, double time, double energy,
                           const double *largest, const char *path) {
    if (output->series == NULL) TRY(series_begin(output, path));
    fprintf(output->series, "%.15g,%.17g", time, energy);
    for (int f = 0; f < equations(output)->nfields; f++)
        if (ht_fields_stored(output->stored, f)) fprintf(output->series, ",%.9g", largest[f]);
    fprintf(output->series, "\n");
    REQUIRE(fflush(output->series) == 0, HT_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    return HT_OK;
}

enum ht_err ht_output_series(struct ht_output *output, double time, double energy,
                             const double *largest) {
    char *path = NULL;
    if (!output->params->output.series) return HT_OK;
    TRY(ht_directory_path(output->params->output.directory, HT_SERIES_NAME, &path));
    enum ht_err err = add_row(output, time, energy, largest, path);
    free(path);
    return err;
}
