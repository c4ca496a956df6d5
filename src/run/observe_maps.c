/* Maps of fields (htwave/maps.h): kept on the device, written at the end. */
#include "htwave/maps.h"
#include "htwave/run.h"

struct ht_map_kept {
    const struct ht_maps *of;
    struct ht_field_map map;
    struct ht_tool *tool;
    int64_t samples;
    bool waits; /* for the next step, which takes the last sample */
};

/* The number in the window of the box's first node. */
static int64_t first_node(const struct ht_map_kept *kept, const struct ht_window *window) {
    const struct ht_field_map *map = &kept->map;
    const int64_t first = ht_grid_own(&kept->of->plan->grid, HT_PRIMARY).first;
    const int64_t *own = window->own.begin;
    return ht_window_at(window, own[0] + map->from[0], own[1] + map->from[1],
                        own[2] + map->from[2] + map->own.first * map->stride - first);
}

static HT_ERR take(const struct ht_arrays *a, struct ht_map_kept *kept, bool begins) {
    const struct ht_maps *m = kept->of;
    const struct ht_field_map *map = &kept->map;
    const struct ht_window *window = &a->window[HT_PRIMARY];
    const double time = (double)m->step * m->plan->problem.dt - map->early;
    double turn[2 * HT_MAP_WAVES];
    if (map->shape.nodes == 0) return HT_OK;
    const int64_t count[3] = {map->count[0], map->count[1], map->own.last - map->own.first};
    for (int i = 0; i < 2 * map->shape.waves; i++) {
        const double angle = 2 * HT_PI * map->frequency[i / 2] * time;
        turn[i] = i % 2 ? -sin(angle) : cos(angle);
    }
    return ht_mapper_take(kept->tool, window, first_node(kept, window), map->stride, count,
                          a->u[HT_PRIMARY][map->field], begins, a->level, time, turn);
}

static bool is_due(const struct ht_map_kept *kept) {
    const int64_t since = kept->of->step - kept->map.first;
    return since >= 0 && since % kept->map.every == 0;
}

/* The sample of this step is taken by the next one. */
static HT_ERR wait_for(struct ht_map_kept *kept) {
    const struct ht_stepper *stepper = kept->of->stepper;
    const struct ht_fd_keep keep = {.map = ht_mapper_buffer(kept->tool),
                                    .rate = kept->map.rate,
                                    .steepest = kept->map.steepest};
    kept->waits = true;
    return stepper->ops->keep(stepper->self, kept->map.shape.what, &keep);
}

static HT_ERR take_due(const struct ht_maps *m) {
    struct ht_arrays arrays;
    m->stepper->ops->arrays(m->stepper->self, &arrays);
    HT_EACH(struct ht_map_kept, kept, m->kept, m->count) {
        const bool begins = kept->samples == 0, last = m->step == m->plan->steps;
        kept->waits = false;
        const bool by_steps = kept->map.shape.window > 0;
        if (!is_due(kept) && !(by_steps && last && !begins)) continue;
        kept->samples++;
        TRY(by_steps && !begins && !last ? wait_for(kept) : take(&arrays, kept, begins));
    }
    return HT_OK;
}

/* Receivers take steps beyond the end. */
static HT_ERR after_step(void *follower) {
    struct ht_maps *m = follower;
    return ++m->step <= m->plan->steps ? take_due(m) : HT_OK;
}

static HT_ERR make(struct ht_maps *m) {
    struct ht_arrays arrays;
    m->stepper->ops->arrays(m->stepper->self, &arrays);
    TRY(HT_ALLOC(m->kept, m->plan->params->output.maps.count));
    for (; m->count < m->plan->params->output.maps.count; m->count++) {
        struct ht_map_kept *kept = &m->kept[m->count];
        kept->of = m;
        TRY(ht_map_find(m->plan, arrays.variant, arrays.fp64, m->count, &kept->map));
        kept->map.shape.block = arrays.block;
        TRY(ht_mapper_create(arrays.device, &kept->map.shape, &kept->tool));
    }
    return HT_OK;
}

static HT_ERR maps_begin(void *context, struct ht_run *run) {
    struct ht_maps *m = context;
    *m = (struct ht_maps){.plan = run->plan, .stepper = &run->stepper};
    if (run->plan->params->output.maps.count == 0) return HT_OK;
    TRY(ht_comm_agree(run->plan->grid.slab.comm, make(m)));
    run->stepper.follow = after_step;
    run->stepper.follower = m;
    return run->from == NULL ? take_due(m) : HT_OK;
}

/* Rows of the box, side by side, and some planes of the window; all: with the first row's node. */
struct moved {
    const struct ht_map_kept *kept;
    bool load;
    int64_t plane, row;
    double *all, *values;
};

static HT_ERR move_rows(void *context, int64_t begin, int64_t end) {
    const struct moved *m = context;
    const int64_t *count = m->kept->map.count;
    for (int64_t i = begin; i < end; i++) {
        double *there = m->all + i / count[1] * m->plane + i % count[1] * m->row;
        double *here = m->values + i * count[0];
        memcpy(m->load ? there : here, m->load ? here : there, (size_t)count[0] * sizeof *here);
    }
    return HT_OK;
}

