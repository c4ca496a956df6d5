/* Plane waves that come from outside (docs/differences.md). Inside a box the
 * nodes hold the total field, outside what is scattered: with chi = 1 inside
 * and 0 outside u is U - (1 - chi) u_i, where u_i is the incident wave. Both
 * passes of a step then take
 *     w = u + dt^2/12 (L u + C u_i),   d = d + dt^2 (L w + C w_i),
 *     C = chi L - L chi,   w_i = u_i + dt^2/12 L u_i.
 * C u is other than 0 at nodes alone whose star crosses the box's surface: with
 * second differences of weights a_j at distance j it is the sum, over the nodes
 * of the star on the other side, of a_j u, taken with + inside and - outside.
 *
 * u_i is a solution of the scheme, not of the wave equation: with the spectrum
 * S(omega) of the signal at time steps
 *     u_i(x, t_n) = sum S(omega) exp(i (omega t_n - k (direction x - corner))),
 * where k(omega) is the scheme's own wavenumber in this direction. So nothing
 * leaks but for rounding and for what follows. u_i depends on xi = direction x
 * alone and is a quintic spline in xi, half a spacing apart: its coefficients
 * are columns of the table of amplitudes, found from the spectrum, too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fd_surface.h"
#include "htwave/fourier.h"
#include "htwave/shots.h"

enum { SPLINE = HT_FD_SPLINE };
static const double pi = 3.14159265358979323846;

struct ht_fd_incidence {
    struct ht_fd_surface surface;
    struct ht_fd_weights weights;
    int64_t steps;            /* of the table, from step 0 on */
    double *stage, *update;   /* [step][column] */
    double *values, *largest; /* scratch: [column]; largest: [step] */
    double size;
};

/* ---- entries ---- */

/* Weights of columns j - 2 .. j + 3 for a place f intervals above column j:
 * sums of fifth powers, of integral 1. */
static void spline_at(double f, double weight[SPLINE]) {
    const double g = 1 - f;
    const double a[3] = {pow(g, 5), pow(1 + g, 5), pow(2 + g, 5)};
    const double b[3] = {pow(f, 5), pow(1 + f, 5), pow(2 + f, 5)};
    weight[0] = a[0] / 120;
    weight[1] = (a[1] - 6 * a[0]) / 120;
    weight[2] = (a[2] - 6 * a[1] + 15 * a[0]) / 120;
    weight[3] = (b[2] - 6 * b[1] + 15 * b[0]) / 120;
    weight[4] = (b[1] - 6 * b[0]) / 120;
    weight[5] = b[0] / 120;
}

struct touched {
    int64_t first, last; /* columns [first, last) */
};

/* values += factor u_i(xi). */
static void add_wave(const struct ht_fd_incidence *in, double xi, double factor,
                     struct touched *touched) {
    const double at = (xi - in->surface.first) / in->surface.apart;
    const int64_t below = (int64_t)floor(at), first = below - SPLINE / 2 + 1;
    double weight[SPLINE];
    spline_at(at - (double)below, weight);
    for (int i = 0; i < SPLINE; i++)
        in->values[first + i] += factor * weight[i];
    touched->first = ht_least(touched->first, first);
    touched->last = ht_most(touched->last, first + SPLINE);
}

/* values += C u_i at a node, of the star's part along one axis. */
static void add_star(const struct ht_fd_incidence *in, const int64_t m[3],
                     int axis, double xi, struct touched *touched) {
    const struct ht_fd_surface *s = &in->surface;
    const bool inside = ht_fd_surface_holds(s, axis, m[axis]);
    const double step = s->direction[axis] * s->grid->h[axis];
    for (int j = 1; j <= s->reach; j++) {
        const double factor = (inside ? 1 : -1) * s->rate[axis] * s->arm[j];
        if (ht_fd_surface_holds(s, axis, m[axis] + j) != inside)
            add_wave(in, xi + j * step, factor, touched);
        if (ht_fd_surface_holds(s, axis, m[axis] - j) != inside)
            add_wave(in, xi - j * step, factor, touched);
    }
}

static enum ht_err add_node(const struct ht_fd_incidence *in,
                            const int64_t m[3], int64_t node, int column,
                            struct ht_fd_entries *out) {
    const struct ht_fd_surface *s = &in->surface;
    struct touched touched = {.first = s->columns};
    double xi = 0;
    for (int k = 0; k < 3 && k < s->grid->dims; k++)
        xi += s->direction[k] * ht_grid_x(s->grid, HT_PRIMARY, k, m[k]);
    for (int k = 0; k < 3 && k < s->grid->dims; k++)
        if (ht_fd_surface_crosses(s, m, k)) add_star(in, m, k, xi, &touched);
    for (int64_t i = touched.first; i < touched.last; i++) {
        const struct ht_fd_entry entry = {node, column + (int)i, in->values[i]};
        in->values[i] = 0;
        if (entry.weight != 0) TRY(ht_fd_entries_add(out, &entry));
    }
    return HT_OK;
}

