/* Plane waves that come from outside, by Hermite methods. Nodes inside a box
 * hold the total field, those outside what is scattered. A half step reads the
 * nodes around each target; for those on the other side of the box's surface
 * the incident wave u_i is missing, or too much. With chi = 1 on these and 0
 * elsewhere a target takes
 *     E I (chi u_i)   inside,   -E I (chi u_i)   outside,
 * twice that by leapfrog. u_i = s(t - (xi - corner)/c), xi = direction x, is
 * known with all derivatives: over the cell about a target it is
 *     sum over r of a_r(t) P_r((xi - xi_0)/w),
 * xi_0 that of the target, w half the cell's length along the direction,
 * Legendre's polynomials P_r; a_r by Gauss's formula each half step. E I of the
 * polynomials depends on the nodes' places in the cell only: it is a shape of
 * cl/inject.cl, one for each set of nodes, made by half steps of the reference
 * from one node. Targets of the same xi_0 share the amplitudes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "duhamel_private.h"
#include "htwave/oracle.h"

enum {
    GAUSS = 20,
    TERMS = 20, /* of Legendre, at most */
    CORNERS = 8,
    SETS = 2 << CORNERS, /* inside or outside, nodes of the other side */
    VALUES = 1 << 22,    /* of a table, unless one row has more */
    PLACES = 30          /* xi_0 in 2^-30 w */
};

struct column {
    int64_t place;
    int wave;
};
struct incidence_grid {
    struct ht_injection_grid injection;
    struct column *column; /* by wave */
    int64_t columns, rows;
    double *table; /* [row][column][term] */
};
struct ht_incidence {
    struct ht_problem problem;
    struct incidence_grid grid[2];
    int64_t first, row; /* half step of row 0, even; -1: no wave acts */
    bool filled, back;
    bool acts[2][HT_INJECTION_ROWS];
};

/* ---- the wave ---- */

struct wave {
    const struct ht_shot *shot;
    const double *material;
    double speed, half; /* half: w */
};

static struct wave wave_of(const struct ht_problem *p, int n) {
    const struct ht_source_point *point = &p->duhamel->wave[n];
    struct wave wave = {.shot = &p->duhamel->shots->shot[point->shot],
                        .material = point->material,
                        .speed = p->eq->system->speed(point->material, 0)};
    for (int k = 0; k < p->grid->dims; k++)
        wave.half += fabs(wave.shot->direction[k]) * p->grid->h[k] / 2;
    return wave;
}

/* As count_terms of duhamel_plan.c, over the cell's length. */
static int terms_of(const struct ht_problem *p) {
    double size = 1, least = 1e-3, z = 0;
    int terms = 1;
    for (int n = 0; n < p->duhamel->waves; n++) {
        const struct wave wave = wave_of(p, n);
        const double highest = ht_signal_traits(wave.shot->signal).highest;
        z = fmax(z, 3 * acos(-1.0) * highest / wave.speed * wave.half);
        least = fmin(least, wave.shot->tolerance);
    }
    while (terms < TERMS && (size > 1e-2 * least || terms < 3)) {
        size *= z / (2 * terms - 1);
        terms++;
    }
    return terms;
}

/* ---- the box ---- */

static bool holds(const struct ht_grid *grid, const struct ht_shot *shot,
                  enum ht_subgrid which, int axis, int64_t m) {
    const double x = ht_grid_x(grid, which, axis, m);
    const double close = 1e-9 * grid->h[axis];
    return axis >= grid->dims || ht_source_open(grid, shot, axis) ||
           (x >= shot->first[axis] - close && x <= shot->last[axis] + close);
}

bool ht_source_open(const struct ht_grid *grid, const struct ht_shot *shot,
                    int axis) {
    const double close = 1e-9 * grid->h[axis];
    return shot->first[axis] <= grid->lower[axis] + close &&
           shot->last[axis] >= grid->upper[axis] - close;
}

