/* Coefficients of initial data by what they claim: the polynomial of a node must meet the values
 * half a cell away up to its remainder, and data of one kind must equal the same data of another.
 * Exact solutions are judged by runs (test/convergence). */
#include "solution_setup.h"

/* ---- coefficients ---- */

/* The polynomials of the primary nodes half a cell up along every axis, against the values of the
 * dual nodes there. */
static double half_cell(const struct setup *setup, const double *primary, const double *dual) {
    const struct ht_grid *grid = &setup->grid;
    int side = grid->order + 1;
    int64_t coefs = ht_grid_coefs(grid), from = row(setup, HT_PRIMARY);
    int64_t to = row(setup, HT_DUAL);
    int64_t n1 = ht_grid_nodes(grid, HT_DUAL, 0), n2 = ht_grid_nodes(grid, HT_DUAL, 1),
            p1 = ht_grid_nodes(grid, HT_PRIMARY, 0), p2 = ht_grid_nodes(grid, HT_PRIMARY, 1);
    double worst = 0;
    for (int f = 0; f < setup->eq.nfields; f++)
        for (int64_t m = 0; m < to; m++) {
            int64_t node = (m / n1 / n2 * p2 + m / n1 % n2) * p1 + m % n1;
            double sum = -dual[f * coefs * to + m];
            for (int i = 0; i < coefs; i++) {
                int degree = i % side + i / side % side + i / side / side;
                sum += ldexp(primary[(f * coefs + i) * from + node], -degree);
            }
            worst = test_worse(worst, fabs(sum));
        }
    return worst;
}

/* theta: radians per cell. What a tensor polynomial leaves out is at most the sum over axes of
 * (theta/2)^(N+1)/(N+1)! times the sums of the others. */
static void check_half_cell(const struct request *request, double theta, double growth) {
    HT_ENDED(tear_down) struct setup setup;
    set_up(&setup, request);
    HT_FREED double *primary = filled(&setup, HT_PRIMARY, 0);
    HT_FREED double *dual = filled(&setup, HT_DUAL, 0);
    int terms = request->order + 1;
    double left = growth * request->dims * exp(theta * (request->dims - 1) / 2);
    for (int i = 1; i <= terms; i++) left *= theta / 2 / i;
    TEST_BELOW(half_cell(&setup, primary, dual), left + 4e-15,
               "half a cell away: %s, %s %d-D, N = %d", request->options, request->system,
               request->dims, request->order);
}

static void test_coefficients(void) {
    for (int dims = 1; dims <= 3; dims++) {
        const struct request plane = ask("acoustic", dims, dims < 3 ? 8 : 6, 7, 9, 6, "",
                                         "initial.type=plane; initial.cycles=[1, 1, 1]");
        const struct request standing = ask("acoustic", dims, dims < 3 ? 7 : 5, 5, 6, 7, "rf rr ff",
                                            "initial.type=standing; initial.modes=[1, 2, 1]");
        const struct request bell =
            ask("acoustic", dims, dims < 3 ? 7 : 5, 9, 9, 9, "rf pp rr",
                "initial.type=gaussian; initial.centre=[-0.4, 0.3, 1.1]; initial.width=0.25");
        check_half_cell(&plane, 2 * HT_PI / 6, 1);
        check_half_cell(&standing, 2 * HT_PI / 6, 1.5);
        /* Cramer's bound again: sqrt((N + 1)!) < 200 more than a wave */
        check_half_cell(&bell, 1.5 / 9 / 0.25, 200);
    }
}

/* ---- images ---- */

/* Adds factor * Gaussian at `centre` on a periodic 1-D grid of `times` boxes, to the nodes of one
 * box. */
static void add_reference(const struct request *request, int times, double centre, double factor,
                          double *sum) {
    const struct request wide =
        ask(request->system, request->dims, request->order, request->cells[0], 1, 1, "",
            "%s; initial.centre=[%.17g]", request->options, centre);
    HT_ENDED(tear_down) struct setup setup;
    set_up(&setup, &wide);
    setup.grid.upper[0] = setup.grid.lower[0] + times;
    setup.grid.cells[0] = times * request->cells[0];
    double *u = filled(&setup, HT_PRIMARY, 0);
    int64_t wide_row = row(&setup, HT_PRIMARY), n = request->cells[0] + 1;
    for (int r = 0; r < setup.eq.nfields * (request->order + 1); r++)
        for (int64_t m = 0; m < n; m++) sum[r * n + m] += factor * u[r * wide_row + m];
    free(u);
}

/* Between walls a wide Gaussian equals its mirror images on a longer periodic box: period 2 L for
 * equal walls, 4 L for unequal ones. */
