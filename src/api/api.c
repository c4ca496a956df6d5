/* The library's functions (htwave/api.h): arguments are checked, what a call needs is prepared, and
 * what the library says goes to the caller.
 *
 * Preparation (files, devices, plans, kernels) is done by one thread of the process at a time:
 * HDF5, the tables of options and the devices' contexts are the process's. Steps are not. */
#include <pthread.h>

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

/* At the begin of a function: what is said and what ends runs is the handle's to its end. */
#define HT_API_CALL(api) HT_ENDED(leave) HT_UNUSED ht_api *called = enter(api)
/* All functions here return codes for callers. */
#undef TRY
#define TRY(call)                         \
    do {                                  \
        const int code_ = (int)(call);    \
        if (code_ != HT_OK) return code_; \
    } while (0)
/* A call during which no other thread prepares. */
#define HT_API_PREPARES(call) (preparing(), prepared(call))

static pthread_mutex_t preparation = PTHREAD_MUTEX_INITIALIZER;

static void preparing(void) {
    (void)pthread_mutex_lock(&preparation);
}

static int prepared(int code) {
    (void)pthread_mutex_unlock(&preparation);
    return code;
}

int ht_api_version(void) {
    return HT_API_VERSION;
}

const char *ht_api_release(void) {
    return HT_VERSION;
}

const char *ht_api_error(void) {
    return ht_err_message();
}

/* ---- what is said, and what ends a run ---- */

static void say(void *context, const char *head, const char *text) {
    ht_api *api = context;
    HT_FREED char *line = NULL;
    if (api->take == NULL || api->silent || *head == '\0' ||
        ht_text_print(&line, "%s%s", head, text) != HT_OK)
        return;
    api->take(api->take_context, line);
}

/* Asked as often as somebody notices. */
static bool wanted(void *context) {
    const double apart = 0.1, now = ht_clock();
    ht_api *api = context;
    if (api->stop == NULL || now - api->asked < apart) return false;
    api->asked = now;
    return api->stop(api->stop_context) != 0;
}

static ht_api *enter(ht_api *api) {
    api->asked = 0;
    ht_log_to(say, api);
    ht_stop_by(wanted, api);
    return api;
}

static void leave(HT_UNUSED ht_api *const *called) {
    ht_log_to(NULL, NULL);
    ht_stop_by(NULL, NULL);
}

void ht_api_stop(ht_api *api, int (*stop)(void *context), void *context) {
    api->stop = stop;
    api->stop_context = context;
}

void ht_api_messages(ht_api *api, void (*take)(void *context, const char *text), void *context) {
    api->take = take;
    api->take_context = context;
}

/* ---- open and close ---- */

static const char *name_of(int i) {
    return ht_medium_option_at(i)->key + strlen("medium.");
}

/* Values of a parameter's file, which from here on are in memory. */
static int load(ht_api *api, int i) {
    struct ht_params *params = api->params;
    struct ht_medium_given *given = &params->medium.given[i];
    const struct ht_option *option = ht_medium_option_at(i);
    struct ht_api_model *model = &api->model[i];
    const char *dataset = params->medium.dataset;
    if (option->type != HT_OPT_MEDIUM || given->value.kind != HT_VALUE_TEXT) return HT_OK;
    if (params->medium.type == HT_MEDIUM_FILE) {
        TRY(ht_params_blame(params, option->key,
                            ht_samples_load(params, given->value.text,
                                            *dataset ? dataset : name_of(i), &model->values)));
        given->memory = model->values;
    }
    model->count = 1;
    for (int k = 0; k < 3; k++) model->count *= ht_most(params->medium.shape[k], 1);
    if (model->values == NULL) TRY(HT_ALLOC(model->values, model->count));
    return HT_OK;
}

/* What follows from the input but the model. */
static void forget(ht_api *api) {
    ht_inverse_destroy(api->inverse);
    ht_survey_destroy(api->survey);
    api->inverse = NULL;
    api->survey = NULL;
    api->recorded = api->backed = -1;
}

