/* Matrix products of the device layer: offsets, strides, a shared matrix on either side, shapes
 * from one row up. Data are small integers, so products are exact and must be equal. What lies
 * beyond the result stays as it was, and a shape beyond a buffer is refused.
 */
#include "compiler.h"
#include "open_device.h"
#include "test.h"

enum { ROOM = 6000, OUTSIDE = 77 };

struct scene {
    struct ht_device *device;
    struct ht_gemm *gemm[2]; /* single, double */
    struct ht_buffer *buffer[2][3];
    double value[3][ROOM]; /* what the buffers hold */
};

static enum ht_err write(struct scene *s, bool fp64, int which) {
    float single[ROOM];
    int64_t bytes = (int64_t)ROOM * ht_real_size(fp64);
    for (int i = 0; i < ROOM; i++) single[i] = (float)s->value[which][i];
    return ht_buffer_write(s->buffer[fp64][which],
                           (struct ht_span){.width = bytes, .pitch = bytes, .rows = 1},
                           fp64 ? (const void *)s->value[which] : single);
}

static enum ht_err read(struct scene *s, bool fp64, double *out) {
    float single[ROOM];
    int64_t bytes = (int64_t)ROOM * ht_real_size(fp64);
    TRY(ht_buffer_read(s->buffer[fp64][2],
                       (struct ht_span){.width = bytes, .pitch = bytes, .rows = 1},
                       fp64 ? (void *)out : single));
    for (int i = 0; !fp64 && i < ROOM; i++) out[i] = (double)single[i];
    return HT_OK;
}

/* s->value[2] <- the products. */
static void multiply(struct scene *s, const struct ht_gemm_shape *g) {
    for (int64_t b = 0; b < g->batches; b++)
        for (int64_t i = 0; i < g->m; i++)
            for (int64_t j = 0; j < g->n; j++) {
                double sum = 0;
                for (int64_t l = 0; l < g->k; l++)
                    sum += s->value[0][g->at[0] + b * g->stride[0] + i * g->k + l] *
                           s->value[1][g->at[1] + b * g->stride[1] + l * g->n + j];
                s->value[2][g->at[2] + b * g->stride[2] + i * g->n + j] = sum;
            }
}

static void run(struct scene *s, bool fp64, const struct ht_gemm_shape *g) {
    double found[ROOM] = {0};
    int wrong = 0;
    for (int i = 0; i < ROOM; i++) {
        s->value[0][i] = (double)(ht_rng_bits(1, (uint64_t)i) % 9) - 4;
        s->value[1][i] = (double)(ht_rng_bits(2, (uint64_t)i) % 9) - 4;
        s->value[2][i] = OUTSIDE;
    }
    enum ht_err err = HT_OK;
    for (int w = 0; err == HT_OK && w < 3; w++) err = write(s, fp64, w);
    if (err == HT_OK) err = ht_gemm_launch(s->gemm[fp64], g, s->buffer[fp64]);
    if (err == HT_OK) err = ht_device_finish(s->device);
    if (err == HT_OK) err = read(s, fp64, found);
    multiply(s, g);
    for (int i = 0; i < ROOM; i++) wrong += found[i] != s->value[2][i];
    TEST_CHECK(err == HT_OK && wrong == 0,
               "%s, %d products %d x %d x %d: %d of %d values wrong (bound 0)%s",
               fp64 ? "double" : "single", (int)g->batches, (int)g->m, (int)g->n, (int)g->k, wrong,
               (int)ROOM, err ? ht_err_message() : "");
}

static void run_refused(struct scene *s) {
    static const struct {
        const char *what;
        struct ht_gemm_shape shape;
    } cases[] = {
        {"beyond C", {8, 8, 8, 94, {0, 0, 0}, {0, 0, 64}}},
        {"beyond A", {8, 8, 8, 1, {ROOM - 63, 0, 0}, {0, 0, 0}}},
        {"no batch", {8, 8, 8, 0, {0, 0, 0}, {0, 0, 0}}},
        {"65536 batches", {1, 1, 1, 65536, {0, 0, 0}, {0, 0, 0}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum ht_err err = ht_gemm_launch(s->gemm[0], &cases[i].shape, s->buffer[0]);
        TEST_CHECK(err == HT_ERR_INTERNAL, "%s is refused: %s", cases[i].what,
                   err ? ht_err_message() : "it is not");
    }
}

static enum ht_err create(struct scene *s, bool fp64) {
    TRY(ht_gemm_create(s->device, fp64, &s->gemm[fp64]));
    for (int w = 0; w < 3; w++)
        TRY(ht_buffer_create(s->device, (int64_t)ROOM * ht_real_size(fp64), &s->buffer[fp64][w]));
    return HT_OK;
}

static void destroy(struct scene *s) {
    for (int p = 0; p < 2; p++) {
        ht_gemm_destroy(s->gemm[p]);
        for (int w = 0; w < 3; w++) ht_buffer_destroy(s->buffer[p][w]);
    }
    ht_device_close(s->device);
}

int main(void) {
    /* PoCL compiles in a third of the time. */
    test_optimise(false);
    static const struct ht_gemm_shape shapes[] = {
        {64, 16, 16, 3, {0, 0, 100}, {1024, 0, 1024}}, {5, 64, 64, 1, {1280, 0, 320}, {0, 0, 0}},
        {4, 16, 4, 60, {0, 64, 0}, {0, 64, 64}},       {18, 18, 18, 7, {3, 1, 5}, {0, 324, 400}},
        {1, 36, 36, 1, {0, 0, 0}, {0, 0, 0}},
    };
    struct scene s = {.device = NULL};
    if (test_open_device(&s.device) != HT_OK) {
        TEST_SKIP("no device: %s", ht_err_message());
        return test_end("gemm");
    }
    if (ht_device_info(s.device)->no_gemm != NULL) {
        enum ht_err err = ht_gemm_create(s.device, false, &s.gemm[0]);
        TEST_CHECK(err == HT_ERR_DEVICE, "refused: %s", ht_err_message());
    }
    for (int p = 0; p < 2 && ht_device_info(s.device)->no_gemm == NULL; p++) {
        if (p && !ht_device_info(s.device)->fp64) continue;
        enum ht_err err = create(&s, p);
        TEST_CHECK(err == HT_OK, "buffers%s", err ? ht_err_message() : "");
        for (size_t i = 0; err == HT_OK && i < sizeof shapes / sizeof *shapes; i++)
            run(&s, p, &shapes[i]);
    }
    if (s.gemm[0] != NULL) {
        run_refused(&s);
        double seconds = ht_gemm_seconds(s.gemm[0]);
        TEST_CHECK(seconds > 0 && ht_gemm_seconds(s.gemm[0]) == 0,
                   "the device's clock counted %.3g s (bound: above 0)", seconds);
    }
    destroy(&s);
    return test_end("gemm");
}
