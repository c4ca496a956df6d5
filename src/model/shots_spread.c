/* Shots at the nodes of the primary grid: lists of nodes with weights.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/shots.h"

/* ---- points and lines ---- */

/* Adds factor times the nodes of a point on some planes to a list that has room for them. */
static void append(struct ht_point *list, const struct ht_point *point, const bool *planes,
                   double factor) {
    for (int i = 0; i < point->count; i++) {
        if (planes != NULL && !planes[point->node[i].m[2]]) continue;
        list->node[list->count] = point->node[i];
        list->node[list->count++].weight *= factor;
    }
}

static enum ht_err reserve(struct ht_point *list, int64_t *room, int64_t more) {
    REQUIRE((int64_t)list->count + more < INT_MAX / 2, HT_ERR_MEMORY,
            "a source of more than %d nodes", INT_MAX / 2);
    return ht_mem_grow(list->count + more, sizeof *list->node, &list->node, room);
}

static int compare(const void *a, const void *b) {
    const int64_t *x = ((const struct ht_point_node *)a)->m;
    const int64_t *y = ((const struct ht_point_node *)b)->m;
    for (int k = 2; k >= 0; k--)
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    const double v = ((const struct ht_point_node *)a)->weight;
    const double w = ((const struct ht_point_node *)b)->weight;
    return v < w ? -1 : v > w;
}

/* Sorts, and adds up what falls on one node, in an order that weights define.
 */
static void merge(struct ht_point *list) {
    int kept = 0;
    qsort(list->node, (size_t)list->count, sizeof *list->node, compare);
    for (int i = 0; i < list->count; i++) {
        const struct ht_point_node *node = &list->node[i];
        struct ht_point_node *last = &list->node[kept - (kept > 0)];
        if (kept > 0 && memcmp(node->m, last->m, sizeof node->m) == 0)
            last->weight += node->weight;
        else
            list->node[kept++] = *node;
    }
    list->count = kept;
}

/* The delta of one point, or -div of direction/rho delta: the derivative of the delta by its place,
 * times 1/rho there. */
static enum ht_err add_point(const struct ht_shot *shot, const struct ht_medium *medium,
                             const double x[3], const bool *planes, struct ht_point *list,
                             int64_t *room) {
    const bool force = shot->kind == HT_SHOT_FORCE;
    double factor = 1;
    if (force) TRY(ht_medium_parameter(medium, "1/rho", x, &factor));
    for (int k = 0; k < (force ? medium->grid->dims : 1); k++) {
        struct ht_point point;
        if (force && shot->direction[k] == 0) continue;
        enum ht_err err = ht_point_spread(medium->grid, x, force ? k : -1, &point);
        if (err == HT_OK) err = reserve(list, room, point.count);
        if (err == HT_OK) append(list, &point, planes, force ? factor * shot->direction[k] : 1);
        ht_point_free(&point);
        TRY(err);
    }
    return HT_OK;
}

static enum ht_err spread_points(const struct ht_shot *shot, const struct ht_medium *medium,
                                 const bool *planes, struct ht_point *out) {
    int64_t room = 0;
    for (int i = 0; i < shot->points; i++) {
        double x[3];
        ht_shot_position(shot, i, x);
        TRY(add_point(shot, medium, x, planes, out, &room));
    }
    merge(out);
    return HT_OK;
}

/* ---- planes and volumes: products of an array per axis ---- */

struct product {
    int64_t nodes[3];
    double *weight[3]; /* [node] */
};

static void free_product(struct product *product) {
    for (int k = 0; k < 3; k++) free(product->weight[k]);
}

/* slope: the axis that takes the derivative by the place; -1: none. */
static enum ht_err make_product(const struct ht_shot *shot, const struct ht_grid *grid, int slope,
                                struct product *out) {
    for (int k = 0; k < 3; k++) {
        struct ht_point_axis list;
        out->nodes[k] = k < grid->dims ? ht_grid_nodes(grid, HT_PRIMARY, k) : 1;
        TRY(HT_ALLOC(out->weight[k], out->nodes[k]));
        if (shot->type == HT_SHOT_VOLUME) {
            ht_point_axis_gaussian(grid, k, shot->first[k], shot->width, k == slope,
                                   out->weight[k]);
            continue;
        }
        if (k != shot->axis) {
            ht_point_axis_constant(grid, k, out->weight[k]);
            continue;
        }
        ht_point_axis_spread(grid, k, shot->first[k], k == slope, &list);
        for (int i = 0; i < list.count; i++) out->weight[k][list.node[i]] += list.weight[i];
    }
    return HT_OK;
}

