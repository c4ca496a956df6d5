/* Shots, one after the other with one preparation: htwave run with a list `shots`, htwave data. */
#include "app.h"
#include "htwave/formats.h"
#include "htwave/h5.h"
#include "htwave/survey.h"

struct shots {
    struct ht_survey *survey;
    const struct ht_args *args;
    bool traces;         /* alone, into the files of data */
    char mark[17];       /* of the input */
    struct ht_lock lock; /* of the directory; on rank 0 */
    bool *finished;      /* [shot] by an earlier call */
    double *seconds;     /* [shot]; 0: not run here */
    double began;
};

static void end_shots(struct shots *s) {
    ht_lock_release(&s->lock);
    ht_survey_destroy(s->survey);
    free(s->finished);
    free(s->seconds);
}

/* ---- what is there already ---- */

static double number_of(const struct shots *s) {
    return (double)(strtoull(s->mark, NULL, 16) >> 12);
}

/* A file of traces that is none of these is someone's data. */
static enum ht_err look_at_data(struct shots *s, int i) {
    const struct ht_survey_shot *shot = &s->survey->shot[i];
    const char *key = shot->group > 0 ? HT_KEY("shots.%d.data", shot->group) : "shots";
    double mark = NAN;
    struct ht_h5 *file = NULL;
    REFUSE(ht_file_ends(shot->data, "sgy|segy|npy"), s->survey->params, key,
           "%s has the name of a file that is read as data, not written: name HDF5 files, "
           "shot-*.h5",
           shot->data);
    if (!ht_file_exists(shot->data)) return HT_OK;
    enum ht_err err = ht_h5_open(shot->data, &file);
    if (err == HT_OK) err = ht_h5_get_number(file, "input", 1, &mark);
    ht_h5_close(file);
    REFUSE(err != HT_OK && ht_args_value(s->args, "--anew") == NULL, s->survey->params, key,
           "%s is there and was not written by `htwave data`: choose another file, or --anew to "
           "replace it",
           shot->data);
    s->finished[i] = err == HT_OK && mark == number_of(s);
    return HT_OK;
}

/* "1 to 3, 7" */
static void add_numbers(const bool *of, int count, struct ht_text *text) {
    for (int i = 0, last; i < count; i = last + 1) {
        for (last = i; last < count && of[last] == of[i]; last++) continue;
        last--;
        if (!of[i]) continue;
        ht_text_add(text, "%s%d", text->length > 0 ? ", " : "", i + 1);
        if (last > i) ht_text_add(text, "%s%d", last > i + 1 ? " to " : ", ", last + 1);
    }
}

static enum ht_err begin(struct shots *s) {
    const struct ht_params *params = s->survey->params;
    HT_FREED_TEXT struct ht_text text = {0};
    bool any = false;
    TRY(ht_params_identity(params, s->mark));
    for (int i = 0; i < s->survey->count; i++) {
        if (s->traces)
            TRY(look_at_data(s, i));
        else
            s->finished[i] = ht_output_finished(&s->survey->shot[i].params, s->mark);
        if (ht_args_value(s->args, "--anew") != NULL) s->finished[i] = false;
        any = any || s->finished[i];
    }
    add_numbers(s->finished, s->survey->count, &text);
    if (any)
        ht_log("finished by an earlier call of this input: shot%s %s (--anew begins anew)",
               strpbrk(text.data, " ,") ? "s" : "", text.data);
    return s->traces ? HT_OK : ht_output_survey(params, any, &s->lock);
}

/* ---- one shot ---- */

/* The positions of receivers that were moved, where the shot's input has them. */
static enum ht_err write_places(const struct ht_params *params) {
    const struct ht_receivers_given *group = params->receivers.group;
    HT_FREED_TEXT struct ht_text text = {0};
    if (params->receivers.count != 1 || group->places == 0) return HT_OK;
    for (int64_t i = 0; i < group->places; i++) {
        for (int k = 0; k < params->grid.dims; k++)
            ht_text_add(&text, "%.17g%c", group->place[i][k],
                        k + 1 < params->grid.dims ? ' ' : '\n');
    }
    TRY(ht_text_status(&text));
    TRY(ht_file_make_directory(params->output.directory));
    return ht_file_write(group->file, text.data, text.length);
}

