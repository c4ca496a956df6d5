/* Programs, launches and sequences of the CUDA back end. NVRTC compiles text to machine code, which
 * the program cache stores; the driver loads it. Each launch is timed by a pair of events, which
 * are used again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_device.h"
#include "nvidia.h"

struct cuda_program {
    struct ht_cuda_device *device;
    CUmodule module;
    void *code; /* as it was loaded */
    size_t size;
};

struct cuda_kernel {
    const struct ht_cuda_device *device;
    CUfunction function;
    unsigned open_memory; /* local memory of a group that a launch gives */
    int nparameters;      /* -1: the driver does not report it */
    size_t size[HT_MAX_ARGS];
};

struct ht_cuda_timer {
    struct ht_cuda_device *device;
    CUevent start, end;
    struct ht_cuda_timer *next; /* of the spare ones */
};

/* ---- programs ---- */

void ht_cuda_program_destroy(void *handle) {
    struct cuda_program *program = handle;
    if (program->module != NULL) {
        ht_cuda_settle(program->device);
        if (ht_cuda_enter(program->device) == HT_OK)
            (void)program->device->cuda->cuModuleUnload(program->module);
    }
    free(program->code);
    free(program);
}

/* code: machine code, or PTX with a zero at its end. The driver's compiler gets the limit of
 * registers for PTX. */
static enum ht_err load(struct cuda_program *program, void *code, int registers) {
    const struct ht_cuda *cuda = program->device->cuda;
    char log[2048] = "";
    CUjit_option option[3] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_MAX_REGISTERS};
    union {
        void *pointer;
        uintptr_t number;
    } value[3] = {{.pointer = log}, {.number = sizeof log}, {.number = (uintptr_t)registers}};
    TRY(ht_cuda_enter(program->device));
    CUresult result = cuda->cuModuleLoadDataEx(&program->module, code, registers > 0 ? 3 : 2,
                                               option, &value[0].pointer);
    if (result == CUDA_SUCCESS) return HT_OK;
    program->module = NULL;
    char what[sizeof log + 64];
    snprintf(what, sizeof what, "%s%sloading compiled kernels", log, log[0] != '\0' ? "\n" : "");
    return ht_cuda_check(result, what);
}

/* Takes ownership of the code, also when it fails. */
static enum ht_err make(struct ht_cuda_device *device, void *code, size_t size, int registers,
                        void **out) {
    struct cuda_program *program = NULL;
    enum ht_err err = HT_ALLOC(program, 1);
    if (err != HT_OK) {
        free(code);
        return err;
    }
    program->device = device;
    program->code = code;
    program->size = size;
    err = load(program, code, registers);
    return HT_MADE(err, program, ht_cuda_program_destroy, out);
}

enum ht_err ht_cuda_program_build(void *handle, const char *text, int registers, void **out) {
    struct ht_cuda_device *device = handle;
    void *code = NULL;
    size_t size = 0;
    TRY(ht_nvrtc_compile(text, device->architecture, registers, &code, &size));
    return make(device, code, size, registers, out);
}

/* Only machine code and PTX are given to the driver, which would take anything else for PTX text.
 */
static bool plausible(const char *code, size_t size) {
    static const char elf[] = {0x7f, 'E', 'L', 'F'};
    if (size > sizeof elf && memcmp(code, elf, sizeof elf) == 0) return true;
    return size > 0 && memchr(code, 0, size) == code + size - 1 && strstr(code, ".version") != NULL;
}

enum ht_err ht_cuda_program_load(void *handle, const void *binary, size_t size, int registers,
                                 void **out) {
    char *code = NULL;
    TRY(HT_ALLOC(code, size + 1));
    memcpy(code, binary, size);
    if (!plausible(code, size)) {
        free(code);
        FAIL(HT_ERR_DEVICE, "the binary is not CUDA code");
    }
    return make(handle, code, size, registers, out);
}

enum ht_err ht_cuda_program_binary(void *handle, void **binary, size_t *size) {
    const struct cuda_program *program = handle;
    char *bytes = NULL;
    TRY(HT_ALLOC(bytes, program->size));
    memcpy(bytes, program->code, program->size);
    *binary = bytes;
    *size = program->size;
    return HT_OK;
}

/* ---- kernels ---- */

