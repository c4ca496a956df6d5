/* The library's functions (htwave/api.h): arguments are checked, what a call needs is prepared, and
 * what the library says goes to the caller.
 *
 * Preparation (files, devices, plans, kernels) is done by one thread of the process at a time:
 * HDF5, the tables of options and the devices' contexts are the process's. Steps are not. */
#include "api_private.h"

#include <pthread.h>

static pthread_mutex_t preparation = PTHREAD_MUTEX_INITIALIZER;

void ht_api_preparing(void) {
    (void)pthread_mutex_lock(&preparation);
}

enum ht_err ht_api_prepared(enum ht_err err) {
    (void)pthread_mutex_unlock(&preparation);
    return err;
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

void ht_api_enter(ht_api *api) {
    api->asked = 0;
    ht_log_to(say, api);
    ht_stop_by(wanted, api);
}

int ht_api_leave(enum ht_err err) {
    ht_log_to(NULL, NULL);
    ht_stop_by(NULL, NULL);
    return (int)err;
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
static enum ht_err load(ht_api *api, int i) {
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
    if (model->values == NULL) return HT_ALLOC(model->values, model->count);
    return HT_OK;
}

static enum ht_err open_into(ht_api *api, const char *input, int keys, const char *const *key) {
    HT_ARRAY(char *, copy, keys);
    for (int i = 0; i < keys; i++) {
        REQUIRE(key[i] != NULL, HT_ERR_INPUT, "ht_api_open: key %d of %d is NULL", i, keys);
        copy[i] = (char *)key[i]; /* which is not written to */
    }
    TRY(ht_params_read(input, keys, copy, &api->params));
    struct ht_params *params = api->params;
    if (params->medium.type == HT_MEDIUM_FILE || params->medium.type == HT_MEDIUM_MEMORY) {
        REFUSE(params->medium.type == HT_MEDIUM_MEMORY && params->medium.shape[0] == 0, params,
               "medium.shape",
               "must give the extents of the arrays that are the medium, fastest axis first");
        for (int i = 0; i < ht_medium_option_count(); i++) TRY(load(api, i));
        params->medium.type = HT_MEDIUM_MEMORY;
    }
    params->gradient.wanted = true;
    return ht_api_choose_all(api);
}

int ht_api_open(const char *input, int keys, const char *const *key, ht_api **out) {
    ht_api *api = NULL;
    enum ht_err err = HT_ALLOC(api, 1);
    if (err == HT_OK) {
        api->recorded = api->backed = -1;
        ht_api_enter(api);
        err = HT_API_PREPARES(open_into(api, input, keys, key));
    }
    return ht_api_leave(HT_MADE(err, api, ht_api_close, out));
}

void ht_api_forget(ht_api *api) {
    ht_inverse_destroy(api->inverse);
    ht_survey_destroy(api->survey);
    api->inverse = NULL;
    api->survey = NULL;
    api->recorded = api->backed = -1;
}

void ht_api_close(ht_api *api) {
    if (api == NULL) return;
    ht_api_forget(api);
    for (int i = 0; api->signal != NULL && i < api->params->shots.count; i++) free(api->signal[i]);
    free(api->signal);
    for (int i = 0; i < HT_MAX_MEDIUM_OPTIONS; i++) free(api->model[i].values);
    ht_params_destroy(api->params);
    free(api);
}

/* ---- the model ---- */

enum ht_err ht_api_model_find(const ht_api *api, const char *parameter, int *out) {
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
    const enum ht_err err = ht_api_model_find(api, parameter, &i);
    if (err != HT_OK) return (int)err;
    *rank = 0;
    while (*rank < 3 && extent[*rank] > 0) ++*rank;
    for (int k = 0; k < *rank; k++) shape[k] = extent[*rank - 1 - k];
    return 0;
}

int ht_api_model_get(ht_api *api, const char *parameter, double *values) {
    int i = 0;
    enum ht_err err = ht_api_model_find(api, parameter, &i);
    const struct ht_api_model *model = &api->model[i];
    if (err == HT_OK && api->params->medium.given[i].memory == NULL)
        err = ht_err_set(HT_ERR_INPUT, "%s: has no values yet", parameter);
    if (err == HT_OK) memcpy(values, model->values, (size_t)model->count * sizeof *values);
    return (int)err;
}

int ht_api_model_set(ht_api *api, const char *parameter, const double *values) {
    int i = 0;
    enum ht_err err = ht_api_model_find(api, parameter, &i);
    for (int64_t n = 0; err == HT_OK && n < api->model[i].count; n++)
        if (!isfinite(values[n]))
            err = ht_err_set(HT_ERR_INPUT, "%s: value %lld is %g: must be finite", parameter,
                             (long long)n, values[n]);
    if (err != HT_OK) return (int)err;
    memcpy(api->model[i].values, values, (size_t)api->model[i].count * sizeof *values);
    api->params->medium.given[i].memory = api->model[i].values;
    api->stale = true;
    return 0;
}

/* ---- signals ---- */

static enum ht_err set_signal(ht_api *api, int source, int64_t count, double apart,
                              const double *values) {
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
    ht_api_forget(api);
    free(api->signal[source]);
    api->signal[source] = copy;
    given[source].signal = HT_SIGNAL_FILE;
    given[source].memory = copy;
    given[source].values = count;
    given[source].apart = apart;
    return HT_OK;
}

int ht_api_signal_set(ht_api *api, int source, int64_t count, double apart, const double *values) {
    return (int)set_signal(api, source, count, apart, values);
}
