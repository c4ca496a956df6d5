/* Absorbing layers of Hermite methods on a device: half steps from random data, the memory
 * variables zero at first, and with sponges, against the reference (src/hermite/oracle.c), over n
 * eps sum|products| of its absolute mode for each half step, by system, dimension, order,
 * precision, sides, medium and
 * layout. planted   a profile that is off by 1e-3 and a layer that is thinner
 * by a cell: both must show; self-check  of the layers' kernels. */

#include "compiler.h"
#include "open_device.h"
#include "problem.h"
#include "regions.h"

enum { HALF_STEPS = 2 };

/* Sponges by either scheme. */
enum kind { LAYERS, SPONGE, LEAPFROG };

struct scene {
    const char *system;
    int dims;
    int64_t layer[3][2];
    int wall[3]; /* of sides without a layer; 0: periodic */
};
struct row {
    const struct scene *scene;
    int order;
    bool fp64;
    int degree; /* of the medium */
    int block;
    bool sorted;
    const char *variant; /* of the interior */
    enum kind kind;
};
struct trial {
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_layers layers;
    struct ht_problem problem;
    struct ht_tuning tuning;
    char name[160];
};

/* As plans have it from N = 2 on. */
static int profile_degree(const struct row *row) {
    if (row->kind != LAYERS) return 0;
    return strcmp(row->scene->system, "wave") == 0 ? 3 : 2;
}

/* Two cells inside, and those of the layers. */
static void make_axis(struct trial *t, const struct row *row, int k) {
    int64_t cells = k < row->scene->dims ? 2 : 1;
    for (int side = 0; side < 2; side++) {
        const int64_t layer = row->scene->layer[k][side];
        const bool differ = layer != row->scene->layer[k][1 - side];
        t->grid.layer[k][side] = layer;
        t->grid.wall[k][side] = layer > 0 ? 1 : row->scene->wall[k];
        t->layers.side[k][side] = (struct ht_layer){.cells = layer,
                                                    .length = (0.5 + 0.25 * k) * (double)layer,
                                                    .degree = profile_degree(row) > 2 ? 3.5 : 2,
                                                    .most = 1.5 + 0.5 * (side * differ) + 0.25 * k,
                                                    .alpha = 0.25,
                                                    .sponge = 0.0625};
        cells += layer;
    }
    t->grid.h[k] = 0.5 + 0.25 * k;
    t->grid.cells[k] = t->layers.cells[k] = cells;
    t->grid.upper[k] = t->grid.h[k] * (double)cells;
}

static void make_problem(struct trial *t, const struct row *row) {
    t->problem = hand_problem(&t->eq, &t->grid, row->kind == LEAPFROG ? HT_LEAPFROG : HT_TAYLOR,
                              row->degree, 0.2, 5);
    t->problem.layers = &t->layers;
    t->problem.medium = &t->problem;
}

static void make(struct trial *t, const struct row *row, const struct ht_device_info *info) {
    static const char *const names[] = {"", ", sponge,", ", sponge of leapfrog,"};
    const bool sponge = row->kind != LAYERS;
    *t = (struct trial){.eq =
                            ht_equations_make(ht_system_find(row->scene->system), row->scene->dims),
                        .grid = {.dims = row->scene->dims, .order = row->order},
                        .layers = {.type = sponge ? HT_ABSORBING_SPONGE : HT_ABSORBING_CPML,
                                   .dims = row->scene->dims,
                                   .profile_degree = profile_degree(row),
                                   .stages = 9}};
    for (int k = 0; k < 3; k++) make_axis(t, row, k);
    make_problem(t, row);
    t->tuning = (struct ht_tuning){.variant = ht_variant_find(row->variant, NULL, false),
                                   .fp64 = row->fp64,
                                   .trim = true,
                                   .sorted = row->sorted,
                                   .ptx = info->ptx,
                                   .ptx_own = info->ptx_own,
                                   .block = row->block};
    snprintf(t->name, sizeof t->name, "%s%s %s %d-D, N = %d, %s, degree %d", row->variant,
             names[row->kind], row->scene->system, row->scene->dims, t->grid.order,
             row->fp64 ? "double" : "single", row->degree);
}

/* reference: the problem that the reference steps. */
static enum ht_err compare(const struct trial *t, const struct ht_problem *reference,
                           struct ht_device *device, const struct ht_kernels *kernels,
                           double *worst) {
    struct ht_stepper stepper;
    TRY(ht_stepper_create(&t->problem, device, kernels, &stepper));
    const enum ht_err err = worst_of_reference(&t->problem, &stepper, reference, HALF_STEPS, worst);
    ht_stepper_destroy(&stepper);
    return err;
}

