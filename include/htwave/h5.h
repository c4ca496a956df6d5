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

/* Datasets in row-major order, extent[rank-1] fastest, rank at most 8. name may
 * hold '/': groups are made as needed. single: stored as float32, else float64.
 */
HT_CHECKED enum ht_err ht_h5_write(struct ht_h5 *file, const char *name,
                                   int rank, const int64_t *extent,
                                   const double *data, bool single);
/* In two steps: room for the values, which are anything at first; then the
 * values with indices [first, last) along an axis, data[..][last - first][..].
 */
HT_CHECKED enum ht_err ht_h5_reserve(struct ht_h5 *file, const char *name,
                                     int rank, const int64_t *extent,
                                     bool single);
HT_CHECKED enum ht_err ht_h5_write_planes(struct ht_h5 *file, const char *name,
                                          int axis, int64_t first, int64_t last,
                                          const double *data);
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

/* ---- files that all ranks of an MPI run write together ---- */
/* One rank creates the file, sets its attributes and reserves all datasets,
 * then shares it; all ranks make ready, join it, write their planes and leave;
 * the one commits or discards it. With MPI started only.
 *
 * ht_h5_join and ht_h5_leave are collective: HDF5 waits in them for all ranks
 * of MPI_COMM_WORLD, without looking out for failures. So the ranks agree
 * before each of them that all will come. A file that not all ranks could join
 * cannot be left. Between the two ht_h5_write_planes is each rank's own affair,
 * and nothing else is called. */
bool ht_h5_parallel(void); /* HDF5 was built with MPI */
/* Of the library that is linked: "1.10.8". */
void ht_h5_version(char *buffer, size_t size);
/* Closes a created file; then only ht_h5_commit and ht_h5_discard may follow.
 * *name is its temporary path until then. */
HT_CHECKED enum ht_err ht_h5_share(struct ht_h5 *file, const char **name);
/* What a rank needs of its own. name: from ht_h5_share of one rank; path: for
 * messages. A file that has not been joined is freed by ht_h5_unready. */
HT_CHECKED enum ht_err ht_h5_ready(const char *name, const char *path,
                                   struct ht_h5 **out);
void ht_h5_unready(struct ht_h5 *file); /* NULL allowed */
HT_CHECKED enum ht_err ht_h5_join(struct ht_h5 *file);
/* Closes a joined file, also after a write that failed; what this rank wrote is
 * on disk then. */
HT_CHECKED enum ht_err ht_h5_leave(struct ht_h5 *file);

#endif
