/* What sources add to the half steps of Hermite methods: amplitudes in time, on a device or in
 * plain arrays.
 *
 * Half step number q = 2 n from the primary grid, 2 n + 1 from the dual one begins at t = q tau.
 * The Taylor scheme takes s(t + th), 0 <= th <= tau, into the series of L^j g. Leapfrog adds to the
 * values at t - tau:
 *     int_0^tau (tau - th)^j/j! [s(t + th) + keep (-1)^j s(t - th)] dth,
 * of which a field takes even j only or odd ones only.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "duhamel_private.h"
#include "src/solve/methods.h"

enum { GAUSS = 20 };

/* ---- amplitudes ---- */

/* Whether a field takes the odd powers of L of a source: it is not of the group that this drives.
 */
static bool takes_odd(const struct ht_equations *eq, const struct ht_shot *shot, int field) {
    const unsigned group = eq->leapfrog.stored[HT_PRIMARY];
    return ((group >> field ^ group >> shot->drive[0].field) & 1u) != 0;
}

struct quadrature {
    double x[GAUSS], weight[GAUSS]; /* on [-1/2, 1/2] */
    double legendre[GAUSS][HT_DUHAMEL_TERMS];
};

/* Coefficients of one shot and field in half step q. */
static void expand(const struct ht_injection *in, const struct quadrature *rule, int column,
                   int field, int64_t q, double *out) {
    const struct ht_problem *p = &in->problem;
    const struct ht_shot *shot = &p->duhamel->shots->shot[column];
    const bool odd = takes_odd(p->eq, shot, field);
    const bool taylor = p->old_sign == 0;
    const double tau = p->dt / 2, t = (double)q * tau;
    const double other = odd ? -p->old_sign : p->old_sign;
    for (int r = 0; r < p->duhamel->terms; r++) out[r] = 0;
    for (int i = 0; i < GAUSS; i++) {
        const double th = tau * (rule->x[i] + 0.5);
        double s = ht_source_signal(shot, t + th, 0);
        if (!taylor) s += other * ht_source_signal(shot, t - th, 0);
        for (int r = 0; r < p->duhamel->terms; r++)
            out[r] += (2 * r + 1) * rule->weight[i] * s * rule->legendre[i][r];
    }
}

static int most_fields(const struct ht_injection *in) {
    return (int)ht_most(in->grid[0].shapes.fields, in->grid[1].shapes.fields);
}

static int64_t row_values(const struct ht_injection *in) {
    const struct ht_duhamel *d = in->problem.duhamel;
    return (int64_t)most_fields(in) * d->shots->count * d->terms;
}

/* Row of half step q. */
static void fill_row(struct ht_injection *in, const struct quadrature *rule, int64_t row) {
    const struct ht_duhamel *d = in->problem.duhamel;
    const int64_t q = in->first + row;
    const struct ht_injection_grid *grid = &in->grid[q % 2 == 0 ? HT_DUAL : HT_PRIMARY];
    const double tau = in->problem.dt / 2, t = (double)q * tau;
    double *out = in->table + row * row_values(in);
    in->acts[row] = false;
    for (int c = 0; c < d->shots->count; c++) {
        const bool acts = ht_shot_acts(&d->shots->shot[c], t - tau, t + tau);
        in->acts[row] |= acts;
        for (int f = 0; f < grid->shapes.fields; f++) {
            double *to = out + ((int64_t)f * d->shots->count + c) * d->terms;
            if (acts)
                expand(in, rule, c, grid->field[f], q, to);
            else
                memset(to, 0, (size_t)d->terms * sizeof *to);
        }
    }
}

static enum ht_err fill_table(struct ht_injection *in, int64_t q) {
    struct quadrature rule;
    bool any = false;
    ht_gauss_points(GAUSS, rule.x, rule.weight);
    for (int i = 0; i < GAUSS; i++)
        ht_legendre(in->problem.duhamel->terms, 2 * rule.x[i], rule.legendre[i]);
    in->first = q;
    in->filled = true;
    for (int64_t row = 0; row < HT_INJECTION_ROWS; row++) {
        fill_row(in, &rule, row);
        any = any || in->acts[row];
    }
    for (int i = 0; any && i < 2; i++)
        if (in->grid[i].injected != NULL) TRY(ht_injected_table(in->grid[i].injected, in->table));
    return HT_OK;
}

enum ht_err ht_injection_begin(struct ht_injection *in, enum ht_subgrid from) {
    const int64_t later = from == HT_PRIMARY ? 0 : 1;
    const int64_t q = 2 * in->steps + later;
    if (!in->filled || q < in->first || q >= in->first + HT_INJECTION_ROWS) TRY(fill_table(in, q));
    in->row = in->acts[q - in->first] ? q - in->first : -1;
    in->steps += later;
    return HT_OK;
}

/* ---- adding ---- */

enum ht_err ht_injection_add(struct ht_injection *in, enum ht_subgrid to, int64_t first,
                             int64_t last, int64_t nodes, struct ht_buffer *const *u) {
    const struct ht_injection_grid *g = &in->grid[to];
    for (int f = 0; in->row >= 0 && g->injected != NULL && f < g->shapes.fields; f++)
        TRY(ht_inject(g->injected, g->plane[first], g->plane[last], in->row, f, nodes,
                      u[g->field[f]], NULL));
    return HT_OK;
}

