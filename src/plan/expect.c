/* The expected error at the end of a run, relative, in the L2 norm of the nodal values, as the run
 * measures it (docs/developers/method.md, section 10). For initial data given by a frequency the
 * waves are those of the slowest speed; in a varying medium those of a uniform one with that speed.
 *
 * The quadrature rule of a Gaussian and the images of its spectrum may be wrong by a factor of 2.
 * The error of a scheme that does not dissipate is a phase error, which is hidden when the data
 * return to their start; then the expectation is an upper bound only, within a factor of 4. */

#include "plan_parts.h"

/* By leapfrog of one field, where nothing fixes its mean: each half step's roundings, of 4 u over
 * the root of the nodes, change the slope of the mean in time (docs/developers/method.md, section
 * 13). Of an amplitude of 1, until the end. */
static double mean_drift(const struct ht_plan *plan) {
    const struct ht_problem *p = &plan->problem;
    const double n = 2 * (double)plan->steps;
    const double nodes = (double)ht_grid_total(&plan->grid, HT_DUAL);
    bool fixed = ht_in_double(plan->params) || p->old_sign != -1 || p->layers != NULL ||
                 ht_problem_stored(p, HT_PRIMARY) != 1;
    for (int side = 0; side < 6; side++) fixed = fixed || plan->grid.wall[side / 2][side % 2] < 0;
    return fixed ? 0 : 4 * FLT_EPSILON / 2 * sqrt(n * n * n / 3 / nodes);
}

/* The model of docs/developers/method.md, section 10; the numbers of N = 8 and of orders without
 * measurements are extrapolated. The errors of rounding and of the scheme add as orthogonal
 * vectors. The scheme's error is computed in double precision, with an error below 20 u A W. In
 * double precision one run of a thousand had an error 20 times larger, 1e-10. */
static void expect_rounding(const struct ht_plan *plan, double wavelengths,
                            struct ht_expected *expected) {
    const bool fp64 = ht_in_double(plan->params);
    const double unit = (fp64 ? DBL_EPSILON : FLT_EPSILON) / 2;
    const struct ht_rounding *row = ht_scheme_rounding(plan->problem.scheme, &plan->eq);
    if (!(row->power > 0)) {
        /* Of differences a model of measurements: after 10^4 steps in uniform and in rough media of
         * one and two dimensions single precision was off by 0.7 to 7.5 u sqrt n of the wave, u =
         * 2^-24 (test/convergence/rough.c); double by as much of its own u. */
        const double off = 2.5 * unit * sqrt((double)plan->steps), side = 4;
        expected->error = hypot(expected->error, off);
        expected->low = fmax(expected->low - side * off, 0);
        expected->high += side * off;
        return;
    }
    const double wide = fp64 && row->wide > 0 ? row->wide : 1;
    const double factor = row->factor[plan->grid.order - 1] * wide;
    const double w = fmax(wavelengths, 1);
    double r = unit * factor;
    r *= pow(w, row->power);
    const double least = r / row->below;
    double most = r * row->above * (fp64 ? 20 : 1);
    double computed = 20 * DBL_EPSILON / 2 * factor * w;
    r = hypot(r, mean_drift(plan));
    most = hypot(most, 3 * mean_drift(plan));
    expected->error = hypot(expected->error, r);
    expected->low = fmax(expected->low - most - computed, least);
    expected->high += most;
}

/* The frequency of a wave is constant, so its wavelength is shorter where the medium is slower than
 * at the centre of the data. A given frequency is converted to a wavenumber in the slowest part. */
static HT_ERR find_shorter(const struct ht_plan *plan, double *shorter) {
    const struct ht_params *params = plan->params;
    bool gaussian = params->initial.type == HT_DATA_GAUSSIAN;
    double fastest = 0;
    *shorter = 1;
    if (plan->medium->uniform || plan->eq.translates) return HT_OK;
    if (params->initial.frequency > 0 && !plan->solution->single_wave) return HT_OK;
    struct ht_pulse pulse = {.width = 0};
    for (int i = 0; gaussian ? ht_params_pulse(params, i, &pulse) : i < 1; i++) {
        double speed, at[3];
        for (int j = 0; j < 3; j++)
            at[j] = gaussian ? pulse.centre[j] : ht_grid_middle(&plan->grid, j);
        TRY(ht_medium_speed(plan->medium, at, &speed));
        fastest = fmax(fastest, speed);
    }
    *shorter = fmax(fastest / plan->medium->speed_min, 1);
    return HT_OK;
}

/* The wavenumber's signs are those of the input. */
static HT_ERR expect_single(struct ht_plan *plan, double shorter) {
    double e, k[3] = {0};
    int varies = 0;
    bool plane = plan->params->initial.type == HT_DATA_PLANE;
    for (int j = 0; j < plan->grid.dims; j++) {
        k[j] = shorter * plan->solution->wavenumber[j];
        if (plane && plan->params->initial.cycles[j] < 0) k[j] = -k[j];
        varies += k[j] != 0;
    }
    /* the start's own error, by fd; axes that err together */
    const double margin = plan->problem.scheme->margin[varies >= 2];
    TRY(plan->problem.scheme->does->wave_error(plan, k, &e));
    plan->expected = (struct ht_expected){.error = e, .low = e / margin, .high = e * margin};
    return HT_OK;
}

