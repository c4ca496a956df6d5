/* The only file that sees libconfig. It reads text into libconfig's tree and walks the tree,
 * handing each setting on with its key, place and value. Types are taken from the settings
 * themselves: libconfig's own conversions would turn 2.7 into 2 without a word. */
#include <libconfig.h>
#include <strings.h>

#include "config.h"

/* ---- text in libconfig's syntax: mended before it is read, and written ---- */

/* "path:line", or "command line" when path is NULL. */
static void add_place(struct ht_text *out, const char *path, int line) {
    if (path)
        ht_text_add(out, "%s:%d", path, line);
    else
        ht_text_add(out, "command line");
}

static HT_ERR fail_at(const char *text, const char *at, const char *path, const char *message) {
    HT_FREED_TEXT struct ht_text place = {0};
    int line = 1;
    for (const char *c = text; c < at; c++) line += *c == '\n';
    add_place(&place, path, line);
    TRY(ht_text_status(&place));
    return ht_err_set(HT_ERR_INPUT, "%s (%s)", message, place.data);
}

/* Length of the string or comment at s; 0 when there is none. */
static size_t quiet_length(const char *s) {
    const char *end = s;
    if (*s == '"') {
        for (end = s + 1; *end && *end != '"'; end++)
            if (*end == '\\' && end[1]) end++;
        return (size_t)(end - s) + (*end == '"');
    }
    if (*s == '#' || (s[0] == '/' && s[1] == '/')) return strcspn(s, "\n");
    if (s[0] == '/' && s[1] == '*') {
        end = strstr(s + 2, "*/");
        return end ? (size_t)(end - s) + 2 : strlen(s);
    }
    return 0;
}

static bool is_digit(char c) {
    return isdigit((unsigned char)c) != 0;
}

/* A number: from *at on, which is moved behind it. A real is copied as it is; an integer gets the
 * suffix that it needs. */
static HT_ERR copy_number(const char *text, const char **at, const char *path,
                          struct ht_text *out) {
    const char *start = *at;
    bool hex = start[0] == '0' && (start[1] == 'x' || start[1] == 'X');
    char *end = NULL;
    errno = 0;
    long long value = strtoll(start, &end, hex ? 16 : 10);
    bool wide = errno == ERANGE;
    size_t suffix = strspn(end, "L");
    if (!hex && (*end == '.' || *end == 'e' || *end == 'E')) {
        strtod(start, &end);
        wide = false;
        suffix = 1;
    }
    if (wide) return fail_at(text, start, path, "an integer beyond 64 bits");
    ht_text_add(out, "%.*s", (int)(end - start), start);
    if (suffix == 0 && (value > INT32_MAX || value < INT32_MIN)) ht_text_add(out, "L");
    *at = end;
    return HT_OK;
}

/* What libconfig 1.5 gets wrong or refuses, mended in the text without moving a line: integers
 * beyond 32 bits get the suffix L (it would wrap them silently), arrays become lists (it would
 * refuse [1, 2.5]): '[' and ']' become '(' and ')' where they are a pair with no bracket in
 * between; otherwise they stay, for libconfig to complain about. path: for messages, or NULL. */
static HT_ERR prepare(const char *text, const char *path, struct ht_text *out) {
    long open = -1; /* the place in out of a '[' that waits for its partner */
    const char *at = text;
    ht_text_add(out, "%s", "");
    while (*at) {
        size_t length = quiet_length(at);
        if (!length && isalpha((unsigned char)*at))
            while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '*' ||
                   at[length] == '-')
                length++;
        if (length) {
            ht_text_add(out, "%.*s", (int)length, at);
            at += length;
        } else if (is_digit(*at) || ((*at == '-' || *at == '+') && is_digit(at[1])) ||
                   (*at == '.' && is_digit(at[1]))) {
            TRY(copy_number(text, &at, path, out));
        } else if (*at == '@') {
            return fail_at(text, at, path,
                           "@include is not supported: keep a run in one "
                           "file, and give changes as key=value");
        } else if (strchr("[](){}", *at)) {
            const bool closes = *at == ']' && open >= 0 && !out->failed;
            if (closes) out->data[open] = '(';
            open = *at == '[' ? (long)out->length : -1;
            ht_text_add(out, "%c", closes ? ')' : *at);
            at++;
        } else {
            ht_text_add(out, "%c", *at++);
        }
    }
    return ht_text_status(out);
}

