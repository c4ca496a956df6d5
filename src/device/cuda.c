/* The CUDA back end; its compiler is in cuda_nvrtc.c. The driver's library is loaded at run time.
 * Each launch is timed by a pair of events, which are used again. */
#include <cuda.h>
#include <unistd.h>

#include "backend.h"
#include "nvidia.h"

/* The functions used; cuda.h redefines some names to those of a later version (cuMemAlloc_v2). */
/* clang-format off */
#define FUNCTIONS(X) \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorString) X(cuDeviceGetCount) X(cuDeviceGet) \
    X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain) \
    X(cuDevicePrimaryCtxRelease) X(cuCtxSetCurrent) X(cuStreamCreate) X(cuStreamDestroy) \
    X(cuStreamSynchronize) X(cuStreamWaitEvent) X(cuGraphCreate) X(cuGraphAddEmptyNode) \
    X(cuGraphInstantiateWithFlags) X(cuGraphDestroy) X(cuGraphLaunch) X(cuGraphExecDestroy) \
    X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventQuery) X(cuMemAlloc) \
    X(cuMemFree) X(cuMemsetD8Async) X(cuMemGetAddressRange) X(cuMemAllocHost) X(cuMemFreeHost) X(cuMemcpyAsync) \
    X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpy2DAsync) X(cuIpcGetMemHandle) \
    X(cuIpcOpenMemHandle) X(cuIpcCloseMemHandle) X(cuModuleLoadDataEx) X(cuModuleUnload) \
    X(cuModuleGetFunction) X(cuFuncSetAttribute) X(cuLaunchKernel)
/* clang-format on */
/* What is loaded once. */
static struct {
#define POINTER(name) __typeof__(name) *(name);
    FUNCTIONS(POINTER)
#undef POINTER
    /* Their first versions, which every driver has. */
    CUresult (*cuEventElapsedTime_v1)(float *milliseconds, CUevent start, CUevent end);
    CUresult (*cuGraphAddKernelNode_v1)(CUgraphNode *node, CUgraph graph,
                                        const CUgraphNode *dependencies, size_t count,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *launch);
    /* Since driver 12.4; NULL: arguments are not checked. */
    CUresult (*cuFuncGetParamInfo_v1)(CUfunction function, size_t index, size_t *offset,
                                      size_t *size);
    /* Since driver 11.4; distinguishes parts of a GPU. NULL: the PCI bus address serves. */
    CUresult (*cuDeviceGetUuid_v2)(CUuuid *uuid, CUdevice device);
    int driver;  /* 1000 major + 10 minor of the CUDA version it is for */
    int devices; /* 0: not loaded, or none */
    bool tried;
    char missing[200];
} cuda;

struct ht_driver {
    CUdevice id;
    CUcontext context;       /* the device's primary one; NULL: none yet */
    CUstream queue[2];       /* [enum ht_queue] */
    struct ht_timing *spare; /* a list, for later launches */
    int architecture;        /* 10 major + minor */
    int64_t most_pitch;      /* of copies by rows */
};

struct cuda_kernel {
    CUfunction function;
    unsigned open_memory; /* local memory of a group that a launch gives */
    int nparameters;      /* -1: the driver does not report it */
    size_t size[HT_MAX_ARGS];
};

struct ht_timing {
    struct ht_driver *device;
    CUevent start, end;
    struct ht_timing *next; /* of the spare ones */
};

/* ---- the library ---- */

static bool need(void *library, const char *name, void *function) {
    if (ht_library_find(library, name, function)) return true;
    snprintf(cuda.missing, sizeof cuda.missing, "the driver is too old: it has no function %s",
             name);
    return false;
}

/* Names after the macros of cuda.h. */
#define TEXT(name) #name
#define NEED(name) &&need(library, TEXT(name), &cuda.name)
static bool find_all(void *library) {
    (void)ht_library_find(library, "cuFuncGetParamInfo", &cuda.cuFuncGetParamInfo_v1);
    (void)ht_library_find(library, "cuDeviceGetUuid_v2", &cuda.cuDeviceGetUuid_v2);
    return need(library, "cuEventElapsedTime", &cuda.cuEventElapsedTime_v1) &&
           need(library, "cuGraphAddKernelNode", &cuda.cuGraphAddKernelNode_v1) FUNCTIONS(NEED);
}

