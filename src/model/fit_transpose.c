/* The derivative of averages (fit_average.c), transposed: gradients by averages at the nodes become
 * gradients by the values of boxes.
 *
 * Planes of boxes are averaged along x1 and x2 and kept in a ring, from which planes of the grid
 * are averaged along x3, as they are there. Gradients go back by the same planes: those by planes
 * of boxes are summed up in a ring, and when no node needs such a plane any more it is averaged
 * again along x1 and x2, so that the cut is known, and its gradient goes on to the boxes.
 *
 * Along an axis, with the averages v = F x, t half of the least value l in reach and d = max(t - v,
 * 0), the cut is max(v_m + d_m - (d_(m-1) + d_(m+1))/2, t_m). Of the gradient g by it and g_l by
 * the least values that go on
 *     k = g, 0 where t is taken,         g_d = k_m - (k_(m-1) + k_(m+1))/2 where d > 0, else 0,
 *     F^T (k - g_d) goes to the values,  g_l + (g - k + g_d)/2 to the value that is the least.
 *
 * All is done on columns: values that lie side by side in the rows of a pass do not depend on each
 * other. Threads have columns of their own, and each sum has one order. */
#include "fit_private.h"

/* Rows of `size` values, of nodes from -2 on or of pieces, which take turns in `slots` places.
 * least: the least values in reach, or the gradients by these; NULL: not tracked. */
struct rows {
    int64_t size, slots;
    double *value, *least;
};
static double *row_of(const struct rows *rows, double *from, int64_t i) {
    return from + (i + 2) % rows->slots * rows->size;
}
static double *value_of(const struct rows *rows, int64_t i) {
    return row_of(rows, rows->value, i);
}
static double *least_of(const struct rows *rows, int64_t i) {
    return row_of(rows, rows->least, i);
}
static void rows_clear(const struct rows *rows, int64_t i) {
    memset(value_of(rows, i), 0, (size_t)rows->size * sizeof(double));
    if (rows->least) memset(least_of(rows, i), 0, (size_t)rows->size * sizeof(double));
}
/* Row i from row j of others, on one side all rows of a plane. */
static void rows_copy(const struct rows *from, int64_t j, const struct rows *to, int64_t i) {
    const size_t bytes = (size_t)ht_most(from->size, to->size) * sizeof(double);
    memcpy(value_of(to, i), value_of(from, j), bytes);
    if (from->least && to->least) memcpy(least_of(to, i), least_of(from, j), bytes);
}

/* One axis. in: values of pieces, raw: averages before the cut, out: behind it; by_out and by_in:
 * gradients by them, kept: k. */
struct pass {
    const struct ht_fit_taps *taps; /* of node m: taps[m + 1] */
    const int64_t *box;             /* the row of a piece; NULL: piece less `first` */
    int64_t first, nodes;
    bool track;
    struct rows in, raw, out, by_out, kept, by_in;
};

static int64_t row_in(const struct pass *p, int64_t piece) {
    return p->box != NULL ? p->box[piece] : piece - p->first;
}

/* ---- rows ---- */

static void average(const struct pass *p, int64_t m, int64_t begin, int64_t end) {
    const struct ht_fit_taps *taps = &p->taps[m + 1];
    double *value = value_of(&p->raw, m), *least = p->track ? least_of(&p->raw, m) : NULL;
    for (int64_t i = begin; i < end; i++) value[i] = 0;
    for (int64_t i = begin; i < end && p->track; i++) least[i] = INFINITY;
    for (int t = 0; t < taps->count; t++) {
        const int64_t from = row_in(p, taps->first + t);
        const double *x = value_of(&p->in, from), *low = p->track ? least_of(&p->in, from) : NULL;
        for (int64_t i = begin; i < end; i++) value[i] += taps->weight[t] * x[i];
        for (int64_t i = begin; i < end && p->track; i++)
            least[i] = low[i] < least[i] ? low[i] : least[i];
    }
}

