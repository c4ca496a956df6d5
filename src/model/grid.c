/* Index arithmetic of the two grids; see the header for the conventions. */
#include "htwave/grid.h"

#include "tool_args.h"

int ht_grid_coefs(const struct ht_grid *grid) {
    int coefs = 1;
    for (int k = 0; k < grid->dims; k++) coefs *= grid->order + 1;
    return coefs;
}

bool ht_grid_closes(const struct ht_grid *grid) {
    bool any = false;
    for (int n = 0; n < 6; n++) any = any || ht_grid_closed(grid, n / 2, n % 2);
    return any;
}

int64_t ht_grid_nodes(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis) {
    if (axis >= grid->dims) return 1;
    return grid->cells[axis] + (subgrid == HT_PRIMARY && !ht_grid_periodic(grid, axis) ? 1 : 0);
}

double ht_grid_volume(const struct ht_grid *grid) {
    double volume = 1;
    for (int k = 0; k < grid->dims; k++) volume *= grid->h[k];
    return volume;
}

double ht_grid_widest(const struct ht_grid *grid) {
    double h = 0;
    for (int k = 0; k < grid->dims; k++) h = fmax(h, grid->h[k]);
    return h;
}

double ht_grid_x(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis, int64_t m) {
    double offset = subgrid == HT_DUAL && axis < grid->dims ? 0.5 : 0.0;
    return grid->lower[axis] + ((double)m + offset + grid->shift[axis]) * grid->h[axis];
}

void ht_grid_position(const struct ht_grid *grid, enum ht_subgrid subgrid, int64_t node,
                      double x[3]) {
    for (int k = 0; k < 3; k++) {
        const int64_t nodes = ht_grid_nodes(grid, subgrid, k);
        x[k] = ht_grid_x(grid, subgrid, k, node % nodes);
        node /= nodes;
    }
}

const char *ht_grid_place(const struct ht_grid *grid, const double x[3], char out[HT_PLACE]) {
    int used = 0;
    for (int k = 0; k < grid->dims; k++)
        used += snprintf(out + used, HT_PLACE - (size_t)used, "%s%.6g", k ? ", " : "(", x[k]);
    snprintf(out + used, HT_PLACE - (size_t)used, ")");
    return out;
}

int64_t ht_grid_source(const struct ht_grid *grid, enum ht_subgrid from, int axis, bool odd,
                       int64_t m, int sign[2]) {
    const int64_t n = ht_grid_nodes(grid, from, axis);
    sign[0] = sign[1] = 1;
    if (ht_grid_periodic(grid, axis)) return (m % n + n) % n;
    while (m < 0 || m >= n) {
        const int side = m >= n, factor = grid->wall[axis][side];
        sign[odd] *= factor;
        sign[!odd] *= -factor;
        m = 2 * (side ? n - 1 : 0) - m;
        if (from == HT_DUAL) m += side ? 1 : -1; /* these are half a cell off the wall */
    }
    return m;
}

/* ---- slabs ---- */

bool ht_grid_cut(const struct ht_grid *grid) {
    return ht_comm_size(grid->slab.comm) > 1;
}

struct ht_range ht_grid_own(const struct ht_grid *grid, enum ht_subgrid subgrid) {
    const int64_t all = ht_grid_planes(grid, subgrid), end = grid->slab.last;
    if (!ht_grid_cut(grid)) return (struct ht_range){0, all};
    if (grid->slab.nodes) return (struct ht_range){grid->slab.first, end};
    return (struct ht_range){grid->slab.first, end < grid->cells[2] ? end : all};
}

