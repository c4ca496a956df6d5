/* Data that are products of functions of one coordinate: Gaussian, plane wave, standing mode. Per
 * field,
 *     u(x, t) = Re( A(t) f_1(x1) f_2(x2) f_3(x3) )
 * or, of several Gaussians, a sum of such parts, so the coefficients of a node are products of
 * one-dimensional ones, which are tabulated along each axis:
 *     exp(i k x):              c_(i+1) = c_i (i k h)/(i+1)
 *     exp(-s^2/(2 w^2)):       c_(i+1) = -(h/w)((s/w) c_i + (h/w) c_(i-1))/(i+1)
 * The second is the recurrence of the Hermite polynomials.
 *
 * A Gaussian is continued by its images: with period L = upper - lower on a periodic axis, and with
 * period 2 L together with the reflected centre 2 lower - centre between walls, an image carrying
 * the product of the signs of the walls it crossed. So data meet the walls' conditions exactly. */
#include <complex.h>

#include "solution_types.h"

/* At 12 widths the Gaussian and its first eight scaled derivatives have fallen below 1e-17 of the
 * peak: 12^8 exp(-72) = 2e-23. */
static const double reach = 12;

/* ---- the product over axes, for all three types ---- */

/* Coefficients [i][m] of one axis' factor at its nodes. */
struct table {
    int64_t nodes;
    int coefs;
    double complex *value;
};
/* At a node on a wall one parity of coefficients vanishes. Rounding must not leave a rest of it,
 * which the mirror would make visible. */
static void clear_wall(const struct ht_solution *solution, int field, int axis, int side,
                       double complex *c) {
    int sign = ht_wall_sign(solution->eq, field, axis, solution->grid->wall[axis][side]);
    for (int i = sign > 0 ? 1 : 0; sign != 0 && i <= solution->grid->order; i += 2) c[i] = 0;
}

static void fill_table(const struct ht_solution_range *range, int part, int axis,
                       struct table *table) {
    const struct ht_solution *solution = range->solution;
    const struct ht_grid *grid = solution->grid;
    struct ht_solution_point point = {
        .part = part, .field = range->field, .axis = axis, .time = range->time};
    int64_t first = axis == 2 ? range->first : 0;
    int64_t all = ht_grid_nodes(grid, range->subgrid, axis);
    bool walls =
        range->subgrid == HT_PRIMARY && !ht_grid_periodic(grid, axis) && grid->shift[axis] == 0;
    for (int64_t m = 0; m < table->nodes; m++) {
        double complex c[HT_MAX_ORDER + 1] = {0};
        point.x = ht_grid_x(grid, range->subgrid, axis, first + m);
        solution->data->factor(solution, &point, c);
        if (walls && first + m == 0) clear_wall(solution, range->field, axis, 0, c);
        if (walls && first + m == all - 1) clear_wall(solution, range->field, axis, 1, c);
        for (int i = 0; i < table->coefs; i++) table->value[i * table->nodes + m] = c[i];
    }
}

/* The nodes of one part and field that threads add to; rows along x1 of all coefficients follow
 * each other in the array. */
struct rows {
    const struct table *table; /* [axis] */
    double complex amplitude;
    double *out;
};

static enum ht_err add_rows(void *data, int64_t begin, int64_t end) {
    const struct rows *rows = data;
    for (int64_t r = begin; r < end; r++) {
        const struct table *table = rows->table;
        const int64_t n1 = table[0].nodes, n2 = table[1].nodes;
        const int64_t m3 = r / n2 % table[2].nodes;
        const int i = (int)(r / n2 / table[2].nodes);
        const int i1 = i % table[0].coefs, i2 = i / table[0].coefs % table[1].coefs;
        const int64_t i3 = i / table[0].coefs / table[1].coefs;
        const double complex value = rows->amplitude * table[2].value[i3 * table[2].nodes + m3] *
                                     table[1].value[i2 * n2 + r % n2];
        const double complex *first = table[0].value + i1 * n1;
        double *out = rows->out + r * n1;
        for (int64_t m1 = 0; m1 < n1; m1++)
            out[m1] += creal(value) * creal(first[m1]) - cimag(value) * cimag(first[m1]);
    }
    return HT_OK;
}

