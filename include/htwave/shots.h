/* Sources and receivers: signals, shots, and where receivers stand. */
#pragma once

#include "htwave/medium.h"

/* Signals of sources: functions s(t) of time, in their own time and with largest value 1 (bursts
 * nearly, files as given), with their derivative and their integrals from the beginning on. */

/* Parts of the energy in bands of equal width from 0 to twice `highest`. */
enum { HT_SIGNAL_BANDS = 64 };
struct ht_signal {
    double begin, end; /* beyond, |s| is below 1e-8 of the largest value */
    double largest;    /* |s| */
    double highest;    /* frequency beyond which 1e-4 of the energy lies */
    double constant;   /* integral of s over that of |s| */
    double band[HT_SIGNAL_BANDS];
    double whole;               /* of a sine, until when it is; else 0 */
    int64_t samples;            /* of a file; else 0 */
    int holders;                /* shots that have it */
    struct ht_shot_given given; /* private from here on */
    int64_t room;
    struct ht_knot *knot;
};
/* signal, frequency, cycles and file of a group; of a Gaussian family a = pi frequency t. Refuses
 * files with wrong columns, values that are not finite, times that do not increase, and gaps: an
 * interval above ten times the median one. */
HT_ERR ht_signal_create(const struct ht_shot_given *given, struct ht_signal **out);
void ht_signal_destroy(struct ht_signal *signal); /* by its last holder; NULL allowed */
/* Whether ht_signal_create makes the same of this group; names of files are compared. */
bool ht_signal_is_of(const struct ht_signal *signal, const struct ht_shot_given *given);
HT_ENDS(ht_signal)
/* That of a file which is 1 at a sample, 0 at others: signals are linear in their samples. */
HT_ERR ht_signal_unit(const struct ht_signal *of, int64_t sample, struct ht_signal **out);

/* order 1: ds/dt; 0: s; -1, -2: its first and second integral from the beginning on. Files: 0
 * outside; the spline is cubic, natural at its ends. */
double ht_signal_at(const struct ht_signal *signal, double t, int order);

/* Shots: the sources of waves of a run, from the groups of the list "sources". They belong to no
 * discretisation; ht_shot_spread gives them to a grid. */

/* One group, with one signal. What comes from outside has no points: inside the box from `first` to
 * `last` fields are total, outside scattered ones. */
struct ht_shot {
    int group; /* of the input, from 1 */
    const struct ht_source_type *type;
    const struct ht_source_kind *kind;
    int drives; /* fields that each point drives, on the grid of its medium */
    struct ht_drive drive[HT_MAX_DRIVES];
    int points;               /* of a line; 0 of what comes from outside; else 1 */
    double first[3], last[3]; /* of a line, of a box; else the same */
    bool varies[3];           /* of a plane along its axis only */
    int axis;                 /* normal to a plane */
    double width;             /* of a volume, w in exp(-x^2/(2 w^2)); else 0 */
    double direction[3];      /* of length 1 */
    double corner;            /* direction times the corner of the box that a
                                 plane wave reaches first */
    double crossing;          /* time that a plane wave takes through its box;
                                 else 0 */
    double speed;             /* of a plane wave */
    bool along;               /* its vector is along, else normal to its direction */
    double amplitude, delay;
    double radius, tolerance; /* as given; radius 0: automatic */
    double norm;              /* of g: src/solve/energy_watch.c; 0: no steps */
    struct ht_signal *signal;
};
struct ht_shots {
    const struct ht_medium *medium;
    int count;
    int64_t room;
    struct ht_shot *shot; /* of each group in order, of an array each element */
    double highest;       /* of all signals: frequency */
    double end;           /* when the last one is over, in the run's time */
};

/* Refuses, with key, group and place: points outside the box, volumes that the grid does not
 * resolve, signals that begin before the run, kinds that the system does not have; warns of points
 * on a free wall, which are silent, and of signals with a constant part in a closed box. *out: NULL
 * without groups. params, eq, grid and medium as ht_medium_read has them. before: shots whose
 * signals serve again where groups have the same, which saves reading files; or NULL. */
HT_ERR ht_shots_create(const struct ht_params *params, const struct ht_medium *medium,
                       const struct ht_shots *before, struct ht_shots **out);
void ht_shots_destroy(struct ht_shots *shots); /* NULL allowed */
HT_ENDS(ht_shots)
/* Each shot; shots NULL: none. A name cannot stand in parentheses: NOLINTBEGIN */
#define HT_EACH_SHOT(shot, of)                                         \
    for (struct ht_shot *shot = ht_shots_next(of, NULL); shot != NULL; \
         shot = ht_shots_next(of, shot))
/* NOLINTEND */
static inline struct ht_shot *ht_shots_next(const struct ht_shots *shots, struct ht_shot *from) {
    struct ht_shot *next = shots == NULL ? NULL : from == NULL ? shots->shot : from + 1;
    return next != NULL && next < shots->shot + shots->count ? next : NULL;
}

