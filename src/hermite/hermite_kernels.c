/* The kernels of a problem's two half steps by a Hermite method, compiled for a
 * device, and the reduction for their fields. The two half steps differ only if
 * the grids store different fields.
 */
#include "halo.h"
#include "htwave/absorbing.h"
#include "kept_mean.h"
#include "layer_kernels.h"
#include "src/solve/methods.h"

enum ht_err ht_hermite_kernels_plan(const struct ht_problem *problem,
                                    const struct ht_device_info *info,
                                    const struct ht_tuning *tuning,
                                    struct ht_kernels *out) {
    *out = (struct ht_kernels){.variant = tuning->variant};
    TRY(ht_kernels_check_nodes(problem, tuning->variant));
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        out->spec[subgrid] =
            ht_problem_spec(problem, tuning, subgrid ? HT_DUAL : HT_PRIMARY);
        TRY(ht_variant_shape(tuning, &out->spec[subgrid], info,
                             &out->shape[subgrid]));
    }
    return HT_OK;
}

static enum ht_err create_packers(const struct ht_problem *problem,
                                  struct ht_device *device,
                                  const struct ht_tuning *tuning,
                                  const char *cache, struct ht_kernels *k) {
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        const struct ht_pack_format format =
            ht_problem_format(problem, tuning, subgrid ? HT_DUAL : HT_PRIMARY);
        TRY(ht_packer_create(device, &format, cache, &k->packer[subgrid]));
    }
    return HT_OK;
}

static enum ht_err create(struct ht_device *device, const char *cache,
                          struct ht_kernels *k) {
    TRY(ht_step_create(device, k->variant, &k->spec[0], &k->shape[0], cache,
                       &k->step[0]));
    k->step[1] = k->step[0];
    if (k->spec[0].src != k->spec[1].src)
        TRY(ht_step_create(device, k->variant, &k->spec[1], &k->shape[1], cache,
                           &k->step[1]));
    for (int subgrid = 0; subgrid < 2; subgrid++)
        TRY(ht_ghosts_create(device, &k->spec[subgrid], cache,
                             &k->ghosts[subgrid]));
    return ht_reduction_create(device, &k->spec[0],
                               ht_device_info(device)->fp64, cache,
                               &k->reduction);
}

/* Compiles the ghost kernels before the first step if the problem's windows
 * have ghosts. */
static enum ht_err build_ghosts(const struct ht_problem *problem,
                                struct ht_kernels *k) {
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        const struct ht_window window =
            ht_problem_window(problem, subgrid ? HT_DUAL : HT_PRIMARY);
        if (ht_window_nodes(&window) > ht_box_nodes(&window.held))
            TRY(ht_ghosts_build(k->ghosts[subgrid]));
    }
    return HT_OK;
}

enum ht_err ht_hermite_kernels_create(const struct ht_problem *problem,
                                      struct ht_device *device,
                                      const struct ht_tuning *tuning,
                                      const char *cache,
                                      struct ht_kernels *out) {
    struct ht_kernels k;
    TRY(ht_hermite_kernels_plan(problem, ht_device_info(device), tuning, &k));
    enum ht_err err = create(device, cache, &k);
    if (err == HT_OK) err = build_ghosts(problem, &k);
    if (err == HT_OK && ht_grid_cut(problem->grid))
        err = create_packers(problem, device, tuning, cache, &k);
    if (err == HT_OK && problem->duhamel != NULL)
        err = ht_injector_create(device, &k.spec[0], cache, &k.injector);
    if (err == HT_OK && ht_absorbing_axes(problem->layers) != 0)
        err =
            ht_layer_kernels_create(problem, device, tuning, cache, &k.layers);
    if (err == HT_OK && ht_sponge_rate(problem, HT_PRIMARY) > 0)
        err = ht_sponge_create(device, &k.spec[0], cache, &k.sponge);
    if (err == HT_OK && ht_problem_keeps_mean(problem, k.spec[0].fp64))
        err = ht_means_create(device, &k.spec[0], cache, &k.means);
    if (err != HT_OK) {
        ht_kernels_destroy(&k);
        return err;
    }
    *out = k;
    return HT_OK;
}