static void ask_parameters(const struct ht_cuda *cuda, struct cuda_kernel *kernel) {
    size_t offset = 0;
    kernel->nparameters = -1;
    if (cuda->cuFuncGetParamInfo_v1 == NULL) return;
    int n = 0;
    while (n < HT_MAX_ARGS && cuda->cuFuncGetParamInfo_v1(kernel->function, (size_t)n, &offset,
                                                          &kernel->size[n]) == CUDA_SUCCESS)
        n++;
    kernel->nparameters = n;
}

enum ht_err ht_cuda_kernel_create(void *handle, const char *name, void **out) {
    struct cuda_program *program = handle;
    const struct ht_cuda *cuda = program->device->cuda;
    struct cuda_kernel *kernel = NULL;
    char what[128];
    TRY(ht_cuda_enter(program->device));
    TRY(HT_ALLOC(kernel, 1));
    snprintf(what, sizeof what, "kernel %s", name);
    enum ht_err err =
        ht_cuda_check(cuda->cuModuleGetFunction(&kernel->function, program->module, name), what);
    if (err != HT_OK) {
        free(kernel);
        return err;
    }
    kernel->device = program->device;
    ask_parameters(cuda, kernel);
    *out = kernel;
    return HT_OK;
}

void ht_cuda_kernel_destroy(void *kernel) {
    free(kernel);
}

enum ht_err ht_cuda_kernel_open_memory(void *handle, int64_t bytes) {
    struct cuda_kernel *kernel = handle;
    TRY(ht_cuda_enter(kernel->device));
    TRY(ht_cuda_check(
        kernel->device->cuda->cuFuncSetAttribute(
            kernel->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes),
        "reserving local memory for a kernel"));
    kernel->open_memory = (unsigned)bytes;
    return HT_OK;
}

/* ---- timers ---- */

static void destroy_timer(struct ht_cuda_timer *timer) {
    const struct ht_cuda *cuda = timer->device->cuda;
    if (timer->start != NULL) (void)cuda->cuEventDestroy(timer->start);
    if (timer->end != NULL) (void)cuda->cuEventDestroy(timer->end);
    free(timer);
}

static enum ht_err take_timer(struct ht_cuda_device *device, struct ht_cuda_timer **out) {
    struct ht_cuda_timer *timer = device->spare;
    if (timer != NULL) {
        device->spare = timer->next;
        *out = timer;
        return HT_OK;
    }
    TRY(HT_ALLOC(timer, 1));
    timer->device = device;
    CUresult code = device->cuda->cuEventCreate(&timer->start, 0);
    if (code == CUDA_SUCCESS) code = device->cuda->cuEventCreate(&timer->end, 0);
    if (code != CUDA_SUCCESS) {
        destroy_timer(timer);
        return ht_cuda_check(code, "timing a kernel");
    }
    *out = timer;
    return HT_OK;
}

static void give_timer(struct ht_cuda_timer *timer) {
    timer->next = timer->device->spare;
    timer->device->spare = timer;
}

static enum ht_err start_timer(struct ht_cuda_device *device, struct ht_cuda_timer **out) {
    *out = NULL;
    TRY(ht_cuda_enter(device));
    TRY(take_timer(device, out));
    REQUIRE(*out != NULL, HT_ERR_INTERNAL, "no timer");
    enum ht_err err =
        ht_cuda_check(device->cuda->cuEventRecord((*out)->start, device->queue[HT_QUEUE_WORK]),
                      "timing a kernel");
    if (err != HT_OK) give_timer(*out);
    return err;
}

static enum ht_err end_timer(struct ht_cuda_timer *timer, enum ht_err err, void **timing) {
    const struct ht_cuda_device *device = timer->device;
    if (err == HT_OK)
        err = ht_cuda_check(device->cuda->cuEventRecord(timer->end, device->queue[HT_QUEUE_WORK]),
                            "timing a kernel");
    return HT_MADE(err, timer, give_timer, timing);
}

void ht_cuda_forget_timers(struct ht_cuda_device *device) {
    while (device->spare != NULL) {
        struct ht_cuda_timer *timer = device->spare;
        device->spare = timer->next;
        destroy_timer(timer);
    }
}

