/* Regions of the stepper on a device:
 *   regions     two variants that compute the same numbers in turn, region by
 *               region, against one of them, bit by bit;
 *   reference   half steps from both grids, in regions, against the
 *               reference, over the bound n eps sum|products| of its absolute
 *               mode for each of them;
 *   laws        regions of a uniform medium, of values at nodes and of polynomials, each by
 *               kernels for no more than that, against the reference;
 *   refusals    kernels that do not fit. */
#include "regions.h"
#include "compiler.h"

#include "open_device.h"
#include "problem.h"

struct trial {
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_problem problem;
    struct ht_tuning tuning;
    char name[120];
};

/* Walls along x2, where the system has any. */
static void make(struct trial *t, const char *system, bool leapfrog, const char *variant,
                 bool fp64) {
    static const int wall[3][2] = {{0, 0}, {1, 1}, {0, 0}};
    *t = (struct trial){.eq = ht_equations_make(ht_system_find(system), 3)};
    t->grid = hand_grid(3, 1, (const int64_t[]){19, 3, 4}, t->eq.system->nwalls > 0 ? wall : NULL);
    t->problem = hand_problem(&t->eq, &t->grid, leapfrog ? HT_LEAPFROG : HT_TAYLOR, -1, 0.3, 9);
    t->tuning = (struct ht_tuning){
        .variant = ht_variant_find(variant, NULL, false), .fp64 = fp64, .trim = true, .block = 1};
    snprintf(t->name, sizeof t->name, "%s %s %s", variant, system,
             leapfrog ? "leapfrog" : "taylor");
}

/* ---- regions ---- */

static void run_pair(struct ht_device *device, const char *const variant[2], const char *system,
                     bool leapfrog) {
    struct ht_kernels kernels[2] = {{0}, {0}};
    const struct ht_kernels *set[2] = {&kernels[0], &kernels[1]};
    struct trial t;
    double different = 0;
    enum ht_err err = HT_OK;
    for (int i = 0; i < 2 && err == HT_OK; i++) {
        make(&t, system, leapfrog, variant[i], ht_device_info(device)->fp64);
        err = ht_kernels_create(&t.problem, device, &t.tuning, &kernels[i]);
    }
    for (int seed = 1; seed <= 3 && err == HT_OK; seed++)
        err = regions_differ(&t.problem, device, set, 2, (uint64_t)seed, 3, &different);
    for (int i = 0; i < 2; i++) ht_kernels_destroy(&kernels[i]);
    TEST_CHECK(err == HT_OK && different == 0, "%s and %s in turn: %.0f values differ%s",
               variant[0], t.name, different, test_said(err));
}

/* ---- reference ---- */

/* Ghosts are behind walls only, and a part of the interior's seconds. */
static void judge_seconds(const struct trial *t, const struct ht_stepper *s) {
    const bool walls = t->grid.wall[1][0] != 0;
    struct ht_traffic spent;
    s->ops->traffic(s->self, &spent);
    TEST_CHECK(
        spent.ghosts_s < spent.interior_s && (spent.ghosts_s > 0) == walls && spent.half_steps == 2,
        "%s: %lld half steps, ghosts take %.2g s of %.2g s%s", t->name, (long long)spent.half_steps,
        spent.ghosts_s, spent.interior_s, walls ? "" : " without walls");
}

static enum ht_err run_regions(const struct trial *t, struct ht_device *device,
                               const struct ht_kernels *kernels, double *worst) {
    struct ht_region region[MOST_REGIONS];
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper = {0};
    const int regions = cut_regions(&t->grid, 2, 3, &kernels, 1, region);
    TRY(ht_stepper_create_regions(&t->problem, device, regions, region, &stepper));
    enum ht_err err = worst_of_reference(&t->problem, &stepper, &t->problem, 2, worst);
    if (err == HT_OK) judge_seconds(t, &stepper);
    return err;
}

static void test_reference(struct ht_device *device, const char *variant, const char *system,
                           bool leapfrog, bool fp64) {
    struct ht_kernels kernels = {0};
    double worst = 0;
    struct trial t;
    make(&t, system, leapfrog, variant, fp64);
    enum ht_err err = ht_kernels_create(&t.problem, device, &t.tuning, &kernels);
    if (err == HT_OK) err = run_regions(&t, device, &kernels, &worst);
    ht_kernels_destroy(&kernels);
    if (err != HT_OK) {
        TEST_CHECK(false, "%s: %s", t.name, ht_err_message());
        return;
    }
    const double eps = fp64 ? DBL_EPSILON : FLT_EPSILON;
    TEST_BELOW(worst, 2 * ht_oracle_roundings(&t.problem) * eps / 2, "%s %s", t.name,
               fp64 ? "double" : "single");
}

/* ---- laws ---- */

/* Regions by kernels for a uniform medium, for values at nodes and for polynomials, where the
 * medium is such; uniform: the variant for the first. */
