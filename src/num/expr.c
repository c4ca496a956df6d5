/* Jets, and expressions that are evaluated as jets. */
#include "htwave/num.h"

/* Jets: truncated multivariate Taylor series over a fixed set of multi-indices.
 *
 * The set is downward closed (with a it holds every b <= a), so that the product, cut to the set,
 * has exact coefficients:
 *     (f g)_k = sum over i + j = k of f_i g_j            (Leibniz, scaled).
 *
 * Invariants that expressions build on: entry 0 is the zero multi-index; if b <= a in every
 * component and b != a, b comes before a; the first pair of each k has i = 0. */

/* Degree and pairs of a set whose indices are filled in. */
static HT_ERR complete(struct ht_jets *jets) {
    int pairs = 0, side = 1;
    HT_EACH_BY(n, const int, a, jets->index[n], jets->count) {
        jets->degree = (int)ht_most(jets->degree, a[0] + a[1] + a[2]);
        for (int k = 0; k < 3; k++) side = (int)ht_most(side, a[k] + 1);
        pairs += (a[0] + 1) * (a[1] + 1) * (a[2] + 1); /* multi-indices i <= a */
    }
    TRY(HT_ALLOC(jets->pair, pairs));
    TRY(HT_ALLOC(jets->first, jets->count + 1));
    HT_ARRAY(int, entry, (side * side * side)); /* by place in the enclosing cube */
    for (int n = 0, at = 0; n < jets->count; n++) {
        const int *k = jets->index[n];
        entry[(k[2] * side + k[1]) * side + k[0]] = n; /* those of i and k - i are known */
        for (int i2 = 0; i2 <= k[2]; i2++)
            for (int i1 = 0; i1 <= k[1]; i1++)
                for (int i0 = 0; i0 <= k[0]; i0++, at++) {
                    jets->pair[at][0] = entry[(i2 * side + i1) * side + i0];
                    jets->pair[at][1] = entry[((k[2] - i2) * side + k[1] - i1) * side + k[0] - i0];
                }
        jets->first[n + 1] = at;
    }
    return HT_OK;
}

static HT_ERR make(int dims, int degree, bool total, struct ht_jets *jets) {
    int all = 1;
    jets->dims = dims;
    for (int k = 0; k < dims; k++) all *= degree + 1;
    TRY(HT_ALLOC(jets->index, all));
    for (int n = 0; n < all; n++) {
        int *a = jets->index[jets->count], rest = n;
        for (int k = 0; k < dims; k++, rest /= degree + 1)
            a[total ? dims - 1 - k : k] = rest % (degree + 1);
        jets->count += !total || a[0] + a[1] + a[2] <= degree;
    }
    return complete(jets);
}

HT_ERR ht_jets_make(int dims, int degree, bool total, struct ht_jets **out) {
    HT_CREATE(out, make(dims, degree, total, *out), ht_jets_destroy);
}

void ht_jets_destroy(struct ht_jets *jets) {
    if (!jets) return;
    free(jets->index);
    free(jets->pair);
    free(jets->first);
    free(jets);
}

