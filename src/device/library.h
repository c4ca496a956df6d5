/* Functions of a library that is loaded at run time. */
#ifndef HTWAVE_DEVICE_LIBRARY_H
#define HTWAVE_DEVICE_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Stores the function's address in the function pointer at `function`, NULL when the library has no
 * such function. C has no cast from an object pointer to a function pointer; POSIX guarantees that
 * both have the same representation (dlsym). */
static inline bool ht_library_find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

#endif
