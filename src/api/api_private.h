/* A handle of the library. */
#pragma once

#include "htwave/api.h"
#include "htwave/survey.h"

/* A parameter's array. */
struct ht_api_model {
    double *values; /* NULL: it has none */
    int64_t count;
};
struct ht_api {
    struct ht_params *params;
    struct ht_api_model model[HT_MAX_MEDIUM_OPTIONS]; /* as params->medium.given */
    struct ht_survey *survey;                         /* NULL: not planned yet */
    bool rest;                                        /* its run is at rest */
    bool stale;                                       /* of another model */
    int (*stop)(void *context);
    void *stop_context;
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
/* From here on no other thread prepares; or it may. */
void ht_api_prepares(bool begins);
