/* Sources of finite differences (docs/differences.md). With u_tt = M u + g f(t) and F'' = f a step
 * takes
 *     w = u + dt^2/12 (L u + g f(t_n))                   (two terms)
 *     d = d + dt^2 L w + g (F(t_n+dt) - 2 F(t_n) + F(t_n-dt)),   u = u + d
 * where f is the signal or its derivative, F an integral of it, known in closed form. Where
 * dispersion is removed from traces dt^2 f_n is in the place of the differences of F
 * (resampler.c). g is the delta spread over nodes, times the modulus there. Planes beyond the
 * slab take it, too, wherever a pass computes them.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fd.h"
#include "src/solve/methods.h"

/* Plane waves that come from outside (docs/differences.md). Inside a box the nodes hold the total
 * field, outside what is scattered: with chi = 1 inside and 0 outside u is U - (1 - chi) u_i, where
 * u_i is the incident wave. Both passes of a step then take
 *     w = u + dt^2/12 (L u + C u_i),   d = d + dt^2 (L w + C w_i),
 *     C = chi L - L chi,   w_i = u_i + dt^2/12 L u_i.
 * C u is other than 0 at nodes alone whose star crosses the box's surface: with second differences
 * of weights a_j at distance j it is the sum, over the nodes of the star on the other side, of a_j
 * u, taken with + inside and - outside.
 *
 * u_i is a solution of the scheme, not of the wave equation: with the spectrum S(omega) of the
 * signal at time steps
 *     u_i(x, t_n) = sum S(omega) exp(i (omega t_n - k (direction x - corner))),
 * where k(omega) is the scheme's own wavenumber in this direction. So nothing leaks but for
 * rounding and for what follows. u_i depends on xi = direction x alone and is a quintic spline in
 * xi, half a spacing apart: its coefficients are columns of the table of amplitudes, found from the
 * spectrum, too.
 */

/* The surface between total and scattered fields: of the box and its star. */
enum { HT_FD_MOST_REACH = 2 * HT_FD_RADIUS, SPLINE = 6 };
struct ht_fd_surface {
    const struct ht_grid *grid;
    bool closed[3];               /* the box has faces along the axis */
    int64_t lower[3], upper[3];   /* nodes inside: lower <= m <= upper */
    int reach;                    /* of the star */
    double arm[HT_FD_MOST_REACH]; /* a_j, times h^2 */
    double rate[3];               /* K / (rho h^2) */
    double modulus;               /* K */
    double direction[3], corner;  /* as of the shot */
    double apart, first;          /* xi of columns: first + n apart */
    int columns;
};

/* ---- the surface ---- */

/* Second differences, where density varies two staggered first ones. */
static void set_arm(const struct ht_problem *problem, struct ht_fd_surface *out) {
    const struct ht_fd_weights w = ht_fd_weights(problem->fd.order);
    if (!problem->fd.density) {
        out->reach = w.radius;
        for (int j = 1; j <= w.radius; j++) out->arm[j] = w.second[j];
        return;
    }
    out->reach = 2 * w.radius - 1;
    for (int i = 0; i < w.radius; i++)
        for (int j = 0; j < w.radius; j++) {
            const double product = w.first[i] * w.first[j];
            out->arm[i + j + 1] += product;
            out->arm[abs(i - j)] -= product;
        }
    out->arm[0] = 0;
}

static enum ht_err background(const struct ht_problem *problem, const struct ht_shot *shot,
                              int material, double *out) {
    *out = 1;
    if (material < 0) return HT_OK;
    return ht_medium_parameter(problem->shots->medium, problem->eq->system->material[material].name,
                               shot->first, out);
}

/* Nodes inside: those of the whole axis where the box is the grid's. */
static void set_axis(const struct ht_shot *shot, int axis, struct ht_fd_surface *out) {
    const struct ht_grid *grid = out->grid;
    const double h = grid->h[axis], close = 1e-9;
    const double low = (shot->first[axis] - grid->lower[axis]) / h;
    const double high = (shot->last[axis] - grid->lower[axis]) / h;
    out->upper[axis] = ht_grid_nodes(grid, HT_PRIMARY, axis) - 1;
    out->closed[axis] = low > close || high < (double)grid->cells[axis] - close;
    if (!out->closed[axis]) return;
    out->lower[axis] = (int64_t)ceil(low - close);
    out->upper[axis] = (int64_t)floor(high + close);
}

static enum ht_err fd_surface_make(const struct ht_problem *problem, const struct ht_shot *shot,
                                   struct ht_fd_surface *out) {
    const struct ht_second_order *form = &problem->eq->second_order;
    double inverse_density;
    *out = (struct ht_fd_surface){.grid = problem->grid, .corner = shot->corner};
    memcpy(out->direction, shot->direction, sizeof out->direction);
    set_arm(problem, out);
    TRY(background(problem, shot, form->modulus, &out->modulus));
    TRY(background(problem, shot, form->inverse_density, &inverse_density));
    for (int k = 0; k < problem->grid->dims; k++) {
        const double h = problem->grid->h[k];
        out->rate[k] = out->modulus * inverse_density / (h * h);
        set_axis(shot, k, out);
    }
    /* Columns for all nodes that the star reads across the surface. */
    double least = 0, most = 0, narrowest = INFINITY;
    for (int k = 0; k < 3 && k < out->grid->dims; k++) {
        const double h = out->grid->h[k], n = out->direction[k];
        const double low = out->grid->lower[k] + h * (double)out->lower[k];
        const double high = out->grid->lower[k] + h * (double)out->upper[k];
        narrowest = fmin(narrowest, h);
        least += fmin(n * (low - out->reach * h), n * (high + out->reach * h));
        most += fmax(n * (low - out->reach * h), n * (high + out->reach * h));
    }
    out->apart = narrowest / 2;
    out->first = least - 0.5 * SPLINE * out->apart;
    out->columns = (int)ceil((most - out->first) / out->apart) + SPLINE / 2 + 1;
    return HT_OK;
}