/* The fields of a plane wave whose scalar or vector (ht_drive) is 1, in a medium of these
 * materials, for a direction of any length that differences see, near its own. */
void ht_shot_fields(const struct ht_equations *eq, const struct ht_shot *shot,
                    const double *material, const double direction[3], double *field);

/* In the run's time, with amplitude; order as in ht_signal_at. 0 before the signal's begin. */
double ht_shot_at(const struct ht_shot *shot, double time, int order);
/* Whether the signal is not 0, or its integrals are not straight, in some time between. */
bool ht_shot_acts(const struct ht_shot *shot, double from, double to);
void ht_shot_position(const struct ht_shot *shot, int point, double x[3]);
/* Axes along which it varies. */
int ht_shot_dims(const struct ht_shot *shot);
/* In the form of second order u_tt takes g(x) times this derivative of the signal, 0 or 1; of a
 * drive of a flux g is the derivative of delta along the flux's axis, of others (-1) delta. */
int ht_shot_order(const struct ht_equations *eq, const struct ht_shot *shot);
int ht_shot_slope(const struct ht_equations *eq, const struct ht_drive *drive);

/* Parts of the energy of a shot's waves, far away, in the bands of its signal; they add up to 1. */
void ht_shot_bands(const struct ht_equations *eq, const struct ht_shot *shot,
                   double out[HT_SIGNAL_BANDS]);
/* The frequency amid a band. */
double ht_shot_band(const struct ht_shot *shot, int band);

/* ---- shots_spread.c ---- */
/* What a shot of amplitude 1 adds to u_tt at the nodes, without the modulus: the sum over its
 * points and drives of weights of delta or, of drives of fluxes, of its derivatives times their
 * material. planes: which x3 planes are wanted; NULL: all. Needs ht_point_free. */
HT_ERR ht_shot_spread(const struct ht_shots *shots, int index, const bool *planes,
                      struct ht_point *out);
/* Of one drive of a pair, of delta times its weight alone, at its field's places (grid->shift). */
HT_ERR ht_shot_spread_drive(const struct ht_shots *shots, int index, int drive,
                            const struct ht_grid *grid, const bool *planes, struct ht_point *out);
/* The most nodes of a shot on so many planes. */
int64_t ht_shot_most_nodes(const struct ht_shots *shots, int index, int64_t planes);

/* Warns of shots whose nodes lie on both sides of a jump of the medium. */
HT_ERR ht_shots_warn_jumps(const struct ht_shots *shots);

/* The receivers of a run: where they stand, what they record and at which times, from the groups of
 * the option `receivers`. A trace is what one receiver records of one field. */

/* Steps that a sample between steps is interpolated from. */
enum { HT_RECEIVERS_STENCIL = 12 };

enum { HT_READING_NAME = 24, HT_MAX_READINGS = 16 };

/* What is recorded of a field: its value, or its derivative along an axis, or the integral of that
 * by time, which is another field. */
struct ht_reading {
    int field;
    int slope; /* -1: the value */
    bool integral;
    double late; /* steps from the time of a step's value of the field to the step's own */
    char name[HT_READING_NAME];
};
struct ht_receiver_group {
    char name[HT_GROUP_NAME];
    int64_t count; /* receivers */
    double (*x)[3];
    int readings;
    struct ht_reading reading[HT_MAX_READINGS];
    double every;  /* 0: each time step */
    double start;  /* time of the first sample */
    int64_t first; /* its step, where every is 0 */
    int64_t samples;
};
struct ht_receivers {
    int count;
    struct ht_receiver_group *group;
    int64_t traces;
    double dt, end;
    int64_t steps; /* of dt, up to end */
    int64_t bytes; /* of all samples in the files' precision */
};

/* What receivers depend on beside the input. */
struct ht_receivers_of {
    const struct ht_equations *eq;
    const struct ht_grid *grid;           /* its box */
    unsigned held;                        /* bit per field that has values at whole steps; 0: all */
    const struct ht_second_order *second; /* its flux is recorded as integrals;
                                             NULL: no */
    unsigned half_early;                  /* fields whose values are half a step early */
    double dt;                            /* of a step, */
    int64_t steps;                        /* of the run */
    double frequency;                     /* highest of the waves; 0: not known */
};
/* *out: NULL where there are none. */
HT_ERR ht_receivers_create(const struct ht_params *params, const struct ht_receivers_of *of,
                           struct ht_receivers **out);
void ht_receivers_destroy(struct ht_receivers *receivers); /* NULL allowed */
/* Zeros for all samples of a run: [group][reading][receiver][sample]. */
HT_ERR ht_receivers_room(struct ht_pool *pool, const struct ht_receivers *receivers, double ***out);
double ht_receivers_time(const struct ht_receivers *receivers,
                         const struct ht_receiver_group *group, int64_t sample);
/* In steps: a whole number where it is one but for the rounding of decimal input. */
double ht_receivers_step(const struct ht_receivers *receivers,
                         const struct ht_receiver_group *group, int64_t sample);
