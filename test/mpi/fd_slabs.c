/* Finite differences in slabs against one process, bit by bit: every rank steps the whole grid
 * alone, then all step it together, from the same random data, with new data in
 * between (while an exchange is in progress or not), and each compares the planes that it owns, and
 * the energy. Depth of halos, terms, walls and media meet in every program; the thinnest slab has
 * as many planes as the halo needs. Long runs in single precision have their mean corrected. Half
 * of the cases have sources: in and beside the plane where the first slab ends, and a line through
 * all slabs. Exchanges are counted. With absorbing layers on all sides forwards and
 * back, from records of 16 bits or whole ones.
 *
 *     fd_slabs [CACHE [PART]]    cases whose name holds PART */
#include "mpi/trial.h"
#include "options.h"

#include "src/fd/fd.h"

static const int wall_sets[][3][2] = {
    {{0, 0}, {1, -1}, {0, 0}},
    {{1, -1}, {0, 0}, {-1, 1}},
};

/* The medium jumps at every node, by up to 4 in the modulus. */
static enum ht_err fill(const void *context, int what, int64_t first, int64_t last, double *out) {
    const struct trial *t = context;
    const int64_t plane = ht_grid_plane(&t->whole, HT_PRIMARY);
    for (int64_t n = 0; n < plane * (last - first); n++)
        out[n] =
            pow(4, 0.5 * ht_rng_uniform(5, 4u * (uint64_t)(first * plane + n) + (unsigned)what));
    return HT_OK;
}

struct kind {
    int order;
    bool density, fp64;
    const char *variant;
};

/* Slabs of `thinnest` planes, some with one or two more. */
static void cut(struct trial *t, const struct scene *scene, const int wall[3][2],
                int64_t thinnest) {
    const int ranks = ht_comm_size(scene->comm);
    const int rank = ht_comm_rank(scene->comm);
    t->start[0] = 0;
    for (int r = 0; r < ranks; r++) {
        const int more = (r + ranks) % 3 % 2 * 2 + (ranks == 1);
        t->start[r + 1] = t->start[r] + thinnest + more;
    }
    const int64_t cells[3] = {2 * t->problem.fd.order + 3, 2 * t->problem.fd.order + 1,
                              t->start[ranks]};
    t->whole = (struct ht_grid){.dims = 3, .point_nodes = ht_point_nodes(t->problem.fd.order)};
    for (int k = 0; k < 3; k++) {
        t->whole.cells[k] = cells[k];
        t->whole.h[k] = 1 + 0.25 * k;
        t->whole.upper[k] = t->whole.h[k] * (double)cells[k];
        for (int side = 0; side < 2; side++) t->whole.wall[k][side] = wall[k][side];
    }
    t->grid = t->whole;
    t->grid.slab = (struct ht_slab){.comm = scene->comm, t->start[rank], t->start[rank + 1]};
}

static void make(struct trial *t, const struct scene *scene, const struct kind *kind, int terms,
                 int depth, int walls) {
    const struct ht_fd_spec spec = {.dims = 3, .radius = kind->order / 2, .density = kind->density};
    const struct ht_fd_weights w = ht_fd_weights(kind->order);
    *t = (struct trial){.eq = ht_equations_make(ht_system_find("acoustic"), 3)};
    t->problem =
        (struct ht_problem){.eq = &t->eq,
                            .grid = &t->grid,
                            .medium_degree = 0,
                            .stages = terms,
                            .dt = 0.25 * ht_fd_stable(&w, false, terms, 3),
                            .halo = {.depth = depth, .transport = walls ? "staged" : "auto"},
                            .fd = {.order = kind->order,
                                   .density = kind->density,
                                   .inverse_density = 1,
                                   .fill = fill,
                                   .medium = t}};
    (void)ht_problem_set_scheme(&t->problem, ht_scheme_at(HT_DIFFERENCES));
    const int64_t reach = ht_fd_reach(&spec);
    const bool least = ht_comm_size(scene->comm) > 1 || depth > 1;
    cut(t, scene, wall_sets[walls], reach * depth + !least);
    t->alone = t->problem;
    t->alone.grid = &t->whole;
    t->tuning = (struct ht_tuning){.fp64 = kind->fp64, .block = 1};
    const struct ht_spec of = ht_problem_spec(&t->problem, &t->tuning, HT_PRIMARY);
    t->variant = t->tuning.variant =
        ht_variant_find(kind->variant, &of, ht_device_info(scene->device)->gpu);
    snprintf(t->name, sizeof t->name, "%d ranks %s order %d %s %s, %d term(s), depth %d, %s",
             ht_comm_size(scene->comm), t->variant->name, kind->order,
             kind->density ? "density" : "modulus", kind->fp64 ? "double" : "single", terms, depth,
             walls ? "walls" : "periodic");
}

