/* Rules for the contents of output.directory when a run begins:
 *
 * 1. One run at a time: the run holds a lock on the file .htwave.lock until it
 * ends. Another run is refused.
 *
 * 2. Files that the run reads are neither written nor moved nor removed. A
 * snapshot among them keeps its number, and the new ones have higher numbers. Any other file whose
 * name the run would write is an error.
 *
 * 3. All other outputs, whose names are in the table below, are moved to a new
 * folder run-NNN inside. A snapshot that stays is also linked there, so that the earlier run is
 * complete.
 *
 * 4. All other files are left alone.
 *
 * All refusals come before the first change. */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME ".htwave.lock"
#define OLD_NAME "run-%03d"

/* Names of outputs: digits > 0 stands for a number of at least so many digits, perhaps after a name
 * that the input gives and "_" (NAMED); ANY_NAME for such a name, and the ending of a format. */
#define ANY_NAME SIZE_MAX
#define NAMED ((size_t)64)
static const struct {
    const char *before;
    size_t digits;
    const char *after;
} outputs[] = {
    {HT_INPUT_NAME, 0, ""},    {HT_SUMMARY_NAME, 0, ""},     {HT_XDMF_NAME, 0, ""},
    {"fields_", 6, ".h5"},     {"wave_", 4 | NAMED, ".png"}, {HT_TRACES_NAME, 0, ""},
    {"traces_", ANY_NAME, ""}, {HT_SERIES_NAME, 0, ""},
};
enum { OUTPUTS = sizeof outputs / sizeof outputs[0], SNAPSHOT = 3 };

/* Contents of the directory before the run. */
struct listing {
    int count;
    int64_t room;
    struct entry {
        char *name;
        bool unfinished; /* a temporary file of a process that has ended */
        bool read;       /* by this run */
    } * entry;
    int first, last_old; /* numbers: of the first snapshot, of folders */
};

/* ---- names ---- */

/* Up to and with the last "_" of name[0..count). */
static size_t name_length(const char *name, size_t count) {
    size_t length = count;
    while (length > 0 && name[length - 1] != '_') length--;
    return length;
}

/* Whether name is before, `digits` as above, after; length: of name. */
static bool is_numbered(const char *name, size_t length, const char *before, size_t digits,
                        const char *after) {
    size_t skip = strlen(before), end = strlen(after);
    if (length < skip + end || strncmp(name, before, skip) != 0) return false;
    if (strncmp(name + length - end, after, end) != 0) return false;
    size_t count = length - skip - end;
    if (digits == ANY_NAME) {
        size_t dot = length - 1;
        while (dot > skip && name[dot] != '.') dot--;
        return dot > skip && ht_trace_ends(name + dot + 1, length - dot - 1);
    }
    if (digits & NAMED) {
        size_t named = name_length(name + skip, count);
        digits -= NAMED;
        skip += named;
        count -= named;
    }
    if (strspn(name + skip, "0123456789") < count) return false;
    return digits > 0 ? count >= digits : count == 0;
}

/* Row of the table, or OUTPUTS. */
static int output_kind(const char *name, size_t length) {
    int kind = 0;
    while (kind < OUTPUTS && !is_numbered(name, length, outputs[kind].before, outputs[kind].digits,
                                          outputs[kind].after))
        kind++;
    return kind;
}

/* The number after `before`; INT_MAX when it is as large or larger. */
static int number_of(const char *name, const char *before) {
    long number = strtol(name + strlen(before), NULL, 10);
    return number < INT_MAX ? (int)number : INT_MAX;
}

/* Whether the name is OUTPUT.tmp.PROCESS.NUMBER, as ht_file_temporary names it, of a process that
 * has ended. Because of the lock no process of another machine writes here. */
