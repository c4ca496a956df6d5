/* Observed traces: those of a run are read back from traces.h5 and from SEG-Y, in all formats of
 * values and among other shots; files of other samples, receivers or values are refused. */
#include "htwave/observed.h"

#include "recorded.h"

enum { RECEIVERS = 3, SAMPLES = 33, HEAD = 3600, TRACE = 240 + 4 * SAMPLES };
enum { ALL = RECEIVERS * SAMPLES, SIZE = HEAD + RECEIVERS * TRACE };

/* ---- reading ---- */

static enum ht_err read_as(const struct trial *t, const char *name, int shot,
                           struct ht_observed *out) {
    HT_FREED char *path = scratch_path(t->directory, name);
    return ht_observed_read(t->sim->plan, shot, t->sim->plan->receivers, "receivers", path, out);
}

/* Values off by so much, relative to the largest. */
static void same(const struct trial *t, const char *name, int shot, const double *p, double bound) {
    HT_ENDED(ht_observed_end) struct ht_observed observed = {0};
    double worst = 0, most = 0;
    must(read_as(t, name, shot, &observed));
    for (int i = 0; i < ALL; i++) {
        worst = fmax(worst, fabs(observed.data[0][i] - p[i]));
        most = fmax(most, fabs(p[i]));
    }
    TEST_BELOW(worst / most, bound, "%s, shot %d", name, shot);
}

static void refused(const struct trial *t, const char *name, int shot, const char *why) {
    HT_ENDED(ht_observed_end) struct ht_observed observed = {0};
    const enum ht_err err = read_as(t, name, shot, &observed);
    TEST_CHECK(err == HT_ERR_INPUT && strstr(ht_err_message(), why) != NULL &&
                   strstr(ht_err_message(), name) != NULL,
               "%s is refused (%s): %s", name, why, err == HT_OK ? "no" : ht_err_message());
}

/* ---- SEG-Y ---- */

static void put(unsigned char *at, int bytes, int64_t value) {
    for (int i = 0; i < bytes; i++) at[i] = (unsigned char)((uint64_t)value >> 8 * (bytes - 1 - i));
}

/* An IBM float: the exponent of 16 that leaves a fraction below 1. */
static void put_ibm(unsigned char *at, double value) {
    int exponent = 0;
    double fraction = fabs(value);
    for (; fraction >= 1; exponent++) fraction /= 16;
    for (; fraction > 0 && fraction < 1.0 / 16; exponent--) fraction *= 16;
    put(at, 4, (int64_t)ldexp(fraction, 24));
    at[0] = (unsigned char)((exponent + 64) | (value < 0 ? 0x80 : 0));
}

/* p in another format of values; integers: its largest value is 30000. */
static void write_format(const struct trial *t, const char *name, const unsigned char *file,
                         int format, const double *p, double scale) {
    static unsigned char out[SIZE];
    const int bytes = format == 3 ? 2 : 4;
    const size_t trace = 240 + (size_t)bytes * SAMPLES;
    memcpy(out, file, HEAD);
    put(out + 3224, 2, format);
    for (int i = 0; i < RECEIVERS; i++) {
        unsigned char *at = out + HEAD + (size_t)i * trace;
        memcpy(at, file + HEAD + (size_t)i * TRACE, 240);
        for (int n = 0; n < SAMPLES; n++) {
            unsigned char *value = at + 240 + (size_t)n * (size_t)bytes;
            if (format == 1)
                put_ibm(value, p[i * SAMPLES + n]);
            else
                put(value, bytes, llround(p[i * SAMPLES + n] * scale));
        }
    }
    must(ht_file_write_in(t->directory, name, out, HEAD + RECEIVERS * trace));
}

/* With a number in the header of the second trace, or of the file where byte is above 240. */
static void write_changed(const struct trial *t, const char *name, const unsigned char *file,
                          size_t at, int bytes, int64_t value) {
    static unsigned char out[SIZE];
    memcpy(out, file, SIZE);
    put(out + at - 1, bytes, value);
    must(ht_file_write_in(t->directory, name, out, SIZE));
}

