/* Gradients of pairs (docs/developers/gradients.md): sums of products of adjoint fields and of
 * changes in a step, field by field, of coupled ones of their parts with each other; after the run
 * derivatives by C, from C^+ times them times C^+. */
#include "fd_gradient.h"

enum { ADJOINT, FORWARD };
static struct ht_pair_stepper *stepper_of(const struct ht_gradient *g, int which) {
    return (struct ht_pair_stepper *)(which == ADJOINT ? g->adjoint : g->forward);
}

/* ---- couplings at oblique faces ---- */

/* With couplings at oblique faces C has entries
 * between places, so that the adjoint field q = C y says nothing of y at a place. Of groups that
 * have couplings y is kept beside q, a sum over the steps of
 *     e = dt B_0 v,    C -> 1: the passes of the run with other coefficients,
 * and of the readings without the medium; beside it stands e of the forward run's step, with its
 * sources without the medium. Sums of their products are the derivatives by all entries of C. */
struct ht_pair_strains {
    unsigned fields;               /* of groups that have couplings */
    struct ht_pair_stepper raw[2]; /* of which passes see what they change, and C */
    struct ht_pair_stepper read;   /* of which sources' amplitudes are by */
    struct ht_buffer *one, *zero, *strain[2][HT_MAX_FIELDS];
    struct ht_buffer *sum[2];                            /* [point][coupling], of each group */
    struct ht_fd_injection *injection[2][HT_MAX_FIELDS]; /* readings, sources */
};

static bool uses(const struct ht_gradient *g, int group) {
    return ht_pair_faces_use(g->plan->problem.fd.faces, group);
}

static int64_t numbers_of(const struct ht_gradient *g, int group) {
    const struct ht_pair_stepper *s = stepper_of(g, ADJOINT);
    int first;
    return s->meets[group].points * ht_pair_couplings(&s->pair, group, &first);
}

HT_ERR ht_pair_strains_create(struct ht_gradient *g) {
    struct ht_fd_engine *e = &g->adjoint->engine;
    const int64_t numbers = ht_fd_numbers(g->adjoint);
    if (!uses(g, 0) && !uses(g, 1)) return HT_OK;
    TRY(HT_ALLOC(g->strains, 1));
    struct ht_pair_strains *s = g->strains;
    for (int group = 0; group < 2; group++) {
        if (!uses(g, group)) continue;
        s->fields |= stepper_of(g, ADJOINT)->pair.group[group];
        TRY(ht_fd_array_create(e, numbers_of(g, group) + 1, &s->sum[group]));
    }
    TRY(ht_fd_array_create(e, numbers, &s->one));
    TRY(ht_fd_array_create(e, numbers, &s->zero));
    HT_ARRAY(double, ones, numbers);
    for (int64_t i = 0; i < numbers; i++) ones[i] = 1;
    TRY(ht_buffer_write_reals(s->one, e->spec.fp64, 0, numbers, ones));
    HT_EACH_AT(which, struct ht_pair_stepper, raw, s->raw, 2) {
        *raw = *stepper_of(g, which);
        for (int c = 0; c < raw->pair.ncoefficients; c++) {
            const bool own = raw->pair.coefficient[c].row == raw->pair.coefficient[c].col;
            raw->on.coefficient[c] = own ? s->one : s->zero;
            raw->on.number[c] = own;
        }
        HT_EACH_BIT(f, s->fields) TRY(ht_fd_array_create(e, numbers, &s->strain[which][f]));
    }
    return HT_OK;
}

void ht_pair_strains_destroy(struct ht_gradient *g) {
    struct ht_pair_strains *s = g->strains;
    if (s == NULL) return;
    ht_buffer_destroy(s->one);
    ht_buffer_destroy(s->zero);
    for (int which = 0; which < 2; which++) {
        for (int f = 0; f < HT_MAX_FIELDS; f++) ht_buffer_destroy(s->strain[which][f]);
        ht_buffer_destroy(s->sum[which]);
        ht_fd_injections_destroy(s->injection[which]);
    }
    free(s);
    g->strains = NULL;
}

