/* The directory that a run writes to: one run at a time, whose files are not mixed with those of
 * earlier ones. By rank 0 only. */
#pragma once

#include "htwave/params.h"

/* Names of outputs; each has a row in directory.c, but formats of traces one in traces.c. */
#define HT_INPUT_NAME "input.cfg"
#define HT_SUMMARY_NAME "summary.json"
#define HT_XDMF_NAME "fields.xdmf"
#define HT_SNAPSHOT_NAME "fields_%06d.h5"
#define HT_PICTURE_NAME "wave_%04d.png"
#define HT_SLICE_PICTURE "wave_%s_%04d.png"
#define HT_TRACES_NAME "traces.h5"
#define HT_SERIES_NAME "series.csv"

struct ht_directory {
    struct ht_lock lock;
    int first; /* number of the first snapshot: behind those that are read */
};

/* Refuses a directory in which another run writes now. */
HT_CHECKED enum ht_err ht_directory_idle(const struct ht_params *params);
/* Refuses when the run would write a file that it reads. Changes nothing. */
HT_CHECKED enum ht_err ht_directory_check(const struct ht_params *params);
/* Makes and locks the directory, removes what killed runs left unfinished, moves outputs that are
 * there to a folder run-NNN inside and writes the resolved input. What the run reads stays where it
 * is. Release in any case. */
HT_CHECKED enum ht_err ht_directory_take(const struct ht_params *params, struct ht_directory *out);
void ht_directory_release(struct ht_directory *directory);
