/* htwave selftest: every row of kernels against the reference. A driver may end the process: each
 * device is tested by a process of its own, the hidden command selftest-rows, which sends a row
 * when it is begun and when it is done. After a row that ends it another goes on. */
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app.h"

extern char **environ;

/* Of a shot the signal begins at 1e-11 of this. */
#define SHOT "frequency=1.0;amplitude=1e13;"
#define WAVY "medium.type=expression medium.c=1+0.2*sin(6*x1)"
#define WAVES "medium.type=expression medium.vp=2+0.2*sin(6*x1)"
#define OBLIQUE                                               \
    "medium.type=expression medium.vp=1+step(x1-0.7*x2-0.2) " \
    "medium.vs=0.5+0.5*step(x1-0.7*x2-0.2) medium.rho=1+0.1*step(x1-0.7*x2-0.2)"

/* Keys of an input. Together they have each system, scheme and dimension, orders low and high, each
 * kind of medium, wall, layer, loss and source, and both layouts. Few cells: the reference is slow,
 * and compilers take longest in three dimensions and at high orders. */
static const struct scene {
    bool quick;
    const char *system, *scheme;
    int order;
    const char *what; /* the rest of its name */
    const char *keys; /* beside those here */
    int64_t cells[3]; /* 0 beyond its dimensions */
} scenes[] = {
#define ROW(quick, system, scheme, order, what, keys, ...) \
    {                                                      \
        quick, system, scheme, order, what, keys, {        \
            __VA_ARGS__                                    \
        }                                                  \
    }
    ROW(false, "acoustic", "taylor", 8, "walls", "boundary.x1=[\"rigid\",\"free\"]", 6),
    ROW(true, "acoustic", "leapfrog", 3, "walls", "boundary.x1=[\"rigid\",\"free\"]", 5, 4),
    ROW(false, "acoustic", "leapfrog", 3, "source", "sources=({position=[0.4,0.5];" SHOT "})", 16,
        14),
    ROW(false, "acoustic", "taylor", 2, "polynomials",
        WAVY " medium.rho=1+0.1*x2 boundary.x2=rigid", 6, 5),
    ROW(false, "acoustic", "taylor", 2, "cpml", "absorbing.cells=3 boundary.x1=absorbing", 10, 9),
    ROW(false, "acoustic", "taylor", 1, "walls, blocked", "device.layout=blocked boundary.x3=rigid",
        4, 3, 3),
    ROW(false, "wave", "taylor", 4, "medium by nodes, blocked",
        "device.layout=blocked " WAVY " medium.degree=0", 6, 5),
    ROW(false, "wave", "leapfrog", 3, "sponge",
        "absorbing.cells=6 absorbing.type=sponge boundary.x1=absorbing", 16, 14),
    ROW(false, "wave", "leapfrog", 3, "walls", "boundary.x2=free", 4, 3, 3),
    ROW(false, "advection", "taylor", 5, "", "", 5, 4),
    ROW(true, "advection", "taylor", 2, "tensor", "device.layout=tensor", 4, 4, 3),
    ROW(false, "elastic", "taylor", 2, "polynomials", "medium.vs=1.0 " WAVES, 6, 5),
    ROW(false, "maxwell", "leapfrog", 1, "walls", "boundary.x1=electric", 4, 3, 3),
    ROW(false, "acoustic", "fd", 2, "walls", "boundary.x1=[\"rigid\",\"free\"]", 40),
    ROW(true, "acoustic", "fd", 8, "density, cpml, source",
        "boundary.x1=absorbing boundary.x2=rigid " WAVY
        " medium.rho=1+0.1*x2 sources=({position=[0.4,0.5];" SHOT "})",
        24, 18),
    ROW(false, "acoustic", "fd", 6, "attenuation", "medium.q=30.0 boundary.x1=rigid", 16, 15),
    ROW(false, "acoustic", "fd", 4, "density",
        WAVY " medium.rho=1+0.1*x2 boundary.x3=[\"rigid\",\"free\"]", 14, 13, 12),
    ROW(false, "wave", "fd", 8, "sponge",
        "time.stages=2 " WAVY " absorbing.type=sponge absorbing.cells=6 boundary.x3=absorbing", 14,
        13, 16),
    ROW(false, "wave", "fd", 16, "", "", 18, 18, 18),
    ROW(true, "elastic", "fd", 4, "free side, cpml, source",
        "absorbing.cells=6 boundary.x1=absorbing boundary.x2=[\"free\",\"absorbing\"] "
        "sources=({position=[0.4,0.5];kind=\"explosion\";" SHOT "})",
        30, 26),
    ROW(false, "elastic", "fd", 4, "oblique face",
        "boundary.x1=roller boundary.x2=[\"free\",\"roller\"] " OBLIQUE, 30, 26),
    ROW(true, "elastic", "fd", 2, "two terms in time, oblique face",
        "time.stages=2 boundary.x1=roller boundary.x2=[\"free\",\"roller\"] " OBLIQUE, 30, 26),
    ROW(false, "elastic", "fd", 4, "fluid beside solid",
        "boundary.x3=roller medium.type=layers medium.interfaces=0.5 medium.vs=[0.0,1.0] "
        "medium.vp=[1.0,2.0]",
        12, 11, 10),
    ROW(false, "elastic", "fd", 2, "oblique face",
        "boundary.x1=roller boundary.x2=roller boundary.x3=roller " OBLIQUE, 28, 22, 12),
    ROW(false, "elastic", "fd", 6, "attenuation",
        "boundary.x1=roller medium.qp=50.0 medium.qs=30.0 " WAVES, 18, 16),
    ROW(false, "maxwell", "fd", 4, "Debye, dipole",
        "medium.debye_eps=1.0 "
        "sources=({position=[0.4,0.5,0.5];kind=\"dipole\";direction=[1.0,2.0,3.0];" SHOT "})",
        10, 9, 8),
    ROW(false, "maxwell", "fd", 8, "Lorentz, cpml",
        "medium.lorentz_eps=1.0 absorbing.cells=6 boundary.x1=absorbing", 20, 9, 9),
    ROW(false, "maxwell_tm", "fd", 2, "Drude, sigma, walls",
        "medium.drude_wp=1.0 medium.drude_gamma=0.1 medium.sigma=0.1 boundary.x1=electric", 12, 11),
};
enum { SCENES = sizeof scenes / sizeof *scenes };

