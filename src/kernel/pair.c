/* The kernels of staggered first-order systems: their lists (cl/pair.cl), programs and launches. */
#include "fd_args.h"
#include "pair_layer_args.h"
#include "tool.h"
#include "variant.h"

/* ---- what a pass touches ---- */

/* Terms of a group, with the number of the difference that each takes: several may share one. */
struct pass {
    int nterms, term[HT_MAX_TERMS], difference[HT_MAX_TERMS];
    int ndifferences, source[HT_MAX_TERMS]; /* a term of each difference */
    unsigned sources, targets;              /* fields */
    unsigned partners, losses;              /* of these */
    unsigned coefficients;
    int coupled, number[HT_MAX_FIELDS]; /* of targets that share coefficients; of others -1 */
};

static int find_difference(const struct ht_pair *pair, const struct ht_pair_term *term, int number,
                           struct pass *p) {
    HT_EACH_BY(i, const struct ht_pair_term, other, &pair->term[p->source[i]], p->ndifferences)
        if (other->col == term->col && other->axis == term->axis) return i;
    p->source[p->ndifferences] = number;
    return p->ndifferences++;
}

static struct pass pass_of(const struct ht_pair *pair, int group) {
    struct pass p = {.targets = pair->group[group]};
    const unsigned coupled = ht_pair_coupled(pair) & p.targets;
    for (int f = 0; f < HT_MAX_FIELDS; f++) p.number[f] = coupled >> f & 1u ? p.coupled++ : -1;
    HT_EACH_AT(t, const struct ht_pair_term, term, pair->term, pair->nterms) {
        if (!(p.targets >> term->row & 1u)) continue;
        p.term[p.nterms] = t;
        p.difference[p.nterms++] = find_difference(pair, term, t, &p);
        p.sources |= 1u << term->col;
        if (term->coefficient >= 0) p.coefficients |= 1u << term->coefficient;
    }
    HT_EACH_AT(l, const struct ht_pair_loss, loss, pair->loss, pair->nlosses) {
        const int of[] = {loss->strength, loss->bulk, loss->frequency, loss->rate};
        if (!(p.targets >> loss->row & 1u)) continue;
        p.losses |= 1u << l;
        for (int i = 0; i < 4; i++)
            if (of[i] >= 0) p.coefficients |= 1u << of[i];
    }
    for (int i = 0; i < pair->npartners; i++) p.partners |= (p.targets >> pair->owner[i] & 1u) << i;
    return p;
}

/* ---- absorbing layers ---- */

int ht_pair_profiles(enum ht_pair_damping damping) {
    static const int numbers[] = {
        [HT_PAIR_UNDAMPED] = 0, [HT_PAIR_SPONGE] = 1, [HT_PAIR_MATCHED] = 3, [HT_PAIR_MIXED] = 5};
    return numbers[damping];
}

/* Differences of a pass along an axis, before number `last`. */
static int count_along(const struct ht_pair *pair, const struct pass *p, int axis, int last) {
    int count = 0;
    for (int i = 0; i < last; i++) count += pair->term[p->source[i]].axis == axis;
    return count;
}

int ht_pair_slots(const struct ht_pair *pair, enum ht_pair_damping damping, int group, int axis) {
    const struct pass p = pass_of(pair, group);
    if (damping == HT_PAIR_MIXED) return p.ndifferences;
    return damping == HT_PAIR_MATCHED ? count_along(pair, &p, axis, p.ndifferences) : 0;
}

/* ---- text ---- */

static bool is_constant(const struct ht_pair_spec *spec, int coefficient) {
    return spec->constant >> coefficient & 1u;
}

/* A list's name behind the text before it; entries of a letter and a number. */
static void add_list(const char *name, const char *letter, unsigned numbers, struct ht_text *out) {
    ht_text_add(out, "\n#define HT_PAIR_%s(X)", name);
    HT_EACH_BIT(i, numbers) ht_text_add(out, " X(%s%d)", letter, i);
}

