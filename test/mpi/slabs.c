/* Slabs against one process, bit by bit, by every variant: rank 0 steps the whole grid alone, then
 * all step it together and in regions, from the same random data on both grids, and each compares
 * the planes it owns. Cases are the three-dimensional ones of kernel/variants_cube_*, whose
 * programs they take; walls, planes, depth of halos, transport and number of regions are drawn so
 * that pairs of them meet. Alone it only shows that it runs.
 *
 * Unless all cases are wanted each meets one of the numbers of ranks 2, 3 and 5
 * (test/mpi/slabs.sh).
 *
 *     slabs [CACHE [PART]]    cases whose name holds PART, whatever the ranks */
#include "kernel/cases.h"
#include "mpi/trial.h"
#include "regions.h"

/* As many as show data that an exchange brought, after halos of any depth. */
static int half_steps_of(int depth) {
    return depth < 3 ? depth + 2 : 5;
}

static const int wall_sets[][3][2] = {
    {{0, 0}, {0, 0}, {0, 0}},
    {{1, 1}, {0, 0}, {-1, 1}},
    {{0, 0}, {-1, 1}, {0, 0}},
    {{-1, 1}, {1, 1}, {1, 1}},
};

/* One in four cases has one. */
static int regions_of(const struct scene *scene) {
    return 1 + 2 * (int)(ht_rng_bits(29, (uint64_t)scene->number) >> 8 & 3);
}

/* Of the whole grid, so that all ranks name the same regions. */
static enum ht_err create_together(const struct scene *scene, const struct trial *t, int regions,
                                   const struct ht_kernels *kernels, struct ht_stepper *out) {
    struct ht_region region[MOST_REGIONS];
    regions = cut_regions(&t->whole, (uint64_t)scene->number, regions, &kernels, 1, region);
    return ht_stepper_create_regions(&t->problem, scene->device, regions, region, out);
}

static enum ht_err advance(const struct trial *t, const struct ht_stepper *stepper) {
    for (int n = 0; n < t->half_steps; n++) {
        TRY(stepper->ops->half_step(stepper->self, n % 2 ? HT_DUAL : HT_PRIMARY));
        /* An exchange may be under way or not. */
        if (n == t->half_steps - 3) TRY(stepper->ops->finish(stepper->self));
    }
    return stepper->ops->finish(stepper->self);
}

static enum ht_err put_and_advance(const struct trial *t, const struct ht_grid *grid,
                                   const struct ht_stepper *stepper, double *data) {
    TRY(trial_put(t, grid, stepper, HT_PRIMARY, 2, 0, data));
    TRY(trial_put(t, grid, stepper, HT_DUAL, 2, 0, data));
    return advance(t, stepper);
}

/* Rank 0 steps the whole grid, for all. */
static enum ht_err advance_alone(const struct scene *scene, const struct trial *t,
                                 const struct ht_stepper *stepper, double *data) {
    const bool first = ht_comm_rank(scene->comm) == 0;
    const int coefs = ht_grid_coefs(&t->whole);
    TRY(ht_comm_agree(scene->comm, first ? put_and_advance(t, &t->whole, stepper, data) : HT_OK));
    for (int m = 0; m < 2; m++) {
        const enum ht_subgrid subgrid = m ? HT_DUAL : HT_PRIMARY;
        const int64_t planes = ht_grid_planes(&t->whole, subgrid);
        const int64_t values = coefs * ht_grid_total(&t->whole, subgrid);
        for (int f = 0; first && f < t->eq.nfields; f++)
            if (ht_problem_stores(&t->alone, subgrid, f))
                TRY(stepper->ops->get(stepper->self, subgrid, f, coefs, 0, planes,
                                      data + f * values));
        TRY(ht_comm_broadcast(scene->comm, data, (size_t)(t->eq.nfields * values) * sizeof *data));
        if (!first) TRY(stepper->ops->put(stepper->self, subgrid, 0, planes, data));
    }
    return HT_OK;
}

/* ---- regions with laws ---- */

