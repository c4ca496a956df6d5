/* Measures of a state: finiteness, energy, error. */
#include "methods.h"
#include "tool_args.h"

int64_t ht_plan_chunk(const struct ht_plan *plan, enum ht_subgrid subgrid, int64_t values) {
    const struct ht_grid *grid = &plan->grid;
    const int64_t plane = ht_grid_plane(grid, subgrid) * ht_grid_coefs(grid) * plan->eq.nfields;
    const struct ht_range own = ht_grid_own(grid, subgrid);
    return ht_most(1, ht_least(values / plane, own.last - own.first));
}

enum { CHUNK = 1 << 23 }; /* values: 64 MiB */

/* Computes a solution on the own planes in chunks and calls `use` for each. */
static enum ht_err
each_chunk(const struct ht_plan *plan, const struct ht_solution *solution, double time,
           enum ht_err (*use)(void *context, int64_t first, int64_t last, const double *coefs),
           void *context) {
    const struct ht_grid *grid = &plan->grid;
    const int64_t chunk = ht_plan_chunk(plan, HT_PRIMARY, CHUNK);
    const struct ht_range slab = ht_grid_own(grid, HT_PRIMARY);
    HT_ARRAY(double, coefs,
             ht_grid_plane(grid, HT_PRIMARY) * chunk * ht_grid_coefs(grid) * plan->eq.nfields);
    for (int64_t first = slab.first; first < slab.last; first += chunk) {
        int64_t last = first + chunk < slab.last ? first + chunk : slab.last;
        TRY(ht_solution_fill(solution, HT_PRIMARY, time, first, last, coefs));
        TRY(use(context, first, last, coefs));
    }
    return HT_OK;
}

HT_ERR ht_fields_read(const struct ht_plan *plan, const struct ht_stepper *stepper, int count,
                      double *const *out) {
    const struct ht_range own = ht_grid_own(&plan->grid, HT_PRIMARY);
    HT_EACH_STORED(f, &plan->problem, HT_PRIMARY) {
        TRY(stepper->ops->get(stepper->self, HT_PRIMARY, f, count, own.first, own.last, out[f]));
        ht_plan_multiply(plan, true, count * ht_grid_own_total(&plan->grid, HT_PRIMARY), out[f]);
        ht_grid_crop(&plan->grid, count, out[f]);
    }
    return HT_OK;
}

double ht_measure_factor(const struct ht_problem *problem, const struct ht_quantity *what) {
    const double volume = ht_grid_volume(problem->grid);
    if (problem->medium_degree >= 0 || what->material < 0) return volume;
    return volume / problem->uniform[what->material];
}

bool ht_measure_half(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis, int side) {
    if (subgrid != HT_PRIMARY || axis >= grid->dims) return false;
    if (grid->wall[axis][side] == 0) return false;
    if (axis < 2) return true;
    const struct ht_range own = ht_grid_own(grid, subgrid);
    return side == 0 ? own.first == 0 : own.last == ht_grid_planes(grid, subgrid);
}

void ht_measure_beside(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis,
                       int64_t *begin, int64_t *end) {
    *begin = grid->layer[axis][0];
    *end = ht_grid_nodes(grid, subgrid, axis) - grid->layer[axis][1];
}

double ht_measure_weight(const struct ht_grid *grid, enum ht_subgrid subgrid, bool beside,
                         int64_t node) {
    double weight = 1;
    for (int k = 0; k < 3; k++) {
        int64_t n = ht_grid_nodes(grid, subgrid, k), m = node % n;
        node /= n;
        if (m == 0 && ht_measure_half(grid, subgrid, k, 0)) weight /= 2;
        if (m == n - 1 && ht_measure_half(grid, subgrid, k, 1)) weight /= 2;
        if (!beside) continue;
        int64_t begin, end;
        ht_measure_beside(grid, subgrid, k, &begin, &end);
        const bool face =
            (m == begin && grid->layer[k][0] > 0) || (m == end - 1 && grid->layer[k][1] > 0);
        if (m < begin || m >= end) weight = 0;
        if (face && subgrid == HT_PRIMARY) weight /= 2;
    }
    return weight;
}