/* Beside what steppers have. */
int64_t ht_pair_strains_numbers(const struct ht_gradient *g) {
    int64_t arrays = 2, more = 0;
    if (g->strains == NULL) return 0;
    HT_EACH_BIT(f, g->strains->fields) arrays += 2;
    for (int group = 0; group < 2; group++) more += uses(g, group) ? numbers_of(g, group) + 1 : 0;
    return arrays * ht_fd_numbers(g->adjoint) + more;
}

/* ---- a step ---- */

static bool has_strains(const struct ht_gradient *g, int field) {
    return g->strains != NULL && (g->strains->fields >> field & 1u);
}

/* += e of a group, on own planes and the next ones of neighbours, by other fields of which `from`
 * has the values; and what is injected. */
static HT_ERR add_strains(const struct ht_gradient *g, int which, int group,
                          struct ht_buffer *const *from) {
    struct ht_pair_stepper *s = stepper_of(g, which), *raw = &g->strains->raw[which];
    struct ht_pair_task t = {
        .s = raw, .work = HT_PAIR_STEP, .part = HT_PART_INTERIOR, .group = group, .box = s->fd.box};
    t.box.begin[2] -= s->fd.r.partition.neighbour[0];
    t.box.end[2] += s->fd.r.partition.neighbour[1];
    for (int k = 0; k < 3; k++) t.scale[k] = s->fd.problem.dt / s->fd.problem.grid->h[k];
    for (int f = 0; f < s->pair.nfields; f++)
        raw->on.field[f] = s->pair.group[group] >> f & 1u ? g->strains->strain[which][f] : from[f];
    TRY(s->fd.engine.ops->pair(&s->fd.engine, &t));
    ht_fd_injections_step(&s->fd, g->strains->injection[which]);
    TRY(ht_fd_inject(&s->fd, g->strains->injection[which], s->pair.group[group], t.box.begin[2],
                     t.box.end[2], 0, g->strains->strain[which], NULL));
    return ht_pair_ghosts(s, s->pair.group[group], &s->fd.box, true, g->strains->strain[which]);
}

HT_ERR ht_pair_strains_begin(struct ht_gradient *g, const double *amplitude) {
    struct ht_pair_strains *s = g->strains;
    if (s == NULL) return HT_OK;
    HT_EACH_BIT(f, s->fields) TRY(ht_buffer_clear(s->strain[ADJOINT][f]));
    ht_fd_injections_give(s->injection[ADJOINT], amplitude, g->steps + 1, g->larger);
    for (int group = 0; group < 2; group++)
        if (uses(g, group)) TRY(ht_buffer_clear(s->sum[group]));
    return HT_OK;
}

HT_ERR ht_pair_strains_pass(struct ht_gradient *g, int group) {
    return g->strains != NULL && uses(g, group)
               ? add_strains(g, ADJOINT, group, stepper_of(g, ADJOINT)->on.field)
               : HT_OK;
}

static void swap_group(struct ht_gradient *g) {
    struct ht_pair_stepper *f = stepper_of(g, FORWARD);
    HT_EACH_BIT(i, f->pair.group[0]) ht_fd_swap(&f->on.field[i], &g->strains->strain[FORWARD][i]);
    for (int group = 0; group < 2; group++) ht_halo_overwritten(&f->fd.r.state, group);
}

/* Ghosts and planes of neighbours of group 1 before the step that is shown: by the pass that reads
 * them, whose result is not looked at. */
static HT_ERR complete(struct ht_gradient *g) {
    struct ht_runner *r = &g->forward->r;
    ht_fd_injections_step(g->forward, g->forward->injection);
    swap_group(g);
    enum ht_err err = ht_runner_run(r, &r->passes, 0, 1);
    if (err == HT_OK) err = ht_runner_complete(r);
    swap_group(g);
    return err;
}

/* Of the step that is shown. */
static HT_ERR show_strains(struct ht_gradient *g, int group) {
    struct ht_pair_strains *s = g->strains;
    struct ht_pair_stepper *f = stepper_of(g, FORWARD);
    const int64_t numbers = ht_fd_numbers(g->forward);
    if (group == 0) TRY(complete(g));
    HT_EACH_BIT(i, f->pair.group[group])
        TRY(f->fd.engine.ops->copy(f->fd.engine.products, numbers, s->zero, s->strain[FORWARD][i]));
    return add_strains(g, FORWARD, group, group == 0 ? f->on.field : g->past->after);
}

