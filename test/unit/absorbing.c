/* Absorbing layers of Hermite methods by an analysis that shares tables with the program and no
 * arithmetic: a strip of cells between a rigid wall and a layer along x1, a phase theta per cell
 * along x2. A step is a dense matrix.
 *
 *   growth     its spectral radius with the layers that the input gives by
 *              default, from |A^(2^k)| by repeated squaring, since what grows
 *              by 1e-8 per step does not show in any run
 *   reference  src/hermite/oracle.c takes the same steps
 *   planted    a layer of one cell, which grows slowly, and a parity, which
 *              the reference shows; a small alpha; a sponge of two cells
 *   mirror     profiles of both sides
 *
 * The same with sponges; the state of leapfrog is both grids.
 *
 * With coefficients i^(j2 + p) a, p = 1 for fields odd along x2, all is real:
 * src/hermite/bloch.c. */

#include "planned.h"
#include "powers.h"

enum { SQUARINGS = 27, MOST = HT_MAX_ORDER + 1 };
#define MOST_GROWTH 1e-8

struct strip {
    struct planned of;
    struct ht_plan *plan;
    struct ht_pool pool;
    struct ht_equations eq;
    bool sponge, both;     /* both: the state is both grids */
    int n, t, cells, size; /* N+1, 2N+2, cells along x1, unknowns of a step */
    double theta;
    double along[2 * MOST][2 * MOST]; /* interpolation along x1 */
    double across[2 * MOST][MOST];    /* along x2 */
    double *b, *w, *next;             /* [field][j1][j2] */
    double *u[2];                     /* [node][field][i1][i2] */
};

static int64_t node_values(const struct strip *s) {
    return (int64_t)s->eq.nfields * s->n * s->n;
}

static void set_theta(struct strip *s, double theta) {
    double h[4 * MOST * MOST];
    const double turned[4] = {1, 1, -1, -1};
    ht_hermite_matrix(s->n - 1, h);
    s->theta = theta;
    for (int j = 0; j < s->t; j++)
        for (int i = 0; i < s->t; i++) {
            s->along[j][i] = h[j * s->t + i];
            if (i >= s->n) continue;
            const bool even = (i - j) % 2 == 0;
            const int quarter = ((even ? i - j : i - j + 1) % 4 + 4) % 4;
            s->across[j][i] = 2 * h[j * s->t + s->n + i] * turned[quarter] *
                              (even ? cos(theta / 2) : sin(theta / 2));
        }
}

/* sponge: its scheme, or NULL. cfl: 0: the usual one. */
static void open_strip(struct strip *s, const char *system, const char *sponge, int order,
                       int layer, int inside, double cfl) {
    *s = (struct strip){
        .sponge = sponge != NULL, .n = order + 1, .t = 2 * order + 2, .cells = layer + inside};
    /* A layer may not be thicker than half of its axis; steps as long as usual. */
    must(plan_make(&s->of, ';',
                   "system=%s; grid.cells=[%d, 3]; grid.upper=[%d.0, 3.0]; grid.order=%d; "
                   "boundary.x1=[\"rigid\", \"absorbing\"]; absorbing.cells=%d; time.scheme=%s; "
                   "time.end=1000.0; initial.type=zero; %s; %s",
                   system, 2 * s->cells, 2 * s->cells, order, layer, sponge ? sponge : "taylor",
                   sponge ? "absorbing.type=sponge" : "",
                   cfl > 0 ? HT_KEY("time.cfl=%g", cfl) : ""));
    s->plan = s->of.plan;
    s->plan->grid.cells[0] = s->plan->layers.cells[0] = s->cells;
    s->plan->grid.upper[0] = s->cells;
    s->both = s->plan->problem.old_sign != 0;
    must(ht_equations_absorb(&s->plan->eq, sponge ? 0 : 1, &s->eq));
    const int64_t cell = (int64_t)s->eq.nfields * s->t * s->t;
    double **const part[] = {&s->b, &s->w, &s->next, &s->u[0], &s->u[1]};
    for (int i = 0; i < 5; i++)
        must(HT_TAKE(&s->pool, *part[i], i < 3 ? cell : (s->cells + 1) * node_values(s)));
}

static void close_strip(struct strip *s) {
    ht_pool_free(&s->pool);
    planned_end(&s->of);
}

/* ---- a step ---- */

/* What a half step of the sponge interpolates and computes. */
static bool stores(const struct strip *s, enum ht_subgrid subgrid, int field) {
    return !s->sponge || ht_problem_stores(&s->plan->problem, subgrid, field);
}

