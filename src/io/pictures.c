/* Pictures of a run, a slice each, collected and drawn on rank 0; along a periodic axis the first
 * node is repeated at the end. And the model of a run: model.h5 and a picture of each slice. */
#include "files.h"

#include "plot.h"

/* ---- slices ---- */

static int64_t points(const struct ht_grid *grid, int axis) {
    return ht_grid_nodes(grid, HT_PRIMARY, axis) +
           (axis < grid->dims && ht_grid_periodic(grid, axis));
}

struct ht_slice ht_slice_make(const struct ht_grid *grid, enum ht_grid_axis plane,
                              double position) {
    struct ht_slice slice = {.grid = grid, .across = 0, .up = 1, .normal = -1, .height = 1};
    if (grid->dims == 3) {
        slice.normal = (int)plane;
        slice.across = slice.normal == 0 ? 1 : 0;
        slice.up = slice.normal == 2 ? 1 : 2;
        int64_t node = (int64_t)lround(position * (double)grid->cells[slice.normal]);
        slice.index = ht_most(0, ht_least(node, ht_grid_nodes(grid, HT_PRIMARY, slice.normal) - 1));
        slice.at = ht_grid_x(grid, HT_PRIMARY, slice.normal, slice.index);
    }
    slice.width = points(grid, slice.across);
    if (grid->dims > 1) slice.height = points(grid, slice.up);
    return slice;
}

/* Rows whose values this rank has; those of the ranks follow one another. A row that repeats the
 * first behind a periodic seam is not among them. */
static struct ht_range slice_own(const struct ht_slice *slice) {
    const struct ht_range own = ht_grid_own(slice->grid, HT_PRIMARY);
    const bool beside = slice->index < own.first || slice->index >= own.last;
    if (slice->up == 2) return own;
    if (slice->normal == 2 && beside) return (struct ht_range){0, 0};
    return (struct ht_range){0, ht_grid_nodes(slice->grid, HT_PRIMARY, slice->up)};
}

static void find_node(const struct ht_slice *slice, int64_t column, int64_t row, int64_t node[3]) {
    node[0] = node[1] = node[2] = 0;
    if (slice->normal >= 0) node[slice->normal] = slice->index;
    node[slice->up] = row;
    node[slice->across] = column;
}

/* out[last - first][width], own rows, from nodal values of the own planes. */
static void slice_values(const struct ht_slice *slice, const double *nodal, double *out) {
    const struct ht_range rows = slice_own(slice), own = ht_grid_own(slice->grid, HT_PRIMARY);
    int64_t n[3], at[3];
    for (int k = 0; k < 3; k++) n[k] = ht_grid_nodes(slice->grid, HT_PRIMARY, k);
    for (int64_t j = rows.first; j < rows.last; j++)
        for (int64_t i = 0; i < slice->width; i++) {
            find_node(slice, i % n[slice->across], j, at);
            *out++ = nodal[((at[2] - own.first) * n[1] + at[1]) * n[0] + at[0]];
        }
}

/* out[height][width] of a parameter of the medium. */
static HT_ERR slice_parameter(const struct ht_slice *slice, const struct ht_medium *medium,
                              const char *name, double *out) {
    int64_t at[3];
    double x[3];
    for (int64_t i = 0; i < slice->height * slice->width; i++) {
        find_node(slice, i % slice->width, i / slice->width, at);
        for (int k = 0; k < 3; k++) x[k] = ht_grid_x(slice->grid, HT_PRIMARY, k, at[k]);
        TRY(ht_medium_parameter(medium, name, x, &out[i]));
    }
    return HT_OK;
}

/* What layers that take a part of the box leave of a slice. */
static struct ht_outline inner_of(const struct ht_slice *slice) {
    const struct ht_grid *grid = slice->grid;
    const int normal = slice->normal;
    struct ht_outline in;
    for (int side = 0; side < 2; side++) {
        in.x[side] = ht_layers_end(grid, slice->across, side);
        in.y[side] = ht_layers_end(grid, slice->up, side);
    }
    if (normal >= 0 &&
        (slice->at < ht_layers_end(grid, normal, 0) || slice->at > ht_layers_end(grid, normal, 1)))
        in.x[1] = in.x[0];
    return in;
}

