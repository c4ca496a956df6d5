/* Windows and their ghosts; see the header. */
#include "htwave/grid.h"

#include "tool_args.h"

int64_t ht_box_nodes(const struct ht_box *box) {
    int64_t nodes = 1;
    for (int k = 0; k < 3; k++)
        nodes *= box->end[k] > box->begin[k] ? box->end[k] - box->begin[k] : 0;
    return nodes;
}

/* Layers of ghosts at one side of an axis. */
static int64_t ghosts_at(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis, int side) {
    bool cut = axis == 2 && ht_grid_cut(grid);
    if (axis >= grid->dims || ht_grid_periodic(grid, axis)) return 0;
    if (cut && ht_grid_neighbour(grid, side) >= 0) return 0;
    return subgrid == HT_DUAL ? 1 : 0;
}

struct ht_window ht_window_make(const struct ht_grid *grid, enum ht_subgrid subgrid, int64_t below,
                                int64_t above) {
    struct ht_window w = {0};
    for (int k = 0; k < 3; k++) {
        int64_t first = 0, last = ht_grid_nodes(grid, subgrid, k);
        bool cut = k == 2 && ht_grid_cut(grid);
        if (cut) ht_grid_own(grid, subgrid, &first, &last);
        int64_t more[2] = {cut && ht_grid_neighbour(grid, 0) >= 0 ? below : 0,
                           cut && ht_grid_neighbour(grid, 1) >= 0 ? above : 0};
        int64_t ghosts = ghosts_at(grid, subgrid, k, 0);
        w.held.begin[k] = ghosts;
        w.own.begin[k] = ghosts + more[0];
        w.own.end[k] = w.own.begin[k] + last - first;
        w.held.end[k] = w.own.end[k] + more[1];
        w.count[k] = w.held.end[k] + ghosts_at(grid, subgrid, k, 1);
        w.origin[k] = first - w.own.begin[k];
    }
    return w;
}

int64_t ht_window_row(const struct ht_window *window) {
    return window->count[0];
}

int64_t ht_window_plane(const struct ht_window *window) {
    return window->count[0] * window->count[1];
}

int64_t ht_window_nodes(const struct ht_window *window) {
    return window->count[0] * window->count[1] * window->count[2];
}

int64_t ht_window_at(const struct ht_window *window, int64_t m1, int64_t m2, int64_t m3) {
    return (m3 * window->count[1] + m2) * window->count[0] + m1;
}

void ht_window_shift(const struct ht_grid *grid, enum ht_subgrid from,
                     const struct ht_window *source, const struct ht_window *target,
                     int64_t shift[3], int64_t period[3]) {
    for (int k = 0; k < 3; k++) {
        bool lower = from == HT_DUAL && k < grid->dims;
        bool cut = k == 2 && ht_grid_cut(grid);
        shift[k] = target->origin[k] - source->origin[k] - (lower ? 1 : 0);
        period[k] = INT64_MAX / 4;
        if (cut || !ht_grid_periodic(grid, k)) continue;
        period[k] = source->count[k];
        if (shift[k] < 0) shift[k] += period[k];
    }
}

enum ht_err ht_ghosts_number(struct ht_ghost_args *args) {
    const int64_t row = args->count[0], plane = row * args->count[1], all = plane * args->count[2];
    const int64_t inner1 = args->end[0] - args->begin[0], inner2 = args->end[1] - args->begin[1];
    const int64_t inner3 = args->end[2] - args->begin[2];
    const int64_t ghosts = all - inner1 * inner2 * inner3;
    REQUIRE(ghosts <= INT32_MAX, HT_ERR_DEVICE,
            "grid.cells: %lld ghost nodes behind walls, more than the %d that "
            "one rank counts",
            (long long)ghosts, INT32_MAX);
    args->planes = (int)(all - plane * inner3);
    args->rows = (int)(args->planes + (plane - row * inner2) * inner3);
    args->ghosts = (int)ghosts;
    return HT_OK;
}

enum ht_err ht_window_ghosts(const struct ht_grid *grid, const struct ht_window *window,
                             struct ht_ghost_args *out) {
    const struct ht_box *held = &window->held;
    *out = (struct ht_ghost_args){.row = (long)ht_window_row(window),
                                  .plane = (long)ht_window_plane(window),
                                  .nodes = (long)ht_window_nodes(window)};
    for (int k = 0; k < 3; k++) {
        out->count[k] = (int)window->count[k];
        out->begin[k] = (int)held->begin[k];
        out->end[k] = (int)held->end[k];
        for (int side = 0; side < 2; side++) {
            out->from[2 * k + side] = 2 * (side ? out->end[k] : out->begin[k]) - 1;
            out->way[2 * k + side] = -1;
            out->factor[2 * k + side] = grid->wall[k][side];
        }
    }
    return ht_ghosts_number(out);
}
