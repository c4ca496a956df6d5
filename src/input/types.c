/* The types of options: how a value of each is read from a setting and written. An integer
 * may stand for a number, nothing else is converted. */
#include "options.h"

struct target {
    struct ht_params *params;
    const struct ht_option *option;
    const struct ht_setting *setting;
    void *at; /* the option's member */
};

struct type {
    const char *words;
    enum ht_scalar_kind kind;
    int most; /* values next to each other; 0: the function below */
    int least;
    size_t size; /* of each of them, of the member */
    enum ht_err (*store)(const struct target *t);
};
static const struct type *type_of(const struct ht_option *option);

static void *member(const void *base, const struct ht_option *option) {
    return (char *)base + option->offset;
}

static HT_ERR fail(const struct ht_setting *setting, const char *must, const char *rule) {
    FAIL(HT_ERR_INPUT, "%s = %s: %s%s (%s)", HT_SHOWN(setting->key), HT_SHOWN(setting->value), must,
         rule, HT_SHOWN_PLACE(setting->place));
}

static HT_ERR fail_type(const struct target *t) {
    return fail(t->setting, "must be ", ht_option_type_words(t->option));
}

static HT_ERR fail_range(const struct target *t, const char *must) {
    return fail(t->setting, must, ht_option_range(t->option, (char[160]){0}));
}

static HT_ERR check_number(const struct target *t, double value) {
    const struct ht_option *option = t->option;
    if (!isfinite(value)) return fail(t->setting, "must be ", "finite");
    if (option->low > option->high || (value >= option->low && value <= option->high)) return HT_OK;
    return fail_range(t, "must be ");
}

/* All items are scalars of the kind wanted; a number may be an integer. */
static bool all_of(const struct ht_setting *setting, enum ht_scalar_kind kind, int least,
                   int most) {
    if (setting->kind != HT_SETTING_SCALAR && setting->kind != HT_SETTING_ARRAY) return false;
    if (setting->count < least || setting->count > most) return false;
    for (int i = 0; i < setting->count; i++) {
        enum ht_scalar_kind is = setting->item[i].kind;
        if (is != kind && (kind != HT_SCALAR_REAL || is != HT_SCALAR_INT)) return false;
    }
    return true;
}

/* ---- values next to each other ---- */

static HT_ERR put_text(const struct target *t, const char *text, void *to) {
    const char *choices = t->option->choices;
    if (choices && ht_text_find(choices, '|', text) < 0) {
        const char *instead = ht_params_gone(t->setting->key, text);
        return instead ? fail(t->setting, "no longer there; use ", instead)
                       : fail_range(t, "must be ");
    }
    if (t->option->type != HT_OPT_CHOICE) return ht_pool_copy(&t->params->pool, text, to);
    *(int *)to = ht_text_find(choices, '|', text);
    return HT_OK;
}

static HT_ERR put(const struct target *t, const struct ht_scalar *item, void *to) {
    const struct type *type = type_of(t->option);
    if (type->kind == HT_SCALAR_STRING) return put_text(t, item->text, to);
    if (type->kind == HT_SCALAR_BOOL) {
        *(bool *)to = item->flag;
        return HT_OK;
    }
    TRY(check_number(t, item->real));
    if (type->kind == HT_SCALAR_REAL)
        *(double *)to = item->real;
    else if (type->size == sizeof(int64_t))
        *(int64_t *)to = item->integer;
    else if (item->integer < INT_MIN || item->integer > INT_MAX)
        return fail(t->setting, "must fit into ", "32 bits");
    else
        *(int *)to = (int)item->integer;
    return HT_OK;
}

static HT_ERR store_values(const struct target *t) {
    const struct type *type = type_of(t->option);
    const struct ht_setting *setting = t->setting;
    /* The command line has no need of quotes: device.select=0. */
    if ((t->option->type == HT_OPT_STRING || t->option->type == HT_OPT_FILE) &&
        t->setting->kind == HT_SETTING_SCALAR && t->setting->raw &&
        t->setting->item[0].kind != HT_SCALAR_STRING)
        return put_text(t, setting->raw, t->at);
    if (!all_of(setting, type->kind, type->least, type->most) ||
        (type->most == 1 && setting->kind != HT_SETTING_SCALAR))
        return fail_type(t);
    for (int i = 0; i < setting->count; i++)
        TRY(put(t, &setting->item[i], (char *)t->at + (size_t)i * type->size));
    if (t->option->type == HT_OPT_SIDES && setting->count == 1)
        TRY(put(t, setting->item, (char *)t->at + type->size));
    if (t->option->type == HT_OPT_CELLS) t->params->grid.dims = setting->count;
    return HT_OK;
}

