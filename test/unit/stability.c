/* The stability table against a second analysis.
 *
 * The second analysis shares no code with tools/stability.py: the half step column by column as a
 * dense complex matrix, stage by stage, spectral radius as |S^(2^30)|^(1/2^30) by repeated
 * squaring. A tabulated number must be stable at sampled angles, and 0.03 more must not be: the
 * table holds a margin of 0.01 to 0.02 and was found in steps of 0.005. Symmetry lines are sampled
 * finely besides, with less resolution of growth: unstable bands are narrow, but what grows there
 * grows fast. */
#include <complex.h>

#include "htwave/num.h"
#include "test.h"

#define PI 3.14159265358979323846
#define GROWTH 1e-7 /* per half step: what the table calls unstable */
#define PAIR_GROWTH 1e-6
#define SQUARINGS 30
#define FINE_SQUARINGS 17
#define FINE_GROWTH (log(1e4) / (1 << FINE_SQUARINGS))
#define MAX_SIZE 48 /* unknowns: 2-D waves at N = 3 */
#define MAX_CELL 256

struct symbol {
    enum ht_symbol kind;
    int dims, order, stages;
    int fields, cell, size; /* cell = (2N+2)^dims, size = fields (N+1)^dims */
    double hermite[4 * (HT_MAX_ORDER + 1) * (HT_MAX_ORDER + 1)];
};

static int power(int base, int exponent) {
    return exponent ? base * power(base, exponent - 1) : 1;
}

static struct symbol symbol_of(enum ht_symbol kind, int dims, int order, int stages) {
    int fields = kind == HT_SYMBOL_WAVE ? 1 + dims : kind == HT_SYMBOL_PAIR ? 2 : 1;
    struct symbol s;
    ht_hermite_matrix(order, s.hermite);
    s.kind = kind;
    s.dims = dims;
    s.order = order;
    s.stages = stages;
    s.fields = fields;
    s.cell = power(2 * order + 2, dims);
    s.size = fields * power(order + 1, dims);
    return s;
}

/* Index of axis k in the flat index of a tensor with n entries per axis. */
static int digit(int flat, int k, int n) {
    return flat / power(n, k) % n;
}

static double complex interpolation(const struct symbol *s, const double *theta, int cell,
                                    int node) {
    int m = s->order + 1;
    double complex product = 1;
    for (int k = 0; k < s->dims; k++) {
        const double *row = &s->hermite[(int64_t)digit(cell, k, 2 * m) * 2 * m];
        int i = digit(node, k, m);
        product *= row[i] * cexp(-0.5 * I * theta[k]) + row[m + i] * cexp(0.5 * I * theta[k]);
    }
    return product;
}

/* The same for u_t = v, v_t = lap u. */
static void pair_generator(const struct symbol *s, const double complex *w, double complex *out) {
    int n = 2 * s->order + 2;
    for (int a = 0; a < s->cell; a++) {
        out[a] = w[s->cell + a];
        out[s->cell + a] = 0;
    }
    for (int k = 0; k < s->dims; k++)
        for (int a = 0; a < s->cell; a++) {
            int j = digit(a, k, n);
            if (j + 2 < n) out[s->cell + a] += (j + 1) * (j + 2) * w[a + 2 * power(n, k)];
        }
}

/* out = L w in units of h/c */
static void generator(const struct symbol *s, const double complex *w, double complex *out) {
    int n = 2 * s->order + 2;
    bool wave = s->kind == HT_SYMBOL_WAVE;
    for (int a = 0; a < s->fields * s->cell; a++) out[a] = 0;
    for (int k = 0; k < s->dims; k++)
        for (int a = 0; a < s->cell; a++) {
            int j = digit(a, k, n), next = a + power(n, k);
            if (j == n - 1) continue;
            int other = wave ? (1 + k) * s->cell : 0;
            out[a] -= (j + 1) * w[other + next];
            if (wave) out[other + a] -= (j + 1) * w[next];
        }
}

