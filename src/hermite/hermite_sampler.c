/* Receivers of Hermite methods: values of the polynomial of the cell around the point and their
 * derivatives by time, from the equations,
 *     d^l/dt^l u = L^l u,
 * all linear functions of the derivatives at the cell's vertices. Such a function e of polynomials
 * begins as the value, or slope, at the point; one derivative by time more makes it L^T e, in the
 * arithmetic of the reference (oracle.c): products with the medium's polynomials are cut at degree
 * 2N+1 per axis. At last H^T makes weights of the vertices' derivatives of it. A part is the sum
 * over one field's at the vertices in one x3 plane; in fewer dimensions there is one plane. On a
 * vertex the value takes that vertex alone, exactly:
 * H and powers of 1/2 are dyadic. On a device parts are rows of htwave/tool.h, read after each time
 * step; the reference's are added here.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/solve/methods.h"
#include "src/solve/sampler_private.h"
#include "stepper_private.h"

enum { MOST_TERMS = 2 * (HT_MAX_ORDER + 1), MOST_NODES = 4 };
/* The vertices of a cell in one x3 plane, by their bits along x1 and x2. */
struct part {
    int64_t number;
    enum ht_subgrid subgrid;
    int field;
    int64_t plane;
    int64_t node[MOST_NODES]; /* of the plane */
    int64_t first;            /* of the weights [coefficient][vertex] */
};
struct sampler {
    const struct ht_stepper *stepper;
    const struct ht_grid *grid;
    int nodes, coefs;  /* of a part: vertices; of a node */
    int64_t count;     /* own parts, */
    struct part *part; /* by grid, field and plane */
    int64_t weights, room;
    double *weight;
    double *plane;                    /* the reference's: coefficients of a plane */
    struct ht_device_stepper *device; /* NULL: the reference */
    struct ht_rows *rows;             /* NULL: no own parts */
    int64_t parts;                    /* of all ranks */
    int64_t slots, taken;
    double *sums; /* [slot][own part] */
};

/* What making the parts needs. */
struct making {
    const struct ht_problem *problem;
    struct ht_resampling need;
    struct ht_jets *jets; /* of the medium; NULL: uniform */
    double *medium;       /* [material][a][node of the plane] */
    int64_t plane;        /* of the medium; -1: none yet */
    double matrix[MOST_TERMS * MOST_TERMS];
    int n[3], t[3], cube;      /* N+1, 2N+2 up to axis dims, else 1 */
    double *e, *next;          /* [field][j3][j2][j1] */
    enum ht_subgrid subgrid;   /* whose nodes the vertices are, */
    int64_t cell[3];           /* the lowest of them */
    double eta[3];             /* of the point in the cell */
    int64_t parts;             /* of all ranks */
    int64_t first[2], last[2]; /* own planes of a grid */
    double *weight;            /* of the parts: 1 */
};

/* For each trace all fields, below and above. */
static int64_t most_parts(const struct ht_plan *plan) {
    const struct ht_resampling need = ht_resampling_of(plan);
    return 2 * plan->receivers->traces * need.per_step * need.derivatives * plan->eq.nfields;
}

static int nodes_of(const struct ht_grid *grid) {
    return grid->dims > 1 ? MOST_NODES : 2;
}

int64_t ht_hermite_sampler_bytes(const struct ht_plan *plan, bool fp64) {
    const int64_t parts = most_parts(plan);
    const struct ht_rows_shape shape = {.fp64 = fp64,
                                        .coefs = (int)ht_grid_coefs(&plan->grid),
                                        .nodes = nodes_of(&plan->grid),
                                        .rows = parts,
                                        .slots = ht_sampler_slots(parts)};
    return ht_rows_bytes(&shape);
}

/* ---- the function of a value ---- */

/* Cells of the dual grid may reach beyond walls. */
static void find_cell(struct making *m, enum ht_subgrid subgrid, const double x[3]) {
    const struct ht_grid *grid = m->problem->grid;
    const double close_by = 1e-9;
    const bool dual = subgrid == HT_DUAL;
    m->subgrid = subgrid;
    for (int k = 0; k < 3; k++) {
        m->cell[k] = 0;
        m->eta[k] = 0;
        if (k >= grid->dims) continue;
        double at = (x[k] - grid->lower[k]) / grid->h[k] - (dual ? 0.5 : 0);
        const double last = (double)(grid->cells[k] - 1);
        if (fabs(at - round(at)) < close_by) at = round(at);
        const double cell = fmax(dual ? -1 : 0, fmin(floor(at), last));
        m->cell[k] = (int64_t)cell;
        m->eta[k] = at - cell - 0.5;
    }
}

