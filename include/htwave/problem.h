/* The data of a half step that do not depend on a device: equations, grid, medium, time step,
 * scheme.
 */
#ifndef HTWAVE_PROBLEM_H
#define HTWAVE_PROBLEM_H

#include "htwave/fit.h"
#include "htwave/kernel.h"
#include "htwave/layers.h"
#include "htwave/scheme.h"
#include "htwave/shots.h"

/* How slabs exchange planes; unused with one rank. */
struct ht_halo_choice {
    int depth; /* half steps per exchange; 0: 1 */
    enum ht_halo_precision precision;
    const char *transport; /* "auto", "peer", "staged"; NULL: auto */
};

/* What finite differences need beside a grid of order 0: one value per node. Constant along with
 * `uniform` of the problem where medium_degree < 0. */
struct ht_fd_problem {
    int order;              /* in space, 2R; 0: the problem is for Hermite methods */
    bool undispersed;       /* sources and traces are transformed: resampler_whole.c */
    bool density;           /* 1/rho varies */
    double inverse_density; /* else */
    /* Of absorbing layers, of Hermite methods, too, which take "auto" as well
     * (src/hermite/layer_kernels.h). */
    enum ht_organisation organisation;
    /* The modulus at the primary nodes of x3 planes [first, last) (what 0), or 1/rho half a spacing
     * above them along axis what - 1: [node]. NULL:
     * uniform. */
    enum ht_err (*fill)(const void *medium, int what, int64_t first, int64_t last, double *out);
    const void *medium;
};

struct ht_duhamel;

/* A problem; the objects it points to must outlive the steppers. */
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
                                       (src/solve/amplification.c); 0: not known */
    const struct ht_scheme *scheme; /* ht_problem_set_scheme */
    unsigned stored[2];             /* field mask per grid; 0: all fields */
    int old_sign;                   /* as in ht_spec */
    struct ht_halo_choice halo;
    struct ht_fd_problem fd;
    const struct ht_layers *layers;   /* of absorbing sides; NULL: none */
    const struct ht_shots *shots;     /* NULL: none */
    const struct ht_duhamel *duhamel; /* of Hermite methods; NULL: none */
};

/* Sets a problem's scheme and the members that follow from it and problem->eq, if these have the
 * form. Returns the result of `form`. */
const char *ht_problem_set_scheme(struct ht_problem *problem, const struct ht_scheme *scheme);
/* Half steps per exchange. */
int ht_halo_depth(const struct ht_problem *problem);
/* The window of a grid that a rank's buffers hold. */
struct ht_window ht_problem_window(const struct ht_problem *problem, enum ht_subgrid subgrid);
/* Whether a field is stored on a grid; the number of fields stored there. */
bool ht_problem_stores(const struct ht_problem *problem, enum ht_subgrid subgrid, int field);
int ht_problem_stored(const struct ht_problem *problem, enum ht_subgrid subgrid);
/* The grid at whose nodes the values of a subgrid lie: finite differences keep increments at those
 * of the primary one. */
enum ht_subgrid ht_problem_nodes(const struct ht_problem *problem, enum ht_subgrid subgrid);
/* Format of the messages with a grid's planes. */
struct ht_pack_format ht_problem_format(const struct ht_problem *problem,
                                        const struct ht_tuning *tuning, enum ht_subgrid subgrid);
/* The spec of the half step from a grid. fp64, trim and block of the tuning are used. */
struct ht_spec ht_problem_spec(const struct ht_problem *problem, const struct ht_tuning *tuning,
                               enum ht_subgrid from);
/* Finite differences in a medium that varies: *most is proven to be at least omega^2 of every wave,
 * and at most the largest sum of magnitudes of a row of the operator. Afterwards the counts of
 * `fit`, which problem->fd fills from (NULL: it does not), are those of all ranks, and later fills
 * are not counted. Collective; the same on any number of ranks. */
HT_CHECKED enum ht_err ht_fd_bound(const struct ht_problem *problem, struct ht_fit *fit,
                                   double *most);
/* The problem with time step -dt, for the kernels of backward half steps. */
struct ht_problem ht_problem_reversed(const struct ht_problem *problem);

/* The kind of medium that kernels are compiled for. A problem's own law is that of its medium; a
 * region may have a simpler one, where its medium is. */
struct ht_law {
    int medium_degree;                /* -1: uniform; 0: values at the nodes; or the problem's
                                       */
    double uniform[HT_MAX_MATERIALS]; /* if uniform */
    /* In absorbing layers, else NULL and 0: the equations with memory variables, and their stages.
     */
    const struct ht_equations *eq;
    int stages;
};
/* The problem for whose kernels a law stands; not for stepping. */
struct ht_problem ht_problem_with_law(const struct ht_problem *problem, const struct ht_law *law);

#endif
