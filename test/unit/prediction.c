/* Counts of messages against counts by hand, and the model of step times: what must hold for any
 * machine, and one case worked out by hand. */
#include "test.h"

#include "htwave/tune.h"

/* ---- planes: by walking through the half steps ---- */

/* Planes are numbered as nodes: dual m lies between primary m and m + 1. A slab owns 0 .. own - 1
 * of both. Going back from the last of `depth` half steps, the range of planes that must be right
 * grows as half steps read. */
struct range {
    int low, high; /* inclusive */
};

static struct range read_by(struct range target, enum ht_subgrid from) {
    if (from == HT_PRIMARY) target.high++;
    if (from == HT_DUAL) target.low--;
    return target;
}

/* Those of a step by Hermite methods. */
static struct ht_passes passes_of(bool two_level) {
    const struct ht_grid grid = {.dims = 3, .order = 1, .cells = {1, 1, 1}};
    struct ht_problem problem = {.grid = &grid,
                                 .scheme = ht_scheme_at(two_level ? HT_LEAPFROG : HT_TAYLOR)};
    struct ht_passes passes;
    ht_schedule_passes(&problem, &passes);
    return passes;
}

static void test_planes(void) {
    const int own = 20;
    int wrong = 0, cases = 0;
    for (int two = 0; two < 2; two++)
        for (int depth = 1; depth <= 9; depth++)
            for (int start = 0; start < 2; start++) {
                enum ht_subgrid from = (enum ht_subgrid)start, other = 1 - from;
                const struct ht_passes passes = passes_of(two);
                const struct ht_planes planes = ht_exchange_planes(&passes, depth, start);
                struct range r = {0, own - 1}, target = r;
                for (int n = depth - 1; n >= 0; n--) {
                    target = r;
                    r = read_by(r, n % 2 == 0 ? from : other);
                }
                for (int side = 0; side < 2; side++) {
                    int need = side ? r.high - own + 1 : -r.low;
                    int fresh = side ? target.high - own + 1 : -target.low;
                    wrong += planes.of[from][side] != need;
                    wrong += planes.of[other][side] != (two ? fresh : 0);
                    cases += 2;
                }
            }
    TEST_CHECK(wrong == 0, "planes of halos: %d of %d differ from a walk", wrong, cases);
}

/* ---- messages counted by hand ---- */

static struct ht_equations eq;

static void make(const char *system, enum ht_scheme_name scheme, int order, const int64_t cells[3],
                 struct ht_part *out) {
    struct ht_part plain;
    eq = ht_equations_make(ht_system_find(system), 3);
    ht_test_problem_plain(&eq, order, 0, ht_scheme_at((int)scheme), &plain);
    ht_test_problem(&plain.problem, cells, out);
    out->problem.halo.depth = 1;
}

static void judge(const char *what, struct ht_sent sent, double messages, double bytes) {
    TEST_CHECK(sent.messages == messages && sent.bytes == bytes,
               "%s: %.17g messages and %.17g bytes, by hand %.17g and %.17g", what, sent.messages,
               sent.bytes, messages, bytes);
}

static void test_messages(void) {
    const int64_t cells[3] = {10, 20, 30};
    struct ht_part s;
    make("acoustic", HT_TAYLOR, 3, cells, &s);
    /* 200 nodes, 64 coefficients, 4 fields, 4 bytes: down, then up */
    const double plane = 200 * 64 * 4 * 4;
    judge("acoustic N = 3", ht_sent_here(&s.problem, false), 2, 2 * plane);
    judge("the same in double", ht_sent_here(&s.problem, true), 2, 4 * plane);
    s.problem.halo.precision = HT_HALO_HALF;
    judge("double, halos in half", ht_sent_here(&s.problem, true), 2, plane);
    s.problem.halo.precision = HT_HALO_SAME;
    s.problem.halo.depth = 2; /* a plane each way before each step */
    judge("depth 2", ht_sent_here(&s.problem, false), 2, 2 * plane);
    s.problem.halo.depth = 4; /* two planes each way every second step */
    judge("depth 4", ht_sent_here(&s.problem, false), 1, 2 * plane);
    s.problem.halo.depth = 3; /* 1 and 2, then 2 and 1, in three steps */
    judge("depth 3", ht_sent_here(&s.problem, false), 4.0 / 3, 2 * plane);
    /* 5 stages, 2 faces of 200 cells, 8 x 8 nodes, 4 fields, 4 bytes */
    judge("dG of degree 7", ht_sent_dg(&s.problem, false), 10, 10 * 200 * 64 * 16);
    make("acoustic", HT_LEAPFROG, 1, cells, &s);
    /* p on primary, v on dual planes: 200 nodes, 8 coefficients, 4 bytes */
    const double p = 200 * 8 * 4, v = 3 * p;
    judge("acoustic leapfrog N = 1", ht_sent_here(&s.problem, false), 2, p + v);
    s.problem.halo.depth = 2; /* p from both sides, v from below */
    judge("leapfrog, depth 2", ht_sent_here(&s.problem, false), 2, 2 * p + v);
    s.problem.halo.depth = 4; /* p 2 and 2, v 2 and 1; every second step */
    judge("leapfrog, depth 4", ht_sent_here(&s.problem, false), 1, (4 * p + 3 * v) / 2);
    make("wave", HT_TAYLOR, 1, cells, &s);
    /* in first order 4 fields at 4 x 4 nodes */
    judge("dG of degree 3, wave", ht_sent_dg(&s.problem, false), 10, 10.0 * 200 * 16 * 16);
}

