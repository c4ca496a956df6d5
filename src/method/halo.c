/* The exchange of planes between slabs, as a sequence of
 *     send       boundary planes of the target are packed and leave,
 *     interior   the device goes on with the rest of the half step,
 *     prepare    of the next half step: the host waits for the messages while
 *                the interior runs, then enqueues their unpacking.
 * Which planes are up to date is known from the sequence of calls alone and
 * alike on all ranks, also where a wall leaves nothing to exchange, so that all
 * ranks exchange at the same half steps. That the planes suffice and that no
 * message meets another is shown in docs/method.md, section 15.
 */
#include "halo.h"

#include <stdlib.h>
#include <string.h>

#include "htwave/prediction.h"
#include "transport.h"

/* Planes below and above a slab. */
struct extent {
    int64_t below, above;
};

/* What travels to or from one side: planes of the source, and of the target
 * where it keeps values. */
struct part {
    enum ht_mesh mesh;
    int64_t first, count; /* planes of the buffers */
};
struct parcel {
    int count;
    struct part part[2];
    int64_t bytes;
};

struct ht_halo {
    struct ht_problem problem;
    struct ht_packer *packer[2];
    struct ht_pack_format format[2];
    struct ht_buffer *u[2][HT_MAX_FIELDS]; /* stored ones, without gaps */
    struct ht_window window[2];
    struct extent valid[2]; /* planes up to date, were there no walls */
    struct ht_link link[2];
    struct ht_shared *shared;
    bool open;          /* an exchange is under way */
    bool stale[2];      /* which carries what was overwritten since */
    enum ht_mesh next;  /* that exchange is for a half step from there */
    enum ht_mesh ahead; /* and so will be the one that ht_halo_send begins */
    struct parcel sending[2], coming[2]; /* of the exchange under way */
    bool announced[2], arrived[2];
    int slot[2][2]; /* [side][sent, received]: whose turn it is */
    struct ht_traffic traffic;
};

static enum ht_mesh other(enum ht_mesh mesh) {
    return mesh == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
}

static int depth_of(const struct ht_problem *problem) {
    return problem->halo.depth > 0 ? problem->halo.depth : 1;
}

/* Planes of `mesh` beyond the slab that a sequence of half steps beginning at
 * `from` needs. */
static struct extent wanted(const struct ht_problem *problem, enum ht_mesh from,
                            enum ht_mesh mesh) {
    int depth = depth_of(problem);
    bool two_level = ht_problem_scheme(problem)->two_level;
    return (struct extent){ht_halo_planes(depth, from, mesh, two_level, 0),
                           ht_halo_planes(depth, from, mesh, two_level, 1)};
}

/* ---- what a rank holds ---- */

struct ht_window ht_problem_window(const struct ht_problem *problem,
                                   enum ht_mesh mesh) {
    int depth = depth_of(problem), less = depth / 2, more = depth - less;
    return ht_window_make(problem->grid, mesh, more,
                          mesh == HT_PRIMARY ? more : less);
}

/* ---- parcels ---- */

/* What leaves to a side (the slab below has it above itself) or comes from
 * there, for a half step from `from`. */
static struct parcel make_parcel(const struct ht_halo *h, enum ht_mesh from,
                                 int side, bool leaves) {
    struct parcel p = {0};
    if (h->link[side].neighbour < 0) return p;
    for (int i = 0; i < 2; i++) {
        enum ht_mesh mesh = i == 0 ? from : other(from);
        const struct ht_box *own = &h->window[mesh].own;
        struct extent e = wanted(&h->problem, from, mesh);
        int64_t count = (side == 0) == leaves ? e.above : e.below;
        int64_t low = leaves ? own->begin[2] : own->begin[2] - count;
        int64_t high = own->end[2] - (leaves ? count : 0);
        if (count == 0) continue;
        p.part[p.count++] = (struct part){mesh, side == 0 ? low : high, count};
        p.bytes += ht_packer_bytes(
            &h->format[mesh], count * ht_grid_plane(h->problem.grid, mesh));
    }
    return p;
}

static int64_t longest(const struct ht_halo *h, int side) {
    int64_t most = 0;
    for (int i = 0; i < 4; i++) {
        enum ht_mesh from = i % 2 ? HT_DUAL : HT_PRIMARY;
        struct parcel p = make_parcel(h, from, side, i / 2 != 0);
        if (p.bytes > most) most = p.bytes;
    }
    return most;
}

static enum ht_err pack_or_unpack(struct ht_halo *h, const struct parcel *p,
                                  struct ht_buffer *message, bool pack) {
    int64_t at = 0;
    for (int i = 0; i < p->count; i++) {
        enum ht_mesh mesh = p->part[i].mesh;
        struct ht_pack_range range = {
            .window = &h->window[mesh], .box = h->window[mesh].held, .at = at};
        range.box.begin[2] = p->part[i].first;
        range.box.end[2] = p->part[i].first + p->part[i].count;
        TRY((pack ? ht_packer_pack : ht_packer_unpack)(
            h->packer[mesh], h->u[mesh], &range, message));
        at += ht_packer_bytes(&h->format[mesh], ht_box_nodes(&range.box));
    }
    return HT_OK;
}