static HT_ERR correlate_strains(struct ht_gradient *g) {
    for (int group = 0; g->strains != NULL && group < 2; group++) {
        const struct ht_pair_meet_sum sum = {.s = stepper_of(g, ADJOINT),
                                             .group = group,
                                             .y = g->strains->strain[ADJOINT],
                                             .e = g->strains->strain[FORWARD],
                                             .sum = g->strains->sum[group]};
        if (!uses(g, group)) continue;
        TRY(show_strains(g, group));
        if (numbers_of(g, group) > 0)
            TRY(g->adjoint->engine.ops->meet_add(&g->adjoint->engine, &sum));
    }
    return HT_OK;
}

bool ht_pair_strains_sum(const struct ht_gradient *g, enum ht_gradient_sum sum) {
    const int c = (int)sum - HT_GRADIENT_COEFFICIENT - g->apart.ncoefficients;
    return g->strains != NULL && c >= 0 && c < g->apart.ncouplings;
}

/* The last point between nodes before a wall is an image. */
HT_ERR ht_pair_strains_read(const struct ht_gradient *g, enum ht_gradient_sum sum, int64_t first,
                            int64_t last, double *out) {
    const struct ht_pair_stepper *s = stepper_of(g, ADJOINT);
    const int c = (int)sum - HT_GRADIENT_COEFFICIENT;
    const int group = g->apart.group[1] >> g->apart.coefficient[c].row & 1u;
    const int64_t n1 = ht_grid_nodes(&g->plan->grid, HT_PRIMARY, 0);
    const int64_t plane = ht_grid_plane(&g->plan->grid, HT_PRIMARY);
    const struct ht_fd_box *box = &s->fd.box;
    const struct ht_pair_meets *meets = &s->meets[group];
    int from = 0;
    const int couplings = ht_pair_couplings(&g->apart, group, &from);
    memset(out, 0, (size_t)((last - first) * plane) * sizeof *out);
    for (int64_t m3 = first; uses(g, group) && m3 < last; m3++, out += plane) {
        const int64_t window = m3 - s->fd.own.first + box->begin[2];
        const int64_t begin = meets->first[0][window], end = meets->first[0][window + 1];
        HT_ARRAY(double, values, (end - begin) * couplings + 1);
        TRY(ht_buffer_read_reals(g->strains->sum[group], s->fd.engine.spec.fp64, begin * couplings,
                                 (end - begin) * couplings, values));
        for (int64_t i = begin; i < end; i++) {
            const int64_t at = meets->at[i] - window * box->plane;
            const int64_t m1 = at % box->row - box->begin[0], m2 = at / box->row - box->begin[1];
            if (m1 >= 0 && m1 < n1 && m2 >= 0 && m2 < plane / n1)
                out[m2 * n1 + m1] = values[(i - begin) * couplings + c - from];
        }
    }
    return HT_OK;
}

/* ---- fields ---- */

/* The sum of C_rq. */
static int sum_of(const struct ht_gradient *g, int r, int q) {
    const struct ht_pair_coefficient *of = g->apart.coefficient;
    int c = 0;
    while (of[c].row != ht_least(r, q) || of[c].col != ht_most(r, q)) c++;
    return HT_GRADIENT_COEFFICIENT + c;
}

static bool has(const struct ht_gradient *g, enum ht_gradient_sum sum) {
    const int c = (int)sum - HT_GRADIENT_COEFFICIENT;
    return sum == HT_GRADIENT_ILLUMINATION || (c >= 0 && c < g->apart.nown);
}

/* The fields that C couples with one. */
static int block_of(const struct ht_pair_stepper *s, int field, int row[HT_PAIR_TOGETHER_MOST]) {
    int count = 0;
    HT_EACH_BIT(f, ht_pair_takers(s, field, true)) row[count++] = f;
    return count;
}

