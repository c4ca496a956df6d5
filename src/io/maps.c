/* Maps of a run and their files; see the header. */
#include "htwave/maps.h"

#include "files.h"

/* ---- what is kept ---- */

static HT_ERR find_what(const struct ht_plan *plan, const struct ht_map_given *given, int n,
                        struct ht_field_map *out) {
#define LISTED(constant, word) " " word
    const char *words = &(HT_EACH_MAP(LISTED))[1];
    out->shape.waves = given->frequencies.count;
    REFUSE(out->shape.waves > HT_MAP_WAVES, plan->params,
           HT_KEY("output.maps.%d.frequencies", n + 1), "at most %d", HT_MAP_WAVES);
    for (int w = 0; w < out->shape.waves; w++) out->frequency[w] = given->frequencies.number[w];
    if (given->what.count == 0 && out->shape.waves == 0) out->shape.what = 1u << HT_MAP_MAXIMUM;
    for (int i = 0; i < given->what.count; i++) {
        const int kind = ht_text_find(words, ' ', given->what.name[i]);
        REFUSE(kind < 0, plan->params, HT_KEY("output.maps.%d.what", n + 1),
               "no map \"%s\": there are %s", given->what.name[i], words);
        out->shape.what |= 1u << kind;
    }
    if (out->shape.what >> HT_MAP_TIME & 1u) out->shape.what |= 1u << HT_MAP_LARGEST;
    return HT_OK;
}

static HT_ERR find_box(const struct ht_plan *plan, const struct ht_map_given *given, int n,
                       struct ht_field_map *out) {
    const struct ht_grid inner = ht_grid_inner(&plan->grid), *grid = &inner;
    const char *key[] = {HT_KEY("output.maps.%d.from", n + 1), HT_KEY("output.maps.%d.to", n + 1)};
    const bool set[] = {ht_params_is_set(plan->params, key[0]),
                        ht_params_is_set(plan->params, key[1])};
    const struct ht_range own = ht_grid_own(&plan->grid, HT_PRIMARY);
    const int64_t stride = out->stride = given->stride;
    const double rounding = 1e-9;
    for (int k = 0; k < 3; k++) {
        const int64_t nodes = ht_grid_nodes(grid, HT_PRIMARY, k);
        const double from = set[0] ? (given->from[k] - grid->lower[k]) / grid->h[k] : 0;
        const double to = set[1] ? (given->to[k] - grid->lower[k]) / grid->h[k] : (double)nodes;
        out->count[k] = 1;
        if (k >= grid->dims) continue;
        REFUSE(!(from <= to && to >= -0.5 && from <= (double)nodes - 0.5), plan->params,
               key[set[0] ? 0 : 1], "leaves no nodes along x%d, which are from %.6g to %.6g", k + 1,
               grid->lower[k], ht_grid_x(grid, HT_PRIMARY, k, nodes - 1));
        const int64_t begin = ht_most(0, (int64_t)ceil(from - rounding));
        const int64_t end = ht_least(nodes, (int64_t)floor(to + rounding) + 1);
        out->from[k] = begin < end ? begin : ht_least(nodes - 1, ht_most(0, (int64_t)round(from)));
        if (begin < end) out->count[k] = ht_divide_up(end - begin, stride);
    }
    for (int k = 0; k < 3; k++) out->from[k] += plan->grid.outer[k][0]; /* behind layers outside */
    const int64_t first = ht_divide_up(ht_most(0, own.first - out->from[2]), stride);
    const int64_t last = ht_divide_up(ht_most(0, own.last - out->from[2]), stride);
    out->own.first = ht_least(first, out->count[2]);
    out->own.last = ht_least(last, out->count[2]);
    out->shape.nodes = out->count[0] * out->count[1] * (out->own.last - out->own.first);
    return HT_OK;
}

static bool is_auto(const struct ht_map_given *given) {
    return given->every.kind == HT_VALUE_TEXT && strcmp(given->every.text, "auto") == 0;
}

/* One kind of extreme on the whole grid at steps that are chosen is kept by the steps themselves,
 * where they can: the first such group. */