static bool vanishes(int odd, int wall) {
    return ((odd & wall) | (~odd & (wall >> 3))) & 7;
}

/* The sum of node n of the list and coefficient i of stored field f. */
static double sum_of(const struct ht_injection_grid *g, const double *table, int64_t n, int f,
                     int i) {
    const struct ht_inject_shapes *s = &g->shapes;
    double sum = 0;
    for (int e = g->list.begin[n]; e < g->list.begin[n + 1]; e++)
        for (int r = 0; r < s->terms; r++)
            sum +=
                table[(int64_t)g->list.column[e] * s->terms + r] *
                s->value[(((int64_t)g->list.shape[e] * s->fields + f) * s->terms + r) * s->coefs +
                         i];
    return sum;
}

void ht_injection_add_plain(const struct ht_injection *in, enum ht_subgrid to, int64_t nodes,
                            double *u) {
    const struct ht_injection_grid *g = &in->grid[to];
    const int coefs = g->shapes.coefs;
    const int64_t stride = (int64_t)g->shapes.columns * g->shapes.terms;
    if (in->row < 0) return;
    const double *table = in->table + in->row * row_values(in);
    for (int64_t n = 0; n < g->list.count; n++)
        for (int f = 0; f < g->shapes.fields; f++)
            for (int i = 0; i < coefs; i++)
                if (!vanishes(g->shapes.odd[f * coefs + i], g->list.wall[n]))
                    u[((int64_t)g->field[f] * coefs + i) * nodes + g->list.at[n]] +=
                        sum_of(g, table + f * stride, n, f, i);
}

/* ---- making ---- */

static enum ht_err make(const struct ht_window window[2], struct ht_injection *in) {
    const struct ht_problem *p = &in->problem;
    for (int i = 0; i < 2; i++) {
        const enum ht_subgrid to = i ? HT_DUAL : HT_PRIMARY;
        struct ht_injection_grid *g = &in->grid[i];
        int fields = 0;
        TRY(ht_injection_list(p, to, &window[i], g));
        for (int f = 0; f < p->eq->nfields; f++)
            if (ht_problem_stores(p, to, f)) g->field[fields++] = f;
    }
    TRY(HT_ALLOC(in->acts, HT_INJECTION_ROWS));
    return HT_ALLOC(in->table, HT_INJECTION_ROWS * row_values(in));
}

enum ht_err ht_injection_create(const struct ht_problem *problem, const struct ht_window window[2],
                                struct ht_injection **out) {
    struct ht_injection *in = NULL;
    *out = NULL;
    if (problem->duhamel == NULL) return HT_OK;
    TRY(HT_ALLOC(in, 1));
    in->problem = *problem;
    const enum ht_err err = make(window, in);
    return HT_MADE(err, in, ht_injection_destroy, out);
}

static void free_grid(struct ht_injection_grid *g) {
    ht_injected_destroy(g->injected);
    free(g->list.at);
    free(g->list.begin);
    free(g->list.wall);
    free(g->list.column);
    free(g->list.shape);
    free(g->shapes.value);
    free(g->shapes.odd);
    free(g->plane);
}

void ht_injection_destroy(struct ht_injection *in) {
    if (in == NULL) return;
    for (int i = 0; i < 2; i++) free_grid(&in->grid[i]);
    free(in->table);
    free(in->acts);
    free(in);
}

/* The host's shapes are not needed any more. */
enum ht_err ht_injection_upload(struct ht_injection *in, struct ht_tool *injector) {
    for (int i = 0; i < 2; i++) {
        struct ht_injection_grid *g = &in->grid[i];
        if (g->list.count == 0) continue;
        TRY(ht_injected_create(injector, &g->list, &g->shapes, HT_INJECTION_ROWS, most_fields(in),
                               &g->injected));
        free(g->shapes.value);
        g->shapes.value = NULL;
    }
    return HT_OK;
}

int64_t ht_injection_bytes(const struct ht_problem *problem, const struct ht_spec *spec) {
    const struct ht_duhamel *d = problem->duhamel;
    int64_t bytes = 0;
    for (int i = 0; d != NULL && i < 2; i++) {
        const struct ht_inject_shapes shapes = {
            .fields = ht_problem_stored(problem, i ? HT_DUAL : HT_PRIMARY),
            .terms = d->terms,
            .columns = d->shots->count,
            .count = d->most[i].shapes};
        bytes += ht_injected_bytes(spec, d->most[i].nodes, d->most[i].entries, &shapes,
                                   HT_INJECTION_ROWS, problem->eq->nfields);
    }
    return bytes;
}

/* Per entry what src/hermite/duhamel_list.c sorts, per shape its key. */

/* The steppers' budget has what is on the device. */
enum ht_err ht_hermite_shot_bytes(const struct ht_plan *plan, bool fp64,
                                  struct ht_shot_bytes *out) {
    const struct ht_problem *p = &plan->problem;
    const struct ht_duhamel *d = p->duhamel;
    const int64_t entry = 64, key = 160;
    (void)fp64;
    for (int i = 0; d != NULL && i < 2; i++) {
        const struct ht_injection_counts *most = &d->most[i];
        const int fields = ht_problem_stored(p, i ? HT_DUAL : HT_PRIMARY);
        out->host += entry * most->entries +
                     most->shapes * (key + (int64_t)8 * fields * d->terms * ht_grid_coefs(p->grid));
    }
    return HT_OK;
}
