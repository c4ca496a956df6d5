/* The CUDA back end: the driver's library, devices, queues, events and memory. Its programs and
 * launches are in cuda_program.c and cuda_nvrtc.c. Building needs only the headers of the CUDA
 * toolkit; the libraries are loaded at run time.
 */
#include "cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvidia.h"

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

static enum ht_err cuda_event_record(void *handle, void **event, enum ht_queue queue) {
    const struct ht_cuda_device *device = handle;
    CUevent fresh = *event;
    TRY(ht_cuda_enter(device));
    if (fresh == NULL)
        TRY(ht_cuda_check(device->cuda->cuEventCreate(&fresh, CU_EVENT_DISABLE_TIMING),
                          "creating an event"));
    *event = fresh;
    return ht_cuda_check(device->cuda->cuEventRecord(fresh, device->queue[queue]),
                         "recording an event");
}

static void cuda_event_destroy(void *handle, void *event) {
    const struct ht_cuda_device *device = handle;
    if (ht_cuda_enter(device) == HT_OK) (void)device->cuda->cuEventDestroy(event);
}

static enum ht_err cuda_event_await(void *handle, void *event, enum ht_queue queue) {
    const struct ht_cuda_device *device = handle;
    TRY(ht_cuda_enter(device));
    return ht_cuda_check(device->cuda->cuStreamWaitEvent(device->queue[queue], event, 0),
                         "waiting for an event");
}

static enum ht_err cuda_event_done(void *handle, void *event, bool *done) {
    const struct ht_cuda_device *device = handle;
    TRY(ht_cuda_enter(device));
    CUresult code = device->cuda->cuEventQuery(event);
    *done = code == CUDA_SUCCESS;
    if (code == CUDA_ERROR_NOT_READY) return HT_OK;
    return ht_cuda_check(code, "work before an event");
}

/* ---- buffers ---- */

static enum ht_err cuda_buffer_create(void *handle, int64_t bytes, void **out) {
    struct ht_cuda_device *device = handle;
    struct ht_cuda_buffer *buffer = NULL;
    char what[64];
    TRY(ht_cuda_enter(device));
    TRY(HT_ALLOC(buffer, 1));
    buffer->device = device;
    buffer->bytes = bytes;
    snprintf(what, sizeof what, "a device buffer of %s", HT_BYTES(bytes));
    enum ht_err err = ht_cuda_check(device->cuda->cuMemAlloc(&buffer->at, (size_t)bytes), what);
    return HT_MADE(err, buffer, free, out);
}

static void cuda_buffer_destroy(void *handle) {
    struct ht_cuda_buffer *buffer = handle;
    ht_cuda_settle(buffer->device);
    if (ht_cuda_enter(buffer->device) == HT_OK) (void)buffer->device->cuda->cuMemFree(buffer->at);
    free(buffer);
}

/* A range at an address of the device. */
static CUresult copy_range(const struct ht_cuda_device *device, CUdeviceptr at, int64_t bytes,
                           void *in, const void *out, CUstream queue) {
    if (in != NULL) return device->cuda->cuMemcpyDtoHAsync(in, at, (size_t)bytes, queue);
    return device->cuda->cuMemcpyHtoDAsync(at, out, (size_t)bytes, queue);
}

/* Rows with gaps between them on the device. */
static CUresult copy_rows(const struct ht_cuda_device *device, CUdeviceptr at, struct ht_span span,
                          void *in, const void *out, CUstream queue) {
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
    return device->cuda->cuMemcpy2DAsync(&rows, queue);
}

/* Rows further apart than the driver's largest pitch are copied one by one. On the work queue the
 * copy is in order with kernels; then the host waits for it. */
