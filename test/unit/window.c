/* Windows and their ghosts: every node outside the held ones is a ghost of one
 * box, and each ghost is the node that ht_grid_source names, with its sign. The
 * shift of a half step leads from a target to its lower source.
 */
#include "test.h"

#include "ghost_args.h"
#include "htwave/window.h"

enum { MOST = 16 * 16 * 16 };

/* What the boxes say of each node of a window. */
struct image {
    int times; /* boxes that it lies in */
    int64_t source;
    int mirrored, factor;
};

static void collect(const struct ht_grid *grid, enum ht_mesh mesh,
                    const struct ht_window *w, struct image *out) {
    struct ht_ghost_box box[HT_MAX_GHOST_BOXES];
    int64_t ghosts = ht_window_nodes(w) - ht_box_nodes(&w->held);
    int boxes = ht_window_ghosts(grid, mesh, w, box);
    for (int b = 0; b < boxes; b++) {
        int64_t end = b + 1 < boxes ? box[b + 1].first : ghosts;
        for (int64_t n = 0; n < end - box[b].first; n++) {
            int64_t i1 = n % box[b].count[0];
            int64_t i2 = n / box[b].count[0] % box[b].count[1];
            int64_t i3 = n / box[b].count[0] / box[b].count[1];
            int64_t to = box[b].to + i1 + i2 * ht_window_row(w) +
                         i3 * ht_window_plane(w);
            if (to < 0 || to >= ht_window_nodes(w)) continue;
            out[to].times++;
            out[to].source = box[b].from + i1 * box[b].step[0] +
                             i2 * box[b].step[1] + i3 * box[b].step[2];
            out[to].mirrored = box[b].mirrored;
            out[to].factor = box[b].factor;
        }
    }
}

/* The node that stands for node m[3] of a window. */
static struct image expected(const struct ht_grid *grid, enum ht_mesh mesh,
                             const struct ht_window *w, const int64_t m[3]) {
    struct image e = {.times = 1, .factor = 1};
    int64_t at[3];
    for (int k = 0; k < 3; k++) {
        int factor;
        bool mirrored;
        at[k] = m[k];
        if (m[k] >= w->held.begin[k] && m[k] < w->held.end[k]) continue;
        at[k] = ht_grid_source(grid, mesh, k, w->origin[k] + m[k], &factor,
                               &mirrored) -
                w->origin[k];
        if (mirrored) e.mirrored |= 1 << k;
        e.factor *= factor;
    }
    e.source = ht_window_at(w, at[0], at[1], at[2]);
    return e;
}

static int count_wrong(const struct ht_grid *grid, enum ht_mesh mesh,
                       int *ghosts) {
    const struct ht_window w = ht_window_make(grid, mesh, 0, 0);
    static struct image image[MOST];
    int wrong = 0;
    for (int n = 0; n < MOST; n++) image[n] = (struct image){0};
    collect(grid, mesh, &w, image);
    for (int64_t n = 0; n < ht_window_nodes(&w); n++) {
        const int64_t m[3] = {n % w.count[0], n / w.count[0] % w.count[1],
                              n / w.count[0] / w.count[1]};
        bool held = true;
        for (int k = 0; k < 3; k++)
            held = held && m[k] >= w.held.begin[k] && m[k] < w.held.end[k];
        const struct image e = expected(grid, mesh, &w, m), *g = &image[n];
        if (held)
            wrong += g->times != 0;
        else
            wrong += g->times != 1 || g->source != e.source ||
                     g->mirrored != e.mirrored || g->factor != e.factor;
        *ghosts += !held;
    }
    return wrong;
}

/* Sources of all targets along an axis, those of a box half as long too. */
static int count_shifted(const struct ht_grid *grid, enum ht_mesh from) {
    enum ht_mesh to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const struct ht_window source = ht_window_make(grid, from, 0, 0);
    const struct ht_window target = ht_window_make(grid, to, 0, 0);
    int64_t shift[3], period;
    int wrong = 0;
    ht_window_shift(grid, from, &source, &target, shift, &period);
    for (int k = 0; k < grid->dims; k++)
        for (int64_t m = target.own.begin[k]; m < target.own.end[k]; m++)
            for (int side = 0; side < 2; side++) {
                int64_t i = m + shift[k] + side;
                int64_t wanted = target.origin[k] + m + side -
                                 (from == HT_DUAL ? 1 : 0) - source.origin[k];
                int64_t n = ht_grid_nodes(grid, from, 0);
                if (k == 0 && i >= period) i -= period;
                if (k == 0 && ht_grid_periodic(grid, 0))
                    wanted = (wanted + n) % n;
                wrong += i != wanted || i < 0 || i >= source.count[k];
            }
    return wrong;
}

int main(void) {
    static const int walls[][3][2] = {{{0, 0}, {0, 0}, {0, 0}},
                                      {{1, -1}, {-1, 1}, {1, 1}},
                                      {{0, 0}, {1, -1}, {0, 0}},
                                      {{-1, -1}, {0, 0}, {-1, 1}},
                                      {{0, 0}, {0, 0}, {1, -1}}};
    for (int dims = 1; dims <= 3; dims++)
        for (size_t c = 0; c < sizeof walls / sizeof walls[0]; c++) {
            struct ht_grid grid = {.dims = dims, .order = 2};
            int wrong[2] = {0}, ghosts[2] = {0}, shifted = 0;
            for (int k = 0; k < 3; k++) {
                grid.cells[k] = k < dims ? 3 + 2 * k : 1;
                grid.h[k] = 1;
                for (int side = 0; side < 2; side++)
                    grid.wall[k][side] = k < dims ? walls[c][k][side] : 0;
            }
            for (int mesh = 0; mesh < 2; mesh++) {
                wrong[mesh] = count_wrong(&grid, mesh ? HT_DUAL : HT_PRIMARY,
                                          &ghosts[mesh]);
                shifted += count_shifted(&grid, mesh ? HT_DUAL : HT_PRIMARY);
            }
            TEST_CHECK(wrong[0] + wrong[1] + shifted == 0,
                       "%d-D, walls %d: %d of %d primary and %d of %d dual "
                       "ghosts are wrong, %d sources (bound 0)",
                       dims, (int)c, wrong[0], ghosts[0], wrong[1], ghosts[1],
                       shifted);
        }
    return test_end("window");
}
