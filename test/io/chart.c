/* Charts, read back through libpng: points where their values are, bars as
 * high as theirs, complete or absent.
 */
#include "htwave/chart.h"

#include <png.h>

#include "../test.h"
#include "scratch.h"

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

/* The first two colours of the palette. */
static const unsigned char blue[3] = {0, 114, 178}, orange[3] = {213, 94, 0};

/* Centre and extent of the pixels of a colour inside columns [left, right). */
struct patch {
    double x, y;
    int count, top, bottom;
};

static struct patch find(const struct image *image, const unsigned char *colour,
                         int left, int right) {
    struct patch patch = {.top = -1};
    for (int j = 0; j < (int)image->head.height; j++)
        for (int i = left; i < right && i < (int)image->head.width; i++) {
            size_t at = (size_t)j * image->head.width + (size_t)i;
            if (memcmp(image->rgb + 3 * at, colour, 3) != 0) continue;
            if (patch.top < 0) patch.top = j;
            patch.bottom = j;
            patch.x += i;
            patch.y += j;
            patch.count++;
        }
    patch.x /= patch.count > 0 ? patch.count : 1;
    patch.y /= patch.count > 0 ? patch.count : 1;
    return patch;
}

/* Decades on both axes: two points whose distance in pixels is known. */
static void test_points(const char *path) {
    const double x[2] = {1e1, 1e2}, y[2] = {1e1, 1e2};
    struct ht_series series[2];
    for (int n = 0; n < 2; n++)
        series[n] = (struct ht_series){.count = 1,
                                       .x = x + n,
                                       .y = y + n,
                                       .colour = n,
                                       .marker = HT_MARKER_DISC};
    const struct ht_chart chart = {
        .title = "title",
        .x = {.label = "x", .log = true, .low = 1, .high = 1e5},
        .y = {.label = "y", .log = true, .low = 1, .high = 1e5},
        .nseries = 2,
        .series = series};
    TEST_CHECK(ht_chart_write(&chart, path) == HT_OK, "a chart is written");
    struct image image = read_image(path);
    if (!image.rgb) return;
    int width = (int)image.head.width;
    struct patch a = find(&image, blue, 0, width);
    struct patch b = find(&image, orange, 0, width);
    TEST_CHECK(a.count > 50 && b.count > 50, "both marks: %d, %d pixels",
               a.count, b.count);
    TEST_BELOW(fabs(b.x - a.x - 860 / 5.0), 1.0,
               "a decade to the right is a fifth of the width: off by pixels");
    TEST_BELOW(fabs(a.y - b.y - 620 / 5.0), 1.0,
               "a decade up is a fifth of the height: off by pixels");
    free(image.rgb);
}

/* Dark pixels, as those of numbers, among columns and rows. */
static int count_dark(const struct image *image, int left, int right, int top,
                      int bottom) {
    const int dark = 128;
    int count = 0;
    for (int j = top; j < bottom && j < (int)image->head.height; j++)
        for (int i = left; i < right && i < (int)image->head.width; i++)
            count +=
                image->rgb[3 * ((size_t)j * image->head.width + (size_t)i)] <
                dark;
    return count;
}

/* Is there a number under the left and under the right end of the axis? The
 * plot covers columns 100 to 960, and rows up to 732. */
static void test_ends(const char *path, struct ht_axis axis, bool left,
                      bool right) {
    const struct ht_chart chart = {
        .title = "", .x = axis, .y = {.label = "", .low = 0, .high = 1}};
    bool written = ht_chart_write(&chart, path) == HT_OK;
    struct image image = read_image(path);
    if (!written || !image.rgb) {
        TEST_CHECK(false, "a chart with an axis is written and read");
        return;
    }
    int at_left = count_dark(&image, 90, 110, 741, 756);
    int at_right = count_dark(&image, 950, 970, 741, 756);
    TEST_CHECK((at_left > 0) == left && (at_right > 0) == right,
               "%s axis %g to %g: numbers at the left end %s, at the right %s: "
               "%d and %d dark pixels",
               axis.log ? "logarithmic" : "linear", axis.low, axis.high,
               left ? "yes" : "no", right ? "yes" : "no", at_left, at_right);
    free(image.rgb);
}

