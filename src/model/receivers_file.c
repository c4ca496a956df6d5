/* Positions of receivers in a text file: a line per receiver, a number per axis, separated by
 * blanks, tabs, commas or semicolons.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/shots.h"

static const char separators[] = " \t\r,;";

/* The numbers of a line that ends at '\n' or '\0'; -1: it holds something else, which begins at
 * *line. */
static int read_line(const char **line, double x[3], int most) {
    int count = 0;
    for (;;) {
        char *after;
        *line += strspn(*line, separators);
        if (**line == '#' || **line == '\n' || **line == '\0') return count;
        const double value = strtod(*line, &after);
        const bool ends = *after == '\0' || strchr(separators, *after) || *after == '\n';
        if (after == *line || !ends || !isfinite(value)) return -1;
        if (count < most) x[count] = value;
        count++;
        *line = after;
    }
}

static int64_t lines_of(const char *text) {
    int64_t lines = 1;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

static enum ht_err fail_word(const char *path, long long number, const char *word) {
    FAIL(HT_ERR_INPUT, "line %lld of %s: \"%.*s\" is not a finite number", number, path,
         (int)strcspn(word, " \t\r\n,;"), word);
}

static enum ht_err read_text(const char *path, const char *text, int dims, int64_t *count,
                             double (*x)[3]) {
    for (long long number = 1;; number++) {
        double at[3] = {0};
        const int numbers = read_line(&text, at, dims);
        if (numbers < 0) return fail_word(path, number, text);
        REQUIRE(numbers == 0 || numbers == dims, HT_ERR_INPUT,
                "line %lld of %s has %d number%s: a position has %d, one per "
                "axis of the grid",
                number, path, numbers, numbers == 1 ? "" : "s", dims);
        if (numbers > 0) memcpy(x[(*count)++], at, sizeof at);
        text += strcspn(text, "\n");
        if (*text == '\0') return HT_OK;
        text++;
    }
}

enum ht_err ht_positions_read(const char *path, int dims, int64_t *count, double (**x)[3]) {
    char *text = NULL;
    size_t size;
    *count = 0;
    *x = NULL;
    TRY(ht_file_read(path, &text, &size));
    enum ht_err err = HT_OK;
    if (strlen(text) != size) err = ht_err_set(HT_ERR_INPUT, "%s is not a text file", path);
    if (err == HT_OK) err = HT_ALLOC(*x, lines_of(text));
    if (err == HT_OK) err = read_text(path, text, dims, count, *x);
    if (err == HT_OK && *count == 0) err = ht_err_set(HT_ERR_INPUT, "%s holds no positions", path);
    free(text);
    if (err == HT_OK) return HT_OK;
    free(*x);
    *x = NULL;
    return err;
}
