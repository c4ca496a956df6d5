/* Samples on a grid: reading in any order of axes, every refusal, and the polynomials and means
 * made of them.
 *
 * Models: a polynomial of degree g is reproduced up to the rounding of the samples times, per axis,
 * the sum of all coefficients of the Lagrange polynomials without their signs; smooth functions
 * converge with h^(g+1). */
#include <unistd.h>

#include "htwave/h5.h"
#include "htwave/medium.h"
#include "io/scratch.h"
#include "must.h"

HT_ENDS(ht_jets)
HT_ENDS(ht_samples)

static char *directory;

/* ---- samples in memory ---- */

static struct ht_samples *make(const int64_t *shape, const double *origin, const double *spacing,
                               double (*f)(const double *)) {
    struct ht_samples *s;
    must(HT_ALLOC(s, 1));
    must(HT_ALLOC(s->value, shape[0] * shape[1] * shape[2]));
    for (int k = 0; k < 3; k++) {
        s->shape[k] = shape[k];
        s->origin[k] = origin[k];
        s->spacing[k] = spacing[k];
    }
    for (int64_t i = 0; i < shape[0] * shape[1] * shape[2]; i++) {
        int64_t at[3] = {i % shape[0], i / shape[0] % shape[1], i / shape[0] / shape[1]};
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = origin[k] + (double)at[k] * spacing[k];
        s->value[i] = f(x);
    }
    return s;
}

/* Largest difference between the samples' jet and the expression's. */
static double jet_error(const struct ht_samples *s, const struct ht_jets *jets, const char *text,
                        const double *x, const double *h) {
    double got[1000], want[1000], worst = 0;
    struct ht_expr *expr;
    must(ht_expr_parse(text, &expr));
    must(ht_expr_jet(expr, jets, x, h, want));
    ht_samples_jet(s, jets, x, h, got);
    for (int a = 0; a < jets->count; a++) worst = test_worse(worst, fabs(got[a] - want[a]));
    ht_expr_destroy(expr);
    return worst;
}

static double cubic(const double *x) {
    return 1 + x[0] * x[1] * x[2] - 2 * x[0] * x[0] * x[2] + x[1] * x[1] + 0.5 * x[2] * x[2] * x[2];
}

static const char cubic_text[] = "1 + x1*x2*x3 - 2*x1*x1*x3 + x2*x2 + 0.5*x3*x3*x3";

/* Sum over j of the coefficients of prod (xi + |t_i|)/|t_j - t_i| for t_i = (i - before) tau. */
static double amplification(int degree, double before, double tau) {
    double sum = 0;
    for (int j = 0; j <= degree; j++) {
        double product = 1;
        for (int i = 0; i <= degree; i++)
            if (i != j) product *= (1 + fabs(i - before) * tau) / (abs(i - j) * tau);
        sum += product;
    }
    return sum;
}

static void test_exact(void) {
    const int64_t shape[3] = {30, 25, 20};
    const double origin[3] = {-1, 0.5, 0}, spacing[3] = {0.1, 0.08, 0.12};
    const double h[3] = {0.4, 0.15, 0.3}, stride[3] = {2, 1, 1};
    const double largest = 24; /* of the cubic on the samples */
    const struct {
        const char *what;
        bool end;
        double x[3];
    } places[] = {
        {"inside", false, {0.33, 1.27, 1.11}},
        {"on a sample", false, {0.0, 1.3, 1.2}},
        {"at the first sample", true, {-1, 0.5, 0}},
        {"at the last sample", true, {1.9, 2.42, 2.28}},
    };
    HT_ENDED(ht_samples_end) struct ht_samples *s = make(shape, origin, spacing, cubic);
    for (int degree = 3; degree <= 6; degree++) {
        HT_ENDED(ht_jets_end) struct ht_jets *total, *tensor;
        must(ht_jets_make(3, degree, true, &total));
        must(ht_jets_make(3, degree, false, &tensor));
        for (int i = 0; i < 4; i++) {
            double before = places[i].end ? 0 : degree / 2.0;
            double bound = 0x1p-52 * largest;
            for (int k = 0; k < 3; k++)
                bound *= amplification(degree, before, stride[k] * spacing[k] / h[k]);
            TEST_BELOW(jet_error(s, total, cubic_text, places[i].x, h), bound,
                       "cubic through degree %d, total, %s", degree, places[i].what);
            TEST_BELOW(jet_error(s, tensor, cubic_text, places[i].x, h), bound,
                       "cubic through degree %d, tensor, %s", degree, places[i].what);
        }
    }
}

