/* Parameters from defaults, a file and the command line, in this order, each replacing what came
 * before. Every key set is remembered with its text and place, so that any later check can name
 * them.
 */
#include <stdlib.h>
#include <string.h>

#include "params_parts.h"

bool ht_in_double(const struct ht_params *params) {
    return params->device.precision == HT_DOUBLE || strcmp(params->device.backend, "oracle") == 0;
}

/* ---- reading ---- */

static bool is_section(const char *key) {
    for (int i = 0; i < ht_option_count(); i++)
        if (ht_key_inside(ht_option_at(i)->key, key)) return true;
    return false;
}

/* The map that the key is a member of, or NULL. */
static const struct ht_option *map_of(const char *key) {
    for (int i = 0; i < ht_option_count(); i++) {
        const struct ht_option *option = ht_option_at(i);
        if (option->type == HT_OPT_MAP && ht_key_inside(key, option->key)) return option;
    }
    return NULL;
}

static enum ht_err fail_gone(const struct ht_setting *setting, const char *advice) {
    FAIL(HT_ERR_INPUT, "%s: no longer there; use %s (%s)", HT_SHOWN(setting->key), advice,
         HT_SHOWN_PLACE(setting->place));
}

static enum ht_err visit_setting(void *data, const struct ht_setting *setting) {
    struct ht_params *params = data;
    struct ht_list_key in;
    if (ht_option_in_list(setting->key, &in)) return ht_params_visit_list(params, &in, setting);
    const struct ht_option *option = ht_option_find(setting->key);
    const struct ht_option *map = map_of(setting->key);
    bool group = setting->kind == HT_SETTING_GROUP;
    if (option || map) {
        if (option && (option->type == HT_OPT_MAP || option->type == HT_OPT_LIST))
            ht_params_forget(params, option->key);
        TRY(ht_params_remember(params, setting));
        if (!option) return ht_option_store_member(params, map, setting);
        /* What an array leaves out has its default, whatever came before. */
        TRY(ht_option_set_default(params, option));
        return ht_option_store(params, option, setting);
    }
    if (is_section(setting->key)) {
        REQUIRE(group, HT_ERR_INPUT, "%s = %s: must be a group of keys, %s = { ... }; (%s)",
                setting->key, HT_SHOWN(setting->value), setting->key,
                HT_SHOWN_PLACE(setting->place));
        return HT_OK;
    }
    const char *instead = ht_params_gone(setting->key, NULL);
    if (instead != NULL) return fail_gone(setting, instead);
    if (group) return ht_params_unknown_group(setting);
    return ht_params_unknown_key(setting);
}

static enum ht_err read_override(struct ht_params *params, const char *text) {
    const char *equals = strchr(text, '=');
    struct ht_text key = {0};
    REQUIRE(equals && equals > text, HT_ERR_INPUT,
            "%s: an option on the command line is key=value, such as "
            "grid.order=4",
            HT_SHOWN(text));
    const char *end = equals;
    text += strspn(text, " \t");
    while (end > text && (end[-1] == ' ' || end[-1] == '\t')) end--;
    ht_text_add(&key, "%.*s", end > text ? (int)(end - text) : 0, text);
    enum ht_err err = ht_text_status(&key);
    if (!err) err = ht_config_read_value(key.data, equals + 1, visit_setting, params);
    ht_text_free(&key);
    return err;
}

/* Sources begin at rest, unless initial data are asked for. */
static enum ht_err rest_before_shots(struct ht_params *params) {
    if (params->shots.count == 0 || ht_params_gives(params, "initial")) return HT_OK;
    free(params->initial.type);
    params->initial.type = NULL;
    return ht_text_copy("zero", &params->initial.type);
}

static enum ht_err read_all(struct ht_params *params, const char *path, int noverrides,
                            char *const *overrides) {
    TRY(HT_ALLOC(params->sources, 1));
    for (int i = 0; i < ht_option_count(); i++) TRY(ht_option_set_default(params, ht_option_at(i)));
    if (path) TRY(ht_text_copy(path, &params->sources->input));
    if (path) TRY(ht_config_read_file(path, visit_setting, params));
    for (int i = 0; i < noverrides; i++) TRY(read_override(params, overrides[i]));
    TRY(rest_before_shots(params));
    TRY(ht_params_resolve(params));
    return ht_params_check(params);
}

enum ht_err ht_params_read(const char *path, int noverrides, char *const *overrides,
                           struct ht_params **out) {
    struct ht_params *params = NULL;
    *out = NULL;
    TRY(HT_ALLOC(params, 1));
    enum ht_err err = read_all(params, path, noverrides, overrides);
    return HT_MADE(err, params, ht_params_destroy, out);
}

void ht_params_destroy(struct ht_params *params) {
    if (!params) return;
    for (int i = 0; i < ht_option_count(); i++) ht_option_clear(params, ht_option_at(i));
    ht_params_free_sources(params->sources);
    free(params);
}