static bool in_layer(const struct strip *s, enum ht_subgrid subgrid, int node) {
    return !s->sponge &&
           ht_absorbing_side(&s->plan->layers, 0, ht_absorbing_at(subgrid, node)) >= 0;
}

static bool has_field(const struct strip *s, int field, bool layer) {
    return layer || ht_field_layer(&s->eq, field) < 0;
}

/* b <- the interpolant between two source nodes; behind walls are mirrors. */
static void interpolate(struct strip *s, enum ht_subgrid from, int field, int lower) {
    const int n = s->n, t = s->t;
    const int nodes = from == HT_PRIMARY ? s->cells + 1 : s->cells;
    double *b = s->b + (int64_t)field * t * t;
    memset(b, 0, (size_t)(t * t) * sizeof *b);
    for (int side = 0; side < 2; side++) {
        const int at = lower + side;
        const bool mirrored = at < 0 || at >= nodes;
        const int node = at < 0 ? -1 - at : at >= nodes ? 2 * nodes - 1 - at : at;
        const double *u = s->u[from] + (int64_t)node * node_values(s) + (int64_t)field * n * n;
        for (int j1 = 0; j1 < t; j1++)
            for (int i1 = 0; i1 < n; i1++) {
                const bool odd = mirrored && ((s->eq.field[field].parity & 1u) ^ (i1 & 1));
                const double h = s->along[j1][side * n + i1] * (odd ? -1 : 1);
                for (int j2 = 0; j2 < t; j2++)
                    for (int i2 = 0; i2 < n; i2++)
                        b[j1 * t + j2] += h * s->across[j2][i2] * u[i1 * n + i2];
            }
    }
}

static double factor_of(const struct strip *s, const struct ht_term *term) {
    const struct ht_field *field = s->eq.field;
    const int first = s->eq.nmaterials - s->eq.nprofiles;
    const int turns = (term->axis == 1 ? term->derivative : 0) +
                      (int)(field[term->col].parity >> 1 & 1u) -
                      (int)(field[term->row].parity >> 1 & 1u);
    double value = term->coef * s->plan->problem.dt / 2;
    if (term->material >= 0 && term->material < first)
        value *= s->plan->problem.uniform[term->material];
    return (turns + 4) % 4 == 2 ? -value : value;
}

/* next += factor M D w[col], M a polynomial in xi1 */
static void add_term(struct strip *s, const struct ht_term *term, double factor, const double *m) {
    const int t = s->t, d = term->derivative;
    const double *w = s->w + (int64_t)term->col * t * t;
    double *next = s->next + (int64_t)term->row * t * t;
    for (int j1 = 0; j1 < t; j1++)
        for (int j2 = 0; j2 < t; j2++) {
            const int to1 = j1 + (term->axis == 0 ? d : 0);
            const int to2 = j2 + (term->axis == 1 ? d : 0);
            double value = factor;
            if (to1 >= t || to2 >= t) continue;
            for (int i = 1; i <= d; i++) value *= (term->axis == 0 ? j1 : j2) + i;
            for (int a = 0; a <= HT_PROFILE_DEGREE && j1 + a < t; a++)
                next[(j1 + a) * t + j2] += m[a] * value * w[to1 * t + to2];
        }
}

static void evolve(struct strip *s, enum ht_subgrid to, int node, bool layer) {
    const int64_t cell = (int64_t)s->eq.nfields * s->t * s->t;
    const int stages = layer ? s->plan->layers.stages : s->plan->problem.stages;
    const int first = s->eq.nmaterials - s->eq.nprofiles;
    const double one[HT_PROFILE_DEGREE + 1] = {1};
    double profile[HT_LAYER_PROFILES][HT_PROFILE_DEGREE + 1];
    ht_absorbing_profiles(&s->plan->layers, 0, ht_absorbing_at(to, node), profile);
    memcpy(s->w, s->b, (size_t)cell * sizeof *s->w);
    for (int k = stages; k >= 1; k--) {
        memset(s->next, 0, (size_t)cell * sizeof *s->next);
        for (int i = 0; i < s->eq.nterms; i++) {
            const struct ht_term *term = &s->eq.term[i];
            const double *m = term->material >= first ? profile[term->material - first] : one;
            if (layer || ht_term_layer(&s->eq, term) < 0)
                add_term(s, term, factor_of(s, term) / k, m);
        }
        for (int64_t q = 0; q < cell; q++) s->w[q] = s->b[q] + s->next[q];
    }
}

