/* Sums of a gradient over shots and the file of the result; see the header. */
#include "htwave/gradient_file.h"
#include "files.h"

static int sum_of(const struct ht_gradient_sums *sums, int coefficient) {
    if (coefficient < 0) return HT_GRADIENT_ILLUMINATION;
    if (sums->pair) return HT_GRADIENT_COEFFICIENT + coefficient;
    return coefficient == 0 ? HT_GRADIENT_COMPLIANCE
                            : HT_GRADIENT_INVERSE_DENSITY + coefficient - 1;
}

static HT_ERR take(struct ht_gradient_sums *sums, unsigned coefficients) {
    TRY(HT_TAKE(&sums->pool, sums->misfit, sums->shots));
    const int64_t nodes = ht_grid_own_total(sums->grid, HT_PRIMARY);
    HT_EACH_BIT(c, coefficients) TRY(HT_TAKE(&sums->pool, sums->sum[sum_of(sums, c)], nodes));
    return HT_TAKE(&sums->pool, sums->sum[HT_GRADIENT_ILLUMINATION], nodes);
}

HT_ERR ht_gradient_sums_create(const struct ht_grid *grid, const struct ht_equations *eq,
                               unsigned coefficients, int64_t shots, const char *mark,
                               struct ht_gradient_sums *out) {
    *out = (struct ht_gradient_sums){.grid = grid, .shots = shots};
    static const char *const names[] = {
        [HT_GRADIENT_COMPLIANCE] = "m",           [HT_GRADIENT_ILLUMINATION] = "light",
        [HT_GRADIENT_INVERSE_DENSITY] = "b1",     [HT_GRADIENT_INVERSE_DENSITY + 1] = "b2",
        [HT_GRADIENT_INVERSE_DENSITY + 2] = "b3",
    };
    struct ht_pair pair = {.nown = 0};
    out->pair = eq != NULL && ht_pair_make(eq, HT_PAIR_APART, &pair) == NULL;
    for (size_t s = 0; s < sizeof names / sizeof *names; s++)
        snprintf(out->name[s], sizeof *out->name, "%s", names[s]);
    HT_EACH_AT(c, const struct ht_pair_coefficient, of, pair.coefficient,
               pair.nown + pair.ncouplings)
        snprintf(out->name[HT_GRADIENT_COEFFICIENT + c], sizeof *out->name, "C_%s_%s",
                 eq->field[of->row].name, eq->field[of->col].name);
    snprintf(out->mark, sizeof out->mark, "%s", mark);
    const enum ht_err err = ht_comm_agree(grid->slab.comm, take(out, coefficients));
    if (err != HT_OK) ht_gradient_sums_destroy(out);
    return err;
}

void ht_gradient_sums_destroy(struct ht_gradient_sums *sums) {
    ht_pool_free(&sums->pool);
    *sums = (struct ht_gradient_sums){0};
}

/* ---- kept ---- */

struct planes {
    const struct ht_grid *grid;
    double *values;
};
static HT_ERR move_planes(void *context, bool load, int64_t first, int64_t last, double *values) {
    const struct planes *planes = context;
    const int64_t plane = ht_grid_plane(planes->grid, HT_PRIMARY);
    double *own = planes->values + (first - ht_grid_own(planes->grid, HT_PRIMARY).first) * plane;
    memcpy(load ? own : values, load ? values : own,
           (size_t)((last - first) * plane) * sizeof *values);
    return HT_OK;
}

static HT_ERR walk(void *context, struct ht_archive *archive) {
    struct ht_gradient_sums *sums = context;
    const struct ht_range own = ht_grid_own(sums->grid, HT_PRIMARY);
    ht_archive_text(archive, "mark", sums->mark);
    ht_archive_integer(archive, "shots", &sums->shots);
    ht_archive_integer(archive, "done", &sums->done);
    ht_archive_numbers(archive, "misfit", sums->shots, sums->misfit, false);
    if (sums->places > 0)
        ht_archive_numbers(archive, "places", sums->places, sums->at_places, false);
    for (int s = 0; s < HT_GRADIENT_SUMS; s++) {
        struct planes planes = {sums->grid, sums->sum[s]};
        const struct ht_archive_array array = {.name = sums->name[s],
                                               .groups = 1,
                                               .planes = ht_grid_planes(sums->grid, HT_PRIMARY),
                                               .plane = ht_grid_plane(sums->grid, HT_PRIMARY),
                                               .first = own.first,
                                               .last = own.last,
                                               .move = move_planes,
                                               .context = &planes};
        if (sums->sum[s] != NULL) ht_archive_array(archive, &array);
    }
    return HT_OK;
}

