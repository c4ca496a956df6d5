/* What is to be computed: schemes, the problem, absorbing layers, small problems. */
#pragma once

#include "htwave/kernel.h"
#include "htwave/shots.h"

struct ht_method;
struct ht_plan;
struct ht_problem;
struct ht_stepper;

/* Of equations for a scheme. */
struct ht_form {
    unsigned stored[2];     /* field mask per grid; 0: all fields */
    int old_sign;           /* as in ht_spec */
    enum ht_pair_kind pair; /* of finite differences: of a pair */
    /* Fields whose values are half a step early, on staggered grids: then those of all fields are
     * half a spacing up along the axes of their parity; 0: at nodes and whole steps. */
    unsigned early;
    const struct ht_second_order *second; /* the equation of the one field; NULL: others */
};

/* Model of the rounding errors: src/plan/expect.c. */
struct ht_rounding {
    double power, below, above;  /* a, b, c */
    double factor[HT_MAX_ORDER]; /* A, for N = 1, 2, .. */
    double wide;                 /* A and c in double precision, relative; 0: the same */
};

/* A quadratic form that a run conserves up to rounding; `measure` as ht_conserved_energy, for plans
 * with `known`. physical: the energy of docs/developers/method.md, section 9, at the primary grid's
 * time; NULL: ht_state_measure has it. */
struct ht_invariant {
    bool (*known)(const struct ht_plan *plan);
    enum ht_err (*measure)(const struct ht_plan *plan, const struct ht_stepper *stepper,
                           double *energy);
    enum ht_err (*physical)(const struct ht_plan *plan, const struct ht_stepper *stepper,
                            double *energy);
};

/* How half steps make time steps. One row per scheme in src/plan/scheme.c; the rest of the program
 * uses the properties of a row, never its name. */
struct ht_scheme {
    const char *name;             /* value of time.scheme */
    const char *title;            /* name in a sentence */
    const struct ht_method *does; /* src/solve/methods.h */

    bool nodal; /* nodes hold values alone (finite differences), not derivatives */
    /* Whether a half step adds to the values of its target grid one step earlier. Then the grids
     * hold fields at times dt/2 apart, and both together are the state. Else a half step overwrites
     * the target grid with the state half a step later. */
    bool two_level;
    /* The energy of a conserving system can only fall. Else, in a uniform medium, a half step with
     * -dt from the same grid undoes one with dt, up to rounding. */
    bool dissipates;
    /* Why varying media are refused, to follow "the medium varies, and"; NULL:
     * they are allowed. */
    const char *varying;
    /* Growth of the watched energy at which a run is stopped; 0:
     * src/solve/energy_watch.c chooses it by the resolution of the state. */
    double most_growth;
    double usual_part; /* of the largest stable step: the default step */
    int usual_order;   /* what grid.order = 0 takes */
    /* Those of comparisons, 0: no more; all are multiples of the step. */
    int orders[HT_MAX_ORDER], order_step, most_order;
    const char *cells, *order_is, *order_of; /* in texts: "cells", "N = ", "N of Hermite methods" */
    /* By which the expected error of a single wave may be off, along an axis and others. */
    double margin[2];
    /* Why sides with nothing beyond, and losses at a point, are refused; NULL: they are not. */
    const char *closed, *losses;
    /* A one-level scheme whose backward half step from time 0 gives the dual grid's values at
     * -dt/2; NULL if the primary grid suffices as start, as where two_level is false. */
    const struct ht_scheme *starter;

    /* Sets *out and returns NULL; or returns why the equations have no such form, to follow "the
     * fields of SYSTEM". */
    const char *(*form)(const struct ht_equations *eq, struct ht_form *out);
    /* Of equations that have the form; NULL: of finite differences. */
    enum ht_symbol (*symbol)(const struct ht_equations *eq);
    struct ht_rounding rounding[2];       /* of systems of first order, of pairs; 0: unknown */
    const struct ht_invariant *invariant; /* NULL: none */
    /* What takes its place where equations do not have its form; NULL: nothing. */
    const struct ht_scheme *otherwise;
};

