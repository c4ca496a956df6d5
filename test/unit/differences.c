/* Finite differences in double precision, where they are weakest: media that jump from point to
 * point, steps just below the limit. Long runs are those of convergence/rough.
 *   - The step's largest eigenvalue in 300 random media, every order.
 *   - The bound of the step in one to three dimensions, contrasts up to 1e4.
 *   - The weights of each order, and the frequency of a wave, are those of theory.
 *   - A constant stays what it is, to the last bit. */

#include "steps.h"

enum { MOST = 64 };

struct scene {
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_problem problem;
    double contrast[2]; /* of the modulus, of 1/rho: largest over least */
    uint64_t seed;
};

/* Between 1 and the contrast, evenly in the logarithm. */
static enum ht_err fill(const void *context, int what, int64_t first, int64_t last, double *out) {
    const struct scene *s = context;
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
    for (int64_t n = 0; n < plane * (last - first); n++) {
        const uint64_t key =
            s->seed * 1000003u + 4u * (uint64_t)(first * plane + n) + (unsigned)what;
        out[n] = pow(s->contrast[what > 0], 0.5 + 0.5 * ht_rng_uniform(11, key));
    }
    return HT_OK;
}

static void make(struct scene *s, const char *system, int dims, const int64_t cells[3], int wall,
                 int order, int stages, bool density, double contrast) {
    *s = (struct scene){.contrast = {contrast, density ? 3 : 1}};
    s->eq = ht_equations_make(ht_system_find(system), dims);
    s->grid = (struct ht_grid){.dims = dims, .order = 0};
    for (int k = 0; k < 3; k++) {
        s->grid.cells[k] = k < dims ? cells[k] : 1;
        s->grid.h[k] = 1;
        s->grid.upper[k] = (double)s->grid.cells[k];
        for (int side = 0; side < 2; side++) s->grid.wall[k][side] = k < dims ? wall : 0;
    }
    s->problem = (struct ht_problem){
        .eq = &s->eq,
        .grid = &s->grid,
        .medium_degree = 0,
        .stages = stages,
        .fd = {
            .order = order, .density = density, .inverse_density = 1, .fill = fill, .medium = s}};
    (void)ht_problem_set_scheme(&s->problem, ht_scheme_at(HT_DIFFERENCES));
}

/* The proven bound of omega. */
static double limit(const struct scene *s) {
    double most = NAN;
    must(ht_fd_bound(&s->problem, NULL, &most));
    return sqrt((s->problem.stages > 1 ? 12 : 4) / most);
}

static int64_t nodes_of(const struct scene *s) {
    return ht_grid_total(&s->grid, HT_PRIMARY);
}

/* ---- eigenvalues ---- */

/* Extreme eigenvalues of a symmetric matrix by Jacobi's rotations (Golub, Van Loan, Matrix
 * Computations, 8.5). */
static void eigenvalues(int n, double (*a)[MOST], double *least, double *most) {
    for (int sweep = 0; sweep < 12; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (fabs(a[p][q]) < 1e-300) continue;
                const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), sn = t * c;
                for (int i = 0; i < n; i++) {
                    const double x = a[i][p], y = a[i][q];
                    a[i][p] = c * x - sn * y;
                    a[i][q] = sn * x + c * y;
                }
                for (int i = 0; i < n; i++) {
                    const double x = a[p][i], y = a[q][i];
                    a[p][i] = c * x - sn * y;
                    a[q][i] = sn * x + c * y;
                }
            }
    *least = *most = a[0][0];
    for (int i = 1; i < n; i++) {
        *least = fmin(*least, a[i][i]);
        *most = fmax(*most, a[i][i]);
    }
}

/* Column j of -dt^2 M: what a step adds to d = 0 from u = e_j. With weights 1/K, half on walls, it
 * is symmetric. */
