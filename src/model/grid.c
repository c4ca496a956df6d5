/* Index arithmetic of the two grids; see the header for the conventions. */
#include "htwave/grid.h"

int ht_grid_coefs(const struct ht_grid *grid) {
    int coefs = 1;
    for (int k = 0; k < grid->dims; k++) coefs *= grid->order + 1;
    return coefs;
}

bool ht_grid_periodic(const struct ht_grid *grid, int axis) {
    return grid->wall[axis][0] == 0;
}

int64_t ht_grid_nodes(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis) {
    if (axis >= grid->dims) return 1;
    bool both_ends = subgrid == HT_PRIMARY && !ht_grid_periodic(grid, axis);
    return grid->cells[axis] + (both_ends ? 1 : 0);
}

int64_t ht_grid_plane(const struct ht_grid *grid, enum ht_subgrid subgrid) {
    return ht_grid_nodes(grid, subgrid, 0) * ht_grid_nodes(grid, subgrid, 1);
}

int64_t ht_grid_planes(const struct ht_grid *grid, enum ht_subgrid subgrid) {
    return ht_grid_nodes(grid, subgrid, 2);
}

int64_t ht_grid_total(const struct ht_grid *grid, enum ht_subgrid subgrid) {
    return ht_grid_plane(grid, subgrid) * ht_grid_planes(grid, subgrid);
}

double ht_grid_x(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis, int64_t m) {
    double offset = subgrid == HT_DUAL && axis < grid->dims ? 0.5 : 0.0;
    return grid->lower[axis] + ((double)m + offset + grid->shift[axis]) * grid->h[axis];
}

const char *ht_grid_place(const struct ht_grid *grid, const double x[3], char out[HT_PLACE]) {
    int used = 0;
    for (int k = 0; k < grid->dims; k++)
        used += snprintf(out + used, HT_PLACE - (size_t)used, "%s%.6g", k ? ", " : "(", x[k]);
    snprintf(out + used, HT_PLACE - (size_t)used, ")");
    return out;
}

int64_t ht_grid_source(const struct ht_grid *grid, enum ht_subgrid from, int axis, int64_t m,
                       int *factor, bool *mirrored) {
    int64_t n = ht_grid_nodes(grid, from, axis);
    *factor = 1;
    *mirrored = false;
    if (m >= 0 && m < n) return m;
    if (ht_grid_periodic(grid, axis)) return (m % n + n) % n;
    *mirrored = true;
    *factor = grid->wall[axis][m < 0 ? 0 : 1];
    /* Only nodes of the dual grid are read behind a wall, half a cell off it.
     */
    return m < 0 ? -1 - m : 2 * n - 1 - m;
}

/* ---- slabs ---- */

bool ht_grid_cut(const struct ht_grid *grid) {
    return ht_comm_size(grid->slab.comm) > 1;
}

void ht_grid_own(const struct ht_grid *grid, enum ht_subgrid subgrid, int64_t *first,
                 int64_t *last) {
    *first = 0;
    *last = ht_grid_planes(grid, subgrid);
    if (!ht_grid_cut(grid)) return;
    *first = grid->slab.first;
    if (grid->slab.last < grid->cells[2]) *last = grid->slab.last;
}

int64_t ht_grid_own_total(const struct ht_grid *grid, enum ht_subgrid subgrid) {
    int64_t first, last;
    ht_grid_own(grid, subgrid, &first, &last);
    return (last - first) * ht_grid_plane(grid, subgrid);
}

int ht_grid_neighbour(const struct ht_grid *grid, int side) {
    int size = ht_comm_size(grid->slab.comm);
    int rank = ht_comm_rank(grid->slab.comm) + (side == 0 ? -1 : 1);
    if (size == 1) return -1;
    if (rank >= 0 && rank < size) return rank;
    return ht_grid_periodic(grid, 2) ? (rank + size) % size : -1;
}

struct ht_grid ht_grid_whole(const struct ht_grid *grid) {
    struct ht_grid whole = *grid;
    whole.slab = (struct ht_slab){0};
    return whole;
}

void ht_slab_cut(int64_t cells, int ranks, int64_t *start) {
    for (int r = 0; r <= ranks; r++) start[r] = (2 * cells * r + ranks) / (2 * (int64_t)ranks);
}