/* The coefficients are of powers of eta = (x - mid)/h. */
static double power_at(const struct making *m, int axis, int j, bool slope) {
    double power = 1;
    if (axis >= m->problem->grid->dims) return 1;
    if (slope && j == 0) return 0;
    for (int n = slope; n < j; n++) power *= m->eta[axis];
    return slope ? j * power / m->problem->grid->h[axis] : power;
}

static void take_value(struct making *m, const struct ht_reading *reading) {
    double *e = m->e + (int64_t)reading->field * m->cube;
    memset(m->e, 0, (size_t)m->problem->eq->nfields * (size_t)m->cube * sizeof *m->e);
    for (int q = 0; q < m->cube; q++) {
        const int j[3] = {q % m->t[0], q / m->t[0] % m->t[1], q / (m->t[0] * m->t[1])};
        e[q] = 1;
        for (int k = 0; k < 3; k++) e[q] *= power_at(m, k, j[k], reading->slope == k);
    }
}

/* ---- derivatives by time ---- */

static enum ht_err fill_medium(struct making *m) {
    const struct ht_problem *p = m->problem;
    if (m->jets == NULL || m->plane == m->cell[2]) return HT_OK;
    m->plane = m->cell[2];
    return p->medium_fill(p->medium, HT_DUAL, m->plane, m->plane + 1, m->medium);
}

/* (M^T e)[j]: M times the monomial j is a sum of monomials j + a. */
static double times_medium(const struct making *m, int material, const double *e, const int j[3]) {
    const struct ht_problem *p = m->problem;
    const int own = (j[2] * m->t[1] + j[1]) * m->t[0] + j[0];
    if (material < 0) return e[own];
    if (m->jets == NULL) return p->uniform[material] * e[own];
    const int64_t nodes = ht_grid_plane(p->grid, HT_DUAL);
    const int64_t node = m->cell[1] * ht_grid_nodes(p->grid, HT_DUAL, 0) + m->cell[0];
    const double *jet = m->medium + (int64_t)material * m->jets->count * nodes;
    double sum = 0;
    for (int a = 0; a < m->jets->count; a++) {
        const int *more = m->jets->index[a];
        const int to[3] = {j[0] + more[0], j[1] + more[1], j[2] + more[2]};
        if (to[0] < m->t[0] && to[1] < m->t[1] && to[2] < m->t[2])
            sum += jet[a * nodes + node] * e[(to[2] * m->t[1] + to[1]) * m->t[0] + to[0]];
    }
    return sum;
}

/* next[col] += dt coef D^T M^T e[row]. */
static void add_term(struct making *m, const struct ht_term *term) {
    const struct ht_problem *p = m->problem;
    const double *e = m->e + (int64_t)term->row * m->cube;
    double *next = m->next + (int64_t)term->col * m->cube;
    double factor = p->dt / m->need.per_step * term->coef;
    int stride = 1;
    for (int k = 0; k < term->axis; k++) stride *= m->t[k];
    for (int n = 0; n < term->derivative; n++) factor /= p->grid->h[term->axis];
    for (int q = 0; q < m->cube; q++) {
        const int j[3] = {q % m->t[0], q / m->t[0] % m->t[1], q / (m->t[0] * m->t[1])};
        const int power = j[term->axis];
        double part = factor;
        if (power + term->derivative >= m->t[term->axis]) continue;
        for (int n = 1; n <= term->derivative; n++) part *= power + n;
        next[q + term->derivative * stride] += part * times_medium(m, term->material, e, j);
    }
}

static void differentiate(struct making *m) {
    const struct ht_equations *eq = m->problem->eq;
    double *before = m->e;
    memset(m->next, 0, (size_t)eq->nfields * (size_t)m->cube * sizeof *m->next);
    for (int t = 0; t < eq->nterms; t++) add_term(m, &eq->term[t]);
    m->e = m->next;
    m->next = before;
}

/* ---- weights of vertices ---- */

/* w <- H^T w along an axis. */
static void weigh_axis(const struct making *m, double *w, int axis) {
    const int size = m->t[axis];
    int stride = 1;
    for (int k = 0; k < axis; k++) stride *= m->t[k];
    for (int q = 0; q < m->cube; q++) {
        double line[MOST_TERMS] = {0};
        if (q / stride % size != 0) continue;
        for (int row = 0; row < size; row++)
            for (int col = 0; col < size; col++)
                line[col] += m->matrix[row * size + col] * w[q + row * stride];
        for (int row = 0; row < size; row++) w[q + row * stride] = line[row];
    }
}