static void check_images(const char *walls, const char *field, int low, int high) {
    const struct request request =
        ask("acoustic", 1, 4, 5, 1, 1, walls,
            "initial.type=gaussian; initial.centre=[-0.2]; initial.width=0.45; initial.field=%s",
            field);
    HT_ENDED(tear_down) struct setup setup;
    set_up(&setup, &request);
    const int64_t count = size_of(&setup, HT_PRIMARY);
    const double centre = -0.2, mirror = 2 * -0.5 - centre;
    HT_FREED double *u = filled(&setup, HT_PRIMARY, 0), *want = NULL;
    must(HT_ALLOC(want, count));
    const int times = low == high ? 2 : 4;
    for (int n = 0; n < times / 2; n++) {
        add_reference(&request, times, centre + 2 * n, n ? -1 : 1, want);
        add_reference(&request, times, mirror + 2 * n, n ? -low : low, want);
    }
    TEST_BELOW(errors_of(count, u, want).most, 2e-15, "images between walls %s, field %s", walls,
               field);
}

static void test_images(void) {
    check_images("rr", "p", 1, 1);
    check_images("ff", "p", -1, -1);
    check_images("rf", "p", 1, -1);
    check_images("fr", "p", -1, 1);
    check_images("rr", "v1", -1, -1);
    check_images("fr", "v1", 1, -1);
    const struct request near =
        ask("advection", 2, 3, 5, 4, 1, "",
            "initial.type=gaussian; initial.width=0.3; initial.centre=[-0.4, 0.3]");
    const struct request far =
        ask("advection", 2, 3, 5, 4, 1, "",
            "initial.type=gaussian; initial.width=0.3; initial.centre=[3.6, -5.7]");
    TEST_BELOW(compare(&near, &far, HT_DUAL), 1e-14, "a centre four periods away");
}

static void test_resolution(void) {
    const struct request plane =
        ask("acoustic", 3, 3, 10, 10, 10, "", "initial.type=plane; initial.cycles=[1, -3, 2]");
    const struct request random =
        ask("acoustic", 3, 3, 10, 10, 10, "",
            "initial.type=random; initial.frequency=2.0; initial.returns=true");
    HT_ENDED(tear_down) struct setup waves, data;
    set_up(&waves, &plane);
    must(waves.err);
    TEST_BELOW(fabs(waves.solution->theta - 0.6 * HT_PI), 1e-14, "three waves on ten cells: theta");
    TEST_BELOW(fabs(waves.solution->wavenumber[1] - 4 * HT_PI), 1e-14, "wavenumber along x2");
    TEST_CHECK(waves.solution->exact && !waves.solution->returns, "a plane wave is exact");
    set_up(&data, &random);
    must(data.err);
    TEST_BELOW(fabs(data.solution->theta - 2 * HT_PI * 2 / sqrt(1.4) * 0.15), 1e-14,
               "theta from a frequency");
    TEST_CHECK(!data.solution->exact && data.solution->returns,
               "random data return if the user says so");
}

/* In a medium that varies a wave starts with the materials of the centre, x1 = 0: rho c = 3 however
 * it is given. */
static void check_varying(const char *first, const char *second) {
    const struct request request =
        ask("acoustic", 1, 3, 8, 1, 1, "", "initial.type=plane; medium.type=expression; %s; %s",
            first, second);
    HT_ENDED(tear_down) struct setup setup;
    set_up(&setup, &request);
    ht_solution_destroy(setup.solution);
    setup.solution = NULL;
    struct ht_medium *medium = NULL;
    must(ht_medium_read(setup.params, &setup.eq, &setup.grid, &medium));
    must(ht_medium_scan(medium, false));
    must(ht_solution_create(setup.params, medium, &setup.solution));
    HT_FREED double *u = filled(&setup, HT_PRIMARY, 0);
    /* v1 follows the 4 coefficients of p at 8 nodes; p(-0.5) = -1 */
    TEST_BELOW(fabs(u[32] + 1.0 / 3), 1e-15, "plane wave, %s, %s: v = p/3", first, second);
    TEST_CHECK(!setup.solution->exact, "it is not exact");
    ht_medium_destroy(medium);
}

static void test_varying(void) {
    check_varying("medium.c=\"1.5 + 0.1*sin(2*pi*x1)\"", "medium.rho=\"2\"");
    check_varying("medium.rho=\"2 - x1^2\"", "medium.K=\"4.5 + x1^2\"");
}

int main(void) {
    test_varying();
    test_coefficients();
    test_images();
    test_resolution();
    return test_end("solution");
}
