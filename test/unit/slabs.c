/* How planes are shared out: every plane has one rank, every rank has a plane,
 * and shares follow the weights; and how measured speeds become weights.
 */
#include <stdint.h>

#include "test.h"

#include "htwave/rate.h"

enum { MOST_RANKS = 64 };

/* ---- cuts ---- */

struct judged {
    bool covered;  /* in order, without gaps, at least one plane each */
    double off;    /* largest distance from the proportional share */
    bool all_have; /* every proportional share is a plane or more */
    int64_t least, most;
};

static struct judged judge(int64_t cells, int ranks, const double *weights) {
    int64_t start[MOST_RANKS + 1];
    double sum = 0;
    ht_slab_cut(cells, ranks, weights, start);
    struct judged j = {start[0] == 0 && start[ranks] == cells, 0, true, cells,
                       0};
    for (int r = 0; r < ranks; r++) sum += weights[r];
    for (int r = 0; r < ranks; r++) {
        int64_t planes = start[r + 1] - start[r];
        double share = (double)cells * (weights[r] / sum);
        j.covered = j.covered && planes >= 1;
        j.all_have = j.all_have && share >= 1;
        j.off = fmax(j.off, fabs((double)planes - share));
        j.least = planes < j.least ? planes : j.least;
        j.most = planes > j.most ? planes : j.most;
    }
    return j;
}

static void test_equal(void) {
    double weights[MOST_RANKS];
    int wrong = 0, cuts = 0;
    for (int r = 0; r < MOST_RANKS; r++) weights[r] = 0.7;
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++)
        for (int64_t cells = ranks; cells < 200; cells++, cuts++) {
            struct judged j = judge(cells, ranks, weights);
            bool even = cells % ranks == 0;
            wrong += !j.covered || j.most - j.least > (even ? 0 : 1);
        }
    TEST_CHECK(wrong == 0,
               "equal weights: %d of %d cuts leave planes out or "
               "differ by more than one plane",
               wrong, cuts);
}

static void test_random(void) {
    double weights[MOST_RANKS], worst = 0;
    int uncovered = 0, judged = 0;
    for (uint64_t n = 0; n < 2000; n++) {
        int ranks = 1 + (int)(n % MOST_RANKS);
        int64_t cells = ranks + (int64_t)(ht_rng_bits(1, n) % 1000);
        for (int r = 0; r < ranks; r++)
            weights[r] =
                exp(2 * ht_rng_uniform(2, n * MOST_RANKS + (uint64_t)r));
        struct judged j = judge(cells, ranks, weights);
        uncovered += !j.covered;
        if (!j.all_have) continue;
        judged++;
        worst = fmax(worst, j.off);
    }
    TEST_CHECK(uncovered == 0,
               "random weights: %d of 2000 cuts leave planes "
               "or ranks out",
               uncovered);
    TEST_CHECK(judged > 500, "%d of 2000 cuts have shares of a plane or more",
               judged);
    TEST_BELOW(worst, 1 + 1e-9,
               "planes by which a slab differs from its share, at most");
}

static void test_extreme(void) {
    const double first[4] = {1e300, 1e-300, 1e-300, 1e-300};
    const double last[4] = {1e-300, 1, 1, 1e300};
    const double large[4] = {1e308, 1e308, 1e308, 1e308};
    const double small[4] = {5e-324, 5e-324, 5e-324, 5e-324};
    struct judged j = judge(9, 4, first);
    TEST_CHECK(j.covered && j.most == 6 && j.least == 1,
               "one rank far ahead, first: %lld to %lld of 9 planes",
               (long long)j.least, (long long)j.most);
    j = judge(9, 4, last);
    TEST_CHECK(j.covered && j.most == 6 && j.least == 1,
               "one rank far ahead, last: %lld to %lld of 9 planes",
               (long long)j.least, (long long)j.most);
    j = judge(8, 4, large);
    TEST_CHECK(j.covered && j.most == 2,
               "weights whose sum overflows: at most "
               "%lld of 8 planes",
               (long long)j.most);
    j = judge(8, 4, small);
    TEST_CHECK(j.covered && j.most == 2,
               "the smallest weights: at most %lld of 8 planes",
               (long long)j.most);
    j = judge(4, 4, last);
    TEST_CHECK(j.covered && j.most == 1,
               "as many ranks as planes: at most %lld each", (long long)j.most);
}

/* ---- a rank alone ---- */

