#include "htwave/json.h"

#include <time.h>

#include "htwave/args.h"

static void member(struct ht_json *json, const char *name) {
    if (json->members) ht_text_add(&json->text, ", ");
    json->members = true;
    if (name == NULL) return;
    ht_text_add_quoted(&json->text, name, true);
    ht_text_add(&json->text, ": ");
}

void ht_json_open(struct ht_json *json, const char *name, char bracket) {
    member(json, name);
    ht_text_add(&json->text, "%c", bracket);
    json->members = false;
    json->depth++;
}

void ht_json_close(struct ht_json *json, char bracket) {
    ht_text_add(&json->text, --json->depth == 0 ? "%c\n" : "%c", bracket);
    json->members = true;
}

void ht_json_number(struct ht_json *json, const char *name, double value) {
    const int fewest = 6, most = 17;
    char digits[40];
    if (!isfinite(value)) return;
    for (int n = fewest; n <= most; n++) {
        snprintf(digits, sizeof digits, "%.*g", n, value);
        if (strtod(digits, NULL) == value) break;
    }
    member(json, name);
    ht_text_add(&json->text, "%s", digits);
}

void ht_json_integer(struct ht_json *json, const char *name, int64_t value) {
    member(json, name);
    ht_text_add(&json->text, "%lld", (long long)value);
}

void ht_json_numbers(struct ht_json *json, const char *name, int count, const double *values) {
    ht_json_open(json, name, '[');
    for (int i = 0; i < count; i++) ht_json_number(json, NULL, values[i]);
    ht_json_close(json, ']');
}

void ht_json_integers(struct ht_json *json, const char *name, int count, const int64_t *values) {
    ht_json_open(json, name, '[');
    for (int i = 0; i < count; i++) ht_json_integer(json, NULL, values[i]);
    ht_json_close(json, ']');
}

void ht_json_bool(struct ht_json *json, const char *name, bool value) {
    member(json, name);
    ht_text_add(&json->text, value ? "true" : "false");
}

void ht_json_string(struct ht_json *json, const char *name, const char *value) {
    if (value == NULL) return;
    member(json, name);
    ht_text_add_quoted(&json->text, value, true);
}

void ht_json_stamp(struct ht_json *json) {
    char date[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    ht_json_string(json, "htwave", HT_VERSION);
    ht_json_string(json, "date", date);
}

struct ht_facts ht_facts_open(void) {
    struct ht_facts facts = {.text = {0}};
    ht_fact(&facts, open, NULL, '{');
    return facts;
}

enum ht_err ht_facts_print(struct ht_facts *facts, bool as_json) {
    ht_fact(facts, close, '}');
    enum ht_err err = ht_args_print(as_json ? &facts->json.text : &facts->text);
    ht_facts_free(facts);
    return err;
}

void ht_facts_free(struct ht_facts *facts) {
    ht_text_free(&facts->text);
    ht_text_free(&facts->json.text);
}
