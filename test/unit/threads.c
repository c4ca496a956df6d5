/* Work on several threads (htwave/base.h): every chunk once, the error of the lowest one; and
 * what prepares a run gives the same bits and the same messages on 1, 2 and 5 threads. */
#include "htwave/h5.h"
#include "io/scratch.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "planned.h"

static const int thread_counts[] = {1, 5};
enum { COUNTS = 2 };

/* ---- chunks ---- */

enum { CHUNKS = 300 };
struct visits {
    _Atomic int seen[CHUNKS], inner, wrong_worker;
    int fails[2]; /* chunks */
};

struct inner {
    struct visits *v;
    int worker;
};

static enum ht_err visit_inner(void *data, int64_t chunk) {
    const struct inner *in = data;
    (void)chunk;
    in->v->wrong_worker += ht_threads_worker() != in->worker;
    in->v->inner++;
    return HT_OK;
}

/* Lower chunks take longer, so that higher ones fail first. */
static enum ht_err visit(void *data, int64_t chunk) {
    struct visits *v = data;
    const int worker = ht_threads_worker();
    const struct timespec pause = {.tv_nsec = 3000000 / (1 + chunk)};
    nanosleep(&pause, NULL);
    v->seen[chunk]++;
    v->wrong_worker += worker < 0 || worker >= ht_threads_count();
    struct inner in = {v, worker};
    if (chunk % 100 == 7) TRY(ht_threads_run(3, visit_inner, &in));
    for (int i = 0; i < 2; i++)
        REQUIRE(chunk != v->fails[i], i ? HT_ERR_IO : HT_ERR_INPUT, "chunk %d fails", v->fails[i]);
    return HT_OK;
}

static void test_chunks(int threads) {
    struct visits v = {.fails = {-1, -1}};
    int wrong = 0;
    ht_threads_set(threads);
    must(ht_threads_run(CHUNKS, visit, &v));
    for (int c = 0; c < CHUNKS; c++) wrong += v.seen[c] != 1;
    TEST_CHECK(wrong == 0 && v.inner == 9 && v.wrong_worker == 0,
               "%d threads: each of %d chunks once", threads, CHUNKS);
}

static void test_failures(int threads) {
    struct visits v = {.fails = {31, 30}};
    char before[64], message[64];
    ht_threads_set(threads);
    ht_err_set(HT_ERR_MEMORY, "before");
    enum ht_err err = ht_threads_run(CHUNKS, visit, &v);
    snprintf(message, sizeof message, "%s", ht_err_message());
    TEST_CHECK(err == HT_ERR_IO && strcmp(message, "chunk 30 fails") == 0 &&
                   v.seen[CHUNKS - 1] == 0,
               "%d threads: chunks 30 and 31 fail: \"%s\"", threads, message);
    v = (struct visits){.fails = {-1, -1}};
    snprintf(before, sizeof before, "%s", ht_err_message());
    must(ht_threads_run(CHUNKS, visit, &v));
    TEST_CHECK(v.seen[CHUNKS - 1] == 1 && strcmp(before, message) == 0,
               "%d threads: work after a failure", threads);
}

static void test_division(void) {
    int wrong = 0;
    ht_threads_set(7);
    for (int64_t items = 0; items < 200; items += 7)
        for (int64_t least = 1; least < 60; least += 4) {
            const int64_t chunks = ht_threads_chunks(items, least);
            wrong += chunks < 1 || ht_threads_first(items, chunks, 0) != 0 ||
                     ht_threads_first(items, chunks, chunks) != items;
            for (int64_t c = 0; c < chunks && chunks > 1; c++)
                wrong +=
                    ht_threads_first(items, chunks, c + 1) - ht_threads_first(items, chunks, c) <
                    least;
        }
    ht_threads_set(0);
    TEST_CHECK(wrong == 0 && ht_threads_cores() >= 1 && ht_threads_count() == ht_threads_cores(),
               "items in chunks; %d cores", ht_threads_cores());
}

/* ---- runs ---- */

static char *directory;

struct result {
    enum ht_err err;
    uint64_t bits; /* of the plan, the medium, the state after a step */
    int64_t cut;
    char message[400];
};

