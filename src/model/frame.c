/* The medium of staggered fields: coefficients C_rq at the points of their parity; see the header.
 */
#include <stdlib.h>
#include <string.h>

#include "fit_private.h"

struct ht_frame {
    struct ht_fit fit; /* its medium, kind and axes */
    struct ht_pair pair;
};

enum ht_fit_kind ht_frame_kind(const struct ht_medium *medium, enum ht_fit_kind kind) {
    const bool smooth = medium->source->type == HT_MEDIUM_EXPRESSION && !medium->rough;
    if (medium->uniform) return HT_FIT_POINT;
    return kind != HT_FIT_AUTO ? kind : smooth ? HT_FIT_POINT : HT_FIT_SINC;
}

enum ht_err ht_frame_create(const struct ht_medium *medium, const struct ht_pair *pair,
                            enum ht_fit_kind kind, struct ht_frame **out) {
    struct ht_frame *frame = NULL;
    *out = NULL;
    TRY(HT_ALLOC(frame, 1));
    frame->pair = *pair;
    frame->fit.medium = medium;
    frame->fit.kind = ht_frame_kind(medium, kind);
    enum ht_err err = ht_fit_make_axes(&frame->fit);
    return HT_MADE(err, frame, ht_frame_destroy, out);
}

void ht_frame_destroy(struct ht_frame *frame) {
    if (!frame) return;
    for (int k = 0; k < 3; k++) ht_fit_axis_clear(&frame->fit.axis[k]);
    free(frame);
}

/* ---- a fill ---- */

/* Points of one parity on the planes [first, last), lines of which are divided among threads. */
struct fill {
    const struct ht_frame *frame;
    unsigned parity;
    int64_t first, last, n[2];
    double *out[HT_MAX_TERMS]; /* of coefficients of that parity; NULL: not wanted */
    int64_t lines, chunks;
};

static double position(const struct fill *fill, int k, int64_t m) {
    const struct ht_fit_axis *axis = &fill->frame->fit.axis[k];
    const double half = fill->parity >> k & 1u ? 0.5 : 0;
    return ht_fit_fold(axis, axis->lower + ((double)m + half) * axis->h);
}

/* ---- values at points ---- */

/* Line i, from that of the materials; of axes on which nothing depends the first one is filled. */
static void points_line(const struct fill *fill, int64_t i, const struct ht_fit_line *line) {
    const struct ht_pair *pair = &fill->frame->pair;
    for (int c = 0; c < pair->ncoefficients; c++) {
        if (fill->out[c] == NULL) continue;
        const int material = pair->coefficient[c].material;
        double *out = fill->out[c] + i * fill->n[0];
        for (int64_t i1 = 0; i1 < fill->n[0]; i1++)
            out[i1] = material < 0 ? 1 : line->material[material][line->count > 1 ? i1 : 0];
    }
}

static enum ht_err points_chunk(void *data, int64_t chunk, int worker) {
    const struct fill *fill = data;
    const struct ht_medium *medium = fill->frame->fit.medium;
    const bool *depends = medium->source->depends;
    const int64_t end = ht_threads_first(fill->lines, fill->chunks, chunk + 1);
    struct ht_fit_line line;
    bool ready = false;
    enum ht_err err = ht_fit_line_make(medium, depends[0] ? fill->n[0] : 1, &line);
    (void)worker;
    for (int64_t i = 0; err == HT_OK && i < line.count; i++) line.x1[i] = position(fill, 0, i);
    for (int64_t i = ht_threads_first(fill->lines, fill->chunks, chunk); i < end; i++) {
        const double x[3] = {0, position(fill, 1, i % fill->n[1]),
                             position(fill, 2, fill->first + i / fill->n[1])};
        const bool repeated = !depends[1] && ready && i % fill->n[1] > 0;
        if (err == HT_OK && !repeated) err = ht_fit_line_materials(medium, x, -1, &line);
        ready = true;
        if (err == HT_OK) points_line(fill, i, &line);
    }
    free(line.x1);
    return err;
}

static enum ht_err fill_points(struct fill *fill) {
    enum { LEAST_POINTS = 4096 }; /* of a chunk, worth a thread */
    fill->lines = (fill->last - fill->first) * fill->n[1];
    fill->chunks = ht_threads_chunks(fill->lines, LEAST_POINTS / fill->n[0]);
    return ht_threads_run(fill->chunks, points_chunk, fill);
}

/* ---- all kinds ---- */

/* The wanted coefficients of one parity. */
static enum ht_err fill_parity(struct fill *fill, int64_t first, int64_t last) {
    const struct ht_medium *medium = fill->frame->fit.medium;
    const struct ht_grid *grid = medium->grid;
    const bool half = fill->parity >> 2 & 1u;
    const size_t plane = (size_t)(fill->n[0] * fill->n[1]);
    const int64_t low = ht_layers_inside(grid, 2, half, first);
    const int64_t high = ht_layers_inside(grid, 2, half, last - 1) + 1;
    fill->first = low;
    fill->last = medium->source->depends[2] ? high : low + 1;
    TRY(fill_points(fill));
    for (int c = 0; c < fill->frame->pair.ncoefficients; c++) {
        double *out = fill->out[c];
        for (int64_t m = fill->last; out != NULL && m < high; m++)
            memcpy(out + (size_t)(m - low) * plane, out, plane * sizeof *out);
        if (out != NULL) ht_fit_continue(grid, fill->parity, first, last, low, high, out);
    }
    return HT_OK;
}

enum ht_err ht_frame_fill(const struct ht_frame *frame, int64_t first, int64_t last,
                          double *const out[]) {
    const struct ht_grid *grid = frame->fit.medium->grid;
    REQUIRE(first >= 0 && first <= last && last <= ht_grid_planes(grid, HT_PRIMARY),
            HT_ERR_INTERNAL, "frame: no planes %lld to %lld", (long long)first, (long long)last);
    for (unsigned parity = 0; first < last && parity < 8; parity++) {
        struct fill fill = {.frame = frame, .parity = parity};
        bool any = false;
        for (int k = 0; k < 2; k++) fill.n[k] = ht_grid_nodes(grid, HT_PRIMARY, k);
        for (int c = 0; c < frame->pair.ncoefficients; c++) {
            const bool here = frame->pair.coefficient[c].parity == parity;
            fill.out[c] = here ? out[c] : NULL;
            any = any || fill.out[c] != NULL;
        }
        if (any) TRY(fill_parity(&fill, first, last));
    }
    return HT_OK;
}
