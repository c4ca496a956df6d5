/* fields_NNNNNN.h5: one state of the fields, attributes that describe it. */
#ifndef HTWAVE_IO_SNAPSHOT_H
#define HTWAVE_IO_SNAPSHOT_H

#include "htwave/grid.h"
#include "htwave/params.h"

struct ht_snapshot {
    const char *system;
    const struct ht_grid *grid;
    const struct ht_map *units;
    double time;
    int64_t step;
    bool single; /* stored as float32 */
    int nfields; /* datasets, of so many fields */
    const int *field;
    const char *const *name;    /* [nfields] */
    const double *const *nodal; /* [field]: own planes [n3][n2][n1] */
    const double *coefs;        /* [field][i][own node]; NULL: not stored */
};
/* Collective over the ranks of the grid; the file is complete or absent. */
HT_CHECKED enum ht_err ht_snapshot_write(const struct ht_snapshot *snapshot, const char *path);

#endif
