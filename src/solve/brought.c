/* What data and sources bring to the energy of a run. Of u_t = L u + g(x) s(t), where L adds
 * nothing to the energy E, a quadratic form, the root of E grows by no more than |g| int |s| dt,
 * |g| the root of g's own energy. That of a delta is the one of its shape: a Gaussian of
 * docs/sources.md, or what the grid of finite differences carries, one node per spacing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/energy.h"

/* ---- shapes ---- */

/* The integral of g^2 of a Gaussian of order Q along an axis, its width given:
 * by its spectrum. */
static double gaussian_square(int order, double width) {
    const double apart = 0.05;
    const int count = (int)((sqrt(2.0 * order) + 6) / apart);
    double sum = 0;
    for (int i = 0; i < count; i++) sum += pow(1 - ht_flat_missing(order, (i + 0.5) * apart), 2);
    return sum * apart / (HT_PI * width);
}

/* Integral of g^2 of a shot's point along an axis; *reach: where it ends. */
static double axis_square(const struct ht_plan *plan, int shot, int axis, double *reach) {
    const struct ht_shot *s = &plan->shots->shot[shot];
    const double h = plan->grid.h[axis], between = 1.3; /* nodes */
    *reach = 0;
    if (!s->varies[axis]) return plan->grid.upper[axis] - plan->grid.lower[axis];
    if (plan->duhamel != NULL) {
        const struct ht_source_form *form = &plan->duhamel->form[shot];
        *reach = form->reach[axis] * h;
        return gaussian_square(form->order, form->along[axis] * h);
    }
    *reach = s->width > 0 ? HT_POINT_WIDEST * s->width : ht_point_reach(&plan->grid) * h;
    return s->width > 0 ? gaussian_square(1, s->width) : between / h;
}

/* At most: mirror images behind walls, or across a periodic box, add n parts of g, whose squares
 * together are those of g, and so n times that. */
static double parts_along(const struct ht_grid *grid, int axis, double x, double reach) {
    const double length = grid->upper[axis] - grid->lower[axis];
    double parts = 1 + floor(2 * reach / length);
    for (int side = 0; side < 2; side++)
        parts += !ht_grid_periodic(grid, axis) &&
                 fabs(x - (side ? grid->upper[axis] : grid->lower[axis])) < reach;
    return parts;
}

/* Half of g^T C^+ g of the fields that a shot of a pair drives, C of the materials at x. */
static enum ht_err pair_density(const struct ht_plan *plan, const struct ht_shot *s,
                                const double x[3], double *out) {
    double c[HT_MAX_FIELDS][HT_MAX_FIELDS] = {{0}}, g[HT_MAX_DRIVES], y[HT_MAX_DRIVES];
    double of[HT_MAX_DRIVES];
    struct ht_pair pair;
    (void)ht_pair_make(&plan->eq, HT_PAIR_TOGETHER, &pair);
    for (int i = 0; i < s->drives; i++) {
        for (int t = 0; t < pair.nterms; t++)
            for (int j = 0; j < s->drives; j++) {
                const struct ht_pair_term *term = &pair.term[t];
                if (term->row != s->drive[i].field || term->partner != s->drive[j].field) continue;
                const int material = pair.coefficient[term->coefficient].material;
                TRY(ht_medium_parameter(plan->medium, plan->eq.system->material[material].name, x,
                                        &c[i][j]));
            }
        of[i] = g[i] = s->drive[i].weight * (s->drive[i].material >= 0 ? c[i][i] : 1);
    }
    ht_pair_invert(s->drives, c, g, y);
    for (int i = 0; i < s->drives; i++) *out += of[i] * y[i] / 2;
    return HT_OK;
}

/* Energy of g of one point; *widest: the largest reach. */
static enum ht_err point_square(const struct ht_plan *plan, int shot, int n, double *widest,
                                double *out) {
    const struct ht_shot *s = &plan->shots->shot[shot];
    const struct ht_second_order *form = &plan->eq.second_order;
    const int of_drive = s->drive[0].material;
    const int material = of_drive < 0 ? form->modulus : of_drive;
    double x[3], value = 1;
    const bool pair = plan->problem.fd.pair != HT_PAIR_NONE;
    ht_shot_position(s, n, x);
    if (material >= 0 && !pair)
        TRY(ht_medium_parameter(plan->medium, plan->eq.system->material[material].name, x, &value));
    /* g is the material delta, or delta alone, in a field that is divided by the material in the
     * energy */
    *out = pair ? 0 : of_drive < 0 ? 0.5 / value : value / 2;
    if (pair) TRY(pair_density(plan, s, x, out));
    *widest = 0;
    for (int k = 0; k < plan->grid.dims; k++) {
        double reach;
        *out *= axis_square(plan, shot, k, &reach);
        *out *= parts_along(&plan->grid, k, x[k], reach);
        *widest = fmax(*widest, reach);
    }
    return HT_OK;
}