static void add_coupled(const struct ht_pair_spec *spec, const struct pass *p,
                        struct ht_text *out) {
    ht_text_add(out, "\n#define HT_PAIR_COUPLED %d\n#define HT_PAIR_COUPLED_ROWS(X)", p->coupled);
    for (int f = 0; f < spec->pair->nfields; f++)
        if (p->number[f] >= 0) ht_text_add(out, " X(%d, f%d)", p->number[f], f);
    ht_text_add(out, "\n#define HT_PAIR_COUPLINGS(V, N)");
    HT_EACH_BY(i, const struct ht_pair_term, t, &spec->pair->term[p->term[i]], p->nterms) {
        const int row = p->number[t->row], col = p->number[t->partner];
        const bool constant = is_constant(spec, t->coefficient);
        if (row >= 0 && row <= col)
            ht_text_add(out, " %s(%d, %d, %s%d)", constant ? "N" : "V", row, col,
                        constant ? "" : "m", t->coefficient);
    }
}

static void add_layers(const struct ht_pair_spec *spec, const struct pass *p, struct ht_text *out) {
    const struct ht_pair *pair = spec->pair;
    if (spec->damping == HT_PAIR_UNDAMPED) return;
    ht_text_add(out, "\n#define HT_PAIR_DAMPED(X)");
    HT_EACH_BY(i, const struct ht_pair_term, t, &pair->term[p->source[i]], p->ndifferences)
        ht_text_add(out, " X(d%d, f%d, %d, %d, %u, %d)", i, t->col, t->axis,
                    ht_pair_up(pair, t->col, t->axis), pair->parity[t->col] ^ 1u << t->axis,
                    spec->damping == HT_PAIR_MIXED ? i : count_along(pair, p, t->axis, i));
    ht_text_add(out, "\n#define HT_PAIR_PLACES(X)");
    HT_EACH_BIT(f, p->targets) ht_text_add(out, " X(f%d, %u)", f, pair->parity[f]);
    HT_EACH_BIT(i, p->partners) ht_text_add(out, " X(q%d, %u)", i, pair->parity[pair->owner[i]]);
}

static void add_table(const char *name, const double *values, int count, struct ht_text *out) {
    ht_text_add(out, "\n#define HT_PAIR_%s {", name);
    for (int i = 0; i < count; i++) ht_text_add(out, "%s%.17g", i > 0 ? ", " : "", values[i]);
    ht_text_add(out, "}");
}

/* Of a group, and by axis the rows whose stresses are 0 on a free side normal to it. */
static void add_closure(const struct ht_pair_spec *spec, int group, const struct pass *p,
                        struct ht_text *out) {
    const struct ht_fd_closure closure =
        ht_fd_closure(2 * spec->radius, group == ht_pair_stresses(spec->pair));
    const int rows = spec->free;
    double block[2 * HT_FD_CLOSED * HT_FD_CLOSED] = {0}, over[2 * HT_FD_CLOSED] = {0};
    double normal[3] = {0};
    if (rows == 0) return;
    for (int i = 0; i < 2 * rows; i++) {
        over[i] = closure.over[i / rows][i % rows];
        for (int j = 0; j < rows; j++) block[i * rows + j] = closure.block[i / rows][i % rows][j];
    }
    for (int k = 0; k < spec->pair->dims && p->coupled > 0; k++)
        normal[k] = p->number[ht_pair_normal(spec->pair, k)];
    add_table("BLOCK", block, 2 * rows * rows, out);
    add_table("OVER", over, 2 * rows, out);
    add_table("NORMALS", normal, spec->pair->dims, out);
}

/* ---- losses ---- */

/* A coefficient in the text, behind a word. */
static void add_value(const struct ht_pair_spec *spec, const char *word, int coefficient,
                      struct ht_text *out) {
    ht_text_add(out, "%s %s%d)", word,
                is_constant(spec, coefficient) ? "HT_PAIR_NUMBER(" : "HT_PAIR_AT(m", coefficient);
}