static bool fd_surface_holds(const struct ht_fd_surface *s, int axis, int64_t m) {
    return m >= s->lower[axis] && m <= s->upper[axis];
}

/* Whether the star of a node crosses a face normal to an axis. */
static bool fd_surface_crosses(const struct ht_fd_surface *s, const int64_t m[3], int axis) {
    bool beside = s->closed[axis];
    for (int k = 0; k < 3; k++) beside = beside && (k == axis || fd_surface_holds(s, k, m[k]));
    const int64_t low = m[axis] - s->lower[axis];
    const int64_t high = s->upper[axis] - m[axis];
    return beside && low >= -s->reach && high >= -s->reach && (low < s->reach || high < s->reach);
}

/* ---- rules ---- */

static char *key_of(int group, const char *name, char key[64]) {
    snprintf(key, 64, "sources.%d.%s", group, name);
    return key;
}

/* The star must not leave the grid. */
static enum ht_err check_faces(const struct ht_plan *plan, int group, int axis,
                               const struct ht_fd_surface *s) {
    const int64_t last = ht_grid_nodes(s->grid, HT_PRIMARY, axis) - 1;
    const double h = s->grid->h[axis], lower = s->grid->lower[axis];
    char key[64];
    REFUSE(s->lower[axis] > s->upper[axis], plan->params, key_of(group, "to", key),
           "no point of the grid is inside the box along x%d", axis + 1);
    REFUSE(s->lower[axis] < s->reach, plan->params, key_of(group, "from", key),
           "the stencil reaches over %d points: x%d must be above %.6g, or that of the grid's side "
           "on both sides",
           s->reach, axis + 1, lower + h * (s->reach - 1));
    REFUSE(s->upper[axis] + s->reach > last, plan->params, key_of(group, "to", key),
           "the stencil reaches over %d points: x%d must be below %.6g, or that of the grid's side "
           "on both sides",
           s->reach, axis + 1, lower + h * (double)(last - s->reach + 1));
    return HT_OK;
}

/* Without faces the sides must let the wave pass along them. */
static enum ht_err check_sides(const struct ht_plan *plan, int group, int axis,
                               const struct ht_fd_surface *s) {
    const int *wall = s->grid->wall[axis];
    char key[64];
    if (fabs(s->direction[axis]) <= 1e-12 && wall[0] >= 0 && wall[1] >= 0) return HT_OK;
    return ht_params_error(plan->params, key_of(group, "direction", key),
                           "the box is that of the grid along x%d: the wave must be normal to x%d, "
                           "and its sides rigid or periodic",
                           axis + 1, axis + 1);
}

static enum ht_err check_box(const struct ht_plan *plan, int group, const struct ht_fd_surface *s) {
    bool closed = false;
    char key[64];
    for (int k = 0; k < 3 && k < s->grid->dims; k++) {
        TRY(s->closed[k] ? check_faces(plan, group, k, s) : check_sides(plan, group, k, s));
        closed = closed || s->closed[k];
    }
    if (closed) return HT_OK;
    return ht_params_error(plan->params, key_of(group, "from", key),
                           "the box is the whole grid: the wave cannot enter");
}

static bool near_surface(const struct ht_fd_surface *s, const int64_t m[3]) {
    bool near = false;
    for (int k = 0; k < 3 && k < s->grid->dims; k++) near = near || fd_surface_crosses(s, m, k);
    return near;
}

/* One of K, b_1 .. on a plane of the grid. */
static enum ht_err check_plane(const struct ht_plan *plan, int group, const struct ht_fd_surface *s,
                               int what, int64_t plane, const double *value) {
    const double close = 1e-9, rate = s->rate[0] * s->grid->h[0] * s->grid->h[0];
    const double wanted = what == 0 ? s->modulus : rate / s->modulus;
    const int64_t n1 = ht_grid_nodes(s->grid, HT_PRIMARY, 0);
    const int64_t nodes = ht_grid_plane(s->grid, HT_PRIMARY);
    for (int64_t n = 0; n < nodes; n++) {
        const int64_t m[3] = {n % n1, n / n1, plane};
        const struct ht_second_order *form = &plan->eq.second_order;
        const int material = what == 0 ? form->modulus : form->inverse_density;
        char key[64], place[HT_PLACE];
        double x[3];
        if (fabs(value[n] - wanted) <= close * wanted || !near_surface(s, m)) continue;
        for (int k = 0; k < 3; k++) x[k] = ht_grid_x(&plan->grid, HT_PRIMARY, k, m[k]);
        snprintf(key, sizeof key, "sources.%d", group);
        return ht_params_error(plan->params, key,
                               "the medium varies at the surface of its box: %s is %.9g near %s, "
                               "%.9g at from; jumps must be %d spacings from it",
                               plan->eq.system->material[material].name, value[n],
                               ht_grid_place(&plan->grid, x, place), wanted,
                               s->reach + HT_FIT_REACH + 1);
    }
    return HT_OK;
}

