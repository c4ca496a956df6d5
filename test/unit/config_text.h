/* Inputs as texts: what is read of them, and what is refused in which words. */
#pragma once

#include <unistd.h>

#include "must.h"

#include "htwave/params.h"
#include "io/scratch.h"
#include "src/input/options.h"

/* Reads text as the file x.cfg, "" none, with overrides up to a NULL. */
static inline enum ht_err read_text(const char *text, const char *const *overrides,
                                    struct ht_params **out) {
    enum { MOST = 4 };
    char copy[MOST][256], *list[MOST];
    int count = 0;
    *out = NULL;
    for (; overrides && count < MOST && overrides[count]; count++) {
        snprintf(copy[count], sizeof copy[count], "%s", overrides[count]);
        list[count] = copy[count];
    }
    TRY(ht_file_write("x.cfg", text, strlen(text)));
    return ht_params_read(*text ? "x.cfg" : NULL, count, list, out);
}
/* With up to two overrides, or NULL; to be destroyed. */
static inline struct ht_params *params_of(const char *text, const char *first, const char *second) {
    const char *const overrides[] = {first, second, NULL};
    struct ht_params *params = NULL;
    must(read_text(text, overrides, &params));
    return params;
}

static inline void expect_refused(const char *text, const char *override, const char *message) {
    const char *const overrides[] = {override, NULL};
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    enum ht_err err = read_text(text, overrides, &params);
    const char *got = err ? ht_err_message() : "accepted";
    TEST_CHECK(err == HT_ERR_INPUT && !params && strcmp(got, message) == 0, "refused: %s", got);
    if (strcmp(got, message) != 0) printf("     expected: %s\n", message);
}

/* Text of the parameters; the caller frees. */
static inline char *printed(const struct ht_params *params) {
    struct ht_text text = {0};
    if (ht_params_print(params, &text) != HT_OK) ht_text_free(&text);
    return text.data;
}

/* What a text with overrides gives. values: "KEY = VALUE" as the resolved input has it, of a list
 * of groups their number, with bars between. */
struct reading {
    const char *what, *text, *overrides[4], *values; /* the last override is NULL */
};

static inline void expect_reading(const struct reading *row) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    HT_FREED_TEXT struct ht_text all = {0};
    HT_FREED char *values = NULL;
    struct ht_leaf leaf;
    must(read_text(row->text, row->overrides, &params));
    for (int i = 0; ht_params_leaf(params, i, &leaf); i++) {
        const struct ht_groups *groups =
            (const void *)((const char *)leaf.base + leaf.option->offset);
        ht_text_add(&all, "|%s = ", leaf.key);
        ht_option_add_value(&all, leaf.base, leaf.option);
        if (leaf.option->type == HT_OPT_LIST) ht_text_add(&all, "%d", groups->count);
    }
    ht_text_add(&all, "|");
    must(ht_text_copy(row->values, &values));
    for (char *part = strtok(values, "|"); part != NULL; part = strtok(NULL, "|"))
        TEST_CHECK(strstr(all.data, HT_KEY("|%s|", part)) != NULL, "%s: %s", row->what, part);
}
