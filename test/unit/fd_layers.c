/* Absorbing layers of finite differences (docs/absorbing.md), with the damping
 * that runs take.
 *   - Steps of u and d with layers are those of p and v, which have v on all
 *     half points and damp it there: random data, media and orders, 1-D to 3-D.
 *   - No wave grows, guided by slow slabs of any distance from the layers:
 * powers of the step's matrix.
 *   - What comes back from a layer, against a domain that nothing reaches the
 *     end of in time, and as ht_fd_layer_returned has it, to 85 degrees.
 *   - The three organisations on the device are the plain loops.
 *   - Random data in a small box of layers stay bounded over 5500 steps, and
 *     over 2^25 by powers of the step's matrix.
 *
 *     fd_layers [CACHE]
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "open_device.h"
#include "test.h"

#include "htwave/fd.h"
#include "htwave/kernels.h"
#include "htwave/layers.h"
#include "htwave/oracle.h"
#include "htwave/scheme.h"
#include "src/solve/methods.h"

static void must(enum ht_err err) {
    if (err == HT_OK) return;
    TEST_CHECK(false, "%s", ht_err_message());
    exit(test_end("fd_layers"));
}

static double *zeros(int64_t count) {
    double *x = NULL;
    must(HT_ALLOC(x, count));
    return x;
}

/* ---- scenes ---- */

struct scene {
    double slow; /* 0: random; else 1/K of nodes x1 < wide in the middle */
    int64_t wide;
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_layers layers;
    struct ht_problem problem;
    double contrast;
};

/* Between 1 and the contrast, constant along normals in layers. */
static enum ht_err fill(const void *context, int what, int64_t first,
                        int64_t last, double *out) {
    const struct scene *s = context;
    const int64_t n1 = ht_grid_nodes(&s->grid, HT_PRIMARY, 0);
    const int64_t n2 = ht_grid_nodes(&s->grid, HT_PRIMARY, 1);
    for (int64_t m3 = first; m3 < last; m3++)
        for (int64_t m2 = 0; m2 < n2; m2++)
            for (int64_t m1 = 0; m1 < n1; m1++) {
                const int64_t m[3] = {
                    ht_layers_inside(&s->grid, 0, what == 1, m1),
                    ht_layers_inside(&s->grid, 1, what == 2, m2),
                    ht_layers_inside(&s->grid, 2, what == 3, m3)};
                const int64_t node = (m[2] * n2 + m[1]) * n1 + m[0];
                if (s->slow > 0) {
                    const bool in = llabs(m1 - n1 / 2) < s->wide;
                    *out++ = what == 0 && in ? s->slow : 1;
                    continue;
                }
                *out++ = pow(s->contrast,
                             0.5 + 0.5 * ht_rng_uniform(3, 4u * (uint64_t)node +
                                                               (unsigned)what));
            }
    return HT_OK;
}

struct given {
    const char *name;
    int dims;
    int64_t cells[3];
    int wall[3][2];
    int64_t layer[3][2];
    int order;
    bool density;
    double contrast;
    bool guided; /* one axis of more */
};

/* dt is part of the largest stable step of the largest speed. */
static void make(struct scene *s, const struct given *g, double part) {
    *s = (struct scene){.contrast = g->contrast,
                        .layers = {.type = HT_ABSORBING_CPML, .dims = g->dims}};
    s->eq = ht_equations_make(
        ht_system_find(strstr(g->name, "wave") ? "wave" : "acoustic"), g->dims);
    s->grid = (struct ht_grid){.dims = g->dims};
    for (int k = 0; k < 3; k++) {
        s->grid.cells[k] = s->layers.cells[k] = k < g->dims ? g->cells[k] : 1;
        s->grid.h[k] = 1;
        s->grid.upper[k] = (double)s->grid.cells[k];
        for (int side = 0; side < 2; side++) {
            struct ht_layer *layer = &s->layers.side[k][side];
            s->grid.wall[k][side] = g->wall[k][side];
            s->grid.layer[k][side] = layer->cells = g->layer[k][side];
            if (layer->cells == 0) continue;
            s->grid.wall[k][side] = -1;
            (g->dims > 1 || g->guided ? ht_layers_usual : ht_layers_usual_line)(
                HT_ABSORBING_CPML, g->order, layer);
            ht_layer_scale(layer, 1, 1);
        }
    }
    const struct ht_fd_weights w = ht_fd_weights(g->order);
    const double wide = ht_fd_first_symbol(&w, acos(-1.0));
    const double symbol = g->density ? wide * wide * g->contrast
                                     : ht_fd_second_symbol(&w, acos(-1.0));
    s->problem = (struct ht_problem){
        .eq = &s->eq,
        .grid = &s->grid,
        .medium_degree = 0,
        .stages = 1,
        .dt = part * 2 / sqrt(symbol * g->dims * g->contrast),
        .layers = &s->layers,
        .fd = {.order = g->order,
               .density = g->density,
               .inverse_density = 1,
               .organisation = HT_ORGANISATION_FACES,
               .fill = fill,
               .medium = s}};
    (void)ht_problem_set_scheme(&s->problem, ht_scheme_find("fd"));
}

