/* The boxes on which a medium is constant, and the values on them: layers, samples of files, and
 * expressions at the centres of boxes of a quarter of a spacing. Along axes on which nothing
 * depends there is one box.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit_private.h"

enum { BOXES_PER_SPACING = 4 }; /* of expressions */

/* The samples of any file; all have the same lattice. */
static const struct ht_samples *lattice(const struct ht_medium *medium) {
    for (int p = 0; p < medium->eq->system->nparameters; p++)
        if (medium->source->row[p].samples) return medium->source->row[p].samples;
    return NULL;
}

/* ---- boxes ---- */

static enum ht_err boxes_layers(const struct ht_medium_source *source, struct ht_fit_axis *axis) {
    axis->boxes = source->layers;
    TRY(HT_ALLOC(axis->edge, axis->boxes + 1));
    for (int64_t i = 1; i < axis->boxes; i++) axis->edge[i] = source->interface[i - 1];
    return HT_OK;
}

/* Samples that reach into the box; the first and the last one have no end. */
static enum ht_err boxes_file(const struct ht_samples *samples, int k, struct ht_fit_axis *axis) {
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

enum ht_err ht_fit_boxes(const struct ht_medium *medium, int k, struct ht_fit_axis *axis) {
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

bool ht_fit_density(const struct ht_medium *medium) {
    return medium->eq->system->nparameters > HT_FIT_RHO;
}

const char *ht_fit_key(const struct ht_medium *medium, enum ht_fit_quantity quantity) {
    const struct ht_medium_source *source = medium->source;
    const char *key = source->row[HT_FIT_C_OR_K].key;
    /* K = rho c^2 of a default c varies by rho. */
    bool density = quantity == HT_FIT_DENSITY ||
                   (ht_fit_density(medium) && !ht_params_is_set(source->params, key));
    return density ? source->row[HT_FIT_RHO].key : key;
}

const char *ht_fit_name(const struct ht_medium *medium, enum ht_fit_quantity quantity) {
    return quantity == HT_FIT_DENSITY ? "rho" : medium->eq->system->material[0].name;
}

static double centre(const struct ht_fit_axis *axis, int64_t i) {
    return (axis->edge[i] + axis->edge[i + 1]) / 2;
}

/* Points of a line: their x1, and the values of both parameters there. */
struct lines {
    int64_t count;
    double *x1, *first, *rho;
};

static enum ht_err lines_make(int64_t count, struct lines *lines) {
    lines->count = count;
    TRY(HT_ALLOC(lines->x1, 3 * count));
    lines->first = lines->x1 + count;
    lines->rho = lines->first + count;
    for (int64_t i = 0; i < count; i++) lines->rho[i] = 1;
    return HT_OK;
}

/* A parameter on a line: *out is buffer, or the samples from number `at` on where that is not
 * negative. */
static enum ht_err line_values(const struct ht_medium *medium, int parameter,
                               const struct lines *lines, const double x[3], int64_t at,
                               double *buffer, const double **out) {
    const struct ht_samples *samples = medium->source->row[parameter].samples;
    const bool direct = samples && at >= 0;
    *out = direct ? samples->value + at : buffer;
    if (direct) return HT_OK;
    return ht_medium_row_line(medium, parameter, lines->count, lines->x1, x, buffer);
}

/* As the systems' functions `materials`, for many points at once. */
static void compliance(bool speed, const double *first, const double *rho, int64_t count,
                       double *out) {
    for (int64_t i = 0; i < count; i++)
        out[i] = 1 / (speed ? first[i] * first[i] * rho[i] : first[i]);
}

static enum ht_err check_line(const struct ht_medium *medium, const struct lines *lines,
                              enum ht_fit_quantity quantity, const double x[3],
                              const double *line) {
    char place[96];
    int64_t i = 0;
    while (i < lines->count && line[i] > 0 && line[i] <= DBL_MAX) i++;
    if (i == lines->count) return HT_OK;
    const double at[3] = {lines->x1[i], x[1], x[2]};
    return ht_params_error(medium->source->params, ht_fit_key(medium, quantity),
                           "gives %s = %.6g at %s: it and its inverse must be positive and finite",
                           ht_fit_name(medium, quantity),
                           quantity == HT_FIT_DENSITY ? line[i] : 1 / line[i],
                           ht_medium_place(medium, at, place, sizeof place));
}

static enum ht_err source_line(const struct ht_medium *medium, enum ht_fit_quantity quantity,
                               const double x[3], int64_t at, const struct lines *lines,
                               double *out) {
    bool speed = medium->source->chosen[HT_FIT_C_OR_K] == 0;
    const double *first = lines->first, *rho = lines->rho;
    if (ht_fit_density(medium) && (quantity == HT_FIT_DENSITY || speed))
        TRY(line_values(medium, HT_FIT_RHO, lines, x, at, lines->rho, &rho));
    if (quantity == HT_FIT_DENSITY) {
        memcpy(out, rho, (size_t)lines->count * sizeof *out);
    } else {
        TRY(line_values(medium, HT_FIT_C_OR_K, lines, x, at, lines->first, &first));
        compliance(speed, first, rho, lines->count, out);
    }
    return check_line(medium, lines, quantity, x, out);
}

/* Lines of one plane; the arguments of ht_fit_source. */
static enum ht_err source_plane(const struct ht_medium *medium, const struct ht_fit_axis axis[3],
                                enum ht_fit_quantity quantity, int64_t p3, int64_t first,
                                int64_t last, int64_t row, const struct lines *lines, double *out) {
    const struct ht_samples *samples = lattice(medium);
    int64_t i3 = axis[2].box[p3];
    for (int64_t p = first; p < last; p++, out += row) {
        int64_t i2 = axis[1].box[p];
        const double x[3] = {0, centre(&axis[1], i2), centre(&axis[2], i3)};
        int64_t at = (axis[2].base + i3) * (samples ? samples->shape[1] : 0);
        at = (at + axis[1].base + i2) * (samples ? samples->shape[0] : 0);
        TRY(source_line(medium, quantity, x, at + axis[0].base, lines, out));
    }
    return HT_OK;
}

enum ht_err ht_fit_source(const struct ht_medium *medium, const struct ht_fit_axis axis[3],
                          enum ht_fit_quantity quantity, int64_t p3, int64_t first, int64_t last,
                          int64_t row, double *out) {
    struct lines lines;
    TRY(lines_make(axis[0].boxes, &lines));
    for (int64_t i = 0; i < lines.count; i++) lines.x1[i] = centre(&axis[0], i);
    enum ht_err err = source_plane(medium, axis, quantity, p3, first, last, row, &lines, out);
    free(lines.x1);
    return err;
}

enum ht_err ht_fit_source_points(const struct ht_medium *medium, enum ht_fit_quantity quantity,
                                 int64_t count, const double *x1, const double x[3], double *out) {
    struct lines lines;
    TRY(lines_make(count, &lines));
    memcpy(lines.x1, x1, (size_t)count * sizeof *x1);
    enum ht_err err = source_line(medium, quantity, x, -1, &lines, out);
    free(lines.x1);
    return err;
}
