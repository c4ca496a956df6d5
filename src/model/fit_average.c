/* Averages of the medium along the axes, plane by plane.
 *
 * Rows of the grid are done in strips, so that planes of a strip stay in the caches and threads
 * have strips of their own. Planes of boxes are averaged along x1 and x2 and kept in
 * a ring, from which planes of the grid are averaged along x3.
 *
 * Every plane carries the least value in reach of its values along the axes that were averaged so
 * far. After each axis a value v below half of that, t, is cut: with d = max(t - v, 0),
 *     v_m + d_m - (d_(m-1) + d_(m+1))/2, and t where that is less,
 * along the axis. So sums over points, of v and of x v, stay what they are; a cut alone makes jumps
 * errors of first order (bench/NOTES.md, "Fitted medium"). For this, averages go one point beyond
 * the first and the last.
 *
 * All averages are sums over rows of contiguous values; along x1 these are LANES lines of the
 * plane, stored side by side. */
#include "fit_private.h"

/* ---- values ---- */

/* The first parameter that was given, else the first. */
const char *ht_fit_key(const struct ht_fit *fit, int quantity) {
    const struct ht_medium_source *source = fit->medium->source;
    const char *key = NULL, *first = NULL;
    for (int p = fit->medium->eq->system->nparameters - 1; p >= 0; p--) {
        if (!(fit->shown[quantity] >> p & 1u)) continue;
        first = source->row[p].key;
        if (ht_params_is_set(source->params, first)) key = first;
    }
    return key != NULL ? key : first;
}

static double centre(const struct ht_fit_axis *axis, int64_t i) {
    return (axis->edge[i] + axis->edge[i + 1]) / 2;
}

/* Whether all materials are positive and well in the range of single precision. */
static bool usual(const struct ht_medium *medium, const struct ht_medium_work *line) {
    int64_t good = 0;
    for (int m = 0; m < medium->eq->nmaterials; m++)
        for (int64_t i = 0; i < line->count; i++)
            good += line->material[m][i] >= FLT_MIN && line->material[m][i] <= FLT_MAX;
    return good == medium->eq->nmaterials * line->count;
}

enum ht_err ht_fit_line_materials(const struct ht_medium *medium, unsigned parameters,
                                  const double x[3], int64_t at,
                                  const struct ht_medium_work *line) {
    const struct ht_jets points = {.dims = 1, .count = (int)line->count};
    const double *value[HT_MAX_MATERIALS];
    double material[HT_MAX_MATERIALS];
    for (int p = 0; p < medium->eq->system->nparameters; p++) {
        const struct ht_samples *samples = at >= 0 ? medium->source->row[p].samples : NULL;
        value[p] = samples ? samples->value + at : line->value[p];
        if ((parameters >> p & 1u) && !samples)
            TRY(ht_medium_row_line(medium, p, line->count, line->x1, x, line->value[p]));
    }
    medium->eq->system->materials(&points, medium->source->chosen, value, line->material);
    if (parameters != ~0u && usual(medium, line)) return HT_OK;
    for (int64_t i = 0; i < line->count; i++) {
        const double place[3] = {line->x1[i], x[1], x[2]};
        for (int m = 0; m < medium->eq->system->nmaterials; m++) material[m] = line->material[m][i];
        TRY(ht_medium_check(medium, material, place));
    }
    return HT_OK;
}

/* Scalars of the system's rule on a line, and the materials of losses. */
static enum ht_err scalars_line(const struct ht_fit *fit, const double x[3], int64_t at,
                                const struct ht_medium_work *line, double *const *out) {
    const int scalars = fit->average->nscalars;
    TRY(ht_fit_line_materials(fit->medium, fit->parameters, x, at, line));
    fit->average->scalars(line->count, line->material, out);
    for (int q = 0; q < scalars; q++) {
        int64_t i = 0;
        while (i < line->count && isfinite(out[q][i])) i++;
        if (i == line->count) continue;
        const double place[3] = {line->x1[i], x[1], x[2]};
        return ht_params_error(fit->medium->source->params, ht_fit_key(fit, q),
                               "gives %s = %.6g at %s: must be finite", fit->average->name[q],
                               out[q][i], HT_PLACED(fit->medium->grid, place));
    }
    for (int l = 0; l < fit->nlost; l++)
        memcpy(out[scalars + l], line->material[fit->medium->eq->nmaterials + l],
               (size_t)line->count * sizeof *out[0]);
    return HT_OK;
}

