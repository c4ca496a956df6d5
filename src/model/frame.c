/* The medium of finite differences: coefficients C_rq at the points of their parity.
 *
 * The system's rule (struct ht_average) makes them from means of scalars about the point and from
 * the normal n of the face that crosses the cell: the direction in which
 *     J = sum over scalars q that show it of (grad F[q]) (grad F[q])^T / F[q]^2
 * is largest, with means F by boxes, or for the sinc by raised cosines of the same reach, so that n
 * is known where the lobes of the sinc are. Where the medium varies along one axis n is that axis.
 * Where fluid is in reach of the sinc means are by boxes. */
#include "fit_private.h"

enum ht_fit_kind ht_frame_kind(const struct ht_medium *medium, enum ht_fit_kind kind) {
    const bool smooth = medium->source->type == HT_MEDIUM_EXPRESSION && !medium->rough;
    if (medium->uniform) return HT_FIT_POINT;
    return kind != HT_FIT_AUTO ? kind : smooth ? HT_FIT_POINT : HT_FIT_SINC;
}

/* K and the b_k. */
static void second_order(const struct ht_equations *eq, struct ht_pair *pair) {
    const struct ht_second_order *form = &eq->second_order;
    *pair = (struct ht_pair){.dims = eq->dims, .nfields = eq->nfields, .ncoefficients = 1};
    pair->coefficient[0] = (struct ht_pair_coefficient){
        .row = form->field, .col = form->field, .material = form->modulus};
    for (int k = 0; form->inverse_density >= 0 && k < eq->dims; k++)
        pair->coefficient[pair->ncoefficients++] =
            (struct ht_pair_coefficient){.parity = 1u << k,
                                         .row = form->flux[k],
                                         .col = form->flux[k],
                                         .material = form->inverse_density};
    pair->nown = pair->ncoefficients;
}

HT_ERR ht_frame_make(struct ht_frame *frame, const struct ht_medium *medium,
                     const struct ht_pair *pair, enum ht_fit_kind kind,
                     const struct ht_medium_boxes boxes[3]) {
    struct ht_fit *fit = &frame->fit;
    const struct ht_equations *eq = medium->eq;
    const struct ht_average *rule = &eq->system->average;
    fit->medium = medium;
    fit->kind = kind;
    fit->parameters = ~0u;
    frame->quiet = pair != NULL;
    frame->second_order = pair == NULL;
    if (pair == NULL)
        second_order(eq, &frame->pair);
    else
        frame->pair = *pair;
    frame->coefficients = frame->pair.ncoefficients + frame->pair.ncouplings;
    for (int c = 0; c < frame->coefficients; c++)
        frame->sharing[frame->pair.coefficient[c].parity]++;
    for (int f = 0; f < frame->pair.nfields; f++)
        frame->field[f] = ht_equations_system_field(eq, f);
    fit->average = rule;
    if (rule->nscalars > 0) ht_medium_find_shown(fit->medium, rule, rule->nscalars, fit->shown);
    if (fit->kind == HT_FIT_POINT) return ht_fit_make_axes(fit, boxes);
    if (rule->nscalars == 0)
        return ht_params_error(fit->medium->source->params, "medium.fit",
                               "the system \"%s\" has no averages: must be \"point\"",
                               eq->system->name);
    fit->nlost = eq->losses != 0 ? eq->system->nlost : 0;
    /* Expressions may be 0 between the nodes that were scanned. */
    frame->fluid = rule->vanishing != 0 &&
                   (fit->medium->vanishes || fit->medium->source->type == HT_MEDIUM_EXPRESSION);
    return ht_fit_make_axes(fit, boxes);
}

HT_ERR ht_frame_create(const struct ht_medium *medium, const struct ht_pair *pair,
                       enum ht_fit_kind kind, struct ht_frame **out) {
    HT_CREATE(out,
              ht_frame_make(*out, medium, pair, ht_frame_kind(medium, kind), medium->source->boxes),
              ht_frame_destroy);
}

