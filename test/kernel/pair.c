/* Kernels of staggered first-order systems against the formulas in double precision, computed here:
 * the largest difference over the bound that rounding allows. Nodes outside the box stay as they
 * were, and all kernels give the bits of the plain one. Systems x dimensions x radii x precisions,
 * sizes that are no multiples of groups and vectors, coefficients that vary beside constant ones.
 */
#include "open_device.h"
#include "window.h"

struct scene {
    struct ht_device *device;
    struct ht_pair pair;
    struct ht_pair_spec spec;
    struct ht_fd_box box;
    int64_t nodes;
    double scale[3];
    double *field[HT_MAX_FIELDS], *got[2][HT_MAX_FIELDS];
    double *coefficient[HT_MAX_TERMS];
    struct ht_pair_arrays arrays;
};

static enum ht_err write_all(const struct scene *s, struct ht_buffer *buffer, const double *value) {
    return ht_buffer_write_reals(buffer, s->spec.fp64, 0, s->nodes, value);
}

/* Random values that the precision holds. */
static enum ht_err make_array(struct scene *s, uint64_t seed, bool positive, double **value,
                              struct ht_buffer **buffer) {
    TRY(HT_ALLOC(*value, s->nodes));
    TRY(ht_buffer_create(s->device, s->nodes * ht_real_size(s->spec.fp64), buffer));
    for (int64_t i = 0; i < s->nodes; i++) {
        const double x = ht_rng_uniform(seed, (uint64_t)i) * (positive ? 0.5 : 1) + positive;
        (*value)[i] = s->spec.fp64 ? x : (double)(float)x;
    }
    return write_all(s, *buffer, *value);
}

/* The window has just the room that the header asks for; the box is a part of its nodes, and does
 * not begin at a pack. */
static void set_box(struct scene *s, const int64_t nodes[3]) {
    const int64_t reach = s->spec.radius;
    const struct ht_fd_row row = ht_fd_row(nodes[0], reach);
    int64_t count[3] = {row.row, 1, 1};
    for (int k = 0; k < s->pair.dims; k++) {
        const int64_t begin = k == 0 ? row.begin : reach;
        s->box.begin[k] = begin + (nodes[k] > 4);
        s->box.end[k] = begin + nodes[k];
        if (k > 0) count[k] = 2 * reach + nodes[k];
    }
    for (int k = s->pair.dims; k < 3; k++) s->box.end[k] = 1;
    s->box.row = count[0];
    s->box.plane = count[0] * count[1];
    s->nodes = s->box.plane * count[2] + HT_PAIR_BEYOND;
}

static enum ht_err make_scene(struct scene *s) {
    for (int f = 0; f < s->pair.nfields; f++) {
        TRY(make_array(s, 3 + (uint64_t)f, false, &s->field[f], &s->arrays.field[f]));
        for (int i = 0; i < 2; i++) TRY(HT_ALLOC(s->got[i][f], s->nodes));
    }
    for (int c = 0; c < s->pair.ncoefficients; c++) {
        TRY(make_array(s, 50 + (uint64_t)c, true, &s->coefficient[c], &s->arrays.coefficient[c]));
        s->arrays.number[c] = s->coefficient[c][0];
    }
    for (int k = 0; k < 3; k++) s->scale[k] = 0.3 / (1 + k);
    return HT_OK;
}

static void free_scene(struct scene *s) {
    for (int f = 0; f < HT_MAX_FIELDS; f++) {
        free(s->field[f]);
        free(s->got[0][f]);
        free(s->got[1][f]);
        ht_buffer_destroy(s->arrays.field[f]);
    }
    for (int c = 0; c < HT_MAX_TERMS; c++) {
        free(s->coefficient[c]);
        ht_buffer_destroy(s->arrays.coefficient[c]);
    }
}

/* A field after the pass of its group, and the sum of the magnitudes that it was made of. */
static double expected(const struct scene *s, int field, int64_t at, double *size) {
    const struct ht_fd_weights w = ht_fd_weights(2 * s->spec.radius);
    const int64_t stride[3] = {1, s->box.row, s->box.plane};
    double value = s->field[field][at];
    *size = fabs(value);
    for (int t = 0; t < s->pair.nterms; t++) {
        const struct ht_pair_term *term = &s->pair.term[t];
        const double *col = s->field[term->col];
        const int64_t d = stride[term->axis], up = s->pair.parity[field] >> term->axis & 1;
        const int c = term->coefficient;
        if (term->row != field) continue;
        const double m = term->factor * s->scale[term->axis] *
                         (s->spec.constant >> c & 1u ? s->arrays.number[c] : s->coefficient[c][at]);
        for (int j = 0; j < w.radius; j++) {
            const double above = col[at + (up + j) * d], below = col[at + (up - 1 - j) * d];
            value += m * w.first[j] * (above - below);
            *size += fabs(m * w.first[j]) * (fabs(above) + fabs(below));
        }
    }
    return value;
}

