/* The kernels of finite differences: their shapes, program and launches. */
#include "fd_args.h"
#include "fd_layer_args.h"
#include "fd_sizes.h"
#include "tool.h"
#include "variant.h"

int ht_fd_reach(const struct ht_fd_spec *spec) {
    return (spec->density ? 2 * spec->radius - 1 : spec->radius) + spec->wide;
}

struct ht_fd_row ht_fd_row(int64_t nodes, int64_t reach) {
    const int64_t begin = ht_divide_up(reach, HT_FD_LINE) * HT_FD_LINE;
    const int64_t room =
        ht_divide_up(nodes, HT_FD_PACK) * HT_FD_PACK + ht_divide_up(reach, HT_FD_PACK) * HT_FD_PACK;
    return (struct ht_fd_row){.begin = begin,
                              .row = begin + ht_divide_up(room, HT_FD_LINE) * HT_FD_LINE};
}

/* ---- shapes ---- */

/* Rows and bytes of a row that fd-vectors takes where density varies: its fluxes fit in a cache. */
enum { ROW_ITEMS = 128, BLOCK_ROWS = 16, SEGMENT_BYTES = 1024 };

/* Nodes of 16 bytes. */
static int ht_fd_pack(bool fp64) {
    return fp64 ? 2 : 4;
}

static int segment_of(const struct ht_fd_spec *spec) {
    return SEGMENT_BYTES / ht_real_size(spec->fp64);
}

/* What fd-vectors needs where density varies (cl/fd_vectors_density.cl). */
static int64_t vector_bytes(const struct ht_fd_spec *spec, const struct ht_fd_shape *shape) {
    const int64_t rows = spec->dims > 2 ? shape->rows : 1, turn = (int64_t)2 * spec->radius;
    int64_t segments = 1, values = turn;
    if (spec->dims > 2) segments += rows + turn - 1;
    if (spec->dims > 1) segments += turn * rows;
    if (spec->dims > 1) values += turn * 64 / ht_real_size(spec->fp64); /* vectors of 64 bytes */
    return segments * SEGMENT_BYTES + values * ht_real_size(spec->fp64);
}

/* Bytes of local memory that fd-march needs. */
static int64_t local_bytes(const struct ht_fd_spec *spec, const struct ht_fd_shape *shape) {
    const int block = ht_fd_pack(spec->fp64), reach = ht_fd_reach(spec);
    const int64_t packs = shape->packs, rows = shape->rows;
    const int64_t side = HT_FD_PACKS_OF(reach, block);
    const int64_t near = HT_FD_PACKS_OF(spec->radius, block);
    const int64_t halo = spec->dims > 2 ? reach : 0, r = spec->radius;
    const int64_t spare = spec->density ? HT_FD_SPARE_OF(spec->dims, rows, r) : 0;
    int64_t sum = HT_FD_TILE_OF(packs, rows + spare, side, halo);
    if (spec->density)
        sum += HT_FD_FLUX_ROWS_OF(spec->dims, rows, r) * packs +
               HT_FD_BESIDE_OF(packs, rows, near) + HT_FD_OWN_OF(spec->dims, packs * rows);
    return 2 * sum * 16;
}

/* Work-items of a group. */
static int items_of(const struct ht_variant *variant, const struct ht_fd_shape *shape) {
    return variant == &ht_variant_fd_march     ? shape->packs * shape->rows
           : variant == &ht_variant_fd_vectors ? 1
                                               : ROW_ITEMS;
}

static bool fits(const struct ht_fd_spec *spec, const struct ht_fd_shape *shape,
                 const struct ht_device_info *info) {
    return (int64_t)shape->packs * shape->rows <= info->max_group &&
           local_bytes(spec, shape) <= ht_local_limit(info);
}

struct ht_fd_shape ht_fd_shape(const struct ht_fd_spec *spec, const struct ht_variant *variant,
                               const struct ht_fd_shape *asked, const struct ht_device_info *info) {
    struct ht_fd_shape shape = {0};
    if (asked != NULL) shape = *asked;
    if (variant != &ht_variant_fd_march) {
        shape.packs = 0;
        if (variant == &ht_variant_fd_plain) shape = (struct ht_fd_shape){0};
        /* Rows of fd-vectors where density varies: as many as local memory has room for. */
        if (spec->density) shape.rows = BLOCK_ROWS;
        while (shape.rows > 1 && vector_bytes(spec, &shape) > ht_vector_limit(info) &&
               spec->density)
            shape.rows /= 2;
        return shape;
    }
    /* Measured on an H200 (bench/NOTES.md). */
    const bool narrow = spec->density && spec->radius > 4;
    if (shape.packs == 0) shape.packs = spec->dims < 3 ? 64 : narrow ? 8 : 16;
    if (shape.rows == 0) shape.rows = 8;
    if (spec->dims < 3) shape.rows = 1;
    /* The packs beside a row are copied by as many work-items of it. */
    const int block = ht_fd_pack(spec->fp64);
    const int side = HT_FD_PACKS_OF(ht_fd_reach(spec), block);
    const int both = 2 * HT_FD_PACKS_OF(spec->radius, block);
    const int least = spec->density && both > side ? both : side;
    if (shape.packs < least) shape.packs = least;
    /* Groups of fd-march that a compiler gives a few registers more than this would leave half of a
     * multiprocessor idle; where it needs far more a limit would cost more than it brings. */
    if (shape.registers == 0)
        shape.registers = spec->dims == 3 && spec->radius > 4 && !spec->density ? 128 : 0;
    while (shape.rows > 1 && !fits(spec, &shape, info)) shape.rows /= 2;
    while (shape.packs > least && !fits(spec, &shape, info)) shape.packs--;
    return shape;
}

