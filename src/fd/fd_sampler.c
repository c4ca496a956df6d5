/* Receivers of finite differences: values by the polynomials of htwave/grid.h. The nodes of a
 * point are a product of lists per axis. A row is the sum over those in one x3 plane; the weight of
 * the plane comes in on the host.
 */
#include "fd.h"
#include "src/solve/methods.h"
#include "src/solve/sampler_private.h"

void ht_differences_sampler_shape(const struct ht_plan *plan, struct ht_rows_shape *out) {
    const int points = plan->grid.point_nodes + 1;
    out->coefs = 1;
    out->nodes = plan->grid.dims > 1 ? points * points : points;
    out->patterns = plan->receivers->traces;
    out->rows = out->patterns * (plan->grid.dims > 2 ? points : 1);
}

enum ht_err ht_differences_sampler_list(const struct ht_plan *plan, struct ht_sampler *out) {
    for (int64_t t = 0; t < out->traces; t++) {
        const struct ht_trace trace = ht_trace_at(plan->receivers, t);
        const unsigned parity = plan->eq.field[trace.reading.field].parity;
        struct ht_grid grid = *out->grid;
        for (int k = 0; k < 3 && plan->problem.fd.pair != HT_PAIR_NONE; k++)
            grid.shift[k] = parity >> k & 1u ? 0.5 : 0;
        struct ht_sampler_row row = {.field = trace.reading.field, .pattern = out->shape.patterns};
        const int64_t n1 = ht_grid_nodes(out->grid, HT_PRIMARY, 0);
        struct ht_point_axis axis[3];
        bool any = false, own;
        int64_t *node;
        double *value;
        for (int k = 0; k < 3; k++)
            ht_point_axis_read(&grid, k, trace.x[k], trace.reading.slope == k, &axis[k]);
        TRY(ht_sampler_pattern(out, &node, &value));
        for (int i2 = 0; i2 < axis[1].count; i2++)
            for (int i1 = 0; i1 < axis[0].count; i1++) {
                *node++ = axis[1].node[i2] * n1 + axis[0].node[i1];
                *value++ = axis[1].weight[i2] * axis[0].weight[i1];
            }
        for (int i = 0; i < axis[2].count; i++) {
            row.plane = axis[2].node[i];
            TRY(ht_sampler_add(out, &row, axis[2].weight[i], &own));
            any = any || own;
        }
        out->shape.patterns += any;
        out->first[t + 1] = out->all;
    }
    return HT_OK;
}