/* The node of a vertex in its plane, and the sign of the walls before it; that of odd derivatives
 * is the opposite along the axes of `mirrored`. */
static int64_t node_of(const struct making *m, int field, const int vertex[3], double *sign,
                       unsigned *mirrored) {
    const struct ht_grid *grid = m->problem->grid;
    int64_t node = 0;
    *sign = 1;
    *mirrored = 0;
    for (int k = 2; k >= 0; k--) {
        int factor;
        bool behind;
        const int64_t at =
            ht_grid_source(grid, m->subgrid, k, m->cell[k] + vertex[k], &factor, &behind);
        if (behind) *sign *= ht_wall_sign(m->problem->eq, field, k, factor);
        if (behind) *mirrored |= 1u << k;
        if (k < 2) node = node * ht_grid_nodes(grid, m->subgrid, k) + at;
    }
    return node;
}

static enum ht_err reserve(struct sampler *s, int64_t more) {
    if (s->weights + more <= s->room) return HT_OK;
    s->room = 2 * (s->weights + more);
    double *larger = realloc(s->weight, (size_t)s->room * sizeof *s->weight);
    REQUIRE(larger != NULL, HT_ERR_MEMORY, "out of memory for the weights of receivers");
    s->weight = larger;
    return HT_OK;
}

/* The weights at the lower or upper x3 plane of the cell; false: all are 0. */
static bool add_weights(const struct making *m, const double *w, int side, struct part *part,
                        struct sampler *s) {
    const int *n = m->n, *t = m->t;
    bool any = false;
    for (int v = 0; v < s->nodes; v++) {
        const int vertex[3] = {v & 1, v >> 1, side};
        double sign;
        unsigned mirrored;
        part->node[v] = node_of(m, part->field, vertex, &sign, &mirrored);
        for (int i = 0; i < s->coefs; i++) {
            const int j[3] = {i % n[0], i / n[0] % n[1], i / (n[0] * n[1])};
            double value = sign;
            int q = 0;
            for (int k = 2; k >= 0; k--) {
                q = q * t[k] + vertex[k] * n[k] + j[k];
                if ((mirrored >> k & 1u) != 0 && j[k] % 2 != 0) value = -value;
            }
            value *= w[q];
            s->weight[s->weights + (int64_t)i * s->nodes + v] = value;
            any = any || value != 0;
        }
    }
    return any;
}

static enum ht_err add_part(struct making *m, const double *w, int field, int side,
                            struct sampler *s) {
    int factor;
    bool mirrored;
    struct part part = {.number = m->parts,
                        .subgrid = m->subgrid,
                        .plane = ht_grid_source(m->problem->grid, m->subgrid, 2, m->cell[2] + side,
                                                &factor, &mirrored),
                        .field = field,
                        .first = s->weights};
    const int64_t more = (int64_t)s->coefs * s->nodes;
    TRY(reserve(s, more));
    if (!add_weights(m, w, side, &part, s)) return HT_OK;
    m->weight[m->parts++] = 1;
    if (part.plane < m->first[m->subgrid] || part.plane >= m->last[m->subgrid]) return HT_OK;
    s->weights += more;
    s->part[s->count++] = part;
    return HT_OK;
}

/* Whether the function takes a field at all. */
static bool takes(const struct making *m, int field) {
    const double *e = m->e + (int64_t)field * m->cube;
    for (int q = 0; q < m->cube; q++)
        if (e[q] != 0) return true;
    return false;
}

/* The parts of one derivative by time of a trace. */
static enum ht_err add_parts(struct making *m, struct sampler *s) {
    const struct ht_problem *p = m->problem;
    for (int f = 0; f < p->eq->nfields; f++) {
        double *w = m->next; /* free until the next derivative */
        if (!ht_problem_stores(p, m->subgrid, f) || !takes(m, f)) continue;
        memcpy(w, m->e + (int64_t)f * m->cube, (size_t)m->cube * sizeof *w);
        for (int k = 0; k < p->eq->dims; k++) weigh_axis(m, w, k);
        for (int side = 0; side < (p->eq->dims > 2 ? 2 : 1); side++)
            TRY(add_part(m, w, f, side, s));
    }
    return HT_OK;
}

