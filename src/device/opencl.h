/* Shared by the files of the OpenCL back end. It needs OpenCL 1.2 only.
 */
#ifndef HTWAVE_DEVICE_OPENCL_H
#define HTWAVE_DEVICE_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include "backend.h"

struct ht_cl_device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue[2]; /* [enum ht_queue]; the work queue measures times
                                */
    struct ht_nvml *nvml;      /* NULL: energy is unknown */
    bool nvidia, pocl;
};

/* Text of an error code that users meet, else "OpenCL error". */
const char *ht_cl_code_name(cl_int code);
HT_CHECKED enum ht_err ht_cl_check(cl_int code, const char *what);

/* opencl_memory.c: operations of struct ht_backend. */
HT_CHECKED enum ht_err ht_cl_buffer_create(void *device, int64_t bytes, void **buffer);
void ht_cl_buffer_destroy(void *buffer);
HT_CHECKED enum ht_err ht_cl_buffer_write(void *device, void *buffer, struct ht_span span,
                                          const void *data);
HT_CHECKED enum ht_err ht_cl_buffer_read(void *device, void *buffer, struct ht_span span,
                                         void *data);
HT_CHECKED enum ht_err ht_cl_event_create(void *device, void **event);
void ht_cl_event_destroy(void *handle);
HT_CHECKED enum ht_err ht_cl_event_record(void *device, void *event, enum ht_queue queue);
HT_CHECKED enum ht_err ht_cl_event_await(void *device, void *event, enum ht_queue queue);
HT_CHECKED enum ht_err ht_cl_event_done(void *device, void *event, bool *done);
HT_CHECKED enum ht_err ht_cl_pinned_create(void *device, int64_t bytes, void **memory,
                                           void **pinned);
void ht_cl_pinned_destroy(void *handle);
HT_CHECKED enum ht_err ht_cl_transfer_read(void *device, void *buffer, int64_t at, int64_t bytes,
                                           void *memory);
HT_CHECKED enum ht_err ht_cl_transfer_write(void *device, void *buffer, int64_t at, int64_t bytes,
                                            const void *memory);

#endif
