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
 * calculus, never from differences.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jet.h"

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
JET(sin, ht_jet_sincos(jets, a, -1, out, scratch))
JET(cos, ht_jet_sincos(jets, a, -1, scratch, out))
JET(sinh, ht_jet_sincos(jets, a, 1, out, scratch))
JET(cosh, ht_jet_sincos(jets, a, 1, scratch, out))
/* NOLINTNEXTLINE(readability-non-const-parameter): as the others */
JET(exp, ht_jet_exp(jets, a, out))
JET(sqrt, ht_jet_power(jets, a, 0.5, scratch, out))

static double value_tan(double a) {
    return sin(a) / cos(a);
}

static double value_sqrt(double a) {
    return ht_power(a, 0.5);
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
    {{"tan", "(a)", "tangent", true, 1}, 0, value_tan, ht_jet_tan},
    {{"exp", "(a)", "exponential function", true, 1}, 0, exp, jet_exp},
    {{"log", "(a)", "natural logarithm", true, 1}, 0, log, ht_jet_log},
    {{"sqrt", "(a)", "square root", true, 1}, 0, value_sqrt, jet_sqrt},
    {{"tanh", "(a)", "hyperbolic tangent", true, 1}, 0, tanh, ht_jet_tanh},
    {{"sinh", "(a)", "hyperbolic sine", true, 1}, 0, sinh, jet_sinh},
    {{"cosh", "(a)", "hyperbolic cosine", true, 1}, 0, cosh, jet_cosh},
    {{"atan", "(a)", "arc tangent", true, 1}, 0, atan, ht_jet_atan},
    {{"erf", "(a)", "error function", true, 1}, 0, erf, ht_jet_erf},
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

static void set_number(const struct work *work, double value, double *out) {
    memset(out, 0, (size_t)work->jets->count * sizeof *out);
    out[0] = value;
}

/* x_axis = x + h xi: the entry of first degree is h. */
static void set_variable(const struct work *work, int axis, double *out) {
    set_number(work, work->x[axis], out);
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
        ht_jet_divide(jets, a, b, out);
    } else if (code == OP_POWER) {
        /* base^b = exp(b log base) for an exponent that varies. */
        size_t count = (size_t)work->jets->count;
        double *logarithm = work->scratch + 2 * count;
        ht_jet_log(work->jets, a, work->scratch, logarithm);
        ht_jet_multiply(work->jets, b, logarithm, work->scratch);
        ht_jet_exp(work->jets, work->scratch, out);
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
        set_number(work, a[0] >= 0 ? 1 : 0, out);
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
        ht_jet_power(work->jets, a, op->value, work->scratch, out);
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
            set_number(work, op[n].value, top);
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
    if (op->code == OP_POWER) return ht_power(a, op->value);
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

static enum ht_err parse_number(struct parser *p) {
    const char *begin = p->text + p->at;
    char *end = NULL;
    /* strtod would also take hexadecimal numbers. */
    bool hexadecimal = begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X');
    double value = hexadecimal ? 0 : strtod(begin, &end);
    if (end == begin) return expected(p, "a number");
    p->at += hexadecimal ? 1 : (size_t)(end - begin);
    return append(p->expr, (struct ht_expr_op){.code = OP_NUMBER, .value = value});
}

static enum ht_err parse_primary(struct parser *p) {
    char next = peek(p);
    if (isdigit((unsigned char)next) || next == '.') return parse_number(p);
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

static enum ht_err parse_all(struct parser *p) {
    TRY(parse_sum(p));
    if (peek(p) != '\0') return expected(p, "an operator or the end");
    return HT_OK;
}

enum ht_err ht_expr_parse(const char *text, struct ht_expr **out) {
    *out = NULL;
    struct ht_expr *expr;
    TRY(HT_ALLOC(expr, 1));
    struct parser parser = {.text = text, .expr = expr};
    enum ht_err err = parse_all(&parser);
    return HT_MADE(err, expr, ht_expr_destroy, out);
}

void ht_expr_destroy(struct ht_expr *expr) {
    if (!expr) return;
    free(expr->op);
    free(expr);
}
