/* The forward run of finite differences backwards (docs/developers/gradients.md): after N steps and
 * N - 1 back the nodes outside of layers have u(0) and -d(1), by rounding: of walls, matched layers
 * and their corners, sponges, periodic sides, density, one and two terms, orders, dimensions; the
 * plain loops and kernels; records of 16 bits, of every second step, in a file. A run that is
 * recorded is the same bit by bit.
 *
 *     fd_shell [CACHE]
 *
 * Bounds. Rounding: 1e-13 and 5e-6 of the largest u. With 16 bits a record errs by up to 1/65534 of
 * the largest value of a block, 0.9e-5 in the mean square: 2e-5 of the largest u where waves of
 * sources are recorded, which are largest elsewhere; of random data four times that, 3.5e-5, and
 * 5e-5 in d, which has two of them.
 */
#include "fd_layers_scene.h"
#include "open_device.h"
#include "options.h"

#include "src/fd/fd.h"

#define RIGID \
    { 1, 1 }
#define FREE \
    { -1, 1 }
#define WRAPPED \
    { 0, 0 }

struct row {
    struct given given;
    int terms;
    bool sponge;
};
#define GIVEN(name, dims, order, density, ...) \
    { name, dims, order, 4, __VA_ARGS__, density, true }
#define BOX RIGID, RIGID, RIGID
static const struct row rows[] = {
    {GIVEN("walls", 1, 8, false, {61, 1, 1}, {FREE}, {{0}}), 2, false},
    {GIVEN("line", 1, 16, true, {80, 1, 1}, {RIGID}, {{7, 0}}), 1, false},
    {GIVEN("periodic", 2, 2, true, {31, 40, 1}, {WRAPPED, FREE}, {{0}}), 2, false},
    {GIVEN("corners", 2, 8, false, {53, 48, 1}, {RIGID, RIGID}, {{8, 7}, {6, 8}}), 1, false},
    {GIVEN("one side", 2, 8, true, {45, 51, 1}, {FREE, RIGID}, {{0, 6}, {0}}), 1, false},
    {GIVEN("sponge", 2, 8, false, {52, 47, 1}, {RIGID, FREE}, {{8, 9}, {0, 10}}), 2, true},
    {GIVEN("closed", 2, 8, false, {39, 48, 1}, {RIGID, WRAPPED}, {{0}}), 2, false},
    {GIVEN("thin sponge", 2, 4, true, {45, 47, 1}, {RIGID, RIGID}, {{3, 9}, {4, 5}}), 2, true},
    {GIVEN("cube", 3, 2, false, {19, 22, 21}, {WRAPPED, RIGID, FREE}, {{0}, {3, 4}, {0, 3}}), 1,
     false},
    {GIVEN("box", 3, 8, false, {26, 23, 25}, {BOX}, {{4, 3}, {3, 4}, {3, 3}}), 1, false},
    {GIVEN("soft box", 3, 4, true, {26, 22, 23}, {RIGID, FREE, RIGID}, {{4, 3}, {0, 3}, {3, 0}}), 2,
     true},
};

/* What differs from run to run of a row. */
struct how {
    struct ht_device *device; /* NULL: plain */
    bool fp64;
    int bits, every, steps;
    const char *folder;
};

static double *random_nodes(const struct scene *s, unsigned seed) {
    const int64_t nodes = ht_grid_total(&s->grid, HT_PRIMARY);
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
    double *x = zeros(nodes);
    for (int64_t n = 0; n < nodes; n++)
        if (!ht_fd_held(&s->grid, n / plane, n % plane))
            x[n] = (double)(float)(0.5 + ht_rng_uniform(seed, (uint64_t)n));
    return x;
}

static double largest_of(int64_t nodes, const double *x) {
    double most = 0;
    for (int64_t n = 0; n < nodes; n++) most = fmax(most, fabs(x[n]));
    return most;
}

/* Largest |a - sign b| outside of layers. */
static double differ(const struct scene *s, const double *a, const double *b, double sign) {
    const int64_t nodes = ht_grid_total(&s->grid, HT_PRIMARY);
    double most = 0;
    for (int64_t n = 0; n < nodes; n++) {
        int64_t left = n;
        bool open = true;
        for (int k = 0; k < s->grid.dims; k++) {
            const int64_t count = ht_grid_nodes(&s->grid, HT_PRIMARY, k), m = left % count;
            open = open && m >= s->grid.layer[k][0] && m < count - s->grid.layer[k][1];
            left /= count;
        }
        const double error = fabs(a[n] - sign * b[n]);
        if (open) most = isfinite(error) ? fmax(most, error) : (double)INFINITY;
    }
    return most;
}

struct result {
    double u, d, largest, changed;
    struct ht_fd_shell_bytes bytes;
};

