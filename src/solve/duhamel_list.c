/* Nodes and shapes of sources on one grid. Distances between nodes and points
 * are whole multiples of 2^-32 cells, so that mirror images have exactly the
 * distances that mirrored nodes have, and nodes that lie alike about points of
 * the same kind share a shape.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/duhamel.h"

enum { FRACTION = 32, MOST_IMAGES = 160, STEPS_PER_CELL = 16 };
static const int64_t one = (int64_t)1 << FRACTION;

/* ---- reach ---- */

/* Of each distance in steps of 1/16 cell the largest derivative there and
 * beyond, relative to the largest of all. */
struct envelope {
    int count;
    double value[64 * STEPS_PER_CELL];
};

static void make_envelope(const struct ht_source_form *form, int order,
                          struct envelope *e) {
    enum { MOST = sizeof e->value / sizeof *e->value };
    double largest[HT_MAX_ORDER + 2] = {0};
    long double at[HT_MAX_ORDER + 2];
    memset(e, 0, sizeof *e);
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < MOST; i++) {
            ht_flat_derivatives(form->order,
                                (long double)i / STEPS_PER_CELL / form->radius,
                                order + 2, at);
            for (int n = 0; n < order + 2; n++) {
                const double size = fabs((double)at[n]);
                if (turn == 0) largest[n] = fmax(largest[n], size);
                if (turn == 1)
                    e->value[i] = fmax(e->value[i], size / largest[n]);
            }
        }
    for (int i = MOST - 2; i >= 0; i--)
        e->value[i] = fmax(e->value[i], e->value[i + 1]);
    while (e->count < MOST && e->value[e->count] >= form->cut) e->count++;
}

double ht_source_reach(const struct ht_source_form *form, int order) {
    struct envelope e;
    make_envelope(form, order, &e);
    return (double)e.count / STEPS_PER_CELL;
}

/* ---- images along an axis ---- */

struct image {
    int64_t at; /* from the lower end, in 2^-32 cells */
    int factor; /* of the walls passed */
    bool mirrored;
};

static int power_of(int factor, int64_t count) {
    return factor < 0 && count % 2 != 0 ? -1 : 1;
}

/* Image number n of a point: a period further each, or 2 j: two mirrors
 * further, 2 j + 1: mirrored at the upper wall, -1: at the lower one. */
static struct image image_of(const struct ht_grid *grid, int axis, int64_t at,
                             int64_t n) {
    const int64_t length = grid->cells[axis] * one;
    const int low = grid->wall[axis][0], high = grid->wall[axis][1];
    if (axis >= grid->dims) return (struct image){.factor = 1};
    if (ht_grid_periodic(grid, axis))
        return (struct image){.at = at + n * length, .factor = 1};
    const bool mirrored = n % 2 != 0;
    const int64_t pairs = (n - mirrored) / 2;
    const int64_t upper = n > 0 ? (n + 1) / 2 : -n / 2,
                  lower = n > 0 ? n / 2 : (1 - n) / 2;
    return (struct image){.at = mirrored ? 2 * (pairs + 1) * length - at
                                         : 2 * pairs * length + at,
                          .factor =
                              power_of(high, upper) * power_of(low, lower),
                          .mirrored = mirrored};
}

static int list_images(const struct ht_grid *grid, int axis, int64_t at,
                       int64_t reach, struct image out[MOST_IMAGES]) {
    const int64_t length = grid->cells[axis] * one;
    const int64_t most = axis < grid->dims ? reach / length + 2 : 0;
    int count = 0;
    for (int64_t n = -most; n <= most; n++) {
        const struct image image = image_of(grid, axis, at, n);
        if (axis < grid->dims &&
            (image.at + reach < 0 || image.at - reach > length))
            continue;
        if (count < MOST_IMAGES) out[count++] = image;
    }
    return count;
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
    struct envelope *envelope; /* of each shot */
    struct axis_nodes axis[3];
    bool counts; /* alone */
    int64_t entries, room;
    struct entry {
        int64_t at, number;
        int column, shape, wall;
    } * entry;
    int vectors, vector_room;
    struct ht_source_vector *vector;
    int64_t shapes, slots; /* slots: of the table, a power of two */
    struct key {
        int vector, shape; /* shape 0: empty, else number + 1 */
        int64_t distance[3];
    } * key;
};

static int wall_of(const struct listing *l, int axis, int64_t m) {
    int bits = 0;
    for (int side = 0; side < 2; side++) {
        const int64_t end =
            side == 0 ? 0 : ht_grid_nodes(l->grid, l->to, axis) - 1;
        const int factor = l->grid->wall[axis][side];
        if (l->to == HT_PRIMARY && m == end && factor != 0)
            bits |= 1 << (axis + (factor < 0 ? 3 : 0));
    }
    return bits;
}

