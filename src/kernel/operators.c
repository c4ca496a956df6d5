/* Operators of one spec with different factors in one buffer: those of
 * absorbing layers.
 */
#include <stdlib.h>
#include <string.h>

#include "htwave/threads.h"
#include "variant.h"

struct work {
    const struct ht_variant *variant;
    const struct ht_spec *spec;
    const struct ht_shape *shape;
    const struct ht_factors *factors;
    int64_t values;  /* of an operator */
    double *doubles; /* in the spec's precision */
    float *singles;
};

/* The operator with the factors number `chunk`. */
static enum ht_err make(void *data, int64_t chunk, int worker) {
    const struct work *w = data;
    struct ht_spec spec = *w->spec;
    struct ht_operator op;
    (void)worker;
    memcpy(spec.scale, w->factors[chunk].scale, sizeof spec.scale);
    memcpy(spec.rise, w->factors[chunk].rise, sizeof spec.rise);
    TRY(ht_operator_make(w->variant, &spec, w->shape, &op));
    const int64_t first = chunk * w->values;
    for (int64_t i = 0; i < w->values; i++)
        if (spec.fp64)
            w->doubles[first + i] = op.value[i];
        else
            w->singles[first + i] = (float)op.value[i];
    ht_operator_free(&op);
    return HT_OK;
}

static enum ht_err fill(struct ht_device *device, struct work *w, int count,
                        struct ht_buffer **out) {
    const int64_t bytes = count * w->values * (w->spec->fp64 ? 8 : 4);
    const struct ht_span span = {.width = bytes, .pitch = bytes, .rows = 1};
    if (w->spec->fp64)
        TRY(HT_ALLOC(w->doubles, count * w->values));
    else
        TRY(HT_ALLOC(w->singles, count * w->values));
    TRY(ht_threads_run(count, make, w));
    TRY(ht_buffer_create(device, bytes, out));
    return ht_buffer_write(
        *out, span, w->spec->fp64 ? (void *)w->doubles : (void *)w->singles);
}

enum ht_err ht_operator_values(const struct ht_variant *variant,
                               const struct ht_spec *spec,
                               const struct ht_shape *shape, int64_t *values) {
    struct ht_spec none = *spec;
    struct ht_operator op;
    none.stages = 0;
    TRY(ht_operator_make(variant, &none, shape, &op));
    *values = op.count;
    ht_operator_free(&op);
    return HT_OK;
}

enum ht_err ht_operators_create(struct ht_device *device,
                                const struct ht_variant *variant,
                                const struct ht_spec *spec,
                                const struct ht_shape *shape, int count,
                                const struct ht_factors *factors,
                                int64_t *values, struct ht_buffer **out) {
    struct work w = {
        .variant = variant, .spec = spec, .shape = shape, .factors = factors};
    TRY(ht_operator_values(variant, spec, shape, values));
    w.values = *values;
    enum ht_err err = fill(device, &w, count, out);
    free(w.doubles);
    free(w.singles);
    if (err != HT_OK) {
        ht_buffer_destroy(*out);
        *out = NULL;
    }
    return err;
}
