/* Observed traces, and places of SEG-Y files; see the headers. */
#include "files.h"
#include "htwave/observed.h"

/* What a file is read for. */
struct source {
    const struct ht_params *params;
    const struct ht_grid *grid;
    const struct ht_shots *shots; /* NULL: none */
    const struct ht_receivers *receivers;
    const char *key, *path; /* the option that names the file */
    const char *kind;       /* whose places are compared: "receiver", "source" */
    int shot;
    bool weights; /* not below 0; a number for each trace will do, of SEG-Y not */
};
/* "GROUP/FIELD" of reading i of a group, for messages and as the name of a dataset. */
#define TRACE_NAME(group, i) HT_KEY("%s/%s", (group)->name, (group)->reading[i].name)

/* Refuses samples that are not those of a group. */
struct times {
    int64_t samples;
    double start, every; /* every NaN: not known */
    double off;          /* error of the start */
};

static HT_ERR check_times(const struct source *of, const struct ht_receiver_group *group,
                          const struct times *times) {
    const double every = group->every > 0 ? group->every : of->receivers->dt;
    const double start = ht_receivers_time(of->receivers, group, 0), small = 1e-3 * every;
    const bool same = times->samples == group->samples &&
                      fabs(times->start - start) <= fmax(small, times->off) &&
                      fabs(times->every - every) * (double)(group->samples - 1) <= small;
    if (same || (times->samples == 1 && group->samples == 1)) return HT_OK;
    return ht_params_error(
        of->params, of->key,
        "%s has %lld samples %.9g apart from %.9g on, and the receivers \"%s\" record %lld %.9g "
        "apart from %.9g on: change their every and start, and time.end, or resample the file "
        "(tools/resample.py --every %.9g --start %.9g --samples %lld)",
        of->path, (long long)times->samples, times->every, times->start, group->name,
        (long long)group->samples, every, start, every, start, (long long)group->samples);
}

/* Refuses a receiver or source that stands elsewhere, but for `off`. */
static HT_ERR check_place(const struct source *of, const struct ht_receiver_group *at, int64_t i,
                          const double *x, double off) {
    for (int k = 0; k < of->grid->dims; k++)
        if (!(fabs(x[k] - at->x[i][k]) <= 1e-3 * of->grid->h[k] + off))
            return ht_params_error(of->params, of->key,
                                   "%s has %s %lld of \"%s\" at %s, not at %s: the traces "
                                   "are of other %ss, or in another order",
                                   of->path, of->kind, (long long)i + 1, at->name,
                                   HT_PLACED(of->grid, x), HT_PLACED(of->grid, at->x[i]), of->kind);
    return HT_OK;
}

/* ---- HDF5 ---- */

/* Where the file has them. */
static HT_ERR check_places(const struct source *of, struct ht_h5 *file,
                           const struct ht_receiver_group *at) {
    const char *name = HT_KEY("%s/position", at->name);
    const int dims = of->grid->dims;
    HT_ENDED(ht_array_end) struct ht_array x = {.rank = 0};
    if (!ht_h5_has(file, name)) return HT_OK;
    TRY(ht_h5_array(file, name, &x));
    REFUSE(x.rank != 2 || x.extent[0] != at->count || x.extent[1] != dims, of->params, of->key,
           "%s of %s has %s numbers, not %lld x %d: it is of other %ss", name, of->path,
           HT_EXTENTS(x.rank, x.extent), (long long)at->count, dims, of->kind);
    for (int64_t i = 0; i < at->count; i++) TRY(check_place(of, at, i, x.value + i * dims, 0));
    return HT_OK;
}

/* Their signals may differ: wavelets are found beside the medium. */
static HT_ERR check_sources(const struct source *of, struct ht_h5 *file) {
    HT_ENDED(ht_places_free) struct ht_places at = {.x = NULL};
    struct source sources = *of;
    if (of->weights || of->shots == NULL) return HT_OK;
    TRY(ht_places_make(of->shots, NULL, &at));
    sources.kind = "source";
    return check_places(
        &sources, file,
        &(struct ht_receiver_group){.name = "sources", .count = at.count, .x = at.x});
}