void ht_frame_count(struct ht_frame *frame, bool count) {
    frame->quiet = !count;
}

struct ht_fit_counts ht_frame_counts(const struct ht_frame *frame) {
    return frame->counts;
}

HT_ERR ht_frame_share_counts(struct ht_frame *frame, struct ht_comm *comm) {
    const int ranks = ht_comm_size(comm);
    HT_ARRAY(struct ht_fit_counts, all, ranks);
    TRY(ht_comm_gather(comm, &frame->counts, sizeof frame->counts, all));
    frame->counts = all[0];
    for (int r = 1; r < ranks; r++) ht_fit_counts_add(&all[r], &frame->counts);
    return HT_OK;
}

void ht_frame_destroy(struct ht_frame *frame) {
    if (!frame) return;
    ht_pool_free(&frame->fit.pool);
    for (int parity = 0; parity < 8; parity++) free(frame->kept[parity].value);
    free(frame);
}

/* Points of one parity on the planes [first, last), lines of which are divided among threads. */
struct fill {
    struct ht_frame *frame;
    int coefficient; /* that is wanted; of the form of second order it alone is filled */
    unsigned parity;
    unsigned parameters; /* that the filled ones need */
    int64_t first, last, nodes[2];
    double *out[HT_MAX_TERMS];    /* of coefficients of that parity; NULL: not filled */
    struct ht_fit_counts *counts; /* NULL: none */
    struct ht_progress progress;
    struct ht_frame_means means;
};

/* Of a point; of one behind the seam or a wall, back in the box. */
static double position(const struct fill *fill, int k, int64_t m) {
    const struct ht_fit_axis *axis = &fill->frame->fit.axis[k];
    const double x = axis->lower + ((double)m + (fill->parity >> k & 1u ? 0.5 : 0)) * axis->h;
    if (x <= axis->upper) return x;
    return axis->periodic ? x - (axis->upper - axis->lower) : 2 * axis->upper - x;
}

/* ---- values at points ---- */

/* Line i, from that of the materials; of axes on which nothing depends the first one is filled. */
static void points_line(const struct fill *fill, int64_t i, const struct ht_medium_work *line) {
    const struct ht_pair *pair = &fill->frame->pair;
    for (int c = 0; c < pair->ncoefficients; c++) {
        if (fill->out[c] == NULL) continue;
        const struct ht_pair_coefficient *of = &pair->coefficient[c];
        double *out = fill->out[c] + i * fill->nodes[0];
        for (int64_t i1 = 0; i1 < fill->nodes[0]; i1++) {
            const int64_t at = line->count > 1 ? i1 : 0;
            out[i1] = of->material < 0 ? 1 : line->material[of->material][at];
            if (of->loss)
                out[i1] = ht_pair_value(of, out[i1], of->own < 0 ? 1 : line->material[of->own][at]);
        }
    }
}

static HT_ERR points_lines(void *data, int64_t begin, int64_t end) {
    struct fill *fill = data;
    const struct ht_medium *medium = fill->frame->fit.medium;
    const bool *depends = medium->source->depends;
    HT_ENDED(ht_medium_work_destroy) struct ht_medium_work line;
    bool ready = false;
    TRY(ht_medium_work_create(medium, depends[0] ? fill->nodes[0] : 1, &line));
    for (int64_t i = 0; i < line.count; i++) line.x1[i] = position(fill, 0, i);
    for (int64_t i = begin; i < end; i++) {
        const double x[3] = {0, position(fill, 1, i % fill->nodes[1]),
                             position(fill, 2, fill->first + i / fill->nodes[1])};
        const bool repeated = !depends[1] && ready && i % fill->nodes[1] > 0;
        if (!repeated) TRY(ht_fit_line_materials(medium, fill->parameters, x, -1, &line));
        ready = true;
        points_line(fill, i, &line);
        ht_progress_add(&fill->progress, 1);
    }
    return HT_OK;
}

