/* What couples fields of a group at different places where a face is oblique to the grid (struct
 * ht_pair; docs/developers/differences.md): C gets N^T (theta O) N at points of a parity, where
 * entries above 1e-4 of D's trace are listed; none in absorbing layers, which damp what terms do.
 * Of fields with losses D is what remains of it at rest. The step's bound holds for coefficients of
 * entries at a point multiplied by 1 + eps, and those of a field around by 1 + the mean of eps over
 * its points (ht_pair_faces_raise).
 *
 * A point behind a wall is a mirror image: its coupling of r and q changes the sign where only one
 * of them is odd there. Kernels add in an order by which images stay images to the last bit. */
#include "fd.h"

/* The way to a neighbour along an axis: from a point to the fields around it, whose parities differ
 * in the axes `apart`, or back. */
static int64_t way_to(unsigned meets, unsigned apart, unsigned corner, int axis, bool back) {
    const int which = corner >> axis & 1u, upper = meets >> axis & 1u;
    return apart >> axis & 1u ? which - (back ? upper : !upper) : 0;
}

static bool has_wall(const struct ht_grid *grid, int axis) {
    return axis < grid->dims && !ht_grid_periodic(grid, axis);
}

void ht_pair_faces_destroy(struct ht_pair_faces *faces) {
    if (faces == NULL) return;
    for (int group = 0; group < 2; group++) {
        free(faces->listed[group].first);
        free(faces->listed[group].node);
        free(faces->listed[group].excess);
        free(faces->listed[group].value);
    }
    free(faces);
}

/* ---- the list ---- */

struct sweep {
    struct ht_pair_faces *faces;
    const struct ht_problem *problem;
    int group, rows, row[HT_MAX_FIELDS], number[HT_MAX_FIELDS];
    int64_t first, last; /* planes at a time */
    int64_t n[2];
    /* Of these planes, of coefficients around of one more at the ends. */
    double *value[HT_MAX_TERMS];
    struct ht_pool *pool; /* of these */
    struct ht_range own;  /* planes */
    int64_t listed;       /* entries there */
    /* Looks at each point. */
    enum ht_err (*visit)(struct sweep *w, const int64_t m[3]);
    /* Of ht_gradient_couple: sums on own planes, of couplings on the planes beside them. */
    double *const *sum, *beside[2];
};

static bool is_used(const struct sweep *w, int c) {
    const struct ht_pair_coefficient *of = &w->faces->pair.coefficient[c];
    return w->number[of->row] >= 0 && w->number[of->col] >= 0;
}

static int64_t beyond(const struct sweep *w, int c) {
    const struct ht_pair *pair = &w->faces->pair;
    return pair->dims > 2 && pair->coefficient[c].parity != pair->meets[w->group] ? 1 : 0;
}

/* Of the points around m, sign -1: minus the largest; where: there. */
static double least_of(const struct sweep *w, int c, double sign, const int64_t m[3],
                       int64_t where[3]) {
    const struct ht_pair *pair = &w->faces->pair;
    const unsigned meets = pair->meets[w->group], parity = pair->coefficient[c].parity;
    double least = INFINITY;
    for (unsigned corner = 0; corner < 8; corner++) {
        int64_t at[3];
        if (corner & ~(parity ^ meets)) continue;
        for (int k = 0; k < 3; k++) at[k] = m[k] + way_to(meets, parity ^ meets, corner, k, false);
        for (int k = 0; k < 2; k++) at[k] = ht_fd_inside(w->faces->grid, parity, k, at[k]);
        const int64_t plane = at[2] - w->first + beyond(w, c);
        const double value = sign * w->value[c][(plane * w->n[1] + at[1]) * w->n[0] + at[0]];
        if (!(value < least)) continue;
        least = value;
        memcpy(where, at, sizeof at);
    }
    return least;
}

/* What remains of D at rest, where losses have taken their part (docs/developers/differences.md):
 * the least of the points around. 0: something flows for ever. */
static double rest_of(const struct sweep *w, const int64_t m[3]) {
    const struct ht_pair *pair = &w->faces->pair;
    double taken[HT_MAX_FIELDS] = {0}, most = 0;
    int64_t where[3];
    HT_EACH(const struct ht_pair_loss, loss, pair->loss, pair->nlosses) {
        if (w->number[loss->row] < 0) continue;
        double part = -least_of(w, loss->strength, -1, m, where);
        if (loss->bulk >= 0) part = fmax(part, -least_of(w, loss->bulk, -1, m, where));
        if (part > 0 && loss->position < 0) return 0;
        if (part > 0 && loss->frequency >= 0) part /= least_of(w, loss->frequency, 1, m, where);
        taken[loss->row] += part * part;
        most = fmax(most, taken[loss->row]);
    }
    return 1 / (1 + most);
}

