/* Results of the case absorbing of htwave bench: a cube of a uniform medium in
 * layers on all sides, measured by bench_absorbing.c and printed by
 * absorbing_show.c.
 */
#ifndef HTWAVE_BENCH_OPEN_SIDES_H
#define HTWAVE_BENCH_OPEN_SIDES_H

#include "htwave/bench.h"

enum { HT_OPEN_ROWS = 512 };

/* A box of `inside` cells along each axis, and layers around it. */
struct ht_open_row {
    const char *sweep; /* "domain" or "thickness" */
    const struct ht_scheme *scheme;
    int order;                /* grid.order */
    const char *organisation; /* "walls": no layers */
    int inside, layer;        /* cells along an axis, of a layer */
    double seconds;           /* of a step: median */
    double walls;             /* the same of the row with walls */
    double bytes;             /* of the layers on the device */
    double left;       /* part of a pulse's energy that stays; NaN: walls */
    double difference; /* from the first organisation, over what rounding
                          explains */
};
struct ht_open_sides {
    struct ht_bench *bench;
    int dims;
    bool fp64;
    int count;
    struct ht_open_row row[HT_OPEN_ROWS];
};

/* Cells with those of the layers per cell inside. */
double ht_open_share(const struct ht_open_sides *all,
                     const struct ht_open_row *row);

/* ---- absorbing_show.c ---- */
/* Writes absorbing.csv and absorbing.md; prints the latter unless rows are
 * printed. */
HT_CHECKED enum ht_err ht_open_show(const struct ht_open_sides *all);

#endif
