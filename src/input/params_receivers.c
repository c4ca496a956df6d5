/* Rules between the keys of a group of receivers: each type has keys of its
 * own, all of which must be given. Names become those of groups and files.
 */
#include <ctype.h>
#include <string.h>

#include "options.h"
#include "params_parts.h"

enum { KEY = 96 };

/* Keys that belong to some types. */
static const struct {
    const char *key;
    unsigned types; /* bit per enum ht_receiver_type */
} owned[] = {
    {"position", 1u << HT_RECEIVER_POINT},
    {"from", 1u << HT_RECEIVER_LINE | 1u << HT_RECEIVER_PLANE},
    {"to", 1u << HT_RECEIVER_LINE | 1u << HT_RECEIVER_PLANE},
    {"side", 1u << HT_RECEIVER_PLANE},
    {"count", 1u << HT_RECEIVER_LINE | 1u << HT_RECEIVER_PLANE},
    {"count2", 1u << HT_RECEIVER_PLANE},
    {"file", 1u << HT_RECEIVER_FILE},
};
enum { OWNED = sizeof owned / sizeof *owned };

static enum ht_err check_owned(const struct ht_params *p,
                               const struct ht_receivers_given *group, int n) {
    const char *type = ht_receiver_type_word(group->type);
    for (int i = 0; i < OWNED; i++) {
        char whole[KEY], key[KEY];
        snprintf(whole, sizeof whole, "receivers.%d", n);
        snprintf(key, sizeof key, "receivers.%d.%s", n, owned[i].key);
        const bool given = ht_params_source(p, key) != NULL;
        const bool wanted = owned[i].types >> group->type & 1u;
        if (wanted && !given)
            return ht_params_error(p, whole, "must give %s: its type is \"%s\"",
                                   owned[i].key, type);
        if (wanted) TRY(ht_params_check_axes(p, ht_option_find(key), key));
        if (!wanted && ht_params_is_set(p, key))
            return ht_params_error(p, key,
                                   "does not belong to receivers of type "
                                   "\"%s\"",
                                   type);
    }
    if (group->type == HT_RECEIVER_FILE && !*group->file) {
        char key[KEY];
        snprintf(key, sizeof key, "receivers.%d.file", n);
        return ht_params_error(p, key, "must name a file of positions");
    }
    return HT_OK;
}

bool ht_params_is_name(const char *name) {
    if (strlen(name) > HT_LONGEST_NAME) return false;
    while (isalnum((unsigned char)*name) || *name == '_' || *name == '-')
        name++;
    return !*name;
}

static enum ht_err check_name(const struct ht_params *p,
                              const struct ht_receivers_given *group, int n) {
    char key[KEY], name[HT_RECEIVERS_NAME], other[HT_RECEIVERS_NAME];
    snprintf(key, sizeof key, "receivers.%d.name", n);
    if (!ht_params_is_name(group[n - 1].name))
        return ht_params_error(p, key,
                               "must be at most %d letters, digits, - and _: "
                               "it becomes a part of file names",
                               HT_LONGEST_NAME);
    ht_params_receivers_name(p, n, name);
    for (int i = 1; i < n; i++)
        if (strcmp(name, ht_params_receivers_name(p, i, other)) == 0)
            return ht_params_error(p, key,
                                   "group %d of receivers has the name \"%s\", "
                                   "too: names must differ",
                                   i, name);
    return HT_OK;
}

char *ht_params_receivers_name(const struct ht_params *params, int n,
                               char name[HT_RECEIVERS_NAME]) {
    const struct ht_receivers_given *group = params->receivers.group;
    if (*group[n - 1].name)
        snprintf(name, HT_RECEIVERS_NAME, "%.*s", HT_RECEIVERS_NAME - 1,
                 group[n - 1].name);
    else
        snprintf(name, HT_RECEIVERS_NAME, "receivers-%d", n);
    return name;
}

static enum ht_err check_every(const struct ht_params *p,
                               const struct ht_value *every, int n) {
    char key[KEY];
    snprintf(key, sizeof key, "receivers.%d.every", n);
    if (every->kind != HT_VALUE_NUMBERS || every->count == 1) return HT_OK;
    return ht_params_error(p, key, "must be one time, or \"step\"");
}

enum ht_err ht_params_check_receivers(const struct ht_params *params) {
    const struct ht_receivers_given *group = params->receivers.group;
    for (int n = 1; n <= params->receivers.count; n++) {
        TRY(check_owned(params, &group[n - 1], n));
        TRY(check_name(params, group, n));
        TRY(check_every(params, &group[n - 1].every, n));
    }
    return HT_OK;
}
