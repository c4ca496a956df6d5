/* What files of the medium cover of the box that the input describes. */
#include "medium_private.h"

/* Of the box, where values reach one spacing beyond their ends; turned: as if the axes of the file
 * were those of the box in the other order. */
static double share(const struct ht_medium *medium, const struct ht_samples *samples, bool turned) {
    const struct ht_params *params = medium->source->params;
    double product = 1;
    for (int k = 0; k < medium->grid->dims; k++) {
        const int axis = turned ? medium->grid->dims - 1 - k : k;
        const double h = samples->spacing[k], first = samples->origin[k] - h;
        const double lower = params->grid.lower[axis], upper = params->grid.upper[axis];
        const double last = first + h * (double)(samples->shape[k] + 1);
        if (samples->shape[k] > 1)
            product *= fmax(fmin(upper, last) - fmax(lower, first), 0) / (upper - lower);
    }
    return product > 1 - 1e-9 ? 1 : product;
}

/* Of the samples [first, last] of each axis. */
static void find_range(const struct ht_samples *samples, const int64_t first[3],
                       const int64_t last[3], double *least, double *most) {
    const int64_t *n = samples->shape;
    *least = INFINITY;
    *most = -INFINITY;
    for (int64_t i3 = first[2]; i3 <= last[2]; i3++)
        for (int64_t i2 = first[1]; i2 <= last[1]; i2++)
            for (int64_t i1 = first[0]; i1 <= last[0]; i1++) {
                const double value = samples->value[(i3 * n[1] + i2) * n[0] + i1];
                *least = fmin(*least, value);
                *most = fmax(*most, value);
            }
}

/* Why the file may be of another box; "" where nothing looks so. */
static const char *find_fault(const struct ht_medium *medium, const struct ht_samples *samples,
                              const struct ht_coverage *c, char room[160]) {
    const double spread = 1e-9 * fabs(c->most);
    const int64_t last[3] = {samples->shape[0] - 1, samples->shape[1] - 1, samples->shape[2] - 1};
    double least, most;
    if (share(medium, samples, true) > 1.5 * c->share)
        return ht_text_format(room, 160, ", and %.3g %% with its axes in the other order",
                              100 * share(medium, samples, true));
    if (c->share < 1) return ", and its values at the ends continue";
    if (c->spacings < 1) return ", which lies between two samples along an axis";
    find_range(samples, (int64_t[3]){0}, last, &least, &most);
    if (most - least > spread && c->most - c->least <= spread)
        return ht_text_format(room, 160, ", where it is uniform, and %g to %g elsewhere", least,
                              most);
    return c->part < 0.25 ? ", which is a small part of it along every axis" : "";
}

bool ht_medium_covers(const struct ht_medium *medium, int parameter, struct ht_coverage *out) {
    const struct ht_medium_row *row = &medium->source->row[parameter];
    const struct ht_params *params = medium->source->params;
    const struct ht_samples *samples = row->samples;
    int64_t first[3] = {0}, last[3] = {0};
    if (samples == NULL) return false;
    *out = (struct ht_coverage){.spacings = INFINITY};
    snprintf(out->text, sizeof out->text, "%s: %s", row->name,
             medium->source->type == HT_MEDIUM_FILE ? "file" : "array");
    for (int k = 0; k < medium->grid->dims; k++) {
        const double h = samples->spacing[k], begin = samples->origin[k];
        const double end = (double)samples->shape[k] - 1;
        const double low = fmin(fmax((params->grid.lower[k] - begin) / h, 0), end);
        const double high = fmin(fmax((params->grid.upper[k] - begin) / h, 0), end);
        const size_t length = strlen(out->text);
        first[k] = (int64_t)low;
        last[k] = (int64_t)ceil(high);
        if (end < 1) continue;
        snprintf(out->text + length, sizeof out->text - length, " x%d %.6g..%.6g,", k + 1, begin,
                 begin + end * h);
        out->spacings = fmin(out->spacings, high - low);
        out->part = fmax(out->part, (high - low) / end);
    }
    out->share = share(medium, samples, false);
    find_range(samples, first, last, &out->least, &out->most);
    return true;
}

enum ht_err ht_medium_check_cover(const struct ht_medium *medium, int parameter) {
    const struct ht_medium_row *row = &medium->source->row[parameter];
    const struct ht_params *params = medium->source->params;
    const struct ht_grid *grid = medium->grid;
    struct ht_coverage c;
    char room[160];
    if (row != medium->source->lattice || !ht_medium_covers(medium, parameter, &c)) return HT_OK;
    const char *fault = find_fault(medium, row->samples, &c, room);
    const char *box = HT_KEY("from %s to %s", HT_PLACED(grid, params->grid.lower),
                             HT_PLACED(grid, params->grid.upper));
    static const char look[] =
        "look at medium.spacing, medium.origin, medium.shape, medium.axes and their units";
    REFUSE(c.share <= 0, params, row->key, "%s covers nothing of the box, %s: %s", c.text, box,
           look);
    if (*fault)
        ht_warn("medium.%s covers %.3g %% of the box, %s%s: %s", c.text, 100 * c.share, box, fault,
                look);
    return HT_OK;
}