HT_ERR ht_gradient_sums_save(struct ht_gradient_sums *sums, const char *path) {
    HT_FREED char *older = NULL;
    TRY(ht_text_print(&older, "%s-1", path));
    TRY(ht_archive_save(sums->grid->slab.comm, path, older, walk, sums));
    if (ht_comm_rank(sums->grid->slab.comm) == 0) (void)remove(older);
    return HT_OK;
}

/* Whether the file's sums are these. */
static HT_ERR find_mark(const struct ht_gradient_sums *sums, const char *path, bool *same) {
    HT_FREED char *mark = NULL;
    double shots = 0;
    *same = false;
    if (!ht_file_exists(path)) return HT_OK;
    TRY(ht_archive_check(path));
    TRY(ht_archive_read_text(path, "mark", &mark));
    TRY(ht_archive_read_number(path, "shots", &shots));
    *same = strcmp(mark, sums->mark) == 0 && (int64_t)shots == sums->shots;
    return HT_OK;
}

HT_ERR ht_gradient_sums_resume(struct ht_gradient_sums *sums, const char *path) {
    struct ht_comm *comm = sums->grid->slab.comm;
    bool same = false;
    enum ht_err err = ht_comm_rank(comm) == 0 ? find_mark(sums, path, &same) : HT_OK;
    if (err == HT_ERR_IO)
        err = ht_err_prefix(err, "shots that are done (%s)", "remove it to begin anew");
    TRY(ht_comm_agree(comm, err));
    TRY(ht_comm_broadcast(comm, &same, sizeof same));
    return same ? ht_archive_load(comm, path, walk, sums) : HT_OK;
}

enum ht_err ht_gradient_sums_read(void *data, int coefficient, int64_t first, int64_t last,
                                  double *out) {
    const struct ht_gradient_sums *sums = data;
    const int sum = sum_of(sums, coefficient);
    struct planes planes = {sums->grid, sums->sum[sum]};
    REQUIRE(planes.values != NULL, HT_ERR_INTERNAL, "no sum %s", sums->name[sum]);
    return move_planes(&planes, false, first, last, out);
}

/* ---- gradient.h5 ---- */

/* The file's axes, fastest first: those of the model file, else x1, x2, .. */
static int find_axes(const struct ht_params *params, const struct ht_medium_wanted *wanted,
                     int axis[3]) {
    const struct ht_names *named = &params->medium.axes;
    int rank = 1;
    for (int k = 0; k < 3; k++) axis[k] = k;
    for (int k = 1; k < 3; k++)
        if (wanted->shape[k] > 1) rank = k + 1;
    if (wanted->samples == 1 || named->count == 0) return rank;
    for (int j = 0; j < named->count; j++) axis[j] = ht_text_find("x1|x2|x3", '|', named->name[j]);
    return named->count;
}

/* Values with x1 fastest, in the file's order. */
static HT_ERR write_samples(struct ht_h5 *file, const struct ht_params *params,
                            const struct ht_medium_wanted *wanted, const char *name,
                            const double *values) {
    int axis[3];
    const int rank = find_axes(params, wanted, axis);
    int64_t extent[3];
    HT_ARRAY(double, out, wanted->samples);
    for (int j = 0; j < rank; j++) extent[rank - 1 - j] = wanted->shape[axis[j]];
    TRY(ht_samples_unplace(params, wanted->shape, values, out));
    return ht_h5_write(file, name, rank, extent, out, false);
}