double ht_cuda_launch_seconds(void *handle) {
    struct ht_cuda_timer *timer = handle;
    const double millisecond = 1e-3;
    float ms = 0;
    bool known =
        ht_cuda_enter(timer->device) == HT_OK &&
        timer->device->cuda->cuEventElapsedTime_v1(&ms, timer->start, timer->end) == CUDA_SUCCESS;
    give_timer(timer);
    return known && ms > 0 ? millisecond * (double)ms : 0;
}

/* ---- launches ---- */

/* For a kernel that has a buffer argument but does not use it. */
static const struct ht_cuda_buffer none;

static enum ht_err describe(const struct ht_launch *launch, void *parameter[HT_MAX_ARGS],
                            CUDA_KERNEL_NODE_PARAMS_v1 *out) {
    const struct cuda_kernel *kernel = launch->kernel;
    const int64_t *groups = launch->groups;
    REQUIRE(launch->nargs <= HT_MAX_ARGS &&
                (kernel->nparameters < 0 || launch->nargs == kernel->nparameters),
            HT_ERR_INTERNAL, "%d kernel arguments, the kernel takes %d", launch->nargs,
            kernel->nparameters);
    for (int i = 0; i < launch->nargs; i++) {
        const struct ht_cuda_buffer *buffer = launch->args[i].value;
        if (launch->args[i].size == 0 && buffer == NULL) buffer = &none;
        size_t size = launch->args[i].size > 0 ? launch->args[i].size : sizeof buffer->at;
        REQUIRE(kernel->nparameters < 0 || size == kernel->size[i], HT_ERR_INTERNAL,
                "kernel argument %d is refused: %d bytes, the kernel takes %d", i, (int)size,
                (int)kernel->size[i]);
        /* The driver only reads what these point to. */
        const void *from = launch->args[i].size > 0 ? launch->args[i].value : &buffer->at;
        memcpy(&parameter[i], &from, sizeof from);
    }
    const int64_t most[3] = {INT32_MAX, UINT16_MAX, UINT16_MAX};
    for (int k = 0; k < 3; k++)
        REQUIRE(groups[k] <= most[k], HT_ERR_DEVICE,
                "%lld groups along x%d: CUDA allows %lld (device.backend = "
                "\"opencl\" may allow more)",
                (long long)groups[k], k + 1, (long long)most[k]);
    REQUIRE(launch->group_size <= INT32_MAX, HT_ERR_DEVICE, "a group of %lld work-items",
            (long long)launch->group_size);
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

static enum ht_err enqueue(const struct ht_cuda_device *device, const struct ht_launch *launch) {
    void *parameter[HT_MAX_ARGS];
    CUDA_KERNEL_NODE_PARAMS_v1 k;
    TRY(describe(launch, parameter, &k));
    return ht_cuda_check(
        device->cuda->cuLaunchKernel(k.func, k.gridDimX, k.gridDimY, k.gridDimZ, k.blockDimX,
                                     k.blockDimY, k.blockDimZ, k.sharedMemBytes,
                                     device->queue[HT_QUEUE_WORK], parameter, NULL),
        "launching a kernel");
}

enum ht_err ht_cuda_launch(void *handle, const struct ht_launch *launch, void **timing) {
    struct ht_cuda_device *device = handle;
    struct ht_cuda_timer *timer;
    TRY(start_timer(device, &timer));
    return end_timer(timer, enqueue(device, launch), timing);
}

/* ---- sequences ---- */

/* Graphs, which are made once. The device goes from kernel to kernel of a graph faster than from
 * launch to launch (bench/NOTES.md), the host has one call for many, and branches run side by side.
 */

/* Launches of the larger graph, about. */
enum { MANY = 64 };

struct cuda_sequence {
    struct ht_cuda_device *device;
    CUgraphExec once, often; /* the whole sequence once, `repeats` times */
    int64_t repeats;
};

void ht_cuda_sequence_destroy(void *handle) {
    struct cuda_sequence *s = handle;
    const struct ht_cuda *cuda = s->device->cuda;
    ht_cuda_settle(s->device);
    if (s->once != NULL) (void)cuda->cuGraphExecDestroy(s->once);
    if (s->often != NULL) (void)cuda->cuGraphExecDestroy(s->often);
    free(s);
}

/* A graph that is being made. */
struct growing {
    const struct ht_cuda *cuda;
    CUgraph graph;
    CUgraphNode *node; /* of the launches of a fork */
    CUgraphNode last;  /* what the next launch waits for; NULL: nothing */
};

static enum ht_err check_graph(CUresult code) {
    return code == CUDA_SUCCESS ? HT_OK : ht_cuda_check(code, "preparing a sequence of kernels");
}

/* after: what it waits for; NULL: nothing. */
static enum ht_err add_launch(const struct growing *g, const struct ht_launch *launch,
                              CUgraphNode after, CUgraphNode *out) {
    void *parameter[HT_MAX_ARGS];
    CUDA_KERNEL_NODE_PARAMS_v1 kernel;
    TRY(describe(launch, parameter, &kernel));
    return check_graph(
        g->cuda->cuGraphAddKernelNode_v1(out, g->graph, &after, after != NULL ? 1 : 0, &kernel));
}

/* Launches of one fork: each waits for the one before it of its branch. Where there are several
 * branches the next launches wait for a node without work, since forks in a row would need an edge
 * for each two of their launches. */
static enum ht_err add_fork(struct growing *g, int count, const struct ht_launch *launch) {
    int branches = 0;
    for (int i = 0; i < count; i++) {
        int before = i - 1;
        while (before >= 0 && launch[before].branch != launch[i].branch) before--;
        branches += before < 0;
        TRY(add_launch(g, &launch[i], before < 0 ? g->last : g->node[before], &g->node[i]));
    }
    g->last = g->node[count - 1];
    if (branches == 1) return HT_OK;
    return check_graph(g->cuda->cuGraphAddEmptyNode(&g->last, g->graph, g->node, (size_t)count));
}

static enum ht_err add_all(struct growing *g, int count, const struct ht_launch *launch) {
    for (int i = 0, end; i < count; i = end) {
        end = i + 1;
        while (end < count && launch[i].branch != 0 && launch[end].branch != 0 &&
               launch[end].fork == launch[i].fork)
            end++;
        TRY(add_fork(g, end - i, &launch[i]));
    }
    return HT_OK;
}

static enum ht_err make_graph(const struct ht_cuda *cuda, int64_t times, int count,
                              const struct ht_launch *launch, CUgraphExec *out) {
    struct growing g = {.cuda = cuda};
    TRY(HT_ALLOC(g.node, count));
    enum ht_err err = check_graph(cuda->cuGraphCreate(&g.graph, 0));
    for (int64_t n = 0; err == HT_OK && n < times; n++) err = add_all(&g, count, launch);
    if (err == HT_OK) err = check_graph(cuda->cuGraphInstantiateWithFlags(out, g.graph, 0));
    if (err != HT_OK) *out = NULL;
    if (g.graph != NULL) (void)cuda->cuGraphDestroy(g.graph);
    free(g.node);
    return err;
}

enum ht_err ht_cuda_sequence_create(void *handle, int count, const struct ht_launch *launch,
                                    void **out) {
    struct cuda_sequence *s = NULL;
    TRY(ht_cuda_enter(handle));
    TRY(HT_ALLOC(s, 1));
    s->device = handle;
    s->repeats = ht_divide_up(MANY, count);
    enum ht_err err = make_graph(s->device->cuda, 1, count, launch, &s->once);
    if (err == HT_OK) err = make_graph(s->device->cuda, s->repeats, count, launch, &s->often);
    return HT_MADE(err, s, ht_cuda_sequence_destroy, out);
}

enum ht_err ht_cuda_sequence_run(void *handle, int64_t times, void **timing) {
    const struct cuda_sequence *s = handle;
    CUstream queue = s->device->queue[HT_QUEUE_WORK];
    struct ht_cuda_timer *timer;
    CUresult code = CUDA_SUCCESS;
    TRY(start_timer(s->device, &timer));
    for (int64_t left = times; code == CUDA_SUCCESS && left > 0;) {
        const bool many = left >= s->repeats;
        code = s->device->cuda->cuGraphLaunch(many ? s->often : s->once, queue);
        left -= many ? s->repeats : 1;
    }
    const enum ht_err err =
        code == CUDA_SUCCESS ? HT_OK : ht_cuda_check(code, "launching a sequence of kernels");
    return end_timer(timer, err, timing);
}