static int dims_of(const struct scene *scene) {
    return scene->cells[1] == 0 ? 1 : scene->cells[2] == 0 ? 2 : 3;
}

/* "acoustic 2-D, N 3, leapfrog, walls" */
#define NAME_OF(scene) name_of((scene), (char[96]){0})
static const char *name_of(const struct scene *scene, char name[96]) {
    const bool fd = strcmp(scene->scheme, "fd") == 0;
    const bool leapfrog = strcmp(scene->scheme, "leapfrog") == 0;
    return ht_text_format(name, 96, "%s %d-D, %s %d%s%s%s", scene->system, dims_of(scene),
                          fd ? "order" : "N", scene->order, leapfrog ? ", leapfrog" : "",
                          *scene->what ? ", " : "", scene->what);
}

/* What selftest chooses. */
static const char own_keys[] = "backend select precision variant layout selfcheck tune";

enum { BEGUN, PASSED, FAILED, IMPOSSIBLE };
static const char *const state_name[] = {"", "passed", "failed", "not possible"};

/* As it goes from process to process. */
struct row {
    int number; /* of the device's rows */
    int scene, state;
    bool fp64;
    char variant[32];
    double worst, rate, ready_s; /* NaN: not known */
    char why[400];
};
#define UNKNOWN(...) \
    ((struct row){.variant = "-", .worst = NAN, .rate = NAN, .ready_s = NAN, __VA_ARGS__})

/* ---- the process of a device ---- */

struct tester {
    struct ht_device *device;
    const struct ht_device_info *info;
    int out; /* where rows go */
    int first, count, scene;
    bool quick;
    const char *only; /* part of the names of rows */
    int nkeys;
    char *const *keys;
};

/* A pipe takes a row whole, and gives it so. */
_Static_assert(sizeof(struct row) <= 512, "pipes");

