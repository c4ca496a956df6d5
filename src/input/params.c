/* Parameters from defaults, a file and the command line, in this order, each
 * replacing what came before. Every key set is remembered with its text and
 * place, so that any later check can name them.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "options.h"
#include "params_parts.h"

/* ---- where keys were set ---- */

static struct ht_source *find_source(const struct ht_params *params,
                                     const char *key) {
    struct ht_source *source = params->sources->source;
    for (int i = 0; source && i < params->sources->count; i++)
        if (strcmp(source[i].key, key) == 0) return &source[i];
    return NULL;
}

const struct ht_source *ht_params_source(const struct ht_params *params,
                                         const char *key) {
    return find_source(params, key);
}

static void clear_source(struct ht_source *source) {
    free(source->key);
    free(source->value);
    free(source->place);
    *source = (struct ht_source){0};
}

/* key is inside the group of that name. */
static bool is_inside(const char *key, const char *group) {
    size_t length = strlen(group);
    return strncmp(key, group, length) == 0 && key[length] == '.';
}

void ht_params_forget(struct ht_params *params, const char *group) {
    struct ht_sources *sources = params->sources;
    int kept = 0;
    for (int i = 0; i < sources->count; i++) {
        if (is_inside(sources->source[i].key, group))
            clear_source(&sources->source[i]);
        else
            sources->source[kept++] = sources->source[i];
    }
    sources->count = kept;
}

static enum ht_err append_source(struct ht_sources *sources,
                                 const struct ht_source *fresh) {
    size_t size = ((size_t)sources->count + 1) * sizeof *fresh;
    struct ht_source *more = realloc(sources->source, size);
    REQUIRE(more, HT_ERR_MEMORY, "out of memory");
    sources->source = more;
    more[sources->count++] = *fresh;
    return HT_OK;
}

