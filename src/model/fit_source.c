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

enum ht_err ht_fit_boxes(const struct ht_medium *medium, int k, struct ht_fit_axis *axis) {
    const struct ht_medium_source *source = medium->source;
    const struct ht_medium_boxes *boxes = &source->boxes[k];
    const bool equal = source->depends[k] && source->type == HT_MEDIUM_EXPRESSION;
    axis->boxes = equal ? medium->grid->cells[k] * BOXES_PER_SPACING : boxes->count;
    axis->base = boxes->base;
    TRY(HT_ALLOC(axis->edge, axis->boxes + 1));
    for (int64_t i = 1; i < axis->boxes; i++)
        axis->edge[i] =
            equal ? axis->lower + (axis->upper - axis->lower) * ((double)i / (double)axis->boxes)
                  : boxes->edge[i];
    axis->edge[0] = axis->lower;
    axis->edge[axis->boxes] = axis->upper;
    return HT_OK;
}

/* ---- values ---- */

/* Two series of parameters with no special values, of which one after the other has a slope. */
enum ht_err ht_fit_role(const struct ht_medium *medium, int material, struct ht_fit_role *role) {
    const struct ht_system *system = medium->eq->system;
    struct ht_medium_work work;
    struct ht_jets *jets;
    bool inverse = true;
    *role = (struct ht_fit_role){.material = material, .inverse = -1};
    if (material < 0) return HT_OK;
    TRY(ht_jets_total(1, 1, &jets));
    enum ht_err err = ht_medium_work_create(medium, &work);
    for (int i = 0; err == HT_OK && i < 2 * system->nparameters; i++) {
        for (int p = 0; p < system->nparameters; p++) {
            work.value[p][0] = 1.3 + 0.7 * p + 0.9 * (i % 2);
            work.value[p][1] = p == i / 2;
        }
        err = system->materials(jets, medium->source->chosen, (const double *const *)work.value,
                                work.material);
        if (err != HT_OK || work.material[material][1] == 0) continue;
        role->parameters |= 1u << i / 2;
        role->inverse = i / 2;
        inverse = inverse && work.material[material][0] == 1 / work.value[i / 2][0];
    }
    if (!inverse) role->inverse = -1;
    ht_medium_work_destroy(&work);
    ht_jets_destroy(jets);
    return err;
}

/* The first parameter that was given, else the first. */
const char *ht_fit_key(const struct ht_medium *medium, const struct ht_fit_role *role) {
    const struct ht_medium_source *source = medium->source;
    const char *key = NULL, *first = NULL;
    for (int p = medium->eq->system->nparameters - 1; p >= 0; p--) {
        if (!(role->parameters >> p & 1u)) continue;
        first = source->row[p].key;
        if (ht_params_is_set(source->params, first)) key = first;
    }
    return key != NULL ? key : first;
}

const char *ht_fit_name(const struct ht_medium *medium, const struct ht_fit_role *role) {
    if (role->name != NULL) return role->name;
    return role->inverse >= 0 ? medium->source->row[role->inverse].name
                              : medium->eq->system->material[role->material].name;
}

static double centre(const struct ht_fit_axis *axis, int64_t i) {
    return (axis->edge[i] + axis->edge[i + 1]) / 2;
}

enum ht_err ht_fit_line_make(const struct ht_medium *medium, int64_t count,
                             struct ht_fit_line *line) {
    const int parameters = medium->eq->system->nparameters;
    *line = (struct ht_fit_line){.count = count};
    TRY(HT_ALLOC(line->x1, (1 + parameters + medium->eq->nmaterials) * count));
    for (int p = 0; p < parameters; p++) {
        line->value[p] = line->x1 + (1 + p) * count;
        for (int64_t i = 0; i < count; i++) line->value[p][i] = 1;
    }
    for (int m = 0; m < medium->eq->nmaterials; m++)
        line->material[m] = line->x1 + (1 + parameters + m) * count;
    return HT_OK;
}

/* value[p]: where the values of parameter p are, of those in the mask. */
static enum ht_err line_values(const struct ht_medium *medium, unsigned parameters,
                               const double x[3], int64_t at, const struct ht_fit_line *line,
                               const double *value[HT_MAX_MATERIALS]) {
    const struct ht_medium_source *source = medium->source;
    for (int p = 0; p < medium->eq->system->nparameters; p++) {
        const bool direct = source->row[p].samples && at >= 0;
        value[p] = direct ? source->row[p].samples->value + at : line->value[p];
        if ((parameters >> p & 1u) && !direct)
            TRY(ht_medium_row_line(medium, p, line->count, line->x1, x, line->value[p]));
    }
    return HT_OK;
}

