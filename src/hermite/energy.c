/* The conserved energy of leapfrog (docs/developers/method.md, section 13).
 *
 * The integral over a cell is a sum over N+1 Gauss points, exact for the products of degree 2N, so
 * with G the (N+1) x (2N+2) matrix from the data at both ends to sqrt(weight) f^(N+1) at the
 * points, (f, g) is the dot product of (G x G x G) f and (G x G x G) g. Cells of the dual grid's
 * data are centred at the primary nodes; at a wall half a cell counts.
 *
 * A rank sums over the cells whose centres it owns. These cells need one plane of the neighbour
 * above (data on the primary grid) or below (dual grid), which is stored after the own planes. */
#include "src/solve/methods.h"
#include "tool_args.h"

enum { NODE = HT_MAX_ORDER + 1, CELL = 2 * NODE };

/* G: [point][side (N+1) + i]. */
static void make_points(int order, double *matrix) {
    int m = order + 1, n = 2 * m;
    double hermite[CELL * CELL], x[NODE], weight[NODE];
    ht_hermite_matrix(order, hermite);
    ht_gauss_points(m, x, weight);
    for (int p = 0; p < m; p++)
        for (int r = 0; r < n; r++) {
            double power = sqrt(weight[p]), sum = 0;
            for (int j = m; j < n; j++) {
                double factor = 1; /* j!/(j-N-1)! */
                for (int k = 0; k < m; k++) factor *= j - k;
                sum += factor * power * hermite[j * n + r];
                power *= x[p];
            }
            matrix[p * n + r] = sum;
        }
}

/* Number of own planes plus one plane of a neighbour. */
static int64_t planes_held(const struct ht_grid *grid, enum ht_subgrid subgrid) {
    const struct ht_range slab = ht_grid_own(grid, subgrid);
    return slab.last - slab.first + (ht_grid_cut(grid) ? 1 : 0);
}

/* ---- the energy ---- */

/* Weight of a field's square: 1/(2 M) as in the physical energy. For old_sign -1 a field represents
 * its own time derivative; then the derivative's weight over (dt/2)^2. */
static double field_weight(const struct ht_plan *plan, int field) {
    const struct ht_problem *p = &plan->problem;
    HT_EACH(const struct ht_energy_term, term, plan->eq.energy, plan->eq.nenergy) {
        double m = term->material < 0 ? 1 : p->uniform[term->material];
        if (term->gradient) continue;
        if (p->old_sign > 0 && term->field == field) return 0.5 / m;
        if (p->old_sign < 0) return 2 / (m * p->dt * p->dt);
    }
    return 0.5;
}

enum { CELLS = 16 }; /* of a row at a time */

struct state {
    const struct ht_plan *plan;
    const struct ht_stepper *stepper;
    double matrix[NODE * CELL];
    double *own,
        *wide[2];    /* a field's values on either grid, with a neighbour's plane: now, before */
    double *planes;  /* values of a plane of every rank, then of this one's */
    double *room[4]; /* two for each of now and before: data of cells */
    double *before;  /* the dual grid before its half step [field][i][node] */
    const double *weight; /* of the physical energy; NULL: the conserved one */
};

static HT_ERR read_field(const struct state *s, enum ht_subgrid subgrid, int field, double *out) {
    const struct ht_grid *grid = &s->plan->grid;
    const struct ht_range own = ht_grid_own(grid, subgrid);
    return s->stepper->ops->get(s->stepper->self, subgrid, field, ht_grid_coefs(grid), own.first,
                                own.last, out);
}

static void copy_rows(int64_t rows, int64_t width, const double *in, int64_t from, double *out,
                      int64_t to) {
    for (int64_t r = 0; r < rows; r++)
        memcpy(out + r * to, in + r * from, (size_t)width * sizeof *out);
}

/* Copies the values [i][node] of the own planes and for each i appends the plane of the neighbour,
 * if the grid is divided into slabs. */
