/* The files of a run: input.cfg, fields_NNNNNN.h5 with fields.xdmf, wave_NNNN.png, summary.json.
 * Their directory has those of one run only (directory.c).
 *
 * Every file but series.csv and traces.h5, which grow, is written under a temporary name and
 * renamed, so a reader (also ParaView during a run) sees complete files only. Numbers in names
 * count from 0, those of snapshots from directory.first. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

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
        output->field[output->nfields] = f;
        output->name[output->nfields++] = eq->field[f].name;
    }
    return HT_OK;
}

enum ht_err ht_output_check(const struct ht_params *params, const struct ht_medium *medium,
                            unsigned stored) {
    struct ht_output output = {.params = params, .medium = medium, .stored = stored};
    TRY(select_fields(&output));
    TRY(ht_pictures_check(params, medium, stored));
    return is_first(&output) ? ht_directory_check(params) : HT_OK;
}

static enum ht_err start(struct ht_output *output) {
    const struct ht_params *params = output->params;
    output->single = params->device.precision == HT_SINGLE;
    TRY(select_fields(output));
    TRY(ht_pictures_check(params, output->medium, output->stored));
    TRY(ht_pictures_create(params, output->medium, output->stored, &output->pictures));
    TRY(ht_file_path(params->output.directory, HT_XDMF_NAME, &output->xdmf_path));
    return is_first(output) ? ht_directory_take(params, &output->directory) : HT_OK;
}

/* All ranks use the names of rank 0. */
static enum ht_err share_first(struct ht_output *output) {
    output->first = output->directory.first;
    return ht_comm_broadcast(comm_of(output), &output->first, sizeof output->first);
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
    return HT_MADE(err, output, ht_output_destroy, out);
}

void ht_output_destroy(struct ht_output *output) {
    if (!output) return;
    ht_traces_destroy(output->traces);
    if (output->series) fclose(output->series);
    ht_directory_release(&output->directory);
    ht_pictures_destroy(output->pictures);
    free(output->xdmf_path);
    free(output->time);
    free(output);
}

/* ---- snapshots: fields_NNNNNN.h5, a state of the fields, and attributes that describe it ---- */

struct state {
    double time;
    int64_t step;
    const double *const *nodal; /* [field]: own planes [n3][n2][n1] */
    const double *coefs;        /* [field][i][own node]; NULL: not stored */
};

void ht_output_stagger(struct ht_output *output, const struct ht_pair *pair, double dt) {
    output->staggered = true;
    output->pair = *pair;
    output->dt = dt;
}

static enum ht_err write_stagger(const struct ht_output *output, double time, struct ht_h5 *file) {
    const struct ht_grid *grid = output->medium->grid;
    for (int i = 0; output->staggered && i < output->nfields; i++) {
        const int f = output->field[i];
        const double early = output->pair.group[0] >> f & 1u ? output->dt / 2 : 0;
        const double at = time - early;
        double offset[3];
        char name[64];
        for (int k = 0; k < grid->dims; k++)
            offset[k] = output->pair.parity[f] >> k & 1u ? grid->h[k] / 2 : 0;
        snprintf(name, sizeof name, "offset_%s", output->name[i]);
        TRY(ht_h5_set_number(file, name, grid->dims, offset));
        snprintf(name, sizeof name, "time_%s", output->name[i]);
        TRY(ht_h5_set_number(file, name, 1, &at));
    }
    return HT_OK;
}

static enum ht_err write_attributes(const struct ht_output *output, const struct state *state,
                                    struct ht_h5 *file) {
    const struct ht_grid *grid = output->medium->grid;
    double order = grid->order, at = (double)state->step, cells[3];
    for (int k = 0; k < grid->dims; k++) cells[k] = (double)grid->cells[k];
    TRY(ht_h5_set_text(file, "system", equations(output)->system->name));
    TRY(ht_h5_set_number(file, "time", 1, &state->time));
    TRY(ht_h5_set_number(file, "step", 1, &at));
    TRY(ht_h5_set_number(file, "order", 1, &order));
    TRY(ht_h5_set_number(file, "cells", grid->dims, cells));
    TRY(ht_h5_set_number(file, "lower", grid->dims, grid->lower));
    TRY(ht_h5_set_number(file, "spacing", grid->dims, grid->h));
    TRY(ht_units_write(&output->params->output.units, file));
    TRY(write_stagger(output, state->time, file));
    if (!state->coefs) return HT_OK;
    return ht_h5_set_text(file, "coefficient_index",
                          "(i3 (order+1) + i2) (order+1) + i1 for spacing^i/i! times the "
                          "derivative of orders i1, i2, i3");
}

enum { NAME = 64, SETS = 2 * HT_MAX_FIELDS };

