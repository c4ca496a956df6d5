/* Averages of the medium along the axes, plane by plane, and their derivative, transposed:
 * gradients by averages at the nodes become gradients by the values of boxes.
 *
 * Planes of boxes are averaged along x1 and x2 and kept in a ring, from which planes of the grid
 * are averaged along x3. Without gradients rows of the grid are done in strips, so that planes of a
 * strip stay in the caches and threads have strips of their own. Gradients go back by the same
 * planes: those by planes of boxes are summed up in a ring, and when no node needs such a plane any
 * more it is averaged again along x1 and x2, so that the cut is known, and its gradient goes on to
 * the boxes.
 *
 * Every plane carries the least value l in reach of its values along the axes that were averaged so
 * far. Along an axis, with the averages v = F x, t = l/2 and d = max(t - v, 0), the cut is
 *     max(v_m + d_m - (d_(m-1) + d_(m+1))/2, t_m).
 * So sums over points, of v and of x v, stay what they are; a cut alone makes jumps errors of first
 * order (bench/NOTES.md, "Fitted medium"). For this, averages go one point beyond the first and the
 * last. Of the gradient g by the cut and g_l by the least values that go on
 *     k = g, 0 where t is taken,         g_d = k_m - (k_(m-1) + k_(m+1))/2 where d > 0, else 0,
 *     F^T (k - g_d) goes to the values,  g_l + (g - k + g_d)/2 to the value that is the least.
 *
 * All is done on columns: values that lie side by side in the rows of a pass do not depend on each
 * other. Each sum has one order, whatever threads and strips there are. */
#include "fit_private.h"

/* Of a strip: rows at least, of one thread and of several, and values of a plane that are aimed at.
 * Strips read some ten rows of neighbours. Rows are padded to a multiple of LANES. */
enum { LANES = 8, STRIP = 64, THREAD_STRIP = 24, STRIP_VALUES = 1 << 17 };

static int64_t padded(int64_t n) {
    return (n + LANES - 1) / LANES * LANES;
}

/* Rows of `size` values, of nodes or of pieces, which take turns in `slots` places, row 0 in place
 * number `ahead`. least: the least values in reach, or gradients by these; NULL: not tracked. */
struct rows {
    int64_t size, slots, ahead;
    double *value, *least;
};
static double *row_of(const struct rows *rows, double *from, int64_t i) {
    return from + (i + rows->ahead) % rows->slots * rows->size;
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
    int axis;
    const struct ht_fit_taps *taps; /* of node m: taps[m + 1] */
    const int64_t *box;             /* the row of a piece; NULL: piece less `first` */
    int64_t first, nodes;
    int most; /* taps */
    bool track;
    struct rows in, raw, out, by_out, kept, by_in;
};

static int64_t row_in(const struct pass *p, int64_t piece) {
    return p->box != NULL ? p->box[piece] : piece - p->first;
}

/* ---- rows ---- */

/* Node m; room: for pointers to the rows of its pieces. */
static void average(const struct pass *p, int64_t m, int64_t begin, int64_t end,
                    const double **room) {
    const struct ht_fit_taps *taps = &p->taps[m + 1];
    const struct rows *to = p->track ? &p->raw : &p->out;
    const double **value = room, **least = room + p->most;
    double *out = value_of(to, m), *out_least = p->track ? least_of(to, m) : NULL;
    for (int t = 0; t < taps->count; t++) {
        const int64_t from = row_in(p, taps->first + t);
        value[t] = value_of(&p->in, from);
        least[t] = p->track ? least_of(&p->in, from) : NULL;
    }
    for (int64_t i = begin; i < end; i += LANES) {
        double sum[LANES] = {0}, low[LANES];
        HT_EACH_BY(t, const double, in, value[t] + i, taps->count) {
            for (int l = 0; l < LANES; l++) sum[l] += taps->weight[t] * in[l];
        }
        memcpy(out + i, sum, sizeof sum);
        if (!p->track) continue;
        memcpy(low, least[0] + i, sizeof low);
        for (int t = 1; t < taps->count; t++) {
            const double *in = least[t] + i;
            for (int l = 0; l < LANES; l++) low[l] = in[l] < low[l] ? in[l] : low[l];
        }
        memcpy(out_least + i, low, sizeof low);
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
        of.least[j] = least_of(&p->raw, m + j - 1);
    }
    return of;
}
static double missing(const struct three *of, int j, int64_t i) {
    const double d = of->least[j][i] / 2 - of->value[j][i];
    return d > 0 ? d : 0;
}
/* What the cut makes of the middle one, before the bound. */
static inline double lifted(const struct three *of, int64_t i) {
    return of->value[1][i] + missing(of, 1, i) - (missing(of, 0, i) + missing(of, 2, i)) / 2;
}

