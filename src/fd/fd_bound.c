/* The largest omega^2 of finite differences, from above, in any medium, by quotients (|L| x)_i /
 * x_i with x = |L|^n 1 (docs/developers/differences.md): each is proven, so that few powers are
 * enough.
 *
 * Beside closed sides differences are those of closures. On a free one C - C_.n C_n./C_nn is not
 * more than C, as a matrix, so that the bound with C in its place, where d_n v_n is empty, holds.
 *
 * The powers are computed plane by plane along x3, each group behind the other by the reach of its
 * differences, from planes of the medium that are kept until the last power has used them. Beyond
 * the grid everything continues periodically or as a mirror image, even, as magnitudes are. Numbers
 * of a node do not depend on the slab. Threads share the rows of a plane: a run of them reads
 * planes above and below at its own rows only, and other rows only of a plane that is done, or,
 * where there is no x3, one group is done after the other. */
#include "fd.h"

/* LEAST_NODES: of a chunk of rows, worth a thread. PAIRS: in one sum. */
enum { POWERS = 4, LEAST_NODES = 4096, LANES = 8, PAIRS = 3 * HT_FD_CLOSED_ROW };

/* A difference: sum over j of weight_j (x(m + offset_j) + x(m + turn - offset_j)). */
struct term {
    int row, col, axis, coefficient;
    int pairs, turn; /* turn: 1 up, -1 down, 0 second differences */
    int offset[HT_FD_RADIUS + 1];
    double weight[HT_FD_RADIUS + 1];
    double factor; /* of closures, which take the places of pairs */
};
struct bound {
    const struct ht_problem *problem;
    struct ht_frame *frame; /* NULL allowed */
    const struct ht_pair *pair;
    unsigned group[2]; /* a power makes the first, then the second, to which |L| is applied */
    int terms, first[HT_MAX_FIELDS + 1];
    struct term term[HT_MAX_TERMS]; /* by rows: those of field f from first[f] on */
    int dims, radius;
    int64_t n1, n2, plane, stride; /* nodes; of a row of a ring */
    struct ht_range own;           /* planes */
    int64_t wall[3][2];            /* nodes on closed sides, or far off */
    bool line;                     /* some are of x1 */
    unsigned stresses;             /* fields that change by closures of stresses */
    struct ht_fd_closure closure[2];
    struct ht_fd_weights weights;
    int64_t *inside[2][2]; /* [axis][half] nodes for -R .. n + R - 1 */
    double size;           /* of |L|: powers stay near 1 */
    double start[HT_MAX_FIELDS];
    /* Planes of what |L|^p is applied to, and of what it passes through, in turn: of rows with R
     * more values at both ends. */
    double *field[POWERS + 1][HT_MAX_FIELDS];
    int64_t reach, turns; /* of differences along x3, 0: there is no x3; planes of a field */
    double *medium[HT_MAX_TERMS];  /* magnitudes, planes in turn; NULL: in no term */
    double range[HT_MAX_TERMS][2]; /* of coefficients on own planes: least, most */
    int64_t block, kept, filled;   /* planes of a fill, of the medium; the first not filled yet */
    double *fill, *ones, *zeros;   /* of `block` planes; rows */
    double **row;                  /* of each worker */
    struct ht_pool *pool;          /* of all arrays */
    int64_t chunks;
    double (*most)[POWERS];     /* of each chunk */
    int power, stage, together; /* of one run of threads */
    int64_t at;                 /* plane of that run */
};

struct matrix {
    int n;
    double a[HT_MAX_FIELDS][HT_MAX_FIELDS];
};

/* What a term becomes where the coefficients are constants and differences i s. */
static double symbol_of(const struct ht_pair_term *term, const double *coefficient,
                        const double s[3], bool magnitudes) {
    const double value = term->coefficient < 0 ? 1 : coefficient[term->coefficient];
    const double symbol = term->factor * value * s[term->axis];
    return magnitudes ? fabs(symbol) : symbol;
}

