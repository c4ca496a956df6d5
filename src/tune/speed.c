/* The speeds of the ranks' devices, for slabs that take all ranks the same
 * time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/rate.h"

/* ---- timing ---- */

/* Cells of the test problem: planes of the grid's size if a half step on them
 * is short enough, else smaller planes of the same shape. */
static void choose_cells(const struct ht_problem *problem,
                         const struct ht_kernels *kernels, bool gpu,
                         int64_t cells[3]) {
    const double bytes = gpu ? 0x1p28 : 0x1p24, fma = gpu ? 1e11 : 2e7;
    const int64_t planes = 8, least = 4;
    const struct ht_spec *spec = &kernels->spec[0];
    double state = 2.0 * problem->eq->nfields * ht_grid_coefs(problem->grid) *
                   (spec->fp64 ? 8 : 4);
    double cost = fmax(ht_variant_cost(kernels->variant, spec, -1).fma, 1);
    double room = fmin(bytes / state, fma / cost) / (double)planes;
    double shrink =
        fmin(1, sqrt(room / (double)ht_grid_plane(problem->grid, HT_DUAL)));
    for (int k = 0; k < 2; k++) {
        cells[k] = (int64_t)(shrink * (double)problem->grid->cells[k]);
        if (cells[k] < least) cells[k] = least;
    }
    cells[2] = planes;
}

static enum ht_err steps_for(const struct ht_stepper *stepper, double seconds,
                             int least, int *done) {
    double began = ht_clock();
    *done = 0;
    while (*done < least || ht_clock() - began < seconds) {
        TRY(ht_stepper_advance(stepper, 1));
        ++*done;
    }
    return HT_OK;
}

static enum ht_err time_steps(const struct ht_part *test, struct ht_comm *comm,
                              const struct ht_stepper *stepper, double *speed) {
    const double seconds = 0.2;
    int done;
    double meet = 0;
    TRY(ht_test_problem_fill(test, stepper));
    TRY(steps_for(stepper, 0, 1, &done));
    TRY(ht_comm_sum(comm, 1, &meet));
    double began = ht_clock();
    TRY(steps_for(stepper, seconds, 2, &done));
    *speed = 2.0 * done * (double)ht_grid_total(&test->grid, HT_DUAL) /
             (ht_clock() - began);
    return HT_OK;
}

enum ht_err ht_device_speed(const struct ht_problem *problem,
                            struct ht_device *device,
                            struct ht_kernels *kernels, double *speed) {
    struct ht_part test;
    struct ht_stepper stepper = {0};
    int64_t cells[3];
    choose_cells(problem, kernels, ht_device_info(device)->gpu, cells);
    ht_test_problem(problem, cells, &test);
    TRY(ht_stepper_create(&test.problem, device, kernels, &stepper));
    enum ht_err err =
        time_steps(&test, problem->grid->slab.comm, &stepper, speed);
    (void)ht_kernels_seconds(kernels); /* do not charge them to the run */
    ht_stepper_destroy(&stepper);
    return err;
}

/* ---- weights ---- */

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Number of speeds, from the largest on, within 5 % of their mean. */
static int alike(int count, const double *speed, double *mean) {
    const double scatter = 0.05;
    int n = 1;
    *mean = speed[0];
    for (; n < count; n++) {
        double next = *mean + (speed[n] - *mean) / (n + 1);
        if (speed[0] > (1 + scatter) * next || speed[n] < (1 - scatter) * next)
            break;
        *mean = next;
    }
    return n;
}

enum ht_err ht_speed_weights(int ranks, const double *speed, double *weights) {
    double *sorted = NULL;
    for (int r = 0; r < ranks; r++)
        REQUIRE(isfinite(speed[r]) && speed[r] > 0, HT_ERR_INTERNAL,
                "the device of rank %d has the speed %g", r, speed[r]);
    TRY(HT_ALLOC(sorted, ranks));
    memcpy(sorted, speed, (size_t)ranks * sizeof *sorted);
    qsort(sorted, (size_t)ranks, sizeof *sorted, descending);
    for (int first = 0, n; first < ranks; first += n) {
        double mean;
        n = alike(ranks - first, sorted + first, &mean);
        for (int r = 0; r < ranks; r++)
            if (speed[r] <= sorted[first] && speed[r] >= sorted[first + n - 1])
                weights[r] = mean;
    }
    free(sorted);
    return HT_OK;
}

enum ht_err ht_speed_cut(struct ht_plan *plan, struct ht_device *device,
                         struct ht_kernels *kernels) {
    struct ht_comm *comm = plan->grid.slab.comm;
    int ranks = ht_comm_size(comm);
    double own = 0, *speed = NULL, *weights = NULL;
    if (ranks == 1) return HT_OK;
    enum ht_err err = HT_ALLOC(speed, ranks);
    if (err == HT_OK) err = HT_ALLOC(weights, ranks);
    if (err == HT_OK)
        err = ht_device_speed(&plan->problem, device, kernels, &own);
    if (err == HT_OK) err = ht_comm_gather(comm, &own, sizeof own, speed);
    if (err == HT_OK) err = ht_speed_weights(ranks, speed, weights);
    if (err == HT_OK) err = ht_plan_cut(plan, weights);
    free(weights);
    free(speed);
    return ht_comm_agree(comm, err);
}
