/* Rank 0 creates a checkpoint and lays it out, with all numbers; then each rank writes its planes
 * by itself, as those of snapshots (ht_h5_fill). */
#include "htwave/archive.h"
#include "htwave/h5.h"

#include <unistd.h>

enum way { LAY_OUT, STORE, LOAD };
enum { VALUES = 1 << 21 /* of a piece, unless a plane has more */ };

struct ht_archive {
    enum way way;
    struct ht_comm *comm;
    struct ht_h5 *file;      /* of rank 0 while it is laid out; of all while it is read */
    const char *path, *name; /* name: a temporary one, where values are stored */
    int64_t *offset;         /* in the file: of each array and its sums */
    int64_t offsets, room, at;
    enum ht_err err; /* the first failure */
    char message[1024];
};

static void fail(struct ht_archive *a, enum ht_err err) {
    if (err == HT_OK || a->err != HT_OK) return;
    a->err = err;
    snprintf(a->message, sizeof a->message, "%s", ht_err_message());
}

static bool leads(const struct ht_archive *a) {
    return ht_comm_rank(a->comm) == 0;
}

bool ht_archive_loads(const struct ht_archive *a) {
    return a->way == LOAD;
}

HT_ERR ht_archive_status(const struct ht_archive *a) {
    if (a->way != LOAD || a->err == HT_OK) return HT_OK;
    return ht_err_set(a->err, "%s", a->message);
}

/* ---- numbers ---- */

static HT_ERR lay_numbers(struct ht_archive *a, const char *name, int64_t count,
                          const double *values) {
    const int64_t extent[3] = {1, 1, count};
    return ht_h5_write(a->file, name, 3, extent, values, false);
}

/* Extents of a dataset with as many values. */
static HT_ERR find_extent(struct ht_archive *a, const char *name, const int64_t wanted[3]) {
    int64_t extent[8];
    int rank;
    TRY(ht_h5_extent(a->file, name, &rank, extent));
    REQUIRE(rank == 3 && memcmp(extent, wanted, 3 * sizeof *extent) == 0, HT_ERR_IO,
            "%s holds %s of another shape: it is of another run", a->path, name);
    return HT_OK;
}

static HT_ERR load_numbers(struct ht_archive *a, const char *name, int64_t count, double *values) {
    const int64_t extent[3] = {1, 1, count};
    TRY(find_extent(a, name, extent));
    return ht_h5_read(a->file, name, count, values);
}

void ht_archive_numbers(struct ht_archive *a, const char *name, int64_t count, double *values,
                        bool may_lack) {
    if (a->err != HT_OK || values == NULL || count == 0) return;
    if (a->way == LAY_OUT && a->file != NULL) fail(a, lay_numbers(a, name, count, values));
    if (a->way != LOAD || (may_lack && !ht_h5_has(a->file, name))) return;
    fail(a, load_numbers(a, name, count, values));
}

void ht_archive_number(struct ht_archive *a, const char *name, double *value) {
    ht_archive_numbers(a, name, 1, value, false);
}

void ht_archive_integer(struct ht_archive *a, const char *name, int64_t *value) {
    double number = (double)*value;
    ht_archive_number(a, name, &number);
    *value = (int64_t)number;
}

void ht_archive_flag(struct ht_archive *a, const char *name, bool *value) {
    double number = *value;
    ht_archive_number(a, name, &number);
    *value = number != 0;
}

/* A number for each byte. */
static HT_ERR lay_text(struct ht_archive *a, const char *name, const char *value) {
    const int64_t length = (int64_t)strlen(value);
    HT_ARRAY(double, bytes, length + 1);
    for (int64_t i = 0; i < length; i++) bytes[i] = (unsigned char)value[i];
    return lay_numbers(a, name, length + 1, bytes);
}

void ht_archive_text(struct ht_archive *a, const char *name, const char *value) {
    if (a->way == LAY_OUT && a->file != NULL && a->err == HT_OK) fail(a, lay_text(a, name, value));
}

/* ---- arrays ---- */

static HT_ERR lay_array(struct ht_archive *a, const struct ht_archive_array *array) {
    const int64_t extent[3] = {array->groups, array->planes, array->plane};
    struct ht_h5_values set = {.name = array->name, .single = array->single, .rank = 3};
    TRY(HT_GROW(a->offset, a->offsets + 2, a->room));
    TRY(ht_h5_place(a->file, extent, 1, &set));
    a->offset[a->offsets++] = set.offset;
    a->offset[a->offsets++] = set.sums;
    return HT_OK;
}

/* Planes [first, last) of the state to their places, or from there. */
static HT_ERR move_planes(struct ht_archive *a, const struct ht_archive_array *array, int64_t first,
                          int64_t last, double *value) {
    if (a->way == LOAD) {
        TRY(ht_h5_read_planes(a->file, array->name, 1, first, last, value));
        return array->move(array->context, true, first, last, value);
    }
    const struct ht_h5_values set = {.name = array->name,
                                     .single = array->single,
                                     .groups = array->groups,
                                     .planes = array->planes,
                                     .plane = array->plane,
                                     .data = value,
                                     .offset = a->offset[a->at],
                                     .sums = a->offset[a->at + 1]};
    TRY(array->move(array->context, false, first, last, value));
    return ht_h5_fill(a->name, a->path, 1, &set, first, last);
}