/* One column of S: the response to unknown `column`. */
static void symbol_column(const struct symbol *s, const double *theta, double cfl, int column,
                          double complex *matrix) {
    int m = s->order + 1, nodes = s->size / s->fields, n = 2 * m;
    int count = s->fields * s->cell;
    double complex b[MAX_CELL] = {0}, w[MAX_CELL], lw[MAX_CELL];
    for (int a = 0; a < s->cell; a++)
        b[column / nodes * s->cell + a] = interpolation(s, theta, a, column % nodes);
    memcpy(w, b, sizeof w);
    for (int k = s->stages; k > 0; k--) {
        if (s->kind == HT_SYMBOL_PAIR)
            pair_generator(s, w, lw);
        else
            generator(s, w, lw);
        for (int a = 0; a < count; a++) w[a] = b[a] + cfl / 2 / k * lw[a];
    }
    for (int row = 0; row < s->size; row++) {
        int cell = 0, degree = 0;
        for (int k = 0; k < s->dims; k++) {
            int i = digit(row % nodes, k, m);
            cell += i * power(n, k);
            degree += i - digit(column % nodes, k, m);
        }
        matrix[row * s->size + column] = w[row / nodes * s->cell + cell] * pow(0.35, degree);
    }
}

/* log of the spectral radius of an n x n matrix, which is overwritten. */
static double log_radius(int n, double complex *a) {
    static double complex b[MAX_SIZE * MAX_SIZE];
    double log_scale = 0;
    for (int turn = 0; turn < SQUARINGS; turn++) {
        double norm = DBL_MIN;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double complex sum = 0;
                for (int k = 0; k < n; k++) sum += a[i * n + k] * a[k * n + j];
                b[i * n + j] = sum;
                norm = fmax(norm, cabs(sum));
            }
        for (int i = 0; i < n * n; i++) a[i] = b[i] / norm;
        log_scale = 2 * log_scale + log(norm);
    }
    return ldexp(log_scale, -SQUARINGS);
}

static double symbol_growth(const struct symbol *s, const double *theta, double cfl) {
    static double complex a[MAX_SIZE * MAX_SIZE];
    int n = s->size;
    for (int c = 0; c < n; c++) symbol_column(s, theta, cfl, c, a);
    return log_radius(n, a);
}

/* Largest growth over a lattice of angles; by symmetry theta_1 >= |theta_2|
 * >= |theta_3|, and signs matter for advection only. */
static double worst_growth(const struct symbol *s, double cfl, int points) {
    double worst = -1;
    bool wave = s->kind != HT_SYMBOL_ADVECTION;
    for (int a = 0; a <= points; a++) {
        int top_b = s->dims > 1 ? a : 0;
        for (int b = wave ? 0 : -top_b; b <= top_b; b++) {
            int top_c = s->dims > 2 ? abs(b) : 0;
            for (int c = wave ? 0 : -top_c; c <= top_c; c++) {
                double theta[3] = {PI * a / points, PI * b / points, PI * c / points};
                worst = fmax(worst, symbol_growth(s, theta, cfl));
            }
        }
    }
    return worst;
}

static void check_stable(const struct symbol *s, double cfl, int points) {
    static const char *const names[] = {"advection", "wave", "pair"};
    double allowed = s->kind == HT_SYMBOL_PAIR ? PAIR_GROWTH : GROWTH;
    if (cfl > 0)
        TEST_BELOW(worst_growth(s, cfl, points), 1.5 * allowed,
                   "%s %d-D N=%d q=%d: growth at cfl %.2f", names[s->kind], s->dims, s->order,
                   s->stages, cfl);
}

