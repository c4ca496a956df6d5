/* The files of a run, in a directory that has those of one run only. Every file but series.csv and
 * traces.h5, which grow, is written under a temporary name and renamed, so that a reader (also
 * ParaView during a run) sees complete files only. Numbers in names count from 0, those of
 * snapshots from `first` on. */
#include "files.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the directory ---- */

/* When a run begins, before it changes anything:
 *
 * 1. It holds a lock on .htwave.lock until it ends; another run is refused.
 *
 * 2. Files that the run reads are neither written nor moved nor removed. A snapshot among them
 * keeps its number, and the new ones have higher numbers. Any other file whose name the run would
 * write is an error.
 *
 * 3. All other outputs, whose names are in the table below, are moved to a new folder run-NNN
 * inside, where a snapshot that stays is linked, too. All other files are left alone. */
#define LOCK_NAME ".htwave.lock"
#define OLD_NAME "run-%03d"
/* Behind it until all files are there: a killed run leaves it, the next moves the others there. */
#define MOVING ".moving"

/* Names of outputs: #: a digit, the last #: one or more, *: a name that the input gives. */
static const char *const outputs[] = {
    HT_INPUT_NAME,     HT_SUMMARY_NAME, HT_XDMF_NAME,   "fields_######.h5", "wave_####.png",
    "wave_*_####.png", HT_TRACES_NAME,  HT_SERIES_NAME, HT_CHECKPOINT_NAME, HT_CHECKPOINT_OLDER,
    HT_FINISHED_NAME,  "shot-###",      "map_*.h5",     "map_*.png",        "traces_*.csv",
    "shots_*.csv",     "traces_*.sgy",  "shots_*.sgy"};
enum { OUTPUTS = sizeof outputs / sizeof outputs[0], INPUT = 0, SNAPSHOT = 3, PICTURE, SLICE };

/* Contents of the directory before the run. */
struct listing {
    int count;
    int64_t room;
    struct entry {
        char *name;
        int kind;        /* row of the table; OUTPUTS: of none */
        bool unfinished; /* a temporary file of a process that has ended */
        bool read;       /* by this run */
    } * entry;
    int64_t first; /* snapshot's number */
    int last_old;  /* folder's */
    bool moving;   /* the last folder has not got all files */
};

/* ---- names ---- */

/* Whether the name that ends at `end` is as the pattern says. */
static bool fits(const char *name, const char *end, const char *pattern) {
    if (*pattern == '\0' || name == end) return *pattern == '\0' && name == end;
    if (*pattern == '*') return fits(name + 1, end, pattern + 1) || fits(name + 1, end, pattern);
    const bool more = *pattern == '#' && pattern[1] != '#'; /* digits may follow */
    const bool same = *pattern == '#' ? isdigit((unsigned char)*name) != 0 : *name == *pattern;
    return same && (fits(name + 1, end, pattern + 1) || (more && fits(name + 1, end, pattern)));
}

static int output_kind(const char *name, const char *end) {
    int kind = 0;
    while (kind < OUTPUTS && !fits(name, end, outputs[kind])) kind++;
    return kind;
}

/* The number after `before`; INT_MAX when it is as large or larger. */
static int number_of(const char *name, const char *before) {
    long number = strtol(name + strlen(before), NULL, 10);
    return number < INT_MAX ? (int)number : INT_MAX;
}

/* Also one that was killed and whose parent has not asked yet, which may last in containers. */
static bool has_ended(long process) {
    char line[128] = "";
    if (kill((pid_t)process, 0) != 0) return errno == ESRCH;
    FILE *file = fopen(HT_KEY("/proc/%ld/stat", process), "r"); /* "PROCESS (NAME) STATE .." */
    if (file == NULL) return false;
    const char *name = fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
    fclose(file);
    return name != NULL && strncmp(name, ") Z", 3) == 0;
}

/* Whether the name is OUTPUT.tmp.PROCESS.NUMBER, as ht_file_temporary names it, of a process that
 * has ended. Because of the lock no process of another machine writes here. */
static bool is_unfinished(const char *name) {
    const char *suffix = strstr(name, ".tmp."), *end = name + strlen(name);
    if (suffix == NULL || !fits(suffix, end, ".tmp.#.#")) return false;
    const bool ours = output_kind(name, suffix) < OUTPUTS || fits(name, suffix, "htwave");
    const char *process = suffix + strlen(".tmp.");
    return ours && strspn(process, "0123456789") <= 9 && has_ended(strtol(process, NULL, 10));
}

