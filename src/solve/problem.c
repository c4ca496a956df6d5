/* What is true of a problem without a device: its scheme, the fields that its grids store, the
 * windows of a rank, the specs of its half steps. */
#include "htwave/stepper.h"

const char *ht_problem_set_scheme(struct ht_problem *problem, const struct ht_scheme *scheme) {
    struct ht_form form;
    const char *why = scheme->form(problem->eq, &form);
    /* cppcheck-suppress returnDanglingLifetime ; the reason is a literal */
    if (why != NULL && scheme->otherwise != NULL)
        return ht_problem_set_scheme(problem, scheme->otherwise);
    if (why != NULL) return why;
    problem->scheme = scheme;
    problem->old_sign = form.old_sign;
    problem->early = form.early;
    problem->second = form.second;
    problem->fd.pair = form.pair;
    memcpy(problem->stored, form.stored, sizeof problem->stored);
    return NULL;
}

bool ht_problem_stores(const struct ht_problem *problem, enum ht_subgrid subgrid, int field) {
    return ht_fields_stored(problem->stored[subgrid], field);
}

unsigned ht_problem_fields(const struct ht_problem *problem, enum ht_subgrid subgrid) {
    const unsigned stored = problem->stored[subgrid];
    return stored != 0 ? stored : ~0u >> (HT_MAX_FIELDS - problem->eq->nfields);
}

int ht_problem_stored(const struct ht_problem *problem, enum ht_subgrid subgrid) {
    int count = 0;
    HT_EACH_STORED(f, problem, subgrid) count++;
    return count;
}

/* The scheme's form was asked for it before. */
void ht_problem_pair(const struct ht_problem *problem, struct ht_pair *out) {
    (void)ht_pair_make(problem->eq, problem->fd.pair, out);
}

struct ht_pair ht_problem_second_order(const struct ht_problem *problem) {
    const struct ht_second_order *form = &problem->eq->second_order;
    const bool density = problem->fd.density;
    struct ht_pair pair = {.dims = problem->eq->dims,
                           .nfields = 1,
                           .ncoefficients = 1,
                           .group = {0, 1},
                           .coefficient = {{.material = form->modulus}}};
    for (int k = 0; k < pair.dims; k++) {
        const int flux = density ? pair.nfields++ : 0, c = density ? pair.ncoefficients++ : 0;
        const double factor = density ? 1 : problem->fd.inverse_density;
        pair.term[pair.nterms++] =
            (struct ht_pair_term){.row = flux, .axis = k, .factor = factor, .coefficient = c};
        if (!density) continue;
        pair.term[pair.nterms++] = (struct ht_pair_term){.col = flux, .axis = k, .factor = 1};
        pair.parity[flux] = 1u << k;
        pair.group[0] |= 1u << flux;
        pair.coefficient[c] =
            (struct ht_pair_coefficient){.parity = 1u << k, .material = form->inverse_density};
    }
    return pair;
}

unsigned ht_problem_constant(const struct ht_problem *problem) {
    return problem->medium_degree < 0 ? ~0u : problem->fd.constant;
}

enum ht_subgrid ht_problem_nodes(const struct ht_problem *problem, enum ht_subgrid subgrid) {
    return problem->scheme->nodal ? HT_PRIMARY : subgrid;
}

