/* From a setting to the member of struct ht_params that its option names.
 * Types are strict: an integer may stand for a number, nothing else is
 * converted. Strings and lists are freed before they are replaced.
 */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "params_parts.h"

/* base: struct ht_params or, of an option in a list, the group's. */
static void *member(void *base, const struct ht_option *option) {
    return (char *)base + option->offset;
}

/* Where a setting goes, and what messages about it name. */
struct target {
    const struct ht_params *params;
    const struct ht_setting *setting;
    const struct ht_option *option;
    void *base;
};

static void clear_names(struct ht_names *names) {
    for (int i = 0; i < names->count; i++) free(names->name[i]);
    free(names->name);
    *names = (struct ht_names){0};
}

static void clear_map(struct ht_map *map) {
    for (int i = 0; i < map->count; i++) {
        free(map->name[i]);
        free(map->text[i]);
    }
    free(map->name);
    free(map->text);
    *map = (struct ht_map){0};
}

/* Choices are stored through a pointer to int. */
_Static_assert(sizeof(enum ht_scheme_name) == sizeof(int),
               "enumerations are as large as int");

static void clear_value(struct ht_value *value) {
    free(value->number);
    free(value->text);
    *value = (struct ht_value){.kind = HT_VALUE_NONE};
}

static void clear_groups(struct ht_groups *groups,
                         const struct ht_option_list *list) {
    for (int i = 0; i < groups->count; i++)
        for (int k = 0; k < list->count; k++)
            ht_params_clear((char *)groups->group + (size_t)i * list->size,
                            &list->option[k]);
    free(groups->group);
    *groups = (struct ht_groups){0};
}

void ht_params_clear(void *base, const struct ht_option *option) {
    char **string = member(base, option);
    switch (option->type) {
    case HT_OPT_STRING:
    case HT_OPT_FILE:
    case HT_OPT_SIDES:
        for (int i = 0; i < (option->type == HT_OPT_SIDES ? 2 : 1); i++) {
            free(string[i]);
            string[i] = NULL;
        }
        break;
    case HT_OPT_NAMES:
        clear_names(member(base, option));
        break;
    case HT_OPT_VALUE:
    case HT_OPT_MEDIUM:
        clear_value(member(base, option));
        break;
    case HT_OPT_MAP:
        clear_map(member(base, option));
        break;
    case HT_OPT_LIST:
        clear_groups(member(base, option), ht_option_list(option));
        break;
    case HT_OPT_INT:
    case HT_OPT_INT64:
    case HT_OPT_REAL:
    case HT_OPT_BOOL:
    case HT_OPT_CHOICE:
    case HT_OPT_CELLS:
    case HT_OPT_INT3:
    case HT_OPT_INT64_3:
    case HT_OPT_REAL3:
    case HT_OPT_SAMPLES3:
        break;
    }
}

/* ---- checks ---- */

static enum ht_err fail_type(const struct target *t) {
    return ht_params_error(t->params, t->setting->key, "must be %s",
                           ht_option_type_words(t->option));
}

static enum ht_err check_number(const struct target *t, double value) {
    char range[160];
    if (!isfinite(value))
        return ht_params_error(t->params, t->setting->key, "must be finite");
    if (t->option->low <= t->option->high &&
        !(value >= t->option->low && value <= t->option->high))
        return ht_params_error(t->params, t->setting->key, "must be %s",
                               ht_option_range(t->option, range));
    return HT_OK;
}

/* The place of a text in "a|b|c"; -1: it is none of them. */
static int choice_of(const char *choices, const char *text) {
    size_t length = strlen(text);
    int index = 0;
    for (const char *c = choices; *c; c += *c == '|', index++) {
        size_t size = strcspn(c, "|");
        if (size == length && strncmp(c, text, size) == 0) return index;
        c += size;
    }
    return -1;
}

static enum ht_err check_string(const struct target *t, const char *text) {
    char range[160];
    if (!t->option->choices || choice_of(t->option->choices, text) >= 0)
        return HT_OK;
    const char *instead = ht_params_gone(t->setting->key, text);
    if (instead != NULL)
        return ht_params_error(t->params, t->setting->key,
                               "no longer there; use %s", instead);
    return ht_params_error(t->params, t->setting->key, "must be %s",
                           ht_option_range(t->option, range));
}

/* All items are scalars of the kind wanted; a number may be an integer. */
static bool all_of(const struct ht_setting *setting, enum ht_scalar_kind kind,
                   int least, int most) {
    if (setting->kind != HT_SETTING_SCALAR && setting->kind != HT_SETTING_ARRAY)
        return false;
    if (setting->count < least || setting->count > most) return false;
    for (int i = 0; i < setting->count; i++) {
        enum ht_scalar_kind is = setting->item[i].kind;
        bool number = kind == HT_SCALAR_REAL && is == HT_SCALAR_INT;
        if (is != kind && !number) return false;
    }
    return true;
}

