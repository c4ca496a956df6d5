/* htwave continue: goes on from the checkpoint of a run, with its input. */
#include "app.h"

static enum ht_err check(const char *path) {
    double format = 0;
    HT_FREED char *version = NULL;
    TRY(ht_archive_read_number(path, "format", &format));
    TRY(ht_archive_read_text(path, "version", &version));
    REQUIRE(format == HT_ARCHIVE_FORMAT, HT_ERR_INPUT,
            "%s is of htwave %s, whose checkpoints have format %g; this program (%s) reads format "
            "%d: continue with that version",
            path, version, format, HT_VERSION, HT_ARCHIVE_FORMAT);
    return ht_archive_check(path);
}

/* The last one that is as it was stored. */
static enum ht_err choose(const char *directory, char **out) {
    static const char *const name[] = {HT_CHECKPOINT_NAME, HT_CHECKPOINT_OLDER};
    bool any = false;
    for (int i = 0; i < 2; i++) {
        HT_PATH(path, directory, name[i]);
        if (!ht_file_exists(path)) continue;
        const enum ht_err err = check(path);
        if (err == HT_OK) return ht_text_copy(path, out);
        if (err != HT_ERR_IO) return err;
        any = true;
        ht_warn("%s", ht_err_message());
    }
    REQUIRE(!any, HT_ERR_IO, "%s: no checkpoint there can be read", directory);
    FAIL(HT_ERR_INPUT,
         "%s has no checkpoint: a run writes them where output.checkpoint.seconds or "
         "output.checkpoint.every asks for them",
         directory);
}

/* The first line of a text that another lacks, in `line`. */
static bool find_other(const char *text, const char *other, char *line, size_t size) {
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
        const size_t length = strcspn(at, "\n") + 1;
        const char *found = other;
        while (*found != '\0' && strncmp(found, at, length) != 0) found += strcspn(found, "\n") + 1;
        if (*found != '\0') continue;
        snprintf(line, size, "%.*s", (int)ht_least((int64_t)length - 1, (int64_t)size - 1), at);
        return true;
    }
    return false;
}

static enum ht_err compare(const struct ht_params *params, const char *path) {
    HT_FREED_TEXT struct ht_text now = {0};
    HT_FREED char *then = NULL;
    char line[200];
    TRY(ht_params_physics(params, &now));
    TRY(ht_archive_read_text(path, "physics", &then));
    REQUIRE(
        !find_other(now.data, then, line, sizeof line), HT_ERR_INPUT,
        "%s: not so in the run of %s: only time.end and keys of output, device and parallel, but "
        "device.precision, may change",
        line, path);
    REQUIRE(!find_other(then, now.data, line, sizeof line), HT_ERR_INPUT,
            "the run of %s has %s, which the input lacks: only time.end and keys of output, device "
            "and parallel, but device.precision, may change",
            path, line);
    return HT_OK;
}

/* The steps stay; another end takes more or fewer of them. */
static enum ht_err set_steps(struct ht_params *params, const char *path) {
    const double rounding = 1e-12;
    double all = 0, done = 0, end = 0;
    TRY(ht_archive_read_number(path, "all_steps", &all));
    TRY(ht_archive_read_number(path, "steps", &done));
    TRY(ht_archive_read_number(path, "end", &end));
    const double steps = end > 0 ? ceil(params->time.end / end * all * (1 - rounding)) : all;
    REFUSE(steps <= done || !(steps < 1e15), params, "time.end",
           "must lie behind the checkpoint, which is at time %g", end * done / all);
    const double whole = end > 0 ? end / all * steps : params->time.end;
    if (fabs(whole - params->time.end) > rounding * whole) {
        params->time.end = whole;
        ht_log("time.end is %.15g, a whole number of steps", whole);
    }
    params->resume.steps = (int64_t)steps;
    params->resume.left = 1 - done / steps;
    ht_log("going on from %s: step %.0f of %.0f", path, done, steps);
    return HT_OK;
}

static enum ht_err prepare(const char *directory, struct ht_params *params) {
    TRY(choose(directory, &params->resume.from));
    TRY(compare(params, params->resume.from));
    return set_steps(params, params->resume.from);
}

/* Rank 0 looks at the files; all get what it finds. */
static enum ht_err share(struct ht_comm *comm, struct ht_params *params) {
    char *from = NULL;
    TRY(ht_comm_broadcast_text(comm, params->resume.from, &from));
    free(params->resume.from);
    params->resume.from = from;
    TRY(ht_comm_broadcast(comm, &params->resume.steps, sizeof params->resume.steps));
    TRY(ht_comm_broadcast(comm, &params->resume.left, sizeof params->resume.left));
    return ht_comm_broadcast(comm, &params->time.end, sizeof params->time.end);
}

enum ht_err ht_command_continue(const struct ht_args *args) {
    const char *directory = args->operand[0];
    const int count = args->count; /* of overrides, with the directory's */
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    HT_FREED char *input = NULL, *own = NULL;
    HT_FREED char **given = NULL;
    TRY(HT_ALLOC(given, count));
    TRY(ht_text_print(&own, "output.directory=\"%s\"", directory));
    for (int i = 1; i < count; i++) given[i - 1] = args->operand[i];
    given[count - 1] = own;
    TRY(ht_file_path(directory, HT_INPUT_NAME, &input));
    TRY(ht_params_read(input, count, given, &params));
    TRY(HT_BY_FIRST(args->comm, prepare(directory, params)));
    TRY(share(args->comm, params));
    return ht_run_input(params, args);
}
