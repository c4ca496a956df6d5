/* The largest omega^2 of finite differences in a medium that varies, from
 * above. Every eigenvalue of a matrix is at most that of its magnitudes |L|,
 * and this is at most the largest quotient
 *     (|L| x)_i / x_i      for any positive x  (Collatz and Wielandt).
 * x = 1 gives the largest sum of magnitudes of a row. x = |L| 1, |L|^2 1 ..
 * give less, down to the eigenvalue of |L| itself. Weights alternate in sign,
 * so that |L| is -L between two diagonal matrices of signs and the bound has no
 * gap: but for odd periodic axes and free walls it becomes omega^2 itself. Each
 * quotient is proven, so few powers are enough, and no estimate from below with
 * a margin is needed.
 *
 * The powers are computed plane by plane along x3, each power behind the one
 * before by the reach of L, from planes of the medium that are kept until the
 * last power has used them. Beyond the grid everything continues periodically
 * or as a mirror image. Numbers of a node do not depend on the slab.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/fd.h"
#include "htwave/problem.h"

enum { POWERS = 4 };

struct power {
    double *x;    /* what it is applied to: planes in turn */
    double *flux; /* b_3 d_3 x, in turn */
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
    double *medium[4]; /* K, b_1, b_2, b_3 */
    struct power power[POWERS];
    double *row, *flux_row; /* with 2R nodes on either side */
    double *flux_rows;      /* rows -R .. n2 + R - 2 */
    double *sum;
    double most[POWERS];
    struct ht_progress progress;
};

/* The node (what = axis + 1: half a spacing above one) inside the grid whose
 * image is m. */
static int64_t inside(const struct bound *b, int what, int axis, int64_t m) {
    const struct ht_grid *grid = b->problem->grid;
    const int64_t n = ht_grid_nodes(grid, HT_PRIMARY, axis);
    const bool half = what == axis + 1, wraps = ht_grid_periodic(grid, axis);
    const int64_t period = wraps ? n : 2 * (n - 1);
    m = (m % period + period) % period;
    if (wraps || m < n - (half ? 1 : 0)) return m;
    return period - m - (half ? 1 : 0);
}

static double *turn(const struct bound *b, double *planes, int turns,
                    int64_t m) {
    return planes + (m % turns + turns) % turns * b->plane;
}

static double *medium_at(const struct bound *b, int what, int64_t m3) {
    return turn(b, b->medium[what], b->kept, m3);
}

/* ---- |L| of one plane ---- */

/* A row with its continuation. */
static void continue_row(const struct bound *b, int what, const double *from,
                         double *to) {
    const int64_t more = 2 * (int64_t)b->radius;
    memcpy(to + more, from, (size_t)b->n1 * sizeof *to);
    for (int64_t j = 0; j <= more; j++) {
        to[more - j] = from[inside(b, what, 0, -j)];
        to[more + b->n1 - 1 + j] = from[inside(b, what, 0, b->n1 - 1 + j)];
    }
}

static void add_second(const struct bound *b, int axis, const double *middle,
                       const double *const up[], const double *const down[],
                       double *out) {
    const double *w = b->w.second;
    for (int64_t i = 0; i < b->n1; i++) {
        double sum = w[0] * middle[i];
        for (int j = 1; j <= b->radius; j++)
            sum += w[j] * (up[j][i] + down[j][i]);
        out[i] += b->scale[axis] * sum;
    }
}

/* Sums of pairs of rows, weighted. */
static void first(const struct bound *b, const double *const up[],
                  const double *const down[], int64_t count, double *out) {
    const double *s = b->w.first;
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int j = 0; j < b->radius; j++)
            sum += s[j] * (up[j][i] + down[j][i]);
        out[i] = sum;
    }
}

static void multiply(int64_t count, const double *factor, double *x) {
    for (int64_t i = 0; i < count; i++) x[i] *= factor[i];
}

static void add(int64_t count, double factor, const double *x, double *out) {
    for (int64_t i = 0; i < count; i++) out[i] += factor * x[i];
}

static void along_x1(const struct bound *b, const double *x, const double *b1,
                     double *out) {
    const double *up[HT_FD_RADIUS + 1], *down[HT_FD_RADIUS + 1];
    const int64_t r = b->radius, more = 2 * r;
    double *row = b->row, *flux = b->flux_row;
    continue_row(b, 0, x, row);
    for (int j = 0; j <= r; j++) {
        up[j] = row + more + j;
        down[j] = row + more - j;
    }
    if (!b->density) {
        add_second(b, 0, row + more, up, down, out);
        return;
    }
    for (int j = 0; j < r; j++) {
        up[j] = row + more - r + 1 + j;
        down[j] = row + more - r - j;
    }
    /* flux[r + f] belongs to f + 1/2, f = -r .. n1 + r - 2 */
    first(b, up, down, b->n1 + 2 * r - 1, flux);
    continue_row(b, 1, b1, row);
    multiply(b->n1 + 2 * r - 1, row + more - r, flux);
    for (int j = 0; j < r; j++) {
        up[j] = flux + r + j;
        down[j] = flux + r - j - 1;
    }
    first(b, up, down, b->n1, row);
    add(b->n1, b->scale[0], row, out);
}

