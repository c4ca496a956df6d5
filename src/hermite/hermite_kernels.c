/* The passes of a problem's two half steps by a Hermite method, their kernels, compiled for a
 * device, and the sums for their fields. Both differ only if the grids store different fields. */
#include "src/solve/methods.h"

void ht_hermite_schedule_passes(const struct ht_problem *problem, struct ht_passes *out) {
    const bool two_level = problem->scheme->two_level;
    *out = (struct ht_passes){.count = 2, .half = {{0, 1}, {1, 2}}};
    for (int i = 0; i < 2; i++) {
        const enum ht_subgrid from = i ? HT_DUAL : HT_PRIMARY, to = i ? HT_PRIMARY : HT_DUAL;
        const bool damped = ht_sponge_rate(problem, to) > 0;
        struct ht_pass *pass = &out->pass[i];
        /* Dual plane m lies between the primary planes m and m + 1. */
        *pass = (struct ht_pass){.number = i,
                                 .from = from,
                                 .to = to,
                                 .sources = 1u << from,
                                 .reads = two_level ? 1u << to : 0,
                                 .writes = 1u << to,
                                 .reach = {from == HT_DUAL, from == HT_PRIMARY}};
        if (damped && two_level) ht_pass_add(pass, HT_TASK_LAYERS);
        ht_pass_add(pass, HT_TASK_STEP);
        if (problem->duhamel != NULL) ht_pass_add(pass, HT_TASK_INJECT);
        if (damped) ht_pass_add(pass, HT_TASK_LAYERS);
    }
}

/* Both half steps; members that a plan sets. */
static HT_ERR create_steps(const struct ht_problem *problem, struct ht_device *device,
                           const struct ht_tuning *tuning, struct ht_kernels *k) {
    TRY(ht_kernels_plan(problem, ht_device_info(device), tuning, k));
    TRY(ht_step_create(device, k->variant, &k->spec[0], &k->shape[0], &k->step[0]));
    k->step[1] = k->step[0];
    return k->spec[0].src == k->spec[1].src
               ? HT_OK
               : ht_step_create(device, k->variant, &k->spec[1], &k->shape[1], &k->step[1]);
}

/* ---- absorbing layers ---- */

/* The kernels where the layers of these axes overlap. The Taylor series does not end in layers, so
 * that nothing is trimmed. */
static HT_ERR create_set(const struct ht_problem *problem, struct ht_device *device,
                         const struct ht_tuning *interior, unsigned axes,
                         struct ht_layer_kernels *k) {
    struct ht_tuning tuning = *interior;
    /* The law of the layers of some axes. eq: set to its equations. The medium is uniform or has
     * values at the nodes there. */
    TRY(ht_equations_absorb(problem->eq, axes, &k->eq[axes]));
    k->eq[axes].profile_degree = problem->layers->profile_degree;
    k->law[axes] = (struct ht_law){.medium_degree = problem->medium_degree < 0 ? -1 : 0,
                                   .eq = (&k->eq[axes]),
                                   .stages = problem->layers->stages};
    memcpy(k->law[axes].uniform, problem->uniform, sizeof k->law[axes].uniform);
    const struct ht_problem p = ht_problem_with_law(problem, &k->law[axes]);
    tuning.variant = ht_variant_find("monolithic", NULL, true);
    tuning.sorted = ht_problem_spec(&p, interior, HT_PRIMARY).sorted;
    tuning.trim = false;
    tuning.cells = tuning.rows = tuning.planes = 0;
    return create_steps(&p, device, &tuning, &k->set[axes]);
}

/* Of the memory variables of an axis. */
static HT_ERR create_axis(const struct ht_problem *problem, struct ht_device *device,
                          const struct ht_tuning *tuning, int axis, struct ht_layer_kernels *k) {
    struct ht_problem p = *problem;
    p.eq = &k->full;
    struct ht_spec spec = ht_problem_spec(&p, tuning, HT_DUAL);
    spec.src = spec.dst = 0;
    for (int f = 0; f < k->full.nfields; f++)
        if (ht_field_layer(&k->full, f) == axis) spec.src |= 1u << f;
    TRY(ht_ghosts_create(device, &spec, &k->ghosts[axis]));
    TRY(ht_tool_build(k->ghosts[axis]));
    if (!ht_grid_cut(problem->grid)) return HT_OK;
    const struct ht_pack_format format =
        ht_problem_format(problem, tuning, ht_layer_fields(&k->full, axis));
    return ht_packer_create(device, &format, &k->packer[axis]);
}

/* tuning: of the interior's kernels. */
static HT_ERR create_layers(const struct ht_problem *problem, struct ht_device *device,
                            const struct ht_tuning *tuning, struct ht_layer_kernels **out) {
    const unsigned axes = ht_absorbing_axes(problem->layers);
    struct ht_region box[HT_ABSORBING_BOXES];
    const int boxes = ht_absorbing_boxes(problem->grid, problem->layers, box);
    TRY(HT_ALLOC(*out, 1));
    TRY(ht_equations_absorb(problem->eq, axes, &(*out)->full));
    for (int i = 0; i < boxes; i++)
        if (box[i].axes != 0 && (*out)->set[box[i].axes].step[0] == NULL)
            TRY(create_set(problem, device, tuning, box[i].axes, *out));
    for (int axis = 0; axis < 3; axis++)
        if (axes >> axis & 1u) TRY(create_axis(problem, device, tuning, axis, *out));
    return HT_OK;
}

enum ht_err ht_hermite_kernels_create(const struct ht_problem *problem, struct ht_device *device,
                                      const struct ht_tuning *tuning, struct ht_kernels *out) {
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {.fd = NULL};
    struct ht_kernels *k = &kernels;
    TRY(create_steps(problem, device, tuning, k));
    for (int i = 0; i < 2; i++) TRY(ht_ghosts_create(device, &k->spec[i], &k->ghosts[i]));
    TRY(ht_sums_create(device, &k->spec[0], ht_device_info(device)->fp64, false, &k->sums));
    for (enum ht_subgrid i = 0; i < 2; i++) {
        /* compiled before the first step if the windows have ghosts */
        const struct ht_window window = ht_problem_window(problem, i);
        const struct ht_pack_format format =
            ht_problem_format(problem, tuning, ht_problem_stored(problem, i));
        if (ht_window_nodes(&window) > ht_box_nodes(&window.held)) TRY(ht_tool_build(k->ghosts[i]));
        if (ht_grid_cut(problem->grid)) TRY(ht_packer_create(device, &format, &k->packer[i]));
    }
    if (problem->duhamel != NULL) TRY(ht_injector_create(device, &k->spec[0], &k->injector));
    if (ht_absorbing_axes(problem->layers) != 0) {
        const enum ht_err err = create_layers(problem, device, tuning, &k->layers);
        if (err != HT_OK) return ht_err_prefix(err, "%s", "absorbing layers");
    }
    if (ht_sponge_rate(problem, HT_PRIMARY) > 0)
        TRY(ht_sponge_create(device, &k->spec[0], &k->sponge));
    *out = kernels;
    kernels = (struct ht_kernels){.fd = NULL};
    return HT_OK;
}
