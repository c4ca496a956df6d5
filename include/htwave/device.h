/* Devices behind one set of operations. Writes and reads of buffers return when the data is copied;
 * launches return at once, stay in order, and ht_device_finish waits for them. What is created may
 * be destroyed when it is NULL. */
#pragma once

#include "htwave/base.h"

struct ht_device;
struct ht_program;
struct ht_kernel;

struct ht_device_info {
    char name[128], vendor[128], driver[128], platform[128];
    char id[40];         /* of the hardware, equal in all processes that use it through
                            this back end; empty: not known */
    char bus[20];        /* address of an NVIDIA device; empty: not known */
    const char *backend; /* "opencl", "cuda" */
    int index;           /* among all devices listed; device.select = "N" */
    int own;             /* among those of its back end */
    bool gpu, fp64, nvidia;
    bool simulator;                           /* only taken by its name or number */
    int64_t memory, max_buffer, local_memory; /* bytes; local: per group */
    int64_t max_group;                        /* work-items per group */
    int64_t max_arguments;                    /* bytes of a kernel's arguments; 0: not known */
    int compute_units;
    /* Local memory that a launch can give to a group, where that is more than arrays of fixed size
     * may take; 0: none. */
    int64_t open_memory;
    int ptx;             /* architecture (90: 9.0) when kernels may hold its PTX, else 0 */
    bool ptx_own;        /* and what no other architecture has (9.0a) */
    bool greedy;         /* given a limit of registers per work-item, its compiler uses
                            all of them, so that fewer groups run side by side */
    bool caches;         /* its driver keeps compiled programs on disk by itself */
    const char *no_gemm; /* why it has no matrix products; NULL: it has */
    const char *no_peer; /* why no process may copy into another's buffers;
                            NULL: it may */
};

/* All devices of all back ends, perhaps none; free *out. */
HT_ERR ht_device_list(int *count, struct ht_device_info **out);

/* select: "auto" (a GPU, else any), "gpu", "cpu", none of which is a simulator, a device index, or
 * a part of the device or platform name, case ignored. backend: "auto" or a name. Of the matches
 * only the best kind counts: GPUs by CUDA, GPUs, others. Of n such devices the one with number
 * sharer modulo n is opened, where sharer numbers the processes that share these devices (0: the
 * first). HT_ERR_DEVICE lists the available devices when nothing matches. */
HT_ERR ht_device_open(const char *backend, const char *select, int sharer, struct ht_device **out);
bool ht_device_is(const struct ht_device_info *info, const char *backend, const char *select);
/* Names of the back ends, from 0 on; *built: it is part of this program. NULL after the last. */
const char *ht_device_backend(int i, bool *built);
/* Why a back end has no devices here (not built in, no driver); NULL: unknown, or it has some. */
const char *ht_device_missing(const char *backend);
/* Why OpenCL has no matrix products; NULL: it has them. */
const char *ht_clblast_missing(void);
void ht_device_close(struct ht_device *device);
/* HT_ENDED(ht_device_end) struct ht_device *device */
static inline void ht_device_end(struct ht_device **device) {
    ht_device_close(*device);
}
const struct ht_device_info *ht_device_info(const struct ht_device *device);
/* From now on the device is as small as this (device.limits): local memory of a group in bytes,
 * negative: as it is; work-items of a group, 0: as it is. */
void ht_device_limit(struct ht_device *device, int64_t local_memory, int64_t max_group, bool fp64);

/* Without a device it lies in memory of the host and has zeros, of double precision (fp64). */
struct ht_buffer {
    struct ht_device *device;
    void *handle;
    double *host;           /* or of ht_pinned_create; NULL: it is on a device */
    struct ht_remote *peer; /* of ht_peer_open; NULL: it is of this process */
    int64_t bytes;
};
/* Contents undefined, zeros, or values in a precision; device NULL: none. */
HT_ERR ht_buffer_create(struct ht_device *device, int64_t bytes, struct ht_buffer **out);
HT_ERR ht_buffer_create_zeros(struct ht_device *device, int64_t bytes, struct ht_buffer **out);
HT_ERR ht_buffer_clear(struct ht_buffer *buffer); /* to zeros */
HT_ERR ht_buffer_create_reals(struct ht_device *device, bool fp64, int64_t count,
                              const double *values, struct ht_buffer **out);
void ht_buffer_destroy(struct ht_buffer *buffer);

/* `rows` rows of `width` bytes: row r lies at offset + r * pitch in the buffer, packed (r * width)
 * in host memory. rows = 1: a plain range. */
struct ht_span {
    int64_t offset, width, pitch, rows;
};
HT_ERR ht_buffer_write(struct ht_buffer *buffer, struct ht_span span, const void *data);
HT_ERR ht_buffer_read(struct ht_buffer *buffer, struct ht_span span, void *data);
/* Values [first, first + count) of a buffer in double (fp64) or single precision. */
HT_ERR ht_buffer_write_reals(struct ht_buffer *buffer, bool fp64, int64_t first, int64_t count,
                             const double *values);
HT_ERR ht_buffer_read_reals(struct ht_buffer *buffer, bool fp64, int64_t first, int64_t count,
                            double *values);

/* The directory of programs that are compiled from now on, which must outlive them; NULL, as at
 * first: none. Not used where the driver keeps compiled programs by itself. */
void ht_device_cache(struct ht_device *device, const char *directory);

/* Numbers of the device that are measured once, kept beside its compiled programs by their name;
 * false: none are, or they cannot be kept (ht_err_message). */
bool ht_device_recall(const struct ht_device *device, const char *name, void *data, size_t size);
bool ht_device_remember(const struct ht_device *device, const char *name, const void *data,
                        size_t size);