enum ht_err ht_fit_source(const struct ht_fit *fit, int64_t p3, int64_t first, int64_t last,
                          int64_t row, double *const out[HT_MAX_SCALARS]) {
    const struct ht_fit_axis *axis = fit->axis;
    const struct ht_medium_row *lattice = fit->medium->source->lattice;
    const int64_t *shape = lattice != NULL ? lattice->samples->shape : (const int64_t[3]){0};
    const int64_t i3 = axis[2].box[p3];
    HT_ENDED(ht_medium_work_destroy) struct ht_medium_work lines;
    TRY(ht_medium_work_create(fit->medium, axis[0].boxes, &lines));
    for (int64_t i = 0; i < lines.count; i++) lines.x1[i] = centre(&axis[0], i);
    for (int64_t p = first; p < last; p++) {
        const int64_t i2 = axis[1].box[p];
        const double x[3] = {0, centre(&axis[1], i2), centre(&axis[2], i3)};
        double *to[HT_MAX_SCALARS];
        int64_t at = (axis[2].base + i3) * shape[1];
        at = (at + axis[1].base + i2) * shape[0] + axis[0].base;
        for (int q = 0; q < HT_MAX_SCALARS; q++) to[q] = out[q] ? out[q] + (p - first) * row : NULL;
        TRY(scalars_line(fit, x, at, &lines, to));
    }
    return HT_OK;
}

/* Of a strip: rows at least, of one thread and of several, and values of a plane that are aimed at.
 * Strips read some ten rows of neighbours. */
enum { LANES = 8, STRIP = 64, THREAD_STRIP = 24, STRIP_VALUES = 1 << 17 };

/* ---- planes ---- */

/* Values of x1 and x2; rows are padded to a multiple of LANES. least NULL: the values are their own
 * least ones. */
struct sheet {
    int64_t n[2], row;
    double *value, *least;
};

static int64_t padded(int64_t n) {
    return (n + LANES - 1) / LANES * LANES;
}

static enum ht_err sheet_make(struct ht_pool *pool, int64_t n1, int64_t n2, bool track,
                              struct sheet *sheet) {
    *sheet = (struct sheet){.n = {n1, n2}, .row = padded(n1)};
    TRY(HT_TAKE(pool, sheet->value, sheet->row * n2));
    return track ? HT_TAKE(pool, sheet->least, sheet->row * n2) : HT_OK;
}

static const double *sheet_least(const struct sheet *sheet) {
    return sheet->least ? sheet->least : sheet->value;
}

/* ---- sums of rows ---- */

/* weight[t] multiplies the row value[t] of `length` values, a multiple of LANES; least[t] are the
 * least values in its reach. */
struct rows {
    int count;
    const double *weight, **value, **least;
    int64_t length;
};

/* The weighted sum; least: NULL, or what becomes the least of least[t]. */
static void rows_add(const struct rows *rows, double *value, double *least) {
    for (int64_t i = 0; i < rows->length; i += LANES) {
        double sum[LANES] = {0}, low[LANES];
        for (int t = 0; t < rows->count; t++) {
            const double *in = rows->value[t] + i;
            for (int l = 0; l < LANES; l++) sum[l] += rows->weight[t] * in[l];
        }
        memcpy(value + i, sum, sizeof sum);
        if (!least) continue;
        memcpy(low, rows->least[0] + i, sizeof low);
        for (int t = 1; t < rows->count; t++) {
            const double *in = rows->least[t] + i;
            for (int l = 0; l < LANES; l++) low[l] = in[l] < low[l] ? in[l] : low[l];
        }
        memcpy(least + i, low, sizeof low);
    }
}

/* Three neighbours along an axis; least: half of it is the bound. */
struct neighbours {
    const double *value[3], *least[3];
};

static double missing(const struct neighbours *of, int j, int64_t i) {
    double d = of->least[j][i] / 2 - of->value[j][i];
    return d > 0 ? d : 0;
}

/* The middle one after the cut; whether it was below its bound anywhere. */
static bool rows_cut(const struct neighbours *of, int64_t length, double *out) {
    double most = 0;
    for (int64_t i = 0; i < length; i++) {
        double d = missing(of, 1, i), least = of->least[1][i] / 2;
        double rest = (missing(of, 0, i) + missing(of, 2, i)) / 2;
        double value = of->value[1][i] + d - rest;
        out[i] = value > least ? value : least;
        most = d > most ? d : most;
    }
    return most > 0;
}

