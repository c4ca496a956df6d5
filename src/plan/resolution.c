/* Grids for an error. Cells of size 1, speed 1. */
#include "htwave/stepper.h"
#include "src/hermite/bloch.h"

/* The default step of a run with all stages. */
static double hermite_cfl(const struct ht_carrier *c) {
    const int full = ht_scheme_full_stages(c->scheme, c->eq, c->order);
    return fmin(0.9, c->scheme->usual_part * ht_scheme_cfl(c->scheme, c->eq, c->order, full));
}

/* Of a wave along an axis, or along an edge: a problem in one or two dimensions, with so many equal
 * steps. */
static HT_ERR error_of_steps(const struct ht_carrier *c, int axes, double cells, double dt,
                             double steps, double *out) {
    const struct ht_grid grid = {.order = c->order, .h = {1}};
    struct ht_problem problem = {.eq = c->eq,
                                 .grid = &grid,
                                 .scheme = c->scheme,
                                 .stages = ht_scheme_full_stages(c->scheme, c->eq, c->order),
                                 .dt = dt};
    for (int m = 0; m < HT_MAX_MATERIALS; m++) problem.uniform[m] = 1;
    return ht_bloch_error(&problem, axes, cells, steps, out);
}

/* A run that ends at a given time takes steps that are a little shorter, by which errors of a few
 * steps differ by some 20 %: the larger of both. */
static HT_ERR hermite_error(const struct ht_carrier *c, int axes, double cells, double wavelengths,
                            double *out) {
    const double cfl = hermite_cfl(c), path = wavelengths * cells;
    const double steps = fmax(1, ceil(path / cfl));
    double longer, shorter;
    TRY(error_of_steps(c, axes, cells, cfl, steps, &longer));
    TRY(error_of_steps(c, axes, cells, path / steps, steps, &shorter));
    *out = fmax(longer, shorter);
    return HT_OK;
}

/* A grid that is fine enough, and one a little finer, too: not a zero. */
static HT_ERR start_fine(const struct ht_carrier *c, double wavelengths, double error,
                         double *cells) {
    enum { GRIDS = 10 };
    const double safe = 4, coarsest = 2, finer = 1.5, beside = 1.2;
    for (int i = 0; i < GRIDS; i++) {
        double here, next;
        *cells = coarsest * pow(finer, i);
        TRY(hermite_error(c, 1, *cells, wavelengths, &here));
        TRY(hermite_error(c, 1, *cells * beside, wavelengths, &next));
        if (here <= error / safe && next <= error / safe) return HT_OK;
    }
    *cells = 0;
    return HT_OK;
}

/* Where the error along an axis is near a zero waves along edges err more: on this grid and on
 * somewhat finer ones. */
static HT_ERR meet_edges(const struct ht_carrier *c, double wavelengths, double error,
                         struct ht_resolution *out) {
    enum { BESIDE = 4 }; /* further grids without a worse one: 12 % */
    const double finer = 1.03;
    double cells = out->cells, found = 0, now = 0;
    int good = 0;
    while (good < BESIDE && cells < HT_RESOLUTION_MOST) {
        TRY(hermite_error(c, 2, cells, wavelengths, &now));
        good = now <= error ? good + 1 : 0;
        if (good == 1) found = cells;
        cells *= finer;
    }
    if (found > out->cells) TRY(hermite_error(c, 2, found, wavelengths, &out->error));
    out->cells = good > 0 ? found : 0;
    return HT_OK;
}

static HT_ERR find_hermite(const struct ht_carrier *c, double wavelengths, double error,
                           struct ht_resolution *out) {
    enum { GRIDS = 256 };
    const double coarsest = 1.25, coarser = 1 / 1.02;
    double cells, now = 0;
    TRY(start_fine(c, wavelengths, error, &cells));
    out->cfl = hermite_cfl(c);
    for (int i = 0; i < GRIDS && cells >= coarsest; i++) {
        TRY(hermite_error(c, 1, cells, wavelengths, &now));
        if (now > error) break;
        out->cells = cells;
        out->error = now;
        cells *= coarser;
    }
    if (c->scheme->dissipates || c->eq->dims == 1 || out->cells == 0) return HT_OK;
    return meet_edges(c, wavelengths, error, out);
}

enum { WAYS = 3, SPEEDS = 2 };

