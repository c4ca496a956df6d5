/* Shared by the files of the CUDA back end: the functions of the driver's library, which is loaded
 * at run time, and the state of an open device.
 */
#pragma once

#include <cuda.h>

#include "backend.h"

/* The functions used; cuda.h redefines some names to those of a later version (cuMemAlloc_v2). */
#define HT_CUDA_FUNCTIONS(X)       \
    X(cuInit)                      \
    X(cuDriverGetVersion)          \
    X(cuGetErrorString)            \
    X(cuDeviceGetCount)            \
    X(cuDeviceGet)                 \
    X(cuDeviceGetName)             \
    X(cuDeviceGetAttribute)        \
    X(cuDeviceTotalMem)            \
    X(cuDevicePrimaryCtxRetain)    \
    X(cuDevicePrimaryCtxRelease)   \
    X(cuCtxSetCurrent)             \
    X(cuStreamCreate)              \
    X(cuStreamDestroy)             \
    X(cuStreamSynchronize)         \
    X(cuStreamWaitEvent)           \
    X(cuGraphCreate)               \
    X(cuGraphAddEmptyNode)         \
    X(cuGraphInstantiateWithFlags) \
    X(cuGraphDestroy)              \
    X(cuGraphLaunch)               \
    X(cuGraphExecDestroy)          \
    X(cuEventCreate)               \
    X(cuEventDestroy)              \
    X(cuEventRecord)               \
    X(cuEventQuery)                \
    X(cuMemAlloc)                  \
    X(cuMemFree)                   \
    X(cuMemGetAddressRange)        \
    X(cuMemAllocHost)              \
    X(cuMemFreeHost)               \
    X(cuMemcpyAsync)               \
    X(cuMemcpyHtoDAsync)           \
    X(cuMemcpyDtoHAsync)           \
    X(cuMemcpy2DAsync)             \
    X(cuIpcGetMemHandle)           \
    X(cuIpcOpenMemHandle)          \
    X(cuIpcCloseMemHandle)         \
    X(cuModuleLoadDataEx)          \
    X(cuModuleUnload)              \
    X(cuModuleGetFunction)         \
    X(cuFuncSetAttribute)          \
    X(cuLaunchKernel)

struct ht_cuda {
#define HT_CUDA_POINTER(name) __typeof__(name) *(name);
    HT_CUDA_FUNCTIONS(HT_CUDA_POINTER)
#undef HT_CUDA_POINTER
    /* Their first versions, which every driver has. */
    CUresult (*cuEventElapsedTime_v1)(float *milliseconds, CUevent start, CUevent end);
    CUresult (*cuGraphAddKernelNode_v1)(CUgraphNode *node, CUgraph graph,
                                        const CUgraphNode *dependencies, size_t count,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *launch);
    /* Since driver 12.4; NULL: arguments are not checked. */
    CUresult (*cuFuncGetParamInfo_v1)(CUfunction function, size_t index, size_t *offset,
                                      size_t *size);
    /* Since driver 11.4; distinguishes parts of a GPU. NULL: the PCI bus address is used instead.
     */
    CUresult (*cuDeviceGetUuid_v2)(CUuuid *uuid, CUdevice device);
    int driver;  /* 1000 major + 10 minor of the CUDA version it is for */
    int devices; /* above 0 */
};

/* The library with its devices, NULL when there are none; it is loaded and started once and never
 * unloaded. */
const struct ht_cuda *ht_cuda_get(void);
/* Why ht_cuda_get returns NULL. */
const char *ht_cuda_missing(void);
/* The driver's text for a code other than CUDA_SUCCESS, as an error. */
HT_CHECKED enum ht_err ht_cuda_check(CUresult code, const char *what);

struct ht_cuda_timer;
struct ht_cuda_device {
    const struct ht_cuda *cuda;
    CUdevice id;
    CUcontext context;           /* the device's primary one; NULL: none yet */
    CUstream queue[2];           /* [enum ht_queue] */
    struct ht_cuda_timer *spare; /* a list, for later launches */
    struct ht_nvml *nvml;        /* NULL: energy is unknown */
    int architecture;            /* 10 major + minor */
    int64_t most_pitch;          /* of copies by rows */
};

struct ht_cuda_buffer {
    struct ht_cuda_device *device;
    CUdeviceptr at;
    int64_t bytes;
};

/* Makes the device's context current in the calling thread. Every operation begins with it, since a
 * process may have several devices open. */
HT_CHECKED enum ht_err ht_cuda_enter(const struct ht_cuda_device *device);
/* Waits for both queues before memory that they may use is freed. Failures are reported by later
 * calls. */
void ht_cuda_settle(const struct ht_cuda_device *device);

/* cuda_program.c: operations of struct ht_backend. */
HT_CHECKED enum ht_err ht_cuda_program_build(void *device, const char *text, int registers,
                                             void **program);
HT_CHECKED enum ht_err ht_cuda_program_load(void *device, const void *binary, size_t size,
                                            int registers, void **program);
HT_CHECKED enum ht_err ht_cuda_program_binary(void *program, void **binary, size_t *size);
void ht_cuda_program_destroy(void *handle);
HT_CHECKED enum ht_err ht_cuda_kernel_create(void *program, const char *name, void **kernel);
void ht_cuda_kernel_destroy(void *kernel);
HT_CHECKED enum ht_err ht_cuda_kernel_open_memory(void *kernel, int64_t bytes);
HT_CHECKED enum ht_err ht_cuda_launch(void *device, const struct ht_launch *launch, void **timing);
double ht_cuda_launch_seconds(void *handle);
/* Destroys the device's spare timers. */
void ht_cuda_forget_timers(struct ht_cuda_device *device);

HT_CHECKED enum ht_err ht_cuda_sequence_create(void *device, int count,
                                               const struct ht_launch *launch, void **sequence);
void ht_cuda_sequence_destroy(void *handle);
HT_CHECKED enum ht_err ht_cuda_sequence_run(void *handle, int64_t times, void **timing);
