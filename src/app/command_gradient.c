/* htwave gradient: the misfit of traces to observed ones, and its gradient by the medium. */
#include "app.h"
#include "htwave/inverse.h"

struct job {
    const struct ht_args *args;
    const struct ht_params *params;
    struct ht_survey *survey;
    struct ht_inverse *inverse;
    char *path, *part;   /* gradient.h5; what is kept of shots while not all are done */
    struct ht_lock lock; /* of output.directory; on rank 0 */
    double began;
    double kept, took; /* it, by the clock: when, how long; at first what it may take */
};

static void end_job(struct job *j) {
    ht_lock_release(&j->lock);
    ht_inverse_destroy(j->inverse);
    ht_survey_destroy(j->survey);
    free(j->path);
    free(j->part);
}

static HT_ERR run_shot(struct job *j, int shot, double *chi) {
    HT_ENDED(ht_pool_free) struct ht_pool pool = {0};
    struct ht_misfit misfit;
    double **r = NULL;
    TRY(ht_inverse_forward(j->inverse, shot, HT_KEY("shot %d of %d", shot + 1, j->survey->count)));
    TRY(ht_inverse_misfit(j->inverse, &pool, &r, &misfit));
    TRY(ht_inverse_backward(j->inverse, r));
    *chi = misfit.chi;
    if (misfit.silent > 0)
        ht_note("shot %d: %lld traces without energy count nothing", shot + 1,
                (long long)misfit.silent);
    return HT_OK;
}

/* Keeps the sums, unless that would take more than a part of the time. */
static HT_ERR keep(struct job *j) {
    const double part = 0.05, began = ht_clock();
    double due = began - j->kept > j->took / part;
    TRY(ht_comm_max(j->survey->sim->comm, 1, &due));
    if (!(due > 0)) return HT_OK;
    TRY(ht_gradient_sums_save(&j->inverse->sums, j->part));
    j->kept = ht_clock();
    j->took = j->kept - began;
    return HT_OK;
}

/* The shots of a turn: one of each group of ranks. */
static HT_ERR run_turn(struct job *j, int first) {
    const struct ht_survey *survey = j->survey;
    const int end = (int)ht_least(first + survey->groups, survey->count);
    const int shot = ht_survey_next(survey, first);
    const double began = ht_clock();
    double chi = 0;
    TRY(ht_comm_agree(survey->comm, shot < end ? run_shot(j, shot, &chi) : HT_OK));
    TRY(ht_inverse_add(j->inverse, chi));
    for (int i = first; i < end; i++)
        ht_log("shot %d of %d: misfit %.6g, in %s", i + 1, survey->count,
               j->inverse->sums.misfit[i], HT_SECONDS(ht_clock() - began));
    return survey->group == 0 ? keep(j) : HT_OK;
}

static double largest_of(const struct ht_medium_wanted *wanted) {
    double largest = 0;
    for (int64_t i = 0; i < wanted->samples; i++) largest = fmax(largest, fabs(wanted->value[i]));
    return largest;
}

enum { FEW = 16 }; /* values that are said, too: of layers */

