/* Misfits of traces p to observed ones d, and their derivatives by p (docs/gradients.md). */
#pragma once

#include "htwave/shots.h"

struct ht_misfit_of {
    int64_t traces, samples;
    double every;         /* time between samples */
    const double *p, *d;  /* [trace][sample] */
    const double *weight; /* the same; NULL: 1 */
};
struct ht_misfit {
    double chi;
    int64_t silent; /* traces of which p or d has no energy, as far as they matter */
};
/* r[trace][sample] = d chi/d p; adds to *sum. A silent trace counts nothing: its r is 0. Sums do
 * not depend on the number of threads. */
HT_ERR ht_misfit_add(enum ht_misfit_type type, const struct ht_misfit_of *of, double *r,
                     struct ht_misfit *sum);
/* The same of all groups, each [group][reading][receiver][sample]; weight NULL: 1. */
HT_ERR ht_misfit_groups(enum ht_misfit_type type, const struct ht_receivers *receivers,
                        double *const *p, double *const *d, double *const *weight, double *const *r,
                        struct ht_misfit *sum);