static int64_t depth_of(const struct ht_grid *grid, int axis, int side) {
    return ht_grid_closed(grid, axis, side) ? HT_FD_CLOSED : grid->layer[axis][side];
}

/* No coupling is in absorbing layers, the rows of a side's closure, or beside them; the last
 * point between nodes before a wall is the image of the one before. */
static bool is_open(const struct sweep *w, const int64_t m[3]) {
    const struct ht_grid *grid = w->faces->grid;
    const unsigned meets = w->faces->pair.meets[w->group];
    for (int k = 0; k < grid->dims; k++) {
        const int64_t low = depth_of(grid, k, 0), high = depth_of(grid, k, 1);
        if ((low > 0 && m[k] <= low) || (high > 0 && m[k] + 1 >= grid->cells[k] - high))
            return false;
        if (has_wall(grid, k) && (meets >> k & 1u) && m[k] == grid->cells[k]) return false;
    }
    return true;
}

/* On a mirror a field that is odd is not coupled to an even one. */
static bool is_none(const struct sweep *w, const struct ht_pair_coefficient *of,
                    const int64_t m[3]) {
    const struct ht_pair *pair = &w->faces->pair;
    const unsigned odd = (pair->parity[of->row] ^ pair->parity[of->col]) & ~of->parity;
    for (int k = 0; k < 3 && k < pair->dims; k++)
        if (odd >> k & 1u && has_wall(w->faces->grid, k) &&
            (m[k] == 0 || m[k] == w->faces->grid->cells[k]))
            return true;
    return false;
}

/* The largest theta; D changes. *excess: eps. x: x^T (D + theta O) x is the least, x^T D x = 1. */
static double find_theta(int n, double *D, const double *O, double trace, double *excess,
                         double *x) {
    const double rounding = 1e-9, nearly = 0.999;
    double V[HT_MAX_FIELDS * HT_MAX_FIELDS], S[HT_MAX_FIELDS * HT_MAX_FIELDS];
    double U[HT_MAX_FIELDS * HT_MAX_FIELDS], most = 0;
    int least = 0;
    ht_eigen(n, D, V);
    for (int i = 0; i < n * n; i++) {
        const int row = i / n, col = i % n;
        const double a = D[row * n + row], b = D[col * n + col];
        double sum = 0;
        for (int j = 0; j < n * n; j++) sum += V[j / n * n + row] * O[j] * V[j % n * n + col];
        const bool inside = fmin(a, b) > rounding * trace;
        if (!inside && fabs(sum) > rounding * trace) return 0;
        S[i] = inside ? sum / sqrt(a * b) : 0;
    }
    ht_eigen(n, S, U);
    for (int i = 0; i < n; i++) {
        if (S[i * n + i] < S[least * n + least]) least = i;
        most = fmax(most, S[i * n + i]);
    }
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        for (int j = 0; j < n; j++)
            if (D[j * n + j] > rounding * trace)
                x[i] += V[i * n + j] * U[j * n + least] / sqrt(D[j * n + j]);
    }
    const double lambda = fmin(S[least * n + least], 0);
    const double theta = lambda > -nearly ? 1 : nearly / -lambda;
    *excess = theta * most;
    return theta;
}

static HT_ERR add_entry(struct sweep *w, const int64_t m[3], double theta, double excess) {
    struct ht_pair_listed *to = &w->faces->listed[w->group];
    const int64_t at = ((m[2] - w->first) * w->n[1] + m[1]) * w->n[0] + m[0];
    TRY(HT_GROW(to->node, to->count + 1, to->room[0]));
    TRY(HT_GROW(to->excess, to->count + 1, to->room[1]));
    TRY(HT_GROW(to->value, (to->count + 1) * to->couplings, to->room[2]));
    to->node[to->count] = (int)(m[1] * w->n[0] + m[0]);
    to->excess[to->count] = excess;
    for (int i = 0; i < to->couplings; i++) {
        const int c = to->coupling + i;
        const bool none = is_none(w, &w->faces->pair.coefficient[c], m);
        to->value[to->count * to->couplings + i] = none ? 0 : theta * w->value[c][at];
    }
    w->listed += m[2] >= w->own.first && m[2] < w->own.last;
    to->count++;
    return HT_OK;
}

/* What a point is listed with. */
struct point {
    double O[HT_MAX_FIELDS * HT_MAX_FIELDS], x[HT_MAX_FIELDS], theta, excess;
    int64_t where[HT_MAX_TERMS][3]; /* the least values of D */
};