struct ht_spec ht_problem_spec(const struct ht_problem *problem, const struct ht_tuning *tuning,
                               enum ht_subgrid from) {
    struct ht_spec spec = {.eq = problem->eq,
                           .order = problem->grid->order,
                           .fp64 = tuning->fp64,
                           .block = tuning->block,
                           .ptx = tuning->ptx,
                           .ptx_own = tuning->ptx_own,
                           .medium_degree = problem->medium_degree,
                           .constant = problem->early != 0          ? problem->fd.constant
                                       : problem->medium_degree > 0 ? problem->constant
                                                                    : 0,
                           .trim = tuning->trim,
                           .src = problem->stored[from],
                           .dst = problem->stored[from == HT_PRIMARY],
                           .differences = problem->fd.order,
                           .density = problem->fd.density,
                           .wide = problem->fd.wide,
                           .pair = problem->fd.pair,
                           .old_sign = problem->old_sign,
                           .stages = problem->stages,
                           .noise = problem->amplification *
                                    (tuning->fp64 ? DBL_EPSILON : FLT_EPSILON) / 2};
    if (problem->eq->nmemory > 0) spec.noise = 0; /* of layers none is known */
    spec.sorted = tuning->sorted || (tuning->variant != NULL && tuning->variant->sorted);
    if (spec.sorted) spec.block = spec.fp64 ? 2 : 4;
    HT_EACH_AT(t, const struct ht_term, term, problem->eq->term, problem->eq->nterms) {
        spec.scale[t] = problem->dt / 2 * term->coef;
        for (int n = 0; n < term->derivative; n++) spec.scale[t] /= problem->grid->h[term->axis];
        if (problem->medium_degree < 0 && term->material >= 0 &&
            ht_material_layer(problem->eq, term->material) < 0)
            spec.scale[t] *= problem->uniform[term->material];
    }
    return spec;
}

struct ht_pack_format ht_problem_format(const struct ht_problem *problem,
                                        const struct ht_tuning *tuning, int fields) {
    const struct ht_spec spec = ht_problem_spec(problem, tuning, HT_PRIMARY);
    int storage[HT_MAX_COEFS];
    return (struct ht_pack_format){.fp64 = spec.fp64,
                                   .block = spec.block,
                                   .fields = fields,
                                   .padded_coefs = ht_storage_order(&spec, storage),
                                   .precision = problem->halo.precision};
}

int ht_halo_depth(const struct ht_problem *problem) {
    return problem->halo.depth > 0 ? problem->halo.depth : 1;
}

struct ht_window ht_problem_window(const struct ht_problem *problem, enum ht_subgrid subgrid) {
    const int depth = ht_halo_depth(problem), less = depth / 2, more = depth - less;
    return ht_window_make(problem->grid, subgrid, more, subgrid == HT_PRIMARY ? more : less);
}

struct ht_problem ht_problem_with_law(const struct ht_problem *problem, const struct ht_law *law) {
    struct ht_problem p = *problem;
    if (law == NULL) return p;
    if (law->eq != NULL) p.eq = law->eq;
    if (law->stages > 0) p.stages = law->stages;
    p.medium_degree = law->medium_degree;
    if (law->medium_degree == 0) p.medium_coefs = 1;
    if (law->medium_degree >= 0) return p;
    p.medium_coefs = 0;
    memcpy(p.uniform, law->uniform, sizeof p.uniform);
    return p;
}

int ht_problem_order(const struct ht_problem *problem) {
    return (int)ht_most(problem->grid->order, problem->fd.order);
}

/* ---- schemes ---- */

int ht_scheme_degree(const struct ht_scheme *scheme, int order) {
    return scheme->nodal ? 0 : order;
}

const struct ht_rounding *ht_scheme_rounding(const struct ht_scheme *scheme,
                                             const struct ht_equations *eq) {
    return &scheme->rounding[eq->symbol == HT_SYMBOL_PAIR];
}

int ht_scheme_full_stages(const struct ht_scheme *scheme, const struct ht_equations *eq,
                          int order) {
    struct ht_form form;
    if (scheme->symbol != NULL) return ht_stability_full(scheme->symbol(eq), eq->dims, order);
    return scheme->form(eq, &form) == NULL ? 2 : 1; /* a pair */
}

/* Of finite differences where the spacing is the same along all axes: one term is stable up to dt
 * omega = 2, two up to sqrt 12. */
double ht_scheme_cfl(const struct ht_scheme *scheme, const struct ht_equations *eq, int order,
                     int stages) {
    if (scheme->symbol != NULL)
        return ht_stability_cfl(scheme->symbol(eq), eq->dims, order, stages);
    const struct ht_fd_weights w = ht_fd_weights(order);
    return ht_fd_stable(&w, false, stages, eq->dims);
}