/* Entry X(..) of a list. */
static void add_loss(const struct ht_pair_spec *spec, int n, struct ht_text *out) {
    const struct ht_pair_loss *loss = &spec->pair->loss[n];
    if (loss->kind == HT_LOSS_CONDUCTS)
        ht_text_add(out, " X(f%d", loss->row);
    else
        ht_text_add(out, " X(%d", n);
    if (loss->position >= 0) ht_text_add(out, ", q%d", loss->position);
    if (loss->current >= 0) ht_text_add(out, ", q%d", loss->current);
    add_value(spec, ",", loss->strength, out);
    if (loss->frequency >= 0) add_value(spec, ",", loss->frequency, out);
    if (loss->kind != HT_LOSS_CONDUCTS) add_value(spec, ",", loss->rate, out);
    if (loss->kind == HT_LOSS_ATTENUATES || loss->kind == HT_LOSS_RELAXES)
        ht_text_add(out, ", %d", loss->kind == HT_LOSS_ATTENUATES);
    ht_text_add(out, ")");
}

/* Lists of cl/pair_losses.cl, by the kind of entry. */
enum { CONDUCTS, RELAXES, OSCILLATES, STREAMS, LOSS_LISTS };
static int list_of(const struct ht_pair_loss *loss) {
    if (loss->kind == HT_LOSS_CONDUCTS) return CONDUCTS;
    if (loss->kind != HT_LOSS_OSCILLATES) return RELAXES;
    return loss->position >= 0 ? OSCILLATES : STREAMS;
}

static void add_losses(const struct ht_pair_spec *spec, const struct pass *p, struct ht_text *out) {
    static const char *const names[] = {"CONDUCTS", "RELAXES", "OSCILLATES", "STREAMS"};
    const struct ht_pair_loss *loss = spec->pair->loss, *bulk = NULL;
    unsigned lossy = 0;
    add_list("PARTNERS", "q", p->partners, out);
    HT_EACH_BIT(f, spec->staged ? p->targets : 0) ht_text_add(out, " X(bf%d)", f);
    if (p->losses == 0) return;
    for (int list = 0; list < LOSS_LISTS; list++) {
        ht_text_add(out, "\n#define HT_PAIR_%s(X)", names[list]);
        HT_EACH_BIT(n, p->losses)
            if (list_of(&loss[n]) == list) add_loss(spec, n, out);
    }
    ht_text_add(out, "\n#define HT_PAIR_FLOWS(X)");
    HT_EACH_BIT(n, p->losses) {
        lossy |= 1u << loss[n].row;
        if (loss[n].bulk >= 0) bulk = &loss[n];
        if (loss[n].kind != HT_LOSS_CONDUCTS) ht_text_add(out, " X(%d, f%d)", n, loss[n].row);
    }
    add_list("LOSSY", "f", lossy, out);
    ht_text_add(out, "\n#define HT_PAIR_PRESSURE %d\n#define HT_PAIR_PRESSED(X)", bulk != NULL);
    HT_EACH_BIT(n, p->losses)
        if (loss[n].bulk >= 0)
            ht_text_add(out, " X(%d, %d, f%d)", p->number[loss[n].row], n, loss[n].row);
    if (bulk == NULL) return;
    add_value(spec, "\n#define HT_PAIR_BULK", bulk->bulk, out);
    add_value(spec, "\n#define HT_PAIR_BULK_RATE", bulk->rate, out);
}

