/* Shots at the nodes of the primary grid: lists of nodes with weights. */
#include "htwave/shots.h"

static int compare(const void *a, const void *b) {
    const struct ht_point_node *x = a, *y = b;
    for (int k = 2; k >= 0; k--)
        if (x->m[k] != y->m[k]) return x->m[k] < y->m[k] ? -1 : 1;
    return x->weight < y->weight ? -1 : x->weight > y->weight;
}

/* Sorts, and adds up what falls on one node, in an order that weights define. */
static void merge(struct ht_point *list) {
    int kept = 0;
    if (list->count == 0) return; /* NULL is no array for qsort */
    qsort(list->node, (size_t)list->count, sizeof *list->node, compare);
    HT_EACH(const struct ht_point_node, node, list->node, list->count) {
        struct ht_point_node *last = &list->node[kept - (kept > 0)];
        if (kept > 0 && memcmp(node->m, last->m, sizeof node->m) == 0)
            last->weight += node->weight;
        else
            list->node[kept++] = *node;
    }
    list->count = kept;
}

/* ---- one point: a product of a list per axis ---- */

struct axis_list {
    int count;
    int64_t *node;
    double *weight;
};

/* slope: takes the derivative by the place. wanted: which nodes; NULL: all. */
static HT_ERR list_axis(struct ht_pool *pool, const struct ht_shot *shot,
                        const struct ht_grid *grid, int axis, double x, bool slope,
                        const bool *wanted, struct axis_list *out) {
    const int64_t nodes = ht_grid_nodes(grid, HT_PRIMARY, axis);
    TRY(HT_TAKE(pool, out->node, nodes));
    TRY(HT_TAKE(pool, out->weight, nodes));
    if (!shot->varies[axis] || shot->width > 0)
        ht_point_axis_spread(grid, axis, x, shot->varies[axis] ? shot->width : 0, slope,
                             out->weight);
    else {
        /* The weights for reading over h times the parts of it that nodes stand for: with the sum
         * over nodes for the integral reading is the adjoint of spreading, and a source and a
         * receiver may change places. */
        struct ht_point_axis near;
        ht_point_axis_read(grid, axis, x, slope, &near);
        for (int i = 0; i < near.count; i++)
            out->weight[near.node[i]] +=
                near.weight[i] * (1 / ht_grid_weight(grid, axis, near.node[i]) / grid->h[axis]);
    }
    for (int64_t m = 0; m < nodes; m++)
        if (out->weight[m] != 0 && (wanted == NULL || wanted[m])) {
            out->node[out->count] = m;
            out->weight[out->count++] = out->weight[m];
        }
    return HT_OK;
}

/* Adds the nodes of the product. Of a drive of the flux along axis `slope` they take its material,
 * too, where it acts on a node: on the plane beside it, or at the place. */
static HT_ERR multiply(const struct ht_shot *shot, const struct ht_medium *medium,
                       const struct ht_drive *drive, int slope, const double x[3],
                       const struct axis_list list[3], struct ht_point *out) {
    const bool once = medium->uniform || ht_shot_dims(shot) == medium->grid->dims;
    const struct ht_grid *grid = medium->grid;
    const double sign = slope < 0 ? 1 : -medium->eq->second_order.sign[slope];
    double factor = 1;
    bool known = slope < 0;
    for (int i = 0; i < list[2].count * list[1].count * list[0].count; i++) {
        const int i1 = i % list[0].count, row = i / list[0].count;
        const int i2 = row % list[1].count, i3 = row / list[1].count;
        struct ht_point_node *node = &out->node[out->count++];
        *node =
            (struct ht_point_node){{list[0].node[i1], list[1].node[i2], list[2].node[i3]},
                                   list[0].weight[i1] * list[1].weight[i2] * list[2].weight[i3]};
        if (!known) {
            double at[3];
            for (int k = 0; k < 3; k++)
                at[k] = shot->varies[k] || k >= grid->dims
                            ? x[k]
                            : ht_grid_x(grid, HT_PRIMARY, k, node->m[k]);
            const char *name = medium->eq->system->material[drive->material].name;
            TRY(ht_medium_parameter(medium, name, at, &factor));
        }
        known = slope < 0 || once;
        node->weight *= factor * drive->weight * sign;
    }
    return HT_OK;
}

