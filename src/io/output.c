/* The files of a run: input.cfg, fields_NNNNNN.h5 with fields.xdmf,
 * wave_NNNN.png, summary.json. Their directory has those of one run only
 * (directory.c).
 *
 * Every file is written under a temporary name and renamed, so a reader (also
 * ParaView during a run) sees complete files only. Numbers in names count from
 * 0, those of snapshots from directory.first.
 */
#include "htwave/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "directory.h"
#include "htwave/h5.h"
#include "plot.h"
#include "slice.h"
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
    int pictures, picture_field;
    char *last_picture;
    struct ht_traces *traces; /* on rank 0, while they are written */
    bool traced;              /* traces.h5 is complete */
    FILE *series;             /* on rank 0; NULL: not begun */
    double *background; /* of the picture's slice; NULL: not read or none */
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

static bool is_stored(const struct ht_output *output, int field) {
    return output->stored == 0 || (output->stored >> field & 1u);
}

/* Names of the fields that can be written. */
static void add_names(const struct ht_output *output, struct ht_text *names) {
    const struct ht_equations *eq = equations(output);
    for (int f = 0; f < eq->nfields; f++)
        if (is_stored(output, f))
            ht_text_add(names, "%s%s", names->length > 0 ? ", " : "",
                        eq->field[f].name);
}

static enum ht_err find_field(const struct ht_output *output, const char *key,
                              const char *name, int *field) {
    const struct ht_equations *eq = equations(output);
    struct ht_text known = {0};
    *field = ht_equations_field(eq, name);
    if (*field >= 0 && is_stored(output, *field)) return HT_OK;
    add_names(output, &known);
    enum ht_err err = ht_text_status(&known);
    if (!err && *field >= 0)
        err = ht_params_error(output->params, key,
                              "\"%s\" is not stored at the times and nodes of "
                              "outputs by time.scheme = \"%s\", which stores "
                              "%s there; \"taylor\" stores all fields",
                              name, ht_scheme_word(output->params->time.scheme),
                              known.data);
    else if (!err)
        err = ht_params_error(output->params, key,
                              "no field \"%s\": %s in %d dimension%s has %s",
                              name, eq->system->name, eq->dims,
                              eq->dims == 1 ? "" : "s", known.data);
    ht_text_free(&known);
    return err;
}

static enum ht_err select_fields(struct ht_output *output) {
    const struct ht_equations *eq = equations(output);
    const struct ht_names *names = &output->params->output.fields;
    bool taken[HT_MAX_FIELDS] = {false};
    for (int i = 0; i < names->count; i++) {
        int field;
        TRY(find_field(output, "output.fields", names->name[i], &field));
        taken[field] = true;
    }
    for (int f = 0; f < eq->nfields; f++) {
        if (names->count > 0 ? !taken[f] : !is_stored(output, f)) continue;
        output->field[output->xdmf.nfields] = f;
        output->xdmf.field[output->xdmf.nfields++] = eq->field[f].name;
    }
    return HT_OK;
}

static const char *background_name(const struct ht_output *output) {
    const char *name = output->params->output.picture.background;
    return name && *name && strcmp(name, "none") != 0 ? name : NULL;
}

bool ht_output_draws(const struct ht_params *params) {
    return params->output.pictures && ht_picture_cairo() != NULL;
}

/* Without cairo a run that says nothing about pictures has none. */
static enum ht_err check_cairo(const struct ht_params *params) {
    static const char section[] = "output.picture.";
    if (!params->output.pictures || ht_output_draws(params)) return HT_OK;
    for (int i = 0; i < ht_option_count(); i++) {
        const char *key = ht_option_at(i)->key;
        if (strncmp(key, section, sizeof section - 1) == 0 &&
            ht_params_is_set(params, key))
            return ht_params_error(
                params, key,
                "asks for pictures, but this htwave was built without cairo, "
                "which draws them: leave it out, or set output.pictures = "
                "false");
    }
    return HT_OK;
}

static enum ht_err check_picture(struct ht_output *output) {
    const char *name = output->params->output.picture.field;
    if (!name || !*name) name = equations(output)->system->first_field;
    TRY(find_field(output, "output.picture.field", name,
                   &output->picture_field));
    const char *background = background_name(output);
    double value;
    enum ht_err err = HT_OK;
    if (background)
        err = ht_medium_parameter(output->medium, background,
                                  output->medium->grid->lower, &value);
    if (err == HT_ERR_INPUT)
        err = ht_params_error(
            output->params, "output.picture.background",
            "must be \"none\" or a parameter of the medium of %s",
            equations(output)->system->name);
    TRY(err);
    TRY(ht_units_check(output->params, equations(output)));
    return check_cairo(output->params);
}

static enum ht_err check_ranks(const struct ht_output *output) {
    if (!output->params->output.snapshots ||
        !ht_grid_cut(output->medium->grid) || ht_h5_parallel())
        return HT_OK;
    return ht_params_error(output->params, "output.snapshots",
                           "must be false with several ranks: the HDF5 library "
                           "was built without MPI");
}