/* ---- text ---- */

enum { OWN, APART, STAGE, ALONE, ADVANCE }; /* entries; the first two alone keep maps */

/* shape: chosen. ptx: as in struct ht_device_info. */
static struct ht_recipe recipe_of(const struct ht_fd_spec *spec, const struct ht_variant *variant,
                                  const struct ht_fd_shape *shape, int ptx) {
    struct ht_recipe recipe = {.fp64 = spec->fp64,
                               .items = items_of(variant, shape),
                               .number = {{"DIMS", spec->dims},
                                          {"BLOCK", ht_fd_pack(spec->fp64)},
                                          {"FD_R", spec->radius},
                                          {"FD_DENSITY", spec->density},
                                          {"FD_REACH", ht_fd_reach(spec)},
                                          {"FD_PACKS", shape->packs},
                                          {"FD_ROWS", shape->rows},
                                          {"FD_SEGMENT", segment_of(spec)},
                                          {"MOST_REGISTERS", shape->registers},
                                          {"FD_PIECE", ROW_ITEMS},
                                          {"FD_MAP", (int)spec->map},
                                          {"FD_OPEN", spec->open},
                                          {"PTX", ptx},
                                          {"WIDTH", variant != &ht_variant_fd_vectors ? 1
                                                    : spec->fp64                      ? 8
                                                                                      : 16}},
                               .entry = {"ht_fd_update_own", "ht_fd_update_apart", "ht_fd_stage",
                                         "ht_fd_update_alone", "ht_fd_advance"},
                               .parts = true};
    memcpy(recipe.file, spec->density ? variant->density_files : variant->files,
           sizeof recipe.file);
    for (int i = STAGE; spec->map != 0 && i < HT_TOOL_ENTRIES; i++) recipe.entry[i] = NULL;
    return recipe;
}

/* ---- kernels ---- */

struct kernels {
    struct ht_tool tool;
    struct ht_fd_spec spec;
    struct ht_fd_weights weights;
    const struct ht_variant *variant;
    struct ht_fd_shape shape;
};

static struct kernels kernels_of(const struct ht_fd_spec *spec, const struct ht_variant *variant,
                                 const struct ht_fd_shape *shape) {
    return (struct kernels){.spec = *spec,
                            .weights = ht_fd_weights(2 * spec->radius),
                            .variant = variant,
                            .shape = *shape};
}

HT_ERR ht_fd_kernels_create(struct ht_device *device, const struct ht_fd_spec *spec,
                            const struct ht_variant *variant, const struct ht_fd_shape *shape,
                            struct ht_tool **out) {
    const struct ht_device_info *info = ht_device_info(device);
    const struct ht_fd_shape some = ht_fd_shape(spec, variant, shape, info);
    const struct ht_recipe recipe = recipe_of(spec, variant, &some, info->ptx);
    const struct kernels own = kernels_of(spec, variant, &some);
    TRY(ht_tool_create(device, &recipe, &own, sizeof own, out));
    const enum ht_err err = ht_tool_build(*out);
    if (err != HT_OK) (void)ht_err_prefix(err, "variant %s", variant->name);
    return ht_tool_keep(err, out);
}

bool ht_fd_keeps(const struct ht_variant *variant, bool layered) {
    return variant != NULL && variant->differences &&
           !(layered && variant == &ht_variant_fd_vectors);
}

HT_ERR ht_fd_keeper_build(struct ht_tool *kernels, unsigned what, bool open) {
    const struct kernels *k = (const struct kernels *)kernels;
    struct ht_fd_spec spec = k->spec;
    spec.map = what;
    spec.open = open;
    if (kernels->next != NULL) return HT_OK;
    return ht_fd_kernels_create(kernels->device, &spec, k->variant, &k->shape, &kernels->next);
}

/* ---- launches ---- */

int64_t ht_fd_extent(const struct ht_fd_box *box, int64_t axis) {
    return box->end[axis] - box->begin[axis];
}

bool ht_fd_empty(const struct ht_fd_box *box) {
    return ht_fd_extent(box, 0) <= 0 || ht_fd_extent(box, 1) <= 0 || ht_fd_extent(box, 2) <= 0;
}

struct ht_fd_args ht_fd_args_of(const struct ht_fd_box *box) {
    struct ht_fd_args args = {.row = box->row, .plane = box->plane};
    for (int k = 0; k < 3; k++) {
        args.begin[k] = box->begin[k];
        args.end[k] = box->end[k];
    }
    return args;
}

/* Where density varies a march begins with 4 R - 3 planes of which it takes values alone. Measured
 * on an H200 (bench/NOTES.md). */
static int groups_per_unit(const struct kernels *k, const struct ht_device_info *info) {
    if (!info->gpu) return 4;
    if (!k->spec.density) return 64;
    return k->spec.radius > 2 ? 32 : 96;
}

/* Long marches read little twice; short ones give groups enough to fill a device. */
static int64_t choose_planes(const struct kernels *k, int64_t planes, int64_t columns) {
    const struct ht_device_info *info = ht_device_info(k->tool.device);
    const int64_t least = (int64_t)4 * k->spec.radius;
    int64_t wanted = (int64_t)info->compute_units * groups_per_unit(k, info);
    int64_t parts = ht_divide_up(wanted, columns);
    if (k->shape.planes > 0) return k->shape.planes;
    if (parts > ht_divide_up(planes, least)) parts = ht_divide_up(planes, least);
    return ht_divide_up(planes, parts);
}