void ht_config_add_real(struct ht_text *out, double value) {
    const size_t at = out->length;
    ht_text_add_real(out, 15, value);
    if (!out->failed && strpbrk(out->data + at, ".en") == NULL) ht_text_add(out, ".0");
}

/* ---- reading ---- */

/* Groups deeper than any option are not walked: the unknown group above them is the error. */
enum { DEPTH_MAX = 4, VALUE_SHOWN = 120 };
/* No input of keys is as large; a file of numbers may be, given by mistake. */
enum { INPUT_MOST = 16 << 20 };

struct walk {
    const char *path; /* NULL: command line */
    const char *raw;
    ht_config_visit *visit;
    void *data;
};

static struct ht_scalar scalar_of(const config_setting_t *from) {
    const int type = config_setting_type(from);
    const int64_t integer = config_setting_get_int64(from);
    const bool real = type == CONFIG_TYPE_FLOAT;
    return (struct ht_scalar){.kind = real                         ? HT_SCALAR_REAL
                                      : type == CONFIG_TYPE_BOOL   ? HT_SCALAR_BOOL
                                      : type == CONFIG_TYPE_STRING ? HT_SCALAR_STRING
                                                                   : HT_SCALAR_INT,
                              .integer = integer,
                              .real = real ? config_setting_get_float(from) : (double)integer,
                              .flag = config_setting_get_bool(from) != 0,
                              .text = config_setting_get_string(from)};
}

static void add_scalar(struct ht_text *out, const struct ht_scalar *item) {
    if (item->kind == HT_SCALAR_INT)
        ht_text_add(out, "%lld", (long long)item->integer);
    else if (item->kind == HT_SCALAR_REAL)
        ht_config_add_real(out, item->real);
    else if (item->kind == HT_SCALAR_BOOL)
        ht_text_add(out, item->flag ? "true" : "false");
    else
        ht_text_add_quoted(out, item->text, false);
}

/* Kind and scalars of a setting; *items is owned by the caller. */
static HT_ERR take_value(config_setting_t *from, struct ht_setting *to, struct ht_scalar **items) {
    bool list = config_setting_is_list(from) || config_setting_is_array(from);
    int count = list ? config_setting_length(from) : 1;
    to->kind = list ? HT_SETTING_ARRAY : HT_SETTING_SCALAR;
    if (config_setting_is_group(from)) {
        to->kind = HT_SETTING_GROUP;
        return HT_OK;
    }
    TRY(HT_ALLOC(*items, count));
    for (int i = 0; i < count; i++) {
        config_setting_t *element = list ? config_setting_get_elem(from, (unsigned)i) : from;
        if (config_setting_is_aggregate(element)) {
            to->kind = HT_SETTING_NESTED;
            return HT_OK;
        }
        (*items)[i] = scalar_of(element);
    }
    to->count = count;
    to->item = *items;
    return HT_OK;
}

static HT_ERR visit_one(const struct walk *walk, config_setting_t *from, const char *key) {
    struct ht_setting setting = {.key = key, .raw = walk->raw, .in_file = walk->path != NULL};
    HT_FREED_TEXT struct ht_text place = {0}, value = {0};
    HT_FREED struct ht_scalar *items = NULL;
    TRY(take_value(from, &setting, &items));
    add_place(&place, walk->path, (int)config_setting_source_line(from));
    static const char *const begin[] = {[HT_SETTING_SCALAR] = "",
                                        [HT_SETTING_ARRAY] = "[",
                                        [HT_SETTING_GROUP] = "{ ... }",
                                        [HT_SETTING_NESTED] = "( ... )"};
    ht_text_add(&value, "%s", begin[setting.kind]);
    for (int i = 0; i < setting.count; i++) {
        if (i) ht_text_add(&value, ", ");
        if (value.length > VALUE_SHOWN) {
            ht_text_add(&value, "...");
            break;
        }
        add_scalar(&value, &setting.item[i]);
    }
    if (setting.kind == HT_SETTING_ARRAY) ht_text_add(&value, "]");
    TRY(ht_text_status(&place));
    TRY(ht_text_status(&value));
    setting.place = place.data;
    setting.value = value.data;
    return walk->visit(walk->data, &setting);
}

