/* Members of a JSON object, appended to a text. A number that is not finite is left out. */
#pragma once

#include "htwave/base.h"

struct ht_json {
    struct ht_text text;
    bool members; /* the open object or array has some already */
    int depth;    /* of open objects and arrays */
};

/* What is added to it, NULL for name inside an array, and of the outermost object: values, of which
 * a number that is not finite and a text NULL are left out; or a bracket, that of the outermost
 * object ends the line. */
struct ht_member {
    enum {
        HT_JSON_END,
        HT_JSON_NUMBER,
        HT_JSON_INTEGER,
        HT_JSON_BOOL,
        HT_JSON_TEXT,
        HT_JSON_OPEN,
        HT_JSON_CLOSE
    } kind;
    const char *name;
    double number;
    int64_t integer; /* or bool, or bracket */
    const char *text;
    int count; /* of an array; of these: */
    const double *numbers;
    const int64_t *integers;
};
#define HT_NUM(of, v) ((struct ht_member){HT_JSON_NUMBER, (of), .number = (v)})
/* 0: not known, left out. */
#define HT_KNOWN(of, v) HT_NUM(of, (v) > 0 ? (v) : (double)NAN)
#define HT_INT(of, v) ((struct ht_member){HT_JSON_INTEGER, (of), .integer = (v)})
#define HT_BOOL(of, v) ((struct ht_member){HT_JSON_BOOL, (of), .integer = (v)})
#define HT_TEXT(of, v) ((struct ht_member){HT_JSON_TEXT, (of), .text = (v)})
#define HT_NUMS(of, n, v) ((struct ht_member){HT_JSON_NUMBER, (of), .count = (n), .numbers = (v)})
#define HT_INTS(of, n, v) ((struct ht_member){HT_JSON_INTEGER, (of), .count = (n), .integers = (v)})
#define HT_OPEN(of, bracket) ((struct ht_member){HT_JSON_OPEN, (of), .integer = (bracket)})
#define HT_CLOSE(bracket) ((struct ht_member){HT_JSON_CLOSE, NULL, .integer = (bracket)})
void ht_json_list(struct ht_json *json, const struct ht_member *m);
#define ht_json_add(json, ...) \
    ht_json_list(json, (const struct ht_member[]){__VA_ARGS__, {.kind = HT_JSON_END}})

/* Version and date, of files of results. */
void ht_json_stamp(struct ht_json *json);

/* What is said as text and as members of a JSON object. */
struct ht_facts {
    struct ht_text text;
    struct ht_json json;
};
#define ht_say(facts, ...) ht_text_add(&(facts)->text, __VA_ARGS__)
#define ht_fact(facts, ...) ht_json_add(&(facts)->json, __VA_ARGS__)
/* A number, and where it is finite the text. */
#define ht_fact_said(facts, name, value, ...)            \
    do {                                                 \
        ht_fact(facts, HT_NUM(name, value));             \
        if (isfinite(value)) ht_say(facts, __VA_ARGS__); \
    } while (0)
/* With the outermost object open. */
struct ht_facts ht_facts_open(void);
/* Closes the outermost object, writes one of the two to standard output and frees both. */
HT_ERR ht_facts_print(struct ht_facts *facts, bool as_json);
void ht_facts_free(struct ht_facts *facts);
