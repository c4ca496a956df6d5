/* Absorbing layers of finite differences (docs/absorbing.md): where they lie in
 * a slab's window, what they remember, and their tasks. A perfectly matched
 * layer along x3 belongs to one rank, those along x1 and x2 to each for its
 * planes. A sponge remembers nothing: its planes belong to whoever has them.
 */
#include <math.h>
#include <stdlib.h>

#include "fd.h"

/* ---- plan ---- */

/* Nodes that a layer changes, from its wall. */
static int64_t reach_of(const struct ht_fd_layers *l, int side) {
    return l->sides.side[side].cells + (l->sponge ? 0 : l->radius);
}

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

static void add_cut(struct ht_fd_layers *l, const struct ht_fd_box *own,
                    const int at[3], const int64_t cut[3][4]) {
    struct ht_fd_zone zone = {.box = *own};
    bool empty = false;
    for (int k = 0; k < 3; k++) {
        zone.box.begin[k] = own->begin[k] + cut[k][at[k]];
        zone.box.end[k] = own->begin[k] + cut[k][at[k] + 1];
        empty = empty || zone.box.begin[k] >= zone.box.end[k];
    }
    for (int i = 0; i < l->sides.count; i++) {
        const struct ht_fd_side *side = &l->sides.side[i];
        const int64_t reach = reach_of(l, i);
        const bool inside =
            side->side == 0 ? zone.box.begin[side->axis] < side->wall + reach
                            : zone.box.end[side->axis] - 1 > side->wall - reach;
        if (inside) zone.side[zone.sides++] = i;
    }
    if (!empty) l->zone[l->zones++] = zone;
}

/* Cuts the own nodes where layers end that change them: boxes of one kind. */
static void find_zones(struct ht_fd_stepper *s) {
    struct ht_fd_layers *l = &s->layers;
    int64_t cut[3][4];
    for (int k = 0; k < 3; k++) {
        const int64_t nodes = s->box.end[k] - s->box.begin[k];
        cut[k][0] = cut[k][1] = 0;
        cut[k][2] = cut[k][3] = nodes;
        for (int i = 0; i < l->sides.count; i++) {
            const struct ht_fd_side *side = &l->sides.side[i];
            const int64_t reach = ht_least(reach_of(l, i), nodes);
            if (side->axis != k) continue;
            cut[k][side->side == 0 ? 1 : 2] =
                side->side == 0 ? reach : nodes - reach;
        }
        if (cut[k][1] > cut[k][2]) { /* both change what lies between */
            const int64_t low = cut[k][2];
            cut[k][2] = cut[k][1];
            cut[k][1] = low;
        }
    }
    for (int n = 0; n < 27; n++)
        add_cut(l, &s->box, (const int[3]){n % 3, n / 3 % 3, n / 9},
                (const int64_t(*)[4])cut);
}

void ht_fd_layers_plan(struct ht_fd_stepper *s) {
    struct ht_fd_layers *l = &s->layers;
    l->radius = ht_fd_layer_radius(&s->engine.spec);
    if (s->problem.layers == NULL) return;
    l->sponge = s->problem.layers->type == HT_ABSORBING_SPONGE;
    l->organisation = s->problem.fd.organisation;
    for (int k = 0; k < s->engine.spec.dims; k++)
        for (int side = 0; side < 2; side++) add_side(s, k, side);
    if (!l->sponge) find_zones(s);
    s->slab.layers = l->sides.count > 0;
}

/* ---- memory ---- */

enum { MEMORIES = 4 };
static void list_memories(struct ht_fd_layers *l,
                          struct ht_fd_array *list[MEMORIES]) {
    list[0] = &l->v;
    list[1] = &l->q;
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
        out[i] = expm1(-2 * between * tau);
        out[side->cells + i] = expm1(-between * tau);
        out[2 * side->cells + i] = exp(-sigma * tau);
        out[3 * side->cells + i] =
            sigma > 0 ? -expm1(-sigma * tau) / sigma : tau;
        out[4 * side->cells + i] = sigma;
    }
}

