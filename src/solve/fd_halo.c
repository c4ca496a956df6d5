/* The planes beyond a slab of finite differences: as many as the operator
 * reaches over, from both neighbours, before each pass. The links are those of
 * halo.c.
 */
#include <stdlib.h>

#include "fd.h"
#include "transport.h"

struct ht_fd_halo {
    struct ht_comm *comm;
    struct ht_window window;
    struct ht_box leaving[2], coming[2]; /* [side] */
    struct ht_pack_format format;
    struct ht_packer *packer;
    struct ht_link link[2];
    struct ht_shared *shared;
    int slot[2][2]; /* [side][sent, received]: whose turn it is */
    int64_t exchanges, messages, bytes;
};

void ht_fd_halo_destroy(struct ht_fd_halo *h) {
    if (h == NULL) return;
    ht_links_destroy(h->link);
    ht_shared_destroy(h->shared);
    ht_packer_destroy(h->packer);
    free(h);
}

static void plan(const struct ht_fd_stepper *s, struct ht_fd_halo *h) {
    const struct ht_problem *problem = &s->problem;
    const int64_t reach = ht_fd_reach(&s->engine.spec);
    struct ht_window *w = &h->window;
    h->comm = problem->grid->slab.comm;
    h->format = (struct ht_pack_format){.fp64 = s->engine.spec.fp64,
                                        .block = 1,
                                        .fields = 1,
                                        .padded_coefs = 1,
                                        .precision = problem->halo.precision};
    for (int k = 0; k < 3; k++) {
        w->count[k] = s->count[k];
        w->own.begin[k] = s->box.begin[k];
        w->own.end[k] = s->box.end[k];
    }
    w->held = w->own;
    for (int side = 0; side < 2; side++) {
        struct ht_box in = w->own, out = w->own;
        const int64_t edge = side ? w->own.end[2] : w->own.begin[2];
        out.begin[2] = side ? edge - reach : edge;
        out.end[2] = out.begin[2] + reach;
        in.begin[2] = side ? edge : edge - reach;
        in.end[2] = in.begin[2] + reach;
        h->leaving[side] = out;
        h->coming[side] = in;
        h->link[side].neighbour = ht_grid_neighbour(problem->grid, side);
        h->link[side].room =
            ht_packer_bytes(&h->format, ht_box_nodes(&h->leaving[side]));
    }
}

enum ht_err ht_fd_halo_create(const struct ht_fd_stepper *s,
                              struct ht_fd_halo **out) {
    struct ht_fd_halo *h = NULL;
    *out = NULL;
    if (!ht_grid_cut(s->problem.grid)) return HT_OK;
    TRY(HT_ALLOC(h, 1));
    plan(s, h);
    enum ht_err err =
        ht_comm_agree(h->comm, ht_packer_create(s->engine.device, &h->format,
                                                NULL, &h->packer));
    if (err == HT_OK)
        err = ht_links_create(h->comm, s->engine.device,
                              s->problem.halo.transport, h->link, &h->shared);
    if (err != HT_OK) {
        ht_fd_halo_destroy(h);
        return err;
    }
    *out = h;
    return HT_OK;
}

/* ---- exchange ---- */

static enum ht_err begin_side(struct ht_fd_halo *h, struct ht_buffer *u,
                              int side) {
    struct ht_link *link = &h->link[side];
    const struct ht_pack_range range = {.window = &h->window,
                                        .box = h->leaving[side]};
    TRY(ht_link_expect(link, h->slot[side][1], link->room));
    TRY(ht_packer_pack(h->packer, &u, &range, link->out));
    TRY(ht_link_send(link, h->slot[side][0], link->room));
    h->messages++;
    h->bytes += link->room;
    return HT_OK;
}

static void take_turn(int *slot) {
    *slot = (*slot + 1) % HT_SLOTS;
}

static enum ht_err go_on(struct ht_fd_halo *h, struct ht_buffer *u, int side,
                         bool *announced, bool *arrived) {
    struct ht_link *link = &h->link[side];
    const struct ht_pack_range range = {.window = &h->window,
                                        .box = h->coming[side]};
    if (!*announced) {
        TRY(ht_link_announce(link, h->slot[side][0], link->room, announced));
        if (*announced) take_turn(&h->slot[side][0]);
    }
    if (*arrived) return HT_OK;
    const int slot = h->slot[side][1];
    TRY(ht_link_fetch(link, slot, link->room, arrived));
    if (!*arrived) return HT_OK;
    take_turn(&h->slot[side][1]);
    return ht_packer_unpack(h->packer, &u, &range, link->in[slot]);
}

enum ht_err ht_fd_halo_exchange(struct ht_fd_halo *h, struct ht_fd_array u) {
    bool announced[2], arrived[2], done = false;
    for (int side = 0; side < 2; side++) {
        announced[side] = arrived[side] = h->link[side].neighbour < 0;
        if (!arrived[side]) TRY(begin_side(h, u.buffer, side));
    }
    for (long looks = 0; !done; looks++) {
        done = true;
        for (int side = 0; side < 2; side++) {
            TRY(go_on(h, u.buffer, side, &announced[side], &arrived[side]));
            done = done && announced[side] && arrived[side];
        }
        if (!done && looks % 64 == 63) TRY(ht_comm_look_out(h->comm));
        if (!done) ht_comm_pause(looks);
    }
    h->exchanges++;
    return HT_OK;
}

enum ht_err ht_fd_halo_finish(struct ht_fd_halo *h) {
    for (int side = 0; side < 2; side++)
        for (int slot = 0; slot < HT_SLOTS; slot++)
            TRY(ht_message_wait(&h->link[side].sent[slot]));
    return HT_OK;
}

void ht_fd_halo_traffic(const struct ht_fd_halo *h, struct ht_traffic *out) {
    out->exchanges += h->exchanges;
    out->messages += h->messages;
    out->bytes += h->bytes;
    for (int side = 0; side < 2; side++)
        if (h->link[side].transport != NULL)
            out->transport[side] = h->link[side].transport->name;
    out->pack_s += ht_packer_total(h->packer);
}
