/* Shots: the sources of waves of a run, from the groups of the list "sources".
 * They belong to no discretisation; ht_shot_spread gives them to a grid.
 */
#ifndef HTWAVE_SHOTS_H
#define HTWAVE_SHOTS_H

#include "htwave/medium.h"
#include "htwave/point.h"
#include "htwave/signal.h"

/* One group: points with one signal. */
struct ht_shot {
    enum ht_shot_kind kind;
    int points;
    double first[3], last[3]; /* of a line; else the same */
    double direction[3];      /* of length 1 */
    double amplitude, delay;
    double radius, tolerance; /* as given; radius 0: automatic */
    struct ht_signal *signal;
};
struct ht_shots {
    const struct ht_medium *medium;
    int count;
    struct ht_shot *shot; /* group number - 1 */
    double highest;       /* of all signals: frequency */
    double end;           /* of the last one, in the run's time */
};

/* Refuses, with key, group and place: points outside the box, signals that
 * begin before the run, kinds that the system does not have; warns of points on
 * a free wall, which are silent, and of signals with a constant part in a
 * closed box. *out: NULL without groups. params, eq, grid and medium as
 * ht_medium_read has them. */
HT_CHECKED enum ht_err ht_shots_create(const struct ht_params *params,
                                       const struct ht_medium *medium,
                                       struct ht_shots **out);
void ht_shots_destroy(struct ht_shots *shots); /* NULL allowed */

/* In the run's time, with amplitude; order as in ht_signal_at. 0 before the
 * signal's begin. */
double ht_shot_at(const struct ht_shot *shot, double time, int order);
/* Whether the signal is other than 0, or its integrals other than straight, in
 * some time between. */
bool ht_shot_acts(const struct ht_shot *shot, double from, double to);
void ht_shot_position(const struct ht_shot *shot, int point, double x[3]);
/* The law of the shot's kind. */
const struct ht_shot_law *ht_shot_law(const struct ht_equations *eq,
                                      enum ht_shot_kind kind);
/* What a shot of amplitude 1 adds to u_tt at the nodes, without the modulus:
 * the sum over its points of weights of the delta or, of forces, of -div of
 * direction/rho delta. As ht_point_spread. */
HT_CHECKED enum ht_err ht_shot_spread(const struct ht_shots *shots, int index,
                                      struct ht_point *out);

#endif