/* Tables for the range's nodes; beyond dims the factor 1. */
enum ht_err ht_solution_fill_product(struct ht_solution_range *range) {
    const struct ht_solution *solution = range->solution;
    HT_ENDED(ht_pool_free) struct ht_pool pool = {NULL};
    struct table table[3];
    struct rows rows = {.table = table, .out = range->out};
    int64_t count = 1;
    for (int j = 0; j < 3; j++) {
        struct table *to = &table[j];
        to->coefs = j < solution->eq->dims ? solution->grid->order + 1 : 1;
        to->nodes =
            j == 2 ? range->last - range->first : ht_grid_nodes(solution->grid, range->subgrid, j);
        TRY(HT_TAKE(&pool, to->value, to->coefs * to->nodes));
        if (j >= solution->eq->dims && to->nodes > 0) to->value[0] = 1;
        count *= to->coefs * (j > 0 ? to->nodes : 1);
    }
    for (int part = 0; part < solution->data->parts; part++) {
        rows.amplitude = solution->data->amplitude(solution, part, range->field, range->time);
        if (rows.amplitude == 0) continue;
        for (int j = 0; j < solution->eq->dims; j++) fill_table(range, part, j, &table[j]);
        TRY(ht_threads_share(count, HT_SOLUTION_CHUNK / ht_most(1, table[0].nodes), add_rows,
                             &rows));
    }
    return HT_OK;
}

/* ---- gaussian ---- */

static double side(const struct ht_grid *grid, int axis) {
    return ht_grid_end(grid, axis, 1) - ht_grid_end(grid, axis, 0);
}

static enum ht_err check_centre(const struct ht_solution *solution,
                                const struct ht_solution_pulse *pulse, int axis) {
    const struct ht_grid *grid = solution->grid;
    const struct ht_params *params = solution->data->params;
    const char *key = HT_KEY("%s.centre", pulse->key);
    const double centre = pulse->is.centre[axis];
    const double wall[2] = {ht_grid_end(grid, axis, 0), ht_grid_end(grid, axis, 1)};
    REFUSE(!isfinite(centre), params, key, "must be finite");
    if (ht_grid_periodic(grid, axis)) return HT_OK;
    REFUSE(centre < wall[0] || centre > wall[1], params, key,
           "along x%d it must lie between the walls at %g and %g", axis + 1, wall[0], wall[1]);
    for (int end = 0; end < 2; end++)
        REFUSE(centre == wall[end] && grid->outer[axis][end] == 0 &&
                   ht_wall_sign(solution->eq, pulse->field, axis, grid->wall[axis][end]) < 0,
               params, key,
               "it lies on the wall x%d = %g, where %s = 0: the mirror image cancels the Gaussian",
               axis + 1, wall[end], solution->eq->field[pulse->field].name);
    return HT_OK;
}

static enum ht_err check_pulse(struct ht_solution *solution, struct ht_solution_pulse *pulse) {
    const struct ht_params *params = solution->data->params;
    const char *name = pulse->is.field, *key = HT_KEY("%s.width", pulse->key);
    if (!name || !name[0]) name = solution->eq->field[0].name;
    TRY(ht_solution_find_field(solution, HT_KEY("%s.field", pulse->key), name, &pulse->field));
    solution->occurs |= 1u << pulse->field;
    const double width = pulse->is.width;
    REFUSE(!(width > 0) || !isfinite(width), params, key, "must be positive");
    for (int j = 0; j < solution->eq->dims; j++) {
        /* The number of images grows with the width. */
        REFUSE(width > 10 * side(solution->grid, j), params, key,
               "at most ten times the box, which is %g along x%d", side(solution->grid, j), j + 1);
        TRY(check_centre(solution, pulse, j));
        /* The spectrum exp(-(k w)^2/2) has fallen to 1 % at 3/w. */
        solution->wavenumber[j] = fmax(solution->wavenumber[j], 3 / width);
    }
    return HT_OK;
}

/* Adds weight * exp(-s^2/(2 w^2)), distances in widths: z = s/w, e = h/w. */
static void add_bell(int order, double z, double e, double weight, double complex *out) {
    double before = 0, c = weight * exp(-z * z / 2);
    for (int i = 0; i <= order; i++) {
        out[i] += c;
        double next = -e * (z * c + e * before) / (i + 1);
        before = c;
        c = next;
    }
}

/* The Gaussians at centre + n period within reach of x, weighted by weight[n modulo 2]. */
static void add_row(const struct ht_solution *solution, const struct ht_solution_point *point,
                    double centre, const double weight[2], int order, double complex *out) {
    const struct ht_grid *grid = solution->grid;
    double width = solution->data->pulse[point->part].is.width;
    bool periodic = ht_grid_periodic(grid, point->axis);
    double period = (periodic ? 1 : 2) * (grid->upper[point->axis] - grid->lower[point->axis]);
    double s = point->x - centre;
    /* n stays small however far away the centre is. */
    if (periodic) s = remainder(s, period);
    int64_t from = (int64_t)ceil((s - reach * width) / period);
    int64_t to = (int64_t)floor((s + reach * width) / period);
    for (int64_t n = from; n <= to; n++)
        add_bell(order, (s - (double)n * period) / width, grid->h[point->axis] / width,
                 weight[n % 2 != 0 ? 1 : 0], out);
}

