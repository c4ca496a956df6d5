/* Plane waves that come from outside (docs/developers/differences.md): the sparse columns of C u_i,
 * C = chi L
 * - L chi with chi = 1 inside of a box, in which a place whose star crosses the box's surface takes
 * the part of it on the other side, with + inside and - outside; and the table of the coefficients
 * of u_i, a spline in xi = direction x, half a spacing apart, from the spectrum of the signal and
 * the scheme's own wavenumbers. */
#include <complex.h>

#include "fd.h"

/* ---- the surface ---- */

/* Second differences, where density varies or in a pair staggered first ones, once or twice. */
static void set_star(const struct ht_problem *problem, struct ht_fd_star *out) {
    const struct ht_fd_weights w = ht_fd_weights(problem->fd.order);
    const bool pair = problem->fd.pair != HT_PAIR_NONE, twice = problem->fd.density && !pair;
    double arm[2 * HT_FD_RADIUS] = {0};
    for (int i = 0; i < w.radius; i++)
        for (int j = 0; j < w.radius; j++) {
            arm[i + j + 1] += w.first[i] * w.first[j];
            arm[abs(i - j)] -= w.first[i] * w.first[j];
        }
    out->below = pair ? -1 : 1;
    out->count = twice ? 2 * w.radius - 1 : w.radius;
    for (int j = 0; j < out->count; j++) {
        out->offset[j] = pair ? 2 * j + 1 : 2 * (j + 1);
        out->weight[j] = pair ? w.first[j] : twice ? arm[j + 1] : w.second[j + 1];
    }
}

static int reach_of(const struct ht_fd_surface *s) {
    return s->star.offset[s->star.count - 1];
}

/* The whole axis where the box is the grid's. */
static void set_axis(const struct ht_shot *shot, int axis, struct ht_fd_surface *out) {
    const struct ht_grid *grid = out->grid;
    const double h = grid->h[axis] / 2, close = 2e-9;
    const double low = (shot->first[axis] - grid->lower[axis]) / h;
    const double high = (shot->last[axis] - grid->lower[axis]) / h;
    out->upper[axis] = 2 * ht_grid_nodes(grid, HT_PRIMARY, axis) - 1;
    out->closed[axis] = low > close || high < 2 * (double)grid->cells[axis] - close;
    if (!out->closed[axis]) return;
    out->lower[axis] = (int64_t)ceil(low - close);
    out->upper[axis] = (int64_t)floor(high + close);
}

static HT_ERR surface_make(const struct ht_problem *problem, const struct ht_shot *shot,
                           struct ht_fd_surface *out) {
    *out = (struct ht_fd_surface){.grid = problem->grid, .shot = shot};
    TRY(ht_medium_point(problem->shots->medium, shot->first, out->material));
    set_star(problem, &out->star);
    for (int k = 0; k < problem->grid->dims; k++) set_axis(shot, k, out);
    /* Columns for all places that the star reads across the surface; of a wave along an axis they
     * are places of the grid. */
    double least = 0, most = 0, narrowest = INFINITY;
    for (int k = 0; k < 3 && k < out->grid->dims; k++) {
        const double h = out->grid->h[k], n = shot->direction[k];
        const double low = out->grid->lower[k] + h / 2 * (double)(out->lower[k] - reach_of(out));
        const double high = out->grid->lower[k] + h / 2 * (double)(out->upper[k] + reach_of(out));
        if (n != 0) narrowest = fmin(narrowest, h);
        least += fmin(n * low, n * high);
        most += fmax(n * low, n * high);
    }
    out->apart = narrowest / 2;
    out->first = least - 0.5 * HT_FD_SPLINE * out->apart;
    out->columns = (int)ceil((most - out->first) / out->apart) + HT_FD_SPLINE / 2 + 1;
    return HT_OK;
}

static bool holds(const struct ht_fd_surface *s, int axis, int64_t place) {
    return place >= s->lower[axis] && place <= s->upper[axis];
}

