/* The bound of the largest omega^2 of staggered first-order systems (src/fd/fd_bound.c).
 *   - No less than Rayleigh's quotient after power iterations of the formulas, computed here: in
 *     random media of contrast 10, 30 % of them fluid for solids, systems x dimensions x orders,
 *     periodic and between walls; and not far above it.
 *   - Within some per cent of it in smooth media.
 *   - What theory says in uniform media, whatever the spacings. */

#include "must.h"

#include "htwave/problem.h"

enum { MOST_NODES = 64 }; /* along an axis */
enum medium { ROUGH, SMOOTH, UNIFORM };
struct image {
    int64_t node;
    double sign;
};
struct scene {
    struct ht_equations eq;
    struct ht_pair pair;
    struct ht_grid grid;
    struct ht_problem problem;
    enum medium medium;
    double contrast[2]; /* of the coefficients of each group, largest over least */
    double uniform[4];  /* materials */
    int order;
    int64_t n[3], nodes;
    double *coefficient[HT_MAX_TERMS];
    struct image image[3][2][MOST_NODES + 2 * HT_FD_RADIUS]; /* [axis][half][R + m] */
};

/* In [0, 1], at a point of a coefficient. */
static double pattern(const struct scene *s, int salt, unsigned parity, const int64_t m[3]) {
    const int64_t node = (m[2] * s->n[1] + m[1]) * s->n[0] + m[0];
    double x = 0.5;
    if (s->medium == ROUGH)
        return 0.5 + 0.5 * ht_rng_uniform(11 + (uint64_t)salt, 64 * (uint64_t)node + parity);
    for (int k = 0; k < 3 && k < s->grid.dims; k++)
        x += 0.16 * cos(2 * acos(-1.0) * ((double)m[k] + 0.5 * (parity >> k & 1u)) /
                        (double)s->grid.cells[k]);
    return x;
}

/* Of a solid: lambda and mu come from points of their own, lambda + 2 mu is their sum. */
static double value_of(const struct scene *s, int c, const int64_t m[3]) {
    const struct ht_pair_coefficient *of = &s->pair.coefficient[c];
    const bool first = s->pair.group[0] >> of->row & 1u;
    const double spread = log(s->contrast[first ? 0 : 1]);
    if (s->medium == UNIFORM) return s->uniform[of->material];
    if (strcmp(s->eq.system->name, "elastic") != 0 || of->material == 0)
        return exp(spread * pattern(s, c, of->parity, m));
    const double lambda = exp(spread * pattern(s, 20, of->parity, m));
    const double fluid = s->medium == ROUGH ? pattern(s, 21, of->parity, m) : 1;
    const double mu = fluid < 0.3 ? 0 : exp(spread * pattern(s, 22, of->parity, m)) / 2;
    return of->material == 1 ? lambda + 2 * mu : of->material == 2 ? lambda : mu;
}

/* The node of the grid that a point stands for, half a spacing up or not, and the sign of a field
 * there. */
static struct image image_of(const struct scene *s, int64_t half, int axis, int64_t m) {
    const int64_t n = s->n[axis];
    const int factor = s->grid.wall[axis][0];
    struct image image = {.node = m, .sign = 1};
    if (factor == 0) image.node = (m % n + n) % n;
    while (image.node < 0 || image.node >= n - (factor != 0 ? half : 0)) {
        image.node = image.node < 0 ? -image.node - half : 2 * (n - 1) - half - image.node;
        image.sign *= half ? -factor : factor;
    }
    return image;
}

static enum ht_err fill(const void *context, int what, int64_t first, int64_t last, double *out) {
    const struct scene *s = context;
    const unsigned parity = s->pair.coefficient[what].parity;
    for (int64_t m3 = first; m3 < last; m3++)
        for (int64_t m2 = 0; m2 < s->n[1]; m2++)
            for (int64_t m1 = 0; m1 < s->n[0]; m1++) {
                const int64_t m[3] = {image_of(s, parity & 1u, 0, m1).node,
                                      image_of(s, parity >> 1 & 1u, 1, m2).node,
                                      image_of(s, parity >> 2 & 1u, 2, m3).node};
                *out++ = value_of(s, what, m);
            }
    return HT_OK;
}

