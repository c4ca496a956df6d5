/* The device layer: choosing a device, buffers and spans, programs, launches and their times.
 * Results are judged exactly: the values are small integers and halves. */

#include "device_scene.h"
#include "src/device/backend.h"

/* ---- devices ---- */

static void test_list(const struct ht_device_info *device) {
    HT_FREED struct ht_device_info *infos = NULL;
    int count = 0, wrong = 0;
    bool found = false;
    TEST_CHECK(ht_device_list(&count, &infos) == HT_OK && count > 0, "%d devices are listed",
               count);
    for (int i = 0; i < count; i++) {
        wrong += infos[i].index != i || infos[i].name[0] == '\0' || infos[i].memory <= 0 ||
                 infos[i].max_buffer <= 0 || infos[i].max_buffer > infos[i].memory ||
                 infos[i].local_memory <= 0 || infos[i].max_group <= 0 ||
                 infos[i].compute_units <= 0;
        found = found || (strcmp(infos[i].name, device->name) == 0 &&
                          strcmp(infos[i].backend, device->backend) == 0);
    }
    TEST_CHECK(wrong == 0, "%d listed devices without index, name or sizes", wrong);
    TEST_CHECK(found, "the open device %s is among them", device->name);
}

/* Opening with select gives the device of that index, or fails when it is negative. */
static void expect_open(const char *backend, const char *select, int index) {
    struct ht_device *device = NULL;
    enum ht_err err = ht_device_open(backend, select, 0, &device);
    int got = device != NULL ? ht_device_info(device)->index : -1;
    TEST_CHECK(got == index && (err == HT_OK) == (index >= 0),
               "backend \"%s\", select \"%s\": device %d (expected %d)", backend, select, got,
               index);
    ht_device_close(device);
}

/* The first device of a kind in the list, GPUs by CUDA before others: what "gpu" and "cpu" stand
 * for. */
static int first_of(bool gpu) {
    HT_FREED struct ht_device_info *infos = NULL;
    int count = 0, first = -1;
    if (ht_device_list(&count, &infos) != HT_OK) return -1;
    for (int cuda = 0; cuda < 2; cuda++)
        for (int i = count - 1; i >= 0; i--)
            if (infos[i].gpu == gpu && (!cuda || strcmp(infos[i].backend, "cuda") == 0)) first = i;
    return first;
}

static void test_open(const struct ht_device_info *info) {
    char text[sizeof info->name];
    struct ht_device *same = NULL;
    int gpu = first_of(true), cpu = first_of(false);
    snprintf(text, sizeof text, "%d", info->index);
    expect_open("auto", text, info->index);
    expect_open(info->backend, text, info->index);
    expect_open("auto", "gpu", gpu);
    expect_open("auto", "cpu", cpu);
    expect_open("auto", "auto", gpu >= 0 ? gpu : cpu);
    snprintf(text, sizeof text, "%s", info->name);
    for (char *c = text; *c; c++)
        *c = (char)(isupper((unsigned char)*c) ? tolower((unsigned char)*c)
                                               : toupper((unsigned char)*c));
    TEST_CHECK(ht_device_open(info->backend, text, 0, &same) == HT_OK &&
                   strcmp(ht_device_info(same)->name, info->name) == 0,
               "by the name in other case: \"%s\"", text);
    ht_device_close(same);
    ht_device_close(NULL);
}

/* Devices as machines have them; the choice looks at no more than this. */
static const struct ht_device_info fleet[] = {
    {.index = 0, .name = "H", .backend = "cuda", .gpu = true},
    {.index = 1, .name = "H", .backend = "cuda", .gpu = true},
    {.index = 2, .name = "small", .backend = "cuda", .gpu = true},
    {.index = 3, .name = "H", .backend = "opencl", .gpu = true},
    {.index = 4, .name = "H", .backend = "opencl", .gpu = true},
    {.index = 5, .name = "processor", .backend = "opencl"},
    {.index = 6, .name = "another processor", .backend = "opencl"},
    {.index = 7, .name = "Simulator", .backend = "opencl", .gpu = true, .simulator = true},
};
enum { FLEET = sizeof fleet / sizeof fleet[0] };

