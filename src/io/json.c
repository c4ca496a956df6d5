#include "htwave/json.h"

#include <time.h>

#include "htwave/args.h"

static void add_value(struct ht_json *json, const struct ht_member *m) {
    if (json->members && m->kind != HT_JSON_CLOSE) ht_text_add(&json->text, ", ");
    json->members = m->kind != HT_JSON_OPEN; /* behind it another one may stand */
    if (m->kind != HT_JSON_CLOSE && m->name != NULL) {
        ht_text_add_quoted(&json->text, m->name, true);
        ht_text_add(&json->text, ": ");
    }
    if (m->kind == HT_JSON_NUMBER)
        ht_text_add_real(&json->text, 6, m->number);
    else if (m->kind == HT_JSON_INTEGER)
        ht_text_add(&json->text, "%lld", (long long)m->integer);
    else if (m->kind == HT_JSON_BOOL)
        ht_text_add(&json->text, m->integer ? "true" : "false");
    else if (m->kind == HT_JSON_TEXT)
        ht_text_add_quoted(&json->text, m->text, true);
    else {
        json->depth += m->kind == HT_JSON_OPEN ? 1 : -1;
        ht_text_add(&json->text, json->depth == 0 ? "%c\n" : "%c", (int)m->integer);
    }
}

void ht_json_list(struct ht_json *json, const struct ht_member *m) {
    for (; m->kind != HT_JSON_END; m++) {
        if (m->numbers != NULL || m->integers != NULL) {
            ht_json_add(json, HT_OPEN(m->name, '['));
            for (int i = 0; i < m->count; i++)
                ht_json_add(json, m->numbers != NULL ? HT_NUM(NULL, m->numbers[i])
                                                     : HT_INT(NULL, m->integers[i]));
            ht_json_add(json, HT_CLOSE(']'));
        } else if ((m->kind != HT_JSON_NUMBER || isfinite(m->number)) &&
                   (m->kind != HT_JSON_TEXT || m->text != NULL))
            add_value(json, m);
    }
}

void ht_json_stamp(struct ht_json *json) {
    char date[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    ht_json_add(json, HT_TEXT("htwave", HT_VERSION), HT_TEXT("date", date));
}

struct ht_facts ht_facts_open(void) {
    struct ht_facts facts = {.text = {0}};
    ht_fact(&facts, HT_OPEN(NULL, '{'));
    return facts;
}

HT_ERR ht_facts_print(struct ht_facts *facts, bool as_json) {
    ht_fact(facts, HT_CLOSE('}'));
    enum ht_err err = ht_args_print(as_json ? &facts->json.text : &facts->text);
    ht_facts_free(facts);
    return err;
}

void ht_facts_free(struct ht_facts *facts) {
    ht_text_free(&facts->text);
    ht_text_free(&facts->json.text);
}
