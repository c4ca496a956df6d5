/* A part of a problem as a separate problem of one rank: a layer of cells for a scheme's start, the
 * few cells of a self-check, the box of a test problem.
 */
#ifndef HTWAVE_PART_H
#define HTWAVE_PART_H

#include "htwave/problem.h"

/* Kinds of sides of the part. */
enum ht_part_sides {
    HT_SIDES_SAME,    /* those of the whole problem */
    HT_SIDES_MIRROR,  /* mirrors along axes that it does not fill; a half step
                         from the primary grid reads nothing behind them */
    HT_SIDES_PERIODIC /* along all axes */
};
enum ht_part_medium {
    HT_MEDIUM_OWN, /* that of the whole problem at the same nodes */
    HT_MEDIUM_TEST /* ht_test_medium: the part may be larger than the whole */
};

/* problem.grid and problem.medium point into the part, which must not be moved. With HT_MEDIUM_OWN
 * the whole problem must outlive the part. */
struct ht_part {
    const struct ht_problem *whole;
    struct ht_box cells; /* of the whole grid */
    struct ht_grid grid;
    struct ht_problem problem;
};
/* The cells of a box; axes beyond the dimensions are ignored. Equations, step, scheme, stages and
 * kind of medium are those of the whole problem; the caller may change them in out->problem. A box
 * may extend across a periodic seam. */
void ht_problem_part(const struct ht_problem *whole, const struct ht_box *cells,
                     enum ht_part_sides sides, enum ht_part_medium medium, struct ht_part *out);

#endif
