/* The OpenCL back end, which needs OpenCL 1.2 only; its matrix products are in clblast.c. One
 * context and two in-order queues per device. An event is that of a marker command. Pinned memory
 * is that of a buffer which the driver keeps in host memory, mapped for its whole life. */
#include <signal.h>

#include "gemm.h"
#include "nvidia.h"

struct ht_driver {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue[2]; /* [enum ht_queue]; the work queue measures times */
    cl_event last;             /* of the last command in the work queue; NULL: it has none */
    bool nvidia, pocl, simulator;
};

/* Text of an error code that users meet, else "OpenCL error". */
static const char *code_name(cl_int code) {
    static const struct {
        cl_int code;
        const char *text;
    } name[] = {
        {CL_DEVICE_NOT_AVAILABLE, "device not available"},
        {CL_MEM_OBJECT_ALLOCATION_FAILURE, "out of device memory"},
        {CL_OUT_OF_RESOURCES, "out of resources"},
        {CL_OUT_OF_HOST_MEMORY, "out of host memory"},
        {CL_BUILD_PROGRAM_FAILURE, "the kernel does not compile"},
        {CL_INVALID_BUFFER_SIZE, "invalid buffer size"},
        {CL_INVALID_WORK_GROUP_SIZE, "invalid work-group size"},
        {CL_INVALID_KERNEL_NAME, "no kernel of this name"},
        {CL_INVALID_KERNEL_ARGS, "kernel arguments not set"},
    };
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        if (name[i].code == code) return name[i].text;
    return "OpenCL error";
}

static HT_ERR check(cl_int code, const char *what) {
    REQUIRE(code == CL_SUCCESS, HT_ERR_DEVICE, "%s: %s (code %d)", what, code_name(code),
            (int)code);
    return HT_OK;
}

enum { MAX_PLATFORMS = 32, MAX_DEVICES = 256 };

/* A loader without a platform is an error of its own: none. */
static cl_uint all_platforms(cl_platform_id platforms[MAX_PLATFORMS]) {
    cl_uint count = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &count) != CL_SUCCESS) return 0;
    return count > MAX_PLATFORMS ? MAX_PLATFORMS : count;
}

/* Drivers start LLVM where their devices are listed (PoCL) or opened (Intel's). It takes SIGUSR1
 * for itself; of other signals it calls the handler that it found. */
static void give_signal_back(const struct sigaction *kept) {
    (void)sigaction(SIGUSR1, kept, NULL);
}

/* The devices of all platforms, as many as there is room for. */
static int all_devices(cl_device_id ids[MAX_DEVICES]) {
    cl_platform_id platforms[MAX_PLATFORMS];
    HT_ENDED(give_signal_back) struct sigaction kept;
    cl_uint count = 0;
    (void)sigaction(SIGUSR1, NULL, &kept);
    const cl_uint nplatforms = all_platforms(platforms);
    for (cl_uint p = 0; p < nplatforms; p++) {
        cl_uint n = 0, room = MAX_DEVICES - count;
        if (room > 0 &&
            clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, room, ids + count, &n) == CL_SUCCESS)
            count += n < room ? n : room;
    }
    return (int)count;
}

static int opencl_count(void) {
    cl_device_id ids[MAX_DEVICES];
    return all_devices(ids);
}

static bool is_pocl(const char *platform) {
    return strstr(platform, "Portable Computing Language") != NULL;
}

