/* The operations of htwave/device.h that overlap with the work: events, pinned memory, transfers,
 * peers. They are checked here to stay inside the buffers that they name; the back end does the
 * rest.
 */
#include <stdlib.h>

#include "device_private.h"

struct ht_event {
    struct ht_device *device;
    void *handle;
    bool recorded;
};

struct ht_pinned {
    struct ht_device *device;
    void *handle; /* NULL: plain memory, as the driver gives no other */
    void *memory;
    int64_t bytes;
};

struct ht_peer {
    struct ht_device *device;
    void *handle;
    int64_t bytes;
};

/* ---- events ---- */

enum ht_err ht_event_create(struct ht_device *device, struct ht_event **out) {
    struct ht_event *event = NULL;
    *out = NULL;
    TRY(HT_ALLOC(event, 1));
    event->device = device;
    *out = event;
    return HT_OK;
}

void ht_event_destroy(struct ht_event *event) {
    if (event == NULL) return;
    if (event->handle != NULL)
        event->device->backend->event_destroy(event->device->handle, event->handle);
    free(event);
}

enum ht_err ht_event_record(struct ht_event *event, enum ht_queue queue) {
    event->recorded = false;
    TRY(event->device->backend->event_record(event->device->handle, &event->handle, queue));
    event->recorded = true;
    return HT_OK;
}

static enum ht_err check_event(const struct ht_event *event) {
    REQUIRE(event->recorded, HT_ERR_INTERNAL, "an event is used before it is recorded");
    return HT_OK;
}

enum ht_err ht_event_await(struct ht_event *event, enum ht_queue queue) {
    TRY(check_event(event));
    return event->device->backend->event_await(event->device->handle, event->handle, queue);
}

enum ht_err ht_event_done(struct ht_event *event, bool *done) {
    *done = false;
    TRY(check_event(event));
    return event->device->backend->event_done(event->device->handle, event->handle, done);
}

/* ---- pinned memory ---- */

enum ht_err ht_pinned_create(struct ht_device *device, int64_t bytes, struct ht_pinned **out) {
    struct ht_pinned *pinned = NULL;
    *out = NULL;
    REQUIRE(bytes >= 0, HT_ERR_INTERNAL, "pinned memory of %lld bytes", (long long)bytes);
    TRY(HT_ALLOC(pinned, 1));
    pinned->device = device;
    pinned->bytes = bytes;
    bytes = ht_most(bytes, 1);
    device->backend->pinned_create(device->handle, bytes, &pinned->memory, &pinned->handle);
    enum ht_err err =
        pinned->handle != NULL ? HT_OK : ht_mem_alloc((size_t)bytes, 1, &pinned->memory);
    return HT_MADE(err, pinned, free, out);
}

void ht_pinned_destroy(struct ht_pinned *pinned) {
    if (pinned == NULL) return;
    struct ht_device *device = pinned->device;
    device->backend->pinned_destroy(device->handle, pinned->memory, pinned->handle);
    if (pinned->handle == NULL) free(pinned->memory);
    free(pinned);
}

void *ht_pinned_memory(const struct ht_pinned *pinned) {
    return pinned->memory;
}

/* ---- transfers ---- */

/* No sum here can overflow. */
static bool fits(int64_t at, int64_t bytes, int64_t whole) {
    return at >= 0 && bytes >= 0 && at <= whole && bytes <= whole - at;
}

/* other: the other end of the transfer, of `whole` bytes. */
static enum ht_err check_range(const struct ht_buffer *buffer, int64_t at, int64_t bytes,
                               const char *other, int64_t other_at, int64_t whole) {
    REQUIRE(fits(at, bytes, buffer->bytes) && fits(other_at, bytes, whole), HT_ERR_INTERNAL,
            "transfer of %lld bytes between %lld of a buffer of %lld and %lld of %s of %lld",
            (long long)bytes, (long long)at, (long long)buffer->bytes, (long long)other_at, other,
            (long long)whole);
    return HT_OK;
}

enum ht_err ht_transfer_read(struct ht_buffer *buffer, int64_t at, int64_t bytes,
                             struct ht_pinned *pinned, int64_t to) {
    TRY(check_range(buffer, at, bytes, "memory", to, pinned->bytes));
    const struct ht_span span = {.offset = at, .width = bytes, .pitch = bytes, .rows = 1};
    return ht_buffer_copy(buffer, span, (char *)pinned->memory + to, NULL, HT_QUEUE_TRANSFER);
}

enum ht_err ht_transfer_write(struct ht_buffer *buffer, int64_t at, int64_t bytes,
                              const struct ht_pinned *pinned, int64_t from) {
    TRY(check_range(buffer, at, bytes, "memory", from, pinned->bytes));
    const struct ht_span span = {.offset = at, .width = bytes, .pitch = bytes, .rows = 1};
    return ht_buffer_copy(buffer, span, NULL, (const char *)pinned->memory + from,
                          HT_QUEUE_TRANSFER);
}

/* ---- peers ---- */

static enum ht_err check_peers(const struct ht_device *device) {
    REQUIRE(device->info.no_peer == NULL, HT_ERR_DEVICE, "buffers of other processes: %s",
            device->info.no_peer);
    return HT_OK;
}

enum ht_err ht_peer_name(struct ht_buffer *buffer, unsigned char name[HT_PEER_NAME]) {
    struct ht_device *device = buffer->device;
    TRY(check_peers(device));
    return device->backend->peer_name(device->handle, buffer->handle, name);
}

enum ht_err ht_peer_open(struct ht_device *device, const unsigned char name[HT_PEER_NAME],
                         int64_t bytes, struct ht_peer **out) {
    struct ht_peer *peer = NULL;
    *out = NULL;
    TRY(check_peers(device));
    TRY(HT_ALLOC(peer, 1));
    peer->device = device;
    peer->bytes = bytes;
    enum ht_err err = device->backend->peer_open(device->handle, name, bytes, &peer->handle);
    return HT_MADE(err, peer, free, out);
}

void ht_peer_close(struct ht_peer *peer) {
    if (peer == NULL) return;
    peer->device->backend->peer_close(peer->handle);
    free(peer);
}

enum ht_err ht_transfer_peer(struct ht_buffer *buffer, int64_t at, int64_t bytes,
                             struct ht_peer *peer, int64_t to) {
    struct ht_device *device = buffer->device;
    TRY(check_range(buffer, at, bytes, "a peer", to, peer->bytes));
    REQUIRE(peer->device == device, HT_ERR_INTERNAL, "a peer was opened by another device");
    if (bytes == 0) return HT_OK;
    return device->backend->transfer_peer(device->handle, buffer->handle, at, bytes, peer->handle,
                                          to);
}
