/* Checkpoints: files from which a run goes on. What has a state names its members once, in a
 * function that gets an archive: the same walk over them lays the file out, stores and loads.
 *
 * Datasets are NAME [group][plane][value], in the precision of the state, and sums/NAME [plane], a
 * checksum of each plane. Arrays of a state are stored by whole x3 planes of the grid, so that any
 * number of ranks, kernels and back ends read them. */
#pragma once

#include "htwave/comm.h"

struct ht_archive;

/* Of files, under "format": larger where an older program cannot read them. */
enum { HT_ARCHIVE_FORMAT = 4 };

/* What is stored replaces the state. */
bool ht_archive_loads(const struct ht_archive *archive);
/* Of a load: the first failure so far, of this rank: to be asked before files are changed. */
HT_ERR ht_archive_status(const struct ht_archive *archive);
/* Numbers that all ranks know, or rank 0 alone: NULL on others. Where the file lacks them they stay
 * as they are if `may_lack`. */
void ht_archive_numbers(struct ht_archive *archive, const char *name, int64_t count, double *values,
                        bool may_lack);
void ht_archive_number(struct ht_archive *archive, const char *name, double *value);
/* Of a magnitude below 2^53. */
void ht_archive_integer(struct ht_archive *archive, const char *name, int64_t *value);
void ht_archive_flag(struct ht_archive *archive, const char *name, bool *value);
/* For ht_archive_read_text; nothing is loaded. */
void ht_archive_text(struct ht_archive *archive, const char *name, const char *value);

struct ht_archive_array {
    const char *name;
    bool single;                   /* float32, else float64 */
    int64_t groups, planes, plane; /* of all ranks: extents of [group][plane][value] */
    int64_t first, last;           /* planes of this rank; none: equal */
    /* Values of planes [first, last): into the state (load), or from it. */
    enum ht_err (*move)(void *context, bool load, int64_t first, int64_t last, double *values);
    void *context;
};
/* All ranks name the same arrays in the same order. */
void ht_archive_array(struct ht_archive *archive, const struct ht_archive_array *array);

/* The walk over a state. What fails in an archive is said when the walk has ended, so that walks
 * may have collective calls; errors that a walk returns are those of all ranks. */
typedef enum ht_err ht_archive_walk(void *context, struct ht_archive *archive);

/* Writes `path`, forced to disk; the file that was there becomes `older`. The walk is taken twice.
 * A failure to write is returned on all ranks, and the file that was there stays. Collective. */
HT_ERR ht_archive_save(struct ht_comm *comm, const char *path, const char *older,
                       ht_archive_walk *walk, void *context);
/* Collective. */
HT_ERR ht_archive_load(struct ht_comm *comm, const char *path, ht_archive_walk *walk,
                       void *context);
/* Reads all values of a file: HT_ERR_IO where one is not as it was stored. */
HT_ERR ht_archive_check(const char *path);
/* Of the file; free the text. */
HT_ERR ht_archive_read_text(const char *path, const char *name, char **out);
HT_ERR ht_archive_read_number(const char *path, const char *name, double *out);
