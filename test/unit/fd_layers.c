/* Absorbing layers of finite differences (docs/developers/absorbing.md), with the damping that runs
 * take.
 *   - Steps of u and d with layers are those of p and v, which have v on all
 *     half points and damp it there: random data, media and orders, 1-D to 3-D.
 *   - No wave grows, guided by slow slabs of any distance from the layers:
 *     powers of the step's matrix.
 *   - Layers on the device are the plain loops.
 *   - Random data in a small box of layers stay bounded over 5500 steps, and
 *     over 2^25 by powers of the step's matrix.
 *
 *     fd_layers [CACHE] */

#include "errors.h"
#include "fd_layers_scene.h"
#include "open_device.h"
#include "powers.h"

#include "src/solve/methods.h"

/* 0 on walls that hold it. */
static void hold(const struct scene *s, double *x) {
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
    for (int64_t n = 0; n < ht_grid_total(&s->grid, HT_PRIMARY); n++)
        if (ht_fd_held(&s->grid, n / plane, n % plane)) x[n] = 0;
}

static double *random_values(int64_t count, unsigned seed) {
    double *x = zeros(count);
    for (int64_t n = 0; n < count; n++) x[n] = (double)(float)ht_rng_uniform(seed, (uint64_t)n);
    return x;
}

/* ---- p and v ---- */

/* Of each axis v on all half points, what direct second differences have beside the product of the
 * layers' first ones, and the layers' filters: of half points their memory, of nodes that and what
 * they put out. The state is the part of the room before K. */
struct pure {
    const struct scene *s;
    struct ht_fd_weights wide, narrow;
    int64_t n[3], total, state, pitch[3];
    bool start;
    double kt2; /* minus the tangential part of L/K */
    double *room, *p, *d, *K, *b[3], *v[3], *rest[3], *half[3], *node[3], *out[3];
};

static void pure_make(struct pure *u, const struct scene *s, const double *p) {
    const struct ht_fd_spec spec = {
        .dims = s->grid.dims, .radius = s->problem.fd.order / 2, .density = s->problem.fd.density};
    *u = (struct pure){.s = s, .start = true, .total = ht_grid_total(&s->grid, HT_PRIMARY)};
    u->wide = ht_fd_weights(s->problem.fd.order);
    u->narrow = ht_fd_layer_weights(&spec);
    u->state = (2 + (int64_t)5 * spec.dims) * u->total;
    double *at = u->room = zeros(u->state + 4 * u->total), **first[2] = {&u->p, &u->d};
    for (int i = 0; i < 2; i++, at += u->total) *first[i] = at;
    for (int k = 0; k < 3; k++) {
        double **const part[5] = {&u->v[k], &u->rest[k], &u->half[k], &u->node[k], &u->out[k]};
        for (int i = 0; i < 5 && k < spec.dims; i++, at += u->total) *part[i] = at;
        u->n[k] = ht_grid_nodes(&s->grid, HT_PRIMARY, k);
        u->pitch[k] = k == 0 ? 1 : u->pitch[k - 1] * u->n[k - 1];
    }
    memcpy(u->p, p, (size_t)u->total * sizeof *p);
    u->K = at;
    must(fill(s, 0, 0, u->n[2], u->K));
    for (int k = 0; k < 3; k++) {
        u->b[k] = at += u->total;
        must(fill(s, 1 + k, 0, u->n[2], at));
        for (int64_t i = 0; i < u->total && !spec.density; i++) at[i] = 1;
    }
}

static void pure_free(struct pure *u) {
    free(u->room);
}

/* A line of nodes, or of half points, along an axis with its mirror images; half point i lies above
 * node i. */
