/* Base services: each against values worked out by hand or published. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../test.h"
#include "htwave/base.h"
#include "io/scratch.h"
#include "redirect.h"

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER
#endif
#endif

static char *scratch;

/* A path, as long as three others have not been asked for. */
static const char *inside(const char *name) {
    static char paths[4][256];
    static int count;
    char *path = paths[count++ % 4];
    snprintf(path, sizeof *paths, "%s/%s", scratch, name);
    return path;
}

static bool says(const char *text) {
    return strstr(ht_err_message(), text) != NULL;
}

static enum ht_err chain(enum ht_err code) {
    TRY(code);
    REQUIRE(code != HT_OK, HT_ERR_INTERNAL, "reached %d", 7);
    return HT_OK;
}

static void test_err(void) {
    static char big[40000];
    TEST_CHECK(ht_err_set(HT_ERR_INPUT, "%s = %d", "a", 3) == HT_ERR_INPUT &&
                   strcmp(ht_err_message(), "a = 3") == 0,
               "err: set gives the code and records \"%s\"", ht_err_message());
    ht_err_prefix(HT_ERR_IO, "file %d", 4);
    TEST_CHECK(strcmp(ht_err_message(), "file 4: a = 3") == 0, "err: prefix gives \"%s\"",
               ht_err_message());
    ht_err_set(HT_ERR_IO, "<%s>", ht_err_message());
    TEST_CHECK(strcmp(ht_err_message(), "<file 4: a = 3>") == 0,
               "err: the record may be an argument: \"%s\"", ht_err_message());
    memset(big, 'x', sizeof big - 1);
    ht_err_set(HT_ERR_DEVICE, "%s", big);
    size_t length = strlen(ht_err_message());
    TEST_CHECK(length < sizeof big && says("xxx..."),
               "err: a long message is cut to %zu and marked", length);
    ht_err_set(HT_ERR_IO, "a\033[1m\x07\n\tb \xc3\xa9 \xc2\x9b \x9b \xc0\xaf \x7f");
    TEST_CHECK(
        !strcmp(ht_err_message(), "a\\x1b[1m\\x07\n\tb \xc3\xa9 \\xc2\\x9b \\x9b \\xc0\\xaf \\x7f"),
        "err: controls are shown: %s", ht_err_message());
    snprintf(big, sizeof big, "%05000d: must be less\nnext %s", 7, "line");
    ht_err_set(HT_ERR_IO, "%s", big);
    TEST_CHECK(strlen(ht_err_message()) < 820 && says("000...000") &&
                   says("0007: must be less\nnext line"),
               "err: a line of 5000 letters is cut in the middle to %zu", strlen(ht_err_message()));
    char shown[32];
    TEST_CHECK(!strcmp(ht_text_show("a\tb\nc\r", shown, 32), "a\tb\\nc\\x0d"), "text: shown as %s",
               shown);
    /* 25 two-byte letters are 50 bytes; 31 fit, none is cut in two. */
    char accents[51] = "";
    for (size_t i = 0; i < 25; i++) memcpy(&accents[2 * i], "\xc3\xa9", 3);
    ht_text_show(accents, shown, sizeof shown);
    TEST_CHECK(strlen(shown) < 32 && !strchr(shown, '\\') && strstr(shown, "\xa9...\xc3"),
               "text: cut between characters: %s", shown);
    TEST_CHECK(chain(HT_ERR_DEVICE) == HT_ERR_DEVICE, "err: TRY hands on %d",
               (int)chain(HT_ERR_DEVICE));
    TEST_CHECK(chain(HT_OK) == HT_ERR_INTERNAL && says("reached 7"),
               "err: REQUIRE fails with \"%s\"", ht_err_message());
    static const int code[] = {0, 2, 1, 1, 1, 3, 4, 1};
    for (int i = 0; i < 8; i++)
        TEST_EQUAL(ht_err_exit_code((enum ht_err)i), code[i], "err: exit code of error %d", i);
}