/* Before rigid walls. */
static void be_sponge(struct scene *s) {
    s->layers.type = HT_ABSORBING_SPONGE;
    for (int n = 0; n < 6; n++) {
        struct ht_layer *layer = &s->layers.side[n / 2][n % 2];
        const int64_t cells = layer->cells;
        if (cells == 0) continue;
        *layer = (struct ht_layer){.cells = cells};
        s->grid.wall[n / 2][n % 2] = 1;
        ht_layers_usual(HT_ABSORBING_SPONGE, 0, layer);
        ht_layer_scale(layer, 1, 1);
    }
}

static void put(const struct scene *s, const struct ht_stepper *stepper,
                enum ht_subgrid subgrid, const double *values) {
    const int64_t nodes = ht_grid_total(&s->grid, HT_PRIMARY);
    double *all = zeros((nodes * s->eq.nfields));
    memcpy(all, values, (size_t)nodes * sizeof *all);
    must(stepper->ops->put(stepper->self, subgrid, 0,
                           ht_grid_planes(&s->grid, HT_PRIMARY), all));
    free(all);
}

static void get(const struct scene *s, const struct ht_stepper *stepper,
                enum ht_subgrid subgrid, double *values) {
    must(stepper->ops->get(stepper->self, subgrid, 0, 1, 0,
                           ht_grid_planes(&s->grid, HT_PRIMARY), values));
}

static void step(const struct ht_stepper *stepper, int count) {
    for (int n = 0; n < count; n++) {
        must(stepper->ops->half_step(stepper->self, HT_PRIMARY));
        must(stepper->ops->half_step(stepper->self, HT_DUAL));
    }
}

static double norm(const double *x, int64_t count) {
    double sum = 0;
    for (int64_t n = 0; n < count; n++) sum += x[n] * x[n];
    return sqrt(sum);
}

/* 0 on walls that hold it. */
static void hold(const struct scene *s, double *x) {
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
    for (int64_t n = 0; n < ht_grid_total(&s->grid, HT_PRIMARY); n++)
        if (ht_fd_held(&s->grid, n / plane, n % plane)) x[n] = 0;
}

static double *random_values(int64_t count, unsigned seed) {
    double *x = zeros(count);
    for (int64_t n = 0; n < count; n++)
        x[n] = (double)(float)ht_rng_uniform(seed, (uint64_t)n);
    return x;
}

/* ---- p and v ---- */

/* Of each axis v on all half points, what direct second differences have beside
 * the product of the layers' first ones, and the layers' filters: of half
 * points their memory, of nodes that and what they put out. */
struct pure {
    const struct scene *s;
    struct ht_fd_weights wide, narrow;
    int64_t n[3], total;
    bool start;
    double kt2; /* minus the tangential part of L/K */
    double *p, *d, *K, *b[3], *v[3], *rest[3], *half[3], *node[3], *out[3];
};

static void pure_make(struct pure *u, const struct scene *s, const double *p) {
    const struct ht_fd_spec spec = {.dims = s->grid.dims,
                                    .radius = s->problem.fd.order / 2,
                                    .density = s->problem.fd.density};
    *u = (struct pure){.s = s};
    u->wide = ht_fd_weights(s->problem.fd.order);
    u->narrow = ht_fd_layer_weights(&spec);
    for (int k = 0; k < 3; k++)
        u->n[k] = ht_grid_nodes(&s->grid, HT_PRIMARY, k);
    u->total = ht_grid_total(&s->grid, HT_PRIMARY);
    const size_t bytes = (size_t)u->total * sizeof *p;
    u->start = true;
    u->p = zeros(u->total);
    u->d = zeros(u->total);
    u->K = zeros(u->total);
    memcpy(u->p, p, bytes);
    must(fill(s, 0, 0, u->n[2], u->K));
    for (int k = 0; k < 3; k++) {
        u->b[k] = zeros(u->total);
        must(fill(s, 1 + k, 0, u->n[2], u->b[k]));
        for (int64_t i = 0; i < u->total && !spec.density; i++) u->b[k][i] = 1;
        u->v[k] = zeros(u->total);
        u->rest[k] = zeros(u->total);
        u->half[k] = zeros(u->total);
        u->node[k] = zeros(u->total);
        u->out[k] = zeros(u->total);
    }
}

static void pure_free(struct pure *u) {
    free(u->p);
    free(u->d);
    free(u->K);
    for (int k = 0; k < 3; k++) {
        free(u->b[k]);
        free(u->v[k]);
        free(u->rest[k]);
        free(u->half[k]);
        free(u->node[k]);
        free(u->out[k]);
    }
}