/* ---- the work of a fill ---- */

/* What a channel keeps from plane to plane. */
struct stage {
    const struct ht_fit_channel *channel;
    struct sheet *ring;  /* of planes of boxes, averaged in the plane */
    int same;            /* averages along x1, or x1 and x2, are those of the channel before */
    struct sheet raw[3]; /* planes of the grid before the cut, in turn */
    struct sheet done;   /* all axes averaged */
};

struct work {
    struct ht_fit_job *job;
    struct stage stage[HT_FIT_CHANNELS], *at; /* at: whose turn it is */
    struct ht_fit_done done[HT_FIT_CHANNELS];
    int slots;
    unsigned checked;                    /* scalars that are averaged and have one sign */
    struct sheet boxes[HT_MAX_SCALARS];  /* values of boxes ... */
    struct sheet before[HT_MAX_SCALARS]; /* ... and those of the plane below, where checked */
    struct near *near;                   /* NULL: boxes hold what is at their centres */
    struct sheet middle;                 /* one axis averaged */
    double *line[2][3];                  /* rows before the cut, in turn; least */
    double *tile[4];               /* lines side by side: values and least of boxes, of nodes */
    const double **value, **least; /* rows of one output */
    struct ht_pool pool;           /* of all this */
};

static const struct ht_fit_axis *axis_of(const struct work *work, int k) {
    return &work->job->fit->axis[k];
}

/* Whether the least values are kept. */
static bool tracks(const struct work *work) {
    return work->at->channel->track;
}

/* Of node m along axis k, from -1 on. */
static const struct ht_fit_taps *taps_of(const struct work *work, int k, int64_t m) {
    const struct ht_fit_channel *channel = work->at->channel;
    return &axis_of(work, k)->taps[channel->window[k]][channel->shift >> k & 1u][m + 1];
}

/* ---- counts of the cut ---- */

/* Whether entry i along axis k belongs to this job: strips and planes share pieces, but each is
 * counted once. */
static bool counted(const struct work *work, int k, int64_t i) {
    const struct ht_fit_job *job = work->job;
    const struct ht_fit_axis *axis = axis_of(work, k);
    bool depends = job->fit->medium->source->depends[k];
    if (!depends) return job->first[k] == 0;
    if (job->fitted[k]) return true;
    int64_t p = k == 1 ? job->pieces[0] + i : job->at3;
    double x = (axis->place[p] + axis->place[p + 1]) / 2;
    double low = axis->lower + ((double)job->first[k] - 0.5) * axis->h;
    double high = axis->lower + ((double)job->last[k] - 0.5) * axis->h;
    return x > low && x <= high && (axis->periodic || (x > axis->lower && x < axis->upper));
}

/* Counts those of `length` entries that are below their bound: entry i is at (i1 + i step, i2 + i
 * (1 - step)). */
static void note_cuts(const struct work *work, const struct neighbours *of, int64_t length,
                      int step, int64_t i1, int64_t i2) {
    for (int64_t i = 0; i < length; i++) {
        const int64_t at1 = i1 + i * step, at2 = i2 + i * (1 - step);
        if (!(missing(of, 1, i) > 0) || !counted(work, 1, at2) || !counted(work, 2, 0)) continue;
        const struct ht_fit_counts one = {.cut = 1,
                                          .place = {ht_fit_position(work->job, 0, at1),
                                                    ht_fit_position(work->job, 1, at2),
                                                    ht_fit_position(work->job, 2, 0)}};
        ht_fit_counts_add(&one, &work->job->counts);
    }
}

/* ---- averages in a plane ---- */

/* The tile of LANES lines from line i2 on; the last one is repeated. */
static void tile_read(const struct sheet *sheet, const double *from, int64_t i2, double *tile) {
    for (int l = 0; l < LANES; l++) {
        int64_t line = i2 + l < sheet->n[1] ? i2 + l : sheet->n[1] - 1;
        const double *in = from + line * sheet->row;
        for (int64_t i = 0; i < sheet->n[0]; i++) tile[i * LANES + l] = in[i];
    }
}

static void tile_write(const struct sheet *sheet, const double *tile, int64_t i2, double *to) {
    for (int l = 0; l < LANES && i2 + l < sheet->n[1]; l++) {
        double *out = to + (i2 + l) * sheet->row;
        for (int64_t i = 0; i < sheet->n[0]; i++) out[i] = tile[i * LANES + l];
    }
}

