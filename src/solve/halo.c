/* The messages of exchanges between slabs. The task SEND begins an exchange, and the task RECEIVE
 * of a later pass ends it. In between the device computes the interior. The host waits for the
 * messages meanwhile and then enqueues their unpacking.
 */
#include "halo.h"

#include <stdlib.h>

struct ht_halo_part *ht_halo_add(struct ht_halo *h, int array, const struct ht_window *window) {
    struct ht_halo_part *part = &h->part[h->parts++];
    *part = (struct ht_halo_part){.array = array, .window = *window};
    h->own[array][0] = window->own.begin[2];
    h->own[array][1] = window->own.end[2];
    return part;
}

/* ---- messages ---- */

/* The planes of a part in the message to a side or from it, in its window: whether there are any.
 * What a slab sends down, the slab below receives from above. */
static bool find_box(const struct ht_halo *h, const struct ht_planes *planes,
                     const struct ht_halo_part *part, int side, bool leaves, struct ht_box *out) {
    const int64_t count = planes->of[part->array][leaves ? 1 - side : side];
    const int64_t edge = h->own[part->array][side] - part->first;
    const int64_t begin = (side == 1) == leaves ? edge - count : edge;
    *out = part->window.held;
    out->begin[2] = ht_most(begin, out->begin[2]);
    out->end[2] = ht_least(begin + count, out->end[2]);
    return ht_box_nodes(out) > 0;
}

static int64_t message_bytes(const struct ht_halo *h, const struct ht_planes *planes, int side,
                             bool leaves) {
    struct ht_box box;
    int64_t bytes = 0;
    if (h->exchanger.link[side].neighbour < 0) return 0;
    for (int i = 0; i < h->parts; i++)
        if (find_box(h, planes, &h->part[i], side, leaves, &box))
            bytes += ht_packer_bytes(&h->part[i].format, ht_box_nodes(&box));
    return bytes;
}

/* Packs the message to a side, or unpacks the one from it, part by part. */
static enum ht_err move(struct ht_halo *h, int side, bool leaves, struct ht_buffer *message) {
    int64_t at = 0;
    for (int i = 0; i < h->parts; i++) {
        const struct ht_halo_part *part = &h->part[i];
        struct ht_pack_range range = {.window = &part->window, .at = at};
        if (!find_box(h, h->planes, part, side, leaves, &range.box)) continue;
        TRY((leaves ? ht_packer_pack : ht_packer_unpack)(part->packer, part->u, &range, message));
        at += ht_packer_bytes(&part->format, ht_box_nodes(&range.box));
    }
    return HT_OK;
}

/* ---- exchange ---- */

static enum ht_err pack(void *halo, int side, struct ht_buffer *message) {
    return move(halo, side, true, message);
}

static enum ht_err unpack(void *halo, int side, struct ht_buffer *message) {
    return move(halo, side, false, message);
}

enum ht_err ht_halo_send(struct ht_halo *h, const struct ht_planes *planes) {
    int64_t leaving[2], coming[2];
    h->planes = planes;
    for (int side = 0; side < 2; side++) {
        leaving[side] = message_bytes(h, planes, side, true);
        coming[side] = message_bytes(h, planes, side, false);
    }
    return ht_exchanger_begin(&h->exchanger, leaving, coming, pack, h);
}

enum ht_err ht_halo_receive(struct ht_halo *h, const struct ht_planes *planes) {
    h->planes = planes;
    return ht_exchanger_end(&h->exchanger, unpack, h);
}

/* ---- making ---- */

void ht_halo_plan(const struct ht_problem *problem, int sequences,
                  const struct ht_passes *const *passes, struct ht_halo *h) {
    h->exchanger.comm = problem->grid->slab.comm;
    for (int side = 0; side < 2; side++) {
        struct ht_link *link = &h->exchanger.link[side];
        link->neighbour = ht_grid_neighbour(problem->grid, side);
        for (int s = 0; s < sequences; s++)
            for (int i = 0; i < passes[s]->count; i++) {
                const struct ht_planes planes =
                    ht_exchange_planes(passes[s], ht_halo_depth(problem), i);
                if (passes[s]->pass[i].sources == 0) continue;
                link->room = ht_most(link->room, message_bytes(h, &planes, side, true));
                link->room = ht_most(link->room, message_bytes(h, &planes, side, false));
            }
    }
}

enum ht_err ht_halo_open(struct ht_halo *h, const struct ht_problem *problem,
                         struct ht_device *device) {
    return ht_exchanger_create(&h->exchanger, device, problem->halo.transport);
}

void ht_halo_destroy(struct ht_halo *h) {
    if (h == NULL) return;
    ht_exchanger_destroy(&h->exchanger);
    free(h);
}

void ht_halo_traffic(const struct ht_halo *h, struct ht_traffic *out) {
    ht_exchanger_traffic(&h->exchanger, out);
    for (int i = 0; i < h->parts; i++) {
        bool counted = false;
        for (int j = 0; j < i; j++) counted = counted || h->part[j].packer == h->part[i].packer;
        if (!counted) out->pack_s += ht_tool_total(h->part[i].packer, HT_PART_INTERIOR);
    }
}
