/* Rules between the keys of a group of receivers: each type has keys of its
 * own, all of which must be given. Names become those of groups and files.
 */
#include "options.h"
#include "params_parts.h"

enum { KEY = 96 };

static const struct ht_owned owned[] = {
    {"position", 1u << HT_RECEIVER_POINT},
    {"from", 1u << HT_RECEIVER_LINE | 1u << HT_RECEIVER_PLANE},
    {"to", 1u << HT_RECEIVER_LINE | 1u << HT_RECEIVER_PLANE},
    {"side", 1u << HT_RECEIVER_PLANE},
    {"count", 1u << HT_RECEIVER_LINE | 1u << HT_RECEIVER_PLANE},
    {"count2", 1u << HT_RECEIVER_PLANE},
    {"file", 1u << HT_RECEIVER_FILE},
    {NULL, 0},
};

static enum ht_err check_type(const struct ht_params *p,
                              const struct ht_receivers_given *group, int n) {
    char key[KEY];
    TRY(ht_params_check_owned(p, "receivers", n, owned, (int)group->type,
                              ht_receiver_type_word(group->type)));
    if (group->type != HT_RECEIVER_FILE || *group->file) return HT_OK;
    snprintf(key, sizeof key, "receivers.%d.file", n);
    return ht_params_error(p, key, "must name a file of positions");
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
        char key[KEY];
        snprintf(key, sizeof key, "receivers.%d.name", n);
        TRY(check_type(params, &group[n - 1], n));
        TRY(ht_params_check_name(params, key, group[n - 1].name, "group", n,
                                 ht_params_receivers_name));
        TRY(check_every(params, &group[n - 1].every, n));
    }
    return HT_OK;
}