static int64_t count_used(const struct product *p, int axis, const bool *planes) {
    const bool *wanted = axis == 2 ? planes : NULL;
    int64_t count = 0;
    for (int64_t m = 0; m < p->nodes[axis]; m++)
        count += p->weight[axis][m] != 0 && (wanted == NULL || wanted[m]);
    return count;
}

/* 1/rho where a force acts on a node: on the plane beside it, or at the centre of the volume. */
static enum ht_err density_at(const struct ht_shot *shot, const struct ht_medium *medium,
                              const int64_t m[3], double *out) {
    double x[3];
    memcpy(x, shot->first, sizeof x);
    for (int k = 0; k < 3 && shot->type == HT_SHOT_PLANE; k++)
        if (k != shot->axis) x[k] = ht_grid_x(medium->grid, HT_PRIMARY, k, m[k]);
    return ht_medium_parameter(medium, "1/rho", x, out);
}

/* Adds the nodes of the product on some planes, times direction / rho of a force along axis
 * `slope`. */
static enum ht_err multiply(const struct ht_shot *shot, const struct ht_medium *medium, int slope,
                            const struct product *p, const bool *planes, struct ht_point *list) {
    const double *const *w = (const double *const *)p->weight;
    int64_t m[3];
    double factor = 1;
    bool known = slope < 0;
    for (m[2] = 0; m[2] < p->nodes[2]; m[2]++)
        for (m[1] = 0; m[1] < p->nodes[1]; m[1]++) {
            if (planes != NULL && !planes[m[2]]) continue;
            if (w[2][m[2]] == 0 || w[1][m[1]] == 0) continue;
            for (m[0] = 0; m[0] < p->nodes[0]; m[0]++) {
                if (w[0][m[0]] == 0) continue;
                if (!known) TRY(density_at(shot, medium, m, &factor));
                known = slope < 0 || shot->type == HT_SHOT_VOLUME || medium->uniform;
                list->node[list->count] =
                    (struct ht_point_node){.weight = w[0][m[0]] * w[1][m[1]] * w[2][m[2]] * factor *
                                                     (slope < 0 ? 1 : shot->direction[slope])};
                memcpy(list->node[list->count++].m, m, sizeof m);
            }
        }
    return HT_OK;
}

static enum ht_err add_product(const struct ht_shot *shot, const struct ht_medium *medium,
                               int slope, const bool *planes, struct ht_point *out, int64_t *room) {
    struct product p = {.nodes = {0}};
    enum ht_err err = make_product(shot, medium->grid, slope, &p);
    const int64_t nodes =
        err == HT_OK ? count_used(&p, 0, NULL) * count_used(&p, 1, NULL) * count_used(&p, 2, planes)
                     : 0;
    if (err == HT_OK) err = reserve(out, room, nodes);
    if (err == HT_OK) err = multiply(shot, medium, slope, &p, planes, out);
    free_product(&p);
    return err;
}

static enum ht_err spread_product(const struct ht_shot *shot, const struct ht_medium *medium,
                                  const bool *planes, struct ht_point *out) {
    int64_t room = 0;
    if (shot->kind != HT_SHOT_FORCE) return add_product(shot, medium, -1, planes, out, &room);
    for (int k = 0; k < medium->grid->dims; k++)
        if (shot->direction[k] != 0) TRY(add_product(shot, medium, k, planes, out, &room));
    merge(out);
    return HT_OK;
}

/* ---- all types ---- */

/* Plane waves have no nodes of their own. */
enum ht_err ht_shot_spread(const struct ht_shots *shots, int index, const bool *planes,
                           struct ht_point *out) {
    const struct ht_shot *shot = &shots->shot[index];
    const bool points = shot->type == HT_SHOT_POINT || shot->type == HT_SHOT_LINE;
    *out = (struct ht_point){.count = 0};
    if (shot->type == HT_SHOT_INCIDENT) return HT_OK;
    const enum ht_err err =
        (points ? spread_points : spread_product)(shot, shots->medium, planes, out);
    if (err != HT_OK) ht_point_free(out);
    return err;
}

int64_t ht_shot_most_nodes(const struct ht_shots *shots, int index, int64_t planes) {
    const struct ht_shot *shot = &shots->shot[index];
    const struct ht_grid *grid = shots->medium->grid;
    int64_t nodes = shot->type == HT_SHOT_INCIDENT ? 0 : shot->points;
    for (int k = 0; k < grid->dims; k++) {
        const int64_t all = k < 2 ? ht_grid_nodes(grid, HT_PRIMARY, k) : planes;
        int64_t along = grid->point_nodes + 1;
        if (shot->type == HT_SHOT_PLANE && k != shot->axis) along = all;
        if (shot->type == HT_SHOT_VOLUME)
            along = (int64_t)(2 * HT_POINT_WIDEST * shot->width / grid->h[k]) + 2;
        nodes *= ht_least(all, along);
    }
    return nodes;
}
