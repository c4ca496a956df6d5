/* Advisory locks on a file (fcntl, POSIX.1-2008), which is removed at the end. Another process may
 * have opened it before, and would then lock a file without a name: so after locking, a process
 * tests whether its file is still the one under the name. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "htwave/base.h"

enum { LOCK_TRIES = 1000 };

static void read_holder(int fd, char holder[HT_LOCK_HOLDER]) {
    ssize_t length = pread(fd, holder, HT_LOCK_HOLDER - 1, 0);
    holder[length > 0 ? length : 0] = '\0';
    holder[strcspn(holder, "\n")] = '\0';
    for (char *c = holder; *c; c++)
        if (!isprint((unsigned char)*c)) *c = '?';
    if (!*holder) snprintf(holder, HT_LOCK_HOLDER, "another process");
}

/* Informative only; a failure is ignored. */
static void write_holder(int fd) {
    char host[64] = "", text[HT_LOCK_HOLDER];
    if (gethostname(host, sizeof host) != 0) host[0] = '\0';
    host[sizeof host - 1] = '\0';
    int length = snprintf(text, sizeof text, "process %ld on %s\n", (long)getpid(),
                          *host ? host : "an unnamed host");
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)length, 0) < 0) return;
}

static bool same_file(int fd, const char *path) {
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/* One try; *again: the file was removed meanwhile. */
static HT_ERR try_lock(struct ht_lock *lock, bool *again) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    *again = false;
    lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    REQUIRE(lock->fd >= 0, HT_ERR_IO, "cannot open %s: %s (remove it if no run uses the directory)",
            lock->path, strerror(errno));
    if (fcntl(lock->fd, F_SETLK, &whole) == 0) {
        *again = !same_file(lock->fd, lock->path);
        lock->state = HT_LOCK_TAKEN;
        if (!*again) write_holder(lock->fd);
        return HT_OK;
    }
    lock->state = errno == EACCES || errno == EAGAIN ? HT_LOCK_BUSY : HT_LOCK_UNKNOWN;
    if (lock->state == HT_LOCK_BUSY)
        read_holder(lock->fd, lock->holder);
    else
        unlink(lock->path);
    return HT_OK;
}

static void close_lock(struct ht_lock *lock) {
    if (lock->fd >= 0) close(lock->fd);
    lock->fd = -1;
}

HT_ERR ht_lock_take(const char *path, struct ht_lock *lock) {
    bool again = true;
    *lock = (struct ht_lock){.fd = -1};
    TRY(ht_text_copy(path, &lock->path));
    enum ht_err err = HT_OK;
    for (int i = 0; !err && again; i++) {
        close_lock(lock);
        err = try_lock(lock, &again);
        if (again && i == LOCK_TRIES)
            err = ht_err_set(HT_ERR_IO, "cannot lock %s: other processes keep removing it", path);
    }
    if (!err && lock->state == HT_LOCK_TAKEN) return HT_OK;
    close_lock(lock);
    free(lock->path);
    lock->path = NULL;
    return err;
}

bool ht_lock_is_busy(const char *path, char holder[HT_LOCK_HOLDER]) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    bool busy = fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    if (busy) read_holder(fd, holder);
    close(fd);
    return busy;
}

void ht_lock_release(struct ht_lock *lock) {
    if (lock->path && same_file(lock->fd, lock->path)) unlink(lock->path);
    close_lock(lock);
    free(lock->path);
    *lock = (struct ht_lock){.fd = -1};
}
