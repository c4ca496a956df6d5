/* Absorbing layers of finite differences (docs/developers/absorbing.md): where they lie in a slab's
 * window, what they remember, and their tasks. A perfectly matched layer along x3 belongs to one
 * rank, those along x1 and x2 to each for its planes. A sponge remembers nothing: its planes belong
 * to whoever has them. */
#include <complex.h>

#include "fd.h"

/* ---- plan ---- */

static void add_side(struct ht_fd_stepper *s, int axis, int side) {
    struct ht_fd_layers *l = &s->layers;
    struct ht_fd_sides *all = &l->sides;
    const int64_t cells = s->problem.layers->side[axis][side].cells;
    int64_t pitch = 1;
    const bool elsewhere = axis == 2 && s->r.partition.neighbour[side];
    if (cells == 0 || (elsewhere && !l->sponge)) return;
    struct ht_fd_side *out = &all->side[all->count++];
    /* Index in the window of the nodes on a wall, which another slab may have. */
    const int64_t first = axis == 2 ? s->own.first : 0;
    *out = (struct ht_fd_side){
        .axis = axis,
        .side = side,
        .cells = cells,
        .wall = (s->box.begin[axis] - first + (side == 0 ? 0 : s->problem.grid->cells[axis])),
        .offset = all->memory + (axis == 0 && side == 1 ? cells - 1 : 0),
        .profile = all->profiles};
    for (int k = 0; k < 3; k++) {
        out->pitch[k] = k == 0 && axis == 0 && side == 1 ? -1 : pitch;
        if (k != axis) out->offset -= s->box.begin[k] * pitch;
        pitch *= k == axis ? cells : s->box.end[k] - s->box.begin[k];
    }
    if (!l->sponge) all->memory += pitch;
    all->profiles += HT_FD_PROFILES * (cells + 2 * all->beyond);
}

void ht_fd_layers_plan(struct ht_fd_stepper *s) {
    struct ht_fd_layers *l = &s->layers;
    if (s->problem.layers == NULL || s->problem.fd.pair != HT_PAIR_NONE) return;
    l->sponge = s->problem.layers->type == HT_ABSORBING_SPONGE;
    l->sides.beyond = l->sponge ? 0 : ht_fd_layer_radius(&s->engine.spec);
    l->sides.profiles = HT_FD_LAYER_MARGIN;
    l->sides.memory = l->sponge ? 0 : HT_FD_LAYER_MARGIN;
    for (int k = 0; k < s->engine.spec.dims; k++)
        for (int side = 0; side < 2; side++) add_side(s, k, side);
    const int64_t more = l->sides.count > 0 ? HT_FD_LAYER_MARGIN : -HT_FD_LAYER_MARGIN;
    l->sides.profiles += more;
    l->sides.memory += l->sponge ? 0 : more;
}

/* ---- memory ---- */

enum { MEMORIES = 1 + HT_FD_MEMORIES };

/* p0, p1, p2 and f of cl/fd_layers.cl at a point: 1/s = (alpha + i omega) / (kappa (alpha + i
 * omega) + sigma) by the trapezoidal rule, which stays stable with any sigma
 * (docs/developers/absorbing.md). Nothing where nothing is damped. */
static void fill_filter(const struct ht_stretch *stretch, double dt, double out[4]) {
    const double alpha = stretch->alpha * dt / 2;
    const double sigma = stretch->sigma * dt / 2, kappa = stretch->kappa;
    const double whole = kappa * (1 + alpha) + sigma;
    const double again = (kappa * (1 - alpha) - sigma) / whole;
    if (sigma == 0 && kappa == 1) return;
    out[0] = (1 + alpha) / whole - 1;
    out[1] = -(1 - alpha) / whole + again;
    out[2] = again;
    out[3] = 2 * sigma / whole;
}

static void fd_layer_profile(const struct ht_problem *problem, int axis, int side, double *out) {
    const struct ht_layers *layers = problem->layers;
    const double dt = problem->dt, far = (double)layers->cells[axis];
    const bool sponge = layers->type == HT_ABSORBING_SPONGE;
    for (int64_t i = 0; i < layers->side[axis][side].cells; i++) {
        const double at = side == 0 ? (double)i : far - (double)i;
        const double half = side == 0 ? at + 0.5 : at - 0.5;
        struct ht_stretch stretch = ht_layers_stretch(layers, axis, at);
        double *of_cell = out + i * HT_FD_PROFILES;
        if (sponge) {
            of_cell[8] = exp(-stretch.sigma * dt);
            continue;
        }
        fill_filter(&stretch, dt, of_cell + 4);
        of_cell[8] = ht_layers_factor(layers, axis, at, dt);
        stretch = ht_layers_stretch(layers, axis, half);
        fill_filter(&stretch, dt, of_cell);
    }
}