static void add_lists(const struct ht_pair_spec *spec, int group, const struct pass *p,
                      struct ht_text *out) {
    const struct ht_pair *pair = spec->pair;
    add_list("SOURCES", "f", p->sources, out);
    add_list("TARGETS", "f", p->targets, out);
    add_list("MEDIA", "m", p->coefficients & ~spec->constant, out);
    ht_text_add(out, "\n#define HT_PAIR_DIFFERENCES(X)");
    HT_EACH_BY(i, const struct ht_pair_term, t, &pair->term[p->source[i]], p->ndifferences)
        ht_text_add(out, " X(d%d, f%d, %d, %d)", i, t->col, t->axis,
                    ht_pair_up(pair, t->col, t->axis));
    ht_text_add(out, "\n#define HT_PAIR_TERMS(V, N)");
    HT_EACH_BY(i, const struct ht_pair_term, t, &pair->term[p->term[i]], p->nterms) {
        const bool number = is_constant(spec, t->coefficient);
        ht_text_add(out, " %s(f%d, %s%d, d%d, %.17g)", number ? "N" : "V", t->row,
                    number ? "" : "m", t->coefficient, p->difference[i], t->factor);
    }
    add_coupled(spec, p, out);
    add_losses(spec, p, out);
    add_layers(spec, p, out);
    add_closure(spec, group, p, out);
    ht_text_add(out, "\n");
}

/* ---- shapes ---- */

enum { LAYERS = HT_PAIR_SOLVE + 1 }; /* entry beside those of enum ht_pair_work */

/* A program of a group. */
struct kernels {
    struct ht_tool tool;
    struct ht_pair pair;
    struct ht_pair_spec spec;
    struct ht_fd_weights weights;
    struct pass pass;
    struct ht_fd_shape shape;
    int width;
    bool vectors;
    /* Of the first one: [beside free sides][group], which follow each other. */
    struct kernels *all[2][2];
};

/* Nodes of a row that are done at a time. On GPUs packs are faster where neither registers nor the
 * bytes of double precision limit a pass (bench/NOTES.md). */
static int width_of(const struct ht_pair_spec *spec, bool vectors, const struct pass *p) {
    if (vectors) return spec->fp64 ? 8 : 16;
    return spec->fp64 || spec->free > 0 || p->losses != 0 ? 1 : HT_FD_PACK;
}

/* What fd-vectors is asked for stays as it is. */
static struct ht_fd_shape shape_of(const struct kernels *k, const struct ht_fd_shape *asked,
                                   int most) {
    const bool packs = k->width > 1;
    struct ht_fd_shape shape = {0};
    if (asked != NULL) shape = *asked;
    if (k->vectors) return shape;
    if (shape.packs == 0) shape.packs = k->pair.dims == 1 ? 128 : packs ? 8 : 32;
    if (shape.rows == 0) shape.rows = packs ? 8 : 4;
    if (k->pair.dims == 1) shape.rows = 1;
    shape.planes = packs && k->pair.dims > 2 ? 2 : 1;
    while (shape.rows > 1 && shape.packs * shape.rows * shape.planes > most) shape.rows /= 2;
    while (shape.packs > 1 && shape.packs * shape.rows * shape.planes > most) shape.packs /= 2;
    return shape;
}

