/* Checkpoint files: what is stored is loaded, by any number of planes at a time; what was damaged
 * is found, wherever a byte changes; a file that cannot be written leaves the one before. */
#include "htwave/archive.h"
#include "damage.h"
#include "scratch.h"
#include "test.h"

enum { GROUPS = 3, PLANES = 5, PLANE = 7, VALUES = GROUPS * PLANES * PLANE };
struct state {
    double array[VALUES], number, list[4];
    int64_t integer;
    bool flag;
};

static enum ht_err move(void *context, bool load, int64_t first, int64_t last, double *values) {
    double *array = context;
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t i = 0; i < (last - first) * PLANE; i++) {
            double *own = &array[(g * PLANES + first) * PLANE + i];
            double *other = &values[g * (last - first) * PLANE + i];
            *(load ? own : other) = *(load ? other : own);
        }
    return HT_OK;
}

static enum ht_err walk(void *context, struct ht_archive *archive) {
    struct state *s = context;
    const struct ht_archive_array array = {.name = "some/array",
                                           .single = true,
                                           .groups = GROUPS,
                                           .planes = PLANES,
                                           .plane = PLANE,
                                           .last = PLANES,
                                           .move = move,
                                           .context = s->array};
    double missing = 1;
    ht_archive_text(archive, "text", "two\nlines");
    ht_archive_number(archive, "number", &s->number);
    ht_archive_array(archive, &array);
    ht_archive_integer(archive, "integer", &s->integer);
    ht_archive_flag(archive, "flag", &s->flag);
    ht_archive_numbers(archive, "list", 4, s->list, false);
    if (ht_archive_loads(archive)) ht_archive_numbers(archive, "none", 1, &missing, true);
    return missing == 1 ? HT_OK : HT_ERR_INTERNAL;
}

static void fill(struct state *s, double by) {
    memset(s, 0, sizeof *s);
    for (int i = 0; i < VALUES; i++) s->array[i] = (float)(sin(i) * by);
    for (int i = 0; i < 4; i++) s->list[i] = i / by;
    s->number = -by / 3;
    s->integer = ((int64_t)1 << 52) - 1;
    s->flag = true;
}

static bool same(const char *path, const struct state *as) {
    struct state found = {.number = 0};
    if (ht_archive_load(NULL, path, walk, &found) != HT_OK) return false;
    bool equal =
        found.number == as->number && found.integer == as->integer && found.flag == as->flag;
    for (int i = 0; i < VALUES; i++) equal = equal && found.array[i] == as->array[i];
    for (int i = 0; i < 4; i++) equal = equal && found.list[i] == as->list[i];
    return equal;
}

/* Each byte in turn, or some of them, is another one: the file is refused, or is read as it was
 * stored (bytes between its parts). */
static void flip(const char *path, const struct state *s) {
    char *data = NULL;
    size_t size = 0;
    int refused = 0, harmless = 0, wrong = 0;
    if (ht_file_read(path, &data, &size) != HT_OK) return;
    const size_t apart = test_all() ? 1 : 13;
    for (size_t at = 0; at < size; at += apart) {
        FILE *file = fopen(path, "r+b");
        fseek(file, (long)at, SEEK_SET);
        fputc(data[at] ^ (1 << at % 8), file);
        fclose(file);
        if (ht_archive_check(path) != HT_OK)
            refused++;
        else if (same(path, s))
            harmless++;
        else
            wrong++;
        file = fopen(path, "r+b");
        fseek(file, (long)at, SEEK_SET);
        fputc(data[at], file);
        fclose(file);
    }
    free(data);
    TEST_CHECK(wrong == 0 && refused > harmless,
               "one byte differs: %d refused, %d harmless, %d read as something else", refused,
               harmless, wrong);
}

int main(void) {
    struct state s[2], other = {.number = 0};
    char *folder = scratch_make("archive"), *text = NULL;
    char *path = scratch_path(folder, "a.h5"), *older = scratch_path(folder, "b.h5");
    char *absent = scratch_path(folder, "absent/a.h5");
    for (int i = 0; i < 2; i++) {
        fill(&s[i], 1 + i);
        TEST_CHECK(ht_archive_save(NULL, path, older, walk, &s[i]) == HT_OK, "stored");
    }
    TEST_CHECK(same(path, &s[1]), "the last one is loaded bit for bit");
    TEST_CHECK(same(older, &s[0]), "the one before is kept");
    TEST_CHECK(ht_archive_read_text(path, "text", &text) == HT_OK &&
                   strcmp(text, "two\nlines") == 0,
               "a text");
    free(text);
    flip(path, &s[1]);
    TEST_CHECK(truncate(path, 3000) == 0 && ht_archive_check(path) == HT_ERR_IO, "%s",
               ht_err_message());
    TEST_CHECK(ht_archive_save(NULL, path, older, walk, &s[1]) == HT_OK, "stored again");
    TEST_CHECK(ht_archive_save(NULL, absent, older, walk, &other) == HT_ERR_IO, "%s",
               ht_err_message());
    other.number = NAN;
    TEST_CHECK(same(path, &s[1]), "the file before is as it was");
    free(path);
    free(older);
    free(absent);
    scratch_remove(folder);
    return test_end("archive");
}
