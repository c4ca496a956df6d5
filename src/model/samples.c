/* Values on a regular grid, from a file or in memory, and the polynomials they give.
 *
 * About a point x each axis contributes Lagrange interpolation of degree g through g+1 samples at
 * the stride s = max(1, round(h/(2 spacing))): with t_j = (sample_j - x)/h,
 *     L_j(xi) = prod_(i != j) (xi - t_i)/(t_j - t_i),
 * whose coefficients in xi are the scaled derivatives of a jet at once (de Boor, A Practical Guide
 * to Splines, chapter I). The error is O(h^(g+1)) in every coefficient of a smooth function.
 *
 * Invariants: stencils never leave the samples: near the ends they turn one-sided, and outside the
 * samples the value at the end continues; so a polynomial of degree g is reproduced wherever
 * samples exist. */
#include "htwave/h5.h"
#include "medium_private.h"

enum { MAX_POINTS = 24 }; /* samples per axis of a stencil */

/* ---- reading ---- */

/* Layout of the file: axis[j] of its j-th fastest axis, extents; `values` in this order. */
struct layout {
    const struct ht_params *params;
    const char *path, *dataset;
    int rank, axis[3];
    int64_t extent[3], count;
    double *values;
    const double *memory; /* NULL: read from the file */
};

static enum ht_err layout_axes(struct layout *layout) {
    const struct ht_names *axes = &layout->params->medium.axes;
    bool used[3] = {false, false, false};
    layout->rank = axes->count;
    REQUIRE(layout->rank <= 3, HT_ERR_INPUT, "axes names %d axes of the file: at most 3",
            layout->rank);
    for (int j = 0; j < layout->rank; j++) {
        const int axis = ht_text_find("x1|x2|x3", '|', axes->name[j]);
        REQUIRE(axis >= 0, HT_ERR_INPUT, "axes: \"%s\" must be x1, x2 or x3", axes->name[j]);
        REQUIRE(!used[axis], HT_ERR_INPUT, "axes: \"%s\" appears twice", axes->name[j]);
        used[axis] = true;
        layout->axis[j] = axis;
    }
    return HT_OK;
}

/* Without names the file's axes are x1, x2, .. for as many as it has. */
static void layout_default(struct layout *layout, int rank) {
    if (layout->rank > 0) return;
    layout->rank = rank;
    for (int j = 0; j < rank; j++) layout->axis[j] = j;
}

/* Number of samples; refuses more than can be addressed. */
static enum ht_err layout_count(struct layout *layout) {
    layout->count = 1;
    for (int j = 0; j < layout->rank; j++) {
        int64_t n = layout->extent[j];
        REQUIRE(n >= 1, HT_ERR_INPUT, "shape[%d] = %lld: must be at least 1, the samples along x%d",
                j, (long long)n, layout->axis[j] + 1);
        REQUIRE(layout->count <= INT64_MAX / 16 / n, HT_ERR_INPUT,
                "shape: more samples than can be addressed");
        layout->count *= n;
    }
    return HT_OK;
}