static int find_model(const ht_api *api, const char *parameter, int *out) {
    HT_FREED_TEXT struct ht_text names = {0};
    for (int i = 0; i < ht_medium_option_count(); i++) {
        if (api->model[i].values == NULL) continue;
        *out = i;
        if (strcmp(name_of(i), parameter) == 0) return HT_OK;
        ht_text_add(&names, "%s%s", names.length > 0 ? ", " : "", name_of(i));
    }
    TRY(ht_text_status(&names));
    FAIL(HT_ERR_INPUT,
         "%s: no such array: %s%s; medium.%s = \"array\" with medium.type = "
         "\"memory\", or the name of a file with \"file\", makes one",
         HT_SHOWN(parameter), names.length > 0 ? "the model's are " : "the model has none",
         names.length > 0 ? names.data : "", HT_SHOWN(parameter));
}

static int choose(ht_api *api, int count, const char *const *parameter) {
    HT_FREED_TEXT struct ht_text text = {0};
    for (int i = 0; i < count; i++) {
        int at;
        TRY(find_model(api, parameter[i], &at));
        ht_text_add(&text, "%s", i > 0 ? ", " : "gradient.parameters=[");
        ht_text_add_quoted(&text, parameter[i], false);
    }
    REQUIRE(count > 0, HT_ERR_INPUT, "a gradient is by one parameter or more");
    ht_text_add(&text, "]");
    TRY(ht_text_status(&text));
    forget(api); /* by a density the scheme may be another */
    return (int)ht_params_set(api->params, text.data);
}

static int open_into(ht_api *api, const char *input, int keys, const char *const *key) {
    HT_ARRAY(char *, copy, keys);
    for (int i = 0; i < keys; i++) {
        REQUIRE(key[i] != NULL, HT_ERR_INPUT, "ht_api_open: key %d of %d is NULL", i, keys);
        copy[i] = (char *)key[i]; /* which is not written to */
    }
    TRY(ht_params_read(input, keys, copy, &api->params));
    struct ht_params *params = api->params;
    if (params->medium.type == HT_MEDIUM_FILE || params->medium.type == HT_MEDIUM_MEMORY) {
        if (params->medium.type == HT_MEDIUM_MEMORY && params->medium.shape[0] == 0)
            TRY(ht_params_error(params, "medium.shape",
                                "must give the extents of the arrays that are the medium, fastest "
                                "axis first"));
        for (int i = 0; i < ht_medium_option_count(); i++) TRY(load(api, i));
        params->medium.type = HT_MEDIUM_MEMORY;
    }
    params->gradient.wanted = true;
    const char *all[HT_MAX_MEDIUM_OPTIONS]; /* the gradient is by all arrays */
    int count = 0;
    for (int i = 0; i < HT_MAX_MEDIUM_OPTIONS; i++)
        if (api->model[i].values != NULL) all[count++] = name_of(i);
    return count > 0 ? choose(api, count, all) : HT_OK;
}

int ht_api_open(const char *input, int keys, const char *const *key, ht_api **out) {
    ht_api *api = NULL;
    *out = NULL;
    TRY(HT_ALLOC(api, 1));
    HT_API_CALL(api);
    api->recorded = api->backed = -1;
    const int code = HT_API_PREPARES(open_into(api, input, keys, key));
    return HT_MADE(code, api, ht_api_close, out);
}

void ht_api_close(ht_api *api) {
    if (api == NULL) return;
    forget(api);
    for (int i = 0; api->signal != NULL && i < api->params->shots.count; i++) free(api->signal[i]);
    free(api->signal);
    for (int i = 0; i < HT_MAX_MEDIUM_OPTIONS; i++) free(api->model[i].values);
    ht_params_destroy(api->params);
    free(api);
}

/* ---- the model ---- */

int ht_api_model_name(ht_api *api, int index, char name[64]) {
    for (int i = 0; i < HT_MAX_MEDIUM_OPTIONS; i++) {
        if (api->model[i].values == NULL || index-- > 0) continue;
        snprintf(name, 64, "%s", name_of(i));
        return 0;
    }
    return (int)ht_err_set(HT_ERR_INPUT, "the model has no array of this number");
}

int ht_api_model_shape(ht_api *api, const char *parameter, int *rank, int64_t shape[3]) {
    const int64_t *extent = api->params->medium.shape;
    int i = 0;
    TRY(find_model(api, parameter, &i));
    *rank = 0;
    while (*rank < 3 && extent[*rank] > 0) ++*rank;
    for (int k = 0; k < *rank; k++) shape[k] = extent[*rank - 1 - k];
    return 0;
}

