/* Jets, and expressions that are evaluated as jets. */
#include "htwave/num.h"

/* Jets: truncated multivariate Taylor series over a fixed set of multi-indices.
 *
 * The set is downward closed (with a it holds every b <= a), so that the product, cut to the set,
 * has exact coefficients:
 *     (f g)_k = sum over i + j = k of f_i g_j            (Leibniz, scaled).
 *
 * Invariants that expressions build on: entry 0 is the zero multi-index; if b <= a in every
 * component and b != a, b comes before a; the pairs are grouped by k in ascending order, and the
 * first pair of a group has i = 0. */

enum { MAX_DEGREE = 32 };

/* Position of every multi-index of a set in the enclosing cube. */
struct lookup {
    int side;
    int *entry;
};

static int lookup_cell(const struct lookup *lookup, const int a[3]) {
    return (a[2] * lookup->side + a[1]) * lookup->side + a[0];
}

static int fill_group(struct ht_jets *jets, const struct lookup *lookup, int entry, int at) {
    const int *k = jets->index[entry];
    int i[3];
    for (i[2] = 0; i[2] <= k[2]; i[2]++)
        for (i[1] = 0; i[1] <= k[1]; i[1]++)
            for (i[0] = 0; i[0] <= k[0]; i[0]++) {
                int j[3] = {k[0] - i[0], k[1] - i[1], k[2] - i[2]};
                jets->pair[at][0] = lookup->entry[lookup_cell(lookup, i)];
                jets->pair[at][1] = lookup->entry[lookup_cell(lookup, j)];
                jets->pair[at][2] = entry;
                at++;
            }
    return at;
}

/* Degree and pairs of a set whose indices are filled in. */
static enum ht_err complete(struct ht_jets *jets) {
    jets->pairs = 0;
    for (int n = 0; n < jets->count; n++) {
        const int *a = jets->index[n];
        int total = a[0] + a[1] + a[2];
        if (total > jets->degree) jets->degree = total;
        /* Number of multi-indices i <= k. */
        jets->pairs += (a[0] + 1) * (a[1] + 1) * (a[2] + 1);
    }
    TRY(HT_ALLOC(jets->pair, jets->pairs));
    struct lookup lookup;
    int largest = 0;
    for (int n = 0; n < jets->count; n++)
        for (int k = 0; k < 3; k++)
            if (jets->index[n][k] > largest) largest = jets->index[n][k];
    lookup.side = largest + 1;
    TRY(HT_ALLOC(lookup.entry, lookup.side * lookup.side * lookup.side));
    for (int n = 0; n < jets->count; n++) lookup.entry[lookup_cell(&lookup, jets->index[n])] = n;
    int at = 0;
    for (int n = 0; n < jets->count; n++) at = fill_group(jets, &lookup, n, at);
    free(lookup.entry);
    return HT_OK;
}

/* Ends both constructors: *out is set only on success. */
static enum ht_err finish(struct ht_jets *jets, enum ht_err err, struct ht_jets **out) {
    if (err == HT_OK) err = complete(jets);
    return HT_MADE(err, jets, ht_jets_destroy, out);
}

static enum ht_err start(int dims, int degree, struct ht_jets **out) {
    REQUIRE(dims >= 1 && dims <= HT_MAX_DIMS, HT_ERR_INTERNAL,
            "jets in %d dimensions: 1 to 3 exist", dims);
    REQUIRE(degree >= 0 && degree <= MAX_DEGREE, HT_ERR_INTERNAL,
            "jets of degree %d: 0 to %d exist", degree, MAX_DEGREE);
    TRY(HT_ALLOC(*out, 1));
    (*out)->dims = dims;
    return HT_OK;
}

enum ht_err ht_jets_total(int dims, int degree, struct ht_jets **out) {
    *out = NULL;
    struct ht_jets *jets;
    TRY(start(dims, degree, &jets));
    jets->count = degree + 1;
    if (dims >= 2) jets->count = jets->count * (degree + 2) / 2;
    if (dims >= 3) jets->count = jets->count * (degree + 3) / 3;
    enum ht_err err = HT_ALLOC(jets->index, jets->count);
    int n = 0;
    for (int a1 = 0; err == HT_OK && a1 <= degree; a1++)
        for (int a2 = 0; a2 <= (dims >= 2 ? degree - a1 : 0); a2++)
            for (int a3 = 0; a3 <= (dims >= 3 ? degree - a1 - a2 : 0); a3++) {
                jets->index[n][0] = a1;
                jets->index[n][1] = a2;
                jets->index[n][2] = a3;
                n++;
            }
    return finish(jets, err, out);
}

