/* Long runs, energy, single precision.
 *
 * Errors after a hundred periods are what the plan expects, along axes and diagonals, between walls
 * too.
 *
 * Between two half steps the scheme conserves
 *     E = 1/2 integral of sum over fields of (D u)^2 / M,
 *     D = (d/dx_1)^(N+1) .. (d/dx_d)^(N+1),
 * of the piecewise polynomial u, because D u solves the equations too, and interpolation can only
 * lower it: the interpolant has the least E of all functions with the same node data (Goodrich,
 * Hagstrom, Lorenz 2006, section 2). So E never grows, whatever the data; beyond rounding, that is.
 * E of a cell is a quadratic form Q of the data at its vertices, a product over axes. */
#include "scene.h"

enum { MOST = 2 * HT_MAX_ORDER + 2 };

/* ---- the energy E ---- */

/* Q along one axis, over (N+1)!^2: the integral over eta of the square of sum_a C(N+1+a, a)
 * b_(N+1+a) eta^a, b = H u. */
static void make_form(int order, bool absolute, double q[MOST * MOST]) {
    double h[MOST * MOST], c[HT_MAX_ORDER + 1] = {1};
    int m = order + 1, size = 2 * m;
    ht_hermite_matrix(order, h);
    if (absolute)
        for (int n = 0; n < size * size; n++) h[n] = fabs(h[n]);
    for (int a = 1; a < m; a++) c[a] = c[a - 1] * (m + a) / a;
    memset(q, 0, (size_t)MOST * MOST * sizeof *q);
    for (int a = 0; a < m; a++)
        for (int b = a % 2; b < m; b += 2) {
            double weight = c[a] * c[b] * pow(0.5, a + b) / (a + b + 1);
            for (int r = 0; r < size; r++)
                for (int s = 0; s < size; s++)
                    q[r * size + s] += weight * h[(m + a) * size + r] * h[(m + b) * size + s];
        }
}

/* x^T (Q x Q x ..) x for the (2N+2)^d data of a cell; y: scratch. */
static double apply_form(const double *q, int size, int dims, int count, const double *x,
                         double *y) {
    double *in = y, *out = y + count, sum = 0;
    memcpy(in, x, (size_t)count * sizeof *in);
    for (int k = 0, stride = 1; k < dims; k++, stride *= size) {
        memset(out, 0, (size_t)count * sizeof *out);
        for (int n = 0; n < count; n++) {
            int r = n / stride % size, base = n - r * stride;
            for (int s = 0; s < size; s++) out[n] += q[r * size + s] * in[base + s * stride];
        }
        double *swap = in;
        in = out;
        out = swap;
    }
    for (int n = 0; n < count; n++) sum += x[n] * in[n];
    return sum;
}

/* Data of one cell from coefs[i][node]; all sides periodic. */
static void gather(const struct ht_grid *grid, const double *coefs, int64_t cell, double *x) {
    int m = grid->order + 1, size = 2 * m, count = 1;
    int64_t nodes = ht_grid_total(grid, HT_PRIMARY);
    for (int k = 0; k < grid->dims; k++) count *= size;
    for (int n = 0; n < count; n++) {
        int64_t node = 0, along = 1, left = cell;
        int i = 0, power = 1, rest = n;
        for (int k = 0; k < grid->dims; k++) {
            int r = rest % size;
            rest /= size;
            int64_t at = (left % grid->cells[k] + r / m) % grid->cells[k];
            left /= grid->cells[k];
            node += at * along;
            along *= grid->cells[k];
            i += r % m * power;
            power *= m;
        }
        x[n] = coefs[i * nodes + node];
    }
}

static enum ht_err energy_of(const struct scene_run *run, double *energy) {
    const struct ht_plan *plan = run->plan;
    const struct ht_grid *grid = &plan->grid;
    int size = 2 * (grid->order + 1), count = 1;
    int coefs = ht_grid_coefs(grid);
    int64_t nodes = ht_grid_total(grid, HT_PRIMARY), values = coefs * nodes;
    double q[MOST * MOST], *u = NULL;
    for (int k = 0; k < grid->dims; k++) count *= size;
    make_form(grid->order, false, q);
    TRY(HT_ALLOC(u, values + 3 * (int64_t)count));
    double *x = u + values;
    enum ht_err err = HT_OK;
    *energy = 0;
    for (int t = 0; err == HT_OK && t < plan->eq.nenergy; t++) {
        int m = plan->eq.energy[t].material, f = plan->eq.energy[t].field;
        double half = 0.5 / (m < 0 ? 1 : plan->problem.uniform[m]);
        err = run->stepper.ops->get(run->stepper.self, HT_PRIMARY, f, coefs, 0,
                                    ht_grid_planes(grid, HT_PRIMARY), u);
        for (int64_t cell = 0; err == HT_OK && cell < nodes; cell++) {
            gather(grid, u, cell, x);
            *energy += half * apply_form(q, size, grid->dims, count, x, x + count);
        }
    }
    free(u);
    return err;
}

