#include "htwave/json.h"

#include <math.h>
#include <stdlib.h>

#include "htwave/args.h"

static void member(struct ht_json *json, const char *name) {
    if (json->members) ht_text_add(&json->text, ", ");
    json->members = true;
    if (name == NULL) return;
    ht_text_add_json(&json->text, name);
    ht_text_add(&json->text, ": ");
}

void ht_json_open(struct ht_json *json, const char *name, char bracket) {
    member(json, name);
    ht_text_add(&json->text, "%c", bracket);
    json->members = false;
}

void ht_json_close(struct ht_json *json, char bracket) {
    ht_text_add(&json->text, "%c", bracket);
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

void ht_json_bool(struct ht_json *json, const char *name, bool value) {
    member(json, name);
    ht_text_add(&json->text, value ? "true" : "false");
}

void ht_json_string(struct ht_json *json, const char *name, const char *value) {
    if (value == NULL) return;
    member(json, name);
    ht_text_add_json(&json->text, value);
}

void ht_json_end(struct ht_json *json) {
    ht_text_add(&json->text, "\n");
}

enum ht_err ht_json_or_text(struct ht_json *json, struct ht_text *text, bool as_json) {
    enum ht_err err = ht_args_print(as_json ? &json->text : text);
    ht_text_free(&json->text);
    ht_text_free(text);
    return err;
}
