/* Pictures of a run as files, read back: which slice each shows, what its colours span, the model
 * with its marks. */
#include "htwave/h5.h"
#include "htwave/output.h"
#include "image.h"
#include "planned.h"
#include "scratch.h"

enum { N1 = 9, N2 = 9, N3 = 5, NODES = N1 * N2 * N3, MAP = 200 };
enum { BLUE = 0x01429b, RED = 0x8d131a };

struct run {
    struct planned of;
    struct ht_output *output;
};

/* The unit cube with walls, 8 x 8 x 4 cells. */
static void open_run(struct run *run, const char *directory, const char *keys) {
    must(plan_make(&run->of, '|',
                   "output.directory=\"%s\"|output.picture={pixels=%d;%s}|system=\"acoustic\"|"
                   "grid.cells=[8,8,4]|grid.order=1|time.scheme=\"taylor\"|"
                   "receivers=({position=[0.5,0.5,0.5];})|medium={type="
                   "\"expression\";c=\"1+x1\";}|"
                   "boundary.x1=\"rigid\"|boundary.x2=\"rigid\"|boundary.x3=\"rigid\"",
                   directory, MAP, keys));
    must(ht_output_create(run->of.params, run->of.plan->medium, 0, &run->output));
}

static void close_run(struct run *run) {
    ht_output_destroy(run->output);
    planned_end(&run->of);
}

/* p = factor times a coordinate, 2 x - 1, along an axis; v1 = -p. */
static void draw(struct run *run, int axis, double factor) {
    static double p[NODES], v1[NODES];
    for (int i = 0; i < NODES; i++) {
        const int at[] = {i % N1, i / N1 % N2, i / N1 / N2};
        const int last[] = {N1 - 1, N2 - 1, N3 - 1};
        p[i] = factor * (2.0 * at[axis] / last[axis] - 1);
        v1[i] = -p[i];
    }
    const double *const nodal[] = {p, v1, v1, v1};
    must(ht_output_picture(run->output, 0.5, nodal));
}

/* A pixel of the map, at parts of its width and height. */
static uint32_t map_colour(const char *directory, const char *name, double x, double y) {
    HT_FREED char *path = scratch_path(directory, name);
    HT_ENDED(free_image) struct image image = read_image(path);
    int left, top;
    uint32_t found = find_map(&image, &left, &top)
                         ? at(&image, left + (int)(x * (MAP - 1)), top + (int)(y * (MAP - 1)))
                         : UINT32_MAX;
    return found;
}

/* The largest difference of red, green or blue. */
static int distance(uint32_t a, uint32_t b) {
    int most = a > 0xffffff || b > 0xffffff ? 256 : 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        const int d = abs((int)(a >> shift & 255) - (int)(b >> shift & 255));
        most = d > most ? d : most;
    }
    return most;
}

/* Half a pixel of a ramp is up to 3 of 255 off its end. */
static void judge(const char *directory, const char *name, double x, double y, uint32_t expected) {
    const uint32_t found = map_colour(directory, name, x, y);
    TEST_CHECK(distance(found, expected) <= 3, "%s at (%g, %g): %06x, expected %06x", name, x, y,
               (unsigned)found, (unsigned)expected);
}

/* Ends of the range where the slices are at the ends of the axis; across the others a ramp. */
static void test_places(const char *root) {
    HT_FREED char *directory = scratch_path(root, "places");
    HT_ENDED(close_run) struct run run;
    open_run(
        &run, directory,
        "slices=({name=\"low\";position=0.0;range=1.0;},{name=\"high\";position=1.0;range=1.0;},{"
        "plane=\"x1\";range=1.0;},{name=\"minus\";plane=\"x2\";field=\"v1\";range=1.0;});");
    draw(&run, 2, 1);
    judge(directory, "wave_low_0000.png", 0.5, 0.5, BLUE);
    judge(directory, "wave_high_0000.png", 0.5, 0.5, RED);
    judge(directory, "wave_slice-3_0000.png", 0.5, 0, RED); /* x3 upwards */
    judge(directory, "wave_slice-3_0000.png", 0.5, 1, BLUE);
    judge(directory, "wave_minus_0000.png", 0.5, 0, BLUE);
}