/* Of -L on a group. */
static void find_symbol(const struct ht_pair *pair, unsigned group, const double *coefficient,
                        const double s[3], bool magnitudes, struct matrix *out) {
    *out = (struct matrix){.n = pair->nfields};
    for (const struct ht_pair_term *t = pair->term; t < pair->term + pair->nterms; t++) {
        const double first = symbol_of(t, coefficient, s, magnitudes);
        if (!(group >> t->row & 1u)) continue;
        if (group >> t->col & 1u) out->a[t->row][t->col] += first * s[t->axis];
        for (const struct ht_pair_term *r = pair->term; r < pair->term + pair->nterms; r++)
            if (r->row == t->col && !(group >> r->row & 1u))
                out->a[t->row][r->col] += first * symbol_of(r, coefficient, s, magnitudes);
    }
}

/* ---- |L| of one plane ---- */

static bool half(const struct bound *b, int field, int axis) {
    return b->pair->parity[field] >> axis & 1u;
}

/* Row m2 of plane m3. */
static double *field_at(const struct bound *b, double *planes, int64_t m3, int64_t m2) {
    const int64_t plane = (m3 % b->turns + b->turns) % b->turns;
    return planes + (plane * b->n2 + m2) * b->stride + b->radius;
}

static double *medium_at(const struct bound *b, int coefficient, int64_t m3) {
    return b->medium[coefficient] + (m3 % b->kept + b->kept) % b->kept * b->plane;
}

/* Of a group, 0 or 1, on the way from a power to the next: plane m is made in the run of threads of
 * plane m + lag. */
static int64_t lag(const struct bound *b, int power, int group) {
    return b->reach * (b->group[0] != 0 ? 2 * power + 1 + group : power + 1);
}

/* out = or += factor times the weighted sum of pairs of rows. */
static void add_pairs(int pairs, const double *weight, const double *const up[],
                      const double *const down[], int64_t count, const double *factor, bool more,
                      double *out) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        double sum[LANES] = {0};
        for (int j = 0; j < pairs; j++)
            for (int l = 0; l < LANES; l++) sum[l] += weight[j] * (up[j][i + l] + down[j][i + l]);
        for (int l = 0; l < LANES; l++)
            out[i + l] = (more ? out[i + l] : 0) + factor[i + l] * sum[l];
    }
    for (; i < count; i++) {
        double sum = 0;
        for (int j = 0; j < pairs; j++) sum += weight[j] * (up[j][i] + down[j][i]);
        out[i] = (more ? out[i] : 0) + factor[i] * sum;
    }
}

/* The row that a term reads so many nodes away. */
static const double *row_at(const struct bound *b, double *from, const struct term *t, int64_t m3,
                            int64_t m2, int away) {
    const int64_t *inside = b->inside[1][half(b, t->col, 1)] + b->radius;
    if (t->axis == 0) return field_at(b, from, m3, m2) + away;
    if (t->axis == 1) return field_at(b, from, m3, inside[m2 + away]);
    return field_at(b, from, m3 + away, m2);
}

/* What a term's difference at node m of its axis is where it ends at a closed side; as
 * ht_fd_closed_row, of magnitudes. */
static int find_closed(const struct bound *b, const struct term *t, int64_t m,
                       int offset[HT_FD_CLOSED_ROW], double weight[HT_FD_CLOSED_ROW]) {
    const int stresses = b->stresses >> t->row & 1u, up = t->turn == 1;
    const int count =
        ht_fd_closed_row(&b->closure[stresses], &b->weights, up, m - b->wall[t->axis][0],
                         b->wall[t->axis][1] - m, offset, weight);
    for (int j = 0; j < count; j++) weight[j] = t->factor * fabs(weight[j]);
    return count;
}

/* out = or += a term of x1, which ends at closed sides. */
static void add_line(const struct bound *b, const struct term *t, const double *from,
                     const double *factor, bool more, double *out) {
    int offset[HT_FD_CLOSED_ROW];
    double weight[HT_FD_CLOSED_ROW];
    for (int64_t m = 0; m < b->n1; m++) {
        const int count = find_closed(b, t, m, offset, weight);
        double sum = 0;
        for (int j = 0; j < count; j++) sum += weight[j] * from[m + offset[j]];
        for (int j = 0; count < 0 && j < t->pairs; j++)
            sum += t->weight[j] * (from[m + t->offset[j]] + from[m + t->turn - t->offset[j]]);
        out[m] = (more ? out[m] : 0) + factor[m] * sum;
    }
}

