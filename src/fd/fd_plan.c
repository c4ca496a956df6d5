/* The plan of finite differences: the fitted medium, the largest stable step, and what grids and
 * slabs they need.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fd.h"
#include "src/solve/methods.h"

/* ---- a bound of the operator ---- */

/* LEAST_NODES: of a chunk of rows, worth a thread. */
enum { POWERS = 4, LEAST_NODES = 4096, LANES = 8 };

/* The largest omega^2 of finite differences in a medium that varies, from above. Every eigenvalue
 * of a matrix is at most that of its magnitudes |L|, and this is at most the largest quotient
 *     (|L| x)_i / x_i      for any positive x  (Collatz and Wielandt).
 * x = 1 gives the largest sum of magnitudes of a row. x = |L| 1, |L|^2 1 .. give less, down to the
 * eigenvalue of |L| itself. Weights alternate in sign, so that |L| is -L between two diagonal
 * matrices of signs and the bound has no gap: but for odd periodic axes and free walls it becomes
 * omega^2 itself. Each quotient is proven, so few powers are enough, and no estimate from below
 * with a margin is needed.
 *
 * The powers are computed plane by plane along x3, each power behind the one before by the reach of
 * L, from planes of the medium that are kept until the last power has used them. Beyond the grid
 * everything continues periodically or as a mirror image. Numbers of a node do not depend on the
 * slab. Threads share the rows of a plane: a power reads planes above and below at its own rows
 * only, and other rows only of a plane that is done, or, where there is no x3, one power is done
 * after the other.
 */

struct power {
    double *x;    /* what it is applied to: planes in turn */
    double *flux; /* b_3 d_3 x, in turn */
};
/* Of a thread: rows of nodes. */
struct room {
    double *row, *flux_row; /* with 2R nodes on either side */
    double *flux_rows;      /* of a chunk's rows: from R below the first on */
    double *sum;            /* |L| x on a row */
};
struct bound {
    const struct ht_problem *problem;
    struct ht_fit *fit;     /* NULL allowed */
    struct ht_fd_weights w; /* magnitudes */
    bool density;
    int radius, reach;     /* of L along x3; 0: there is no x3 */
    int turns, kept;       /* planes of x and flux, of the medium */
    int64_t n1, n2, plane; /* nodes */
    int64_t begin, end;    /* own planes */
    double scale[3];
    double *medium[4];     /* K, b_1, b_2, b_3 */
    int64_t block, filled; /* planes of a fill; the first not filled yet */
    double *fill;          /* of `block` planes */
    struct power power[POWERS];
    int workers;
    struct room *room;      /* of each worker */
    int64_t chunks;         /* of rows */
    double (*most)[POWERS]; /* of each chunk */
    int first, last;        /* powers of one run of threads */
    int64_t at;             /* plane of that run */
};

static double *turn(const struct bound *b, double *planes, int turns, int64_t m) {
    return planes + (m % turns + turns) % turns * b->plane;
}

static double *medium_at(const struct bound *b, int what, int64_t m3) {
    return turn(b, b->medium[what], b->kept, m3);
}

/* ---- |L| of one plane ---- */

/* A row with its continuation. */
static void continue_row(const struct bound *b, int what, const double *from, double *to) {
    const int64_t more = 2 * (int64_t)b->radius;
    memcpy(to + more, from, (size_t)b->n1 * sizeof *to);
    for (int64_t j = 0; j <= more; j++) {
        to[more - j] = from[ht_fd_inside(b->problem->grid, what ? 1u << (what - 1) : 0, 0, -j)];
        to[more + b->n1 - 1 + j] =
            from[ht_fd_inside(b->problem->grid, what ? 1u << (what - 1) : 0, 0, b->n1 - 1 + j)];
    }
}

/* Sums of pairs of rows, weighted. */
static void add_pairs(const double *weight, int pairs, const double *const up[],
                      const double *const down[], int64_t count, double *out) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        double sum[LANES] = {0};
        for (int j = 0; j < pairs; j++)
            for (int l = 0; l < LANES; l++) sum[l] += weight[j] * (up[j][i + l] + down[j][i + l]);
        memcpy(out + i, sum, sizeof sum);
    }
    for (; i < count; i++) {
        double sum = 0;
        for (int j = 0; j < pairs; j++) sum += weight[j] * (up[j][i] + down[j][i]);
        out[i] = sum;
    }
}