/* ---- one function per shape of value ---- */

static enum ht_err store_numbers(const struct target *t) {
    bool real = t->option->type == HT_OPT_REAL ||
                t->option->type == HT_OPT_REAL3 ||
                t->option->type == HT_OPT_SAMPLES3;
    bool one = t->option->type == HT_OPT_REAL ||
               t->option->type == HT_OPT_INT || t->option->type == HT_OPT_INT64;
    void *to = member(t->base, t->option);
    if (!all_of(t->setting, real ? HT_SCALAR_REAL : HT_SCALAR_INT, 1,
                one ? 1 : 3) ||
        (one && t->setting->kind != HT_SETTING_SCALAR))
        return fail_type(t);
    for (int i = 0; i < t->setting->count; i++) {
        const struct ht_scalar *item = &t->setting->item[i];
        TRY(check_number(t, item->real));
        if (real) {
            ((double *)to)[i] = item->real;
        } else if (t->option->type == HT_OPT_INT ||
                   t->option->type == HT_OPT_INT3) {
            if (item->integer < INT_MIN || item->integer > INT_MAX)
                return ht_params_error(t->params, t->setting->key,
                                       "must fit into 32 bits");
            ((int *)to)[i] = (int)item->integer;
        } else {
            ((int64_t *)to)[i] = item->integer;
        }
    }
    if (t->option->type == HT_OPT_CELLS)
        ((struct ht_params *)t->base)->grid.dims = t->setting->count;
    return HT_OK;
}

static enum ht_err store_string(const struct target *t) {
    char **to = member(t->base, t->option);
    const char *text = NULL;
    if (t->setting->kind == HT_SETTING_SCALAR) {
        /* The command line has no need of quotes: device.select=0. */
        text = t->setting->item[0].kind == HT_SCALAR_STRING
                   ? t->setting->item[0].text
                   : t->setting->raw;
    }
    if (!text) return fail_type(t);
    TRY(check_string(t, text));
    free(*to);
    return ht_text_copy(text, to);
}

static enum ht_err store_choice(const struct target *t) {
    int *to = member(t->base, t->option);
    if (!all_of(t->setting, HT_SCALAR_STRING, 1, 1) ||
        t->setting->kind != HT_SETTING_SCALAR)
        return fail_type(t);
    TRY(check_string(t, t->setting->item[0].text));
    *to = choice_of(t->option->choices, t->setting->item[0].text);
    return HT_OK;
}

static enum ht_err store_sides(const struct target *t) {
    char **to = member(t->base, t->option);
    if (!all_of(t->setting, HT_SCALAR_STRING, 1, 2)) return fail_type(t);
    for (int i = 0; i < 2; i++) {
        const char *text =
            t->setting->item[t->setting->count == 2 ? i : 0].text;
        free(to[i]);
        TRY(ht_text_copy(text, &to[i]));
    }
    return HT_OK;
}

static enum ht_err store_names(const struct target *t) {
    struct ht_names *to = member(t->base, t->option);
    if (!all_of(t->setting, HT_SCALAR_STRING, 0, INT_MAX)) return fail_type(t);
    clear_names(to);
    if (t->setting->count == 0) return HT_OK;
    TRY(HT_ALLOC(to->name, t->setting->count));
    for (int i = 0; i < t->setting->count; i++) {
        TRY(ht_text_copy(t->setting->item[i].text, &to->name[i]));
        to->count++;
    }
    return HT_OK;
}

static enum ht_err store_value(const struct target *t) {
    struct ht_value *to = member(t->base, t->option);
    clear_value(to);
    if (t->setting->kind == HT_SETTING_SCALAR &&
        t->setting->item[0].kind == HT_SCALAR_STRING) {
        TRY(check_string(t, t->setting->item[0].text));
        TRY(ht_text_copy(t->setting->item[0].text, &to->text));
        to->kind = HT_VALUE_TEXT;
        return HT_OK;
    }
    if (!all_of(t->setting, HT_SCALAR_REAL, 1, INT_MAX)) return fail_type(t);
    TRY(HT_ALLOC(to->number, t->setting->count));
    for (int i = 0; i < t->setting->count; i++) {
        TRY(check_number(t, t->setting->item[i].real));
        to->number[i] = t->setting->item[i].real;
    }
    to->count = t->setting->count;
    to->kind = HT_VALUE_NUMBERS;
    return HT_OK;
}