static double smooth(const double *x) {
    return sin(2 * x[0]) * exp(0.5 * x[1]) + cos(x[0] - x[1]);
}

/* The worst error over some points at cell size h. */
static double smooth_error(double h, double ratio, int degree) {
    const double size[3] = {h, h, 1}, spacing[3] = {h / ratio, h / ratio, 1};
    const double origin[3] = {0, 0, 0};
    const int64_t n = (int64_t)(2 / spacing[0]) + 1, shape[3] = {n, n, 1};
    HT_ENDED(ht_samples_end) struct ht_samples *s = make(shape, origin, spacing, smooth);
    HT_ENDED(ht_jets_end) struct ht_jets *jets = NULL;
    double worst = 0;
    must(ht_jets_make(2, degree, true, &jets));
    for (int i = 0; i < 25; i++) {
        int column = i % 5, row = i / 5;
        double x[3] = {0.4 * column + 0.1, 0.4 * row + 0.13, 0};
        worst =
            test_worse(worst, jet_error(s, jets, "sin(2*x1)*exp(0.5*x2) + cos(x1 - x2)", x, size));
    }
    return worst;
}

static void test_order(void) {
    for (int degree = 1; degree <= 5; degree++) {
        for (int ratio = 1; ratio <= 4; ratio += 3) {
            double coarse = smooth_error(1.0 / 16, ratio, degree);
            double fine = smooth_error(1.0 / 64, ratio, degree);
            double order = log(coarse / fine) / log(4);
            TEST_BELOW(degree + 1 - order, 0.3,
                       "degree %d, %d samples per cell: order %.2f, missing to %d", degree, ratio,
                       order, degree + 1);
        }
    }
}

static double first(const double *x) {
    return 1 + 2 * x[0];
}

static void test_ends(void) {
    const int64_t shape[3] = {5, 1, 1};
    const double origin[3] = {1, 0, 0}, spacing[3] = {0.5, 1, 1};
    const double h[3] = {0.5, 1, 1};
    HT_ENDED(ht_samples_end) struct ht_samples *s = make(shape, origin, spacing, first);
    HT_ENDED(ht_jets_end) struct ht_jets *jets = NULL;
    double jet[10];
    must(ht_jets_make(1, 7, true, &jets));
    double x[3] = {-3, 7, 0};
    ht_samples_jet(s, jets, x, h, jet);
    TEST_BELOW(fabs(jet[0] - 3), 0, "below the samples: the first value");
    TEST_BELOW(fabs(jet[1]) + fabs(jet[2]), 0, "below the samples: flat");
    x[0] = 99;
    ht_samples_jet(s, jets, x, h, jet);
    TEST_BELOW(fabs(jet[0] - 7), 0, "above the samples: the last value");
    x[0] = 1.7;
    ht_samples_jet(s, jets, x, h, jet);
    double error = fabs(jet[0] - 4.4) + fabs(jet[1] - 1);
    for (int a = 2; a < jets->count; a++) error += fabs(jet[a]);
    TEST_BELOW(error, 1e-13, "degree 7 of 5 samples: what they determine");
}

/* ---- files ---- */

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void write_floats(const char *name, int count, const float *values) {
    must(ht_file_write_in(directory, name, values, (size_t)count * sizeof *values));
}