static bool kept_by_steps(const struct ht_plan *plan, const struct ht_variant *variant, int n) {
    const struct ht_map_given *group = plan->params->output.maps.group;
    const unsigned one = 1u << HT_MAP_MAXIMUM | 1u << HT_MAP_MINIMUM | 1u << HT_MAP_LARGEST;
    if (plan->problem.second == NULL || !ht_fd_keeps(variant, plan->problem.layers != NULL))
        return false;
    for (int i = 0; i <= n; i++) {
        struct ht_field_map map = {.name = ""};
        const bool all = !ht_params_is_set(plan->params, HT_KEY("output.maps.%d.from", i + 1)) &&
                         !ht_params_is_set(plan->params, HT_KEY("output.maps.%d.to", i + 1));
        if (all && group[i].stride == 1 && is_auto(&group[i]) &&
            find_what(plan, &group[i], i, &map) == HT_OK && map.shape.waves == 0 &&
            (map.shape.what & one) == map.shape.what && !(map.shape.what & (map.shape.what - 1)))
            return i == n;
    }
    return false;
}

/* The part that a sine which turns by `angle` in a step lacks at most: between samples, or by waves
 * of struct ht_fd_keep, whose peak lies at any phase from the middle of the two steps nearest. */
static double lacking(const struct ht_field_map *map, double angle) {
    enum { PHASES = 32 };
    double least = 1;
    if (map->shape.window == 0) return 1 - cos(fmin(HT_PI, angle * (double)map->every / 2));
    for (int i = 0; i <= PHASES; i++) {
        const double phase = angle * (double)map->every / 2 * i / PHASES;
        const double middle = cos(phase) * cos(angle / 2), d = 2 * sin(phase) * sin(angle / 2);
        const double swing = map->rate * d, top = cos(phase - angle / 2);
        const bool wave = swing <= map->steepest * middle * (1 + 1e-9);
        least = fmin(least, wave ? fmax(top, hypot(middle, swing)) : top);
    }
    return 1 - least;
}

static double pulse_lacks(const struct ht_plan *plan, const struct ht_field_map *map) {
    double worst = 0;
    HT_EACH_SHOT(shot, plan->shots) {
        double energy[HT_SIGNAL_BANDS], all = 0, lacks = 0;
        ht_shot_bands(&plan->eq, shot, energy);
        for (int b = 0; b < HT_SIGNAL_BANDS; b++) {
            const double part = sqrt(energy[b]);
            all += part;
            lacks += part * lacking(map, 2 * HT_PI * ht_shot_band(shot, b) * plan->problem.dt);
        }
        worst = fmax(worst, all > 0 ? lacks / all : 0);
    }
    return plan->shots != NULL ? worst : NAN;
}

/* So many per period of the highest frequency; of those that steps keep, fewer rather than more
 * than each fourth step. */
static int64_t steps_apart(const struct ht_field_map *map, double per_period, bool extremes) {
    const double steps = per_period * (1 + 1e-9);
    if (map->shape.window == 0) return (int64_t)floor(steps / (extremes ? 8 : 5));
    return ht_most(ht_least(4, (int64_t)floor(steps / 3.75)), (int64_t)floor(steps / 6));
}