static HT_ERR check_group(const struct source *of, struct ht_h5 *file,
                          const struct ht_receiver_group *group) {
    const char *time = HT_KEY("%s/time", group->name);
    HT_ENDED(ht_array_end) struct ht_array t = {.rank = 0};
    if (ht_h5_has(file, time)) {
        TRY(ht_h5_array(file, time, &t));
        const int64_t last = t.extent[0] - 1;
        const struct times times = {.samples = t.extent[0],
                                    .start = t.value[0],
                                    .every = (t.value[last] - t.value[0]) / (double)last};
        TRY(check_times(of, group, &times));
    }
    return check_places(of, file, group);
}

static HT_ERR read_group(const struct source *of, struct ht_h5 *file,
                         const struct ht_receiver_group *group, double *data) {
    int64_t extent[8];
    int rank;
    for (int i = 0; i < group->readings; i++, data += group->count * group->samples) {
        const char *name = TRACE_NAME(group, i);
        if (!ht_h5_has(file, name))
            return ht_params_blame(of->params, of->key, ht_h5_lacks(file, name));
        TRY(ht_h5_extent(file, name, &rank, extent));
        if (of->weights && rank == 1 && extent[0] == group->count) {
            TRY(ht_h5_read(file, name, group->count, data));
            for (int64_t j = group->count * group->samples - 1; j >= 0; j--)
                data[j] = data[j / group->samples];
            continue;
        }
        REFUSE(rank != 2 || extent[0] != group->count || extent[1] != group->samples, of->params,
               of->key, "%s of %s has %s values, not %lld receivers x %lld samples", name, of->path,
               HT_EXTENTS(rank, extent), (long long)group->count, (long long)group->samples);
        TRY(ht_h5_read(file, name, group->count * group->samples, data));
    }
    return HT_OK;
}

static HT_ERR read_h5(const struct source *of, double *const *data) {
    HT_ENDED(ht_h5_end) struct ht_h5 *file = NULL;
    TRY(ht_params_blame(of->params, of->key, ht_h5_open(of->path, &file)));
    TRY(check_sources(of, file));
    for (int n = 0; n < of->receivers->count; n++) {
        TRY(check_group(of, file, &of->receivers->group[n]));
        TRY(read_group(of, file, &of->receivers->group[n], data[n]));
    }
    return HT_OK;
}

/* ---- .npy: [trace][sample] of all groups; times and places are not in it ---- */

static HT_ERR read_npy(const struct source *of, double *const *data) {
    HT_ENDED(ht_array_end) struct ht_array array = {.rank = 0};
    const struct ht_receivers *receivers = of->receivers;
    const int64_t samples = receivers->group[0].samples, *extent = array.extent;
    int64_t at = 0;
    TRY(ht_params_blame(of->params, of->key, ht_npy_read(of->path, &array)));
    const bool each = of->weights && array.rank == 1 && extent[0] == receivers->traces;
    HT_EACH_AT(n, const struct ht_receiver_group, group, receivers->group, receivers->count) {
        const int64_t count = group->readings * group->count * samples;
        REFUSE((!each &&
                (array.rank != 2 || extent[0] != receivers->traces || extent[1] != samples)) ||
                   group->samples != samples,
               of->params, of->key, "%s has %s values, not %lld traces x %lld samples%s", of->path,
               HT_EXTENTS(array.rank, extent), (long long)receivers->traces, (long long)samples,
               group->samples != samples ? " of all groups" : "");
        for (int64_t j = 0; j < count; j++)
            data[n][j] = array.value[each ? (at + j) / samples : at + j];
        at += count;
    }
    return HT_OK;
}

/* ---- SEG-Y (src/base/segy.c) ---- */

bool ht_is_segy(const char *path) {
    return ht_file_ends(path, "sgy|segy");
}

struct segy {
    const struct source *of;
    struct ht_segy file;
    double length, time; /* of a metre and a second in the input's units */
    bool placed[2][3];   /* some header has such a coordinate of its source, receiver */
};

static void close_segy(const struct segy *s) {
    ht_segy_close(&s->file);
}

static HT_ERR blame(const struct segy *s, enum ht_err err) {
    return ht_params_blame(s->of->params, s->of->key, err);
}

/* ---- which traces, and what their headers say ---- */