/* Of a target: bit q, source q of its cell, bit k of q for the upper one along
 * axis k, is on the other side; above them: the target is inside. 0: none. */
static int set_of(const struct ht_problem *p, const struct ht_shot *shot,
                  enum ht_subgrid to, const int64_t m[3]) {
    const struct ht_grid *grid = p->grid;
    const enum ht_subgrid from = to == HT_DUAL ? HT_PRIMARY : HT_DUAL;
    bool inside = true, source[3][2];
    int set = 0;
    for (int k = 0; k < 3; k++) {
        const int64_t low = to == HT_DUAL || k >= grid->dims ? m[k] : m[k] - 1;
        inside = inside && holds(grid, shot, to, k, m[k]);
        for (int side = 0; side < 2; side++)
            source[k][side] = holds(grid, shot, from, k, low + side);
    }
    for (int q = 0; q < 1 << grid->dims; q++)
        if ((source[0][q & 1] && source[1][q >> 1 & 1] &&
             source[2][q >> 2 & 1]) != inside)
            set |= 1 << q;
    return set == 0 ? 0 : set | (inside ? 1 << CORNERS : 0);
}

bool ht_incidence_beside(const struct ht_problem *problem,
                         const struct ht_shot *shot, enum ht_subgrid to,
                         const int64_t m[3]) {
    return set_of(problem, shot, to, m) != 0;
}

/* ---- shapes ---- */

/* E I of one source's polynomials, [degree][corner][stored field][coefficient]:
 * corner q says where in the target's cell the source is. */
struct response {
    int terms, fields, coefs;
    double *value;
};

/* The source's derivatives of ((xi - its own)/w)^n/n!. */
static void fill_jets(const struct ht_problem *p, const struct wave *wave,
                      int n, int64_t nodes, double *u) {
    const struct ht_second_order *form = &p->eq->system->second_order;
    const struct ht_grid *grid = p->grid;
    const int coefs = ht_grid_coefs(grid), size = grid->order + 1;
    for (int i = 0; i < coefs; i++) {
        const int j[3] = {i % size, i / size % size, i / size / size};
        double value = 1;
        for (int k = 0; k < 3; k++)
            for (int a = 1; a <= j[k]; a++)
                value *= wave->shot->direction[k] * grid->h[k] / wave->half / a;
        const int degree = j[0] + j[1] + j[2];
        if (degree == n) u[(form->field * coefs + i) * nodes] = value;
        if (form->rate >= 0 && degree == n - 1)
            u[(form->rate * coefs + i) * nodes] =
                -wave->speed / wave->half * value;
        for (int k = 0; form->rate < 0 && degree == n && k < grid->dims; k++)
            u[((form->flux + k) * coefs + i) * nodes] =
                value * wave->shot->direction[k] * wave->speed /
                wave->material[form->modulus];
    }
}

/* In a periodic box of two cells each target has the source at another corner.
 */
static enum ht_err respond(const struct ht_problem *tiny, enum ht_subgrid to,
                           const struct wave *wave,
                           const struct ht_stepper *oracle, int n,
                           struct response *out) {
    const enum ht_subgrid from = to == HT_DUAL ? HT_PRIMARY : HT_DUAL;
    const int64_t nodes = ht_grid_total(tiny->grid, from);
    const int64_t planes = ht_grid_planes(tiny->grid, from);
    const int corners = 1 << tiny->grid->dims, coefs = out->coefs;
    double *u = NULL;
    TRY(HT_ALLOC(u, nodes * coefs * tiny->eq->nfields));
    enum ht_err err = oracle->ops->put(oracle->self, to, 0, planes, u);
    fill_jets(tiny, wave, n, nodes, u);
    if (err == HT_OK) err = oracle->ops->put(oracle->self, from, 0, planes, u);
    if (err == HT_OK) err = oracle->ops->half_step(oracle->self, from);
    int stored = 0;
    for (int f = 0; err == HT_OK && f < tiny->eq->nfields; f++) {
        if (!ht_problem_stores(tiny, to, f)) continue;
        err = oracle->ops->get(oracle->self, to, f, coefs, 0, planes, u);
        for (int q = 0; q < corners; q++) {
            /* target m has the dual sources m - 1 and m, the primary ones m and
             * m + 1; the source is number 0 */
            const int at = to == HT_DUAL ? q : corners - 1 - q;
            double *value =
                out->value +
                (((int64_t)n * CORNERS + q) * out->fields + stored) * coefs;
            for (int i = 0; i < coefs; i++) value[i] = u[i * nodes + at];
        }
        stored++;
    }
    free(u);
    return err;
}