static void test_sharers(void) {
    static const struct {
        const char *backend, *select;
        int begin, taken[7]; /* by the sharers 0 to 6 */
    } cases[] = {
        {"auto", "auto", 0, {0, 1, 2, 0, 1, 2, 0}},
        {"auto", "gpu", 0, {0, 1, 2, 0, 1, 2, 0}},
        {"auto", "h", 0, {0, 1, 0, 1, 0, 1, 0}},
        {"opencl", "auto", 0, {3, 4, 3, 4, 3, 4, 3}},
        {"auto", "cpu", 0, {5, 6, 5, 6, 5, 6, 5}},
        {"auto", "processor", 0, {5, 6, 5, 6, 5, 6, 5}},
        {"auto", "another", 0, {6, 6, 6, 6, 6, 6, 6}},
        {"auto", "4", 0, {4, 4, 4, 4, 4, 4, 4}},
        {"auto", "simulator", 0, {7, 7, 7, 7, 7, 7, 7}},
        {"auto", "7", 0, {7, 7, 7, 7, 7, 7, 7}},
        {"auto", "gpu", 5, {-1, -1, -1, -1, -1, -1, -1}},
        {"cuda", "4", 0, {-1, -1, -1, -1, -1, -1, -1}},
        {"cuda", "cpu", 0, {-1, -1, -1, -1, -1, -1, -1}},
        /* without the GPUs that CUDA lists */
        {"auto", "auto", 3, {0, 1, 0, 1, 0, 1, 0}},
        {"auto", "auto", 5, {0, 1, 0, 1, 0, 1, 0}},
        {"auto", "auto", 7, {-1, -1, -1, -1, -1, -1, -1}},
    };
    TEST_EACH(row, cases) {
        int wrong = 0, got = 0;
        for (int sharer = 0; sharer < 7; sharer++) {
            got = ht_device_choose(FLEET - row->begin, fleet + row->begin, row->backend,
                                   row->select, sharer);
            wrong += got != row->taken[sharer];
        }
        TEST_CHECK(wrong == 0,
                   "backend \"%s\", select \"%s\" from device %d on: %d of 7 sharers have another "
                   "device than expected",
                   row->backend, row->select, row->begin, wrong);
    }
}

/* A back end without devices says why, in one line; so does a wish for it. */
static void test_missing(void) {
    static const char *const names[] = {"cuda", "opencl"};
    HT_FREED struct ht_device_info *infos = NULL;
    int count = 0;
    if (ht_device_list(&count, &infos) != HT_OK) count = 0;
    for (int b = 0; b < 2; b++) {
        const char *missing = ht_device_missing(names[b]);
        struct ht_device *device = NULL;
        int own = 0;
        for (int i = 0; i < count; i++) own += strcmp(infos[i].backend, names[b]) == 0;
        TEST_CHECK((own == 0) == (missing != NULL) &&
                       (missing == NULL || strchr(missing, '\n') == NULL),
                   "%d devices by %s: %s", own, names[b], missing ? missing : "nothing is missing");
        if (missing == NULL) continue;
        TEST_CHECK(ht_device_open(names[b], "auto", 0, &device) == HT_ERR_DEVICE &&
                       strstr(ht_err_message(), missing) != NULL,
                   "which opening one says too: %s", ht_err_message());
    }
    TEST_CHECK(ht_device_missing("abacus") == NULL, "of others nothing is known");
}

