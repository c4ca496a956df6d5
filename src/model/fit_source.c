/* The values of boxes that averages are made of: scalars of the system's rule, and materials of
 * losses, at the centres; of expressions means of boxes at faces. */
#include "fit_private.h"

/* ---- values ---- */

/* The first parameter that was given, else the first. */
const char *ht_fit_key(const struct ht_fit *fit, int quantity) {
    const struct ht_medium_source *source = fit->medium->source;
    const char *key = NULL, *first = NULL;
    for (int p = fit->medium->eq->system->nparameters - 1; p >= 0; p--) {
        if (!(fit->shown[quantity] >> p & 1u)) continue;
        first = source->row[p].key;
        if (ht_params_is_set(source->params, first)) key = first;
    }
    return key != NULL ? key : first;
}

static double centre(const struct ht_fit_axis *axis, int64_t i) {
    return (axis->edge[i] + axis->edge[i + 1]) / 2;
}

/* Whether all materials are positive and well in the range of single precision. */
static bool usual(const struct ht_medium *medium, const struct ht_medium_work *line) {
    int64_t good = 0;
    for (int m = 0; m < medium->eq->nmaterials; m++)
        for (int64_t i = 0; i < line->count; i++)
            good += line->material[m][i] >= FLT_MIN && line->material[m][i] <= FLT_MAX;
    return good == medium->eq->nmaterials * line->count;
}

HT_ERR ht_fit_line_materials(const struct ht_medium *medium, unsigned parameters, const double x[3],
                             int64_t at, const struct ht_medium_work *line) {
    const struct ht_jets points = {.dims = 1, .count = (int)line->count};
    const double *value[HT_MAX_MATERIALS];
    double material[HT_MAX_MATERIALS];
    for (int p = 0; p < medium->eq->system->nparameters; p++) {
        const struct ht_samples *samples = at >= 0 ? medium->source->row[p].samples : NULL;
        value[p] = samples ? samples->value + at : line->value[p];
        if ((parameters >> p & 1u) && !samples)
            TRY(ht_medium_row_line(medium, p, line->count, line->x1, x, line->value[p]));
    }
    medium->eq->system->materials(&points, medium->source->chosen, value, line->material);
    if (parameters != ~0u && usual(medium, line)) return HT_OK;
    for (int64_t i = 0; i < line->count; i++) {
        const double place[3] = {line->x1[i], x[1], x[2]};
        for (int m = 0; m < medium->eq->system->nmaterials; m++) material[m] = line->material[m][i];
        TRY(ht_medium_check(medium, material, place));
    }
    return HT_OK;
}

/* Scalars of the system's rule on a line, and the materials of losses. */
static HT_ERR scalars_line(const struct ht_fit *fit, const double x[3], int64_t at,
                           const struct ht_medium_work *line, double *const *out) {
    const int scalars = fit->average->nscalars;
    TRY(ht_fit_line_materials(fit->medium, fit->parameters, x, at, line));
    fit->average->scalars(line->count, line->material, out);
    for (int q = 0; q < scalars; q++) {
        int64_t i = 0;
        while (i < line->count && isfinite(out[q][i])) i++;
        if (i == line->count) continue;
        const double place[3] = {line->x1[i], x[1], x[2]};
        return ht_params_error(fit->medium->source->params, ht_fit_key(fit, q),
                               "gives %s = %.6g at %s: must be finite", fit->average->name[q],
                               out[q][i], HT_PLACED(fit->medium->grid, place));
    }
    for (int l = 0; l < fit->nlost; l++)
        memcpy(out[scalars + l], line->material[fit->medium->eq->nmaterials + l],
               (size_t)line->count * sizeof *out[0]);
    return HT_OK;
}