/* The datasets of a snapshot: the fields, then their coefficients. Returns their number. */
static int list_sets(const struct ht_output *output, const struct state *state,
                     char name[SETS][NAME], struct ht_h5_values set[SETS]) {
    const struct ht_grid *grid = output->medium->grid;
    const int64_t planes = ht_grid_nodes(grid, HT_PRIMARY, grid->dims - 1);
    const int64_t coefs = ht_grid_coefs(grid), own = ht_grid_own_total(grid, HT_PRIMARY);
    int count = 0;
    for (; count < (state->coefs ? 2 : 1) * output->nfields; count++) {
        const int i = count % output->nfields, field = output->field[i];
        const bool whole = count >= output->nfields;
        snprintf(name[count], NAME, "%s%s", output->name[i], whole ? "_coefficients" : "");
        set[count] = (struct ht_h5_values){.name = name[count],
                                           .single = output->single,
                                           .groups = whole ? coefs : 1,
                                           .planes = planes,
                                           .plane = ht_grid_total(grid, HT_PRIMARY) / planes,
                                           .data = whole ? state->coefs + field * coefs * own
                                                         : state->nodal[field]};
    }
    return count;
}

/* Rank 0 creates the file with attributes and space for the values. */
static enum ht_err lay_out(const struct ht_output *output, const struct state *state, int count,
                           struct ht_h5_values *set, struct ht_h5 *file) {
    const struct ht_grid *grid = output->medium->grid;
    int64_t extent[4] = {ht_grid_coefs(grid)}; /* then n3 n2 n1 */
    TRY(write_attributes(output, state, file));
    for (int k = 0; k < grid->dims; k++)
        extent[1 + k] = ht_grid_nodes(grid, HT_PRIMARY, grid->dims - 1 - k);
    for (int i = 0; i < count; i++) {
        const int whole = i >= output->nfields;
        TRY(ht_h5_place(file, grid->dims + whole, extent + !whole, &set[i]));
    }
    return HT_OK;
}

/* All ranks get the file's temporary name and the places of its datasets, and write their own
 * planes; below three dimensions all planes of the slowest axis. The bytes are those of a single
 * rank. shared: on rank 0. */
static enum ht_err write_values(const struct ht_output *output, const char *shared,
                                const char *path, int count, struct ht_h5_values *set) {
    struct ht_comm *comm = comm_of(output);
    const struct ht_grid *grid = output->medium->grid;
    int64_t first, last, offset[SETS] = {0};
    HT_FREED char *name = NULL;
    ht_grid_own(grid, HT_PRIMARY, &first, &last);
    if (grid->dims < 3) last = set->planes;
    for (int i = 0; i < count; i++) offset[i] = set[i].offset;
    enum ht_err err = ht_comm_broadcast(comm, offset, sizeof offset);
    if (!err) err = ht_comm_broadcast_text(comm, shared, &name);
    TRY(ht_comm_agree(comm, err));
    for (int i = 0; i < count; i++) set[i].offset = offset[i];
    return ht_comm_agree(comm, ht_h5_fill(name, path, count, set, first, last));
}

static enum ht_err write_snapshot(const struct ht_output *output, const struct state *state,
                                  const char *path) {
    struct ht_h5 *file = NULL;
    struct ht_h5_values set[SETS];
    char name[SETS][NAME];
    const char *shared = NULL;
    const int count = list_sets(output, state, name, set);
    enum ht_err err = HT_OK;
    if (is_first(output)) err = ht_h5_create(path, &file);
    if (!err && file) err = lay_out(output, state, count, set, file);
    if (!err && file) err = ht_h5_share(file, &shared);
    err = ht_comm_agree(comm_of(output), err);
    if (!err) err = write_values(output, shared, path, count, set);
    if (file && err)
        ht_h5_discard(file);
    else if (file)
        err = ht_h5_commit(file);
    return ht_comm_agree(comm_of(output), err);
}

/* ---- fields.xdmf: the list of snapshots for ParaView and VisIt ----
 *
 * XDMF 3: a temporal collection of uniform rectilinear grids whose values stay in the HDF5 files
 * beside it. XDMF names axes slowest first, as HDF5 does: dimensions, origin and spacing are x3 x2
 * x1. The grid always has three dimensions, with one node along axes that the run lacks: VTK's
 * reader puts a two-dimensional grid into the y-z plane, this one into x-y. The grid is that of the
 * stored nodes: the node behind a periodic seam is not repeated. */

/* "n3 n2 n1" */
static void add_dimensions(const struct ht_grid *grid, struct ht_text *text) {
    for (int axis = 2; axis >= 0; axis--)
        ht_text_add(text, "%lld%s", (long long)ht_grid_nodes(grid, HT_PRIMARY, axis),
                    axis ? " " : "");
}

