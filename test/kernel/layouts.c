/* The order of coefficients belongs to the state, not to a variant: monolithic, which computes
 * layers beside kernels on tensor cores, is compared with the oracle on a state whose coefficients
 * are sorted by parity. Judged like variants.h: largest difference over the bound that rounding
 * allows, 1 being the most. */
#include "compiler.h"
#include "open_device.h"
#include "problem.h"

struct scene {
    struct ht_device *device;
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_problem problem;
};

static void make_scene(struct scene *s, int dims, int64_t n1, int64_t n2) {
    static const int wall[3][2] = {{-1, 1}, {0, 0}, {-1, 1}};
    s->eq = ht_equations_make(ht_system_find("acoustic"), dims);
    s->grid = hand_grid(dims, 2, (const int64_t[]){n1, n2, 5}, wall);
    s->problem = hand_problem(&s->eq, &s->grid, HT_TAYLOR, -1, 0.3, 5);
}

static struct ht_tuning tuning_of(const struct scene *s, bool fp64) {
    struct ht_tuning tuning = {.fp64 = fp64, .sorted = true, .trim = true};
    const struct ht_spec spec = ht_problem_spec(&s->problem, &tuning, HT_PRIMARY);
    tuning.variant = ht_variant_find("monolithic", &spec, false);
    tuning.block = spec.block;
    return tuning;
}

static void run(struct scene *s, int dims, bool fp64) {
    make_scene(s, dims, 3, 4);
    const struct ht_tuning tuning = tuning_of(s, fp64);
    judge_kernels(&s->problem, s->device, &tuning, "%d-D, %s", dims, ht_real_name(fp64));
}

/* Transfers of rows for several chunks by several threads: what is put with some of them is got
 * with others, rounded. */
static void run_threads(struct scene *s) {
    static const int threads[][2] = {{1, 1}, {1, 5}, {3, 1}, {8, 3}};
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper = {0};
    HT_FREED double *in, *out;
    double wrong = 0;
    make_scene(s, 2, 90, 81);
    const int coefs = ht_grid_coefs(&s->grid), fields = s->eq.nfields;
    const int64_t planes = ht_grid_planes(&s->grid, HT_PRIMARY);
    const int64_t values = ht_grid_total(&s->grid, HT_PRIMARY) * coefs;
    const struct ht_tuning tuning = tuning_of(s, false);
    must(HT_ALLOC(in, fields * values));
    must(HT_ALLOC(out, fields * values));
    must(ht_kernels_create(&s->problem, s->device, &tuning, &kernels));
    must(ht_stepper_create(&s->problem, s->device, &kernels, &stepper));
    for (int i = 0; i < 4; i++) {
        for (int64_t n = 0; n < fields * values; n++)
            in[n] = ht_rng_uniform((uint64_t)i, (uint64_t)n);
        ht_threads_set(threads[i][0]);
        must(stepper.ops->put(stepper.self, HT_PRIMARY, 0, planes, in));
        ht_threads_set(threads[i][1]);
        for (int f = 0; f < fields; f++)
            must(stepper.ops->get(stepper.self, HT_PRIMARY, f, coefs, 0, planes, out + f * values));
        for (int64_t n = 0; n < fields * values; n++) wrong += out[n] != (double)(float)in[n];
    }
    ht_threads_set(0);
    TEST_EQUAL(wrong, 0, "transfers by threads: values that differ");
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
