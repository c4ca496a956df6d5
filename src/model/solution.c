/* Initial data and exact solutions: the table of initial.type and the code that all types share.
 * Node coefficients u_i = h^|i|/i! D^i u come from formulas, never from differences of values. */
#include <complex.h>

#include "htwave/h5.h"
#include "htwave/medium.h"

/* The part of a grid that is filled, and of which field. */
struct range {
    const struct ht_solution *solution;
    enum ht_subgrid subgrid;
    double time;
    int64_t first, last; /* x3 planes */
    int64_t plane;       /* nodes of a plane */
    int64_t nodes;       /* of all planes: stride of the coefficients */
    int field;
    double *out; /* [i][node], zeros before */
};

/* Values that a thread computes at least. */
enum { CHUNK = 1 << 13 };

struct type {
    /* Checks the parameters, sets exact, wavenumber, the fields that occur and the private data. */
    enum ht_err (*prepare)(struct ht_solution *solution);
    /* A field that occurs; or, by threads, some of its nodes. */
    enum ht_err (*fill)(struct range *range);
    enum ht_err (*nodes)(void *range, int64_t begin, int64_t end);
    unsigned occurs; /* fields, before it is prepared */
    bool rest;
};

struct pulse {
    struct ht_pulse is;
    int field;
};

struct ht_solution_data {
    const struct ht_params *params;
    const struct ht_medium *medium;
    const struct type *type;
    int parts;                           /* of data that are products */
    struct pulse *pulse;                 /* gaussian: parts of them */
    double velocity[3];                  /* gaussian that translates */
    double k[3], omega;                  /* plane, standing */
    double cosine[HT_MAX_FIELDS];        /* plane, standing: of the amplitudes the real part */
    double sine[HT_MAX_FIELDS];          /* and the imaginary one */
    struct ht_jets *jets;                /* expression */
    struct ht_expr *expr[HT_MAX_FIELDS]; /* NULL: the field is zero */
    double *values[HT_MAX_FIELDS];       /* file; NULL: the field is zero */
    bool coefficients[HT_MAX_FIELDS];    /* of values; else nodal values */
    double *stencil;                     /* file: see solution.c */
    struct ht_pool pool;                 /* of pulses, values, stencil */
};

/* ---- data that are products ---- */

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

/* At 12 widths the Gaussian and its first eight scaled derivatives have fallen below 1e-17 of the
 * peak: 12^8 exp(-72) = 2e-23. */
static const double bell_reach = 12;

/* ---- gaussian ---- */

static double side(const struct ht_grid *grid, int axis) {
    return ht_grid_end(grid, axis, 1) - ht_grid_end(grid, axis, 0);
}