static HT_ERR evaluate(struct fill *fill) {
    enum { LEAST_POINTS = 4096 }; /* of a chunk, worth a thread */
    const int64_t lines = (fill->last - fill->first) * fill->nodes[1];
    ht_progress_start(&fill->progress, "evaluating the medium", (double)lines, "points",
                      (double)fill->nodes[0]);
    const enum ht_err err =
        ht_threads_share(lines, LEAST_POINTS / fill->nodes[0], points_lines, fill);
    ht_progress_end(&fill->progress);
    return err;
}

/* Neighbours of too great a contrast, of the form of second order, are refused; among them those on
 * the plane below the first, behind the seam, too, but not behind a wall. */
static HT_ERR check_points(const struct fill *fill) {
    const struct ht_frame *frame = fill->frame;
    const struct ht_fit_axis *axis = &frame->fit.axis[2];
    const bool depends = frame->fit.medium->source->depends[2];
    const int c = fill->coefficient;
    const int64_t below = depends && (fill->first > 0 || axis->periodic);
    const int64_t size = fill->nodes[0] * fill->nodes[1];
    struct ht_fit_job job = {.fit = &frame->fit,
                             .quantity = ht_fit_scalar(&frame->fit, frame->pair.coefficient[c].row),
                             .shift = fill->parity,
                             .fitted = {true, true, true}};
    struct fill one = *fill;
    HT_ARRAY(double, values, (fill->last - fill->first + below) * size);
    one.first = fill->first > 0 ? fill->first - 1 : axis->nodes - 1;
    one.last = one.first + 1;
    one.out[c] = values;
    if (below) TRY(evaluate(&one));
    memcpy(values + below * size, fill->out[c],
           (size_t)((fill->last - fill->first) * size) * sizeof *values);
    for (int64_t n = 0; n < (fill->last - fill->first + below) * size; n++)
        values[n] = 1 / values[n];
    job.range[job.quantity][0] = INFINITY;
    for (int64_t p = 0; p < fill->last - fill->first + below; p++) {
        const double *now = values + p * size;
        job.at3 = p < below ? one.first : fill->first + p - below;
        TRY(ht_fit_check_plane(&job, fill->nodes, fill->nodes[0], now, p > 0 ? now - size : NULL));
    }
    return HT_OK;
}

/* ---- averages ---- */

/* By one window along all axes, but for another one along axis k (-1: none). */
static int add_channel(struct ht_frame_means *means, int q, enum ht_fit_window by, bool track,
                       int k, enum ht_fit_window other) {
    struct ht_fit_channel *channel = &means->channel[means->nchannels];
    *channel = (struct ht_fit_channel){
        .quantity = q, .shift = means->parity, .window = {by, by, by}, .track = track};
    if (k >= 0) channel->window[k] = other;
    return means->nchannels++;
}

static void add_normal(const struct ht_fit *fit, struct ht_frame_means *means, int q) {
    const bool box = fit->kind == HT_FIT_BOX, lone = fit->average->normal == 1u << q;
    const enum ht_fit_window by = box ? HT_FIT_BY_BOX : HT_FIT_BY_COSINE;
    const enum ht_fit_window slope = box ? HT_FIT_BOX_SLOPE : HT_FIT_COSINE_SLOPE;
    means->whole[q] =
        lone && means->turned ? means->mean[q] : add_channel(means, q, by, false, -1, by);
    for (int k = 2; k >= 0; k--) /* so that neighbours share averages along x1 and x2 */
        if (fit->medium->source->depends[k])
            means->slope[q][k] = add_channel(means, q, by, false, k, slope);
}

/* Those scalars of a mask that a coefficient depends on where n is the same everywhere; of rules
 * without fluids, which do not branch. */
