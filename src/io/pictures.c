/* Pictures of a run: a slice each, of the slices that the input asks for. Values are collected on
 * rank 0, which draws. */
#include "files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

struct view {
    char name[HT_SLICE_NAME];
    struct ht_slice slice;
    int field;
    double range;              /* given; 0: none */
    double largest;            /* magnitude drawn so far, on rank 0 */
    double *background;        /* on rank 0; NULL: not read or none */
    struct ht_picture picture; /* all but what changes with time */
};
struct ht_pictures {
    const struct ht_params *params;
    const struct ht_medium *medium;
    int count, drawn; /* slices; times */
    struct view *view;
    char *last;
};

static const struct ht_equations *equations(const struct ht_pictures *p) {
    return p->medium->eq;
}

/* ---- checks ---- */

const char *ht_pictures_background(const struct ht_params *params) {
    const char *name = params->output.picture.background;
    return name && *name && strcmp(name, "none") != 0 ? name : NULL;
}

bool ht_output_draws(const struct ht_params *params) {
    return params->output.pictures && ht_picture_cairo() != NULL;
}

static enum ht_err find_field(const struct ht_params *params, const struct ht_equations *eq,
                              unsigned stored, int index, int *field) {
    struct ht_slice_given given;
    char key[HT_SLICE_KEY];
    const bool there = ht_params_slice(params, index, &given);
    const char *name = there && given.field && *given.field ? given.field : eq->field[0].name;
    return ht_fields_find(params, eq, stored, ht_params_slice_key(params, index, "field", key),
                          name, field);
}

static enum ht_err check_background(const struct ht_params *params,
                                    const struct ht_medium *medium) {
    const char *name = ht_pictures_background(params);
    double value;
    enum ht_err err = HT_OK;
    if (name) err = ht_medium_parameter(medium, name, medium->grid->lower, &value);
    if (err != HT_ERR_INPUT) return err;
    return ht_params_error(params, "output.picture.background",
                           "must be \"none\" or a parameter of the medium of %s",
                           medium->eq->system->name);
}

enum ht_err ht_pictures_check(const struct ht_params *params, const struct ht_medium *medium,
                              unsigned stored) {
    struct ht_slice_given given;
    int field;
    for (int i = 0; ht_params_slice(params, i, &given); i++)
        TRY(find_field(params, medium->eq, stored, i, &field));
    TRY(check_background(params, medium));
    TRY(ht_units_check(params, medium->eq));
    /* Without cairo a run that says nothing about pictures has none. */
    static const char section[] = "output.picture.";
    if (!params->output.pictures || ht_output_draws(params)) return HT_OK;
    for (int i = 0; i < ht_option_count(); i++) {
        const char *key = ht_option_at(i)->key;
        REFUSE(strncmp(key, section, sizeof section - 1) == 0 && ht_params_is_set(params, key),
               params, key,
               "asks for pictures, but this htwave was built without cairo, which draws them: "
               "leave it out, or set output.pictures = false");
    }
    return HT_OK;
}

/* ---- creation ---- */

static enum ht_err make_views(struct ht_pictures *p, unsigned stored) {
    struct ht_slice_given given;
    while (ht_params_slice(p->params, p->count, &given)) p->count++;
    TRY(HT_ALLOC(p->view, p->count));
    for (int i = 0; ht_params_slice(p->params, i, &given); i++) {
        struct view *view = &p->view[i];
        ht_params_slice_name(p->params, i, view->name);
        view->slice = ht_slice_make(p->medium->grid, given.plane, given.position);
        view->range = given.range;
        TRY(find_field(p->params, equations(p), stored, i, &view->field));
        const char *field = equations(p)->field[view->field].name;
        view->picture = ht_slice_picture(&view->slice, p->params);
        view->picture.value = (struct ht_label){field, ht_units_name(p->params, field)};
    }
    return HT_OK;
}

enum ht_err ht_pictures_create(const struct ht_params *params, const struct ht_medium *medium,
                               unsigned stored, struct ht_pictures **out) {
    struct ht_pictures *p = NULL;
    *out = NULL;
    TRY(HT_ALLOC(p, 1));
    p->params = params;
    p->medium = medium;
    enum ht_err err = make_views(p, stored);
    return HT_MADE(err, p, ht_pictures_destroy, out);
}

void ht_pictures_destroy(struct ht_pictures *p) {
    if (!p) return;
    for (int i = 0; p->view && i < p->count; i++) {
        free(p->view[i].background);
        ht_slice_unmark(&p->view[i].picture);
    }
    free(p->view);
    free(p->last);
    free(p);
}

enum ht_err ht_output_mark(struct ht_output *output, const struct ht_shots *shots,
                           const struct ht_receivers *receivers) {
    struct ht_pictures *p = output->pictures;
    if (!output->params->output.picture.marks || ht_comm_rank(output->medium->grid->slab.comm) != 0)
        return HT_OK;
    HT_ENDED(ht_places_free) struct ht_places places = {.shots = NULL};
    TRY(ht_places_make(shots, receivers, &places));
    for (int i = 0; i < p->count; i++)
        TRY(ht_slice_mark(&p->view[i].slice, &places, &p->view[i].picture));
    return HT_OK;
}

/* ---- texts ---- */

/* " km", or nothing. */
static void add_unit(const struct ht_params *params, const char *quantity, struct ht_text *text) {
    const char *unit = ht_units_name(params, quantity);
    if (unit) ht_text_add(text, " %s", unit);
}