/* A line of nodes, or of half points, along an axis with its mirror images;
 * half point i lies above node i. */
static double line(const struct pure *u, const double *x, int axis, bool half,
                   int64_t node, int64_t m) {
    const int64_t pitch = axis == 0   ? 1
                          : axis == 1 ? u->n[0]
                                      : u->n[0] * u->n[1];
    const int64_t n = u->s->grid.cells[axis], h = half ? 1 : 0;
    const int *wall = u->s->grid.wall[axis];
    const int64_t own = node / pitch % u->n[axis];
    double sign = 1;
    if (wall[0] == 0) m = (m % n + n) % n;
    while (m < 0 || m > n - h) {
        sign *= (half ? -1 : 1) * wall[m < 0 ? 0 : 1];
        m = m < 0 ? -h - m : 2 * n - h - m;
    }
    return sign * x[node + (m - own) * pitch];
}

static double slope(const struct pure *u, const struct ht_fd_weights *w,
                    const double *x, int axis, bool half, int64_t node,
                    int64_t m) {
    double sum = 0;
    for (int j = 0; j < w->radius; j++)
        sum += w->first[j] *
               (line(u, x, axis, half, node, m + (half ? j : j + 1)) -
                line(u, x, axis, half, node, m - (half ? j + 1 : j)));
    return sum;
}

static double second(const struct pure *u, int axis, int64_t node, int64_t m) {
    double sum = 0;
    for (int j = 1; j <= u->wide.radius; j++)
        sum += u->wide.second[j] *
               (line(u, u->p, axis, false, node, m + j) +
                line(u, u->p, axis, false, node, m - j) - 2 * u->p[node]);
    return sum;
}

/* Index along an axis, and whether a half point is above the node. */
static int64_t along(const struct pure *u, int axis, int64_t node) {
    const int64_t pitch = axis == 0   ? 1
                          : axis == 1 ? u->n[0]
                                      : u->n[0] * u->n[1];
    return node / pitch % u->n[axis];
}

/* y with (kappa (alpha + D) + sigma) y = (alpha + D) x by the trapezoidal rule;
 * *lag: what x and y of the step before have in it, then of this one. */
static double filter(const struct pure *u, int k, double m, double x,
                     double *lag) {
    const struct ht_stretch s = ht_layers_stretch(&u->s->layers, k, m);
    const double tau = u->s->problem.dt / 2, alpha = s.alpha * tau;
    const double sigma = s.sigma * tau;
    if (s.sigma == 0) {
        *lag = 0;
        return x;
    }
    const double y = ((1 + alpha) * x + *lag) / (s.kappa * (1 + alpha) + sigma);
    *lag = (s.kappa * (1 - alpha) - sigma) * y - (1 - alpha) * x;
    return y;
}

/* Of the part 2 sigma tau of a filter at the first step, when what is filtered
 * has been damped in the same way before. */
static double damped(const struct pure *u, int k, double m, double x) {
    const struct ht_stretch s = ht_layers_stretch(&u->s->layers, k, m);
    return u->start ? s.sigma * u->s->problem.dt * x : 0;
}

/* v and what it has beside at half a step before the first are without force
 * from the data then. */
static void pure_step(struct pure *u) {
    const double dt = u->s->problem.dt, share = u->start ? 0.5 : 1;
    const bool direct = !u->s->problem.fd.density;
    double *flux = zeros(u->total), *plain = zeros(u->total);
    double *sum = zeros(u->total);
    for (int k = 0; k < u->s->grid.dims; k++) {
        const bool walls = u->s->grid.wall[k][0] != 0;
        for (int64_t i = 0; i < u->total; i++) {
            const int64_t m = along(u, k, i);
            flux[i] = plain[i] = 0;
            if (walls && m == u->s->grid.cells[k]) continue;
            const double half = (double)m + 0.5;
            plain[i] = slope(u, &u->narrow, u->p, k, false, i, m);
            u->half[k][i] += damped(u, k, half, plain[i] / 2);
            const double force = filter(u, k, half, plain[i], &u->half[k][i]);
            u->v[k][i] += dt * (force - (1 - share) * plain[i]);
            flux[i] = u->b[k][i] * u->v[k][i];
        }
        for (int64_t i = 0; i < u->total; i++) {
            const int64_t m = along(u, k, i);
            if (direct)
                u->rest[k][i] += share * dt * dt *
                                 (second(u, k, i, m) -
                                  slope(u, &u->narrow, plain, k, true, i, m));
            const double flow =
                u->K[i] * (dt * slope(u, &u->narrow, flux, k, true, i, m) +
                           u->rest[k][i]);
            const double before = u->out[k][i];
            u->node[k][i] -= damped(u, k, (double)m, u->p[i]);
            u->out[k][i] = filter(u, k, (double)m, flow, &u->node[k][i]);
            sum[i] += u->out[k][i] - before;
        }
    }
    for (int64_t i = 0; i < u->total; i++) {
        u->d[i] += sum[i] - dt * dt * u->K[i] * u->kt2 * u->p[i];
        for (int k = 0; k < u->s->grid.dims; k++)
            u->d[i] /= 1 + dt * ht_layers_stretch(&u->s->layers, k,
                                                  (double)along(u, k, i))
                                    .loss;
        u->p[i] += u->d[i];
    }
    u->start = false;
    free(flux);
    free(plain);
    free(sum);
}

