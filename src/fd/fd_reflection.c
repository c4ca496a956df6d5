/* What matched layers of finite differences send back of a plane wave, exactly
 * but for the medium, which is uniform: the scheme's own equations at the nodes
 * of a line along the normal, with unknown u in the layer and near it, and
 * beyond that the wave that comes and the one that goes.
 */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "fd.h"

/* Few enough for the stack: a matrix of 256 KiB. */
enum { MOST_CELLS = 116, MOST_UNKNOWN = MOST_CELLS + HT_FD_RADIUS + 4 };

struct line {
    struct ht_fd_weights wide, narrow;
    bool density;
    int cells;
    double nu2, across; /* (c dt/h)^2; minus the other axes' symbol */
    double complex z;   /* of a step */
    const double *profile;
};

/* 1/s of cl/fd_layers.cl, from four numbers of the profile. */
static double complex filter(const struct line *l, const double *p) {
    return 1 + (p[0] + p[1] / l->z) / (1 - p[2] / l->z);
}

/* u at a node, odd at the wall. */
static double complex at(const double complex *u, int node) {
    return node < 0 ? -u[-node] : u[node];
}

static double complex slope(const struct ht_fd_weights *w,
                            const double complex *u, int point) {
    double complex sum = 0;
    for (int j = 0; j < w->radius; j++)
        sum += w->first[j] * (at(u, point + j + 1) - at(u, point - j));
    return sum;
}

/* (1/s - 1) D u of a half point, even at the wall. */
static double complex damped(const struct line *l, const double complex *u,
                             int point) {
    const int inside = point < 0 ? -1 - point : point;
    if (inside >= l->cells) return 0;
    const double *p = l->profile + (long)inside * HT_FD_PROFILES;
    return (filter(l, p) - 1) * slope(&l->narrow, u, inside);
}

/* What is zero at a node. */
static double complex rest(const struct line *l, const double complex *u,
                           int i) {
    double complex sum = 0;
    for (int j = 0; j < l->narrow.radius; j++)
        sum += l->narrow.first[j] *
               (damped(l, u, i + j) - damped(l, u, i - 1 - j));
    for (int j = 0; l->density && j < l->wide.radius; j++)
        sum += l->wide.first[j] *
               (slope(&l->wide, u, i + j) - slope(&l->wide, u, i - 1 - j));
    for (int j = 1; !l->density && j <= l->wide.radius; j++)
        sum += l->wide.second[j] * (at(u, i + j) + at(u, i - j) - 2 * u[i]);
    const double *p = l->profile + (long)i * HT_FD_PROFILES;
    const double complex back = i < l->cells ? filter(l, p + 4) : 1;
    const double complex gain = i < l->cells ? 1 / p[8] : 1;
    return l->nu2 * (back * sum - l->across * u[i]) -
           (gain - 1 / l->z) * (l->z - 1) * u[i];
}

/* a x = b by elimination; x in b. */
static void solve(int n, double complex *a, double complex *b) {
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (cabs(a[i * n + k]) > cabs(a[best * n + k])) best = i;
        for (int j = 0; j <= n && best != k; j++) {
            double complex *x = j < n ? &a[k * n + j] : &b[k];
            double complex *y = j < n ? &a[best * n + j] : &b[best];
            const double complex swap = *x;
            *x = *y;
            *y = swap;
        }
        for (int i = k + 1; i < n; i++) {
            const double complex f = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; j++) a[i * n + j] -= f * a[k * n + j];
            b[i] -= f * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) b[k] -= a[k * n + j] * b[j];
        b[k] /= a[k * n + k];
    }
}

/* Nodes 1 .. n - 1 are unknown, as is what goes; nodes from n on are known. */
static double returned(const struct line *l, int n, double k1) {
    const int reach = 2 * l->wide.radius, all = n + reach + 1;
    double complex u[MOST_UNKNOWN + 2 * HT_FD_RADIUS + 1];
    double complex a[MOST_UNKNOWN * MOST_UNKNOWN], b[MOST_UNKNOWN];
    for (int j = 0; j <= n; j++) {
        memset(u, 0, sizeof u);
        if (j < n - 1) u[j + 1] = 1;
        for (int m = n; m < all && j >= n - 1; m++)
            u[m] = cexp((j == n ? I : -I) * k1 * m);
        for (int i = 0; i < n; i++) {
            const double complex r = rest(l, u, i + 1);
            *(j < n ? &a[i * n + j] : &b[i]) = j < n ? r : -r;
        }
    }
    solve(n, a, b);
    return cabs(b[n - 1]);
}

/* A thicker layer than MOST_CELLS reflects no more than one of so many with the
 * same R, which is steeper. */
double ht_fd_layer_returned(const struct ht_problem *problem, int axis,
                            int side, double frequency, double cosine) {
    struct ht_layers layers = *problem->layers;
    struct ht_layer *layer = &layers.side[axis][side];
    struct ht_problem thin = *problem;
    const double part = (double)MOST_CELLS / (double)layer->cells;
    thin.layers = &layers;
    if (part < 1) {
        layer->cells = MOST_CELLS;
        layer->length *= part;
        layer->most /= part;
    }
    const struct ht_fd_spec spec = {.radius = problem->fd.order / 2,
                                    .density = problem->fd.density};
    const double h = layer->length / (double)layer->cells;
    const double k = 2 * acos(-1.0) * frequency * h / layer->speed;
    const double k1 = k * cosine, k2 = k * sqrt(1 - cosine * cosine);
    const double nu = layer->speed * problem->dt / h;
    struct line l = {.wide = ht_fd_weights(problem->fd.order),
                     .narrow = ht_fd_layer_weights(&spec),
                     .density = spec.density,
                     .cells = (int)layer->cells,
                     .nu2 = nu * nu};
    const double along = spec.density ? pow(ht_fd_first_symbol(&l.wide, k1), 2)
                                      : ht_fd_second_symbol(&l.wide, k1);
    l.across = spec.density ? pow(ht_fd_first_symbol(&l.wide, k2), 2)
                            : ht_fd_second_symbol(&l.wide, k2);
    const double sine = nu * sqrt(along + l.across) / 2;
    const int n = l.cells + l.wide.radius + 2;
    double profile[(MOST_UNKNOWN + 1) * HT_FD_PROFILES] = {0};
    if (!(k > 0) || k1 >= 3 || sine >= 1) return 1;
    l.z = cexp(2 * I * asin(sine));
    ht_fd_layer_profile(&thin, axis, side, profile);
    l.profile = profile;
    return returned(&l, n, k1);
}
