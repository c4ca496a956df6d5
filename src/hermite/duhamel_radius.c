/* The Gaussians of sources of Hermite methods: their radius and order, and by
 * how much a trace errs at most.
 *
 * A trace takes the signal filtered by the Gaussian's spectrum: the root of the
 * mean of (1 - spectrum)^2 over the trace's energy is what it lacks. A wider
 * Gaussian lacks more, and has less beyond the waves that the grid carries,
 * which turns into others.
 */
#include <math.h>

#include "duhamel_private.h"
#include "htwave/plan.h"

static const double pi = 3.14159265358979323846;

double ht_source_cell(const struct ht_plan *plan) {
    double h = 0;
    for (int k = 0; k < plan->grid.dims; k++) h = fmax(h, plan->grid.h[k]);
    return h;
}

/* ---- what it lacks ---- */

struct ht_source_waves ht_source_waves(const struct ht_plan *plan,
                                       const struct ht_duhamel *d, int shot) {
    const struct ht_shot *of = &plan->shots->shot[shot];
    struct ht_source_waves waves = {.highest = 0};
    double slowest = INFINITY;
    for (int64_t i = 0; i < d->points; i++)
        if (d->point[i].shot == shot)
            slowest =
                fmin(slowest, plan->eq.system->speed(d->point[i].material, 0));
    const double cell = 2 * pi * ht_source_cell(plan) / slowest;
    waves.highest = cell * ht_signal_traits(of->signal).highest;
    ht_shot_bands(&plan->eq, of, waves.energy);
    for (int b = 0; b < HT_SIGNAL_BANDS; b++)
        waves.k[b] = cell * ht_shot_band(of, b);
    return waves;
}

/* At most: with images behind walls traces have more of high frequencies. */
static double lacking(const struct ht_source_waves *waves, double radius,
                      int order) {
    const double most = 1.5;
    double sum = 0;
    for (int b = 0; b < HT_SIGNAL_BANDS; b++)
        sum += waves->energy[b] *
               pow(ht_flat_missing(order, waves->k[b] * radius), 2);
    return most * sqrt(sum);
}

static const int orders[] = {4, 8, 16, 24};
enum { ORDERS = sizeof orders / sizeof *orders };

/* The least order that keeps a tenth of the tolerance, else the highest: orders
 * cost nothing but at the edge of what the grid carries. */
static void choose_order(const struct ht_source_waves *waves, double tolerance,
                         struct ht_source_form *form) {
    for (int i = 0; i < ORDERS; i++) {
        form->order = orders[i];
        form->error = lacking(waves, form->radius, form->order);
        if (form->error <= 0.1 * tolerance) return;
    }
}

/* ---- what it leaves ---- */

/* Relative errors of traces at most, by the order and the radius: twice the
 * largest that were measured of Ricker signals of 2 to 10 cells per wavelength
 * of their peak, in one to three dimensions, from N = 5 on five times those in
 * one and two, less what the Gaussian lacks and what the scheme adds
 * (docs/sources.md). Forces stir
 * vortices, too, which stay; leapfrog damps nothing of it. */