/* Averages of three neighbours. */
struct three {
    const double *value[3], *least[3];
};
static struct three three_at(const struct pass *p, int64_t m) {
    struct three of;
    for (int j = 0; j < 3; j++) {
        of.value[j] = value_of(&p->raw, m + j - 1);
        of.least[j] = p->track ? least_of(&p->raw, m + j - 1) : NULL;
    }
    return of;
}
static double missing(const struct three *of, int j, int64_t i) {
    const double d = of->least[j][i] / 2 - of->value[j][i];
    return d > 0 ? d : 0;
}
/* What the cut makes of the middle one, before the bound. */
static double lifted(const struct three *of, int64_t i) {
    return of->value[1][i] + missing(of, 1, i) - (missing(of, 0, i) + missing(of, 2, i)) / 2;
}

static void cut(const struct pass *p, int64_t m, int64_t begin, int64_t end) {
    const struct three of = three_at(p, m);
    const size_t bytes = (size_t)(end - begin) * sizeof(double);
    double *value = value_of(&p->out, m);
    if (p->track) memcpy(least_of(&p->out, m) + begin, of.least[1] + begin, bytes);
    memcpy(value + begin, of.value[1] + begin, bytes);
    for (int64_t i = begin; i < end && p->track; i++) {
        const double bound = of.least[1][i] / 2, free = lifted(&of, i);
        value[i] = free > bound ? free : bound;
    }
}

static void keep(const struct pass *p, int64_t m, int64_t begin, int64_t end) {
    const struct three of = three_at(p, m);
    const double *by_out = value_of(&p->by_out, m);
    double *kept = value_of(&p->kept, m);
    memcpy(kept + begin, by_out + begin, (size_t)(end - begin) * sizeof *kept);
    for (int64_t i = begin; i < end && p->track; i++)
        if (!(lifted(&of, i) > of.least[1][i] / 2)) kept[i] = 0;
}

/* What node m hands on to the values and, in place of the gradients by it, to the least one. */
static void split(const struct pass *p, int64_t m, int64_t begin, int64_t end) {
    const struct three of = three_at(p, m);
    const double *below = value_of(&p->kept, m - 1), *above = value_of(&p->kept, m + 1);
    const double *kept = value_of(&p->kept, m);
    double *value = value_of(&p->by_out, m), *least = least_of(&p->by_out, m);
    for (int64_t i = begin; i < end; i++) {
        const bool low = missing(&of, 1, i) > 0;
        const double by_missing = low ? kept[i] - (below[i] + above[i]) / 2 : 0;
        least[i] += (value[i] - kept[i] + by_missing) / 2;
        value[i] = kept[i] - by_missing;
    }
}

/* Column i of node m: `rest` to the least value in reach, of several in equal parts. */
static void spread_least(const struct pass *p, int64_t m, int64_t i, double rest) {
    const struct ht_fit_taps *taps = &p->taps[m + 1];
    const double least = least_of(&p->raw, m)[i];
    int equal = 0;
    for (int t = 0; t < taps->count; t++)
        equal += least_of(&p->in, row_in(p, taps->first + t))[i] == least;
    for (int t = 0; t < taps->count; t++) {
        const int64_t to = row_in(p, taps->first + t);
        if (least_of(&p->in, to)[i] == least) least_of(&p->by_in, to)[i] += rest / equal;
    }
}

static void spread(const struct pass *p, int64_t m, int64_t begin, int64_t end) {
    const struct ht_fit_taps *taps = &p->taps[m + 1];
    const double *value = value_of(&p->by_out, m);
    double *rest = p->track ? least_of(&p->by_out, m) : NULL;
    if (p->track) split(p, m, begin, end);
    for (int t = 0; t < taps->count; t++) {
        double *by_value = value_of(&p->by_in, row_in(p, taps->first + t));
        for (int64_t i = begin; i < end; i++) by_value[i] += taps->weight[t] * value[i];
    }
    for (int64_t i = begin; i < end && p->track; i++) {
        if (rest[i] != 0) spread_least(p, m, i, rest[i]);
        rest[i] = 0;
    }
}

/* ---- columns by threads ---- */

enum step { FORWARDS, BACK, AVERAGE, CUT, KEEP, SPREAD };
struct columns {
    const struct pass *pass;
    enum step step;
    int64_t m; /* of single rows */
};