static void multiply(int64_t count, const double *factor, double *x) {
    for (int64_t i = 0; i < count; i++) x[i] *= factor[i];
}

static void add(int64_t count, double factor, const double *x, double *out) {
    for (int64_t i = 0; i < count; i++) out[i] += factor * x[i];
}

/* Second derivatives: up[j] and down[j] are j nodes away. */
static void add_second(const struct bound *b, int axis, const struct room *room,
                       const double *middle, const double *const up[], const double *const down[],
                       double *out) {
    const double *w = b->w.second;
    add_pairs(w + 1, b->radius, up + 1, down + 1, b->n1, room->flux_row);
    add(b->n1, w[0], middle, room->flux_row);
    add(b->n1, b->scale[axis], room->flux_row, out);
}

/* Of fluxes. */
static void add_first(const struct bound *b, int axis, const struct room *room,
                      const double *const up[], const double *const down[], double *out) {
    add_pairs(b->w.first, b->radius, up, down, b->n1, room->row);
    add(b->n1, b->scale[axis], room->row, out);
}

static void along_x1(const struct bound *b, const struct room *room, const double *x,
                     const double *b1, double *out) {
    const double *up[HT_FD_RADIUS + 1], *down[HT_FD_RADIUS + 1];
    const int64_t r = b->radius, more = 2 * r;
    double *row = room->row, *flux = room->flux_row;
    continue_row(b, 0, x, row);
    for (int j = 0; j <= r; j++) {
        up[j] = row + more + j;
        down[j] = row + more - j;
    }
    if (!b->density) {
        add_second(b, 0, room, x, up, down, out);
        return;
    }
    for (int j = 0; j < r; j++) {
        up[j] = row + more - r + 1 + j;
        down[j] = row + more - r - j;
    }
    /* flux[r + f] belongs to f + 1/2, f = -r .. n1 + r - 2 */
    add_pairs(b->w.first, b->radius, up, down, b->n1 + 2 * r - 1, flux);
    continue_row(b, 1, b1, row);
    multiply(b->n1 + 2 * r - 1, row + more - r, flux);
    for (int j = 0; j < r; j++) {
        up[j] = flux + r + j;
        down[j] = flux + r - j - 1;
    }
    add_first(b, 0, room, up, down, out);
}

static const double *row_of(const struct bound *b, int what, const double *x, int64_t m2) {
    return x + ht_fd_inside(b->problem->grid, what ? 1u << (what - 1) : 0, 1, m2) * b->n1;
}

/* Those that rows [begin, end) need. */
static void fluxes_x2(const struct bound *b, const struct room *room, const double *x,
                      const double *b2, int64_t begin, int64_t end) {
    const double *up[HT_FD_RADIUS], *down[HT_FD_RADIUS];
    double *flux = room->flux_rows;
    for (int64_t f = begin - b->radius; f < end + b->radius - 1; f++) {
        for (int j = 0; j < b->radius; j++) {
            up[j] = row_of(b, 0, x, f + 1 + j);
            down[j] = row_of(b, 0, x, f - j);
        }
        add_pairs(b->w.first, b->radius, up, down, b->n1, flux);
        multiply(b->n1, row_of(b, 2, b2, f), flux);
        flux += b->n1;
    }
}

/* Rows from `begin` on have their fluxes. */
static void along_x2(const struct bound *b, const struct room *room, const double *x, int64_t begin,
                     int64_t m2, double *out) {
    const double *up[HT_FD_RADIUS + 1], *down[HT_FD_RADIUS + 1];
    const double *flux = room->flux_rows + (m2 - begin + b->radius) * b->n1;
    for (int j = 0; j <= b->radius && !b->density; j++) {
        up[j] = row_of(b, 0, x, m2 + j);
        down[j] = row_of(b, 0, x, m2 - j);
    }
    for (int j = 0; j < b->radius && b->density; j++) {
        up[j] = flux + j * b->n1;
        down[j] = flux - (j + 1) * b->n1;
    }
    if (b->density)
        add_first(b, 1, room, up, down, out);
    else
        add_second(b, 1, room, x + m2 * b->n1, up, down, out);
}

