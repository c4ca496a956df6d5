/* The choice of a device, counts of memory and time, checks that transfers and launches stay inside
 * what they name, the cache of programs, recorded sequences. Back ends do the rest. */
#include "backend.h"
#include "nvidia.h"

struct ht_kernel {
    struct ht_device *device;
    void *handle;         /* NULL: matrix products */
    bool fp64;            /* of these */
    double recent, total; /* device seconds of finished launches, since they were read; of all */
};

struct ht_pending {
    struct ht_timing *timing;
    struct ht_kernel *kernel;     /* charged with it; NULL: none, or destroyed */
    struct ht_sequence *sequence; /* whose kernels share it; NULL: a launch */
    double *sample;               /* gets it, too; NULL: none */
};

enum { HT_MAX_PENDING = 256 };

struct ht_device {
    const struct ht_backend *backend;
    struct ht_device_info info;
    struct ht_driver *handle;
    struct ht_nvml *nvml; /* NULL: energy is unknown */
    bool no_double;       /* by ht_device_limit: its compiler has one */
    const char *cache;    /* directory of compiled programs; NULL: none */
    int keeps;            /* so many more programs stay */
    struct ht_program *kept;
    struct ht_pending pending[HT_MAX_PENDING]; /* launches not yet added */
    int npending;
    struct ht_sequence *recording; /* gets the launches; NULL: none */
};

struct ht_program {
    struct ht_device *device;
    void *handle;
    bool cached;
    char *text; /* of one that stays until its device is closed; NULL: of none */
    struct ht_program *next;
};

struct recorded {
    struct ht_kernel *kernel;
    double seconds; /* of its samples so far */
};

struct ht_sequence {
    struct ht_device *device;
    int fork, branch; /* of the next launch */
    int count;
    int64_t room[2]; /* of the two lists */
    struct recorded *recorded;
    struct ht_launch *launch; /* as the back end gets them */
    struct ht_pool pool;      /* of their arguments */
    struct ht_graph *handle;  /* NULL: not made yet */
    int64_t until_sample;     /* of times */
};

/* ---- the table of back ends, and the choice of the device that is opened ---- */

static const struct ht_backend *const backends[] = {&ht_backend_cuda, &ht_backend_opencl};
enum { NBACKENDS = sizeof backends / sizeof backends[0] };

HT_ERR ht_device_list(int *count, struct ht_device_info **out) {
    int64_t room = 0;
    HT_FREED struct ht_device_info *infos = NULL;
    *count = 0;
    TRY(HT_GROW(infos, 1, room));
    for (int b = 0; b < NBACKENDS; b++)
        for (int i = 0, all = backends[b]->count(); i < all; i++) {
            const int n = (*count)++;
            TRY(HT_GROW(infos, *count, room));
            infos[n] = (struct ht_device_info){.backend = backends[b]->name, .index = n, .own = i};
            TRY(backends[b]->info(i, &infos[n]));
        }
    *out = infos;
    infos = NULL;
    return HT_OK;
}

static const struct ht_backend *backend_of(const char *name) {
    for (int b = 0; b < NBACKENDS; b++)
        if (strcmp(backends[b]->name, name) == 0) return backends[b];
    return NULL;
}

const char *ht_device_backend(int i, bool *built) {
    if (i >= NBACKENDS) return NULL;
    *built = backends[i]->open != NULL;
    return backends[i]->name;
}

const char *ht_device_missing(const char *backend) {
    const struct ht_backend *b = backend_of(backend);
    return b == NULL ? NULL : b->missing();
}

static bool contains(const char *text, const char *part) {
    for (; *text; text++) {
        size_t n = 0;
        while (part[n] && tolower((unsigned char)text[n]) == tolower((unsigned char)part[n])) n++;
        if (part[n] == '\0') return true;
    }
    return false;
}

bool ht_device_is(const struct ht_device_info *info, const char *backend, const char *select) {
    char *end = NULL;
    long index = strtol(select, &end, 10);
    if (strcmp(backend, "auto") != 0 && strcmp(backend, info->backend) != 0) return false;
    if (strcmp(select, "auto") == 0) return !info->simulator;
    if (end != select && *end == '\0') return info->index == index;
    if (strcmp(select, "gpu") == 0) return info->gpu && !info->simulator;
    if (strcmp(select, "cpu") == 0) return !info->gpu && !info->simulator;
    return contains(info->name, select) || contains(info->platform, select);
}