static enum ht_err make_response(const struct ht_problem *p, enum ht_subgrid to,
                                 const struct wave *wave, int terms,
                                 struct response *out) {
    struct ht_grid grid = {.dims = p->grid->dims, .order = p->grid->order};
    struct ht_problem tiny = *p;
    struct ht_stepper oracle = {.ops = NULL};
    for (int k = 0; k < 3; k++) {
        grid.cells[k] = k < grid.dims ? 2 : 1;
        grid.h[k] = p->grid->h[k];
        grid.upper[k] = grid.h[k] * (double)grid.cells[k];
    }
    tiny.grid = &grid;
    tiny.halo = (struct ht_halo_choice){.depth = 0};
    tiny.layers = NULL; /* of the run; two cells have no room for them */
    tiny.shots = NULL;
    tiny.duhamel = NULL;
    tiny.medium_degree = -1;
    tiny.medium_coefs = 0;
    tiny.medium_fill = NULL;
    memcpy(tiny.uniform, wave->material, sizeof tiny.uniform);
    *out = (struct response){.terms = terms,
                             .fields = ht_problem_stored(p, to),
                             .coefs = ht_grid_coefs(&grid)};
    TRY(HT_ALLOC(out->value,
                 (int64_t)terms * CORNERS * out->fields * out->coefs));
    enum ht_err err = ht_oracle_create(&tiny, &oracle);
    for (int n = 0; err == HT_OK && n < terms; n++)
        err = respond(&tiny, to, wave, &oracle, n, out);
    ht_stepper_destroy(&oracle);
    return err;
}

/* out[n]: the n-th derivative of P_r at x, n <= r. */
static void legendre_slopes(int r, double x, double out[TERMS]) {
    double p[TERMS + 1][TERMS + 1] = {{1}};
    p[1][0] = x;
    p[1][1] = 1;
    for (int m = 2; m <= r; m++)
        for (int n = 0; n <= m; n++)
            p[m][n] =
                n == 0
                    ? ((2 * m - 1) * x * p[m - 1][0] - (m - 1) * p[m - 2][0]) /
                          m
                    : p[m - 2][n] + (2 * m - 1) * p[m - 1][n - 1];
    memcpy(out, p[r], TERMS * sizeof *out);
}

/* Adds one source's part to a shape [field][term][coefficient]. */
static void add_source(const struct ht_grid *grid, const struct wave *wave,
                       const struct response *response, int corner,
                       double factor, double *out) {
    double x = 0, slope[TERMS];
    for (int k = 0; k < grid->dims; k++)
        x += (corner >> k & 1 ? 0.5 : -0.5) * wave->shot->direction[k] *
             grid->h[k] / wave->half;
    for (int r = 0; r < response->terms; r++) {
        legendre_slopes(r, x, slope);
        for (int n = 0; n <= r; n++)
            for (int f = 0; f < response->fields; f++)
                for (int i = 0; i < response->coefs; i++)
                    out[(f * response->terms + r) * response->coefs + i] +=
                        factor * slope[n] *
                        response
                            ->value[((n * CORNERS + corner) * response->fields +
                                     f) *
                                        response->coefs +
                                    i];
    }
}