enum ht_err ht_jets_tensor(int dims, int order, struct ht_jets **out) {
    *out = NULL;
    struct ht_jets *jets;
    TRY(start(dims, order, &jets));
    int side = order + 1;
    jets->count = side * (dims >= 2 ? side : 1) * (dims >= 3 ? side : 1);
    enum ht_err err = HT_ALLOC(jets->index, jets->count);
    for (int n = 0; err == HT_OK && n < jets->count; n++) {
        jets->index[n][0] = n % side;
        jets->index[n][1] = n / side % side;
        jets->index[n][2] = n / side / side;
    }
    return finish(jets, err, out);
}

void ht_jets_destroy(struct ht_jets *jets) {
    if (!jets) return;
    free(jets->index);
    free(jets->pair);
    free(jets);
}

void ht_jet_multiply(const struct ht_jets *jets, const double *a, const double *b, double *out) {
    if (jets->degree == 0) {
        for (int n = 0; n < jets->count; n++) out[n] = a[n] * b[n];
        return;
    }
    memset(out, 0, (size_t)jets->count * sizeof *out);
    for (int p = 0; p < jets->pairs; p++) {
        const int *pair = jets->pair[p];
        out[pair[2]] += a[pair[0]] * b[pair[1]];
    }
}

/* Elementary functions of jets, through first-order differential equations. out must not overlap
 * the arguments. A function that is singular at the value gives entries that are not finite.
 *
 * With the Euler operator E = sum over axes of xi_k d/d xi_k, entry k of E f is |k| f_k, so that
 * F = f(g), F' = w, gives
 *     |k| F_k = sum over i + j = k of |i| g_i w_j            (E F = w E g)
 * for k != 0, where F_0 = f(g_0). It costs one product instead of the `degree` products of a Horner
 * composition. When w depends on F itself (exp: w = F), the entries w_j, j < k, that the sum asks
 * for are known, because jets list every part of k before k. Source: Griewank and
 * Walther, Evaluating Derivatives (2008), chapter 13. */

/* Squares are frequent, and many times faster so. */
static double power(double base, double exponent) {
    return exponent == 2 ? base * base : pow(base, exponent);
}

static int total(const struct ht_jets *jets, int entry) {
    const int *a = jets->index[entry];
    return a[0] + a[1] + a[2];
}

static bool is_constant(const struct ht_jets *jets, const double *g) {
    for (int n = 1; n < jets->count; n++)
        if (g[n] != 0) return false;
    return true;
}

static void set_constant(const struct ht_jets *jets, double value, double *out) {
    memset(out, 0, (size_t)jets->count * sizeof *out);
    out[0] = value;
}

/* F with F_0 = value and derivative w, a jet known in full. */
static void integrate(const struct ht_jets *jets, const double *g, const double *w, double value,
                      double *out) {
    set_constant(jets, value, out);
    for (int p = 1; p < jets->pairs; p++) {
        const int *pair = jets->pair[p];
        out[pair[2]] += total(jets, pair[0]) * g[pair[0]] * w[pair[1]];
    }
    for (int n = 1; n < jets->count; n++) out[n] /= total(jets, n);
}

static void jet_divide(const struct ht_jets *jets, const double *a, const double *b, double *out) {
    if (is_constant(jets, b)) {
        for (int n = 0; n < jets->count; n++) out[n] = a[n] / b[0];
        return;
    }
    int p = 0;
    for (int k = 0; k < jets->count; k++) {
        double rest = a[k];
        /* The first pair of a group has i = 0: the unknown itself. */
        for (p++; p < jets->pairs && jets->pair[p][2] == k; p++)
            rest -= b[jets->pair[p][0]] * out[jets->pair[p][1]];
        out[k] = rest / b[0];
    }
}