struct ht_picture ht_slice_picture(const struct ht_slice *slice, const struct ht_params *params) {
    const char *length = ht_units_name(params, "length");
    return (struct ht_picture){.width = slice->width,
                               .height = slice->height,
                               .x0 = slice->grid->lower[slice->across],
                               .x1 = slice->grid->upper[slice->across],
                               .y0 = slice->grid->lower[slice->up],
                               .y1 = slice->grid->upper[slice->up],
                               .y_down = slice->height > 1 && slice->up == ht_down_axis(params),
                               .x = {HT_WORD(AXIS, slice->across), length},
                               .y = {HT_WORD(AXIS, slice->up), length},
                               .layered = ht_layers_any(slice->grid),
                               .inner = inner_of(slice),
                               .pixels = params->output.picture.pixels};
}

static struct ht_mark mark_of(const struct ht_slice *slice, const double x[3], bool source) {
    const int n = slice->normal;
    const double half = n < 0 ? INFINITY : 0.5 * slice->grid->h[n] * (1 + 1e-9);
    return (struct ht_mark){.x = x[slice->across],
                            .y = slice->height > 1 ? x[slice->up] : 0,
                            .source = source,
                            .inside = n < 0 || fabs(x[n] - slice->at) <= half};
}

/* A plane across the slice is a line; one that is the slice, or in front of it, is not drawn, nor
 * is the box of a plane wave that the slice does not cut. */
static bool find_outline(const struct ht_slice *slice, const struct ht_shot *shot,
                         struct ht_outline *out) {
    const int across = slice->across, up = slice->up, normal = slice->normal;
    const bool plane = shot->type->flat;
    if (ht_places_of(shot) > 0 || slice->height == 1) return false;
    if (plane && shot->axis == normal) return false;
    *out = (struct ht_outline){{shot->first[across], shot->last[across]},
                               {shot->first[up], shot->last[up]}};
    if (plane) {
        const int along = shot->axis == across ? up : across;
        double *at = along == up ? out->x : out->y, *whole = along == up ? out->y : out->x;
        at[1] = at[0];
        whole[0] = slice->grid->lower[along];
        whole[1] = slice->grid->upper[along];
    }
    return plane || normal < 0 ||
           (slice->at >= shot->first[normal] && slice->at <= shot->last[normal]);
}

/* ---- the pictures of a run ---- */

struct ht_picture_view {
    char name[HT_GROUP_NAME];
    struct ht_slice slice;
    int field;
    double range;              /* given; 0: none */
    double largest;            /* magnitude drawn so far, on rank 0 */
    double *background;        /* on rank 0; NULL: not read or none */
    struct ht_picture picture; /* all but what changes with time */
};

/* output.picture.background; NULL: none. */
static const char *background_of(const struct ht_params *params) {
    const char *name = params->output.picture.background;
    return name && *name && strcmp(name, "none") != 0 ? name : NULL;
}

bool ht_output_draws(const struct ht_params *params) {
    return params->output.pictures && ht_picture_cairo() != NULL;
}

double ht_output_drawn_every(const struct ht_params *params) {
    const bool many = params->shots.count > 0 && params->number.source == NULL;
    return ht_value_or(&params->output.picture.every, many ? params->time.end / 9 : 0);
}

static HT_ERR find_field(const struct ht_output *output, int index, int *field) {
    const struct ht_params *params = output->params;
    const struct ht_equations *eq = output->medium->eq;
    const bool list = params->output.picture.slices.count > 0;
    struct ht_slice_given given;
    (void)ht_params_slice(params, index, &given);
    return ht_fields_find(params, eq, output->stored,
                          list ? HT_KEY("output.picture.slices.%d.field", index + 1)
                               : "output.picture.field",
                          *given.field ? given.field : eq->field[0].name, field);
}

HT_ERR ht_pictures_check(const struct ht_output *output) {
    const struct ht_params *params = output->params;
    const struct ht_medium *medium = output->medium;
    const char *name = background_of(params);
    struct ht_slice_given given;
    double value;
    int field;
    enum ht_err err = HT_OK;
    for (int i = 0; ht_params_slice(params, i, &given); i++) TRY(find_field(output, i, &field));
    if (name) err = ht_medium_parameter(medium, name, medium->grid->lower, &value);
    REFUSE(err == HT_ERR_INPUT, params, "output.picture.background",
           "must be \"none\" or a parameter of the medium of %s", medium->eq->system->name);
    TRY(err);
    TRY(ht_units_check(params, output->medium->eq));
    /* Without cairo a run that says nothing about pictures has none. */
    static const char section[] = "output.picture.";
    if (!params->output.pictures || ht_output_draws(params)) return HT_OK;
    HT_EACH_BY(i, const char, key, ht_option_at(i)->key, ht_option_count())
        REFUSE(strncmp(key, section, sizeof section - 1) == 0 && ht_params_is_set(params, key),
               params, key,
               "asks for pictures, but this htwave was built without cairo, which draws them: "
               "leave it out, or set output.pictures = false");
    return HT_OK;
}

