/* An exchange with both neighbours: begun, then ended by polls of both links.
 */
#include "exchange.h"

enum ht_err ht_exchanger_create(struct ht_exchanger *e,
                                struct ht_device *device,
                                const char *transport) {
    return ht_links_create(e->comm, device, transport, e->link);
}

void ht_exchanger_destroy(struct ht_exchanger *e) {
    ht_links_destroy(e->link);
}

static enum ht_err begin_side(struct ht_exchanger *e, int side,
                              ht_message_function *pack, void *context) {
    struct ht_link *link = &e->link[side];
    e->announced[side] = e->leaving[side] == 0;
    e->arrived[side] = e->coming[side] == 0;
    if (!e->arrived[side])
        TRY(ht_link_expect(link, e->slot[side][1], e->coming[side]));
    if (e->announced[side]) return HT_OK;
    TRY(pack(context, side, link->out));
    TRY(ht_link_send(link, e->slot[side][0], e->leaving[side]));
    e->messages++;
    e->bytes += e->leaving[side];
    return HT_OK;
}

enum ht_err ht_exchanger_begin(struct ht_exchanger *e, const int64_t leaving[2],
                               const int64_t coming[2],
                               ht_message_function *pack, void *context) {
    for (int side = 0; side < 2; side++) {
        e->leaving[side] = leaving[side];
        e->coming[side] = coming[side];
        TRY(begin_side(e, side, pack, context));
    }
    return HT_OK;
}

static void take_turn(int *slot) {
    *slot = (*slot + 1) % HT_SLOTS;
}

static enum ht_err go_on(struct ht_exchanger *e, int side,
                         ht_message_function *unpack, void *context) {
    struct ht_link *link = &e->link[side];
    if (!e->announced[side]) {
        TRY(ht_link_announce(link, e->slot[side][0], e->leaving[side],
                             &e->announced[side]));
        if (e->announced[side]) take_turn(&e->slot[side][0]);
    }
    if (e->arrived[side]) return HT_OK;
    const int slot = e->slot[side][1];
    TRY(ht_link_fetch(link, slot, e->coming[side], &e->arrived[side]));
    if (!e->arrived[side]) return HT_OK;
    TRY(unpack(context, side, link->in[slot]));
    take_turn(&e->slot[side][1]);
    return HT_OK;
}

enum ht_err ht_exchanger_end(struct ht_exchanger *e,
                             ht_message_function *unpack, void *context) {
    bool done = false;
    for (long looks = 0; !done; looks++) {
        done = true;
        for (int side = 0; side < 2; side++) {
            TRY(go_on(e, side, unpack, context));
            done = done && e->announced[side] && e->arrived[side];
        }
        if (!done && looks % 64 == 63) TRY(ht_comm_look_out(e->comm));
        if (!done) ht_comm_pause(looks);
    }
    return HT_OK;
}

enum ht_err ht_exchanger_finish(struct ht_exchanger *e) {
    for (int side = 0; side < 2; side++)
        for (int slot = 0; slot < HT_SLOTS; slot++)
            TRY(ht_message_wait(&e->link[side].sent[slot]));
    return HT_OK;
}

void ht_exchanger_traffic(const struct ht_exchanger *e,
                          struct ht_traffic *out) {
    out->messages += e->messages;
    out->bytes += e->bytes;
    for (int side = 0; side < 2; side++)
        if (e->link[side].transport != NULL)
            out->transport[side] = e->link[side].transport->name;
}