int ht_api_model_get(ht_api *api, const char *parameter, double *values) {
    int i = 0;
    TRY(find_model(api, parameter, &i));
    REQUIRE(api->params->medium.given[i].memory != NULL, HT_ERR_INPUT, "%s: has no values yet",
            parameter);
    memcpy(values, api->model[i].values, (size_t)api->model[i].count * sizeof *values);
    return HT_OK;
}

/* Rules are of signs: the least value tells. */
static int check_values(const ht_api *api, const char *parameter, int64_t count,
                        const double *values) {
    const struct ht_system *system = ht_system_find(api->params->system);
    const double scale = api->params->medium.scale;
    int64_t least = 0;
    for (int64_t n = 0; n < count; n++) {
        REQUIRE(isfinite(values[n]), HT_ERR_INPUT, "%s: value %lld is %g: must be finite",
                parameter, (long long)n, values[n]);
        if (scale * values[n] < scale * values[least]) least = n;
    }
    const char *rule = ht_medium_forbids(system, parameter, scale * values[least]);
    REQUIRE(rule == NULL, HT_ERR_INPUT, "%s: value %lld gives %g: must be %s", parameter,
            (long long)least, scale * values[least], rule);
    return HT_OK;
}

int ht_api_model_set(ht_api *api, const char *parameter, const double *values) {
    int i = 0;
    TRY(find_model(api, parameter, &i));
    TRY(check_values(api, parameter, api->model[i].count, values));
    memcpy(api->model[i].values, values, (size_t)api->model[i].count * sizeof *values);
    api->params->medium.given[i].memory = api->model[i].values;
    api->stale = true;
    return 0;
}

int ht_api_signal_set(ht_api *api, int source, int64_t count, double apart, const double *values) {
    struct ht_shot_given *given = api->params->shots.group;
    double *copy = NULL;
    REQUIRE(source >= 0 && source < api->params->shots.count, HT_ERR_INPUT,
            "source %d: there are %d, from 0 on", source, api->params->shots.count);
    REQUIRE(count >= 4 && apart > 0 && isfinite(apart), HT_ERR_INPUT,
            "signal of source %d: %lld values %g apart: must be at least 4, and a time", source,
            (long long)count, apart);
    for (int64_t i = 0; i < count; i++)
        REQUIRE(isfinite(values[i]), HT_ERR_INPUT, "signal of source %d: value %lld is %g", source,
                (long long)i, values[i]);
    if (api->signal == NULL) TRY(HT_ALLOC(api->signal, api->params->shots.count));
    TRY(HT_ALLOC(copy, count));
    memcpy(copy, values, (size_t)count * sizeof *copy);
    forget(api);
    free(api->signal[source]);
    api->signal[source] = copy;
    given[source].signal = HT_SIGNAL_FILE;
    given[source].memory = copy;
    given[source].values = count;
    given[source].apart = apart;
    return HT_OK;
}

/* ---- preparation ---- */

enum { PROGRAMS = 64 }; /* that stay for the next model */

static int plan(ht_api *api) {
    struct ht_survey *survey = NULL;
    if (api->survey != NULL && !api->stale) return HT_OK;
    ht_inverse_destroy(api->inverse);
    api->inverse = NULL;
    api->recorded = api->backed = -1;
    if (api->survey != NULL) return (int)ht_simulation_replan(api->survey->sim);
    TRY(ht_survey_plan(api->params, NULL, api->params->shots.count > 0, &survey));
    if (survey->sim->device != NULL) ht_device_keep(survey->sim->device, PROGRAMS);
    enum ht_err err = ht_simulation_tune(survey->sim);
    if (err == HT_OK) err = ht_simulation_compile(survey->sim);
    return (int)HT_MADE(err, survey, ht_survey_destroy, &api->survey);
}

/* After a model that was refused the next one is planned anew. */
static int planned(ht_api *api) {
    api->silent = api->survey != NULL;
    const int code = plan(api);
    api->silent = false;
    api->stale = code != HT_OK;
    return code;
}

static int check_shot(const ht_api *api, int shot) {
    REQUIRE(shot >= 0 && shot < api->survey->count, HT_ERR_INPUT, "shot %d: must be 0 to %d", shot,
            api->survey->count - 1);
    return HT_OK;
}

