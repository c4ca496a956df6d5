/* From nodes to pixels, without a file: colours, orientation, relief, curves, and the slice of a
 * grid that a picture shows. */
#include "src/io/plot.h"

#include "../test.h"
#include "src/io/files.h"

enum { NODES = 33, MAP = 200 };

static struct ht_picture make(const double *values) {
    return (struct ht_picture){.width = NODES,
                               .height = NODES,
                               .values = values,
                               .range = 2.0,
                               .x1 = 1.0,
                               .y1 = 1.0,
                               .pixels = MAP};
}

static uint32_t map[MAP * MAP];

static void draw(const struct ht_picture *picture) {
    static const int64_t size[2] = {MAP, MAP};
    ht_plot_map(picture, picture->range, size, MAP, map);
}

struct rgb {
    int red, green, blue;
};

static struct rgb at(int x, int y) {
    uint32_t v = map[y * MAP + x];
    return (struct rgb){(int)(v >> 16), (int)(v >> 8 & 255), (int)(v & 255)};
}

/* The middle pixel of a uniform map. */
static struct rgb middle(double value) {
    double values[NODES * NODES];
    for (int i = 0; i < NODES * NODES; i++) values[i] = value;
    struct ht_picture picture = make(values);
    draw(&picture);
    return at(MAP / 2, MAP / 2);
}

static void test_colours(void) {
    struct rgb zero = middle(0), plus = middle(2), minus = middle(-2);
    struct rgb beyond = middle(5), half = middle(1), nan = middle(NAN);
    TEST_CHECK(zero.red == zero.green && zero.green == zero.blue && zero.red > 240,
               "zero is neutral: %d %d %d", zero.red, zero.green, zero.blue);
    TEST_CHECK(plus.red > 120 && plus.green < 40 && plus.blue < 40, "+range is red: %d %d %d",
               plus.red, plus.green, plus.blue);
    TEST_CHECK(minus.red < 20 && minus.blue > 120, "-range is blue: %d %d %d", minus.red,
               minus.green, minus.blue);
    TEST_CHECK(memcmp(&beyond, &plus, sizeof plus) == 0, "beyond the range stays red");
    TEST_CHECK(half.red > plus.red && half.green > plus.green && half.green < zero.green,
               "half the range lies between: %d %d %d", half.red, half.green, half.blue);
    TEST_CHECK(nan.red + nan.green + nan.blue == 0, "NaN is black: %d %d %d", nan.red, nan.green,
               nan.blue);
}

static void test_relief(void) {
    double values[NODES * NODES] = {0}, ground[NODES * NODES], extreme[2];
    for (int i = 0; i < NODES * NODES; i++) ground[i] = i / NODES > NODES / 2 ? 4000.0 : 1500.0;
    struct ht_picture picture = make(values);
    picture.background = ground;
    draw(&picture);
    struct rgb fast = at(MAP / 2, 20), slow = at(MAP / 2, MAP - 20);
    TEST_CHECK(fast.red == fast.green && fast.green == fast.blue && slow.red > fast.red + 60,
               "relief: fast %d, slow %d", fast.red, slow.red);
    /* No outlines where a wave is 0: the green part of a ramp through 0 is largest there. */
    for (int i = 0; i < NODES * NODES; i++) values[i] = 4.0 * (i % NODES) / (NODES - 1) - 2;
    draw(&picture);
    int edges = 0;
    for (int x = 1; x < MAP; x++) {
        const struct rgb before = at(x - 1, 20), here = at(x, 20);
        edges += x < MAP / 2 ? here.green < before.green : here.green > before.green;
    }
    TEST_CHECK(edges == 0, "a wave over the medium has %d edges", edges);
    TEST_CHECK(ht_plot_relief(&picture, extreme) && extreme[0] == 1500 && extreme[1] == 4000,
               "it is from %g to %g", extreme[0], extreme[1]);
    for (int i = 0; i < NODES * NODES; i++) ground[i] = 1500;
    TEST_CHECK(!ht_plot_relief(&picture, extreme), "a uniform one is none");
}

/* Where a value is not finite the curve has a gap, as wide as the cubics that take part: two nodes
 * to either side. */
static void test_curve(void) {
    double values[NODES];
    for (int i = 0; i < NODES; i++) values[i] = i == NODES / 2 ? NAN : 1;
    struct ht_picture picture = make(values);
    picture.height = 1;
    int gap = 0, wrong = 0;
    for (int64_t i = 0; i < MAP; i++) {
        double value = ht_plot_curve(&picture, 2, i, MAP);
        gap += isnan(value);
        wrong += !isnan(value) && fabs(value - 0.5) > 1e-12;
    }
    TEST_CHECK(wrong == 0 && gap >= 4 * MAP / NODES - 2 && gap <= 4 * MAP / NODES + 3,
               "a curve with a gap of %d of %d columns, wrong %d", gap, MAP, wrong);
}

/* The plane of nodes nearest to a fraction of the box: of 11 cells, 12 nodes between walls, 11
 * where the axis is periodic. */
static void test_slice(void) {
    static const struct {
        double position;
        int64_t walls, periodic;
    } row[] = {{0, 0, 0},   {0.04, 0, 0},  {0.05, 1, 1},   {0.25, 3, 3},
               {0.7, 8, 8}, {0.9, 10, 10}, {0.96, 11, 10}, {1, 11, 10}};
    TEST_EACH(r, row) {
        int wrong = 0;
        for (int n = 0; n < 6; n++) {
            bool walls = n < 3;
            int axis = n % 3, wall = walls ? 1 : 0;
            struct ht_grid grid = {.dims = 3,
                                   .order = 1,
                                   .cells = {11, 11, 11},
                                   .lower = {-1, -1, -1},
                                   .upper = {1.2, 1.2, 1.2},
                                   .h = {0.2, 0.2, 0.2},
                                   .wall = {{wall, wall}, {wall, wall}, {wall, wall}}};
            struct ht_slice slice = ht_slice_make(&grid, (enum ht_grid_axis)axis, r->position);
            wrong += slice.normal != axis || slice.index != (walls ? r->walls : r->periodic);
        }
        TEST_CHECK(wrong == 0, "slice at %g: node %d, wrong in %d of 6", r->position, (int)r->walls,
                   wrong);
    }
}

int main(void) {
    test_colours();
    test_relief();
    test_curve();
    test_slice();
    return test_end("io/plot");
}
