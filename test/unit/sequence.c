/* Sequences of launches: what they do, in which order, with which arguments, and whose time it is;
 * branches. Results are judged exactly: values are multiples of 1/4. On the driver of
 * test/fake_cuda.c, where FAKE_GPUS is set, times are exact, too, and launches whose order nothing
 * says are refused. */
#include "device_scene.h"

#define START 3.0f

struct scene {
    struct ht_device *device;
    struct ht_program *program;
    struct ht_kernel *add, *scale;
    struct ht_buffer *x, *y;
    float expected, expected_y;
};

static void open_scene(struct scene *s) {
    HT_FREED char *text = program_text("HT_KERNEL void ht_add(HT_GLOBAL float *x, float c) {\n"
                                       "    x[HT_GROUP_1() * 16 + HT_ITEM()] += c;\n}\n"
                                       "HT_KERNEL void ht_scale(HT_GLOBAL float *x, float c) {\n"
                                       "    x[HT_GROUP_1() * 16 + HT_ITEM()] *= c;\n}\n");
    struct ht_buffer **const buffer[] = {&s->x, &s->y};
    const int64_t open = ht_device_info(s->device)->open_memory;
    float values[VALUES];
    for (int i = 0; i < VALUES; i++) values[i] = START;
    s->expected = s->expected_y = START;
    must(ht_program_build(s->device, text, &s->program));
    must(ht_kernel_create(s->program, "ht_add", &s->add));
    must(ht_kernel_create(s->program, "ht_scale", &s->scale));
    /* a back end that loses it for a launch is refused by the fake */
    if (open > 0) must(ht_kernel_open_memory(s->scale, open));
    for (int i = 0; i < 2; i++) {
        must(ht_buffer_create(s->device, sizeof values, buffer[i]));
        must(ht_buffer_write(*buffer[i], whole(sizeof values), values));
    }
}

static void close_scene(struct scene *s) {
    ht_buffer_destroy(s->x);
    ht_buffer_destroy(s->y);
    ht_kernel_destroy(s->add);
    ht_kernel_destroy(s->scale);
    ht_program_destroy(s->program);
    ht_device_close(s->device);
}

/* The arguments are gone after the call. */
static enum ht_err launch_on(struct ht_buffer *buffer, struct ht_kernel *kernel, float c) {
    float number = c;
    const struct ht_arg args[2] = {{.buffer = buffer}, {.value = &number, .size = sizeof number}};
    const int64_t groups[3] = {VALUES / GROUP_SIZE, 1, 1};
    enum ht_err err = ht_kernel_launch(kernel, 2, args, groups, GROUP_SIZE);
    number = NAN;
    return err;
}

static enum ht_err launch(const struct scene *s, struct ht_kernel *kernel, float c) {
    return launch_on(s->x, kernel, c);
}

/* x = -(-(x + 1) + 0.25) - 0.5, which is x + 0.25 in this order alone. */
static enum ht_err record(struct scene *s, struct ht_sequence **out) {
    TRY(ht_sequence_begin(s->device));
    enum ht_err err = HT_OK;
    for (int i = 0; i < 5 && err == HT_OK; i++)
        err = launch(s, i % 2 ? s->scale : s->add, (float[]){1, -1, 0.25f, -1, -0.5f}[i]);
    return ht_sequence_end(s->device, err, out);
}

/* y = x as above, and so does x, side by side: where they meet, they change their branches. */
static enum ht_err record_branches(struct scene *s, struct ht_sequence **out) {
    struct ht_buffer *const x[2] = {s->x, s->y};
    TRY(ht_sequence_begin(s->device));
    enum ht_err err = HT_OK;
    for (int i = 0; i < 2 && err == HT_OK; i++) err = launch_on(x[i], s->add, 1);
    for (int i = 0; i < 4 && err == HT_OK; i++) {
        ht_sequence_branch(s->device, 1 + i % 2);
        err = launch_on(x[i % 2], i < 2 ? s->scale : s->add, i < 2 ? -1.0f : 0.25f);
    }
    ht_sequence_branch(s->device, 0);
    for (int i = 0; i < 2 && err == HT_OK; i++) {
        ht_sequence_branch(s->device, 2 - i);
        err = launch_on(x[i], s->scale, -1);
    }
    ht_sequence_branch(s->device, 0);
    for (int i = 1; i >= 0 && err == HT_OK; i--) err = launch_on(x[i], s->add, -0.5f);
    return ht_sequence_end(s->device, err, out);
}