enum ht_err ht_fd_layers_create(struct ht_fd_stepper *s) {
    struct ht_fd_layers *l = &s->layers;
    struct ht_fd_array *list[MEMORIES];
    double *profile = NULL;
    if (l->sides.count == 0) return HT_OK;
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

/* ---- tasks ---- */

enum ht_err ht_fd_layers_flux(struct ht_fd_stepper *s,
                              const struct ht_fd_law *law,
                              struct ht_fd_array u) {
    s->layers.remember = true;
    for (int i = 0; i < s->layers.sides.count && !s->layers.sponge; i++) {
        const struct ht_fd_side *side = &s->layers.sides.side[i];
        struct ht_fd_box box = s->box;
        box.begin[side->axis] = 0;
        box.end[side->axis] = side->cells;
        TRY(s->engine.ops->layer_flux(&s->engine, &box, side, law, &s->layers,
                                      u));
    }
    return HT_OK;
}

static struct ht_fd_box meet(const struct ht_fd_box *a,
                             const struct ht_fd_box *b) {
    struct ht_fd_box out = *a;
    for (int k = 0; k < 3; k++) {
        out.begin[k] = ht_most(a->begin[k], b->begin[k]);
        out.end[k] = ht_least(a->end[k], b->end[k]);
    }
    return out;
}

bool ht_fd_layers_interior(const struct ht_fd_stepper *s,
                           const struct ht_fd_box *box, struct ht_fd_box *out) {
    const struct ht_fd_layers *l = &s->layers;
    *out = *box;
    if (l->sides.count == 0 || l->sponge ||
        l->organisation == HT_ORGANISATION_FACES)
        return true;
    for (int i = 0; l->organisation == HT_ORGANISATION_REGIONS && i < l->zones;
         i++)
        if (l->zone[i].sides == 0) {
            *out = meet(box, &l->zone[i].box);
            return out->begin[2] < out->end[2];
        }
    return false;
}

/* The nodes of a box that a layer changes, counted from its wall. */
static struct ht_fd_box from_wall(const struct ht_fd_layers *l, int i,
                                  const struct ht_fd_box *box) {
    const struct ht_fd_side *side = &l->sides.side[i];
    const int k = side->axis;
    struct ht_fd_box out = *box;
    out.begin[k] = side->side == 0 ? box->begin[k] - side->wall
                                   : side->wall - box->end[k] + 1;
    out.end[k] = out.begin[k] + box->end[k] - box->begin[k];
    out.begin[k] = ht_most(out.begin[k], 0);
    out.end[k] = ht_least(out.end[k], reach_of(l, i));
    return out;
}

static enum ht_err update_zone(struct ht_fd_stepper *s, enum ht_step_part part,
                               const struct ht_fd_box *box,
                               const struct ht_fd_zone *zone,
                               const struct ht_fd_law *law,
                               struct ht_fd_array u, struct ht_fd_array d,
                               struct ht_fd_array out) {
    const struct ht_fd_side *side[HT_FD_MOST_SIDES];
    const struct ht_fd_box targets = meet(box, &zone->box);
    if (targets.begin[2] >= targets.end[2]) return HT_OK;
    for (int i = 0; i < zone->sides; i++)
        side[i] = &s->layers.sides.side[zone->side[i]];
    return s->engine.ops->layer_update(&s->engine, part, &targets, zone->sides,
                                       side, law, &s->layers, u, d, out);
}

static enum ht_err damp(struct ht_fd_stepper *s, enum ht_step_part part,
                        const struct ht_fd_box *box, struct ht_fd_array d,
                        struct ht_fd_array u) {
    const struct ht_fd_layers *l = &s->layers;
    for (int i = 0; i < l->sides.count; i++) {
        const struct ht_fd_box face = from_wall(l, i, box);
        TRY(s->engine.ops->layer_damp(&s->engine, part, &face,
                                      &l->sides.side[i], l, u, d));
    }
    return HT_OK;
}

/* One zone, with all layers in it. */
static struct ht_fd_zone everything(const struct ht_fd_stepper *s) {
    struct ht_fd_zone zone = {.box = s->box, .sides = s->layers.sides.count};
    for (int i = 0; i < zone.sides; i++) zone.side[i] = i;
    return zone;
}

enum ht_err ht_fd_layers_step(struct ht_fd_stepper *s, enum ht_step_part part,
                              const struct ht_fd_box *box,
                              const struct ht_fd_law *law, struct ht_fd_array u,
                              struct ht_fd_array d, struct ht_fd_array out) {
    const struct ht_fd_layers *l = &s->layers;
    if (l->sponge) return damp(s, part, box, d, out);
    if (l->organisation == HT_ORGANISATION_COMBINED) {
        const struct ht_fd_zone zone = everything(s);
        return update_zone(s, part, box, &zone, law, u, d, out);
    }
    for (int i = 0; l->organisation == HT_ORGANISATION_REGIONS && i < l->zones;
         i++)
        if (l->zone[i].sides > 0)
            TRY(update_zone(s, part, box, &l->zone[i], law, u, d, out));
    for (int i = 0;
         l->organisation == HT_ORGANISATION_FACES && i < l->sides.count; i++) {
        const struct ht_fd_box face = from_wall(l, i, box);
        TRY(s->engine.ops->layer_correct(&s->engine, part, &face,
                                         &l->sides.side[i], law, l, u, d, out));
    }
    return HT_OK;
}
