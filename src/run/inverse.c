/* Misfits and gradients of a survey; see the header. */
#include "htwave/inverse.h"

#include "htwave/gather.h"
#include "htwave/observed.h"

/* ---- making ---- */

/* Adds the contents of a file that is there. */
static enum ht_err add_file(const char *path, uint64_t *hash) {
    uint64_t file;
    if (!ht_file_exists(path)) return HT_OK;
    TRY(ht_file_hash(path, &file));
    *hash = ht_hash(*hash, &file, sizeof file);
    return HT_OK;
}

/* Of all that the gradient depends on. For one rank. */
static enum ht_err find_mark(const struct ht_survey *survey, char mark[17]) {
    const char *key, *path;
    uint64_t hash;
    TRY(ht_params_identity(survey->params, mark));
    hash = ht_hash(HT_HASH_SEED, mark, 17);
    for (int i = 0; ht_params_reads(survey->params, i, &key, &path); i++) {
        if (key != NULL) TRY(add_file(path, &hash));
    }
    for (int i = 0; i < survey->count; i++) {
        HT_FREED char *weights = NULL;
        TRY(ht_text_numbered(survey->params->gradient.weights, i + 1, &weights));
        TRY(add_file(survey->shot[i].data, &hash));
        TRY(add_file(weights, &hash));
    }
    snprintf(mark, 17, "%016llx", (unsigned long long)hash);
    return HT_OK;
}

static bool is_image(const struct ht_inverse *inverse) {
    return inverse->survey->params->gradient.image == HT_IMAGE_CROSS;
}

/* A velocity is the integral of a slope over the density at the receiver itself, whose part in the
 * derivative is not there. */
static enum ht_err refuse_velocities(const struct ht_inverse *inverse) {
    const struct ht_plan *plan = inverse->survey->sim->plan;
    const bool density = inverse->medium->coefficients > 1;
    for (int n = 0; density && n < plan->receivers->count; n++)
        for (int i = 0; i < plan->receivers->group[n].readings; i++)
            REFUSE(plan->receivers->group[n].reading[i].integral, plan->params,
                   "gradient.parameters",
                   "by a density needs receivers of %s alone, not of %s: give their group %s the "
                   "key fields",
                   plan->eq.field[plan->eq.second_order.field].name,
                   plan->receivers->group[n].reading[i].name, plan->receivers->group[n].name);
    return HT_OK;
}

static enum ht_err make(struct ht_inverse *inverse) {
    struct ht_survey *survey = inverse->survey;
    const struct ht_params *params = survey->params;
    const struct ht_plan *plan = survey->sim->plan;
    const bool pairs = plan->problem.fd.pair != HT_PAIR_NONE;
    struct ht_pair pair;
    char mark[17] = "";
    for (int i = 0; i < survey->count; i++)
        REFUSE(survey->shot[i].params.receivers.count == 0, params, "receivers",
               "shot %d has none: a gradient needs traces", i + 1);
    TRY(ht_gradient_check(plan));
    if (pairs) (void)ht_pair_make(plan->problem.eq, HT_PAIR_APART, &pair);
    pair.ncouplings = 0;
    TRY(ht_medium_gradient_create(plan->medium, pairs ? &pair : NULL, params->medium.fit,
                                  &params->gradient.parameters, "gradient.parameters",
                                  is_image(inverse), &inverse->medium));
    if (is_image(inverse)) inverse->medium->coefficients = 1;
    REFUSE(is_image(inverse) && pairs, params, "gradient.image",
           "is of one field, that of \"acoustic\"");
    REFUSE(is_image(inverse) && *params->gradient.mask, params, "gradient.mask",
           "masks gradients, but gradient.image = \"cross\": leave it out");
    if (*params->gradient.mask != '\0')
        TRY(ht_medium_gradient_mask(inverse->medium, params->gradient.mask, "", "gradient.mask"));
    REFUSE(!pairs && inverse->medium->coefficients > 1 && !plan->problem.fd.density, params,
           "gradient.parameters",
           "a density that is the same everywhere is a number to the scheme, of which there is no "
           "gradient: let it vary somewhere, by 1e-6 of it, or leave it out");
    TRY(refuse_velocities(inverse));
    TRY(HT_BY_FIRST(survey->comm, find_mark(survey, mark)));
    TRY(ht_comm_broadcast(survey->comm, mark, sizeof mark));
    return ht_gradient_sums_create(&plan->grid, pairs ? plan->problem.eq : NULL,
                                   inverse->medium->coefficients, survey->count, mark,
                                   &inverse->sums);
}

enum ht_err ht_inverse_create(struct ht_survey *survey, struct ht_inverse **out) {
    struct ht_inverse *inverse = NULL;
    TRY(HT_ALLOC(inverse, 1));
    inverse->survey = survey;
    const enum ht_err err = make(inverse);
    return HT_MADE(err, inverse, ht_inverse_destroy, out);
}