/* Groups along x1: a pack, too, is done by one of them alone. */
static int64_t groups_along_row(const struct kernels *k, const struct ht_fd_box *box) {
    const int block = ht_fd_pack(k->spec.fp64);
    if (k->variant == &ht_variant_fd_march)
        return ht_divide_up(box->end[0] - box->begin[0] / block * block,
                            (int64_t)k->shape.packs * block);
    return k->spec.density ? ht_divide_up(ht_fd_extent(box, 0), segment_of(&k->spec)) : 1;
}

/* Groups of a pass, and what each does in turn. */
static void set_groups(const struct kernels *k, const struct ht_fd_box *box,
                       struct ht_fd_args *args, int64_t groups[3]) {
    const int last = k->spec.dims - 1;
    groups[0] = ht_divide_up(ht_fd_extent(box, 0), ROW_ITEMS) * ht_fd_extent(box, 1);
    groups[1] = 1;
    groups[2] = ht_fd_extent(box, 2);
    if (k->variant == &ht_variant_fd_plain) return;
    /* x2 rows of a group. Of fd-vectors with uniform density: what they read in the planes around
     * one of them is to stay in a cache. */
    const int64_t cache = 1 << 19, least = 8, reach = ht_fd_reach(&k->spec);
    int64_t row = ht_fd_extent(box, 0) * ht_real_size(k->spec.fp64) * (2 * reach + 1);
    int64_t rows = cache / row - 2 * reach;
    args->rows = k->shape.rows > 0 ? k->shape.rows : rows > least ? rows : least;
    groups[0] = groups_along_row(k, box);
    if (last == 2) groups[1] = ht_divide_up(ht_fd_extent(box, 1), args->rows);
    groups[2] = 1;
    if (last == 0) return;
    args->planes = choose_planes(k, ht_fd_extent(box, last), groups[0] * groups[1]);
    groups[2] = ht_divide_up(ht_fd_extent(box, last), args->planes);
}

/* Of struct ht_fd_coefs of cl/fd_common.cl, or struct ht_fd_layer_coefs of cl/fd_layers.cl. */
enum { MOST_COEFS = 7 * HT_FD_RADIUS };

/* u and the medium, from argument n on; the next one's number. */
static int add_medium(const struct ht_fd_spec *spec, const struct ht_fd_work *w, struct ht_arg *arg,
                      int n) {
    arg[n++] = HT_BUFFER(w->u);
    arg[n++] = HT_BUFFER(w->law.a);
    for (int i = 0; spec->density && i < 3; i++)
        arg[n++] = HT_BUFFER(i < spec->dims ? w->law.b[i] : w->law.a);
    return n;
}

/* Appends struct ht_fd_coefs (cl/fd_common.cl). */
static void put_coefs(const struct ht_fd_spec *spec, const struct ht_fd_weights *weights,
                      const double scale[3], int *count, double *out) {
    const int dims = spec->dims;
    for (int i = 0; i < dims + 2 * spec->density; i++)
        for (int j = 0; j < spec->radius; j++) {
            double weight = weights->first[j];
            for (int m = j + 1; i > dims && m < spec->radius; m++) weight += weights->first[m];
            if (!spec->density) weight = weights->second[1 + j];
            out[(*count)++] = i < dims ? scale[i] * weight : weight;
        }
}

static HT_ERR advance(struct ht_tool *tool, const struct ht_fd_work *w) {
    const struct ht_fd_args args = ht_fd_args_of(&w->box);
    const int64_t groups[3] = {ht_divide_up(ht_fd_extent(&w->box, 0), ROW_ITEMS) *
                                   ht_fd_extent(&w->box, 1),
                               1, ht_fd_extent(&w->box, 2)};
    const int alone = w->d == NULL;
    double factor = w->factor;
    return ht_tool_launch(tool, HT_PART_INTERIOR, ADVANCE, groups,
                          HT_ARGS(HT_VALUE(args), ht_tool_reals(tool, 1, &factor), HT_VALUE(alone),
                                  HT_BUFFER(alone ? w->p : w->d), HT_BUFFER(w->p)));
}

/* What a kernel does not use is still given. */
HT_ERR ht_fd_launch(struct ht_tool *tool, const struct ht_fd_work *w) {
    const struct kernels *k = (const struct kernels *)tool;
    const struct ht_fd_keep *keep = w->keep;
    const struct ht_fd_operator *op = &w->law;
    struct ht_fd_args args = ht_fd_args_of(&w->box);
    const int which = w->operation == HT_FD_ADD ? STAGE
                      : w->out == NULL          ? ALONE
                      : w->p == w->u            ? OWN
                                                : APART;
    double coefs[MOST_COEFS + 4];
    struct ht_arg arg[11];
    int64_t groups[3];
    int n = 0, count = 0;
    if (ht_fd_empty(&w->box)) return HT_OK;
    if (w->operation == HT_FD_ADVANCE) return advance(tool, w);
    set_groups(k, &w->box, &args, groups);
    arg[n++] = HT_VALUE(args);
    put_coefs(&k->spec, &k->weights, op->scale, &count, coefs);
    if (keep != NULL) {
        coefs[count++] = keep->level;
        coefs[count++] = keep->rate;
        coefs[count++] = keep->steepest;
        coefs[count++] = hypot(1, keep->steepest);
    }
    arg[n++] = ht_tool_reals(tool, count, coefs);
    n = add_medium(&k->spec, w, arg, n);
    arg[n++] = HT_BUFFER(which == STAGE ? w->out : w->d);
    arg[n++] = HT_BUFFER(which == APART ? w->p : w->u);
    arg[n++] = HT_BUFFER(which == ALONE ? w->d : w->out);
    if (keep != NULL) arg[n++] = HT_BUFFER(keep->map);
    return ht_tool_launch(keep != NULL ? tool->next : tool, w->part, which, groups, n, arg);
}

