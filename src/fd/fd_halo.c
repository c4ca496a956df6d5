/* The planes beyond a slab of finite differences: messages with planes of some arrays, as many of
 * each as the schedule says, from and to both neighbours.
 */
#include <stdlib.h>

#include "fd.h"
#include "src/solve/transport.h"

struct ht_fd_halo {
    struct ht_window window;
    struct ht_pack_format format;
    struct ht_packer *packer;
    struct ht_exchanger exchanger;
};

void ht_fd_halo_destroy(struct ht_fd_halo *h) {
    if (h == NULL) return;
    ht_exchanger_destroy(&h->exchanger);
    free(h);
}

struct ht_pack_format ht_fd_format(const struct ht_problem *problem, bool fp64) {
    return (struct ht_pack_format){.fp64 = fp64,
                                   .block = 1,
                                   .fields = 1,
                                   .padded_coefs = 1,
                                   .precision = problem->halo.precision};
}

/* ---- messages ---- */

/* The own planes next to a side, or the planes beyond it. */
static struct ht_box planes_at(const struct ht_fd_halo *h, int side, int64_t planes, bool leaving) {
    struct ht_box box = h->window.own;
    const int64_t edge = side ? box.end[2] : box.begin[2];
    box.begin[2] = (side == 1) == leaving ? edge - planes : edge;
    box.end[2] = box.begin[2] + planes;
    return box;
}

static int64_t message_bytes(const struct ht_fd_halo *h, const int64_t *planes) {
    int64_t bytes = 0;
    for (int a = 0; a < HT_FD_NAMES; a++) {
        const struct ht_box box = planes_at(h, 0, planes[a], true);
        if (planes[a] > 0) bytes += ht_packer_bytes(&h->format, ht_box_nodes(&box));
    }
    return bytes;
}

/* Bytes of the longest message. Only passes with an operator wait for one. */
static int64_t longest_message(const struct ht_fd_halo *h, const struct ht_fd_slab *slab) {
    enum ht_fd_pass pass[HT_FD_MOST_PASSES];
    int64_t most = 0;
    for (int s = HT_FD_FORWARDS; s <= HT_FD_BEGIN; s++) {
        const enum ht_fd_sequence sequence = (enum ht_fd_sequence)s;
        const int count = ht_fd_sequence_passes(slab, sequence, pass);
        for (int i = 0; i < count; i++) {
            const struct ht_fd_planes planes = ht_fd_exchange(slab, sequence, i);
            const int64_t bytes = message_bytes(h, planes.of);
            const bool waits = ht_fd_source(slab->terms, pass[i]) >= 0;
            if (waits && bytes > most) most = bytes;
        }
    }
    return most;
}

static void plan(const struct ht_fd_stepper *s, struct ht_fd_halo *h) {
    struct ht_window *w = &h->window;
    h->format = ht_fd_format(&s->problem, s->engine.spec.fp64);
    h->packer = s->engine.packer;
    h->exchanger.comm = s->problem.grid->slab.comm;
    for (int k = 0; k < 3; k++) w->count[k] = s->count[k];
    w->own = w->held = s->slab.own;
    for (int side = 0; side < 2; side++) {
        struct ht_link *link = &h->exchanger.link[side];
        link->neighbour = ht_grid_neighbour(s->problem.grid, side);
        link->room = longest_message(h, &s->slab);
    }
}

int64_t ht_fd_halo_bytes(const struct ht_fd_stepper *s, int64_t *largest) {
    struct ht_fd_halo h = {.packer = NULL};
    *largest = 0;
    if (!ht_grid_cut(s->problem.grid)) return 0;
    plan(s, &h);
    return ht_links_bytes(h.exchanger.link, largest);
}

enum ht_err ht_fd_halo_create(const struct ht_fd_stepper *s, struct ht_fd_halo **out) {
    struct ht_fd_halo *h = NULL;
    *out = NULL;
    if (!ht_grid_cut(s->problem.grid)) return HT_OK;
    TRY(HT_ALLOC(h, 1));
    plan(s, h);
    enum ht_err err =
        ht_exchanger_create(&h->exchanger, s->engine.device, s->problem.halo.transport);
    return HT_MADE(err, h, ht_fd_halo_destroy, out);
}

/* ---- exchange ---- */

/* Context of the functions that pack and unpack. */
struct transfer {
    struct ht_fd_halo *halo;
    const int64_t *planes;
    const struct ht_fd_array *values;
};

static enum ht_err move_message(const struct transfer *t, int side, struct ht_buffer *message,
                                bool leaving) {
    struct ht_fd_halo *h = t->halo;
    int64_t at = 0;
    for (int a = 0; a < HT_FD_NAMES; a++) {
        struct ht_buffer *u = t->values[a].buffer;
        const struct ht_pack_range range = {
            .window = &h->window, .box = planes_at(h, side, t->planes[a], leaving), .at = at};
        if (t->planes[a] == 0) continue;
        TRY((leaving ? ht_packer_pack : ht_packer_unpack)(h->packer, &u, &range, message));
        at += ht_packer_bytes(&h->format, ht_box_nodes(&range.box));
    }
    return HT_OK;
}

static enum ht_err pack(void *context, int side, struct ht_buffer *message) {
    return move_message(context, side, message, true);
}

static enum ht_err unpack(void *context, int side, struct ht_buffer *message) {
    return move_message(context, side, message, false);
}

enum ht_err ht_fd_halo_send(struct ht_fd_halo *h, const int64_t planes[HT_FD_NAMES],
                            const struct ht_fd_array *values) {
    struct transfer context = {h, planes, values};
    int64_t bytes[2];
    for (int side = 0; side < 2; side++)
        bytes[side] = h->exchanger.link[side].neighbour < 0 ? 0 : message_bytes(h, planes);
    return ht_exchanger_begin(&h->exchanger, bytes, bytes, pack, &context);
}

enum ht_err ht_fd_halo_receive(struct ht_fd_halo *h, const int64_t planes[HT_FD_NAMES],
                               const struct ht_fd_array *values) {
    struct transfer context = {h, planes, values};
    return ht_exchanger_end(&h->exchanger, unpack, &context);
}

enum ht_err ht_fd_halo_finish(struct ht_fd_halo *h) {
    return ht_exchanger_finish(&h->exchanger);
}

void ht_fd_halo_traffic(const struct ht_fd_halo *h, struct ht_traffic *out) {
    ht_exchanger_traffic(&h->exchanger, out);
    out->pack_s += ht_packer_total(h->packer);
}