static int aim_at(ht_api *api, int shot) {
    TRY(planned(api));
    struct ht_survey *survey = api->survey;
    TRY(check_shot(api, shot));
    if (survey->at == shot && api->rest) return HT_OK;
    api->recorded = api->backed = -1;
    const int code = (int)ht_survey_aim(survey, shot);
    api->rest = code == HT_OK;
    return code;
}

static const struct ht_plan *plan_of(const ht_api *api) {
    return api->survey->sim->plan;
}

/* ---- facts ---- */

static int find_group(ht_api *api, int shot, int group, const struct ht_receiver_group **out) {
    TRY(HT_API_PREPARES(aim_at(api, shot)));
    const struct ht_receivers *receivers = plan_of(api)->receivers;
    const int count = receivers != NULL ? receivers->count : 0;
    REQUIRE(group >= 0 && group < count, HT_ERR_INPUT,
            "group %d of receivers: shot %d has %d, from 0 on", group, shot, count);
    *out = &receivers->group[group];
    return HT_OK;
}

int ht_api_shots(ht_api *api, int *count) {
    HT_API_CALL(api);
    TRY(HT_API_PREPARES(planned(api)));
    *count = api->survey->count;
    return HT_OK;
}

int ht_api_time(ht_api *api, double *step, int64_t *steps, double *end) {
    HT_API_CALL(api);
    TRY(HT_API_PREPARES(planned(api)));
    *step = plan_of(api)->problem.dt;
    *steps = plan_of(api)->steps;
    *end = api->params->time.end;
    return HT_OK;
}

int ht_api_groups(ht_api *api, int shot, int *count) {
    HT_API_CALL(api);
    TRY(HT_API_PREPARES(aim_at(api, shot)));
    *count = plan_of(api)->receivers != NULL ? plan_of(api)->receivers->count : 0;
    return HT_OK;
}

int ht_api_group(ht_api *api, int shot, int group, struct ht_api_group *out) {
    const struct ht_receiver_group *found = NULL;
    HT_API_CALL(api);
    TRY(find_group(api, shot, group, &found));
    const struct ht_receivers *receivers = plan_of(api)->receivers;
    *out = (struct ht_api_group){.receivers = found->count,
                                 .readings = found->readings,
                                 .samples = found->samples,
                                 .start = ht_receivers_time(receivers, found, 0),
                                 .every = found->every > 0 ? found->every : receivers->dt};
    snprintf(out->name, sizeof out->name, "%s", found->name);
    return HT_OK;
}

int ht_api_positions(ht_api *api, int shot, int group, double *x) {
    const struct ht_receiver_group *found = NULL;
    HT_API_CALL(api);
    TRY(find_group(api, shot, group, &found));
    memcpy(x, found->x, (size_t)found->count * sizeof *found->x);
    return HT_OK;
}

int ht_api_reading(ht_api *api, int shot, int group, int reading, char name[64]) {
    const struct ht_receiver_group *found = NULL;
    HT_API_CALL(api);
    TRY(find_group(api, shot, group, &found));
    REQUIRE(reading >= 0 && reading < found->readings, HT_ERR_INPUT,
            "reading %d: receivers \"%s\" have %d, from 0 on", reading, found->name,
            found->readings);
    snprintf(name, 64, "%s", found->reading[reading].name);
    return HT_OK;
}

