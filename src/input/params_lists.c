/* Lists of groups, sources = ( { ... }, { ... } ). A group is a structure of its list's size in an
 * array that grows by one with each group read. Its keys are those of the list's rows, under
 * "list.N.": so messages, overrides and the record of what was set where need no other words than
 * for any key.
 */
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "params_parts.h"

static struct ht_groups *groups_of(const struct ht_params *params, const struct ht_option *option) {
    return (struct ht_groups *)((char *)params + option->offset);
}

/* Group number n, counted from 1. */
static void *group_at(const struct ht_groups *groups, const struct ht_option_list *list, int n) {
    return (char *)groups->group + (size_t)(n - 1) * list->size;
}

/* ---- all values ---- */

bool ht_params_leaf(const struct ht_params *params, int index, struct ht_leaf *leaf) {
    for (int i = 0; i < ht_option_count(); i++) {
        const struct ht_option *option = ht_option_at(i);
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

/* ---- reading ---- */

/* The keys of a group start from their defaults. */
static enum ht_err set_defaults(void *group, const struct ht_option_list *list) {
    for (int k = 0; k < list->count; k++) TRY(ht_option_set_default(group, &list->option[k]));
    return HT_OK;
}

static enum ht_err append_group(struct ht_params *params, const struct ht_list_key *in) {
    struct ht_groups *groups = groups_of(params, in->option);
    size_t size = in->list->size;
    if (groups->count >= (int)in->option->high)
        return ht_params_error(params, in->option->key, "must have at most %d groups",
                               (int)in->option->high);
    char *more = realloc(groups->group, ((size_t)groups->count + 1) * size);
    REQUIRE(more, HT_ERR_MEMORY, "out of memory");
    memset(more + (size_t)groups->count * size, 0, size);
    groups->group = more;
    groups->count++;
    return set_defaults(group_at(groups, in->list, groups->count), in->list);
}

static enum ht_err fail_no_group(const struct ht_params *params, const struct ht_list_key *in,
                                 const struct ht_setting *setting) {
    int count = groups_of(params, in->option)->count;
    FAIL(HT_ERR_INPUT, "%s = %s: %s has no such group; it has %d, counted from 1 (%s)",
         HT_SHOWN(setting->key), HT_SHOWN(setting->value), in->list->key, count,
         HT_SHOWN_PLACE(setting->place));
}

/* The group itself, which stands before its keys: a new one, or on the command line one that
 * replaces another. */
static enum ht_err visit_group(struct ht_params *params, const struct ht_list_key *in,
                               const struct ht_setting *setting) {
    struct ht_groups *groups = groups_of(params, in->option);
    if (setting->kind != HT_SETTING_GROUP)
        FAIL(HT_ERR_INPUT, "%s = %s: group %d of %s must be { ... } (%s)", HT_SHOWN(setting->key),
             HT_SHOWN(setting->value), in->group, in->list->key, HT_SHOWN_PLACE(setting->place));
    if (in->group < 1 || in->group > groups->count + 1) return fail_no_group(params, in, setting);
    ht_params_forget(params, setting->key);
    if (in->group == groups->count + 1) {
        TRY(append_group(params, in));
    } else {
        TRY(set_defaults(group_at(groups, in->list, in->group), in->list));
    }
    return ht_params_remember(params, setting);
}

/* The row whose name is near, or what other programs call it; NULL: none. */
static const char *nearest_row(const char *name, int count, const char *const *known) {
    const char *near = ht_text_nearest(name, known, count), *word;
    for (int i = 0; !near && (word = ht_params_synonym(name, i)) != NULL; i++)
        for (int k = 0; k < count; k++)
            if (strcmp(word, known[k]) == 0) near = known[k];
    return near;
}

static enum ht_err fail_unknown_row(const struct ht_list_key *in,
                                    const struct ht_setting *setting) {
    const char *known[32];
    char what[128];
    int count = 0;
    for (; count < in->list->count && count < 32; count++)
        known[count] = in->list->option[count].key;
    snprintf(what, sizeof what, "key in group %d of %s", in->group, in->list->key);
    return ht_option_unknown(setting, what, nearest_row(in->name, count, known),
                             ", whose groups have the keys", count, known);
}

/* A key whose group has no number: of the command line. */
static enum ht_err fail_no_number(const struct ht_list_key *in, const struct ht_setting *setting) {
    FAIL(HT_ERR_INPUT,
         "%s: %s is a list of groups, counted from 1: give %s.1.%s, or the "
         "whole list (%s)",
         HT_SHOWN(setting->key), in->list->key, in->list->key, in->list->option[0].key,
         HT_SHOWN_PLACE(setting->place));
}

enum ht_err ht_params_visit_list(struct ht_params *params, const struct ht_list_key *in,
                                 const struct ht_setting *setting) {
    struct ht_groups *groups = groups_of(params, in->option);
    if (in->group == 0 && *in->name) return fail_no_number(in, setting);
    if (*in->name == '\0') return visit_group(params, in, setting);
    if (!in->row) return fail_unknown_row(in, setting);
    if (in->group > groups->count) return fail_no_group(params, in, setting);
    void *group = group_at(groups, in->list, in->group);
    TRY(ht_params_remember(params, setting));
    TRY(ht_option_set_default(group, in->row));
    return ht_option_store(group, in->row, setting);
}

/* ---- once all is read ---- */

/* Without a value: "not given" is one, of types that have it. */
static bool must_be_given(const struct ht_option *row) {
    return !row->fallback && row->type != HT_OPT_VALUE && row->type != HT_OPT_MEDIUM;
}

enum ht_err ht_params_check_axes(const struct ht_params *params, const struct ht_option *row,
                                 const char *key) {
    const struct ht_source *source = ht_params_source(params, key);
    int entries = 1;
    if (row->type != HT_OPT_REAL3 && row->type != HT_OPT_INT3) return HT_OK;
    for (const char *c = source->value; *c; c++) entries += *c == ',';
    if (entries >= params->grid.dims) return HT_OK;
    return ht_params_error(params, key,
                           "must have an entry for each of the grid's %d axes "
                           "(grid.cells)",
                           params->grid.dims);
}

static enum ht_err check_group(const struct ht_params *params, const struct ht_option_list *list,
                               int n) {
    char group[80], key[96];
    snprintf(group, sizeof group, "%s.%d", list->key, n);
    for (int k = 0; k < list->count; k++) {
        snprintf(key, sizeof key, "%s.%s", group, list->option[k].key);
        if (!must_be_given(&list->option[k])) continue;
        if (!ht_params_source(params, key))
            return ht_params_error(params, group, "must give %s", list->option[k].key);
        TRY(ht_params_check_axes(params, &list->option[k], key));
    }
    return HT_OK;
}

enum ht_err ht_params_check_lists(const struct ht_params *params) {
    for (int i = 0; i < ht_option_count(); i++) {
        const struct ht_option *option = ht_option_at(i);
        const struct ht_option_list *list = ht_option_list(option);
        for (int n = 1; list && n <= groups_of(params, option)->count; n++)
            TRY(check_group(params, list, n));
    }
    return HT_OK;
}

bool ht_params_pulse(const struct ht_params *params, int index, struct ht_pulse *out) {
    const struct ht_pulse *pulses = params->initial.pulses.group;
    if (index < params->initial.pulses.count) {
        *out = pulses[index];
        return true;
    }
    *out = (struct ht_pulse){.width = params->initial.width,
                             .amplitude = params->initial.amplitude,
                             .field = params->initial.field};
    for (int k = 0; k < 3; k++) out->centre[k] = params->initial.centre[k];
    return params->initial.pulses.count == 0 && index == 0;
}
