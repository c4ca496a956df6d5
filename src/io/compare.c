/* Two outputs compared: the largest difference of each dataset relative to the largest value that
 * it has in either file, so that fields of different size count alike, and a field that is zero in
 * one file has a scale, too; and one number for all values together. The result is symmetric in A
 * and B. */
#include <dirent.h>
#include <sys/stat.h>

#include "htwave/h5.h"
#include "htwave/output.h"

/* ---- which file ---- */

static bool is_snapshot(const char *name) {
    size_t length = strlen(name);
    return strncmp(name, "fields_", 7) == 0 && length > 10 && strcmp(name + length - 3, ".h5") == 0;
}

/* Longer numbers are later. */
static bool comes_later(const char *name, const char *than) {
    size_t a = strlen(name), b = strlen(than);
    return a != b ? a > b : strcmp(name, than) > 0;
}

static enum ht_err resolve(const char *path, struct ht_text *out) {
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        char last[256] = "";
        DIR *stream = opendir(path);
        REQUIRE(stream, HT_ERR_IO, "cannot read directory %s", path);
        for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
            if (is_snapshot(entry->d_name) && comes_later(entry->d_name, last))
                snprintf(last, sizeof last, "%s", entry->d_name);
        closedir(stream);
        REQUIRE(*last, HT_ERR_IO, "%s holds no snapshot (fields_NNNNNN.h5)", path);
        ht_text_add(out, "%s/%s", path, last);
        return ht_text_status(out);
    }
    ht_text_add(out, "%s", path);
    return ht_text_status(out);
}

/* ---- which datasets ---- */

struct list {
    int count;
    int64_t room;
    char **name;
};

static enum ht_err append(const char *name, void *context) {
    struct list *list = context;
    TRY(HT_GROW(list->name, list->count + 1, list->room));
    TRY(ht_text_copy(name, &list->name[list->count]));
    list->count++;
    return HT_OK;
}

static bool contains(const struct list *list, const char *name) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->name[i], name) == 0) return true;
    return false;
}

struct side {
    struct ht_text path;
    struct ht_h5 *file;
    struct list sets;
};

static enum ht_err side_open(const char *path, struct side *side) {
    TRY(resolve(path, &side->path));
    TRY(ht_h5_open(side->path.data, &side->file));
    return ht_h5_each(side->file, append, &side->sets);
}

static void side_close(struct side *side) {
    for (int i = 0; i < side->sets.count; i++) free(side->sets.name[i]);
    free(side->sets.name);
    ht_h5_close(side->file);
    ht_text_free(&side->path);
}

static enum ht_err check_sets(const struct side *a, const struct side *b) {
    for (int i = 0; i < a->sets.count; i++)
        REQUIRE(contains(&b->sets, a->sets.name[i]), HT_ERR_DIFFERENT,
                "dataset %s is in %s but not in %s", a->sets.name[i], a->path.data, b->path.data);
    return HT_OK;
}

/* ---- one dataset ---- */

static void print_shape(int rank, const int64_t *extent, struct ht_text *out) {
    for (int i = 0; i < rank; i++) ht_text_add(out, "%s%lld", i ? " x " : "", (long long)extent[i]);
}

static enum ht_err same_shape(const struct side *a, const struct side *b, const char *name,
                              int64_t *count) {
    int rank[2];
    int64_t extent[2][8];
    TRY(ht_h5_extent(a->file, name, &rank[0], extent[0]));
    TRY(ht_h5_extent(b->file, name, &rank[1], extent[1]));
    bool same = rank[0] == rank[1];
    *count = 1;
    for (int i = 0; same && i < rank[0]; i++) {
        same = extent[0][i] == extent[1][i];
        *count *= extent[0][i];
    }
    if (same) return HT_OK;
    HT_FREED_TEXT struct ht_text text = {0};
    ht_text_add(&text, "dataset %s has shape ", name);
    print_shape(rank[0], extent[0], &text);
    ht_text_add(&text, " in %s, ", a->path.data);
    print_shape(rank[1], extent[1], &text);
    ht_text_add(&text, " in %s", b->path.data);
    TRY(ht_text_status(&text));
    return ht_err_set(HT_ERR_DIFFERENT, "%s", text.data);
}

/* Sums of squares over all datasets. */
struct squares {
    double difference, a, b;
};

/* 0/0 counts as no difference. */
static double ratio(double difference, double scale) {
    return difference > 0.0 ? difference / scale : 0.0;
}

/* NaN on either side differs from everything. Infinite values are not used as scale: relative to
 * them any difference would vanish. */
static void measure(int64_t count, const double *a, const double *b, struct ht_difference *out,
                    struct squares *sum) {
    double most = 0.0, scale = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double difference = a[i] == b[i] ? 0.0 : fabs(a[i] - b[i]);
        if (isnan(difference)) difference = INFINITY;
        most = fmax(most, difference);
        if (isfinite(a[i])) scale = fmax(scale, fabs(a[i]));
        if (isfinite(b[i])) scale = fmax(scale, fabs(b[i]));
        sum->difference += difference * difference;
        sum->a += a[i] * a[i];
        sum->b += b[i] * b[i];
    }
    out->largest = scale;
    out->max_abs = most;
    out->max_rel = isinf(most) ? most : ratio(most, scale);
    out->values = count;
}

static enum ht_err compare_all(const struct side *a, const struct side *b,
                               struct ht_difference *out) {
    struct squares sum = {0};
    int64_t values = 0;
    TRY(check_sets(a, b));
    TRY(check_sets(b, a));
    REQUIRE(a->sets.count > 0, HT_ERR_IO, "%s holds no datasets", a->path.data);
    for (int i = 0; i < a->sets.count; i++) {
        struct ht_difference one;
        int64_t count;
        HT_FREED double *value_a = NULL, *value_b = NULL;
        TRY(same_shape(a, b, a->sets.name[i], &count));
        TRY(HT_ALLOC(value_a, count));
        TRY(HT_ALLOC(value_b, count));
        TRY(ht_h5_read(a->file, a->sets.name[i], count, value_a));
        TRY(ht_h5_read(b->file, a->sets.name[i], count, value_b));
        measure(count, value_a, value_b, &one, &sum);
        snprintf(one.dataset, sizeof one.dataset, "%s", a->sets.name[i]);
        values += one.values;
        if (i == 0 || one.max_rel > out->max_rel) *out = one;
    }
    out->values = values;
    out->l2_rel =
        isinf(out->max_rel) ? out->max_rel : ratio(sqrt(sum.difference), sqrt(fmax(sum.a, sum.b)));
    return HT_OK;
}

enum ht_err ht_compare(const char *a, const char *b, struct ht_difference *out) {
    HT_ENDED(side_close) struct side first = {0}, second = {0};
    memset(out, 0, sizeof *out);
    TRY(side_open(a, &first));
    TRY(side_open(b, &second));
    return compare_all(&first, &second, out);
}