/* With walls 11 x 21 primary and 10 x 20 dual nodes; layers of two cells at x1 lower and of three
 * at both sides of x2, of two memory variables each, have nodes on one plane more than cells. */
static void test_layer_messages(void) {
    const int64_t cells[3] = {10, 20, 30};
    struct ht_layers layers = {.type = HT_ABSORBING_CPML, .dims = 3};
    struct ht_part s;
    make("acoustic", HT_TAYLOR, 3, cells, &s);
    layers.side[0][0].cells = 2;
    layers.side[1][0].cells = layers.side[1][1].cells = 3;
    for (int n = 0; n < 4; n++) s.grid.wall[n / 2][n % 2] = 1;
    s.problem.layers = &layers;
    const double primary = 11 * 21 * 4 + 2 * 3 * 21 + 2 * 2 * 4 * 11;
    const double dual = 10 * 20 * 4 + 2 * 3 * 20 + 2 * 2 * 4 * 10;
    judge("layers", ht_sent_here(&s.problem, false), 2, (primary + dual) * 64 * 4);
    const struct ht_tuning tuning = {.block = 4};
    const struct ht_spec spec = ht_problem_spec(&s.problem, &tuning, HT_PRIMARY);
    struct ht_load load;
    ht_load_make(&s.problem, &spec, false, &load);
    TEST_CHECK(load.plane_bytes == (primary + dual) * 64 * 4,
               "layers: %.0f bytes of a plane of both grids, by hand %.0f", load.plane_bytes,
               (primary + dual) * 64 * 4);
}

/* ---- times ---- */

/* Round numbers: a cell takes 1 ns, a byte 1 ns over links, 2 ns over the network. */
static struct ht_machine round_machine(void) {
    struct ht_machine m = {.name = "round"};
    m.device.memory = 1e12;
    m.device.copy = 4e9;
    m.device.fma[0] = m.device.fma[1] = 1e12;
    m.device.fraction = 0.5;
    m.device.boundary = 1;
    m.device.per_node = 2;
    m.links = (struct ht_machine_link){.bytes_per_s = 1e9};
    m.network = (struct ht_machine_link){.bytes_per_s = 0.5e9};
    m.host_copy = 1e9;
    return m;
}

static struct ht_load plain_load(bool weak) {
    return (struct ht_load){.cells = 1000,
                            .planes = 16,
                            .weak = weak,
                            .depth = 1,
                            .thinnest = 1,
                            .passes = passes_of(false),
                            .sent_bytes = {8000, 8000},
                            .plane_bytes = 100,
                            .halo_bytes = 7};
}

static void near(const char *what, double value, double wanted) {
    TEST_BELOW(fabs(value - wanted), 1e-12 * fabs(wanted) + 1e-18, "%s is %.6g", what, wanted);
}

/* Four ranks in two nodes, four planes of 1 us each: a half step has 3 us of interior, 1 us of
 * boundary; 8000 bytes out and as many in, read and written:
 * 32000 / 4e9 = 8 us; over the network 16 us, of which 3 are hidden. */
