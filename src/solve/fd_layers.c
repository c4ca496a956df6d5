/* Absorbing layers of finite differences (docs/absorbing.md): where they lie in
 * a slab's window, what they remember, and their tasks. A perfectly matched
 * layer along x3 belongs to one rank, those along x1 and x2 to each for its
 * planes. A sponge remembers nothing: its planes belong to whoever has them.
 */
#include <math.h>
#include <stdlib.h>

#include "fd.h"
#include "methods.h"

/* ---- plan ---- */

/* Index in the window of the nodes on a wall, which another slab may have. */
static int64_t wall_of(const struct ht_fd_stepper *s, int axis, int side) {
    const int64_t first = axis == 2 ? s->first : 0;
    return s->box.begin[axis] - first +
           (side == 0 ? 0 : s->problem.grid->cells[axis]);
}

static void add_side(struct ht_fd_stepper *s, int axis, int side) {
    struct ht_fd_layers *l = &s->layers;
    struct ht_fd_sides *all = &l->sides;
    const int64_t cells = s->problem.layers->side[axis][side].cells;
    int64_t pitch = 1;
    const bool elsewhere = axis == 2 && s->slab.neighbour[side];
    if (cells == 0 || (elsewhere && !l->sponge)) return;
    struct ht_fd_side *out = &all->side[all->count++];
    *out = (struct ht_fd_side){.axis = axis,
                               .side = side,
                               .cells = cells,
                               .wall = wall_of(s, axis, side),
                               .offset = all->memory,
                               .profile = all->profiles};
    for (int k = 0; k < 3; k++) {
        out->pitch[k] = pitch;
        if (k != axis) out->offset -= s->box.begin[k] * pitch;
        pitch *= k == axis ? cells : s->box.end[k] - s->box.begin[k];
    }
    if (!l->sponge) all->memory += pitch;
    all->profiles += (l->sponge ? 1 : HT_FD_PROFILES) * cells;
}

void ht_fd_layers_plan(struct ht_fd_stepper *s) {
    struct ht_fd_layers *l = &s->layers;
    l->radius = ht_fd_layer_radius(&s->engine.spec);
    if (s->problem.layers == NULL) return;
    l->sponge = s->problem.layers->type == HT_ABSORBING_SPONGE;
    /* Plain loops correct what others have stepped. */
    l->organisation = s->engine.device == NULL ? HT_ORGANISATION_FACES
                                               : s->problem.fd.organisation;
    l->sides.beyond = l->sponge ? 0 : l->radius;
    for (int k = 0; k < s->engine.spec.dims; k++)
        for (int side = 0; side < 2; side++) add_side(s, k, side);
    s->slab.layers = l->sides.count > 0;
}

/* ---- memory ---- */

/* The first is what a step reads in place of the second. */
enum { MEMORIES = 1 + HT_FD_MEMORIES };
static void list_memories(struct ht_fd_layers *l,
                          struct ht_fd_array *list[MEMORIES]) {
    list[0] = &l->before;
    list[1] = &l->v;
    list[2] = &l->flow;
    list[3] = &l->rest;
}

int64_t ht_fd_layers_words(const struct ht_fd_stepper *s) {
    return MEMORIES * s->layers.sides.memory + s->layers.sides.profiles;
}

/* As in htwave/fd_layers.h; f -> dt/2 where sigma is 0. */
static void fill_profile(const struct ht_fd_stepper *s,
                         const struct ht_fd_side *side, double *out) {
    const double tau = s->problem.dt / 2;
    const double far = (double)s->problem.grid->cells[side->axis];
    for (int64_t i = 0; i < side->cells; i++) {
        const double at = side->side == 0 ? (double)i : far - (double)i;
        const double half = side->side == 0 ? at + 0.5 : at - 0.5;
        const double between =
            ht_layers_sigma(s->problem.layers, side->axis, half);
        const double sigma = ht_layers_sigma(s->problem.layers, side->axis, at);
        if (s->layers.sponge) {
            out[i] = exp(-2 * sigma * tau);
            continue;
        }
        double *of_cell = out + i * HT_FD_PROFILES;
        of_cell[0] = expm1(-2 * between * tau);
        of_cell[1] = expm1(-between * tau);
        of_cell[2] = exp(-sigma * tau);
        of_cell[3] = sigma > 0 ? -expm1(-sigma * tau) / sigma : tau;
        of_cell[4] = sigma;
    }
}