/* ---- exchange ---- */

static enum ht_err begin_side(struct ht_halo *h, int side) {
    struct ht_link *link = &h->link[side];
    const struct parcel *sending = &h->sending[side];
    const struct parcel *coming = &h->coming[side];
    h->announced[side] = sending->count == 0;
    h->arrived[side] = coming->count == 0;
    if (coming->count > 0)
        TRY(ht_link_expect(link, h->slot[side][1], coming->bytes));
    if (sending->count == 0) return HT_OK;
    TRY(pack_or_unpack(h, sending, link->out, true));
    TRY(ht_link_send(link, h->slot[side][0], sending->bytes));
    h->traffic.messages++;
    h->traffic.bytes += sending->bytes;
    return HT_OK;
}

static enum ht_err begin(struct ht_halo *h, enum ht_mesh from) {
    h->open = true;
    h->next = from;
    h->traffic.exchanges++;
    for (int side = 0; side < 2; side++) {
        h->sending[side] = make_parcel(h, from, side, true);
        h->coming[side] = make_parcel(h, from, side, false);
        TRY(begin_side(h, side));
    }
    return HT_OK;
}

static void take_turn(int *slot) {
    *slot = (*slot + 1) % HT_SLOTS;
}

static enum ht_err go_on(struct ht_halo *h, int side) {
    struct ht_link *link = &h->link[side];
    if (!h->announced[side]) {
        TRY(ht_link_announce(link, h->slot[side][0], h->sending[side].bytes,
                             &h->announced[side]));
        if (h->announced[side]) take_turn(&h->slot[side][0]);
    }
    if (!h->arrived[side]) {
        int slot = h->slot[side][1];
        TRY(ht_link_fetch(link, slot, h->coming[side].bytes,
                          &h->arrived[side]));
        if (!h->arrived[side]) return HT_OK;
        TRY(pack_or_unpack(h, &h->coming[side], link->in[slot], false));
        take_turn(&h->slot[side][1]);
    }
    return HT_OK;
}

static enum ht_err complete(struct ht_halo *h) {
    bool done = false;
    for (long looks = 0; !done; looks++) {
        done = true;
        for (int side = 0; side < 2; side++) {
            TRY(go_on(h, side));
            done = done && h->announced[side] && h->arrived[side];
        }
        if (!done && looks % 64 == 63)
            TRY(ht_comm_look_out(h->problem.grid->slab.comm));
        if (!done) ht_comm_pause(looks);
    }
    h->open = false;
    /* Planes that it did not bring count as out of date, even where they are
     * not: so no exchange is followed by more than one of its kind. */
    for (int mesh = 0; mesh < 2; mesh++) {
        enum ht_mesh which = mesh ? HT_DUAL : HT_PRIMARY;
        h->valid[mesh] = wanted(&h->problem, h->next, which);
        if (h->stale[mesh]) h->valid[mesh] = (struct extent){0, 0};
        h->stale[mesh] = false;
    }
    return HT_OK;
}

/* ---- schedule ---- */