enum ht_err ht_output_check(const struct ht_params *params,
                            const struct ht_medium *medium, unsigned stored) {
    struct ht_output output = {
        .params = params, .medium = medium, .stored = stored};
    TRY(select_fields(&output));
    TRY(check_picture(&output));
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
    TRY(check_picture(output));
    TRY(check_ranks(output));
    TRY(ht_directory_path(params->output.directory, HT_XDMF_NAME,
                          &output->xdmf_path));
    return is_first(output) ? ht_directory_take(params, &output->directory)
                            : HT_OK;
}

/* All ranks use the names of rank 0. */
static enum ht_err share_first(struct ht_output *output) {
    output->xdmf.first = output->directory.first;
    return ht_comm_broadcast(comm_of(output), &output->xdmf.first,
                             sizeof output->xdmf.first);
}

enum ht_err ht_output_create(const struct ht_params *params,
                             const struct ht_medium *medium, unsigned stored,
                             struct ht_output **out) {
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
    free(output->background);
    free(output->last_picture);
    free(output->xdmf_path);
    free(output->xdmf.time);
    free(output);
}

/* ---- snapshots ---- */

static enum ht_err write_snapshot(const struct ht_output *output, double time,
                                  int64_t step, const double *const *nodal,
                                  const double *coefs, const char *name) {
    const struct ht_params *params = output->params;
    const struct ht_snapshot snapshot = {
        .system = equations(output)->system->name,
        .grid = output->medium->grid,
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
        err = ht_err_set(HT_ERR_INTERNAL,
                         "snapshot without the coefficients that "
                         "output.coefficients asks for");
    err = ht_comm_agree(comm_of(output), err);
    if (!err) err = ht_snapshot_write(&snapshot, path);
    free(path);
    return err;
}

enum ht_err ht_output_snapshot(struct ht_output *output, double time,
                               int64_t step, const double *const *nodal,
                               const double *coefs) {
    if (!output->params->output.snapshots) return HT_OK;
    char name[32];
    snprintf(name, sizeof name, HT_SNAPSHOT_NAME,
             output->xdmf.first + output->xdmf.count);
    TRY(write_snapshot(output, time, step, nodal, coefs, name));
    enum ht_err err = ht_xdmf_add(&output->xdmf, time);
    if (!err && is_first(output))
        err = ht_xdmf_write(&output->xdmf, output->xdmf_path);
    TRY(ht_comm_agree(comm_of(output), err));
    output->listed = true;
    return HT_OK;
}

/* ---- pictures ---- */

static enum ht_err read_background(struct ht_output *output,
                                   const struct ht_slice *slice) {
    const char *name = background_name(output);
    if (!name || output->background) return HT_OK;
    TRY(HT_ALLOC(output->background, slice->width * slice->height));
    return ht_slice_parameter(slice, output->medium, name, output->background);
}

/* " km", or nothing. */
static void add_unit(const struct ht_output *output, const char *quantity,
                     struct ht_text *text) {
    const char *unit = ht_units_name(output->params, quantity);
    if (unit) ht_text_add(text, " %s", unit);
}

/* "p (pressure) at t = 1.4 s" */
static enum ht_err add_title(const struct ht_output *output, double time,
                             struct ht_text *title) {
    const struct ht_field *field =
        &equations(output)->field[output->picture_field];
    ht_text_add(title, "%s (%s) at t = %.5g", field->name, field->meaning,
                time);
    add_unit(output, "time", title);
    return ht_text_status(title);
}

/* "acoustic, x3 = 0.5 km; grey: c from 1.5 (light) to 4.5 (dark) km/s" */
static enum ht_err add_subtitle(const struct ht_output *output,
                                const struct ht_slice *slice,
                                const struct ht_picture *picture,
                                struct ht_text *text) {
    double extreme[2];
    ht_text_add(text, "%s", equations(output)->system->name);
    if (slice->normal >= 0) {
        ht_text_add(
            text, ", x%d = %.4g", slice->normal + 1,
            ht_grid_x(slice->grid, HT_PRIMARY, slice->normal, slice->index));
        add_unit(output, "length", text);
    }
    if (ht_plot_relief(picture, extreme)) {
        ht_text_add(text, "; grey: %s from %.4g (light) to %.4g (dark)",
                    background_name(output), extreme[0], extreme[1]);
        add_unit(output, background_name(output), text);
    }
    return ht_text_status(text);
}

static enum ht_err write_picture(struct ht_output *output, double time,
                                 const struct ht_slice *slice,
                                 const double *values, const char *path) {
    static const char *const axis[] = {"x1", "x2", "x3"};
    const struct ht_params *params = output->params;
    const char *lower_wall = params->boundary.side[slice->up][0];
    const char *field = equations(output)->field[output->picture_field].name;
    const char *length = ht_units_name(params, "length");
    struct ht_text title = {0}, subtitle = {0};
    struct ht_picture picture = {.width = slice->width,
                                 .height = slice->height,
                                 .values = values,
                                 .background = output->background,
                                 .range = params->output.picture.range,
                                 .x0 = slice->x0,
                                 .x1 = slice->x1,
                                 .y0 = slice->y0,
                                 .y1 = slice->y1,
                                 .y_down = slice->height > 1 &&
                                           strcmp(lower_wall, "free") == 0,
                                 .x = {axis[slice->across], length},
                                 .y = {axis[slice->up], length},
                                 .value = {field, ht_units_name(params, field)},
                                 .pixels = params->output.picture.pixels};
    enum ht_err err = add_title(output, time, &title);
    if (!err) err = add_subtitle(output, slice, &picture, &subtitle);
    picture.title = title.data;
    picture.subtitle = subtitle.data;
    if (!err) err = ht_picture_write(&picture, path);
    ht_text_free(&title);
    ht_text_free(&subtitle);
    return err;
}

/* values, on rank 0: the slice of all ranks. */
static enum ht_err gather_slice(struct ht_comm *comm,
                                const struct ht_slice *slice,
                                const double *nodal, double *values) {
    double *own = NULL;
    int64_t first, last;
    ht_slice_own(slice, &first, &last);
    int64_t count = (last - first) * slice->width;
    TRY(HT_ALLOC(own, count));
    ht_slice_values(slice, nodal, own);
    enum ht_err err =
        ht_comm_collect(comm, own, count * (int64_t)sizeof *own, values);
    free(own);
    return err;
}

static enum ht_err take_picture(struct ht_output *output, double time,
                                const double *const *nodal, const char *path) {
    const struct ht_params *params = output->params;
    struct ht_slice slice =
        ht_slice_make(output->medium->grid, params->output.picture.plane,
                      params->output.picture.position);
    double *values = NULL;
    if (is_first(output)) TRY(HT_ALLOC(values, slice.width * slice.height));
    enum ht_err err = gather_slice(comm_of(output), &slice,
                                   nodal[output->picture_field], values);
    if (!err && values) {
        ht_slice_close(&slice, values);
        err = read_background(output, &slice);
        if (!err) err = write_picture(output, time, &slice, values, path);
    }
    free(values);
    return err;
}

enum ht_err ht_output_picture(struct ht_output *output, double time,
                              const double *const *nodal) {
    const char *directory = output->params->output.directory;
    char name[32], *path = NULL;
    if (!ht_output_draws(output->params)) return HT_OK;
    snprintf(name, sizeof name, HT_PICTURE_NAME, output->pictures);
    enum ht_err err = ht_directory_path(directory, name, &path);
    if (!err) err = take_picture(output, time, nodal, path);
    err = ht_comm_agree(comm_of(output), err);
    if (err) {
        free(path);
        return err;
    }
    output->pictures++;
    free(output->last_picture);
    output->last_picture = path;
    return HT_OK;
}

/* ---- the end ---- */

static enum ht_err write_summary(const struct ht_output *output,
                                 const char *json) {
    char *path = NULL;
    TRY(ht_directory_path(output->params->output.directory, HT_SUMMARY_NAME,
                          &path));
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
    return output->last_picture;
}

const char *ht_output_xdmf(const struct ht_output *output) {
    return output->listed ? output->xdmf_path : NULL;
}

/* ---- traces ---- */

enum ht_err ht_output_traces_begin(struct ht_output *output,
                                   const struct ht_receivers *receivers) {
    return ht_traces_create(output->params, receivers,
                            output->medium->grid->dims, &output->traces);
}

enum ht_err ht_output_traces_add(struct ht_output *output, int group,
                                 int64_t first, int64_t last,
                                 const double *data) {
    return ht_traces_add(output->traces, group, first, last, data);
}

enum ht_err ht_output_traces_end(struct ht_output *output, const char *how,
                                 double time) {
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
    REQUIRE(output->series, HT_ERR_IO, "cannot write %s: %s", path,
            strerror(errno));
    fprintf(output->series, "time,energy");
    for (int f = 0; f < equations(output)->nfields; f++)
        if (is_stored(output, f))
            fprintf(output->series, ",largest_%s",
                    equations(output)->field[f].name);
    fprintf(output->series, "\n");
    return HT_OK;
}

static enum ht_err add_row(struct ht_output *output, double time, double energy,
                           const double *largest, const char *path) {
    if (output->series == NULL) TRY(series_begin(output, path));
    fprintf(output->series, "%.15g,%.17g", time, energy);
    for (int f = 0; f < equations(output)->nfields; f++)
        if (is_stored(output, f)) fprintf(output->series, ",%.9g", largest[f]);
    fprintf(output->series, "\n");
    REQUIRE(fflush(output->series) == 0, HT_ERR_IO, "cannot write %s: %s", path,
            strerror(errno));
    return HT_OK;
}

enum ht_err ht_output_series(struct ht_output *output, double time,
                             double energy, const double *largest) {
    char *path = NULL;
    if (!output->params->output.series) return HT_OK;
    TRY(ht_directory_path(output->params->output.directory, HT_SERIES_NAME,
                          &path));
    enum ht_err err = add_row(output, time, energy, largest, path);
    free(path);
    return err;
}
