/* The slice of the grid that a picture shows, and what is marked on it. */
#pragma once

#include "htwave/output.h"

struct ht_slice {
    const struct ht_grid *grid;
    int across, up;        /* axes of the picture */
    int normal;            /* axis cut through; -1 below three dimensions */
    int64_t index;         /* of the node along normal */
    int64_t width, height; /* height 1: one dimension */
    double x0, x1, y0, y1;
};

/* plane, the normal, counts in three dimensions only. position: fraction of the length along the
 * plane's normal. */
struct ht_slice ht_slice_make(const struct ht_grid *grid, enum ht_grid_axis plane, double position);
/* Rows [first, last) whose values this rank has; those of the ranks follow one another. A row that
 * repeats the first behind a periodic seam is not among them. */
void ht_slice_own(const struct ht_slice *slice, int64_t *first, int64_t *last);
/* out[last - first][width], own rows, from nodal values of the own planes. */
void ht_slice_values(const struct ht_slice *slice, const double *nodal, double *out);
/* values[height][width], all rows but the one behind the seam: adds that. */
void ht_slice_close(const struct ht_slice *slice, double *values);
/* out[height][width] of a parameter of the medium. */
HT_CHECKED enum ht_err ht_slice_parameter(const struct ht_slice *slice,
                                          const struct ht_medium *medium, const char *name,
                                          double *out);

/* Size, box, axes with units, pixels. */
struct ht_picture ht_slice_picture(const struct ht_slice *slice, const struct ht_params *params);

/* Points of sources, then receivers. */
struct ht_places {
    const struct ht_shots *shots; /* NULL: none */
    int64_t count, sources;
    double (*x)[3];
};
/* Either may be NULL; shots must outlive the places. Free them in any case. */
HT_CHECKED enum ht_err ht_places_make(const struct ht_shots *shots,
                                      const struct ht_receivers *receivers, struct ht_places *out);
void ht_places_free(struct ht_places *places);
/* Marks the places in a picture of the slice; unmark it in any case. */
HT_CHECKED enum ht_err ht_slice_mark(const struct ht_slice *slice, const struct ht_places *places,
                                     struct ht_picture *picture);
void ht_slice_unmark(struct ht_picture *picture);
