/* Nodes and shapes of sources on one grid. Distances between nodes and points are whole multiples
 * of 2^-32 cells, so that mirror images have exactly the distances that mirrored nodes have, and
 * nodes that lie alike about points of the same kind share a shape.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "duhamel_private.h"
#include "src/solve/columns.h"

static const int64_t one = (int64_t)1 << HT_SOURCE_FRACTION;

/* ---- images behind walls ---- */

static int power_of(int factor, int64_t count) {
    return factor < 0 && count % 2 != 0 ? -1 : 1;
}

/* Image number n of a point: a period further each, or 2 j: two mirrors further, 2 j + 1: mirrored
 * at the upper wall, -1: at the lower one. */
static struct ht_source_image image_of(const struct ht_grid *grid, int axis, int64_t at,
                                       int64_t n) {
    const int64_t length = grid->cells[axis] * one;
    const int low = grid->wall[axis][0], high = grid->wall[axis][1];
    if (ht_grid_periodic(grid, axis))
        return (struct ht_source_image){.at = at + n * length, .factor = 1};
    const bool mirrored = n % 2 != 0;
    const int64_t pairs = (n - mirrored) / 2;
    const int64_t upper = n > 0 ? (n + 1) / 2 : -n / 2, lower = n > 0 ? n / 2 : (1 - n) / 2;
    return (struct ht_source_image){.at = mirrored ? 2 * (pairs + 1) * length - at
                                                   : 2 * pairs * length + at,
                                    .factor = power_of(high, upper) * power_of(low, lower),
                                    .mirrored = mirrored};
}

static int list_images(const struct ht_grid *grid, int axis, int64_t at, int64_t reach,
                       struct ht_source_image out[HT_SOURCE_IMAGES]) {
    const int64_t length = grid->cells[axis] * one;
    const int64_t most = reach / length + 2;
    int count = 0;
    for (int64_t n = -most; n <= most; n++) {
        const struct ht_source_image image = image_of(grid, axis, at, n);
        if (image.at + reach < 0 || image.at - reach > length) continue;
        if (count < HT_SOURCE_IMAGES) out[count++] = image;
    }
    return count;
}

void ht_source_images(const struct ht_problem *problem, const struct ht_source_point *point,
                      const double reach[3], struct ht_source_images *out) {
    const struct ht_grid *grid = problem->grid;
    const struct ht_source_form *form = &problem->duhamel->form[point->shot];
    for (int k = 0; k < 3; k++) {
        out->count[k] = 1;
        out->axis[k][0] = (struct ht_source_image){.factor = 1};
        if (!ht_source_varies(form, k)) continue;
        const double at = (point->x[k] - grid->lower[k]) / grid->h[k];
        out->count[k] = list_images(grid, k, llround(ldexp(at, HT_SOURCE_FRACTION)),
                                    llround(ldexp(reach[k], HT_SOURCE_FRACTION)), out->axis[k]);
    }
}

struct ht_source_vector ht_source_vector(const struct ht_problem *problem,
                                         const struct ht_source_point *point) {
    const struct ht_duhamel *d = problem->duhamel;
    const struct ht_shot *shot = &d->shots->shot[point->shot];
    struct ht_source_vector v = {.order = d->form[point->shot].order};
    memcpy(v.along, d->form[point->shot].along, sizeof v.along);
    memcpy(v.material, point->material, sizeof v.material);
    for (int i = 0; i < shot->drives; i++) {
        const struct ht_drive *drive = &shot->drive[i];
        v.field[drive->field] =
            drive->weight * (drive->material < 0 ? 1 : point->material[drive->material]);
    }
    return v;
}

struct ht_source_vector ht_source_vector_image(const struct ht_problem *problem,
                                               const struct ht_source_vector *source,
                                               const struct ht_source_image *const image[3]) {
    struct ht_source_vector v = *source;
    for (int f = 0; f < problem->eq->nfields; f++)
        for (int k = 0; k < problem->grid->dims; k++) {
            const bool odd = problem->eq->field[f].parity >> k & 1u;
            v.field[f] *= image[k]->factor;
            if (image[k]->mirrored && odd) v.field[f] = -v.field[f];
        }
    return v;
}