enum ht_err ht_fit_line_materials(const struct ht_medium *medium, const double x[3], int64_t at,
                                  const struct ht_fit_line *line) {
    const struct ht_jets points = {.dims = 1, .count = (int)line->count};
    const double *value[HT_MAX_MATERIALS];
    double material[HT_MAX_MATERIALS];
    TRY(line_values(medium, ~0u, x, at, line, value));
    TRY(medium->eq->system->materials(&points, medium->source->chosen, value, line->material));
    for (int64_t i = 0; i < line->count; i++) {
        const double place[3] = {line->x1[i], x[1], x[2]};
        for (int m = 0; m < medium->eq->nmaterials; m++) material[m] = line->material[m][i];
        TRY(ht_medium_check(medium, material, place));
    }
    return HT_OK;
}

static enum ht_err check_line(const struct ht_medium *medium, const struct ht_fit_line *lines,
                              const struct ht_fit_role *role, const double x[3],
                              const double *line) {
    char place[HT_PLACE];
    int64_t i = 0;
    while (i < lines->count && line[i] > 0 && line[i] <= DBL_MAX) i++;
    if (i == lines->count) return HT_OK;
    const double at[3] = {lines->x1[i], x[1], x[2]};
    return ht_params_error(medium->source->params, ht_fit_key(medium, role),
                           "gives %s = %.6g at %s: it and its inverse must be positive and finite",
                           ht_fit_name(medium, role), role->inverse >= 0 ? line[i] : 1 / line[i],
                           ht_grid_place(medium->grid, at, place));
}

/* 1/material on a line; at: number of the first one's samples, -1: files are interpolated. */
static enum ht_err source_line(const struct ht_medium *medium, const struct ht_fit_role *role,
                               const double x[3], int64_t at, const struct ht_fit_line *lines,
                               double *out) {
    const struct ht_jets points = {.dims = 1, .count = (int)lines->count};
    const double *value[HT_MAX_MATERIALS];
    TRY(line_values(medium, role->parameters, x, at, lines, value));
    if (role->inverse >= 0) {
        memcpy(out, value[role->inverse], (size_t)lines->count * sizeof *out);
    } else {
        TRY(medium->eq->system->materials(&points, medium->source->chosen, value, lines->material));
        ht_jet_reciprocal(&points, lines->material[role->material], out);
    }
    return check_line(medium, lines, role, x, out);
}

/* Scalars of the system's rule on a line. */
static enum ht_err scalars_line(const struct ht_fit *fit, const double x[3], int64_t at,
                                const struct ht_fit_line *line, double *const *out) {
    TRY(ht_fit_line_materials(fit->medium, x, at, line));
    fit->average->scalars(line->count, line->material, out);
    return HT_OK;
}

enum ht_err ht_fit_source(const struct ht_fit *fit, int64_t p3, int64_t first, int64_t last,
                          int64_t row, double *const out[HT_MAX_SCALARS]) {
    const struct ht_fit_axis *axis = fit->axis;
    const struct ht_samples *samples = ht_medium_lattice(fit->medium->source);
    const int64_t i3 = axis[2].box[p3];
    struct ht_fit_line lines;
    enum ht_err err = ht_fit_line_make(fit->medium, axis[0].boxes, &lines);
    for (int64_t i = 0; err == HT_OK && i < lines.count; i++) lines.x1[i] = centre(&axis[0], i);
    for (int64_t p = first; err == HT_OK && p < last; p++) {
        const int64_t i2 = axis[1].box[p];
        const double x[3] = {0, centre(&axis[1], i2), centre(&axis[2], i3)};
        double *to[HT_MAX_SCALARS];
        int64_t at = (axis[2].base + i3) * (samples ? samples->shape[1] : 0);
        at = (at + axis[1].base + i2) * (samples ? samples->shape[0] : 0) + axis[0].base;
        for (int q = 0; q < HT_MAX_SCALARS; q++) to[q] = out[q] ? out[q] + (p - first) * row : NULL;
        if (fit->average) err = scalars_line(fit, x, at, &lines, to);
        for (int q = 0; q < 2 && !fit->average && err == HT_OK; q++)
            if (to[q]) err = source_line(fit->medium, &fit->role[q], x, at, &lines, to[q]);
    }
    free(lines.x1);
    return err;
}

enum ht_err ht_fit_source_points(const struct ht_fit *fit, int quantity, int64_t count,
                                 const double *x1, const double x[3], double *out) {
    struct ht_fit_line lines;
    TRY(ht_fit_line_make(fit->medium, count, &lines));
    memcpy(lines.x1, x1, (size_t)count * sizeof *x1);
    enum ht_err err = source_line(fit->medium, &fit->role[quantity], x, -1, &lines, out);
    free(lines.x1);
    return err;
}
