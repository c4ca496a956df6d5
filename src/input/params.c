/* Parameters from defaults, a file and the command line, in this order, each replacing what came
 * before. Keys set are remembered with text and place, so that later checks can name them. */
#include <unistd.h>

#include "options.h"

bool ht_in_double(const struct ht_params *params) {
    return params->device.precision == HT_DOUBLE || strcmp(params->device.backend, "oracle") == 0;
}

/* ---- where every key was set and to what, and messages that say it ---- */

static struct ht_source *source_of(const struct ht_params *params, const char *key) {
    struct ht_source *source = params->sources->source;
    for (int i = 0; source && i < params->sources->count; i++)
        if (strcmp(source[i].key, key) == 0) return &source[i];
    return NULL;
}

/* The key of the whole input for one of a shot's: of the group with its number there. */
static const char *whole_key(const struct ht_params *params, const char *key, char room[96]) {
    struct ht_list_key in;
    if (!ht_option_in_list(key, &in) || in.group < 1) return key;
    const bool source = strcmp(in.list->key, "sources") == 0;
    const int *number = source                                   ? params->number.source
                        : strcmp(in.list->key, "receivers") == 0 ? params->number.receivers
                                                                 : NULL;
    if (number == NULL) return key;
    return ht_text_format(room, 96, "%s.%d%s%s", in.list->key, number[in.group - 1],
                          *in.name ? "." : "", in.name);
}

struct ht_source *ht_params_source(const struct ht_params *params, const char *key) {
    return source_of(params, whole_key(params, key, (char[96]){0}));
}

/* The key is inside the group of that name. */
static bool key_inside(const char *key, const char *group) {
    size_t length = strlen(group);
    return strncmp(key, group, length) == 0 && key[length] == '.';
}

static bool key_of(const char *key, const char *group) {
    return strcmp(key, group) == 0 || key_inside(key, group);
}

/* What was said about a key, and about those inside a map, list or group, no longer holds. */
static void forget(struct ht_params *params, const char *group) {
    struct ht_sources *sources = params->sources;
    int kept = 0;
    for (int i = 0; i < sources->count; i++)
        if (!key_of(sources->source[i].key, group)) sources->source[kept++] = sources->source[i];
    sources->count = kept;
}

static HT_ERR remember(struct ht_params *params, const struct ht_setting *setting) {
    struct ht_sources *sources = params->sources;
    struct ht_source *source = ht_params_source(params, setting->key);
    struct ht_source fresh = {.in_file = setting->in_file};
    TRY(ht_pool_copy(&params->pool, setting->key, &fresh.key));
    TRY(ht_pool_copy(&params->pool, setting->value, &fresh.value));
    TRY(ht_pool_copy(&params->pool, setting->place, &fresh.place));
    if (source == NULL) TRY(HT_GROW(sources->source, sources->count + 1, sources->room));
    *(source ? source : &sources->source[sources->count++]) = fresh;
    return HT_OK;
}

