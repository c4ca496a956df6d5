/* The resolved input: the options in the table's order, sections as groups, the meaning in front of
 * each. Numbers are written with the digits that read back to the same value. Options without a
 * value stand in a comment.
 */
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "params_parts.h"

static void indent(struct ht_text *out, int depth) {
    ht_text_add(out, "%*s", 4 * depth, "");
}

static bool has_value(const void *base, const struct ht_option *option) {
    const void *at = (const char *)base + option->offset;
    if (option->type == HT_OPT_VALUE || option->type == HT_OPT_MEDIUM)
        return ((const struct ht_value *)at)->kind != HT_VALUE_NONE;
    if (option->type == HT_OPT_MAP) return ((const struct ht_map *)at)->count > 0;
    return true;
}

/* Depth of the group that holds the key. */
static int depth_of(const char *key) {
    int count = 0;
    for (int i = 0; i < (int)strlen(key); i++) count += key[i] == '.';
    return count;
}

/* Groups that both keys are in. */
static int common_depth(const char *a, const char *b) {
    int common = 0;
    for (int i = 0; a[i] && a[i] == b[i]; i++) common += a[i] == '.';
    return common;
}

/* Closes the groups that the previous key was in and this one is not, opens those that it is in. */
static void change_group(struct ht_text *out, const char *previous, const char *key) {
    int common = common_depth(previous, key);
    for (int depth = depth_of(previous); depth > common; depth--) {
        indent(out, depth - 1);
        ht_text_add(out, "};\n");
    }
    const char *name = key;
    for (int depth = 0; depth < depth_of(key); depth++) {
        int length = (int)strcspn(name, ".");
        if (depth >= common) {
            ht_text_add(out, depth ? "" : "\n");
            indent(out, depth);
            ht_text_add(out, "%.*s = {\n", length, name);
        }
        name += length + 1;
    }
}

static enum ht_err add_path(struct ht_text *out, const char *path) {
    HT_FREED char *absolute = NULL;
    TRY(ht_params_absolute(path, &absolute));
    ht_config_add_string(out, absolute);
    return HT_OK;
}

/* "name = value;" or a comment that there is none. */
static enum ht_err add_line(struct ht_text *out, const struct ht_params *params,
                            const struct ht_leaf *leaf, int depth) {
    const char *path = ht_params_file_at(params, leaf);
    int section = ht_option_section(leaf->key);
    const char *name = leaf->key + (section ? section + 1 : 0);
    indent(out, depth);
    if (!has_value(leaf->base, leaf->option)) {
        ht_text_add(out, "// %s is not set\n", name);
        return HT_OK;
    }
    ht_text_add(out, "%s = ", name);
    if (path)
        TRY(add_path(out, path));
    else
        ht_option_add_value(out, leaf->base, leaf->option);
    ht_text_add(out, ";\n");
    return HT_OK;
}

/* The groups of a list, whose values are the leaves from `index` on, which is moved behind them. */
static enum ht_err add_list(struct ht_text *out, const struct ht_params *params,
                            const struct ht_leaf *leaf, int depth, int *index) {
    const struct ht_option_list *list = ht_option_list(leaf->option);
    const struct ht_groups *groups =
        (const void *)((const char *)leaf->base + leaf->option->offset);
    int section = ht_option_section(leaf->key);
    indent(out, depth);
    ht_text_add(out, "%s = (", leaf->key + (section ? section + 1 : 0));
    for (int n = 0; n < groups->count; n++) {
        ht_text_add(out, n ? ", {\n" : "{\n");
        for (int k = 0; k < list->count; k++) {
            struct ht_leaf inside;
            if (ht_params_leaf(params, ++*index, &inside))
                TRY(add_line(out, params, &inside, depth + 1));
        }
        indent(out, depth);
        ht_text_add(out, "}");
    }
    ht_text_add(out, ");\n");
    return HT_OK;
}

enum ht_err ht_params_print(const struct ht_params *params, struct ht_text *out) {
    const char *previous = "";
    struct ht_leaf leaf;
    for (int i = 0; ht_params_leaf(params, i, &leaf); i++) {
        const char *key = leaf.option->key;
        int depth = depth_of(key);
        change_group(out, previous, key);
        indent(out, depth);
        ht_text_add(out, "// %s\n", leaf.option->help);
        if (leaf.option->type == HT_OPT_LIST)
            TRY(add_list(out, params, &leaf, depth, &i));
        else
            TRY(add_line(out, params, &leaf, depth));
        previous = key;
    }
    change_group(out, previous, "");
    return ht_text_status(out);
}