/* Whether it is listed. */
static bool find_point(const struct sweep *w, const int64_t m[3], struct point *p) {
    const struct ht_pair *pair = &w->faces->pair;
    const struct ht_pair_listed *to = &w->faces->listed[w->group];
    const int64_t at = ((m[2] - w->first) * w->n[1] + m[1]) * w->n[0] + m[0];
    const int n = w->rows;
    const double worth = 1e-4;
    double D[HT_MAX_FIELDS * HT_MAX_FIELDS], trace = 0, most = 0;
    memset(D, 0, (size_t)(n * n) * sizeof *D);
    memset(p->O, 0, (size_t)(n * n) * sizeof *p->O);
    for (int c = to->coupling; c < to->coupling + to->couplings; c++) {
        const int i = w->number[pair->coefficient[c].row], j = w->number[pair->coefficient[c].col];
        if (!is_none(w, &pair->coefficient[c], m))
            p->O[i * n + j] = p->O[j * n + i] = w->value[c][at];
        most = fmax(most, fabs(p->O[i * n + j]));
    }
    const double rest = most > 0 && is_open(w, m) ? rest_of(w, m) : 0;
    if (rest == 0) return false;
    for (int c = 0; c < pair->ncoefficients; c++) {
        if (!is_used(w, c) || pair->coefficient[c].loss) continue;
        const int i = w->number[pair->coefficient[c].row], j = w->number[pair->coefficient[c].col];
        D[i * n + j] = D[j * n + i] = rest * least_of(w, c, 1, m, p->where[c]);
        if (i == j) trace += D[i * n + i];
    }
    if (most <= worth * trace) return false;
    p->theta = find_theta(n, D, p->O, trace, &p->excess, p->x);
    return p->theta > 0;
}

static HT_ERR list_point(struct sweep *w, const int64_t m[3]) {
    struct point p;
    return find_point(w, m, &p) ? add_entry(w, m, p.theta, p.excess) : HT_OK;
}

static HT_ERR sweep_planes(struct sweep *w, const bool *wanted) {
    const struct ht_pair *pair = &w->faces->pair;
    int64_t *first = w->faces->listed[w->group].first;
    const int64_t planes = ht_grid_nodes(w->faces->grid, HT_PRIMARY, 2);
    const int64_t block = ht_least(ht_fd_block_planes(w->faces->grid), planes);
    if (w->rows == 0) return HT_OK;
    for (int c = 0; c < pair->ncoefficients + pair->ncouplings; c++)
        if (is_used(w, c)) TRY(HT_TAKE(w->pool, w->value[c], (block + 2) * w->n[1] * w->n[0]));
    for (w->first = 0; w->first < planes; w->first = w->last) {
        w->last = w->first + 1;
        while (w->last < planes && w->last - w->first < block &&
               wanted[w->last] == wanted[w->first])
            w->last++;
        for (int c = 0; wanted[w->first] && c < pair->ncoefficients + pair->ncouplings; c++)
            if (is_used(w, c))
                TRY(ht_fd_fill_planes(w->problem, c, pair->coefficient[c].parity,
                                      w->first - beyond(w, c), w->last + beyond(w, c),
                                      w->value[c]));
        for (int64_t m3 = w->first; m3 < w->last; m3++) {
            for (int64_t n = 0; wanted[w->first] && n < w->n[0] * w->n[1]; n++)
                TRY(w->visit(w, (const int64_t[3]){n % w->n[0], n / w->n[0], m3}));
            if (w->sum == NULL) first[m3 + 1] = w->faces->listed[w->group].count;
        }
    }
    return HT_OK;
}

static struct sweep sweep_of(struct ht_pair_faces *faces, const struct ht_problem *problem,
                             int group, struct ht_pool *pool) {
    struct sweep w = {.faces = faces,
                      .problem = problem,
                      .group = group,
                      .pool = pool,
                      .own = ht_grid_own(faces->grid, HT_PRIMARY)};
    w.rows = ht_pair_rows(&faces->pair, group, w.row);
    for (int f = 0; f < HT_MAX_FIELDS; f++) w.number[f] = -1;
    for (int i = 0; i < w.rows; i++) w.number[w.row[i]] = i;
    for (int k = 0; k < 2; k++) w.n[k] = ht_grid_nodes(faces->grid, HT_PRIMARY, k);
    return w;
}

static HT_ERR find_group(struct ht_pair_faces *faces, const struct ht_problem *problem, int group,
                         const bool *wanted) {
    struct ht_pair_listed *to = &faces->listed[group];
    HT_ENDED(ht_pool_free) struct ht_pool pool = {NULL};
    struct sweep w = sweep_of(faces, problem, group, &pool);
    w.visit = list_point;
    to->couplings = ht_pair_couplings(&faces->pair, group, &to->coupling);
    TRY(HT_ALLOC(to->first, ht_grid_nodes(faces->grid, HT_PRIMARY, 2) + 1));
    TRY(sweep_planes(&w, wanted));
    to->share = (double)w.listed;
    return HT_OK;
}

