/* The receivers of a run; see the header. */
#include "htwave/shots.h"

/* What making the receivers needs; a group: */
struct making {
    const struct ht_params *params;
    const struct ht_receivers_of *of;
    struct ht_receivers *out;
    int number; /* from 1 on */
    const struct ht_receivers_given *given;
    struct ht_receiver_group *group;
    int64_t room; /* places, of a file */
};

#define OWN(m, name) HT_KEY("receivers.%d.%s", (m)->number, (name))

static HT_ERR add_position(void *context, HT_UNUSED int64_t line, const double *row) {
    struct making *m = context;
    TRY(HT_GROW(m->group->x, m->group->count + 1, m->room));
    memcpy(m->group->x[m->group->count++], row, sizeof *m->group->x);
    return HT_OK;
}

static HT_ERR read_positions(struct making *m) {
    const int dims = m->of->grid->dims;
    const char *must = HT_KEY("%d finite number%s, one per axis of the grid", dims, &"s"[dims < 2]);
    TRY(ht_file_rows(m->given->file, dims, must, add_position, m));
    REQUIRE(m->group->count > 0, HT_ERR_INPUT, "%s holds no positions", m->given->file);
    return HT_OK;
}

static HT_ERR place(struct making *m) {
    const struct ht_receivers_given *given = m->given;
    struct ht_receiver_group *group = m->group;
    const bool plane = given->type == HT_RECEIVER_PLANE, point = given->type == HT_RECEIVER_POINT;
    const double *from = point ? given->position : given->from;
    const int64_t n1 = point ? 1 : given->count, n2 = plane ? given->count2 : 1;
    if (given->places == 0 && given->type == HT_RECEIVER_FILE)
        return ht_params_blame(m->params, OWN(m, "file"), read_positions(m));
    group->count = given->places > 0 ? given->places : n1 * n2;
    TRY(HT_ALLOC(group->x, group->count));
    if (given->places > 0) memcpy(group->x, given->place, (size_t)given->places * sizeof *group->x);
    for (int64_t i = 0; given->places == 0 && i < group->count; i++)
        for (int k = 0; k < 3; k++) {
            const double a = n1 > 1 ? (double)(i % n1) / (double)(n1 - 1) : 0;
            const int64_t row = i / n1;
            const double b = n2 > 1 ? (double)row / (double)(n2 - 1) : 0;
            group->x[i][k] = from[k] + a * (given->to[k] - from[k]);
            if (plane) group->x[i][k] += b * (given->side[k] - from[k]);
        }
    return HT_OK;
}

/* The key that puts a receiver where it is. */
static const char *placed_by(const struct ht_receivers_given *given, int64_t receiver) {
    if (given->type == HT_RECEIVER_POINT) return "position";
    if (given->type == HT_RECEIVER_FILE) return "file";
    if (receiver == 0) return "from";
    return given->type == HT_RECEIVER_PLANE && receiver >= given->count ? "side" : "to";
}

/* ---- what is recorded ---- */

static HT_ERR refuse_field(const struct making *m, const char *name, bool known) {
    HT_FREED_TEXT struct ht_text held = {0};
    for (int f = 0; f < m->of->eq->nfields; f++)
        if (ht_fields_stored(m->of->held, f))
            ht_text_add(&held, "%s%s", held.length ? ", " : "", m->of->eq->field[f].name);
    TRY(ht_text_status(&held));
    return ht_params_error(m->params, OWN(m, "fields"),
                           known ? "\"%s\" has no values at whole steps by this time.scheme, which "
                                   "holds %s there, and its derivatives, such as %s_x1"
                                 : "no field \"%s\" to record: %s, or a derivative such as %s_x1",
                           name, held.data, m->of->eq->field[0].name);
}

/* "p", or "p_x1" for its derivative. */
static bool parse_reading(const struct making *m, const char *name, struct ht_reading *out) {
    const char *mark = strstr(name, "_x");
    char field[HT_READING_NAME];
    const size_t length = mark ? (size_t)(mark - name) : strlen(name);
    if (length >= sizeof field) return false;
    snprintf(field, sizeof field, "%.*s", (int)length, name);
    snprintf(out->name, sizeof out->name, "%s", name);
    out->field = ht_equations_field(m->of->eq, field);
    out->slope = mark ? mark[2] - '1' : -1;
    if (mark && (out->slope < 0 || out->slope >= m->of->grid->dims || mark[3])) return false;
    return out->field >= 0;
}

/* A component of the flux is an integral of the held field's slope. */
static bool is_integral(const struct making *m, struct ht_reading *reading) {
    const struct ht_second_order *second = m->of->second;
    int axis = 0;
    if (second == NULL || second->rate >= 0 || reading->slope >= 0) return false;
    while (axis < m->of->grid->dims && second->flux[axis] != reading->field) axis++;
    if (axis == m->of->grid->dims) return false;
    reading->field = second->field;
    reading->slope = axis;
    reading->integral = true;
    return true;
}

static HT_ERR add_reading(const struct making *m, const char *name) {
    struct ht_receiver_group *group = m->group;
    struct ht_reading *reading = &group->reading[group->readings];
    REFUSE(group->readings == HT_MAX_READINGS, m->params, OWN(m, "fields"),
           "at most %d are recorded by a group", HT_MAX_READINGS);
    const bool known = parse_reading(m, name, reading);
    if (!known || (!ht_fields_stored(m->of->held, reading->field) && !is_integral(m, reading)))
        return refuse_field(m, name, known);
    reading->late = m->of->half_early >> reading->field & 1u ? 0.5 : 0;
    group->readings++;
    return HT_OK;
}