enum ht_err ht_params_remember(struct ht_params *params,
                               const struct ht_setting *setting) {
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

enum ht_err ht_params_error(const struct ht_params *params, const char *key,
                            const char *fmt, ...) {
    char rule[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(rule, sizeof rule, fmt, args);
    va_end(args);
    const struct ht_source *source = find_source(params, key);
    const struct ht_option *option = ht_option_find(key);
    if (source)
        FAIL(HT_ERR_INPUT, "%s = %s: %s (%s)", HT_SHOWN(key),
             HT_SHOWN(source->value), rule, HT_SHOWN_PLACE(source->place));
    if (option && option->fallback)
        FAIL(HT_ERR_INPUT, "%s = %s: %s (default)", key, option->fallback,
             rule);
    FAIL(HT_ERR_INPUT, "%s: %s (not set)", HT_SHOWN(key), rule);
}

enum ht_err ht_params_blame(const struct ht_params *params, const char *key,
                            enum ht_err err) {
    char reason[1024]; /* a copy: the record is about to be replaced */
    if (err != HT_ERR_INPUT && err != HT_ERR_IO) return err;
    snprintf(reason, sizeof reason, "%s", ht_err_message());
    return ht_params_error(params, key, "%s", reason);
}

/* The value as text is the same for every way of writing it, and the table's
 * defaults are written in that way (test/unit/params.c checks it). */
static bool says_default(const struct ht_source *source) {
    const struct ht_option *option = ht_option_find(source->key);
    if (option && option->type == HT_OPT_LIST)
        return strcmp(source->value, "[]") == 0; /* as all empty lists */
    return option && option->fallback &&
           strcmp(source->value, option->fallback) == 0;
}

bool ht_in_double(const struct ht_params *params) {
    return params->device.precision == HT_DOUBLE ||
           strcmp(params->device.backend, "oracle") == 0;
}

bool ht_params_is_set(const struct ht_params *params, const char *key) {
    for (int i = 0; i < params->sources->count; i++) {
        const struct ht_source *source = &params->sources->source[i];
        if (strcmp(source->key, key) != 0 && !is_inside(source->key, key))
            continue;
        if (!says_default(source)) return true;
    }
    return false;
}

/* ---- keys that are not there ---- */

enum { KEYS_MAX = 192 }; /* more than there are options */

/* The names directly inside a section, or the sections: members of a section
 * without the section's name. */
struct key_list {
    int count;
    const char *name[KEYS_MAX];
};

static void list_members(const char *section, int length,
                         struct key_list *list) {
    for (int i = 0; i < ht_option_count() && list->count < KEYS_MAX; i++) {
        const char *key = ht_option_at(i)->key;
        if (ht_option_section(key) != length ||
            strncmp(key, section, (size_t)length) != 0)
            continue;
        list->name[list->count++] = key + (length ? length + 1 : 0);
    }
}

/* What other programs, or other countries, call an option or a group. */
static const struct {
    const char *word, *key;
} synonyms[] = {
    {"dt", "time.step"},
    {"timestep", "time.step"},
    {"time_step", "time.step"},
    {"delta_t", "time.step"},
    {"tmax", "time.end"},
    {"t_end", "time.end"},
    {"duration", "time.end"},
    {"courant", "time.cfl"},
    {"integrator", "time.scheme"},
    {"nx", "grid.cells"},
    {"ny", "grid.cells"},
    {"nz", "grid.cells"},
    {"size", "grid.cells"},
    {"resolution", "grid.cells"},
    {"dims", "grid.cells"},
    {"dx", "grid.cells"},
    {"min", "grid.lower"},
    {"max", "grid.upper"},
    {"origin", "grid.lower"},
    {"degree", "grid.order"},
    {"center", "initial.centre"},
    {"position", "initial.centre"},
    {"sigma", "initial.width"},
    {"frequency", "initial.frequency"},
    {"f0", "initial.frequency"},
    {"wavenumber", "initial.cycles"},
    {"wavevector", "initial.cycles"},
    {"vp", "medium.c"},
    {"speed", "medium.c"},
    {"density", "medium.rho"},
    {"kappa", "medium.K"},
    {"bulk", "medium.K"},
    {"dir", "output.directory"},
    {"folder", "output.directory"},
    {"path", "output.directory"},
    {"interval", "output.every"},
    {"gpu", "device.select"},
    {"float", "device.precision"},
    {"kernel", "device.variant"},
    {"boundaries", "boundary.x1"},
    {"bc", "boundary.x1"},
    {"mesh", "grid"},
    {"domain", "grid"},
    {"box", "grid"},
    {"model", "medium"},
    {"material", "medium"},
    {"source", "initial"},
    {"mpi", "parallel"},
};

/* The key of a synonym; a section that exists is believed. */
static const char *synonym(const char *key) {
    int section = ht_option_section(key);
    const char *name = key + (section ? section + 1 : 0), *found = NULL;
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++) {
        if (strcasecmp(name, synonyms[i].word) != 0) continue;
        const char *other = synonyms[i].key;
        bool same = strncmp(other, key, (size_t)section + 1) == 0;
        if (same && section) return other;
        if (!found) found = other;
    }
    return found;
}

const char *ht_params_synonym(const char *word, int index) {
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++) {
        const char *key = synonyms[i].key, *dot = strrchr(key, '.');
        if (strcasecmp(word, synonyms[i].word) == 0 && index-- == 0)
            return dot ? dot + 1 : key;
    }
    return NULL;
}

/* section.name for a name of the list that is near, else NULL; a key of the
 * same name elsewhere is near as well. */