static HT_ERR snapshots_look(void *context, const struct ht_view *view) {
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

static int run(ht_api *api, struct ht_recording *recording) {
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

static int64_t values_of(const struct ht_receiver_group *group) {
    return group->count * group->readings * group->samples;
}

static int64_t samples_of(const ht_api *api) {
    const struct ht_receivers *receivers = plan_of(api)->receivers;
    int64_t count = 0;
    for (int n = 0; receivers != NULL && n < receivers->count; n++)
        count += values_of(&receivers->group[n]);
    return count;
}

static void take_traces(const ht_api *api, const struct ht_recording *recording, double *traces) {
    const struct ht_receivers *receivers = plan_of(api)->receivers;
    for (int n = 0; receivers != NULL && n < receivers->count; n++) {
        const int64_t count = values_of(&receivers->group[n]);
        memcpy(traces, recording->data[n], (size_t)count * sizeof *traces);
        traces += count;
    }
}

static int run_shot(ht_api *api, int shot, double *traces) {
    HT_ENDED(ht_recording_free) struct ht_recording recording = {.output = NULL};
    TRY(HT_API_PREPARES(aim_at(api, shot)));
    api->rest = false;
    api->recorded = api->backed = -1;
    api->survey->sim->run.stepper.follow = NULL;
    TRY(run(api, &recording));
    take_traces(api, &recording, traces);
    return HT_OK;
}

int ht_api_parameters(ht_api *api, int count, const char *const *parameter) {
    HT_API_CALL(api);
    return choose(api, count, parameter);
}

static int prepare(ht_api *api) {
    TRY(HT_API_PREPARES(planned(api)));
    char name[64];
    REQUIRE(ht_api_model_name(api, 0, name) == 0, HT_ERR_INPUT,
            "a gradient is by arrays of the model, which has none: give "
            "them by medium.type = \"file\" or \"memory\"");
    if (api->inverse != NULL) return HT_OK;
    return HT_API_PREPARES((int)ht_inverse_create(api->survey, &api->inverse));
}

/* ---- one shot ---- */

static int record_shot(ht_api *api, int shot, double *traces) {
    api->recorded = api->backed = -1;
    TRY(prepare(api));
    TRY(check_shot(api, shot));
    api->rest = false;
    TRY(ht_inverse_forward(api->inverse, shot, NULL));
    take_traces(api, &api->inverse->traces, traces);
    api->recorded = shot;
    return HT_OK;
}

int ht_api_forward(ht_api *api, int shot, int record, double *traces) {
    HT_API_CALL(api);
    return (record ? record_shot : run_shot)(api, shot, traces);
}

static void forget_sums(ht_api *api) {
    struct ht_gradient_sums *sums = &api->inverse->sums;
    const int64_t nodes = ht_grid_own_total(sums->grid, HT_PRIMARY);
    sums->done = 0;
    for (int64_t i = 0; i < sums->places; i++) sums->at_places[i] = 0;
    for (int i = 0; i < HT_GRADIENT_SUMS; i++)
        if (sums->sum[i] != NULL) memset(sums->sum[i], 0, (size_t)nodes * sizeof *sums->sum[i]);
}

/* Where the samples of each group are, of those of all groups one after the other. */
static void divide(const struct ht_api *api, double *samples, double **group) {
    const struct ht_receivers *receivers = plan_of(api)->receivers;
    for (int n = 0; n < receivers->count; n++) {
        group[n] = samples;
        if (samples != NULL) samples += values_of(&receivers->group[n]);
    }
}

/* traces: the derivative of chi by those of the shot that was recorded. */
static int add(ht_api *api, double *traces, double chi) {
    HT_ARRAY(double *, groups, plan_of(api)->receivers->count);
    divide(api, traces, groups);
    const int shot = api->recorded;
    api->recorded = api->backed = -1;
    TRY(ht_inverse_backward(api->inverse, groups));
    api->backed = shot;
    return (int)ht_inverse_add(api->inverse, chi);
}

/* gradient[i] of parameter i, NULL: not wanted. */
static int finish(ht_api *api, double *const *gradient) {
    TRY(ht_inverse_finish(api->inverse));
    const struct ht_medium_gradient *medium = api->inverse->medium;
    HT_EACH_AT(i, const struct ht_medium_wanted, wanted, medium->wanted, medium->count) {
        if (gradient[i] == NULL) continue;
        TRY(ht_samples_unplace(api->params, wanted->shape, wanted->value, gradient[i]));
    }
    return HT_OK;
}

int ht_api_illumination(ht_api *api, int parameter, double *out) {
    HT_API_CALL(api);
    const struct ht_inverse *inverse = api->inverse;
    REQUIRE(inverse != NULL && inverse->sums.done > 0, HT_ERR_INPUT,
            "ht_api_illumination: needs a gradient before, of this model");
    REQUIRE(parameter >= 0 && parameter < inverse->medium->count, HT_ERR_INPUT,
            "parameter %d: there are %d, from 0 on", parameter, inverse->medium->count);
    const struct ht_medium_wanted *wanted = &inverse->medium->wanted[parameter];
    HT_ARRAY(double, values, wanted->samples);
    TRY(ht_medium_gradient_share(inverse->medium, parameter, -1, ht_gradient_sums_read,
                                 (void *)&inverse->sums, values));
    return (int)ht_samples_unplace(api->params, wanted->shape, values, out);
}

int ht_api_backward(ht_api *api, const double *residual, double *const *gradient) {
    HT_API_CALL(api);
    REQUIRE(api->recorded >= 0 && !api->stale, HT_ERR_INPUT,
            "ht_api_backward: needs a call of ht_api_forward with record, of this model, before");
    const int64_t count = samples_of(api);
    HT_ARRAY(double, copy, count);
    memcpy(copy, residual, (size_t)count * sizeof *copy);
    forget_sums(api);
    TRY(add(api, copy, 0));
    return finish(api, gradient);
}

int ht_api_backward_signal(ht_api *api, int source, int64_t *count, double *gradient) {
    HT_API_CALL(api);
    REQUIRE(api->backed >= 0 && !api->stale, HT_ERR_INPUT,
            "ht_api_backward_signal: needs a call of ht_api_backward before, of this model");
    const struct ht_shots *shots = plan_of(api)->shots;
    REQUIRE(source >= 0 && source < shots->count, HT_ERR_INPUT,
            "source %d of shot %d: there are %d, from 0 on", source, api->backed, shots->count);
    REQUIRE(shots->count == plan_of(api)->params->shots.count, HT_ERR_INPUT,
            "arrays have no derivatives by their signals: give elements as points");
    REQUIRE(shots->shot[source].signal->samples > 0, HT_ERR_INPUT,
            "source %d of shot %d: its signal has no samples; give it some by ht_api_signal_set or "
            "a file",
            source, api->backed);
    if (count != NULL) *count = shots->shot[source].signal->samples;
    if (gradient != NULL) TRY(ht_gradient_signal(api->inverse->gradient, source, gradient));
    return HT_OK;
}

/* ---- all shots ---- */

/* Of a shot's traces p, d, and weights w where there are some. */
static int compare(ht_api *api, enum ht_misfit_type type, const double *p, const double *d,
                   const double *w, double *r, double *chi) {
    const struct ht_receivers *receivers = plan_of(api)->receivers;
    double *const samples[] = {(double *)p, (double *)d, (double *)w, r};
    struct ht_misfit misfit = {.chi = 0};
    HT_ARRAY(double *, group, (4 * receivers->count));
    for (int i = 0; i < 4; i++) divide(api, samples[i], group + (ptrdiff_t)i * receivers->count);
    double **const of_d = group + receivers->count, **const of_w = of_d + receivers->count;
    TRY(ht_misfit_groups(type, receivers, group, of_d, of_w, of_w + receivers->count, &misfit));
    *chi = misfit.chi;
    return HT_OK;
}

static int misfit_of_shot(ht_api *api, int shot, enum ht_misfit_type type, const double **data,
                          const double **weights, double *chi, bool gradient) {
    TRY(HT_API_PREPARES(aim_at(api, shot)));
    const int64_t count = samples_of(api);
    HT_ARRAY(double, p, count);
    HT_ARRAY(double, r, count);
    bool any = false;
    for (int64_t i = 0; i < count; i++) {
        REQUIRE(isfinite((*data)[i]), HT_ERR_INPUT, "data of shot %d: value %lld is %g", shot,
                (long long)i, (*data)[i]);
        any = any || (*data)[i] != 0;
    }
    REQUIRE(any, HT_ERR_INPUT, "data of shot %d: all values are 0", shot);
    TRY(gradient ? record_shot(api, shot, p) : run_shot(api, shot, p));
    TRY(compare(api, type, p, *data, *weights, r, chi));
    if (gradient) TRY(add(api, r, *chi));
    *data += count;
    if (*weights != NULL) *weights += count;
    return HT_OK;
}

int ht_api_misfit(ht_api *api, const char *type, const double *data, const double *weights,
                  double *chi, double *const *gradient) {
    HT_API_CALL(api);
    const int row = ht_text_find("l2|correlation|envelope", '|', type);
    REQUIRE(row >= 0, HT_ERR_INPUT, "misfit \"%s\": must be l2, correlation or envelope",
            HT_SHOWN(type));
    TRY(gradient != NULL ? prepare(api) : HT_API_PREPARES(planned(api)));
    if (gradient != NULL) forget_sums(api);
    for (int i = 0; i < api->survey->count; i++)
        TRY(misfit_of_shot(api, i, (enum ht_misfit_type)row, &data, &weights, &chi[i],
                           gradient != NULL));
    return gradient != NULL ? finish(api, gradient) : HT_OK;
}