static double line(const struct pure *u, const double *x, int axis, bool half, int64_t node,
                   int64_t m) {
    const int64_t pitch = u->pitch[axis], n = u->s->grid.cells[axis], h = half ? 1 : 0;
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

static double slope(const struct pure *u, const struct ht_fd_weights *w, const double *x, int axis,
                    bool half, int64_t node, int64_t m) {
    double sum = 0;
    for (int j = 0; j < w->radius; j++)
        sum += w->first[j] * (line(u, x, axis, half, node, m + (half ? j : j + 1)) -
                              line(u, x, axis, half, node, m - (half ? j + 1 : j)));
    return sum;
}

static double second(const struct pure *u, int axis, int64_t node, int64_t m) {
    double sum = 0;
    for (int j = 1; j <= u->wide.radius; j++)
        sum += u->wide.second[j] * (line(u, u->p, axis, false, node, m + j) +
                                    line(u, u->p, axis, false, node, m - j) - 2 * u->p[node]);
    return sum;
}

/* Index along an axis. */
static int64_t along(const struct pure *u, int axis, int64_t node) {
    return node / u->pitch[axis] % u->n[axis];
}

/* y with (kappa (alpha + D) + sigma) y = (alpha + D) x by the trapezoidal rule; *lag: what x and y
 * of the step before have in it, then of this one. */
static double filter(const struct pure *u, int k, double m, double x, double *lag) {
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

/* Of the part 2 sigma tau of a filter at the first step, when what is filtered has been damped in
 * the same way before. */
static double damped(const struct pure *u, int k, double m, double x) {
    const struct ht_stretch s = ht_layers_stretch(&u->s->layers, k, m);
    return u->start ? s.sigma * u->s->problem.dt * x : 0;
}

/* v and what it has beside at half a step before the first are without force from the data then. */
static void pure_step(struct pure *u) {
    const double dt = u->s->problem.dt, share = u->start ? 0.5 : 1;
    const bool direct = !u->s->problem.fd.density;
    HT_FREED double *flux = zeros(u->total), *plain = zeros(u->total), *sum = zeros(u->total);
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
                                 (second(u, k, i, m) - slope(u, &u->narrow, plain, k, true, i, m));
            const double flow =
                u->K[i] * (dt * slope(u, &u->narrow, flux, k, true, i, m) + u->rest[k][i]);
            const double before = u->out[k][i];
            u->node[k][i] -= damped(u, k, (double)m, u->p[i]);
            u->out[k][i] = filter(u, k, (double)m, flow, &u->node[k][i]);
            sum[i] += u->out[k][i] - before;
        }
    }
    for (int64_t i = 0; i < u->total; i++) {
        u->d[i] += sum[i] - dt * dt * u->K[i] * u->kt2 * u->p[i];
        for (int k = 0; k < u->s->grid.dims; k++)
            u->d[i] /= 1 + dt * ht_layers_stretch(&u->s->layers, k, (double)along(u, k, i)).loss;
        u->p[i] += u->d[i];
    }
    u->start = false;
}

/* d of data at rest: minus half of what a step without layers adds. */
static void at_rest(struct pure *u, double *d) {
    const double dt = u->s->problem.dt;
    HT_FREED double *flux = zeros(u->total);
    for (int k = 0; k < u->s->grid.dims; k++) {
        for (int64_t i = 0; i < u->total; i++)
            flux[i] = u->b[k][i] * slope(u, &u->wide, u->p, k, false, i, along(u, k, i));
        for (int64_t i = 0; i < u->total; i++) {
            const int64_t m = along(u, k, i);
            d[i] -= dt * dt / 2 * u->K[i] *
                    (u->s->problem.fd.density ? slope(u, &u->wide, flux, k, true, i, m)
                                              : second(u, k, i, m));
        }
    }
}

