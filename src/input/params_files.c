/* Names of files that a run reads. A relative one in an input file is meant from the folder of that
 * file, so that an input and its data move together and runs start from anywhere; one on the
 * command line is meant from the current directory, as the shell completes it. Once the parameters
 * are read, all of them are meant from the current directory; printed they are absolute, so that
 * the resolved input can stand in another folder.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "params_parts.h"

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

const char *ht_params_file_at(const struct ht_params *params, const struct ht_leaf *leaf) {
    char *const *name = file_name_at(params, leaf);
    return name ? *name : NULL;
}

/* A file that this run's kind of initial data does not need is not read. */
static bool is_read(const struct ht_params *params, const struct ht_option *option) {
    return strcmp(option->key, "initial.file") != 0 || strcmp(params->initial.type, "file") == 0;
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
        if (!name || !is_read(params, leaf.option) || index-- > 0) continue;
        const struct ht_source *source = ht_params_source(params, leaf.key);
        *key = source ? source->key : leaf.option->key;
        *path = *name;
        return true;
    }
    return false;
}

enum ht_err ht_params_resolve(struct ht_params *params) {
    const char *input = params->sources->input;
    const char *slash = input ? strrchr(input, '/') : NULL;
    struct ht_leaf leaf;
    for (int i = 0; slash && ht_params_leaf(params, i, &leaf); i++) {
        char *const *name = file_name_at(params, &leaf);
        char *whole = NULL;
        if (!name || **name == '/' || !ht_params_in_file(params, leaf.key)) continue;
        TRY(ht_text_print(&whole, "%.*s%s", (int)(slash - input) + 1, input, *name));
        free(*name);
        /* the member is ours, and its address is that of params */
        *(char **)name = whole;
    }
    return HT_OK;
}

enum ht_err ht_params_absolute(const char *path, char **out) {
    size_t room = 256;
    char *here = NULL;
    *out = NULL;
    if (*path == '/') return ht_text_copy(path, out);
    enum ht_err err = HT_ALLOC(here, room);
    while (!err && !getcwd(here, room)) {
        char *more = errno == ERANGE ? realloc(here, room *= 2) : NULL;
        if (!more)
            err = ht_err_set(HT_ERR_IO,
                             "the current directory has no "
                             "name: %s",
                             strerror(errno));
        if (more) here = more;
    }
    while (strncmp(path, "./", 2) == 0) path += 2;
    if (!err) err = ht_file_path(here, path, out);
    free(here);
    return err;
}