int ht_scheme_least_stages(const struct ht_scheme *scheme, const struct ht_equations *eq, int order,
                           double cfl) {
    if (scheme->symbol != NULL)
        return ht_stability_stages(scheme->symbol(eq), eq->dims, order, cfl);
    return cfl <= ht_scheme_cfl(scheme, eq, order, 1) ? 1 : 2;
}

/* ---- absorbing layers of Hermite methods: places and profiles ---- */

unsigned ht_absorbing_axes(const struct ht_layers *layers) {
    unsigned axes = 0;
    if (layers == NULL || layers->type != HT_ABSORBING_CPML) return 0;
    for (int k = 0; k < layers->dims; k++)
        if (layers->side[k][0].cells > 0 || layers->side[k][1].cells > 0) axes |= 1u << k;
    return axes;
}

double ht_absorbing_at(enum ht_subgrid subgrid, int64_t node) {
    return (double)node + (subgrid == HT_DUAL ? 0.5 : 0);
}

int ht_absorbing_side(const struct ht_layers *layers, int axis, double at) {
    const struct ht_layer *side = layers->side[axis];
    if (side[0].cells > 0 && at <= (double)side[0].cells) return 0;
    return side[1].cells > 0 && at >= (double)(layers->cells[axis] - side[1].cells) ? 1 : -1;
}

void ht_absorbing_profiles(const struct ht_layers *layers, int axis, double at,
                           double out[HT_LAYER_PROFILES][HT_PROFILE_DEGREE + 1]) {
    const int side = ht_absorbing_side(layers, axis, at);
    double sigma[HT_PROFILE_DEGREE + 1] = {0};
    if (side >= 0) ht_layers_jets(layers, axis, at, layers->profile_degree + 1, sigma);
    for (int a = 0; a <= HT_PROFILE_DEGREE; a++) {
        out[HT_PROFILE_SIGMA][a] = out[HT_PROFILE_DECAY][a] = sigma[a];
        out[HT_PROFILE_SPONGE][a] = side < 0 ? 0 : sigma[a] * layers->side[axis][side].sponge;
    }
    if (side >= 0) out[HT_PROFILE_DECAY][0] += layers->side[axis][side].alpha;
}

/* Sets the cells of part -1 (between the layers), 0 or 1 of an axis. */
static void set_part(const struct ht_grid *grid, const struct ht_layers *layers, int axis, int part,
                     struct ht_region *box) {
    const int64_t low = layers->side[axis][0].cells;
    const int64_t high = grid->cells[axis] - layers->side[axis][1].cells;
    box->cells.begin[axis] = part < 0 ? low : part == 0 ? 0 : high;
    box->cells.end[axis] = part < 0 ? high : part == 0 ? low : grid->cells[axis];
    box->later[axis][0] = part < 0 && low > 0;
    box->later[axis][1] = part == 0;
    box->side[axis] = part;
    if (part >= 0) box->axes |= 1u << axis;
}

