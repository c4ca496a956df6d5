/* Transfers that wait for the device, until the back ends have queues of their
 * own for them. */
#include "htwave/device.h"
#include <stdlib.h>
struct ht_mark {
    struct ht_device *d;
};
enum ht_err ht_mark_create(struct ht_device *d, struct ht_mark **o) {
    TRY(HT_ALLOC(*o, 1));
    (*o)->d = d;
    return HT_OK;
}
void ht_mark_destroy(struct ht_mark *m) {
    free(m);
}
enum ht_err ht_mark_set(struct ht_mark *m, enum ht_queue q) {
    (void)q;
    return ht_device_finish(m->d);
}
enum ht_err ht_mark_await(struct ht_mark *m, enum ht_queue q) {
    (void)q;
    (void)m;
    return HT_OK;
}
enum ht_err ht_mark_done(struct ht_mark *m, bool *d) {
    (void)m;
    *d = true;
    return HT_OK;
}
struct ht_pinned {
    void *p;
    bool own;
};
enum ht_err ht_pinned_create(struct ht_device *d, int64_t b,
                             struct ht_pinned **o) {
    (void)d;
    TRY(HT_ALLOC(*o, 1));
    (*o)->own = true;
    return ht_mem_alloc((size_t)b, 1, &(*o)->p);
}
enum ht_err ht_pinned_wrap(struct ht_device *d, void *m, int64_t b,
                           struct ht_pinned **o) {
    (void)d;
    (void)b;
    TRY(HT_ALLOC(*o, 1));
    (*o)->p = m;
    return HT_OK;
}
void ht_pinned_destroy(struct ht_pinned *p) {
    if (p && p->own) free(p->p);
    free(p);
}
void *ht_pinned_memory(const struct ht_pinned *p) {
    return p->p;
}
enum ht_err ht_transfer_read(struct ht_buffer *b, int64_t at, int64_t n,
                             struct ht_pinned *p, int64_t to) {
    return ht_buffer_read(
        b, (struct ht_span){.offset = at, .width = n, .pitch = n, .rows = 1},
        (char *)p->p + to);
}
enum ht_err ht_transfer_write(struct ht_buffer *b, int64_t at, int64_t n,
                              const struct ht_pinned *p, int64_t to) {
    return ht_buffer_write(
        b, (struct ht_span){.offset = at, .width = n, .pitch = n, .rows = 1},
        (const char *)p->p + to);
}
struct ht_peer {
    int x;
};
enum ht_err ht_peer_name(struct ht_buffer *b, unsigned char n[HT_PEER_NAME]) {
    (void)b;
    (void)n;
    FAIL(HT_ERR_DEVICE, "no");
}
enum ht_err ht_peer_open(struct ht_device *d,
                         const unsigned char n[HT_PEER_NAME], int64_t b,
                         struct ht_peer **o) {
    (void)d;
    (void)n;
    (void)b;
    *o = NULL;
    FAIL(HT_ERR_DEVICE, "no");
}
void ht_peer_close(struct ht_peer *p) {
    (void)p;
}
enum ht_err ht_transfer_peer(struct ht_buffer *b, int64_t a, int64_t n,
                             struct ht_peer *p, int64_t t) {
    (void)b;
    (void)a;
    (void)n;
    (void)p;
    (void)t;
    FAIL(HT_ERR_DEVICE, "no");
}