/* A coordinate of the source (0) or receiver (1), and its rounding, in the input's units. */
static double place_of(const struct segy *s, int which, int axis) {
    static const int byte[2][3] = {{73, 77, 45}, {81, 85, 41}};
    const struct ht_params *params = s->of->params;
    const int slot = ht_segy_slot(params, axis);
    double x = ht_segy_scaled(&s->file, byte[which][slot], 4, slot < 2 ? 71 : 69);
    if (slot == 2 && which == 0) x -= ht_segy_scaled(&s->file, 49, 4, 69); /* below the surface */
    return s->length * (axis == ht_down_axis(params) ? -x : x);
}

static double rounding(const struct segy *s) {
    return 0.51 * s->length * fmax(ht_segy_scalar(&s->file, 71), ht_segy_scalar(&s->file, 69));
}

/* The source in the header is that of the shot, along axes of which some header has a number. */
static bool is_of_source(const struct segy *s) {
    const double *x = ht_shots_place(s->of->params);
    for (int k = 0; k < s->of->grid->dims && x != NULL; k++)
        if (s->placed[0][k] &&
            fabs(place_of(s, 0, k) - x[k]) > 1e-3 * s->of->grid->h[k] + rounding(s))
            return false;
    return true;
}

/* numbered: and the field record number is the shot's. */
static HT_ERR count_own(struct segy *s, bool numbered, int64_t *number, int64_t *count) {
    *count = 0;
    for (int64_t i = 0; i < s->file.traces; i++) {
        TRY(ht_segy_trace(&s->file, i, false));
        if (!is_of_source(s) || (numbered && ht_segy_get(s->file.trace, 9, 4) != s->of->shot))
            continue;
        if (*count < s->of->receivers->traces) number[*count] = i;
        ++*count;
    }
    return HT_OK;
}

/* number[trace]: in the file. Those of the shot's source or, of more than there are receivers, of
 * its number. */
static HT_ERR choose(struct segy *s, int64_t *number) {
    const struct source *of = s->of;
    const int64_t wanted = of->receivers->traces;
    int64_t found;
    for (int64_t i = 0; i < s->file.traces; i++) {
        TRY(ht_segy_trace(&s->file, i, false));
        for (int n = 0; n < 6; n++)
            s->placed[n / 3][n % 3] = s->placed[n / 3][n % 3] || place_of(s, n / 3, n % 3) != 0;
    }
    TRY(count_own(s, false, number, &found));
    if (found > wanted) TRY(count_own(s, true, number, &found));
    REQUIRE(
        found == wanted, HT_ERR_INPUT,
        "%s has %lld traces, %lld of them of shot %d (by the source's place, bytes 73 to 80 and "
        "45 to 48, where headers have one, and by the number at 9 to 12), and its receivers "
        "record %lld",
        of->path, (long long)s->file.traces, (long long)found, of->shot, (long long)wanted);
    return HT_OK;
}

static HT_ERR check_header(const struct segy *s, const struct ht_receiver_group *group,
                           int64_t receiver) {
    const unsigned char *h = s->file.trace;
    const int64_t us = ht_segy_get(h, 117, 2) & 0xffff, samples = ht_segy_get(h, 115, 2) & 0xffff;
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = s->placed[1][k] ? place_of(s, 1, k) : group->x[receiver][k];
    const bool own = us > 0 && fabs((double)us - s->file.interval) > 0.5;
    const struct times times = {.samples = samples > 0 ? samples : s->file.samples,
                                .every = s->time * 1e-6 * (own ? (double)us : s->file.interval),
                                .start = s->time * 1e-3 * ht_segy_scaled(&s->file, 109, 2, 215),
                                .off = s->time * 0.51e-3};
    TRY(check_times(s->of, group, &times));
    return check_place(s->of, group, receiver, x, rounding(s));
}

static HT_ERR read_values(struct segy *s, double *const *data) {
    HT_ARRAY(int64_t, number, s->of->receivers->traces);
    TRY(blame(s, choose(s, number)));
    const int64_t *next = number;
    HT_EACH_AT(n, const struct ht_receiver_group, group, s->of->receivers->group,
               s->of->receivers->count) {
        for (int64_t t = 0; t < group->readings * group->count; t++) {
            TRY(blame(s, ht_segy_trace(&s->file, *next++, true)));
            TRY(check_header(s, group, t % group->count));
            for (int64_t j = 0; j < group->samples; j++)
                data[n][t * group->samples + j] = ht_segy_value(&s->file, j);
        }
    }
    return HT_OK;
}

