/* Windows and the kernel that fills their ghosts. Every node of a window starts with different
 * values. Afterwards held nodes are unchanged, and each ghost has the values of the node that
 * ht_grid_source names, coefficient by coefficient with the sign of the walls in between; exactly,
 * since only signs change. The shift of a half step leads from every target to the sources next to
 * it. */
#include "open_device.h"
#include "test.h"

#include "htwave/tool.h"
#include "layout.h"
#include "tool_args.h"

struct scene {
    struct ht_device *device;
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_spec spec;
    struct ht_window window;
    int storage[HT_MAX_COEFS], padded_coefs, coefs;
    int64_t nodes;
    struct ht_buffer *u[HT_MAX_FIELDS];
    double *value; /* [field][value of the buffer] */
};

static int64_t per_field(const struct scene *s) {
    return HT_LAYOUT_SIZE(s->spec.block, s->padded_coefs, s->nodes);
}

/* Small whole numbers are exact in both precisions. */
static double initial(int field, int64_t i) {
    return (double)((i * 7 + (int64_t)field * 5) % 4001 + 1);
}

static enum ht_err fill(struct scene *s, struct ht_tool *ghosts) {
    struct ht_ghost_args args;
    int64_t count = per_field(s);
    TRY(ht_window_ghosts(&s->grid, &s->window, &args));
    TRY(HT_ALLOC(s->value, count * s->eq.nfields));
    for (int f = 0; f < s->eq.nfields; f++) {
        for (int64_t i = 0; i < count; i++) s->value[f * count + i] = initial(f, i);
        TRY(ht_buffer_create_reals(s->device, s->spec.fp64, count, s->value + f * count, &s->u[f]));
    }
    TRY(ht_ghosts_fill(ghosts, &args, s->u));
    TRY(ht_device_finish(s->device));
    for (int f = 0; f < s->eq.nfields; f++)
        TRY(ht_buffer_read_reals(s->u[f], s->spec.fp64, 0, count, s->value + f * count));
    return HT_OK;
}

/* What stands at coefficient i of a field at node m[3] of the window. */
static double expected(const struct scene *s, int field, int i, const int64_t m[3]) {
    const int n = s->spec.order + 1;
    int index[3] = {i % n, i / n % n, i / (n * n)};
    int64_t from[3];
    double sign = 1;
    for (int k = 0; k < 3; k++) {
        int signs[2];
        from[k] = m[k];
        if (m[k] >= s->window.held.begin[k] && m[k] < s->window.held.end[k]) continue;
        from[k] =
            ht_grid_source(&s->grid, &s->eq, field, HT_DUAL, k, s->window.origin[k] + m[k], signs) -
            s->window.origin[k];
        sign *= signs[index[k] % 2];
    }
    int64_t node = ht_window_at(&s->window, from[0], from[1], from[2]);
    return sign * initial(field, HT_LAYOUT_AT(s->spec.block, s->storage[i], node, s->nodes));
}

static int count_wrong(const struct scene *s) {
    int wrong = 0;
    for (int f = 0; f < s->eq.nfields; f++)
        for (int i = 0; i < s->coefs; i++)
            for (int64_t n = 0; n < s->nodes; n++) {
                const int64_t *c = s->window.count;
                const int64_t m[3] = {n % c[0], n / c[0] % c[1], n / c[0] / c[1]};
                int64_t at = HT_LAYOUT_AT(s->spec.block, s->storage[i], n, s->nodes);
                double found = s->value[f * per_field(s) + at];
                wrong += found != expected(s, f, i, m);
            }
    return wrong;
}

