/* The stability table against a second analysis.
 *
 * The second analysis shares no code or trick with tools/stability: the half
 * step as a dense complex matrix, Taylor series without trimming, spectral
 * radius as |S^(2^30)|^(1/2^30) by repeated squaring. A tabulated number must
 * be stable at sampled angles, and 0.03 more must not be: the table holds a
 * margin of 0.01 to 0.02 and was bisected to 0.004.
 */
#include <complex.h>
#include <float.h>

#include "htwave/num.h"
#include "test.h"

#define PI 3.14159265358979323846
#define GROWTH 1e-7 /* per half step: what the table calls unstable */
#define PAIR_GROWTH 3e-6
#define SQUARINGS 30
#define MAX_SIZE 32 /* unknowns: 3-D waves at N = 1 */
#define MAX_CELL 256

struct symbol {
    enum ht_symbol kind;
    int dims, order, stages;
    int fields, cell, size; /* cell = (2N+2)^dims, size = fields (N+1)^dims */
};

static int power(int base, int exponent) {
    return exponent ? base * power(base, exponent - 1) : 1;
}

static struct symbol symbol_of(enum ht_symbol kind, int dims, int order,
                               int stages) {
    int fields = kind == HT_SYMBOL_WAVE   ? 1 + dims
                 : kind == HT_SYMBOL_PAIR ? 2
                                          : 1;
    return (struct symbol){kind,
                           dims,
                           order,
                           stages,
                           fields,
                           power(2 * order + 2, dims),
                           fields * power(order + 1, dims)};
}

/* Index of axis k in the flat index of a tensor with n entries per axis. */
static int digit(int flat, int k, int n) {
    return flat / power(n, k) % n;
}

static double complex interpolation(const struct symbol *s, const double *theta,
                                    int cell, int node) {
    double hermite[4 * (HT_MAX_ORDER + 1) * (HT_MAX_ORDER + 1)];
    int m = s->order + 1;
    double complex product = 1;
    ht_hermite_matrix(s->order, hermite);
    for (int k = 0; k < s->dims; k++) {
        const double *row = &hermite[(int64_t)digit(cell, k, 2 * m) * 2 * m];
        int i = digit(node, k, m);
        product *= row[i] * cexp(-0.5 * I * theta[k]) +
                   row[m + i] * cexp(0.5 * I * theta[k]);
    }
    return product;
}

/* The same for u_t = v, v_t = lap u. */
static void pair_generator(const struct symbol *s, const double complex *w,
                           double complex *out) {
    int n = 2 * s->order + 2;
    for (int a = 0; a < s->cell; a++) {
        out[a] = w[s->cell + a];
        out[s->cell + a] = 0;
    }
    for (int k = 0; k < s->dims; k++)
        for (int a = 0; a < s->cell; a++) {
            int j = digit(a, k, n);
            if (j + 2 < n)
                out[s->cell + a] += (j + 1) * (j + 2) * w[a + 2 * power(n, k)];
        }
}

/* out = L w in units of h/c */
static void generator(const struct symbol *s, const double complex *w,
                      double complex *out) {
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
static void symbol_column(const struct symbol *s, const double *theta,
                          double cfl, int column, double complex *matrix) {
    int m = s->order + 1, nodes = s->size / s->fields, n = 2 * m;
    int count = s->fields * s->cell;
    double complex b[MAX_CELL] = {0}, w[MAX_CELL], lw[MAX_CELL];
    for (int a = 0; a < s->cell; a++)
        b[column / nodes * s->cell + a] =
            interpolation(s, theta, a, column % nodes);
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
        matrix[row * s->size + column] =
            w[row / nodes * s->cell + cell] * pow(0.35, degree);
    }
}

/* log of the spectral radius */
static double symbol_growth(const struct symbol *s, const double *theta,
                            double cfl) {
    static double complex a[MAX_SIZE * MAX_SIZE], b[MAX_SIZE * MAX_SIZE];
    int n = s->size;
    for (int c = 0; c < n; c++) symbol_column(s, theta, cfl, c, a);
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
                double theta[3] = {PI * a / points, PI * b / points,
                                   PI * c / points};
                worst = fmax(worst, symbol_growth(s, theta, cfl));
            }
        }
    }
    return worst;
}