static const char *text_of(CUresult code) {
    const char *text = NULL;
    if (cuda.cuGetErrorString(code, &text) != CUDA_SUCCESS) text = NULL;
    return text != NULL ? text : "unknown error";
}

/* Starts the library; the driver's compiler must exist, too. */
static bool start(void) {
    CUresult code = cuda.cuInit(0);
    if (code == CUDA_SUCCESS) code = cuda.cuDriverGetVersion(&cuda.driver);
    if (code == CUDA_SUCCESS) code = cuda.cuDeviceGetCount(&cuda.devices);
    if (code == CUDA_SUCCESS && cuda.devices < 1) code = CUDA_ERROR_NO_DEVICE;
    if (code != CUDA_SUCCESS) {
        snprintf(cuda.missing, sizeof cuda.missing, "driver error: %s (code %d)", text_of(code),
                 (int)code);
        return false;
    }
    const char *missing = ht_nvrtc_missing(cuda.driver);
    if (missing != NULL) snprintf(cuda.missing, sizeof cuda.missing, "%s", missing);
    return missing == NULL;
}

static void load(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    cuda.tried = true;
    if (library == NULL)
        snprintf(cuda.missing, sizeof cuda.missing, "%s",
                 "no NVIDIA driver is installed (libcuda.so.1 not found)");
    else if (!find_all(library) || !start())
        cuda.devices = 0;
}

static const char *cuda_missing(void) {
    if (!cuda.tried) load();
    return cuda.devices > 0 ? NULL : cuda.missing;
}

static HT_ERR check(CUresult code, const char *what) {
    REQUIRE(code == CUDA_SUCCESS, HT_ERR_DEVICE, "%s: %s (code %d)", what, text_of(code),
            (int)code);
    return HT_OK;
}

/* ---- devices ---- */

static int cuda_count(void) {
    return cuda_missing() == NULL ? cuda.devices : 0;
}

static int attribute(CUdevice id, CUdevice_attribute what) {
    int value = 0;
    if (cuda.cuDeviceGetAttribute(&value, what, id) != CUDA_SUCCESS) return 0;
    return value;
}