static const char *suggest(const char *key, const struct key_list *list) {
    int section = ht_option_section(key);
    const char *name = key + (section ? section + 1 : 0);
    const char *whole[KEYS_MAX];
    int count = 0;
    const char *near = ht_text_nearest(name, list->name, list->count);
    if (near) return near - (section ? section + 1 : 0);
    const char *meant = synonym(key);
    if (meant && section && !strncmp(meant, key, (size_t)section + 1))
        return meant;
    for (int i = 0; i < ht_option_count() && count < KEYS_MAX; i++) {
        const char *other = ht_option_at(i)->key;
        int skip = ht_option_section(other);
        if (strcmp(other + (skip ? skip + 1 : 0), name) == 0) return other;
        whole[count++] = other;
    }
    if (meant) return meant;
    /* A section that exists was searched: other sections only mislead. At the
     * top a name may be that of any of them. */
    if (section && list->count) return NULL;
    if (section) return ht_text_nearest(key, whole, count);
    for (int i = 0; i < count; i++) {
        int skip = ht_option_section(whole[i]);
        const char *other = whole[i] + (skip ? skip + 1 : 0);
        if (ht_text_nearest(name, &other, 1)) return whole[i];
    }
    return ht_text_nearest(key, whole, count);
}

static enum ht_err fail_gone(const struct ht_setting *setting,
                             const char *advice) {
    FAIL(HT_ERR_INPUT, "%s: no longer there; use %s (%s)",
         HT_SHOWN(setting->key), advice, HT_SHOWN_PLACE(setting->place));
}

static enum ht_err fail_unknown_key(const struct ht_setting *setting) {
    struct key_list list = {0};
    struct ht_text known = {0};
    int section = ht_option_section(setting->key);
    list_members(setting->key, section, &list);
    const char *near = suggest(setting->key, &list);
    if (near)
        FAIL(HT_ERR_INPUT, "%s: unknown key; did you mean %s? (%s)",
             HT_SHOWN(setting->key), near, HT_SHOWN_PLACE(setting->place));
    for (int i = 0; i < list.count; i++)
        ht_text_add(&known, "%s%s", i ? ", " : "", list.name[i]);
    enum ht_err err = ht_text_status(&known);
    if (!err && section && list.count)
        err = ht_err_set(HT_ERR_INPUT,
                         "%s: unknown key; %.*s has the keys %s (%s)",
                         HT_SHOWN(setting->key), section, setting->key,
                         known.data, HT_SHOWN_PLACE(setting->place));
    else if (!err)
        err =
            ht_err_set(HT_ERR_INPUT, "%s: unknown key (%s)",
                       HT_SHOWN(setting->key), HT_SHOWN_PLACE(setting->place));
    ht_text_free(&known);
    return err;
}

/* All sections, each once; the names end at the section's length, so they are
 * copied. */
static enum ht_err fail_unknown_group(const struct ht_setting *setting) {
    char name[16][32];
    const char *pointer[16];
    int count = 0;
    struct ht_text known = {0};
    for (int i = 0; i < ht_option_count() && count < 16; i++) {
        const char *key = ht_option_at(i)->key;
        int length = ht_option_section(key);
        snprintf(name[count], sizeof name[count], "%.*s", length, key);
        if (!length || (count && !strcmp(name[count - 1], name[count])))
            continue;
        ht_text_add(&known, "%s%s", count ? ", " : "", name[count]);
        pointer[count] = name[count];
        count++;
    }
    enum ht_err err = ht_text_status(&known);
    const char *near = ht_text_nearest(setting->key, pointer, count);
    if (!near) near = synonym(setting->key);
    if (!err && near)
        err = ht_err_set(
            HT_ERR_INPUT, "%s: unknown group; did you mean %s? (%s)",
            HT_SHOWN(setting->key), near, HT_SHOWN_PLACE(setting->place));
    else if (!err)
        err = ht_err_set(HT_ERR_INPUT, "%s: unknown group; there are %s (%s)",
                         HT_SHOWN(setting->key), known.data,
                         HT_SHOWN_PLACE(setting->place));
    ht_text_free(&known);
    return err;
}

/* ---- reading ---- */

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

static bool is_section(const char *key) {
    for (int i = 0; i < ht_option_count(); i++)
        if (is_inside(ht_option_at(i)->key, key)) return true;
    return false;
}