static void gaussian_factor(const struct ht_solution *solution,
                            const struct ht_solution_point *point, double complex *out) {
    const struct ht_grid *grid = solution->grid;
    const int order = grid->order, j = point->axis;
    double centre = solution->data->pulse[point->part].is.centre[j];
    if (ht_grid_periodic(grid, j)) {
        centre += solution->data->velocity[j] * point->time;
        add_row(solution, point, centre, (const double[2]){1, 1}, order, out);
        return;
    }
    int low = ht_wall_sign(solution->eq, point->field, j, grid->wall[j][0]);
    int high = ht_wall_sign(solution->eq, point->field, j, grid->wall[j][1]);
    add_row(solution, point, centre, (const double[2]){1, low * high}, order, out);
    add_row(solution, point, 2 * grid->lower[j] - centre, (const double[2]){low, high}, order, out);
}

static double complex gaussian_amplitude(const struct ht_solution *solution, int part, int field,
                                         HT_UNUSED double time) {
    const struct ht_solution_pulse *pulse = &solution->data->pulse[part];
    return field == pulse->field ? pulse->is.amplitude : 0;
}

enum ht_err ht_solution_prepare_gaussian(struct ht_solution *solution) {
    struct ht_solution_data *data = solution->data;
    const struct ht_params *params = data->params;
    bool periodic = true;
    struct ht_pulse pulse;
    data->parts = 0;
    data->factor = gaussian_factor;
    data->amplitude = gaussian_amplitude;
    while (ht_params_pulse(params, data->parts, &pulse)) data->parts++;
    TRY(HT_TAKE(&data->pool, data->pulse, data->parts));
    for (int i = 0; i < data->parts; i++) {
        struct ht_solution_pulse *to = &data->pulse[i];
        ht_params_pulse(params, i, &to->is);
        snprintf(to->key, sizeof to->key, "initial");
        if (params->initial.pulses.count > 0)
            snprintf(to->key, sizeof to->key, "initial.pulses.%d", i + 1);
        TRY(check_pulse(solution, to));
    }
    for (int j = 0; j < solution->eq->dims; j++)
        periodic = periodic && ht_grid_periodic(solution->grid, j);
    solution->exact = solution->eq->translates && periodic && data->medium->uniform;
    for (int j = 0; j < solution->eq->dims && solution->exact; j++)
        data->velocity[j] = data->medium->constant[j];
    return HT_OK;
}

/* ---- plane and standing waves ---- */

/* Materials, of a medium that varies those at the domain's centre. */
static enum ht_err begin_wave(struct ht_solution *solution, double *out) {
    const struct ht_medium *medium = solution->data->medium;
    double x[3];
    solution->exact = medium->uniform;
    solution->single_wave = true;
    memcpy(out, medium->constant, sizeof medium->constant);
    for (int j = 0; j < 3; j++) x[j] = ht_grid_middle(medium->grid, j);
    return medium->uniform ? HT_OK : ht_medium_point(medium, x, out);
}

/* exp(i k (x + h xi)) = exp(i k x) sum over n of (i k h)^n/n! xi^n. */
static void wave_jet(int order, double angle, double step, double complex *out) {
    double c = cos(angle), s = sin(angle);
    for (int i = 0; i <= order; i++) {
        out[i] = ht_complex(c, s);
        double next = -step * s / (i + 1);
        s = step * c / (i + 1);
        c = next;
    }
}

static void plane_factor(const struct ht_solution *solution, const struct ht_solution_point *point,
                         double complex *out) {
    double k = solution->data->k[point->axis];
    wave_jet(solution->grid->order, k * point->x, k * solution->grid->h[point->axis], out);
}

static double complex plane_amplitude(const struct ht_solution *solution, HT_UNUSED int part,
                                      int field, double time) {
    const struct ht_solution_data *data = solution->data;
    double angle = data->params->initial.phase - data->omega * time;
    return data->params->initial.amplitude * (ht_complex(data->cosine[field], data->sine[field]) *
                                              ht_complex(cos(angle), sin(angle)));
}