/* 3: it does not match. Two back ends may list the same GPU. When all processes of a machine use
 * one back end they get different GPUs. */
static int kind_of(const struct ht_device_info *info, const char *backend, const char *select) {
    if (!ht_device_is(info, backend, select)) return 3;
    if (!info->gpu) return 2;
    return strcmp(info->backend, "cuda") == 0 ? 0 : 1;
}

int ht_device_choose(int count, const struct ht_device_info *infos, const char *backend,
                     const char *select, int sharer) {
    int best = 3, alike = 0, n = 0;
    for (int i = 0; i < count; i++) best = (int)ht_least(best, kind_of(&infos[i], backend, select));
    for (int i = 0; i < count; i++) alike += kind_of(&infos[i], backend, select) == best;
    if (best == 3 || alike == 0) return -1;
    for (int left = sharer % alike; kind_of(&infos[n], backend, select) != best || left-- > 0;) n++;
    return n;
}

static HT_ERR none_matches(int count, const struct ht_device_info *infos, const char *backend,
                           const char *select) {
    HT_FREED_TEXT struct ht_text text = {0};
    for (int n = 0; n < count; n++)
        ht_text_add(&text, "%s%d: %s (%s)", n ? "; " : "", n, infos[n].name, infos[n].backend);
    if (count == 0) ht_text_add(&text, "none");
    const bool any = strcmp(backend, "auto") == 0, known = any || backend_of(backend) != NULL;
    HT_EACH_BY(b, const char, name, backends[b]->name, NBACKENDS) {
        const bool meant = any ? count == 0 : strcmp(name, backend) == 0;
        const char *missing = meant ? backends[b]->missing() : NULL;
        if (missing != NULL) ht_text_add(&text, "; no %s: %s", name, missing);
        if (!known) ht_text_add(&text, "%s %s", b ? "," : "; back ends are", name);
    }
    TRY(ht_text_status(&text));
    return ht_err_set(HT_ERR_DEVICE,
                      "no device matches device.backend = \"%s\", "
                      "device.select = \"%s\"; available: %s",
                      backend, select, text.data);
}

HT_ERR ht_device_open(const char *backend, const char *select, int sharer, struct ht_device **out) {
    int count = 0;
    HT_FREED struct ht_device_info *infos = NULL;
    struct ht_device *device = NULL;
    TRY(ht_device_list(&count, &infos));
    const int n = ht_device_choose(count, infos, backend, select, sharer);
    if (n < 0) return none_matches(count, infos, backend, select);
    TRY(HT_ALLOC(device, 1));
    device->info = infos[n];
    device->backend = backend_of(infos[n].backend);
    enum ht_err err = device->backend->open(infos[n].own, &device->handle);
    if (err == HT_OK && device->info.nvidia) device->nvml = ht_nvml_open(device->info.bus);
    return HT_MADE(err, device, free, out);
}

/* ---- devices and buffers ---- */

void ht_device_close(struct ht_device *device) {
    if (device == NULL) return;
    for (int i = 0; i < device->npending; i++)
        (void)device->backend->launch_seconds(device->pending[i].timing);
    for (struct ht_program *kept = device->kept, *next; kept != NULL; kept = next) {
        next = kept->next;
        device->backend->program_destroy(device->handle, kept->handle);
        free(kept->text);
        free(kept);
    }
    ht_nvml_close(device->nvml);
    device->backend->close(device->handle);
    free(device);
}

const struct ht_device_info *ht_device_info(const struct ht_device *device) {
    return &device->info;
}

void ht_device_limit(struct ht_device *device, int64_t local_memory, int64_t max_group, bool fp64) {
    struct ht_device_info *info = &device->info;
    if (local_memory >= 0) {
        info->local_memory = ht_least(info->local_memory, local_memory);
        info->open_memory = ht_least(info->open_memory, local_memory);
    }
    if (max_group > 0) info->max_group = ht_least(info->max_group, max_group);
    device->no_double = info->fp64 && !fp64;
    info->fp64 = info->fp64 && fp64;
}

void ht_device_cache(struct ht_device *device, const char *directory) {
    device->cache = directory;
}

