/* Shots from parameters, and their nodes; see the header. */
#include "htwave/shots.h"

int ht_shot_dims(const struct ht_shot *shot) {
    return shot->varies[0] + shot->varies[1] + shot->varies[2];
}

int ht_shot_order(const struct ht_equations *eq, const struct ht_shot *shot) {
    const struct ht_second_order *form = &eq->second_order;
    return form->known && form->rate < 0 && shot->drive[0].field == form->field;
}

int ht_shot_slope(const struct ht_equations *eq, const struct ht_drive *drive) {
    int axis = eq->second_order.known && eq->second_order.rate < 0 ? 2 : -1;
    while (axis >= 0 && eq->second_order.flux[axis] != drive->field) axis--;
    return axis;
}

/* Of u_tt = c^2 div grad u + f(t) delta(x) in d dimensions u far away is f divided by the power
 * (3 - d)/2 of the frequency; fields of first order are as u_t. */
void ht_shot_bands(const struct ht_equations *eq, const struct ht_shot *shot,
                   double out[HT_SIGNAL_BANDS]) {
    const bool rate = eq->second_order.known && eq->second_order.rate >= 0;
    double whole = 0, power = (rate ? 0 : 1) + 0.5 * (ht_shot_dims(shot) - 3);
    if (shot->type->outside) power = 0;
    for (int b = 0; b < HT_SIGNAL_BANDS; b++) {
        out[b] = shot->signal->band[b] * pow(b + 0.5, 2 * power);
        whole += out[b];
    }
    for (int b = 0; b < HT_SIGNAL_BANDS && whole > 0; b++) out[b] /= whole;
}

double ht_shot_band(const struct ht_shot *shot, int band) {
    return shot->signal->highest * 2 * (band + 0.5) / HT_SIGNAL_BANDS;
}

/* ---- plane waves ---- */

/* out = -sum of the terms' factors, materials and directions times `from`: exp(i (omega t - k x)),
 * over i k. */
static void change(const struct ht_equations *eq, const double *material, const double n[3],
                   const double *from, double *out) {
    for (int f = 0; f < eq->nfields; f++) out[f] = 0;
    HT_EACH(const struct ht_term, term, eq->term, eq->nterms)
        if (term->derivative == 1)
            out[term->row] -= term->coef * n[term->axis] * from[term->col] *
                              (term->material < 0 ? 1 : material[term->material]);
}

/* The scalar or the vector alone. */
static void polarise(const struct ht_shot *shot, const double n[3], double *field) {
    double along = 0;
    for (int f = 0; f < HT_MAX_FIELDS; f++) field[f] = 0;
    for (int i = 0; i < shot->drives; i++)
        if (shot->drive[i].axis >= 0) along += shot->drive[i].weight * n[shot->drive[i].axis];
    HT_EACH(const struct ht_drive, drive, shot->drive, shot->drives) {
        const double part = drive->axis < 0 ? 0 : along * n[drive->axis];
        field[drive->field] = shot->along ? part : drive->weight - part;
    }
}

void ht_shot_fields(const struct ht_equations *eq, const struct ht_shot *shot,
                    const double *material, const double direction[3], double *field) {
    const double length = hypot(hypot(direction[0], direction[1]), direction[2]);
    const double n[3] = {direction[0] / length, direction[1] / length, direction[2] / length};
    double other[HT_MAX_FIELDS];
    polarise(shot, n, field);
    change(eq, material, n, field, other);
    for (int f = 0; f < eq->nfields; f++) field[f] += other[f] / shot->speed;
}

/* The square of the speed is that by which what the vector changes changes it. */
static double speed_of(const struct ht_equations *eq, const struct ht_shot *shot,
                       const double *material) {
    double field[HT_MAX_FIELDS], other[HT_MAX_FIELDS], again[HT_MAX_FIELDS];
    double product = 0, square = 0;
    polarise(shot, shot->direction, field);
    change(eq, material, shot->direction, field, other);
    change(eq, material, shot->direction, other, again);
    for (int f = 0; f < eq->nfields; f++) {
        product += field[f] * again[f];
        square += field[f] * field[f];
    }
    return product > 1e-20 * square ? sqrt(product / square) : 0;
}

/* The part of the polarisation along the direction, or normal to it if there is more than rounding
 * of that, gets length 1. */