/* One row of a field. Terms with the same coefficient, which follow each other, make one sum. */
static void apply(const struct bound *b, int power, int field, int64_t m3, int64_t m2,
                  double *out) {
    const double *up[PAIRS], *down[PAIRS];
    double weight[PAIRS];
    int pairs = 0;
    bool more = false;
    for (int i = b->first[field]; i < b->first[field + 1]; i++) {
        const struct term *t = &b->term[i];
        double *from = b->field[power][t->col];
        const double *factor =
            t->coefficient < 0 ? b->ones : medium_at(b, t->coefficient, m3) + m2 * b->n1;
        int offset[HT_FD_CLOSED_ROW];
        if (t->axis == 0 && b->line) {
            if (pairs > 0) add_pairs(pairs, weight, up, down, b->n1, factor, more, out);
            more = more || pairs > 0;
            pairs = 0;
            add_line(b, t, field_at(b, from, m3, m2), factor, more, out);
            more = true;
            continue;
        }
        const int closed = find_closed(b, t, t->axis == 1 ? m2 : m3, offset, weight + pairs);
        for (int j = 0; j < closed; j++, pairs++) {
            up[pairs] = row_at(b, from, t, m3, m2, offset[j]);
            down[pairs] = b->zeros;
        }
        for (int j = 0; closed < 0 && j < t->pairs; j++, pairs++) {
            weight[pairs] = t->weight[j];
            up[pairs] = row_at(b, from, t, m3, m2, t->offset[j]);
            down[pairs] = row_at(b, from, t, m3, m2, t->turn - t->offset[j]);
        }
        if (i + 1 < b->first[field + 1] && t[1].coefficient == t->coefficient &&
            pairs + HT_FD_CLOSED_ROW <= PAIRS)
            continue;
        add_pairs(pairs, weight, up, down, b->n1, factor, more, out);
        more = true;
        pairs = 0;
    }
}

/* The powers between need not be judged. */
static void judge(const struct bound *b, int power, int64_t m3, const double *sum, const double *x,
                  double *most) {
    double largest = *most;
    if (m3 < b->own.first || m3 >= b->own.last) return;
    if (power > 0 && power < POWERS - 1) return;
    for (int64_t i = 0; i < b->n1; i++) {
        const double quotient = sum[i] / x[i];
        largest = quotient > largest ? quotient : largest;
    }
    *most = largest;
}

/* ---- all powers along x3 ---- */

/* Rows [begin, end) of a field of a group. */
static void advance(struct bound *b, int power, int group, int field, int64_t begin, int64_t end,
                    double *most) {
    const int64_t behind = lag(b, power, group), m3 = b->at - behind;
    const int64_t *inside = b->inside[0][half(b, field, 0)] + b->radius;
    double *to = b->field[power + group][field];
    if (m3 < b->own.first - (lag(b, POWERS - 1, 1) - behind)) return;
    for (int64_t m2 = begin; m2 < end; m2++) {
        double *out = to != NULL ? field_at(b, to, m3, m2) : b->row[ht_threads_worker()];
        apply(b, power, field, m3, m2, out);
        if (group == 1) judge(b, power, m3, out, field_at(b, b->field[power][field], m3, m2), most);
        for (int64_t j = 1; to != NULL && j <= b->radius; j++) {
            out[-j] = out[inside[-j]];
            out[b->n1 + j - 1] = out[inside[b->n1 + j - 1]];
        }
    }
}

static HT_ERR advance_chunk(void *data, int64_t chunk) {
    struct bound *b = data;
    const int64_t begin = ht_threads_first(b->n2, b->chunks, chunk);
    const int64_t end = ht_threads_first(b->n2, b->chunks, chunk + 1);
    for (int i = 0; i < b->together; i++) {
        const int power = b->power + (b->stage + i) / 2;
        const int group = (b->stage + i) % 2;
        HT_EACH_BIT(f, b->group[group])
            advance(b, power, group, f, begin, end, &b->most[chunk][power]);
    }
    return HT_OK;
}

