/* The time-stepping scheme: problem, steppers (device and oracle), plan.
 *
 * One time step is a half step from the primary to the dual grid and one
 * back. A stepper owns the coefficients of both grids.
 */
#ifndef HTWAVE_METHOD_H
#define HTWAVE_METHOD_H

#include "htwave/kernel.h"
#include "htwave/scheme.h"
#include "htwave/solution.h"

/* How slabs exchange planes; without others none of it matters. */
struct ht_halo_choice {
    int depth; /* half steps per exchange; 0: 1 */
    enum ht_halo_precision precision;
    const char *transport; /* "auto", "peer", "shared", "staged"; NULL: auto */
};

/* What a half step needs to know; the parts must outlive the steppers. */
struct ht_problem {
    const struct ht_equations *eq;
    const struct ht_grid *grid;
    int medium_degree; /* -1 uniform, else that of medium_fill */
    int medium_coefs;  /* multi-indices per material; 0 when uniform */
    double uniform[HT_MAX_MATERIALS];
    /* As ht_medium_fill; NULL when uniform. */
    enum ht_err (*medium_fill)(const void *medium, enum ht_mesh mesh,
                               int64_t first, int64_t last, double *out);
    const void *medium;
    double dt;
    int stages;
    const struct ht_scheme *scheme; /* NULL: by `keep` */
    unsigned stored[2];             /* per mesh, a bit per field; 0: all */
    int keep;                       /* as in ht_spec */
    struct ht_halo_choice halo;
};

/* Is a field stored on a mesh, and how many are? */
bool ht_problem_stores(const struct ht_problem *problem, enum ht_mesh mesh,
                       int field);
int ht_problem_stored(const struct ht_problem *problem, enum ht_mesh mesh);

/* ---- kernels: the compiled half steps of a problem on a device ---- */
/* [0] from the primary grid, [1] from the dual one; where these do not differ
 * both are the same step. */
struct ht_kernels {
    const struct ht_variant *variant;
    struct ht_spec spec[2];
    struct ht_shape shape[2];
    struct ht_step *step[2];     /* NULL: not compiled */
    struct ht_ghosts *ghosts[2]; /* [mesh]: as the source of a half step */
    struct ht_reduction *reduction;
    struct ht_packer *packer[2]; /* [mesh]; NULL: the grid is not cut */
};
/* How a mesh's planes travel between slabs. */
struct ht_pack_format ht_problem_format(const struct ht_problem *problem,
                                        const struct ht_tuning *tuning,
                                        enum ht_mesh mesh);
/* What the half step from a mesh must compute. Of the tuning it takes fp64,
 * trim and block. */
struct ht_spec ht_problem_spec(const struct ht_problem *problem,
                               const struct ht_tuning *tuning,
                               enum ht_mesh from);
/* All but the compiled steps; fails as ht_variant_shape does. The problem's
 * equations must outlive the kernels. */
HT_CHECKED enum ht_err ht_kernels_plan(const struct ht_problem *problem,
                                       const struct ht_device_info *info,
                                       const struct ht_tuning *tuning,
                                       struct ht_kernels *out);
/* HT_ERR_DEVICE where the variant cannot count the nodes of this rank's slab: a
 * part of ht_kernels_plan, for slabs that were cut again. */
HT_CHECKED enum ht_err ht_kernels_check_nodes(const struct ht_problem *problem,
                                              const struct ht_variant *variant);
/* cache: directory of compiled programs, NULL: none. */
HT_CHECKED enum ht_err ht_kernels_create(const struct ht_problem *problem,
                                         struct ht_device *device,
                                         const struct ht_tuning *tuning,
                                         const char *cache,
                                         struct ht_kernels *out);
void ht_kernels_destroy(struct ht_kernels *kernels); /* NULL allowed */
/* Device seconds since the last call: of the first kernel of a variant and the
 * ghosts, of the second; all. */
void ht_kernels_add_seconds(struct ht_kernels *kernels, double seconds[2]);
double ht_kernels_seconds(struct ht_kernels *kernels);
bool ht_kernels_cached(const struct ht_kernels *kernels);

/* ---- steppers ---- */
/* The square of one coefficient (index as in ht_grid_coefs) of a field, over
 * M[material] where material >= 0. With weights the squares of values at some
 * points about the node, linear in all of its coefficients. */
