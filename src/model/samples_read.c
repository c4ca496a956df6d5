/* Values on a regular grid, from a file or in memory. */
#include "htwave/h5.h"
#include "medium_private.h"

/* What is read: axis[j] of its j-th fastest axis. */
struct layout {
    const struct ht_params *params;
    const char *path, *dataset;
    int axes, axis[3];     /* 0 axes: not known yet */
    struct ht_array array; /* in the file's order */
    double spacing[3];     /* of its j-th axis; */
    bool headers;          /* from the file, 0: it does not say */
};

static int64_t extent_at(const struct layout *layout, int j) {
    return layout->array.extent[layout->array.rank - 1 - j];
}

static HT_ERR layout_axes(struct layout *layout) {
    const struct ht_names *axes = &layout->params->medium.axes;
    layout->axes = axes->count;
    memcpy(layout->spacing, layout->params->medium.spacing, sizeof layout->spacing);
    REQUIRE(axes->count <= 3, HT_ERR_INPUT, "axes names %d axes of the file: at most 3",
            axes->count);
    for (int j = 0; j < axes->count; j++) {
        const int axis = ht_text_find("x1|x2|x3", '|', axes->name[j]);
        REQUIRE(axis >= 0, HT_ERR_INPUT, "axes: \"%s\" must be x1, x2 or x3", axes->name[j]);
        layout->axis[j] = axis;
    }
    return HT_OK;
}

/* Without names the file's axes are x1, x2, .. for as many as it has, the last one first where
 * `depth` is the fastest. */
static void layout_default(struct layout *layout, bool depth) {
    const int last = (int)ht_most(layout->params->grid.dims, layout->array.rank) - 1;
    if (layout->axes > 0) return;
    layout->axes = layout->array.rank;
    for (int j = 0; j < layout->axes; j++) layout->axis[j] = !depth ? j : j > 0 ? j - 1 : last;
}

/* The extents are those of medium.shape. */
static HT_ERR layout_given(struct layout *layout) {
    const int64_t *shape = layout->params->medium.shape;
    struct ht_array *array = &layout->array;
    while (array->rank < 3 && shape[array->rank] > 0) array->rank++;
    array->rank = layout->axes > 0 ? layout->axes : (int)ht_most(array->rank, 1);
    layout_default(layout, false);
    array->count = 1;
    for (int j = 0; j < array->rank; j++) {
        const int64_t n = shape[j];
        REQUIRE(n >= 1, HT_ERR_INPUT,
                "shape[%d] = %lld: must be at least 1, the samples along x%d%s", j, (long long)n,
                layout->axis[j] + 1,
                layout->path == NULL ? "" : ", of a file that its name (medium.format) makes raw");
        REQUIRE(array->count <= INT64_MAX / 16 / n, HT_ERR_INPUT,
                "shape: more samples than can be addressed");
        array->extent[array->rank - 1 - j] = n;
        array->count *= n;
    }
    return HT_OK;
}

/* ---- formats: each sets layout.array, and spacing where it has headers ---- */

static const struct ht_number little = {HT_NUMBER_FLOAT, 4, false};
static const struct ht_number big = {HT_NUMBER_FLOAT, 4, true};

/* Whether values look like a medium: finite, and those that are not 0 within eight decades of each
 * other, none too large for any unit. */