/* u <- G u of the coefficients of a node. */
static void damp(const struct strip *s, enum ht_subgrid to, int node, double *u) {
    double jets[MOST];
    if (!s->sponge || ht_sponge_rate(&s->plan->problem, to) == 0) return;
    ht_sponge_jets(&s->plan->problem, to, 0, node, jets);
    for (int i1 = s->n - 1; i1 >= 0; i1--)
        for (int i2 = 0; i2 < s->n; i2++) {
            double sum = 0;
            for (int j = 0; j <= i1; j++) sum += jets[j] * u[(i1 - j) * s->n + i2];
            u[i1 * s->n + i2] = sum;
        }
}

/* The outputs of a field. */
static void put(const struct strip *s, enum ht_subgrid to, int node, int field, double *u) {
    const int n = s->n, t = s->t;
    damp(s, to, node, u);
    for (int i = 0; i < n * n; i++) {
        const double w = s->w[(field * t + i / n) * t + i % n];
        u[i] = s->both ? s->plan->problem.old_sign * u[i] + 2 * w : w;
    }
    damp(s, to, node, u);
}

static void half_step(struct strip *s, enum ht_subgrid from) {
    const enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const int n = s->n, t = s->t;
    const int nodes = to == HT_PRIMARY ? s->cells + 1 : s->cells;
    for (int node = 0; node < nodes; node++) {
        const bool layer = in_layer(s, to, node);
        double *u = s->u[to] + (int64_t)node * node_values(s);
        memset(s->b, 0, (size_t)(s->eq.nfields * t * t) * sizeof *s->b);
        for (int f = 0; f < s->eq.nfields; f++)
            if (has_field(s, f, layer) && stores(s, from, f))
                interpolate(s, from, f, node - (from == HT_DUAL));
        evolve(s, to, node, layer);
        for (int f = 0; f < s->eq.nfields; f++)
            if (has_field(s, f, layer) && stores(s, to, f))
                put(s, to, node, f, u + (int64_t)f * n * n);
    }
}

static void step(struct strip *s) {
    half_step(s, HT_PRIMARY);
    half_step(s, HT_DUAL);
}

/* ---- growth ---- */

/* What a wall forbids. The scheme of two levels, which adds, would keep it. */
static bool forbidden(const struct strip *s, int node, int field, int i) {
    const bool wall = node == 0 || node == s->cells;
    return s->both && wall && ((s->eq.field[field].parity & 1u) ^ (i / s->n & 1));
}

/* The unknowns, in u[HT_PRIMARY] or in both; returns their number. */
static int list_unknowns(const struct strip *s, double **place) {
    int count = 0;
    for (int node = 0; node <= s->cells; node++)
        for (int n = 0; n < s->eq.nfields * s->n * s->n; n++) {
            const int f = n / (s->n * s->n), i = n % (s->n * s->n);
            if (has_field(s, f, in_layer(s, HT_PRIMARY, node)) && stores(s, HT_PRIMARY, f) &&
                !forbidden(s, node, f, i))
                place[count++] = s->u[HT_PRIMARY] + node * node_values(s) + n;
            if (s->both && node < s->cells && stores(s, HT_DUAL, f))
                place[count++] = s->u[HT_DUAL] + node * node_values(s) + n;
        }
    return count;
}

/* log of the norm, after which the matrix has the norm 1. */
static double normalise(int n, double *a) {
    double sum = DBL_MIN;
    for (int i = 0; i < n * n; i++) sum += a[i] * a[i];
    for (int i = 0; i < n * n; i++) a[i] /= sqrt(sum);
    return log(sum) / 2;
}

/* log of the spectral radius of a step, or a bound below 0: that of a power's norm. */
static double growth_of(struct strip *s) {
    const int64_t values = (s->cells + 1) * node_values(s);
    HT_FREED double *a, *b;
    HT_FREED double **place;
    double before = 0, after = 0;
    must(HT_ALLOC(place, 2 * values));
    const int n = list_unknowns(s, place);
    must(HT_ALLOC(a, (int64_t)n * n));
    must(HT_ALLOC(b, (int64_t)n * n));
    for (int col = 0; col < n; col++) {
        for (int i = 0; i < 2; i++) memset(s->u[i], 0, (size_t)values * sizeof(double));
        *place[col] = 1;
        step(s);
        for (int row = 0; row < n; row++) a[row * n + col] = *place[row];
    }
    int k = 0;
    for (; k <= SQUARINGS && after >= 0; k++) {
        before = after;
        after = 2 * before + normalise(n, a);
        square(n, &a, &b);
    }
    if (after < 0) return ldexp(after, 1 - k);
    return (after - before) / (1 << (SQUARINGS - 1));
}

/* cfl: 0: the usual one. What the analysis must find: a layer or a sponge of fewer `cells`,
 * stronger by `most` than the plan allows; long waves where alpha is a 16th, next to nothing. */
