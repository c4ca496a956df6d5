/* A driver library for CUDA's devices on any machine (see fake_cuda.sh): they can be listed, opened
 * and hold memory, and run two kernels, known by their names (below). Streams execute commands
 * immediately. Time passes with kernels alone: 1 and 2 ms, half of it in graphs, where kernels run
 * as soon as those before them allow it. Kernels of a graph that use the same memory must be
 * ordered by it.
 *
 *     FAKE_GPUS    names of the devices, a letter each
 *     FAKE_CODE    what the driver says at its start
 *     FAKE_QUEUE   what it says when a stream is made
 *     FAKE_POWER   of two: bytes of a device; 33 when not set
 *     FAKE_FOLDER  where memory is kept, as files that other processes can open
 *     FAKE_GRAPH   what it says when a graph is made ready
 *     FAKE_LOST    copies from device to device end well and do nothing
 *
 * Memory that is freed while another process has it open leaves the file "violation" in the folder.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FAILS = 999, BLOCKS = 256, HANDLE = 64 };

static const char *text(const char *variable) {
    const char *value = getenv(variable);
    return value ? value : "";
}

static int number(const char *variable) {
    return atoi(text(variable));
}

/* Into a handle or an address of the caller's. */
static int give(void *out, long value) {
    memcpy(out, &value, sizeof value);
    return 0;
}

/* ---- devices ---- */

int cuInit(unsigned flags) {
    return number("FAKE_CODE") + (int)flags;
}

int cuDriverGetVersion(int *version) {
    *version = 13000;
    return 0;
}

int cuGetErrorString(int code, const char **out) {
    *out = "as the fake was told";
    return code == 0;
}

int cuDeviceGetCount(int *count) {
    *count = (int)strlen(text("FAKE_GPUS"));
    return 0;
}

int cuDeviceGet(int *device, int index) {
    *device = index;
    return 0;
}

int cuDeviceGetName(char *name, int size, int device) {
    return snprintf(name, (size_t)size, "Fake %c", text("FAKE_GPUS")[device]) < 0;
}

#ifndef FAKE_OLD
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) {
    memset(uuid, text("FAKE_GPUS")[device], 16);
    return 0;
}
#endif

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    const int power = number("FAKE_POWER");
    return give(bytes, (1L << (power ? power : 33)) + device);
}

int cuDeviceGetAttribute(int *value, int what, int device) {
    enum { THREADS = 1, SHARED = 8, BUS = 33, UNIFIED = 41, MAJOR = 75, OPTIN = 97 };
    *value = what == THREADS   ? 1024
             : what == SHARED  ? 49152
             : what == OPTIN   ? 2 * 49152
             : what == BUS     ? 16 + device
             : what == UNIFIED ? 1
             : what == MAJOR   ? 9
                               : 0;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    return give(context, 64 + device);
}

int cuDevicePrimaryCtxRelease_v2(int device) {
    return device < 0 ? FAILS : 0;
}

int cuCtxSetCurrent(void *context) {
    (void)context;
    return 0;
}

/* ---- streams and events ---- */

int cuStreamCreate(void **stream, unsigned flags) {
    (void)give(stream, 64 + flags);
    return number("FAKE_QUEUE");
}

int cuStreamDestroy_v2(void *stream) {
    return stream ? 0 : FAILS;
}

int cuStreamSynchronize(void *stream) {
    return stream ? 0 : FAILS;
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    return stream && event && flags == 0 ? 0 : FAILS;
}

static double now; /* ms */
struct event {
    double at;
};

int cuEventCreate(struct event **event, unsigned flags) {
    *event = calloc(1, sizeof **event);
    return *event && flags < 8 ? 0 : FAILS;
}

int cuEventDestroy_v2(struct event *event) {
    if (!event) return FAILS;
    free(event);
    return 0;
}

int cuEventRecord(struct event *event, void *stream) {
    if (!event || !stream) return FAILS;
    event->at = now;
    return 0;
}

int cuEventElapsedTime(float *ms, struct event *start, struct event *end) {
    *ms = (float)(end->at - start->at);
    return 0;
}

int cuEventQuery(void *event) {
    return event ? 0 : FAILS;
}

/* ---- memory ---- */

struct block {
    char *at; /* NULL: free entry */
    size_t bytes;
    char name[HANDLE]; /* of the file */
    int opened;        /* it is another process's */
};
static struct block blocks[BLOCKS];
static int made;

static struct block *find(const char *at) {
    for (int i = 0; i < BLOCKS; i++)
        if (at ? blocks[i].at && at >= blocks[i].at && at < blocks[i].at + blocks[i].bytes
               : !blocks[i].at)
            return &blocks[i];
    return NULL;
}

static void path_of(const char *name, char out[512]) {
    snprintf(out, 512, "%s/%s", text("FAKE_FOLDER"), name);
}