/* ---- ghosts ---- */

/* Of a group on CPUs, where work-items beyond the end of a row take time. */
enum { GHOST_ITEMS = 16 };

struct ghosts {
    struct ht_tool tool;
    int dims, reach;
};

HT_ERR ht_fd_ghosts_create(struct ht_device *device, const struct ht_fd_spec *spec,
                           struct ht_tool **out) {
    const bool gpu = ht_tool_info(device)->gpu;
    const struct ht_recipe recipe = {.what = "kernel of ghosts",
                                     .fp64 = spec->fp64,
                                     .items = gpu ? ROW_ITEMS : GHOST_ITEMS,
                                     .number = {{"FD_REACH", ht_fd_reach(spec)},
                                                {"FD_NONE", HT_FD_SIDE_NONE},
                                                {"FD_HALF", HT_FD_SIDE_HALF}},
                                     .file = {"fd_args.h", "fd_ghosts.cl"},
                                     .entry = {"ht_fd_fill_ghosts"},
                                     .now = true};
    const struct ghosts own = {.dims = spec->dims, .reach = ht_fd_reach(spec)};
    return ht_tool_create(device, &recipe, &own, sizeof own, out);
}

/* One launch, with work-items for the largest face. */
HT_ERR ht_fd_ghosts_fill(struct ht_tool *ghosts, const struct ht_fd_box *box, const int sides[3][2],
                         struct ht_buffer *u) {
    const struct ghosts *k = (const struct ghosts *)ghosts;
    struct ht_fd_args args = ht_fd_args_of(box);
    int64_t fast = 0, slow = 0;
    if (ht_fd_empty(box)) return HT_OK;
    for (int64_t axis = 0; axis < k->dims; axis++) {
        const int *side = sides[axis];
        args.side[2 * axis] = side[0];
        args.side[2 * axis + 1] = side[1];
        if (side[0] == HT_FD_SIDE_NONE && side[1] == HT_FD_SIDE_NONE) continue;
        fast = ht_most(fast, ht_fd_extent(box, axis == 0));
        slow = ht_most(slow, ht_fd_extent(box, axis == 2 ? 1 : 2));
        REQUIRE(ht_fd_extent(box, axis) > k->reach || side[0] == HT_FD_SIDE_NONE ||
                    side[1] == HT_FD_SIDE_NONE,
                HT_ERR_INTERNAL, "%lld nodes along x%d: ghosts need more than %d",
                (long long)ht_fd_extent(box, axis), (int)axis + 1, k->reach);
    }
    const int64_t groups[3] = {ht_divide_up(fast, k->tool.recipe.items), (int64_t)2 * k->dims,
                               slow};
    if (fast == 0) return HT_OK;
    return ht_tool_launch(ghosts, HT_PART_INTERIOR, 0, groups,
                          HT_ARGS(HT_VALUE(args), HT_BUFFER(u)));
}

/* ---- sums of an adjoint run ---- */

struct products {
    struct ht_tool tool;
    struct ht_fd_spec spec;
    struct ht_fd_weights weights;
};

enum { CORRELATE, COPY };       /* entries */
enum { PIECE = 4 * ROW_ITEMS }; /* nodes of a row that a group takes */

HT_ERR ht_fd_products_create(struct ht_device *device, const struct ht_fd_spec *spec, int terms,
                             int fields, struct ht_tool **out) {
    const struct ht_recipe recipe = {
        .what = "kernel of gradients",
        .fp64 = spec->fp64,
        .items = ROW_ITEMS,
        .number = {{"DIMS", spec->dims},
                   {"FD_R", spec->radius},
                   {"FD_DENSITY", spec->density},
                   {"FD_TERMS", terms},
                   {"FD_PIECE", PIECE},
                   {"PAIR_FIELDS", fields}},
        .file = {"fd_args.h", "fd_pieces.cl", fields > 0 ? "pair_correlate.cl" : "fd_correlate.cl"},
        .entry = {fields > 0 ? "ht_pair_correlate" : "ht_fd_correlate", "ht_copy_array"},
        .now = true};
    const struct products own = {.spec = *spec, .weights = ht_fd_weights(2 * spec->radius)};
    return ht_tool_create(device, &recipe, &own, sizeof own, out);
}

/* Rows of a box in pieces. */
static HT_ERR launch_products(struct ht_tool *tool, const struct ht_fd_box *box, int n,
                              const struct ht_arg *arg) {
    const int64_t groups[3] = {ht_divide_up(ht_fd_extent(box, 0), PIECE) * ht_fd_extent(box, 1), 1,
                               ht_fd_extent(box, 2)};
    if (ht_fd_empty(box)) return HT_OK;
    return ht_tool_launch(tool, HT_PART_INTERIOR, CORRELATE, groups, n, arg);
}

HT_ERR ht_pair_product_add(const struct ht_pair_product *p) {
    enum { ARRAYS = 3 * HT_PAIR_TOGETHER_MOST + 1 + HT_PAIR_TOGETHER_MOST * HT_PAIR_TOGETHER_MOST };
    const struct ht_fd_args args = ht_fd_args_of(&p->box);
    const int light = p->lit;
    struct ht_arg arg[2 + ARRAYS] = {{.value = &args, .size = sizeof args},
                                     {.value = &light, .size = sizeof light}};
    int n = 2;
    for (int i = 0; i < p->count; i++) {
        arg[n++].buffer = p->field[i].adjoint;
        arg[n++].buffer = p->field[i].after;
        arg[n++].buffer = p->field[i].before;
    }
    arg[n++].buffer = p->light;
    for (int i = 0; i < p->count; i++)
        for (int j = i; j < p->count; j++) arg[n++].buffer = p->field[i].sum[j];
    return launch_products(p->tool, &p->box, n, arg);
}

