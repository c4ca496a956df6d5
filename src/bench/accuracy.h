/* What the case accuracy of htwave bench finds (bench_accuracy.c) and shows
 * (accuracy_show.c): curves of cost over error.
 */
#ifndef HTWAVE_BENCH_ACCURACY_H
#define HTWAVE_BENCH_ACCURACY_H

#include "htwave/bench.h"

enum { HT_ACCURACY_DIRECTIONS = 3, HT_ACCURACY_POINTS = 40 };

struct ht_accuracy_point {
    double seconds; /* per cubic wavelength and period */
    double error;   /* after all wavelengths, the worst direction's */
    double points;  /* cells or points per wavelength, about */
    int directions; /* of this point; 0: an error by analysis, no run */
    struct {
        double points, error, expected; /* expected 0: not known */
    } along[HT_ACCURACY_DIRECTIONS];
};

struct ht_accuracy_curve {
    const struct ht_bench_row *row; /* NULL: finite differences */
    int order;                      /* N; of finite differences in space */
    int time_order;                 /* of finite differences */
    bool best; /* cost by the memory's limit, not measured */
    bool cut;  /* for want of time */
    int count;
    struct ht_accuracy_point point[HT_ACCURACY_POINTS];
};

struct ht_accuracy {
    const struct ht_bench *bench;
    int dims; /* of the runs */
    const char *direction[HT_ACCURACY_DIRECTIONS];
    int cut; /* curves */
    int count, room;
    struct ht_accuracy_curve *curve;
};

/* The points of a curve that no other one of it beats in both cost and error,
 * from the cheapest on; returns their number. */
int ht_accuracy_front(int count, const struct ht_accuracy_point *point,
                      int front[]);
/* Least seconds of a curve for an error: between the points of its front;
 * those of the cheapest point where that is good enough; NaN: not reached. */
double ht_accuracy_seconds(const struct ht_accuracy_curve *curve, double error);

/* accuracy.csv of all runs, and the table on standard output unless
 * that is for rows. */
HT_CHECKED enum ht_err ht_accuracy_show(const struct ht_accuracy *accuracy);

#endif