struct ht_quantity {
    int field, coef, material;
    const double *weights; /* [point][coefficient]; NULL: coef alone */
    int points;            /* at most HT_REDUCE_POINTS of cl/reduce_args.h */
};

/* Ways of messages between slabs, the fastest first; NULL behind the last. */
const char *ht_transport_name(int i);
/* What exchanges between slabs took since the stepper was made, for this rank.
 */
struct ht_traffic {
    /* downwards and upwards; NULL: no neighbour is there */
    const char *transport[2];
    int64_t half_steps, exchanges;
    int64_t messages, bytes; /* sent */
    /* Device seconds of kernels: ghosts, which are counted in interior, too;
     * pack: into messages and out of them. */
    double interior_s, boundary_s, ghosts_s, pack_s;
};

struct ht_stepper;
/* Of a grid cut into slabs a stepper holds the planes that its rank owns (of
 * the oracle: there is none); plane numbers are those of the whole grid. */
struct ht_stepper_ops {
    /* Coefficients [field][i][node of planes first..last) of a mesh; those of
     * fields that are not stored there are ignored. Where the grid is cut, all
     * ranks put planes of a mesh between two half steps or none does. */
    enum ht_err (*put)(void *self, enum ht_mesh mesh, int64_t first,
                       int64_t last, const double *coefs);
    /* Coefficients i < count of one stored field: [i][node of those planes].
     */
    enum ht_err (*get)(void *self, enum ht_mesh mesh, int field, int count,
                       int64_t first, int64_t last, double *out);
    /* Measures `count` quantities over the own planes of a mesh, out[i] of
     * what[i], first as a node of the whole grid: sums are integrals, with the
     * cell volume as weight, half of it at each wall that a node lies on. Moves
     * no field. */
    enum ht_err (*measure)(void *self, enum ht_mesh mesh, int count,
                           const struct ht_quantity *what,
                           struct ht_measure *out);
    /* From mesh `from` to the other one; may return before it is done.
     * Collective where the grid is cut. */
    enum ht_err (*half_step)(void *self, enum ht_mesh from);
    /* The same with -dt. By a scheme that is reversible it undoes a half step
     * from the same grid, in a uniform medium and but for rounding. */
    enum ht_err (*half_step_back)(void *self, enum ht_mesh from);
    /* Waits for all of it; collective where the grid is cut. */
    enum ht_err (*finish)(void *self);
    /* Where the grid is cut, nothing has happened since `finish`, or the ranks
     * have agreed on a failure. */
    void (*destroy)(void *self);
    /* After finish; NULL: a stepper that knows no slabs. */
    void (*traffic)(void *self, struct ht_traffic *out);
};
struct ht_stepper {
    const struct ht_stepper_ops *ops;
    void *self;
};
void ht_stepper_destroy(struct ht_stepper *stepper);
/* A time step backwards. A scheme of two levels takes the half steps of a time
 * step back in reverse order, each from the grid that it was taken from; one of
 * one level only has the primary grid's values to begin with. */
HT_CHECKED enum ht_err ht_stepper_step_back(const struct ht_stepper *stepper,
                                            const struct ht_scheme *scheme);

/* The plain serial reference: double precision, straight from the formulas,
 * shares only tables with the kernels. */
HT_CHECKED enum ht_err ht_oracle_create(const struct ht_problem *problem,
                                        struct ht_stepper *out);
/* Turns the oracle to absolute values throughout: |H|, |coef|, |M| applied to
 * |u|. Started from the same data, its result bounds the rounding error of
 * any ordering of a half step: n eps times it, with n = ht_oracle_roundings.
 */
void ht_oracle_absolute(struct ht_stepper *oracle);
double ht_oracle_roundings(const struct ht_problem *problem);

/* The operation `measure` on plain arrays, in double precision: u [i][node] of
 * the mesh, medium one value per node (NULL: the material is uniform). */
struct ht_measure ht_measure_plain(const struct ht_problem *problem,
                                   enum ht_mesh mesh,
                                   const struct ht_quantity *what,
                                   const double *u, const double *medium);
/* What such a sum over weights of 1 is multiplied by: the cell volume, over
 * the material where that is uniform. */
double ht_measure_factor(const struct ht_problem *problem,
                         const struct ht_quantity *what);
/* Nodes of this end of an axis, along x3 of the own planes, lie on a wall and
 * weigh half. */