/* Whether a star about a place, `reach` wide, crosses a face normal to an axis. */
static bool crosses(const struct ht_fd_surface *s, const int64_t place[3], int axis, int reach) {
    bool beside = s->closed[axis];
    for (int k = 0; k < 3 && k < s->grid->dims; k++)
        beside = beside && (k == axis || holds(s, k, place[k]));
    const int64_t low = place[axis] - s->lower[axis];
    const int64_t high = s->upper[axis] - place[axis];
    return beside && low >= -reach && high >= -reach && (low < reach || high < reach);
}

/* ---- rules ---- */

/* The star must not leave the grid, nor meet layers or rows beside a closed side. */
static HT_ERR check_faces(const struct ht_plan *plan, int group, int axis,
                          const struct ht_fd_surface *s) {
    const int reach = (reach_of(s) + 1) / 2;
    const struct ht_grid *grid = s->grid;
    const double h = grid->h[axis], lower = grid->lower[axis], close = 1e-9;
    const int64_t inside[2] = {s->lower[axis] / 2 + s->lower[axis] % 2, s->upper[axis] / 2};
    REFUSE(inside[0] > inside[1], plan->params, HT_KEY("sources.%d.to", group),
           "no point of the grid is inside the box along x%d", axis + 1);
    for (int side = 0; side < 2; side++) {
        /* the first or the last node that it may have inside */
        const double end = (ht_layers_end(grid, axis, side) - lower) / h;
        const int64_t margin = reach + (ht_grid_closed(grid, axis, side) ? HT_FD_CLOSED : 0);
        const int64_t last = ht_grid_nodes(grid, HT_PRIMARY, axis) - 1;
        const int64_t most = side ? ht_least((int64_t)floor(end + close), last) - margin
                                  : (int64_t)ceil(end - close) + margin;
        REFUSE(side ? inside[1] > most : inside[0] < most, plan->params,
               HT_KEY("sources.%d.%s", group, side ? "to" : "from"),
               "the stencil reaches over %d points: x%d must be %s %.6g, or that of the grid's "
               "side on both sides",
               reach, axis + 1, side ? "below" : "above",
               lower + h * (double)(most + (side ? 1 : -1)));
    }
    return HT_OK;
}

/* The fields that the wave has, of any frequency: differences turn its direction a little, but
 * where that has no part along an axis. */
static unsigned fields_of(const struct ht_equations *eq, const struct ht_fd_surface *s) {
    static const double turn[2][3] = {{1, 1, 1}, {0.9, 1, 1.1}};
    unsigned fields = 0;
    for (int i = 0; i < 2; i++) {
        double direction[3], field[HT_MAX_FIELDS], most = 0;
        for (int k = 0; k < 3; k++) direction[k] = turn[i][k] * s->shot->direction[k];
        ht_shot_fields(eq, s->shot, s->material, direction, field);
        for (int f = 0; f < eq->nfields; f++) most = fmax(most, fabs(field[f]));
        for (int f = 0; f < eq->nfields; f++)
            if (fabs(field[f]) > 1e-12 * most) fields |= 1u << f;
    }
    return fields;
}

/* Whether a mirror normal to the axis lets the wave pass along it: its fields are even. */
static bool passes(const struct ht_equations *eq, const struct ht_fd_surface *s, int axis,
                   int wall) {
    const unsigned fields = fields_of(eq, s);
    HT_EACH_BIT(f, wall != 0 ? fields : 0)
        if (ht_wall_sign(eq, f, axis, wall) <= 0) return false;
    return true;
}

/* Without faces the sides must let the wave pass along them. */
static HT_ERR check_sides(const struct ht_plan *plan, int group, int axis,
                          const struct ht_fd_surface *s) {
    const struct ht_wall_kind *wall = plan->eq.system->wall;
    bool passed = fabs(s->shot->direction[axis]) <= 1e-12;
    char sides[96] = "";
    for (int side = 0; side < 2; side++)
        passed = passed && passes(&plan->eq, s, axis, s->grid->wall[axis][side]);
    if (passed) return HT_OK;
    for (int i = 0; i < plan->eq.system->nwalls; i++)
        if (passes(&plan->eq, s, axis, wall[i].factor))
            snprintf(sides + strlen(sides), sizeof sides - strlen(sides), "%s or ", wall[i].name);
    return ht_params_error(plan->params, HT_KEY("sources.%d.direction", group),
                           "the box is that of the grid along x%d: the wave must be normal to x%d, "
                           "and its sides %speriodic",
                           axis + 1, axis + 1, sides);
}