/* ---- sources ---- */

struct sources {
    struct ht_params *params;
    struct ht_medium medium;
    struct ht_shots *shots;
};

/* Places are those of the trial's grid; signals last some ten steps. */
static enum ht_err add_sources(struct trial *t, struct sources *out) {
    const double *h = t->whole.h, *upper = t->whole.upper;
    const double border = (double)t->start[1] * h[2];
    const double frequency = 0.3 / t->problem.dt;
    *out = (struct sources){.medium = {.eq = &t->eq, .grid = &t->whole}};
    TRY(test_params(
        NULL, '|', &out->params,
        "time.end=1e6|sources=( { position = [%.6f, %.6f, %.6f]; frequency = %.6f; signal = "
        "\"burst\"; "
        "amplitude = 1e2; }, { position = [%.6f, %.6f, %.6f]; frequency = %.6f; signal = "
        "\"burst\"; amplitude = -3e2; }, { type = \"line\"; count = 7; from = [1.1, 2.3, "
        "0.0]; to = [%.6f, 1.7, %.6f]; frequency = %.6f; signal = \"burst\"; cycles = 3.0; "
        "amplitude = 2e2; }, { type = \"plane\"; axis = \"x3\"; at = %.6f; frequency = %.6f; "
        "signal = \"burst\"; amplitude = 1e2; }, { type = \"volume\"; position = [%.6f, 1.1, "
        "%.6f]; width = %.6f; frequency = %.6f; signal = \"burst\"; amplitude = 1e3; } )",
        2.63 * h[0], 3 * h[1], border, frequency, 0.2 * h[0], 4.4 * h[1], border - 0.37 * h[2],
        frequency, upper[0], upper[2], 1.2 * frequency, 0.61 * border, frequency, 1.7 * h[0],
        border - 0.2 * h[2], 1.1 * h[2], frequency));
    TRY(ht_shots_create(out->params, &out->medium, NULL, &out->shots));
    t->problem.shots = t->alone.shots = out->shots;
    return HT_OK;
}

static void remove_sources(struct sources *sources) {
    ht_shots_destroy(sources->shots);
    ht_params_destroy(sources->params);
}

/* ---- steps ---- */

static enum ht_err forwards(const struct ht_stepper *s, int steps) {
    for (int n = 0; n < steps; n++) {
        TRY(s->ops->half_step(s->self, HT_PRIMARY));
        TRY(s->ops->half_step(s->self, HT_DUAL));
    }
    return HT_OK;
}

/* Data on the first plane only, so that elsewhere a correction of the mean is more than a rounding
 * of the values; with means, so that u has one at step 100, which is taken out. */
static bool quiet;

static enum ht_err put(const struct trial *t, const struct ht_grid *grid,
                       const struct ht_stepper *s, enum ht_subgrid subgrid, uint64_t seed) {
    const int64_t plane = ht_grid_plane(grid, HT_PRIMARY);
    const int64_t total = plane * t->eq.nfields;
    HT_FREED double *data = NULL;
    const struct ht_range own = ht_grid_own(grid, HT_PRIMARY);
    TRY(HT_ALLOC(data, total));
    enum ht_err err = HT_OK;
    for (int64_t m = own.first; err == HT_OK && m < own.last; m++) {
        for (int64_t n = 0; n < total; n++) {
            const uint64_t key = (uint64_t)(m * total + n) * 2;
            data[n] = ht_rng_uniform(seed, key + (subgrid == HT_DUAL));
            if (quiet) data[n] = m > 0 ? 0 : data[n] + 1;
        }
        err = s->ops->put(s->self, subgrid, m, m + 1, data);
    }
    return err;
}