HT_ERR ht_pair_faces_find(const struct ht_problem *problem, const struct ht_pair *pair,
                          int64_t more, struct ht_pair_faces **out) {
    const struct ht_grid *grid = problem->grid;
    struct ht_pair_faces *faces = NULL;
    HT_FREED bool *wanted = NULL;
    double listed[2];
    *out = NULL;
    TRY(HT_ALLOC(faces, 1));
    *faces = (struct ht_pair_faces){.grid = grid, .pair = *pair};
    const struct ht_range own = ht_grid_own(grid, HT_PRIMARY);
    enum ht_err err = HT_ALLOC(wanted, ht_grid_nodes(grid, HT_PRIMARY, 2));
    for (int64_t m = own.first - more; err == HT_OK && m < own.last + more; m++)
        wanted[ht_fd_inside(grid, 0, 2, m)] = true;
    for (int group = 0; err == HT_OK && group < 2; group++)
        err = find_group(faces, problem, group, wanted);
    for (int group = 0; group < 2; group++) listed[group] = faces->listed[group].share;
    err = ht_comm_agree(grid->slab.comm, err);
    if (err == HT_OK) err = ht_comm_sum(grid->slab.comm, 2, listed);
    HT_EACH_AT(group, struct ht_pair_listed, of, faces->listed, 2) {
        of->share = listed[group] / (double)ht_grid_total(grid, HT_PRIMARY);
        of->used = of->share > 0 && 3 * of->share <= 1;
    }
    return HT_MADE(err, faces, ht_pair_faces_destroy, out);
}

HT_ERR ht_pair_faces_test(const struct ht_problem *part, const struct ht_pair_faces *whole,
                          struct ht_pair_faces **out) {
    TRY(ht_pair_faces_find(part, &whole->pair, 0, out));
    for (int group = 0; group < 2; group++)
        (*out)->listed[group].used = (*out)->listed[group].used && whole->listed[group].used;
    return HT_OK;
}

/* ---- derivatives by what is listed ---- */

/* Of a sum at node n of a plane of the grid, which is an own one or, of couplings, beside them;
 * NULL: it is not. */
static double *sum_at(const struct sweep *w, int c, int64_t plane, int64_t n) {
    const int64_t size = w->n[0] * w->n[1], i = c - w->faces->listed[w->group].coupling;
    if (plane >= w->own.first && plane < w->own.last)
        return &w->sum[c][(plane - w->own.first) * size + n];
    for (int side = 0; side < 2 && i >= 0; side++)
        if (plane == ht_fd_inside(w->faces->grid, 0, 2, side ? w->own.last : w->own.first - 1))
            return &w->beside[side][i * size + n];
    return NULL;
}

/* theta = -nearly/s, s = x^T O x / x^T D x: d theta = -theta/s (x^T dO x - s x^T dD x). */
static HT_ERR couple_point(struct sweep *w, const int64_t m[3]) {
    const struct ht_pair *pair = &w->faces->pair;
    const struct ht_pair_listed *of = &w->faces->listed[w->group];
    const int64_t n = m[1] * w->n[0] + m[0];
    const bool own = m[2] >= w->own.first && m[2] < w->own.last;
    struct point p;
    double by_theta = 0, s = 0;
    if (!find_point(w, m, &p)) return HT_OK;
    for (int c = of->coupling; c < of->coupling + of->couplings; c++) {
        const int i = w->number[pair->coefficient[c].row], j = w->number[pair->coefficient[c].col];
        by_theta += p.O[i * w->rows + j] * *sum_at(w, c, m[2], n);
        s += 2 * p.O[i * w->rows + j] * p.x[i] * p.x[j];
    }
    if (p.theta == 1) by_theta = 0;
    for (int c = 0; c < of->coupling + of->couplings; c++) {
        if (!is_used(w, c)) continue;
        const struct ht_pair_coefficient *at = &pair->coefficient[c];
        const int i = w->number[at->row], j = w->number[at->col];
        const double by = p.theta * by_theta * p.x[i] * p.x[j] * (i == j ? 1 : 2);
        if (c >= of->coupling) {
            double *sum = sum_at(w, c, m[2], n);
            if (own) *sum = is_none(w, at, m) ? 0 : p.theta * *sum - (by != 0 ? by / s : 0);
        } else {
            const int64_t *where = p.where[c];
            double *sum = sum_at(w, c, ht_fd_inside(w->faces->grid, at->parity, 2, where[2]),
                                 where[1] * w->n[0] + where[0]);
            if (sum != NULL) *sum += by;
        }
    }
    return HT_OK;
}

enum { TAG = 78 }; /* no other's */