/* ---- contents ---- */

static void free_listing(struct listing *list) {
    for (int i = 0; i < list->count; i++) free(list->entry[i].name);
    free(list->entry);
}

static HT_ERR list_entry(struct listing *list, const char *name) {
    const char *end = name + strlen(name);
    const bool moving = fits(name, end, "run-###" MOVING);
    if (moving || fits(name, end, "run-###")) {
        int number = number_of(name, "run-");
        /* run-202611221530 is a name of the user's */
        if (number < INT_MAX / 2 && number > list->last_old) {
            list->last_old = number;
            list->moving = moving;
        }
        return HT_OK;
    }
    struct entry entry = {.kind = output_kind(name, end), .unfinished = is_unfinished(name)};
    if (!entry.unfinished && entry.kind == OUTPUTS) return HT_OK;
    TRY(HT_GROW(list->entry, list->count + 1, list->room));
    TRY(ht_text_copy(name, &entry.name));
    list->entry[list->count++] = entry;
    return HT_OK;
}

/* A missing directory is an empty one. */
static HT_ERR list_outputs(const char *directory, struct listing *list) {
    enum ht_err err = HT_OK;
    DIR *stream = opendir(directory);
    if (!stream && errno == ENOENT) return HT_OK;
    REQUIRE(stream, HT_ERR_IO, "cannot list directory %s: %s", directory, strerror(errno));
    for (struct dirent *entry; !err && (entry = readdir(stream)) != NULL;)
        err = list_entry(list, entry->d_name);
    closedir(stream);
    return err;
}

/* ---- files that the run reads ---- */

static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The run reads its own resolved input, unchanged. */
static HT_ERR check_input(const struct ht_params *params, const char *path) {
    HT_FREED_TEXT struct ht_text text = {0};
    HT_FREED char *data = NULL;
    size_t size = 0;
    TRY(ht_params_print(params, &text));
    TRY(ht_file_read(path, &data, &size));
    if (size == text.length && !memcmp(data, text.data, size)) return HT_OK;
    return ht_params_error(params, "output.directory",
                           "the run reads %s and would replace it by another one: copy the input "
                           "to another directory or choose another output.directory",
                           path);
}

/* An output of an earlier run that this run reads. */
static HT_ERR keep(const struct ht_params *params, struct listing *list, struct entry *entry,
                   const char *key, const char *path) {
    entry->read = true;
    if (!key && entry->kind == INPUT) return check_input(params, path);
    const int number = entry->kind == SNAPSHOT ? number_of(entry->name, "fields_") : INT_MAX;
    if (number < INT_MAX / 2) { /* leaves numbers for the snapshots of any run */
        list->first = ht_most(list->first, number + 1);
        return HT_OK;
    }
    return ht_params_error(params, key ? key : "output.directory",
                           "the run reads %s and would write a file of this name: move it to "
                           "another directory or choose another output.directory",
                           path);
}

/* An input that is younger than all other outputs was changed after their run:
 * it would be stored as that run's input. */
static HT_ERR check_age(const struct ht_params *params, const struct listing *list) {
    int64_t input = 0, other = 0;
    HT_EACH(const struct entry, entry, list->entry, list->count) {
        struct stat file;
        if (entry->unfinished || (entry->kind == INPUT && !entry->read)) continue;
        HT_PATH(path, params->output.directory, entry->name);
        if (stat(path, &file) != 0) continue;
        int64_t *last = entry->kind == INPUT ? &input : &other;
        *last = ht_most(*last, (int64_t)file.st_mtim.tv_sec * 1000000000 + file.st_mtim.tv_nsec);
    }
    if (other == 0 || input <= other) return HT_OK;
    return ht_params_error(params, "output.directory",
                           "%s was changed after the run that wrote the outputs beside it: copy it "
                           "to another directory or choose another output.directory",
                           HT_INPUT_NAME);
}

static HT_ERR make_listing(const struct ht_params *params, struct listing *list) {
    TRY(ht_params_blame(params, "output.directory", list_outputs(params->output.directory, list)));
    const char *key, *path;
    for (int i = 0; i < list->count; i++) {
        HT_PATH(own, params->output.directory, list->entry[i].name);
        for (int n = 0; ht_params_reads(params, n, &key, &path); n++)
            if (same_file(own, path)) TRY(keep(params, list, &list->entry[i], key, path));
    }
    return check_age(params, list);
}

