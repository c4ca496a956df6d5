/* The exchange of planes between slabs, by one variant, against one process:
 *   schedules   sequences of half steps with transfers, measures and waits
 *               between them, for halos of 1 to 4 half steps, walls of all
 *               kinds, media, thin and uneven slabs and every transport, bit by
 *               bit; each by a second stepper after a first one;
 *   rounding    messages in single and half precision: a difference that is
 *               there, near the cuts only, and within a bound (below);
 *   planning    limits and memory count what a rank holds.
 *
 *     exchange [CACHE [PART]]    schedules and roundings whose name holds PART */
#include "mpi/trial.h"

/* P, D: a half step from the primary, from the dual grid; p, d: new data on some planes of that
 * grid; f: finish; m: a measure. */
static const char *const sequences[] = {"PDPDPDP",     "PDfPmDPfmDP",   "PDpPDdDPDp",
                                        "PPDDDPpPdPD", "DPfpdDPDPmdDP", "PDPDPDmPDpPPD"};
enum { SEQUENCES = sizeof sequences / sizeof *sequences };

static const int wall_sets[][3][2] = {
    {{1, -1}, {0, 0}, {0, 0}},  {{0, 0}, {1, 1}, {1, 1}},   {{0, 0}, {0, 0}, {-1, 1}},
    {{-1, 1}, {0, 0}, {1, -1}}, {{0, 0}, {0, 0}, {-1, -1}},
};
enum { WALL_SETS = sizeof wall_sets / sizeof *wall_sets };

struct numbers {
    double different, measures; /* values; largest difference of measures */
    struct ht_traffic traffic;
};

/* Both steppers, and room for the values of a grid, twice. */
struct pair {
    struct ht_stepper together, alone;
    double *data[2];
};

static enum ht_err put_both(const struct trial *t, const struct pair *pair, enum ht_subgrid subgrid,
                            uint64_t seed, int stride) {
    TRY(trial_put(t, &t->grid, &pair->together, subgrid, seed, stride, pair->data[0]));
    return trial_put(t, &t->whole, &pair->alone, subgrid, seed, stride, pair->data[0]);
}

static enum ht_err do_both(const struct pair *pair, char what) {
    const struct ht_stepper *both[2] = {&pair->together, &pair->alone};
    for (int i = 0; i < 2; i++) {
        const struct ht_stepper_ops *ops = both[i]->ops;
        if (what == 'f')
            TRY(ops->finish(both[i]->self));
        else
            TRY(ops->half_step(both[i]->self, what == 'P' ? HT_PRIMARY : HT_DUAL));
    }
    return HT_OK;
}

static enum ht_err play(const struct scene *scene, const struct trial *t, const struct pair *pair,
                        const char *sequence, struct numbers *out) {
    TRY(put_both(t, pair, HT_PRIMARY, 2, 0));
    TRY(put_both(t, pair, HT_DUAL, 2, 0));
    for (const char *at = sequence; *at; at++) {
        uint64_t seed = 3 + (uint64_t)(at - sequence);
        double error = 0;
        if (*at == 'p' || *at == 'd')
            TRY(put_both(t, pair, *at == 'p' ? HT_PRIMARY : HT_DUAL, seed, 3));
        else if (*at == 'm')
            TRY(trial_measure(scene, HT_PRIMARY, &pair->together, &pair->alone, &error));
        else
            TRY(do_both(pair, *at));
        out->measures = fmax(out->measures, error);
    }
    return HT_OK;
}

static enum ht_err make_pair(const struct scene *scene, const struct trial *t,
                             const struct ht_kernels *kernels, struct pair *pair) {
    TRY(ht_stepper_create(&t->problem, scene->device, kernels, &pair->together));
    TRY(ht_stepper_create(&t->alone, scene->device, kernels, &pair->alone));
    for (int i = 0; i < 2; i++) TRY(HT_ALLOC(pair->data[i], trial_values(t)));
    return HT_OK;
}

static void free_pair(struct pair *pair) {
    ht_stepper_destroy(&pair->together);
    ht_stepper_destroy(&pair->alone);
    for (int i = 0; i < 2; i++) free(pair->data[i]);
    *pair = (struct pair){0};
}

static enum ht_err live(const struct scene *scene, const struct trial *t, const struct pair *pair,
                        const char *sequence, trial_judge *judge, struct numbers *out,
                        void *context) {
    TRY(play(scene, t, pair, sequence, out));
    TRY(do_both(pair, 'f'));
    TRY(trial_compare(t, &pair->together, &pair->alone, pair->data, judge, context));
    pair->together.ops->traffic(pair->together.self, &out->traffic);
    return ht_comm_sum(scene->comm, 1, &out->different);
}