static void test_by_hand(void) {
    struct ht_machine m = round_machine();
    const struct ht_load load = plain_load(false);
    struct ht_prediction p;
    ht_predict(&load, &m, 1e9, 4, &p);
    TEST_CHECK(p.planes == 4, "by hand: %lld planes", (long long)p.planes);
    near("by hand: interior", p.interior, 6e-6);
    near("by hand: boundary", p.boundary, 2e-6);
    near("by hand: pack", p.pack, 16e-6);
    near("by hand: transfer", p.transfer, 32e-6);
    near("by hand: exposed", p.exposed, 26e-6);
    near("by hand: step", p.step, 50e-6);
    near("by hand: efficiency", p.efficiency, 32e-6 / 4 / 50e-6);
    near("by hand: memory", p.memory, 407);
    TEST_CHECK(strcmp(p.limit, "network") == 0, "by hand: limited by the %s", p.limit);
    ht_predict(&load, &m, 1e9, 2, &p);
    /* 8 us over links behind 7 us of interior */
    near("two ranks of a node: exposed", p.exposed, 2e-6);
    m.links.staged = true; /* 8 us more on each side */
    ht_predict(&load, &m, 1e9, 2, &p);
    near("staged: exposed", p.exposed, 34e-6);
    m.links.latency_s = 5e-6;
    m.device.launch_s = 1e-6;
    ht_predict(&load, &m, 1e9, 2, &p);
    /* one launch each for interior and boundary, one to pack, one to unpack */
    near("latency: exposed", p.exposed, 44e-6);
    near("launches: step", p.step, (16 + 2 * 2 + 16 + 2 * 2 + 44) * 1e-6);
}

static void test_depth(void) {
    struct ht_machine m = round_machine();
    struct ht_load load = plain_load(false);
    struct ht_prediction p;
    load.depth = 2;
    ht_predict(&load, &m, 1e9, 4, &p);
    /* a step is one cycle: 4 planes and 4, one more computed twice, two of them leave before the
     * last two, behind which messages travel */
    near("depth 2: interior", p.interior, 7e-6);
    near("depth 2: boundary", p.boundary, 2e-6);
    near("depth 2: pack", p.pack, 16e-6);
    near("depth 2: exposed", p.exposed, 16e-6 - 2e-6);
    m.per_node = true; /* both ends of a node send at once */
    ht_predict(&load, &m, 1e9, 4, &p);
    near("depth 2, a node's network: exposed", p.exposed, 32e-6 - 2e-6);
}

/* The model walks the tasks of half steps; in slabs of at least `depth` planes they add up to the
 * sums of docs/scaling.md. A plane takes 1 us, a launch 3.
 */
static void test_sums(void) {
    struct ht_machine m = round_machine();
    double worst = 0;
    int cases = 0;
    m.device.launch_s = 3e-6;
    m.device.boundary = 1.5;
    for (int k = 1; k <= 5; k++)
        for (int planes = k + 1; planes <= 9; planes++, cases += 2)
            for (int two = 0; two < 2; two++) {
                struct ht_load load = plain_load(true);
                struct ht_prediction p;
                load.planes = planes;
                load.depth = k;
                load.passes = passes_of(two);
                /* of the sources k planes, of the targets k - 1 */
                const double bytes = 8000.0 * (k + two * (k - 1)), sides = k > 1 ? 2 : 1;
                ht_predict(&load, &m, 1e9, 2, &p);
                double interior = (k * planes - k + 0.5 * k * (k - 1)) * 1e-6 + k * 3e-6;
                double boundary = k * 1.5e-6 + sides * 3e-6;
                double pack = 4 * bytes / 4e9 + 2 * sides * 3e-6;
                double travel = bytes / 1e9;
                double exposed = fmax(0, travel - (planes - k) * 1e-6);
                double step = 2.0 / k * (interior + boundary + pack + exposed);
                worst = fmax(worst, fabs(p.step / step - 1));
            }
    TEST_BELOW(worst, 1e-12, "steps of %d slabs against the sums of half steps", cases);
}