static enum ht_err add_shape(const struct ht_problem *p,
                             const struct wave *wave,
                             const struct response *response, int set,
                             struct ht_inject_shapes *s) {
    const int64_t size = (int64_t)s->fields * s->terms * s->coefs;
    double *more =
        realloc(s->value, (size_t)((s->count + 1) * size) * sizeof *more);
    REQUIRE(more, HT_ERR_MEMORY, "out of memory for plane waves");
    s->value = more;
    more += s->count++ * size;
    memset(more, 0, (size_t)size * sizeof *more);
    for (int q = 0; q < 1 << p->grid->dims; q++)
        if (set >> q & 1)
            add_source(p->grid, wave, response, q, set >> CORNERS & 1 ? 1 : -1,
                       more);
    return HT_OK;
}

/* ---- lists ---- */

struct listing {
    const struct ht_problem *problem;
    enum ht_subgrid to;
    const struct ht_window *window;
    struct incidence_grid *out;
    int64_t count, room;
    struct ht_injection_entry *entry;
};

static enum ht_err add_entry(struct listing *l, const int64_t index[3],
                             const int64_t m[3], int shape) {
    if (l->count == l->room) {
        const int64_t room = 2 * l->room + 1024;
        struct ht_injection_entry *more =
            realloc(l->entry, (size_t)room * sizeof *more);
        REQUIRE(more, HT_ERR_MEMORY, "out of memory for plane waves");
        l->entry = more;
        l->room = room;
    }
    struct ht_injection_entry *entry = &l->entry[l->count];
    *entry = (struct ht_injection_entry){
        .at = ht_window_at(l->window, index[0], index[1], index[2]),
        .number = l->count++,
        .shape = shape};
    for (int k = 0; k < l->problem->grid->dims; k++)
        entry->wall |= ht_source_wall(l->problem->grid, l->to, k, m[k]);
    return HT_OK;
}

static int by_place(const void *a, const void *b) {
    const struct column *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Columns of the entries from `first` on, whose column is not known yet; place:
 * of each. Equal places become one column. */
static enum ht_err add_columns(struct listing *l, int wave, int64_t first,
                               const int64_t *place) {
    struct incidence_grid *g = l->out;
    const int64_t count = l->count - first;
    struct column *more =
        realloc(g->column, (size_t)(g->columns + count + 1) * sizeof *more);
    REQUIRE(more, HT_ERR_MEMORY, "out of memory for plane waves");
    g->column = more;
    more += g->columns;
    for (int64_t i = 0; i < count; i++)
        more[i] = (struct column){.place = place[i], .wave = wave};
    if (count > 0) qsort(more, (size_t)count, sizeof *more, by_place);
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || more[i].place != more[kept - 1].place)
            more[kept++] = more[i];
    for (int64_t i = 0; i < count; i++) {
        const struct column key = {.place = place[i]};
        const struct column *found =
            bsearch(&key, more, (size_t)kept, sizeof *more, by_place);
        l->entry[first + i].column = (int)(g->columns + (found - more));
    }
    g->columns += kept;
    return HT_OK;
}

static int64_t place_of(const struct listing *l, const struct wave *wave,
                        const int64_t m[3]) {
    const struct ht_grid *grid = l->problem->grid;
    double xi = -wave->shot->corner;
    for (int k = 0; k < grid->dims; k++)
        xi += wave->shot->direction[k] * ht_grid_x(grid, l->to, k, m[k]);
    return llround(ldexp(xi / wave->half, PLACES));
}

/* The targets of the window beside the surface; shape[set]: 0, or one more
 * than its number. */
