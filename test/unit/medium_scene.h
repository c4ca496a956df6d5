/* Media built from option texts, for the tests of the medium. */
#pragma once

#include <unistd.h>

#include "htwave/medium.h"
#include "io/scratch.h"
#include "must.h"
#include "options.h"

static char *scene_directory;

static const int64_t LINE[3] = {8, 0, 0}, SQUARE[3] = {6, 5, 0}, BOX[3] = {4, 5, 6};

/* A medium with all that must outlive it. */
struct scene {
    struct ht_params *params;
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_medium *medium;
};

static inline const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", scene_directory, name);
    return path;
}

/* cells per axis (0: axis does not exist) over [0, 1] each, order N, walls at both ends of the axes
 * set in bits of `walls`. */
static inline struct ht_grid make_grid(const int64_t *cells, int order, int walls) {
    struct ht_grid grid = {.order = order, .h = {1, 1, 1}, .cells = {1, 1, 1}};
    for (int k = 0; k < 3 && cells[k] > 0; k++) {
        grid.dims = k + 1;
        grid.cells[k] = cells[k];
        grid.upper[k] = 1;
        grid.h[k] = 1.0 / (double)cells[k];
        grid.wall[k][0] = grid.wall[k][1] = (walls >> k) & 1;
    }
    return grid;
}

/* On the grid of the scene. file: NULL, or one of parameters. options: "key=value; key=value; ..".
 */
HT_PRINTF(4, 5)
static inline enum ht_err open_file(struct scene *scene, const char *system, const char *file,
                                    const char *options, ...) {
    TEST_TEXT(text, 1024, options);
    TRY(test_params(file, ';', &scene->params, "%s", text));
    scene->eq = ht_equations_make(ht_system_find(system), scene->grid.dims);
    TRY(ht_medium_read(scene->params, &scene->eq, &scene->grid, &scene->medium));
    return ht_medium_scan(scene->medium, false);
}
#define open_scene(to, system, ...) open_file(to, system, NULL, __VA_ARGS__)

static inline void close_scene(struct scene *scene) {
    ht_medium_destroy(scene->medium);
    ht_params_destroy(scene->params);
    *scene = (struct scene){.medium = NULL};
}

/* eq and grid stay where the medium sees them: in *scene. */
#define acoustic(to, cells, order, walls, ...)                       \
    (*(to) = (struct scene){.grid = make_grid(cells, order, walls)}, \
     must(open_scene(to, "acoustic", __VA_ARGS__)))

static inline void write_raw(const char *name, int count, const float *values) {
    must(ht_file_write_in(scene_directory, name, values, (size_t)count * sizeof *values));
}

/* The whole medium on a grid, as ht_medium_fill; the caller frees it. */
static inline double *fill(const struct scene *scene, enum ht_subgrid subgrid) {
    const struct ht_medium *medium = scene->medium;
    int64_t total = ht_grid_total(&scene->grid, subgrid);
    double *out;
    must(HT_ALLOC(out, total * medium->coefs * scene->eq.nmaterials));
    must(ht_medium_fill(medium, subgrid, 0, ht_grid_planes(&scene->grid, subgrid), out));
    return out;
}
