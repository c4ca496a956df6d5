/* Parity blocks against the serial reference: plain host code applies them to random vertex data of
 * one cell, the oracle does the half step of the same cell from its formulas. Judged is the largest
 * difference over
 *     (n + 2^d + s) u A
 * with the oracle's n roundings, the 2^d + s sums of the blocks of s source entries and A the sum
 * of the magnitudes of all products (ht_oracle_absolute). Wrong blocks must exceed it. The numbers
 * of rows of blocks that are unequal are known; large blocks must not take long.
 */
#include "test.h"

#include <float.h>

#include "htwave/stepper.h"
#include "src/kernel/blocks.h"

/* One cell between walls: the primary nodes are its vertices, the dual one its midpoint. Vertex v
 * holds entry s at vertex[s << dims | v]. */
struct cell {
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_problem problem;
    struct ht_spec spec;
    int coefs, sources;
    double *vertex, *coefs_in, *expected, *bound, *got;
};

static void make_cell(struct cell *c, const char *system, int dims, int order, double dt,
                      int stages) {
    memset(c, 0, sizeof *c);
    c->eq = ht_equations_make(ht_system_find(system), dims);
    c->grid = (struct ht_grid){.dims = dims, .order = order};
    for (int k = 0; k < 3; k++) {
        c->grid.cells[k] = 1;
        c->grid.h[k] = c->grid.upper[k] = k < dims ? 1 + 0.3 * k : 1;
        for (int side = 0; side < 2; side++) c->grid.wall[k][side] = k < dims ? 1 : 0;
    }
    c->problem = (struct ht_problem){.eq = &c->eq,
                                     .grid = &c->grid,
                                     .scheme = ht_scheme_at(HT_TAYLOR),
                                     .medium_degree = -1,
                                     .dt = dt,
                                     .stages = stages};
    c->problem.uniform[0] = 1.21;
    c->problem.uniform[1] = 0.8;
    c->spec = (struct ht_spec){.eq = &c->eq, .order = order, .medium_degree = -1, .stages = stages};
    c->spec.fp64 = order % 2 == 0; /* either arithmetic of the entries */
    for (int t = 0; t < c->eq.nterms; t++) {
        const struct ht_term *term = &c->eq.term[t];
        c->spec.scale[t] = dt / 2 * term->coef / pow(c->grid.h[term->axis], term->derivative);
        if (term->material >= 0) c->spec.scale[t] *= c->problem.uniform[term->material];
    }
    c->coefs = ht_grid_coefs(&c->grid);
    c->sources = c->eq.nfields * c->coefs;
}

static void free_cell(struct cell *c) {
    free(c->vertex);
    free(c->coefs_in);
    free(c->expected);
    free(c->bound);
    free(c->got);
}

static enum ht_err fill_cell(struct cell *c) {
    int corners = 1 << c->eq.dims;
    TRY(HT_ALLOC(c->vertex, c->sources * corners));
    TRY(HT_ALLOC(c->expected, c->sources));
    TRY(HT_ALLOC(c->bound, c->sources));
    TRY(HT_ALLOC(c->got, c->sources));
    for (int n = 0; n < c->sources * corners; n++) c->vertex[n] = ht_rng_uniform(5, (uint64_t)n);
    return HT_OK;
}

/* The oracle's dual node; vertex data is its [field][i][node] order. */
static enum ht_err run_oracle(const struct cell *c, bool absolute, double *out) {
    struct ht_stepper oracle;
    TRY(ht_oracle_create(&c->problem, &oracle));
    if (absolute) ht_oracle_absolute(&oracle);
    int64_t planes = ht_grid_planes(&c->grid, HT_PRIMARY);
    enum ht_err err = oracle.ops->put(oracle.self, HT_PRIMARY, 0, planes, c->vertex);
    if (err == HT_OK) err = oracle.ops->half_step(oracle.self, HT_PRIMARY);
    for (int f = 0; err == HT_OK && f < c->eq.nfields; f++)
        err = oracle.ops->get(oracle.self, HT_DUAL, f, c->coefs, 0, 1, out + (int64_t)f * c->coefs);
    ht_stepper_destroy(&oracle);
    return err;
}

