/* Files that are complete or absent: written under a temporary name in the same directory, forced
 * to disk and renamed, in one step (POSIX.1-2008). Write, fsync or close report a full disk. */
#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>
#include <unistd.h>

#include "htwave/base.h"

enum { NAME_TRIES = 1000 };

static HT_ERR fail_read(const char *path) {
    FAIL(HT_ERR_IO, "cannot read %s: %s", path, strerror(errno));
}

/* Other files than regular ones may be endless or have no writer. */
static HT_ERR check_regular(const char *path, const struct stat *info) {
    const char *kind = S_ISFIFO(info->st_mode)   ? "a named pipe"
                       : S_ISSOCK(info->st_mode) ? "a socket"
                                                 : "a device";
    if (S_ISREG(info->st_mode)) return HT_OK;
    REQUIRE(!S_ISDIR(info->st_mode), HT_ERR_IO, "cannot read %s: %s", path, strerror(EISDIR));
    FAIL(HT_ERR_IO, "cannot read %s: it is %s, not a regular file", path, kind);
}

/* Opening a device may act on it, so the type is tested before. Opening a named pipe would wait for
 * a writer: what has become a pipe since the test is opened without waiting, and refused. */
static HT_ERR open_regular(const char *path, FILE **file, int64_t *size) {
    struct stat info;
    if (stat(path, &info) != 0) return fail_read(path);
    TRY(check_regular(path, &info));
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    *file = fd < 0 ? NULL : fdopen(fd, "rb");
    if (*file == NULL && fd >= 0) close(fd);
    if (*file == NULL || fstat(fd, &info) != 0) return fail_read(path);
    *size = (int64_t)info.st_size;
    return check_regular(path, &info);
}

static void end_file(FILE **file) {
    if (*file != NULL) fclose(*file);
}

HT_ERR ht_file_size(const char *path, int64_t *size) {
    HT_ENDED(end_file) FILE *file = NULL;
    *size = 0;
    return open_regular(path, &file, size);
}

static HT_ERR check_most(const char *path, size_t size, size_t most) {
    if (size <= most) return HT_OK;
    FAIL(HT_ERR_IO, "cannot read %s: it is larger than %s", path, HT_BYTES(most));
}

/* The file may grow meanwhile, or have no known size, as those of /proc. */
HT_ERR ht_file_read_most(const char *path, size_t most, char **data, size_t *size) {
    HT_ENDED(end_file) FILE *file = NULL;
    HT_FREED char *text = NULL;
    int64_t room = 0;
    size_t length = 0;
    *data = NULL;
    *size = 0;
    TRY(open_regular(path, &file, &room));
    TRY(check_most(path, (size_t)room, most));
    room += 2; /* one byte for the NUL and one to detect the end */
    TRY(HT_ALLOC(text, room));
    for (size_t got = 1; got > 0; length += got) {
        TRY(HT_GROW(text, (int64_t)length + 2, room));
        got = fread(text + length, 1, (size_t)room - 1 - length, file);
        TRY(check_most(path, length + got, most));
    }
    if (ferror(file)) return fail_read(path);
    text[length] = '\0';
    *data = text;
    *size = length;
    text = NULL;
    return HT_OK;
}

HT_ERR ht_file_hash(const char *path, uint64_t *hash) {
    enum { SIZE = 1 << 20 };
    HT_ARRAY(char, data, SIZE);
    HT_ENDED(end_file) FILE *file = fopen(path, "rb");
    if (file == NULL) return fail_read(path);
    *hash = HT_HASH_SEED;
    for (size_t n; (n = fread(data, 1, SIZE, file)) > 0;) *hash = ht_hash(*hash, data, n);
    return ferror(file) ? fail_read(path) : HT_OK;
}

#define BETWEEN " \t\r,;" /* numbers of a line */

/* Returns the numbers of a line, -1: they are not as many, or there is something else. */
static int read_row(const char *line, int columns, double *row) {
    static const char between[] = BETWEEN;
    for (int count = 0;; count++) {
        char *end;
        line += strspn(line, between);
        if (*line == '#' || *line == '\0') return count == 0 || count == columns ? count : -1;
        const double value = strtod(line, &end);
        const bool apart = strchr(between, *end) != NULL; /* or the line ends */
        if (end == line || !apart || !isfinite(value) || count == columns) return -1;
        row[count] = value;
        line = end;
    }
}

HT_ERR ht_file_rows(const char *path, int columns, const char *must, ht_file_row *take,
                    void *context) {
    HT_FREED char *text = NULL;
    size_t size;
    TRY(ht_file_read(path, &text, &size));
    REQUIRE(strlen(text) == size, HT_ERR_INPUT, "%s is not a text file", path);
    char *next;
    int64_t number = 1;
    for (char *line = text; line != NULL; line = next, number++) {
        double row[6] = {0};
        next = strchr(line, '\n');
        if (next != NULL) *next++ = '\0';
        const int count = read_row(line, columns, row);
        REQUIRE(count >= 0, HT_ERR_INPUT, "line %lld of %s, \"%s\": must be %s", (long long)number,
                path, HT_SHOWN(line), must);
        if (count > 0) TRY(take(context, number, row));
    }
    return HT_OK;
}

HT_ERR ht_file_columns(const char *path, int *columns) {
    HT_FREED char *text = NULL;
    size_t size;
    TRY(ht_file_read(path, &text, &size));
    *columns = 0;
    for (char *line = strtok(text, "\n"); line != NULL && *columns == 0; line = strtok(NULL, "\n"))
        for (char *end = line; (void)strtod(line += strspn(line, BETWEEN), &end), end > line;
             line = end)
            ++*columns;
    return HT_OK;
}

/* The name contains the process number and a counter. Not mkstemp: its files are readable by their
 * owner only, and this file becomes the user's file under the user's umask. */
