/* Transports of a message from a device buffer of a rank to a device buffer of its neighbour: a
 * table with one row per transport. A link has the buffers of one side of a slab. Two slots
 * alternate, so a message never overwrites the previous one.
 */
#pragma once

#include "htwave/schedule.h"

enum { HT_SLOTS = HT_LINK_BUFFERS - 1 };

struct ht_link {
    struct ht_comm *comm;
    struct ht_device *device;
    int side;      /* 0: to the slab below, 1: above */
    int neighbour; /* rank; -1: none, then all other members are empty */
    int64_t room;  /* bytes of the longest message */
    const struct ht_transport *transport;
    struct ht_buffer *out, *in[HT_SLOTS];
    struct ht_peer *peer[HT_SLOTS]; /* the neighbour's `in` */
    struct ht_pinned *out_host[HT_SLOTS], *in_host[HT_SLOTS];
    struct ht_event *packed, *shipped, *fetched;
    struct ht_message *sent[HT_SLOTS], *coming;
};

struct ht_transport {
    const char *name;
    bool token; /* the message itself is empty: it only announces that the data
                 * has arrived */
    /* Enqueues the copy from `out`, after the event `packed`. */
    enum ht_err (*ship)(struct ht_link *link, int slot, int64_t bytes);
    /* Enqueues the copy into in[slot] when the message has arrived; NULL: the data is there
     * already. */
    enum ht_err (*fetch)(struct ht_link *link, int slot, int64_t bytes);
};

/* Device bytes of the buffers of links whose neighbour and room are given; of the largest of them.
 */
int64_t ht_links_bytes(struct ht_link link[2], int64_t *largest);
/* Creates the two links of a slab (neighbour and room given in each), their buffers, and chooses
 * the best transport that both ends of each link support; wish: "auto" or a name. A transport that
 * changes messages is not used, or is HT_ERR_DEVICE where the user asked for it. Collective. */
HT_CHECKED enum ht_err ht_links_create(struct ht_comm *comm, struct ht_device *device,
                                       const char *wish, struct ht_link link[2]);
void ht_links_destroy(struct ht_link link[2]);
/* sound[side]: the link delivers what its other end sent; true where there is no link. Collective.
 */
HT_CHECKED enum ht_err ht_links_try(struct ht_link link[2], bool sound[2]);

/* An exchange of messages with the slabs below and above: both links of a slab and the exchange in
 * progress. What a message holds is its caller's concern.
 */
struct ht_exchanger {
    struct ht_comm *comm;
    struct ht_link link[2];        /* neighbour and room are given by the caller */
    int64_t leaving[2], coming[2]; /* bytes of the messages in progress */
    bool announced[2], arrived[2];
    int slot[2][2]; /* next slot, [side][sent, received] */
    int64_t messages, bytes;
};
/* Enqueues what packs the message to a side, or unpacks the one from it. */
typedef enum ht_err ht_message_function(void *context, int side, struct ht_buffer *message);

/* Creates the links; transport as in ht_links_create. Collective, as are the functions below except
 * destroy, which follows finish or an agreed failure. */
HT_CHECKED enum ht_err ht_exchanger_create(struct ht_exchanger *e, struct ht_device *device,
                                           const char *transport);
void ht_exchanger_destroy(struct ht_exchanger *e);
/* Begins an exchange of messages of these bytes per side, 0: none: packs and sends, after all work
 * enqueued so far. */
HT_CHECKED enum ht_err ht_exchanger_begin(struct ht_exchanger *e, const int64_t leaving[2],
                                          const int64_t coming[2], ht_message_function *pack,
                                          void *context);
/* Ends it: waits for messages, not for the device, and unpacks them for work enqueued from now on.
 */
HT_CHECKED enum ht_err ht_exchanger_end(struct ht_exchanger *e, ht_message_function *unpack,
                                        void *context);
/* Waits until all messages have left. */
HT_CHECKED enum ht_err ht_exchanger_finish(struct ht_exchanger *e);
/* Adds the counts of messages and their transports to out. */
void ht_exchanger_traffic(const struct ht_exchanger *e, struct ht_traffic *out);
