/* Expressions in x1, x2, x3, evaluated as jets.
 *
 * Grammar (spaces are ignored):
 *     sum     = product { ("+" | "-") product }
 *     product = unary { ("*" | "/") unary }
 *     unary   = ("-" | "+") unary | power
 *     power   = primary [ "^" unary ]          so -x^2 = -(x^2), right assoc.
 *     primary = number | name | name "(" sum { "," sum } ")" | "(" sum ")"
 *
 * The parser writes a postfix program; operations on constants are folded as
 * they are written. The evaluator runs the program on a stack of jets, so
 * that derivatives come from the rules of calculus, never from differences.
 */
#include "jet_math.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 200, SCRATCH = 3 };

enum code {
    OP_NUMBER,
    OP_VARIABLE,
    OP_NEGATE,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_POWER,
    OP_SIN,
    OP_COS,
    OP_TAN,
    OP_EXP,
    OP_LOG,
    OP_SQRT,
    OP_TANH,
    OP_SINH,
    OP_COSH,
    OP_ATAN,
    OP_ERF,
    OP_ABS,
    OP_MIN,
    OP_MAX,
    OP_STEP
};

struct op {
    enum code code;
    int operands;
    int axis;     /* OP_VARIABLE */
    double value; /* OP_NUMBER; OP_POWER: the exponent if operands is 1 */
};

struct ht_expr {
    struct op *op;
    int count, capacity;
    int height, depth; /* of the stack: after the last operation, largest */
};

static const struct {
    const char *name;
    enum code code;
    int operands;
} functions[] = {
    {"sin", OP_SIN, 1},   {"cos", OP_COS, 1},   {"tan", OP_TAN, 1},
    {"exp", OP_EXP, 1},   {"log", OP_LOG, 1},   {"sqrt", OP_SQRT, 1},
    {"tanh", OP_TANH, 1}, {"sinh", OP_SINH, 1}, {"cosh", OP_COSH, 1},
    {"atan", OP_ATAN, 1}, {"erf", OP_ERF, 1},   {"abs", OP_ABS, 1},
    {"min", OP_MIN, 2},   {"max", OP_MAX, 2},   {"step", OP_STEP, 1},
    {"pow", OP_POWER, 2},
};
enum { NFUNCTIONS = sizeof functions / sizeof functions[0] };

/* ---- evaluation ---- */

/* What an operation may use besides its operands. */
struct work {
    const struct ht_jets *jets;
    const double *x, *h;
    double *scratch; /* SCRATCH jets */
};

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

/* base^b = exp(b log base) for an exponent that varies. */
static void power(const struct work *work, const double *base, const double *b,
                  double *out) {
    size_t count = (size_t)work->jets->count;
    double *logarithm = work->scratch + 2 * count;
    ht_jet_log(work->jets, base, work->scratch, logarithm);
    ht_jet_multiply(work->jets, b, logarithm, work->scratch);
    ht_jet_exp(work->jets, work->scratch, out);
}

static void apply_binary(const struct work *work, enum code code,
                         const double *a, const double *b, double *out) {
    const struct ht_jets *jets = work->jets;
    if (code == OP_MULTIPLY) {
        ht_jet_multiply(jets, a, b, out);
    } else if (code == OP_DIVIDE) {
        ht_jet_divide(jets, a, b, out);
    } else if (code == OP_POWER) {
        power(work, a, b, out);
    } else if (code == OP_MIN || code == OP_MAX) {
        bool first = code == OP_MIN ? a[0] <= b[0] : a[0] >= b[0];
        memcpy(out, first ? a : b, (size_t)jets->count * sizeof *out);
    } else {
        double sign = code == OP_SUBTRACT ? -1 : 1;
        for (int n = 0; n < jets->count; n++) out[n] = a[n] + sign * b[n];
    }
}