static HT_ERR check_box(const struct ht_plan *plan, int group, const struct ht_fd_surface *s) {
    bool closed = false;
    for (int k = 0; k < 3 && k < s->grid->dims; k++) {
        TRY(s->closed[k] ? check_faces(plan, group, k, s) : check_sides(plan, group, k, s));
        closed = closed || s->closed[k];
    }
    if (closed) return HT_OK;
    return ht_params_error(plan->params, HT_KEY("sources.%d.from", group),
                           "the box is the whole grid: the wave cannot enter");
}

/* What of the medium must be as it is at the corner `from`. */
struct wanted {
    unsigned parity; /* of its places */
    const char *name;
    double value;
    bool loss;
};

static HT_ERR refuse_medium(const struct ht_plan *plan, int group, const struct ht_fd_surface *s,
                            const struct wanted *of, double value, const double x[3]) {
    const char *key = HT_KEY("sources.%d", group);
    if (of->loss)
        return ht_params_error(plan->params, key,
                               "the medium loses energy (%s) at the surface of its box, near %s",
                               plan->medium->loss_key, HT_PLACED(&plan->grid, x));
    return ht_params_error(plan->params, key,
                           "the medium varies at the surface of its box: %s is %.9g near %s, "
                           "%.9g at from; jumps must be %d spacings from it",
                           of->name, value, HT_PLACED(&plan->grid, x), of->value,
                           (reach_of(s) + 1) / 2 + HT_FIT_REACH + 1);
}

/* On a plane of the grid. What couples fields where faces are oblique is a spacing wider. */
static HT_ERR check_plane(const struct ht_plan *plan, int group, const struct ht_fd_surface *s,
                          const struct wanted *of, int64_t plane, const double *value) {
    const double close = 1e-9;
    const int reach = reach_of(s) + (plan->problem.fd.pair != HT_PAIR_NONE ? 2 : 0);
    const int64_t n1 = ht_grid_nodes(s->grid, HT_PRIMARY, 0);
    for (int64_t n = 0; n < ht_grid_plane(s->grid, HT_PRIMARY); n++) {
        const int64_t m[3] = {n % n1, n / n1, plane};
        int64_t place[3] = {0};
        double x[3];
        bool near = false;
        if (fabs(value[n] - of->value) <= close * of->value) continue;
        for (int k = 0; k < 3; k++) {
            place[k] = 2 * m[k] + (of->parity >> k & 1u);
            x[k] = ht_grid_x(&plan->grid, HT_PRIMARY, k, m[k]);
        }
        for (int k = 0; k < 3 && k < s->grid->dims; k++) near = near || crosses(s, place, k, reach);
        if (near) return refuse_medium(plan, group, s, of, value[n], x);
    }
    return HT_OK;
}

static HT_ERR check_medium(const struct ht_plan *plan, int group, const struct ht_fd_surface *s) {
    const struct ht_fd_problem *fd = &plan->problem.fd;
    struct ht_pair pair = ht_problem_second_order(&plan->problem);
    struct ht_range own = ht_grid_own(s->grid, HT_PRIMARY);
    unsigned losses = 0;
    if (fd->pair != HT_PAIR_NONE) ht_problem_pair(&plan->problem, &pair);
    for (int l = 0; l < pair.nlosses; l++) {
        losses |= 1u << pair.loss[l].strength;
        if (pair.loss[l].bulk >= 0) losses |= 1u << pair.loss[l].bulk;
    }
    if (fd->fill == NULL && losses != 0)
        return refuse_medium(plan, group, s, &(const struct wanted){.loss = true}, 1,
                             s->shot->first);
    if (fd->fill == NULL) return HT_OK;
    if (s->grid->dims > 2) {
        own.first = ht_most(own.first, s->lower[2] / 2 - reach_of(s));
        own.last = ht_least(own.last, s->upper[2] / 2 + reach_of(s) + 1);
    }
    /* Averages of neighbours are made together. */
    const int64_t block = 16, nodes = ht_grid_plane(s->grid, HT_PRIMARY);
    HT_ARRAY(double, value, (block * nodes));
    for (int64_t m = own.first; m < own.last; m += block)
        HT_EACH_AT(c, const struct ht_pair_coefficient, of, pair.coefficient, pair.ncoefficients) {
            const int64_t last = ht_least(m + block, own.last);
            const bool loss = losses >> c & 1u;
            if (of->material < 0 || (of->loss && !loss)) continue;
            const struct wanted wanted = {.parity = of->parity,
                                          .name = plan->eq.system->material[of->material].name,
                                          .value = loss ? 0 : s->material[of->material],
                                          .loss = loss};
            TRY(fd->fill(fd->medium, c, m, last, value));
            for (int64_t plane = m; plane < last; plane++)
                TRY(check_plane(plan, group, s, &wanted, plane, value + (plane - m) * nodes));
        }
    return HT_OK;
}