/* What is inside a group, or a list with a group or a list in it. */
static HT_ERR visit_all(const struct walk *walk, config_setting_t *group, const char *key,
                        int depth) {
    struct walk inner = *walk;
    inner.raw = NULL;
    bool walks = config_setting_is_group(group);
    for (int i = 0; config_setting_is_list(group) && i < config_setting_length(group); i++)
        walks |= config_setting_is_aggregate(config_setting_get_elem(group, (unsigned)i));
    for (int i = 0; walks && i < config_setting_length(group); i++) {
        config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        const char *own = config_setting_name(member);
        HT_FREED_TEXT struct ht_text name = {0};
        ht_text_add(&name, "%s%s", key, *key ? "." : "");
        if (own)
            ht_text_add(&name, "%s", own);
        else
            ht_text_add(&name, "%d", i + 1);
        TRY(ht_text_status(&name));
        TRY(visit_one(&inner, member, name.data));
        if (depth < DEPTH_MAX) TRY(visit_all(&inner, member, name.data, depth + 1));
    }
    return HT_OK;
}

enum { BRACKETS_DEEP = 16 };

/* Of text that libconfig refuses, brackets and strings without an end: it names the line in which
 * it noticed, often the last one. */
static HT_ERR check_ends(const char *text, const char *path) {
    static const char opening[] = "[({", closing[] = "])}";
    const char *open[BRACKETS_DEEP];
    int depth = 0;
    for (const char *at = text; *at; at++) {
        const size_t quiet = quiet_length(at);
        if (*at == '"' && memchr(at, '\n', quiet) != NULL)
            return fail_at(text, at, path, "the string that begins here does not end in its line");
        if (quiet) {
            at += quiet - 1;
        } else if (strchr(opening, *at)) {
            const char *before = at;
            while (before > text && isspace((unsigned char)before[-1])) before--;
            if (*at == '{' && before > text && before[-1] == '}')
                return fail_at(text, at, path, "groups of a list need commas between them");
            REQUIRE(depth < BRACKETS_DEEP, HT_ERR_INPUT, "%s: brackets are too deep", path);
            open[depth++] = at;
        } else if (strchr(closing, *at)) {
            const char *pair = depth ? open[--depth] : NULL;
            if (pair == NULL)
                return fail_at(text, at, path, HT_KEY("nothing is open that %c closes", *at));
            const char needs = closing[strchr(opening, *pair) - opening];
            const int shown = (int)ht_least(20, (int64_t)strcspn(pair, "\r\n"));
            if (needs != *at)
                return fail_at(text, at, path,
                               HT_KEY("%c where %c must close %.*s", *at, needs, shown, pair));
        }
    }
    return depth ? fail_at(text, open[depth - 1], path,
                           HT_KEY("this %c is not closed", *open[depth - 1]))
                 : HT_OK;
}

/* What a line may lack that libconfig refuses; "": unknown. */
static const char *lacks(const char *line, size_t length) {
    for (const char *at = line; at < line + length; at++) {
        const size_t blanks = strspn(at + 1, " \t");
        const char next = at[1 + blanks];
        if (quiet_length(at)) break;
        if (*at == '=' && isalpha((unsigned char)next)) return ": words need quotes, \"..\"";
        if (is_digit(*at) && blanks && (is_digit(next) || strchr("-+.", next)))
            return ": numbers of a list need commas between them";
    }
    const char *behind = line;
    while (isalnum((unsigned char)*behind) || *behind == '_') behind++;
    behind += strspn(behind, " \t");
    const bool value = *behind && (isalnum((unsigned char)*behind) || strchr("{([\"-", *behind));
    return value && isalpha((unsigned char)*line) ? ": a key needs = and a value" : "";
}

