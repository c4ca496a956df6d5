/* HDF5 datasets and attributes. Messages name file and dataset. */
#pragma once

#include "htwave/formats.h"

struct ht_h5; /* an open file */

/* From now on a crash of HDF5 ends the process with a message that names the file. For programs. */
void ht_h5_name_crashes(void);

/* A new file at a temporary path, ended by ht_h5_commit, which renames it into place, or
 * ht_h5_close, which removes it. checked: its metadata and values have checksums,
 * so that a damaged file cannot be opened or read; HDF5 1.8 and later read it. A dataset of values
 * gets another one, sums/NAME, with a sum of each plane, which ht_h5_read and ht_h5_read_planes
 * compare where planes of that axis are read. */
HT_ERR ht_h5_create(const char *path, bool checked, struct ht_h5 **out);
HT_ERR ht_h5_commit(struct ht_h5 *file);
/* Gives a created file its name while it stays open: from here on it can be read, also after the
 * process was killed, as long as only ht_h5_write_planes follow. ht_h5_close leaves it there. */
HT_ERR ht_h5_publish(struct ht_h5 *file);
HT_ERR ht_h5_open(const char *path, struct ht_h5 **out);
void ht_h5_close(struct ht_h5 *file); /* NULL allowed */
/* HT_ENDED(ht_h5_end) struct ht_h5 *file = NULL */
static inline void ht_h5_end(struct ht_h5 **file) {
    ht_h5_close(*file);
}

/* Datasets in row-major order, extent[rank-1] fastest, rank at most 8. name may contain '/': groups
 * are created as needed. single: stored as float32, else float64. */
HT_ERR ht_h5_write(struct ht_h5 *file, const char *name, int rank, const int64_t *extent,
                   const double *data, bool single);
HT_ERR ht_h5_write_text(struct ht_h5 *file, const char *name, const char *text);
/* Space for values; then those with indices [first, last) along an axis,
 * data[..][last - first][..]. chunks: where these are planes of the last axis. */
HT_ERR ht_h5_reserve(struct ht_h5 *file, const char *name, int rank, const int64_t *extent,
                     bool chunks, bool single);
HT_ERR ht_h5_write_planes(struct ht_h5 *file, const char *name, int axis, int64_t first,
                          int64_t last, const double *data);
/* Of values that a file holds in single precision: finite ones must be finite there. Functions that
 * write such datasets call it. */
HT_ERR ht_h5_check_single(const char *name, const char *path, int64_t count, const double *data);
bool ht_h5_has(struct ht_h5 *file, const char *name);
/* Fails: it does not hold this, but its datasets. */
HT_ERR ht_h5_lacks(struct ht_h5 *file, const char *what);
/* rank (at most 8) and extents of a dataset. */
HT_ERR ht_h5_extent(struct ht_h5 *file, const char *name, int *rank, int64_t extent[8]);
HT_ERR ht_h5_read(struct ht_h5 *file, const char *name, int64_t count, double *data);
/* All values; out: zero at first. */
HT_ERR ht_h5_array(struct ht_h5 *file, const char *name, struct ht_array *out);
HT_ERR ht_h5_read_planes(struct ht_h5 *file, const char *name, int axis, int64_t first,
                         int64_t last, double *data);
/* Attributes on the root group: scalars, number arrays, strings. A value of an attribute that is
 * there must have its shape; a string at most its length rounded up to 15, 31, .. bytes. */
HT_ERR ht_h5_set_number(struct ht_h5 *file, const char *name, int count, const double *values);
HT_ERR ht_h5_set_text(struct ht_h5 *file, const char *name, const char *value);
HT_ERR ht_h5_get_number(struct ht_h5 *file, const char *name, int count, double *values);
/* Calls visit for every dataset path in the file but those of sums and texts; stops at an error. */
HT_ERR ht_h5_each(struct ht_h5 *file, enum ht_err (*visit)(const char *name, void *context),
                  void *context);

/* ---- files whose values several processes write, without HDF5 ---- */
/* One process creates the file, places all datasets and shares it; every process fills in its
 * planes; then the first one commits or discards the file. */
struct ht_h5_values {
    const char *name; /* of the dataset */
    bool single;
    int rank;
    int64_t groups, planes, plane; /* products of the extents before, along and behind the axis that
                                      is cut among the processes */
    const double *data;            /* own planes, [group][plane][value] */
    int64_t offset, sums; /* in the file, from ht_h5_place; sums: 0 where it is not checked */
};
/* Reserves a dataset for all values, which is cut along an axis, and sets its places. */
HT_ERR ht_h5_place(struct ht_h5 *file, const int64_t *extent, int axis, struct ht_h5_values *set);
/* Closes a created file; then only ht_h5_commit and ht_h5_close may follow. *name is its
 * temporary path until then. */
HT_ERR ht_h5_share(struct ht_h5 *file, const char **name);
/* Planes [first, last) of the datasets; path: for messages. Each process ends by ht_file_sync. */
HT_ERR ht_h5_fill(const char *name, const char *path, int count, const struct ht_h5_values *set,
                  int64_t first, int64_t last);
/* Version of the linked library: "1.10.8". */
void ht_h5_version(char *buffer, size_t size);
