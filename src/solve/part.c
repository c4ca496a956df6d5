/* A part of a problem as a separate problem; see htwave/problem.h. */
#include "htwave/stepper.h"

#include <stdlib.h>
#include <string.h>

/* Copies the part's rows out of a whole plane into plane m of `planes`. */
static void cut_plane(const struct ht_part *part, enum ht_subgrid subgrid, int64_t m,
                      int64_t planes, const double *whole, double *out) {
    const struct ht_grid *grid = part->whole->grid;
    const int64_t *begin = part->cells.begin;
    int64_t n1 = ht_grid_nodes(grid, subgrid, 0);
    int64_t n2 = ht_grid_nodes(grid, subgrid, 1);
    int64_t own1 = ht_grid_nodes(&part->grid, subgrid, 0);
    int64_t own2 = ht_grid_nodes(&part->grid, subgrid, 1);
    int64_t rows = (int64_t)part->whole->medium_coefs * part->whole->eq->nmaterials;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t m2 = 0; m2 < own2; m2++) {
            const double *from = whole + (r * n2 + (begin[1] + m2) % n2) * n1;
            double *to = out + ((r * planes + m) * own2 + m2) * own1;
            for (int64_t m1 = 0; m1 < own1; m1++) to[m1] = from[(begin[0] + m1) % n1];
        }
}

/* medium_fill of the part: the whole problem's medium at the part's nodes. */
static enum ht_err fill_medium(const void *context, enum ht_subgrid subgrid, int64_t first,
                               int64_t last, double *out) {
    const struct ht_part *part = context;
    const struct ht_problem *whole = part->whole;
    int64_t planes = ht_grid_planes(whole->grid, subgrid);
    int64_t rows = (int64_t)whole->medium_coefs * whole->eq->nmaterials;
    HT_FREED double *plane = NULL;
    TRY(HT_ALLOC(plane, rows * ht_grid_plane(whole->grid, subgrid)));
    for (int64_t m = first; m < last; m++) {
        int64_t at = (part->cells.begin[2] + m) % planes;
        TRY(whole->medium_fill(whole->medium, subgrid, at, at + 1, plane));
        cut_plane(part, subgrid, m - first, last - first, plane, out);
    }
    return HT_OK;
}

static void set_sides(const struct ht_part *part, enum ht_part_sides sides, struct ht_grid *grid) {
    for (int k = 0; k < 3; k++) {
        bool whole = part->cells.end[k] - part->cells.begin[k] == part->whole->grid->cells[k];
        for (int side = 0; side < 2; side++) {
            if (sides == HT_SIDES_PERIODIC) grid->wall[k][side] = 0;
            if (sides == HT_SIDES_MIRROR && !whole) grid->wall[k][side] = 1;
        }
    }
}

/* A positive medium that jumps at every node; what couples fields is small. */
static enum ht_err test_values(const void *context, int what, int64_t first, int64_t last,
                               double *out) {
    const struct ht_problem *p = context;
    const int64_t plane = ht_grid_plane(p->grid, HT_PRIMARY);
    struct ht_pair pair = {.ncoefficients = 0};
    if (p->fd.pair == HT_PAIR_APART) ht_problem_pair(p, &pair);
    const bool coupling =
        what < pair.ncoefficients && pair.coefficient[what].row != pair.coefficient[what].col;
    for (int64_t n = 0; n < plane * (last - first); n++) {
        const uint64_t key = 4 * (uint64_t)(first * plane + n) + (unsigned)what;
        out[n] = (coupling ? 0.25 : 1) * (1 + 0.5 * ht_rng_uniform(7, key));
    }
    return HT_OK;
}

void ht_problem_part(const struct ht_problem *whole, const struct ht_box *cells,
                     enum ht_part_sides sides, enum ht_part_medium medium, struct ht_part *out) {
    *out = (struct ht_part){
        .whole = whole, .cells = *cells, .grid = ht_grid_whole(whole->grid), .problem = *whole};
    for (int k = 0; k < 3; k++) {
        bool used = k < out->grid.dims;
        if (!used) out->cells.begin[k] = 0;
        if (!used) out->cells.end[k] = 1;
        out->grid.cells[k] = out->cells.end[k] - out->cells.begin[k];
        out->grid.lower[k] += out->grid.h[k] * (double)out->cells.begin[k];
        out->grid.upper[k] = out->grid.lower[k] + out->grid.h[k] * (double)out->grid.cells[k];
    }
    set_sides(out, sides, &out->grid);
    out->problem.grid = &out->grid;
    out->problem.halo = (struct ht_halo_choice){0};
    memset(out->grid.layer, 0, sizeof out->grid.layer);
    out->problem.layers = NULL;
    out->problem.shots = NULL;
    out->problem.duhamel = NULL;
    if (whole->fd.fill != NULL) {
        out->problem.fd.fill = test_values;
        out->problem.fd.medium = &out->problem;
    }
    if (whole->medium_degree < 0) return;
    out->problem.medium_fill = medium == HT_MEDIUM_TEST ? ht_test_medium : fill_medium;
    out->problem.medium =
        medium == HT_MEDIUM_TEST ? (const void *)&out->problem : (const void *)out;
}

/* A smooth positive medium of the wanted degree: 1 + small polynomials. */
enum ht_err ht_test_medium(const void *context, enum ht_subgrid subgrid, int64_t first,
                           int64_t last, double *out) {
    const struct ht_problem *p = context;
    int64_t plane = ht_grid_plane(p->grid, subgrid), part = plane * (last - first);
    int64_t at = 0;
    for (int m = 0; m < p->eq->nmaterials; m++)
        for (int a = 0; a < p->medium_coefs; a++)
            for (int64_t n = 0; n < part; n++, at++) {
                uint64_t node = (uint64_t)(first * plane + n);
                uint64_t index =
                    (node * 1000 + (uint64_t)(m * p->medium_coefs + a)) * 2 + (subgrid == HT_DUAL);
                double noise = ht_rng_uniform(7, index);
                out[at] = a == 0                  ? 1 + 0.25 * noise
                          : p->constant >> m & 1u ? 0
                                                  : 0.25 * noise / p->medium_coefs;
            }
    return HT_OK;
}
