/* What sources add to the half steps of Hermite methods (docs/developers/sources.md): amplitudes in
 * time, on a device or in plain arrays. Half step number q = 2 n from the primary grid, 2 n + 1
 * from the dual one begins at t = q tau. */
#include "duhamel_private.h"
#include "src/solve/methods.h"
#include "src/solve/sampler_private.h"

enum { GAUSS = 20 };

/* ---- amplitudes ---- */

struct quadrature {
    double x[GAUSS], weight[GAUSS]; /* on [-1/2, 1/2] */
    double legendre[GAUSS][HT_DUHAMEL_TERMS];
};

static int64_t row_values(const struct ht_injection *in) {
    return (int64_t)in->problem.duhamel->shots->count * in->problem.duhamel->terms;
}

/* Row of half step q: coefficients of each shot. */
static void fill_row(struct ht_injection *in, const struct quadrature *rule, int64_t row) {
    const struct ht_problem *p = &in->problem;
    const struct ht_duhamel *d = p->duhamel;
    const int64_t q = in->first + row;
    const int field = in->grid[q % 2 == 0 ? HT_DUAL : HT_PRIMARY].field[0];
    const unsigned group = p->eq->leapfrog.stored[HT_PRIMARY];
    const double tau = p->dt / 2, t = (double)q * tau;
    double *out =
        memset(in->table + row * row_values(in), 0, (size_t)row_values(in) * sizeof *in->table);
    in->acts[row] = false;
    for (int c = 0; c < d->shots->count; c++, out += d->terms) {
        const struct ht_shot *shot = &d->shots->shot[c];
        /* Whether the grid's fields take the odd powers of L of a source: they are not of the group
         * that this drives. */
        const bool odd = ((group >> field ^ group >> shot->drive[0].field) & 1u) != 0;
        if (!ht_shot_acts(shot, t - tau, t + tau)) continue;
        in->acts[row] = true;
        for (int i = 0; i < GAUSS; i++) {
            const double th = tau * (rule->x[i] + 0.5);
            double s = ht_source_signal(shot, t + th, 0);
            if (p->old_sign != 0)
                s += (odd ? -p->old_sign : p->old_sign) * ht_source_signal(shot, t - th, 0);
            for (int r = 0; r < d->terms; r++)
                out[r] += (2 * r + 1) * rule->weight[i] * s * rule->legendre[i][r];
        }
    }
}

HT_ERR ht_injection_begin(struct ht_injection *in, enum ht_subgrid from) {
    const int64_t later = from == HT_PRIMARY ? 0 : 1;
    const int64_t q = 2 * in->steps + later;
    if (q < in->first || q >= in->first + HT_INJECTION_ROWS) {
        struct quadrature rule;
        bool any = false;
        ht_gauss_points(GAUSS, rule.x, rule.weight);
        for (int i = 0; i < GAUSS; i++)
            ht_legendre(in->problem.duhamel->terms, 2 * rule.x[i], rule.legendre[i]);
        in->first = q;
        for (int64_t row = 0; row < HT_INJECTION_ROWS; row++) {
            fill_row(in, &rule, row);
            any = any || in->acts[row];
        }
        for (int i = 0; any && i < 2; i++)
            if (in->grid[i].injected != NULL)
                TRY(ht_injected_table(in->grid[i].injected, in->table));
    }
    in->row = in->acts[q - in->first] ? q - in->first : -1;
    in->steps += later;
    return HT_OK;
}

HT_ERR ht_injection_add(struct ht_injection *in, enum ht_subgrid to, int64_t first, int64_t last,
                        int64_t nodes, struct ht_buffer *const *u) {
    const struct ht_injection_grid *g = &in->grid[to];
    for (int f = 0; in->row >= 0 && g->injected != NULL && f < g->shapes.fields; f++)
        TRY(ht_inject(g->injected, g->plane[first], g->plane[last], in->row, f, nodes,
                      u[g->field[f]], NULL));
    return HT_OK;
}

void ht_injection_add_plain(const struct ht_injection *in, enum ht_subgrid to, bool absolute,
                            int64_t nodes, double *u) {
    const struct ht_injection_grid *g = &in->grid[to];
    const struct ht_inject_shapes *s = &g->shapes;
    for (int64_t n = 0; in->row >= 0 && n < g->list.count; n++)
        for (int q = 0; q < s->fields * s->coefs; q++) {
            const int f = q / s->coefs, i = q % s->coefs, wall = g->list.wall[n];
            const bool vanishes = ((s->odd[q] & wall) | (~s->odd[q] & (wall >> 3))) & 7;
            double sum = 0;
            for (int e = g->list.begin[n]; !vanishes && e < g->list.begin[n + 1]; e++) {
                const double *shape =
                    s->value + ((int64_t)g->list.shape[e] * s->fields + f) * s->terms * s->coefs +
                    i;
                const double *amplitude =
                    in->table + in->row * row_values(in) + (int64_t)g->list.column[e] * s->terms;
                for (int r = 0; r < s->terms; r++) {
                    const double product = amplitude[r] * shape[(ptrdiff_t)r * s->coefs];
                    sum += absolute ? fabs(product) : product;
                }
            }
            if (!vanishes) u[((int64_t)g->field[f] * s->coefs + i) * nodes + g->list.at[n]] += sum;
        }
}