static void add_bits(const void *data, size_t size, struct result *out) {
    out->bits = ht_hash(out->bits, data, size);
}

static void add_fit(const struct ht_plan *plan, struct result *out) {
    const int64_t nodes = ht_grid_total(&plan->grid, HT_PRIMARY);
    const struct ht_fit_counts counts = ht_frame_counts(plan->frame);
    HT_FREED double *values = NULL;
    must(HT_ALLOC(values, nodes));
    const int densities = plan->eq.second_order.inverse_density >= 0 ? plan->grid.dims : 0;
    for (int what = 0; what <= densities; what++) {
        must(plan->problem.fd.fill(plan->problem.fd.medium, what, 0,
                                   ht_grid_planes(&plan->grid, HT_PRIMARY), values));
        add_bits(values, (size_t)nodes * sizeof *values, out);
    }
    add_bits(&counts.values, sizeof counts.values, out);
    add_bits(&counts.cut, sizeof counts.cut, out);
    if (counts.cut > 0) add_bits(counts.place, sizeof counts.place, out);
    out->cut = counts.cut;
}

/* The state at time 0, or where the medium varies after a step, which reads it. */
static enum ht_err add_state(struct planned *p, struct result *out) {
    const struct ht_plan *plan = p->plan;
    const bool fd = plan->problem.fd.order > 0;
    const bool steps = fd || plan->problem.medium_degree >= 0;
    const int count = fd ? 1 : ht_grid_coefs(&plan->grid);
    const int64_t nodes = ht_grid_total(&plan->grid, HT_PRIMARY) * count;
    HT_ARRAY(double, values, nodes);
    TRY(plan_oracle(p, true));
    for (int from = 0; steps && from < 2; from++)
        TRY(p->stepper.ops->half_step(p->stepper.self, (enum ht_subgrid)from));
    for (int f = 0; f < (fd ? 1 : plan->eq.nfields); f++) {
        const enum ht_subgrid at =
            ht_problem_stores(&plan->problem, HT_PRIMARY, f) ? HT_PRIMARY : HT_DUAL;
        memset(values, 0, (size_t)nodes * sizeof *values);
        TRY(p->stepper.ops->get(p->stepper.self, at, f, count, 0, ht_grid_planes(&plan->grid, at),
                                values));
        add_bits(values, (size_t)nodes * sizeof *values, out);
    }
    return HT_OK;
}

static enum ht_err prepare(struct planned *p, int threads, const char *options,
                           struct result *out) {
    TRY(plan_make(p, ';',
                  "output.snapshots=false; output.pictures=false; initial.type=random; "
                  "time.end=0.01; device.threads=%d; %s",
                  threads, options));
    const struct ht_plan *plan = p->plan;
    add_bits(&plan->problem.dt, sizeof plan->problem.dt, out);
    add_bits(&plan->rate, sizeof plan->rate, out);
    add_bits(plan->medium->speed, sizeof plan->medium->speed, out);
    add_bits(&plan->medium->speed_min, sizeof(double), out);
    if (plan->frame != NULL) add_fit(plan, out);
    enum ht_err err = add_state(p, out);
    add_bits(&plan->medium->flattened, sizeof(int64_t), out);
    if (plan->frame == NULL) out->cut = plan->medium->flattened;
    return err;
}

static struct result run(const char *options, int threads) {
    HT_ENDED(planned_end) struct planned p;
    struct result out = {.bits = HT_HASH_SEED};
    out.err = prepare(&p, threads, options, &out);
    if (out.err != HT_OK) snprintf(out.message, sizeof out.message, "%s", ht_err_message());
    return out;
}

/* Files of random samples: 40 x 75 x 7 of contrast `spread`. */
static void write_samples(const char *name, uint64_t seed, double spread) {
    static float value[40 * 75 * 7];
    for (int i = 0; i < 40 * 75 * 7; i++)
        value[i] = (float)exp(spread * ht_rng_uniform(seed, (uint64_t)i));
    must(ht_file_write_in(directory, name, value, sizeof value));
}

