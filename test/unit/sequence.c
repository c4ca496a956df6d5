/* Sequences of launches: what they do, in which order, with which arguments,
 * and whose time it is. Results are judged exactly: values are multiples of
 * 1/4. On the driver of test/fake_cuda.c, where
 * FAKE_GPUS is set, times are exact, too.
 */
#include "device_scene.h"

#define START 3.0f

struct scene {
    struct ht_device *device;
    struct ht_program *program;
    struct ht_kernel *add, *scale;
    struct ht_buffer *x;
    float expected;
};

static enum ht_err open_scene(struct scene *s) {
    char *text =
        program_text("HT_KERNEL void ht_add(HT_GLOBAL float *x, float c) {\n"
                     "    x[HT_GROUP_1() * 16 + HT_ITEM()] += c;\n}\n"
                     "HT_KERNEL void ht_scale(HT_GLOBAL float *x, float c) {\n"
                     "    x[HT_GROUP_1() * 16 + HT_ITEM()] *= c;\n}\n");
    float values[VALUES];
    for (int i = 0; i < VALUES; i++) values[i] = START;
    s->expected = START;
    enum ht_err err = ht_program_build(s->device, text, NULL, &s->program);
    free(text);
    if (err == HT_OK) err = ht_kernel_create(s->program, "ht_add", &s->add);
    if (err == HT_OK) err = ht_kernel_create(s->program, "ht_scale", &s->scale);
    if (err == HT_OK) err = ht_buffer_create(s->device, sizeof values, &s->x);
    if (err == HT_OK) err = ht_buffer_write(s->x, whole(sizeof values), values);
    return err;
}

static void close_scene(struct scene *s) {
    ht_buffer_destroy(s->x);
    ht_kernel_destroy(s->add);
    ht_kernel_destroy(s->scale);
    ht_program_destroy(s->program);
    ht_device_close(s->device);
}

/* The arguments are gone after the call. */
static enum ht_err launch(const struct scene *s, struct ht_kernel *kernel,
                          float c) {
    float number = c;
    const struct ht_arg args[2] = {{.buffer = s->x},
                                   {.value = &number, .size = sizeof number}};
    const int64_t groups[3] = {VALUES / GROUP_SIZE, 1, 1};
    enum ht_err err = ht_kernel_launch(kernel, 2, args, groups, GROUP_SIZE);
    number = NAN;
    return err;
}

/* x = -(-(x + 1) + 0.25) - 0.5, which is x + 0.25 in this order alone. */
static enum ht_err record(struct scene *s, struct ht_sequence **out) {
    TRY(ht_sequence_begin(s->device));
    enum ht_err err = launch(s, s->add, 1);
    if (err == HT_OK) err = launch(s, s->scale, -1);
    if (err == HT_OK) err = launch(s, s->add, 0.25f);
    if (err == HT_OK) err = launch(s, s->scale, -1);
    if (err == HT_OK) err = launch(s, s->add, -0.5f);
    return ht_sequence_end(s->device, err, out);
}

static void judge(struct scene *s, enum ht_err err, const char *what) {
    float values[VALUES] = {0};
    int wrong = 0;
    if (err == HT_OK) err = ht_device_finish(s->device);
    if (err == HT_OK) err = ht_buffer_read(s->x, whole(sizeof values), values);
    for (int i = 0; i < VALUES; i++) wrong += values[i] != s->expected;
    TEST_CHECK(err == HT_OK && wrong == 0,
               "%s: %d of %d values wrong (%.9g, expected %.9g) %s", what,
               wrong, (int)VALUES, (double)values[0], (double)s->expected,
               err ? ht_err_message() : "");
}

/* Of `times` times: the sampled ones take 3 ms and 4 ms, others half of it. */
static void judge_times(struct scene *s, int times, int samples) {
    const double add = ht_kernel_seconds(s->add);
    const double scale = ht_kernel_seconds(s->scale);
    const double runs = samples + (times - samples) / 2.0;
    if (getenv("FAKE_GPUS") == NULL) {
        TEST_CHECK(add > 0 && scale > 0, "%d times: %.3g s and %.3g s", times,
                   add, scale);
        return;
    }
    TEST_BELOW(fabs(add - 3e-3 * runs), 1e-6 * add,
               "%d times, %d samples: %.6g s of one kernel, off by", times,
               samples, add);
    TEST_BELOW(fabs(scale - 4e-3 * runs), 1e-6 * scale,
               "%.6g s of the other, off by", scale);
}

static void test_runs(struct scene *s, struct ht_sequence *sequence) {
    judge(s, HT_OK, "recorded, not run");
    judge(s, ht_sequence_run(sequence, 0), "run 0 times");
    enum ht_err err = ht_sequence_run(sequence, 1);
    s->expected += 0.25f * 1;
    judge(s, err, "once");
    judge_times(s, 1, 1);
    err = ht_sequence_run(sequence, 15);
    if (err == HT_OK) err = launch(s, s->add, 2);
    s->expected += 0.25f * 15;
    s->expected += 2;
    if (err == HT_OK) err = ht_sequence_run(sequence, 40);
    s->expected += 0.25f * 40;
    judge(s, err, "15 times and 40, a launch between them");
    (void)ht_kernel_seconds(s->add);
    (void)ht_kernel_seconds(s->scale);
    err = ht_sequence_run(sequence, 300);
    if (err == HT_OK) err = ht_sequence_run(sequence, 20);
    s->expected += 0.25f * 320;
    judge(s, err, "300 times and 20");
    judge_times(s, 320, 1);
}

static void test_refusals(struct scene *s) {
    struct ht_sequence *sequence = NULL;
    enum ht_err err = ht_sequence_begin(s->device);
    if (err == HT_OK) err = launch(s, s->add, 5);
    TEST_CHECK(err == HT_OK && ht_sequence_begin(s->device) == HT_ERR_INTERNAL,
               "a second recording is refused: %s", ht_err_message());
    TEST_CHECK(ht_sequence_end(s->device, HT_ERR_INPUT, &sequence) ==
                       HT_ERR_INPUT &&
                   sequence == NULL,
               "one that has failed is forgotten");
    err = launch(s, s->add, 0.5f);
    s->expected += 0.5f;
    judge(s, err, "launches after it are done");
}

int main(void) {
    struct scene s = {.device = open_device()};
    struct ht_sequence *sequence = NULL;
    if (s.device == NULL) return test_end("sequence");
    enum ht_err err = open_scene(&s);
    if (err == HT_OK) err = record(&s, &sequence);
    TEST_CHECK(err == HT_OK, "recorded on %s %s",
               ht_device_info(s.device)->name, err ? ht_err_message() : "");
    if (err == HT_OK) {
        test_runs(&s, sequence);
        test_refusals(&s);
    }
    ht_sequence_destroy(sequence);
    close_scene(&s);
    return test_end("sequence");
}
