/* The error record: one message per thread, of fixed size, so that recording an error cannot itself
 * fail; one that is too long (a compiler's log) is cut. It may be printed on a terminal: control
 * characters are made visible, and a line that is too long loses its middle. */
#include "htwave/base.h"

enum { RECORD_SIZE = HT_ERR_MESSAGE, LINE_SIZE = 800 };

static _Thread_local char record[RECORD_SIZE];

enum ht_err ht_err_set(enum ht_err code, const char *fmt, ...) {
    /* Formatted into a separate buffer: an argument may point into the record. */
    char fresh[RECORD_SIZE];
    va_list args;
    va_start(args, fmt);
    const int length = vsnprintf(fresh, sizeof fresh, fmt, args);
    va_end(args);
    if (length < 0) snprintf(fresh, sizeof fresh, "(unprintable message)");
    if (length >= RECORD_SIZE) memcpy(fresh + RECORD_SIZE - 4, "...", 4);
    if (*ht_text_show_lines(fresh, LINE_SIZE, record, sizeof record) != '\0')
        memcpy(record + strlen(record), "...", 4);
    return code;
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
