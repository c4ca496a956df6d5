/* Observed traces; see the header. */
#include "trace_read.h"

enum ht_err ht_trace_check_times(const struct ht_trace_source *of,
                                 const struct ht_receiver_group *group,
                                 const struct ht_trace_times *times) {
    const double every = group->every > 0 ? group->every : of->receivers->dt;
    const double start = ht_receivers_time(of->receivers, group, 0), small = 1e-3 * every;
    const bool same = times->samples == group->samples &&
                      fabs(times->start - start) <= fmax(small, times->off) &&
                      fabs(times->every - every) * (double)(group->samples - 1) <= small;
    if (same || (times->samples == 1 && group->samples == 1)) return HT_OK;
    return ht_params_error(
        of->params, of->key,
        "%s has %lld samples %.9g apart from %.9g on, and the receivers \"%s\" record %lld %.9g "
        "apart from %.9g on: change their every and start, and time.end, or resample the file "
        "(tools/resample.py --every %.9g --start %.9g --samples %lld)",
        of->path, (long long)times->samples, times->every, times->start, group->name,
        (long long)group->samples, every, start, every, start, (long long)group->samples);
}

enum ht_err ht_trace_check_place(const struct ht_trace_source *of,
                                 const struct ht_receiver_group *group, int64_t receiver,
                                 const double *x, double off) {
    for (int k = 0; k < of->grid->dims; k++)
        if (!(fabs(x[k] - group->x[receiver][k]) <= 1e-3 * of->grid->h[k] + off))
            return ht_params_error(of->params, of->key,
                                   "%s has receiver %lld of \"%s\" at %s, not at %s: the traces "
                                   "are of other receivers, or in another order",
                                   of->path, (long long)receiver + 1, group->name,
                                   HT_PLACED(of->grid, x), HT_PLACED(of->grid, group->x[receiver]));
    return HT_OK;
}

/* ---- HDF5 ---- */

static enum ht_err check_group(const struct ht_trace_source *of, struct ht_h5 *file,
                               const struct ht_receiver_group *group) {
    const char *time = HT_KEY("%s/time", group->name), *place = HT_KEY("%s/position", group->name);
    const int dims = of->grid->dims;
    int64_t extent[8];
    int rank;
    if (ht_h5_has(file, time)) {
        TRY(ht_h5_extent(file, time, &rank, extent));
        HT_ARRAY(double, t, extent[0]);
        TRY(ht_h5_read(file, time, extent[0], t));
        const struct ht_trace_times times = {.samples = extent[0],
                                             .start = t[0],
                                             .every = (t[extent[0] - 1] - t[0]) /
                                                      (double)(extent[0] - 1)};
        TRY(ht_trace_check_times(of, group, &times));
    }
    if (!ht_h5_has(file, place)) return HT_OK;
    TRY(ht_h5_extent(file, place, &rank, extent));
    REFUSE(rank != 2 || extent[0] != group->count || extent[1] != dims, of->params, of->key,
           "%s of %s has %s numbers, not %lld x %d: it is of other receivers", place, of->path,
           HT_EXTENTS(rank, extent), (long long)group->count, dims);
    HT_ARRAY(double, x, group->count *dims);
    TRY(ht_h5_read(file, place, group->count * dims, x));
    for (int64_t i = 0; i < group->count; i++)
        TRY(ht_trace_check_place(of, group, i, x + i * dims, 0));
    return HT_OK;
}

static enum ht_err read_group(const struct ht_trace_source *of, struct ht_h5 *file,
                              const struct ht_receiver_group *group, double *data) {
    int64_t extent[8];
    int rank;
    for (int i = 0; i < group->readings; i++, data += group->count * group->samples) {
        const char *name = HT_TRACE_NAME(group, i);
        if (!ht_h5_has(file, name))
            return ht_params_blame(of->params, of->key, ht_h5_lacks(file, name));
        TRY(ht_h5_extent(file, name, &rank, extent));
        if (of->weights && rank == 1 && extent[0] == group->count) {
            TRY(ht_h5_read(file, name, group->count, data));
            for (int64_t j = group->count * group->samples - 1; j >= 0; j--)
                data[j] = data[j / group->samples];
            continue;
        }
        REFUSE(rank != 2 || extent[0] != group->count || extent[1] != group->samples, of->params,
               of->key, "%s of %s has %s values, not %lld receivers x %lld samples", name, of->path,
               HT_EXTENTS(rank, extent), (long long)group->count, (long long)group->samples);
        TRY(ht_h5_read(file, name, group->count * group->samples, data));
    }
    return HT_OK;
}