void ht_pictures_place(const struct ht_params *params, const struct ht_medium *medium,
                       const struct ht_slice *slice, struct ht_text *text) {
    ht_text_add(text, "%s", medium->eq->system->name);
    if (slice->normal < 0) return;
    ht_text_add(text, ", x%d = %.4g", slice->normal + 1,
                ht_grid_x(slice->grid, HT_PRIMARY, slice->normal, slice->index));
    add_unit(params, "length", text);
}

/* ---- drawing ---- */

static enum ht_err read_background(const struct ht_pictures *p, struct view *view) {
    const char *name = ht_pictures_background(p->params);
    if (!name || view->background) return HT_OK;
    TRY(HT_ALLOC(view->background, view->slice.width * view->slice.height));
    return ht_slice_parameter(&view->slice, p->medium, name, view->background);
}

/* The range of the colours; 0: the picture's own. */
static double range_of(const struct ht_pictures *p, struct view *view,
                       const struct ht_picture *picture) {
    if (view->range > 0) return view->range;
    if (p->params->output.picture.scale == HT_SCALE_PICTURE) return 0;
    const double largest = ht_plot_largest(picture);
    if (largest > view->largest) view->largest = largest;
    return view->largest;
}

enum ht_err ht_pictures_write(struct ht_picture *picture, struct ht_text *title,
                              struct ht_text *subtitle, const char *path) {
    enum ht_err err = ht_text_status(title);
    if (!err) err = ht_text_status(subtitle);
    picture->title = title->data;
    picture->subtitle = subtitle->data;
    if (!err) err = ht_picture_write(picture, path);
    ht_text_free(title);
    ht_text_free(subtitle);
    return err;
}

static enum ht_err write_picture(const struct ht_pictures *p, struct view *view, double time,
                                 const double *values, const char *path) {
    struct ht_text title = {0}, subtitle = {0};
    struct ht_picture picture = view->picture;
    picture.values = values;
    picture.background = view->background;
    picture.range = range_of(p, view, &picture);
    /* "p (pressure) at t = 1.4 s" */
    const struct ht_field *field = &equations(p)->field[view->field];
    ht_text_add(&title, "%s (%s) at t = %.5g", field->name, field->meaning, time);
    add_unit(p->params, "time", &title);
    /* "acoustic, x3 = 0.5 km; colours: fixed; grey: c from 1.5 (light) to 4.5 (dark) km/s" */
    const char *background = ht_pictures_background(p->params);
    const bool run = p->params->output.picture.scale == HT_SCALE_RUN;
    double extreme[2];
    ht_pictures_place(p->params, p->medium, &view->slice, &subtitle);
    ht_text_add(&subtitle, "; colours: %s",
                view->range > 0 ? "fixed"
                : run           ? "largest of the run so far"
                                : "largest of this picture");
    if (ht_plot_relief(&picture, extreme)) {
        ht_text_add(&subtitle, "; grey: %s from %.4g (light) to %.4g (dark)", background,
                    extreme[0], extreme[1]);
        add_unit(p->params, background, &subtitle);
    }
    return ht_pictures_write(&picture, &title, &subtitle, path);
}

/* *drawn: rank 0 says whether it was. */
static enum ht_err take_picture(const struct ht_pictures *p, struct view *view, double time,
                                const double *const *nodal, const char *path, bool *drawn) {
    struct ht_comm *comm = p->medium->grid->slab.comm;
    const struct ht_slice *slice = &view->slice;
    HT_FREED double *values = NULL;
    if (ht_comm_rank(comm) == 0) TRY(HT_ALLOC(values, slice->width * slice->height));
    /* values, on rank 0: the slice of all ranks. */
    HT_FREED double *own = NULL;
    int64_t first, last;
    ht_slice_own(slice, &first, &last);
    int64_t count = (last - first) * slice->width;
    TRY(HT_ALLOC(own, count));
    ht_slice_values(slice, nodal[view->field], own);
    TRY(ht_comm_collect(comm, own, count * (int64_t)sizeof *own, values));
    if (values) {
        ht_slice_close(slice, values);
        /* What computes does not depend on pictures: one that cannot be drawn does not end a run.
         * Returns whether it was. */
        enum ht_err err = read_background(p, view);
        if (!err) err = write_picture(p, view, time, values, path);
        if (err) ht_warn("a picture is missing: %s", ht_err_message());
        *drawn = err == HT_OK;
    }
    return HT_OK;
}

static enum ht_err draw_view(struct ht_pictures *p, struct view *view, double time,
                             const double *const *nodal) {
    char name[HT_SLICE_NAME + 24], *path = NULL;
    bool drawn = true;
    if (*view->name)
        snprintf(name, sizeof name, HT_SLICE_PICTURE, view->name, p->drawn);
    else
        snprintf(name, sizeof name, HT_PICTURE_NAME, p->drawn);
    enum ht_err err = ht_file_path(p->params->output.directory, name, &path);
    if (!err) err = take_picture(p, view, time, nodal, path, &drawn);
    err = ht_comm_agree(p->medium->grid->slab.comm, err);
    if (drawn && !err) {
        free(p->last);
        p->last = path;
    } else {
        free(path);
    }
    return err;
}

enum ht_err ht_output_picture(struct ht_output *output, double time, const double *const *nodal) {
    struct ht_pictures *p = output->pictures;
    if (!ht_output_draws(output->params)) return HT_OK;
    for (int i = 0; i < p->count; i++) TRY(draw_view(p, &p->view[i], time, nodal));
    p->drawn++;
    return HT_OK;
}

const char *ht_output_last_picture(const struct ht_output *output) {
    return output->pictures->last;
}
