/* htwave tune: the fastest kernels for the problem of FILE, or for classes of problems, found by
 * timing and stored for later runs. */
#include "app.h"

struct tune {
    const struct ht_args *args;
    struct ht_device *device;
    const char *cache; /* NULL: nothing is stored */
    double seconds;    /* per class */
    struct ht_facts *facts;
    struct ht_text *winners; /* lines of the classes */
    int classes, trials;
};

/* A class's trials and best have the same members of JSON. */
#define TUNING_FACTS(t, rate)                                                              \
    HT_TEXT("variant", (t)->variant->name), HT_TEXT("layout", ht_layout_name((t)->block)), \
        HT_INT("cells_per_group", (t)->cells), HT_INT("rows_per_group", (t)->rows),        \
        HT_INT("planes_per_group", (t)->planes), HT_BOOL("trim", (t)->trim),               \
        HT_NUM("cell_half_steps_per_s", rate)

/* A line of a table: columns that trials and winners share. rate in cell half steps per second. */
static void add_row(const struct ht_tuning *t, double rate, const char *why, struct ht_text *text) {
    HT_FREED_TEXT struct ht_text shape = {0};
    /* "cells 2, planes 8, trimmed"; numbers that the run chooses are left out. */
    const struct {
        const char *name;
        int number;
    } part[] = {{"cells", t->cells}, {"rows", t->rows}, {"planes", t->planes}};
    for (int i = 0; i < 3; i++)
        if (part[i].number > 0)
            ht_text_add(&shape, "%s%s %d", shape.length > 0 ? ", " : "", part[i].name,
                        part[i].number);
    if (shape.length == 0) ht_text_add(&shape, "chosen by the run");
    if (t->trim) ht_text_add(&shape, ", trimmed");
    ht_text_add(text, "  %-18s %-8s %-36s", t->variant->name, ht_layout_name(t->block),
                shape.data != NULL ? shape.data : "");
    if (isfinite(rate))
        ht_text_add(text, " %12.4g", 1e-6 * rate);
    else
        ht_text_add(text, " left out: %.120s", why);
}

static const char columns[] =
    "  variant            layout   per group                            million cell\n"
    "                                                                   half-steps/s";

static void log_and_free(struct ht_text *text) {
    if (ht_text_status(text) == HT_OK) ht_log("%s", text->data);
    ht_text_free(text);
}

static void report(void *context, const struct ht_trial *trial) {
    struct tune *tune = context;
    struct ht_text text = {0};
    const double rate = (double)trial->cells / trial->seconds;
    tune->trials++;
    add_row(&trial->tuning, rate, trial->why, &text);
    log_and_free(&text);
    ht_fact(tune->facts, HT_OPEN(NULL, '{'), TUNING_FACTS(&trial->tuning, rate), HT_CLOSE('}'));
}

static HT_ERR tune_class(struct tune *tune, const struct ht_problem *problem, bool fp64,
                         const struct ht_tune_choice *choice) {
    char name[HT_TUNE_CLASS];
    struct ht_tuned best;
    struct ht_text text = {0};
    ht_tune_class(problem, fp64, choice, name);
    /* "acoustic, 3-D, N = 3, single precision, ..." */
    ht_text_add(&text, "%s, %d-D, %s%d, %s precision, %s with %d stages, ",
                problem->eq->system->name, problem->grid->dims, problem->scheme->order_is,
                ht_problem_order(problem), ht_real_name(fp64), problem->scheme->title,
                problem->stages);
    if (problem->grid->order == 0)
        ht_text_add(&text, "density %s", problem->fd.density ? "varies" : "uniform");
    else if (problem->medium_degree < 0)
        ht_text_add(&text, "uniform medium");
    else if (problem->medium_degree == 0)
        ht_text_add(&text, "medium constant per node");
    else
        ht_text_add(&text, "cell polynomials of degree %d", problem->medium_degree);
    ht_text_add(&text, ", %s grids", ht_tune_size(problem->grid));
    if (choice->variant != NULL) ht_text_add(&text, ", only variant %s", choice->variant->name);
    if (choice->block != 0) ht_text_add(&text, ", only layout %s", ht_layout_name(choice->block));
    if (tune->classes++ > 0) ht_text_add(tune->winners, "\n");
    ht_text_add(tune->winners, "%s\n", text.data != NULL ? text.data : "");
    ht_text_add(&text, "\n%s", columns);
    log_and_free(&text);
    const struct ht_tune_effort effort = {
        .seconds = tune->seconds, .report = report, .context = tune};
    ht_fact(tune->facts, HT_OPEN(NULL, '{'), HT_TEXT("class", name), HT_OPEN("trials", '['));
    TRY(ht_tune(problem, tune->device, fp64, choice, &effort, &best));
    ht_fact(tune->facts, HT_CLOSE(']'), TUNING_FACTS(&best.tuning, best.rate), HT_CLOSE('}'));
    add_row(&best.tuning, best.rate, "", tune->winners);
    REQUIRE(tune->cache == NULL || ht_tuning_store(tune->device, name, &best), HT_ERR_IO, "%s",
            ht_err_message());
    return HT_OK;
}