static const struct given media[] = {
    {"1-D", 1, 8, 3, {40}, {{1, 1}}, .layer = {{9, 12}}},
    {"1-D, layers thinner than the stencil", 1, 16, 3, {30}, {{1, 1}}, .layer = {{3, 2}}},
    {"1-D", 1, 6, 2, {40}, {{1, -1}}, {{6, 0}}, .density = true},
    {"2-D, corners", 2, 4, 3, {20, 18}, {{1, 1}, {1, -1}}, .layer = {{5, 6}, {4, 0}}},
    {"2-D, corners", 2, 8, 2, {24, 22}, {{1, 1}, {1, 1}}, {{5, 0}, {4, 8}}, .density = true},
    {"3-D, x2 periodic",
     3,
     4,
     2,
     {14, 9, 16},
     {{1, 1}, {0, 0}, {-1, 1}},
     {{4, 3}, {0, 0}, {0, 5}},
     .density = true},
    {"3-D, all sides",
     3,
     6,
     2,
     {10, 13, 14},
     {{1, 1}, {1, 1}, {1, 1}},
     .layer = {{4, 3}, {5, 4}, {3, 6}}},
    {"2-D, wave", 2, 8, 3, {19, 20}, {{1, 1}, {1, 1}}, .layer = {{5, 4}, {6, 4}}},
    /* half points of a vector of 8 nodes, in double precision, fill three of them */
    {"2-D", 2, 12, 3, {26, 24}, {{1, 1}, {1, 1}}, .layer = {{8, 5}, {6, 7}}},
    {"2-D", 2, 16, 2, {30, 27}, {{1, 1}, {1, -1}}, {{8, 5}, {6, 0}}, .density = true},
};

static const char *name_of(const struct given *g, char name[80]) {
    snprintf(name, 80, "%s, order %d%s", g->name, g->order, g->density ? ", density" : "");
    return name;
}

/* Each step rounds a value of a few hundred terms. */
static void test_pure(const struct given *g, unsigned seed) {
    const int steps = g->dims == 3 ? 60 : 300;
    struct scene s;
    HT_ENDED(pure_free) struct pure u;
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper;
    make(&s, g, 0.95);
    const int64_t nodes = ht_grid_total(&s.grid, HT_PRIMARY);
    HT_FREED double *p = random_values(nodes, seed), *d = zeros(nodes);
    /* free walls hold 0 */
    pure_make(&u, &s, p);
    hold(&s, p);
    hold(&s, u.p);
    must(ht_oracle_create(&s.problem, &stepper));
    at_rest(&u, d);
    put_u(&s.problem, &stepper, HT_PRIMARY, p);
    put_u(&s.problem, &stepper, HT_DUAL, d);
    const double before = norm(p, nodes);
    step(&stepper, steps);
    for (int n = 0; n < steps; n++) pure_step(&u);
    get_u(&s.problem, &stepper, HT_PRIMARY, p);
    const double after = norm(u.p, nodes), bound = 30 * steps * DBL_EPSILON;
    for (int64_t n = 0; n < nodes; n++) p[n] -= u.p[n];
    TEST_CHECK(norm(p, nodes) < bound * before && after < before,
               "%s: u and d against p and v after %d steps: %.1e of %.1e (norm %.2g of %.2g)",
               name_of(g, (char[80]){0}), steps, norm(p, nodes) / before, bound, after, before);
}

/* ---- growth ---- */

/* The step's matrix with tangential wavenumbers, whose part of -L is kt2; returns its size. The
 * caller frees it, and the room as large. */
static int step_matrix(struct pure *u, double kt2, double **out, double **room) {
    const int all = (int)u->state;
    *out = zeros((int64_t)all * all);
    *room = zeros((int64_t)all * all);
    for (int j = 0; j < all; j++) {
        memset(u->room, 0, (size_t)all * sizeof *u->room);
        u->room[j] = 1;
        u->start = false;
        u->kt2 = kt2;
        pure_step(u);
        for (int i = 0; i < u->total; i++)
            if (ht_fd_held(&u->s->grid, 0, i)) u->p[i] = u->d[i] = 0;
        for (int i = 0; i < all; i++) (*out)[i * all + j] = u->room[i];
    }
    return all;
}

/* Growth per step of the largest mode, from powers 2^15 and 2^power of the matrix: rounding of a
 * square changes it by some 1e-15 of a step. */
static double growth(struct pure *u, double kt2, int power) {
    HT_FREED double *x, *room;
    double first = 0, now = 0;
    const int n = step_matrix(u, kt2, &x, &room);
    for (int i = 1; i <= power; i++) {
        square(n, &x, &room);
        now = norm(x, (int64_t)n * n);
        if (i == 15) first = now;
    }
    return log(now / first) / pow(2, power);
}

