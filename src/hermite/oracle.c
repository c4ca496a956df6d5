/* The reference: one target after the other, directly from the formulas of
 * docs/developers/method.md (sections 3, 4, 6, 7, 13) and docs/developers/absorbing.md. Products
 * with the medium are truncated at degree 2N+1 per axis; targets in absorbing layers have memory
 * variables and the terms of their axes; a sponge is a product of polynomials of one axis each, cut
 * at degree N.
 *
 * In absolute mode every constant and every input is replaced by its magnitude. Each output is then
 * the sum of the magnitudes of its products (Higham, Accuracy and Stability, section 3.1). */
#include "src/solve/methods.h"

struct oracle {
    struct ht_problem problem;
    struct ht_equations eq; /* with the memory variables of all layers */
    struct ht_jets *jets;   /* index set of the medium's polynomials */
    double *u[2];           /* per grid [field][i][node] */
    double *medium[2];      /* per grid [material][a][node] or NULL */
    double *b, *w, *next;   /* [field][j3][j2][j1] */
    double *d;              /* of one */
    double *matrix;         /* H */
    struct ht_pool pool;    /* of all these */
    struct ht_cell cell;
    bool absolute;
    /* of the target in work: axes of its layers, its profiles */
    unsigned axes;
    double profile[HT_MAX_MATERIALS][HT_PROFILE_DEGREE + 1];
    struct ht_injection *injection; /* NULL: no sources */
};

static double magnitude(const struct oracle *o, double x) {
    return o->absolute ? fabs(x) : x;
}

static void oracle_destroy(void *self) {
    struct oracle *o = self;
    ht_pool_free(&o->pool);
    ht_jets_destroy(o->jets);
    ht_injection_destroy(o->injection);
    free(o);
}

struct ht_cell ht_cell_make(const struct ht_grid *grid) {
    struct ht_cell cell = {.coefs = 1, .cube = 1};
    for (int k = 0; k < 3; k++) {
        cell.n[k] = k < grid->dims ? grid->order + 1 : 1;
        cell.t[k] = k < grid->dims ? 2 * cell.n[k] : 1;
        cell.coefs *= cell.n[k];
        cell.cube *= cell.t[k];
    }
    return cell;
}

void ht_cell_corners(const struct ht_grid *grid, enum ht_subgrid from, unsigned odd,
                     const int64_t lower[3], struct ht_range own, int64_t nodes, const double *u,
                     int64_t apart, double *out) {
    const int64_t planes = own.last - own.first;
    const struct ht_cell cell = ht_cell_make(grid);
    const int *n = cell.n, *t = cell.t;
    for (int corner = 0; corner < 1 << grid->dims; corner++) {
        int64_t node = 0, first = 0;
        int sign[3][2];
        for (int k = 2; k >= 0; k--) {
            const int side = corner >> k & 1;
            int64_t at = ht_grid_source(grid, from, k, odd >> k & 1u, lower[k] + side, sign[k]);
            if (k == 2) at -= own.first;
            if (k == 2 && (at < 0 || at > planes)) at = planes;
            node = node * ht_grid_nodes(grid, from, k) + at;
            first = first * t[k] + (int64_t)side * n[k];
        }
        const double *from_u = u + node;
        for (int i = 0; i < n[1] * n[2]; i++)
            for (int i1 = 0; i1 < n[0]; i1++, from_u += nodes) {
                const int64_t i2 = i % n[1], i3 = i / n[1];
                const int turn = sign[0][i1 & 1] * sign[1][i2 & 1] * sign[2][i3 & 1];
                out[(first + (i3 * t[1] + i2) * t[0] + i1) * apart] = turn * *from_u;
            }
    }
}

void ht_cell_multiply(const struct ht_cell *cell, int count, const int (*index)[3],
                      const double *value, int64_t apart, bool transposed, const double *x,
                      double *out) {
    const int *t = cell->t, one[3] = {0};
    for (int a = 0; a < count; a++, value += apart) {
        const int *more = index != NULL ? index[a] : one;
        const int shift = (more[2] * t[1] + more[1]) * t[0] + more[0];
        const int from = transposed ? shift : 0, to = transposed ? 0 : shift;
        for (int j3 = 0; j3 < t[2] - more[2]; j3++)
            for (int j2 = 0; j2 < t[1] - more[1]; j2++) {
                const int row = (j3 * t[1] + j2) * t[0];
                for (int j = row; j < row + t[0] - more[0]; j++)
                    out[j + to] += *value * x[j + from];
            }
    }
}