static enum ht_err list_targets(struct listing *l, const struct wave *wave,
                                const struct response *response,
                                int64_t **place) {
    const struct ht_box *held = &l->window->held;
    struct ht_inject_shapes *shapes = &l->out->injection.shapes;
    int64_t index[3], room = 0, count = 0, m[3];
    int shape[SETS] = {0};
    for (index[2] = held->begin[2]; index[2] < held->end[2]; index[2]++)
        for (index[1] = held->begin[1]; index[1] < held->end[1]; index[1]++)
            for (index[0] = held->begin[0]; index[0] < held->end[0];
                 index[0]++) {
                for (int k = 0; k < 3; k++)
                    m[k] = ht_source_node(l->problem->grid, l->to, l->window, k,
                                          index[k]);
                const int set = set_of(l->problem, wave->shot, l->to, m);
                if (set == 0) continue;
                if (shape[set] == 0) {
                    TRY(add_shape(l->problem, wave, response, set, shapes));
                    shape[set] = (int)shapes->count;
                }
                if (count == room) {
                    room = 2 * room + 1024;
                    int64_t *more =
                        realloc(*place, (size_t)room * sizeof *more);
                    REQUIRE(more, HT_ERR_MEMORY,
                            "out of memory for plane waves");
                    *place = more;
                }
                (*place)[count++] = place_of(l, wave, m);
                TRY(add_entry(l, index, m, shape[set] - 1));
            }
    return HT_OK;
}

static enum ht_err list_wave(struct listing *l, int n) {
    const struct wave wave = wave_of(l->problem, n);
    const int64_t first = l->count;
    struct response response = {.value = NULL};
    int64_t *place = NULL;
    enum ht_err err = make_response(l->problem, l->to, &wave,
                                    l->out->injection.shapes.terms, &response);
    if (err == HT_OK) err = list_targets(l, &wave, &response, &place);
    if (err == HT_OK) err = add_columns(l, n, first, place);
    free(place);
    free(response.value);
    return err;
}

static int64_t rows_of(int64_t values) {
    const int64_t rows = VALUES / ht_most(values, 1);
    return ht_most(1, ht_least(rows, HT_INJECTION_ROWS / 2));
}

static enum ht_err make_grid(const struct ht_problem *p, enum ht_subgrid to,
                             const struct ht_window *window,
                             struct incidence_grid *out) {
    struct ht_injection_grid *g = &out->injection;
    struct listing l = {.problem = p, .to = to, .window = window, .out = out};
    int fields = 0;
    g->shapes = (struct ht_inject_shapes){.fields = ht_problem_stored(p, to),
                                          .terms = terms_of(p),
                                          .coefs = ht_grid_coefs(p->grid)};
    for (int f = 0; f < p->eq->nfields; f++)
        if (ht_problem_stores(p, to, f)) g->field[fields++] = f;
    enum ht_err err = HT_ALLOC(g->shapes.odd, fields * g->shapes.coefs);
    if (err == HT_OK) ht_injection_odd(p, to, g->shapes.coefs, g->shapes.odd);
    for (int n = 0; err == HT_OK && n < p->duhamel->waves; n++)
        err = list_wave(&l, n);
    g->shapes.columns = (int)out->columns;
    if (err == HT_OK) err = ht_injection_make_list(l.count, l.entry, window, g);
    free(l.entry);
    if (err != HT_OK) return err;
    const int64_t values = out->columns * g->shapes.terms;
    out->rows = rows_of(values);
    return HT_ALLOC(out->table, out->rows * values);
}

/* ---- amplitudes ---- */

static void expand(const struct ht_incidence *in, const struct column *column,
                   double time, double factor, int terms, const double *x,
                   const double *weight, double *out) {
    const struct wave wave = wave_of(&in->problem, column->wave);
    const double xi = ldexp((double)column->place, -PLACES);
    double p[TERMS];
    for (int r = 0; r < terms; r++) out[r] = 0;
    for (int i = 0; i < GAUSS; i++) {
        const double delay = (xi + 2 * x[i]) * wave.half / wave.speed;
        const double s =
            factor * weight[i] * ht_source_signal(wave.shot, time - delay, 0);
        ht_legendre(terms, 2 * x[i], p);
        for (int r = 0; r < terms; r++) out[r] += (2 * r + 1) * p[r] * s;
    }
}