static double find_asymmetry(const struct scene *s, double (*a)[MOST]) {
    const int n = (int)nodes_of(s);
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper = {0};
    double u[MOST] = {0}, modulus[MOST] = {0}, worst = 0;
    must(ht_oracle_create(&s->problem, &stepper));
    must(fill(s, 0, 0, 1, modulus));
    for (int i = 0; i < n; i++)
        if (s->grid.wall[0][0] != 0 && (i == 0 || i == n - 1)) modulus[i] *= 2;
    for (int j = 0; j < n; j++) {
        memset(u, 0, sizeof u);
        put_u(&s->problem, &stepper, HT_DUAL, u);
        u[j] = 1;
        put_u(&s->problem, &stepper, HT_PRIMARY, u);
        must(stepper.ops->half_step(stepper.self, HT_PRIMARY));
        get_u(&s->problem, &stepper, HT_DUAL, u);
        for (int i = 0; i < n; i++) a[i][j] = -u[i] * sqrt(modulus[j] / modulus[i]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            worst = fmax(worst, fabs(a[i][j] - a[j][i]));
            a[i][j] = a[j][i] = (a[i][j] + a[j][i]) / 2;
        }
    return worst;
}

/* The step u+ = (2 + dt^2 M) u - u-: its eigenvalues lie on the unit circle where those of -dt^2 M
 * lie in [0, 4]. */
static void test_stability(void) {
    static double a[MOST][MOST];
    for (int order = 2; order <= 16; order += 2) {
        double least = 0, most = 0, asymmetry = 0;
        for (int medium = 0; medium < 300; medium++) {
            struct scene s;
            const int64_t cells[3] = {17 + medium % 20, 1, 1};
            double low, high;
            make(&s, "acoustic", 1, cells, medium % 3 ? 1 : 0, order, 1 + medium / 2 % 2,
                 medium % 2, medium % 5 ? 6 : 1e4);
            s.seed = (uint64_t)medium;
            s.problem.dt = 0.99 * limit(&s);
            asymmetry = fmax(asymmetry, find_asymmetry(&s, a));
            eigenvalues((int)nodes_of(&s), a, &low, &high);
            least = fmin(least, low);
            most = fmax(most, high);
        }
        TEST_CHECK(asymmetry < 1e-12, "order %d, 300 media: the operator is symmetric to %.1e",
                   order, asymmetry);
        TEST_CHECK(
            least > -1e-12 && most < 4,
            "order %d, 300 media at 99 %% of the limit: eigenvalues %.1e to %.4f lie in [0, 4]",
            order, least, most);
    }
}

/* ---- the bound ---- */

/* -L x by the plain engine. */
static void apply(const struct scene *s, const struct ht_stepper *stepper, const double *x,
                  double *out) {
    const double dt = s->problem.dt;
    HT_FREED double *zero = calloc((size_t)nodes_of(s), sizeof *zero);
    put_u(&s->problem, stepper, HT_DUAL, zero);
    put_u(&s->problem, stepper, HT_PRIMARY, x);
    must(stepper->ops->half_step(stepper->self, HT_PRIMARY));
    get_u(&s->problem, stepper, HT_DUAL, out);
    for (int64_t i = 0; i < nodes_of(s); i++) out[i] /= -dt * dt;
}

/* (-1)^(m1 + m2 + m3) */
static double sign_of(const struct scene *s, int64_t node) {
    const int64_t n1 = ht_grid_nodes(&s->grid, HT_PRIMARY, 0);
    const int64_t n2 = ht_grid_nodes(&s->grid, HT_PRIMARY, 1);
    const int64_t sum = node % n1 + node / n1 % n2 + node / (n1 * n2);
    return sum % 2 ? -1 : 1;
}

/* The largest quotient of |L| x by x, x = |L|^(powers - 1) 1. Between rigid walls and on even
 * periodic axes |L| is -L with signs that alternate. */
static double quotient(const struct scene *s, const struct ht_stepper *stepper, int powers) {
    const size_t count = (size_t)nodes_of(s);
    HT_FREED double *x = calloc(count, sizeof *x), *y = calloc(count, sizeof *y);
    double most = 0;
    for (size_t i = 0; i < count; i++) x[i] = 1;
    for (int p = 0; p < powers; p++) {
        most = 0;
        for (size_t i = 0; i < count; i++) x[i] *= sign_of(s, (int64_t)i);
        apply(s, stepper, x, y);
        for (size_t i = 0; i < count; i++) {
            most = fmax(most, y[i] / x[i]);
            x[i] = fabs(y[i]);
        }
    }
    return most;
}

/* 1/K, half at walls: with these weights L is symmetric. */
static double weight_of(const struct scene *s, const double *modulus, int64_t node) {
    double weight = 1 / modulus[node];
    int64_t rest = node;
    for (int k = 0; k < s->grid.dims; k++) {
        const int64_t n = ht_grid_nodes(&s->grid, HT_PRIMARY, k);
        const int64_t m = rest % n;
        if (s->grid.wall[k][0] != 0 && (m == 0 || m == n - 1)) weight /= 2;
        rest /= n;
    }
    return weight;
}

/* omega^2 from below: Rayleigh's quotient after power iterations from random values. */
static double from_below(const struct scene *s, const struct ht_stepper *stepper, int count) {
    const int64_t nodes = nodes_of(s);
    HT_FREED double *x = calloc((size_t)nodes, sizeof *x);
    HT_FREED double *y = calloc((size_t)nodes, sizeof *y);
    HT_FREED double *modulus = calloc((size_t)nodes, sizeof *modulus);
    double value = 0;
    must(fill(s, 0, 0, ht_grid_planes(&s->grid, HT_PRIMARY), modulus));
    for (int64_t i = 0; i < nodes; i++) x[i] = ht_rng_uniform(5, (uint64_t)i);
    for (int n = 0; n < count; n++) {
        double xx = 0, xy = 0, norm = 0;
        apply(s, stepper, x, y);
        for (int64_t i = 0; i < nodes; i++) {
            xx += weight_of(s, modulus, i) * x[i] * x[i];
            xy += weight_of(s, modulus, i) * x[i] * y[i];
            norm = fmax(norm, fabs(y[i]));
        }
        for (int64_t i = 0; i < nodes; i++) x[i] = y[i] / norm;
        if (n > 0) value = fmax(value, xy / xx); /* n = 0: also on free walls */
    }
    return value;
}

static const struct bound_case {
    const char *name;
    int dims, wall, order;
    int64_t cells[3];
    bool density, paired; /* |L| is -L with signs */
    double contrast;
} bound_cases[] = {
    {"1-D", 1, 1, 8, {33, 1, 1}, false, true, 1e8},
    {"1-D, density", 1, 0, 16, {40, 1, 1}, true, true, 1e8},
    {"2-D", 2, 0, 8, {14, 20, 1}, false, true, 6},
    {"2-D, density", 2, 1, 4, {11, 9, 1}, true, true, 1e8},
    {"2-D, density, long reach", 2, 1, 8, {17, 18, 1}, true, true, 6},
    {"3-D", 3, 0, 4, {8, 6, 10}, false, true, 6},
    {"3-D, reflected often", 3, 1, 8, {6, 7, 5}, false, true, 1e4},
    {"3-D, density", 3, 1, 4, {7, 5, 9}, true, true, 6},
    {"3-D, density, wrapped often", 3, 0, 6, {6, 8, 6}, true, true, 1e8},
    {"3-D, odd", 3, 0, 8, {9, 7, 11}, true, false, 6},
    {"3-D, free", 3, -1, 6, {7, 8, 9}, false, false, 1e8},
};

static void test_bound(const struct bound_case *c) {
    struct scene s;
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper = {0};
    double most = NAN;
    make(&s, "acoustic", c->dims, c->cells, c->wall, c->order, 1, c->density, c->contrast);
    s.seed = 77;
    s.problem.dt = 1e-3 / sqrt(c->contrast);
    must(ht_fd_bound(&s.problem, NULL, &most));
    must(ht_oracle_create(&s.problem, &stepper));
    const double below = from_below(&s, &stepper, 300);
    TEST_CHECK(below <= most * (1 + 1e-12),
               "%s: bound %.6g of omega^2, %.6g after power iterations", c->name, most, below);
    if (c->paired) {
        const double rows = quotient(&s, &stepper, 1);
        const double powers = quotient(&s, &stepper, 4);
        TEST_BELOW(fabs(most / fmin(rows, powers) - 1), 1e-12,
                   "%s: bound %.6g, sums of rows %.6g; off the quotient by", c->name, most, rows);
        TEST_CHECK(most < rows && most < 1.15 * below,
                   "%s: the bound is %.3f of the rows' and %.3f times omega^2", c->name,
                   most / rows, most / below);
    }
}

/* ---- uniform media ---- */

/* theta and its square as series in s = 2 sin(theta/2): an order keeps a term for each weight. */
static void test_weights(int order) {
    const struct ht_fd_weights w = ht_fd_weights(order);
    double worst = 0;
    for (int n = 1; n <= 20; n++) {
        const double theta = acos(-1.0) * n / 20, s = 2 * sin(theta / 2);
        double first = 0, second = 0, a = s, b = s * s;
        for (int j = 1; j <= order / 2; j++) {
            first += a / (2 * j - 1);
            second += b;
            a *= s * s / 4 * (2 * j - 1) / (2 * j);
            b *= s * s * j * j / ((2 * j + 1) * (2 * j + 2));
        }
        worst = fmax(worst, fabs(ht_fd_first_symbol(&w, theta) / first - 1));
        worst = fmax(worst, fabs(ht_fd_second_symbol(&w, theta) / second - 1));
    }
    TEST_BELOW(worst, 1e-13, "order %d: the symbols of the weights, off by", order);
}

/* The frequency of a plane wave from three times, against theory. */
static void test_dispersion(int order, int stages, bool density) {
    enum { N = 40 };
    const int64_t cells[3] = {N, 1, 1};
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper = {0};
    struct scene s;
    double u[3][N], d[N], theta, x, worst = 0;
    make(&s, "acoustic", 1, cells, 0, order, stages, density, 1);
    s.contrast[1] = 1;
    s.problem.dt = 0.9 * limit(&s);
    const struct ht_fd_weights w = ht_fd_weights(order);
    must(ht_oracle_create(&s.problem, &stepper));
    for (int mode = 1; mode < N / 2; mode += 3) {
        theta = 2 * acos(-1.0) * mode / N;
        for (int i = 0; i < N; i++) {
            u[0][i] = cos(theta * i);
            d[i] = 0;
        }
        put_u(&s.problem, &stepper, HT_PRIMARY, u[0]);
        put_u(&s.problem, &stepper, HT_DUAL, d);
        must(ht_stepper_advance(&stepper, 1));
        get_u(&s.problem, &stepper, HT_PRIMARY, u[1]);
        const double first = ht_fd_first_symbol(&w, theta);
        x = density ? first * first : ht_fd_second_symbol(&w, theta);
        x *= s.problem.dt * s.problem.dt;
        /* u(1) = (1 - x [+ x^2/12]) u(0) for d = 0 */
        const double factor = 1 - x + (stages > 1 ? x * x / 12 : 0);
        worst = fmax(worst, fabs(u[1][0] - factor));
    }
    TEST_CHECK(worst < 1e-13, "order %d, %d terms%s: a wave's step is that of theory to %.1e",
               order, stages, density ? ", density" : "", worst);
}

/* Rounding that took a constant for a slope would grow with every step. */
static void test_constant(bool density) {
    const int64_t cells[3] = {19, 18, 1};
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper = {0};
    struct scene s;
    int changed = 0;
    make(&s, "acoustic", 2, cells, 1, 8, 2, density, 6);
    s.problem.dt = 0.9 * limit(&s);
    const int64_t nodes = nodes_of(&s);
    HT_FREED double *u = calloc((size_t)nodes, sizeof *u);
    for (int64_t n = 0; n < nodes; n++) u[n] = 0.7;
    must(ht_oracle_create(&s.problem, &stepper));
    put_u(&s.problem, &stepper, HT_PRIMARY, u);
    must(ht_stepper_advance(&stepper, 100));
    get_u(&s.problem, &stepper, HT_PRIMARY, u);
    for (int64_t n = 0; n < nodes; n++) changed += u[n] != 0.7;
    TEST_CHECK(changed == 0, "0.7 everywhere%s: %d values change in 100 steps",
               density ? ", density varies" : "", changed);
}

int main(void) {
    test_constant(false);
    test_constant(true);
    test_stability();
    TEST_EACH(row, bound_cases) test_bound(row);
    for (int order = 2; order <= 16; order += 2) {
        test_weights(order);
        for (int i = 0; i < 4; i++) test_dispersion(order, 1 + i % 2, i / 2);
    }
    return test_end("differences");
}
