/* Buffers, pinned memory and transfers of the CUDA back end. Synchronous copies also go to the work
 * queue, so that they are in order with kernels; then the host waits for them.
 */
#include <stdlib.h>

#include "cuda_device.h"

/* ---- buffers ---- */

enum ht_err ht_cuda_buffer_create(void *handle, int64_t bytes, void **out) {
    struct ht_cuda_device *device = handle;
    struct ht_cuda_buffer *buffer = NULL;
    char size[32], what[64];
    TRY(ht_cuda_enter(device));
    TRY(HT_ALLOC(buffer, 1));
    buffer->device = device;
    buffer->bytes = bytes;
    snprintf(what, sizeof what, "a device buffer of %s", ht_text_bytes((double)bytes, size));
    enum ht_err err = ht_cuda_check(device->cuda->cuMemAlloc(&buffer->at, (size_t)bytes), what);
    return HT_MADE(err, buffer, free, out);
}

void ht_cuda_buffer_destroy(void *handle) {
    struct ht_cuda_buffer *buffer = handle;
    ht_cuda_settle(buffer->device);
    if (ht_cuda_enter(buffer->device) == HT_OK) (void)buffer->device->cuda->cuMemFree(buffer->at);
    free(buffer);
}

/* A range at an address of the device: copied to or from the host. */
static enum ht_err copy(const struct ht_cuda_device *device, CUdeviceptr at, int64_t bytes,
                        void *in, const void *out, enum ht_queue queue) {
    CUstream stream = device->queue[queue];
    if (in != NULL)
        return ht_cuda_check(device->cuda->cuMemcpyDtoHAsync(in, at, (size_t)bytes, stream),
                             "reading from the device");
    return ht_cuda_check(device->cuda->cuMemcpyHtoDAsync(at, out, (size_t)bytes, stream),
                         "writing to the device");
}

/* Rows with gaps between them on the device. */
static enum ht_err copy_rows(const struct ht_cuda_device *device, CUdeviceptr at,
                             struct ht_span span, void *in, const void *out) {
    CUDA_MEMCPY2D rows = {.WidthInBytes = (size_t)span.width, .Height = (size_t)span.rows};
    if (in != NULL) {
        rows.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        rows.srcDevice = at;
        rows.srcPitch = (size_t)span.pitch;
        rows.dstMemoryType = CU_MEMORYTYPE_HOST;
        rows.dstHost = in;
        rows.dstPitch = (size_t)span.width;
    } else {
        rows.srcMemoryType = CU_MEMORYTYPE_HOST;
        rows.srcHost = out;
        rows.srcPitch = (size_t)span.width;
        rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        rows.dstDevice = at;
        rows.dstPitch = (size_t)span.pitch;
    }
    return ht_cuda_check(device->cuda->cuMemcpy2DAsync(&rows, device->queue[HT_QUEUE_WORK]),
                         in != NULL ? "reading from the device" : "writing to the device");
}

/* in: destination in host memory, or out: source there. Rows further apart than the driver's
 * largest pitch are copied one by one. */
static enum ht_err copy_span(struct ht_cuda_device *device, const struct ht_cuda_buffer *buffer,
                             struct ht_span span, char *in, const char *out) {
    CUdeviceptr at = buffer->at + (CUdeviceptr)span.offset;
    if (span.width == 0) return HT_OK;
    TRY(ht_cuda_enter(device));
    if (span.rows == 1 || span.pitch == span.width)
        TRY(copy(device, at, span.width * span.rows, in, out, HT_QUEUE_WORK));
    else if (span.pitch <= device->most_pitch)
        TRY(copy_rows(device, at, span, in, out));
    else
        for (int64_t r = 0; r < span.rows; r++)
            TRY(copy(device, at + (CUdeviceptr)(r * span.pitch), span.width,
                     in != NULL ? in + r * span.width : NULL,
                     out != NULL ? out + r * span.width : NULL, HT_QUEUE_WORK));
    return ht_cuda_check(device->cuda->cuStreamSynchronize(device->queue[HT_QUEUE_WORK]),
                         in != NULL ? "reading from the device" : "writing to the device");
}

enum ht_err ht_cuda_buffer_write(void *device, void *buffer, struct ht_span span,
                                 const void *data) {
    return copy_span(device, buffer, span, NULL, data);
}

enum ht_err ht_cuda_buffer_read(void *device, void *buffer, struct ht_span span, void *data) {
    return copy_span(device, buffer, span, data, NULL);
}

/* ---- pinned memory ---- */

struct cuda_pinned {
    struct ht_cuda_device *device;
    void *memory;
    bool locked; /* by the driver, which has allocated it */
};

/* Plain memory where the driver refuses to lock some. */
static enum ht_err pin(struct cuda_pinned *pinned, int64_t bytes) {
    const struct ht_cuda *cuda = pinned->device->cuda;
    pinned->locked = cuda->cuMemAllocHost(&pinned->memory, (size_t)bytes) == CUDA_SUCCESS;
    return pinned->locked ? HT_OK : ht_mem_alloc((size_t)bytes, 1, &pinned->memory);
}

enum ht_err ht_cuda_pinned_create(void *handle, int64_t bytes, void **memory, void **out) {
    struct cuda_pinned *pinned = NULL;
    TRY(ht_cuda_enter(handle));
    TRY(HT_ALLOC(pinned, 1));
    pinned->device = handle;
    enum ht_err err = pin(pinned, bytes);
    if (err != HT_OK) {
        free(pinned);
        return err;
    }
    *memory = pinned->memory;
    *out = pinned;
    return HT_OK;
}

void ht_cuda_pinned_destroy(void *handle) {
    struct cuda_pinned *pinned = handle;
    const struct ht_cuda *cuda = pinned->device->cuda;
    ht_cuda_settle(pinned->device);
    if (!pinned->locked)
        free(pinned->memory);
    else if (ht_cuda_enter(pinned->device) == HT_OK)
        (void)cuda->cuMemFreeHost(pinned->memory);
    free(pinned);
}

/* ---- transfers ---- */

enum ht_err ht_cuda_transfer_read(void *handle, void *buffer_handle, int64_t at, int64_t bytes,
                                  void *memory) {
    const struct ht_cuda_buffer *buffer = buffer_handle;
    TRY(ht_cuda_enter(handle));
    return copy(handle, buffer->at + (CUdeviceptr)at, bytes, memory, NULL, HT_QUEUE_TRANSFER);
}

enum ht_err ht_cuda_transfer_write(void *handle, void *buffer_handle, int64_t at, int64_t bytes,
                                   const void *memory) {
    const struct ht_cuda_buffer *buffer = buffer_handle;
    TRY(ht_cuda_enter(handle));
    return copy(handle, buffer->at + (CUdeviceptr)at, bytes, NULL, memory, HT_QUEUE_TRANSFER);
}
