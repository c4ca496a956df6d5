/* gradient.h5, and what is kept of a gradient whose shots are not all done. */
#pragma once

#include "htwave/medium.h"

/* Sums over the first shots, in their order, at the primary nodes of own planes. */
struct ht_gradient_sums {
    const struct ht_grid *grid;
    uint64_t hash;   /* of input, model and data: sums of another one are not taken up */
    int64_t shots;   /* of the whole gradient */
    int64_t done;    /* how many have been added */
    double *misfit;  /* [shot] */
    int count;       /* of sums */
    char name[6][8]; /* "m", "b1", "b2", "b3", "d2" (illumination) */
    double *sum[6];  /* [node of own planes] */
    struct ht_pool pool;
};
/* Zeros; names: "m,b1,d2". */
HT_CHECKED enum ht_err ht_gradient_sums_create(const struct ht_grid *grid, const char *names,
                                               int64_t shots, uint64_t hash,
                                               struct ht_gradient_sums *out);
void ht_gradient_sums_destroy(struct ht_gradient_sums *sums);
/* Writes what has been added so far to path, whole by rename; or takes up what is there, of the
 * same hash, shots and names: *found, else nothing is changed. Collective. */
HT_CHECKED enum ht_err ht_gradient_sums_save(const struct ht_gradient_sums *sums, const char *path);
HT_CHECKED enum ht_err ht_gradient_sums_resume(struct ht_gradient_sums *sums, const char *path,
                                               bool *found);
/* Writes the file: /gradient/NAME and, with a sum "d2", /illumination/NAME on the samples as the
 * model file has them, /misfit [shot], the attributes shape, spacing, origin and axes (those
 * of the model), and if `nodes` the sums as /gradient_nodes/NAME. illumination[wanted], or NULL.
 * Collective. */
HT_CHECKED enum ht_err ht_gradient_write(const struct ht_gradient_sums *sums,
                                         const struct ht_medium_gradient *gradient,
                                         double *const *illumination, bool nodes, const char *path);
