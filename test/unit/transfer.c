/* Transfers beside the work: that events order the two queues is judged by a kernel, or a copy,
 * slow enough that a wrong order would show; values are small integers and judged exactly. */
#include <sys/wait.h>
#include <unistd.h>

#include "device_scene.h"

/* Values of the large copies; 32 MiB. */
enum { MANY = 1 << 23, PEER_VALUES = 1000 };

/* ---- kernels ---- */

struct kernels {
    struct ht_program *program;
    struct ht_kernel *slow, *last;
};

/* ht_slow: x[i] = i + add after `turns` dependent operations; ht_last: y[i] = x[at + i]. */
static void make_kernels(struct ht_device *device, struct kernels *out) {
    HT_FREED char *text =
        program_text("HT_KERNEL void ht_slow(HT_GLOBAL float *x, float add, int turns) {\n"
                     "    const int i = (int)HT_GROUP_1() * 16 + HT_ITEM();\n"
                     "    unsigned state = (unsigned)i;\n"
                     "    for (int n = 0; n < turns; n++)\n"
                     "        state = state * 1664525u + 1013904223u;\n"
                     "    x[i] = (float)i + (state == 1u ? add + 1.0f : add);\n}\n"
                     "HT_KERNEL void ht_last(HT_GLOBAL const float *x,\n"
                     "                       HT_GLOBAL float *y, int at) {\n"
                     "    const int i = (int)HT_GROUP_1() * 16 + HT_ITEM();\n"
                     "    y[i] = x[at + i];\n}\n");
    must(ht_program_build(device, text, &out->program));
    must(ht_kernel_create(out->program, "ht_slow", &out->slow));
    must(ht_kernel_create(out->program, "ht_last", &out->last));
}

static void free_kernels(struct kernels *k) {
    ht_kernel_destroy(k->slow);
    ht_kernel_destroy(k->last);
    ht_program_destroy(k->program);
}

static struct ht_buffer *buffer_of(struct ht_device *device, int64_t bytes) {
    struct ht_buffer *x;
    must(ht_buffer_create(device, bytes, &x));
    return x;
}

static enum ht_err launch_slow(const struct kernels *k, struct ht_buffer *x, float add, int turns) {
    const int64_t groups[3] = {VALUES / GROUP_SIZE, 1, 1};
    const struct ht_arg args[3] = {{.buffer = x},
                                   {.value = &add, .size = sizeof add},
                                   {.value = &turns, .size = sizeof turns}};
    return ht_kernel_launch(k->slow, 3, args, groups, GROUP_SIZE);
}

static enum ht_err launch_last(const struct kernels *k, struct ht_buffer *x, struct ht_buffer *y,
                               int at) {
    const int64_t groups[3] = {VALUES / GROUP_SIZE, 1, 1};
    const struct ht_arg args[3] = {{.buffer = x}, {.buffer = y}, {.value = &at, .size = sizeof at}};
    return ht_kernel_launch(k->last, 3, args, groups, GROUP_SIZE);
}

/* Turns of ht_slow that take a tenth of a second. */
static int slow_turns(struct ht_device *device, const struct kernels *k, struct ht_buffer *x) {
    enum { TURNS = 1 << 20 };
    for (int i = 0; i < 2; i++) {
        (void)ht_kernel_seconds(k->slow);
        must(launch_slow(k, x, 0, i ? TURNS : 1));
        must(ht_device_finish(device));
    }
    return (int)fmin(0.1 / ht_kernel_seconds(k->slow) * TURNS, INT32_MAX);
}

/* Asks until it is done; false after a minute or a failure. */
static bool wait_for(const struct ht_event *event) {
    double start = ht_clock();
    bool done = false;
    while (!done && ht_clock() - start < 60)
        if (ht_event_done(event, &done) != HT_OK) return false;
    return done;
}

/* ---- events ---- */

/* A read waits for an event behind a slow kernel: it must see what that wrote. at_once: the host
 * must not wait for either. */