/* Ticks that rounding puts beside an end are shown: 6 * 0.05 > 0.3, and
 * 1.1/0.1 > 11. Ticks outside are not, however many decades the axis has: half
 * a percent of the length is much more than rounding. */
static void test_ticks(const char *path) {
    test_ends(path, (struct ht_axis){"", false, 0, 0.3}, true, true);
    test_ends(path, (struct ht_axis){"", false, 1.1, 1.7}, true, true);
    test_ends(path, (struct ht_axis){"", true, 1e-3, 1e3}, true, true);
    test_ends(path, (struct ht_axis){"", true, 1.02, 98}, false, false);
    test_ends(path, (struct ht_axis){"", true, 1.2e-8, 8e1}, false, false);
    test_ends(path, (struct ht_axis){"", false, 0.005, 0.995}, false, false);
}

/* Values of 10 and 1000 on a scale from 1: heights as 1 to 3. */
static void test_bars(const char *path) {
    const char *const bar[2] = {"first", "second"}, *const group[1] = {"N = 1"};
    const double value[2] = {10, 1000};
    const struct ht_bars_panel panel = {"panel", 1, group, value};
    const struct ht_bars bars = {.title = "title",
                                 .label = "rate",
                                 .log = true,
                                 .nbars = 2,
                                 .bar = bar,
                                 .npanels = 1,
                                 .panel = &panel};
    TEST_CHECK(ht_bars_write(&bars, path) == HT_OK, "bars are written");
    struct image image = read_image(path);
    if (!image.rgb) return;
    /* in the middle of the picture: the legend is at the left */
    struct patch a = find(&image, blue, 450, 700);
    struct patch b = find(&image, orange, 450, 700);
    double low = a.bottom - a.top + 1, high = b.bottom - b.top + 1;
    TEST_CHECK(a.bottom == b.bottom, "bars stand on one line: %d, %d", a.bottom,
               b.bottom);
    /* a pixel in the lower one's fifty or so */
    TEST_BELOW(fabs(low / high - 1.0 / 3), 0.02,
               "bars of 10 and 1000 over 1, %g and %g pixels: off 1 : 3 by",
               low, high);
    free(image.rgb);
}

static void test_odd(const char *path) {
    const double x[3] = {1, NAN, -1}, y[3] = {1, 2, 3};
    const struct ht_series series = {.name = "odd",
                                     .count = 3,
                                     .x = x,
                                     .y = y,
                                     .marker = HT_MARKER_TRIANGLE,
                                     .hollow = true,
                                     .line = true,
                                     .dashed = true};
    struct ht_chart chart = {.title = "",
                             .x = {.label = "", .log = true},
                             .y = {.label = ""},
                             .nseries = 1,
                             .series = &series};
    TEST_CHECK(ht_chart_write(&chart, path) == HT_OK,
               "NaN and a logarithm of -1 are left out");
    chart.nseries = 0;
    TEST_CHECK(ht_chart_write(&chart, path) == HT_OK, "a chart of nothing");
    TEST_CHECK(ht_chart_write(&chart, "nosuch/chart.png") == HT_ERR_IO,
               "refused: %s", ht_err_message());
}

int main(void) {
    char *directory = scratch_make("chart");
    if (!directory) return 1;
    char *path = scratch_path(directory, "chart.png");
    test_points(path);
    test_ticks(path);
    test_bars(path);
    test_odd(path);
    TEST_CHECK(scratch_entries(directory) == 1, "nothing else is left");
    free(path);
    scratch_remove(directory);
    return test_end("io/chart");
}