static HT_ERR widen(const struct state *s, enum ht_subgrid subgrid, const double *values,
                    double *out) {
    const struct ht_grid *grid = &s->plan->grid;
    int64_t coefs = ht_grid_coefs(grid), plane = ht_grid_plane(grid, subgrid);
    int64_t own = ht_grid_own_total(grid, subgrid);
    int64_t held = planes_held(grid, subgrid) * plane;
    const int side = subgrid == HT_PRIMARY, from = ht_grid_neighbour(grid, side);
    double *given = s->planes + ht_comm_size(grid->slab.comm) * coefs * plane;
    copy_rows(coefs, own, values, own, out, held);
    if (!ht_grid_cut(grid)) return HT_OK;
    copy_rows(coefs, plane, values + (side ? 0 : own - plane), own, given, plane);
    TRY(ht_comm_gather(grid->slab.comm, given, (size_t)(coefs * plane) * sizeof *given, s->planes));
    if (from >= 0)
        copy_rows(coefs, plane, s->planes + from * coefs * plane, plane, out + own, held);
    return HT_OK;
}

/* Values of a field at the points of `count` cells of a row, which lie about the nodes of the other
 * grid from m on: [point][cell] in one of two arrays, which is returned. */
static const double *find_points(const struct state *s, enum ht_subgrid from, int field,
                                 const int64_t m[3], int count, const double *values,
                                 double *const room[2]) {
    const struct ht_grid *grid = &s->plan->grid;
    const struct ht_range own = ht_grid_own(grid, from);
    const int64_t nodes = planes_held(grid, from) * ht_grid_plane(grid, from);
    const int64_t n = grid->order + 1;
    const int shift = from == HT_PRIMARY ? 0 : 1;
    int64_t outer = ht_grid_coefs(grid) << grid->dims, inner = count;
    for (int c = 0; c < count; c++) {
        const int64_t lower[3] = {m[0] + c - shift, m[1] - shift, m[2] - shift};
        ht_cell_corners(grid, from, s->plan->eq.field[field].parity, lower, own, nodes, values,
                        count, room[0] + c);
    }
    for (int k = 0; k < grid->dims; k++, inner *= n) {
        double *out = room[1 - k % 2];
        outer /= 2 * n;
        memset(out, 0, (size_t)(outer * n * inner) * sizeof *out);
        for (int64_t o = 0; o < outer; o++, out += n * inner)
            for (int64_t r = 0; r < 2 * n; r++) {
                const double *in = room[k % 2] + (o * 2 * n + r) * inner;
                for (int64_t p = 0; p < n; p++)
                    for (int64_t i = 0; i < inner; i++)
                        out[p * inner + i] += s->matrix[p * 2 * n + r] * in[i];
            }
    }
    return room[grid->dims % 2];
}

/* Of two states of a field on a grid: of their values at the points of the cells of that grid's
 * nodes, which lie about the nodes of the other one. */
static double cells_product(const struct state *s, enum ht_subgrid from, int field,
                            const double *now, const double *before) {
    const struct ht_grid *grid = &s->plan->grid;
    const enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const struct ht_range own = ht_grid_own(grid, to);
    const int64_t n1 = ht_grid_nodes(grid, to, 0), n2 = ht_grid_nodes(grid, to, 1);
    double sum = 0;
    for (int64_t row = own.first * n2; row < own.last * n2; row++)
        for (int64_t first = 0; first < n1; first += CELLS) {
            const int64_t m[3] = {first, row % n2, row / n2};
            const int count = (int)ht_least(CELLS, n1 - first);
            const double *x = find_points(s, from, field, m, count, now, s->room), *y = x;
            if (before != now) y = find_points(s, from, field, m, count, before, s->room + 2);
            for (int c = 0; c < count; c++) {
                double part = 0;
                for (int64_t p = c; p < (int64_t)count * ht_grid_coefs(grid); p += count)
                    part += x[p] * y[p];
                sum += part * ht_measure_weight(grid, to, false, row * n1 + first + c);
            }
        }
    return sum;
}

/* The same of the physical energy, at the nodes. */
static double nodes_product(const struct state *s, enum ht_subgrid from, const double *x,
                            const double *y) {
    const struct ht_grid *grid = &s->plan->grid;
    const int64_t nodes = ht_grid_own_total(grid, from);
    const int64_t begin = ht_grid_own(grid, from).first * ht_grid_plane(grid, from);
    double sum = 0;
    for (int64_t n = 0; n < nodes; n++) {
        double a = 0, b = 0;
        for (int c = 0; c < ht_grid_coefs(grid); c++) {
            a += s->weight[c] * x[c * nodes + n];
            b += s->weight[c] * y[c * nodes + n];
        }
        sum += a * b * ht_measure_weight(grid, from, false, begin + n);
    }
    return ht_grid_volume(grid) * sum;
}

