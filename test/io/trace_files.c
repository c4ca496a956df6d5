/* Files of traces: HDF5, CSV and SEG-Y hold the same numbers. */
#include "recorded.h"

static unsigned char *read_bytes(const struct trial *t, const char *name, size_t *size) {
    char *path = scratch_path(t->directory, name), *data = NULL;
    must(ht_file_read(path, &data, size));
    free(path);
    return (unsigned char *)data;
}

static int64_t big(const unsigned char *at, int bytes) {
    int64_t value = at[0] & 0x80 ? -1 : 0;
    for (int i = 0; i < bytes; i++) value = (int64_t)((uint64_t)value << 8 | at[i]);
    return value;
}

static double big_float(const unsigned char *at) {
    const uint32_t bits = (uint32_t)big(at, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static const double source[2] = {1.2345678, 1.1};

/* A position in metres, of one in km. */
static bool is_place(const unsigned char *at, int64_t scalar, double km) {
    return fabs((double)big(at, 4) / (double)-scalar - 1e3 * km) < 5.1e-5;
}

/* A reader of SEG-Y of its own: bytes are counted from 1, as in the standard. */
static void judge_segy(struct trial *t, const char *name, int shots, const double *data,
                       const double *x, const int64_t extent[2]) {
    size_t size;
    HT_FREED unsigned char *bytes = read_bytes(t, name, &size);
    const size_t trace = 240 + 4 * (size_t)extent[1];
    int64_t wrong = 0;
    TEST_CHECK(size == 3600 + (size_t)(shots * extent[0]) * trace &&
                   big(bytes + 3212, 2) == extent[0] && big(bytes + 3216, 2) == 12500 &&
                   big(bytes + 3220, 2) == extent[1] && big(bytes + 3224, 2) == 5 &&
                   big(bytes + 3254, 2) == 1 && big(bytes + 3500, 2) == 0x0100 &&
                   big(bytes + 3502, 2) == 1 && memcmp(bytes, "\303\100\361\100\210\243", 6) == 0,
               "%s: %zu bytes, interval %d us, %d samples, format %d", name, size,
               (int)big(bytes + 3216, 2), (int)big(bytes + 3220, 2), (int)big(bytes + 3224, 2));
    for (int64_t j = 0; j < shots * extent[0] && size >= 3600 + trace; j++) {
        const unsigned char *h = bytes + 3600 + (size_t)j * trace;
        const int64_t i = j % extent[0], shot = 1 + j / extent[0], scalar = big(h + 70, 2);
        const double offset = 1e3 * hypot(x[2 * i] - source[0], x[2 * i + 1] - source[1]);
        wrong += big(h, 4) != j + 1 || big(h + 8, 4) != shot || big(h + 12, 4) != i + 1 ||
                 big(h + 16, 4) != shot || big(h + 24, 4) != i + 1 || big(h + 28, 2) != 1 ||
                 big(h + 114, 2) != extent[1] || big(h + 116, 2) != 12500 ||
                 big(h + 108, 2) != 100 || big(h + 88, 2) != 1 || scalar != big(h + 68, 2);
        wrong += !is_place(h + 80, scalar, x[2 * i]) || !is_place(h + 84, scalar, x[2 * i + 1]) ||
                 !is_place(h + 72, scalar, source[0]) || !is_place(h + 76, scalar, source[1]);
        wrong += fabs(fabs((double)big(h + 36, 4)) - offset) > 0.51 ||
                 (big(h + 36, 4) < 0) != (x[2 * i] < source[0]);
        for (int64_t n = 0; n < extent[1]; n++)
            wrong += big_float(h + 240 + 4 * n) != (double)(float)data[i * extent[1] + n];
    }
    TEST_CHECK(wrong == 0, "%s: %d of its numbers are not those of HDF5", name, (int)wrong);
}

/* Twice the same shot. */
static void judge_shots(struct trial *t, const double *data, const double *x,
                        const int64_t extent[2]) {
    HT_FREED char *path = scratch_path(t->directory, "traces.h5");
    struct ht_params second = *t->params;
    second.number.shot = 2;
    const struct ht_traced_shot shot[] = {{t->params, path}, {&second, path}};
    must(ht_output_shots(t->sim->plan, t->params, 2, shot));
    judge_segy(t, "shots_line_p_x1.sgy", 2, data, x, extent);
}

static void judge_csv(struct trial *t, bool single, const double *p, const double *slope,
                      const double *time, const int64_t extent[2]) {
    size_t size;
    char *text = (char *)read_bytes(t, "traces_line.csv", &size), *at;
    int64_t wrong = 0, numbers = 0;
    TEST_CHECK(strncmp(text, "time,p[1],p[2],p[3],p_x1[1],p_x1[2],p_x1[3]\n", 42) == 0,
               "CSV: %.42s", text);
    at = text + strcspn(text, "\n");
    for (int64_t n = 0; n < extent[1]; n++)
        for (int c = 0; c < 7; c++, numbers++) {
            const double *of = c < 4 ? p : slope;
            const double wanted = c == 0 ? time[n] : of[(c - 1) % 3 * extent[1] + n];
            const double value = strtod(at + 1, &at);
            /* nine digits are those of a number in single precision */
            wrong += c == 0   ? fabs(value - wanted) > 1e-14
                     : single ? (float)value != (float)wanted
                              : value != wanted;
        }
    TEST_CHECK(wrong == 0 && strcmp(at, "\n") == 0, "CSV: of %d numbers %d are not those of HDF5",
               (int)numbers, (int)wrong);
    free(text);
}

static void formats(const char *backend, const char *precision) {
    HT_ENDED(finish) struct trial t;
    int64_t extent[8];
    record(&t, backend, NONE,
           "system=acoustic grid={cells=[16,12];lower=[-1,0.5];upper=[3,2];} "
           "initial={type=\"gaussian\";centre=[1,1];width=0.4;} time.end=0.5 time.scheme=fd "
           "device.precision=%s output.traces=[\"csv\",\"segy\"] output.units.length=km "
           "sources=({position=[1.2345678,1.1];frequency=0.3;}) "
           "receivers=({name=\"line\";type=\"line\";from=[-0.91,1.1];to=[1,0.7];count=3;every=0."
           "0125;start=0.1;fields=[\"p\",\"p_x1\"];})",
           precision);
    HT_FREED double *p = read_set(&t, "line/p", extent), *time = NULL, *x = NULL, *slope = NULL;
    time = read_set(&t, "line/time", NULL);
    x = read_set(&t, "line/position", NULL);
    slope = read_set(&t, "line/p_x1", NULL);
    TEST_CHECK(extent[0] == 3 && extent[1] == 33 && fabs(x[2] - 0.045) < 1e-15 &&
                   fabs(time[32] - 0.5) < 1e-14,
               "%s: %d x %d samples (3 x 33), up to %.17g", precision, (int)extent[0],
               (int)extent[1], time[32]);
    judge_csv(&t, strcmp(precision, "single") == 0, p, slope, time, extent);
    judge_segy(&t, "traces_line_p_x1.sgy", 1, slope, x, extent);
    judge_shots(&t, slope, x, extent);
}

/* ---- the report ---- */

/* A device's limit that was measured too low gives no share above 100 %. */
static void share_of_limit(void) {
    HT_ENDED(finish) struct trial t;
    record(&t, "oracle", NONE,
           "system=wave grid={cells=[12];} time={scheme=\"fd\";end=0.6;} "
           "receivers=({position=[0.3];})");
    for (int low = 0; low < 2; low++) {
        const struct ht_result result = {
            .parallel = {.limit = low ? 1e-3 : 1e15, .joules = NAN},
            .energy = {.initial = NAN, .final = NAN, .rise = NAN},
            .conserved = {.energy = {NAN, NAN}, .physical = {NAN, NAN}},
            .error = NAN};
        struct ht_facts facts = {.text = {0}};
        ht_report_result(t.sim, &result, t.output, &facts);
        const char *text = facts.text.data;
        const char *rate = text ? strstr(text, "  rate ") : NULL;
        const char *share = rate ? strstr(rate, " % of the device") : NULL;
        TEST_CHECK(rate != NULL && (share == NULL) == low, "a limit %s the rate: %.*s",
                   low ? "below" : "above", rate ? (int)strcspn(rate, "\n") : 0, rate ? rate : "");
        ht_text_free(&facts.text);
        ht_text_free(&facts.json.text);
    }
}

int main(void) {
    ht_log_level_set(HT_LOG_QUIET);
    formats("oracle", "double");
    if (test_have_double()) formats("device", "single");
    share_of_limit();
    return test_end("trace_files");
}
