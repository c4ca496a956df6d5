/* The search for the fastest kernels: every variant that applies is timed in every layout, in the
 * shape that its rules choose; then numbers of the best shapes are varied, one after the other. */
#include "htwave/tune.h"

/* Small grids or slabs do not fill a device. */
const char *ht_tune_size(const struct ht_grid *grid) {
    const int64_t many = 32768;
    return ht_grid_own_total(grid, HT_PRIMARY) < many ? "small" : "large";
}

void ht_tune_class(const struct ht_problem *p, bool fp64, const struct ht_tune_choice *choice,
                   char name[HT_TUNE_CLASS]) {
    snprintf(name, HT_TUNE_CLASS,
             "%s %s %dd order=%d %s stages=%d medium=%d,%x stored=%x,%x %s variant=%s block=%d",
             p->eq->system->name, p->scheme->name, p->grid->dims, ht_problem_order(p),
             fp64 ? "double" : "single", p->stages,
             p->grid->order > 0 ? p->medium_degree : p->fd.density,
             p->medium_degree > 0 ? p->constant : 0, p->stored[0], p->stored[1],
             ht_tune_size(p->grid), choice->variant ? choice->variant->name : "auto",
             choice->block);
}

enum { FINALISTS = 3, CANDIDATES = 64 };

struct search {
    const struct ht_problem *problem;
    struct ht_device *device;
    const struct ht_tune_choice *choice;
    const struct ht_tune_effort *effort;
    struct ht_part test;
    double began;
    uint64_t seen[CANDIDATES]; /* hashes of timed tunings, see is_new */
    int nseen;
    struct candidate {
        struct ht_tuning tuning;
        double seconds;
    } best;
};

/* Whether no tuning with the same program and launch was timed before. The program follows from the
 * numbers where nodes hold one value. */
static bool is_new(struct search *s, const struct ht_tuning *tuning,
                   const struct ht_kernels *plan) {
    HT_FREED_TEXT struct ht_text text = {0};
    const bool one = s->problem->grid->order == 0;
    const int numbers[] = {plan->spec[0].block, one || tuning->trim,   plan->shape[0].cells,
                           plan->shape[0].rows, plan->shape[0].planes, plan->shape[0].group_size};
    enum ht_err err =
        one ? HT_OK : ht_kernel_text(tuning->variant, &plan->spec[0], &plan->shape[0], &text);
    uint64_t hash = ht_hash(HT_HASH_SEED, numbers, sizeof numbers);
    hash = ht_hash(hash, tuning->variant->name, strlen(tuning->variant->name));
    if (err == HT_OK && !one) hash = ht_hash(hash, text.data, text.length);
    for (int i = 0; i < s->nseen; i++)
        if (s->seen[i] == hash) return false;
    if (s->nseen < CANDIDATES) s->seen[s->nseen++] = hash;
    return true;
}

static HT_ERR time_kernels(struct search *s, const struct ht_tuning *tuning, double *seconds) {
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    const bool gpu = ht_device_info(s->device)->gpu;
    const struct ht_effort effort = {.warm = 1, .least = gpu ? 3 : 2, .seconds = gpu ? 0.02 : 0};
    struct ht_rate rate;
    double worst = 0;
    TRY(ht_kernels_create(&s->test.problem, s->device, tuning, &kernels));
    TRY(ht_rate_measure(&s->test, s->device, &kernels, &effort, &rate));
    *seconds = rate.best;
    if (rate.best >= s->best.seconds) return HT_OK;
    return ht_selfcheck(s->problem, s->device, &kernels, &worst);
}

/* Times a tuning. Returns seconds per half step, or NaN if the tuning was timed before, exceeds the
 * memory, fails or gives wrong results. Updates the best. */
static double try_tuning(struct search *s, const struct ht_tuning *tuning) {
    struct ht_kernels plan;
    struct ht_trial trial = {
        .tuning = *tuning, .cells = ht_grid_total(&s->test.grid, HT_PRIMARY), .seconds = NAN};
    if (ht_clock() - s->began > s->effort->seconds && isfinite(s->best.seconds)) return NAN;
    const struct ht_device_info *info = ht_device_info(s->device);
    if (ht_kernels_plan(&s->test.problem, info, tuning, &plan) != HT_OK) return NAN;
    const struct ht_budget b = ht_stepper_budget(s->problem, tuning, info);
    if (b.total > info->memory || b.largest_buffer > info->max_buffer || !is_new(s, tuning, &plan))
        return NAN;
    if (time_kernels(s, tuning, &trial.seconds) != HT_OK) {
        trial.seconds = NAN;
        trial.why = ht_err_message();
    }
    if (trial.seconds < s->best.seconds) s->best = (struct candidate){*tuning, trial.seconds};
    if (s->effort->report != NULL) s->effort->report(s->effort->context, &trial);
    return trial.seconds;
}

static int faster(const void *a, const void *b) {
    double x = ((const struct candidate *)a)->seconds;
    double y = ((const struct candidate *)b)->seconds;
    return (x > y) - (x < y);
}

/* Times all variants and layouts with the shapes that their rules choose. The variants are in the
 * order of expected speed. */