static enum ht_err store_bool(const struct target *t) {
    bool *to = member(t->base, t->option);
    if (t->setting->kind != HT_SETTING_SCALAR ||
        t->setting->item[0].kind != HT_SCALAR_BOOL)
        return fail_type(t);
    *to = t->setting->item[0].flag;
    return HT_OK;
}

static enum ht_err store_map(const struct target *t) {
    if (t->setting->kind != HT_SETTING_GROUP) return fail_type(t);
    clear_map(member(t->base, t->option));
    return HT_OK;
}

/* The groups come one by one after it. */
static enum ht_err store_list(const struct target *t) {
    bool empty = t->setting->kind == HT_SETTING_ARRAY && t->setting->count == 0;
    if (!empty && t->setting->kind != HT_SETTING_NESTED) return fail_type(t);
    clear_groups(member(t->base, t->option), ht_option_list(t->option));
    return HT_OK;
}

enum ht_err ht_params_store(struct ht_params *params, void *base,
                            const struct ht_option *option,
                            const struct ht_setting *setting) {
    const struct target target = {params, setting, option, base};
    const struct target *t = &target;
    switch (t->option->type) {
    case HT_OPT_INT:
    case HT_OPT_INT64:
    case HT_OPT_REAL:
    case HT_OPT_CELLS:
    case HT_OPT_INT3:
    case HT_OPT_INT64_3:
    case HT_OPT_REAL3:
    case HT_OPT_SAMPLES3:
        return store_numbers(t);
    case HT_OPT_BOOL:
        return store_bool(t);
    case HT_OPT_STRING:
    case HT_OPT_FILE:
        return store_string(t);
    case HT_OPT_CHOICE:
        return store_choice(t);
    case HT_OPT_SIDES:
        return store_sides(t);
    case HT_OPT_NAMES:
        return store_names(t);
    case HT_OPT_VALUE:
    case HT_OPT_MEDIUM:
        return store_value(t);
    case HT_OPT_MAP:
        return store_map(t);
    case HT_OPT_LIST:
        break;
    }
    return store_list(t);
}

/* ---- maps ---- */

/* A name that libconfig reads back. */
static bool is_name(const char *name) {
    if (!isalpha((unsigned char)*name)) return false;
    while (isalnum((unsigned char)*name) || *name == '_' || *name == '-')
        name++;
    return !*name;
}

/* Index of the member of that name, made when it is not there. */
static enum ht_err map_index(struct ht_map *map, const char *name, int *index) {
    for (*index = 0; *index < map->count; (*index)++)
        if (strcmp(map->name[*index], name) == 0) return HT_OK;
    size_t size = ((size_t)map->count + 1) * sizeof(char *);
    char **names = realloc(map->name, size);
    if (names) map->name = names;
    char **texts = realloc(map->text, size);
    if (texts) map->text = texts;
    REQUIRE(names && texts, HT_ERR_MEMORY, "out of memory");
    map->text[map->count] = NULL;
    TRY(ht_text_copy(name, &map->name[map->count]));
    map->count++;
    return HT_OK;
}

enum ht_err ht_params_store_member(struct ht_params *params,
                                   const struct ht_option *option,
                                   const struct ht_setting *setting) {
    struct ht_map *map = member(params, option);
    const char *name = setting->key + strlen(option->key) + 1;
    int index = 0;
    if (!is_name(name))
        return ht_params_error(params, setting->key,
                               "the name must be letters and digits");
    if (setting->kind != HT_SETTING_SCALAR ||
        setting->item[0].kind == HT_SCALAR_BOOL)
        return ht_params_error(params, setting->key, "must be a string");
    /* An expression that is a number needs no quotes. */
    bool string = setting->item[0].kind == HT_SCALAR_STRING;
    const char *text = string ? setting->item[0].text : setting->value;
    TRY(map_index(map, name, &index));
    free(map->text[index]);
    return ht_text_copy(text, &map->text[index]);
}

/* ---- defaults ---- */

/* A default on its way to its place. */
struct default_target {
    struct ht_params *params;
    void *base;
    const struct ht_option *option;
};

static enum ht_err visit_default(void *data, const struct ht_setting *setting) {
    const struct default_target *to = data;
    return ht_params_store(to->params, to->base, to->option, setting);
}

enum ht_err ht_params_set_default(struct ht_params *params, void *base,
                                  const struct ht_option *option) {
    struct default_target to = {params, base, option};
    ht_params_clear(base, option);
    if (!option->fallback) return HT_OK;
    return ht_config_read_value(option->key, option->fallback, visit_default,
                                &to);
}