void ht_jet_reciprocal(const struct ht_jets *jets, const double *a, double *out) {
    if (jets->degree == 0) {
        for (int n = 0; n < jets->count; n++) out[n] = 1 / a[n];
        return;
    }
    set_constant(jets, 1, out);
    /* Each entry of the numerator is read before it is overwritten. */
    jet_divide(jets, out, a, out);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as the others */
static void jet_exp(const struct ht_jets *jets, const double *g, HT_UNUSED double *scratch,
                    double *out) {
    out[0] = exp(g[0]);
    int p = 1;
    for (int k = 1; k < jets->count; k++) {
        double sum = 0;
        for (p++; p < jets->pairs && jets->pair[p][2] == k; p++) {
            const int *pair = jets->pair[p];
            sum += total(jets, pair[0]) * g[pair[0]] * out[pair[1]];
        }
        out[k] = sum / total(jets, k);
    }
}

/* curvature -1: sine and cosine; +1: hyperbolic sine and cosine. */
static void jet_sincos(const struct ht_jets *jets, const double *g, int curvature, double *sine,
                       double *cosine) {
    sine[0] = curvature < 0 ? sin(g[0]) : sinh(g[0]);
    cosine[0] = curvature < 0 ? cos(g[0]) : cosh(g[0]);
    int p = 1;
    for (int k = 1; k < jets->count; k++) {
        double s = 0, c = 0;
        for (p++; p < jets->pairs && jets->pair[p][2] == k; p++) {
            const int *pair = jets->pair[p];
            double slope = total(jets, pair[0]) * g[pair[0]];
            s += slope * cosine[pair[1]];
            c += slope * sine[pair[1]];
        }
        sine[k] = s / total(jets, k);
        cosine[k] = curvature * c / total(jets, k);
    }
}

/* g^exponent, exponent >= 0, by repeated squaring. scratch: 2 jets. */
static void power_integer(const struct ht_jets *jets, const double *g, int exponent,
                          double *scratch, double *out) {
    size_t bytes = (size_t)jets->count * sizeof *out;
    double *square = scratch, *product = scratch + jets->count;
    memcpy(square, g, bytes);
    set_constant(jets, 1, out);
    for (bool first = true; exponent > 0; exponent >>= 1) {
        if (exponent & 1) {
            if (first)
                memcpy(out, square, bytes);
            else {
                ht_jet_multiply(jets, out, square, product);
                memcpy(out, product, bytes);
            }
            first = false;
        }
        if (exponent > 1) {
            ht_jet_multiply(jets, square, square, product);
            memcpy(square, product, bytes);
        }
    }
}

/* g^exponent; any base for integers, else a positive one. scratch: 2 jets. */
static void jet_power(const struct ht_jets *jets, const double *g, double exponent, double *scratch,
                      double *out) {
    if (is_constant(jets, g)) {
        set_constant(jets, power(g[0], exponent), out);
    } else if (exponent == floor(exponent) && fabs(exponent) <= 1024) {
        power_integer(jets, g, (int)fabs(exponent), scratch, out);
        if (exponent < 0) {
            memcpy(scratch, out, (size_t)jets->count * sizeof *out);
            set_constant(jets, 1, scratch + jets->count);
            jet_divide(jets, scratch + jets->count, scratch, out);
        }
    } else {
        /* g E P = exponent P E g, solved for the entry with the highest index. */
        out[0] = pow(g[0], exponent);
        int p = 1;
        for (int k = 1; k < jets->count; k++) {
            double sum = 0;
            for (p++; p < jets->pairs && jets->pair[p][2] == k; p++) {
                const int *pair = jets->pair[p];
                double weight = exponent * total(jets, pair[0]) - total(jets, pair[1]);
                sum += weight * g[pair[0]] * out[pair[1]];
            }
            out[k] = sum / (total(jets, k) * g[0]);
        }
    }
}

/* scratch: 2 jets for each of the rest. */
static void jet_log(const struct ht_jets *jets, const double *g, double *scratch, double *out) {
    double *one = scratch, *slope = scratch + jets->count;
    set_constant(jets, 1, one);
    jet_divide(jets, one, g, slope);
    integrate(jets, g, slope, log(g[0]), out);
}

static void jet_tan(const struct ht_jets *jets, const double *g, double *scratch, double *out) {
    double *sine = scratch, *cosine = scratch + jets->count;
    jet_sincos(jets, g, -1, sine, cosine);
    jet_divide(jets, sine, cosine, out);
}

/* tanh g = s (1 - e)/(1 + e), e = exp(-2 s g), s the sign of g: no overflow anywhere. */
static void jet_tanh(const struct ht_jets *jets, const double *g, double *scratch, double *out) {
    double *decay = scratch, *upper = scratch + jets->count;
    double sign = g[0] < 0 ? -1 : 1;
    for (int n = 0; n < jets->count; n++) upper[n] = -2 * sign * g[n];
    jet_exp(jets, upper, NULL, decay);
    for (int n = 0; n < jets->count; n++) upper[n] = -sign * decay[n];
    upper[0] += sign;
    decay[0] += 1;
    jet_divide(jets, upper, decay, out);
    out[0] = tanh(g[0]);
}

static void jet_atan(const struct ht_jets *jets, const double *g, double *scratch, double *out) {
    double *lower = scratch, *slope = scratch + jets->count;
    ht_jet_multiply(jets, g, g, lower);
    lower[0] += 1;
    set_constant(jets, 1, out);
    jet_divide(jets, out, lower, slope);
    integrate(jets, g, slope, atan(g[0]), out);
}

static void jet_erf(const struct ht_jets *jets, const double *g, double *scratch, double *out) {
    double *square = scratch, *slope = scratch + jets->count;
    ht_jet_multiply(jets, g, g, square);
    for (int n = 0; n < jets->count; n++) square[n] = -square[n];
    jet_exp(jets, square, NULL, slope);
    for (int n = 0; n < jets->count; n++) slope[n] *= 2 / sqrt(HT_PI);
    integrate(jets, g, slope, erf(g[0]), out);
}

/* Expressions in x1, x2, x3, evaluated as jets.
 *
 * Grammar (spaces are ignored):
 *     sum     = product { ("+" | "-") product }
 *     product = unary { ("*" | "/") unary }
 *     unary   = ("-" | "+") unary | power
 *     power   = primary [ "^" unary ]          so -x^2 = -(x^2), right assoc.
 *     primary = number | name | name "(" sum { "," sum } ")" | "(" sum ")"
 *
 * The parser writes a postfix program; operations on constants are folded as they are written. The
 * evaluator runs the program on a stack of jets, so that derivatives come from the rules of
 * calculus, never from differences. */

/* From OP_FUNCTION on, rows of `functions` that have no code. */
enum ht_expr_code {
    OP_NUMBER,
    OP_VARIABLE,
    OP_NEGATE,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_POWER,
    OP_ABS,
    OP_MIN,
    OP_MAX,
    OP_STEP,
    OP_FUNCTION
};

struct ht_expr_op {
    int code; /* enum ht_expr_code */
    int operands;
    int axis;     /* OP_VARIABLE */
    double value; /* OP_NUMBER; OP_POWER: the exponent if operands is 1 */
};

struct ht_expr {
    struct ht_expr_op *op;
    int count;
    int64_t room;
    int height, depth; /* of the stack: after the last operation, largest */
};

enum { MAX_NESTING = 200, SCRATCH = 3 };

/* Jets of functions: scratch has room for SCRATCH of them. */
#define JET(name, ...)                                                                   \
    static void jet_##name(const struct ht_jets *jets, const double *a, double *scratch, \
                           double *out) {                                                \
        (void)scratch;                                                                   \
        __VA_ARGS__;                                                                     \
    }