/* Nodes along an axis that the surface may concern. */
static void range_of(const struct ht_fd_surface *s, int axis, int64_t *begin,
                     int64_t *end) {
    const int64_t nodes =
        axis < s->grid->dims ? ht_grid_nodes(s->grid, HT_PRIMARY, axis) : 1;
    *begin = ht_most(0, s->lower[axis] - s->reach);
    *end = ht_least(nodes, s->upper[axis] + s->reach + 1);
}

enum ht_err ht_fd_incidence_entries(const struct ht_fd_incidence *in,
                                    int64_t plane, int column,
                                    struct ht_fd_entries *out) {
    const struct ht_fd_surface *s = &in->surface;
    const int64_t row = ht_grid_nodes(s->grid, HT_PRIMARY, 0);
    int64_t begin[3], end[3], m[3] = {0, 0, plane};
    for (int k = 0; k < 3; k++) range_of(s, k, &begin[k], &end[k]);
    if (plane < begin[2] || plane >= end[2]) return HT_OK;
    for (m[1] = begin[1]; m[1] < end[1]; m[1]++)
        for (m[0] = begin[0]; m[0] < end[0]; m[0]++)
            TRY(add_node(in, m,
                         plane * ht_grid_plane(s->grid, HT_PRIMARY) +
                             m[1] * row + m[0],
                         column, out));
    return HT_OK;
}

int ht_fd_incidence_columns(const struct ht_fd_incidence *in) {
    return in->surface.columns;
}

/* ---- the wave ---- */

/* dt^2 times minus the symbol of L for wavenumber k in the direction. */
static double symbol(const struct ht_fd_incidence *in,
                     const struct ht_problem *problem, double k) {
    const struct ht_fd_surface *s = &in->surface;
    double sum = 0;
    for (int axis = 0; axis < s->grid->dims; axis++) {
        const double theta = fabs(k * s->direction[axis] * s->grid->h[axis]);
        const double first = ht_fd_first_symbol(&in->weights, theta);
        sum += s->rate[axis] * (problem->fd.density
                                    ? first * first
                                    : ht_fd_second_symbol(&in->weights, theta));
    }
    return problem->dt * problem->dt * sum;
}

/* The wavenumber of frequency omega, and z = dt^2 times minus L's symbol, where
 * 4 sin^2(omega dt/2) = z, or z - z^2/12. False: the grid does not carry it. */
