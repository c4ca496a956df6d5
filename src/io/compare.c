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

static HT_ERR resolve(const char *path, char **out) {
    struct stat info;
    char last[256] = "";
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return ht_text_copy(path, out);
    DIR *stream = opendir(path);
    REQUIRE(stream, HT_ERR_IO, "cannot read directory %s", path);
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (comes_later(entry->d_name, last)) snprintf(last, sizeof last, "%s", entry->d_name);
    closedir(stream);
    REQUIRE(*last, HT_ERR_IO, "%s holds no snapshot (fields_NNNNNN.h5), nor shots with traces",
            path);
    return ht_text_print(out, "%s/%s", path, last);
}

struct comparison {
    char shot[24]; /* "shot-001/"; "": there are none */
    char *path[2];
    struct ht_h5 *file[2];
    int from;                /* of the two, whose datasets are looked at */
    double difference, a, b; /* sums of squares over all datasets */
    struct ht_difference *worst;
    int64_t values;
};

static void end_files(struct comparison *c) {
    for (int i = 0; i < 2; i++) {
        ht_h5_close(c->file[i]);
        free(c->path[i]);
        c->file[i] = NULL;
        c->path[i] = NULL;
    }
}

static HT_ERR is_in_both(const char *name, void *context) {
    const struct comparison *c = context;
    REQUIRE(ht_h5_has(c->file[1 - c->from], name), HT_ERR_DIFFERENT,
            "dataset %s is in %s but not in %s", name, c->path[c->from], c->path[1 - c->from]);
    return HT_OK;
}

/* 0/0 counts as no difference. */
static double ratio(double difference, double scale) {
    return difference > 0.0 ? difference / scale : 0.0;
}

/* NaN on either side differs from everything. Infinite values are not used as scale: relative to
 * them any difference would vanish. */
static void measure(int64_t count, const double *a, const double *b, struct ht_difference *out,
                    struct comparison *sum) {
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

static HT_ERR compare_set(const char *name, void *context) {
    struct comparison *c = context;
    struct ht_difference one;
    HT_ENDED(ht_array_end) struct ht_array a = {.rank = 0}, b = {.rank = 0};
    TRY(ht_h5_array(c->file[0], name, &a));
    TRY(ht_h5_array(c->file[1], name, &b));
    const bool same = a.rank == b.rank && memcmp(a.extent, b.extent, sizeof a.extent) == 0;
    /* Signals are by steps, which differ on another grid. */
    if (!same && strncmp(name, "sources/signal", 14) == 0) return HT_OK;
    REQUIRE(same, HT_ERR_DIFFERENT, "dataset %s has shape %s in %s, %s in %s", name,
            HT_EXTENTS(a.rank, a.extent), c->path[0], HT_EXTENTS(b.rank, b.extent), c->path[1]);
    measure(a.count, a.value, b.value, &one, c);
    snprintf(one.dataset, sizeof one.dataset, "%s%s", c->shot, name);
    if (*c->worst->dataset == '\0' || one.max_rel > c->worst->max_rel) *c->worst = one;
    c->values += a.count;
    return HT_OK;
}

static HT_ERR compare_files(struct comparison *c, const char *a, const char *b) {
    end_files(c);
    for (int i = 0; i < 2; i++) {
        TRY(resolve(i ? b : a, &c->path[i]));
        TRY(ht_h5_open(c->path[i], &c->file[i]));
    }
    for (c->from = 0; c->from < 2; c->from++) TRY(ht_h5_each(c->file[c->from], is_in_both, c));
    return ht_h5_each(c->file[0], compare_set, c);
}

/* Of shot number n; *more: either directory has it. */
static HT_ERR compare_shot(struct comparison *c, int n, const char *a, const char *b, bool *more) {
    HT_PATH(one, a, HT_KEY(HT_SHOT_NAME "/traces.h5", n));
    HT_PATH(two, b, HT_KEY(HT_SHOT_NAME "/traces.h5", n));
    const bool in_a = ht_file_exists(one), in_b = ht_file_exists(two);
    *more = in_a || in_b;
    if (!*more) return HT_OK;
    REQUIRE(in_a && in_b, HT_ERR_DIFFERENT, "%s is there, %s is not", in_a ? one : two,
            in_a ? two : one);
    snprintf(c->shot, sizeof c->shot, HT_SHOT_NAME "/", n);
    return compare_files(c, one, two);
}

HT_ERR ht_compare(const char *a, const char *b, struct ht_difference *out) {
    HT_ENDED(end_files) struct comparison c = {.worst = out};
    bool more = true;
    *out = (struct ht_difference){.values = 0};
    for (int n = 1; more; n++) TRY(compare_shot(&c, n, a, b, &more));
    if (*c.shot == '\0') TRY(compare_files(&c, a, b));
    REQUIRE(*out->dataset, HT_ERR_IO, "%s holds no datasets", c.path[0]);
    out->values = c.values;
    out->l2_rel =
        isinf(out->max_rel) ? out->max_rel : ratio(sqrt(c.difference), sqrt(fmax(c.a, c.b)));
    return HT_OK;
}
