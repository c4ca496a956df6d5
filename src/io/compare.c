/* Two outputs compared: the largest difference of each dataset relative to the largest value that
 * it has in either file, so that a field that is zero in one file has a scale, too. */
#include <dirent.h>
#include <sys/stat.h>

#include "htwave/h5.h"
#include "htwave/output.h"

/* A snapshot with a longer number, or a larger one. */
static bool comes_later(const char *name, const char *than) {
    const size_t a = strlen(name), b = strlen(than);
    const bool later = a != b ? a > b : strcmp(name, than) > 0;
    return later && a > 10 && strncmp(name, "fields_", 7) == 0 && strcmp(name + a - 3, ".h5") == 0;
}

static enum ht_err resolve(const char *path, struct ht_text *out) {
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        char last[256] = "";
        DIR *stream = opendir(path);
        REQUIRE(stream, HT_ERR_IO, "cannot read directory %s", path);
        for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
            if (comes_later(entry->d_name, last)) snprintf(last, sizeof last, "%s", entry->d_name);
        closedir(stream);
        REQUIRE(*last, HT_ERR_IO, "%s holds no snapshot (fields_NNNNNN.h5)", path);
        ht_text_add(out, "%s/%s", path, last);
        return ht_text_status(out);
    }
    ht_text_add(out, "%s", path);
    return ht_text_status(out);
}

/* Sums of squares over all datasets. */
struct squares {
    double difference, a, b;
};

struct side {
    struct ht_text path;
    struct ht_h5 *file;
};
struct comparison {
    struct side a, b;
    struct squares sum;
    struct ht_difference *worst;
    int64_t values;
};

static enum ht_err open_side(const char *path, struct side *side) {
    TRY(resolve(path, &side->path));
    return ht_h5_open(side->path.data, &side->file);
}

static void end_comparison(struct comparison *c) {
    ht_h5_close(c->a.file);
    ht_h5_close(c->b.file);
    ht_text_free(&c->a.path);
    ht_text_free(&c->b.path);
}

static enum ht_err is_in(const char *name, const struct side *one, const struct side *other) {
    REQUIRE(ht_h5_has(other->file, name), HT_ERR_DIFFERENT, "dataset %s is in %s but not in %s",
            name, one->path.data, other->path.data);
    return HT_OK;
}

static enum ht_err is_in_b(const char *name, void *context) {
    const struct comparison *c = context;
    return is_in(name, &c->a, &c->b);
}

static enum ht_err is_in_a(const char *name, void *context) {
    const struct comparison *c = context;
    return is_in(name, &c->b, &c->a);
}

static enum ht_err same_shape(const struct comparison *c, const char *name, int64_t *count) {
    int rank[2];
    int64_t extent[2][8];
    TRY(ht_h5_extent(c->a.file, name, &rank[0], extent[0]));
    TRY(ht_h5_extent(c->b.file, name, &rank[1], extent[1]));
    bool same = rank[0] == rank[1];
    *count = 1;
    for (int i = 0; same && i < rank[0]; i++) {
        same = extent[0][i] == extent[1][i];
        *count *= extent[0][i];
    }
    REQUIRE(same, HT_ERR_DIFFERENT, "dataset %s has shape %s in %s, %s in %s", name,
            HT_EXTENTS(rank[0], extent[0]), c->a.path.data, HT_EXTENTS(rank[1], extent[1]),
            c->b.path.data);
    return HT_OK;
}

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

static enum ht_err compare_set(const char *name, void *context) {
    struct comparison *c = context;
    struct ht_difference one;
    int64_t count;
    TRY(same_shape(c, name, &count));
    HT_ARRAY(double, a, count);
    HT_ARRAY(double, b, count);
    TRY(ht_h5_read(c->a.file, name, count, a));
    TRY(ht_h5_read(c->b.file, name, count, b));
    measure(count, a, b, &one, &c->sum);
    snprintf(one.dataset, sizeof one.dataset, "%s", name);
    if (*c->worst->dataset == '\0' || one.max_rel > c->worst->max_rel) *c->worst = one;
    c->values += count;
    return HT_OK;
}

enum ht_err ht_compare(const char *a, const char *b, struct ht_difference *out) {
    HT_ENDED(end_comparison) struct comparison c = {.worst = out};
    *out = (struct ht_difference){.values = 0};
    TRY(open_side(a, &c.a));
    TRY(open_side(b, &c.b));
    TRY(ht_h5_each(c.a.file, is_in_b, &c));
    TRY(ht_h5_each(c.b.file, is_in_a, &c));
    TRY(ht_h5_each(c.a.file, compare_set, &c));
    REQUIRE(*out->dataset, HT_ERR_IO, "%s holds no datasets", c.a.path.data);
    out->values = c.values;
    out->l2_rel = isinf(out->max_rel) ? out->max_rel
                                      : ratio(sqrt(c.sum.difference), sqrt(fmax(c.sum.a, c.sum.b)));
    return HT_OK;
}
