/* Index arithmetic of the two grids, judged by geometry: a source beyond a wall is the node at the
 * mirrored place, one beyond a periodic seam the node a whole box away, and every target lies
 * midway between its two sources. Places are multiples of 1/8 here, so that they compare exactly.
 */
#include "test.h"

#include "htwave/grid.h"

enum { RIGID = 1, FREE = -1, PERIODIC = 0 };

/* n cells of size 2 from -1 along axis 0, then 3 of size 1/2 and 2 of 1/4. */
static struct ht_grid make_grid(int dims, int64_t n, int low, int high) {
    struct ht_grid grid = {.dims = dims, .order = 2};
    const int64_t cells[3] = {n, 3, 2};
    const double h[3] = {2, 0.5, 0.25};
    for (int k = 0; k < 3; k++) {
        grid.cells[k] = k < dims ? cells[k] : 1;
        grid.h[k] = k < dims ? h[k] : 1;
        grid.lower[k] = k - 1;
        grid.upper[k] = grid.lower[k] + grid.h[k] * (double)grid.cells[k];
        grid.wall[k][0] = k < dims ? low : PERIODIC;
        grid.wall[k][1] = k < dims ? high : PERIODIC;
    }
    return grid;
}

static void expect(const char *what, int dims, int64_t got, int64_t wanted) {
    TEST_CHECK(got == wanted, "%dD: %s %lld (expected %lld)", dims, what, (long long)got,
               (long long)wanted);
}

static void test_sizes(void) {
    static const int64_t coefs[3] = {3, 9, 27};
    static const int64_t closed[3] = {6, 24, 72}; /* 6, 6 4, 6 4 3 */
    static const int64_t open[3] = {5, 15, 30};   /* 5, 5 3, 5 3 2 */
    for (int dims = 1; dims <= 3; dims++) {
        struct ht_grid walls = make_grid(dims, 5, RIGID, FREE);
        struct ht_grid round = make_grid(dims, 5, PERIODIC, PERIODIC);
        expect("coefficients", dims, ht_grid_coefs(&walls), coefs[dims - 1]);
        expect("primary nodes between walls", dims, ht_grid_total(&walls, HT_PRIMARY),
               closed[dims - 1]);
        expect("dual nodes between walls", dims, ht_grid_total(&walls, HT_DUAL), open[dims - 1]);
        expect("primary nodes, periodic", dims, ht_grid_total(&round, HT_PRIMARY), open[dims - 1]);
        expect("primary planes", dims, ht_grid_planes(&walls, HT_PRIMARY), dims == 3 ? 3 : 1);
        expect("nodes of a primary plane", dims, ht_grid_plane(&walls, HT_PRIMARY),
               closed[dims < 2 ? 0 : 1]);
        expect("nodes along a missing axis", dims,
               dims < 3 ? ht_grid_nodes(&walls, HT_PRIMARY, dims) : 1, 1);
    }
    struct ht_grid huge = make_grid(3, 2000000, PERIODIC, PERIODIC);
    huge.cells[1] = huge.cells[2] = 2000000;
    expect("nodes of 2e6 cells per axis", 3, ht_grid_total(&huge, HT_DUAL), 8000000000000000000);
}

static void test_places(void) {
    int wrong = 0;
    for (int dims = 1; dims <= 3; dims++) {
        struct ht_grid grid = make_grid(dims, 5, RIGID, RIGID);
        for (int k = 0; k < 3; k++)
            for (int64_t m = 0; m < ht_grid_nodes(&grid, HT_DUAL, k); m++) {
                double x = ht_grid_x(&grid, HT_PRIMARY, k, m);
                double half = k < dims ? grid.h[k] / 2 : 0;
                wrong += x != grid.lower[k] + grid.h[k] * (double)m;
                wrong += ht_grid_x(&grid, HT_DUAL, k, m) != x + half;
            }
        for (int k = 0; k < dims; k++)
            wrong += ht_grid_x(&grid, HT_PRIMARY, k, grid.cells[k]) != grid.upper[k];
    }
    TEST_CHECK(wrong == 0, "%d nodes off their places", wrong);
    struct ht_grid round = make_grid(3, 5, PERIODIC, PERIODIC);
    struct ht_grid walls = make_grid(3, 5, FREE, FREE);
    TEST_CHECK(ht_grid_periodic(&round, 2) && !ht_grid_periodic(&walls, 2),
               "periodic differs from walls");
}