/* ---- changes ---- */

static HT_ERR refuse_busy(const struct ht_params *params, const char *holder) {
    return ht_params_error(
        params, "output.directory",
        "%s is writing to it: choose another directory, or wait until it has ended", holder);
}

static void remove_unfinished(const char *directory, const struct listing *list) {
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        HT_FREED char *path = NULL;
        if (!list->entry[i].unfinished || list->entry[i].read) continue;
        if (ht_file_path(directory, list->entry[i].name, &path) == HT_OK)
            count += unlink(path) == 0;
    }
    if (count > 0)
        ht_log("removed %d unfinished file%s of a killed run from %s", count, count > 1 ? "s" : "",
               directory);
}

static bool move_file(const char *from, const char *to) {
    struct stat file;
    if (lstat(from, &file) == 0 && S_ISLNK(file.st_mode)) {
        /* A relative link, moved one folder down, needs one more "..". */
        char target[PATH_MAX + 4] = "../";
        ssize_t length = readlink(from, target + 3, PATH_MAX - 1);
        if (length < 0) return false;
        target[3 + length] = '\0';
        (void)unlink(to); /* of a killed run, while `from` is still there */
        if (symlink(target[3] == '/' ? target + 3 : target, to) != 0) return false;
        if (unlink(from) == 0) return true;
        (void)unlink(to);
        return false;
    }
    errno = EEXIST;
    return access(to, F_OK) != 0 && rename(from, to) == 0;
}

/* The input is copied: later changes must not affect the stored one. Any other file that stays gets
 * a second name where the file system allows it. */
static HT_ERR move_entry(const struct entry *entry, const char *directory, const char *old) {
    HT_PATH(from, directory, entry->name);
    HT_PATH(to, old, entry->name);
    if (entry->read && entry->kind == INPUT) {
        HT_FREED char *data = NULL;
        size_t size = 0;
        TRY(ht_file_read(from, &data, &size));
        return ht_file_write(to, data, size);
    }
    if (entry->read && link(from, to) == 0) return HT_OK;
    if (entry->read || move_file(from, to)) return HT_OK;
    FAIL(HT_ERR_IO, "cannot move %s to %s: %s", from, to, strerror(errno));
}

/* After a failure: moves files back as far as possible. */
static void move_back(const char *directory, const struct listing *list, const char *old,
                      int moved) {
    for (int i = 0; i < moved; i++) {
        HT_FREED char *from = NULL, *to = NULL;
        const struct entry *entry = &list->entry[i];
        if (entry->unfinished) continue;
        if (ht_file_path(old, entry->name, &from) == HT_OK &&
            ht_file_path(directory, entry->name, &to) == HT_OK) {
            if (entry->read)
                (void)unlink(from);
            else
                (void)rename(from, to);
        }
    }
    (void)rmdir(old);
}

static HT_ERR move_all(const char *directory, const struct listing *list, const char *moving,
                       const char *old) {
    enum ht_err err = HT_OK;
    int count = 0, done = 0;
    for (; done < list->count; done++) {
        const struct entry *entry = &list->entry[done];
        if (!entry->unfinished) err = move_entry(entry, directory, moving);
        if (err != HT_OK) break;
        count += !entry->unfinished && !entry->read;
    }
    if (err == HT_OK && rename(moving, old) != 0)
        err = ht_err_set(HT_ERR_IO, "cannot rename %s to %s: %s", moving, old, strerror(errno));
    if (err != HT_OK)
        move_back(directory, list, moving, done);
    else
        ht_log("moved %d file%s of an earlier run to %s", count, count == 1 ? "" : "s", old);
    return err;
}

/* To the folder of a killed run that has not got all files, or a new one. */
static HT_ERR move_outputs(const char *directory, const struct listing *list) {
    bool any = list->moving;
    for (int i = 0; i < list->count; i++)
        any = any || (!list->entry[i].unfinished && !list->entry[i].read);
    if (any) {
        const int number = list->last_old + !list->moving;
        HT_PATH(old, directory, HT_KEY(OLD_NAME, number));
        HT_PATH(moving, directory, HT_KEY(OLD_NAME MOVING, number));
        REQUIRE(list->moving || mkdir(moving, 0777) == 0, HT_ERR_IO,
                "cannot create directory %s: %s", moving, strerror(errno));
        TRY(move_all(directory, list, moving, old));
    }
    if (list->first > 0)
        ht_log("snapshots begin with number %lld: the run reads number %lld",
               (long long)list->first, (long long)list->first - 1);
    return HT_OK;
}