/* ---- schedules ---- */

static enum ht_err live_twice(const struct scene *scene, const struct trial *t,
                              const struct ht_kernels *kernels, const char *sequence,
                              struct numbers *out) {
    struct pair pair = {0};
    enum ht_err err = make_pair(scene, t, kernels, &pair);
    if (err == HT_OK) err = play(scene, t, &pair, "PDP", out);
    if (err == HT_OK) err = do_both(&pair, 'f');
    err = ht_comm_agree(scene->comm, err);
    free_pair(&pair);
    if (err == HT_OK) err = make_pair(scene, t, kernels, &pair);
    if (err == HT_OK) err = live(scene, t, &pair, sequence, trial_same, out, &out->different);
    err = ht_comm_agree(scene->comm, err);
    free_pair(&pair);
    return err;
}

/* One before the first half step, one after every depth-th; at depth 1 a grid that is left again
 * without new data has its planes sent again. */
static int64_t exchanges(const char *sequence, int depth) {
    if (strcmp(sequence, "PDPDPDP") == 0) return 1 + 7 / depth;
    return depth == 1 && strcmp(sequence, "PPDDDPpPdPD") == 0 ? 15 : -1;
}

/* A slab at a wall has one neighbour. */
static bool is_by(const char *const used[2], const char *transport) {
    for (int side = 0; side < 2; side++)
        if (used[side] != NULL && strcmp(transport, "auto") != 0 &&
            strcmp(transport, used[side]) != 0)
            return false;
    return used[0] != NULL || used[1] != NULL;
}

static void run_schedule(struct scene *scene, struct trial *t, const struct ht_kernels *kernels,
                         const char *transport, uint64_t bits) {
    const char *sequence = sequences[bits % SEQUENCES];
    const char *scheme = t->problem.old_sign != 0 ? "leapfrog" : "taylor";
    const int ranks = ht_comm_size(scene->comm);
    struct numbers n = {0};
    t->problem.halo.depth = trial_depth(scene, t, t->problem.halo.depth);
    t->problem.halo.transport = transport;
    snprintf(t->name, sizeof t->name, "%d ranks %s medium %d walls %d%d planes %lld depth %d %s %s",
             ranks, scheme, t->problem.medium_degree, t->grid.wall[2][0], t->grid.wall[2][1],
             (long long)t->grid.cells[2], t->problem.halo.depth, transport, sequence);
    if (!scene_wants(scene, t->name)) return;
    enum ht_err err = live_twice(scene, t, kernels, sequence, &n);
    if (err != HT_OK) {
        TEST_CHECK(false, "%s: %s", t->name, ht_err_message());
        return;
    }
    const char *const *used = n.traffic.transport;
    TEST_CHECK(n.different == 0, "%s: %.0f values differ", t->name, n.different);
    TEST_CHECK(is_by(used, transport), "%s: by \"%s\" and \"%s\"", t->name,
               used[0] ? used[0] : "none", used[1] ? used[1] : "none");
    TEST_BELOW(n.measures, trial_measure_bound(t), "%s: measures", t->name);
    int64_t wanted = exchanges(sequence, t->problem.halo.depth);
    if (wanted >= 0)
        TEST_CHECK(n.traffic.exchanges == wanted, "%s: %lld exchanges (expected %lld)", t->name,
                   (long long)n.traffic.exchanges, (long long)wanted);
}

static void make_trial(struct trial *t, const struct scene *scene, bool leapfrog, int degree,
                       uint64_t bits) {
    const int64_t ranks = ht_comm_size(scene->comm);
    const int64_t planes[] = {ranks, 2 * ranks, 2 * ranks + 1, 4 * ranks + 3};
    const struct ht_device_info *info = ht_device_info(scene->device);
    *t = (struct trial){.variant = trial_quick(scene),
                        .eq = ht_equations_make(ht_system_find("acoustic"), 3)};
    t->tuning = (struct ht_tuning){.variant = t->variant,
                                   .ptx = info->ptx,
                                   .ptx_own = info->ptx_own,
                                   .trim = true,
                                   .block = 4};
    trial_cut(t, scene, 1, wall_sets[bits % WALL_SETS], planes[bits >> 8 & 3],
              (int)(bits >> 10 & 1));
    trial_problem(t, 9, leapfrog, degree);
}