/* Averages along axis k of rows of `length` values, from those of pieces to those of n nodes. The
 * rows are those of LANES lines from line i2 on, of which `lines` exist, or have `lines` values. */
static void average_rows(const struct work *work, int k, const struct rows *in, int64_t n,
                         int64_t i2, int64_t lines, double *value, double *least) {
    const struct ht_fit_job *job = work->job;
    const int64_t *box = axis_of(work, 0)->box, length = in->length, cuts = tracks(work);
    for (int64_t i = -cuts; i < n + cuts; i++) {
        const struct ht_fit_taps *taps = taps_of(work, k, k == 1 ? job->first[1] + i : i);
        const int64_t slot = (i + 3) % 3;
        for (int t = 0; t < taps->count; t++) {
            const int64_t p = taps->first + t, from = k == 0 ? box[p] : p - job->pieces[0];
            work->value[t] = *in->value + from * length;
            work->least[t] = *in->least + from * length;
        }
        const struct rows rows = {taps->count, taps->weight, work->value, work->least, length};
        rows_add(&rows, cuts ? work->line[0][slot] : value + i * length,
                 cuts ? work->line[1][slot] : NULL);
        if (!cuts || i < 1) continue;
        struct neighbours of;
        for (int j = 0; j < 3; j++) {
            of.value[j] = work->line[0][(i + j + 1) % 3];
            of.least[j] = work->line[1][(i + j + 1) % 3];
        }
        memcpy(least + (i - 1) * length, of.least[1], (size_t)length * sizeof *least);
        if (rows_cut(&of, length, value + (i - 1) * length))
            note_cuts(work, &of, lines, k, k == 0 ? i - 1 : 0, k == 0 ? i2 : i - 1);
    }
}

/* Averages along axis k of the plane. */
static void average(const struct work *work, int k, const struct sheet *in,
                    const struct sheet *out) {
    double *const *tile = work->tile;
    const double *value = k == 0 ? tile[0] : in->value, *least = k == 0 ? tile[1] : sheet_least(in);
    const struct rows rows = {.value = &value, .least = &least, .length = k == 0 ? LANES : in->row};
    work->job->fitted[k] = true;
    if (k == 1) average_rows(work, 1, &rows, out->n[1], 0, out->n[0], out->value, out->least);
    for (int64_t i2 = 0; k == 0 && i2 < in->n[1]; i2 += LANES) {
        const int64_t lines = ht_least(in->n[1] - i2, LANES);
        tile_read(in, in->value, i2, tile[0]);
        if (tracks(work)) tile_read(in, sheet_least(in), i2, tile[1]);
        average_rows(work, 0, &rows, out->n[0], i2, lines, tile[2], tile[3]);
        tile_write(out, tile[2], i2, out->value);
        if (tracks(work)) tile_write(out, tile[3], i2, out->least);
    }
}

/* ---- expressions at faces ---- */

/* A box of an expression whose value at the centre differs by PART and more from that of a box at
 * one of its sides gets the mean of POINTS of it per axis on which the medium depends, in three
 * dimensions of POINTS / 2. Not beside fluid, of which rules ask whether a cell has any. */
static const double PART = 0.1;
enum { POINTS = 4 };
struct near {
    int64_t first, last; /* lines: those of the strip's pieces and one more to either side */
    int64_t held[3];     /* pieces along x3 of which there are the values at the centres */
    double *value[3][HT_MAX_SCALARS];
    int64_t size;         /* of one of these */
    int64_t *face;        /* [entry] boxes of a line at faces */
    unsigned char *marks; /* [box of a line] */
    int points[3];
    struct ht_medium_work line;                        /* of the points of these boxes */
    double *mean[HT_MAX_SCALARS], *at[HT_MAX_SCALARS]; /* [entry], [point] */
};

static int quantities(const struct work *work) {
    return work->job->fit->average->nscalars + work->job->fit->nlost;
}