static double bound_of(const struct trial *t) {
    const double eps = t->tuning.fp64 ? DBL_EPSILON : FLT_EPSILON;
    return HALF_STEPS * ht_oracle_roundings(&t->problem) * eps / 2;
}

/* What the comparison and the self-check must find. */
static void run_planted(struct trial *t, struct ht_device *device, struct ht_kernels *kernels) {
    const double bound = bound_of(t);
    struct ht_layers wrong = t->layers;
    struct ht_problem other = t->problem;
    double worst = 0, sound = NAN;
    other.layers = &wrong;
    wrong.side[0][0].most *= 1.001;
    enum ht_err err = compare(t, &other, device, kernels, &worst);
    TEST_CHECK(err == HT_OK && worst > 10 * bound,
               "planted profile that is off by 1e-3: %.3g (bound %.3g)", worst, bound);
    wrong = t->layers;
    wrong.side[1][1].cells--;
    err = compare(t, &other, device, kernels, &worst);
    TEST_CHECK(err == HT_OK && worst > 10 * bound,
               "planted layer that is a cell thinner: %.3g (bound %.3g)", worst, bound);
    err = ht_selfcheck(&t->problem, device, kernels, &sound);
    TEST_CHECK(err == HT_OK && sound > 0 && sound <= 1, "self-check: %.3g of the bound", sound);
}

static void run_row(const struct row *row, struct ht_device *device, bool planted) {
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    struct trial t;
    double worst = 0;
    const struct ht_device_info *info = ht_device_info(device);
    if (row->fp64 && !info->fp64) return;
    make(&t, row, info);
    enum ht_err err = ht_kernels_create(&t.problem, device, &t.tuning, &kernels);
    if (err == HT_OK) err = compare(&t, &t.problem, device, &kernels, &worst);
    if (err != HT_OK)
        TEST_CHECK(false, "%s: %s", t.name, ht_err_message());
    else
        TEST_BELOW(worst, bound_of(&t), "%s", t.name);
    if (err == HT_OK && planted) run_planted(&t, device, &kernels);
}

/* What is run, and by which kernels. */
static const struct scene line = {"acoustic", 1, {{3, 2}}, {0}};
static const struct scene corner = {"acoustic", 2, {{2, 0}, {1, 3}}, {-1}};
static const struct scene strip = {"wave", 2, {{0, 3}, {0, 0}}, {-1, 0}};
static const struct scene square = {"wave", 2, {{2, 2}, {2, 2}}, {0}};
static const struct scene room = {"acoustic", 3, {{1, 0}, {0, 2}, {2, 1}}, {1, -1}};
static const struct scene ground = {"wave", 3, {{0, 0}, {0, 0}, {2, 0}}, {0, 0, -1}};
static const struct scene slab = {"wave", 3, {{2, 2}, {0, 0}, {0, 1}}, {0, 0, -1}};
static const struct scene line_of_u = {"wave", 1, {{3, 2}}, {0}};
static const struct scene hall = {"acoustic", 3, {{2, 2}, {0, 0}, {0, 2}}, {0, 0, -1}};
static const struct scene angle = {"wave", 2, {{2, 0}, {0, 2}}, {0, -1}};
static const struct row rows[] = {
    {&line, 3, true, -1, 1, false, "monolithic", LAYERS},
    {&line_of_u, 3, true, -1, 1, false, "monolithic", LAYERS},
    {&corner, 2, true, 1, 1, false, "monolithic", LAYERS},
    {&strip, 3, false, -1, 4, false, "propagator", LAYERS},
    {&square, 2, true, 0, 2, true, "monolithic", LAYERS},
    {&room, 1, true, -1, 2, false, "propagator", LAYERS},
    {&slab, 1, false, 0, 1, false, "vector", LAYERS},
    {&ground, 1, false, 0, 1, false, "vector", LAYERS},
    {&line_of_u, 3, true, -1, 1, false, "monolithic", LEAPFROG},
    {&corner, 2, true, -1, 2, false, "propagator", LEAPFROG},
    {&hall, 1, false, -1, 4, true, "monolithic", LEAPFROG},
    {&angle, 1, true, 1, 2, false, "monolithic", SPONGE},
};

static void judge(struct ht_device *device) {
    test_optimise(ht_device_info(device)->gpu);
    TEST_EACH(row, rows) run_row(row, device, row->scene == &corner);
}

int main(void) {
    return test_on_device("absorbing", judge);
}
