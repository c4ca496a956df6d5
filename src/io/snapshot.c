/* Rank 0 creates the file with attributes and space for the values. Then every rank writes its own
 * planes: several ranks through HDF5 over MPI, a single rank in the file that it has just created.
 * The bytes are the same.
 */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "htwave/h5.h"
#include "units.h"

static enum ht_err write_attributes(const struct ht_snapshot *s, struct ht_h5 *file) {
    const struct ht_grid *grid = s->grid;
    double order = grid->order, at = (double)s->step, cells[3];
    for (int k = 0; k < grid->dims; k++) cells[k] = (double)grid->cells[k];
    TRY(ht_h5_set_text(file, "system", s->system));
    TRY(ht_h5_set_number(file, "time", 1, &s->time));
    TRY(ht_h5_set_number(file, "step", 1, &at));
    TRY(ht_h5_set_number(file, "order", 1, &order));
    TRY(ht_h5_set_number(file, "cells", grid->dims, cells));
    TRY(ht_h5_set_number(file, "lower", grid->dims, grid->lower));
    TRY(ht_h5_set_number(file, "spacing", grid->dims, grid->h));
    TRY(ht_units_write(s->units, file));
    if (!s->coefs) return HT_OK;
    return ht_h5_set_text(file, "coefficient_index",
                          "(i3 (order+1) + i2) (order+1) + i1 for "
                          "spacing^i/i! times the derivative of orders "
                          "i1, i2, i3");
}

enum { NAME = 64 };

static void name_coefficients(const struct ht_snapshot *s, int index, char name[NAME]) {
    snprintf(name, NAME, "%s_coefficients", s->name[index]);
}

static enum ht_err reserve(const struct ht_snapshot *s, struct ht_h5 *file) {
    const struct ht_grid *grid = s->grid;
    int64_t extent[4] = {ht_grid_coefs(grid)}; /* then n3 n2 n1 */
    for (int k = 0; k < grid->dims; k++)
        extent[1 + k] = ht_grid_nodes(grid, HT_PRIMARY, grid->dims - 1 - k);
    for (int i = 0; i < s->nfields; i++)
        TRY(ht_h5_reserve(file, s->name[i], grid->dims, extent + 1, s->single));
    for (int i = 0; s->coefs && i < s->nfields; i++) {
        char name[NAME];
        name_coefficients(s, i, name);
        TRY(ht_h5_reserve(file, name, grid->dims + 1, extent, s->single));
    }
    return HT_OK;
}

static enum ht_err lay_out(const struct ht_snapshot *s, const char *path, struct ht_h5 **file) {
    TRY(ht_h5_create(path, file));
    enum ht_err err = write_attributes(s, *file);
    if (!err) err = reserve(s, *file);
    if (err) {
        ht_h5_discard(*file);
        *file = NULL;
    }
    return err;
}

/* Own planes; below three dimensions all planes of the slowest axis. */
static enum ht_err write_values(const struct ht_snapshot *s, struct ht_h5 *file) {
    const struct ht_grid *grid = s->grid;
    int64_t first, last;
    int64_t count = ht_grid_coefs(grid) * ht_grid_own_total(grid, HT_PRIMARY);
    ht_grid_own(grid, HT_PRIMARY, &first, &last);
    if (grid->dims < 3) last = ht_grid_nodes(grid, HT_PRIMARY, grid->dims - 1);
    for (int i = 0; i < s->nfields; i++)
        TRY(ht_h5_write_planes(file, s->name[i], 0, first, last, s->nodal[s->field[i]]));
    for (int i = 0; s->coefs && i < s->nfields; i++) {
        char name[NAME];
        name_coefficients(s, i, name);
        TRY(ht_h5_write_planes(file, name, 1, first, last, s->coefs + s->field[i] * count));
    }
    return HT_OK;
}

/* ---- several ranks ---- */

/* *copy: the text of rank 0; NULL or freed by the caller. */
static enum ht_err broadcast_text(struct ht_comm *comm, const char *text, char **copy) {
    int64_t size = text ? (int64_t)strlen(text) + 1 : 0;
    *copy = NULL;
    TRY(ht_comm_broadcast(comm, &size, sizeof size));
    TRY(HT_ALLOC(*copy, size));
    if (text) memcpy(*copy, text, (size_t)size);
    return ht_comm_broadcast(comm, *copy, (size_t)size);
}

/* name: agreed by the ranks. After a failure the file stays open: closing a file that some ranks
 * have not opened would wait for them. */
static enum ht_err write_joined(const struct ht_snapshot *s, const char *name, const char *path) {
    struct ht_comm *comm = s->grid->slab.comm;
    struct ht_h5 *part = NULL;
    enum ht_err err = ht_comm_agree(comm, ht_h5_ready(name, path, &part));
    if (err) {
        ht_h5_unready(part);
        return err;
    }
    TRY(ht_comm_agree(comm, ht_h5_join(part)));
    err = ht_comm_agree(comm, write_values(s, part));
    enum ht_err left = ht_h5_leave(part);
    return ht_comm_agree(comm, err ? err : left);
}

/* file: on rank 0. */
static enum ht_err write_together(const struct ht_snapshot *s, const char *path,
                                  struct ht_h5 *file) {
    const char *shared = NULL;
    char *name = NULL;
    enum ht_err err = file ? ht_h5_share(file, &shared) : HT_OK;
    if (!err) err = broadcast_text(s->grid->slab.comm, shared, &name);
    err = ht_comm_agree(s->grid->slab.comm, err);
    if (!err) err = write_joined(s, name, path);
    free(name);
    return err;
}

enum ht_err ht_snapshot_write(const struct ht_snapshot *s, const char *path) {
    struct ht_comm *comm = s->grid->slab.comm;
    struct ht_h5 *file = NULL;
    enum ht_err err = HT_OK;
    if (ht_comm_rank(comm) == 0) err = lay_out(s, path, &file);
    err = ht_comm_agree(comm, err);
    if (!err) err = ht_grid_cut(s->grid) ? write_together(s, path, file) : write_values(s, file);
    if (file && err)
        ht_h5_discard(file);
    else if (file)
        err = ht_h5_commit(file);
    return ht_comm_agree(comm, err);
}