/* Of a plane wave's box: beside each face two cells of the wave in a time of h/c, twice. */
static enum ht_err surface_norm(const struct ht_plan *plan, int shot, double *out) {
    const struct ht_shot *s = &plan->shots->shot[shot];
    const struct ht_second_order *form = &plan->eq.second_order;
    double modulus, speed, sum = 0;
    TRY(ht_medium_parameter(plan->medium, plan->eq.system->material[form->modulus].name, s->first,
                            &modulus));
    TRY(ht_medium_speed(plan->medium, s->first, &speed));
    for (int k = 0; k < plan->grid.dims; k++) {
        const double h = plan->grid.h[k];
        double area = 1;
        for (int j = 0; j < plan->grid.dims; j++)
            if (j != k) area *= s->last[j] - s->first[j] + 2 * plan->grid.h[j];
        /* wave: u_t and gradients of u of the highest frequency */
        const double rate = form->rate < 0 ? 1 : 2 * HT_PI * ht_signal_traits(s->signal).highest;
        sum += 2 * rate * speed / h * sqrt(4 * h * area / modulus);
    }
    *out = sum;
    return HT_OK;
}

/* Of g, with the points of a line: as many of them as overlap count as one. */
static enum ht_err shot_norm(const struct ht_plan *plan, int shot, double *out) {
    const struct ht_shot *s = &plan->shots->shot[shot];
    double sum = 0, reach = 0, length = 0;
    if (s->type->outside) return surface_norm(plan, shot, out);
    for (int n = 0; n < s->points; n++) {
        double square;
        TRY(point_square(plan, shot, n, &reach, &square));
        sum += square;
    }
    for (int k = 0; k < plan->grid.dims; k++) length += pow(s->last[k] - s->first[k], 2);
    const double apart = s->points > 1 ? sqrt(length) / (s->points - 1) : 0;
    const double over = apart > 0 ? 1 + floor(4 * reach / apart) : s->points;
    *out = sqrt(fmin(over, s->points) * sum);
    return HT_OK;
}

enum ht_err ht_plan_weigh_shots(struct ht_plan *plan) {
    if (plan->shots == NULL || !(plan->problem.dt > 0)) return HT_OK;
    TRY(HT_ALLOC(plan->shot_norm, plan->shots->count));
    for (int i = 0; i < plan->shots->count; i++) TRY(shot_norm(plan, i, &plan->shot_norm[i]));
    return HT_OK;
}

/* ---- in time ---- */

/* The integral of |s| between two times, of a plane wave the time in which it is in its box. */
static double acted(const struct ht_shot *shot, double dt, double from, double to) {
    const struct ht_signal_traits t = ht_signal_traits(shot->signal);
    const double past = t.end + shot->delay + 1.25 * shot->crossing;
    from = fmax(from, t.begin + shot->delay);
    to = fmin(to, past + dt);
    if (!(from < to)) return 0;
    if (shot->type->outside) return (to - from) * fabs(shot->amplitude) * t.largest;
    const int64_t count = (int64_t)ceil(2 * (to - from) / dt);
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += fabs(ht_shot_at(shot, from + (to - from) * ((double)i + 0.5) / (double)count, 0));
    return sum * (to - from) / (double)count;
}

double ht_plan_pushed(const struct ht_plan *plan, double from, double to) {
    double sum = 0;
    for (int i = 0; plan->shot_norm != NULL && i < plan->shots->count; i++)
        sum += plan->shot_norm[i] * acted(&plan->shots->shot[i], plan->problem.dt, from, to);
    return sum;
}

/* A step looks at the signal a step before and after it. */
double ht_plan_undriven(const struct ht_plan *plan) {
    return plan->shots == NULL ? 0 : plan->shots->end + plan->problem.dt;
}

double ht_plan_shot_points(const struct ht_plan *plan) {
    double widest = 0;
    for (int k = 0; k < plan->grid.dims; k++) widest = fmax(widest, plan->grid.h[k]);
    return plan->medium->slowest / (plan->shots->highest * widest);
}
