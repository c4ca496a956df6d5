/* Records of a run: parts of one size that steps write in their order and that are taken back in
 * the reverse order. On a device they pass through a ring of slots, on the transfer queue, while it
 * computes. They are kept in memory of the host, some of them in a chunk, or in a file, of which
 * the chunks in use are in memory. */
#include <fcntl.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "fd.h"

/* Slots beside those in use; a chunk has so many bytes, unless one record has more, or there would
 * be fewer CHUNKS. */
enum { AHEAD = 3, CHUNK = 1 << 26, CHUNKS = 16 };

struct chunk {
    struct ht_pinned *pinned;
    char *memory;           /* its own, or that of `pinned` */
    int64_t number;         /* of the chunk that it holds; -1: none */
    bool fresh;             /* not in the file */
    struct ht_event *moved; /* the last transfer from it or to it; NULL: none so far */
};

struct ht_fd_records {
    struct ht_device *device; /* NULL: plain */
    struct ht_fd_records_shape shape;
    int64_t each;   /* records of a chunk */
    int64_t chunks; /* in memory at a time */
    struct chunk *chunk;
    int file; /* -1: none */
    char *path;
    struct ht_buffer *ring;
    int64_t slots;
    int64_t low; /* records from here on are in the ring, or were */
    struct slot {
        struct ht_event *moved; /* its last transfer */
        bool used;
    } * slot;
    struct ht_event *worked; /* the work until a transfer */
};

static int64_t each_of(const struct ht_fd_records_shape *shape) {
    return ht_least(ht_most(CHUNK / shape->bytes, 1), ht_divide_up(shape->count, CHUNKS));
}

/* Those in memory at a time: of a file two beside the ones in use. */
static int64_t chunks_of(const struct ht_fd_records_shape *shape) {
    const int64_t each = each_of(shape), all = ht_divide_up(shape->count, each);
    return shape->folder == NULL ? all : ht_least(all, ht_divide_up(shape->together, each) + 2);
}

static int64_t slots_of(const struct ht_fd_records_shape *shape) {
    return ht_least(shape->together + AHEAD, shape->count);
}

void ht_fd_records_size(const struct ht_fd_records_shape *shape, int64_t *host, int64_t *device) {
    *device = slots_of(shape) * shape->bytes;
    *host = chunks_of(shape) * each_of(shape) * shape->bytes;
}

/* ---- the file ---- */

