/* Ranks: collectives, messages and failures, judged by numbers that each rank can foresee. Alone,
 * this is a run without a communicator; test/mpi/comm.sh runs it by mpiexec, also with the name of
 * a failure:
 *
 *     comm sum|wait|send|agree|late    the last rank fails while the others are
 *                                      there
 *     comm kill                        the last rank kills itself
 *
 * Then each rank prints one line, and the script judges them. */
#include "htwave/comm.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "../test.h"

static struct ht_comm *comm;
static int rank, size;

static void stop_on(enum ht_err err) {
    if (err == HT_OK) return;
    printf("not ok - rank %d: %s\n", rank, ht_err_message());
    ht_comm_end(comm, true, 1);
    exit(1);
}

/* The largest over the ranks, printed by rank 0. */
#define CHECK_ALL(value, ...)                              \
    do {                                                   \
        double all_ = (value);                             \
        stop_on(ht_comm_max(comm, 1, &all_));              \
        if (rank == 0) TEST_BELOW(all_, 0.0, __VA_ARGS__); \
    } while (0)

/* Byte i of what a rank sends. */
static unsigned char byte_of(int from, int64_t i) {
    return (unsigned char)(31L * from + 7 * i + i / 251 + 3);
}

static void fill(unsigned char *data, int from, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i++) data[i] = byte_of(from, i);
}

static double wrong_bytes(const unsigned char *data, int from, int64_t bytes) {
    double wrong = 0;
    for (int64_t i = 0; i < bytes; i++) wrong += data[i] != byte_of(from, i);
    return wrong;
}

static unsigned char *room(int64_t bytes) {
    unsigned char *data = NULL;
    stop_on(ht_mem_alloc((size_t)bytes, 1, &data));
    return data;
}

/* ---- collectives ---- */

/* Sums of 1/(r + 1) depend on their order: they have to be that of the ranks. */
static void test_sums(void) {
    enum { COUNT = 1000 };
    double values[COUNT], wrong = 0;
    for (int i = 0; i < COUNT; i++) values[i] = (i + 1.0) / (rank + 1);
    stop_on(ht_comm_sum(comm, COUNT, values));
    for (int i = 0; i < COUNT; i++) {
        double sum = i + 1.0;
        for (int r = 1; r < size; r++) sum += (i + 1.0) / (r + 1);
        wrong += values[i] != sum;
    }
    CHECK_ALL(wrong, "%d ranks: sums of %d that are not in order", size, COUNT);

    for (int i = 0; i < COUNT; i++) values[i] = i % size == rank ? i + 0.5 : -1.0 - rank;
    stop_on(ht_comm_max(comm, COUNT, values));
    wrong = 0;
    for (int i = 0; i < COUNT; i++) wrong += values[i] != i + 0.5;
    CHECK_ALL(wrong, "%d ranks: wrong maxima of %d", size, COUNT);

    wrong = 0;
    for (int r = 0; r < size; r++) {
        double one = rank == r ? NAN : 1.0;
        stop_on(ht_comm_max(comm, 1, &one));
        wrong += !isnan(one);
    }
    CHECK_ALL(wrong, "%d ranks: maxima that lost a NaN", size);
    stop_on(ht_comm_sum(comm, 0, NULL));
}

static void test_broadcast_and_gather(void) {
    const int64_t sizes[] = {0, 1, 7, 8, 13, 4099, 300000};
    double wrong[2] = {0, 0};
    TEST_EACH(bytes, sizes) {
        HT_FREED unsigned char *own = room(*bytes), *all = room(size * *bytes);
        fill(own, rank, *bytes);
        stop_on(ht_comm_gather(comm, own, (size_t)*bytes, all));
        for (int r = 0; r < size; r++) wrong[1] += wrong_bytes(all + r * *bytes, r, *bytes);
        stop_on(ht_comm_broadcast(comm, own, (size_t)*bytes));
        wrong[0] += wrong_bytes(own, 0, *bytes);
    }
    CHECK_ALL(wrong[0], "%d ranks: wrong bytes of broadcasts", size);
    CHECK_ALL(wrong[1], "%d ranks: wrong bytes of gathers", size);
}