static void count_fills(const struct bound *b, bool count) {
    if (b->frame != NULL) ht_frame_count(b->frame, count);
}

/* Planes [first, last) into the ring. Every rank counts its own planes. */
static HT_ERR fill_part(struct bound *b, int coefficient, int64_t first, int64_t last) {
    const bool own = first >= b->own.first && first < b->own.last;
    const unsigned parity = b->pair->coefficient[coefficient].parity;
    const int64_t end1 = b->inside[0][parity & 1u][b->radius + b->n1 - 1];
    const int64_t end2 = b->inside[1][parity >> 1 & 1u][b->radius + b->n2 - 1];
    double *range = b->range[coefficient];
    if (first >= last || (!own && b->medium[coefficient] == NULL)) return HT_OK;
    count_fills(b, own);
    TRY(ht_fd_fill_planes(b->problem, coefficient, parity, first, last, b->fill));
    count_fills(b, false);
    for (int64_t m3 = first; m3 < last; m3++) {
        double *plane = b->fill + (m3 - first) * b->plane;
        /* The last values between nodes lie behind a wall. */
        for (int64_t m2 = 0; m2 < b->n2; m2++)
            plane[(m2 + 1) * b->n1 - 1] = plane[m2 * b->n1 + end1];
        for (int64_t m1 = 0; m1 < b->n1; m1++)
            plane[(b->n2 - 1) * b->n1 + m1] = plane[end2 * b->n1 + m1];
        for (int64_t i = 0; own && i < b->plane; i++) {
            range[0] = plane[i] < range[0] ? plane[i] : range[0];
            range[1] = plane[i] > range[1] ? plane[i] : range[1];
        }
        if (b->medium[coefficient] == NULL) continue;
        double *to = medium_at(b, coefficient, m3);
        for (int64_t i = 0; i < b->plane; i++) to[i] = fabs(plane[i]);
    }
    return HT_OK;
}

/* Planes of the medium up to m3, and some more below `end`. */
static HT_ERR fill_medium(struct bound *b, int64_t m3, int64_t end) {
    const int64_t last = ht_least(m3 + b->block, end);
    const int64_t at[] = {m3, ht_least(ht_most(b->own.first, m3), last),
                          ht_least(ht_most(b->own.last, m3), last), last};
    if (m3 < b->filled) return HT_OK;
    for (int c = 0; c < b->pair->ncoefficients; c++)
        for (int part = 0; part < 3; part++) TRY(fill_part(b, c, at[part], at[part + 1]));
    b->filled = last;
    return HT_OK;
}

static HT_ERR scan(struct bound *b) {
    const int64_t ahead = lag(b, 0, b->group[0] != 0 ? 0 : 1), all = lag(b, POWERS - 1, 1);
    const int64_t first = b->own.first - all + 2 * ahead, end = b->own.last + all;
    struct ht_progress progress;
    enum ht_err err = HT_OK;
    b->filled = first - ahead;
    b->together = b->dims > 2 ? 2 * POWERS : 1;
    ht_progress_start(&progress, "medium", (double)(end - first), "nodes", (double)b->plane);
    for (int64_t m3 = first; err == HT_OK && m3 < end; m3++) {
        err = fill_medium(b, m3 - ahead, end - ahead);
        b->at = m3;
        for (int i = 0; err == HT_OK && i < 2 * POWERS; i += b->together) {
            b->power = i / 2;
            b->stage = i % 2;
            err = ht_threads_run(b->chunks, advance_chunk, b);
        }
        ht_progress_update(&progress, (double)(m3 + 1 - first));
    }
    ht_progress_end(&progress);
    return err;
}