/* All rows; or one. */
static enum ht_err do_columns(void *data, int64_t begin, int64_t end) {
    const struct columns *c = data;
    const struct pass *p = c->pass;
    const bool all = c->step == FORWARDS || c->step == BACK;
    const int64_t from = all ? -1 : c->m, to = all ? p->nodes : c->m;
    for (int64_t m = from; m <= to && (c->step == FORWARDS || c->step == AVERAGE); m++)
        average(p, m, begin, end);
    for (int64_t m = from + all; m <= to - all && (c->step == FORWARDS || c->step == CUT); m++)
        cut(p, m, begin, end);
    for (int64_t m = from + all; m <= to - all && (c->step == BACK || c->step == KEEP); m++)
        keep(p, m, begin, end);
    for (int64_t m = from; m <= to && (c->step == BACK || c->step == SPREAD); m++)
        spread(p, m, begin, end);
    return HT_OK;
}

static enum ht_err pass_do(const struct pass *pass, enum step step, int64_t m) {
    enum { LEAST = 1 << 15 }; /* values of a chunk, worth a thread */
    struct columns columns = {pass, step, m};
    const int64_t rows = step == FORWARDS || step == BACK ? pass->nodes : 1;
    return ht_threads_share(pass->in.size, ht_most(LEAST / rows, 16), do_columns, &columns);
}

struct turned {
    const double *from;
    double *to;
    int64_t rows, size;
};
static enum ht_err turn_rows(void *data, int64_t begin, int64_t end) {
    enum { BLOCK = 16 };
    const struct turned *t = data;
    for (int64_t block = begin; block < end; block += BLOCK)
        for (int64_t i = 0; i < t->size; i++)
            for (int64_t r = block; r < ht_least(block + BLOCK, end); r++)
                t->to[i * t->rows + r] = t->from[r * t->size + i];
    return HT_OK;
}
/* to[size][rows] from from[rows][size].
 * NOLINTNEXTLINE(readability-non-const-parameter): for threads */
static enum ht_err transpose(const double *from, int64_t rows, int64_t size, double *to) {
    struct turned turned = {.from = from, .to = to, .rows = rows, .size = size};
    return ht_threads_share(rows, 32, turn_rows, &turned);
}

/* ---- planes of boxes ---- */

struct work {
    const struct ht_fit_turn *turn;
    int64_t pieces[2]; /* [first, last) along x2 */
    double *source[HT_MAX_SCALARS];
    int64_t read;         /* the piece along x3 that these are of */
    struct pass plane[2]; /* along x1 and x2, of one plane and channel after the other */
    struct pass high[HT_FIT_CHANNELS];                      /* along x3 */
    int64_t loaded[HT_FIT_CHANNELS], done[HT_FIT_CHANNELS]; /* pieces */
    struct ht_pool pool;
};

static const struct ht_fit_axis *axis_of(const struct work *work, int k) {
    return &work->turn->fit->axis[k];
}

static void set_channel(const struct work *work, int c, int k, struct pass *pass) {
    const struct ht_fit_channel *channel = &work->turn->channel[c];
    pass->taps = axis_of(work, k)->taps[channel->window[k]][channel->shift >> k & 1u];
    pass->track = channel->track;
}

static enum ht_err read_source(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    const int64_t row = axis_of(work, 0)->boxes, first = work->pieces[0];
    double *out[HT_MAX_SCALARS] = {NULL};
    for (int q = 0; q < work->turn->fit->average->nscalars; q++)
        out[q] = work->source[q] + begin * row;
    return ht_fit_source(work->turn->fit, work->read, first + begin, first + end, row, out);
}

/* Piece `piece` along x3, averaged along x1 and x2. */
static enum ht_err plane_forwards(struct work *work, int c, int64_t piece) {
    struct pass *one = &work->plane[0], *two = &work->plane[1];
    const int64_t lines = one->in.size;
    for (int k = 0; k < 2; k++) set_channel(work, c, k, &work->plane[k]);
    const bool there = work->read == piece;
    work->read = piece;
    if (!there) TRY(ht_threads_share(lines, 16, read_source, work));
    TRY(transpose(work->source[work->turn->channel[c].quantity], lines, axis_of(work, 0)->boxes,
                  value_of(&one->in, 0)));
    TRY(pass_do(one, FORWARDS, 0));
    TRY(transpose(value_of(&one->out, 0), one->nodes, lines, value_of(&two->in, 0)));
    if (one->track)
        TRY(transpose(least_of(&one->out, 0), one->nodes, lines, least_of(&two->in, 0)));
    return pass_do(two, FORWARDS, 0);
}

