/* Buffers, events, pinned memory and transfers of the OpenCL back end. An event is that of a marker
 * command. Pinned memory is that of a buffer which the driver keeps in host memory, mapped for its
 * whole life.
 */
#include <stdlib.h>

#include "opencl.h"

struct cl_queue_event {
    cl_event handle; /* NULL: not recorded yet */
};

struct cl_pinned {
    struct ht_cl_device *device;
    cl_mem buffer; /* NULL: plain memory */
    void *memory;
};

enum ht_err ht_cl_buffer_create(void *handle, int64_t bytes, void **out) {
    struct ht_cl_device *device = handle;
    cl_int code = CL_SUCCESS;
    char size[32];
    *out = clCreateBuffer(device->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code);
    REQUIRE(code == CL_SUCCESS, HT_ERR_DEVICE, "a device buffer of %s: %s (code %d)",
            ht_text_bytes((double)bytes, size), ht_cl_code_name(code), (int)code);
    return HT_OK;
}

void ht_cl_buffer_destroy(void *buffer) {
    (void)clReleaseMemObject((cl_mem)buffer);
}

enum ht_err ht_cl_buffer_write(void *handle, void *buffer, struct ht_span span, const void *data) {
    struct ht_cl_device *device = handle;
    if (span.width == 0) return HT_OK;
    if (span.rows == 1 || span.pitch == span.width)
        return ht_cl_check(clEnqueueWriteBuffer(device->queue[HT_QUEUE_WORK], (cl_mem)buffer,
                                                CL_TRUE, (size_t)span.offset,
                                                (size_t)(span.width * span.rows), data, 0, NULL,
                                                NULL),
                           "writing to the device");
    /* Uses rows as the y axis; x is the part of the offset within a row. */
    size_t at[3] = {(size_t)(span.offset % span.pitch), (size_t)(span.offset / span.pitch), 0};
    size_t origin[3] = {0, 0, 0};
    size_t region[3] = {(size_t)span.width, (size_t)span.rows, 1};
    return ht_cl_check(clEnqueueWriteBufferRect(device->queue[HT_QUEUE_WORK], (cl_mem)buffer,
                                                CL_TRUE, at, origin, region, (size_t)span.pitch, 0,
                                                (size_t)span.width, 0, data, 0, NULL, NULL),
                       "writing to the device");
}

enum ht_err ht_cl_buffer_read(void *handle, void *buffer, struct ht_span span, void *data) {
    struct ht_cl_device *device = handle;
    if (span.width == 0) return HT_OK;
    if (span.rows == 1 || span.pitch == span.width)
        return ht_cl_check(clEnqueueReadBuffer(device->queue[HT_QUEUE_WORK], (cl_mem)buffer,
                                               CL_TRUE, (size_t)span.offset,
                                               (size_t)(span.width * span.rows), data, 0, NULL,
                                               NULL),
                           "reading from the device");
    size_t at[3] = {(size_t)(span.offset % span.pitch), (size_t)(span.offset / span.pitch), 0};
    size_t origin[3] = {0, 0, 0};
    size_t region[3] = {(size_t)span.width, (size_t)span.rows, 1};
    return ht_cl_check(clEnqueueReadBufferRect(device->queue[HT_QUEUE_WORK], (cl_mem)buffer,
                                               CL_TRUE, at, origin, region, (size_t)span.pitch, 0,
                                               (size_t)span.width, 0, data, 0, NULL, NULL),
                       "reading from the device");
}

enum ht_err ht_cl_event_create(void *device, void **out) {
    struct cl_queue_event *event = NULL;
    (void)device;
    TRY(HT_ALLOC(event, 1));
    *out = event;
    return HT_OK;
}

static void forget_event(struct cl_queue_event *event) {
    if (event->handle != NULL) (void)clReleaseEvent(event->handle);
    event->handle = NULL;
}

void ht_cl_event_destroy(void *handle) {
    forget_event(handle);
    free(handle);
}

/* Flushed, so that another queue may wait for it. */
enum ht_err ht_cl_event_record(void *handle, void *event_handle, enum ht_queue queue) {
    struct ht_cl_device *device = handle;
    struct cl_queue_event *event = event_handle;
    forget_event(event);
    TRY(ht_cl_check(clEnqueueMarkerWithWaitList(device->queue[queue], 0, NULL, &event->handle),
                    "recording an event"));
    return ht_cl_check(clFlush(device->queue[queue]), "recording an event");
}

