/* Parameters of a run as a test writes them: "key=value; key=value", or with blanks between. */
#pragma once

#include <string.h>

#include "htwave/params.h"

/* file: NULL or a file of parameters, which the options override. */
static inline enum ht_err test_params(const char *file, char between, const char *text,
                                      struct ht_params **out) {
    enum { MOST = 60, LONGEST = 4096 };
    const char ends[] = {between, '\0'}, skipped[] = {between, ' ', '\0'};
    char copy[LONGEST], *list[MOST];
    int count = 0;
    *out = NULL;
    REQUIRE(strlen(text) < sizeof copy, HT_ERR_INTERNAL, "text too long");
    memcpy(copy, text, strlen(text) + 1);
    for (char *at = copy + strspn(copy, skipped); *at && count < MOST; at += strspn(at, skipped)) {
        list[count++] = at;
        at += strcspn(at, ends);
        if (*at) *at++ = '\0';
    }
    return ht_params_read(file, count, list, out);
}