static unsigned find_used(const struct ht_frame *frame, const double n[3], int c, unsigned mask) {
    const struct ht_average *rule = frame->fit.average;
    const int row = frame->field[frame->pair.coefficient[c].row];
    const int col = frame->field[frame->pair.coefficient[c].col];
    unsigned used = 0;
    for (int q = 0; q < rule->nscalars; q++) {
        struct ht_face face = {.dims = frame->pair.dims, .n = {n[0], n[1], n[2]}};
        for (int other = 0; other < HT_MAX_SCALARS; other++) face.mean[other] = 1.3 + 0.7 * other;
        const double before = rule->coefficient(&face, row, col);
        face.mean[q] *= 1.1;
        if (rule->coefficient(&face, row, col) != before) used |= 1u << q;
    }
    return used & mask;
}

/* The scalars that the wanted coefficients use. */
static unsigned find_uses(const struct ht_frame *frame, const struct ht_frame_means *means,
                          bool *turns) {
    const bool known = means->n[0] + means->n[1] + means->n[2] > 0;
    unsigned uses = 0;
    *turns = false;
    HT_EACH_AT(c, const struct ht_pair_coefficient, of, frame->pair.coefficient,
               frame->coefficients) {
        const unsigned those = frame->fit.average->uses[frame->field[of->row]];
        if (!means->wanted[c] || (of->loss && of->own < 0)) continue;
        const unsigned used = known && frame->fit.average->vanishing == 0
                                  ? find_used(frame, means->n, c, those)
                                  : those;
        uses |= used != 0 ? used : those;
        *turns = *turns || (!known && (those & (those - 1)) != 0);
    }
    return uses;
}

/* Conductivities by boxes: in front of a conductor the lobes of the sinc would conduct, too. */
static void add_lost(const struct ht_frame *frame, struct ht_frame_means *means) {
    const int first = frame->fit.medium->eq->nmaterials, scalars = frame->fit.average->nscalars;
    for (int l = 0; l < HT_MAX_SCALARS; l++) means->lost[l] = -1;
    for (int c = frame->pair.nown; c < frame->pair.ncoefficients; c++) {
        const int l = frame->pair.coefficient[c].material - first;
        if (!means->wanted[c] || means->lost[l] >= 0) continue;
        const bool sinc = frame->fit.kind == HT_FIT_SINC && frame->pair.coefficient[c].root;
        const enum ht_fit_window by = sinc ? HT_FIT_BY_SINC : HT_FIT_BY_BOX;
        means->lost[l] = add_channel(means, scalars + l, by, sinc, -1, by);
    }
}

void ht_frame_find_means(const struct ht_frame *frame, struct ht_frame_means *means) {
    const struct ht_average *rule = frame->fit.average;
    const bool *depends = frame->fit.medium->source->depends;
    const bool sinc = frame->fit.kind == HT_FIT_SINC;
    const enum ht_fit_window by = sinc ? HT_FIT_BY_SINC : HT_FIT_BY_BOX;
    bool turns;
    for (int k = 0; depends[0] + depends[1] + depends[2] == 1 && k < 3; k++)
        means->n[k] = depends[k];
    unsigned uses = find_uses(frame, means, &turns);
    if (frame->fluid) uses |= rule->vanishing;
    for (int q = 0; q < rule->nscalars; q++) {
        const bool fluid = frame->fluid && (rule->vanishing >> q & 1u);
        means->mean[q] = means->box[q] = means->whole[q] = -1;
        for (int k = 0; k < 3; k++) means->slope[q][k] = -1;
        if (!(uses >> q & 1u)) continue;
        means->mean[q] =
            add_channel(means, q, by, sinc ? !(rule->any_sign >> q & 1u) : fluid, -1, by);
        means->box[q] = means->mean[q];
        if (sinc && frame->fluid)
            means->box[q] = add_channel(means, q, HT_FIT_BY_BOX, fluid, -1, by);
    }
    add_lost(frame, means);
    for (int q = 0; turns && q < rule->nscalars; q++)
        if (rule->normal >> q & 1u) add_normal(&frame->fit, means, q);
}