static int try_defaults(struct search *s, bool fp64, struct candidate *out) {
    const bool gpu = ht_device_info(s->device)->gpu;
    const int wide = fp64 ? 2 : 4, layout[2] = {gpu ? wide : 1, gpu ? 1 : wide};
    int count = 0;
    const int layouts = s->problem->grid->order > 0 ? 2 : 1; /* of several values per node */
    for (int n = 0; n < layouts; n++)
        HT_EACH_BY(i, const struct ht_variant, variant, ht_variant_at(i), ht_variant_count()) {
            const struct ht_tuning t = {.variant = variant,
                                        .fp64 = fp64,
                                        .trim = gpu,
                                        .ptx = ht_device_info(s->device)->ptx,
                                        .ptx_own = ht_device_info(s->device)->ptx_own,
                                        .block = layouts > 1 ? layout[n] : 1};
            if ((s->choice->block != 0 && s->choice->block != t.block) ||
                (s->choice->variant != NULL && s->choice->variant != variant) ||
                (s->choice->variant == NULL && !ht_variant_suits(variant, gpu)))
                continue;
            double seconds = try_tuning(s, &t);
            if (isfinite(seconds) && count < CANDIDATES)
                out[count++] = (struct candidate){t, seconds};
        }
    qsort(out, (size_t)count, sizeof *out, faster);
    return count;
}

/* Tries increasing values of a member of a tuning until one is far behind the best. */
static void search_member(struct search *s, struct candidate *at, int *member, const int *values) {
    const double far_behind = 1.3;
    int found = *member;
    for (int n = 0; values[n] > 0; n++) {
        *member = values[n];
        double seconds = try_tuning(s, &at->tuning);
        if (seconds < at->seconds) {
            at->seconds = seconds;
            found = values[n];
        } else if (seconds > far_behind * at->seconds && found != 0) {
            break;
        }
    }
    *member = found;
}

/* A cell has a polynomial per field, or one value. */
enum { VALUES = 8 };
static const struct {
    int cells[VALUES], rows[VALUES], planes[VALUES];
} polynomials = {.cells = {1, 2, 4, 8, 16, 32, 64},
                 .rows = {1, 2, 4, 8},
                 .planes = {4, 8, 16, 32, 64}},
  values = {.cells = {32, 64, 128, 256}, .rows = {2, 4, 8, 16, 32}, .planes = {8, 16, 32, 64, 128}};

static void improve(struct search *s, struct candidate *at) {
    const bool one = s->problem->grid->order == 0;
    search_member(s, at, &at->tuning.cells, one ? values.cells : polynomials.cells);
    search_member(s, at, &at->tuning.rows, one ? values.rows : polynomials.rows);
    search_member(s, at, &at->tuning.planes, one ? values.planes : polynomials.planes);
    struct ht_tuning other = at->tuning;
    other.trim = !other.trim;
    (void)try_tuning(s, &other);
}

HT_ERR ht_tune(const struct ht_problem *problem, struct ht_device *device, bool fp64,
               const struct ht_tune_choice *choice, const struct ht_tune_effort *effort,
               struct ht_tuned *out) {
    const double hopeless = 1.5;
    HT_ARRAY(struct search, s, 1);
    HT_ARRAY(struct candidate, list, CANDIDATES);
    *s = (struct search){.problem = problem,
                         .device = device,
                         .choice = choice,
                         .effort = effort,
                         .began = ht_clock(),
                         .best.seconds = INFINITY};
    /* The test problem: large enough to fill a device, small enough for short timings. */
    const bool gpu = ht_device_info(s->device)->gpu;
    const struct ht_grid *grid = s->problem->grid;
    const struct ht_tuning tuning = {.fp64 = fp64, .block = 1};
    const double bytes = gpu ? 0x1p28 : 0x1p24, fma = gpu ? 2e10 : 2e7;
    int64_t most = 1, cells[3];
    for (int k = 0; k < grid->dims; k++) most = ht_most(most, grid->cells[k]);
    const int64_t side = ht_test_problem_cells(s->problem, &tuning, most, bytes, fma);
    for (int k = 0; k < 3; k++) cells[k] = ht_least(grid->cells[k], side);
    ht_test_problem(s->problem, cells, &s->test);
    int count = try_defaults(s, fp64, list);
    for (int i = 0; i < count && i < FINALISTS; i++)
        if (list[i].seconds < hopeless * s->best.seconds) improve(s, &list[i]);
    out->tuning = s->best.tuning;
    out->rate = (double)ht_grid_total(&s->test.grid, HT_PRIMARY) / s->best.seconds;
    REQUIRE(isfinite(s->best.seconds), HT_ERR_DEVICE, "no variant could be timed on this device");
    return HT_OK;
}

/* ---- results, kept beside the device's compiled programs ---- */

struct kept {
    char variant[32];
    struct ht_tuned tuned; /* but for the variant */
};

/* With a hash of the text of cl/ and the version: other kernels have other results. */
static void name_result(const char *class_name, char name[HT_TUNE_CLASS + 32]) {
    uint64_t hash = ht_hash(HT_HASH_SEED, HT_VERSION, sizeof HT_VERSION);
    for (int i = 0; ht_kernel_sources[i].name != NULL; i++)
        hash = ht_hash(hash, ht_kernel_sources[i].text, strlen(ht_kernel_sources[i].text) + 1);
    snprintf(name, HT_TUNE_CLASS + 32, "kernels %016llx, %s", (unsigned long long)hash, class_name);
}

bool ht_tuning_load(const struct ht_device *device, const char *class_name, struct ht_tuned *out) {
    char name[HT_TUNE_CLASS + 32];
    struct kept kept;
    name_result(class_name, name);
    if (!ht_device_recall(device, name, &kept, sizeof kept)) return false;
    *out = kept.tuned;
    out->tuning.variant = ht_variant_find(kept.variant, NULL, false);
    return out->tuning.variant != NULL;
}

bool ht_tuning_store(const struct ht_device *device, const char *class_name,
                     const struct ht_tuned *tuned) {
    char name[HT_TUNE_CLASS + 32];
    struct kept kept = {.tuned = *tuned};
    snprintf(kept.variant, sizeof kept.variant, "%s", tuned->tuning.variant->name);
    kept.tuned.tuning.variant = NULL;
    name_result(class_name, name);
    return ht_device_remember(device, name, &kept, sizeof kept);
}
