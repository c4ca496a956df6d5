/* Pictures, read back through libpng: size, colours, orientation, relief,
 * atomic writing, the disk full.
 */
#include "htwave/output.h"

#include <png.h>
#include <signal.h>
#include <sys/resource.h>

#include "../test.h"
#include "scratch.h"
#include "src/io/slice.h"

enum { NODES = 33 };

struct image {
    png_image head;
    unsigned char *rgb;
};

/* libpng's simple reader; empty on failure. */
static struct image read_image(const char *path) {
    struct image image = {.head = {.version = PNG_IMAGE_VERSION}};
    if (!png_image_begin_read_from_file(&image.head, path)) return image;
    image.head.format = PNG_FORMAT_RGB;
    image.rgb = malloc(PNG_IMAGE_SIZE(image.head));
    if (!image.rgb ||
        !png_image_finish_read(&image.head, NULL, image.rgb, 0, NULL)) {
        free(image.rgb);
        image.rgb = NULL;
    }
    return image;
}

static const unsigned char *at(const struct image *image, int x, int y) {
    return image->rgb + 3 * ((size_t)y * image->head.width + (size_t)x);
}

/* The map is the widest run of rows and columns inside the frame: found from
 * the frame's corner, the first pixel of its colour on the picture's
 * diagonal side. */
static bool find_map(const struct image *image, int *x, int *y) {
    static const unsigned char frame[3] = {110, 110, 115};
    for (*y = 0; *y < (int)image->head.height; ++*y)
        for (*x = 0; *x < (int)image->head.width - 1; ++*x)
            if (memcmp(at(image, *x, *y), frame, 3) == 0 &&
                memcmp(at(image, *x + 1, *y), frame, 3) == 0) {
                ++*x;
                ++*y;
                return true;
            }
    return false;
}

static struct ht_picture make(const double *values) {
    return (struct ht_picture){.width = NODES,
                               .height = NODES,
                               .values = values,
                               .range = 2.0,
                               .x1 = 1.0,
                               .y1 = 1.0,
                               .title = "title",
                               .x_label = "x1",
                               .y_label = "x2",
                               .unit = "p",
                               .pixels = 200};
}

/* The middle pixel of a uniform map, and the size of the image. */
static void middle(const char *path, double value, unsigned char rgb[3],
                   int size[2]) {
    double values[NODES * NODES];
    for (int i = 0; i < NODES * NODES; i++) values[i] = value;
    struct ht_picture picture = make(values);
    struct image image = {0};
    int x, y;
    memset(rgb, 0, 3);
    size[0] = size[1] = 0;
    if (ht_picture_write(&picture, path) == HT_OK) image = read_image(path);
    if (image.rgb && find_map(&image, &x, &y)) {
        memcpy(rgb, at(&image, x + 100, y + 100), 3);
        size[0] = (int)image.head.width;
        size[1] = (int)image.head.height;
    }
    free(image.rgb);
}

static void test_colours(const char *path) {
    unsigned char zero[3], plus[3], minus[3], beyond[3], half[3];
    int size[2];
    middle(path, 0.0, zero, size);
    TEST_CHECK(size[0] > 200 && size[0] < 300 && size[1] > 200 && size[1] < 260,
               "200 pixels of map give %d x %d with margins", size[0], size[1]);
    TEST_CHECK(zero[0] == zero[1] && zero[1] == zero[2] && zero[0] > 240,
               "zero is neutral: %d %d %d", zero[0], zero[1], zero[2]);
    middle(path, 2.0, plus, size);
    TEST_CHECK(plus[0] > 120 && plus[1] < 40 && plus[2] < 40,
               "+range is red: %d %d %d", plus[0], plus[1], plus[2]);
    middle(path, -2.0, minus, size);
    TEST_CHECK(minus[0] < 20 && minus[2] > 120, "-range is blue: %d %d %d",
               minus[0], minus[1], minus[2]);
    middle(path, 5.0, beyond, size);
    TEST_CHECK(memcmp(beyond, plus, 3) == 0, "beyond the range stays red");
    middle(path, 1.0, half, size);
    TEST_CHECK(half[0] > plus[0] && half[1] > plus[1] && half[1] < zero[1],
               "half the range lies between: %d %d %d", half[0], half[1],
               half[2]);
    middle(path, NAN, zero, size);
    TEST_CHECK(zero[0] + zero[1] + zero[2] == 0 && size[0] > 0,
               "NaN is black: %d %d %d", zero[0], zero[1], zero[2]);
}

/* A ramp in x1 and one in x2: red at the upper end, at the right place. */
static void test_orientation(const char *path) {
    for (int kind = 0; kind < 3; kind++) {
        double values[NODES * NODES];
        for (int i = 0; i < NODES * NODES; i++)
            values[i] = (kind ? i / NODES : i % NODES) / 8.0 - 2.0;
        struct ht_picture picture = make(values);
        picture.y_down = kind == 2;
        struct image image = {0};
        int x, y;
        if (ht_picture_write(&picture, path) == HT_OK) image = read_image(path);
        bool found = image.rgb && find_map(&image, &x, &y);
        int low[2] = {2, kind == 1 ? 197 : 2};
        int high[2] = {kind ? 2 : 197, kind == 1 ? 2 : kind == 2 ? 197 : 2};
        int blue = found ? at(&image, x + low[0], y + low[1])[2] : 0;
        int red = found ? at(&image, x + high[0], y + high[1])[0] : 0;
        int not_red = found ? at(&image, x + low[0], y + low[1])[0] : 255;
        TEST_CHECK(blue > 120 && not_red < 30 && red > 120,
                   "ramp %s: blue %d, red %d",
                   kind == 0   ? "to the right"
                   : kind == 1 ? "upwards"
                               : "downwards",
                   blue, red);
        free(image.rgb);
    }
}