int ht_absorbing_boxes(const struct ht_grid *grid, const struct ht_layers *layers,
                       struct ht_region out[HT_ABSORBING_BOXES]) {
    int count = 0;
    for (int n = 0; n < HT_ABSORBING_BOXES; n++) {
        const int part[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        struct ht_region box = {.axes = 0};
        for (int k = 0; k < 3; k++) set_part(grid, layers, k, part[k], &box);
        if (ht_box_nodes(&box.cells) > 0) out[count++] = box;
    }
    return count;
}

struct ht_window ht_absorbing_window(const struct ht_problem *problem, enum ht_subgrid subgrid,
                                     int axis, int side, int64_t first[3]) {
    struct ht_window w = ht_problem_window(problem, subgrid);
    const int64_t ghosts = w.count[axis] - w.held.end[axis];
    /* Nodes of the grid along the layer's normal: those of the layer and, on the dual grid, one
     * before its face. */
    const int64_t nodes = ht_grid_nodes(problem->grid, subgrid, axis);
    const int64_t count = problem->layers->side[axis][side].cells + 1;
    const int64_t begin =
        ht_most((side == 0 ? 0 : nodes - count) - w.origin[axis], w.held.begin[axis]);
    const int64_t end = ht_least((side == 0 ? count : nodes) - w.origin[axis], w.held.end[axis]);
    for (int k = 0; k < 3; k++) first[k] = 0;
    if (begin >= end) return (struct ht_window){.count = {0}};
    /* Ghosts lie behind the outer wall, where the held nodes end. */
    const bool above = end == w.held.end[axis] && side == 1;
    first[axis] = begin == w.held.begin[axis] && side == 0 ? 0 : begin;
    w.held.begin[axis] = begin - first[axis];
    w.held.end[axis] = end - first[axis];
    w.count[axis] = w.held.end[axis] + (above ? ghosts : 0);
    w.origin[axis] += first[axis];
    w.own.begin[axis] = ht_most(w.own.begin[axis] - first[axis], 0);
    w.own.end[axis] = ht_least(w.own.end[axis] - first[axis], w.held.end[axis]);
    return w;
}

/* ---- the sponge: what polynomials are multiplied by ---- */

double ht_sponge_rate(const struct ht_problem *problem, enum ht_subgrid subgrid) {
    const struct ht_layers *layers = problem->layers;
    if (layers == NULL || layers->type != HT_ABSORBING_SPONGE) return 0;
    if (problem->stored[HT_PRIMARY] == problem->stored[HT_DUAL]) return 1;
    return subgrid == HT_PRIMARY ? 2 : 0;
}

bool ht_sponge_damps(const struct ht_problem *problem, enum ht_subgrid subgrid, int axis) {
    return ht_sponge_rate(problem, subgrid) > 0 &&
           (problem->layers->side[axis][0].cells > 0 || problem->layers->side[axis][1].cells > 0);
}

/* Of g = exp(-tau sigma) from i g_i = -tau sum_j j sigma_j g_(i-j). */
void ht_sponge_jets(const struct ht_problem *problem, enum ht_subgrid subgrid, int axis,
                    int64_t node, double *out) {
    const double tau = ht_sponge_rate(problem, subgrid) * problem->dt / 2;
    const int count = problem->grid->order + 1;
    double sigma[HT_MAX_ORDER + 1];
    ht_layers_jets(problem->layers, axis, ht_absorbing_at(subgrid, node), count, sigma);
    out[0] = exp(-tau * sigma[0]);
    for (int i = 1; i < count; i++) {
        out[i] = 0;
        for (int j = 1; j <= i; j++) out[i] -= tau * j * sigma[j] * out[i - j] / i;
    }
}

/* ---- a part of a problem as a separate problem ---- */

/* medium_fill of the part: the whole problem's medium at the part's nodes. */
static HT_ERR fill_medium(const void *context, enum ht_subgrid subgrid, int64_t first, int64_t last,
                          double *out) {
    const struct ht_part *part = context;
    const struct ht_problem *whole = part->whole;
    const int64_t *begin = part->cells.begin;
    const int64_t n1 = ht_grid_nodes(whole->grid, subgrid, 0);
    const int64_t n2 = ht_grid_nodes(whole->grid, subgrid, 1);
    const int64_t own1 = ht_grid_nodes(&part->grid, subgrid, 0);
    const int64_t own2 = ht_grid_nodes(&part->grid, subgrid, 1);
    const int64_t rows = (int64_t)whole->medium_coefs * whole->eq->nmaterials;
    HT_ARRAY(double, plane, rows *n1 *n2);
    for (int64_t m = first; m < last; m++) {
        const int64_t at = (begin[2] + m) % ht_grid_planes(whole->grid, subgrid);
        TRY(whole->medium_fill(whole->medium, subgrid, at, at + 1, plane));
        for (int64_t r = 0; r < rows * own2; r++) {
            const int64_t row = r / own2, m2 = r % own2;
            const double *from = plane + (row * n2 + (begin[1] + m2) % n2) * n1;
            double *to = out + ((row * (last - first) + m - first) * own2 + m2) * own1;
            for (int64_t m1 = 0; m1 < own1; m1++) to[m1] = from[(begin[0] + m1) % n1];
        }
    }
    return HT_OK;
}

/* A positive medium that jumps at every node; what couples fields is small, and of fields at
 * different places 0 at three of four points: more than a third have none. */
static HT_ERR test_values(const void *context, int what, int64_t first, int64_t last, double *out) {
    const struct ht_problem *p = context;
    const int64_t plane = ht_grid_plane(p->grid, HT_PRIMARY);
    const int64_t row = ht_grid_nodes(p->grid, HT_PRIMARY, 0);
    struct ht_pair pair = {.nfields = 0};
    if (p->fd.pair == HT_PAIR_APART) ht_problem_pair(p, &pair);
    const bool coupling =
        what < pair.ncoefficients && pair.coefficient[what].row != pair.coefficient[what].col;
    for (int64_t n = 0; n < plane * (last - first); n++) {
        const uint64_t key = 4 * (uint64_t)(first * plane + n) + (unsigned)what;
        const int64_t place = n % row + 2 * (n % plane / row) + first + n / plane;
        const bool none = pair.nfields > 0 && what >= pair.ncoefficients && place % 4 != 0;
        out[n] = (none ? 0 : coupling ? 0.25 : 1) * (1 + 0.5 * ht_rng_uniform(7, key));
    }
    return HT_OK;
}

void ht_problem_part(const struct ht_problem *whole, const struct ht_box *cells,
                     enum ht_part_sides sides, enum ht_part_medium medium, struct ht_part *out) {
    *out = (struct ht_part){
        .whole = whole, .cells = *cells, .grid = ht_grid_whole(whole->grid), .problem = *whole};
    for (int k = 0; k < 3; k++) {
        bool used = k < out->grid.dims;
        if (!used) out->cells.begin[k] = 0;
        if (!used) out->cells.end[k] = 1;
        out->grid.cells[k] = out->cells.end[k] - out->cells.begin[k];
        out->grid.lower[k] += out->grid.h[k] * (double)out->cells.begin[k];
        out->grid.upper[k] = out->grid.lower[k] + out->grid.h[k] * (double)out->grid.cells[k];
        for (int side = 0; side < 2; side++) {
            if (sides == HT_SIDES_PERIODIC) out->grid.wall[k][side] = 0;
            if (sides == HT_SIDES_MIRROR && out->grid.cells[k] != whole->grid->cells[k])
                out->grid.wall[k][side] = 1;
        }
    }
    out->problem.grid = &out->grid;
    out->problem.halo = (struct ht_halo_choice){0};
    memset(out->grid.layer, 0, sizeof out->grid.layer);
    memset(out->grid.outer, 0, sizeof out->grid.outer);
    out->problem.layers = NULL;
    out->problem.shots = NULL;
    out->problem.duhamel = NULL;
    out->problem.fd.faces = NULL;
    if (whole->fd.fill != NULL) {
        out->problem.fd.fill = test_values;
        out->problem.fd.medium = &out->problem;
    }
    if (whole->medium_degree < 0) return;
    out->problem.medium_fill = medium == HT_MEDIUM_TEST ? ht_test_medium : fill_medium;
    out->problem.medium =
        medium == HT_MEDIUM_TEST ? (const void *)&out->problem : (const void *)out;
}

/* A smooth positive medium of the wanted degree: 1 + small polynomials. */
HT_ERR ht_test_medium(const void *context, enum ht_subgrid subgrid, int64_t first, int64_t last,
                      double *out) {
    const struct ht_problem *p = context;
    int64_t plane = ht_grid_plane(p->grid, subgrid), part = plane * (last - first);
    int64_t at = 0;
    for (int m = 0; m < p->eq->nmaterials; m++)
        for (int a = 0; a < p->medium_coefs; a++)
            for (int64_t n = 0; n < part; n++, at++) {
                uint64_t node = (uint64_t)(first * plane + n);
                uint64_t index =
                    (node * 1000 + (uint64_t)(m * p->medium_coefs + a)) * 2 + (subgrid == HT_DUAL);
                double noise = ht_rng_uniform(7, index);
                out[at] = a == 0                  ? 1 + 0.25 * noise
                          : p->constant >> m & 1u ? 0
                                                  : 0.25 * noise / p->medium_coefs;
            }
    return HT_OK;
}
