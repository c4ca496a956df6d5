/* A variant compiled for a device, and its launches. */
#include "args.h"
#include "tool.h"
#include "variant.h"

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
 * precision: at most 24 bits for P <= 64. */
enum {
    FUSED = 64,
    MOST_VALUES = FUSED * FUSED, /* of an operator; N = 8 has 18 x 18 */
    ROWS = 64,
    MOST_BATCHES = 65535
};

/* operator: where kernels take one, else none; fused: K transposed, matrix: H, of products */
enum { OPERATOR, FUSED_MATRIX, MATRIX };
enum { GEMM = 2 }; /* a kernel beside the entries */

struct ht_step {
    struct ht_tool tool; /* an entry for each stage; GEMM: of a library, charged to one part */
    const struct ht_variant *variant;
    struct ht_equations eq; /* spec.eq, for a plan may go before its kernels */
    struct ht_spec spec;
    struct ht_sizes sizes;
    struct ht_shape shape;
    size_t args_size; /* of struct ht_step_args, as far as the program has it */
    /* Where the variant has products, as many as `count`. */
    int64_t p;
    int count;
};

/* ---- products ---- */

static HT_ERR create_products(struct ht_step *step) {
    const int t = step->sizes.t1;
    double matrix[4 * (HT_MAX_ORDER + 1) * (HT_MAX_ORDER + 1)];
    double fused[MOST_VALUES] = {0};
    int p = t;
    step->count = step->spec.eq->dims;
    for (; p * t <= FUSED && p < step->sizes.cube; p *= t) step->count--;
    step->p = p;
    ht_hermite_matrix(step->spec.order, matrix);
    /* The transpose of H x .. x H, p x p row-major. */
    for (int r = 0; r < p; r++)
        for (int n = 0; n < p; n++) {
            double value = 1;
            for (int stride = 1; stride < p; stride *= t)
                value *= matrix[n / stride % t * t + r / stride % t];
            fused[r * p + n] = value;
        }
    struct ht_tool *tool = &step->tool;
    TRY(ht_gemm_create(tool->device, step->spec.fp64, &tool->kernel[HT_PART_INTERIOR][GEMM]));
    TRY(ht_tool_store_reals(tool, (int64_t)t * t, matrix, &tool->buffer[MATRIX]));
    return ht_tool_store_reals(tool, (int64_t)p * p, fused, &tool->buffer[FUSED_MATRIX]);
}

static struct ht_buffer *products_source(const struct ht_step *step, struct ht_buffer *poly,
                                         struct ht_buffer *work) {
    return step->count % 2 ? work : poly;
}

/* `batches` products of one shape, split into launches within the limits of every device. data:
 * which of A and B is not the shared operator. */
static HT_ERR launch_all(struct ht_step *step, struct ht_gemm_shape shape, int data,
                         int64_t batches, struct ht_buffer *const buffers[3]) {
    for (int64_t first = 0; first < batches; first += MOST_BATCHES) {
        int64_t left = batches - first;
        shape.batches = left < MOST_BATCHES ? left : MOST_BATCHES;
        TRY(ht_gemm_launch(step->tool.kernel[HT_PART_INTERIOR][GEMM], &shape, buffers));
        shape.at[data] += shape.batches * shape.stride[data];
        shape.at[2] += shape.batches * shape.stride[2];
    }
    return HT_OK;
}

static HT_ERR run_products(struct ht_step *step, int64_t targets, struct ht_buffer *poly,
                           struct ht_buffer *work) {
    const int64_t p = step->p, t = step->sizes.t1, cube = step->sizes.cube;
    const int64_t rows = targets * (cube / p), whole = rows / ROWS, rest = rows % ROWS;
    struct ht_buffer *from = products_source(step, poly, work), *to = from == poly ? work : poly;
    struct ht_buffer *const first[3] = {from, step->tool.buffer[FUSED_MATRIX], to};
    struct ht_gemm_shape shape = {.m = ROWS, .n = p, .k = p, .stride = {ROWS * p, 0, ROWS * p}};
    TRY(launch_all(step, shape, 0, whole, first));
    shape.m = rest;
    shape.at[0] = shape.at[2] = whole * ROWS * p;
    TRY(launch_all(step, shape, 0, rest > 0, first));
    for (int64_t inner = p; inner < cube; inner *= t) {
        struct ht_buffer *next = from;
        from = to;
        to = next;
        struct ht_buffer *const buffers[3] = {step->tool.buffer[MATRIX], from, to};
        shape =
            (struct ht_gemm_shape){.m = t, .n = inner, .k = t, .stride = {0, t * inner, t * inner}};
        TRY(launch_all(step, shape, 1, targets * (cube / (t * inner)), buffers));
    }
    return HT_OK;
}

/* ---- a step ---- */

/* The operator's values; a variant without operator gets a buffer of one value, since its kernel
 * needs the argument. */