/* Extremes lie between samples; means need their squares without aliases. */
static HT_ERR find_steps(const struct ht_plan *plan, const struct ht_variant *variant, int n,
                         struct ht_field_map *out) {
    const struct ht_map_given *given =
        (const struct ht_map_given *)plan->params->output.maps.group + n;
    const double dt = plan->problem.dt, end = plan->params->time.end;
    const double highest =
        fmax(plan->params->initial.frequency, plan->shots != NULL ? plan->shots->highest : 0);
    const bool extremes = (out->shape.what & ~(1u << HT_MAP_RMS)) != 0;
    const double angle = 2 * HT_PI * highest * dt, every = ht_value_or(&given->every, 0);
    const bool chosen = is_auto(given);
    REFUSE(given->start > end, plan->params, HT_KEY("output.maps.%d.start", n + 1),
           "no samples: the run ends at %.6g", end);
    if (chosen && angle > 0 && angle < HT_PI / 2 && kept_by_steps(plan, variant, n)) {
        const struct ht_tuning tuning = {.fp64 = out->shape.fp64, .variant = variant};
        out->shape.window = ht_stepper_budget(&plan->problem, &tuning, NULL).largest_buffer /
                            ht_real_size(out->shape.fp64);
    }
    out->every = chosen && angle > 0 ? steps_apart(out, 2 * HT_PI / angle, extremes)
                 : dt > 0            ? (int64_t)floor(every / dt * (1 + 1e-9))
                                     : 1;
    out->every = ht_most(1, out->every);
    if (out->shape.window > 0) {
        out->rate = 1 / (2 * tan(angle / 2));
        out->steepest = tan(fmin(1.4, angle * (double)out->every / 2));
    }
    out->first = dt > 0 ? (int64_t)ceil(given->start / dt * (1 - 1e-9)) : 0;
    const double apart = (double)out->every * dt;
    out->lacks = out->of_pulse = NAN;
    if (highest > 0 && extremes) {
        enum { PARTS = 32 };
        out->lacks = 0;
        for (int i = 1; i <= PARTS; i++)
            out->lacks = fmax(out->lacks, lacking(out, angle * i / PARTS));
        out->of_pulse = pulse_lacks(plan, out);
    }
    for (int w = 0; w < out->shape.waves; w++)
        REFUSE(out->frequency[w] * apart >= 0.5, plan->params,
               HT_KEY("output.maps.%d.frequencies", n + 1),
               "%.6g is too high for samples %.6g apart (every)", out->frequency[w], apart);
    return HT_OK;
}

/* Extremes are written where they grow, others always; of the field memory gives 8 neighbours along
 * x1 at a time. */
static double bytes_moved(const struct ht_plan *plan, const struct ht_field_map *map) {
    const int slots = ht_map_slots(&map->shape), real = ht_real_size(map->shape.fp64);
    const unsigned sums = map->shape.what >> HT_MAP_RMS & 1u;
    double bytes = (double)real / (double)map->every;
    if (map->shape.window > 0) return bytes;
    bytes *= (double)(ht_least(map->stride, 8) + slots + sums + 2L * map->shape.waves);
    for (int k = 0; k < plan->grid.dims; k++)
        bytes *= (double)map->count[k] / (double)ht_grid_nodes(&plan->grid, HT_PRIMARY, k);
    return bytes;
}

HT_ERR ht_map_find(const struct ht_plan *plan, const struct ht_variant *variant, bool fp64, int n,
                   struct ht_field_map *out) {
    const struct ht_params *params = plan->params;
    const struct ht_map_given *given = (const struct ht_map_given *)params->output.maps.group + n;
    *out = (struct ht_field_map){.shape = {.fp64 = fp64}};
    ht_params_name(params, "output.maps", n + 1, out->name);
    REFUSE(strcmp(params->device.backend, "oracle") == 0, params, "output.maps",
           "are kept by kernels: take another device.backend");
    TRY(ht_fields_find(params, &plan->eq, plan->problem.stored[HT_PRIMARY],
                       HT_KEY("output.maps.%d.field", n + 1),
                       *given->field ? given->field : plan->eq.field[0].name, &out->field));
    out->early = plan->problem.early >> out->field & 1u ? plan->problem.dt / 2 : 0;
    TRY(find_what(plan, given, n, out));
    TRY(find_box(plan, given, n, out));
    TRY(find_steps(plan, variant, n, out));
    out->moved = bytes_moved(plan, out);
    return HT_OK;
}

HT_ERR ht_maps_compile(const struct ht_plan *plan, const struct ht_tuning *tuning,
                       struct ht_kernels *kernels) {
    struct ht_field_map map;
    for (int n = 0; n < plan->params->output.maps.count; n++)
        if (ht_map_find(plan, tuning->variant, tuning->fp64, n, &map) == HT_OK &&
            map.shape.window > 0)
            TRY(ht_fd_keeper_build(kernels->fd, map.shape.what,
                                   plan->problem.layers != NULL &&
                                       plan->problem.layers->type != HT_ABSORBING_SPONGE));
    return HT_OK;
}

