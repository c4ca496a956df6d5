/* Exchange of planes beyond a slab with its neighbours, of the arrays of any method: the messages
 * and the two tasks that begin and end an exchange. The schedule decides which planes of which
 * arrays are exchanged when (htwave/schedule.h).
 */
#pragma once

#include "htwave/schedule.h"
#include "transport.h"

/* Buffers whose planes travel with those of an array. */
struct ht_halo_part {
    int array;
    struct ht_window window; /* of these buffers */
    int64_t first;           /* plane of the array's window at their plane 0 */
    struct ht_pack_format format;
    struct ht_tool *packer;     /* NULL: for counts only */
    struct ht_buffer *const *u; /* looked up at each exchange */
};
enum { HT_HALO_PARTS = 14 };
struct ht_halo {
    int64_t own[HT_ARRAYS][2]; /* own planes in each array's window: begin, end */
    int parts;
    struct ht_halo_part part[HT_HALO_PARTS];
    const struct ht_planes *planes; /* of the exchange being begun or ended */
    struct ht_exchanger exchanger;
};

/* Adds the buffers of an array itself; all its parts follow. */
struct ht_halo_part *ht_halo_add(struct ht_halo *halo, int array, const struct ht_window *window);
/* Finds neighbours, and room in each link for all exchanges of some sequences of passes. */
void ht_halo_plan(const struct ht_problem *problem, int sequences,
                  const struct ht_passes *const *passes, struct ht_halo *halo);
/* Creates the links of a planned halo. Collective. */
HT_CHECKED enum ht_err ht_halo_open(struct ht_halo *halo, const struct ht_problem *problem,
                                    struct ht_device *device);
/* NULL allowed. Call it after ht_halo_finish (MPI may lose a message whose receive was cancelled),
 * or after a failure that the ranks have agreed on. It waits up to a second for neighbours that
 * have buffers of this rank open. */
void ht_halo_destroy(struct ht_halo *halo);
/* Begins an exchange: packs own planes for the neighbours, after all work enqueued so far. */
HT_CHECKED enum ht_err ht_halo_send(struct ht_halo *halo, const struct ht_planes *planes);
/* Ends the exchange: waits for messages, not for the device, and makes the planes available to work
 * enqueued from now on. */
HT_CHECKED enum ht_err ht_halo_receive(struct ht_halo *halo, const struct ht_planes *planes);
/* Adds the counts of messages, their transports and the packing seconds to out. */
void ht_halo_traffic(const struct ht_halo *halo, struct ht_traffic *out);
