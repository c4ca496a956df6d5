/* Expressions: the Taylor polynomial of every function against the function itself a step away,
 * exact jets, precedence, messages.
 *
 * Cauchy's estimate bounds what a polynomial of degree g leaves out: for f analytic and |f| <= M
 * within distance R, at distance r < R it is at most M (r/R)^(g+1) / (1 - r/R). Rounding adds some
 * 1e-15 of the sum. */
#include "../test.h"

#include "htwave/num.h"

enum { DEGREE = 16 };

static bool jet_of(const char *text, const struct ht_jets *jets, const double x[3],
                   const double h[3], double *out) {
    struct ht_expr *expr;
    if (ht_expr_parse(text, &expr) != HT_OK) {
        printf("  %s: %s\n", text, ht_err_message());
        return false;
    }
    bool ok = ht_expr_jet(expr, jets, x, h, out) == HT_OK;
    ht_expr_destroy(expr);
    return ok;
}

static double polynomial(const struct ht_jets *jets, const double *jet, const double xi[3]) {
    double sum = 0;
    for (int n = 0; n < jets->count; n++) {
        double term = jet[n];
        for (int d = 0; d < 3; d++)
            for (int i = 0; i < jets->index[n][d]; i++) term *= xi[d];
        sum += term;
    }
    return sum;
}

/* ---- one coordinate ---- */

/* At x = 0.7: analytic within a radius, below a bound there. */
#define EACH_SINGLE(X)                                              \
    X("sin(x1)", sin(x), 1, 2)                                      \
    X("cos(x1)", cos(x), 1, 2)                                      \
    X("tan(x1)", tan(x), 0.8, 12)                                   \
    X("exp(x1)", exp(x), 1, 6)                                      \
    X("log(x1)", log(x), 0.65, 5)                                   \
    X("sqrt(x1)", sqrt(x), 0.7, 1.2)                                \
    X("tanh(x1)", tanh(x), 1.4, 8)                                  \
    X("sinh(x1)", sinh(x), 1, 3)                                    \
    X("cosh(x1)", cosh(x), 1, 3)                                    \
    X("atan(x1)", atan(x), 1.1, 3)                                  \
    X("erf(x1)", erf(x), 1, 3)                                      \
    X("x1^2.5", pow(x, 2.5), 0.7, 2.4)                              \
    X("x1^-3", 1 / (x * x * x), 0.5, 125)                           \
    X("x1^sin(x1)", pow(x, sin(x)), 0.6, 8)                         \
    X("(1 + x1^2)^1.3", pow(1 + x * x, 1.3), 1, 6)                  \
    X("log(1 + x1^2)", log(1 + x * x), 1, 5)                        \
    X("atan(x1^2)", atan(x *x), 0.6, 3)                             \
    X("erf(x1^2)", erf(x *x), 1, 6)                                 \
    X("tanh(x1^2)", tanh(x *x), 0.7, 8)                             \
    X("sinh(x1^2) - cos(x1^2)", sinh(x *x) - cos(x * x), 1, 20)     \
    X("abs(x1 - 2)*3", fabs(x - 2) * 3, 1, 8)                       \
    X("min(x1^2, sin(x1))", fmin(x *x, sin(x)), 1, 3)               \
    X("max(x1*x1, sin(x1))", fmax(x *x, sin(x)), 1, 3)              \
    X("step(x1 - 0.4)*exp(x1)", x > 0.4 ? exp(x) : 0, 1, 6)         \
    X("tanh(400*(x1 + 3))", tanh(400 * (x + 3)), 1, 2)              \
    X("sin(x1)/(2 + cos(3*x1))", sin(x) / (2 + cos(3 * x)), 0.5, 5) \
    X("3 - 2*x1 + x1^3/7 - (x1 - 1)^9", 3 - 2 * x + x * x * x / 7 - pow(x - 1, 9), 1, 20)

enum { STENCIL = 5 };

/* Of the functions at the places of the stencil around 0.7. */
static struct single {
    const char *text;
    double value[STENCIL], radius, bound;
} single[] = {
#define SINGLE(text, f, radius, bound) {text, {0}, radius, bound},
    EACH_SINGLE(SINGLE)};

