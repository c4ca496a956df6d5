/* The operations of htwave/device.h on an open device: counts of memory and time, checks, and the
 * program cache around builds. Devices are chosen in choice.c; transfers are in transfer.c.
 */
#include <stdlib.h>
#include <string.h>

#include "device_private.h"

struct ht_program {
    struct ht_device *device;
    void *handle;
    bool cached;
};

struct ht_gemm {
    struct ht_device *device;
    bool fp64;
    struct ht_launch_timer timer;
};

void ht_device_close(struct ht_device *device) {
    if (device == NULL) return;
    for (int i = 0; i < device->npending; i++)
        (void)device->backend->launch_seconds(device->pending[i].timing);
    device->backend->close(device->handle);
    free(device);
}

const struct ht_device_info *ht_device_info(const struct ht_device *device) {
    return &device->info;
}

void ht_device_cache(struct ht_device *device, const char *directory) {
    device->cache = directory;
}

int64_t ht_device_allocated(const struct ht_device *device) {
    return device->allocated;
}

enum ht_err ht_buffer_create(struct ht_device *device, int64_t bytes, struct ht_buffer **out) {
    struct ht_buffer *buffer = NULL;
    *out = NULL;
    REQUIRE(bytes <= device->info.max_buffer, HT_ERR_DEVICE,
            "a buffer of %s is more than %s allows at once (%s)", HT_BYTES(bytes),
            device->info.name, HT_BYTES(device->info.max_buffer));
    TRY(HT_ALLOC(buffer, 1));
    buffer->device = device;
    buffer->bytes = bytes;
    enum ht_err err =
        device->backend->buffer_create(device->handle, bytes > 0 ? bytes : 1, &buffer->handle);
    if (err == HT_OK) device->allocated += bytes;
    return HT_MADE(err, buffer, free, out);
}

void ht_buffer_destroy(struct ht_buffer *buffer) {
    if (buffer == NULL) return;
    buffer->device->allocated -= buffer->bytes;
    buffer->device->backend->buffer_destroy(buffer->handle);
    free(buffer);
}

/* Rows lie inside the buffer and do not overlap; no sum here can overflow. */
static bool span_fits(int64_t bytes, struct ht_span span) {
    if (span.offset < 0 || span.width < 0 || span.rows < 1) return false;
    if (span.offset > bytes || span.width > bytes - span.offset) return false;
    if (span.rows == 1) return true;
    if (span.pitch < 1 || span.pitch < span.width) return false;
    int64_t room = bytes - span.offset - span.width;
    return span.rows - 1 <= room / span.pitch;
}

enum ht_err ht_buffer_copy(struct ht_buffer *buffer, struct ht_span span, void *in, const void *out,
                           enum ht_queue queue) {
    struct ht_device *device = buffer->device;
    REQUIRE(span_fits(buffer->bytes, span), HT_ERR_INTERNAL,
            "transfer of %lld rows of %lld bytes at %lld, pitch %lld, of a buffer of %lld",
            (long long)span.rows, (long long)span.width, (long long)span.offset,
            (long long)span.pitch, (long long)buffer->bytes);
    if (span.width == 0) return HT_OK;
    return device->backend->copy(device->handle, buffer->handle, span, in, out, queue);
}

enum ht_err ht_buffer_write(struct ht_buffer *buffer, struct ht_span span, const void *data) {
    return ht_buffer_copy(buffer, span, NULL, data, HT_QUEUE_WORK);
}

enum ht_err ht_buffer_read(struct ht_buffer *buffer, struct ht_span span, void *data) {
    return ht_buffer_copy(buffer, span, data, NULL, HT_QUEUE_WORK);
}

/* ---- numbers of the host in a buffer's precision ---- */

struct rounding {
    const double *from;
    float *to;
    int64_t count, chunks;
};

static enum ht_err round_chunk(void *data, int64_t chunk, int worker) {
    const struct rounding *r = data;
    const int64_t end = ht_threads_first(r->count, r->chunks, chunk + 1);
    (void)worker;
    for (int64_t i = ht_threads_first(r->count, r->chunks, chunk); i < end; i++)
        r->to[i] = (float)r->from[i];
    return HT_OK;
}

enum ht_err ht_buffer_write_reals(struct ht_buffer *buffer, bool fp64, int64_t first, int64_t count,
                                  const double *values) {
    const int64_t word = fp64 ? 8 : 4, least = (int64_t)1 << 18;
    const struct ht_span span = {
        .offset = first * word, .width = count * word, .pitch = count * word, .rows = 1};
    struct rounding r = {.from = values, .count = count, .chunks = ht_threads_chunks(count, least)};
    if (fp64) return ht_buffer_write(buffer, span, values);
    TRY(HT_ALLOC(r.to, count));
    enum ht_err err = ht_threads_run(r.chunks, round_chunk, &r);
    if (err == HT_OK) err = ht_buffer_write(buffer, span, r.to);
    free(r.to);
    return err;
}