/* ---- n ---- */

int ht_frame_axes(const struct ht_frame_point *point, double J[3][3], double V[3][3]) {
    int most = 0;
    memset(J, 0, 3 * sizeof *J);
    for (int r = 0; r < point->rows; r++)
        for (int k = 0; k < 9; k++) J[k / 3][k % 3] += point->row[r][k / 3] * point->row[r][k % 3];
    ht_eigen(3, *J, *V);
    for (int k = 1; k < 3; k++)
        if (J[k][k] > J[most][most]) most = k;
    return most;
}

/* Of one row its own direction. */
static void find_largest(struct ht_frame_point *point) {
    const double *row = point->row[0];
    const double size = sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
    double J[3][3], V[3][3];
    const int at = point->rows > 1 ? ht_frame_axes(point, J, V) : 0;
    for (int k = 0; k < 3; k++)
        point->face.n[k] = point->rows > 1 ? V[k][at] : size > 0 ? row[k] / size : k == 0;
}

static void find_normal(const struct ht_frame *frame, const struct ht_frame_means *means,
                        const struct ht_fit_done *done, int64_t i, struct ht_frame_point *point) {
    const struct ht_fit *fit = &frame->fit;
    double *n = point->face.n;
    memset(point->row, 0, sizeof point->row);
    point->rows = 0;
    memcpy(n, means->n, sizeof means->n);
    if (n[0] + n[1] + n[2] > 0) return;
    for (int q = 0; q < fit->average->nscalars; q++) {
        if (means->whole[q] < 0 || !(done[means->whole[q]].value[i] > 0)) continue;
        for (int k = 0; k < 3; k++)
            if (means->slope[q][k] >= 0)
                point->row[point->rows][k] = done[means->slope[q][k]].value[i] / fit->axis[k].h /
                                             done[means->whole[q]].value[i];
        point->scalar[point->rows++] = q;
    }
    find_largest(point);
}

/* Whether fluid is in reach of entry i of a channel. */
static bool has_fluid(const struct ht_frame *frame, const int *channels,
                      const struct ht_fit_done *done, int64_t i) {
    const struct ht_average *rule = frame->fit.average;
    for (int q = 0; frame->fluid && q < rule->nscalars; q++)
        if (rule->vanishing >> q & 1u) return done[channels[q]].least[i] == 0;
    return false;
}

void ht_frame_at(const struct ht_frame *frame, const struct ht_frame_means *means,
                 const struct ht_fit_done *done, int64_t i, struct ht_frame_point *point) {
    point->from = has_fluid(frame, means->mean, done, i) ? means->box : means->mean;
    point->face.dims = frame->pair.dims;
    point->face.slips = has_fluid(frame, means->box, done, i);
    for (int q = 0; q < frame->fit.average->nscalars; q++) /* 1: nothing depends on it */
        point->face.mean[q] = point->from[q] >= 0 ? done[point->from[q]].value[i] : 1;
    find_normal(frame, means, done, i, point);
}

/* ---- coefficients ---- */

/* The wanted coefficients of entry i into entry `to` of their outputs. */
static HT_ERR emit_point(const struct fill *fill, const struct ht_fit_done *done, int64_t i,
                         int64_t to) {
    const struct ht_frame *frame = fill->frame;
    const struct ht_average *rule = frame->fit.average;
    struct ht_frame_point point;
    ht_frame_at(frame, &fill->means, done, i, &point);
    HT_EACH_AT(c, const struct ht_pair_coefficient, of, frame->pair.coefficient,
               frame->coefficients) {
        if (fill->out[c] == NULL) continue;
        const double own =
            of->loss && of->own < 0
                ? 1
                : rule->coefficient(&point.face, frame->field[of->row], frame->field[of->col]);
        const int lost =
            of->material - frame->fit.medium->eq->nmaterials; /* losses alone have it */
        const double value =
            of->loss ? ht_pair_value(of, done[fill->means.lost[lost]].value[i], own) : own;
        REQUIRE(isfinite(value) && (of->row != of->col || value >= 0), HT_ERR_INTERNAL,
                "frame: coefficient %d is %g", c, value);
        fill->out[c][to] = value;
    }
    return HT_OK;
}