static void make(struct scene *s, const char *system, int dims, int order, int wall,
                 enum medium medium, const int64_t cells[3], double first, double second) {
    *s = (struct scene){.medium = medium, .order = order, .contrast = {first, second}};
    s->eq = ht_equations_make(ht_system_find(system), dims);
    TEST_CHECK(ht_pair_make(&s->eq, HT_PAIR_APART, &s->pair) == NULL, "%s has pairs", system);
    s->grid = (struct ht_grid){.dims = dims};
    for (int k = 0; k < 3; k++) {
        s->grid.cells[k] = k < dims ? cells[k] : 1;
        s->grid.h[k] = k < dims ? 1 + 0.25 * k : 1;
        for (int side = 0; side < 2; side++) s->grid.wall[k][side] = k < dims ? wall : 0;
        s->n[k] = ht_grid_nodes(&s->grid, HT_PRIMARY, k);
    }
    s->nodes = ht_grid_total(&s->grid, HT_PRIMARY);
    s->problem = (struct ht_problem){
        .eq = &s->eq, .grid = &s->grid, .fd = {.order = order, .fill = fill, .medium = s}};
    for (int i = 0; i < 6; i++)
        for (int64_t m = -HT_FD_RADIUS; m < s->n[i / 2] + HT_FD_RADIUS; m++)
            s->image[i / 2][i % 2][HT_FD_RADIUS + m] = image_of(s, i % 2, i / 2, m);
    for (int c = 0; c < s->pair.ncoefficients; c++) {
        s->coefficient[c] = calloc((size_t)s->nodes, sizeof(double));
        must(fill(s, c, 0, s->n[2], s->coefficient[c]));
    }
}

static void unmake(struct scene *s) {
    for (int c = 0; c < s->pair.ncoefficients; c++) free(s->coefficient[c]);
}

/* ---- omega^2 from below ---- */

/* The fields of a group from those of the other one. */
static void apply(const struct scene *s, int group, double *const *field) {
    const struct ht_fd_weights w = ht_fd_weights(s->order);
    const int64_t step[3] = {1, s->n[0], s->n[0] * s->n[1]};
    for (int f = 0; f < s->pair.nfields; f++)
        if (s->pair.group[group] >> f & 1u)
            memset(field[f], 0, (size_t)s->nodes * sizeof *field[f]);
    for (const struct ht_pair_term *t = s->pair.term; t < s->pair.term + s->pair.nterms; t++) {
        if (!(s->pair.group[group] >> t->row & 1u)) continue;
        const int up = ht_pair_up(&s->pair, t->col, t->axis);
        const double *coefficient = s->coefficient[t->coefficient], *from = field[t->col];
        for (int j = 0; j < w.radius; j++) {
            const double weight = w.first[j] * t->factor / s->grid.h[t->axis];
            const struct image *plus = s->image[t->axis][!up] + HT_FD_RADIUS + up + j;
            const struct image *minus = s->image[t->axis][!up] + HT_FD_RADIUS - 1 + up - j;
            for (int64_t i = 0; i < s->nodes; i++) {
                const int64_t m = i / step[t->axis] % s->n[t->axis];
                const double above = plus[m].sign * from[i + (plus[m].node - m) * step[t->axis]];
                const double below = minus[m].sign * from[i + (minus[m].node - m) * step[t->axis]];
                field[t->row][i] += coefficient[i] * weight * (above - below);
            }
        }
    }
}

/* With these L is symmetric: 0 behind walls, half at nodes on them. */
static double weight_of(const struct scene *s, int field, int64_t i) {
    double weight = 0;
    for (int c = 0; c < s->pair.ncoefficients; c++)
        if (s->pair.coefficient[c].row == field && s->pair.coefficient[c].col == field)
            weight = 1 / s->coefficient[c][i];
    for (int k = 0; k < s->grid.dims; k++) {
        const int64_t m = i % s->n[k];
        i /= s->n[k];
        if (s->grid.wall[k][0] == 0) continue;
        if (s->pair.parity[field] >> k & 1u)
            weight *= m < s->n[k] - 1;
        else if (m == 0 || m == s->n[k] - 1)
            weight /= 2;
    }
    return weight;
}

/* The second group's fields have coefficients of their own: Rayleigh's quotient of -L on it. */
static double from_below(const struct scene *s, int count) {
    double *field[HT_MAX_FIELDS], *before[HT_MAX_FIELDS], value = 0;
    for (int f = 0; f < s->pair.nfields; f++) {
        field[f] = calloc((size_t)s->nodes, sizeof(double));
        before[f] = calloc((size_t)s->nodes, sizeof(double));
        for (int64_t i = 0; i < s->nodes; i++)
            field[f][i] = ht_rng_uniform(5 + (unsigned)f, (uint64_t)i);
    }
    for (int n = 0; n < count; n++) {
        double xx = 0, xy = 0, norm = 0;
        for (int f = 0; f < s->pair.nfields; f++)
            memcpy(before[f], field[f], (size_t)s->nodes * sizeof(double));
        apply(s, 0, field);
        apply(s, 1, field);
        for (int f = 0; f < s->pair.nfields; f++)
            for (int64_t i = 0; s->pair.group[1] >> f & 1u && i < s->nodes; i++) {
                const double weight = n == 0 || n == count - 1 ? weight_of(s, f, i) : 0;
                xx += weight * before[f][i] * before[f][i];
                xy -= weight * before[f][i] * field[f][i];
                norm = fmax(norm, fabs(field[f][i]));
            }
        if (n > 0) value = fmax(value, xx > 0 ? xy / xx : 0); /* n = 0: also on odd walls */
        for (int f = 0; f < s->pair.nfields; f++)
            for (int64_t i = 0; i < s->nodes; i++) field[f][i] /= norm;
    }
    for (int f = 0; f < s->pair.nfields; f++) {
        free(field[f]);
        free(before[f]);
    }
    return value;
}

