/* Errors, memory, text, log, clock, files, hash, random numbers; threads of the host. */
#pragma once

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- err.c: what can fail returns enum ht_err and leaves a message in the thread's record ---- */

enum ht_err {
    HT_OK = 0,
    HT_ERR_INPUT,       /* the user's input breaks a stated rule */
    HT_ERR_MEMORY,      /* host memory */
    HT_ERR_DEVICE,      /* device, driver, kernel compilation, device memory */
    HT_ERR_IO,          /* files, directories, disk */
    HT_ERR_NOT_FINITE,  /* the solution holds NaN or infinity */
    HT_ERR_DIFFERENT,   /* compare or converge found a difference */
    HT_ERR_INTERRUPTED, /* by a signal; results so far are written */
    HT_ERR_COMM,        /* messages between ranks */
    HT_ERR_ELSEWHERE,   /* another rank has failed; it has the message */
    HT_ERR_INTERNAL     /* a broken invariant of htwave */
};

enum { HT_ERR_MESSAGE = 16384 }; /* most bytes of a message, with its NUL */

#define HT_CHECKED __attribute__((warn_unused_result))
#define HT_ERR HT_CHECKED enum ht_err     /* of what can fail */
#define HT_UNUSED __attribute__((unused)) /* of a parameter, or what ends a block */
#define HT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Records the message in place of the one before; returns code. */
HT_PRINTF(2, 3) enum ht_err ht_err_set(enum ht_err code, const char *fmt, ...);

/* Puts "prefix: " in front of the recorded message; returns code. */
#define ht_err_prefix(code, fmt, ...) ht_err_set((code), fmt ": %s", __VA_ARGS__, ht_err_message())

/* Never NULL; valid until the next set. */
const char *ht_err_message(void);

/* 0 done, 1 failed, 2 wrong input, 3 solution not finite, 4 a difference was found. */
int ht_err_exit_code(enum ht_err code);

#define TRY(call)                               \
    do {                                        \
        enum ht_err try_err_ = (call);          \
        if (try_err_ != HT_OK) return try_err_; \
    } while (0)
/* Returns the code itself, not the result of a call, so that analysers see that it is not HT_OK. */
#define FAIL(code, ...)                  \
    do {                                 \
        ht_err_set((code), __VA_ARGS__); \
        return (code);                   \
    } while (0)
#define REQUIRE(cond, code, ...)              \
    do {                                      \
        if (!(cond)) FAIL(code, __VA_ARGS__); \
    } while (0)

/* ---- log.c: progress and messages, on standard error ---- */
enum ht_log_level {
    HT_LOG_SILENT, /* of ranks whose messages another rank prints */
    HT_LOG_QUIET,
    HT_LOG_NORMAL,
    HT_LOG_VERBOSE
};
void ht_log_level_set(enum ht_log_level level); /* of this thread */
enum ht_log_level ht_log_level_get(void);
/* Messages of this thread go there from now on, without progress; NULL: to standard error again.
 * head: "", "note: " or "warning: ". */
typedef void ht_log_take(void *context, const char *head, const char *text);
void ht_log_to(ht_log_take *take, void *context);
HT_PRINTF(1, 2) void ht_log(const char *fmt, ...);  /* NORMAL and above */
HT_PRINTF(1, 2) void ht_note(const char *fmt, ...); /* "note: ..." likewise */
HT_PRINTF(1, 2) void ht_warn(const char *fmt, ...); /* QUIET and above */
int ht_log_warnings(void);                          /* of this thread so far */
/* A progress line, silent for two seconds. On a terminal it is rewritten in place; elsewhere one is
 * printed every ~10 % or 10 s. done <= total. */
struct ht_progress {
    const char *what, *unit;
    double total, units_per_item;
    double started, shown_at, shown_done;
    double begun; /* items done before it was started */
    _Atomic int64_t added;
    bool shown;
};
void ht_progress_start(struct ht_progress *p, const char *what, double total, const char *unit,
                       double units_per_item);
void ht_progress_update(struct ht_progress *p, double done);
/* By any thread of ht_threads_run. */
void ht_progress_add(struct ht_progress *p, int64_t items);
void ht_progress_end(struct ht_progress *p);

/* ---- threads.c: runs of this thread end after the current steps once `wanted` says so, which is
 * asked between batches of steps: signals of the program, the caller of the library ---- */
void ht_stop_by(bool (*wanted)(void *context), void *context); /* NULL: nobody ends them */
bool ht_stop_wanted(void);

