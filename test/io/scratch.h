/* A directory of a test's own under $TMPDIR, and what is in it. */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* directory/name; the caller frees it. */
static inline char *scratch_path(const char *directory, const char *name) {
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = malloc(size);
    if (!path) abort();
    snprintf(path, size, "%s/%s", directory, name);
    return path;
}

/* A new empty directory, or NULL with a line on standard error. */
static inline char *scratch_make(const char *test) {
    const char *root = getenv("TMPDIR");
    char name[64];
    snprintf(name, sizeof name, "htwave-%s-XXXXXX", test);
    char *path = scratch_path(root && *root ? root : "/tmp", name);
    if (mkdtemp(path)) return path;
    perror(path);
    free(path);
    return NULL;
}

static inline int scratch_entries(const char *directory) {
    int count = 0;
    DIR *stream = opendir(directory);
    if (!stream) return -1;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(stream);
    return count;
}

/* Removes the directory with all below it and frees its name. */
static inline void scratch_remove(char *directory) {
    DIR *stream = opendir(directory);
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char *path = scratch_path(directory, entry->d_name);
        if (unlink(path) == 0)
            free(path);
        else
            scratch_remove(path);
    }
    if (stream) closedir(stream);
    rmdir(directory);
    free(directory);
}