static enum ht_err cuda_copy(void *handle, void *buffer_handle, struct ht_span span, void *in,
                             const void *out, enum ht_queue on) {
    const struct ht_cuda_device *device = handle;
    const struct ht_cuda_buffer *buffer = buffer_handle;
    const CUdeviceptr at = buffer->at + (CUdeviceptr)span.offset;
    CUstream queue = device->queue[on];
    CUresult code = CUDA_SUCCESS;
    TRY(ht_cuda_enter(device));
    if (span.rows == 1 || span.pitch == span.width)
        code = copy_range(device, at, span.width * span.rows, in, out, queue);
    else if (span.pitch <= device->most_pitch)
        code = copy_rows(device, at, span, in, out, queue);
    else
        for (int64_t r = 0; code == CUDA_SUCCESS && r < span.rows; r++)
            code = copy_range(device, at + (CUdeviceptr)(r * span.pitch), span.width,
                              in != NULL ? (char *)in + r * span.width : NULL,
                              out != NULL ? (const char *)out + r * span.width : NULL, queue);
    if (code == CUDA_SUCCESS && on == HT_QUEUE_WORK)
        code = device->cuda->cuStreamSynchronize(queue);
    return ht_cuda_check(code, in != NULL ? "reading from the device" : "writing to the device");
}

/* Memory that the driver has locked; the handle is the memory itself. */
static void cuda_pinned_create(void *handle, int64_t bytes, void **memory, void **pinned) {
    const struct ht_cuda_device *device = handle;
    if (ht_cuda_enter(device) == HT_OK &&
        device->cuda->cuMemAllocHost(memory, (size_t)bytes) == CUDA_SUCCESS)
        *pinned = *memory;
}

static void cuda_pinned_destroy(void *handle, void *memory, void *pinned) {
    const struct ht_cuda_device *device = handle;
    ht_cuda_settle(device);
    if (pinned != NULL && ht_cuda_enter(device) == HT_OK) (void)device->cuda->cuMemFreeHost(memory);
}

/* ---- buffers of other processes ---- */

/* They are opened by the driver's handles. A handle stands for a whole allocation, so a name also
 * holds the buffer's offset in it. A process cannot open its own handles; then the name's address
 * is used. */

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

static enum ht_err cuda_peer_name(void *handle, void *buffer_handle,
                                  unsigned char out[HT_PEER_NAME]) {
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

static enum ht_err open_peer(struct cuda_peer *peer, const struct name *name) {
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

static enum ht_err cuda_peer_open(void *handle, const unsigned char from[HT_PEER_NAME],
                                  int64_t bytes, void **out) {
    struct cuda_peer *peer = NULL;
    struct name name;
    memcpy(&name, from, sizeof name);
    REQUIRE(bytes <= name.bytes, HT_ERR_INTERNAL, "a peer's buffer has %lld bytes, not %lld",
            (long long)name.bytes, (long long)bytes);
    TRY(HT_ALLOC(peer, 1));
    peer->device = handle;
    enum ht_err err = open_peer(peer, &name);
    return HT_MADE(err, peer, free, out);
}

static void cuda_peer_close(void *handle) {
    struct cuda_peer *peer = handle;
    ht_cuda_settle(peer->device);
    if (peer->base != 0 && ht_cuda_enter(peer->device) == HT_OK)
        (void)peer->device->cuda->cuIpcCloseMemHandle(peer->base);
    free(peer);
}

static enum ht_err cuda_transfer_peer(void *handle, void *buffer_handle, int64_t at, int64_t bytes,
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

const struct ht_backend ht_backend_cuda = {
    .name = "cuda",
    .count = cuda_count,
    .missing = ht_cuda_missing,
    .info = cuda_info,
    .open = cuda_open,
    .close = cuda_close,
    .buffer_create = cuda_buffer_create,
    .buffer_destroy = cuda_buffer_destroy,
    .copy = cuda_copy,
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
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_await = cuda_event_await,
    .event_done = cuda_event_done,
    .pinned_create = cuda_pinned_create,
    .pinned_destroy = cuda_pinned_destroy,
    .peer_name = cuda_peer_name,
    .peer_open = cuda_peer_open,
    .peer_close = cuda_peer_close,
    .transfer_peer = cuda_transfer_peer,
};
