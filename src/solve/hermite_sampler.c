/* Receivers of Hermite methods: values of the polynomial of the cell around
 * the point, a linear function of the derivatives at its vertices: the product
 * over the axes of weights of (vertex, derivative). A part is the sum over the
 * vertices in one x3 plane; in fewer dimensions there is one plane.
 */
#include <math.h>
#include <stdlib.h>

#include "methods.h"
#include "sampler_private.h"

/* Vertices and derivatives along an axis. */
enum { MOST_TERMS = 2 * (HT_MAX_ORDER + 1) };
struct axis {
    int count;
    struct term {
        int64_t node;
        int derivative;
        double weight;
    } term[MOST_TERMS];
};
struct part {
    int64_t number, plane;
    int field;
    struct axis axis[3];
};
struct sampler {
    const struct ht_stepper *stepper;
    const struct ht_grid *grid;
    int64_t parts;     /* of all ranks */
    int64_t count;     /* own ones, */
    struct part *part; /* by plane and field */
    double *coefs;     /* of a plane */
};

int64_t ht_hermite_sampler_bytes(const struct ht_plan *plan, bool fp64) {
    (void)plan, (void)fp64;
    return 0;
}

/* ---- weights ---- */

/* On a vertex: its own derivative 0 or 1. */
static void at_vertex(const struct ht_grid *grid, int axis, int64_t node,
                      bool slope, struct axis *out) {
    out->count = 1;
    out->term[0] = (struct term){.node = node,
                                 .derivative = slope,
                                 .weight = slope ? 1 / grid->h[axis] : 1};
}

/* The interpolant's coefficients are of powers of eta = (x - mid)/h. */
static void inside_cell(const struct ht_grid *grid, int axis, int64_t cell,
                        double eta, bool slope, struct axis *out) {
    const int n = grid->order + 1;
    double matrix[MOST_TERMS * MOST_TERMS];
    ht_hermite_matrix(grid->order, matrix);
    for (int v = 0; v < 2 * n; v++) {
        double weight = 0, power = 1;
        for (int j = slope; j < 2 * n; j++) {
            weight +=
                (slope ? j / grid->h[axis] : 1) * power * matrix[j * 2 * n + v];
            power *= eta;
        }
        out->term[out->count++] = (struct term){
            .node = cell + v / n, .derivative = v % n, .weight = weight};
    }
}

static struct axis axis_of(const struct ht_grid *grid,
                           const struct ht_trace *trace, int axis) {
    const double close_by = 1e-9;
    const bool slope = trace->reading.slope == axis;
    const int64_t nodes = ht_grid_nodes(grid, HT_PRIMARY, axis);
    struct axis out = {.count = 0};
    if (axis >= grid->dims) {
        out.count = 1;
        out.term[0] = (struct term){.weight = 1};
        return out;
    }
    const double at = (trace->x[axis] - grid->lower[axis]) / grid->h[axis];
    const double last = (double)(grid->cells[axis] - 1);
    const double nearest = round(at), cell = fmax(0, fmin(floor(at), last));
    if (fabs(at - nearest) < close_by)
        at_vertex(grid, axis, (int64_t)nearest, slope, &out);
    else
        inside_cell(grid, axis, (int64_t)cell, at - cell - 0.5, slope, &out);
    for (int i = 0; i < out.count; i++) out.term[i].node %= nodes;
    return out;
}

/* The terms of one vertex, if the axis has any there. */
static struct axis terms_on(const struct axis *all, int64_t node) {
    struct axis out = {.count = 0};
    for (int i = 0; i < all->count; i++)
        if (all->term[i].node == node) out.term[out.count++] = all->term[i];
    return out;
}

/* ---- samples ---- */

