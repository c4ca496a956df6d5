/* Expressions at the points of a line along x1: each operation is done for a piece of the line, or
 * once where its operands are the same at all points.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr_private.h"
#include "jet_math.h"

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
    switch (op->code) {
    case OP_POWER:
        return ht_power(a, op->value);
    case OP_SQRT:
        return ht_power(a, 0.5);
    case OP_SIN:
        return sin(a);
    case OP_COS:
        return cos(a);
    case OP_TAN:
        return sin(a) / cos(a);
    case OP_EXP:
        return exp(a);
    case OP_LOG:
        return log(a);
    case OP_TANH:
        return tanh(a);
    case OP_SINH:
        return sinh(a);
    case OP_COSH:
        return cosh(a);
    case OP_ATAN:
        return atan(a);
    case OP_ERF:
        return erf(a);
    case OP_STEP:
        return a >= 0 ? 1 : 0;
    case OP_ABS:
        return a < 0 ? -a : a;
    default:
        return -a; /* OP_NEGATE */
    }
}

static double value_binary(enum ht_expr_code code, double a, double b) {
    if (code == OP_MIN) return a <= b ? a : b;
    if (code == OP_MAX) return a >= b ? a : b;
    return exp(b * log(a)); /* OP_POWER */
}

static void apply_unary(const struct ht_expr_op *op, int64_t count, struct entry *a) {
    if (a->same) count = 1;
    for (int64_t i = 0; i < count; i++) a->value[i] = value_unary(op, a->value[i]);
}

/* a becomes a op b. */
static void apply_binary(enum ht_expr_code code, int64_t count, struct entry *a, struct entry *b) {
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

/* The result is the lowest entry of the stack. */
static void evaluate_piece(const struct ht_expr *expr, int64_t count, const double *x1,
                           const double x[3], struct entry *stack) {
    struct entry *top = stack; /* the free entry above the operands */
    for (int n = 0; n < expr->count; n++) {
        const struct ht_expr_op *op = &expr->op[n];
        const bool variable = op->code == OP_VARIABLE;
        if (variable && op->axis == 0) {
            top->same = false;
            memcpy(top->value, x1, (size_t)count * sizeof *x1);
            top++;
        } else if (variable || op->code == OP_NUMBER) {
            top->same = true;
            top->value[0] = variable ? x[op->axis] : op->value;
            top++;
        } else if (op->operands == 2) {
            top--;
            apply_binary(op->code, count, top - 1, top);
        } else {
            apply_unary(op, count, top - 1);
        }
    }
}

enum ht_err ht_expr_line(const struct ht_expr *expr, int64_t count, const double *x1,
                         const double x[3], double *out) {
    struct entry *stack = NULL;
    TRY(HT_ALLOC(stack, expr->depth));
    for (int64_t at = 0; at < count; at += PIECE) {
        const int64_t some = ht_least(PIECE, count - at);
        evaluate_piece(expr, some, x1 + at, x, stack);
        spread_entry(stack, some);
        memcpy(out + at, stack->value, (size_t)some * sizeof *out);
    }
    free(stack);
    return HT_OK;
}
