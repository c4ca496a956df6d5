/* Finite differences over long times in media that jump everywhere.
 *   - Random blocks with sides that are no multiples of the spacing, contrasts
 *     of 4 in c and 3 in rho, and layers one sample thin: the energy of 4000
 *     steps, by check-all and on a line, else 2000, is that of the start.
 *   - Single precision is double precision but for 1e-4 of the wave after
 *     10,000 steps, where p has a mean of 1, too; what is read has the mean. */
#include "differences.h"
#include "htwave/sampler.h"
#include "random_blocks.h"

/* Samples of 0.73 spacings: in three dimensions there are fewer. */
enum { SAMPLES = 211, FEWER = 33, LAYERS = SAMPLES };

/* Blocks of 0.7 to 5.8 spacings. */
static void write_blocks(int dims) {
    const int side = dims > 2 ? FEWER : SAMPLES;
    struct random_blocks blocks = {.samples = {side, dims > 1 ? side : 1, dims > 2 ? side : 1},
                                   .unit = 2,
                                   .c = 4,
                                   .rho = 3,
                                   .seed = 5};
    const int64_t *n = blocks.samples, all = n[0] * n[1] * n[2];
    HT_FREED float *c = malloc((size_t)all * sizeof *c);
    HT_FREED float *rho = malloc((size_t)all * sizeof *rho);
    if (!c || !rho) exit(1);
    random_blocks_fill(&blocks, c, rho);
    fd_write("c.f32", all, c);
    fd_write("rho.f32", all, rho);
}

/* Every third sample is a layer of its own. */
static void write_layers(void) {
    float c[LAYERS], rho[LAYERS];
    for (int i = 0; i < LAYERS; i++) {
        c[i] = i % 3 ? 1 : 4;
        rho[i] = i % 6 < 3 ? 1 : 3;
    }
    fd_write("c.f32", LAYERS, c);
    fd_write("rho.f32", LAYERS, rho);
}

struct scene {
    const char *name, *grid, *walls;
    int dims;
    bool layers; /* along the last axis; else blocks */
    int order, stages;
};

static const char *medium_of(const struct scene *s) {
    static char text[400];
    const int dims = s->layers ? 1 : s->dims;
    struct ht_text list[3] = {{0}, {0}, {0}};
    for (int k = 0; k < dims; k++) {
        const char *comma = k ? "," : "";
        ht_text_add(&list[0], "%s%d", comma, dims > 2 ? FEWER : SAMPLES);
        ht_text_add(&list[1], "%s0.73", comma);
        ht_text_add(&list[2], "%s0.31", comma);
    }
    int used =
        snprintf(text, sizeof text,
                 "medium.type=file medium.c=%s medium.rho=%s medium.shape=[%s] medium.spacing=[%s] "
                 "medium.origin=[%s]",
                 fd_path("c.f32"), fd_path("rho.f32"), list[0].data, list[1].data, list[2].data);
    if (s->layers)
        snprintf(text + used, sizeof text - (size_t)used, " medium.axes=[\"x%d\"]", s->dims);
    for (int i = 0; i < 3; i++) ht_text_free(&list[i]);
    return text;
}

static void start_run(const struct scene *s, const char *grid, const char *more,
                      struct fd_run *run) {
    if (s->layers)
        write_layers();
    else
        write_blocks(s->dims);
    fd_open(run, "%s %s %s grid.order=%d time.stages=%d %s", grid, s->walls, medium_of(s), s->order,
            s->stages, more);
}

/* Spacing 1. */
#define LINE "grid.cells=[60] grid.upper=[60]"
#define SQUARE "grid.cells=[44,43] grid.upper=[44,43]"
#define WIDE "grid.cells=[150,149] grid.upper=[150,149]"
#define CUBE "grid.cells=[13,12,11] grid.upper=[13,12,11]"
#define RIGID "boundary.x1=rigid boundary.x2=rigid"

/* ---- energy ---- */

static void judge_energy(const struct scene *s, const char *grid, const char *precision,
                         double bound) {
    enum { LOOKS = 10 };
    const int steps = s->dims > 1 && !test_all() ? 2000 : 4000;
    char more[200];
    HT_ENDED(fd_close) struct fd_run run;
    double worst = 0;
    snprintf(more, sizeof more, "initial.type=random time.end=3000 device.precision=%s", precision);
    start_run(s, grid, more, &run);
    const double first = fd_energy(&run);
    for (int n = 0; n < LOOKS; n++) {
        fd_advance(&run, steps / LOOKS);
        worst = fmax(worst, fabs(fd_energy(&run) / first - 1));
    }
    TEST_BELOW(worst, bound, "%s, %s: energy over %d steps, off by", s->name, precision, steps);
}