static HT_ERR take_listed(struct ht_output *output, struct listing *list, bool resumes) {
    const struct ht_params *params = output->params;
    const char *directory = params->output.directory;
    TRY(resumes ? list_outputs(directory, list) : make_listing(params, list));
    REQUIRE(!resumes || !list->moving, HT_ERR_IO,
            "%s/" OLD_NAME MOVING " has a part of this run's files, since another run was killed "
            "while it moved them: move them back",
            directory, list->last_old);
    output->first = list->first;
    if (output->lock.state == HT_LOCK_TAKEN)
        remove_unfinished(directory, list);
    else
        ht_note("%s is on a file system without locks: keep other runs away", directory);
    if (!resumes) TRY(ht_params_blame(params, "output.directory", move_outputs(directory, list)));
    /* The caller has checked that the file that is read is the same. */
    HT_FREED_TEXT struct ht_text text = {0};
    for (int i = 0; i < list->count; i++)
        if (list->entry[i].read && list->entry[i].kind == INPUT) return HT_OK;
    TRY(ht_params_print(params, &text));
    return ht_file_write_in(params->output.directory, HT_INPUT_NAME, text.data, text.length);
}

HT_ERR ht_output_idle(const struct ht_params *params) {
    char holder[HT_LOCK_HOLDER];
    HT_PATH(path, params->output.directory, LOCK_NAME);
    TRY(ht_params_blame(params, "output.directory",
                        ht_file_check_directory(params->output.directory)));
    return ht_lock_is_busy(path, holder) ? refuse_busy(params, holder) : HT_OK;
}

static HT_ERR take_directory(struct ht_output *output, bool resumes) {
    HT_ENDED(free_listing) struct listing list = {0};
    const struct ht_params *params = output->params;
    HT_PATH(path, params->output.directory, LOCK_NAME);
    /* A directory that cannot be created is a wrong value of its key. */
    enum ht_err err = ht_file_make_directory(params->output.directory);
    if (err == HT_OK) err = ht_lock_take(path, &output->lock);
    TRY(ht_params_blame(params, "output.directory", err));
    if (output->lock.state == HT_LOCK_BUSY) return refuse_busy(params, output->lock.holder);
    return take_listed(output, &list, resumes);
}

static HT_ERR check(struct ht_output *output) {
    const struct ht_equations *eq = output->medium->eq;
    const struct ht_names *names = &output->params->output.fields;
    bool taken[HT_MAX_FIELDS] = {false};
    for (int i = 0; i < names->count; i++) {
        int field;
        TRY(ht_fields_find(output->params, eq, output->stored, "output.fields", names->name[i],
                           &field));
        taken[field] = true;
    }
    for (int f = 0; f < eq->nfields; f++) {
        if (names->count > 0 ? !taken[f] : !ht_fields_stored(output->stored, f)) continue;
        output->field[output->nfields] = f;
        output->name[output->nfields++] = eq->field[f].name;
    }
    return ht_pictures_check(output);
}

HT_ERR ht_output_check(const struct ht_params *params, const struct ht_medium *medium,
                       unsigned stored) {
    struct ht_output output = {.params = params, .medium = medium, .stored = stored};
    HT_ENDED(free_listing) struct listing list = {0};
    TRY(check(&output));
    /* Refuses when the run would write a file that it reads. Changes nothing. */
    if (ht_comm_rank(medium->grid->slab.comm) > 0 || params->resume.from != NULL) return HT_OK;
    return make_listing(params, &list);
}

HT_ERR ht_output_create(const struct ht_params *params, const struct ht_medium *medium,
                        unsigned stored, struct ht_output **out) {
    struct ht_output *output = NULL;
    enum ht_err err = HT_ALLOC(output, 1);
    if (!err) {
        *output = (struct ht_output){.params = params,
                                     .medium = medium,
                                     .comm = medium->grid->slab.comm,
                                     .grid = ht_grid_inner(medium->grid),
                                     .stored = stored,
                                     .single = params->device.precision == HT_SINGLE,
                                     .lock.fd = -1};
        err = check(output);
    }
    if (!err) err = ht_pictures_create(output);
    if (!err) err = ht_file_path(params->output.directory, HT_XDMF_NAME, &output->xdmf_path);
    if (!err) err = ht_file_path(params->output.directory, HT_TRACES_NAME, &output->traces_path);
    if (!err && ht_comm_rank(output->comm) == 0)
        err = take_directory(output, params->resume.from != NULL);
    err = ht_comm_agree(medium->grid->slab.comm, err);
    /* All ranks use the names of rank 0. */
    if (!err) err = ht_comm_broadcast(output->comm, &output->first, sizeof output->first);
    return HT_MADE(err, output, ht_output_destroy, out);
}

