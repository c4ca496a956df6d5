/* The stepper's part for the mean of `wave` by leapfrog in single precision
 * (docs/method.md, section 13). Where nothing fixes the mean (sides periodic or
 * rigid), the weighted sum of ht_mean_weights obeys
 *     sum(t + dt/2) - 2 sum(t) + sum(t - dt/2) = 0
 * on the two grids in turn: it is linear in time, and what each half step's
 * rounding adds to it grows with the number of half steps that follow. So the
 * sums of both grids are taken at the start, and every so many half steps both
 * means are set to what they have to be.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "htwave/absorbing.h"
#include "stepper_private.h"

/* Measured: the roundings of a half step move the mean of independent nodes by
 * 4 roundings of a value over the root of their number. */
static const double ROUNDINGS = 4;
/* What the mean may move between two looks at it, of an amplitude of 1: less
 * than rounding adds to a wave. */
static const double LITTLE = 2e-6;
enum { LEAST_BETWEEN = 20, MOST_BETWEEN = 1000 }; /* half steps */
/* A slope of the mean, per half step, of less than this many roundings of an
 * average of nodal values is taken for rounding of the initial data. */
static const double SMALL_SLOPE = 4;

static double count_nodes(const struct ht_grid *grid) {
    double nodes = 1;
    for (int k = 0; k < grid->dims; k++) nodes *= (double)grid->cells[k];
    return nodes;
}

/* n random changes of the slope move the mean by their size n^(3/2)/sqrt(3). */
static int half_steps_between(const struct ht_grid *grid) {
    const double change = ROUNDINGS * FLT_EPSILON / 2;
    const double n =
        pow(LITTLE / change * sqrt(3 * count_nodes(grid)), 2.0 / 3);
    return (int)fmax(LEAST_BETWEEN, fmin(n, MOST_BETWEEN));
}

static int stored_field(const struct ht_problem *problem) {
    int f = 0;
    while (!ht_problem_stores(problem, HT_PRIMARY, f)) f++;
    return f;
}

bool ht_problem_keeps_mean(const struct ht_problem *p, bool fp64) {
    bool free = p->duhamel != NULL || ht_absorbing_axes(p->layers) != 0 ||
                ht_sponge_rate(p, HT_PRIMARY) > 0;
    if (fp64 || p->old_sign != -1 || p->medium_degree >= 0 || free ||
        ht_problem_stored(p, HT_PRIMARY) != 1)
        return false;
    for (int k = 0; k < p->grid->dims; k++)
        for (int side = 0; side < 2; side++)
            if (p->grid->wall[k][side] < 0) return false;
    return p->eq->field[stored_field(p)].parity == 0;
}

/* Per node of the whole grid. Each rank has its planes among those of the grid:
 * the others add 0, and all are added in their order. */
static enum ht_err measure(struct ht_device_stepper *t, enum ht_subgrid subgrid,
                           struct ht_mean_sum *out) {
    const struct ht_grid *grid = t->problem.grid;
    const int64_t planes = ht_grid_planes(grid, subgrid);
    struct ht_mean_part part = {.window = &t->partition.window[subgrid]};
    struct ht_mean_sum *own = NULL;
    double *sums = NULL;
    const double nodes = count_nodes(grid);
    int64_t first, last;
    part.box = part.window->own;
    ht_grid_own(grid, subgrid, &first, &last);
    for (int k = 0; k < 3; k++)
        for (int side = 0; side < 2; side++)
            part.half[k][side] = ht_measure_half(grid, subgrid, k, side) &&
                                 (k < 2 || ht_grid_neighbour(grid, side) < 0);
    TRY(HT_ALLOC(own, last - first + 1));
    enum ht_err err = HT_ALLOC(sums, 2 * planes);
    if (err == HT_OK)
        err = ht_means_sums(t->means, t->form, &part,
                            t->u[subgrid][stored_field(&t->problem)], own);
    for (int64_t m = first; err == HT_OK && m < last; m++) {
        sums[2 * m] = own[m - first].sum;
        sums[2 * m + 1] = own[m - first].magnitudes;
    }
    if (err == HT_OK)
        err = ht_comm_sum(grid->slab.comm, (int)(2 * planes), sums);
    *out = (struct ht_mean_sum){0};
    for (int64_t m = 0; err == HT_OK && m < planes; m++) {
        out->sum += sums[2 * m] / nodes;
        out->magnitudes += sums[2 * m + 1] / nodes;
    }
    free(own);
    free(sums);
    return err;
}

/* The line through the means before the first half step, from a grid at time 0
 * to one at time -step. */
static enum ht_err begin(struct ht_device_stepper *t, enum ht_subgrid from,
                         enum ht_subgrid to, int step) {
    struct ht_kept_mean *mean = &t->mean;
    struct ht_mean_sum now, old;
    const double nodes = count_nodes(t->problem.grid);
    if (t->form == NULL)
        TRY(ht_mean_form_create(t->device, &t->spec, stored_field(&t->problem),
                                &t->form));
    TRY(measure(t, from, &now));
    TRY(measure(t, to, &old));
    *mean = (struct ht_kept_mean){.known = true};
    mean->time[to] = -step;
    mean->slope = (now.sum - old.sum) * step;
    mean->start = now.sum;
    if (fabs(mean->slope) < SMALL_SLOPE * FLT_EPSILON / 2 *
                                fmax(now.magnitudes, old.magnitudes) /
                                sqrt(nodes)) {
        mean->slope = 0;
        mean->start = (now.sum + old.sum) / 2;
    }
    return HT_OK;
}

/* Planes beyond the slab are shifted as their owners do; those that are not up
 * to date will be overwritten. */
static enum ht_err correct(struct ht_device_stepper *t,
                           enum ht_subgrid subgrid) {
    const double want =
        t->mean.start + t->mean.slope * (double)t->mean.time[subgrid];
    struct ht_mean_sum now;
    TRY(measure(t, subgrid, &now));
    if (!isfinite(now.sum)) return HT_OK; /* the watch will find it */
    return ht_means_shift(t->means, t->form, &t->partition.window[subgrid],
                          want - now.sum,
                          t->u[subgrid][stored_field(&t->problem)]);
}

enum ht_err ht_stepper_keep_mean(struct ht_device_stepper *t,
                                 enum ht_subgrid from, int step) {
    const enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    struct ht_kept_mean *mean = &t->mean;
    if (t->means == NULL) return HT_OK;
    if (!mean->known) {
        TRY(begin(t, from, to, step));
    } else if (++mean->since >= half_steps_between(t->problem.grid)) {
        mean->since = 0;
        TRY(ht_stepper_complete_exchange(t));
        TRY(correct(t, HT_PRIMARY));
        TRY(correct(t, HT_DUAL));
    }
    mean->time[to] = mean->time[from] + step;
    return HT_OK;
}

int64_t ht_stepper_mean_rests(const struct ht_device_stepper *t) {
    if (t->means == NULL) return INT64_MAX;
    if (!t->mean.known) return 0;
    return half_steps_between(t->problem.grid) - 1 - t->mean.since;
}

void ht_stepper_mean_passed(struct ht_device_stepper *t, int64_t steps) {
    if (t->means == NULL) return;
    t->mean.since += (int)(2 * steps);
    t->mean.time[HT_PRIMARY] += 2 * steps;
    t->mean.time[HT_DUAL] = t->mean.time[HT_PRIMARY] - 1;
}