/* The node of the grid at an index of the window. */
static int64_t node_of(const struct listing *l, int axis, int64_t index) {
    const int64_t n = ht_grid_nodes(l->grid, l->to, axis);
    const int64_t m = l->window->origin[axis] + index;
    return ht_grid_periodic(l->grid, axis) ? (m % n + n) % n : m;
}

/* nu: cells that waves travel in a half step. */
static void list_nodes(struct listing *l, int axis, const struct image *image,
                       const struct envelope *e, double nu) {
    struct axis_nodes *list = &l->axis[axis];
    const struct ht_box *held = &l->window->held;
    const bool exists = axis < l->grid->dims;
    list->count = 0;
    for (int64_t i = held->begin[axis]; i < held->end[axis]; i++) {
        const int64_t m = node_of(l, axis, i);
        const int64_t at =
            exists ? m * one + (l->to == HT_DUAL ? one / 2 : 0) : 0;
        const int64_t distance = at - image->at;
        const double beyond =
            fmax(0, fabs(ldexp((double)distance, -FRACTION)) - nu);
        const double step = beyond * STEPS_PER_CELL;
        if (exists && step >= e->count) continue;
        list->node[list->count++] =
            (struct axis_node){.index = i,
                               .distance = distance,
                               .size = exists ? e->value[(int)step] : 1,
                               .wall = exists ? wall_of(l, axis, m) : 0};
    }
}

/* ---- shapes ---- */

/* The vector of an image: each field has the sign of the walls passed. */
static void image_vector(const struct listing *l,
                         const struct ht_source_vector *source,
                         const struct image *const image[3],
                         struct ht_source_vector *out) {
    *out = *source;
    for (int f = 0; f < l->problem->eq->nfields; f++)
        for (int k = 0; k < l->grid->dims; k++) {
            const bool odd = l->problem->eq->field[f].parity >> k & 1u;
            out->field[f] *= image[k]->factor;
            if (image[k]->mirrored && odd) out->field[f] = -out->field[f];
        }
}

static bool same_vector(const struct ht_source_vector *a,
                        const struct ht_source_vector *b) {
    bool same = a->radius == b->radius && a->order == b->order;
    for (int f = 0; f < HT_MAX_FIELDS; f++)
        same = same && a->field[f] == b->field[f];
    for (int m = 0; m < HT_MAX_MATERIALS; m++)
        same = same && a->material[m] == b->material[m];
    return same;
}

static enum ht_err find_vector(struct listing *l,
                               const struct ht_source_vector *v, int *out) {
    int i = l->vectors - 1;
    while (i >= 0 && !same_vector(&l->vector[i], v)) i--;
    *out = i >= 0 ? i : l->vectors;
    if (i >= 0) return HT_OK;
    if (l->vectors == l->vector_room) {
        const int room = 2 * l->vector_room + 8;
        struct ht_source_vector *more =
            realloc(l->vector, (size_t)room * sizeof *more);
        REQUIRE(more, HT_ERR_MEMORY, "out of memory for sources");
        l->vector = more;
        l->vector_room = room;
    }
    l->vector[l->vectors++] = *v;
    return HT_OK;
}

