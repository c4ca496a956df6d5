/* The error record: one message per thread, of fixed size, so that recording an error cannot itself
 * fail; one that is too long (a compiler's log) is cut. It may be printed on a terminal: control
 * characters are made visible, and a line that is too long loses its middle. */
#include "htwave/base.h"

enum { RECORD_SIZE = HT_ERR_MESSAGE, LINE_SIZE = 800 };

static _Thread_local char record[RECORD_SIZE];

static void format(char *buffer, const char *fmt, va_list args) {
    int length = vsnprintf(buffer, RECORD_SIZE, fmt, args);
    if (length < 0) snprintf(buffer, RECORD_SIZE, "(unprintable message)");
    if (length >= RECORD_SIZE) memcpy(buffer + RECORD_SIZE - 4, "...", 4);
}

/* Copies the message line by line into the record. */
static void record_lines(const char *text) {
    size_t used = 0;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (used + LINE_SIZE + 8 > RECORD_SIZE) {
            memcpy(record + used, "...", 4);
            return;
        }
        used += ht_text_show_part(line, length, record + used, LINE_SIZE);
        line += length;
        if (*line == '\n') {
            record[used++] = '\n';
            line++;
        }
    }
    record[used] = '\0';
}

enum ht_err ht_err_set(enum ht_err code, const char *fmt, ...) {
    /* Formatted into a separate buffer: an argument may point into the record. */
    char fresh[RECORD_SIZE];
    va_list args;
    va_start(args, fmt);
    format(fresh, fmt, args);
    va_end(args);
    record_lines(fresh);
    return code;
}

enum ht_err ht_err_prefix(enum ht_err code, const char *fmt, ...) {
    char prefix[RECORD_SIZE];
    va_list args;
    va_start(args, fmt);
    format(prefix, fmt, args);
    va_end(args);
    return ht_err_set(code, "%s: %s", prefix, record);
}

const char *ht_err_message(void) {
    return record;
}

int ht_err_exit_code(enum ht_err code) {
    return code == HT_OK               ? 0
           : code == HT_ERR_INPUT      ? 2
           : code == HT_ERR_NOT_FINITE ? 3
           : code == HT_ERR_DIFFERENT  ? 4
                                       : 1;
}