static enum ht_err make_near(struct work *work) {
    const struct ht_fit *fit = work->job->fit;
    const struct ht_medium_source *source = fit->medium->source;
    const bool *depends = source->depends;
    const int64_t boxes = fit->axis[0].boxes;
    if (source->type != HT_MEDIUM_EXPRESSION || !fit->medium->rough || fit->split) return HT_OK;
    TRY(HT_TAKE(&work->pool, work->near, 1));
    struct near *n = work->near;
    const int points = depends[0] && depends[1] && depends[2] ? POINTS / 2 : POINTS;
    for (int k = 0; k < 3; k++) n->points[k] = depends[k] ? points : 1;
    n->first = ht_most(work->job->pieces[0] - 1, 0);
    n->last = ht_least(work->job->pieces[1] + 1, fit->axis[1].pieces);
    n->size = (n->last - n->first) * boxes;
    for (int i = 0; i < 3; i++) n->held[i] = -1;
    TRY(HT_TAKE(&work->pool, n->face, boxes));
    TRY(HT_TAKE(&work->pool, n->marks, boxes));
    for (int q = 0; q < quantities(work); q++) {
        for (int i = 0; i < 3; i++) TRY(HT_TAKE(&work->pool, n->value[i][q], n->size));
        TRY(HT_TAKE(&work->pool, n->mean[q], boxes));
        TRY(HT_TAKE(&work->pool, n->at[q], n->points[0] * boxes));
    }
    return ht_medium_work_create(fit->medium, n->points[0] * boxes, &n->line);
}

enum { FACE = 1, FLUID = 2 };

/* What stands between `count` values from entry a of piece p on and those from entry b of piece r
 * on is added to marks. */
static void mark(const struct work *work, int64_t p, int64_t a, int64_t r, int64_t b, int64_t count,
                 unsigned char *marks) {
    for (int q = 0; q < quantities(work); q++) {
        const double *x = work->near->value[p % 3][q] + a, *y = work->near->value[r % 3][q] + b;
        const int fluid = work->job->fit->average->vanishing >> q & 1u ? FLUID : 0;
        for (int64_t i = 0; i < count; i++)
            marks[i] |= fabs(x[i] - y[i]) > PART / 2 * (fabs(x[i]) + fabs(y[i])) ? FACE : 0;
        for (int64_t i = 0; fluid && i < count; i++) marks[i] |= x[i] == 0 || y[i] == 0 ? FLUID : 0;
    }
}

/* The boxes of line l of the piece at faces that are not those of a fluid, into n->face. */
static int64_t find_faces(const struct work *work, int64_t p, int64_t l) {
    const struct near *n = work->near;
    const struct ht_fit_axis *axis = work->job->fit->axis;
    const int64_t boxes = axis[0].boxes, at = (l - n->first) * boxes, last = boxes - 1;
    int64_t count = 0;
    memset(n->marks, 0, (size_t)boxes);
    mark(work, p, at, p, at + 1, last, n->marks);
    mark(work, p, at + 1, p, at, last, n->marks + 1);
    if (axis[0].periodic) {
        mark(work, p, at, p, at + last, 1, n->marks);
        mark(work, p, at + last, p, at, 1, n->marks + last);
    }
    if (l > n->first) mark(work, p, at, p, at - boxes, boxes, n->marks);
    if (l < n->last - 1) mark(work, p, at, p, at + boxes, boxes, n->marks);
    if (p > 0) mark(work, p, at, p - 1, at, boxes, n->marks);
    if (p < axis[2].pieces - 1) mark(work, p, at, p + 1, at, boxes, n->marks);
    for (int64_t i = 0; i < boxes; i++)
        if (n->marks[i] == FACE) n->face[count++] = i;
    return count;
}

/* The place of a point of a box. */
static double point_of(const struct ht_fit_axis *axis, int64_t box, int point, int points) {
    const double part = (point + 0.5) / points;
    return axis->edge[box] + part * (axis->edge[box + 1] - axis->edge[box]);
}

/* Means of the first `count` boxes of n->face. */
static enum ht_err find_means(const struct work *work, int64_t i2, int64_t i3, int64_t count) {
    struct near *n = work->near;
    const struct ht_fit *fit = work->job->fit;
    const int all = n->points[0] * n->points[1] * n->points[2];
    for (int q = 0; q < quantities(work); q++)
        memset(n->mean[q], 0, (size_t)count * sizeof *n->mean[q]);
    n->line.count = count * n->points[0];
    for (int64_t i = 0; i < n->line.count; i++)
        n->line.x1[i] = point_of(&fit->axis[0], n->face[i / n->points[0]], (int)(i % n->points[0]),
                                 n->points[0]);
    for (int j = 0; j < n->points[1] * n->points[2]; j++) {
        const double x[3] = {0, point_of(&fit->axis[1], i2, j % n->points[1], n->points[1]),
                             point_of(&fit->axis[2], i3, j / n->points[1], n->points[2])};
        TRY(scalars_line(fit, x, -1, &n->line, n->at));
        for (int q = 0; q < quantities(work); q++)
            for (int64_t i = 0; i < n->line.count; i++)
                n->mean[q][i / n->points[0]] += n->at[q][i] / all;
    }
    return HT_OK;
}

