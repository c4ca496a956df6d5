/* Words for options, shared by the error messages, the manual and the
 * resolved input.
 */
#ifndef HTWAVE_CORE_OPTIONS_H
#define HTWAVE_CORE_OPTIONS_H

#include "htwave/params.h"

/* "an integer", "true or false". */
const char *ht_option_type_words(const struct ht_option *option);
/* "> 0 and <= 1", "1..8", "one of a, b"; empty when everything is allowed.
 * Returns buffer, of at least 160 bytes. */
char *ht_option_range(const struct ht_option *option, char *buffer);
/* The option of that key, or NULL. */
const struct ht_option *ht_option_find(const char *key);
/* Length of the section of a key: 4 for "grid.order", 0 for "system". */
int ht_option_section(const char *key);

#endif
