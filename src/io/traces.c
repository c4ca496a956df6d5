/* traces.h5 has a group for each group of receivers: time [sample], position [receiver][axis], and
 * per field [receiver][sample]; the group sources: position [point][axis], points [source], of
 * which each has so many, signal [source][step], signal_time [step]; and the input. It is laid out
 * for all samples first; then only values are written, those of a block, then its times. A time
 * that is not a number has no sample yet. */
#include "files.h"

enum { MOST_CSV = 64 };

static HT_ERR check_csv(const struct ht_params *params, const struct ht_receivers *receivers,
                        int n) {
    const struct ht_receiver_group *group = &receivers->group[n];
    const int64_t traces = group->count * group->readings;
    REFUSE(traces > MOST_CSV, params, "output.traces",
           "\"csv\" takes at most %d traces of a group, \"%s\" has %lld: read traces.h5", MOST_CSV,
           group->name, (long long)traces);
    return HT_OK;
}

#define SET(group, what) HT_KEY("%s/%s", (group)->name, (what))

static HT_ERR write_group(const struct ht_plan *plan, const struct ht_receiver_group *group,
                          struct ht_h5 *file) {
    const int digits = plan->params->device.precision == HT_SINGLE ? 9 : 17;
    HT_ENDED(ht_array_end) struct ht_array time = {.rank = 0};
    struct ht_stream stream;
    TRY(ht_h5_array(file, SET(group, "time"), &time));
    const int64_t samples = time.count, values = group->count * samples;
    HT_ARRAY(double, data, group->readings *values);
    for (int r = 0; r < group->readings; r++)
        TRY(ht_h5_read(file, SET(group, group->reading[r].name), values, data + r * values));
    TRY(ht_stream_open(plan->params->output.directory, HT_KEY("traces_%s.csv", group->name),
                       &stream));
    fprintf(stream.file, "time");
    for (int64_t i = 0; i < group->readings * group->count; i++)
        fprintf(stream.file, ",%s[%lld]", group->reading[i / group->count].name,
                (long long)(i % group->count) + 1);
    for (int64_t n = 0; n < samples; n++) {
        fprintf(stream.file, "\n%.15g", time.value[n]);
        for (int64_t i = 0; i < group->readings * group->count; i++)
            fprintf(stream.file, ",%.*g", digits, data[i * samples + n]);
    }
    fprintf(stream.file, "\n");
    return ht_stream_close(&stream, HT_OK);
}

static HT_ERR write_csv(const struct ht_plan *plan, HT_UNUSED const struct ht_params *params,
                        HT_UNUSED int count, const struct ht_traced_shot *shot,
                        HT_UNUSED const char *what) {
    HT_ENDED(ht_h5_end) struct ht_h5 *file = NULL;
    TRY(ht_h5_open(shot->traces, &file));
    for (int n = 0; n < plan->receivers->count; n++)
        TRY(write_group(plan, &plan->receivers->group[n], file));
    return HT_OK;
}

static const struct ht_trace_format csv = {
    .name = "csv", .bytes = {16, 24}, .check = check_csv, .write = write_csv};
static const struct ht_trace_format *const formats[] = {&csv, &ht_trace_segy};
#define FORMATS "\"csv\", \"segy\""

static const struct ht_trace_format *find_format(const char *name) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i]->name, name) == 0) return formats[i];
    return NULL;
}

int ht_output_trace_bytes(const struct ht_params *params) {
    const bool fp64 = params->device.precision == HT_DOUBLE;
    int bytes = fp64 ? 8 : 4;
    for (int i = 0; i < params->output.traces.count; i++) {
        /* what is no format is refused later */
        const struct ht_trace_format *format = find_format(params->output.traces.name[i]);
        bytes += format != NULL ? format->bytes[fp64] : 0;
    }
    return bytes;
}

HT_ERR ht_output_check_traces(const struct ht_params *params,
                              const struct ht_receivers *receivers) {
    const struct ht_names *names = &params->output.traces;
    for (int i = 0; i < names->count; i++) {
        const struct ht_trace_format *format = find_format(names->name[i]);
        REFUSE(format == NULL, params, "output.traces",
               "no format \"%s\": there are HDF5, which is always written, " FORMATS,
               names->name[i]);
        for (int n = 0; receivers != NULL && n < receivers->count; n++)
            TRY(format->check(params, receivers, n));
    }
    return HT_OK;
}

HT_ERR ht_output_shots(const struct ht_plan *plan, const struct ht_params *params, int count,
                       const struct ht_traced_shot *shot) {
    const struct ht_names *names = &params->output.traces;
    for (int i = 0; i < names->count && params->receivers.count > 0; i++) {
        const struct ht_trace_format *format = find_format(names->name[i]);
        if (format->shots) TRY(format->write(plan, params, count, shot, "shots"));
    }
    return HT_OK;
}