/* The place that source index m of a grid would have in an endless grid, and where the values are
 * found, must be mirror images or a box apart. */
static int source_wrong(const struct ht_grid *grid, enum ht_subgrid subgrid, int k, int64_t m) {
    int factor = 99, expected = 1;
    bool mirrored = false, outside;
    int64_t nodes = ht_grid_nodes(grid, subgrid, k);
    int64_t node = ht_grid_source(grid, subgrid, k, m, &factor, &mirrored);
    if (node < 0 || node >= nodes) return 1;
    double x = ht_grid_x(grid, subgrid, k, m);
    double found = ht_grid_x(grid, subgrid, k, node);
    double lower = grid->lower[k], upper = grid->upper[k];
    outside = x < lower || x > upper;
    if (ht_grid_periodic(grid, k)) {
        double boxes = (x - found) / (upper - lower);
        return boxes != floor(boxes) || mirrored || factor != 1;
    }
    if (outside) {
        expected = grid->wall[k][x < lower ? 0 : 1];
        x = 2 * (x < lower ? lower : upper) - x;
    }
    return x != found || mirrored != outside || factor != expected;
}

static void test_sources(int low, int high) {
    int wrong = 0, looked = 0;
    for (int64_t n = 1; n <= 4; n++)
        for (int dims = 1; dims <= 3; dims++) {
            struct ht_grid grid = make_grid(dims, n, low, high);
            for (int k = 0; k < dims; k++) {
                int64_t far = grid.cells[k];
                for (int64_t m = -far; m < 2 * far; m++, looked++)
                    wrong += source_wrong(&grid, HT_DUAL, k, m);
                if (low != PERIODIC) far = 0;
                for (int64_t m = -far; m <= grid.cells[k] + far; m++, looked++)
                    wrong += source_wrong(&grid, HT_PRIMARY, k, m);
            }
        }
    TEST_CHECK(wrong == 0, "walls %d, %d: %d of %d sources misplaced", low, high, wrong, looked);
}

/* Target m takes the sources m + shift and m + shift + 1 (cl/args.h). */
static void test_targets(int low, int high) {
    int wrong = 0, looked = 0;
    for (int from = 0; from < 2; from++) {
        enum ht_subgrid source = from == 0 ? HT_PRIMARY : HT_DUAL;
        enum ht_subgrid target = from == 0 ? HT_DUAL : HT_PRIMARY;
        int shift = from == 0 ? 0 : -1;
        struct ht_grid grid = make_grid(3, 4, low, high);
        for (int k = 0; k < 3; k++)
            for (int64_t m = 0; m < ht_grid_nodes(&grid, target, k); m++)
                for (int side = 0; side < 2; side++, looked++) {
                    int64_t at = m + shift + side;
                    double distance =
                        ht_grid_x(&grid, source, k, at) - ht_grid_x(&grid, target, k, m);
                    wrong += distance != (side ? 0.5 : -0.5) * grid.h[k];
                    wrong += source_wrong(&grid, source, k, at);
                }
    }
    TEST_CHECK(wrong == 0, "walls %d, %d: %d of %d sources not half a cell off", low, high, wrong,
               looked);
}

int main(void) {
    static const int walls[][2] = {
        {PERIODIC, PERIODIC}, {RIGID, RIGID}, {FREE, RIGID}, {RIGID, FREE}};
    test_sizes();
    test_places();
    for (int w = 0; w < 4; w++) {
        test_sources(walls[w][0], walls[w][1]);
        test_targets(walls[w][0], walls[w][1]);
    }
    return test_end("grid");
}
