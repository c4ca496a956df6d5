/* What the files params*.c share. */
#ifndef HTWAVE_CORE_PARAMS_PARTS_H
#define HTWAVE_CORE_PARAMS_PARTS_H

#include "config.h"
#include "htwave/params.h"

/* Where a key was set and to what, for messages. */
struct ht_source {
    char *key, *value, *place;
    bool in_file; /* else on the command line */
};
struct ht_sources {
    char *input; /* the file; NULL: none */
    int count;
    struct ht_source *source;
};

/* ---- params_store.c ---- */
/* Frees the option's value and leaves nothing. */
void ht_params_clear(struct ht_params *params, const struct ht_option *option);
/* Checks type and range and stores; the option was cleared or holds its
 * default. */
HT_CHECKED enum ht_err ht_params_store(struct ht_params *params,
                                       const struct ht_option *option,
                                       const struct ht_setting *setting);
/* A member of a map, replacing one of its name; setting->key is
 * "map.member". */
HT_CHECKED enum ht_err ht_params_store_member(struct ht_params *params,
                                              const struct ht_option *option,
                                              const struct ht_setting *setting);

/* ---- params.c ---- */
/* The value stands in the input file, not on the command line. */
bool ht_params_in_file(const struct ht_params *params, const char *key);

/* ---- params_files.c ---- */
/* Makes relative names of files in the input file those from the current
 * directory; once all is read. */
HT_CHECKED enum ht_err ht_params_resolve(struct ht_params *params);
/* The name of a file that the key's value is, or NULL. */
const char *ht_params_file(const struct ht_params *params, const char *key);
/* A name that holds in every directory; the caller frees it. */
HT_CHECKED enum ht_err ht_params_absolute(const char *path, char **out);

/* ---- params_rules.c ---- */
/* Rules between options that the parameters alone decide. */
HT_CHECKED enum ht_err ht_params_check(const struct ht_params *params);

#endif
