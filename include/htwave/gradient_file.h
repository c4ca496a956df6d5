/* Sums of a gradient over shots, kept while it is not done, and gradient.h5. */
#pragma once

#include "htwave/gradient.h"

/* Of the first `done` shots, added in their order. */
struct ht_gradient_sums {
    const struct ht_grid *grid;
    char mark[17]; /* of input, model and data: sums of other ones are not taken up */
    int64_t shots, done;
    char name[HT_GRADIENT_SUMS][24]; /* in files */
    bool pair;                       /* they are by coefficients of a pair */
    double *misfit;                  /* [shot] */
    int64_t places;                  /* of ht_medium_gradient_spread, */
    double *at_places;               /* [place]; NULL: not there */
    double *sum[HT_GRADIENT_SUMS];   /* [own node]; NULL: not there */
    struct ht_pool pool;
};
/* Zeros, of the illumination and of these coefficients (struct ht_medium_gradient); eq: whose pair
 * they are of, NULL: of the form of second order. */
HT_ERR ht_gradient_sums_create(const struct ht_grid *grid, const struct ht_equations *eq,
                               unsigned coefficients, int64_t shots, const char *mark,
                               struct ht_gradient_sums *out);
void ht_gradient_sums_destroy(struct ht_gradient_sums *sums);
/* Writes what has been added, whole by rename. Collective. */
HT_ERR ht_gradient_sums_save(struct ht_gradient_sums *sums, const char *path);
/* Takes up what is there, written by any number of ranks: done 0 where there is nothing, or sums of
 * another mark or of other shots. A damaged file is refused. Collective. */
HT_ERR ht_gradient_sums_resume(struct ht_gradient_sums *sums, const char *path);
/* For struct ht_medium_gradient; data: the sums; coefficient -1: the illumination. */
ht_medium_gradient_read ht_gradient_sums_read;

/* A file of a gradient that was found (ht_medium_gradient_find), with what each sample has of the
 * illumination:
 *     gradient/NAME, illumination/NAME    of each parameter, [..] as the model file has them;
 *     cross/NAME                          in place of that: gradient.image
 *     misfit [shot]
 *     gradient_nodes/m, b1, b2, b3        if nodes: the sums, [n3][n2][n1]; of a pair C_ROW_COL;
 *     cross_nodes/m                       in place of that
 * with the attributes system, input (the mark), cells, lower, spacing (of the grid) and, where
 * there is a model file, model_axes, model_origin and model_spacing, from the file's fastest axis
 * on. Collective. */
HT_ERR ht_gradient_write(struct ht_gradient_sums *sums, const struct ht_params *params,
                         struct ht_medium_gradient *gradient, bool nodes, const char *path);