static void judge(struct scene *s, enum ht_err err, const char *what) {
    float x[VALUES] = {0}, y[VALUES] = {0};
    int wrong = 0;
    if (err == HT_OK) err = ht_device_finish(s->device);
    if (err == HT_OK) err = ht_buffer_read(s->x, whole(sizeof x), x);
    if (err == HT_OK) err = ht_buffer_read(s->y, whole(sizeof y), y);
    for (int i = 0; i < VALUES; i++) wrong += (x[i] != s->expected) + (y[i] != s->expected_y);
    TEST_CHECK(err == HT_OK && wrong == 0,
               "%s: %d of %d values wrong (%.9g, %.9g, expected %.9g, %.9g) %s", what, wrong,
               2 * (int)VALUES, (double)x[0], (double)y[0], (double)s->expected,
               (double)s->expected_y, test_said(err));
}

/* Of `times` times: the sampled ones take 3 ms and 4 ms, others half of it. */
static void judge_times(struct scene *s, int times, int samples) {
    const double add = ht_kernel_seconds(s->add);
    const double scale = ht_kernel_seconds(s->scale);
    const double runs = samples + (times - samples) / 2.0;
    if (getenv("FAKE_GPUS") == NULL) {
        TEST_CHECK(add > 0 && scale > 0, "%d times: %.3g s and %.3g s", times, add, scale);
        return;
    }
    TEST_BELOW(fabs(add - 3e-3 * runs), 1e-6 * add,
               "%d times, %d samples: %.6g s of one kernel, off by", times, samples, add);
    TEST_BELOW(fabs(scale - 4e-3 * runs), 1e-6 * scale, "%.6g s of the other, off by", scale);
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

/* A sample takes 14 ms; else each half of it, but for 2.5 ms of one branch while the other one
 * runs. */
static void test_branches(struct scene *s) {
    enum { TIMES = 40 };
    struct ht_sequence *sequence = NULL;
    (void)ht_kernel_seconds(s->add);
    (void)ht_kernel_seconds(s->scale);
    enum ht_err err = record_branches(s, &sequence);
    if (err == HT_OK) err = ht_sequence_run(sequence, 1);
    if (err == HT_OK) err = ht_sequence_run(sequence, TIMES);
    s->expected += 0.25f * (1 + TIMES);
    s->expected_y += 0.25f * (1 + TIMES);
    judge(s, err, "branches");
    const double seconds = ht_kernel_seconds(s->add) + ht_kernel_seconds(s->scale);
    if (getenv("FAKE_GPUS") != NULL)
        TEST_BELOW(fabs(seconds - 14e-3 - TIMES * 4.5e-3), 1e-6 * seconds,
                   "side by side: %.6g s, off by", seconds);
    ht_sequence_destroy(sequence);
}

/* Nothing is recorded: they keep their order. */
static void test_not_recorded(struct scene *s) {
    ht_sequence_branch(s->device, 1);
    enum ht_err err = launch(s, s->add, 1);
    ht_sequence_branch(s->device, 2);
    if (err == HT_OK) err = launch(s, s->scale, 2);
    ht_sequence_branch(s->device, 0);
    s->expected = (s->expected + 1) * 2;
    judge(s, err, "branches of no sequence");
}

static void test_refusals(struct scene *s) {
    struct ht_sequence *sequence = NULL;
    enum ht_err err = ht_sequence_begin(s->device);
    if (err == HT_OK) err = launch(s, s->add, 5);
    TEST_CHECK(err == HT_OK && ht_sequence_begin(s->device) == HT_ERR_INTERNAL,
               "a second recording is refused: %s", ht_err_message());
    TEST_CHECK(ht_sequence_end(s->device, HT_ERR_INPUT, &sequence) == HT_ERR_INPUT &&
                   sequence == NULL,
               "one that has failed is forgotten");
    err = launch(s, s->add, 0.5f);
    s->expected += 0.5f;
    judge(s, err, "launches after it are done");
}

int main(void) {
    HT_ENDED(close_scene) struct scene s = {.device = test_device_here()};
    struct ht_sequence *sequence = NULL;
    if (s.device == NULL) return test_end("sequence");
    open_scene(&s);
    enum ht_err err = record(&s, &sequence);
    TEST_CHECK(err == HT_OK, "recorded on %s %s", ht_device_info(s.device)->name, test_said(err));
    if (err == HT_OK) {
        test_runs(&s, sequence);
        test_branches(&s);
        test_not_recorded(&s);
        test_refusals(&s);
    }
    ht_sequence_destroy(sequence);
    return test_end("sequence");
}
