/* The cache of compiled programs: a second build comes from it; whatever is wrong with a file means
 * compiling anew and a good file afterwards; two processes at once and a directory that cannot be
 * written do no harm. Every build is also run, so a wrong program would show. PoCL's own cache is
 * turned off, except in one case: with it there is no other.
 *
 * The layout of a file is that of src/device/cache.c: magic[24], three 64-bit numbers (size of key,
 * size of binary, checksum), key, binary. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler.h"
#include "device_scene.h"
#include "io/scratch.h"
#include "redirect.h"

enum { HEADER = 48, MAX_PATH = 512 };

struct file {
    char path[MAX_PATH];
    char *data;
    size_t size;
};

/* The only cache file in a directory; false when there is not just one. */
static bool read_only_file(const char *directory, struct file *file) {
    int count = 0;
    DIR *stream = opendir(directory);
    file->data = NULL;
    for (struct dirent *e; stream && (e = readdir(stream)) != NULL;)
        if (e->d_name[0] != '.') {
            snprintf(file->path, sizeof file->path, "%s/%.200s", directory, e->d_name);
            count++;
        }
    if (stream) closedir(stream);
    return count == 1 && ht_file_read(file->path, &file->data, &file->size) == HT_OK;
}

/* The user's alone: what others can write is refused unread. */
static void write_file(const char *path, const char *data, size_t size) {
    if (ht_file_write(path, data, size) == HT_OK && chmod(path, S_IRUSR | S_IWUSR) == 0) return;
    printf("not ok - set-up: %s\n", ht_err_message());
    exit(1);
}

/* Builds, runs: the program must be right, and from the cache or not as expected. */
static void expect_build(struct ht_device *device, int more, const char *cache, bool cached,
                         const char *what) {
    HT_FREED char *text = adding_text(more);
    struct ht_program *program = NULL;
    ht_device_cache(device, cache);
    enum ht_err err = ht_program_build(device, text, &program);
    bool got = err == HT_OK && ht_program_cached(program);
    double added = err == HT_OK ? added_by(device, program) : (double)NAN;
    TEST_CHECK(err == HT_OK && got == cached && added == more + 0.5,
               "%s: %s, adds %g (expected %s, %g)%s", what, got ? "cached" : "compiled", added,
               cached ? "cached" : "compiled", more + 0.5, test_said(err));
    ht_program_destroy(program);
}

/* Puts `data` where the good file was: not taken, repaired, then taken. */
static void expect_repair(struct ht_device *device, const char *cache, const struct file *good,
                          const char *data, size_t size, const char *what) {
    struct file now;
    char name[128];
    write_file(good->path, data, size);
    expect_build(device, 1, cache, false, what);
    bool one = read_only_file(cache, &now);
    TEST_CHECK(one && now.size > HEADER && (now.size != size || memcmp(now.data, data, size) != 0),
               "%s: replaced by a file of %d bytes", what, one ? (int)now.size : -1);
    free(now.data);
    snprintf(name, sizeof name, "%s: and then", what);
    expect_build(device, 1, cache, true, name);
}

static uint64_t number_at(const struct file *file, size_t at) {
    uint64_t value;
    memcpy(&value, file->data + at, sizeof value);
    return value;
}

/* A byte turned over at places of every part; the checksum or a comparison must see each. */
static void test_flips(struct ht_device *device, const char *cache, struct file *good) {
    size_t key = (size_t)number_at(good, 24);
    const struct {
        const char *part;
        size_t at;
    } flips[] = {{"magic", 3},
                 {"size of the key", 24},
                 {"size of the binary", 32},
                 {"high byte of the size of the binary", 39},
                 {"checksum", 40},
                 {"key", HEADER + 2},
                 {"last byte of the key", HEADER + key - 1},
                 {"first byte of the binary", HEADER + key},
                 {"middle of the binary", (HEADER + key + good->size) / 2},
                 {"last byte", good->size - 1}};
    TEST_EACH(row, flips) {
        char name[96];
        snprintf(name, sizeof name, "flipped in %s", row->part);
        good->data[row->at] ^= 0x20;
        expect_repair(device, cache, good, good->data, good->size, name);
        good->data[row->at] ^= 0x20;
    }
}