static HT_ERR report(const struct job *j) {
    const struct ht_inverse *inverse = j->inverse;
    const struct ht_medium_gradient *medium = inverse->medium;
    HT_ENDED(ht_facts_free) struct ht_facts f = ht_facts_open();
    double sum = 0;
    for (int i = 0; i < j->survey->count; i++) sum += inverse->sums.misfit[i];
    ht_json_stamp(&f.json);
    ht_fact(&f, HT_NUM("misfit", sum), HT_NUMS("misfits", j->survey->count, inverse->sums.misfit),
            HT_NUM("forward_s", inverse->forward_s), HT_NUM("adjoint_s", inverse->adjoint_s),
            HT_TEXT("field", HT_WORD(GRADIENT_FIELD, inverse->used.field)),
            HT_INT("segments", inverse->used.segments), HT_INT("host_bytes", inverse->used.host),
            HT_INT("device_bytes", inverse->used.device), HT_INT("file_bytes", inverse->used.file),
            HT_NUM("wall_s", ht_clock() - j->began), HT_TEXT("file", j->path),
            HT_OPEN("gradient", '['));
    HT_EACH(const struct ht_medium_wanted, w, medium->wanted, medium->count) {
        ht_fact(&f, HT_OPEN(NULL, '{'), HT_TEXT("parameter", w->name),
                HT_INT("samples", w->samples), HT_INT("held", w->held),
                HT_NUM("largest", largest_of(w)));
        if (w->samples <= FEW) ht_fact(&f, HT_NUMS("values", (int)w->samples, w->value));
        ht_fact(&f, HT_CLOSE('}'));
        ht_log("%s %s: %lld samples, largest %.6g%s",
               j->params->gradient.image == HT_IMAGE_CROSS ? "image on the samples of"
                                                           : "gradient by",
               w->key, (long long)w->samples, largest_of(w),
               w->held > 0
                   ? HT_KEY("; %lld near or in absorbing layers are held fixed", (long long)w->held)
                   : "");
    }
    ht_fact(&f, HT_CLOSE(']'), HT_CLOSE('}'));
    TRY(ht_text_status(&f.json.text));
    ht_log("misfit of %d shot%s: %.9g; runs forwards %s, adjoint runs %s; %s", j->survey->count,
           j->survey->count == 1 ? "" : "s", sum, HT_SECONDS(inverse->forward_s),
           HT_SECONDS(inverse->adjoint_s), j->path);
    TRY(ht_file_write_in(j->params->output.directory, "summary.json", f.json.text.data,
                         f.json.text.length));
    return j->args->json ? ht_args_print(&f.json.text) : HT_OK;
}

static HT_ERR run_all(struct job *j) {
    enum ht_err err = HT_OK;
    j->kept = ht_clock();
    for (int s = 0; s < HT_GRADIENT_SUMS; s++) /* of a disk that takes 1 GB/s */
        if (j->inverse->sums.sum[s] != NULL)
            j->took += 8e-9 * (double)ht_grid_own_total(j->inverse->sums.grid, HT_PRIMARY);
    for (int i = (int)j->inverse->sums.done; err == HT_OK && i < j->survey->count;
         i += j->survey->groups)
        err = run_turn(j, i);
    j->kept = j->took = 0;
    /* Other ranks do not answer after a failure. */
    if (err == HT_ERR_INTERRUPTED && ht_comm_size(j->survey->comm) == 1 && j->inverse->sums.done)
        TRY(keep(j));
    TRY(err);
    TRY(ht_inverse_finish(j->inverse));
    if (j->survey->group == 0)
        TRY(ht_gradient_write(&j->inverse->sums, j->params, j->inverse->medium,
                              j->params->gradient.nodes, j->path));
    if (ht_comm_rank(j->survey->comm) == 0) (void)remove(j->part);
    return HT_BY_FIRST(j->survey->comm, report(j));
}

static HT_ERR prepare(struct job *j) {
    j->began = ht_clock();
    TRY(HT_BY_FIRST(j->args->comm, ht_output_idle(j->params)));
    TRY(ht_survey_plan(j->params, j->args->comm, true, &j->survey));
    TRY(ht_inverse_create(j->survey, &j->inverse));
    TRY(ht_comm_agree(j->args->comm, ht_inverse_check(j->inverse)));
    TRY(ht_run_ready(j->survey->sim));
    TRY(ht_file_path(j->params->output.directory, "gradient.h5", &j->path));
    TRY(ht_file_path(j->params->output.directory, "gradient.h5.part", &j->part));
    if (ht_args_value(j->args, "--anew") == NULL)
        TRY(ht_gradient_sums_resume(&j->inverse->sums, j->part));
    const bool found = j->inverse->sums.done > 0;
    const int shot = ht_survey_next(j->survey, (int)j->inverse->sums.done);
    TRY(ht_comm_agree(j->args->comm,
                      shot < j->survey->count ? ht_inverse_ready(j->inverse, shot) : HT_OK));
    if (found)
        ht_log("goes on after shot %lld, with %s (--anew begins anew)",
               (long long)j->inverse->sums.done, j->part);
    TRY(HT_BY_FIRST(j->survey->comm, ht_output_survey(j->params, found, &j->lock)));
    return HT_STOPPABLE(ht_comm_agree(j->args->comm, run_all(j)));
}

enum ht_err ht_command_gradient(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    HT_ENDED(end_job) struct job j = {.args = args, .lock.fd = -1};
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &params));
    ht_traces_alone(params, "htwave gradient");
    params->gradient.wanted = params->gradient.alone = true;
    j.params = params;
    return ht_comm_agree(args->comm, prepare(&j));
}