/* Steps that are recorded, and all but one of them back. */
static enum ht_err there_and_back(const struct ht_stepper *s, int steps) {
    const struct ht_fd_shell_choice choice = {.steps = steps, .bits = -1, .every = 1 + steps % 2};
    struct ht_fd_shell *shell = NULL;
    TRY(ht_fd_shell_create(ht_fd_stepper_of(s), &choice, &shell));
    enum ht_err err = ht_fd_shell_record(shell);
    if (err == HT_OK) err = forwards(s, steps);
    if (err == HT_OK) err = ht_fd_shell_back(shell);
    if (err == HT_OK) err = forwards(s, steps - 1);
    if (err == HT_OK) err = s->ops->finish(s->self);
    ht_fd_shell_destroy(shell);
    return err;
}

static enum ht_err measure(const struct ht_stepper *s, double *energy) {
    TRY(s->ops->finish(s->self));
    return ht_scheme_at(HT_DIFFERENCES)->invariant->measure(NULL, s, energy);
}

/* All that a stepper is asked for; what it does not end is in progress. */
static enum ht_err work(const struct trial *t, const struct ht_grid *grid,
                        const struct ht_stepper *s, int steps, double energy[3]) {
    TRY(put(t, grid, s, HT_PRIMARY, 3));
    TRY(put(t, grid, s, HT_DUAL, 4));
    TRY(forwards(s, steps));
    TRY(measure(s, &energy[0]));
    TRY(forwards(s, 2));
    TRY(put(t, grid, s, HT_PRIMARY, 5));
    TRY(forwards(s, 3));
    TRY(put(t, grid, s, HT_DUAL, 6));
    TRY(forwards(s, steps));
    TRY(measure(s, &energy[1]));
    TRY(measure(s, &energy[2]));
    if (t->problem.layers == NULL) return HT_OK;
    TRY(put(t, grid, s, HT_PRIMARY, 9));
    TRY(put(t, grid, s, HT_DUAL, 10));
    return there_and_back(s, 30 + steps);
}

/* ---- comparison ---- */

static enum ht_err compare(const struct trial *t, const struct ht_stepper *together,
                           const struct ht_stepper *alone, double *different) {
    const int field = t->eq.second_order.field;
    double *data[2] = {NULL, NULL};
    const struct ht_range own = ht_grid_own(&t->grid, HT_PRIMARY);
    const int64_t nodes = (own.last - own.first) * ht_grid_plane(&t->grid, HT_PRIMARY);
    enum ht_err err = HT_ALLOC(data[0], nodes);
    if (err == HT_OK) err = HT_ALLOC(data[1], nodes);
    for (int m = 0; m < 2 && err == HT_OK; m++) {
        const enum ht_subgrid which = m ? HT_DUAL : HT_PRIMARY;
        err = together->ops->get(together->self, which, field, 1, own.first, own.last, data[0]);
        if (err == HT_OK)
            err = alone->ops->get(alone->self, which, field, 1, own.first, own.last, data[1]);
        for (int64_t n = 0; n < nodes && err == HT_OK; n++)
            trial_same(different, which, 0, data[0][n], data[1][n]);
    }
    for (int i = 0; i < 2; i++) free(data[i]);
    return err;
}

/* No message is longer than what the budget counts three buffers of per side; all are as long where
 * there is one kind of them. */
static bool messages_fit(const struct trial *t, const struct ht_traffic *before,
                         const struct ht_traffic *after) {
    const struct ht_budget b = ht_stepper_budget(&t->problem, &t->tuning, NULL);
    const int64_t messages = after->messages - before->messages;
    const int64_t bytes = after->bytes - before->bytes;
    int64_t sides = 0;
    for (int side = 0; side < 2; side++) sides += ht_grid_neighbour(&t->grid, side) >= 0;
    if (sides == 0) return b.messages == 0 && messages == 0;
    const int64_t longest = b.messages / (HT_LINK_BUFFERS * sides);
    const bool one = t->problem.stages == 1 || t->problem.halo.depth == 1;
    return b.total == b.state + b.medium + b.messages &&
           (one ? bytes == messages * longest : bytes <= messages * longest);
}