/* The winners, and what becomes of them. */
static HT_ERR show(struct tune *tune) {
    TRY(ht_text_status(tune->winners));
    ht_say(tune->facts, "Fastest on %s, %d timings for %d class%s of problems:\n%s\n%s\n",
           ht_device_info(tune->device)->name, tune->trials, tune->classes,
           tune->classes == 1 ? "" : "es", columns,
           tune->winners->data != NULL ? tune->winners->data : "");
    if (tune->cache != NULL)
        ht_say(tune->facts,
               "Kept in %s:\nruns of these classes on this device take them where "
               "device.variant and device.layout are \"auto\".\n",
               tune->cache);
    else
        ht_say(tune->facts, "Not kept: there is no cache directory. Runs take them by "
                            "device.variant and device.layout.\n");
    return HT_OK;
}

static HT_ERR tune_file(struct tune *tune, struct ht_params *params) {
    HT_ENDED(ht_simulation_end) struct ht_simulation *sim = NULL;
    TRY(ht_simulation_plan(params, NULL, NULL, &sim));
    REQUIRE(sim->device != NULL, HT_ERR_DEVICE, "no device, so nothing to tune: %s",
            sim->no_device ? sim->no_device : "device.backend is \"oracle\"");
    const struct ht_tune_choice choice = ht_tuning_choice(sim);
    tune->device = sim->device;
    tune->cache = sim->cache;
    TRY(tune_class(tune, &sim->plan->problem, sim->tuning.fp64, &choice));
    return show(tune);
}

/* As `htwave run` plans it by default: the fewest stable stages at cfl 0.9; fills a device. */
static HT_ERR tune_plain(void *context, const struct ht_equations *eq,
                         const struct ht_scheme *scheme, int order, bool fp64) {
    static const int64_t side[] = {1 << 18, 512, 64};
    const struct ht_tune_choice choice = {0};
    const int64_t n = side[eq->dims - 1], cells[3] = {n, n, n};
    struct ht_part plain, sample;
    int stages = ht_scheme_least_stages(scheme, eq, order, 0.9);
    ht_test_problem_plain(eq, order, stages, scheme, &plain);
    ht_test_problem(&plain.problem, cells, &sample);
    return tune_class(context, &sample.problem, fp64, &choice);
}

static HT_ERR tune_classes(struct tune *tune) {
    struct ht_sweep sweep;
    HT_FREED char *cache = NULL;
    HT_ENDED(ht_device_end) struct ht_device *device = NULL;
    TRY(ht_sweep_read(tune->args, false, &sweep));
    TRY(ht_sweep_open(&sweep, &cache, &device));
    tune->device = device;
    tune->cache = cache;
    TRY(ht_sweep_each(&sweep, ht_device_info(device), 5, tune_plain, tune));
    return show(tune);
}

enum ht_err ht_command_tune(const struct ht_args *args) {
    HT_FREED_TEXT struct ht_text winners = {0};
    HT_ENDED(ht_facts_free) struct ht_facts f = ht_facts_open();
    struct tune tune = {.args = args, .seconds = 60, .facts = &f, .winners = &winners};
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    TRY(ht_args_real(args, "--seconds", 0, DBL_MAX, &tune.seconds));
    if (args->count > 0)
        TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &params));
    ht_fact(&f, HT_OPEN("classes", '['));
    TRY(params != NULL ? tune_file(&tune, params) : tune_classes(&tune));
    ht_fact(&f, HT_CLOSE(']'));
    return ht_facts_print(&f, args->json);
}