static const struct growth {
    const char *system, *sponge;
    int order, layer;
    double theta, cfl;
    int cells;
    double most;
    bool alpha;
} growths[] = {
    {"acoustic", NULL, 1, 12, 0.3, .cfl = 0},
    {"acoustic", NULL, 2, 4, 1.2, .cfl = 0},
    {"acoustic", NULL, 3, 4, 2.2, .cfl = 0},
    {"wave", NULL, 1, 8, 0.1, .cfl = 0},
    {"wave", NULL, 2, 8, 0.1, .cfl = 0},
    {"wave", NULL, 3, 4, 2.2, .cfl = 0},
    {"wave", NULL, 2, 4, 0.02, .cfl = 0.5},
    {"wave", NULL, 2, 8, 0.02, .cfl = 0.5},
    {"acoustic", NULL, 2, 4, 1.2, 0, .cells = 1},
    {"wave", NULL, 2, 4, 0.02, 0.5, .alpha = true},
    {"acoustic", "leapfrog", 2, 8, 0.9, .cfl = 0.99},
    {"acoustic", "leapfrog", 3, 6, 0.03, .cfl = 0.5},
    {"wave", "leapfrog", 1, 8, 0.6, .cfl = 0.9},
    {"wave", "leapfrog", 3, 6, 3.11, .cfl = 0.5},
    {"acoustic", "taylor", 2, 4, 0.03, .cfl = 0.9},
    {"wave", "taylor", 2, 4, 2.2, .cfl = 0.9},
    {"acoustic", "leapfrog", 3, 6, 1.8, 0.9, .cells = 2, .most = 5},
};

static void test_growth(const struct growth *g) {
    HT_ENDED(close_strip) struct strip s;
    open_strip(&s, g->system, g->sponge, g->order, g->layer, 1, g->cfl);
    struct ht_layer *layer = &s.plan->layers.side[0][1];
    set_theta(&s, g->theta);
    if (g->cells > 0) layer->cells = g->cells;
    if (g->most > 0) layer->most = g->most;
    if (g->alpha) layer->alpha /= 16;
    const double growth = growth_of(&s);
    if (g->cells > 0 || g->alpha)
        TEST_CHECK(growth > 1e-6, "planted %s: growth %.3g (more than 1e-6 expected)",
                   g->alpha    ? "small alpha"
                   : g->sponge ? "sponge of two cells"
                               : "layer of one cell",
                   growth);
    else
        TEST_BELOW(growth, MOST_GROWTH,
                   "%s%s, N = %d, %d cells, phase %.2f, cfl %.2f: growth per step",
                   g->sponge ? HT_KEY("sponge of %s, ", g->sponge) : "", g->system, g->order,
                   g->layer, g->theta, g->cfl);
}

/* The polynomials beside their nodes against the damping there; coefficients are below 1. On the
 * wall those of odd degree are zero. */
static void test_jets(void) {
    enum { N = 4, LAYER = 8 };
    const double xi = 0.125, bound = 1.2 * pow(xi, N + 1);
    double worst = 0, odd = 0, jets[N + 1];
    HT_ENDED(close_strip) struct strip s;
    open_strip(&s, "acoustic", "leapfrog", N, LAYER, 1, 0.9);
    const struct ht_problem *p = &s.plan->problem;
    for (int64_t node = 2; node < s.cells; node++) {
        double sum = 0;
        ht_sponge_jets(p, HT_PRIMARY, 0, node, jets);
        for (int i = N; i >= 0; i--) sum = sum * xi + jets[i];
        const double sigma = ht_layers_stretch(p->layers, 0, (double)node + xi).sigma;
        worst = fmax(worst, fabs(sum - exp(-sigma * p->dt)));
    }
    ht_sponge_jets(p, HT_PRIMARY, 0, s.cells, jets);
    for (int i = 1; i <= N; i += 2) odd = fmax(odd, fabs(jets[i]));
    TEST_BELOW(worst, bound, "sponge: polynomials at %g cells off", xi);
    TEST_CHECK(odd == 0 && jets[2] != 0, "sponge: %g of odd degree on the wall", odd);
}

/* ---- the reference ---- */

/* Re of i^(i2 + p) a exp(i theta m2) at the nodes of three cells along x2. */
static double seen(const struct strip *s, const double *u, int field, int i2, double at) {
    const int turns = i2 + (int)(s->eq.field[field].parity >> 1 & 1u);
    return *u * cos(s->theta * at + turns * acos(-1.0) / 2);
}