struct ht_measure ht_measure_plain(const struct ht_problem *problem, enum ht_subgrid subgrid,
                                   const struct ht_quantity *what, const double *u,
                                   const double *medium) {
    struct ht_measure m = {.first = -1};
    const int64_t nodes = ht_grid_total(problem->grid, subgrid);
    const int points = what->weights != NULL ? what->points : 1;
    const int coefs = what->weights != NULL ? ht_grid_coefs(problem->grid) : 1;
    const double one = 1, *weights = what->weights ? what->weights : &one;
    const double *from = u + (what->weights ? 0 : what->coef) * nodes;
    for (int64_t n = 0; n < nodes; n++) {
        double factor = ht_measure_weight(problem->grid, subgrid, what->beside, n), values = 0;
        double value[HT_MEASURE_POINTS] = {0};
        for (int i = 0; factor > 0 && i < coefs; i++) {
            double x = from[i * nodes + n];
            if (!isfinite(x)) {
                if (m.bad++ == 0) m.first = n;
                continue;
            }
            m.largest = fmax(m.largest, fabs(x));
            for (int q = 0; q < points; q++) value[q] += weights[q * coefs + i] * x;
        }
        for (int q = 0; q < points; q++) values += value[q] * value[q];
        m.sum += factor * values / (medium != NULL ? medium[n] : 1);
    }
    m.sum *= ht_measure_factor(problem, what);
    return m;
}

/* ---- data that no grid holds ---- */

struct hidden {
    const struct ht_plan *plan;
    double *material; /* of the planes of a chunk, of finite differences */
    double sum;
};

static bool hides(const struct ht_plan *plan, const struct ht_energy_term *term) {
    return !term->gradient && !ht_problem_stores(&plan->problem, HT_PRIMARY, term->field) &&
           !ht_problem_stores(&plan->problem, HT_DUAL, term->field) &&
           ht_solution_occurs(plan->solution, term->field);
}

/* The material of a term, by finite differences at half points along the field's axis. */
static HT_ERR fill_material(const struct hidden *h, const struct ht_energy_term *term,
                            int64_t first, int64_t last) {
    const struct ht_problem *p = &h->plan->problem;
    const struct ht_second_order *form = &h->plan->eq.second_order;
    const int64_t part = ht_grid_plane(p->grid, HT_PRIMARY) * (last - first);
    const bool density = term->material == form->inverse_density;
    int what = 0;
    for (int k = 0; k < 3 && density; k++)
        if (form->flux[k] == term->field) what = k + 1;
    double value = term->material < 0 ? 1 : p->uniform[term->material];
    if (p->fd.fill != NULL && (!density || p->fd.density))
        return p->fd.fill(p->fd.medium, what, first, last, h->material);
    if (p->second != NULL && density) value = p->fd.inverse_density;
    for (int64_t n = 0; n < part; n++) h->material[n] = value;
    return HT_OK;
}

static HT_ERR add_hidden(void *context, int64_t first, int64_t last, const double *coefs) {
    struct hidden *h = context;
    const struct ht_plan *plan = h->plan;
    const int64_t plane = ht_grid_plane(&plan->grid, HT_PRIMARY);
    const int64_t part = plane * (last - first);
    HT_EACH(const struct ht_energy_term, term, plan->eq.energy, plan->eq.nenergy) {
        const double *u = coefs + part * term->field * ht_grid_coefs(&plan->grid);
        if (!hides(plan, term)) continue;
        TRY(fill_material(h, term, first, last));
        for (int64_t n = 0; n < part; n++)
            h->sum += ht_measure_weight(&plan->grid, HT_PRIMARY, false, first * plane + n) * u[n] *
                      u[n] / (2 * h->material[n]);
    }
    return HT_OK;
}