/* The message that nothing matches names the wish and all that is here. */
static void test_no_match(void) {
    static const char *const wishes[][2] = {
        {"auto", "abacus"}, {"auto", "1000000"}, {"auto", "-1"}, {"abacus", "auto"}};
    HT_FREED struct ht_device_info *infos = NULL;
    int count = 0;
    if (ht_device_list(&count, &infos) != HT_OK) count = 0;
    for (int w = 0; w < 4; w++) {
        struct ht_device *device = NULL;
        int named = 0;
        enum ht_err err = ht_device_open(wishes[w][0], wishes[w][1], 0, &device);
        for (int i = 0; i < count; i++) named += strstr(ht_err_message(), infos[i].name) != NULL;
        TEST_CHECK(err == HT_ERR_DEVICE && device == NULL && named == count &&
                       strstr(ht_err_message(), wishes[w][0]) &&
                       strstr(ht_err_message(), wishes[w][1]),
                   "refused, %d of %d devices named: %s", named, count, ht_err_message());
        TEST_CHECK((strstr(ht_err_message(), "back ends are cuda, opencl") != NULL) ==
                       (strcmp(wishes[w][0], "abacus") == 0),
                   "the back ends are named when it is none of them");
    }
}

/* ---- buffers ---- */

enum { BYTES = 240 };

/* Writes rows through a span into a buffer of 0xee, reads them back through the same span, and
 * compares the whole buffer with what a loop over rows gives. */
static void test_span(struct ht_buffer *buffer, struct ht_span span) {
    unsigned char rows[BYTES], back[BYTES] = {0}, image[BYTES], all[BYTES] = {0};
    const int64_t packed = span.rows * span.width;
    int wrong = 0, kept = 0;
    memset(image, 0xee, sizeof image);
    for (int i = 0; i < BYTES; i++) rows[i] = (unsigned char)(i % 200 + 1);
    must(ht_buffer_write(buffer, whole(BYTES), image));
    for (int64_t r = 0; r < span.rows; r++)
        memcpy(image + span.offset + r * span.pitch, rows + r * span.width, (size_t)span.width);
    must(ht_buffer_write(buffer, span, rows));
    must(ht_buffer_read(buffer, whole(BYTES), all));
    must(ht_buffer_read(buffer, span, back));
    for (int i = 0; i < BYTES; i++) {
        wrong += all[i] != image[i];
        kept += back[i] == (i < packed ? rows[i] : 0);
    }
    TEST_CHECK(wrong == 0 && kept == BYTES,
               "span of %d rows of %d at %d, pitch %d: %d bytes wrong on the device, %d back",
               (int)span.rows, (int)span.width, (int)span.offset, (int)span.pitch, wrong,
               BYTES - kept);
}

static void test_spans(struct ht_buffer *buffer) {
    static const struct ht_span spans[] = {
        {0, BYTES, BYTES, 1}, {7, 13, 0, 1},  /* one row: the pitch does not matter */
        {0, 16, 40, 6},       {8, 16, 40, 6}, /* offset inside the first row */
        {88, 8, 40, 4},                       /* two rows and a part further */
        {36, 12, 40, 5},                      /* rows that cross a multiple of the pitch */
        {39, 40, 40, 5},                      /* rows without a gap */
        {5, 3, 7, 33},                        /* nothing aligned */
        {BYTES - 1, 1, 1, 1}, {40, 0, 40, 3}, /* nothing to move */
    };
    TEST_EACH(r, spans) test_span(buffer, *r);
}

static void test_bad_spans(struct ht_buffer *buffer) {
    static const struct ht_span spans[] = {
        {0, BYTES + 1, BYTES + 1, 1},
        {1, BYTES, BYTES, 1},
        {-1, 4, 4, 1},
        {0, 40, 40, 7},
        {1, 40, 40, 6},
        {0, -4, 4, 1},
        {0, 4, 4, 0},
        {BYTES + 4, 0, 0, 1},
        {0, 4, -4, 2},
        {0, 40, 20, 2}, /* backwards; rows overlap */
        {0, 8, (int64_t)1 << 62, 5},
        {(int64_t)1 << 62, (int64_t)1 << 62, 0, 1}, /* overflow */
    };
    unsigned char data[4 * BYTES] = {0};
    TEST_EACH(s, spans) {
        enum ht_err in = ht_buffer_write(buffer, *s, data);
        enum ht_err out = ht_buffer_read(buffer, *s, data);
        TEST_CHECK(in == HT_ERR_INTERNAL && out == HT_ERR_INTERNAL,
                   "span of %lld rows of %lld at %lld, pitch %lld is refused: codes %d, %d",
                   (long long)s->rows, (long long)s->width, (long long)s->offset,
                   (long long)s->pitch, in, out);
    }
}