/* Largest difference after some steps from data in the interior. */
static double differ(struct strip *s, const struct ht_stepper *oracle, int steps) {
    const int n = s->n, fields = s->plan->eq.nfields, rows = s->cells + 1;
    const int64_t values = (int64_t)fields * n * n * rows * 3;
    HT_FREED double *data;
    double worst = 0, most = 0;
    must(HT_ALLOC(data, values));
    for (int i = 0; i < rows * fields * n * n; i++)
        s->u[HT_PRIMARY][i / (fields * n * n) * node_values(s) + i % (fields * n * n)] =
            ht_rng_uniform(4, (uint64_t)i);
    for (int round = 0; round < 2; round++) {
        for (int f = 0; f < fields; f++) {
            double *field = data + (int64_t)f * n * n * rows * 3;
            if (round == 1) must(oracle->ops->get(oracle->self, HT_PRIMARY, f, n * n, 0, 1, field));
            for (int q = 0; q < n * n * rows * 3; q++) {
                const int node = q % rows, m2 = q / rows % 3;
                const int i1 = q / (3 * rows) % n, i2 = q / (3 * rows * n);
                const double here = seen(s,
                                         s->u[HT_PRIMARY] + (int64_t)node * node_values(s) +
                                             ((int64_t)f * n + i1) * n + i2,
                                         f, i2, m2);
                worst = fmax(worst, round ? fabs(here - field[q]) : 0);
                most = fmax(most, fabs(here));
                if (round == 0) field[q] = here;
            }
        }
        if (round == 0) must(oracle->ops->put(oracle->self, HT_PRIMARY, 0, 1, data));
        for (int k = 0; round == 0 && k < steps; k++) step(s);
        if (round == 0) must(ht_stepper_advance(oracle, steps));
    }
    return worst / most;
}

static void test_reference(const char *system, const char *sponge, int order, bool wrong) {
    const int steps = 3;
    HT_ENDED(close_strip) struct strip s;
    open_strip(&s, system, sponge, order, sponge ? 6 : 3, 2, 0);
    set_theta(&s, 2 * acos(-1.0) / 3);
    must(plan_oracle(&s.of, false));
    if (wrong) s.eq.field[s.eq.nfields - 1].parity ^= 1u;
    const double off = differ(&s, &s.of.stepper, steps);
    /* 4^N: the growth of the binomials in an interpolation */
    const double bound =
        4 * steps * DBL_EPSILON * ht_oracle_roundings(&s.plan->problem) * pow(4, order);
    if (wrong)
        TEST_CHECK(off > 1e-6, "planted parity of a memory variable: the reference differs by %.3g",
                   off);
    else
        TEST_BELOW(off, bound, "%s%s, N = %d: the reference differs by", sponge ? "sponge, " : "",
                   system, order);
}

/* The upper layer's profiles are the lower one's mirror images in every bit. */
static void test_mirror(void) {
    const struct ht_layer side = {
        .cells = 8, .length = 8 * 0.1, .degree = 5, .most = 1 / 3.0, .alpha = 0.1, .sponge = 0.005};
    const struct ht_layers layers = {.type = HT_ABSORBING_CPML,
                                     .dims = 1,
                                     .cells = {30},
                                     .profile_degree = HT_PROFILE_DEGREE,
                                     .side = {{side, side}}};
    int differ = 0;
    for (int half = 0; half <= 16; half++) {
        double p[2][HT_LAYER_PROFILES][HT_PROFILE_DEGREE + 1];
        ht_absorbing_profiles(&layers, 0, half / 2.0, p[0]);
        ht_absorbing_profiles(&layers, 0, 30 - half / 2.0, p[1]);
        for (int n = 0; n < HT_LAYER_PROFILES * (HT_PROFILE_DEGREE + 1); n++) {
            const int i = n / (HT_PROFILE_DEGREE + 1);
            const int a = n % (HT_PROFILE_DEGREE + 1);
            differ += p[0][i][a] != (a % 2 ? -p[1][i][a] : p[1][i][a]);
            differ += half == 8 && p[0][i][a] == 0;
        }
    }
    TEST_CHECK(differ == 0, "%d coefficients of profiles are not mirrored", differ);
}

int main(void) {
    TEST_EACH(growth, growths) test_growth(growth);
    for (int order = 1; order <= 3; order++) {
        test_reference("acoustic", NULL, order, false);
        test_reference("wave", NULL, order, false);
    }
    test_reference("acoustic", NULL, 2, true);
    test_reference("acoustic", "leapfrog", 2, false);
    test_reference("wave", "leapfrog", 3, false);
    test_reference("acoustic", "taylor", 2, false);
    test_jets();
    test_mirror();
    return test_end("absorbing");
}
