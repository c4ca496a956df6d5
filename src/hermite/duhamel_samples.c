/* What sources add to samples between steps. With m_j(t) the integral from t0 to t of ((t -
 * s)/tau)^j/j! times the signal ds/tau, and the powers P_j = tau^(j+1) L^j g at the receiver, the
 * source's own part from t0 on is
 *     U(t) = sum over j of P_j m_j(t),   (tau L)^l U = sum of P_(j+l) m_j.
 * u - U obeys u_t = L u. The Taylor scheme's polynomial takes (D L)^l u at the ends of a step for
 * derivatives by time, with weights w: the sample lacks
 *     U(t) - sum over ends and l of w (D L)^l U,
 * t0 amid the step. Leapfrog's, at the start of a run from initial data, takes values and second
 * derivatives at several steps, and U over so long a time would cancel nearly all of u; there
 * u_tt = L^2 u + L g s + g s' adds what is missing, s' the signal's slope.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "duhamel_private.h"
#include "src/solve/sampler_private.h"

enum { GAUSS = 20 };

struct record {
    int64_t trace;
    int shot;
};
struct ht_source_samples {
    const struct ht_problem *problem;
    double scale; /* of the signals: that of the plan */
    struct ht_resampling of;
    int powers; /* of each record: j < powers */
    int64_t count, room[2];
    struct record *record; /* by trace */
    double *value;         /* [record][power] */
    double *factor;        /* [shot][power]: sums over them make a sample */
    bool *known;           /* [shot] */
    double *moment;        /* [power] */
    double x[GAUSS], weight[GAUSS];
};

/* ---- powers at receivers ---- */

static void add_image(const struct ht_source_samples *s, const struct ht_source_vector *source,
                      const struct ht_source_image *const image[3], const struct ht_trace *trace,
                      double *out) {
    const struct ht_grid *grid = s->problem->grid;
    const struct ht_source_vector v = ht_source_vector_image(s->problem, source, image);
    long double distance[3] = {0, 0, 0};
    for (int k = 0; k < grid->dims; k++) {
        const double at = (trace->x[k] - grid->lower[k]) / grid->h[k];
        distance[k] =
            ldexpl((long double)llround(ldexp(at, HT_SOURCE_FRACTION)) - (long double)image[k]->at,
                   -HT_SOURCE_FRACTION);
    }
    ht_source_powers(s->problem, &v, distance, trace->reading.field, trace->reading.slope,
                     s->powers - 1, out);
}

static void add_point(const struct ht_source_samples *s, const struct ht_source_point *point,
                      const struct ht_trace *trace, double *out) {
    const struct ht_source_form *form = &s->problem->duhamel->form[point->shot];
    const struct ht_source_vector v = ht_source_vector(s->problem, point);
    struct ht_source_images images;
    double reach[3];
    for (int k = 0; k < 3; k++) reach[k] = form->reach[k] + 1;
    ht_source_images(s->problem, point, reach, &images);
    for (int i3 = 0; i3 < images.count[2]; i3++)
        for (int i2 = 0; i2 < images.count[1]; i2++)
            for (int i1 = 0; i1 < images.count[0]; i1++) {
                const struct ht_source_image *image[3] = {&images.axis[0][i1], &images.axis[1][i2],
                                                          &images.axis[2][i3]};
                add_image(s, &v, image, trace, out);
            }
}

static bool is_near(const struct ht_source_samples *s, const struct ht_source_point *point,
                    const double *x) {
    bool near = true;
    for (int k = 0; k < s->problem->grid->dims; k++)
        near = near && ht_source_reaches(s->problem, point, k, x[k]);
    return near;
}

/* Points of a shot follow one another. */
static enum ht_err add_trace(struct ht_source_samples *s, int64_t number,
                             const struct ht_trace *trace) {
    const struct ht_duhamel *d = s->problem->duhamel;
    const int64_t before = s->count;
    for (int64_t i = 0; i < d->points; i++) {
        const struct ht_source_point *point = &d->point[i];
        if (!is_near(s, point, trace->x)) continue;
        if (s->count == before || s->record[s->count - 1].shot != point->shot) {
            TRY(HT_GROW(s->record, s->count + 1, s->room[0]));
            TRY(HT_GROW(s->value, (s->count + 1) * s->powers, s->room[1]));
            memset(s->value + s->count * s->powers, 0, (size_t)s->powers * sizeof *s->value);
            s->record[s->count++] = (struct record){.trace = number, .shot = point->shot};
        }
        add_point(s, point, trace, s->value + (s->count - 1) * s->powers);
    }
    return HT_OK;
}

/* ---- factors of a sample ---- */

/* m_j of the time from `begin` to `end`. */
static void find_moments(const struct ht_source_samples *s, const struct ht_shot *shot,
                         double begin, double end, double *out) {
    const double tau = s->problem->dt / 2, span = (end - begin) / tau;
    for (int j = 0; j < s->powers; j++) out[j] = 0;
    for (int i = 0; i < GAUSS; i++) {
        const double part = s->x[i] + 0.5;
        double power =
            span * s->weight[i] * ht_source_signal(shot, begin + part * (end - begin), 0);
        for (int j = 0; j < s->powers; j++) {
            out[j] += power;
            power *= span * (1 - part) / (j + 1);
        }
    }
}