static void along_x3(const struct bound *b, const struct room *room, const struct power *p,
                     int64_t m3, int64_t row, double *out) {
    const double *up[HT_FD_RADIUS + 1], *down[HT_FD_RADIUS + 1];
    for (int j = 0; j <= b->radius && !b->density; j++) {
        up[j] = turn(b, p->x, b->turns, m3 + j) + row;
        down[j] = turn(b, p->x, b->turns, m3 - j) + row;
    }
    for (int j = 0; j < b->radius && b->density; j++) {
        up[j] = turn(b, p->flux, b->turns, m3 + j) + row;
        down[j] = turn(b, p->flux, b->turns, m3 - j - 1) + row;
    }
    if (b->density)
        add_first(b, 2, room, up, down, out);
    else
        add_second(b, 2, room, turn(b, p->x, b->turns, m3) + row, up, down, out);
}

/* The flux through x3 + (f + 1/2) h, of nodes from `node` on. */
static void flux_x3(const struct bound *b, const struct power *p, int64_t f, int64_t node,
                    int64_t count) {
    const double *up[HT_FD_RADIUS], *down[HT_FD_RADIUS];
    double *flux = turn(b, p->flux, b->turns, f) + node;
    for (int j = 0; j < b->radius; j++) {
        up[j] = turn(b, p->x, b->turns, f + 1 + j) + node;
        down[j] = turn(b, p->x, b->turns, f - j) + node;
    }
    add_pairs(b->w.first, b->radius, up, down, count, flux);
    multiply(count, medium_at(b, 3, f) + node, flux);
}

/* room->sum = |L| x on a row; the chunk's rows begin at `begin`. */
static void apply(const struct bound *b, const struct room *room, const struct power *p, int64_t m3,
                  int64_t begin, int64_t m2) {
    const int dims = b->problem->grid->dims;
    const int64_t row = m2 * b->n1;
    const double *x = turn(b, p->x, b->turns, m3);
    const double *b1 = b->density ? medium_at(b, 1, m3) + row : NULL;
    memset(room->sum, 0, (size_t)b->n1 * sizeof *room->sum);
    along_x1(b, room, x + row, b1, room->sum);
    if (dims > 1) along_x2(b, room, x, begin, m2, room->sum);
    if (dims > 2) along_x3(b, room, p, m3, row, room->sum);
    multiply(b->n1, medium_at(b, HT_FIT_MODULUS, m3) + row, room->sum);
}

/* ---- all powers along x3 ---- */

/* The powers between need not be judged. */
static void judge(const struct bound *b, int power, int64_t m3, const double *sum, const double *x,
                  double *most) {
    double largest = *most;
    if (m3 < b->begin || m3 >= b->end) return;
    if (power > 0 && power < POWERS - 1) return;
    for (int64_t i = 0; i < b->n1; i++) {
        const double quotient = sum[i] / x[i];
        largest = quotient > largest ? quotient : largest;
    }
    *most = largest;
}

/* What power can do at rows [begin, end) when x of the first one is known up to plane b->at. */
static void advance(const struct bound *b, const struct room *room, int power, int64_t begin,
                    int64_t end, double *most) {
    const struct power *p = &b->power[power];
    const int64_t m = b->at - (int64_t)(power + 1) * b->reach;
    const int64_t lowest = b->begin - (int64_t)(POWERS - 1 - power) * b->reach;
    const int64_t above = (int64_t)b->radius - 1;
    const double *x = turn(b, p->x, b->turns, m);
    if (b->density && b->reach > 0 && m >= lowest - 2 * above - 1)
        flux_x3(b, p, m + above, begin * b->n1, (end - begin) * b->n1);
    if (m < lowest) return;
    if (b->density && b->problem->grid->dims > 1)
        fluxes_x2(b, room, x, medium_at(b, 2, m), begin, end);
    for (int64_t m2 = begin; m2 < end; m2++) {
        apply(b, room, p, m, begin, m2);
        judge(b, power, m, room->sum, x + m2 * b->n1, most);
        if (power + 1 < POWERS)
            memcpy(turn(b, p[1].x, b->turns, m) + m2 * b->n1, room->sum,
                   (size_t)b->n1 * sizeof *room->sum);
    }
}

