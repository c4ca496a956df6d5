/* What src/hermite/duhamel*.c share: signals, the images of sources behind walls and beyond
 * periodic sides. Places are whole multiples of 2^-32 cells from the lower end of an axis. */
#pragma once

#include "htwave/duhamel.h"

/* Nothing acts before the run begins. order: as in ht_shot_at. */
static inline double ht_source_signal(const struct ht_shot *shot, double time, int order) {
    return time < 0 ? 0 : ht_shot_at(shot, time, order);
}

enum { HT_SOURCE_FRACTION = 32, HT_SOURCE_IMAGES = 160 };

/* Along an axis; a source that does not vary along it has one, of factor 1, at every place. */
struct ht_source_image {
    int64_t at;
    int factor; /* of the walls passed */
    bool mirrored;
};
struct ht_source_images {
    int count[3];
    struct ht_source_image axis[3][HT_SOURCE_IMAGES];
};
/* Those of a point that reach into the box; reach in cells. */
void ht_source_images(const struct ht_problem *problem, const struct ht_source_point *point,
                      const double reach[3], struct ht_source_images *out);
/* Image number n of all, an image of each axis; false: there are no more. */
static inline bool ht_source_image_at(const struct ht_source_images *all, int64_t n,
                                      const struct ht_source_image *out[3]) {
    for (int k = 0; k < 3; n /= all->count[k], k++) out[k] = &all->axis[k][n % all->count[k]];
    return n == 0;
}
/* g of a point: K s of a monopole, s/rho of a force along its direction; of the pair u, u_t it is
 * added to u_t. */
struct ht_source_vector ht_source_vector(const struct ht_problem *problem,
                                         const struct ht_source_point *point);
/* Each field has the sign of the walls passed. */
struct ht_source_vector ht_source_vector_image(const struct ht_problem *problem,
                                               const struct ht_source_vector *source,
                                               const struct ht_source_image *const image[3]);
