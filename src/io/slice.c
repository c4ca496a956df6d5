/* Along a periodic axis the first node is repeated at the end, so that the picture shows the whole
 * box. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

static int64_t points(const struct ht_grid *grid, int axis) {
    bool seam = axis < grid->dims && ht_grid_periodic(grid, axis);
    return ht_grid_nodes(grid, HT_PRIMARY, axis) + (seam ? 1 : 0);
}

struct ht_slice ht_slice_make(const struct ht_grid *grid, enum ht_grid_axis plane,
                              double position) {
    struct ht_slice slice = {.grid = grid, .across = 0, .up = 1, .normal = -1, .height = 1};
    if (grid->dims == 3) {
        slice.normal = (int)plane;
        slice.across = slice.normal == 0 ? 1 : 0;
        slice.up = slice.normal == 2 ? 1 : 2;
        int64_t last = ht_grid_nodes(grid, HT_PRIMARY, slice.normal) - 1;
        int64_t node = (int64_t)lround(position * (double)grid->cells[slice.normal]);
        slice.index = node < 0 ? 0 : node > last ? last : node;
    }
    slice.width = points(grid, slice.across);
    if (grid->dims > 1) slice.height = points(grid, slice.up);
    slice.x0 = grid->lower[slice.across];
    slice.x1 = grid->upper[slice.across];
    slice.y0 = grid->lower[slice.up];
    slice.y1 = grid->upper[slice.up];
    return slice;
}

void ht_slice_own(const struct ht_slice *slice, int64_t *first, int64_t *last) {
    int64_t planes[2];
    ht_grid_own(slice->grid, HT_PRIMARY, &planes[0], &planes[1]);
    *first = 0;
    *last = ht_grid_nodes(slice->grid, HT_PRIMARY, slice->up);
    if (slice->up == 2) {
        *first = planes[0];
        *last = planes[1];
    } else if (slice->normal == 2 && (slice->index < planes[0] || slice->index >= planes[1])) {
        *last = 0;
    }
}

void ht_slice_values(const struct ht_slice *slice, const double *nodal, double *out) {
    const struct ht_grid *grid = slice->grid;
    int64_t n[3], stride[3], origin[3] = {0, 0, 0}, rows[2], plane;
    for (int k = 0; k < 3; k++) n[k] = ht_grid_nodes(grid, HT_PRIMARY, k);
    stride[0] = 1;
    stride[1] = n[0];
    stride[2] = n[0] * n[1];
    ht_grid_own(grid, HT_PRIMARY, &origin[2], &plane);
    ht_slice_own(slice, &rows[0], &rows[1]);
    for (int64_t j = rows[0]; j < rows[1]; j++)
        for (int64_t i = 0; i < slice->width; i++) {
            int64_t at[3] = {0, 0, 0}, node = 0;
            if (slice->normal >= 0) at[slice->normal] = slice->index;
            at[slice->up] = j;
            at[slice->across] = i % n[slice->across];
            for (int k = 0; k < 3; k++) node += (at[k] - origin[k]) * stride[k];
            *out++ = nodal[node];
        }
}

void ht_slice_close(const struct ht_slice *slice, double *values) {
    int64_t count = slice->width * ht_grid_nodes(slice->grid, HT_PRIMARY, slice->up);
    for (int64_t i = count; i < slice->height * slice->width; i++) values[i] = values[i - count];
}

enum ht_err ht_slice_parameter(const struct ht_slice *slice, const struct ht_medium *medium,
                               const char *name, double *out) {
    const struct ht_grid *grid = slice->grid;
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = ht_grid_x(grid, HT_PRIMARY, k, 0);
    if (slice->normal >= 0)
        x[slice->normal] = ht_grid_x(grid, HT_PRIMARY, slice->normal, slice->index);
    for (int64_t j = 0; j < slice->height; j++) {
        x[slice->up] = ht_grid_x(grid, HT_PRIMARY, slice->up, j);
        for (int64_t i = 0; i < slice->width; i++) {
            x[slice->across] = ht_grid_x(grid, HT_PRIMARY, slice->across, i);
            TRY(ht_medium_parameter(medium, name, x, out++));
        }
    }
    return HT_OK;
}

struct ht_picture ht_slice_picture(const struct ht_slice *slice, const struct ht_params *params) {
    static const char *const axis[] = {"x1", "x2", "x3"};
    const struct ht_wall_kind *lower =
        ht_wall_find(ht_system_find(params->system), params->boundary.side[slice->up][0]);
    const char *length = ht_units_name(params, "length");
    return (struct ht_picture){.width = slice->width,
                               .height = slice->height,
                               .x0 = slice->x0,
                               .x1 = slice->x1,
                               .y0 = slice->y0,
                               .y1 = slice->y1,
                               .y_down = slice->height > 1 && lower != NULL && lower->factor < 0,
                               .x = {axis[slice->across], length},
                               .y = {axis[slice->up], length},
                               .pixels = params->output.picture.pixels};
}

/* ---- places ---- */

