/* The messages of exchanges between slabs. The task SEND begins an exchange, and the task RECEIVE
 * of a later pass ends it. In between the device computes the interior. The host waits for the
 * messages meanwhile and then enqueues their unpacking.
 *
 * No transport needs an acknowledgement: slabs exchange in turn, and a rank sends into a slot again
 * only after it has received a message that the neighbour sent after emptying the slot
 * (docs/developers/scaling.md, section 8).
 *
 * A message is sent as a whole. In pieces, some could travel while others are copied. But there is
 * one transfer queue, in which all outgoing pieces would stand before the incoming ones, so that at
 * most a third of a time would be gained that is mostly hidden by the interior. */
#include "halo.h"

/* Best first: from device to device, or through memory of both hosts. */
enum { PEER, STAGED, TRANSPORTS };
static const char *const transports[TRANSPORTS] = {"peer", "staged"};

const char *ht_transport_name(int i) {
    return i >= 0 && i < TRANSPORTS ? transports[i] : NULL;
}

/* ---- links ---- */

int64_t ht_links_bytes(const struct ht_link link[2], int64_t *largest) {
    *largest = ht_most(link[0].room, link[1].room);
    return HT_LINK_BUFFERS * (link[0].room + link[1].room);
}

static HT_ERR create_buffers(struct ht_link *link) {
    if (link->neighbour < 0) return HT_OK;
    for (int slot = 0; slot < HT_SLOTS; slot++)
        TRY(ht_buffer_create(link->device, link->room, &link->in[slot]));
    return ht_buffer_create(link->device, link->room, &link->out);
}

/* Of messages that leave at a side: both neighbours may be the same rank. */
enum { PLANES, CLOSED, KINDS };
static int tag_of(const struct ht_link *link, int kind, int side) {
    return 2 * (KINDS * link->channel + kind) + side;
}

/* Sends an empty message and receives one. */
static HT_ERR notify_closed(const struct ht_link *link, struct ht_message *notice[2]) {
    const int out = tag_of(link, CLOSED, link->side), in = tag_of(link, CLOSED, 1 - link->side);
    TRY(ht_message_send(link->comm, link->neighbour, out, NULL, 0, &notice[0]));
    return ht_message_receive(link->comm, link->neighbour, in, NULL, 0, &notice[1]);
}

void ht_links_destroy(struct ht_link link[2]) {
    for (int side = 0; side < 2; side++) {
        for (int slot = 0; slot < HT_SLOTS; slot++) ht_message_abandon(link[side].sent[slot]);
        ht_message_abandon(link[side].coming);
    }
    /* A buffer must exist until the neighbour has closed it: neighbours notify each other when they
     * have closed theirs, also when a run fails. After some seconds without a notice (on busy cores
     * a neighbour may not run for one) the rank continues. */
    const double patience = 5;
    double end = ht_clock() + patience;
    struct ht_message *notice[2][2] = {{NULL, NULL}, {NULL, NULL}};
    HT_EACH_AT(side, struct ht_link, l, link, 2) {
        for (int slot = 0; slot < HT_SLOTS; slot++)
            if (l->here[slot] == NULL) ht_buffer_destroy(l->there[slot]);
        if (l->transport == transports[PEER] && notify_closed(l, notice[side]) != HT_OK) end = 0;
    }
    for (int i = 0; i < 4; i++) ht_message_end(notice[i / 2][i % 2], end);
    HT_EACH(struct ht_link, l, link, 2) {
        for (int slot = 0; slot < HT_SLOTS; slot++) {
            if (l->here[slot] != NULL) ht_buffer_destroy(l->there[slot]);
            ht_buffer_destroy(l->here[slot]);
            ht_buffer_destroy(l->in[slot]);
        }
        ht_buffer_destroy(l->out);
        ht_event_end(&l->packed);
        ht_event_end(&l->shipped);
        ht_event_end(&l->fetched);
    }
}

/* What a rank can offer on its links. */
struct offer {
    bool named[2];  /* name holds peers' names */
    bool opened[2]; /* and the neighbour's names could be opened */
    unsigned char name[2][HT_SLOTS][HT_PEER_NAME];
};

static bool is_wanted(const char *wish, int transport) {
    return strcmp(wish, "auto") == 0 || strcmp(wish, transports[transport]) == 0;
}

