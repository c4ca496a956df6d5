/* The expected time of steps with absorbing layers: what a grid has of each kind of region against
 * a count node by node, the grid that is timed, and the time of one grid from that of another.
 */
#include "test.h"

#include "htwave/estimate.h"

struct scene {
    struct ht_grid grid;
    struct ht_layers layers;
};

/* Layers of `thick` cells; periodic where there are none. */
static struct scene make(int dims, const int64_t cells[3], const int64_t thick[3][2]) {
    struct scene s = {.grid = {.dims = dims, .order = 1, .cells = {1, 1, 1}},
                      .layers = {.type = HT_ABSORBING_CPML, .dims = dims}};
    for (int k = 0; k < dims; k++) {
        s.grid.cells[k] = s.layers.cells[k] = cells[k];
        for (int side = 0; side < 2; side++) {
            s.layers.side[k][side].cells = thick[k][side];
            s.grid.layer[k][side] = thick[k][side];
            s.grid.wall[k][side] = thick[k][0] + thick[k][1] > 0;
        }
    }
    return s;
}

static const int64_t odd[3][2] = {{3, 2}, {0, 4}, {2, 2}};
static const int64_t single[3][2] = {{5, 0}, {0, 0}, {0, 0}};
static const int64_t equal[3][2] = {{8, 8}, {8, 8}, {8, 8}};
static const int64_t small[3] = {20, 18, 16}, large[3] = {192, 160, 224};

/* ---- counts ---- */

static void count_nodes(const struct scene *s, enum ht_subgrid subgrid,
                        double out[HT_REGION_KINDS]) {
    const struct ht_grid *grid = &s->grid;
    int64_t n[3];
    for (int k = 0; k < 3; k++) n[k] = ht_grid_nodes(grid, subgrid, k);
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int64_t m[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        unsigned axes = 0;
        for (int k = 0; k < 3; k++)
            if (ht_absorbing_side(&s->layers, k, ht_absorbing_at(subgrid, m[k])) >= 0)
                axes |= 1u << k;
        out[axes]++;
    }
}

static void test_counts(const char *name, const struct scene *s) {
    double expected[HT_REGION_KINDS] = {0};
    struct ht_region_work work;
    int wrong = 0, kinds = 0;
    count_nodes(s, HT_PRIMARY, expected);
    count_nodes(s, HT_DUAL, expected);
    ht_region_work(&s->grid, &s->layers, &work);
    for (int i = 0; i < HT_REGION_KINDS; i++) {
        wrong += work.targets[i] != expected[i];
        kinds += expected[i] > 0;
    }
    TEST_CHECK(wrong == 0, "%s: %d of %d kinds of regions have other targets", name, wrong, kinds);
}

/* By hand: 20 cells between walls, 5 of them in a layer; the primary node on its inner face is the
 * layer's. */
static void test_one_axis(void) {
    const struct scene s = make(1, small, single);
    struct ht_region_work work;
    ht_region_work(&s.grid, &s.layers, &work);
    TEST_CHECK(work.targets[1] == 6 + 5 && work.targets[0] == 15 + 15 && work.boxes == 2 &&
                   work.surface == 2,
               "a line: %g targets in the layer (11), %g beside it (30), %g "
               "boxes (2), %g cells at the ends (2)",
               work.targets[1], work.targets[0], work.boxes, work.surface);
}

static void test_damped(void) {
    const struct scene s = make(3, small, odd);
    const double expected = 5 * 18 * 16 + 4 * 20 * 16 + 4 * 20 * 18;
    TEST_CHECK(ht_region_damped(&s.grid, &s.layers) == expected,
               "cells that are damped, once for each axis: %g (%g)",
               ht_region_damped(&s.grid, &s.layers), expected);
}

/* ---- the grid that is timed ---- */

static void test_grid(const struct scene *s, bool both, double most, const int64_t cells[3],
                      int64_t inside) {
    struct ht_layers kept;
    int64_t c[3] = {0};
    const int64_t found = ht_region_grid(&s->grid, &s->layers, both, most, c, &kept);
    bool same = found == inside;
    for (int k = 0; k < 3 && inside > 0; k++)
        same = same && c[k] == cells[k] && kept.cells[k] == cells[k];
    TEST_CHECK(same,
               "at most %g cells, %s: %lld x %lld x %lld, %lld beside layers "
               "(%lld)",
               most, both ? "all layers" : "one of each axis", (long long)c[0], (long long)c[1],
               (long long)c[2], (long long)found, (long long)inside);
}