static void test_too_large(struct ht_device *device) {
    const struct ht_device_info *info = ht_device_info(device);
    struct ht_buffer *buffer = NULL;
    char size[32], limit[32];
    int64_t bytes = 3 * info->max_buffer;
    enum ht_err err = ht_buffer_create(device, bytes, &buffer);
    TEST_CHECK(err == HT_ERR_DEVICE && buffer == NULL &&
                   strstr(ht_err_message(), ht_text_bytes((double)bytes, size)) &&
                   strstr(ht_err_message(), ht_text_bytes((double)info->max_buffer, limit)),
               "too large a buffer is refused: %s", ht_err_message());
}

static void test_buffers(struct ht_device *device) {
    HT_ENDED(ht_buffer_end) struct ht_buffer *buffer = NULL, *other = NULL, *empty = NULL;
    TEST_CHECK(ht_buffer_create(device, BYTES, &buffer) == HT_OK &&
                   ht_buffer_create(device, 1000, &other) == HT_OK &&
                   ht_buffer_create(device, 0, &empty) == HT_OK,
               "buffers of 240, 1000 and 0 bytes");
    test_spans(buffer);
    test_bad_spans(buffer);
    test_too_large(device);
    ht_buffer_destroy(NULL);
}

/* ---- programs and launches ---- */

/* What is not limited stays, also what a launch can give beyond arrays of fixed size. */
static void test_limits(struct ht_device *device) {
    const struct ht_device_info whole = *ht_device_info(device);
    const struct ht_device_info *info = ht_device_info(device);
    ht_device_limit(device, -1, 0, true);
    TEST_CHECK(info->local_memory == whole.local_memory && info->open_memory == whole.open_memory &&
                   info->max_group == whole.max_group,
               "limits that say nothing change nothing");
}

static void test_bad_program(struct ht_device *device) {
    HT_FREED char *text = program_text("HT_KERNEL void ht_bad(HT_GLOBAL float *x) {\n"
                                       "    x[0] = no_such_thing_here;\n}\n");
    struct ht_program *program = NULL;
    TEST_CHECK(ht_program_build(device, text, &program) == HT_ERR_DEVICE && program == NULL &&
                   strstr(ht_err_message(), "no_such_thing_here"),
               "the compiler's log of a bad program: %.200s", ht_err_message());
}

/* More launches than the layer holds events, each seen once, in order. */
static void test_launches(struct ht_device *device, struct ht_kernel *kernel, struct ht_buffer *x) {
    enum { MANY = 600 };
    float values[VALUES];
    int wrong = 0;
    for (int i = 0; i < VALUES; i++) values[i] = (float)i;
    must(ht_buffer_write(x, whole(sizeof values), values));
    must(launch_add(kernel, x, MANY));
    must(ht_device_finish(device));
    const double seconds = ht_kernel_seconds(kernel);
    must(ht_buffer_read(x, whole(sizeof values), values));
    for (int i = 0; i < VALUES; i++) wrong += values[i] != (float)i + 1.5f * MANY;
    TEST_EQUAL(wrong, 0, "%d launches in a row: values wrong", (int)MANY);
    TEST_CHECK(seconds > 0 && seconds < 60, "they took %.3g device seconds (bound: 0 to 60)",
               seconds);
    TEST_CHECK(ht_kernel_seconds(kernel) == 0, "which are counted once");
    TEST_CHECK(ht_kernel_total(kernel) == seconds, "and remain in the total, %.3g s",
               ht_kernel_total(kernel));
    must(launch_add(kernel, x, 1));
    const double before = ht_kernel_total(kernel);
    must(ht_device_finish(device));
    const double one = ht_kernel_seconds(kernel);
    TEST_CHECK(before == seconds && one > 0 && ht_kernel_total(kernel) == seconds + one,
               "which one more adds %.3g s to when it has finished", one);
}