/* PoCL has no device where it cannot write its cache, by its own rule here. */
static HT_ERR try_pocl_cache(void) {
    const char *own = getenv("POCL_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    HT_FREED_TEXT struct ht_text path = {0};
    if (own != NULL)
        ht_text_add(&path, "%s", own);
    else if (xdg != NULL && *xdg != '\0')
        ht_text_add(&path, "%s/pocl/kcache", xdg);
    else if (home != NULL)
        ht_text_add(&path, "%s/.cache/pocl/kcache", home);
    else
        ht_text_add(&path, "/tmp/pocl/kcache");
    TRY(ht_text_status(&path));
    return ht_file_make_directory(path.data);
}

static const char *opencl_missing(void) {
    static char reason[512];
    cl_platform_id platforms[MAX_PLATFORMS];
    const cl_uint nplatforms = all_platforms(platforms);
    cl_device_id ids[MAX_DEVICES];
    if (all_devices(ids) > 0) return NULL;
    if (nplatforms == 0)
        return "no driver is installed (the package pocl-opencl-icd runs on any CPU)";
    for (cl_uint p = 0; p < nplatforms; p++) {
        char name[128] = "";
        clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        snprintf(reason, sizeof reason, "the driver is installed (%s) but finds no device", name);
        if (!is_pocl(name) || try_pocl_cache() == HT_OK) continue;
        snprintf(reason, sizeof reason,
                 "PoCL finds no device without a folder that it can write (set POCL_CACHE_DIR): %s",
                 ht_err_message());
        break;
    }
    return reason;
}

static HT_ERR device_at(int index, cl_device_id *id) {
    cl_device_id ids[MAX_DEVICES];
    REQUIRE(index < all_devices(ids), HT_ERR_DEVICE, "OpenCL device %d is no longer available",
            index);
    *id = ids[index];
    return HT_OK;
}

static void device_text(cl_device_id id, cl_device_info what, char *out, size_t size) {
    if (clGetDeviceInfo(id, what, size, out, NULL) != CL_SUCCESS) out[0] = 0;
    out[size - 1] = 0;
}

static int64_t device_number(cl_device_id id, cl_device_info what) {
    cl_ulong value = 0; /* large enough for every integer type queried here */
    if (clGetDeviceInfo(id, what, sizeof value, &value, NULL) != CL_SUCCESS) return 0;
    return (int64_t)value;
}

/* Of the extension cl_nv_device_attribute_query, whose names some headers lack. */
enum { CAPABILITY_MAJOR_NV = 0x4000, CAPABILITY_MINOR_NV = 0x4001 };
enum { BUS_NV = 0x4008, SLOT_NV = 0x4009, DOMAIN_NV = 0x400A };

static HT_ERR opencl_info(int index, struct ht_device_info *info) {
    cl_device_id id;
    cl_platform_id platform = NULL;
    TRY(device_at(index, &id));
    device_text(id, CL_DEVICE_NAME, info->name, sizeof info->name);
    device_text(id, CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor);
    device_text(id, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
    if (clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof(cl_platform_id), &platform, NULL) !=
            CL_SUCCESS ||
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof info->platform, info->platform,
                          NULL) != CL_SUCCESS)
        info->platform[0] = 0;
    info->gpu = (device_number(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU) != 0;
    /* They say to be GPUs, or run on the CPU that another driver runs on faster. */
    info->simulator =
        strstr(info->platform, "Oclgrind") != NULL || strstr(info->platform, "Emulation") != NULL;
    info->fp64 = device_number(id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    info->memory = device_number(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->max_buffer = device_number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->local_memory = device_number(id, CL_DEVICE_LOCAL_MEM_SIZE);
    info->max_group = device_number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    info->max_arguments = device_number(id, CL_DEVICE_MAX_PARAMETER_SIZE);
    info->compute_units = (int)device_number(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    /* NVIDIA's compiler accepts PTX in asm statements. */
    if (strstr(info->platform, "NVIDIA") != NULL)
        info->ptx = (int)(10 * device_number(id, CAPABILITY_MAJOR_NV) +
                          device_number(id, CAPABILITY_MINOR_NV));
    /* PoCL does, unless its environment forbids it. Asked for a program's binary it would compile
     * each kernel a second time, for groups of any size. */
    const char *option = getenv("POCL_KERNEL_CACHE");
    info->caches = is_pocl(info->platform) && (option == NULL || strcmp(option, "0") != 0);
    info->nvidia = device_number(id, CL_DEVICE_VENDOR_ID) == 0x10DE;
    cl_uint bus = 0, slot = 0;
    if (info->nvidia && clGetDeviceInfo(id, BUS_NV, sizeof bus, &bus, NULL) == CL_SUCCESS &&
        clGetDeviceInfo(id, SLOT_NV, sizeof slot, &slot, NULL) == CL_SUCCESS)
        ht_bus_text((int)device_number(id, DOMAIN_NV), (int)bus, (int)slot, info);
    snprintf(info->id, sizeof info->id, "%s", info->bus);
    info->no_gemm = ht_clblast_missing();
    info->no_peer = "OpenCL has no buffers that processes share";
    return HT_OK;
}

/* Of the work queue. */
static void set_last(struct ht_driver *device, cl_event event) {
    if (device->last != NULL) (void)clReleaseEvent(device->last);
    device->last = event;
    if (event != NULL) (void)clRetainEvent(event);
}

static void opencl_close(struct ht_driver *device) {
    for (int q = 0; q < 2; q++)
        if (device->queue[q] != NULL) (void)clFinish(device->queue[q]);
    if (device->queue[HT_QUEUE_WORK] != NULL) ht_clblast_forget();
    set_last(device, NULL);
    for (int q = 0; q < 2; q++)
        if (device->queue[q] != NULL) (void)clReleaseCommandQueue(device->queue[q]);
    if (device->context != NULL) (void)clReleaseContext(device->context);
    free(device);
}

/* The context of a device, owned by the caller. The last one stays for whoever opens the device
 * next: PoCL reads its library of functions, half a second, once per context. */
static cl_context context_of(cl_device_id id, cl_int *code) {
    static cl_context kept;
    static cl_device_id kept_of;
    *code = CL_SUCCESS;
    if (kept == NULL || kept_of != id) {
        if (kept != NULL) (void)clReleaseContext(kept);
        kept = clCreateContext(NULL, 1, &id, NULL, NULL, code);
        kept_of = id;
    }
    if (kept != NULL) (void)clRetainContext(kept);
    return kept;
}

static HT_ERR open_into(struct ht_driver *device, int index) {
    cl_int code = CL_SUCCESS;
    TRY(device_at(index, &device->id));
    device->context = context_of(device->id, &code);
    TRY(check(code, "opening the device"));
    device->queue[HT_QUEUE_WORK] =
        clCreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &code);
    TRY(check(code, "opening the device's queue"));
    device->queue[HT_QUEUE_TRANSFER] = clCreateCommandQueue(device->context, device->id, 0, &code);
    TRY(check(code, "opening the device's transfer queue"));
    struct ht_device_info info = {0};
    TRY(opencl_info(index, &info));
    device->nvidia = info.ptx > 0;
    device->pocl = is_pocl(info.platform);
    device->simulator = info.simulator;
    return HT_OK;
}

static HT_ERR opencl_open(int index, struct ht_driver **out) {
    HT_ENDED(give_signal_back) struct sigaction kept;
    (void)sigaction(SIGUSR1, NULL, &kept);
    HT_CREATE(out, open_into(*out, index), opencl_close);
}

/* ---- memory ---- */

static HT_ERR opencl_buffer_create(struct ht_driver *device, int64_t bytes, void **out) {
    cl_int code = CL_SUCCESS;
    *out = clCreateBuffer(device->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code);
    return check(code, HT_KEY("a device buffer of %s", HT_BYTES(bytes)));
}

static void opencl_buffer_destroy(HT_UNUSED struct ht_driver *device, void *buffer) {
    (void)clReleaseMemObject((cl_mem)buffer);
}

/* Rows are the y axis; x is the part of the offset within a row. */
static cl_int copy_rows(cl_command_queue queue, cl_bool wait, cl_mem buffer, struct ht_span span,
                        void *in, const void *out) {
    const size_t at[3] = {(size_t)(span.offset % span.pitch), (size_t)(span.offset / span.pitch),
                          0};
    const size_t origin[3] = {0, 0, 0}, region[3] = {(size_t)span.width, (size_t)span.rows, 1};
    const size_t pitch = (size_t)span.pitch, width = (size_t)span.width;
    return in != NULL ? clEnqueueReadBufferRect(queue, buffer, wait, at, origin, region, pitch, 0,
                                                width, 0, in, 0, NULL, NULL)
                      : clEnqueueWriteBufferRect(queue, buffer, wait, at, origin, region, pitch, 0,
                                                 width, 0, out, 0, NULL, NULL);
}

static HT_ERR opencl_buffer_clear(struct ht_driver *device, void *buffer, int64_t bytes) {
    cl_command_queue queue = device->queue[HT_QUEUE_WORK];
    const cl_uchar zero = 0;
    cl_int code = clEnqueueFillBuffer(queue, buffer, &zero, 1, 0, (size_t)bytes, 0, NULL, NULL);
    if (code == CL_SUCCESS) code = clFinish(queue);
    return check(code, "writing zeros to the device");
}

static HT_ERR opencl_copy(struct ht_driver *device, void *buffer, struct ht_span span, void *in,
                          const void *out, enum ht_queue on) {
    cl_command_queue queue = device->queue[on];
    const cl_bool wait = on == HT_QUEUE_WORK ? CL_TRUE : CL_FALSE;
    const size_t at = (size_t)span.offset, bytes = (size_t)(span.width * span.rows);
    cl_int code;
    if (span.rows > 1 && span.pitch != span.width)
        code = copy_rows(queue, wait, buffer, span, in, out);
    else if (in != NULL)
        code = clEnqueueReadBuffer(queue, buffer, wait, at, bytes, in, 0, NULL, NULL);
    else
        code = clEnqueueWriteBuffer(queue, buffer, wait, at, bytes, out, 0, NULL, NULL);
    if (code == CL_SUCCESS && !wait) code = clFlush(queue);
    return check(code, in != NULL ? "reading from the device" : "writing to the device");
}

/* Makes a buffer in memory of the driver and keeps it mapped: NVIDIA then locks its pages (55 GB/s
 * on an H200 instead of 14 to 17). Transfers use the memory, not the buffer. */
static void opencl_pinned_create(struct ht_driver *device, int64_t bytes, void **memory,
                                 void **out) {
    cl_int code = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                   (size_t)bytes, NULL, &code);
    if (code != CL_SUCCESS || buffer == NULL) return;
    *memory =
        clEnqueueMapBuffer(device->queue[HT_QUEUE_TRANSFER], buffer, CL_TRUE,
                           CL_MAP_READ | CL_MAP_WRITE, 0, (size_t)bytes, 0, NULL, NULL, &code);
    if (code == CL_SUCCESS && *memory != NULL)
        *out = buffer;
    else
        (void)clReleaseMemObject(buffer);
}

static void opencl_pinned_destroy(struct ht_driver *device, void *memory, void *buffer) {
    cl_command_queue queue = device->queue[HT_QUEUE_TRANSFER];
    if (buffer != NULL) (void)clEnqueueUnmapMemObject(queue, buffer, memory, 0, NULL, NULL);
    (void)clFinish(queue);
    if (buffer != NULL) (void)clReleaseMemObject(buffer);
}

static void opencl_event_destroy(HT_UNUSED struct ht_driver *device, void *event) {
    (void)clReleaseEvent(event);
}

/* Flushed, so that another queue may wait for it. The event of a launch before it stands in for a
 * marker, which takes the device 5 us of each recorded step (H200). */
static HT_ERR opencl_event_record(struct ht_driver *device, void **event, enum ht_queue queue) {
    cl_event fresh = queue == HT_QUEUE_WORK ? device->last : NULL;
    if (*event != NULL) (void)clReleaseEvent(*event);
    *event = NULL;
    if (fresh != NULL)
        (void)clRetainEvent(fresh);
    else
        TRY(check(clEnqueueMarkerWithWaitList(device->queue[queue], 0, NULL, &fresh),
                  "recording an event"));
    *event = fresh;
    return check(clFlush(device->queue[queue]), "recording an event");
}

static HT_ERR opencl_event_await(struct ht_driver *device, void *event_handle,
                                 enum ht_queue queue) {
    cl_event event = event_handle;
    if (queue == HT_QUEUE_WORK) set_last(device, NULL);
    return check(clEnqueueBarrierWithWaitList(device->queue[queue], 1, &event, NULL),
                 "waiting for an event");
}

static HT_ERR opencl_event_done(HT_UNUSED struct ht_driver *device, void *event, bool *done) {
    cl_int status = CL_QUEUED;
    TRY(check(
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
        "querying an event"));
    *done = status == CL_COMPLETE;
    return status < 0 ? check(status, "work before an event") : HT_OK;
}

/* ---- programs and launches ---- */

static HT_ERR build_failed(struct ht_driver *device, cl_program program, cl_int code) {
    size_t size = 0;
    (void)clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    HT_ARRAY(char, log, size + 1);
    (void)clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    FAIL(HT_ERR_DEVICE, "%s (code %d); compiler log:\n%s", code_name(code), (int)code, log);
}

static void opencl_program_destroy(HT_UNUSED struct ht_driver *device, void *program) {
    (void)clReleaseProgram(program);
}

/* Compiles or links a program, which has just been created with code. */
static HT_ERR finish_build(struct ht_driver *device, cl_program program, cl_int code, void **out) {
    const bool own_builtins = device->pocl;
    char options[96];
    enum ht_err err = check(code, "creating a program");
    for (int tries = 0; err == HT_OK && tries < 1 + own_builtins; tries++) {
        /* NVIDIA's compiler accepts -cl-nv-maxrregcount, and does not keep to it (limited_build).
         * PoCL takes 0.1 s and more per program for clang's declarations of all built-in functions;
         * by the guard of their header they are left out where cl/prelude.cl declares those in use.
         * Its number of warnings, of functions that a program does not use, would stand among our
         * messages; lint has the texts' warnings. Oclgrind does not know clang's restrict. */
        snprintf(options, sizeof options, "%s%s%s", "-cl-std=CL1.2 -cl-denorms-are-zero",
                 own_builtins && tries == 0 ? " -w -D_OPENCL_H_ -DHT_BUILTINS" : "",
                 device->simulator ? " -DHT_RESTRICT=" : "");
        code = clBuildProgram(program, 1, &device->id, options, NULL, NULL);
        if (code == CL_SUCCESS) break;
    }
    if (err == HT_OK && code != CL_SUCCESS) err = build_failed(device, program, code);
    return HT_MADE(err, program, clReleaseProgram, out);
}

static HT_ERR build_binary(struct ht_driver *device, const void *binary, size_t size, void **out) {
    cl_int code = CL_SUCCESS, status = CL_SUCCESS;
    const unsigned char *bytes = binary;
    cl_program program =
        clCreateProgramWithBinary(device->context, 1, &device->id, &size, &bytes, &status, &code);
    return finish_build(device, program, code != CL_SUCCESS ? code : status, out);
}

static HT_ERR read_binary(cl_program program, void **binary, size_t *size) {
    unsigned char *bytes = NULL;
    TRY(check(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL),
              "reading the size of a compiled program"));
    REQUIRE(*size > 0, HT_ERR_DEVICE, "the driver returned no program binary");
    TRY(HT_ALLOC(bytes, *size));
    *binary = bytes;
    return check(
        clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(unsigned char *), &bytes, NULL),
        "reading a compiled program");
}

