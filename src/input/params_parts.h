/* What the files params*.c share. */
#pragma once

#include "config.h"
#include "options.h"

/* Where a key was set and to what, for messages. */
struct ht_source {
    char *key, *value, *place;
    bool in_file; /* else on the command line */
};
struct ht_sources {
    char *input; /* the file; NULL: none */
    int count;
    int64_t room;
    struct ht_source *source;
};

/* ---- params.c ---- */
/* One value of the parameters, in a list's group or not. */
struct ht_leaf {
    const struct ht_option *option;
    const void *base;
    char key[96];
};
/* For index 0, 1, ..: false when there are no more. */
bool ht_params_leaf(const struct ht_params *params, int index, struct ht_leaf *leaf);
/* Every group has the keys that it must have. */
HT_CHECKED enum ht_err ht_params_check_lists(const struct ht_params *params);

/* A vector in a group, which was given, has an entry for each axis of the grid:
 * what it leaves out has no default. */
HT_CHECKED enum ht_err ht_params_check_axes(const struct ht_params *params,
                                            const struct ht_option *row, const char *key);

/* Where the key was set; NULL: nowhere. */
const struct ht_source *ht_params_source(const struct ht_params *params, const char *key);

/* ---- params_names.c ---- */
/* The name that users of other programs give to an option: the option's last name, for index 0, 1,
 * ..; NULL: there are no more. */
const char *ht_params_synonym(const char *word, int index);
/* Fail: there is no such key, or group, but one that may have been meant. */
HT_CHECKED enum ht_err ht_params_unknown_key(const struct ht_setting *setting);
HT_CHECKED enum ht_err ht_params_unknown_group(const struct ht_setting *setting);

/* The name of a file that the value is, or NULL. */
const char *ht_params_file_at(const struct ht_params *params, const struct ht_leaf *leaf);
/* A name that holds in every directory; the caller frees it. */
HT_CHECKED enum ht_err ht_params_absolute(const char *path, char **out);

/* ---- params_rules.c ---- */
/* Rules between options that the parameters alone decide. */
HT_CHECKED enum ht_err ht_params_check(const struct ht_params *params);