HT_ERR ht_fd_layers_create(struct ht_fd_stepper *s) {
    struct ht_fd_layers *l = &s->layers;
    l->start = true;
    if (l->sides.count == 0) return HT_OK;
    const int64_t apart = s->engine.spec.dims > 2   ? s->box.plane
                          : s->engine.spec.dims > 1 ? s->box.row
                                                    : 1;
    const int64_t most = ht_fd_layer_limit(&s->engine.spec);
    REQUIRE(apart <= most, HT_ERR_DEVICE,
            "absorbing layers: a %s of the grid has %lld numbers, with what lies beside it; at "
            "most %lld are possible",
            s->engine.spec.dims > 2 ? "plane" : "row", (long long)apart, (long long)most);
    HT_ARRAY(double, profile, l->sides.profiles);
    HT_EACH(const struct ht_fd_side, side, l->sides.side, l->sides.count) {
        HT_ARRAY(double, cell, HT_FD_PROFILES * side->cells);
        fd_layer_profile(&s->problem, side->axis, side->side, cell);
        for (int64_t n = 0; n < HT_FD_PROFILES * side->cells; n++)
            profile[ht_fd_side_profile(side, (int)(n % HT_FD_PROFILES), n / HT_FD_PROFILES)] =
                cell[n];
        for (int64_t n = side->cells; n < side->cells + 2 * l->sides.beyond && side->axis > 0; n++)
            profile[ht_fd_side_profile(side, HT_FD_PROFILES - 1, n)] = 1;
    }
    return ht_buffer_write_reals(l->profile, s->engine.spec.fp64, 0, l->sides.profiles, profile);
}

HT_ERR ht_fd_layers_clear(void *stepper) {
    struct ht_fd_stepper *s = stepper;
    struct ht_fd_layers *l = &s->layers;
    for (int i = 0; i < MEMORIES && l->sides.memory > 0 && !l->start; i++)
        TRY(ht_buffer_clear(l->memory[i]));
    l->start = l->start || l->sides.memory > 0;
    return HT_OK;
}

/* The first number of the memory of a side: in the first own plane, or of a side along x3 at the
 * wall. */
static int64_t first_number(const struct ht_fd_stepper *s, const struct ht_fd_side *side) {
    int64_t first = side->offset - (side->pitch[side->axis] < 0 ? side->cells - 1 : 0);
    for (int k = 0; k < 3; k++)
        if (k != side->axis) first += s->box.begin[k] * side->pitch[k];
    return first;
}

/* All ranks name all sides; along x3 a rank may have none of one. */
void ht_fd_layers_archive(struct ht_fd_stepper *s, struct ht_archive *archive) {
    struct ht_fd_layers *l = &s->layers;
    const struct ht_grid *grid = s->problem.grid;
    if (s->problem.layers == NULL || l->sponge) return;
    ht_archive_flag(archive, "start", &l->start);
    for (int n = 0; n < 6 * MEMORIES; n++) {
        const int axis = n / MEMORIES / 2, end = n / MEMORIES % 2;
        const int64_t cells = s->problem.layers->side[axis][end].cells;
        struct ht_fd_stored of = {.engine = &s->engine, .array = l->memory[n % MEMORIES]};
        char name[32];
        if (cells == 0) continue;
        of.groups = 1;
        of.planes = axis == 2 ? cells : ht_grid_planes(grid, HT_PRIMARY);
        of.plane = axis == 2 ? ht_grid_plane(grid, HT_PRIMARY)
                             : cells * ht_grid_nodes(grid, HT_PRIMARY, 1 - axis);
        HT_EACH(const struct ht_fd_side, side, l->sides.side, l->sides.count) {
            if (side->axis != axis || side->side != end) continue;
            of.base = first_number(s, side);
            of.first = axis == 2 ? 0 : s->own.first;
            of.last = axis == 2 ? cells : s->own.last;
        }
        snprintf(name, sizeof name, "memory%d%d_%d", axis + 1, end, n % MEMORIES);
        ht_fd_archive_memory(archive, name, &of);
    }
}

/* Values at nodes of own plane m, or at the half points above them, which are counted from the wall
 * and turn their sign with its side: of a side along x3 all of them are in one row of its memory.
 */