static enum ht_err pass_back(const struct pass *pass, int64_t rows_in) {
    for (int64_t i = 0; i < rows_in; i++) rows_clear(&pass->by_in, i);
    rows_clear(&pass->by_out, -1);
    rows_clear(&pass->by_out, pass->nodes);
    return pass_do(pass, BACK, 0);
}

/* The gradient by a plane of boxes, of which there is that by its averages along x1 and x2. */
static enum ht_err plane_back(struct work *work, int c, int64_t piece) {
    const struct pass *one = &work->plane[0], *two = &work->plane[1], *high = &work->high[c];
    const int64_t lines = one->in.size;
    TRY(plane_forwards(work, c, piece));
    rows_copy(&high->by_in, piece, &two->by_out, 0);
    TRY(pass_back(two, lines));
    TRY(transpose(value_of(&two->by_in, 0), lines, two->in.size, value_of(&one->by_out, 0)));
    if (one->track)
        TRY(transpose(least_of(&two->by_in, 0), lines, two->in.size, least_of(&one->by_out, 0)));
    TRY(pass_back(one, axis_of(work, 0)->boxes));
    /* The boxes' gradients, next to each other, into the sums. */
    const struct ht_fit_turn *turn = work->turn;
    const struct ht_fit_axis *axis = turn->fit->axis;
    const int64_t plane = axis[2].base + axis[2].box[piece];
    for (int64_t l = 0; l < lines; l++) {
        const int64_t line = axis[1].base + axis[1].box[work->pieces[0] + l];
        double *to = turn->sum[turn->channel[c].quantity] + axis[0].base +
                     (plane * turn->shape[1] + line) * turn->shape[0];
        for (int64_t i = 0; i < axis[0].boxes; i++)
            to[i] += value_of(&one->by_in, i)[l] + least_of(&one->by_in, i)[l];
    }
    return HT_OK;
}

/* ---- planes of the grid ---- */

/* Plane m before the cut, with pieces of the boxes that come into reach. */
static enum ht_err average_plane(struct work *work, int c, int64_t m) {
    struct pass *high = &work->high[c];
    const struct ht_fit_taps *taps = &high->taps[m + 1];
    if (work->loaded[c] < 0) work->loaded[c] = work->done[c] = taps->first;
    for (; work->loaded[c] < taps->first + taps->count; work->loaded[c]++) {
        const int64_t p = work->loaded[c];
        TRY(plane_forwards(work, c, p));
        rows_copy(&work->plane[1].out, 0, &high->in, p);
        rows_clear(&high->by_in, p);
    }
    return pass_do(high, AVERAGE, m);
}

static enum ht_err turn_plane(const struct work *work, int64_t m) {
    struct ht_fit_done done[HT_FIT_CHANNELS];
    double *gradient[HT_FIT_CHANNELS];
    for (int c = 0; c < work->turn->nchannels; c++) {
        TRY(pass_do(&work->high[c], CUT, m));
        done[c] = (struct ht_fit_done){
            .value = value_of(&work->high[c].out, m),
            .least = work->turn->channel[c].track ? least_of(&work->high[c].out, m) : NULL};
        gradient[c] = value_of(&work->high[c].by_out, m);
    }
    TRY(work->turn->at(work->turn->data, m, done, gradient));
    for (int c = 0; c < work->turn->nchannels; c++) TRY(pass_do(&work->high[c], KEEP, m));
    return HT_OK;
}

/* Node plane m has its gradient, and so have pieces that no plane above it needs. */
static enum ht_err spread_plane(struct work *work, int c, int64_t m) {
    const struct pass *high = &work->high[c];
    const bool last = m == work->turn->last;
    const int64_t end = last ? work->loaded[c] : high->taps[m + 2].first;
    TRY(pass_do(high, SPREAD, m));
    for (; work->done[c] < end; work->done[c]++) TRY(plane_back(work, c, work->done[c]));
    return HT_OK;
}