static enum ht_err advance_chunk(void *data, int64_t chunk, int worker) {
    const struct bound *b = data;
    const int64_t begin = ht_threads_first(b->n2, b->chunks, chunk);
    const int64_t end = ht_threads_first(b->n2, b->chunks, chunk + 1);
    for (int power = b->first; power < b->last; power++)
        advance(b, &b->room[worker], power, begin, end, &b->most[chunk][power]);
    return HT_OK;
}

static enum ht_err advance_all(struct bound *b, int64_t m3) {
    const int together = b->reach > 0 ? POWERS : 1;
    b->at = m3;
    for (b->first = 0; b->first < POWERS; b->first = b->last) {
        b->last = b->first + together;
        TRY(ht_threads_run(b->chunks, advance_chunk, b));
    }
    return HT_OK;
}

/* K, and b along the axes where it varies. */
static int kinds(const struct bound *b) {
    return b->density ? 1 + b->problem->grid->dims : 1;
}

static void count_fills(const struct bound *b, bool count) {
    if (b->fit != NULL) ht_fit_count(b->fit, count);
}

static bool own_plane(const struct bound *b, int64_t m3) {
    return m3 >= b->begin && m3 < b->end;
}

/* Planes [first, last) into the ring. Every rank counts its own planes. */
static enum ht_err fill_part(const struct bound *b, int what, int64_t first, int64_t last) {
    if (first >= last) return HT_OK;
    count_fills(b, own_plane(b, first));
    TRY(ht_fd_fill_planes(b->problem, what, what ? 1u << (what - 1) : 0, first, last, b->fill));
    count_fills(b, false);
    for (int64_t m3 = first; m3 < last; m3++)
        memcpy(medium_at(b, what, m3), b->fill + (m3 - first) * b->plane,
               (size_t)b->plane * sizeof *b->fill);
    return HT_OK;
}

/* Planes of the medium up to m3, and some more below `end`. */
static enum ht_err fill_medium(struct bound *b, int64_t m3, int64_t end) {
    const int64_t last = ht_least(m3 + b->block, end);
    const int64_t own[2] = {ht_least(ht_most(b->begin, m3), last),
                            ht_least(ht_most(b->end, m3), last)};
    if (m3 < b->filled) return HT_OK;
    for (int what = 0; what < kinds(b); what++) {
        TRY(fill_part(b, what, m3, own[0]));
        TRY(fill_part(b, what, own[0], own[1]));
        TRY(fill_part(b, what, own[1], last));
    }
    b->filled = last;
    return HT_OK;
}

static enum ht_err scan(struct bound *b) {
    const int64_t first = b->begin - (int64_t)POWERS * b->reach;
    const int64_t end = b->end + (int64_t)POWERS * b->reach;
    const int64_t ahead = b->density && b->reach > 0 ? b->radius - 1 : 0;
    const int64_t shift = ahead - b->reach; /* of the medium */
    struct ht_progress progress;
    enum ht_err err = HT_OK;
    b->filled = first + shift;
    ht_progress_start(&progress, "medium", (double)(end - first), "nodes", (double)b->plane);
    for (int64_t m3 = first; err == HT_OK && m3 < end; m3++) {
        err = fill_medium(b, m3 + shift, end + shift);
        if (err == HT_OK) err = advance_all(b, m3);
        ht_progress_update(&progress, (double)(m3 + 1 - first));
    }
    ht_progress_end(&progress);
    return err;
}

/* ---- memory ---- */

static void release(struct bound *b) {
    for (int what = 0; what < 4; what++) free(b->medium[what]);
    for (int p = 0; p < POWERS; p++) {
        free(b->power[p].x);
        free(b->power[p].flux);
    }
    for (int w = 0; b->room != NULL && w < b->workers; w++) {
        free(b->room[w].row);
        free(b->room[w].flux_row);
        free(b->room[w].flux_rows);
        free(b->room[w].sum);
    }
    free(b->room);
    free(b->most);
    free(b->fill);
}

static enum ht_err reserve_rooms(struct bound *b) {
    const int64_t more = 4 * (int64_t)b->radius;
    const int64_t rows = ht_divide_up(b->n2, b->chunks) + 1;
    TRY(HT_ALLOC(b->room, b->workers));
    for (int w = 0; w < b->workers; w++) {
        TRY(HT_ALLOC(b->room[w].row, b->n1 + more));
        TRY(HT_ALLOC(b->room[w].flux_row, b->n1 + more));
        if (b->density) TRY(HT_ALLOC(b->room[w].flux_rows, (rows + more) * b->n1));
        TRY(HT_ALLOC(b->room[w].sum, b->n1));
    }
    return HT_ALLOC(b->most, b->chunks);
}