static void test_mem(void) {
    double *x = NULL;
    enum ht_err err = HT_ALLOC(x, 100);
    int zeros = 0;
    for (int i = 0; !err && i < 100; i++) zeros += x[i] == 0.0;
    TEST_EQUAL(zeros, 100, "mem: numbers that are zero");
    free(x);
    x = NULL;
    TEST_CHECK(HT_ALLOC(x, 0) == HT_OK && x, "mem: no items, a valid pointer");
    free(x);
    x = NULL;
    TEST_CHECK(ht_mem_alloc(SIZE_MAX / 4, 8, &x) == HT_ERR_MEMORY && !x,
               "mem: overflow refused: %s", ht_err_message());
#ifdef ADDRESS_SANITIZER
    TEST_SKIP("mem: exhaustion, at which the address sanitizer ends programs");
#else
    TEST_CHECK(ht_mem_alloc((size_t)1 << 50, 4096, &x) == HT_ERR_MEMORY && !x,
               "mem: exhaustion refused: %s", ht_err_message());
#endif
}

static void test_text(void) {
    struct ht_text text = {0};
    for (int i = 0; i < 1000; i++) ht_text_add(&text, "%d,", i);
    /* 10 of one digit, 90 of two, 900 of three, and the commas */
    TEST_CHECK(text.length == 10 + 180 + 2700 + 1000 && strlen(text.data) == text.length &&
                   ht_text_status(&text) == HT_OK,
               "text: a thousand appends give %zu characters (expected 3890)", text.length);
    ht_text_free(&text);
    TEST_CHECK(!text.data && !text.length, "text: free leaves it empty");
    ht_text_add_quoted(&text, "a\"b\\c\nd\te\x01\xc3\xa9", true);
    TEST_CHECK(strcmp(text.data, "\"a\\\"b\\\\c\\nd\\te\\u0001\xc3\xa9\"") == 0, "text: JSON %s",
               text.data);
    text.failed = true;
    ht_text_add(&text, "more");
    TEST_CHECK(ht_text_status(&text) == HT_ERR_MEMORY, "text: a failed append is remembered: %s",
               ht_err_message());
    ht_text_free(&text);
    HT_FREED char *copy = NULL;
    TEST_CHECK(ht_text_copy("abc", &copy) == HT_OK && !strcmp(copy, "abc"), "text: copy \"%s\"",
               copy);
}

