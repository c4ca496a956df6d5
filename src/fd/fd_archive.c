/* Arrays of steppers in checkpoints. */
#include "fd.h"

static enum ht_err move_stored(void *context, bool load, int64_t first, int64_t last,
                               double *values) {
    const struct ht_fd_stored *of = context;
    const bool fp64 = of->engine->spec.fp64;
    if (of->nodes != NULL)
        return ht_fd_move_planes(of->nodes, of->array, first, last, load ? values : NULL,
                                 load ? NULL : values);
    for (int64_t g = 0; g < of->groups; g++) {
        const int64_t count = (last - first) * of->plane, at = of->base + g * of->apart;
        double *part = values + g * count;
        const int64_t from = at + (first - of->first) * of->plane;
        TRY((load ? ht_buffer_write_reals(of->array, fp64, from, count, part)
                  : ht_buffer_read_reals(of->array, fp64, from, count, part)));
    }
    return HT_OK;
}

void ht_fd_archive_memory(struct ht_archive *archive, const char *name, struct ht_fd_stored *of) {
    const struct ht_archive_array array = {.name = name,
                                           .single = !of->engine->spec.fp64,
                                           .groups = of->groups,
                                           .planes = of->planes,
                                           .plane = of->plane,
                                           .first = of->first,
                                           .last = of->last,
                                           .move = move_stored,
                                           .context = of};
    ht_archive_array(archive, &array);
}

void ht_fd_archive_nodes(struct ht_fd_stepper *s, struct ht_archive *archive, const char *name,
                         struct ht_buffer *values) {
    struct ht_fd_stored of = {.engine = &s->engine,
                              .nodes = s,
                              .array = values,
                              .groups = 1,
                              .planes = ht_grid_planes(s->problem.grid, HT_PRIMARY),
                              .plane = ht_grid_plane(s->problem.grid, HT_PRIMARY),
                              .first = s->own.first,
                              .last = s->own.last};
    ht_fd_archive_memory(archive, name, &of);
}
