/* Hermite interpolation as strided-batched matrix products. A cell's vertex values are a tensor
 * v[r3][r2][r1] of T = 2N+2 values per axis, r1 fastest.
 *
 *   1. The axes x1..xg together, with the largest g such that P = T^g <= FUSED:
 *      rows of P values times the transpose of K = H x .. x H,
 *          b[row][n] = sum_r v[row][r] K[n][r],
 *      in batches of ROWS rows, since libraries are slow for few rows.
 *   2. Each further axis k: per cell and index of the axes above,
 *          b[n_k][inner] = sum_r H[n_k][r_k] v[r_k][inner],
 *      inner running over the T^k values of the axes below.
 *
 * Each product reads one of two buffers and writes the other. The entries of K are exact in single
 * precision: at most 24 bits for P <= 64.
 */
#include "products.h"

#include <stdlib.h>

#include "counts.h"

enum {
    FUSED = 64,
    MOST_VALUES = FUSED * FUSED, /* of an operator; N = 8 has 18 x 18 */
    ROWS = 64,
    MOST_BATCHES = 65535
};

struct ht_products {
    struct ht_device *device;
    struct ht_gemm *gemm;
    struct ht_buffer *fused, *matrix; /* K transposed, H */
    int t, p, cube;
    int count; /* products */
    bool fp64;
};

void ht_products_destroy(struct ht_products *products) {
    if (products == NULL) return;
    ht_gemm_destroy(products->gemm);
    ht_buffer_destroy(products->fused);
    ht_buffer_destroy(products->matrix);
    free(products);
}

/* The transpose of H x .. x H, p x p row-major. */
static void fused_operator(const double *matrix, int t, int p, double *out) {
    for (int r = 0; r < p; r++)
        for (int n = 0; n < p; n++) {
            double value = 1;
            for (int stride = 1; stride < p; stride *= t)
                value *= matrix[n / stride % t * t + r / stride % t];
            out[r * p + n] = value;
        }
}

static enum ht_err upload(const struct ht_products *products, const double *values, int count,
                          struct ht_buffer **out) {
    float single[MOST_VALUES];
    int64_t bytes = (int64_t)count * ht_real_size(products->fp64);
    for (int i = 0; i < count; i++) single[i] = (float)values[i];
    TRY(ht_buffer_create(products->device, bytes, out));
    return ht_buffer_write(*out, (struct ht_span){.width = bytes, .pitch = bytes, .rows = 1},
                           products->fp64 ? (const void *)values : single);
}

static enum ht_err create(struct ht_products *products, int order, int dims) {
    double matrix[4 * (HT_MAX_ORDER + 1) * (HT_MAX_ORDER + 1)];
    double fused[MOST_VALUES] = {0};
    products->p = products->t;
    products->count = dims;
    while (products->p * products->t <= FUSED && products->p < products->cube) {
        products->p *= products->t;
        products->count--;
    }
    ht_hermite_matrix(order, matrix);
    fused_operator(matrix, products->t, products->p, fused);
    TRY(ht_gemm_create(products->device, products->fp64, &products->gemm));
    TRY(upload(products, matrix, products->t * products->t, &products->matrix));
    return upload(products, fused, products->p * products->p, &products->fused);
}

enum ht_err ht_products_create(struct ht_device *device, const struct ht_spec *spec,
                               struct ht_products **out) {
    struct ht_sizes z = ht_sizes_of(spec);
    struct ht_products *products = NULL;
    *out = NULL;
    TRY(HT_ALLOC(products, 1));
    products->device = device;
    products->fp64 = spec->fp64;
    products->t = z.t1;
    products->cube = z.cube;
    enum ht_err err = create(products, spec->order, spec->eq->dims);
    return HT_MADE(err, products, ht_products_destroy, out);
}

struct ht_buffer *ht_products_source(const struct ht_products *products, struct ht_buffer *poly,
                                     struct ht_buffer *work) {
    return products->count % 2 ? work : poly;
}

/* `batches` products of one shape, split into launches within the limits of every device. data:
 * which of A and B is not the shared operator. */
static enum ht_err launch_all(struct ht_products *products, struct ht_gemm_shape shape, int data,
                              int64_t batches, struct ht_buffer *const buffers[3]) {
    for (int64_t first = 0; first < batches; first += MOST_BATCHES) {
        int64_t left = batches - first;
        shape.batches = left < MOST_BATCHES ? left : MOST_BATCHES;
        TRY(ht_gemm_launch(products->gemm, &shape, buffers));
        shape.at[data] += shape.batches * shape.stride[data];
        shape.at[2] += shape.batches * shape.stride[2];
    }
    return HT_OK;
}

static enum ht_err run_fused(struct ht_products *products, int64_t targets, struct ht_buffer *from,
                             struct ht_buffer *to) {
    struct ht_buffer *const buffers[3] = {from, products->fused, to};
    int64_t p = products->p, rows = targets * (products->cube / p);
    int64_t whole = rows / ROWS, rest = rows % ROWS;
    struct ht_gemm_shape shape = {.m = ROWS, .n = p, .k = p, .stride = {ROWS * p, 0, ROWS * p}};
    TRY(launch_all(products, shape, 0, whole, buffers));
    shape.m = rest;
    shape.at[0] = shape.at[2] = whole * ROWS * p;
    return launch_all(products, shape, 0, rest > 0, buffers);
}

static enum ht_err run_axis(struct ht_products *products, int64_t targets, int64_t inner,
                            struct ht_buffer *from, struct ht_buffer *to) {
    struct ht_buffer *const buffers[3] = {products->matrix, from, to};
    int64_t t = products->t, values = t * inner;
    const struct ht_gemm_shape shape = {.m = t, .n = inner, .k = t, .stride = {0, values, values}};
    return launch_all(products, shape, 1, targets * (products->cube / values), buffers);
}

enum ht_err ht_products_run(struct ht_products *products, int64_t targets, struct ht_buffer *poly,
                            struct ht_buffer *work) {
    struct ht_buffer *from = ht_products_source(products, poly, work);
    struct ht_buffer *to = from == poly ? work : poly;
    TRY(run_fused(products, targets, from, to));
    for (int64_t inner = products->p; inner < products->cube; inner *= products->t) {
        struct ht_buffer *next = from;
        from = to;
        to = next;
        TRY(run_axis(products, targets, inner, from, to));
    }
    return HT_OK;
}

double ht_products_seconds(struct ht_products *products) {
    return ht_gemm_seconds(products->gemm);
}
