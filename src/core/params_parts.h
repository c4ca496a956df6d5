/* What the files params*.c share. */
#ifndef HTWAVE_CORE_PARAMS_PARTS_H
#define HTWAVE_CORE_PARAMS_PARTS_H

#include "config.h"
#include "htwave/params.h"

/* Where a key was set and to what, for messages. */
struct ht_source {
    char *key, *value, *place;
};
struct ht_sources {
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

/* ---- params_rules.c ---- */
/* Rules between options that the parameters alone decide. */
HT_CHECKED enum ht_err ht_params_check(const struct ht_params *params);

#endif
