/* The order of coefficients belongs to the state, not to a variant: monolithic, which computes
 * layers beside kernels on tensor cores, is compared with the oracle on a state whose coefficients
 * are sorted by parity. Judged like variants.h: largest difference over the bound that rounding
 * allows, 1 being the most. */
#include "compiler.h"
#include "open_device.h"
#include "test.h"

#include "htwave/stepper.h"

struct scene {
    struct ht_device *device;
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_problem problem;
};

static void make_scene(struct scene *s, int dims, int order, int degree) {
    s->eq = ht_equations_make(ht_system_find("acoustic"), dims);
    s->grid = (struct ht_grid){.dims = dims, .order = order};
    for (int k = 0; k < 3; k++) {
        s->grid.cells[k] = k < dims ? 3 + k : 1;
        s->grid.h[k] = k < dims ? 0.5 + 0.25 * k : 1;
        for (int side = 0; side < 2 && k < dims && k != 1; side++)
            s->grid.wall[k][side] = side ? 1 : -1;
    }
    s->problem = (struct ht_problem){.eq = &s->eq,
                                     .grid = &s->grid,
                                     .scheme = ht_scheme_at(HT_TAYLOR),
                                     .dt = 0.3,
                                     .stages = 5,
                                     .medium_degree = degree};
    for (int m = 0; m < HT_MAX_MATERIALS; m++) s->problem.uniform[m] = 0.75 + 0.125 * m;
    if (degree < 0) return;
    s->problem.medium_coefs = 1;
    s->problem.medium_fill = ht_test_medium;
    s->problem.medium = &s->problem;
}

static enum ht_err create(const struct scene *s, bool fp64, struct ht_kernels *out) {
    struct ht_tuning tuning = {.fp64 = fp64, .sorted = true, .trim = true};
    const struct ht_spec spec = ht_problem_spec(&s->problem, &tuning, HT_PRIMARY);
    tuning.variant = ht_variant_find("monolithic", &spec, false);
    tuning.block = spec.block;
    return ht_kernels_create(&s->problem, s->device, &tuning, out);
}

static void run(struct scene *s, int dims, bool fp64) {
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    double worst = 0;
    make_scene(s, dims, 2, -1);
    enum ht_err err = create(s, fp64, &kernels);
    if (err == HT_OK) err = ht_verify_kernels(&s->problem, s->device, &kernels, &worst);
    TEST_BELOW(err ? (double)NAN : worst, 1.0, "%d-D, %s%s%s", dims, fp64 ? "double" : "single",
               err ? ": " : "", test_said(err));
}

/* Transfers by several threads: what is put with some of them is got with others, rounded. */
static enum ht_err transfer(const struct scene *s, const struct ht_kernels *kernels,
                            double *wrong) {
    static const int threads[][2] = {{1, 1}, {1, 5}, {3, 1}, {8, 3}};
    const int coefs = ht_grid_coefs(&s->grid), fields = s->eq.nfields;
    const int64_t planes = ht_grid_planes(&s->grid, HT_PRIMARY);
    const int64_t values = ht_grid_total(&s->grid, HT_PRIMARY) * coefs;
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper = {0};
    HT_FREED double *in = NULL;
    TRY(HT_ALLOC(in, (int64_t)2 * fields * values));
    double *out = in + (int64_t)fields * values;
    enum ht_err err = ht_stepper_create(&s->problem, s->device, kernels, &stepper);
    for (int i = 0; err == HT_OK && i < 4; i++) {
        for (int64_t n = 0; n < fields * values; n++)
            in[n] = ht_rng_uniform((uint64_t)i, (uint64_t)n);
        ht_threads_set(threads[i][0]);
        err = stepper.ops->put(stepper.self, HT_PRIMARY, 0, planes, in);
        ht_threads_set(threads[i][1]);
        for (int f = 0; err == HT_OK && f < fields; f++)
            err = stepper.ops->get(stepper.self, HT_PRIMARY, f, coefs, 0, planes, out + f * values);
        for (int64_t n = 0; n < fields * values; n++) *wrong += out[n] != (double)(float)in[n];
    }
    ht_threads_set(0);
    return err;
}

/* Rows for several chunks. */
static void run_threads(struct scene *s) {
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    double wrong = 0;
    make_scene(s, 2, 2, -1);
    s->grid.cells[0] = 90;
    s->grid.cells[1] = 81;
    enum ht_err err = create(s, false, &kernels);
    if (err == HT_OK) err = transfer(s, &kernels, &wrong);
    TEST_CHECK(err == HT_OK && wrong == 0, "transfers by threads: %.0f values differ %s", wrong,
               test_said(err));
}

/* Refused by name, not computed wrongly. */
static void check_refusal(void) {
    const struct ht_equations eq = ht_equations_make(ht_system_find("advection"), 2);
    const struct ht_spec spec = {.eq = &eq,
                                 .order = 1,
                                 .block = 4,
                                 .sorted = true,
                                 .medium_degree = HT_UNIFORM,
                                 .stages = 6};
    const struct ht_variant *row = ht_variant_find("separable", &spec, false);
    const char *why = ht_variant_refuses(row, &spec);
    TEST_CHECK(why != NULL && strstr(why, "sorted by parity") != NULL,
               "separable refuses a sorted state: %s", why ? why : "no");
}

static void judge(struct ht_device *device) {
    struct scene s = {.device = device};
    check_refusal();
    run(&s, 2, false);
    if (ht_device_info(s.device)->fp64) run(&s, 3, true);
    run_threads(&s);
}

int main(void) {
    return test_on_device("layouts", judge);
}
