/* The plan of a run: all data that follow from the parameters alone. */
#pragma once

#include "htwave/duhamel.h"

/* The relative L2 error at the end (src/plan/expect.c): the likely value and its bracket; all 0 if
 * unknown. Not included: of a medium that may jump the error from jumps; if limited that of the
 * medium's polynomials, of lower order than the scheme's. */
struct ht_expected {
    double error, low, high;
    bool varies, jumps, limited;
};
struct ht_plan {
    const struct ht_params *params;
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_medium *medium;
    struct ht_solution *solution;
    struct ht_receivers *receivers; /* NULL: none */
    struct ht_shots *shots;         /* NULL: none */
    struct ht_duhamel *duhamel;     /* their Hermite form; NULL: none */
    struct ht_layers layers;        /* of absorbing sides; no cells: none */
    /* Of finite differences, of one field or of a pair; NULL: the medium is uniform. */
    struct ht_frame *frame;
    struct ht_pair_faces *faces;
    double rate;        /* cfl per time */
    int order;          /* N, or of finite differences */
    char chosen_by[96]; /* "auto: " and why this scheme; "" where it was named */
    struct ht_problem problem;
    double scale; /* of the state: a power of two (src/solve/scale.c) */
    int64_t steps;
    double cfl;                  /* of the run's step */
    double cfl_limit;            /* largest stable cfl for the stages */
    struct ht_expected expected; /* error at the end */
    double cells_per_wavelength; /* 0: unknown */
    /* Whether these outputs are at the steps nearest to their times, not at their exact times. */
    bool snapshots_off, pictures_off;
};
/* All checks that need no device. params and comm outlive the plan. Collective, in agreement. */
HT_ERR ht_plan_create(const struct ht_params *params, struct ht_comm *comm, struct ht_plan **out);
/* The sources and receivers become those of other parameters, which differ in nothing else and must
 * outlive the plan; steps, scheme and expected error stay. Nothing that was made of the old ones
 * may be left. After a failure the plan can only be destroyed or aimed again. Collective. */
HT_ERR ht_plan_aim(struct ht_plan *plan, const struct ht_params *params);
/* Sets plan->scale, which is 1 before, and multiplies the sources by it; once, before a start.
 * Warns of values that no file of the run can hold. Collective. */
HT_ERR ht_plan_choose_scale(struct ht_plan *plan);
/* Fields into values of the state, or back. */
void ht_plan_multiply(const struct ht_plan *plan, bool divide, int64_t count, double *values);
/* A little less than the largest CFL number at which single precision is stable in kernels that sum
 * series (ht_noise_grows), if the run's own is larger. */
double ht_plan_quiet_cfl(const struct ht_plan *plan);
/* The power of h to which errors are proportional in a smooth medium. */
int ht_plan_full_order(const struct ht_plan *plan);
/* The time from which on no source acts; 0 without sources. */
double ht_plan_undriven(const struct ht_plan *plan);
/* Points per shortest wavelength of the sources, of which there are some, where the medium is
 * slowest; those that keep the error over ten wavelengths below 0.1. */
double ht_plan_shot_points(const struct ht_plan *plan);
double ht_plan_needed_points(const struct ht_plan *plan);
/* q_frequency at the source whose waves are furthest from it, and these waves' mean frequency. */
struct ht_quality_band {
    double frequency, mean;
    int group; /* of the input; 0: nothing attenuates, or there is no source */
};
HT_ERR ht_plan_quality(const struct ht_plan *plan, struct ht_quality_band *out);
/* What layers, of which there are some, reflect of waves of 10 points per wavelength, the worst of
 * them, in dB at 0, 30 and 60 degrees (docs/developers/absorbing.md). */
void ht_plan_layer_reflection(const struct ht_plan *plan, double db[3]);
/* What layers of a pair with this mixing leave of P and S waves of 15 cells, dB, measured; false:
 * not known, as their damping is given. */
bool ht_plan_layer_mixed_db(const struct ht_plan *plan, double mix, double db[2]);
/* Sponges of Hermite methods, of Ricker wavelets of which the layer is so many thick. */
void ht_plan_sponge_reflection(const struct ht_plan *plan, double wavelengths, double db[3]);
/* Hermite methods, measured: a point source 6 cells away, 5 cells a wavelength; NaN: not known. */
double ht_plan_layer_point_reflection(const struct ht_plan *plan);
/* What comes back of the sources' waves at 0 and 60 degrees, dB; false: no sources, or layers. The
 * wavelength beyond which so much comes back of waves along the normal. */
bool ht_plan_layer_shots_db(const struct ht_plan *plan, double db[2]);
double ht_plan_layer_longest(const struct ht_plan *plan, double part);
/* Memory that sources need at most, on the device and on the host; 0 without them. */
struct ht_shot_bytes {
    int64_t device, host;
};
HT_ERR ht_plan_shot_bytes(const struct ht_plan *plan, bool fp64, struct ht_shot_bytes *out);
void ht_plan_destroy(struct ht_plan *plan);
HT_ENDS(ht_plan)

/* ---- resolution.c: which grid and step carry waves over a distance with a given error, by each
 * scheme: in a uniform medium from the scheme's own plane waves, without runs ---- */
/* A method on cubic cells. */
struct ht_carrier {
    const struct ht_equations *eq; /* must outlive it */
    const struct ht_scheme *scheme;
    int order;        /* N, or the order in space */
    int stages;       /* of finite differences: terms in time, 1 or 2 */
    bool density;     /* of finite differences: 1/rho varies */
    bool undispersed; /* of one term: time.dispersion = "remove" */
    double contrast;  /* of finite differences: largest speed over least */
};

/* Where the speed is least; error: relative, L2, of the scheme alone. */
struct ht_resolution {
    double cells; /* per wavelength; 0: more than HT_RESOLUTION_MOST */
    double cfl;   /* of the fastest waves */
    double error;
};
#define HT_RESOLUTION_MOST 100.0

/* The grid with the fewest updates whose error after so many wavelengths is at most `error`
 * (docs/performance.md, How a wavelength is counted); of finite differences the step, too. */
HT_ERR ht_resolution_find(const struct ht_carrier *carrier, double wavelengths, double error,
                          struct ht_resolution *out);
/* What rounding adds: the model of src/plan/expect.c and, of finite differences, fd_plan.c; the
 * likely value times the root of the bracket above it. */
double ht_resolution_rounding(const struct ht_carrier *carrier, bool fp64,
                              const struct ht_resolution *grid, double wavelengths);
/* Cell half-steps per wavelength along each dimension and period. */
double ht_resolution_updates(const struct ht_carrier *carrier, const struct ht_resolution *grid);