int64_t ht_maps_bytes(const struct ht_plan *plan, const struct ht_variant *variant, bool fp64,
                      bool written) {
    int64_t values = 0;
    struct ht_field_map map;
    for (int n = 0; n < plan->params->output.maps.count; n++) {
        if (ht_map_find(plan, variant, fp64, n, &map) != HT_OK) continue;
        const int64_t slots = ht_map_slots(&map.shape);
        values += written ? slots * map.count[0] * map.count[1] * map.count[2]
                          : ht_most(map.shape.window, slots * map.shape.nodes);
    }
    return values * ht_real_size(fp64);
}

/* ---- files ---- */

/* Of maps: nodes whose slots become what files hold. */
struct sums {
    const struct ht_field_map *map;
    double samples, scale;
    double *slots;
};

/* Sums become means and waves, all in units of the field. */
static HT_ERR finish(void *data, int64_t begin, int64_t end) {
    const struct sums *s = data;
    const int64_t nodes = s->map->shape.nodes;
    double *slot = s->slots;
    HT_EACH_BIT(kind, s->map->shape.what) {
        for (int64_t n = begin; kind == HT_MAP_RMS && n < end; n++)
            slot[n] = sqrt(slot[n] / s->samples);
        for (int64_t n = begin; kind != HT_MAP_TIME && n < end; n++) slot[n] /= s->scale;
        slot += nodes;
    }
    for (int w = 0; w < s->map->shape.waves; w++, slot += 2 * nodes)
        for (int64_t n = begin; n < end; n++) {
            const double cosine = slot[n], sine = slot[nodes + n];
            slot[n] = 2 / s->samples * hypot(cosine, sine) / s->scale;
            slot[nodes + n] = atan2(sine, cosine);
        }
    return HT_OK;
}

static HT_ERR write_attributes(const struct ht_plan *plan, const struct ht_field_map *map,
                               const struct ht_grid *box, int64_t samples, double time,
                               struct ht_h5 *file) {
    const double dt = plan->problem.dt, apart = dt * (double)map->every;
    const double number[] = {time, (double)samples, apart, dt * (double)map->first - map->early,
                             apart * (double)samples};
    static const char *const name[] = {"time", "samples", "every", "start", "lasts"};
    TRY(ht_h5_set_text(file, "field", plan->eq.field[map->field].name));
    for (int i = 0; i < 5; i++) TRY(ht_h5_set_number(file, name[i], 1, &number[i]));
    if (map->shape.waves > 0)
        TRY(ht_h5_set_number(file, "frequencies", map->shape.waves, map->frequency));
    return ht_planes_describe(plan->params, box, file);
}

/* The box as a grid of its own, at the places of the field's values. */
static void make_box(const struct ht_plan *plan, const struct ht_field_map *map,
                     struct ht_grid *box) {
    const unsigned parity = plan->problem.early ? plan->eq.field[map->field].parity : 0;
    *box = (struct ht_grid){
        .dims = plan->grid.dims,
        .slab = {plan->grid.slab.comm, map->own.first, map->own.last, .nodes = true}};
    for (int k = 0; k < 3; k++) {
        const double half = parity >> k & 1u ? 0.5 : 0;
        box->h[k] = plan->grid.h[k] * (double)map->stride;
        box->cells[k] = map->count[k] - (k < box->dims);
        box->wall[k][0] = box->wall[k][1] = 1;
        box->lower[k] =
            ht_grid_x(&plan->grid, HT_PRIMARY, k, map->from[k]) + half * plan->grid.h[k];
        box->upper[k] = box->lower[k] + (double)box->cells[k] * box->h[k];
    }
}

enum { SETS = HT_MAP_KINDS + 2 * HT_MAP_WAVES };

