/* Every invalid medium is refused by a message with key, value, rule, place. */
#include "medium_scene.h"

static void refuse(const char *system, const int64_t *cells, const char *options,
                   const char *part) {
    HT_ENDED(close_scene) struct scene s = {.grid = make_grid(cells, 2, 0)};
    TEST_ERROR(open_scene(&s, system, "%s", options), HT_ERR_INPUT, part, "refused");
}

static void refuse_file(const char *name, const char *more, const char *part) {
    char options[512];
    snprintf(options, sizeof options, "medium.type=file; medium.c=\"%s\"; medium.shape=[2, 2]; %s",
             path_of(name), more);
    refuse("acoustic", SQUARE, options, part);
}

static void test_refusals(void) {
    const float nan_file[4] = {1, 2, NAN, 1}, negative[4] = {1, 2, 3, -0.5};
    write_raw("nan.f32", 4, nan_file);
    write_raw("negative.f32", 4, negative);
    refuse_file("nan.f32", "", "is nan: must be finite");
    refuse_file("negative.f32", "",
                "gives c = -0.5 at sample [1, 1, 0] along x1, x2, x3: must be positive and finite");
    refuse_file("negative.f32", "medium.shape=[2, 3]",
                "holds 16 bytes, but shape 2 x 3 of float32 needs 24");
    refuse_file("absent.f32", "", "absent.f32");
    refuse_file("negative.f32", "medium.axes=[\"x3\", \"x1\"]",
                "the file varies along x3, but the grid has 2 axes");
    refuse("acoustic", LINE, "medium.c=2; medium.K=3", "medium.c is given too: give one of them");
    refuse("acoustic", LINE, "medium.type=expression; medium.c=\"0.25-x1\"",
           "must be positive and finite");
    refuse("acoustic", BOX, "medium.type=expression; medium.rho=\"1/(x3-0.5)^2\"",
           "gives rho = inf at (0, 0, 0.5): must be positive and finite");
    refuse("acoustic", LINE, "medium.type=expression; medium.c=\"1e200+x1\"", "gives K = inf at");
    refuse("acoustic", LINE, "medium.type=expression; medium.c=\"1+\"", "medium.c = \"1+\"");
    refuse("acoustic", LINE, "medium.c=\"1+x1\"", "but the type is \"constant\"");
    refuse("acoustic", LINE, "medium.c=[1.0, 2.0]", "must be one number");
    refuse("acoustic", LINE, "medium.type=file; medium.c=2",
           "no parameter of the medium names a file");
    refuse("acoustic", LINE,
           "medium.type=layers; medium.axis=x1; medium.interfaces=[0.5];medium.c=[1.0, 2.0, 3.0]",
           "give one number or 2");
    refuse("acoustic", LINE, "medium.type=layers; medium.axis=x1; medium.interfaces=[1.5]",
           "must increase inside the box");
    refuse("acoustic", LINE, "medium.type=layers; medium.axis=x2; medium.interfaces=[0.5]",
           "must be an axis of the grid");
    refuse("acoustic", LINE,
           "medium.type=layers; medium.axis=x1; medium.interfaces=[0.5];medium.degree=2",
           "must be 0 or left out");
    refuse("advection", LINE, "medium.type=expression", "medium.type = \"expression\"");
    refuse("elastic", BOX, "medium.vp=2; medium.vs=1.8", "3 lambda + 2 mu must be positive");
    refuse("elastic", SQUARE, "medium.vp=2; medium.vs=2", "lambda + mu must be positive");
    refuse("elastic", SQUARE, "medium.type=expression; medium.mu=\"x1-0.5\"; medium.lambda=3",
           "gives mu = -0.5 at (0, 0): must be 0 or positive, and finite");
    refuse("maxwell", BOX, "medium.mu=0", "mu = 0: must be positive and finite");
    refuse("advection", LINE, "medium.c=2", "has no such parameter; it has velocity");
    refuse("acoustic", LINE, "medium.velocity=[1.0]", "has no such parameter; it has c|K, rho");
}

/* With their bytes exchanged; values that have few digits become tiny, others any. Zeros say
 * nothing. */
static void test_byte_order(void) {
    static const float sane[4][4] = {
        {1500, 2000, 3000, 4500}, {1.5F, 1.8231F, 0, 2.7182817F}, {1, 1, 1, 1}, {-0.0F}};
    for (int i = 0; i < 4; i++) {
        float exchanged[4];
        HT_ENDED(close_scene) struct scene s = {.grid = make_grid(SQUARE, 2, 0)};
        for (int j = 0; j < 4; j++) {
            unsigned char bytes[4], other[4];
            memcpy(bytes, &sane[i][i < 3 ? j : 0], 4);
            for (int k = 0; k < 4; k++) other[k] = bytes[3 - k];
            memcpy(&exchanged[j], other, 4);
        }
        write_raw("big.f32", 4, exchanged);
        if (i < 3) refuse_file("big.f32", "", "seems to be big-endian");
        if (i < 3) write_raw("big.f32", 4, sane[i]);
        enum ht_err err =
            open_scene(&s, "acoustic",
                       "medium.type=file; medium.c=\"%s\"; medium.shape=[2, 2];medium.degree=0",
                       path_of("big.f32"));
        TEST_CHECK(i == 3   ? strstr(test_said(err), "endian") == NULL
                   : i == 1 ? strstr(ht_err_message(), "gives c = 0") != NULL
                            : err == HT_OK,
                   "%s: no complaint of the order of bytes%s%s",
                   i < 3 ? "little-endian" : "zeros of the other order", err ? ", but " : "",
                   test_said(err));
    }
}

/* The place of the key in a file is part of the message. */
static void test_place(void) {
    HT_ENDED(close_scene) struct scene s = {.grid = make_grid(LINE, 2, 0)};
    const char *text = "medium = {\n  type = \"expression\";\n"
                       "  c = \"0.5 - x1\";\n};\n";
    must(ht_file_write(path_of("x.cfg"), text, strlen(text)));
    enum ht_err err = open_file(&s, "acoustic", path_of("x.cfg"), "%s", "");
    TEST_CHECK(err == HT_ERR_INPUT && strstr(ht_err_message(), "x.cfg:3)") &&
                   strstr(ht_err_message(), "medium.c = \"0.5 - x1\": gives c"),
               "file and line: %s", ht_err_message());
}

/* Where samples of fluid and solid are interpolated mu is next to 0, which single precision has as
 * 0. */
static void test_next_to_fluid(void) {
    const double x[3] = {0.3, 0.4, 0};
    double material[HT_MAX_MATERIALS];
    HT_ENDED(close_scene) struct scene s = {.grid = make_grid(SQUARE, 2, 0)};
    enum ht_err err = open_scene(&s, "elastic",
                                 "medium.type=expression; medium.mu=\"1e-40*(1+x1)\"; "
                                 "medium.lambda=3; device.precision=single");
    if (err == HT_OK) err = ht_medium_point(s.medium, x, material);
    TEST_CHECK(err == HT_OK, "mu of 1e-40 is taken: %s", err ? ht_err_message() : "it is");
}

int main(void) {
    if ((scene_directory = scratch_make("medium")) == NULL) return 1;
    test_next_to_fluid();
    test_refusals();
    test_byte_order();
    test_place();
    scratch_remove(scene_directory);
    return test_end("medium_refusals");
}