HT_ERR ht_pictures_create(struct ht_output *output) {
    const struct ht_params *params = output->params;
    struct ht_slice_given given;
    while (ht_params_slice(params, output->slices, &given)) output->slices++;
    TRY(HT_ALLOC(output->view, output->slices));
    for (int i = 0; ht_params_slice(params, i, &given); i++) {
        struct ht_picture_view *view = &output->view[i];
        ht_params_name(params, "output.picture.slices", i + 1, view->name);
        view->slice = ht_slice_make(&output->grid, given.plane, given.position);
        view->range = given.range;
        TRY(find_field(output, i, &view->field));
        const char *field = output->medium->eq->field[view->field].name;
        view->picture = ht_slice_picture(&view->slice, params);
        view->picture.value = (struct ht_label){field, ht_units_name(params, field)};
    }
    return HT_OK;
}

void ht_pictures_destroy(struct ht_output *output) {
    for (int i = 0; output->view && i < output->slices; i++) {
        free(output->view[i].background);
        free(output->view[i].picture.mark);
        free(output->view[i].picture.outline);
    }
    free(output->view);
    free(output->last_picture);
}

/* Once. */
static HT_ERR mark_views(struct ht_output *output, const struct ht_places *places) {
    const int shots = places->shots ? places->shots->count : 0;
    HT_EACH_BY(n, const struct ht_slice, slice, &output->view[n].slice, output->slices) {
        struct ht_picture *picture = &output->view[n].picture;
        TRY(HT_ALLOC(picture->mark, places->count));
        TRY(HT_ALLOC(picture->outline, shots));
        picture->marks = places->count;
        for (int64_t i = 0; i < places->count; i++)
            picture->mark[i] = mark_of(slice, places->x[i], i < places->sources);
        for (int i = 0; i < shots; i++)
            if (find_outline(slice, &places->shots->shot[i], &picture->outline[picture->outlines]))
                picture->outlines++;
    }
    return HT_OK;
}

HT_ERR ht_output_mark(struct ht_output *output, const struct ht_shots *shots,
                      const struct ht_receivers *receivers) {
    if (!output->params->output.picture.marks || ht_comm_rank(output->comm) != 0) return HT_OK;
    HT_ENDED(ht_places_free) struct ht_places places = {.shots = NULL};
    TRY(ht_places_make(shots, receivers, &places));
    return mark_views(output, &places);
}

/* " km", or nothing. */
static void add_unit(const struct ht_params *params, const char *quantity, struct ht_text *text) {
    const char *unit = ht_units_name(params, quantity);
    if (unit) ht_text_add(text, " %s", unit);
}

/* "acoustic, x3 = 0.5 km" */
static void add_place(const struct ht_params *params, const struct ht_medium *medium,
                      const struct ht_slice *slice, struct ht_text *text) {
    ht_text_add(text, "%s%s", medium->eq->system->name,
                ht_layers_any(slice->grid) ? ", layers hatched" : "");
    if (slice->normal < 0) return;
    ht_text_add(text, ", x%d = %.4g", slice->normal + 1, slice->at);
    add_unit(params, "length", text);
}

static HT_ERR draw_picture(struct ht_picture *picture, const struct ht_text *title,
                           const struct ht_text *subtitle, const char *path) {
    TRY(ht_text_status(title));
    TRY(ht_text_status(subtitle));
    picture->title = title->data;
    picture->subtitle = subtitle->data;
    return ht_picture_write(picture, path);
}

static HT_ERR write_picture(const struct ht_output *p, struct ht_picture_view *view, double time,
                            const double *values, const char *path) {
    HT_FREED_TEXT struct ht_text title = {0}, subtitle = {0};
    struct ht_picture picture = view->picture;
    picture.values = values;
    picture.background = view->background;
    picture.range = view->range; /* 0: the picture's own */
    if (!(view->range > 0) && p->params->output.picture.scale != HT_SCALE_PICTURE)
        picture.range = view->largest = fmax(view->largest, ht_plot_largest(&picture));
    /* "p (pressure) at t = 1.4 s" */
    const struct ht_field *field = &p->medium->eq->field[view->field];
    ht_text_add(&title, "%s (%s) at t = %.5g", field->name, field->meaning, time);
    add_unit(p->params, "time", &title);
    /* "acoustic, x3 = 0.5 km; colours: fixed; grey: c from 1.5 (light) to 4.5 (dark) km/s" */
    const char *background = background_of(p->params);
    const bool run = p->params->output.picture.scale == HT_SCALE_RUN;
    double extreme[2];
    add_place(p->params, p->medium, &view->slice, &subtitle);
    ht_text_add(&subtitle, "; colours: %s",
                view->range > 0 ? "fixed"
                : run           ? "largest of the run so far"
                                : "largest of this picture");
    if (ht_plot_relief(&picture, extreme)) {
        ht_text_add(&subtitle, "; grey: %s from %.4g (light) to %.4g (dark)", background,
                    extreme[0], extreme[1]);
        add_unit(p->params, background, &subtitle);
    }
    return draw_picture(&picture, &title, &subtitle, path);
}

