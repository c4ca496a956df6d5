/* Windows and their ghosts; see the header. */
#include "htwave/window.h"

#include "ghost_args.h"

int64_t ht_box_nodes(const struct ht_box *box) {
    int64_t nodes = 1;
    for (int k = 0; k < 3; k++)
        nodes *= box->end[k] > box->begin[k] ? box->end[k] - box->begin[k] : 0;
    return nodes;
}

/* Layers of ghosts at one side of an axis. */
static int64_t ghosts_at(const struct ht_grid *grid, enum ht_mesh mesh,
                         int axis, int side) {
    bool cut = axis == 2 && ht_grid_cut(grid);
    if (axis >= grid->dims || (cut && ht_grid_neighbour(grid, side) >= 0))
        return 0;
    if (!ht_grid_periodic(grid, axis)) return mesh == HT_DUAL ? 1 : 0;
    if (axis == 0) return 0;
    return side == (mesh == HT_DUAL ? 0 : 1) ? 1 : 0;
}

struct ht_window ht_window_make(const struct ht_grid *grid, enum ht_mesh mesh,
                                int64_t below, int64_t above) {
    struct ht_window w = {0};
    for (int k = 0; k < 3; k++) {
        int64_t first = 0, last = ht_grid_nodes(grid, mesh, k);
        bool cut = k == 2 && ht_grid_cut(grid);
        if (cut) ht_grid_own(grid, mesh, &first, &last);
        int64_t more[2] = {cut && ht_grid_neighbour(grid, 0) >= 0 ? below : 0,
                           cut && ht_grid_neighbour(grid, 1) >= 0 ? above : 0};
        int64_t ghosts = ghosts_at(grid, mesh, k, 0);
        w.held.begin[k] = ghosts;
        w.own.begin[k] = ghosts + more[0];
        w.own.end[k] = w.own.begin[k] + last - first;
        w.held.end[k] = w.own.end[k] + more[1];
        w.count[k] = w.held.end[k] + ghosts_at(grid, mesh, k, 1);
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

int64_t ht_window_at(const struct ht_window *window, int64_t m1, int64_t m2,
                     int64_t m3) {
    return (m3 * window->count[1] + m2) * window->count[0] + m1;
}

void ht_window_shift(const struct ht_grid *grid, enum ht_mesh from,
                     const struct ht_window *source,
                     const struct ht_window *target, int64_t shift[3],
                     int64_t *period) {
    *period = INT64_MAX / 4;
    for (int k = 0; k < 3; k++) {
        bool lower = from == HT_DUAL && k < grid->dims;
        shift[k] = target->origin[k] - source->origin[k] - (lower ? 1 : 0);
    }
    if (!ht_grid_periodic(grid, 0)) return;
    *period = source->count[0];
    if (shift[0] < 0) shift[0] += *period;
}

/* ---- ghosts ---- */

/* The ghosts at a side of an axis (-1, 1), or the held nodes (0), and where
 * these find their values: index begin + i is the image of from + i step. */
struct segment {
    int64_t begin, count, from;
    int step, factor;
    bool mirrored;
};

static struct segment segment_at(const struct ht_grid *grid, enum ht_mesh mesh,
                                 const struct ht_window *w, int axis,
                                 int side) {
    int64_t low = w->held.begin[axis], high = w->held.end[axis];
    int64_t n = ht_grid_nodes(grid, mesh, axis);
    struct segment s = {low, high - low, low, 1, 1, false};
    if (side == 0) return s;
    s.begin = side < 0 ? 0 : high;
    s.count = side < 0 ? low : w->count[axis] - high;
    s.from = s.begin + (side < 0 ? n : -n);
    if (ht_grid_periodic(grid, axis)) return s;
    s.from = side < 0 ? 2 * low - 1 : high - 1;
    s.step = -1;
    s.factor = grid->wall[axis][side > 0];
    s.mirrored = true;
    return s;
}

static struct ht_ghost_box box_of(const struct ht_window *w,
                                  const struct segment s[3], int first) {
    struct ht_ghost_box box = {.first = first, .factor = 1};
    const int64_t stride[3] = {1, ht_window_row(w), ht_window_plane(w)};
    for (int k = 0; k < 3; k++) {
        box.to += (long)(s[k].begin * stride[k]);
        box.from += (long)(s[k].from * stride[k]);
        box.step[k] = (long)(s[k].step * stride[k]);
        if (k < 2) box.count[k] = (int)s[k].count;
        if (s[k].mirrored) box.mirrored |= 1 << k;
        box.factor *= s[k].factor;
    }
    return box;
}

int ht_window_ghosts(const struct ht_grid *grid, enum ht_mesh mesh,
                     const struct ht_window *window, struct ht_ghost_box *out) {
    int boxes = 0;
    int64_t first = 0;
    for (int turn = 0; turn < 27; turn++) {
        const int side[3] = {(turn + 1) % 3 - 1, (turn / 3 + 1) % 3 - 1,
                             (turn / 9 + 1) % 3 - 1};
        struct segment s[3];
        int64_t nodes = turn > 0 ? 1 : 0; /* turn 0: no ghosts */
        for (int k = 0; k < 3; k++) {
            s[k] = segment_at(grid, mesh, window, k, side[k]);
            nodes *= s[k].count;
        }
        if (nodes == 0) continue;
        out[boxes++] = box_of(window, s, (int)first);
        first += nodes;
    }
    return boxes;
}
