/* Finite differences on a device against the plain engine (selfcheck.c): the
 * oracle, the bound of rounding, problems to compare on.
 */
#include <math.h>

#include "fd.h"
#include "htwave/part.h"
#include "src/solve/methods.h"

enum ht_err ht_differences_oracle_create(const struct ht_problem *problem,
                                         struct ht_stepper *out) {
    const struct ht_fd_spec spec = ht_fd_spec_of(problem, true);
    struct ht_fd_engine engine;
    ht_fd_engine_plain(&spec, &engine);
    return ht_fd_stepper_create(problem, &engine, out);
}

/* ---- verification ---- */

/* Longest chain of roundings behind an output, of both passes: the products of
 * an operator, and some for its factors and the medium in single precision. A
 * layer's q, or L_k, becomes F, r' and what u takes by 12 more at most, after
 * which two sums follow for each side. */
double ht_differences_oracle_roundings(const struct ht_problem *p) {
    const double radius = p->fd.order / 2.0, dims = p->eq->dims;
    const double products = p->fd.density ? 4 * radius : 2 * radius + 1;
    const double layers = p->layers != NULL ? products + 12 + 4 * dims : 0;
    return p->stages * (dims * products + 8) + layers;
}

/* Some more points than the stencil spans. */
void ht_differences_shrink(const struct ht_problem *problem,
                           const struct ht_variant *variant,
                           struct ht_part *out) {
    const struct ht_fd_spec spec = ht_fd_spec_of(problem, true);
    (void)variant;
    const int64_t least = ht_fd_reach(&spec) + 2;
    const struct ht_box box = {.end = {least + 3, least + 1, least}};
    ht_problem_part(problem, &box, HT_SIDES_SAME, HT_MEDIUM_TEST, out);
}