static void test_nearest(void) {
    static const char *const name[] = {"grid.order", "grid.cells", "boundary.x1", "gaussian", "K"};
    static const struct {
        const char *word, *nearest;
    } row[] = {{"grid.ordr", "grid.order"},
               {"gird.order", "grid.order"},
               {"GRID.CELLS", "grid.cells"},
               {"gaus", "gaussian"},
               {"bounday.x1", "boundary.x1"},
               {"parallel", NULL},
               {"c", NULL},
               {"k", "K"},
               {"", NULL}};
    TEST_EACH(r, row) {
        const char *got = ht_text_nearest(r->word, name, 5);
        bool same = got && r->nearest ? strcmp(got, r->nearest) == 0 : !got && !r->nearest;
        TEST_CHECK(same, "nearest to \"%s\": %s (expected %s)", r->word, got ? got : "none",
                   r->nearest ? r->nearest : "none");
    }
    char longer[200];
    memset(longer, 'g', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    TEST_CHECK(!ht_text_nearest(longer, name, 5), "nearest to a word of 199 letters: none");
}

static void test_quantities(void) {
    static const struct {
        double value;
        const char *bytes, *seconds;
    } row[] = {{0, "0 B", "0 us"},
               {0.0325, NULL, "32 ms"},
               {320, "320 B", "5 min 20 s"},
               {3.21, NULL, "3.2 s"},
               {59.97, NULL, "1 min 00 s"},
               {1023.97, "1.0 KiB", NULL},
               {1536, "1.5 KiB", "25 min 36 s"},
               {3599.7, NULL, "1 h 00 min"},
               {3720, NULL, "1 h 02 min"},
               {86400 * 3 + 4 * 3600, NULL, "3 d 04 h"},
               {1.5 * 1073741824.0, "1.5 GiB", NULL},
               {1048575.9, "1.0 MiB", NULL},
               {NAN, NULL, "unknown time"}};
    char text[32];
    TEST_EACH(r, row) {
        if (r->bytes)
            TEST_CHECK(!strcmp(ht_text_bytes(r->value, text), r->bytes),
                       "bytes: %g is \"%s\" (expected \"%s\")", r->value, text, r->bytes);
        if (r->seconds)
            TEST_CHECK(!strcmp(ht_text_seconds(r->value, text), r->seconds),
                       "seconds: %g is \"%s\" (expected \"%s\")", r->value, text, r->seconds);
    }
}

static void test_numbers(void) {
    /* Vectors of the FNV reference code and of SplitMix64's. */
    TEST_CHECK(ht_hash(HT_HASH_SEED, "a", 1) == 0xaf63dc4c8601ec8cULL, "hash: \"a\" gives %016llx",
               (unsigned long long)ht_hash(HT_HASH_SEED, "a", 1));
    uint64_t whole = ht_hash(HT_HASH_SEED, "foobar", 6);
    uint64_t parts = ht_hash(ht_hash(HT_HASH_SEED, "foo", 3), "bar", 3);
    TEST_CHECK(whole == 0x85944171f73967e8ULL && parts == whole,
               "hash: \"foobar\" gives %016llx, in two parts %016llx", (unsigned long long)whole,
               (unsigned long long)parts);
    static const uint64_t expected[] = {6457827717110365317ULL, 3203168211198807973ULL,
                                        9817491932198370423ULL};
    for (uint64_t i = 0; i < 3; i++)
        TEST_CHECK(ht_rng_bits(1234567, i) == expected[i], "rng: seed 1234567 index %d gives %llu",
                   (int)i, (unsigned long long)ht_rng_bits(1234567, i));
    /* n uniform values: mean 0 +- 1/sqrt(3n), mean square 1/3 +- sqrt(4/45/n); five standard
     * deviations are allowed. */
    enum { COUNT = 100000 };
    double sum = 0, square = 0, lowest = 1, highest = -1;
    for (uint64_t i = 0; i < COUNT; i++) {
        double u = ht_rng_uniform(42, i);
        sum += u;
        square += u * u;
        lowest = fmin(lowest, u);
        highest = fmax(highest, u);
    }
    TEST_CHECK(lowest >= -1 && highest < 1, "rng: values in [%.6f, %.6f]", lowest, highest);
    TEST_BELOW(fabs(sum / COUNT), 5 / sqrt(3.0 * COUNT), "rng: mean");
    TEST_BELOW(fabs(square / COUNT - 1.0 / 3), 5 * sqrt(4.0 / 45 / COUNT),
               "rng: mean square minus 1/3");
    double before = ht_clock();
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    double slept = ht_clock() - before;
    TEST_CHECK(slept >= 0.0199 && slept < 5, "clock: 20 ms of sleep took %.4f", slept);
}

/* Whether show() writes this to standard error. */
static bool shows(void (*show)(void), const char *expected) {
    const char *path = inside("stderr");
    const int saved = begin_stderr(path);
    show();
    HT_FREED char *data = end_stderr(path, saved);
    return data != NULL && strcmp(data, expected) == 0;
}

static void show_messages(void) {
    ht_log("one %d", 1);
    ht_note("two");
    ht_log_level_set(HT_LOG_QUIET);
    ht_log("hidden");
    ht_note("hidden");
    ht_warn("three\033[31m");
    ht_log_level_set(HT_LOG_NORMAL);
}

static void show_quick_progress(void) {
    struct ht_progress p;
    ht_progress_start(&p, "wave", 100, "cell half-steps", 1e6);
    for (int i = 0; i <= 100; i++) ht_progress_update(&p, i);
    ht_progress_end(&p);
}

/* The clock is set back instead of waiting: 20 s passed for 10 of 40, 5 more at once (not due), 40
 * s for all. */
static void show_long_progress(void) {
    struct ht_progress p;
    ht_progress_start(&p, "wave", 40, "cell half-steps", 1e6);
    p.started -= 20;
    p.shown_at -= 20;
    ht_progress_update(&p, 10);
    ht_progress_update(&p, 15);
    p.started -= 20;
    ht_progress_update(&p, 40);
    ht_progress_update(&p, 40);
    ht_progress_end(&p);
}

static void test_log(void) {
    TEST_CHECK(shows(show_messages, "one 1\nnote: two\nwarning: three\\x1b[31m\n"),
               "log: messages by level");
    TEST_CHECK(shows(show_quick_progress, ""), "log: progress of quick work is silent");
    TEST_CHECK(shows(show_long_progress, "wave  25 % 500 kcell half-steps/s, 1 min 00 s left\n"
                                         "wave 100 % 1.00 Mcell half-steps/s, 40.0 s in all\n"),
               "log: progress of long work");
}

static long size_of(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (long)info.st_size : -1;
}

static void test_file(void) {
    enum { BIG = 200001 };
    static char big[BIG];
    char *data = NULL;
    size_t size = 0;
    const char *path = inside("data");
    for (int i = 0; i < BIG; i++) big[i] = (char)(i % 251);
    TEST_CHECK(ht_file_write(path, big, BIG) == HT_OK && ht_file_exists(path),
               "file: wrote %d bytes", BIG);
    TEST_CHECK(ht_file_read(path, &data, &size) == HT_OK && size == BIG &&
                   memcmp(data, big, BIG) == 0 && data[BIG] == '\0',
               "file: read %zu bytes back, the same", size);
    free(data);
    must(ht_file_write(path, "short", 5));
    TEST_EQUAL(size_of(path), 5, "file: bytes that replace it");
    TEST_ERROR(ht_file_read(inside("none"), &data, &size), HT_ERR_IO, "none: No such file", "file");
    TEST_ERROR(ht_file_read(scratch, &data, &size), HT_ERR_IO, "Is a directory", "file");
    TEST_ERROR(ht_file_write(inside("no/where"), "x", 1), HT_ERR_IO, "no/where: No such file",
               "file");
    TEST_CHECK(data == NULL, "nothing is given then");
}

/* Read without waiting, or refused before anything is read. */
static void test_file_kinds(void) {
    const char *path = inside("data"), *fifo = inside("pipe");
    HT_FREED char *data = NULL;
    size_t size = 0;
    int64_t bytes = 0;
    must(ht_file_size(path, &bytes));
    TEST_EQUAL(bytes, 5, "file: bytes");
    TEST_ERROR(ht_file_read_most(path, 4, &data, &size), HT_ERR_IO, "larger than 4 B", "file");
    TEST_CHECK(mkfifo(fifo, 0600) == 0 && !data, "a pipe, and no data");
    TEST_ERROR(ht_file_read(fifo, &data, &size), HT_ERR_IO, "named pipe", "file");
    remove(fifo);
    TEST_ERROR(ht_file_size("/dev/zero", &bytes), HT_ERR_IO, "device", "file");
    TEST_CHECK(!data && ht_file_read_most(path, 5, &data, &size) == HT_OK && size == 5,
               "file: the largest allowed, %zu bytes", size);
    free(data);
    TEST_CHECK(ht_file_read("/proc/self/stat", &data, &size) == HT_OK && size > 0,
               "file: %zu bytes of one that says it has none", size);
}

/* A disk that is full is played by a limit on the size of files. */
static void test_full_disk(void) {
    static char big[100000];
    const char *path = inside("data");
    limit_files(50000);
    enum ht_err err = ht_file_write(path, big, sizeof big);
    limit_files(RLIM_INFINITY);
    TEST_CHECK(err == HT_ERR_IO && says("cannot write") && says("too large"), "file: full: %s",
               ht_err_message());
    TEST_CHECK(size_of(path) == 5, "file: full: the old %ld bytes are there", size_of(path));
    TEST_CHECK(!ht_file_exists(inside(HT_KEY("data.tmp.%ld.0", (long)getpid()))),
               "file: full: nothing left behind");
}

static void test_commit(void) {
    const char *path = inside("data");
    HT_FREED char *one = NULL, *two = NULL;
    enum ht_err err = ht_file_temporary(path, &one);
    if (!err) err = ht_file_temporary(path, &two);
    TEST_CHECK(!err && strcmp(one, two) != 0 && size_of(one) == 0,
               "file: two temporary names differ");
    FILE *file = err ? NULL : fopen(one, "w");
    if (file) {
        fputs("committed", file);
        fclose(file);
    }
    TEST_CHECK(!err && ht_file_commit(one, path) == HT_OK && size_of(path) == 9 &&
                   !ht_file_exists(one),
               "file: committed %ld bytes", size_of(path));
    TEST_CHECK(!err && ht_file_commit(two, scratch) == HT_ERR_IO && !ht_file_exists(two),
               "file: commit refused, temporary removed: %s", ht_err_message());
    TEST_CHECK(!err && ht_file_commit(two, path) == HT_ERR_IO && says("No such file"),
               "file: commit of nothing: %s", ht_err_message());
}

static void test_directory(void) {
    static const struct {
        const char *path, *part;
    } refused[] = {{"data", "a file of this name"}, {"data/x", "data"}};
    const char *path = inside("a/b//c/");
    TEST_CHECK(ht_file_make_directory(path) == HT_OK && ht_file_exists(path), "directory: made %s",
               path);
    TEST_CHECK(ht_file_make_directory(path) == HT_OK && rmdir(path) == 0,
               "directory: there already, and empty after the probe");
    TEST_EACH(row, refused)
        TEST_ERROR(ht_file_make_directory(inside(row->path)), HT_ERR_IO, row->part, "directory");
    TEST_ERROR(ht_file_make_directory(""), HT_ERR_IO, "", "directory");
    TEST_ERROR(ht_file_make_directory("/proc/self"), HT_ERR_IO,
               "cannot write into directory /proc/self", "directory");
}

/* Another process that holds the lock until it is killed; its number. */
static pid_t lock_elsewhere(const char *path) {
    int ready[2];
    char byte = 0;
    struct ht_lock lock;
    if (pipe(ready) != 0) return -1;
    pid_t child = fork();
    if (child == 0) {
        bool good = ht_lock_take(path, &lock) == HT_OK && lock.state == HT_LOCK_TAKEN &&
                    write(ready[1], &byte, 1) == 1;
        if (!good) _exit(1);
        for (;;) pause();
    }
    close(ready[1]);
    bool good = child > 0 && read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    return good ? child : -1;
}

static void end_child(pid_t child) {
    if (child > 0 && kill(child, SIGKILL) == 0) waitpid(child, NULL, 0);
}

static void test_lock(void) {
    const char *path = inside("lock");
    char holder[HT_LOCK_HOLDER] = "", wanted[64];
    struct ht_lock lock;
    TEST_CHECK(!ht_lock_is_busy(path, holder), "lock: free before all");
    pid_t child = lock_elsewhere(path);
    snprintf(wanted, sizeof wanted, "process %ld on ", (long)child);
    TEST_CHECK(child > 0 && ht_lock_is_busy(path, holder) &&
                   strncmp(holder, wanted, strlen(wanted)) == 0,
               "lock: held by %s", holder);
    enum ht_err err = ht_lock_take(path, &lock);
    TEST_CHECK(!err && lock.state == HT_LOCK_BUSY && strcmp(lock.holder, holder) == 0,
               "lock: not given twice");
    ht_lock_release(&lock);
    TEST_CHECK(ht_lock_is_busy(path, holder), "lock: still held");
    end_child(child);
    TEST_CHECK(ht_file_exists(path) && !ht_lock_is_busy(path, holder),
               "lock: ends with the process, its file stays");
    err = ht_lock_take(path, &lock);
    TEST_CHECK(!err && lock.state == HT_LOCK_TAKEN, "lock: taken again");
    ht_lock_release(&lock);
    TEST_CHECK(!ht_file_exists(path), "lock: released, its file is gone");
    err = ht_lock_take(path, &lock);
    remove(path); /* and another process makes its own */
    child = err ? -1 : lock_elsewhere(path);
    ht_lock_release(&lock);
    TEST_CHECK(child > 0 && ht_lock_is_busy(path, holder),
               "lock: of a removed file, leaves that of others");
    end_child(child);
    remove(path);
    TEST_ERROR(ht_lock_take(inside("no/lock"), &lock), HT_ERR_IO, "no/lock: No such file", "lock");
}

static void clean(void) {
    static const char *const name[] = {"data", "stderr", "a/b", "a"};
    for (int i = 0; i < 4; i++) remove(inside(name[i]));
    TEST_CHECK(rmdir(scratch) == 0, "file: nothing else was left in %s", scratch);
}

int main(void) {
    if ((scratch = scratch_make("base")) == NULL) return 1;
    test_err();
    test_mem();
    test_text();
    test_nearest();
    test_quantities();
    test_numbers();
    test_log();
    test_file();
    test_file_kinds();
    test_full_disk();
    test_commit();
    test_directory();
    test_lock();
    clean();
    return test_end("base");
}