/* Functions that are linear on either side of zero. */
static void apply_sided(const struct work *work, enum code code,
                        const double *a, double *out) {
    if (code == OP_STEP) {
        set_number(work, a[0] >= 0 ? 1 : 0, out);
        return;
    }
    double sign = code == OP_NEGATE || a[0] < 0 ? -1 : 1;
    for (int n = 0; n < work->jets->count; n++) out[n] = sign * a[n];
}

static void apply_unary(const struct work *work, const struct op *op,
                        const double *a, double *out) {
    const struct ht_jets *jets = work->jets;
    double *scratch = work->scratch;
    switch (op->code) {
    case OP_POWER:
        ht_jet_power(jets, a, op->value, scratch, out);
        break;
    case OP_SQRT:
        ht_jet_power(jets, a, 0.5, scratch, out);
        break;
    case OP_SIN:
        ht_jet_sincos(jets, a, -1, out, scratch);
        break;
    case OP_COS:
        ht_jet_sincos(jets, a, -1, scratch, out);
        break;
    case OP_SINH:
        ht_jet_sincos(jets, a, 1, out, scratch);
        break;
    case OP_COSH:
        ht_jet_sincos(jets, a, 1, scratch, out);
        break;
    case OP_EXP:
        ht_jet_exp(jets, a, out);
        break;
    case OP_LOG:
        ht_jet_log(jets, a, scratch, out);
        break;
    case OP_TAN:
        ht_jet_tan(jets, a, scratch, out);
        break;
    case OP_TANH:
        ht_jet_tanh(jets, a, scratch, out);
        break;
    case OP_ATAN:
        ht_jet_atan(jets, a, scratch, out);
        break;
    case OP_ERF:
        ht_jet_erf(jets, a, scratch, out);
        break;
    default:
        apply_sided(work, op->code, a, out);
        break;
    }
}