/* Of a pass: differences over their bounds, infinite where a node that is no target changed. Each
 * term passes through 6 roundings, one for each difference, one for each term of its row. */
static double compare(const struct scene *s, int group) {
    const double most = (s->spec.radius + s->pair.dims + 6) * unit_of(s->spec.fp64);
    double worst = 0;
    for (int f = 0; f < s->pair.nfields; f++)
        for (int64_t i = 0; i < s->nodes; i++) {
            double size = 0, value = s->field[f][i], ratio;
            const bool target = s->pair.group[group] >> f & 1u && in_box(&s->box, i);
            if (target) value = expected(s, f, i, &size);
            ratio = target                     ? fabs(s->got[0][f][i] - value) / (most * size)
                    : s->got[0][f][i] == value ? 0
                                               : INFINITY;
            worst = worse_ratio(worst, ratio);
        }
    return worst;
}

static enum ht_err run(struct scene *s, struct ht_tool *kernels, int group, double *const got[]) {
    for (int f = 0; f < s->pair.nfields; f++) TRY(write_all(s, s->arrays.field[f], s->field[f]));
    struct ht_pair_task task = {.work = HT_PAIR_STEP, .group = group, .box = s->box};
    memcpy(task.scale, s->scale, sizeof task.scale);
    TRY(ht_pair_pass(kernels, &task, &s->arrays));
    TRY(ht_device_finish(s->device));
    for (int f = 0; f < s->pair.nfields; f++)
        TRY(ht_buffer_read_reals(s->arrays.field[f], s->spec.fp64, 0, s->nodes, got[f]));
    return HT_OK;
}

static void judge(struct scene *s, const struct ht_variant *variant, double worst[2],
                  int64_t *unequal) {
    struct ht_tool *kernels[2] = {NULL, NULL};
    const struct ht_variant *plain = ht_variant_find("fd-plain", NULL, false);
    for (int i = 0; i < 2; i++)
        must(ht_pair_kernels_create(s->device, &s->spec, i ? plain : variant, NULL, &kernels[i]));
    for (int group = 0; group < 2; group++) {
        for (int i = 0; i < 2; i++) must(run(s, kernels[i], group, s->got[i]));
        worst[group] = compare(s, group);
        for (int f = 0; f < s->pair.nfields; f++)
            for (int64_t i = 0; i < s->nodes; i++) *unequal += s->got[0][f][i] != s->got[1][f][i];
    }
    for (int i = 0; i < 2; i++) ht_tool_destroy(kernels[i]);
}

static void run_case(struct ht_device *device, const char *system, int dims, int radius, bool fp64,
                     const char *variant, const int64_t nodes[3]) {
    const struct ht_equations eq = ht_equations_make(ht_system_find(system), dims);
    HT_ENDED(free_scene) struct scene s = {.device = device};
    double worst[2] = {INFINITY, INFINITY};
    int64_t unequal = 0;
    char name[120];
    snprintf(name, sizeof name, "%s %s %dD order %d %s, %d x %d x %d", variant, system, dims,
             2 * radius, fp64 ? "double" : "single", (int)nodes[0], (int)nodes[1], (int)nodes[2]);
    const char *why = ht_pair_make(&eq, radius % 3 ? HT_PAIR_TOGETHER : HT_PAIR_APART, &s.pair);
    TEST_CHECK(why == NULL, "%s: %s", name, why != NULL ? why : "a pair");
    s.spec = (struct ht_pair_spec){
        .pair = &s.pair, .radius = radius, .fp64 = fp64, .constant = radius % 2 ? 2u : 0};
    set_box(&s, nodes);
    must(make_scene(&s));
    judge(&s, ht_variant_find(variant, NULL, false), worst, &unequal);
    for (int group = 0; group < 2; group++)
        TEST_BELOW(worst[group], 1.0, "%s, group %d", name, group);
    TEST_EQUAL(unequal, 0, "%s: values unlike fd-plain's", name);
}

static void judge_all(struct ht_device *device) {
    static const char *const systems[] = {"acoustic", "maxwell", "elastic"};
    static const char *const variants[] = {"fd-plain", "fd-vectors"};
    static const int64_t sizes[3][3] = {{1031, 1, 1}, {289, 21, 1}, {77, 19, 13}};
    for (int i = 0; i < 3; i++)
        for (int dims = 1; dims <= 3; dims++)
            for (int v = 0; v < 2; v++)
                for (int radius = 1; radius <= HT_FD_RADIUS; radius++) {
                    const bool chosen = (radius + i + dims) % (test_all() ? 4 : 8) == v;
                    if (chosen)
                        run_case(device, systems[i], dims, radius,
                                 (radius + v) % 2 != 0 && ht_device_info(device)->fp64, variants[v],
                                 sizes[dims - 1]);
                }
}

int main(void) {
    return test_on_device("pair", judge_all);
}
