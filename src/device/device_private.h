/* What the files of the device layer share: the structs behind the handles of
 * htwave/device.h, and the choice of a device.
 */
#ifndef HTWAVE_DEVICE_PRIVATE_H
#define HTWAVE_DEVICE_PRIVATE_H

#include "backend.h"

/* Device seconds of launches, counted when they have finished. */
struct ht_account {
    double recent; /* since they were asked for */
    double total;
};

struct ht_pending {
    void *event;
    struct ht_account *account; /* it goes to; NULL: closed */
};

enum { HT_MAX_PENDING = 256 };

struct ht_device {
    const struct ht_backend *backend;
    struct ht_device_info info;
    void *handle;
    int64_t allocated;
    struct ht_pending pending[HT_MAX_PENDING]; /* launches not yet accounted */
    int npending;
};

struct ht_buffer {
    struct ht_device *device;
    void *handle;
    int64_t bytes;
};

/* The place in the list of the device that ht_device_open takes, -1 when none
 * matches. */
int ht_device_choose(int count, const struct ht_device_info *infos,
                     const char *backend, const char *select, int sharer);

#endif
