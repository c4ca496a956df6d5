/* The messages of exchanges between slabs. The task SEND begins an exchange,
 * and the task RECEIVE in the schedule of a later half step ends it. In between
 * the device computes the interior. The host waits for the messages meanwhile
 * and then enqueues their unpacking.
 */
#include "halo.h"

#include <stdlib.h>
#include <string.h>

#include "exchange.h"

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
    struct ht_packer *packer[2];
    struct ht_pack_format format[2];
    struct ht_buffer *u[2][HT_MAX_FIELDS]; /* stored fields, without gaps */
    struct message leaving[2][2], coming[2][2]; /* [from][side] */
    struct ht_exchanger exchanger;
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
        int64_t *room = &h->exchanger.link[side].room;
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

/* Context of the functions that pack and unpack. */
struct half_step {
    struct ht_halo *halo;
    enum ht_subgrid from;
};

static enum ht_err pack_side(void *context, int side,
                             struct ht_buffer *buffer) {
    const struct half_step *c = context;
    return pack_or_unpack(c->halo, &c->halo->leaving[c->from][side], buffer,
                          true);
}

static enum ht_err unpack_side(void *context, int side,
                               struct ht_buffer *buffer) {
    const struct half_step *c = context;
    return pack_or_unpack(c->halo, &c->halo->coming[c->from][side], buffer,
                          false);
}

enum ht_err ht_halo_send(struct ht_halo *h, enum ht_subgrid from) {
    const struct message *out = h->leaving[from], *in = h->coming[from];
    const int64_t leaving[2] = {out[0].bytes, out[1].bytes};
    const int64_t coming[2] = {in[0].bytes, in[1].bytes};
    struct half_step context = {h, from};
    return ht_exchanger_begin(&h->exchanger, leaving, coming, pack_side,
                              &context);
}

enum ht_err ht_halo_receive(struct ht_halo *h, enum ht_subgrid from) {
    struct half_step context = {h, from};
    return ht_exchanger_end(&h->exchanger, unpack_side, &context);
}

enum ht_err ht_halo_finish(struct ht_halo *h) {
    return ht_exchanger_finish(&h->exchanger);
}

/* ---- making ---- */

void ht_halo_destroy(struct ht_halo *h) {
    if (h == NULL) return;
    ht_exchanger_destroy(&h->exchanger);
    free(h);
}

/* The part of the halo that needs no device. */
static void plan(const struct ht_problem *problem,
                 const struct ht_tuning *tuning, struct ht_halo *h) {
    ht_partition_slab(problem, &h->partition);
    h->exchanger.comm = problem->grid->slab.comm;
    for (int i = 0; i < 2; i++) {
        h->format[i] =
            ht_problem_format(problem, tuning, i ? HT_DUAL : HT_PRIMARY);
        h->exchanger.link[i].neighbour = ht_grid_neighbour(problem->grid, i);
    }
    make_messages(h);
}

int64_t ht_halo_bytes(const struct ht_problem *problem,
                      const struct ht_tuning *tuning, int64_t *message) {
    struct ht_halo h = {.partition = {.depth = 0}};
    *message = 0;
    if (!ht_grid_cut(problem->grid)) return 0;
    plan(problem, tuning, &h);
    return ht_links_bytes(h.exchanger.link, message);
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
        ht_exchanger_create(&h->exchanger, device, problem->halo.transport);
    if (err != HT_OK) {
        ht_halo_destroy(h);
        return err;
    }
    *out = h;
    return HT_OK;
}

void ht_halo_traffic(const struct ht_halo *h, struct ht_traffic *out) {
    ht_exchanger_traffic(&h->exchanger, out);
    out->pack_s += ht_packer_total(h->packer[0]);
    out->pack_s += ht_packer_total(h->packer[1]);
}