static HT_ERR emit_plane(struct ht_fit_job *job, const struct ht_fit_done *done,
                         HT_UNUSED double *const *gradient) {
    const struct fill *fill = job->data;
    for (int64_t i2 = job->first[1]; i2 < job->last[1]; i2++) {
        const int64_t to = ((job->at3 - job->first[2]) * fill->nodes[1] + i2) * fill->nodes[0];
        for (int64_t i1 = 0; i1 < fill->nodes[0]; i1++)
            TRY(emit_point(fill, done, (i2 - job->first[1]) * done->row + i1, to + i1));
    }
    return HT_OK;
}

static HT_ERR fill_averages(struct fill *fill) {
    struct ht_fit fit = fill->frame->fit;
    struct ht_fit_job job = {.fit = &fit,
                             .shift = fill->parity,
                             .channel = fill->means.channel,
                             .emit = emit_plane,
                             .data = fill,
                             .first = {0, 0, fill->first},
                             .last = {0, fill->nodes[1], fill->last}};
    for (int q = 0; q < HT_MAX_SCALARS; q++) job.range[q][0] = INFINITY;
    fit.parameters = fill->parameters;
    fill->means = (struct ht_frame_means){.parity = fill->parity};
    for (int c = 0; c < HT_MAX_TERMS; c++) fill->means.wanted[c] = fill->out[c] != NULL;
    ht_frame_find_means(fill->frame, &fill->means);
    job.nchannels = fill->means.nchannels;
    TRY(ht_fit_average(&job));
    if (fill->counts != NULL) ht_fit_counts_add(&job.counts, fill->counts);
    return HT_OK;
}

/* ---- all kinds ---- */

/* Planes [first, last) of points half a spacing up along the axes of a mask, from the planes [low,
 * high) that lie in no layer and stand at the beginning of out. */
static void continue_planes(const struct ht_grid *grid, unsigned half, int64_t first, int64_t last,
                            int64_t low, int64_t high, double *out) {
    if (!ht_layers_any(grid)) return;
    const int64_t plane = ht_grid_plane(grid, HT_PRIMARY);
    const size_t bytes = (size_t)plane * sizeof *out;
    for (int64_t p = 0; p < high - low; p++)
        ht_layers_continue(grid, HT_PRIMARY, half, out + p * plane);
    for (int64_t m = last - 1; m >= first; m--) {
        const int64_t from = ht_layers_inside(grid, 2, half >> 2 & 1u, m) - low;
        if (from != m - first) memcpy(out + (m - first) * plane, out + from * plane, bytes);
    }
}

/* The wanted coefficients of one parity. */
static HT_ERR fill_parity(struct fill *fill, int64_t first, int64_t last) {
    const struct ht_medium *medium = fill->frame->fit.medium;
    const struct ht_grid *grid = medium->grid;
    const bool half = fill->parity >> 2 & 1u;
    const size_t plane = (size_t)(fill->nodes[0] * fill->nodes[1]);
    const int64_t low = ht_layers_inside(grid, 2, half, first);
    const int64_t high = ht_layers_inside(grid, 2, half, last - 1) + 1;
    fill->first = low;
    fill->last = medium->source->depends[2] ? high : low + 1;
    const bool points = fill->frame->fit.kind == HT_FIT_POINT;
    TRY(points ? evaluate(fill) : fill_averages(fill));
    if (points && fill->frame->second_order) TRY(check_points(fill));
    HT_EACH_BY(c, double, out, fill->out[c], fill->frame->coefficients) {
        for (int64_t m = fill->last; out != NULL && m < high; m++)
            memcpy(out + (size_t)(m - low) * plane, out, plane * sizeof *out);
        if (out != NULL) continue_planes(grid, fill->parity, first, last, low, high, out);
    }
    return HT_OK;
}

