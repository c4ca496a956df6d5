/* The input files of the case media of htwave bench: DIR/media-NAME.cfg and the
 * samples of the rough medium, so that each run can be repeated by itself.
 */
#include <stdlib.h>
#include <string.h>

#include "htwave/random_blocks.h"
#include "media.h"

/* Samples of the rough medium per unit, and those that continue it on either
 * side, since the lattice begins at 0 and the grid does not. */
enum { PARTS = 4, BEYOND = 2, SAMPLES = HT_MEDIA_SIDE * PARTS };
enum { ALL = SAMPLES + 2 * BEYOND };

/* "key = [x, x];" of as many axes. */
static void add_list(struct ht_text *text, const char *key, int dims,
                     const double value[3]) {
    ht_text_add(text, "    %s = [", key);
    for (int k = 0; k < dims && k < 3; k++)
        ht_text_add(text, "%s%.10g%s", k ? ", " : "", value[k],
                    value[k] == (int)value[k] ? ".0" : "");
    ht_text_add(text, "];\n");
}

static void add_same(struct ht_text *text, const char *key, int dims,
                     double value) {
    const double all[3] = {value, value, value};
    add_list(text, key, dims, all);
}

static void add_rough(struct ht_text *text, int dims) {
    ht_text_add(text, "    type = \"file\";\n    c = \"media-rough.f32\";\n"
                      "    shape = [");
    for (int k = 0; k < dims; k++)
        ht_text_add(text, "%s%d", k ? ", " : "", ALL);
    ht_text_add(text, "];\n");
    add_same(text, "spacing", dims, 1.0 / PARTS);
    add_same(text, "origin", dims, (0.5 - BEYOND) / PARTS);
}

static void add_medium(struct ht_text *text, const char *medium, int dims) {
    ht_text_add(text, "medium = {\n");
    if (strcmp(medium, "uniform") == 0) ht_text_add(text, "    c = 2.0;\n");
    if (strcmp(medium, "smooth") == 0)
        ht_text_add(text,
                    "    type = \"expression\";\n    c = \"1.5 + 0.5*"
                    "sin(pi/4*x1)%s%s\";\n",
                    dims > 1 ? "*sin(pi/4*x2)" : "",
                    dims > 2 ? "*sin(pi/4*x3)" : "");
    if (strcmp(medium, "rough") == 0) add_rough(text, dims);
    ht_text_add(text, "};\n");
}

/* Faces of blocks lie on a lattice that grids of whole parts miss, and the
 * pulse between nodes. */
static void add_input(struct ht_text *text, const char *medium, int dims) {
    const double lower[3] = {0.137, 0.418, 0.271};
    const double centre[3] = {16.31, 15.77, 16.12};
    double upper[3];
    for (int k = 0; k < 3; k++) upper[k] = lower[k] + HT_MEDIA_SIDE;
    ht_text_add(text, "# Written by htwave bench media.\n"
                      "system = \"acoustic\";\ngrid = {\n");
    add_list(text, "lower", dims, lower);
    add_list(text, "upper", dims, upper);
    ht_text_add(text, "};\ntime = { end = %.1f; };\n", HT_MEDIA_END);
    add_medium(text, medium, dims);
    ht_text_add(text, "initial = {\n    type = \"gaussian\";\n"
                      "    width = 1.5;\n");
    add_list(text, "centre", dims, centre);
    ht_text_add(text, "};\noutput = { snapshots = false; pictures = false; };\n"
                      "device = { tune = \"never\"; selfcheck = false; };\n");
}

/* Periodic samples, continued by BEYOND of them on either side. */
static void continue_samples(int dims, const float *from, float *to) {
    const int64_t n2 = dims > 1 ? ALL : 1, n3 = dims > 2 ? ALL : 1;
    for (int64_t z = 0; z < n3; z++)
        for (int64_t y = 0; y < n2; y++)
            for (int64_t x = 0; x < ALL; x++) {
                const int64_t at[3] = {
                    (x + SAMPLES - BEYOND) % SAMPLES,
                    dims > 1 ? (y + SAMPLES - BEYOND) % SAMPLES : 0,
                    dims > 2 ? (z + SAMPLES - BEYOND) % SAMPLES : 0};
                to[(z * n2 + y) * ALL + x] =
                    from[(at[2] * SAMPLES + at[1]) * SAMPLES + at[0]];
            }
}

static enum ht_err write_samples(const struct ht_bench *bench, int dims) {
    const struct ht_random_blocks blocks = {
        .samples = {SAMPLES, dims > 1 ? SAMPLES : 1, dims > 2 ? SAMPLES : 1},
        .unit = PARTS,
        .c = 2.5,
        .rho = 1,
        .seed = 11};
    int64_t count = 1, all = 1;
    float *from = NULL, *to = NULL;
    char *path = NULL;
    for (int k = 0; k < dims; k++) {
        count *= SAMPLES;
        all *= ALL;
    }
    TRY(HT_ALLOC(from, count));
    enum ht_err err = HT_ALLOC(to, all);
    if (err == HT_OK) {
        ht_random_blocks_fill(&blocks, from, NULL);
        continue_samples(dims, from, to);
        err = ht_bench_path(bench, "media-rough.f32", &path);
    }
    if (err == HT_OK) err = ht_file_write(path, to, (size_t)all * sizeof *to);
    free(path);
    free(from);
    free(to);
    return err;
}

enum ht_err ht_media_write(const struct ht_bench *bench,
                           struct ht_media_medium *medium) {
    struct ht_text text = {0};
    char name[80];
    if (strcmp(medium->name, "rough") == 0)
        TRY(write_samples(bench, medium->dims));
    snprintf(name, sizeof name, "media-%s.cfg", medium->name);
    add_input(&text, medium->name, medium->dims);
    enum ht_err err = ht_text_status(&text);
    if (err == HT_OK) err = ht_bench_path(bench, name, &medium->path);
    if (err == HT_OK) err = ht_file_write(medium->path, text.data, text.length);
    ht_text_free(&text);
    return err;
}