void ht_cell_differentiate(const struct ht_cell *cell, const struct ht_term *term, double factor,
                           bool transposed, const double *x, double *out) {
    const int along = cell->t[term->axis];
    int stride = 1;
    for (int k = 0; k < term->axis; k++) stride *= cell->t[k];
    const int shift = term->derivative * stride;
    const int from = transposed ? 0 : shift, to = transposed ? shift : 0;
    for (int row = 0; row < cell->cube / stride; row++) {
        double part = factor;
        if (row % along + term->derivative >= along) continue;
        for (int n = 1; n <= term->derivative; n++) part *= row % along + n;
        for (int q = row * stride; q < (row + 1) * stride; q++) out[q + to] += part * x[q + from];
    }
}

/* next[row] += factor M D w[col] of a term; factor holds 1/h^derivative. */
static void add_term(struct oracle *o, const struct ht_term *term, const double *medium,
                     double factor) {
    const int m = term->material, axis = ht_material_layer(&o->eq, m);
    int count = 1, along[HT_PROFILE_DEGREE + 1][3] = {{0}};
    const int(*index)[3] = NULL;
    const double number = m < 0 ? 1 : magnitude(o, o->problem.uniform[m]), *value = &number;
    if (axis >= 0) { /* a profile, a polynomial along its axis */
        for (int a = 0; a <= HT_PROFILE_DEGREE; a++) along[a][axis] = a;
        index = (const int(*)[3])along;
        count = HT_PROFILE_DEGREE + 1;
        value = o->profile[m];
    } else if (m >= 0 && o->jets != NULL) {
        index = (const int(*)[3])o->jets->index;
        count = o->axes != 0 ? 1 : o->jets->count;
        value = medium + (int64_t)m * o->jets->count;
    }
    memset(o->d, 0, (size_t)o->cell.cube * sizeof *o->d);
    ht_cell_differentiate(&o->cell, term, factor, false, o->w + term->col * o->cell.cube, o->d);
    ht_cell_multiply(&o->cell, count, index, value, 1, false, o->d,
                     o->next + term->row * o->cell.cube);
}

/* Whether the target has what belongs to the layers of an axis (-1: to none). */
static bool applies(const struct oracle *o, int axis) {
    return axis < 0 || (o->axes >> axis & 1u);
}

static void put_target(struct oracle *o, enum ht_subgrid to, int field, int64_t node) {
    int64_t nodes = ht_grid_total(o->problem.grid, to);
    for (int i = 0; i < o->cell.coefs; i++) {
        int i1 = i % o->cell.n[0], i2 = i / o->cell.n[0] % o->cell.n[1];
        int i3 = i / (o->cell.n[0] * o->cell.n[1]);
        int q = (i3 * o->cell.t[1] + i2) * o->cell.t[0] + i1;
        double w = o->w[field * o->cell.cube + q];
        double *u = &o->u[to][(field * o->cell.coefs + i) * nodes + node];
        if (o->problem.old_sign == 0)
            *u = w;
        else
            *u = magnitude(o, o->problem.old_sign) * magnitude(o, *u) + 2 * w;
    }
}

/* The layers that the target is in, and its profiles. */
static void find_layers(struct oracle *o, enum ht_subgrid to, const int64_t *target) {
    int m = o->eq.nmaterials - o->eq.nprofiles;
    o->axes = 0;
    for (int k = 0; k < 3; k++) {
        const double at = ht_absorbing_at(to, target[k]);
        if ((ht_absorbing_axes(o->problem.layers) >> k & 1u) == 0) continue;
        if (ht_absorbing_side(o->problem.layers, k, at) >= 0) o->axes |= 1u << k;
        ht_absorbing_profiles(o->problem.layers, k, at, &o->profile[m]);
        for (int i = 0; i < HT_LAYER_PROFILES; i++, m++)
            for (int a = 0; a <= HT_PROFILE_DEGREE; a++)
                o->profile[m][a] = magnitude(o, o->profile[m][a]);
    }
}