HT_ERR ht_fd_products_add(struct ht_tool *tool, const struct ht_fd_products *of) {
    struct products *k = (struct products *)tool;
    const struct ht_fd_args args = ht_fd_args_of(&of->box);
    double sign = of->sign, weights[HT_FD_RADIUS];
    struct ht_buffer *const arrays[] = {of->e,          of->d,
                                        of->q,          of->o != NULL ? of->o : of->q,
                                        of->u,          of->w != NULL ? of->w : of->u,
                                        of->compliance, of->light};
    struct ht_arg arg[14] = {{.value = &args, .size = sizeof args}, ht_tool_reals(tool, 1, &sign)};
    int n = 2;
    memcpy(weights, k->weights.first, sizeof weights);
    if (k->spec.density) arg[n++] = ht_tool_reals(tool, k->spec.radius, weights);
    for (int i = 0; i < 8; i++) arg[n++].buffer = arrays[i];
    for (int i = 0; k->spec.density && i < 3; i++)
        arg[n++].buffer = of->slopes[i < k->spec.dims ? i : 0];
    return launch_products(tool, &of->box, n, arg);
}

HT_ERR ht_fd_products_copy(struct ht_tool *tool, int64_t count, struct ht_buffer *from,
                           struct ht_buffer *to) {
    const struct ht_fd_args args = {.end = {(long)count}};
    const int64_t groups[3] = {ht_divide_up(count, tool->recipe.items), 1, 1};
    return ht_tool_launch(tool, HT_PART_INTERIOR, COPY, groups,
                          HT_ARGS(HT_VALUE(args), HT_BUFFER(from), HT_BUFFER(to)));
}

/* ---- rows of the table of variants: what a user can choose, and their work ---- */

struct ht_fd_shape ht_fd_asked(const struct ht_tuning *tuning) {
    const int pack = ht_fd_pack(tuning->fp64);
    const int cells =
        tuning->variant == &ht_variant_fd_vectors ? 0 : tuning->cells; /* whole rows */
    return (struct ht_fd_shape){
        .packs = (cells + pack - 1) / pack, .rows = tuning->rows, .planes = tuning->planes};
}

static struct ht_fd_spec fd_spec_of(const struct ht_spec *spec) {
    return (struct ht_fd_spec){.dims = spec->eq->dims,
                               .radius = spec->differences / 2,
                               .fp64 = spec->fp64,
                               .density = spec->density,
                               .wide = spec->wide};
}

HT_ERR ht_fd_variant_text(const struct ht_variant *variant, const struct ht_spec *spec,
                          const struct ht_shape *shape, struct ht_text *out) {
    const struct ht_device_info usual = {.max_group = 1024, .local_memory = (int64_t)48 * 1024};
    const struct ht_fd_spec fd = fd_spec_of(spec);
    const struct ht_tuning tuning = {
        .fp64 = spec->fp64, .cells = shape->cells, .rows = shape->rows, .planes = shape->planes};
    const struct ht_fd_shape asked = ht_fd_asked(&tuning);
    struct ht_pair pair;
    if (spec->pair != HT_PAIR_NONE) {
        (void)ht_pair_make(spec->eq, spec->pair, &pair);
        const struct ht_pair_spec of = {.pair = &pair,
                                        .radius = fd.radius,
                                        .fp64 = spec->fp64,
                                        .constant = spec->medium_degree < 0 ? ~0u : spec->constant};
        return ht_pair_text(&of, variant, &asked, spec->ptx, out);
    }
    const struct ht_fd_shape some = ht_fd_shape(&fd, variant, &asked, &usual);
    const struct ht_recipe recipe = recipe_of(&fd, variant, &some, spec->ptx);
    return ht_recipe_write(&recipe, out);
}

static const char *refuse_pairs(const struct ht_spec *spec) {
    return spec->pair != HT_PAIR_NONE ? "it steps one field of second order" : NULL;
}

static HT_ERR choose_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                           const struct ht_device_info *info, struct ht_shape *out) {
    const struct ht_fd_spec fd = fd_spec_of(spec);
    const struct ht_fd_shape asked = ht_fd_asked(tuning);
    const struct ht_fd_shape shape =
        spec->pair != HT_PAIR_NONE ? asked : ht_fd_shape(&fd, tuning->variant, &asked, info);
    if (spec->pair == HT_PAIR_NONE && tuning->variant == &ht_variant_fd_march)
        REQUIRE(fits(&fd, &shape, info), HT_ERR_DEVICE,
                "fd-march of order %d needs groups of %d and %s of local memory, %s has %lld and "
                "%s; \"fd-plain\" needs none",
                spec->differences, shape.packs * shape.rows, HT_BYTES(local_bytes(&fd, &shape)),
                info->name, (long long)info->max_group, HT_BYTES(info->local_memory));
    if (spec->density && tuning->variant == &ht_variant_fd_vectors)
        REQUIRE(vector_bytes(&fd, &shape) <= info->local_memory, HT_ERR_DEVICE,
                "fd-vectors of order %d needs %s of local memory where density varies, %s has %s; "
                "\"fd-plain\" needs none",
                spec->differences, HT_BYTES(vector_bytes(&fd, &shape)), info->name,
                HT_BYTES(info->local_memory));
    out->cells = shape.packs * ht_fd_pack(spec->fp64);
    out->rows = shape.rows;
    out->planes = shape.planes;
    return HT_OK;
}

