/* Pictures as files, read back by cairo: the map's place, size and direction, ticks, texts of
 * users, atomic writing, the disk full. What the pixels of a map are is judged by plot.c. */

#include "htwave/output.h"
#include "image.h"
#include "redirect.h"
#include "scratch.h"

enum { NODES = 33, MAP = 200 };

static struct ht_picture make(const double *values) {
    return (struct ht_picture){.width = NODES,
                               .height = NODES,
                               .values = values,
                               .range = 2.0,
                               .x1 = 1.0,
                               .y1 = 1.0,
                               .title = "title",
                               .subtitle = "subtitle",
                               .x = {"x1", "km"},
                               .y = {"x2", "km"},
                               .value = {"p", "Pa"},
                               .pixels = MAP};
}

static struct image draw(const struct ht_picture *picture, const char *path) {
    enum ht_err err = ht_picture_write(picture, path);
    if (err) printf("%s\n", ht_err_message());
    return read_image(err ? "" : path);
}

/* ---- the map ---- */

/* Sides 1 x 10 and 10 x 1 are drawn 1:4 and 4:1; nodes are never lost. */
static void test_shape(const char *path) {
    double values[NODES * NODES] = {0};
    struct ht_picture picture = make(values);
    picture.x1 = 10.0;
    picture.title = picture.subtitle = NULL;
    picture.x = picture.y = picture.value = (struct ht_label){0};
    struct image image = draw(&picture, path);
    TEST_CHECK(image.width > MAP && image.height > MAP / 4 && image.height < MAP,
               "10:1 gives %d x %d", image.width, image.height);
    free_image(&image);

    picture.height = 1;
    picture.width = (int64_t)NODES * NODES;
    image = draw(&picture, path);
    TEST_CHECK(image.width > NODES * NODES, "a curve of %d nodes is %d wide", NODES * NODES,
               image.width);
    free_image(&image);
}

/* ---- around the map ---- */

/* Ticks below the map: columns of the frame's colour under it. */
static int count_ticks(const struct image *image, int x, int y, int at_x[]) {
    int count = 0;
    for (int i = x; i < x + MAP; i++)
        if (at(image, i, y + MAP + 1) == 0x6e6e73 && count < 20) at_x[count++] = i - x;
    return count;
}

/* 0 to 1 has ticks at 0, 0.5 and 1 or closer by 0.2; each within a pixel. 6 * 0.05 > 0.3: the last
 * one is not lost by rounding. Those of half a percent outside are not drawn. */
static void test_ticks(const char *path) {
    static const struct {
        double low, high;
        int count;
        double first, last; /* of the map's width */
    } row[] = {{0, 1, 6, 0, 1},
               {0, 0.3, 4, 0, 1},
               {0.005, 0.995, 4, 0.19697, 0.80303},
               {-3e7, 3e7, 3, 1.0 / 6, 5.0 / 6},
               {0, 1e-6, 6, 0, 1}};
    double values[NODES * NODES] = {0};
    TEST_EACH(r, row) {
        struct ht_picture picture = make(values);
        int x, y, found[20] = {0}, count = 0;
        picture.x0 = picture.y0 = r->low;
        picture.x1 = picture.y1 = r->high;
        HT_ENDED(free_image) struct image image = draw(&picture, path);
        if (find_map(&image, &x, &y)) count = count_ticks(&image, x, y, found);
        double off = count < 1 ? NAN
                               : fmax(fabs(found[0] - r->first * MAP),
                                      fabs(found[count - 1] - r->last * MAP));
        TEST_CHECK(count == r->count, "%g to %g: %d ticks, expected %d", r->low, r->high, count,
                   r->count);
        TEST_BELOW(off, 1.0, "ends among them are off by pixels");
    }
}

/* Dark pixels of a part of the image. */
static int count_ink(const struct image *image, int x0, int x1, int y0, int y1) {
    int count = 0;
    for (int y = y0; image->pixel && y < y1; y++)
        for (int x = x0; x < x1; x++) count += (at(image, x, y) & 0xff) < 128;
    return count;
}

/* A title of any length ends inside, above the map; units reach the axis. */
static void test_texts(const char *path) {
    char longest[60];
    double values[NODES * NODES] = {0};
    struct ht_picture picture = make(values);
    int x, y, ink = 0, margin = 0, below[2] = {0};
    memset(longest, 'W', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    picture.title = longest;
    struct image image = draw(&picture, path);
    if (find_map(&image, &x, &y)) {
        ink = count_ink(&image, x, image.width, 0, y - 1);
        margin = count_ink(&image, image.width - 2, image.width, 0, y - 1);
    }
    TEST_CHECK(ink > 50 && margin == 0, "a title of %d letters: %d dark pixels, %d at the edge",
               (int)sizeof longest - 1, ink, margin);
    free_image(&image);
    for (int unit = 0; unit < 2; unit++) {
        picture.x.unit = unit ? "\u00b5m" : NULL;
        image = draw(&picture, path);
        if (find_map(&image, &x, &y)) {
            int line = (image.height + y + MAP) / 2;
            below[unit] = count_ink(&image, x, x + MAP, line, image.height);
        }
        free_image(&image);
    }
    TEST_CHECK(below[0] > 0 && below[1] > below[0],
               "under the axis: %d dark pixels, %d with a unit", below[0], below[1]);
}

/* The pictures of a run, whose range may change, have one size. */
static void test_size(const char *path) {
    int wrong = 0, first = 0;
    for (int i = 0; i < 8; i++) {
        double values[NODES * NODES] = {pow(10, i - 4) * 3};
        struct ht_picture picture = make(values);
        picture.range = 0;
        HT_ENDED(free_image) struct image image = draw(&picture, path);
        if (i == 0) first = image.width;
        wrong += image.width != first || first == 0;
    }
    TEST_CHECK(wrong == 0, "ranges 3e-4 to 3e3: %d pixels wide, wrong %d", first, wrong);
}

static void test_failures(const char *directory) {
    double values[NODES * NODES] = {0};
    struct ht_picture picture = make(values);
    HT_FREED char *path = scratch_path(directory, "absent/x.png");
    TEST_CHECK(ht_picture_write(&picture, path) == HT_ERR_IO, "no directory: %s", ht_err_message());
    free(path);

    path = scratch_path(directory, "full.png");
    int before = scratch_entries(directory);
    limit_files(500);
    enum ht_err err = ht_picture_write(&picture, path);
    limit_files(RLIM_INFINITY);
    TEST_CHECK(err == HT_ERR_IO && strstr(ht_err_message(), strerror(EFBIG)), "disk full: %s",
               ht_err_message());
    TEST_CHECK(scratch_entries(directory) == before, "nothing is left behind");
}

int main(void) {
    char *directory = scratch_make("cairo");
    if (!directory) return 1;
    char *path = scratch_path(directory, "a.png");
    test_shape(path);
    test_ticks(path);
    test_texts(path);
    test_size(path);
    test_failures(directory);
    free(path);
    scratch_remove(directory);
    return test_end("io/cairo");
}