static int map_file(struct block *block, int flags) {
    char path[512];
    struct stat info = {0};
    path_of(block->name, path);
    int file = open(path, O_RDWR | flags, 0600);
    if (file < 0) return FAILS;
    if (flags != 0 && ftruncate(file, (off_t)block->bytes) != 0) return FAILS;
    if (fstat(file, &info) != 0) return FAILS;
    block->bytes = (size_t)info.st_size;
    void *at = mmap(NULL, block->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED) return FAILS;
    block->at = at;
    return 0;
}

int cuMemAlloc_v2(char **at, size_t bytes) {
    struct block *block = find(NULL);
    if (!block) return FAILS;
    *block = (struct block){.bytes = bytes};
    snprintf(block->name, HANDLE, "%d.%d", (int)getpid(), made++);
    int code = map_file(block, O_CREAT | O_EXCL);
    *at = block->at;
    return code;
}

int cuMemFree_v2(char *at) {
    struct block *block = find(at);
    struct stat info = {0};
    char path[512], violation[512];
    if (!block || block->opened) return FAILS;
    path_of(block->name, path);
    path_of("violation", violation);
    /* each process that has it open holds a name of its own */
    if (stat(path, &info) == 0 && info.st_nlink > 1)
        close(open(violation, O_WRONLY | O_CREAT, 0600));
    munmap(block->at, block->bytes);
    block->at = NULL;
    return unlink(path) == 0 ? 0 : FAILS;
}

int cuMemGetAddressRange_v2(char **base, size_t *size, char *at) {
    struct block *block = find(at);
    if (!block) return FAILS;
    *base = block->at;
    *size = block->bytes;
    return 0;
}

struct handle {
    char name[HANDLE];
};

int cuIpcGetMemHandle(struct handle *out, char *at) {
    struct block *block = find(at);
    if (!block) return FAILS;
    memcpy(out->name, block->name, HANDLE);
    return 0;
}

static void own_name(const struct block *block, char out[512]) {
    char name[2 * HANDLE];
    snprintf(name, sizeof name, "%s-%d", block->name, (int)getpid());
    path_of(name, out);
}

int cuIpcOpenMemHandle_v2(char **at, struct handle handle, unsigned flags) {
    struct block *block = find(NULL);
    char path[512], own[512];
    if (!block || flags != 1) return FAILS;
    *block = (struct block){.opened = 1};
    memcpy(block->name, handle.name, HANDLE);
    if (map_file(block, 0) != 0) return FAILS;
    path_of(block->name, path);
    own_name(block, own);
    *at = block->at;
    return link(path, own) == 0 ? 0 : FAILS;
}

int cuIpcCloseMemHandle(char *at) {
    struct block *block = find(at);
    char own[512];
    if (!block || !block->opened) return FAILS;
    own_name(block, own);
    munmap(block->at, block->bytes);
    block->at = NULL;
    return unlink(own) == 0 ? 0 : FAILS;
}

int cuMemAllocHost_v2(void **at, size_t bytes) {
    *at = malloc(bytes);
    return *at ? 0 : FAILS;
}

int cuMemFreeHost(void *at) {
    free(at);
    return 0;
}

int cuMemcpyHtoDAsync_v2(char *to, const void *from, size_t bytes, void *stream) {
    if (!stream || !find(to)) return FAILS;
    memcpy(to, from, bytes);
    return 0;
}

int cuMemsetD8Async(char *to, unsigned char value, size_t bytes, void *stream) {
    if (!stream || !find(to)) return FAILS;
    memset(to, value, bytes);
    return 0;
}

int cuMemcpyDtoHAsync_v2(void *to, char *from, size_t bytes, void *stream) {
    if (!stream || !find(from)) return FAILS;
    memcpy(to, from, bytes);
    return 0;
}

int cuMemcpyAsync(char *to, char *from, size_t bytes, void *stream) {
    if (!stream || !find(to) || !find(from)) return FAILS;
    if (!number("FAKE_LOST")) memcpy(to, from, bytes);
    return 0;
}

/* ---- programs, launches and graphs ---- */

/* Both have the parameters (float *x, float c): ht_add adds c to the values of all work-items,
 * ht_scale multiplies them by it. */
int cuModuleLoadDataEx(void **module, const void *code, unsigned options, void *option,
                       void *value) {
    (void)options, (void)option, (void)value;
    return code ? give(module, 64) : FAILS;
}

int cuModuleUnload(void *module) {
    return module ? 0 : FAILS;
}

enum { ADD = 1, SCALE };

int cuModuleGetFunction(void **function, void *module, const char *name) {
    const int which = !strcmp(name, "ht_add") ? ADD : !strcmp(name, "ht_scale") ? SCALE : 0;
    return module && which ? give(function, which) : FAILS;
}

/* Local memory of a launch: each must give what was reserved. */
static unsigned reserved[3];