static void test_lengths(struct ht_device *device, const char *cache, const struct file *good) {
    const size_t sizes[] = {0,
                            10,
                            HEADER - 1,
                            HEADER,
                            HEADER + 100,
                            HEADER + (size_t)number_at(good, 24),
                            good->size / 2,
                            good->size - 1};
    char name[64], *longer = malloc(good->size + 1);
    if (longer == NULL) exit(1);
    TEST_EACH(row, sizes) {
        snprintf(name, sizeof name, "cut to %d of %d bytes", (int)*row, (int)good->size);
        expect_repair(device, cache, good, good->data, *row, name);
    }
    memcpy(longer, good->data, good->size);
    longer[good->size] = 0;
    expect_repair(device, cache, good, longer, good->size + 1, "a byte longer");
    for (size_t n = 0; n < good->size; n++) longer[n] = (char)ht_rng_bits(5, (uint64_t)n);
    expect_repair(device, cache, good, longer, good->size, "noise");
    free(longer);
}

/* Makes the checksum fit again after a change of key or binary. */
static void sign_file(struct file *file) {
    uint64_t sum = ht_hash(HT_HASH_SEED, file->data + HEADER, file->size - HEADER);
    memcpy(file->data + 40, &sum, sizeof sum);
}

/* Files whole in themselves, for something else: the key is compared in full, and a driver that
 * refuses a binary is asked to compile. */
static void test_strangers(struct ht_device *device, const char *cache, struct file *good) {
    size_t key = (size_t)number_at(good, 24);
    HT_FREED char *copy = malloc(good->size);
    if (copy == NULL) exit(1);
    memcpy(copy, good->data, good->size);
    sign_file(good);
    TEST_CHECK(memcmp(copy, good->data, good->size) == 0, "the checksum is that of key and binary");
    good->data[HEADER + 1] ^= 1;
    sign_file(good);
    expect_repair(device, cache, good, good->data, good->size, "key of another device");
    memcpy(good->data, copy, good->size);
    good->data[HEADER + key - 4] ^= 1;
    sign_file(good);
    expect_repair(device, cache, good, good->data, good->size, "key of another text");
    memcpy(good->data, copy, good->size);
    memset(good->data + HEADER + key, 'x', good->size - HEADER - key);
    sign_file(good);
    expect_repair(device, cache, good, good->data, good->size, "a binary that the driver refuses");
    memcpy(good->data, copy, good->size);
}

/* Under the most open umask the cache is the user's alone; what others can write, or own, is
 * compiled anew. */
static void test_others(struct ht_device *device, const char *cache, const char *file) {
    enum { NOBODY = 65534 };
    struct stat info[2];
    TEST_CHECK(stat(cache, &info[0]) == 0 && stat(file, &info[1]) == 0 &&
                   (info[0].st_mode & 077) == 0 && (info[1].st_mode & 077) == 0,
               "folder and file are the user's alone: %o, %o", info[0].st_mode & 0777,
               info[1].st_mode & 0777);
    for (int i = 0; i < 2; i++) {
        const char *path = i ? file : cache;
        (void)chmod(path, info[i].st_mode | S_IWGRP);
        expect_build(device, 1, cache, false,
                     i ? "a file that the group can write" : "a folder that the group can write");
        (void)chmod(path, info[i].st_mode);
        expect_build(device, 1, cache, true, "and that it cannot");
        if (geteuid() == NOBODY || chown(path, NOBODY, (gid_t)-1) != 0) {
            TEST_SKIP("files of another user: only root can make them");
            continue;
        }
        expect_build(device, 1, cache, false, "of another user");
        TEST_CHECK(i > 0 || chown(path, info[i].st_uid, (gid_t)-1) == 0,
                   "the folder is given back");
        expect_build(device, 1, cache, true, "of this user again");
    }
}

static void test_cache(struct ht_device *device, const char *root) {
    HT_FREED char *cache = scratch_path(root, "made/on/demand");
    struct file good;
    expect_build(device, 1, NULL, false, "without a cache");
    TEST_CHECK(!ht_file_exists(cache), "which leaves no directory");
    expect_build(device, 1, cache, false, "first build");
    bool one = read_only_file(cache, &good);
    TEST_CHECK(one, "it leaves one file");
    if (one) {
        expect_build(device, 1, cache, true, "second build");
        test_lengths(device, cache, &good);
        test_flips(device, cache, &good);
        test_strangers(device, cache, &good);
        test_others(device, cache, good.path);
    }
    free(good.data);
    expect_build(device, 2, cache, false, "another text");
    expect_build(device, 2, cache, true, "another text again");
    expect_build(device, 1, cache, true, "the first text still");
    TEST_CHECK(scratch_entries(cache) == 2, "%d files for two texts", scratch_entries(cache));
}