/* Adds the product of a grid's values and of those before: of the dual grid before a half step. */
static HT_ERR add_grid(const struct state *s, enum ht_subgrid from, double *energy) {
    const struct ht_problem *p = &s->plan->problem;
    const int64_t values = ht_grid_coefs(p->grid) * ht_grid_own_total(p->grid, from);
    const bool dual = from == HT_DUAL;
    HT_EACH_STORED(f, p, from) {
        const double *before = dual ? s->before + f * values : s->own;
        double product;
        TRY(read_field(s, from, f, s->own));
        if (s->weight == NULL) {
            TRY(widen(s, from, s->own, s->wide[0]));
            if (dual) TRY(widen(s, from, before, s->wide[1]));
            product = cells_product(s, from, f, s->wide[0], s->wide[dual]);
        } else
            product = nodes_product(s, from, s->own, before);
        *energy += (dual ? p->old_sign : 1) * field_weight(s->plan, f) * product;
    }
    return HT_OK;
}

static HT_ERR add_all(struct state *s, double *energy) {
    const struct ht_problem *p = &s->plan->problem;
    const struct ht_stepper *stepper = s->stepper;
    int64_t values = ht_grid_coefs(p->grid) * ht_grid_own_total(p->grid, HT_DUAL);
    const struct ht_range own = ht_grid_own(p->grid, HT_DUAL);
    TRY(add_grid(s, HT_PRIMARY, energy));
    HT_EACH_STORED(f, p, HT_DUAL) TRY(read_field(s, HT_DUAL, f, s->before + f * values));
    TRY(stepper->ops->half_step(stepper->self, HT_PRIMARY));
    TRY(stepper->ops->finish(stepper->self));
    TRY(add_grid(s, HT_DUAL, energy));
    TRY(ht_comm_sum(p->grid->slab.comm, 1, energy));
    return stepper->ops->put(stepper->self, HT_DUAL, own.first, own.last, s->before);
}

/* ---- the physical energy ---- */

/* The form is one of each field alone. */
static bool is_known(const struct ht_plan *plan) {
    const int64_t most = (int64_t)1 << 25; /* values, 256 MiB of memory */
    const struct ht_grid *grid = &plan->grid;
    return plan->eq.measured && plan->problem.medium_degree < 0 && plan->problem.dt > 0 &&
           plan->problem.layers == NULL &&
           (int64_t)plan->eq.nfields * ht_grid_coefs(grid) * ht_grid_total(grid, HT_PRIMARY) <=
               most;
}

static HT_ERR measure_by(const struct ht_plan *plan, const struct ht_stepper *stepper,
                         const double *weight, double *energy) {
    const struct ht_grid *grid = &plan->grid;
    int64_t plane = ht_grid_coefs(grid) * ht_grid_plane(grid, HT_PRIMARY);
    int64_t values = plane * planes_held(grid, HT_PRIMARY);
    struct state s = {.plan = plan, .stepper = stepper, .weight = weight};
    HT_ENDED(ht_pool_free) struct ht_pool pool = {NULL};
    make_points(grid->order, s.matrix);
    TRY(HT_TAKE(&pool, s.own, values));
    for (int i = 0; i < 2; i++) TRY(HT_TAKE(&pool, s.wide[i], values));
    TRY(HT_TAKE(&pool, s.planes, (ht_comm_size(grid->slab.comm) + 1) * plane));
    for (int i = 0; i < 4; i++)
        TRY(HT_TAKE(&pool, s.room[i], CELLS * ((int64_t)ht_grid_coefs(grid) << grid->dims)));
    TRY(HT_TAKE(&pool, s.before, values * plan->eq.nfields));
    return add_all(&s, energy);
}

static HT_ERR measure(const struct ht_plan *plan, const struct ht_stepper *stepper,
                      double *energy) {
    return measure_by(plan, stepper, NULL, energy);
}