enum { STEPS_PER_CELL = 16 };

/* ---- reach ---- */

/* Of each distance in steps of 1/16 cell the largest derivative there and beyond, relative to the
 * largest of all. */
struct envelope {
    int count;
    double value[64 * STEPS_PER_CELL];
};

static void make_envelope(const struct ht_source_form *form, int axis, int order,
                          struct envelope *e) {
    enum { MOST = sizeof e->value / sizeof *e->value };
    const double radius = form->along[axis];
    double largest[HT_MAX_ORDER + 2] = {0}, size[HT_MAX_ORDER + 2][MOST];
    long double at[HT_MAX_ORDER + 2];
    memset(e, 0, sizeof *e);
    for (int i = 0; i < MOST; i++) {
        ht_flat_derivatives(form->order, (long double)i / STEPS_PER_CELL / radius, order + 2, at);
        for (int n = 0; n < order + 2; n++) {
            size[n][i] = fabs((double)at[n]);
            largest[n] = fmax(largest[n], size[n][i]);
        }
    }
    for (int n = 0; n < order + 2; n++)
        for (int i = 0; i < MOST; i++) e->value[i] = fmax(e->value[i], size[n][i] / largest[n]);
    for (int i = MOST - 2; i >= 0; i--) e->value[i] = fmax(e->value[i], e->value[i + 1]);
    while (e->count < MOST && e->value[e->count] >= form->cut) e->count++;
}

double ht_source_reach(const struct ht_source_form *form, int axis, int order) {
    struct envelope e;
    make_envelope(form, axis, order, &e);
    return (double)e.count / STEPS_PER_CELL;
}

/* ---- nodes of an image along an axis ---- */

struct axis_nodes {
    int64_t count, room;
    struct axis_node {
        int64_t index;    /* in the window */
        int64_t distance; /* from the image */
        double size;      /* envelope */
        int wall;
    } * node;
};

struct listing {
    const struct ht_problem *problem;
    const struct ht_grid *grid;
    enum ht_subgrid to;
    const struct ht_window *window;
    struct envelope *envelope; /* [shot][axis]; where it varies */
    struct axis_nodes axis[3];
    bool counts; /* alone */
    int64_t entries;
    struct ht_columns columns;
    int vectors;
    int64_t vector_room;
    struct ht_source_vector *vector;
    int64_t shapes, slots; /* slots: of the table, a power of two */
    struct key {
        int vector, shape; /* shape 0: empty, else number + 1 */
        int64_t distance[3];
    } * key;
};

/* The walls on which a node lies, as in htwave/tool.h. */
static int wall_of(const struct ht_grid *grid, enum ht_subgrid to, int axis, int64_t m) {
    int bits = 0;
    for (int side = 0; side < 2; side++) {
        const int64_t end = side == 0 ? 0 : ht_grid_nodes(grid, to, axis) - 1;
        const int factor = grid->wall[axis][side];
        if (to == HT_PRIMARY && m == end && factor != 0) bits |= 1 << (axis + (factor < 0 ? 3 : 0));
    }
    return bits;
}

/* The node of the grid at an index of the window. */
static int64_t node_of(const struct ht_grid *grid, enum ht_subgrid to,
                       const struct ht_window *window, int axis, int64_t index) {
    const int64_t n = ht_grid_nodes(grid, to, axis);
    const int64_t m = window->origin[axis] + index;
    return ht_grid_periodic(grid, axis) ? (m % n + n) % n : m;
}