/* Forwards and back. changed: of the state after the steps by recording. */
static void run(const struct scene *s, const struct ht_kernels *kernels, const struct how *how,
                struct result *out) {
    const int64_t nodes = ht_grid_total(&s->grid, HT_PRIMARY);
    const struct ht_fd_shell_choice choice = {
        .steps = how->steps, .bits = how->bits, .every = how->every, .folder = how->folder};
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper;
    struct ht_fd_shell *shell;
    HT_FREED double *p = random_nodes(s, 17), *d = random_nodes(s, 18), *first = zeros(nodes);
    HT_FREED double *ends = zeros(2 * nodes), *now = zeros(nodes);
    must(how->device != NULL ? ht_stepper_create(&s->problem, how->device, kernels, &stepper)
                             : ht_oracle_create(&s->problem, &stepper));
    for (int64_t n = 0; n < nodes; n++) {
        d[n] *= s->problem.shots == NULL ? 0.1 : 0;
        p[n] *= s->problem.shots == NULL ? 1 : 0;
    }
    *out = (struct result){.largest = 0};
    must(ht_fd_shell_create(ht_fd_stepper_of(&stepper), &choice, &shell));
    ht_fd_shell_size(shell, &out->bytes);
    /* The second time with sources recorded again, as shots one after the other are. */
    for (int turn = 0; turn < (s->problem.shots != NULL ? 3 : 2); turn++) {
        put_u(&s->problem, &stepper, HT_PRIMARY, p);
        put_u(&s->problem, &stepper, HT_DUAL, d);
        if (turn > 0) must(ht_fd_shell_record(shell));
        step(&stepper, 1);
        get_u(&s->problem, &stepper, HT_DUAL, first);
        for (int n = 1; n < how->steps; n++) {
            step(&stepper, 1);
            if (n % 10 != 0 || turn > 0) continue;
            get_u(&s->problem, &stepper, HT_PRIMARY, now);
            out->largest = fmax(out->largest, largest_of(nodes, now));
        }
        for (int m = 0; m < 2; m++) {
            double *end = ends + m * nodes;
            get_u(&s->problem, &stepper, m ? HT_DUAL : HT_PRIMARY, now);
            for (int64_t n = 0; n < nodes && turn > 0; n++) out->changed += now[n] != end[n];
            memcpy(end, now, (size_t)nodes * sizeof *now);
        }
        if (turn == 0) continue;
        must(ht_fd_shell_back(shell));
        step(&stepper, how->steps - 1);
        get_u(&s->problem, &stepper, HT_PRIMARY, now);
        out->u = fmax(out->u, differ(s, now, p, 1) / out->largest);
        get_u(&s->problem, &stepper, HT_DUAL, now);
        out->d = fmax(out->d, differ(s, now, first, -1) / out->largest);
        ht_fd_shell_leave(shell);
    }
    ht_fd_shell_destroy(shell);
}

static void make_row(struct scene *s, const struct row *row) {
    make(s, &row->given, 0.9);
    s->problem.stages = row->terms;
    if (row->terms > 1) s->problem.dt *= sqrt(3);
    if (row->sponge) be_sponge(s);
    bool any = false;
    for (int n = 0; n < 6; n++) any = any || row->given.layer[n / 2][n % 2] > 0;
    if (!any) s->problem.layers = NULL;
}

static void judge(const char *name, const struct how *how, const struct result *r, double u,
                  double d) {
    TEST_CHECK(r->u <= u && r->d <= d && r->changed == 0,
               "%s, %s, %s%s, %d steps%s%s: u(0) by %.1e of %.0e, d(1) by %.1e of %.0e; recording "
               "changes %.0f values",
               name, how->device != NULL ? "kernels" : "plain", how->fp64 ? "double" : "single",
               how->bits == 16 ? ", 16 bits" : "", how->steps, how->every > 1 ? ", every 2nd" : "",
               how->folder != NULL ? ", in a file" : "", r->u, u, r->d, d, r->changed);
}

static void judge_random(const char *name, const struct how *how, const struct result *r) {
    const double rounding = how->fp64 ? 1e-13 : 5e-6;
    judge(name, how, r, how->bits == 16 ? 3.5e-5 : rounding, how->bits == 16 ? 5e-5 : rounding);
}

static void test_plain(void) {
    TEST_EACH(row, rows) {
        const bool few = row->given.dims > 2 && !test_all();
        struct how how = {.fp64 = true, .every = 1, .steps = few ? 60 : 500};
        struct result result;
        struct scene s;
        make_row(&s, row);
        for (; how.bits <= (s.problem.layers != NULL && !few ? 16 : 0); how.bits += 16) {
            run(&s, NULL, &how, &result);
            judge_random(row->given.name, &how, &result);
        }
    }
}

