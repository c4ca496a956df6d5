/* Texts about options for error messages, the manual and the resolved input. */
#pragma once

#include "config.h"
#include "htwave/params.h"

/* ---- rows of options ---- */
/* The text "a|b|c" of a list of choices. */
#define WORD(constant, word) "|" word
/* Of a row, from its key to what goes before its default. */
#define HT_MEMBER_OF(of, option_type, name, member) \
    .key = (name), .type = HT_OPT_##option_type, .offset = offsetof(struct of, member)
#define HT_OPT_CHOICE(of, each) HT_OPT_CHOICE, .choices = &(each(WORD))[1]
#define HT_OPT_AXIS HT_OPT_CHOICE(, HT_EACH_AXIS)
#define HT_OPT_WORDS(words) HT_OPT_CHOICE, .choices = (words)
#define HT_OPT_ONE_OF(words) HT_OPT_STRING, .choices = (words)
#define HT_OPT_ONE(words) HT_OPT_ONE, .choices = (words)
#define ANY 1, 0 /* low > high: no range */
#define POSITIVE DBL_MIN, DBL_MAX
#define NOT_NEGATIVE 0, DBL_MAX

/* ---- types.c ---- */
/* base is what holds the option's member: params or a group of a list of theirs. */
/* "an integer", "true or false". */
const char *ht_option_type_words(const struct ht_option *option);
/* Checks type and range, stores; the option holds its default. Messages name the setting's key. */
HT_ERR ht_option_store(struct ht_params *params, void *base, const struct ht_option *option,
                       const struct ht_setting *setting);
/* Gives the option its default, or nothing. */
HT_ERR ht_option_set_default(struct ht_params *params, void *base, const struct ht_option *option);
/* A member of a map, replacing one of its name; setting->key is "map.member". */
HT_ERR ht_option_store_member(struct ht_params *params, const struct ht_option *option,
                              const struct ht_setting *setting);
/* The value as input files have it; nothing of a list. */
void ht_option_add_value(struct ht_text *out, const void *base, const struct ht_option *option);

/* ---- options.c, options_help.c ---- */
/* "> 0 and <= 1", "1..8", "one of a, b"; empty if everything is allowed. Returns buffer, of at
 * least 160 bytes. */
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
/* Refuses a setting of an unknown key or group: `what`, near this one (NULL:
 * none), or else `has`, to follow `what`, and these names. */
enum ht_err ht_option_unknown(const struct ht_setting *setting, const char *what, const char *near,
                              const char *has, int count, const char *const *names);
/* ---- sources.c ---- */
extern const char ht_source_type_words[], ht_source_type_help[], ht_source_kind_words[],
    ht_source_kind_help[];

/* Length of the section of a key: 4 for "grid.order", 0 for "system". */
int ht_option_section(const char *key);
/* What follows it: "order". */
const char *ht_option_name(const char *key);

/* ---- params.c ---- */
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

/* One value of the parameters, in a list's group or not. */
struct ht_leaf {
    const struct ht_option *option;
    const void *base;
    char key[96];
};
/* For index 0, 1, ..: false when there are no more. */
bool ht_params_leaf(const struct ht_params *params, int index, struct ht_leaf *leaf);
/* Whether a key of a group must be given: it has no default, and its type no "not set". */
bool ht_option_needed(const struct ht_option *row);
/* Where the key was set; NULL: nowhere. */
struct ht_source *ht_params_source(const struct ht_params *params, const char *key);

/* left: keys of `by` on the command line replace what the file alone gives for the key, which
 * gets its default, as if it were not given. */
HT_ERR ht_params_replace(struct ht_params *params, const char *by, const char *key, bool *left);

/* ---- params_rules.c ---- */
/* Refuses keys that have no meaning beside others, or replaces them. */
HT_ERR ht_params_leave_aside(struct ht_params *params);
/* Rules between options that the parameters alone decide. */
HT_ERR ht_params_check(const struct ht_params *params);
