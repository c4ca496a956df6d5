/* Parameters of a run as a test writes them: "key=value; key=value", or with blanks or bars
 * between. */
#pragma once

#include "test.h"

#include "htwave/params.h"

/* file: NULL or a file of parameters, which the options override. The text is printf's. */
HT_CHECKED HT_PRINTF(4, 5) static inline enum ht_err
    test_params(const char *file, char between, struct ht_params **out, const char *format, ...) {
    enum { MOST = 60, LONGEST = 8192 };
    const char ends[] = {between, '\0'}, skipped[] = {between, ' ', '\0'};
    TEST_TEXT(text, LONGEST, format);
    char *list[MOST];
    int count = 0;
    *out = NULL;
    REQUIRE(strlen(text) < LONGEST - 1, HT_ERR_INTERNAL, "text too long");
    for (char *at = text + strspn(text, skipped); *at && count < MOST; at += strspn(at, skipped)) {
        list[count++] = at;
        at += strcspn(at, ends);
        if (*at) *at++ = '\0';
    }
    return ht_params_read(file, count, list, out);
}