/* Runs ops on the stack of jets; the result is its lowest entry. */
static void evaluate(const struct work *work, const struct op *op, int nops,
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

enum ht_err ht_expr_jet(const struct ht_expr *expr, const struct ht_jets *jets,
                        const double x[3], const double h[3], double *out) {
    size_t count = (size_t)jets->count;
    double *memory;
    TRY(HT_ALLOC(memory, (SCRATCH + 1 + (size_t)expr->depth) * count));
    struct work work = {.jets = jets, .x = x, .h = h, .scratch = memory};
    double *stack = memory + (SCRATCH + 1) * count;
    evaluate(&work, expr->op, expr->count, stack);
    memcpy(out, stack, count * sizeof *out);
    free(memory);
    return HT_OK;
}

/* ---- writing the program ---- */

static enum ht_err append(struct ht_expr *expr, struct op op) {
    if (expr->count == expr->capacity) {
        int capacity = expr->capacity ? 2 * expr->capacity : 16;
        struct op *grown;
        TRY(HT_ALLOC(grown, capacity));
        if (expr->count)
            memcpy(grown, expr->op, (size_t)expr->count * sizeof *grown);
        free(expr->op);
        expr->op = grown;
        expr->capacity = capacity;
    }
    expr->op[expr->count++] = op;
    expr->height += 1 - op.operands;
    if (expr->height > expr->depth) expr->depth = expr->height;
    return HT_OK;
}

/* If the last operation acts on numbers only, its result replaces them. */
static void fold(struct ht_expr *expr) {
    const struct op *last = &expr->op[expr->count - 1];
    int first = expr->count - 1 - last->operands;
    for (int n = first; n < expr->count - 1; n++)
        if (expr->op[n].code != OP_NUMBER) return;
    int index[1][3] = {{0}}, pair[1][3] = {{0}};
    const struct ht_jets scalar = {
        .dims = 1, .count = 1, .index = index, .pairs = 1, .pair = pair};
    double scratch[SCRATCH + 1], stack[2];
    struct work work = {.jets = &scalar, .scratch = scratch};
    evaluate(&work, expr->op + first, expr->count - first, stack);
    expr->op[first] = (struct op){.code = OP_NUMBER, .value = stack[0]};
    expr->count = first + 1;
}

static enum ht_err write_operation(struct ht_expr *expr, enum code code,
                                   int operands) {
    struct op op = {.code = code, .operands = operands};
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
        while (isalnum((unsigned char)text[length]) || text[length] == '_')
            length++;
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
    FAIL(HT_ERR_INPUT, "column %zu: expected %s, found %s", p->at + 1, what,
         found);
}

static enum ht_err unknown_name(struct parser *p, const char *name) {
    const char *known[NFUNCTIONS + 4] = {"x1", "x2", "x3", "pi"};
    struct ht_text list = {0};
    for (int n = 0; n < NFUNCTIONS; n++) {
        known[n + 4] = functions[n].name;
        ht_text_add(&list, " %s", functions[n].name);
    }
    enum ht_err err = ht_text_status(&list);
    if (err == HT_OK) {
        const char *near = ht_text_nearest(name, known, NFUNCTIONS + 4);
        err = ht_err_set(HT_ERR_INPUT,
                         "column %zu: unknown name \"%s\"%s%s%s; known are "
                         "x1 x2 x3 pi and the functions%s",
                         p->at + 1, name, near ? ", nearest is \"" : "",
                         near ? near : "", near ? "\"" : "", list.data);
    }
    ht_text_free(&list);
    return err;
}

/* name "(" sum { "," sum } ")", at the parenthesis. */
static enum ht_err parse_call(struct parser *p, int function) {
    char what[80];
    int operands = functions[function].operands;
    snprintf(what, sizeof what, "'(' after the function %s",
             functions[function].name);
    if (peek(p) != '(') return expected(p, what);
    p->at++;
    for (int n = 0; n < operands; n++) {
        TRY(parse_sum(p));
        char end = n + 1 < operands ? ',' : ')';
        snprintf(what, sizeof what, "'%c' (%s takes %d argument%s)", end,
                 functions[function].name, operands, operands > 1 ? "s" : "");
        if (peek(p) != end) return expected(p, what);
        p->at++;
    }
    return write_operation(p->expr, functions[function].code, operands);
}

static enum ht_err parse_name(struct parser *p) {
    char name[32];
    size_t length = name_length(p->text + p->at);
    snprintf(name, sizeof name, "%.*s", (int)length, p->text + p->at);
    struct op op = {.code = OP_VARIABLE};
    if (strcmp(name, "pi") == 0) {
        op.code = OP_NUMBER;
        op.value = 3.14159265358979323846;
    } else if (length == 2 && name[0] == 'x' && name[1] >= '1' &&
               name[1] <= '3') {
        op.axis = name[1] - '1';
    } else {
        for (int n = 0; n < NFUNCTIONS; n++)
            if (strcmp(name, functions[n].name) == 0) {
                p->at += length;
                return parse_call(p, n);
            }
        return unknown_name(p, name);
    }
    p->at += length;
    return append(p->expr, op);
}

static enum ht_err parse_number(struct parser *p) {
    const char *begin = p->text + p->at;
    char *end = NULL;
    /* strtod would also take hexadecimal numbers. */
    bool hexadecimal = begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X');
    double value = hexadecimal ? 0 : strtod(begin, &end);
    if (end == begin) return expected(p, "a number");
    p->at += hexadecimal ? 1 : (size_t)(end - begin);
    return append(p->expr, (struct op){.code = OP_NUMBER, .value = value});
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
    REQUIRE(++p->nesting <= MAX_NESTING, HT_ERR_INPUT,
            "column %zu: nested deeper than %d levels", p->at + 1, MAX_NESTING);
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
    if (err != HT_OK) {
        ht_expr_destroy(expr);
        return err;
    }
    *out = expr;
    return HT_OK;
}

void ht_expr_destroy(struct ht_expr *expr) {
    if (!expr) return;
    free(expr->op);
    free(expr);
}
