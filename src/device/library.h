/* Functions of a library that is looked for at run time. */
#ifndef HTWAVE_DEVICE_LIBRARY_H
#define HTWAVE_DEVICE_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Into the pointer to a function at `function`, NULL when there is none of the
 * name. C has no cast from an object pointer to one to a function; POSIX
 * promises that both look the same (dlsym). */
static inline bool ht_library_find(void *library, const char *name,
                                   void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

#endif