static enum ht_err check_medium(const struct ht_plan *plan, int group,
                                const struct ht_fd_surface *s) {
    const struct ht_fd_problem *fd = &plan->problem.fd;
    const int last = fd->density ? s->grid->dims : 0;
    int64_t begin, end;
    HT_FREED double *value = NULL;
    if (fd->fill == NULL) return HT_OK;
    ht_grid_own(s->grid, HT_PRIMARY, &begin, &end);
    if (s->grid->dims > 2) {
        begin = ht_most(begin, s->lower[2] - s->reach);
        end = ht_least(end, s->upper[2] + s->reach + 1);
    }
    TRY(HT_ALLOC(value, ht_grid_plane(s->grid, HT_PRIMARY)));
    for (int64_t m = begin; m < end; m++)
        for (int what = 0; what <= last; what++) {
            TRY(fd->fill(fd->medium, what, m, m + 1, value));
            TRY(check_plane(plan, group, s, what, m, value));
        }
    return HT_OK;
}

enum ht_err ht_fd_surface_check(const struct ht_plan *plan) {
    for (int i = 0; i < plan->shots->count; i++) {
        struct ht_fd_surface surface;
        if (!plan->shots->shot[i].type->outside) continue;
        TRY(fd_surface_make(&plan->problem, &plan->shots->shot[i], &surface));
        TRY(check_box(plan, i + 1, &surface));
        TRY(check_medium(plan, i + 1, &surface));
    }
    return HT_OK;
}

struct ht_fd_incidence {
    struct ht_fd_surface surface;
    struct ht_fd_weights weights;
    int64_t steps;            /* of the table, from step 0 on */
    double *stage, *update;   /* [step][column] */
    double *values, *largest; /* scratch: [column]; largest: [step] */
    double size;
};

/* ---- entries ---- */

struct touched {
    int64_t first, last; /* columns [first, last) */
};

/* values += factor u_i(xi). */
static void add_wave(const struct ht_fd_incidence *in, double xi, double factor,
                     struct touched *touched) {
    const double at = (xi - in->surface.first) / in->surface.apart;
    const int64_t below = (int64_t)floor(at), first = below - SPLINE / 2 + 1;
    double weight[SPLINE];
    /* Weights of columns j - 2 .. j + 3 for a place f intervals above column j:
     * sums of fifth powers, of integral 1. */
    const double f = at - (double)below, g = 1 - f;
    const double a[3] = {pow(g, 5), pow(1 + g, 5), pow(2 + g, 5)};
    const double b[3] = {pow(f, 5), pow(1 + f, 5), pow(2 + f, 5)};
    weight[0] = a[0] / 120;
    weight[1] = (a[1] - 6 * a[0]) / 120;
    weight[2] = (a[2] - 6 * a[1] + 15 * a[0]) / 120;
    weight[3] = (b[2] - 6 * b[1] + 15 * b[0]) / 120;
    weight[4] = (b[1] - 6 * b[0]) / 120;
    weight[5] = b[0] / 120;
    for (int i = 0; i < SPLINE; i++) in->values[first + i] += factor * weight[i];
    touched->first = ht_least(touched->first, first);
    touched->last = ht_most(touched->last, first + SPLINE);
}

/* values += C u_i at a node, of the star's part along one axis. */
static void add_star(const struct ht_fd_incidence *in, const int64_t m[3], int axis, double xi,
                     struct touched *touched) {
    const struct ht_fd_surface *s = &in->surface;
    const bool inside = fd_surface_holds(s, axis, m[axis]);
    const double step = s->direction[axis] * s->grid->h[axis];
    for (int j = 1; j <= s->reach; j++) {
        const double factor = (inside ? 1 : -1) * s->rate[axis] * s->arm[j];
        if (fd_surface_holds(s, axis, m[axis] + j) != inside)
            add_wave(in, xi + j * step, factor, touched);
        if (fd_surface_holds(s, axis, m[axis] - j) != inside)
            add_wave(in, xi - j * step, factor, touched);
    }
}

static enum ht_err add_node(const struct ht_fd_incidence *in, const int64_t m[3], int64_t node,
                            int column, struct ht_columns *out) {
    const struct ht_fd_surface *s = &in->surface;
    struct touched touched = {.first = s->columns};
    double xi = 0;
    for (int k = 0; k < 3 && k < s->grid->dims; k++)
        xi += s->direction[k] * ht_grid_x(s->grid, HT_PRIMARY, k, m[k]);
    for (int k = 0; k < 3 && k < s->grid->dims; k++)
        if (fd_surface_crosses(s, m, k)) add_star(in, m, k, xi, &touched);
    for (int64_t i = touched.first; i < touched.last; i++) {
        const struct ht_column_entry entry = {
            .at = node, .column = column + (int)i, .weight = in->values[i]};
        in->values[i] = 0;
        if (entry.weight != 0) TRY(ht_columns_add(out, entry));
    }
    return HT_OK;
}