static void test_read_behind_kernel(struct ht_device *device, const struct kernels *k,
                                    struct ht_buffer *pinned, bool at_once, const char *what) {
    const float *values = (void *)pinned->host, zeros[VALUES] = {0};
    HT_ENDED(ht_buffer_end) struct ht_buffer *x = buffer_of(device, sizeof zeros);
    HT_ENDED(ht_event_end) struct ht_event kernel = {0}, read = {0};
    bool early = true;
    const int turns = slow_turns(device, k, x);
    must(ht_buffer_write(x, whole(sizeof zeros), zeros));
    const double start = ht_clock();
    must(launch_slow(k, x, 7, turns));
    must(ht_event_record(device, &kernel, HT_QUEUE_WORK));
    must(ht_event_await(&kernel, HT_QUEUE_TRANSFER));
    must(ht_transfer(x, 0, pinned, 0, sizeof zeros));
    must(ht_event_record(device, &read, HT_QUEUE_TRANSFER));
    must(ht_event_done(&kernel, &early));
    const double enqueued = ht_clock() - start;
    const bool done = wait_for(&read);
    const double waited = ht_clock() - start;
    int wrong = 0;
    for (int i = 0; done && i < VALUES; i++) wrong += values[i] != (float)i + 7;
    TEST_CHECK(done && wrong == 0, "%s: a read behind a kernel of %.3g s: %d of %d values wrong",
               what, waited, wrong, (int)VALUES);
    if (at_once)
        TEST_CHECK(!early, "%s: enqueued in %.3g s, when the kernel still ran", what, enqueued);
}

/* A kernel waits for an event behind a large write, of which it reads the end. */
static void test_kernel_behind_write(struct ht_device *device, const struct kernels *k,
                                     struct ht_buffer *pinned, const char *what) {
    const int64_t bytes = MANY * (int64_t)sizeof(float);
    float *values = (void *)pinned->host, last[VALUES] = {0};
    HT_ENDED(ht_buffer_end)
    struct ht_buffer *x = buffer_of(device, bytes), *y = buffer_of(device, sizeof last);
    HT_ENDED(ht_event_end) struct ht_event event = {0};
    int wrong = 0;
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < MANY; i++) values[i] = (float)(i % 1000 * round);
        must(ht_transfer(pinned, 0, x, 0, bytes));
        must(ht_event_record(device, &event, HT_QUEUE_TRANSFER));
        must(ht_event_await(&event, HT_QUEUE_WORK));
        must(launch_last(k, x, y, MANY - VALUES));
        must(ht_buffer_read(y, whole(sizeof last), last));
        for (int i = 0; i < VALUES; i++)
            wrong += last[i] != (float)((MANY - VALUES + i) % 1000 * round);
    }
    TEST_EQUAL(wrong, 0,
               "%s: kernels behind writes of 32 MiB, an event used three times: wrong values",
               what);
}

static void test_bad_events(struct ht_device *device) {
    HT_ENDED(ht_event_end) struct ht_event event = {0};
    bool done = true;
    TEST_CHECK(ht_event_await(&event, HT_QUEUE_WORK) == HT_ERR_INTERNAL &&
                   ht_event_done(&event, &done) == HT_ERR_INTERNAL && !done,
               "an event that is not recorded is refused: %s", ht_err_message());
    TEST_CHECK(ht_event_record(device, &event, HT_QUEUE_WORK) == HT_OK && wait_for(&event),
               "one behind nothing is done");
}

/* ---- transfers ---- */

/* Parts of a buffer out of and into parts of memory, in order on one queue. */
static void test_round_trip(struct ht_device *device, struct ht_buffer *pinned, const char *what) {
    enum { BYTES = 4096 };
    unsigned char *memory = (void *)pinned->host, all[BYTES] = {0};
    HT_ENDED(ht_buffer_end) struct ht_buffer *x = buffer_of(device, BYTES);
    HT_ENDED(ht_event_end) struct ht_event event = {0};
    int wrong = 0;
    for (int i = 0; i < BYTES; i++) memory[i] = (unsigned char)(i * 7 % 251);
    memset(memory + BYTES, 0xee, BYTES);
    must(ht_buffer_write(x, whole(BYTES), all));
    must(ht_transfer(pinned, 3, x, 100, 1001));
    must(ht_transfer(x, 99, pinned, BYTES + 5, 1003));
    must(ht_transfer(pinned, 0, x, 0, 0));
    must(ht_event_record(device, &event, HT_QUEUE_TRANSFER));
    const bool done = wait_for(&event);
    for (int i = 0; done && i < BYTES; i++) {
        const bool inside = i >= 6 && i < 6 + 1001;
        const int want = i < 5 || i >= 5 + 1003 ? 0xee : inside ? memory[i - 3] : 0;
        wrong += memory[BYTES + i] != want;
    }
    TEST_CHECK(done && wrong == 0, "%s: 1001 bytes there and 1003 back: %d of %d bytes wrong", what,
               wrong, (int)BYTES);
}