static HT_ERR physical(const struct ht_plan *plan, const struct ht_stepper *stepper,
                       double *energy) {
    double weight[NODE * NODE * NODE];
    /* Values are those of W u, W = 1/cos theta or theta/sin theta with theta^2 = -(c dt/2)^2
     * laplacian: W's series. */
    enum { POWERS = 4 };
    static const double series[2][POWERS] = {{1, 1.0 / 2, 5.0 / 24, 61.0 / 720},
                                             {1, 1.0 / 6, 7.0 / 360, 31.0 / 15120}};
    static const double factorial[] = {1, 1, 2, 6};
    const struct ht_grid *grid = &plan->grid;
    const int n = grid->order + 1, coefs = ht_grid_coefs(grid);
    for (int c = 0; c < coefs; c++) {
        const int index[3] = {c % n, c / n % n, c / (n * n)};
        const int power = (index[0] + index[1] + index[2]) / 2;
        const bool odd = index[0] % 2 || index[1] % 2 || index[2] % 2;
        weight[c] = odd || power >= POWERS
                        ? 0
                        : series[plan->problem.old_sign < 0][power] * factorial[power];
        for (int k = 0; k < 3 && weight[c] != 0; k++) {
            const int m = index[k] / 2;
            const double nu = plan->medium->speed[k] * plan->problem.dt / (2 * grid->h[k]);
            weight[c] *= pow(-nu * nu, m) / factorial[m];
            for (int j = 2; j <= index[k]; j++) weight[c] *= j;
        }
    }
    return measure_by(plan, stepper, weight, energy);
}

const struct ht_invariant ht_leapfrog_energy = {
    .known = is_known, .measure = measure, .physical = physical};

/* Measures of a state of Hermite methods: finiteness, energy. */

static HT_ERR not_finite(const struct ht_plan *plan, enum ht_subgrid subgrid, int field,
                         int64_t node, double time) {
    double x[3];
    ht_grid_position(&plan->grid, subgrid, node, x);
    FAIL(HT_ERR_NOT_FINITE, "%s is not finite at (%g, %g, %g), time %g%s%s",
         plan->eq.field[field].name, x[0], x[1], x[2], time,
         time == 0 ? ": the initial data are not, or their derivatives" : "; likely cause: ",
         time == 0 ? "" : ht_growth_cause(plan));
}

/* The quantities measured of a state on a grid. On the primary one: the terms of the energy with
 * their factors, and the nodal values of every stored field that is in no term, with minus the
 * factor of its gradient. On all grids of the scheme's state: the terms again from the nodes'
 * Taylor polynomials. */
enum { MOST_QUANTITIES = 4 * HT_MAX_FIELDS };
struct energy_list {
    struct ht_quantity what[MOST_QUANTITIES];
    double factor[MOST_QUANTITIES];
    int count;
    double *weights; /* of the polynomials, [quantity][point][coefficient] */
};

/* Gradients count beside absorbing layers only: in these they are as steep as the layer is thin,
 * however long the waves. */
static void add_quantity(struct energy_list *list, int field, int coef, int material, bool beside,
                         double factor) {
    list->what[list->count] =
        (struct ht_quantity){.field = field, .coef = coef, .material = material, .beside = beside};
    list->factor[list->count++] = factor;
}

/* xi^power; if scale > 0, its derivative times scale. */
static double monomial(double xi, int power, double scale) {
    if (!(scale > 0)) return pow(xi, power);
    return power > 0 ? scale * power * pow(xi, power - 1) : 0;
}

static void list_nodes(const struct ht_plan *plan, struct energy_list *list) {
    HT_EACH_STORED(f, &plan->problem, HT_PRIMARY) {
        double slope = 0;
        bool values = false;
        HT_EACH(const struct ht_energy_term, term, plan->eq.energy, plan->eq.nenergy) {
            if (term->field != f || term->other != f) continue;
            /* The components of the gradient are the first scaled derivatives over h. */
            if (!term->gradient) add_quantity(list, f, 0, term->material, false, 0.5);
            for (int k = 0, i = 1; term->gradient && k < plan->grid.dims;
                 k++, i *= plan->grid.order + 1) {
                const double factor = 0.5 / (plan->grid.h[k] * plan->grid.h[k]);
                add_quantity(list, f, i, term->material, true, factor);
                if (ht_layers_any(&plan->grid)) /* all of them, for ht_state.steep */
                    add_quantity(list, f, i, term->material, false, factor);
                slope += factor;
            }
            values = values || !term->gradient;
        }
        if (!values) add_quantity(list, f, 0, -1, false, -slope);
    }
}