/* Points of a source; planes and boxes have none. */
static int points_of(const struct ht_shot *shot) {
    return shot->type->flat ? 0 : shot->points;
}

enum ht_err ht_places_make(const struct ht_shots *shots, const struct ht_receivers *receivers,
                           struct ht_places *out) {
    *out = (struct ht_places){.shots = shots};
    for (int i = 0; shots && i < shots->count; i++) out->sources += points_of(&shots->shot[i]);
    out->count = out->sources;
    for (int n = 0; receivers && n < receivers->count; n++) out->count += receivers->group[n].count;
    TRY(HT_ALLOC(out->x, out->count));
    double(*x)[3] = out->x;
    for (int i = 0; shots && i < shots->count; i++)
        for (int k = 0; k < points_of(&shots->shot[i]); k++)
            ht_shot_position(&shots->shot[i], k, *x++);
    for (int n = 0; receivers && n < receivers->count; n++)
        for (int64_t k = 0; k < receivers->group[n].count; k++)
            memcpy(*x++, receivers->group[n].x[k], sizeof *x);
    return HT_OK;
}

void ht_places_free(struct ht_places *places) {
    free(places->x);
    *places = (struct ht_places){0};
}

/* ---- marks ---- */

static struct ht_mark mark_of(const struct ht_slice *slice, const double x[3], bool source) {
    const struct ht_grid *grid = slice->grid;
    const int normal = slice->normal;
    struct ht_mark mark = {.x = x[slice->across],
                           .y = slice->height > 1 ? x[slice->up] : 0,
                           .source = source,
                           .inside = true};
    if (normal < 0) return mark;
    const double at = ht_grid_x(grid, HT_PRIMARY, normal, slice->index);
    mark.inside = fabs(x[normal] - at) <= 0.5 * grid->h[normal] * (1 + 1e-9);
    return mark;
}

/* A plane across the slice is a line; one that is the slice, or in front of it, is not drawn, nor
 * is the box of a plane wave that the slice does not cut. */
static bool find_outline(const struct ht_slice *slice, const struct ht_shot *shot,
                         struct ht_outline *out) {
    const int across = slice->across, up = slice->up, normal = slice->normal;
    const bool plane = shot->type->flat;
    if (points_of(shot) > 0 || slice->height == 1) return false;
    if (plane && shot->axis == normal) return false;
    *out = (struct ht_outline){{shot->first[across], shot->last[across]},
                               {shot->first[up], shot->last[up]}};
    if (plane && shot->axis == across) {
        out->x[1] = out->x[0];
        out->y[0] = slice->y0;
        out->y[1] = slice->y1;
    } else if (plane) {
        out->y[1] = out->y[0];
        out->x[0] = slice->x0;
        out->x[1] = slice->x1;
    }
    if (plane || normal < 0) return true;
    const double at = ht_grid_x(slice->grid, HT_PRIMARY, normal, slice->index);
    return at >= shot->first[normal] && at <= shot->last[normal];
}

enum ht_err ht_slice_mark(const struct ht_slice *slice, const struct ht_places *places,
                          struct ht_picture *picture) {
    const int shots = places->shots ? places->shots->count : 0;
    ht_slice_unmark(picture);
    TRY(HT_ALLOC(picture->mark, places->count));
    TRY(HT_ALLOC(picture->outline, shots));
    picture->marks = places->count;
    for (int64_t i = 0; i < places->count; i++)
        picture->mark[i] = mark_of(slice, places->x[i], i < places->sources);
    for (int i = 0; i < shots; i++)
        if (find_outline(slice, &places->shots->shot[i], &picture->outline[picture->outlines]))
            picture->outlines++;
    return HT_OK;
}

void ht_slice_unmark(struct ht_picture *picture) {
    free(picture->mark);
    free(picture->outline);
    picture->mark = NULL;
    picture->outline = NULL;
    picture->marks = picture->outlines = 0;
}
