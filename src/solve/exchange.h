/* An exchange of messages with the slabs below and above: both links of a slab
 * and the exchange in progress. What a message holds is its caller's concern.
 */
#ifndef HTWAVE_SOLVE_EXCHANGE_H
#define HTWAVE_SOLVE_EXCHANGE_H

#include "htwave/stepper.h"
#include "transport.h"

struct ht_exchanger {
    struct ht_comm *comm;
    struct ht_link link[2]; /* neighbour and room are given by the caller */
    int64_t leaving[2], coming[2]; /* bytes of the messages in progress */
    bool announced[2], arrived[2];
    int slot[2][2]; /* next slot, [side][sent, received] */
    int64_t messages, bytes;
};
/* Enqueues what packs the message to a side, or unpacks the one from it. */
typedef enum ht_err ht_message_function(void *context, int side,
                                        struct ht_buffer *message);

/* Creates the links; transport as in ht_links_create. Collective, as are the
 * functions below except destroy, which follows finish or an agreed failure. */
HT_CHECKED enum ht_err ht_exchanger_create(struct ht_exchanger *e,
                                           struct ht_device *device,
                                           const char *transport);
void ht_exchanger_destroy(struct ht_exchanger *e);
/* Begins an exchange of messages of these bytes per side, 0: none: packs and
 * sends, after all work enqueued so far. */
HT_CHECKED enum ht_err ht_exchanger_begin(struct ht_exchanger *e,
                                          const int64_t leaving[2],
                                          const int64_t coming[2],
                                          ht_message_function *pack,
                                          void *context);
/* Ends it: waits for messages, not for the device, and unpacks them for work
 * enqueued from now on. */
HT_CHECKED enum ht_err ht_exchanger_end(struct ht_exchanger *e,
                                        ht_message_function *unpack,
                                        void *context);
/* Waits until all messages have left. */
HT_CHECKED enum ht_err ht_exchanger_finish(struct ht_exchanger *e);
/* Adds the counts of messages and their transports to out. */
void ht_exchanger_traffic(const struct ht_exchanger *e, struct ht_traffic *out);

#endif