static void test_bad_ranges(struct ht_device *device) {
    static const int64_t ranges[][3] = {{0, 101, 0},       {1, 100, 0},  {-1, 10, 0},
                                        {0, -1, 0},        {0, 100, 51}, {0, 10, -1},
                                        {101, 0, 0},       {0, 0, 151},  {INT64_MAX, INT64_MAX, 0},
                                        {0, 10, INT64_MAX}};
    HT_ENDED(ht_buffer_end) struct ht_buffer *x = buffer_of(device, 100);
    struct ht_buffer *pinned = NULL;
    must(ht_pinned_create(device, 150, &pinned));
    TEST_EACH(row, ranges) {
        const int64_t *r = *row;
        enum ht_err in = ht_transfer(x, r[0], pinned, r[2], r[1]);
        enum ht_err out = ht_transfer(pinned, r[2], x, r[0], r[1]);
        TEST_CHECK(in == HT_ERR_INTERNAL && out == HT_ERR_INTERNAL,
                   "%lld bytes at %lld of 100 and %lld of 150 are refused: codes %d, %d",
                   (long long)r[1], (long long)r[0], (long long)r[2], in, out);
    }
    ht_buffer_destroy(pinned);
}

static void test_memory(struct ht_device *device, const struct kernels *k) {
    struct ht_buffer *made = NULL;
    TEST_CHECK(ht_pinned_create(device, MANY * (int64_t)sizeof(float), &made) == HT_OK &&
                   made->host != NULL,
               "32 MiB of pinned memory");
    if (made == NULL) return;
    test_round_trip(device, made, "made");
    test_read_behind_kernel(device, k, made, true, "made");
    test_kernel_behind_write(device, k, made, "made");
    ht_buffer_destroy(made);
}

/* ---- peers ---- */

/* Copies values 1, 2, ... behind the first `at` of the peer; 0: done. */
static enum ht_err send_values(struct ht_device *device, struct ht_buffer *peer, int at,
                               int count) {
    const int64_t bytes = count * (int64_t)sizeof(float);
    float values[PEER_VALUES];
    HT_ENDED(ht_buffer_end) struct ht_buffer *x = NULL;
    HT_ENDED(ht_event_end) struct ht_event event = {0};
    for (int i = 0; i < count; i++) values[i] = (float)(i + 1);
    TRY(ht_buffer_create(device, bytes, &x));
    TRY(ht_buffer_write(x, whole(bytes), values));
    TRY(ht_transfer(x, 0, peer, at * (int64_t)sizeof(float), bytes));
    TRY(ht_event_record(device, &event, HT_QUEUE_TRANSFER));
    return wait_for(&event) ? HT_OK : HT_ERR_DEVICE;
}

enum { AT = 10, COUNT = 980 };

/* A buffer of zeros with a neighbour, so that allocations may be shared. */
static void make_target(struct ht_device *device, struct ht_buffer **x, struct ht_buffer **beside) {
    static const float zeros[PEER_VALUES] = {0};
    *beside = buffer_of(device, 64);
    *x = buffer_of(device, sizeof zeros);
    must(ht_buffer_write(*x, whole(sizeof zeros), zeros));
}

static int wrong_values(struct ht_buffer *x) {
    float values[PEER_VALUES];
    int wrong = 0;
    if (ht_buffer_read(x, whole(sizeof values), values) != HT_OK) return -1;
    for (int i = 0; i < PEER_VALUES; i++)
        wrong += values[i] != (i < AT || i >= AT + COUNT ? 0 : (float)(i - AT + 1));
    return wrong;
}

