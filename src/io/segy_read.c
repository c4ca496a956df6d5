/* Traces from SEG-Y files (src/base/segy.c). */
#include "segy.h"
#include "trace_read.h"

bool ht_is_segy(const char *path) {
    return ht_file_ends(path, "sgy|segy");
}

struct segy {
    const struct ht_trace_source *of;
    struct ht_segy file;
    double length, time; /* of a metre and a second in the input's units */
    bool placed[2][3];   /* some header has such a coordinate of its source, receiver */
};

static void close_segy(const struct segy *s) {
    ht_segy_close(&s->file);
}

static enum ht_err blame(const struct segy *s, enum ht_err err) {
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
static enum ht_err count_own(struct segy *s, bool numbered, int64_t *number, int64_t *count) {
    const int64_t wanted = s->of->receivers->traces;
    *count = 0;
    for (int64_t i = 0; i < s->file.traces; i++) {
        TRY(ht_segy_trace(&s->file, i, false));
        if (!is_of_source(s) || (numbered && ht_segy_get(s->file.trace, 9, 4) != s->of->shot))
            continue;
        if (*count < wanted) number[*count] = i;
        ++*count;
    }
    return HT_OK;
}

/* number[trace]: in the file. Those of the shot's source or, of more than there are receivers, of
 * its number. */
static enum ht_err choose(struct segy *s, int64_t *number) {
    const struct ht_trace_source *of = s->of;
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

static enum ht_err check_header(const struct segy *s, const struct ht_receiver_group *group,
                                int64_t receiver) {
    const unsigned char *h = s->file.trace;
    const int64_t us = ht_segy_get(h, 117, 2) & 0xffff, samples = ht_segy_get(h, 115, 2) & 0xffff;
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = s->placed[1][k] ? place_of(s, 1, k) : group->x[receiver][k];
    const bool own = us > 0 && fabs((double)us - s->file.interval) > 0.5;
    const struct ht_trace_times times = {
        .samples = samples > 0 ? samples : s->file.samples,
        .every = s->time * 1e-6 * (own ? (double)us : s->file.interval),
        .start = s->time * 1e-3 * ht_segy_scaled(&s->file, 109, 2, 215),
        .off = s->time * 0.51e-3};
    TRY(ht_trace_check_times(s->of, group, &times));
    return ht_trace_check_place(s->of, group, receiver, x, rounding(s));
}

static enum ht_err read_values(struct segy *s, double *const *data) {
    HT_ARRAY(int64_t, number, s->of->receivers->traces);
    TRY(blame(s, choose(s, number)));
    const int64_t *next = number;
    for (int n = 0; n < s->of->receivers->count; n++) {
        const struct ht_receiver_group *group = &s->of->receivers->group[n];
        for (int64_t t = 0; t < group->readings * group->count; t++) {
            TRY(blame(s, ht_segy_trace(&s->file, *next++, true)));
            TRY(check_header(s, group, t % group->count));
            for (int64_t j = 0; j < group->samples; j++)
                data[n][t * group->samples + j] = ht_segy_value(&s->file, j);
        }
    }
    return HT_OK;
}

enum ht_err ht_segy_read(const struct ht_trace_source *of, double *const *data) {
    HT_ENDED(close_segy)
    struct segy s = {.of = of,
                     .length = 1 / ht_segy_unit(of->params, "length"),
                     .time = 1 / ht_segy_unit(of->params, "time")};
    TRY(blame(&s, ht_segy_open(of->path, &s.file)));
    return read_values(&s, data);
}

/* ---- places alone ---- */

enum ht_err ht_segy_places(const struct ht_params *params, const char *path, ht_file_row *take,
                           void *context) {
    const struct ht_trace_source of = {.params = params, .path = path};
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