/* d of data at rest: minus half of what a step without layers adds. */
static void at_rest(struct pure *u, double *d) {
    const double dt = u->s->problem.dt;
    double *flux = zeros(u->total);
    for (int k = 0; k < u->s->grid.dims; k++) {
        for (int64_t i = 0; i < u->total; i++)
            flux[i] = u->b[k][i] *
                      slope(u, &u->wide, u->p, k, false, i, along(u, k, i));
        for (int64_t i = 0; i < u->total; i++) {
            const int64_t m = along(u, k, i);
            d[i] -= dt * dt / 2 * u->K[i] *
                    (u->s->problem.fd.density
                         ? slope(u, &u->wide, flux, k, true, i, m)
                         : second(u, k, i, m));
        }
    }
    free(flux);
}

static const struct given media[] = {
    {"1-D order 8", 1, {40}, {{1, 1}}, {{9, 12}}, 8, false, 3, false},
    {"1-D order 16, layers thinner than the stencil",
     1,
     {30},
     {{1, 1}},
     {{3, 2}},
     16,
     false,
     3,
     false},
    {"1-D order 6, density", 1, {40}, {{1, -1}}, {{6, 0}}, 6, true, 2, false},
    {"2-D order 4, corners",
     2,
     {20, 18},
     {{1, 1}, {1, -1}},
     {{5, 6}, {4, 0}},
     4,
     false,
     3,
     false},
    {"2-D order 8, density, corners",
     2,
     {24, 22},
     {{1, 1}, {1, 1}},
     {{5, 0}, {4, 8}},
     8,
     true,
     2,
     false},
    {"3-D order 4, density, x2 periodic",
     3,
     {14, 9, 16},
     {{1, 1}, {0, 0}, {-1, 1}},
     {{4, 3}, {0, 0}, {0, 5}},
     4,
     true,
     2,
     false},
    {"3-D order 6, all sides",
     3,
     {10, 13, 14},
     {{1, 1}, {1, 1}, {1, 1}},
     {{4, 3}, {5, 4}, {3, 6}},
     6,
     false,
     2,
     false},
    {"2-D order 8, wave",
     2,
     {19, 20},
     {{1, 1}, {1, 1}},
     {{5, 4}, {6, 4}},
     8,
     false,
     3,
     false},
};
enum { MEDIA = sizeof media / sizeof *media };

/* Each step rounds a value of a few hundred terms. */
static void test_pure(void) {
    for (int i = 0; i < MEDIA; i++) {
        const int steps = media[i].dims == 3 ? 60 : 300;
        struct scene s;
        struct pure u;
        struct ht_stepper stepper;
        make(&s, &media[i], 0.95);
        const int64_t nodes = ht_grid_total(&s.grid, HT_PRIMARY);
        double *p = random_values(nodes, 5 + (unsigned)i);
        double *d = zeros(nodes);
        /* free walls hold 0 */
        pure_make(&u, &s, p);
        hold(&s, p);
        hold(&s, u.p);
        must(ht_oracle_create(&s.problem, &stepper));
        at_rest(&u, d);
        put(&s, &stepper, HT_PRIMARY, p);
        put(&s, &stepper, HT_DUAL, d);
        const double before = norm(p, nodes);
        step(&stepper, steps);
        for (int n = 0; n < steps; n++) pure_step(&u);
        get(&s, &stepper, HT_PRIMARY, p);
        const double after = norm(u.p, nodes);
        for (int64_t n = 0; n < nodes; n++) p[n] -= u.p[n];
        const double bound = 30 * steps * DBL_EPSILON;
        TEST_CHECK(norm(p, nodes) < bound * before && after < before,
                   "%s: u and d against p and v after %d steps: %.1e of %.1e "
                   "(norm %.2g of %.2g)",
                   media[i].name, steps, norm(p, nodes) / before, bound, after,
                   before);
        ht_stepper_destroy(&stepper);
        pure_free(&u);
        free(p);
        free(d);
    }
}

/* ---- growth ---- */

/* The step's matrix of one axis with tangential wavenumbers, whose part of -L
 * is kt2: u, d, and flow, v, rest in layers on both sides. */
enum { MOST = 400 };
struct matrix {
    int n;
    double *a;
};

static void multiply(const struct matrix *x, struct matrix *out) {
    const int n = x->n;
    memset(out->a, 0, (size_t)(n * n) * sizeof *out->a);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            const double f = x->a[i * n + k];
            for (int j = 0; f != 0 && j < n; j++)
                out->a[i * n + j] += f * x->a[k * n + j];
        }
}

