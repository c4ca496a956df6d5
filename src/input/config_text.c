/* Text in libconfig's syntax: mended before it is read, and written.
 *
 * The mending walks over tokens: strings and comments are copied as they are; names are skipped so
 * that their digits are no numbers; integers and square brackets are looked at. Lines stay where
 * they were, so that libconfig's line numbers are the user's.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

void ht_config_place(struct ht_text *out, const char *path, int line) {
    if (path)
        ht_text_add(out, "%s:%d", path, line);
    else
        ht_text_add(out, "command line");
}

static enum ht_err fail_at(const char *text, const char *at, const char *path,
                           const char *message) {
    struct ht_text place = {0};
    int line = 1;
    for (const char *c = text; c < at; c++) line += *c == '\n';
    ht_config_place(&place, path, line);
    enum ht_err err = ht_text_status(&place);
    if (!err) err = ht_err_set(HT_ERR_INPUT, "%s (%s)", message, place.data);
    ht_text_free(&place);
    return err;
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

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '*' || c == '-';
}

/* A number: from *at on, which is moved behind it. A real is copied as it is; an integer gets the
 * suffix that it needs. */
static enum ht_err copy_number(const char *text, const char **at, const char *path,
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

/* '[' and ']' become '(' and ')' where they are a pair with no bracket in between; otherwise they
 * stay, for libconfig to complain about. *open is the place in out of a '[' that waits for its
 * partner, or -1. */
static void copy_bracket(char c, long *open, struct ht_text *out) {
    if (out->failed) return;
    if (c == ']' && *open >= 0) {
        out->data[*open] = '(';
        c = ')';
    }
    *open = c == '[' ? (long)out->length : -1;
    ht_text_add(out, "%c", c);
}

static bool starts_number(const char *s) {
    return is_digit(*s) || ((*s == '-' || *s == '+') && is_digit(s[1])) ||
           (*s == '.' && is_digit(s[1]));
}

enum ht_err ht_config_prepare(const char *text, const char *path, struct ht_text *out) {
    long open = -1;
    const char *at = text;
    ht_text_add(out, "%s", "");
    while (*at) {
        size_t length = quiet_length(at);
        if (!length && isalpha((unsigned char)*at))
            while (is_name(at[length])) length++;
        if (length) {
            ht_text_add(out, "%.*s", (int)length, at);
            at += length;
        } else if (starts_number(at)) {
            TRY(copy_number(text, &at, path, out));
        } else if (*at == '@') {
            return fail_at(text, at, path,
                           "@include is not supported: keep a run in one "
                           "file, and give changes as key=value");
        } else if (strchr("[](){}", *at)) {
            copy_bracket(*at++, &open, out);
        } else {
            ht_text_add(out, "%c", *at++);
        }
    }
    return ht_text_status(out);
}

void ht_config_add_real(struct ht_text *out, double value) {
    char number[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        if (strtod(number, NULL) == value) break;
    }
    ht_text_add(out, "%s%s", number, strpbrk(number, ".en") ? "" : ".0");
}

void ht_config_add_string(struct ht_text *out, const char *string) {
    ht_text_add(out, "\"");
    for (const char *c = string; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\')
            ht_text_add(out, "\\%c", *c);
        else if (byte == '\n')
            ht_text_add(out, "\\n");
        else if (byte < 0x20 || byte == 0x7f)
            ht_text_add(out, "\\x%02x", byte);
        else
            ht_text_add(out, "%c", *c);
    }
    ht_text_add(out, "\"");
}
