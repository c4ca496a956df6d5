/* Misfits and gradients of a survey; see the header. */
#include "htwave/inverse.h"

#include "htwave/gather.h"
#include "htwave/observed.h"

/* ---- making ---- */

/* Adds the contents of a file that is there. */
static HT_ERR add_file(const char *path, uint64_t *hash) {
    uint64_t file;
    if (!ht_file_exists(path)) return HT_OK;
    TRY(ht_file_hash(path, &file));
    *hash = ht_hash(*hash, &file, sizeof file);
    return HT_OK;
}

/* Of all that the gradient depends on. For one rank. */
static HT_ERR find_mark(const struct ht_survey *survey, char mark[17]) {
    const char *key, *path;
    uint64_t hash;
    TRY(ht_params_identity(survey->params, mark));
    hash = ht_hash(HT_HASH_SEED, mark, 17);
    for (int i = 0; ht_params_reads(survey->params, i, &key, &path); i++)
        if (key != NULL) TRY(add_file(path, &hash));
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

static HT_ERR make(struct ht_survey *survey, struct ht_inverse *inverse) {
    const struct ht_params *params = survey->params;
    const struct ht_plan *plan = survey->sim->plan;
    const bool pairs = plan->problem.early != 0;
    struct ht_pair pair;
    char mark[17] = "";
    inverse->survey = survey;
    for (int i = 0; i < survey->count; i++)
        REFUSE(survey->shot[i].params.receivers.count == 0, params, "receivers",
               "shot %d has none: a gradient needs traces", i + 1);
    TRY(ht_gradient_check(plan));
    if (pairs) (void)ht_pair_make(plan->problem.eq, HT_PAIR_APART, &pair);
    if (plan->problem.fd.faces == NULL) pair.ncouplings = 0;
    TRY(ht_medium_gradient_create(plan->medium, pairs ? &pair : NULL, params->medium.fit,
                                  &params->gradient.parameters, "gradient.parameters",
                                  is_image(inverse), &inverse->medium));
    if (is_image(inverse)) inverse->medium->coefficients = 1;
    REFUSE(is_image(inverse) && (pairs || *params->gradient.mask), params, "gradient.image",
           "is of one field, that of \"acoustic\", and takes no gradient.mask");
    if (*params->gradient.mask != '\0')
        TRY(ht_medium_gradient_mask(inverse->medium, params->gradient.mask, "", "gradient.mask"));
    TRY(HT_BY_FIRST(survey->comm, find_mark(survey, mark)));
    TRY(ht_comm_broadcast(survey->comm, mark, sizeof mark));
    TRY(ht_gradient_sums_create(&plan->grid, pairs ? plan->problem.eq : NULL,
                                inverse->medium->coefficients, survey->count, mark,
                                &inverse->sums));
    if (pairs || inverse->medium->coefficients == 1) return HT_OK;
    inverse->sums.places = inverse->medium->places;
    TRY(HT_TAKE(&inverse->sums.pool, inverse->sums.at_places, inverse->sums.places));
    inverse->medium->at_places = inverse->sums.at_places;
    return HT_TAKE(&inverse->sums.pool, inverse->at_places, inverse->sums.places);
}

HT_ERR ht_inverse_create(struct ht_survey *survey, struct ht_inverse **out) {
    HT_CREATE(out, make(survey, *out), ht_inverse_destroy);
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
static HT_ERR follow(void *context) {
    struct ht_inverse *inverse = context;
    return ht_gradient_look(inverse->gradient, ++inverse->step);
}

/* Of the plan's shot. */
static HT_ERR check_forces(const struct ht_inverse *inverse) {
    const struct ht_plan *plan = inverse->survey->sim->plan;
    for (int i = 0; inverse->sums.places > 0 && i < plan->shots->count; i++) {
        const struct ht_shot *of = &plan->shots->shot[i];
        const bool one = of->points == 1 && ht_shot_dims(of) == plan->grid.dims;
        REFUSE(!one && ht_shot_slope(&plan->eq, of->drive) >= 0, inverse->survey->params,
               HT_KEY("sources.%d.type", of->group),
               "the gradient by a density is that of forces at one place: take an array of them");
    }
    return HT_OK;
}

HT_ERR ht_inverse_ready(struct ht_inverse *inverse, int shot) {
    struct ht_survey *survey = inverse->survey;
    struct ht_stepper *stepper = &survey->sim->run.stepper;
    const struct ht_params *params = survey->params;
    const struct ht_gradient_choice choice = {.image = params->gradient.image,
                                              .field = params->gradient.field,
                                              .memory = (int64_t)params->gradient.memory,
                                              .folder = params->output.directory};
    stepper->follow = NULL;
    TRY(ht_survey_aim(survey, shot));
    TRY(check_forces(inverse));
    if (inverse->gradient != NULL) return HT_OK;
    return ht_gradient_create(survey->sim->plan, stepper, &choice, &inverse->gradient);
}

HT_ERR ht_inverse_forward(struct ht_inverse *inverse, int shot, const char *title) {
    struct ht_run *run = &inverse->survey->sim->run;
    const double began = ht_clock();
    struct ht_energies energies = {.initial = NAN};
    const struct ht_observer observers[] = {ht_observe_energy(&energies),
                                            ht_observe_receivers(&inverse->traces)};
    ht_recording_free(&inverse->traces);
    struct ht_stepper *stepper = &inverse->survey->sim->run.stepper;
    TRY(ht_inverse_ready(inverse, shot));
    TRY(ht_gradient_aim(inverse->gradient, inverse->survey->sim->plan->receivers));
    inverse->step = -1;
    TRY(follow(inverse));
    stepper->follow = follow;
    stepper->follower = inverse;
    run->title = title;
    TRY(ht_survey_blame(inverse->survey, shot, ht_run_execute(run, 2, observers)));
    inverse->forward_s += ht_clock() - began;
    REQUIRE(!run->interrupted, HT_ERR_INTERRUPTED, "interrupted in shot %d of %d", shot + 1,
            inverse->survey->count);
    return HT_OK;
}

/* By one rank, of the plan's shot. */
static HT_ERR read_observed(const struct ht_survey *survey, int number, struct ht_observed *out) {
    const struct ht_survey_shot *shot = &survey->shot[number];
    const struct ht_plan *plan = survey->sim->plan;
    const char *key = HT_KEY("shots.%d.data", shot->group > 0 ? shot->group : number + 1);
    return ht_observed_read(plan, number + 1, plan->receivers, key, shot->data, out);
}

static HT_ERR check_observed(const struct ht_survey *survey, int number) {
    HT_ENDED(ht_observed_end) struct ht_observed observed = {0};
    return read_observed(survey, number, &observed);
}

HT_ERR ht_inverse_check(const struct ht_inverse *inverse) {
    const struct ht_survey *survey = inverse->survey;
    for (int i = ht_survey_next(survey, 0); i < survey->count; i = ht_survey_next(survey, i + 1)) {
        TRY(ht_survey_aim_plan(survey, i));
        TRY(ht_survey_blame(survey, i, check_forces(inverse)));
        TRY(ht_survey_blame(survey, i, HT_BY_FIRST(survey->sim->comm, check_observed(survey, i))));
    }
    return ht_survey_aim_plan(survey, -1);
}

/* By one rank. */
static HT_ERR compare(struct ht_inverse *inverse, double *const *r, struct ht_misfit *misfit) {
    struct ht_survey *survey = inverse->survey;
    const struct ht_receivers *receivers = survey->sim->plan->receivers;
    HT_ENDED(ht_observed_end) struct ht_observed observed = {0};
    TRY(read_observed(survey, survey->at, &observed));
    return ht_misfit_groups(survey->params->gradient.misfit, receivers, inverse->traces.data,
                            observed.data, observed.weight, r, misfit);
}

HT_ERR ht_inverse_misfit(struct ht_inverse *inverse, struct ht_pool *pool, double ***r,
                         struct ht_misfit *misfit) {
    struct ht_survey *survey = inverse->survey;
    struct ht_comm *comm = survey->sim->comm;
    *misfit = (struct ht_misfit){.chi = 0};
    TRY(HT_BY_FIRST(comm, ht_receivers_room(pool, survey->sim->plan->receivers, r)));
    TRY(ht_survey_blame(survey, survey->at, HT_BY_FIRST(comm, compare(inverse, *r, misfit))));
    return ht_comm_broadcast(comm, misfit, sizeof *misfit);
}

/* What has the factor 1/rho at x: out = -1/rho times the derivative by that factor. */
static HT_ERR add_place(struct ht_inverse *inverse, const double x[3], double by_factor) {
    const struct ht_plan *plan = inverse->survey->sim->plan;
    const int material = plan->eq.second_order.inverse_density;
    double value;
    TRY(ht_medium_parameter(plan->medium, plan->eq.system->material[material].name, x, &value));
    ht_medium_gradient_spread(inverse->medium, x, -by_factor * value, inverse->at_places);
    return HT_OK;
}

/* Velocities v, by which it is <r, v>, and forces. By rank 0 of the group. */
static HT_ERR find_places(struct ht_inverse *inverse, double *const *r) {
    const struct ht_plan *plan = inverse->survey->sim->plan;
    const struct ht_receivers *receivers = plan->receivers;
    double sum, x[3];
    memset(inverse->at_places, 0, (size_t)inverse->sums.places * sizeof *inverse->at_places);
    HT_EACH_AT(n, const struct ht_receiver_group, group, receivers->group, receivers->count) {
        for (int64_t t = 0; t < group->count * group->readings; t++) {
            if (!group->reading[t / group->count].integral) continue;
            sum = 0;
            for (int64_t i = t * group->samples; i < (t + 1) * group->samples; i++)
                sum += r[n][i] * inverse->traces.data[n][i];
            TRY(add_place(inverse, group->x[t % group->count], sum));
        }
    }
    for (int i = 0; i < plan->shots->count; i++) {
        if (ht_shot_slope(&plan->eq, plan->shots->shot[i].drive) < 0) continue;
        ht_shot_position(&plan->shots->shot[i], 0, x);
        TRY(ht_gradient_push(inverse->gradient, i, &plan->shots->shot[i], &sum));
        TRY(add_place(inverse, x, sum));
    }
    return HT_OK;
}

HT_ERR ht_inverse_backward(struct ht_inverse *inverse, double *const *r) {
    const struct ht_plan *plan = inverse->survey->sim->plan;
    struct ht_comm *comm = inverse->survey->sim->comm;
    const int64_t values = (ht_resampling_last(plan) + 1) * plan->receivers->traces;
    const double began = ht_clock();
    HT_ARRAY(double, amplitude, values);
    inverse->survey->sim->run.stepper.follow = NULL;
    TRY(HT_BY_FIRST(comm, ht_gather_transpose(plan, r, amplitude)));
    TRY(ht_comm_broadcast(comm, amplitude, (size_t)values * sizeof *amplitude));
    TRY(ht_gradient_run(inverse->gradient, amplitude));
    if (inverse->sums.places > 0) TRY(HT_BY_FIRST(comm, find_places(inverse, r)));
    ht_gradient_facts(inverse->gradient, &inverse->used);
    inverse->adjoint_s += ht_clock() - began;
    return HT_OK;
}

/* ---- sums ---- */

/* Of some planes; the threads have parts of them. */
struct part {
    const struct ht_inverse *inverse;
    int number; /* of the sum */
    int64_t first, plane;
    double *values, *sum;
};

static HT_ERR get_planes(void *data, int64_t begin, int64_t end) {
    const struct part *p = data;
    return ht_gradient_get(p->inverse->gradient, (enum ht_gradient_sum)p->number, p->first + begin,
                           p->first + end, p->values + begin * p->plane);
}

static HT_ERR add_share(void *data, int64_t begin, int64_t end) {
    const struct part *p = data;
    for (int64_t i = begin; i < end; i++) p->sum[i] += p->values[i];
    return HT_OK;
}

/* Values of a group's rank are added by the rank with the same planes of the first group. */
enum { TAG = 77, VALUES = 1 << 24, LEAST = 1 << 17 };
static HT_ERR add_values(struct part *p, int group, int64_t count) {
    const struct ht_survey *survey = p->inverse->survey;
    const int64_t bytes = count * (int64_t)sizeof *p->values;
    const int rank = ht_comm_rank(survey->sim->comm);
    const int from = group * ht_comm_size(survey->sim->comm) + rank;
    if (survey->group > 0) return ht_message_pass(survey->comm, rank, TAG, true, p->values, bytes);
    if (group > 0) TRY(ht_message_pass(survey->comm, from, TAG, false, p->values, bytes));
    return ht_threads_share(count, LEAST, add_share, p);
}

/* The first group's sums += those of the shot of another group, by both, or its own. */
static HT_ERR add_group(struct ht_inverse *inverse, int group) {
    struct ht_gradient_sums *sums = &inverse->sums;
    const bool own_shot = inverse->survey->group == group;
    if (!own_shot && inverse->survey->group > 0) return HT_OK;
    const struct ht_range own = ht_grid_own(sums->grid, HT_PRIMARY);
    struct part p = {.inverse = inverse, .plane = ht_grid_plane(sums->grid, HT_PRIMARY)};
    const int64_t most = ht_most(ht_least(VALUES / p.plane, own.last - own.first), 1);
    HT_ARRAY(double, values, ht_most(most * p.plane, sums->places));
    p.values = values;
    for (; p.number < HT_GRADIENT_SUMS; p.number++)
        for (p.first = own.first; sums->sum[p.number] != NULL && p.first < own.last;
             p.first += most) {
            const int64_t planes = ht_least(most, own.last - p.first);
            p.sum = sums->sum[p.number] + (p.first - own.first) * p.plane;
            if (own_shot) TRY(ht_threads_share(planes, LEAST / p.plane, get_planes, &p));
            TRY(add_values(&p, group, planes * p.plane));
        }
    if (sums->places == 0) return HT_OK;
    p.sum = sums->at_places;
    if (own_shot) memcpy(values, inverse->at_places, (size_t)sums->places * sizeof *values);
    return add_values(&p, group, sums->places);
}

HT_ERR ht_inverse_add(struct ht_inverse *inverse, double chi) {
    struct ht_survey *survey = inverse->survey;
    const int64_t done = inverse->sums.done;
    const int shots = (int)ht_least(survey->groups, survey->count - done);
    const int ranks = ht_comm_size(survey->comm);
    HT_ARRAY(double, misfits, ranks);
    enum ht_err err = HT_OK;
    for (int g = 0; err == HT_OK && g < shots; g++) err = add_group(inverse, g);
    TRY(ht_comm_agree(survey->comm, err));
    TRY(ht_comm_gather(survey->comm, &chi, sizeof chi, misfits));
    for (int g = 0; g < shots; g++)
        inverse->sums.misfit[done + g] = misfits[(int64_t)g * (ranks / survey->groups)];
    inverse->sums.done += shots;
    return HT_OK;
}

/* By the first group. */
static HT_ERR find_values(struct ht_inverse *inverse) {
    struct ht_medium_gradient *medium = inverse->medium;
    if (inverse->survey->group > 0) return HT_OK;
    if (!is_image(inverse))
        TRY(ht_gradient_couple(inverse->survey->sim->plan,
                               inverse->sums.sum + HT_GRADIENT_COEFFICIENT));
    if (!is_image(inverse))
        return ht_medium_gradient_find(medium, ht_gradient_sums_read, &inverse->sums);
    for (int w = 0; w < medium->count; w++)
        TRY(ht_medium_gradient_share(medium, w, 0, ht_gradient_sums_read, &inverse->sums,
                                     medium->wanted[w].value));
    return HT_OK;
}

HT_ERR ht_inverse_finish(struct ht_inverse *inverse) {
    struct ht_survey *survey = inverse->survey;
    TRY(ht_comm_agree(survey->comm, find_values(inverse)));
    HT_EACH(const struct ht_medium_wanted, wanted, inverse->medium->wanted, inverse->medium->count)
        TRY(ht_comm_broadcast(survey->comm, wanted->value,
                              (size_t)wanted->samples * sizeof *wanted->value));
    return HT_OK;
}