static void add_one(struct ht_text *out, const struct ht_option *option, const void *at) {
    const struct type *type = type_of(option);
    if (option->type == HT_OPT_CHOICE) {
        const char *choices = option->choices;
        for (int i = 0; i < (*(const int *)at); i++) choices += strcspn(choices, "|") + 1;
        ht_text_add(out, "\"%.*s\"", (int)strcspn(choices, "|"), choices);
    } else if (type->kind == HT_SCALAR_STRING)
        ht_text_add_quoted(out, *(char *const *)at, false);
    else if (type->kind == HT_SCALAR_BOOL)
        ht_text_add(out, *(const bool *)at ? "true" : "false");
    else if (type->kind == HT_SCALAR_REAL)
        ht_config_add_real(out, *(const double *)at);
    else {
        const int64_t n = type->size == sizeof(int) ? *(const int *)at : *(const int64_t *)at;
        ht_text_add(out, "%lld%s", (long long)n, n > INT32_MAX || n < INT32_MIN ? "L" : "");
    }
}

static void add_all(struct ht_text *out, const struct ht_option *option, const void *at, int count,
                    size_t size, bool list) {
    if (list) ht_text_add(out, "[");
    for (int i = 0; i < count; i++) {
        if (i > 0) ht_text_add(out, ", ");
        add_one(out, option, (const char *)at + (size_t)i * size);
    }
    if (list) ht_text_add(out, "]");
}

static HT_ERR store_names(const struct target *t) {
    struct ht_names *to = t->at;
    if (!all_of(t->setting, HT_SCALAR_STRING, 0, INT_MAX)) return fail_type(t);
    *to = (struct ht_names){.count = t->setting->count};
    TRY(HT_TAKE(&t->params->pool, to->name, to->count));
    for (int i = 0; i < to->count; i++)
        TRY(ht_pool_copy(&t->params->pool, t->setting->item[i].text, &to->name[i]));
    return HT_OK;
}

static HT_ERR store_value(const struct target *t) {
    struct ht_value *to = t->at;
    const struct ht_setting *setting = t->setting;
    if (t->option->type != HT_OPT_VALUE && setting->kind == HT_SETTING_SCALAR &&
        setting->item[0].kind == HT_SCALAR_STRING) {
        *to = (struct ht_value){.kind = HT_VALUE_TEXT};
        return put_text(t, setting->item[0].text, &to->text);
    }
    if (!all_of(setting, HT_SCALAR_REAL, 1, INT_MAX)) return fail_type(t);
    if (t->option->type == HT_OPT_ONE && setting->count > 1)
        return fail_range(t, "must be one number, ");
    *to = (struct ht_value){.kind = HT_VALUE_NUMBERS, .count = setting->count};
    TRY(HT_TAKE(&t->params->pool, to->number, to->count));
    for (int i = 0; i < to->count; i++) {
        TRY(check_number(t, setting->item[i].real));
        to->number[i] = setting->item[i].real;
    }
    return HT_OK;
}

/* The members come one by one after it. */
static HT_ERR store_map(const struct target *t) {
    return t->setting->kind == HT_SETTING_GROUP ? HT_OK : fail_type(t);
}

/* A member of that name, made when it is not there. */
static HT_ERR find_member(struct ht_pool *pool, struct ht_map *map, const char *name,
                          char ***text) {
    int n = 0;
    while (n < map->count && strcmp(map->name[n], name) != 0) n++;
    if (n == map->count) {
        const struct ht_map old = *map;
        TRY(HT_TAKE(pool, map->name, n + 1));
        TRY(HT_TAKE(pool, map->text, n + 1));
        for (int i = 0; i < n; i++) {
            map->name[i] = old.name[i];
            map->text[i] = old.text[i];
        }
        TRY(ht_pool_copy(pool, name, &map->name[map->count++]));
    }
    *text = &map->text[n];
    return HT_OK;
}

