/* The buffers of the stepper on a device as one list, from which the budget is
 * counted and the buffers are created. The halo owns the message buffers.
 */
#include "layout.h"
#include "src/solve/methods.h"
#include "stepper_private.h"

enum use { FIELD, MEDIUM, INTERPOLANT, WORK };

struct item {
    enum use use;
    enum ht_subgrid subgrid;
    int index; /* of the field, material, interpolant */
    int64_t bytes;
};
struct list {
    int count;
    struct item item[3 * HT_MAX_FIELDS + 2 * HT_MAX_MATERIALS + 1];
    int64_t scale_bytes; /* of a region in one direction, of any law */
    int64_t poly_planes;
};

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static void add_item(struct list *list, enum use use, int subgrid, int index,
                     int64_t bytes) {
    list->item[list->count++] =
        (struct item){use, subgrid ? HT_DUAL : HT_PRIMARY, index, bytes};
}

static void add_subgrid(const struct ht_problem *p, const struct ht_spec *spec,
                        int subgrid, struct list *list) {
    const enum ht_subgrid which = subgrid ? HT_DUAL : HT_PRIMARY;
    const struct ht_window window = ht_problem_window(p, which);
    const int64_t nodes = ht_window_nodes(&window),
                  element_size = spec->fp64 ? 8 : 4;
    int storage[HT_MAX_COEFS];
    int64_t field =
        HT_LAYOUT_SIZE(spec->block, ht_storage_order(spec, storage), nodes) *
        element_size;
    for (int f = 0; f < p->eq->nfields; f++)
        if (ht_problem_stores(p, which, f))
            add_item(list, FIELD, subgrid, f, field);
    for (int m = 0; p->medium_degree >= 0 && m < p->eq->nmaterials; m++)
        add_item(list, MEDIUM, subgrid, m,
                 nodes * p->medium_coefs * element_size);
}

/* Interpolants of as many planes as fit about an eighth of the device's memory,
 * at least one. work: one more buffer, and each of less than 2^31 values. */
static void add_interpolants(const struct ht_problem *p, bool fp64,
                             int64_t per_target, bool work,
                             const struct ht_device_info *info,
                             struct list *list) {
    int64_t planes = larger(ht_problem_window(p, HT_PRIMARY).count[2],
                            ht_problem_window(p, HT_DUAL).count[2]);
    int64_t per_plane = per_target * larger(ht_grid_plane(p->grid, HT_PRIMARY),
                                            ht_grid_plane(p->grid, HT_DUAL));
    int sources = (int)larger(ht_problem_stored(p, HT_PRIMARY),
                              ht_problem_stored(p, HT_DUAL));
    int64_t room = larger(info->memory / 8 / (sources + work), 1);
    int64_t most = INT32_MAX * (int64_t)(fp64 ? 8 : 4);
    if (work && room > most) room = most;
    if (room > info->max_buffer) room = info->max_buffer;
    list->poly_planes = larger(1, room / per_plane);
    if (list->poly_planes > planes) list->poly_planes = planes;
    for (int f = 0; f < sources; f++)
        add_item(list, INTERPOLANT, 0, f, list->poly_planes * per_plane);
    if (work) add_item(list, WORK, 0, 0, list->poly_planes * per_plane);
}

static void list_buffers(const struct ht_problem *p, const struct ht_spec *spec,
                         int64_t per_target, bool work,
                         const struct ht_device_info *info, struct list *list) {
    *list = (struct list){0};
    for (int subgrid = 0; subgrid < 2; subgrid++)
        add_subgrid(p, spec, subgrid, list);
    if (per_target > 0)
        add_interpolants(p, spec->fp64, per_target, work, info, list);
    list->scale_bytes = HT_MAX_TERMS * (int64_t)(spec->fp64 ? 8 : 4);
}

struct ht_budget ht_hermite_stepper_budget(const struct ht_problem *p,
                                           const struct ht_tuning *tuning,
                                           const struct ht_device_info *info) {
    const struct ht_spec spec = ht_problem_spec(p, tuning, HT_PRIMARY);
    struct ht_budget b = {0};
    struct list list;
    int64_t message;
    list_buffers(p, &spec, ht_variant_poly_bytes(tuning->variant, &spec),
                 ht_variant_needs_work(tuning->variant), info, &list);
    for (int i = 0; i < list.count; i++) {
        const struct item *item = &list.item[i];
        if (item->use == FIELD) b.state += item->bytes;
        if (item->use == MEDIUM) b.medium += item->bytes;
        if (item->use == INTERPOLANT || item->use == WORK)
            b.interpolants += item->bytes;
        b.largest_buffer = larger(b.largest_buffer, item->bytes);
        b.total += item->bytes;
    }
    b.total += 2 * list.scale_bytes + ht_injection_bytes(p, &spec);
    b.poly_planes = list.poly_planes;
    b.messages = ht_halo_bytes(p, tuning, &message);
    b.largest_buffer = larger(b.largest_buffer, message);
    b.total += b.messages;
    b.layers = ht_stepper_layer_bytes(p, &spec) +
               ht_stepper_sponge_bytes(p, spec.fp64);
    b.state += b.layers;
    b.total += b.layers;
    return b;
}

static struct ht_buffer **place_of(struct ht_device_stepper *t,
                                   const struct item *item) {
    switch (item->use) {
    case FIELD:
        return &t->u[item->subgrid][item->index];
    case MEDIUM:
        return &t->medium[item->subgrid][item->index];
    case INTERPOLANT:
        return &t->poly[item->index];
    default:
        return &t->work;
    }
}

/* Whether the gaps of the sorted order must be cleared: variants that also read
 * the plain order do not write them, but other variants and the reductions read
 * them. */
static bool leaves_gaps(const struct ht_device_stepper *t) {
    bool leaves = false;
    for (int i = 0; i < t->sets; i++)
        leaves = leaves || !t->set[i].variant->sorted;
    return leaves && t->spec.sorted && t->padded_coefs > t->coefs;
}

enum ht_err ht_stepper_allocate(struct ht_device_stepper *t) {
    int64_t per_target = 0;
    struct list list;
    bool work = false;
    for (int i = 0; i < t->sets; i++) {
        const struct ht_variant *variant = t->set[i].variant;
        per_target = larger(per_target,
                            ht_variant_poly_bytes(variant, &t->set[i].spec[0]));
        work = work || ht_variant_needs_work(variant);
    }
    list_buffers(&t->problem, &t->spec, per_target, work,
                 ht_device_info(t->device), &list);
    t->poly_planes = list.poly_planes;
    for (int i = 0; i < list.count; i++) {
        const struct item *item = &list.item[i];
        TRY(ht_buffer_create(t->device, item->bytes, place_of(t, item)));
        if (item->use == FIELD && leaves_gaps(t))
            TRY(ht_stepper_clear(t, item->subgrid, item->index));
    }
    for (int i = 0; i < 2 * t->regions; i++)
        TRY(ht_buffer_create(t->device, list.scale_bytes,
                             &t->scale[i % 2][i / 2]));
    return HT_OK;
}
