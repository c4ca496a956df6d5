/* Receivers of Hermite methods: values of the polynomial of the cell around
 * the point and their derivatives by time, from the equations,
 *     d^l/dt^l u = L^l u,
 * all linear functions of the derivatives at the cell's vertices. Such a
 * function e of polynomials begins as the value, or slope, at the point; one
 * derivative by time more makes it L^T e, in the arithmetic of the reference
 * (oracle.c): products with the medium's polynomials are cut at degree 2N+1 per
 * axis. At last H^T makes weights of the vertices' derivatives of it. A part is
 * the sum over one field's at the vertices in one x3 plane; in fewer dimensions
 * there is one plane. On a vertex the value takes that vertex alone, exactly:
 * H and powers of 1/2 are dyadic.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/resampler.h"
#include "methods.h"
#include "sampler_private.h"

enum { MOST_TERMS = 2 * (HT_MAX_ORDER + 1) };
struct part {
    int64_t number;
    enum ht_subgrid subgrid;
    int64_t plane;
    int field;
    int64_t first, count; /* of the entries */
};
/* Weight of a derivative at a node of a part's plane. */
struct entry {
    int64_t at;
    double weight;
};
struct sampler {
    const struct ht_stepper *stepper;
    const struct ht_grid *grid;
    int64_t count;     /* own parts, */
    struct part *part; /* by grid, plane and field */
    int64_t entries, room;
    struct entry *entry;
    double *coefs; /* of a plane */
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

int64_t ht_hermite_sampler_bytes(const struct ht_plan *plan, bool fp64) {
    (void)plan, (void)fp64;
    return 0;
}

/* ---- the function of a value ---- */

/* Cells of the dual grid may reach beyond walls. */
static void find_cell(struct making *m, enum ht_subgrid subgrid,
                      const double x[3]) {
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
    memset(m->e, 0,
           (size_t)m->problem->eq->nfields * (size_t)m->cube * sizeof *m->e);
    for (int q = 0; q < m->cube; q++) {
        const int j[3] = {q % m->t[0], q / m->t[0] % m->t[1],
                          q / (m->t[0] * m->t[1])};
        e[q] = 1;
        for (int k = 0; k < 3; k++)
            e[q] *= power_at(m, k, j[k], reading->slope == k);
    }
}

/* ---- derivatives by time ---- */

static enum ht_err fill_medium(struct making *m) {
    const struct ht_problem *p = m->problem;
    if (m->jets == NULL || m->plane == m->cell[2]) return HT_OK;
    m->plane = m->cell[2];
    return p->medium_fill(p->medium, HT_DUAL, m->plane, m->plane + 1,
                          m->medium);
}

/* (M^T e)[j]: M times the monomial j is a sum of monomials j + a. */
static double times_medium(const struct making *m, int material,
                           const double *e, const int j[3]) {
    const struct ht_problem *p = m->problem;
    const int own = (j[2] * m->t[1] + j[1]) * m->t[0] + j[0];
    if (material < 0) return e[own];
    if (m->jets == NULL) return p->uniform[material] * e[own];
    const int64_t nodes = ht_grid_plane(p->grid, HT_DUAL);
    const int64_t node =
        m->cell[1] * ht_grid_nodes(p->grid, HT_DUAL, 0) + m->cell[0];
    const double *jet = m->medium + (int64_t)material * m->jets->count * nodes;
    double sum = 0;
    for (int a = 0; a < m->jets->count; a++) {
        const int *more = m->jets->index[a];
        const int to[3] = {j[0] + more[0], j[1] + more[1], j[2] + more[2]};
        if (to[0] < m->t[0] && to[1] < m->t[1] && to[2] < m->t[2])
            sum += jet[a * nodes + node] *
                   e[(to[2] * m->t[1] + to[1]) * m->t[0] + to[0]];
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
        const int j[3] = {q % m->t[0], q / m->t[0] % m->t[1],
                          q / (m->t[0] * m->t[1])};
        const int power = j[term->axis];
        double part = factor;
        if (power + term->derivative >= m->t[term->axis]) continue;
        for (int n = 1; n <= term->derivative; n++) part *= power + n;
        next[q + term->derivative * stride] +=
            part * times_medium(m, term->material, e, j);
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

/* The entry of vertex and derivative r in its plane; the sign of the walls
 * before it. */
static int64_t entry_at(const struct making *m, int field, const int r[3],
                        double *sign) {
    const struct ht_grid *grid = m->problem->grid;
    int64_t node = 0, coef = 0;
    *sign = 1;
    for (int k = 2; k >= 0; k--) {
        const int derivative = r[k] % m->n[k];
        int factor;
        bool mirrored;
        const int64_t vertex =
            ht_grid_source(grid, m->subgrid, k, m->cell[k] + r[k] / m->n[k],
                           &factor, &mirrored);
        if (mirrored) *sign *= ht_wall_sign(m->problem->eq, field, k, factor);
        if (mirrored && derivative % 2) *sign = -*sign;
        if (k < 2) node = node * ht_grid_nodes(grid, m->subgrid, k) + vertex;
        coef = coef * m->n[k] + derivative;
    }
    return coef * ht_grid_plane(grid, m->subgrid) + node;
}

static enum ht_err reserve(struct sampler *s, int64_t more) {
    if (s->entries + more <= s->room) return HT_OK;
    s->room = 2 * (s->entries + more);
    struct entry *larger =
        realloc(s->entry, (size_t)s->room * sizeof *s->entry);
    REQUIRE(larger != NULL, HT_ERR_MEMORY,
            "out of memory for the weights of receivers");
    s->entry = larger;
    return HT_OK;
}

/* The entries at the lower or upper x3 plane of the cell. */
static void add_entries(const struct making *m, const double *w, int field,
                        int side, struct sampler *s) {
    for (int q = 0; q < m->cube; q++) {
        const int r[3] = {q % m->t[0], q / m->t[0] % m->t[1],
                          q / (m->t[0] * m->t[1])};
        double sign;
        if (r[2] / m->n[2] != side || w[q] == 0) continue;
        const int64_t at = entry_at(m, field, r, &sign);
        s->entry[s->entries++] =
            (struct entry){.at = at, .weight = sign * w[q]};
    }
}

static enum ht_err add_part(struct making *m, const double *w, int field,
                            int side, struct sampler *s) {
    int factor;
    bool mirrored;
    struct part part = {.number = m->parts,
                        .subgrid = m->subgrid,
                        .plane = ht_grid_source(m->problem->grid, m->subgrid, 2,
                                                m->cell[2] + side, &factor,
                                                &mirrored),
                        .field = field,
                        .first = s->entries};
    TRY(reserve(s, m->cube));
    add_entries(m, w, field, side, s);
    part.count = s->entries - part.first;
    if (part.count == 0) return HT_OK;
    m->weight[m->parts++] = 1;
    if (part.plane >= m->first[m->subgrid] && part.plane < m->last[m->subgrid])
        s->part[s->count++] = part;
    else
        s->entries = part.first;
    return HT_OK;
}

/* The parts of one derivative by time of a trace. */
static enum ht_err add_parts(struct making *m, struct sampler *s) {
    const struct ht_problem *p = m->problem;
    for (int f = 0; f < p->eq->nfields; f++) {
        double *w = m->next; /* free until the next derivative */
        if (!ht_problem_stores(p, m->subgrid, f)) continue;
        memcpy(w, m->e + (int64_t)f * m->cube, (size_t)m->cube * sizeof *w);
        for (int k = 0; k < p->eq->dims; k++) weigh_axis(m, w, k);
        for (int side = 0; side < (p->eq->dims > 2 ? 2 : 1); side++)
            TRY(add_part(m, w, f, side, s));
    }
    return HT_OK;
}

/* Of a trace at one level. */
static enum ht_err add_trace(struct making *m, enum ht_subgrid subgrid,
                             const struct ht_trace *trace, struct sampler *s,
                             int64_t *first) {
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
    const struct entry *entry = s->entry + part->first;
    double sum = 0;
    for (int64_t i = 0; i < part->count; i++)
        sum += entry[i].weight * s->coefs[entry[i].at];
    return sum;
}

static enum ht_err sampler_take(void *self, int64_t *steps, double *sums) {
    struct sampler *s = self;
    const struct ht_stepper *stepper = s->stepper;
    *steps = 1;
    for (int64_t i = 0; i < s->count; i++) {
        const struct part *part = &s->part[i], *before = part - 1;
        if (i == 0 || part->subgrid != before->subgrid ||
            part->plane != before->plane || part->field != before->field)
            TRY(stepper->ops->get(stepper->self, part->subgrid, part->field,
                                  ht_grid_coefs(s->grid), part->plane,
                                  part->plane + 1, s->coefs));
        sums[part->number] = value_of(s, part);
    }
    return HT_OK;
}

static void sampler_destroy(void *self) {
    struct sampler *s = self;
    free(s->part);
    free(s->entry);
    free(s->coefs);
    free(s);
}

static const struct ht_sampler_ops sampler_ops = {.take = sampler_take,
                                                  .destroy = sampler_destroy};

/* ---- making ---- */

static int by_plane(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    if (x->subgrid != y->subgrid) return x->subgrid < y->subgrid ? -1 : 1;
    if (x->plane != y->plane) return x->plane < y->plane ? -1 : 1;
    if (x->field != y->field) return x->field < y->field ? -1 : 1;
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
    *m = (struct making){
        .problem = p, .need = ht_resampling_of(plan), .plane = -1, .cube = 1};
    for (int k = 0; k < 3; k++) {
        m->n[k] = k < p->eq->dims ? p->grid->order + 1 : 1;
        m->t[k] = k < p->eq->dims ? 2 * m->n[k] : 1;
        m->cube *= m->t[k];
    }
    ht_hermite_matrix(p->grid->order, m->matrix);
    for (int g = 0; g < 2; g++)
        ht_grid_own(p->grid, (enum ht_subgrid)g, &m->first[g], &m->last[g]);
    TRY(HT_ALLOC(m->e, p->eq->nfields * m->cube));
    TRY(HT_ALLOC(m->next, p->eq->nfields * m->cube));
    if (p->medium_degree < 0) return HT_OK;
    TRY(ht_jets_total(p->eq->dims, p->medium_degree, &m->jets));
    return HT_ALLOC(m->medium, (int64_t)p->eq->nmaterials * m->jets->count *
                                   ht_grid_plane(p->grid, HT_DUAL));
}

static enum ht_err list_parts(const struct ht_plan *plan, struct making *m,
                              struct sampler *s, struct ht_sampler *out) {
    const int64_t most = 2 * out->traces * plan->eq.nfields;
    const int64_t traces = plan->receivers->traces;
    const int levels = m->need.per_step, derivatives = m->need.derivatives;
    TRY(HT_ALLOC(s->part, most));
    TRY(HT_ALLOC(out->weight, most));
    TRY(HT_ALLOC(out->first, out->traces + 1));
    m->weight = out->weight;
    for (int64_t t = 0; t < levels * traces; t++) {
        const struct ht_trace trace = ht_trace_at(plan->receivers, t % traces);
        TRY(add_trace(m, t / traces + 1 < levels ? HT_DUAL : HT_PRIMARY, &trace,
                      s, out->first + t * derivatives));
    }
    qsort(s->part, (size_t)s->count, sizeof *s->part, by_plane);
    out->parts = m->parts;
    out->period = 1;
    return HT_OK;
}

enum ht_err ht_hermite_sampler_make(const struct ht_plan *plan,
                                    const struct ht_stepper *stepper,
                                    const char *cache, struct ht_sampler *out) {
    const int64_t plane = ht_grid_plane(&plan->grid, HT_PRIMARY);
    struct sampler *s = NULL;
    struct making m;
    (void)cache;
    TRY(HT_ALLOC(s, 1));
    out->ops = &sampler_ops;
    out->self = s;
    s->stepper = stepper;
    s->grid = &plan->grid;
    enum ht_err err = begin_making(plan, &m);
    if (err == HT_OK) err = list_parts(plan, &m, s, out);
    if (err == HT_OK) err = HT_ALLOC(s->coefs, plane * ht_grid_coefs(s->grid));
    end_making(&m);
    return err;
}
