/* Traces from SEG-Y files, revisions 0 and 1, big-endian; bytes are counted from 1, as in the
 * standard. */
#include "segy.h"
#include "trace_read.h"

bool ht_is_segy(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot != NULL && (strcmp(dot, ".sgy") == 0 || strcmp(dot, ".segy") == 0 ||
                           strcmp(dot, ".SGY") == 0 || strcmp(dot, ".SEGY") == 0);
}

static int64_t get(const unsigned char *header, int byte, int bytes) {
    const unsigned char *at = header + byte - 1;
    int64_t value = at[0] & 0x80 ? -1 : 0;
    for (int i = 0; i < bytes; i++) value = (int64_t)((uint64_t)value << 8 | at[i]);
    return value;
}

/* ---- formats of values ---- */

static double ieee(const unsigned char *at) {
    const uint32_t bits = (uint32_t)get(at, 1, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A sign, 7 bits of an exponent of 16, 64 more than it is, and a fraction of 24 bits. */
static double ibm(const unsigned char *at) {
    const double fraction = ldexp((double)((at[1] << 16) + (at[2] << 8) + at[3]), -24);
    const double value = ldexp(fraction, 4 * ((at[0] & 0x7f) - 64));
    return at[0] & 0x80 ? -value : value;
}

static double integer4(const unsigned char *at) {
    return (double)get(at, 1, 4);
}

static double integer2(const unsigned char *at) {
    return (double)get(at, 1, 2);
}

/* By the code at byte 3225 of the file. */
static const struct format {
    int bytes;
    double (*value)(const unsigned char *at);
} formats[] = {[1] = {4, ibm}, [2] = {4, integer4}, [3] = {2, integer2}, [5] = {4, ieee}};
enum { FORMATS = sizeof formats / sizeof *formats };

/* ---- the file ---- */

struct segy {
    const struct ht_trace_source *of;
    FILE *file;
    const struct format *format;
    int64_t begin, traces; /* the first one's place, their number in the file */
    int64_t samples, us;
    double length, time; /* of a metre and a second in the input's units */
    bool placed[2][3];   /* some header has such a coordinate of its source, receiver */
    unsigned char *trace;
};

static enum ht_err read_at(struct segy *s, int64_t place, void *out, size_t size) {
    REQUIRE(fseeko(s->file, (off_t)place, SEEK_SET) == 0 && fread(out, 1, size, s->file) == size,
            HT_ERR_IO, "cannot read %s: %s", s->of->path,
            ferror(s->file) ? strerror(errno) : "it ends early");
    return HT_OK;
}

static int64_t trace_bytes(const struct segy *s) {
    return SEGY_TRACE + s->samples * s->format->bytes;
}

static enum ht_err read_trace(struct segy *s, int64_t i, bool values) {
    const int64_t size = values ? trace_bytes(s) : SEGY_TRACE;
    return read_at(s, s->begin + i * trace_bytes(s), s->trace, (size_t)size);
}

static enum ht_err open_segy(struct segy *s) {
    unsigned char header[SEGY_BINARY];
    int64_t size;
    const struct ht_trace_source *of = s->of;
    TRY(ht_file_size(of->path, &size));
    s->file = fopen(of->path, "rb");
    REQUIRE(s->file != NULL, HT_ERR_IO, "cannot open %s: %s", of->path, strerror(errno));
    TRY(read_at(s, SEGY_TEXT, header, sizeof header));
    const int64_t code = get(header, 25, 2), more = get(header, 305, 2);
    s->us = get(header, 17, 2) & 0xffff;
    s->samples = get(header, 21, 2) & 0xffff;
    REQUIRE(code > 0 && code < FORMATS && formats[code].bytes > 0, HT_ERR_INPUT,
            "%s holds values of format %lld: 1 (IBM floats), 2, 3 (integers) and 5 (IEEE floats) "
            "are read",
            of->path, (long long)code);
    REQUIRE(more >= 0 && s->samples > 0, HT_ERR_INPUT,
            "%s does not say how many %s it has: it is no SEG-Y of revision 0 or 1", of->path,
            more < 0 ? "text headers" : "samples a trace");
    s->format = &formats[code];
    s->begin = SEGY_TEXT + SEGY_BINARY + more * SEGY_TEXT;
    s->traces = (size - s->begin) / trace_bytes(s);
    REQUIRE(s->begin + s->traces * trace_bytes(s) == size, HT_ERR_INPUT,
            "%s has %lld bytes, not those of whole traces of %lld samples", of->path,
            (long long)size, (long long)s->samples);
    return HT_ALLOC(s->trace, trace_bytes(s));
}

static void close_segy(struct segy *s) {
    if (s->file != NULL) (void)fclose(s->file);
    free(s->trace);
}

static enum ht_err blame(const struct segy *s, enum ht_err err) {
    return ht_params_blame(s->of->params, s->of->key, err);
}

/* ---- which traces, and what their headers say ---- */

/* The unit of numbers with a scalar in the header, and such a number. */
static double unit_of(const unsigned char *header, int scalar) {
    const double by = (double)get(header, scalar, 2);
    return by < 0 ? -1 / by : by > 0 ? by : 1;
}

static double scaled(const unsigned char *header, int byte, int bytes, int scalar) {
    return (double)get(header, byte, bytes) * unit_of(header, scalar);
}

/* A coordinate of the source (0) or receiver (1), and its rounding, in the input's units. */
static double place_of(const struct segy *s, int which, int axis) {
    static const int byte[2][3] = {{73, 77, 45}, {81, 85, 41}};
    return s->length * scaled(s->trace, byte[which][axis], 4, axis < 2 ? 71 : 69);
}

static double rounding(const struct segy *s) {
    return 0.51 * s->length * fmax(unit_of(s->trace, 71), unit_of(s->trace, 69));
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
    for (int64_t i = 0; i < s->traces; i++) {
        TRY(read_trace(s, i, false));
        if (!is_of_source(s) || (numbered && get(s->trace, 9, 4) != s->of->shot)) continue;
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
    for (int64_t i = 0; i < s->traces; i++) {
        TRY(read_trace(s, i, false));
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
        of->path, (long long)s->traces, (long long)found, of->shot, (long long)wanted);
    return HT_OK;
}

static enum ht_err check_header(const struct segy *s, const struct ht_receiver_group *group,
                                int64_t receiver) {
    const unsigned char *h = s->trace;
    const int64_t us = get(h, 117, 2) & 0xffff, samples = get(h, 115, 2) & 0xffff;
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = s->placed[1][k] ? place_of(s, 1, k) : group->x[receiver][k];
    const struct ht_trace_times times = {.samples = samples > 0 ? samples : s->samples,
                                         .every = s->time * 1e-6 * (double)(us > 0 ? us : s->us),
                                         .start = s->time * 1e-3 * scaled(h, 109, 2, 215),
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
            TRY(blame(s, read_trace(s, *next++, true)));
            TRY(check_header(s, group, t % group->count));
            for (int64_t j = 0; j < group->samples; j++)
                data[n][t * group->samples + j] =
                    s->format->value(s->trace + SEGY_TRACE + j * s->format->bytes);
        }
    }
    return HT_OK;
}

enum ht_err ht_segy_read(const struct ht_trace_source *of, double *const *data) {
    HT_ENDED(close_segy)
    struct segy s = {.of = of,
                     .format = &formats[1],
                     .length = 1 / ht_segy_unit(of->params, "length"),
                     .time = 1 / ht_segy_unit(of->params, "time")};
    TRY(blame(&s, open_segy(&s)));
    return read_values(&s, data);
}

/* ---- places alone ---- */

enum ht_err ht_segy_places(const struct ht_params *params, const char *path, ht_file_row *take,
                           void *context) {
    const struct ht_trace_source of = {.params = params, .path = path};
    HT_ENDED(close_segy)
    struct segy s = {
        .of = &of, .format = &formats[1], .length = 1 / ht_segy_unit(params, "length")};
    const int dims = params->grid.dims;
    bool placed = false;
    TRY(open_segy(&s));
    for (int64_t i = 0; i < s.traces; i++) {
        double row[6] = {0};
        TRY(read_trace(&s, i, false));
        for (int n = 0; n < 2 * dims; n++) {
            row[n] = place_of(&s, n / dims, n % dims);
            placed = placed || row[n] != 0;
        }
        TRY(take(context, i + 1, row));
    }
    REQUIRE(placed, HT_ERR_INPUT, "the headers of %s have no places (bytes 73 to 88, 41 to 48)",
            path);
    return HT_OK;
}