/* S of source entry s in block g. */
static double sum_vertices(const double *vertex, int dims, unsigned signs) {
    double sum = 0;
    for (unsigned v = 0; v < 1u << dims; v++) {
        double sign = 1;
        for (int k = 0; k < dims; k++)
            if (!(v >> k & 1u) && signs >> k & 1u) sign = -sign;
        sum += sign * vertex[v];
    }
    return sum;
}

static bool stored(unsigned mask, int field) {
    return mask == 0 || mask >> field & 1u;
}

/* got[field * coefs + i] of the fields stored on the target. */
static void apply(const struct ht_blocks *blocks, struct cell *c) {
    int src[HT_MAX_FIELDS] = {0}, dst[HT_MAX_FIELDS] = {0};
    int nsrc = 0, ndst = 0;
    for (int f = 0; f < c->eq.nfields; f++) {
        if (stored(c->spec.src, f)) src[nsrc++] = f;
        if (stored(c->spec.dst, f)) dst[ndst++] = f;
    }
    for (int g = 0; g < blocks->blocks; g++)
        for (int r = 0; r < blocks->rows[g]; r++) {
            const double *entry = blocks->entry[g] + (int64_t)r * blocks->sources;
            int row = blocks->row[g][r];
            double sum = 0;
            for (int s = 0; s < blocks->sources; s++) {
                int at = src[s / c->coefs] * c->coefs + s % c->coefs;
                const double *vertex = c->vertex + (at << blocks->dims);
                sum += entry[s] *
                       sum_vertices(vertex, blocks->dims, (unsigned)(g ^ blocks->parity[s]));
            }
            c->got[dst[row / c->coefs] * c->coefs + row % c->coefs] = sum;
        }
}

/* Largest difference over its bound, of the fields stored on the target. */
static double worst_ratio(const struct cell *c, double factor) {
    double worst = 0;
    double n = ht_oracle_roundings(&c->problem) + (1 << c->eq.dims) + c->sources;
    for (int q = 0; q < c->sources; q++) {
        if (!stored(c->spec.dst, q / c->coefs)) continue;
        double bound = n * DBL_EPSILON / 2 * factor * c->bound[q] + DBL_MIN;
        double ratio = fabs(c->got[q] - factor * c->expected[q]) / bound;
        if (!(ratio <= worst)) worst = ratio;
    }
    return worst;
}

static enum ht_err run_cell(struct cell *c, double *worst) {
    struct ht_blocks *blocks = NULL;
    TRY(fill_cell(c));
    TRY(run_oracle(c, false, c->expected));
    TRY(run_oracle(c, true, c->bound));
    TRY(ht_blocks_create(&c->spec, &blocks));
    apply(blocks, c);
    *worst = worst_ratio(c, 1);
    ht_blocks_destroy(blocks);
    return HT_OK;
}

static void test_taylor(const char *system, int dims, int order, double dt, int stages) {
    struct cell c;
    double worst = INFINITY;
    make_cell(&c, system, dims, order, dt, stages);
    enum ht_err err = run_cell(&c, &worst);
    TEST_CHECK(err == HT_OK && worst <= 1,
               "%s %d-D N=%d dt %g, %d stages: %.3g times the bound (at most "
               "1)",
               system, dims, order, dt, stages, worst);
    free_cell(&c);
}

/* Fields not stored on the source are zeros there; the result counts twice. */
static void test_staggered(const char *system, int dims, int order, unsigned src, unsigned dst) {
    struct cell c;
    struct ht_blocks *blocks = NULL;
    make_cell(&c, system, dims, order, 0.7, dims * (2 * order + 1));
    c.spec.src = src;
    c.spec.dst = dst;
    c.spec.old_sign = -1;
    double worst = INFINITY;
    enum ht_err err = fill_cell(&c);
    for (int q = 0; err == HT_OK && q < c.sources; q++)
        for (int v = 0; v < 1 << dims; v++)
            if (!stored(src, q / c.coefs)) c.vertex[q << dims | v] = 0;
    if (err == HT_OK) err = run_oracle(&c, false, c.expected);
    if (err == HT_OK) err = run_oracle(&c, true, c.bound);
    if (err == HT_OK) err = ht_blocks_create(&c.spec, &blocks);
    if (err == HT_OK) {
        apply(blocks, &c);
        worst = worst_ratio(&c, 2);
    }
    TEST_CHECK(err == HT_OK && worst <= 1,
               "%s %d-D N=%d fields %#x to %#x: %.3g times the bound (at most "
               "1)",
               system, dims, order, src, dst, worst);
    ht_blocks_destroy(blocks);
    free_cell(&c);
}