JET(sin, jet_sincos(jets, a, -1, out, scratch))
JET(cos, jet_sincos(jets, a, -1, scratch, out))
JET(sinh, jet_sincos(jets, a, 1, out, scratch))
JET(cosh, jet_sincos(jets, a, 1, scratch, out))
JET(sqrt, jet_power(jets, a, 0.5, scratch, out))

static double value_tan(double a) {
    return sin(a) / cos(a);
}

static double value_sqrt(double a) {
    return power(a, 0.5);
}

/* Messages, manuals and ht_expr_smooth are made from these rows. */
static const struct {
    struct ht_expr_word word;
    enum ht_expr_code code; /* or both of: */
    double (*value)(double a);
    void (*jet)(const struct ht_jets *jets, const double *a, double *scratch, double *out);
} functions[] = {
    {{"sin", "(a)", "sine, of radians", true, 1}, 0, sin, jet_sin},
    {{"cos", "(a)", "cosine", true, 1}, 0, cos, jet_cos},
    {{"tan", "(a)", "tangent", true, 1}, 0, value_tan, jet_tan},
    {{"exp", "(a)", "exponential function", true, 1}, 0, exp, jet_exp},
    {{"log", "(a)", "natural logarithm", true, 1}, 0, log, jet_log},
    {{"sqrt", "(a)", "square root", true, 1}, 0, value_sqrt, jet_sqrt},
    {{"tanh", "(a)", "hyperbolic tangent", true, 1}, 0, tanh, jet_tanh},
    {{"sinh", "(a)", "hyperbolic sine", true, 1}, 0, sinh, jet_sinh},
    {{"cosh", "(a)", "hyperbolic cosine", true, 1}, 0, cosh, jet_cosh},
    {{"atan", "(a)", "arc tangent", true, 1}, 0, atan, jet_atan},
    {{"erf", "(a)", "error function", true, 1}, 0, erf, jet_erf},
    {{"abs", "(a)", "absolute value", false, 1}, OP_ABS, NULL, NULL},
    {{"min", "(a, b)", "the smaller one", false, 2}, OP_MIN, NULL, NULL},
    {{"max", "(a, b)", "the larger one", false, 2}, OP_MAX, NULL, NULL},
    {{"step", "(a)", "1 where a >= 0, else 0", false, 1}, OP_STEP, NULL, NULL},
    {{"pow", "(a, b)", "a^b", true, 2}, OP_POWER, NULL, NULL},
};
enum { NFUNCTIONS = sizeof functions / sizeof functions[0] };