void ht_output_destroy(struct ht_output *output) {
    if (!output) return;
    ht_traces_end(&output->traces);
    if (output->series) fclose(output->series);
    ht_lock_release(&output->lock);
    ht_pictures_destroy(output);
    free(output->xdmf_path);
    free(output->traces_path);
    free(output->time);
    free(output);
}

/* ---- surveys: a folder of each shot, which is that of a run, in the directory ---- */

HT_ERR ht_output_survey(const struct ht_params *params, bool goes_on, struct ht_lock *lock) {
    struct ht_output output = {.params = params, .lock.fd = -1};
    const enum ht_err err = take_directory(&output, goes_on);
    *lock = output.lock;
    return err;
}

HT_ERR ht_output_create_traces(const struct ht_params *params, const struct ht_medium *medium,
                               const char *path, double mark, struct ht_output **out) {
    TRY(HT_ALLOC(*out, 1));
    **out = (struct ht_output){.params = params,
                               .medium = medium,
                               .single = params->device.precision == HT_SINGLE,
                               .alone = true,
                               .mark = mark,
                               .lock.fd = -1};
    return ht_text_copy(path, &(*out)->traces_path);
}

/* ---- snapshots: fields_NNNNNN.h5, a state of the fields, and attributes that describe it ---- */

void ht_output_stagger(struct ht_output *output, const struct ht_pair *pair, double dt) {
    output->staggered = true;
    output->pair = *pair;
    output->dt = dt;
}

static HT_ERR write_attributes(const struct ht_output *output, double time, int64_t step,
                               struct ht_h5 *file) {
    const struct ht_grid *grid = &output->grid;
    double order = grid->order, at = (double)step, cells[3], offset[3];
    for (int k = 0; k < grid->dims; k++) cells[k] = (double)grid->cells[k];
    TRY(ht_h5_set_number(file, "time", 1, &time));
    TRY(ht_h5_set_number(file, "step", 1, &at));
    TRY(ht_h5_set_number(file, "order", 1, &order));
    TRY(ht_h5_set_number(file, "cells", grid->dims, cells));
    TRY(ht_planes_describe(output->params, grid, file));
    for (int i = 0; output->staggered && i < output->nfields; i++) {
        const int f = output->field[i];
        at = time - (output->pair.group[0] >> f & 1u ? output->dt / 2 : 0);
        for (int k = 0; k < grid->dims; k++)
            offset[k] = output->pair.parity[f] >> k & 1u ? grid->h[k] / 2 : 0;
        TRY(ht_h5_set_number(file, HT_KEY("offset_%s", output->name[i]), grid->dims, offset));
        TRY(ht_h5_set_number(file, HT_KEY("time_%s", output->name[i]), 1, &at));
    }
    if (!output->params->output.coefficients) return HT_OK;
    return ht_h5_set_text(file, "coefficient_index",
                          "(i3 (order+1) + i2) (order+1) + i1 for spacing^i/i! times the "
                          "derivative of orders i1, i2, i3");
}

enum { NAME = 64, SETS = 2 * HT_MAX_FIELDS, MOST_SETS = 64 };

HT_ERR ht_planes_describe(const struct ht_params *params, const struct ht_grid *grid,
                          struct ht_h5 *file) {
    TRY(ht_h5_set_text(file, "system", params->system));
    TRY(ht_h5_set_number(file, "lower", grid->dims, grid->lower));
    TRY(ht_h5_set_number(file, "spacing", grid->dims, grid->h));
    return ht_units_write(params, file);
}

struct ht_h5_values ht_planes_set(const struct ht_grid *grid, const char *name, bool single,
                                  bool whole, const double *data) {
    const int64_t planes = ht_grid_nodes(grid, HT_PRIMARY, grid->dims - 1);
    return (struct ht_h5_values){.name = name,
                                 .single = single,
                                 .rank = grid->dims + whole,
                                 .groups = whole ? ht_grid_coefs(grid) : 1,
                                 .planes = planes,
                                 .plane = ht_grid_total(grid, HT_PRIMARY) / planes,
                                 .data = data};
}