static void fill_single(int place, double x) {
    struct single *s = single;
#define VALUE(text, f, radius, bound) (s++)->value[place] = f;
    EACH_SINGLE(VALUE)
}

static void test_single(const struct ht_jets *jets) {
    const double x[3] = {0.7, 0, 0}, h[3] = {0.15, 1, 1};
    for (int i = 0; i < STENCIL; i++) fill_single(i, x[0] + h[0] * 0.5 * (i - 2));
    TEST_EACH(row, single) {
        double jet[DEGREE + 1] = {0}, worst = 0;
        const bool ok = jet_of(row->text, jets, x, h, jet);
        for (int i = 0; ok && i < STENCIL; i++) {
            const double at[3] = {0.5 * (i - 2), 0, 0};
            worst = test_worse(worst, fabs(polynomial(jets, jet, at) - row->value[i]));
        }
        const double ratio = h[0] / row->radius;
        const double bound = row->bound * (pow(ratio, DEGREE + 1) / (1 - ratio) + 1e-15);
        TEST_BELOW(ok ? worst : NAN, bound, "series of %s", row->text);
    }
}

/* Every coefficient against its formula, relative. */
static void test_coefficients(const struct ht_jets *jets) {
    const double x[3] = {0.8, 0, 0}, h[3] = {0.5, 1, 1};
    double e[DEGREE + 1], l[DEGREE + 1], p[DEGREE + 1], s[DEGREE + 1];
    bool ok = jet_of("exp(2*x1)", jets, x, h, e) && jet_of("log(x1)", jets, x, h, l) &&
              jet_of("x1^-1.5", jets, x, h, p) && jet_of("sin(x1)", jets, x, h, s);
    double worst = ok ? 0 : NAN, binomial = pow(x[0], -1.5), factorial = 1;
    for (int k = 0; ok && k <= DEGREE; k++) {
        if (k) {
            factorial *= k;
            binomial *= (-1.5 - (k - 1)) / k * h[0] / x[0];
            double want = -pow(-h[0] / x[0], k) / k;
            worst = test_worse(worst, fabs(l[k] / want - 1));
        }
        double want = exp(1.6) * pow(1.0, k) / factorial;
        worst = test_worse(worst, fabs(e[k] / want - 1));
        worst = test_worse(worst, fabs(p[k] / binomial - 1));
        want = sin(0.8 + k * acos(0.0)) * pow(0.5, k) / factorial;
        worst = test_worse(worst, fabs(s[k] / want - 1));
    }
    /* Some `k` roundings reach coefficient k. */
    TEST_BELOW(worst, 2 * DEGREE * 2.3e-16 * 4, "coefficients of exp, log, power, sin, relative");
}

/* ---- far from zero ---- */

static double value_sign(double x) {
    return x < 0 ? -1 : 1;
}

/* First, second and third derivative of a function, h = 1: written so that they keep their relative
 * accuracy at large arguments. */
static void d_tanh(double x, double d[3]) {
    double decay = exp(-2 * fabs(x)), t = value_sign(x);
    double s = 4 * decay / ((1 + decay) * (1 + decay)); /* 1/cosh^2 */
    t *= (1 - decay) / (1 + decay);
    d[0] = s;
    d[1] = -2 * t * s;
    d[2] = (4 * t * t - 2 * s) * s;
}
static void d_atan(double x, double d[3]) {
    double q = 1 / (1 + x * x);
    d[0] = q;
    d[1] = -2 * x * q * q;
    d[2] = (6 * x * x - 2) * q * q * q;
}
static void d_erf(double x, double d[3]) {
    d[0] = 2 / sqrt(acos(-1)) * exp(-x * x);
    d[1] = -2 * x * d[0];
    d[2] = (4 * x * x - 2) * d[0];
}
static double f_inverse(double x) {
    return 1 / (x * x * x);
}
static void d_cube(double x, double d[3]) {
    d[0] = -3 * pow(x, -4);
    d[1] = 12 * pow(x, -5);
    d[2] = -60 * pow(x, -6);
}