/* Values of piece p at the centres of the boxes, and those of its neighbours. */
static enum ht_err load_centres(struct work *work, int64_t p) {
    struct near *n = work->near;
    const struct ht_fit *fit = work->job->fit;
    const int64_t last = ht_least(p + 2, fit->axis[2].pieces), boxes = fit->axis[0].boxes;
    for (int64_t i = ht_most(p - 1, 0); i < last; i++) {
        if (n->held[i % 3] == i) continue;
        TRY(ht_fit_source(fit, i, n->first, n->last, boxes, n->value[i % 3]));
        n->held[i % 3] = i;
    }
    for (int q = 0; q < quantities(work); q++)
        for (int64_t l = work->job->pieces[0]; l < work->job->pieces[1]; l++)
            memcpy(work->boxes[q].value + (l - work->job->pieces[0]) * work->boxes[q].row,
                   n->value[p % 3][q] + (l - n->first) * boxes, (size_t)boxes * sizeof(double));
    return HT_OK;
}

static enum ht_err average_faces(const struct work *work, int64_t p) {
    struct near *n = work->near;
    const struct ht_fit_axis *axis = work->job->fit->axis;
    for (int64_t l = work->job->pieces[0]; l < work->job->pieces[1]; l++) {
        const int64_t count = find_faces(work, p, l);
        if (count == 0) continue;
        TRY(find_means(work, axis[1].box[l], axis[2].box[p], count));
        for (int q = 0; q < quantities(work); q++)
            for (int64_t i = 0; i < count; i++)
                work->boxes[q].value[(l - work->job->pieces[0]) * work->boxes[q].row + n->face[i]] =
                    n->mean[q][i];
    }
    return HT_OK;
}

/* ---- averages along x3 ---- */

/* Values of boxes at piece p along x3; first: there is none below. */
static enum ht_err load_boxes(struct work *work, int64_t p, bool first) {
    struct ht_fit_job *job = work->job;
    double *out[HT_MAX_SCALARS];
    int64_t row = 0;
    for (int q = 0; q < HT_MAX_SCALARS; q++) {
        out[q] = work->boxes[q].value;
        if (out[q]) row = work->boxes[q].row;
    }
    memset(job->fitted, 0, sizeof job->fitted);
    job->at3 = p;
    TRY(work->near != NULL ? load_centres(work, p)
                           : ht_fit_source(job->fit, p, job->pieces[0], job->pieces[1], row, out));
    for (int q = 0; q < HT_MAX_SCALARS; q++) {
        const struct sheet *boxes = &work->boxes[q];
        double *before = work->before[q].value;
        if (!(work->checked >> q & 1u)) continue;
        job->quantity = q;
        TRY(ht_fit_check_plane(job, boxes->n, row, out[q], first ? NULL : before));
        if (before) memcpy(before, out[q], (size_t)(row * boxes->n[1]) * sizeof *before);
    }
    return work->near != NULL ? average_faces(work, p) : HT_OK;
}

/* Piece p along x3 into the rings. */
static enum ht_err load(struct work *work, int64_t p, bool first) {
    const struct ht_fit_job *job = work->job;
    TRY(load_boxes(work, p, first));
    for (int c = 0; c < job->nchannels; c++) {
        work->at = &work->stage[c];
        const struct sheet *boxes = &work->boxes[work->at->channel->quantity];
        work->job->fitted[0] = work->job->fitted[1] = false;
        if (work->at->same == 2) continue;
        if (work->at->same == 0) average(work, 0, boxes, &work->middle);
        average(work, 1, &work->middle, &work->at->ring[p % work->slots]);
    }
    return HT_OK;
}

static struct sheet *raw_of(struct work *work, int64_t m) {
    return &work->at->raw[(m + 3) % 3];
}