static HT_ERR reserve(struct bound *b) {
    for (int i = 0; i < b->terms; i++) {
        const int c = b->term[i].coefficient;
        if (c >= 0 && b->medium[c] == NULL) TRY(HT_TAKE(b->pool, b->medium[c], b->kept * b->plane));
    }
    for (int p = 0; p < POWERS; p++)
        HT_EACH_BIT(f, b->group[0] | b->group[1])
            TRY(HT_TAKE(b->pool, b->field[p][f], b->turns * b->stride * b->n2));
    for (unsigned i = 0; i < 4; i++) {
        const unsigned axis = i / 2, half = i % 2;
        const int64_t nodes = axis == 0 ? b->n1 : b->n2;
        int64_t **inside = &b->inside[axis][half];
        TRY(HT_TAKE(b->pool, *inside, nodes + 2 * (int64_t)b->radius));
        for (int64_t m = -b->radius; m < nodes + b->radius; m++)
            (*inside)[b->radius + m] = ht_fd_inside(b->problem->grid, half << axis, (int)axis, m);
    }
    TRY(HT_TAKE(b->pool, b->fill, b->block * b->plane));
    TRY(HT_TAKE(b->pool, b->ones, b->n1));
    TRY(HT_TAKE(b->pool, b->zeros, b->n1));
    for (int64_t i = 0; i < b->n1; i++) b->ones[i] = 1;
    TRY(HT_TAKE(b->pool, b->most, b->chunks));
    TRY(HT_TAKE(b->pool, b->row, ht_threads_count()));
    for (int w = 0; w < ht_threads_count(); w++) TRY(HT_TAKE(b->pool, b->row[w], b->n1));
    return HT_OK;
}

/* ---- one run ---- */

static bool is_second(const struct ht_pair *pair, const struct ht_pair_term *term) {
    const unsigned both = 1u << term->row | 1u << term->col;
    return (pair->group[0] & both) == both || (pair->group[1] & both) == both;
}

/* Sums of magnitudes of weights. */
static double find_sum(const struct ht_problem *problem, bool second) {
    const struct ht_fd_weights w = ht_fd_weights(problem->fd.order);
    double sum = second ? fabs(w.second[0]) : 0;
    for (int j = 0; j < w.radius; j++) sum += 2 * fabs(second ? w.second[j + 1] : w.first[j]);
    return second ? sqrt(sum) : sum;
}

static void add_term(struct bound *b, const struct ht_pair_term *from) {
    const struct ht_fd_weights w = b->weights;
    const double h = b->problem->grid->h[from->axis];
    const bool second = is_second(b->pair, from), up = ht_pair_up(b->pair, from->col, from->axis);
    struct term *t = &b->term[b->terms++];
    *t = (struct term){.row = from->row,
                       .col = from->col,
                       .axis = from->axis,
                       .coefficient = from->coefficient,
                       .pairs = second ? w.radius + 1 : w.radius,
                       .turn = second ? 0
                               : up   ? 1
                                      : -1,
                       .factor = fabs(from->factor) / (h * sqrt(b->size))};
    for (int j = 0; j < t->pairs; j++) {
        const double factor = fabs(from->factor) / (second ? h * h * b->size : h * sqrt(b->size));
        const bool middle = j == w.radius; /* of second differences, twice */
        t->offset[j] = middle ? 0 : second || up ? j + 1 : j;
        t->weight[j] = factor * (middle   ? fabs(w.second[0]) / 2
                                 : second ? fabs(w.second[j + 1])
                                          : fabs(w.first[j]));
    }
}

/* By rows, of these by coefficients. */
static void list_terms(struct bound *b) {
    for (int f = 0; f < b->pair->nfields; f++) {
        b->first[f] = b->terms;
        for (int c = -1; c < b->pair->ncoefficients; c++)
            for (int t = 0; t < b->pair->nterms; t++)
                if (b->pair->term[t].row == f && b->pair->term[t].coefficient == c)
                    add_term(b, &b->pair->term[t]);
    }
    b->first[b->pair->nfields] = b->terms;
}

