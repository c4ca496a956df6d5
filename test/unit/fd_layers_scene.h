/* Scenes of absorbing layers of finite differences for the tests, and steps of them: media, boxes,
 * layers, and the damping that runs take. */
#pragma once

#include "steps.h"

struct scene {
    double slow; /* 0: random; else 1/K of nodes x1 < wide in the middle */
    int64_t wide;
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_layers layers;
    struct ht_problem problem;
    double contrast;
};

/* Between 1 and the contrast, constant along normals in layers. */
static inline enum ht_err fill(const void *context, int what, int64_t first, int64_t last,
                               double *out) {
    const struct scene *s = context;
    const int64_t n1 = ht_grid_nodes(&s->grid, HT_PRIMARY, 0);
    const int64_t n2 = ht_grid_nodes(&s->grid, HT_PRIMARY, 1);
    for (int64_t m3 = first; m3 < last; m3++)
        for (int64_t m2 = 0; m2 < n2; m2++)
            for (int64_t m1 = 0; m1 < n1; m1++) {
                const int64_t m[3] = {ht_layers_inside(&s->grid, 0, what == 1, m1),
                                      ht_layers_inside(&s->grid, 1, what == 2, m2),
                                      ht_layers_inside(&s->grid, 2, what == 3, m3)};
                const int64_t node = (m[2] * n2 + m[1]) * n1 + m[0];
                if (s->slow > 0) {
                    const bool in = llabs(m1 - n1 / 2) < s->wide;
                    *out++ = what == 0 && in ? s->slow : 1;
                    continue;
                }
                *out++ = pow(s->contrast,
                             0.5 + 0.5 * ht_rng_uniform(3, 4u * (uint64_t)node + (unsigned)what));
            }
    return HT_OK;
}

struct given {
    const char *name;
    int dims, order;
    double contrast;
    int64_t cells[3];
    int wall[3][2];
    int64_t layer[3][2];
    bool density, guided; /* guided: one axis of more */
};

/* dt is part of the largest stable step of the largest speed. */
static inline void make(struct scene *s, const struct given *g, double part) {
    *s = (struct scene){.contrast = g->contrast,
                        .layers = {.type = HT_ABSORBING_CPML, .dims = g->dims}};
    s->eq =
        ht_equations_make(ht_system_find(strstr(g->name, "wave") ? "wave" : "acoustic"), g->dims);
    s->grid = (struct ht_grid){.dims = g->dims};
    for (int k = 0; k < 3; k++) {
        s->grid.cells[k] = s->layers.cells[k] = k < g->dims ? g->cells[k] : 1;
        s->grid.h[k] = 1;
        s->grid.upper[k] = (double)s->grid.cells[k];
        for (int side = 0; side < 2; side++) {
            struct ht_layer *layer = &s->layers.side[k][side];
            s->grid.wall[k][side] = g->wall[k][side];
            s->grid.layer[k][side] = layer->cells = g->layer[k][side];
            if (layer->cells == 0) continue;
            s->grid.wall[k][side] = -1;
            (g->dims > 1 || g->guided ? ht_layers_usual : ht_layers_usual_line)(HT_ABSORBING_CPML,
                                                                                g->order, layer);
            ht_layer_scale(layer, 1, 1);
        }
    }
    const struct ht_fd_weights w = ht_fd_weights(g->order);
    const double wide = ht_fd_first_symbol(&w, acos(-1.0));
    const double symbol =
        g->density ? wide * wide * g->contrast : ht_fd_second_symbol(&w, acos(-1.0));
    s->problem = (struct ht_problem){.eq = &s->eq,
                                     .grid = &s->grid,
                                     .medium_degree = 0,
                                     .stages = 1,
                                     .dt = part * 2 / sqrt(symbol * g->dims * g->contrast),
                                     .layers = &s->layers,
                                     .fd = {.order = g->order,
                                            .density = g->density,
                                            .inverse_density = 1,
                                            .fill = fill,
                                            .medium = s}};
    (void)ht_problem_set_scheme(&s->problem, ht_scheme_at(HT_DIFFERENCES));
}

/* Before rigid walls. */
static inline void be_sponge(struct scene *s) {
    s->layers.type = HT_ABSORBING_SPONGE;
    for (int n = 0; n < 6; n++) {
        struct ht_layer *layer = &s->layers.side[n / 2][n % 2];
        const int64_t cells = layer->cells;
        if (cells == 0) continue;
        *layer = (struct ht_layer){.cells = cells};
        s->grid.wall[n / 2][n % 2] = 1;
        ht_layers_usual(HT_ABSORBING_SPONGE, 0, layer);
        ht_layer_scale(layer, 1, 1);
    }
}

static inline void step(const struct ht_stepper *stepper, int count) {
    must(ht_stepper_advance(stepper, count));
}