HT_ERR ht_fd_surface_check(const struct ht_plan *plan) {
    for (int i = 0; i < plan->shots->count; i++) {
        struct ht_fd_surface surface;
        if (!plan->shots->shot[i].type->outside) continue;
        TRY(surface_make(&plan->problem, &plan->shots->shot[i], &surface));
        TRY(check_box(plan, i + 1, &surface));
        TRY(check_medium(plan, i + 1, &surface));
    }
    return HT_OK;
}

/* ---- entries ---- */

/* A spline's pieces, of integral 1, at f, f + 1 .. with 0 <= f < 1. */
static void spline(double f, double piece[HT_FD_SPLINE]) {
    memset(piece, 0, HT_FD_SPLINE * sizeof *piece);
    piece[0] = 1;
    for (int d = 1; d < HT_FD_SPLINE; d++)
        for (int i = d; i >= 0; i--)
            piece[i] = ((f + i) * piece[i] + (i > 0 ? (d + 1 - f - i) * piece[i - 1] : 0)) / d;
}

/* values += factor u_i(xi). */
static void add_wave(const struct ht_fd_incidence *in, double xi, double factor,
                     struct ht_range *touched) {
    const double at = (xi - in->surface.first) / in->surface.apart;
    const int64_t below = (int64_t)floor(at), first = below - HT_FD_SPLINE / 2 + 1;
    double piece[HT_FD_SPLINE];
    spline(at - (double)below, piece);
    for (int i = 0; i < HT_FD_SPLINE; i++)
        in->values[first + i] += factor * piece[HT_FD_SPLINE - 1 - i];
    touched->first = ht_least(touched->first, first);
    touched->last = ht_most(touched->last, first + HT_FD_SPLINE);
}

/* values += C u_i at a place, of the star along one axis. */
static void add_star(const struct ht_fd_incidence *in, const int64_t place[3], int axis, double xi,
                     double factor, struct ht_range *touched) {
    const struct ht_fd_surface *s = &in->surface;
    const bool inside = holds(s, axis, place[axis]);
    const double step = s->shot->direction[axis] * s->grid->h[axis] / 2;
    for (int j = 0; j < s->star.count; j++) {
        const int apart = s->star.offset[j];
        const double weight = (inside ? 1 : -1) * factor * s->star.weight[j];
        if (holds(s, axis, place[axis] + apart) != inside)
            add_wave(in, xi + apart * step, weight, touched);
        if (holds(s, axis, place[axis] - apart) != inside)
            add_wave(in, xi - apart * step, s->star.below * weight, touched);
    }
}