/* By how much rounding may raise sqrt(E) in a half step: E of an error that is, in every
 * coefficient of every node, eps times what the half step adds up for data of amplitude 1 with u_i
 * <= 2^i/i!. */
static double energy_rounding(const struct ht_plan *plan) {
    const struct ht_grid *grid = &plan->grid;
    int m = grid->order + 1, size = 2 * m;
    double q[MOST * MOST], product = 1, inverse = 0;
    make_form(grid->order, true, q);
    for (int k = 0; k < grid->dims; k++) {
        double x[MOST] = {0}, y[2 * MOST];
        double s = plan->medium->speed[k] * plan->problem.dt / grid->h[k] / 2;
        for (int r = 0; r < size; r++) x[r] = scene_growth(grid->order, r % m, s, 2);
        product *= apply_form(q, size, 1, size, x, y);
    }
    for (int t = 0; t < plan->eq.nenergy; t++) {
        int material = plan->eq.energy[t].material;
        inverse += 0.5 / (material < 0 ? 1 : plan->problem.uniform[material]);
    }
    return scene_epsilon(plan) * sqrt(product * inverse * (double)ht_grid_total(grid, HT_PRIMARY));
}

/* Advances to the end in `parts`; *growth: the largest rise of sqrt(E) over its bound, *kept: E at
 * the end over E at the start. */
static enum ht_err watch(struct scene_run *run, int64_t parts, double *growth, double *kept) {
    int64_t steps = (run->plan->steps + parts - 1) / parts;
    double first = 0, before = 0, now = 0;
    double bound = 2 * (double)steps * energy_rounding(run->plan);
    TRY(energy_of(run, &first));
    before = first;
    *growth = 0;
    while (run->done < run->plan->steps) {
        int64_t left = run->plan->steps - run->done;
        TRY(scene_advance(run, left < steps ? left : steps));
        TRY(energy_of(run, &now));
        double ratio = (sqrt(now) - sqrt(before)) / bound;
        if (!(ratio <= *growth)) *growth = ratio;
        before = now;
    }
    *kept = now / first;
    return HT_OK;
}

/* ---- a hundred periods ---- */

struct journey {
    const char *name, *text;
    bool walls; /* E is for periodic sides */
};

/* The box has length 1 and waves speed 1: 108 crossings, in steps that 0.9 h fits a whole number of
 * times, are 108 periods or more. */
static const struct journey journeys[] = {
    {"acoustic 1D N=1", "system=acoustic grid.order=1 grid.cells=[48] initial.type=plane", false},
    {"acoustic 1D N=2", "system=acoustic grid.order=2 grid.cells=[12] initial.type=plane", false},
    {"acoustic 1D N=3", "system=acoustic grid.order=3 grid.cells=[6] initial.type=plane", false},
    {"acoustic 1D N=4", "system=acoustic grid.order=4 grid.cells=[5] initial.type=plane", false},
    {"acoustic 1D N=6", "system=acoustic grid.order=6 grid.cells=[4] initial.type=plane", false},
    {"standing mode 1D N=3",
     "system=acoustic grid.order=3 grid.cells=[6] boundary.x1=rigid initial.type=standing "
     "initial.modes=[2]",
     true},
    {"acoustic 2D N=3 diagonal",
     "system=acoustic grid.order=3 grid.cells=[6,6] initial.type=plane initial.cycles=[1,1]",
     false},
    {"acoustic 3D N=2 diagonal",
     "system=acoustic grid.order=2 grid.cells=[5,5,5] initial.type=plane initial.cycles=[1,1,1]",
     false},
    {"advection 2D N=3 diagonal",
     "system=advection grid.order=3 grid.cells=[6,6] medium.velocity=[1,1] initial.type=plane "
     "initial.cycles=[1,1]",
     false},
    {"advection 2D N=4 diagonal",
     "system=advection grid.order=4 grid.cells=[5,5] medium.velocity=[1,-1] initial.type=plane "
     "initial.cycles=[1,-1]",
     false},
    {"advection 3D N=2 diagonal",
     "system=advection grid.order=2 grid.cells=[6,6,6] medium.velocity=[1,1,1] initial.type=plane "
     "initial.cycles=[1,1,1]",
     false},
};

static enum ht_err nodal_energy(const struct scene_run *run, double *energy) {
    struct ht_state state;
    TRY(ht_state_measure(run->plan, &run->stepper, 0, &state));
    *energy = state.energy;
    return HT_OK;
}

/* The energy of nodal values can change by no more than the error: a state that is wrong by e has
 * an energy wrong by 2 e + e^2. */
