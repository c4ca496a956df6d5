/* The CUDA back end: the driver's library, devices, queues and events. Its memory is in
 * cuda_memory.c and cuda_peers.c, its programs and launches in cuda_program.c, cuda_sequence.c and
 * cuda_nvrtc.c. Building needs only the headers of the CUDA toolkit; the libraries are loaded at
 * run time.
 */
#include "cuda_device.h"

#include <stdio.h>
#include <stdlib.h>

#include "cuda_nvrtc.h"
#include "library.h"
#include "nvml.h"

/* ---- the library ---- */

static struct {
    bool tried;
    struct ht_cuda cuda;
    char missing[200];
} driver;

static bool need(void *library, const char *name, void *function) {
    if (ht_library_find(library, name, function)) return true;
    snprintf(driver.missing, sizeof driver.missing, "the driver is too old: it has no function %s",
             name);
    return false;
}

/* Names after the macros of cuda.h. */
#define TEXT(name) #name
#define NEED(name) &&need(library, TEXT(name), &cuda->name)
static bool find_all(void *library, struct ht_cuda *cuda) {
    (void)ht_library_find(library, "cuFuncGetParamInfo", &cuda->cuFuncGetParamInfo_v1);
    (void)ht_library_find(library, "cuDeviceGetUuid_v2", &cuda->cuDeviceGetUuid_v2);
    return need(library, "cuEventElapsedTime", &cuda->cuEventElapsedTime_v1) &&
           need(library, "cuGraphAddKernelNode", &cuda->cuGraphAddKernelNode_v1)
               HT_CUDA_FUNCTIONS(NEED);
}

static const char *text_of(CUresult code) {
    const char *text = NULL;
    if (driver.cuda.cuGetErrorString(code, &text) != CUDA_SUCCESS) text = NULL;
    return text != NULL ? text : "unknown error";
}

/* Starts the library; the driver's compiler must exist, too. */
static bool start(struct ht_cuda *cuda) {
    CUresult code = cuda->cuInit(0);
    if (code == CUDA_SUCCESS) code = cuda->cuDriverGetVersion(&cuda->driver);
    if (code == CUDA_SUCCESS) code = cuda->cuDeviceGetCount(&cuda->devices);
    if (code == CUDA_SUCCESS && cuda->devices < 1) code = CUDA_ERROR_NO_DEVICE;
    if (code != CUDA_SUCCESS) {
        snprintf(driver.missing, sizeof driver.missing, "driver error: %s (code %d)", text_of(code),
                 (int)code);
        return false;
    }
    const char *missing = ht_nvrtc_missing(cuda->driver);
    if (missing != NULL) snprintf(driver.missing, sizeof driver.missing, "%s", missing);
    return missing == NULL;
}

static void load(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    driver.tried = true;
    if (library == NULL) {
        snprintf(driver.missing, sizeof driver.missing, "%s",
                 "no NVIDIA driver is installed (libcuda.so.1 not found)");
        return;
    }
    if (!find_all(library, &driver.cuda) || !start(&driver.cuda)) driver.cuda.devices = 0;
}

const struct ht_cuda *ht_cuda_get(void) {
    if (!driver.tried) load();
    return driver.cuda.devices > 0 ? &driver.cuda : NULL;
}

const char *ht_cuda_missing(void) {
    return ht_cuda_get() != NULL ? NULL : driver.missing;
}

enum ht_err ht_cuda_check(CUresult code, const char *what) {
    REQUIRE(code == CUDA_SUCCESS, HT_ERR_DEVICE, "%s: %s (code %d)", what, text_of(code),
            (int)code);
    return HT_OK;
}

/* ---- devices ---- */

static enum ht_err cuda_count(int *count) {
    const struct ht_cuda *cuda = ht_cuda_get();
    *count = cuda != NULL ? cuda->devices : 0;
    return HT_OK;
}

static int attribute(const struct ht_cuda *cuda, CUdevice id, CUdevice_attribute what) {
    int value = 0;
    if (cuda->cuDeviceGetAttribute(&value, what, id) != CUDA_SUCCESS) return 0;
    return value;
}

