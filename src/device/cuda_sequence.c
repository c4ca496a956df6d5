/* Sequences of launches of the CUDA back end: graphs, which are captured from
 * the queue once. The device goes from kernel to kernel of a graph faster than
 * from launch to launch (bench/NOTES.md), and the host has one call for many.
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

/* Ends a capture, also one that has failed, which leaves no graph. */
static enum ht_err end_capture(const struct ht_cuda_device *device,
                               enum ht_err err, CUgraphExec *out) {
    const struct ht_cuda *cuda = device->cuda;
    CUgraph graph = NULL;
    CUresult code =
        cuda->cuStreamEndCapture(device->queue[HT_QUEUE_WORK], &graph);
    if (err == HT_OK && code == CUDA_SUCCESS)
        code = cuda->cuGraphInstantiateWithFlags(out, graph, 0);
    if (graph != NULL) (void)cuda->cuGraphDestroy(graph);
    if (err == HT_OK && code != CUDA_SUCCESS) {
        *out = NULL;
        err = ht_cuda_check(code, "preparing a sequence of kernels");
    }
    return err;
}

static enum ht_err capture(const struct ht_cuda_device *device, int64_t times,
                           int count, const struct ht_launch *launch,
                           CUgraphExec *out) {
    enum ht_err err = ht_cuda_check(
        device->cuda->cuStreamBeginCapture(device->queue[HT_QUEUE_WORK],
                                           CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        "preparing a sequence of kernels");
    if (err != HT_OK) return err;
    for (int64_t n = 0; n < times; n++)
        for (int i = 0; err == HT_OK && i < count; i++)
            err = ht_cuda_enqueue(device, &launch[i]);
    return end_capture(device, err, out);
}

enum ht_err ht_cuda_sequence_create(void *handle, int count,
                                    const struct ht_launch *launch,
                                    void **out) {
    struct cuda_sequence *s = NULL;
    TRY(ht_cuda_enter(handle));
    TRY(HT_ALLOC(s, 1));
    s->device = handle;
    s->repeats = ht_divide_up(MANY, count);
    enum ht_err err = capture(handle, 1, count, launch, &s->once);
    if (err == HT_OK)
        err = capture(handle, s->repeats, count, launch, &s->often);
    if (err != HT_OK) {
        ht_cuda_sequence_destroy(s);
        return err;
    }
    *out = s;
    return HT_OK;
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
        code == CUDA_SUCCESS
            ? HT_OK
            : ht_cuda_check(code, "launching a sequence of kernels");
    return ht_cuda_timer_end(timer, err, timing);
}