static HT_ERR make(struct ht_gradient *g, struct ht_fd_past *past) {
    const struct ht_pair_stepper *s = stepper_of(g, FORWARD);
    const struct ht_fd_engine *e = &s->fd.engine;
    int coupled = 0;
    (void)ht_pair_make(g->forward->problem.eq, HT_PAIR_APART, &g->apart);
    past->slopes = g->forward->problem.fd.faces != NULL;
    HT_EACH_BIT(f, s->coupled) coupled++;
    REQUIRE(coupled <= HT_PAIR_TOGETHER_MOST &&
                HT_GRADIENT_COEFFICIENT + g->apart.nown + g->apart.ncouplings <= HT_GRADIENT_SUMS,
            HT_ERR_INTERNAL, "gradients of %d coupled fields", coupled);
    past->values = (1u << s->pair.nfields) - 1;
    if (e->device == NULL) return HT_OK;
    TRY(ht_fd_products_create(e->device, &e->spec, 1, 1, &g->products));
    return coupled > 0 ? ht_fd_products_create(e->device, &e->spec, 1, coupled, &g->block) : HT_OK;
}

/* ---- sources ---- */

/* With strains a source adds x: the derivative is by y, of x = C weights by weights and q. */
static HT_ERR aim(struct ht_gradient *g, const struct ht_receivers *receivers) {
    const struct ht_fd_driven removed = {.removes = true};
    const struct ht_fd_driven by[2] = {{.receivers = receivers, .bare = true}, {.bare = true}};
    struct ht_pair_strains *s = g->strains;
    ht_fd_injections_destroy(g->removed);
    TRY(ht_fd_injections_create(g->forward, &removed, g->removed));
    if (s == NULL) return HT_OK;
    for (int which = 0; which < 2; which++) {
        ht_fd_injections_destroy(s->injection[which]);
        TRY(ht_fd_injections_create(&stepper_of(g, which)->fd, &by[which], s->injection[which]));
    }
    s->read = *stepper_of(g, ADJOINT);
    HT_EACH_BIT(f, s->fields)
        if (s->injection[FORWARD][f] == NULL) s->read.on.field[f] = s->strain[ADJOINT][f];
    g->read = (struct ht_stepper){.ops = &ht_fd_ops, .self = &s->read};
    return HT_OK;
}

/* Group 0 of the adjoint run has the opposite sign. */
static double sign_of(const struct ht_gradient *g, int field) {
    return g->apart.group[1] >> field & 1u ? 1 : -1;
}

/* C of a block at a point, of the coefficients there, on free sides what is left of it: the normal
 * stresses of these do not change. */