static struct ht_recipe recipe_of(const struct kernels *k, int ptx) {
    const struct ht_pair_spec *spec = &k->spec;
    const bool damped = spec->damping != HT_PAIR_UNDAMPED;
    struct ht_recipe r = {
        .fp64 = spec->fp64,
        .items = k->vectors ? 1 : k->shape.packs * k->shape.rows * k->shape.planes,
        .number = {{"DIMS", spec->pair->dims},
                   {"FD_R", spec->radius},
                   {"FD_PACKS", k->shape.packs},
                   {"FD_ROWS", k->shape.rows},
                   {"FD_PLANES", k->shape.planes},
                   {"MOST_REGISTERS", k->shape.registers},
                   {"PTX", ptx},
                   {"WIDTH", k->width},
                   {"PACK", k->width},
                   {"PAIR_VECTORS", k->vectors},
                   {"PAIR_NUMBERS", spec->pair->ncoefficients + (spec->pair->nlosses > 0)},
                   {"PAIR_LOSSY_DT", spec->pair->ncoefficients},
                   {"PAIR_STAGED", spec->staged},
                   {"PAIR_SPONGE", spec->damping == HT_PAIR_SPONGE},
                   {"PAIR_MIXES", spec->damping == HT_PAIR_MIXED},
                   {"PAIR_PROFILES", ht_pair_profiles(spec->damping)},
                   {"PAIR_FREE", spec->free}},
        .entry = {"ht_pair_pass", "ht_pair_rate", spec->staged ? "ht_pair_stage" : NULL,
                  k->pass.coupled > 0 ? "ht_pair_solve" : NULL, damped ? "ht_pair_layers" : NULL},
        .parts = true,
        .now = true};
    const char *const files[] = {"fd_args.h",
                                 k->width > 1 ? "loose.cl" : NULL,
                                 k->width > 1 && !k->vectors ? "packs.cl" : NULL,
                                 "pair.cl",
                                 spec->free > 0 ? "pair_surface.cl" : NULL,
                                 k->pass.losses != 0 ? "pair_losses.cl" : NULL,
                                 k->vectors ? "pair_vectors.cl" : NULL,
                                 damped ? "pair_layer_args.h" : NULL,
                                 damped ? "pair_layers.cl" : NULL,
                                 k->vectors ? NULL : "pair_plain.cl",
                                 "pair_entry.cl"};
    for (size_t i = 0, n = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] != NULL) r.file[n++] = files[i];
    return r;
}

/* ---- kernels ---- */

/* Of a group, in the whole grid or in the rows of closures. */
static HT_ERR make_program(struct ht_device *device, const struct ht_pair_spec *spec,
                           const struct ht_variant *variant, const struct ht_fd_shape *asked,
                           int group, int ptx, struct kernels **out) {
    struct kernels plan = {.pair = *spec->pair,
                           .spec = *spec,
                           .weights = ht_fd_weights(2 * spec->radius),
                           .vectors = variant == &ht_variant_fd_vectors,
                           .pass = pass_of(spec->pair, group)};
    HT_FREED_TEXT struct ht_text lists = {0};
    plan.width = width_of(spec, plan.vectors, &plan.pass);
    plan.shape = shape_of(&plan, asked, (int)ht_least(ht_tool_info(device)->max_group, 1024));
    struct ht_recipe recipe = recipe_of(&plan, ptx);
    add_lists(spec, group, &plan.pass, &lists);
    TRY(ht_text_status(&lists));
    recipe.definitions = lists.data;
    const enum ht_err err = ht_tool_create(device, &recipe, &plan, sizeof plan, out);
    if (err != HT_OK) return ht_err_prefix(err, "variant %s", variant->name);
    (*out)->spec.pair = &(*out)->pair;
    return HT_OK;
}

/* device: NULL for the texts alone. */
static HT_ERR make(struct ht_device *device, const struct ht_pair_spec *spec,
                   const struct ht_variant *variant, const struct ht_fd_shape *shape, int ptx,
                   struct kernels **out) {
    /* Few nodes along x1 or x2, or many. */
    static const struct ht_fd_shape strips = {.packs = 8, .rows = 4};
    struct kernels *all[2][2] = {{NULL}}, **last = NULL;
    struct ht_pair_spec inside = *spec;
    inside.free = 0;
    *out = NULL;
    HT_EACH_BY(i, struct kernels *, k, &all[i / 2][i % 2], spec->free > 0 ? 4 : 2) {
        const enum ht_err err =
            i < 2 ? make_program(device, &inside, variant, shape, i, ptx, k)
                  : make_program(device, spec, &ht_variant_fd_plain, &strips, i % 2, ptx, k);
        if (err != HT_OK) {
            if (last != NULL) ht_tool_destroy(&all[0][0]->tool);
            return err;
        }
        if (last != NULL) (*last)->tool.next = &(*k)->tool;
        last = k;
    }
    memcpy(all[0][0]->all, all, sizeof all);
    *out = all[0][0];
    return HT_OK;
}