/* 0, 1, 2, .. in the file, 3 x 4 samples with x3 fastest, then x1. */
static void test_axes(void) {
    char *names[] = {"x3", "x1"};
    float values[12];
    for (int i = 0; i < 12; i++) values[i] = (float)i;
    write_floats("raw", 12, values);
    const struct ht_params params = {.medium = {.format = HT_RAW,
                                                .shape = {3, 4},
                                                .spacing = {0.1, 0.2},
                                                .origin = {5, 6},
                                                .scale = 2,
                                                .axes = {2, names}}};
    HT_ENDED(ht_samples_end) struct ht_samples *s = NULL;
    must(ht_samples_read(&params, path_of("raw"), NULL, NULL, &s));
    TEST_CHECK(s->shape[0] == 4 && s->shape[1] == 1 && s->shape[2] == 3,
               "axes [x3, x1]: shape %lld x %lld x %lld", (long long)s->shape[0],
               (long long)s->shape[1], (long long)s->shape[2]);
    TEST_CHECK(s->spacing[0] == 0.2 && s->spacing[2] == 0.1 && s->origin[0] == 6 &&
                   s->origin[2] == 5,
               "spacing and origin follow the axes");
    double error = 0;
    for (int i3 = 0; i3 < 3; i3++)
        for (int i1 = 0; i1 < 4; i1++) error += fabs(s->value[i3 * 4 + i1] - 2 * (i3 + 3 * i1));
    TEST_BELOW(error, 0, "transposed to x1 fastest and scaled by 2");
    HT_ENDED(ht_jets_end) struct ht_jets *jets = NULL;
    double here[20], there[20], along = 0;
    const double h[3] = {0.2, 0.3, 0.1}, x[3] = {6.3, -4, 5.1}, y[3] = {6.3, 70, 5.1};
    must(ht_jets_make(3, 2, true, &jets));
    ht_samples_jet(s, jets, x, h, here);
    ht_samples_jet(s, jets, y, h, there);
    for (int a = 0; a < jets->count; a++) {
        along += fabs(here[a] - there[a]);
        if (jets->index[a][1] > 0) along += fabs(here[a]);
    }
    TEST_BELOW(along, 0, "extruded along x2: no change and no derivative");
}

static void test_hdf5(void) {
    static const char *const set[] = {"model/c", "data"}, *const name[] = {"model/c", "c"};
    const int64_t extent[2] = {4, 3}; /* slowest first */
    const struct ht_params params = {
        .medium = {.format = HT_HDF5, .dataset = "", .spacing = {1, 1}, .scale = 1}};
    double values[12], error[2] = {0, 0};
    for (int i = 0; i < 12; i++) values[i] = i + 0.125;
    for (int n = 0; n < 2; n++) {
        const char *path = path_of(n ? "d.h5" : "m.h5");
        HT_ENDED(ht_samples_end) struct ht_samples *s = NULL;
        struct ht_h5 *file;
        must(ht_h5_create(path, false, &file));
        must(ht_h5_write(file, set[n], 2, extent, values, false));
        must(ht_h5_commit(file));
        must(ht_samples_read(&params, path, name[n], NULL, &s));
        for (int i = 0; i < 12; i++) error[n] += fabs(s->value[i] - values[i]);
        if (n == 0)
            TEST_CHECK(s->shape[0] == 3 && s->shape[1] == 4 && s->shape[2] == 1,
                       "hdf5: shape from the dataset, fastest last");
    }
    TEST_BELOW(error[0], 0, "hdf5: values");
    TEST_BELOW(error[1], 0, "hdf5: data where the parameter's name is not there");
}

/* ---- other formats: what raw values give, bit for bit ---- */

enum { N1 = 4, N2 = 3 };

static void put(FILE *file, bool big, int bytes, uint64_t bits) {
    for (int i = 0; i < bytes; i++)
        fputc((int)(bits >> 8 * (big ? bytes - 1 - i : i) & 0xff), file);
}

