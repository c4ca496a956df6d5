/* Receivers of Hermite methods: values of the polynomial of the cell around the point and their
 * derivatives by time, from the equations,
 *     d^l/dt^l u = L^l u,
 * all linear functions of the derivatives at the cell's vertices. Such a function e of polynomials
 * begins as the value, or slope, at the point; one derivative by time more makes it L^T e, in the
 * arithmetic of the reference (oracle.c): products with the medium's polynomials are cut at degree
 * 2N+1 per axis. At last H^T makes weights of the vertices' derivatives of it. A row is the sum
 * over one field's at the vertices in one x3 plane; in fewer dimensions there is one plane. On a
 * vertex the value takes that vertex alone, exactly: H and powers of 1/2 are dyadic. */
#include "src/solve/methods.h"
#include "src/solve/sampler_private.h"

enum { MOST_TERMS = 2 * (HT_MAX_ORDER + 1) };
struct making {
    const struct ht_problem *problem;
    struct ht_resampling need;
    struct ht_jets *jets;                   /* of the medium; NULL: uniform */
    double *medium;                         /* [material][a][node of the plane] */
    int64_t plane;                          /* of the medium; -1: none yet */
    double matrix[MOST_TERMS * MOST_TERMS]; /* H^T */
    struct ht_cell cell;
    double *e, *next;        /* [field][j3][j2][j1] */
    double *product;         /* [j3][j2][j1] */
    struct ht_pool pool;     /* of these and the medium */
    enum ht_subgrid subgrid; /* whose nodes the vertices are, */
    int64_t at[3];           /* the lowest of them */
    double eta[3];           /* of the point in their cell */
};

/* For each trace all fields, below and above. */
void ht_hermite_sampler_shape(const struct ht_plan *plan, struct ht_rows_shape *out) {
    const struct ht_resampling need = ht_resampling_of(plan);
    out->coefs = (int)ht_grid_coefs(&plan->grid);
    out->nodes = plan->grid.dims > 1 ? 4 : 2; /* by their bits along x1 and x2 */
    out->lines = 1;
    out->rows = 2 * plan->receivers->traces * need.per_step * need.derivatives * plan->eq.nfields;
    out->patterns = out->rows;
}

/* The coefficients are of powers of eta = (x - mid)/h. */
static double power_at(const struct making *m, int axis, int j, bool slope) {
    double power = 1;
    if (slope && j == 0) return 0;
    for (int n = slope; n < j; n++) power *= m->eta[axis];
    return slope ? j * power / m->problem->grid->h[axis] : power;
}

static void differentiate(struct making *m) {
    const struct ht_problem *p = m->problem;
    const int64_t cube = m->cell.cube, nodes = ht_grid_plane(p->grid, HT_DUAL);
    const int64_t node = m->at[1] * ht_grid_nodes(p->grid, HT_DUAL, 0) + m->at[0];
    double *before = m->e;
    memset(m->next, 0, (size_t)(p->eq->nfields * cube) * sizeof *m->next);
    for (int t = 0; t < p->eq->nterms; t++) {
        /* next[col] += dt coef D^T M^T e[row]. */
        const struct ht_term *term = &p->eq->term[t];
        const double *e = m->e + term->row * cube;
        double factor = p->dt / m->need.per_step * term->coef;
        for (int n = 0; n < term->derivative; n++) factor /= p->grid->h[term->axis];
        if (term->material >= 0) {
            memset(m->product, 0, (size_t)cube * sizeof *m->product);
            if (m->jets == NULL)
                ht_cell_multiply(&m->cell, 1, NULL, &p->uniform[term->material], 0, true, e,
                                 m->product);
            else
                ht_cell_multiply(&m->cell, m->jets->count, (const int(*)[3])m->jets->index,
                                 m->medium + (int64_t)term->material * m->jets->count * nodes +
                                     node,
                                 nodes, true, e, m->product);
            e = m->product;
        }
        ht_cell_differentiate(&m->cell, term, factor, true, e, m->next + term->col * cube);
    }
    m->e = m->next;
    m->next = before;
}

/* ---- weights of vertices ---- */

/* The weights at the lower or upper x3 plane of the cell; false: all are 0. */
static bool find_weights(const struct making *m, const double *w, int field, int side,
                         const struct ht_rows_shape *shape, int64_t *plane, int64_t *node,
                         double *out) {
    const struct ht_grid *grid = m->problem->grid;
    const int *n = m->cell.n, *t = m->cell.t, nodes = shape->nodes;
    bool any = false;
    for (int v = 0; v < nodes; v++) {
        const int vertex[3] = {v & 1, v >> 1, side};
        int sign[3][2];
        node[v] = 0; /* in its plane */
        for (int k = 2; k >= 0; k--) {
            const int64_t at =
                ht_grid_source(grid, m->subgrid, k, m->problem->eq->field[field].parity >> k & 1u,
                               m->at[k] + vertex[k], sign[k]);
            if (k == 2)
                *plane = at;
            else
                node[v] = node[v] * ht_grid_nodes(grid, m->subgrid, k) + at;
        }
        for (int i = 0; i < shape->coefs; i++) {
            const int j[3] = {i % n[0], i / n[0] % n[1], i / (n[0] * n[1])};
            int q = 0, turn = 1;
            for (int k = 2; k >= 0; k--) {
                q = q * t[k] + vertex[k] * n[k] + j[k];
                turn *= sign[k][j[k] % 2];
            }
            out[i * nodes + v] = turn * w[q];
            any = any || out[i * nodes + v] != 0;
        }
    }
    return any;
}