static HT_ERR send_row(const struct tester *t, const struct row *row) {
    REQUIRE(write(t->out, row, sizeof *row) == (ssize_t)sizeof *row, HT_ERR_IO,
            "nobody reads the rows: %s", strerror(errno));
    return HT_OK;
}

/* Half steps per second and cell of a small grid that is periodic, in the medium of tests. */
static HT_ERR measure(const struct tester *t, const struct ht_problem *problem,
                      struct ht_kernels *kernels, const struct ht_tuning *tuning, struct row *row) {
    const bool gpu = t->info->gpu;
    const struct ht_effort effort = {.warm = 1, .least = gpu ? 5 : 2};
    const double bytes = gpu ? 0x1p27 : 0x1p21, fma = gpu ? 1e9 : 2e6;
    const int64_t side = ht_test_problem_cells(problem, tuning, 1 << 16, bytes, fma);
    const int64_t cells[3] = {side, side, side};
    struct ht_part test;
    struct ht_rate rate;
    if (t->info->simulator) return HT_OK;
    ht_test_problem(problem, cells, &test);
    TRY(ht_rate_measure(&test, t->device, kernels, &effort, &rate));
    row->rate = (double)ht_grid_total(&test.grid, HT_DUAL) / rate.median;
    return HT_OK;
}

/* The self-check of runs, and with sources the whole problem. */
static HT_ERR compare(const struct tester *t, const struct ht_problem *problem,
                      const struct ht_tuning *tuning, struct row *row) {
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    const double began = ht_clock();
    double whole = 0;
    TRY(ht_kernels_create(problem, t->device, tuning, &kernels));
    TRY(ht_selfcheck(problem, t->device, &kernels, &row->worst));
    row->ready_s = ht_clock() - began; /* some drivers compile when kernels are launched */
    if (problem->shots != NULL || problem->duhamel != NULL)
        TRY(ht_verify_kernels(problem, t->device, &kernels, &whole));
    row->worst = fmax(row->worst, whole);
    REQUIRE(whole <= 1, HT_ERR_DEVICE,
            "with sources it differs from the reference by %.3g times what rounding explains",
            whole);
    return measure(t, problem, &kernels, tuning, row);
}

static HT_ERR test_row(struct tester *t, const struct ht_problem *problem,
                       const struct ht_tuning *tuning, struct row *row) {
    char name[128]; /* "wave 2-D .., fd-plain, single" */
    struct ht_kernels plan;
    snprintf(row->variant, sizeof row->variant, "%s", tuning->variant->name);
    snprintf(name, sizeof name, "%s, %s, %s", NAME_OF(&scenes[row->scene]), row->variant,
             ht_real_name(row->fp64));
    if (t->only != NULL && strstr(name, t->only) == NULL) return HT_OK;
    row->number = t->count++;
    if (row->number < t->first) return HT_OK;
    TRY(send_row(t, row));
    row->state = PASSED;
    if (ht_kernels_plan(problem, t->info, tuning, &plan) != HT_OK)
        row->state = IMPOSSIBLE;
    else if (compare(t, problem, tuning, row) != HT_OK)
        row->state = FAILED;
    if (row->state != PASSED) snprintf(row->why, sizeof row->why, "%s", ht_err_message());
    return send_row(t, row);
}

/* All variants that serve a problem and are made for such a device. */
static HT_ERR test_variants(struct tester *t, const struct ht_plan *plan, const struct row *of,
                            enum ht_layout_choice layout) {
    struct ht_tuning tuning = {.fp64 = of->fp64,
                               .ptx = t->info->ptx,
                               .ptx_own = t->info->ptx_own,
                               .block = ht_layout_block(layout, t->info->gpu, of->fp64)};
    for (int v = 0; v < ht_variant_count(); v++) {
        struct row row = *of;
        tuning.variant = ht_variant_at(v);
        tuning.trim = t->info->gpu || tuning.variant->made_for == HT_FOR_CPU;
        const struct ht_spec spec = ht_problem_spec(&plan->problem, &tuning, HT_PRIMARY);
        if (ht_variant_suits(tuning.variant, t->info->gpu) &&
            ht_variant_refuses(tuning.variant, &spec) == NULL)
            TRY(test_row(t, &plan->problem, &tuning, &row));
    }
    return HT_OK;
}