/* Adds the entries on an x3 plane of the grid, of columns `column` on, sorted. */
static enum ht_err ht_fd_incidence_entries(const struct ht_fd_incidence *in, int64_t plane,
                                           int column, struct ht_columns *out) {
    const struct ht_fd_surface *s = &in->surface;
    const int64_t row = ht_grid_nodes(s->grid, HT_PRIMARY, 0);
    int64_t begin[3], end[3], m[3] = {0, 0, plane};
    for (int k = 0; k < 3; k++) {
        /* Nodes along an axis that the surface may concern. */
        const int64_t nodes = k < s->grid->dims ? ht_grid_nodes(s->grid, HT_PRIMARY, k) : 1;
        begin[k] = ht_most(0, s->lower[k] - s->reach);
        end[k] = ht_least(nodes, s->upper[k] + s->reach + 1);
    }
    if (plane < begin[2] || plane >= end[2]) return HT_OK;
    for (m[1] = begin[1]; m[1] < end[1]; m[1]++)
        for (m[0] = begin[0]; m[0] < end[0]; m[0]++)
            TRY(add_node(in, m, plane * ht_grid_plane(s->grid, HT_PRIMARY) + m[1] * row + m[0],
                         column, out));
    return HT_OK;
}

/* ---- the wave ---- */

/* dt^2 times minus the symbol of L for wavenumber k in the direction. */
static double symbol(const struct ht_fd_incidence *in, const struct ht_problem *problem, double k) {
    const struct ht_fd_surface *s = &in->surface;
    double sum = 0;
    for (int axis = 0; axis < s->grid->dims; axis++) {
        const double theta = fabs(k * s->direction[axis] * s->grid->h[axis]);
        sum += s->rate[axis] * ht_fd_symbol(&in->weights, problem->fd.density, theta);
    }
    return problem->dt * problem->dt * sum;
}

/* The wavenumber of frequency omega, and z = dt^2 times minus L's symbol, where 4 sin^2(omega
 * dt/2) = z, or z - z^2/12. False: the grid does not carry it. */
static bool wavenumber(const struct ht_fd_incidence *in, const struct ht_problem *problem,
                       double omega, double *k, double *z) {
    const struct ht_fd_surface *s = &in->surface;
    const double sine = sin(omega * problem->dt / 2);
    const double part = 1 - 4 * sine * sine / 3;
    double low = 0, high = INFINITY;
    if (problem->stages > 1 && part < 0) return false;
    *z = problem->stages > 1 ? 6 * (1 - sqrt(part)) : 4 * sine * sine;
    for (int axis = 0; axis < s->grid->dims; axis++)
        if (s->direction[axis] != 0)
            high = fmin(high, HT_PI / (fabs(s->direction[axis]) * s->grid->h[axis]));
    if (symbol(in, problem, high) < *z) return false;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (symbol(in, problem, middle) < *z)
            low = middle;
        else
            high = middle;
    }
    *k = (low + high) / 2;
    return true;
}

/* Amplitudes at the corner that the wave reaches first. */
struct spectrum {
    int bits;
    double complex *amplitude;
    double *k, *z; /* of waves that are carried; others: amplitude 0 */
};

static void free_spectrum(struct spectrum *s) {
    free(s->amplitude);
    free(s->k);
    free(s->z);
}

static enum ht_err make_spectrum(const struct ht_fd_incidence *in, const struct ht_problem *problem,
                                 const struct ht_shot *shot, int bits, struct spectrum *out) {
    const int64_t n = (int64_t)1 << bits;
    out->bits = bits;
    TRY(HT_ALLOC(out->amplitude, n));
    TRY(HT_ALLOC(out->k, n / 2));
    TRY(HT_ALLOC(out->z, n / 2));
    for (int64_t l = 0; l < n; l++)
        out->amplitude[l] = ht_shot_at(shot, (double)l * problem->dt, 0) / (double)n;
    ht_fourier(bits, out->amplitude);
    for (int64_t q = 1; q < n / 2; q++)
        if (!wavenumber(in, problem, 2 * HT_PI * (double)q / ((double)n * problem->dt), &out->k[q],
                        &out->z[q]))
            out->amplitude[q] = 0;
    return HT_OK;
}

/* Of the spline with coefficients exp(i theta n), its value at column 0. */
static double spline_symbol(double theta) {
    return (66 + 52 * cos(theta) + 2 * cos(2 * theta)) / 120;
}

/* The coefficients of u_i and, times i, of w_i: all steps of a column. */
static void fill_column(struct ht_fd_incidence *in, const struct spectrum *s, int terms, int column,
                        double complex *work) {
    const struct ht_fd_surface *surface = &in->surface;
    const int64_t n = (int64_t)1 << s->bits;
    const double xi = surface->first + column * surface->apart - surface->corner;
    work[n / 2] = 0;
    for (int64_t q = 0; q < n / 2; q++) {
        const double phase = -s->k[q] * xi;
        const double complex value = s->amplitude[q] * ht_complex(cos(phase), sin(phase)) /
                                     spline_symbol(s->k[q] * surface->apart);
        const double complex both = ht_complex(1, terms > 1 ? 1 - s->z[q] / 12 : 1);
        /* the transform has exp(-i ..): frequency q stands at n - q */
        work[q] = conj(value) * both;
        if (q > 0) work[n - q] = value * both;
    }
    ht_fourier(s->bits, work);
    for (int64_t l = 0; l < in->steps; l++) {
        in->stage[l * surface->columns + column] = creal(work[l]);
        in->update[l * surface->columns + column] = cimag(work[l]);
    }
}