/* Of so many steps from data just put: one before the first, one behind each `depth`-th pass. */
static enum ht_err count(const struct trial *t, const struct ht_stepper *s, double *wrong) {
    enum { STEPS = 6 };
    const int passes = STEPS * t->problem.stages;
    const bool cut = ht_grid_cut(&t->grid);
    struct ht_traffic before, after;
    TRY(put(t, &t->grid, s, HT_PRIMARY, 7));
    TRY(put(t, &t->grid, s, HT_DUAL, 8));
    s->ops->traffic(s->self, &before);
    TRY(forwards(s, STEPS));
    TRY(s->ops->finish(s->self));
    s->ops->traffic(s->self, &after);
    *wrong += after.exchanges - before.exchanges != (cut ? 1 + passes / t->problem.halo.depth : 0);
    *wrong += !messages_fit(t, &before, &after);
    *wrong +=
        (after.boundary_s > before.boundary_s) != cut || (after.pack_s > before.pack_s) != cut;
    return HT_OK;
}

/* kernels: of all ranks, and of each alone. */
static enum ht_err run(const struct scene *scene, const struct trial *t,
                       const struct ht_kernels *kernels, int steps, double numbers[3]) {
    struct ht_stepper together = {0}, alone = {0};
    double energy[2][3] = {{0}};
    enum ht_err err = ht_stepper_create(&t->problem, scene->device, kernels, &together);
    if (err == HT_OK) err = ht_stepper_create(&t->alone, scene->device, kernels, &alone);
    if (err == HT_OK) err = work(t, &t->grid, &together, steps, energy[0]);
    if (err == HT_OK) err = work(t, &t->whole, &alone, steps, energy[1]);
    if (err == HT_OK) err = compare(t, &together, &alone, &numbers[0]);
    for (int i = 0; i < 3; i++) numbers[1] += !(energy[0][i] == energy[1][i]);
    if (err == HT_OK) err = count(t, &together, &numbers[2]);
    if (err == HT_OK) err = ht_comm_sum(scene->comm, 3, numbers);
    err = ht_comm_agree(scene->comm, err);
    ht_stepper_destroy(&together);
    ht_stepper_destroy(&alone);
    return err;
}

/* ---- the bound of the step ---- */

static void compare_bounds(const struct scene *scene, const char *system, int walls) {
    const struct kind kind = {4, true, false, "auto"};
    struct trial t;
    struct ht_pair pair;
    double bound[2][2] = {{NAN}, {NAN}}, range[HT_MAX_TERMS][2];
    make(&t, scene, &kind, 1, 1, walls);
    t.eq = ht_equations_make(ht_system_find(system), 3);
    const char *none = ht_pair_make(&t.eq, HT_PAIR_APART, &pair);
    const bool fails = none != NULL || ht_fd_bound(&t.problem, NULL, &bound[0][0]) != HT_OK ||
                       ht_pair_bound(&t.problem, &pair, range, &bound[0][1]) != HT_OK ||
                       ht_fd_bound(&t.alone, NULL, &bound[1][0]) != HT_OK ||
                       ht_pair_bound(&t.alone, &pair, range, &bound[1][1]) != HT_OK;
    TEST_CHECK(!fails && bound[0][0] == bound[1][0] && bound[0][1] == bound[1][1],
               "%s of %d ranks, %s: bounds of omega^2 %.17g, %.17g, alone %.17g, %.17g", system,
               ht_comm_size(scene->comm), walls ? "walls" : "periodic", bound[0][0], bound[0][1],
               bound[1][0], bound[1][1]);
}

/* ---- cases ---- */

static void judge(const struct scene *scene, struct trial *t, bool driven,
                  const struct ht_kernels *kernels, int steps) {
    double numbers[3] = {0};
    struct sources sources = {.params = NULL};
    const size_t end = strlen(t->name);
    if (driven) snprintf(t->name + end, sizeof t->name - end, ", sources");
    if (!scene_wants(scene, t->name)) return;
    if ((driven && add_sources(t, &sources) != HT_OK) ||
        run(scene, t, kernels, steps, numbers) != HT_OK)
        TEST_CHECK(false, "%s: %s", t->name, ht_err_message());
    else
        TEST_CHECK(numbers[0] + numbers[1] + numbers[2] == 0,
                   "%s: %.0f values, %.0f energies and %.0f counts differ", t->name, numbers[0],
                   numbers[1], numbers[2]);
    remove_sources(&sources);
}

/* Layers on all sides, of `type`; their planes along x3 end inside the first and the last slab,
 * where these are thin enough in others. */