/* Of several shots in a file that of the source's place, whatever their numbers; a coordinate that
 * is 0 in all headers is not known. */
static void choose_by_place(const struct trial *t, const double *p) {
    HT_FREED char *path = scratch_path(t->directory, "shots_line_p.sgy"), *data = NULL;
    size_t size;
    must(ht_file_read(path, &data, &size));
    unsigned char *first = (unsigned char *)data + HEAD;
    for (int i = 0; i < RECEIVERS; i++) {
        put(first + (size_t)i * TRACE + 72, 4, 7770000);
        put(first + (size_t)(RECEIVERS + i) * TRACE + 8, 4, 1001);
    }
    must(ht_file_write_in(t->directory, "places.sgy", data, size));
    same(t, "places.sgy", 4, p, 1e-7);
    for (int i = 0; i < RECEIVERS; i++)
        put(first + (size_t)(RECEIVERS + i) * TRACE + 72, 4, 7770000);
    must(ht_file_write_in(t->directory, "elsewhere.sgy", data, size));
    refused(t, "elsewhere.sgy", 4, "6 traces, 0 of them of shot 4");
    for (int i = 0; i < 2 * RECEIVERS; i++) put(first + (size_t)i * TRACE + 84, 4, 0);
    for (int i = 0; i < RECEIVERS; i++)
        put(first + (size_t)(RECEIVERS + i) * TRACE + 72, 4, 10000000);
    must(ht_file_write_in(t->directory, "section.sgy", data, size));
    same(t, "section.sgy", 4, p, 1e-7);
}

static void segy(struct trial *t, const double *p) {
    const size_t second = HEAD + TRACE;
    HT_FREED char *path = scratch_path(t->directory, "traces_line_p.sgy"), *data = NULL;
    HT_FREED char *traces = scratch_path(t->directory, "traces.h5");
    size_t size;
    double most = 0, scaled[ALL];
    same(t, "traces_line_p.sgy", 1, p, 1e-7);
    must(ht_file_read(path, &data, &size));
    const unsigned char *file = (const unsigned char *)data;
    for (int i = 0; i < ALL; i++) most = fmax(most, fabs(p[i]));
    for (int i = 0; i < ALL; i++) scaled[i] = p[i] / most * 30000;
    write_format(t, "ibm.sgy", file, 1, p, 1);
    same(t, "ibm.sgy", 1, p, 1e-6); /* 20 bits or more */
    write_format(t, "four.sgy", file, 2, p, 30000 / most);
    same(t, "four.sgy", 1, scaled, 0.5 / 30000);
    write_format(t, "two.sgy", file, 3, p, 30000 / most);
    same(t, "two.sgy", 1, scaled, 0.5 / 30000);
    /* two shots in a file, the second of which is asked for */
    struct ht_params fourth = *t->params, seventh = *t->params, all = *t->params;
    char *formats[] = {"segy"};
    all.output.traces = (struct ht_names){1, formats};
    fourth.number.shot = 4;
    seventh.number.shot = 7;
    const struct ht_traced_shot shot[] = {{&fourth, traces}, {&seventh, traces}};
    must(ht_output_shots(t->sim->plan, &all, 2, shot));
    same(t, "shots_line_p.sgy", 7, p, 1e-7);
    refused(t, "shots_line_p.sgy", 5, "6 traces, 0 of them of shot 5");
    choose_by_place(t, p);

    write_changed(t, "every.sgy", file, second + 117, 2, 12000);
    refused(t, "every.sgy", 1, "0.012 apart from 0.1 on");
    write_changed(t, "start.sgy", file, second + 109, 2, 120);
    refused(t, "start.sgy", 1, "from 0.12 on, and");
    write_changed(t, "length.sgy", file, second + 115, 2, SAMPLES - 1);
    refused(t, "length.sgy", 1, "32 samples");
    write_changed(t, "place.sgy", file, second + 85, 4, 9030000);
    refused(t, "place.sgy", 1, "receiver 2 of \"line\" at (0.045, 0.903)");
    write_changed(t, "code.sgy", file, 3225, 2, 8);
    refused(t, "code.sgy", 1, "format 8");
    write_changed(t, "nan.sgy", file, second + 241, 4, 0x7fc00000);
    refused(t, "nan.sgy", 1, "sample 1 of receiver 2 of line/p is nan");
    must(ht_file_write_in(t->directory, "short.sgy", file, SIZE - 2));
    refused(t, "short.sgy", 1, "not those of whole traces of 33");
}