/* The first rows share programs. */
static void test_kernels(struct ht_device *device) {
    static const struct {
        int row;
        bool fp64;
    } runs[] = {{3, false}, {5, false}, {6, false}, {9, false},
                {3, true},  {4, false}, {2, false}, {10, true}};
    for (size_t i = 0; i < (test_all() ? sizeof runs / sizeof *runs : 4); i++) {
        const struct row *row = &rows[runs[i].row];
        struct how how = {.device = device, .fp64 = runs[i].fp64, .every = 1, .steps = 500};
        struct scene s;
        HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {.fd = NULL};
        if (how.fp64 && !ht_device_info(device)->fp64) continue;
        make_row(&s, row);
        make_kernels(&s.problem, device, how.fp64, &kernels);
        for (; how.bits <= (how.fp64 || s.problem.layers == NULL ? 0 : 16); how.bits += 16) {
            struct result result;
            run(&s, &kernels, &how, &result);
            judge_random(row->given.name, &how, &result);
        }
    }
}

/* ---- sources ---- */

struct sources {
    struct ht_params *params;
    struct ht_medium medium;
    struct ht_shots *shots;
};

/* Two, near layers, whose waves of `most` hertz and more are weak; signals that last, so that the
 * amplitudes of many steps are used. */
static void add_sources(struct scene *s, double most, struct sources *out) {
    const double *upper = s->grid.upper;
    s->grid.point_nodes = ht_point_nodes(s->problem.fd.order);
    *out = (struct sources){.medium = {.eq = &s->eq, .grid = &s->grid}};
    must(test_params(
        NULL, '|', &out->params,
        "time.end=1e6|grid.cells=[9, 9]|sources=( { position = [%.3f, %.3f]; frequency = %.8f; "
        "signal = "
        "\"ricker\"; }, { position = [%.3f, %.3f]; frequency = %.8f; signal = \"burst\"; "
        "cycles = 5.0; amplitude = 0.3; } )",
        0.3 * upper[0], 0.4 * upper[1], most / 3, 0.65 * upper[0], 0.61 * upper[1], most / 3));
    must(ht_shots_create(out->params, &out->medium, NULL, &out->shots));
    s->problem.shots = out->shots;
}

static void run_sources(const struct row *row, const struct how *how, double most) {
    struct sources sources;
    struct result result;
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {.fd = NULL};
    struct scene s;
    make_row(&s, row);
    add_sources(&s, 1 / (most * s.problem.dt), &sources);
    if (how->device != NULL) make_kernels(&s.problem, how->device, how->fp64, &kernels);
    run(&s, &kernels, how, &result);
    const double bound = how->bits == 16 ? 2e-5 : how->fp64 ? 1e-13 : 5e-6;
    judge(row->given.name, how, &result, bound, bound);
    TEST_CHECK((result.bytes.host < result.bytes.records) == (how->folder != NULL),
               "%s of records, %s of memory", HT_BYTES(result.bytes.records),
               HT_BYTES(result.bytes.host));
    ht_shots_destroy(sources.shots);
    ht_params_destroy(sources.params);
}

/* highest dt 12 is at most 1 where every second step is recorded; here 0.85 and 0.73. */
static void test_sources(struct ht_device *device) {
    struct how how = {.fp64 = true, .every = 1, .steps = 700};
    run_sources(&rows[3], &how, 12);
    run_sources(&rows[5], &how, 12);
    how.bits = 16;
    how.every = 2;
    run_sources(&rows[3], &how, 12);
    how.folder = "/tmp";
    run_sources(&rows[3], &how, 14);
    if (device == NULL) return;
    how = (struct how){.device = device, .bits = 16, .every = 2, .steps = 500};
    run_sources(&rows[3], &how, 12);
    how.folder = "/tmp";
    run_sources(&rows[3], &how, 12);
}

/* ---- what cannot be ---- */

/* A file is made with the first record. */
static void refuse(int64_t cells, const char *folder, enum ht_err expected, const char *says) {
    const struct row row = {
        GIVEN("thin", 2, 8, false, {cells, 30, 1}, {RIGID, RIGID}, {{6, 6}, {4, 0}}), 1, false};
    const struct ht_fd_shell_choice choice = {.steps = 9, .every = 1, .folder = folder};
    struct ht_fd_shell *shell;
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper;
    struct scene s;
    make_row(&s, &row);
    must(ht_oracle_create(&s.problem, &stepper));
    enum ht_err err = ht_fd_shell_create(ht_fd_stepper_of(&stepper), &choice, &shell);
    if (err == HT_OK) err = ht_fd_shell_record(shell);
    TEST_CHECK(err == expected && strstr(ht_err_message(), says) != NULL, "refused: %s",
               ht_err_message());
    ht_fd_shell_destroy(shell);
}

int main(int argc, char **argv) {
    struct ht_device *device = test_device_here();
    refuse(16, NULL, HT_ERR_INPUT, "x1");
    refuse(30, "/nowhere/at all", HT_ERR_IO, "/nowhere/at all/record-0-");
    test_sources(device);
    test_plain();
    if (device != NULL) {
        ht_device_cache(device, argc > 1 ? argv[1] : NULL);
        test_kernels(device);
    }
    ht_device_close(device);
    return test_end("fd_shell");
}
