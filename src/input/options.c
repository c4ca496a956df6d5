/* The options, but those of the medium's parameters (options_medium.c), and lists of groups. */
#include "options.h"

#define COUNT_MAX 2147483648.0 /* nodes or samples per axis */

static const struct ht_option option[] = {
#define OPEN(name)
#define CLOSE(name)
#define MEMBER(...)
#define ROW(type, section, member, ...) \
    {HT_MEMBER_OF(ht_params, type, #section #member, section member), __VA_ARGS__},
#define NAMED(type, name, member, ...) {HT_MEMBER_OF(ht_params, type, name, member), __VA_ARGS__},
#include "htwave/params_rows.h"
};

/* ---- lists of groups ---- */

#define OPEN(of) static const struct ht_option of##_option[] = {
#define CLOSE(of) \
    }             \
    ;
#define MEMBER(...)
#define ROW(type, of, member, ...) {HT_MEMBER_OF(of, type, #member, member), __VA_ARGS__},
#include "htwave/list_rows.h"

#define LIST(key, of)                                                                   \
    &(const struct ht_option_list) {                                                    \
        (key), sizeof(struct of), sizeof of##_option / sizeof *of##_option, of##_option \
    }
static const struct ht_option_list *const lists[] = {LIST("receivers", ht_receivers_given),
                                                     LIST("initial.pulses", ht_pulse),
                                                     LIST("sources", ht_shot_given),
                                                     LIST("output.maps", ht_map_given),
                                                     LIST("output.picture.slices", ht_slice_given),
                                                     LIST("shots", ht_survey_given)};

enum { ROWS = sizeof option / sizeof *option };

int ht_option_count(void) {
    return ROWS + ht_medium_option_count();
}

const struct ht_option *ht_option_at(int index) {
    /* Number of rows up to and including medium.type, once found; the rows of the medium's
     * parameters follow it. */
    static int rows;
    while (strcmp(option[rows].key, "medium.type") != 0) rows++;
    int before = rows + 1, made = ht_medium_option_count();
    if (index < before) return &option[index];
    if (index < before + made) return ht_medium_option_at(index - before);
    return &option[index - made];
}

bool ht_option_needed(const struct ht_option *row) {
    return !row->fallback && row->type != HT_OPT_VALUE && row->type != HT_OPT_MEDIUM;
}

const struct ht_option_list *ht_option_list(const struct ht_option *row) {
    for (size_t i = 0; row->type == HT_OPT_LIST && i < sizeof lists / sizeof *lists; i++)
        if (strcmp(lists[i]->key, row->key) == 0) return lists[i];
    return NULL;
}

bool ht_option_in_list(const char *key, struct ht_list_key *out) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        size_t length = strlen(lists[i]->key);
        if (strncmp(key, lists[i]->key, length) != 0 || key[length] != '.') continue;
        const struct ht_option_list *list = lists[i];
        const char *text = key + length + 1; /* the number of a group and the key after it */
        const size_t digits = strspn(text, "0123456789");
        *out =
            (struct ht_list_key){.list = list, .option = ht_option_find(list->key), .name = text};
        if (digits == 0 || *text == '0' || (text[digits] && text[digits] != '.')) return true;
        out->group = digits < 9 ? (int)strtol(text, NULL, 10) : 999999999;
        out->name = text + digits + (text[digits] == '.');
        for (int n = 0; n < list->count; n++)
            if (strcmp(list->option[n].key, out->name) == 0) out->row = &list->option[n];
        return true;
    }
    return false;
}

const struct ht_option *ht_option_find(const char *key) {
    struct ht_list_key in = {0};
    for (int i = 0; i < ht_option_count(); i++)
        if (strcmp(ht_option_at(i)->key, key) == 0) return ht_option_at(i);
    return ht_option_in_list(key, &in) ? in.row : NULL;
}

int ht_option_section(const char *key) {
    const char *dot = strrchr(key, '.');
    return dot ? (int)(dot - key) : 0;
}

const char *ht_option_name(const char *key) {
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}
