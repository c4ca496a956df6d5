/* Zeroed arrays whose size is checked for overflow; unit/memory replaces this file. */
#include "htwave/base.h"

HT_ERR ht_mem_alloc(size_t count, size_t size, void *out) {
    void *fresh = NULL;
    REQUIRE(size == 0 || count <= SIZE_MAX / size, HT_ERR_MEMORY,
            "cannot allocate %zu items of %zu bytes: more than memory can hold", count, size);
    /* calloc(0) may return NULL, which callers would take for exhaustion. */
    fresh = calloc(count ? count : 1, size ? size : 1);
    REQUIRE(fresh, HT_ERR_MEMORY, "out of memory: cannot allocate %s",
            HT_BYTES((double)count * (double)size));
    /* out is the address of a pointer of any type. */
    memcpy(out, &fresh, sizeof fresh);
    return HT_OK;
}