HT_ERR ht_buffer_create(struct ht_device *device, int64_t bytes, struct ht_buffer **out) {
    const int64_t room = ht_most(bytes, 1);
    REQUIRE(device == NULL || bytes <= device->info.max_buffer, HT_ERR_DEVICE,
            "a buffer of %s is more than %s allows at once (%s)", HT_BYTES(bytes),
            device->info.name, HT_BYTES(device->info.max_buffer));
    HT_CREATE(out,
              (**out = (struct ht_buffer){.device = device, .bytes = bytes},
               device == NULL
                   ? ht_mem_alloc((size_t)room, 1, &(*out)->host)
                   : device->backend->buffer_create(device->handle, room, &(*out)->handle)),
              free);
}

static struct ht_span row_of(int64_t offset, int64_t width) {
    return (struct ht_span){.offset = offset, .width = width, .pitch = width, .rows = 1};
}

HT_ERR ht_buffer_clear(struct ht_buffer *buffer) {
    struct ht_device *device = buffer->device;
    if (buffer->host != NULL) memset(buffer->host, 0, (size_t)buffer->bytes);
    if (buffer->host != NULL || buffer->bytes == 0) return HT_OK;
    return device->backend->buffer_clear(device->handle, buffer->handle, buffer->bytes);
}

HT_ERR ht_buffer_create_zeros(struct ht_device *device, int64_t bytes, struct ht_buffer **out) {
    TRY(ht_buffer_create(device, bytes, out));
    return ht_buffer_clear(*out);
}

HT_ERR ht_buffer_create_reals(struct ht_device *device, bool fp64, int64_t count,
                              const double *values, struct ht_buffer **out) {
    TRY(ht_buffer_create(device, count * ht_real_size(fp64), out));
    return ht_buffer_write_reals(*out, fp64, 0, count, values);
}

void ht_buffer_destroy(struct ht_buffer *buffer) {
    if (buffer == NULL) return;
    struct ht_device *device = buffer->device;
    if (buffer->peer != NULL)
        device->backend->peer_close(device->handle, buffer->peer);
    else if (buffer->host == NULL)
        device->backend->buffer_destroy(device->handle, buffer->handle);
    else if (device != NULL)
        device->backend->pinned_destroy(device->handle, buffer->host, buffer->handle);
    if (buffer->handle == NULL) free(buffer->host);
    free(buffer);
}

/* No sum here can overflow. */
static bool has_range(const struct ht_buffer *buffer, int64_t at, int64_t bytes) {
    return at >= 0 && bytes >= 0 && at <= buffer->bytes && bytes <= buffer->bytes - at;
}

/* Rows lie inside the buffer and do not overlap. */
static bool has_span(const struct ht_buffer *buffer, struct ht_span span) {
    if (span.rows < 1 || !has_range(buffer, span.offset, span.width)) return false;
    if (span.rows == 1) return true;
    if (span.pitch < 1 || span.pitch < span.width) return false;
    return span.rows - 1 <= (buffer->bytes - span.offset - span.width) / span.pitch;
}

/* As `copy` of struct ht_backend, after a check that the span lies in the buffer. */
static HT_ERR buffer_copy(struct ht_buffer *buffer, struct ht_span span, void *in, const void *out,
                          enum ht_queue queue) {
    struct ht_device *device = buffer->device;
    REQUIRE(has_span(buffer, span), HT_ERR_INTERNAL,
            "transfer of %lld rows of %lld bytes at %lld, pitch %lld, of a buffer of %lld",
            (long long)span.rows, (long long)span.width, (long long)span.offset,
            (long long)span.pitch, (long long)buffer->bytes);
    if (span.width == 0) return HT_OK;
    return device->backend->copy(device->handle, buffer->handle, span, in, out, queue);
}

HT_ERR ht_buffer_write(struct ht_buffer *buffer, struct ht_span span, const void *data) {
    return buffer_copy(buffer, span, NULL, data, HT_QUEUE_WORK);
}

HT_ERR ht_buffer_read(struct ht_buffer *buffer, struct ht_span span, void *data) {
    return buffer_copy(buffer, span, data, NULL, HT_QUEUE_WORK);
}

/* ---- numbers of the host in a buffer's precision ---- */

enum { LEAST = 1 << 18 }; /* numbers of a thread */

struct rounding {
    const double *from; /* NULL: numbers are read */
    double *to;
    float *single;
};