static void turn_normal(struct ht_shot *shot) {
    double along = 0, square = 0;
    for (int i = 0; i < shot->drives; i++)
        along += shot->drive[i].weight * shot->direction[shot->drive[i].axis];
    for (int i = 0; i < shot->drives; i++)
        square += pow(shot->drive[i].weight - along * shot->direction[shot->drive[i].axis], 2);
    shot->along = square < 1e-18;
    for (int i = 0; i < shot->drives; i++) {
        const double n = shot->direction[shot->drive[i].axis];
        double *weight = &shot->drive[i].weight;
        *weight = shot->along ? copysign(n, along * n) : (*weight - along * n) / sqrt(square);
    }
}

static HT_ERR find_speed(const struct ht_params *params, const struct ht_medium *medium, int group,
                         struct ht_shot *shot) {
    const struct ht_equations *eq = medium->eq;
    const char *name = eq->field[shot->drive[0].field].name;
    double material[HT_MAX_MATERIALS], square = 0;
    const char *key = HT_KEY("sources.%d.polarisation", group);
    REFUSE(shot->drive[0].axis < 0 && ht_params_is_set(params, key), params, key,
           "is for vectors, but %s has plane waves of %s", eq->system->name, name);
    if (shot->drive[0].axis < 0) return ht_medium_speed(medium, shot->first, &shot->speed);
    for (int i = 0; i < shot->drives; i++) square += pow(shot->drive[i].weight, 2);
    REFUSE(!(square > 0), params, ht_params_is_set(params, key) ? key : HT_KEY("sources.%d", group),
           "a plane wave of %s needs a polarisation that is not zero: the direction of its %.1s",
           eq->system->name, name);
    turn_normal(shot);
    TRY(ht_medium_point(medium, shot->first, material));
    shot->speed = speed_of(eq, shot, material);
    if (shot->speed > 0) return HT_OK;
    return ht_params_error(params, key,
                           shot->along
                               ? "is along the direction: %s has no waves with %.1s along it"
                               : "is across the direction: at from %s has no waves with "
                                 "%.1s across it",
                           eq->system->name, name);
}

static HT_ERR find_drives(const struct ht_params *params, const struct ht_equations *eq, int group,
                          struct ht_shot *shot) {
    const struct ht_shot_given *groups = params->shots.group;
    const bool outside = shot->type->outside != NULL;
    const char *missing;
    shot->drives = ht_source_drives(&groups[group - 1], eq, shot->drive, &missing);
    for (int k = eq->dims; k < 3 && outside; k++)
        REFUSE(shot->direction[k] != 0, params, HT_KEY("sources.%d.direction", group),
               "has an entry for x%d, but the grid has %d %s (grid.cells)", k + 1, eq->dims,
               eq->dims > 1 ? "axes" : "axis");
    REFUSE(missing, params,
           HT_KEY("sources.%d.%s", group, outside ? "polarisation" : shot->kind->takes),
           "has a number for %s, but %s has none on a grid of %d %s (grid.cells)", missing,
           eq->system->name, eq->dims, eq->dims > 1 ? "axes" : "axis");
    if (shot->drives > 0) return HT_OK;
    REFUSE(outside, params, HT_KEY("sources.%d.type", group), "%s has no plane waves from outside",
           eq->system->name);
    return ht_params_error(params, HT_KEY("sources.%d.kind", group),
                           "%s has no sources of kind \"%s\"", eq->system->name, shot->kind->word);
}

/* Both ends lie in the box, then in no layer; planes pass through layers of sides they cross. */
static HT_ERR check_places(const struct ht_params *params, const struct ht_grid *grid,
                           const struct ht_shot *shot, int group) {
    HT_EACH_BY(n, const char, name, shot->type->place[n % 2], 4) {
        const double *at = n % 2 ? shot->last : shot->first;
        double x[3];
        int k = ht_point_outside(grid, at);
        REFUSE(k >= 0, params, HT_KEY("sources.%d.%s", group, name),
               "x%d = %.12g is outside of the box, which has %.12g to %.12g there", k + 1, at[k],
               ht_grid_end(grid, k, 0), ht_grid_end(grid, k, 1));
        for (k = 0; k < 3; k++)
            x[k] = k < grid->dims && !shot->varies[k] ? ht_grid_middle(grid, k) : at[k];
        REFUSE(n > 1 && ht_layers_hold(grid, x, &k), params, HT_KEY("sources.%d.%s", group, name),
               "x%d = %g is inside an absorbing layer: between the layers are %g to %g", k + 1,
               x[k], ht_layers_end(grid, k, 0), ht_layers_end(grid, k, 1));
    }
    return HT_OK;
}