static HT_ERR test_scene(struct tester *t, bool fp64) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    HT_ENDED(ht_plan_end) struct ht_plan *plan = NULL;
    HT_FREED char *keys = NULL;
    const struct scene *scene = &scenes[t->scene];
    char cells[192];
    const struct row row = UNKNOWN(.scene = t->scene, .fp64 = fp64);
    TRY(ht_text_print(&keys,
                      "system=%s time.scheme=%s grid.order=%d grid.cells=[%s] device.precision=%s "
                      "initial.type=zero output.pictures=false %s %s",
                      scene->system, scene->scheme, scene->order,
                      ht_text_extents(dims_of(scene), scene->cells, ",", cells), ht_real_name(fp64),
                      strstr(scene->keys, "=absorbing") ? "absorbing.place=inside" : "",
                      scene->keys));
    TRY(ht_input_read(NULL, t->nkeys, t->keys, keys, &params));
    TRY(ht_plan_create(params, NULL, &plan));
    return test_variants(t, plan, &row, params->device.layout);
}

/* htwave selftest-rows DEVICE FIRST QUICK ONLY [key=value ...]: rows on standard output. What
 * libraries print goes to standard error. */
static HT_ERR test_device(struct tester *t, const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    HT_FREED char *cache = NULL;
    t->nkeys = args->count - 4;
    t->keys = args->operand + 4;
    TRY(ht_params_read(NULL, t->nkeys, t->keys, &params));
    TRY(ht_cache_directory(params->device.cache, &cache));
    TRY(ht_device_open("auto", args->operand[0], 0, &t->device));
    ht_device_limit(t->device, params->device.limits.local_memory, params->device.limits.group,
                    params->device.limits.fp64);
    ht_device_cache(t->device, cache);
    t->info = ht_device_info(t->device);
    for (t->scene = 0; t->scene < SCENES; t->scene++)
        for (int fp64 = 0; fp64 < 2; fp64++)
            if (scenes[t->scene].quick || !t->quick) TRY(test_scene(t, fp64 != 0));
    return HT_OK;
}

enum ht_err ht_command_selftest_rows(const struct ht_args *args) {
    struct tester t = {.first = (int)strtol(args->operand[1], NULL, 10),
                       .quick = strcmp(args->operand[2], "quick") == 0,
                       .only = *args->operand[3] != '\0' ? args->operand[3] : NULL,
                       .out = dup(STDOUT_FILENO)};
    ht_log_level_set(HT_LOG_SILENT);
    (void)signal(SIGPIPE, SIG_DFL); /* ends with the process that reads the rows */
    REQUIRE(t.out >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0, HT_ERR_IO, "dup: %s",
            strerror(errno));
    enum ht_err err = test_device(&t, args);
    if (err != HT_OK) {
        struct row row = UNKNOWN(.scene = t.scene, .state = FAILED);
        snprintf(row.why, sizeof row.why, "%s", ht_err_message());
        err = send_row(&t, &row);
    }
    ht_device_close(t.device);
    return err;
}

/* ---- all devices ---- */

struct selftest {
    const struct ht_args *args;
    struct ht_facts *facts;
    int rows[4]; /* of each state */
    struct ht_progress progress;
};

/* To three digits, more of which mean nothing. */
static double rounded(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.3g", value);
    return strtod(text, NULL);
}

static HT_ERR show_row(struct selftest *t, const struct row *row) {
    HT_FREED_TEXT struct ht_text text = {0};
    const char *name = NAME_OF(&scenes[row->scene]), *precision = ht_real_name(row->fp64);
    const char *state = state_name[row->state];
    t->rows[row->state]++;
    ht_fact(t->facts, HT_OPEN(NULL, '{'), HT_TEXT("problem", name),
            HT_TEXT("variant", row->variant), HT_TEXT("precision", precision),
            HT_TEXT("result", state), HT_NUM("worst_ratio", rounded(row->worst)),
            HT_NUM("cell_half_steps_per_s", rounded(row->rate)),
            HT_NUM("compile_and_check_s", rounded(row->ready_s)),
            HT_TEXT("why", row->state != PASSED ? row->why : NULL), HT_CLOSE('}'));
    if (t->args->json) return HT_OK;
    const char *rate = isfinite(row->rate) ? HT_KEY("%.4g", 1e-6 * row->rate) : "-";
    ht_text_add(&text, "  %-47s %-20s %-6s ", name, row->variant, precision);
    if (row->state == PASSED)
        ht_text_add(&text, "%8.2g %10s %8.2f\n", row->worst, rate, row->ready_s);
    else
        ht_text_add(&text, "%s: %.*s\n", state, (int)strcspn(row->why, "\n"), row->why);
    return ht_args_print(&text);
}