HT_ERR ht_file_temporary(const char *path, char **temporary) {
    int fd = -1, error = EEXIST;
    *temporary = NULL;
    for (int i = 0; i < NAME_TRIES && fd < 0 && error == EEXIST; i++) {
        free(*temporary);
        TRY(ht_text_print(temporary, "%s.tmp.%ld.%d", path, (long)getpid(), i));
        fd = open(*temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        error = errno;
    }
    if (fd >= 0) close(fd);
    if (fd >= 0) return HT_OK;
    free(*temporary);
    *temporary = NULL;
    FAIL(HT_ERR_IO, "cannot create a file for %s: %s", path, strerror(error));
}

/* Some file systems lack fsync and return EINVAL; no data is lost then. */
static bool sync_file(int fd) {
    return fsync(fd) == 0 || errno == EINVAL;
}

/* The file that is being written, for a signal handler. */
static char *volatile pending;

void ht_file_abandon(void) {
    const char *name = pending;
    if (name != NULL) unlink(name);
}

HT_ERR ht_file_write_in(const char *folder, const char *name, const void *data, size_t size) {
    struct ht_stream stream;
    TRY(ht_stream_open(folder, name, &stream));
    pending = stream.temporary;
    errno = 0;
    if (fwrite(data, 1, size, stream.file) < size) stream.error = errno;
    return ht_stream_close(&stream, HT_OK);
}

HT_ERR ht_file_path(const char *folder, const char *name, char **out) {
    const size_t length = strlen(folder);
    return ht_text_print(out, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/",
                         name);
}

HT_ERR ht_file_sync(const char *temporary, const char *path) {
    int fd = open(temporary, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && sync_file(fd);
    int error = errno;
    if (fd >= 0) close(fd);
    REQUIRE(good, HT_ERR_IO, "cannot write %s: %s", path, strerror(error));
    return HT_OK;
}

/* The new name is on disk, too, where the file system can do that. */
HT_ERR ht_file_commit(const char *temporary, const char *path) {
    enum ht_err err = ht_file_sync(temporary, path);
    if (!err && rename(temporary, path) != 0)
        err = ht_err_set(HT_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    if (err) unlink(temporary);
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    const int fd = err ? -1 : open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return err;
    (void)sync_file(fd);
    close(fd);
    return HT_OK;
}

/* Creates one directory of a path; an existing one is accepted. */
static HT_ERR make_one(const char *path) {
    struct stat info;
    if (mkdir(path, 0777) == 0) return HT_OK;
    const int error = errno;
    REQUIRE(stat(path, &info) == 0, HT_ERR_IO, "cannot create directory %s: %s", path,
            strerror(error));
    REQUIRE(S_ISDIR(info.st_mode), HT_ERR_IO,
            "cannot create directory %s: a file of this name exists", path);
    return HT_OK;
}

HT_ERR ht_file_make_directory(const char *path) {
    HT_FREED char *copy = NULL, *probe = NULL;
    REQUIRE(*path, HT_ERR_IO, "cannot create a directory without a name");
    TRY(ht_text_copy(path, &copy));
    for (char *slash = copy + 1; *slash; slash++) {
        if (*slash != '/') continue;
        *slash = '\0';
        enum ht_err err = make_one(copy);
        *slash = '/';
        TRY(err);
    }
    TRY(make_one(copy));
    HT_PATH(name, path, "htwave");
    const enum ht_err err = ht_file_temporary(name, &probe);
    if (err) return ht_err_prefix(err, "cannot write into directory %s", path);
    unlink(probe);
    return HT_OK;
}

bool ht_file_is_private(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && info.st_uid == geteuid() &&
           (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool ht_file_exists(const char *path) {
    return access(path, F_OK) == 0;
}

HT_ERR ht_file_above(const char *path, char **out) {
    char *slash;
    TRY(ht_text_copy(path, out));
    while (!ht_file_exists(*out) && (slash = strrchr(*out, '/')) != NULL)
        slash[slash == *out ? 1 : 0] = '\0';
    if (ht_file_exists(*out)) return HT_OK;
    free(*out);
    return ht_text_copy(".", out);
}

HT_ERR ht_file_check_directory(const char *path) {
    HT_FREED char *above = NULL;
    TRY(ht_file_above(path, &above));
    return ht_file_make_directory(*path ? above : path);
}

HT_ERR ht_stream_open(const char *folder, const char *name, struct ht_stream *out) {
    *out = (struct ht_stream){.path = NULL};
    TRY(folder ? ht_file_path(folder, name, &out->path) : ht_text_copy(name, &out->path));
    enum ht_err err = ht_file_temporary(out->path, &out->temporary);
    if (!err) out->file = fopen(out->temporary, "wb");
    if (!err && out->file) return HT_OK;
    if (!err) {
        ht_err_set(HT_ERR_IO, "cannot write %s: %s", out->path, strerror(errno));
        err = HT_ERR_IO; /* static analysers do not see that it is */
        unlink(out->temporary);
    }
    free(out->temporary);
    free(out->path);
    return err;
}

HT_ERR ht_stream_close(struct ht_stream *stream, enum ht_err err) {
    const bool good = !ferror(stream->file);
    errno = 0;
    const bool closed = fclose(stream->file) == 0;
    const int error = stream->error ? stream->error : errno;
    if (!err && !(good && closed && stream->error == 0))
        err = ht_err_set(HT_ERR_IO, "cannot write %s: %s", stream->path,
                         error ? strerror(error) : "the disk is full");
    if (!err)
        err = ht_file_commit(stream->temporary, stream->path);
    else
        unlink(stream->temporary);
    if (pending == stream->temporary) pending = NULL;
    free(stream->temporary);
    free(stream->path);
    return err;
}