/* The spectrum of a narrower Gaussian reaches beyond the grid's waves; of a wider one than the box,
 * images at the sides have no end. */
static HT_ERR check_width(const struct ht_params *params, const struct ht_grid *grid,
                          const struct ht_shot *shot, int group) {
    const double widest = ht_grid_widest(grid);
    double longest = 0;
    for (int k = 0; k < grid->dims; k++) longest = fmax(longest, grid->upper[k] - grid->lower[k]);
    REFUSE(shot->width > longest, params, HT_KEY("sources.%d.width", group),
           "a volume is as wide as the box is long, %.6g, at most", longest);
    REFUSE(shot->width > 0 && shot->width < widest * (1 - 1e-9), params,
           HT_KEY("sources.%d.width", group),
           "the grid resolves volumes of %.6g and more, its largest spacing: take that, more "
           "cells, or a point",
           widest);
    return HT_OK;
}

/* A wall on which the field is 0, or NULL. */
static const struct ht_wall_kind *silencing(const struct ht_medium *medium, int field,
                                            const double x[3]) {
    const struct ht_grid *grid = medium->grid;
    for (int n = 0; n < 2 * grid->dims; n++) {
        const int k = n / 2, factor = grid->wall[k][n % 2];
        const double end = n % 2 ? grid->upper[k] : grid->lower[k];
        if (ht_wall_sign(medium->eq, field, k, factor) < 0 && fabs(x[k] - end) <= 1e-9 * grid->h[k])
            return ht_wall_of(medium->eq->system, factor);
    }
    return NULL;
}

static void warn_silent(const struct ht_medium *medium, const struct ht_shot *shot, int group) {
    const struct ht_wall_kind *wall = NULL;
    int silent = 0;
    for (int i = 0; i < shot->points; i++) {
        const struct ht_wall_kind *on = NULL;
        double x[3];
        ht_shot_position(shot, i, x);
        for (int d = 0; d == 0 || (on != NULL && d < shot->drives); d++)
            on = silencing(medium, shot->drive[d].field, x);
        if (on == NULL) continue;
        silent++;
        wall = on;
    }
    if (silent > 0)
        ht_warn("sources.%d: %d of %d point%s on a %s wall, where the field is 0: silent", group,
                silent, shot->points, shot->points > 1 ? "s are" : " is", wall->name);
}

/* A monopole adds to the mean, which nothing takes away. */
static void warn_constant(const struct ht_grid *grid, const struct ht_shot *shot, int group) {
    const double part = shot->signal->constant;
    bool stays = !ht_layers_any(grid) && !ht_grid_closes(grid);
    for (int k = 0; k < 3 && k < grid->dims; k++)
        stays = stays && grid->wall[k][0] >= 0 && grid->wall[k][1] >= 0;
    if (shot->points > 0 && shot->kind->stays && stays && fabs(part) > 1e-3)
        ht_warn("sources.%d: the signal has a constant part (%.2g of its size), and no side of the "
                "box is free: the mean of the field does not return to 0",
                group, part);
}

/* What comes before the run is lost, as a jump. */
static HT_ERR check_begin(const struct ht_params *params, const struct ht_shot *shot, int group) {
    const int samples = 1000;
    const struct ht_signal *t = shot->signal;
    const double last = fmin(-shot->delay, t->end);
    double before = 0; /* the largest |s|, of the signal's largest */
    for (int i = 0; i <= samples && last > t->begin; i++) {
        const double at = t->begin + (last - t->begin) * i / samples;
        before = fmax(before, fabs(ht_signal_at(t, at, 0)) / t->largest);
    }
    REFUSE(before > 1e-3, params, HT_KEY("sources.%d.delay", group),
           "the signal has up to %.2g of its largest value before the run begins: must be %.6g or "
           "more",
           before, 0 - t->begin);
    return HT_OK;
}