/* A block set of another step must be seen to be wrong. */
static void test_planted(void) {
    struct cell c;
    double worst = 0;
    make_cell(&c, "acoustic", 2, 2, 0.5, 10);
    c.spec.scale[1] *= 1 + 1e-12;
    enum ht_err err = run_cell(&c, &worst);
    TEST_CHECK(err == HT_OK && worst > 1,
               "one scale wrong by 1e-12: %.3g times the bound (more than 1)", worst);
    free_cell(&c);
}

static void test_rows(void) {
    static const int expected[8] = {20, 16, 16, 11, 16, 11, 11, 7};
    struct cell c;
    struct ht_blocks *blocks = NULL;
    make_cell(&c, "acoustic", 3, 2, 0.5, 1);
    enum ht_err err = ht_blocks_create(&c.spec, &blocks);
    for (int g = 0; g < 8; g++)
        TEST_CHECK(err == HT_OK && blocks->rows[g] == expected[g],
                   "rows of block %d: %d (%d expected)", g, err == HT_OK ? blocks->rows[g] : -1,
                   expected[g]);
    ht_blocks_destroy(blocks);
}

static void test_advection(void) {
    struct ht_equations eq = ht_equations_make(ht_system_find("advection"), 2);
    struct ht_spec spec = {.eq = &eq, .order = 1, .stages = 1};
    struct ht_blocks *blocks = NULL;
    TEST_CHECK(!ht_blocks_apply(&eq), "advection has no parities");
    TEST_CHECK(ht_blocks_create(&spec, &blocks) != HT_OK && blocks == NULL,
               "its blocks are refused: %s", ht_err_message());
}

/* The largest sets: a scalar of 512 coefficients, and four fields of 216. */
static void test_time(const char *system, int order, unsigned stored) {
    struct cell c;
    struct ht_blocks *blocks = NULL;
    make_cell(&c, system, 3, order, 0.5, 3 * (2 * order + 1));
    c.spec.src = c.spec.dst = stored;
    double start = ht_clock();
    enum ht_err err = ht_blocks_create(&c.spec, &blocks);
    if (err == HT_OK) err = ht_blocks_round(&c.spec, blocks);
    double seconds = ht_clock() - start;
    TEST_CHECK(err == HT_OK, "blocks of %s, 3-D, N=%d", system, order);
    TEST_BELOW(seconds, 10.0, "seconds to compute and round them (with room for load)");
    ht_blocks_destroy(blocks);
}

static void test_order(int dims, int order) {
    static const double steps[] = {0.3, 0.9};
    unsigned velocity = (1u << (dims + 1)) - 2;
    int full = dims * (2 * order + 1);
    for (int n = 0; n < 2; n++) {
        test_taylor("acoustic", dims, order, steps[n], full);
        test_taylor("wave", dims, order, steps[n], full);
    }
    test_taylor("acoustic", dims, order, steps[1], 2 * order);
    test_staggered("acoustic", dims, order, 1u, velocity);
    test_staggered("acoustic", dims, order, velocity, 1u);
    test_staggered("wave", dims, order, 1u, 1u);
}

int main(void) {
    for (int dims = 1; dims <= 3; dims++)
        for (int order = 1; order <= (dims < 3 ? 4 : 3); order++) test_order(dims, order);
    test_planted();
    test_rows();
    test_advection();
    test_time("wave", 7, 1u);
    test_time("acoustic", 5, 0);
    return test_end("blocks");
}
