/* Exchange of planes beyond a slab with its neighbours, of the arrays of any method: the messages
 * and the two tasks that begin and end an exchange. The schedule decides which planes of which
 * arrays are exchanged when (htwave/schedule.h). */
#pragma once

#include "htwave/schedule.h"

/* A link has the buffers of one side of a slab. Two slots alternate, so a message never overwrites
 * the previous one. */
enum { HT_SLOTS = HT_LINK_BUFFERS - 1 };

struct ht_link {
    struct ht_comm *comm;
    struct ht_device *device;
    int side;      /* 0: to the slab below, 1: above */
    int channel;   /* others than those of steppers that work at the same time */
    int neighbour; /* rank; -1: none, then all other members are empty */
    int64_t room;  /* bytes of the longest message */
    const char *transport;
    struct ht_buffer *out, *in[HT_SLOTS];
    /* Where `out` is copied: to the neighbour's `in`, which an empty message announces; or to
     * memory of this host, and the message comes into that of the other one, `here`. */
    struct ht_buffer *there[HT_SLOTS], *here[HT_SLOTS];
    struct ht_event packed, shipped, fetched;
    struct ht_message *sent[HT_SLOTS], *coming;
    int slot[2]; /* the next ones: of `sent`, of `coming` */
    /* Of the exchange in progress: bytes of its messages; the one sent has left `out` and is
     * announced, the other is in in[slot]. */
    int64_t leaving, entering;
    bool announced, arrived;
};

/* Device bytes of the buffers of links whose neighbour and room are given; of the largest. */
int64_t ht_links_bytes(const struct ht_link link[2], int64_t *largest);
/* Creates the two links of a slab (neighbour and room given in each), their buffers, and chooses
 * the best transport that both ends of each link support; wish: "auto" or a name. A transport that
 * changes messages is not used, or is HT_ERR_DEVICE where the user asked for it. Collective. */
HT_ERR ht_links_create(struct ht_comm *comm, struct ht_device *device, const char *wish,
                       struct ht_link link[2]);
/* Also of none. Call it after ht_halo_finish (MPI may lose a message whose receive was cancelled),
 * or after a failure that the ranks have agreed on. It waits up to a second for neighbours that
 * have buffers of this rank open. */
void ht_links_destroy(struct ht_link link[2]);
/* sound[side]: the link delivers what its other end sent; true where there is none. Collective. */
HT_ERR ht_links_try(struct ht_link link[2], bool sound[2]);

/* Buffers whose planes travel with those of an array. */
struct ht_halo_part {
    int array;
    struct ht_window window; /* of these buffers */
    int64_t first;           /* plane of the array's window at their plane 0 */
    struct ht_pack_format format;
    struct ht_tool *packer;     /* NULL: for counts only */
    struct ht_buffer *const *u; /* looked up at each exchange */
};
enum { HT_HALO_PARTS = 24 };
struct ht_halo {
    int64_t own[HT_ARRAYS][2]; /* own planes in each array's window: begin, end */
    int parts;
    struct ht_halo_part part[HT_HALO_PARTS];
    struct ht_comm *comm;
    struct ht_link link[2];
    struct ht_planes planes; /* of the exchange in progress */
    int64_t messages, bytes;
};

/* Adds the buffers of an array itself; all its parts follow. */
struct ht_halo_part *ht_halo_add(struct ht_halo *halo, int array, const struct ht_window *window);
/* Finds neighbours, and room in each link for all exchanges of passes, and those planned before. */
void ht_halo_plan(const struct ht_problem *problem, const struct ht_passes *passes,
                  struct ht_halo *halo);
/* By a planned halo, as if its slab had two neighbours; mean per time step. */
struct ht_sent ht_halo_sent(const struct ht_problem *problem, const struct ht_halo *halo);
/* Begins an exchange: packs own planes for the neighbours, after all work enqueued so far. */
HT_ERR ht_halo_send(struct ht_halo *halo, const struct ht_planes *planes);
/* Ends the exchange: waits for messages, not for the device, and makes the planes available to work
 * enqueued from now on. */
HT_ERR ht_halo_receive(struct ht_halo *halo);
HT_ERR ht_halo_finish(struct ht_halo *halo);
/* Adds the counts of messages, their transports and the packing seconds to out. */
void ht_halo_traffic(const struct ht_halo *halo, struct ht_traffic *out);