/* Values of the fields at the nodes of 90 x 12 x 5 periodic cells. */
static void write_data(void) {
    enum { COUNT = 90 * 12 * 5 };
    static const char *const fields[] = {"p", "v1", "v2", "v3"};
    const int64_t extent[3] = {5, 12, 90};
    static double values[COUNT];
    char path[128];
    struct ht_h5 *file;
    snprintf(path, sizeof path, "%s/data.h5", directory);
    for (int i = 0; i < COUNT; i++) values[i] = ht_rng_uniform(3, (uint64_t)i);
    must(ht_h5_create(path, false, &file));
    for (int f = 0; f < 4; f++) must(ht_h5_write(file, fields[f], 3, extent, values, false));
    must(ht_h5_commit(file));
}

#define FILES(walls)                                                         \
    "system=acoustic; time.scheme=fd; grid.cells=[200,75,5]; "               \
    "grid.order=4; medium.type=file; medium.format=raw; medium.c=%s/c.raw; " \
    "medium.rho=%s/rho.raw; medium.shape=[40,75,7]; "                        \
    "medium.spacing=[0.0256,0.0135,0.16]" walls

/* cuts: averages are cut, or nodes made flat. */
static const struct {
    const char *name, *options;
    bool cuts;
} same_rows[] = {
    {"fd, files, periodic", FILES(""), true},
    {"fd, files, walls", FILES("; boundary.x1=rigid; boundary.x2=free; boundary.x3=rigid"), true},
    {"fd, points",
     "system=acoustic; time.scheme=fd; grid.cells=[200,60,7]; grid.order=4; "
     "medium.type=expression; medium.c=\"1.5 + 0.4*sin(2*pi*x1)*cos(2*pi*x3)\";medium.rho=\"1 + "
     "x2^2\"; boundary.x2=rigid",
     false},
    {"fd, boxes of an expression",
     "system=wave; time.scheme=fd; grid.cells=[150,160]; grid.order=8; medium.type=expression; "
     "medium.c=\"1 + 2*step(x2 - x1)\"; boundary.x1=rigid; boundary.x2=rigid",
     true},
    /* The step's limit is decided between the rows of two chunks. */
    {"fd, fastest at a seam of rows, 2-D",
     "system=wave; time.scheme=fd; grid.cells=[64,256]; grid.order=8; medium.type=expression; "
     "medium.c=\"1 + exp(-999*(x2 - 63/256)^2)\"",
     false},
    {"fd, fastest at a seam of rows, 2-D, density",
     "system=acoustic; time.scheme=fd; grid.cells=[64,256]; grid.order=8; medium.type=expression; "
     "medium.c=\"1 + exp(-999*(x2 - 63/256)^2)\";medium.rho=\"1 + 0.1*sin(2*pi*x1)\"",
     false},
    {"fd, fastest at a seam of rows, 3-D, density",
     "system=acoustic; time.scheme=fd; grid.cells=[64,128,5]; grid.order=4; "
     "medium.type=expression; medium.c=\"1 + exp(-999*(x2 - 63/128)^2)\";medium.rho=\"1 + "
     "0.1*sin(2*pi*x3)\"",
     false},
    {"Taylor, an expression with jumps",
     "system=acoustic; time.scheme=taylor; grid.cells=[30,20,5]; grid.order=1; "
     "medium.type=expression; medium.c=\"1 + step(x2 - 0.4 - 0.2*x1) + x3^2\"; boundary.x2=rigid; "
     "boundary.x3=rigid",
     true},
    {"Taylor, x2 and x3 do not matter",
     "system=acoustic; time.scheme=taylor; grid.cells=[40,20,6]; grid.order=1; "
     "medium.type=expression; medium.c=\"1 + 0.4*sin(2*pi*x1)\"",
     false},
    {"leapfrog, random data, walls",
     "system=acoustic; time.scheme=leapfrog; grid.cells=[80,50]; grid.order=2; boundary.x1=rigid; "
     "boundary.x2=rigid",
     false},
    {"Taylor, Gaussians",
     "system=acoustic; time.scheme=taylor; grid.cells=[90,12,5]; grid.order=1; "
     "initial.type=gaussian; boundary.x3=rigid; "
     "initial.pulses=({centre=[0.3,0.4,0.5],width=0.1},{centre=[0.7,0.6,0.1],width=0.2,amplitude=0."
     "3})",
     false},
    {"Taylor, an expression",
     "system=acoustic; time.scheme=taylor; grid.cells=[30,20,5]; grid.order=1; "
     "initial.type=expression; "
     "initial.values.p=\"sin(2*pi*x1)*cos(2*pi*x2)\";initial.values.v2=\"exp(-9*(x1 - 0.5)^2)\"; "
     "boundary.x2=rigid",
     false},
    {"Taylor, values from a file",
     "system=acoustic; time.scheme=taylor; grid.cells=[90,12,5]; grid.order=1; initial.type=file; "
     "initial.file=%s/data.h5",
     false},
};