/* Of neighbours the planes of couplings beside own ones; those of each rank go to both. */
static HT_ERR exchange(struct sweep *w) {
    const struct ht_grid *grid = w->faces->grid;
    const struct ht_pair_listed *of = &w->faces->listed[w->group];
    const int64_t size = w->n[0] * w->n[1], values = size * of->couplings;
    HT_ARRAY(double, out, values);
    for (int side = 0; side < 2; side++) {
        const int to = ht_grid_neighbour(grid, side), from = ht_grid_neighbour(grid, 1 - side);
        struct ht_message *message = NULL;
        enum ht_err err = HT_OK;
        for (int64_t i = 0; i < values; i++)
            out[i] = *sum_at(w, of->coupling + (int)(i / size),
                             side ? w->own.last - 1 : w->own.first, i % size);
        TRY(HT_TAKE(w->pool, w->beside[1 - side], values));
        if (to >= 0)
            TRY(ht_message_send(grid->slab.comm, to, TAG, out, values * (int64_t)sizeof *out,
                                &message));
        if (from >= 0)
            err = ht_message_pass(grid->slab.comm, from, TAG, false, w->beside[1 - side],
                                  values * (int64_t)sizeof *out);
        if (err == HT_OK && message != NULL) err = ht_message_wait(&message);
        ht_message_abandon(message);
        TRY(err);
    }
    return HT_OK;
}

static HT_ERR couple_group(const struct ht_problem *problem, struct ht_pair_faces *faces, int group,
                           double *const *sum) {
    HT_ENDED(ht_pool_free) struct ht_pool pool = {NULL};
    struct sweep w = sweep_of(faces, problem, group, &pool);
    w.visit = couple_point;
    w.sum = sum;
    HT_ARRAY(bool, wanted, ht_grid_nodes(faces->grid, HT_PRIMARY, 2));
    if (!faces->listed[group].used || sum[faces->listed[group].coupling] == NULL) return HT_OK;
    for (int64_t m = w.own.first - 1; m <= w.own.last; m++)
        wanted[ht_fd_inside(faces->grid, 0, 2, m)] = true;
    TRY(exchange(&w));
    return sweep_planes(&w, wanted);
}

HT_ERR ht_gradient_couple(const struct ht_plan *plan, double *const *sum) {
    struct ht_pair_faces *faces = plan->faces;
    struct ht_problem problem = plan->problem;
    struct ht_plan again = *plan; /* with a frame of the couplings, too */
    if (problem.fd.faces == NULL) return HT_OK;
    problem.fd.fill = ht_fd_fill_frame;
    problem.fd.medium = &again;
    enum ht_err err =
        ht_frame_create(plan->medium, &faces->pair,
                        ht_frame_kind(plan->medium, plan->params->medium.fit), &again.frame);
    for (int group = 0; group < 2 && err == HT_OK; group++)
        err = couple_group(&problem, faces, group, sum);
    ht_frame_destroy(again.frame);
    return ht_comm_agree(plan->grid.slab.comm, err);
}

bool ht_pair_faces_use(const struct ht_pair_faces *faces, int group) {
    return faces != NULL && faces->listed[group].used;
}

double ht_pair_faces_share(const struct ht_pair_faces *faces, int group) {
    return faces->listed[group].share;
}

/* ---- what is listed around a plane ---- */

/* Numbers of entries of three planes, with one node more at all ends, -1: none. */
struct around {
    const struct ht_pair_faces *faces;
    int group;
    int64_t n[2], width, size; /* of a row, of a plane */
    int64_t *number;
    bool any[3];
};

static int64_t slot_of(int64_t m3) {
    return (m3 % 3 + 3) % 3;
}

static int64_t *number_at(const struct around *a, int64_t m1, int64_t m2, int64_t m3) {
    return a->number + slot_of(m3) * a->size + (m2 + 1) * a->width + m1 + 1;
}

static void around_end(struct around *a) {
    free(a->number);
}

static HT_ERR around_begin(const struct ht_pair_faces *faces, int group, struct around *a) {
    a->faces = faces;
    a->group = group;
    for (int k = 0; k < 2; k++) a->n[k] = ht_grid_nodes(faces->grid, HT_PRIMARY, k);
    a->width = a->n[0] + 2;
    a->size = a->width * (a->n[1] + 2);
    return HT_ALLOC(a->number, 3 * a->size);
}