/* The state of struct pure; in 1-D the tangential part stands where the rest of
 * x2 does. */
static int parts_of(struct pure *u, double *out[12]) {
    int count = 0;
    out[count++] = u->p;
    out[count++] = u->d;
    for (int k = 0; k < u->s->grid.dims; k++) {
        out[count++] = u->v[k];
        out[count++] = u->rest[k];
        out[count++] = u->half[k];
        out[count++] = u->node[k];
        out[count++] = u->out[k];
    }
    return count;
}

static void move_state(struct pure *u, double *x, bool set) {
    double *part[12];
    const int count = parts_of(u, part);
    const size_t bytes = (size_t)u->total * sizeof *x;
    for (int i = 0; i < count; i++) {
        double *own = x + i * u->total;
        memcpy(set ? part[i] : own, set ? own : part[i], bytes);
    }
}

static void step_matrix(struct pure *u, double kt2, struct matrix *out) {
    double *part[12];
    const int n = (int)u->total, all = parts_of(u, part) * n;
    double *x = zeros(all);
    out->n = all;
    out->a = zeros((int64_t)all * all);
    for (int j = 0; j < all; j++) {
        memset(x, 0, (size_t)all * sizeof *x);
        x[j] = 1;
        move_state(u, x, true);
        u->start = false;
        u->kt2 = kt2;
        pure_step(u);
        for (int i = 0; i < n; i++)
            if (ht_fd_held(&u->s->grid, 0, i)) u->p[i] = u->d[i] = 0;
        move_state(u, x, false);
        for (int i = 0; i < all; i++) out->a[i * all + j] = x[i];
    }
    free(x);
}

/* x becomes the square of the matrix; y is scratch. */
static void square(struct matrix *x, struct matrix *y) {
    multiply(x, y);
    const struct matrix swap = *x;
    *x = *y;
    *y = swap;
}

/* Growth per step of the largest mode, from powers 2^15 and 2^40 of the matrix:
 * rounding of a square changes it by some 1e-15 of a step. */
static double growth(struct pure *u, double kt2) {
    struct matrix x, y;
    double first = 0, now = 0;
    step_matrix(u, kt2, &x);
    y = (struct matrix){.n = x.n, .a = zeros((int64_t)x.n * x.n)};
    for (int i = 1; i <= 40; i++) {
        square(&x, &y);
        now = norm(x.a, (int64_t)x.n * x.n);
        if (i == 15) first = now;
    }
    free(x.a);
    free(y.a);
    return log(now / first) / pow(2, 40);
}

/* Norm of u, of random data, after as many steps as the matrix is of. */
static double norm_after(const struct matrix *x, const double *data,
                         int64_t nodes) {
    double sum = 0;
    for (int64_t i = 0; i < nodes; i++) {
        double value = 0;
        for (int64_t j = 0; j < nodes; j++)
            value += x->a[i * x->n + j] * data[j];
        sum += value * value;
    }
    return sqrt(sum);
}

/* Random data in a box that is layers but for a cell, of a rough medium: powers
 * of the step's matrix, 2^7 to 2^25 steps, after which u is at rest. Images
 * behind walls repeat, so that a box may be smaller than a stencil. */
static void test_corners(void) {
    static const int order[] = {2, 8, 16};
    for (int i = 0; i < 6; i++) {
        const struct given g = {"",
                                2,
                                {5, 5},
                                {{1, 1}, {1, 1}},
                                {{2, 2}, {2, 2}},
                                order[i / 2],
                                i % 2 != 0,
                                4,
                                false};
        struct scene s;
        struct pure u;
        struct matrix x, y;
        double most = 0, now = 0, before = 0;
        make(&s, &g, 0.95);
        const int64_t nodes = ht_grid_total(&s.grid, HT_PRIMARY);
        double *data = random_values(nodes, 31 + (unsigned)i);
        pure_make(&u, &s, data);
        step_matrix(&u, 0, &x);
        y = (struct matrix){.n = x.n, .a = zeros((int64_t)x.n * x.n)};
        for (int power = 1; power <= 25; power++) {
            square(&x, &y);
            now = norm_after(&x, data, nodes);
            if (power >= 7) most = fmax(most, now);
            if (power == 20) before = now;
        }
        const double grows = log(now / before) / pow(2, 25);
        TEST_CHECK(
            most < norm(data, nodes) && grows < 1e-12,
            "box of layers, order %d%s: random data of norm %.3g have "
            "at most %.6g after 2^7 to 2^25 steps, then grow by %.1e per "
            "step of at most 1e-12",
            g.order, g.density ? " density" : "", norm(data, nodes), most,
            grows);
        pure_free(&u);
        free(x.a);
        free(y.a);
        free(data);
    }
}

