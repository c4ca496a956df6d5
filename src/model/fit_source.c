/* The boxes on which a medium is constant, and the values on them: layers,
 * samples of files, and expressions at the centres of boxes of a quarter of a
 * spacing. Along axes on which nothing depends there is one box.
 */
#include <math.h>
#include <string.h>

#include "fit_private.h"

enum { BOXES_PER_SPACING = 4 }; /* of expressions */

/* The samples of any file; all have the same lattice. */
static const struct ht_samples *lattice(const struct ht_medium *medium) {
    for (int p = 0; p < medium->eq->system->nparameters; p++)
        if (medium->source->row[p].samples)
            return medium->source->row[p].samples;
    return NULL;
}

/* ---- boxes ---- */

static enum ht_err boxes_layers(const struct ht_medium_source *source,
                                struct ht_fit_axis *axis) {
    axis->boxes = source->layers;
    TRY(HT_ALLOC(axis->edge, axis->boxes + 1));
    for (int64_t i = 1; i < axis->boxes; i++)
        axis->edge[i] = source->interface[i - 1];
    return HT_OK;
}

/* Samples that reach into the box; the first and the last one have no end. */
static enum ht_err boxes_file(const struct ht_samples *samples, int k,
                              struct ht_fit_axis *axis) {
    const double tiny = 1e-9;
    double origin = samples->origin[k], spacing = samples->spacing[k];
    double last = (double)samples->shape[k] - 1;
    double low = floor((axis->lower - origin) / spacing + 0.5 + tiny);
    double high = ceil((axis->upper - origin) / spacing - 0.5 - tiny);
    low = fmin(fmax(low, 0), last);
    high = fmin(fmax(high, low), last);
    axis->base = (int64_t)low;
    axis->boxes = (int64_t)(high - low) + 1;
    TRY(HT_ALLOC(axis->edge, axis->boxes + 1));
    for (int64_t i = 1; i < axis->boxes; i++)
        axis->edge[i] = origin + ((double)(axis->base + i) - 0.5) * spacing;
    return HT_OK;
}

static enum ht_err boxes_equal(int64_t count, struct ht_fit_axis *axis) {
    double length = axis->upper - axis->lower;
    axis->boxes = count;
    TRY(HT_ALLOC(axis->edge, count + 1));
    for (int64_t i = 1; i < count; i++)
        axis->edge[i] = axis->lower + length * ((double)i / (double)count);
    return HT_OK;
}

enum ht_err ht_fit_boxes(const struct ht_medium *medium, int k,
                         struct ht_fit_axis *axis) {
    const struct ht_medium_source *source = medium->source;
    int64_t cells = medium->grid->cells[k];
    if (!source->depends[k])
        TRY(boxes_equal(1, axis));
    else if (source->type == HT_MEDIUM_LAYERS)
        TRY(boxes_layers(source, axis));
    else if (source->type == HT_MEDIUM_FILE)
        TRY(boxes_file(lattice(medium), k, axis));
    else
        TRY(boxes_equal(cells * BOXES_PER_SPACING, axis));
    axis->edge[0] = axis->lower;
    axis->edge[axis->boxes] = axis->upper;
    return HT_OK;
}

/* ---- values ---- */

int ht_fit_density(const struct ht_medium *medium) {
    for (int m = 0; m < medium->eq->nmaterials; m++)
        if (strcmp(medium->eq->system->material[m].name, "1/rho") == 0)
            return m;
    return -1;
}

/* K is made from the first parameter, 1/rho from that of its number. */
const char *ht_fit_key(const struct ht_medium *medium,
                       enum ht_fit_quantity quantity) {
    int row = quantity == HT_FIT_DENSITY ? ht_fit_density(medium) : 0;
    return medium->source->row[row].key;
}

enum ht_err ht_fit_value(const struct ht_medium *medium,
                         enum ht_fit_quantity quantity, const double *values,
                         const double x[3], double *out) {
    double material[HT_MAX_MATERIALS];
    char place[96];
    int m = quantity == HT_FIT_DENSITY ? ht_fit_density(medium) : 0;
    TRY(ht_medium_materials(medium, values, x, material));
    *out = 1 / material[m];
    if (*out > 0 && isfinite(*out)) return HT_OK;
    return ht_params_error(medium->source->params, ht_fit_key(medium, quantity),
                           "gives %s = %.6g at %s: its inverse must be "
                           "positive and finite",
                           medium->eq->system->material[m].name, material[m],
                           ht_medium_place(medium, x, place, sizeof place));
}

static double centre(const struct ht_fit_axis *axis, int64_t i) {
    return (axis->edge[i] + axis->edge[i + 1]) / 2;
}

enum ht_err ht_fit_source(const struct ht_medium *medium,
                          const struct ht_fit_axis axis[3],
                          enum ht_fit_quantity quantity, int64_t i3,
                          int64_t row, double *out) {
    const struct ht_samples *samples = lattice(medium);
    double values[HT_MAX_MATERIALS] = {0}, x[3];
    x[2] = centre(&axis[2], i3);
    for (int64_t i2 = 0; i2 < axis[1].boxes; i2++) {
        int64_t at = 0;
        if (samples)
            at = ((axis[2].base + i3) * samples->shape[1] + axis[1].base + i2) *
                     samples->shape[0] +
                 axis[0].base;
        x[1] = centre(&axis[1], i2);
        for (int64_t i1 = 0; i1 < axis[0].boxes; i1++, at++) {
            x[0] = centre(&axis[0], i1);
            for (int p = 0; p < medium->eq->system->nparameters; p++) {
                const struct ht_medium_row *from = &medium->source->row[p];
                if (from->samples)
                    values[p] = from->samples->value[at];
                else
                    TRY(ht_medium_row_value(medium, p, x, &values[p]));
            }
            TRY(ht_fit_value(medium, quantity, values, x, &out[i2 * row + i1]));
        }
    }
    return HT_OK;
}