static void judge(const struct journey *j, const struct scene_run *run, double error,
                  double drift) {
    const struct ht_plan *plan = run->plan;
    double expected = plan->expected.error;
    double slack = 0.05; /* of the first order in the error, and of starting */
    TEST_BELOW(fabs(error / expected - 1), slack,
               "%s: error after %lld steps %.3g, expected %.3g; relative difference", j->name,
               (long long)run->done, error, expected);
    TEST_BELOW(fabs(drift), 2 * expected * (1 + slack + expected), "%s: drift of the energy",
               j->name);
    TEST_BELOW(drift, 0, "%s: which decays", j->name);
}

static enum ht_err travel(struct scene *scene, const struct journey *j, struct scene_run *run) {
    double growth = 0, kept = 1, start = 0, end = 0, error = 0;
    TRY(scene_open(scene, run, "%s time.end=108", j->text));
    TRY(scene_advance(run, 0));
    TRY(nodal_energy(run, &start));
    if (!j->walls) {
        TRY(watch(run, 108, &growth, &kept));
        TEST_BELOW(growth, 1, "%s: growth over rounding (E kept %.6f)", j->name, kept);
    }
    TRY(scene_finish(run, &error));
    TRY(nodal_energy(run, &end));
    judge(j, run, error, end / start - 1);
    return HT_OK;
}

static void travels(struct scene *scene) {
    for (size_t n = 0; n < sizeof journeys / sizeof *journeys; n++) {
        struct scene_run run;
        if (travel(scene, &journeys[n], &run) != HT_OK)
            TEST_CHECK(false, "%s: %s", journeys[n].name, ht_err_message());
        scene_close(&run);
    }
}

/* ---- data that no grid resolves ---- */

static void noise(struct scene *scene) {
    static const char *const rows[] = {
        "system=acoustic grid.cells=[12] grid.order=4",
        "system=acoustic grid.cells=[6,5] grid.order=3 medium.c=2 medium.rho=0.5",
        "system=acoustic grid.cells=[4,3,3] grid.order=2",
        "system=advection grid.cells=[12] grid.order=8 time.cfl=0.4",
        "system=advection grid.cells=[6,5] grid.order=4 medium.velocity=[1,-0.3]",
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        struct scene_run run;
        double growth = 0, kept = 1;
        enum ht_err err = scene_open(scene, &run, "%s initial.type=random time.end=2", rows[n]);
        if (err == HT_OK) err = watch(&run, run.plan->steps, &growth, &kept);
        if (err == HT_OK)
            TEST_BELOW(growth, 1,
                       "random data, %s: growth over rounding in any of %lld steps (E kept %.2g)",
                       rows[n], (long long)run.done, kept);
        else
            TEST_CHECK(false, "%s: %s", rows[n], ht_err_message());
        scene_close(&run);
    }
}

/* ---- single precision ---- */

static void single(struct scene *scene) {
    static const char *const rows[] = {
        "system=acoustic grid.order=3 initial.type=plane grid.cells=[8]",
        "system=acoustic grid.order=3 initial.type=plane grid.cells=[24]",
        "system=acoustic grid.order=2 initial.type=plane grid.cells=[48]",
        "system=acoustic grid.order=5 initial.type=plane grid.cells=[12]",
        "system=acoustic grid.order=4 initial.type=plane grid.cells=[9,9,9] initial.cycles=[0,0,3]",
        "system=acoustic grid.order=3 initial.type=plane grid.cells=[12,12] initial.cycles=[1,1]",
        ("system=advection grid.order=3 initial.type=plane grid.cells=[12,12] "
         "initial.cycles=[1,1] device.layout=blocked"),
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        const double floor = 1e-5; /* that the method is known for */
        if (strstr(rows[n], "[9,9,9]") && !test_all()) continue;
        struct scene_run run, exact;
        double error[2] = {0, 0};
        enum ht_err err = scene_open(scene, &run, "%s time.end=9 device.precision=single", rows[n]);
        if (err == HT_OK) err = scene_finish(&run, &error[0]);
        enum ht_err other = scene_open(scene, &exact, "%s time.end=9", rows[n]);
        if (other == HT_OK) other = scene_finish(&exact, &error[1]);
        if (err == HT_OK && other == HT_OK)
            TEST_BELOW(error[0], error[1] + fmin(scene_rounding(run.plan), floor),
                       "single precision, %s: error, %.1e in double", rows[n], error[1]);
        else
            TEST_CHECK(false, "%s: %s", rows[n], ht_err_message());
        scene_close(&run);
        scene_close(&exact);
    }
}

int main(void) {
    struct scene scene;
    if (scene_start(&scene)) {
        travels(&scene);
        noise(&scene);
        single(&scene);
        scene_end(&scene);
    }
    return test_end("long");
}