static struct key *slot_of(const struct key *table, int64_t slots,
                           const struct key *key) {
    uint64_t hash = ht_hash(HT_HASH_SEED, key->distance, sizeof key->distance);
    hash = ht_hash(hash, &key->vector, sizeof key->vector);
    int64_t i = (int64_t)(hash & (uint64_t)(slots - 1));
    while (table[i].shape != 0 &&
           (table[i].vector != key->vector ||
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
        if (l->key[i].shape != 0)
            *slot_of(table, slots, &l->key[i]) = l->key[i];
    free(l->key);
    l->key = table;
    l->slots = slots;
    return HT_OK;
}

static enum ht_err find_shape(struct listing *l, struct key key, int *out) {
    TRY(grow_table(l));
    struct key *slot = slot_of(l->key, l->slots, &key);
    if (slot->shape == 0) {
        REQUIRE(l->shapes < INT32_MAX - 1, HT_ERR_MEMORY,
                "sources have too many nodes");
        *slot = key;
        slot->shape = (int)++l->shapes;
    }
    *out = slot->shape - 1;
    return HT_OK;
}

/* ---- entries ---- */

static enum ht_err add_entry(struct listing *l, struct entry entry) {
    REQUIRE(l->entries < INT32_MAX - 1, HT_ERR_MEMORY,
            "sources have too many nodes");
    if (!l->counts && l->entries == l->room) {
        const int64_t room = 2 * l->room + 4096;
        struct entry *more = realloc(l->entry, (size_t)room * sizeof *more);
        REQUIRE(more, HT_ERR_MEMORY, "out of memory for sources");
        l->entry = more;
        l->room = room;
    }
    entry.number = l->entries;
    if (!l->counts) l->entry[l->entries] = entry;
    l->entries++;
    return HT_OK;
}

/* The nodes of the axes' lists of which the product of envelopes counts. */
static enum ht_err add_nodes(struct listing *l, int column, int vector,
                             double cut) {
    const struct axis_nodes *a = l->axis;
    for (int64_t i3 = 0; i3 < a[2].count; i3++)
        for (int64_t i2 = 0; i2 < a[1].count; i2++)
            for (int64_t i1 = 0; i1 < a[0].count; i1++) {
                const struct axis_node *n[3] = {&a[0].node[i1], &a[1].node[i2],
                                                &a[2].node[i3]};
                struct entry entry = {
                    .at = ht_window_at(l->window, n[0]->index, n[1]->index,
                                       n[2]->index),
                    .column = column,
                    .wall = n[0]->wall | n[1]->wall | n[2]->wall};
                const struct key key = {.vector = vector,
                                        .distance = {n[0]->distance,
                                                     n[1]->distance,
                                                     n[2]->distance}};
                if (n[0]->size * n[1]->size * n[2]->size < cut) continue;
                TRY(find_shape(l, key, &entry.shape));
                TRY(add_entry(l, entry));
            }
    return HT_OK;
}

static double speed_of(const struct listing *l,
                       const struct ht_source_point *point) {
    return l->problem->eq->system->speed(point->material, 0);
}

/* g of a point: K s of a monopole, s/rho of a force along its direction; of the
 * pair u, u_t it is added to u_t. */
static void source_vector(const struct listing *l,
                          const struct ht_source_point *point,
                          struct ht_source_vector *out) {
    const struct ht_second_order *form = &l->problem->eq->system->second_order;
    const struct ht_duhamel *d = l->problem->duhamel;
    const struct ht_shot *shot = &d->shots->shot[point->shot];
    *out = (struct ht_source_vector){.radius = d->form[point->shot].radius,
                                     .order = d->form[point->shot].order};
    memcpy(out->material, point->material, sizeof out->material);
    if (shot->kind == HT_SHOT_MONOPOLE && form->rate >= 0)
        out->field[form->rate] = 1;
    else if (shot->kind == HT_SHOT_MONOPOLE)
        out->field[form->field] = point->material[form->modulus];
    for (int k = 0; shot->kind == HT_SHOT_FORCE && k < l->grid->dims; k++)
        out->field[form->flux + k] =
            shot->direction[k] * point->material[form->inverse_density];
}

static enum ht_err add_point(struct listing *l,
                             const struct ht_source_point *point) {
    const struct ht_source_form *form = &l->problem->duhamel->form[point->shot];
    const struct envelope *e = &l->envelope[point->shot];
    struct image list[3][MOST_IMAGES];
    struct ht_source_vector source;
    double nu[3];
    int count[3];
    source_vector(l, point, &source);
    for (int k = 0; k < 3; k++) {
        const double h = l->grid->h[k];
        const double at = (point->x[k] - l->grid->lower[k]) / h;
        nu[k] = speed_of(l, point) * fabs(l->problem->dt) / 2 / h;
        const double reach = (double)e->count / STEPS_PER_CELL + nu[k] + 1;
        count[k] = list_images(l->grid, k, llround(ldexp(at, FRACTION)),
                               llround(ldexp(reach, FRACTION)), list[k]);
    }
    for (int i3 = 0; i3 < count[2]; i3++)
        for (int i2 = 0; i2 < count[1]; i2++)
            for (int i1 = 0; i1 < count[0]; i1++) {
                const struct image *image[3] = {&list[0][i1], &list[1][i2],
                                                &list[2][i3]};
                struct ht_source_vector v;
                int vector;
                image_vector(l, &source, image, &v);
                TRY(find_vector(l, &v, &vector));
                for (int k = 0; k < 3; k++)
                    list_nodes(l, k, image[k], e, nu[k]);
                TRY(add_nodes(l, point->shot, vector, form->cut));
            }
    return HT_OK;
}

/* ---- the list ---- */

static int by_node(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static enum ht_err make_list(struct listing *l, struct ht_injection_grid *out) {
    struct ht_inject_list *list = &out->list;
    const int64_t planes = l->window->count[2];
    const int64_t plane = ht_window_plane(l->window);
    if (l->entries > 0)
        qsort(l->entry, (size_t)l->entries, sizeof *l->entry, by_node);
    TRY(HT_ALLOC(list->at, l->entries));
    TRY(HT_ALLOC(list->wall, l->entries));
    TRY(HT_ALLOC(list->begin, l->entries + 1));
    TRY(HT_ALLOC(list->column, l->entries));
    TRY(HT_ALLOC(list->shape, l->entries));
    TRY(HT_ALLOC(out->plane, planes + 1));
    for (int64_t i = 0; i < l->entries; i++) {
        const struct entry *entry = &l->entry[i];
        if (i == 0 || entry->at != entry[-1].at) {
            list->begin[list->count] = (int)i;
            list->wall[list->count] = entry->wall;
            list->at[list->count++] = entry->at;
        }
        list->column[i] = entry->column;
        list->shape[i] = entry->shape;
    }
    list->begin[list->count] = (int)l->entries;
    for (int64_t m = 0, n = 0; m <= planes; m++) {
        while (n < list->count && list->at[n] < m * plane) n++;
        out->plane[m] = n;
    }
    return HT_OK;
}

/* Bit k: odd under reflection of x_(k+1). */
static void fill_odd(const struct listing *l, int coefs, int *odd) {
    const struct ht_equations *eq = l->problem->eq;
    const int n = l->grid->order + 1;
    for (int f = 0; f < eq->nfields; f++) {
        if (!ht_problem_stores(l->problem, l->to, f)) continue;
        for (int i = 0; i < coefs; i++) {
            const int j[3] = {i % n, i / n % n, i / n / n};
            *odd++ = (int)eq->field[f].parity ^
                     ((j[0] & 1) | (j[1] & 1) << 1 | (j[2] & 1) << 2);
        }
    }
}

static enum ht_err make_shapes(const struct listing *l,
                               struct ht_injection_grid *out) {
    struct ht_inject_shapes *s = &out->shapes;
    const struct ht_duhamel *d = l->problem->duhamel;
    *s = (struct ht_inject_shapes){.fields =
                                       ht_problem_stored(l->problem, l->to),
                                   .terms = d->terms,
                                   .coefs = ht_grid_coefs(l->grid),
                                   .columns = d->shots->count,
                                   .count = l->shapes};
    const int64_t size = (int64_t)s->fields * s->terms * s->coefs;
    TRY(HT_ALLOC(s->value, s->count * size));
    TRY(HT_ALLOC(s->odd, (int64_t)s->fields * s->coefs));
    fill_odd(l, s->coefs, s->odd);
    for (int64_t i = 0; i < l->slots; i++) {
        const struct key *key = &l->key[i];
        long double distance[3];
        if (key->shape == 0) continue;
        for (int k = 0; k < 3; k++)
            distance[k] = (long double)key->distance[k] / (long double)one;
        ht_source_shape(l->problem, l->to, &l->vector[key->vector], distance,
                        s->value + (key->shape - 1) * size);
    }
    return HT_OK;
}

/* ---- for a window ---- */

static void free_listing(struct listing *l) {
    for (int k = 0; k < 3; k++) free(l->axis[k].node);
    free(l->envelope);
    free(l->entry);
    free(l->vector);
    free(l->key);
}

static enum ht_err walk(struct listing *l) {
    const struct ht_duhamel *d = l->problem->duhamel;
    TRY(HT_ALLOC(l->envelope, d->shots->count));
    for (int i = 0; i < d->shots->count; i++)
        make_envelope(&d->form[i], l->grid->order, &l->envelope[i]);
    for (int k = 0; k < 3; k++)
        TRY(HT_ALLOC(l->axis[k].node, l->window->count[k]));
    for (int64_t i = 0; i < d->points; i++) TRY(add_point(l, &d->point[i]));
    return HT_OK;
}

enum ht_err ht_injection_list(const struct ht_problem *problem,
                              enum ht_subgrid to,
                              const struct ht_window *window,
                              struct ht_injection_grid *out) {
    struct listing l = {
        .problem = problem, .grid = problem->grid, .to = to, .window = window};
    enum ht_err err = walk(&l);
    if (err == HT_OK) err = make_list(&l, out);
    if (err == HT_OK) err = make_shapes(&l, out);
    free_listing(&l);
    return err;
}

enum ht_err ht_injection_count(const struct ht_problem *problem,
                               enum ht_subgrid to,
                               struct ht_injection_counts *out) {
    const struct ht_grid whole = ht_grid_whole(problem->grid);
    const struct ht_window window = ht_window_make(&whole, to, 0, 0);
    struct listing l = {.problem = problem,
                        .grid = &whole,
                        .to = to,
                        .window = &window,
                        .counts = true};
    const enum ht_err err = walk(&l);
    *out = (struct ht_injection_counts){
        .nodes = ht_least(l.entries, ht_grid_total(&whole, to)),
        .entries = l.entries,
        .shapes = l.shapes};
    free_listing(&l);
    return err;
}