/* Planes of the box, from their places in the window; some at a time, for the threads. */
static HT_ERR move_planes(const struct ht_map_kept *kept, bool load, int64_t first, int64_t last,
                          double *values) {
    enum { SOME = 1 << 22, LEAST = 64 }; /* values; rows of a thread */
    const struct ht_field_map *map = &kept->map;
    struct ht_arrays a;
    kept->of->stepper->ops->arrays(kept->of->stepper->self, &a);
    const struct ht_window *window = &a.window[HT_PRIMARY];
    const int64_t plane = ht_window_plane(window), most = ht_most(SOME / plane, 1);
    const int64_t start = first_node(kept, window), at = start % plane;
    HT_ARRAY(double, all, ht_least(most, last - first) * plane);
    struct moved m = {kept, load, plane, window->count[0], all + at, NULL};
    m.values = values;
    for (int64_t m3 = first; m3 < last; m3 += most) {
        const int64_t planes = ht_least(most, last - m3), rows = planes * map->count[1];
        const int64_t node = start - at + (m3 - map->own.first) * plane, count = planes * plane;
        if (!load) TRY(ht_mapper_move(kept->tool, false, node, count, all));
        TRY(ht_threads_share(rows, LEAST, move_rows, &m));
        if (load) TRY(ht_mapper_move(kept->tool, true, node, count, all));
        m.values += rows * map->count[0];
    }
    return HT_OK;
}

static HT_ERR move(void *context, bool load, int64_t first, int64_t last, double *values) {
    const struct ht_map_kept *kept = context;
    const int64_t plane = kept->map.count[0] * kept->map.count[1];
    const int64_t from = first - kept->map.own.first, count = (last - first) * plane;
    if (kept->map.shape.window > 0) return move_planes(kept, load, first, last, values);
    for (int slot = 0; slot < ht_map_slots(&kept->map.shape); slot++)
        TRY(ht_mapper_move(kept->tool, load, slot * kept->map.shape.nodes + from * plane, count,
                           values + slot * count));
    return HT_OK;
}

static HT_ERR maps_look(void *context, const struct ht_view *view) {
    const struct ht_maps *m = context;
    struct ht_arrays arrays;
    if (view->last && m->count > 0) m->stepper->ops->arrays(m->stepper->self, &arrays);
    for (int i = 0; view->last && i < m->count; i++) {
        struct ht_map_kept *kept = &m->kept[i];
        const int64_t count = kept->map.shape.nodes * ht_map_slots(&kept->map.shape);
        HT_FREED double *slots = NULL;
        enum ht_err err = HT_ALLOC(slots, count);
        if (kept->samples == 0) continue;             /* interrupted before output.maps.N.start */
        if (err == HT_OK && count > 0 && kept->waits) /* interrupted: no step follows */
            err = take(&arrays, kept, false);
        if (err == HT_OK && count > 0)
            err = move(kept, false, kept->map.own.first, kept->map.own.last, slots);
        TRY(ht_comm_agree(view->run->plan->grid.slab.comm, err));
        TRY(ht_map_write(m->plan, &kept->map, kept->samples, view->time, slots));
    }
    return HT_OK;
}

static HT_ERR maps_archive(void *context, struct ht_run *run, struct ht_archive *archive) {
    struct ht_maps *m = context;
    if (ht_archive_loads(archive)) m->step = run->steps;
    HT_EACH(struct ht_map_kept, kept, m->kept, m->count) {
        const struct ht_archive_array array = {.name = HT_KEY("maps/%s", kept->map.name),
                                               .single = !kept->map.shape.fp64,
                                               .groups = ht_map_slots(&kept->map.shape),
                                               .planes = kept->map.count[2],
                                               .plane = kept->map.count[0] * kept->map.count[1],
                                               .first = kept->map.own.first,
                                               .last = kept->map.own.last,
                                               .move = move,
                                               .context = kept};
        ht_archive_integer(archive, HT_KEY("map_samples/%s", kept->map.name), &kept->samples);
        ht_archive_array(archive, &array);
        if (ht_archive_loads(archive) && kept->map.shape.window > 0 && is_due(kept) &&
            m->step > kept->map.first && m->step < m->plan->steps)
            TRY(wait_for(kept));
    }
    return HT_OK;
}

static void maps_end(void *context) {
    struct ht_maps *m = context;
    for (int i = 0; i < m->count; i++) {
        if (ht_log_level_get() >= HT_LOG_VERBOSE)
            ht_log("map %s: kernels took %.3g s", m->kept[i].map.name,
                   ht_tool_total(m->kept[i].tool, HT_PART_INTERIOR));
        ht_tool_destroy(m->kept[i].tool);
    }
    free(m->kept);
    *m = (struct ht_maps){.count = 0};
}

struct ht_observer ht_observe_maps(struct ht_maps *maps) {
    *maps = (struct ht_maps){.count = 0};
    return (struct ht_observer){.name = "maps",
                                .context = maps,
                                .begin = maps_begin,
                                .look = maps_look,
                                .archive = maps_archive,
                                .end = maps_end};
}
