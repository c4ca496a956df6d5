/* The slices that pictures show: one of output.picture, or those of the list
 * output.picture.slices.
 */
#include "options.h"
#include "params_parts.h"

bool ht_params_slice(const struct ht_params *params, int index,
                     struct ht_slice_given *out) {
    const struct ht_slice_given *slices = params->output.picture.slices.group;
    const int count = params->output.picture.slices.count;
    if (index < count) {
        *out = slices[index];
        return true;
    }
    *out = (struct ht_slice_given){.plane = params->output.picture.plane,
                                   .position = params->output.picture.position,
                                   .field = params->output.picture.field,
                                   .range = params->output.picture.range};
    return count == 0 && index == 0;
}

char *ht_params_slice_name(const struct ht_params *params, int index,
                           char name[HT_SLICE_NAME]) {
    const struct ht_slice_given *slices = params->output.picture.slices.group;
    if (params->output.picture.slices.count == 0)
        *name = '\0';
    else if (*slices[index].name)
        snprintf(name, HT_SLICE_NAME, "%.*s", HT_SLICE_NAME - 1,
                 slices[index].name);
    else
        snprintf(name, HT_SLICE_NAME, "slice-%d", index + 1);
    return name;
}

char *ht_params_slice_key(const struct ht_params *params, int index,
                          const char *member, char key[HT_SLICE_KEY]) {
    if (params->output.picture.slices.count == 0)
        snprintf(key, HT_SLICE_KEY, "output.picture.%s", member);
    else
        snprintf(key, HT_SLICE_KEY, "output.picture.slices.%d.%s", index + 1,
                 member);
    return key;
}

static char *slice_name(const struct ht_params *params, int n, char *name) {
    return ht_params_slice_name(params, n - 1, name);
}

enum ht_err ht_params_check_slices(const struct ht_params *params) {
    static const char *const single[] = {
        "output.picture.plane", "output.picture.position",
        "output.picture.field", "output.picture.range"};
    const int count = params->output.picture.slices.count;
    for (size_t i = 0; count > 0 && i < sizeof single / sizeof *single; i++)
        if (ht_params_is_set(params, single[i]))
            return ht_params_error(params, single[i],
                                   "output.picture.slices is given too, whose "
                                   "groups have their own: give one of them");
    const struct ht_slice_given *slices = params->output.picture.slices.group;
    for (int n = 1; n <= count; n++) {
        char key[HT_SLICE_KEY];
        ht_params_slice_key(params, n - 1, "name", key);
        TRY(ht_params_check_name(params, key, slices[n - 1].name, "slice", n,
                                 slice_name));
    }
    return HT_OK;
}