static HT_ERR put_side(struct ht_fd_stepper *s, const struct ht_fd_side *side, int64_t m, bool half,
                       const double *values) {
    const int k = side->axis;
    const int64_t n1 = s->box.end[0] - s->box.begin[0], n2 = s->box.end[1] - s->box.begin[1];
    const int64_t far = s->problem.grid->cells[k] - half, count = side->pitch[2];
    const int64_t row = k < 2 ? m - s->own.first : side->side == 0 ? m : far - m;
    if (k == 2 && (row < 0 || row >= side->cells)) return HT_OK;
    HT_ARRAY(double, chunk, count);
    for (int64_t n = 0; n < n1 * n2; n++) {
        const int64_t at[2] = {n % n1, n / n1};
        const int64_t depth = k == 2 ? row : side->side == 0 ? at[k] : far - at[k];
        int64_t to = 0;
        if (depth < 0 || depth >= side->cells) continue;
        for (int j = 0; j < 2; j++)
            to += j != k   ? at[j] * side->pitch[j]
                  : j == 0 ? ht_fd_side_entry(side, depth)
                           : depth * side->pitch[j];
        chunk[to] = half && side->side == 1 ? -values[n] : values[n];
    }
    return ht_buffer_write_reals(s->layers.memory[half ? HT_FD_HALVES : HT_FD_NODES],
                                 s->engine.spec.fp64, first_number(s, side) + row * count, count,
                                 chunk);
}

HT_ERR ht_fd_layers_put(struct ht_fd_stepper *s, int axis, int64_t m, const double *node,
                        const double *half) {
    for (int i = 0; i < s->layers.sides.count && !s->layers.sponge; i++) {
        const struct ht_fd_side *side = &s->layers.sides.side[i];
        if (side->axis != axis) continue;
        TRY(put_side(s, side, m, false, node));
        TRY(put_side(s, side, m, true, half));
    }
    return HT_OK;
}

int64_t ht_fd_memory_numbers(const struct ht_stepper *stepper) {
    const struct ht_fd_stepper *s = ht_fd_stepper_of(stepper);
    const struct ht_pair_stepper *pair = ht_pair_stepper_of(stepper);
    return pair != NULL ? pair->layers.memory : s != NULL ? s->layers.sides.memory : 0;
}

/* Of a pair the memories are those of its groups. */
HT_ERR ht_fd_memory_move(const struct ht_stepper *stepper, int which, bool put, double *values) {
    struct ht_pair_stepper *pair = ht_pair_stepper_of(stepper);
    struct ht_fd_stepper *s = ht_fd_stepper_of(stepper);
    struct ht_buffer *const memory =
        pair != NULL ? pair->on.memory[which] : s->layers.memory[HT_FD_HALVES + which];
    const int64_t numbers = ht_fd_memory_numbers(stepper);
    s->layers.start = s->layers.start && !put;
    return put ? ht_buffer_write_reals(memory, s->engine.spec.fp64, 0, numbers, values)
               : ht_buffer_read_reals(memory, s->engine.spec.fp64, 0, numbers, values);
}

/* ---- what a matched layer sends back ---- */

/* Few enough for the stack: a matrix of 256 KiB. */
enum { MOST_CELLS = 116, MOST_UNKNOWN = MOST_CELLS + HT_FD_RADIUS + 4 };

/* What matched layers of finite differences send back of a plane wave, exactly but for the medium,
 * which is uniform: the scheme's own equations at the nodes of a line along the normal, with
 * unknown u in the layer and near it, and beyond that the wave that comes and the one that goes. */

struct line {
    struct ht_fd_weights wide, narrow;
    bool density;
    int cells;
    double nu2, across; /* (c dt/h)^2; minus the other axes' symbol */
    double complex z;   /* of a step */
    const double *profile;
    double complex half[MOST_CELLS], node[MOST_CELLS]; /* 1/s there */
};

/* 1/s of cl/fd_layers.cl, from four numbers of the profile. */
static double complex filter(const struct line *l, const double *p) {
    return 1 + (p[0] + p[1] / l->z) / (1 - p[2] / l->z);
}

/* u at a node, odd at the wall. */
static double complex at(const double complex *u, int node) {
    return node < 0 ? -u[-node] : u[node];
}

static double complex slope(const struct ht_fd_weights *w, const double complex *u, int point) {
    double complex sum = 0;
    for (int j = 0; j < w->radius; j++)
        sum += w->first[j] * (at(u, point + j + 1) - at(u, point - j));
    return sum;
}

/* (1/s - 1) D u of a half point, even at the wall. */
static double complex damped(const struct line *l, const double complex *u, int point) {
    const int inside = point < 0 ? -1 - point : point;
    if (inside >= l->cells) return 0;
    return (l->half[inside] - 1) * slope(&l->narrow, u, inside);
}

