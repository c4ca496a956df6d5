/* Points between nodes: values and slopes of waves against the exact ones, on periodic axes and at
 * walls; nodes; spreading as the adjoint of reading; order of the lists.
 */

#include "point_nodes.h"
#include "test.h"

enum { RIGID = 1, FREE = -1, PERIODIC = 0 };

static struct ht_grid make_grid(int dims, const int64_t cells[3], int low, int high) {
    struct ht_grid grid = {.dims = dims, .point_nodes = ht_point_nodes(8)};
    const double h[3] = {0.5, 0.25, 2};
    for (int k = 0; k < 3; k++) {
        const bool exists = k < dims;
        grid.cells[k] = exists ? cells[k] : 1;
        grid.h[k] = exists ? h[k] : 1;
        grid.lower[k] = -1.25 * k;
        grid.upper[k] = grid.lower[k] + grid.h[k] * (double)grid.cells[k];
        grid.wall[k][0] = exists ? low : PERIODIC;
        grid.wall[k][1] = exists ? high : PERIODIC;
    }
    return grid;
}

/* A wave of `cycles` half periods between the ends: cosine at rigid sides, sine at free ones, a
 * quarter less between unlike walls. */
struct wave {
    double wavenumber;
    bool sine;
};

static struct wave wave_of(const struct ht_grid *grid, int axis, int cycles) {
    const double length = grid->upper[axis] - grid->lower[axis];
    const int *wall = grid->wall[axis];
    const double quarter = wall[0] == wall[1] ? 0 : 0.5;
    return (struct wave){HT_PI * (cycles - quarter) / length, wall[0] < 0};
}

static double value(const struct wave *w, double x, bool slope) {
    const double k = w->wavenumber;
    if (slope) return k * (w->sine ? cos(k * x) : -sin(k * x));
    return w->sine ? sin(k * x) : cos(k * x);
}

/* The largest error at positions over the axis, relative to the amplitude. */
static double axis_error(const struct ht_grid *grid, int cycles, bool slope) {
    const struct wave w = wave_of(grid, 0, cycles);
    const int places = 777;
    double worst = 0;
    for (int i = 0; i <= places; i++) {
        const double x = grid->lower[0] + (grid->upper[0] - grid->lower[0]) * i / (double)places;
        struct ht_point_axis axis;
        double sum = 0;
        ht_point_axis_read(grid, 0, x, slope, &axis);
        for (int j = 0; j < axis.count; j++)
            sum += axis.weight[j] * value(&w, (double)axis.node[j] * grid->h[0], false);
        const double exact = value(&w, x - grid->lower[0], slope);
        worst = fmax(worst, fabs(sum - exact) / (slope ? w.wavenumber : 1));
    }
    return worst;
}

/* Interpolation of a wave exp(i k x) through n nodes h apart errs by at most
 *     (k h)^n/n! times the largest product of distances to them in spacings,
 * midway between nodes ((1/2)(3/2) .. (n - 1)/2)^2; a slope at a node, over k,
 *     (k h)^(n-1)/n! (n/2)! (n/2 - 1)!.
 * A standing wave is half the sum of two. */
static void test_axis(int nodes, int low, int high, const char *name) {
    const int64_t cells[3] = {120, 1, 1};
    struct ht_grid grid = make_grid(1, cells, low, high);
    grid.point_nodes = nodes;
    for (int cycles = 2; cycles <= 60; cycles += cycles < 20 ? 6 : 20) {
        const double angle = HT_PI * cycles / 120, rounding = 2e-14;
        double value = 1, slope = 1 / angle;
        for (int i = 1; i <= nodes / 2; i++) {
            const double part = angle * angle / ((2 * i - 1) * 2 * i);
            value *= part * (i - 0.5) * (i - 0.5);
            slope *= part * i * (i < nodes / 2 ? i : 1);
        }
        TEST_BELOW(axis_error(&grid, cycles, false), value + rounding,
                   "%s, %d nodes: values at %.3g per wavelength", name, nodes, 240.0 / cycles);
        TEST_BELOW(axis_error(&grid, cycles, true), slope + rounding / angle,
                   "%s, %d nodes: slopes at %.3g per wavelength", name, nodes, 240.0 / cycles);
    }
}

