/* What src/hermite/duhamel*.c share: signals, the images of sources behind walls and beyond
 * periodic sides. Places are whole multiples of 2^-32 cells from the lower end of an axis. */
#pragma once

#include "htwave/duhamel.h"

/* Nothing acts before the run begins. order: as in ht_shot_at. */
static inline double ht_source_signal(const struct ht_shot *shot, double time, int order) {
    return time < 0 ? 0 : ht_shot_at(shot, time, order);
}

enum { HT_SOURCE_FRACTION = 32, HT_SOURCE_IMAGES = 160 };

/* g of a point: K s of a monopole, s/rho of a force along its direction; of u, u_t added to u_t. */
struct ht_source_vector ht_source_vector(const struct ht_problem *problem,
                                         const struct ht_source_point *point);

/* Those of a point that reach into the box. */
struct ht_source_images {
    const struct ht_problem *problem;
    struct ht_source_vector vector; /* of the point */
    /* Along an axis; a source that does not vary along it has one, of factor 1, at every place. */
    int count[3];
    struct ht_source_mirror {
        int64_t at;
        int factor; /* of the walls passed */
        bool mirrored;
    } axis[3][HT_SOURCE_IMAGES];
};
void ht_source_images(const struct ht_problem *problem, const struct ht_source_point *point,
                      struct ht_source_images *out);
/* Number n of all: its place, and the vector with the signs of walls passed. False: no more. */
bool ht_source_image(const struct ht_source_images *all, int64_t n, int64_t at[3],
                     struct ht_source_vector *out);