/* ---- whole numbers ---- */
static inline int64_t ht_least(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static inline int64_t ht_most(int64_t a, int64_t b) {
    return a > b ? a : b;
}
/* Number of the first bit from `first` on that is set; 32: none is. */
static inline int ht_bit(unsigned bits, int first) {
    while (first < 32 && !(bits >> first & 1u)) first++;
    return first;
}
/* Loops over the numbers of the bits that are set, over the items of a list, these with the number
 * i of x, and with x by i; `break` ends the loop. Names cannot stand in parentheses. NOLINTBEGIN */
#define HT_EACH_BIT(i, bits) for (int i = ht_bit(bits, 0); i < 32; i = ht_bit(bits, i + 1))
#define HT_EACH(type, x, list, count) \
    for (type *x = (list), *x##_end = x + (count); x < x##_end; x++)
#define HT_EACH_AT(i, type, x, list, count) HT_EACH_BY(i, type, x, (list) + i, count)
#define HT_EACH_BY(i, type, x, at, count)                   \
    for (int i = 0, x##_on = 1; x##_on && i < (count); i++) \
        for (type *x = (x##_on = 0, (at)); !x##_on; x##_on = 1)
/* NOLINTEND */
static inline int ht_real_size(bool fp64) {
    return fp64 ? 8 : 4;
}
static inline const char *ht_real_name(bool fp64) {
    return fp64 ? "double" : "single";
}
/* Of positive numbers. */
static inline int64_t ht_divide_up(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

/* ---- memory and lists; text.c ---- */
/* *out = zeroed array of count * size bytes, freed with free(); count 0 gives a valid pointer. */
HT_ERR ht_mem_alloc(size_t count, size_t size, void *out);
#define HT_ALLOC(pointer, count) ht_mem_alloc((size_t)(count), sizeof *(pointer), &(pointer))
/* Bytes that this machine, or what limits its processes, can still give without swapping;
 * infinite: not known. */
double ht_mem_free(void);
/* Of a local variable: its address is passed to a function at the end of its block, which frees the
 * memory that it points to, or its text. Set to NULL what is handed over. */
#define HT_ENDED(by) __attribute__((cleanup(by)))
/* For HT_ENDED(NAME_end) struct NAME *x, of an object that NAME_destroy ends. */
#define HT_ENDS(name)                                 \
    static inline void name##_end(struct name **of) { \
        name##_destroy(*of);                          \
    }
#define HT_FREED HT_ENDED(ht_mem_release)
#define HT_FREED_TEXT HT_ENDED(ht_text_free)
void ht_mem_release(void *address); /* of a pointer */
/* A local array, which is freed so. */
#define HT_ARRAY(type, name, count) \
    HT_FREED type *name = NULL;     \
    TRY(HT_ALLOC(name, count))
/* The end of a function that makes an object: hands it over in *out, or after an error destroys it
 * and hands over NULL; has the value of err, a variable, which is read twice. What fails before
 * leaves *out as it is: NULL. */
#define HT_MADE(err, made, destroy, out) \
    (*(out) = (err) == HT_OK ? (made) : ((destroy)(made), NULL), (err))
/* The same of an object at *out, zeroed, of which `making` is a call that sets it. */
#define HT_CREATE(out, making, destroy)                      \
    do {                                                     \
        *(out) = NULL;                                       \
        TRY(HT_ALLOC(*(out), 1));                            \
        const enum ht_err made_err_ = (making);              \
        return HT_MADE(made_err_, *(out), (destroy), (out)); \
    } while (0)
/* A list of `*room` items, NULL or allocated, gets room for `count`; after a failure it is as it
 * was. out: address of the pointer. */
HT_ERR ht_mem_grow(int64_t count, size_t size, void *out, int64_t *room);
#define HT_GROW(pointer, count, room) ht_mem_grow(count, sizeof *(pointer), &(pointer), &(room))

/* Memory that is freed together, zero at first; HT_TAKE is HT_ALLOC from it. */
struct ht_pool {
    struct ht_pool_part *last;
};
HT_ERR ht_pool_take(struct ht_pool *pool, size_t count, size_t size, void *out);
#define HT_TAKE(pool, pointer, count) \
    ht_pool_take((pool), (size_t)(count), sizeof *(pointer), &(pointer))
HT_ERR ht_pool_copy(struct ht_pool *pool, const char *string, char **out);
void ht_pool_free(struct ht_pool *pool);

/* ---- text.c ---- */
/* A growing string; ht_text_status says whether an append has failed. */
struct ht_text {
    char *data; /* NUL-terminated after the first append; owned */
    size_t length;
    int64_t room;
    bool failed;
};
HT_PRINTF(2, 3) void ht_text_add(struct ht_text *text, const char *fmt, ...);
HT_PRINTF(2, 0) void ht_text_add_list(struct ht_text *text, const char *fmt, va_list args);
/* In quotes, escaped as JSON, else as libconfig has it. */
void ht_text_add_quoted(struct ht_text *text, const char *string, bool json);
/* By the fewest digits, `fewest` or more, that read back as the same number. */
void ht_text_add_real(struct ht_text *text, int fewest, double value);
HT_ERR ht_text_status(const struct ht_text *text);
void ht_text_free(struct ht_text *text);
HT_ERR ht_text_copy(const char *string, char **out);
/* The pattern with a number in place of each *; free it. */
HT_ERR ht_text_numbered(const char *pattern, int number, char **out);
/* *out: a new string, NULL after a failure; free it. */
HT_CHECKED HT_PRINTF(2, 3) enum ht_err ht_text_print(char **out, const char *fmt, ...);
/* Text from outside for a message: control characters but the tab, and bytes that are not UTF-8,
 * become text such as \x1b; what exceeds buffer (size bytes, at least 32) loses its middle. */
char *ht_text_show(const char *string, char *buffer, size_t size); /* buffer */
/* Each line, of which one of `line` bytes or more loses its middle; returns those for which there
 * is no room. size: at least line + 8. */
const char *ht_text_show_lines(const char *text, size_t line, char *buffer, size_t size);
/* For arguments of a message: buffers that live as long as the block. */
#define HT_SHOWN(string) ht_text_show((string), (char[112]){0}, 112)
#define HT_SHOWN_PLACE(place) ht_text_show((place), (char[256]){0}, 256)
/* The entry of names (count of them) nearest to word by edit distance, or NULL when none is near
 * enough to suggest. */
const char *ht_text_nearest(const char *word, const char *const *names, int count);
/* Place of a word in a list as "a|b|c", -1: it is not there; blanks before words do not count. */
int ht_text_find(const char *list, char between, const char *word);
/* snprintf; returns buffer. Append: behind the text that is there. */
HT_PRINTF(3, 4) char *ht_text_format(char *buffer, size_t size, const char *fmt, ...);
HT_PRINTF(3, 4) char *ht_text_append(char *buffer, size_t size, const char *fmt, ...);
/* "1.5 GiB", "320 B" into buffer (at least 32 bytes); returns buffer. */
char *ht_text_bytes(double bytes, char *buffer);
/* "1.2 M", padded "1.20 M" into buffer (at least 32 bytes); returns buffer. */
char *ht_text_prefixed(double value, bool padded, char *buffer);
/* "1 h 02 min", "3.2 s" into buffer (at least 32 bytes); returns buffer. */
char *ht_text_seconds(double seconds, char *buffer);
/* "80 x 60" into buffer (at least 192 bytes, of up to 8 numbers); returns buffer. */
char *ht_text_extents(int count, const int64_t *extent, const char *between, char *buffer);
/* For arguments of a message. */
#define HT_EXTENTS(count, extent) ht_text_extents((count), (extent), " x ", (char[192]){0})
#define HT_BYTES(bytes) ht_text_bytes((double)(bytes), (char[32]){0})
#define HT_PREFIXED(value) ht_text_prefixed((value), false, (char[32]){0})
#define HT_SECONDS(seconds) ht_text_seconds((seconds), (char[32]){0})
#define HT_KEY(...) ht_text_format((char[96]){0}, 96, __VA_ARGS__)

double ht_clock(void); /* monotonic seconds; log.c */

/* ---- FNV-1a, 64 bits; start from HT_HASH_SEED ---- */
#define HT_HASH_SEED 0xcbf29ce484222325ULL
uint64_t ht_hash(uint64_t seed, const void *data, size_t size);

/* ---- random numbers that depend on seed and index alone (SplitMix64) ---- */
uint64_t ht_rng_bits(uint64_t seed, uint64_t index);
double ht_rng_uniform(uint64_t seed, uint64_t index); /* in [-1, 1) */

/* ---- file.c ---- */
/* Whole file into *data (owned by the caller, NUL-terminated past size); refuses, without waiting,
 * what is no regular file, and files larger than `most` before reading them. */
HT_ERR ht_file_read_most(const char *path, size_t most, char **data, size_t *size);
#define ht_file_read(path, data, size) ht_file_read_most((path), SIZE_MAX, (data), (size))
/* Refuses likewise. */
HT_ERR ht_file_size(const char *path, int64_t *size);
HT_ERR ht_file_hash(const char *path, uint64_t *hash);
/* Calls `take` for each line of a text file that has numbers: `columns` finite ones (at most 6),
 * separated by blanks, tabs, commas or semicolons; what follows # is a comment. `must`: what a line
 * must be, for messages. */
typedef enum ht_err ht_file_row(void *context, int64_t line, const double *row);
HT_ERR ht_file_rows(const char *path, int columns, const char *must, ht_file_row *take,
                    void *context);
/* How many numbers begin the first line that begins with some; 0: there is none. */
HT_ERR ht_file_columns(const char *path, int *columns);
/* Complete or absent, also when the disk is full; folder NULL: name is a path. */
HT_ERR ht_file_write_in(const char *folder, const char *name, const void *data, size_t size);
#define ht_file_write(path, data, size) ht_file_write_in(NULL, (path), (data), (size))
/* For signal handlers that end the process: removes the temporary file of ht_file_write_in. */
void ht_file_abandon(void);
/* mkdir -p; verifies that a file can be created inside. */
HT_ERR ht_file_make_directory(const char *path);
/* Whether that would succeed; makes none. */
HT_ERR ht_file_check_directory(const char *path);
/* The nearest folder above a path that exists; the caller frees it. */
HT_ERR ht_file_above(const char *path, char **out);
/* An empty file that ht_file_commit syncs and renames to path, for writers that need a path. A
 * commit that fails removes it; a caller that fails before must. Free the name. */
HT_ERR ht_file_temporary(const char *path, char **temporary);
HT_ERR ht_file_commit(const char *temporary, const char *path);
/* A stream to a temporary file of folder/name (folder NULL: of the path `name`), which
 * ht_stream_close commits where err is HT_OK, and removes otherwise. */
struct ht_stream {
    char *path, *temporary;
    FILE *file;
    int error; /* errno of a failed write; 0: none, or not known */
};
HT_ERR ht_stream_open(const char *folder, const char *name, struct ht_stream *out);
HT_ERR ht_stream_close(struct ht_stream *stream, enum ht_err err);
/* Forces a temporary file to disk; path is for messages. */
HT_ERR ht_file_sync(const char *temporary, const char *path);
bool ht_file_exists(const char *path);
/* folder/name in *out, freed by the caller; folder may end with a slash. */
HT_ERR ht_file_path(const char *folder, const char *name, char **out);
/* A local one, which is freed so. */
#define HT_PATH(path, folder, name) \
    HT_FREED char *path = NULL;     \
    TRY(ht_file_path(folder, name, &(path)))
/* It belongs to the user of this process, and nobody else can write it. */
bool ht_file_is_private(const char *path);

/* ---- lock.c ---- */
/* Held by one process at a time, until it ends. */
enum { HT_LOCK_HOLDER = 128 };
struct ht_lock {
    enum ht_lock_state {
        HT_LOCK_UNKNOWN, /* the file system has no locks */
        HT_LOCK_TAKEN,
        HT_LOCK_BUSY /* another process has it: see holder */
    } state;
    int fd;
    char *path, holder[HT_LOCK_HOLDER]; /* "process 12 on host" */
};
/* Creates the file at path and locks it, without waiting. */
HT_ERR ht_lock_take(const char *path, struct ht_lock *lock);
/* Whether another process has it now; holder is set then. */
bool ht_lock_is_busy(const char *path, char holder[HT_LOCK_HOLDER]);
/* Removes the file if this process locked it. */
void ht_lock_release(struct ht_lock *lock);

/* ---- threads.c: independent chunks of work (docs/developers/architecture.md) ---- */
int ht_threads_cores(void);
/* The most threads of this process, the caller among them; 0, as at first: ht_threads_cores. */
void ht_threads_set(int threads);
int ht_threads_count(void);

/* Number of this thread, 0 .. ht_threads_count() - 1: 0 but in threads that ht_threads_run made. */
int ht_threads_worker(void);

/* Runs the chunks 0 .. chunks - 1; they begin in this order. The error is that of the lowest chunk
 * that fails; chunks above may have run. */
HT_ERR ht_threads_run(int64_t chunks, enum ht_err (*run)(void *data, int64_t chunk), void *data);
/* Runs items 0 .. items - 1 in chunks [begin, end) of `least` or more, cut by ht_threads_chunks. */
HT_ERR ht_threads_share(int64_t items, int64_t least,
                        enum ht_err (*run)(void *data, int64_t begin, int64_t end), void *data);
/* Several for each thread, one where there is one thread. */
int64_t ht_threads_chunks(int64_t items, int64_t least);
/* The first item of a chunk; that of chunk `chunks` is `items`. */
static inline int64_t ht_threads_first(int64_t items, int64_t chunks, int64_t chunk) {
    return items / chunks * chunk + items % chunks * chunk / chunks;
}