/* Sources of all targets along each axis. */
static int count_shifted(const struct ht_grid *grid, enum ht_subgrid from) {
    enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const struct ht_window source = ht_window_make(grid, from, 0, 0);
    const struct ht_window target = ht_window_make(grid, to, 0, 0);
    int64_t shift[3], period[3];
    int wrong = 0;
    ht_window_shift(grid, from, &source, &target, shift, period);
    for (int k = 0; k < grid->dims; k++)
        for (int64_t m = target.own.begin[k]; m < target.own.end[k]; m++)
            for (int side = 0; side < 2; side++) {
                int64_t i = m + shift[k] + side;
                int64_t wanted =
                    target.origin[k] + m + side - (from == HT_DUAL ? 1 : 0) - source.origin[k];
                int64_t n = ht_grid_nodes(grid, from, k);
                if (i >= period[k]) i -= period[k];
                if (ht_grid_periodic(grid, k)) wanted = (wanted + n) % n;
                wrong += i != wanted || i < 0 || i >= source.count[k];
            }
    return wrong;
}

static void make_grid(struct scene *s, int dims, const int walls[3][2]) {
    s->grid = (struct ht_grid){.dims = dims, .order = s->spec.order};
    for (int k = 0; k < 3; k++) {
        s->grid.cells[k] = k < dims ? 3 + 2 * k : 1;
        s->grid.h[k] = 1;
        for (int side = 0; side < 2; side++) s->grid.wall[k][side] = k < dims ? walls[k][side] : 0;
    }
    s->window = ht_window_make(&s->grid, HT_DUAL, 0, 0);
    s->nodes = ht_window_nodes(&s->window);
    s->coefs = ht_grid_coefs(&s->grid);
    s->spec.eq = &s->eq;
    s->padded_coefs = ht_storage_order(&s->spec, s->storage);
}

static void run(struct scene *s, const char *name) {
    struct ht_tool *ghosts = NULL;
    int wrong = 0, shifted = count_shifted(&s->grid, HT_PRIMARY) + count_shifted(&s->grid, HT_DUAL);
    enum ht_err err = ht_ghosts_create(s->device, &s->spec, &ghosts);
    if (err == HT_OK) err = fill(s, ghosts);
    if (err == HT_OK) wrong = count_wrong(s);
    TEST_CHECK(err == HT_OK && wrong == 0 && shifted == 0,
               "%s: %lld ghosts, %d values and %d sources are wrong (bound 0)%s", name,
               (long long)(s->nodes - ht_box_nodes(&s->window.held)), wrong, shifted,
               err ? ht_err_message() : "");
    ht_tool_destroy(ghosts);
    for (int f = 0; f < HT_MAX_FIELDS; f++) {
        ht_buffer_destroy(s->u[f]);
        s->u[f] = NULL;
    }
    free(s->value);
    s->value = NULL;
}

static void judge(struct ht_device *device) {
    static const int walls[][3][2] = {{{0, 0}, {0, 0}, {0, 0}},
                                      {{1, -1}, {-1, 1}, {1, 1}},
                                      {{0, 0}, {1, -1}, {0, 0}},
                                      {{-1, -1}, {0, 0}, {-1, 1}},
                                      {{0, 0}, {0, 0}, {1, -1}}};
    static const int blocks[] = {1, 4, 4, 2, 1};
    struct scene s = {.device = device};
    bool fp64 = ht_device_info(s.device)->fp64;
    for (int dims = 1; dims <= 3; dims++)
        for (int c = 0; c < 5; c++) {
            char name[80];
            s.eq = ht_equations_make(ht_system_find("acoustic"), dims);
            s.spec = (struct ht_spec){.order = 1 + c % 3,
                                      .block = blocks[c],
                                      .sorted = c == 2,
                                      .fp64 = fp64 && blocks[c] != 4 && c != 0};
            make_grid(&s, dims, walls[c]);
            snprintf(name, sizeof name, "%d-D, walls %d, N = %d, block %d%s%s", dims, c,
                     s.spec.order, s.spec.block, s.spec.sorted ? " sorted" : "",
                     s.spec.fp64 ? ", double" : ", single");
            run(&s, name);
        }
}

int main(void) {
    return test_on_device("ghosts", judge);
}
