/* The library (htwave/api.h): handles, models that change, errors after which a handle works, calls
 * that are ended, threads. By the serial reference, with address checks, too. */
#include "io/scratch.h"
#include "must.h"

#include "htwave/api.h"

#include <pthread.h>

enum { N1 = 24, N2 = 20, TRACES = 3, SAMPLES = 21, VALUES = TRACES * SAMPLES };

#define COMMON                                                                                \
    "system=acoustic", "grid.cells=[24,20]", "grid.upper=[0.24,0.2]",                         \
        "time={end=0.2;scheme=\"fd\";step=0.004;}", "grid.order=4", "boundary.x2=rigid",      \
        "boundary.x1=rigid", "device.backend=oracle",                                         \
        "sources=({position=[0.05,0.1];frequency=9.0;},{position=[0.1,0.1];frequency=9.0;})", \
        "receivers=({type=\"line\";from=[0.2,0.05];to=[0.2,0.15];count=3;every=0.01;})"
#define SAMPLED "medium.shape=[24,20]", "medium.spacing=[0.01,0.01]", "medium.origin=[0.005,0.005]"
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static const char *const memory[] = {COMMON, SAMPLED, "medium.type=memory", "medium.c=array"};

static void fill(double factor, double c[N2 * N1]) {
    for (int i = 0; i < N2 * N1; i++) c[i] = factor * (i / N1 < 8 ? 1.0 : 1.3);
}

static int set_model(ht_api *api, double factor) {
    double c[N2 * N1];
    fill(factor, c);
    return ht_api_model_set(api, "c", c);
}

static ht_api *make(double factor) {
    ht_api *api = NULL;
    if (ht_api_open(NULL, COUNT(memory), memory, &api) != 0 || set_model(api, factor) != 0)
        TEST_CHECK(false, "opens: %s", ht_api_error());
    return api;
}

struct traces {
    double at[VALUES];
    int code;
};

static struct traces record(ht_api *api, int shot) {
    struct traces out = {.code = -1};
    struct ht_api_group group = {.samples = 0};
    if (ht_api_group(api, shot, 0, &group) == 0 && group.receivers == TRACES &&
        group.readings == 1 && group.samples == SAMPLES)
        out.code = ht_api_forward(api, shot, 0, out.at);
    return out;
}

static double size_of(const struct traces *x) {
    double most = 0;
    for (int i = 0; i < VALUES; i++) most = fmax(most, fabs(x->at[i]));
    return most;
}

static bool equal(const struct traces *a, const struct traces *b) {
    for (int i = 0; i < VALUES; i++)
        if (a->at[i] != b->at[i]) return false;
    return a->code == 0 && b->code == 0 && size_of(a) > 0;
}

static void test_models(void) {
    ht_api *first = make(1), *second = make(0.8);
    const struct traces a = record(first, 0), b = record(second, 0), shot = record(first, 1);
    TEST_EQUAL(set_model(first, 0.8), 0, "another model is set");
    const struct traces changed = record(first, 0), again = record(second, 0);
    TEST_EQUAL(set_model(first, 1), 0, "and the first one");
    const struct traces back = record(first, 0), shot_back = record(first, 1);
    TEST_CHECK(equal(&b, &changed) && equal(&b, &again) && equal(&a, &back) && !equal(&a, &b),
               "traces are those of the model, whatever came before, by two handles (largest %.3g)",
               size_of(&a));
    TEST_CHECK(equal(&shot, &shot_back) && !equal(&shot, &a), "so are those of another shot");
    ht_api_close(first);
    ht_api_close(second);
}

/* The samples of a file, which memory replaces. */
static void test_file(const char *folder) {
    double c[N2 * N1], found[N2 * N1] = {0};
    float single[N2 * N1];
    int64_t shape[3] = {0};
    int rank = 0;
    ht_api *api = NULL, *own = make(1);
    fill(1, c);
    for (int i = 0; i < N2 * N1; i++) single[i] = (float)c[i];
    must(ht_file_write_in(folder, "c.f32", single, sizeof single));
    const char *const keys[] = {COMMON, SAMPLED, "medium.type=file",
                                HT_KEY("medium.c=%s/c.f32", folder)};
    const int code = ht_api_open(NULL, COUNT(keys), keys, &api);
    TEST_CHECK(code == 0 && ht_api_model_shape(api, "c", &rank, shape) == 0 && rank == 2 &&
                   shape[0] == N2 && shape[1] == N1,
               "the array of a file: %lld x %lld (%s)", (long long)shape[0], (long long)shape[1],
               ht_api_error());
    TEST_CHECK(ht_api_model_get(api, "c", found) == 0 && found[0] == c[0] &&
                   found[N2 * N1 - 1] == (float)c[N2 * N1 - 1],
               "its values");
    const struct traces by_file = record(api, 0);
    TEST_CHECK(ht_api_model_set(own, "c", found) == 0, "in memory");
    const struct traces by_memory = record(own, 0);
    TEST_CHECK(equal(&by_file, &by_memory), "they give the same traces");
    ht_api_close(api);
    ht_api_close(own);
}