/* Norm of u, of random data, after as many steps as the matrix [n][n] is of. */
static double norm_after(int n, const double *x, const double *data, int64_t nodes) {
    double sum = 0;
    for (int64_t i = 0; i < nodes; i++) {
        double value = 0;
        for (int64_t j = 0; j < nodes; j++) value += x[i * n + j] * data[j];
        sum += value * value;
    }
    return sqrt(sum);
}

/* Random data in a box that is layers but for a cell, of a rough medium: powers of the step's
 * matrix, 2^7 to 2^25 steps, after which u is at rest. Images behind walls repeat, so that a box
 * may be smaller than a stencil. */
static void test_corners(int order, bool density) {
    const struct given g = {
        "", 2, order, 4, {5, 5}, {{1, 1}, {1, 1}}, {{2, 2}, {2, 2}}, .density = density};
    struct scene s;
    HT_ENDED(pure_free) struct pure u;
    HT_FREED double *x, *room, *data;
    double most = 0, now = 0, before = 0;
    make(&s, &g, 0.95);
    const int64_t nodes = ht_grid_total(&s.grid, HT_PRIMARY);
    data = random_values(nodes, 31 + (unsigned)order + density);
    pure_make(&u, &s, data);
    const int n = step_matrix(&u, 0, &x, &room);
    for (int power = 1; power <= 25; power++) {
        square(n, &x, &room);
        now = norm_after(n, x, data, nodes);
        if (power >= 7) most = fmax(most, now);
        if (power == 20) before = now;
    }
    const double grows = log(now / before) / pow(2, 25);
    TEST_CHECK(most < norm(data, nodes) && grows < 1e-12,
               "box of layers%s: random data of norm %.3g have at most %.6g after 2^7 to 2^25 "
               "steps, then grow by %.1e per step of at most 1e-12",
               name_of(&g, (char[80]){0}), norm(data, nodes), most, grows);
}

/* A slow slab between layers, so wide, or to their inner faces at 8; kt:
 * wavenumber of its guided waves along the layers. */
struct slab {
    int order;
    bool density;
    int cells, wide;
    double slow, kt;
};

static double slab_growth(const struct slab *slab, int power) {
    const struct given g = {.dims = 1,
                            .order = slab->order,
                            .contrast = 1,
                            .name = "",
                            .cells = {2 * slab->cells + 16},
                            .wall = {{1, 1}},
                            .layer = {{slab->cells, slab->cells}},
                            .density = slab->density,
                            .guided = true};
    const struct ht_fd_weights w = ht_fd_weights(slab->order);
    struct scene s;
    HT_ENDED(pure_free) struct pure u;
    make(&s, &g, 0.95 / sqrt(2)); /* of two dimensions */
    s.slow = slab->slow;
    s.wide = slab->wide;
    HT_FREED double *zero = zeros(s.grid.cells[0] + 1);
    pure_make(&u, &s, zero);
    return growth(&u,
                  slab->density ? pow(ht_fd_first_symbol(&w, slab->kt), 2)
                                : ht_fd_second_symbol(&w, slab->kt),
                  power);
}

static void test_growth(void) {
    static const struct slab slabs[] = {
        {8, false, 8, 4, 0.25, 1.04}, {8, false, 8, 4, 0.25, 0.2}, {8, false, 8, 8, 0.25, 0.98},
        {8, false, 8, 8, 0.7, 0.67},  {8, false, 8, 8, 0.7, 0.3},  {8, false, 8, 1, 1, 0.3},
        {8, true, 8, 8, 0.7, 0.67},   {2, false, 8, 4, 0.25, 0.5}, {4, false, 8, 8, 0.7, 0.45},
        {6, false, 6, 8, 0.25, 0.3},  {16, true, 8, 8, 0.7, 0.5},  {8, false, 12, 8, 0.7, 0.67},
        {8, false, 16, 8, 0.9, 0.2},
    };
    TEST_EACH(s, slabs) {
        const double most = slab_growth(s, 40);
        TEST_CHECK(most < 1e-12,
                   "order %d%s, %d cells, slab of K %g, %d points wide, kt %g: grows by %.1e per "
                   "step of at most 1e-12",
                   s->order, s->density ? " density" : "", s->cells, s->slow, 2 * s->wide - 1,
                   s->kt, most);
    }
}