static HT_ERR build(struct ht_step *step, const struct ht_operator *op) {
    const double nothing = 0;
    const bool some = op->count > 0;
    if (ht_variant_has(step->variant, HT_STAGE_OPERATOR))
        TRY(ht_tool_store_reals(&step->tool, some ? op->count : 1, some ? op->value : &nothing,
                                &step->tool.buffer[OPERATOR]));
    TRY(ht_tool_build(&step->tool));
    for (int i = 0; step->variant->open_memory && i < 4; i++)
        if (step->tool.kernel[i / 2][i % 2] != NULL)
            TRY(ht_kernel_open_memory(step->tool.kernel[i / 2][i % 2], step->shape.local_bytes));
    return ht_variant_needs_work(step->variant) ? create_products(step) : HT_OK;
}

static HT_ERR create(struct ht_device *device, const struct ht_variant *variant,
                     const struct ht_spec *spec, const struct ht_shape *shape,
                     struct ht_tool **out) {
    HT_FREED_TEXT struct ht_text definitions = {0};
    HT_ENDED(ht_operator_free) struct ht_operator op = {0};
    const struct ht_step own = {.variant = variant,
                                .eq = *spec->eq,
                                .spec = *spec,
                                .sizes = ht_sizes_of(spec),
                                .shape = *shape,
                                .args_size = spec->eq->nmemory > 0
                                                 ? sizeof(struct ht_step_args)
                                                 : offsetof(struct ht_step_args, src_part)};
    struct ht_recipe recipe;
    struct ht_step *step = NULL;
    TRY(ht_operator_make(variant, spec, shape, &op));
    TRY(ht_step_recipe(variant, spec, shape, &op, &definitions, &recipe));
    TRY(ht_tool_create(device, &recipe, &own, sizeof own, &step));
    step->spec.eq = &step->eq;
    *out = &step->tool;
    return ht_tool_keep(build(step, &op), out);
}

HT_ERR ht_step_create(struct ht_device *device, const struct ht_variant *variant,
                      const struct ht_spec *spec, const struct ht_shape *shape,
                      struct ht_tool **out) {
    *out = NULL;
    const enum ht_err err = create(device, variant, spec, shape, out);
    return err == HT_OK ? HT_OK : ht_err_prefix(err, "variant %s", variant->name);
}

/* The parameter lists of the kernels in cl/; returns how many arguments there are. */
static int list_arguments(const struct ht_step *step, enum ht_stage_kind kind,
                          const struct ht_step_args *args, const struct ht_step_buffers *buffers,
                          struct ht_arg *arg) {
    const struct ht_spec *spec = &step->spec;
    const unsigned all = ~0u >> (HT_MAX_FIELDS - spec->eq->nfields);
    const unsigned slots = ~0u >> (HT_MAX_FIELDS - step->sizes.sources);
    const bool whole = kind == HT_STAGE_STEP || kind == HT_STAGE_OPERATOR;
    const bool ends = whole || kind == HT_STAGE_EVOLVE;
    unsigned media = 0;
    int n = 0;
    for (int m = 0; m < spec->eq->nmaterials; m++)
        media |= (unsigned)(ends && kind != HT_STAGE_OPERATOR && ht_spec_reads(spec, m)) << m;
    arg[n++] = (struct ht_arg){.value = args, .size = step->args_size};
    if (ends)
        arg[n++] =
            HT_BUFFER(kind == HT_STAGE_OPERATOR ? step->tool.buffer[OPERATOR] : buffers->scale);
    if (kind != HT_STAGE_EVOLVE)
        n = ht_tool_buffers(spec->src ? spec->src : all, buffers->src, arg, n);
    if (!whole) n = ht_tool_buffers(slots, buffers->poly, arg, n);
    if (ends) n = ht_tool_buffers(spec->dst ? spec->dst : all, buffers->dst, arg, n);
    return ht_tool_buffers(media, buffers->medium, arg, n);
}

/* For each field gathers vertex values, then applies products, alternately into poly and work. */
static HT_ERR interpolate_by_products(struct ht_step *step, enum ht_step_part part,
                                      const struct ht_step_args *args,
                                      const struct ht_step_buffers *buffers) {
    const struct ht_sizes *z = &step->sizes;
    int64_t row = args->end[0] - args->begin[0];
    int64_t rows = (args->end[1] - args->begin[1]) * (args->end[2] - args->begin[2]);
    int64_t groups[3] = {ht_divide_up(row * z->cube, step->shape.group_size),
                         args->end[1] - args->begin[1], args->end[2] - args->begin[2]};
    for (int slot = 0; slot < z->sources; slot++) {
        struct ht_buffer *poly = buffers->poly[slot], *work = buffers->work;
        const struct ht_arg list[3] = {{.value = args, .size = step->args_size},
                                       HT_BUFFER(buffers->src[z->source_field[slot]]),
                                       HT_BUFFER(products_source(step, poly, work))};
        TRY(ht_kernel_launch(step->tool.kernel[part][0], 3, list, groups, step->shape.group_size));
        TRY(run_products(step, row * rows, poly, work));
    }
    return HT_OK;
}