/* The upper end of the ramp, where p is the amplitude. */
static void test_scale(const char *root) {
    static const struct {
        const char *name, *keys;
        double last[3]; /* over the range, for amplitudes 1, 0.5 and 2 */
    } row[] = {{"picture", "scale=\"picture\";", {1, 1, 1}},
               {"run", "scale=\"run\";", {1, 0.5, 1}},
               {"fixed", "range=4.0;scale=\"run\";", {0.25, 0.125, 0.5}}};
    /* entries 16, 14, 12, 10 and half between 8 and 10 of the colour map */
    static const struct {
        double part;
        uint32_t colour;
    } known[] = {{1, RED}, {0.5, 0xf69a7b}, {0.25, 0xffccb8}, {0.125, 0xfee2d7}};
    for (int i = 0; i < 3; i++) {
        HT_FREED char *directory = scratch_path(root, row[i].name);
        const double factor[] = {1, 0.5, 2};
        HT_ENDED(close_run) struct run run;
        open_run(&run, directory, row[i].keys);
        for (int k = 0; k < 3; k++) {
            char name[32];
            uint32_t expected = 0;
            for (int j = 0; j < 4; j++)
                if (known[j].part == row[i].last[k]) expected = known[j].colour;
            draw(&run, 1, factor[k]);
            snprintf(name, sizeof name, "wave_%04d.png", k);
            judge(directory, name, 0.5, 0, expected);
        }
    }
}

/* c from 1 to 2; a source in the slice, a receiver in it and one above. */
static void test_model(const char *root) {
    HT_FREED char *directory = scratch_path(root, "model"),
                  *other = scratch_path(root, "deep/model");
    double x[2][3] = {{0.25, 0.75, 0.5}, {0.75, 0.75, 0.9}};
    struct ht_receiver_group group = {.count = 2, .x = x};
    struct ht_receivers receivers = {.count = 1, .group = &group};
    struct ht_shot shot = {.type = &ht_source_types[0],
                           .points = 2,
                           .first = {0.25, 0.25, 0.5},
                           .last = {0.75, 0.25, 0.5}};
    struct ht_shots shots = {.count = 1, .shot = &shot};
    HT_ENDED(close_run) struct run run;
    struct ht_h5 *file = NULL;
    double c[NODES] = {0}, place[6] = {0};
    open_run(&run, directory, "");
    must(ht_output_model(run.of.params, run.of.plan->medium, &shots, &receivers, other));
    judge(other, "model.png", 0, 0, 0x440154);
    judge(other, "model.png", 1, 0, 0xfde725);
    judge(other, "model.png", 0.25, 0.75, 0xe63c28); /* sources */
    judge(other, "model.png", 0.75, 0.75, 0xe63c28);
    /* the tips of triangles are at 0.25 */
    judge(other, "model.png", 0.25, 0.235, 0xffffff);
    const uint32_t open = map_colour(other, "model.png", 0.75, 0.235),
                   ground = map_colour(other, "model.png", 0.75, 0.5);
    TEST_CHECK(distance(open, ground) < distance(open, 0xffffff),
               "the receiver above the slice is open: %06x on %06x", (unsigned)open,
               (unsigned)ground);
    HT_FREED char *path = scratch_path(other, "model.h5");
    must(ht_h5_open(path, &file));
    must(ht_h5_read(file, "c", NODES, c));
    must(ht_h5_read(file, "receivers", 6, place));
    TEST_CHECK(c[0] == 1 && c[N1 - 1] == 2 && c[NODES - N1] == 1 && c[N1 * N2 + 4] == 1.5 &&
                   place[5] == 0.9,
               "model.h5: c %g to %g", c[0], c[N1 - 1]);
    must(ht_h5_read(file, "sources", 6, place));
    TEST_EQUAL(place[3], 0.75, "its second source is at x1");
    ht_h5_close(file);
}

/* The same source over the wave of a run that asks for marks, and of one that does not, where p is
 * 0. */
static void test_marks(const char *root) {
    struct ht_shot shot = {.type = &ht_source_types[0],
                           .points = 1,
                           .first = {0.25, 0.25, 0.5},
                           .last = {0.25, 0.25, 0.5}};
    struct ht_shots shots = {.count = 1, .shot = &shot};
    for (int on = 0; on < 2; on++) {
        HT_FREED char *directory = scratch_path(root, on ? "marked" : "bare");
        HT_ENDED(close_run) struct run run;
        open_run(&run, directory, on ? "marks=true;" : "marks=false;");
        must(ht_output_mark(run.output, &shots, NULL));
        draw(&run, 2, 1);
        judge(directory, "wave_0000.png", 0.25, 0.75, on ? 0xe63c28 : 0xf6f6f6);
    }
}