/* *drawn: rank 0 says whether it was. */
static HT_ERR take_picture(const struct ht_output *p, struct ht_picture_view *view, double time,
                           const double *const *nodal, const char *path, bool *drawn) {
    const struct ht_slice *slice = &view->slice;
    HT_FREED double *values = NULL;
    if (ht_comm_rank(p->comm) == 0) TRY(HT_ALLOC(values, slice->width * slice->height));
    /* values, on rank 0: the slice of all ranks. */
    const struct ht_range rows = slice_own(slice);
    const int64_t count = (rows.last - rows.first) * slice->width;
    HT_ARRAY(double, own, count);
    slice_values(slice, nodal[view->field], own);
    TRY(ht_comm_collect(p->comm, own, count * (int64_t)sizeof *own, values));
    if (values) {
        /* the row behind a periodic seam */
        const int64_t all = slice->width * ht_grid_nodes(slice->grid, HT_PRIMARY, slice->up);
        for (int64_t i = all; i < slice->height * slice->width; i++) values[i] = values[i - all];
        /* What computes does not depend on pictures: one that cannot be drawn does not end a run.
         * Returns whether it was. */
        const char *background = background_of(p->params);
        const bool read = background != NULL && view->background == NULL;
        enum ht_err err = HT_OK;
        if (read) err = HT_ALLOC(view->background, slice->width * slice->height);
        if (read && !err) err = slice_parameter(slice, p->medium, background, view->background);
        if (!err) err = write_picture(p, view, time, values, path);
        if (err) ht_warn("a picture is missing: %s", ht_err_message());
        *drawn = err == HT_OK;
    }
    return HT_OK;
}

HT_ERR ht_output_picture(struct ht_output *output, double time, const double *const *nodal) {
    if (!ht_output_draws(output->params)) return HT_OK;
    HT_EACH(struct ht_picture_view, view, output->view, output->slices) {
        const char *name = *view->name ? HT_KEY(HT_SLICE_PICTURE, view->name, (int)output->drawn)
                                       : HT_KEY(HT_PICTURE_NAME, (int)output->drawn);
        HT_FREED char *path = NULL;
        bool drawn = true;
        enum ht_err err = ht_file_path(output->params->output.directory, name, &path);
        if (!err) err = take_picture(output, view, time, nodal, path, &drawn);
        TRY(ht_comm_agree(output->comm, err));
        if (!drawn) continue;
        free(output->last_picture);
        output->last_picture = path;
        path = NULL;
    }
    output->drawn++;
    return HT_OK;
}

void ht_pictures_archive(struct ht_output *output, struct ht_archive *archive) {
    ht_archive_integer(archive, "pictures", &output->drawn);
    /* a slice that was not there before begins with its first picture */
    for (int i = 0; i < output->slices; i++)
        ht_archive_numbers(archive, HT_KEY("picture_largest/%s%d", output->view[i].name, i), 1,
                           &output->view[i].largest, true);
}

/* ---- the model: model.h5 ---- */

struct model {
    struct ht_output output; /* its views and what they need */
    const char *directory;
    struct ht_places places;
};

static void end_model(struct model *m) {
    ht_pictures_destroy(&m->output);
    ht_places_free(&m->places);
}

/* The first name of a row, "c" of "c|K", that this medium has; of losses where it has some. */
static bool find_name(const struct ht_medium *medium, int row, char name[32]) {
    const struct ht_parameter *parameter = &medium->eq->system->parameter[row];
    double value;
    if (parameter->loss && medium->eq->losses == 0) return false;
    for (int i = 0; ht_alternative(parameter->names, i, name, 32); i++)
        if (ht_medium_parameter(medium, name, medium->grid->lower, &value) == HT_OK) return true;
    return false;
}