/* gap: the most that the bound may lie above. */
static void test_bound(const char *name, struct scene *s, int count, double gap) {
    double most = NAN, range[HT_MAX_TERMS][2];
    must(ht_pair_bound(&s->problem, &s->pair, range, &most));
    const double below = from_below(s, count);
    TEST_CHECK(below <= most * (1 + 1e-12) && most <= gap * below,
               "%s, %d-D, order %d, %s, %s: the bound is %.4f times omega^2, at most %.3f", name,
               s->grid.dims, s->order, s->grid.wall[0][0] == 0 ? "periodic" : "walls",
               s->medium == ROUGH ? "rough" : "smooth", most / below, gap);
    unmake(s);
}

static void test_rough(const char *system) {
    static const int64_t cells[3] = {8, 6, 10};
    static const int orders[3] = {2, 8, 16};
    static const double gaps[2][3] = {{1.1, 1.1, 1.8}, {1.16, 1.16, 1.8}};
    const int largest = ht_system_largest(ht_system_find(system));
    for (int i = 0; i < 9 * largest; i++) {
        const int dims = 1 + i / 9, wall = i % 3 < 2 ? i % 3 : -1;
        const bool curl = dims == 3 && strcmp(system, "maxwell") == 0;
        struct scene s;
        make(&s, system, dims, orders[i / 3 % 3], wall, ROUGH, cells, 10, 10);
        test_bound(system, &s, 200, gaps[curl][i % 3]);
    }
}

/* The other group's coefficient of a curl is constant. */
static void test_smooth(const char *system, int dims) {
    static const int64_t cells[3][3] = {{60, 1, 1}, {32, 32, 1}, {14, 14, 14}};
    struct scene s;
    const bool curl = dims == 3 && strcmp(system, "maxwell") == 0;
    make(&s, system, dims, 8, 0, SMOOTH, cells[dims - 1], curl ? 1 : 2, 2);
    test_bound(system, &s, 200, dims < 3 ? 1.06 : 1.12);
}

/* Uniform media by coefficients and by materials; rate: omega^2 over the sum of (S/h)^2. */
static void test_uniform(const char *system, const double material[4], double rate) {
    static const int64_t cells[3] = {9, 8, 7};
    const int largest = ht_system_largest(ht_system_find(system));
    for (int i = 0; i < 6 * largest; i++) {
        HT_ENDED(unmake) struct scene s;
        double most[2] = {0}, sum = 0, squares = 0, range[HT_MAX_TERMS][2];
        make(&s, system, 1 + i / 6, i % 6 < 3 ? 4 : 16, i % 3 - 1, UNIFORM, cells, 1, 1);
        const struct ht_fd_weights w = ht_fd_weights(s.order);
        for (int j = 0; j < w.radius; j++) sum += 2 * fabs(w.first[j]);
        for (int k = 0; k < s.grid.dims; k++) squares += pow(sum / s.grid.h[k], 2);
        for (int m = 0; m < 4; m++) s.uniform[m] = s.problem.uniform[m] = material[m];
        must(ht_pair_bound(&s.problem, &s.pair, range, &most[0]));
        s.problem.fd.fill = NULL;
        must(ht_pair_bound(&s.problem, &s.pair, range, &most[1]));
        for (int j = 0; j < 2; j++)
            TEST_BELOW(fabs(most[j] / (rate * squares) - 1), 1e-12,
                       "%s, %d-D, order %d, uniform%s: off theory", system, s.grid.dims, s.order,
                       j == 0 ? "" : " materials");
    }
}

int main(void) {
    static const char *const systems[] = {"acoustic", "maxwell", "maxwell_tm", "elastic"};
    for (int i = 0; i < 4; i++) {
        test_rough(systems[i]);
        for (int dims = 1; dims <= ht_system_largest(ht_system_find(systems[i])); dims++)
            test_smooth(systems[i], dims);
    }
    test_uniform("acoustic", (const double[]){3, 0.5, 0, 0}, 1.5);
    test_uniform("maxwell", (const double[]){0.7, 2, 0, 0}, 1.4);
    test_uniform("maxwell_tm", (const double[]){0.7, 2, 0, 0}, 1.4);
    test_uniform("elastic", (const double[]){0.5, 5, 3, 1}, 2.5);
    test_uniform("elastic", (const double[]){0.5, 3, 3, 0}, 1.5);
    test_uniform("elastic", (const double[]){0.5, 1.6, -0.4, 1}, 0.8);
    return test_end("pair_bound");
}
