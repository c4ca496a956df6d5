/* What the parts of gradients share (htwave/gradient.h): the forward field in the reverse order of
 * time, for the sums of an adjoint run. */
#pragma once

#include "fd.h"
#include "htwave/gradient.h"

/* A way to have it: a row of functions, and the first member of what they work on. */
struct ht_fd_past {
    const struct ht_fd_past_ops *ops;
    struct ht_fd_stepper *forward;
    int64_t steps; /* N */
    double sign;   /* of the increments that are shown */
    bool values;   /* u is needed, not its increments alone */
    bool slopes;   /* and its planes beyond the slab */
    struct ht_gradient_facts facts;
};
struct ht_fd_past_ops {
    /* The forward run begins: its stepper is at rest. */
    enum ht_err (*begin)(struct ht_fd_past *past);
    /* As ht_gradient_next and ht_gradient_look. */
    int64_t (*next)(const struct ht_fd_past *past, int64_t from);
    enum ht_err (*look)(struct ht_fd_past *past, int64_t step);
    /* For n = N, N - 1 .. 1: the forward stepper has u(n - 1), sign (u(n) - u(n - 1)) and the
     * number of steps n - 1, as before step n. */
    enum ht_err (*show)(struct ht_fd_past *past, int64_t n);
    /* After the last one that is shown, also where that failed; NULL: nothing. */
    void (*end)(struct ht_fd_past *past);
    void (*destroy)(struct ht_fd_past *past);
};
/* `store` and `checkpoint` (fd_kept.c): in no more than `memory` bytes; those of a step and of a
 * state, the most of all ranks. Collective. */
HT_CHECKED enum ht_err ht_fd_kept_bytes(const struct ht_fd_past *of, double bytes[2]);
HT_CHECKED enum ht_err ht_fd_kept_create(const struct ht_fd_past *of, bool store, double memory,
                                         struct ht_fd_past **out);
/* `reverse` (fd_reverse.c). Collective. */
HT_CHECKED enum ht_err ht_fd_reverse_create(const struct ht_fd_past *of,
                                            const struct ht_fd_shell_choice *choice,
                                            struct ht_fd_past **out);