/* Names of the buffers that the neighbour may copy into. Where that fails messages are staged. */
static void offer_names(const struct ht_link link[2], struct offer *own) {
    HT_EACH_AT(side, const struct ht_link, l, link, 2) {
        own->named[side] = l->neighbour >= 0 && ht_comm_same_machine(l->comm, l->neighbour) &&
                           ht_device_info(l->device)->no_peer == NULL;
        for (int slot = 0; slot < HT_SLOTS && own->named[side]; slot++)
            own->named[side] = ht_peer_name(l->in[slot], own->name[side][slot]) == HT_OK;
    }
}

static void open_peers(struct ht_link link[2], const struct offer *all, struct offer *own) {
    HT_EACH_AT(side, struct ht_link, l, link, 2) {
        own->opened[side] = own->named[side] && all[l->neighbour].named[1 - side];
        for (int slot = 0; slot < HT_SLOTS && own->opened[side]; slot++)
            own->opened[side] = ht_peer_open(l->device, all[l->neighbour].name[1 - side][slot],
                                             l->room, &l->there[slot]) == HT_OK;
    }
}

static HT_ERR refuse(const struct ht_link *link, const char *wish) {
    const struct ht_device_info *info = ht_device_info(link->device);
    const char *why = "the ranks are on different machines";
    if (ht_comm_same_machine(link->comm, link->neighbour))
        why =
            info->no_peer != NULL ? info->no_peer : "the devices cannot access each other's memory";
    FAIL(HT_ERR_INPUT,
         "parallel.transport = \"%s\": not possible between ranks %d and %d: %s; \"auto\" chooses "
         "a possible one",
         wish, ht_comm_rank(link->comm), link->neighbour, why);
}

static HT_ERR agree_on_transports(struct ht_link link[2], const char *wish) {
    struct ht_comm *comm = link[0].comm;
    struct offer own = {0};
    enum ht_err err = HT_OK;
    HT_ARRAY(struct offer, all, ht_comm_size(comm));
    if (is_wanted(wish, PEER)) offer_names(link, &own);
    TRY(ht_comm_gather(comm, &own, sizeof own, all));
    open_peers(link, all, &own);
    TRY(ht_comm_gather(comm, &own, sizeof own, all));
    HT_EACH_AT(side, struct ht_link, l, link, 2) {
        if (l->neighbour < 0) continue;
        /* The neighbour computes the same result. */
        const bool peer = own.opened[side] && all[l->neighbour].opened[1 - side];
        if (is_wanted(wish, STAGED)) l->transport = transports[STAGED];
        if (peer && is_wanted(wish, PEER)) l->transport = transports[PEER];
        if (l->transport == NULL) err = refuse(l, wish);
    }
    return err;
}

static HT_ERR use_transports(struct ht_link link[2]) {
    HT_EACH_BY(n, struct ht_link, l, &link[n / HT_SLOTS], 2 * HT_SLOTS) {
        const int slot = n % HT_SLOTS;
        if (l->transport == transports[PEER] || l->here[slot] != NULL) continue;
        /* before any rank frees the buffer that it refers to */
        ht_buffer_destroy(l->there[slot]);
        l->there[slot] = NULL;
        if (l->transport == NULL) continue;
        TRY(ht_pinned_create(l->device, l->room, &l->there[slot]));
        TRY(ht_pinned_create(l->device, l->room, &l->here[slot]));
    }
    return HT_OK;
}

struct ht_halo_part *ht_halo_add(struct ht_halo *h, int array, const struct ht_window *window) {
    struct ht_halo_part *part = &h->part[h->parts++];
    *part = (struct ht_halo_part){.array = array, .window = *window};
    h->own[array][0] = window->own.begin[2];
    h->own[array][1] = window->own.end[2];
    return part;
}

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
    if (h->link[side].neighbour < 0) return 0;
    for (int i = 0; i < h->parts; i++)
        if (find_box(h, planes, &h->part[i], side, leaves, &box))
            bytes += ht_packer_bytes(&h->part[i].format, ht_box_nodes(&box));
    return bytes;
}