/* ---- making ---- */

static HT_ERR make(const struct ht_problem *problem, const struct ht_window window[2],
                   struct ht_tool *injector, struct ht_injection *in) {
    const struct ht_problem *p = &in->problem;
    in->problem = *problem;
    in->first = -HT_INJECTION_ROWS; /* no rows yet */
    for (enum ht_subgrid i = 0; i < 2; i++) {
        struct ht_injection_grid *g = &in->grid[i];
        int n = 0;
        TRY(ht_injection_list(p, i, &window[i], g));
        HT_EACH_STORED(f, p, i) g->field[n++] = f;
        if (injector == NULL || g->list.count == 0) continue;
        TRY(ht_injected_create(injector, &g->list, &g->shapes, HT_INJECTION_ROWS, &g->injected));
        /* The host's shapes are not needed any more. */
        free(g->shapes.value);
        g->shapes.value = NULL;
    }
    return HT_ALLOC(in->table, HT_INJECTION_ROWS * row_values(in));
}

HT_ERR ht_injection_create(const struct ht_problem *problem, const struct ht_window window[2],
                           struct ht_tool *injector, struct ht_injection **out) {
    *out = NULL;
    if (problem->duhamel == NULL) return HT_OK;
    HT_CREATE(out, make(problem, window, injector, *out), ht_injection_destroy);
}

void ht_injection_destroy(struct ht_injection *in) {
    if (in == NULL) return;
    for (int i = 0; i < 2; i++) {
        ht_injected_destroy(in->grid[i].injected);
        free(in->grid[i].shapes.value);
        ht_pool_free(&in->grid[i].pool);
    }
    free(in->table);
    free(in);
}

int64_t ht_injection_bytes(const struct ht_problem *problem, const struct ht_spec *spec) {
    const struct ht_duhamel *d = problem->duhamel;
    int64_t bytes = 0;
    for (enum ht_subgrid i = 0; d != NULL && i < 2; i++) {
        const struct ht_inject_shapes shapes = {.fields = ht_problem_stored(problem, i),
                                                .terms = d->terms,
                                                .columns = d->shots->count,
                                                .count = d->most[i].shapes};
        bytes += ht_injected_bytes(spec, d->most[i].nodes, d->most[i].entries, &shapes,
                                   HT_INJECTION_ROWS);
    }
    return bytes;
}

/* The steppers' budget has what is on the device. */
enum ht_err ht_hermite_shot_bytes(const struct ht_plan *plan, HT_UNUSED bool fp64,
                                  struct ht_shot_bytes *out) {
    const struct ht_duhamel *d = plan->duhamel;
    const int64_t entry = 64, key = 160; /* of what duhamel_list.c sorts, of a shape */
    for (enum ht_subgrid i = 0; d != NULL && i < 2; i++) {
        const int64_t values = (int64_t)ht_problem_stored(&plan->problem, i) * d->terms;
        out->host += entry * d->most[i].entries +
                     d->most[i].shapes * (key + 8 * values * ht_grid_coefs(&plan->grid));
    }
    return HT_OK;
}

/* What sources add to samples between steps (docs/developers/sources.md): at the start of runs by
 * leapfrog from initial data U over the time of several steps would cancel nearly all of u. */

struct record {
    int64_t trace;
    int shot;
    double *value; /* [power] */
};
struct ht_source_samples {
    const struct ht_problem *problem;
    double scale; /* of the signals: that of the plan */
    struct ht_resampling of;
    int powers; /* of each record: j < powers */
    int64_t count, room;
    struct record *record; /* by trace */
    int64_t *first;        /* [trace + 1]: its first record */
    double *factor;        /* [shot][power]: sums over them make a sample */
    bool *known;           /* [shot] */
    double *moment;        /* [power] */
    struct ht_pool pool;   /* of these but records */
    double x[GAUSS], weight[GAUSS];
};

static void add_image(const struct ht_source_samples *s, const struct ht_source_vector *vector,
                      const int64_t at[3], const struct ht_trace *trace, double *out) {
    const struct ht_grid *grid = s->problem->grid;
    long double distance[3] = {0, 0, 0};
    for (int k = 0; k < grid->dims; k++) {
        const double x = (trace->x[k] - grid->lower[k]) / grid->h[k];
        distance[k] =
            ldexpl((long double)llround(ldexp(x, HT_SOURCE_FRACTION)) - (long double)at[k],
                   -HT_SOURCE_FRACTION);
    }
    ht_source_powers(s->problem, vector, distance, trace->reading.field, trace->reading.slope,
                     s->powers - 1, out);
}