/* Times are decimal numbers: a sample at the end counts in spite of rounding. */
static const double close_by = 1e-9;

static HT_ERR choose_times(const struct making *m) {
    const struct ht_receivers_given *given = m->given;
    struct ht_receiver_group *group = m->group;
    const struct ht_receivers *all = m->out;
    group->start = given->start;
    REFUSE(given->start > all->end, m->params, OWN(m, "start"), "no samples: the run ends at %.6g",
           all->end);
    group->every = ht_value_or(&given->every, 0);
    if (group->every > 0) {
        const double spans = (all->end - given->start) / group->every;
        REFUSE(spans > 1e9, m->params, OWN(m, "every"), "%.3g samples per trace: at most 1e9",
               spans);
        group->samples = 1 + (int64_t)floor(spans * (1 + close_by));
        return HT_OK;
    }
    if (all->dt > 0) group->first = (int64_t)ceil(given->start / all->dt * (1 - close_by));
    if (group->first > all->steps) group->first = all->steps;
    group->samples = all->steps - group->first + 1;
    return HT_OK;
}

double ht_receivers_time(const struct ht_receivers *receivers,
                         const struct ht_receiver_group *group, int64_t sample) {
    if (group->every > 0) return group->start + (double)sample * group->every;
    if (receivers->steps == 0) return 0;
    return receivers->end * (double)(group->first + sample) / (double)receivers->steps;
}

double ht_receivers_step(const struct ht_receivers *receivers,
                         const struct ht_receiver_group *group, int64_t sample) {
    if (!(group->every > 0)) return (double)(group->first + sample);
    if (!(receivers->dt > 0)) return 0;
    const double at = ht_receivers_time(receivers, group, sample) / receivers->dt;
    return fabs(at - round(at)) < close_by ? round(at) : at;
}

static HT_ERR make_group(struct making *m) {
    struct ht_receiver_group *group = m->group;
    ht_params_name(m->params, "receivers", m->number, group->name);
    TRY(place(m));
    const struct ht_grid *grid = m->of->grid;
    for (int64_t i = 0; i < group->count; i++) {
        const double *x = group->x[i];
        int axis = ht_point_outside(grid, x);
        const bool outside = axis >= 0;
        if (!outside && !ht_layers_hold(grid, x, &axis)) continue;
        return ht_params_error(m->params, OWN(m, placed_by(m->given, i)),
                               "receiver %lld of %lld, at %s, is %s x%d is %.6g to %.6g",
                               (long long)i + 1, (long long)group->count, HT_PLACED(grid, x),
                               outside ? "outside the box, whose"
                                       : "inside an absorbing layer: between the layers",
                               axis + 1, (outside ? ht_grid_end : ht_layers_end)(grid, axis, 0),
                               (outside ? ht_grid_end : ht_layers_end)(grid, axis, 1));
    }
    const struct ht_names *names = &m->given->fields;
    for (int i = 0; i < names->count; i++) TRY(add_reading(m, names->name[i]));
    for (int f = 0; names->count == 0 && f < m->of->eq->nfields; f++)
        if (ht_fields_stored(m->of->held, f)) TRY(add_reading(m, m->of->eq->field[f].name));
    TRY(choose_times(m));
    /* A wave needs more than two samples per period. */
    const double frequency = m->of->frequency;
    REFUSE(frequency > 0 && group->every * frequency > 0.5, m->params, OWN(m, "every"),
           "must be at most %.6g, half a period of the highest frequency, %.6g (initial.frequency, "
           "sources)",
           0.5 / frequency, frequency);
    const int64_t word = m->params->device.precision == HT_DOUBLE ? 8 : 4;
    m->out->traces += group->count * group->readings;
    m->out->bytes += group->count * group->readings * group->samples * word;
    return HT_OK;
}

void ht_receivers_destroy(struct ht_receivers *receivers) {
    if (receivers == NULL) return;
    for (int n = 0; n < receivers->count; n++) free(receivers->group[n].x);
    free(receivers->group);
    free(receivers);
}

HT_ERR ht_receivers_create(const struct ht_params *params, const struct ht_receivers_of *of,
                           struct ht_receivers **out) {
    struct making m = {.params = params, .of = of};
    *out = NULL;
    if (params->receivers.count == 0) return HT_OK;
    TRY(HT_ALLOC(m.out, 1));
    m.out->dt = of->dt;
    m.out->steps = of->steps;
    m.out->end = params->time.end;
    enum ht_err err = HT_ALLOC(m.out->group, params->receivers.count);
    if (err == HT_OK) m.out->count = params->receivers.count;
    for (int n = 0; err == HT_OK && n < m.out->count; n++) {
        m = (struct making){.params = params, .of = of, .out = m.out, .number = n + 1};
        m.given = (const struct ht_receivers_given *)params->receivers.group + n;
        m.group = &m.out->group[n];
        err = make_group(&m);
    }
    return HT_MADE(err, m.out, ht_receivers_destroy, out);
}

HT_ERR ht_receivers_room(struct ht_pool *pool, const struct ht_receivers *receivers,
                         double ***out) {
    TRY(HT_TAKE(pool, *out, receivers->count));
    HT_EACH_AT(n, const struct ht_receiver_group, group, receivers->group, receivers->count)
        TRY(HT_TAKE(pool, (*out)[n], group->readings * group->count * group->samples));
    return HT_OK;
}
