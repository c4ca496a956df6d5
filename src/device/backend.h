/* Operations of a back end, whose handles are its own: as those of the same name in
 * htwave/device.h, which has checked the arguments. */
#pragma once

#include "htwave/device.h"

/* args hold back end buffers in .value where .size is 0. */
struct ht_launch {
    void *kernel;
    int nargs;
    const struct ht_arg *args;
    int64_t groups[3], group_size;
    const struct ht_gemm_shape *gemm; /* matrix products of three buffers; NULL: a kernel */
    bool fp64;                        /* of these */
    /* Of sequences: launches in a row with the same fork whose branches differ are independent.
     * branch 0: all others wait, and are waited for. */
    int fork, branch;
};

/* Of a back end, each has those of its own: a device, the timing of launches, a sequence of them, a
 * buffer of another process. */
struct ht_driver;
struct ht_timing;
struct ht_graph;
struct ht_remote;
struct ht_backend {
    const char *name;
    int (*count)(void);
    /* Why there are no devices; NULL: unknown, or there are some. */
    const char *(*missing)(void);
    /* info is zero on entry. */
    enum ht_err (*info)(int index, struct ht_device_info *info);
    enum ht_err (*open)(int index, struct ht_driver **device);
    void (*close)(struct ht_driver *device);
    enum ht_err (*buffer_create)(struct ht_driver *device, int64_t bytes, void **buffer);
    void (*buffer_destroy)(struct ht_driver *device, void *buffer);
    /* All of it to zeros, after which the call returns. */
    enum ht_err (*buffer_clear)(struct ht_driver *device, void *buffer, int64_t bytes);
    /* A span that is not empty, to `in` or from `out` in host memory; the other is NULL. On the
     * work queue it is done when the call returns, on the transfer queue it is under way. */
    enum ht_err (*copy)(struct ht_driver *device, void *buffer, struct ht_span span, void *in,
                        const void *out, enum ht_queue queue);
    /* From source text, or from a binary of program_build: its `size` bytes are asked for where
     * binary is not NULL; 0: the driver gives none. registers: limit per work-item where the
     * compiler accepts one, 0: the compiler's choice. */
    enum ht_err (*program_build)(struct ht_driver *device, const char *text, int registers,
                                 void **program, void **binary, size_t *size);
    enum ht_err (*program_load)(struct ht_driver *device, const void *binary, size_t size,
                                int registers, void **program);
    void (*program_destroy)(struct ht_driver *device, void *program);
    enum ht_err (*kernel_create)(struct ht_driver *device, void *program, const char *name,
                                 void **kernel);
    void (*kernel_destroy)(void *kernel);
    /* Bytes of local memory that a group takes; 0: not known, as where it is NULL. */
    int64_t (*kernel_local)(struct ht_driver *device, void *kernel);
    /* NULL where every info has no open_memory. */
    enum ht_err (*kernel_open_memory)(struct ht_driver *device, void *kernel, int64_t bytes);
    /* All of them `times` times over; *timing is of all together. sequence: of these launches;
     * NULL: they are one, or the back end makes none. */
    enum ht_err (*launch)(struct ht_driver *device, struct ht_graph *sequence, int count,
                          const struct ht_launch *launch, int64_t times, struct ht_timing **timing);
    /* Launches that will be done in this order, or any other that keeps what forks and branches
     * say, many times. What they point to stays until sequence_destroy, which waits for those under
     * way. Both may be NULL. */
    enum ht_err (*sequence_create)(struct ht_driver *device, int count,
                                   const struct ht_launch *launch, struct ht_graph **sequence);
    void (*sequence_destroy)(struct ht_driver *device, struct ht_graph *sequence);
    enum ht_err (*finish)(struct ht_driver *device);
    /* Device seconds of finished launches, from the start of the first to the end of the last;
     * frees their timing. */
    double (*launch_seconds)(struct ht_timing *timing);

    /* *event: NULL before it is first recorded. */
    enum ht_err (*event_record)(struct ht_driver *device, void **event, enum ht_queue queue);
    void (*event_destroy)(struct ht_driver *device, void *event);
    enum ht_err (*event_await)(struct ht_driver *device, void *event, enum ht_queue queue);
    enum ht_err (*event_done)(struct ht_driver *device, void *event, bool *done);
    /* Sets nothing where the driver gives no such memory. `destroy` waits for transfers in any
     * case, after a failure some may be under way; pinned NULL: the memory is not the driver's. */
    void (*pinned_create)(struct ht_driver *device, int64_t bytes, void **memory, void **pinned);
    void (*pinned_destroy)(struct ht_driver *device, void *memory, void *pinned);
    /* These four may be NULL where every info has no_peer. */
    enum ht_err (*peer_name)(struct ht_driver *device, void *buffer, int64_t bytes,
                             unsigned char name[HT_PEER_NAME]);
    enum ht_err (*peer_open)(struct ht_driver *device, const unsigned char name[HT_PEER_NAME],
                             int64_t bytes, struct ht_remote **peer);
    void (*peer_close)(struct ht_driver *device, struct ht_remote *peer);
    enum ht_err (*transfer_peer)(struct ht_driver *device, void *buffer, int64_t at, int64_t bytes,
                                 struct ht_remote *peer, int64_t to);
};

/* What both back ends have, by the names of their functions. */
#define HT_BACKEND(of)                                                                           \
    .name = #of, .count = of##_count, .missing = of##_missing, .info = of##_info,                \
    .open = of##_open, .close = of##_close, .buffer_create = of##_buffer_create,                 \
    .buffer_destroy = of##_buffer_destroy, .buffer_clear = of##_buffer_clear, .copy = of##_copy, \
    .program_build = of##_program_build, .program_load = of##_program_load,                      \
    .program_destroy = of##_program_destroy, .kernel_create = of##_kernel_create,                \
    .kernel_destroy = of##_kernel_destroy, .launch = of##_launch, .finish = of##_finish,         \
    .launch_seconds = of##_launch_seconds, .event_record = of##_event_record,                    \
    .event_destroy = of##_event_destroy, .event_await = of##_event_await,                        \
    .event_done = of##_event_done, .pinned_create = of##_pinned_create,                          \
    .pinned_destroy = of##_pinned_destroy

extern const struct ht_backend ht_backend_cuda, ht_backend_opencl;

/* Index in the list of the device that ht_device_open takes, -1 when none matches. */
int ht_device_choose(int count, const struct ht_device_info *infos, const char *backend,
                     const char *select, int sharer);

/* ---- cache.c: compiled programs on disk ---- */
/* An entry that cannot be read, verified or written (false), or that others than the user could
 * have written, counts as absent. Free *binary. */
bool ht_cache_load(const char *directory, const struct ht_device_info *info, const char *text,
                   void **binary, size_t *size);
bool ht_cache_store(const char *directory, const struct ht_device_info *info, const char *text,
                    const void *binary, size_t size);
