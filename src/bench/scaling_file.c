/* scaling.csv: read, extended, written. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/fd_kernel.h"
#include "htwave/scaling.h"

/* Counts are integers >= 1, amounts numbers >= 0; text has no maximum. */
struct column {
    const char *name;
    size_t offset;
    double most;
    bool whole;
};
#define TEXT(name) \
    { #name, offsetof(struct ht_scaling_row, name), 0, false }
#define COUNT(name, most) \
    { #name, offsetof(struct ht_scaling_row, name), most, true }
#define AMOUNT(name) \
    { #name, offsetof(struct ht_scaling_row, name), DBL_MAX, false }

static const struct column columns[] = {TEXT(kind),
                                        TEXT(system),
                                        TEXT(scheme),
                                        COUNT(order, 2 * HT_FD_RADIUS),
                                        COUNT(stages, 1 << 24),
                                        TEXT(precision),
                                        TEXT(variant),
                                        TEXT(layout),
                                        COUNT(side, 1 << 24),
                                        COUNT(planes, 0x1p48),
                                        COUNT(ranks, 1 << 24),
                                        COUNT(depth, HT_SCALING_DEPTH),
                                        TEXT(halo),
                                        TEXT(transport),
                                        AMOUNT(ms),
                                        AMOUNT(interior_ms),
                                        AMOUNT(boundary_ms),
                                        AMOUNT(pack_ms),
                                        AMOUNT(exposed_ms),
                                        AMOUNT(messages),
                                        AMOUNT(bytes),
                                        AMOUNT(verified),
                                        TEXT(device),
                                        TEXT(backend),
                                        TEXT(driver),
                                        TEXT(version)};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static bool is_text(const struct column *column) {
    return column->most == 0;
}

/* ---- reading ---- */

/* Reads a field up to a comma or the end of the line; false: the line has no
 * further field. */
static bool read_field(const char **at, bool last, char text[HT_SCALING_WORD]) {
    size_t length = strcspn(*at, ",\n");
    if (length >= HT_SCALING_WORD) return false;
    memcpy(text, *at, length);
    text[length] = '\0';
    *at += length;
    if (**at != (last ? '\n' : ',')) return false;
    (*at)++;
    return true;
}

static enum ht_err read_number(const struct column *column, const char *text,
                               double *out) {
    char *end = NULL;
    *out = strtod(text, &end);
    bool number = end != text && *end == '\0' && isfinite(*out);
    if (column->whole)
        REQUIRE(number && *out == floor(*out) && *out >= 1 &&
                    *out <= column->most,
                HT_ERR_INPUT, "%s = \"%s\": must be a whole number, 1..%.15g",
                column->name, text, column->most);
    else
        REQUIRE(number && *out >= 0, HT_ERR_INPUT,
                "%s = \"%s\": must be a number of at least 0", column->name,
                text);
    return HT_OK;
}

static bool differences(const struct ht_scaling_row *row) {
    return ht_scheme_find(row->scheme)->method == HT_FINITE_DIFFERENCES;
}

static enum ht_err check_order(const struct ht_scaling_row *row) {
    const int order = (int)row->order;
    if (differences(row))
        REQUIRE(order % 2 == 0 && row->stages <= 2, HT_ERR_INPUT,
                "order = %d, stages = %.0f: of finite differences must be 2, 4 "
                ".. %d and 1 or 2",
                order, row->stages, 2 * HT_FD_RADIUS);
    else
        REQUIRE(order <= HT_MAX_ORDER, HT_ERR_INPUT,
                "order = %d: N must be 1..%d", order, HT_MAX_ORDER);
    return HT_OK;
}

/* Of a slab. */
static double planes_needed(const struct ht_scaling_row *row) {
    const struct ht_fd_spec fd = {.dims = 3, .radius = (int)row->order / 2};
    if (row->ranks == 1) return 1;
    return differences(row)
               ? (double)ht_fd_planes_needed(ht_fd_reach(&fd), (int)row->depth)
               : floor((row->depth + 1) / 2);
}

static enum ht_err read_row(const char **at, struct ht_scaling_row *row) {
    char text[HT_SCALING_WORD];
    for (int i = 0; i < COLUMNS; i++) {
        const struct column *column = &columns[i];
        char *to = (char *)row + column->offset;
        double number = 0;
        REQUIRE(read_field(at, i + 1 == COLUMNS, text), HT_ERR_INPUT,
                "%s is missing or broken", column->name);
        if (is_text(column)) {
            memcpy(to, text, strlen(text) + 1);
            continue;
        }
        TRY(read_number(column, text, &number));
        memcpy(to, &number, sizeof number);
    }
    REQUIRE(ht_scheme_find(row->scheme) != NULL, HT_ERR_INPUT,
            "scheme = \"%s\": must be a value of time.scheme", row->scheme);
    REQUIRE(row->ms > 0, HT_ERR_INPUT, "ms = 0: must be > 0");
    TRY(check_order(row));
    double thinnest = floor(row->planes / row->ranks);
    REQUIRE(thinnest >= planes_needed(row), HT_ERR_INPUT,
            "planes = %.0f: too few for %.0f ranks and a depth of %.0f",
            row->planes, row->ranks, row->depth);
    return HT_OK;
}

static void add_head(struct ht_text *text) {
    for (int i = 0; i < COLUMNS; i++)
        ht_text_add(text, "%s%s", columns[i].name,
                    i + 1 < COLUMNS ? "," : "\n");
}

/* The start of the lines after the head; NULL: the head differs. */
static const char *after_head(const char *data) {
    struct ht_text head = {0};
    add_head(&head);
    bool same = ht_text_status(&head) == HT_OK &&
                strncmp(data, head.data, head.length) == 0;
    const char *after = same ? data + head.length : NULL;
    ht_text_free(&head);
    return after;
}

static enum ht_err read_rows(const char *path, const char *data,
                             struct ht_scaling *out) {
    const char *at = after_head(data);
    REQUIRE(at != NULL, HT_ERR_INPUT,
            "%s: the first line is not that of a table of scaling of this "
            "version",
            path);
    for (int line = 2; *at != '\0'; line++) {
        struct ht_scaling_row row = {.order = 0};
        enum ht_err err = read_row(&at, &row);
        if (err != HT_OK) return ht_err_prefix(err, "%s:%d", path, line);
        TRY(ht_scaling_add(out, &row));
    }
    return HT_OK;
}

enum ht_err ht_scaling_read(const char *path, struct ht_scaling *out) {
    char *data = NULL;
    size_t size = 0;
    *out = (struct ht_scaling){0};
    if (!ht_file_exists(path)) return HT_OK;
    TRY(ht_file_read(path, &data, &size));
    enum ht_err err = read_rows(path, data, out);
    free(data);
    return err;
}

/* ---- growing and writing ---- */

enum ht_err ht_scaling_add(struct ht_scaling *table,
                           const struct ht_scaling_row *row) {
    size_t size = ((size_t)table->count + 1) * sizeof *row;
    struct ht_scaling_row *more = realloc(table->row, size);
    REQUIRE(more != NULL, HT_ERR_MEMORY, "out of memory");
    table->row = more;
    table->row[table->count++] = *row;
    return HT_OK;
}

static double number_at(const char *from) {
    double number;
    memcpy(&number, from, sizeof number);
    return number;
}

/* Appends a text field; separators become spaces. */
static void add_field(const char *word, struct ht_text *text) {
    for (const char *c = word; *c != '\0'; c++)
        ht_text_add(text, "%c", strchr(",\"\n\r", *c) != NULL ? ' ' : *c);
}

void ht_scaling_csv(const struct ht_scaling *table, struct ht_text *out) {
    add_head(out);
    for (int n = 0; n < table->count; n++)
        for (int i = 0; i < COLUMNS; i++) {
            const char *from = (const char *)&table->row[n] + columns[i].offset;
            if (is_text(&columns[i]))
                add_field(from, out);
            else
                ht_text_add(out, "%.9g", number_at(from));
            ht_text_add(out, i + 1 < COLUMNS ? "," : "\n");
        }
}

void ht_scaling_json(const struct ht_scaling *table, struct ht_json *out) {
    ht_json_open(out, "rows", '[');
    for (int n = 0; n < table->count; n++) {
        ht_json_open(out, NULL, '{');
        for (int i = 0; i < COLUMNS; i++) {
            const char *from = (const char *)&table->row[n] + columns[i].offset;
            if (is_text(&columns[i]))
                ht_json_string(out, columns[i].name, from);
            else
                ht_json_number(out, columns[i].name, number_at(from));
        }
        ht_json_number(out, "efficiency",
                       ht_scaling_efficiency(table, &table->row[n]));
        ht_json_close(out, '}');
    }
    ht_json_close(out, ']');
}

enum ht_err ht_scaling_write(const char *path, const struct ht_scaling *table) {
    struct ht_text text = {0};
    ht_scaling_csv(table, &text);
    enum ht_err err = ht_text_status(&text);
    if (err == HT_OK) err = ht_file_write(path, text.data, text.length);
    ht_text_free(&text);
    return err;
}

void ht_scaling_free(struct ht_scaling *table) {
    free(table->row);
    *table = (struct ht_scaling){0};
}

/* ---- rows ---- */

bool ht_scaling_same(const struct ht_scaling_row *a,
                     const struct ht_scaling_row *b) {
    return strcmp(a->system, b->system) == 0 &&
           strcmp(a->scheme, b->scheme) == 0 &&
           strcmp(a->precision, b->precision) == 0 &&
           strcmp(a->variant, b->variant) == 0 &&
           strcmp(a->layout, b->layout) == 0 &&
           strcmp(a->device, b->device) == 0 &&
           strcmp(a->backend, b->backend) == 0 && a->order == b->order &&
           a->stages == b->stages && a->side == b->side;
}

/* One rank has no exchange, so depth and the like are not compared. */
const struct ht_scaling_row *ht_scaling_alone(const struct ht_scaling *table,
                                              const struct ht_scaling_row *of) {
    const struct ht_scaling_row *found = NULL;
    bool weak = strcmp(of->kind, "weak") == 0;
    for (int i = 0; i < table->count; i++) {
        const struct ht_scaling_row *row = &table->row[i];
        double planes = weak ? of->planes / of->ranks : of->planes;
        if (row->ranks == 1 && strcmp(row->kind, of->kind) == 0 &&
            row->planes == planes && ht_scaling_same(row, of))
            found = row;
    }
    return found;
}

double ht_scaling_rate(const struct ht_scaling_row *row) {
    return 2e3 * row->side * row->side * row->planes / row->ms;
}

double ht_scaling_efficiency(const struct ht_scaling *table,
                             const struct ht_scaling_row *row) {
    const struct ht_scaling_row *alone = ht_scaling_alone(table, row);
    if (alone == NULL) return NAN;
    return ht_scaling_rate(row) / row->ranks / ht_scaling_rate(alone);
}

enum ht_err ht_scaling_problem(const struct ht_scaling_row *row,
                               const struct ht_equations *eq,
                               struct ht_part *out) {
    const int64_t cells[3] = {(int64_t)row->side, (int64_t)row->side,
                              (int64_t)row->planes};
    struct ht_part plain;
    const struct ht_scheme *scheme = ht_scheme_find(row->scheme);
    REQUIRE(scheme != NULL && ht_scheme_steps(scheme, eq), HT_ERR_INPUT,
            "%s has no %s form", row->system, row->scheme);
    ht_test_problem_plain(eq, (int)row->order, (int)row->stages, scheme,
                          &plain);
    ht_test_problem(&plain.problem, cells, out);
    out->problem.halo.depth = (int)row->depth;
    out->problem.halo.precision =
        strcmp(row->halo, "single") == 0 ? HT_HALO_SINGLE
        : strcmp(row->halo, "half") == 0 ? HT_HALO_HALF
                                         : HT_HALO_SAME;
    return HT_OK;
}