static int code_of(int function) {
    return functions[function].jet != NULL ? OP_FUNCTION + function : (int)functions[function].code;
}

static const struct {
    struct ht_expr_word word;
    int axis; /* -1: value is meant */
    double value;
} symbols[] = {
    {{"x1", "", "first coordinate", true, 0}, 0, 0},
    {{"x2", "", "second coordinate, from two dimensions on", true, 0}, 1, 0},
    {{"x3", "", "third coordinate, in three dimensions", true, 0}, 2, 0},
    {{"pi", "", "3.14159...", true, 0}, -1, 3.14159265358979323846},
};
enum { NSYMBOLS = sizeof symbols / sizeof symbols[0] };

const struct ht_expr_word *ht_expr_word(int i) {
    if (i >= 0 && i < NSYMBOLS) return &symbols[i].word;
    i -= NSYMBOLS;
    return i >= 0 && i < NFUNCTIONS ? &functions[i].word : NULL;
}

/* ---- evaluation ---- */

/* Inputs of an operation besides its operands. */
struct work {
    const struct ht_jets *jets;
    const double *x, *h;
    double *scratch;    /* SCRATCH jets */
    uint64_t *branches; /* hash of the sides that were taken; NULL: not wanted */
};

static void note_branch(const struct work *work, bool side) {
    if (work->branches) *work->branches = ht_hash(*work->branches, &side, sizeof side);
}

/* x_axis = x + h xi: the entry of first degree is h. */
static void set_variable(const struct work *work, int axis, double *out) {
    set_constant(work->jets, work->x[axis], out);
    for (int n = 1; n < work->jets->count; n++) {
        const int *a = work->jets->index[n];
        if (a[axis] == 1 && a[0] + a[1] + a[2] == 1) out[n] = work->h[axis];
    }
}

static void apply_binary(const struct work *work, int code, const double *a, const double *b,
                         double *out) {
    const struct ht_jets *jets = work->jets;
    if (code == OP_MULTIPLY) {
        ht_jet_multiply(jets, a, b, out);
    } else if (code == OP_DIVIDE) {
        jet_divide(jets, a, b, out);
    } else if (code == OP_POWER) {
        /* base^b = exp(b log base) for an exponent that varies. */
        size_t count = (size_t)work->jets->count;
        double *logarithm = work->scratch + 2 * count;
        jet_log(work->jets, a, work->scratch, logarithm);
        ht_jet_multiply(work->jets, b, logarithm, work->scratch);
        jet_exp(work->jets, work->scratch, NULL, out);
    } else if (code == OP_MIN || code == OP_MAX) {
        bool first = code == OP_MIN ? a[0] <= b[0] : a[0] >= b[0];
        note_branch(work, first);
        memcpy(out, first ? a : b, (size_t)jets->count * sizeof *out);
    } else {
        double sign = code == OP_SUBTRACT ? -1 : 1;
        for (int n = 0; n < jets->count; n++) out[n] = a[n] + sign * b[n];
    }
}

/* Functions that are linear on either side of zero. */
static void apply_sided(const struct work *work, int code, const double *a, double *out) {
    if (code != OP_NEGATE) note_branch(work, a[0] >= 0);
    if (code == OP_STEP) {
        set_constant(work->jets, a[0] >= 0 ? 1 : 0, out);
        return;
    }
    double sign = code == OP_NEGATE || a[0] < 0 ? -1 : 1;
    for (int n = 0; n < work->jets->count; n++) out[n] = sign * a[n];
}

static void apply_unary(const struct work *work, const struct ht_expr_op *op, const double *a,
                        double *out) {
    if (op->code >= OP_FUNCTION)
        functions[op->code - OP_FUNCTION].jet(work->jets, a, work->scratch, out);
    else if (op->code == OP_POWER)
        jet_power(work->jets, a, op->value, work->scratch, out);
    else
        apply_sided(work, op->code, a, out);
}

/* Runs ops on the stack of jets; the result is its lowest entry. */
static void evaluate(const struct work *work, const struct ht_expr_op *op, int nops,
                     double *stack) {
    size_t count = (size_t)work->jets->count;
    double *top = stack; /* the free entry above the operands */
    double *result = work->scratch + SCRATCH * count;
    for (int n = 0; n < nops; n++) {
        if (op[n].code == OP_NUMBER) {
            set_constant(work->jets, op[n].value, top);
        } else if (op[n].code == OP_VARIABLE) {
            set_variable(work, op[n].axis, top);
        } else {
            top -= (size_t)op[n].operands * count;
            if (op[n].operands == 2)
                apply_binary(work, op[n].code, top, top + count, result);
            else
                apply_unary(work, &op[n], top, result);
            memcpy(top, result, count * sizeof *top);
        }
        top += count;
    }
}