static void do_target(struct oracle *o, enum ht_subgrid from, const int64_t *target, int64_t node,
                      const double *medium) {
    enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const int shift = from == HT_PRIMARY ? 0 : 1;
    const struct ht_grid *grid = o->problem.grid;
    const int64_t lower[3] = {target[0] - shift, target[1] - shift, target[2] - shift};
    find_layers(o, to, target);
    const size_t count = (size_t)(o->eq.nfields * o->cell.cube);
    memset(o->b, 0, count * sizeof *o->b);
    for (int f = 0; f < o->eq.nfields; f++) {
        if (!ht_problem_stores(&o->problem, from, f) || !applies(o, ht_field_layer(&o->eq, f)))
            continue;
        double *b = o->b + f * o->cell.cube;
        const int64_t nodes = ht_grid_total(grid, from);
        ht_cell_corners(grid, from, o->eq.field[f].parity, lower,
                        (struct ht_range){0, ht_grid_planes(grid, from)}, nodes,
                        o->u[from] + f * o->cell.coefs * nodes, 1, b);
        for (int q = 0; o->absolute && q < o->cell.cube; q++) b[q] = fabs(b[q]);
        for (int axis = 0; axis < o->problem.eq->dims; axis++)
            ht_hermite_along(o->matrix, o->cell.t, axis, b);
    }
    const int stages = o->axes != 0 ? o->problem.layers->stages : o->problem.stages;
    memcpy(o->w, o->b, count * sizeof *o->w);
    for (int k = stages; k >= 1; k--) {
        /* next = (dt/2)/k L w. */
        const struct ht_problem *p = &o->problem;
        memset(o->next, 0, count * sizeof *o->next);
        HT_EACH(const struct ht_term, term, o->eq.term, o->eq.nterms) {
            if (!applies(o, ht_term_layer(&o->eq, term))) continue;
            double factor = magnitude(o, term->coef * p->dt / 2) / k;
            for (int n = 0; n < term->derivative; n++) factor /= p->grid->h[term->axis];
            add_term(o, term, medium, factor);
        }
        for (size_t q = 0; q < count; q++) o->w[q] = o->b[q] + o->next[q];
    }
    for (int f = 0; f < o->eq.nfields; f++)
        if (ht_problem_stores(&o->problem, to, f) && applies(o, ht_field_layer(&o->eq, f)))
            put_target(o, to, f, node);
}

/* u <- G u of a node's coefficients along one axis, those of highest degree first. */
static void damp_node(struct oracle *o, enum ht_subgrid to, int axis, int field, int64_t node,
                      const double *jets) {
    const int64_t nodes = ht_grid_total(o->problem.grid, to);
    const int n = o->problem.grid->order + 1;
    int64_t stride = 1;
    for (int k = 0; k < axis; k++) stride *= n;
    for (int64_t i = o->cell.coefs - 1; i >= 0; i--) {
        double *u = &o->u[to][(field * o->cell.coefs + i) * nodes + node];
        double sum = 0;
        for (int j = 0; j <= i / stride % n; j++)
            sum += magnitude(o, jets[j]) * magnitude(o, u[-j * stride * nodes]);
        *u = sum;
    }
}

static void damp(struct oracle *o, enum ht_subgrid to) {
    const struct ht_grid *grid = o->problem.grid;
    double jets[HT_MAX_ORDER + 1];
    int64_t stride = 1;
    for (int axis = 0; axis < grid->dims; axis++) {
        const int64_t along = ht_grid_nodes(grid, to, axis);
        for (int64_t m = 0; ht_sponge_damps(&o->problem, to, axis) && m < ht_grid_total(grid, to);
             m++) {
            ht_sponge_jets(&o->problem, to, axis, m / stride % along, jets);
            HT_EACH_STORED(f, &o->problem, to) damp_node(o, to, axis, f, m, jets);
        }
        stride *= along;
    }
}

static HT_ERR oracle_half_step(void *self, enum ht_subgrid from) {
    struct oracle *o = self;
    const struct ht_grid *grid = o->problem.grid;
    const enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const int64_t n1 = ht_grid_nodes(grid, to, 0), n2 = ht_grid_nodes(grid, to, 1);
    const int64_t nodes = ht_grid_total(grid, to);
    const int count = o->jets == NULL ? 0 : o->problem.eq->nmaterials * o->jets->count;
    HT_ARRAY(double, medium, count); /* the polynomials at a target, [material][a] */
    if (o->problem.scheme->two_level) damp(o, to);
    for (int64_t node = 0; node < nodes; node++) {
        const int64_t target[3] = {node % n1, node / n1 % n2, node / (n1 * n2)};
        for (int a = 0; a < count; a++) medium[a] = magnitude(o, o->medium[to][a * nodes + node]);
        do_target(o, from, target, node, medium);
    }
    if (o->injection != NULL) {
        TRY(ht_injection_begin(o->injection, from));
        ht_injection_add_plain(o->injection, to, o->absolute, nodes, o->u[to]);
    }
    damp(o, to);
    return HT_OK;
}