HT_ERR ht_pair_kernels_create(struct ht_device *device, const struct ht_pair_spec *spec,
                              const struct ht_variant *variant, const struct ht_fd_shape *shape,
                              struct ht_tool **out) {
    struct kernels *k;
    const enum ht_err err = make(device, spec, variant, shape, ht_device_info(device)->ptx, &k);
    *out = k != NULL ? &k->tool : NULL;
    return err;
}

HT_ERR ht_pair_text(const struct ht_pair_spec *spec, const struct ht_variant *variant,
                    const struct ht_fd_shape *shape, int ptx, struct ht_text *out) {
    struct kernels *k;
    TRY(make(NULL, spec, variant, shape, ptx, &k));
    for (const struct ht_tool *one = &k->tool; one != NULL; one = one->next)
        ht_text_add(out, "%s", ht_tool_text(one));
    ht_tool_destroy(&k->tool);
    return ht_text_status(out);
}

/* ---- launches ---- */

/* struct ht_pair_coefs of cl/pair.cl, whose integers come last. */
enum { MOST_COEFS = 3 * HT_FD_RADIUS + HT_MAX_TERMS + 12 };

static struct ht_arg set_coefs(const struct kernels *k, const double scale[3],
                               const struct ht_pair_arrays *arrays, double out[MOST_COEFS]) {
    const int r = k->spec.radius, weights = k->pair.dims * r, dims = k->pair.dims;
    const int numbers = weights + k->pair.ncoefficients;
    const int scales = numbers + (k->pair.nlosses > 0);
    const int count = scales + (k->spec.free > 0 ? dims : 0);
    for (int i = 0; i < count; i++)
        out[i] = i < weights   ? scale[i / r] * k->weights.first[i % r]
                 : i < numbers ? arrays->number[i - weights]
                 : i < scales  ? arrays->lossy_dt
                               : scale[i - scales];
    struct ht_arg arg = ht_tool_reals(&k->tool, count, out);
    for (int i = 0; k->spec.free > 0 && i < 2 * dims + 2; i++, arg.size += sizeof(int)) {
        const int value = i < 2 * dims    ? (int)arrays->wall[i / 2][i % 2]
                          : i == 2 * dims ? k->spec.free
                                          : r;
        memcpy((char *)out + arg.size, &value, sizeof value);
    }
    return arg;
}

/* Groups of a pass, and what each does in turn: on CPUs four groups per core share the rows. */
static void set_groups(const struct kernels *k, const struct ht_fd_box *box,
                       struct ht_fd_args *args, int64_t groups[3]) {
    const struct ht_fd_shape *shape = &k->shape;
    const int last = k->pair.dims - 1;
    const int64_t most = (int64_t)ht_device_info(k->tool.device)->compute_units * 4;
    groups[0] = groups[1] = groups[2] = 1;
    if (!k->vectors) {
        const int64_t width = k->width, begin = box->begin[0] / width * width;
        groups[0] = ht_divide_up(box->end[0] - begin, width * shape->packs);
        groups[1] = ht_divide_up(ht_fd_extent(box, 1), shape->rows);
        groups[2] = ht_divide_up(ht_fd_extent(box, 2), shape->planes);
        return;
    }
    args->rows = shape->rows > 0 ? shape->rows : 16;
    if (last == 2) groups[1] = ht_divide_up(ht_fd_extent(box, 1), args->rows);
    if (last == 0) return;
    const int64_t parts = ht_divide_up(most, groups[1]);
    args->planes = shape->planes > 0 ? shape->planes : ht_divide_up(ht_fd_extent(box, last), parts);
    groups[2] = ht_divide_up(ht_fd_extent(box, last), args->planes);
}

/* HT_PAIR_PARAMS. */
static int add_arrays(const struct kernels *k, struct ht_buffer *const *target,
                      const struct ht_pair_arrays *arrays, struct ht_arg *arg, int n) {
    n = ht_tool_buffers(k->pass.sources, arrays->field, arg, n);
    n = ht_tool_buffers(k->pass.coefficients & ~k->spec.constant, arrays->coefficient, arg, n);
    n = ht_tool_buffers(k->pass.targets, target, arg, n);
    n = ht_tool_buffers(k->pass.partners, arrays->partner, arg, n);
    return ht_tool_buffers(k->spec.staged ? k->pass.targets : 0, arrays->field, arg, n);
}