HT_ERR ht_positions_write(struct ht_h5 *file, const char *name, int dims, int64_t count,
                          double (*x)[3]) {
    const int64_t extent[2] = {count, dims};
    HT_ARRAY(double, out, count *dims);
    for (int64_t i = 0; i < count; i++) memcpy(out + i * dims, x[i], (size_t)dims * sizeof *out);
    return count > 0 ? ht_h5_write(file, name, 2, extent, out, false) : HT_OK;
}

static HT_ERR write_times(struct ht_traces *t, const struct ht_receiver_group *group, int64_t first,
                          int64_t last, bool known) {
    HT_ARRAY(double, time, last - first);
    for (int64_t n = first; n < last; n++)
        time[n - first] = known ? ht_receivers_time(t->receivers, group, n) : NAN;
    return ht_h5_write_planes(t->file, SET(group, "time"), 0, first, last, time);
}

/* Up to the end of the last one: in the run's time, with amplitudes. */
static HT_ERR write_sources(const struct ht_traces *t) {
    const struct ht_shots *shots = t->plan->shots;
    const double dt = t->receivers->dt;
    HT_ENDED(ht_places_free) struct ht_places at = {.x = NULL};
    if (shots == NULL) return HT_OK;
    const int64_t last = (int64_t)fmin(ceil(shots->end / dt), (double)t->receivers->steps);
    const int64_t extent[2] = {shots->count, ht_most(last, 0) + 1};
    HT_ARRAY(double, value, ht_most(extent[0], extent[1]));
    TRY(ht_places_make(shots, NULL, &at));
    TRY(ht_positions_write(t->file, "sources/position", t->plan->grid.dims, at.count, at.x));
    for (int i = 0; i < shots->count; i++) value[i] = ht_places_of(&shots->shot[i]);
    TRY(ht_h5_write(t->file, "sources/points", 1, extent, value, false));
    for (int64_t n = 0; n < extent[1]; n++) value[n] = (double)n * dt;
    TRY(ht_h5_write(t->file, "sources/signal_time", 1, extent + 1, value, false));
    TRY(ht_h5_reserve(t->file, "sources/signal", 2, extent, false, t->output->single));
    for (int i = 0; i < shots->count; i++) {
        for (int64_t n = 0; n < extent[1]; n++)
            value[n] = ht_shot_at(&shots->shot[i], (double)n * dt, 0) / t->plan->scale;
        TRY(ht_h5_write_planes(t->file, "sources/signal", 0, i, i + 1, value));
    }
    return HT_OK;
}

/* For t->room[group] samples. */
static HT_ERR lay_out(struct ht_traces *t) {
    const double none = NAN;
    HT_FREED_TEXT struct ht_text input = {0};
    struct ht_params anywhere = *t->output->params; /* equal runs write equal files */
    anywhere.output.directory = (char[]){"out"};
    TRY(ht_params_print(&anywhere, &input));
    TRY(ht_h5_create(t->output->traces_path, false, &t->file));
    TRY(ht_h5_write_text(t->file, HT_INPUT_NAME, input.data));
    TRY(write_sources(t));
    TRY(ht_h5_set_text(t->file, "system", t->output->params->system));
    TRY(ht_h5_set_number(t->file, "time_step", 1, &t->receivers->dt));
    TRY(ht_h5_set_text(t->file, "ended", "killed"));
    TRY(ht_h5_set_number(t->file, "end_time", 1, &none));
    TRY(ht_units_write(t->output->params, t->file));
    HT_EACH_AT(n, const struct ht_receiver_group, group, t->receivers->group, t->receivers->count) {
        const int64_t extent[2] = {group->count, t->room[n]};
        TRY(ht_positions_write(t->file, SET(group, "position"), t->plan->grid.dims, group->count,
                               group->x));
        TRY(ht_h5_reserve(t->file, SET(group, "time"), 1, extent + 1, true, false));
        TRY(write_times(t, group, 0, t->room[n], false));
        for (int r = 0; r < group->readings; r++)
            TRY(ht_h5_reserve(t->file, SET(group, group->reading[r].name), 2, extent, true,
                              t->output->single));
    }
    return HT_OK;
}

/* The first samples of a group, some at a time. */
static HT_ERR copy_samples(struct ht_traces *t, int n, struct ht_h5 *from) {
    const struct ht_receiver_group *group = &t->receivers->group[n];
    const int64_t most = ht_most(1, (1 << 21) / group->count);
    HT_ARRAY(double, data, ht_least(most, t->done[n]) * group->count);
    for (int64_t first = 0; first < t->done[n]; first += most) {
        const int64_t last = ht_least(first + most, t->done[n]);
        for (int r = 0; r < group->readings; r++) {
            const char *name = SET(group, group->reading[r].name);
            TRY(ht_h5_read_planes(from, name, 1, first, last, data));
            TRY(ht_h5_write_planes(t->file, name, 1, first, last, data));
        }
    }
    return t->done[n] > 0 ? write_times(t, group, 0, t->done[n], true) : HT_OK;
}