/* All ranks get the file's temporary name and the places of its datasets, and write their own
 * planes. The bytes are those of a single rank. shared: on rank 0. */
static HT_ERR write_values(const struct ht_grid *grid, const char *shared, const char *path,
                           int count, struct ht_h5_values *set) {
    struct ht_comm *comm = grid->slab.comm;
    const struct ht_range all = {0, ht_grid_nodes(grid, HT_PRIMARY, grid->dims - 1)};
    const struct ht_range own = grid->dims < 3 ? all : ht_grid_own(grid, HT_PRIMARY);
    struct ht_h5_values first[MOST_SETS] = {{0}};
    HT_FREED char *name = NULL;
    memcpy(first, set, (size_t)count * sizeof *set);
    enum ht_err err = ht_comm_broadcast(comm, first, sizeof first);
    if (!err) err = ht_comm_broadcast_text(comm, shared, &name);
    TRY(ht_comm_agree(comm, err));
    for (int i = 0; i < count; i++) {
        set[i].offset = first[i].offset;
        set[i].sums = first[i].sums;
    }
    if (count > 0) err = ht_h5_fill(name, path, count, set, own.first, own.last);
    if (!err) err = ht_file_sync(name, path);
    return ht_comm_agree(comm, err);
}

HT_ERR ht_planes_end(const struct ht_grid *grid, enum ht_err err, struct ht_h5 *file,
                     const char *path, int count, struct ht_h5_values *set) {
    struct ht_comm *comm = grid->slab.comm;
    const char *shared = NULL;
    for (int i = 0; !err && file && i < count; i++) { /* whole: [coefficient] n3 n2 n1 */
        const bool whole = set[i].rank > grid->dims;
        int64_t extent[4] = {set[i].groups};
        for (int k = 0; k < grid->dims; k++)
            extent[1 + k] = ht_grid_nodes(grid, HT_PRIMARY, grid->dims - 1 - k);
        err = ht_h5_place(file, extent + !whole, whole, &set[i]);
    }
    if (!err && file) err = ht_h5_share(file, &shared);
    err = ht_comm_agree(comm, err);
    if (!err) err = write_values(grid, shared, path, count, set);
    if (file && err)
        ht_h5_close(file);
    else if (file)
        err = ht_h5_commit(file);
    return ht_comm_agree(comm, err);
}

/* Datasets: the fields, then their coefficients, if these are not NULL. */
static HT_ERR write_snapshot(const struct ht_output *output, double time, int64_t step,
                             const double *const *nodal, const double *coefs, const char *path) {
    struct ht_h5 *file = NULL;
    struct ht_h5_values set[SETS] = {{0}};
    char name[SETS][NAME];
    const struct ht_grid *grid = &output->grid;
    const int64_t own = ht_grid_coefs(grid) * ht_grid_own_total(grid, HT_PRIMARY);
    enum ht_err err = HT_OK;
    int count = 0;
    for (; count < (coefs ? 2 : 1) * output->nfields; count++) {
        const int i = count % output->nfields, field = output->field[i];
        const bool whole = count >= output->nfields;
        snprintf(name[count], NAME, "%s%s", output->name[i], whole ? "_coefficients" : "");
        set[count] = ht_planes_set(grid, name[count], output->single, whole,
                                   whole ? coefs + field * own : nodal[field]);
    }
    if (ht_comm_rank(output->comm) == 0)
        err = ht_h5_create(path, output->params->output.checksums, &file);
    if (!err && file) err = write_attributes(output, time, step, file);
    return ht_planes_end(grid, err, file, path, count, set);
}

/* ---- fields.xdmf: the list of snapshots for ParaView and VisIt ----
 *
 * XDMF 3: a temporal collection of uniform rectilinear grids whose values stay in the HDF5 files
 * beside it. XDMF names axes slowest first, as HDF5 does: dimensions, origin and spacing are x3 x2
 * x1. The grid always has three dimensions, with one node along axes that the run lacks: VTK's
 * reader puts a two-dimensional grid into the y-z plane, this one into x-y. The grid is that of the
 * stored nodes: the node behind a periodic seam is not repeated. Staggered fields that stand at
 * different places have a grid each, in a spatial collection. */

#define NUMBERS                                                           \
    "     <DataItem Format=\"XML\" NumberType=\"Float\" Precision=\"8\" " \
    "Dimensions=\"3\">%.17g %.17g %.17g</DataItem>\n"

