/* Compiled programs on disk. A cache never makes a run fail: an entry that cannot be read, verified
 * or written, or that others than the user could have written, counts as absent.
 */
#pragma once

#include "htwave/device.h"

/* *binary is owned by the caller when true is returned. */
bool ht_cache_load(const char *directory, const struct ht_device_info *info, const char *text,
                   void **binary, size_t *size);
void ht_cache_store(const char *directory, const struct ht_device_info *info, const char *text,
                    const void *binary, size_t size);