static void set_place(const struct ht_shot_given *given, const struct ht_grid *grid,
                      struct ht_shot *shot) {
    shot->type = &ht_source_types[given->type];
    shot->kind = &ht_source_kinds[given->kind];
    shot->points = shot->type->outside ? 0 : (int)ht_most(1, given->count);
    for (int k = 0; k < grid->dims; k++)
        shot->varies[k] = !shot->type->flat || k == (int)given->axis;
    shot->axis = (int)given->axis;
    shot->width = given->width;
    const bool ends = strcmp(shot->type->place[0], "from") == 0;
    memcpy(shot->first, ends ? given->from : given->position, sizeof shot->first);
    memcpy(shot->last, ends ? given->to : given->position, sizeof shot->last);
    if (!shot->type->flat) return;
    for (int k = 0; k < 3; k++) shot->first[k] = ht_grid_middle(grid, k); /* of the plane */
    shot->first[given->axis] = given->at;
    memcpy(shot->last, shot->first, sizeof shot->last);
}

/* ---- arrays: places, delays towards a focus or along a direction, weights of elements ---- */

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
 * ones have equal areas around each element: turned by the golden angle; on a plane grid rows. */
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

/* Time by which the waves of an element come too late. */
static double lag(const struct ht_shot_given *given, bool focused, const double x[3]) {
    const double *to = given->focus, *n = given->steer, length = sqrt(dot(n, n));
    if (focused) return hypot(hypot(x[0] - to[0], x[1] - to[1]), x[2] - to[2]);
    return length > 0 ? -dot(n, x) / length : 0;
}

/* The area that an element stands for, in two dimensions its length; 0: none. */
static double area_of(const struct ht_shot_given *given, int dims) {
    const struct ht_source_type *type = &ht_source_types[given->type];
    const double half = given->width / 2, r = given->curvature, n = given->elements;
    if (type->row) return dims == 2 ? given->pitch : 0;
    if (!type->round) return 0;
    if (dims == 2) return 2 * (type->bent ? r * asin(half / r) : half) / n;
    return HT_PI * (type->bent ? 2 * r * (r - sqrt(r * r - half * half)) : half * half) / n;
}

