/* Absorbing layers of Hermite methods in slabs against one process, bit by bit:
 * slabs end inside layers along x3 and cut those along x1; depths of halos, and sponges.
 *
 *     layers [CACHE] */
#include "mpi/trial.h"

enum { CELLS = 11, LAYER = 5, HALF_STEPS = 8 };

struct kind {
    const char *name;
    int depth;
    bool sponge, leapfrog;
};

static void make(struct trial *t, const struct scene *scene, struct ht_layers *layers,
                 const struct kind *kind) {
    static const int wall[3][2] = {{1, -1}, {0, 0}, {1, 1}};
    const int64_t layer[3][2] = {{2, 0}, {0, 0}, {LAYER, LAYER}};
    *t = (struct trial){.variant = trial_quick(scene),
                        .eq = ht_equations_make(ht_system_find("acoustic"), 3)};
    t->tuning = (struct ht_tuning){.variant = t->variant,
                                   .fp64 = ht_device_info(scene->device)->fp64,
                                   .ptx = ht_device_info(scene->device)->ptx,
                                   .ptx_own = ht_device_info(scene->device)->ptx_own,
                                   .trim = true,
                                   .block = 1};
    trial_cut(t, scene, 1, wall, CELLS, 0);
    trial_problem(t, 5, kind->leapfrog, kind->sponge ? -1 : 0);
    t->problem.halo.depth = trial_depth(scene, t, kind->depth);
    *layers = (struct ht_layers){.type = kind->sponge ? HT_ABSORBING_SPONGE : HT_ABSORBING_CPML,
                                 .dims = 3,
                                 .profile_degree = kind->sponge ? 0 : HT_PROFILE_DEGREE,
                                 .stages = 6};
    for (int n = 0; n < 6; n++) {
        const int k = n / 2, side = n % 2;
        layers->cells[k] = t->whole.cells[k];
        t->whole.layer[k][side] = t->grid.layer[k][side] = layer[k][side];
        layers->side[k][side] = (struct ht_layer){
            .cells = layer[k][side], .degree = 2, .most = 2, .alpha = 0.25, .sponge = 0.0625};
    }
    t->problem.layers = t->alone.layers = layers;
    snprintf(t->name, sizeof t->name, "%s, %d ranks, depth %d", kind->name,
             ht_comm_size(scene->comm), t->problem.halo.depth);
}

static enum ht_err advance(const struct trial *t, const struct ht_grid *grid,
                           const struct ht_stepper *stepper, double *data) {
    TRY(trial_put(t, grid, stepper, HT_PRIMARY, 2, 0, data));
    if (t->problem.old_sign != 0) TRY(trial_put(t, grid, stepper, HT_DUAL, 2, 0, data));
    for (int n = 0; n < HALF_STEPS; n++)
        TRY(stepper->ops->half_step(stepper->self, n % 2 ? HT_DUAL : HT_PRIMARY));
    return stepper->ops->finish(stepper->self);
}

static enum ht_err run(const struct scene *scene, const struct trial *t, double *different,
                       double *sums) {
    struct ht_stepper together = {0}, alone = {0};
    struct ht_kernels kernels = {0};
    double *data[2] = {NULL, NULL};
    enum ht_err err = trial_kernels(scene, t, true, &kernels);
    for (int i = 0; i < 2 && err == HT_OK; i++) err = HT_ALLOC(data[i], trial_values(t));
    if (err == HT_OK) err = ht_stepper_create(&t->alone, scene->device, &kernels, &alone);
    if (err == HT_OK) err = advance(t, &t->whole, &alone, data[0]);
    if (err == HT_OK) err = ht_stepper_create(&t->problem, scene->device, &kernels, &together);
    if (err == HT_OK) err = advance(t, &t->grid, &together, data[0]);
    if (err == HT_OK) err = trial_compare(t, &together, &alone, data, trial_same, different);
    if (err == HT_OK) err = ht_comm_sum(scene->comm, 1, different);
    if (err == HT_OK) err = trial_measure(scene, HT_PRIMARY, &together, &alone, sums);
    err = ht_comm_agree(scene->comm, err);
    ht_stepper_destroy(&together);
    ht_stepper_destroy(&alone);
    ht_kernels_destroy(&kernels);
    for (int i = 0; i < 2; i++) free(data[i]);
    return err;
}

int main(int argc, char **argv) {
    struct scene scene;
    const bool here = scene_open(&scene, argc, argv);
    static const struct kind kind[] = {{"layers", 1, false, false},
                                       {"layers", 3, false, false},
                                       {"sponge", 1, true, false},
                                       {"sponge of leapfrog", 1, true, true},
                                       {"sponge of leapfrog", 3, true, true}};
    for (size_t i = 0; here && i < sizeof kind / sizeof *kind; i++) {
        struct ht_layers layers;
        struct trial t;
        double different = 0, sums = NAN;
        /* kinds in turn by 2 and 5 ranks (test/mpi/layers.sh) */
        if (!test_all() && (i % 2 == 1) != (ht_comm_size(scene.comm) == 5)) continue;
        make(&t, &scene, &layers, &kind[i]);
        const enum ht_err err = run(&scene, &t, &different, &sums);
        TEST_CHECK(err == HT_OK && different == 0 && sums <= trial_measure_bound(&t),
                   "%s: %.0f values differ, sums by %.1e of %.0e%s", t.name, different, sums,
                   trial_measure_bound(&t), err ? ht_err_message() : "");
    }
    return scene_close(&scene, "layers");
}