/* Memory for work->scratch, then the stack; small ones need no allocation. */
enum { SMALL = 32 };

static enum ht_err run(const struct ht_expr *expr, struct work work, double *out) {
    size_t count = (size_t)work.jets->count;
    size_t size = (SCRATCH + 1 + (size_t)expr->depth) * count;
    double small[SMALL] = {0}, *memory = small;
    if (size > SMALL) TRY(HT_ALLOC(memory, size));
    work.scratch = memory;
    double *stack = memory + (SCRATCH + 1) * count;
    evaluate(&work, expr->op, expr->count, stack);
    memcpy(out, stack, count * sizeof *out);
    if (memory != small) free(memory);
    return HT_OK;
}

enum ht_err ht_expr_jet(const struct ht_expr *expr, const struct ht_jets *jets, const double x[3],
                        const double h[3], double *out) {
    const struct work work = {.jets = jets, .x = x, .h = h};
    return run(expr, work, out);
}

/* A jet of degree 0 is a number. */
static int number_index[1][3], number_pair[1][3];
static const struct ht_jets number = {
    .dims = 1, .count = 1, .index = number_index, .pairs = 1, .pair = number_pair};

enum ht_err ht_expr_value(const struct ht_expr *expr, const double x[3], double *value,
                          uint64_t *branches) {
    const double h[3] = {1, 1, 1};
    uint64_t sides = branches ? *branches : 0;
    const struct work work = {
        .jets = &number, .x = x, .h = h, .branches = branches ? &sides : NULL};
    TRY(run(expr, work, value));
    if (branches) *branches = sides;
    return HT_OK;
}

/* ---- evaluation along lines ---- */

/* Each operation is done for a piece of the line, or once where its operands are the same at all
 * points. */
enum { PIECE = 128 };

/* An entry of the stack: value[0] alone where all are the same. */
struct entry {
    bool same;
    double value[PIECE];
};

static void spread_entry(struct entry *a, int64_t count) {
    for (int64_t i = 1; i < count && a->same; i++) a->value[i] = a->value[0];
    a->same = false;
}

static double value_unary(const struct ht_expr_op *op, double a) {
    if (op->code >= OP_FUNCTION) return functions[op->code - OP_FUNCTION].value(a);
    if (op->code == OP_POWER) return power(a, op->value);
    if (op->code == OP_STEP) return a >= 0 ? 1 : 0;
    return op->code == OP_NEGATE || a < 0 ? -a : a;
}

static double value_binary(int code, double a, double b) {
    if (code == OP_MIN) return a <= b ? a : b;
    if (code == OP_MAX) return a >= b ? a : b;
    return exp(b * log(a)); /* OP_POWER */
}

static void line_unary(const struct ht_expr_op *op, int64_t count, struct entry *a) {
    if (a->same) count = 1;
    for (int64_t i = 0; i < count; i++) a->value[i] = value_unary(op, a->value[i]);
}

/* a becomes a op b. */
static void line_binary(int code, int64_t count, struct entry *a, struct entry *b) {
    double *x = a->value;
    const double *y = b->value;
    if (a->same && b->same) {
        count = 1;
    } else {
        spread_entry(a, count);
        spread_entry(b, count);
    }
    if (code == OP_ADD)
        for (int64_t i = 0; i < count; i++) x[i] += y[i];
    else if (code == OP_SUBTRACT)
        for (int64_t i = 0; i < count; i++) x[i] -= y[i];
    else if (code == OP_MULTIPLY)
        for (int64_t i = 0; i < count; i++) x[i] *= y[i];
    else if (code == OP_DIVIDE)
        for (int64_t i = 0; i < count; i++) x[i] /= y[i];
    else
        for (int64_t i = 0; i < count; i++) x[i] = value_binary(code, x[i], y[i]);
}

enum ht_err ht_expr_line(const struct ht_expr *expr, int64_t count, const double *x1,
                         const double x[3], double *out) {
    struct entry *stack = NULL;
    TRY(HT_ALLOC(stack, expr->depth));
    for (int64_t at = 0; at < count; at += PIECE) {
        const int64_t some = ht_least(PIECE, count - at);
        /* The result is the lowest entry of the stack. */
        struct entry *top = stack; /* the free entry above the operands */
        for (int n = 0; n < expr->count; n++) {
            const struct ht_expr_op *op = &expr->op[n];
            const bool variable = op->code == OP_VARIABLE;
            if (variable && op->axis == 0) {
                top->same = false;
                memcpy(top->value, x1 + at, (size_t)some * sizeof *x1);
                top++;
            } else if (variable || op->code == OP_NUMBER) {
                top->same = true;
                top->value[0] = variable ? x[op->axis] : op->value;
                top++;
            } else if (op->operands == 2) {
                top--;
                line_binary(op->code, some, top - 1, top);
            } else {
                line_unary(op, some, top - 1);
            }
        }
        spread_entry(stack, some);
        memcpy(out + at, stack->value, (size_t)some * sizeof *out);
    }
    free(stack);
    return HT_OK;
}