/* Axes along which a field stands half a spacing from the nodes. */
static unsigned parity_of(const struct ht_output *output, int i) {
    const unsigned axes = (1u << output->grid.dims) - 1;
    return output->staggered ? output->pair.parity[output->field[i]] & axes : 0;
}

/* The fields from number `first` on that stand where it does. */
static void add_grid(const struct ht_output *output, int index, int first, struct ht_text *text) {
    const struct ht_grid *grid = &output->grid;
    const int number = (int)output->first + index;
    const unsigned parity = parity_of(output, first);
    const double *h = grid->h;
    double from[3];
    int64_t nodes[3];
    for (int k = 0; k < 3; k++) {
        nodes[k] = ht_grid_nodes(grid, HT_PRIMARY, 2 - k);
        from[k] = grid->lower[k] + (parity >> k & 1u ? h[k] / 2 : 0);
    }
    const char *size = ht_text_extents(3, nodes, " ", (char[192]){0});
    ht_text_add(text,
                "   <Grid Name=\"snapshot %d %s\" GridType=\"Uniform\">\n"
                "    <Time Value=\"%.17g\"/>\n"
                "    <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%s\"/>\n"
                "    <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n" NUMBERS NUMBERS
                "    </Geometry>\n",
                number, output->name[first], output->time[index], size, from[2], from[1], from[0],
                h[2], h[1], h[0]);
    for (int f = first; f < output->nfields; f++)
        if (parity_of(output, f) == parity)
            ht_text_add(text,
                        "    <Attribute Name=\"%s\" AttributeType=\"Scalar\" Center=\"Node\">\n"
                        "     <DataItem Format=\"HDF\" NumberType=\"Float\" Precision=\"%d\" "
                        "Dimensions=\"%s\">" HT_SNAPSHOT_NAME ":/%s</DataItem>\n    </Attribute>\n",
                        output->name[f], output->single ? 4 : 8, size, number, output->name[f]);
    ht_text_add(text, "   </Grid>\n");
}

static void add_snapshot(const struct ht_output *output, int index, struct ht_text *text) {
    bool several = false;
    for (int f = 1; f < output->nfields; f++)
        several = several || parity_of(output, f) != parity_of(output, 0);
    if (several)
        ht_text_add(text,
                    "   <Grid Name=\"snapshot %d\" GridType=\"Collection\" "
                    "CollectionType=\"Spatial\">\n    <Time Value=\"%.17g\"/>\n",
                    (int)output->first + index, output->time[index]);
    for (int f = 0; f < output->nfields; f++) {
        int like = 0;
        while (parity_of(output, like) != parity_of(output, f)) like++;
        if (like == f) add_grid(output, index, f, text);
    }
    if (several) ht_text_add(text, "   </Grid>\n");
}