static HT_ERR read_segy(const struct source *of, double *const *data) {
    HT_ENDED(close_segy)
    struct segy s = {.of = of,
                     .length = 1 / ht_segy_unit(of->params, "length"),
                     .time = 1 / ht_segy_unit(of->params, "time")};
    TRY(blame(&s, ht_segy_open(of->path, &s.file)));
    return read_values(&s, data);
}

HT_ERR ht_segy_places(const struct ht_params *params, const char *path, ht_file_row *take,
                      void *context) {
    const struct source of = {.params = params, .path = path};
    HT_ENDED(close_segy)
    struct segy s = {.of = &of, .length = 1 / ht_segy_unit(params, "length")};
    const int dims = params->grid.dims;
    bool placed = false;
    TRY(ht_segy_open(path, &s.file));
    for (int64_t i = 0; i < s.file.traces; i++) {
        double row[6] = {0};
        TRY(ht_segy_trace(&s.file, i, false));
        for (int n = 0; n < 2 * dims; n++) {
            row[n] = place_of(&s, n / dims, n % dims);
            placed = placed || row[n] != 0;
        }
        TRY(take(context, i + 1, row));
    }
    REQUIRE(placed, HT_ERR_INPUT, "the headers of %s have no places (bytes 73 to 88, 41 to 52)",
            path);
    return HT_OK;
}

/* ---- values ---- */

static HT_ERR check_values(const struct source *of, double *const *data) {
    bool any = false;
    HT_EACH_AT(n, const struct ht_receiver_group, group, of->receivers->group,
               of->receivers->count) {
        for (int64_t i = 0; i < group->readings * group->count * group->samples; i++) {
            const int64_t trace = i / group->samples;
            const bool finite = isfinite(data[n][i]);
            REFUSE(!finite || (of->weights && data[n][i] < 0), of->params, of->key,
                   "%s: %ssample %lld of receiver %lld of %s is %g: %s", of->path,
                   finite ? "the weight of " : "", (long long)(i % group->samples) + 1,
                   (long long)(trace % group->count) + 1, TRACE_NAME(group, trace / group->count),
                   data[n][i],
                   finite ? "weights are >= 0"
                          : "mend it, or make the trace 0, which leaves it out");
            any = any || data[n][i] != 0;
        }
    }
    /* derivatives of one's own may be 0 */
    any = any || (!of->weights && of->params->gradient.misfit == HT_MISFIT_GIVEN);
    REFUSE(!any, of->params, of->key, "%s: all values of shot %d are 0", of->path, of->shot);
    return HT_OK;
}

static HT_ERR read_file(const struct source *of, struct ht_pool *pool, double ***out) {
    REFUSE(!of->weights && !ht_file_exists(of->path), of->params, of->key,
           "%s does not exist: htwave data FILE makes the data of a model", of->path);
    TRY(ht_receivers_room(pool, of->receivers, out));
    TRY((ht_is_segy(of->path)            ? read_segy
         : ht_file_ends(of->path, "npy") ? read_npy
                                         : read_h5)(of, *out));
    return check_values(of, *out);
}

HT_ERR ht_observed_read(const struct ht_plan *plan, int shot, const struct ht_receivers *receivers,
                        const char *key, const char *path, struct ht_observed *out) {
    struct source of = {.params = plan->params,
                        .grid = &plan->grid,
                        .shots = plan->shots,
                        .receivers = receivers,
                        .key = key,
                        .path = path,
                        .kind = "receiver",
                        .shot = shot};
    HT_FREED char *weights = NULL;
    TRY(read_file(&of, &out->pool, &out->data));
    if (*plan->params->gradient.weights == '\0') return HT_OK;
    TRY(ht_text_numbered(plan->params->gradient.weights, shot, &weights));
    of.key = "gradient.weights";
    of.path = weights;
    of.weights = true;
    return read_file(&of, &out->pool, &out->weight);
}
