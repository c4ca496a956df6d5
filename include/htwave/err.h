/* Errors: every function that can fail returns enum ht_err and leaves one message, in terms that a
 * user can act on, in the error record of the thread. Nothing below src/app prints an error or
 * exits.
 */
#ifndef HTWAVE_ERR_H
#define HTWAVE_ERR_H

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
#define HT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Records the message and returns code, so that `return ht_err_set(...)` reads as one statement. A
 * message already recorded is replaced. */
HT_PRINTF(2, 3) enum ht_err ht_err_set(enum ht_err code, const char *fmt, ...);

/* Puts "prefix: " in front of the recorded message; returns code. */
HT_PRINTF(2, 3)
enum ht_err ht_err_prefix(enum ht_err code, const char *fmt, ...);

/* The last message of this thread; never NULL. Valid until the next set. */
const char *ht_err_message(void);

/* Exit code of the program for a result: 0 done, 1 failed, 2 wrong input, 3 solution not finite, 4
 * a difference was found. */
int ht_err_exit_code(enum ht_err code);

#define TRY(call)                               \
    do {                                        \
        enum ht_err try_err_ = (call);          \
        if (try_err_ != HT_OK) return try_err_; \
    } while (0)
/* Returns the code itself, not the result of a call, so that static analysers see that it is not
 * HT_OK. */
#define FAIL(code, ...)                  \
    do {                                 \
        ht_err_set((code), __VA_ARGS__); \
        return (code);                   \
    } while (0)
#define REQUIRE(cond, code, ...)              \
    do {                                      \
        if (!(cond)) FAIL(code, __VA_ARGS__); \
    } while (0)

#endif