static void refused(int code, int expected, const char *part) {
    TEST_CHECK(code == expected && strstr(ht_api_error(), part) != NULL, "refused: %s",
               ht_api_error());
}

static void test_errors(void) {
    double c[N2 * N1];
    const char *const wrong[] = {"grid.cels=[4]"};
    ht_api *api = NULL;
    int count;
    refused(ht_api_open(NULL, 1, wrong, &api), HT_API_INPUT, "grid.cells");
    TEST_CHECK(api == NULL, "there is no handle then");
    refused(ht_api_open("no/such.cfg", 0, NULL, &api), HT_API_INPUT, "no/such.cfg");
    refused(ht_api_open("time.end = 1.0;\ngrid.cells = 3\n", 0, NULL, &api), HT_API_INPUT, "text:");
    ht_api_open(NULL, COUNT(memory), memory, &api);
    refused(ht_api_shots(api, &count), HT_API_INPUT, "medium.c");
    refused(ht_api_model_get(api, "c", c), HT_API_INPUT, "no values");
    refused(ht_api_model_set(api, "rho", c), HT_API_INPUT, "rho: no such array: the model's are c");
    fill(1, c);
    c[5] = NAN;
    refused(ht_api_model_set(api, "c", c), HT_API_INPUT, "value 5 is nan");
    refused(set_model(api, -1), HT_API_INPUT, "must be positive");
    (void)set_model(api, 1);
    const struct traces good = record(api, 0);
    (void)set_model(api, 3);
    refused(record(api, 0).code, -1, "time.step");
    refused(ht_api_forward(api, 0, 0, c), HT_API_INPUT, "time.step");
    (void)set_model(api, 1);
    const struct traces after = record(api, 0);
    TEST_CHECK(equal(&good, &after), "a model that works follows one that is refused");
    refused(ht_api_forward(api, 2, 0, c), HT_API_INPUT, "shot 2: must be 0 to 1");
    refused(ht_api_forward(api, -1, 0, c), HT_API_INPUT, "shot -1");
    ht_api_close(api);
    ht_api_close(NULL);
}

static int at_once(void *context) {
    return ++*(int *)context > 0;
}

static int count_fields(void *context, const struct ht_api_snapshot *s) {
    int *count = context;
    ++*count;
    return s->rank != 2 || s->shape[0] != N2 + 1 || s->shape[1] != N1 + 1 || s->field[0] != 'p';
}

static void test_ends(void) {
    ht_api *api = make(1);
    int asked = 0, fields = 0;
    const struct traces whole = record(api, 0);
    ht_api_stop(api, at_once, &asked);
    struct traces ended = record(api, 0);
    TEST_CHECK(ended.code == HT_API_INTERRUPTED && asked > 0, "ended: %s", ht_api_error());
    ht_api_stop(api, NULL, NULL);
    ended = record(api, 0);
    TEST_CHECK(equal(&whole, &ended), "and run again");
    TEST_CHECK(ht_api_snapshots(api, 0.05, count_fields, &fields) == 0, "snapshots");
    ended = record(api, 0);
    TEST_CHECK(equal(&whole, &ended) && fields == 5, "%d of them, expected 5: %s", fields,
               ht_api_error());
    ht_api_close(api);
}

/* The sum over traces of a number times each is that over the signal of the derivatives by it. */
static void judge_signal(ht_api *api, int knots, const double *s) {
    double by[64], r[VALUES], g[N2 * N1], *const places[1] = {g}, sum[2] = {0}, norm[2] = {0};
    struct traces t;
    int64_t count = 0;
    t.code = ht_api_forward(api, 0, 1, t.at);
    for (int i = 0; i < VALUES; i++) r[i] = cos(i * i);
    refused(ht_api_backward_signal(api, 0, &count, by), HT_API_INPUT, "ht_api_backward before");
    const int back = ht_api_backward(api, r, places);
    refused(ht_api_backward_signal(api, 1, &count, by), HT_API_INPUT,
            "source 1 of shot 0: there are 1");
    const int code = ht_api_backward_signal(api, 0, &count, by);
    for (int i = 0; i < VALUES; i++) {
        sum[0] += r[i] * t.at[i];
        norm[0] += r[i] * r[i];
        norm[1] += t.at[i] * t.at[i];
    }
    for (int i = 0; i < knots; i++) sum[1] += by[i] * s[i];
    TEST_CHECK(t.code == 0 && back == 0 && code == 0 && count == knots, "back, by the signal (%s)",
               ht_api_error());
    TEST_BELOW(fabs(sum[0] - sum[1]) / sqrt(norm[0] * norm[1]), 1e-12, "by the signal: %.6g",
               sum[0]);
    (void)ht_api_forward(api, 1, 1, t.at);
    (void)ht_api_backward(api, r, places);
    refused(ht_api_backward_signal(api, 0, &count, by), HT_API_INPUT, "has no samples");
}