int cuFuncSetAttribute(void *function, int attribute, int value) {
    enum { DYNAMIC = 8 };
    long which;
    memcpy(&which, &function, sizeof which);
    if (which == 0 || attribute != DYNAMIC) return FAILS;
    reserved[which] = (unsigned)value;
    return 0;
}

int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *size) {
    if (!function || index > 1) return FAILS;
    *offset = 8 * index;
    *size = index ? sizeof(float) : sizeof(float *);
    return 0;
}

struct launch {
    long function; /* 0: a node without work */
    unsigned items;
    float *x, c;
};

static int run(const struct launch *launch) {
    if (!find((char *)launch->x) || !find((char *)(launch->x + launch->items) - 1)) return FAILS;
    for (unsigned i = 0; i < launch->items; i++)
        launch->x[i] =
            launch->function == ADD ? launch->x[i] + launch->c : launch->x[i] * launch->c;
    return 0;
}

/* As cuda.h has it, whose first version ends here. */
struct kernel {
    long function;
    unsigned groups[3], items[3], local;
    void **parameter, *extra;
};

static int read_launch(const struct kernel *k, struct launch *out) {
    if (k->groups[1] * k->groups[2] * k->items[1] * k->items[2] != 1 ||
        k->local != reserved[k->function] || k->extra)
        return FAILS;
    out->function = k->function;
    out->items = k->groups[0] * k->items[0];
    memcpy(&out->x, k->parameter[0], sizeof out->x);
    memcpy(&out->c, k->parameter[1], sizeof out->c);
    return 0;
}

int cuLaunchKernel(void *function, unsigned n1, unsigned n2, unsigned n3, unsigned i1, unsigned i2,
                   unsigned i3, unsigned local, void *stream, void **parameter, void *extra) {
    struct kernel kernel = {0, {n1, n2, n3}, {i1, i2, i3}, local, parameter, extra};
    struct launch launch;
    memcpy(&kernel.function, &function, sizeof kernel.function);
    if (!stream || read_launch(&kernel, &launch) != 0) return FAILS;
    now += (double)launch.function;
    return run(&launch);
}

/* A node follows those that it waits for. Its handle is its number from 1. */
enum { NODES = 512 };
struct node {
    struct launch launch;
    double end;         /* ms, from the graph's start */
    char before[NODES]; /* those that have ended when it begins */
};
struct graph {
    int count;
    struct node node[NODES];
};

int cuGraphCreate(struct graph **out, unsigned flags) {
    *out = calloc(1, sizeof **out);
    return *out && !flags ? 0 : FAILS;
}

static int add(struct graph *graph, const struct launch *launch, const long *before, size_t count,
               void *out) {
    if (graph->count == NODES) return FAILS;
    struct node *node = &graph->node[graph->count++];
    node->launch = *launch;
    for (size_t i = 0; i < count; i++) {
        if (before[i] < 1 || before[i] >= graph->count) return FAILS;
        const struct node *other = &graph->node[before[i] - 1];
        node->before[before[i] - 1] = 1;
        for (int n = 0; n < NODES; n++) node->before[n] |= other->before[n];
        if (other->end > node->end) node->end = other->end;
    }
    node->end += 0.5 * (double)launch->function;
    return give(out, graph->count);
}

int cuGraphAddKernelNode(void *node, struct graph *graph, const long *before, size_t count,
                         const struct kernel *kernel) {
    struct launch launch;
    if (!graph || read_launch(kernel, &launch) != 0) return FAILS;
    return add(graph, &launch, before, count, node);
}

int cuGraphAddEmptyNode(void *node, struct graph *graph, const long *before, size_t count) {
    const struct launch none = {0};
    return graph ? add(graph, &none, before, count, node) : FAILS;
}

static int overlap(const struct launch *a, const struct launch *b) {
    return a->function && b->function && a->x < b->x + b->items && b->x < a->x + a->items;
}

/* A graph that can be launched is a copy. */
int cuGraphInstantiateWithFlags(struct graph **out, const struct graph *graph,
                                unsigned long long flags) {
    for (int i = 0; i < graph->count; i++)
        for (int n = 0; n < i; n++)
            if (overlap(&graph->node[i].launch, &graph->node[n].launch) &&
                !graph->node[i].before[n])
                return FAILS;
    *out = calloc(1, sizeof **out);
    if (!*out || flags) return FAILS;
    **out = *graph;
    return number("FAKE_GRAPH");
}

int cuGraphDestroy(struct graph *graph) {
    free(graph);
    return 0;
}

int cuGraphExecDestroy(struct graph *graph) {
    free(graph);
    return 0;
}

/* Any order of the nodes that keeps to the graph has the same results. */
int cuGraphLaunch(const struct graph *graph, void *stream) {
    double end = 0;
    if (!graph || !stream) return FAILS;
    for (int i = 0; i < graph->count; i++) {
        const struct node *node = &graph->node[i];
        if (node->launch.function && run(&node->launch) != 0) return FAILS;
        if (node->end > end) end = node->end;
    }
    now += end;
    return 0;
}
