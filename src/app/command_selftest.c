/* htwave selftest: every row of kernels against the reference. A driver may end the process: each
 * device is tested by a process of its own, the hidden command selftest-rows, which sends a row
 * when it is begun and when it is done. After a row that has ended it another one goes on behind
 * that. */
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app.h"

extern char **environ;

/* ---- problems ---- */

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
    const char *name, *keys;
    bool quick;
} scenes[] = {
    {"acoustic 1-D, N 8, walls",
     "system=acoustic time.scheme=taylor grid.cells=6 grid.order=8 "
     "boundary.x1=[\"rigid\",\"free\"]",
     false},
    {"acoustic 2-D, N 3, leapfrog, walls",
     "system=acoustic time.scheme=leapfrog grid.cells=[5,4] grid.order=3 "
     "boundary.x1=[\"rigid\",\"free\"]",
     true},
    {"acoustic 2-D, N 3, leapfrog, source",
     "system=acoustic time.scheme=leapfrog grid.cells=[16,14] grid.order=3 "
     "sources=({position=[0.4,0.5];" SHOT "})",
     false},
    {"acoustic 2-D, N 2, polynomials",
     "system=acoustic time.scheme=taylor grid.cells=[6,5] grid.order=2 " WAVY
     " medium.rho=1+0.1*x2 boundary.x2=rigid",
     false},
    {"acoustic 2-D, N 2, cpml",
     "system=acoustic time.scheme=taylor grid.cells=[10,9] grid.order=2 absorbing.cells=3 "
     "boundary.x1=absorbing",
     false},
    {"acoustic 3-D, N 1, walls, blocked",
     "system=acoustic time.scheme=taylor grid.cells=[4,3,3] grid.order=1 device.layout=blocked "
     "boundary.x3=rigid",
     false},
    {"wave 2-D, N 4, medium by nodes, blocked",
     "system=wave time.scheme=taylor grid.cells=[6,5] grid.order=4 device.layout=blocked " WAVY
     " medium.degree=0",
     false},
    {"wave 2-D, N 3, leapfrog, sponge",
     "system=wave time.scheme=leapfrog grid.cells=[16,14] grid.order=3 absorbing.cells=6 "
     "absorbing.type=sponge boundary.x1=absorbing",
     false},
    {"wave 3-D, N 3, leapfrog, walls",
     "system=wave time.scheme=leapfrog grid.cells=[4,3,3] grid.order=3 boundary.x2=free", false},
    {"advection 2-D, N 5", "system=advection time.scheme=taylor grid.cells=[5,4] grid.order=5",
     false},
    {"advection 3-D, N 2, tensor",
     "system=advection time.scheme=taylor grid.cells=[4,4,3] grid.order=2 device.layout=tensor",
     true},
    {"elastic 2-D, N 2, polynomials",
     "system=elastic time.scheme=taylor grid.cells=[6,5] grid.order=2 medium.vs=1.0 " WAVES, false},
    {"maxwell 3-D, N 1, leapfrog, walls",
     "system=maxwell time.scheme=leapfrog grid.cells=[4,3,3] grid.order=1 boundary.x1=electric",
     false},
    {"acoustic 1-D, order 2, walls",
     "system=acoustic time.scheme=fd grid.cells=40 grid.order=2 boundary.x1=[\"rigid\",\"free\"]",
     false},
    {"acoustic 2-D, order 8, density, cpml, source",
     "system=acoustic time.scheme=fd grid.cells=[24,18] grid.order=8 boundary.x1=absorbing "
     "boundary.x2=rigid " WAVY " medium.rho=1+0.1*x2 sources=({position=[0.4,0.5];" SHOT "})",
     true},
    {"acoustic 2-D, order 6, attenuation",
     "system=acoustic time.scheme=fd grid.cells=[16,15] grid.order=6 medium.q=30.0 "
     "boundary.x1=rigid",
     false},
    {"acoustic 3-D, order 4, density",
     "system=acoustic time.scheme=fd grid.cells=[14,13,12] grid.order=4 " WAVY
     " medium.rho=1+0.1*x2 boundary.x3=[\"rigid\",\"free\"]",
     false},
    {"wave 3-D, order 8, sponge",
     "system=wave time.scheme=fd time.stages=2 grid.cells=[14,13,16] grid.order=8 " WAVY
     " absorbing.type=sponge absorbing.cells=6 boundary.x3=absorbing",
     false},
    {"wave 3-D, order 16", "system=wave time.scheme=fd grid.cells=[18,18,18] grid.order=16", false},
    {"elastic 2-D, order 4, free side, cpml, source",
     "system=elastic time.scheme=fd grid.cells=[30,26] grid.order=4 absorbing.cells=6 "
     "boundary.x1=absorbing boundary.x2=[\"free\",\"absorbing\"] "
     "sources=({position=[0.4,0.5];kind=\"explosion\";" SHOT "})",
     true},
    {"elastic 2-D, order 4, oblique face",
     "system=elastic time.scheme=fd grid.cells=[30,26] grid.order=4 boundary.x1=roller "
     "boundary.x2=[\"free\",\"roller\"] " OBLIQUE,
     false},
    {"elastic 3-D, order 4, fluid beside solid",
     "system=elastic time.scheme=fd grid.cells=[12,11,10] grid.order=4 boundary.x3=roller "
     "medium.type=layers medium.interfaces=0.5 medium.vs=[0.0,1.0] medium.vp=[1.0,2.0]",
     false},
    {"elastic 3-D, order 2, oblique face",
     "system=elastic time.scheme=fd grid.cells=[28,22,12] grid.order=2 boundary.x1=roller "
     "boundary.x2=roller boundary.x3=roller " OBLIQUE,
     false},
    {"elastic 2-D, order 6, attenuation",
     "system=elastic time.scheme=fd grid.cells=[18,16] grid.order=6 boundary.x1=roller "
     "medium.qp=50.0 medium.qs=30.0 " WAVES,
     false},
    {"maxwell 3-D, order 4, Debye, dipole",
     "system=maxwell time.scheme=fd grid.cells=[10,9,8] grid.order=4 medium.debye_eps=1.0 "
     "sources=({position=[0.4,0.5,0.5];kind=\"dipole\";direction=[1.0,2.0,3.0];" SHOT "})",
     false},
    {"maxwell 3-D, order 8, Lorentz, cpml",
     "system=maxwell time.scheme=fd grid.cells=[20,9,9] grid.order=8 medium.lorentz_eps=1.0 "
     "absorbing.cells=6 boundary.x1=absorbing",
     false},
    {"maxwell_tm 2-D, order 2, Drude, sigma, walls",
     "system=maxwell_tm time.scheme=fd grid.cells=[12,11] grid.order=2 medium.drude_wp=1.0 "
     "medium.drude_gamma=0.1 medium.sigma=0.1 boundary.x1=electric",
     false},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

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

/* "wave 2-D .., fd-plain, single": what --only looks at. */
static void name_row(const struct row *row, char name[128]) {
    snprintf(name, 128, "%s, %s, %s", scenes[row->scene].name, row->variant,
             ht_real_name(row->fp64));
}

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

static enum ht_err send_row(const struct tester *t, const struct row *row) {
    REQUIRE(write(t->out, row, sizeof *row) == (ssize_t)sizeof *row, HT_ERR_IO,
            "nobody reads the rows: %s", strerror(errno));
    return HT_OK;
}

/* Half steps per second and cell of a small grid that is periodic, in the medium of tests. */
static enum ht_err measure(const struct tester *t, const struct ht_problem *problem,
                           struct ht_kernels *kernels, const struct ht_tuning *tuning,
                           struct row *row) {
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
static enum ht_err compare(const struct tester *t, const struct ht_problem *problem,
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

static enum ht_err test_row(struct tester *t, const struct ht_problem *problem,
                            const struct ht_tuning *tuning, struct row *row) {
    char name[128];
    struct ht_kernels plan;
    snprintf(row->variant, sizeof row->variant, "%s", tuning->variant->name);
    name_row(row, name);
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
static enum ht_err test_variants(struct tester *t, const struct ht_plan *plan, const struct row *of,
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

static void end_plan(struct ht_plan **plan) {
    ht_plan_destroy(*plan);
}

/* Keys of a scene, then those of the command line. */
static enum ht_err test_scene(struct tester *t, bool fp64) {
    enum { MOST = 64 };
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    HT_ENDED(end_plan) struct ht_plan *plan = NULL;
    HT_FREED char *text = NULL;
    char *key[MOST], *rest = NULL;
    int count = 0;
    const struct row row = {
        .scene = t->scene, .fp64 = fp64, .worst = NAN, .rate = NAN, .ready_s = NAN};
    TRY(ht_text_print(&text, "device.precision=%s initial.type=zero output.pictures=false %s",
                      ht_real_name(fp64), scenes[t->scene].keys));
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        if (count < MOST) key[count++] = word;
    for (int i = 0; i < t->nkeys && count < MOST; i++) key[count++] = t->keys[i];
    TRY(ht_params_read(NULL, count, key, &params));
    TRY(ht_plan_create(params, NULL, &plan));
    return test_variants(t, plan, &row, params->device.layout);
}

/* htwave selftest-rows DEVICE FIRST QUICK ONLY [key=value ...]: rows on standard output. What
 * libraries print goes to standard error. */
static enum ht_err test_device(struct tester *t, const struct ht_args *args) {
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
    REQUIRE(t.out >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0, HT_ERR_IO, "dup: %s",
            strerror(errno));
    enum ht_err err = test_device(&t, args);
    if (err != HT_OK) {
        struct row row = {.scene = t.scene, .state = FAILED, .variant = "-"};
        row.worst = row.rate = row.ready_s = NAN;
        snprintf(row.why, sizeof row.why, "%s", ht_err_message());
        err = send_row(&t, &row);
    }
    ht_device_close(t.device);
    return err;
}

/* ---- all devices ---- */

struct selftest {
    const struct ht_args *args;
    bool quick;
    const char *only;
    struct ht_facts facts;
    int rows[4]; /* of each state */
    struct ht_progress progress;
};

/* To three digits, more of which mean nothing. */
static double rounded(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.3g", value);
    return strtod(text, NULL);
}

static enum ht_err show_row(struct selftest *t, const struct row *row) {
    HT_FREED_TEXT struct ht_text text = {0};
    struct ht_json *json = &t->facts.json;
    t->rows[row->state]++;
    ht_json_open(json, NULL, '{');
    ht_json_string(json, "problem", scenes[row->scene].name);
    ht_json_string(json, "variant", row->variant);
    ht_json_string(json, "precision", ht_real_name(row->fp64));
    ht_json_string(json, "result", state_name[row->state]);
    ht_json_number(json, "worst_ratio", rounded(row->worst));
    ht_json_number(json, "cell_half_steps_per_s", rounded(row->rate));
    ht_json_number(json, "compile_and_check_s", rounded(row->ready_s));
    if (row->state != PASSED) ht_json_string(json, "why", row->why);
    ht_json_close(json, '}');
    if (t->args->json) return HT_OK;
    const char *rate = isfinite(row->rate) ? HT_KEY("%.4g", 1e-6 * row->rate) : "-";
    ht_text_add(&text, "  %-47s %-20s %-6s ", scenes[row->scene].name, row->variant,
                ht_real_name(row->fp64));
    if (row->state == PASSED)
        ht_text_add(&text, "%8.2g %10s %8.2f\n", row->worst, rate, row->ready_s);
    else
        ht_text_add(&text, "%s: %.*s\n", state_name[row->state], (int)strcspn(row->why, "\n"),
                    row->why);
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

static enum ht_err start(const struct selftest *t, const struct ht_device_info *info, int first,
                         pid_t *child, int *from) {
    int end[2];
    posix_spawn_file_actions_t actions;
    const char *const words[] = {"htwave",
                                 "selftest-rows",
                                 "--quiet",
                                 "--",
                                 HT_KEY("%d", info->index),
                                 HT_KEY("%d", first),
                                 t->quick ? "quick" : "all",
                                 t->only != NULL ? t->only : ""};
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
static enum ht_err run_process(struct selftest *t, const struct ht_device_info *info, int first,
                               int *next) {
    struct row row = {.variant = "-", .worst = NAN, .rate = NAN, .ready_s = NAN};
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

static enum ht_err run_device(struct selftest *t, const struct ht_device_info *info) {
    HT_FREED_TEXT struct ht_text text = {0};
    struct ht_json *json = &t->facts.json;
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
    ht_json_open(json, NULL, '{');
    ht_json_string(json, "name", info->name);
    ht_json_string(json, "backend", info->backend);
    ht_json_string(json, "platform", info->platform);
    ht_json_string(json, "driver", info->driver);
    ht_json_open(json, "rows", '[');
    ht_progress_start(&t->progress, "selftest", SCENES, "problems", 1);
    for (int next = 0; err == HT_OK && next >= 0;) err = run_process(t, info, next, &next);
    ht_progress_end(&t->progress);
    ht_json_close(json, ']');
    ht_json_number(json, "seconds", rounded(ht_clock() - began));
    ht_json_close(json, '}');
    return err;
}

static enum ht_err check_keys(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    const int group = (int)strlen("device.");
    for (int i = 0; i < args->count; i++) {
        const char *key = args->operand[i];
        const bool device = strncmp(key, "device.", (size_t)group) == 0;
        const char *name = device ? key + group : "";
        REQUIRE(device && ht_text_find(own_keys, ' ',
                                       HT_KEY("%.*s", (int)strcspn(name, "= \t"), name)) < 0,
                HT_ERR_INPUT,
                "%s: selftest has problems of its own; it takes keys of device such as "
                "device.limits.local_memory and device.cache",
                HT_SHOWN(key));
    }
    return ht_params_read(NULL, args->count, args->operand, &params);
}

static enum ht_err run_devices(struct selftest *t) {
    const char *given = ht_args_value(t->args, "--device"), *name = given != NULL ? given : "all";
    HT_FREED struct ht_device_info *infos = NULL;
    int count = 0, wanted = 0;
    TRY(ht_device_list(&count, &infos));
    for (int i = 0; i < count; i++) {
        if (strcmp(name, "all") == 0 ? infos[i].simulator : !ht_device_is(&infos[i], name))
            continue;
        wanted++;
        TRY(run_device(t, &infos[i]));
    }
    REQUIRE(wanted > 0, HT_ERR_DEVICE, "no device matches --device %s; `htwave devices` lists them",
            name);
    return HT_OK;
}

enum ht_err ht_command_selftest(const struct ht_args *args) {
    struct selftest t = {.args = args,
                         .quick = ht_args_value(args, "--quick") != NULL,
                         .only = ht_args_value(args, "--only")};
    const char *path = ht_args_value(args, "--out");
    TRY(check_keys(args));
    ht_json_open(&t.facts.json, NULL, '{');
    ht_json_stamp(&t.facts.json);
    ht_json_open(&t.facts.json, "keys", '[');
    for (int i = 0; i < args->count; i++) ht_json_string(&t.facts.json, NULL, args->operand[i]);
    ht_json_close(&t.facts.json, ']');
    ht_json_open(&t.facts.json, "devices", '[');
    const enum ht_err err = run_devices(&t);
    ht_json_close(&t.facts.json, ']');
    ht_json_integer(&t.facts.json, "passed", t.rows[PASSED]);
    ht_json_integer(&t.facts.json, "failed", t.rows[FAILED]);
    ht_json_integer(&t.facts.json, "not_possible", t.rows[IMPOSSIBLE]);
    ht_json_close(&t.facts.json, '}');
    HT_ENDED(ht_facts_free) struct ht_facts f = t.facts;
    TRY(err);
    TRY(ht_text_status(&f.json.text));
    if (path != NULL) TRY(ht_file_write(path, f.json.text.data, f.json.text.length));
    ht_say(&f, "%d passed, %d failed, %d not possible here\n", t.rows[PASSED], t.rows[FAILED],
           t.rows[IMPOSSIBLE]);
    TRY(ht_args_print(args->json ? &f.json.text : &f.text));
    REQUIRE(t.rows[FAILED] == 0, HT_ERR_DEVICE, "%d row%s failed", t.rows[FAILED],
            t.rows[FAILED] == 1 ? "" : "s");
    return HT_OK;
}