static HT_ERR launch(struct kernels *k, const struct ht_pair_task *t, int entry,
                     const struct ht_fd_box *box, struct ht_buffer *const *target,
                     const struct ht_pair_arrays *arrays) {
    struct ht_fd_args args = ht_fd_args_of(box);
    struct ht_arg arg[HT_MAX_ARGS] = {HT_VALUE(args)};
    double coefs[MOST_COEFS];
    int64_t groups[3];
    if (ht_fd_empty(box)) return HT_OK;
    set_groups(k, box, &args, groups);
    arg[1] = set_coefs(k, t->scale, arrays, coefs);
    const int n = add_arrays(k, target, arrays, arg, 2);
    return ht_tool_launch(&k->tool, t->part, entry, groups, n, arg);
}

/* ---- launches with layers ---- */

/* What layers of an axis cut a box into. */
static void cut_axis(const struct ht_fd_box *box, const struct ht_pair_layers *layers, int64_t axis,
                     struct ht_pair_layer_args *out) {
    int64_t cut[4] = {box->begin[axis], box->begin[axis], box->end[axis], box->end[axis]};
    const int64_t low = layers->layer[2 * axis].end[axis];
    const int64_t high = layers->layer[2 * axis + 1].begin[axis];
    if (low > layers->layer[2 * axis].begin[axis]) cut[1] = ht_least(ht_most(cut[0], low), cut[3]);
    if (high < layers->layer[2 * axis + 1].end[axis])
        cut[2] = ht_least(ht_most(cut[1], high), cut[3]);
    for (int i = 0; i < 4; i++) out->cut[axis][i] = (int)cut[i];
}

static void set_layers(const struct ht_fd_box *box, const struct ht_pair_layers *layers, int items,
                       struct ht_pair_layer_args *out) {
    *out = (struct ht_pair_layer_args){.row = (long)box->row, .plane = (long)box->plane};
    for (int i = 0; i < 6; i++) {
        for (int n = 0; n < 3; n++) {
            out->layer[i].begin[n] = (int)layers->layer[i].begin[n];
            out->layer[i].n[n] = (int)(layers->layer[i].end[n] - layers->layer[i].begin[n]);
        }
        out->layer[i].memory = (long)layers->layer[i].memory;
        out->layer[i].profile = (int)layers->layer[i].profile;
    }
    for (int axis = 0; axis < 3; axis++) cut_axis(box, layers, axis, out);
    for (int zone = 0; zone < HT_PAIR_ZONES; zone++) {
        const int at[3] = {zone % 3, zone / 3 % 3, zone / 9};
        const bool none = at[0] == 1 && at[1] == 1 && at[2] == 1;
        int64_t nodes = 1;
        for (int axis = 0; axis < 3; axis++)
            nodes *= out->cut[axis][at[axis] + 1] - out->cut[axis][at[axis]];
        out->first[zone + 1] = out->first[zone] + (int)(none ? 0 : ht_divide_up(nodes, items));
    }
}