HT_ERR ht_data_hidden(const struct ht_plan *plan, double *out) {
    struct hidden h = {.plan = plan};
    bool any = false;
    *out = 0;
    for (int t = 0; t < plan->eq.nenergy; t++) any = any || hides(plan, &plan->eq.energy[t]);
    if (!any) return HT_OK;
    HT_ARRAY(double, material,
             ht_grid_plane(&plan->grid, HT_PRIMARY) * ht_plan_chunk(plan, HT_PRIMARY, CHUNK));
    h.material = material;
    TRY(ht_comm_agree(plan->grid.slab.comm, each_chunk(plan, plan->solution, 0, add_hidden, &h)));
    TRY(ht_comm_sum(plan->grid.slab.comm, 1, &h.sum));
    for (int k = 0; k < plan->grid.dims; k++) h.sum *= plan->grid.h[k];
    *out = h.sum * plan->scale * plan->scale;
    return HT_OK;
}

/* ---- where and when values of fields are: of most schemes all at the nodes of the primary grid;
 * see methods.h ---- */

static HT_ERR add_place(const struct ht_plan *plan, unsigned fields, unsigned parity, double later,
                        struct ht_places *places) {
    struct ht_place *place = &places->place[places->count++];
    *place = (struct ht_place){.fields = fields,
                               .later = later,
                               .grid = ht_grid_places(&plan->grid, parity),
                               .medium = *plan->medium};
    place->medium.grid = &place->grid;
    return ht_solution_create(plan->params, &place->medium, &place->solution);
}

HT_ERR ht_places_find(const struct ht_plan *plan, struct ht_places *out) {
    const unsigned early = plan->problem.early;
    const struct ht_field *field = plan->eq.field;
    if (early == 0) {
        out->place[out->count++] =
            (struct ht_place){.solution = plan->solution, .fields = ~0u, .borrowed = true};
        return HT_OK;
    }
    unsigned done = 0;
    for (int f = 0; f < plan->eq.nfields; f++) {
        const unsigned group = early >> f & 1u ? early : ~early;
        unsigned fields = 0;
        for (int g = f; g < plan->eq.nfields; g++)
            if (group >> g & 1u && field[g].parity == field[f].parity) fields |= 1u << g;
        if (done >> f & 1u) continue;
        done |= fields;
        TRY(add_place(plan, fields, field[f].parity, group == early ? -plan->problem.dt / 2 : 0,
                      out));
    }
    return HT_OK;
}

void ht_places_end(struct ht_places *places) {
    for (int i = 0; i < places->count; i++)
        if (!places->place[i].borrowed) ht_solution_destroy(places->place[i].solution);
}

struct error_sums {
    const struct ht_plan *plan;
    const double *const *nodal;
    int64_t begin; /* first own plane of the nodal values */
    unsigned fields;
    double both[2]; /* sums of squares of the differences, of the solution */
};

static HT_ERR add_chunk(void *context, int64_t first, int64_t last, const double *coefs) {
    struct error_sums *s = context;
    int64_t plane = ht_grid_plane(&s->plan->grid, HT_PRIMARY);
    int64_t part = plane * (last - first);
    for (int f = 0; f < s->plan->eq.nfields; f++) {
        const double *exact = coefs + part * f * ht_grid_coefs(&s->plan->grid);
        for (int64_t n = 0; s->fields >> f & 1u && s->nodal[f] != NULL && n < part; n++) {
            double d = s->nodal[f][(first - s->begin) * plane + n] - exact[n];
            s->both[0] += d * d;
            s->both[1] += exact[n] * exact[n];
        }
    }
    return HT_OK;
}

HT_ERR ht_nodal_error(const struct ht_plan *plan, const double *const *nodal, double time,
                      double *error) {
    struct error_sums sums = {
        .plan = plan, .nodal = nodal, .begin = ht_grid_own(&plan->grid, HT_PRIMARY).first};
    HT_ENDED(ht_places_end) struct ht_places places = {0};
    TRY(ht_places_find(plan, &places));
    HT_EACH(const struct ht_place, place, places.place, places.count) {
        /* Data that return are known at that time alone. */
        if (!plan->solution->exact && place->later < 0) continue;
        sums.fields = place->fields;
        TRY(each_chunk(plan, place->solution, plan->solution->exact ? time + place->later : 0,
                       add_chunk, &sums));
    }
    TRY(ht_comm_sum(plan->grid.slab.comm, 2, sums.both));
    *error = sqrt(sums.both[0] / (sums.both[1] > 0 ? sums.both[1] : 1));
    return HT_OK;
}