static void test_alone(void) {
    for (int periodic = 0; periodic < 2; periodic++) {
        int wall = periodic ? 0 : 1;
        struct ht_grid grid = {
            .dims = 3,
            .order = 1,
            .cells = {3, 4, 5},
            .h = {1, 1, 1},
            .wall = {{wall, wall}, {wall, wall}, {wall, wall}},
            .slab = {.first = 2, .last = 3}};
        int64_t first, last;
        ht_grid_own(&grid, HT_PRIMARY, &first, &last);
        TEST_CHECK(!ht_grid_cut(&grid) && first == 0 && last == 6 - periodic,
                   "alone, periodic %d: planes %lld to %lld of %d are its own",
                   periodic, (long long)first, (long long)last, 6 - periodic);
        TEST_CHECK(ht_grid_own_total(&grid, HT_DUAL) == 60,
                   "alone: %lld of 60 dual nodes",
                   (long long)ht_grid_own_total(&grid, HT_DUAL));
        TEST_CHECK(ht_grid_neighbour(&grid, 0) == -1 &&
                       ht_grid_neighbour(&grid, 1) == -1,
                   "alone: no neighbours");
        struct ht_grid whole = ht_grid_whole(&grid);
        TEST_CHECK(whole.slab.comm == NULL && whole.slab.last == 0 &&
                       whole.cells[2] == 5,
                   "the whole grid has no slab");
        for (int side = 0; side < 2; side++)
            TEST_CHECK(ht_measure_half(&grid, HT_PRIMARY, 2, side) ==
                               !periodic &&
                           !ht_measure_half(&grid, HT_DUAL, 2, side),
                       "periodic %d: nodes of side %d weigh half at walls",
                       periodic, side);
    }
}

/* ---- weights from speeds ---- */

static void weigh(int ranks, const double *speed, double *weights) {
    if (ht_speed_weights(ranks, speed, weights) == HT_OK) return;
    printf("not ok - weights: %s\n", ht_err_message());
    exit(1);
}

static void test_alike(void) {
    const double speed[5] = {1.02e9, 0.98e9, 1.00e9, 1.03e9, 0.97e9};
    double weights[5], spread = 0;
    weigh(5, speed, weights);
    for (int r = 1; r < 5; r++)
        spread = fmax(spread, fabs(weights[r] - weights[0]));
    TEST_BELOW(spread, 0, "speeds within 3 %%: weights differ by");
    TEST_BELOW(fabs(weights[0] / 1e9 - 1), 1e-12, "their mean is off by");
}

static void test_two_kinds(void) {
    const double speed[6] = {2.0e9, 0.99e9, 2.06e9, 1.01e9, 1.97e9, 1.0e9};
    double weights[6];
    weigh(6, speed, weights);
    TEST_CHECK(weights[0] == weights[2] && weights[0] == weights[4] &&
                   weights[1] == weights[3] && weights[1] == weights[5],
               "two kinds of devices: %g %g %g and %g %g %g", weights[0],
               weights[2], weights[4], weights[1], weights[3], weights[5]);
    TEST_BELOW(fabs(weights[0] / weights[1] - 2.01), 1e-12,
               "their ratio is that of the means, but for");
}

static void test_unlike(void) {
    const double speed[3] = {1, 1.3, 0.7};
    double weights[3], worst = 0;
    weigh(3, speed, weights);
    for (int r = 0; r < 3; r++)
        worst = fmax(worst, fabs(weights[r] - speed[r]));
    TEST_BELOW(worst, 0, "speeds 30 %% apart: weights differ from them by");
    /* A chain of speeds, each near the next, is not one speed. */
    double chain[20], most = 0;
    for (int r = 0; r < 20; r++) chain[r] = pow(1.04, r);
    double out[20];
    weigh(20, chain, out);
    for (int r = 0; r < 20; r++) most = fmax(most, fabs(out[r] / chain[r] - 1));
    TEST_BELOW(most, 1 / 0.95 - 1, "no weight is further from its speed than");
    const double bad[2] = {1, 0};
    TEST_CHECK(ht_speed_weights(2, bad, out) == HT_ERR_INTERNAL,
               "a speed of 0 is refused: %s", ht_err_message());
}

int main(void) {
    test_equal();
    test_random();
    test_extreme();
    test_alone();
    test_alike();
    test_two_kinds();
    test_unlike();
    return test_end("slabs");
}