/* Plane m of the grid, from -1 on, from the ring, before the cut. */
static void plane_average(struct work *work, int64_t m) {
    const struct ht_fit_taps *taps = taps_of(work, 2, m);
    struct sheet *to = raw_of(work, m);
    for (int t = 0; t < taps->count; t++) {
        const struct sheet *from = &work->at->ring[(taps->first + t) % work->slots];
        work->value[t] = from->value;
        work->least[t] = sheet_least(from);
    }
    struct rows rows = {taps->count, taps->weight, work->value, work->least, to->row * to->n[1]};
    rows_add(&rows, to->value, to->least);
}

static void plane_cut(struct work *work, int64_t m, struct sheet *out) {
    for (int64_t i2 = 0; i2 < out->n[1]; i2++) {
        struct neighbours of;
        int64_t at = i2 * out->row;
        for (int j = 0; j < 3; j++) {
            of.value[j] = raw_of(work, m + j - 1)->value + at;
            of.least[j] = sheet_least(raw_of(work, m + j - 1)) + at;
        }
        if (!tracks(work))
            memcpy(out->value + at, of.value[1], (size_t)out->row * sizeof(double));
        else if (rows_cut(&of, out->row, out->value + at))
            note_cuts(work, &of, out->n[0], 1, 0, i2);
    }
}

/* Plane m of the grid, of all channels. */
static enum ht_err finish(struct work *work, int64_t m) {
    struct ht_fit_job *job = work->job;
    for (int c = 0; c < job->nchannels; c++) {
        struct sheet *done = &work->stage[c].done;
        work->at = &work->stage[c];
        job->at3 = m;
        for (int k = 0; k < 3; k++) job->fitted[k] = true;
        plane_cut(work, m, done);
        work->done[c] = (struct ht_fit_done){.row = done->row,
                                             .value = done->value,
                                             .least = tracks(work) ? raw_of(work, m)->least : NULL};
    }
    return job->emit(job, work->done);
}

/* ---- strips ---- */

struct strips {
    const struct ht_fit_job *job; /* of all rows */
    int64_t count;
    struct ht_fit_counts *counts; /* of each strip */
    struct ht_progress progress;  /* rows of planes */
};

/* The pieces [first, last) along axis k of which node m needs some. */
static void pieces_of(struct work *work, int k, int64_t m, int64_t *first, int64_t *last) {
    *first = INT64_MAX;
    *last = 0;
    for (int c = 0; c < work->job->nchannels; c++) {
        work->at = &work->stage[c];
        const struct ht_fit_taps *taps = taps_of(work, k, m);
        *first = ht_least(*first, taps->first);
        *last = ht_most(*last, taps->first + taps->count);
    }
}

static enum ht_err average_planes(struct work *work, struct strips *strips) {
    struct ht_fit_job *job = work->job;
    int64_t from, next, end;
    pieces_of(work, 2, job->first[2] - 1, &from, &end);
    next = from;
    for (int64_t m = job->first[2] - 1; m <= job->last[2]; m++) {
        int64_t first;
        pieces_of(work, 2, m, &first, &end);
        for (; next < end; next++) TRY(load(work, next, next == from));
        for (int c = 0; c < job->nchannels; c++) {
            work->at = &work->stage[c];
            plane_average(work, m);
        }
        if (m <= job->first[2]) continue;
        TRY(finish(work, m - 1));
        ht_progress_add(&strips->progress, job->last[1] - job->first[1]);
    }
    return HT_OK;
}

/* Axes, from x1 on, along which two channels take the same averages; the cut depends on all. */
static int shared(const struct ht_fit_channel *a, const struct ht_fit_channel *b) {
    int k = 0;
    if (a->quantity != b->quantity || a->track || b->track) return 0;
    while (k < 2 && a->window[k] == b->window[k]) k++;
    return k;
}

static enum ht_err make_stages(struct work *work) {
    const struct ht_fit_job *job = work->job;
    const int64_t n1 = axis_of(work, 0)->nodes, n2 = job->last[1] - job->first[1];
    const struct ht_average *rule = job->fit->average;
    work->slots = axis_of(work, 2)->most;
    for (int c = 0; c < job->nchannels; c++) {
        struct stage *stage = &work->stage[c];
        const int q = stage->channel->quantity;
        const bool track = stage->channel->track;
        if (c > 0) stage->same = shared(stage[-1].channel, stage->channel);
        if (stage->same == 2) stage->ring = stage[-1].ring;
        if (stage->same < 2) TRY(HT_TAKE(&work->pool, stage->ring, work->slots));
        for (int s = 0; stage->same < 2 && s < work->slots; s++)
            TRY(sheet_make(&work->pool, n1, n2, track, &stage->ring[s]));
        for (int i = 0; i < 3; i++) TRY(sheet_make(&work->pool, n1, n2, track, &stage->raw[i]));
        TRY(sheet_make(&work->pool, n1, n2, track, &stage->done));
        if (q < rule->nscalars && !(rule->any_sign >> q & 1u)) work->checked |= 1u << q;
    }
    return HT_OK;
}

