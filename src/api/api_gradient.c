/* The library's misfits and gradients: see htwave/api.h. */
#include "api_private.h"

/* ---- parameters ---- */

static enum ht_err choose(ht_api *api, int count, const char *const *parameter) {
    HT_FREED_TEXT struct ht_text text = {0};
    for (int i = 0; i < count; i++) {
        int at;
        TRY(ht_api_model_find(api, parameter[i], &at));
        ht_text_add(&text, "%s", i > 0 ? ", " : "gradient.parameters=[");
        ht_text_add_quoted(&text, parameter[i], false);
    }
    REQUIRE(count > 0, HT_ERR_INPUT, "a gradient is by one parameter or more");
    ht_text_add(&text, "]");
    TRY(ht_text_status(&text));
    ht_api_forget(api); /* by a density the scheme may be another */
    return ht_params_set(api->params, text.data);
}

enum ht_err ht_api_choose_all(ht_api *api) {
    char name[HT_MAX_MEDIUM_OPTIONS][64];
    const char *all[HT_MAX_MEDIUM_OPTIONS];
    int count = 0;
    while (count < HT_MAX_MEDIUM_OPTIONS && ht_api_model_name(api, count, name[count]) == 0) {
        all[count] = name[count];
        count++;
    }
    return count > 0 ? choose(api, count, all) : HT_OK;
}

int ht_api_parameters(ht_api *api, int count, const char *const *parameter) {
    return HT_API_CALL(api, choose(api, count, parameter));
}

static enum ht_err prepare(ht_api *api) {
    TRY(ht_api_prepare(api));
    char name[64];
    REQUIRE(ht_api_model_name(api, 0, name) == 0, HT_ERR_INPUT,
            "a gradient is by arrays of the model, which has none: give "
            "them by medium.type = \"file\" or \"memory\"");
    if (api->inverse != NULL) return HT_OK;
    return HT_API_PREPARES(ht_inverse_create(api->survey, &api->inverse));
}

/* ---- one shot ---- */

enum ht_err ht_api_record(ht_api *api, int shot, double *traces) {
    api->recorded = api->backed = -1;
    TRY(prepare(api));
    TRY(ht_api_check_shot(api, shot));
    api->rest = false;
    TRY(ht_inverse_forward(api->inverse, shot, NULL));
    ht_api_take(api, &api->inverse->traces, traces);
    api->recorded = shot;
    return HT_OK;
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
    const struct ht_receivers *receivers = ht_api_plan(api)->receivers;
    for (int n = 0; n < receivers->count; n++) {
        group[n] = samples;
        if (samples != NULL) samples += ht_api_values(&receivers->group[n]);
    }
}

/* traces: the derivative of chi by those of the shot that was recorded. */
static enum ht_err add(ht_api *api, double *traces, double chi) {
    HT_ARRAY(double *, groups, ht_api_plan(api)->receivers->count);
    divide(api, traces, groups);
    const int shot = api->recorded;
    api->recorded = api->backed = -1;
    TRY(ht_inverse_backward(api->inverse, groups));
    api->backed = shot;
    return ht_inverse_add(api->inverse, chi);
}

/* gradient[i] of parameter i, NULL: not wanted. */
static enum ht_err finish(ht_api *api, double *const *gradient) {
    TRY(ht_inverse_finish(api->inverse));
    const struct ht_medium_gradient *medium = api->inverse->medium;
    for (int i = 0; i < medium->count; i++) {
        const struct ht_medium_wanted *wanted = &medium->wanted[i];
        if (gradient[i] == NULL) continue;
        TRY(ht_samples_unplace(api->params, wanted->shape, wanted->value, gradient[i]));
    }
    return HT_OK;
}

static enum ht_err illumination(ht_api *api, int parameter, double *out) {
    const struct ht_inverse *inverse = api->inverse;
    REQUIRE(inverse != NULL && inverse->sums.done > 0, HT_ERR_INPUT,
            "ht_api_illumination: needs a gradient before, of this model");
    REQUIRE(parameter >= 0 && parameter < inverse->medium->count, HT_ERR_INPUT,
            "parameter %d: there are %d, from 0 on", parameter, inverse->medium->count);
    const struct ht_medium_wanted *wanted = &inverse->medium->wanted[parameter];
    HT_ARRAY(double, values, wanted->samples);
    TRY(ht_medium_gradient_share(inverse->medium, parameter, -1, ht_gradient_sums_read,
                                 (void *)&inverse->sums, values));
    return ht_samples_unplace(api->params, wanted->shape, values, out);
}

int ht_api_illumination(ht_api *api, int parameter, double *out) {
    return HT_API_CALL(api, illumination(api, parameter, out));
}

