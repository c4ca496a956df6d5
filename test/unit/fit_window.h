/* Media of finite differences for tests: a frame on a scene, and the windows by which a medium is
 * averaged, from their definitions (bench/NOTES.md). */
#pragma once

#include "medium_scene.h"

static inline double bessel(double x) {
    double sum = 1, term = 1;
    for (int k = 1; k < 60; k++) {
        term *= x / 2 / k;
        sum += term * term;
    }
    return sum;
}

static inline double kaiser(double r) {
    const double pi = acos(-1), shape = 5.125221525907206;
    if (fabs(r) >= 4) return 0;
    double sinc = r == 0 ? 1 : sin(pi * r) / (pi * r);
    return sinc * bessel(shape * sqrt(1 - r * r / 16));
}

/* The window of the definition; of the normal that of the sinc is a raised cosine. */
static inline double window(enum ht_fit_kind kind, bool normal, double r) {
    double s0 = 0, s1 = 0, s2 = 0;
    if (kind == HT_FIT_BOX) return fabs(r) < 0.5;
    if (normal) return fabs(r) < 4 ? (1 + cos(acos(-1.0) * r / 4)) / 8 : 0;
    for (int m = -9; m <= 9; m++) {
        s0 += kaiser(r - m);
        s1 += kaiser(r - m) * (r - m);
        s2 += kaiser(r - m) * (r - m) * (r - m);
    }
    return kaiser(r) * (s2 - s1 * r) / (s0 * s2 - s1 * s1);
}

/* Gauss's rule with six points, which weights add up to 2: places -1 to 1. */
static inline double gauss(int i, double *weight) {
    static const double place[3] = {0.23861918608319691, 0.66120938646626451, 0.93246951420315203};
    static const double weights[3] = {0.46791393457269104, 0.36076157304813861,
                                      0.17132449237917036};
    *weight = weights[i % 3];
    return i < 3 ? -place[i] : place[i % 3];
}

/* ---- a frame on a scene ---- */

struct case_ {
    struct scene scene;
    struct ht_pair pair;
    struct ht_frame *frame;
    int64_t planes, plane, count, n[2];
};

/* Of the form of second order, or with `pairs` of staggered fields. */
HT_PRINTF(7, 8)
static inline enum ht_err open_frame(struct case_ *c, bool pairs, const char *system,
                                     const int64_t *cells, int walls, enum ht_fit_kind kind,
                                     const char *options, ...) {
    TEST_TEXT(text, 1024, options);
    *c = (struct case_){.scene = {.grid = make_grid(cells, 2, walls)}};
    must(open_scene(&c->scene, system, "%s", text));
    if (pairs) kind = ht_frame_kind(c->scene.medium, kind);
    if (pairs && ht_pair_make(&c->scene.eq, kind == HT_FIT_POINT ? HT_PAIR_TOGETHER : HT_PAIR_APART,
                              &c->pair) != NULL)
        exit(1);
    c->planes = ht_grid_planes(&c->scene.grid, HT_PRIMARY);
    c->plane = ht_grid_plane(&c->scene.grid, HT_PRIMARY);
    c->count = c->planes * c->plane;
    for (int k = 0; k < 2; k++) c->n[k] = ht_grid_nodes(&c->scene.grid, HT_PRIMARY, k);
    return ht_frame_create(c->scene.medium, pairs ? &c->pair : NULL, kind, &c->frame);
}

static inline void close_case(struct case_ *c) {
    ht_frame_destroy(c->frame);
    close_scene(&c->scene);
}
