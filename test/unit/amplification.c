/* How far series amplify rounding, against sums by another way in one
 * dimension; that only CFL numbers matter; what is refused for it.
 */
#include <float.h>
#include <math.h>

#include "htwave/kernel.h"
#include "htwave/num.h"
#include "htwave/plan.h"
#include "src/solve/amplification.h"
#include "test.h"

enum { MOST = 2 * HT_MAX_ORDER + 2, OPTIONS = 9, LENGTH = 80 };

/* Of a run with these options, separated by blanks, on many steps. */
static struct ht_plan *plan_of(const char *options, struct ht_params **params) {
    char text[OPTIONS][LENGTH] = {"time.end=1000", "time.scheme=taylor"};
    char *option[OPTIONS] = {text[0], text[1]};
    struct ht_plan *plan = NULL;
    int count = 2;
    for (const char *at = options; *at != '\0' && count < OPTIONS; count++) {
        const size_t length = strcspn(at, " ");
        snprintf(text[count], LENGTH, "%.*s", (int)length, at);
        option[count] = text[count];
        at += length + (at[length] == ' ');
    }
    enum ht_err err = ht_params_read(NULL, count, option, params);
    if (err == HT_OK) err = ht_plan_create(*params, NULL, &plan);
    if (err != HT_OK) {
        TEST_CHECK(false, "%s", ht_err_message());
        exit(test_end("amplification"));
    }
    return plan;
}

static double amplification_of(const char *options) {
    struct ht_params *params = NULL;
    struct ht_plan *plan = plan_of(options, &params);
    double found = NAN;
    if (ht_series_amplification(&plan->problem, plan->medium->speed, &found) !=
        HT_OK)
        TEST_CHECK(false, "%s", ht_err_message());
    ht_plan_destroy(plan);
    ht_params_destroy(params);
    return found;
}

/* u_t = c u_x: a half step shifts the interpolant by s = c dt/(2h). Of data
 * that are the same at both ends, b = |H| (u, u), u_i <- sum over j >= i of
 * C(j, i) s^(j-i) b_j. */
static double advection_line(int order, double s) {
    double h[MOST * MOST], u[MOST] = {0}, b[MOST] = {0}, growth = 0;
    const int m = order + 1, size = 2 * m;
    ht_hermite_matrix(order, h);
    for (int i = 0; i < m; i++) u[i] = 1;
    for (int n = 0; n < 200; n++) {
        double next[MOST] = {0};
        for (int j = 0; j < size; j++) {
            b[j] = 0;
            for (int i = 0; i < size; i++)
                b[j] += fabs(h[j * size + i]) * u[i % m];
        }
        growth = 0;
        for (int i = 0; i < m; i++) {
            double factor = 1;
            for (int j = i; j < size; j++) {
                next[i] += factor * b[j];
                factor *= s * (j + 1) / (j + 1 - i);
            }
            growth = fmax(growth, next[i]);
        }
        for (int i = 0; i < m; i++) u[i] = next[i] / growth;
    }
    return growth;
}

/* The iteration stops when a step changes the result by less than 1 %, and what
 * is left is less than twice the last change: 2 %. */
static void test_sums(void) {
    for (int order = 1; order <= HT_MAX_ORDER; order++) {
        char text[120];
        snprintf(text, sizeof text,
                 "system=advection medium.velocity=[2] grid.cells=[20] "
                 "time.cfl=0.9 grid.order=%d",
                 order);
        const double found = amplification_of(text);
        const double expected = advection_line(order, 0.45);
        TEST_CHECK(fabs(found / expected - 1) < 0.02,
                   "advection, N = %d: %.4g, by lines %.4g", order, found,
                   expected);
    }
}

static void test_media(void) {
    const double plain = amplification_of(
        "system=acoustic grid.order=4 time.cfl=0.9 grid.cells=[20,20]");
    const double other =
        amplification_of("system=acoustic grid.order=4 time.cfl=0.9 "
                         "grid.cells=[7,7] medium.c=3 medium.rho=50");
    TEST_CHECK(fabs(other / plain - 1) < 0.02,
               "the same CFL number, other medium and cells: %.4g, %.4g", plain,
               other);
    const double slow = amplification_of(
        "system=acoustic grid.order=4 time.cfl=0.9 grid.cells=[20,5]");
    TEST_CHECK(slow < plain / 2 && slow > 1,
               "long cells along an axis: less, %.4g", slow);
}

static bool refuses(const char *name, int order, double cfl, bool fp64) {
    char text[120];
    struct ht_params *params = NULL;
    snprintf(text, sizeof text,
             "system=acoustic grid.cells=[5,5,5] grid.order=%d time.cfl=%g",
             order, cfl);
    struct ht_plan *plan = plan_of(text, &params);
    const struct ht_tuning tuning = {.fp64 = fp64, .block = 1};
    const struct ht_spec spec =
        ht_problem_spec(&plan->problem, &tuning, HT_PRIMARY);
    const char *why =
        ht_variant_refuses(ht_variant_find(name, &spec, true), &spec);
    ht_plan_destroy(plan);
    ht_params_destroy(params);
    return why != NULL && strstr(why, "rounding") != NULL;
}

static void test_refusals(void) {
    static const struct {
        const char *name;
        int order;
        double cfl;
        bool fp64, refused;
    } row[] = {
        {"monolithic", 8, 0.9, false, true},
        {"monolithic", 8, 0.9, true, false},
        {"monolithic", 8, 0.8, false, false},
        {"monolithic", 7, 1, false, false},
        {"propagator", 8, 1, false, false},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        TEST_CHECK(refuses(row[i].name, row[i].order, row[i].cfl,
                           row[i].fp64) == row[i].refused,
                   "%s, N = %d, cfl %g, %s: %s", row[i].name, row[i].order,
                   row[i].cfl, row[i].fp64 ? "double" : "single",
                   row[i].refused ? "refused" : "taken");
}

/* Where the medium varies, a step that the input leaves open is short enough.
 */
static void test_open_step(void) {
    struct ht_params *params = NULL;
    struct ht_plan *plan = plan_of(
        "system=acoustic grid.cells=[5,5,5] grid.order=8 medium.degree=1 "
        "medium.type=expression medium.c=1+0.1*sin(6.283185307179586*x1)",
        &params);
    const double noise = plan->problem.amplification * FLT_EPSILON / 2;
    TEST_CHECK(
        !ht_noise_grows(noise, 3) && ht_noise_grows(2 * noise, 3),
        "N = 8 in a medium that varies: noise %.1f at cfl %.3f, of 32 at "
        "most, and more than half of it",
        noise, plan->cfl);
    ht_plan_destroy(plan);
    ht_params_destroy(params);
}

int main(void) {
    test_sums();
    test_media();
    test_refusals();
    test_open_step();
    return test_end("amplification");
}