/* Slow slabs so far from the layers, or to their inner faces, whose guided
 * waves have their tails in the layers: where these were chosen,
 * docs/absorbing.md. kt: wavenumber along the layers. */
static void test_growth(void) {
    static const struct {
        int order;
        bool density;
        int cells, wide;
        double slow, kt;
    } rows[] = {
        {8, false, 8, 4, 0.25, 1.04}, {8, false, 8, 4, 0.25, 0.2},
        {8, false, 8, 8, 0.25, 0.98}, {8, false, 8, 8, 0.7, 0.67},
        {8, false, 8, 8, 0.7, 0.3},   {8, false, 8, 1, 1, 0.3},
        {8, true, 8, 8, 0.7, 0.67},   {2, false, 8, 4, 0.25, 0.5},
        {4, false, 8, 8, 0.7, 0.45},  {6, false, 6, 8, 0.25, 0.3},
        {16, true, 8, 8, 0.7, 0.5},   {8, false, 12, 8, 0.7, 0.67},
        {8, false, 16, 8, 0.9, 0.2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct given g = {"",
                                1,
                                {2 * rows[i].cells + 16},
                                {{1, 1}},
                                {{rows[i].cells, rows[i].cells}},
                                rows[i].order,
                                rows[i].density,
                                1,
                                true};
        const struct ht_fd_weights w = ht_fd_weights(rows[i].order);
        struct scene s;
        struct pure u;
        make(&s, &g, 0.95 / sqrt(2)); /* of two dimensions */
        s.slow = rows[i].slow;
        s.wide = rows[i].wide;
        double *zero = zeros(s.grid.cells[0] + 1);
        pure_make(&u, &s, zero);
        const double most = growth(
            &u, rows[i].density ? pow(ht_fd_first_symbol(&w, rows[i].kt), 2)
                                : ht_fd_second_symbol(&w, rows[i].kt));
        TEST_CHECK(most < 1e-12,
                   "order %d%s, %d cells, slab of K %g, %d points wide, kt %g: "
                   "grows by %.1e per step of at most 1e-12",
                   rows[i].order, rows[i].density ? " density" : "",
                   rows[i].cells, rows[i].slow, 2 * rows[i].wide - 1,
                   rows[i].kt, most);
        pure_free(&u);
        free(zero);
    }
}

/* ---- reflection ---- */

/* A packet between walls x2 = 0 and pi/k2 comes to the layer at the upper end
 * of x1; in the longer domain it goes on. Order 8, 0.95 of the largest step. */
struct packet {
    double angle, points; /* of incidence; per wavelength */
    int64_t across;       /* cells between the walls; 0: 1-D */
};

static void fill_packet(const struct scene *s, double k1, double k2,
                        double omega, double group, double centre, double width,
                        double time, double *out) {
    const int64_t n1 = ht_grid_nodes(&s->grid, HT_PRIMARY, 0);
    const int64_t n2 = ht_grid_nodes(&s->grid, HT_PRIMARY, 1);
    for (int64_t m2 = 0; m2 < n2; m2++)
        for (int64_t m1 = 0; m1 < n1; m1++) {
            const double x = (double)m1 - centre;
            const double z = (x - group * time) / width;
            out[m2 * n1 + m1] =
                exp(-z * z) * cos(k1 * x - omega * time) * cos(k2 * (double)m2);
        }
}

/* u of a packet that reaches `inner` after half of the steps, to be freed. */
static double *run_packet(const struct packet *packet, const struct scene *s,
                          double width, int64_t inner) {
    const double k = 2 * acos(-1.0) / packet->points, dt = s->problem.dt;
    const double k1 = k * cos(packet->angle), k2 = k * sin(packet->angle);
    const struct ht_fd_weights w = ht_fd_weights(8);
    const double symbol =
        ht_fd_second_symbol(&w, k1) + ht_fd_second_symbol(&w, k2);
    const double omega = 2 / dt * asin(dt * sqrt(symbol) / 2);
    const double group = k1 / omega, centre = (double)inner - 3.4 * width;
    const int64_t nodes = ht_grid_total(&s->grid, HT_PRIMARY);
    double *u = zeros(nodes), *d = zeros(nodes);
    struct ht_stepper stepper;
    fill_packet(s, k1, k2, omega, group, centre, width, 0, u);
    fill_packet(s, k1, k2, omega, group, centre, width, -dt, d);
    for (int64_t n = 0; n < nodes; n++) d[n] = u[n] - d[n];
    must(ht_oracle_create(&s->problem, &stepper));
    put(s, &stepper, HT_PRIMARY, u);
    put(s, &stepper, HT_DUAL, d);
    step(&stepper, (int)(6.5 * width / group / dt));
    get(s, &stepper, HT_PRIMARY, u);
    ht_stepper_destroy(&stepper);
    free(d);
    return u;
}

/* In dB: the largest of |u - u'| over that of the packet, which is 1. */
static double reflection(const struct packet *packet, int64_t cells,
                         bool sponge) {
    const double k1 = 2 * acos(-1.0) / packet->points * cos(packet->angle);
    const double width = 4 * acos(-1.0) / k1;
    const int64_t inner = (int64_t)(7 * width), longer = (int64_t)(13 * width);
    const int dims = packet->across > 0 ? 2 : 1;
    double *u[2] = {NULL}, most = DBL_MIN;
    int64_t n1[2];
    for (int i = 0; i < 2; i++) {
        const struct given g = {"",
                                dims,
                                {i ? longer : inner + cells, packet->across},
                                {{1, 1}, {1, 1}},
                                {{0, i ? 0 : cells}},
                                8,
                                false,
                                1,
                                true};
        struct scene s;
        make(&s, &g, dims == 1 ? 0.95 / sqrt(2) : 0.95);
        if (sponge) be_sponge(&s);
        n1[i] = ht_grid_nodes(&s.grid, HT_PRIMARY, 0);
        u[i] = run_packet(packet, &s, width, inner);
    }
    for (int64_t m2 = 0; m2 <= packet->across; m2++)
        for (int64_t m1 = 0; m1 <= inner; m1++)
            most =
                fmax(most, fabs(u[0][m2 * n1[0] + m1] - u[1][m2 * n1[1] + m1]));
    free(u[0]);
    free(u[1]);
    return 20 * log10(most);
}

/* At 60 degrees 12 points across half a tangential wavelength are 10.4 per
 * wavelength. */
static void test_reflection(void) {
    const double pi = acos(-1.0);
    const struct packet packets[] = {
        {0, 10, 0}, {pi / 6, 10, 10}, {pi / 3, 12 * sin(pi / 3), 6}};
    static const struct {
        int64_t cells;
        bool sponge;
        double most[3];
    } rows[] = {{8, false, {-60, -60, -40}},
                {16, false, {-80, -83, -70}},
                {32, true, {-46, -44, -40}}};
    for (int r = 0; r < 3; r++)
        for (int p = 0; p < 3; p++) {
            const double db =
                reflection(&packets[p], rows[r].cells, rows[r].sponge);
            TEST_CHECK(db <= rows[r].most[p],
                       "%s of %lld cells at %g degrees: %.1f dB of at most %g",
                       rows[r].sponge ? "sponge" : "cpml",
                       (long long)rows[r].cells, packets[p].angle * 180 / pi,
                       db, rows[r].most[p]);
        }
}

/* As the scheme's equations have it, for the orders of the packets' and others:
 * 0 to 85 degrees at 10 points per wavelength. */
static void test_returned(void) {
    static const int orders[] = {2, 4, 8, 16};
    static const double angle[] = {0, 30, 60, 80, 85};
    static const double most[][5] = {{-60, -60, -57, -42, -32},
                                     {-80, -81, -72, -46, -30}};
    const double pi = acos(-1.0);
    for (int n = 0; n < 40; n++) {
        const int64_t cells = n / 20 ? 16 : 8;
        const struct given g = {"",           2,
                                {40, 20},     {{1, 1}, {1, 1}},
                                {{0, cells}}, orders[n / 5 % 4],
                                false,        1,
                                false};
        struct scene s;
        make(&s, &g, 0.95);
        const double db =
            20 * log10(ht_fd_layer_returned(&s.problem, 0, 1, 0.1,
                                            cos(angle[n % 5] * pi / 180)));
        TEST_CHECK(db <= most[n / 20][n % 5],
                   "order %d, %lld cells, %g degrees: %.1f dB of at most %g",
                   g.order, (long long)cells, angle[n % 5], db,
                   most[n / 20][n % 5]);
    }
}

/* ---- on the device ---- */

/* Largest difference of u from the plain loops' after some steps, over their
 * largest value. */
static double differ(const struct scene *s, struct ht_device *device,
                     const struct ht_kernels *kernels, int steps,
                     double *values) {
    const int64_t nodes = ht_grid_total(&s->grid, HT_PRIMARY);
    struct ht_stepper stepper[2];
    double *u[2], most = 0, largest = 0;
    must(ht_oracle_create(&s->problem, &stepper[0]));
    must(ht_stepper_create(&s->problem, device, kernels, &stepper[1]));
    double *p = random_values(nodes, 17), *d = zeros(nodes);
    hold(s, p);
    for (int i = 0; i < 2; i++) {
        u[i] = zeros(nodes);
        put(s, &stepper[i], HT_PRIMARY, p);
        put(s, &stepper[i], HT_DUAL, d);
        step(&stepper[i], steps);
        must(stepper[i].ops->finish(stepper[i].self));
        get(s, &stepper[i], HT_PRIMARY, u[i]);
        ht_stepper_destroy(&stepper[i]);
    }
    for (int64_t n = 0; n < nodes; n++) {
        const double here = fabs(u[0][n] - u[1][n]);
        most = isfinite(here) ? fmax(most, here) : (double)INFINITY;
        largest = fmax(largest, fabs(p[n]));
    }
    memcpy(values, u[1], (size_t)nodes * sizeof *values);
    for (int i = 0; i < 2; i++) free(u[i]);
    free(p);
    free(d);
    return most / largest;
}

/* Against the plain loops in magnitudes, from random memories. */
static void check_itself(const struct scene *s, struct ht_device *device,
                         const struct ht_kernels *kernels, const char *name) {
    double worst = INFINITY;
    const enum ht_err err = ht_selfcheck(&s->problem, device, kernels, &worst);
    TEST_CHECK(err == HT_OK && worst <= 1, "%s, self-check: %.2g of 1 %s", name,
               worst, err ? ht_err_message() : "");
}

/* A step rounds each value by some units of its size and those of its terms. */
static void test_device(const char *cache) {
    static const int row[] = {4, 5, 6};
    struct ht_device *device = NULL;
    if (test_open_device(&device) != HT_OK) {
        TEST_SKIP("no device: %s", ht_err_message());
        return;
    }
    for (int i = 0; i < 3; i++) {
        const bool fp64 = i != 2;
        const int steps = 40;
        const double bound =
            32 * steps * (fp64 ? DBL_EPSILON : (double)FLT_EPSILON);
        struct scene s;
        struct ht_kernels kernels;
        struct ht_tuning tuning = {.fp64 = fp64, .block = 1};
        make(&s, &media[row[i]], 0.95);
        const struct ht_spec spec =
            ht_problem_spec(&s.problem, &tuning, HT_PRIMARY);
        tuning.variant =
            ht_variant_find("auto", &spec, ht_device_info(device)->gpu);
        must(ht_kernels_create(&s.problem, device, &tuning, cache, &kernels));
        double *values = zeros(ht_grid_total(&s.grid, HT_PRIMARY));
        for (int o = HT_ORGANISATION_COMBINED; o <= HT_ORGANISATION_FACES;
             o++) {
            s.problem.fd.organisation = (enum ht_organisation)o;
            const double error = differ(&s, device, &kernels, steps, values);
            TEST_CHECK(error <= bound,
                       "%s, %s, %s: after %d steps %.1e from plain loops, of "
                       "%.1e",
                       media[row[i]].name, fp64 ? "double" : "single",
                       ht_organisation_word(s.problem.fd.organisation), steps,
                       error, bound);
        }
        check_itself(&s, device, &kernels, media[row[i]].name);
        be_sponge(&s);
        const double error = differ(&s, device, &kernels, steps, values);
        TEST_CHECK(error <= bound,
                   "%s, %s, sponge: after %d steps %.1e from plain loops, of "
                   "%.1e",
                   media[row[i]].name, fp64 ? "double" : "single", steps, error,
                   bound);
        check_itself(&s, device, &kernels, media[row[i]].name);
        free(values);
        ht_kernels_destroy(&kernels);
    }
    ht_device_close(device);
}

/* ---- long runs ---- */

/* A small box of layers on all sides, whose medium is rough. */
static void test_decay(bool sponge) {
    static const struct given g = {
        "",    2, {12, 13}, {{1, 1}, {1, 1}}, {{4, 4}, {4, 4}}, 6,
        false, 4, false};
    const int steps = 5000;
    struct scene s;
    struct ht_stepper stepper;
    make(&s, &g, 0.95);
    if (sponge) { /* with two terms in time, at their largest step */
        be_sponge(&s);
        s.problem.stages = 2;
        s.problem.dt *= sqrt(3);
    }
    const int64_t nodes = ht_grid_total(&s.grid, HT_PRIMARY);
    double *u = random_values(nodes, 23), *zero = zeros(nodes), last = 0;
    const double first = norm(u, nodes);
    must(ht_oracle_create(&s.problem, &stepper));
    put(&s, &stepper, HT_PRIMARY, u);
    put(&s, &stepper, HT_DUAL, zero);
    for (int i = 0; i < 2; i++) {
        last = norm(u, nodes);
        step(&stepper, i == 0 ? steps / 10 : steps);
        get(&s, &stepper, HT_PRIMARY, u);
    }
    const double now = norm(u, nodes);
    TEST_CHECK(now < first && last < first,
               "rough box of %s: random data of norm %.3g have %.6g after "
               "%d steps, %.6g after %d",
               sponge ? "sponges" : "layers", first, last, steps / 10, now,
               steps / 10 + steps);
    ht_stepper_destroy(&stepper);
    free(u);
    free(zero);
}

int main(int argc, char **argv) {
    test_pure();
    test_growth();
    test_corners();
    test_reflection();
    test_returned();
    test_decay(false);
    test_decay(true);
    test_device(argc > 1 ? argv[1] : NULL);
    return test_end("fd_layers");
}
