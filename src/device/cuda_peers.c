/* Buffers of other processes, opened by the driver's handles. A handle stands for a whole
 * allocation, so a name also holds the buffer's offset in it. A process cannot open its own
 * handles; then the name's address is used.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_device.h"

/* The bytes of a name. */
struct name {
    CUipcMemHandle handle;
    uint64_t process; /* the process that allocated it */
    uint64_t address; /* there */
    int64_t offset;   /* in the allocation */
    int64_t bytes;
};
_Static_assert(sizeof(struct name) <= HT_PEER_NAME, "names of peers");

struct cuda_peer {
    struct ht_cuda_device *device;
    CUdeviceptr base; /* of the allocation; 0: of this process */
    CUdeviceptr at;
};

/* A number that identifies this process, the same at every call. Process ids alone may repeat
 * between containers. */
static uint64_t process_number(void) {
    static uint64_t number;
    if (number == 0) {
        const struct {
            double time;
            int64_t id;
            const void *place;
        } self = {ht_clock(), (int64_t)getpid(), &number};
        number = ht_hash(HT_HASH_SEED, &self, sizeof self) | 1;
    }
    return number;
}

enum ht_err ht_cuda_peer_name(void *handle, void *buffer_handle, unsigned char out[HT_PEER_NAME]) {
    const struct ht_cuda_device *device = handle;
    const struct ht_cuda_buffer *buffer = buffer_handle;
    struct name name;
    CUdeviceptr base = 0;
    size_t size = 0;
    memset(&name, 0, sizeof name);
    TRY(ht_cuda_enter(device));
    TRY(ht_cuda_check(device->cuda->cuMemGetAddressRange(&base, &size, buffer->at),
                      "the allocation of a buffer"));
    TRY(ht_cuda_check(device->cuda->cuIpcGetMemHandle(&name.handle, base),
                      "naming a buffer for other processes"));
    name.process = process_number();
    name.address = (uint64_t)buffer->at;
    name.offset = (int64_t)(buffer->at - base);
    name.bytes = buffer->bytes;
    memset(out, 0, HT_PEER_NAME);
    memcpy(out, &name, sizeof name);
    return HT_OK;
}

static enum ht_err open_into(struct cuda_peer *peer, const struct name *name) {
    const struct ht_cuda_device *device = peer->device;
    if (name->process == process_number()) {
        peer->at = (CUdeviceptr)name->address;
        return HT_OK;
    }
    TRY(ht_cuda_enter(device));
    TRY(ht_cuda_check(device->cuda->cuIpcOpenMemHandle(&peer->base, name->handle,
                                                       CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
                      "opening a buffer of another process"));
    peer->at = peer->base + (CUdeviceptr)name->offset;
    return HT_OK;
}

enum ht_err ht_cuda_peer_open(void *handle, const unsigned char from[HT_PEER_NAME], int64_t bytes,
                              void **out) {
    struct cuda_peer *peer = NULL;
    struct name name;
    memcpy(&name, from, sizeof name);
    REQUIRE(bytes <= name.bytes, HT_ERR_INTERNAL, "a peer's buffer has %lld bytes, not %lld",
            (long long)name.bytes, (long long)bytes);
    TRY(HT_ALLOC(peer, 1));
    peer->device = handle;
    enum ht_err err = open_into(peer, &name);
    return HT_MADE(err, peer, free, out);
}

void ht_cuda_peer_close(void *handle) {
    struct cuda_peer *peer = handle;
    ht_cuda_settle(peer->device);
    if (peer->base != 0 && ht_cuda_enter(peer->device) == HT_OK)
        (void)peer->device->cuda->cuIpcCloseMemHandle(peer->base);
    free(peer);
}

enum ht_err ht_cuda_transfer_peer(void *handle, void *buffer_handle, int64_t at, int64_t bytes,
                                  void *peer_handle, int64_t to) {
    const struct ht_cuda_device *device = handle;
    const struct ht_cuda_buffer *buffer = buffer_handle;
    const struct cuda_peer *peer = peer_handle;
    TRY(ht_cuda_enter(device));
    return ht_cuda_check(device->cuda->cuMemcpyAsync(peer->at + (CUdeviceptr)to,
                                                     buffer->at + (CUdeviceptr)at, (size_t)bytes,
                                                     device->queue[HT_QUEUE_TRANSFER]),
                         "copying to a buffer of another process");
}