/* ---- HDF5 ---- */

struct set {
    int64_t receivers, samples;
    double every, shift; /* of times, of positions along x1 */
    double factor, odd;  /* of values; that of one of them, else 0 */
};

static void write_set(const struct trial *t, const char *name, const double *p,
                      const struct set *s) {
    const struct ht_receiver_group *group = &t->sim->plan->receivers->group[0];
    const int64_t values = s->receivers * s->samples;
    HT_FREED char *path = scratch_path(t->directory, name);
    double time[2 * SAMPLES], x[RECEIVERS][2], *data = NULL;
    struct ht_h5 *file;
    must(HT_ALLOC(data, values));
    for (int64_t n = 0; n < s->samples; n++) time[n] = 0.1 + s->every * (double)n;
    for (int64_t i = 0; i < values; i++) data[i] = s->factor * p[i % ALL];
    if (s->odd != 0) data[SAMPLES + 4] = s->odd;
    for (int64_t i = 0; i < s->receivers; i++) {
        x[i][0] = group->x[i][0] + s->shift;
        x[i][1] = group->x[i][1];
    }
    must(ht_h5_create(path, false, &file));
    must(ht_h5_write(file, "line/time", 1, &s->samples, time, false));
    must(ht_h5_write(file, "line/position", 2, (int64_t[]){s->receivers, 2}, &x[0][0], false));
    must(ht_h5_write(file, "line/p", 2, &s->receivers, data, false));
    must(ht_h5_commit(file));
    free(data);
}

static void hdf5(struct trial *t, const double *p) {
    static const struct {
        const char *name;
        struct set set;
        const char *why; /* NULL: it is read */
    } cases[] = {{"same.h5", {RECEIVERS, SAMPLES, 0.0125, 2e-4, 1, 0}, NULL},
                 {"half.h5", {RECEIVERS, SAMPLES, 0.00625, 0, 1, 0}, "resample.py --every 0.0125"},
                 {"long.h5", {RECEIVERS, SAMPLES + 1, 0.0125, 0, 1, 0}, "34 samples"},
                 {"few.h5", {RECEIVERS - 1, SAMPLES, 0.0125, 0, 1, 0}, "2 x 2 numbers, not 3 x 2"},
                 {"moved.h5", {RECEIVERS, SAMPLES, 0.0125, 3e-4, 1, 0}, "receiver 1 of \"line\""},
                 {"zero.h5", {RECEIVERS, SAMPLES, 0.0125, 0, 0, 0}, "all values of shot 1 are 0"},
                 {"inf.h5",
                  {RECEIVERS, SAMPLES, 0.0125, 0, 1, INFINITY},
                  "sample 5 of receiver 2 of line/p is inf"}};
    same(t, "traces.h5", 1, p, 0);
    TEST_EACH(row, cases) {
        write_set(t, row->name, p, &row->set);
        if (row->why == NULL)
            same(t, row->name, 1, p, 0);
        else
            refused(t, row->name, 1, row->why);
    }
    refused(t, "none.h5", 1, "none.h5");
}

/* ---- weights ---- */