/* The file that is there is replaced in one step, so that the run can be continued again. */
static HT_ERR copy_all(struct ht_traces *t) {
    HT_ENDED(ht_h5_end) struct ht_h5 *from = NULL;
    TRY(ht_h5_open(t->output->traces_path, &from));
    for (int n = 0; n < t->receivers->count; n++) TRY(copy_samples(t, n, from));
    return ht_h5_publish(t->file);
}

HT_ERR ht_output_traces_archive(struct ht_output *output, struct ht_archive *archive) {
    struct ht_traces *t = &output->traces;
    for (int n = 0; n < t->receivers->count; n++)
        ht_archive_integer(archive, HT_KEY("receivers/%d/written", n), &t->done[n]);
    TRY(ht_archive_status(archive));
    return ht_archive_loads(archive) ? copy_all(t) : ht_h5_publish(t->file);
}

HT_ERR ht_output_traces_begin(struct ht_output *output, const struct ht_plan *plan) {
    struct ht_traces *t = &output->traces;
    *t = (struct ht_traces){.output = output, .plan = plan, .receivers = plan->receivers};
    TRY(HT_ALLOC(t->done, t->receivers->count));
    TRY(HT_ALLOC(t->room, t->receivers->count));
    for (int n = 0; n < t->receivers->count; n++) t->room[n] = t->receivers->group[n].samples;
    TRY(lay_out(t));
    /* else once it has the samples so far */
    return t->output->params->resume.from == NULL ? ht_h5_publish(t->file) : HT_OK;
}

void ht_traces_end(struct ht_traces *t) {
    ht_h5_close(t->file);
    free(t->done);
    free(t->room);
    *t = (struct ht_traces){.file = NULL};
}

HT_ERR ht_output_traces_add(struct ht_output *output, int n, int64_t first, int64_t last,
                            const double *data) {
    struct ht_traces *t = &output->traces;
    const struct ht_receiver_group *group = &t->receivers->group[n];
    REQUIRE(first == t->done[n] && last <= group->samples, HT_ERR_INTERNAL,
            "traces: samples %lld to %lld after %lld", (long long)first, (long long)last,
            (long long)t->done[n]);
    if (first == last) return HT_OK;
    for (int r = 0; r < group->readings; r++)
        TRY(ht_h5_write_planes(t->file, SET(group, group->reading[r].name), 1, first, last,
                               data + r * group->count * (last - first)));
    TRY(write_times(t, group, first, last, true));
    t->done[n] = last;
    return HT_OK;
}

/* A run that was interrupted has fewer samples: a file of so many takes the place of the other in
 * one step. Of a group that did not begin one stays, which is not a number. */
static HT_ERR shorten(struct ht_output *output) {
    struct ht_traces *t = &output->traces;
    HT_ENDED(ht_h5_end) struct ht_h5 *whole = t->file;
    t->file = NULL;
    for (int n = 0; n < t->receivers->count; n++) t->room[n] = ht_most(t->done[n], 1);
    TRY(lay_out(t));
    for (int n = 0; n < t->receivers->count; n++) {
        TRY(copy_samples(t, n, whole));
        const struct ht_receiver_group *group = &t->receivers->group[n];
        const int64_t values = t->done[n] == 0 ? group->count * group->readings : 0;
        HT_ARRAY(double, none, values);
        for (int64_t i = 0; i < values; i++) none[i] = NAN;
        if (values > 0) TRY(ht_output_traces_add(output, n, 0, 1, none));
    }
    return HT_OK;
}

static HT_ERR finish(struct ht_output *output, const char *how, double time) {
    struct ht_traces *t = &output->traces;
    bool all = true;
    for (int n = 0; n < t->receivers->count; n++)
        all = all && t->done[n] == t->receivers->group[n].samples;
    if (!all) TRY(shorten(output));
    TRY(ht_h5_set_text(t->file, "ended", how));
    TRY(ht_h5_set_number(t->file, "end_time", 1, &time));
    if (output->alone && strcmp(how, "end") == 0)
        TRY(ht_h5_set_number(t->file, "input", 1, &output->mark));
    struct ht_h5 *file = t->file;
    t->file = NULL;
    TRY(ht_h5_commit(file));
    const struct ht_names *names = &output->params->output.traces;
    const struct ht_traced_shot run = {t->plan->params, output->traces_path};
    for (int i = 0; i < names->count && !output->alone; i++)
        TRY(find_format(names->name[i])->write(t->plan, run.params, 1, &run, "traces"));
    return HT_OK;
}

HT_ERR ht_output_traces_end(struct ht_output *output, const char *how, double time) {
    enum ht_err err = finish(output, how, time);
    ht_traces_end(&output->traces);
    return err;
}
