/* The options medium.NAME, made from the parameters of all systems, once. A name of several systems
 * is one option; its help gives the meaning in each. */

#include "options.h"

enum { KEY = 32, UNIT = 48, FALLBACK = 96, HELP = 480 };

static struct made_option {
    struct ht_option option;
    char key[KEY], unit[UNIT], fallback[FALLBACK], help[HELP];
    char meaning[64], ending[64]; /* of the last system in the help */
} made[HT_MAX_MEDIUM_OPTIONS];
static int made_count;

/* The default "[1.0, 0.5, 0.25]" from the components of a system's vector. */
static void add_vector_default(struct made_option *m, const struct ht_system *system,
                               const char *vector) {
    double value[3] = {0};
    HT_FREED_TEXT struct ht_text text = {0};
    HT_EACH(const struct ht_parameter, row, system->parameter, system->nparameters)
        if (row->vector && strcmp(row->vector, vector) == 0) value[row->axis] = row->fallback;
    for (int k = 0; k < 3; k++) {
        ht_text_add(&text, k ? ", " : "[");
        ht_config_add_real(&text, value[k]);
    }
    if (ht_text_status(&text) == HT_OK) snprintf(m->fallback, sizeof m->fallback, "%s]", text.data);
    m->option.fallback = m->fallback;
}

/* Adds "speed of sound (acoustic)" and the alternatives and default in this system to the help; of
 * a system of which all this is that of the one before its name alone. */
static void add_meaning(struct made_option *m, const struct ht_system *system,
                        const struct ht_parameter *row, int alternative) {
    char meaning[64], other[KEY], ending[64] = "";
    ht_alternative(row->meanings, alternative, meaning, sizeof meaning);
    for (int i = 0; ht_alternative(row->names, i, other, sizeof other); i++)
        if (i != alternative) ht_text_append(ending, sizeof ending, ", instead of %s", other);
    if (!row->vector && alternative == 0)
        ht_text_append(ending, sizeof ending, ", %.12g when %s given", row->fallback,
                       strchr(row->names, '|') ? "none is" : "not");
    const size_t length = strlen(m->help), tail = strlen(m->ending) + 1;
    if (strcmp(m->meaning, meaning) == 0 && strcmp(m->ending, ending) == 0) {
        m->help[length - tail] = '\0';
        ht_text_append(m->help, HELP, ", %s)%s", system->name, ending);
        return;
    }
    snprintf(m->meaning, sizeof m->meaning, "%s", meaning);
    snprintf(m->ending, sizeof m->ending, "%s", ending);
    if (!*m->help && meaning[0] >= 'a' && meaning[0] <= 'z')
        meaning[0] = (char)(meaning[0] - 'a' + 'A');
    ht_text_append(m->help, HELP, "%s%s (%s%s)%s", *m->help ? "; " : "", meaning, system->name,
                   row->vector ? ", one number per axis" : "", ending);
}

/* One of the names of a parameter of a system. */
static void add_use(const struct ht_system *system, const struct ht_parameter *row, int alternative,
                    const char *name) {
    char key[KEY];
    snprintf(key, sizeof key, "medium.%.20s", row->vector ? row->vector : name);
    int n = 0;
    while (n < made_count && strcmp(made[n].key, key) != 0) n++;
    if (n == HT_MAX_MEDIUM_OPTIONS || (n < made_count && row->vector && row->axis > 0)) return;
    struct made_option *m = &made[n];
    if (n == made_count) {
        const bool vector = row->vector != NULL;
        const size_t at = offsetof(struct ht_params, medium.given) +
                          (size_t)made_count * sizeof(struct ht_medium_given);
        snprintf(m->key, sizeof m->key, "%s", key);
        ht_alternative(row->units, alternative, m->unit, sizeof m->unit);
        m->option = (struct ht_option){
            .key = m->key,
            .type = vector ? HT_OPT_REAL3 : HT_OPT_MEDIUM,
            .offset = at + (vector ? offsetof(struct ht_medium_given, vector)
                                   : offsetof(struct ht_medium_given, value)),
            .low = DBL_MIN,
            .high = DBL_MAX,
            .unit = m->unit,
            .help = m->help,
        };
        made_count++;
        if (row->vector) add_vector_default(m, system, row->vector);
    }
    if (!row->positive) { /* then each system checks its own values */
        m->option.low = 1;
        m->option.high = 0;
    }
    if (row->zero && m->option.low < 1) m->option.low = 0; /* a row check for the others */
    add_meaning(m, system, row, alternative);
}

int ht_medium_option_count(void) {
    if (made_count == 0) {
        HT_EACH_BY(s, const struct ht_system, system, ht_system_at(s), ht_system_count()) {
            HT_EACH(const struct ht_parameter, row, system->parameter, system->nparameters) {
                char name[KEY];
                for (int i = 0; ht_alternative(row->names, i, name, sizeof name); i++)
                    add_use(system, row, i, name);
            }
        }
        for (int i = 0; i < made_count; i++) ht_text_append(made[i].help, HELP, ".");
    }
    return made_count;
}

const struct ht_option *ht_medium_option_at(int index) {
    return &made[index].option;
}

const struct ht_medium_given *ht_params_medium(const struct ht_params *params, const char *name) {
    for (int i = 0; i < ht_medium_option_count(); i++)
        if (strcmp(made[i].key + strlen("medium."), name) == 0) return &params->medium.given[i];
    return NULL;
}