/* Over all wavenumbers, at night, else the weakest: what docs/developers/absorbing.md says. */
static void test_weakest(void) {
    static const struct {
        int wide;
        double slow, kt, most;
    } rows[] = {{4, 0.0625, 0.2, 3e-7}, {8, 0.0625, 0.7, 3e-7}, {4, 0.25, 1, 1e-8},
                {2, 0.5, 1, 1e-8},      {5, 0.25, 1.3, 1e-8},   {8, 0.25, 0.98, 1e-8},
                {8, 0.7, 0.67, 1e-8},   {3, 0.85, 0.3, 1e-8},   {8, 0.9, 0.2, 1e-8}};
    const char *cover = getenv("HTWAVE_COVER");
    const bool all = cover != NULL && strcmp(cover, "all") == 0; /* not on GPUs */
    for (size_t i = 0; i < (all ? sizeof rows / sizeof *rows : 2); i++) {
        struct slab slab = {8, false, 8, rows[i].wide, rows[i].slow, 0};
        double most = -INFINITY, at = 0;
        for (int n = 1; n <= (all ? 40 : 1); n++) {
            slab.kt = all ? 0.04 * n : rows[i].kt;
            const double now = slab_growth(&slab, 26);
            if (now > most) at = slab.kt;
            most = fmax(most, now);
        }
        TEST_CHECK(most < rows[i].most,
                   "slab of K %g, %d points wide: grows by %.1e per step of at most %.0e, kt %g",
                   slab.slow, 2 * slab.wide - 1, most, rows[i].most, at);
    }
}

/* ---- on the device ---- */

/* Largest difference of u from the plain loops' after some steps, over their largest value. */
static double differ(const struct scene *s, struct ht_device *device,
                     const struct ht_kernels *kernels, int steps) {
    const int64_t nodes = ht_grid_total(&s->grid, HT_PRIMARY);
    HT_FREED double *p = random_values(nodes, 17), *d = zeros(nodes), *plain = zeros(nodes);
    HT_FREED double *u = zeros(nodes);
    hold(s, p);
    for (int i = 0; i < 2; i++) {
        HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper;
        must(i ? ht_stepper_create(&s->problem, device, kernels, &stepper)
               : ht_oracle_create(&s->problem, &stepper));
        put_u(&s->problem, &stepper, HT_PRIMARY, p);
        put_u(&s->problem, &stepper, HT_DUAL, d);
        step(&stepper, steps);
        get_u(&s->problem, &stepper, HT_PRIMARY, i ? u : plain);
    }
    return errors_of(nodes, u, plain).most / errors_of(nodes, p, p).largest;
}

/* In layers what the filters take out of L u cancels what the interior has added, but for the
 * rounding of sums up to four times u, dt^2 L at most: d keeps it, and u adds it up, 4 units times
 * n^2/2 after n steps at worst. The bound is two fifths of that. */
static void test_device(const char *variant, struct ht_device *device, const struct given *g,
                        bool fp64) {
    const int steps = 40;
    const double bound = 32 * steps * (fp64 ? DBL_EPSILON : (double)FLT_EPSILON);
    char name[80];
    struct scene s;
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels;
    make(&s, g, 0.95);
    make_kernels_by(variant, &s.problem, device, fp64, &kernels);
    for (int sponge = 0; sponge < 2; sponge++) {
        double worst = INFINITY;
        if (sponge) be_sponge(&s);
        const double error = differ(&s, device, &kernels, steps);
        TEST_CHECK(error <= bound, "%s, %s, %s, %s: after %d steps %.1e from plain loops, of %.1e",
                   name_of(g, name), variant, ht_real_name(fp64), sponge ? "sponge" : "cpml", steps,
                   error, bound);
        /* against the plain loops in magnitudes, from random memories */
        const enum ht_err err = ht_selfcheck(&s.problem, device, &kernels, &worst);
        TEST_CHECK(err == HT_OK && worst <= 1, "%s, %s, self-check: %.2g of 1 %s", name, variant,
                   worst, test_said(err));
    }
}