static enum ht_err reserve(struct bound *b) {
    const int64_t turns = b->turns * b->plane;
    for (int what = 0; what < kinds(b); what++) TRY(HT_ALLOC(b->medium[what], b->kept * b->plane));
    for (int p = 0; p < POWERS; p++) {
        TRY(HT_ALLOC(b->power[p].x, turns));
        if (b->density && b->reach > 0) TRY(HT_ALLOC(b->power[p].flux, turns));
    }
    for (int64_t i = 0; i < turns; i++) b->power[0].x[i] = 1;
    TRY(HT_ALLOC(b->fill, b->block * b->plane));
    return reserve_rooms(b);
}

static void set_up(const struct ht_problem *problem, struct bound *b) {
    const struct ht_grid *grid = problem->grid;
    *b = (struct bound){.problem = problem,
                        .w = ht_fd_weights(problem->fd.order),
                        .density = problem->fd.density,
                        .radius = problem->fd.order / 2,
                        .n1 = ht_grid_nodes(grid, HT_PRIMARY, 0),
                        .n2 = ht_grid_nodes(grid, HT_PRIMARY, 1),
                        .plane = ht_grid_plane(grid, HT_PRIMARY)};
    const int reach = b->density ? 2 * b->radius - 1 : b->radius;
    b->reach = grid->dims > 2 ? reach : 0;
    b->turns = b->reach > 0 ? 2 * b->radius + 1 : 1;
    ht_grid_own(grid, HT_PRIMARY, &b->begin, &b->end);
    b->block = b->reach > 0 ? ht_fd_block_planes(grid) : 1;
    b->kept = (int)b->block;
    if (b->reach > 0) b->kept += (POWERS - 1) * b->reach + b->radius;
    b->workers = ht_threads_count();
    b->chunks = ht_threads_chunks(b->n2, ht_most(LEAST_NODES / b->n1, 4 * (int64_t)b->radius));
    for (int j = 0; j <= b->radius; j++) b->w.second[j] = fabs(b->w.second[j]);
    for (int j = 0; j < b->radius; j++) b->w.first[j] = fabs(b->w.first[j]);
}

/* Powers stay near 1: the scale is that of the first plane, for all ranks. */
static enum ht_err find_scale(struct bound *b, double *size) {
    const struct ht_grid *grid = b->problem->grid;
    const struct ht_fd_problem *fd = &b->problem->fd;
    double modulus = 0, steepest = 0;
    TRY(fd->fill(fd->medium, HT_FIT_MODULUS, 0, 1, b->fill));
    for (int64_t i = 0; i < b->plane; i++) modulus = fmax(modulus, b->fill[i]);
    for (int k = 0; k < grid->dims; k++) steepest = fmax(steepest, 1 / (grid->h[k] * grid->h[k]));
    *size = modulus * steepest;
    for (int k = 0; k < grid->dims; k++)
        b->scale[k] = (b->density ? 1 : fd->inverse_density) / (*size * grid->h[k] * grid->h[k]);
    return HT_OK;
}

enum ht_err ht_fd_bound(const struct ht_problem *problem, struct ht_fit *fit, double *most) {
    struct bound b;
    double size = 0, largest[2] = {0};
    set_up(problem, &b);
    b.fit = fit;
    count_fills(&b, false);
    enum ht_err err = reserve(&b);
    if (err == HT_OK) err = find_scale(&b, &size);
    if (err == HT_OK) err = scan(&b);
    for (int64_t c = 0; err == HT_OK && c < b.chunks; c++) {
        largest[0] = fmax(largest[0], b.most[c][0]);
        largest[1] = fmax(largest[1], b.most[c][POWERS - 1]);
    }
    release(&b);
    TRY(err);
    if (fit != NULL) TRY(ht_fit_counts_share(fit, problem->grid->slab.comm));
    TRY(ht_comm_max(problem->grid->slab.comm, 2, largest));
    *most = size * fmin(largest[0], largest[1]);
    return HT_OK;
}

static enum ht_err fill(const void *medium, int what, int64_t first, int64_t last, double *out) {
    const struct ht_plan *plan = medium;
    return ht_fit_fill(plan->fit, what, first, last, out);
}