static void test_laws(void) {
    struct ht_machine m = round_machine();
    struct ht_load weak = plain_load(true), strong = plain_load(false);
    struct ht_prediction p, before = {.step = INFINITY};
    int rising = 0, unlike = 0;
    ht_predict(&strong, &m, 1e9, 1, &p);
    near("one rank: efficiency", p.efficiency, 1);
    near("one rank: step", p.step, 32e-6);
    near("one rank: exposed", p.exposed, 0);
    near("one rank: memory, no halo", p.memory, 1600);
    weak.planes = strong.planes = 1600;
    ht_predict(&weak, &m, 1e9, 64, &p);
    near("long interior: exposed", p.exposed, 0);
    TEST_CHECK(p.transfer > 0, "long interior: a transfer of %.3g s", p.transfer);
    ht_predict(&weak, &m, 1e9, 4096, &before);
    unlike += before.step != p.step || before.memory != p.memory;
    TEST_CHECK(unlike == 0, "weak scaling: 64 and 4096 ranks alike");
    before.step = INFINITY;
    before.efficiency = 2;
    for (int ranks = 1; ranks <= 1600; ranks *= 2) {
        ht_predict(&strong, &m, 1e9, ranks, &p);
        rising +=
            p.step > before.step || p.efficiency > before.efficiency || p.memory > before.memory;
        before = p;
    }
    TEST_CHECK(rising == 0,
               "strong scaling: step, memory and efficiency fall "
               "with ranks, %d times not",
               rising);
    ht_predict(&strong, &m, 1e9, 1601, &p);
    TEST_CHECK(p.planes == 0, "more ranks than planes: nothing predicted");
    strong.depth = 4;
    strong.thinnest = 2;
    ht_predict(&strong, &m, 1e9, 1000, &p);
    TEST_CHECK(p.planes == 0, "halos deeper than slabs: nothing predicted");
}

/* ---- finite differences ---- */

static void make_differences(struct ht_grid *grid, int terms, int depth, struct ht_problem *out) {
    eq = ht_equations_make(ht_system_find("acoustic"), 3);
    *grid = (struct ht_grid){.dims = 3, .cells = {10, 20, 30}, .h = {1, 1, 1}};
    *out = (struct ht_problem){.eq = &eq,
                               .grid = grid,
                               .stages = terms,
                               .halo = {.depth = depth},
                               .fd = {.order = 4, .inverse_density = 1}};
    (void)ht_problem_set_scheme(out, ht_scheme_at(HT_DIFFERENCES));
}

/* Order 4 reaches over two planes, of 200 points. Deeper halos bring planes of d as well, and of u
 * before the second pass. */
static void test_differences_messages(void) {
    static const struct {
        int terms, depth;
        double exchanges, planes; /* of a step; of an exchange */
    } rows[] = {{1, 1, 1, 2},       {2, 1, 2, 2},
                {2, 2, 1, 4},       {1, 3, 1.0 / 3, 6 + 4},
                {2, 4, 0.5, 8 + 4}, {2, 3, 2.0 / 3, (6 + 2 + 6 + 4 + 4) / 2.0}};
    struct ht_problem p;
    struct ht_grid grid;
    char what[64];
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        make_differences(&grid, rows[i].terms, rows[i].depth, &p);
        const struct ht_sent sent = ht_sent_here(&p, false);
        const double messages = 2 * rows[i].exchanges;
        snprintf(what, sizeof what, "fd, %d term(s), depth %d: %s", rows[i].terms, rows[i].depth,
                 "messages");
        near(what, sent.messages, messages);
        snprintf(what, sizeof what, "fd, %d term(s), depth %d: %s", rows[i].terms, rows[i].depth,
                 "bytes");
        near(what, sent.bytes, messages * rows[i].planes * 200 * 4);
    }
    p.halo.precision = HT_HALO_HALF;
    near("fd in double, halos in half", ht_sent_here(&p, true).bytes, 4.0 / 3 * 11 * 200 * 2);
}

/* Four ranks of eight planes, 1 us each per pass of two; half of them leave first: 8000 bytes to
 * either side, 16 us over the network behind 4 us. */
static void test_differences_step(void) {
    const struct ht_machine m = round_machine();
    struct ht_load load = {
        .cells = 1000, .planes = 32, .depth = 1, .thinnest = 2, .sent_bytes = {4000, 4000, 4000}};
    struct ht_problem problem;
    struct ht_grid grid;
    struct ht_prediction p;
    make_differences(&grid, 2, 1, &problem);
    ht_schedule_passes(&problem, &load.passes);
    ht_predict(&load, &m, 1e9, 4, &p);
    near("fd: interior", p.interior, 8e-6);
    near("fd: boundary", p.boundary, 8e-6);
    near("fd: pack", p.pack, 32e-6);
    near("fd: exposed", p.exposed, 24e-6);
    near("fd: efficiency", p.efficiency, 64e-6 / 4 / 72e-6);
    load.depth = 2;
    load.thinnest = 4;
    /* Two planes more at either end in the first pass; all leave in the other:
     * 16000 bytes to either side, 32 us behind nothing. */
    ht_predict(&load, &m, 1e9, 4, &p);
    near("fd, depth 2: interior", p.interior, 12e-6);
    near("fd, depth 2: boundary", p.boundary, 8e-6);
    near("fd, depth 2: pack", p.pack, 32e-6);
    near("fd, depth 2: exposed", p.exposed, 32e-6);
    problem.stages = 1; /* a pass counts for two half steps: 2 us a plane */
    ht_schedule_passes(&problem, &load.passes);
    load.depth = 1;
    ht_predict(&load, &m, 1e9, 4, &p);
    near("fd, one term: interior", p.interior, 8e-6);
    near("fd, one term: boundary", p.boundary, 8e-6);
    near("fd, one term: exposed", p.exposed, 8e-6);
    ht_predict(&load, &m, 1e9, 9, &p);
    TEST_CHECK(p.planes == 0, "fd: slabs thinner than the halo needs");
}