/* By planes along the last axis. */
static HT_ERR write_parameter(const struct model *m, struct ht_h5 *file, const char *name) {
    const struct ht_grid *grid = &m->output.grid;
    const int dims = grid->dims, last = dims - 1;
    struct ht_slice plane = {
        .grid = grid, .normal = last, .across = last == 0, .up = last == 2 ? 1 : 2};
    int64_t extent[3] = {0};
    for (int k = 0; k < dims; k++) extent[k] = ht_grid_nodes(grid, HT_PRIMARY, last - k);
    plane.width = ht_grid_nodes(grid, HT_PRIMARY, plane.across);
    plane.height = ht_grid_nodes(grid, HT_PRIMARY, plane.up);
    TRY(ht_h5_reserve(file, name, dims, extent, false, !ht_in_double(m->output.params)));
    HT_ARRAY(double, values, plane.width *plane.height);
    for (; plane.index < extent[0]; plane.index++) {
        TRY(slice_parameter(&plane, m->output.medium, name, values));
        TRY(ht_h5_write_planes(file, name, 0, plane.index, plane.index + 1, values));
    }
    return HT_OK;
}

static HT_ERR fill_file(const struct model *m, struct ht_h5 *file) {
    const struct ht_grid *grid = &m->output.grid;
    char name[32];
    TRY(ht_planes_describe(m->output.params, grid, file));
    for (int p = 0; p < m->output.medium->eq->system->nparameters; p++)
        if (find_name(m->output.medium, p, name)) TRY(write_parameter(m, file, name));
    const struct ht_places *at = &m->places;
    TRY(ht_positions_write(file, "sources", grid->dims, at->sources, at->x));
    return ht_positions_write(file, "receivers", grid->dims, at->count - at->sources,
                              at->x + at->sources);
}

static HT_ERR draw(const struct model *m, const char *parameter, struct ht_picture_view *view) {
    const struct ht_slice *slice = &view->slice;
    struct ht_picture *picture = &view->picture;
    const int64_t sources = m->places.sources, receivers = m->places.count - sources;
    HT_FREED_TEXT struct ht_text title = {0}, subtitle = {0};
    HT_ARRAY(double, values, (slice->width * slice->height));
    TRY(slice_parameter(slice, m->output.medium, parameter, values));
    HT_PATH(path, m->directory, HT_KEY("model%s%s.png", *view->name ? "_" : "", view->name));
    picture->value = (struct ht_label){parameter, ht_units_name(m->output.params, parameter)};
    *(slice->grid->dims == 1 ? &picture->values : &picture->background) =
        values; /* a curve, a map */
    ht_text_add(&title, "%s, the model", parameter);
    if (sources > 0)
        ht_text_add(&title, "; %lld source%s (disc)", (long long)sources, sources > 1 ? "s" : "");
    if (receivers > 0)
        ht_text_add(&title, "; %lld receiver%s (triangle)", (long long)receivers,
                    receivers > 1 ? "s" : "");
    add_place(m->output.params, m->output.medium, slice, &subtitle);
    if (slice->normal >= 0 && m->places.count > 0)
        ht_text_add(&subtitle, "; open: in front or behind");
    if (picture->outlines > 0)
        ht_text_add(&subtitle, "; dashed: plane source or box of a plane wave");
    return draw_picture(picture, &title, &subtitle, path);
}

HT_ERR ht_output_model(const struct ht_params *params, const struct ht_medium *medium,
                       const struct ht_shots *shots, const struct ht_receivers *receivers,
                       const char *directory) {
    HT_ENDED(end_model)
    struct model m = {
        {.params = params, .medium = medium, .grid = ht_grid_inner(medium->grid)}, directory, {0}};
    struct ht_h5 *file = NULL;
    TRY(ht_places_make(shots, receivers, &m.places));
    TRY(ht_file_make_directory(directory));
    HT_PATH(path, directory, "model.h5");
    TRY(ht_h5_create(path, false, &file));
    const enum ht_err err = fill_file(&m, file);
    if (err) ht_h5_close(file);
    TRY(err ? err : ht_h5_commit(file));
    TRY(ht_pictures_create(&m.output));
    TRY(mark_views(&m.output, &m.places));
    /* The background of the run's pictures, else the speed, else the first parameter. */
    char first[32];
    const char *drawn = background_of(params);
    if (drawn == NULL) drawn = medium->eq->system->speed_name;
    if (drawn == NULL && find_name(medium, 0, first)) drawn = first;
    for (int i = 0; ht_picture_cairo() && i < m.output.slices; i++)
        TRY(draw(&m, drawn, &m.output.view[i]));
    return HT_OK;
}