/* A plane across the slice, one that is the slice, the box of a plane wave. */
static void test_outlines(const char *root) {
    HT_FREED char *directory = scratch_path(root, "outlines"),
                  *other = scratch_path(root, "outlined");
    const struct ht_source_type *plane = &ht_source_types[2], *wave = &ht_source_types[4];
    struct ht_shot shot[] = {
        {.type = plane, .points = 1, .axis = 0, .first = {0.125}},
        {.type = plane, .points = 1, .axis = 2, .first = {0, 0, 0.5}},
        {.type = wave, .first = {0.25, 0.25, 0.25}, .last = {0.75, 0.75, 0.75}}};
    struct ht_shots shots = {.count = 3, .shot = shot};
    HT_ENDED(close_run) struct run run;
    int red[3] = {0};
    open_run(&run, directory, "");
    must(ht_output_model(run.of.params, run.of.plan->medium, &shots, NULL, other));
    for (int i = 0; i < MAP; i++) {
        const double at = (double)i / (MAP - 1);
        const double place[3][2] = {{0.125, at}, {0.25, at}, {at, 0.75}};
        for (int k = 0; k < 3; k++)
            if (k < 2 || at > 0.2)
                red[k] += distance(map_colour(other, "model.png", place[k][0], place[k][1]),
                                   0xe63c28) < 90;
    }
    TEST_CHECK(red[0] > MAP / 3 && red[0] < MAP, "a dashed line along x1 = 0.125: %d of %d pixels",
               red[0], MAP);
    TEST_CHECK(red[1] > MAP / 6 && red[1] < MAP / 2 + 5, "a side of the box at x1 = 0.25: %d",
               red[1]);
    TEST_CHECK(red[2] > MAP / 6 && red[2] < MAP / 2 + 5, "its lower side: %d", red[2]);
}

/* Of a field that is 0: pixels of a row that are hatched, in parts of its width. */
static int hatched(const char *directory, const char *name, double from, double to) {
    int count = 0;
    for (int i = (int)(from * MAP); i < (int)(to * MAP); i++)
        count += distance(map_colour(directory, name, (double)i / MAP, 0.5), 0xf6f6f6) > 30;
    return count;
}

/* Layers that take a part of the box, of a quarter of x1 each; a slice that lies in one. */
static void test_layers(const char *root) {
    enum { CELLS = 33 * 9 * 9 };
    static const double zero[CELLS];
    const double *const nodal[] = {zero, zero, zero, zero};
    HT_FREED char *directory = scratch_path(root, "layers");
    HT_ENDED(close_run) struct run run;
    must(plan_make(&run.of, '|',
                   "output.directory=\"%s\"|output.picture={pixels=%d;marks=false;"
                   "slices=({name=\"across\";},{name=\"in\";plane=\"x1\";position=0.1;});}|"
                   "grid={cells=[32,8,8];order=4;}|time.scheme=\"fd\"|boundary.x1=\"absorbing\"|"
                   "absorbing={cells=8;place=\"inside\";}",
                   directory, MAP));
    must(ht_output_create(run.of.params, run.of.plan->medium, 0, &run.output));
    must(ht_output_picture(run.output, 0, nodal));
    const int lower = hatched(directory, "wave_across_0000.png", 0, 0.25),
              upper = hatched(directory, "wave_across_0000.png", 0.76, 1),
              inner = hatched(directory, "wave_across_0000.png", 0.26, 0.74),
              all = hatched(directory, "wave_in_0000.png", 0, 1);
    TEST_CHECK(lower > MAP / 40 && upper > MAP / 40 && inner == 0,
               "layers are hatched: %d and %d pixels of a row, %d between them", lower, upper,
               inner);
    TEST_CHECK(all > MAP / 10 && all < MAP / 2, "a slice in a layer: %d pixels of a row", all);
}

int main(void) {
    char *root = scratch_make("slices");
    if (!root) return 1;
    test_places(root);
    test_scale(root);
    test_model(root);
    test_marks(root);
    test_outlines(root);
    test_layers(root);
    scratch_remove(root);
    return test_end("io/cairo_slices");
}