void ht_inverse_destroy(struct ht_inverse *inverse) {
    if (inverse == NULL) return;
    inverse->survey->sim->run.stepper.follow = NULL;
    ht_recording_free(&inverse->traces);
    ht_gradient_destroy(inverse->gradient);
    ht_gradient_sums_destroy(&inverse->sums);
    ht_medium_gradient_destroy(inverse->medium);
    free(inverse);
}

/* ---- a shot ---- */

/* After each step of the stepper. */
static enum ht_err follow(void *context) {
    struct ht_inverse *inverse = context;
    if (++inverse->step < inverse->next) return HT_OK;
    TRY(ht_gradient_look(inverse->gradient, inverse->step));
    inverse->next = ht_gradient_next(inverse->gradient, inverse->step + 1);
    return HT_OK;
}

static enum ht_err aim(struct ht_inverse *inverse, int shot) {
    struct ht_survey *survey = inverse->survey;
    struct ht_stepper *stepper = &survey->sim->run.stepper;
    const struct ht_params *params = survey->params;
    const struct ht_gradient_choice choice = {.image = params->gradient.image,
                                              .field = params->gradient.field,
                                              .memory = (int64_t)params->gradient.memory,
                                              .folder = params->output.directory};
    stepper->follow = NULL;
    TRY(ht_survey_aim(survey, shot));
    if (inverse->gradient == NULL)
        TRY(ht_gradient_create(survey->sim->plan, stepper, &choice, &inverse->gradient));
    TRY(ht_gradient_aim(inverse->gradient, survey->sim->plan->receivers));
    inverse->step = -1;
    inverse->next = ht_gradient_next(inverse->gradient, 0);
    TRY(follow(inverse));
    stepper->follow = follow;
    stepper->follower = inverse;
    return HT_OK;
}

enum ht_err ht_inverse_forward(struct ht_inverse *inverse, int shot, const char *title) {
    struct ht_run *run = &inverse->survey->sim->run;
    const double began = ht_clock();
    struct ht_progress progress;
    struct ht_energies energies = {.initial = NAN};
    const struct ht_observer observers[] = {ht_observe_progress(&progress),
                                            ht_observe_energy(&energies),
                                            ht_observe_receivers(&inverse->traces)};
    ht_recording_free(&inverse->traces);
    TRY(aim(inverse, shot));
    run->title = title;
    TRY(ht_survey_blame(inverse->survey, shot, ht_run_execute(run, 3, observers)));
    inverse->forward_s += ht_clock() - began;
    REQUIRE(!run->interrupted, HT_ERR_INTERRUPTED, "interrupted in shot %d of %d", shot + 1,
            inverse->survey->count);
    return HT_OK;
}

/* By one rank. */
static enum ht_err compare(struct ht_inverse *inverse, double *const *r, struct ht_misfit *misfit) {
    struct ht_survey *survey = inverse->survey;
    const struct ht_survey_shot *shot = &survey->shot[survey->at];
    const struct ht_receivers *receivers = survey->sim->plan->receivers;
    const char *key = shot->group > 0 ? HT_KEY("shots.%d.data", shot->group) : "shots";
    HT_ENDED(ht_observed_end) struct ht_observed *observed = NULL;
    TRY(ht_observed_read(survey->sim->plan, survey->at + 1, receivers, key, shot->data, &observed));
    return ht_misfit_groups(survey->params->gradient.misfit, receivers, inverse->traces.data,
                            observed->data, observed->weight, r, misfit);
}

enum ht_err ht_inverse_misfit(struct ht_inverse *inverse, struct ht_pool *pool, double ***r,
                              struct ht_misfit *misfit) {
    struct ht_survey *survey = inverse->survey;
    struct ht_comm *comm = survey->sim->comm;
    *misfit = (struct ht_misfit){.chi = 0};
    TRY(HT_BY_FIRST(comm, ht_gather_room(pool, survey->sim->plan->receivers, r)));
    TRY(ht_survey_blame(survey, survey->at, HT_BY_FIRST(comm, compare(inverse, *r, misfit))));
    return ht_comm_broadcast(comm, misfit, sizeof *misfit);
}

enum ht_err ht_inverse_backward(struct ht_inverse *inverse, double *const *r) {
    const struct ht_plan *plan = inverse->survey->sim->plan;
    struct ht_comm *comm = inverse->survey->sim->comm;
    const int64_t values = (ht_gather_last(plan) + 1) * plan->receivers->traces;
    const double began = ht_clock();
    HT_ARRAY(double, amplitude, values);
    inverse->survey->sim->run.stepper.follow = NULL;
    TRY(HT_BY_FIRST(comm, ht_gather_transpose(plan, r, amplitude)));
    TRY(ht_comm_broadcast(comm, amplitude, (size_t)values * sizeof *amplitude));
    TRY(ht_gradient_run(inverse->gradient, amplitude));
    ht_gradient_facts(inverse->gradient, &inverse->used);
    inverse->adjoint_s += ht_clock() - began;
    return HT_OK;
}

