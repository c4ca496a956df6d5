/* fields.xdmf: the list of snapshots for ParaView and VisIt. */
#ifndef HTWAVE_IO_XDMF_H
#define HTWAVE_IO_XDMF_H

#include "htwave/grid.h"

struct ht_xdmf {
    const struct ht_grid *grid;
    int nfields;
    const char *field[HT_MAX_FIELDS]; /* datasets of every snapshot */
    bool single;                      /* stored as float32 */
    int first;                        /* number of the first snapshot */
    int count;                        /* snapshots first .. first + count - 1 */
    int64_t room;
    double *time; /* [count], owned */
};
HT_CHECKED enum ht_err ht_xdmf_add(struct ht_xdmf *xdmf, double time);
HT_CHECKED enum ht_err ht_xdmf_write(const struct ht_xdmf *xdmf, const char *path);

#endif