enum ht_err ht_cl_event_await(void *handle, void *event_handle, enum ht_queue queue) {
    struct ht_cl_device *device = handle;
    const struct cl_queue_event *event = event_handle;
    return ht_cl_check(clEnqueueBarrierWithWaitList(device->queue[queue], 1, &event->handle, NULL),
                       "waiting for an event");
}

enum ht_err ht_cl_event_done(void *handle, void *event_handle, bool *done) {
    const struct cl_queue_event *event = event_handle;
    cl_int status = CL_QUEUED;
    (void)handle;
    TRY(ht_cl_check(clGetEventInfo(event->handle, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                   &status, NULL),
                    "querying an event"));
    *done = status == CL_COMPLETE;
    return status < 0 ? ht_cl_check(status, "work before an event") : HT_OK;
}

/* Makes a buffer in memory of the driver and keeps it mapped: NVIDIA then locks its pages (55 GB/s
 * on an H200 instead of 14 to 17). Transfers use the memory, not the buffer. False when the driver
 * creates no buffer. */
static bool map(struct cl_pinned *pinned, int64_t bytes) {
    struct ht_cl_device *device = pinned->device;
    cl_int code = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                   (size_t)bytes, NULL, &code);
    if (code != CL_SUCCESS || buffer == NULL) return false;
    void *memory =
        clEnqueueMapBuffer(device->queue[HT_QUEUE_TRANSFER], buffer, CL_TRUE,
                           CL_MAP_READ | CL_MAP_WRITE, 0, (size_t)bytes, 0, NULL, NULL, &code);
    if (code != CL_SUCCESS || memory == NULL) {
        (void)clReleaseMemObject(buffer);
        return false;
    }
    pinned->buffer = buffer;
    pinned->memory = memory;
    return true;
}

enum ht_err ht_cl_pinned_create(void *handle, int64_t bytes, void **memory, void **out) {
    struct cl_pinned *pinned = NULL;
    TRY(HT_ALLOC(pinned, 1));
    pinned->device = handle;
    if (!map(pinned, bytes)) {
        enum ht_err err = ht_mem_alloc((size_t)bytes, 1, &pinned->memory);
        if (err != HT_OK) {
            free(pinned);
            return err;
        }
    }
    *memory = pinned->memory;
    *out = pinned;
    return HT_OK;
}

void ht_cl_pinned_destroy(void *handle) {
    struct cl_pinned *pinned = handle;
    cl_command_queue queue = pinned->device->queue[HT_QUEUE_TRANSFER];
    if (pinned->buffer != NULL)
        (void)clEnqueueUnmapMemObject(queue, pinned->buffer, pinned->memory, 0, NULL, NULL);
    (void)clFinish(queue); /* transfers may be under way after a failure */
    if (pinned->buffer != NULL)
        (void)clReleaseMemObject(pinned->buffer);
    else
        free(pinned->memory);
    free(pinned);
}

enum ht_err ht_cl_transfer_read(void *handle, void *buffer, int64_t at, int64_t bytes,
                                void *memory) {
    struct ht_cl_device *device = handle;
    cl_command_queue queue = device->queue[HT_QUEUE_TRANSFER];
    TRY(ht_cl_check(clEnqueueReadBuffer(queue, (cl_mem)buffer, CL_FALSE, (size_t)at, (size_t)bytes,
                                        memory, 0, NULL, NULL),
                    "reading from the device"));
    return ht_cl_check(clFlush(queue), "reading from the device");
}

enum ht_err ht_cl_transfer_write(void *handle, void *buffer, int64_t at, int64_t bytes,
                                 const void *memory) {
    struct ht_cl_device *device = handle;
    cl_command_queue queue = device->queue[HT_QUEUE_TRANSFER];
    TRY(ht_cl_check(clEnqueueWriteBuffer(queue, (cl_mem)buffer, CL_FALSE, (size_t)at, (size_t)bytes,
                                         memory, 0, NULL, NULL),
                    "writing to the device"));
    return ht_cl_check(clFlush(queue), "writing to the device");
}