static HT_ERR round_share(void *data, int64_t begin, int64_t end) {
    const struct rounding *r = data;
    for (int64_t i = begin; r->from != NULL && i < end; i++) r->single[i] = (float)r->from[i];
    for (int64_t i = begin; r->from == NULL && i < end; i++) r->to[i] = r->single[i];
    return HT_OK;
}

static HT_ERR move_reals(struct ht_buffer *buffer, bool fp64, int64_t first, int64_t count,
                         const double *from, double *to) {
    const int64_t word = ht_real_size(fp64);
    const struct ht_span span = row_of(first * word, count * word);
    if (buffer->host != NULL && from != NULL)
        memcpy(buffer->host + first, from, (size_t)span.width);
    if (buffer->host != NULL && to != NULL) memcpy(to, buffer->host + first, (size_t)span.width);
    if (buffer->host != NULL) return HT_OK;
    if (fp64) return buffer_copy(buffer, span, to, from, HT_QUEUE_WORK);
    HT_ARRAY(float, single, count);
    struct rounding r = {from, to, single};
    if (to != NULL) TRY(ht_buffer_read(buffer, span, single));
    TRY(ht_threads_share(count, LEAST, round_share, &r));
    return from != NULL ? ht_buffer_write(buffer, span, single) : HT_OK;
}

HT_ERR ht_buffer_write_reals(struct ht_buffer *buffer, bool fp64, int64_t first, int64_t count,
                             const double *values) {
    return move_reals(buffer, fp64, first, count, values, NULL);
}

HT_ERR ht_buffer_read_reals(struct ht_buffer *buffer, bool fp64, int64_t first, int64_t count,
                            double *values) {
    return move_reals(buffer, fp64, first, count, NULL, values);
}

/* The limit of registers per work-item, from the text, so that a binary depends on that alone. */
static int registers_of(const char *text) {
    const char key[] = "#define HT_MOST_REGISTERS ";
    const char *at = strstr(text, key);
    if (at == NULL) return 0;
    at += sizeof key - 1;
    return (int)strtol(*at == '(' ? at + 1 : at, NULL, 10);
}

bool ht_device_recall(const struct ht_device *device, const char *name, void *data, size_t size) {
    HT_FREED void *kept = NULL;
    size_t length = 0;
    if (device->cache == NULL ||
        !ht_cache_load(device->cache, &device->info, name, &kept, &length) || length != size)
        return false;
    memcpy(data, kept, size);
    return true;
}