bool ht_measure_half(const struct ht_grid *grid, enum ht_mesh mesh, int axis,
                     int side);

/* On a device; the kernels must fit the problem's equations, order, degree and
 * stored fields, those of an operator variant also its stages and scale; they
 * outlive the stepper. */
HT_CHECKED enum ht_err ht_stepper_create(const struct ht_problem *problem,
                                         struct ht_device *device,
                                         const struct ht_kernels *kernels,
                                         struct ht_stepper *out);
/* A problem with the time step -dt, for the kernels of half steps back. */
struct ht_problem ht_problem_reversed(const struct ht_problem *problem);
/* A region: the targets of a box of cells, and the kernels that compute them.
 * The targets are the dual nodes in these cells and the primary nodes at their
 * lower ends, of the last cells along an axis also those on the upper wall. */
struct ht_region {
    struct ht_box cells; /* of the whole grid */
    const struct ht_kernels *kernels;
    /* For half steps back: of the same variant, for the reversed problem. NULL:
     * the same kernels, or no half steps back where the operator is part of
     * their program (`pack` of the variant). */
    const struct ht_kernels *back;
};
/* The same with a grid in several regions, which are disjoint and leave out no
 * cell; all ranks name the same ones. Their kernels must agree in precision,
 * layout and order. */
HT_CHECKED enum ht_err ht_stepper_create_regions(
    const struct ht_problem *problem, struct ht_device *device, int regions,
    const struct ht_region *region, struct ht_stepper *out);

/* Device bytes that ht_stepper_create takes for a problem, on this rank. */
struct ht_budget {
    int64_t state, medium, interpolants, messages, total;
    int64_t largest_buffer;
    int64_t poly_planes; /* planes of interpolants kept at a time */
};
struct ht_budget ht_stepper_budget(const struct ht_problem *problem,
                                   const struct ht_tuning *tuning,
                                   const struct ht_device_info *info);

/* One half step from each grid, of random data, by compiled kernels and by the
 * oracle; *worst: the largest difference over the bound that rounding allows
 * (<= 1 when all is well, infinite when either gives NaN). Takes the memory
 * and time of the oracle: for small problems. */
HT_CHECKED enum ht_err ht_verify_kernels(const struct ht_problem *problem,
                                         struct ht_device *device,
                                         const struct ht_kernels *kernels,
                                         double *worst);
/* A smooth positive medium for problems that only test kernels, of their
 * medium_degree; context: the struct ht_problem. For medium_fill. */
HT_CHECKED enum ht_err ht_test_medium(const void *context, enum ht_mesh mesh,
                                      int64_t first, int64_t last, double *out);

/* Runs a few cells of the compiled kernels, with this problem's walls, sizes
 * and kind of medium, against the oracle. HT_ERR_DEVICE when they differ by
 * more than rounding explains; *worst: largest difference over its bound. */
HT_CHECKED enum ht_err ht_selfcheck(const struct ht_problem *problem,
                                    struct ht_device *device,
                                    const struct ht_kernels *kernels,
                                    double *worst);

/* ---- plan: everything that follows from the parameters alone ---- */
/* Of the relative L2 error at the end (src/method/expect.c): the likely value,
 * and what it lies between. All 0: not known. Where the medium varies: in a
 * uniform one of its slowest speed; jumps: it may jump, and what the jumps do
 * is not in it; limited: what its polynomials leave out is of lower order than
 * the scheme's error, and not in it. */
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
    struct ht_problem problem;
    int64_t steps;
    double cfl;                  /* of the step taken */
    double cfl_limit;            /* largest stable one for the stages */
    struct ht_expected expected; /* error at the end */
    double cells_per_wavelength; /* 0: not known */
    /* These outputs are at the steps nearest to their times, not on them. */
    bool snapshots_off, pictures_off;
};
/* Checks all that can be checked without a device. params and comm (NULL:
 * alone) must outlive the plan. Collective, and ends in agreement: where one
 * rank fails, all do, with one message. The slabs are equal. */
HT_CHECKED enum ht_err ht_plan_create(const struct ht_params *params,
                                      struct ht_comm *comm,
                                      struct ht_plan **out);
/* For counting, not for stepping: alone, the medium as by ht_medium_sample.
 * cfl, dt and steps are then as good as its speeds are. */
HT_CHECKED enum ht_err ht_plan_sketch(const struct ht_params *params,
                                      struct ht_plan **out);
