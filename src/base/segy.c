/* Reading of SEG-Y files; see the header. */
#include "htwave/formats.h"

int64_t ht_segy_get(const unsigned char *header, int byte, int bytes) {
    const struct ht_number number = {HT_NUMBER_SIGNED, bytes, true};
    return (int64_t)ht_number_at(number, header + byte - 1);
}

double ht_segy_scalar(const struct ht_segy *s, int byte) {
    const double by = (double)ht_segy_get(s->trace, byte, 2);
    return by < 0 ? -1 / by : by > 0 ? by : 1;
}

double ht_segy_scaled(const struct ht_segy *s, int byte, int bytes, int scalar) {
    return (double)ht_segy_get(s->trace, byte, bytes) * ht_segy_scalar(s, scalar);
}

double ht_segy_value(const struct ht_segy *s, int64_t sample) {
    return ht_number_at(s->number, s->trace + SEGY_TRACE + sample * s->number.bytes);
}

static HT_ERR read_at(const struct ht_segy *s, int64_t place, void *out, size_t size) {
    REQUIRE(fseeko(s->file, (off_t)place, SEEK_SET) == 0 && fread(out, 1, size, s->file) == size,
            HT_ERR_IO, "cannot read %s: %s", s->path,
            ferror(s->file) ? strerror(errno) : "it ends early");
    return HT_OK;
}

static int64_t trace_bytes(const struct ht_segy *s) {
    return SEGY_TRACE + s->samples * s->number.bytes;
}

HT_ERR ht_segy_trace(const struct ht_segy *s, int64_t i, bool values) {
    const int64_t size = values ? trace_bytes(s) : SEGY_TRACE;
    return read_at(s, s->begin + i * trace_bytes(s), s->trace, (size_t)size);
}

HT_ERR ht_segy_open(const char *path, struct ht_segy *s) {
    /* by the code at byte 3225 of the file */
    static const struct ht_number numbers[] = {[1] = {HT_NUMBER_IBM, 4, true},
                                               [2] = {HT_NUMBER_SIGNED, 4, true},
                                               [3] = {HT_NUMBER_SIGNED, 2, true},
                                               [5] = {HT_NUMBER_FLOAT, 4, true}};
    unsigned char header[SEGY_BINARY];
    int64_t size;
    s->path = path;
    TRY(ht_file_size(path, &size));
    s->file = fopen(path, "rb");
    REQUIRE(s->file != NULL, HT_ERR_IO, "cannot open %s: %s", path, strerror(errno));
    TRY(read_at(s, SEGY_TEXT, header, sizeof header));
    const int64_t code = ht_segy_get(header, 25, 2), more = ht_segy_get(header, 305, 2);
    s->interval = (double)(ht_segy_get(header, 17, 2) & 0xffff);
    const double exact = ht_number_at((struct ht_number){HT_NUMBER_FLOAT, 8, true}, header + 72);
    if (fabs(exact - s->interval) <= 0.5) s->interval = exact; /* of revision 2 */
    s->samples = ht_segy_get(header, 21, 2) & 0xffff;
    REQUIRE(code > 0 && code <= 5 && numbers[code].bytes > 0, HT_ERR_INPUT,
            "%s holds values of format %lld: 1 (IBM floats), 2, 3 (integers) and 5 (IEEE floats) "
            "are read",
            path, (long long)code);
    REQUIRE(more >= 0 && s->samples > 0, HT_ERR_INPUT,
            "%s does not say how many %s it has: it is no SEG-Y of revision 0 or 1", path,
            more < 0 ? "text headers" : "samples a trace");
    s->number = numbers[code];
    s->begin = SEGY_TEXT + SEGY_BINARY + more * SEGY_TEXT;
    s->traces = (size - s->begin) / trace_bytes(s);
    REQUIRE(s->begin + s->traces * trace_bytes(s) == size, HT_ERR_INPUT,
            "%s has %lld bytes, not those of whole traces of %lld samples", path, (long long)size,
            (long long)s->samples);
    return HT_ALLOC(s->trace, trace_bytes(s));
}

void ht_segy_close(const struct ht_segy *s) {
    if (s->file != NULL) (void)fclose(s->file);
    free(s->trace);
}