static enum ht_err fill_steps(struct ht_fd_incidence *in, const struct ht_problem *problem,
                              const struct ht_shot *shot, int bits) {
    const int columns = in->surface.columns;
    HT_ENDED(free_spectrum) struct spectrum spectrum = {.bits = 0};
    HT_FREED double complex *work = NULL;
    TRY(make_spectrum(in, problem, shot, bits, &spectrum));
    TRY(HT_ALLOC(work, (int64_t)1 << bits));
    for (int c = 0; c < columns; c++) fill_column(in, &spectrum, problem->stages, c, work);
    for (int64_t l = 0; l < in->steps; l++)
        for (int c = 0; c < columns; c++)
            in->largest[l] = fmax(in->largest[l], fmax(fabs(in->stage[l * columns + c]),
                                                       fabs(in->update[l * columns + c])));
    return HT_OK;
}

/* The amplitudes of a step: [column]; *norm is no less than the norm of what they add. Whether
 * there are any. */
static bool ht_fd_incidence_row(const struct ht_fd_incidence *in, int64_t step, double dt,
                                double *stage, double *update, double *norm) {
    const int columns = in->surface.columns;
    const bool known = step >= 0 && step < in->steps;
    *norm = known ? in->size * dt * dt * in->largest[step] : 0;
    for (int c = 0; c < columns; c++) {
        const int64_t at = step * columns + c;
        stage[c] = known ? dt * dt / 12 * in->stage[at] : 0;
        update[c] = known ? dt * dt * in->update[at] : 0;
    }
    return *norm > 0;
}

/* Steps until the wave has left: signal, crossing, dispersion. */
static int64_t steps_of(const struct ht_problem *problem, const struct ht_shot *shot) {
    const double end = ht_signal_traits(shot->signal).end + shot->delay;
    return (int64_t)ceil((end + 1.25 * shot->crossing) / problem->dt) + 32;
}

/* No more than: columns of the table, and nodes and entries on so many planes.
 */
struct ht_fd_incidence_most {
    int64_t columns, nodes, entries;
    int64_t host; /* bytes of the host's tables */
};

static enum ht_err ht_fd_incidence_count(const struct ht_problem *problem,
                                         const struct ht_shot *shot, int64_t planes,
                                         struct ht_fd_incidence_most *out) {
    struct ht_fd_surface s;
    TRY(fd_surface_make(problem, shot, &s));
    *out = (struct ht_fd_incidence_most){.columns = s.columns};
    out->host = steps_of(problem, shot) * s.columns * 2 * (int64_t)sizeof(double);
    for (int k = 0; k < s.grid->dims; k++) {
        /* faces as wide as the box, of which the planes have a part */
        const int64_t layers = 4 * (int64_t)s.reach;
        int64_t nodes = s.closed[k] ? layers : 0;
        for (int other = 0; other < s.grid->dims; other++) {
            const int64_t wide = s.upper[other] - s.lower[other] + 1;
            if (other != k) nodes *= other == 2 ? ht_least(planes, wide) : wide;
        }
        if (k == 2) nodes = nodes / layers * ht_least(layers, planes);
        const double step = fabs(s.direction[k]) * s.grid->h[k] / s.apart;
        out->nodes += nodes;
        out->entries += nodes * (SPLINE + 1 + (int64_t)(s.reach * step / 2));
    }
    return HT_OK;
}

static enum ht_err make(const struct ht_problem *problem, const struct ht_shot *shot,
                        struct ht_fd_incidence *in) {
    int bits = 4;
    TRY(fd_surface_make(problem, shot, &in->surface));
    in->weights = ht_fd_weights(problem->fd.order);
    in->steps = steps_of(problem, shot);
    /* At least |C u| where |u| is at most 1, in the norm of the energy; twice, as the stage adds at
     * most 12 times its twelfth. Faces add up per axis. */
    double sum = 0, volume = 1, all = 1;
    for (int k = 0; k < 3 && k < in->surface.grid->dims; k++) {
        volume *= in->surface.grid->h[k];
        all *= (double)(in->surface.upper[k] - in->surface.lower[k] + 1);
    }
    for (int k = 0; k < 3 && k < in->surface.grid->dims; k++) {
        const double face = all / (double)(in->surface.upper[k] - in->surface.lower[k] + 1);
        double square = 0;
        for (int layer = 0; in->surface.closed[k] && layer < in->surface.reach; layer++) {
            double row = 0;
            for (int j = layer + 1; j <= in->surface.reach; j++) row += fabs(in->surface.arm[j]);
            square += 4 * face * row * row; /* two faces of two sides */
        }
        sum += in->surface.rate[k] * sqrt(square * volume / in->surface.modulus);
    }
    in->size = 2 * sum;
    while ((int64_t)1 << bits < in->steps + in->steps / 4) bits++;
    TRY(HT_ALLOC(in->stage, in->steps * in->surface.columns));
    TRY(HT_ALLOC(in->update, in->steps * in->surface.columns));
    TRY(HT_ALLOC(in->values, in->surface.columns));
    TRY(HT_ALLOC(in->largest, in->steps));
    return fill_steps(in, problem, shot, bits);
}

static void ht_fd_incidence_destroy(struct ht_fd_incidence *in) {
    if (in == NULL) return;
    free(in->stage);
    free(in->update);
    free(in->values);
    free(in->largest);
    free(in);
}

static enum ht_err ht_fd_incidence_create(const struct ht_problem *problem,
                                          const struct ht_shot *shot,
                                          struct ht_fd_incidence **out) {
    struct ht_fd_incidence *in = NULL;
    *out = NULL;
    TRY(HT_ALLOC(in, 1));
    const enum ht_err err = make(problem, shot, in);
    return HT_MADE(err, in, ht_fd_incidence_destroy, out);
}