static HT_ERR check_centre(const struct ht_solution *solution, const struct pulse *pulse,
                           const char *key, int axis) {
    const struct ht_grid *grid = solution->grid;
    const struct ht_params *params = solution->data->params;
    const double centre = pulse->is.centre[axis];
    const double wall[2] = {ht_grid_end(grid, axis, 0), ht_grid_end(grid, axis, 1)};
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

/* group: of the list, or the section "initial". */
static HT_ERR check_pulse(struct ht_solution *solution, const char *group, struct pulse *pulse) {
    const struct ht_params *params = solution->data->params;
    const double width = pulse->is.width;
    const char *name = pulse->is.field;
    if (!name || !name[0]) name = solution->eq->field[0].name;
    TRY(ht_fields_find(params, solution->eq, 0, HT_KEY("%s.field", group), name, &pulse->field));
    solution->occurs |= 1u << pulse->field;
    for (int j = 0; j < solution->eq->dims; j++) {
        /* The number of images grows with the width. */
        REFUSE(width > 10 * side(solution->grid, j), params, HT_KEY("%s.width", group),
               "at most ten times the box, which is %g along x%d", side(solution->grid, j), j + 1);
        TRY(check_centre(solution, pulse, HT_KEY("%s.centre", group), j));
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
static void add_row(const struct range *range, double width, int axis, double s,
                    const double weight[2], double complex *out) {
    const struct ht_grid *grid = range->solution->grid;
    bool periodic = ht_grid_periodic(grid, axis);
    double period = (periodic ? 1 : 2) * (grid->upper[axis] - grid->lower[axis]);
    /* n stays small however far away the centre is. */
    if (periodic) s = remainder(s, period);
    int64_t to = (int64_t)floor((s + bell_reach * width) / period);
    for (int64_t n = (int64_t)ceil((s - bell_reach * width) / period); n <= to; n++)
        add_bell(grid->order, (s - (double)n * period) / width, grid->h[axis] / width,
                 weight[n % 2 != 0 ? 1 : 0], out);
}

/* Of data whose fields are sums over the data's parts of Re(amplitude * product over axes of
 * factor_k(x_k)): order + 1 scaled Taylor coefficients of a factor. */
static void gaussian_factor(const struct range *range, int part, int axis, double x,
                            double complex *out) {
    const struct ht_solution *solution = range->solution;
    const struct ht_grid *grid = solution->grid;
    const struct ht_pulse *is = &solution->data->pulse[part].is;
    const double centre = is->centre[axis] + solution->data->velocity[axis] * range->time;
    const bool periodic = ht_grid_periodic(grid, axis);
    int low = ht_wall_sign(solution->eq, range->field, axis, grid->wall[axis][0]);
    int high = ht_wall_sign(solution->eq, range->field, axis, grid->wall[axis][1]);
    add_row(range, is->width, axis, x - centre, (const double[2]){1, periodic ? 1 : low * high},
            out);
    if (!periodic)
        add_row(range, is->width, axis, x - (2 * grid->lower[axis] - centre),
                (const double[2]){low, high}, out);
}

static HT_ERR prepare_gaussian(struct ht_solution *solution) {
    struct ht_solution_data *data = solution->data;
    const struct ht_params *params = data->params;
    bool periodic = true;
    struct ht_pulse pulse;
    data->parts = 0;
    while (ht_params_pulse(params, data->parts, &pulse)) data->parts++;
    TRY(HT_TAKE(&data->pool, data->pulse, data->parts));
    for (int i = 0; i < data->parts; i++) {
        const bool listed = params->initial.pulses.count > 0;
        const char *group = listed ? HT_KEY("initial.pulses.%d", i + 1) : "initial";
        ht_params_pulse(params, i, &data->pulse[i].is);
        TRY(check_pulse(solution, group, &data->pulse[i]));
    }
    for (int j = 0; j < solution->eq->dims; j++)
        periodic = periodic && ht_grid_periodic(solution->grid, j);
    solution->exact = solution->eq->translates && periodic && data->medium->uniform;
    for (int j = 0; j < solution->eq->dims && solution->exact; j++)
        data->velocity[j] = data->medium->constant[j];
    return HT_OK;
}

/* ---- plane and standing waves ---- */

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

/* The mirror factor for the system's formula: periodic counts as even. */
static int lower_factor(const struct ht_grid *grid, int axis) {
    return ht_grid_periodic(grid, axis) ? 1 : grid->wall[axis][0];
}

static bool stands(const struct ht_solution *solution) {
    return solution->data->params->initial.type == HT_DATA_STANDING;
}

/* Of a mode the even or the odd function, from the lower wall. */
static void wave_factor(const struct range *range, HT_UNUSED int part, int axis, double x,
                        double complex *out) {
    const struct ht_solution *solution = range->solution;
    const struct ht_grid *grid = solution->grid;
    const double k = solution->data->k[axis];
    const double from = stands(solution) ? ht_grid_end(grid, axis, 0) : 0;
    const bool even = ht_wall_sign(solution->eq, range->field, axis, lower_factor(grid, axis)) > 0;
    wave_jet(grid->order, k * (x - from), k * grid->h[axis], out);
    for (int i = 0; i <= grid->order && stands(solution); i++)
        out[i] = even ? creal(out[i]) : cimag(out[i]);
}

static double complex amplitude_of(const struct range *range, int part) {
    const struct ht_solution_data *data = range->solution->data;
    const struct pulse *pulse = data->pulse != NULL ? &data->pulse[part] : NULL;
    if (pulse != NULL) return range->field == pulse->field ? pulse->is.amplitude : 0;
    const double angle = data->params->initial.phase - data->omega * range->time;
    return data->params->initial.single.amplitude *
           (ht_complex(data->cosine[range->field], data->sine[range->field]) *
            ht_complex(cos(angle), sin(angle)));
}

static HT_ERR find_cycles(struct ht_solution *solution, int axis) {
    const struct ht_params *params = solution->data->params;
    REFUSE(!ht_grid_periodic(solution->grid, axis), params, "initial.type",
           "a plane wave needs periodic sides, boundary.x%d is \"%s\", \"%s\"", axis + 1,
           params->boundary.side[axis][0], params->boundary.side[axis][1]);
    solution->data->k[axis] = 2 * HT_PI * params->initial.cycles[axis] / side(solution->grid, axis);
    return HT_OK;
}

/* Wavenumber of mode m: whole wavelengths (periodic), half wavelengths between equal walls, and a
 * quarter less between unequal ones. */
static HT_ERR find_mode(struct ht_solution *solution, int axis) {
    const struct ht_params *params = solution->data->params;
    const int mode = params->initial.modes[axis], *wall = solution->grid->wall[axis];
    /* The factor is zero between walls that are both odd at mode 0, and the first mode between
     * unequal walls is a quarter wavelength. */
    int least = wall[0] != wall[1] || wall[0] < 0 ? 1 : 0;
    REFUSE(mode < least, params, "initial.modes",
           "along x%d the mode must be at least %d between sides \"%s\", \"%s\"", axis + 1, least,
           params->boundary.side[axis][0], params->boundary.side[axis][1]);
    double half_waves = wall[0] == 0 ? 2.0 * mode : wall[0] == wall[1] ? mode : mode - 0.5;
    solution->data->k[axis] = half_waves * HT_PI / side(solution->grid, axis);
    return HT_OK;
}

/* Of a medium that varies by the materials at the domain's centre. */
static HT_ERR prepare_wave(struct ht_solution *solution) {
    struct ht_solution_data *data = solution->data;
    const struct ht_params *params = data->params;
    const struct ht_equations *eq = solution->eq;
    const bool standing = stands(solution);
    const double phase = params->initial.phase;
    double material[HT_MAX_MATERIALS], x[3];
    bool moves = false;
    int factor[3];
    for (int j = 0; j < eq->dims; j++) {
        TRY((standing ? find_mode : find_cycles)(solution, j));
        solution->wavenumber[j] = fabs(data->k[j]);
        factor[j] = lower_factor(solution->grid, j);
        moves = moves || data->k[j] != 0;
    }
    REFUSE(!moves, params, standing ? "initial.modes" : "initial.cycles",
           "at least one axis needs a %s", standing ? "mode above 0" : "wavelength");
    solution->exact = data->medium->uniform;
    solution->single_wave = true;
    memcpy(material, data->medium->constant, sizeof material);
    for (int j = 0; j < 3; j++) x[j] = ht_grid_middle(solution->grid, j);
    if (!solution->exact) TRY(ht_medium_point(data->medium, x, material));
    REFUSE(standing && !ht_equations_standing(eq, material, data->k, factor, data->cosine,
                                              data->sine, &data->omega),
           params, "initial.type", "no standing modes are known for %s", eq->system->name);
    REFUSE(!standing && !ht_equations_plane(eq, material, data->k, params->initial.wave,
                                            data->cosine, data->sine, &data->omega),
           params, params->initial.wave > 1 ? "initial.wave" : "initial.type",
           "%s has no such plane waves", eq->system->name);
    if (!standing) solution->occurs = ~0u;
    for (int f = 0; f < eq->nfields; f++) {
        const double size = fabs(data->cosine[f]) + fabs(data->sine[f]);
        if (fabs(data->cosine[f] * cos(phase)) + fabs(data->sine[f] * sin(phase)) > 1e-12 * size)
            solution->occurs |= 1u << f;
    }
    return HT_OK;
}

/* ---- the product over axes, for all three types ---- */

/* Coefficients [i][m] of one axis' factor at its nodes. */
struct table {
    int64_t nodes;
    int coefs;
    double complex *value;
};
static void fill_table(const struct range *range, int part, int axis, struct table *table) {
    const struct ht_solution *solution = range->solution;
    const struct ht_grid *grid = solution->grid;
    int64_t first = axis == 2 ? range->first : 0;
    bool walls =
        range->subgrid == HT_PRIMARY && !ht_grid_periodic(grid, axis) && grid->shift[axis] == 0;
    for (int64_t m = 0; m < table->nodes; m++) {
        double complex c[HT_MAX_ORDER + 1] = {0};
        const double x = ht_grid_x(grid, range->subgrid, axis, first + m);
        (solution->data->pulse != NULL ? gaussian_factor : wave_factor)(range, part, axis, x, c);
        /* At a node on a wall one parity of coefficients vanishes. Rounding must not leave a rest
         * of it, which the mirror would make visible. */
        for (int n = 0; walls && n < 2; n++) {
            const int sign = ht_wall_sign(solution->eq, range->field, axis, grid->wall[axis][n]);
            if (first + m != (n ? ht_grid_nodes(grid, range->subgrid, axis) - 1 : 0)) continue;
            for (int i = sign > 0; sign != 0 && i <= grid->order; i += 2) c[i] = 0;
        }
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

static HT_ERR add_rows(void *data, int64_t begin, int64_t end) {
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
static HT_ERR fill_product(struct range *range) {
    const struct ht_solution *solution = range->solution;
    HT_ENDED(ht_pool_free) struct ht_pool pool = {NULL};
    struct table table[3];
    struct rows rows = {.table = table, .out = range->out};
    int64_t count = 1;
    HT_EACH_AT(j, struct table, to, table, 3) {
        to->coefs = j < solution->eq->dims ? solution->grid->order + 1 : 1;
        to->nodes =
            j == 2 ? range->last - range->first : ht_grid_nodes(solution->grid, range->subgrid, j);
        TRY(HT_TAKE(&pool, to->value, to->coefs * to->nodes));
        if (j >= solution->eq->dims && to->nodes > 0) to->value[0] = 1;
        count *= to->coefs * (j > 0 ? to->nodes : 1);
    }
    for (int part = 0; part < solution->data->parts; part++) {
        rows.amplitude = amplitude_of(range, part);
        if (rows.amplitude == 0) continue;
        for (int j = 0; j < solution->eq->dims; j++) fill_table(range, part, j, &table[j]);
        TRY(ht_threads_share(count, CHUNK / ht_most(1, table[0].nodes), add_rows, &rows));
    }
    return HT_OK;
}

/* ---- data of a file ---- */

/* Data from an HDF5 file, on the primary grid: per field either all coefficients,
 * [coefs][n3][n2][n1], or nodal values, [n3][n2][n1] (axes that do not exist may be left out or
 * have extent 1).
 *
 * Nodal values become coefficients by interpolation: through a node and its N + 1 neighbours on
 * either side goes, per axis, a polynomial of degree 2N + 2, whose scaled derivatives are taken at
 * the node,
 *     u_i = sum over s = -(N+1)..(N+1) of stencil[i][s] u(x + s h),
 * one degree more than a cell polynomial of the scheme has. Neighbours behind a wall are mirrored
 * with the wall's sign, behind a periodic seam they wrap. */

/* ---- the stencil ---- */

enum { SET = 160 };

/* name with or without the ending _coefficients; only its extents are read. */
static bool find_dataset(struct ht_h5 *file, const char *name, char set[SET],
                         struct ht_array *out) {
    for (int i = 0; i < 2; i++) {
        snprintf(set, SET, i ? "%s" : "%s_coefficients", name);
        if (ht_h5_extent(file, set, &out->rank, out->extent) == HT_OK) return true;
    }
    return false;
}

/* Product of the extents before those of existing axes, or 0 where these do not match the grid. */
static int64_t leading(const struct ht_grid *grid, const struct ht_array *set) {
    if (set->rank < grid->dims) return 0;
    int64_t product = 1;
    for (int k = 0; k < set->rank; k++) {
        int axis = set->rank - 1 - k;
        if (set->extent[k] < 1) return 0;
        if (set->extent[k] > INT64_MAX / 8 / product) return 0;
        if (axis >= grid->dims)
            product *= set->extent[k];
        else if (set->extent[k] != ht_grid_nodes(grid, HT_PRIMARY, axis))
            return 0;
    }
    return product;
}

/* From the nodes of the box to those of the grid: constant along normals in layers outside. */
static void spread(const struct ht_grid *grid, int64_t copies, const double *in, double *out) {
    const struct ht_grid box = ht_grid_inner(grid);
    const int64_t nodes = ht_grid_total(grid, HT_PRIMARY), side = grid->order + 1;
    for (int64_t i = 0; i < copies * nodes; i++) {
        int64_t left = i % nodes, power = i / nodes, from = 0, step = 1;
        bool flat = false;
        for (int k = 0; k < 3; k++, power /= side) {
            const int64_t n = ht_grid_nodes(&box, HT_PRIMARY, k),
                          all = ht_grid_nodes(grid, HT_PRIMARY, k);
            const int64_t m = left % all - grid->outer[k][0];
            const int64_t at = ht_least(ht_most(m, 0), n - 1);
            flat = flat || (m != at && power % side > 0);
            from += at * step;
            step *= n;
            left /= all;
        }
        out[i] = flat ? 0 : in[i / nodes * step + from];
    }
}

/* Its values are those of a dataset of the file, or, file NULL, are there. */
static HT_ERR take_field(struct ht_solution *solution, struct ht_h5 *file, const char *name,
                         int field, struct ht_array *set) {
    struct ht_solution_data *data = solution->data;
    const struct ht_grid box = ht_grid_inner(solution->grid);
    const int dims = box.dims, coefs = ht_grid_coefs(&box);
    int64_t nodes[3];
    const int64_t copies = leading(&box, set);
    const char *what =
        file != NULL ? HT_KEY("dataset %s", name) : HT_SHOWN_PLACE(data->params->initial.file);
    for (int k = 0; k < dims; k++) nodes[k] = ht_grid_nodes(&box, HT_PRIMARY, dims - 1 - k);
    REFUSE(
        copies != 1 && copies != coefs, data->params, "initial.file",
        "%s is %s, the grid's nodes are %s (x1 last; for coefficients with %d of them per node in "
        "front)",
        what, HT_EXTENTS(set->rank, set->extent), HT_EXTENTS(dims, nodes), coefs);
    data->coefficients[field] = copies == coefs;
    solution->occurs |= 1u << field;
    const int64_t count = copies * ht_grid_total(&box, HT_PRIMARY);
    if (file != NULL) TRY(HT_ALLOC(set->value, count));
    if (file != NULL)
        TRY(ht_params_blame(data->params, "initial.file",
                            ht_h5_read(file, name, count, set->value)));
    for (int64_t n = 0; n < count; n++)
        REFUSE(!isfinite(set->value[n]), data->params, "initial.file",
               "%s holds a value that is not finite (number %lld)", what, (long long)n);
    TRY(HT_TAKE(&data->pool, data->values[field],
                copies * ht_grid_total(solution->grid, HT_PRIMARY)));
    spread(solution->grid, copies, set->value, data->values[field]);
    return HT_OK;
}

static HT_ERR read_field(struct ht_solution *solution, struct ht_h5 *file, int field,
                         const char *name, bool needed) {
    HT_ENDED(ht_array_end) struct ht_array set = {.value = NULL};
    char full[SET];
    const bool found = find_dataset(file, name, full, &set);
    if (!found && !needed) return HT_OK;
    REFUSE(!found, solution->data->params, "initial.file",
           "it has neither a dataset %s nor %s_coefficients for the field %s (runs to continue "
           "write all fields: output.fields)",
           name, name, solution->eq->field[field].name);
    return take_field(solution, file, full, field, &set);
}

/* One field: that of initial.field, else the first. */
static HT_ERR read_npy(struct ht_solution *solution, const char *path) {
    const struct ht_params *params = solution->data->params;
    HT_ENDED(ht_array_end) struct ht_array array = {.value = NULL};
    int field = 0;
    if (*params->initial.single.field)
        TRY(ht_fields_find(params, solution->eq, 0, "initial.field", params->initial.single.field,
                           &field));
    TRY(ht_params_blame(params, "initial.file", ht_npy_read(path, &array)));
    return take_field(solution, NULL, NULL, field, &array);
}

/* The fields that initial.values names, else all under their own names, of which a file that is no
 * snapshot may lack some: they are 0. */
static HT_ERR read_fields(struct ht_solution *solution, struct ht_h5 *file) {
    const struct ht_map *values = &solution->data->params->initial.values;
    for (int n = 0; n < values->count; n++) {
        int field;
        const char *name = values->name[n];
        TRY(ht_fields_find(solution->data->params, solution->eq, 0,
                           HT_KEY("initial.values.%s", name), name, &field));
        TRY(read_field(solution, file, field, values->text[n], true));
    }
    const bool whole = ht_h5_get_number(file, "time", 1, &solution->snapshot) == HT_OK;
    if (!whole) solution->snapshot = 0;
    for (int f = 0; f < solution->eq->nfields && values->count == 0; f++) {
        const bool last = solution->occurs == 0 && f == solution->eq->nfields - 1;
        TRY(read_field(solution, file, f, solution->eq->field[f].name, whole || last));
    }
    return HT_OK;
}

/* Of a snapshot of another box. */
static void warn_box(struct ht_h5 *file, const struct ht_params *params) {
    double lower[3], h[3];
    const int dims = params->grid.dims;
    if (ht_h5_get_number(file, "lower", dims, lower) != HT_OK ||
        ht_h5_get_number(file, "spacing", dims, h) != HT_OK)
        return;
    for (int k = 0; k < dims; k++) {
        const double from = params->grid.lower[k];
        const double own = (params->grid.upper[k] - from) / (double)params->grid.cells[k];
        if (fmax(fabs(h[k] - own), fabs(lower[k] - from)) <= 1e-6 * own) continue;
        ht_warn("initial.file is of another box: its x%d begins at %g with cells of %g, the grid's "
                "at %g with %g",
                k + 1, lower[k], h[k], from, own);
        return;
    }
}

static HT_ERR prepare_file(struct ht_solution *solution) {
    const struct ht_params *params = solution->data->params;
    const char *path = params->initial.file;
    REFUSE(!ht_file_exists(path), params, "initial.file", "%s does not exist",
           HT_SHOWN_PLACE(path));
    HT_ENDED(ht_h5_end) struct ht_h5 *file = NULL;
    const bool npy = ht_file_ends(path, "npy");
    if (npy) TRY(read_npy(solution, path));
    if (!npy) TRY(ht_params_blame(params, "initial.file", ht_h5_open(path, &file)));
    if (!npy) TRY(read_fields(solution, file));
    if (!npy) warn_box(file, params);
    /* stencil[i][s + P]: coefficient of xi^i in the Lagrange polynomial that is 1 at s and 0 at the
     * other integers from -P to P. */
    double **out = &solution->data->stencil;
    const int p = solution->grid->order + 1, width = 2 * p + 1;
    TRY(HT_TAKE(&solution->data->pool, *out, p * width));
    for (int s = -p; s <= p; s++) {
        long double c[2 * HT_MAX_ORDER + 4] = {1};
        int degree = 0;
        for (int t = -p; t <= p; t++) {
            if (t == s) continue;
            /* times (xi - t)/(s - t), from the highest power down */
            degree++;
            for (int i = degree; i >= 0; i--) c[i] = ((i > 0 ? c[i - 1] : 0) - t * c[i]) / (s - t);
        }
        for (int i = 0; i < p; i++) (*out)[i * width + s + p] = (double)c[i];
    }
    return HT_OK;
}

/* Planes of a field from nodal values. Derivatives are taken along x3, then x2, then x1. */

/* `lines` arrays, each of nodes along an axis that are `step` values apart, begin with `in`: the
 * derivative at nodes [first, last). Axes that do not exist are copied. */
static void differentiate(const struct range *range, int axis, int derivative, int64_t lines,
                          int64_t step, int64_t first, int64_t last, const double *in,
                          double *out) {
    const struct ht_grid *grid = range->solution->grid;
    const int width = 2 * grid->order + 3;
    const double *stencil = range->solution->data->stencil + (ptrdiff_t)derivative * width;
    const unsigned parity = range->solution->eq->field[range->field].parity;
    const int64_t all = ht_grid_nodes(grid, HT_PRIMARY, axis) * step;
    for (int64_t i = 0; i < lines * (last - first); i++, out += step) {
        const double *line = in + i / (last - first) * all;
        memset(out, 0, (size_t)step * sizeof *out);
        if (axis >= grid->dims) memcpy(out, line, (size_t)step * sizeof *out);
        for (int s = 0; axis < grid->dims && s < width; s++) {
            int sign[2];
            const int64_t m = first + i % (last - first) + s - width / 2;
            const int64_t from =
                ht_grid_source(grid, HT_PRIMARY, axis, parity >> axis & 1u, m, sign);
            const double weight = sign[0] * stencil[s];
            for (int64_t n = 0; n < step; n++) out[n] += weight * line[from * step + n];
        }
    }
}

/* Planes and their derivatives along x3. */
static HT_ERR fill_file_planes(void *data, int64_t begin, int64_t end) {
    const struct range *range = data;
    const struct ht_grid *grid = range->solution->grid;
    const double *values = range->solution->data->values[range->field];
    const int side = grid->order + 1, side2 = grid->dims >= 2 ? side : 1;
    const int side3 = grid->dims >= 3 ? side : 1;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0), n2 = range->plane / n1;
    HT_ARRAY(double, third, 2 * range->plane);
    double *second = third + range->plane;
    for (int64_t part = begin; part < end; part++) {
        const int64_t plane = part / side3, m = range->first + plane;
        double *out = range->out + part % side3 * side2 * side * range->nodes;
        differentiate(range, 2, (int)(part % side3), 1, range->plane, m, m + 1, values, third);
        for (int i = 0; i < side2 * side; i++) {
            if (i % side == 0) differentiate(range, 1, i / side, 1, n1, 0, n2, third, second);
            differentiate(range, 0, i % side, n2, 1, 0, n1, second,
                          out + i * range->nodes + plane * range->plane);
        }
    }
    return HT_OK;
}

static HT_ERR fill_file(struct range *range) {
    const struct ht_solution_data *data = range->solution->data;
    const struct ht_grid *grid = range->solution->grid;
    const double *values = data->values[range->field];
    REFUSE(range->subgrid == HT_DUAL, data->params, "initial.type",
           "data from a file are known on the primary grid only");
    if (!data->coefficients[range->field])
        return ht_threads_share((range->last - range->first) *
                                    (grid->dims >= 3 ? grid->order + 1 : 1),
                                CHUNK / ht_most(1, range->plane), fill_file_planes, range);
    for (int i = 0; i < ht_grid_coefs(grid); i++)
        memcpy(range->out + i * range->nodes,
               values + i * ht_grid_total(grid, HT_PRIMARY) + range->first * range->plane,
               (size_t)range->nodes * sizeof *values);
    return HT_OK;
}

/* Every coefficient of total degree g is uniform in amplitude * [-1, 1) / 4^g:
 * their ratios are those of a wave with some four cells per wavelength. They depend on seed, grid,
 * node, field and coefficient only, so that any range of planes can be computed separately. */
static HT_ERR fill_random(void *data, int64_t begin, int64_t end) {
    const struct range *range = data;
    const struct ht_params *params = range->solution->data->params;
    const uint64_t seed = (uint64_t)params->initial.seed;
    const int64_t coefs = ht_grid_coefs(range->solution->grid);
    const uint64_t rows = (uint64_t)range->solution->eq->nfields * (uint64_t)coefs;
    const int side = range->solution->grid->order + 1;
    const uint64_t first = (uint64_t)(range->first * range->plane);
    for (int64_t i = 0; i < coefs; i++) {
        const uint64_t row = (uint64_t)(range->field * coefs + i);
        const int64_t degree = i % side + i / side % side + i / side / side;
        const double scale = ldexp(params->initial.single.amplitude, -2 * (int)degree);
        for (int64_t node = begin; node < end; node++) {
            const uint64_t index = 2 * ((first + (uint64_t)node) * rows + row);
            range->out[i * range->nodes + node] =
                scale * ht_rng_uniform(seed, index + (range->subgrid == HT_DUAL));
        }
    }
    return HT_OK;
}

static HT_ERR prepare_expression(struct ht_solution *solution) {
    struct ht_solution_data *data = solution->data;
    const struct ht_map *values = &data->params->initial.values;
    const int dims = solution->grid->dims;
    for (int n = 0; n < values->count; n++) {
        const char *name = values->name[n], *key = HT_KEY("initial.values.%s", name);
        int field;
        TRY(ht_fields_find(solution->data->params, solution->eq, 0, key, name, &field));
        ht_expr_destroy(data->expr[field]);
        TRY(ht_params_blame(data->params, key, ht_expr_parse(values->text[n], &data->expr[field])));
        for (int k = dims; k < 3; k++)
            REFUSE(ht_expr_uses(data->expr[field], k), data->params, key,
                   "x%d is no axis of the grid, which has %d (grid.cells)", k + 1, dims);
        solution->occurs |= 1u << field;
    }
    return ht_jets_make(dims, solution->grid->order, false, &data->jets);
}

static HT_ERR fill_expression(void *data, int64_t begin, int64_t end) {
    const struct range *range = data;
    const struct ht_solution *solution = range->solution;
    const struct ht_solution_data *of = solution->data;
    const struct ht_grid *grid = solution->grid;
    HT_ARRAY(double, jet, of->jets->count);
    for (int64_t node = begin; node < end; node++) {
        double x[3], into[3];
        ht_grid_position(grid, range->subgrid, range->first * range->plane + node, x);
        TRY(ht_expr_jet(of->expr[range->field], of->jets, x, grid->h, jet));
        for (int i = 0; i < of->jets->count; i++) {
            REFUSE(!isfinite(jet[i]), of->params,
                   HT_KEY("initial.values.%s", solution->eq->field[range->field].name),
                   "%s not finite at x = (%g, %g, %g)%s", i ? "a derivative is" : "the value is",
                   x[0], x[1], x[2],
                   ht_grid_clamp(grid, x, into) ? ", in a layer around the box" : "");
            range->out[i * range->nodes + node] = jet[i];
        }
    }
    return HT_OK;
}

static const struct type types[] = {
    [HT_DATA_GAUSSIAN] = {.prepare = prepare_gaussian, .fill = fill_product},
    [HT_DATA_PLANE] = {.prepare = prepare_wave, .fill = fill_product},
    [HT_DATA_STANDING] = {.prepare = prepare_wave, .fill = fill_product},
    [HT_DATA_RANDOM] = {.nodes = fill_random, .occurs = ~0u},
    [HT_DATA_EXPRESSION] = {.prepare = prepare_expression, .nodes = fill_expression},
    [HT_DATA_FILE] = {.prepare = prepare_file, .fill = fill_file},
    [HT_DATA_ZERO] = {.rest = true},
};

static HT_ERR prepare(const struct ht_params *params, const struct ht_medium *medium,
                      struct ht_solution *solution) {
    solution->eq = medium->eq;
    solution->grid = medium->grid;
    solution->returns = params->initial.returns && params->time.end > 0;
    TRY(HT_ALLOC(solution->data, 1));
    struct ht_solution_data *data = solution->data;
    data->params = params;
    data->medium = medium;
    data->parts = 1;
    data->type = &types[params->initial.type];
    solution->occurs = data->type->occurs;
    solution->rest = data->type->rest;
    if (data->type->prepare) TRY(data->type->prepare(solution));
    for (int n = 0; n < 6; n++)
        REFUSE(solution->returns && solution->grid->outer[n / 2][n % 2] > 0, data->params,
               "initial.returns", "nothing returns where sides absorb: must be false");
    if (ht_layers_any(solution->grid) || solution->eq->losses != 0) solution->exact = false;
    /* A frequency of interest says how fine the grid must be, unless the data are a single wave. */
    const double frequency = params->initial.frequency, slow = medium->speed_min;
    for (int j = 0; j < solution->eq->dims; j++) {
        if (frequency > 0 && slow > 0 && !solution->single_wave)
            solution->wavenumber[j] = 2 * HT_PI * frequency / slow;
        const double theta = fabs(solution->wavenumber[j]) * solution->grid->h[j];
        solution->theta = fmax(solution->theta, theta);
    }
    return HT_OK;
}

HT_ERR ht_solution_create(const struct ht_params *params, const struct ht_medium *medium,
                          struct ht_solution **out) {
    HT_CREATE(out, prepare(params, medium, *out), ht_solution_destroy);
}

void ht_solution_destroy(struct ht_solution *solution) {
    if (!solution) return;
    struct ht_solution_data *data = solution->data;
    if (data) {
        for (int f = 0; f < HT_MAX_FIELDS; f++) ht_expr_destroy(data->expr[f]);
        ht_jets_destroy(data->jets);
        ht_pool_free(&data->pool);
        free(data);
    }
    free(solution);
}

HT_ERR ht_solution_fill(const struct ht_solution *solution, enum ht_subgrid subgrid, double time,
                        int64_t first, int64_t last, double *out) {
    const struct ht_grid *grid = solution->grid;
    REQUIRE(time == 0 || solution->exact || (time < 0 && solution->rest), HT_ERR_INTERNAL,
            "%s data are known at time 0 only, not at %g",
            HT_WORD(DATA, solution->data->params->initial.type), time);
    struct range range = {
        .solution = solution,
        .subgrid = subgrid,
        .time = time,
        .first = first,
        .last = last,
        .plane = ht_grid_plane(grid, subgrid),
        .nodes = ht_grid_plane(grid, subgrid) * (last - first),
        .out = out,
    };
    const int64_t size = ht_grid_coefs(grid) * range.nodes;
    memset(out, 0, (size_t)(size * solution->eq->nfields) * sizeof *out);
    const struct type *type = solution->data->type;
    for (; range.field < solution->eq->nfields; range.field++, range.out += size)
        if (solution->single_wave || ht_solution_occurs(solution, range.field))
            TRY(type->nodes ? ht_threads_share(range.nodes, CHUNK / 32, type->nodes, &range)
                            : type->fill(&range));
    return HT_OK;
}