static void add_numbers(const double value[3], struct ht_text *text) {
    ht_text_add(text,
                "     <DataItem Format=\"XML\" NumberType=\"Float\" Precision=\"8\" "
                "Dimensions=\"3\">%.17g %.17g %.17g</DataItem>\n",
                value[2], value[1], value[0]);
}

static void add_snapshot(const struct ht_output *output, int index, struct ht_text *text) {
    const struct ht_grid *grid = output->medium->grid;
    const int number = output->first + index;
    ht_text_add(text,
                "   <Grid Name=\"snapshot %d\" GridType=\"Uniform\">\n"
                "    <Time Value=\"%.17g\"/>\n"
                "    <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"",
                number, output->time[index]);
    add_dimensions(grid, text);
    ht_text_add(text, "\"/>\n    <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n");
    add_numbers(grid->lower, text);
    add_numbers(grid->h, text);
    ht_text_add(text, "    </Geometry>\n");
    for (int f = 0; f < output->nfields; f++) {
        ht_text_add(
            text,
            "    <Attribute Name=\"%s\" AttributeType=\"Scalar\" Center=\"Node\">\n"
            "     <DataItem Format=\"HDF\" NumberType=\"Float\" Precision=\"%d\" Dimensions=\"",
            output->name[f], output->single ? 4 : 8);
        add_dimensions(grid, text);
        ht_text_add(text, "\">" HT_SNAPSHOT_NAME ":/%s</DataItem>\n    </Attribute>\n", number,
                    output->name[f]);
    }
    ht_text_add(text, "   </Grid>\n");
}

static enum ht_err write_xdmf(const struct ht_output *output) {
    HT_FREED_TEXT struct ht_text text = {0};
    ht_text_add(&text,
                "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                "<Xdmf Version=\"3.0\">\n"
                " <Domain>\n"
                "  <Grid Name=\"htwave\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    for (int i = 0; i < output->count; i++) add_snapshot(output, i, &text);
    ht_text_add(&text, "  </Grid>\n </Domain>\n</Xdmf>\n");
    TRY(ht_text_status(&text));
    return ht_file_write(output->xdmf_path, text.data, text.length);
}

enum ht_err ht_output_snapshot(struct ht_output *output, double time, int64_t step,
                               const double *const *nodal, const double *coefs) {
    const bool whole = output->params->output.coefficients;
    const struct state state = {time, step, nodal, whole ? coefs : NULL};
    char name[32];
    HT_FREED char *path = NULL;
    if (!output->params->output.snapshots) return HT_OK;
    snprintf(name, sizeof name, HT_SNAPSHOT_NAME, output->first + output->count);
    enum ht_err err = ht_file_path(output->params->output.directory, name, &path);
    if (!err && whole && !coefs)
        err = ht_err_set(HT_ERR_INTERNAL,
                         "snapshot without the coefficients that output.coefficients asks for");
    err = ht_comm_agree(comm_of(output), err);
    TRY(err);
    TRY(write_snapshot(output, &state, path));
    err = HT_GROW(output->time, output->count + 1, output->room);
    if (!err) output->time[output->count++] = time;
    if (!err && is_first(output)) err = write_xdmf(output);
    TRY(ht_comm_agree(comm_of(output), err));
    output->listed = true;
    return HT_OK;
}

/* ---- the end ---- */

enum ht_err ht_output_summary(struct ht_output *output, const char *json) {
    enum ht_err err = HT_OK;
    if (is_first(output))
        err =
            ht_file_write_in(output->params->output.directory, HT_SUMMARY_NAME, json, strlen(json));
    return ht_comm_agree(comm_of(output), err);
}

const char *ht_output_xdmf(const struct ht_output *output) {
    return output->listed ? output->xdmf_path : NULL;
}

bool ht_output_has_traces(const struct ht_output *output) {
    return output->traced;
}

/* ---- series ---- */

enum ht_err ht_output_series(struct ht_output *output, double time, double energy,
                             const double *largest) {
    HT_FREED char *path = NULL;
    if (!output->params->output.series) return HT_OK;
    TRY(ht_file_path(output->params->output.directory, HT_SERIES_NAME, &path));
    if (output->series == NULL) {
        output->series = fopen(path, "w");
        REQUIRE(output->series, HT_ERR_IO, "cannot write %s: %s", path, strerror(errno));
        fprintf(output->series, "time,energy");
        for (int f = 0; f < equations(output)->nfields; f++)
            if (ht_fields_stored(output->stored, f))
                fprintf(output->series, ",largest_%s", equations(output)->field[f].name);
        fprintf(output->series, "\n");
    }
    fprintf(output->series, "%.15g,%.17g", time, energy);
    for (int f = 0; f < equations(output)->nfields; f++)
        if (ht_fields_stored(output->stored, f)) fprintf(output->series, ",%.9g", largest[f]);
    fprintf(output->series, "\n");
    REQUIRE(fflush(output->series) == 0, HT_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    return HT_OK;
}