/* Steps in the table at a time: one transfer for so many. */
enum { STEPS = HT_FD_INJECTION_ROWS / 2 };

/* What making a list needs for a while. */
struct making {
    const struct ht_fd_stepper *stepper;
    struct ht_fd_injection *in;
    bool *wanted;             /* [plane of the grid] in the window */
    struct ht_columns grid;   /* on these planes, by nodes of the grid */
    struct ht_columns window; /* by nodes of the window */
    double *modulus;          /* of one plane */
    double *sums;             /* [plane of the grid][column, shot]: parts of whole, and of
                                 the square of size */
};

/* ---- a plane ---- */

static double half_at_walls(const struct ht_grid *grid, int64_t node) {
    double part = 1;
    for (int k = 0; k < 3 && k < grid->dims; k++) {
        const int64_t nodes = ht_grid_nodes(grid, HT_PRIMARY, k);
        for (int side = 0; side < 2; side++)
            if (node % nodes == (side == 0 ? 0 : nodes - 1) &&
                ht_measure_half(grid, HT_PRIMARY, k, side))
                part /= 2;
        node /= nodes;
    }
    return part;
}

/* Whether the weights of a shot take the modulus; plane waves have it. */
static bool takes_modulus(const struct ht_fd_injection *in, int shot) {
    return in->incident[shot] == NULL && in->eq->second_order.rate < 0;
}