static int architecture_of(const struct ht_cuda *cuda, CUdevice id) {
    return 10 * attribute(cuda, id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
           attribute(cuda, id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

static struct ht_pci pci_of(const struct ht_cuda *cuda, CUdevice id) {
    return (struct ht_pci){.domain = attribute(cuda, id, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                           .bus = attribute(cuda, id, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                           .slot = attribute(cuda, id, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)};
}

static void name_hardware(const struct ht_cuda *cuda, CUdevice id, struct ht_device_info *info) {
    CUuuid uuid = {{0}};
    if (cuda->cuDeviceGetUuid_v2 == NULL || cuda->cuDeviceGetUuid_v2(&uuid, id) != CUDA_SUCCESS) {
        ht_pci_text(pci_of(cuda, id), info->id, sizeof info->id);
        return;
    }
    for (size_t i = 0; i < sizeof uuid.bytes; i++)
        snprintf(info->id + 2 * i, 3, "%02x", (unsigned char)uuid.bytes[i]);
}

/* Local memory: the limit of arrays of fixed size. */
static enum ht_err cuda_info(int index, struct ht_device_info *info) {
    const struct ht_cuda *cuda = ht_cuda_get();
    CUdevice id;
    size_t memory = 0;
    REQUIRE(cuda != NULL, HT_ERR_DEVICE, "%s", ht_cuda_missing());
    TRY(ht_cuda_check(cuda->cuDeviceGet(&id, index), "finding a device"));
    TRY(ht_cuda_check(cuda->cuDeviceGetName(info->name, (int)sizeof info->name, id),
                      "a device's name"));
    TRY(ht_cuda_check(cuda->cuDeviceTotalMem(&memory, id), "a device's memory"));
    snprintf(info->vendor, sizeof info->vendor, "NVIDIA Corporation");
    snprintf(info->platform, sizeof info->platform, "NVIDIA CUDA");
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d, NVRTC %s", cuda->driver / 1000,
             cuda->driver % 1000 / 10, ht_nvrtc_version());
    info->gpu = info->fp64 = true;
    info->memory = info->max_buffer = (int64_t)memory;
    info->local_memory = attribute(cuda, id, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    info->max_group = attribute(cuda, id, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info->max_arguments = 4096; /* of every architecture and version */
    info->compute_units = attribute(cuda, id, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->open_memory = attribute(cuda, id, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    info->ptx = architecture_of(cuda, id);
    info->ptx_own = ht_nvrtc_own(info->ptx);
    name_hardware(cuda, id, info);
    info->greedy = true; /* NVRTC 13 */
    if (!attribute(cuda, id, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING))
        info->no_peer = "the device has no unified addresses";
    return HT_OK;
}

enum ht_err ht_cuda_enter(const struct ht_cuda_device *device) {
    return ht_cuda_check(device->cuda->cuCtxSetCurrent(device->context),
                         "taking the device's context");
}

void ht_cuda_settle(const struct ht_cuda_device *device) {
    if (device->context == NULL || ht_cuda_enter(device) != HT_OK) return;
    for (int q = 0; q < 2; q++)
        if (device->queue[q] != NULL) (void)device->cuda->cuStreamSynchronize(device->queue[q]);
}

static void cuda_close(void *handle) {
    struct ht_cuda_device *device = handle;
    const struct ht_cuda *cuda = device->cuda;
    if (device->context != NULL) {
        ht_cuda_settle(device);
        ht_cuda_forget_timers(device);
        for (int q = 0; q < 2; q++)
            if (device->queue[q] != NULL) (void)cuda->cuStreamDestroy(device->queue[q]);
        (void)cuda->cuCtxSetCurrent(NULL);
        (void)cuda->cuDevicePrimaryCtxRelease(device->id);
    }
    ht_nvml_close(device->nvml);
    free(device);
}

static enum ht_err open_into(struct ht_cuda_device *device, int index) {
    const struct ht_cuda *cuda = device->cuda;
    TRY(ht_cuda_check(cuda->cuDeviceGet(&device->id, index), "opening the device"));
    device->architecture = architecture_of(cuda, device->id);
    device->most_pitch = attribute(cuda, device->id, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    CUcontext context = NULL;
    TRY(ht_cuda_check(cuda->cuDevicePrimaryCtxRetain(&context, device->id), "opening the device"));
    device->context = context;
    TRY(ht_cuda_enter(device));
    for (int q = 0; q < 2; q++)
        TRY(ht_cuda_check(cuda->cuStreamCreate(&device->queue[q], CU_STREAM_NON_BLOCKING),
                          "opening the device's queues"));
    device->nvml = ht_nvml_open(pci_of(cuda, device->id));
    return HT_OK;
}

static enum ht_err cuda_open(int index, void **out) {
    struct ht_cuda_device *device = NULL;
    const struct ht_cuda *cuda = ht_cuda_get();
    REQUIRE(cuda != NULL, HT_ERR_DEVICE, "%s", ht_cuda_missing());
    TRY(HT_ALLOC(device, 1));
    device->cuda = cuda;
    enum ht_err err = open_into(device, index);
    return HT_MADE(err, device, cuda_close, out);
}

static enum ht_err cuda_finish(void *handle) {
    const struct ht_cuda_device *device = handle;
    TRY(ht_cuda_enter(device));
    return ht_cuda_check(device->cuda->cuStreamSynchronize(device->queue[HT_QUEUE_WORK]),
                         "running kernels");
}

static double cuda_joules(void *handle) {
    const struct ht_cuda_device *device = handle;
    return ht_nvml_joules(device->nvml);
}

static const char *cuda_no_gemm(void) {
    return "CLBlast needs OpenCL (device.backend = \"opencl\")";
}

/* ---- events ---- */

struct cuda_queue_event {
    struct ht_cuda_device *device;
    CUevent handle;
};

static enum ht_err cuda_event_create(void *handle, void **out) {
    struct ht_cuda_device *device = handle;
    struct cuda_queue_event *event = NULL;
    TRY(ht_cuda_enter(device));
    TRY(HT_ALLOC(event, 1));
    event->device = device;
    enum ht_err err = ht_cuda_check(
        device->cuda->cuEventCreate(&event->handle, CU_EVENT_DISABLE_TIMING), "creating an event");
    return HT_MADE(err, event, free, out);
}

static void cuda_event_destroy(void *handle) {
    struct cuda_queue_event *event = handle;
    if (ht_cuda_enter(event->device) == HT_OK)
        (void)event->device->cuda->cuEventDestroy(event->handle);
    free(event);
}

static enum ht_err cuda_event_record(void *handle, void *event_handle, enum ht_queue queue) {
    const struct ht_cuda_device *device = handle;
    const struct cuda_queue_event *event = event_handle;
    TRY(ht_cuda_enter(device));
    return ht_cuda_check(device->cuda->cuEventRecord(event->handle, device->queue[queue]),
                         "recording an event");
}

static enum ht_err cuda_event_await(void *handle, void *event_handle, enum ht_queue queue) {
    const struct ht_cuda_device *device = handle;
    const struct cuda_queue_event *event = event_handle;
    TRY(ht_cuda_enter(device));
    return ht_cuda_check(device->cuda->cuStreamWaitEvent(device->queue[queue], event->handle, 0),
                         "waiting for an event");
}

static enum ht_err cuda_event_done(void *handle, void *event_handle, bool *done) {
    const struct ht_cuda_device *device = handle;
    const struct cuda_queue_event *event = event_handle;
    TRY(ht_cuda_enter(device));
    CUresult code = device->cuda->cuEventQuery(event->handle);
    *done = code == CUDA_SUCCESS;
    if (code == CUDA_ERROR_NOT_READY) return HT_OK;
    return ht_cuda_check(code, "work before an event");
}

const struct ht_backend ht_backend_cuda = {
    .name = "cuda",
    .count = cuda_count,
    .missing = ht_cuda_missing,
    .info = cuda_info,
    .open = cuda_open,
    .close = cuda_close,
    .buffer_create = ht_cuda_buffer_create,
    .buffer_destroy = ht_cuda_buffer_destroy,
    .buffer_write = ht_cuda_buffer_write,
    .buffer_read = ht_cuda_buffer_read,
    .program_build = ht_cuda_program_build,
    .program_load = ht_cuda_program_load,
    .program_binary = ht_cuda_program_binary,
    .program_destroy = ht_cuda_program_destroy,
    .kernel_create = ht_cuda_kernel_create,
    .kernel_destroy = ht_cuda_kernel_destroy,
    .kernel_open_memory = ht_cuda_kernel_open_memory,
    .launch = ht_cuda_launch,
    .sequence_create = ht_cuda_sequence_create,
    .sequence_destroy = ht_cuda_sequence_destroy,
    .sequence_run = ht_cuda_sequence_run,
    .no_gemm = cuda_no_gemm,
    .finish = cuda_finish,
    .launch_seconds = ht_cuda_launch_seconds,
    .joules = cuda_joules,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_await = cuda_event_await,
    .event_done = cuda_event_done,
    .pinned_create = ht_cuda_pinned_create,
    .pinned_destroy = ht_cuda_pinned_destroy,
    .transfer_read = ht_cuda_transfer_read,
    .transfer_write = ht_cuda_transfer_write,
    .peer_name = ht_cuda_peer_name,
    .peer_open = ht_cuda_peer_open,
    .peer_close = ht_cuda_peer_close,
    .transfer_peer = ht_cuda_transfer_peer,
};
