/* The messages of exchanges between slabs. The task SEND begins an exchange,
 * and the task RECEIVE in the schedule of a later half step ends it. In between
 * the device computes the interior. The host waits for the messages meanwhile
 * and then enqueues their unpacking.
 */
#include "halo.h"

#include <stdlib.h>
#include <string.h>

#include "transport.h"

/* The message over one link in one direction: planes of the source grid of a
 * half step, and of its target grid for schemes that add to old values. */
struct planes {
    enum ht_subgrid subgrid;
    int64_t first, count; /* planes of the window */
};
struct message {
    int count;
    struct planes part[2];
    int64_t bytes;
};

struct ht_halo {
    struct ht_partition partition;
    struct ht_comm *comm;
    struct ht_packer *packer[2];
    struct ht_pack_format format[2];
    struct ht_buffer *u[2][HT_MAX_FIELDS]; /* stored fields, without gaps */
    struct ht_link link[2];
    struct ht_shared *shared;
    struct message leaving[2][2], coming[2][2]; /* [from][side] */
    bool announced[2], arrived[2]; /* in the exchange in progress, [side] */
    int slot[2][2];                /* next slot, [side][sent, received] */
    int64_t messages, bytes;
};

/* ---- messages ---- */

/* The message to a side or from it, for a half step from `from`. What a slab
 * sends down, the slab below receives from above. */
static struct message make_message(const struct ht_halo *h,
                                   enum ht_subgrid from, int side,
                                   bool leaves) {
    const struct ht_partition *p = &h->partition;
    struct message m = {0};
    if (!p->neighbour[side]) return m;
    for (int i = 0; i < 2; i++) {
        enum ht_subgrid subgrid =
            (i == 0) == (from == HT_PRIMARY) ? HT_PRIMARY : HT_DUAL;
        const struct ht_window *w = &p->window[subgrid];
        struct ht_extent e = ht_exchange_extent(p, from, subgrid);
        int64_t count = (side == 0) == leaves ? e.above : e.below;
        int64_t low = w->own.begin[2] - (leaves ? 0 : count);
        int64_t high = w->own.end[2] - (leaves ? count : 0);
        struct ht_box box = w->held;
        if (count == 0) continue;
        m.part[m.count++] =
            (struct planes){subgrid, side == 0 ? low : high, count};
        box.end[2] = box.begin[2] + count;
        m.bytes += ht_packer_bytes(&h->format[subgrid], ht_box_nodes(&box));
    }
    return m;
}

/* Makes all messages and finds the longest of each link. */
static void make_messages(struct ht_halo *h) {
    for (int i = 0; i < 4; i++) {
        const int from = i / 2, side = i % 2;
        const enum ht_subgrid subgrid = from ? HT_DUAL : HT_PRIMARY;
        int64_t *room = &h->link[side].room;
        struct message out = make_message(h, subgrid, side, true);
        struct message in = make_message(h, subgrid, side, false);
        h->leaving[from][side] = out;
        h->coming[from][side] = in;
        if (out.bytes > *room) *room = out.bytes;
        if (in.bytes > *room) *room = in.bytes;
    }
}

static enum ht_err pack_or_unpack(struct ht_halo *h, const struct message *m,
                                  struct ht_buffer *buffer, bool pack) {
    int64_t at = 0;
    for (int i = 0; i < m->count; i++) {
        const enum ht_subgrid subgrid = m->part[i].subgrid;
        const struct ht_window *window = &h->partition.window[subgrid];
        struct ht_pack_range range = {
            .window = window, .box = window->held, .at = at};
        range.box.begin[2] = m->part[i].first;
        range.box.end[2] = m->part[i].first + m->part[i].count;
        TRY((pack ? ht_packer_pack : ht_packer_unpack)(
            h->packer[subgrid], h->u[subgrid], &range, buffer));
        at += ht_packer_bytes(&h->format[subgrid], ht_box_nodes(&range.box));
    }
    return HT_OK;
}

/* ---- exchange ---- */

static enum ht_err begin_side(struct ht_halo *h, enum ht_subgrid from,
                              int side) {
    struct ht_link *link = &h->link[side];
    const struct message *leaving = &h->leaving[from][side];
    const struct message *coming = &h->coming[from][side];
    h->announced[side] = leaving->count == 0;
    h->arrived[side] = coming->count == 0;
    if (coming->count > 0)
        TRY(ht_link_expect(link, h->slot[side][1], coming->bytes));
    if (leaving->count == 0) return HT_OK;
    TRY(pack_or_unpack(h, leaving, link->out, true));
    TRY(ht_link_send(link, h->slot[side][0], leaving->bytes));
    h->messages++;
    h->bytes += leaving->bytes;
    return HT_OK;
}

