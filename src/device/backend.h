/* What a back end provides. Handles are the back end's own structs; each
 * operation follows the contract of its namesake in htwave/device.h, its
 * arguments having been checked against the sizes of what they name.
 */
#ifndef HTWAVE_BACKEND_H
#define HTWAVE_BACKEND_H

#include "htwave/device.h"

struct ht_backend {
    const char *name;
    enum ht_err (*count)(int *count);
    /* Why there are no devices; NULL: unknown, or there are some. */
    const char *(*missing)(void);
    /* info is zero before. */
    enum ht_err (*info)(int index, struct ht_device_info *info);
    enum ht_err (*open)(int index, void **device);
    void (*close)(void *device);
    enum ht_err (*buffer_create)(void *device, int64_t bytes, void **buffer);
    void (*buffer_destroy)(void *buffer);
    enum ht_err (*buffer_write)(void *device, void *buffer, struct ht_span span,
                                const void *data);
    enum ht_err (*buffer_read)(void *device, void *buffer, struct ht_span span,
                               void *data);
    /* From source text, or from a binary that program_binary gave. registers:
     * the most that a lane shall take where a compiler can be told so, 0: its
     * choice. */
    enum ht_err (*program_build)(void *device, const char *text, int registers,
                                 void **program);
    enum ht_err (*program_load)(void *device, const void *binary, size_t size,
                                int registers, void **program);
    enum ht_err (*program_binary)(void *program, void **binary, size_t *size);
    void (*program_destroy)(void *program);
    enum ht_err (*kernel_create)(void *program, const char *name,
                                 void **kernel);
    void (*kernel_destroy)(void *kernel);
    /* args hold back end buffers in .value when .size is 0. */
    enum ht_err (*launch)(void *device, void *kernel, int nargs,
                          const struct ht_arg *args, const int64_t groups[3],
                          int64_t lanes, void **event);
    /* Why there are no matrix products; NULL: gemm works. */
    const char *(*no_gemm)(void);
    enum ht_err (*gemm)(void *device, bool fp64,
                        const struct ht_gemm_shape *shape,
                        void *const buffers[3], void **event);
    enum ht_err (*finish)(void *device);
    /* Device seconds of a finished launch; frees the event. */
    double (*event_seconds)(void *event);
    double (*joules)(void *device);

    enum ht_err (*mark_create)(void *device, void **mark);
    void (*mark_destroy)(void *mark);
    enum ht_err (*mark_set)(void *device, void *mark, enum ht_queue queue);
    enum ht_err (*mark_await)(void *device, void *mark, enum ht_queue queue);
    enum ht_err (*mark_done)(void *device, void *mark, bool *done);
    /* *memory is made here, or wrapped when it is not NULL. */
    enum ht_err (*pinned_create)(void *device, int64_t bytes, void **memory,
                                 void **pinned);
    void (*pinned_destroy)(void *pinned);
    enum ht_err (*transfer_read)(void *device, void *buffer, int64_t at,
                                 int64_t bytes, void *memory);
    enum ht_err (*transfer_write)(void *device, void *buffer, int64_t at,
                                  int64_t bytes, const void *memory);
    /* These four may be NULL where every info has no_peer. */
    enum ht_err (*peer_name)(void *device, void *buffer,
                             unsigned char name[HT_PEER_NAME]);
    enum ht_err (*peer_open)(void *device,
                             const unsigned char name[HT_PEER_NAME],
                             int64_t bytes, void **peer);
    void (*peer_close)(void *peer);
    enum ht_err (*transfer_peer)(void *device, void *buffer, int64_t at,
                                 int64_t bytes, void *peer, int64_t to);
};

extern const struct ht_backend ht_backend_cuda, ht_backend_opencl;

#endif