/* omega^2 at rate 1. */
static double symbol_of(const struct ht_plan *plan) {
    const struct ht_fd_weights w = ht_fd_weights(plan->problem.fd.order);
    return plan->grid.dims * ht_fd_symbol(&w, plan->problem.fd.density, acos(-1.0));
}

/* omega^2 <= rate^2 symbol_of: where the spacing is the same along all axes and the medium is
 * uniform, the rate is c / h. */
static enum ht_err find_rate(struct ht_plan *plan, double *rate) {
    const struct ht_second_order *form = &plan->eq.second_order;
    struct ht_fd_problem *fd = &plan->problem.fd;
    const double *constant = plan->medium->constant;
    double most = 0, sum = 0;
    for (int k = 0; k < plan->grid.dims; k++)
        sum += 1 / (plan->grid.h[k] * plan->grid.h[k] * plan->grid.dims);
    if (plan->medium->uniform) {
        fd->inverse_density = form->inverse_density >= 0 ? constant[form->inverse_density] : 1;
        *rate = sqrt(constant[form->modulus] * fd->inverse_density * sum);
        return HT_OK;
    }
    TRY(ht_fit_create(plan->medium, plan->params->medium.fit, &plan->fit));
    fd->density = !ht_fit_density_uniform(plan->fit, &fd->inverse_density);
    fd->fill = fill;
    fd->medium = plan;
    plan->problem.grid = &plan->grid;
    TRY(ht_fd_bound(&plan->problem, plan->fit, &most));
    *rate = sqrt(most / symbol_of(plan));
    return HT_OK;
}

/* Ghosts of a periodic axis or a wall are nodes of the same window. */
enum ht_err ht_fd_check_points(const struct ht_plan *plan) {
    const struct ht_fd_spec spec = {.dims = plan->grid.dims,
                                    .radius = plan->problem.fd.order / 2,
                                    .density = plan->problem.fd.density};
    const int reach = ht_fd_reach(&spec);
    for (int k = 0; k < plan->grid.dims; k++)
        if (plan->grid.cells[k] <= reach)
            return ht_params_error(plan->params, "grid.cells",
                                   "the stencil of order %d reaches over %d points, but x%d has "
                                   "%lld cells: more than that are needed, or a lower grid.order",
                                   plan->problem.fd.order, reach, k + 1,
                                   (long long)plan->grid.cells[k]);
    return HT_OK;
}

/* The fit visits every point. */
enum ht_err ht_differences_plan_medium(struct ht_plan *plan, bool sampled) {
    (void)sampled;
    TRY(ht_medium_scan(plan->medium, true));
    plan->problem.fd = (struct ht_fd_problem){.order = plan->order};
    TRY(find_rate(plan, &plan->fd_rate));
    return ht_fd_check_points(plan);
}

/* Layers take one term in time: with two the fastest waves would grow in them (docs/absorbing.md).
 */
int ht_differences_plan_stages(const struct ht_plan *plan) {
    return plan->problem.layers != NULL && plan->layers.type == HT_ABSORBING_CPML ? 1 : 2;
}

double ht_differences_plan_limit(const struct ht_plan *plan, int stages) {
    const struct ht_fd_weights w = ht_fd_weights(plan->problem.fd.order);
    return ht_fd_stable(&w, plan->problem.fd.density, stages, plan->grid.dims);
}

double ht_differences_plan_cfl(const struct ht_plan *plan, double dt) {
    return plan->fd_rate * dt;
}

enum ht_err ht_differences_plan_order(struct ht_plan *plan) {
    plan->grid.order = 0;
    plan->grid.point_nodes = ht_point_nodes(plan->order);
    if (plan->order % 2 == 0 && plan->order <= 2 * HT_FD_RADIUS) return HT_OK;
    return ht_params_error(plan->params, "grid.order",
                           "is the order in space of finite differences "
                           "(time.scheme = \"fd\"): must be 2, 4 .. %d",
                           2 * HT_FD_RADIUS);
}

