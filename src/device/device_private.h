/* Parts of the device layer. */
#pragma once

#include "backend.h"

/* Index in the list of the device that ht_device_open takes, -1 when none matches. */
int ht_device_choose(int count, const struct ht_device_info *infos, const char *backend,
                     const char *select, int sharer);

/* ---- cache.c ---- */
/* An entry that cannot be read, verified or written, or that others than the user could have
 * written, counts as absent. Free *binary. */
bool ht_cache_load(const char *directory, const struct ht_device_info *info, const char *text,
                   void **binary, size_t *size);
void ht_cache_store(const char *directory, const struct ht_device_info *info, const char *text,
                    const void *binary, size_t size);