int64_t ht_grid_own_total(const struct ht_grid *grid, enum ht_subgrid subgrid) {
    const struct ht_range own = ht_grid_own(grid, subgrid);
    return (own.last - own.first) * ht_grid_plane(grid, subgrid);
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

struct ht_grid ht_grid_places(const struct ht_grid *grid, unsigned parity) {
    struct ht_grid places = *grid;
    for (int k = 0; k < 3; k++) places.shift[k] = parity >> k & 1u ? 0.5 : 0;
    return places;
}

double ht_grid_end(const struct ht_grid *grid, int axis, int side) {
    const int64_t outer = grid->outer[axis][side];
    if (outer == 0) return side ? grid->upper[axis] : grid->lower[axis];
    return grid->lower[axis] + grid->h[axis] * (double)(side ? grid->cells[axis] - outer : outer);
}

unsigned ht_grid_clamp(const struct ht_grid *grid, const double x[3], double at[3]) {
    unsigned beyond = 0;
    for (int k = 0; k < 3; k++) {
        const double low = grid->outer[k][0] > 0 ? ht_grid_end(grid, k, 0) : -INFINITY;
        const double high = grid->outer[k][1] > 0 ? ht_grid_end(grid, k, 1) : INFINITY;
        at[k] = fmin(fmax(x[k], low), high);
        beyond |= (unsigned)(at[k] != x[k]) << k;
    }
    return beyond;
}

struct ht_grid ht_grid_inner(const struct ht_grid *grid) {
    struct ht_grid inner = *grid;
    const struct ht_range own = ht_grid_own(grid, HT_PRIMARY);
    for (int k = 0; k < 3; k++) {
        inner.cells[k] -= grid->outer[k][0] + grid->outer[k][1];
        inner.lower[k] = ht_grid_end(grid, k, 0);
        inner.upper[k] = ht_grid_end(grid, k, 1);
        for (int side = 0; side < 2; side++) inner.layer[k][side] -= grid->outer[k][side];
    }
    memset(inner.outer, 0, sizeof inner.outer);
    const int64_t planes = ht_grid_planes(&inner, HT_PRIMARY), below = grid->outer[2][0];
    inner.slab.first = ht_least(ht_most(own.first - below, 0), planes);
    inner.slab.last = ht_least(ht_most(own.last - below, 0), planes);
    inner.slab.nodes = true;
    return inner;
}

void ht_grid_crop(const struct ht_grid *grid, int64_t groups, double *values) {
    const struct ht_grid inner = ht_grid_inner(grid);
    const struct ht_range from = ht_grid_own(grid, HT_PRIMARY);
    const struct ht_range to = ht_grid_own(&inner, HT_PRIMARY);
    const int64_t all = ht_grid_own_total(grid, HT_PRIMARY),
                  row = ht_grid_nodes(grid, HT_PRIMARY, 0);
    const int64_t n1 = ht_grid_nodes(&inner, HT_PRIMARY, 0),
                  n2 = ht_grid_nodes(&inner, HT_PRIMARY, 1);
    double *out = values;
    for (int64_t i = 0; i < groups * (to.last - to.first) * n2; i++, out += n1) {
        const int64_t m2 = i % n2 + grid->outer[1][0], plane = i / n2 % (to.last - to.first);
        const int64_t m3 = plane + to.first + grid->outer[2][0] - from.first;
        const int64_t at = (m3 * ht_grid_nodes(grid, HT_PRIMARY, 1) + m2) * row + grid->outer[0][0];
        memmove(out, values + i / n2 / (to.last - to.first) * all + at, (size_t)n1 * sizeof *out);
    }
}

/* Windows and their ghosts; see the header. */

int64_t ht_box_nodes(const struct ht_box *box) {
    int64_t nodes = 1;
    for (int k = 0; k < 3; k++)
        nodes *= box->end[k] > box->begin[k] ? box->end[k] - box->begin[k] : 0;
    return nodes;
}

/* Layers of ghosts at one side of an axis. */
static int64_t ghosts_at(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis, int side) {
    if (axis >= grid->dims || ht_grid_periodic(grid, axis)) return 0;
    if (axis == 2 && ht_grid_cut(grid) && ht_grid_neighbour(grid, side) >= 0) return 0;
    return subgrid == HT_DUAL ? 1 : 0;
}

struct ht_window ht_window_make(const struct ht_grid *grid, enum ht_subgrid subgrid, int64_t below,
                                int64_t above) {
    struct ht_window w = {0};
    for (int k = 0; k < 3; k++) {
        const struct ht_range all = {0, ht_grid_nodes(grid, subgrid, k)};
        const struct ht_range own = k == 2 ? ht_grid_own(grid, subgrid) : all;
        bool cut = k == 2 && ht_grid_cut(grid);
        int64_t more[2] = {cut && ht_grid_neighbour(grid, 0) >= 0 ? below : 0,
                           cut && ht_grid_neighbour(grid, 1) >= 0 ? above : 0};
        int64_t ghosts = ghosts_at(grid, subgrid, k, 0);
        w.held.begin[k] = ghosts;
        w.own.begin[k] = ghosts + more[0];
        w.own.end[k] = w.own.begin[k] + own.last - own.first;
        w.held.end[k] = w.own.end[k] + more[1];
        w.count[k] = w.held.end[k] + ghosts_at(grid, subgrid, k, 1);
        w.origin[k] = own.first - w.own.begin[k];
    }
    return w;
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

HT_ERR ht_window_ghosts(const struct ht_grid *grid, const struct ht_window *window,
                        struct ht_ghost_args *out) {
    const struct ht_box *held = &window->held;
    *out = (struct ht_ghost_args){.row = (long)window->count[0],
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
    const int64_t row = out->count[0], plane = row * out->count[1], all = plane * out->count[2];
    const int64_t inner1 = out->end[0] - out->begin[0], inner2 = out->end[1] - out->begin[1];
    const int64_t inner3 = out->end[2] - out->begin[2];
    const int64_t ghosts = all - inner1 * inner2 * inner3;
    REQUIRE(ghosts <= INT32_MAX, HT_ERR_DEVICE,
            "grid.cells: %lld ghost nodes behind walls, more than the %d that one rank counts",
            (long long)ghosts, INT32_MAX);
    out->planes = (int)(all - plane * inner3);
    out->rows = (int)(out->planes + (plane - row * inner2) * inner3);
    out->ghosts = (int)ghosts;
    return HT_OK;
}

/* ---- a point by nodes of the primary grid ---- */

static const double CLOSE = 1e-9; /* spacings; rounding of positions */

int ht_point_nodes(int order) {
    return order + 4;
}

double ht_point_reach(const struct ht_grid *grid) {
    return 2 + grid->point_nodes / 4.0;
}

int ht_point_outside(const struct ht_grid *grid, const double x[3]) {
    for (int k = 0; k < 3 && k < grid->dims; k++) {
        const double slack = CLOSE * grid->h[k];
        if (!(x[k] >= ht_grid_end(grid, k, 0) - slack && x[k] <= ht_grid_end(grid, k, 1) + slack))
            return k;
    }
    return -1;
}

/* Values half a spacing above the nodes are odd where those at nodes are even. */
static int64_t fold(const struct ht_grid *grid, int axis, int64_t m, int sign[2]) {
    const bool half = grid->shift[axis] > 0;
    return ht_grid_source(grid, half ? HT_DUAL : HT_PRIMARY, axis, half, m, sign);
}

static int64_t last_of(const struct ht_grid *grid, int axis) {
    const int64_t last = ht_grid_nodes(grid, HT_PRIMARY, axis) - 1;
    return last - (grid->shift[axis] > 0 && !ht_grid_periodic(grid, axis));
}

static bool is_beyond(const struct ht_grid *grid, int axis, int64_t m) {
    return (ht_grid_closed(grid, axis, 0) && m < 0) ||
           (ht_grid_closed(grid, axis, 1) && m > last_of(grid, axis));
}

double ht_grid_weight(const struct ht_grid *grid, int axis, int64_t m) {
    const int half = grid->shift[axis] > 0, order = grid->point_nodes - ht_point_nodes(0);
    const int64_t from[2] = {m, last_of(grid, axis) - m};
    double weight = 1;
    if (axis >= grid->dims || ht_grid_periodic(grid, axis)) return 1;
    if (from[1] < 0) return 0;
    for (int side = 0; side < 2; side++) {
        if (!ht_grid_closed(grid, axis, side)) {
            weight /= from[side] == 0 && !half ? 2 : 1;
            continue;
        }
        const struct ht_fd_closure closure = ht_fd_closure(order, false);
        if (from[side] < closure.nodes - half) weight *= closure.weight[half][from[side]];
    }
    return weight;
}

/* The first of `count` nodes about a place, which lie at closed sides no further than the last ones
 * inside: then they are four, whatever the order, since values there are as smooth as the closure
 * is accurate (traces of params/rayleigh.cfg err by 0.13 with eight, by 0.011 with four). */
static int64_t first_node(const struct ht_grid *grid, int axis, double at, int *count) {
    const int64_t first = (int64_t)floor(at) - (*count - 1) / 2, last = last_of(grid, axis);
    if (!is_beyond(grid, axis, first) && !is_beyond(grid, axis, first + *count - 1)) return first;
    const int some = (int)ht_least(4, last + 1);
    const int64_t low = ht_grid_closed(grid, axis, 0) ? 0 : INT64_MIN;
    const int64_t high = ht_grid_closed(grid, axis, 1) ? last - some + 1 : INT64_MAX;
    *count = some;
    return ht_least(ht_most((int64_t)floor(at) - (some - 1) / 2, low), high);
}

bool ht_grid_held(const struct ht_grid *grid, int axis, int64_t m) {
    const int64_t last = ht_grid_nodes(grid, HT_PRIMARY, axis) - 1;
    if (grid->shift[axis] > 0) return false;
    return (m == 0 && grid->wall[axis][0] < 0) || (m == last && grid->wall[axis][1] < 0);
}

static void add_node(struct ht_point_axis *axis, int64_t m, double weight) {
    int at = axis->count;
    while (at > 0 && axis->node[at - 1] >= m) at--;
    if (at < axis->count && axis->node[at] == m) {
        axis->weight[at] += weight;
        return;
    }
    for (int i = axis->count++; i > at; i--) {
        axis->node[i] = axis->node[i - 1];
        axis->weight[i] = axis->weight[i - 1];
    }
    axis->node[at] = m;
    axis->weight[at] = weight;
}

void ht_point_axis_read(const struct ht_grid *grid, int axis, double x, bool slope,
                        struct ht_point_axis *out) {
    double weight[HT_POINT_NODES] = {0};
    *out = (struct ht_point_axis){.count = 0};
    if (axis >= grid->dims) {
        add_node(out, 0, slope ? 0 : 1);
        return;
    }
    const double h = grid->h[axis];
    double at = (x - grid->lower[axis]) / h - grid->shift[axis];
    if (fabs(at - round(at)) <= CLOSE) at = round(at);
    int count = grid->point_nodes + (slope && at == floor(at) ? 1 : 0);
    const int64_t first = first_node(grid, axis, at, &count);
    (slope ? ht_lagrange_slopes : ht_lagrange_weights)(count, at - (double)first, weight);
    for (int i = 0; i < count; i++) {
        int sign[2];
        const int64_t node = fold(grid, axis, first + i, sign);
        if (weight[i] == 0 || ht_grid_held(grid, axis, node)) continue;
        add_node(out, node, sign[0] * weight[i] / (slope ? h : 1));
    }
}

void ht_point_axis_spread(const struct ht_grid *grid, int axis, double x, double radius, bool slope,
                          double *weight) {
    const double widest = HT_POINT_WIDEST, root = sqrt(2 * acos(-1.0));
    const int64_t nodes = ht_grid_nodes(grid, HT_PRIMARY, axis);
    const double h = grid->h[axis], at = (x - grid->lower[axis]) / h - grid->shift[axis];
    const double r = radius / h;
    for (int64_t m = 0; m < nodes && radius == 0; m++) weight[m] = !ht_grid_held(grid, axis, m);
    if (radius == 0) return;
    for (int64_t m = (int64_t)floor(at - widest * r); (double)m <= at + widest * r; m++) {
        int sign[2];
        if (is_beyond(grid, axis, m)) continue;
        const int64_t node = fold(grid, axis, m, sign);
        const double z = ((double)m - at) / r;
        const double value = exp(-z * z / 2) / (root * r * h);
        if (ht_grid_held(grid, axis, node)) continue;
        weight[node] +=
            1 / ht_grid_weight(grid, axis, node) * sign[0] * value * (slope ? z / (r * h) : 1);
    }
}

void ht_point_free(struct ht_point *point) {
    free(point->node);
    *point = (struct ht_point){.count = 0};
}
