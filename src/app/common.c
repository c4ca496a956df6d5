#include "app.h"

HT_ERR ht_input_read(const char *file, int count, char *const *keys, const char *more,
                     struct ht_params **out) {
    HT_FREED char *words = NULL;
    char *rest = NULL;
    TRY(ht_text_copy(more, &words));
    HT_ARRAY(char *, all, (size_t)count + strlen(more));
    memcpy(all, keys, (size_t)count * sizeof *all);
    for (char *key = strtok_r(words, " ", &rest); key; key = strtok_r(NULL, " ", &rest))
        all[count++] = key;
    return ht_params_read(file, count, all, out);
}

HT_ERR ht_both_limits(struct ht_device *device, bool anew, struct ht_limits limits[2]) {
    TRY(ht_limits_measure(device, false, anew, &limits[0]));
    return ht_device_info(device)->fp64 ? ht_limits_measure(device, true, anew, &limits[1]) : HT_OK;
}

double ht_copied(const struct ht_limits limits[2]) {
    return fmax(limits[0].bytes_per_s, limits[1].bytes_per_s);
}

/* ---- sweeps ---- */

HT_ERR ht_sweep_read(const struct ht_args *args, bool differences, struct ht_sweep *out) {
    *out = (struct ht_sweep){.args = args, .dims = {1, {3}}, .differences = differences};
    TRY(ht_args_integers(args, "--orders", 1, differences ? 2 * HT_FD_RADIUS : HT_MAX_ORDER,
                         &out->orders));
    TRY(ht_args_integers(args, "--dims", 1, 3, &out->dims));
    for (int n = 0; n < out->orders.count; n++) {
        const int order = out->orders.number[n];
        REQUIRE(order <= HT_MAX_ORDER || order % 2 == 0, HT_ERR_INPUT,
                "--orders %d: N must be 1..%d, orders of fd 2, 4 .. %d", order, HT_MAX_ORDER,
                2 * HT_FD_RADIUS);
    }
    enum { MOST = 64 };
    const char *name[MOST];
    int count = 0;
    for (; count < ht_system_count() && count < MOST; count++)
        name[count] = ht_system_at(count)->name;
    TRY(ht_args_names(args, "--systems", count, name));
    for (count = 0; count < ht_variant_count() && count < MOST; count++)
        name[count] = ht_variant_at(count)->name;
    if (differences) name[count++] = "auto";
    TRY(ht_args_names(args, "--variants", count, name));
    count = 0;
    for (int i = 0; i < ht_scheme_count() && count < MOST; i++)
        if (!ht_scheme_at(i)->nodal || differences) name[count++] = ht_scheme_at(i)->name;
    TRY(ht_args_names(args, "--schemes", count, name));
    TRY(ht_args_names(args, "--backend", 3, (const char *const[]){"auto", "cuda", "opencl"}));
    TRY(ht_args_names(args, "--precisions", 2, (const char *const[]){"single", "double"}));
    return ht_args_names(args, "--layouts", 2, (const char *const[]){"tensor", "blocked"});
}

static HT_ERR each_order(const struct ht_sweep *sweep, const struct ht_device_info *info, int usual,
                         const struct ht_equations *eq, const struct ht_scheme *scheme,
                         ht_sweep_visit *visit, void *context) {
    const int given = sweep->orders.count;
    for (int n = 0; n < (given > 0 ? given : usual); n++)
        for (int fp64 = 0; fp64 < 1 + info->fp64; fp64++) {
            const int order = given > 0 ? sweep->orders.number[n] : scheme->orders[n];
            if (ht_args_listed(sweep->args, "--precisions", ht_real_name(fp64)) && order > 0 &&
                order % scheme->order_step == 0 && order <= scheme->most_order)
                TRY(visit(context, eq, scheme, order, fp64));
        }
    return HT_OK;
}

HT_ERR ht_sweep_each(const struct ht_sweep *sweep, const struct ht_device_info *info, int usual,
                     ht_sweep_visit *visit, void *context) {
    for (int s = 0; s < ht_system_count(); s++)
        for (int d = 0; d < sweep->dims.count; d++) {
            const struct ht_equations eq =
                ht_equations_make(ht_system_at(s), sweep->dims.number[d]);
            if (!ht_args_listed(sweep->args, "--systems", ht_system_at(s)->name)) continue;
            HT_EACH_BY(i, const struct ht_scheme, scheme, ht_scheme_at(i), ht_scheme_count()) {
                if (ht_scheme_steps(scheme, &eq) && (sweep->differences || !scheme->nodal) &&
                    ht_args_listed(sweep->args, "--schemes", scheme->name))
                    TRY(each_order(sweep, info, usual, &eq, scheme, visit, context));
            }
        }
    return HT_OK;
}

static const char *given(const struct ht_sweep *sweep, const char *flag) {
    const char *value = ht_args_value(sweep->args, flag);
    return value != NULL ? value : "auto";
}

HT_ERR ht_cache_of(const struct ht_sweep *sweep, char **cache) {
    return ht_cache_directory(given(sweep, "--cache"), cache);
}

HT_ERR ht_sweep_open(const struct ht_sweep *sweep, char **cache, struct ht_device **out) {
    TRY(ht_cache_of(sweep, cache));
    TRY(ht_device_open(given(sweep, "--backend"), given(sweep, "--device"), 0, out));
    ht_device_cache(*out, *cache);
    return HT_OK;
}

HT_ERR ht_each_device(const char *name, const char *backend, ht_device_visit *visit,
                      void *context) {
    HT_FREED struct ht_device_info *infos = NULL;
    int count = 0, met = 0;
    TRY(ht_device_list(&count, &infos));
    for (int i = 0; i < count; i++) {
        const bool taken =
            strcmp(name, "all") == 0 ? !infos[i].simulator : ht_device_is(&infos[i], "auto", name);
        if (!taken || (backend != NULL && strcmp(backend, "auto") != 0 &&
                       strcmp(backend, infos[i].backend) != 0))
            continue;
        met++;
        TRY(visit(context, &infos[i]));
    }
    REQUIRE(met > 0, HT_ERR_DEVICE, "no device matches --device %s; `htwave devices` lists them",
            name);
    return HT_OK;
}

void ht_traces_alone(struct ht_params *params, const char *command) {
    if (params->output.maps.count > 0) ht_warn("output.maps: `%s` makes none", command);
    params->output.maps.count = 0;
    params->output.snapshots = params->output.pictures = params->output.series = false;
    params->output.checkpoint.seconds = params->output.checkpoint.every = 0;
}