enum { RADII = 6, ROWS = 7 };
static const double radii[RADII] = {0.5, 0.75, 1, 1.25, 1.5, 1.75};
enum family { MONOPOLE, FORCE, PAIR, FAMILIES };
static const double left[2][FAMILIES][ROWS][RADII] = {
    {/* Taylor */ {{3e0, 2e0, 5e-1, 4e-1, 3e-1, 2e-1},
                   {3e0, 7e-1, 3e-1, 7e-2, 9e-4, 1e-5},
                   {4e0, 2e-1, 4e-2, 4e-3, 4e-4, 1e-5},
                   {2e0, 4e-2, 1e-2, 4e-4, 7e-7, 7e-8},
                   {1e0, 3e-2, 1e-3, 5e-5, 7e-8, 1e-9},
                   {6e-1, 4e-3, 3e-5, 2e-6, 3e-9, 1e-9},
                   {3e-1, 3e-4, 2e-5, 5e-7, 2e-9, 1e-9}},
     {{4e0, 4e0, 2e0, 3e-1, 2e-1, 2e-1},
      {1e1, 9e-1, 5e-1, 7e-2, 2e-4, 1e-5},
      {1e1, 8e-1, 4e-1, 3e-2, 3e-3, 1e-5},
      {1e1, 2e-1, 5e-2, 3e-3, 7e-6, 4e-8},
      {1e1, 4e-2, 9e-3, 3e-4, 5e-7, 1e-9},
      {3e0, 6e-3, 4e-4, 1e-5, 4e-9, 1e-9},
      {8e-1, 6e-4, 2e-5, 6e-7, 2e-9, 1e-9}},
     {{2e0, 2e0, 3e-1, 2e-1, 7e-2, 1e-5},
      {4e0, 3e-1, 9e-2, 1e-5, 1e-5, 1e-5},
      {4e0, 8e-2, 2e-2, 3e-4, 1e-5, 1e-5},
      {2e0, 4e-2, 2e-3, 3e-5, 1e-9, 1e-9},
      {8e-1, 2e-2, 8e-4, 7e-6, 7e-9, 6e-9},
      {3e-1, 3e-3, 3e-5, 4e-7, 3e-9, 2e-9},
      {8e-2, 3e-4, 2e-6, 2e-8, 3e-9, 2e-9}}},
    {/* leapfrog */ {{8e0, 8e0, 3e0, 2e0, 2e0, 2e0},
                     {1e1, 3e0, 3e-1, 2e-1, 3e-2, 1e-5},
                     {1e1, 7e-1, 4e-1, 2e-1, 5e-2, 2e-3},
                     {1e1, 2e-1, 3e-2, 5e-3, 4e-4, 2e-5},
                     {7e0, 6e-2, 7e-4, 7e-4, 2e-4, 5e-6},
                     {2e0, 6e-3, 4e-4, 6e-5, 2e-6, 5e-8},
                     {6e-1, 7e-4, 1e-5, 2e-7, 2e-8, 1e-9}},
     {{1e1, 1e1, 1e1, 2e0, 2e0, 2e0},
      {1e1, 5e0, 3e0, 3e-1, 4e-2, 1e-5},
      {1e1, 3e0, 8e-1, 3e-1, 5e-2, 3e-4},
      {1e1, 2e-1, 8e-2, 5e-3, 5e-4, 2e-5},
      {1e1, 2e-1, 2e-2, 2e-3, 2e-4, 4e-6},
      {1e1, 1e-2, 1e-3, 6e-5, 2e-6, 5e-8},
      {4e0, 2e-3, 7e-6, 2e-6, 2e-8, 1e-9}},
     {{7e-1, 7e-1, 4e-1, 1e-5, 1e-5, 1e-5},
      {3e0, 8e-1, 5e-1, 3e-1, 2e-1, 7e-2},
      {3e0, 2e-1, 7e-2, 6e-3, 7e-4, 1e-5},
      {2e0, 6e-2, 5e-3, 3e-4, 3e-5, 3e-8},
      {8e-1, 3e-2, 2e-3, 4e-5, 5e-8, 2e-9},
      {3e-1, 2e-3, 7e-5, 2e-6, 3e-9, 2e-9},
      {6e-2, 4e-4, 4e-6, 4e-8, 3e-9, 2e-9}}}};

static bool damps(const struct ht_plan *plan) {
    return ht_problem_scheme(&plan->problem)->dissipates;
}

double ht_source_least_radius(const struct ht_plan *plan) {
    return damps(plan) ? 0.25 : plan->order <= 3 ? 1.25 : 0.5;
}

/* One field, its time derivative or none: a pair. */
static const double *rows_of(const struct ht_plan *plan,
                             const struct ht_shot *shot) {
    const bool vortices = shot->kind == HT_SHOT_FORCE && plan->grid.dims > 1 &&
                          shot->type != HT_SHOT_PLANE;
    const bool pair = plan->eq.system->second_order.flux < 0;
    const int row = plan->order < ROWS ? plan->order - 1 : ROWS - 1;
    return left[!damps(plan)][pair ? PAIR : vortices ? FORCE : MONOPOLE][row];
}

static double left_of(const double *row, double radius) {
    int i = 0;
    while (i + 1 < RADII && radii[i + 1] <= radius + 1e-9) i++;
    return row[i];
}

/* ---- both ---- */

/* Of the radii in the order of their use, the first one that keeps the
 * tolerance, else the best. */
void ht_source_choose(const struct ht_plan *plan, const struct ht_shot *shot,
                      const struct ht_source_waves *waves,
                      struct ht_source_form *form) {
    static const double tried[RADII] = {1.25, 1.5, 1, 1.75, 0.75, 0.5};
    const double *row = rows_of(plan, shot);
    struct ht_source_form best = *form;
    best.error = INFINITY;
    for (int i = 0; i < RADII && best.error > shot->tolerance; i++) {
        form->radius = shot->radius > 0 ? shot->radius : tried[i];
        if (form->radius < ht_source_least_radius(plan)) continue;
        choose_order(waves, shot->tolerance, form);
        form->error += left_of(row, form->radius);
        if (form->error < best.error) best = *form;
    }
    *form = best;
}