HT_ERR ht_fit_source(const struct ht_fit *fit, int64_t p3, int64_t first, int64_t last, int64_t row,
                     double *const out[HT_MAX_SCALARS]) {
    const struct ht_fit_axis *axis = fit->axis;
    const struct ht_medium_row *lattice = fit->medium->source->lattice;
    const int64_t *shape = lattice != NULL ? lattice->samples->shape : (const int64_t[3]){0};
    const int64_t i3 = axis[2].box[p3];
    HT_ENDED(ht_medium_work_destroy) struct ht_medium_work lines;
    TRY(ht_medium_work_create(fit->medium, axis[0].boxes, &lines));
    for (int64_t i = 0; i < lines.count; i++) lines.x1[i] = centre(&axis[0], i);
    for (int64_t p = first; p < last; p++) {
        const int64_t i2 = axis[1].box[p];
        const double x[3] = {0, centre(&axis[1], i2), centre(&axis[2], i3)};
        double *to[HT_MAX_SCALARS];
        int64_t at = (axis[2].base + i3) * shape[1];
        at = (at + axis[1].base + i2) * shape[0] + axis[0].base;
        for (int q = 0; q < HT_MAX_SCALARS; q++) to[q] = out[q] ? out[q] + (p - first) * row : NULL;
        TRY(scalars_line(fit, x, at, &lines, to));
    }
    return HT_OK;
}

/* ---- expressions at faces ---- */

/* A box of an expression whose value at the centre differs by PART and more from that of a box at
 * one of its sides gets the mean of POINTS of it per axis on which the medium depends, in three
 * dimensions of POINTS / 2. Not beside fluid, of which rules ask whether a cell has any. */
static const double PART = 0.1;
enum { POINTS = 4 };
struct ht_fit_near {
    const struct ht_fit *fit;
    int64_t pieces[2], first, last; /* lines: along x2, and with one more to either side */
    int64_t held[3]; /* pieces along x3 of which there are the values at the centres */
    double *value[3][HT_MAX_SCALARS];
    int64_t size;         /* of one of these */
    int64_t *face;        /* [entry] boxes of a line at faces */
    unsigned char *marks; /* [box of a line] */
    int points[3];
    struct ht_medium_work line;                        /* of the points of these boxes */
    double *mean[HT_MAX_SCALARS], *at[HT_MAX_SCALARS]; /* [entry], [point] */
};

HT_ERR ht_fit_near_make(const struct ht_fit *fit, const int64_t pieces[2], struct ht_pool *pool,
                        struct ht_fit_near **out) {
    const struct ht_medium_source *source = fit->medium->source;
    const bool *depends = source->depends;
    const int64_t boxes = fit->axis[0].boxes;
    if (source->type != HT_MEDIUM_EXPRESSION || !fit->medium->rough || fit->split) return HT_OK;
    TRY(HT_TAKE(pool, *out, 1));
    struct ht_fit_near *n = *out;
    n->fit = fit;
    memcpy(n->pieces, pieces, sizeof n->pieces);
    const int points = depends[0] && depends[1] && depends[2] ? POINTS / 2 : POINTS;
    for (int k = 0; k < 3; k++) n->points[k] = depends[k] ? points : 1;
    n->first = ht_most(pieces[0] - 1, 0);
    n->last = ht_least(pieces[1] + 1, fit->axis[1].pieces);
    n->size = (n->last - n->first) * boxes;
    for (int i = 0; i < 3; i++) n->held[i] = -1;
    TRY(HT_TAKE(pool, n->face, boxes));
    TRY(HT_TAKE(pool, n->marks, boxes));
    for (int q = 0; q < ht_fit_quantities(fit); q++) {
        for (int i = 0; i < 3; i++) TRY(HT_TAKE(pool, n->value[i][q], n->size));
        TRY(HT_TAKE(pool, n->mean[q], boxes));
        TRY(HT_TAKE(pool, n->at[q], n->points[0] * boxes));
    }
    return ht_medium_work_create(fit->medium, n->points[0] * boxes, &n->line);
}

enum { FACE = 1, FLUID = 2 };

/* What stands between `count` values from entry a of piece p on and those from entry b of piece r
 * on is added to marks. */
static void mark(const struct ht_fit_near *n, int64_t p, int64_t a, int64_t r, int64_t b,
                 int64_t count, unsigned char *marks) {
    for (int q = 0; q < ht_fit_quantities(n->fit); q++) {
        const double *x = n->value[p % 3][q] + a, *y = n->value[r % 3][q] + b;
        const int fluid = n->fit->average->vanishing >> q & 1u ? FLUID : 0;
        for (int64_t i = 0; i < count; i++)
            marks[i] |= fabs(x[i] - y[i]) > PART / 2 * (fabs(x[i]) + fabs(y[i])) ? FACE : 0;
        for (int64_t i = 0; fluid && i < count; i++) marks[i] |= x[i] == 0 || y[i] == 0 ? FLUID : 0;
    }
}