enum ht_err ht_params_error(const struct ht_params *params, const char *key, const char *fmt, ...) {
    char rule[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(rule, sizeof rule, fmt, args);
    va_end(args);
    key = whole_key(params, key, (char[96]){0});
    const struct ht_source *source = source_of(params, key);
    const struct ht_option *option = ht_option_find(key);
    if (source)
        FAIL(HT_ERR_INPUT, "%s = %s: %s (%s)", HT_SHOWN(key), HT_SHOWN(source->value), rule,
             HT_SHOWN_PLACE(source->place));
    if (option && option->fallback)
        FAIL(HT_ERR_INPUT, "%s = %s: %s (default)", key, option->fallback, rule);
    FAIL(HT_ERR_INPUT, "%s: %s (not set)", HT_SHOWN(key), rule);
}

HT_ERR ht_params_blame(const struct ht_params *params, const char *key, enum ht_err err) {
    if (err != HT_ERR_INPUT && err != HT_ERR_IO) return err;
    return ht_params_error(params, key, "%s", ht_err_message());
}

/* The value as text is the same for every way of writing it, and the table's defaults are written
 * in that way (test/unit/params.c checks it). */
bool ht_params_is_set(const struct ht_params *params, const char *key) {
    HT_EACH(const struct ht_source, source, params->sources->source, params->sources->count) {
        if (!key_of(source->key, key)) continue;
        const struct ht_option *option = ht_option_find(source->key);
        const bool list = option && option->type == HT_OPT_LIST; /* as all empty lists */
        const char *fallback = list ? "[]" : option ? option->fallback : NULL;
        if (!fallback || strcmp(source->value, fallback) != 0) return true;
    }
    return false;
}

const struct ht_source *ht_params_gives(const struct ht_params *params, const char *key) {
    for (int i = 0; i < params->sources->count; i++)
        if (key_of(params->sources->source[i].key, key)) return &params->sources->source[i];
    return NULL;
}

/* ---- keys that are not there: what they may have meant ---- */

enum { KEYS_MAX = 192 }; /* more than there are options */

/* What other programs, or other countries, call an option or a group. */
static const struct {
    const char *key, *words;
} synonyms[] = {
    {"time.step", "dt timestep time_step delta_t"},
    {"time.end", "tmax t_end duration nt steps"},
    {"time.cfl", "courant"},
    {"time.scheme", "integrator"},
    {"grid.spacing", "dx dy dz h"},
    {"grid.cells", "nx ny nz size resolution dims"},
    {"grid.lower", "min origin"},
    {"grid.upper", "max"},
    {"grid.order", "degree"},
    {"initial.centre", "center position"},
    {"initial.width", "sigma"},
    {"initial.frequency", "frequency f0"},
    {"initial.cycles", "wavenumber wavevector"},
    {"medium.c", "vp speed"},
    {"medium.rho", "density"},
    {"medium.K", "kappa bulk"},
    {"output.directory", "dir folder path outdir"},
    {"output.every", "interval"},
    {"device.select", "gpu"},
    {"device.precision", "float"},
    {"device.variant", "kernel"},
    {"absorbing", "pml cpml abc npml"},
    {"medium.q", "attenuation"},
    {"boundary.x1", "boundaries bc"},
    {"grid", "mesh domain box"},
    {"medium", "model material"},
    {"sources", "source transducer"},
    {"receivers", "receiver probes sensor"},
    {"parallel", "mpi"},
};

/* The key that users of other programs call so, case ignored; NULL: none. */
static const char *synonym(const char *name) {
    char word[32] = "";
    for (size_t n = 0; name[n] && n < sizeof word - 1; n++)
        word[n] = (char)tolower((unsigned char)name[n]);
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
        if (ht_text_find(synonyms[i].words, ' ', word) >= 0) return synonyms[i].key;
    return NULL;
}

/* section.name for one of these names in the key's section that is near, else NULL; a key of the
 * same name elsewhere is near as well. */
static const char *suggest(const char *key, int names, const char *const *inside) {
    int section = ht_option_section(key);
    const char *name = ht_option_name(key);
    const char *whole[KEYS_MAX];
    int count = 0;
    const char *near = ht_text_nearest(name, inside, names);
    if (near) return near - (section ? section + 1 : 0);
    const char *meant = synonym(name);
    if (meant && section && !strncmp(meant, key, (size_t)section + 1)) return meant;
    const char *group = section && !names ? synonym(HT_KEY("%.*s", section, key)) : NULL;
    if (group && !strchr(group, '.')) {
        const struct ht_option *same = ht_option_find(HT_KEY("%s.%s", group, name));
        return same ? same->key : group;
    }
    for (int i = 0; i < ht_option_count() && count < KEYS_MAX; i++) {
        const char *other = ht_option_at(i)->key;
        if (strcmp(ht_option_name(other), name) == 0) return other;
        whole[count++] = other;
    }
    if (meant) return meant;
    /* A section that exists was searched: other sections only mislead. At the top a name may be
     * that of any of them. */
    if (section && names) return NULL;
    if (section) return ht_text_nearest(key, whole, count);
    for (int i = 0; i < count; i++) {
        const char *other = ht_option_name(whole[i]);
        if (ht_text_nearest(name, &other, 1)) return whole[i];
    }
    return ht_text_nearest(key, whole, count);
}

/* All sections, each once; the names end at the section's length, so they are copied. */
static HT_ERR unknown_group(const struct ht_setting *setting) {
    char name[16][32];
    const char *pointer[16];
    int count = 0;
    for (int i = 0; i < ht_option_count() && count < 16; i++) {
        const char *key = ht_option_at(i)->key;
        int length = ht_option_section(key);
        snprintf(name[count], sizeof name[count], "%.*s", length, key);
        if (!length || (count && !strcmp(name[count - 1], name[count]))) continue;
        pointer[count] = name[count];
        count++;
    }
    const char *near = ht_text_nearest(setting->key, pointer, count);
    return ht_option_unknown(setting, "group", near ? near : synonym(ht_option_name(setting->key)),
                             "; there are", count, pointer);
}

/* ---- lists of groups ---- */

/* A group is a structure of its list's size in an array that grows by one with each group read. Its
 * keys are those of the list's rows, under "list.N.". */

static struct ht_groups *groups_of(const struct ht_params *params, const struct ht_option *option) {
    return (struct ht_groups *)((char *)params + option->offset);
}

/* Group number n, counted from 1. */
static void *group_at(const struct ht_groups *groups, const struct ht_option_list *list, int n) {
    return (char *)groups->group + (size_t)(n - 1) * list->size;
}

bool ht_params_leaf(const struct ht_params *params, int index, struct ht_leaf *leaf) {
    HT_EACH_BY(i, const struct ht_option, option, ht_option_at(i), ht_option_count()) {
        const struct ht_option_list *list = ht_option_list(option);
        int inside = list ? groups_of(params, option)->count * list->count : 0;
        if (index == 0) {
            *leaf = (struct ht_leaf){.option = option, .base = params};
            snprintf(leaf->key, sizeof leaf->key, "%s", option->key);
            return true;
        }
        index--;
        if (list && index < inside) {
            int n = index / list->count + 1, row = index % list->count;
            leaf->option = &list->option[row];
            leaf->base = group_at(groups_of(params, option), list, n);
            snprintf(leaf->key, sizeof leaf->key, "%s.%d.%s", option->key, n,
                     list->option[row].key);
            return true;
        }
        index -= inside;
    }
    return false;
}

/* The group itself, which stands before its keys: a new one, or on the command line one that
 * replaces another. */
static HT_ERR visit_group(struct ht_params *params, const struct ht_list_key *in,
                          const struct ht_setting *setting) {
    struct ht_groups *groups = groups_of(params, in->option);
    const int most = (int)in->option->high;
    forget(params, setting->key);
    REFUSE(in->group > most, params, in->option->key, "must have at most %d groups", most);
    if (groups->count == 0)
        TRY(ht_pool_take(&params->pool, (size_t)most, in->list->size, &groups->group));
    groups->count = (int)ht_most(groups->count, in->group);
    /* The keys of a group start from their defaults. */
    for (int k = 0; k < in->list->count; k++)
        TRY(ht_option_set_default(params, group_at(groups, in->list, in->group),
                                  &in->list->option[k]));
    return remember(params, setting);
}

char *ht_params_name(const struct ht_params *params, const char *list, int n,
                     char name[HT_GROUP_NAME]) {
    struct ht_list_key in;
    const char *word = ht_option_name(list), *given = "";
    (void)ht_option_in_list(HT_KEY("%s.%d.name", list, n), &in);
    const struct ht_groups *groups = groups_of(params, in.option);
    if (n <= groups->count)
        given = *(char **)((char *)group_at(groups, in.list, n) + in.row->offset);
    snprintf(name, HT_GROUP_NAME, "%.*s", HT_GROUP_NAME - 1, given);
    /* "map-1" of "output.maps" */
    if (!*given && n <= groups->count)
        snprintf(name, HT_GROUP_NAME, "%.*s-%d", (int)strlen(word) - (word != list), word, n);
    return name;
}

/* As if the key had not been given. */
static HT_ERR reset(struct ht_params *params, const char *key) {
    struct ht_list_key in;
    const struct ht_option *option = ht_option_find(key);
    void *base = params;
    forget(params, key);
    if (ht_option_in_list(key, &in)) {
        const struct ht_groups *groups = groups_of(params, in.option);
        base = in.group <= groups->count ? group_at(groups, in.list, in.group) : NULL;
    }
    return option && base ? ht_option_set_default(params, base, option) : HT_OK;
}

/* A key of no group, which the command line can have, or that no group of the list has. */
static HT_ERR unknown_in_list(const struct ht_list_key *in, int groups,
                              const struct ht_setting *setting) {
    const char *known[32], *list = in->list->key;
    char what[128];
    int count = 0;
    for (; count < in->list->count && count < 32; count++)
        known[count] = in->list->option[count].key;
    snprintf(what, sizeof what, "key in group %d of %s", in->group, list);
    /* The row whose name is near, or what other programs call it; NULL: none. */
    const char *near = ht_text_nearest(in->name, known, count), *word = synonym(in->name);
    for (int k = 0; !near && word && k < count; k++)
        if (strcmp(ht_option_name(word), known[k]) == 0) near = known[k];
    if (in->group > 0)
        return ht_option_unknown(setting, what, near, ", whose groups have the keys", count, known);
    near = near ? near : known[0];
    FAIL(HT_ERR_INPUT, "%s: %s is a list of groups, counted from 1: give %s (%s)",
         HT_SHOWN(setting->key), list,
         groups ? HT_KEY("%s.1.%s, or the whole list", list, near)
                : HT_KEY("%s=({%s=..;})", list, near),
         HT_SHOWN_PLACE(setting->place));
}

/* A setting whose key is inside a list. */
static HT_ERR visit_list(struct ht_params *params, const struct ht_list_key *in,
                         const struct ht_setting *setting) {
    struct ht_groups *groups = groups_of(params, in->option);
    const bool whole = *in->name == '\0';
    REQUIRE(!whole || setting->kind == HT_SETTING_GROUP, HT_ERR_INPUT,
            "%s = %s: group %d of %s must be { ... } (%s)", HT_SHOWN(setting->key),
            HT_SHOWN(setting->value), in->group, in->list->key, HT_SHOWN_PLACE(setting->place));
    if (!whole && !in->row) return unknown_in_list(in, groups->count, setting);
    REQUIRE(in->group >= 1 && in->group <= groups->count + whole, HT_ERR_INPUT,
            "%s = %s: %s has no such group; it has %d, counted from 1 (%s)", HT_SHOWN(setting->key),
            HT_SHOWN(setting->value), in->list->key, groups->count, HT_SHOWN_PLACE(setting->place));
    if (whole) return visit_group(params, in, setting);
    void *group = group_at(groups, in->list, in->group);
    TRY(remember(params, setting));
    TRY(ht_option_set_default(params, group, in->row));
    return ht_option_store(params, group, in->row, setting);
}

static int count_of(const char *text, char wanted) {
    int count = 0;
    for (; *text; text++) count += *text == wanted;
    return count;
}

int ht_params_entries(const struct ht_params *params, const char *key) {
    const struct ht_source *source = params->sources ? ht_params_source(params, key) : NULL;
    return source != NULL ? 1 + count_of(source->value, ',') : 0;
}

bool ht_params_pulse(const struct ht_params *params, int index, struct ht_pulse *out) {
    const struct ht_groups *list = &params->initial.pulses;
    const struct ht_pulse *first = list->count > 0 ? list->group : &params->initial.single;
    if (index >= ht_most(list->count, 1)) return false;
    *out = first[index];
    return true;
}

const char *ht_units_name(const struct ht_params *params, const char *quantity) {
    const struct ht_map *units = &params->output.units;
    for (int i = 0; i < units->count; i++)
        if (strcmp(units->name[i], quantity) == 0) return *units->text[i] ? units->text[i] : NULL;
    return NULL;
}

/* ---- names of files ---- */

/* A relative name in an input file is meant from the folder of that file, so that an input and its
 * data move together; on the command line from the current directory, as the shell completes it.
 * Once they are read all are meant from the current directory; printed ones are absolute. */

/* The member that holds a file's name; NULL: the option has none. */
static char *const *file_name_at(const struct ht_params *params, const struct ht_leaf *leaf) {
    const struct ht_option *option = leaf->option;
    const void *at = (const char *)leaf->base + option->offset;
    if (option->type == HT_OPT_FILE) {
        char *const *name = at;
        return *name && **name ? name : NULL;
    }
    const struct ht_value *value = at;
    if (option->type != HT_OPT_MEDIUM || params->medium.type != HT_MEDIUM_FILE) return NULL;
    return value->kind == HT_VALUE_TEXT && *value->text ? &value->text : NULL;
}

bool ht_params_reads(const struct ht_params *params, int index, const char **key,
                     const char **path) {
    const char *input = params->sources->input;
    *key = NULL;
    *path = input;
    if (input && index-- == 0) return true;
    struct ht_leaf leaf;
    for (int i = 0; ht_params_leaf(params, i, &leaf); i++) {
        char *const *name = file_name_at(params, &leaf);
        /* A file that this run's kind of initial data does not need is not read, nor is what a
         * gradient compares traces with. */
        const bool idle =
            strcmp(leaf.option->key, "data") == 0 ||
            strncmp(leaf.option->key, "gradient.", 9) == 0 ||
            (strcmp(leaf.option->key, "initial.file") == 0 && params->initial.type != HT_DATA_FILE);
        if (!name || idle || index-- > 0) continue;
        const struct ht_source *source = ht_params_source(params, leaf.key);
        *key = source ? source->key : leaf.option->key;
        *path = *name;
        return true;
    }
    return false;
}

HT_ERR ht_params_beside(const struct ht_params *params, const char *name, char **out) {
    const char *input = params->sources->input;
    const char *slash = input ? strrchr(input, '/') : NULL;
    return ht_text_print(out, "%.*s%s", slash ? (int)(slash - input) + 1 : 0, slash ? input : "",
                         name);
}

static HT_ERR absolute_path(const char *path, char **out) {
    *out = NULL;
    if (*path == '/') return ht_text_copy(path, out);
    HT_FREED char *here = getcwd(NULL, 0); /* which allocates it, on all systems */
    REQUIRE(here != NULL, HT_ERR_IO, "the current directory has no name: %s", strerror(errno));
    while (strncmp(path, "./", 2) == 0) path += 2;
    return ht_file_path(here, path, out);
}

/* ---- reading ---- */

static HT_ERR visit_setting(void *data, const struct ht_setting *setting) {
    struct ht_params *params = data;
    struct ht_list_key in;
    if (ht_option_in_list(setting->key, &in)) return visit_list(params, &in, setting);
    const struct ht_option *option = ht_option_find(setting->key), *map = NULL;
    bool group = setting->kind == HT_SETTING_GROUP, is_section = false;
    HT_EACH_BY(i, const struct ht_option, other, ht_option_at(i), ht_option_count()) {
        is_section |= key_inside(other->key, setting->key);
        if (other->type == HT_OPT_MAP && key_inside(setting->key, other->key)) map = other;
    }
    if (option || map) {
        if (option && (option->type == HT_OPT_MAP || option->type == HT_OPT_LIST))
            forget(params, option->key);
        TRY(remember(params, setting));
        if (!option) return ht_option_store_member(params, map, setting);
        /* What an array leaves out has its default, whatever came before. */
        TRY(ht_option_set_default(params, params, option));
        return ht_option_store(params, params, option, setting);
    }
    REQUIRE(group || !is_section, HT_ERR_INPUT,
            "%s = %s: must be a group of keys, %s = { ... }; (%s)", setting->key,
            HT_SHOWN(setting->value), setting->key, HT_SHOWN_PLACE(setting->place));
    if (is_section) return HT_OK;
    const char *instead = ht_params_gone(setting->key, NULL);
    REQUIRE(instead == NULL, HT_ERR_INPUT, "%s: no longer there; use %s (%s)",
            HT_SHOWN(setting->key), instead, HT_SHOWN_PLACE(setting->place));
    if (group) return unknown_group(setting);
    const char *names[KEYS_MAX];
    int count = 0;
    const int section = ht_option_section(setting->key);
    char has[96];
    for (int i = 0; i < ht_option_count() && count < KEYS_MAX; i++) {
        const char *key = ht_option_at(i)->key;
        if (ht_option_section(key) == section && strncmp(key, setting->key, (size_t)section) == 0)
            names[count++] = ht_option_name(key);
    }
    snprintf(has, sizeof has, "; %.*s has the keys", section, setting->key);
    return ht_option_unknown(setting, "key", suggest(setting->key, count, names), has,
                             section ? count : 0, names);
}

HT_ERR ht_params_set(struct ht_params *params, const char *text) {
    const char *equals = strchr(text, '=');
    HT_FREED_TEXT struct ht_text key = {0};
    REQUIRE(equals && equals > text, HT_ERR_INPUT,
            "%s: an option on the command line is key=value, such as grid.order=4", HT_SHOWN(text));
    text += strspn(text, " \t");
    ht_text_add(&key, "%.*s", (int)strcspn(text, " \t="), text);
    TRY(ht_text_status(&key));
    return ht_config_read_value(key.data, equals + 1, visit_setting, params);
}

/* The file, and what is given beside it. */
struct reading {
    struct ht_params *params;
    int count;
    char *const *override;
};

/* A value that the command line replaces need not be one. */
static HT_ERR visit_file(void *data, const struct ht_setting *setting) {
    const struct reading *of = data;
    const enum ht_err err = visit_setting(of->params, setting);
    if (err != HT_ERR_INPUT || ht_option_find(setting->key) == NULL) return err;
    for (int i = 0; i < of->count; i++) {
        const char *text = of->override[i] + strspn(of->override[i], " \t");
        if (key_of(setting->key, HT_KEY("%.*s", (int)strcspn(text, " \t="), text)))
            return reset(of->params, setting->key);
    }
    return err;
}

/* A key that others decide. */
static HT_ERR derive(struct ht_params *params, const char *key) {
    HT_FREED_TEXT struct ht_text value = {0};
    ht_option_add_value(&value, params, ht_option_find(key));
    TRY(ht_text_status(&value));
    return remember(
        params, &(struct ht_setting){.key = key, .value = value.data, .place = "by grid.spacing"});
}

/* The third of cells, upper and spacing. What the command line has replaces what the file has of
 * the other two: the box, of which it knows the end at once, is kept. */
static HT_ERR complete_grid(struct ht_params *params, bool last) {
    const struct ht_value spacing = params->grid.spacing;
    const struct ht_source *cells = ht_params_source(params, "grid.cells");
    const struct ht_source *upper = ht_params_source(params, "grid.upper");
    const struct ht_source *own = ht_params_source(params, "grid.spacing");
    if (spacing.kind == HT_VALUE_NONE || (!last && (!cells || upper))) return HT_OK;
    params->grid.spacing = (struct ht_value){.kind = HT_VALUE_NONE};
    if (cells && upper && own->in_file && !cells->in_file) return HT_OK;
    if (!cells && upper) params->grid.dims = ht_params_entries(params, "grid.upper");
    if (cells && upper && cells->in_file && !own->in_file) cells = NULL;
    REFUSE(!cells && !upper, params, "grid.spacing",
           "needs grid.cells or grid.upper beside it, and the third follows");
    REFUSE(spacing.count != 1 && spacing.count != params->grid.dims, params, "grid.spacing",
           "must be a number, or one for each of the grid's %d axes", params->grid.dims);
    for (int k = 0; k < params->grid.dims; k++) {
        const double h = spacing.number[spacing.count > 1 ? k : 0], lower = params->grid.lower[k];
        int64_t *count = &params->grid.cells[k];
        double *end = &params->grid.upper[k];
        if (!upper) *end = lower + (double)*count * h;
        if (*end <= lower) continue; /* which ht_params_check refuses */
        const double fits = (*end - lower) / h;
        if (!cells) *count = (int64_t)fmin(fmax(round(fits), 1), INT32_MAX);
        REFUSE(!isfinite(fits) || !(fabs(fits - (double)*count) <= 1e-6 * fits), params,
               "grid.spacing",
               "x%d has %lld cells from %.9g to %.9g, %.9g apart, not %.9g: change one of "
               "grid.spacing, grid.upper and grid.cells, or leave one out",
               k + 1, (long long)*count, lower, *end, (*end - lower) / (double)*count, h);
    }
    if (!upper) TRY(derive(params, "grid.upper"));
    return cells ? HT_OK : derive(params, "grid.cells");
}

/* Whether a key of the initial data is given; the frequency is of estimates. */
static bool gives_data(const struct ht_params *params) {
    bool given = false;
    HT_EACH_BY(i, const char, key, params->sources->source[i].key, params->sources->count)
        given = given || (key_inside(key, "initial") && strcmp(key, "initial.frequency") != 0);
    return given;
}

HT_ERR ht_params_replace(struct ht_params *params, const char *by, const char *key, bool *left) {
    bool replaced = false, in_file = true;
    HT_EACH(const struct ht_source, source, params->sources->source, params->sources->count) {
        replaced = replaced || (key_of(source->key, by) && !source->in_file);
        in_file = in_file && (source->in_file || !key_of(source->key, key));
    }
    *left = replaced && in_file;
    return *left ? reset(params, key) : HT_OK;
}

/* A file alone makes the type "file", values alone "expression": on the command line they replace
 * the usual type of resolved inputs. */
static void choose_data(struct ht_params *params) {
    const struct ht_source *type = ht_params_source(params, "initial.type");
    const bool file = *params->initial.file != '\0';
    const struct ht_source *given =
        ht_params_gives(params, file ? "initial.file" : "initial.values");
    if (given == NULL || (!file && params->initial.values.count == 0)) return;
    const bool usual = !ht_params_is_set(params, "initial.type");
    if (type == NULL || (usual && type->in_file && !given->in_file))
        params->initial.type = file ? HT_DATA_FILE : HT_DATA_EXPRESSION;
}

static HT_ERR read_all(struct ht_params *params, const char *path, int noverrides,
                       char *const *overrides) {
    TRY(HT_TAKE(&params->pool, params->sources, 1));
    for (int i = 0; i < ht_option_count(); i++)
        TRY(ht_option_set_default(params, params, ht_option_at(i)));
    if (path && !ht_config_is_text(path))
        TRY(ht_pool_copy(&params->pool, path, &params->sources->input));
    struct reading file = {params, noverrides, overrides};
    if (path) TRY(ht_config_read_file(path, visit_file, &file));
    REQUIRE(!path || params->sources->count > 0 || noverrides > 0, HT_ERR_INPUT,
            "%s: sets nothing: an input file has keys, such as those of params/demo.cfg",
            HT_SHOWN_PLACE(path));
    TRY(complete_grid(params, false));
    for (int i = 0; i < noverrides; i++) TRY(ht_params_set(params, overrides[i]));
    TRY(complete_grid(params, true));
    /* Sources begin at rest, unless initial data are asked for. */
    if (params->shots.count != 0 && !gives_data(params)) params->initial.type = HT_DATA_ZERO;
    choose_data(params);
    TRY(ht_params_leave_aside(params));
    /* Makes relative names of files those from the current directory; once all is read. */
    struct ht_leaf leaf;
    for (int i = 0; ht_params_leaf(params, i, &leaf); i++) {
        char *const *name = file_name_at(params, &leaf);
        HT_FREED char *whole = NULL;
        const struct ht_source *source = ht_params_source(params, leaf.key);
        if (!name || **name == '/' || !source || !source->in_file) continue;
        TRY(ht_params_beside(params, *name, &whole));
        /* the member is ours, and its address is that of params */
        TRY(ht_pool_copy(&params->pool, whole, (char **)name));
    }
    return ht_params_check(params);
}

HT_ERR ht_params_read(const char *path, int noverrides, char *const *overrides,
                      struct ht_params **out) {
    HT_CREATE(out, read_all(*out, path, noverrides, overrides), ht_params_destroy);
}

void ht_params_destroy(struct ht_params *params) {
    if (!params) return;
    if (params->sources != NULL) free(params->sources->source);
    free(params->resume.from);
    ht_pool_free(&params->pool);
    free(params);
}

/* ---- the resolved input ---- */

static bool has_value(const void *base, const struct ht_option *option) {
    const void *at = (const char *)base + option->offset;
    if (option->type == HT_OPT_VALUE || option->type == HT_OPT_MEDIUM)
        return ((const struct ht_value *)at)->kind != HT_VALUE_NONE;
    if (option->type == HT_OPT_MAP) return ((const struct ht_map *)at)->count > 0;
    return true;
}

/* Closes the groups that the previous key was in and this one is not, opens those that it is in. */
static void change_group(struct ht_text *out, const char *previous, const char *key) {
    int common = 0;
    for (int i = 0; previous[i] && previous[i] == key[i]; i++) common += previous[i] == '.';
    for (int depth = count_of(previous, '.'); depth > common; depth--)
        ht_text_add(out, "%*s};\n", 4 * (depth - 1), "");
    const char *name = key;
    for (int depth = 0; depth < count_of(key, '.'); depth++) {
        int length = (int)strcspn(name, ".");
        if (depth >= common)
            ht_text_add(out, "%s%*s%.*s = {\n", depth ? "" : "\n", 4 * depth, "", length, name);
        name += length + 1;
    }
}

/* Names of files are absolute. */
static HT_ERR add_value(struct ht_text *out, const struct ht_params *params,
                        const struct ht_leaf *leaf) {
    char *const *path = file_name_at(params, leaf);
    HT_FREED char *absolute = NULL;
    if (path) TRY(absolute_path(*path, &absolute));
    if (path)
        ht_text_add_quoted(out, absolute, false);
    else
        ht_option_add_value(out, leaf->base, leaf->option);
    return HT_OK;
}

static HT_ERR add_line(struct ht_text *out, const struct ht_params *params,
                       const struct ht_leaf *leaf, int depth) {
    const char *name = ht_option_name(leaf->key);
    const bool given = has_value(leaf->base, leaf->option);
    ht_text_add(out, given ? "%*s%s = " : "%*s// %s is not set\n", 4 * depth, "", name);
    if (!given) return HT_OK;
    TRY(add_value(out, params, leaf));
    ht_text_add(out, ";\n");
    return HT_OK;
}

/* The groups of a list, whose values are the leaves from `index` on, which is moved behind them. */
static HT_ERR add_list(struct ht_text *out, const struct ht_params *params,
                       const struct ht_leaf *leaf, int depth, int *index) {
    const struct ht_option_list *list = ht_option_list(leaf->option);
    const struct ht_groups *groups =
        (const void *)((const char *)leaf->base + leaf->option->offset);
    ht_text_add(out, "%*s%s = (", 4 * depth, "", ht_option_name(leaf->key));
    for (int n = 0; n < groups->count; n++) {
        ht_text_add(out, n ? ", {\n" : "{\n");
        for (int k = 0; k < list->count; k++) {
            struct ht_leaf inside;
            if (ht_params_leaf(params, ++*index, &inside))
                TRY(add_line(out, params, &inside, depth + 1));
        }
        ht_text_add(out, "%*s}", 4 * depth, "");
    }
    ht_text_add(out, ");\n");
    return HT_OK;
}

/* "KEY = VALUE" lines of all keys but those that begin so, but device.precision and output.maps,
 * which hold what was before; and hashes of the files that are read, but of the initial state, of
 * which a run that goes on needs nothing. */
static HT_ERR add_keys(const struct ht_params *params, int others, const char *const *other,
                       struct ht_text *out) {
    struct ht_leaf leaf;
    for (int i = 0; ht_params_leaf(params, i, &leaf); i++) {
        int n = 0;
        while (n < others && strncmp(leaf.key, other[n], strlen(other[n])) != 0) n++;
        const bool kept =
            strcmp(leaf.key, "device.precision") == 0 || strncmp(leaf.key, "output.maps.", 12) == 0;
        if (n < others && !kept) continue;
        if (leaf.option->type == HT_OPT_LIST || !has_value(leaf.base, leaf.option)) continue;
        ht_text_add(out, "%s = ", leaf.key);
        TRY(add_value(out, params, &leaf));
        ht_text_add(out, "\n");
    }
    const char *key, *path;
    for (int n = 0; ht_params_reads(params, n, &key, &path); n++) {
        uint64_t hash;
        if (key == NULL || path == params->initial.file) continue;
        TRY(ht_file_hash(path, &hash));
        ht_text_add(out, "contents of %s = %016llx\n", key, (unsigned long long)hash);
    }
    return ht_text_status(out);
}

HT_ERR ht_params_physics(const struct ht_params *params, struct ht_text *out) {
    static const char *const others[] = {"output.", "device.", "parallel.", "time.end"};
    return add_keys(params, sizeof others / sizeof *others, others, out);
}

HT_ERR ht_params_identity(const struct ht_params *params, char out[17]) {
    static const char *const others[] = {"device.", "parallel."};
    HT_FREED_TEXT struct ht_text text = {0};
    TRY(add_keys(params, sizeof others / sizeof *others, others, &text));
    snprintf(out, 17, "%016llx", (unsigned long long)ht_hash(HT_HASH_SEED, text.data, text.length));
    return HT_OK;
}

HT_ERR ht_params_print(const struct ht_params *params, struct ht_text *out) {
    const char *previous = "";
    struct ht_leaf leaf;
    for (int i = 0; ht_params_leaf(params, i, &leaf); i++) {
        const char *key = leaf.option->key;
        int depth = count_of(key, '.');
        change_group(out, previous, key);
        ht_text_add(out, "%*s// %s\n", 4 * depth, "", leaf.option->help);
        if (leaf.option->type == HT_OPT_LIST)
            TRY(add_list(out, params, &leaf, depth, &i));
        else
            TRY(add_line(out, params, &leaf, depth));
        previous = key;
    }
    change_group(out, previous, "");
    return ht_text_status(out);
}
