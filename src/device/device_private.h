/* Shared by the files of the device layer: the structs behind the handles of htwave/device.h, and
 * the choice of a device.
 */
#pragma once

#include "backend.h"

/* Device seconds of launches, counted when they have finished. */
struct ht_launch_timer {
    double recent; /* since they were last read */
    double total;
};

struct ht_kernel {
    struct ht_device *device;
    void *handle;
    struct ht_launch_timer timer;
};

struct ht_pending {
    void *timing;                  /* handle of the back end */
    struct ht_launch_timer *timer; /* charged with it; NULL: closed */
    struct ht_sequence *sequence;  /* whose timers share it; NULL: a launch */
    double *sample;                /* gets it, too; NULL: none */
};

enum { HT_MAX_PENDING = 256 };

struct ht_device {
    const struct ht_backend *backend;
    struct ht_device_info info;
    void *handle;
    int64_t allocated;
    const char *cache;                         /* directory of compiled programs; NULL: none */
    struct ht_pending pending[HT_MAX_PENDING]; /* launches not yet added */
    int npending;
    struct ht_sequence *recording; /* gets the launches; NULL: none */
};

struct ht_buffer {
    struct ht_device *device;
    void *handle;
    int64_t bytes;
};

/* Copies a span after a check that it lies in the buffer; as `copy` of struct ht_backend. */
HT_CHECKED enum ht_err ht_buffer_copy(struct ht_buffer *buffer, struct ht_span span, void *in,
                                      const void *out, enum ht_queue queue);
/* Makes room for one more entry in pending. */
HT_CHECKED enum ht_err ht_device_make_room(struct ht_device *device);
void ht_timer_charge(struct ht_launch_timer *timer, double seconds);

/* sequence.c: adds a launch to a recording, with copies of its arguments. */
HT_CHECKED enum ht_err ht_sequence_add(struct ht_sequence *sequence, struct ht_kernel *kernel,
                                       const struct ht_launch *launch);
/* Shares the seconds of all launches of a sequence among their timers. */
void ht_sequence_charge(struct ht_sequence *sequence, double seconds);

/* Index in the list of the device that ht_device_open takes, -1 when none matches. */
int ht_device_choose(int count, const struct ht_device_info *infos, const char *backend,
                     const char *select, int sharer);

/* ---- cache.c ---- */
/* Compiled programs on disk. A cache never makes a run fail: an entry that cannot be read, verified
 * or written, or that others than the user could have written, counts as absent. */
/* *binary is owned by the caller when true is returned. */
bool ht_cache_load(const char *directory, const struct ht_device_info *info, const char *text,
                   void **binary, size_t *size);
void ht_cache_store(const char *directory, const struct ht_device_info *info, const char *text,
                    const void *binary, size_t size);