bool ht_device_remember(const struct ht_device *device, const char *name, const void *data,
                        size_t size) {
    return device->cache != NULL && ht_cache_store(device->cache, &device->info, name, data, size);
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

void ht_device_keep(struct ht_device *device, int programs) {
    device->keeps = programs;
}

HT_ERR ht_program_build(struct ht_device *device, const char *text, struct ht_program **out) {
    const bool keeps = device->cache != NULL && !device->info.caches;
    struct ht_program *program = NULL;
    HT_FREED void *binary = NULL;
    size_t size = 0;
    HT_FREED_TEXT struct ht_text limited = {0};
    enum ht_err err = HT_OK;
    if (device->no_double) {
        ht_text_add(&limited, "#undef cl_khr_fp64\n#define double ht_no_double\n%s", text);
        TRY(ht_text_status(&limited));
        text = limited.data;
    }
    for (*out = device->kept; *out != NULL; *out = (*out)->next)
        if (strcmp((*out)->text, text) == 0) {
            (*out)->cached = true;
            return HT_OK;
        }
    TRY(HT_ALLOC(program, 1));
    program->device = device;
    program->cached = keeps && load_cached(program, text);
    if (!program->cached)
        err = device->backend->program_build(device->handle, text, registers_of(text),
                                             &program->handle, keeps ? &binary : NULL, &size);
    if (size > 0) (void)ht_cache_store(device->cache, &device->info, text, binary, size);
    /* What does not stay, for lack of memory, is compiled again. */
    if (err == HT_OK && device->keeps > 0 && ht_text_copy(text, &program->text) == HT_OK) {
        program->next = device->kept;
        device->kept = program;
        device->keeps--;
    }
    return HT_MADE(err, program, free, out);
}

void ht_program_destroy(struct ht_program *program) {
    if (program == NULL || program->text != NULL) return;
    program->device->backend->program_destroy(program->device->handle, program->handle);
    free(program);
}

bool ht_program_cached(const struct ht_program *program) {
    return program->cached;
}

HT_ERR ht_kernel_create(struct ht_program *program, const char *name, struct ht_kernel **out) {
    struct ht_kernel *kernel = NULL;
    TRY(HT_ALLOC(kernel, 1));
    kernel->device = program->device;
    const struct ht_device *device = program->device;
    int64_t bytes = 0;
    enum ht_err err =
        device->backend->kernel_create(device->handle, program->handle, name, &kernel->handle);
    if (err == HT_OK && device->backend->kernel_local != NULL)
        bytes = device->backend->kernel_local(device->handle, kernel->handle);
    if (bytes > device->info.local_memory)
        err = ht_err_set(HT_ERR_DEVICE, "kernel %s takes %s of local memory, %s has %s", name,
                         HT_BYTES(bytes), device->info.name, HT_BYTES(device->info.local_memory));
    return HT_MADE(err, kernel, ht_kernel_destroy, out);
}

static void charge(struct ht_kernel *kernel, double seconds) {
    kernel->recent += seconds;
    kernel->total += seconds;
}

/* All launches of a sequence, NULL: one; `to` says where the seconds go. */
static HT_ERR launch_timed(struct ht_device *device, const struct ht_pending *to,
                           const struct ht_launch *launch, int64_t times) {
    const struct ht_sequence *s = to->sequence;
    if (device->npending == HT_MAX_PENDING) TRY(ht_device_finish(device));
    struct ht_pending *next = &device->pending[device->npending];
    *next = *to;
    TRY(device->backend->launch(device->handle, s != NULL ? s->handle : NULL,
                                s != NULL ? s->count : 1, launch, times, &next->timing));
    device->npending++;
    return HT_OK;
}

void ht_kernel_destroy(struct ht_kernel *kernel) {
    if (kernel == NULL) return;
    struct ht_device *device = kernel->device;
    /* Its launches are still waited for. */
    for (int i = 0; i < device->npending; i++)
        if (device->pending[i].kernel == kernel) device->pending[i].kernel = NULL;
    if (kernel->handle != NULL) device->backend->kernel_destroy(kernel->handle);
    free(kernel);
}

HT_ERR ht_kernel_open_memory(struct ht_kernel *kernel, int64_t bytes) {
    const struct ht_device *device = kernel->device;
    return device->backend->kernel_open_memory(device->handle, kernel->handle, bytes);
}

/* Each value begins where any type may. */
static size_t room_of(const struct ht_arg *arg) {
    const size_t unit = _Alignof(max_align_t);
    return (arg->size + unit - 1) / unit * unit;
}

/* Adds a launch to a recording, with copies of its arguments. */
static HT_ERR sequence_add(struct ht_sequence *s, struct ht_kernel *kernel,
                           const struct ht_launch *launch) {
    struct ht_arg *args;
    char *values;
    size_t bytes = 1;
    TRY(HT_GROW(s->recorded, s->count + 1, s->room[0]));
    TRY(HT_GROW(s->launch, s->count + 1, s->room[1]));
    for (int i = 0; i < launch->nargs; i++) bytes += room_of(&launch->args[i]);
    TRY(HT_TAKE(&s->pool, args, launch->nargs + 1));
    TRY(HT_TAKE(&s->pool, values, bytes));
    for (int i = 0; i < launch->nargs; i++) {
        args[i] = launch->args[i];
        if (args[i].size == 0) continue;
        args[i].value = memcpy(values, launch->args[i].value, args[i].size);
        values += room_of(&args[i]);
    }
    struct ht_launch *own = &s->launch[s->count];
    s->recorded[s->count++] = (struct recorded){.kernel = kernel};
    *own = *launch;
    own->fork = s->fork;
    own->branch = s->branch;
    own->args = args;
    return HT_OK;
}

HT_ERR ht_kernel_launch(struct ht_kernel *kernel, int nargs, const struct ht_arg *args,
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
    REQUIRE(group_size <= device->info.max_group, HT_ERR_DEVICE,
            "a kernel in groups of %lld; %s allows %lld", (long long)group_size, device->info.name,
            (long long)device->info.max_group);
    for (int i = 0; i < nargs; i++) {
        own[i] = args[i];
        if (args[i].buffer != NULL) own[i] = (struct ht_arg){.value = args[i].buffer->handle};
    }
    const struct ht_launch launch = {.kernel = kernel->handle,
                                     .nargs = nargs,
                                     .args = own,
                                     .groups = {groups[0], groups[1], groups[2]},
                                     .group_size = group_size};
    if (device->recording != NULL) return sequence_add(device->recording, kernel, &launch);
    return launch_timed(device, &(struct ht_pending){.kernel = kernel}, &launch, 1);
}

double ht_kernel_seconds(struct ht_kernel *kernel) {
    double seconds = kernel->recent;
    kernel->recent = 0;
    return seconds;
}

double ht_kernel_total(const struct ht_kernel *kernel) {
    return kernel->total;
}

double ht_device_joules(struct ht_device *device) {
    return ht_nvml_joules(device->nvml);
}

HT_ERR ht_gemm_create(struct ht_device *device, bool fp64, struct ht_kernel **out) {
    *out = NULL;
    REQUIRE(device->info.no_gemm == NULL, HT_ERR_DEVICE, "matrix products: %s",
            device->info.no_gemm);
    TRY(HT_ALLOC(*out, 1));
    **out = (struct ht_kernel){.device = device, .fp64 = fp64};
    return HT_OK;
}

HT_ERR ht_gemm_launch(struct ht_kernel *gemm, const struct ht_gemm_shape *shape,
                      struct ht_buffer *const buffers[3]) {
    struct ht_arg args[3] = {{0}};
    for (int i = 0; i < 3; i++) args[i].value = buffers[i]->handle;
    const struct ht_launch launch = {.args = args, .gemm = shape, .fp64 = gemm->fp64};
    return launch_timed(gemm->device, &(struct ht_pending){.kernel = gemm}, &launch, 1);
}

static void sequence_charge(struct ht_sequence *s, double seconds) {
    double all = 0;
    for (int i = 0; i < s->count; i++) all += s->recorded[i].seconds;
    for (int i = 0; i < s->count; i++)
        charge(s->recorded[i].kernel,
               all > 0 ? seconds * s->recorded[i].seconds / all : seconds / s->count);
}

HT_ERR ht_device_finish(struct ht_device *device) {
    enum ht_err err = device->backend->finish(device->handle);
    HT_EACH(struct ht_pending, pending, device->pending, device->npending) {
        double seconds = device->backend->launch_seconds(pending->timing);
        if (pending->kernel != NULL) charge(pending->kernel, seconds);
        if (pending->sample != NULL) *pending->sample += seconds;
        if (pending->sequence != NULL) sequence_charge(pending->sequence, seconds);
    }
    device->npending = 0;
    return err;
}

void ht_event_end(struct ht_event *event) {
    if (event->handle != NULL)
        event->device->backend->event_destroy(event->device->handle, event->handle);
    event->handle = NULL;
}

HT_ERR ht_event_record(struct ht_device *device, struct ht_event *event, enum ht_queue queue) {
    event->device = device;
    return device->backend->event_record(device->handle, &event->handle, queue);
}

HT_ERR ht_event_await(const struct ht_event *event, enum ht_queue queue) {
    REQUIRE(event->handle != NULL, HT_ERR_INTERNAL, "an event that was not recorded is awaited");
    return event->device->backend->event_await(event->device->handle, event->handle, queue);
}

HT_ERR ht_event_done(const struct ht_event *event, bool *done) {
    *done = false;
    REQUIRE(event->handle != NULL, HT_ERR_INTERNAL, "an event that was not recorded is asked for");
    return event->device->backend->event_done(event->device->handle, event->handle, done);
}

HT_ERR ht_pinned_create(struct ht_device *device, int64_t bytes, struct ht_buffer **out) {
    struct ht_buffer *buffer = NULL;
    void *memory = NULL;
    enum ht_err err = HT_OK;
    TRY(HT_ALLOC(buffer, 1));
    *buffer = (struct ht_buffer){.device = device, .bytes = bytes};
    bytes = ht_most(bytes, 1);
    device->backend->pinned_create(device->handle, bytes, &memory, &buffer->handle);
    if (buffer->handle == NULL) err = ht_mem_alloc((size_t)bytes, 1, &memory);
    buffer->host = memory;
    return HT_MADE(err, buffer, free, out);
}

HT_ERR ht_peer_name(struct ht_buffer *buffer, unsigned char name[HT_PEER_NAME]) {
    struct ht_device *device = buffer->device;
    REQUIRE(device->info.no_peer == NULL, HT_ERR_DEVICE, "naming a buffer for others: %s",
            device->info.no_peer);
    return device->backend->peer_name(device->handle, buffer->handle, buffer->bytes, name);
}

HT_ERR ht_peer_open(struct ht_device *device, const unsigned char name[HT_PEER_NAME], int64_t bytes,
                    struct ht_buffer **out) {
    REQUIRE(device->info.no_peer == NULL, HT_ERR_DEVICE, "buffers of other processes: %s",
            device->info.no_peer);
    HT_CREATE(out,
              (**out = (struct ht_buffer){.device = device, .bytes = bytes},
               device->backend->peer_open(device->handle, name, bytes, &(*out)->peer)),
              free);
}

HT_ERR ht_transfer(struct ht_buffer *from, int64_t at, struct ht_buffer *into, int64_t to,
                   int64_t bytes) {
    struct ht_device *device = from->device;
    REQUIRE(has_range(from, at, bytes) && has_range(into, to, bytes), HT_ERR_INTERNAL,
            "transfer of %lld bytes from %lld of a buffer of %lld to %lld of one of %lld",
            (long long)bytes, (long long)at, (long long)from->bytes, (long long)to,
            (long long)into->bytes);
    REQUIRE(into->device == device, HT_ERR_INTERNAL, "a transfer between two devices");
    if (bytes == 0) return HT_OK;
    if (into->peer != NULL)
        return device->backend->transfer_peer(device->handle, from->handle, at, bytes, into->peer,
                                              to);
    if (into->host != NULL)
        return buffer_copy(from, row_of(at, bytes), (char *)into->host + to, NULL,
                           HT_QUEUE_TRANSFER);
    return buffer_copy(into, row_of(to, bytes), NULL, (const char *)from->host + at,
                       HT_QUEUE_TRANSFER);
}

void ht_sequence_destroy(struct ht_sequence *s) {
    if (s == NULL) return;
    /* Entries of pending that name the sequence are of no use without it. */
    struct ht_device *device = s->device;
    HT_EACH(struct ht_pending, p, device->pending, device->npending) {
        if (p->sequence == s) p->sequence = NULL;
        for (int n = 0; n < s->count; n++)
            if (p->sample == &s->recorded[n].seconds) p->sample = NULL;
    }
    if (s->handle != NULL) device->backend->sequence_destroy(device->handle, s->handle);
    ht_pool_free(&s->pool);
    free(s->recorded);
    free(s->launch);
    free(s);
}

void ht_sequence_branch(struct ht_device *device, int branch) {
    struct ht_sequence *s = device->recording;
    if (s == NULL) return;
    s->fork += branch == 0 && s->branch != 0;
    s->branch = branch;
}

HT_ERR ht_sequence_begin(struct ht_device *device) {
    struct ht_sequence *s = NULL;
    REQUIRE(device->recording == NULL, HT_ERR_INTERNAL, "a sequence is being recorded");
    TRY(HT_ALLOC(s, 1));
    s->device = device;
    device->recording = s;
    return HT_OK;
}

HT_ERR ht_sequence_end(struct ht_device *device, enum ht_err err, struct ht_sequence **out) {
    struct ht_sequence *s = device->recording;
    device->recording = NULL;
    if (err == HT_OK && device->backend->sequence_create != NULL)
        err = device->backend->sequence_create(device->handle, s->count, s->launch, &s->handle);
    return HT_MADE(err, s, ht_sequence_destroy, out);
}

/* Now and then each launch with its own timing. */
HT_ERR ht_sequence_run(struct ht_sequence *s, int64_t times) {
    if (times > 0 && s->until_sample <= 0) {
        HT_EACH_AT(i, struct recorded, of, s->recorded, s->count) {
            const struct ht_pending to = {.kernel = of->kernel, .sample = &of->seconds};
            TRY(launch_timed(s->device, &to, &s->launch[i], 1));
        }
        s->until_sample = HT_SAMPLE_EVERY;
        times--;
    }
    if (times <= 0) return HT_OK;
    s->until_sample -= times;
    return launch_timed(s->device, &(struct ht_pending){.sequence = s}, s->launch, times);
}