/* All nodes of an axis along which the source does not vary. */
static void list_all(struct listing *l, int axis) {
    struct axis_nodes *list = &l->axis[axis];
    const struct ht_box *held = &l->window->held;
    list->count = 0;
    for (int64_t i = held->begin[axis]; i < held->end[axis]; i++)
        list->node[list->count++] = (struct axis_node){
            .index = i,
            .size = 1,
            .wall = axis < l->grid->dims
                        ? wall_of(l->grid, l->to, axis, node_of(l->grid, l->to, l->window, axis, i))
                        : 0};
}

/* nu: cells that waves travel in a half step. */
static void list_nodes(struct listing *l, int axis, const struct ht_source_image *image,
                       const struct envelope *e, double nu) {
    struct axis_nodes *list = &l->axis[axis];
    const struct ht_box *held = &l->window->held;
    list->count = 0;
    for (int64_t i = held->begin[axis]; i < held->end[axis]; i++) {
        const int64_t m = node_of(l->grid, l->to, l->window, axis, i);
        const int64_t at = m * one + (l->to == HT_DUAL ? one / 2 : 0);
        const int64_t distance = at - image->at;
        const double beyond = fmax(0, fabs(ldexp((double)distance, -HT_SOURCE_FRACTION)) - nu);
        const double step = beyond * STEPS_PER_CELL;
        if (step >= e->count) continue;
        list->node[list->count++] = (struct axis_node){.index = i,
                                                       .distance = distance,
                                                       .size = e->value[(int)step],
                                                       .wall = wall_of(l->grid, l->to, axis, m)};
    }
}

/* ---- shapes ---- */

static bool same_vector(const struct ht_source_vector *a, const struct ht_source_vector *b) {
    bool same = a->order == b->order;
    for (int k = 0; k < 3; k++) same = same && a->along[k] == b->along[k];
    for (int f = 0; f < HT_MAX_FIELDS; f++) same = same && a->field[f] == b->field[f];
    for (int m = 0; m < HT_MAX_MATERIALS; m++) same = same && a->material[m] == b->material[m];
    return same;
}

static enum ht_err find_vector(struct listing *l, const struct ht_source_vector *v, int *out) {
    int i = l->vectors - 1;
    while (i >= 0 && !same_vector(&l->vector[i], v)) i--;
    *out = i >= 0 ? i : l->vectors;
    if (i >= 0) return HT_OK;
    TRY(HT_GROW(l->vector, l->vectors + 1, l->vector_room));
    l->vector[l->vectors++] = *v;
    return HT_OK;
}

static struct key *slot_of(const struct key *table, int64_t slots, const struct key *key) {
    uint64_t hash = ht_hash(HT_HASH_SEED, key->distance, sizeof key->distance);
    hash = ht_hash(hash, &key->vector, sizeof key->vector);
    int64_t i = (int64_t)(hash & (uint64_t)(slots - 1));
    while (table[i].shape != 0 && (table[i].vector != key->vector ||
                                   memcmp(table[i].distance, key->distance, sizeof key->distance)))
        i = (i + 1) & (slots - 1);
    return (struct key *)&table[i];
}

static enum ht_err grow_table(struct listing *l) {
    const int64_t slots = l->slots > 0 ? 2 * l->slots : 1024;
    struct key *table = NULL;
    if (2 * l->shapes < l->slots) return HT_OK;
    TRY(HT_ALLOC(table, slots));
    for (int64_t i = 0; i < l->slots; i++)
        if (l->key[i].shape != 0) *slot_of(table, slots, &l->key[i]) = l->key[i];
    free(l->key);
    l->key = table;
    l->slots = slots;
    return HT_OK;
}

static enum ht_err find_shape(struct listing *l, struct key key, int *out) {
    TRY(grow_table(l));
    struct key *slot = slot_of(l->key, l->slots, &key);
    if (slot->shape == 0) {
        REQUIRE(l->shapes < INT32_MAX - 1, HT_ERR_MEMORY, "sources have too many nodes");
        *slot = key;
        slot->shape = (int)++l->shapes;
    }
    *out = slot->shape - 1;
    return HT_OK;
}

/* ---- entries ---- */

