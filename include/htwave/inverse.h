/* The inverse problem of a survey (docs/developers/gradients.md): misfits of the traces of its
 * shots to observed ones, and their gradient by parameters of the medium. */
#pragma once

#include "htwave/gradient_file.h"
#include "htwave/misfit.h"
#include "htwave/survey.h"

/* Of each shot: forward, misfit (or another r), backward, add; at last finish. */
struct ht_inverse {
    struct ht_survey *survey;
    struct ht_medium_gradient *medium;
    struct ht_gradient *gradient;  /* of the survey's stepper; NULL: there is none yet */
    struct ht_gradient_sums sums;  /* of the shots that were added; of the first group of ranks */
    struct ht_recording traces;    /* of the last run forwards */
    double *at_places;             /* of the last adjoint run, as in sums; of rank 0 of the group */
    int64_t step;                  /* of that run */
    struct ht_gradient_facts used; /* of the last run */
    double forward_s, adjoint_s;   /* of the shots of this group of ranks, by the clock */
};
/* For the parameters and by the ways that the keys of gradient say. The survey is ready
 * (ht_simulation_compile). Collective. */
HT_ERR ht_inverse_create(struct ht_survey *survey, struct ht_inverse **out);
void ht_inverse_destroy(struct ht_inverse *inverse); /* NULL allowed; before the survey */
/* Reads the data and weights of all shots of this group of ranks, so that what is wrong with them
 * is refused before anything is run or written; before there is a stepper. Collective there. */
HT_ERR ht_inverse_check(const struct ht_inverse *inverse);
/* The survey is aimed at the shot, and inverse->gradient is there, or refused for want of memory;
 * nothing is written. Collective in the group. */
HT_ERR ht_inverse_ready(struct ht_inverse *inverse, int shot);
/* The run of a shot, called title by its progress. inverse->traces.data on rank 0 of the group. */
HT_ERR ht_inverse_forward(struct ht_inverse *inverse, int shot, const char *title);
/* chi of those traces, on all ranks of the group, and r = d chi / d sample, like traces.data and
 * from the pool, on rank 0. */
HT_ERR ht_inverse_misfit(struct ht_inverse *inverse, struct ht_pool *pool, double ***r,
                         struct ht_misfit *misfit);
/* The adjoint run of the shot that was run forwards, with such an r on rank 0. */
HT_ERR ht_inverse_backward(struct ht_inverse *inverse, double *const *r);
/* The sums of the shots that the groups of ranks have run, done + group each, of which there may be
 * fewer in the end, are added to those before them in the order of shots. Collective. */
HT_ERR ht_inverse_add(struct ht_inverse *inverse, double chi);
/* inverse->medium has the gradient of the shots that were added, on all ranks. Collective. */
HT_ERR ht_inverse_finish(struct ht_inverse *inverse);