static HT_ERR add_place(const struct ht_fd_incidence *in, const int64_t place[3], int64_t node,
                        int count, const struct ht_fd_crossing *crossing, int column,
                        struct ht_columns *out) {
    const struct ht_fd_surface *s = &in->surface;
    struct ht_range touched = {.first = s->columns};
    double xi = 0;
    for (int k = 0; k < 3 && k < s->grid->dims; k++)
        xi += s->shot->direction[k] * (s->grid->lower[k] + s->grid->h[k] / 2 * (double)place[k]);
    for (int i = 0; i < count; i++)
        if (crosses(s, place, crossing[i].axis, reach_of(s)))
            add_star(in, place, crossing[i].axis, xi, crossing[i].factor, &touched);
    for (int64_t i = touched.first; i < touched.last; i++) {
        const struct ht_column_entry entry = {
            .at = node, .column = column + (int)i, .weight = in->values[i]};
        in->values[i] = 0;
        if (entry.weight != 0) TRY(ht_columns_add(out, entry));
    }
    return HT_OK;
}

HT_ERR ht_fd_incidence_entries(const struct ht_fd_incidence *in, unsigned parity, int count,
                               const struct ht_fd_crossing *crossing, int64_t plane, int column,
                               struct ht_columns *out) {
    const struct ht_fd_surface *s = &in->surface;
    const int64_t row = ht_grid_nodes(s->grid, HT_PRIMARY, 0);
    int64_t begin[3], end[3], place[3];
    for (int k = 0; k < 3; k++) {
        /* Nodes along an axis that the surface may concern. */
        const int64_t nodes = ht_grid_nodes(s->grid, HT_PRIMARY, k);
        begin[k] = ht_most(0, (s->lower[k] - reach_of(s)) / 2 - 1);
        end[k] = ht_least(nodes, (s->upper[k] + reach_of(s)) / 2 + 1);
    }
    if (plane < begin[2] || plane >= end[2]) return HT_OK;
    place[2] = 2 * plane + (parity >> 2 & 1u);
    for (int64_t m2 = begin[1]; m2 < end[1]; m2++)
        for (int64_t m1 = begin[0]; m1 < end[0]; m1++) {
            place[0] = 2 * m1 + (parity & 1u);
            place[1] = 2 * m2 + (parity >> 1 & 1u);
            TRY(add_place(in, place, plane * ht_grid_plane(s->grid, HT_PRIMARY) + m2 * row + m1,
                          count, crossing, column, out));
        }
    return HT_OK;
}

/* ---- the wave ---- */

