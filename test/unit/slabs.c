/* How planes are shared out: every plane has one rank, every rank has a plane, and shares are
 * equal.
 */
#include "test.h"

#include "htwave/stepper.h"

enum { MOST_RANKS = 64 };

/* ---- cuts ---- */

static void test_cuts(void) {
    int64_t start[MOST_RANKS + 1];
    int wrong = 0, cuts = 0;
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++)
        for (int64_t cells = ranks; cells < 200; cells++, cuts++) {
            int64_t least = cells, most = 0;
            ht_slab_cut(cells, ranks, start);
            for (int r = 0; r < ranks; r++) {
                least = ht_least(least, start[r + 1] - start[r]);
                most = ht_most(most, start[r + 1] - start[r]);
            }
            wrong += start[0] != 0 || start[ranks] != cells || least < 1 ||
                     most - least > (cells % ranks == 0 ? 0 : 1);
        }
    TEST_CHECK(wrong == 0,
               "%d of %d cuts leave planes out or differ by more than one "
               "plane",
               wrong, cuts);
}

/* ---- a rank alone ---- */

static void test_alone(void) {
    for (int periodic = 0; periodic < 2; periodic++) {
        int wall = periodic ? 0 : 1;
        struct ht_grid grid = {.dims = 3,
                               .order = 1,
                               .cells = {3, 4, 5},
                               .h = {1, 1, 1},
                               .wall = {{wall, wall}, {wall, wall}, {wall, wall}},
                               .slab = {.first = 2, .last = 3}};
        int64_t first, last;
        ht_grid_own(&grid, HT_PRIMARY, &first, &last);
        TEST_CHECK(!ht_grid_cut(&grid) && first == 0 && last == 6 - periodic,
                   "alone, periodic %d: planes %lld to %lld of %d are its own", periodic,
                   (long long)first, (long long)last, 6 - periodic);
        TEST_CHECK(ht_grid_own_total(&grid, HT_DUAL) == 60, "alone: %lld of 60 dual nodes",
                   (long long)ht_grid_own_total(&grid, HT_DUAL));
        TEST_CHECK(ht_grid_neighbour(&grid, 0) == -1 && ht_grid_neighbour(&grid, 1) == -1,
                   "alone: no neighbours");
        struct ht_grid whole = ht_grid_whole(&grid);
        TEST_CHECK(whole.slab.comm == NULL && whole.slab.last == 0 && whole.cells[2] == 5,
                   "the whole grid has no slab");
        for (int side = 0; side < 2; side++)
            TEST_CHECK(ht_measure_half(&grid, HT_PRIMARY, 2, side) == !periodic &&
                           !ht_measure_half(&grid, HT_DUAL, 2, side),
                       "periodic %d: nodes of side %d weigh half at walls", periodic, side);
    }
}

int main(void) {
    test_cuts();
    test_alone();
    return test_end("slabs");
}