/* The same wavelet from a file and from memory. */
static void test_signals(const char *folder) {
    enum { KNOTS = 40 };
    HT_FREED_TEXT struct ht_text wavelet = {0};
    char key[400];
    double s[KNOTS];
    ht_api *api = NULL, *own = make(1);
    snprintf(key, sizeof key,
             "sources=({position=[0.05,0.1];signal=\"file\";file=\"%s/s.txt\";},"
             "{position=[0.1,0.1];frequency=9.0;})",
             folder);
    for (int i = 0; i < KNOTS; i++) {
        s[i] = pow(sin(3.14159 * i / (KNOTS - 1)), 4);
        ht_text_add(&wavelet, "%.17g %.17g\n", i * 0.003, s[i]);
    }
    must(ht_file_write_in(folder, "s.txt", wavelet.data, wavelet.length));
    const char *const keys[] = {COMMON, SAMPLED, "medium.type=memory", "medium.c=array", key};
    TEST_CHECK(ht_api_open(NULL, COUNT(keys), keys, &api) == 0 && set_model(api, 1) == 0,
               "a signal of a file (%s)", ht_api_error());
    const struct traces by_file = record(api, 0), before = record(own, 0), other = record(own, 1);
    TEST_CHECK(ht_api_signal_set(own, 0, KNOTS, 0.003, s) == 0, "and in memory");
    const struct traces by_memory = record(own, 0), still = record(own, 1);
    TEST_CHECK(equal(&by_file, &by_memory) && !equal(&before, &by_memory),
               "they give the same traces (%s)", ht_api_error());
    TEST_CHECK(equal(&other, &still), "the other source has its own");
    judge_signal(own, KNOTS, s);
    refused(ht_api_signal_set(own, 2, KNOTS, 0.003, s), HT_API_INPUT, "source 2: there are 2");
    refused(ht_api_signal_set(own, 1, 3, 0.003, s), HT_API_INPUT, "at least 4");
    s[3] = INFINITY;
    refused(ht_api_signal_set(own, 1, KNOTS, 0.003, s), HT_API_INPUT, "value 3 is inf");
    ht_api_close(api);
    ht_api_close(own);
}

static void test_gradients(void) {
    static double data[2 * VALUES], r[VALUES], g[3][N2 * N1];
    double *const places[3] = {g[0], g[1], g[2]}, chi[2] = {0};
    double most = 0, apart = 0;
    ht_api *api = make(1);
    const struct traces a = record(api, 0), b = record(api, 1);
    memcpy(data, a.at, sizeof a.at);
    memcpy(data + VALUES, b.at, sizeof b.at);
    TEST_CHECK(ht_api_misfit(api, "l2", data, NULL, chi, places) == 0 && chi[0] == 0 &&
                   chi[1] == 0 && g[0][N1 + 1] == 0,
               "no misfit to its own traces (%s)", ht_api_error());
    refused(ht_api_backward(api, r, places), HT_API_INPUT, "with record");
    for (int i = 0; i < VALUES; i++) r[i] = a.at[i] + 1e-5;
    for (int n = 0; n < 2; n++) {
        struct traces recorded = {.code = 0};
        recorded.code = ht_api_forward(api, 0, 1, recorded.at);
        TEST_CHECK(equal(&recorded, &a), "recorded: the same traces");
        TEST_CHECK(ht_api_backward(api, r, &places[1 + n]) == 0, "and back");
        for (int i = 0; i < VALUES; i++) r[i] *= 2;
    }
    for (int i = 0; i < N2 * N1; i++) {
        most = fmax(most, fabs(g[2][i]));
        apart = fmax(apart, fabs(g[2][i] - 2 * g[1][i]));
    }
    TEST_CHECK(most > 0 && apart == 0, "twice the residual, twice the gradient (largest %.3g)",
               most);
    refused(ht_api_misfit(api, "l1", data, NULL, chi, places), HT_API_INPUT, "l2");
    ht_api_close(api);
}

static void *in_thread(void *context) {
    struct traces *out = context;
    const double factor = out->at[0];
    ht_api *api = make(factor);
    for (int i = 0; i < 3; i++) *out = record(api, i % 2);
    ht_api_close(api);
    return NULL;
}

static void test_threads(void) {
    struct traces own[2] = {{.at = {1}}, {.at = {0.8}}}, alone[2];
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, in_thread, &own[i]);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++) {
        ht_api *api = make(i == 0 ? 1 : 0.8);
        alone[i] = record(api, 0);
        ht_api_close(api);
    }
    TEST_CHECK(equal(&own[0], &alone[0]) && equal(&own[1], &alone[1]),
               "handles of two threads at a time: the traces of one thread");
}

static void test_many(void) {
    int good = 0;
    for (int i = 0; i < 50; i++) {
        ht_api *api = make(1);
        if (i % 10 == 0) good += record(api, 0).code == 0;
        ht_api_close(api);
    }
    TEST_CHECK(good == 5, "opened and closed 50 times, run %d times", good);
}

int main(void) {
    char *folder = scratch_make("api");
    if (folder == NULL) return 2;
    test_models();
    test_file(folder);
    test_errors();
    test_ends();
    test_signals(folder);
    test_gradients();
    test_threads();
    test_many();
    scratch_remove(folder);
    return test_end("unit/api");
}