enum ht_err ht_buffer_read_reals(struct ht_buffer *buffer, bool fp64, int64_t first, int64_t count,
                                 double *values) {
    const int64_t word = fp64 ? 8 : 4;
    const struct ht_span span = {
        .offset = first * word, .width = count * word, .pitch = count * word, .rows = 1};
    HT_FREED float *single = NULL;
    if (fp64) return ht_buffer_read(buffer, span, values);
    TRY(HT_ALLOC(single, count));
    TRY(ht_buffer_read(buffer, span, single));
    for (int64_t i = 0; i < count; i++) values[i] = single[i];
    return HT_OK;
}

/* Reads the limit of registers per work-item from the program text, so that a binary depends on the
 * text alone. */
static int registers_of(const char *text) {
    const char key[] = "#define HT_MOST_REGISTERS ";
    const char *at = strstr(text, key);
    if (at == NULL) return 0;
    at += sizeof key - 1;
    return (int)strtol(*at == '(' ? at + 1 : at, NULL, 10);
}

/* From the cache if it has this text for this device and the driver accepts the binary; with any
 * fault in it the text is compiled as if it were absent. */
static bool load_cached(struct ht_program *program, const char *text) {
    struct ht_device *device = program->device;
    HT_FREED void *binary = NULL;
    size_t size = 0;
    return ht_cache_load(device->cache, &device->info, text, &binary, &size) &&
           device->backend->program_load(device->handle, binary, size, registers_of(text),
                                         &program->handle) == HT_OK;
}

static void store_cached(struct ht_program *program, const char *text) {
    HT_FREED void *binary = NULL;
    size_t size = 0;
    const struct ht_device *device = program->device;
    if (device->backend->program_binary(program->handle, &binary, &size) == HT_OK)
        ht_cache_store(device->cache, &device->info, text, binary, size);
}

enum ht_err ht_program_build(struct ht_device *device, const char *text, struct ht_program **out) {
    const bool keeps = device->cache != NULL && !device->info.caches;
    struct ht_program *program = NULL;
    enum ht_err err = HT_OK;
    *out = NULL;
    TRY(HT_ALLOC(program, 1));
    program->device = device;
    program->cached = keeps && load_cached(program, text);
    if (!program->cached)
        err = device->backend->program_build(device->handle, text, registers_of(text),
                                             &program->handle);
    if (err == HT_OK && keeps && !program->cached) store_cached(program, text);
    return HT_MADE(err, program, free, out);
}

void ht_program_destroy(struct ht_program *program) {
    if (program == NULL) return;
    program->device->backend->program_destroy(program->handle);
    free(program);
}

bool ht_program_cached(const struct ht_program *program) {
    return program->cached;
}

enum ht_err ht_kernel_create(struct ht_program *program, const char *name, struct ht_kernel **out) {
    struct ht_kernel *kernel = NULL;
    *out = NULL;
    TRY(HT_ALLOC(kernel, 1));
    kernel->device = program->device;
    enum ht_err err =
        program->device->backend->kernel_create(program->handle, name, &kernel->handle);
    return HT_MADE(err, kernel, free, out);
}

/* Launches of a timer that is closed are still waited for. */
static void close_timer(struct ht_device *device, const struct ht_launch_timer *timer) {
    for (int i = 0; i < device->npending; i++)
        if (device->pending[i].timer == timer) device->pending[i].timer = NULL;
}

void ht_timer_charge(struct ht_launch_timer *timer, double seconds) {
    timer->recent += seconds;
    timer->total += seconds;
}

static double recent_seconds(struct ht_launch_timer *timer) {
    double seconds = timer->recent;
    timer->recent = 0;
    return seconds;
}

enum ht_err ht_device_make_room(struct ht_device *device) {
    return device->npending < HT_MAX_PENDING ? HT_OK : ht_device_finish(device);
}

void ht_kernel_destroy(struct ht_kernel *kernel) {
    if (kernel == NULL) return;
    close_timer(kernel->device, &kernel->timer);
    kernel->device->backend->kernel_destroy(kernel->handle);
    free(kernel);
}

enum ht_err ht_kernel_open_memory(struct ht_kernel *kernel, int64_t bytes) {
    const struct ht_device *device = kernel->device;
    REQUIRE(bytes <= device->info.open_memory, HT_ERR_INTERNAL,
            "%lld bytes of local memory for a launch; %s gives %lld", (long long)bytes,
            device->info.name, (long long)device->info.open_memory);
    return device->backend->kernel_open_memory(kernel->handle, bytes);
}