/* ---- dependence ---- */

bool ht_expr_uses(const struct ht_expr *expr, int axis) {
    for (int n = 0; n < expr->count; n++)
        if (expr->op[n].code == OP_VARIABLE && expr->op[n].axis == axis) return true;
    return false;
}

/* Operations on numbers only were folded: a remaining one has an operand that depends on a
 * coordinate. */
bool ht_expr_smooth(const struct ht_expr *expr) {
    for (int n = 0; n < expr->count; n++)
        for (int f = 0; f < NFUNCTIONS; f++)
            if (expr->op[n].code == code_of(f) && !functions[f].word.smooth) return false;
    return true;
}

/* ---- writing the program ---- */

static enum ht_err append(struct ht_expr *expr, struct ht_expr_op op) {
    TRY(HT_GROW(expr->op, expr->count + 1, expr->room));
    expr->op[expr->count++] = op;
    expr->height += 1 - op.operands;
    if (expr->height > expr->depth) expr->depth = expr->height;
    return HT_OK;
}

/* If the last operation acts on numbers only, its result replaces them. */
static void fold(struct ht_expr *expr) {
    const struct ht_expr_op *last = &expr->op[expr->count - 1];
    int first = expr->count - 1 - last->operands;
    for (int n = first; n < expr->count - 1; n++)
        if (expr->op[n].code != OP_NUMBER) return;
    double scratch[SCRATCH + 1], stack[2];
    const double none[3] = {0}; /* no variable is among them */
    struct work work = {.jets = &number, .x = none, .h = none, .scratch = scratch};
    evaluate(&work, expr->op + first, expr->count - first, stack);
    expr->op[first] = (struct ht_expr_op){.code = OP_NUMBER, .value = stack[0]};
    expr->count = first + 1;
}

static enum ht_err write_operation(struct ht_expr *expr, int code, int operands) {
    struct ht_expr_op op = {.code = code, .operands = operands};
    /* A constant exponent allows any base and costs no logarithm. */
    if (code == OP_POWER && expr->op[expr->count - 1].code == OP_NUMBER) {
        op.operands = 1;
        op.value = expr->op[--expr->count].value;
        expr->height--;
    }
    TRY(append(expr, op));
    fold(expr);
    return HT_OK;
}

/* ---- parsing ---- */

struct parser {
    const char *text;
    size_t at;
    int nesting;
    struct ht_expr *expr;
};

static enum ht_err parse_sum(struct parser *p);

static char peek(struct parser *p) {
    while (isspace((unsigned char)p->text[p->at])) p->at++;
    return p->text[p->at];
}

static size_t name_length(const char *text) {
    size_t length = 0;
    if (isalpha((unsigned char)text[0]) || text[0] == '_')
        while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
    return length;
}

static enum ht_err expected(struct parser *p, const char *what) {
    char next = peek(p), found[48];
    const char *here = p->text + p->at;
    int length = (int)name_length(here);
    if (next == '\0')
        snprintf(found, sizeof found, "the end");
    else if (isprint((unsigned char)next))
        snprintf(found, sizeof found, "'%.*s'", length ? length : 1, here);
    else
        snprintf(found, sizeof found, "the byte 0x%02x", (unsigned char)next);
    FAIL(HT_ERR_INPUT, "column %zu: expected %s, found %s", p->at + 1, what, found);
}

/* name "(" sum { "," sum } ")", at the parenthesis. */
static enum ht_err parse_call(struct parser *p, int function) {
    char what[80];
    int operands = functions[function].word.operands;
    snprintf(what, sizeof what, "'(' after the function %s", functions[function].word.name);
    if (peek(p) != '(') return expected(p, what);
    p->at++;
    for (int n = 0; n < operands; n++) {
        TRY(parse_sum(p));
        char end = n + 1 < operands ? ',' : ')';
        snprintf(what, sizeof what, "'%c' (%s takes %d argument%s)", end,
                 functions[function].word.name, operands, operands > 1 ? "s" : "");
        if (peek(p) != end) return expected(p, what);
        p->at++;
    }
    return write_operation(p->expr, code_of(function), operands);
}