static const struct {
    const char *text;
    double (*f)(double);
    void (*derivatives)(double x, double d[3]);
    double at[6]; /* ends at 0 */
} far[] = {
    {"tanh(x1)", tanh, d_tanh, {-3, 3, -20, 20, -300, 300}},
    {"atan(x1)", atan, d_atan, {-5, 5, -1e6, 1e6}},
    {"erf(x1)", erf, d_erf, {-4, 4, -20, 20}},
    {"x1^-3", f_inverse, d_cube, {-1e6, -1e-3, 1e-3, 1e6}},
};

/* Relative; a derivative that is 0 has to be 0. erf and exp of -x^2 have the rounding of x^2, 400
 * at 20. */
static void test_far(const struct ht_jets *jets) {
    static const double factorial[3] = {1, 2, 6}, h[3] = {1, 1, 1};
    TEST_EACH(row, far) {
        double worst = 0;
        for (int i = 0; i < 6 && row->at[i] != 0; i++) {
            double x[3] = {row->at[i], 0, 0}, d[3], jet[DEGREE + 1] = {0};
            if (!jet_of(row->text, jets, x, h, jet)) worst = NAN;
            row->derivatives(x[0], d);
            worst = test_worse(worst, fabs(jet[0] / row->f(x[0]) - 1));
            for (int k = 0; k < 3; k++) {
                double want = d[k] / factorial[k], error = jet[k + 1] - want;
                worst = test_worse(worst, error == 0 ? 0 : fabs(error / want));
            }
        }
        TEST_BELOW(worst, 400 * 2.3e-16, "%s and derivatives far from 0", row->text);
    }
}

/* ---- several coordinates ---- */

static double g_all(const double x[3]) {
    return exp(-x[0] * x[0] - 2 * x[1] * x[2]) * sin(x[0] + x[2]) / sqrt(2 + x[1]);
}

static void test_several(struct ht_jets *jets, const char *name, double left) {
    const double x[3] = {0.3, -0.2, 0.6}, h[3] = {0.05, 0.04, 0.06};
    double *jet = calloc((size_t)jets->count, sizeof *jet), worst = 0;
    bool ok = jet && jet_of("exp(-x1^2 - 2*x2*x3)*sin(x1 + x3)/sqrt(2 + x2)", jets, x, h, jet);
    for (int corner = 0; ok && corner < 1 << jets->dims; corner++) {
        double xi[3] = {0}, at[3];
        for (int d = 0; d < 3; d++) {
            if (d < jets->dims) xi[d] = corner >> d & 1 ? 1 : -0.7;
            at[d] = x[d] + h[d] * xi[d];
        }
        worst = test_worse(worst, fabs(polynomial(jets, jet, xi) - g_all(at)));
    }
    TEST_BELOW(ok ? worst : NAN, left + 1e-15, "series in %d coordinates, %s set", jets->dims,
               name);
    free(jet);
    ht_jets_destroy(jets);
}

/* |f| < 20 where each coordinate moves by at most 1. */
static void test_sets(void) {
    for (int dims = 1; dims <= 3; dims++) {
        struct ht_jets *jets;
        /* the line to the corner leaves that disc at 1/0.06 */
        if (ht_jets_make(dims, 9, true, &jets) == HT_OK)
            test_several(jets, "total", 20 * pow(0.06, 10) * 1.1);
        /* the interpolation error of one axis after another */
        if (ht_jets_make(dims, 6, false, &jets) == HT_OK)
            test_several(jets, "tensor", dims * 20 * pow(0.06, 7) * 1.3);
    }
}

/* ---- values and edges ---- */

static const struct {
    const char *text;
    double want;
} constants[] = {
    {"2^3^2", 512},
    {"-2^2", -4},
    {"(-2)^3", -8},
    {"2^-1", 0.5},
    {"7 - 4 - 2", 1},
    {"12/3/2", 2},
    {"1 + 2*3", 7},
    {"(1 + 2)*3", 9},
    {"1e-3*1000", 1},
    {".5 + 1.", 1.5},
    {"--3", 3},
    {"+3 - -1", 4},
    {"min(4, 3) + max(1, 2)", 5},
    {"pow(2, 10)", 1024},
    {"cos(pi)", -1},
    {"abs(-2)", 2},
    {"step(0) + step(-1e-9)", 1},
    {"0^0", 1},
    {"4^0.5", 2},
    {"x1*x2 + x3", 10},
    {" ( ( ( 5 ) ) ) ", 5},
};