/* u, d, w, z and the modulus, of 20 + 4 rows with their ghosts. */
static void test_differences_load(void) {
    struct ht_problem p;
    struct ht_grid grid;
    struct ht_load load;
    make_differences(&grid, 2, 2, &p);
    const struct ht_tuning tuning = {.block = 1};
    const struct ht_spec spec = ht_problem_spec(&p, &tuning, HT_PRIMARY);
    ht_load_make(&p, &spec, false, &load);
    const double row = (double)ht_fd_row(10, 2).row;
    /* the longest message: four planes of w, two of u and d */
    const double plane = 5.0 * row * 24 * 4, message = 8 * 200 * 4;
    near("fd load: bytes of a plane", load.plane_bytes, plane);
    near("fd load: bytes of the halo", load.halo_bytes, 8 * plane + 6 * message);
}

/* ---- loads and rates of a problem ---- */

static void test_load(void) {
    const int64_t cells[3] = {10, 20, 30};
    struct ht_part s;
    struct ht_load load;
    struct ht_machine m = round_machine();
    make("acoustic", HT_TAYLOR, 3, cells, &s);
    const struct ht_tuning tuning = {.block = 4};
    const struct ht_spec spec[2] = {ht_problem_spec(&s.problem, &tuning, HT_PRIMARY),
                                    ht_problem_spec(&s.problem, &tuning, HT_DUAL)};
    ht_load_make(&s.problem, &spec[0], false, &load);
    const double plane = 200 * 64 * 4 * 4;
    near("load: cells of a plane", load.cells, 200);
    near("load: bytes of a plane of both grids", load.plane_bytes, 2 * plane);
    /* two planes of the primary grid, one of the dual one, a message out and two in on both sides
     */
    near("load: bytes of the halo", load.halo_bytes, (3 + 6) * plane);
    near("load: a plane sent of the primary grid", load.sent_bytes[HT_PRIMARY], plane);
    near("load: a plane sent of the dual grid", load.sent_bytes[HT_DUAL], plane);
    /* docs/method.md 12: 2048 bytes, 37 952 FMA */
    near("rate by copies", ht_rate_expected(&m, spec), 0.5 / (2048 / 4e9));
    m.device.copy = 1e15;
    near("rate by arithmetic", ht_rate_expected(&m, spec),
         0.5 / (ht_cost_minimum(&spec[0], spec[0].stages).fma / 1e12));
    m.device.rate = 3e8;
    near("rate of the machine", ht_rate_expected(&m, spec), 3e8);
}

/* Eight coefficients per field, 4 bytes each: from p to v one field is read, three are read and
 * written, back three, one and one. */
static void test_leapfrog_rate(void) {
    const int64_t cells[3] = {10, 20, 30};
    const double there = 7 * 8 * 4, back = 5 * 8 * 4;
    struct ht_part s;
    struct ht_machine m = round_machine();
    make("acoustic", HT_LEAPFROG, 1, cells, &s);
    const struct ht_tuning tuning = {.block = 4};
    const struct ht_spec spec[2] = {ht_problem_spec(&s.problem, &tuning, HT_PRIMARY),
                                    ht_problem_spec(&s.problem, &tuning, HT_DUAL)};
    near("leapfrog: mean of both half steps", ht_rate_expected(&m, spec),
         0.5 / ((there + back) / 2 / 4e9));
}

int main(void) {
    test_planes();
    test_messages();
    test_layer_messages();
    test_by_hand();
    test_depth();
    test_sums();
    test_laws();
    test_load();
    test_leapfrog_rate();
    test_differences_messages();
    test_differences_step();
    test_differences_load();
    return test_end("unit/prediction");
}