static void test_relief(const char *path) {
    double values[NODES * NODES] = {0}, ground[NODES * NODES];
    for (int i = 0; i < NODES * NODES; i++)
        ground[i] = i / NODES > NODES / 2 ? 4000.0 : 1500.0;
    struct ht_picture picture = make(values);
    picture.background = ground;
    struct image image = {0};
    int x, y, low = 0, high = 255;
    bool grey = false;
    if (ht_picture_write(&picture, path) == HT_OK) image = read_image(path);
    if (image.rgb && find_map(&image, &x, &y)) {
        const unsigned char *upper = at(&image, x + 100, y + 20);
        high = upper[0];
        low = at(&image, x + 100, y + 180)[0];
        grey = upper[0] == upper[1] && upper[1] == upper[2];
    }
    TEST_CHECK(grey && low > high + 60, "relief: fast %d, slow %d", high, low);
    free(image.rgb);
}

/* Sides 1 x 10 and 10 x 1 are drawn 1:4 and 4:1; nodes are never lost. */
static void test_shape(const char *path) {
    double values[NODES * NODES] = {0};
    struct ht_picture picture = make(values);
    picture.x1 = 10.0;
    picture.title = picture.unit = picture.x_label = picture.y_label = NULL;
    bool ok = ht_picture_write(&picture, path) == HT_OK;
    struct image image = ok ? read_image(path) : (struct image){0};
    TEST_CHECK(image.rgb && image.head.width > 200 && image.head.height > 50 &&
                   image.head.height < 120,
               "10:1 gives %d x %d", (int)image.head.width,
               (int)image.head.height);
    free(image.rgb);

    picture.height = 1;
    picture.width = (int64_t)NODES * NODES;
    ok = ht_picture_write(&picture, path) == HT_OK;
    image = ok ? read_image(path) : (struct image){0};
    TEST_CHECK(image.rgb && image.head.width > NODES * NODES,
               "a curve of %d nodes is %d wide", NODES * NODES,
               (int)image.head.width);
    free(image.rgb);
}

/* The plane of nodes nearest to a fraction of the box: of 11 cells, 12 nodes
 * between walls, 11 where the axis is periodic. */
static void test_slice(void) {
    static const struct {
        double position;
        int64_t walls, periodic;
    } row[] = {{0, 0, 0},   {0.04, 0, 0},  {0.05, 1, 1},   {0.25, 3, 3},
               {0.7, 8, 8}, {0.9, 10, 10}, {0.96, 11, 10}, {1, 11, 10}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        int wrong = 0;
        for (int n = 0; n < 6; n++) {
            bool walls = n < 3;
            int axis = n % 3, wall = walls ? 1 : 0;
            struct ht_grid grid = {
                .dims = 3,
                .order = 1,
                .cells = {11, 11, 11},
                .lower = {-1, -1, -1},
                .upper = {1.2, 1.2, 1.2},
                .h = {0.2, 0.2, 0.2},
                .wall = {{wall, wall}, {wall, wall}, {wall, wall}}};
            struct ht_slice slice =
                ht_slice_make(&grid, (enum ht_grid_axis)axis, row[i].position);
            wrong += slice.normal != axis ||
                     slice.index != (walls ? row[i].walls : row[i].periodic);
        }
        TEST_CHECK(wrong == 0, "slice at %g: node %d, wrong in %d of 6",
                   row[i].position, (int)row[i].walls, wrong);
    }
}

static void test_failures(const char *directory) {
    double values[NODES * NODES] = {0};
    struct ht_picture picture = make(values);
    char *path = scratch_path(directory, "absent/x.png");
    TEST_CHECK(ht_picture_write(&picture, path) == HT_ERR_IO,
               "no directory: %s", ht_err_message());
    free(path);

    path = scratch_path(directory, "full.png");
    struct rlimit old, limit;
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 500;
    signal(SIGXFSZ, SIG_IGN);
    int before = scratch_entries(directory);
    setrlimit(RLIMIT_FSIZE, &limit);
    enum ht_err err = ht_picture_write(&picture, path);
    setrlimit(RLIMIT_FSIZE, &old);
    TEST_CHECK(err == HT_ERR_IO, "disk full: %s", ht_err_message());
    TEST_CHECK(scratch_entries(directory) == before, "nothing is left behind");
    free(path);
}

int main(void) {
    char *directory = scratch_make("picture");
    if (!directory) return 1;
    char *path = scratch_path(directory, "a.png");
    test_colours(path);
    test_orientation(path);
    test_relief(path);
    test_shape(path);
    test_slice();
    test_failures(directory);
    free(path);
    scratch_remove(directory);
    return test_end("io/picture");
}
