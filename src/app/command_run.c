/* htwave run, data and continue: prepare the simulation, take its steps with the observers below
 * and report; shots one after the other with one preparation. */
#include "app.h"
#include "htwave/h5.h"
#include "htwave/maps.h"
#include "htwave/survey.h"

/* ht_log writes the last newline. */
static HT_ERR log_text(const struct ht_text *text) {
    TRY(ht_text_status(text));
    ht_log("%.*s", (int)text->length - 1, text->data);
    return HT_OK;
}

/* Energies judge each state before the observers below them use it. */
static HT_ERR run_observed(struct ht_simulation *sim, struct ht_output *output,
                           struct ht_result *result) {
    const struct ht_plan *plan = sim->plan;
    struct ht_checkpoints checkpoints = {.output = output};
    result->energy.series = output;
    struct ht_recording recording = {.output = output};
    struct ht_maps maps;
    TRY(ht_comm_agree(plan->grid.slab.comm, ht_output_mark(output, plan->shots, plan->receivers)));
    const struct ht_observer observers[] = {
        ht_observe_energy(&result->energy),
        ht_observe_checkpoints(plan->params, &checkpoints),
        ht_observe_conserved(&result->conserved),
        ht_observe_error(plan, &result->error),
        ht_observe_snapshots(plan->params, output),
        ht_observe_pictures(plan->params, output),
        ht_observe_maps(&maps),
        ht_observe_receivers(&recording),
    };
    const int count = sizeof observers / sizeof observers[0];
    checkpoints.of = (struct ht_run_parts){.count = count, .observer = observers};
    sim->run.from = plan->params->resume.from;
    if (sim->run.title == NULL) sim->run.title = "run";
    return ht_run_execute(&sim->run, count, observers);
}

static HT_ERR finish(struct ht_simulation *sim, struct ht_output *output, double began,
                     struct ht_result *result, const struct ht_args *args) {
    HT_ENDED(ht_facts_free) struct ht_facts facts = ht_facts_open();
    struct ht_json *json = &facts.json;
    result->wall_s = ht_clock() - began;
    TRY(ht_parallel_gather(sim, &result->parallel));
    ht_report_plan(sim, &facts);
    ht_text_free(&facts.text); /* said before the run */
    ht_report_result(sim, result, output, &facts);
    ht_json_add(json, HT_CLOSE('}'));
    TRY(ht_text_status(&json->text));
    TRY(ht_output_summary(output, json->text.data));
    if (args == NULL) return HT_OK;
    TRY(log_text(&facts.text));
    return args->json ? ht_args_print(&json->text) : HT_OK;
}

static HT_ERR run_started(struct ht_simulation *sim, double began, const struct ht_args *args) {
    const struct ht_plan *plan = sim->plan;
    const struct ht_params *params = plan->params;
    struct ht_result result = {.wall_s = 0};
    HT_ENDED(ht_output_end) struct ht_output *output = NULL;
    TRY(ht_output_create(params, plan->medium, plan->problem.stored[HT_PRIMARY], &output));
    if (plan->problem.early != 0) {
        struct ht_pair pair;
        ht_problem_pair(&plan->problem, &pair);
        ht_output_stagger(output, &pair, plan->problem.dt);
    }
    TRY(run_observed(sim, output, &result));
    TRY(finish(sim, output, began, &result, args));
    const bool goes_on = args != NULL && ht_checkpoints_wanted(params); /* no shot does */
    REQUIRE(!sim->run.interrupted, HT_ERR_INTERRUPTED, "interrupted at step %lld of %lld%s%s%s",
            (long long)sim->run.steps, (long long)plan->steps, goes_on ? "; `htwave continue " : "",
            goes_on ? params->output.directory : "", goes_on ? "` goes on from there" : "");
    return HT_OK;
}

