/* The medium of staggered fields (htwave/medium.h, frame.c): values at points, averages in the
 * frame of a face.
 */
#include "medium_scene.h"

struct case_ {
    struct scene scene;
    struct ht_pair pair;
    struct ht_frame *frame;
    int64_t planes, n[2];
};

static enum ht_err open_case(struct case_ *c, const char *system, const int64_t *cells, int walls,
                             enum ht_fit_kind kind, const char *options) {
    *c = (struct case_){.scene = {.grid = make_grid(cells, 2, walls)}};
    must(open_scene(&c->scene, system, options));
    kind = ht_frame_kind(c->scene.medium, kind);
    if (ht_pair_make(&c->scene.eq, kind != HT_FIT_POINT, &c->pair) != NULL) exit(1);
    c->planes = ht_grid_planes(&c->scene.grid, HT_PRIMARY);
    for (int k = 0; k < 2; k++) c->n[k] = ht_grid_nodes(&c->scene.grid, HT_PRIMARY, k);
    return ht_frame_create(c->scene.medium, &c->pair, kind, &c->frame);
}

static void close_case(struct case_ *c) {
    ht_frame_destroy(c->frame);
    close_scene(&c->scene);
}

/* All coefficients, one after the other, filled by `parts` calls; the caller frees it. */
static double *filled(const struct case_ *c, int64_t parts) {
    const int64_t plane = c->n[0] * c->n[1];
    double *all, *out[HT_MAX_TERMS];
    must(HT_ALLOC(all, c->pair.ncoefficients * c->planes * plane));
    for (int64_t i = 0; i < parts; i++) {
        const int64_t first = c->planes * i / parts;
        for (int k = 0; k < c->pair.ncoefficients; k++)
            out[k] = all + (k * c->planes + first) * plane;
        must(ht_frame_fill(c->frame, first, c->planes * (i + 1) / parts, out));
    }
    return all;
}

/* Of coefficient k at node m. */
static double value_of(const struct case_ *c, const double *all, int k, const int64_t m[3]) {
    return all[((k * c->planes + m[2]) * c->n[1] + m[1]) * c->n[0] + m[0]];
}

#define ELASTIC(lambda, mu, rho)                                            \
    "medium.type=expression; medium.lambda=\"" lambda "\"; medium.mu=\"" mu \
    "\"; medium.rho=\"" rho "\""

/* ---- values at points ---- */

/* The place of a node's point of a parity, back in the box. */
static void place(const struct case_ *c, unsigned parity, const int64_t m[3], double x[3]) {
    const struct ht_grid *grid = &c->scene.grid;
    for (int k = 0; k < 3; k++) {
        const double half = parity >> k & 1u ? grid->h[k] / 2 : 0;
        x[k] = ht_grid_x(grid, HT_PRIMARY, k, m[k]) + half;
        if (x[k] <= grid->upper[k]) continue;
        x[k] = ht_grid_periodic(grid, k) ? x[k] - (grid->upper[k] - grid->lower[k])
                                         : 2 * grid->upper[k] - x[k];
    }
}

static double off_points(const struct case_ *c, const double *all) {
    double worst = 0;
    for (int k = 0; k < c->pair.ncoefficients; k++) {
        const struct ht_pair_coefficient *of = &c->pair.coefficient[k];
        for (int64_t n = 0; n < c->planes * c->n[1] * c->n[0]; n++) {
            const int64_t m[3] = {n % c->n[0], n / c->n[0] % c->n[1], n / c->n[0] / c->n[1]};
            double x[3], material[HT_MAX_MATERIALS];
            place(c, of->parity, m, x);
            must(ht_medium_point(c->scene.medium, x, material));
            worst = fmax(worst, fabs(value_of(c, all, k, m) - material[of->material]));
        }
    }
    return worst;
}

static void test_points(void) {
    static const struct {
        const char *name, *options;
        int64_t cells[3];
        int walls;
    } cases[] = {
        {"3-D",
         ELASTIC("2+0.3*sin(2*pi*x1)*cos(2*pi*x2)*sin(2*pi*x3)", "1", "1.5+x1*x2"),
         {5, 4, 6},
         5},
        {"of x1 and x3", ELASTIC("2+x3*(1-x3)", "1+x1*x1", "1.5"), {5, 4, 6}, 2},
        {"of x2", ELASTIC("3", "0.5+0.2*sin(2*pi*x2)", "1"), {6, 7, 0}, 1},
        {"1-D", ELASTIC("3+x1", "0.5", "1+x1"), {9, 0, 0}, 0},
        {"numbers", ELASTIC("3", "0", "1.1"), {5, 4, 3}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct case_ c;
        must(open_case(&c, "elastic", cases[i].cells, cases[i].walls, HT_FIT_POINT,
                       cases[i].options));
        double *whole = filled(&c, 1), *parts = filled(&c, c.planes < 3 ? 1 : 3);
        const size_t bytes = (size_t)(c.pair.ncoefficients * c.planes * c.n[0] * c.n[1]) * 8;
        TEST_BELOW(off_points(&c, whole), 1e-14, "points, %s: off the materials by", cases[i].name);
        TEST_CHECK(memcmp(whole, parts, bytes) == 0, "points, %s: equal in parts", cases[i].name);
        free(whole);
        free(parts);
        close_case(&c);
    }
}

int main(void) {
    test_points();
    return test_end("frame");
}
