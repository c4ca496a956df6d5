/* Gradients by the adjoint state, of schemes by finite differences (docs/developers/gradients.md):
 * the derivative of a function chi of the traces by the medium at the nodes, and by the amplitudes
 * of the sources. A run forwards keeps what is needed of its states; an adjoint run, the same steps
 * from rest with the derivatives of chi by the traces as sources at the receivers, in the reverse
 * order of time, meets them.
 *
 * A shot:
 *     the forward stepper is at rest and has the shot's sources; ht_gradient_aim
 *     for n = 0 .. N, after step n: ht_gradient_look
 *     ht_gradient_run: the adjoint run; then read the sums
 * N = ht_resampling_last(plan). All are collective and return the same on all ranks. */
#pragma once

#include "htwave/sampler.h"

/* Where the forward field comes from:
 *     reverse: the forward run backwards, with what it recorded in front of the layers;
 *     checkpoint: states that it kept on the device, from which parts of it are run again;
 *     store: what it kept of each step on the device. */
enum { HT_GRADIENT_WHOLE = 64 };
struct ht_gradient_choice {
    enum ht_gradient_image image; /* cross: HT_GRADIENT_COMPLIANCE is W sum q(n) u(n - 1), and the
                                     illumination sum u^2; other sums mean nothing */
    enum ht_gradient_field field;
    int64_t memory; /* bytes of the device for the forward field; 0: 80 % of what is free */
    /* Of what `reverse` records: bits of a value, HT_GRADIENT_WHOLE: those of the run, 0: 16 in
     * single precision; each so many-th step, 0: chosen; bytes of the host's memory, 0: 80 % of
     * what is free; the folder of the file that takes them otherwise; NULL: none. */
    int bits, every;
    int64_t host;
    const char *folder;
};
/* What was chosen, and what it takes. */
struct ht_gradient_facts {
    enum ht_gradient_field field; /* not HT_GRADIENT_AUTO */
    int64_t segments;             /* parts of the forward run; all but the last are run again */
    int64_t field_bytes;          /* of this rank, on the device: for the forward field, */
    int64_t device, host;         /* and in all, beside the forward stepper */
    int64_t file;
};

/* Refuses, with key and way out, plans that have no gradient: other schemes, initial data, sources
 * from outside, sources and receivers near absorbing layers, steps that a model chooses. */
HT_ERR ht_gradient_check(const struct ht_plan *plan);

struct ht_gradient;
/* Of a plan that ht_gradient_check accepts and the stepper that runs it, whose medium and kernels
 * the adjoint run shares; both must outlive it. A medium that was put into the stepper anew counts
 * from the next run on. */
HT_ERR ht_gradient_create(const struct ht_plan *plan, const struct ht_stepper *forward,
                          const struct ht_gradient_choice *choice, struct ht_gradient **out);
void ht_gradient_destroy(struct ht_gradient *gradient); /* NULL allowed; before the stepper */
/* For a forward run with the stepper's present sources and its receivers, which must outlive it. */
HT_ERR ht_gradient_aim(struct ht_gradient *gradient, const struct ht_receivers *receivers);
HT_ERR ht_gradient_look(struct ht_gradient *gradient, int64_t step);
/* amplitude[step][trace] of steps 0 .. N, on all ranks: the derivative of chi by what the sampler
 * gives of a trace at a step (ht_gather_transpose). Afterwards the forward stepper has no state
 * that means something. The sums below are those of the last run. */
HT_ERR ht_gradient_run(struct ht_gradient *gradient, const double *amplitude);

/* At the nodes; in layers 0. Of a pair in place of the first and the third kind: + c: d chi / d
 * C_rq, coefficient number c of ht_pair_make(.., HT_PAIR_APART, ..), at the points where
 * ht_frame_fill gives it, however the run's medium is made (in a uniform one, too); of couplings at
 * oblique faces (behind those of terms), where a run has some, by what it takes of them, theta
 * C_rq, 0 at points that are not listed. The value of C_rq, r != q, counts in both rows. Every
 * entry counts with its volume, the closures' weights at free sides included; those behind a wall,
 * images of others, are 0. Where C is singular, in a fluid and on free sides, changes of C of
 * groups without couplings count as far as they leave its range as it is: the shear modulus of a
 * fluid has no derivative (0). */
enum ht_gradient_sum {
    HT_GRADIENT_COMPLIANCE,      /* d chi / d m at the primary nodes, m = 1 / modulus */
    HT_GRADIENT_ILLUMINATION,    /* sum over the steps of (u(t) - u(t - dt))^2; of a pair of those
                                    of group 1, added up where they stand for a node */
    HT_GRADIENT_INVERSE_DENSITY, /* + axis: d chi / d b, b = 1 / rho half a spacing above the nodes;
                                    0 behind a wall */
    HT_GRADIENT_COEFFICIENT = HT_GRADIENT_INVERSE_DENSITY, /* of a pair: + c */
    HT_GRADIENT_SUMS = HT_GRADIENT_COEFFICIENT + 24
};
/* Inverse density: where it varies. */
bool ht_gradient_has(const struct ht_gradient *gradient, enum ht_gradient_sum sum);
/* Own planes [first, last): out[plane][n2][n1]. */
HT_ERR ht_gradient_get(struct ht_gradient *gradient, enum ht_gradient_sum sum, int64_t first,
                       int64_t last, double *out);
/* Derivatives by couplings theta C_rq, on own planes as ht_gradient_get has them, or sums of such,
 * become those by C_rq of the medium's fit, and those by the other coefficients get what they have
 * by theta; sum[coefficient]. Once. Collective. */
HT_ERR ht_gradient_couple(const struct ht_plan *plan, double *const *sum);
/* The derivative of chi by a factor of all that a shot in the place of a source group adds. */
HT_ERR ht_gradient_push(const struct ht_gradient *gradient, int group, const struct ht_shot *shot,
                        double *out);
/* The same by the samples of the group's signal, where that is a file: out[signal->samples]. */
HT_ERR ht_gradient_signal(const struct ht_gradient *gradient, int group, double *out);
void ht_gradient_facts(const struct ht_gradient *gradient, struct ht_gradient_facts *out);