static bool acts(const struct ht_incidence *in, const struct column *column,
                 double time) {
    const struct wave wave = wave_of(&in->problem, column->wave);
    const double xi = ldexp((double)column->place, -PLACES);
    const double delay = xi * wave.half / wave.speed;
    const double half = wave.half / wave.speed;
    return ht_shot_acts(wave.shot, time - delay - half, time - delay + half);
}

/* A step back of leapfrog takes out what a step adds. */
static void fill_row(struct ht_incidence *in, enum ht_subgrid to, int64_t row) {
    struct incidence_grid *g = &in->grid[to];
    const int terms = g->injection.shapes.terms;
    const int64_t q = in->first + 2 * row + (to == HT_PRIMARY);
    const double time = (double)q * in->problem.dt / 2;
    const double factor = in->back ? -in->problem.old_sign : 1;
    double x[GAUSS], weight[GAUSS];
    ht_gauss_points(GAUSS, x, weight);
    in->acts[to][row] = false;
    for (int64_t c = 0; c < g->columns; c++) {
        double *out = g->table + (row * g->columns + c) * terms;
        const bool now = acts(in, &g->column[c], time);
        in->acts[to][row] |= now;
        if (now)
            expand(in, &g->column[c], time, factor, terms, x, weight, out);
        else
            memset(out, 0, (size_t)terms * sizeof *out);
    }
}

static int64_t rows_held(const struct ht_incidence *in) {
    return ht_least(in->grid[HT_PRIMARY].rows, in->grid[HT_DUAL].rows);
}

static enum ht_err fill(struct ht_incidence *in, int64_t q, bool back) {
    const int64_t rows = rows_held(in);
    const int64_t pair = q >= 0 ? q / 2 : (q - 1) / 2;
    in->first = 2 * (back ? pair - rows + 1 : pair);
    in->back = back;
    in->filled = true;
    for (int i = 0; i < 2; i++) {
        bool any = false;
        for (int64_t row = 0; row < rows; row++) {
            fill_row(in, i ? HT_DUAL : HT_PRIMARY, row);
            any = any || in->acts[i][row];
        }
        if (any && in->grid[i].injection.injected != NULL)
            TRY(ht_injected_table(in->grid[i].injection.injected,
                                  in->grid[i].table));
    }
    return HT_OK;
}

enum ht_err ht_incidence_begin(struct ht_incidence *in, int64_t q, bool back) {
    REQUIRE(!back || in->problem.old_sign != 0, HT_ERR_INTERNAL,
            "plane waves from outside have no steps back but by leapfrog");
    if (!in->filled || in->back != back || q < in->first ||
        q >= in->first + 2 * rows_held(in))
        TRY(fill(in, q, back));
    const int64_t row = (q - in->first) / 2;
    in->row = in->acts[q % 2 == 0 ? HT_DUAL : HT_PRIMARY][row] ? row : -1;
    return HT_OK;
}

enum ht_err ht_incidence_add(struct ht_incidence *in, enum ht_subgrid to,
                             int64_t first, int64_t last, int64_t nodes,
                             struct ht_buffer *const *u) {
    const struct ht_injection_grid *g = &in->grid[to].injection;
    if (in->row < 0 || g->injected == NULL) return HT_OK;
    for (int f = 0; f < g->shapes.fields; f++)
        TRY(ht_inject(g->injected, g->plane[first], g->plane[last], in->row, f,
                      nodes, u[g->field[f]]));
    return HT_OK;
}

