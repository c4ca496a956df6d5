/* Receivers of finite differences: values by the polynomials of htwave/grid.h. The nodes of a
 * point are a product of lists per axis. A row is the sum over those in one x3 plane; the weight of
 * the plane comes in on the host.
 */
#include <stdlib.h>

#include "fd.h"
#include "src/solve/methods.h"
#include "src/solve/sampler_private.h"

struct sampler {
    const struct ht_sampler *of;
    struct ht_fd_stepper *stepper;
    int64_t patterns;
    struct ht_point_axis (*pattern)[2]; /* along x1 and x2 */
    double *whole;                      /* [pattern] sum of its weights */
    double *level;                      /* [slot] of struct ht_fd_stepper */
    struct ht_tool *device;             /* NULL: none, or no rows */
};

static int64_t most_rows(const struct ht_plan *plan) {
    return plan->receivers->traces * (plan->grid.dims > 2 ? plan->grid.point_nodes + 1 : 1);
}

int64_t ht_differences_sampler_bytes(const struct ht_plan *plan, bool fp64) {
    const int64_t rows = most_rows(plan);
    const int points = plan->grid.point_nodes + 1;
    const struct ht_rows_shape shape = {.fp64 = fp64,
                                        .coefs = 1,
                                        .nodes = plan->grid.dims > 1 ? points * points : points,
                                        .patterns = plan->receivers->traces,
                                        .rows = rows,
                                        .slots = ht_sampler_slots(rows)};
    return ht_rows_bytes(&shape);
}

/* ---- samples ---- */

static enum ht_err sampler_take(void *self, int64_t slot) {
    struct sampler *s = self;
    const struct ht_fd_stepper *stepper = s->stepper;
    s->level[slot] = stepper->level;
    if (s->device == NULL) return HT_OK;
    return ht_rows_take(s->device, 0, s->of->rows, stepper->values[HT_FD_U].buffer, 0, slot);
}

static enum ht_err sampler_read(void *self, int64_t slots, double *sums) {
    const struct sampler *s = self;
    const int64_t rows = s->of->rows;
    if (s->device != NULL) TRY(ht_rows_read(s->device, slots, sums));
    for (int64_t n = 0; n < slots; n++)
        for (int64_t i = 0; i < rows; i++)
            sums[n * rows + i] += s->level[n] * s->whole[s->of->row[i].pattern];
    return HT_OK;
}

static double sampler_sum(const void *self, const struct ht_sampler_row *row, const double *plane) {
    const struct sampler *s = self;
    const struct ht_point_axis *axis = s->pattern[row->pattern];
    const int64_t nodes = ht_grid_nodes(s->of->grid, HT_PRIMARY, 0);
    double sum = 0;
    for (int m2 = 0; m2 < axis[1].count; m2++)
        for (int m1 = 0; m1 < axis[0].count; m1++)
            sum += axis[1].weight[m2] * axis[0].weight[m1] *
                   plane[axis[1].node[m2] * nodes + axis[0].node[m1]];
    return sum;
}

static double sampler_seconds(const void *self) {
    const struct sampler *s = self;
    return ht_tool_total(s->device, HT_PART_INTERIOR);
}

static void sampler_destroy(void *self) {
    struct sampler *s = self;
    ht_tool_destroy(s->device);
    free(s->pattern);
    free(s->whole);
    free(s->level);
    free(s);
}

static const struct ht_sampler_ops plain_ops = {.sum = sampler_sum, .destroy = sampler_destroy};
static const struct ht_sampler_ops device_ops = {.take = sampler_take,
                                                 .read = sampler_read,
                                                 .seconds = sampler_seconds,
                                                 .destroy = sampler_destroy};

/* ---- making ---- */

