/* The library's shots and runs: see htwave/api.h. */
#include "api_private.h"

/* ---- preparation ---- */

enum { PROGRAMS = 64 }; /* that stay for the next model */

static enum ht_err plan(ht_api *api) {
    struct ht_survey *survey = NULL;
    if (api->survey != NULL && !api->stale) return HT_OK;
    ht_inverse_destroy(api->inverse);
    api->inverse = NULL;
    api->recorded = api->backed = -1;
    if (api->survey != NULL) return ht_survey_replan(api->survey);
    TRY(ht_survey_plan(api->params, NULL, api->params->shots.count > 0, &survey));
    if (survey->sim->device != NULL) ht_device_keep(survey->sim->device, PROGRAMS);
    enum ht_err err = ht_simulation_tune(survey->sim);
    if (err == HT_OK) err = ht_simulation_compile(survey->sim);
    return HT_MADE(err, survey, ht_survey_destroy, &api->survey);
}

/* After a model that was refused the next one is planned anew. */
static enum ht_err planned(ht_api *api) {
    api->silent = api->survey != NULL;
    const enum ht_err err = plan(api);
    api->silent = false;
    api->stale = err != HT_OK;
    return err;
}

enum ht_err ht_api_check_shot(const ht_api *api, int shot) {
    REQUIRE(shot >= 0 && shot < api->survey->count, HT_ERR_INPUT, "shot %d: must be 0 to %d", shot,
            api->survey->count - 1);
    return HT_OK;
}

static enum ht_err aim_at(ht_api *api, int shot) {
    TRY(planned(api));
    struct ht_survey *survey = api->survey;
    TRY(ht_api_check_shot(api, shot));
    if (survey->at == shot && api->rest) return HT_OK;
    api->recorded = api->backed = -1;
    const enum ht_err err = ht_survey_aim(survey, shot);
    api->rest = err == HT_OK;
    return err;
}

enum ht_err ht_api_aim(ht_api *api, int shot) {
    return HT_API_PREPARES(aim_at(api, shot));
}

enum ht_err ht_api_prepare(ht_api *api) {
    return HT_API_PREPARES(planned(api));
}

const struct ht_plan *ht_api_plan(const ht_api *api) {
    return api->survey->sim->plan;
}

/* ---- facts ---- */

static enum ht_err find_group(ht_api *api, int shot, int group,
                              const struct ht_receiver_group **out) {
    TRY(ht_api_aim(api, shot));
    const struct ht_receivers *receivers = ht_api_plan(api)->receivers;
    const int count = receivers != NULL ? receivers->count : 0;
    REQUIRE(group >= 0 && group < count, HT_ERR_INPUT,
            "group %d of receivers: shot %d has %d, from 0 on", group, shot, count);
    *out = &receivers->group[group];
    return HT_OK;
}

int ht_api_shots(ht_api *api, int *count) {
    const int code = HT_API_CALL(api, ht_api_prepare(api));
    if (code == 0) *count = api->survey->count;
    return code;
}

int ht_api_time(ht_api *api, double *step, int64_t *steps, double *end) {
    const int code = HT_API_CALL(api, ht_api_prepare(api));
    if (code == 0) {
        *step = ht_api_plan(api)->problem.dt;
        *steps = ht_api_plan(api)->steps;
        *end = api->params->time.end;
    }
    return code;
}

int ht_api_groups(ht_api *api, int shot, int *count) {
    const int code = HT_API_CALL(api, ht_api_aim(api, shot));
    const struct ht_receivers *receivers = code == 0 ? ht_api_plan(api)->receivers : NULL;
    if (code == 0) *count = receivers != NULL ? receivers->count : 0;
    return code;
}

int ht_api_group(ht_api *api, int shot, int group, struct ht_api_group *out) {
    const struct ht_receiver_group *found = NULL;
    const int code = HT_API_CALL(api, find_group(api, shot, group, &found));
    if (found == NULL) return code;
    const struct ht_receivers *receivers = ht_api_plan(api)->receivers;
    *out = (struct ht_api_group){.receivers = found->count,
                                 .readings = found->readings,
                                 .samples = found->samples,
                                 .start = ht_receivers_time(receivers, found, 0),
                                 .every = found->every > 0 ? found->every : receivers->dt};
    snprintf(out->name, sizeof out->name, "%s", found->name);
    return code;
}

int ht_api_positions(ht_api *api, int shot, int group, double *x) {
    const struct ht_receiver_group *found = NULL;
    const int code = HT_API_CALL(api, find_group(api, shot, group, &found));
    if (found != NULL) memcpy(x, found->x, (size_t)found->count * sizeof *found->x);
    return code;
}