static void test_values(const struct ht_jets *jets) {
    const double x[3] = {2, 3, 4}, h[3] = {1, 1, 1};
    TEST_EACH(row, constants) {
        double jet[DEGREE + 1] = {NAN};
        jet_of(row->text, jets, x, h, jet);
        TEST_BELOW(fabs(jet[0] - row->want), 1e-15, "%s = %g", row->text, row->want);
    }
}

static void test_edges(const struct ht_jets *jets) {
    const double zero[3] = {0, 0, 0}, h[3] = {0.5, 1, 1};
    double jet[DEGREE + 1] = {0}, rest = 0;
    bool ok = jet_of("x1^3", jets, zero, h, jet);
    for (int k = 0; k <= DEGREE; k++) rest += fabs(jet[k] - (k == 3 ? 0.125 : 0));
    TEST_BELOW(ok ? rest : NAN, 0, "x1^3 at 0 is exact");
    ok = jet_of("(x1*0)^0.5 + exp(-1e6*(x1 + 1)^2)", jets, zero, h, jet);
    rest = 0;
    for (int k = 0; k <= DEGREE; k++) rest += fabs(jet[k]);
    TEST_BELOW(ok ? rest : NAN, 0, "root of 0 and a vanished bell");
    ok = jet_of("1/x1", jets, zero, h, jet);
    TEST_CHECK(ok && !isfinite(jet[0]), "1/x1 at 0 is returned, not finite");
    ok = jet_of("log(x1 - 1)", jets, zero, h, jet);
    TEST_CHECK(ok && !isfinite(jet[0]), "log(-1) is returned, not finite");
}

/* ---- what an expression depends on ---- */

static const struct {
    const char *text;
    bool smooth, uses[3];
} kinds[] = {
    {"1 + sin(x1)*exp(x3)", true, {true, false, true}},
    {"step(x1 - 0.5)", false, {true, false, false}},
    {"abs(x2)", false, {false, true, false}},
    {"min(x1, 2)", false, {true, false, false}},
    {"max(2, x3)", false, {false, false, true}},
    {"min(1, 2) + step(0)*abs(-3) + max(1, pi)*x2", true, {false, true, false}},
    {"pow(x1, 2) + sqrt(2 + x2) + tanh(x3)", true, {true, true, true}},
    {"2*pi", true, {false, false, false}},
};

static void test_kinds(void) {
    TEST_EACH(row, kinds) {
        struct ht_expr *expr;
        bool good = ht_expr_parse(row->text, &expr) == HT_OK;
        for (int k = 0; good && k < 3; k++) good = ht_expr_uses(expr, k) == row->uses[k];
        bool smooth = good && ht_expr_smooth(expr);
        TEST_CHECK(good && smooth == row->smooth, "%s is %s, its axes", row->text,
                   smooth ? "smooth" : "not smooth");
        ht_expr_destroy(expr);
    }
    struct ht_expr *expr;
    const double x[3][3] = {{0.2, 0, 0}, {0.4, 0, 0}, {0.6, 0, 0}};
    double value[3] = {0};
    uint64_t sides[3] = {HT_HASH_SEED, HT_HASH_SEED, HT_HASH_SEED};
    bool good = ht_expr_parse("2*step(x1 - 0.5) + x1", &expr) == HT_OK;
    for (int i = 0; good && i < 3; i++) value[i] = ht_expr_value(expr, x[i], &sides[i]);
    TEST_CHECK(good && sides[0] == sides[1] && sides[1] != sides[2],
               "sides of a step: the same, the same, the other");
    TEST_BELOW(fabs(value[1] - 0.4) + fabs(value[2] - 2.6), 1e-15, "values alone");
    ht_expr_destroy(expr);
}

/* ---- messages ---- */

