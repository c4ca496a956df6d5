/* Texts about options for error messages, the manual and the
 * resolved input.
 */
#ifndef HTWAVE_INPUT_OPTIONS_H
#define HTWAVE_INPUT_OPTIONS_H

#include "htwave/params.h"

/* "an integer", "true or false". */
const char *ht_option_type_words(const struct ht_option *option);
/* "> 0 and <= 1", "1..8", "one of a, b"; empty if everything is allowed.
 * Returns buffer, of at least 160 bytes. */
char *ht_option_range(const struct ht_option *option, char *buffer);
/* The option with this key, which may be in a list's group, or NULL. */
const struct ht_option *ht_option_find(const char *key);
/* A key inside a list, "initial.pulses.2.width". */
struct ht_list_key {
    const struct ht_option *option; /* of the list */
    const struct ht_option_list *list;
    int group;                   /* from 1; 0: no number stands there */
    const char *name;            /* "width"; empty: the group itself */
    const struct ht_option *row; /* of the name; NULL: there is none */
};
/* false: the key is not inside a list. */
bool ht_option_in_list(const char *key, struct ht_list_key *out);
/* Length of the section of a key: 4 for "grid.order", 0 for "system". */
int ht_option_section(const char *key);

#endif
