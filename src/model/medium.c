/* The medium as the methods use it: polynomials of the materials at the nodes of x3 planes, of
 * either grid. medium_source.c reads its parameters, medium_node.c computes the polynomials and
 * medium_scan.c checks them.
 */

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "medium_private.h"

/* Of a chunk, worth a thread. */
enum { LEAST_NODES = 512 };

enum ht_err ht_medium_read(const struct ht_params *params, const struct ht_equations *eq,
                           const struct ht_grid *grid, struct ht_medium **out) {
    struct ht_medium *medium = NULL;
    *out = NULL;
    TRY(HT_ALLOC(medium, 1));
    medium->eq = eq;
    medium->grid = grid;
    enum ht_err err = HT_ALLOC(medium->source, 1);
    if (err == HT_OK) {
        medium->source->medium = medium;
        medium->source->params = params;
        err = ht_medium_source_read(medium);
    }
    return HT_MADE(err, medium, ht_medium_destroy, out);
}

enum ht_err ht_medium_scan(struct ht_medium *medium, bool sampled) {
    struct ht_medium_source *source = medium->source;
    source->sampled = sampled;
    TRY(ht_medium_source_expand(medium));
    TRY(HT_ALLOC(source->seen[HT_PRIMARY], ht_grid_planes(medium->grid, HT_PRIMARY)));
    TRY(HT_ALLOC(source->seen[HT_DUAL], ht_grid_planes(medium->grid, HT_DUAL)));
    return ht_medium_visit(medium);
}

enum ht_err ht_medium_create(const struct ht_params *params, const struct ht_equations *eq,
                             const struct ht_grid *grid, struct ht_medium **out) {
    TRY(ht_medium_read(params, eq, grid, out));
    enum ht_err err = ht_medium_scan(*out, false);
    if (err == HT_OK) return HT_OK;
    ht_medium_destroy(*out);
    *out = NULL;
    return err;
}

void ht_medium_destroy(struct ht_medium *medium) {
    if (!medium) return;
    ht_medium_source_destroy(medium->source);
    free(medium);
}

/* ---- fill ---- */

/* Destination of nodes: out[(material * coefs + a) * count + node]. */
struct target {
    const struct ht_medium *medium;
    const struct ht_medium_work *work;
    enum ht_subgrid subgrid;
    int64_t nodes[3], count;
    double *out;
};

/* At walls the powers odd in the normal are dropped (see the header). */
static bool dropped(const struct target *target, const int64_t index[3], const int *power) {
    const struct ht_grid *grid = target->medium->grid;
    if (target->subgrid != HT_PRIMARY) return false;
    for (int k = 0; k < HT_MAX_DIMS; k++) {
        bool end = index[k] == 0 || index[k] == target->nodes[k] - 1;
        if (end && power[k] % 2 != 0 && !ht_grid_periodic(grid, k)) return true;
    }
    return false;
}

static enum ht_err fill_node(const struct target *target, const int64_t index[3], int64_t node,
                             int64_t *flattened) {
    const struct ht_medium *medium = target->medium;
    const struct ht_jets *jets = medium->source->jets;
    double x[3];
    bool flat = false;
    for (int k = 0; k < 3; k++) x[k] = ht_grid_x(medium->grid, target->subgrid, k, index[k]);
    TRY(ht_medium_node(medium, target->work, x, &flat));
    if (flat) ++*flattened;
    for (int m = 0; m < medium->eq->nmaterials; m++) {
        double *out = target->out + (int64_t)m * medium->coefs * target->count;
        for (int a = 0; a < medium->coefs; a++)
            out[a * target->count + node] =
                dropped(target, index, jets->index[a]) ? 0 : target->work->material[m][a];
    }
    return HT_OK;
}

/* Copies nodes [from, from + size) of every material and power to `to`. */
static void copy_nodes(const struct target *target, int64_t from, int64_t to, int64_t size) {
    int64_t rows = (int64_t)target->medium->eq->nmaterials * target->medium->coefs;
    for (int64_t row = 0; row < rows; row++) {
        double *out = target->out + row * target->count;
        memcpy(out + to, out + from, (size_t)size * sizeof *out);
    }
}

/* Lines of planes by threads; of axes on which nothing depends the first node.
 */
struct lines {
    struct target target;
    int64_t first, visit[2], count, chunks;
    _Atomic int64_t *flattened; /* visited nodes of each plane */
};

static enum ht_err fill_lines(const struct lines *lines, const struct target *target, int64_t begin,
                              int64_t end) {
    const int64_t n1 = target->nodes[0], n2 = target->nodes[1];
    for (int64_t i = begin; i < end; i++) {
        const int64_t plane = i / lines->visit[1], i2 = i % lines->visit[1];
        const int64_t row = (plane * n2 + i2) * n1;
        int64_t flat = 0;
        for (int64_t i1 = 0; i1 < lines->visit[0]; i1++) {
            const int64_t index[3] = {i1, i2, lines->first + plane};
            TRY(fill_node(target, index, row + i1, &flat));
        }
        for (int64_t i1 = lines->visit[0]; i1 < n1; i1++) copy_nodes(target, row, row + i1, 1);
        lines->flattened[plane] += flat;
    }
    return HT_OK;
}

static enum ht_err fill_chunk(void *data, int64_t chunk, int worker) {
    const struct lines *lines = data;
    struct ht_medium_work work;
    struct target target = lines->target;
    (void)worker;
    TRY(ht_medium_work_create(target.medium, &work));
    target.work = &work;
    enum ht_err err =
        fill_lines(lines, &target, ht_threads_first(lines->count, lines->chunks, chunk),
                   ht_threads_first(lines->count, lines->chunks, chunk + 1));
    ht_medium_work_destroy(&work);
    return err;
}