static enum ht_err work_make(struct work *work) {
    const struct ht_fit_job *job = work->job;
    const int64_t box1 = axis_of(work, 0)->boxes, n1 = axis_of(work, 0)->nodes;
    const int64_t pieces = job->pieces[1] - job->pieces[0];
    const bool stacked = axis_of(work, 2)->boxes > 1;
    int most = 0;
    TRY(make_stages(work));
    TRY(sheet_make(&work->pool, n1, pieces, true, &work->middle));
    for (int q = 0; q < quantities(work); q++) {
        TRY(sheet_make(&work->pool, box1, pieces, false, &work->boxes[q]));
        if (stacked && (work->checked >> q & 1u))
            TRY(sheet_make(&work->pool, box1, pieces, false, &work->before[q]));
    }
    TRY(make_near(work));
    for (int i = 0; i < 4; i++)
        TRY(HT_TAKE(&work->pool, work->tile[i], LANES * (i < 2 ? box1 : n1)));
    for (int i = 0; i < 6; i++)
        TRY(HT_TAKE(&work->pool, work->line[i / 3][i % 3], padded(box1 > n1 ? box1 : n1)));
    for (int k = 0; k < 3; k++)
        if (axis_of(work, k)->most > most) most = axis_of(work, k)->most;
    TRY(HT_TAKE(&work->pool, work->value, most));
    return HT_TAKE(&work->pool, work->least, most);
}

static enum ht_err average_strip(void *data, int64_t strip) {
    struct strips *strips = data;
    struct ht_fit_job job = *strips->job;
    struct work work = {.job = &job};
    for (int c = 0; c < job.nchannels; c++) work.stage[c].channel = &job.channel[c];
    const int64_t nodes = axis_of(&work, 1)->nodes;
    int64_t other; /* pieces along x2 that the rows need */
    job.first[1] = ht_threads_first(nodes, strips->count, strip);
    job.last[1] = ht_threads_first(nodes, strips->count, strip + 1);
    pieces_of(&work, 1, job.first[1] - 1, &job.pieces[0], &other);
    pieces_of(&work, 1, job.last[1], &other, &job.pieces[1]);
    enum ht_err err = work_make(&work);
    if (err == HT_OK) err = average_planes(&work, strips);
    strips->counts[strip] = job.counts;
    if (work.near != NULL) ht_medium_work_destroy(&work.near->line);
    ht_pool_free(&work.pool);
    return err;
}

static enum ht_err average_strips(struct ht_fit_job *job, int64_t count) {
    const struct ht_fit_axis *axis = job->fit->axis;
    struct strips strips = {.job = job, .count = count};
    TRY(HT_ALLOC(strips.counts, count));
    ht_progress_start(&strips.progress, "fitting the medium",
                      (double)((job->last[2] - job->first[2]) * axis[1].nodes), "points",
                      (double)axis[0].nodes);
    enum ht_err err = ht_threads_run(count, average_strip, &strips);
    ht_progress_end(&strips.progress);
    for (int64_t s = 0; err == HT_OK && s < count; s++)
        ht_fit_counts_add(&strips.counts[s], &job->counts);
    free(strips.counts);
    return err;
}

/* Of several failures one is found that does not depend on the strips. */
enum ht_err ht_fit_average(struct ht_fit_job *job) {
    const struct ht_fit_axis *axis = job->fit->axis;
    const int64_t row = ht_most(axis[0].boxes, axis[0].nodes);
    const int64_t rows = ht_most(STRIP_VALUES / row, STRIP);
    const int64_t threads = ht_least(ht_threads_count(), axis[1].nodes / THREAD_STRIP);
    int64_t count = ht_divide_up(axis[1].nodes, rows); /* for the caches */
    if (threads > 1) count = ht_divide_up(count, threads) * threads;
    enum ht_err err = average_strips(job, count);
    return err == HT_ERR_INPUT && count > 1 ? average_strips(job, 1) : err;
}