void ht_incidence_add_plain(const struct ht_incidence *in, enum ht_subgrid to,
                            int64_t nodes, double *u) {
    const struct incidence_grid *g = &in->grid[to];
    const int terms = g->injection.shapes.terms;
    if (in->row >= 0)
        ht_injection_grid_add(&g->injection,
                              g->table + in->row * g->columns * terms, 0, nodes,
                              u);
}

/* ---- making ---- */

enum ht_err ht_incidence_create(const struct ht_problem *problem,
                                const struct ht_window window[2],
                                struct ht_incidence **out) {
    struct ht_incidence *in = NULL;
    enum ht_err err = HT_OK;
    *out = NULL;
    if (problem->duhamel->waves == 0) return HT_OK;
    TRY(HT_ALLOC(in, 1));
    in->problem = *problem;
    for (int i = 0; err == HT_OK && i < 2; i++)
        err = make_grid(problem, i ? HT_DUAL : HT_PRIMARY, &window[i],
                        &in->grid[i]);
    if (err == HT_OK)
        *out = in;
    else
        ht_incidence_destroy(in);
    return err;
}

void ht_incidence_destroy(struct ht_incidence *in) {
    if (in == NULL) return;
    for (int i = 0; i < 2; i++) {
        ht_injection_grid_free(&in->grid[i].injection);
        free(in->grid[i].column);
        free(in->grid[i].table);
    }
    free(in);
}

enum ht_err ht_incidence_upload(struct ht_incidence *in,
                                struct ht_injector *injector) {
    for (int i = 0; i < 2; i++) {
        struct ht_injection_grid *g = &in->grid[i].injection;
        if (g->list.count == 0) continue;
        TRY(ht_injected_create(injector, &g->list, &g->shapes, in->grid[i].rows,
                               1, &g->injected));
        free(g->shapes.value);
        g->shapes.value = NULL;
    }
    return HT_OK;
}

/* Targets on both sides of each face of a grid. */
static int64_t most_targets(const struct ht_problem *problem) {
    const struct ht_duhamel *d = problem->duhamel;
    int64_t nodes = 0;
    for (int n = 0; n < d->waves; n++) {
        const struct ht_shot *shot = &d->shots->shot[d->wave[n].shot];
        for (int k = 0; k < problem->grid->dims; k++) {
            int64_t face = 4;
            for (int i = 0; i < problem->grid->dims; i++)
                if (i != k)
                    face *= (int64_t)((shot->last[i] - shot->first[i]) /
                                      problem->grid->h[i]) +
                            3;
            if (!ht_source_open(problem->grid, shot, k)) nodes += face;
        }
    }
    return nodes;
}

/* At most as many columns as targets; the sets of a box. */
int64_t ht_incidence_bytes(const struct ht_problem *problem,
                           const struct ht_spec *spec) {
    const int64_t sets = 64;
    int64_t bytes = 0;
    if (problem->duhamel == NULL || problem->duhamel->waves == 0) return 0;
    const int64_t nodes = most_targets(problem);
    const int terms = terms_of(problem);
    for (int i = 0; i < 2; i++) {
        const struct ht_inject_shapes shapes = {
            .fields = ht_problem_stored(problem, i ? HT_DUAL : HT_PRIMARY),
            .terms = terms,
            .columns = (int)nodes,
            .count = sets * problem->duhamel->waves};
        bytes += ht_injected_bytes(spec, nodes, nodes, &shapes,
                                   rows_of(nodes * terms), 1);
    }
    return bytes;
}

/* Of both grids: entries with their places and columns; tables. */
int64_t ht_incidence_host_bytes(const struct ht_problem *problem) {
    const int64_t entry = sizeof(struct ht_injection_entry) +
                          sizeof(struct column) + sizeof(int64_t);
    if (problem->duhamel == NULL || problem->duhamel->waves == 0) return 0;
    const int64_t nodes = most_targets(problem);
    const int64_t values = nodes * terms_of(problem);
    return 2 *
           (nodes * entry + (int64_t)sizeof(double) * values * rows_of(values));
}