static HT_ERR write_lattice(struct ht_h5 *file, const struct ht_params *params,
                            const struct ht_medium_wanted *wanted) {
    HT_FREED_TEXT struct ht_text text = {0};
    double origin[3], spacing[3];
    int axis[3];
    const int rank = find_axes(params, wanted, axis);
    for (int j = 0; j < rank; j++) {
        ht_text_add(&text, "%sx%d", j ? " " : "", axis[j] + 1);
        origin[j] = wanted->origin[axis[j]];
        spacing[j] = wanted->spacing[axis[j]];
    }
    TRY(ht_text_status(&text));
    TRY(ht_h5_set_text(file, "model_axes", text.data));
    TRY(ht_h5_set_number(file, "model_origin", rank, origin));
    return ht_h5_set_number(file, "model_spacing", rank, spacing);
}

struct result {
    const struct ht_params *params;
    const struct ht_gradient_sums *sums;
    struct ht_grid box; /* of the nodes that are written */
    const struct ht_medium_gradient *gradient;
    double *light[HT_MAX_MATERIALS]; /* NULL: none */
    int sets;
    const char *image; /* "gradient" */
    struct ht_h5_values set[HT_GRADIENT_SUMS];
    char name[HT_GRADIENT_SUMS][32];
};

static HT_ERR lay_out(struct result *r, struct ht_h5 *file) {
    const struct ht_medium_gradient *g = r->gradient;
    double cells[3];
    for (int k = 0; k < 3; k++) cells[k] = (double)r->box.cells[k];
    TRY(ht_h5_set_text(file, "input", r->sums->mark));
    TRY(ht_h5_set_number(file, "cells", r->box.dims, cells));
    TRY(ht_planes_describe(r->params, &r->box, file));
    TRY(ht_h5_write(file, "misfit", 1, &r->sums->shots, r->sums->misfit, false));
    HT_EACH_AT(w, const struct ht_medium_wanted, of, g->wanted, g->count) {
        const char *name = HT_KEY("%s/%s", r->image, of->name);
        if (of->samples > 1) TRY(write_lattice(file, r->params, of));
        TRY(write_samples(file, r->params, of, name, of->value));
        name = HT_KEY("illumination/%s", of->name);
        if (r->light[w] != NULL) TRY(write_samples(file, r->params, of, name, r->light[w]));
    }
    return HT_OK;
}

static HT_ERR add_nodes(struct result *r, struct ht_pool *pool) {
    const int64_t own = ht_grid_own_total(r->sums->grid, HT_PRIMARY);
    for (int s = 0; s < HT_GRADIENT_SUMS; s++) {
        if (r->sums->sum[s] == NULL) continue;
        double *values = NULL;
        TRY(HT_TAKE(pool, values, own));
        memcpy(values, r->sums->sum[s], (size_t)own * sizeof *values);
        ht_grid_crop(r->sums->grid, 1, values);
        snprintf(r->name[r->sets], sizeof *r->name, "%s_nodes/%s", r->image, r->sums->name[s]);
        r->set[r->sets] = ht_planes_set(&r->box, r->name[r->sets], false, false, values);
        r->sets++;
    }
    return HT_OK;
}

HT_ERR ht_gradient_write(struct ht_gradient_sums *sums, const struct ht_params *params,
                         struct ht_medium_gradient *gradient, bool nodes, const char *path) {
    struct ht_comm *comm = sums->grid->slab.comm;
    struct result r = {.params = params,
                       .sums = sums,
                       .box = ht_grid_inner(sums->grid),
                       .gradient = gradient,
                       .image = HT_WORD(GRADIENT_IMAGE, params->gradient.image)};
    HT_ENDED(ht_pool_free) struct ht_pool pool = {0};
    struct ht_h5 *file = NULL;
    enum ht_err err = HT_OK;
    for (int w = 0; w < gradient->count && err == HT_OK && sums->sum[HT_GRADIENT_ILLUMINATION]; w++)
        err = HT_TAKE(&pool, r.light[w], gradient->wanted[w].samples);
    if (err == HT_OK && nodes) err = add_nodes(&r, &pool);
    TRY(ht_comm_agree(comm, err));
    for (int w = 0; w < gradient->count && r.light[w] != NULL; w++)
        TRY(ht_medium_gradient_share(gradient, w, -1, ht_gradient_sums_read, sums, r.light[w]));
    if (ht_comm_rank(comm) == 0) err = ht_h5_create(path, params->output.checksums, &file);
    if (err == HT_OK && file != NULL) err = lay_out(&r, file);
    return ht_planes_end(&r.box, err, file, path, r.sets, r.set);
}
