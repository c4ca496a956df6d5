/* Frequencies of waves in layers whose faces are at 0, 45 and 26.57 degrees (tan 0, 1, 1/2) to the
 * grid: those of the plain engine with the fitted coefficients, without and with couplings
 * (src/fd/pair_faces.c), against the exact ones.
 *
 * Two layers of equal thickness repeat with the period T along n = (1, tilt)/|..|, in a periodic
 * box of N by N/tilt cells: the medium depends on m1 + tilt m2 alone. Waves exp(i k t) along the
 * faces have the phase `turns` turns over the box from a point to the next of its kind, (tilt, -1)
 * away, so that a step is a matrix of N points per field. `turns` is such that the waves of the
 * exact problem have the period T along n, too. */
#include "scene.h"
#include "src/fd/fd.h"

enum { MODES = 8, BOTH = 2 * MODES, SIZE = 4 };

static const struct medium {
    const char *name;
    bool elastic;
    double lambda[2], mu[2], rho[2]; /* of light mu is eps */
} media[] = {{"mild", true, {2, 4}, {1, 2.2}, {1, 1.3}},
             {"hard", true, {1, 9}, {0.3, 5}, {1, 2}},
             {"soft", true, {9.8, 9}, {0.1, 5}, {1, 2}},
             {"light, eps 1:4", false, {0}, {1, 4}, {1, 1}}};

/* Errors, root mean squares over the 8 lowest modes, at 3, 6 and 12 points per unit (of light 1.5
 * times as many per shortest wavelength), known from a program of its own for waves along the faces
 * and places of these that differ. Three are what is found here, where it had 4.7e-3 (hard), 1.6e-5
 * (light at 0 degrees), 1.5e-4 (light with couplings). So are, at 45 degrees, those of mild layers
 * with couplings and of hard ones at 12 points, where boxes hold parts of both media: that program
 * had none, and 6.6e-5, 1.1e-5, 2.7e-6 and 1.1e-3. */