#define FILES(...) \
    { "fd_args.h", "fd_sizes.h", "fd_common.cl", "fd_pieces.cl", __VA_ARGS__, "fd_entries.cl" }

#define OF_DIFFERENCES                                                       \
    .differences = true, .shape = choose_shape, .cost = ht_cost_differences, \
    .stage = {{HT_STAGE_STEP, "ht_fd"}}

const struct ht_variant ht_variant_fd_march = {
    .name = "fd-march",
    .meaning = "finite differences, four points per work-item, marching through the grid",
    .made_for = HT_FOR_GPU,
    OF_DIFFERENCES,
    .refuses = refuse_pairs,
    .files = FILES("packs.cl", "ptx.cl", "fd_items.cl", "fd_march.cl"),
    .density_files = FILES("packs.cl", "ptx.cl", "fd_items.cl", "fd_march_density.cl")};

const struct ht_variant ht_variant_fd_vectors = {
    .name = "fd-vectors",
    .meaning = "finite differences by vectors along x1",
    .made_for = HT_FOR_CPU,
    OF_DIFFERENCES,
    .files = FILES("loose.cl", "fd_rows.cl", "fd_vectors.cl"),
    .density_files = FILES("loose.cl", "fd_rows.cl", "fd_vectors_density.cl")};

const struct ht_variant ht_variant_fd_plain = {.name = "fd-plain",
                                               .meaning =
                                                   "finite differences, one point per work-item",
                                               OF_DIFFERENCES,
                                               .files = FILES("fd_plain.cl"),
                                               .density_files = FILES("fd_plain.cl")};

/* ---- absorbing layers: the program of cl/fd_layers.cl and its launches ---- */

/* A group has LANES lines (cl/fd_layer_lines.cl), nodes in rows of PLANES planes
 * (cl/fd_layer_lanes.cl), or columns (cl/fd_layer_columns.cl) of DEPTH nodes in strips of WIDTH.
 * Measured on an H200 (bench/NOTES.md). */
enum { LANES = 128, WIDTH = 32, DEPTH = 4, PLANES = 8 };
enum { CORRECT, START, SQUARES, DAMP }; /* entries */

/* Beside what kernels have that step nodes without layers; those of fd-vectors do both at once. */
struct layer_kernels {
    struct kernels of;
    struct ht_fd_weights narrow; /* of the layers */
    int width, lanes;            /* lanes: of a row */
};

/* On CPUs one pass does rows and their layers. */
static bool by_rows(const struct layer_kernels *k) {
    return k->of.variant == &ht_variant_fd_vectors;
}

bool ht_fd_layers_step(const struct ht_tool *tool) {
    return tool != NULL && by_rows((const struct layer_kernels *)tool);
}

/* HT_FD_LAYER_SPAN of cl/fd_layers.cl. */
static int span_of(const struct ht_fd_spec *spec) {
    const int reach = spec->density ? 2 * spec->radius - 1 : spec->radius;
    return (int)ht_most(reach, 2 * ht_fd_layer_radius(spec) - 1);
}

int64_t ht_fd_layer_limit(const struct ht_fd_spec *spec) {
    return INT_MAX / ht_real_size(spec->fp64);
}

int ht_fd_layer_radius(const struct ht_fd_spec *spec) {
    return spec->density || spec->radius <= 3 ? spec->radius : spec->radius - 1;
}

/* Of radius 2 and 3 the weights between those of both orders whose symbol at pi is that of the
 * second differences: below it everywhere. */
struct ht_fd_weights ht_fd_layer_weights(const struct ht_fd_spec *spec) {
    const struct ht_fd_weights whole = ht_fd_weights(2 * spec->radius);
    struct ht_fd_weights out = ht_fd_weights(2 * ht_fd_layer_radius(spec));
    if (spec->density || spec->radius == 1 || spec->radius > 3) return out;
    const struct ht_fd_weights below = ht_fd_weights(2 * spec->radius - 2);
    const double least = ht_fd_first_symbol(&below, HT_PI);
    const double part = (sqrt(ht_fd_second_symbol(&whole, HT_PI)) - least) /
                        (ht_fd_first_symbol(&whole, HT_PI) - least);
    for (int j = 0; j < out.radius; j++)
        out.first[j] = part * whole.first[j] + (1 - part) * (j < below.radius ? below.first[j] : 0);
    return out;
}