static uint64_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float value_at(int i1, int i2) {
    return (float)(100 * i2 + 7 * i1) - 3;
}

/* [N2][N1], by a type such as "<f8". */
static void write_npy(const char *path, const char *type, bool fortran) {
    FILE *file = fopen(path, "wb");
    char header[112];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': (%d, %d), }",
             type, fortran ? "True" : "False", N2, N1);
    if (file == NULL) exit(1);
    fprintf(file, "%s", "\x93NUMPY\1");
    put(file, false, 3, 118 << 8);
    fprintf(file, "%-117s\n", header);
    for (int i = 0; i < N1 * N2; i++) {
        const float value = fortran ? value_at(i / N2, i % N2) : value_at(i % N1, i / N1);
        const double wide = value;
        uint64_t bits = (uint64_t)(int64_t)value;
        if (type[1] == 'f') bits = bits_of(value);
        if (type[1] == 'f' && type[2] == '8') memcpy(&bits, &wide, sizeof bits);
        put(file, type[0] == '>', type[2] - '0', bits);
    }
    fclose(file);
}

/* A trace's header, of 16 bit at a time: elevation, x, y, inline and crossline. */
static uint64_t header_at(int i, int64_t x, int line, int cross, bool volume) {
    switch (i) {
    case 70:
        return (uint64_t)-100;
    case 180:
        return (uint64_t)x >> 16;
    case 182:
        return (uint64_t)x;
    case 186:
        return (uint64_t)2500 * (uint64_t)line;
    case 190:
        return volume ? 7 + (uint64_t)line : 0;
    case 194:
        return 20 + (uint64_t)cross;
    default:
        return 0;
    }
}

/* Traces along x1, samples along the last axis, 12.5 and 6.25 m apart, lines of them 25 m apart;
 * code: 1 IBM, 5 IEEE floats. lines: each has N1 traces, the last one so many less. */
static void write_lines(const char *path, int code, int64_t last, int lines, int less) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) exit(1);
    for (int i = 0; i < 3600; i += 2)
        put(file, true, 2, i == 3216 ? 6250 : i == 3220 ? N2 : i == 3224 ? (uint64_t)code : 0);
    for (int n = 0; n < N1 * lines - less; n++) {
        const int i1 = n % N1, line = n / N1;
        const int64_t x = i1 < N1 - 1 ? 4000000 + 1250 * i1 : last;
        for (int i = 0; i < 240; i += 2) put(file, true, 2, header_at(i, x, line, i1, lines > 1));
        for (int i2 = 0; i2 < N2; i2++) {
            const double value = value_at(i1, i2) + (float)(9 * line); /* of IBM: below 16^3 */
            const uint64_t ibm = 0x43000000 + (uint64_t)llround(fabs(value) * 4096);
            put(file, true, 4,
                code == 5   ? bits_of((float)value)
                : value < 0 ? ibm | 0x80000000
                            : ibm);
        }
    }
    fclose(file);
}

static void write_segy(const char *path, int code, int64_t last) {
    write_lines(path, code, last, 1, 0);
}

static void judge_format(const char *name, const struct ht_params *params) {
    struct ht_samples *s = NULL;
    double error = 0;
    const enum ht_err err = ht_samples_read(params, path_of(name), NULL, NULL, &s);
    for (int i = 0; i < N1 * N2 && s != NULL; i++)
        error += fabs(s->value[i] - (double)value_at(i % N1, i / N1));
    TEST_CHECK(s != NULL && s->shape[0] == N1 && s->shape[1] == N2 && error == 0, "%s%s%s", name,
               err ? ": " : ": shape and values", test_said(err));
    TEST_CHECK(s != NULL && s->spacing[0] == 0.0125 && s->spacing[1] == 0.00625,
               "%s: spacing %g, %g", name, s ? s->spacing[0] : 0, s ? s->spacing[1] : 0);
    ht_samples_destroy(s);
    unlink(path_of(name));
}