static const struct {
    const char *text, *place, *words;
} faults[] = {
    {"1 + * 2", "column 5:", "found '*'"},
    {"sin x1", "column 5:", "'(' after the function sin"},
    {"sinn(x1)", "column 1:", "nearest is \"sin\""},
    {"2*x4", "column 3:", "unknown name \"x4\""},
    {"(1 + 2", "column 7:", "found the end"},
    {"min(1)", "column 6:", "min takes 2 arguments"},
    {"sin(1, 2)", "column 6:", "sin takes 1 argument"},
    {"1 2", "column 3:", "expected an operator"},
    {"", "column 1:", "found the end"},
    {"3 + .", "column 5:", "a number"},
    {"0x10", "column 2:", "found 'x10'"},
    {"1 + \x01", "column 5:", "byte 0x01"},
    {"2*(1 + 3))", "column 10:", "found ')'"},
};

static void test_messages(void) {
    for (size_t n = 0; n < sizeof faults / sizeof faults[0]; n++) {
        struct ht_expr *expr = NULL;
        enum ht_err err = ht_expr_parse(faults[n].text, &expr);
        TEST_CHECK(err == HT_ERR_INPUT && !expr && strstr(ht_err_message(), faults[n].place) &&
                       strstr(ht_err_message(), faults[n].words),
                   "fault %zu: %s", n, err ? ht_err_message() : "accepted");
        ht_expr_destroy(expr);
    }
    char deep[4001];
    memset(deep, '(', 4000);
    deep[4000] = '\0';
    struct ht_expr *expr = NULL;
    enum ht_err err = ht_expr_parse(deep, &expr);
    TEST_CHECK(err == HT_ERR_INPUT && strstr(ht_err_message(), "nested"), "4000 parentheses: %s",
               err ? ht_err_message() : "accepted");
    ht_expr_destroy(expr);
}

/* Every function, at points on both sides of 0, of pieces and of the rest; parts that do not depend
 * on x1 beside others. */
static void test_lines(void) {
    static const char *const text[] = {
        "x1",
        "x3 - x2",
        "7",
        "-x1 + 2*sin(x1)*cos(x2) - tan(x3)/x1",
        "exp(-20*((x1-0.5)^2+(x2-0.5)^2))^2",
        "log(x1) + sqrt(x1) + sqrt(x2)",
        "tanh(x1)*sinh(x1) - cosh(x2) + atan(x1/x3) + erf(x1)",
        "abs(x1) + min(x1, x2)*max(x3, x1) + step(x1 - x2)",
        "x1^3 + x1^-1 + 2^x1 + x2^x1 + x1^0.5 + pow(x1, x3)",
    };
    enum { POINTS = 301 };
    TEST_EACH(row, text) {
        struct ht_expr *expr;
        double x1[POINTS], out[POINTS];
        const double x[3] = {NAN, 0.31, -0.7};
        int wrong = 0;
        for (int i = 0; i < POINTS; i++) x1[i] = ht_rng_uniform(3, (uint64_t)i);
        x1[5] = 0;
        x1[6] = -0.0;
        if (ht_expr_parse(*row, &expr) != HT_OK || ht_expr_line(expr, POINTS, x1, x, out) != HT_OK)
            exit(1);
        for (int i = 0; i < POINTS; i++) {
            const double at[3] = {x1[i], x[1], x[2]};
            const double value = ht_expr_value(expr, at, NULL);
            wrong += isnan(value) ? !isnan(out[i])
                                  : value != out[i] || signbit(value) != signbit(out[i]);
        }
        TEST_CHECK(wrong == 0, "line of \"%s\": %d of %d values differ", *row, wrong, POINTS);
        ht_expr_destroy(expr);
    }
}

int main(void) {
    struct ht_jets *line;
    if (ht_jets_make(1, DEGREE, true, &line) != HT_OK) return 1;
    test_single(line);
    test_coefficients(line);
    test_far(line);
    test_sets();
    test_values(line);
    test_edges(line);
    test_kinds();
    test_messages();
    test_lines();
    ht_jets_destroy(line);
    return test_end("expr");
}