static int shot_of(const struct ht_fd_injection *in, int column) {
    int low = 0, high = in->shots->count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (in->column[middle] <= column)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The plane of the grid that is plane m3 of the window. */
static int64_t ht_fd_grid_plane(const struct ht_fd_stepper *s, int64_t m3) {
    const struct ht_grid *grid = s->problem.grid;
    const int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    const int64_t m = s->first + m3 - s->box.begin[2];
    const bool wraps = grid->dims > 2 && ht_grid_periodic(grid, 2);
    return wraps ? (m % planes + planes) % planes : m;
}

/* Of a plane of the window: its weights get the modulus, and are added to the sums over the grid if
 * it is an own one. */
static enum ht_err weigh_plane(struct making *m, int64_t m3) {
    const struct ht_fd_stepper *s = m->stepper;
    const struct ht_fd_injection *in = m->in;
    const struct ht_grid *grid = s->problem.grid;
    const int64_t plane = ht_fd_grid_plane(s, m3), n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    const int columns = in->column[in->shots->count];
    double *sums = m->sums + plane * (columns + in->shots->count);
    if (in->plane[m3] == in->plane[m3 + 1]) return HT_OK;
    TRY(s->problem.fd.fill(s->problem.fd.medium, 0, plane, plane + 1, m->modulus));
    for (int64_t n = in->plane[m3]; n < in->plane[m3 + 1]; n++) {
        const int64_t at = in->list.at[n] - m3 * s->box.plane;
        const int64_t node =
            (at / s->box.row - s->box.begin[1]) * n1 + at % s->box.row - s->box.begin[0];
        const double half = half_at_walls(grid, plane * ht_grid_plane(grid, HT_PRIMARY) + node);
        for (int e = in->list.begin[n]; e < in->list.begin[n + 1]; e++) {
            const int column = in->list.column[e], shot = shot_of(in, column);
            double *weight = &in->shapes.value[e];
            if (takes_modulus(in, shot)) *weight *= m->modulus[node];
            const double part = half * *weight / m->modulus[node];
            if (plane < s->first || plane >= s->last) continue;
            sums[column] += part;
            sums[columns + shot] += part * *weight;
        }
    }
    return HT_OK;
}

/* ---- the list of the window ---- */

enum ht_err ht_fd_place_columns(const struct ht_fd_stepper *s, int64_t begin, int64_t end,
                                const struct ht_columns *from, struct ht_columns *window) {
    const struct ht_grid *grid = s->problem.grid;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    const int64_t nodes = ht_grid_plane(grid, HT_PRIMARY);
    const int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    for (int64_t i = 0; i < from->count; i++) {
        struct ht_column_entry entry = from->entry[i];
        const int64_t at = entry.at % nodes;
        const int64_t later = entry.at / nodes - ht_fd_grid_plane(s, begin);
        for (int64_t m3 = begin + (later + planes) % planes; m3 < end; m3 += planes) {
            entry.at = m3 * s->box.plane + (at / n1 + s->box.begin[1]) * s->box.row + at % n1 +
                       s->box.begin[0];
            TRY(ht_columns_add(window, entry));
        }
    }
    return HT_OK;
}

void ht_fd_target_planes(const struct ht_fd_stepper *s, int64_t *begin, int64_t *end,
                         bool *wanted) {
    *begin = s->r.partition.neighbour[0] ? 0 : s->box.begin[2];
    *end = s->r.partition.neighbour[1] ? s->r.partition.window[HT_PRIMARY].count[2] : s->box.end[2];
    for (int64_t m3 = *begin; m3 < *end; m3++) wanted[ht_fd_grid_plane(s, m3)] = true;
}

static enum ht_err make_list(struct making *m) {
    const struct ht_fd_stepper *s = m->stepper;
    struct ht_fd_injection *in = m->in;
    const int64_t planes = s->r.partition.window[HT_PRIMARY].count[2];
    const struct ht_grid *grid = s->problem.grid;
    const int64_t row = ht_grid_nodes(grid, HT_PRIMARY, 0);
    int64_t begin, end;
    ht_fd_target_planes(s, &begin, &end, m->wanted);
    for (int i = 0; i < in->shots->count; i++) {
        HT_ENDED(ht_point_free) struct ht_point point = {.count = 0};
        TRY(ht_shot_spread(in->shots, i, m->wanted, &point));
        for (int j = 0; j < point.count; j++) {
            const int64_t *at = point.node[j].m;
            const struct ht_column_entry entry = {.at = at[2] * ht_grid_plane(grid, HT_PRIMARY) +
                                                        at[1] * row + at[0],
                                                  .column = in->column[i],
                                                  .weight = point.node[j].weight};
            TRY(ht_columns_add(&m->grid, entry));
        }
    }
    for (int64_t p = 0; p < ht_grid_planes(grid, HT_PRIMARY); p++)
        for (int i = 0; m->wanted[p] && i < in->shots->count; i++)
            if (in->incident[i] != NULL)
                TRY(ht_fd_incidence_entries(in->incident[i], p, in->column[i], &m->grid));
    TRY(ht_fd_place_columns(s, begin, end, &m->grid, &m->window));
    TRY(ht_columns_list(&m->window, planes, s->box.plane, &in->list, &in->plane,
                        &in->shapes.value));
    for (int64_t m3 = begin; m3 < end; m3++) TRY(weigh_plane(m, m3));
    return HT_OK;
}

/* Each rank has its own planes; added in their order. Collective. */
static enum ht_err share_sums(struct making *m) {
    const struct ht_grid *grid = m->stepper->problem.grid;
    struct ht_fd_injection *in = m->in;
    const int shots = in->shots->count, columns = in->column[shots];
    const int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    double volume = 1;
    for (int k = 0; k < grid->dims; k++) volume *= grid->h[k];
    TRY(ht_comm_sum(grid->slab.comm, (int)(planes * (columns + shots)), m->sums));
    for (int64_t p = 0; p < planes; p++) {
        const double *sums = m->sums + p * (columns + shots);
        for (int c = 0; c < columns; c++) in->whole[c] += sums[c];
        for (int i = 0; i < shots; i++) in->size[i] += volume * sums[columns + i];
    }
    for (int i = 0; i < shots; i++) in->size[i] = sqrt(in->size[i]);
    return HT_OK;
}

enum ht_err ht_fd_remove_dispersion(struct ht_fd_injection *in, bool later) {
    TRY(HT_ALLOC(in->undispersed, in->shots->count));
    for (int i = 0; i < in->shots->count; i++) {
        const struct ht_shot *shot = &in->shots->shot[i];
        TRY(ht_fd_undispersed(shot, in->eq != NULL ? ht_shot_order(in->eq, shot) : 0, in->dt, later,
                              &in->undispersed[i].count, &in->undispersed[i].f));
    }
    return HT_OK;
}

static enum ht_err make_columns(const struct ht_problem *problem, struct ht_fd_injection *in) {
    TRY(HT_ALLOC(in->incident, in->shots->count));
    TRY(HT_ALLOC(in->column, in->shots->count + 1));
    for (int i = 0; i < in->shots->count; i++) {
        const struct ht_shot *shot = &in->shots->shot[i];
        const bool wave = shot->type->outside != NULL;
        if (wave) TRY(ht_fd_incidence_create(problem, shot, &in->incident[i]));
        in->column[i + 1] = in->column[i] + (wave ? in->incident[i]->surface.columns : 1);
    }
    return HT_OK;
}

static enum ht_err make_tables(struct making *m) {
    const struct ht_grid *grid = m->stepper->problem.grid;
    struct ht_fd_injection *in = m->in;
    const int shots = in->shots->count, columns = in->column[shots];
    const int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    in->shapes = (struct ht_inject_shapes){.fields = 1, .terms = 1, .coefs = 1, .columns = columns};
    TRY(HT_ALLOC(in->whole, columns));
    TRY(HT_ALLOC(in->size, shots));
    TRY(HT_ALLOC(in->table, (int64_t)HT_FD_INJECTION_ROWS * columns));
    TRY(HT_ALLOC(in->push, STEPS));
    TRY(HT_ALLOC(m->wanted, planes));
    TRY(HT_ALLOC(m->modulus, ht_grid_plane(grid, HT_PRIMARY)));
    return HT_ALLOC(m->sums, planes * (columns + shots));
}

enum ht_err ht_fd_injection_create(const struct ht_fd_stepper *s, struct ht_fd_injection **out) {
    struct ht_fd_injection *in = NULL;
    *out = NULL;
    if (s->problem.shots == NULL || !(s->problem.dt > 0)) return HT_OK;
    TRY(HT_ALLOC(in, 1));
    struct making m = {.stepper = s, .in = in};
    in->shots = s->problem.shots;
    in->eq = s->problem.eq;
    in->dt = s->problem.dt;
    in->terms = s->problem.stages;
    enum ht_err err = make_columns(&s->problem, in);
    if (err == HT_OK) err = make_tables(&m);
    if (err == HT_OK) err = make_list(&m);
    if (err == HT_OK) err = share_sums(&m);
    free(m.wanted);
    free(m.grid.entry);
    free(m.window.entry);
    free(m.modulus);
    free(m.sums);
    if (err == HT_OK && s->problem.fd.undispersed) err = ht_fd_remove_dispersion(in, false);
    return HT_MADE(err, in, ht_fd_injection_destroy, out);
}

void ht_fd_injection_destroy(struct ht_fd_injection *in) {
    if (in == NULL) return;
    ht_injected_destroy(in->injected);
    free(in->list.at);
    free(in->list.begin);
    free(in->list.column);
    free(in->shapes.value);
    free(in->plane);
    for (int i = 0; in->undispersed != NULL && i < in->shots->count; i++)
        free(in->undispersed[i].f);
    free(in->undispersed);
    for (int i = 0; in->incident != NULL && i < in->shots->count; i++)
        ht_fd_incidence_destroy(in->incident[i]);
    free(in->incident);
    free(in->column);
    free(in->whole);
    free(in->size);
    free(in->table);
    free(in->push);
    free(in);
}

/* ---- memory ---- */

enum ht_err ht_differences_shot_bytes(const struct ht_plan *plan, bool fp64,
                                      struct ht_shot_bytes *out) {
    const struct ht_problem *problem = &plan->problem;
    const struct ht_shots *shots = problem->shots;
    const struct ht_fd_engine engine = {.spec = ht_fd_spec_of(problem, fp64)};
    const int64_t word = ht_real_size(fp64);
    struct ht_fd_stepper s = {.at = 0};
    int64_t columns = 0, nodes = 0, entries = 0;
    ht_fd_stepper_plan(problem, &engine, &s);
    for (int i = 0; i < shots->count; i++) {
        const int64_t more =
            ht_shot_most_nodes(shots, i, s.r.partition.window[HT_PRIMARY].count[2]);
        struct ht_fd_incidence_most most = {1, more, more, 0};
        if (shots->shot[i].type->outside)
            TRY(ht_fd_incidence_count(problem, &shots->shot[i],
                                      s.r.partition.window[HT_PRIMARY].count[2], &most));
        columns += most.columns;
        nodes += most.nodes;
        entries += most.entries;
        out->host += most.host;
    }
    const int64_t table = (int64_t)HT_FD_INJECTION_ROWS * columns;
    out->device = 12 * nodes + (4 + word) * entries + word * table;
    out->host += 12 * nodes + 12 * entries + 8 * table;
    out->host += (int64_t)(2 * sizeof(struct ht_column_entry)) * entries;
    return HT_OK;
}

/* ---- amplitudes ---- */

/* Of the stage and of the update of the step from t. */
static void amplitudes(const struct ht_fd_injection *in, int i, double t, double *stage,
                       double *update) {
    const struct ht_shot *shot = &in->shots->shot[i];
    const int order = ht_shot_order(in->eq, shot);
    const double dt = in->dt;
    *stage = *update = 0;
    if (in->undispersed != NULL) {
        const struct ht_fd_signal *signal = &in->undispersed[i];
        const int64_t n = llround(t / dt);
        if (n >= 0 && n < signal->count) *update = dt * dt * signal->f[n];
        return;
    }
    if (!ht_shot_acts(shot, t - dt, t + dt)) return;
    *stage = dt * dt / 12 * ht_shot_at(shot, t, order);
    *update = ht_shot_at(shot, t + dt, order - 2) - 2 * ht_shot_at(shot, t, order - 2) +
              ht_shot_at(shot, t - dt, order - 2);
}

static void fill_table(struct ht_fd_injection *in) {
    const int columns = in->column[in->shots->count];
    for (int64_t j = 0; j < STEPS; j++) {
        double *row = in->table + 2 * j * columns;
        /* The norm of what a step adds is no more than that of the update and, as dt^2 L is at most
         * 12 in it, 12 times that of the stage. */
        const int64_t step = in->first + j;
        double *update = row + columns;
        double push = 0;
        for (int i = 0; i < in->shots->count; i++) {
            double norm, *first = &row[in->column[i]];
            double *second = &update[in->column[i]];
            if (in->incident[i] != NULL) {
                ht_fd_incidence_row(in->incident[i], step, in->dt, first, second, &norm);
            } else {
                amplitudes(in, i, (double)step * in->dt, first, second);
                norm = in->size[i] * (fabs(*second) + (in->terms > 1 ? 12 * fabs(*first) : 0));
            }
            push += norm;
        }
        in->push[j] = push;
    }
}

enum ht_err ht_fd_injection_step(struct ht_fd_injection *in, struct ht_fd_engine *engine,
                                 int64_t step, double *mean) {
    const int columns = in->column[in->shots->count];
    const int64_t inside = step - in->first;
    *mean = 0;
    if (!in->filled || inside < 0 || inside >= STEPS) {
        in->first = step;
        in->filled = true;
        fill_table(in);
        TRY(engine->ops->amplitudes(engine, in));
    }
    const double *row = in->table + (2 * (step - in->first) + 1) * columns;
    for (int i = 0; i < columns; i++) *mean += in->whole[i] * row[i];
    in->driven += in->push[step - in->first];
    return HT_OK;
}

enum ht_err ht_fd_injection_add(struct ht_fd_injection *in, struct ht_fd_engine *engine,
                                enum ht_fd_pass pass, int64_t step, int64_t begin, int64_t end,
                                struct ht_fd_array x, struct ht_fd_array y) {
    const int64_t first = in->plane[begin], last = in->plane[end];
    const int64_t row = 2 * (step - in->first) + (pass == HT_FD_STAGE ? 0 : 1);
    if (first == last || !(in->push[step - in->first] > 0)) return HT_OK;
    return engine->ops->inject(engine, in, first, last, row, x, y);
}