static const double *row_of(const struct bound *b, int what, const double *x,
                            int64_t m2) {
    return x + inside(b, what, 1, m2) * b->n1;
}

static void fluxes_x2(const struct bound *b, const double *x,
                      const double *b2) {
    const double *up[HT_FD_RADIUS], *down[HT_FD_RADIUS];
    for (int64_t f = -b->radius; f < b->n2 + b->radius - 1; f++) {
        double *flux = b->flux_rows + (f + b->radius) * b->n1;
        for (int j = 0; j < b->radius; j++) {
            up[j] = row_of(b, 0, x, f + 1 + j);
            down[j] = row_of(b, 0, x, f - j);
        }
        first(b, up, down, b->n1, flux);
        multiply(b->n1, row_of(b, 2, b2, f), flux);
    }
}

static void along_x2(const struct bound *b, const double *x, int64_t m2,
                     double *out) {
    const double *up[HT_FD_RADIUS + 1], *down[HT_FD_RADIUS + 1];
    for (int j = 0; j <= b->radius && !b->density; j++) {
        up[j] = row_of(b, 0, x, m2 + j);
        down[j] = row_of(b, 0, x, m2 - j);
    }
    for (int j = 0; j < b->radius && b->density; j++) {
        up[j] = b->flux_rows + (m2 + j + b->radius) * b->n1;
        down[j] = b->flux_rows + (m2 - j - 1 + b->radius) * b->n1;
    }
    if (b->density) {
        first(b, up, down, b->n1, b->row);
        add(b->n1, b->scale[1], b->row, out);
    } else {
        add_second(b, 1, up[0], up, down, out);
    }
}

static void along_x3(const struct bound *b, const struct power *p, int64_t m3,
                     int64_t row, double *out) {
    const double *up[HT_FD_RADIUS + 1], *down[HT_FD_RADIUS + 1];
    for (int j = 0; j <= b->radius && !b->density; j++) {
        up[j] = turn(b, p->x, b->turns, m3 + j) + row;
        down[j] = turn(b, p->x, b->turns, m3 - j) + row;
    }
    for (int j = 0; j < b->radius && b->density; j++) {
        up[j] = turn(b, p->flux, b->turns, m3 + j) + row;
        down[j] = turn(b, p->flux, b->turns, m3 - j - 1) + row;
    }
    if (b->density) {
        first(b, up, down, b->n1, b->row);
        add(b->n1, b->scale[2], b->row, out);
    } else {
        add_second(b, 2, up[0], up, down, out);
    }
}

/* The flux through x3 + (f + 1/2) h. */
static void flux_x3(const struct bound *b, const struct power *p, int64_t f) {
    const double *up[HT_FD_RADIUS], *down[HT_FD_RADIUS];
    double *flux = turn(b, p->flux, b->turns, f);
    for (int j = 0; j < b->radius; j++) {
        up[j] = turn(b, p->x, b->turns, f + 1 + j);
        down[j] = turn(b, p->x, b->turns, f - j);
    }
    first(b, up, down, b->plane, flux);
    multiply(b->plane, medium_at(b, 3, f), flux);
}

/* sum = |L| x on a plane. */
static void apply(const struct bound *b, const struct power *p, int64_t m3) {
    const int dims = b->problem->grid->dims;
    const double *x = turn(b, p->x, b->turns, m3);
    memset(b->sum, 0, (size_t)b->plane * sizeof *b->sum);
    if (b->density && dims > 1) fluxes_x2(b, x, medium_at(b, 2, m3));
    for (int64_t m2 = 0; m2 < b->n2; m2++) {
        const int64_t row = m2 * b->n1;
        const double *b1 = b->density ? medium_at(b, 1, m3) + row : NULL;
        along_x1(b, x + row, b1, b->sum + row);
        if (dims > 1) along_x2(b, x, m2, b->sum + row);
        if (dims > 2) along_x3(b, p, m3, row, b->sum + row);
    }
    multiply(b->plane, medium_at(b, HT_FIT_MODULUS, m3), b->sum);
}

/* ---- all powers along x3 ---- */

static void judge(struct bound *b, int power, int64_t m3) {
    const double *x = turn(b, b->power[power].x, b->turns, m3);
    if (m3 < b->begin || m3 >= b->end) return;
    for (int64_t i = 0; i < b->plane; i++)
        b->most[power] = fmax(b->most[power], b->sum[i] / x[i]);
}

/* What power can do when x of the first one is known up to plane m3. */
static void advance(struct bound *b, int power, int64_t m3) {
    const struct power *p = &b->power[power];
    const int64_t m = m3 - (int64_t)(power + 1) * b->reach;
    const int64_t lowest = b->begin - (int64_t)(POWERS - 1 - power) * b->reach;
    const int64_t above = (int64_t)b->radius - 1;
    if (b->density && b->reach > 0 && m >= lowest - 2 * above - 1)
        flux_x3(b, p, m + above);
    if (m < lowest) return;
    apply(b, p, m);
    judge(b, power, m);
    if (power + 1 < POWERS)
        memcpy(turn(b, p[1].x, b->turns, m), b->sum,
               (size_t)b->plane * sizeof *b->sum);
}