static HT_ERR add_point(const struct ht_shot *shot, const struct ht_medium *medium,
                        const struct ht_drive *drive, const double x[3], const bool *planes,
                        struct ht_point *out, int64_t *room) {
    const int slope = ht_shot_slope(medium->eq, drive);
    HT_ENDED(ht_pool_free) struct ht_pool pool = {NULL};
    struct axis_list along[3] = {{0}};
    for (int k = 0; k < 3; k++)
        TRY(list_axis(&pool, shot, medium->grid, k, x[k], k == slope, k == 2 ? planes : NULL,
                      &along[k]));
    const int64_t all = out->count + (int64_t)along[2].count * along[1].count * along[0].count;
    REQUIRE(all < INT_MAX / 2, HT_ERR_MEMORY, "a source of more than %d nodes", INT_MAX / 2);
    TRY(ht_mem_grow(all, sizeof *out->node, &out->node, room));
    return multiply(shot, medium, drive, slope, x, along, out);
}

/* Of drives [first, last). */
static HT_ERR spread(const struct ht_shot *shot, const struct ht_medium *medium, int first,
                     int last, const bool *planes, struct ht_point *out) {
    int64_t room = 0;
    enum ht_err err = HT_OK;
    *out = (struct ht_point){.count = 0};
    for (int i = 0; i < shot->points; i++)
        for (int d = first; err == HT_OK && d < last; d++) {
            double x[3];
            ht_shot_position(shot, i, x);
            err = add_point(shot, medium, &shot->drive[d], x, planes, out, &room);
        }
    if (err != HT_OK)
        ht_point_free(out);
    else if (shot->points * (last - first) > 1)
        merge(out);
    return err;
}

HT_ERR ht_shot_spread(const struct ht_shots *shots, int index, const bool *planes,
                      struct ht_point *out) {
    const struct ht_shot *shot = &shots->shot[index];
    return spread(shot, shots->medium, 0, shot->drives, planes, out);
}

HT_ERR ht_shot_spread_drive(const struct ht_shots *shots, int index, int drive,
                            const struct ht_grid *grid, const bool *planes, struct ht_point *out) {
    struct ht_equations plain = *shots->medium->eq; /* which have no fluxes */
    struct ht_medium medium = *shots->medium;
    plain.second_order.known = false;
    medium.eq = &plain;
    medium.grid = grid;
    return spread(&shots->shot[index], &medium, drive, drive + 1, planes, out);
}

int64_t ht_shot_most_nodes(const struct ht_shots *shots, int index, int64_t planes) {
    const struct ht_shot *shot = &shots->shot[index];
    const struct ht_grid *grid = shots->medium->grid;
    int64_t nodes = shot->points;
    for (int k = 0; k < grid->dims; k++) {
        const int64_t all = k < 2 ? ht_grid_nodes(grid, HT_PRIMARY, k) : planes;
        int64_t along = grid->point_nodes + 1;
        if (!shot->varies[k]) along = all;
        if (shot->width > 0) along = (int64_t)(2 * HT_POINT_WIDEST * shot->width / grid->h[k]) + 2;
        nodes *= ht_least(all, along);
    }
    return nodes;
}

/* ---- jumps of the medium ---- */

/* A shot takes the medium of each node that it is spread over; where it jumps between these nodes
 * the waves err by more than the grid's dispersion. */

/* Between points half a spacing apart a smooth medium changes by less. */
static const double JUMP = 0.1;
/* Places of a plane along an axis that are looked at. */
enum { MOST_PLACES = 64 };