static enum ht_err make_law_kernels(const struct scene *scene, const struct trial *t,
                                    const struct law_medium *medium,
                                    struct ht_kernels kernels[LAWS]) {
    for (int l = 0; l < LAWS; l++) {
        const struct ht_problem p = ht_problem_with_law(&t->problem, &medium->law[l]);
        TRY(ht_kernels_create(&p, scene->device, &t->tuning, &kernels[l]));
    }
    return HT_OK;
}

/* Rank 0 compiles first: its steps alone. */
static enum ht_err run_laws(const struct scene *scene, struct trial *t,
                            const struct law_medium *medium, double *different) {
    struct ht_stepper together = {0}, alone = {0};
    struct ht_kernels kernels[LAWS] = {{0}};
    struct ht_region region[LAW_REGIONS];
    double *data[2] = {NULL, NULL};
    enum ht_err err = make_law_kernels(scene, t, medium, kernels);
    law_regions(medium, kernels, region);
    for (int i = 0; i < 2 && err == HT_OK; i++) err = HT_ALLOC(data[i], trial_values(t));
    if (err == HT_OK)
        err = ht_stepper_create_regions(&t->alone, scene->device, LAW_REGIONS, region, &alone);
    if (err == HT_OK) err = advance_alone(scene, t, &alone, data[0]);
    if (err == HT_OK)
        err = ht_stepper_create_regions(&t->problem, scene->device, LAW_REGIONS, region, &together);
    if (err == HT_OK) err = put_and_advance(t, &t->grid, &together, data[0]);
    if (err == HT_OK) err = trial_compare(t, &together, &alone, data, trial_same, different);
    if (err == HT_OK) err = ht_comm_sum(scene->comm, 1, different);
    err = ht_comm_agree(scene->comm, err);
    ht_stepper_destroy(&together);
    ht_stepper_destroy(&alone);
    for (int l = 0; l < LAWS; l++) ht_kernels_destroy(&kernels[l]);
    for (int i = 0; i < 2; i++) free(data[i]);
    return err;
}

/* Acoustics by kernels for three kinds of media, a cut through all of them. */
static void judge_laws(const struct scene *scene, bool leapfrog) {
    const int ranks = ht_comm_size(scene->comm);
    struct trial t = {.variant = trial_quick(scene),
                      .eq = ht_equations_make(ht_system_find("acoustic"), 3)};
    struct law_medium medium;
    double different = 0;
    t.tuning = (struct ht_tuning){.variant = t.variant, .block = 1};
    trial_cut(&t, scene, 1, wall_sets[leapfrog], 2 * ranks + 2, 1);
    trial_problem(&t, 4, leapfrog, 2);
    t.problem.halo.depth = trial_depth(scene, &t, 3);
    t.half_steps = half_steps_of(t.problem.halo.depth);
    law_make(&t.problem, &t.whole, &medium);
    t.alone.medium_fill = t.problem.medium_fill;
    t.alone.medium = t.problem.medium;
    snprintf(t.name, sizeof t.name, "%d ranks, regions with laws, %s", ranks,
             leapfrog ? "leapfrog" : "taylor");
    if (!scene_wants(scene, t.name)) return;
    enum ht_err err = run_laws(scene, &t, &medium, &different);
    TEST_CHECK(err == HT_OK && different == 0, "%s: %.0f values differ%s", t.name, different,
               err != HT_OK ? ht_err_message() : "");
}

/* Rank 0 compiles first, as above. */
static enum ht_err run(const struct scene *scene, struct trial *t, const struct ht_kernels *kernels,
                       double numbers[2], const char **transport) {
    struct ht_stepper together = {0}, alone = {0};
    struct ht_traffic traffic = {0};
    double *data[2] = {NULL, NULL};
    enum ht_err err = create_together(scene, t, regions_of(scene), kernels, &together);
    if (err == HT_OK) err = ht_stepper_create(&t->alone, scene->device, kernels, &alone);
    for (int i = 0; i < 2 && err == HT_OK; i++) err = HT_ALLOC(data[i], trial_values(t));
    if (err == HT_OK) err = advance_alone(scene, t, &alone, data[0]);
    if (err == HT_OK) err = put_and_advance(t, &t->grid, &together, data[0]);
    if (err == HT_OK) err = trial_compare(t, &together, &alone, data, trial_same, numbers);
    if (err == HT_OK) err = trial_measure(scene, HT_PRIMARY, &together, &alone, &numbers[1]);
    if (err == HT_OK) err = ht_comm_sum(scene->comm, 1, &numbers[0]);
    err = ht_comm_agree(scene->comm, err);
    if (err == HT_OK) together.ops->traffic(together.self, &traffic);
    *transport = traffic.transport[traffic.transport[0] == NULL];
    ht_stepper_destroy(&together);
    ht_stepper_destroy(&alone);
    for (int i = 0; i < 2; i++) free(data[i]);
    return err;
}