static void test_same(void) {
    TEST_EACH(row, same_rows) {
        char options[900];
        struct result one = {.err = HT_OK};
        snprintf(options, sizeof options, row->options, directory, directory);
        for (int t = 0; t < COUNTS; t++) {
            const struct result now = run(options, thread_counts[t]);
            if (t == 0) one = now;
            TEST_CHECK(now.err == HT_OK && now.bits == one.bits && (now.cut > 0) == row->cuts,
                       "%s, %d threads: the same bits, %lld cut %s", row->name, thread_counts[t],
                       (long long)now.cut, now.message);
        }
    }
}

/* Several places break a rule: the message names the same one, also where a strip of rows finds one
 * on a plane beyond that of another strip. */
static const struct {
    const char *options, *part;
} refused_rows[] = {
    {"system=acoustic; time.scheme=fd; grid.cells=[200,300]; medium.type=expression; "
     "medium.fit=point; grid.order=4;medium.rho=\"1 + 20000*step(x2 - 0.9 + 0.5*x1)\"; "
     "boundary.x1=rigid; boundary.x2=rigid",
     "medium.rho"},
    {"system=acoustic; time.scheme=fd; grid.cells=[20,60,9]; grid.order=4; medium.type=expression; "
     "boundary.x2=rigid; boundary.x3=rigid;medium.rho=\"1 + 20000*step(x2 - 0.3 - 0.6*x3)\"",
     "medium.rho"},
    {"system=wave; time.scheme=fd; grid.cells=[20,60,9]; grid.order=4; medium.type=expression; "
     "medium.c=\"1 - step(x3 - 0.3)*step(x2 - 0.9 + 0.5*x3)\"",
     "medium.c"},
    {"system=wave; time.scheme=taylor; grid.cells=[30,30,5]; grid.order=1; medium.type=expression; "
     "medium.c=\"sqrt(0.9 - x2)\"",
     "medium.c"},
    {"system=wave; time.scheme=taylor; grid.cells=[30,30,5]; grid.order=1; "
     "initial.type=expression; initial.values.u=\"sqrt(0.9 - x2 + 0.01*x1)\"",
     "initial.values.u"},
};

static void test_refused(void) {
    TEST_EACH(row, refused_rows) {
        struct result one = {.err = HT_OK};
        for (int t = 0; t < COUNTS; t++) {
            const struct result now = run(row->options, thread_counts[t]);
            if (t == 0) one = now;
            TEST_CHECK(now.err == HT_ERR_INPUT && strstr(now.message, row->part) != NULL &&
                           strcmp(now.message, one.message) == 0,
                       "%d threads: %s", thread_counts[t], now.message);
        }
    }
}

int main(void) {
    if ((directory = scratch_make("threads")) == NULL) return 1;
    ht_log_level_set(HT_LOG_QUIET);
    for (int t = 0; t < COUNTS; t++) {
        test_chunks(thread_counts[t]);
        test_failures(thread_counts[t]);
    }
    test_division();
    write_samples("c.raw", 1, 1.2);
    write_samples("rho.raw", 2, 2);
    write_data();
    test_same();
    test_refused();
    scratch_remove(directory);
    return test_end("threads");
}