enum { DIRECTIONS = 7 };

/* Directions of the rule: lines through the cell along its axes, edges and corners, with weights.
 * Both signs of an edge and the four signs of a corner count as one direction. */
struct direction {
    double unit[3], weight;
};

static int list_directions(const struct ht_plan *plan, struct direction *out) {
    static const int axes[DIRECTIONS][3] = {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {0, 1, 0},
                                            {0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
    static const double weight[3][3] = {
        {1, 0, 0}, {1 / 4.0, 1 / 2.0, 0}, {2 / 21.0, 16 / 105.0, 9 / 35.0}};
    static const double alike[3][3] = {{1, 0, 0}, {2, 1, 0}, {3, 3, 1}};
    const int dims = plan->grid.dims;
    /* In cubic cells waves of an isotropic system have equal errors along all axes, and along all
     * edges: one direction represents each kind. */
    bool one = !plan->eq.translates;
    for (int j = 1; j < dims; j++)
        one = one && !(fabs(plan->grid.h[j] / plan->grid.h[0] - 1) > 1e-9);
    const int row = dims == 1 ? 0 : dims == 2 ? 1 : 2;
    int count = 0;
    for (int d = 0; d < DIRECTIONS && !(one && d == dims); d++) {
        int used = axes[d][0] + axes[d][1] + axes[d][2];
        if ((dims < 2 && axes[d][1]) || (dims < 3 && axes[d][2])) continue;
        for (int j = 0; j < 3; j++) out[count].unit[j] = axes[d][j] / sqrt(used);
        out[count].weight = weight[row][used - 1];
        if (one) out[count].weight *= alike[row][used - 1];
        count++;
    }
    return count;
}

static HT_ERR error_along(const struct ht_plan *plan, const struct direction *direction,
                          double length, double *error) {
    double k[3];
    for (int j = 0; j < 3; j++) k[j] = length * direction->unit[j];
    return plan->problem.scheme->does->wave_error(plan, k, error);
}

static HT_ERR expect_frequency(struct ht_plan *plan) {
    struct ht_expected *expected = &plan->expected;
    struct direction direction[DIRECTIONS] = {{{0}, 0}};
    int count = list_directions(plan, direction);
    double length = plan->solution->wavenumber[0], error = 0;
    *expected = (struct ht_expected){.low = INFINITY};
    for (int d = 0; d < count; d++) {
        TRY(error_along(plan, &direction[d], length, &error));
        expected->low = fmin(expected->low, error);
        expected->high = fmax(expected->high, error);
    }
    expected->error = expected->high;
    return HT_OK;
}

enum { NODES = 7 };

static double mean_square(int dims, const double *log_error) {
    enum { PARTS = 50 };
    double sum = 0, weights = 0;
    for (int i = 0; i < NODES * PARTS; i++) {
        double z = (i + 0.5) / PARTS;
        double weight = pow(z, dims - 1) * exp(-z * z);
        /* log e(z), z = k w, linear between nodes 1, 2, .. and extrapolated below the first. */
        const int n = (int)ht_least(ht_most((int)floor(z) - 1, 0), NODES - 2);
        const double log_e = log_error[n] + (log_error[n + 1] - log_error[n]) * (z - 1 - n);
        sum += weight * exp(2 * log_e);
        weights += weight;
    }
    return sum / weights;
}

/* Width of the narrowest pulse, which has the shortest waves. */
static double narrowest_width(const struct ht_params *params, int *pulses) {
    struct ht_pulse pulse;
    double width = INFINITY;
    for (*pulses = 0; ht_params_pulse(params, *pulses, &pulse); ++*pulses)
        width = fmin(width, pulse.width);
    return width;
}

/* Whether two pulses of one field have opposite signs and overlap (by exp(-2) or more): then the
 * sum is smaller and has shorter waves than each pulse. */
static bool pulses_cancel(const struct ht_plan *plan) {
    const struct ht_grid *grid = &plan->grid;
    const char *first = plan->eq.field[0].name; /* where none is named */
    struct ht_pulse a, b;
    if (plan->params->initial.type != HT_DATA_GAUSSIAN) return false;
    for (int i = 0; ht_params_pulse(plan->params, i, &a); i++)
        for (int j = 0; j < i && ht_params_pulse(plan->params, j, &b); j++) {
            double square = 0;
            if (a.amplitude * b.amplitude >= 0 ||
                strcmp(*a.field ? a.field : first, *b.field ? b.field : first) != 0)
                continue;
            for (int k = 0; k < grid->dims; k++) {
                double apart = a.centre[k] - b.centre[k];
                if (ht_grid_periodic(grid, k))
                    apart = remainder(apart, grid->upper[k] - grid->lower[k]);
                square += apart * apart;
            }
            if (square < 4 * (a.width * a.width + b.width * b.width)) return true;
        }
    return false;
}

/* Each of several pulses has at most the relative error of the narrowest one, so the sum of n
 * pulses that do not cancel has at most sqrt(n) times that. */
static HT_ERR expect_gaussian(struct ht_plan *plan, double shorter) {
    struct ht_expected *expected = &plan->expected;
    struct direction direction[DIRECTIONS] = {{{0}, 0}};
    const int count = list_directions(plan, direction);
    const bool dissipates = plan->problem.scheme->dissipates;
    int pulses = 0;
    const double width = narrowest_width(plan->params, &pulses);
    const double margin = dissipates ? 2 : 4;
    double sum = 0, weights = 0;
    for (int d = 0; d < count; d++) {
        double log_error[NODES];
        for (int i = 0; i < NODES; i++) {
            TRY(error_along(plan, &direction[d], shorter * (i + 1) / width, &log_error[i]));
            log_error[i] = log(fmax(log_error[i], 1e-16));
        }
        sum += direction[d].weight * mean_square(plan->grid.dims, log_error);
        weights += direction[d].weight;
    }
    expected->error = sqrt(sum / weights);
    expected->low = dissipates && pulses <= 1 ? expected->error / margin : 0;
    expected->high = expected->error * margin * sqrt(pulses);
    return HT_OK;
}

static HT_ERR expect_kind(struct ht_plan *plan, double shorter, double *length) {
    const struct ht_params *params = plan->params;
    const double *k = plan->solution->wavenumber;
    int pulses = 0;
    if (plan->solution->single_wave) {
        *length = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
        return expect_single(plan, shorter);
    }
    if (params->initial.type == HT_DATA_GAUSSIAN && !(params->initial.frequency > 0)) {
        *length = 2 / narrowest_width(params, &pulses);
        return expect_gaussian(plan, shorter);
    }
    *length = k[0];
    return expect_frequency(plan);
}

/* As sources are refused: two values per wavelength, of which a Hermite method has N + 1 in a cell.
 * Of Gaussians, whose shortest waves have 1e-4 of the energy, waves of twice that length count,
 * beyond which a tenth lies: what is finer is noted. */
static HT_ERR check_cells(const struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    const bool single = plan->solution->single_wave;
    const bool tail = !single && !(params->initial.frequency > 0);
    const double carried = (tail ? 1 : 2) / (plan->grid.order + 1.0);
    const char *key = single                             ? "initial.type"
                      : params->initial.frequency > 0    ? "initial.frequency"
                      : params->initial.pulses.count > 0 ? "initial.pulses"
                                                         : "initial.width";
    if (plan->cells_per_wavelength >= carried * (1 - 1e-9)) return HT_OK;
    return ht_params_error(
        params, key,
        "the initial data have waves of %.2g %s per wavelength where waves travel at %.3g: the "
        "grid carries none with less than %.2g; take more cells, or wider data",
        plan->cells_per_wavelength, plan->problem.scheme->cells, plan->medium->speed_min, carried);
}

HT_ERR ht_expect(struct ht_plan *plan) {
    const double drift = mean_drift(plan), small = 1e-3;
    double length = 0, shorter;
    if (drift > small)
        ht_note("rounding moves the mean of the field by some %.1g of its amplitude until the end: "
                "device.precision = \"double\" does not, nor do other schemes",
                drift);
    if (!(plan->solution->theta > 0) || plan->steps == 0) return HT_OK;
    /* Cells per wavelength: of a single wave along its direction, else the fewest of an axis. */
    const struct ht_solution *solution = plan->solution;
    double sum = 0;
    for (int j = 0; j < plan->grid.dims; j++)
        sum += pow(solution->wavenumber[j] * plan->grid.h[j], 2);
    plan->cells_per_wavelength =
        2 * acos(-1.0) / (solution->single_wave ? sqrt(sum) : solution->theta);
    if (!plan->eq.second_order.known && !plan->eq.translates &&
        !(plan->solution->single_wave && plan->eq.leapfrog.old_sign > 0))
        return check_cells(plan);
    TRY(find_shorter(plan, &shorter));
    plan->cells_per_wavelength /= shorter;
    TRY(check_cells(plan));
    TRY(expect_kind(plan, shorter, &length));
    if (!plan->medium->uniform) {
        plan->expected.low = 0;
        plan->expected.high *= 2; /* measured in params/impedance.cfg: 1.6 */
    }
    /* Adds the error of rounding over the wavelengths travelled by the wave, or by waves of this
     * length, at the largest speed. */
    const double time = plan->problem.dt * (double)plan->steps;
    expect_rounding(plan, time * plan->medium->fastest * length / (2 * acos(-1.0)),
                    &plan->expected);
    plan->expected.varies = !plan->medium->uniform;
    plan->expected.jumps = plan->medium->rough;
    plan->expected.limited = !plan->medium->uniform && plan->medium->degree < 2 * plan->grid.order;
    /* Waves that alias on the grid, or waves shorter than those of single pulses. */
    if ((!plan->solution->single_wave && plan->cells_per_wavelength < 1) || pulses_cancel(plan))
        plan->expected = (struct ht_expected){.error = 0};
    return HT_OK;
}