/* Stable at the cfl of the table, not at 0.03 more. */
static void check_entry(enum ht_symbol kind, int dims, int order, int stages) {
    struct symbol s = symbol_of(kind, dims, order, stages);
    double allowed = kind == HT_SYMBOL_PAIR ? PAIR_GROWTH : GROWTH;
    int points = dims == 1 ? 96 : dims == 2 ? 16 : 6;
    double cfl = ht_stability_cfl(kind, dims, order, stages);
    check_stable(&s, cfl, points);
    if (cfl >= 0.97) return;
    double above = fmax(cfl + 0.03, 0.08);
    double growth = worst_growth(&s, above, points);
    TEST_CHECK(growth > allowed, "... growth at cfl %.2f: %.3g (more than %.3g)", above, growth,
               allowed);
}

static void check_table(void) {
    for (int kind = 0; kind < 2; kind++) {
        for (int n = 1; n <= 4; n++)
            for (int q = 1; q <= 2 * n + 1; q++) check_entry((enum ht_symbol)kind, 1, n, q);
        for (int q = 1; q <= 6; q++) check_entry((enum ht_symbol)kind, 2, 1, q);
    }
    check_entry(HT_SYMBOL_WAVE, 3, 1, 3);
    for (int n = 1; n <= 5; n++)
        check_entry(HT_SYMBOL_PAIR, 1, n, ht_stability_full(HT_SYMBOL_PAIR, 1, n));
    for (int n = 6; n <= HT_MAX_ORDER; n++) { /* above, bands are narrow */
        int full = ht_stability_full(HT_SYMBOL_PAIR, 1, n);
        struct symbol s = symbol_of(HT_SYMBOL_PAIR, 1, n, full);
        check_stable(&s, ht_stability_cfl(HT_SYMBOL_PAIR, 1, n, full), 96);
    }
    check_entry(HT_SYMBOL_PAIR, 2, 1, ht_stability_full(HT_SYMBOL_PAIR, 2, 1));
    check_entry(HT_SYMBOL_PAIR, 2, 2, ht_stability_full(HT_SYMBOL_PAIR, 2, 2));
}

/* ---- leapfrog ---- */

/* log of the spectral radius of a full step: old_sign -1 with the even series of the pair from u to
 * u. */
static double leapfrog_growth(int dims, int order, const double *theta, double cfl) {
    static double complex half[MAX_SIZE * MAX_SIZE], a[MAX_SIZE * MAX_SIZE];
    int stages = ht_stability_full(HT_SYMBOL_LEAPFROG_EVEN, dims, order);
    struct symbol s = symbol_of(HT_SYMBOL_PAIR, dims, order, stages);
    int n = s.size, m = n / 2;
    for (int c = 0; c < m; c++) symbol_column(&s, theta, cfl, c, half);
    /* w' = -w + S u, u' = -u + S w' in the block form [u; w]. */
    memset(a, 0, sizeof a);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            double complex square = 0;
            for (int k = 0; k < m; k++) square += 4 * half[i * n + k] * half[k * n + j];
            a[i * n + j] = square - (i == j);
            a[i * n + m + j] = -2 * half[i * n + j];
            a[(m + i) * n + j] = 2 * half[i * n + j];
        }
        a[(m + i) * n + m + i] = -1;
    }
    return log_radius(n, a);
}

/* Stable up to the limit for all steps, not just there. */
static void check_leapfrog(void) {
    for (int dims = 1; dims <= 2; dims++)
        for (int order = 1; order <= (dims == 1 ? 6 : 2); order++) {
            double worst = -1, limit = 0.99;
            for (int c = 1; c <= 9; c++)
                for (int t = 1; t <= 24; t++) {
                    double theta[3] = {PI * t / 24, PI * (t * 7 % 25) / 24, 0};
                    worst = fmax(worst, leapfrog_growth(dims, order, theta, limit * c / 9));
                }
            TEST_BELOW(worst, GROWTH, "leapfrog %d-D N=%d: growth up to cfl %g", dims, order,
                       limit);
        }
    TEST_CHECK(ht_stability_cfl(HT_SYMBOL_LEAPFROG_ODD, 3, 2, 13) == 0.99 &&
                   ht_stability_cfl(HT_SYMBOL_LEAPFROG_ODD, 3, 2, 12) == 0,
               "leapfrog: full stages only (2dN + 1 = 13)");
}

