/* Sequences of launches (htwave/device.h): recording, samples of their times, and the sharing of
 * what a run took.
 */
#include <stdlib.h>
#include <string.h>

#include "device_private.h"

/* A launch with copies of its arguments. */
struct recorded {
    struct ht_kernel *kernel;
    struct ht_arg *args;
    char *values;
    double seconds; /* of its samples so far */
};

struct ht_sequence {
    struct ht_device *device;
    int fork, branch; /* of the next launch */
    int count;
    int64_t room[2]; /* of the two lists */
    struct recorded *recorded;
    struct ht_launch *launch; /* as the back end gets them */
    void *handle;             /* of the back end; NULL: not made yet */
    int64_t until_sample;     /* of times */
};

/* ---- recording ---- */

void ht_sequence_destroy(struct ht_sequence *s) {
    if (s == NULL) return;
    /* Entries of pending that name the sequence are of no use without it. */
    struct ht_device *device = s->device;
    for (int i = 0; i < device->npending; i++) {
        struct ht_pending *p = &device->pending[i];
        if (p->sequence == s) p->sequence = NULL;
        for (int n = 0; n < s->count; n++)
            if (p->sample == &s->recorded[n].seconds) p->sample = NULL;
    }
    if (s->handle != NULL) s->device->backend->sequence_destroy(s->handle);
    for (int i = 0; i < s->count; i++) {
        free(s->recorded[i].args);
        free(s->recorded[i].values);
    }
    free(s->recorded);
    free(s->launch);
    free(s);
}

/* Each value begins where any type may. */
static size_t room_of(const struct ht_arg *arg) {
    const size_t unit = _Alignof(max_align_t);
    return (arg->size + unit - 1) / unit * unit;
}

enum ht_err ht_sequence_add(struct ht_sequence *s, struct ht_kernel *kernel,
                            const struct ht_launch *launch) {
    struct recorded r = {.kernel = kernel};
    size_t bytes = 1, at = 0;
    TRY(HT_GROW(s->recorded, s->count + 1, s->room[0]));
    TRY(HT_GROW(s->launch, s->count + 1, s->room[1]));
    for (int i = 0; i < launch->nargs; i++) bytes += room_of(&launch->args[i]);
    TRY(HT_ALLOC(r.args, launch->nargs + 1));
    enum ht_err err = HT_ALLOC(r.values, bytes);
    if (err != HT_OK) {
        free(r.args);
        return err;
    }
    for (int i = 0; i < launch->nargs; i++) {
        r.args[i] = launch->args[i];
        if (r.args[i].size == 0) continue;
        memcpy(r.values + at, launch->args[i].value, r.args[i].size);
        r.args[i].value = r.values + at;
        at += room_of(&r.args[i]);
    }
    s->recorded[s->count] = r;
    s->launch[s->count] = *launch;
    s->launch[s->count].fork = s->fork;
    s->launch[s->count].branch = s->branch;
    s->launch[s->count++].args = r.args;
    return HT_OK;
}

void ht_sequence_branch(struct ht_device *device, int branch) {
    struct ht_sequence *s = device->recording;
    if (s == NULL) return;
    s->fork += branch == 0 && s->branch != 0;
    s->branch = branch;
}

enum ht_err ht_sequence_begin(struct ht_device *device) {
    struct ht_sequence *s = NULL;
    REQUIRE(device->recording == NULL, HT_ERR_INTERNAL, "a sequence is being recorded");
    TRY(HT_ALLOC(s, 1));
    s->device = device;
    device->recording = s;
    return HT_OK;
}

enum ht_err ht_sequence_end(struct ht_device *device, enum ht_err err, struct ht_sequence **out) {
    struct ht_sequence *s = device->recording;
    *out = NULL;
    device->recording = NULL;
    if (err == HT_OK)
        err = device->backend->sequence_create(device->handle, s->count, s->launch, &s->handle);
    return HT_MADE(err, s, ht_sequence_destroy, out);
}

/* ---- running ---- */

/* Each launch with its own timing. */
static enum ht_err sample(struct ht_sequence *s) {
    struct ht_device *device = s->device;
    for (int i = 0; i < s->count; i++) {
        void *timing;
        TRY(ht_device_make_room(device));
        TRY(device->backend->launch(device->handle, &s->launch[i], &timing));
        device->pending[device->npending++] =
            (struct ht_pending){.timing = timing,
                                .timer = &s->recorded[i].kernel->timer,
                                .sample = &s->recorded[i].seconds};
    }
    s->until_sample = HT_SAMPLE_EVERY;
    return HT_OK;
}

enum ht_err ht_sequence_run(struct ht_sequence *s, int64_t times) {
    struct ht_device *device = s->device;
    void *timing;
    if (times > 0 && s->until_sample <= 0) {
        TRY(sample(s));
        times--;
    }
    if (times <= 0) return HT_OK;
    s->until_sample -= times;
    TRY(ht_device_make_room(device));
    TRY(device->backend->sequence_run(s->handle, times, &timing));
    device->pending[device->npending++] = (struct ht_pending){.timing = timing, .sequence = s};
    return HT_OK;
}

void ht_sequence_charge(struct ht_sequence *s, double seconds) {
    double all = 0;
    for (int i = 0; i < s->count; i++) all += s->recorded[i].seconds;
    for (int i = 0; i < s->count; i++)
        ht_timer_charge(&s->recorded[i].kernel->timer,
                        all > 0 ? seconds * s->recorded[i].seconds / all : seconds / s->count);
}