static enum ht_err run_traces(struct shots *s, struct ht_simulation *sim, const char *path) {
    struct ht_result result = {.wall_s = 0};
    HT_ENDED(ht_output_end) struct ht_output *output = NULL;
    HT_FREED char *folder = NULL;
    TRY(ht_text_copy(path, &folder));
    char *slash = strrchr(folder, '/');
    if (slash != NULL) *slash = '\0';
    TRY(HT_BY_FIRST(sim->comm,
                    slash == NULL || slash == folder ? HT_OK : ht_file_make_directory(folder)));
    TRY(ht_output_create_traces(sim->params, sim->plan->medium, path, number_of(s), &output));
    TRY(ht_run_observed(sim, output, &result));
    REQUIRE(!sim->run.interrupted, HT_ERR_INTERRUPTED, "interrupted at step %lld of %lld",
            (long long)sim->run.steps, (long long)sim->plan->steps);
    return HT_OK;
}

static enum ht_err run_shot(struct shots *s, int i, const char *title) {
    struct ht_simulation *sim = s->survey->sim;
    const struct ht_survey_shot *shot = &s->survey->shot[i];
    const double began = ht_clock();
    TRY(ht_survey_aim(s->survey, i));
    sim->run.title = title;
    if (s->traces)
        TRY(ht_survey_blame(s->survey, i, run_traces(s, sim, shot->data)));
    else {
        TRY(HT_BY_FIRST(sim->comm, write_places(&shot->params)));
        TRY(ht_survey_blame(s->survey, i, ht_run_started(sim, began, NULL)));
        TRY(HT_BY_FIRST(sim->comm, ht_output_finish(&shot->params, s->mark)));
    }
    s->seconds[i] = ht_clock() - began;
    return HT_OK;
}

/* ---- all ---- */

/* Of this group of ranks: seconds of the shots to come, from those that were run. */
static double seconds_left(const struct shots *s, int from) {
    double sum = 0;
    int done = 0, left = 0;
    for (int i = 0; i < from; i++) {
        sum += s->seconds[i];
        done += s->seconds[i] > 0;
    }
    for (int i = ht_survey_next(s->survey, from); i < s->survey->count;
         i = ht_survey_next(s->survey, i + 1))
        left += !s->finished[i];
    return done > 0 ? sum / done * left : NAN;
}

static enum ht_err run_all(struct shots *s) {
    const struct ht_survey *survey = s->survey;
    for (int i = ht_survey_next(survey, 0); i < survey->count; i = ht_survey_next(survey, i + 1)) {
        if (s->finished[i]) continue;
        const double before = seconds_left(s, i);
        TRY(run_shot(s, i,
                     HT_KEY(isfinite(before) ? "shot %d of %d (%s left of all)" : "shot %d of %d",
                            i + 1, survey->count, HT_SECONDS(before))));
        const double left = seconds_left(s, i + 1);
        ht_log("shot %d of %d: %lld traces in %s%s%s", i + 1, survey->count,
               survey->sim->plan->receivers != NULL
                   ? (long long)survey->sim->plan->receivers->traces
                   : 0,
               HT_SECONDS(s->seconds[i]), left > 0 ? "; all in about " : "",
               left > 0 ? HT_SECONDS(left) : "");
    }
    return HT_OK;
}

static void add_shot(const struct shots *s, int i, struct ht_facts *f) {
    const struct ht_survey_shot *shot = &s->survey->shot[i];
    int64_t source[256];
    int count = 0;
    for (; count < shot->params.shots.count && count < 256; count++)
        source[count] = shot->params.number.source[count];
    ht_fact(f, HT_OPEN(NULL, '{'), HT_INT("shot", i + 1), HT_INTS("sources", count, source),
            HT_OPEN("receivers", '['));
    const struct ht_receivers_given *group = shot->params.receivers.group;
    for (int n = 0; n < shot->params.receivers.count; n++) ht_fact(f, HT_TEXT(NULL, group[n].name));
    ht_fact(f, HT_CLOSE(']'),
            HT_TEXT(s->traces ? "data" : "directory",
                    s->traces ? shot->data : shot->params.output.directory),
            HT_BOOL("by_earlier_call", s->finished[i]), HT_KNOWN("wall_s", s->seconds[i]),
            HT_CLOSE('}'));
}