/* The first and the last slab hold the layers at the ends of x3. */
static enum ht_err check_layer_slabs(const struct ht_plan *plan, const int64_t *start) {
    const struct ht_grid *grid = &plan->grid;
    const int64_t reach = plan->order / 2;
    const int ranks = ht_comm_size(grid->slab.comm);
    for (int side = 0; side < 2; side++) {
        const int64_t planes = side == 0 ? start[1] : start[ranks] - start[ranks - 1];
        const int64_t cells = grid->layer[2][side], needed = cells + reach;
        if (plan->params->absorbing.type == HT_ABSORBING_SPONGE || cells == 0 || planes >= needed)
            continue;
        return ht_params_error(plan->params, "absorbing.cells",
                               "the layer at the %s side of x3 belongs to one rank: with order "
                               "%d its slab needs %lld planes, but has %lld of %d ranks",
                               side == 0 ? "lower" : "upper", plan->order, (long long)needed,
                               (long long)planes, ranks);
    }
    return HT_OK;
}

/* Ranks send planes that they own, as many as the stencil reaches over, before each pass. */
enum ht_err ht_differences_plan_slabs(const struct ht_plan *plan, const int64_t *start,
                                      int64_t thinnest) {
    const struct ht_fd_spec widest = {
        .dims = plan->grid.dims, .radius = plan->order / 2, .density = true};
    const int reach = ht_fd_reach(&widest), ranks = ht_comm_size(plan->grid.slab.comm);
    const int depth = plan->params->parallel.halo_depth;
    TRY(check_layer_slabs(plan, start));
    if (thinnest < reach)
        return ht_params_error(plan->params, "grid.cells",
                               "the stencil of order %d needs slabs of %d planes, but the "
                               "thinnest of %d ranks has %lld: run fewer ranks or take a lower "
                               "grid.order",
                               plan->order, reach, ranks, (long long)thinnest);
    if (thinnest < (int64_t)reach * depth)
        return ht_params_error(plan->params, "parallel.halo_depth",
                               "needs slabs of %lld planes, but the thinnest "
                               "of %d ranks has %lld: at most %lld",
                               (long long)reach * depth, ranks, (long long)thinnest,
                               (long long)(thinnest / reach));
    return HT_OK;
}

/* ---- sources ---- */

/* Points at which a wave along an axis errs by `most` over ten wavelengths. */
double ht_plan_needed_points(const struct ht_plan *plan) {
    if (plan->duhamel != NULL) return plan->duhamel->needed;
    const struct ht_fd_weights w = ht_fd_weights(plan->order);
    const double most = 0.1, wavelengths = 10, axis[3] = {1, 0, 0};
    double points = 3.5, widest = 0;
    for (int k = 0; k < plan->grid.dims; k++) widest = fmax(widest, plan->grid.h[k]);
    /* Where dispersion is removed steps count as if they were short. */
    const double dt = plan->problem.dt * (plan->problem.fd.undispersed ? 0.01 : 1);
    const double nu = plan->medium->speed_min * dt / widest;
    while (points < 1000 &&
           ht_fd_error(&w, plan->problem.stages, axis, points, nu, wavelengths) > most)
        points += 0.1;
    return points;
}

static enum ht_err check_forms(const struct ht_plan *plan) {
    static const char *const names[] = {"radius", "tolerance"};
    char key[48];
    for (int i = 0; i < 2 * plan->params->shots.count; i++) {
        snprintf(key, sizeof key, "sources.%d.%s", i / 2 + 1, names[i % 2]);
        if (ht_params_is_set(plan->params, key))
            return ht_params_error(plan->params, key,
                                   "has no meaning with time.scheme = \"fd\": "
                                   "it is for Hermite methods");
    }
    return HT_OK;
}

enum ht_err ht_differences_plan_shots(struct ht_plan *plan) {
    const double carried = 2.1;
    TRY(check_forms(plan));
    if (plan->shots == NULL || !(plan->problem.dt > 0)) return HT_OK;
    TRY(ht_shots_warn_jumps(plan->shots));
    TRY(ht_fd_surface_check(plan));
    const double points = ht_plan_shot_points(plan);
    const double needed = ht_plan_needed_points(plan);
    if (points < carried)
        return ht_params_error(plan->params, "sources",
                               "have frequencies up to %.3g, of which the grid has %.2g points "
                               "per wavelength where waves travel at %.3g: it carries none with "
                               "less than 2, and %.2g are needed",
                               plan->shots->highest, points, plan->medium->speed_min, needed);
    if (points < needed)
        ht_warn("sources have frequencies up to %.3g, of which the grid has "
                "%.2g points per wavelength where waves travel at %.3g: order "
                "%d needs %.2g for errors below 10 %% over ten wavelengths",
                plan->shots->highest, points, plan->medium->speed_min, plan->order, needed);
    return HT_OK;
}