/* On CPUs one launch does all rows with the layers; else they follow the pass. */
static HT_ERR launch_layers(struct kernels *k, const struct ht_pair_task *t,
                            const struct ht_fd_box *box, const struct ht_pair_arrays *arrays) {
    struct ht_pair_layer_args args;
    struct ht_fd_args rows = ht_fd_args_of(box);
    struct ht_arg arg[HT_MAX_ARGS] = {HT_VALUE(args)};
    double coefs[MOST_COEFS];
    int64_t groups[3];
    int n = 2;
    if (ht_fd_empty(box)) return HT_OK;
    set_layers(box, t->layers, k->tool.recipe.items, &args);
    set_groups(k, box, &rows, groups);
    args.rows = rows.rows;
    args.planes = rows.planes;
    for (int axis = 0; axis < 3 && !k->vectors; axis++)
        groups[axis] = axis == 0 ? args.first[HT_PAIR_ZONES] : 1;
    if (!k->vectors) TRY(launch(k, t, HT_PAIR_STEP, box, arrays->field, arrays));
    if (groups[0] == 0) return HT_OK;
    arg[1] = set_coefs(k, t->scale, arrays, coefs);
    arg[n++].buffer = arrays->profile;
    if (k->spec.damping != HT_PAIR_SPONGE) arg[n++].buffer = arrays->memory[t->group];
    n = add_arrays(k, arrays->field, arrays, arg, n);
    return ht_tool_launch(&k->tool, t->part, LAYERS, groups, n, arg);
}

/* ---- boxes ---- */

/* Parts of a box: the first has no rows of closures, others have nothing else. */
enum { MOST_PARTS = 7 };
static int cut_box(const struct kernels *k, const struct ht_fd_box *box,
                   const struct ht_pair_arrays *arrays, struct ht_fd_box part[MOST_PARTS]) {
    int count = 1;
    part[0] = *box;
    for (int axis = k->pair.dims - 1; axis >= 0 && k->all[1][0] != NULL; axis--) {
        const int64_t rows = k->all[1][0]->spec.free;
        int64_t *begin = &part[0].begin[axis], *end = &part[0].end[axis];
        const int64_t low = ht_least(arrays->wall[axis][0] + rows, *end);
        const int64_t high = ht_most(arrays->wall[axis][1] - rows + 1, ht_most(low, *begin));
        if (low > *begin) {
            part[count] = part[0];
            part[count++].end[axis] = low;
            *begin = low;
        }
        if (high < *end) {
            part[count] = part[0];
            part[count++].begin[axis] = high;
            *end = high;
        }
    }
    return count;
}

static HT_ERR solve(struct kernels *k, const struct ht_fd_box *box,
                    const struct ht_pair_arrays *arrays) {
    const double scale[3] = {0, 0, 0};
    const struct ht_fd_args args = ht_fd_args_of(box);
    double coefs[MOST_COEFS];
    struct ht_arg arg[HT_MAX_ARGS] = {HT_VALUE(args), set_coefs(k, scale, arrays, coefs)};
    const int64_t groups[3] = {ht_divide_up(ht_fd_extent(box, 0), k->tool.recipe.items),
                               ht_fd_extent(box, 1), ht_fd_extent(box, 2)};
    if (ht_fd_empty(box) || k->pass.coupled == 0) return HT_OK;
    int n = ht_tool_buffers(k->pass.coefficients & ~k->spec.constant, arrays->coefficient, arg, 2);
    for (int f = 0; f < k->pair.nfields; f++) {
        if (k->pass.number[f] < 0) continue;
        arg[n++].buffer = arrays->field[f];
        arg[n++].buffer = arrays->solved[f];
    }
    return ht_tool_launch(&k->tool, HT_PART_INTERIOR, HT_PAIR_SOLVE, groups, n, arg);
}

HT_ERR ht_pair_pass(struct ht_tool *tool, const struct ht_pair_task *t,
                    const struct ht_pair_arrays *arrays) {
    const struct kernels *all = (const struct kernels *)tool;
    const bool steps = t->work == HT_PAIR_STEP;
    struct ht_fd_box boxes[MOST_PARTS];
    if (t->work == HT_PAIR_SOLVE) return solve(all->all[0][t->group], &t->box, arrays);
    const int count = cut_box(all, &t->box, arrays, boxes);
    HT_EACH_BY(i, struct kernels, k, all->all[i > 0][t->group], count)
        TRY(t->layers != NULL && steps ? launch_layers(k, t, &boxes[i], arrays)
                                       : launch(k, t, (int)t->work, &boxes[i],
                                                steps ? arrays->field : arrays->rate, arrays));
    return HT_OK;
}
