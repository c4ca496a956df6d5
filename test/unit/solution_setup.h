/* What the tests of initial data share: a grid, a uniform medium and data as a run would have them,
 * made from a short request. */
#pragma once

#include "errors.h"
#include "must.h"
#include "options.h"

#include "htwave/medium.h"

/* A grid, a uniform medium and data, as a run would have them. */
struct setup {
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_medium medium;
    struct ht_params *params;
    struct ht_solution *solution;
    enum ht_err err;
};

/* What a test asks for; walls: two letters for each axis, p(eriodic), r(igid), f(ree): "rr pp rf",
 * "": periodic; options: "key=value; key=value". */
struct request {
    const char *system;
    int dims, order;
    int64_t cells[3];
    const char *walls;
    char options[400];
};

HT_PRINTF(8, 9)
static inline struct request ask(const char *system, int dims, int order, int64_t n1, int64_t n2,
                                 int64_t n3, const char *walls, const char *format, ...) {
    struct request out = {system, dims, order, {n1, n2, n3}, walls, .options = ""};
    TEST_TEXT(text, sizeof out.options, format);
    memcpy(out.options, text, sizeof text);
    return out;
}

static inline int wall_factor(char letter) {
    return letter == 'p' ? 0 : letter == 'r' ? 1 : -1;
}

static inline void make_grid(const struct request *request, struct ht_grid *grid) {
    static const double lower[3] = {-0.5, 0.25, 1}, side[3] = {1, 1.5, 0.8};
    *grid = (struct ht_grid){.dims = request->dims, .order = request->order};
    for (int j = 0; j < 3; j++) {
        bool exists = j < request->dims;
        const char *walls =
            strlen(request->walls) > 3 * (size_t)j ? request->walls + (ptrdiff_t)3 * j : "pp";
        grid->cells[j] = exists ? request->cells[j] : 1;
        grid->lower[j] = exists ? lower[j] : 0;
        grid->upper[j] = exists ? lower[j] + side[j] : 1;
        grid->h[j] = (grid->upper[j] - grid->lower[j]) / (double)grid->cells[j];
        for (int end = 0; end < 2 && exists; end++) grid->wall[j][end] = wall_factor(walls[end]);
    }
}

static inline void make_medium(struct setup *setup) {
    static const double acoustic[HT_MAX_MATERIALS] = {2.0, 0.7},
                        advection[HT_MAX_MATERIALS] = {1.0, -0.6, 0.35};
    struct ht_medium *medium = &setup->medium;
    *medium = (struct ht_medium){.eq = &setup->eq,
                                 .grid = &setup->grid,
                                 .uniform = true,
                                 .coefs = 1,
                                 .speed_min = sqrt(1.4)};
    bool waves = setup->eq.second_order.known;
    for (int m = 0; m < setup->eq.nmaterials; m++)
        medium->constant[m] = waves ? acoustic[m] : advection[m];
}

static inline void set_up(struct setup *setup, const struct request *request) {
    *setup = (struct setup){.err = HT_ERR_INTERNAL};
    setup->eq = ht_equations_make(ht_system_find(request->system), request->dims);
    make_grid(request, &setup->grid);
    make_medium(setup);
    setup->err = test_params(NULL, ';', &setup->params, "%s", request->options);
    if (setup->err == HT_OK)
        setup->err = ht_solution_create(setup->params, &setup->medium, &setup->solution);
    if (setup->err != HT_OK) printf("  %s\n", ht_err_message());
}

static inline void tear_down(struct setup *setup) {
    ht_solution_destroy(setup->solution);
    ht_params_destroy(setup->params);
}

static inline int64_t row(const struct setup *setup, enum ht_subgrid subgrid) {
    return ht_grid_total(&setup->grid, subgrid);
}

static inline int64_t size_of(const struct setup *setup, enum ht_subgrid subgrid) {
    int64_t coefs = ht_grid_coefs(&setup->grid);
    return setup->eq.nfields * coefs * row(setup, subgrid);
}

/* All coefficients of a grid; the caller frees them. */
static inline double *filled(const struct setup *setup, enum ht_subgrid subgrid, double time) {
    double *out;
    must(setup->err);
    must(HT_ALLOC(out, size_of(setup, subgrid)));
    must(ht_solution_fill(setup->solution, subgrid, time, 0, ht_grid_planes(&setup->grid, subgrid),
                          out));
    return out;
}

/* Data of two requests agree on a grid; the grids must match. */
static inline double compare(const struct request *a, const struct request *b,
                             enum ht_subgrid subgrid) {
    HT_ENDED(tear_down) struct setup first, second;
    set_up(&first, a);
    set_up(&second, b);
    HT_FREED double *x = filled(&first, subgrid, 0), *y = filled(&second, subgrid, 0);
    return errors_of(size_of(&first, subgrid), x, y).most;
}
