/* Shots: the sources of waves of a run, from the groups of the list "sources". They belong to no
 * discretisation; ht_shot_spread gives them to a grid.
 */
#ifndef HTWAVE_SHOTS_H
#define HTWAVE_SHOTS_H

#include "htwave/layers.h"
#include "htwave/medium.h"
#include "htwave/point.h"
#include "htwave/signal.h"

/* One group, with one signal. A plane wave has no points: inside the box from `first` to `last`
 * fields are total, outside scattered ones. */
struct ht_shot {
    enum ht_shot_type type;
    enum ht_shot_kind kind;
    int points;               /* of a line; else 1 */
    double first[3], last[3]; /* of a line; else the same; of a plane the
                                 component along its axis counts */
    int axis;                 /* normal to a plane */
    double width;             /* of a volume, w in exp(-x^2/(2 w^2)) */
    double direction[3];      /* of length 1 */
    double corner;            /* direction times the corner of the box that a
                                 plane wave reaches first */
    double crossing;          /* time that a plane wave takes through its box;
                                 else 0 */
    double amplitude, delay;
    double radius, tolerance; /* as given; radius 0: automatic */
    struct ht_signal *signal;
};
struct ht_shots {
    const struct ht_medium *medium;
    int count;
    struct ht_shot *shot; /* group number - 1 */
    double highest;       /* of all signals: frequency */
    double end;           /* when the last one is over, in the run's time */
};

/* Refuses, with key, group and place: points outside the box, volumes that the grid does not
 * resolve, signals that begin before the run, kinds that the system does not have; warns of points
 * on a free wall, which are silent, and of signals with a constant part in a closed box. *out: NULL
 * without groups. params, eq, grid and medium as ht_medium_read has them. */
HT_CHECKED enum ht_err ht_shots_create(const struct ht_params *params,
                                       const struct ht_medium *medium, struct ht_shots **out);
void ht_shots_destroy(struct ht_shots *shots); /* NULL allowed */

/* In the run's time, with amplitude; order as in ht_signal_at. 0 before the signal's begin. */
double ht_shot_at(const struct ht_shot *shot, double time, int order);
/* Whether the signal is other than 0, or its integrals other than straight, in some time between.
 */
bool ht_shot_acts(const struct ht_shot *shot, double from, double to);
void ht_shot_position(const struct ht_shot *shot, int point, double x[3]);
/* The law of the shot's kind. */
const struct ht_shot_law *ht_shot_law(const struct ht_equations *eq, enum ht_shot_kind kind);

/* Parts of the energy of a shot's waves, far away, in the bands of its signal; they add up to 1. */
void ht_shot_bands(const struct ht_equations *eq, const struct ht_shot *shot,
                   double out[HT_SIGNAL_BANDS]);
/* The frequency amid a band. */
double ht_shot_band(const struct ht_shot *shot, int band);

/* ---- shots_spread.c ---- */
/* What a shot of amplitude 1 adds to u_tt at the nodes, without the modulus:
 * the sum over its points of weights of the delta or, of forces, of -div of direction/rho delta;
 * nothing of plane waves. planes: which x3 planes are wanted; NULL: all. As ht_point_spread. */
HT_CHECKED enum ht_err ht_shot_spread(const struct ht_shots *shots, int index, const bool *planes,
                                      struct ht_point *out);
/* The most nodes of a shot on so many planes. */
int64_t ht_shot_most_nodes(const struct ht_shots *shots, int index, int64_t planes);

/* ---- shots_medium.c ---- */
/* Warns of shots whose nodes lie on both sides of a jump of the medium. */
HT_CHECKED enum ht_err ht_shots_warn_jumps(const struct ht_shots *shots);

#endif
