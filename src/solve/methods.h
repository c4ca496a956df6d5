/* What the schemes of one discretisation share: how a problem is compiled, stored, stepped, started
 * and judged. Public functions look it up by the problem's scheme. One row per discretisation. */
#pragma once

#include "htwave/energy.h"
#include "htwave/schedule.h"

/* X(base, type, function, arguments, problem, call) for each function of a row that the public one
 * of this name after ht_ asks for; name: of the row, base: of the one whose function it takes where
 * it has none itself. */
#define HT_EACH_ASKED(X, name, base)                                                               \
    X(base, enum ht_err, kernels_create,                                                           \
      (const struct ht_problem *problem, struct ht_device *device, const struct ht_tuning *tuning, \
       struct ht_kernels *out),                                                                    \
      problem, (problem, device, tuning, out))                                                     \
    X(base, enum ht_err, stepper_create,                                                           \
      (const struct ht_problem *problem, struct ht_device *device,                                 \
       const struct ht_kernels *kernels, struct ht_stepper *out),                                  \
      problem, (problem, device, kernels, out))                                                    \
    X(base, struct ht_budget, stepper_budget,                                                      \
      (const struct ht_problem *problem, const struct ht_tuning *tuning,                           \
       const struct ht_device_info *info),                                                         \
      problem, (problem, tuning, info))                                                            \
    X(base, enum ht_err, oracle_create,                                                            \
      (const struct ht_problem *problem, struct ht_stepper *out), problem, (problem, out))         \
    X(name, double, oracle_roundings, (const struct ht_problem *problem), problem, (problem))      \
    X(name, enum ht_err, start,                                                                    \
      (const struct ht_plan *plan, struct ht_device *device, const struct ht_tuning *tuning,       \
       const struct ht_stepper *stepper),                                                          \
      &plan->problem, (plan, device, tuning, stepper))                                             \
    X(name, enum ht_err, state_measure,                                                            \
      (const struct ht_plan *plan, const struct ht_stepper *stepper, double time,                  \
       struct ht_state *out),                                                                      \
      &plan->problem, (plan, stepper, time, out))                                                  \
    X(name, const char *, growth_cause, (const struct ht_plan *plan), &plan->problem, (plan))

/* The same of all functions of a row; others do what the public one of their name does. */
#define HT_EACH_METHOD(X, name, base)                                                              \
    HT_EACH_ASKED(X, name, base)                                                                   \
    X(base, void, schedule_passes, (const struct ht_problem *problem, struct ht_passes *out), , )  \
    /* A small problem of the same kind, for a self-check. */                                      \
    X(base, void, shrink,                                                                          \
      (const struct ht_problem *problem, const struct ht_variant *variant, struct ht_part *out),   \
      , )                                                                                          \
    /* Of a sampler at most, but for precision, layout and slots. */                               \
    X(base, void, sampler_shape, (const struct ht_plan *plan, struct ht_rows_shape *out), , )      \
    X(base, enum ht_err, sampler_list, (const struct ht_plan *plan, struct ht_sampler *out), , )   \
    /* Adds to *out. */                                                                            \
    X(base, enum ht_err, shot_bytes,                                                               \
      (const struct ht_plan *plan, bool fp64, struct ht_shot_bytes *out), , )                      \
    /* Parts of ht_plan_create. Scans the medium, or fits it; plan->rate. Collective. */           \
    X(name, enum ht_err, plan_medium, (struct ht_plan * plan), , )                                 \
    /* Refuses slabs that are too thin; rank r has cells [start[r], start[r + 1]) along x3. */     \
    X(name, enum ht_err, plan_slabs,                                                               \
      (const struct ht_plan *plan, const int64_t *start, int64_t thinnest), , )                    \
    /* Sets plan->layers and problem.layers where sides absorb, once the medium's speeds are       \
     * known; refuses what the scheme's layers do not have. */                                     \
    X(name, enum ht_err, plan_layers, (struct ht_plan * plan), , )                                 \
    X(base, enum ht_err, plan_shots, (struct ht_plan * plan), , )                                  \
    /* The most stages, the largest stable cfl of some. */                                         \
    X(name, int, plan_stages, (const struct ht_plan *plan), , )                                    \
    X(name, double, plan_limit, (const struct ht_plan *plan, int stages), , )                      \
    /* Of one wave with the wavenumbers k where the medium is slowest: its relative error at the   \
     * end by the scheme; of differences in a medium that varies an upper bound in its smooth      \
     * parts. */                                                                                   \
    X(base, enum ht_err, wave_error, (const struct ht_plan *plan, const double k[3], double *out), \
      , )

