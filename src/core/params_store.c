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

static void *member(struct ht_params *params, const struct ht_option *option) {
    return (char *)params + option->offset;
}

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

void ht_params_clear(struct ht_params *params, const struct ht_option *option) {
    char **string = member(params, option);
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
        clear_names(member(params, option));
        break;
    case HT_OPT_VALUE:
    case HT_OPT_MEDIUM:
        clear_value(member(params, option));
        break;
    case HT_OPT_MAP:
        clear_map(member(params, option));
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

static enum ht_err fail_type(const struct ht_params *params,
                             const struct ht_option *option) {
    return ht_params_error(params, option->key, "must be %s",
                           ht_option_type_words(option));
}

static enum ht_err check_number(const struct ht_params *params,
                                const struct ht_option *option, double value) {
    char range[160];
    if (!isfinite(value))
        return ht_params_error(params, option->key, "must be finite");
    if (option->low <= option->high &&
        !(value >= option->low && value <= option->high))
        return ht_params_error(params, option->key, "must be %s",
                               ht_option_range(option, range));
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

static enum ht_err check_string(const struct ht_params *params,
                                const struct ht_option *option,
                                const char *text) {
    char range[160];
    if (!option->choices || choice_of(option->choices, text) >= 0) return HT_OK;
    return ht_params_error(params, option->key, "must be %s",
                           ht_option_range(option, range));
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

static enum ht_err store_numbers(struct ht_params *params,
                                 const struct ht_option *option,
                                 const struct ht_setting *setting) {
    bool real = option->type == HT_OPT_REAL || option->type == HT_OPT_REAL3 ||
                option->type == HT_OPT_SAMPLES3;
    bool one = option->type == HT_OPT_REAL || option->type == HT_OPT_INT ||
               option->type == HT_OPT_INT64;
    void *to = member(params, option);
    if (!all_of(setting, real ? HT_SCALAR_REAL : HT_SCALAR_INT, 1,
                one ? 1 : 3) ||
        (one && setting->kind != HT_SETTING_SCALAR))
        return fail_type(params, option);
    for (int i = 0; i < setting->count; i++) {
        const struct ht_scalar *item = &setting->item[i];
        TRY(check_number(params, option, item->real));
        if (real) {
            ((double *)to)[i] = item->real;
        } else if (option->type == HT_OPT_INT || option->type == HT_OPT_INT3) {
            if (item->integer < INT_MIN || item->integer > INT_MAX)
                return ht_params_error(params, option->key,
                                       "must fit into 32 bits");
            ((int *)to)[i] = (int)item->integer;
        } else {
            ((int64_t *)to)[i] = item->integer;
        }
    }
    if (option->type == HT_OPT_CELLS) params->grid.dims = setting->count;
    return HT_OK;
}

static enum ht_err store_string(struct ht_params *params,
                                const struct ht_option *option,
                                const struct ht_setting *setting) {
    char **to = member(params, option);
    const char *text = NULL;
    if (setting->kind == HT_SETTING_SCALAR) {
        /* The command line has no need of quotes: device.select=0. */
        text = setting->item[0].kind == HT_SCALAR_STRING ? setting->item[0].text
                                                         : setting->raw;
    }
    if (!text) return fail_type(params, option);
    TRY(check_string(params, option, text));
    free(*to);
    return ht_text_copy(text, to);
}

static enum ht_err store_choice(struct ht_params *params,
                                const struct ht_option *option,
                                const struct ht_setting *setting) {
    int *to = member(params, option);
    if (!all_of(setting, HT_SCALAR_STRING, 1, 1) ||
        setting->kind != HT_SETTING_SCALAR)
        return fail_type(params, option);
    TRY(check_string(params, option, setting->item[0].text));
    *to = choice_of(option->choices, setting->item[0].text);
    return HT_OK;
}

static enum ht_err store_sides(struct ht_params *params,
                               const struct ht_option *option,
                               const struct ht_setting *setting) {
    char **to = member(params, option);
    if (!all_of(setting, HT_SCALAR_STRING, 1, 2))
        return fail_type(params, option);
    for (int i = 0; i < 2; i++) {
        const char *text = setting->item[setting->count == 2 ? i : 0].text;
        free(to[i]);
        TRY(ht_text_copy(text, &to[i]));
    }
    return HT_OK;
}

static enum ht_err store_names(struct ht_params *params,
                               const struct ht_option *option,
                               const struct ht_setting *setting) {
    struct ht_names *to = member(params, option);
    if (!all_of(setting, HT_SCALAR_STRING, 0, INT_MAX))
        return fail_type(params, option);
    clear_names(to);
    if (setting->count == 0) return HT_OK;
    TRY(HT_ALLOC(to->name, setting->count));
    for (int i = 0; i < setting->count; i++) {
        TRY(ht_text_copy(setting->item[i].text, &to->name[i]));
        to->count++;
    }
    return HT_OK;
}

static enum ht_err store_value(struct ht_params *params,
                               const struct ht_option *option,
                               const struct ht_setting *setting) {
    struct ht_value *to = member(params, option);
    clear_value(to);
    if (setting->kind == HT_SETTING_SCALAR &&
        setting->item[0].kind == HT_SCALAR_STRING) {
        TRY(check_string(params, option, setting->item[0].text));
        TRY(ht_text_copy(setting->item[0].text, &to->text));
        to->kind = HT_VALUE_TEXT;
        return HT_OK;
    }
    if (!all_of(setting, HT_SCALAR_REAL, 1, INT_MAX))
        return fail_type(params, option);
    TRY(HT_ALLOC(to->number, setting->count));
    for (int i = 0; i < setting->count; i++) {
        TRY(check_number(params, option, setting->item[i].real));
        to->number[i] = setting->item[i].real;
    }
    to->count = setting->count;
    to->kind = HT_VALUE_NUMBERS;
    return HT_OK;
}

static enum ht_err store_bool(struct ht_params *params,
                              const struct ht_option *option,
                              const struct ht_setting *setting) {
    bool *to = member(params, option);
    if (setting->kind != HT_SETTING_SCALAR ||
        setting->item[0].kind != HT_SCALAR_BOOL)
        return fail_type(params, option);
    *to = setting->item[0].flag;
    return HT_OK;
}

enum ht_err ht_params_store(struct ht_params *params,
                            const struct ht_option *option,
                            const struct ht_setting *setting) {
    switch (option->type) {
    case HT_OPT_INT:
    case HT_OPT_INT64:
    case HT_OPT_REAL:
    case HT_OPT_CELLS:
    case HT_OPT_INT3:
    case HT_OPT_INT64_3:
    case HT_OPT_REAL3:
    case HT_OPT_SAMPLES3:
        return store_numbers(params, option, setting);
    case HT_OPT_BOOL:
        return store_bool(params, option, setting);
    case HT_OPT_STRING:
    case HT_OPT_FILE:
        return store_string(params, option, setting);
    case HT_OPT_CHOICE:
        return store_choice(params, option, setting);
    case HT_OPT_SIDES:
        return store_sides(params, option, setting);
    case HT_OPT_NAMES:
        return store_names(params, option, setting);
    case HT_OPT_VALUE:
    case HT_OPT_MEDIUM:
        return store_value(params, option, setting);
    case HT_OPT_MAP:
        break;
    }
    if (setting->kind != HT_SETTING_GROUP) return fail_type(params, option);
    clear_map(member(params, option));
    return HT_OK;
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