/* Packs the message to a side, or unpacks the one from it, part by part. */
static HT_ERR move(const struct ht_halo *h, int side, bool leaves, struct ht_buffer *message) {
    int64_t at = 0;
    HT_EACH(const struct ht_halo_part, part, h->part, h->parts) {
        struct ht_pack_range range = {.window = &part->window, .at = at};
        if (!find_box(h, &h->planes, part, side, leaves, &range.box)) continue;
        TRY((leaves ? ht_packer_pack : ht_packer_unpack)(part->packer, part->u, &range, message));
        at += ht_packer_bytes(&part->format, ht_box_nodes(&range.box));
    }
    return HT_OK;
}

/* ---- messages ---- */

/* Begins an exchange of so many bytes. */
static HT_ERR link_expect(struct ht_link *link, int64_t leaving, int64_t entering) {
    link->leaving = leaving;
    link->entering = entering;
    link->announced = leaving == 0;
    link->arrived = entering == 0;
    if (link->arrived) return HT_OK;
    const struct ht_buffer *here = link->here[link->slot[1]];
    return ht_message_receive(link->comm, link->neighbour, tag_of(link, PLANES, 1 - link->side),
                              here ? here->host : NULL, here ? entering : 0, &link->coming);
}

static HT_ERR link_send(struct ht_link *link) {
    TRY(ht_message_wait(&link->sent[link->slot[0]]));
    TRY(ht_event_record(link->device, &link->packed, HT_QUEUE_WORK));
    TRY(ht_event_await(&link->packed, HT_QUEUE_TRANSFER));
    TRY(ht_transfer(link->out, 0, link->there[link->slot[0]], 0, link->leaving));
    return ht_event_record(link->device, &link->shipped, HT_QUEUE_TRANSFER);
}

static HT_ERR link_announce(struct ht_link *link) {
    const int slot = link->slot[0];
    const double *data = link->there[slot]->host; /* NULL: it is where it goes */
    TRY(ht_event_done(&link->shipped, &link->announced));
    if (!link->announced) return HT_OK;
    link->slot[0] = (slot + 1) % HT_SLOTS;
    return ht_message_send(link->comm, link->neighbour, tag_of(link, PLANES, link->side), data,
                           data != NULL ? link->leaving : 0, &link->sent[slot]);
}

/* Work enqueued after it has arrived finds the message in in[slot]. */
static HT_ERR link_fetch(struct ht_link *link) {
    const int slot = link->slot[1];
    TRY(ht_message_done(&link->coming, &link->arrived));
    if (!link->arrived || link->here[slot] == NULL) return HT_OK;
    TRY(ht_transfer(link->here[slot], 0, link->in[slot], 0, link->entering));
    TRY(ht_event_record(link->device, &link->fetched, HT_QUEUE_TRANSFER));
    return ht_event_await(&link->fetched, HT_QUEUE_WORK);
}

/* As far as possible without waiting; unpacks what has arrived, h NULL: it stays. */
static HT_ERR progress(struct ht_link *link, const struct ht_halo *h) {
    const int slot = link->slot[1];
    if (!link->announced) TRY(link_announce(link));
    if (link->arrived) return HT_OK;
    TRY(link_fetch(link));
    if (!link->arrived) return HT_OK;
    link->slot[1] = (slot + 1) % HT_SLOTS;
    return h != NULL ? move(h, link->side, false, link->in[slot]) : HT_OK;
}

/* Ends the exchange that both links have begun. */
static HT_ERR end_exchange(struct ht_link link[2], const struct ht_halo *h) {
    bool done = false;
    for (long looks = 0; !done; looks++) {
        done = true;
        for (int side = 0; side < 2; side++) {
            TRY(progress(&link[side], h));
            done = done && link[side].announced && link[side].arrived;
        }
        if (!done && looks % 64 == 63) TRY(ht_comm_look_out(link[0].comm));
        if (!done) ht_comm_pause(looks);
    }
    return HT_OK;
}

static HT_ERR wait_sent(struct ht_link link[2]) {
    for (int n = 0; n < 2 * HT_SLOTS; n++)
        TRY(ht_message_wait(&link[n / HT_SLOTS].sent[n % HT_SLOTS]));
    return HT_OK;
}

/* ---- whether messages arrive unchanged ---- */

/* On some hosts devices report access to each other's memory and copies between them end without an
 * error, but the data arrives elsewhere or nowhere (for example with an IOMMU enabled); a run would
 * continue with wrong planes. So each link first transfers a pattern through both of its slots. */

