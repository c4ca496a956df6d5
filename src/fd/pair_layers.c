/* Absorbing layers of pairs (docs/absorbing.md): where they lie in a slab's window, their profiles
 * and what they remember. A layer changes a node by what it remembers of this node alone: ranks
 * share it as they share the nodes.
 */
#include <math.h>
#include <stdlib.h>

#include "fd.h"
#include "src/solve/methods.h"

enum ht_pair_damping ht_pair_damping_of(const struct ht_problem *problem) {
    if (problem->layers == NULL) return HT_PAIR_UNDAMPED;
    if (problem->layers->type == HT_ABSORBING_SPONGE) return HT_PAIR_SPONGE;
    return problem->layers->mix > 0 ? HT_PAIR_MIXED : HT_PAIR_MATCHED;
}

/* ---- plan ---- */

/* Of group 0: the other one has the same differences, transposed. */
static int slots_of(const struct ht_pair_stepper *s, int axis) {
    return ht_pair_slots(&s->pair, s->damping, 0, axis);
}

/* Nodes of the whole grid whose own point or half point above is damped; index in the window. A
 * sponge remembers nothing: it has the neighbours' planes, too. */
static void plan_layer(struct ht_pair_stepper *s, int axis, int side) {
    struct ht_pair_layers *all = &s->layers;
    const int i = 2 * axis + side;
    const int64_t cells = s->fd.problem.layers->side[axis][side].cells;
    const int64_t first = s->fd.box.begin[axis] - (axis == 2 ? s->fd.first : 0);
    const int64_t far = first + s->fd.problem.grid->cells[axis];
    int64_t nodes = 1;
    if (cells == 0) return;
    for (int k = 0; k < 3; k++) {
        all->layer[i].begin[k] = s->fd.box.begin[k];
        all->layer[i].end[k] = s->fd.box.end[k];
    }
    int64_t *begin = &all->layer[i].begin[axis], *end = &all->layer[i].end[axis];
    const bool sponge = s->damping == HT_PAIR_SPONGE;
    const int64_t low = side == 0 ? first : far - cells;
    const int64_t high = side == 0 ? first + cells : far + 1;
    *begin = sponge ? low : ht_least(ht_most(low, *begin), *end);
    *end = sponge ? high : ht_most(ht_least(high, *end), *begin);
    for (int k = 0; k < 3; k++) nodes *= all->layer[i].end[k] - all->layer[i].begin[k];
    all->layer[i].memory = all->memory;
    all->layer[i].profile = all->profiles;
    all->memory += slots_of(s, axis) * nodes;
    all->profiles += (int64_t)2 * ht_pair_profiles(s->damping) * (*end - *begin);
}

void ht_pair_layers_plan(struct ht_pair_stepper *s) {
    s->damping = ht_pair_damping_of(&s->fd.problem);
    for (int i = 0; i < 6 && s->damping != HT_PAIR_UNDAMPED; i++) plan_layer(s, i / 2, i % 2);
}

/* ---- memory ---- */

int64_t ht_pair_layers_words(const struct ht_pair_stepper *s) {
    if (s->damping == HT_PAIR_UNDAMPED) return 0;
    return 2 * (s->layers.memory + HT_PAIR_BEYOND) + s->layers.profiles + HT_PAIR_BEYOND;
}

/* b and a of cl/pair_layers.cl, `apart` numbers from each other. */
static void set_filter(double sigma, double alpha, double dt, int64_t apart, double *out) {
    out[0] = exp(-(sigma + alpha) * dt);
    out[apart] = sigma > 0 ? sigma * (out[0] - 1) / (sigma + alpha) : 0;
}

/* What cl/pair_layers.cl has of a point. */
static void fill_point(const struct ht_pair_stepper *s, int axis, double at, int64_t apart,
                       double *out) {
    const struct ht_layers *layers = s->fd.problem.layers;
    const struct ht_stretch stretch = ht_layers_stretch(layers, axis, at);
    const double dt = s->fd.problem.dt;
    if (s->damping == HT_PAIR_SPONGE) {
        out[0] = exp(-stretch.sigma * dt);
        return;
    }
    set_filter(stretch.sigma, stretch.alpha, dt, apart, out);
    if (s->damping == HT_PAIR_MIXED)
        set_filter(layers->mix * stretch.sigma, stretch.alpha, dt, apart, out + 2 * apart);
}

static void fill_profile(const struct ht_pair_stepper *s, int i, double *out) {
    const int axis = i / 2, numbers = ht_pair_profiles(s->damping);
    const int64_t begin = s->layers.layer[i].begin[axis], end = s->layers.layer[i].end[axis];
    const int64_t first = s->fd.box.begin[axis] - (axis == 2 ? s->fd.first : 0);
    for (int half = 0; half < 2; half++)
        for (int64_t m = begin; m < end; m++)
            fill_point(s, axis, (double)(m - first) + 0.5 * half, end - begin,
                       out + (int64_t)half * numbers * (end - begin) + m - begin);
}

enum ht_err ht_pair_layers_create(struct ht_pair_stepper *s) {
    struct ht_fd_engine *e = &s->fd.engine;
    const struct ht_pair_layers *all = &s->layers;
    double *profile = NULL;
    if (s->damping == HT_PAIR_UNDAMPED) return HT_OK;
    for (int group = 0; group < 2; group++)
        TRY(e->ops->create(e, all->memory + HT_PAIR_BEYOND, &s->memory[group]));
    TRY(e->ops->create(e, all->profiles + HT_PAIR_BEYOND, &s->profile));
    if (all->profiles == 0) return HT_OK;
    TRY(HT_ALLOC(profile, all->profiles));
    for (int i = 0; i < 6; i++) fill_profile(s, i, profile + all->layer[i].profile);
    const enum ht_err err = e->ops->write(e, s->profile, 0, all->profiles, profile);
    free(profile);
    return err;
}

void ht_pair_layers_destroy(struct ht_pair_stepper *s) {
    for (int group = 0; group < 2; group++) s->fd.engine.ops->destroy(&s->memory[group]);
    s->fd.engine.ops->destroy(&s->profile);
}