static bool is_unfinished(const char *name) {
    const char *suffix = strstr(name, ".tmp."), *number = suffix;
    size_t length = suffix ? (size_t)(suffix - name) : 0;
    bool ours = suffix && (output_kind(name, length) < OUTPUTS ||
                           (length == 6 && strncmp(name, "htwave", 6) == 0));
    if (!ours) return false;
    number += strlen(".tmp.");
    size_t digits = strspn(number, "0123456789");
    const char *rest = number + digits;
    if (digits == 0 || digits > 9 || *rest != '.') return false;
    if (!rest[1] || rest[1 + strspn(rest + 1, "0123456789")]) return false;
    return kill((pid_t)strtol(number, NULL, 10), 0) != 0 && errno == ESRCH;
}

/* ---- contents ---- */

static void free_listing(struct listing *list) {
    for (int i = 0; i < list->count; i++) free(list->entry[i].name);
    free(list->entry);
}

static enum ht_err list_entry(struct listing *list, const char *name) {
    size_t length = strlen(name);
    if (is_numbered(name, length, "run-", 3, "")) {
        int number = number_of(name, "run-");
        /* run-202611221530 is a name of the user's */
        if (number < INT_MAX / 2 && number > list->last_old) list->last_old = number;
        return HT_OK;
    }
    bool unfinished = is_unfinished(name);
    if (!unfinished && output_kind(name, length) == OUTPUTS) return HT_OK;
    TRY(HT_GROW(list->entry, list->count + 1, list->room));
    struct entry entry = {.unfinished = unfinished};
    TRY(ht_text_copy(name, &entry.name));
    list->entry[list->count++] = entry;
    return HT_OK;
}

/* A missing directory is an empty one. */
static enum ht_err list_outputs(const char *directory, struct listing *list) {
    enum ht_err err = HT_OK;
    DIR *stream = opendir(directory);
    if (!stream && errno == ENOENT) return HT_OK;
    REQUIRE(stream, HT_ERR_IO, "cannot list directory %s: %s", directory, strerror(errno));
    for (struct dirent *entry; !err && (entry = readdir(stream)) != NULL;)
        err = list_entry(list, entry->d_name);
    closedir(stream);
    return err;
}

/* ---- files that the run reads ---- */

static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The run reads its own resolved input, unchanged. */
static enum ht_err check_input(const struct ht_params *params, const char *path) {
    HT_FREED_TEXT struct ht_text text = {0};
    HT_FREED char *data = NULL;
    size_t size = 0;
    TRY(ht_params_print(params, &text));
    TRY(ht_file_read(path, &data, &size));
    if (size == text.length && !memcmp(data, text.data, size)) return HT_OK;
    return ht_params_error(params, "output.directory",
                           "the run reads %s and would replace it by another one: copy the input "
                           "to another directory or choose another output.directory",
                           path);
}

/* An output of an earlier run that this run reads. */
static enum ht_err keep(const struct ht_params *params, struct listing *list, struct entry *entry,
                        const char *key, const char *path) {
    int kind = output_kind(entry->name, strlen(entry->name));
    entry->read = true;
    if (!key && kind == 0) return check_input(params, path);
    if (kind == SNAPSHOT) {
        int number = number_of(entry->name, outputs[SNAPSHOT].before);
        /* leaves numbers for the snapshots of any run */
        if (number < INT_MAX / 2) {
            if (number >= list->first) list->first = number + 1;
            return HT_OK;
        }
    }
    return ht_params_error(params, key ? key : "output.directory",
                           "the run reads %s and would write a file of this name: move it to "
                           "another directory or choose another output.directory",
                           path);
}

/* An input that is younger than all other outputs was changed after their run:
 * it would be stored as that run's input. */
static enum ht_err check_age(const struct ht_params *params, const struct listing *list) {
    struct timespec input = {0}, other = {0};
    for (int i = 0; i < list->count; i++) {
        const struct entry *entry = &list->entry[i];
        bool is_input = strcmp(entry->name, HT_INPUT_NAME) == 0;
        struct stat file;
        HT_FREED char *path = NULL;
        if (entry->unfinished || (is_input && !entry->read)) continue;
        TRY(ht_file_path(params->output.directory, entry->name, &path));
        if (stat(path, &file) != 0) continue;
        struct timespec *last = is_input ? &input : &other;
        if (file.st_mtim.tv_sec > last->tv_sec ||
            (file.st_mtim.tv_sec == last->tv_sec && file.st_mtim.tv_nsec > last->tv_nsec))
            *last = file.st_mtim;
    }
    bool younger = input.tv_sec > other.tv_sec ||
                   (input.tv_sec == other.tv_sec && input.tv_nsec > other.tv_nsec);
    if (other.tv_sec == 0 || !younger) return HT_OK;
    return ht_params_error(params, "output.directory",
                           "%s was changed after the run that wrote the outputs beside it: copy it "
                           "to another directory or choose another output.directory",
                           HT_INPUT_NAME);
}

