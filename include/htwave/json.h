/* Members of a JSON object, appended to a text. A number that is not finite is left out. */
#pragma once

#include "htwave/base.h"

struct ht_json {
    struct ht_text text;
    bool members; /* the open object or array has some already */
    int depth;    /* of open objects and arrays */
};

/* name NULL: inside an array, or the outermost object. bracket: '{' or '['. */
void ht_json_open(struct ht_json *json, const char *name, char bracket);
/* '}' or ']'; that of the outermost object ends the line. */
void ht_json_close(struct ht_json *json, char bracket);
/* Shortest digits that read back as the same double. */
void ht_json_number(struct ht_json *json, const char *name, double value);
void ht_json_integer(struct ht_json *json, const char *name, int64_t value);
void ht_json_numbers(struct ht_json *json, const char *name, int count, const double *values);
void ht_json_integers(struct ht_json *json, const char *name, int count, const int64_t *values);
void ht_json_bool(struct ht_json *json, const char *name, bool value);
/* value NULL: left out. */
void ht_json_string(struct ht_json *json, const char *name, const char *value);

/* Version and date, of files of results. */
void ht_json_stamp(struct ht_json *json);

/* What is said as text and as members of a JSON object. */
struct ht_facts {
    struct ht_text text;
    struct ht_json json;
};
#define ht_say(facts, ...) ht_text_add(&(facts)->text, __VA_ARGS__)
#define ht_fact(facts, type, ...) ht_json_##type(&(facts)->json, __VA_ARGS__)
/* A number, and where it is finite the text. */
#define ht_fact_said(facts, name, value, ...)            \
    do {                                                 \
        ht_fact(facts, number, name, value);             \
        if (isfinite(value)) ht_say(facts, __VA_ARGS__); \
    } while (0)
/* With the outermost object open. */
struct ht_facts ht_facts_open(void);
/* Closes the outermost object, writes one of the two to standard output and frees both. */
HT_CHECKED enum ht_err ht_facts_print(struct ht_facts *facts, bool as_json);
void ht_facts_free(struct ht_facts *facts);
