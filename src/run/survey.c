/* Shots of a survey, their parameters and their runs; see the header. */
#include "htwave/survey.h"

/* Where a shot's moved source stands, and its receivers, if they are moved. */
struct moved {
    double source[3];
    int64_t receivers, room;
    double (*receiver)[3];
};

/* Those of a file. */
struct places {
    int dims;
    bool traces; /* with receivers */
    int64_t count, room;
    struct moved *moved;
};

static const struct ht_survey_given whole = {.file = "", .data = ""};

static HT_ERR add_shot(struct ht_survey *s, const struct ht_survey_given *given, int group,
                       const struct moved *moved) {
    const struct ht_params *all = s->params;
    const bool some = given->sources.kind == HT_VALUE_NUMBERS, named = given->receivers.count > 0;
    const int sources = some ? given->sources.count : all->shots.count;
    const int receivers = named ? given->receivers.count : all->receivers.count;
    int *source, *receiver;
    HT_FREED char *directory = NULL, *usual = NULL, *data = NULL;
    TRY(HT_GROW(s->shot, s->count + 1, s->room));
    struct ht_survey_shot *shot = &s->shot[s->count++];
    *shot = (struct ht_survey_shot){.params = *all, .group = group, .moved = moved != NULL};
    shot->params.survey = (struct ht_groups){0, NULL};
    shot->params.number.shot = s->count;
    shot->params.parallel.shots = 0;
    TRY(ht_file_path(all->output.directory, HT_KEY(HT_SHOT_NAME, s->count), &directory));
    TRY(ht_pool_copy(&s->pool, directory, &shot->params.output.directory));
    if (*given->data == '\0') TRY(ht_params_beside(all, "obs/shot-*.h5", &usual));
    TRY(ht_text_numbered(usual != NULL ? usual : given->data, s->count, &data));
    TRY(ht_pool_copy(&s->pool, data, &shot->data));
    TRY(HT_TAKE(&s->pool, source, sources));
    TRY(HT_TAKE(&s->pool, receiver, receivers));
    for (int i = 0; i < sources; i++) source[i] = some ? (int)given->sources.number[i] : i + 1;
    for (int i = 0; i < receivers; i++)
        receiver[i] = named ? ht_params_receivers_find(all, given->receivers.name[i]) : i + 1;
    /* The groups' own parameters, moved to where the shot has them. */
    const struct ht_shot_given *from = s->params->shots.group;
    const struct ht_receivers_given *of = s->params->receivers.group;
    struct ht_shot_given *to = NULL;
    struct ht_receivers_given *records = NULL;
    char name[HT_GROUP_NAME];
    TRY(HT_TAKE(&s->pool, to, sources));
    TRY(HT_TAKE(&s->pool, records, receivers));
    for (int i = 0; i < sources; i++) to[i] = from[source[i] - 1];
    for (int i = 0; i < receivers; i++) {
        records[i] = of[receiver[i] - 1];
        ht_params_name(s->params, "receivers", receiver[i], name);
        TRY(ht_pool_copy(&s->pool, name, &records[i].name));
    }
    shot->params.shots = (struct ht_groups){sources, to};
    shot->params.receivers = (struct ht_groups){receivers, records};
    shot->params.number.source = source;
    shot->params.number.receivers = receiver;
    if (moved == NULL) return HT_OK;
    memcpy(to->position, moved->source, sizeof to->position);
    if (moved->receivers == 0) return HT_OK;
    HT_FREED char *path = NULL;
    TRY(ht_file_path(shot->params.output.directory, HT_PLACES_NAME, &path));
    *records = (struct ht_receivers_given){.name = records->name,
                                           .type = HT_RECEIVER_FILE,
                                           .count = 1,
                                           .count2 = 1,
                                           .fields = records->fields,
                                           .every = records->every,
                                           .start = records->start,
                                           .places = moved->receivers};
    TRY(ht_pool_copy(&s->pool, path, &records->file));
    TRY(HT_TAKE(&s->pool, records->place, moved->receivers));
    memcpy(records->place, moved->receiver, (size_t)moved->receivers * sizeof *records->place);
    return HT_OK;
}

/* ---- shots of a file ---- */

