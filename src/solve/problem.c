/* What is true of a problem without a device: its scheme, the fields that its grids store, the
 * windows of a rank, the specs of its half steps.
 */

#include <float.h>
#include <string.h>

#include "htwave/fd_kernel.h"
#include "htwave/schedule.h"

const char *ht_problem_set_scheme(struct ht_problem *problem, const struct ht_scheme *scheme) {
    struct ht_form form;
    const char *why = scheme->form(problem->eq, &form);
    /* cppcheck-suppress returnDanglingLifetime ; the reason is a literal */
    if (why != NULL && scheme->otherwise != NULL)
        return ht_problem_set_scheme(problem, scheme->otherwise);
    if (why != NULL) return why;
    problem->scheme = scheme;
    problem->old_sign = form.old_sign;
    problem->fd.pair = form.pair;
    memcpy(problem->stored, form.stored, sizeof problem->stored);
    return NULL;
}

bool ht_problem_stores(const struct ht_problem *problem, enum ht_subgrid subgrid, int field) {
    unsigned stored = problem->stored[subgrid];
    return stored == 0 || (stored >> field & 1u);
}

int ht_problem_stored(const struct ht_problem *problem, enum ht_subgrid subgrid) {
    int count = 0;
    for (int f = 0; f < problem->eq->nfields; f++) count += ht_problem_stores(problem, subgrid, f);
    return count;
}

/* The scheme's form was asked for it before. */
void ht_problem_pair(const struct ht_problem *problem, struct ht_pair *out) {
    (void)ht_pair_make(problem->eq, problem->fd.pair, out);
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
                           .constant = problem->fd.pair != HT_PAIR_NONE ? problem->fd.constant
                                       : problem->medium_degree > 0     ? problem->constant
                                                                        : 0,
                           .trim = tuning->trim,
                           .src = problem->stored[from],
                           .dst = problem->stored[from == HT_PRIMARY],
                           .differences = problem->fd.order,
                           .density = problem->fd.density,
                           .pair = problem->fd.pair,
                           .old_sign = problem->old_sign,
                           .stages = problem->stages,
                           .noise = problem->amplification *
                                    (tuning->fp64 ? DBL_EPSILON : FLT_EPSILON) / 2};
    if (problem->eq->nmemory > 0) spec.noise = 0; /* of layers none is known */
    spec.sorted = tuning->sorted || (tuning->variant != NULL && tuning->variant->sorted);
    if (spec.sorted) spec.block = spec.fp64 ? 2 : 4;
    for (int t = 0; t < problem->eq->nterms; t++) {
        const struct ht_term *term = &problem->eq->term[t];
        spec.scale[t] = problem->dt / 2 * term->coef;
        for (int n = 0; n < term->derivative; n++) spec.scale[t] /= problem->grid->h[term->axis];
        if (problem->medium_degree < 0 && term->material >= 0 &&
            ht_material_layer(problem->eq, term->material) < 0)
            spec.scale[t] *= problem->uniform[term->material];
    }
    return spec;
}

struct ht_pack_format ht_problem_format(const struct ht_problem *problem,
                                        const struct ht_tuning *tuning, enum ht_subgrid subgrid) {
    const struct ht_spec spec = ht_problem_spec(problem, tuning, subgrid);
    int storage[HT_MAX_COEFS];
    return (struct ht_pack_format){.fp64 = spec.fp64,
                                   .block = spec.block,
                                   .fields = ht_problem_stored(problem, subgrid),
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

/* ---- schemes ---- */

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

const struct ht_rounding *ht_scheme_rounding(const struct ht_scheme *scheme,
                                             const struct ht_equations *eq) {
    const struct ht_rounding *row = &scheme->rounding[eq->symbol == HT_SYMBOL_PAIR];
    return row->power > 0 ? row : NULL;
}