/* What a build with an impossible cache writes to standard error. */
static void test_unwritable(struct ht_device *device, const char *root, enum ht_log_level level,
                            bool note) {
    HT_FREED char *file = scratch_path(root, "file"), *said = NULL;
    HT_FREED char *cache = scratch_path(file, "cache");
    HT_FREED char *log = scratch_path(root, "stderr");
    write_file(file, "x", 1);
    const int saved = begin_stderr(log);
    ht_log_level_set(level);
    expect_build(device, 3, cache, false, "a cache that cannot be made");
    ht_log_level_set(HT_LOG_NORMAL);
    said = end_stderr(log, saved);
    const bool read = said != NULL;
    bool noted = read && strstr(said, "note: compiled kernels are not cached");
    bool named = read && strstr(said, file);
    TEST_CHECK(read && noted == note && named == note, "said of it at log level %d: \"%.*s\"",
               level, said ? (int)strcspn(said, "\n") : 0, said ? said : "");
}

/* A driver that keeps compiled programs by itself is left to it. */
static void test_driver_cache(const char *root) {
    HT_FREED char *cache = scratch_path(root, "unused");
    (void)unsetenv("POCL_KERNEL_CACHE");
    struct ht_device *device = test_device_here();
    if (device != NULL && ht_device_info(device)->caches) {
        expect_build(device, 1, cache, false, "beside the driver's cache");
        expect_build(device, 1, cache, false, "and again");
        TEST_CHECK(!ht_file_exists(cache), "which leaves no directory");
    }
    ht_device_close(device);
}

enum { NO_DEVICE = 77 };

/* A separate process: 0 if it built and ran the program. */
static int build_once(const char *cache, int ready) {
    struct ht_device *device = NULL;
    struct ht_program *program = NULL;
    char *text = adding_text(1), byte;
    int code = test_open_device(&device) == HT_OK ? 1 : NO_DEVICE;
    if (device != NULL) ht_device_cache(device, cache);
    if (device != NULL && read(ready, &byte, 1) == 0 && /* all start when the pipe closes */
        ht_program_build(device, text, &program) == HT_OK && added_by(device, program) == 1.5)
        code = 0;
    ht_program_destroy(program);
    ht_device_close(device);
    free(text);
    return code;
}

/* Before this process opens a device: drivers do not outlive a fork. */
static void test_processes(const char *root) {
    enum { PROCESSES = 3 };
    HT_FREED char *cache = scratch_path(root, "shared");
    int pipes[2], good = 0, without = 0;
    pid_t child[PROCESSES];
    fflush(stdout);
    if (pipe(pipes) != 0) exit(1);
    for (int p = 0; p < PROCESSES; p++) {
        child[p] = fork();
        if (child[p] != 0) continue;
        close(pipes[1]);
        int code = build_once(cache, pipes[0]);
        free(cache);
        _exit(code);
    }
    close(pipes[0]);
    close(pipes[1]);
    for (int p = 0; p < PROCESSES; p++) {
        int status = 1;
        if (child[p] < 0 || waitpid(child[p], &status, 0) != child[p]) continue;
        good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
        without += WIFEXITED(status) && WEXITSTATUS(status) == NO_DEVICE;
    }
    if (without < PROCESSES) {
        TEST_CHECK(good == PROCESSES, "%d of %d processes built and ran at once", good,
                   (int)PROCESSES);
        TEST_CHECK(scratch_entries(cache) == 1, "they left %d files (expected 1)",
                   scratch_entries(cache));
    }
}

int main(void) {
    char *root = scratch_make("program_cache"), *shared;
    if (root == NULL) return 1;
    (void)setenv("POCL_KERNEL_CACHE", "0", 1);
    test_optimise(false);
    (void)umask(0);
    test_processes(root);
    struct ht_device *device = test_device_here();
    if (device != NULL) {
        shared = scratch_path(root, "shared");
        expect_build(device, 1, shared, true, "the processes' file");
        free(shared);
        test_cache(device, root);
        test_unwritable(device, root, HT_LOG_NORMAL, false);
        test_unwritable(device, root, HT_LOG_VERBOSE, true);
        ht_device_close(device);
    }
    test_driver_cache(root);
    scratch_remove(root);
    return test_end("program_cache");
}