static HT_ERR move_array(struct ht_archive *a, const struct ht_archive_array *array) {
    const int64_t extent[3] = {array->groups, array->planes, array->plane};
    const int64_t all = array->last - array->first, values = array->groups * array->plane;
    const int64_t most = ht_most(1, ht_least(VALUES / values, all));
    if (a->way == LOAD) TRY(find_extent(a, array->name, extent));
    HT_ARRAY(double, value, most *values);
    for (int64_t m = array->first; m < array->last; m += most)
        TRY(move_planes(a, array, m, ht_least(m + most, array->last), value));
    return HT_OK;
}

void ht_archive_array(struct ht_archive *a, const struct ht_archive_array *array) {
    if (array->groups * array->planes * array->plane == 0) return;
    if (a->err == HT_OK && a->way == LAY_OUT && a->file != NULL) fail(a, lay_array(a, array));
    if (a->err == HT_OK && a->way != LAY_OUT) fail(a, move_array(a, array));
    a->at += 2;
}

/* ---- files ---- */

static void end_archive(struct ht_archive *a) {
    free(a->offset);
}

/* The ranks share whether one has failed, as failures of files are none of the run. */
static HT_ERR shared(struct ht_archive *a) {
    double failed = a->err != HT_OK;
    TRY(ht_comm_max(a->comm, 1, &failed));
    if (failed == 0) return HT_OK;
    if (a->err == HT_OK)
        a->err = ht_err_set(HT_ERR_IO, "cannot write %s on another rank", a->path);
    else
        ht_err_set(a->err, "%s", a->message);
    return a->err;
}

static HT_ERR write_file(struct ht_archive *a, ht_archive_walk *walk, void *context) {
    HT_FREED char *name = NULL;
    const char *own = NULL;
    TRY(walk(context, a));
    /* All ranks get the file's temporary name and the places of arrays. */
    if (a->file != NULL) fail(a, ht_h5_share(a->file, &own));
    TRY(shared(a));
    TRY(ht_comm_broadcast(a->comm, &a->offsets, sizeof a->offsets));
    if (!leads(a)) fail(a, HT_GROW(a->offset, a->offsets, a->room));
    TRY(shared(a));
    TRY(ht_comm_broadcast(a->comm, a->offset, (size_t)a->offsets * sizeof *a->offset));
    TRY(ht_comm_broadcast_text(a->comm, own, &name));
    a->way = STORE;
    a->name = name;
    a->at = 0;
    TRY(walk(context, a));
    if (a->err == HT_OK) fail(a, ht_file_sync(name, a->path));
    return shared(a);
}

HT_ERR ht_archive_save(struct ht_comm *comm, const char *path, const char *older,
                       ht_archive_walk *walk, void *context) {
    HT_ENDED(end_archive) struct ht_archive a = {.way = LAY_OUT, .comm = comm, .path = path};
    /* There is room for two. */
    if (leads(&a) && ht_file_exists(path)) (void)unlink(older);
    if (leads(&a)) fail(&a, ht_h5_create(path, true, &a.file));
    const enum ht_err err = write_file(&a, walk, context);
    if (err != HT_OK) {
        ht_h5_close(a.file);
        return err;
    }
    if (leads(&a)) {
        const bool kept = rename(path, older) == 0;
        fail(&a, ht_h5_commit(a.file));
        if (a.err != HT_OK && kept) (void)rename(older, path);
    }
    return shared(&a);
}

HT_ERR ht_archive_load(struct ht_comm *comm, const char *path, ht_archive_walk *walk,
                       void *context) {
    struct ht_archive a = {.way = LOAD, .comm = comm, .path = path};
    fail(&a, ht_h5_open(path, &a.file));
    enum ht_err err = walk(context, &a);
    ht_h5_close(a.file);
    if (err == HT_OK) err = ht_archive_status(&a);
    return ht_comm_agree(comm, err);
}

struct check {
    struct ht_h5 *file;
    const char *path;
};

static HT_ERR check_set(const char *name, void *context) {
    const struct check *c = context;
    int64_t extent[8];
    int rank;
    TRY(ht_h5_extent(c->file, name, &rank, extent));
    REQUIRE(rank == 3, HT_ERR_IO, "%s is no checkpoint", c->path);
    const int64_t values = extent[0] * extent[2];
    const int64_t most = ht_most(1, ht_least(VALUES / values, extent[1]));
    HT_ARRAY(double, value, most *values);
    for (int64_t m = 0; m < extent[1]; m += most)
        TRY(ht_h5_read_planes(c->file, name, 1, m, ht_least(m + most, extent[1]), value));
    return HT_OK;
}

HT_ERR ht_archive_check(const char *path) {
    HT_ENDED(ht_h5_end) struct ht_h5 *file = NULL;
    TRY(ht_h5_open(path, &file));
    return ht_h5_each(file, check_set, &(struct check){file, path});
}

HT_ERR ht_archive_read_text(const char *path, const char *name, char **out) {
    HT_ENDED(ht_h5_end) struct ht_h5 *file = NULL;
    HT_ENDED(ht_array_end) struct ht_array bytes = {.rank = 0};
    *out = NULL;
    TRY(ht_h5_open(path, &file));
    TRY(ht_h5_array(file, name, &bytes));
    TRY(HT_ALLOC(*out, bytes.count + 1));
    for (int64_t i = 0; i < bytes.count; i++) (*out)[i] = (char)(unsigned char)bytes.value[i];
    return HT_OK;
}

HT_ERR ht_archive_read_number(const char *path, const char *name, double *out) {
    HT_ENDED(ht_h5_end) struct ht_h5 *file = NULL;
    TRY(ht_h5_open(path, &file));
    return ht_h5_read(file, name, 1, out);
}