/* K, and b along the axes where it varies. */
static int kinds(const struct bound *b) {
    return b->density ? 1 + b->problem->grid->dims : 1;
}

static void count_fills(const struct bound *b, bool count) {
    if (b->fit != NULL) ht_fit_count(b->fit, count);
}

/* Every rank counts the values of its own planes. */
static enum ht_err fill_medium(const struct bound *b, int64_t m3) {
    const struct ht_fd_problem *fd = &b->problem->fd;
    count_fills(b, m3 >= b->begin && m3 < b->end);
    for (int what = 0; what < kinds(b); what++) {
        const int64_t at = b->reach > 0 ? inside(b, what, 2, m3) : 0;
        TRY(fd->fill(fd->medium, what, at, at + 1, medium_at(b, what, m3)));
    }
    count_fills(b, false);
    return HT_OK;
}

static enum ht_err scan(struct bound *b) {
    const int64_t first = b->begin - (int64_t)POWERS * b->reach;
    const int64_t end = b->end + (int64_t)POWERS * b->reach;
    const int64_t ahead = b->density && b->reach > 0 ? b->radius - 1 : 0;
    enum ht_err err = HT_OK;
    ht_progress_start(&b->progress, "medium", (double)(end - first), "nodes",
                      (double)b->plane);
    for (int64_t m3 = first; err == HT_OK && m3 < end; m3++) {
        err = fill_medium(b, m3 - b->reach + ahead);
        for (int p = 0; err == HT_OK && p < POWERS; p++) advance(b, p, m3);
        ht_progress_update(&b->progress, (double)(m3 + 1 - first));
    }
    ht_progress_end(&b->progress);
    return err;
}

/* ---- memory ---- */

static void release(struct bound *b) {
    for (int what = 0; what < 4; what++) free(b->medium[what]);
    for (int p = 0; p < POWERS; p++) {
        free(b->power[p].x);
        free(b->power[p].flux);
    }
    free(b->row);
    free(b->flux_row);
    free(b->flux_rows);
    free(b->sum);
}

static enum ht_err reserve(struct bound *b) {
    const int64_t more = 4 * (int64_t)b->radius;
    const int64_t turns = b->turns * b->plane;
    for (int what = 0; what < kinds(b); what++)
        TRY(HT_ALLOC(b->medium[what], b->kept * b->plane));
    for (int p = 0; p < POWERS; p++) {
        TRY(HT_ALLOC(b->power[p].x, turns));
        if (b->density && b->reach > 0) TRY(HT_ALLOC(b->power[p].flux, turns));
    }
    for (int64_t i = 0; i < turns; i++) b->power[0].x[i] = 1;
    TRY(HT_ALLOC(b->row, b->n1 + more));
    TRY(HT_ALLOC(b->flux_row, b->n1 + more));
    TRY(HT_ALLOC(b->flux_rows, (b->n2 + more) * b->n1));
    return HT_ALLOC(b->sum, b->plane);
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
    b->kept = b->reach > 0 ? (POWERS - 1) * b->reach + b->radius + 1 : 1;
    ht_grid_own(grid, HT_PRIMARY, &b->begin, &b->end);
    for (int j = 0; j <= b->radius; j++) b->w.second[j] = fabs(b->w.second[j]);
    for (int j = 0; j < b->radius; j++) b->w.first[j] = fabs(b->w.first[j]);
}

/* Powers stay near 1: the scale is that of the first plane, for all ranks. */
static enum ht_err find_scale(struct bound *b, double *size) {
    const struct ht_grid *grid = b->problem->grid;
    const struct ht_fd_problem *fd = &b->problem->fd;
    double modulus = 0, steepest = 0;
    TRY(fd->fill(fd->medium, HT_FIT_MODULUS, 0, 1, b->sum));
    for (int64_t i = 0; i < b->plane; i++) modulus = fmax(modulus, b->sum[i]);
    for (int k = 0; k < grid->dims; k++)
        steepest = fmax(steepest, 1 / (grid->h[k] * grid->h[k]));
    *size = modulus * steepest;
    for (int k = 0; k < grid->dims; k++)
        b->scale[k] = (b->density ? 1 : fd->inverse_density) /
                      (*size * grid->h[k] * grid->h[k]);
    return HT_OK;
}

enum ht_err ht_fd_bound(const struct ht_problem *problem, struct ht_fit *fit,
                        double *most) {
    struct bound b;
    double size = 0;
    set_up(problem, &b);
    b.fit = fit;
    count_fills(&b, false);
    enum ht_err err = reserve(&b);
    if (err == HT_OK) err = find_scale(&b, &size);
    if (err == HT_OK) err = scan(&b);
    release(&b);
    TRY(err);
    if (fit != NULL) TRY(ht_fit_counts_share(fit, problem->grid->slab.comm));
    TRY(ht_comm_max(problem->grid->slab.comm, POWERS, b.most));
    *most = size * fmin(b.most[0], b.most[POWERS - 1]);
    return HT_OK;
}