/* NVIDIA's compiler makes PTX, in which a limit holds. Replaces *program where all goes well;
 * without a limit it is right as well. */
static HT_ERR limited_build(struct ht_driver *device, int registers, void **program) {
    void *limited = NULL;
    HT_FREED void *binary = NULL;
    HT_FREED_TEXT struct ht_text text = {0};
    size_t size = 0;
    TRY(read_binary(*program, &binary, &size));
    HT_ARRAY(char, ptx, size + 1);
    memcpy(ptx, binary, size);
    /* PTX with a limit of registers in each kernel, whose group size it states: the text is
     * empty where it does not. */
    const char *from = ptx;
    for (const char *at; (at = strstr(from, "\n.reqntid")) != NULL; from = at + 1)
        ht_text_add(&text, "%.*s\n.maxnreg %d\n", (int)(at - from), from, registers);
    if (text.length > 0) ht_text_add(&text, "%s", from);
    TRY(ht_text_status(&text));
    if (text.length > 0 && build_binary(device, text.data, text.length, &limited) == HT_OK) {
        (void)clReleaseProgram(*program);
        *program = limited;
    }
    return HT_OK;
}

static HT_ERR opencl_program_build(struct ht_driver *device, const char *text, int registers,
                                   void **out, void **binary, size_t *size) {
    void *program = NULL;
    cl_int code = CL_SUCCESS;
    cl_program fresh = clCreateProgramWithSource(device->context, 1, &text, NULL, &code);
    TRY(finish_build(device, fresh, code, &program));
    enum ht_err err = HT_OK;
    if (registers > 0 && device->nvidia) err = limited_build(device, registers, &program);
    if (err == HT_OK && binary != NULL && read_binary(program, binary, size) != HT_OK) *size = 0;
    return HT_MADE(err, program, clReleaseProgram, out);
}