/* Where output.traces asks for it: all shots in one file of each kind. */
static enum ht_err write_segy(const struct shots *s) {
    const struct ht_survey *survey = s->survey;
    const struct ht_names *formats = &survey->params->output.traces;
    HT_ENDED(ht_pool_free) struct ht_pool pool = {0};
    struct ht_segy_shot *shot;
    int n = 0;
    while (n < formats->count && strcmp(formats->name[n], "segy") != 0) n++;
    if (s->traces || n == formats->count || survey->params->receivers.count == 0) return HT_OK;
    TRY(HT_TAKE(&pool, shot, survey->count));
    for (int i = 0; i < survey->count; i++) {
        HT_PATH(path, survey->shot[i].params.output.directory, "traces.h5");
        char *kept;
        TRY(ht_pool_copy(&pool, path, &kept));
        shot[i] = (struct ht_segy_shot){i + 1, &survey->shot[i].params, kept};
    }
    return ht_segy_shots(survey->sim->plan, survey->params, survey->count, shot);
}

static enum ht_err report(struct shots *s) {
    const struct ht_survey *survey = s->survey;
    HT_ENDED(ht_facts_free) struct ht_facts f = ht_facts_open();
    int done = 0;
    for (int i = 0; i < survey->count; i++) done += !s->finished[i];
    ht_json_stamp(&f.json);
    ht_fact(&f, HT_INT("groups", survey->groups), HT_NUM("wall_s", ht_clock() - s->began),
            HT_OPEN("shots", '['));
    for (int i = 0; i < survey->count; i++) add_shot(s, i, &f);
    ht_fact(&f, HT_CLOSE(']'), HT_CLOSE('}'));
    TRY(ht_text_status(&f.json.text));
    TRY(write_segy(s));
    ht_log("done: %d of %d shots in %s, %s%s", done, survey->count,
           HT_SECONDS(ht_clock() - s->began),
           s->traces ? survey->shot[0].data : survey->params->output.directory,
           s->traces && survey->count > 1 ? " and so on" : "");
    if (!s->traces) {
        HT_PATH(path, survey->params->output.directory, "summary.json");
        TRY(ht_file_write(path, f.json.text.data, f.json.text.length));
    }
    return s->args->json ? ht_args_print(&f.json.text) : HT_OK;
}

static enum ht_err simulate(struct shots *s, const struct ht_params *params) {
    struct ht_comm *comm = s->args->comm;
    s->began = ht_clock();
    TRY(ht_survey_plan(params, comm, s->traces, &s->survey));
    const int count = s->survey->count;
    struct ht_simulation *sim = s->survey->sim;
    for (int i = 0; i < count && s->traces; i++) {
        const struct ht_survey_shot *shot = &s->survey->shot[i];
        REFUSE(shot->params.receivers.count == 0, params, "receivers",
               "shot %d has none, and nothing to record", i + 1);
    }
    TRY(HT_ALLOC(s->finished, count));
    TRY(HT_ALLOC(s->seconds, count));
    TRY(ht_comm_agree(comm, s->traces ? HT_OK : ht_run_check_output(sim)));
    TRY(ht_run_ready(sim));
    TRY(HT_BY_FIRST(comm, begin(s)));
    TRY(ht_comm_broadcast(comm, s->mark, sizeof s->mark));
    TRY(ht_comm_broadcast(comm, s->finished, (size_t)count * sizeof *s->finished));
    TRY(HT_STOPPABLE(ht_comm_agree(comm, run_all(s))));
    TRY(ht_comm_max(comm, count, s->seconds));
    return HT_BY_FIRST(comm, report(s));
}

enum ht_err ht_run_shots(const struct ht_params *params, const struct ht_args *args, bool traces) {
    HT_ENDED(end_shots) struct shots s = {.args = args, .traces = traces, .lock.fd = -1};
    return ht_comm_agree(args->comm, simulate(&s, params));
}

enum ht_err ht_command_data(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &params));
    params->output.snapshots = params->output.pictures = params->output.series = false;
    params->output.checkpoint.seconds = params->output.checkpoint.every = 0;
    return ht_run_shots(params, args, true);
}
