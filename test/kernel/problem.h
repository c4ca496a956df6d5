/* Problems by hand: boxes of few cells of unlike sizes, media of random values or of numbers. */
#pragma once

#include "must.h"

#include "htwave/stepper.h"

/* wall: factors of the axes that exist; NULL: all are periodic. */
static inline struct ht_grid hand_grid(int dims, int order, const int64_t cells[3],
                                       const int wall[3][2]) {
    struct ht_grid grid = {.dims = dims, .order = order};
    for (int k = 0; k < 3; k++) {
        grid.cells[k] = k < dims ? cells[k] : 1;
        grid.h[k] = k < dims ? 0.5 + 0.25 * k : 1;
        grid.upper[k] = grid.h[k] * (double)grid.cells[k];
        for (int side = 0; side < 2 && k < dims && wall != NULL; side++)
            grid.wall[k][side] = wall[k][side];
    }
    return grid;
}

/* degree: of the medium, -1: uniform. Where it varies problem.medium is to be its own address. */
static inline struct ht_problem hand_problem(const struct ht_equations *eq,
                                             const struct ht_grid *grid, int scheme, int degree,
                                             double dt, int stages) {
    struct ht_problem p = {
        .eq = eq, .grid = grid, .medium_degree = degree, .dt = dt, .stages = stages};
    if (ht_problem_set_scheme(&p, ht_scheme_at(scheme)) != NULL)
        TEST_CHECK(false, "%s has no such scheme", eq->system->name);
    for (int m = 0; m < HT_MAX_MATERIALS; m++) p.uniform[m] = 0.75 + 0.125 * m;
    if (degree < 0) return p;
    p.medium_fill = ht_test_medium;
    p.medium_coefs = 1;
    for (int k = 1; k <= grid->dims; k++) p.medium_coefs = p.medium_coefs * (degree + k) / k;
    return p;
}

/* Judges that the kernels of a problem differ from the oracle by no more than rounding explains. */
HT_PRINTF(4, 5)
static inline void judge_kernels(const struct ht_problem *problem, struct ht_device *device,
                                 const struct ht_tuning *tuning, const char *format, ...) {
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    double worst = NAN;
    TEST_TEXT(name, 160, format);
    enum ht_err err = ht_kernels_create(problem, device, tuning, &kernels);
    if (err == HT_OK) err = ht_verify_kernels(problem, device, &kernels, &worst);
    TEST_BELOW(err ? (double)NAN : worst, 1.0, "%s: over what rounding explains%s%s", name,
               err ? ": " : "", test_said(err));
}