/* The line of text that libconfig stopped at, without its indent. */
static HT_ERR fail_syntax(const config_t *config, const char *text, const char *path) {
    int line = config_error_line(config);
    const char *start = text;
    TRY(check_ends(text, path));
    for (int i = 1; i < line && strchr(start, '\n'); i++) start = strchr(start, '\n') + 1;
    start += strspn(start, " \t");
    int length = (int)strcspn(start, "\r\n");
    bool cut = length > VALUE_SHOWN;
    FAIL(HT_ERR_INPUT, "%s%s, in this line or before it: %.*s%s (%s:%d)", config_error_text(config),
         lacks(start, (size_t)length), cut ? VALUE_SHOWN : length, start, cut ? "..." : "", path,
         line);
}

HT_ERR ht_config_read_file(const char *path, ht_config_visit *visit, void *data) {
    const bool given = ht_config_is_text(path);
    struct walk walk = {.path = given ? "text" : path, .visit = visit, .data = data};
    HT_FREED char *text = NULL;
    size_t size = strlen(path);
    /* Not config_read_file: its scanner ends the program on a directory. A file that is not there
     * is wrong input, not a failing disk. */
    enum ht_err err =
        given ? ht_text_copy(path, &text) : ht_file_read_most(path, INPUT_MOST, &text, &size);
    if (err) return err == HT_ERR_IO ? HT_ERR_INPUT : err;
    const char *start = text;
    /* Editors write marks of byte order in front of text. That of UTF-8 tells nothing and is
     * skipped; those of UTF-16 tell that this is not UTF-8. */
    bool wide =
        size >= 2 && (memcmp(start, "\xff\xfe", 2) == 0 || memcmp(start, "\xfe\xff", 2) == 0);
    REQUIRE(!wide, HT_ERR_INPUT, "%s is text in UTF-16: save it as UTF-8 or ASCII",
            HT_SHOWN_PLACE(walk.path));
    REQUIRE(strlen(start) == size, HT_ERR_INPUT, "%s is not a text file",
            HT_SHOWN_PLACE(walk.path));
    if (size >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0) start += 3;
    HT_FREED_TEXT struct ht_text ready = {0};
    HT_ENDED(config_destroy) config_t config;
    config_init(&config);
    TRY(prepare(start, walk.path, &ready));
    if (!config_read_string(&config, ready.data)) return fail_syntax(&config, start, walk.path);
    return visit_all(&walk, config_root_setting(&config), "", 0);
}

/* A value in libconfig's syntax, if it is one: *done tells. */
static HT_ERR visit_value(const char *key, const char *text, const struct walk *walk, bool *done) {
    HT_FREED_TEXT struct ht_text whole = {0}, ready = {0};
    HT_ENDED(config_destroy) config_t config;
    ht_text_add(&whole, "value = %s\n", text);
    enum ht_err err = ht_text_status(&whole);
    if (!err) err = prepare(whole.data, NULL, &ready);
    if (err == HT_ERR_INPUT) ht_err_prefix(err, "%s = %s", HT_SHOWN(key), HT_SHOWN(text));
    config_init(&config);
    *done = !err && config_read_string(&config, ready.data) &&
            config_setting_length(config_root_setting(&config)) == 1;
    if (*done) {
        config_setting_t *setting = config_setting_get_elem(config_root_setting(&config), 0);
        err = visit_one(walk, setting, key);
        if (!err) err = visit_all(walk, setting, key, 1);
    }
    return err;
}

HT_ERR ht_config_read_value(const char *key, const char *text, ht_config_visit *visit, void *data) {
    struct walk walk = {.raw = text, .visit = visit, .data = data};
    bool done = false;
    text += strspn(text, " \t");
    /* What may be a value in libconfig's syntax: all else is a word of whatever characters. */
    const bool opens = *text && strchr("[({\"", *text);
    const char *digit = text + (*text == '+' || *text == '-');
    digit += *digit == '.';
    if (opens || is_digit(*digit) || strcasecmp(text, "true") == 0 ||
        strcasecmp(text, "false") == 0)
        TRY(visit_value(key, text, &walk, &done));
    if (done) return HT_OK;
    REQUIRE(!opens, HT_ERR_INPUT,
            "%s = %s: not a value in libconfig's syntax, in which text has quotes (command line)",
            HT_SHOWN(key), HT_SHOWN(text));
    HT_FREED_TEXT struct ht_text word = {0};
    ht_text_add_quoted(&word, text, false);
    TRY(ht_text_status(&word));
    return visit_value(key, word.data, &walk, &done);
}