static void check_entry(enum ht_symbol kind, int dims, int order, int stages) {
    struct symbol s = symbol_of(kind, dims, order, stages);
    static const char *const names[] = {"advection", "wave", "pair"};
    const char *name = names[kind];
    double allowed = kind == HT_SYMBOL_PAIR ? PAIR_GROWTH : GROWTH;
    int points = dims == 1 ? 96 : dims == 2 ? 16 : 6;
    double cfl = ht_stability_cfl(kind, dims, order, stages);
    if (cfl > 0)
        TEST_BELOW(worst_growth(&s, cfl, points), 1.5 * allowed,
                   "%s %d-D N=%d q=%d: growth at cfl %.2f", name, dims, order,
                   stages, cfl);
    if (cfl >= 0.97) return;
    double above = fmax(cfl + 0.03, 0.08);
    double growth = worst_growth(&s, above, points);
    TEST_CHECK(growth > allowed,
               "%s %d-D N=%d q=%d: growth at cfl %.2f: %.3g (more than %.3g)",
               name, dims, order, stages, above, growth, allowed);
}

static void check_table(void) {
    for (int kind = 0; kind < 2; kind++) {
        for (int n = 1; n <= 4; n++)
            for (int q = 1; q <= 2 * n + 1; q++)
                check_entry((enum ht_symbol)kind, 1, n, q);
        for (int q = 1; q <= 6; q++) check_entry((enum ht_symbol)kind, 2, 1, q);
    }
    check_entry(HT_SYMBOL_WAVE, 3, 1, 3);
    for (int n = 1; n <= 5; n++)
        check_entry(HT_SYMBOL_PAIR, 1, n,
                    ht_stability_full(HT_SYMBOL_PAIR, 1, n));
    check_entry(HT_SYMBOL_PAIR, 2, 1, ht_stability_full(HT_SYMBOL_PAIR, 2, 1));
    check_entry(HT_SYMBOL_PAIR, 2, 2, ht_stability_full(HT_SYMBOL_PAIR, 2, 2));
}

/* ---- leapfrog ---- */

/* log of the spectral radius of a full step: keep -1 with the even series of
 * the pair from u to u. */
static double leapfrog_growth(int dims, int order, const double *theta,
                              double cfl) {
    static double complex half[MAX_SIZE * MAX_SIZE];
    static double complex a[MAX_SIZE * MAX_SIZE], b[MAX_SIZE * MAX_SIZE];
    int stages = ht_stability_full(HT_SYMBOL_LEAPFROG_EVEN, dims, order);
    struct symbol s = symbol_of(HT_SYMBOL_PAIR, dims, order, stages);
    int n = s.size, m = n / 2;
    double log_scale = 0;
    for (int c = 0; c < m; c++) symbol_column(&s, theta, cfl, c, half);
    /* w' = -w + S u, u' = -u + S w' in the block form [u; w]. */
    memset(a, 0, sizeof a);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            double complex square = 0;
            for (int k = 0; k < m; k++)
                square += 4 * half[i * n + k] * half[k * n + j];
            a[i * n + j] = square - (i == j);
            a[i * n + m + j] = -2 * half[i * n + j];
            a[(m + i) * n + j] = 2 * half[i * n + j];
        }
        a[(m + i) * n + m + i] = -1;
    }
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

/* Stable up to the limit for all steps, not just there. */
static void check_leapfrog(void) {
    for (int dims = 1; dims <= 2; dims++)
        for (int order = 1; order <= (dims == 1 ? 6 : 2); order++) {
            double worst = -1, limit = 0.99;
            for (int c = 1; c <= 9; c++)
                for (int t = 1; t <= 24; t++) {
                    double theta[3] = {PI * t / 24, PI * (t * 7 % 25) / 24, 0};
                    worst = fmax(worst, leapfrog_growth(dims, order, theta,
                                                        limit * c / 9));
                }
            TEST_BELOW(worst, GROWTH, "leapfrog %d-D N=%d: growth up to cfl %g",
                       dims, order, limit);
        }
    TEST_CHECK(ht_stability_cfl(HT_SYMBOL_LEAPFROG_ODD, 3, 2, 13) == 0.99 &&
                   ht_stability_cfl(HT_SYMBOL_LEAPFROG_ODD, 3, 2, 12) == 0,
               "leapfrog: full stages only (2dN + 1 = 13)");
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
               "cfl 1 takes full stages: %d (15)",
               ht_stability_stages(HT_SYMBOL_WAVE, 3, 2, 1.0));
    TEST_CHECK(ht_stability_cfl(HT_SYMBOL_WAVE, 2, 3, 20) == 1,
               "more than full stages: %g (1)",
               ht_stability_cfl(HT_SYMBOL_WAVE, 2, 3, 20));
    TEST_CHECK(ht_stability_cfl(HT_SYMBOL_WAVE, 4, 3, 9) == 0 &&
                   ht_stability_cfl(HT_SYMBOL_WAVE, 2, 9, 20) == 0 &&
                   ht_stability_cfl(HT_SYMBOL_WAVE, 2, 3, 0) == 0,
               "outside the table: 0");
}

int main(void) {
    check_table();
    check_leapfrog();
    check_stages();
    return test_end("stability");
}
