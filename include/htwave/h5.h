/* HDF5 datasets, nothing more: the only header through which HDF5 is seen.
 * HDF5's own error stack is kept quiet; messages name file and dataset.
 */
#ifndef HTWAVE_H5_H
#define HTWAVE_H5_H

#include "htwave/base.h"

struct ht_h5; /* an open file */

/* A new file at a temporary path beside `path`; ht_h5_commit closes it and
 * renames it into place, ht_h5_discard closes and removes it (NULL allowed).
 * Exactly one of the two ends a created file. */
HT_CHECKED enum ht_err ht_h5_create(const char *path, struct ht_h5 **out);
HT_CHECKED enum ht_err ht_h5_commit(struct ht_h5 *file);
void ht_h5_discard(struct ht_h5 *file);
HT_CHECKED enum ht_err ht_h5_open(const char *path, struct ht_h5 **out);
void ht_h5_close(struct ht_h5 *file); /* an opened file; NULL allowed */

/* Datasets in row-major order, extent[rank-1] fastest. name may hold '/':
 * groups are made as needed. single: stored as float32, else float64. */
HT_CHECKED enum ht_err ht_h5_write(struct ht_h5 *file, const char *name,
                                   int rank, const int64_t *extent,
                                   const double *data, bool single);
/* rank (at most 8) and extents of a dataset. */
HT_CHECKED enum ht_err ht_h5_extent(struct ht_h5 *file, const char *name,
                                    int *rank, int64_t extent[8]);
/* Reads the whole dataset as double into data (room for count values, which
 * must be the dataset's size). */
HT_CHECKED enum ht_err ht_h5_read(struct ht_h5 *file, const char *name,
                                  int64_t count, double *data);
/* Attributes on the root group: scalars, number arrays, strings. */
HT_CHECKED enum ht_err ht_h5_set_number(struct ht_h5 *file, const char *name,
                                        int count, const double *values);
HT_CHECKED enum ht_err ht_h5_set_text(struct ht_h5 *file, const char *name,
                                      const char *value);
HT_CHECKED enum ht_err ht_h5_get_number(struct ht_h5 *file, const char *name,
                                        int count, double *values);
/* Calls visit for every dataset path in the file; stops at an error. */
HT_CHECKED enum ht_err ht_h5_each(struct ht_h5 *file,
                                  enum ht_err (*visit)(const char *name,
                                                       void *context),
                                  void *context);

#endif
