/* Input text as settings, one after the other, without libconfig's types. */
#pragma once

#include "htwave/base.h"

enum ht_scalar_kind { HT_SCALAR_INT, HT_SCALAR_REAL, HT_SCALAR_BOOL, HT_SCALAR_STRING };
struct ht_scalar {
    enum ht_scalar_kind kind;
    int64_t integer;
    double real; /* of an integer too */
    bool flag;
    const char *text;
};

/* What a visitor sees; all of it lives only during the visit. A group comes before its members, a
 * list with groups in it before these, whose keys end in their number from 1: "initial.pulses.2",
 * "initial.pulses.2.width". */
struct ht_setting {
    const char *key;   /* "grid.order" */
    const char *place; /* "params/x.cfg:14", "command line" */
    const char *value; /* as text, for messages */
    const char *raw;   /* as typed on the command line; else NULL */
    bool in_file;      /* else on the command line */
    enum ht_setting_kind {
        HT_SETTING_SCALAR,
        HT_SETTING_ARRAY, /* of scalars */
        HT_SETTING_GROUP,
        HT_SETTING_NESTED /* a list with groups or lists in it */
    } kind;
    int count; /* scalars: 1 for HT_SETTING_SCALAR */
    const struct ht_scalar *item;
};
typedef enum ht_err ht_config_visit(void *data, const struct ht_setting *setting);

/* Whether the name of an input is its text. */
static inline bool ht_config_is_text(const char *path) {
    return strchr(path, '\n') != NULL;
}
/* Visits the settings of a file, or of a text, in order; stops at the first error. */
HT_ERR ht_config_read_file(const char *path, ht_config_visit *visit, void *data);
/* Visits key = text, text being a value in libconfig's syntax or a bare word, taken as a string. */
HT_ERR ht_config_read_value(const char *key, const char *text, ht_config_visit *visit, void *data);

/* A number that reads back to the same value and is not an integer's text. */
void ht_config_add_real(struct ht_text *out, double value);