static bool enough(const struct ht_halo *h, enum ht_mesh from) {
    return from == HT_PRIMARY ? h->valid[from].above > 0
                              : h->valid[from].below > 0;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Planes beyond the slab that a half step can compute. */
static struct extent reach(const struct ht_halo *h, enum ht_mesh from) {
    struct extent e = h->valid[from], kept = h->valid[other(from)];
    if (from == HT_PRIMARY)
        e.above--;
    else
        e.below--;
    if (ht_problem_scheme(&h->problem)->two_level) {
        e.below = least(e.below, kept.below);
        e.above = least(e.above, kept.above);
    }
    return e;
}

/* Own planes of the target in three ranges: those that leave downwards, those
 * that leave upwards, the rest. */
static void split(const struct ht_halo *h, enum ht_mesh to,
                  struct ht_halo_ranges *out) {
    const struct ht_box *own = &h->window[to].own;
    struct extent e = wanted(&h->problem, to, to);
    int64_t first = own->begin[2], last = own->end[2];
    int64_t low = h->link[0].neighbour >= 0 ? e.above : 0;
    int64_t high = h->link[1].neighbour >= 0 ? e.below : 0;
    out->interior[0] = first + low;
    out->interior[1] = last - high;
    if (out->interior[1] < out->interior[0])
        out->interior[1] = out->interior[0];
    out->boundary[0][0] = first;
    out->boundary[0][1] = out->interior[0];
    out->boundary[1][0] = out->interior[1];
    out->boundary[1][1] = last;
}

static void whole(const struct ht_halo *h, enum ht_mesh to, struct extent e,
                  struct ht_halo_ranges *out) {
    const struct ht_box *own = &h->window[to].own;
    out->interior[0] =
        own->begin[2] - (h->link[0].neighbour >= 0 ? e.below : 0);
    out->interior[1] = own->end[2] + (h->link[1].neighbour >= 0 ? e.above : 0);
}

enum ht_err ht_halo_prepare(struct ht_halo *h, enum ht_mesh from,
                            struct ht_halo_ranges *out) {
    enum ht_mesh to = other(from);
    *out = (struct ht_halo_ranges){.sends = false};
    if (h->open) TRY(complete(h));
    if (!enough(h, from)) {
        TRY(begin(h, from));
        TRY(complete(h));
    }
    h->valid[to] = reach(h, from);
    h->ahead = to;
    out->sends = !enough(h, to);
    if (out->sends) {
        h->valid[to] = (struct extent){0, 0};
        split(h, to, out);
    } else {
        whole(h, to, h->valid[to], out);
    }
    h->traffic.half_steps++;
    return HT_OK;
}

enum ht_err ht_halo_send(struct ht_halo *h) {
    return begin(h, h->ahead);
}

enum ht_err ht_halo_finish(struct ht_halo *h) {
    if (h->open) TRY(complete(h));
    for (int side = 0; side < 2; side++)
        for (int slot = 0; slot < HT_SLOTS; slot++)
            TRY(ht_message_wait(&h->link[side].sent[slot]));
    return HT_OK;
}

/* An exchange under way carries what has been overwritten: it is completed
 * and then counts for nothing. */
void ht_halo_forget(struct ht_halo *h, enum ht_mesh mesh) {
    h->valid[mesh] = (struct extent){0, 0};
    h->stale[mesh] = h->open;
}

/* ---- making ---- */

void ht_halo_destroy(struct ht_halo *h) {
    if (h == NULL) return;
    ht_links_destroy(h->link);
    ht_shared_destroy(h->shared);
    free(h);
}

int64_t ht_halo_bytes(const struct ht_problem *problem,
                      const struct ht_tuning *tuning, int64_t *message) {
    struct ht_halo h = {.problem = *problem};
    int64_t bytes = 0;
    *message = 0;
    if (!ht_grid_cut(problem->grid)) return 0;
    for (int mesh = 0; mesh < 2; mesh++) {
        enum ht_mesh which = mesh ? HT_DUAL : HT_PRIMARY;
        h.window[mesh] = ht_problem_window(problem, which);
        h.format[mesh] = ht_problem_format(problem, tuning, which);
    }
    for (int side = 0; side < 2; side++) {
        h.link[side].neighbour = ht_grid_neighbour(problem->grid, side);
        int64_t room = longest(&h, side);
        bytes += (1 + HT_SLOTS) * room;
        if (room > *message) *message = room;
    }
    return bytes;
}

static void set_buffers(struct ht_halo *h, enum ht_mesh mesh,
                        struct ht_buffer *const *u) {
    int count = 0;
    for (int f = 0; f < h->problem.eq->nfields; f++)
        if (ht_problem_stores(&h->problem, mesh, f)) h->u[mesh][count++] = u[f];
}

enum ht_err ht_halo_create(const struct ht_problem *problem,
                           struct ht_device *device,
                           const struct ht_kernels *kernels,
                           struct ht_buffer *(*u)[HT_MAX_FIELDS],
                           struct ht_halo **out) {
    struct ht_halo *h = NULL;
    *out = NULL;
    TRY(HT_ALLOC(h, 1));
    h->problem = *problem;
    const struct ht_tuning tuning = {.variant = kernels->variant,
                                     .fp64 = kernels->spec[0].fp64,
                                     .sorted = kernels->spec[0].sorted,
                                     .block = kernels->spec[0].block};
    for (int mesh = 0; mesh < 2; mesh++) {
        enum ht_mesh which = mesh ? HT_DUAL : HT_PRIMARY;
        h->packer[mesh] = kernels->packer[mesh];
        h->format[mesh] = ht_problem_format(problem, &tuning, which);
        h->window[mesh] = ht_problem_window(problem, which);
        set_buffers(h, which, u[mesh]);
    }
    for (int side = 0; side < 2; side++)
        h->link[side].neighbour = ht_grid_neighbour(problem->grid, side);
    for (int side = 0; side < 2; side++) h->link[side].room = longest(h, side);
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
    *out = h->traffic;
    for (int side = 0; side < 2; side++)
        if (h->link[side].transport != NULL)
            out->transport[side] = h->link[side].transport->name;
    out->pack_s = ht_packer_total(h->packer[0]);
    out->pack_s += ht_packer_total(h->packer[1]);
}
