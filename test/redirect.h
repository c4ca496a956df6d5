/* What a test takes from its process for a while: room for files, standard error. */
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "must.h"

/* Files cannot grow beyond this, as on a full disk; RLIM_INFINITY: they can again. */
static inline void limit_files(rlim_t bytes) {
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* Standard error goes into a new file; returns what end_stderr takes. */
static inline int begin_stderr(const char *path) {
    fflush(stderr);
    const int saved = dup(STDERR_FILENO), file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (saved < 0 || file < 0 || dup2(file, STDERR_FILENO) < 0) exit(1);
    close(file);
    return saved;
}

/* What was written, or NULL; the caller frees it. */
static inline char *end_stderr(const char *path, int saved) {
    char *data = NULL;
    size_t size = 0;
    fflush(stderr);
    (void)dup2(saved, STDERR_FILENO);
    close(saved);
    return ht_file_read(path, &data, &size) == HT_OK ? data : NULL;
}