/* Points of a shot follow one another. */
static HT_ERR add_trace(struct ht_source_samples *s, int64_t number, const struct ht_trace *trace) {
    const struct ht_duhamel *d = s->problem->duhamel;
    const int64_t before = s->count;
    HT_EACH(const struct ht_source_point, point, d->point, d->points) {
        bool near = true;
        for (int k = 0; k < s->problem->grid->dims; k++)
            near = near && ht_source_reaches(s->problem, point, k, trace->x[k]);
        if (!near) continue;
        if (s->count == before || s->record[s->count - 1].shot != point->shot) {
            TRY(HT_GROW(s->record, s->count + 1, s->room));
            s->record[s->count++] = (struct record){.trace = number, .shot = point->shot};
            TRY(HT_TAKE(&s->pool, s->record[s->count - 1].value, s->powers));
        }
        struct ht_source_images images;
        struct ht_source_vector vector;
        int64_t at[3];
        ht_source_images(s->problem, point, &images);
        for (int64_t n = 0; ht_source_image(&images, n, at, &vector); n++)
            add_image(s, &vector, at, trace, s->record[s->count - 1].value);
    }
    return HT_OK;
}

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

static const double *find_factors(struct ht_source_samples *s, int shot, double at,
                                  const struct ht_resampled *by) {
    double *factor = s->factor + (int64_t)shot * s->powers;
    const struct ht_shot *of = &s->problem->duhamel->shots->shot[shot];
    const double dt = s->problem->dt;
    if (s->known[shot]) return factor;
    s->known[shot] = true;
    if (s->problem->scheme->two_level) {
        const double ratio = 2 * by->apart;
        factor[0] = factor[1] = 0;
        for (int64_t a = 0; a < by->count; a++) {
            const double time = (by->from + (double)a * by->apart) * dt;
            const double weight = ratio * ratio * by->weight[a * s->of.derivatives + 1];
            factor[0] += weight * dt / 2 * ht_source_signal(of, time, 1);
            factor[1] += weight * ht_source_signal(of, time, 0);
        }
    } else {
        const double middle = by->from + (double)(by->count - 1) * by->apart / 2;
        find_moments(s, of, middle * dt, at * dt, factor);
        for (int64_t a = 0; a < by->count; a++) {
            find_moments(s, of, middle * dt, (by->from + (double)a * by->apart) * dt, s->moment);
            for (int d = 0; d < s->of.derivatives; d++) {
                const int l = s->of.derivative[d];
                const double weight = by->weight[a * s->of.derivatives + d] * pow(2 * by->apart, l);
                for (int j = l; j < s->powers; j++) factor[j] -= weight * s->moment[j - l];
            }
        }
    }
    return factor;
}

void ht_source_samples_add(struct ht_source_samples *s, double at, const struct ht_resampled *by,
                           int64_t from, int64_t traces, double *out) {
    if (s == NULL || by->count < 2 || s->of.derivatives == 1) return;
    memset(s->known, 0, (size_t)s->problem->duhamel->shots->count * sizeof *s->known);
    for (int64_t i = s->first[from]; i < s->first[from + traces]; i++) {
        const struct record *of = &s->record[i];
        const double *factor = find_factors(s, of->shot, at, by);
        double sum = 0;
        for (int j = 0; j < s->powers; j++) sum += factor[j] * of->value[j];
        out[of->trace - from] += sum / s->scale;
    }
}

/* ---- making ---- */

/* The Taylor scheme's polynomial takes N derivatives beyond the series. */
static int count_powers(const struct ht_problem *p) {
    int last = 1;
    if (p->scheme->two_level) return last + 1;
    for (int64_t i = 0; i < p->duhamel->points; i++) {
        const struct ht_source_vector v = ht_source_vector(p, &p->duhamel->point[i]);
        last = (int)ht_most(last, 2 * ht_source_powers_within(p, &v) + 1);
    }
    return last + p->grid->order + 1;
}

static HT_ERR make_samples(const struct ht_plan *plan, struct ht_source_samples *s) {
    const struct ht_receivers *receivers = plan->receivers;
    const int64_t shots = plan->duhamel->shots->count;
    int64_t number = 0;
    s->problem = &plan->problem;
    s->scale = plan->scale;
    s->of = ht_resampling_of(plan);
    s->powers = count_powers(s->problem);
    ht_gauss_points(GAUSS, s->x, s->weight);
    TRY(HT_TAKE(&s->pool, s->factor, shots * s->powers));
    TRY(HT_TAKE(&s->pool, s->known, shots));
    TRY(HT_TAKE(&s->pool, s->moment, s->powers));
    TRY(HT_TAKE(&s->pool, s->first, receivers->traces + 1));
    HT_EACH(const struct ht_receiver_group, group, receivers->group, receivers->count) {
        const int64_t end = number + group->count * group->readings;
        for (; number < end; number++) {
            const struct ht_trace trace = ht_trace_at(receivers, number);
            if (group->every > 0) TRY(add_trace(s, number, &trace));
            s->first[number + 1] = s->count;
        }
    }
    return HT_OK;
}

HT_ERR ht_source_samples_create(const struct ht_plan *plan, struct ht_source_samples **out) {
    *out = NULL;
    if (plan->duhamel == NULL) return HT_OK;
    HT_CREATE(out, make_samples(plan, *out), ht_source_samples_destroy);
}

void ht_source_samples_destroy(struct ht_source_samples *s) {
    if (s == NULL) return;
    free(s->record);
    ht_pool_free(&s->pool);
    free(s);
}