/* Registers are in the binary. */
static HT_ERR opencl_program_load(struct ht_driver *device, const void *binary, size_t size,
                                  HT_UNUSED int registers, void **out) {
    return build_binary(device, binary, size, out);
}

static HT_ERR opencl_kernel_create(HT_UNUSED struct ht_driver *device, void *program,
                                   const char *name, void **out) {
    cl_int code = CL_SUCCESS;
    *out = clCreateKernel(program, name, &code);
    return check(code, HT_KEY("kernel %s", name));
}

static void opencl_kernel_destroy(void *kernel) {
    (void)clReleaseKernel((cl_kernel)kernel);
}

static int64_t opencl_kernel_local(struct ht_driver *device, void *kernel) {
    cl_ulong bytes = 0;
    const cl_int code = clGetKernelWorkGroupInfo(
        (cl_kernel)kernel, device->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    return code == CL_SUCCESS ? (int64_t)bytes : 0;
}

/* Device times of commands in the work queue. */
struct ht_timing {
    cl_event first, last; /* first: NULL if they are one */
};

static HT_ERR enqueue(const struct ht_driver *device, const struct ht_launch *launch,
                      cl_event *done) {
    cl_kernel kernel = launch->kernel;
    if (launch->gemm != NULL) return ht_clblast_gemm(device->queue[HT_QUEUE_WORK], launch, done);
    HT_EACH_AT(i, const struct ht_arg, arg, launch->args, launch->nargs) {
        cl_mem buffer = arg->size == 0 ? (cl_mem)arg->value : NULL;
        cl_int code = arg->size == 0 ? clSetKernelArg(kernel, (cl_uint)i, sizeof buffer, &buffer)
                                     : clSetKernelArg(kernel, (cl_uint)i, arg->size, arg->value);
        REQUIRE(code == CL_SUCCESS, HT_ERR_INTERNAL, "kernel argument %d is refused (code %d)", i,
                (int)code);
    }
    size_t local[3] = {(size_t)launch->group_size, 1, 1};
    size_t global[3] = {(size_t)(launch->groups[0] * launch->group_size), (size_t)launch->groups[1],
                        (size_t)launch->groups[2]};
    return check(clEnqueueNDRangeKernel(device->queue[HT_QUEUE_WORK], kernel, 3, NULL, global,
                                        local, 0, NULL, done),
                 "launching a kernel");
}

static void free_timing(struct ht_timing *timing) {
    if (timing->first != NULL) (void)clReleaseEvent(timing->first);
    if (timing->last != NULL) (void)clReleaseEvent(timing->last);
    free(timing);
}

/* Only the first and the last launch have an event. The driver starts work after `between`
 * launches, and at most `ahead` wait; of failures opencl_finish tells. */
static HT_ERR opencl_launch(struct ht_driver *device, HT_UNUSED struct ht_graph *none, int count,
                            const struct ht_launch *launch, int64_t times, struct ht_timing **out) {
    const int64_t between = 16, ahead = 1024, last = times * count - 1;
    struct ht_timing *timing = NULL;
    enum ht_err err = HT_OK;
    TRY(HT_ALLOC(timing, 1));
    for (int64_t n = 0; err == HT_OK && n <= last; n++) {
        cl_event *event = n == last ? &timing->last : n == 0 ? &timing->first : NULL;
        err = enqueue(device, &launch[n % count], event);
        if (n % ahead == ahead - 1)
            (void)clFinish(device->queue[HT_QUEUE_WORK]);
        else if (n % between == 0 || n == last)
            (void)clFlush(device->queue[HT_QUEUE_WORK]);
    }
    set_last(device, timing->last);
    return HT_MADE(err, timing, free_timing, out);
}

static HT_ERR opencl_finish(struct ht_driver *device) {
    return check(clFinish(device->queue[HT_QUEUE_WORK]), "running kernels");
}

static double opencl_launch_seconds(struct ht_timing *timing) {
    cl_event first = timing->first != NULL ? timing->first : timing->last;
    cl_ulong start = 0, end = 0;
    bool known = clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start, &start,
                                         NULL) == CL_SUCCESS &&
                 clGetEventProfilingInfo(timing->last, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                         NULL) == CL_SUCCESS;
    free_timing(timing);
    return known && end > start ? 1e-9 * (double)(end - start) : 0;
}

const struct ht_backend ht_backend_opencl = {HT_BACKEND(opencl),
                                             .kernel_local = opencl_kernel_local};