enum ht_err ht_kernel_launch(struct ht_kernel *kernel, int nargs, const struct ht_arg *args,
                             const int64_t groups[3], int64_t group_size) {
    struct ht_device *device = kernel->device;
    struct ht_arg own[HT_MAX_ARGS];
    /* A buffer counts as its address. */
    int64_t bytes = 0, most = device->info.max_arguments;
    REQUIRE(nargs <= HT_MAX_ARGS, HT_ERR_INTERNAL, "a kernel with %d arguments", nargs);
    for (int i = 0; i < nargs; i++)
        bytes += args[i].buffer ? (int64_t)sizeof(void *) : (int64_t)args[i].size;
    REQUIRE(most <= 0 || bytes <= most, HT_ERR_DEVICE,
            "a kernel with %lld bytes of arguments; %s takes %lld: a variant "
            "of two kernels needs fewer",
            (long long)bytes, device->info.name, (long long)most);
    for (int i = 0; i < nargs; i++) {
        own[i] = args[i];
        if (args[i].buffer != NULL) own[i] = (struct ht_arg){.value = args[i].buffer->handle};
    }
    const struct ht_launch launch = {.kernel = kernel->handle,
                                     .nargs = nargs,
                                     .args = own,
                                     .groups = {groups[0], groups[1], groups[2]},
                                     .group_size = group_size};
    if (device->recording != NULL) return ht_sequence_add(device->recording, kernel, &launch);
    TRY(ht_device_make_room(device));
    void *timing;
    TRY(device->backend->launch(device->handle, &launch, &timing));
    device->pending[device->npending++] =
        (struct ht_pending){.timing = timing, .timer = &kernel->timer};
    return HT_OK;
}

double ht_kernel_seconds(struct ht_kernel *kernel) {
    return recent_seconds(&kernel->timer);
}

double ht_kernel_total(const struct ht_kernel *kernel) {
    return kernel->timer.total;
}

double ht_device_joules(struct ht_device *device) {
    return device->backend->joules(device->handle);
}

enum ht_err ht_gemm_create(struct ht_device *device, bool fp64, struct ht_gemm **out) {
    struct ht_gemm *gemm = NULL;
    *out = NULL;
    REQUIRE(device->info.no_gemm == NULL, HT_ERR_DEVICE, "matrix products: %s",
            device->info.no_gemm);
    TRY(HT_ALLOC(gemm, 1));
    *gemm = (struct ht_gemm){.device = device, .fp64 = fp64};
    *out = gemm;
    return HT_OK;
}

void ht_gemm_destroy(struct ht_gemm *gemm) {
    if (gemm == NULL) return;
    close_timer(gemm->device, &gemm->timer);
    free(gemm);
}

enum ht_err ht_gemm_launch(struct ht_gemm *gemm, const struct ht_gemm_shape *shape,
                           struct ht_buffer *const buffers[3]) {
    struct ht_device *device = gemm->device;
    void *const handles[3] = {buffers[0]->handle, buffers[1]->handle, buffers[2]->handle};
    /* All matrices of a shape lie inside their buffers, and libraries use 32-bit indices for their
     * values. */
    const int64_t sizes[3] = {shape->m * shape->k, shape->k * shape->n, shape->m * shape->n};
    int64_t element_size = ht_real_size(gemm->fp64), most = INT32_MAX;
    bool good = shape->m > 0 && shape->n > 0 && shape->k > 0 && shape->batches > 0 &&
                shape->batches < 65536;
    for (int i = 0; good && i < 3; i++) {
        int64_t end = shape->at[i] + (shape->batches - 1) * shape->stride[i] + sizes[i];
        good = shape->at[i] >= 0 && shape->stride[i] >= 0 && end <= most &&
               end * element_size <= buffers[i]->bytes;
    }
    REQUIRE(good, HT_ERR_INTERNAL,
            "%lld matrix products %lld x %lld x %lld beyond their buffers or 2^31 values",
            (long long)shape->batches, (long long)shape->m, (long long)shape->n,
            (long long)shape->k);
    REQUIRE(device->recording == NULL, HT_ERR_INTERNAL,
            "matrix products in a sequence of launches");
    TRY(ht_device_make_room(device));
    void *timing;
    TRY(device->backend->gemm(device->handle, gemm->fp64, shape, handles, &timing));
    device->pending[device->npending++] =
        (struct ht_pending){.timing = timing, .timer = &gemm->timer};
    return HT_OK;
}

double ht_gemm_seconds(struct ht_gemm *gemm) {
    return recent_seconds(&gemm->timer);
}

enum ht_err ht_device_finish(struct ht_device *device) {
    enum ht_err err = device->backend->finish(device->handle);
    for (int i = 0; i < device->npending; i++) {
        struct ht_pending *pending = &device->pending[i];
        double seconds = device->backend->launch_seconds(pending->timing);
        if (pending->timer != NULL) ht_timer_charge(pending->timer, seconds);
        if (pending->sample != NULL) *pending->sample += seconds;
        if (pending->sequence != NULL) ht_sequence_charge(pending->sequence, seconds);
    }
    device->npending = 0;
    return err;
}