/* ---- single against double ---- */

static double *after(const struct scene *s, const char *precision, double mean, int64_t *nodes) {
    enum { STEPS = 10000 };
    char more[300];
    HT_ENDED(fd_close) struct fd_run run;
    const char *square = s->dims > 1 ? "+(x2-17.1)^2" : "";
    snprintf(more, sizeof more,
             "device.precision=%s initial.type=expression "
             "initial.values.p=%g+exp(-((x1-20.3)^2%s)/18) time.end=9000",
             precision, mean, square);
    start_run(s, s->grid, more, &run);
    fd_advance(&run, STEPS);
    double *u = fd_values(&run, HT_PRIMARY);
    *nodes = run.nodes;
    return u;
}

/* The mean is no part of what the steps round. */
static void judge_single(const struct scene *s, double mean) {
    int64_t nodes;
    HT_FREED double *single = after(s, "single", mean, &nodes);
    HT_FREED double *fp64 = after(s, "double", mean, &nodes);
    struct errors e = {0};
    for (int64_t n = 0; n < nodes; n++) errors_add(&e, single[n] - mean, fp64[n] - mean);
    TEST_BELOW(errors_l2(e), 1e-4, "%s, mean %g: 10000 steps in single precision, off by", s->name,
               mean);
}

/* Samples and the largest value have the mean that is taken out of the array, at the steps before
 * and after that. */
static void judge_readings(const struct scene *s) {
    enum { STEPS = 101, NODE = 20 };
    double sample[STEPS + 1], most = 0;
    const double unit = 1.0 / (1 << 24);
    struct ht_sampler *sampler = NULL;
    struct ht_state state;
    struct fd_run run;
    int64_t steps;
    start_run(
        s, s->grid,
        "device.precision=single initial.type=expression initial.values.p=1+exp(-(x1-20.3)^2/18) "
        "time.end=9000 receivers=({position=[20.0];})",
        &run);
    const struct ht_plan *plan = run.sim->plan;
    HT_FREED double *start = fd_values(&run, HT_PRIMARY);
    must(ht_sampler_create(plan, fd_stepper(&run), &sampler));
    fd_advance(&run, STEPS);
    HT_FREED double *end = fd_values(&run, HT_PRIMARY);
    must(ht_sampler_collect(sampler, &steps, sample));
    must(ht_state_measure(plan, fd_stepper(&run), 0, &state));
    for (int64_t n = 0; n < run.nodes; n++) most = fmax(most, fabs(end[n]));
    TEST_CHECK(steps == STEPS + 1, "%lld samples", (long long)steps);
    TEST_BELOW(fmax(fabs(sample[0] - start[NODE]), fabs(sample[STEPS] - end[NODE])), 2 * unit,
               "a mean of 1: samples on a node, off by");
    TEST_BELOW(fabs(state.largest[0] - most), 2 * unit, "a mean of 1: the largest value, off by");
    ht_sampler_destroy(sampler);
    fd_close(&run);
}

int main(void) {
    static const struct scene scenes[] = {
        {"blocks 1-D, periodic, order 8", LINE, "", 1, false, 8, 2},
        {"blocks 2-D, periodic, order 8", SQUARE, "", 2, false, 8, 2},
        {"blocks 2-D, rigid, order 4", SQUARE, RIGID, 2, false, 4, 2},
        {"thin layers 1-D, rigid, order 8", LINE, "boundary.x1=rigid", 1, true, 8, 2},
        {"thin layers 2-D, rigid, order 8", SQUARE, RIGID, 2, true, 8, 2},
        {"blocks 3-D, periodic, order 4", CUBE, "", 3, false, 4, 2},
    };
    enum { SCENES = sizeof scenes / sizeof *scenes };
    if (!test_have_double()) return test_end("rough");
    if ((fd_directory = scratch_make("differences")) == NULL) return 1;
    for (int i = 0; i < SCENES; i++) {
        const struct scene *s = &scenes[i];
        /* Rounding averages out over points as over steps, like sqrt(steps/points): less on a line
         * of 60. */
        judge_energy(s, s->grid, "double", s->dims > 1 ? 1e-13 : 6e-13);
        if (s->dims > 1 && (i % 4 == 2 || test_all()))
            judge_energy(s, s->dims > 2 ? CUBE : WIDE, "single", 1e-6);
    }
    for (int i = 0; i < SCENES - 1; i++) {
        if (i == 0 || test_all()) judge_single(&scenes[i], 0);
        if (i % 2 == 0 || test_all()) judge_single(&scenes[i], 1);
    }
    judge_readings(&scenes[0]);
    unlink(fd_path("c.f32"));
    unlink(fd_path("rho.f32"));
    rmdir(fd_directory);
    return test_end("rough");
}