/* (omega h/c)^2 of the operator for waves along each way, at each speed. */
struct symbols {
    double theta[SPEEDS]; /* radians per cell */
    double square[SPEEDS][WAYS];
};

/* As ht_fd_error, of which these are the waves; the worst. */
static double fd_error(const struct ht_carrier *c, const struct symbols *s, double cfl,
                       double wavelengths) {
    double worst = 0;
    for (int i = 0; i < (c->contrast > 1 ? SPEEDS : 1) * c->eq->dims; i++) {
        const int speed = i / c->eq->dims, way = i % c->eq->dims;
        const double nu = speed ? cfl : cfl / c->contrast;
        const double x = nu * nu * s->square[speed][way];
        const double turn = ht_fd_turn(c->stages, x);
        if (isinf(turn)) return INFINITY;
        const double shift = (c->undispersed ? sqrt(x) : turn) / (s->theta[speed] * nu) - 1;
        worst = fmax(worst, ht_fd_phase_error(2 * HT_PI * wavelengths * shift));
    }
    return worst;
}

/* The longest step of a grid, by 3 %, with which it is cheaper than *best, in updates, and reaches
 * the error; *best and *out are of the cheapest so far. */
static void shorten(const struct ht_carrier *c, double cells, double largest, double wavelengths,
                    double error, double *best, struct ht_resolution *out) {
    enum { STEPS = 300 }; /* to 1e-4 of the largest */
    const double shorter = 0.97, volume = pow(cells, c->eq->dims + 1);
    const struct ht_fd_weights w = ht_fd_weights(c->order);
    struct symbols symbols = {.theta = {0}};
    for (int s = 0; s < SPEEDS; s++) {
        symbols.theta[s] = 2 * HT_PI / (cells * (s ? c->contrast : 1));
        for (int axes = 1; axes <= c->eq->dims; axes++) {
            const double theta = symbols.theta[s] / sqrt(axes);
            symbols.square[s][axes - 1] = axes * ht_fd_symbol(&w, c->density, theta);
        }
    }
    /* of a step without an error in time, nearly */
    if (fd_error(c, &symbols, 1e-4, wavelengths) > 2 * error) return;
    for (int i = 0; i < STEPS; i++) {
        const double cfl = largest * pow(shorter, i);
        const double now = fd_error(c, &symbols, cfl, wavelengths);
        if (volume / cfl >= *best) return;
        if (now > error) continue;
        *best = volume / cfl;
        *out = (struct ht_resolution){cells, cfl, now};
        return;
    }
}

HT_ERR ht_resolution_find(const struct ht_carrier *carrier, double wavelengths, double error,
                          struct ht_resolution *out) {
    *out = (struct ht_resolution){.cells = 0};
    if (carrier->stages == 0) return find_hermite(carrier, wavelengths, error, out);
    /* The fewest updates, cells^(d+1)/cfl. */
    enum { GRIDS = 400 };
    const struct ht_fd_weights w = ht_fd_weights(carrier->order);
    const double coarsest = 2.1, finer = 1.01;
    const double largest = carrier->scheme->usual_part *
                           ht_fd_stable(&w, carrier->density, carrier->stages, carrier->eq->dims);
    double best = INFINITY;
    for (int i = 0; i < GRIDS; i++) {
        const double cells = coarsest * pow(finer, i);
        if (cells > HT_RESOLUTION_MOST) break;
        if (pow(cells, carrier->eq->dims + 1) / largest >= best) break;
        shorten(carrier, cells, largest, wavelengths, error, &best, out);
    }
    return HT_OK;
}

double ht_resolution_rounding(const struct ht_carrier *carrier, bool fp64,
                              const struct ht_resolution *grid, double wavelengths) {
    const double unit = (fp64 ? DBL_EPSILON : FLT_EPSILON) / 2;
    const struct ht_rounding *row = ht_scheme_rounding(carrier->scheme, carrier->eq);
    const double w = fmax(wavelengths, 1);
    if (!(row->power > 0)) return 5 * unit * sqrt(w * grid->cells * carrier->contrast / grid->cfl);
    const double wide = fp64 && row->wide > 0 ? row->wide : 1;
    return unit * row->factor[carrier->order - 1] * wide * pow(w, row->power) * sqrt(row->above);
}

double ht_resolution_updates(const struct ht_carrier *carrier, const struct ht_resolution *grid) {
    return 2 * pow(grid->cells, carrier->eq->dims + 1) * carrier->contrast / grid->cfl;
}
