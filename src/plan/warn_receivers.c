/* Warns of receivers whose traces err by more than what is said of the run:
 * near sources of Hermite methods, beside the boxes of plane waves from
 * outside by finite differences, and between steps that are too long for
 * leapfrog's signals.
 */
#include "warn_receivers.h"

#include <math.h>

#include "htwave/resampler.h"
#include "src/hermite/duhamel_private.h"
#include "src/solve/sampler_private.h"

static const double pi = 3.14159265358979323846;

/* ---- near sources ---- */

/* The part of a Gaussian beyond a distance in its radii, by magnitude: there
 * the source acts on both sides. */
static double beyond(int order, double distance) {
    const double apart = 0.05, end = 12;
    double sum = 0;
    const int count =
        distance < end ? (int)ceil((end - distance) / apart - 0.5) : 0;
    for (int n = 0; n < count; n++) {
        const double x = distance + (n + 0.5) * apart;
        long double value;
        ht_flat_derivatives(order, x, 1, &value);
        sum += apart * fabs((double)value);
    }
    return sum;
}

struct nearest {
    double error, distance; /* distance: cells */
    int shot;
    double x[3];
};

static void judge_point(const struct ht_plan *plan,
                        const struct ht_source_point *point, const double x[3],
                        struct nearest *worst) {
    const struct ht_source_form *form = &plan->duhamel->form[point->shot];
    double square = 0;
    if (plan->shots->shot[point->shot].type == HT_SHOT_VOLUME) return;
    for (int k = 0; k < plan->grid.dims; k++) {
        if (!ht_source_reaches(&plan->problem, point, k, x[k])) return;
        if (ht_source_varies(form, k))
            square += pow((x[k] - point->x[k]) / plan->grid.h[k], 2);
    }
    const double distance = sqrt(square);
    const double error = beyond(form->order, distance / form->radius);
    if (error <= worst->error) return;
    *worst = (struct nearest){.error = error,
                              .distance = distance,
                              .shot = point->shot,
                              .x = {x[0], x[1], x[2]}};
}

static void place_of(const struct ht_plan *plan, const double x[3],
                     char out[96]) {
    int length = 0;
    for (int k = 0; k < plan->grid.dims; k++)
        length += snprintf(out + length, 96 - (size_t)length, "%s%g",
                           length ? ", " : "", x[k]);
}

static void warn_near(const struct ht_plan *plan) {
    struct nearest worst = {.error = 0};
    char place[96];
    for (int64_t t = 0; t < plan->receivers->traces; t++) {
        const struct ht_trace trace = ht_trace_at(plan->receivers, t);
        for (int64_t i = 0; i < plan->duhamel->points; i++)
            judge_point(plan, &plan->duhamel->point[i], trace.x, &worst);
    }
    if (worst.error <= fmax(0.01, plan->duhamel->form[worst.shot].error))
        return;
    place_of(plan, worst.x, place);
    ht_warn("receivers: the one at (%s) is %.2g cells from sources.%d, whose "
            "Gaussian of radius %g is no point there: up to %.2g %% of it lie "
            "further away; take more cells, or another place",
            place, worst.distance, worst.shot + 1,
            plan->duhamel->form[worst.shot].radius, 100 * worst.error);
}

/* ---- beside boxes of plane waves ---- */

/* Whether a box is as long as the grid along an axis. */
static bool is_open(const struct ht_grid *grid, const struct ht_shot *shot,
                    int axis) {
    const double close = 1e-9 * grid->h[axis];
    return shot->first[axis] <= grid->lower[axis] + close &&
           shot->last[axis] >= grid->upper[axis] - close;
}

/* Values between nodes on both sides of a box's surface are of no field. */
static int reach_of(const struct ht_plan *plan) {
    return plan->grid.point_nodes / 2;
}

static bool beside(const struct ht_plan *plan, const struct ht_shot *shot,
                   const double x[3]) {
    const int reach = reach_of(plan);
    bool near = false;
    for (int k = 0; k < plan->grid.dims; k++) {
        const double h = reach * plan->grid.h[k];
        if (is_open(&plan->grid, shot, k)) continue;
        if (x[k] < shot->first[k] - h || x[k] > shot->last[k] + h) return false;
        near = near || fabs(x[k] - shot->first[k]) < h ||
               fabs(x[k] - shot->last[k]) < h;
    }
    return near;
}

static void warn_beside(const struct ht_plan *plan) {
    for (int64_t t = 0; t < plan->receivers->traces; t++)
        for (int i = 0; i < plan->shots->count; i++) {
            const struct ht_trace trace = ht_trace_at(plan->receivers, t);
            const struct ht_shot *shot = &plan->shots->shot[i];
            char place[96];
            if (shot->type != HT_SHOT_INCIDENT || !beside(plan, shot, trace.x))
                continue;
            place_of(plan, trace.x, place);
            ht_warn("receivers: the one at (%s) takes values from both sides "
                    "of the surface of the box of sources.%d, where fields "
                    "jump: move it %g or more away",
                    place, i + 1, reach_of(plan) * ht_source_cell(plan));
            return;
        }
}

/* ---- between steps ---- */

/* Of a shot's energy the part above what the sinc carries, as an amplitude. */
static void warn_between(const struct ht_plan *plan) {
    const struct ht_resampling of = ht_resampling_of(plan);
    const double most = 0.01, carried = 2.4;
    const double highest = carried * of.per_step / (2 * pi * plan->problem.dt);
    for (int i = 0; of.sinc && i < plan->shots->count; i++) {
        double energy[HT_SIGNAL_BANDS], above = 0;
        ht_shot_bands(&plan->eq, &plan->shots->shot[i], energy);
        for (int b = 0; b < HT_SIGNAL_BANDS; b++)
            if (ht_shot_band(&plan->shots->shot[i], b) > highest)
                above += energy[b];
        if (sqrt(above) <= most) continue;
        ht_warn("receivers: samples between steps of %.3g carry frequencies up "
                "to %.3g, beyond which sources.%d has %.2g %% of its "
                "amplitude: take \"every\" = \"step\", or a smaller time.cfl",
                plan->problem.dt, highest, i + 1, 100 * sqrt(above));
        return;
    }
}

void ht_plan_warn_receivers(const struct ht_plan *plan) {
    if (plan->receivers == NULL || plan->shots == NULL) return;
    if (plan->duhamel != NULL) warn_near(plan);
    warn_beside(plan);
    warn_between(plan);
}