static void write_weights(const struct trial *t, const char *name, int rank, double first) {
    const int64_t extent[2] = {RECEIVERS, SAMPLES};
    HT_FREED char *path = scratch_path(t->directory, name);
    struct ht_h5 *file;
    double weight[ALL];
    for (int i = 0; i < ALL; i++) weight[i] = i == 0 ? first : i % 5;
    must(ht_h5_create(path, false, &file));
    must(ht_h5_write(file, "line/p", rank, extent, weight, false));
    must(ht_h5_commit(file));
}

static void weights(struct trial *t) {
    char *usual = t->params->gradient.weights, *pattern = scratch_path(t->directory, "w-*.h5");
    t->params->gradient.weights = pattern;
    write_weights(t, "w-1.h5", 2, 0);
    write_weights(t, "w-2.h5", 1, 7);
    write_weights(t, "w-3.h5", 2, -0.5);
    for (int shot = 1; shot <= 2; shot++) {
        HT_ENDED(ht_observed_end) struct ht_observed observed = {0};
        int wrong = 0;
        must(read_as(t, "traces.h5", shot, &observed));
        for (int i = 0; i < ALL; i++) {
            const int receiver = i / SAMPLES;
            wrong += observed.weight[0][i] != (shot == 1       ? i % 5
                                               : receiver == 0 ? 7
                                                               : receiver % 5);
        }
        TEST_CHECK(wrong == 0, "weights of shot %d: %d are wrong", shot, wrong);
    }
    HT_ENDED(ht_observed_end) struct ht_observed observed = {0};
    TEST_CHECK(read_as(t, "traces.h5", 3, &observed) == HT_ERR_INPUT &&
                   strstr(ht_err_message(), "gradient.weights") != NULL &&
                   strstr(ht_err_message(), "sample 1 of receiver 1 of line/p is -0.5") != NULL,
               "a weight below 0 is refused: %s", ht_err_message());
    TEST_CHECK(read_as(t, "traces.h5", 4, &observed) == HT_ERR_INPUT &&
                   strstr(ht_err_message(), "w-4.h5") != NULL,
               "a file that is not there: %s", ht_err_message());
    t->params->gradient.weights = usual;
    free(pattern);
}

/* ---- .npy ---- */

/* float64 of this machine, which is little-endian; samples: of a trace. */
static void write_npy(const struct trial *t, const char *name, const double *p, int samples) {
    char *path = scratch_path(t->directory, name), header[119];
    FILE *file = fopen(path, "wb");
    if (file == NULL) exit(1);
    snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }",
             RECEIVERS, samples);
    fprintf(file, "\x93NUMPY\1%c%c%c%-117s\n", 0, 118, 0, header);
    fwrite(p, sizeof *p, (size_t)RECEIVERS * (size_t)samples, file);
    fclose(file);
    free(path);
}

static void npy(const struct trial *t, const double *p) {
    write_npy(t, "p.npy", p, SAMPLES);
    same(t, "p.npy", 1, p, 0);
    write_npy(t, "few.npy", p, SAMPLES - 1);
    refused(t, "few.npy", 1, "has 3 x 32 values, not 3 traces x 33 samples");
}

int main(void) {
    HT_ENDED(finish) struct trial t;
    ht_log_level_set(HT_LOG_QUIET);
    record(&t, "oracle", NONE,
           "system=acoustic grid={cells=[16,12];lower=[-1,0.5];upper=[3,2];} "
           "initial={type=\"gaussian\";centre=[1,1];width=0.4;} time.end=0.5 time.scheme=fd "
           "sources=({position=[1,1.1];frequency=0.3;}) device.precision=double "
           "output.traces=[\"segy\"] output.units.length=km "
           "receivers=({name=\"line\";type=\"line\";from=[-0.91,1.1];to=[1,0.7];count=3;every=0."
           "0125;start=0.1;fields=[\"p\"];})");
    HT_FREED double *p = read_set(&t, "line/p", NULL);
    hdf5(&t, p);
    segy(&t, p);
    weights(&t);
    npy(&t, p);
    return test_end("observed");
}