void ht_jet_multiply(const struct ht_jets *jets, const double *a, const double *b, double *out) {
    if (jets->degree == 0) {
        for (int n = 0; n < jets->count; n++) out[n] = a[n] * b[n];
        return;
    }
    for (int k = 0; k < jets->count; k++) {
        double sum = 0;
        for (int p = jets->first[k]; p < jets->first[k + 1]; p++)
            sum += a[jets->pair[p][0]] * b[jets->pair[p][1]];
        out[k] = sum;
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

/* Entry k of F with derivative w, of which entries before k are taken. */
static double grow(const struct ht_jets *jets, const double *g, const double *w, int k) {
    double sum = 0;
    for (int p = jets->first[k] + 1; p < jets->first[k + 1]; p++) {
        const int i = jets->pair[p][0];
        sum += total(jets, i) * g[i] * w[jets->pair[p][1]];
    }
    return sum / total(jets, k);
}

/* F with F_0 = value and derivative w, which may be F. */
static void integrate(const struct ht_jets *jets, const double *g, const double *w, double value,
                      double *out) {
    out[0] = value;
    for (int k = 1; k < jets->count; k++) out[k] = grow(jets, g, w, k);
}

static void jet_divide(const struct ht_jets *jets, const double *a, const double *b, double *out) {
    if (is_constant(jets, b)) {
        for (int n = 0; n < jets->count; n++) out[n] = a[n] / b[0];
        return;
    }
    for (int k = 0; k < jets->count; k++) {
        double rest = a[k];
        /* The first pair has i = 0: the unknown itself. */
        for (int p = jets->first[k] + 1; p < jets->first[k + 1]; p++)
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

/* curvature -1: sine and cosine; +1: hyperbolic sine and cosine. */
static void jet_sincos(const struct ht_jets *jets, const double *g, int curvature, double *sine,
                       double *cosine) {
    sine[0] = curvature < 0 ? sin(g[0]) : sinh(g[0]);
    cosine[0] = curvature < 0 ? cos(g[0]) : cosh(g[0]);
    for (int k = 1; k < jets->count; k++) {
        sine[k] = grow(jets, g, cosine, k);
        cosine[k] = curvature * grow(jets, g, sine, k);
    }
}

/* g^exponent, exponent >= 0, by repeated squaring. product: a jet. */
static void power_integer(const struct ht_jets *jets, const double *g, int exponent,
                          double *product, double *out) {
    const size_t bytes = (size_t)jets->count * sizeof *out;
    int bit = 1;
    while (bit <= exponent / 2) bit *= 2;
    set_constant(jets, 1, out);
    if (exponent > 0) memcpy(out, g, bytes);
    while ((bit /= 2) > 0) {
        ht_jet_multiply(jets, out, out, product);
        memcpy(out, product, bytes);
        if ((exponent & bit) == 0) continue;
        ht_jet_multiply(jets, out, g, product);
        memcpy(out, product, bytes);
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
            ht_jet_reciprocal(jets, scratch, out);
        }
    } else {
        /* g E P = exponent P E g, solved for the entry with the highest index. */
        out[0] = pow(g[0], exponent);
        for (int k = 1; k < jets->count; k++) {
            double sum = 0;
            for (int p = jets->first[k] + 1; p < jets->first[k + 1]; p++) {
                const int *pair = jets->pair[p];
                double weight = exponent * total(jets, pair[0]) - total(jets, pair[1]);
                sum += weight * g[pair[0]] * out[pair[1]];
            }
            out[k] = sum / (total(jets, k) * g[0]);
        }
    }
}

/* Jets of functions of a; scratch: SCRATCH jets. */
enum { SCRATCH = 2 };
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
/* NOLINTNEXTLINE(readability-non-const-parameter): as the others */
JET(exp, integrate(jets, a, out, exp(a[0]), out))

JET(log, ht_jet_reciprocal(jets, a, scratch), integrate(jets, a, scratch, log(a[0]), out))

/* F and w = F' = 1 + sign F^2, with their values at g_0. */
static void jet_tangent(const struct ht_jets *jets, const double *g, int sign, double value,
                        double *w, double *out) {
    out[0] = value;
    for (int k = 1; k < jets->count; k++) {
        out[k] = grow(jets, g, w, k);
        w[k] = 0;
        for (int p = jets->first[k]; p < jets->first[k + 1]; p++)
            w[k] += sign * out[jets->pair[p][0]] * out[jets->pair[p][1]];
    }
}
JET(tan, scratch[0] = pow(cos(a[0]), -2), jet_tangent(jets, a, 1, tan(a[0]), scratch, out))
JET(tanh, scratch[0] = pow(cosh(a[0]), -2), jet_tangent(jets, a, -1, tanh(a[0]), scratch, out))

JET(atan, ht_jet_multiply(jets, a, a, out), out[0] += 1, ht_jet_reciprocal(jets, out, scratch),
    integrate(jets, a, scratch, atan(a[0]), out))

static void jet_erf(const struct ht_jets *jets, const double *g, double *scratch, double *out) {
    double *square = scratch, *slope = scratch + jets->count;
    ht_jet_multiply(jets, g, g, square);
    for (int n = 0; n < jets->count; n++) square[n] = -square[n];
    integrate(jets, square, slope, exp(square[0]), slope);
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

/* From OP_ABS on, what is not smooth; from OP_FUNCTION on, rows of `functions` without code. */
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

/* Each level of parentheses leaves at most four operands on the stack. */
enum { MAX_NESTING = 200, MAX_DEPTH = 4 * MAX_NESTING + 4 };

static double value_sqrt(double a) {
    return power(a, 0.5);
}

/* Messages and manuals are made from these rows. */
static const struct {
    struct ht_expr_word word;
    enum ht_expr_code code; /* or both of: */
    double (*value)(double a);
    void (*jet)(const struct ht_jets *jets, const double *a, double *scratch, double *out);
} functions[] = {
    {{"sin", "(a)", "sine, of radians", true, 1}, 0, sin, jet_sin},
    {{"cos", "(a)", "cosine", true, 1}, 0, cos, jet_cos},
    {{"tan", "(a)", "tangent", true, 1}, 0, tan, jet_tan},
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

/* ---- evaluation as numbers ---- */

/* One operation on numbers; b: the second operand, if there is one. branches: as ht_expr_value. */
static double operate(const struct ht_expr_op *op, double a, double b, uint64_t *branches) {
    const bool side = op->code == OP_MIN ? a <= b : op->code == OP_MAX ? a >= b : a >= 0;
    if (branches && op->code >= OP_ABS && op->code < OP_FUNCTION)
        *branches = ht_hash(*branches, &side, sizeof side);
    switch (op->code) {
    case OP_NEGATE:
        return -a;
    case OP_POWER:
        return op->operands == 1 ? power(a, op->value) : exp(b * log(a));
    case OP_ABS:
        return a < 0 ? -a : a;
    case OP_MIN:
    case OP_MAX:
        return side ? a : b;
    case OP_STEP:
        return side;
    default:
        return functions[op->code - OP_FUNCTION].value(a);
    }
}

static void operate_line(const struct ht_expr_op *op, int64_t count, double *a, const double *b,
                         uint64_t *branches) {
    if (op->code == OP_ADD)
        for (int64_t i = 0; i < count; i++) a[i] += b[i];
    else if (op->code == OP_SUBTRACT)
        for (int64_t i = 0; i < count; i++) a[i] -= b[i];
    else if (op->code == OP_MULTIPLY)
        for (int64_t i = 0; i < count; i++) a[i] *= b[i];
    else if (op->code == OP_DIVIDE)
        for (int64_t i = 0; i < count; i++) a[i] /= b[i];
    else
        for (int64_t i = 0; i < count; i++) a[i] = operate(op, a[i], b[i], branches);
}

/* Runs ops at the points x1[i], x[1], x[2] on a stack of `count` numbers each; the result is its
 * lowest entry. Where operands are the same at all points an operation is done once. */
static void evaluate(const struct ht_expr_op *op, int nops, int64_t count, const double *x1,
                     const double *x, uint64_t *branches, double *stack) {
    bool known[MAX_DEPTH + 1] = {0}, *same = known; /* the entry's first number alone is set */
    double *a = stack;
    for (int n = 0; n < nops; n++, op++, a += count, same++) {
        if (op->code <= OP_VARIABLE) {
            *same = op->code == OP_NUMBER || op->axis > 0;
            *a = op->code == OP_NUMBER ? op->value : x[op->axis];
            if (!*same) memcpy(a, x1, (size_t)count * sizeof *a);
            continue;
        }
        a -= op->operands * count;
        same -= op->operands;
        const bool once = same[0] && same[op->operands - 1];
        for (int k = 0; k < op->operands && !once; k++)
            for (int64_t i = 1; i < count && same[k]; i++) a[k * count + i] = a[k * count];
        *same = once;
        operate_line(op, once ? 1 : count, a, a + (op->operands - 1) * count, branches);
    }
    for (int64_t i = 1; i < count && known[0]; i++) stack[i] = stack[0];
}

double ht_expr_value(const struct ht_expr *expr, const double x[3], uint64_t *branches) {
    double stack[MAX_DEPTH];
    evaluate(expr->op, expr->count, 1, x, x, branches, stack);
    return stack[0];
}

HT_ERR ht_expr_line(const struct ht_expr *expr, int64_t count, const double *x1, const double x[3],
                    double *out) {
    enum { PIECE = 128 };
    HT_ARRAY(double, stack, (expr->depth * PIECE));
    for (int64_t at = 0; at < count; at += PIECE) {
        const int64_t some = ht_least(PIECE, count - at);
        evaluate(expr->op, expr->count, some, x1 + at, x, NULL, stack);
        memcpy(out + at, stack, (size_t)some * sizeof *out);
    }
    return HT_OK;
}

/* ---- evaluation as jets ---- */

/* One operation; b: the second operand, if there is one. */
static void operate_jets(const struct ht_jets *jets, const struct ht_expr_op *op, const double *a,
                         const double *b, double *scratch, double *out) {
    const size_t bytes = (size_t)jets->count * sizeof *out;
    const int code = op->code;
    if (code == OP_ADD || code == OP_SUBTRACT) {
        for (int n = 0; n < jets->count; n++) out[n] = code == OP_ADD ? a[n] + b[n] : a[n] - b[n];
    } else if (code == OP_MULTIPLY) {
        ht_jet_multiply(jets, a, b, out);
    } else if (code == OP_DIVIDE) {
        jet_divide(jets, a, b, out);
    } else if (code == OP_POWER && op->operands == 1) {
        jet_power(jets, a, op->value, scratch, out);
    } else if (code == OP_POWER) {
        /* base^b = exp(b log base) for an exponent that varies. */
        double *logarithm = scratch + jets->count;
        jet_log(jets, a, scratch, logarithm);
        ht_jet_multiply(jets, b, logarithm, scratch);
        jet_exp(jets, scratch, NULL, out);
    } else if (code == OP_MIN || code == OP_MAX) {
        memcpy(out, (code == OP_MIN ? a[0] <= b[0] : a[0] >= b[0]) ? a : b, bytes);
    } else if (code == OP_STEP) {
        set_constant(jets, a[0] >= 0 ? 1 : 0, out);
    } else if (code == OP_NEGATE || code == OP_ABS) {
        const double sign = code == OP_NEGATE || a[0] < 0 ? -1 : 1;
        for (int n = 0; n < jets->count; n++) out[n] = sign * a[n];
    } else {
        functions[code - OP_FUNCTION].jet(jets, a, scratch, out);
    }
}

HT_ERR ht_expr_jet(const struct ht_expr *expr, const struct ht_jets *jets, const double x[3],
                   const double h[3], double *out) {
    const ptrdiff_t count = jets->count;
    HT_ARRAY(double, scratch, (SCRATCH + 1 + expr->depth) * count);
    double *result = scratch + SCRATCH * count, *stack = result + count, *top = stack;
    for (int n = 0; n < expr->count; n++, top += count) {
        const struct ht_expr_op *op = &expr->op[n];
        if (op->code > OP_VARIABLE) {
            top -= op->operands * count;
            operate_jets(jets, op, top, top + count, scratch, result);
            memcpy(top, result, (size_t)count * sizeof *top);
            continue;
        }
        set_constant(jets, op->code == OP_NUMBER ? op->value : x[op->axis], top);
        /* x_axis = x + h xi: the entry of first degree is h. */
        for (int a = 1; a < jets->count && op->code == OP_VARIABLE; a++)
            if (jets->index[a][op->axis] == 1 && total(jets, a) == 1) top[a] = h[op->axis];
    }
    memcpy(out, stack, (size_t)count * sizeof *out);
    return HT_OK;
}

bool ht_expr_uses(const struct ht_expr *expr, int axis) {
    for (int n = 0; n < expr->count; n++)
        if (expr->op[n].code == OP_VARIABLE && expr->op[n].axis == axis) return true;
    return false;
}

/* Operations on numbers only were folded: a remaining one has an operand that depends on a
 * coordinate. */
bool ht_expr_smooth(const struct ht_expr *expr) {
    for (int n = 0; n < expr->count; n++)
        if (expr->op[n].code >= OP_ABS && expr->op[n].code < OP_FUNCTION) return false;
    return true;
}

static HT_ERR append(struct ht_expr *expr, struct ht_expr_op op) {
    TRY(HT_GROW(expr->op, expr->count + 1, expr->room));
    expr->op[expr->count++] = op;
    expr->height += 1 - op.operands;
    if (expr->height > expr->depth) expr->depth = expr->height;
    return HT_OK;
}

static HT_ERR write_operation(struct ht_expr *expr, int code, int operands) {
    struct ht_expr_op op = {.code = code, .operands = operands};
    /* A constant exponent allows any base and costs no logarithm. */
    if (code == OP_POWER && expr->op[expr->count - 1].code == OP_NUMBER) {
        op.operands = 1;
        op.value = expr->op[--expr->count].value;
        expr->height--;
    }
    TRY(append(expr, op));
    /* If it acts on numbers only, its result replaces them. */
    const int first = expr->count - 1 - op.operands;
    for (int n = first; n < expr->count - 1; n++)
        if (expr->op[n].code != OP_NUMBER) return HT_OK;
    double stack[2];
    const double none[3] = {0}; /* no variable is among them */
    evaluate(expr->op + first, expr->count - first, 1, none, none, NULL, stack);
    expr->op[first] = (struct ht_expr_op){.code = OP_NUMBER, .value = stack[0]};
    expr->count = first + 1;
    return HT_OK;
}

/* ---- parsing ---- */

struct parser {
    const char *text;
    size_t at;
    int nesting;
    struct ht_expr *expr;
};

static HT_ERR parse_level(struct parser *p, int level);

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

static HT_ERR expected(struct parser *p, const char *what) {
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
static HT_ERR parse_call(struct parser *p, int function) {
    char what[80];
    int operands = functions[function].word.operands;
    snprintf(what, sizeof what, "'(' after the function %s", functions[function].word.name);
    if (peek(p) != '(') return expected(p, what);
    p->at++;
    for (int n = 0; n < operands; n++) {
        TRY(parse_level(p, 0));
        char end = n + 1 < operands ? ',' : ')';
        snprintf(what, sizeof what, "'%c' (%s takes %d argument%s)", end,
                 functions[function].word.name, operands, operands > 1 ? "s" : "");
        if (peek(p) != end) return expected(p, what);
        p->at++;
    }
    const bool coded = functions[function].jet == NULL;
    return write_operation(p->expr, coded ? (int)functions[function].code : OP_FUNCTION + function,
                           operands);
}

static HT_ERR parse_name(struct parser *p) {
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

static HT_ERR parse_primary(struct parser *p) {
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
    TRY(parse_level(p, 0));
    if (peek(p) != ')') return expected(p, "an operator or ')'");
    p->at++;
    return HT_OK;
}

/* Every recursion passes here: the nesting counted bounds the C stack. */
static HT_ERR parse_unary(struct parser *p) {
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

/* Level 0: sums; 1: products. */
static HT_ERR parse_level(struct parser *p, int level) {
    static const struct {
        const char *signs;
        int code[2];
    } levels[] = {{"+-", {OP_ADD, OP_SUBTRACT}}, {"*/", {OP_MULTIPLY, OP_DIVIDE}}};
    if (level == 2) return parse_unary(p);
    TRY(parse_level(p, level + 1));
    const char *signs = levels[level].signs, *sign;
    while (peek(p) != '\0' && (sign = strchr(signs, peek(p))) != NULL) {
        p->at++;
        TRY(parse_level(p, level + 1));
        TRY(write_operation(p->expr, levels[level].code[sign - signs], 2));
    }
    return HT_OK;
}

HT_ERR ht_expr_parse(const char *text, struct ht_expr **out) {
    *out = NULL;
    struct ht_expr *expr;
    TRY(HT_ALLOC(expr, 1));
    struct parser parser = {.text = text, .expr = expr};
    enum ht_err err = parse_level(&parser, 0);
    if (!err && peek(&parser) != '\0') err = expected(&parser, "an operator or the end");
    return HT_MADE(err, expr, ht_expr_destroy, out);
}

void ht_expr_destroy(struct ht_expr *expr) {
    if (!expr) return;
    free(expr->op);
    free(expr);
}