enum { PATTERN_BYTES = 1 << 16 };

static int64_t pattern_bytes(const struct ht_link *link) {
    return link->transport == NULL ? 0 : ht_least(link->room, PATTERN_BYTES) / 8 * 8;
}

/* A different pattern for every rank, direction and slot; salt: different at each try, since
 * buffers may hold an older pattern. */
static void set_pattern(int rank, int side, int slot, uint64_t salt, int64_t bytes, uint64_t *out) {
    const uint64_t seed = ((uint64_t)rank * 2 + (uint64_t)side) * HT_SLOTS;
    for (int64_t i = 0; i < bytes / 8; i++)
        out[i] = salt ^ ht_rng_bits(seed + (uint64_t)slot, (uint64_t)i);
}

static HT_ERR begin(struct ht_link *link, int slot, uint64_t salt) {
    const int64_t bytes = pattern_bytes(link);
    uint64_t pattern[PATTERN_BYTES / 8];
    TRY(link_expect(link, bytes, bytes));
    if (bytes == 0) return HT_OK;
    set_pattern(ht_comm_rank(link->comm), link->side, slot, salt, bytes, pattern);
    TRY(ht_buffer_write(link->out, (struct ht_span){.width = bytes, .rows = 1}, pattern));
    return link_send(link);
}

static HT_ERR compare(const struct ht_link *link, int slot, uint64_t salt, bool *sound) {
    const int64_t bytes = link->entering;
    if (bytes == 0) return HT_OK;
    uint64_t pattern[PATTERN_BYTES / 8], came[PATTERN_BYTES / 8];
    TRY(ht_buffer_read(link->in[slot], (struct ht_span){.width = bytes, .rows = 1}, came));
    set_pattern(link->neighbour, 1 - link->side, slot, salt, bytes, pattern);
    if (memcmp(came, pattern, (size_t)bytes) != 0) *sound = false;
    return HT_OK;
}

static HT_ERR try_slots(struct ht_link link[2], uint64_t salt, bool sound[2]) {
    for (int slot = 0; slot < HT_SLOTS; slot++) {
        for (int side = 0; side < 2; side++) TRY(begin(&link[side], slot, salt));
        TRY(end_exchange(link, NULL));
        for (int side = 0; side < 2; side++) TRY(compare(&link[side], slot, salt, &sound[side]));
    }
    return wait_sent(link);
}

HT_ERR ht_links_try(struct ht_link link[2], bool sound[2]) {
    const double now = ht_clock();
    uint64_t salt = ht_hash(HT_HASH_SEED, &now, sizeof now); /* rank 0's */
    sound[0] = sound[1] = true;
    TRY(ht_comm_agree(link[0].comm, ht_comm_broadcast(link[0].comm, &salt, sizeof salt)));
    return ht_comm_agree(link[0].comm, try_slots(link, salt, sound));
}

/* unsound[t]: transport t failed on some link of the run, not always on one of this rank's. */
static HT_ERR find_unsound(struct ht_link link[2], double unsound[TRANSPORTS]) {
    bool sound[2];
    memset(unsound, 0, TRANSPORTS * sizeof *unsound);
    TRY(ht_links_try(link, sound));
    for (int side = 0; side < 2; side++)
        if (!sound[side]) unsound[link[side].transport == transports[STAGED]] = 1;
    return ht_comm_max(link[0].comm, TRANSPORTS, unsound);
}

/* The ranks agree on failures before they wait for each other. */
HT_ERR ht_links_create(struct ht_comm *comm, struct ht_device *device, const char *wish,
                       struct ht_link link[2]) {
    enum ht_err err = HT_OK;
    if (wish == NULL) wish = "auto";
    for (int side = 0; side < 2 && err == HT_OK; side++) {
        link[side].comm = comm;
        link[side].device = device;
        link[side].side = side;
        err = create_buffers(&link[side]);
    }
    TRY(ht_comm_agree(comm, err));
    TRY(ht_comm_agree(comm, agree_on_transports(link, wish)));
    double unsound[TRANSPORTS];
    for (;;) {
        TRY(ht_comm_agree(comm, use_transports(link)));
        TRY(ht_comm_agree(comm, find_unsound(link, unsound)));
        int bad = TRANSPORTS - 1;
        while (bad >= 0 && unsound[bad] == 0) bad--;
        if (bad < 0) return HT_OK;
        /* The next transport for all links that use one which loses or changes messages. */
        const char *name = transports[bad];
        REQUIRE(bad + 1 < TRANSPORTS && strcmp(wish, "auto") == 0, HT_ERR_DEVICE,
                "messages by \"%s\" do not arrive unchanged (parallel.transport = \"%s\")", name,
                wish);
        if (ht_comm_rank(comm) == 0)
            ht_note("messages by \"%s\" do not arrive unchanged; \"%s\" is used instead", name,
                    transports[bad + 1]);
        for (int side = 0; side < 2; side++)
            if (link[side].transport == name) link[side].transport = transports[bad + 1];
    }
}