static void add_layers(const struct scene *scene, struct trial *t, struct ht_layers *layers,
                       enum ht_absorbing_type type) {
    static const int rigid[3][2] = {{1, 1}, {1, 1}, {1, 1}};
    const int64_t reach = t->problem.fd.order / 2;
    const int terms = t->problem.stages;
    cut(t, scene, rigid, 2 * reach + 2);
    *layers = (struct ht_layers){.type = type, .dims = 3};
    for (int k = 0; k < 3; k++) {
        layers->cells[k] = t->whole.cells[k];
        for (int side = 0; side < 2; side++)
            layers->side[k][side] = (struct ht_layer){
                .cells = 2 + (k + side) % 2, .degree = 2, .most = 0.3 / t->problem.dt};
    }
    t->problem.layers = t->alone.layers = layers;
    snprintf(t->name, sizeof t->name, "%d ranks order %d %s, %s layers, %d term(s)",
             ht_comm_size(scene->comm), t->problem.fd.order,
             t->problem.fd.density ? "density" : "modulus", HT_WORD(ABSORBING, type), terms);
}

static void run_layers(const struct scene *scene, struct kind kind) {
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    struct ht_layers layers;
    struct trial t;
    kind.fp64 = kind.fp64 && ht_device_info(scene->device)->fp64;
    for (int i = 0; i < 2; i++) {
        const bool sponge = i == 1;
        make(&t, scene, &kind, sponge ? 2 : 1, sponge ? 2 : 1, 0);
        add_layers(scene, &t, &layers, sponge ? HT_ABSORBING_SPONGE : HT_ABSORBING_CPML);
        if (i == 0 && trial_kernels(scene, &t, true, &kernels) != HT_OK) {
            TEST_CHECK(false, "%s: %s", t.name, ht_err_message());
            return;
        }
        judge(scene, &t, i % 2 == 0, &kernels, 4 + i);
    }
}

/* Programs do not depend on terms, depth and walls. */
static void run_kind(const struct scene *scene, struct kind kind) {
    const bool fp64 = ht_device_info(scene->device)->fp64;
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    struct trial t;
    kind.fp64 = kind.fp64 && fp64;
    make(&t, scene, &kind, 2, 1, 0);
    if (trial_kernels(scene, &t, true, &kernels) != HT_OK) {
        TEST_CHECK(false, "%s: %s", t.name, ht_err_message());
        return;
    }
    for (int i = 0; i < 12; i++) {
        /* any two of terms, depth and walls */
        if (!test_all() && (i + i / 2 % 3 + i / 6) % 2 != 0) continue;
        make(&t, scene, &kind, 1 + i % 2, 1 + i / 2 % 3, i / 6);
        judge(scene, &t, i / 2 % 2 == i / 6, &kernels, 4 + i % 3);
    }
    /* Periodic and rigid sides only: the mean is corrected at step 100. */
    make(&t, scene, &kind, 2, 4, 0);
    t.whole.wall[1][1] = t.grid.wall[1][1] = 1;
    t.problem.dt = t.alone.dt = 0.05 * t.problem.dt;
    quiet = true;
    if (!kind.fp64 && kind.order == 2) judge(scene, &t, true, &kernels, 103);
    quiet = false;
}

int main(int argc, char **argv) {
    static const struct kind kinds[] = {{2, false, false, "auto"},
                                        {6, false, true, "auto"},
                                        {4, true, false, "auto"},
                                        {2, true, true, "fd-plain"}};
    struct scene scene;
    bool here = scene_open(&scene, argc, argv);
    /* kinds in turn by 2 and 5 ranks (test/mpi/fd_slabs.sh) */
    const int turn = here && ht_comm_size(scene.comm) == 5;
    const bool every = test_all() || scene.only != NULL;
    for (int i = 0; here && i < (int)(sizeof kinds / sizeof *kinds); i++)
        if (every || (i == 1 || i == 2) != turn) run_kind(&scene, kinds[i]);
    for (int i = 1; here && i < 3; i++)
        if (every || i % 2 == turn) run_layers(&scene, kinds[i]);
    for (int i = 0; here && i < 4; i++)
        compare_bounds(&scene, i % 2 == 0 ? "elastic" : "maxwell", i / 2);
    return scene_close(&scene, "fd_slabs");
}