/* Layers by rows, lines and columns give the same bits; only steps of fd-march, where density
 * varies, add in another order. */
static void test_bits(struct ht_device *device, const struct given *g, bool fp64) {
    int64_t differ = 0;
    char name[80];
    struct scene s;
    make(&s, g, 0.95);
    const int64_t nodes = ht_grid_total(&s.grid, HT_PRIMARY);
    HT_FREED double *p = random_values(nodes, 29), *d = zeros(nodes);
    HT_FREED double *first = zeros(nodes), *other = zeros(nodes);
    double *const u[] = {first, other};
    hold(&s, p);
    for (int i = 0; i < 2; i++) {
        HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels;
        HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper;
        make_kernels_by(i ? "fd-plain" : "auto", &s.problem, device, fp64, &kernels);
        must(ht_stepper_create(&s.problem, device, &kernels, &stepper));
        put_u(&s.problem, &stepper, HT_PRIMARY, p);
        put_u(&s.problem, &stepper, HT_DUAL, d);
        step(&stepper, 40);
        get_u(&s.problem, &stepper, HT_PRIMARY, u[i]);
    }
    for (int64_t n = 0; n < nodes; n++) differ += u[0][n] != u[1][n];
    TEST_CHECK(differ == 0, "%s, %s: %lld of %lld values differ from those of fd-plain",
               name_of(g, name), ht_real_name(fp64), (long long)differ, (long long)nodes);
}

/* ---- long runs ---- */

/* A small box of layers on all sides, whose medium is rough. */
static void test_decay(bool sponge) {
    static const struct given g = {
        "", 2, 6, 4, {12, 13}, {{1, 1}, {1, 1}}, .layer = {{4, 4}, {4, 4}}};
    const int steps = 5000;
    struct scene s;
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper;
    make(&s, &g, 0.95);
    if (sponge) { /* with two terms in time, at their largest step */
        be_sponge(&s);
        s.problem.stages = 2;
        s.problem.dt *= sqrt(3);
    }
    const int64_t nodes = ht_grid_total(&s.grid, HT_PRIMARY);
    HT_FREED double *u = random_values(nodes, 23), *zero = zeros(nodes);
    double size[3] = {norm(u, nodes)};
    must(ht_oracle_create(&s.problem, &stepper));
    put_u(&s.problem, &stepper, HT_PRIMARY, u);
    put_u(&s.problem, &stepper, HT_DUAL, zero);
    for (int i = 0; i < 2; i++) {
        step(&stepper, i == 0 ? steps / 10 : steps);
        get_u(&s.problem, &stepper, HT_PRIMARY, u);
        size[1 + i] = norm(u, nodes);
    }
    TEST_CHECK(size[2] < size[0] && size[1] < size[0],
               "rough box of %s: random data of norm %.3g have %.6g after %d steps, %.6g after %d",
               sponge ? "sponges" : "layers", size[0], size[1], steps / 10, size[2],
               steps / 10 + steps);
}

int main(int argc, char **argv) {
    for (unsigned i = 0; i < sizeof media / sizeof *media; i++) test_pure(&media[i], 5 + i);
    test_growth();
    test_weakest();
    for (int i = 0; i < 6; i++) test_corners((int[]){2, 8, 16}[i / 2], i % 2);
    test_decay(false);
    test_decay(true);
    struct ht_device *device = test_device_here();
    if (device != NULL) ht_device_cache(device, argc > 1 ? argv[1] : NULL);
    /* Each in one precision, by night in both: all tests of it take the same kernels. fd-plain has
     * those of layers of GPUs. */
    for (int i = 0; i < (test_all() ? 10 : 5) && device != NULL; i++) {
        const struct given *g = &media[(int[]){4, 5, 6, 8, 9}[i % 5]];
        const bool fp64 = (i % 5 != 0 && i % 5 != 2) != (i >= 5);
        if (!g->density || !ht_device_info(device)->gpu) test_bits(device, g, fp64);
        test_device("auto", device, g, fp64);
        test_device("fd-plain", device, g, fp64);
    }
    ht_device_close(device);
    return test_end("fd_layers");
}
