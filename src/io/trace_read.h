/* Reading of observed traces. */
#pragma once

#include "files.h"
#include "htwave/formats.h"
#include "htwave/observed.h"

/* What a file is read for. */
struct ht_trace_source {
    const struct ht_params *params;
    const struct ht_grid *grid;
    const struct ht_receivers *receivers;
    const char *key, *path; /* the option that names the file */
    int shot;
    bool weights; /* not below 0; of HDF5 a number for each receiver will do */
};
/* "GROUP/FIELD" of reading i of a group, for messages and as the name of a dataset. */
#define HT_TRACE_NAME(group, i) HT_KEY("%s/%s", (group)->name, (group)->reading[i].name)

/* Refuses samples that are not those of a group. */
struct ht_trace_times {
    int64_t samples;
    double start, every; /* every NaN: not known */
    double off;          /* error of the start */
};
HT_CHECKED enum ht_err ht_trace_check_times(const struct ht_trace_source *of,
                                            const struct ht_receiver_group *group,
                                            const struct ht_trace_times *times);
/* Refuses a receiver that stands elsewhere, but for `off`. */
HT_CHECKED enum ht_err ht_trace_check_place(const struct ht_trace_source *of,
                                            const struct ht_receiver_group *group, int64_t receiver,
                                            const double *x, double off);

/* ---- segy_read.c ---- */
/* data[group][reading][receiver][sample] */
HT_CHECKED enum ht_err ht_segy_read(const struct ht_trace_source *of, double *const *data);