/* Plane m3 of the grid, or beyond it. */
static void around_fill(struct around *a, int64_t m3) {
    const struct ht_grid *grid = a->faces->grid;
    const struct ht_pair_listed *of = &a->faces->listed[a->group];
    const unsigned meets = a->faces->pair.meets[a->group];
    const int64_t plane = ht_fd_inside(grid, meets, 2, m3);
    a->any[slot_of(m3)] = of->first[plane] < of->first[plane + 1];
    if (!a->any[slot_of(m3)]) return;
    for (int64_t i = 0; i < a->size; i++) *(number_at(a, -1, -1, m3) + i) = -1;
    for (int64_t i = of->first[plane]; i < of->first[plane + 1]; i++)
        *number_at(a, of->node[i] % a->n[0], of->node[i] / a->n[0], m3) = i;
    for (int64_t m2 = -1; m2 <= a->n[1]; m2++) {
        const int64_t from2 = ht_fd_inside(grid, meets, 1, m2);
        for (int64_t m1 = -1; m1 <= a->n[0]; m1++) {
            const int64_t from1 = ht_fd_inside(grid, meets, 0, m1);
            if (from1 != m1 || from2 != m2)
                *number_at(a, m1, m2, m3) = *number_at(a, from1, from2, m3);
            if (from2 == m2 && m1 == 0) m1 = ht_most(a->n[0] - 2, 0);
        }
    }
}

/* Numbers around the point of a field in the cell of node m; whether there is one. */
static bool around_find(const struct around *a, unsigned parity, const int64_t m[3],
                        int64_t number[8]) {
    const unsigned meets = a->faces->pair.meets[a->group], apart = parity ^ meets;
    bool found = false;
    int count = 0;
    for (unsigned corner = 0; corner < 8; corner++) {
        int64_t at[3];
        if (corner & ~apart) continue;
        for (int k = 0; k < 3; k++) at[k] = m[k] + way_to(meets, apart, corner, k, true);
        number[count] = a->any[slot_of(at[2])] ? *number_at(a, at[0], at[1], at[2]) : -1;
        found = found || number[count] >= 0;
        count++;
    }
    for (; count < 8; count++) number[count] = -1;
    return found;
}

/* ---- the step's bound ---- */

HT_ERR ht_pair_faces_raise(const struct ht_pair_faces *faces, int what, int64_t first, int64_t last,
                           double *out) {
    const struct ht_pair_coefficient *of = &faces->pair.coefficient[what];
    const int group = faces->pair.group[1] >> of->row & 1u;
    int row[HT_MAX_FIELDS];
    const int rows = ht_pair_rows(&faces->pair, group, row);
    HT_ENDED(around_end) struct around a = {.group = group};
    bool coupled = false;
    for (int i = 0; i < rows; i++) coupled = coupled || row[i] == of->row;
    if (!coupled || !faces->listed[group].used) return HT_OK;
    const double *excess = faces->listed[group].excess;
    const int corners = 1 << ht_pair_axes(of->parity ^ faces->pair.meets[group]);
    TRY(around_begin(faces, group, &a));
    for (int64_t m3 = first; m3 < last; m3++) {
        for (int64_t near = m3 == first ? m3 - 1 : m3 + 1; near <= m3 + 1; near++)
            around_fill(&a, near);
        for (int64_t n = 0; n < a.n[0] * a.n[1]; n++, out++) {
            int64_t number[8];
            double sum = 0;
            if (!around_find(&a, of->parity, (const int64_t[3]){n % a.n[0], n / a.n[0], m3},
                             number))
                continue;
            for (int i = 0; i < corners; i++) sum += number[i] >= 0 ? excess[number[i]] : 0;
            *out *= 1 + sum / corners;
        }
    }
    return HT_OK;
}

/* Whether the image at m is a mirror's. */
static bool is_turned(const struct ht_grid *grid, unsigned parity, int axis, int64_t m) {
    const int64_t period = 2 * (ht_grid_nodes(grid, HT_PRIMARY, axis) - 1);
    if (!has_wall(grid, axis)) return false;
    m = (m % period + period) % period;
    return m > period / 2 - (parity >> axis & 1u);
}