/* ---- fine lines ---- */

/* Exponent of i in the factor of unknown `a` that makes S of waves real. */
static int real_phase(const struct symbol *s, int a) {
    int m = s->order + 1, nodes = s->size / s->fields;
    int phase = a >= nodes ? 1 : 0;
    for (int k = 0; k < s->dims; k++) phase -= digit(a % nodes, k, m);
    return phase;
}

/* S as a real matrix: that of waves scaled, else real and imaginary parts as unknowns of their own.
 * Returns its size. */
static int real_symbol(const struct symbol *s, const double *theta, double cfl, double *out) {
    static const double complex unit[4] = {1, I, -1, -I};
    static double complex a[MAX_SIZE * MAX_SIZE];
    int n = s->size, wave = s->kind == HT_SYMBOL_WAVE;
    int size = wave ? n : 2 * n;
    for (int c = 0; c < n; c++) symbol_column(s, theta, cfl, c, a);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double complex x = a[i * n + j];
            double *at = &out[i * size + j];
            if (wave) {
                int turn = real_phase(s, i) - real_phase(s, j) + 4 * n;
                *at = creal(x * unit[turn % 4]);
                continue;
            }
            at[0] = at[n * size + n] = creal(x);
            at[n] = -cimag(x);
            out[(n + i) * size + j] = cimag(x);
        }
    return size;
}

/* b = a a / its largest entry; the log of that */
static double real_square(int n, const double *a, double *b) {
    double norm = DBL_MIN;
    memset(b, 0, (size_t)n * (size_t)n * sizeof *b);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++) b[i * n + j] += a[i * n + k] * a[k * n + j];
        for (int j = 0; j < n; j++) norm = fmax(norm, fabs(b[i * n + j]));
    }
    for (int i = 0; i < n * n; i++) b[i] /= norm;
    return log(norm);
}

/* log |S^n|/n, n = 2^17, or earlier when it is below 1/1e3 or above 1e9. */
static double fine_growth(const struct symbol *s, const double *theta, double cfl) {
    static double work[2][4 * MAX_SIZE * MAX_SIZE];
    int turn = 0, n = real_symbol(s, theta, cfl, work[0]);
    double log_norm = 0;
    while (turn < FINE_SQUARINGS && log_norm < log(1e9) && log_norm > log(1e-3)) {
        double by = real_square(n, work[turn % 2], work[1 - turn % 2]);
        log_norm = 2 * log_norm + by;
        turn++;
    }
    return ldexp(log_norm, -turn);
}

/* The lines (t, 0), (t, t), (t, pi), (t, -t), in one dimension t. */
static double line_growth(const struct symbol *s, double cfl, int points) {
    bool wave = s->kind == HT_SYMBOL_WAVE;
    int lines = s->dims == 1 ? 1 : wave ? 3 : 4;
    double worst = -1;
    for (int n = 1; n <= points; n++)
        for (int line = 0; line < lines; line++) {
            double t = PI * n / points;
            double theta[3] = {t, ((double[]){0, t, PI, -t})[line], 0};
            worst = fmax(worst, fine_growth(s, theta, cfl));
        }
    return worst;
}

/* All stages of one order, at the cfl of the table and less. Powers of a stable S stay below 1e4.
 */
