/* The messages of exchanges between slabs. The task SEND begins an exchange, and the task RECEIVE
 * in the schedule of a later half step ends it. In between the device computes the interior. The
 * host waits for the messages meanwhile and then enqueues their unpacking.
 */
#include "halo.h"

#include <stdlib.h>
#include <string.h>

#include "src/solve/transport.h"

/* The message over one link in one direction: planes of the source grid of a half step, and of its
 * target grid for schemes that add to old values. */
struct planes {
    enum ht_subgrid subgrid;
    int64_t first, count; /* planes of the window */
};
struct message {
    int count;
    struct planes part[2];
    int64_t bytes;
};

/* With the fields of these planes travel the memory variables of absorbing layers, of each axis and
 * side as far as they have nodes there. */
enum { LAYERS = 6, MOST_RANGES = 1 + LAYERS };
struct range {
    struct ht_packer *packer; /* NULL before the halo has a device */
    struct ht_buffer *const *u;
    struct ht_pack_range what;
    int64_t bytes;
};

struct ht_halo {
    struct ht_partition partition;
    struct ht_packer *packer[2], *layer_packer[3];
    struct ht_pack_format format[2], layer_format[3];
    struct ht_layer_memory memory[3][2];
    struct ht_buffer *u[2][HT_MAX_FIELDS];      /* stored fields, without gaps */
    struct message leaving[2][2], coming[2][2]; /* [from][side] */
    struct ht_exchanger exchanger;
};

/* ---- messages ---- */

/* The planes of a layer's memory variables. They have nodes along x3 where the layer is, counted
 * from the first of their window. */
static bool layer_range(const struct ht_halo *h, const struct planes *planes, int axis, int side,
                        struct range *out) {
    const struct ht_layer_memory *m = &h->memory[axis][side];
    const struct ht_window *w = &m->window[planes->subgrid];
    struct ht_box box = w->held;
    if (ht_window_nodes(w) == 0) return false;
    const int64_t first = planes->first - m->first[planes->subgrid][2];
    box.begin[2] = ht_most(first, box.begin[2]);
    box.end[2] = ht_least(first + planes->count, box.end[2]);
    if (box.begin[2] >= box.end[2]) return false;
    *out = (struct range){.packer = h->layer_packer[axis],
                          .u = m->u[planes->subgrid],
                          .what = {.window = w, .box = box},
                          .bytes = ht_packer_bytes(&h->layer_format[axis], ht_box_nodes(&box))};
    return true;
}

/* What travels with some planes, one after the other from byte `at` on; returns the number of
 * ranges. */
static int list_ranges(const struct ht_halo *h, const struct planes *planes, int64_t at,
                       struct range out[MOST_RANGES]) {
    const struct ht_window *w = &h->partition.window[planes->subgrid];
    int count = 1;
    out[0] = (struct range){.packer = h->packer[planes->subgrid],
                            .u = h->u[planes->subgrid],
                            .what = {.window = w, .box = w->held}};
    out[0].what.box.begin[2] = planes->first;
    out[0].what.box.end[2] = planes->first + planes->count;
    out[0].bytes = ht_packer_bytes(&h->format[planes->subgrid], ht_box_nodes(&out[0].what.box));
    for (int n = 0; n < LAYERS; n++) count += layer_range(h, planes, n / 2, n % 2, &out[count]);
    for (int i = 0; i < count; at += out[i++].bytes) out[i].what.at = at;
    return count;
}

/* The message to a side or from it, for a half step from `from`. What a slab sends down, the slab
 * below receives from above. */
static struct message make_message(const struct ht_halo *h, enum ht_subgrid from, int side,
                                   bool leaves) {
    const struct ht_partition *p = &h->partition;
    struct message m = {0};
    if (!p->neighbour[side]) return m;
    for (int i = 0; i < 2; i++) {
        enum ht_subgrid subgrid = (i == 0) == (from == HT_PRIMARY) ? HT_PRIMARY : HT_DUAL;
        const struct ht_window *w = &p->window[subgrid];
        struct ht_extent e = ht_exchange_extent(p, from, subgrid);
        int64_t count = (side == 0) == leaves ? e.above : e.below;
        int64_t low = w->own.begin[2] - (leaves ? 0 : count);
        int64_t high = w->own.end[2] - (leaves ? count : 0);
        struct range range[MOST_RANGES];
        if (count == 0) continue;
        m.part[m.count++] = (struct planes){subgrid, side == 0 ? low : high, count};
        const int ranges = list_ranges(h, &m.part[m.count - 1], 0, range);
        for (int r = 0; r < ranges; r++) m.bytes += range[r].bytes;
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
        struct range range[MOST_RANGES];
        const int ranges = list_ranges(h, &m->part[i], at, range);
        for (int r = 0; r < ranges; r++) {
            TRY((pack ? ht_packer_pack : ht_packer_unpack)(range[r].packer, range[r].u,
                                                           &range[r].what, buffer));
            at += range[r].bytes;
        }
    }
    return HT_OK;
}