/* The next so many programs stay until the device is closed: their texts are not compiled again. */
void ht_device_keep(struct ht_device *device, int programs);
/* Compiles, or loads from the cache. The message of a failure contains the compiler's log. */
HT_ERR ht_program_build(struct ht_device *device, const char *text, struct ht_program **out);
void ht_program_destroy(struct ht_program *program);
bool ht_program_cached(const struct ht_program *program);
HT_ERR ht_kernel_create(struct ht_program *program, const char *name, struct ht_kernel **out);
void ht_kernel_destroy(struct ht_kernel *kernel);
/* Each launch gives a group this many bytes of local memory, at most the device's open_memory. */
HT_ERR ht_kernel_open_memory(struct ht_kernel *kernel, int64_t bytes);

enum { HT_MAX_ARGS = 128 };
/* An argument: a buffer, or size bytes at value. */
struct ht_arg {
    struct ht_buffer *buffer;
    const void *value;
    size_t size;
};
/* groups[3] work-groups of group_size work-items (along the first axis). HT_ERR_DEVICE where the
 * device cannot take that many bytes of arguments. */
HT_ERR ht_kernel_launch(struct ht_kernel *kernel, int nargs, const struct ht_arg *args,
                        const int64_t groups[3], int64_t group_size);

/* ---- sequences of launches ---- */
/* Launches that are prepared once (CUDA: a graph) and not timed each. Between begin and end they
 * are recorded and not done; matrix products are refused. Kernels and buffers must outlive a
 * sequence. err: of what was to be recorded, which `end` returns after forgetting it. */
struct ht_sequence;
HT_ERR ht_sequence_begin(struct ht_device *device);
HT_ERR ht_sequence_end(struct ht_device *device, enum ht_err err, struct ht_sequence **out);
/* Launches recorded from now on are of a branch, from 1 on, until 0 ends it and all others. They
 * may run beside other branches; what comes before the first and after the last does not. */
void ht_sequence_branch(struct ht_device *device, int branch);
/* `times` times over. One run of HT_SAMPLE_EVERY is timed launch by launch; the time of the others
 * is shared among the kernels' timers in proportion to these samples. */
enum { HT_SAMPLE_EVERY = 256 };
HT_ERR ht_sequence_run(struct ht_sequence *sequence, int64_t times);
void ht_sequence_destroy(struct ht_sequence *sequence);

/* Device seconds of launches that ht_device_finish has counted, since the last call; of all. */
double ht_kernel_seconds(struct ht_kernel *kernel);
double ht_kernel_total(const struct ht_kernel *kernel);
HT_ERR ht_device_finish(struct ht_device *device);
/* Joules since some origin, updated every 0.1 s or so; negative: not reported. */
double ht_device_joules(struct ht_device *device);

/* ---- transfers that overlap with the work ---- */
/* They go to a second in-order queue and return at once. An event stands for all commands that were
 * in a queue when it was recorded, again or for the first time. Memory in use must stay until an
 * event recorded after the transfer is done. */
enum ht_queue { HT_QUEUE_WORK, HT_QUEUE_TRANSFER };
struct ht_event {
    struct ht_device *device;
    void *handle; /* NULL: not recorded */
};
HT_ERR ht_event_record(struct ht_device *device, struct ht_event *event, enum ht_queue queue);
void ht_event_end(struct ht_event *event); /* it may be recorded again */
/* Commands enqueued from now on wait for the event, which must have been recorded. */
HT_ERR ht_event_await(const struct ht_event *event, enum ht_queue queue);
/* Does not wait. A failure of the work before the event is an error. */
HT_ERR ht_event_done(const struct ht_event *event, bool *done);

/* Host memory at `host`, page-locked where the device supports it. */
HT_ERR ht_pinned_create(struct ht_device *device, int64_t bytes, struct ht_buffer **out);
/* A buffer of another process of this machine, opened by the bytes of its name. The owner keeps it
 * until it is destroyed here. */
enum { HT_PEER_NAME = 96 };
HT_ERR ht_peer_name(struct ht_buffer *buffer, unsigned char name[HT_PEER_NAME]);
HT_ERR ht_peer_open(struct ht_device *device, const unsigned char name[HT_PEER_NAME], int64_t bytes,
                    struct ht_buffer **out);
/* bytes of a buffer, from `at` on, to another one at `to`: one of them is pinned or, to which it
 * goes, of another process. */
HT_ERR ht_transfer(struct ht_buffer *from, int64_t at, struct ht_buffer *into, int64_t to,
                   int64_t bytes);

/* ---- matrix products, from a library (CLBlast) ---- */
/* C_b = A_b B_b for b < batches, all row-major without gaps: A_b is m x k and begins at value
 * at[0] + b stride[0] of its buffer, B_b is k x n (at[1], stride[1]), C_b is m x n (at[2],
 * stride[2]). Stride 0 of A or B: the same matrix for all b. C must not overlap A or B. */
struct ht_gemm_shape {
    int64_t m, n, k, batches; /* batches: 1 to 65535 */
    int64_t at[3], stride[3];
};
/* A kernel for this launch, ht_kernel_seconds, _total and _destroy alone. The library compiles it
 * at the first launch, which may take long. */
HT_ERR ht_gemm_create(struct ht_device *device, bool fp64, struct ht_kernel **out);
/* buffers: of A, B, C, of at most 2^31 values up to the shape's end. */
HT_ERR ht_gemm_launch(struct ht_kernel *gemm, const struct ht_gemm_shape *shape,
                      struct ht_buffer *const buffers[3]);