static void find_taylor(const struct ht_source_samples *s, const struct ht_shot *shot, double at,
                        const struct ht_resampled *by, double *out) {
    const double dt = s->problem->dt;
    const double middle = by->from + (double)(by->count - 1) * by->apart / 2;
    find_moments(s, shot, middle * dt, at * dt, out);
    for (int64_t a = 0; a < by->count; a++) {
        find_moments(s, shot, middle * dt, (by->from + (double)a * by->apart) * dt, s->moment);
        for (int d = 0; d < s->of.derivatives; d++) {
            const int l = s->of.derivative[d];
            const double weight = by->weight[a * s->of.derivatives + d] * pow(2 * by->apart, l);
            for (int j = l; j < s->powers; j++) out[j] -= weight * s->moment[j - l];
        }
    }
}

static void find_leapfrog(const struct ht_source_samples *s, const struct ht_shot *shot,
                          const struct ht_resampled *by, double *out) {
    const double dt = s->problem->dt, ratio = 2 * by->apart;
    out[0] = out[1] = 0;
    for (int64_t a = 0; a < by->count; a++) {
        const double time = (by->from + (double)a * by->apart) * dt;
        const double weight = ratio * ratio * by->weight[a * s->of.derivatives + 1];
        out[0] += weight * dt / 2 * ht_source_signal(shot, time, 1);
        out[1] += weight * ht_source_signal(shot, time, 0);
    }
}

static const double *find_factors(struct ht_source_samples *s, int shot, double at,
                                  const struct ht_resampled *by) {
    double *factor = s->factor + (int64_t)shot * s->powers;
    const struct ht_shot *of = &s->problem->duhamel->shots->shot[shot];
    if (s->known[shot]) return factor;
    s->known[shot] = true;
    if (s->problem->scheme->two_level)
        find_leapfrog(s, of, by, factor);
    else
        find_taylor(s, of, at, by, factor);
    return factor;
}

static int64_t first_record(const struct ht_source_samples *s, int64_t trace) {
    int64_t low = 0, high = s->count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (s->record[middle].trace < trace)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void ht_source_samples_add(struct ht_source_samples *s, double at, const struct ht_resampled *by,
                           int64_t from, int64_t traces, double *out) {
    if (s == NULL || by->count < 2 || s->of.derivatives == 1) return;
    memset(s->known, 0, (size_t)s->problem->duhamel->shots->count * sizeof *s->known);
    for (int64_t i = first_record(s, from); i < s->count && s->record[i].trace < from + traces;
         i++) {
        const double *factor = find_factors(s, s->record[i].shot, at, by);
        double sum = 0;
        for (int j = 0; j < s->powers; j++) sum += factor[j] * s->value[i * s->powers + j];
        out[s->record[i].trace - from] += sum / s->scale;
    }
}

/* ---- making ---- */

/* The Taylor scheme's polynomial takes N derivatives beyond the series. */
static int count_powers(const struct ht_problem *p) {
    int last = 1;
    if (p->scheme->two_level) return last + 1;
    for (int64_t i = 0; i < p->duhamel->points; i++) {
        const struct ht_source_vector v = ht_source_vector(p, &p->duhamel->point[i]);
        last = (int)ht_most(last, ht_source_last_power(p, &v, 1));
    }
    return last + p->grid->order + 1;
}

static enum ht_err make(const struct ht_plan *plan, struct ht_source_samples *s) {
    const struct ht_receivers *receivers = plan->receivers;
    const int64_t shots = plan->duhamel->shots->count;
    int64_t number = 0;
    s->problem = &plan->problem;
    s->scale = plan->scale;
    s->of = ht_resampling_of(plan);
    s->powers = count_powers(s->problem);
    ht_gauss_points(GAUSS, s->x, s->weight);
    TRY(HT_ALLOC(s->factor, shots * s->powers));
    TRY(HT_ALLOC(s->known, shots));
    TRY(HT_ALLOC(s->moment, s->powers));
    for (int n = 0; n < receivers->count; n++) {
        const struct ht_receiver_group *group = &receivers->group[n];
        const int64_t end = number + group->count * group->readings;
        for (; number < end; number++) {
            const struct ht_trace trace = ht_trace_at(receivers, number);
            if (group->every > 0) TRY(add_trace(s, number, &trace));
        }
    }
    return HT_OK;
}

enum ht_err ht_source_samples_create(const struct ht_plan *plan, struct ht_source_samples **out) {
    struct ht_source_samples *s = NULL;
    *out = NULL;
    if (plan->duhamel == NULL) return HT_OK;
    TRY(HT_ALLOC(s, 1));
    const enum ht_err err = make(plan, s);
    if (err == HT_OK && s->count > 0)
        *out = s;
    else
        ht_source_samples_destroy(s);
    return err;
}

void ht_source_samples_destroy(struct ht_source_samples *s) {
    if (s == NULL) return;
    free(s->record);
    free(s->value);
    free(s->factor);
    free(s->known);
    free(s->moment);
    free(s);
}