/* Of a trace at one level. */
static enum ht_err add_trace(struct making *m, enum ht_subgrid subgrid,
                             const struct ht_trace *trace, struct sampler *s, int64_t *first) {
    int made = 0;
    find_cell(m, subgrid, trace->x);
    TRY(fill_medium(m));
    take_value(m, &trace->reading);
    for (int d = 0; d < m->need.derivatives; d++) {
        for (; made < m->need.derivative[d]; made++) differentiate(m);
        TRY(add_parts(m, s));
        first[d + 1] = m->parts;
    }
    return HT_OK;
}

/* ---- samples ---- */

static double value_of(const struct sampler *s, const struct part *part) {
    const double *weight = s->weight + part->first;
    const int64_t nodes = ht_grid_plane(s->grid, part->subgrid);
    double sum = 0;
    for (int i = 0; i < s->coefs; i++)
        for (int v = 0; v < s->nodes; v++)
            sum += weight[i * s->nodes + v] * s->plane[i * nodes + part->node[v]];
    return sum;
}

static bool same_field(const struct part *a, const struct part *b) {
    return a->subgrid == b->subgrid && a->field == b->field;
}

static enum ht_err take_plain(struct sampler *s, double *sums) {
    const struct ht_stepper *stepper = s->stepper;
    for (int64_t i = 0; i < s->count; i++) {
        const struct part *part = &s->part[i], *before = part - 1;
        if (i == 0 || !same_field(part, before) || part->plane != before->plane)
            TRY(stepper->ops->get(stepper->self, part->subgrid, part->field, s->coefs, part->plane,
                                  part->plane + 1, s->plane));
        sums[part->number] = value_of(s, part);
    }
    return HT_OK;
}

/* A sample of the state there is, into the ring. */
static enum ht_err take_rows(void *self) {
    struct sampler *s = self;
    struct ht_device_stepper *t = s->device;
    const int64_t slot = s->taken++;
    REQUIRE(slot < s->slots, HT_ERR_INTERNAL,
            "receivers: more than %lld steps without reading their samples", (long long)s->slots);
    for (int64_t i = 0, end; i < s->count; i = end) {
        const struct part *part = &s->part[i];
        for (end = i; end < s->count && same_field(part, &s->part[end]);) end++;
        TRY(ht_rows_take(s->rows, i, end, t->u[part->subgrid][part->field],
                         ht_window_nodes(&t->partition.window[part->subgrid]), slot));
    }
    return HT_OK;
}

static enum ht_err sampler_take(void *self, int64_t *steps, double *sums) {
    struct sampler *s = self;
    *steps = s->device != NULL ? s->taken : 1;
    if (s->device == NULL) return take_plain(s, sums);
    if (s->rows != NULL) TRY(ht_rows_read(s->rows, s->taken, s->sums));
    for (int64_t n = 0; n < s->taken; n++)
        for (int64_t i = 0; i < s->count; i++)
            sums[n * s->parts + s->part[i].number] = s->sums[n * s->count + i];
    s->taken = 0;
    return HT_OK;
}

static double sampler_seconds(const void *self) {
    const struct sampler *s = self;
    return s->rows != NULL ? ht_rows_seconds(s->rows) : 0;
}

static void sampler_destroy(void *self) {
    struct sampler *s = self;
    if (s->device != NULL) s->device->after_step = NULL;
    ht_rows_destroy(s->rows);
    free(s->part);
    free(s->weight);
    free(s->plane);
    free(s->sums);
    free(s);
}

static const struct ht_sampler_ops sampler_ops = {
    .take = sampler_take, .seconds = sampler_seconds, .destroy = sampler_destroy};

/* ---- making ---- */

