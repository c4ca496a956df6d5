/* Results of the tuner, one text file per device:
 *
 *     htwave tuning 1
 *     device NAME
 *     driver VERSION
 *     kernels HASH                      of the text of cl/ and the version
 *     CLASS: NAME block=4 cells=2 rows=0 planes=0 trim=1 rate=1.07e+08
 *     ...
 *     end HASH                          of all bytes before this line
 *
 * If two processes store at the same time, one line is lost and measured again later. */
#include "htwave/tune.h"

static const char magic[] = "htwave tuning 1\n";

static uint64_t hash_text(uint64_t seed, const char *text) {
    return ht_hash(seed, text, strlen(text) + 1);
}

static uint64_t kernels_hash(void) {
    uint64_t hash = hash_text(HT_HASH_SEED, HT_VERSION);
    for (int i = 0; ht_kernel_sources[i].name != NULL; i++)
        hash = hash_text(hash, ht_kernel_sources[i].text);
    for (int i = 0; i < ht_variant_count(); i++) hash = hash_text(hash, ht_variant_at(i)->name);
    return hash;
}

static void add_head(const struct ht_device_info *info, struct ht_text *text) {
    ht_text_add(text, "%sdevice %s\ndriver %s\nkernels %016llx\n", magic, info->name, info->driver,
                (unsigned long long)kernels_hash());
}

enum ht_err ht_tuning_path(const char *directory, const struct ht_device_info *info, char **path) {
    uint64_t hash = hash_text(HT_HASH_SEED, info->backend);
    hash = hash_text(hash_text(hash, info->platform), info->name);
    return ht_text_print(path, "%s/tuning-%016llx.txt", directory, (unsigned long long)hash);
}

/* The start of the last line if the file is complete and its hash is correct, else NULL. */
static char *find_end(char *data, size_t size) {
    static const char prefix[] = "end ";
    const size_t digits = 16, line = sizeof prefix - 1 + digits + 1;
    if (size < line) return NULL;
    char *end = data + size - line, *stop = NULL;
    if (memcmp(end, prefix, sizeof prefix - 1) != 0 || data[size - 1] != '\n') return NULL;
    unsigned long long stored = strtoull(end + sizeof prefix - 1, &stop, 16);
    uint64_t hash = ht_hash(HT_HASH_SEED, data, (size_t)(end - data));
    return stop == data + size - 1 && stored == hash ? end : NULL;
}

/* The lines of a file without the last one; NULL if it is incomplete or of another device or
 * program. *why: then the reason, or NULL if there is no file. The caller frees *data. */
static char *read_lines(const char *path, const struct ht_device_info *info, char **data,
                        const char **why) {
    HT_FREED_TEXT struct ht_text head = {0};
    char *lines = NULL, *end = NULL;
    size_t size = 0;
    *data = NULL;
    *why = NULL;
    if (!ht_file_exists(path)) return NULL;
    add_head(info, &head);
    if (ht_text_status(&head) != HT_OK)
        *why = "out of memory";
    else if (ht_file_read(path, data, &size) != HT_OK)
        *why = "unreadable";
    else if ((end = find_end(*data, size)) == NULL)
        *why = "damaged";
    else if (size < head.length || memcmp(*data, head.data, head.length) != 0)
        *why = "from another device, driver or version of htwave";
    if (*why == NULL) {
        *end = '\0';
        lines = *data + head.length;
    }
    return lines;
}

/* The line of a class, or NULL. */
static char *find_line(char *lines, const char *class_name) {
    size_t length = strlen(class_name);
    for (char *line = lines; line != NULL && *line != '\0';) {
        if (strncmp(line, class_name, length) == 0 && strncmp(line + length, ": ", 2) == 0)
            return line;
        line = strchr(line, '\n');
        if (line != NULL) line++;
    }
    return NULL;
}

/* The number after key in a line; false: missing or negative. */
static bool number(const char *line, const char *key, int *out) {
    const char *at = strstr(line, key), *end = strchr(line, '\n');
    if (at == NULL || (end != NULL && at > end)) return false;
    char *stop = NULL;
    long value = strtol(at + strlen(key), &stop, 10);
    *out = (int)value;
    return stop != at + strlen(key) && value >= 0 && value <= 1 << 24;
}

static const struct ht_variant *variant_of(const char *line) {
    size_t length = strcspn(line, " ");
    for (int i = 0; i < ht_variant_count(); i++)
        if (strlen(ht_variant_at(i)->name) == length &&
            strncmp(ht_variant_at(i)->name, line, length) == 0)
            return ht_variant_at(i);
    return NULL;
}

/* Reads a result. line: the text after the class. */
static bool parse(const char *line, struct ht_tuned *out) {
    struct ht_tuning *t = &out->tuning;
    const char *rate = strstr(line, " rate=");
    int trim = 0;
    *out = (struct ht_tuned){.tuning = {.variant = variant_of(line)}};
    if (rate == NULL || !number(line, " block=", &t->block) ||
        !number(line, " cells=", &t->cells) || !number(line, " rows=", &t->rows) ||
        !number(line, " planes=", &t->planes) || !number(line, " trim=", &trim))
        return false;
    t->trim = trim != 0;
    out->rate = strtod(rate + strlen(" rate="), NULL);
    return t->variant != NULL && (t->block == 1 || t->block == 2 || t->block == 4);
}

bool ht_tuning_load(const char *directory, const struct ht_device_info *info,
                    const char *class_name, struct ht_tuned *out) {
    HT_FREED char *path = NULL, *data = NULL;
    const char *why = NULL;
    if (directory == NULL || ht_tuning_path(directory, info, &path) != HT_OK) return false;
    char *line = find_line(read_lines(path, info, &data, &why), class_name);
    bool found = line != NULL && parse(line + strlen(class_name) + 2, out);
    if (line != NULL && !found) why = "damaged";
    if (why != NULL) ht_note("the tuning file %s is ignored: %s", path, why);
    return found;
}

enum ht_err ht_tuning_store(const char *directory, const struct ht_device_info *info,
                            const char *class_name, const struct ht_tuned *tuned) {
    const struct ht_tuning *t = &tuned->tuning;
    HT_FREED_TEXT struct ht_text text = {0};
    HT_FREED char *path = NULL, *data = NULL;
    const char *why = NULL;
    TRY(ht_file_make_directory(directory));
    TRY(ht_tuning_path(directory, info, &path));
    char *lines = read_lines(path, info, &data, &why);
    char *old = find_line(lines, class_name);
    add_head(info, &text);
    if (old != NULL) {
        char *next = strchr(old, '\n');
        ht_text_add(&text, "%.*s%s", (int)(old - lines), lines, next != NULL ? next + 1 : "");
    } else if (lines != NULL) {
        ht_text_add(&text, "%s", lines);
    }
    ht_text_add(&text, "%s: %s block=%d cells=%d rows=%d planes=%d trim=%d rate=%.4g\n", class_name,
                t->variant->name, t->block, t->cells, t->rows, t->planes, t->trim, tuned->rate);
    TRY(ht_text_status(&text));
    ht_text_add(&text, "end %016llx\n",
                (unsigned long long)ht_hash(HT_HASH_SEED, text.data, text.length));
    TRY(ht_text_status(&text));
    return ht_file_write(path, text.data, text.length);
}