/* N of a grid of this order; 0: its nodes hold one value. */
int ht_scheme_degree(const struct ht_scheme *scheme, int order);
/* That of single waves of equations. */
const struct ht_rounding *ht_scheme_rounding(const struct ht_scheme *scheme,
                                             const struct ht_equations *eq);
/* In the order of enum ht_scheme_name. The first is the default scheme, which titles omit. */
int ht_scheme_count(void);
const struct ht_scheme *ht_scheme_at(int index);
/* For titles: "" for the default scheme. */
const char *ht_scheme_mark(const struct ht_scheme *scheme);
/* As ht_stability_full, _cfl and _stages, of equations that have the form. */
int ht_scheme_full_stages(const struct ht_scheme *scheme, const struct ht_equations *eq, int order);
double ht_scheme_cfl(const struct ht_scheme *scheme, const struct ht_equations *eq, int order,
                     int stages);
int ht_scheme_least_stages(const struct ht_scheme *scheme, const struct ht_equations *eq, int order,
                           double cfl);
bool ht_scheme_steps(const struct ht_scheme *scheme, const struct ht_equations *eq);

/* Unused with one rank. */
struct ht_halo_choice {
    int depth; /* half steps per exchange; 0: 1 */
    enum ht_halo_precision precision;
    const char *transport; /* "auto", "peer", "staged"; NULL: auto */
};

struct ht_pair_faces;
/* What finite differences need beside a grid of order 0: one value per node. Constant along with
 * `uniform` of the problem where medium_degree < 0. */
struct ht_fd_problem {
    int order; /* in space, 2R; 0: the problem is for Hermite methods */
    /* A pair of groups of fields (struct ht_pair), in place of one field of second order. */
    enum ht_pair_kind pair;
    unsigned constant; /* of it: bit i: coefficient i is number[i] everywhere */
    bool fluid;        /* some C_rr is 0 somewhere */
    double number[HT_MAX_TERMS];
    bool undispersed;       /* sources and traces are transformed: resampler.c */
    bool density;           /* 1/rho varies */
    double inverse_density; /* else */
    /* The modulus at the primary nodes of x3 planes [first, last) (what 0), or 1/rho half a spacing
     * above them along axis what - 1: [node]. Of a pair coefficient number `what`, half a spacing
     * above the nodes along the axes of its parity; the last half point before a wall is the image
     * of the one before. NULL: uniform. */
    enum ht_err (*fill)(const void *medium, int what, int64_t first, int64_t last, double *out);
    const void *medium;
    bool wide;                         /* ghosts are a node deeper, as couplings need them */
    const struct ht_pair_faces *faces; /* couplings of a pair; NULL: none (src/fd/pair_faces.c) */
};

struct ht_duhamel;

void ht_pair_faces_destroy(struct ht_pair_faces *faces); /* NULL allowed */
/* Couplings of the test medium of a part of a problem, of the groups that have some there. */
HT_ERR ht_pair_faces_test(const struct ht_problem *part, const struct ht_pair_faces *whole,
                          struct ht_pair_faces **out);
/* The part of the points where a group of fields may be coupled; above a third: it is not. */
double ht_pair_faces_share(const struct ht_pair_faces *faces, int group);

/* The data of steps that do not depend on a device. What it points to must outlive the steppers. */
struct ht_problem {
    const struct ht_equations *eq;
    const struct ht_grid *grid;
    int medium_degree; /* -1 uniform, else that of medium_fill */
    int medium_coefs;  /* multi-indices per material; 0 if uniform */
    unsigned constant; /* bit m: all but the first coefficients of material m
                          are 0 everywhere */
    double uniform[HT_MAX_MATERIALS];
    /* As ht_medium_fill; NULL if uniform. */
    enum ht_err (*medium_fill)(const void *medium, enum ht_subgrid subgrid, int64_t first,
                               int64_t last, double *out);
    const void *medium;
    double dt;
    int stages;
    double amplification;           /* of rounding by its series, relative
                                       (src/solve/scale.c); 0: not known */
    const struct ht_scheme *scheme; /* ht_problem_set_scheme */
    unsigned stored[2];             /* field mask per grid; 0: all fields */
    int old_sign;                   /* as in ht_spec */
    unsigned early;                 /* as in ht_form */
    const struct ht_second_order *second;
    struct ht_halo_choice halo;
    struct ht_fd_problem fd;
    const struct ht_layers *layers;   /* of absorbing sides; NULL: none */
    const struct ht_shots *shots;     /* NULL: none */
    const struct ht_duhamel *duhamel; /* of Hermite methods; NULL: none */
};