static void add_points(const struct ht_grid *grid, const struct ht_energy_term *term, int axis,
                       struct energy_list *list) {
    const int points = 1 << grid->dims, n = grid->order + 1, coefs = ht_grid_coefs(grid);
    double *weights = list->weights + (int64_t)list->count * HT_MEASURE_POINTS * coefs;
    /* Weights that evaluate a node's Taylor polynomial, or its derivative along an axis (-1: none),
     * at the points (-+1/4, -+1/4, -+1/4) h about the node. The points have distances of h/2, so
     * the mean square is exact for waves of more than one cell per wavelength. */
    for (int q = 0; q < points; q++)
        for (int c = 0; c < coefs; c++) {
            const int i[3] = {c % n, c / n % n, c / (n * n)};
            double value = 1;
            for (int k = 0; k < 3; k++)
                value *= monomial(q >> k & 1 ? 0.25 : -0.25, i[k], k == axis ? 1 / grid->h[k] : 0);
            weights[q * coefs + c] = value;
        }
    add_quantity(list, term->field, 0, term->material, axis >= 0, 0.5 / points);
    list->what[list->count - 1].weights = weights;
    list->what[list->count - 1].points = points;
}

/* Adds the measures of a grid on all ranks; fails if a value is not finite. */
static HT_ERR measure_grid(const struct ht_plan *plan, const struct ht_stepper *stepper,
                           double time, enum ht_subgrid subgrid, struct energy_list *list,
                           struct ht_state *out) {
    struct ht_measure measure[MOST_QUANTITIES];
    list->count = 0;
    if (subgrid == HT_PRIMARY) list_nodes(plan, list);
    HT_EACH(const struct ht_energy_term, term, plan->eq.energy, plan->eq.nenergy) {
        if (!ht_problem_stores(&plan->problem, subgrid, term->field) || term->other != term->field)
            continue;
        for (int k = term->gradient ? 0 : -1; k < (term->gradient ? plan->grid.dims : 0); k++)
            add_points(&plan->grid, term, k, list);
    }
    TRY(stepper->ops->measure(stepper->self, subgrid, list->count, list->what, measure));
    /* The first bad node becomes the lowest of all ranks. */
    double sum[MOST_QUANTITIES], most[2 * MOST_QUANTITIES];
    double *largest = most, *lowest = most + list->count; /* lowest: negative */
    for (int i = 0; i < list->count; i++) {
        sum[i] = measure[i].sum;
        largest[i] = measure[i].largest;
        lowest[i] = measure[i].bad > 0 ? -(double)measure[i].first : -INFINITY;
    }
    TRY(ht_comm_sum(plan->grid.slab.comm, list->count, sum));
    TRY(ht_comm_max(plan->grid.slab.comm, 2 * list->count, most));
    HT_EACH_AT(i, const struct ht_quantity, what, list->what, list->count) {
        const double part = list->factor[i] * sum[i];
        if (isfinite(lowest[i]))
            return not_finite(plan, subgrid, what->field, (int64_t)-lowest[i], time);
        if (what->weights != NULL) {
            out->content += part;
        } else if (what->coef != 0) {
            if (what->beside) out->energy += part;
            if (ht_layers_any(&plan->grid)) out->steep += what->beside ? -part : part;
        } else {
            out->largest[what->field] = largest[i];
            if (list->factor[i] > 0)
                out->energy += part;
            else
                out->slope -= part;
        }
    }
    return HT_OK;
}

enum ht_err ht_hermite_state_measure(const struct ht_plan *plan, const struct ht_stepper *stepper,
                                     double time, struct ht_state *out) {
    HT_ARRAY(double, weights,
             (int64_t)MOST_QUANTITIES *HT_MEASURE_POINTS *ht_grid_coefs(&plan->grid));
    struct energy_list list = {.weights = weights};
    *out = (struct ht_state){.energy = 0};
    TRY(measure_grid(plan, stepper, time, HT_PRIMARY, &list, out));
    /* In a one-level scheme the dual grid is no part of the state. */
    return plan->problem.scheme->two_level ? measure_grid(plan, stepper, time, HT_DUAL, &list, out)
                                           : HT_OK;
}

const char *ht_hermite_growth_cause(const struct ht_plan *plan) {
    if (plan->problem.layers != NULL)
        return plan->layers.type == HT_ABSORBING_SPONGE
                   ? "waves grow in the absorbing layers; take a larger absorbing.reflection or "
                     "another absorbing.cells"
                   : "waves grow in the absorbing layers; take another absorbing.cells or "
                     "time.scheme = \"fd\"";
    if (plan->medium->uniform)
        return "the step is stable for this scheme, so the grid does not resolve the initial data, "
               "or rounding or the device is to blame; try more cells or device.precision = "
               "\"double\"";
    return "the medium: Hermite methods are not proven stable where it varies, and grow where it "
           "jumps or is not resolved, at every order; smooth it over six cells or more, with "
           "medium.degree at its default, or take a lower grid.order or time.cfl";
}