/* Outputs that the plan cannot have. */
HT_ERR ht_run_check_wanted(const struct ht_simulation *sim) {
    TRY(ht_output_check(sim->params, sim->plan->medium, sim->plan->problem.stored[HT_PRIMARY]));
    TRY(ht_output_check_traces(sim->params, sim->plan->receivers));
    struct ht_field_map map;
    for (int n = 0; n < sim->params->output.maps.count; n++)
        TRY(ht_map_find(sim->plan, sim->tuning.variant, sim->tuning.fp64, n, &map));
    return HT_OK;
}

/* Outputs may ask for fields that the run of the checkpoint did not step. */
static HT_ERR check_resumed(const struct ht_simulation *sim) {
    HT_FREED char *then = NULL;
    char now[HT_STEPPED];
    if (sim->params->resume.from == NULL) return HT_OK;
    TRY(ht_archive_read_text(sim->params->resume.from, "stepped", &then));
    ht_run_stepped(sim->plan, now);
    REFUSE(strcmp(now, then) != 0, sim->params, "output.fields",
           "with these outputs a run steps %s, but that of %s stepped %s: fields of "
           "output.fields and output.picture that need other ones cannot change in a run that goes "
           "on; begin a new run",
           now, sim->params->resume.from, then);
    return HT_OK;
}

/* What would be refused once the kernels are ready. */
static HT_ERR check_output(const struct ht_simulation *sim) {
    TRY(ht_run_check_wanted(sim));
    if (sim->rank > 0) return HT_OK;
    TRY(check_resumed(sim));
    return ht_disk_check(sim);
}

HT_ERR ht_run_ready(struct ht_simulation *sim) {
    TRY(ht_simulation_tune(sim));
    if (sim->no_device == NULL) {
        HT_ENDED(ht_facts_free) struct ht_facts facts = {.text = {0}};
        ht_report_plan(sim, &facts);
        TRY(log_text(&facts.text));
        ht_report_notes(sim);
    }
    TRY(ht_simulation_compile(sim));
    if (ht_log_level_get() >= HT_LOG_VERBOSE && isfinite(sim->selfcheck_ratio))
        ht_log("self-check: worst difference is %.3g of its bound, in %.2f s", sim->selfcheck_ratio,
               sim->selfcheck_s);
    ht_simulation_measure(sim);
    return HT_OK;
}