/* The size of |L|, and the ratio of fields that grows most, by the first plane, for all ranks. */
static HT_ERR find_start(struct bound *b) {
    const struct ht_fd_problem *fd = &b->problem->fd;
    double coefficient[HT_MAX_TERMS] = {0}, s[3];
    struct matrix x;
    HT_ARRAY(double, plane, b->plane);
    for (int c = 0; c < b->pair->ncoefficients; c++) {
        TRY(fd->fill(fd->medium, c, 0, 1, plane));
        for (int64_t i = 0; i < b->plane; i++)
            coefficient[c] = fmax(coefficient[c], fabs(plane[i]));
    }
    for (int k = 0; k < 3; k++)
        s[k] = find_sum(b->problem, is_second(b->pair, &b->pair->term[0])) / b->problem->grid->h[k];
    find_symbol(b->pair, b->group[1], coefficient, s, true, &x);
    const double size = ht_largest_eigenvalue(x.n, x.a);
    b->size = size > 0 && size < INFINITY ? size : 1;
    double most = 0;
    for (int f = 0; f < x.n; f++) {
        for (int j = 0; j < x.n; j++) b->start[f] += x.a[f][j];
        most = fmax(most, b->start[f]);
    }
    for (int f = 0; f < x.n; f++) b->start[f] = most > 0 ? fmax(b->start[f] / most, 1e-6) : 1;
    return HT_OK;
}

/* Closures reach over as many nodes as they have, but one. */
static void set_walls(struct bound *b) {
    const struct ht_grid *grid = b->problem->grid;
    for (int n = 0; n < 6; n++) {
        const int k = n / 2, side = n % 2;
        b->wall[k][side] = ht_pair_surface(grid, k, side);
        b->line = b->line || (k == 0 && ht_grid_closed(grid, k, side));
    }
    if (!ht_grid_closes(grid)) return;
    for (int kind = 0; kind < 2; kind++)
        b->closure[kind] = ht_fd_closure(b->problem->fd.order, kind == 1);
    b->stresses = b->pair->group[ht_pair_stresses(b->pair)];
    b->radius = (int)ht_most(b->radius, b->closure[0].nodes - 1);
}

static void set_up(const struct ht_problem *problem, const struct ht_pair *pair, int group,
                   struct bound *b) {
    const struct ht_grid *grid = problem->grid;
    *b = (struct bound){.problem = problem,
                        .pair = pair,
                        .group = {pair->group[1 - group], pair->group[group]},
                        .dims = grid->dims,
                        .radius = problem->fd.order / 2,
                        .n1 = ht_grid_nodes(grid, HT_PRIMARY, 0),
                        .n2 = ht_grid_nodes(grid, HT_PRIMARY, 1),
                        .plane = ht_grid_plane(grid, HT_PRIMARY),
                        .weights = ht_fd_weights(problem->fd.order)};
    set_walls(b);
    b->stride = b->n1 + 2 * (int64_t)b->radius;
    b->reach = b->dims > 2 ? b->radius : 0;
    b->turns = 2 * b->reach + 1;
    b->block = b->dims > 2 ? ht_fd_block_planes(grid) : 1;
    b->kept = b->block + lag(b, POWERS - 1, 1) - b->reach;
    b->own = ht_grid_own(grid, HT_PRIMARY);
    b->chunks = ht_threads_chunks(b->n2, ht_most(LEAST_NODES / b->n1, 4 * (int64_t)b->radius));
    for (int c = 0; c < pair->ncoefficients; c++)
        b->range[c][0] = INFINITY, b->range[c][1] = -INFINITY;
}

/* The same on all ranks. */
static HT_ERR share(struct bound *b, double (*range)[2], double *most) {
    double all[2 * HT_MAX_TERMS + 2] = {0};
    const int count = b->pair->ncoefficients;
    for (int64_t c = 0; c < b->chunks; c++) {
        all[0] = fmax(all[0], b->most[c][0]);
        all[1] = fmax(all[1], b->most[c][POWERS - 1]);
    }
    for (int c = 0; c < count; c++) {
        all[2 * c + 2] = -b->range[c][0];
        all[2 * c + 3] = b->range[c][1];
    }
    TRY(ht_comm_max(b->problem->grid->slab.comm, 2 * count + 2, all));
    for (int c = 0; c < count; c++) range[c][0] = -all[2 * c + 2], range[c][1] = all[2 * c + 3];
    *most = b->size * fmin(all[0], all[1]);
    return HT_OK;
}