static enum ht_err make_laws(struct trial *t, struct ht_device *device, const char *uniform,
                             struct law_medium *medium, struct ht_kernels kernels[LAWS]) {
    law_make(&t->problem, &t->grid, medium);
    for (int l = 0; l < LAWS; l++) {
        const struct ht_problem p = ht_problem_with_law(&t->problem, &medium->law[l]);
        struct ht_tuning tuning = t->tuning;
        if (l == 0) tuning.variant = ht_variant_find(uniform, NULL, false);
        TRY(ht_kernels_create(&p, device, &tuning, &kernels[l]));
    }
    return HT_OK;
}

/* By the laws, and with a law that is wrong by 1 %, which kernels that contain the operator do not
 * read. */
static enum ht_err run_laws(struct trial *t, struct ht_device *device,
                            const struct law_medium *medium, const struct ht_kernels kernels[LAWS],
                            double worst[2]) {
    const bool baked = kernels[0].variant->pack != NULL;
    struct law_medium wrong = *medium;
    wrong.law[0].uniform[0] *= 1.01;
    if (baked) worst[1] = INFINITY;
    for (int i = 0; i < (baked ? 1 : 2); i++) {
        struct ht_region region[LAW_REGIONS];
        struct ht_stepper stepper = {0};
        law_regions(i == 0 ? medium : &wrong, kernels, region);
        enum ht_err err =
            ht_stepper_create_regions(&t->problem, device, LAW_REGIONS, region, &stepper);
        if (err == HT_OK)
            err = worst_of_reference(&t->problem, &stepper, &t->problem, 2, &worst[i]);
        ht_stepper_destroy(&stepper);
        TRY(err);
    }
    return HT_OK;
}

static void test_laws(struct ht_device *device, const char *variant, const char *uniform,
                      const char *system, bool leapfrog, bool fp64) {
    struct ht_kernels kernels[LAWS] = {{0}};
    struct law_medium medium;
    double worst[2] = {0, 0};
    struct trial t;
    make(&t, system, leapfrog, variant, fp64);
    enum ht_err err = make_laws(&t, device, uniform, &medium, kernels);
    if (err == HT_OK) err = run_laws(&t, device, &medium, kernels, worst);
    for (int l = 0; l < LAWS; l++) ht_kernels_destroy(&kernels[l]);
    if (err != HT_OK) {
        TEST_CHECK(false, "%s, laws: %s", t.name, ht_err_message());
        return;
    }
    const double eps = fp64 ? DBL_EPSILON : FLT_EPSILON;
    const double bound = 2 * ht_oracle_roundings(&t.problem) * eps / 2;
    TEST_BELOW(worst[0], bound, "%s and %s by their laws", t.name, uniform);
    TEST_CHECK(worst[1] > 10 * bound, "%s: %.3g by a law that is wrong by 1 %%", t.name, worst[1]);
}

/* ---- refusals ---- */

static void test_refusals(struct ht_device *device) {
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    const struct ht_kernels *set = &kernels;
    struct ht_region region[MOST_REGIONS];
    struct ht_stepper stepper = {0};
    struct trial t;
    make(&t, "wave", false, "propagator", false);
    enum ht_err err = ht_kernels_create(&t.problem, device, &t.tuning, &kernels);
    if (err == HT_OK) err = ht_stepper_create(&t.problem, device, &kernels, &stepper);
    TEST_CHECK(err == HT_OK, "kernels of the whole grid");
    if (err == HT_OK) {
        ht_stepper_destroy(&stepper);
        cut_regions(&t.grid, 1, 2, &set, 1, region);
        err = ht_stepper_create_regions(&t.problem, device, 1, region, &stepper);
        TEST_CHECK(err == HT_ERR_INTERNAL, "one of two regions: %s",
                   err == HT_OK ? "taken" : ht_err_message());
    }
}

static void judge(struct ht_device *device) {
    static const char *const pair[][2] = {{"propagator-lanes", "propagator"},
                                          {"monolithic", "two-rolled"}};
    static const struct {
        const char *variant, *system;
        bool leapfrog;
    } alone[] = {{"propagator", "acoustic", true},  {"propagator", "wave", false},
                 {"monolithic", "acoustic", false}, {"monolithic", "wave", true},
                 {"vector", "wave", false},         {"separable", "advection", false}};
    const bool fp64 = ht_device_info(device)->fp64;
    test_optimise(false);
    for (int i = 0; i < 2; i++) {
        run_pair(device, pair[i], "acoustic", false);
        run_pair(device, pair[i], "wave", true);
    }
    for (int i = 0; i < (int)(sizeof alone / sizeof *alone); i++)
        test_reference(device, alone[i].variant, alone[i].system, alone[i].leapfrog,
                       fp64 && i % 2 == 0);
    test_laws(device, "monolithic", "monolithic", "acoustic", false, fp64);
    test_laws(device, "two-rolled", "propagator", "acoustic", true, false);
    test_laws(device, "monolithic", "two-rolled", "wave", true, fp64);
    test_refusals(device);
}

int main(void) {
    return test_on_device("regions", judge);
}