/* ---- exchange ---- */

/* Context of the functions that pack and unpack. */
struct half_step {
    struct ht_halo *halo;
    enum ht_subgrid from;
};

static enum ht_err pack_side(void *context, int side, struct ht_buffer *buffer) {
    const struct half_step *c = context;
    return pack_or_unpack(c->halo, &c->halo->leaving[c->from][side], buffer, true);
}

static enum ht_err unpack_side(void *context, int side, struct ht_buffer *buffer) {
    const struct half_step *c = context;
    return pack_or_unpack(c->halo, &c->halo->coming[c->from][side], buffer, false);
}

enum ht_err ht_halo_send(struct ht_halo *h, enum ht_subgrid from) {
    const struct message *out = h->leaving[from], *in = h->coming[from];
    const int64_t leaving[2] = {out[0].bytes, out[1].bytes};
    const int64_t coming[2] = {in[0].bytes, in[1].bytes};
    struct half_step context = {h, from};
    return ht_exchanger_begin(&h->exchanger, leaving, coming, pack_side, &context);
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
static enum ht_err plan(const struct ht_problem *problem, const struct ht_tuning *tuning,
                        struct ht_halo *h) {
    struct ht_equations eq;
    TRY(ht_equations_absorb(problem->eq, ht_absorbing_axes(problem->layers), &eq));
    ht_layer_windows(problem, h->memory);
    for (int axis = 0; axis < 3; axis++)
        h->layer_format[axis] = ht_layer_format(problem, tuning, ht_layer_fields(&eq, axis));
    ht_partition_slab(problem, &h->partition);
    h->exchanger.comm = problem->grid->slab.comm;
    for (int i = 0; i < 2; i++) {
        h->format[i] = ht_problem_format(problem, tuning, i ? HT_DUAL : HT_PRIMARY);
        h->exchanger.link[i].neighbour = ht_grid_neighbour(problem->grid, i);
    }
    make_messages(h);
    return HT_OK;
}

int64_t ht_halo_bytes(const struct ht_problem *problem, const struct ht_tuning *tuning,
                      int64_t *message) {
    struct ht_halo h = {.partition = {.depth = 0}};
    *message = 0;
    if (!ht_grid_cut(problem->grid)) return 0;
    if (plan(problem, tuning, &h) != HT_OK) return 0;
    return ht_links_bytes(h.exchanger.link, message);
}

enum ht_err ht_halo_create(const struct ht_problem *problem, struct ht_device *device,
                           const struct ht_kernels *kernels, struct ht_buffer *(*u)[HT_MAX_FIELDS],
                           const struct ht_layer_memory (*memory)[2], struct ht_halo **out) {
    struct ht_halo *h = NULL;
    *out = NULL;
    TRY(HT_ALLOC(h, 1));
    const struct ht_tuning tuning = {.variant = kernels->variant,
                                     .fp64 = kernels->spec[0].fp64,
                                     .sorted = kernels->spec[0].sorted,
                                     .block = kernels->spec[0].block};
    enum ht_err err = plan(problem, &tuning, h);
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        int count = 0;
        h->packer[subgrid] = kernels->packer[subgrid];
        for (int f = 0; f < problem->eq->nfields; f++)
            if (ht_problem_stores(problem, subgrid ? HT_DUAL : HT_PRIMARY, f))
                h->u[subgrid][count++] = u[subgrid][f];
    }
    for (int n = 0; n < LAYERS; n++) h->memory[n / 2][n % 2] = memory[n / 2][n % 2];
    for (int axis = 0; kernels->layers != NULL && axis < 3; axis++)
        h->layer_packer[axis] = kernels->layers->packer[axis];
    if (err == HT_OK) /* the same on all ranks */
        err = ht_exchanger_create(&h->exchanger, device, problem->halo.transport);
    return HT_MADE(err, h, ht_halo_destroy, out);
}

void ht_halo_traffic(const struct ht_halo *h, struct ht_traffic *out) {
    ht_exchanger_traffic(&h->exchanger, out);
    out->pack_s += ht_packer_total(h->packer[0]);
    out->pack_s += ht_packer_total(h->packer[1]);
    for (int axis = 0; axis < 3; axis++)
        if (h->layer_packer[axis] != NULL) out->pack_s += ht_packer_total(h->layer_packer[axis]);
}
