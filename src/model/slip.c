/* Where fluid meets solid along a flat face; see the header. */
#include "medium_private.h"

/* LINES: through the box along an axis. HALVES: of a gap of samples. */
enum { LINES = 5, HALVES = 40 };

static HT_ERR is_fluid(const struct ht_medium *medium, int axis, int line, double at, bool *out) {
    const struct ht_grid *grid = medium->grid;
    const struct ht_material *material = medium->eq->system->material;
    double x[3], value;
    while (!material->zero) material++;
    for (int k = 0; k < 3; k++) {
        const double part = fmod(0.31 + 0.618 * line + 0.27 * k, 1);
        x[k] = k == axis ? at : grid->lower[k] + part * (grid->upper[k] - grid->lower[k]);
    }
    TRY(ht_medium_parameter(medium, material->name, x, &value));
    *out = value == 0;
    return HT_OK;
}

/* Between two places on the first line, the lower one of which is in the fluid, or not. */
static HT_ERR find_face(const struct ht_medium *medium, int axis, double low, double high,
                        bool fluid, double *out) {
    for (int i = 0; i < HALVES; i++) {
        const double middle = (low + high) / 2;
        bool now;
        TRY(is_fluid(medium, axis, 0, middle, &now));
        *(now == fluid ? &low : &high) = middle;
    }
    *out = (low + high) / 2;
    return HT_OK;
}

/* Samples half a spacing apart. */
HT_ERR ht_medium_slip(const struct ht_medium *medium, int axis, bool *found, double *at) {
    const struct ht_grid *grid = medium->grid;
    const struct ht_system *system = medium->eq->system;
    const double half = grid->h[axis] / 2, close = 1e-6 * grid->h[axis];
    bool before, now, any = false;
    *found = false;
    for (int m = 0; m < system->nmaterials - system->nlost; m++)
        any = any || system->material[m].zero;
    if (!any || !medium->source->depends[axis]) return HT_OK;
    TRY(is_fluid(medium, axis, 0, grid->lower[axis], &before));
    for (int64_t i = 1; i <= 2 * grid->cells[axis] && !*found; i++, before = now) {
        const double next = grid->lower[axis] + (double)i * half;
        TRY(is_fluid(medium, axis, 0, next, &now));
        *found = now != before;
        if (*found) TRY(find_face(medium, axis, next - half, next, before, at));
        for (int line = 1; line < LINES && *found; line++) {
            bool below, above;
            TRY(is_fluid(medium, axis, line, *at - close, &below));
            TRY(is_fluid(medium, axis, line, *at + close, &above));
            *found = below != above;
        }
    }
    return HT_OK;
}
