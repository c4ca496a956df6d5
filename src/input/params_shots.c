/* Rules between the keys of a source: each type has keys of its own.
 */
#include "options.h"
#include "params_parts.h"

enum { KEY = 40 };

static const struct ht_shot_given *shot_of(const struct ht_params *p,
                                           int group) {
    const struct ht_shot_given *shots = p->shots.group;
    return &shots[group - 1];
}

static char *key_of(int group, const char *name, char key[KEY]) {
    snprintf(key, KEY, "sources.%d.%s", group, name);
    return key;
}

static const struct ht_owned owned[] = {
    {"position", 1u << HT_SHOT_POINT | 1u << HT_SHOT_VOLUME},
    {"from", 1u << HT_SHOT_LINE | 1u << HT_SHOT_INCIDENT},
    {"to", 1u << HT_SHOT_LINE | 1u << HT_SHOT_INCIDENT},
    {"count", 1u << HT_SHOT_LINE},
    {"axis", 1u << HT_SHOT_PLANE},
    {"at", 1u << HT_SHOT_PLANE},
    {"width", 1u << HT_SHOT_VOLUME},
    {NULL, 0},
};

/* Beside the key's own range. */
static enum ht_err check_shape(const struct ht_params *p, int group) {
    const struct ht_shot_given *shot = shot_of(p, group);
    char key[KEY];
    if (shot->type == HT_SHOT_LINE && shot->count < 2)
        return ht_params_error(p, key_of(group, "count", key),
                               "of a line must be 2 or more");
    if (shot->type == HT_SHOT_PLANE && (int)shot->axis >= p->grid.dims)
        return ht_params_error(p, key_of(group, "axis", key),
                               "is none of the %d axes of the box",
                               p->grid.dims);
    for (int k = 0; shot->type == HT_SHOT_INCIDENT && k < p->grid.dims; k++)
        if (!(shot->to[k] > shot->from[k]))
            return ht_params_error(p, key_of(group, "to", key),
                                   "x%d = %g must be above that of from, %g",
                                   k + 1, shot->to[k], shot->from[k]);
    return HT_OK;
}

static bool is_zero(const double d[3]) {
    return d[0] == 0 && d[1] == 0 && d[2] == 0;
}

static enum ht_err check_direction(const struct ht_params *p, int group) {
    const struct ht_shot_given *shot = shot_of(p, group);
    const bool incident = shot->type == HT_SHOT_INCIDENT;
    const bool force = !incident && shot->kind == HT_SHOT_FORCE;
    char key[KEY];
    if (incident && ht_params_is_set(p, key_of(group, "kind", key)))
        return ht_params_error(p, key, "a plane wave has no kind");
    key_of(group, "kind", key);
    if (incident) snprintf(key, sizeof key, "sources.%d", group);
    if ((force || incident) && is_zero(shot->direction))
        return ht_params_error(p, key,
                               "a %s needs a direction that is not zero",
                               incident ? "plane wave" : "force");
    if (!force && !incident && !is_zero(shot->direction))
        return ht_params_error(p, key_of(group, "direction", key),
                               "is for kind \"force\", but the kind is \"%s\"",
                               ht_shot_kind_word(shot->kind));
    for (int k = 0; k < 3 && shot->type == HT_SHOT_PLANE; k++)
        if (shot->direction[k] != 0 && k != (int)shot->axis)
            return ht_params_error(p, key_of(group, "direction", key),
                                   "of a plane must be along its axis");
    return HT_OK;
}

static enum ht_err check_signal(const struct ht_params *p, int group) {
    const struct ht_shot_given *shot = shot_of(p, group);
    const bool file = shot->signal == HT_SIGNAL_FILE;
    char key[KEY];
    if (file != (*shot->file != '\0'))
        return ht_params_error(p, key_of(group, "file", key),
                               file ? "must name a file: the signal is \"%s\""
                                    : "is for signal \"file\", but the signal "
                                      "is \"%s\"",
                               ht_signal_word(shot->signal));
    if (file == (shot->frequency > 0))
        return ht_params_error(p, key_of(group, "frequency", key),
                               file ? "has no meaning for the signal \"%s\""
                                    : "the signal \"%s\" needs one above 0",
                               ht_signal_word(shot->signal));
    if (shot->radius.kind == HT_VALUE_NUMBERS && shot->radius.count != 1)
        return ht_params_error(p, key_of(group, "radius", key),
                               "must be \"auto\" or one number");
    if (shot->delay.kind == HT_VALUE_NUMBERS && shot->delay.count != 1)
        return ht_params_error(p, key_of(group, "delay", key),
                               "must be \"auto\" or one number");
    return HT_OK;
}

enum ht_err ht_params_check_shots(const struct ht_params *params) {
    for (int group = 1; group <= params->shots.count; group++) {
        const enum ht_shot_type type = shot_of(params, group)->type;
        TRY(ht_params_check_owned(params, "sources", group, owned, (int)type,
                                  ht_shot_type_word(type)));
        TRY(check_shape(params, group));
        TRY(check_direction(params, group));
        TRY(check_signal(params, group));
    }
    return HT_OK;
}