/* With the first record. It has no name: nothing of it remains, however the process ends. */
static enum ht_err open_file(struct ht_fd_records *r) {
    const int64_t bytes = r->shape.count * r->shape.bytes;
    char name[64];
    struct statvfs room;
    snprintf(name, sizeof name, "record-%d-%ld.part", r->shape.rank, (long)getpid());
    TRY(ht_file_path(r->shape.folder, name, &r->path));
    r->file = open(r->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    REQUIRE(r->file >= 0, HT_ERR_IO, "%s: %s", HT_SHOWN_PLACE(r->path), strerror(errno));
    (void)unlink(r->path);
    REQUIRE(fstatvfs(r->file, &room) != 0 ||
                (double)room.f_bavail * (double)room.f_frsize >= (double)bytes,
            HT_ERR_IO,
            "%s: the record of the forward run takes %s, the disk has %s: choose another "
            "output.directory, or gradient.field = \"checkpoint\"",
            HT_SHOWN_PLACE(r->path), HT_BYTES(bytes),
            HT_BYTES((double)room.f_bavail * (double)room.f_frsize));
    return HT_OK;
}

static enum ht_err move_file(const struct ht_fd_records *r, struct chunk *c, bool write) {
    const int64_t part = r->each * r->shape.bytes;
    const int64_t end = ht_least(part, r->shape.count * r->shape.bytes - c->number * part);
    for (int64_t at = 0; at < end;) {
        const size_t most = (size_t)ht_least(end - at, 1 << 30);
        const off_t place = (off_t)(c->number * part + at);
        const ssize_t some = write ? pwrite(r->file, c->memory + at, most, place)
                                   : pread(r->file, c->memory + at, most, place);
        if (some < 0 && errno == EINTR) continue;
        REQUIRE(some > 0, HT_ERR_IO, "%s: the record of the forward run: %s",
                HT_SHOWN_PLACE(r->path), some < 0 ? strerror(errno) : "it ends early");
        at += some;
    }
    return HT_OK;
}

/* ---- chunks ---- */

/* The chunk of a record, in memory; write: it will be written. */
static enum ht_err hold(struct ht_fd_records *r, int64_t i, bool write, struct chunk **out) {
    const int64_t number = i / r->each, bytes = r->each * r->shape.bytes;
    struct chunk *c = *out = &r->chunk[number % r->chunks];
    if (r->shape.folder != NULL && r->file < 0) TRY(open_file(r));
    if (c->number != number) {
        const struct timespec pause = {.tv_nsec = 20000};
        bool done = c->number < 0 || c->moved == NULL;
        if (c->memory == NULL && r->device == NULL) TRY(HT_ALLOC(c->memory, bytes));
        if (c->memory == NULL) {
            TRY(ht_event_create(r->device, &c->moved));
            TRY(ht_pinned_create(r->device, bytes, &c->pinned));
            c->memory = ht_pinned_memory(c->pinned);
        }
        while (!done) {
            TRY(ht_event_done(c->moved, &done));
            if (!done) (void)nanosleep(&pause, NULL);
        }
        if (c->number >= 0 && c->fresh && write) TRY(move_file(r, c, true));
        c->number = number;
        if (!write) TRY(move_file(r, c, false));
        c->fresh = false;
    }
    c->fresh = c->fresh || write;
    return HT_OK;
}

static int64_t within(const struct ht_fd_records *r, int64_t i) {
    return i % r->each * r->shape.bytes;
}

enum ht_err ht_fd_records_at(struct ht_fd_records *r, int64_t i, bool write, void **out) {
    struct chunk *c;
    TRY(hold(r, i, write, &c));
    *out = c->memory + within(r, i);
    return HT_OK;
}

/* ---- the ring ---- */

int64_t ht_fd_records_slot(const struct ht_fd_records *r, int64_t i) {
    return i % r->slots;
}

struct ht_buffer *ht_fd_records_ring(const struct ht_fd_records *r) {
    return r->ring;
}

/* Between the slot and the host, after the work that `worked` stands for. */
static enum ht_err transfer(struct ht_fd_records *r, int64_t i, bool write) {
    const int64_t slot = i % r->slots, bytes = r->shape.bytes;
    struct chunk *c;
    TRY(hold(r, i, write, &c));
    TRY(write ? ht_transfer_read(r->ring, slot * bytes, bytes, c->pinned, within(r, i))
              : ht_transfer_write(r->ring, slot * bytes, bytes, c->pinned, within(r, i)));
    TRY(ht_event_record(c->moved, HT_QUEUE_TRANSFER));
    r->slot[slot].used = true;
    return ht_event_record(r->slot[slot].moved, HT_QUEUE_TRANSFER);
}

/* The transfer queue waits for the work enqueued so far. */
static enum ht_err after_work(struct ht_fd_records *r) {
    TRY(ht_event_record(r->worked, HT_QUEUE_WORK));
    return ht_event_await(r->worked, HT_QUEUE_TRANSFER);
}

enum ht_err ht_fd_records_begin(struct ht_fd_records *r, int64_t i) {
    const struct slot *slot = &r->slot[i % r->slots];
    r->low = INT64_MAX;
    return slot->used ? ht_event_await(slot->moved, HT_QUEUE_WORK) : HT_OK;
}

enum ht_err ht_fd_records_end(struct ht_fd_records *r, int64_t i) {
    TRY(after_work(r));
    return transfer(r, i, true);
}

enum ht_err ht_fd_records_need(struct ht_fd_records *r, int64_t first, int64_t last) {
    const int64_t ahead = ht_most(last - r->slots + 1, 0);
    r->low = ht_least(r->low, last + 1);
    if (r->low > ahead) TRY(after_work(r));
    while (r->low > ahead) TRY(transfer(r, --r->low, false));
    return ht_event_await(r->slot[first % r->slots].moved, HT_QUEUE_WORK);
}

/* ---- making ---- */

enum ht_err ht_fd_records_create(struct ht_device *device, const struct ht_fd_records_shape *shape,
                                 struct ht_fd_records **out) {
    struct ht_fd_records *r = NULL;
    *out = NULL;
    TRY(HT_ALLOC(r, 1));
    r->device = device;
    r->shape = *shape;
    r->each = each_of(shape);
    r->slots = slots_of(shape);
    r->file = -1;
    r->chunks = chunks_of(shape);
    enum ht_err err = HT_ALLOC(r->chunk, r->chunks);
    for (int64_t i = 0; err == HT_OK && i < r->chunks; i++) r->chunk[i].number = -1;
    if (err == HT_OK && device != NULL) {
        err = HT_ALLOC(r->slot, r->slots);
        if (err == HT_OK) err = ht_event_create(device, &r->worked);
        for (int64_t i = 0; err == HT_OK && i < r->slots; i++)
            err = ht_event_create(device, &r->slot[i].moved);
        if (err == HT_OK) err = ht_buffer_create(device, r->slots * shape->bytes, &r->ring);
    }
    return HT_MADE(err, r, ht_fd_records_destroy, out);
}

void ht_fd_records_destroy(struct ht_fd_records *r) {
    if (r == NULL) return;
    if (r->worked != NULL) { /* transfers may be in progress, after a reported failure, too */
        enum ht_err err = ht_event_record(r->worked, HT_QUEUE_TRANSFER);
        if (err == HT_OK) err = ht_event_await(r->worked, HT_QUEUE_WORK);
        if (err == HT_OK) err = ht_device_finish(r->device);
        (void)err;
    }
    for (int64_t i = 0; r->chunk != NULL && i < r->chunks; i++) {
        ht_event_destroy(r->chunk[i].moved);
        if (r->chunk[i].pinned == NULL) free(r->chunk[i].memory);
        ht_pinned_destroy(r->chunk[i].pinned);
    }
    for (int64_t i = 0; r->slot != NULL && i < r->slots; i++) ht_event_destroy(r->slot[i].moved);
    ht_event_destroy(r->worked);
    ht_buffer_destroy(r->ring);
    if (r->file >= 0) close(r->file);
    free(r->slot);
    free(r->chunk);
    free(r->path);
    free(r);
}