static void test_formats(void) {
    static const char *const types[] = {"<f4", ">f4", "<f8", ">f8", "<i2", ">i4", "<i8", "|i1"};
    char *keys[] = {"grid.cells=[8,8]", "output.units.length=km"};
    struct ht_params *params = NULL, given = {.medium = {.spacing = {0.0125, 0.00625}, .scale = 1}};
    for (int i = 0; i < 14; i++) {
        const char *name = HT_KEY("%s-%d.npy", &types[i / 2][1], i);
        write_npy(path_of(name), types[i / 2], i % 2 != 0);
        judge_format(name, &given);
    }
    must(ht_params_read(NULL, 2, keys, &params));
    for (int code = 1; code <= 5; code += 4) {
        const char *name = code == 1 ? "ibm.sgy" : "ieee.SEGY";
        write_segy(path_of(name), code, 4003750);
        judge_format(name, params);
    }
    ht_params_destroy(params);
}

/* SEG-Y of three dimensions: crosslines along x1, inlines along x2, samples along x3. */
static void test_volume(void) {
    enum { LINES = 3 };
    char *keys[] = {"grid.cells=[8,8,8]"};
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    HT_ENDED(ht_samples_end) struct ht_samples *s = NULL;
    double error = 0;
    must(ht_params_read(NULL, 1, keys, &params));
    write_lines(path_of("v.sgy"), 5, 4000000 + 1250 * (N1 - 1), LINES, 0);
    must(ht_samples_read(params, path_of("v.sgy"), NULL, NULL, &s));
    for (int i = 0; i < N1 * N2 * LINES; i++)
        error +=
            fabs(s->value[i] - (double)value_at(i % N1, i / N1 / LINES) - 9 * (i / N1 % LINES));
    TEST_CHECK(s->shape[0] == N1 && s->shape[1] == LINES && s->shape[2] == N2 && error == 0,
               "a volume of SEG-Y: shape and values");
    TEST_CHECK(s->spacing[0] == 12.5 && s->spacing[1] == 25 && s->spacing[2] == 6.25,
               "a volume of SEG-Y: spacing %g, %g, %g", s->spacing[0], s->spacing[1],
               s->spacing[2]);
    unlink(path_of("v.sgy"));
}

/* ---- refusals ---- */

static void refuse(const struct ht_params *params, const char *path, const char *dataset,
                   const char *part, const char *what) {
    HT_ENDED(ht_samples_end) struct ht_samples *s = NULL;
    enum ht_err err = ht_samples_read(params, path, dataset, NULL, &s);
    bool refused = err != HT_OK && s == NULL;
    TEST_CHECK(refused && strstr(ht_err_message(), part), "%s: \"%s\"", what,
               refused ? ht_err_message() : "accepted");
}