enum ht_err ht_fd_layers_create(struct ht_fd_stepper *s) {
    struct ht_fd_layers *l = &s->layers;
    struct ht_fd_array *list[MEMORIES];
    double *profile = NULL;
    if (l->sides.count == 0) return HT_OK;
    const int64_t apart = s->engine.spec.dims > 2   ? s->box.plane
                          : s->engine.spec.dims > 1 ? s->box.row
                                                    : 1;
    const int64_t most = ht_fd_layer_limit(&s->engine.spec);
    REQUIRE(apart <= most, HT_ERR_DEVICE,
            "absorbing layers: a %s of the grid has %lld numbers, with what "
            "lies beside it; at most %lld are possible",
            s->engine.spec.dims > 2 ? "plane" : "row", (long long)apart,
            (long long)most);
    list_memories(l, list);
    for (int i = 0; i < MEMORIES && !l->sponge; i++)
        TRY(s->engine.ops->create(&s->engine, l->sides.memory, list[i]));
    TRY(s->engine.ops->create(&s->engine, l->sides.profiles, &l->profile));
    TRY(HT_ALLOC(profile, l->sides.profiles));
    for (int i = 0; i < l->sides.count; i++)
        fill_profile(s, &l->sides.side[i], profile + l->sides.side[i].profile);
    const enum ht_err err = s->engine.ops->write(&s->engine, l->profile, 0,
                                                 l->sides.profiles, profile);
    free(profile);
    return err;
}

void ht_fd_layers_destroy(struct ht_fd_stepper *s) {
    struct ht_fd_array *list[MEMORIES];
    list_memories(&s->layers, list);
    for (int i = 0; i < MEMORIES; i++) s->engine.ops->destroy(list[i]);
    s->engine.ops->destroy(&s->layers.profile);
}

enum ht_err ht_fd_layers_clear(struct ht_fd_stepper *s) {
    struct ht_fd_array *list[MEMORIES];
    const int64_t most = 1 << 16, total = s->layers.sides.memory;
    double *zeros = NULL;
    if (total == 0 || !s->layers.remember) return HT_OK;
    list_memories(&s->layers, list);
    TRY(HT_ALLOC(zeros, ht_least(most, total)));
    enum ht_err err = HT_OK;
    for (int i = 0; i < MEMORIES; i++)
        for (int64_t at = 0; err == HT_OK && at < total; at += most)
            err = s->engine.ops->write(&s->engine, *list[i], at,
                                       ht_least(most, total - at), zeros);
    free(zeros);
    s->layers.remember = err != HT_OK;
    return err;
}

int64_t ht_fd_memory_numbers(const struct ht_stepper *stepper) {
    const struct ht_fd_stepper *s = ht_fd_stepper_of(stepper);
    return s == NULL ? 0 : s->layers.sides.memory;
}

enum ht_err ht_fd_memory_put(const struct ht_stepper *stepper, int which,
                             const double *values) {
    struct ht_fd_stepper *s = ht_fd_stepper_of(stepper);
    struct ht_fd_array *list[MEMORIES];
    list_memories(&s->layers, list);
    s->layers.remember = true;
    return s->engine.ops->write(&s->engine, *list[1 + which], 0,
                                s->layers.sides.memory, values);
}

enum ht_err ht_fd_memory_get(const struct ht_stepper *stepper, int which,
                             double *values) {
    struct ht_fd_stepper *s = ht_fd_stepper_of(stepper);
    struct ht_fd_array *list[MEMORIES];
    list_memories(&s->layers, list);
    return s->engine.ops->read(&s->engine, *list[1 + which], 0,
                               s->layers.sides.memory, values);
}

/* ---- tasks ---- */

void ht_fd_layers_turn(struct ht_fd_layers *l) {
    const struct ht_fd_array before = l->before;
    l->before = l->v;
    l->v = before;
}

bool ht_fd_layers_interior(const struct ht_fd_stepper *s,
                           const struct ht_fd_box *box, struct ht_fd_box *out) {
    const struct ht_fd_layers *l = &s->layers;
    struct ht_fd_zones zones;
    bool any = true;
    *out = *box;
    if (l->sides.count == 0 || l->sponge ||
        l->organisation == HT_ORGANISATION_FACES)
        return true;
    if (l->organisation == HT_ORGANISATION_COMBINED) return false;
    ht_fd_layer_zones(box, &l->sides, &zones);
    for (int k = 0; k < 3; k++) {
        out->begin[k] = zones.cut[k][1];
        out->end[k] = zones.cut[k][2];
        any = any && zones.layers[k][1] == 0 && out->begin[k] < out->end[k];
    }
    return any;
}

enum ht_err ht_fd_layers_step(struct ht_fd_stepper *s, enum ht_step_part part,
                              const struct ht_fd_box *box,
                              const struct ht_fd_law *law, struct ht_fd_array u,
                              struct ht_fd_array d, struct ht_fd_array out) {
    s->layers.remember = true;
    return s->engine.ops->layers(&s->engine, part, box, law, &s->layers, u, d,
                                 out);
}