static bool plausible(const unsigned char *data, int64_t count, struct ht_number number) {
    double least = INFINITY, most = 0;
    for (int64_t i = 0; i < count; i++) {
        double value = fabs(ht_number_at(number, data + 4 * i));
        if (!isfinite(value)) return false;
        if (value == 0) continue;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    return most > 0 && least >= 1e-20 && most <= 1e20 && most / least <= 1e8;
}

/* The mean change between values so far apart in the file. */
static double mean_change(const struct ht_array *array, int64_t stride) {
    double sum = 0;
    for (int64_t i = stride; i < array->count; i++)
        sum += fabs(array->value[i] - array->value[i - stride]);
    return sum / (double)(array->count - stride);
}

/* Of all axes but the fastest, of extents from the fastest on or back; half rows further. */
static double mean_changes(const struct ht_array *array, bool back, int halves) {
    double sum = 0;
    int64_t stride = 1;
    for (int j = 0; j + 1 < array->rank; j++) {
        stride *= array->extent[back ? j : array->rank - 1 - j];
        sum += mean_change(array, ht_most(stride * halves / 2, 1));
    }
    return sum;
}

/* Shape and axes that are both swapped pass all else: the box is covered. Neighbours across the
 * rows of the true shape have much in common, and little half a row before and behind them. By the
 * given shape they are sheared or, of extents near 2:1, every second row. */
static void warn_of_swap(const struct layout *layout) {
    const struct ht_array *array = &layout->array;
    const double enough = 4, given = mean_changes(array, false, 2);
    const double other = mean_changes(array, true, 2);
    const double before = mean_changes(array, true, 1), behind = mean_changes(array, true, 3);
    HT_FREED_TEXT struct ht_text shape = {0}, axes = {0};
    for (int j = 0; j < array->rank; j++)
        if (array->extent[j] < 4) return; /* half a row is too little */
    if (!(given > 1.25 * other && before > enough * other && behind > enough * other)) return;
    for (int j = array->rank - 1; j >= 0; j--) {
        const char *comma = j > 0 ? ", " : "";
        ht_text_add(&shape, "%lld%s", (long long)extent_at(layout, j), comma);
        ht_text_add(&axes, "\"x%d\"%s", layout->axis[j] + 1, comma);
    }
    if (ht_text_status(&shape) == HT_OK && ht_text_status(&axes) == HT_OK)
        ht_warn("%s: neighbours differ at least %.4g times as much as with medium.shape = [%s] and "
                "medium.axes = [%s]: are both swapped?",
                layout->path, floor(10 * fmin(given / other, 1000)) / 10, shape.data, axes.data);
}

/* float32 of exactly the promised size, in file order. With the wrong byte order numbers near 1 or
 * 1000 become numbers near 1e-38 or of all magnitudes. */
static HT_ERR read_raw(struct layout *layout) {
    struct ht_array *array = &layout->array;
    HT_FREED char *data = NULL;
    int64_t bytes = 0, at = 0;
    size_t size = 0;
    TRY(layout_given(layout));
    TRY(ht_file_size(layout->path, &bytes));
    REQUIRE(bytes == array->count * 4, HT_ERR_INPUT,
            "the file holds %lld bytes, but shape %s of float32 needs %lld%s", (long long)bytes,
            HT_EXTENTS(array->rank, layout->params->medium.shape), (long long)array->count * 4,
            bytes == array->count * 8 ? "; they are as many as float64 has: convert it, or write "
                                        ".npy"
                                      : "");
    TRY(ht_file_read_most(layout->path, (size_t)bytes, &data, &size));
    REQUIRE(size == (size_t)bytes, HT_ERR_INPUT, "%s has changed while it was read", layout->path);
    const unsigned char *from = (unsigned char *)data;
    const bool other = !plausible(from, array->count, little) && plausible(from, array->count, big);
    while (other && ht_number_at(big, from + 4 * at) == 0) at++;
    REQUIRE(!other, HT_ERR_INPUT,
            "the file seems to be big-endian: sample %lld is %.6g, and %.6g with its bytes "
            "exchanged; must be little-endian 32-bit floats",
            (long long)at, ht_number_at(little, from + 4 * at), ht_number_at(big, from + 4 * at));
    TRY(HT_ALLOC(array->value, array->count));
    for (int64_t i = 0; i < array->count; i++) array->value[i] = ht_number_at(little, from + 4 * i);
    if (array->rank > 1) warn_of_swap(layout);
    return HT_OK;
}

static HT_ERR read_npy(struct layout *layout) {
    return ht_npy_read(layout->path, &layout->array);
}

static HT_ERR read_h5(struct layout *layout) {
    HT_ENDED(ht_h5_end) struct ht_h5 *file = NULL;
    TRY(ht_h5_open(layout->path, &file));
    const bool usual = *layout->params->medium.dataset == '\0' &&
                       !ht_h5_has(file, layout->dataset) && ht_h5_has(file, "data");
    return ht_h5_array(file, usual ? "data" : layout->dataset, &layout->array);
}

/* How far apart so many traces are, each `step`-th of the file, by the first kind of places in
 * their headers that differ: of midpoints, sources or receivers; 0: they do not say it. */
static HT_ERR find_apart(const struct ht_segy *s, int64_t step, int64_t count, double *out) {
    static const int byte[] = {181, 73, 81};
    double x[3][3][2], apart[2];
    for (int i = 0; i < 3; i++) {
        TRY(ht_segy_trace(s, step * (i < 2 ? i : count - 1), false));
        for (int n = 0; n < 6; n++)
            x[n / 2][i][n % 2] = ht_segy_scaled(s, byte[n / 2] + 4 * (n % 2), 4, 71);
    }
    for (int n = 0; n < 3; n++) {
        for (int i = 0; i < 2; i++)
            apart[i] = hypot(x[n][i + 1][0] - x[n][0][0], x[n][i + 1][1] - x[n][0][1]);
        *out = apart[1] / (double)(count - 1);
        if (apart[1] > 0) break;
    }
    REQUIRE(fabs(apart[0] - *out) <= 0.02 * *out, HT_ERR_INPUT,
            "%s: its first traces are %g apart, all of them %g: give medium.spacing", s->path,
            apart[0], *out);
    return HT_OK;
}

/* Traces of a line: of a volume those with the number of the first one's inline at byte 189, of
 * which there are several, each with the crosslines (193) of the first; else all. */
static HT_ERR find_lines(const struct ht_segy *s, int64_t *across) {
    HT_FREED int64_t *crossline = NULL;
    int64_t line = 0;
    *across = s->traces;
    TRY(HT_ALLOC(crossline, s->traces));
    for (int64_t i = 0; i < s->traces; i++) {
        TRY(ht_segy_trace(s, i, false));
        const int64_t before = line;
        line = ht_segy_get(s->trace, 189, 4);
        crossline[i] = ht_segy_get(s->trace, 193, 4);
        if (i > 0 && line != before && *across == s->traces) *across = i;
        if (*across == 1) break; /* a section, whose traces are numbered there */
        REQUIRE(i < *across || ((line == before) == (i % *across > 0) &&
                                crossline[i] == crossline[i % *across]),
                HT_ERR_INPUT,
                "%s: trace %lld, inline %lld and crossline %lld, is not where a volume has it: "
                "all inlines must have the same crosslines, in the same order (or write .npy)",
                s->path, (long long)i + 1, (long long)line, (long long)crossline[i]);
    }
    if (*across == 1) *across = s->traces;
    REQUIRE(s->traces % *across == 0, HT_ERR_INPUT,
            "%s: %lld traces are no whole lines of %lld crosslines", s->path, (long long)s->traces,
            (long long)*across);
    return HT_OK;
}

/* A section or a volume: samples along depth, the interval of a header in thousandths of a metre
 * then, as most programs write it, traces side by side, and lines of them. */
static HT_ERR read_segy(struct layout *layout) {
    HT_ENDED(ht_segy_close) struct ht_segy s = {.path = NULL};
    struct ht_array *array = &layout->array;
    const char *unit = ht_units_name(layout->params, "length");
    const double metre = unit != NULL && strcmp(unit, "km") == 0 ? 1e-3 : 1;
    int64_t across = 0;
    TRY(ht_segy_open(layout->path, &s));
    TRY(find_lines(&s, &across));
    const int64_t lines = s.traces / across, extent[3] = {lines, across, s.samples};
    array->rank = 1 + (s.traces > 1) + (lines > 1);
    for (int k = 0; k < array->rank; k++) array->extent[k] = extent[3 - array->rank + k];
    array->count = s.traces * s.samples;
    layout_default(layout, true);
    layout->headers = !ht_params_is_set(layout->params, "medium.spacing");
    if (layout->headers) layout->spacing[0] = 1e-3 * s.interval;
    if (layout->headers && across > 1) TRY(find_apart(&s, 1, across, &layout->spacing[1]));
    if (layout->headers && lines > 1) TRY(find_apart(&s, across, lines, &layout->spacing[2]));
    /* as decimal numbers, without what scalars round */
    for (int j = 0; j < array->rank && layout->headers; j++)
        layout->spacing[j] = strtod(HT_KEY("%.9g", layout->spacing[j] * metre), NULL);
    TRY(HT_ALLOC(array->value, array->count));
    for (int64_t i = 0; i < array->count; i++) {
        if (i % s.samples == 0) TRY(ht_segy_trace(&s, i / s.samples, true));
        array->value[i] = ht_segy_value(&s, i % s.samples);
    }
    return HT_OK;
}

static const struct {
    const char *endings;
    enum ht_err (*read)(struct layout *layout);
} formats[] = {[HT_RAW] = {"", read_raw},
               [HT_NPY] = {"npy", read_npy},
               [HT_SEGY] = {"sgy|segy", read_segy},
               [HT_HDF5] = {"h5|hdf5", read_h5}};

/* By the format that is named, else the file's name, else raw; against axes and shape, if given. */
static HT_ERR read_values(struct layout *layout) {
    const int64_t *shape = layout->params->medium.shape;
    const struct ht_array *array = &layout->array;
    int format = (int)layout->params->medium.format, last = sizeof formats / sizeof *formats - 1;
    if (format == HT_FORMAT_AUTO)
        for (format = last; format > HT_RAW; format--)
            if (ht_file_ends(layout->path, formats[format].endings)) break;
    TRY(layout_axes(layout));
    TRY(formats[format].read(layout));
    REQUIRE(array->rank >= 1 && array->rank <= 3, HT_ERR_INPUT, "%s has %d axes: must have 1 to 3",
            layout->path, array->rank);
    layout_default(layout, false);
    REQUIRE(layout->axes == array->rank, HT_ERR_INPUT, "%s has %d axes, but axes names %d",
            layout->path, array->rank, layout->axes);
    for (int j = 0; j < 3; j++) {
        const int64_t n = j < array->rank ? extent_at(layout, j) : 0;
        REQUIRE(shape[j] == 0 || shape[j] == n, HT_ERR_INPUT,
                "shape[%d] = %lld, but %s has %lld samples along its axis %d from the fastest on",
                j, (long long)shape[j], layout->path, (long long)n, j + 1);
    }
    return HT_OK;
}

/* ---- order of the axes ---- */

/* From the file's order to that with x1 fastest, or back. */
static void reorder(const struct layout *layout, const int64_t shape[3], bool back,
                    const double *in, double *out) {
    int64_t stride[3] = {0, 0, 0}, step = 1, i = 0;
    for (int j = 0; j < layout->axes; j++) {
        stride[layout->axis[j]] = step;
        step *= shape[layout->axis[j]];
    }
    for (int64_t i3 = 0; i3 < shape[2]; i3++)
        for (int64_t i2 = 0; i2 < shape[1]; i2++)
            for (int64_t i1 = 0; i1 < shape[0]; i1++, i++) {
                const int64_t at = i1 * stride[0] + i2 * stride[1] + i3 * stride[2];
                out[back ? at : i] = in[back ? i : at];
            }
}

HT_ERR ht_samples_unplace(const struct ht_params *params, const int64_t shape[3],
                          const double *values, double *out) {
    struct layout layout = {.params = params, .array = {.rank = 3}};
    TRY(layout_axes(&layout));
    layout_default(&layout, false);
    reorder(&layout, shape, true, values, out);
    return HT_OK;
}

static HT_ERR read_into(struct layout *layout, const double *memory, struct ht_samples *samples) {
    const struct ht_params *params = layout->params;
    const int64_t *n = samples->shape;
    REQUIRE(params->medium.scale != 0 && isfinite(params->medium.scale), HT_ERR_INPUT,
            "scale = %g: must be finite and not 0", params->medium.scale);
    TRY(memory != NULL ? layout_axes(layout) : read_values(layout));
    if (memory != NULL) TRY(layout_given(layout));
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "medium.origin" : "medium.spacing";
        const int given = ht_params_entries(params, key);
        REQUIRE(given == 0 || given >= layout->axes, HT_ERR_INPUT,
                "%s must have an entry for each of the file's %d axes", key, layout->axes);
    }
    for (int k = 0; k < 3; k++) {
        samples->shape[k] = 1;
        samples->spacing[k] = 1;
    }
    for (int j = 0; j < layout->axes; j++) {
        const int k = layout->axis[j];
        const double spacing = layout->spacing[j], origin = params->medium.origin[j];
        REQUIRE(spacing > 0 && isfinite(spacing), HT_ERR_INPUT,
                "spacing[%d] = %g: must be positive, the distance of samples along x%d%s", j,
                spacing, k + 1, layout->headers ? "; the file does not say it" : "");
        REQUIRE(isfinite(origin), HT_ERR_INPUT, "origin[%d] must be finite", j);
        samples->shape[k] = extent_at(layout, j);
        samples->spacing[k] = spacing;
        samples->origin[k] = origin;
    }
    TRY(HT_ALLOC(samples->value, layout->array.count));
    reorder(layout, n, false, memory != NULL ? memory : layout->array.value, samples->value);
    for (int64_t i = 0; i < layout->array.count; i++) {
        samples->value[i] *= params->medium.scale;
        REQUIRE(isfinite(samples->value[i]), HT_ERR_INPUT,
                "sample [%lld, %lld, %lld] along x1, x2, x3 is %g: must be finite",
                (long long)(i % n[0]), (long long)(i / n[0] % n[1]), (long long)(i / n[0] / n[1]),
                samples->value[i]);
    }
    return HT_OK;
}