static void judge(const struct scene *scene, struct trial *t) {
    struct ht_kernels kernels = {0};
    double numbers[2] = {0, 0};
    const char *transport = NULL;
    enum ht_err err = trial_kernels(scene, t, false, &kernels);
    if (err == HT_OK) err = run(scene, t, &kernels, numbers, &transport);
    ht_kernels_destroy(&kernels);
    if (err != HT_OK) {
        TEST_CHECK(false, "%s: %s", t->name, ht_err_message());
        return;
    }
    TEST_CHECK(numbers[0] == 0, "%s, %s: %.0f values differ", t->name,
               transport ? transport : "alone", numbers[0]);
    TEST_BELOW(numbers[1], trial_measure_bound(t), "%s: measures", t->name);
}

/* Of the numbers of ranks that a case meets on a CPU. */
static bool has_turn(const struct scene *scene, const struct kind *kind) {
    int ranks = ht_comm_size(scene->comm), n = scene->number;
    if (scene->only != NULL || test_all()) return true;
    /* what runs for half a minute by five */
    if (kind->plain && kind->spec.medium_degree >= 0) return ranks == 2;
    return ranks == 1 ? n % 12 == 0 : n % 3 == (ranks == 5 ? 1 : ranks % 3);
}

/* What a case leaves open is drawn. */
static void run_case(struct scene *scene, const struct kind *kind) {
    static const char *const transport[] = {"auto", "staged"};
    const uint64_t bits = ht_rng_bits(23, (uint64_t)scene->number);
    const int walls = kind->eq.system->nwalls > 0 ? (int)(bits >> 12 & 3) : 0;
    const int ranks = ht_comm_size(scene->comm);
    struct trial t = {.variant = kind->variant, .eq = kind->eq, .tuning = case_tuning(kind)};
    char name[120];
    trial_cut(&t, scene, kind->spec.order, wall_sets[walls],
              (bits >> 14 & 3) == 0 ? ranks : 2 * ranks + 2, 1 + (int)(bits >> 16 & 1));
    t.problem = case_problem(kind, &t.grid);
    t.problem.eq = &t.eq;
    t.alone = t.problem;
    t.alone.grid = &t.whole;
    t.problem.medium = t.alone.medium = &t.alone;
    t.problem.halo.depth = trial_depth(scene, &t, 1 + (int)(bits >> 20 & 3));
    t.half_steps = half_steps_of(t.problem.halo.depth);
    t.problem.halo.transport = transport[bits >> 22 & 1];
    case_name(kind, name, sizeof name);
    snprintf(t.name, sizeof t.name, "%d ranks %s walls %d%d planes %lld depth %d regions %d", ranks,
             name, t.grid.wall[2][0], t.grid.wall[2][1], (long long)t.grid.cells[2],
             t.problem.halo.depth, regions_of(scene));
    test_optimise(!kind->plain);
    if (has_turn(scene, kind) && scene_wants(scene, t.name)) judge(scene, &t);
    scene->number++;
}

static void run_cases(struct scene *scene) {
    HT_FREED struct kind *kind = NULL;
    const int count = cases_choose(ht_device_info(scene->device), test_all(), &kind);
    for (int i = 0; i < 2; i++)
        if (test_all() || ht_comm_size(scene->comm) == (i > 0 ? 5 : 2)) judge_laws(scene, i > 0);
    for (int i = 0; i < count; i++) /* N = 2 has all that slabs can get wrong */
        if (kind[i].eq.dims == 3 && (test_all() || kind[i].spec.order == 2))
            run_case(scene, &kind[i]);
}

int main(int argc, char **argv) {
    struct scene scene;
    if (scene_open(&scene, argc, argv)) run_cases(&scene);
    return scene_close(&scene, "slabs");
}