/* A slice of a dataset, in three dimensions normal to the axis along which the box is one node, or
 * that of output.picture. */
static HT_ERR draw(const struct ht_plan *plan, const struct ht_field_map *map,
                   const struct ht_grid *box, struct ht_h5 *file, const char *set) {
    const struct ht_params *params = plan->params;
    const struct ht_field *field = &plan->eq.field[map->field];
    const bool phase = strncmp(set, "phase", 5) == 0, time = strcmp(set, "time") == 0;
    const char *unit = time ? "time" : field->name;
    int plane = (int)params->output.picture.single.plane;
    for (int k = 0; k < box->dims; k++)
        if (box->cells[k] == 0) plane = k;
    const struct ht_slice slice =
        ht_slice_make(box, (enum ht_grid_axis)plane, params->output.picture.single.position);
    struct ht_picture picture = ht_slice_picture(&slice, params);
    HT_ARRAY(double, values, (slice.width * slice.height));
    TRY(slice.normal < 0
            ? ht_h5_read(file, set, slice.width * slice.height, values)
            : ht_h5_read_planes(file, set, 2 - slice.normal, slice.index, slice.index + 1, values));
    HT_PATH(path, params->output.directory, HT_KEY("map_%s_%s.png", map->name, set));
    picture.title = HT_KEY(time ? "%s of the largest |%s| (%s)" : "%s of %s (%s)", set, field->name,
                           field->meaning);
    picture.value = (struct ht_label){set, phase ? NULL : ht_units_name(params, unit)};
    *(slice.height == 1 ? &picture.values : &picture.background) = values;
    return ht_picture_write(&picture, path);
}

/* What computes does not depend on pictures. */
static HT_ERR draw_all(const struct ht_plan *plan, const struct ht_field_map *map,
                       const struct ht_grid *box, const char *path, int count,
                       const struct ht_h5_values *set) {
    struct ht_h5 *file;
    if (!ht_output_draws(plan->params)) return HT_OK;
    TRY(ht_h5_open(path, &file));
    for (int i = 0; i < count; i++)
        if (draw(plan, map, box, file, set[i].name) != HT_OK)
            ht_warn("a picture is missing: %s", ht_err_message());
    ht_h5_close(file);
    return HT_OK;
}

/* maximum, .., amplitude_1, phase_1, .. */
HT_ERR ht_map_write(const struct ht_plan *plan, const struct ht_field_map *map, int64_t samples,
                    double time, double *slots) {
    enum { LEAST_NODES = 1 << 16 };
    const struct ht_params *params = plan->params;
    struct ht_comm *comm = plan->grid.slab.comm;
    struct ht_h5_values set[SETS];
    char name[SETS][24];
    int count = 0;
    struct ht_grid box;
    struct ht_h5 *file = NULL;
    HT_FREED char *path = NULL;
    make_box(plan, map, &box);
    struct sums sums = {map, (double)samples, plan->scale, slots};
    HT_EACH_BIT(kind, map->shape.what)
        snprintf(name[count++], sizeof *name, "%s", HT_WORD(MAP, kind));
    for (int w = 0; w < 2 * map->shape.waves; w++)
        snprintf(name[count++], sizeof *name, "%s_%d", w % 2 ? "phase" : "amplitude", w / 2 + 1);
    for (int i = 0; i < count; i++)
        set[i] =
            ht_planes_set(&box, name[i], !map->shape.fp64, false, slots + i * map->shape.nodes);
    enum ht_err err = ht_threads_share(map->shape.nodes, LEAST_NODES, finish, &sums);
    if (err == HT_OK)
        err = ht_file_path(params->output.directory, HT_KEY("map_%s.h5", map->name), &path);
    if (err == HT_OK && ht_comm_rank(comm) == 0)
        err = ht_h5_create(path, params->output.checksums, &file);
    if (file != NULL) err = write_attributes(plan, map, &box, samples, time, file);
    TRY(ht_planes_end(&box, err, file, path, count, set));
    return HT_BY_FIRST(comm, draw_all(plan, map, &box, path, count, set));
}
