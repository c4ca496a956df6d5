/* Counts of messages against counts by hand. */
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
    make("acoustic", HT_LEAPFROG, 1, cells, &s);
    /* p on primary, v on dual planes: 200 nodes, 8 coefficients, 4 bytes */
    const double p = 200 * 8 * 4, v = 3 * p;
    judge("acoustic leapfrog N = 1", ht_sent_here(&s.problem, false), 2, p + v);
    s.problem.halo.depth = 2; /* p from both sides, v from below */
    judge("leapfrog, depth 2", ht_sent_here(&s.problem, false), 2, 2 * p + v);
    s.problem.halo.depth = 4; /* p 2 and 2, v 2 and 1; every second step */
    judge("leapfrog, depth 4", ht_sent_here(&s.problem, false), 1, (4 * p + 3 * v) / 2);
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
}

static void near(const char *what, double value, double wanted) {
    TEST_BELOW(fabs(value - wanted), 1e-12 * fabs(wanted) + 1e-18, "%s is %.6g", what, wanted);
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

int main(void) {
    test_planes();
    test_messages();
    test_layer_messages();
    test_differences_messages();
    return test_end("unit/messages");
}
