/* A handle of the library. */
#pragma once

#include "htwave/api.h"
#include "htwave/inverse.h"

/* A parameter's array. */
struct ht_api_model {
    double *values; /* NULL: it has none */
    int64_t count;
};
struct ht_api {
    struct ht_params *params;
    struct ht_api_model model[HT_MAX_MEDIUM_OPTIONS]; /* as params->medium.given */
    double **signal;                                  /* [source]; NULL: none was set */
    struct ht_survey *survey;                         /* NULL: not planned yet */
    bool rest;                                        /* its run is at rest */
    bool stale;                                       /* of another model */
    struct ht_inverse *inverse;                       /* of the survey; NULL: no gradients yet */
    int recorded; /* the shot that ht_api_backward is of; -1: none */
    int backed;   /* the shot of the last adjoint run, which nothing followed; -1: none */
    int (*stop)(void *context);
    void *stop_context;
    double asked; /* by the clock */
    void (*take)(void *context, const char *text);
    void *take_context;
    bool silent;  /* what was said of the first model is not said again */
    double every; /* between snapshots */
    ht_api_snapshot_take *snapshot;
    void *snapshot_context;
};

/* What is said and what ends runs is the handle's, from a call's begin to its end; its code. */
void ht_api_enter(ht_api *api);
int ht_api_leave(enum ht_err err);
#define HT_API_CALL(api, call) (ht_api_enter(api), ht_api_leave(call))
/* What follows from the input but the model. */
void ht_api_forget(ht_api *api);
HT_CHECKED enum ht_err ht_api_model_find(const ht_api *api, const char *parameter, int *out);

/* ---- api_run.c ---- */
/* The survey is that of the model. */
HT_CHECKED enum ht_err ht_api_prepare(ht_api *api);
HT_CHECKED enum ht_err ht_api_check_shot(const ht_api *api, int shot);
/* The plan of a shot, and its state at rest. */
HT_CHECKED enum ht_err ht_api_aim(ht_api *api, int shot);
const struct ht_plan *ht_api_plan(const ht_api *api);
/* Samples of a group's traces; of all. */
static inline int64_t ht_api_values(const struct ht_receiver_group *group) {
    return group->count * group->readings * group->samples;
}
int64_t ht_api_samples(const ht_api *api);
/* The traces of a run, one group after the other. */
void ht_api_take(const ht_api *api, const struct ht_recording *recording, double *traces);
HT_CHECKED enum ht_err ht_api_run(ht_api *api, int shot, double *traces);
/* ---- api_gradient.c ---- */
/* Gradients are by all arrays. */
HT_CHECKED enum ht_err ht_api_choose_all(ht_api *api);
/* The same, for ht_api_backward. */
HT_CHECKED enum ht_err ht_api_record(ht_api *api, int shot, double *traces);

/* A call during which no other thread prepares. */
void ht_api_preparing(void);
HT_CHECKED enum ht_err ht_api_prepared(enum ht_err err);
#define HT_API_PREPARES(call) (ht_api_preparing(), ht_api_prepared(call))
