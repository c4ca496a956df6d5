#include "marks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

/* Points of a source; planes and plane waves have none. */
static int points_of(const struct ht_shot *shot) {
    const bool wide = shot->type == HT_SHOT_PLANE || shot->type == HT_SHOT_INCIDENT;
    return wide ? 0 : shot->points;
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
    const bool plane = shot->type == HT_SHOT_PLANE;
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

enum ht_err ht_marks_make(const struct ht_places *places, const struct ht_slice *slice,
                          struct ht_marks *out) {
    const int shots = places->shots ? places->shots->count : 0;
    TRY(HT_ALLOC(out->mark, places->count));
    TRY(HT_ALLOC(out->outline, shots));
    out->marks = places->count;
    for (int64_t i = 0; i < places->count; i++)
        out->mark[i] = mark_of(slice, places->x[i], i < places->sources);
    for (int i = 0; i < shots; i++)
        if (find_outline(slice, &places->shots->shot[i], &out->outline[out->outlines]))
            out->outlines++;
    return HT_OK;
}

void ht_marks_free(struct ht_marks *marks) {
    free(marks->mark);
    free(marks->outline);
    *marks = (struct ht_marks){0};
}

void ht_marks_show(const struct ht_marks *marks, struct ht_picture *picture) {
    picture->mark = marks->mark;
    picture->marks = marks->marks;
    picture->outline = marks->outline;
    picture->outlines = marks->outlines;
}