/* A type and a list of parameters cannot stand in parentheses. NOLINTNEXTLINE */
#define HT_METHOD_MEMBER(name, type, what, arguments, ...) type(*what) arguments;
struct ht_method {
    HT_EACH_METHOD(HT_METHOD_MEMBER, , )
};

#define HT_METHOD_FUNCTION(name, type, what, arguments, ...) type ht_##name##_##what arguments;
HT_EACH_METHOD(HT_METHOD_FUNCTION, hermite, hermite)
HT_EACH_METHOD(HT_METHOD_FUNCTION, differences, differences)
/* By a pair of groups of fields. */
HT_EACH_METHOD(HT_METHOD_FUNCTION, staggered, differences)
extern const struct ht_method ht_method_hermite, ht_method_differences, ht_method_staggered;

/* What their schemes conserve. */
extern const struct ht_invariant ht_leapfrog_energy, ht_fd_energy;

#define HT_METHOD_POINTER(name, type, what, arguments, ...) .what = ht_##name##_##what,
#define HT_METHOD_ROW(name, base) \
    { HT_EACH_METHOD(HT_METHOD_POINTER, name, base) }

/* ---- measure.c ---- */
/* Own planes, at least one, whose coefficients of all fields are so many values at most. */
int64_t ht_plan_chunk(const struct ht_plan *plan, enum ht_subgrid subgrid, int64_t values);
/* Fields whose values lie at the same places, and the solution there: value m of node m of the
 * primary grid. They are those at the step's time, or `later`. */
struct ht_place {
    struct ht_solution *solution;
    unsigned fields;
    double later;
    bool borrowed; /* the solution is the plan's */
    struct ht_grid grid;
    struct ht_medium medium;
};
struct ht_places {
    int count;
    struct ht_place place[8];
};
/* HT_ENDED(ht_places_end) struct ht_places places = {0}: it stays where it is. */
HT_ERR ht_places_find(const struct ht_plan *plan, struct ht_places *out);
void ht_places_end(struct ht_places *places);

/* ---- oracle.c: polynomials of cells, [j3][j2][j1] ---- */
struct ht_cell {
    int n[3], t[3];      /* N+1 and 2N+2 up to axis dims, else 1 */
    int64_t coefs, cube; /* products of n and of t */
};
struct ht_cell ht_cell_make(const struct ht_grid *grid);
/* The data of a field at the corners of a cell from node `lower` on, which may lie behind walls or
 * the periodic seam: r = side (N+1) + derivative along each axis, [r3][r2][r1], numbers `apart`.
 * odd: the field's parity.
 * u: [i][node], so many nodes, of the x3 planes `own`; then may follow one of a neighbour. */
void ht_cell_corners(const struct ht_grid *grid, enum ht_subgrid from, unsigned odd,
                     const int64_t lower[3], struct ht_range own, int64_t nodes, const double *u,
                     int64_t apart, double *out);
/* out += M x, cut at degree 2N+1 per axis, or its transpose. M: the polynomial of `count`
 * coefficients `apart` of monomials by their multi-indices (NULL: 1 alone). */
void ht_cell_multiply(const struct ht_cell *cell, int count, const int (*index)[3],
                      const double *value, int64_t apart, bool transposed, const double *x,
                      double *out);
/* out += factor D x, D of a term, in cells, or its transpose. */
void ht_cell_differentiate(const struct ht_cell *cell, const struct ht_term *term, double factor,
                           bool transposed, const double *x, double *out);

/* ---- fd_layers.c, for the self-check ---- */
/* Numbers in each of the memories of absorbing layers, of half points and of nodes. 0: none. */
enum { HT_FD_MEMORIES = 2 };
int64_t ht_fd_memory_numbers(const struct ht_stepper *stepper);
HT_ERR ht_fd_memory_move(const struct ht_stepper *stepper, int which, bool put, double *values);

/* What a side's matched layer sends back of the amplitude of a plane wave that comes at an angle
 * with this cosine (fd_layers.c); 1: not known. */
double ht_fd_layer_returned(const struct ht_problem *problem, int axis, int side, double frequency,
                            double cosine);

/* Is a node of a plane of the primary grid on a wall that holds u = 0 (fd_run.c)? Data that do
 * not meet it would stay. */
bool ht_fd_held(const struct ht_grid *grid, int64_t m3, int64_t node);