HT_ERR ht_option_store_member(struct ht_params *params, const struct ht_option *option,
                              const struct ht_setting *setting) {
    const char *name = setting->key + strlen(option->key) + 1, *end = name;
    char **to;
    while (isalnum((unsigned char)*end) || (*end && strchr("_-", *end))) end++;
    if (!isalpha((unsigned char)*name) || *end) /* libconfig reads others not back */
        return fail(setting, "the name must be ", "letters and digits");
    if (setting->kind != HT_SETTING_SCALAR || setting->item[0].kind == HT_SCALAR_BOOL)
        return fail(setting, "must be ", "a string");
    /* An expression that is a number needs no quotes. */
    bool string = setting->item[0].kind == HT_SCALAR_STRING;
    TRY(find_member(&params->pool, member(params, option), name, &to));
    return ht_pool_copy(&params->pool, string ? setting->item[0].text : setting->value, to);
}

/* The groups come one by one after it; ht_params_print writes them. */
static HT_ERR store_groups(const struct target *t) {
    bool empty = t->setting->kind == HT_SETTING_ARRAY && t->setting->count == 0;
    return empty || t->setting->kind == HT_SETTING_NESTED ? HT_OK : fail_type(t);
}

void ht_option_add_value(struct ht_text *out, const void *base, const struct ht_option *option) {
    const struct type *type = type_of(option);
    const void *at = member(base, option);
    const struct ht_names *names = at;
    const struct ht_value *value = at;
    const struct ht_map *map = at;
    const int count =
        option->type == HT_OPT_CELLS ? ((const struct ht_params *)base)->grid.dims : type->most;
    if (type->most > 0) {
        add_all(out, option, at, count, type->size, type->most > 1);
    } else if (option->type == HT_OPT_NAMES) {
        add_all(out, option, names->name, names->count, sizeof *names->name, true);
    } else if (option->type == HT_OPT_MAP) {
        ht_text_add(out, "{");
        for (int i = 0; i < map->count; i++) {
            ht_text_add(out, " %s = ", map->name[i]);
            ht_text_add_quoted(out, map->text[i], false);
            ht_text_add(out, ";");
        }
        ht_text_add(out, " }");
    } else if (option->type != HT_OPT_LIST && value->kind == HT_VALUE_TEXT)
        ht_text_add_quoted(out, value->text, false);
    else if (option->type != HT_OPT_LIST)
        add_all(out, option, value->number, value->count, sizeof *value->number, value->count > 1);
}

/* ---- the table ---- */

_Static_assert(sizeof(enum ht_scheme_name) == sizeof(int), "enumerations are as large as int");
#define ROW(type, in_c, array, of, fewest, count, text) \
    [HT_OPT_##type] = {(text), HT_SCALAR_##of, (count), (fewest), sizeof(in_c), NULL},
#define ROW_BY(type, in_c, of, name, text) \
    [HT_OPT_##type] = {(text), HT_SCALAR_##of, 0, 0, sizeof(in_c), store_##name},
static const struct type types[] = {HT_EACH_OPTION_TYPE(ROW, ROW_BY)};

static const struct type *type_of(const struct ht_option *option) {
    return &types[option->type];
}

const char *ht_option_type_words(const struct ht_option *option) {
    return type_of(option)->words;
}

HT_ERR ht_option_store(struct ht_params *params, void *base, const struct ht_option *option,
                       const struct ht_setting *setting) {
    const struct target t = {params, option, setting, member(base, option)};
    const struct type *type = type_of(option);
    return type->most > 0 ? store_values(&t) : type->store(&t);
}

/* For the option at to->at, which is its own base then. */
static HT_ERR visit_default(void *data, const struct ht_setting *setting) {
    const struct target *to = data;
    return ht_option_store(to->params, (char *)to->at - to->option->offset, to->option, setting);
}

HT_ERR ht_option_set_default(struct ht_params *params, void *base, const struct ht_option *option) {
    struct target to = {.params = params, .option = option, .at = member(base, option)};
    const struct type *type = type_of(option);
    memset(to.at, 0, type->size * (size_t)ht_most(type->most, 1));
    if (!option->fallback) return HT_OK;
    return ht_config_read_value(option->key, option->fallback, visit_default, &to);
}
