/* Arguments of the kernel of cl/inject.cl, passed by value. Read by the host's compiler and by the
 * device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_INJECT_ARGS_H
#define HTWAVE_INJECT_ARGS_H

struct ht_inject_args {
    long first, count; /* nodes of the list */
    long nodes;        /* of the window */
    long row;          /* of the table: the field's first amplitude */
    long size;         /* values of a shape, */
    long field;        /* and of the fields before this one */
    long odd;          /* those of the field before its first coefficient */
    int coefs;         /* of a node, with gaps */
    int terms;
    int both; /* adds to v, too */
};

#endif