static int architecture_of(CUdevice id) {
    return 10 * attribute(id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
           attribute(id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

static void name_hardware(CUdevice id, struct ht_device_info *info) {
    CUuuid uuid = {{0}};
    ht_bus_text(attribute(id, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                attribute(id, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                attribute(id, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID), info);
    if (cuda.cuDeviceGetUuid_v2 == NULL || cuda.cuDeviceGetUuid_v2(&uuid, id) != CUDA_SUCCESS) {
        snprintf(info->id, sizeof info->id, "%s", info->bus);
        return;
    }
    for (size_t i = 0; i < sizeof uuid.bytes; i++)
        snprintf(info->id + 2 * i, 3, "%02x", (unsigned char)uuid.bytes[i]);
}

/* Local memory: the limit of arrays of fixed size. */
static HT_ERR cuda_info(int index, struct ht_device_info *info) {
    CUdevice id;
    size_t memory = 0;
    TRY(check(cuda.cuDeviceGet(&id, index), "finding a device"));
    TRY(check(cuda.cuDeviceGetName(info->name, (int)sizeof info->name, id), "a device's name"));
    TRY(check(cuda.cuDeviceTotalMem(&memory, id), "a device's memory"));
    snprintf(info->vendor, sizeof info->vendor, "NVIDIA Corporation");
    snprintf(info->platform, sizeof info->platform, "NVIDIA CUDA");
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d, NVRTC %s", cuda.driver / 1000,
             cuda.driver % 1000 / 10, ht_nvrtc_version());
    info->gpu = info->fp64 = info->nvidia = true;
    info->memory = info->max_buffer = (int64_t)memory;
    info->local_memory = attribute(id, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    info->max_group = attribute(id, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info->max_arguments = 4096; /* of every architecture and version */
    info->compute_units = attribute(id, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->open_memory = attribute(id, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    info->ptx = architecture_of(id);
    info->ptx_own = ht_nvrtc_own(info->ptx);
    name_hardware(id, info);
    info->no_gemm = "CLBlast needs OpenCL (device.backend = \"opencl\")";
    info->greedy = true; /* NVRTC 13 */
    if (!attribute(id, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING))
        info->no_peer = "the device has no unified addresses";
    return HT_OK;
}

static HT_ERR enter(const struct ht_driver *device) {
    return check(cuda.cuCtxSetCurrent(device->context), "taking the device's context");
}

static void settle(const struct ht_driver *device) {
    if (device->context == NULL || enter(device) != HT_OK) return;
    for (int q = 0; q < 2; q++)
        if (device->queue[q] != NULL) (void)cuda.cuStreamSynchronize(device->queue[q]);
}

static void destroy_timer(struct ht_timing *timer) {
    if (timer->start != NULL) (void)cuda.cuEventDestroy(timer->start);
    if (timer->end != NULL) (void)cuda.cuEventDestroy(timer->end);
    free(timer);
}

static void give_timer(struct ht_timing *timer) {
    timer->next = timer->device->spare;
    timer->device->spare = timer;
}

static HT_ERR start_timer(struct ht_driver *device, struct ht_timing **out) {
    struct ht_timing *timer = device->spare;
    CUresult code = CUDA_SUCCESS;
    TRY(enter(device));
    if (timer != NULL) {
        device->spare = timer->next;
    } else {
        TRY(HT_ALLOC(timer, 1));
        timer->device = device;
        code = cuda.cuEventCreate(&timer->start, 0);
        if (code == CUDA_SUCCESS) code = cuda.cuEventCreate(&timer->end, 0);
    }
    if (code == CUDA_SUCCESS) code = cuda.cuEventRecord(timer->start, device->queue[HT_QUEUE_WORK]);
    const enum ht_err err = check(code, "timing a kernel");
    return HT_MADE(err, timer, destroy_timer, out);
}

static HT_ERR end_timer(struct ht_timing *timer, enum ht_err err, struct ht_timing **timing) {
    const struct ht_driver *device = timer->device;
    if (err == HT_OK)
        err =
            check(cuda.cuEventRecord(timer->end, device->queue[HT_QUEUE_WORK]), "timing a kernel");
    return HT_MADE(err, timer, give_timer, timing);
}

static double cuda_launch_seconds(struct ht_timing *timer) {
    const double millisecond = 1e-3;
    float ms = 0;
    bool known = enter(timer->device) == HT_OK &&
                 cuda.cuEventElapsedTime_v1(&ms, timer->start, timer->end) == CUDA_SUCCESS;
    give_timer(timer);
    return known && ms > 0 ? millisecond * (double)ms : 0;
}

static void cuda_close(struct ht_driver *device) {
    if (device->context != NULL) {
        settle(device);
        while (device->spare != NULL) {
            struct ht_timing *timer = device->spare;
            device->spare = timer->next;
            destroy_timer(timer);
        }
        for (int q = 0; q < 2; q++)
            if (device->queue[q] != NULL) (void)cuda.cuStreamDestroy(device->queue[q]);
        (void)cuda.cuCtxSetCurrent(NULL);
        (void)cuda.cuDevicePrimaryCtxRelease(device->id);
    }
    free(device);
}

static HT_ERR open_into(struct ht_driver *device, int index) {
    REQUIRE(cuda_missing() == NULL, HT_ERR_DEVICE, "%s", cuda_missing());
    TRY(check(cuda.cuDeviceGet(&device->id, index), "opening the device"));
    device->architecture = architecture_of(device->id);
    device->most_pitch = attribute(device->id, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    CUcontext context = NULL;
    TRY(check(cuda.cuDevicePrimaryCtxRetain(&context, device->id), "opening the device"));
    device->context = context;
    TRY(enter(device));
    for (int q = 0; q < 2; q++)
        TRY(check(cuda.cuStreamCreate(&device->queue[q], CU_STREAM_NON_BLOCKING),
                  "opening the device's queues"));
    return HT_OK;
}

static HT_ERR cuda_open(int index, struct ht_driver **out) {
    HT_CREATE(out, open_into(*out, index), cuda_close);
}

static HT_ERR cuda_finish(struct ht_driver *device) {
    TRY(enter(device));
    return check(cuda.cuStreamSynchronize(device->queue[HT_QUEUE_WORK]), "running kernels");
}

static HT_ERR cuda_event_record(struct ht_driver *device, void **event, enum ht_queue queue) {
    CUevent fresh = *event;
    TRY(enter(device));
    if (fresh == NULL)
        TRY(check(cuda.cuEventCreate(&fresh, CU_EVENT_DISABLE_TIMING), "creating an event"));
    *event = fresh;
    return check(cuda.cuEventRecord(fresh, device->queue[queue]), "recording an event");
}

static void cuda_event_destroy(struct ht_driver *device, void *event) {
    if (enter(device) == HT_OK) (void)cuda.cuEventDestroy(event);
}

static HT_ERR cuda_event_await(struct ht_driver *device, void *event, enum ht_queue queue) {
    TRY(enter(device));
    return check(cuda.cuStreamWaitEvent(device->queue[queue], event, 0), "waiting for an event");
}

static HT_ERR cuda_event_done(struct ht_driver *device, void *event, bool *done) {
    TRY(enter(device));
    CUresult code = cuda.cuEventQuery(event);
    *done = code == CUDA_SUCCESS;
    if (code == CUDA_ERROR_NOT_READY) return HT_OK;
    return check(code, "work before an event");
}

/* ---- buffers ---- */

/* A handle is the buffer's address on the device. */
static CUdeviceptr address_of(const void *buffer) {
    return (CUdeviceptr)(uintptr_t)buffer;
}

static HT_ERR cuda_buffer_create(struct ht_driver *device, int64_t bytes, void **out) {
    CUdeviceptr at = 0;
    TRY(enter(device));
    const enum ht_err err = check(cuda.cuMemAlloc(&at, (size_t)bytes),
                                  HT_KEY("a device buffer of %s", HT_BYTES(bytes)));
    memcpy(out, &at, sizeof at);
    return err;
}

static void cuda_buffer_destroy(struct ht_driver *device, void *buffer) {
    settle(device);
    if (enter(device) == HT_OK) (void)cuda.cuMemFree(address_of(buffer));
}

static HT_ERR cuda_buffer_clear(struct ht_driver *device, void *buffer, int64_t bytes) {
    CUstream queue = device->queue[HT_QUEUE_WORK];
    TRY(enter(device));
    CUresult code = cuda.cuMemsetD8Async(address_of(buffer), 0, (size_t)bytes, queue);
    if (code == CUDA_SUCCESS) code = cuda.cuStreamSynchronize(queue);
    return check(code, "writing zeros to the device");
}

static CUresult copy_range(CUdeviceptr at, int64_t bytes, void *in, const void *out,
                           CUstream queue) {
    if (in != NULL) return cuda.cuMemcpyDtoHAsync(in, at, (size_t)bytes, queue);
    return cuda.cuMemcpyHtoDAsync(at, out, (size_t)bytes, queue);
}

/* Rows with gaps between them on the device. */
static CUresult copy_rows(CUdeviceptr at, struct ht_span span, void *in, const void *out,
                          CUstream queue) {
    const bool reads = in != NULL;
    const CUDA_MEMCPY2D rows = {
        .WidthInBytes = (size_t)span.width,
        .Height = (size_t)span.rows,
        .srcMemoryType = reads ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
        .srcDevice = at,
        .srcHost = out,
        .srcPitch = (size_t)(reads ? span.pitch : span.width),
        .dstMemoryType = reads ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .dstDevice = at,
        .dstHost = in,
        .dstPitch = (size_t)(reads ? span.width : span.pitch),
    };
    return cuda.cuMemcpy2DAsync(&rows, queue);
}

/* Rows further apart than the driver's largest pitch are copied one by one. On the work queue the
 * copy is in order with kernels; then the host waits for it. */
static HT_ERR cuda_copy(struct ht_driver *device, void *buffer, struct ht_span span, void *in,
                        const void *out, enum ht_queue on) {
    const CUdeviceptr at = address_of(buffer) + (CUdeviceptr)span.offset;
    CUstream queue = device->queue[on];
    CUresult code = CUDA_SUCCESS;
    TRY(enter(device));
    if (span.rows == 1 || span.pitch == span.width)
        code = copy_range(at, span.width * span.rows, in, out, queue);
    else if (span.pitch <= device->most_pitch)
        code = copy_rows(at, span, in, out, queue);
    else
        for (int64_t r = 0; code == CUDA_SUCCESS && r < span.rows; r++)
            code = copy_range(at + (CUdeviceptr)(r * span.pitch), span.width,
                              in != NULL ? (char *)in + r * span.width : NULL,
                              out != NULL ? (const char *)out + r * span.width : NULL, queue);
    if (code == CUDA_SUCCESS && on == HT_QUEUE_WORK) code = cuda.cuStreamSynchronize(queue);
    return check(code, in != NULL ? "reading from the device" : "writing to the device");
}

/* Memory that the driver has locked; the handle is the memory itself. */
static void cuda_pinned_create(struct ht_driver *device, int64_t bytes, void **memory,
                               void **pinned) {
    if (enter(device) == HT_OK && cuda.cuMemAllocHost(memory, (size_t)bytes) == CUDA_SUCCESS)
        *pinned = *memory;
}

static void cuda_pinned_destroy(struct ht_driver *device, void *memory, void *pinned) {
    settle(device);
    if (pinned != NULL && enter(device) == HT_OK) (void)cuda.cuMemFreeHost(memory);
}

/* ---- buffers of other processes ---- */

/* They are opened by the driver's handles. A handle stands for a whole allocation, so a name also
 * holds the buffer's offset in it. Its own handles a process cannot open: it uses the address. */

struct name {
    CUipcMemHandle handle;
    uint64_t process; /* the process that allocated it */
    uint64_t address; /* there */
    int64_t offset;   /* in the allocation */
    int64_t bytes;
};
_Static_assert(sizeof(struct name) <= HT_PEER_NAME, "names of peers");

struct ht_remote {
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

static HT_ERR cuda_peer_name(struct ht_driver *device, void *buffer, int64_t bytes,
                             unsigned char out[HT_PEER_NAME]) {
    const CUdeviceptr at = address_of(buffer);
    struct name name;
    CUdeviceptr base = 0;
    size_t size = 0;
    memset(&name, 0, sizeof name);
    TRY(enter(device));
    TRY(check(cuda.cuMemGetAddressRange(&base, &size, at), "the allocation of a buffer"));
    TRY(check(cuda.cuIpcGetMemHandle(&name.handle, base), "naming a buffer for other processes"));
    name.process = process_number();
    name.address = (uint64_t)at;
    name.offset = (int64_t)(at - base);
    name.bytes = bytes;
    memset(out, 0, HT_PEER_NAME);
    memcpy(out, &name, sizeof name);
    return HT_OK;
}

static HT_ERR cuda_peer_open(struct ht_driver *device, const unsigned char from[HT_PEER_NAME],
                             int64_t bytes, struct ht_remote **out) {
    struct ht_remote *peer = NULL;
    struct name name;
    memcpy(&name, from, sizeof name);
    REQUIRE(bytes <= name.bytes, HT_ERR_INTERNAL, "a peer's buffer has %lld bytes, not %lld",
            (long long)name.bytes, (long long)bytes);
    TRY(enter(device));
    TRY(HT_ALLOC(peer, 1));
    peer->at = (CUdeviceptr)name.address;
    *out = peer;
    if (name.process == process_number()) return HT_OK;
    const enum ht_err err =
        check(cuda.cuIpcOpenMemHandle(&peer->base, name.handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
              "opening a buffer of another process");
    peer->at = peer->base + (CUdeviceptr)name.offset;
    return HT_MADE(err, peer, free, out);
}

static void cuda_peer_close(struct ht_driver *device, struct ht_remote *peer) {
    settle(device);
    if (peer->base != 0 && enter(device) == HT_OK) (void)cuda.cuIpcCloseMemHandle(peer->base);
    free(peer);
}

static HT_ERR cuda_transfer_peer(struct ht_driver *device, void *buffer, int64_t at, int64_t bytes,
                                 struct ht_remote *peer, int64_t to) {
    TRY(enter(device));
    return check(cuda.cuMemcpyAsync(peer->at + (CUdeviceptr)to,
                                    address_of(buffer) + (CUdeviceptr)at, (size_t)bytes,
                                    device->queue[HT_QUEUE_TRANSFER]),
                 "copying to a buffer of another process");
}

/* ---- programs ---- */

/* A program is a module. */
static void cuda_program_destroy(struct ht_driver *device, void *module) {
    settle(device);
    if (enter(device) == HT_OK) (void)cuda.cuModuleUnload(module);
}

/* code: machine code, or PTX with a zero at its end. The driver's compiler gets the limit of
 * registers for PTX. */
static HT_ERR load_module(const struct ht_driver *device, const void *code, int registers,
                          void **out) {
    CUmodule module = NULL;
    char log[2048] = "";
    CUjit_option option[3] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_MAX_REGISTERS};
    union {
        void *pointer;
        uintptr_t number;
    } value[3] = {{.pointer = log}, {.number = sizeof log}, {.number = (uintptr_t)registers}};
    TRY(enter(device));
    CUresult result =
        cuda.cuModuleLoadDataEx(&module, code, registers > 0 ? 3 : 2, option, &value[0].pointer);
    *out = result == CUDA_SUCCESS ? module : NULL;
    if (result == CUDA_SUCCESS) return HT_OK;
    char what[sizeof log + 64];
    snprintf(what, sizeof what, "%s%sloading compiled kernels", log, log[0] != '\0' ? "\n" : "");
    return check(result, what);
}

static HT_ERR cuda_program_build(struct ht_driver *device, const char *text, int registers,
                                 void **out, void **binary, size_t *size) {
    HT_FREED void *code = NULL;
    size_t bytes = 0;
    TRY(ht_nvrtc_compile(text, device->architecture, registers, &code, &bytes));
    TRY(load_module(device, code, registers, out));
    if (binary == NULL) return HT_OK;
    *binary = code;
    *size = bytes;
    code = NULL;
    return HT_OK;
}

/* Only machine code and PTX go to the driver, which would take anything else for PTX text. */
static bool plausible(const char *code, size_t size) {
    static const char elf[] = {0x7f, 'E', 'L', 'F'};
    if (size > sizeof elf && memcmp(code, elf, sizeof elf) == 0) return true;
    return size > 0 && memchr(code, 0, size) == code + size - 1 && strstr(code, ".version") != NULL;
}

static HT_ERR cuda_program_load(struct ht_driver *device, const void *binary, size_t size,
                                int registers, void **out) {
    REQUIRE(plausible(binary, size), HT_ERR_DEVICE, "the binary is not CUDA code");
    return load_module(device, binary, registers, out);
}

static void ask_parameters(struct cuda_kernel *kernel) {
    size_t offset = 0;
    kernel->nparameters = -1;
    if (cuda.cuFuncGetParamInfo_v1 == NULL) return;
    int n = 0;
    while (n < HT_MAX_ARGS && cuda.cuFuncGetParamInfo_v1(kernel->function, (size_t)n, &offset,
                                                         &kernel->size[n]) == CUDA_SUCCESS)
        n++;
    kernel->nparameters = n;
}

static HT_ERR cuda_kernel_create(struct ht_driver *device, void *module, const char *name,
                                 void **out) {
    struct cuda_kernel *kernel = NULL;
    TRY(enter(device));
    TRY(HT_ALLOC(kernel, 1));
    enum ht_err err =
        check(cuda.cuModuleGetFunction(&kernel->function, module, name), HT_KEY("kernel %s", name));
    if (err == HT_OK) ask_parameters(kernel);
    return HT_MADE(err, kernel, free, out);
}

static void cuda_kernel_destroy(void *kernel) {
    free(kernel);
}

static HT_ERR cuda_kernel_open_memory(struct ht_driver *device, void *handle, int64_t bytes) {
    struct cuda_kernel *kernel = handle;
    TRY(enter(device));
    TRY(check(cuda.cuFuncSetAttribute(kernel->function,
                                      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes),
              "reserving local memory for a kernel"));
    kernel->open_memory = (unsigned)bytes;
    return HT_OK;
}

static HT_ERR describe(const struct ht_launch *launch, void *parameter[HT_MAX_ARGS],
                       CUDA_KERNEL_NODE_PARAMS_v1 *out) {
    const struct cuda_kernel *kernel = launch->kernel;
    const int64_t *groups = launch->groups;
    REQUIRE(kernel->nparameters < 0 || launch->nargs == kernel->nparameters, HT_ERR_INTERNAL,
            "%d kernel arguments, the kernel takes %d", launch->nargs, kernel->nparameters);
    HT_EACH_AT(i, const struct ht_arg, arg, launch->args, launch->nargs) {
        const size_t size = arg->size > 0 ? arg->size : sizeof(CUdeviceptr);
        REQUIRE(kernel->nparameters < 0 || size == kernel->size[i], HT_ERR_INTERNAL,
                "kernel argument %d is refused: %d bytes, the kernel takes %d", i, (int)size,
                (int)kernel->size[i]);
        /* The driver only reads what these point to: a value, or a buffer's address. */
        const void *from = arg->size > 0 ? arg->value : &arg->value;
        memcpy(&parameter[i], &from, sizeof from);
    }
    const int64_t most[3] = {INT32_MAX, UINT16_MAX, UINT16_MAX};
    for (int k = 0; k < 3; k++)
        REQUIRE(groups[k] <= most[k], HT_ERR_DEVICE,
                "%lld groups along x%d: CUDA allows %lld (device.backend = "
                "\"opencl\" may allow more)",
                (long long)groups[k], k + 1, (long long)most[k]);
    *out = (CUDA_KERNEL_NODE_PARAMS_v1){.func = kernel->function,
                                        .gridDimX = (unsigned)groups[0],
                                        .gridDimY = (unsigned)groups[1],
                                        .gridDimZ = (unsigned)groups[2],
                                        .blockDimX = (unsigned)launch->group_size,
                                        .blockDimY = 1,
                                        .blockDimZ = 1,
                                        .sharedMemBytes = kernel->open_memory,
                                        .kernelParams = parameter};
    return HT_OK;
}

static HT_ERR enqueue(const struct ht_driver *device, const struct ht_launch *launch) {
    void *parameter[HT_MAX_ARGS];
    CUDA_KERNEL_NODE_PARAMS_v1 k;
    TRY(describe(launch, parameter, &k));
    return check(cuda.cuLaunchKernel(k.func, k.gridDimX, k.gridDimY, k.gridDimZ, k.blockDimX,
                                     k.blockDimY, k.blockDimZ, k.sharedMemBytes,
                                     device->queue[HT_QUEUE_WORK], parameter, NULL),
                 "launching a kernel");
}

/* ---- sequences ---- */

/* Graphs, which are made once. The device goes from kernel to kernel of a graph faster than from
 * launch to launch (bench/NOTES.md), the host has one call for many, branches run side by side. */

/* Launches of the larger graph, about. */
enum { MANY = 64 };

struct ht_graph {
    CUgraphExec once, often; /* the whole sequence once, `repeats` times */
    int64_t repeats;
};

static void free_graph(struct ht_graph *s) {
    if (s->once != NULL) (void)cuda.cuGraphExecDestroy(s->once);
    if (s->often != NULL) (void)cuda.cuGraphExecDestroy(s->often);
    free(s);
}

static void cuda_sequence_destroy(struct ht_driver *device, struct ht_graph *s) {
    settle(device);
    free_graph(s);
}

struct growing {
    CUgraph graph;
    CUgraphNode *node; /* of the launches of a fork */
    CUgraphNode last;  /* what the next launch waits for; NULL: nothing */
};

static HT_ERR check_graph(CUresult code) {
    return check(code, "preparing a sequence of kernels");
}

/* Launches of one fork: each waits for the one before it of its branch. Where there are several
 * branches the next launches wait for a node without work, since forks in a row would need an edge
 * for each two of their launches. */
static HT_ERR add_fork(struct growing *g, int count, const struct ht_launch *launch) {
    int branches = 0;
    for (int i = 0; i < count; i++) {
        int before = i - 1;
        while (before >= 0 && launch[before].branch != launch[i].branch) before--;
        branches += before < 0;
        /* after: what it waits for; NULL: nothing. */
        CUgraphNode after = before < 0 ? g->last : g->node[before];
        void *parameter[HT_MAX_ARGS];
        CUDA_KERNEL_NODE_PARAMS_v1 kernel;
        TRY(describe(&launch[i], parameter, &kernel));
        TRY(check_graph(cuda.cuGraphAddKernelNode_v1(&g->node[i], g->graph, &after,
                                                     after != NULL ? 1 : 0, &kernel)));
    }
    g->last = g->node[count - 1];
    if (branches == 1) return HT_OK;
    return check_graph(cuda.cuGraphAddEmptyNode(&g->last, g->graph, g->node, (size_t)count));
}

static HT_ERR add_all(struct growing *g, int count, const struct ht_launch *launch) {
    for (int i = 0, end; i < count; i = end) {
        end = i + 1;
        while (end < count && launch[i].branch != 0 && launch[end].branch != 0 &&
               launch[end].fork == launch[i].fork)
            end++;
        TRY(add_fork(g, end - i, &launch[i]));
    }
    return HT_OK;
}

static HT_ERR make_graph(int64_t times, int count, const struct ht_launch *launch,
                         CUgraphExec *out) {
    HT_ARRAY(CUgraphNode, node, count);
    struct growing g = {.node = node};
    enum ht_err err = check_graph(cuda.cuGraphCreate(&g.graph, 0));
    for (int64_t n = 0; err == HT_OK && n < times; n++) err = add_all(&g, count, launch);
    if (err == HT_OK) err = check_graph(cuda.cuGraphInstantiateWithFlags(out, g.graph, 0));
    if (err != HT_OK) *out = NULL;
    if (g.graph != NULL) (void)cuda.cuGraphDestroy(g.graph);
    return err;
}

static HT_ERR cuda_sequence_create(struct ht_driver *device, int count,
                                   const struct ht_launch *launch, struct ht_graph **out) {
    struct ht_graph *s = NULL;
    TRY(enter(device));
    TRY(HT_ALLOC(s, 1));
    s->repeats = ht_divide_up(MANY, count);
    enum ht_err err = make_graph(1, count, launch, &s->once);
    if (err == HT_OK) err = make_graph(s->repeats, count, launch, &s->often);
    return HT_MADE(err, s, free_graph, out);
}

static HT_ERR run_graph(const struct ht_driver *device, const struct ht_graph *s, int64_t times) {
    CUresult code = CUDA_SUCCESS;
    while (code == CUDA_SUCCESS && times > 0) {
        const bool many = times >= s->repeats;
        code = cuda.cuGraphLaunch(many ? s->often : s->once, device->queue[HT_QUEUE_WORK]);
        times -= many ? s->repeats : 1;
    }
    return check(code, "launching a sequence of kernels");
}

static HT_ERR cuda_launch(struct ht_driver *device, struct ht_graph *s, HT_UNUSED int count,
                          const struct ht_launch *launch, int64_t times,
                          struct ht_timing **timing) {
    struct ht_timing *timer;
    TRY(start_timer(device, &timer));
    return end_timer(timer, s != NULL ? run_graph(device, s, times) : enqueue(device, launch),
                     timing);
}

const struct ht_backend ht_backend_cuda = {
    HT_BACKEND(cuda),
    .sequence_create = cuda_sequence_create,
    .sequence_destroy = cuda_sequence_destroy,
    .kernel_open_memory = cuda_kernel_open_memory,
    .peer_name = cuda_peer_name,
    .peer_open = cuda_peer_open,
    .peer_close = cuda_peer_close,
    .transfer_peer = cuda_transfer_peer,
};