/* ---- exchange ---- */

HT_ERR ht_halo_send(struct ht_halo *h, const struct ht_planes *planes) {
    h->planes = *planes;
    HT_EACH_AT(side, struct ht_link, link, h->link, 2) {
        TRY(link_expect(link, message_bytes(h, planes, side, true),
                        message_bytes(h, planes, side, false)));
        if (link->announced) continue;
        TRY(move(h, side, true, link->out));
        TRY(link_send(link));
        h->messages++;
        h->bytes += link->leaving;
    }
    return HT_OK;
}

HT_ERR ht_halo_receive(struct ht_halo *h) {
    return end_exchange(h->link, h);
}

HT_ERR ht_halo_finish(struct ht_halo *h) {
    return wait_sent(h->link);
}

void ht_halo_plan(const struct ht_problem *problem, const struct ht_passes *passes,
                  struct ht_halo *h) {
    h->comm = problem->grid->slab.comm;
    HT_EACH_AT(side, struct ht_link, link, h->link, 2) {
        link->neighbour = ht_grid_neighbour(problem->grid, side);
        for (int i = 0; i < passes->count; i++) {
            const struct ht_planes planes = ht_exchange_planes(passes, ht_halo_depth(problem), i);
            if (passes->pass[i].sources == 0) continue;
            link->room = ht_most(link->room, message_bytes(h, &planes, side, true));
            link->room = ht_most(link->room, message_bytes(h, &planes, side, false));
        }
    }
}

void ht_halo_traffic(const struct ht_halo *h, struct ht_traffic *out) {
    out->messages += h->messages;
    out->bytes += h->bytes;
    for (int side = 0; side < 2; side++)
        if (h->link[side].transport != NULL) out->transport[side] = h->link[side].transport;
    for (int i = 0; i < h->parts; i++) {
        bool counted = false;
        for (int j = 0; j < i; j++) counted = counted || h->part[j].packer == h->part[i].packer;
        if (!counted) out->pack_s += ht_tool_total(h->part[i].packer, HT_PART_INTERIOR);
    }
}

/* One message to a neighbour per exchange with planes for it. An exchange serves `depth` passes of
 * a step's; after as many exchanges as a step has passes they begin anew. */
struct ht_sent ht_halo_sent(const struct ht_problem *p, const struct ht_halo *h) {
    const int depth = ht_halo_depth(p);
    struct ht_sent sum = {0};
    struct ht_passes passes;
    ht_schedule_passes(p, &passes);
    for (int i = 0; i < passes.count; i++) {
        const struct ht_planes planes =
            ht_exchange_planes(&passes, depth, i * depth % passes.count);
        double bytes[2] = {0};
        HT_EACH_BY(n, const struct ht_halo_part, part, &h->part[n / 2], 2 * h->parts) {
            const int64_t *own = h->own[part->array];
            struct ht_box box = part->window.held;
            /* Layers along x3 are taken not to reach the cut. */
            if (box.end[2] - box.begin[2] < own[1] - own[0]) continue;
            box.end[2] = box.begin[2] + planes.of[part->array][n % 2];
            if (ht_box_nodes(&box) > 0)
                bytes[n % 2] += (double)ht_packer_bytes(&part->format, ht_box_nodes(&box));
        }
        sum.messages += (bytes[0] > 0) + (bytes[1] > 0);
        sum.bytes += bytes[0] + bytes[1];
        sum.longest += fmax(bytes[0], bytes[1]);
    }
    return (struct ht_sent){sum.messages / depth, sum.bytes / depth, sum.longest / passes.count};
}