bool ht_frame_keeps(const struct ht_frame *frame) {
    enum { MOST = 1 << 24, OF_SLABS = 1 << 17 }; /* values */
    const struct ht_grid *grid = frame->fit.medium->grid;
    const int64_t values = frame->coefficients * ht_grid_total(grid, HT_PRIMARY);
    /* Slabs ask for a few planes at a time, of which small grids have few; what is counted is that
     * of planes that were asked for. */
    if (ht_grid_cut(grid)) return !frame->second_order && values <= OF_SLABS;
    return values <= MOST;
}

/* All coefficients of the parity into what the frame keeps. */
static HT_ERR keep(struct fill *fill, int64_t first, int64_t last) {
    struct ht_frame *frame = fill->frame;
    struct ht_frame_kept *to = &frame->kept[fill->parity];
    const bool all = ht_frame_keeps(frame);
    int count = 0;
    for (unsigned parity = 0; parity < 8; parity++) {
        if (all && parity != fill->parity) continue;
        free(frame->kept[parity].value);
        frame->kept[parity].value = NULL;
    }
    *to = (struct ht_frame_kept){.first = all ? 0 : first,
                                 .last = all ? ht_grid_planes(frame->fit.medium->grid, HT_PRIMARY)
                                             : last};
    const int64_t size = (to->last - to->first) * fill->nodes[0] * fill->nodes[1];
    TRY(HT_ALLOC(to->value, frame->sharing[fill->parity] * size));
    for (int c = 0; c < frame->coefficients; c++)
        if (frame->pair.coefficient[c].parity == fill->parity)
            fill->out[c] = to->value + count++ * size;
    fill->counts = &to->counts;
    const enum ht_err err = fill_parity(fill, to->first, to->last);
    if (err != HT_OK) to->last = to->first;
    return err;
}

HT_ERR ht_frame_fill(struct ht_frame *frame, int coefficient, int64_t first, int64_t last,
                     double *out) {
    const struct ht_grid *grid = frame->fit.medium->grid;
    const struct ht_pair_coefficient *all = frame->pair.coefficient, *of = &all[coefficient];
    const int64_t plane = ht_grid_plane(grid, HT_PRIMARY), size = (last - first) * plane;
    struct ht_frame_kept *kept = &frame->kept[of->parity];
    struct fill fill = {
        .frame = frame,
        .coefficient = coefficient,
        .parity = of->parity,
        .parameters = frame->second_order ? frame->fit.medium->source->shown[of->material] : ~0u,
        .counts = frame->quiet ? NULL : &frame->counts};
    if (first == last) return HT_OK;
    for (int k = 0; k < 2; k++) fill.nodes[k] = ht_grid_nodes(grid, HT_PRIMARY, k);
    if (!frame->quiet) frame->counts.values += size;
    if (frame->fit.kind == HT_FIT_POINT ||
        (frame->sharing[of->parity] == 1 && !ht_frame_keeps(frame))) {
        fill.out[coefficient] = out;
        return fill_parity(&fill, first, last);
    }
    if (!kept->value || first < kept->first || last > kept->last) TRY(keep(&fill, first, last));
    if (!frame->quiet && !kept->counted) ht_fit_counts_add(&kept->counts, &frame->counts);
    kept->counted = kept->counted || !frame->quiet;
    int64_t from = first - kept->first;
    for (int c = 0; c < coefficient; c++)
        if (all[c].parity == of->parity) from += kept->last - kept->first;
    memcpy(out, kept->value + from * plane, (size_t)size * sizeof *out);
    return HT_OK;
}
