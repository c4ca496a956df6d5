/* The pictures of a run: slices of fields over the medium, and of the model. */
#pragma once

#include "slice.h"

/* What ht_output_check says of pictures. */
HT_CHECKED enum ht_err ht_pictures_check(const struct ht_params *params,
                                         const struct ht_medium *medium, unsigned stored);
/* All but checked; params and medium must outlive them. */
struct ht_pictures;
HT_CHECKED enum ht_err ht_pictures_create(const struct ht_params *params,
                                          const struct ht_medium *medium, unsigned stored,
                                          struct ht_pictures **out);
void ht_pictures_destroy(struct ht_pictures *pictures); /* NULL allowed */
/* Sources and receivers, either of which may be NULL, are drawn from now on. */
HT_CHECKED enum ht_err ht_pictures_mark(struct ht_pictures *pictures, const struct ht_shots *shots,
                                        const struct ht_receivers *receivers);
/* Each slice, of ht_output_picture's values. Collective. */
HT_CHECKED enum ht_err ht_pictures_draw(struct ht_pictures *pictures, double time,
                                        const double *const *nodal);
/* The path of the newest one; NULL: none. */
const char *ht_pictures_last(const struct ht_pictures *pictures);

/* ---- parts, for the model ---- */
/* output.picture.background; NULL: none. */
const char *ht_pictures_background(const struct ht_params *params);
/* "acoustic, x3 = 0.5 km" */
void ht_pictures_place(const struct ht_params *params, const struct ht_medium *medium,
                       const struct ht_slice *slice, struct ht_text *text);
/* Draws, and frees the texts; their failures are the result. */
HT_CHECKED enum ht_err ht_pictures_write(struct ht_picture *picture, struct ht_text *title,
                                         struct ht_text *subtitle, const char *path);
