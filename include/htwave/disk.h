/* What a run is going to write, and whether there is room for it. */
#ifndef HTWAVE_DISK_H
#define HTWAVE_DISK_H

#include "htwave/simulation.h"

/* Bytes of traces in all their formats, of snapshots, and about those of pictures. */
struct ht_disk_need {
    double traces, snapshots, pictures, total;
};
struct ht_disk_need ht_disk_need(const struct ht_plan *plan);
/* The nearest folder above a path that exists; the caller frees it. */
HT_CHECKED enum ht_err ht_disk_above(const char *path, char **out);
/* Refuses a run that writes more than its output.directory has room for. For one rank. */
HT_CHECKED enum ht_err ht_disk_check(const struct ht_plan *plan);
/* "1.2 GiB to write: traces .., snapshots .., pictures ..; 20 GiB free" */
void ht_disk_describe(const struct ht_plan *plan, struct ht_text *text);

#endif