static double float_from(const unsigned char *bytes, bool big_endian) {
    uint32_t bits = 0;
    float value;
    for (int i = 0; i < 4; i++) bits |= (uint32_t)bytes[i] << 8 * (big_endian ? 3 - i : i);
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Whether values look like a medium: finite, and those that are not 0 within eight decades of each
 * other, none too large for any unit. */
static bool plausible(const unsigned char *data, int64_t count, bool big_endian) {
    double least = INFINITY, most = 0;
    for (int64_t i = 0; i < count; i++) {
        double value = fabs(float_from(data + 4 * i, big_endian));
        if (!isfinite(value)) return false;
        if (value == 0) continue;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    return most > 0 && least >= 1e-20 && most <= 1e20 && most / least <= 1e8;
}

/* With the wrong byte order numbers near 1 or 1000 become numbers near 1e-38 or of all magnitudes.
 */
static enum ht_err check_byte_order(const unsigned char *data, int64_t count) {
    int64_t at = 0;
    if (plausible(data, count, false) || !plausible(data, count, true)) return HT_OK;
    while (float_from(data + 4 * at, true) == 0) at++;
    FAIL(HT_ERR_INPUT,
         "the file seems to be big-endian: sample %lld is %.6g, and %.6g with its bytes exchanged; "
         "must be little-endian 32-bit floats",
         (long long)at, float_from(data + 4 * at, false), float_from(data + 4 * at, true));
}

/* The extents are those of medium.shape. */
static enum ht_err layout_given(struct layout *layout) {
    const int64_t *shape = layout->params->medium.shape;
    int rank = 0;
    while (rank < 3 && shape[rank] > 0) rank++;
    layout_default(layout, rank > 0 ? rank : 1);
    for (int j = 0; j < layout->rank; j++) layout->extent[j] = shape[j];
    return layout_count(layout);
}

/* Raw float32 of exactly the promised size, in file order. */
static enum ht_err read_raw(struct layout *layout) {
    HT_FREED char *data = NULL;
    int64_t bytes = 0;
    size_t size = 0;
    TRY(layout_given(layout));
    TRY(ht_file_size(layout->path, &bytes));
    REQUIRE(bytes == layout->count * 4, HT_ERR_INPUT,
            "the file holds %lld bytes, but shape %s of float32 needs %lld", (long long)bytes,
            HT_EXTENTS(layout->rank, layout->extent), (long long)layout->count * 4);
    TRY(ht_file_read_most(layout->path, (size_t)bytes, &data, &size));
    REQUIRE(size == (size_t)bytes, HT_ERR_INPUT, "%s has changed while it was read", layout->path);
    TRY(check_byte_order((unsigned char *)data, layout->count));
    TRY(HT_ALLOC(layout->values, layout->count));
    for (int64_t i = 0; i < layout->count; i++)
        layout->values[i] = float_from((unsigned char *)data + 4 * i, false);
    return HT_OK;
}

static enum ht_err read_dataset(struct ht_h5 *file, struct layout *layout) {
    const int64_t *shape = layout->params->medium.shape;
    const char *dataset = layout->dataset;
    int rank = 0;
    int64_t extent[8] = {0};
    TRY(ht_h5_extent(file, dataset, &rank, extent));
    /* The extents of a dataset (slowest first) against the shape, if given. */
    REQUIRE(rank >= 1 && rank <= 3, HT_ERR_INPUT, "dataset \"%s\" has %d axes: must have 1 to 3",
            dataset, rank);
    layout_default(layout, rank);
    REQUIRE(layout->rank == rank, HT_ERR_INPUT, "dataset \"%s\" has %d axes, but axes names %d",
            dataset, rank, layout->rank);
    for (int j = 0; j < rank; j++) {
        layout->extent[j] = extent[rank - 1 - j];
        REQUIRE(shape[j] == 0 || shape[j] == layout->extent[j], HT_ERR_INPUT,
                "shape[%d] = %lld, but dataset \"%s\" has %lld samples along x%d", j,
                (long long)shape[j], dataset, (long long)layout->extent[j], layout->axis[j] + 1);
    }
    TRY(layout_count(layout));
    TRY(HT_ALLOC(layout->values, layout->count));
    return ht_h5_read(file, dataset, layout->count, layout->values);
}

static enum ht_err read_values(struct layout *layout) {
    struct ht_h5 *file = NULL;
    if (layout->memory != NULL) return layout_given(layout);
    if (layout->params->medium.format == HT_RAW) return read_raw(layout);
    TRY(ht_h5_open(layout->path, &file));
    const enum ht_err err = read_dataset(file, layout);
    ht_h5_close(file);
    return err;
}

/* File order -> x1 fastest, scaled; every value must be finite. */
static enum ht_err place_values(const struct layout *layout, struct ht_samples *samples) {
    const double *values = layout->memory != NULL ? layout->memory : layout->values;
    int64_t stride[3] = {0, 0, 0}, step = 1, out = 0;
    for (int j = 0; j < layout->rank; j++) {
        stride[layout->axis[j]] = step;
        step *= layout->extent[j];
    }
    TRY(HT_ALLOC(samples->value, step));
    for (int64_t i3 = 0; i3 < samples->shape[2]; i3++) {
        for (int64_t i2 = 0; i2 < samples->shape[1]; i2++) {
            for (int64_t i1 = 0; i1 < samples->shape[0]; i1++, out++) {
                int64_t at = i1 * stride[0] + i2 * stride[1] + i3 * stride[2];
                double value = values[at] * layout->params->medium.scale;
                REQUIRE(isfinite(value), HT_ERR_INPUT,
                        "sample %lld%s, [%lld, %lld, %lld] along x1, x2, x3, is %g: must "
                        "be finite",
                        (long long)at, layout->memory != NULL ? "" : " of the file", (long long)i1,
                        (long long)i2, (long long)i3, value);
                samples->value[out] = value;
            }
        }
    }
    return HT_OK;
}

enum ht_err ht_samples_unplace(const struct ht_params *params, const int64_t shape[3],
                               const double *values, double *out) {
    struct layout layout = {.params = params};
    int64_t stride[3] = {0, 0, 0}, step = 1;
    TRY(layout_axes(&layout));
    layout_default(&layout, 3);
    for (int j = 0; j < layout.rank; j++) {
        stride[layout.axis[j]] = step;
        step *= shape[layout.axis[j]];
    }
    for (int64_t i = 0; i < shape[0] * shape[1] * shape[2]; i++)
        out[i % shape[0] * stride[0] + i / shape[0] % shape[1] * stride[1] +
            i / (shape[0] * shape[1]) * stride[2]] = values[i];
    return HT_OK;
}

static enum ht_err read_into(struct layout *layout, struct ht_samples *samples) {
    const double *spacing = layout->params->medium.spacing, *origin = layout->params->medium.origin;
    const double scale = layout->params->medium.scale;
    REQUIRE(scale != 0 && isfinite(scale), HT_ERR_INPUT, "scale = %g: must be finite and not 0",
            scale);
    TRY(layout_axes(layout));
    TRY(read_values(layout));
    for (int k = 0; k < 3; k++) {
        samples->shape[k] = 1;
        samples->spacing[k] = 1;
    }
    for (int j = 0; j < layout->rank; j++) {
        int k = layout->axis[j];
        REQUIRE(spacing[j] > 0 && isfinite(spacing[j]), HT_ERR_INPUT,
                "spacing[%d] = %g: must be positive, the distance of samples along x%d", j,
                spacing[j], k + 1);
        REQUIRE(isfinite(origin[j]), HT_ERR_INPUT, "origin[%d] must be finite", j);
        samples->shape[k] = layout->extent[j];
        samples->spacing[k] = spacing[j];
        samples->origin[k] = origin[j];
    }
    return place_values(layout, samples);
}

enum ht_err ht_samples_load(const struct ht_params *params, const char *path, const char *dataset,
                            int64_t extent[3], double **out) {
    struct layout layout = {.params = params, .path = path, .dataset = dataset};
    *out = NULL;
    TRY(layout_axes(&layout));
    const enum ht_err err = read_values(&layout);
    for (int j = 0; j < 3; j++) extent[j] = j < layout.rank ? layout.extent[j] : 0;
    return HT_MADE(err, layout.values, free, out);
}

enum ht_err ht_samples_read(const struct ht_params *params, const char *path, const char *dataset,
                            const double *memory, struct ht_samples **out) {
    struct layout layout = {.params = params, .path = path, .dataset = dataset, .memory = memory};
    struct ht_samples *samples = NULL;
    *out = NULL;
    TRY(HT_ALLOC(samples, 1));
    const enum ht_err err = read_into(&layout, samples);
    free(layout.values);
    return HT_MADE(err, samples, ht_samples_destroy, out);
}

void ht_samples_destroy(struct ht_samples *samples) {
    if (!samples) return;
    free(samples->value);
    free(samples);
}

/* ---- polynomials ---- */

/* The samples first, first + stride, .. along one axis and the coefficients of their Lagrange
 * polynomials: weight[a][j] multiplies sample j. */
struct stencil {
    int points, rows;
    int64_t first, stride;
    double weight[MAX_POINTS][MAX_POINTS];
};

/* weight[.][j] = coefficients of L_j, multiplied out factor by factor. */
static void stencil_weights(struct stencil *stencil, const double *t) {
    int points = stencil->points;
    for (int j = 0; j < points; j++) {
        double poly[MAX_POINTS] = {1};
        int degree = 0;
        for (int i = 0; i < points; i++) {
            if (i == j) continue;
            double scale = 1 / (t[j] - t[i]);
            for (int a = ++degree; a >= 0; a--)
                poly[a] = ((a ? poly[a - 1] : 0) - t[i] * poly[a]) * scale;
        }
        for (int a = 0; a < stencil->rows; a++) stencil->weight[a][j] = a < points ? poly[a] : 0;
    }
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* The stencil of one axis about x for a cell of size h; rows coefficients of it are wanted, from a
 * polynomial of that degree. */
static void stencil_make(const struct ht_samples *samples, int axis, double x, double h, int degree,
                         int rows, struct stencil *stencil) {
    int64_t last = samples->shape[axis] - 1;
    double spacing = samples->spacing[axis];
    double at = (x - samples->origin[axis]) / spacing; /* in samples */
    double slack = 1e-9 * (1 + fabs(at)), t[MAX_POINTS];
    bool inside = at >= -slack && at <= (double)last + slack;
    double wish = fmin(fmax(1, round(h / (2 * spacing))), (double)last + 1);
    stencil->rows = rows;
    stencil->points = 1;
    stencil->stride = 1;
    if (last > 0 && inside) {
        stencil->points = last < degree ? (int)last + 1 : degree + 1;
        if (degree > 0) stencil->stride = clamp((int64_t)wish, 1, last / degree);
        if (stencil->stride < 1) stencil->stride = 1;
    }
    int64_t width = (stencil->points - 1) * stencil->stride;
    double centred = fmin(fmax(at, 0), (double)last) - (double)width / 2;
    stencil->first = clamp((int64_t)floor(centred + 0.5), 0, last - width);
    for (int j = 0; j < stencil->points; j++) {
        double sample = (double)(stencil->first + j * stencil->stride);
        t[j] = (sample - at) * spacing / h;
    }
    stencil_weights(stencil, t);
}

/* Sum over the stencils' samples of one i3: plane[a2][a1]. */
static void contract_plane(const struct ht_samples *samples, const struct stencil *stencil,
                           int64_t i3, double plane[MAX_POINTS][MAX_POINTS]) {
    const struct stencil *s1 = &stencil[0], *s2 = &stencil[1];
    for (int b = 0; b < s2->rows; b++)
        for (int a = 0; a < s1->rows; a++) plane[b][a] = 0;
    for (int j2 = 0; j2 < s2->points; j2++) {
        int64_t i2 = s2->first + j2 * s2->stride;
        const double *row = samples->value + (i3 * samples->shape[1] + i2) * samples->shape[0];
        for (int a = 0; a < s1->rows; a++) {
            double sum = 0;
            for (int j1 = 0; j1 < s1->points; j1++)
                sum += s1->weight[a][j1] * row[s1->first + j1 * s1->stride];
            for (int b = 0; b < s2->rows; b++) plane[b][a] += s2->weight[b][j2] * sum;
        }
    }
}

/* The coefficients of these powers. */
static void contract(const struct ht_samples *samples, const struct stencil stencil[3], int count,
                     int (*power)[3], double *out) {
    double plane[MAX_POINTS][MAX_POINTS];
    plane[0][0] = 0;
    for (int a = 0; a < count; a++) out[a] = 0;
    for (int j3 = 0; j3 < stencil[2].points; j3++) {
        contract_plane(samples, stencil, stencil[2].first + j3 * stencil[2].stride, plane);
        for (int a = 0; a < count; a++)
            out[a] += stencil[2].weight[power[a][2]][j3] * plane[power[a][1]][power[a][0]];
    }
}

enum ht_err ht_samples_jet(const struct ht_samples *samples, const struct ht_jets *jets,
                           const double x[3], const double h[3], double *out) {
    struct stencil stencil[3];
    int powers[3] = {0}; /* the largest of each axis in the set */
    for (int a = 0; a < jets->count; a++)
        for (int k = 0; k < 3; k++)
            if (jets->index[a][k] > powers[k]) powers[k] = jets->index[a][k];
    for (int k = 0; k < 3; k++) {
        REQUIRE(powers[k] < MAX_POINTS, HT_ERR_INPUT, "polynomials of degree %d: at most %d",
                powers[k], MAX_POINTS - 1);
        stencil_make(samples, k, x[k], h[k], powers[k], powers[k] + 1, &stencil[k]);
    }
    contract(samples, stencil, jets->count, jets->index, out);
    return HT_OK;
}

void ht_samples_spread(const struct ht_samples *samples, int dims, const double x[3], double by,
                       double *out) {
    struct stencil s[3];
    for (int k = 0; k < 3; k++)
        stencil_make(samples, k, x[k], samples->spacing[k], k < dims, 1, &s[k]);
    for (int j3 = 0; j3 < s[2].points; j3++)
        for (int j2 = 0; j2 < s[1].points; j2++)
            for (int j1 = 0; j1 < s[0].points; j1++)
                out[((s[2].first + j3) * samples->shape[1] + s[1].first + j2) * samples->shape[0] +
                    s[0].first + j1] +=
                    by * s[2].weight[0][j3] * s[1].weight[0][j2] * s[0].weight[0][j1];
}

double ht_samples_value(const struct ht_samples *samples, int dims, int degree, const double x[3],
                        const double h[3]) {
    struct stencil stencil[3];
    int none[1][3] = {{0}};
    double sum;
    for (int k = 0; k < 3; k++)
        stencil_make(samples, k, x[k], h[k], k < dims ? degree : 0, 1, &stencil[k]);
    contract(samples, stencil, 1, none, &sum);
    return sum;
}