static const struct row {
    int medium, tilt, cells; /* N at 3 points */
    double known[2][3];      /* without couplings, with them */
} rows[] = {
    {0, 0, 18, {{9.8e-5, 1.2e-5, 1.7e-6}}},
    {1, 0, 18, {{3.9e-3, 9.7e-4, 2.1e-4}}},
    {2, 0, 18, {{2.1e-2, 5.8e-3, 1.2e-3}}},
    {0, 1, 26, {{3.1e-4, 1.4e-4, 6.8e-5}, {1.1e-4, 2.3e-5, 5.1e-6}}},
    {1, 1, 26, {{6.4e-3, 2.6e-3, 1.5e-3}, {3.7e-3, 1.1e-3, 4.9e-4}}},
    {2, 1, 26, {{1e-2, 2.7e-3, 4.8e-4}, {1.1e-2, 2.8e-3, 5.2e-4}}},
    {3, 0, 27, {{4.3e-4, 2.3e-5, 4e-6}}},
    {3, 2, 60, {{2.6e-3, 1.1e-3, 5e-4}, {5.6e-4, 1.4e-4, 7e-5}}},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- exact frequencies ---- */

typedef double matrix[SIZE][SIZE];

/* y' = A y across a layer. Solids: displacements a cos(k t) along n and b sin(k t) along t,
 * stresses s cos(k t) and q sin(k t), y = (a, b, s, q). Light: y = (H3, 0, E_t times -i w, 0). */
static void find_rates(const struct medium *m, int layer, double k, double w, matrix A) {
    const double lambda = m->lambda[layer], mu = m->mu[layer], C = lambda + 2 * mu;
    const double inertia = m->rho[layer] * w * w;
    memset(A, 0, sizeof(matrix));
    if (m->elastic) {
        A[0][1] = -lambda * k / C;
        A[0][2] = 1 / C;
        A[1][0] = k;
        A[1][3] = 1 / mu;
        A[2][0] = -inertia;
        A[2][3] = -k;
        A[3][1] = k * k * (C - lambda * lambda / C) - inertia;
        A[3][2] = k * lambda / C;
    } else {
        A[0][2] = mu;
        A[2][0] = k * k / mu - w * w;
    }
}

static void multiply(matrix a, matrix b, matrix out) {
    matrix c = {{0}};
    for (int i = 0; i < SIZE * SIZE; i++)
        for (int l = 0; l < SIZE; l++) c[i / SIZE][i % SIZE] += a[i / SIZE][l] * b[l][i % SIZE];
    memcpy(out, c, sizeof c);
}

/* exp(d A) */
static void cross_layer(matrix A, double d, matrix out) {
    enum { HALVED = 8, TERMS = 12 };
    matrix term = {{0}};
    for (int i = 0; i < SIZE * SIZE; i++) {
        term[i / SIZE][i % SIZE] = out[i / SIZE][i % SIZE] = i / SIZE == i % SIZE;
        A[i / SIZE][i % SIZE] *= d / (1 << HALVED);
    }
    for (int n = 1; n <= TERMS; n++) {
        multiply(term, A, term);
        for (int i = 0; i < SIZE * SIZE; i++)
            out[i / SIZE][i % SIZE] += term[i / SIZE][i % SIZE] /= n;
    }
    for (int n = 0; n < HALVED; n++) multiply(out, out, out);
}

/* Modes are even or odd about the middles of the layers, where two of y are then 0: this is 0 if
 * half a period leads from such a y to such a y. */
static double miss(const struct medium *m, double T, double k, int odd, double w) {
    matrix A, first, Y;
    find_rates(m, 0, k, w, A);
    cross_layer(A, T / 4, first);
    find_rates(m, 1, k, w, A);
    cross_layer(A, T / 4, Y);
    multiply(Y, first, Y);
    if (!m->elastic) return odd ? Y[0][2] : Y[2][0];
    const int none[2] = {odd ? 1 : 0, odd ? 2 : 3}, some[2] = {odd ? 0 : 1, odd ? 3 : 2};
    return Y[none[0]][some[0]] * Y[none[1]][some[1]] - Y[none[0]][some[1]] * Y[none[1]][some[0]];
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const double step = 1.37e-3, still = 0.02; /* modes of frequency 0 are left out */

static void find_exact(const struct medium *m, double T, double k, double *out) {
    double all[BOTH];
    for (int i = 0; i < BOTH; i++) {
        double a = i % MODES ? all[i - 1] + step : still, b;
        while (miss(m, T, k, i / MODES, a) * miss(m, T, k, i / MODES, a + step) > 0) a += step;
        b = a + step;
        for (int n = 0; n < 45; n++) {
            const double middle = (a + b) / 2;
            const bool above = miss(m, T, k, i / MODES, a) * miss(m, T, k, i / MODES, middle) > 0;
            *(above ? &a : &b) = middle;
        }
        all[i] = a;
    }
    qsort(all, BOTH, sizeof *all, compare);
    memcpy(out, all, MODES * sizeof *out);
}

/* ---- frequencies of the scheme ---- */

/* A row's box at one resolution, and what a step does to waves: fields of one group, N points
 * each, with real and imaginary parts. */
struct box {
    const struct row *row;
    int N, across, turns, field[HT_MAX_FIELDS], size; /* size: of one part */
    bool coupled;
    double h, place; /* of a face, in spacings */
    struct ht_plan *plan;
    struct ht_stepper stepper;
    double *nodal[HT_MAX_FIELDS];
    double *values, *weight; /* a state; inverses of masses of the points */
};

static enum ht_err open_plan(struct box *b, struct ht_params **params) {
    const struct row *row = b->row;
    const struct medium *m = &media[row->medium];
    const double h = b->h;
    char layer[128], medium[SCENE_TEXT / 2], text[SCENE_TEXT];
    snprintf(layer, sizeof layer, "step(sin(2*pi*((x1+%d*x2)/%.17g-%.17g)))", row->tilt, b->N * h,
             b->place / b->N);
    if (m->elastic)
        snprintf(medium, sizeof medium,
                 "medium.lambda=\"%g+%.9g*%s\" medium.mu=\"%g+%.9g*%s\" medium.rho=\"%g+%.9g*%s\"",
                 m->lambda[0], m->lambda[1] - m->lambda[0], layer, m->mu[0], m->mu[1] - m->mu[0],
                 layer, m->rho[0], m->rho[1] - m->rho[0], layer);
    else
        snprintf(medium, sizeof medium, "medium.mu=1.0 medium.eps=\"%g+%.9g*%s\"", m->mu[0],
                 m->mu[1] - m->mu[0], layer);
    snprintf(text, sizeof text,
             "system=%s time.scheme=fd time.end=1 grid.order=8 grid.cells=[%d,%d] "
             "grid.upper=[%.17g,%.17g] initial.width=2 medium.type=expression medium.fit=sinc %s",
             m->elastic ? "elastic" : "maxwell", b->N, b->across, b->N * h, b->across * h, medium);
    TRY(scene_read(text, params));
    return ht_plan_create(*params, NULL, &b->plan);
}

/* The group whose waves are looked at: v, or H, of which H3 belongs to E in the plane. */
static int group_of(const struct box *b) {
    return media[b->row->medium].elastic ? 1 : 0;
}

static enum ht_err open_box(struct box *b, struct ht_params **params) {
    TRY(open_plan(b, params));
    struct ht_plan *plan = b->plan;
    const struct ht_tuning tuning = {.fp64 = true};
    const int64_t nodes = ht_grid_total(&plan->grid, HT_PRIMARY);
    struct ht_pair pair;
    plan->problem.fd.faces = b->coupled ? plan->faces : NULL;
    for (int group = 0; b->coupled && group < 2; group++) /* however many points are listed */
        plan->faces->listed[group].used = plan->faces->listed[group].count > 0;
    plan->problem.fd.wide = b->coupled;
    TRY(ht_oracle_create(&plan->problem, &b->stepper));
    TRY(ht_start(plan, NULL, &tuning, &b->stepper));
    ht_problem_pair(&plan->problem, &pair);
    TRY(HT_ALLOC(b->values, nodes * pair.nfields));
    TRY(HT_ALLOC(b->weight, nodes * pair.nfields));
    for (int f = 0; f < pair.nfields; f++) {
        TRY(HT_ALLOC(b->nodal[f], nodes));
        const bool ours = media[b->row->medium].elastic || f == ht_equations_field(&plan->eq, "H3");
        if (!(pair.group[group_of(b)] >> f & 1u) || !ours) continue;
        double *weight = b->weight + b->size / b->N * nodes;
        for (int64_t n = 0; n < nodes; n++) weight[n] = 1;
        for (int c = 0; group_of(b) == 1 && c < pair.ncoefficients; c++)
            if (pair.coefficient[c].row == f)
                TRY(plan->problem.fd.fill(plan->problem.fd.medium, c, 0, 1, weight));
        b->field[b->size / b->N] = f;
        b->size += b->N;
    }
    return HT_OK;
}

static void close_box(struct box *b, struct ht_params *params) {
    for (int f = 0; f < HT_MAX_FIELDS; f++) free(b->nodal[f]);
    free(b->values);
    free(b->weight);
    ht_stepper_destroy(&b->stepper);
    ht_plan_destroy(b->plan);
    ht_params_destroy(params);
}

/* Columns `col`, of the real and the imaginary part, of the symmetric matrix of the frequencies'
 * squares: from v alone a step, or two of the group that changes first, leads to v - dt^2 L v. */
static enum ht_err find_columns(struct box *b, int col, double *a) {
    const struct ht_grid *grid = &b->plan->grid;
    const int64_t nodes = ht_grid_total(grid, HT_PRIMARY), n = b->N, tilt = b->row->tilt;
    const double turn = 2 * acos(-1.0) * b->turns / b->across, dt = b->plan->problem.dt;
    double *values = b->values + b->field[col / n] * nodes;
    for (int part = 0; part < 2; part++) {
        for (int64_t s = 0; s < b->across; s++) {
            const int64_t m1 = (col + tilt * s) % n;
            const int64_t m2 = tilt > 0 ? (b->across - s) % b->across : s;
            values[m2 * n + m1] = part ? sin(turn * (double)s) : cos(turn * (double)s);
        }
        TRY(b->stepper.ops->put(b->stepper.self, HT_PRIMARY, 0, 1, b->values));
        TRY(ht_stepper_advance(&b->stepper, group_of(b) == 1 ? 1 : 2));
        TRY(ht_nodal_read(b->plan, &b->stepper, b->nodal));
        for (int64_t row = 0; row < b->size; row++) {
            const double to = b->weight[row / n * nodes + row % n];
            const double from = b->weight[col / n * nodes + col % n];
            const double y = (part == 0 && row == col) - b->nodal[b->field[row / n]][row % n];
            const double entry = y / (dt * dt) * sqrt(from / to);
            for (int64_t i = 0; i < 2; i++)
                a[((i ^ part) * b->size + row) * 2 * b->size + i * b->size + col] =
                    part && i ? -entry : entry;
        }
        for (int64_t m = 0; m < nodes; m++) values[m] = 0;
    }
    return HT_OK;
}

static enum ht_err find_modes(struct box *b, double out[MODES]) {
    struct ht_params *params = NULL;
    double *a = NULL, *V = NULL;
    int first = 0;
    enum ht_err err = open_box(b, &params);
    const int n = 2 * b->size;
    if (err == HT_OK) err = HT_ALLOC(a, n * n);
    if (err == HT_OK) err = HT_ALLOC(V, n * n);
    for (int col = 0; err == HT_OK && col < b->size; col++) err = find_columns(b, col, a);
    if (err == HT_OK) {
        ht_eigen(n, a, V);
        for (int i = 0; i < n; i++) V[i] = sqrt(fmax(a[i * n + i], 0));
        qsort(V, (size_t)n, sizeof *V, compare);
        while (V[first] < still) first++;
        for (int i = 0; i < MODES; i++) out[i] = V[first + 2 * i]; /* each is there twice */
    }
    free(a);
    free(V);
    close_box(b, params);
    return err;
}

/* ---- errors ---- */

/* Over modes, waves along the faces and places of these, midway between the points, 16 per spacing,
 * at which the fit takes values of expressions there. */
static enum ht_err find_error(const struct row *row, int resolution, bool coupled, double *error) {
    const struct medium *m = &media[row->medium];
    const int tilt = row->tilt, most = 1 + tilt * tilt, places = tilt == 0 ? 4 : 2;
    const double h = 1. / (3 << resolution), apart = h * sqrt(most);
    struct box box = {.row = row, .N = row->cells << resolution, .coupled = coupled, .h = h};
    double sum = 0;
    int count = 0;
    box.across = tilt > 0 ? box.N / tilt : box.N;
    for (int turns = m->elastic || tilt == 0 ? most : 0; turns <= most; turns += most) {
        double exact[MODES], found[MODES];
        find_exact(m, box.N * h / sqrt(most), 2 * acos(-1.0) * turns / box.across / apart, exact);
        for (int i = 0; i < places; i++) {
            struct box one = box;
            one.turns = turns;
            one.place = (tilt == 1 ? 5 / 32. : 0) + 0.25 * i;
            TRY(find_modes(&one, found));
            for (int j = 0; j < MODES; j++, count++) sum += pow(found[j] / exact[j] - 1, 2);
        }
    }
    *error = sqrt(sum / count);
    return HT_OK;
}

static void judge(const struct row *row, int resolutions) {
    static const char *const face[] = {"0 degrees", "45 degrees", "26 degrees"};
    const char *name = media[row->medium].name;
    for (int coupled = 0; coupled < (row->tilt ? 2 : 1); coupled++) {
        double before = 0;
        for (int i = 0; i < resolutions; i++) {
            double error = 0, order;
            if (find_error(row, i, coupled, &error) != HT_OK) {
                TEST_CHECK(false, "%s: %s", name, ht_err_message());
                return;
            }
            TEST_BELOW(error / row->known[coupled][i], 1.3,
                       "%s, %s, %d points per unit%s: error %.2e, over the known one", name,
                       face[row->tilt], 3 << i, coupled ? ", coupled" : "", error);
            order = log2(before / error);
            if (i > 0 && coupled && row->medium == 0)
                TEST_CHECK(order >= 1.8, "order %.2f (at least 1.8)", order);
            before = error;
        }
    }
}

int main(void) {
    static const int quick[ROWS] = {[3] = 2, [7] = 1}; /* the rest takes minutes */
    for (int i = 0; i < ROWS; i++) judge(&rows[i], test_all() ? 3 : quick[i]);
    return test_end("tilted");
}
