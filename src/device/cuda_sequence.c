/* Sequences of launches of the CUDA back end: graphs, which are made once. The device goes from
 * kernel to kernel of a graph faster than from launch to launch (bench/NOTES.md), the host has one
 * call for many, and branches run side by side.
 */
#include <stdlib.h>

#include "cuda_device.h"

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

static enum ht_err check(CUresult code) {
    return code == CUDA_SUCCESS ? HT_OK : ht_cuda_check(code, "preparing a sequence of kernels");
}

/* after: what it waits for; NULL: nothing. */
static enum ht_err add_launch(const struct growing *g, const struct ht_launch *launch,
                              CUgraphNode after, CUgraphNode *out) {
    void *parameter[HT_MAX_ARGS];
    CUDA_KERNEL_NODE_PARAMS_v1 kernel;
    TRY(ht_cuda_describe(launch, parameter, &kernel));
    return check(
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
    return check(g->cuda->cuGraphAddEmptyNode(&g->last, g->graph, g->node, (size_t)count));
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

static enum ht_err make(const struct ht_cuda *cuda, int64_t times, int count,
                        const struct ht_launch *launch, CUgraphExec *out) {
    struct growing g = {.cuda = cuda};
    TRY(HT_ALLOC(g.node, count));
    enum ht_err err = check(cuda->cuGraphCreate(&g.graph, 0));
    for (int64_t n = 0; err == HT_OK && n < times; n++) err = add_all(&g, count, launch);
    if (err == HT_OK) err = check(cuda->cuGraphInstantiateWithFlags(out, g.graph, 0));
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
    enum ht_err err = make(s->device->cuda, 1, count, launch, &s->once);
    if (err == HT_OK) err = make(s->device->cuda, s->repeats, count, launch, &s->often);
    return HT_MADE(err, s, ht_cuda_sequence_destroy, out);
}

enum ht_err ht_cuda_sequence_run(void *handle, int64_t times, void **timing) {
    const struct cuda_sequence *s = handle;
    CUstream queue = s->device->queue[HT_QUEUE_WORK];
    struct ht_cuda_timer *timer;
    CUresult code = CUDA_SUCCESS;
    TRY(ht_cuda_timer_start(s->device, &timer));
    for (int64_t left = times; code == CUDA_SUCCESS && left > 0;) {
        const bool many = left >= s->repeats;
        code = s->device->cuda->cuGraphLaunch(many ? s->often : s->once, queue);
        left -= many ? s->repeats : 1;
    }
    const enum ht_err err =
        code == CUDA_SUCCESS ? HT_OK : ht_cuda_check(code, "launching a sequence of kernels");
    return ht_cuda_timer_end(timer, err, timing);
}