static void free_places(struct places *p) {
    for (int64_t i = 0; i < p->count; i++) free(p->moved[i].receiver);
    free(p->moved);
}

/* Of the shot whose source stands there; lines of one follow each other, mostly. */
static HT_ERR take_place(void *context, HT_UNUSED int64_t line, const double *row) {
    struct places *p = context;
    const size_t bytes = (size_t)p->dims * sizeof *row;
    int64_t i = p->traces ? p->count - 1 : -1;
    while (i >= 0 && memcmp(p->moved[i].source, row, bytes) != 0) i--;
    if (i < 0) {
        TRY(HT_GROW(p->moved, p->count + 1, p->room));
        i = p->count++;
        p->moved[i] = (struct moved){.receivers = 0};
        memcpy(p->moved[i].source, row, bytes);
    }
    struct moved *shot = &p->moved[i];
    if (!p->traces) return HT_OK;
    TRY(HT_GROW(shot->receiver, shot->receivers + 1, shot->room));
    double *x = shot->receiver[shot->receivers++];
    for (int k = 0; k < 3; k++) x[k] = k < p->dims ? row[p->dims + k] : 0;
    return HT_OK;
}

static HT_ERR read_places(const struct ht_params *params, const char *path, struct places *p) {
    int columns = 2 * p->dims;
    if (!ht_is_segy(path)) TRY(ht_file_columns(path, &columns));
    p->traces = columns == 2 * p->dims;
    if (ht_is_segy(path)) return ht_segy_places(params, path, take_place, p);
    return ht_file_rows(path, p->traces ? 2 * p->dims : p->dims,
                        HT_KEY("%d finite numbers, of a source, or %d, of a source and a receiver",
                               p->dims, 2 * p->dims),
                        take_place, p);
}

static HT_ERR add_places(struct ht_survey *s, const struct ht_survey_given *given, int group) {
    HT_ENDED(free_places) struct places p = {.dims = s->params->grid.dims};
    const char *key = HT_KEY("shots.%d.file", group);
    const struct ht_shot_given *source = s->params->shots.group;
    if (given->sources.kind == HT_VALUE_NUMBERS) source += (int)given->sources.number[0] - 1;
    const struct ht_source_type *type = &ht_source_types[source->type];
    const int groups =
        given->receivers.count > 0 ? given->receivers.count : s->params->receivers.count;
    REFUSE(strcmp(type->place[0], "position") != 0, s->params, key,
           "moves sources that have a position, but the type is \"%s\"", type->word);
    TRY(ht_params_blame(s->params, key, read_places(s->params, given->file, &p)));
    REFUSE(p.count == 0, s->params, key, "has no places");
    REFUSE(p.traces && groups != 1, s->params, key,
           "has places of receivers, which one group takes, but the shot has %d: name one in "
           "receivers",
           groups);
    for (int64_t i = 0; i < p.count; i++) TRY(add_shot(s, given, group, &p.moved[i]));
    return HT_OK;
}

static HT_ERR list_shots(struct ht_survey *s, bool each) {
    const struct ht_survey_given *given = s->params->survey.group;
    REFUSE(each && s->params->shots.count == 0, s->params, "sources",
           "must have a group for each shot");
    for (int i = 1; each && s->params->survey.count == 0 && i <= s->params->shots.count; i++) {
        double number = i;
        struct ht_survey_given one = whole;
        one.sources = (struct ht_value){.kind = HT_VALUE_NUMBERS, .count = 1, .number = &number};
        TRY(add_shot(s, &one, 0, NULL));
    }
    if (s->params->survey.count == 0) return each ? HT_OK : add_shot(s, &whole, 0, NULL);
    for (int n = 1; n <= s->params->survey.count; n++)
        TRY(*given[n - 1].file ? add_places(s, &given[n - 1], n)
                               : add_shot(s, &given[n - 1], n, NULL));
    /* Two shots have the same file where one has a name without a number; SEG-Y holds many. */
    for (int i = 0; i < s->count; i++) {
        const int group = s->shot[i].group;
        if (group == 0 || *given[group - 1].data == '\0' ||
            strchr(given[group - 1].data, '*') != NULL || ht_is_segy(s->shot[i].data))
            continue;
        for (int j = 0; j < s->count; j++)
            REFUSE(j != i && strcmp(s->shot[i].data, s->shot[j].data) == 0, s->params,
                   HT_KEY("shots.%d.data", group),
                   "shots %d and %d have the same file: * stands for the number of a shot",
                   (int)ht_least(i, j) + 1, (int)ht_most(i, j) + 1);
    }
    return HT_OK;
}