/* ---- sums ---- */

/* To the rank with the same planes in the first group, plane by plane. */
enum { TAG = 77 };
static enum ht_err send_own(struct ht_inverse *inverse) {
    struct ht_survey *survey = inverse->survey;
    const struct ht_range own = ht_grid_own(inverse->sums.grid, HT_PRIMARY);
    const int64_t plane = ht_grid_plane(inverse->sums.grid, HT_PRIMARY);
    HT_ARRAY(double, values, plane);
    for (int i = 0; i < HT_GRADIENT_SUMS; i++)
        for (int64_t m = own.first; inverse->sums.sum[i] != NULL && m < own.last; m++) {
            struct ht_message *message;
            TRY(ht_gradient_get(inverse->gradient, (enum ht_gradient_sum)i, m, m + 1, values));
            TRY(ht_message_send(survey->comm, ht_comm_rank(survey->sim->comm), TAG, values,
                                plane * (int64_t)sizeof *values, &message));
            TRY(ht_message_wait(&message));
        }
    return HT_OK;
}

/* The sums += those of the shot of a group. */
static enum ht_err add_group(struct ht_inverse *inverse, int group) {
    struct ht_survey *survey = inverse->survey;
    const struct ht_range own = ht_grid_own(inverse->sums.grid, HT_PRIMARY);
    const int64_t plane = ht_grid_plane(inverse->sums.grid, HT_PRIMARY);
    const int rank = group * ht_comm_size(survey->sim->comm) + ht_comm_rank(survey->sim->comm);
    HT_ARRAY(double, values, plane);
    for (int i = 0; i < HT_GRADIENT_SUMS; i++)
        for (int64_t m = own.first; inverse->sums.sum[i] != NULL && m < own.last; m++) {
            double *sum = inverse->sums.sum[i] + (m - own.first) * plane;
            struct ht_message *message;
            if (group == 0) {
                TRY(ht_gradient_get(inverse->gradient, (enum ht_gradient_sum)i, m, m + 1, values));
            } else {
                TRY(ht_message_receive(survey->comm, rank, TAG, values,
                                       plane * (int64_t)sizeof *values, &message));
                TRY(ht_message_wait(&message));
            }
            for (int64_t n = 0; n < plane; n++) sum[n] += values[n];
        }
    return HT_OK;
}

/* The first group has the sums. */
static enum ht_err add_all(struct ht_inverse *inverse, int shots) {
    const int group = inverse->survey->group;
    if (group > 0) return group < shots ? send_own(inverse) : HT_OK;
    for (int g = 0; g < shots; g++) TRY(add_group(inverse, g));
    return HT_OK;
}

enum ht_err ht_inverse_add(struct ht_inverse *inverse, double chi) {
    struct ht_survey *survey = inverse->survey;
    const int64_t done = inverse->sums.done;
    const int shots = (int)ht_least(survey->groups, survey->count - done);
    const int ranks = ht_comm_size(survey->comm);
    HT_ARRAY(double, misfits, ranks);
    TRY(ht_comm_agree(survey->comm, add_all(inverse, shots)));
    TRY(ht_comm_gather(survey->comm, &chi, sizeof chi, misfits));
    for (int g = 0; g < shots; g++)
        inverse->sums.misfit[done + g] = misfits[(int64_t)g * (ranks / survey->groups)];
    inverse->sums.done += shots;
    return HT_OK;
}

/* By the first group. */
static enum ht_err find_values(struct ht_inverse *inverse) {
    struct ht_medium_gradient *medium = inverse->medium;
    if (inverse->survey->group > 0) return HT_OK;
    if (!is_image(inverse))
        return ht_medium_gradient_find(medium, ht_gradient_sums_read, &inverse->sums);
    for (int w = 0; w < medium->count; w++)
        TRY(ht_medium_gradient_share(medium, w, ht_gradient_sums_read, &inverse->sums,
                                     medium->wanted[w].value));
    return HT_OK;
}

enum ht_err ht_inverse_finish(struct ht_inverse *inverse) {
    struct ht_survey *survey = inverse->survey;
    TRY(ht_comm_agree(survey->comm, find_values(inverse)));
    for (int i = 0; i < inverse->medium->count; i++) {
        const struct ht_medium_wanted *wanted = &inverse->medium->wanted[i];
        TRY(ht_comm_broadcast(survey->comm, wanted->value,
                              (size_t)wanted->samples * sizeof *wanted->value));
    }
    return HT_OK;
}