/* Cuts the slabs in proportion to weights[rank], positive and the same on all
 * ranks; before any stepper is made. Refuses halos deeper than a slab, on all
 * ranks. No communication. */
HT_CHECKED enum ht_err ht_plan_cut(struct ht_plan *plan, const double *weights);
void ht_plan_destroy(struct ht_plan *plan);

/* ---- measures of a state on the primary grid ---- */
/* Nodal values are those of the own planes: ht_grid_own_total of them, the
 * first own plane first. Where a function is collective all ranks get the same
 * numbers; sums depend in their last digits on the number of ranks. A rank that
 * fails alone must enter ht_comm_agree. */

/* nodal[field][node], as output and error take it; NULL for fields that are
 * not stored there. */
HT_CHECKED enum ht_err ht_nodal_read(const struct ht_plan *plan,
                                     const struct ht_stepper *stepper,
                                     double *const *nodal);
struct ht_state {
    double energy;  /* of the fields stored there: docs/method.md 9 */
    double content; /* the same from the nodes' Taylor polynomials at h/4 to
                       either side, of all grids that the scheme keeps */
    double slope;   /* that of gradients, if fields changed by their own size
                       from node to node */
    double largest[HT_MAX_FIELDS]; /* |u| at the nodes */
};
/* Looks at the coefficients where they are, without reading them. One that is
 * not finite: HT_ERR_NOT_FINITE naming field, place and time, the same on all
 * ranks. Collective. */
HT_CHECKED enum ht_err ht_state_measure(const struct ht_plan *plan,
                                        const struct ht_stepper *stepper,
                                        double time, struct ht_state *out);
/* The quadratic form that the plan's scheme conserves (docs/method.md, section
 * 13), from all coefficients of both grids and a half step whose result is
 * undone: the state is left as it was. Zero for data that do not vary along all
 * axes. conserves: the plan has one, of a size that one host can bear, whatever
 * the number of ranks. Collective. */
bool ht_conserves_energy(const struct ht_plan *plan);
HT_CHECKED enum ht_err ht_conserved_energy(const struct ht_plan *plan,
                                           const struct ht_stepper *stepper,
                                           double *energy);
/* What a run's states have shown so far; begins as zeros. */
struct ht_energy_watch {
    double first_energy, first_content; /* 0: none above 0 yet */
    double energy, content;             /* the lowest */
    double slope;                       /* the largest */
    double rise; /* by a scheme that dissipates: the largest above the lowest
                    before it, relative, where the energy is known well enough
                  */
    bool grows;  /* it rose by more than errors of the measures: 1 %, or 20 %
                    where a state was not resolved */
    bool rough;  /* a state so far was not resolved by the grid */
    bool began_rough;
};
/* Adds the state at a time. HT_ERR_NOT_FINITE when the energy of a conserving
 * system has doubled since it was lowest, or grown a hundredfold or 10^4-fold
 * where it is known roughly only: an instability that has not overflowed yet.
 * No communication: the numbers are the same on all ranks. */
HT_CHECKED enum ht_err ht_energy_watch(const struct ht_plan *plan, double time,
                                       const struct ht_state *state,
                                       struct ht_energy_watch *watch);
/* Why a run of this plan may grow, in words. */
const char *ht_growth_cause(const struct ht_plan *plan);
/* Relative L2 error of the nodal values of all fields stored on the primary
 * grid at a time for which the solution is known. Collective. */
HT_CHECKED enum ht_err ht_nodal_error(const struct ht_plan *plan,
                                      const double *const *nodal, double time,
                                      double *error);
/* Sets the stepper's own planes to the solution at time 0; by a scheme of two
 * levels the dual grid to that at -dt/2: where it is known only at 0, by a half
 * step back by the scheme's starter from all fields on the primary grid, some
 * x3 planes at a time, on the device (NULL: by the oracle) with kernels of the
 * tuning and the cache's directory. No communication: what it needs of other
 * slabs it computes. */
HT_CHECKED enum ht_err ht_start(const struct ht_plan *plan,
                                struct ht_device *device,
                                const struct ht_tuning *tuning,
                                const char *cache,
                                const struct ht_stepper *stepper);
/* Device bytes that ht_start needs beside the stepper. */
int64_t ht_start_bytes(const struct ht_plan *plan,
                       const struct ht_tuning *tuning,
                       const struct ht_device_info *info);

#endif