/* The nodes of the axes' lists of which the product of envelopes counts. */
static enum ht_err add_nodes(struct listing *l, int column, int vector, double cut) {
    const struct axis_nodes *a = l->axis;
    for (int64_t i3 = 0; i3 < a[2].count; i3++)
        for (int64_t i2 = 0; i2 < a[1].count; i2++)
            for (int64_t i1 = 0; i1 < a[0].count; i1++) {
                const struct axis_node *n[3] = {&a[0].node[i1], &a[1].node[i2], &a[2].node[i3]};
                struct ht_column_entry entry = {
                    .at = ht_window_at(l->window, n[0]->index, n[1]->index, n[2]->index),
                    .column = column,
                    .wall = n[0]->wall | n[1]->wall | n[2]->wall};
                const struct key key = {
                    .vector = vector, .distance = {n[0]->distance, n[1]->distance, n[2]->distance}};
                if (n[0]->size * n[1]->size * n[2]->size < cut) continue;
                TRY(find_shape(l, key, &entry.shape));
                l->entries++;
                if (!l->counts) TRY(ht_columns_add(&l->columns, entry));
            }
    return HT_OK;
}

static double speed_of(const struct listing *l, const struct ht_source_point *point) {
    return ht_equations_speed(l->problem->eq, point->material, 0);
}

static enum ht_err add_image(struct listing *l, const struct ht_source_point *point,
                             const struct ht_source_vector *source, const double nu[3],
                             const struct ht_source_image *const image[3]) {
    const struct ht_source_form *form = &l->problem->duhamel->form[point->shot];
    const struct ht_source_vector v = ht_source_vector_image(l->problem, source, image);
    int vector;
    TRY(find_vector(l, &v, &vector));
    for (int k = 0; k < 3; k++)
        if (ht_source_varies(form, k))
            list_nodes(l, k, image[k], &l->envelope[3 * point->shot + k], nu[k]);
        else
            list_all(l, k);
    return add_nodes(l, point->shot, vector, form->cut);
}

static enum ht_err add_point(struct listing *l, const struct ht_source_point *point) {
    const struct envelope *e = &l->envelope[3 * (int64_t)point->shot];
    const struct ht_source_vector source = ht_source_vector(l->problem, point);
    struct ht_source_images images;
    double nu[3], reach[3];
    for (int k = 0; k < 3; k++) {
        nu[k] = speed_of(l, point) * fabs(l->problem->dt) / 2 / l->grid->h[k];
        reach[k] = (double)e[k].count / STEPS_PER_CELL + nu[k] + 1;
    }
    ht_source_images(l->problem, point, reach, &images);
    for (int i3 = 0; i3 < images.count[2]; i3++)
        for (int i2 = 0; i2 < images.count[1]; i2++)
            for (int i1 = 0; i1 < images.count[0]; i1++) {
                const struct ht_source_image *image[3] = {&images.axis[0][i1], &images.axis[1][i2],
                                                          &images.axis[2][i3]};
                TRY(add_image(l, point, &source, nu, image));
            }
    return HT_OK;
}

/* ---- the list ---- */

/* odd[stored field][coefficient] of htwave/tool.h. */
static void find_odd(const struct ht_problem *problem, enum ht_subgrid to, int coefs, int *odd) {
    const struct ht_equations *eq = problem->eq;
    const int n = problem->grid->order + 1;
    for (int f = 0; f < eq->nfields; f++) {
        if (!ht_problem_stores(problem, to, f)) continue;
        for (int i = 0; i < coefs; i++) {
            const int j[3] = {i % n, i / n % n, i / n / n};
            *odd++ = (int)eq->field[f].parity ^ ((j[0] & 1) | (j[1] & 1) << 1 | (j[2] & 1) << 2);
        }
    }
}

/* In the order of their numbers, in which few neighbours differ in the vector.
 */
