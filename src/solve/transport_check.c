/* Checks that messages arrive unchanged. On some hosts devices report access to
 * each other's memory and copies between them end without an error, but the
 * data arrives elsewhere or nowhere (for example with an IOMMU enabled); a run
 * would continue with wrong planes. So each link transfers a pattern through
 * both of its slots before it is used.
 */
#include <stdlib.h>
#include <string.h>

#include "transport.h"

enum { PATTERN_BYTES = 1 << 16 };

struct probe {
    struct ht_link *link;
    int64_t values;
    uint64_t salt; /* different at each try, since buffers may hold an older
                      pattern */
    uint64_t *pattern, *came;
    bool announced, arrived;
};

/* A different pattern for every rank, direction and slot. */
static void set_pattern(struct probe *p, int rank, int side, int slot) {
    const uint64_t seed = ((uint64_t)rank * 2 + (uint64_t)side) * HT_SLOTS;
    for (int64_t i = 0; i < p->values; i++)
        p->pattern[i] =
            p->salt ^ ht_rng_bits(seed + (uint64_t)slot, (uint64_t)i);
}

static struct ht_span span_of(const struct probe *p) {
    return (struct ht_span){.width = 8 * p->values, .rows = 1};
}

static enum ht_err begin(struct probe *p, int slot) {
    struct ht_link *link = p->link;
    const int64_t bytes = 8 * p->values;
    p->announced = p->arrived = false;
    TRY(ht_link_expect(link, slot, bytes));
    set_pattern(p, ht_comm_rank(link->comm), link->side, slot);
    TRY(ht_buffer_write(link->out, span_of(p), p->pattern));
    return ht_link_send(link, slot, bytes);
}

static enum ht_err go_on(struct probe *p, int slot) {
    const int64_t bytes = 8 * p->values;
    if (!p->announced)
        TRY(ht_link_announce(p->link, slot, bytes, &p->announced));
    if (!p->arrived) TRY(ht_link_fetch(p->link, slot, bytes, &p->arrived));
    return HT_OK;
}

static enum ht_err exchange(struct probe probe[2], int slot) {
    bool done = false;
    for (int side = 0; side < 2; side++)
        if (probe[side].values > 0) TRY(begin(&probe[side], slot));
    for (long looks = 0; !done; looks++) {
        done = true;
        for (int side = 0; side < 2; side++) {
            struct probe *p = &probe[side];
            if (p->values == 0) continue;
            TRY(go_on(p, slot));
            done = done && p->announced && p->arrived;
        }
        if (!done) ht_comm_pause(looks);
    }
    return HT_OK;
}

static enum ht_err compare(struct probe *p, int slot, bool *sound) {
    const struct ht_link *link = p->link;
    TRY(ht_buffer_read(link->in[slot], span_of(p), p->came));
    set_pattern(p, link->neighbour, 1 - link->side, slot);
    if (memcmp(p->came, p->pattern, (size_t)p->values * 8) != 0) *sound = false;
    return HT_OK;
}

static enum ht_err try_slots(struct probe probe[2], bool sound[2]) {
    for (int slot = 0; slot < HT_SLOTS; slot++) {
        TRY(exchange(probe, slot));
        for (int side = 0; side < 2; side++)
            if (probe[side].values > 0)
                TRY(compare(&probe[side], slot, &sound[side]));
    }
    for (int side = 0; side < 2; side++)
        for (int slot = 0; slot < HT_SLOTS; slot++)
            TRY(ht_message_wait(&probe[side].link->sent[slot]));
    return HT_OK;
}

static enum ht_err make_probe(struct ht_link *link, uint64_t salt,
                              struct probe *p) {
    p->link = link;
    p->salt = salt;
    if (link->transport == NULL) return HT_OK;
    int64_t bytes = link->room < PATTERN_BYTES ? link->room : PATTERN_BYTES;
    TRY(HT_ALLOC(p->pattern, bytes / 8));
    TRY(HT_ALLOC(p->came, bytes / 8));
    p->values = bytes / 8;
    return HT_OK;
}

enum ht_err ht_links_try(struct ht_link link[2], bool sound[2]) {
    struct probe probe[2] = {{.link = NULL}, {.link = NULL}};
    const double now = ht_clock();
    uint64_t salt = ht_hash(HT_HASH_SEED, &now, sizeof now); /* rank 0's */
    enum ht_err err = ht_comm_broadcast(link[0].comm, &salt, sizeof salt);
    for (int side = 0; side < 2; side++) {
        sound[side] = true;
        if (err == HT_OK) err = make_probe(&link[side], salt, &probe[side]);
    }
    err = ht_comm_agree(link[0].comm, err);
    if (err == HT_OK)
        err = ht_comm_agree(link[0].comm, try_slots(probe, sound));
    for (int side = 0; side < 2; side++) {
        free(probe[side].pattern);
        free(probe[side].came);
    }
    return err;
}
