/* SEG-Y revision 1 (SEG Technical Standards Committee, 2002): a file per group and field,
 * big-endian, IEEE floats. Times are taken as seconds. Positions are whole numbers, of up to four
 * decimals; those of traces.h5 are exact. */
#include "files.h"

enum { TEXT = 3200, BINARY = 400, TRACE = 240, LINE = 80 };
enum { MOST = 65535 }; /* samples, microseconds: two bytes without a sign */

static double interval(const struct ht_receivers *receivers,
                       const struct ht_receiver_group *group) {
    return 1e6 * (group->every > 0 ? group->every : receivers->dt);
}

static enum ht_err check(const struct ht_params *params, const struct ht_receivers *receivers,
                         int n) {
    const struct ht_receiver_group *group = &receivers->group[n];
    const double us = interval(receivers, group);
    const bool whole = fabs(us - round(us)) <= 1e-6 * us;
    REFUSE(group->samples > MOST, params, "output.traces",
           "\"segy\" holds at most %d samples per trace, \"%s\" has %lld", MOST, group->name,
           (long long)group->samples);
    if (whole && us >= 1 && us <= MOST) return HT_OK;
    return ht_params_error(params, "output.traces",
                           "\"segy\" has sample intervals of 1 to %d whole microseconds, \"%s\" "
                           "one of %.9g s: choose another receivers.%d.every",
                           MOST, group->name, us / 1e6, n + 1);
}

/* Of a header: `byte` from 1, as in the standard. */
struct entry {
    int byte, bytes; /* 0: the end */
    int64_t value;
};

/* Big-endian. */
static void put(unsigned char *header, const struct entry *e) {
    for (; e->bytes > 0; e++)
        for (int i = 0; i < e->bytes; i++)
            header[e->byte - 1 + i] = (unsigned char)((uint64_t)e->value >> 8 * (e->bytes - 1 - i));
}

static void write_trace(const struct ht_trace_table *t, int reading, int64_t i, int places,
                        FILE *out) {
    unsigned char header[TRACE] = {0}, bytes[4];
    const double *value = t->data[reading] + i * t->samples;
    const int64_t scalar = places > 0 ? -llround(pow(10, places)) : 1;
    const double *x = t->group->x[i], factor = pow(10, places);
    /* Number of the trace, record 1, 1: seismic data; x3, x1, x2 of the receiver by two scalars, 1:
     * lengths; time of the first sample in whole ms, samples, interval in microseconds. */
    const int64_t start = llround(1e3 * ht_receivers_time(t->receivers, t->group, 0));
    const int64_t x1 = llround(x[0] * factor), us = llround(interval(t->receivers, t->group));
    const int64_t x2 = t->dims > 1 ? llround(x[1] * factor) : 0;
    const int64_t x3 = t->dims > 2 ? llround(x[2] * factor) : 0;
    const struct entry entries[] = {{1, 4, i + 1},        {5, 4, i + 1},   {9, 4, 1},
                                    {13, 4, i + 1},       {29, 2, 1},      {41, 4, x3},
                                    {69, 2, scalar},      {71, 2, scalar}, {81, 4, x1},
                                    {85, 4, x2},          {89, 2, 1},      {109, 2, start},
                                    {115, 2, t->samples}, {117, 2, us},    {0}};
    put(header, entries);
    fwrite(header, 1, sizeof header, out);
    for (int64_t n = 0; n < t->samples; n++) {
        const float single = (float)value[n];
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        put(bytes, (const struct entry[]){{1, 4, bits}, {0}});
        fwrite(bytes, 1, sizeof bytes, out);
    }
}

static enum ht_err write_segy(const struct ht_trace_table *t) {
    for (int r = 0; r < t->group->readings; r++) {
        char text[TEXT + 1], first[LINE];
        unsigned char header[BINARY] = {0};
        struct ht_stream stream;
        /* Decimals that fit all coordinates of the group in 31 bits. */
        double most = 0;
        for (int64_t i = 0; i < t->group->count; i++)
            for (int k = 0; k < t->dims; k++) most = fmax(most, fabs(t->group->x[i][k]));
        int places = 4;
        while (places > 0 && most * pow(10, places) > 2147483647.0) places--;
        const char *field = t->group->reading[r].name;
        TRY(ht_stream_open(t->directory, HT_KEY("traces_%s_%s.sgy", t->group->name, field),
                           &stream));
        const char *const words[TEXT / LINE] = {
            [0] = ht_text_format(first, sizeof first, "htwave %s: group %s, field %s", HT_VERSION,
                                 t->group->name, field),
            [1] = "receivers: x1 at byte 81, x2 at 85, x3 at 41, scalars at 71 and 69",
            [38] = "SEG Y REV1",
            [39] = "END TEXTUAL HEADER"};
        memset(text, ' ', TEXT);
        for (int line = 0; line < TEXT / LINE; line++) {
            char whole[LINE + 8];
            const int length = snprintf(whole, sizeof whole, "C%2d %s", line + 1,
                                        words[line] != NULL ? words[line] : "");
            memcpy(text + (size_t)line * LINE, whole, (size_t)(length < LINE ? length : LINE));
        }
        fwrite(text, 1, TEXT, stream.file);
        /* By bytes of the file from 3201 on: traces, microseconds, samples, 5: IEEE floats, 1: as
         * recorded, 1: metres, revision, 1: all traces have as many samples. */
        const int64_t traces = t->group->count > MOST ? 0 : t->group->count;
        const int64_t us = llround(interval(t->receivers, t->group));
        const struct entry entries[] = {{13, 2, traces},  {17, 2, us}, {21, 2, t->samples},
                                        {25, 2, 5},       {29, 2, 1},  {55, 2, 1},
                                        {301, 2, 0x0100}, {303, 2, 1}, {0}};
        put(header, entries);
        fwrite(header, 1, sizeof header, stream.file);
        for (int64_t i = 0; i < t->group->count; i++) write_trace(t, r, i, places, stream.file);
        TRY(ht_stream_close(&stream, HT_OK));
    }
    return HT_OK;
}

const struct ht_trace_format ht_trace_segy = {
    .name = "segy", .bytes = {4, 4}, .check = check, .write = write_segy};