static enum ht_err make_listing(const struct ht_params *params, struct listing *list) {
    TRY(ht_params_blame(params, "output.directory", list_outputs(params->output.directory, list)));
    const char *key, *path;
    for (int i = 0; i < list->count; i++) {
        HT_FREED char *own = NULL;
        TRY(ht_file_path(params->output.directory, list->entry[i].name, &own));
        for (int n = 0; ht_params_reads(params, n, &key, &path); n++)
            if (same_file(own, path)) TRY(keep(params, list, &list->entry[i], key, path));
    }
    return check_age(params, list);
}

/* ---- changes ---- */

static enum ht_err refuse_busy(const struct ht_params *params, const char *holder) {
    return ht_params_error(
        params, "output.directory",
        "%s is writing to it: choose another directory, or wait until it has ended", holder);
}

static void remove_unfinished(const char *directory, const struct listing *list) {
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        HT_FREED char *path = NULL;
        if (!list->entry[i].unfinished || list->entry[i].read) continue;
        if (ht_file_path(directory, list->entry[i].name, &path) == HT_OK)
            count += unlink(path) == 0;
    }
    if (count > 0)
        ht_log("removed %d unfinished file%s of a killed run from %s", count, count > 1 ? "s" : "",
               directory);
}

/* The next folder run-NNN; the caller frees its path. */
static enum ht_err make_old(const char *directory, int last, char **out) {
    for (int number = last + 1; number > 0; number++) {
        char name[32];
        snprintf(name, sizeof name, OLD_NAME, number);
        TRY(ht_file_path(directory, name, out));
        if (mkdir(*out, 0777) == 0) return HT_OK;
        int error = errno;
        if (error != EEXIST)
            ht_err_set(HT_ERR_IO, "cannot create directory %s: %s", *out, strerror(error));
        free(*out);
        *out = NULL;
        if (error != EEXIST) return HT_ERR_IO;
    }
    FAIL(HT_ERR_IO, "%s has too many folders run-NNN", directory);
}

/* The input is copied: later changes must not affect the stored one. */
static enum ht_err copy_text(const char *from, const char *to) {
    HT_FREED char *data = NULL;
    size_t size = 0;
    TRY(ht_file_read(from, &data, &size));
    return ht_file_write(to, data, size);
}

/* A relative link, moved one folder down, needs one more "..". */
static bool move_link(const char *from, const char *to) {
    char target[PATH_MAX + 4] = "../";
    ssize_t length = readlink(from, target + 3, PATH_MAX - 1);
    if (length < 0) return false;
    target[3 + length] = '\0';
    if (symlink(target[3] == '/' ? target + 3 : target, to) != 0) return false;
    if (unlink(from) == 0) return true;
    (void)unlink(to);
    return false;
}

static bool move_file(const char *from, const char *to) {
    struct stat file;
    if (lstat(from, &file) == 0 && S_ISLNK(file.st_mode)) return move_link(from, to);
    return rename(from, to) == 0;
}

/* Any other file that stays gets a second name where the file system allows it. */
static enum ht_err move_entry(const struct entry *entry, const char *directory, const char *old) {
    HT_FREED char *from = NULL, *to = NULL;
    TRY(ht_file_path(directory, entry->name, &from));
    TRY(ht_file_path(old, entry->name, &to));
    if (entry->read && strcmp(entry->name, HT_INPUT_NAME) == 0)
        TRY(copy_text(from, to));
    else if (entry->read)
        (void)link(from, to);
    else if (!move_file(from, to))
        return ht_err_set(HT_ERR_IO, "cannot move %s to %s: %s", from, to, strerror(errno));
    return HT_OK;
}