static void test_bad_launch(struct ht_device *device, struct ht_kernel *kernel,
                            struct ht_buffer *x) {
    const double wrong_size[2] = {0};
    const float step = 0;
    const struct ht_arg good[2] = {{.buffer = x}, {.value = &step, .size = sizeof step}};
    const struct ht_arg args[2] = {{.buffer = x}, {.value = wrong_size, .size = sizeof wrong_size}};
    struct ht_arg many[HT_MAX_ARGS + 1] = {{.buffer = x}};
    const int64_t groups[3] = {1, 1, 1};
    TEST_CHECK(ht_kernel_launch(kernel, 2, args, groups, GROUP_SIZE) == HT_ERR_INTERNAL,
               "an argument of a wrong size is refused: %s", ht_err_message());
    TEST_CHECK(ht_kernel_launch(kernel, HT_MAX_ARGS + 1, many, groups, GROUP_SIZE) ==
                   HT_ERR_INTERNAL,
               "too many arguments are refused: %s", ht_err_message());
    struct ht_device_info *info = (struct ht_device_info *)ht_device_info(device); /* its own */
    int64_t bytes = info->max_arguments;
    info->max_arguments = sizeof(void *) + sizeof step - 1;
    enum ht_err err = ht_kernel_launch(kernel, 2, good, groups, GROUP_SIZE);
    info->max_arguments = bytes;
    TEST_CHECK(err == HT_ERR_DEVICE && bytes >= 1024 &&
                   strstr(ht_err_message(), "12 bytes of arguments"),
               "more bytes of arguments than the device takes (%lld) are refused: %s",
               (long long)bytes, ht_err_message());
    int64_t lanes = info->max_group + 1;
    TEST_CHECK(launch_add(kernel, x, 1) == HT_OK &&
                   ht_kernel_launch(kernel, 2, good, groups, lanes) == HT_ERR_DEVICE,
               "a group of %lld work-items is refused: %s", (long long)lanes, ht_err_message());
}

static void test_programs(struct ht_device *device) {
    HT_FREED char *text = adding_text(1);
    HT_ENDED(ht_program_end) struct ht_program *program = NULL;
    HT_ENDED(ht_kernel_end) struct ht_kernel *kernel = NULL, *none = NULL;
    HT_ENDED(ht_buffer_end) struct ht_buffer *x = NULL;
    must(ht_program_build(device, text, &program));
    TEST_CHECK(!ht_program_cached(program), "a program compiles, not from a cache");
    TEST_ERROR(ht_kernel_create(program, "ht_absent", &none), HT_ERR_DEVICE, "ht_absent",
               "a kernel that is not there");
    TEST_CHECK(none == NULL, "and none is given");
    must(ht_kernel_create(program, "ht_add", &kernel));
    must(ht_buffer_create(device, VALUES * (int64_t)sizeof(float), &x));
    test_launches(device, kernel, x);
    test_bad_launch(device, kernel, x);
    /* Left unfinished: destroy and close must take it back. */
    TEST_CHECK(launch_add(kernel, x, 3) == HT_OK, "launches left behind");
    ht_kernel_destroy(NULL);
    ht_program_destroy(NULL);
}

int main(void) {
    struct ht_device *device = test_device_here();
    if (device == NULL) return test_end("device");
    test_list(ht_device_info(device));
    test_open(ht_device_info(device));
    test_sharers();
    test_missing();
    test_no_match();
    test_limits(device);
    test_buffers(device);
    test_bad_program(device);
    test_programs(device);
    ht_device_close(device);
    return test_end("device");
}