/* Groups along x1 and x2 that cover an x3 plane of targets. */
static void plane_groups(const struct ht_shape *shape, const struct ht_step_args *args,
                         int64_t groups[2]) {
    groups[0] = ht_divide_up(args->end[0] - args->begin[0], shape->cells);
    groups[1] = ht_divide_up(args->end[1] - args->begin[1], shape->rows);
}

static HT_ERR launch(struct ht_step *step, enum ht_step_part part, int i,
                     const struct ht_step_args *args, const struct ht_step_buffers *buffers) {
    enum ht_stage_kind kind = step->variant->stage[i].kind;
    struct ht_arg arg[HT_MAX_ARGS];
    if (kind == HT_STAGE_INTERPOLATE_GEMM)
        return interpolate_by_products(step, part, args, buffers);
    int64_t planes = args->end[2] - args->begin[2], group_size = step->shape.group_size;
    int64_t groups[3] = {0, 0, ht_divide_up(planes, args->march)};
    plane_groups(&step->shape, args, groups);
    if (step->shape.parts > 0) groups[0] *= step->shape.parts;
    if (kind == HT_STAGE_INTERPOLATE_NAIVE) {
        groups[0] = args->end[0] - args->begin[0];
        groups[2] = planes * step->sizes.sources;
        group_size = (int64_t)step->sizes.t1 * step->sizes.t2;
    } else if (kind == HT_STAGE_EVOLVE) {
        groups[2] = planes;
    }
    const int count = list_arguments(step, kind, args, buffers, arg);
    return ht_kernel_launch(step->tool.kernel[part][i], count, arg, groups, group_size);
}

/* Planes per group of equal groups. Of n planes in all per unit, a group's first one also needs the
 * face below it, 0.25 of a plane's work, and at the end units wait for 0.4 of a group: least for n
 * 0.25/march + 0.4 march. Measured for advection from 64^3 to 192^3 targets (bench/NOTES.md). */
static long even_march(int64_t units, int64_t columns, int64_t planes) {
    const double n = (double)columns * (double)planes / (double)units;
    const int64_t march = (int64_t)sqrt(n * 0.25 / 0.4) + 1;
    const int64_t parts = ht_divide_up(planes, march);
    return (long)ht_divide_up(planes, parts);
}

/* Long marches reuse faces; short ones give enough groups to fill a device. */
static long choose_march(const struct ht_step *step, const struct ht_step_args *args) {
    const struct ht_device_info *info = ht_device_info(step->tool.device);
    int64_t planes = args->end[2] - args->begin[2];
    int64_t plane[2];
    plane_groups(&step->shape, args, plane);
    const int64_t columns = plane[0] * plane[1];
    int64_t wanted = (int64_t)info->compute_units * (info->gpu ? 32 : 4);
    int64_t parts = ht_divide_up(wanted, columns > 0 ? columns : 1);
    /* In interpolation kernels longer marches save little and leave multiprocessors idle. */
    const int64_t most = 8;
    if (ht_variant_has(step->variant, HT_STAGE_INTERPOLATE_ROLLED) &&
        parts < ht_divide_up(planes, most))
        parts = ht_divide_up(planes, most);
    if (parts > planes) parts = planes;
    const long march = (long)ht_divide_up(planes, parts > 0 ? parts : 1);
    const long even = step->variant->even_planes;
    if (!info->gpu || march >= even) return march;
    const long equal = even_march(info->compute_units, columns, planes);
    return equal < even ? equal : even;
}

HT_ERR ht_step_launch(struct ht_tool *tool, enum ht_step_part part, const struct ht_step_args *args,
                      const struct ht_step_buffers *buffers) {
    struct ht_step *step = (struct ht_step *)tool;
    struct ht_step_args some = *args;
    long chunk = args->end[2] - args->begin[2];
    if (some.march <= 0) some.march = step->shape.planes;
    if (some.march <= 0) some.march = choose_march(step, args);
    some.march = ht_shape_march(&step->shape, some.march);
    if (step->variant->stage[1].kind != HT_STAGE_NONE && chunk > buffers->poly_planes)
        chunk = (long)buffers->poly_planes;
    for (long first = args->begin[2]; first < args->end[2]; first += chunk) {
        long last = first + chunk;
        some.begin[2] = some.scratch = first;
        some.end[2] = last < args->end[2] ? last : args->end[2];
        for (int i = 0; i < 2; i++)
            if (step->variant->stage[i].kind != HT_STAGE_NONE)
                TRY(launch(step, part, i, &some, buffers));
    }
    return HT_OK;
}