static void test_peer_here(struct ht_device *device) {
    unsigned char name[HT_PEER_NAME];
    const char *no_peer = ht_device_info(device)->no_peer;
    HT_ENDED(ht_buffer_end) struct ht_buffer *x, *beside;
    struct ht_buffer *peer = NULL;
    make_target(device, &x, &beside);
    enum ht_err err = ht_peer_name(x, name);
    if (no_peer != NULL) {
        TEST_ERROR(err, HT_ERR_DEVICE, no_peer, "no peers");
    } else {
        if (err == HT_OK) err = ht_peer_open(device, name, sizeof(float[PEER_VALUES]), &peer);
        if (err == HT_OK) err = send_values(device, peer, AT, COUNT);
        TEST_CHECK(err == HT_OK && wrong_values(x) == 0,
                   "a peer in this process: %d of %d values wrong%s", wrong_values(x),
                   (int)PEER_VALUES, test_said(err));
        TEST_CHECK(err != HT_OK || ht_transfer(x, 0, peer, 3996, 8) == HT_ERR_INTERNAL,
                   "beyond its end: %s", ht_err_message());
    }
    ht_buffer_destroy(peer);
}

enum { NO_PEERS = 77 };

/* The other process: opens the buffer named on `from`, fills it, says so. */
static int peer_process(int from, int to) {
    unsigned char name[HT_PEER_NAME];
    struct ht_device *device = NULL;
    struct ht_buffer *peer = NULL;
    if (read(from, name, sizeof name) != sizeof name) return NO_PEERS;
    enum ht_err err = test_open_device(&device);
    if (err == HT_OK) err = ht_peer_open(device, name, sizeof(float[PEER_VALUES]), &peer);
    if (err == HT_OK) err = send_values(device, peer, AT, COUNT);
    char answer[256] = "";
    if (err != HT_OK) snprintf(answer, sizeof answer, "%s", ht_err_message());
    ht_buffer_destroy(peer);
    ht_device_close(device);
    return write(to, answer, sizeof answer) == sizeof answer ? 0 : 1;
}

/* The owner's side. */
static void meet_peer(struct ht_device *device, int from, int to) {
    unsigned char name[HT_PEER_NAME];
    char answer[256] = "no answer";
    HT_ENDED(ht_buffer_end) struct ht_buffer *x, *beside;
    make_target(device, &x, &beside);
    must(ht_peer_name(x, name));
    const bool said = write(to, name, sizeof name) == sizeof name &&
                      read(from, answer, sizeof answer) == sizeof answer;
    const int wrong = said ? wrong_values(x) : -1;
    TEST_CHECK(said && answer[0] == '\0' && wrong == 0,
               "a peer in another process: %d of %d values wrong %s", wrong, (int)PEER_VALUES,
               answer);
}

static void run_tests(struct ht_device *device, int from, int to) {
    HT_ENDED(free_kernels) struct kernels kernels = {0};
    make_kernels(device, &kernels);
    test_bad_events(device);
    test_bad_ranges(device);
    test_memory(device, &kernels);
    test_peer_here(device);
    if (ht_device_info(device)->no_peer == NULL)
        meet_peer(device, from, to);
    else
        TEST_SKIP("a peer in another process: %s", ht_device_info(device)->no_peer);
}

/* The other process begins before this one opens a device: drivers do not outlive a fork. */
int main(void) {
    int there[2], back[2], status = 1;
    struct ht_device *device;
    if (pipe(there) != 0 || pipe(back) != 0) return 1;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
        close(there[1]);
        close(back[0]);
        _exit(peer_process(there[0], back[1]));
    }
    close(there[0]);
    close(back[1]);
    device = test_device_here();
    if (device != NULL) run_tests(device, back[0], there[1]);
    close(there[1]);
    close(back[0]);
    if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1)
        TEST_CHECK(false, "the other process could not answer");
    ht_device_close(device);
    return test_end("transfer");
}