/* dt^2 times minus the symbol of L for wavenumber k in the direction. */
static double symbol(const struct ht_fd_incidence *in, const struct ht_problem *problem, double k) {
    const struct ht_fd_surface *s = &in->surface;
    const bool staggered = problem->fd.pair != HT_PAIR_NONE || problem->fd.density;
    double sum = 0;
    for (int axis = 0; axis < s->grid->dims; axis++) {
        const double h = s->grid->h[axis], theta = fabs(k * s->shot->direction[axis] * h);
        sum += ht_fd_symbol(&in->weights, staggered, theta) / (h * h);
    }
    return pow(problem->dt * s->shot->speed, 2) * sum;
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
        if (s->shot->direction[axis] != 0)
            high = fmin(high, HT_PI / (fabs(s->shot->direction[axis]) * s->grid->h[axis]));
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

/* Amplitudes at the corner that the wave reaches first; of each table b, with the phase by which it
 * is later, over the spline's symbol. */
struct spectrum {
    int bits;
    double complex *amplitude, *part[HT_MAX_FIELDS];
    double *k; /* of waves that are carried; others: amplitude 0 */
};

/* Of the spline with coefficients exp(i theta n), its value at column 0. */
static double spline_symbol(double theta) {
    const int middle = HT_FD_SPLINE / 2;
    double piece[HT_FD_SPLINE], sum = 0;
    spline(0, piece);
    for (int i = 1; i < HT_FD_SPLINE; i++) sum += piece[i] * cos((i - middle) * theta);
    return sum;
}

/* Of waves with number k in the direction: differences act as (2/h) sum s_j sin((j + 1/2) k h). */
static void find_fields(const struct ht_fd_incidence *in, const struct ht_problem *problem,
                        double k, double *field) {
    const struct ht_fd_surface *s = &in->surface;
    double direction[3] = {s->shot->direction[0], s->shot->direction[1], s->shot->direction[2]};
    for (int axis = 0; axis < 3 && axis < s->grid->dims && k > 0; axis++) {
        const double h = s->grid->h[axis];
        direction[axis] = ht_fd_first_symbol(&in->weights, k * direction[axis] * h) / h;
    }
    ht_shot_fields(problem->eq, s->shot, s->material, direction, field);
}

/* Of frequency number q. */
static void set_parts(const struct ht_fd_incidence *in, const struct ht_problem *problem,
                      const struct ht_pair *pair, int64_t q, double omega, double z,
                      struct spectrum *out) {
    const double over = 1 / spline_symbol(out->k[q] * in->surface.apart);
    double field[HT_MAX_FIELDS];
    if (problem->fd.pair == HT_PAIR_NONE) {
        out->part[HT_FD_INCIDENT_U][q] = over;
        out->part[HT_FD_INCIDENT_W][q] = over * (problem->stages > 1 ? 1 - z / 12 : 1);
        return;
    }
    find_fields(in, problem, out->k[q], field);
    for (int f = 0; f < pair->nfields; f++) {
        const double phase = pair->group[0] >> f & 1u ? omega * problem->dt / 2 : 0;
        if (out->part[f] != NULL)
            out->part[f][q] = over * field[f] * ht_complex(cos(phase), sin(phase));
    }
}

static HT_ERR make_spectrum(const struct ht_fd_incidence *in, const struct ht_problem *problem,
                            int bits, struct ht_pool *pool, struct spectrum *out) {
    const int64_t n = (int64_t)1 << bits;
    struct ht_pair pair = {.nfields = 0};
    out->bits = bits;
    TRY(HT_TAKE(pool, out->amplitude, n));
    TRY(HT_TAKE(pool, out->k, n / 2));
    if (problem->fd.pair != HT_PAIR_NONE) ht_problem_pair(problem, &pair);
    for (int p = 0; p < HT_MAX_FIELDS; p++)
        if (in->table[p] != NULL) TRY(HT_TAKE(pool, out->part[p], n / 2));
    for (int64_t l = 0; l < n; l++)
        out->amplitude[l] = ht_shot_at(in->surface.shot, (double)l * problem->dt, 0) / (double)n;
    ht_fourier(bits, out->amplitude);
    for (int64_t q = 0; q < n / 2; q++) {
        const double omega = 2 * HT_PI * (double)q / ((double)n * problem->dt);
        double z = 0;
        if (q > 0 && !wavenumber(in, problem, omega, &out->k[q], &z)) out->amplitude[q] = 0;
        set_parts(in, problem, &pair, q, omega, z, out);
    }
    return HT_OK;
}

/* The coefficients of one table and, times i, of another, or the same: all steps of a column. */
static void fill_column(struct ht_fd_incidence *in, const struct spectrum *s, int first, int second,
                        int column, double complex *work) {
    const struct ht_fd_surface *surface = &in->surface;
    const int64_t n = (int64_t)1 << s->bits;
    const double xi = surface->first + column * surface->apart - surface->shot->corner;
    work[n / 2] = 0;
    for (int64_t q = 0; q < n / 2; q++) {
        const double phase = -s->k[q] * xi;
        const double complex value = s->amplitude[q] * ht_complex(cos(phase), sin(phase));
        const double complex a = value * s->part[first][q], b = value * s->part[second][q];
        /* the transform has exp(-i ..): frequency q stands at n - q */
        work[q] = conj(a) + ht_complex(0, 1) * conj(b);
        if (q > 0) work[n - q] = a + ht_complex(0, 1) * b;
    }
    ht_fourier(s->bits, work);
    for (int64_t l = 0; l < in->steps; l++) {
        in->table[first][l * surface->columns + column] = creal(work[l]);
        in->table[second][l * surface->columns + column] = cimag(work[l]);
    }
}

static HT_ERR fill_tables(struct ht_fd_incidence *in, const struct ht_problem *problem) {
    HT_ENDED(ht_pool_free) struct ht_pool pool = {NULL};
    struct spectrum spectrum = {.bits = 0};
    int part[HT_MAX_FIELDS], parts = 0, bits = 4;
    while ((int64_t)1 << bits < in->steps + in->steps / 4) bits++;
    TRY(make_spectrum(in, problem, bits, &pool, &spectrum));
    HT_ARRAY(double complex, work, (int64_t)1 << bits);
    for (int p = 0; p < HT_MAX_FIELDS; p++)
        if (in->table[p] != NULL) part[parts++] = p;
    part[parts] = part[parts - 1]; /* of an odd number the last one is alone */
    for (int p = 0; p < parts; p += 2)
        for (int c = 0; c < in->surface.columns; c++)
            fill_column(in, &spectrum, part[p], part[p + 1], c, work);
    return HT_OK;
}

void ht_fd_incidence_row(const struct ht_fd_incidence *in, int part, int64_t step, double factor,
                         double *out) {
    const int columns = in->surface.columns;
    const bool known = step >= 0 && step < in->steps;
    for (int c = 0; c < columns; c++)
        out[c] = known ? factor * in->table[part][step * columns + c] : 0;
}

/* Steps until the wave has left: signal, crossing, dispersion. */
static int64_t steps_of(const struct ht_problem *problem, const struct ht_shot *shot) {
    const double end = shot->signal->end + shot->delay;
    return (int64_t)ceil((end + 1.25 * shot->crossing) / problem->dt) + 32;
}

/* Which tables there are: of a pair those of the fields that the wave has. */
static unsigned parts_of(const struct ht_problem *problem, const struct ht_fd_surface *s) {
    if (problem->fd.pair == HT_PAIR_NONE) return 1u << HT_FD_INCIDENT_U | 1u << HT_FD_INCIDENT_W;
    return fields_of(problem->eq, s);
}

HT_ERR ht_fd_incidence_count(const struct ht_problem *problem, const struct ht_shot *shot,
                             int64_t planes, struct ht_fd_incidence_most *out) {
    struct ht_fd_surface s;
    TRY(surface_make(problem, shot, &s));
    const bool pair = problem->fd.pair != HT_PAIR_NONE;
    const int fields = pair ? problem->eq->nfields : 1, terms = pair ? problem->eq->nterms : 1;
    *out = (struct ht_fd_incidence_most){.columns = (int64_t)terms * s.columns};
    const unsigned parts = parts_of(problem, &s);
    HT_EACH_BIT(p, parts)
        out->host += steps_of(problem, shot) * s.columns * (int64_t)sizeof(double);
    for (int k = 0; k < s.grid->dims; k++) {
        /* faces as wide as the box, of which the planes have a part */
        const int64_t layers = 2 * (int64_t)reach_of(&s);
        int64_t nodes = s.closed[k] ? layers : 0;
        for (int other = 0; other < s.grid->dims; other++) {
            const int64_t wide = (s.upper[other] - s.lower[other]) / 2 + 1;
            if (other != k) nodes *= other == 2 ? ht_least(planes, wide) : wide;
        }
        if (k == 2) nodes = nodes / layers * ht_least(layers, planes);
        const double step = fabs(shot->direction[k]) * s.grid->h[k] / s.apart;
        out->nodes += fields * nodes;
        out->entries += terms * nodes * (HT_FD_SPLINE + 1 + (int64_t)(reach_of(&s) * step / 4));
    }
    return HT_OK;
}

static HT_ERR make(const struct ht_problem *problem, const struct ht_shot *shot,
                   struct ht_fd_incidence *in) {
    TRY(surface_make(problem, shot, &in->surface));
    const unsigned parts = parts_of(problem, &in->surface);
    in->weights = ht_fd_weights(problem->fd.order);
    in->steps = steps_of(problem, shot);
    HT_EACH_BIT(p, parts) TRY(HT_TAKE(&in->pool, in->table[p], in->steps * in->surface.columns));
    TRY(HT_TAKE(&in->pool, in->values, in->surface.columns));
    return fill_tables(in, problem);
}

void ht_fd_incidence_destroy(struct ht_fd_incidence *in) {
    if (in == NULL) return;
    ht_pool_free(&in->pool);
    free(in);
}

HT_ERR ht_fd_incidence_create(const struct ht_problem *problem, const struct ht_shot *shot,
                              struct ht_fd_incidence **out) {
    HT_CREATE(out, make(problem, shot, *out), ht_fd_incidence_destroy);
}