struct jump {
    int64_t places, found;
    double shot[3], jump[3]; /* of the first: of the shot, of the jump */
};

/* Along one axis, `reach` to either side of x. */
static HT_ERR find_jump(const struct ht_medium *medium, int material, const double x[3], int axis,
                        double reach, bool *found, double place[3]) {
    const double apart = medium->grid->h[axis] / 2;
    double at[3], before = 0, value;
    memcpy(at, x, sizeof at);
    for (int i = 0; !*found && i * apart <= 2 * reach; i++) {
        at[axis] = x[axis] - reach + i * apart;
        if (at[axis] < medium->grid->lower[axis] || at[axis] > medium->grid->upper[axis]) continue;
        TRY(ht_medium_parameter(medium, medium->eq->system->material[material].name, at, &value));
        *found = before > 0 && fabs(value - before) > JUMP * fmin(value, before);
        if (*found) memcpy(place, at, sizeof at);
        before = value;
    }
    return HT_OK;
}

/* About a point, at places along the axes on which the shot does not vary. */
static HT_ERR look_along(const struct ht_medium *medium, const struct ht_shot *shot, int point,
                         struct jump *jump) {
    const struct ht_grid *grid = medium->grid;
    int count[3];
    double x[3];
    ht_shot_position(shot, point, x);
    for (int k = 0; k < 3; k++)
        count[k] =
            k < grid->dims && !shot->varies[k] ? (int)ht_least(grid->cells[k] + 1, MOST_PLACES) : 1;
    for (int i = 0; i < count[0] * count[1] * count[2]; i++) {
        const int at[3] = {i % count[0], i / count[0] % count[1], i / count[0] / count[1]};
        for (int k = 0; k < 3; k++)
            if (count[k] > 1)
                x[k] = grid->lower[k] + (grid->upper[k] - grid->lower[k]) * at[k] / (count[k] - 1);
        /* Of a plane along its axis only: the medium may vary over it. */
        const struct ht_second_order *form = &medium->eq->second_order;
        const int material[2] = {form->modulus, form->inverse_density};
        double place[3] = {0};
        bool found = false;
        for (int k = 0; k < medium->grid->dims; k++) {
            const double reach = shot->width > 0
                                     ? HT_POINT_WIDEST * shot->width
                                     : ht_point_reach(medium->grid) * medium->grid->h[k];
            if (!shot->varies[k]) continue;
            for (int j = 0; j < 2; j++)
                if (material[j] >= 0)
                    TRY(find_jump(medium, material[j], x, k, reach, &found, place));
        }
        jump->places++;
        if (found && jump->found++ == 0) {
            memcpy(jump->shot, x, sizeof jump->shot);
            memcpy(jump->jump, place, sizeof jump->jump);
        }
    }
    return HT_OK;
}

HT_ERR ht_shots_warn_jumps(const struct ht_shots *shots) {
    const struct ht_medium *medium = shots->medium;
    HT_EACH_AT(n, const struct ht_shot, shot, shots->shot, !medium->uniform ? shots->count : 0) {
        struct jump jump = {.places = 0};
        for (int i = 0; i < shot->points; i++) TRY(look_along(medium, shot, i, &jump));
        if (jump.found > 0) {
            const char *where = HT_PLACED(medium->grid, jump.shot);
            char which[192];
            if (jump.places > 1)
                snprintf(which, sizeof which, ": %lld of %lld places, the first at %s, are",
                         (long long)jump.found, (long long)jump.places, where);
            else
                snprintf(which, sizeof which, " at %s is", where);
            ht_warn("sources.%d%s spread over nodes on both sides of a jump of the medium near %s: "
                    "waves err there by more than the dispersion of the grid; move it %g %s away",
                    shot->group, which, HT_PLACED(medium->grid, jump.jump),
                    shot->width > 0 ? 7 : ht_point_reach(medium->grid),
                    shot->width > 0 ? "widths" : "spacings");
        }
    }
    return HT_OK;
}