/* ---- planning ---- */

enum ht_err ht_survey_blame(const struct ht_survey *s, int shot, enum ht_err err) {
    if (err == HT_OK || err == HT_ERR_ELSEWHERE) return err;
    err = ht_err_prefix(err, "shot %d of %d", shot + 1, s->count);
    if (!s->shot[shot].moved || err != HT_ERR_INPUT) return err;
    return ht_params_blame(s->params, HT_KEY("shots.%d.file", s->shot[shot].group), err);
}

/* What there is to warn of has been said of all sources and receivers together. */
HT_ERR ht_survey_aim_plan(const struct ht_survey *s, int shot) {
    const enum ht_log_level level = ht_log_level_get();
    struct ht_simulation *sim = s->sim;
    const struct ht_params *params = shot < 0 ? s->params : &s->shot[shot].params;
    sim->params = params;
    ht_log_level_set(HT_LOG_SILENT);
    const enum ht_err err = ht_plan_aim(sim->plan, params);
    ht_log_level_set(level);
    return shot < 0 ? err : ht_survey_blame(s, shot, err);
}

static HT_ERR make(struct ht_survey *s, const struct ht_params *params, struct ht_comm *comm,
                   bool each) {
    s->params = params;
    s->comm = comm;
    s->at = -1;
    TRY(ht_ranks_check_params(s->comm, s->params));
    TRY(ht_comm_agree(s->comm, list_shots(s, each)));
    /* As many groups as there are ranks, but for shots that there are not, or that do not fit. */
    const int given = s->params->parallel.shots, ranks = ht_comm_size(s->comm);
    const bool cut = s->params->grid.dims > 2;
    REFUSE(given > 0 && ranks % given != 0, s->params, "parallel.shots",
           "%d ranks are no multiple of it", ranks);
    int groups = given > 0 ? given : ranks;
    while (cut && given == 0 && (groups > s->count || ranks % groups != 0)) groups--;
    for (;; groups--) {
        if (ranks % groups != 0) continue;
        s->narrows = cut && given == 0 && groups > 1;
        s->groups = groups;
        s->group = ht_comm_rank(s->comm) / (ranks / groups);
        TRY(ht_comm_split(s->comm, groups, &s->part));
        TRY(ht_comm_agree(s->comm, ht_simulation_plan(s->params, s->part, s, &s->sim)));
        double large = s->sim->too_large;
        TRY(ht_comm_max(s->comm, 1, &large));
        if (!(large > 0)) return HT_OK;
        ht_simulation_destroy(s->sim);
        ht_comm_leave(s->part);
        s->sim = NULL;
        s->part = NULL;
    }
}

HT_ERR ht_survey_plan(const struct ht_params *params, struct ht_comm *comm, bool each,
                      struct ht_survey **out) {
    HT_CREATE(out, ht_comm_agree(comm, make(*out, params, comm, each)), ht_survey_destroy);
}

void ht_survey_destroy(struct ht_survey *s) {
    if (s == NULL) return;
    ht_simulation_destroy(s->sim);
    ht_comm_leave(s->part);
    ht_pool_free(&s->pool);
    free(s->shot);
    free(s);
}

int ht_survey_next(const struct ht_survey *s, int from) {
    return (int)ht_least(from + ((s->group - from % s->groups + s->groups) % s->groups), s->count);
}

HT_ERR ht_survey_aim(struct ht_survey *s, int shot) {
    struct ht_stepper *stepper = &s->sim->run.stepper;
    if (stepper->ops != NULL && stepper->ops->aim == NULL) ht_stepper_destroy(stepper);
    if (stepper->ops != NULL) TRY(stepper->ops->aim(stepper->self, NULL));
    s->at = shot;
    TRY(ht_survey_aim_plan(s, shot));
    return ht_survey_blame(s, shot, ht_simulation_start(s->sim));
}