enum ht_err ht_halo_send(struct ht_halo *h, enum ht_subgrid from) {
    for (int side = 0; side < 2; side++) TRY(begin_side(h, from, side));
    return HT_OK;
}

static void take_turn(int *slot) {
    *slot = (*slot + 1) % HT_SLOTS;
}

static enum ht_err go_on(struct ht_halo *h, enum ht_subgrid from, int side) {
    struct ht_link *link = &h->link[side];
    if (!h->announced[side]) {
        TRY(ht_link_announce(link, h->slot[side][0],
                             h->leaving[from][side].bytes,
                             &h->announced[side]));
        if (h->announced[side]) take_turn(&h->slot[side][0]);
    }
    if (!h->arrived[side]) {
        const struct message *coming = &h->coming[from][side];
        int slot = h->slot[side][1];
        TRY(ht_link_fetch(link, slot, coming->bytes, &h->arrived[side]));
        if (!h->arrived[side]) return HT_OK;
        TRY(pack_or_unpack(h, coming, link->in[slot], false));
        take_turn(&h->slot[side][1]);
    }
    return HT_OK;
}

enum ht_err ht_halo_receive(struct ht_halo *h, enum ht_subgrid from) {
    bool done = false;
    for (long looks = 0; !done; looks++) {
        done = true;
        for (int side = 0; side < 2; side++) {
            TRY(go_on(h, from, side));
            done = done && h->announced[side] && h->arrived[side];
        }
        if (!done && looks % 64 == 63) TRY(ht_comm_look_out(h->comm));
        if (!done) ht_comm_pause(looks);
    }
    return HT_OK;
}

enum ht_err ht_halo_finish(struct ht_halo *h) {
    for (int side = 0; side < 2; side++)
        for (int slot = 0; slot < HT_SLOTS; slot++)
            TRY(ht_message_wait(&h->link[side].sent[slot]));
    return HT_OK;
}

/* ---- making ---- */

void ht_halo_destroy(struct ht_halo *h) {
    if (h == NULL) return;
    ht_links_destroy(h->link);
    ht_shared_destroy(h->shared);
    free(h);
}

/* The part of the halo that needs no device. */
static void plan(const struct ht_problem *problem,
                 const struct ht_tuning *tuning, struct ht_halo *h) {
    ht_partition_slab(problem, &h->partition);
    h->comm = problem->grid->slab.comm;
    for (int i = 0; i < 2; i++) {
        h->format[i] =
            ht_problem_format(problem, tuning, i ? HT_DUAL : HT_PRIMARY);
        h->link[i].neighbour = ht_grid_neighbour(problem->grid, i);
    }
    make_messages(h);
}

int64_t ht_halo_bytes(const struct ht_problem *problem,
                      const struct ht_tuning *tuning, int64_t *message) {
    struct ht_halo h = {.comm = NULL};
    int64_t bytes = 0;
    *message = 0;
    if (!ht_grid_cut(problem->grid)) return 0;
    plan(problem, tuning, &h);
    for (int side = 0; side < 2; side++) {
        bytes += (1 + HT_SLOTS) * h.link[side].room;
        if (h.link[side].room > *message) *message = h.link[side].room;
    }
    return bytes;
}

enum ht_err ht_halo_create(const struct ht_problem *problem,
                           struct ht_device *device,
                           const struct ht_kernels *kernels,
                           struct ht_buffer *(*u)[HT_MAX_FIELDS],
                           struct ht_halo **out) {
    struct ht_halo *h = NULL;
    *out = NULL;
    TRY(HT_ALLOC(h, 1));
    const struct ht_tuning tuning = {.variant = kernels->variant,
                                     .fp64 = kernels->spec[0].fp64,
                                     .sorted = kernels->spec[0].sorted,
                                     .block = kernels->spec[0].block};
    plan(problem, &tuning, h);
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        int count = 0;
        h->packer[subgrid] = kernels->packer[subgrid];
        for (int f = 0; f < problem->eq->nfields; f++)
            if (ht_problem_stores(problem, subgrid ? HT_DUAL : HT_PRIMARY, f))
                h->u[subgrid][count++] = u[subgrid][f];
    }
    enum ht_err err =
        ht_links_create(problem->grid->slab.comm, device,
                        problem->halo.transport, h->link, &h->shared);
    if (err != HT_OK) {
        ht_halo_destroy(h);
        return err;
    }
    *out = h;
    return HT_OK;
}

void ht_halo_traffic(const struct ht_halo *h, struct ht_traffic *out) {
    out->messages += h->messages;
    out->bytes += h->bytes;
    for (int side = 0; side < 2; side++)
        if (h->link[side].transport != NULL)
            out->transport[side] = h->link[side].transport->name;
    out->pack_s += ht_packer_total(h->packer[0]);
    out->pack_s += ht_packer_total(h->packer[1]);
}