static int compare_nodes(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* The entry of a point, or of what it is the image of, -1: none; turned: axes of mirrors. */
static int64_t find_entry(const struct ht_pair_faces *faces, int group, const int64_t m[3],
                          unsigned *turned) {
    const struct ht_pair_listed *of = &faces->listed[group];
    const unsigned meets = faces->pair.meets[group];
    int64_t at[3];
    *turned = 0;
    for (int k = 0; k < 3; k++) {
        at[k] = ht_fd_inside(faces->grid, meets, k, m[k]);
        if (k < faces->pair.dims && is_turned(faces->grid, meets, k, m[k])) *turned |= 1u << k;
    }
    const int node = (int)(at[1] * ht_grid_nodes(faces->grid, HT_PRIMARY, 0) + at[0]);
    const int64_t first = of->first[at[2]];
    const int *found =
        of->first[at[2] + 1] > first
            ? bsearch(&node, of->node + first, (size_t)(of->first[at[2] + 1] - first), sizeof node,
                      compare_nodes)
            : NULL;
    return found != NULL ? found - of->node : -1;
}

/* Of fields at such places a coupling, one of them turned. */
static double turned_value(const struct ht_pair *pair, const struct ht_pair_coefficient *c,
                           unsigned turned, double value) {
    const unsigned odd = (pair->parity[c->row] ^ pair->parity[c->col]) & turned;
    return ht_pair_axes(odd) % 2 ? -value : value;
}

/* ---- what sources drive at other places ---- */

/* From field `from` at place a, by so much. */
static void spread_from(const struct ht_pair_spread *s, const int64_t a[3], double weight) {
    const struct ht_pair *pair = &s->faces->pair;
    const int group = pair->group[1] >> s->from & 1u;
    const struct ht_pair_listed *of = &s->faces->listed[group];
    const unsigned meets = pair->meets[group];
    const unsigned apart[2] = {pair->parity[s->from] ^ meets, pair->parity[s->to] ^ meets};
    const struct ht_pair_coefficient *c = pair->coefficient + of->coupling;
    while (c->row != ht_least(s->from, s->to) || c->col != ht_most(s->from, s->to)) c++;
    const int64_t coupling = c - pair->coefficient - of->coupling;
    weight /= 1 << (ht_pair_axes(apart[0]) + ht_pair_axes(apart[1]));
    for (unsigned both = 0; both < 64; both++) {
        const unsigned corner[2] = {both & 7u, both >> 3};
        int64_t point[3], to[3];
        unsigned turned;
        bool inside = !(corner[0] & ~apart[0]) && !(corner[1] & ~apart[1]);
        for (int k = 0; k < 3 && inside; k++) {
            const int64_t most = s->faces->grid->cells[k] - (pair->parity[s->to] >> k & 1u);
            point[k] = a[k] + way_to(meets, apart[0], corner[0], k, true);
            to[k] = point[k] + way_to(meets, apart[1], corner[1], k, false);
            if (has_wall(s->faces->grid, k)) inside = to[k] >= 0 && to[k] <= most;
        }
        const int64_t entry = inside ? find_entry(s->faces, group, point, &turned) : -1;
        if (entry < 0) continue;
        for (int k = 0; k < 3; k++) to[k] -= s->low[k];
        s->sum[(to[2] * s->n[1] + to[1]) * s->n[0] + to[0]] +=
            weight * turned_value(pair, c, turned, of->value[entry * of->couplings + coupling]);
    }
}

/* With the images of the node behind a wall. */
void ht_pair_faces_spread(const struct ht_pair_spread *s, const int64_t node[3], double weight) {
    const struct ht_grid *grid = s->faces->grid;
    const unsigned parity = s->faces->pair.parity[s->from];
    for (int i = 0; i < 64; i++) {
        int64_t a[3];
        double part = weight;
        for (int k = 0; k < 3; k++) {
            const int which = i >> 2 * k & 3;
            const int64_t image[4] = {node[k], -1, grid->cells[k], grid->cells[k] + 1};
            a[k] = image[which];
            if (which == 0) continue;
            const bool is = has_wall(grid, k) && is_turned(grid, parity, k, a[k]) &&
                            ht_fd_inside(grid, parity, k, a[k]) == node[k];
            part *= is ? ht_wall_sign(s->eq, s->from, k, grid->wall[k][which > 1]) : 0;
        }
        if (part != 0) spread_from(s, a, part);
    }
}

/* ---- the lists of a window ---- */

struct lists {
    const struct ht_pair_stepper *s;
    struct around *around;
    struct ht_pair_meets *to;
    int rows, row[HT_MAX_FIELDS];
    int64_t room[4];
};

static int64_t node_of(const struct lists *l, int64_t m1, int64_t m2, int64_t window3) {
    const struct ht_fd_box *box = &l->s->fd.box;
    return window3 * box->plane + (box->begin[1] + m2) * box->row + box->begin[0] + m1;
}

static HT_ERR add_point(struct lists *l, const int64_t m[3], int64_t window3, int64_t *number) {
    const struct ht_pair *pair = &l->s->pair;
    const struct ht_pair_listed *of = &l->around->faces->listed[l->around->group];
    struct ht_pair_meets *to = l->to;
    unsigned turned = 0;
    TRY(HT_GROW(to->at, to->points + 1, l->room[0]));
    TRY(HT_GROW(to->value, (to->points + 1) * of->couplings, l->room[1]));
    for (int k = 0; k < 3 && k < pair->dims; k++)
        if (is_turned(l->around->faces->grid, pair->meets[l->around->group], k, m[k]))
            turned |= 1u << k;
    to->at[to->points] = node_of(l, m[0], m[1], window3);
    for (int i = 0; i < of->couplings; i++)
        to->value[to->points * of->couplings + i] =
            turned_value(pair, &pair->coefficient[of->coupling + i], turned,
                         of->value[*number * of->couplings + i]);
    *number = to->points++;
    return HT_OK;
}

/* Entries of a plane become points of the window, as far as targets are around them. */
static HT_ERR add_points(struct lists *l, int64_t m3, int64_t window3) {
    struct around *a = l->around;
    const unsigned meets = l->s->pair.meets[a->group];
    const int dims = l->s->pair.dims;
    int64_t begin[2], end[2];
    around_fill(a, m3);
    for (int k = 0; k < 2; k++) {
        begin[k] = dims > k && (meets >> k & 1u) ? -1 : 0;
        end[k] = a->n[k] + (dims > k && !(meets >> k & 1u));
    }
    for (int64_t m2 = begin[1]; a->any[slot_of(m3)] && m2 < end[1]; m2++)
        for (int64_t m1 = begin[0]; m1 < end[0]; m1++) {
            int64_t *number = number_at(a, m1, m2, m3);
            if (*number >= 0) TRY(add_point(l, (const int64_t[3]){m1, m2, m3}, window3, number));
        }
    return HT_OK;
}

static HT_ERR add_targets(struct lists *l, int64_t m3, int64_t window3) {
    const struct around *a = l->around;
    struct ht_pair_meets *to = l->to;
    if (!a->any[0] && !a->any[1] && !a->any[2]) return HT_OK;
    for (int64_t m2 = 0; m2 < a->n[1]; m2++)
        for (int64_t m1 = 0; m1 < a->n[0]; m1++)
            for (int i = 0; i < l->rows; i++) {
                const int64_t m[3] = {m1, m2, m3};
                int64_t number[8];
                if (!around_find(a, l->s->pair.parity[l->row[i]], m, number)) continue;
                TRY(HT_GROW(to->to, to->targets + 1, l->room[2]));
                TRY(HT_GROW(to->from, (to->targets + 1) * to->corners, l->room[3]));
                to->to[to->targets] = node_of(l, m1, m2, window3) * l->rows + i;
                for (int j = 0; j < to->corners; j++)
                    to->from[to->targets * to->corners + j] = (int)number[j];
                to->targets++;
            }
    return HT_OK;
}

/* All planes of the window whose targets and the points around them the window can step. */
HT_ERR ht_pair_meets_make(const struct ht_pair_stepper *s, int group, struct ht_pair_meets *out) {
    const struct ht_pair_faces *faces = s->fd.problem.fd.faces;
    const int64_t planes = s->fd.r.partition.window[HT_PRIMARY].count[2];
    HT_ENDED(around_end) struct around around = {.group = group};
    struct lists l = {.s = s, .around = &around, .to = out};
    *out = (struct ht_pair_meets){.points = 0};
    if (!ht_pair_faces_use(faces, group)) return HT_OK;
    l.rows = ht_pair_rows(&s->pair, group, l.row);
    out->corners = ht_pair_corners(&s->pair, group);
    for (int i = 0; i < 2; i++) TRY(HT_ALLOC(out->first[i], planes + 1));
    TRY(around_begin(faces, group, &around));
    const struct ht_fd_stepper *fd = &s->fd;
    const int64_t rim = s->pair.dims > 2 ? ht_fd_reach(&fd->engine.spec) : 0;
    const int64_t more = rim > 0, grid = fd->own.first - fd->box.begin[2];
    for (int64_t m = 0; m <= planes; m++) {
        out->first[0][m] = out->points;
        if (m >= rim - more && m < planes - rim + more) TRY(add_points(&l, grid + m, m));
        const int64_t target = m - more;
        if (target < 0) continue;
        out->first[1][target] = out->targets;
        if (target >= rim && target < planes - rim) TRY(add_targets(&l, grid + target, target));
    }
    out->first[1][planes] = out->targets;
    REQUIRE(out->points < INT32_MAX, HT_ERR_MEMORY, "faces: too many points are coupled");
    return HT_OK;
}

void ht_pair_meets_free(struct ht_pair_meets *meets) {
    free(meets->at);
    free(meets->value);
    free(meets->to);
    free(meets->from);
    for (int i = 0; i < 2; i++) free(meets->first[i]);
    *meets = (struct ht_pair_meets){.points = 0};
}

void ht_pair_meets_range(const struct ht_pair_task *t, int64_t point[2], int64_t target[2]) {
    const struct ht_pair *pair = &t->s->pair;
    const struct ht_pair_meets *meets = &t->s->meets[t->group];
    const struct ht_fd_box *box = &t->box;
    const bool three = pair->dims > 2, upper = pair->meets[t->group] >> 2 & 1u;
    point[0] = meets->first[0][box->begin[2] - (three && upper)];
    point[1] = meets->first[0][box->end[2] + (three && !upper)];
    target[0] = meets->first[1][box->begin[2]];
    target[1] = meets->first[1][box->end[2]];
}