static enum ht_err read_h5(const struct ht_trace_source *of, double *const *data) {
    HT_ENDED(ht_h5_end) struct ht_h5 *file = NULL;
    TRY(ht_params_blame(of->params, of->key, ht_h5_open(of->path, &file)));
    for (int n = 0; n < of->receivers->count; n++) {
        TRY(check_group(of, file, &of->receivers->group[n]));
        TRY(read_group(of, file, &of->receivers->group[n], data[n]));
    }
    return HT_OK;
}

/* ---- .npy: [trace][sample] of all groups; times and places are not in it ---- */

static enum ht_err read_npy(const struct ht_trace_source *of, double *const *data) {
    HT_ENDED(ht_array_end) struct ht_array array = {.rank = 0};
    const struct ht_receivers *receivers = of->receivers;
    const int64_t samples = receivers->group[0].samples, *extent = array.extent;
    int64_t at = 0;
    TRY(ht_params_blame(of->params, of->key, ht_npy_read(of->path, &array)));
    for (int n = 0; n < receivers->count; n++) {
        const struct ht_receiver_group *group = &receivers->group[n];
        const int64_t count = group->readings * group->count * samples;
        REFUSE(array.rank != 2 || extent[0] != receivers->traces || extent[1] != samples ||
                   group->samples != samples,
               of->params, of->key, "%s has %s values, not %lld traces x %lld samples%s", of->path,
               HT_EXTENTS(array.rank, extent), (long long)receivers->traces, (long long)samples,
               group->samples != samples ? " of all groups" : "");
        memcpy(data[n], array.value + at, (size_t)count * sizeof *array.value);
        at += count;
    }
    return HT_OK;
}

/* ---- values ---- */

static enum ht_err check_values(const struct ht_trace_source *of, double *const *data) {
    bool any = false;
    for (int n = 0; n < of->receivers->count; n++) {
        const struct ht_receiver_group *group = &of->receivers->group[n];
        for (int64_t i = 0; i < group->readings * group->count * group->samples; i++) {
            const int64_t trace = i / group->samples;
            const bool finite = isfinite(data[n][i]);
            REFUSE(!finite || (of->weights && data[n][i] < 0), of->params, of->key,
                   "%s: %ssample %lld of receiver %lld of %s is %g: %s", of->path,
                   finite ? "the weight of " : "", (long long)(i % group->samples) + 1,
                   (long long)(trace % group->count) + 1,
                   HT_TRACE_NAME(group, trace / group->count), data[n][i],
                   finite ? "weights are >= 0"
                          : "mend it, or make the trace 0, which leaves it out");
            any = any || data[n][i] != 0;
        }
    }
    /* derivatives of one's own may be 0 */
    any = any || (!of->weights && of->params->gradient.misfit == HT_MISFIT_GIVEN);
    REFUSE(!any, of->params, of->key, "%s: all values of shot %d are 0", of->path, of->shot);
    return HT_OK;
}

static enum ht_err read_file(const struct ht_trace_source *of, struct ht_pool *pool,
                             double ***out) {
    TRY(ht_receivers_room(pool, of->receivers, out));
    TRY((ht_is_segy(of->path)            ? ht_segy_read
         : ht_file_ends(of->path, "npy") ? read_npy
                                         : read_h5)(of, *out));
    return check_values(of, *out);
}

enum ht_err ht_observed_read(const struct ht_plan *plan, int shot,
                             const struct ht_receivers *receivers, const char *key,
                             const char *path, struct ht_observed **out) {
    struct ht_trace_source of = {.params = plan->params,
                                 .grid = &plan->grid,
                                 .receivers = receivers,
                                 .key = key,
                                 .path = path,
                                 .shot = shot};
    struct ht_observed *observed = NULL;
    HT_FREED char *weights = NULL;
    *out = NULL;
    TRY(HT_ALLOC(observed, 1));
    enum ht_err err = read_file(&of, &observed->pool, &observed->data);
    if (err == HT_OK && *plan->params->gradient.weights) {
        err = ht_text_numbered(plan->params->gradient.weights, shot, &weights);
        of.key = "gradient.weights";
        of.path = weights;
        of.weights = true;
        if (err == HT_OK) err = read_file(&of, &observed->pool, &observed->weight);
    }
    return HT_MADE(err, observed, ht_observed_destroy, out);
}

void ht_observed_destroy(struct ht_observed *observed) {
    if (observed == NULL) return;
    ht_pool_free(&observed->pool);
    free(observed);
}
