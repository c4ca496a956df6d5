/* Ways of a message from a device buffer of one rank to one of its neighbour:
 * a table, one row per way. A link has the buffers of one side of a slab; slots
 * take turns, so that a message never meets the one before it.
 */
#ifndef HTWAVE_METHOD_TRANSPORT_H
#define HTWAVE_METHOD_TRANSPORT_H

#include "htwave/comm.h"
#include "htwave/device.h"

enum { HT_SLOTS = 2 };

struct ht_link {
    struct ht_comm *comm;
    struct ht_device *device;
    int side;      /* 0: to the slab below, 1: above */
    int neighbour; /* rank; -1: none, all else is empty then */
    int64_t room;  /* bytes of the longest message */
    const struct ht_transport *transport;
    struct ht_shared *window; /* that out_host and in_host lie in, or NULL */
    struct ht_buffer *out, *in[HT_SLOTS];
    struct ht_peer *peer[HT_SLOTS]; /* the neighbour's `in` */
    struct ht_pinned *out_host[HT_SLOTS], *in_host[HT_SLOTS];
    struct ht_mark *packed, *shipped, *fetched;
    struct ht_message *sent[HT_SLOTS], *coming;
};

struct ht_transport {
    const char *name;
    bool token; /* the message itself is empty: it only says that data is
                   there */
    /* Enqueues the way out of `out`, behind the mark `packed`. */
    enum ht_err (*ship)(struct ht_link *link, int slot, int64_t bytes);
    /* Enqueues the way into in[slot], when the message has come; NULL: it is
     * there. */
    enum ht_err (*fetch)(struct ht_link *link, int slot, int64_t bytes);
};

/* The two links of a slab (neighbour and room given in each), their buffers and
 * the best way that both ends of each link allow; wish: "auto" or a name. A way
 * on which messages do not arrive as they left is not taken, or HT_ERR_DEVICE
 * where it was asked for. Collective; *window is owned by the caller and
 * outlives the links. */
HT_CHECKED enum ht_err ht_links_create(struct ht_comm *comm,
                                       struct ht_device *device,
                                       const char *wish, struct ht_link link[2],
                                       struct ht_shared **window);
void ht_links_destroy(struct ht_link link[2]);
/* sound[side]: what has come over a link is what its other end sent; true where
 * there is no link. Collective. */
HT_CHECKED enum ht_err ht_links_try(struct ht_link link[2], bool sound[2]);

/* A message of so many bytes that the work enqueued so far puts into `out`. */
HT_CHECKED enum ht_err ht_link_send(struct ht_link *link, int slot,
                                    int64_t bytes);
/* Goes on with it as far as possible without waiting; *done: it is out of
 * `out` and announced. */
HT_CHECKED enum ht_err ht_link_announce(struct ht_link *link, int slot,
                                        int64_t bytes, bool *done);
HT_CHECKED enum ht_err ht_link_expect(struct ht_link *link, int slot,
                                      int64_t bytes);
/* *done: work enqueued from now on finds the message in in[slot]. */
HT_CHECKED enum ht_err ht_link_fetch(struct ht_link *link, int slot,
                                     int64_t bytes, bool *done);

#endif
