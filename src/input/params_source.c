/* Where every key was set and to what, and messages that say it. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "params_parts.h"

static struct ht_source *find_source(const struct ht_params *params, const char *key) {
    struct ht_source *source = params->sources->source;
    for (int i = 0; source && i < params->sources->count; i++)
        if (strcmp(source[i].key, key) == 0) return &source[i];
    return NULL;
}

const struct ht_source *ht_params_source(const struct ht_params *params, const char *key) {
    return find_source(params, key);
}

static void clear_source(struct ht_source *source) {
    free(source->key);
    free(source->value);
    free(source->place);
    *source = (struct ht_source){0};
}

bool ht_key_inside(const char *key, const char *group) {
    size_t length = strlen(group);
    return strncmp(key, group, length) == 0 && key[length] == '.';
}

void ht_params_forget(struct ht_params *params, const char *group) {
    struct ht_sources *sources = params->sources;
    int kept = 0;
    for (int i = 0; i < sources->count; i++) {
        if (ht_key_inside(sources->source[i].key, group))
            clear_source(&sources->source[i]);
        else
            sources->source[kept++] = sources->source[i];
    }
    sources->count = kept;
}

static enum ht_err append_source(struct ht_sources *sources, const struct ht_source *fresh) {
    size_t size = ((size_t)sources->count + 1) * sizeof *fresh;
    struct ht_source *more = realloc(sources->source, size);
    REQUIRE(more, HT_ERR_MEMORY, "out of memory");
    sources->source = more;
    more[sources->count++] = *fresh;
    return HT_OK;
}

enum ht_err ht_params_remember(struct ht_params *params, const struct ht_setting *setting) {
    struct ht_source fresh = {.in_file = setting->in_file};
    struct ht_source *old = find_source(params, setting->key);
    enum ht_err err = ht_text_copy(setting->key, &fresh.key);
    if (!err) err = ht_text_copy(setting->value, &fresh.value);
    if (!err) err = ht_text_copy(setting->place, &fresh.place);
    if (!err && old) {
        clear_source(old);
        *old = fresh;
        return HT_OK;
    }
    if (!err) err = append_source(params->sources, &fresh);
    if (err) clear_source(&fresh);
    return err;
}

bool ht_params_in_file(const struct ht_params *params, const char *key) {
    const struct ht_source *source = find_source(params, key);
    return source && source->in_file;
}

enum ht_err ht_params_error(const struct ht_params *params, const char *key, const char *fmt, ...) {
    char rule[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(rule, sizeof rule, fmt, args);
    va_end(args);
    const struct ht_source *source = find_source(params, key);
    const struct ht_option *option = ht_option_find(key);
    if (source)
        FAIL(HT_ERR_INPUT, "%s = %s: %s (%s)", HT_SHOWN(key), HT_SHOWN(source->value), rule,
             HT_SHOWN_PLACE(source->place));
    if (option && option->fallback)
        FAIL(HT_ERR_INPUT, "%s = %s: %s (default)", key, option->fallback, rule);
    FAIL(HT_ERR_INPUT, "%s: %s (not set)", HT_SHOWN(key), rule);
}

enum ht_err ht_params_blame(const struct ht_params *params, const char *key, enum ht_err err) {
    char reason[1024]; /* a copy: the record is about to be replaced */
    if (err != HT_ERR_INPUT && err != HT_ERR_IO) return err;
    snprintf(reason, sizeof reason, "%s", ht_err_message());
    return ht_params_error(params, key, "%s", reason);
}

/* The value as text is the same for every way of writing it, and the table's defaults are written
 * in that way (test/unit/params.c checks it). */
static bool says_default(const struct ht_source *source) {
    const struct ht_option *option = ht_option_find(source->key);
    if (option && option->type == HT_OPT_LIST)
        return strcmp(source->value, "[]") == 0; /* as all empty lists */
    return option && option->fallback && strcmp(source->value, option->fallback) == 0;
}

bool ht_params_is_set(const struct ht_params *params, const char *key) {
    for (int i = 0; i < params->sources->count; i++) {
        const struct ht_source *source = &params->sources->source[i];
        if (strcmp(source->key, key) != 0 && !ht_key_inside(source->key, key)) continue;
        if (!says_default(source)) return true;
    }
    return false;
}

bool ht_params_gives(const struct ht_params *params, const char *group) {
    bool given = false;
    for (int i = 0; i < params->sources->count; i++)
        given = given || ht_key_inside(params->sources->source[i].key, group);
    return given;
}

void ht_params_free_sources(struct ht_sources *sources) {
    if (sources == NULL) return;
    for (int i = 0; i < sources->count; i++) clear_source(&sources->source[i]);
    free(sources->source);
    free(sources->input);
    free(sources);
}