/* Reads a row; false: there are no more, or none within so many seconds. */
static bool read_row(int from, struct row *row, bool *late) {
    enum { PATIENCE_S = 600 };
    struct pollfd wait = {.fd = from, .events = POLLIN};
    int ready;
    do ready = poll(&wait, 1, PATIENCE_S * 1000);
    while (ready < 0 && errno == EINTR);
    *late = ready == 0;
    return ready > 0 && read(from, row, sizeof *row) == (ssize_t)sizeof *row;
}

static HT_ERR start(const struct selftest *t, const struct ht_device_info *info, int first,
                    pid_t *child, int *from) {
    int end[2];
    posix_spawn_file_actions_t actions;
    const char *only = ht_args_value(t->args, "--only");
    const char *const words[] = {"htwave",
                                 "selftest-rows",
                                 "--quiet",
                                 "--",
                                 HT_KEY("%d", info->index),
                                 HT_KEY("%d", first),
                                 ht_args_value(t->args, "--quick") ? "quick" : "all",
                                 only != NULL ? only : ""};
    enum { WORDS = sizeof words / sizeof *words };
    HT_ARRAY(char *, argv, WORDS + t->args->count + 1);
    memcpy(argv, words, sizeof words); /* posix_spawn does not change them */
    for (int i = 0; i < t->args->count; i++) argv[WORDS + i] = t->args->operand[i];
    REQUIRE(pipe(end) == 0, HT_ERR_IO, "a pipe: %s", strerror(errno));
    int code = posix_spawn_file_actions_init(&actions);
    if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, end[1], STDOUT_FILENO);
    if (code == 0) code = posix_spawn_file_actions_addclose(&actions, end[0]);
    if (code == 0) code = posix_spawn_file_actions_addclose(&actions, end[1]);
    if (code == 0) code = posix_spawn(child, "/proc/self/exe", &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(end[1]);
    if (code != 0) (void)close(end[0]);
    REQUIRE(code == 0, HT_ERR_IO, "starting a process for %s: %s", info->name, strerror(code));
    *from = end[0];
    return HT_OK;
}

/* Rows from number `first` on; *next: of the one to go on with, -1: all are done. */
static HT_ERR run_process(struct selftest *t, const struct ht_device_info *info, int first,
                          int *next) {
    struct row row = UNKNOWN(.state = BEGUN);
    enum ht_err err = HT_OK;
    pid_t child;
    int from, status = 0;
    bool late = false;
    TRY(start(t, info, first, &child, &from));
    while (err == HT_OK && read_row(from, &row, &late)) {
        if (row.state != BEGUN) err = show_row(t, &row);
        ht_progress_update(&t->progress, row.scene + 0.5 * row.fp64);
    }
    (void)close(from);
    if (late || err != HT_OK) (void)kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    TRY(err);
    *next = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return HT_OK;
    const char *how = late ? "took more than 600 s"
                      : WIFSIGNALED(status)
                          ? HT_KEY("ended the process by signal %d", WTERMSIG(status))
                          : HT_KEY("ended the process with exit code %d", WEXITSTATUS(status));
    if (row.state == BEGUN && strcmp(row.variant, "-") != 0) *next = row.number + 1;
    row.state = FAILED;
    snprintf(row.why, sizeof row.why, "the driver %s", how);
    return show_row(t, &row);
}

