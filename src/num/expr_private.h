/* The program of an expression, shared by expr.c, which writes it and runs it on jets, and
 * expr_line.c, which runs it on the points of a line. */
#ifndef HTWAVE_NUM_EXPR_PRIVATE_H
#define HTWAVE_NUM_EXPR_PRIVATE_H

#include "htwave/num.h"

enum ht_expr_code {
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

struct ht_expr_op {
    enum ht_expr_code code;
    int operands;
    int axis;     /* OP_VARIABLE */
    double value; /* OP_NUMBER; OP_POWER: the exponent if operands is 1 */
};

struct ht_expr {
    struct ht_expr_op *op;
    int count, capacity;
    int height, depth; /* of the stack: after the last operation, largest */
};

#endif