static enum ht_err turn_planes(struct work *work, struct ht_progress *progress) {
    const struct ht_fit_turn *turn = work->turn;
    for (int64_t m = turn->first - 1; m <= turn->last + 2; m++) {
        for (int c = 0; c < turn->nchannels && m <= turn->last; c++) TRY(average_plane(work, c, m));
        if (m > turn->first && m <= turn->last) TRY(turn_plane(work, m - 1));
        for (int c = 0; c < turn->nchannels; c++) {
            if (m > turn->last) rows_clear(&work->high[c].kept, m - 1);
            if (m > turn->last) rows_clear(&work->high[c].by_out, m - 1);
            if (m > turn->first) TRY(spread_plane(work, c, m - 2));
        }
        if (m > turn->first && m <= turn->last) ht_progress_add(progress, 1);
    }
    return HT_OK;
}

/* ---- memory ---- */

static enum ht_err rows_make(struct work *work, int64_t rows, int64_t size, bool track,
                             struct rows *out) {
    *out = (struct rows){.size = size, .slots = rows + 4};
    TRY(HT_TAKE(&work->pool, out->value, out->slots * size));
    return track ? HT_TAKE(&work->pool, out->least, out->slots * size) : HT_OK;
}

/* track: of some channel that uses it. */
static enum ht_err pass_make(struct work *work, int64_t in, int64_t nodes, int64_t size, bool track,
                             struct pass *pass) {
    pass->nodes = nodes;
    TRY(rows_make(work, in, size, track, &pass->in));
    TRY(rows_make(work, in, size, track, &pass->by_in));
    TRY(rows_make(work, nodes, size, track, &pass->raw));
    TRY(rows_make(work, nodes, size, track, &pass->out));
    TRY(rows_make(work, nodes, size, false, &pass->kept));
    return rows_make(work, nodes, size, track, &pass->by_out);
}

/* Of all channels, the pieces that the rows need. */
static void find_pieces(struct work *work) {
    work->pieces[0] = INT64_MAX;
    for (int c = 0; c < work->turn->nchannels; c++) {
        struct pass pass;
        set_channel(work, c, 1, &pass);
        for (int64_t m = 0; m < axis_of(work, 1)->nodes + 2; m++) {
            const int64_t first = pass.taps[m].first;
            work->pieces[0] = ht_least(work->pieces[0], first);
            work->pieces[1] = ht_most(work->pieces[1], first + pass.taps[m].count);
        }
    }
}

static enum ht_err work_make(struct work *work) {
    const struct ht_fit_turn *turn = work->turn;
    const int64_t n1 = axis_of(work, 0)->nodes, n2 = axis_of(work, 1)->nodes;
    const int64_t boxes = axis_of(work, 0)->boxes;
    find_pieces(work);
    const int64_t lines = work->pieces[1] - work->pieces[0];
    for (int q = 0; q < turn->fit->average->nscalars; q++)
        TRY(HT_TAKE(&work->pool, work->source[q], boxes * lines));
    TRY(pass_make(work, boxes, n1, lines, true, &work->plane[0]));
    TRY(pass_make(work, lines, n2, n1, true, &work->plane[1]));
    work->plane[0].in.least = work->plane[0].in.value; /* boxes are their own least ones */
    work->plane[0].box = axis_of(work, 0)->box;
    work->plane[1].first = work->pieces[0];
    for (int c = 0; c < turn->nchannels; c++) {
        struct pass *high = &work->high[c];
        work->loaded[c] = -1;
        set_channel(work, c, 2, high);
        const struct ht_fit_taps *taps = high->taps;
        int64_t held = 0; /* pieces at the same time */
        for (int64_t m = 0; m < axis_of(work, 2)->nodes + 2; m++)
            held = ht_most(held, taps[m].first + taps[m].count - taps[ht_most(m - 2, 0)].first);
        TRY(pass_make(work, held, 1, n1 * n2, high->track, high));
    }
    return HT_OK;
}

enum ht_err ht_fit_turn(const struct ht_fit_turn *turn) {
    struct work work = {.turn = turn, .read = -1};
    struct ht_progress progress;
    enum ht_err err = work_make(&work);
    ht_progress_start(&progress, "transposing the fit", (double)(turn->last - turn->first),
                      "points", (double)work.high[0].in.size);
    if (err == HT_OK) err = turn_planes(&work, &progress);
    ht_progress_end(&progress);
    ht_pool_free(&work.pool);
    return err;
}