/* Bytes that a rank brings: every third none. */
static int64_t part_of(int r) {
    return r % 3 == 2 ? 0 : (int64_t)(r % 3 + 1) * 100003 + r;
}

static void test_collect(void) {
    int64_t total = 0;
    double wrong = 0;
    for (int r = 0; r < size; r++) total += part_of(r);
    HT_FREED unsigned char *own = room(part_of(rank)), *all = rank == 0 ? room(total) : NULL;
    fill(own, rank, part_of(rank));
    stop_on(ht_comm_collect(comm, own, part_of(rank), all));
    for (int64_t at = 0, r = 0; all != NULL && r < size; r++) {
        wrong += wrong_bytes(all + at, (int)r, part_of((int)r));
        at += part_of((int)r);
    }
    CHECK_ALL(wrong, "%d ranks: wrong bytes of parts of uneven sizes", size);
}

static void test_places_and_agreement(void) {
    double failures = ht_comm_look_out(comm) != HT_OK;
    for (int i = 0; i < 100; i++) failures += ht_comm_agree(comm, HT_OK) != HT_OK;
    CHECK_ALL(failures, "%d ranks: failures that there were not", size);
    CHECK_ALL((ht_comm_rank(comm) != rank) + !ht_comm_same_machine(comm, rank),
              "%d ranks: wrong places", size);
}

/* ---- messages ---- */

/* In a ring, upwards: the sizes must not matter, nor whether the receiver or the sender comes
 * first. */
static void test_message_sizes(void) {
    const int64_t sizes[] = {0, 1, 3, 8, 1001, 65543, 3000001, 8000000};
    int up = (rank + 1) % size, down = (rank + size - 1) % size;
    double wrong = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct ht_message *in = NULL, *out = NULL;
        HT_FREED unsigned char *to = room(sizes[k]), *from = room(sizes[k]);
        bool done = false;
        fill(to, rank, sizes[k]);
        if (k % 2 == 0) stop_on(ht_message_receive(comm, down, 5, from, sizes[k], &in));
        stop_on(ht_message_send(comm, up, 5, to, sizes[k], &out));
        if (k % 2 == 1) stop_on(ht_message_receive(comm, down, 5, from, sizes[k], &in));
        while (!done) stop_on(ht_message_done(&in, &done));
        stop_on(ht_message_wait(&out));
        wrong += in != NULL || out != NULL;
        wrong += wrong_bytes(from, down, sizes[k]);
    }
    CHECK_ALL(wrong, "%d ranks: wrong bytes of messages", size);
}

/* Many of one tag, large and small by turns, and another tag between. */
static void test_message_order(void) {
    enum { MANY = 200 };
    const int64_t large = 30000;
    int up = (rank + 1) % size, down = (rank + size - 1) % size;
    struct ht_message *in[MANY], *out[MANY];
    HT_FREED int *to = (int *)(void *)room((int64_t)sizeof(int) * MANY * large),
                 *from = (int *)(void *)room((int64_t)sizeof(int) * MANY * large);
    double wrong = 0;
    for (int i = 0; i < MANY; i++) {
        int64_t bytes = (int64_t)sizeof(int) * (i % 7 == 0 ? large : 1);
        to[i * large] = 1000 * rank + i;
        stop_on(ht_message_send(comm, up, i % 11 == 0 ? 9 : 8, to + i * large, bytes, &out[i]));
    }
    for (int i = 0; i < MANY; i++) {
        int64_t bytes = (int64_t)sizeof(int) * (i % 7 == 0 ? large : 1);
        stop_on(
            ht_message_receive(comm, down, i % 11 == 0 ? 9 : 8, from + i * large, bytes, &in[i]));
    }
    for (int i = MANY - 1; i >= 0; i--) {
        stop_on(ht_message_wait(&in[i]));
        stop_on(ht_message_wait(&out[i]));
        wrong += from[i * large] != 1000 * down + i;
    }
    CHECK_ALL(wrong, "%d ranks: of %d messages out of order", size, MANY);
}