/* Planes of other ranks are counted by those ranks. */
static void count_plane(const struct target *target, int64_t plane, int64_t flattened) {
    struct ht_medium_source *source = target->medium->source;
    int64_t first, last;
    ht_grid_own(target->medium->grid, target->subgrid, &first, &last);
    if (source->counted || source->seen[target->subgrid][plane]) return;
    if (plane < first || plane >= last) return;
    source->seen[target->subgrid][plane] = true;
    source->medium->flattened += flattened;
}

static void count_planes(const struct lines *lines, int64_t last) {
    const struct target *target = &lines->target;
    const int64_t same = target->nodes[0] / lines->visit[0] * (target->nodes[1] / lines->visit[1]);
    const bool *depends = target->medium->source->depends;
    for (int64_t plane = lines->first; plane < last; plane++)
        count_plane(target, plane, lines->flattened[depends[2] ? plane - lines->first : 0] * same);
}

/* Lines and planes that are like those visited. */
static void repeat_lines(const struct lines *lines, int64_t last) {
    const struct target *target = &lines->target;
    const int64_t n1 = target->nodes[0], n2 = target->nodes[1];
    const int64_t planes = lines->count / lines->visit[1];
    for (int64_t plane = 0; plane < planes; plane++)
        for (int64_t i2 = lines->visit[1]; i2 < n2; i2++)
            copy_nodes(target, plane * n2 * n1, (plane * n2 + i2) * n1, n1);
    for (int64_t plane = planes; plane < last - lines->first; plane++)
        copy_nodes(target, 0, plane * n2 * n1, n1 * n2);
}

static enum ht_err fill_planes(const struct target *target, int64_t first, int64_t last) {
    const bool *depends = target->medium->source->depends;
    const int64_t planes = depends[2] ? last - first : 1;
    struct lines lines = {
        .target = *target,
        .first = first,
        .visit = {depends[0] ? target->nodes[0] : 1, depends[1] ? target->nodes[1] : 1}};
    if (first == last) return HT_OK;
    lines.count = planes * lines.visit[1];
    lines.chunks = ht_threads_chunks(lines.count, LEAST_NODES / lines.visit[0]);
    TRY(HT_ALLOC(lines.flattened, planes));
    enum ht_err err = ht_threads_run(lines.chunks, fill_chunk, &lines);
    if (err == HT_OK) repeat_lines(&lines, last);
    if (err == HT_OK) count_planes(&lines, last);
    free(lines.flattened);
    return err;
}

enum ht_err ht_medium_fill(const struct ht_medium *medium, enum ht_subgrid subgrid, int64_t first,
                           int64_t last, double *out) {
    struct target target = {.medium = medium, .subgrid = subgrid, .out = out};
    REQUIRE(first >= 0 && first <= last && last <= ht_grid_planes(medium->grid, subgrid),
            HT_ERR_INTERNAL, "medium: no planes %lld to %lld", (long long)first, (long long)last);
    for (int k = 0; k < 3; k++) target.nodes[k] = ht_grid_nodes(medium->grid, subgrid, k);
    target.count = (last - first) * ht_grid_plane(medium->grid, subgrid);
    if (medium->uniform) {
        for (int m = 0; m < medium->eq->nmaterials; m++)
            for (int64_t i = 0; i < target.count; i++)
                out[m * target.count + i] = medium->constant[m];
        return HT_OK;
    }
    return fill_planes(&target, first, last);
}

/* ---- single values ---- */

/* Names that are accepted, "c|K, rho", for the message. */
static enum ht_err unknown_name(const struct ht_medium *medium, const char *name) {
    const struct ht_system *system = medium->eq->system;
    HT_FREED_TEXT struct ht_text names = {0};
    for (int p = 0; p < system->nparameters; p++)
        ht_text_add(&names, "%s%s", p ? ", " : "", system->parameter[p].names);
    TRY(ht_text_status(&names));
    return ht_err_set(HT_ERR_INPUT,
                      "\"%s\" is no parameter of the medium: must be among "
                      "%s",
                      name, names.data);
}

enum ht_err ht_medium_speed(const struct ht_medium *medium, const double x[3], double *speed) {
    double material[HT_MAX_MATERIALS];
    *speed = 0;
    TRY(ht_medium_point(medium, x, material));
    for (int k = 0; k < medium->grid->dims; k++)
        *speed = fmax(*speed, ht_equations_speed(medium->eq, material, k));
    return HT_OK;
}

enum ht_err ht_medium_parameter(const struct ht_medium *medium, const char *name, const double x[3],
                                double *value) {
    const struct ht_system *system = medium->eq->system;
    const struct ht_medium_source *source = medium->source;
    double material[HT_MAX_MATERIALS];
    bool derived_speed = system->speed_name && strcmp(name, system->speed_name) == 0;
    for (int p = 0; p < system->nparameters; p++)
        if (strcmp(source->row[p].name, name) == 0) return ht_medium_row_value(medium, p, x, value);
    int m = 0;
    while (m < system->nmaterials && strcmp(system->material[m].name, name) != 0) m++;
    if (!derived_speed && m == system->nmaterials) return unknown_name(medium, name);
    TRY(ht_medium_point(medium, x, material));
    *value = derived_speed ? ht_equations_speed(medium->eq, material, 0) : material[m];
    return HT_OK;
}