/* What is zero at a node. */
static double complex rest(const struct line *l, const double complex *u, int i) {
    double complex sum = 0;
    for (int j = 0; j < l->narrow.radius; j++)
        sum += l->narrow.first[j] * (damped(l, u, i + j) - damped(l, u, i - 1 - j));
    for (int j = 0; l->density && j < l->wide.radius; j++)
        sum += l->wide.first[j] * (slope(&l->wide, u, i + j) - slope(&l->wide, u, i - 1 - j));
    for (int j = 1; !l->density && j <= l->wide.radius; j++)
        sum += l->wide.second[j] * (at(u, i + j) + at(u, i - j) - 2 * u[i]);
    const double complex back = i < l->cells ? l->node[i] : 1;
    const double gain = i < l->cells ? 1 / l->profile[i * HT_FD_PROFILES + 8] : 1;
    return l->nu2 * (back * sum - l->across * u[i]) - (gain - 1 / l->z) * (l->z - 1) * u[i];
}

/* Of a x = b, b column n of a, by elimination: the last x. */
static double complex solve_last(int n, double complex *a) {
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (cabs(a[i * (n + 1) + k]) > cabs(a[best * (n + 1) + k])) best = i;
        double complex *row = a + (ptrdiff_t)k * (n + 1);
        for (int j = k; j <= n && best != k; j++) {
            const double complex swap = row[j];
            row[j] = a[best * (n + 1) + j];
            a[best * (n + 1) + j] = swap;
        }
        for (int i = k + 1; i < n; i++) {
            const double complex f = a[i * (n + 1) + k] * (1 / row[k]);
            for (int j = k; j <= n && f != 0; j++) a[i * (n + 1) + j] -= f * row[j];
        }
    }
    return a[n * (n + 1) - 1] / a[n * (n + 1) - 2];
}

/* Nodes 1 .. n - 1 are unknown, as is what goes; nodes from n on are known. */
static double returned(const struct line *l, int n, double k1) {
    const int reach = 2 * l->wide.radius, all = n + reach + 1;
    double complex u[MOST_UNKNOWN + 2 * HT_FD_RADIUS + 1];
    double complex a[MOST_UNKNOWN * (MOST_UNKNOWN + 1)];
    for (int j = 0; j <= n; j++) {
        memset(u, 0, sizeof u);
        if (j < n - 1) u[j + 1] = 1;
        for (int m = n; m < all && j >= n - 1; m++) u[m] = cexp((j == n ? I : -I) * k1 * m);
        for (int i = 0; i < n; i++) {
            const bool apart = j < n - 1 && (i > j + reach || j > i + reach);
            const double complex r = apart ? 0 : rest(l, u, i + 1);
            a[i * (n + 1) + j] = j < n ? r : -r;
        }
    }
    return cabs(solve_last(n, a));
}

/* A thicker layer than MOST_CELLS reflects no more than one of so many with the same R, which is
 * steeper. */
double ht_fd_layer_returned(const struct ht_problem *problem, int axis, int side, double frequency,
                            double cosine) {
    struct ht_layers layers = *problem->layers;
    struct ht_layer *layer = &layers.side[axis][side];
    struct ht_problem thin = *problem;
    const double part = (double)MOST_CELLS / (double)layer->cells;
    thin.layers = &layers;
    if (part < 1) {
        layer->cells = MOST_CELLS;
        layer->length *= part;
        layer->most /= part;
    }
    const struct ht_fd_spec spec = {.radius = problem->fd.order / 2,
                                    .density = problem->fd.density};
    const double h = layer->length / (double)layer->cells;
    const double k = 2 * acos(-1.0) * frequency * h / layer->speed;
    const double k1 = k * cosine, k2 = k * sqrt(1 - cosine * cosine);
    const double nu = layer->speed * problem->dt / h;
    struct line l = {.wide = ht_fd_weights(problem->fd.order),
                     .narrow = ht_fd_layer_weights(&spec),
                     .density = spec.density,
                     .cells = (int)layer->cells,
                     .nu2 = nu * nu};
    l.across = ht_fd_symbol(&l.wide, spec.density, k2);
    const double sine = nu * sqrt(ht_fd_symbol(&l.wide, spec.density, k1) + l.across) / 2;
    const int n = l.cells + l.wide.radius + 2;
    double profile[(MOST_UNKNOWN + 1) * HT_FD_PROFILES] = {0};
    if (!(k > 0) || k1 >= 3 || sine >= 1) return 1;
    l.z = cexp(2 * I * asin(sine));
    /* The profile of a side's layer, cleared before. */
    fd_layer_profile(&thin, axis, side, profile);
    l.profile = profile;
    for (int i = 0; i < l.cells; i++) {
        l.half[i] = filter(&l, profile + (ptrdiff_t)i * HT_FD_PROFILES);
        l.node[i] = filter(&l, profile + (ptrdiff_t)i * HT_FD_PROFILES + 4);
    }
    return returned(&l, n, k1);
}