HT_ERR ht_fd_layer_kernels_create(struct ht_device *device, const struct ht_fd_spec *spec,
                                  const struct ht_variant *variant, const struct ht_fd_shape *asked,
                                  int64_t cells, struct ht_tool **out) {
    const struct ht_device_info *info = ht_tool_info(device);
    const bool rows = variant == &ht_variant_fd_vectors && !info->gpu && spec->dims > 1;
    const struct ht_variant *of = rows ? variant : &ht_variant_fd_plain;
    struct ht_fd_shape shape = ht_fd_shape(spec, of, asked, info);
    /* Compilers would take twice as many, with which too few groups run side by side. */
    if (!rows) shape.registers = 72 + 56 * ((spec->radius > 4) + spec->fp64);
    const struct ht_recipe pass = recipe_of(spec, of, &shape, 0);
    int lanes = LANES;
    while (lanes > info->max_group) lanes /= 2;
    /* A row has a layer's nodes and all that these read. */
    const int64_t nodes = cells + span_of(spec);
    const int row = nodes <= lanes ? (int)nodes : 0;
    struct ht_recipe recipe = {
        .what = "kernels of absorbing layers",
        .fp64 = spec->fp64,
        .items = rows ? 1 : lanes,
        .number = {{"FD_LAYER_R", ht_fd_layer_radius(spec)},
                   {"FD_LAYERED", rows},
                   {"FD_LAYER_WIDTH", WIDTH},
                   {"FD_LAYER_LANES", row > 0 ? row : lanes},
                   {"FD_LAYER_COLUMNS", row == 0},
                   {"FD_LANE_PLANES", PLANES},
                   {"FD_LAYER_DEPTH", DEPTH},
                   {"FD_PROFILES", HT_FD_PROFILES}},
        .file = {"fd_args.h", "fd_sizes.h", "fd_layer_args.h", "fd_common.cl", "loose.cl",
                 "fd_layers.cl", rows ? "fd_rows.cl" : "fd_layer_columns.cl",
                 rows ? spec->density ? "fd_vectors_density.cl" : "fd_vectors.cl"
                      : "fd_layer_lines.cl",
                 rows ? "fd_entries.cl" : "fd_layer_lanes.cl",
                 rows ? "fd_layer_rows.cl" : "fd_layer_entries.cl",
                 rows ? "fd_layer_entries.cl" : NULL},
        .entry = {"ht_fd_layer_correct", "ht_fd_layer_start", "ht_fd_layer_squares",
                  "ht_fd_layer_damp"},
        .parts = true,
        .now = true};
    memcpy(recipe.number + 8, pass.number, sizeof pass.number - 8 * sizeof pass.number[0]);
    const struct layer_kernels own = {
        .of = kernels_of(spec, of, &shape), .narrow = ht_fd_layer_weights(spec), .lanes = row};
    return ht_tool_create(device, &recipe, &own, sizeof own, out);
}

/* ---- arguments ---- */

/* With the buffers no more than the 1024 bytes that each device takes. */
_Static_assert(sizeof(struct ht_fd_layer_args) + 52 * sizeof(double) + 9 * sizeof(void *) <= 1024,
               "arguments of layers, density uniform");
_Static_assert(sizeof(struct ht_fd_layer_args) + 40 * sizeof(double) + 12 * sizeof(void *) <= 1024,
               "arguments of layers, density varies");

static struct ht_fd_layer layer_of(const struct layer_kernels *k, const struct ht_fd_box *box,
                                   const struct ht_fd_side *side) {
    const int64_t along[3] = {1, box->row, box->plane};
    const int way = side->side == 0 ? 1 : -1, axis = side->axis;
    const int bytes = ht_real_size(k->of.spec.fp64);
    struct ht_fd_layer layer = {.offset = (long)side->offset,
                                .pitch = (int)side->pitch[axis] * bytes,
                                .axis = axis,
                                .way = way,
                                .inward = (int)along[axis] * way * bytes,
                                .cells = (int)side->cells,
                                .wall = (int)side->wall,
                                .profile = (int)ht_fd_side_profile(side, 0, 0)};
    for (int i = 0; i < k->of.spec.dims; i++)
        if (i != axis) layer.step[i] = (int)side->pitch[i];
    return layer;
}

/* ---- zones ---- */

/* A box, cut along each axis where layers end that change its nodes: part i of axis k has the nodes
 * from cut[k][i] to cut[k][i + 1], perhaps none, which are in the layers of the bits of
 * layers[k][i] (sides by number). */
static void layer_zones(const struct ht_fd_box *box, const struct ht_fd_sides *sides,
                        int64_t cut[3][4], unsigned layers[3][3]) {
    for (int k = 0; k < 3; k++) {
        const int64_t begin = box->begin[k], end = box->end[k];
        int64_t low = begin, high = end;
        HT_EACH(const struct ht_fd_side, side, sides->side, sides->count) {
            const int64_t reach = side->cells + sides->beyond;
            if (side->axis != k) continue;
            if (side->side == 0)
                low = ht_most(ht_least(side->wall + reach, end), begin);
            else
                high = ht_least(ht_most(side->wall - reach + 1, begin), end);
        }
        /* Both may change what lies between. */
        cut[k][0] = begin;
        cut[k][1] = ht_least(low, high);
        cut[k][2] = ht_most(low, high);
        cut[k][3] = end;
        HT_EACH_BY(n, const struct ht_fd_side, side, &sides->side[n / 3], 3 * sides->count) {
            const int64_t reach = side->cells + sides->beyond;
            const bool inside = side->side == 0 ? cut[k][n % 3] < side->wall + reach
                                                : cut[k][n % 3 + 1] - 1 > side->wall - reach;
            if (side->axis == k && inside) layers[k][n % 3] |= 1u << (n / 3);
        }
    }
}

/* ---- launches ---- */

/* What all launches have in common. */
struct launch {
    struct ht_fd_layer_args args;
    int64_t groups[3];
    double coefs[MOST_COEFS];
    int count;
    struct ht_arg arg[14];
};

/* Parts of a zone of `count` nodes along each axis, in layers of these bits (ht_fd_find_part of
 * cl/fd_layer_lanes.cl). */
static int64_t zone_parts(const struct layer_kernels *k, int meeting, const int64_t count[3],
                          const unsigned layers[3]) {
    const int64_t items = k->of.tool.recipe.items, rows = items / k->lanes;
    const int axes = (layers[0] != 0) + (layers[1] != 0) + (layers[2] != 0);
    if (axes == 1 && layers[0] != 0)
        return ht_divide_up(count[1], rows) * ht_divide_up(count[2], PLANES);
    if (axes == 1) return ht_divide_up(count[0] * count[layers[1] != 0 ? 2 : 1], items);
    for (int i = 0; i < 3; i++)
        if (layers[i] == 0) return ht_divide_up(count[i], meeting);
    return 1;
}