static void check_fine(enum ht_symbol kind, int dims, int order, int points) {
    static const double part[] = {1, 0.95, 0.8};
    int bad = 0, full = ht_stability_full(kind, dims, order);
    double most = -1, at = 0;
    for (int q = 1; q < full; q++) {
        struct symbol s = symbol_of(kind, dims, order, q);
        double cfl = ht_stability_cfl(kind, dims, order, q);
        for (int n = 0; cfl > 0 && n < (s.size > 30 ? 1 : 3); n++) {
            double growth = line_growth(&s, part[n] * cfl, points);
            if (growth > most) bad = q, most = growth, at = part[n] * cfl;
        }
    }
    TEST_BELOW(most, FINE_GROWTH,
               "%s %d-D N=%d, %d points a line: largest growth, with %d stages at cfl %.3f",
               kind == HT_SYMBOL_WAVE ? "wave" : "advection", dims, order, points, bad, at);
}

/* In one dimension waves are advection both ways. */
static void check_lines(void) {
    static const int points[] = {100, 64, 20};
    for (int n = 1; n <= HT_MAX_ORDER; n++) check_fine(HT_SYMBOL_WAVE, 1, n, n > 4 ? 40 : 100);
    for (int n = 1; n <= 4; n++) check_fine(HT_SYMBOL_ADVECTION, 1, n, 64);
    for (int kind = 0; kind < 2; kind++)
        for (int n = 1; n <= 3; n++) check_fine((enum ht_symbol)kind, 2, n, points[n - 1]);
}

/* A search that loses its way leaves isolated dips: from 2N+1 stages on one more stage may cost a
 * little, not a tenth. */
static void check_dips(void) {
    int dips = 0, count = 0;
    for (int kind = 0; kind < 2; kind++)
        for (int d = 1; d <= HT_MAX_DIMS; d++)
            for (int n = 1; n <= HT_MAX_ORDER; n++) {
                enum ht_symbol k = (enum ht_symbol)kind;
                for (int q = 2 * n + 2; q < d * (2 * n + 1); q++) {
                    dips += ht_stability_cfl(k, d, n, q) < 0.9 * ht_stability_cfl(k, d, n, q - 1);
                    count++;
                }
            }
    TEST_BELOW(dips, 0, "limits below 0.9 of those of one stage less, of %d", count);
}

static void check_stages(void) {
    int bad = 0, order_bad = 0, count = 0;
    for (int kind = 0; kind < 2; kind++)
        for (int d = 1; d <= HT_MAX_DIMS; d++)
            for (int n = 1; n <= HT_MAX_ORDER; n++)
                for (int c = 1; c <= 20; c++) {
                    enum ht_symbol k = (enum ht_symbol)kind;
                    double cfl = c / 20.0;
                    int q = ht_stability_stages(k, d, n, cfl);
                    order_bad += q < 2 * n + 1 || q > d * (2 * n + 1);
                    bad += ht_stability_cfl(k, d, n, q) < cfl;
                    for (int less = 2 * n + 1; less < q; less++)
                        bad += ht_stability_cfl(k, d, n, less) >= cfl;
                    count++;
                }
    TEST_BELOW(order_bad, 0, "stages outside 2N+1 .. dims(2N+1), of %d", count);
    TEST_BELOW(bad, 0, "stages not the smallest stable number, of %d", count);
    TEST_CHECK(ht_stability_stages(HT_SYMBOL_WAVE, 3, 2, 1.0) == 15,
               "cfl 1 takes full stages: %d (15)", ht_stability_stages(HT_SYMBOL_WAVE, 3, 2, 1.0));
    TEST_CHECK(ht_stability_cfl(HT_SYMBOL_WAVE, 2, 3, 20) == 1, "more than full stages: %g (1)",
               ht_stability_cfl(HT_SYMBOL_WAVE, 2, 3, 20));
    TEST_CHECK(ht_stability_cfl(HT_SYMBOL_WAVE, 4, 3, 9) == 0 &&
                   ht_stability_cfl(HT_SYMBOL_WAVE, 2, 9, 20) == 0 &&
                   ht_stability_cfl(HT_SYMBOL_WAVE, 2, 3, 0) == 0,
               "outside the table: 0");
}

int main(void) {
    check_table();
    check_lines();
    check_leapfrog();
    check_stages();
    check_dips();
    return test_end("stability");
}