/* Place, delay and amplitude of one element, where the group's delay and amplitude are set. */
static HT_ERR set_element(const struct ht_params *params, const struct ht_medium *medium, int group,
                          int e, struct ht_shot *shot) {
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

/* ---- from parameters ---- */

/* A surface moving with the volume s per time and area has waves p = rho c s/2 on either side. */
static HT_ERR take_pressure(const struct ht_params *params, const struct ht_medium *medium,
                            const struct ht_shot_given *given, struct ht_shot *shot) {
    const struct ht_second_order *form = &medium->eq->second_order;
    const int dims = medium->grid->dims;
    const double area =
        shot->type->flat || (dims == 1 && shot->width == 0) ? 1 : area_of(given, dims);
    double modulus, speed;
    REFUSE(form->rate >= 0, params, HT_KEY("sources.%d.kind", shot->group),
           "%s has no pressure: take a monopole", medium->eq->system->name);
    REFUSE(!(area > 0), params, HT_KEY("sources.%d.kind", shot->group),
           "is for surfaces: planes, discs, bowls, and arrays in two dimensions; the pressure of "
           "points depends on the distance: take a monopole");
    TRY(ht_medium_speed(medium, shot->first, &speed));
    TRY(ht_medium_parameter(medium, medium->eq->system->material[form->modulus].name, shot->first,
                            &modulus));
    shot->amplitude *= 2 * area * speed / modulus;
    return HT_OK;
}

/* That of shots, the last ones first, as elements of an array follow each other; NULL: none. */
static struct ht_signal *find_signal(const struct ht_shots *shots,
                                     const struct ht_shot_given *given) {
    for (int i = shots != NULL ? shots->count - 1 : -1; i >= 0; i--)
        if (shots->shot[i].signal != NULL && ht_signal_is_of(shots->shot[i].signal, given)) {
            shots->shot[i].signal->holders++;
            return shots->shot[i].signal;
        }
    return NULL;
}

static HT_ERR add_shot(const struct ht_params *params, const struct ht_shots *before,
                       struct ht_shots *shots, int group, int element) {
    const struct ht_medium *medium = shots->medium;
    const struct ht_shot_given *given =
        (const struct ht_shot_given *)params->shots.group + group - 1;
    TRY(HT_GROW(shots->shot, shots->count + 1, shots->room));
    struct ht_shot *shot = &shots->shot[shots->count++];
    *shot = (struct ht_shot){.group = group};
    set_place(given, medium->grid, shot);
    struct ht_shot_given until = *given;
    until.until = params->time.end;
    shot->signal = find_signal(shots, &until);
    if (shot->signal == NULL) shot->signal = find_signal(before, &until);
    if (shot->signal == NULL)
        TRY(ht_params_blame(params, HT_KEY("sources.%d.file", group),
                            ht_signal_create(&until, &shot->signal)));
    shot->amplitude = given->amplitude;
    shot->delay = ht_value_or(&given->delay, fmax(0, -shot->signal->begin));
    if (ht_source_is_array(shot->type)) TRY(set_element(params, medium, group, element, shot));
    shot->tolerance = given->tolerance;
    shot->radius = ht_value_or(&given->radius, 0);
    const double *d = given->direction, length = hypot(hypot(d[0], d[1]), d[2]);
    for (int k = 0; k < 3; k++) shot->direction[k] = length > 0 ? d[k] / length : 0;
    TRY(find_drives(params, medium->eq, group, shot));
    if (shot->kind->pressure && !shot->type->outside)
        TRY(take_pressure(params, medium, given, shot));
    TRY(check_places(params, medium->grid, shot, group));
    TRY(check_width(params, medium->grid, shot, group));
    if (shot->type->outside) TRY(find_speed(params, medium, group, shot));
    for (int k = 0; shot->type->outside && k < medium->grid->dims; k++) { /* from < to is known */
        const double low = shot->direction[k] * shot->first[k];
        const double high = shot->direction[k] * shot->last[k];
        shot->corner += fmin(low, high);
        shot->crossing += fabs(high - low) / shot->speed;
    }
    TRY(check_begin(params, shot, group));
    warn_silent(medium, shot, group);
    const double begin = shot->signal->begin + shot->delay;
    if (element == 0 && begin >= params->time.end && params->time.end > 0)
        ht_warn("sources.%d: the signal begins at %g, after the run's end", group, begin);
    if (element == 0) warn_constant(medium->grid, shot, group); /* of an array said once */
    shots->highest = fmax(shots->highest, shot->signal->highest);
    shots->end = fmax(shots->end, shot->signal->end + shot->delay + 1.25 * shot->crossing);
    return HT_OK;
}

static HT_ERR make(const struct ht_params *params, const struct ht_medium *medium,
                   const struct ht_shots *before, struct ht_shots *shots) {
    const struct ht_shot_given *given = params->shots.group;
    shots->medium = medium;
    for (int i = 0; i < params->shots.count; i++) {
        const bool array = ht_source_is_array(&ht_source_types[given[i].type]);
        for (int e = 0; e < (array ? given[i].elements : 1); e++)
            TRY(add_shot(params, before, shots, i + 1, e));
    }
    return HT_OK;
}

HT_ERR ht_shots_create(const struct ht_params *params, const struct ht_medium *medium,
                       const struct ht_shots *before, struct ht_shots **out) {
    *out = NULL;
    if (params->shots.count == 0) return HT_OK;
    HT_CREATE(out, make(params, medium, before, *out), ht_shots_destroy);
}

void ht_shots_destroy(struct ht_shots *shots) {
    if (shots == NULL) return;
    for (int i = 0; i < shots->count; i++) ht_signal_destroy(shots->shot[i].signal);
    free(shots->shot);
    free(shots);
}

double ht_shot_at(const struct ht_shot *shot, double time, int order) {
    const double t = time - shot->delay;
    if (t < shot->signal->begin) return 0;
    return shot->amplitude * ht_signal_at(shot->signal, t, order);
}

bool ht_shot_acts(const struct ht_shot *shot, double from, double to) {
    const struct ht_signal *t = shot->signal;
    return to - shot->delay >= t->begin && from - shot->delay <= t->end;
}

void ht_shot_position(const struct ht_shot *shot, int point, double x[3]) {
    const double part = shot->points > 1 ? point / (shot->points - 1.0) : 0;
    for (int k = 0; k < 3; k++) x[k] = (1 - part) * shot->first[k] + part * shot->last[k];
}