static bool wavenumber(const struct ht_fd_incidence *in,
                       const struct ht_problem *problem, double omega,
                       double *k, double *z) {
    const struct ht_fd_surface *s = &in->surface;
    const double sine = sin(omega * problem->dt / 2);
    const double part = 1 - 4 * sine * sine / 3;
    double low = 0, high = INFINITY;
    if (problem->stages > 1 && part < 0) return false;
    *z = problem->stages > 1 ? 6 * (1 - sqrt(part)) : 4 * sine * sine;
    for (int axis = 0; axis < s->grid->dims; axis++)
        if (s->direction[axis] != 0)
            high =
                fmin(high, pi / (fabs(s->direction[axis]) * s->grid->h[axis]));
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

static enum ht_err make_spectrum(const struct ht_fd_incidence *in,
                                 const struct ht_problem *problem,
                                 const struct ht_shot *shot, int bits,
                                 struct spectrum *out) {
    const int64_t n = (int64_t)1 << bits;
    out->bits = bits;
    TRY(HT_ALLOC(out->amplitude, n));
    TRY(HT_ALLOC(out->k, n / 2));
    TRY(HT_ALLOC(out->z, n / 2));
    for (int64_t l = 0; l < n; l++)
        out->amplitude[l] =
            ht_shot_at(shot, (double)l * problem->dt, 0) / (double)n;
    ht_fourier(bits, out->amplitude);
    for (int64_t q = 1; q < n / 2; q++)
        if (!wavenumber(in, problem,
                        2 * pi * (double)q / ((double)n * problem->dt),
                        &out->k[q], &out->z[q]))
            out->amplitude[q] = 0;
    return HT_OK;
}

/* Of the spline with coefficients exp(i theta n), its value at column 0. */
static double spline_symbol(double theta) {
    return (66 + 52 * cos(theta) + 2 * cos(2 * theta)) / 120;
}

/* The coefficients of u_i and, times i, of w_i: all steps of a column. */
static void fill_column(struct ht_fd_incidence *in, const struct spectrum *s,
                        int terms, int column, double complex *work) {
    const struct ht_fd_surface *surface = &in->surface;
    const int64_t n = (int64_t)1 << s->bits;
    const double xi =
        surface->first + column * surface->apart - surface->corner;
    work[n / 2] = 0;
    for (int64_t q = 0; q < n / 2; q++) {
        const double phase = -s->k[q] * xi;
        const double complex value = s->amplitude[q] *
                                     ht_complex(cos(phase), sin(phase)) /
                                     spline_symbol(s->k[q] * surface->apart);
        const double complex both =
            ht_complex(1, terms > 1 ? 1 - s->z[q] / 12 : 1);
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

static enum ht_err fill_steps(struct ht_fd_incidence *in,
                              const struct ht_problem *problem,
                              const struct ht_shot *shot, int bits) {
    const int columns = in->surface.columns;
    struct spectrum spectrum = {.bits = 0};
    double complex *work = NULL;
    enum ht_err err = make_spectrum(in, problem, shot, bits, &spectrum);
    if (err == HT_OK) err = HT_ALLOC(work, (int64_t)1 << bits);
    for (int c = 0; err == HT_OK && c < columns; c++)
        fill_column(in, &spectrum, problem->stages, c, work);
    free(work);
    free_spectrum(&spectrum);
    for (int64_t l = 0; err == HT_OK && l < in->steps; l++)
        for (int c = 0; c < columns; c++)
            in->largest[l] =
                fmax(in->largest[l], fmax(fabs(in->stage[l * columns + c]),
                                          fabs(in->update[l * columns + c])));
    return err;
}

bool ht_fd_incidence_row(const struct ht_fd_incidence *in, int64_t step,
                         double dt, double *stage, double *update,
                         double *norm) {
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

/* ---- counts ---- */

/* Steps until the wave has left: signal, crossing, dispersion. */
static int64_t steps_of(const struct ht_problem *problem,
                        const struct ht_shot *shot) {
    const double end = ht_signal_traits(shot->signal).end + shot->delay;
    return (int64_t)ceil((end + 1.25 * shot->crossing) / problem->dt) + 32;
}

enum ht_err ht_fd_incidence_count(const struct ht_problem *problem,
                                  const struct ht_shot *shot, int64_t planes,
                                  struct ht_fd_incidence_most *out) {
    struct ht_fd_surface s;
    TRY(ht_fd_surface_make(problem, shot, &s));
    *out = (struct ht_fd_incidence_most){.columns = s.columns};
    out->host =
        steps_of(problem, shot) * s.columns * 2 * (int64_t)sizeof(double);
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

/* ---- making ---- */

/* At least |C u| where |u| is at most 1, in the norm of the energy; twice, as
 * the stage adds at most 12 times its twelfth. Faces add up per axis. */
static double size_of(const struct ht_fd_surface *s) {
    double sum = 0, volume = 1, all = 1;
    for (int k = 0; k < 3 && k < s->grid->dims; k++) {
        volume *= s->grid->h[k];
        all *= (double)(s->upper[k] - s->lower[k] + 1);
    }
    for (int k = 0; k < 3 && k < s->grid->dims; k++) {
        const double face = all / (double)(s->upper[k] - s->lower[k] + 1);
        double square = 0;
        for (int layer = 0; s->closed[k] && layer < s->reach; layer++) {
            double row = 0;
            for (int j = layer + 1; j <= s->reach; j++) row += fabs(s->arm[j]);
            square += 4 * face * row * row; /* two faces of two sides */
        }
        sum += s->rate[k] * sqrt(square * volume / s->modulus);
    }
    return 2 * sum;
}

static enum ht_err make(const struct ht_problem *problem,
                        const struct ht_shot *shot,
                        struct ht_fd_incidence *in) {
    int bits = 4;
    TRY(ht_fd_surface_make(problem, shot, &in->surface));
    in->weights = ht_fd_weights(problem->fd.order);
    in->steps = steps_of(problem, shot);
    in->size = size_of(&in->surface);
    while ((int64_t)1 << bits < in->steps + in->steps / 4) bits++;
    TRY(HT_ALLOC(in->stage, in->steps * in->surface.columns));
    TRY(HT_ALLOC(in->update, in->steps * in->surface.columns));
    TRY(HT_ALLOC(in->values, in->surface.columns));
    TRY(HT_ALLOC(in->largest, in->steps));
    return fill_steps(in, problem, shot, bits);
}

enum ht_err ht_fd_incidence_create(const struct ht_problem *problem,
                                   const struct ht_shot *shot,
                                   struct ht_fd_incidence **out) {
    struct ht_fd_incidence *in = NULL;
    *out = NULL;
    TRY(HT_ALLOC(in, 1));
    const enum ht_err err = make(problem, shot, in);
    if (err != HT_OK) {
        ht_fd_incidence_destroy(in);
        return err;
    }
    *out = in;
    return HT_OK;
}

void ht_fd_incidence_destroy(struct ht_fd_incidence *in) {
    if (in == NULL) return;
    free(in->stage);
    free(in->update);
    free(in->values);
    free(in->largest);
    free(in);
}