static void test_refusals(void) {
    const float values[4] = {1, 2, NAN, 4};
    char twice_key[] = "medium.axes=[\"x1\",\"x1\"]", *twice = twice_key, *wrong[] = {"x4"},
         *one[] = {"x2"}, raw[128], h5[128];
    snprintf(raw, sizeof raw, "%s", path_of("nan"));
    snprintf(h5, sizeof h5, "%s", path_of("m.h5"));
    write_floats("nan", 4, values);
    const struct ht_params good = {
        .medium = {.format = HT_RAW, .shape = {2, 2}, .spacing = {1, 1}, .scale = 1}};
    struct ht_params f = good, *params = NULL;
    refuse(&f, raw, NULL, "sample [0, 1, 0]", "NaN");
    f.medium.shape[1] = 3;
    refuse(&f, raw, NULL, "16 bytes, but shape 2 x 3 of float32 needs 24", "short file");
    f.medium.shape[1] = 1;
    refuse(&f, raw, NULL, "needs 8", "long file");
    f = good;
    f.medium.shape[0] = 0;
    refuse(&f, raw, NULL, "shape[0] = 0", "no shape");
    f.medium.shape[0] = f.medium.shape[1] = INT64_MAX / 4;
    refuse(&f, raw, NULL, "more samples than", "overflowing shape");
    f = good;
    f.medium.spacing[1] = 0;
    refuse(&f, raw, NULL, "spacing[1] = 0", "zero spacing");
    f = good;
    f.medium.scale = 0;
    refuse(&f, raw, NULL, "scale", "zero scale");
    f = good;
    TEST_ERROR(ht_params_read(NULL, 1, &twice, &params), HT_ERR_INPUT,
               "medium.axes = [\"x1\", \"x1\"]: names \"x1\" twice", "axis named twice");
    f.medium.axes = (struct ht_names){1, wrong};
    refuse(&f, raw, NULL, "\"x4\"", "unknown axis");
    refuse(&good, "/nonexistent/file", NULL, "/nonexistent/file", "missing file");
    f = (struct ht_params){
        .medium = {
            .format = HT_HDF5, .dataset = "", .shape = {3, 5}, .spacing = {1, 1}, .scale = 1}};
    refuse(&f, h5, "model/c", "shape[1] = 5", "hdf5: other extents");
    f.medium.axes = (struct ht_names){1, one};
    refuse(&f, h5, "model/c", "has 2 axes, but axes names 1", "hdf5: other rank");
    refuse(&f, h5, "nothing", "holds no dataset nothing; it has model/c", "hdf5: no such dataset");
}

static void test_refused_formats(void) {
    const float values[4] = {1, 2, NAN, 4};
    const struct ht_params f = {.medium = {.shape = {4, 4}, .spacing = {1, 1}, .scale = 1}};
    write_npy(path_of("m.npy"), "<f4", false);
    refuse(&f, path_of("m.npy"), NULL, "shape[1] = 4, but", ".npy: other extents");
    write_npy(path_of("m.npy"), "<f2", false);
    refuse(&f, path_of("m.npy"), NULL, "values of type <f2", ".npy: halves");
    write_npy(path_of("m.npy"), "<c8", false);
    refuse(&f, path_of("m.npy"), NULL, "values of type <c8", ".npy: complex numbers");
    write_npy(path_of("m.npy"), "<f4", false);
    if (truncate(path_of("m.npy"), 170) != 0) exit(1);
    refuse(&f, path_of("m.npy"), NULL, "42 bytes of values, but 3 x 4 of 4 bytes need 48",
           ".npy: cut off");
    write_floats("x.npy", 4, values);
    refuse(&f, path_of("x.npy"), NULL, "is no .npy file", ".npy: raw values");
    unlink(path_of("x.npy"));
    unlink(path_of("m.npy"));
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    char *key[] = {"grid.cells=[8,8]"};
    must(ht_params_read(NULL, 1, key, &params));
    write_segy(path_of("m.sgy"), 5, 4010000);
    refuse(params, path_of("m.sgy"), NULL, "12.5 apart", "SEG-Y: uneven traces");
    write_lines(path_of("m.sgy"), 5, 4000000 + 1250 * (N1 - 1), 3, 1);
    refuse(params, path_of("m.sgy"), NULL, "no whole lines", "SEG-Y: a volume with a trace less");
    write_segy(path_of("m.sgy"), 4, 4003750);
    refuse(params, path_of("m.sgy"), NULL, "format 4", "SEG-Y: a format of gains");
    unlink(path_of("m.sgy"));
}

int main(void) {
    if ((directory = scratch_make("samples")) == NULL) return 1;
    test_exact();
    test_refused_formats();
    test_order();
    test_ends();
    test_axes();
    test_hdf5();
    test_formats();
    test_volume();
    test_refusals();
    unlink(path_of("raw"));
    unlink(path_of("nan"));
    unlink(path_of("m.h5"));
    rmdir(directory);
    return test_end("samples");
}
