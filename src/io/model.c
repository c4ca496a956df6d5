/* The model of a run, before it: model.h5 with the medium at the nodes and the places of sources
 * and receivers, and a picture of each slice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

struct model {
    const struct ht_params *params;
    const struct ht_medium *medium;
    const char *directory;
    struct ht_places places;
};

/* ---- model.h5 ---- */

/* The first name of a row, "c" of "c|K", that this medium has; of losses where it has some. */
static bool find_name(const struct ht_medium *medium, int row, char name[32]) {
    const char *at = medium->eq->system->parameter[row].names;
    double value;
    if (medium->eq->system->parameter[row].loss && medium->eq->losses == 0) return false;
    for (; *at; at += strcspn(at, "|"), at += *at == '|') {
        snprintf(name, 32, "%.*s", (int)strcspn(at, "|"), at);
        if (ht_medium_parameter(medium, name, medium->grid->lower, &value) == HT_OK) return true;
    }
    return false;
}

static enum ht_err write_parameter(const struct model *m, struct ht_h5 *file, const char *name) {
    const struct ht_grid *grid = m->medium->grid;
    const int dims = grid->dims, up = dims - 1;
    int64_t extent[3], n[3], count = 1;
    double x[3];
    HT_FREED double *plane = NULL;
    for (int k = 0; k < 3; k++) n[k] = ht_grid_nodes(grid, HT_PRIMARY, k);
    for (int k = 0; k < dims; k++) extent[k] = n[up - k];
    for (int k = 0; k < up && k < 2; k++) count *= n[k];
    TRY(ht_h5_reserve(file, name, dims, extent, true));
    TRY(HT_ALLOC(plane, count));
    for (int64_t last = 0; last < n[up]; last++) {
        for (int64_t i = 0; i < count; i++) {
            const int64_t at[3] = {i % n[0], i / n[0], 0};
            for (int k = 0; k < 3; k++)
                x[k] = ht_grid_x(grid, HT_PRIMARY, k, k == up ? last : at[k]);
            TRY(ht_medium_parameter(m->medium, name, x, &plane[i]));
        }
        TRY(ht_h5_write_planes(file, name, 0, last, last + 1, plane));
    }
    return HT_OK;
}

static enum ht_err write_places(const struct model *m, struct ht_h5 *file, const char *name,
                                int64_t first, int64_t last) {
    const int dims = m->medium->grid->dims;
    const int64_t extent[2] = {last - first, dims};
    HT_FREED double *out = NULL;
    if (last == first) return HT_OK;
    TRY(HT_ALLOC(out, extent[0] * dims));
    for (int64_t i = first; i < last; i++)
        for (int k = 0; k < dims; k++) out[(i - first) * dims + k] = m->places.x[i][k];
    return ht_h5_write(file, name, 2, extent, out, false);
}

static enum ht_err fill_file(const struct model *m, struct ht_h5 *file) {
    const struct ht_grid *grid = m->medium->grid;
    const struct ht_system *system = m->medium->eq->system;
    char name[32];
    TRY(ht_h5_set_text(file, "system", system->name));
    TRY(ht_h5_set_number(file, "lower", grid->dims, grid->lower));
    TRY(ht_h5_set_number(file, "spacing", grid->dims, grid->h));
    TRY(ht_units_write(&m->params->output.units, file));
    for (int p = 0; p < system->nparameters; p++)
        if (find_name(m->medium, p, name)) TRY(write_parameter(m, file, name));
    TRY(write_places(m, file, "sources", 0, m->places.sources));
    return write_places(m, file, "receivers", m->places.sources, m->places.count);
}

static enum ht_err write_file(const struct model *m) {
    struct ht_h5 *file = NULL;
    HT_FREED char *path = NULL;
    TRY(ht_file_path(m->directory, "model.h5", &path));
    TRY(ht_h5_create(path, &file));
    enum ht_err err = fill_file(m, file);
    if (!err) return ht_h5_commit(file);
    ht_h5_discard(file);
    return err;
}

/* ---- pictures ---- */

/* The parameter that is drawn: the background of the run's pictures, else the speed, else the
 * first. */
static void choose_name(const struct model *m, char name[32]) {
    const struct ht_system *system = m->medium->eq->system;
    const char *given = ht_pictures_background(m->params);
    if (given == NULL) given = system->speed_name;
    if (given != NULL)
        snprintf(name, 32, "%s", given);
    else
        (void)find_name(m->medium, 0, name);
}

static enum ht_err draw(const struct model *m, int index, const struct ht_slice_given *given) {
    const struct ht_slice slice = ht_slice_make(m->medium->grid, given->plane, given->position);
    char name[HT_SLICE_NAME], file[HT_SLICE_NAME + 16], parameter[32];
    HT_FREED char *path = NULL;
    HT_FREED double *values = NULL;
    ht_params_slice_name(m->params, index, name);
    snprintf(file, sizeof file, "model%s%s.png", *name ? "_" : "", name);
    choose_name(m, parameter);
    TRY(HT_ALLOC(values, slice.width * slice.height));
    TRY(ht_slice_parameter(&slice, m->medium, parameter, values));
    TRY(ht_file_path(m->directory, file, &path));
    struct ht_text title = {0}, subtitle = {0};
    struct ht_picture picture = ht_slice_picture(&slice, m->params);
    picture.value = (struct ht_label){parameter, ht_units_name(m->params, parameter)};
    if (m->medium->grid->dims == 1) /* a curve */
        picture.values = values;
    else
        picture.background = values;
    enum ht_err err = ht_slice_mark(&slice, &m->places, &picture);
    ht_text_add(&title, "%s, the model", parameter);
    if (m->places.sources > 0)
        ht_text_add(&title, "; %lld source%s (disc)", (long long)m->places.sources,
                    m->places.sources > 1 ? "s" : "");
    if (m->places.count > m->places.sources)
        ht_text_add(&title, "; %lld receiver%s (triangle)",
                    (long long)(m->places.count - m->places.sources),
                    m->places.count - m->places.sources > 1 ? "s" : "");
    ht_pictures_place(m->params, m->medium, &slice, &subtitle);
    if (slice.normal >= 0 && m->places.count > 0)
        ht_text_add(&subtitle, "; open: in front or behind");
    if (picture.outlines > 0)
        ht_text_add(&subtitle, "; dashed: plane source or box of a plane wave");
    enum ht_err drawn = ht_pictures_write(&picture, &title, &subtitle, path);
    ht_slice_unmark(&picture);
    return err ? err : drawn;
}

enum ht_err ht_output_model(const struct ht_params *params, const struct ht_medium *medium,
                            const struct ht_shots *shots, const struct ht_receivers *receivers,
                            const char *directory) {
    struct model m = {.params = params, .medium = medium, .directory = directory};
    HT_ENDED(ht_places_free) struct ht_places places = {.shots = NULL};
    TRY(ht_places_make(shots, receivers, &places));
    m.places = places;
    struct ht_slice_given given;
    TRY(ht_file_make_directory(m.directory));
    TRY(write_file(&m));
    for (int i = 0; ht_picture_cairo() && ht_params_slice(m.params, i, &given); i++)
        TRY(draw(&m, i, &given));
    return HT_OK;
}