static void test_too_long(void) {
    struct ht_message *message = NULL;
    enum ht_err err = ht_message_send(comm, rank, 1, NULL, ((int64_t)1 << 31) + 1, &message);
    CHECK_ALL(err != HT_ERR_COMM || message != NULL, "%d ranks: refused: %s", size,
              ht_err_message());
}

/* ---- failures ---- */

static void nap(double seconds) {
    struct timespec time = {(time_t)seconds, 0};
    time.tv_nsec = (long)(1e9 * (seconds - (double)time.tv_sec));
    nanosleep(&time, NULL);
}

/* Where the others are when the last rank fails. */
static enum ht_err wait_in(const char *where) {
    static double value[1 << 20];
    struct ht_message *message = NULL;
    if (strcmp(where, "sum") == 0) return ht_comm_sum(comm, 1 << 20, value);
    if (strcmp(where, "wait") != 0) return HT_OK;
    enum ht_err err = ht_message_receive(comm, size - 1, 3, value, sizeof value, &message);
    if (err == HT_OK) err = ht_message_wait(&message);
    ht_message_abandon(message);
    return err;
}

/* The last rank fails after 0.2 s; `late`: so does the first, on its own. */
static enum ht_err work(const char *where) {
    bool last = rank == size - 1;
    if (!last && strcmp(where, "late") == 0) {
        nap(rank == 0 ? 0.4 : 0.1);
        return rank == 0 ? ht_err_set(HT_ERR_MEMORY, "no memory") : HT_OK;
    }
    if (!last) return wait_in(where);
    nap(0.2);
    if (strcmp(where, "kill") == 0) (void)raise(SIGKILL);
    return ht_err_set(HT_ERR_DEVICE, "device of rank %d lost", rank);
}

/* Does not return. */
static void fail(const char *where) {
    double began = ht_clock(), value = 0;
    enum ht_err err = ht_comm_agree(comm, work(where));
    char line[256];
    snprintf(line, sizeof line, "%d: %s", (int)err, ht_err_message());
    /* whatever follows fails at once, and agreeing again says the same */
    bool same = ht_comm_sum(comm, 1, &value) == HT_ERR_ELSEWHERE &&
                ht_comm_agree(comm, HT_OK) == err && strstr(line, ht_err_message()) != NULL;
    printf("rank %d%s: %.2f s: %s\n", rank, same ? "" : " DIFFERS", ht_clock() - began, line);
    ht_comm_end(comm, true, 7);
    exit(1);
}

int main(int argc, char **argv) {
    stop_on(ht_comm_start(&comm));
    rank = ht_comm_rank(comm);
    size = ht_comm_size(comm);
    if (argc > 1) fail(argv[1]);
    test_sums();
    test_broadcast_and_gather();
    test_collect();
    test_places_and_agreement();
    if (comm != NULL) {
        test_message_sizes();
        test_message_order();
        test_too_long();
    } else {
        struct ht_message *message = NULL;
        enum ht_err err = ht_message_send(comm, 0, 0, NULL, 0, &message);
        TEST_CHECK(err == HT_ERR_INTERNAL && !message, "alone: %s", ht_err_message());
        err = ht_comm_agree(comm, ht_err_set(HT_ERR_IO, "as it was"));
        TEST_CHECK(err == HT_ERR_IO, "alone a failure is %s", ht_err_message());
    }
    int code = rank == 0 ? test_end("unit/comm") : 0;
    ht_comm_end(comm, false, code);
    return code;
}