static HT_ERR write_xdmf(const struct ht_output *output) {
    HT_FREED_TEXT struct ht_text text = {0};
    ht_text_add(&text,
                "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                "<Xdmf Version=\"3.0\">\n"
                " <Domain>\n"
                "  <Grid Name=\"htwave\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    for (int i = 0; i < output->count; i++) add_snapshot(output, i, &text);
    ht_text_add(&text, "  </Grid>\n </Domain>\n</Xdmf>\n");
    TRY(ht_text_status(&text));
    return ht_file_write(output->xdmf_path, text.data, text.length);
}

HT_ERR ht_output_snapshot(struct ht_output *output, double time, int64_t step,
                          const double *const *nodal, const double *coefs) {
    const double *stored = output->params->output.coefficients ? coefs : NULL;
    const char *name = HT_KEY(HT_SNAPSHOT_NAME, (int)(output->first + output->count));
    HT_FREED char *path = NULL;
    if (!output->params->output.snapshots) return HT_OK;
    enum ht_err err = ht_file_path(output->params->output.directory, name, &path);
    if (!err) err = HT_GROW(output->time, output->count + 1, output->room);
    TRY(ht_comm_agree(output->comm, err));
    TRY(write_snapshot(output, time, step, nodal, stored, path));
    output->time[output->count++] = time;
    return HT_BY_FIRST(output->comm, write_xdmf(output));
}

/* ---- checkpoints ---- */

HT_ERR ht_output_checkpoint(struct ht_output *output, ht_archive_walk *walk, void *context) {
    const char *directory = output->params->output.directory;
    HT_PATH(path, directory, HT_CHECKPOINT_NAME);
    HT_PATH(older, directory, HT_CHECKPOINT_OLDER);
    return ht_archive_save(output->comm, path, older, walk, context);
}

/* Snapshots and pictures of steps after a checkpoint: the run writes them again. */
static HT_ERR remove_later(const struct ht_output *output) {
    const char *directory = output->params->output.directory;
    const int64_t next[OUTPUTS] = {[SNAPSHOT] = output->first + output->count,
                                   [PICTURE] = output->drawn,
                                   [SLICE] = output->drawn};
    HT_ENDED(free_listing) struct listing list = {0};
    TRY(list_outputs(directory, &list));
    HT_EACH_BY(i, const char, name, list.entry[i].name, list.count) {
        const int kind = list.entry[i].kind;
        if (list.entry[i].unfinished || kind < SNAPSHOT || kind > SLICE) continue;
        if (number_of(strrchr(name, '_'), "_") < next[kind]) continue;
        HT_PATH(path, directory, name);
        REQUIRE(unlink(path) == 0, HT_ERR_IO, "cannot remove %s: %s", path, strerror(errno));
    }
    return output->count > 0 ? write_xdmf(output) : HT_OK;
}

HT_ERR ht_output_archive(struct ht_output *output, struct ht_archive *archive) {
    int64_t bytes = output->series != NULL ? ftell(output->series) : 0;
    ht_archive_integer(archive, "snapshots", &output->count);
    ht_archive_integer(archive, "first_snapshot", &output->first);
    ht_archive_integer(archive, "series_bytes", &bytes);
    if (ht_archive_loads(archive)) TRY(HT_GROW(output->time, output->count + 1, output->room));
    ht_archive_numbers(archive, "snapshot_times", output->count, output->time, false);
    ht_pictures_archive(output, archive);
    if (!ht_archive_loads(archive)) return HT_OK;
    TRY(ht_archive_status(archive));
    if (ht_comm_rank(output->comm) > 0) return HT_OK;
    TRY(remove_later(output));
    /* series.csv may have more rows than these: the run goes on behind them. */
    if (bytes == 0 || !output->params->output.series) return HT_OK;
    HT_PATH(path, output->params->output.directory, HT_SERIES_NAME);
    output->series = fopen(path, "r+");
    REQUIRE(output->series != NULL && ftruncate(fileno(output->series), (off_t)bytes) == 0 &&
                fseek(output->series, 0, SEEK_END) == 0,
            HT_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    return HT_OK;
}

HT_ERR ht_output_summary(struct ht_output *output, const char *json) {
    return HT_BY_FIRST(output->comm, ht_file_write_in(output->params->output.directory,
                                                      HT_SUMMARY_NAME, json, strlen(json)));
}

void ht_output_report(const struct ht_output *output, struct ht_facts *f) {
    const char *directory = output->params->output.directory;
    const char *xdmf = output->count > 0 ? output->xdmf_path : NULL;
    if (output->last_picture) ht_say(f, "  picture   %s\n", output->last_picture);
    if (xdmf) ht_say(f, "  ParaView  %s\n", xdmf);
    if (output->params->receivers.count > 0) ht_say(f, "  traces    %s/traces.h5\n", directory);
    ht_say(f, "  summary   %s/summary.json\n", directory);
    ht_fact(f, HT_TEXT("picture", output->last_picture), HT_TEXT("xdmf", xdmf));
}

HT_ERR ht_output_series(struct ht_output *output, double time, double energy,
                        const double *largest) {
    if (!output->params->output.series) return HT_OK;
    HT_PATH(path, output->params->output.directory, HT_SERIES_NAME);
    const struct ht_equations *eq = output->medium->eq;
    if (output->series == NULL) {
        output->series = fopen(path, "w");
        REQUIRE(output->series, HT_ERR_IO, "cannot write %s: %s", path, strerror(errno));
        fprintf(output->series, "time,energy");
        for (int f = 0; f < eq->nfields; f++)
            if (ht_fields_stored(output->stored, f))
                fprintf(output->series, ",largest_%s", eq->field[f].name);
        fprintf(output->series, "\n");
    }
    fprintf(output->series, "%.15g,%.17g", time, energy);
    for (int f = 0; f < eq->nfields; f++)
        if (ht_fields_stored(output->stored, f)) fprintf(output->series, ",%.9g", largest[f]);
    fprintf(output->series, "\n");
    REQUIRE(fflush(output->series) == 0, HT_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    return HT_OK;
}