/* By |L| on a group. */
static HT_ERR run(const struct ht_problem *problem, struct ht_frame *frame,
                  const struct ht_pair *pair, int group, double (*range)[2], double *most) {
    HT_ENDED(ht_pool_free) struct ht_pool pool = {NULL};
    struct bound b;
    set_up(problem, pair, group, &b);
    b.frame = frame;
    b.pool = &pool;
    count_fills(&b, false);
    TRY(find_start(&b));
    list_terms(&b);
    TRY(reserve(&b));
    HT_EACH_BIT(f, b.group[1])
        for (int64_t i = 0; i < b.turns * b.stride * b.n2; i++) b.field[0][f][i] = b.start[f];
    TRY(scan(&b));
    return share(&b, range, most);
}

/* ---- any first-order system ---- */

/* In uniform media, exactly but on odd periodic axes: with real s the eigenvalue is convex, so that
 * it is largest in a corner. */
static double find_uniform(const struct ht_problem *problem, const struct ht_pair *pair, int group,
                           const double *coefficient) {
    const double sum = find_sum(problem, false), *h = problem->grid->h;
    double most = 0;
    for (int corner = 0; corner < 4; corner++) {
        const double s[3] = {sum / h[0], (corner & 1 ? -sum : sum) / h[1],
                             (corner & 2 ? -sum : sum) / h[2]};
        struct matrix x;
        find_symbol(pair, pair->group[group], coefficient, s, false, &x);
        most = fmax(most, ht_largest_eigenvalue(x.n, x.a));
    }
    return most;
}

/* Whether the differences of a group are a curl: L without coefficients is -|s|^2 but on a null
 * space, and magnitudes are larger. Powers of these s are independent of each other. */
static bool is_curl(const struct ht_pair *pair, int group) {
    const double s[3] = {1, exp(1) / 2, acos(-1.0) / 2};
    const double square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
    double ones[HT_MAX_TERMS], worst = 0;
    struct matrix x, magnitudes;
    for (int c = 0; c < pair->nown; c++) {
        ones[c] = 1;
        if (pair->coefficient[c].row != pair->coefficient[c].col) return false;
    }
    find_symbol(pair, pair->group[group], ones, s, false, &x);
    find_symbol(pair, pair->group[group], ones, s, true, &magnitudes);
    for (int i = 0; i < x.n * x.n; i++) {
        double rest = -square * x.a[i / x.n][i % x.n]; /* of x x */
        for (int k = 0; k < x.n; k++) rest += x.a[i / x.n][k] * x.a[k][i % x.n];
        worst = fmax(worst, fabs(rest));
    }
    return worst < 1e-12 * square * square &&
           ht_largest_eigenvalue(magnitudes.n, magnitudes.a) > square * (1 + 1e-9);
}

static void append(struct ht_pair *pair, int row, int col, int axis, double factor,
                   int coefficient) {
    pair->term[pair->nterms++] = (struct ht_pair_term){
        .row = row, .col = col, .axis = axis, .factor = factor, .coefficient = coefficient};
}

/* Each field of a group by itself: all its differences, and back. False: too many. */
static bool make_gradients(const struct ht_pair *pair, int group, struct ht_pair *out) {
    *out = *pair;
    out->nterms = 0;
    out->group[1 - group] = 0;
    HT_EACH_BIT(f, pair->group[group]) {
        int coefficient = -1;
        for (int t = 0; t < pair->nterms; t++)
            if (pair->term[t].row == f) coefficient = pair->term[t].coefficient;
        for (int k = 0; k < pair->dims; k++) {
            const int slope = out->nfields++;
            if (slope >= HT_MAX_FIELDS || out->nterms + 2 > HT_MAX_TERMS) return false;
            out->parity[slope] = pair->parity[f] ^ 1u << k;
            out->group[1 - group] |= 1u << slope;
            append(out, slope, f, k, 1, -1);
            append(out, f, slope, k, 1, coefficient);
        }
    }
    return true;
}