/* After a failure: moves files back as far as possible. */
static void move_back(const char *directory, const struct listing *list, const char *old,
                      int moved) {
    for (int i = 0; i < moved; i++) {
        HT_FREED char *from = NULL, *to = NULL;
        const struct entry *entry = &list->entry[i];
        if (entry->unfinished) continue;
        if (ht_file_path(old, entry->name, &from) == HT_OK &&
            ht_file_path(directory, entry->name, &to) == HT_OK) {
            if (entry->read)
                (void)unlink(from);
            else
                (void)rename(from, to);
        }
    }
    (void)rmdir(old);
}

static enum ht_err move_all(const char *directory, const struct listing *list, const char *old,
                            int count) {
    for (int i = 0; i < list->count; i++) {
        enum ht_err err =
            list->entry[i].unfinished ? HT_OK : move_entry(&list->entry[i], directory, old);
        if (err != HT_OK) {
            move_back(directory, list, old, i);
            return err;
        }
    }
    ht_log("moved %d file%s of an earlier run to %s", count, count > 1 ? "s" : "", old);
    return HT_OK;
}

static enum ht_err move_outputs(const char *directory, const struct listing *list) {
    char *old = NULL;
    int count = 0;
    for (int i = 0; i < list->count; i++)
        count += !list->entry[i].unfinished && !list->entry[i].read;
    if (count > 0) {
        TRY(make_old(directory, list->last_old, &old));
        enum ht_err err = move_all(directory, list, old, count);
        free(old);
        TRY(err);
    }
    if (list->first > 0)
        ht_log("snapshots begin with number %d: the run reads number %d", list->first,
               list->first - 1);
    return HT_OK;
}

static enum ht_err take_listed(const struct ht_params *params, struct listing *list,
                               struct ht_directory *out) {
    const char *directory = params->output.directory;
    TRY(make_listing(params, list));
    out->first = list->first;
    if (out->lock.state == HT_LOCK_TAKEN)
        remove_unfinished(directory, list);
    else
        ht_note("%s is on a file system without locks: keep other runs away", directory);
    TRY(ht_params_blame(params, "output.directory", move_outputs(directory, list)));
    /* The caller has checked that the file that is read is the same. */
    HT_FREED_TEXT struct ht_text text = {0};
    for (int i = 0; i < list->count; i++)
        if (list->entry[i].read && strcmp(list->entry[i].name, HT_INPUT_NAME) == 0) return HT_OK;
    TRY(ht_params_print(params, &text));
    return ht_file_write_in(params->output.directory, HT_INPUT_NAME, text.data, text.length);
}

/* ---- interface ---- */

enum ht_err ht_output_idle(const struct ht_params *params) {
    char holder[HT_LOCK_HOLDER], *path = NULL;
    TRY(ht_file_path(params->output.directory, LOCK_NAME, &path));
    bool busy = ht_lock_is_busy(path, holder);
    free(path);
    return busy ? refuse_busy(params, holder) : HT_OK;
}

enum ht_err ht_directory_check(const struct ht_params *params) {
    HT_ENDED(free_listing) struct listing list = {0};
    return make_listing(params, &list);
}

enum ht_err ht_directory_take(const struct ht_params *params, struct ht_directory *out) {
    HT_ENDED(free_listing) struct listing list = {0};
    *out = (struct ht_directory){.lock.fd = -1};
    /* A directory that cannot be created is a wrong value of its key. */
    const char *directory = params->output.directory;
    HT_FREED char *path = NULL;
    enum ht_err err = ht_file_make_directory(directory);
    if (!err) err = ht_file_path(directory, LOCK_NAME, &path);
    if (!err) err = ht_lock_take(path, &out->lock);
    TRY(ht_params_blame(params, "output.directory", err));
    if (out->lock.state == HT_LOCK_BUSY) return refuse_busy(params, out->lock.holder);
    return take_listed(params, &list, out);
}

void ht_directory_release(struct ht_directory *directory) {
    ht_lock_release(&directory->lock);
}