static void test_nodes(void) {
    const int64_t cells[3] = {3, 9, 12};
    const struct ht_grid grid = make_grid(3, cells, RIGID, PERIODIC);
    double x[3];
    int64_t wrong = 0;
    for (int64_t m = 0; m < 10; m++) {
        struct ht_point point;
        const int64_t at[3] = {m % 4, m, 12 - m};
        for (int k = 0; k < 3; k++) x[k] = grid.lower[k] + (double)at[k] * grid.h[k] * (1 + 1e-15);
        if (point_nodes(false, &grid, x, -1, &point) != HT_OK) abort();
        wrong += point.count != 1 || point.node->weight != 1;
        for (int k = 0; k < 3 && point.count == 1; k++) wrong += point.node->m[k] != at[k];
        ht_point_free(&point);
    }
    TEST_CHECK(wrong == 0, "a point on a node is that node (%lld wrong)", (long long)wrong);
}

static double half_at_walls(const struct ht_grid *grid, const int64_t m[3]) {
    double part = 1;
    for (int k = 0; k < grid->dims; k++) {
        const bool end = m[k] == 0 || m[k] == ht_grid_nodes(grid, HT_PRIMARY, k) - 1;
        if (end && !ht_grid_periodic(grid, k)) part /= 2;
    }
    return part;
}

static bool before(const int64_t a[3], const int64_t b[3]) {
    for (int k = 2; k >= 0; k--)
        if (a[k] != b[k]) return a[k] < b[k];
    return false;
}

/* Lists of a point near a corner of a box of few cells, where images of nodes fall on each other.
 */
static void test_lists(int dims, int low, int high, int slope) {
    const int64_t cells[3] = {11, 3, 5};
    const struct ht_grid grid = make_grid(dims, cells, low, high);
    double x[3], worst = 0, volume = 1;
    struct ht_point read, spread;
    int unsorted = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = grid.upper[k] - 0.37 * grid.h[k];
        volume *= grid.h[k];
    }
    if (point_nodes(false, &grid, x, slope, &read) != HT_OK ||
        point_nodes(true, &grid, x, slope, &spread) != HT_OK)
        abort();
    for (int i = 0; i < read.count; i++) {
        const struct ht_point_node *r = &read.node[i], *s = &spread.node[i];
        const double part = volume * half_at_walls(&grid, r->m);
        unsorted += i > 0 && !before(r[-1].m, r->m);
        for (int k = 0; k < 3; k++)
            unsorted +=
                r->m[k] != s->m[k] || r->m[k] < 0 || r->m[k] >= ht_grid_nodes(&grid, HT_PRIMARY, k);
        worst = fmax(worst, fabs(s->weight * part - r->weight));
    }
    TEST_CHECK(read.count > 0 && read.count == spread.count && unsorted == 0,
               "%dD, walls %d %d, slope %d: %d nodes in order", dims, low, high, slope, read.count);
    TEST_BELOW(worst, 1e-14, "spreading is the adjoint of reading");
    ht_point_free(&read);
    ht_point_free(&spread);
}

static void test_free_wall(void) {
    const int64_t cells[3] = {20, 20, 20};
    const struct ht_grid grid = make_grid(2, cells, RIGID, FREE);
    const double x[3] = {grid.upper[0], 0.3, 0};
    struct ht_point point;
    if (point_nodes(true, &grid, x, -1, &point) != HT_OK) abort();
    TEST_CHECK(point.count == 0, "nothing is spread from a free wall (%d)", point.count);
    ht_point_free(&point);
}

static void test_outside(void) {
    const int64_t cells[3] = {20, 20, 20};
    const struct ht_grid grid = make_grid(2, cells, RIGID, RIGID);
    const double inside[3] = {10, 0, 99}, beyond[3] = {10, 4.3, 0};
    const double nowhere[3] = {NAN, 0, 0};
    TEST_CHECK(ht_point_outside(&grid, inside) == -1 && ht_point_outside(&grid, beyond) == 1 &&
                   ht_point_outside(&grid, nowhere) == 0,
               "the axis along which a point is outside");
}

int main(void) {
    for (int order = 2; order <= 16; order += 2) {
        const int nodes = ht_point_nodes(order);
        test_axis(nodes, PERIODIC, PERIODIC, "periodic");
        test_axis(nodes, RIGID, RIGID, "rigid walls");
        test_axis(nodes, FREE, FREE, "free walls");
        test_axis(nodes, RIGID, FREE, "rigid and free wall");
    }
    test_nodes();
    for (int dims = 1; dims <= 3; dims++)
        for (int slope = -1; slope < dims; slope++) {
            test_lists(dims, RIGID, RIGID, slope);
            test_lists(dims, RIGID, FREE, slope);
            test_lists(dims, PERIODIC, PERIODIC, slope);
        }
    test_free_wall();
    test_outside();
    return test_end("point");
}