/* Kernels know nothing of walls, planes and transports. */
static void run_schedules(struct scene *scene, bool leapfrog, int degree) {
    const char *ways[3] = {"auto", "staged", "peer"};
    bool peer = ht_device_info(scene->device)->no_peer == NULL;
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    struct trial t;
    make_trial(&t, scene, leapfrog, degree, 0);
    enum ht_err err = trial_kernels(scene, &t, true, &kernels);
    for (int depth = 1; depth <= 4 && err == HT_OK; depth++)
        for (int way = 0; way < (peer ? 3 : 2); way++) {
            const uint64_t bits = ht_rng_bits(31, (uint64_t)scene->number++) >> 8;
            make_trial(&t, scene, leapfrog, degree, bits);
            t.problem.halo.depth = depth;
            run_schedule(scene, &t, &kernels, ways[way], bits >> 16);
        }
    TEST_CHECK(err == HT_OK, "kernels of schedules%s%s", err ? ": " : "",
               err ? ht_err_message() : "");
}

/* ---- rounding ---- */

/* Half steps are linear. Let A be what they give with absolute values of all numbers, from absolute
 * data. Each exchange changes values by 2^-11 (half) or 2^-24 (single) of their size at most, which
 * the half steps after it carry on, so that with e exchanges results change by e times that of A at
 * most, and rounding of the half steps themselves by n eps A, with the n of ht_oracle_roundings for
 * each of them. */
struct rounding {
    const struct trial *t;
    double changed, worst, far;
};

enum { ROUNDED_STEPS = 2 };

static void judge_rounding(void *context, enum ht_subgrid subgrid, int64_t plane, double together,
                           double alone) {
    struct rounding *r = context;
    const struct ht_grid *grid = &r->t->grid;
    double error = fabs(together - alone);
    const struct ht_range own = ht_grid_own(grid, subgrid);
    r->changed += error > 0;
    r->worst = fmax(r->worst, error);
    if (plane >= own.first + ROUNDED_STEPS && plane < own.last - ROUNDED_STEPS) r->far += error > 0;
}

/* The largest value of A on both grids. */
static enum ht_err largest_absolute(const struct trial *t, double *data, double *out) {
    HT_ENDED(ht_stepper_destroy) struct ht_stepper oracle = {0};
    struct ht_measure m;
    *out = 0;
    TRY(ht_oracle_create(&t->alone, &oracle));
    ht_oracle_absolute(&oracle);
    enum ht_err err = trial_put(t, &t->whole, &oracle, HT_PRIMARY, 2, 0, data);
    if (err == HT_OK) err = trial_put(t, &t->whole, &oracle, HT_DUAL, 2, 0, data);
    for (int n = 0; n < ROUNDED_STEPS && err == HT_OK; n++)
        err = oracle.ops->half_step(oracle.self, n % 2 ? HT_DUAL : HT_PRIMARY);
    for (int subgrid = 0; subgrid < 2; subgrid++)
        for (int f = 0; f < t->eq.nfields; f++)
            for (int i = 0; i < ht_grid_coefs(&t->whole) && err == HT_OK; i++) {
                const struct ht_quantity what = {.field = f, .coef = i, .material = -1};
                if (!ht_problem_stores(&t->alone, (enum ht_subgrid)subgrid, f)) continue;
                err = oracle.ops->measure(oracle.self, (enum ht_subgrid)subgrid, 1, &what, &m);
                if (err == HT_OK) *out = fmax(*out, m.largest);
            }
    return err;
}

static enum ht_err round_once(const struct scene *scene, const struct trial *t, struct rounding *r,
                              struct numbers *n, double *absolute) {
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    HT_ENDED(free_pair) struct pair pair = {0};
    TRY(trial_kernels(scene, t, true, &kernels));
    enum ht_err err = make_pair(scene, t, &kernels, &pair);
    if (err == HT_OK) err = live(scene, t, &pair, "PD", judge_rounding, n, r);
    if (err == HT_OK) err = largest_absolute(t, pair.data[0], absolute);
    if (err == HT_OK) err = ht_comm_max(scene->comm, 1, &r->worst);
    if (err == HT_OK) err = ht_comm_sum(scene->comm, 1, &r->changed);
    if (err == HT_OK) err = ht_comm_sum(scene->comm, 1, &r->far);
    err = ht_comm_agree(scene->comm, err);
    return err;
}

