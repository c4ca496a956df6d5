/* The receivers' traces: traces.h5, written while the run goes on, and further formats at its end.
 * By rank 0 only. */
#pragma once

#include "htwave/shots.h"

/* A group with its data. */
struct ht_trace_table {
    const char *directory;
    const struct ht_receivers *receivers;
    const struct ht_receiver_group *group;
    int dims;
    bool single; /* precision of the data */
    int64_t samples;
    double *data[HT_MAX_READINGS]; /* [receiver][sample] */
};
/* A format beside HDF5: a row of the table in traces.c. */
struct ht_trace_format {
    const char *name, *ending; /* of output.traces, of its files' names: traces_*.ending */
    int bytes[2];              /* of a value, about; [double precision] */
    /* Refuses what it cannot hold; n: of the group. */
    enum ht_err (*check)(const struct ht_params *params, const struct ht_receivers *receivers,
                         int n);
    enum ht_err (*write)(const struct ht_trace_table *table);
};
extern const struct ht_trace_format ht_trace_segy; /* segy.c */
/* Whether a file of such an ending is one of a format. */
bool ht_trace_ends(const char *ending, size_t length);

/* ---- the traces of a run ---- */
struct ht_traces;
/* traces.h5 with room for all samples. receivers must outlive the traces. */
HT_CHECKED enum ht_err ht_traces_create(const struct ht_params *params,
                                        const struct ht_receivers *receivers, int dims,
                                        struct ht_traces **out);
/* Samples [first, last) of a group: data[reading][receiver][sample]. Blocks follow each other. */
HT_CHECKED enum ht_err ht_traces_add(struct ht_traces *traces, int group, int64_t first,
                                     int64_t last, const double *data);
/* Cuts what was not reached, writes the attributes ended and end_time and the other formats. */
HT_CHECKED enum ht_err ht_traces_finish(struct ht_traces *traces, const char *how, double time);
/* What is not finished stays as it was written; NULL allowed. */
void ht_traces_destroy(struct ht_traces *traces);