static HT_ERR add_row(struct making *m, const double *w, int field, int side,
                      struct ht_sampler *out) {
    struct ht_sampler_row row = {
        .subgrid = m->subgrid, .field = field, .pattern = out->shape.patterns};
    bool own;
    int64_t *node;
    double *value;
    TRY(ht_sampler_pattern(out, &node, &value));
    if (!find_weights(m, w, field, side, &out->shape, &row.plane, node, value)) return HT_OK;
    TRY(ht_sampler_add(out, &row, 1, &own));
    out->shape.patterns += own;
    return HT_OK;
}

static bool takes(const struct making *m, int field) {
    const double *e = m->e + (int64_t)field * m->cell.cube;
    for (int q = 0; q < m->cell.cube; q++)
        if (e[q] != 0) return true;
    return false;
}

/* ---- making ---- */

static HT_ERR begin_making(const struct ht_plan *plan, struct making *m) {
    const struct ht_problem *p = &plan->problem;
    *m = (struct making){.problem = p, .need = ht_resampling_of(plan), .plane = -1};
    m->cell = ht_cell_make(p->grid);
    double matrix[MOST_TERMS * MOST_TERMS];
    ht_hermite_matrix(p->grid->order, matrix);
    for (int i = 0; i < m->cell.t[0] * m->cell.t[0]; i++)
        m->matrix[i] = matrix[i % m->cell.t[0] * m->cell.t[0] + i / m->cell.t[0]];
    TRY(HT_TAKE(&m->pool, m->e, p->eq->nfields * m->cell.cube));
    TRY(HT_TAKE(&m->pool, m->next, p->eq->nfields * m->cell.cube));
    TRY(HT_TAKE(&m->pool, m->product, m->cell.cube));
    if (p->medium_degree < 0) return HT_OK;
    TRY(ht_jets_make(p->eq->dims, p->medium_degree, true, &m->jets));
    return HT_TAKE(&m->pool, m->medium,
                   (int64_t)p->eq->nmaterials * m->jets->count * ht_grid_plane(p->grid, HT_DUAL));
}

/* Cells of the dual grid may reach beyond walls. */
static void find_cell(struct making *m, const struct ht_trace *trace, enum ht_subgrid subgrid) {
    const struct ht_grid *grid = m->problem->grid;
    const double close_by = 1e-9;
    const bool dual = subgrid == HT_DUAL;
    m->subgrid = subgrid;
    for (int k = 0; k < grid->dims; k++) {
        double at = (trace->x[k] - grid->lower[k]) / grid->h[k] - (dual ? 0.5 : 0);
        if (fabs(at - round(at)) < close_by) at = round(at);
        const double cell = fmax(dual ? -1 : 0, fmin(floor(at), (double)(grid->cells[k] - 1)));
        m->at[k] = (int64_t)cell;
        m->eta[k] = at - cell - 0.5;
    }
}

static HT_ERR list_rows(const struct ht_plan *plan, struct making *m, struct ht_sampler *out) {
    const struct ht_problem *p = m->problem;
    const int64_t traces = plan->receivers->traces;
    const int levels = m->need.per_step;
    for (int64_t t = 0; t < levels * traces; t++) {
        const struct ht_trace trace = ht_trace_at(plan->receivers, t % traces);
        /* Of a trace at one level. */
        const enum ht_subgrid subgrid = t / traces + 1 < levels ? HT_DUAL : HT_PRIMARY;
        int64_t *first = out->first + t * m->need.derivatives;
        int made = 0;
        find_cell(m, &trace, subgrid);
        if (m->jets != NULL && m->plane != m->at[2]) {
            m->plane = m->at[2];
            TRY(p->medium_fill(p->medium, HT_DUAL, m->plane, m->plane + 1, m->medium));
        }
        double *e = m->e + (int64_t)trace.reading.field * m->cell.cube;
        memset(m->e, 0, (size_t)p->eq->nfields * (size_t)m->cell.cube * sizeof *m->e);
        for (int q = 0; q < m->cell.cube; q++) {
            const int j[3] = {q % m->cell.t[0], q / m->cell.t[0] % m->cell.t[1],
                              q / (m->cell.t[0] * m->cell.t[1])};
            e[q] = 1;
            for (int k = 0; k < p->grid->dims; k++)
                e[q] *= power_at(m, k, j[k], trace.reading.slope == k);
        }
        for (int d = 0; d < m->need.derivatives; d++) {
            for (; made < m->need.derivative[d]; made++) differentiate(m);
            /* The rows of one derivative by time of a trace. */
            for (int f = 0; f < p->eq->nfields; f++) {
                double *w = m->next; /* free until the next derivative */
                if (!ht_problem_stores(p, m->subgrid, f) || !takes(m, f)) continue;
                memcpy(w, m->e + (int64_t)f * m->cell.cube, (size_t)m->cell.cube * sizeof *w);
                for (int k = 0; k < p->eq->dims; k++) ht_hermite_along(m->matrix, m->cell.t, k, w);
                for (int side = 0; side < (p->eq->dims > 2 ? 2 : 1); side++)
                    TRY(add_row(m, w, f, side, out));
            }
            first[d + 1] = out->all;
        }
    }
    return HT_OK;
}

enum ht_err ht_hermite_sampler_list(const struct ht_plan *plan, struct ht_sampler *out) {
    struct making m;
    enum ht_err err = begin_making(plan, &m);
    if (err == HT_OK) err = list_rows(plan, &m, out);
    ht_jets_destroy(m.jets);
    ht_pool_free(&m.pool);
    return err;
}