static enum ht_err add_trace(struct sampler *s, const struct ht_trace *trace,
                             struct ht_sampler *out) {
    struct ht_sampler_row row = {.field = trace->reading.field, .pattern = s->patterns};
    struct ht_point_axis axis[3];
    bool any = false, own;
    for (int k = 0; k < 3; k++)
        ht_point_axis_read(out->grid, k, trace->x[k], trace->reading.slope == k, &axis[k]);
    for (int i = 0; i < axis[2].count; i++) {
        row.plane = axis[2].node[i];
        TRY(ht_sampler_add(out, &row, axis[2].weight[i], &own));
        any = any || own;
    }
    if (!any) return HT_OK;
    double sum[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        s->pattern[s->patterns][k] = axis[k];
        for (int i = 0; i < axis[k].count; i++) sum[k] += axis[k].weight[i];
    }
    s->whole[s->patterns++] = sum[0] * sum[1];
    return HT_OK;
}

/* Nodes of patterns count from their first; what is left of a pattern has weight 0. */
static void fill_tables(const struct sampler *s, int nodes, const struct ht_rows_tables *out) {
    const struct ht_fd_box *box = &s->stepper->box;
    for (int64_t p = 0; p < s->patterns; p++) {
        const struct ht_point_axis *x = &s->pattern[p][0], *y = &s->pattern[p][1];
        for (int n = 0; n < x->count * y->count; n++) {
            const int i = n % x->count, j = n / x->count;
            out->weight[p * nodes + n] = y->weight[j] * x->weight[i];
            out->node[p * nodes + n] =
                (int)((y->node[j] - y->node[0]) * box->row + x->node[i] - x->node[0]);
        }
    }
    for (int64_t i = 0; i < s->of->rows; i++) {
        const struct ht_sampler_row *row = &s->of->row[i];
        const struct ht_point_axis *axis = s->pattern[row->pattern];
        out->from[i][0] = row->pattern;
        out->from[i][1] = (row->plane - s->stepper->first + box->begin[2]) * box->plane +
                          (axis[1].node[0] + box->begin[1]) * box->row + axis[0].node[0] +
                          box->begin[0];
    }
}

static enum ht_err make_device(struct sampler *s, const struct ht_sampler *of) {
    const struct ht_fd_engine *e = &s->stepper->engine;
    struct ht_rows_shape shape = {.fp64 = e->spec.fp64,
                                  .block = 1,
                                  .coefs = 1,
                                  .nodes = 1,
                                  .patterns = s->patterns,
                                  .rows = of->rows,
                                  .slots = of->slots};
    struct ht_rows_tables tables = {.node = NULL};
    if (of->rows == 0) return HT_OK;
    for (int64_t p = 0; p < s->patterns; p++)
        shape.nodes = (int)ht_most(shape.nodes, s->pattern[p][0].count * s->pattern[p][1].count);
    enum ht_err err = ht_rows_alloc(&shape, &tables);
    if (err == HT_OK) fill_tables(s, shape.nodes, &tables);
    if (err == HT_OK) err = ht_rows_create(e->device, &shape, &tables, &s->device);
    ht_rows_free(&tables);
    return err;
}

enum ht_err ht_differences_sampler_make(const struct ht_plan *plan, struct ht_sampler *out) {
    struct sampler *s = NULL;
    TRY(HT_ALLOC(s, 1));
    out->self = s;
    s->of = out;
    s->stepper = ht_fd_stepper_of(out->stepper);
    out->ops = s->stepper->engine.device != NULL ? &device_ops : &plain_ops;
    out->coefs = 1;
    TRY(HT_ALLOC(s->pattern, out->traces));
    TRY(HT_ALLOC(s->whole, out->traces));
    for (int64_t t = 0; t < out->traces; t++) {
        const struct ht_trace trace = ht_trace_at(plan->receivers, t);
        TRY(add_trace(s, &trace, out));
        out->first[t + 1] = out->all;
    }
    TRY(ht_sampler_listed(out));
    TRY(HT_ALLOC(s->level, out->slots));
    return s->stepper->engine.device != NULL ? make_device(s, out) : HT_OK;
}