/* Sets a problem's scheme and the members that follow from it and problem->eq, if these have the
 * form. Returns the result of `form`. */
const char *ht_problem_set_scheme(struct ht_problem *problem, const struct ht_scheme *scheme);
/* N, or the order in space. */
int ht_problem_order(const struct ht_problem *problem);
/* Half steps per exchange. */
int ht_halo_depth(const struct ht_problem *problem);
/* Of finite differences by a pair. */
void ht_problem_pair(const struct ht_problem *problem, struct ht_pair *out);
/* One field of second order as a pair, with coefficients as numbers of ht_fd_problem.fill: fluxes
 * where the density varies, else second differences. */
struct ht_pair ht_problem_second_order(const struct ht_problem *problem);
/* Coefficients of a pair that are numbers: in a uniform medium all, its materials. */
unsigned ht_problem_constant(const struct ht_problem *problem);
/* The window of a grid that a rank's buffers hold. */
struct ht_window ht_problem_window(const struct ht_problem *problem, enum ht_subgrid subgrid);
bool ht_problem_stores(const struct ht_problem *problem, enum ht_subgrid subgrid, int field);
/* Each field that a grid stores. */
#define HT_EACH_STORED(f, problem, subgrid) HT_EACH_BIT(f, ht_problem_fields(problem, subgrid))
unsigned ht_problem_fields(const struct ht_problem *problem, enum ht_subgrid subgrid); /* bits */
int ht_problem_stored(const struct ht_problem *problem, enum ht_subgrid subgrid);
/* The grid at whose nodes the values of a subgrid lie: finite differences keep increments at those
 * of the primary one. */
enum ht_subgrid ht_problem_nodes(const struct ht_problem *problem, enum ht_subgrid subgrid);
/* Format of the messages with planes of so many fields. */
struct ht_pack_format ht_problem_format(const struct ht_problem *problem,
                                        const struct ht_tuning *tuning, int fields);
/* The spec of the half step from a grid. fp64, trim and block of the tuning are used. */
struct ht_spec ht_problem_spec(const struct ht_problem *problem, const struct ht_tuning *tuning,
                               enum ht_subgrid from);
/* Finite differences in a medium that varies: *most is proven to be at least omega^2 of every wave,
 * and at most the largest sum of magnitudes of a row of the operator. Afterwards the counts of
 * `frame`, which problem->fd fills from (NULL: it does not), are those of all ranks, and later
 * fills are not counted. Collective; the same on any number of ranks. */
HT_ERR ht_fd_bound(const struct ht_problem *problem, struct ht_frame *frame, double *most);
/* The same of the staggered form of a first-order system. problem->fd.fill gives the coefficients
 * of `pair`, `what` their number, half a spacing up along the axes of their parity; NULL:
 * problem->uniform. Exact in uniform media, but on odd periodic axes. range: of each coefficient,
 * those of losses, too, what fill gives: least, most. */
HT_ERR ht_pair_bound(const struct ht_problem *problem, const struct ht_pair *pair,
                     double (*range)[2], double *most);
/* The kind of medium that kernels are compiled for. A problem's own law is that of its medium; a
 * region may have a simpler one, where its medium is. */
struct ht_law {
    int medium_degree;                /* -1: uniform; 0: values at the nodes; or the problem's */
    double uniform[HT_MAX_MATERIALS]; /* if uniform */
    /* In absorbing layers, else NULL and 0: equations with memory variables, and their stages. */
    const struct ht_equations *eq;
    int stages;
};
/* The problem for whose kernels a law stands; not for stepping. */
struct ht_problem ht_problem_with_law(const struct ht_problem *problem, const struct ht_law *law);