enum ht_err ht_solution_prepare_plane(struct ht_solution *solution) {
    struct ht_solution_data *data = solution->data;
    const struct ht_params *params = data->params;
    const struct ht_grid *grid = solution->grid;
    bool moves = false;
    for (int j = 0; j < grid->dims; j++) {
        REFUSE(!ht_grid_periodic(grid, j), params, "initial.type",
               "a plane wave needs periodic sides, boundary.x%d is \"%s\", \"%s\"", j + 1,
               params->boundary.side[j][0], params->boundary.side[j][1]);
        data->k[j] = 2 * HT_PI * params->initial.cycles[j] / side(grid, j);
        solution->wavenumber[j] = fabs(data->k[j]);
        moves = moves || params->initial.cycles[j] != 0;
    }
    REFUSE(!moves, params, "initial.cycles", "at least one axis needs a wavelength");
    double material[HT_MAX_MATERIALS];
    TRY(begin_wave(solution, material));
    REFUSE(!ht_equations_plane(solution->eq, material, data->k, params->initial.wave, data->cosine,
                               data->sine, &data->omega),
           params, params->initial.wave > 1 ? "initial.wave" : "initial.type",
           "%s has no such plane waves", solution->eq->system->name);
    solution->occurs = ~0u;
    data->factor = plane_factor;
    data->amplitude = plane_amplitude;
    return HT_OK;
}

/* The mirror factor for the system's formula: periodic counts as even. */
static int lower_factor(const struct ht_grid *grid, int axis) {
    return ht_grid_periodic(grid, axis) ? 1 : grid->wall[axis][0];
}

static void standing_factor(const struct ht_solution *solution,
                            const struct ht_solution_point *point, double complex *out) {
    const struct ht_grid *grid = solution->grid;
    int j = point->axis;
    double k = solution->data->k[j];
    bool even = ht_wall_sign(solution->eq, point->field, j, lower_factor(grid, j)) > 0;
    wave_jet(grid->order, k * (point->x - ht_grid_end(grid, j, 0)), k * grid->h[j], out);
    for (int i = 0; i <= grid->order; i++) out[i] = even ? creal(out[i]) : cimag(out[i]);
}

static double complex standing_amplitude(const struct ht_solution *solution, HT_UNUSED int part,
                                         int field, double time) {
    const struct ht_solution_data *data = solution->data;
    double angle = data->omega * time - data->params->initial.phase;
    return data->params->initial.amplitude *
           (data->cosine[field] * cos(angle) + data->sine[field] * sin(angle));
}

enum ht_err ht_solution_prepare_standing(struct ht_solution *solution) {
    struct ht_solution_data *data = solution->data;
    const struct ht_params *params = data->params;
    const struct ht_grid *grid = solution->grid;
    const double phase = params->initial.phase;
    double material[HT_MAX_MATERIALS];
    bool moves = false;
    int factor[3] = {1, 1, 1};
    for (int j = 0; j < grid->dims; j++) {
        /* Wavenumber of mode m: whole wavelengths (periodic), half wavelengths between equal walls,
         * and a quarter less between unequal ones. */
        const int mode = params->initial.modes[j], *wall = grid->wall[j];
        /* The factor is zero between walls that are both odd at mode 0, and the first mode between
         * unequal walls is a quarter wavelength. */
        int least = wall[0] != wall[1] || wall[0] < 0 ? 1 : 0;
        REFUSE(mode < least, params, "initial.modes",
               "along x%d the mode must be at least %d between sides \"%s\", \"%s\"", j + 1, least,
               params->boundary.side[j][0], params->boundary.side[j][1]);
        double half_waves = wall[0] == 0 ? 2.0 * mode : wall[0] == wall[1] ? mode : mode - 0.5;
        data->k[j] = half_waves * HT_PI / side(grid, j);
        solution->wavenumber[j] = data->k[j];
        factor[j] = lower_factor(grid, j);
        moves = moves || data->k[j] != 0;
    }
    REFUSE(!moves, params, "initial.modes", "at least one axis needs a mode above 0");
    TRY(begin_wave(solution, material));
    REFUSE(!ht_equations_standing(solution->eq, material, data->k, factor, data->cosine, data->sine,
                                  &data->omega),
           params, "initial.type", "no standing modes are known for %s",
           solution->eq->system->name);
    for (int f = 0; f < solution->eq->nfields; f++) {
        const double size = fabs(data->cosine[f]) + fabs(data->sine[f]);
        if (fabs(data->cosine[f] * cos(phase)) + fabs(data->sine[f] * sin(phase)) > 1e-12 * size)
            solution->occurs |= 1u << f;
    }
    data->factor = standing_factor;
    data->amplitude = standing_amplitude;
    return HT_OK;
}