static HT_ERR run_device(void *context, const struct ht_device_info *info) {
    struct selftest *t = context;
    HT_FREED_TEXT struct ht_text text = {0};
    enum ht_err err = HT_OK;
    const double began = ht_clock();
    ht_text_add(&text, "%d: %s\n   %s, %s, %s, driver %s\n", info->index, info->name, info->backend,
                info->simulator ? "simulator"
                : info->gpu     ? "GPU"
                                : "no GPU",
                info->platform, info->driver);
    ht_text_add(&text, "  %-47s %-20s %-6s %8s %10s %8s\n", "problem", "variant", "prec.", "worst",
                "Mcells/s", "ready s");
    if (!t->args->json) TRY(ht_args_print(&text));
    ht_fact(t->facts, HT_OPEN(NULL, '{'), HT_TEXT("name", info->name),
            HT_TEXT("backend", info->backend), HT_TEXT("platform", info->platform),
            HT_TEXT("driver", info->driver), HT_OPEN("rows", '['));
    ht_progress_start(&t->progress, "selftest", SCENES, "problems", 1);
    for (int next = 0; err == HT_OK && next >= 0;) err = run_process(t, info, next, &next);
    ht_progress_end(&t->progress);
    ht_fact(t->facts, HT_CLOSE(']'), HT_NUM("seconds", rounded(ht_clock() - began)), HT_CLOSE('}'));
    return err;
}

static HT_ERR check_keys(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    const int group = (int)strlen("device.");
    HT_EACH_BY(i, const char, key, args->operand[i], args->count) {
        const bool device = strncmp(key, "device.", (size_t)group) == 0;
        const char *name = device ? key + group : "";
        REQUIRE(device && ht_text_find(own_keys, ' ',
                                       HT_KEY("%.*s", (int)strcspn(name, "= \t"), name)) < 0,
                HT_ERR_INPUT,
                "%s: selftest has problems of its own; it takes keys of device such as "
                "device.limits.local_memory and device.cache, but not those that it chooses: %s "
                "(--device names devices)",
                HT_SHOWN(key), own_keys);
    }
    return ht_params_read(NULL, args->count, args->operand, &params);
}

/* Known before the rows take minutes. */
static HT_ERR check_out(const char *path) {
    HT_FREED char *temporary = NULL;
    HT_PATH(within, path, ".");
    REQUIRE(!ht_file_exists(within), HT_ERR_INPUT, "--out %s: is a directory", HT_SHOWN(path));
    TRY(ht_file_temporary(path, &temporary));
    (void)unlink(temporary);
    return HT_OK;
}

enum ht_err ht_command_selftest(const struct ht_args *args) {
    HT_ENDED(ht_facts_free) struct ht_facts f = ht_facts_open();
    struct selftest t = {.args = args, .facts = &f};
    const char *path = ht_args_value(args, "--out");
    const int *rows = t.rows;
    struct ht_text *json = &f.json.text;
    TRY(check_keys(args));
    if (path != NULL) TRY(check_out(path));
    ht_json_stamp(&f.json);
    ht_fact(&f, HT_OPEN("keys", '['));
    for (int i = 0; i < args->count; i++) ht_fact(&f, HT_TEXT(NULL, args->operand[i]));
    ht_fact(&f, HT_CLOSE(']'), HT_OPEN("devices", '['));
    const char *device = ht_args_value(args, "--device");
    TRY(ht_each_device(device != NULL ? device : "all", NULL, run_device, &t));
    const char *only = ht_args_value(args, "--only");
    REQUIRE(only == NULL || rows[PASSED] + rows[FAILED] + rows[IMPOSSIBLE] > 0, HT_ERR_INPUT,
            "--only %s: no row has this in its name", only);
    ht_fact(&f, HT_CLOSE(']'), HT_INT("passed", rows[PASSED]), HT_INT("failed", rows[FAILED]),
            HT_INT("not_possible", rows[IMPOSSIBLE]), HT_CLOSE('}'));
    TRY(ht_text_status(json));
    if (path != NULL) TRY(ht_file_write(path, json->data, json->length));
    ht_say(&f, "%d passed, %d failed, %d not possible here\n", rows[PASSED], rows[FAILED],
           rows[IMPOSSIBLE]);
    TRY(ht_args_print(args->json ? json : &f.text));
    REQUIRE(rows[FAILED] == 0, HT_ERR_DEVICE, "%d row%s failed", rows[FAILED],
            rows[FAILED] == 1 ? "" : "s");
    return HT_OK;
}