/* Rows [field][i] of a grid. */
struct rows {
    double *u;
    int64_t count, nodes, plane;
};

static struct rows rows_of(const struct oracle *o, enum ht_subgrid subgrid, int64_t first,
                           int64_t count) {
    const int64_t nodes = ht_grid_total(o->problem.grid, subgrid);
    return (struct rows){o->u[subgrid] + first * nodes, count, nodes,
                         ht_grid_plane(o->problem.grid, subgrid)};
}

/* Their planes [first, last), one row after the other: from `values`, or to them. */
static HT_ERR move_rows(void *context, bool load, int64_t first, int64_t last, double *values) {
    const struct rows *r = context;
    const int64_t part = r->plane * (last - first);
    for (int64_t i = 0; i < r->count; i++) {
        double *u = r->u + i * r->nodes + first * r->plane, *there = values + i * part;
        memcpy(load ? u : there, load ? there : u, (size_t)part * sizeof *u);
    }
    return HT_OK;
}

static HT_ERR oracle_put(void *self, enum ht_subgrid subgrid, int64_t first, int64_t last,
                         const double *coefs) {
    const struct oracle *o = self;
    struct rows all = rows_of(o, subgrid, 0, o->problem.eq->nfields * o->cell.coefs);
    return move_rows(&all, true, first, last, (double *)coefs);
}

static HT_ERR oracle_get(void *self, enum ht_subgrid subgrid, int field, int count, int64_t first,
                         int64_t last, double *out) {
    const struct oracle *o = self;
    struct rows some = rows_of(o, subgrid, field * o->cell.coefs, count);
    return move_rows(&some, false, first, last, out);
}

static void oracle_archive(void *self, struct ht_archive *archive) {
    struct oracle *o = self;
    for (int n = 0; n < (o->problem.scheme->two_level ? 2 : 1) * o->eq.nfields; n++) {
        const enum ht_subgrid i = (enum ht_subgrid)(n / o->eq.nfields);
        const int f = n % o->eq.nfields;
        struct rows rows = rows_of(o, i, f * o->cell.coefs, o->cell.coefs);
        struct ht_archive_array array = {.groups = o->cell.coefs,
                                         .planes = ht_grid_planes(o->problem.grid, i),
                                         .plane = rows.plane,
                                         .move = move_rows,
                                         .context = &rows};
        char name[48];
        const bool remembered = f >= o->problem.eq->nfields;
        if (!remembered && !ht_problem_stores(&o->problem, i, f)) continue;
        snprintf(name, sizeof name, "%s%d_%s", remembered ? "memory" : o->eq.field[f].name,
                 remembered ? f : 0, i ? "dual" : "primary");
        array.name = name;
        array.last = array.planes;
        ht_archive_array(archive, &array);
    }
    if (o->injection != NULL) ht_archive_integer(archive, "injected", &o->injection->steps);
}

static HT_ERR oracle_measure(void *self, enum ht_subgrid subgrid, int count,
                             const struct ht_quantity *what, struct ht_measure *out) {
    struct oracle *o = self;
    int64_t nodes = ht_grid_total(o->problem.grid, subgrid);
    HT_EACH_AT(i, const struct ht_quantity, q, what, count) {
        const double *medium = NULL;
        if (o->medium[subgrid] != NULL && q->material >= 0)
            medium = o->medium[subgrid] + (int64_t)q->material * o->jets->count * nodes;
        out[i] = ht_measure_plain(&o->problem, subgrid, q,
                                  o->u[subgrid] + q->field * o->cell.coefs * nodes, medium);
    }
    return HT_OK;
}

static HT_ERR oracle_finish(HT_UNUSED void *self) {
    return HT_OK;
}

static void oracle_absolute(void *self) {
    struct oracle *o = self;
    o->absolute = true;
    for (int i = 0; i < o->cell.t[0] * o->cell.t[0]; i++) o->matrix[i] = fabs(o->matrix[i]);
}