HT_ERR ht_samples_read(const struct ht_params *params, const char *path, const char *dataset,
                       const double *memory, struct ht_samples **out) {
    struct layout layout = {.params = params, .path = path, .dataset = dataset};
    struct ht_samples *samples = NULL;
    *out = NULL;
    TRY(HT_ALLOC(samples, 1));
    const enum ht_err err = read_into(&layout, memory, samples);
    free(layout.array.value);
    return HT_MADE(err, samples, ht_samples_destroy, out);
}

static HT_ERR keep_layout(const struct layout *layout, struct ht_params *params) {
    static const char *const axes[] = {"x1", "x2", "x3"};
    TRY(HT_TAKE(&params->pool, params->medium.axes.name, layout->axes));
    for (int j = 0; j < layout->axes; j++) {
        params->medium.shape[j] = extent_at(layout, j);
        params->medium.spacing[j] = layout->spacing[j];
        TRY(ht_pool_copy(&params->pool, axes[layout->axis[j]], &params->medium.axes.name[j]));
    }
    params->medium.axes.count = layout->axes;
    return HT_OK;
}

HT_ERR ht_samples_load(struct ht_params *params, const char *path, const char *dataset,
                       double **out) {
    struct layout layout = {.params = params, .path = path, .dataset = dataset};
    enum ht_err err = read_values(&layout);
    if (err == HT_OK) err = keep_layout(&layout, params);
    return HT_MADE(err, layout.array.value, free, out);
}
