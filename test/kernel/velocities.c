/* Advection at velocities that put a kernel's factors to the test: none along some axes or all,
 * either sign, one much less than the others. The velocity is a constant of the programs of the
 * variant made for advection. */
#include "compiler.h"
#include "open_device.h"
#include "problem.h"

struct velocity_case {
    int dims, order;
    double velocity[3];
};

static const struct velocity_case cases[] = {
    {1, 2, {0}},
    {1, 3, {-1e-6}},
    {2, 2, {0, -0.8}},
    {2, 1, {1e-20, -1e-25}},
    {3, 1, {-0.02, 0, -0.9}},
};

static void judge(struct ht_device *device) {
    const struct ht_device_info *info = ht_device_info(device);
    test_optimise(false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct velocity_case *c = &cases[i];
        const struct ht_equations eq = ht_equations_make(ht_system_find("advection"), c->dims);
        const struct ht_grid grid = hand_grid(c->dims, c->order, (const int64_t[]){3, 3, 3}, NULL);
        struct ht_problem problem =
            hand_problem(&eq, &grid, HT_TAYLOR, HT_UNIFORM, 0.5, c->dims * (2 * c->order + 1));
        const struct ht_tuning tuning = {.variant = ht_variant_find("separable", NULL, true),
                                         .fp64 = i % 2 && info->fp64 && c->order < 3,
                                         .ptx = info->ptx,
                                         .ptx_own = info->ptx_own,
                                         .block = 1};
        for (int k = 0; k < 3; k++) problem.uniform[k] = c->velocity[k];
        judge_kernels(&problem, device, &tuning, "%d-D, N = %d, %s, velocity %g %g %g", c->dims,
                      c->order, ht_real_name(tuning.fp64), c->velocity[0], c->velocity[1],
                      c->velocity[2]);
    }
}

int main(void) {
    return test_on_device("velocities", judge);
}
