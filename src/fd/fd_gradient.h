/* What the parts of gradients share (htwave/gradient.h): the forward field in the reverse order of
 * time, for the sums of an adjoint run, and what gradients of one field and of pairs differ in. */
#pragma once

#include "fd.h"

/* `store` and `checkpoint` (fd_kept.c): in no more than `memory` bytes; those of a step and of a
 * state, the most of all ranks. Collective. */
HT_ERR ht_fd_kept_bytes(const struct ht_fd_past *of, double bytes[2]);
HT_ERR ht_fd_kept_create(const struct ht_fd_past *of, bool store, double memory,
                         struct ht_fd_past **out);
/* `reverse` (fd_shell.c), of one field. Collective. */
HT_ERR ht_fd_reverse_create(const struct ht_fd_past *of, const struct ht_fd_shell_choice *choice,
                            struct ht_fd_past **out);

struct ht_gradient {
    const struct ht_fd_gradient_ops *ops;
    const struct ht_plan *plan;
    struct ht_fd_stepper *forward, *adjoint;
    struct ht_stepper handle, read;   /* of the adjoint one; with strains in place of fields */
    struct ht_tool *products, *block; /* NULL: the plain engine; of a pair's coupled fields */
    struct ht_fd_past *past;
    int64_t steps; /* N */
    struct ht_buffer *sum[HT_GRADIENT_SUMS];
    bool cross; /* the sums are an image */
    double larger,
        factor; /* the adjoint fields than for amplitudes that are given, than they are */
    int traces;
    struct ht_sampler *sampler[HT_FD_BY]; /* of one field of q, with two terms of o */
    int64_t taken[HT_FD_BY];
    double *amplitude[HT_FD_BY]; /* [step][group] the derivative of chi by what a step adds; NULL:
                                    one term */
    struct ht_pair apart;        /* of a pair: whose coefficients the sums are by */
    struct ht_fd_injection *removed[HT_MAX_FIELDS]; /* as of ht_fd_injections_create */
    struct ht_pair_strains *strains;                /* NULL: no couplings at oblique faces */
};
struct ht_fd_gradient_ops {
    bool (*has)(const struct ht_gradient *g, enum ht_gradient_sum sum);
    /* The tools, and what is needed of the forward run. */
    enum ht_err (*make)(struct ht_gradient *g, struct ht_fd_past *past);
    /* What the sources are by, beside those of the adjoint stepper; NULL: nothing. */
    enum ht_err (*aim)(struct ht_gradient *g, const struct ht_receivers *receivers);
    /* Rows of what reads a source group from the adjoint fields. */
    enum ht_err (*list)(const struct ht_gradient *g, int group, struct ht_sampler *out);
    /* The sums, after adjoint step N - n + 1, of which the first passes of the next one are done,
     * with what is shown of step n; then those of all steps become derivatives, NULL: they are. */
    enum ht_err (*correlate)(struct ht_gradient *g);
    enum ht_err (*finish)(struct ht_gradient *g);
    /* Where a sum's values lie, a parity, and its factor beside the nodes' weights. */
    double (*place)(const struct ht_gradient *g, enum ht_gradient_sum sum, unsigned *parity);
};
extern const struct ht_fd_gradient_ops ht_pair_gradient;
/* Adds rows of a field at the nodes of a point, times their weights. */
HT_ERR ht_fd_list_nodes(const struct ht_gradient *g, int field, const struct ht_point *point,
                        struct ht_sampler *out);

/* ---- pair_gradient.c: strains, of a pair with couplings at oblique faces ---- */
/* In g->strains, which stays NULL without them: the others do nothing then. */
HT_ERR ht_pair_strains_create(struct ht_gradient *g);
void ht_pair_strains_destroy(struct ht_gradient *g);
/* Numbers in the memory of the engine. */
int64_t ht_pair_strains_numbers(const struct ht_gradient *g);
/* An adjoint run begins, with amplitudes of its sources; it has done the pass of a group. */
HT_ERR ht_pair_strains_begin(struct ht_gradient *g, const double *amplitude);
HT_ERR ht_pair_strains_pass(struct ht_gradient *g, int group);
/* Whether a sum is one of these; own planes of it. */
bool ht_pair_strains_sum(const struct ht_gradient *g, enum ht_gradient_sum sum);
HT_ERR ht_pair_strains_read(const struct ht_gradient *g, enum ht_gradient_sum sum, int64_t first,
                            int64_t last, double *out);