static const struct ht_stepper_ops oracle_ops = {
    .put = oracle_put,
    .get = oracle_get,
    .measure = oracle_measure,
    .archive = oracle_archive,
    .half_step = oracle_half_step,
    .absolute = oracle_absolute,
    .finish = oracle_finish,
    .destroy = oracle_destroy,
};

static HT_ERR allocate_medium(struct oracle *o) {
    const struct ht_problem *p = &o->problem;
    if (p->medium_degree < 0) return HT_OK;
    TRY(ht_jets_make(p->eq->dims, p->medium_degree, true, &o->jets));
    for (enum ht_subgrid i = 0; i < 2; i++) {
        const int64_t values = ht_grid_total(p->grid, i) * p->eq->nmaterials * o->jets->count;
        TRY(HT_TAKE(&o->pool, o->medium[i], values));
        TRY(p->medium_fill(p->medium, i, 0, ht_grid_planes(p->grid, i), o->medium[i]));
    }
    return HT_OK;
}

static HT_ERR allocate(struct oracle *o) {
    const struct ht_problem *p = &o->problem;
    o->cell = ht_cell_make(p->grid);
    TRY(ht_equations_absorb(p->eq, ht_absorbing_axes(p->layers), &o->eq));
    TRY(HT_TAKE(&o->pool, o->b, o->eq.nfields * o->cell.cube));
    TRY(HT_TAKE(&o->pool, o->w, o->eq.nfields * o->cell.cube));
    TRY(HT_TAKE(&o->pool, o->next, o->eq.nfields * o->cell.cube));
    TRY(HT_TAKE(&o->pool, o->d, o->cell.cube));
    TRY(HT_TAKE(&o->pool, o->matrix, o->cell.t[0] * o->cell.t[0]));
    ht_hermite_matrix(p->grid->order, o->matrix);
    /* All nodes, without ghosts. */
    struct ht_window window[2] = {{.count = {0}}};
    for (enum ht_subgrid i = 0; i < 2; i++) {
        TRY(HT_TAKE(&o->pool, o->u[i], ht_grid_total(p->grid, i) * o->eq.nfields * o->cell.coefs));
        for (int k = 0; k < 3; k++)
            window[i].count[k] = window[i].own.end[k] = window[i].held.end[k] =
                ht_grid_nodes(p->grid, i, k);
    }
    TRY(ht_injection_create(&o->problem, window, NULL, &o->injection));
    return allocate_medium(o);
}

enum ht_err ht_hermite_oracle_create(const struct ht_problem *problem, struct ht_stepper *out) {
    struct oracle *o = NULL;
    TRY(HT_ALLOC(o, 1));
    o->problem = *problem;
    enum ht_err err = allocate(o);
    if (err != HT_OK) {
        oracle_destroy(o);
        return err;
    }
    *out = (struct ht_stepper){.ops = &oracle_ops, .self = o};
    return HT_OK;
}

/* Largest number of roundings in sequence before an output: d lines of 2N+2 products; then per
 * stage the terms of a row, the medium's products and three more (scale, 1/k, sum); one for the old
 * values of a two-level scheme. In layers a row has up to three terms more per axis: two of memory
 * variables, a sponge. A sponge adds a line of N+1 products per axis before and after, and the
 * rounding of its factors. */
double ht_hermite_oracle_roundings(const struct ht_problem *problem) {
    int dims = problem->eq->dims, products = 1;
    if (problem->medium_degree > 0) products = problem->medium_coefs;
    double series = problem->stages * (double)(dims + products + 3);
    if (ht_absorbing_axes(problem->layers) != 0)
        series = fmax(series, problem->layers->stages * (4.0 * dims + 4));
    if (ht_sponge_rate(problem, HT_PRIMARY) > 0) series += 2 * dims * (problem->grid->order + 3);
    return dims * (2 * problem->grid->order + 2 + 2) + series + problem->scheme->two_level;
}

/* Reduces the problem to 3 x 2 x 2 cells. */
void ht_hermite_shrink(const struct ht_problem *problem, const struct ht_variant *variant,
                       struct ht_part *small) {
    const int most_stages = 4; /* for kernels with stages as an argument */
    const struct ht_box box = {.end = {3, 2, 2}};
    ht_problem_part(problem, &box, HT_SIDES_SAME, HT_MEDIUM_TEST, small);
    if (variant->pack == NULL && small->problem.stages > most_stages)
        small->problem.stages = most_stages;
}