static int by_field(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    if (x->subgrid != y->subgrid) return x->subgrid < y->subgrid ? -1 : 1;
    if (x->field != y->field) return x->field < y->field ? -1 : 1;
    if (x->plane != y->plane) return x->plane < y->plane ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void end_making(struct making *m) {
    ht_jets_destroy(m->jets);
    free(m->medium);
    free(m->e);
    free(m->next);
}

static enum ht_err begin_making(const struct ht_plan *plan, struct making *m) {
    const struct ht_problem *p = &plan->problem;
    *m = (struct making){.problem = p, .need = ht_resampling_of(plan), .plane = -1, .cube = 1};
    for (int k = 0; k < 3; k++) {
        m->n[k] = k < p->eq->dims ? p->grid->order + 1 : 1;
        m->t[k] = k < p->eq->dims ? 2 * m->n[k] : 1;
        m->cube *= m->t[k];
    }
    ht_hermite_matrix(p->grid->order, m->matrix);
    for (int g = 0; g < 2; g++) ht_grid_own(p->grid, (enum ht_subgrid)g, &m->first[g], &m->last[g]);
    TRY(HT_ALLOC(m->e, p->eq->nfields * m->cube));
    TRY(HT_ALLOC(m->next, p->eq->nfields * m->cube));
    if (p->medium_degree < 0) return HT_OK;
    TRY(ht_jets_total(p->eq->dims, p->medium_degree, &m->jets));
    return HT_ALLOC(m->medium,
                    (int64_t)p->eq->nmaterials * m->jets->count * ht_grid_plane(p->grid, HT_DUAL));
}

static enum ht_err list_parts(const struct ht_plan *plan, struct making *m, struct sampler *s,
                              struct ht_sampler *out) {
    const int64_t most = most_parts(plan);
    const int64_t traces = plan->receivers->traces;
    const int levels = m->need.per_step, derivatives = m->need.derivatives;
    TRY(HT_ALLOC(s->part, most));
    TRY(HT_ALLOC(out->weight, most));
    TRY(HT_ALLOC(out->first, out->traces + 1));
    m->weight = out->weight;
    for (int64_t t = 0; t < levels * traces; t++) {
        const struct ht_trace trace = ht_trace_at(plan->receivers, t % traces);
        TRY(add_trace(m, t / traces + 1 < levels ? HT_DUAL : HT_PRIMARY, &trace, s,
                      out->first + t * derivatives));
    }
    qsort(s->part, (size_t)s->count, sizeof *s->part, by_field);
    out->parts = s->parts = m->parts;
    out->period = s->slots = s->device != NULL ? ht_sampler_slots(m->parts) : 1;
    return HT_OK;
}

/* The rows' tables: numbers of nodes in the window, weights by storage index.
 */
static void fill_tables(const struct sampler *s, int64_t *node, double *weight) {
    const struct ht_device_stepper *t = s->device;
    for (int64_t i = 0; i < s->count; i++) {
        const struct part *part = &s->part[i];
        const struct ht_window *w = &t->partition.window[part->subgrid];
        const int64_t row = ht_grid_nodes(s->grid, part->subgrid, 0);
        for (int v = 0; v < s->nodes; v++)
            node[i * s->nodes + v] =
                ht_window_at(w, w->own.begin[0] + part->node[v] % row,
                             w->own.begin[1] + part->node[v] / row, part->plane - w->origin[2]);
        for (int n = 0; n < s->coefs * s->nodes; n++)
            weight[(i * t->padded_coefs + t->storage[n / s->nodes]) * s->nodes + n % s->nodes] =
                s->weight[part->first + n];
    }
}

static enum ht_err make_rows(struct sampler *s, const char *cache) {
    const struct ht_device_stepper *t = s->device;
    const struct ht_rows_shape shape = {.fp64 = t->spec.fp64,
                                        .block = t->spec.block,
                                        .coefs = t->padded_coefs,
                                        .nodes = s->nodes,
                                        .rows = s->count,
                                        .slots = s->slots};
    int64_t *node = NULL;
    double *weight = NULL;
    if (s->count == 0) return HT_OK;
    enum ht_err err = HT_ALLOC(s->sums, s->slots * s->count);
    if (err == HT_OK) err = HT_ALLOC(node, s->count * s->nodes);
    if (err == HT_OK) err = HT_ALLOC(weight, s->count * s->nodes * t->padded_coefs);
    if (err == HT_OK) {
        fill_tables(s, node, weight);
        err = ht_rows_create(t->device, &shape, cache, node, weight, &s->rows);
    }
    free(weight);
    free(node);
    return err;
}

enum ht_err ht_hermite_sampler_make(const struct ht_plan *plan, const struct ht_stepper *stepper,
                                    const char *cache, struct ht_sampler *out) {
    const int64_t plane = ht_grid_plane(&plan->grid, HT_PRIMARY);
    struct sampler *s = NULL;
    struct making m;
    TRY(HT_ALLOC(s, 1));
    out->ops = &sampler_ops;
    out->self = s;
    s->stepper = stepper;
    s->device = ht_device_stepper_of(stepper);
    s->grid = &plan->grid;
    s->nodes = nodes_of(s->grid);
    s->coefs = (int)ht_grid_coefs(s->grid);
    enum ht_err err = begin_making(plan, &m);
    if (err == HT_OK) err = list_parts(plan, &m, s, out);
    if (err == HT_OK && s->device == NULL) err = HT_ALLOC(s->plane, plane * s->coefs);
    end_making(&m);
    if (err != HT_OK || s->device == NULL) return err;
    TRY(make_rows(s, cache));
    s->device->after_step = take_rows;
    s->device->sampler = s;
    return take_rows(s);
}