static void run_rounding(struct scene *scene, bool fp64, enum ht_halo_precision precision,
                         bool leapfrog, int depth) {
    const double unit = precision == HT_HALO_HALF ? 0x1p-11 : 0x1p-24;
    const double own = fp64 ? 0x1p-53 : 0x1p-24;
    struct numbers n = {0};
    struct trial t;
    double absolute = 0;
    make_trial(&t, scene, leapfrog, -1, 3 << 8);
    t.tuning.fp64 = fp64;
    t.tuning.block = fp64 ? 2 : 4;
    t.problem.halo =
        (struct ht_halo_choice){.depth = depth, .precision = precision, .transport = "auto"};
    snprintf(t.name, sizeof t.name, "%d ranks %s %s, messages in %s, depth %d",
             ht_comm_size(scene->comm), leapfrog ? "leapfrog" : "taylor",
             fp64 ? "double" : "single", precision == HT_HALO_HALF ? "half" : "single", depth);
    if (!scene_wants(scene, t.name)) return;
    struct rounding r = {.t = &t};
    enum ht_err err = round_once(scene, &t, &r, &n, &absolute);
    if (err != HT_OK) {
        TEST_CHECK(false, "%s: %s", t.name, ht_err_message());
        return;
    }
    TEST_CHECK(r.changed > 0, "%s: %.0f values change", t.name, r.changed);
    TEST_CHECK(r.far == 0, "%s: %.0f of them far from the cuts (expected 0)", t.name, r.far);
    double bound = (double)n.traffic.exchanges * unit +
                   2 * ROUNDED_STEPS * ht_oracle_roundings(&t.alone) * own;
    TEST_BELOW(r.worst, bound * absolute, "%s: largest change", t.name);
}

/* ---- planning ---- */

/* A grid of which the ranks hold no more nodes than 32 bits count, though it has more in all. */
static void test_count(const struct scene *scene) {
    struct ht_kernels kernels;
    const char *name = "propagator-lanes";
    struct trial t;
    struct ht_device_info info = *ht_device_info(scene->device);
    info.gpu = true;
    make_trial(&t, scene, false, -1, 0);
    t.tuning.variant = t.variant = ht_variant_find(name, NULL, false);
    for (int k = 0; k < 2; k++) t.grid.cells[k] = t.whole.cells[k] = 1 << 14;
    t.grid.cells[2] = t.whole.cells[2] = (int64_t)5 * ht_comm_size(scene->comm);
    t.grid.slab.first = (int64_t)5 * ht_comm_rank(scene->comm);
    t.grid.slab.last = t.grid.slab.first + 5;
    bool more = ht_grid_total(&t.whole, HT_DUAL) > INT32_MAX;
    enum ht_err cut = ht_kernels_plan(&t.problem, &info, &t.tuning, &kernels);
    TEST_CHECK(cut == HT_OK, "%s: 5 planes of 2^28 nodes per rank: %s", name,
               cut == HT_OK ? "taken" : ht_err_message());
    enum ht_err whole = ht_kernels_plan(&t.alone, &info, &t.tuning, &kernels);
    TEST_CHECK(!more || whole == HT_ERR_DEVICE, "%s: %lld of them on one rank: %s", name,
               (long long)t.whole.cells[2], whole == HT_OK ? "taken" : ht_err_message());
}

/* A message has all fields of a plane, a field's buffer the planes of one. */
static void test_budget(const struct scene *scene) {
    struct trial t;
    make_trial(&t, scene, false, -1, 0);
    t.problem.halo.depth = 1;
    const struct ht_budget b =
        ht_stepper_budget(&t.problem, &t.tuning, ht_device_info(scene->device));
    int64_t sides = 0;
    for (int side = 0; side < 2; side++) sides += ht_grid_neighbour(&t.grid, side) >= 0;
    TEST_CHECK(b.messages > 0 && 3 * sides * b.largest_buffer >= b.messages,
               "largest of the buffers: %lld bytes; 3 of each of %lld messages take %lld",
               (long long)b.largest_buffer, (long long)sides, (long long)b.messages);
}

static void run_roundings(struct scene *scene) {
    bool fp64 = ht_device_info(scene->device)->fp64;
    for (int depth = 1; depth <= 2; depth++) {
        run_rounding(scene, false, HT_HALO_HALF, false, depth);
        run_rounding(scene, false, HT_HALO_HALF, true, depth);
    }
    if (fp64) run_rounding(scene, true, HT_HALO_SINGLE, false, 1);
    if (fp64) run_rounding(scene, true, HT_HALO_HALF, true, 2);
}

int main(int argc, char **argv) {
    struct scene scene;
    bool here = scene_open(&scene, argc, argv);
    if (here && ht_comm_size(scene.comm) == 1) {
        TEST_SKIP("a rank alone exchanges nothing");
        here = false;
    }
    if (here) {
        test_count(&scene);
        test_budget(&scene);
        for (int i = 0; i < (test_all() ? 4 : 2); i++)
            run_schedules(&scene, i % 2 != 0, i % 3 == 0 ? -1 : 2);
        run_roundings(&scene);
    }
    return scene_close(&scene, "exchange");
}