/* The boxes of line l of the piece at faces that are not those of a fluid, into n->face. */
static int64_t find_faces(const struct ht_fit_near *n, int64_t p, int64_t l) {
    const struct ht_fit_axis *axis = n->fit->axis;
    const int64_t boxes = axis[0].boxes, at = (l - n->first) * boxes, last = boxes - 1;
    int64_t count = 0;
    memset(n->marks, 0, (size_t)boxes);
    mark(n, p, at, p, at + 1, last, n->marks);
    mark(n, p, at + 1, p, at, last, n->marks + 1);
    if (axis[0].periodic) {
        mark(n, p, at, p, at + last, 1, n->marks);
        mark(n, p, at + last, p, at, 1, n->marks + last);
    }
    if (l > n->first) mark(n, p, at, p, at - boxes, boxes, n->marks);
    if (l < n->last - 1) mark(n, p, at, p, at + boxes, boxes, n->marks);
    if (p > 0) mark(n, p, at, p - 1, at, boxes, n->marks);
    if (p < axis[2].pieces - 1) mark(n, p, at, p + 1, at, boxes, n->marks);
    for (int64_t i = 0; i < boxes; i++)
        if (n->marks[i] == FACE) n->face[count++] = i;
    return count;
}

/* The place of a point of a box. */
static double point_of(const struct ht_fit_axis *axis, int64_t box, int point, int points) {
    const double part = (point + 0.5) / points;
    return axis->edge[box] + part * (axis->edge[box + 1] - axis->edge[box]);
}

/* Means of the first `count` boxes of n->face. */
static HT_ERR find_means(struct ht_fit_near *n, int64_t i2, int64_t i3, int64_t count) {
    const struct ht_fit *fit = n->fit;
    const int all = n->points[0] * n->points[1] * n->points[2];
    for (int q = 0; q < ht_fit_quantities(fit); q++)
        memset(n->mean[q], 0, (size_t)count * sizeof *n->mean[q]);
    n->line.count = count * n->points[0];
    for (int64_t i = 0; i < n->line.count; i++)
        n->line.x1[i] = point_of(&fit->axis[0], n->face[i / n->points[0]], (int)(i % n->points[0]),
                                 n->points[0]);
    for (int j = 0; j < n->points[1] * n->points[2]; j++) {
        const double x[3] = {0, point_of(&fit->axis[1], i2, j % n->points[1], n->points[1]),
                             point_of(&fit->axis[2], i3, j / n->points[1], n->points[2])};
        TRY(scalars_line(fit, x, -1, &n->line, n->at));
        for (int q = 0; q < ht_fit_quantities(fit); q++)
            for (int64_t i = 0; i < n->line.count; i++)
                n->mean[q][i / n->points[0]] += n->at[q][i] / all;
    }
    return HT_OK;
}

HT_ERR ht_fit_near_read(struct ht_fit_near *n, int64_t p, double *const *out) {
    const struct ht_fit *fit = n->fit;
    const int64_t last = ht_least(p + 2, fit->axis[2].pieces), boxes = fit->axis[0].boxes;
    for (int64_t i = ht_most(p - 1, 0); i < last; i++) {
        if (n->held[i % 3] == i) continue;
        TRY(ht_fit_source(fit, i, n->first, n->last, boxes, n->value[i % 3]));
        n->held[i % 3] = i;
    }
    for (int q = 0; q < ht_fit_quantities(fit); q++)
        memcpy(out[q], n->value[p % 3][q] + (n->pieces[0] - n->first) * boxes,
               (size_t)((n->pieces[1] - n->pieces[0]) * boxes) * sizeof(double));
    return HT_OK;
}

HT_ERR ht_fit_near_average(struct ht_fit_near *n, int64_t p, double *const *out) {
    const struct ht_fit_axis *axis = n->fit->axis;
    for (int64_t l = n->pieces[0]; l < n->pieces[1]; l++) {
        const int64_t count = find_faces(n, p, l), at = (l - n->pieces[0]) * axis[0].boxes;
        if (count == 0) continue;
        TRY(find_means(n, axis[1].box[l], axis[2].box[p], count));
        for (int q = 0; q < ht_fit_quantities(n->fit); q++)
            for (int64_t i = 0; i < count; i++) out[q][at + n->face[i]] = n->mean[q][i];
    }
    return HT_OK;
}

void ht_fit_near_end(struct ht_fit_near *n) {
    if (n != NULL) ht_medium_work_destroy(&n->line);
}