static enum ht_err parse_name(struct parser *p) {
    char name[32];
    size_t length = name_length(p->text + p->at);
    snprintf(name, sizeof name, "%.*s", (int)length, p->text + p->at);
    for (int n = 0; n < NFUNCTIONS; n++)
        if (strcmp(name, functions[n].word.name) == 0) {
            p->at += length;
            return parse_call(p, n);
        }
    for (int n = 0; n < NSYMBOLS; n++) {
        if (strcmp(name, symbols[n].word.name) != 0) continue;
        struct ht_expr_op op = {.code = OP_NUMBER, .value = symbols[n].value};
        if (symbols[n].axis >= 0)
            op = (struct ht_expr_op){.code = OP_VARIABLE, .axis = symbols[n].axis};
        p->at += length;
        return append(p->expr, op);
    }
    const char *known[NSYMBOLS + NFUNCTIONS];
    HT_FREED_TEXT struct ht_text list = {0};
    int count = 0;
    for (const struct ht_expr_word *w; (w = ht_expr_word(count)); count++) {
        known[count] = w->name;
        ht_text_add(&list, "%s %s", count == NSYMBOLS ? " and the functions" : "", w->name);
    }
    TRY(ht_text_status(&list));
    const char *near = ht_text_nearest(name, known, count);
    return ht_err_set(HT_ERR_INPUT, "column %zu: unknown name \"%s\"%s%s%s; known are%s", p->at + 1,
                      name, near ? ", nearest is \"" : "", near ? near : "", near ? "\"" : "",
                      list.data);
}

static enum ht_err parse_primary(struct parser *p) {
    char next = peek(p);
    if (isdigit((unsigned char)next) || next == '.') {
        const char *begin = p->text + p->at;
        char *end = NULL;
        /* strtod would also take hexadecimal numbers. */
        bool hexadecimal = begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X');
        double value = hexadecimal ? 0 : strtod(begin, &end);
        if (end == begin) return expected(p, "a number");
        p->at += hexadecimal ? 1 : (size_t)(end - begin);
        return append(p->expr, (struct ht_expr_op){.code = OP_NUMBER, .value = value});
    }
    if (name_length(p->text + p->at)) return parse_name(p);
    if (next != '(') return expected(p, "a number, a name or '('");
    p->at++;
    TRY(parse_sum(p));
    if (peek(p) != ')') return expected(p, "an operator or ')'");
    p->at++;
    return HT_OK;
}

/* Every recursion passes here: the nesting counted bounds the C stack. */
static enum ht_err parse_unary(struct parser *p) {
    REQUIRE(++p->nesting <= MAX_NESTING, HT_ERR_INPUT, "column %zu: nested deeper than %d levels",
            p->at + 1, MAX_NESTING);
    char sign = peek(p);
    if (sign == '-' || sign == '+') {
        p->at++;
        TRY(parse_unary(p));
        if (sign == '-') TRY(write_operation(p->expr, OP_NEGATE, 1));
    } else {
        TRY(parse_primary(p));
        if (peek(p) == '^') {
            p->at++;
            TRY(parse_unary(p));
            TRY(write_operation(p->expr, OP_POWER, 2));
        }
    }
    p->nesting--;
    return HT_OK;
}

static enum ht_err parse_product(struct parser *p) {
    TRY(parse_unary(p));
    for (char sign = peek(p); sign == '*' || sign == '/'; sign = peek(p)) {
        p->at++;
        TRY(parse_unary(p));
        TRY(write_operation(p->expr, sign == '*' ? OP_MULTIPLY : OP_DIVIDE, 2));
    }
    return HT_OK;
}

static enum ht_err parse_sum(struct parser *p) {
    TRY(parse_product(p));
    for (char sign = peek(p); sign == '+' || sign == '-'; sign = peek(p)) {
        p->at++;
        TRY(parse_product(p));
        TRY(write_operation(p->expr, sign == '+' ? OP_ADD : OP_SUBTRACT, 2));
    }
    return HT_OK;
}

enum ht_err ht_expr_parse(const char *text, struct ht_expr **out) {
    *out = NULL;
    struct ht_expr *expr;
    TRY(HT_ALLOC(expr, 1));
    struct parser parser = {.text = text, .expr = expr};
    enum ht_err err = parse_sum(&parser);
    if (!err && peek(&parser) != '\0') err = expected(&parser, "an operator or the end");
    return HT_MADE(err, expr, ht_expr_destroy, out);
}

void ht_expr_destroy(struct ht_expr *expr) {
    if (!expr) return;
    free(expr->op);
    free(expr);
}
