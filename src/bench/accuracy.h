/* Results of the case accuracy of htwave bench: curves of cost over error,
 * measured by bench_accuracy.c and printed by accuracy_show.c.
 */
#ifndef HTWAVE_BENCH_ACCURACY_H
#define HTWAVE_BENCH_ACCURACY_H

#include "htwave/bench.h"

enum { HT_ACCURACY_DIRECTIONS = 3, HT_ACCURACY_POINTS = 40 };

struct ht_accuracy_point {
    double seconds; /* per cubic wavelength and period */
    double error;   /* after all wavelengths, in the worst direction */
    double points;  /* cells or points per wavelength, approximate */
    int directions; /* of this point; 0: an error by analysis, no run */
    struct {
        double points, error, expected; /* expected 0: not known */
    } along[HT_ACCURACY_DIRECTIONS];
};

struct ht_accuracy_curve {
    const struct ht_bench_row *row; /* NULL: finite differences */
    int order;                      /* N; of finite differences in space */
    int time_order;                 /* of finite differences */
    bool best; /* cost by the limit of memory bandwidth, not measured */
    bool cut;  /* incomplete: no time left */
    int count;
    struct ht_accuracy_point point[HT_ACCURACY_POINTS];
};

struct ht_accuracy {
    const struct ht_bench *bench;
    int dims; /* of the runs */
    const char *direction[HT_ACCURACY_DIRECTIONS];
    int cut; /* number of incomplete curves */
    int count, room;
    struct ht_accuracy_curve *curve;
};

/* The Pareto front: points of a curve for which no other point has both lower
 * cost and lower error, from the cheapest on. Returns their number. */
int ht_accuracy_front(int count, const struct ht_accuracy_point *point,
                      int front[]);
/* Least seconds of a curve for an error: interpolated between the points of its
 * front; those of the cheapest point if it reaches the error; NaN: not
 * reached. */
double ht_accuracy_seconds(const struct ht_accuracy_curve *curve, double error);

/* Writes accuracy.csv with all runs, and the table to standard output unless
 * rows are printed there. */
HT_CHECKED enum ht_err ht_accuracy_show(const struct ht_accuracy *accuracy);

#endif