static void test_grids(void) {
    const struct scene cube = make(3, large, equal);
    const struct scene thin = make(3, small, odd);
    /* The whole grid between its thicker layers: 15, 14, 12 beside them. */
    const int64_t whole[3] = {15 + 3, 14 + 4, 12 + 2};
    test_grid(&cube, true, 32768, (const int64_t[]){32, 32, 32}, 16);
    test_grid(&cube, false, 32768, (const int64_t[]){24, 24, 24}, 16);
    test_grid(&cube, true, 524288, (const int64_t[]){80, 80, 80}, 64);
    test_grid(&cube, true, 8000, (const int64_t[]){20, 20, 20}, 4);
    test_grid(&cube, true, 7999, NULL, 0);
    test_grid(&thin, false, 32768, whole, 4096);
    test_grid(&thin, true, 32768, small, 4096);
}

/* ---- times ---- */

static const double rate[HT_REGION_KINDS] = {1e6, 4e5, 3e5, 1e5, 3e5, 1e5, 8e4, 2e4};

/* Seconds of a step at these rates, 7 us of each box and 1e-8 s of each cell along the sides;
 * *layers: in layers. */
static double by_rates(const struct ht_region_work *work, struct ht_region_seconds *out,
                       double *layers) {
    double sum = 0;
    for (int i = 0; i < HT_REGION_KINDS; i++) {
        out->kernels[i] = work->targets[i] / rate[i];
        sum += out->kernels[i];
    }
    *layers = sum - out->kernels[0];
    out->ghosts = 1e-8 * work->surface;
    out->rest = 7e-6 * work->boxes;
    return sum + out->ghosts + out->rest;
}

static void test_expect(bool both) {
    const double steps = 5;
    const struct scene run = make(3, large, equal);
    struct scene timed = run;
    struct ht_region_work from, to;
    struct ht_region_seconds seconds;
    struct ht_region_rates rates;
    double layers, found;
    ht_region_grid(&run.grid, &run.layers, both, 32768, timed.grid.cells, &timed.layers);
    ht_region_work(&timed.grid, &timed.layers, &from);
    ht_region_work(&run.grid, &run.layers, &to);
    by_rates(&from, &seconds, &layers);
    for (int i = 0; i < HT_REGION_KINDS; i++) seconds.kernels[i] *= steps;
    seconds.ghosts *= steps;
    seconds.rest *= steps;
    ht_region_rates(&from, &seconds, steps, &rates);
    const double all = by_rates(&to, &seconds, &layers);
    const double expected = ht_region_expect(&rates, &to, &found);
    TEST_BELOW(fabs(expected / all - 1), 1e-12,
               "time of 192 x 160 x 224 cells, %g s, from %g boxes", all, from.boxes);
    TEST_BELOW(fabs(found / layers - 1), 1e-12, "that of the layers, %g s", layers);
}

static void test_fit(void) {
    struct ht_region_seconds s = {.kernels = {3, 2}, .ghosts = 1};
    ht_region_fit(8, &s);
    TEST_CHECK(s.kernels[0] == 3 && s.ghosts == 1 && s.rest == 2,
               "8 s of which kernels take 6: %g s pass between them (2)", s.rest);
    ht_region_fit(3, &s);
    TEST_CHECK(s.kernels[0] == 1.5 && s.kernels[1] == 1 && s.ghosts == 0.5 && s.rest == 0,
               "6 s of kernels in 3 s: %g, %g and %g s (1.5, 1, 0.5)", s.kernels[0], s.kernels[1],
               s.ghosts);
}

int main(void) {
    const struct scene cases[] = {make(3, small, odd), make(3, small, single), make(2, small, odd),
                                  make(1, small, odd)};
    const char *const names[] = {"layers of three axes", "of one of three", "of two axes",
                                 "of one axis"};
    for (int i = 0; i < 4; i++) test_counts(names[i], &cases[i]);
    test_one_axis();
    test_damped();
    test_grids();
    test_expect(false);
    test_expect(true);
    test_fit();
    return test_end("region_time");
}
