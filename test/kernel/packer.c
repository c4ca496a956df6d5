/* Planes into a message and back into another state: every value that travels arrives as its format
 * rounds it, every other value stays as it was. Halves carry 11 bits: a value errs by half a unit
 * in the last place, 2^-11 of its size, or of 2^-28 of the largest of its field and coefficient
 * where that is more: that one is scaled to 2^14 or more, and the smallest normal half is 2^-14. */
#include "open_device.h"
#include "test.h"

#include "htwave/tool.h"

enum { FIELDS = 3, PLACES = 8, TOTAL = 50, FIRST = 13, NODES = 21 };

struct scene {
    struct ht_device *device;
    struct ht_pack_format format;
    struct ht_tool *packer;
    struct ht_buffer *from[FIELDS], *to[FIELDS], *message;
    double *before, *after; /* [field][place][node] of the layout */
};

static int64_t values(void) {
    return (int64_t)PLACES * TOTAL;
}

/* Sizes of coefficients from 1e-12 to 1e9, as with units of stress. */
static double value_of(int field, int place, int node) {
    int index = (field * PLACES + place) * TOTAL + node;
    double u = ht_rng_uniform(11, (uint64_t)index);
    return place == 5 ? 0 : u * pow(10, 9 - 3 * place);
}

static int64_t at(const struct scene *s, int place, int node) {
    int block = s->format.block;
    return ((int64_t)(place / block) * TOTAL + node) * block + place % block;
}

static enum ht_err prepare(struct scene *s) {
    const int64_t offset = 48;
    const bool fp64 = s->format.fp64;
    const struct ht_window window = {.count = {TOTAL, 1, 1}};
    struct ht_pack_range range = {.window = &window,
                                  .box = {.begin = {FIRST, 0, 0}, .end = {FIRST + NODES, 1, 1}},
                                  .at = offset};
    TRY(ht_packer_create(s->device, &s->format, &s->packer));
    TRY(ht_buffer_create(s->device, offset + ht_packer_bytes(&s->format, NODES), &s->message));
    TRY(HT_ALLOC(s->before, FIELDS * values()));
    TRY(HT_ALLOC(s->after, FIELDS * values()));
    for (int f = 0; f < FIELDS; f++) {
        double *data = s->before + f * values();
        for (int p = 0; p < PLACES; p++)
            for (int n = 0; n < TOTAL; n++)
                data[at(s, p, n)] = fp64 ? value_of(f, p, n) : (double)(float)value_of(f, p, n);
        for (int64_t n = 0; n < values(); n++) s->after[n] = -1;
        TRY(ht_buffer_create_reals(s->device, fp64, values(), data, &s->from[f]));
        TRY(ht_buffer_create_reals(s->device, fp64, values(), s->after, &s->to[f]));
    }
    TRY(ht_packer_pack(s->packer, s->from, &range, s->message));
    /* To a different box of the other state. */
    range.box.begin[0] += 4;
    range.box.end[0] += 4;
    TRY(ht_packer_unpack(s->packer, s->to, &range, s->message));
    TRY(ht_device_finish(s->device));
    for (int f = 0; f < FIELDS; f++)
        TRY(ht_buffer_read_reals(s->to[f], fp64, 0, values(), s->after + f * values()));
    return HT_OK;
}

/* Largest error of the values that travelled, over what their format allows, and how many others
 * changed. */
static double judge(const struct scene *s, int *changed) {
    double worst = 0;
    for (int f = 0; f < FIELDS; f++)
        for (int p = 0; p < PLACES; p++) {
            const double *sent = s->before + f * values();
            const double *got = s->after + f * values();
            double largest = 0;
            for (int n = FIRST; n < FIRST + NODES; n++)
                largest = fmax(largest, fabs(sent[at(s, p, n)]));
            for (int n = 0; n < TOTAL; n++) {
                double x = got[at(s, p, n)], allowed = 0;
                if (n < FIRST + 4 || n >= FIRST + 4 + NODES) {
                    *changed += x != -1;
                    continue;
                }
                double wanted = sent[at(s, p, n - 4)];
                if (s->format.precision == HT_HALO_SINGLE) wanted = (double)(float)wanted;
                if (s->format.precision == HT_HALO_HALF)
                    allowed = ldexp(fmax(fabs(wanted), ldexp(largest, -28)), -11);
                double error = fabs(x - wanted);
                worst = fmax(worst, error > allowed ? 2 + error : 0);
                if (allowed > 0) worst = fmax(worst, error / allowed);
            }
        }
    return worst;
}

static void run(struct ht_device *device, bool fp64, int block, enum ht_halo_precision precision) {
    static const char *const name[] = {"same", "single", "half"};
    struct scene s = {.device = device,
                      .format = {.fp64 = fp64,
                                 .block = block,
                                 .fields = FIELDS,
                                 .padded_coefs = PLACES,
                                 .precision = precision}};
    int changed = 0;
    enum ht_err err = prepare(&s);
    double worst = err == HT_OK ? judge(&s, &changed) : INFINITY;
    TEST_BELOW(worst, precision == HT_HALO_HALF ? 1 : 0,
               "%s, block %d, halo %s: error over that of the format%s%s",
               fp64 ? "double" : "single", block, name[precision], err == HT_OK ? "" : ": ",
               test_said(err));
    TEST_CHECK(changed == 0, "%d other values changed", changed);
    ht_tool_destroy(s.packer);
    ht_buffer_destroy(s.message);
    for (int f = 0; f < FIELDS; f++) {
        ht_buffer_destroy(s.from[f]);
        ht_buffer_destroy(s.to[f]);
    }
    free(s.before);
    free(s.after);
}

static void judge_all(struct ht_device *device) {
    for (int fp64 = 0; fp64 < (ht_device_info(device)->fp64 ? 2 : 1); fp64++)
        for (int blocked = 0; blocked < 2; blocked++)
            for (int p = 0; p < 3; p++)
                run(device, fp64 != 0, !blocked ? 1 : fp64 ? 2 : 4, (enum ht_halo_precision)p);
}

int main(void) {
    return test_on_device("packer", judge_all);
}