/* Absorbing layers of Hermite methods (docs/developers/absorbing.md): the equations of
 * src/pde/terms.c, with profiles that are constant about each node, or polynomials in xi there.
 *
 * A target is in the layer of an axis if it is as deep as its inner face or deeper. Memory
 * variables of an axis exist there only; elsewhere they are zero. The layers divide the grid into
 * boxes: the interior, faces, edges and corners, each with the memory variables of its axes. */

/* Axes with memory variables, bit k for axis k; 0 if layers is NULL or a sponge. */
unsigned ht_absorbing_axes(const struct ht_layers *layers);
/* The position of a node along an axis, in cells from the lower end. */
double ht_absorbing_at(enum ht_subgrid subgrid, int64_t node);
/* The side in whose layer a position is, 0 or 1; -1: in none. */
int ht_absorbing_side(const struct ht_layers *layers, int axis, double at);
/* The profiles of enum ht_layer_profile about a position, 1/time: their coefficients in xi, those
 * above layers->profile_degree 0; 0 outside. */
void ht_absorbing_profiles(const struct ht_layers *layers, int axis, double at,
                           double out[HT_LAYER_PROFILES][HT_PROFILE_DEGREE + 1]);

/* ---- sponge ---- */
/* A half step onto a grid ends with a product of its polynomials with those of exp(-rate sigma
 * dt/2), once for each axis with layers, and one that adds begins with it, too:
 *     dst(t + dt/2) = G (old_sign G dst(t - dt/2) + 2 ...).
 * rate: 1, or where the grids store different fields 2 on the primary grid and 0 on the dual one
 * (docs/developers/absorbing.md); 0 without a sponge. */
double ht_sponge_rate(const struct ht_problem *problem, enum ht_subgrid subgrid);
bool ht_sponge_damps(const struct ht_problem *problem, enum ht_subgrid subgrid, int axis);
/* The N+1 Taylor coefficients in xi of one axis's factor of G at a node. Those of odd degree are
 * zero on the wall, as in its mirror image, so that the parities of fields there stay. */
void ht_sponge_jets(const struct ht_problem *problem, enum ht_subgrid subgrid, int axis,
                    int64_t node, double *out);

/* ---- src/plan/plan_layers.c ---- */
/* The part of a plane wave of a frequency that comes back from the layer of a side, by the
 * equations: its amplitude, at an angle with this cosine. */
double ht_layer_returned(const struct ht_problem *problem, int axis, int side, double frequency,
                         double cosine);
/* What the layer of a side reflects of a plane Ricker wavelet at an angle with this cosine, by the
 * equations: the largest value, in dB. So many of the wavelengths of its peak frequency make up the
 * layer's thickness. */
double ht_sponge_reflection(const struct ht_problem *problem, int axis, int side,
                            double wavelengths, double cosine);

/* ---- where memory variables are ---- */
/* The part of a rank's window that holds those of an axis and side: the layer, its ghosts and, on
 * the dual grid, the nodes before its inner face, where they are zero. No nodes: the rank has no
 * part of it. Node (m1, m2, m3) of the rank's window is node (m1, m2, m3) - first of this one. */
struct ht_window ht_absorbing_window(const struct ht_problem *problem, enum ht_subgrid subgrid,
                                     int axis, int side, int64_t first[3]);

/* The spectral radius of a half step's sums of magnitudes, of Hermite methods, in a uniform medium
 * with the largest speed along each axis; 0 where it is harmless: below N = 5. The unit roundoff
 * times this is the noise of ht_spec. */
double ht_series_amplification(const struct ht_problem *problem, const double speed[3]);

/* Whether the rounding of single precision grows with problem->amplification. */
bool ht_series_grows(const struct ht_problem *problem);

/* A part of a problem as a separate problem of one rank: a layer of cells for a scheme's start, the
 * few cells of a self-check, the box of a test problem. Its sides: */
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