static enum ht_err backward(ht_api *api, const double *residual, double *const *gradient) {
    REQUIRE(api->recorded >= 0 && !api->stale, HT_ERR_INPUT,
            "ht_api_backward: needs a call of ht_api_forward with record, of this model, before");
    const int64_t count = ht_api_samples(api);
    HT_ARRAY(double, copy, count);
    memcpy(copy, residual, (size_t)count * sizeof *copy);
    forget_sums(api);
    TRY(add(api, copy, 0));
    return finish(api, gradient);
}

int ht_api_backward(ht_api *api, const double *residual, double *const *gradient) {
    return HT_API_CALL(api, backward(api, residual, gradient));
}

static enum ht_err by_signal(ht_api *api, int source, int64_t *count, double *out) {
    REQUIRE(api->backed >= 0 && !api->stale, HT_ERR_INPUT,
            "ht_api_backward_signal: needs a call of ht_api_backward before, of this model");
    const struct ht_shots *shots = ht_api_plan(api)->shots;
    REQUIRE(source >= 0 && source < shots->count, HT_ERR_INPUT,
            "source %d of shot %d: there are %d, from 0 on", source, api->backed, shots->count);
    REQUIRE(shots->count == ht_api_plan(api)->params->shots.count, HT_ERR_INPUT,
            "arrays have no derivatives by their signals: give elements as points");
    REQUIRE(shots->shot[source].signal->samples > 0, HT_ERR_INPUT,
            "source %d of shot %d: its signal has no samples; give it some by ht_api_signal_set or "
            "a file",
            source, api->backed);
    if (count != NULL) *count = shots->shot[source].signal->samples;
    return out != NULL ? ht_gradient_signal(api->inverse->gradient, source, out) : HT_OK;
}

int ht_api_backward_signal(ht_api *api, int source, int64_t *count, double *gradient) {
    return HT_API_CALL(api, by_signal(api, source, count, gradient));
}

/* ---- all shots ---- */

/* Of a shot's traces p, d, and weights w where there are some. */
static enum ht_err compare(ht_api *api, enum ht_misfit_type type, const double *p, const double *d,
                           const double *w, double *r, double *chi) {
    const struct ht_receivers *receivers = ht_api_plan(api)->receivers;
    double *const samples[] = {(double *)p, (double *)d, (double *)w, r};
    struct ht_misfit misfit = {.chi = 0};
    HT_ARRAY(double *, group, (4 * receivers->count));
    for (int i = 0; i < 4; i++) divide(api, samples[i], group + (ptrdiff_t)i * receivers->count);
    double **const of_d = group + receivers->count, **const of_w = of_d + receivers->count;
    TRY(ht_misfit_groups(type, receivers, group, of_d, of_w, of_w + receivers->count, &misfit));
    *chi = misfit.chi;
    return HT_OK;
}

static enum ht_err misfit_of_shot(ht_api *api, int shot, enum ht_misfit_type type,
                                  const double **data, const double **weights, double *chi,
                                  bool gradient) {
    TRY(ht_api_aim(api, shot));
    const int64_t count = ht_api_samples(api);
    HT_ARRAY(double, p, count);
    HT_ARRAY(double, r, count);
    for (int64_t i = 0; i < count; i++)
        REQUIRE(isfinite((*data)[i]), HT_ERR_INPUT, "data of shot %d: value %lld is %g", shot,
                (long long)i, (*data)[i]);
    TRY(gradient ? ht_api_record(api, shot, p) : ht_api_run(api, shot, p));
    TRY(compare(api, type, p, *data, *weights, r, chi));
    if (gradient) TRY(add(api, r, *chi));
    *data += count;
    if (*weights != NULL) *weights += count;
    return HT_OK;
}

static enum ht_err misfit(ht_api *api, const char *type, const double *data, const double *weights,
                          double *chi, double *const *gradient) {
    const int row = ht_text_find("l2|correlation|envelope", '|', type);
    REQUIRE(row >= 0, HT_ERR_INPUT, "misfit \"%s\": must be l2, correlation or envelope",
            HT_SHOWN(type));
    TRY(gradient != NULL ? prepare(api) : ht_api_prepare(api));
    if (gradient != NULL) forget_sums(api);
    for (int i = 0; i < api->survey->count; i++)
        TRY(misfit_of_shot(api, i, (enum ht_misfit_type)row, &data, &weights, &chi[i],
                           gradient != NULL));
    return gradient != NULL ? finish(api, gradient) : HT_OK;
}

int ht_api_misfit(ht_api *api, const char *type, const double *data, const double *weights,
                  double *chi, double *const *gradient) {
    return HT_API_CALL(api, misfit(api, type, data, weights, chi, gradient));
}