/* By the gradients of a curl. *constant: the other group's coefficients are. */
static HT_ERR bound_gradients(const struct ht_problem *problem, const struct ht_pair *pair,
                              const struct ht_pair *gradients, int group, double (*range)[2],
                              double *most, bool *constant) {
    double others[2] = {INFINITY, 0};
    TRY(run(problem, NULL, gradients, group, range, most));
    for (int c = 0; c < pair->nown; c++) {
        if (pair->group[group] >> pair->coefficient[c].row & 1u) continue;
        others[0] = fmin(others[0], range[c][0]);
        others[1] = fmax(others[1], range[c][1]);
    }
    *most *= others[1];
    *constant = others[0] > others[1] * (1 - 1e-9);
    return HT_OK;
}

/* In uniform media with closed sides: nothing varies further from them than powers reach. */
static HT_ERR bound_sides(const struct ht_problem *problem, const struct ht_pair *pair, int group,
                          const double *coefficient, double *most) {
    struct ht_grid grid = ht_grid_whole(problem->grid);
    struct ht_problem small = *problem;
    double range[HT_MAX_TERMS][2];
    for (int k = 0; k < grid.dims; k++) {
        const bool closed = ht_grid_closed(&grid, k, 0) || ht_grid_closed(&grid, k, 1);
        const int64_t beside = 2 * (int64_t)POWERS * (HT_FD_CLOSED - 1);
        grid.cells[k] = ht_least(grid.cells[k], closed ? 2 * (beside + 1) : 4);
    }
    small.grid = &grid;
    small.fd.fill = ht_fd_fill_numbers;
    small.fd.medium = &small;
    memcpy(small.fd.number, coefficient, sizeof small.fd.number);
    return run(&small, NULL, pair, group, range, most);
}

int64_t ht_pair_bound_planes(const struct ht_problem *problem) {
    return problem->grid->dims > 2 ? 2 * POWERS * (problem->fd.order / 2) : 0;
}

HT_ERR ht_pair_bound(const struct ht_problem *problem, const struct ht_pair *pair,
                     double (*range)[2], double *most) {
    int fields[2] = {0};
    double coefficient[HT_MAX_TERMS] = {0}, magnitudes;
    bool uniform = true, enough = false;
    struct ht_pair gradients;
    for (int f = 0; f < pair->nfields; f++) fields[pair->group[1] >> f & 1u]++;
    const int group = fields[0] < fields[1] ? 0 : 1;
    for (int c = 0; c < pair->ncoefficients; c++) {
        const int material = pair->coefficient[c].material;
        coefficient[c] = material < 0 ? 1 : problem->uniform[material];
    }
    if (problem->fd.fill == NULL && ht_grid_closes(problem->grid))
        return bound_sides(problem, pair, group, coefficient, most);
    *most = problem->fd.fill == NULL ? find_uniform(problem, pair, group, coefficient) : INFINITY;
    if (problem->fd.fill == NULL) return HT_OK;
    if (is_curl(pair, group) && make_gradients(pair, group, &gradients))
        TRY(bound_gradients(problem, pair, &gradients, group, range, most, &enough));
    if (enough) return HT_OK;
    TRY(run(problem, NULL, pair, group, range, &magnitudes));
    for (int c = 0; c < pair->nown; c++) {
        coefficient[c] = range[c][1];
        uniform = uniform && range[c][0] == range[c][1];
    }
    uniform = uniform && !ht_grid_closes(problem->grid);
    *most = fmin(*most, uniform ? find_uniform(problem, pair, group, coefficient) : magnitudes);
    return HT_OK;
}

HT_ERR ht_fd_bound(const struct ht_problem *problem, struct ht_frame *frame, double *most) {
    const struct ht_pair pair = ht_problem_second_order(problem);
    double range[HT_MAX_TERMS][2];
    TRY(run(problem, frame, &pair, 1, range, most));
    return frame != NULL ? ht_frame_share_counts(frame, problem->grid->slab.comm) : HT_OK;
}