/* Of a pass that tracks; whether node m is below its bound anywhere. */
static bool cut(const struct pass *p, int64_t m, int64_t begin, int64_t end) {
    const struct three of = three_at(p, m);
    double *value = value_of(&p->out, m);
    bool low = false;
    if (p->out.least)
        memcpy(least_of(&p->out, m) + begin, of.least[1] + begin,
               (size_t)(end - begin) * sizeof *value);
    for (int64_t i = begin; i < end; i++) {
        const double bound = of.least[1][i] / 2, free = lifted(&of, i);
        value[i] = free > bound ? free : bound;
        low |= of.value[1][i] < bound;
    }
    return low;
}

static void keep(const struct pass *p, int64_t m, int64_t begin, int64_t end) {
    double *kept = value_of(&p->kept, m);
    memcpy(kept + begin, value_of(&p->by_out, m) + begin, (size_t)(end - begin) * sizeof *kept);
    if (!p->track) return;
    const struct three of = three_at(p, m);
    for (int64_t i = begin; i < end; i++)
        if (!(lifted(&of, i) > of.least[1][i] / 2)) kept[i] = 0;
}

/* What node m hands on to the values and, in place of the gradients by it, to the least one. */
static void split(const struct pass *p, int64_t m, int64_t begin, int64_t end) {
    const struct three of = three_at(p, m);
    const double *below = value_of(&p->kept, m - 1), *above = value_of(&p->kept, m + 1);
    const double *kept = value_of(&p->kept, m);
    double *value = value_of(&p->by_out, m), *least = least_of(&p->by_out, m);
    for (int64_t i = begin; i < end; i++) {
        const double by_missing = missing(&of, 1, i) > 0 ? kept[i] - (below[i] + above[i]) / 2 : 0;
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

struct work {
    struct ht_fit_job *job;
    struct ht_fit_near *near; /* NULL: boxes hold what is at their centres */
    double *source[HT_MAX_SCALARS], *before[HT_MAX_SCALARS]; /* [line][box], and the piece below */
    int64_t read;         /* the piece along x3 that these are of; -1: none yet */
    unsigned checked;     /* scalars that are averaged and have one sign */
    struct pass plane[2]; /* along x1 and x2, of one plane and channel after the other */
    struct pass high[HT_FIT_CHANNELS]; /* along x3 */
    int same[HT_FIT_CHANNELS]; /* averages along x1, or x1 and x2, are those of the one before */
    int64_t loaded, done[HT_FIT_CHANNELS]; /* pieces */
    struct ht_pool pool;
};

static const struct ht_fit_axis *axis_of(const struct work *work, int k) {
    return &work->job->fit->axis[k];
}

/* Of node m along axis k, from -1 on. */
static const struct ht_fit_taps *taps_of(const struct work *work, int c, int k, int64_t m) {
    const struct ht_fit_channel *channel = &work->job->channel[c];
    return &axis_of(work, k)->taps[channel->window[k]][channel->shift >> k & 1u][m + 1];
}

static void set_channel(const struct work *work, int c, int k, struct pass *pass) {
    pass->taps = taps_of(work, c, k, k == 1 ? work->job->first[1] - 1 : -1);
    pass->track = work->job->channel[c].track;
}

/* Whether entry i along axis k belongs to this job: strips and planes share pieces, but each is
 * counted once. */
static bool counted(const struct work *work, int k, int64_t i) {
    const struct ht_fit_job *job = work->job;
    const struct ht_fit_axis *axis = axis_of(work, k);
    if (!job->fit->medium->source->depends[k]) return job->first[k] == 0;
    if (job->fitted[k]) return true;
    int64_t p = k == 1 ? job->pieces[0] + i : job->at3;
    double x = (axis->place[p] + axis->place[p + 1]) / 2;
    double low = axis->lower + ((double)job->first[k] - 0.5) * axis->h;
    double high = axis->lower + ((double)job->last[k] - 0.5) * axis->h;
    return x > low && x <= high && (axis->periodic || (x > axis->lower && x < axis->upper));
}

/* Counts what is below its bound at node m. */
static void note_cuts(const struct work *work, const struct pass *p, int64_t m, int64_t begin,
                      int64_t end) {
    const struct three of = three_at(p, m);
    const int64_t row = work->plane[1].in.size;
    for (int64_t i = begin; i < end; i++) {
        const int64_t at1 = p->axis == 0 ? m : i % row;
        const int64_t at2 = p->axis == 0 ? i : p->axis == 1 ? m : i / row;
        if (!(missing(&of, 1, i) > 0) || !counted(work, 1, at2) || !counted(work, 2, 0)) continue;
        const struct ht_fit_counts one = {.cut = 1,
                                          .place = {ht_fit_position(work->job, 0, at1),
                                                    ht_fit_position(work->job, 1, at2),
                                                    ht_fit_position(work->job, 2, 0)}};
        ht_fit_counts_add(&one, &work->job->counts);
    }
}

/* ---- columns: of gradients by threads, else threads have strips ---- */

enum step { FORWARDS, BACK, AVERAGE, CUT, KEEP, SPREAD };
struct columns {
    const struct work *work;
    const struct pass *pass;
    enum step step;
    int64_t m; /* of single rows */
};

/* All rows; or one. */
static HT_ERR do_columns(void *data, int64_t begin, int64_t end) {
    const struct columns *c = data;
    const struct pass *p = c->pass;
    const bool all = c->step == FORWARDS || c->step == BACK;
    const int64_t from = all ? -1 : c->m, to = all ? p->nodes : c->m;
    HT_ARRAY(const double *, room, 2 * p->most);
    begin *= LANES;
    end *= LANES;
    for (int64_t m = from; m <= to; m++) {
        const bool beyond = all && (m < 0 || m == p->nodes);
        const int64_t before = all ? m - 1 : m;
        if ((c->step == FORWARDS || c->step == AVERAGE) && (p->track || !beyond))
            average(p, m, begin, end, room);
        if (p->track && before >= 0 && (c->step == FORWARDS || c->step == CUT) &&
            cut(p, before, begin, end) && c->work->job->shape == NULL)
            note_cuts(c->work, p, before, begin, end);
        if (!beyond && (c->step == BACK || c->step == KEEP)) keep(p, m, begin, end);
    }
    for (int64_t m = from; m <= to && (c->step == BACK || c->step == SPREAD); m++)
        spread(p, m, begin, end);
    return HT_OK;
}

static HT_ERR pass_do(const struct work *work, const struct pass *pass, enum step step, int64_t m) {
    /* LEAST: values of a chunk, worth a thread; CACHED: columns over LANES, of which rows stay in
     * the first cache. */
    enum { LEAST = 1 << 15, CACHED = 8 };
    struct columns columns = {work, pass, step, m};
    const int64_t rows = step == FORWARDS || step == BACK ? pass->nodes : 1;
    const int64_t all = pass->in.size / LANES;
    for (int64_t at = 0; at < all && work->job->shape == NULL; at += CACHED)
        TRY(do_columns(&columns, at, ht_least(at + CACHED, all)));
    if (work->job->shape == NULL) return HT_OK;
    return ht_threads_share(all, ht_most(LEAST / rows, 16) / LANES, do_columns, &columns);
}

/* to[i][r] from from[r][i], of so many rows r of `size` entries i; rows of these arrays are
 * from_row and to_row apart. */
struct turned {
    const double *from;
    double *to;
    int64_t size, from_row, to_row;
};
static HT_ERR turn_rows(void *data, int64_t begin, int64_t end) {
    enum { BLOCK = 16 };
    const struct turned *t = data;
    for (int64_t block = begin; block < end; block += BLOCK)
        for (int64_t i = 0; i < t->size; i++)
            for (int64_t r = block; r < ht_least(block + BLOCK, end); r++)
                t->to[i * t->to_row + r] = t->from[r * t->from_row + i];
    return HT_OK;
}
/* All rows; track: the least values, too. */
static HT_ERR transpose(const struct work *work, const struct rows *from, int64_t rows,
                        int64_t size, const struct rows *to, bool track) {
    for (int i = 0; i < 1 + track; i++) {
        struct turned turned = {(i ? least_of : value_of)(from, 0),
                                (i ? least_of : value_of)(to, 0), size, from->size, to->size};
        TRY(work->job->shape == NULL ? turn_rows(&turned, 0, rows)
                                     : ht_threads_share(rows, 32, turn_rows, &turned));
    }
    return HT_OK;
}

/* ---- planes of boxes ---- */

static HT_ERR read_lines(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    const struct ht_fit_job *job = work->job;
    const int64_t row = axis_of(work, 0)->boxes, first = job->pieces[0];
    double *out[HT_MAX_SCALARS] = {NULL};
    for (int q = 0; q < ht_fit_quantities(job->fit); q++) out[q] = work->source[q] + begin * row;
    return ht_fit_source(job->fit, work->read, first + begin, first + end, row, out);
}

/* Values of boxes at piece p along x3. */
static HT_ERR read_source(struct work *work, int64_t p) {
    struct ht_fit_job *job = work->job;
    const int64_t n[2] = {axis_of(work, 0)->boxes, job->pieces[1] - job->pieces[0]};
    const bool first = work->read < 0; /* there is none below */
    if (work->read == p) return HT_OK;
    memset(job->fitted, 0, sizeof job->fitted);
    work->read = job->at3 = p;
    if (work->near != NULL)
        TRY(ht_fit_near_read(work->near, p, work->source));
    else
        TRY(job->shape != NULL ? ht_threads_share(n[1], 16, read_lines, work)
                               : read_lines(work, 0, n[1]));
    HT_EACH_BIT(q, work->checked) {
        job->quantity = q;
        TRY(ht_fit_check_plane(job, n, n[0], work->source[q], first ? NULL : work->before[q]));
        if (work->before[q])
            memcpy(work->before[q], work->source[q], (size_t)(n[0] * n[1]) * sizeof(double));
    }
    return work->near != NULL ? ht_fit_near_average(work->near, p, work->source) : HT_OK;
}

/* Piece p along x3 averaged along x1 and x2 into the ring; again: along x1 it is that already. */
static HT_ERR plane_forwards(struct work *work, int c, int64_t p, bool again) {
    struct pass *one = &work->plane[0], *two = &work->plane[1];
    const struct rows *ring = &work->high[c].in;
    const int64_t lines = work->job->pieces[1] - work->job->pieces[0];
    const int64_t boxes = axis_of(work, 0)->boxes;
    for (int k = 0; k < 2; k++) set_channel(work, c, k, &work->plane[k]);
    TRY(read_source(work, p));
    work->job->fitted[0] = work->job->fitted[1] = false;
    two->out.value = value_of(ring, p);
    two->out.least = one->track ? least_of(ring, p) : NULL;
    if (!again) {
        const struct rows from = {
            .size = boxes, .slots = 1, .value = work->source[work->job->channel[c].quantity]};
        TRY(transpose(work, &from, lines, boxes, &one->in, false));
        work->job->fitted[0] = true;
        TRY(pass_do(work, one, FORWARDS, 0));
        TRY(transpose(work, &one->out, one->nodes, lines, &two->in, one->track));
    }
    work->job->fitted[1] = true;
    return pass_do(work, two, FORWARDS, 0);
}

static HT_ERR pass_back(const struct work *work, const struct pass *pass, int64_t rows_in) {
    for (int64_t i = 0; i < rows_in; i++) rows_clear(&pass->by_in, i);
    rows_clear(&pass->by_out, -1);
    rows_clear(&pass->by_out, pass->nodes);
    return pass_do(work, pass, BACK, 0);
}

/* The gradient by a plane of boxes, of which there is that by its averages along x1 and x2. */
static HT_ERR plane_back(struct work *work, int c, int64_t piece) {
    const struct ht_fit_job *job = work->job;
    const struct ht_fit_axis *axis = job->fit->axis;
    const struct pass *one = &work->plane[0], *two = &work->plane[1], *high = &work->high[c];
    const int64_t lines = job->pieces[1] - job->pieces[0];
    TRY(plane_forwards(work, c, piece, false));
    rows_copy(&high->by_in, piece, &two->by_out, 0);
    TRY(pass_back(work, two, lines));
    TRY(transpose(work, &two->by_in, lines, one->nodes, &one->by_out, one->track));
    TRY(pass_back(work, one, axis[0].boxes));
    /* The boxes' gradients, next to each other, into the sums. */
    const int64_t plane = axis[2].base + axis[2].box[piece];
    for (int64_t l = 0; l < lines; l++) {
        const int64_t line = axis[1].base + axis[1].box[job->pieces[0] + l];
        double *to = job->sum[job->channel[c].quantity] + axis[0].base +
                     (plane * job->shape[1] + line) * job->shape[0];
        for (int64_t i = 0; i < axis[0].boxes; i++)
            to[i] += value_of(&one->by_in, i)[l] + least_of(&one->by_in, i)[l];
    }
    return HT_OK;
}

/* ---- planes of the grid ---- */

/* The pieces [first, last) along axis k of which node m needs some. */
static void pieces_of(const struct work *work, int k, int64_t m, int64_t *first, int64_t *last) {
    *first = INT64_MAX;
    *last = 0;
    for (int c = 0; c < work->job->nchannels; c++) {
        const struct ht_fit_taps *taps = taps_of(work, c, k, m);
        *first = ht_least(*first, taps->first);
        *last = ht_most(*last, taps->first + taps->count);
    }
}

/* Plane m before the cut, with pieces of the boxes that come into reach. */
static HT_ERR average_plane(struct work *work, int64_t m) {
    int64_t first, end;
    pieces_of(work, 2, m, &first, &end);
    for (; work->loaded < end; work->loaded++)
        for (int c = 0; c < work->job->nchannels; c++) {
            if (work->job->shape != NULL) rows_clear(&work->high[c].by_in, work->loaded);
            if (work->same[c] < 2) TRY(plane_forwards(work, c, work->loaded, work->same[c] == 1));
        }
    for (int c = 0; c < work->job->nchannels; c++) TRY(pass_do(work, &work->high[c], AVERAGE, m));
    return HT_OK;
}

/* Hands on plane m, of all channels. */
static HT_ERR emit_plane(const struct work *work, int64_t m) {
    struct ht_fit_job *job = work->job;
    struct ht_fit_done done[HT_FIT_CHANNELS];
    double *gradient[HT_FIT_CHANNELS];
    job->at3 = m;
    for (int k = 0; k < 3; k++) job->fitted[k] = true;
    HT_EACH_AT(c, const struct pass, high, work->high, job->nchannels) {
        TRY(pass_do(work, high, CUT, m));
        done[c] = (struct ht_fit_done){.row = work->plane[1].in.size,
                                       .value = value_of(&high->out, m),
                                       .least = high->track ? least_of(&high->raw, m) : NULL};
        if (job->shape != NULL) gradient[c] = value_of(&high->by_out, m);
    }
    TRY(job->emit(job, done, job->shape != NULL ? gradient : NULL));
    for (int c = 0; c < job->nchannels && job->shape != NULL; c++)
        TRY(pass_do(work, &work->high[c], KEEP, m));
    return HT_OK;
}

/* Node plane m has its gradient, and so have pieces that no plane above it needs. */
static HT_ERR spread_plane(struct work *work, int c, int64_t m) {
    const struct pass *high = &work->high[c];
    const int64_t end = m == work->job->last[2] ? work->loaded : high->taps[m + 2].first;
    TRY(pass_do(work, high, SPREAD, m));
    for (; work->done[c] < end; work->done[c]++) TRY(plane_back(work, c, work->done[c]));
    return HT_OK;
}

static HT_ERR do_planes(struct work *work, struct ht_progress *progress) {
    const struct ht_fit_job *job = work->job;
    const int64_t first = job->first[2], last = job->last[2];
    const bool back = job->shape != NULL;
    for (int64_t m = first - 1; m <= last + (back ? 2 : 0); m++) {
        if (m <= last) TRY(average_plane(work, m));
        if (m > first && m <= last) {
            TRY(emit_plane(work, m - 1));
            ht_progress_add(progress, job->last[1] - job->first[1]);
        }
        for (int c = 0; c < job->nchannels && back; c++) {
            if (m > last) rows_clear(&work->high[c].kept, m - 1);
            if (m > last) rows_clear(&work->high[c].by_out, m - 1);
            if (m > first) TRY(spread_plane(work, c, m - 2));
        }
    }
    return HT_OK;
}

/* ---- memory ---- */

/* Of nodes -1 to `rows`, of gradients one more to either side. */
static HT_ERR rows_make(struct work *work, int64_t rows, int64_t size, bool track,
                        struct rows *out) {
    *out = (struct rows){.size = size, .slots = rows + 4, .ahead = 2};
    TRY(HT_TAKE(&work->pool, out->value, out->slots * size));
    return track ? HT_TAKE(&work->pool, out->least, out->slots * size) : HT_OK;
}

/* track: of some channel. Rows `in` may be another pass's; planes along x2 go into a ring. */
static HT_ERR pass_make(struct work *work, int axis, int64_t in, int64_t nodes, int64_t size,
                        bool track, struct pass *pass) {
    const bool back = work->job->shape != NULL;
    pass->axis = axis;
    pass->nodes = nodes;
    pass->most = axis_of(work, axis)->most;
    if (pass->in.value == NULL) TRY(rows_make(work, in, size, track, &pass->in));
    TRY(rows_make(work, back ? nodes : -1, size, track, &pass->raw));
    if (axis == 1)
        pass->out = (struct rows){.size = size, .slots = nodes};
    else
        TRY(rows_make(work, axis == 2 ? -1 : nodes, size, track && axis == 0, &pass->out));
    if (!back) return HT_OK;
    TRY(rows_make(work, in, size, track, &pass->by_in));
    TRY(rows_make(work, nodes, size, false, &pass->kept));
    return rows_make(work, nodes, size, track, &pass->by_out);
}

/* Axes, from x1 on, along which two channels take the same averages; the cut depends on all. */
static int shared(const struct ht_fit_channel *a, const struct ht_fit_channel *b) {
    int k = 0;
    if (a->quantity != b->quantity || a->track || b->track) return 0;
    while (k < 2 && a->window[k] == b->window[k]) k++;
    return k;
}

static HT_ERR make_high(struct work *work, int64_t size) {
    const struct ht_fit_job *job = work->job;
    const struct ht_average *rule = job->fit->average;
    int64_t held = 0, from, first,
            end; /* pieces at the same time; gradients come two planes late */
    for (int64_t m = job->first[2] - 1; m <= job->last[2]; m++) {
        pieces_of(work, 2, ht_most(m - (job->shape != NULL ? 2 : 0), -1), &from, &end);
        pieces_of(work, 2, m, &first, &end);
        held = ht_most(held, end - from);
    }
    pieces_of(work, 2, job->first[2] - 1, &work->loaded, &end);
    HT_EACH_AT(c, struct pass, high, work->high, job->nchannels) {
        const int q = job->channel[c].quantity;
        work->done[c] = work->loaded;
        set_channel(work, c, 2, high);
        if (c > 0) work->same[c] = shared(&job->channel[c - 1], &job->channel[c]);
        if (work->same[c] == 2) high->in = high[-1].in;
        TRY(pass_make(work, 2, held, 1, size, high->track, high));
        if (job->shape == NULL && q < rule->nscalars && !(rule->any_sign >> q & 1u))
            work->checked |= 1u << q;
    }
    return HT_OK;
}

static HT_ERR work_make(struct work *work) {
    const struct ht_fit_job *job = work->job;
    const int64_t boxes = axis_of(work, 0)->boxes, n1 = axis_of(work, 0)->nodes;
    const int64_t lines = job->pieces[1] - job->pieces[0], rows = job->last[1] - job->first[1];
    struct pass *one = &work->plane[0], *two = &work->plane[1];
    TRY(pass_make(work, 0, boxes, n1, padded(lines), true, one));
    TRY(pass_make(work, 1, lines, rows, padded(n1), true, two));
    one->in.least = one->in.value; /* boxes are their own least ones */
    one->box = axis_of(work, 0)->box;
    two->first = job->pieces[0];
    TRY(make_high(work, two->in.size * rows));
    for (int q = 0; q < ht_fit_quantities(job->fit); q++) {
        TRY(HT_TAKE(&work->pool, work->source[q], boxes * lines));
        if (axis_of(work, 2)->boxes > 1 && (work->checked >> q & 1u))
            TRY(HT_TAKE(&work->pool, work->before[q], boxes * lines));
    }
    return ht_fit_near_make(job->fit, job->pieces, &work->pool, &work->near);
}

/* ---- strips ---- */

struct strips {
    const struct ht_fit_job *job; /* of all rows */
    int64_t count;
    struct ht_fit_counts *counts; /* of each strip */
    struct ht_progress progress;  /* rows of planes */
};

static HT_ERR average_strip(void *data, int64_t strip) {
    struct strips *strips = data;
    struct ht_fit_job job = *strips->job;
    struct work work = {.job = &job, .read = -1};
    const int64_t nodes = axis_of(&work, 1)->nodes;
    int64_t other; /* pieces along x2 that the rows need */
    job.first[1] = ht_threads_first(nodes, strips->count, strip);
    job.last[1] = ht_threads_first(nodes, strips->count, strip + 1);
    pieces_of(&work, 1, job.first[1] - 1, &job.pieces[0], &other);
    pieces_of(&work, 1, job.last[1], &other, &job.pieces[1]);
    enum ht_err err = work_make(&work);
    if (err == HT_OK) err = do_planes(&work, &strips->progress);
    strips->counts[strip] = job.counts;
    ht_fit_near_end(work.near);
    ht_pool_free(&work.pool);
    return err;
}

static HT_ERR average_strips(struct ht_fit_job *job, int64_t count) {
    const struct ht_fit_axis *axis = job->fit->axis;
    struct strips strips = {.job = job, .count = count};
    TRY(HT_ALLOC(strips.counts, count));
    ht_progress_start(
        &strips.progress, job->shape != NULL ? "transposing the fit" : "fitting the medium",
        (double)((job->last[2] - job->first[2]) * axis[1].nodes), "points", (double)axis[0].nodes);
    enum ht_err err = ht_threads_run(count, average_strip, &strips);
    ht_progress_end(&strips.progress);
    for (int64_t s = 0; err == HT_OK && s < count; s++)
        ht_fit_counts_add(&strips.counts[s], &job->counts);
    free(strips.counts);
    return err;
}

/* Of several failures one is found that does not depend on the strips. */
HT_ERR ht_fit_average(struct ht_fit_job *job) {
    const struct ht_fit_axis *axis = job->fit->axis;
    const int64_t rows = ht_most(STRIP_VALUES / ht_most(axis[0].boxes, axis[0].nodes), STRIP);
    const int64_t threads = ht_least(ht_threads_count(), axis[1].nodes / THREAD_STRIP);
    int64_t count = ht_divide_up(axis[1].nodes, rows); /* for the caches */
    if (threads > 1) count = ht_divide_up(count, threads) * threads;
    if (job->shape != NULL) count = 1;
    enum ht_err err = average_strips(job, count);
    return err == HT_ERR_INPUT && count > 1 ? average_strips(job, 1) : err;
}
