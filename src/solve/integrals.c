/* Initial values and factors of velocities; see the header. */
#include "htwave/sampler.h"

#include <stdlib.h>

/* start += the part of one plane, whose values these are. */
static void add_plane(const struct ht_grid *grid, const struct ht_receiver_group *group,
                      const struct ht_point_axis *planes, int64_t plane, const double *values,
                      double *start) {
    const int64_t row = ht_grid_nodes(grid, HT_PRIMARY, 0);
    for (int64_t i = 0; i < group->count; i++)
        for (int n = 0; n < planes[i].count; n++) {
            struct ht_point_axis x[2];
            double sum = 0;
            if (planes[i].node[n] != plane) continue;
            for (int k = 0; k < 2; k++) ht_point_axis_read(grid, k, group->x[i][k], false, &x[k]);
            for (int i2 = 0; i2 < x[1].count; i2++)
                for (int i1 = 0; i1 < x[0].count; i1++)
                    sum += x[1].weight[i2] * x[0].weight[i1] *
                           values[x[1].node[i2] * row + x[0].node[i1]];
            start[i] += planes[i].weight[n] * sum;
        }
}

static bool reaches(const struct ht_receiver_group *group, const struct ht_point_axis *planes,
                    int64_t plane) {
    for (int64_t i = 0; i < group->count; i++)
        for (int n = 0; n < planes[i].count; n++)
            if (planes[i].node[n] == plane) return true;
    return false;
}

static enum ht_err read_initial(const struct ht_plan *plan, const struct ht_receiver_group *group,
                                int field, struct ht_point_axis *planes, double *values,
                                double *start) {
    /* The grid with the walls' signs of a field in place of those of p. */
    struct ht_grid grid = plan->grid;
    for (int k = 0; k < grid.dims; k++)
        for (int side = 0; side < 2; side++)
            if (grid.wall[k][side] != 0)
                grid.wall[k][side] = ht_wall_sign(&plan->eq, field, k, grid.wall[k][side]);
    const int64_t nodes = ht_grid_plane(&grid, HT_PRIMARY);
    for (int64_t i = 0; i < group->count; i++)
        ht_point_axis_read(&grid, 2, group->x[i][2], false, &planes[i]);
    for (int64_t m = 0; m < ht_grid_planes(&grid, HT_PRIMARY); m++) {
        if (!reaches(group, planes, m)) continue;
        TRY(ht_solution_fill(plan->solution, HT_PRIMARY, 0, m, m + 1, values));
        add_plane(&grid, group, planes, m, values + field * nodes, start);
    }
    return HT_OK;
}

enum ht_err ht_integrals_find(const struct ht_plan *plan, const struct ht_receiver_group *group,
                              const struct ht_reading *reading, double *start, double *factor) {
    const struct ht_second_order *form = &plan->eq.second_order;
    const char *density = plan->eq.system->material[form->inverse_density].name;
    const int field = form->flux[reading->slope];
    for (int64_t i = 0; i < group->count; i++) {
        TRY(ht_medium_parameter(plan->medium, density, group->x[i], &factor[i]));
        factor[i] *= form->sign[reading->slope];
        start[i] = 0;
    }
    if (!ht_solution_occurs(plan->solution, field)) return HT_OK;
    const int64_t nodes = ht_grid_plane(&plan->grid, HT_PRIMARY);
    HT_FREED struct ht_point_axis *planes = NULL;
    HT_FREED double *values = NULL;
    TRY(HT_ALLOC(planes, group->count));
    TRY(HT_ALLOC(values, plan->eq.nfields * nodes));
    return read_initial(plan, group, field, planes, values, start);
}