static double value_of(const struct sampler *s, const struct part *part) {
    const struct ht_grid *grid = s->grid;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    const int64_t nodes = ht_grid_plane(grid, HT_PRIMARY), n = grid->order + 1;
    const struct axis *a = part->axis;
    double sum = 0;
    for (int i3 = 0; i3 < a[2].count; i3++)
        for (int i2 = 0; i2 < a[1].count; i2++)
            for (int i1 = 0; i1 < a[0].count; i1++) {
                const struct term *t[3] = {&a[0].term[i1], &a[1].term[i2],
                                           &a[2].term[i3]};
                const int64_t coef =
                    (t[2]->derivative * n + t[1]->derivative) * n +
                    t[0]->derivative;
                sum += t[0]->weight * t[1]->weight * t[2]->weight *
                       s->coefs[coef * nodes + t[1]->node * n1 + t[0]->node];
            }
    return sum;
}

static enum ht_err sampler_take(void *self, int64_t *steps, double *sums) {
    struct sampler *s = self;
    const struct ht_stepper *stepper = s->stepper;
    *steps = 1;
    for (int64_t i = 0; i < s->count; i++) {
        const struct part *part = &s->part[i], *before = part - 1;
        if (i == 0 || part->plane != before->plane ||
            part->field != before->field)
            TRY(stepper->ops->get(stepper->self, HT_PRIMARY, part->field,
                                  ht_grid_coefs(s->grid), part->plane,
                                  part->plane + 1, s->coefs));
        sums[part->number] = value_of(s, part);
    }
    return HT_OK;
}

static void sampler_destroy(void *self) {
    struct sampler *s = self;
    free(s->part);
    free(s->coefs);
    free(s);
}

static const struct ht_sampler_ops sampler_ops = {.take = sampler_take,
                                                  .destroy = sampler_destroy};

/* ---- making ---- */

static int by_plane(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    if (x->plane != y->plane) return x->plane < y->plane ? -1 : 1;
    if (x->field != y->field) return x->field < y->field ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* A part per plane of the cell's vertices, in their order. */
static void add_trace(struct sampler *s, const struct ht_trace *trace) {
    struct part part = {.field = trace->reading.field};
    int64_t first, last;
    ht_grid_own(s->grid, HT_PRIMARY, &first, &last);
    for (int k = 0; k < 3; k++) part.axis[k] = axis_of(s->grid, trace, k);
    const struct axis planes = part.axis[2];
    for (int i = 0; i < planes.count; i++) {
        part.plane = planes.term[i].node;
        if (i > 0 && part.plane == planes.term[i - 1].node) continue;
        part.number = s->parts++;
        part.axis[2] = terms_on(&planes, part.plane);
        if (part.plane >= first && part.plane < last)
            s->part[s->count++] = part;
    }
}

enum ht_err ht_hermite_sampler_make(const struct ht_plan *plan,
                                    const struct ht_stepper *stepper,
                                    const char *cache, struct ht_sampler *out) {
    struct sampler *s = NULL;
    const int64_t plane = ht_grid_plane(&plan->grid, HT_PRIMARY);
    (void)cache;
    TRY(HT_ALLOC(s, 1));
    out->ops = &sampler_ops;
    out->self = s;
    s->stepper = stepper;
    s->grid = &plan->grid;
    TRY(HT_ALLOC(s->part, 2 * out->traces));
    TRY(HT_ALLOC(s->coefs, plane * ht_grid_coefs(s->grid)));
    TRY(HT_ALLOC(out->first, out->traces + 1));
    for (int64_t t = 0; t < out->traces; t++) {
        const struct ht_trace trace = ht_trace_at(plan->receivers, t);
        add_trace(s, &trace);
        out->first[t + 1] = s->parts;
    }
    qsort(s->part, (size_t)s->count, sizeof *s->part, by_plane);
    TRY(HT_ALLOC(out->weight, s->parts));
    for (int64_t p = 0; p < s->parts; p++) out->weight[p] = 1;
    out->parts = s->parts;
    out->period = 1;
    return HT_OK;
}