/* The map that the key is a member of, or NULL. */
static const struct ht_option *map_of(const char *key) {
    for (int i = 0; i < ht_option_count(); i++) {
        const struct ht_option *option = ht_option_at(i);
        if (option->type == HT_OPT_MAP && is_inside(key, option->key))
            return option;
    }
    return NULL;
}

static enum ht_err visit_setting(void *data, const struct ht_setting *setting) {
    struct ht_params *params = data;
    struct ht_list_key in;
    if (ht_option_in_list(setting->key, &in))
        return ht_params_visit_list(params, &in, setting);
    const struct ht_option *option = ht_option_find(setting->key);
    const struct ht_option *map = map_of(setting->key);
    bool group = setting->kind == HT_SETTING_GROUP;
    if (option || map) {
        if (option &&
            (option->type == HT_OPT_MAP || option->type == HT_OPT_LIST))
            ht_params_forget(params, option->key);
        TRY(ht_params_remember(params, setting));
        if (!option) return ht_params_store_member(params, map, setting);
        /* What an array leaves out has its default, whatever came before. */
        TRY(ht_params_set_default(params, params, option));
        return ht_params_store(params, params, option, setting);
    }
    if (is_section(setting->key)) {
        REQUIRE(group, HT_ERR_INPUT,
                "%s = %s: must be a group of keys, %s = { ... }; (%s)",
                setting->key, HT_SHOWN(setting->value), setting->key,
                HT_SHOWN_PLACE(setting->place));
        return HT_OK;
    }
    const char *instead = ht_params_gone(setting->key, NULL);
    if (instead != NULL) return fail_gone(setting, instead);
    if (group) return fail_unknown_group(setting);
    return fail_unknown_key(setting);
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
    if (!err)
        err = ht_config_read_value(key.data, equals + 1, visit_setting, params);
    ht_text_free(&key);
    return err;
}

bool ht_params_gives(const struct ht_params *params, const char *group) {
    bool given = false;
    for (int i = 0; i < params->sources->count; i++)
        given = given || is_inside(params->sources->source[i].key, group);
    return given;
}

/* Sources begin at rest, unless initial data are asked for. */
static enum ht_err rest_before_shots(struct ht_params *params) {
    if (params->shots.count == 0 || ht_params_gives(params, "initial"))
        return HT_OK;
    free(params->initial.type);
    params->initial.type = NULL;
    return ht_text_copy("zero", &params->initial.type);
}

static enum ht_err read_all(struct ht_params *params, const char *path,
                            int noverrides, char *const *overrides) {
    TRY(HT_ALLOC(params->sources, 1));
    for (int i = 0; i < ht_option_count(); i++)
        TRY(ht_params_set_default(params, params, ht_option_at(i)));
    if (path) TRY(ht_text_copy(path, &params->sources->input));
    if (path) TRY(ht_config_read_file(path, visit_setting, params));
    for (int i = 0; i < noverrides; i++)
        TRY(read_override(params, overrides[i]));
    TRY(rest_before_shots(params));
    TRY(ht_params_resolve(params));
    return ht_params_check(params);
}

enum ht_err ht_params_read(const char *path, int noverrides,
                           char *const *overrides, struct ht_params **out) {
    struct ht_params *params = NULL;
    *out = NULL;
    TRY(HT_ALLOC(params, 1));
    enum ht_err err = read_all(params, path, noverrides, overrides);
    if (err) {
        ht_params_destroy(params);
        return err;
    }
    *out = params;
    return HT_OK;
}

void ht_params_destroy(struct ht_params *params) {
    if (!params) return;
    for (int i = 0; i < ht_option_count(); i++)
        ht_params_clear(params, ht_option_at(i));
    if (params->sources) {
        for (int i = 0; i < params->sources->count; i++)
            clear_source(&params->sources->source[i]);
        free(params->sources->source);
        free(params->sources->input);
    }
    free(params->sources);
    free(params);
}