/* ---- shots, one after the other; traces: alone, without a list a shot for each group ---- */

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
static HT_ERR look_at_data(struct shots *s, int i) {
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

/* Whether the shot of this directory has ended, of the same input. */
static bool is_finished(const struct shots *s, const char *directory) {
    HT_FREED char *path = NULL, *text = NULL;
    size_t size;
    return ht_file_path(directory, HT_FINISHED_NAME, &path) == HT_OK &&
           ht_file_read(path, &text, &size) == HT_OK && strcmp(text, s->mark) == 0;
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

static HT_ERR begin_shots(struct shots *s) {
    const struct ht_params *params = s->survey->params;
    HT_FREED_TEXT struct ht_text text = {0};
    bool any = false;
    TRY(ht_params_identity(params, s->mark));
    for (int i = 0; i < s->survey->count; i++) {
        if (s->traces)
            TRY(look_at_data(s, i));
        else
            s->finished[i] = is_finished(s, s->survey->shot[i].params.output.directory);
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
static HT_ERR write_places(const struct ht_params *params) {
    const struct ht_receivers_given *group = params->receivers.group;
    HT_FREED_TEXT struct ht_text text = {0};
    if (params->receivers.count != 1 || group->places == 0) return HT_OK;
    for (int64_t i = 0; i < group->places; i++)
        for (int k = 0; k < params->grid.dims; k++)
            ht_text_add(&text, "%.17g%c", group->place[i][k],
                        k + 1 < params->grid.dims ? ' ' : '\n');
    TRY(ht_text_status(&text));
    TRY(ht_file_make_directory(params->output.directory));
    return ht_file_write(group->file, text.data, text.length);
}

static HT_ERR run_traces(struct shots *s, struct ht_simulation *sim, const char *path) {
    struct ht_result result = {.wall_s = 0};
    HT_ENDED(ht_output_end) struct ht_output *output = NULL;
    HT_FREED char *folder = NULL;
    TRY(ht_text_copy(path, &folder));
    char *slash = strrchr(folder, '/');
    if (slash != NULL) *slash = '\0';
    TRY(HT_BY_FIRST(sim->comm,
                    slash == NULL || slash == folder ? HT_OK : ht_file_make_directory(folder)));
    TRY(ht_output_create_traces(sim->params, sim->plan->medium, path, number_of(s), &output));
    TRY(run_observed(sim, output, &result));
    REQUIRE(!sim->run.interrupted, HT_ERR_INTERRUPTED, "interrupted at step %lld of %lld",
            (long long)sim->run.steps, (long long)sim->plan->steps);
    return HT_OK;
}

static HT_ERR run_shot(struct shots *s, int i, const char *title) {
    struct ht_simulation *sim = s->survey->sim;
    const struct ht_survey_shot *shot = &s->survey->shot[i];
    const double began = ht_clock();
    TRY(ht_survey_aim(s->survey, i));
    sim->run.title = title;
    if (s->traces)
        TRY(ht_survey_blame(s->survey, i, run_traces(s, sim, shot->data)));
    else {
        TRY(HT_BY_FIRST(sim->comm, write_places(&shot->params)));
        TRY(ht_survey_blame(s->survey, i, run_started(sim, began, NULL)));
        TRY(HT_BY_FIRST(sim->comm, ht_file_write_in(shot->params.output.directory, HT_FINISHED_NAME,
                                                    s->mark, strlen(s->mark))));
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

static HT_ERR run_all(struct shots *s) {
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
static HT_ERR write_traces(const struct shots *s) {
    const struct ht_survey *survey = s->survey;
    HT_ENDED(ht_pool_free) struct ht_pool pool = {0};
    struct ht_traced_shot *shot;
    if (s->traces) return HT_OK;
    TRY(HT_TAKE(&pool, shot, survey->count));
    for (int i = 0; i < survey->count; i++) {
        HT_PATH(path, survey->shot[i].params.output.directory, "traces.h5");
        char *kept;
        TRY(ht_pool_copy(&pool, path, &kept));
        shot[i] = (struct ht_traced_shot){&survey->shot[i].params, kept};
    }
    return ht_output_shots(survey->sim->plan, survey->params, survey->count, shot);
}

static HT_ERR report_shots(struct shots *s) {
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
    TRY(write_traces(s));
    ht_log("done: %d of %d shots in %s, %s%s", done, survey->count,
           HT_SECONDS(ht_clock() - s->began),
           s->traces ? survey->shot[0].data : survey->params->output.directory,
           s->traces && survey->count > 1 ? " and so on" : "");
    if (!s->traces)
        TRY(ht_file_write_in(survey->params->output.directory, "summary.json", f.json.text.data,
                             f.json.text.length));
    return s->args->json ? ht_args_print(&f.json.text) : HT_OK;
}

static HT_ERR simulate_shots(struct shots *s, const struct ht_params *params) {
    struct ht_comm *comm = s->args->comm;
    s->began = ht_clock();
    TRY(ht_survey_plan(params, comm, s->traces, &s->survey));
    const int count = s->survey->count;
    struct ht_simulation *sim = s->survey->sim;
    HT_EACH_AT(i, const struct ht_survey_shot, shot, s->survey->shot, s->traces ? count : 0)
        REFUSE(shot->params.receivers.count == 0, params, "receivers",
               "shot %d has none, and nothing to record", i + 1);
    TRY(HT_ALLOC(s->finished, count));
    TRY(HT_ALLOC(s->seconds, count));
    TRY(ht_comm_agree(comm, s->traces ? HT_OK : check_output(sim)));
    TRY(ht_run_ready(sim));
    TRY(HT_BY_FIRST(comm, begin_shots(s)));
    TRY(ht_comm_broadcast(comm, s->mark, sizeof s->mark));
    TRY(ht_comm_broadcast(comm, s->finished, (size_t)count * sizeof *s->finished));
    TRY(HT_STOPPABLE(ht_comm_agree(comm, run_all(s))));
    TRY(ht_comm_max(comm, count, s->seconds));
    return HT_BY_FIRST(comm, report_shots(s));
}

static HT_ERR run_shots(const struct ht_params *params, const struct ht_args *args, bool traces) {
    HT_ENDED(end_shots) struct shots s = {.args = args, .traces = traces, .lock.fd = -1};
    return ht_comm_agree(args->comm, simulate_shots(&s, params));
}

enum ht_err ht_command_data(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &params));
    ht_traces_alone(params, "htwave data");
    return run_shots(params, args, true);
}

/* ---- one run ---- */

static HT_ERR simulate(struct ht_simulation **sim, const struct ht_params *params,
                       const struct ht_args *args) {
    const double began = ht_clock();
    TRY(ht_simulation_plan(params, args->comm, NULL, sim));
    TRY(ht_comm_agree(args->comm, check_output(*sim)));
    TRY(ht_run_ready(*sim));
    TRY(ht_simulation_start(*sim));
    return HT_STOPPABLE(run_started(*sim, began, args));
}

/* The folder is looked at before anything takes time. */
static HT_ERR run_input(const struct ht_params *params, const struct ht_args *args) {
    HT_ENDED(ht_simulation_end) struct ht_simulation *sim = NULL;
    TRY(HT_BY_FIRST(args->comm, ht_output_idle(params)));
    if (params->survey.count > 0) return run_shots(params, args, false);
    REFUSE(params->parallel.shots > 0, params, "parallel.shots",
           "without the list shots `htwave run` is one run");
    return ht_comm_agree(args->comm, simulate(&sim, params, args));
}

enum ht_err ht_command_run(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &params));
    return run_input(params, args);
}

/* ---- from a checkpoint ---- */

static HT_ERR check_format(const char *path) {
    double format = 0;
    HT_FREED char *version = NULL;
    TRY(ht_archive_read_number(path, "format", &format));
    TRY(ht_archive_read_text(path, "version", &version));
    REQUIRE(format == HT_ARCHIVE_FORMAT, HT_ERR_INPUT,
            "%s is of htwave %s, whose checkpoints have format %g; this program (%s) reads format "
            "%d: continue with that version",
            path, version, format, HT_VERSION, HT_ARCHIVE_FORMAT);
    return ht_archive_check(path);
}

/* The last one that is as it was stored. */
static HT_ERR choose(const char *directory, char **out) {
    static const char *const name[] = {HT_CHECKPOINT_NAME, HT_CHECKPOINT_OLDER};
    bool any = false;
    for (int i = 0; i < 2; i++) {
        HT_PATH(path, directory, name[i]);
        if (!ht_file_exists(path)) continue;
        const enum ht_err err = check_format(path);
        if (err == HT_OK) return ht_text_copy(path, out);
        if (err != HT_ERR_IO) return err;
        any = true;
        ht_warn("%s", ht_err_message());
    }
    REQUIRE(!any, HT_ERR_IO, "%s: no checkpoint there can be read", directory);
    FAIL(HT_ERR_INPUT,
         "%s has no checkpoint: a run writes them where output.checkpoint.seconds or "
         "output.checkpoint.every asks for them",
         directory);
}

/* The first line of a text that another lacks, in `line`. */
static bool find_other(const char *text, const char *other, char *line, size_t size) {
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
        const size_t length = strcspn(at, "\n") + 1;
        const char *found = other;
        while (*found != '\0' && strncmp(found, at, length) != 0) found += strcspn(found, "\n") + 1;
        if (*found != '\0') continue;
        snprintf(line, size, "%.*s", (int)ht_least((int64_t)length - 1, (int64_t)size - 1), at);
        return true;
    }
    return false;
}

#define MAY_CHANGE                                                                                \
    "only time.end and keys of output, device and parallel may change, but not device.precision " \
    "and output.maps, which hold what was before: begin a new run"

static HT_ERR compare_physics(const struct ht_params *params, const char *path) {
    HT_FREED_TEXT struct ht_text now = {0};
    HT_FREED char *then = NULL;
    char line[200];
    TRY(ht_params_physics(params, &now));
    TRY(ht_archive_read_text(path, "physics", &then));
    REQUIRE(!find_other(now.data, then, line, sizeof line), HT_ERR_INPUT,
            "%s: not so in the run of %s: " MAY_CHANGE, line, path);
    REQUIRE(!find_other(then, now.data, line, sizeof line), HT_ERR_INPUT,
            "the run of %s has %s, which the input lacks: " MAY_CHANGE, path, line);
    return HT_OK;
}

/* The steps stay; another end takes more or fewer of them. */
static HT_ERR set_steps(struct ht_params *params, const char *path) {
    const double rounding = 1e-12;
    double all = 0, done = 0, end = 0;
    TRY(ht_archive_read_number(path, "all_steps", &all));
    TRY(ht_archive_read_number(path, "steps", &done));
    TRY(ht_archive_read_number(path, "end", &end));
    const double steps = end > 0 ? ceil(params->time.end / end * all * (1 - rounding)) : all;
    REFUSE(steps <= done || !(steps < 1e15), params, "time.end",
           "must lie behind the checkpoint, which is at time %g", end * done / all);
    const double whole = end > 0 ? end / all * steps : params->time.end;
    if (fabs(whole - params->time.end) > rounding * whole) {
        params->time.end = whole;
        ht_log("time.end is %.15g, a whole number of steps", whole);
    }
    params->resume.steps = (int64_t)steps;
    params->resume.left = 1 - done / steps;
    ht_log("going on from %s: step %.0f of %.0f", path, done, steps);
    return HT_OK;
}

static HT_ERR prepare_resume(const char *directory, struct ht_params *params) {
    TRY(choose(directory, &params->resume.from));
    TRY(compare_physics(params, params->resume.from));
    return set_steps(params, params->resume.from);
}

/* Rank 0 looks at the files; all get what it finds. */
static HT_ERR share(struct ht_comm *comm, struct ht_params *params) {
    char *from = NULL;
    TRY(ht_comm_broadcast_text(comm, params->resume.from, &from));
    free(params->resume.from);
    params->resume.from = from;
    TRY(ht_comm_broadcast(comm, &params->resume.steps, sizeof params->resume.steps));
    TRY(ht_comm_broadcast(comm, &params->resume.left, sizeof params->resume.left));
    return ht_comm_broadcast(comm, &params->time.end, sizeof params->time.end);
}

enum ht_err ht_command_continue(const struct ht_args *args) {
    const char *directory = args->operand[0];
    const int count = args->count; /* of overrides, with the directory's */
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    HT_FREED char *input = NULL, *own = NULL;
    HT_FREED char **given = NULL;
    TRY(HT_ALLOC(given, count));
    TRY(ht_text_print(&own, "output.directory=\"%s\"", directory));
    given[0] = own;
    for (int i = 1; i < count; i++) given[i] = args->operand[i];
    TRY(ht_file_path(directory, HT_INPUT_NAME, &input));
    TRY(ht_params_read(input, count, given, &params));
    REFUSE(strcmp(params->output.directory, directory) != 0, params, "output.directory",
           "a run goes on in %s, where its checkpoint is: leave it out", directory);
    TRY(HT_BY_FIRST(args->comm, prepare_resume(directory, params)));
    TRY(share(args->comm, params));
    return run_input(params, args);
}