static enum ht_err fill_shapes(const struct listing *l, int64_t size, double *value) {
    struct ht_source_shaper *shaper = NULL;
    const struct key **of;
    enum ht_err err = HT_OK;
    int vector = -1;
    TRY(HT_ALLOC(of, l->shapes));
    for (int64_t i = 0; i < l->slots; i++)
        if (l->key[i].shape > 0) of[l->key[i].shape - 1] = &l->key[i];
    for (int64_t i = 0; i < l->shapes && err == HT_OK; i++) {
        long double distance[3];
        for (int k = 0; k < 3; k++)
            distance[k] = (long double)of[i]->distance[k] / (long double)one;
        if (of[i]->vector != vector) {
            vector = of[i]->vector;
            ht_source_shaper_destroy(shaper);
            err = ht_source_shaper_create(l->problem, l->to, &l->vector[vector], &shaper);
        }
        if (err == HT_OK) ht_source_shaper_apply(shaper, distance, value + i * size);
    }
    ht_source_shaper_destroy(shaper);
    free(of);
    return err;
}

static enum ht_err make_shapes(const struct listing *l, struct ht_injection_grid *out) {
    struct ht_inject_shapes *s = &out->shapes;
    const struct ht_duhamel *d = l->problem->duhamel;
    *s = (struct ht_inject_shapes){.fields = ht_problem_stored(l->problem, l->to),
                                   .terms = d->terms,
                                   .coefs = ht_grid_coefs(l->grid),
                                   .columns = d->shots->count,
                                   .count = l->shapes};
    const int64_t size = (int64_t)s->fields * s->terms * s->coefs;
    TRY(HT_ALLOC(s->value, s->count * size));
    TRY(HT_ALLOC(s->odd, (int64_t)s->fields * s->coefs));
    find_odd(l->problem, l->to, s->coefs, s->odd);
    return fill_shapes(l, size, s->value);
}

/* ---- for a window ---- */

static void free_listing(struct listing *l) {
    for (int k = 0; k < 3; k++) free(l->axis[k].node);
    free(l->envelope);
    free(l->columns.entry);
    free(l->vector);
    free(l->key);
}

static enum ht_err walk(struct listing *l) {
    const struct ht_duhamel *d = l->problem->duhamel;
    TRY(HT_ALLOC(l->envelope, 3 * (int64_t)d->shots->count));
    for (int i = 0; i < d->shots->count; i++)
        for (int k = 0; k < 3; k++)
            if (ht_source_varies(&d->form[i], k))
                make_envelope(&d->form[i], k, l->grid->order, &l->envelope[3 * i + k]);
    for (int k = 0; k < 3; k++) TRY(HT_ALLOC(l->axis[k].node, l->window->count[k]));
    for (int64_t i = 0; i < d->points; i++) TRY(add_point(l, &d->point[i]));
    return HT_OK;
}

enum ht_err ht_injection_list(const struct ht_problem *problem, enum ht_subgrid to,
                              const struct ht_window *window, struct ht_injection_grid *out) {
    struct listing l = {.problem = problem, .grid = problem->grid, .to = to, .window = window};
    enum ht_err err = walk(&l);
    if (err == HT_OK)
        err = ht_columns_list(&l.columns, window->count[2], ht_window_plane(window), &out->list,
                              &out->plane, NULL);
    if (err == HT_OK) err = make_shapes(&l, out);
    free_listing(&l);
    return err;
}

enum ht_err ht_injection_count(const struct ht_problem *problem, enum ht_subgrid to,
                               struct ht_injection_counts *out) {
    const struct ht_grid whole = ht_grid_whole(problem->grid);
    const struct ht_window window = ht_window_make(&whole, to, 0, 0);
    struct listing l = {
        .problem = problem, .grid = &whole, .to = to, .window = &window, .counts = true};
    const enum ht_err err = walk(&l);
    *out = (struct ht_injection_counts){.nodes = ht_least(l.entries, ht_grid_total(&whole, to)),
                                        .entries = l.entries,
                                        .shapes = l.shapes};
    free_listing(&l);
    return err;
}