/* Groups of a zone: a step takes it part by part, else it is taken by columns. */
static int64_t zone_groups(const struct layer_kernels *k, int entry, int meeting,
                           const int64_t count[3], const unsigned layers[3]) {
    const int axes = (layers[0] != 0) + (layers[1] != 0) + (layers[2] != 0);
    const int64_t items = k->of.tool.recipe.items;
    const int64_t width = layers[0] != 0 || count[0] < WIDTH ? count[0] : WIDTH;
    const int deep = layers[2] != 0 && layers[1] == 0 ? 1 : 2;
    if (count[0] * count[1] * count[2] == 0) return 0;
    if (entry == CORRECT && k->lanes > 0 && (axes == 1 || (axes == 2 && meeting > 0)))
        return zone_parts(k, meeting, count, layers);
    return ht_divide_up(ht_divide_up(count[0], width) * width * count[3 - deep], items) *
           ht_divide_up(count[deep], layers[1] != 0 && layers[2] != 0 ? 1 : DEPTH);
}

/* Nodes along the third axis where layers of two axes meet. */
static int meeting_of(const struct layer_kernels *k, const struct ht_fd_sides *sides) {
    const int items = k->of.tool.recipe.items;
    int64_t most = k->lanes > 0 ? items / k->lanes : 0;
    HT_EACH(const struct ht_fd_side, side, sides->side, sides->count)
        if (side->axis > 0) most = ht_least(most, items / (side->cells + sides->beyond));
    return (int)most;
}

static void begin(const struct layer_kernels *k, int entry, const struct ht_fd_box *box,
                  const struct ht_fd_sides *sides, struct launch *l) {
    *l = (struct launch){
        .args = {.row = (int)box->row, .plane = k->of.spec.dims > 2 ? (int)box->plane : 0}};
    /* Zones of a launch, and the groups of each: of those in layers, or all where there are none.
     */
    int64_t cut[3][4];
    unsigned layers[3][3] = {{0}};
    l->args.meeting = meeting_of(k, sides);
    layer_zones(box, sides, cut, layers);
    for (int n = 0; n < 12; n++) l->args.cut[n / 4][n % 4] = (int)cut[n / 4][n % 4];
    for (int n = 0; n < 9; n++) l->args.layers[n / 3] |= (int)(layers[n / 3][n % 3] << 8 * (n % 3));
    for (int n = 0; n < HT_FD_ZONES; n++) {
        const int at[3] = {(3 - n % 3) % 3, (3 - n / 3 % 3) % 3, (3 - n / 9) % 3};
        int64_t count[3];
        unsigned of[3];
        for (int i = 0; i < 3; i++) {
            count[i] = cut[i][at[i] + 1] - cut[i][at[i]];
            of[i] = layers[i][at[i]];
        }
        const bool none = by_rows(k) || ((of[0] | of[1] | of[2]) == 0 && sides->count > 0);
        l->args.first[n + 1] =
            l->args.first[n] + (none ? 0 : (int)zone_groups(k, entry, l->args.meeting, count, of));
    }
    struct ht_fd_args rows = ht_fd_args_of(box);
    l->groups[0] = l->args.first[HT_FD_ZONES];
    l->groups[1] = l->groups[2] = 1;
    if (by_rows(k)) set_groups(&k->of, box, &rows, l->groups);
    l->args.rows = (int)rows.rows;
    l->args.planes = (int)rows.planes;
    for (int i = 0; i < sides->count; i++) l->args.layer[i] = layer_of(k, box, &sides->side[i]);
    l->arg[l->count++] = HT_VALUE(l->args);
}

static void add_coefs(const struct layer_kernels *k, const struct ht_fd_operator *op,
                      struct launch *l) {
    int count = 0;
    put_coefs(&k->of.spec, &k->of.weights, op->scale, &count, l->coefs);
    for (int i = 0; !k->of.spec.density && i <= k->of.spec.dims; i++)
        for (int j = 0; j < k->narrow.radius; j++)
            l->coefs[count++] = (i > 0 ? op->scale[i - 1] : 1) * k->narrow.first[j];
    l->arg[l->count++] = ht_tool_reals(&k->of.tool, count, l->coefs);
}

HT_ERR ht_fd_layer_launch(struct ht_tool *tool, const struct ht_fd_work *w) {
    static const struct ht_fd_sides none = {.count = 0};
    struct layer_kernels *k = (struct layer_kernels *)tool;
    const struct ht_fd_layers *of = w->layers;
    const int entry = w->operation == HT_FD_SQUARES ? SQUARES
                      : of->sponge                  ? DAMP
                      : of->start                   ? START
                                                    : CORRECT;
    struct launch l;
    begin(k, entry, &w->box, entry == SQUARES ? &none : &of->sides, &l);
    if (entry != DAMP) add_coefs(k, &w->law, &l);
    if (entry != SQUARES) l.arg[l.count++] = HT_BUFFER(of->profile);
    for (int i = HT_FD_BEFORE; i <= HT_FD_NODES && entry < SQUARES; i++)
        l.arg[l.count++] = HT_BUFFER(of->memory[i]);
    if (entry != DAMP) l.count = add_medium(&k->of.spec, w, l.arg, l.count);
    if (entry < SQUARES) l.arg[l.count++] = HT_BUFFER(w->d);
    if (entry > START || by_rows(k)) l.arg[l.count++] = HT_BUFFER(w->out);
    if (entry == DAMP) l.arg[l.count++] = HT_BUFFER(w->d);
    if (by_rows(k) && entry > START) l.groups[0] = 1; /* whole rows */
    if (l.groups[0] * l.groups[1] * l.groups[2] == 0) return HT_OK;
    return ht_tool_launch(tool, w->part, entry, l.groups, l.count, l.arg);
}