static enum ht_err find_reading(ht_api *api, int shot, int group, int reading, char name[64]) {
    const struct ht_receiver_group *found = NULL;
    TRY(find_group(api, shot, group, &found));
    REQUIRE(reading >= 0 && reading < found->readings, HT_ERR_INPUT,
            "reading %d: receivers \"%s\" have %d, from 0 on", reading, found->name,
            found->readings);
    snprintf(name, 64, "%s", found->reading[reading].name);
    return HT_OK;
}

int ht_api_reading(ht_api *api, int shot, int group, int reading, char name[64]) {
    return HT_API_CALL(api, find_reading(api, shot, group, reading, name));
}

/* ---- snapshots ---- */

static enum ht_err snapshots_look(void *context, const struct ht_view *view) {
    ht_api *api = context;
    const struct ht_plan *plan = view->run->plan;
    const struct ht_grid box = ht_grid_inner(&plan->grid), *grid = &box;
    struct ht_api_snapshot snapshot = {
        .step = view->run->steps, .time = view->time, .rank = grid->dims};
    for (int k = 0; k < 3; k++) {
        const bool exists = k < grid->dims;
        snapshot.lower[k] = exists ? grid->lower[k] : 0;
        snapshot.spacing[k] = exists ? grid->h[k] : 0;
        if (exists) snapshot.shape[grid->dims - 1 - k] = ht_grid_nodes(grid, HT_PRIMARY, k);
    }
    HT_EACH_STORED(f, &plan->problem, HT_PRIMARY) {
        snapshot.field = plan->eq.system->field[f].name;
        snapshot.values = view->nodal[f];
        REQUIRE(api->snapshot(api->snapshot_context, &snapshot) == 0, HT_ERR_INTERRUPTED,
                "interrupted at step %lld of %lld", (long long)snapshot.step,
                (long long)plan->steps);
    }
    return HT_OK;
}

int ht_api_snapshots(ht_api *api, double every, ht_api_snapshot_take *take, void *context) {
    if (!(every >= 0 && isfinite(every)))
        return (int)ht_err_set(HT_ERR_INPUT,
                               "ht_api_snapshots: every %g must be a time, or 0 for "
                               "the end alone",
                               every);
    api->every = every;
    api->snapshot = take;
    api->snapshot_context = context;
    return 0;
}

/* ---- a run ---- */

static enum ht_err run(ht_api *api, struct ht_recording *recording) {
    struct ht_energies energies = {.series = NULL};
    struct ht_observer observers[3] = {ht_observe_energy(&energies),
                                       ht_observe_receivers(recording)};
    int count = 2;
    if (api->snapshot != NULL)
        observers[count++] = (struct ht_observer){.name = "snapshots",
                                                  .context = api,
                                                  .needs = HT_NEED_JUDGED | HT_NEED_NODAL,
                                                  .every = api->every,
                                                  .look = snapshots_look};
    struct ht_run *of = &api->survey->sim->run;
    TRY(ht_run_execute(of, count, observers));
    REQUIRE(!of->interrupted, HT_ERR_INTERRUPTED, "interrupted at step %lld of %lld",
            (long long)of->steps, (long long)of->plan->steps);
    return HT_OK;
}

int64_t ht_api_samples(const ht_api *api) {
    const struct ht_receivers *receivers = ht_api_plan(api)->receivers;
    int64_t count = 0;
    for (int n = 0; receivers != NULL && n < receivers->count; n++)
        count += ht_api_values(&receivers->group[n]);
    return count;
}

void ht_api_take(const ht_api *api, const struct ht_recording *recording, double *traces) {
    for (int n = 0; n < recording->groups; n++) {
        const int64_t count = ht_api_values(&ht_api_plan(api)->receivers->group[n]);
        memcpy(traces, recording->data[n], (size_t)count * sizeof *traces);
        traces += count;
    }
}

enum ht_err ht_api_run(ht_api *api, int shot, double *traces) {
    HT_ENDED(ht_recording_free) struct ht_recording recording = {.output = NULL};
    TRY(ht_api_aim(api, shot));
    api->rest = false;
    api->recorded = api->backed = -1;
    api->survey->sim->run.stepper.follow = NULL;
    TRY(run(api, &recording));
    ht_api_take(api, &recording, traces);
    return HT_OK;
}

int ht_api_forward(ht_api *api, int shot, int record, double *traces) {
    return HT_API_CALL(api, (record ? ht_api_record : ht_api_run)(api, shot, traces));
}
