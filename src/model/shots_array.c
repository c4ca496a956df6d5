/* Elements of arrays of sources: places, delays towards a focus or along a direction, weights. */
#include "htwave/shots.h"

/* Unit vectors of an array: where it faces, along its row, and across both. */
struct frame {
    double normal[3], along[3], across[3];
};

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool make_frame(const struct ht_shot_given *given, bool round, int dims, struct frame *f) {
    const double length = sqrt(dot(given->direction, given->direction));
    int axis = round ? 0 : (int)given->axis;
    for (int k = 0; k < 3; k++) f->normal[k] = given->direction[k] / length;
    for (int k = 1; k < dims && round; k++)
        if (fabs(f->normal[k]) < fabs(f->normal[axis])) axis = k;
    for (int k = 0; k < 3; k++) f->along[k] = (k == axis) - f->normal[axis] * f->normal[k];
    const double part = sqrt(dot(f->along, f->along));
    for (int k = 0; k < 3; k++) f->along[k] /= part;
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        f->across[k] = f->normal[i] * f->along[j] - f->normal[j] * f->along[i];
    }
    return part > 1e-6;
}

/* The place of element e, and its distance from the centre as a part of the array's half. Round
 * ones have equal areas around each element: turned by the golden angle; on a plane grid they are
 * rows. */
static void place(const struct ht_shot_given *given, const struct ht_source_type *type,
                  const struct frame *f, int dims, int e, double x[3], double *part) {
    const double n = given->elements, r = given->curvature, half = given->width / 2;
    const double golden = HT_PI * (3 - sqrt(5.0));
    const double side = 2 * (e + 0.5) / n - 1; /* -1 .. 1 */
    double at[3] = {0};                        /* along the row, across it, before the centre */
    if (type->round && dims == 3) {
        const double share = (e + 0.5) / n, depth = type->bent ? r - sqrt(r * r - half * half) : 0;
        const double radius =
            type->bent ? sqrt(2 * r * depth * share - pow(depth * share, 2)) : half * sqrt(share);
        at[0] = radius * cos(golden * e);
        at[1] = radius * sin(golden * e);
        at[2] = depth * share;
        *part = sqrt(share);
    } else {
        const double whole =
            type->round ? (type->bent ? r * asin(half / r) : half) : given->pitch * n / 2;
        *part = fabs(side);
        at[0] = type->bent ? r * sin(side * whole / r) : side * whole;
        at[2] = type->bent ? r * (1 - cos(side * whole / r)) : 0;
    }
    for (int k = 0; k < 3; k++)
        x[k] =
            given->position[k] + at[0] * f->along[k] + at[1] * f->across[k] + at[2] * f->normal[k];
}

int ht_shot_elements(const struct ht_shot_given *given) {
    return ht_source_is_array(&ht_source_types[given->type]) ? given->elements : 1;
}

/* Time by which the waves of an element come too late. */
static double lag(const struct ht_shot_given *given, bool focused, const double x[3]) {
    const double *to = given->focus, *n = given->steer, length = sqrt(dot(n, n));
    if (focused) return hypot(hypot(x[0] - to[0], x[1] - to[1]), x[2] - to[2]);
    return length > 0 ? -dot(n, x) / length : 0;
}

double ht_shot_area(const struct ht_shot_given *given, int dims) {
    const struct ht_source_type *type = &ht_source_types[given->type];
    const double half = given->width / 2, r = given->curvature, n = given->elements;
    if (type->row) return dims == 2 ? given->pitch : 0;
    if (!type->round) return 0;
    if (dims == 2) return 2 * (type->bent ? r * asin(half / r) : half) / n;
    return HT_PI * (type->bent ? 2 * r * (r - sqrt(r * r - half * half)) : half * half) / n;
}

enum ht_err ht_shot_element(const struct ht_params *params, const struct ht_medium *medium,
                            int group, int e, struct ht_shot *shot) {
    const struct ht_shot_given *given =
        (const struct ht_shot_given *)params->shots.group + group - 1;
    const bool focused = ht_params_is_set(params, HT_KEY("sources.%d.focus", group));
    const int dims = medium->grid->dims;
    double speed = given->speed, latest = -INFINITY, part, x[3];
    struct frame f = {{0}, {0}, {0}};
    REFUSE(!make_frame(given, shot->type->round, dims, &f), params,
           HT_KEY("sources.%d.axis", group),
           "is the direction in which the array faces: its row is across that");
    if (!(speed > 0)) TRY(ht_medium_speed(medium, given->position, &speed));
    for (int i = 0; i < given->elements; i++) {
        place(given, shot->type, &f, dims, i, x, &part);
        latest = fmax(latest, lag(given, focused, x));
    }
    place(given, shot->type, &f, dims, e, shot->first, &part);
    memcpy(shot->last, shot->first, sizeof shot->last);
    shot->width = 0;
    shot->delay += (latest - lag(given, focused, shot->first)) / speed;
    if (given->apodisation == HT_APODISE_HANN) shot->amplitude *= pow(cos(HT_PI * part / 2), 2);
    return HT_OK;
}