static void left_of(const struct ht_pair_stepper *s, unsigned fields, unsigned sides,
                    const double *coefficient, int64_t apart, double (*c)[HT_MAX_FIELDS],
                    double (*keeps)[HT_MAX_FIELDS]) {
    double whole[HT_MAX_FIELDS][HT_MAX_FIELDS];
    int number[HT_MAX_FIELDS];
    unsigned fixed = 0;
    const int count = ht_pair_block(&s->pair, fields, coefficient, apart, number, whole);
    HT_EACH_BIT(k, sides)
        if (fields >> ht_pair_normal(&s->pair, k) & 1u)
            fixed |= 1u << number[ht_pair_normal(&s->pair, k)];
    for (int j = 0; j < count; j++) {
        double x[HT_MAX_FIELDS] = {0};
        x[j] = 1;
        if (j == 0 || fixed != 0) memcpy(c, whole, (size_t)count * sizeof *c);
        if (fixed != 0) ht_pair_release(count, fixed, false, c, x);
        for (int i = 0; i < count; i++) keeps[i][j] = x[i];
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if ((fixed >> i | fixed >> j) & 1u) c[i][j] = 0;
}

static void solve(int count, double (*c)[HT_MAX_FIELDS], double *x, double *y) {
    double copy[HT_PAIR_TOGETHER_MOST][HT_MAX_FIELDS];
    memcpy(copy, c, (size_t)count * sizeof *copy);
    ht_pair_invert(count, copy, x, y);
}

/* Of a drive: C^+ of what it adds at each node, times the node's volume; of strains what it adds,
 * or its weights where these are multiplied by C. */
static HT_ERR list_drive(const struct ht_gradient *g, int shot, int number,
                         struct ht_sampler *out) {
    const struct ht_pair_stepper *s = stepper_of(g, ADJOINT);
    const struct ht_shots *shots = s->fd.problem.shots;
    const struct ht_drive *drive = &shots->shot[shot].drive[number];
    const unsigned fields = ht_pair_takers(s, drive->field, true);
    const struct ht_grid grid = ht_grid_places(&g->plan->grid, s->pair.parity[drive->field]);
    const int64_t plane = ht_grid_plane(&grid, HT_PRIMARY),
                  n1 = ht_grid_nodes(&grid, HT_PRIMARY, 0);
    HT_ENDED(ht_point_free) struct ht_point point = {.count = 0};
    HT_ARRAY(double, medium, s->pair.ncoefficients *plane);
    TRY(ht_shot_spread_drive(shots, shot, number, &grid, NULL, &point));
    HT_ARRAY(struct ht_point_node, nodes, (HT_PAIR_TOGETHER_MOST * point.count));
    for (int i = 0; i < point.count; i++) {
        const int64_t *m = point.node[i].m, at = m[1] * n1 + m[0];
        double c[HT_PAIR_TOGETHER_MOST][HT_MAX_FIELDS];
        double keeps[HT_PAIR_TOGETHER_MOST][HT_MAX_FIELDS];
        double share[HT_MAX_FIELDS], x[HT_MAX_FIELDS], y[HT_MAX_FIELDS];
        const bool strains = has_strains(g, drive->field), own = drive->material >= 0;
        int row = 0;
        if (i == 0 || m[2] != point.node[i - 1].m[2])
            TRY(ht_pair_read(s, s->pair.parity[drive->field], m[2], m[2] + 1, medium));
        ht_pair_shares(s, m, drive->field, own && !strains, medium, share);
        left_of(s, fields, ht_pair_surface_on(s, s->pair.parity[drive->field], m), medium + at,
                plane, c, keeps);
        HT_EACH_BIT(f, fields) x[row] = y[row] = share[f], row++;
        if (!strains) solve(row, c, x, y);
        while (row-- > 0) {
            nodes[row * point.count + i] = point.node[i];
            nodes[row * point.count + i].weight *=
                sign_of(g, drive->field) * ht_grid_volume(&grid) * ht_fd_weight(&grid, m) * y[row];
        }
    }
    struct ht_point of = {.count = point.count, .node = nodes};
    HT_EACH_BIT(f, fields) {
        TRY(ht_fd_list_nodes(g, f, &of, out));
        of.node += point.count;
    }
    return HT_OK;
}

static HT_ERR list(const struct ht_gradient *g, int group, struct ht_sampler *out) {
    for (int d = 0; d < g->adjoint->problem.shots->shot[group].drives; d++)
        TRY(list_drive(g, group, d, out));
    return HT_OK;
}

/* ---- sums ---- */

static bool is_lit(const struct ht_gradient *g, int field) {
    const struct ht_pair_stepper *f = stepper_of(g, FORWARD);
    const unsigned lit = f->pair.group[1], coupled = lit & f->coupled;
    return (coupled != 0 ? coupled : lit) >> field & 1u;
}

/* The light of a field with strains, which do not show it; the array of these is written later. */
static HT_ERR add_light(struct ht_gradient *g, int field, const struct ht_fd_box *box) {
    if (!is_lit(g, field) || !has_strains(g, field)) return HT_OK;
    struct ht_pair_product p = {.box = *box,
                                .count = 1,
                                .lit = true,
                                .field = {{.adjoint = stepper_of(g, ADJOINT)->on.field[field],
                                           .after = g->past->after[field],
                                           .before = stepper_of(g, FORWARD)->on.field[field],
                                           .sum = {g->strains->strain[FORWARD][field]}}},
                                .light = g->sum[HT_GRADIENT_ILLUMINATION],
                                .tool = g->products};
    return g->adjoint->engine.ops->product(&p);
}

/* Of a field and those that are coupled with it. */
static HT_ERR add_products(struct ht_gradient *g, int field, const struct ht_fd_box *box) {
    const struct ht_pair_stepper *f = stepper_of(g, FORWARD), *a = stepper_of(g, ADJOINT);
    const bool strains = has_strains(g, field);
    int row[HT_PAIR_TOGETHER_MOST];
    struct ht_pair_product p = {.box = *box,
                                .count = block_of(f, field, row),
                                .lit = !strains && is_lit(g, field),
                                .light = g->sum[HT_GRADIENT_ILLUMINATION]};
    p.tool = p.count > 1 ? g->block : g->products;
    for (int i = 0; i < p.count; i++) {
        const int at = row[i];
        p.field[i].adjoint = strains ? g->strains->strain[ADJOINT][at] : a->on.field[at];
        p.field[i].after = strains ? g->strains->strain[FORWARD][at] : g->past->after[at];
        p.field[i].before = strains ? g->strains->zero : f->on.field[at];
        for (int j = i; j < p.count; j++) p.field[i].sum[j] = g->sum[sum_of(g, at, row[j])];
    }
    return row[0] < field ? HT_OK : a->fd.engine.ops->product(&p);
}

static HT_ERR correlate(struct ht_gradient *g) {
    struct ht_pair_stepper *s = stepper_of(g, FORWARD);
    const struct ht_fd_part open = ht_fd_part_open(g->adjoint);
    /* What does not go through the medium is no part of a change. */
    ht_fd_injections_step(&s->fd, g->removed);
    TRY(ht_fd_inject(&s->fd, g->removed, (1u << s->pair.nfields) - 1, s->fd.box.begin[2],
                     s->fd.box.end[2], 0, g->past->after, NULL));
    for (int f = 0; f < s->pair.nfields; f++) TRY(add_light(g, f, &open.box));
    TRY(correlate_strains(g));
    for (int f = 0; f < s->pair.nfields; f++) TRY(add_products(g, f, &open.box));
    return HT_OK;
}

/* ---- derivatives by C ---- */

/* On a plane of the grid, of the coefficients of a block and its sums. */
struct turn {
    const struct ht_gradient *g;
    int count, row[HT_PAIR_TOGETHER_MOST];
    unsigned fields;
    int64_t m3, nodes;
    double *medium;                                            /* [coefficient][node] */
    double *sum[HT_PAIR_TOGETHER_MOST][HT_PAIR_TOGETHER_MOST]; /* j >= i */
};

/* x becomes P x, P making parts of values, or R^T P^T by^+ x or, without `by`, R^T P^-1 x; R =
 * `keeps`. */
static void turn_column(int n, double (*by)[HT_MAX_FIELDS], double (*keeps)[HT_MAX_FIELDS],
                        double *x) {
    double y[HT_PAIR_TOGETHER_MOST], parts[HT_PAIR_TOGETHER_MOST] = {0};
    if (keeps == NULL) {
        ht_pair_parts(n, x);
        return;
    }
    if (by != NULL) solve(n, by, x, parts);
    for (int j = 0; j < n && by != NULL; j++)
        y[j] = parts[0] + (j + 1 < n ? parts[j + 1] : 0) - (j > 0 ? parts[j] : 0);
    if (by == NULL) y[0] = x[0] / n; /* of parts P y */
    for (int j = 1; j < n && by == NULL; j++) y[0] += x[j] * (n - j) / n;
    for (int j = 1; j < n && by == NULL; j++) y[j] = y[j - 1] - x[j];
    for (int j = 0; j < n; j++) {
        x[j] = 0;
        for (int k = 0; k < n; k++) x[j] += keeps[k][j] * y[k];
    }
}

/* Columns of a symmetric matrix, then its rows: m becomes A m A^T of turn_column's A. */
static void turn_matrix(int n, double (*by)[HT_MAX_FIELDS], double (*keeps)[HT_MAX_FIELDS],
                        double (*m)[HT_MAX_FIELDS]) {
    for (int pass = 0; pass < 2; pass++) {
        double done[HT_PAIR_TOGETHER_MOST][HT_PAIR_TOGETHER_MOST];
        for (int i = 0; i < n; i++) {
            double x[HT_MAX_FIELDS];
            for (int j = 0; j < n; j++) x[j] = m[j][i];
            turn_column(n, by, keeps, x);
            for (int j = 0; j < n; j++) done[i][j] = x[j];
        }
        for (int i = 0; i < n; i++) memcpy(m[i], done[i], (size_t)n * sizeof m[i][0]);
    }
}

/* Of the sums H, with C left on free sides, by C it is R^T P^T (P C P^T)^+ H (P C P^T)^+ P R; of
 * strains, the sums of P y e^T P^T, R^T P^-1 H P^-T R. */
static HT_ERR turn_nodes(void *data, int64_t begin, int64_t end) {
    const struct turn *t = data;
    const struct ht_pair_stepper *s = stepper_of(t->g, ADJOINT);
    const int64_t n1 = ht_grid_nodes(&t->g->plan->grid, HT_PRIMARY, 0);
    for (int64_t node = begin; node < end; node++) {
        const int64_t m[3] = {node % n1, node / n1, t->m3};
        double c[HT_PAIR_TOGETHER_MOST][HT_MAX_FIELDS] = {{0}};
        double h[HT_PAIR_TOGETHER_MOST][HT_MAX_FIELDS] = {{0}};
        double keeps[HT_PAIR_TOGETHER_MOST][HT_MAX_FIELDS];
        left_of(s, t->fields, ht_pair_surface_on(s, s->pair.parity[t->row[0]], m), t->medium + node,
                t->nodes, c, keeps);
        for (int i = 0; i < t->count; i++)
            for (int j = i; j < t->count; j++)
                h[i][j] = h[j][i] = t->sum[i][j][node] / (i == j ? 1 : 2);
        turn_matrix(t->count, NULL, NULL, c);
        turn_matrix(t->count, has_strains(t->g, t->row[0]) ? NULL : c, keeps, h);
        for (int i = 0; i < t->count; i++)
            for (int j = i; j < t->count; j++) t->sum[i][j][node] = h[i][j] * (i == j ? 1 : 2);
    }
    return HT_OK;
}

/* Coefficients as the steps have them. */
static HT_ERR turn_plane(struct turn *t, double *room) {
    struct ht_pair_stepper *s = stepper_of(t->g, ADJOINT);
    HT_EACH_BY(c, double, out, t->medium + c * t->nodes, s->pair.ncoefficients) {
        if (!(t->fields >> s->pair.coefficient[c].row & 1u)) continue;
        for (int64_t n = 0; n < t->nodes; n++) out[n] = s->on.number[c];
        if (!(s->constant >> c & 1u))
            TRY(ht_fd_move_planes(&s->fd, s->on.coefficient[c], t->m3, t->m3 + 1, NULL, out));
    }
    for (int pass = 0; pass < 2; pass++) {
        double *next = room;
        for (int i = 0; i < t->count; i++)
            for (int j = i; j < t->count; j++, next += t->nodes) {
                struct ht_buffer *const sum = t->g->sum[sum_of(t->g, t->row[i], t->row[j])];
                t->sum[i][j] = next;
                TRY(ht_fd_move_planes(&s->fd, sum, t->m3, t->m3 + 1, pass ? next : NULL,
                                      pass ? NULL : next));
            }
        if (pass == 0) TRY(ht_threads_share(t->nodes, 1 << 10, turn_nodes, t));
    }
    return HT_OK;
}

static HT_ERR finish(struct ht_gradient *g) {
    enum { SUMS = HT_PAIR_TOGETHER_MOST * (HT_PAIR_TOGETHER_MOST + 1) / 2 };
    const struct ht_pair_stepper *s = stepper_of(g, ADJOINT);
    struct turn t = {.g = g, .nodes = ht_grid_plane(&g->plan->grid, HT_PRIMARY)};
    HT_ARRAY(double, medium, s->pair.ncoefficients *t.nodes);
    HT_ARRAY(double, room, SUMS *t.nodes);
    t.medium = medium;
    for (int f = 0; f < s->pair.nfields; f++) {
        t.fields = ht_pair_takers(s, f, true);
        t.count = block_of(s, f, t.row);
        for (t.m3 = s->fd.own.first; t.row[0] == f && t.m3 < s->fd.own.last; t.m3++)
            TRY(turn_plane(&t, room));
    }
    return HT_OK;
}

static double place(const struct ht_gradient *g, enum ht_gradient_sum sum, unsigned *parity) {
    const struct ht_pair_coefficient *of = &g->apart.coefficient[sum - HT_GRADIENT_COEFFICIENT];
    *parity = of->parity;
    return sign_of(g, of->row);
}

const struct ht_fd_gradient_ops ht_pair_gradient = {.has = has,
                                                    .make = make,
                                                    .aim = aim,
                                                    .list = list,
                                                    .correlate = correlate,
                                                    .finish = finish,
                                                    .place = place};