enum { SPEEDS = 9 };

/* The error to expect of finite differences. They change a wave's frequency only, omega to Omega
 * (docs/differences.md), so that it errs by 2 sin((Omega - omega) t/2): exact where the medium is
 * uniform.
 *
 * Where it varies, a wave of frequency omega takes the wavelengths of every speed, and turns:
 * |Omega - omega| is at most the largest over the speeds between the least and the largest and over
 * axes, edges and corners of the grid. In a smooth medium that is an upper bound of the phase
 * error.
 */

/* (Omega - omega)/omega of a wave; INFINITY: it is not carried. */
static double shift_of(const struct ht_plan *plan, const struct ht_fd_weights *w, double speed,
                       const double k[3]) {
    const bool staggered = plan->problem.fd.density || plan->problem.fd.pair != HT_PAIR_NONE;
    double x = 0, square = 0;
    for (int j = 0; j < plan->grid.dims; j++) {
        const double h = plan->grid.h[j], theta = k[j] * h;
        const double nu = speed * plan->problem.dt / h;
        x += nu * nu * ht_fd_symbol(w, staggered, theta);
        square += k[j] * k[j];
    }
    return ht_fd_turn(plan->problem.stages, x) / (speed * sqrt(square) * plan->problem.dt) - 1;
}

/* The largest magnitude over directions with the same wavelength. */
static double worst_shift(const struct ht_plan *plan, const struct ht_fd_weights *w, double speed,
                          double length) {
    double worst = 0;
    for (int axes = 1; axes < 1 << plan->grid.dims; axes++) {
        const int used = (axes & 1) + (axes >> 1 & 1) + (axes >> 2 & 1);
        double k[3];
        for (int j = 0; j < 3; j++) k[j] = (axes >> j & 1) * length / sqrt(used);
        worst = fmax(worst, fabs(shift_of(plan, w, speed, k)));
    }
    return worst;
}

/* In a uniform medium that of the wave's kind, such as shear. */
static double speed_of(const struct ht_plan *plan, const double k[3]) {
    const struct ht_medium *medium = plan->medium;
    double real[HT_MAX_FIELDS] = {0}, imaginary[HT_MAX_FIELDS] = {0}, omega;
    if (!medium->uniform || plan->problem.fd.pair == HT_PAIR_NONE ||
        !ht_equations_plane(&plan->eq, medium->constant, k, plan->params->initial.wave, real,
                            imaginary, &omega))
        return medium->speed_min;
    return fabs(omega) / sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
}

double ht_fd_wave_error(const struct ht_plan *plan, const double k[3]) {
    const struct ht_fd_weights w = ht_fd_weights(plan->order);
    const double least = speed_of(plan, k);
    const double length = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    double fastest = least, shift = 0;
    for (int j = 0; j < plan->grid.dims; j++) fastest = fmax(fastest, plan->medium->speed[j]);
    if (plan->medium->uniform) shift = fabs(shift_of(plan, &w, least, k));
    for (int i = 0; i < SPEEDS && !plan->medium->uniform; i++) {
        const double speed = least * pow(fastest / least, i / (SPEEDS - 1.0));
        shift = fmax(shift, worst_shift(plan, &w, speed, length * least / speed));
    }
    const double phase = shift * least * length * plan->problem.dt * (double)plan->steps;
    return ht_fd_phase_error(phase);
}

/* A model of measurements: after 10^4 steps in uniform and in rough media of one and two dimensions
 * single precision was off by 0.7 to 7.5 u sqrt n of the wave, u = 2^-24
 * (test/convergence/rough.c); double by as much of its own u. */
void ht_fd_expect_rounding(const struct ht_plan *plan, bool fp64, struct ht_expected *expected) {
    const double unit = (fp64 ? DBL_EPSILON : FLT_EPSILON) / 2;
    const double r = 2.5 * unit * sqrt((double)plan->steps), side = 4;
    expected->error = hypot(expected->error, r);
    expected->low = fmax(expected->low - side * r, 0);
    expected->high += side * r;
}
