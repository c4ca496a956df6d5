/* The medium of finite differences: the object, checks and output. Values at points are in
 * fit_points.c, averages in fit_average.c.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit_private.h"

static const double CONTRAST = 1e4;

/* ---- create ---- */

/* Whether the density is one number, and that number's inverse. */
static enum ht_err find_density(struct ht_fit *fit) {
    const struct ht_fit_role *role = &fit->role[HT_FIT_DENSITY];
    double material[HT_MAX_MATERIALS];
    fit->b = 1;
    fit->density_uniform = true;
    for (int p = 0; role->material >= 0 && p < fit->medium->eq->system->nparameters; p++)
        if (role->parameters >> p & 1u)
            fit->density_uniform = fit->density_uniform && !ht_medium_row_varies(fit->medium, p);
    if (role->material < 0 || !fit->density_uniform) return HT_OK;
    TRY(ht_medium_point(fit->medium, fit->medium->grid->lower, material));
    fit->b = material[role->material];
    return HT_OK;
}

static enum ht_err make_axis(struct ht_fit *fit, int k) {
    const struct ht_grid *grid = fit->medium->grid;
    struct ht_fit_axis *axis = &fit->axis[k];
    bool exists = k < grid->dims;
    axis->lower = exists ? grid->lower[k] : 0;
    axis->upper = exists ? grid->upper[k] : 1;
    axis->h = exists ? grid->h[k] : 1;
    axis->nodes = ht_grid_nodes(grid, HT_PRIMARY, k);
    axis->periodic = !exists || ht_grid_periodic(grid, k);
    if (fit->kind == HT_FIT_POINT) return HT_OK;
    TRY(ht_fit_boxes(fit->medium, k, axis));
    return ht_fit_axis_unfold(axis, fit->kind);
}

enum ht_err ht_fit_make_axes(struct ht_fit *fit) {
    for (int k = 0; k < 3; k++) TRY(make_axis(fit, k));
    if (fit->kind == HT_FIT_POINT) return HT_OK;
    if (fit->average == NULL) TRY(ht_fit_split(fit));
    const bool box = fit->kind == HT_FIT_BOX;
    for (int k = 0; k < 3; k++)
        for (int w = 0; w < HT_FIT_WINDOWS; w++) {
            const bool usual = w == (box ? HT_FIT_BY_BOX : HT_FIT_BY_SINC);
            const bool slope = w == HT_FIT_BOX_SLOPE;
            if (usual || (fit->average && (!box || slope)))
                TRY(ht_fit_axis_weigh(&fit->axis[k], (enum ht_fit_window)w));
        }
    return HT_OK;
}

static enum ht_err make(struct ht_fit *fit) {
    const struct ht_medium *medium = fit->medium;
    const struct ht_second_order *form = &medium->eq->second_order;
    const bool smooth = medium->source->type == HT_MEDIUM_EXPRESSION && !medium->rough;
    REQUIRE(form->known, HT_ERR_INPUT, "the system \"%s\" has no modulus and density to fit",
            medium->eq->system->name);
    TRY(ht_fit_role(medium, form->modulus, &fit->role[HT_FIT_COMPLIANCE]));
    TRY(ht_fit_role(medium, form->inverse_density, &fit->role[HT_FIT_DENSITY]));
    TRY(find_density(fit));
    if (fit->kind == HT_FIT_AUTO) fit->kind = smooth ? HT_FIT_POINT : HT_FIT_SINC;
    fit->uniform = medium->uniform;
    fit->K = medium->constant[form->modulus];
    return fit->uniform ? HT_OK : ht_fit_make_axes(fit);
}

enum ht_err ht_fit_create(const struct ht_medium *medium, enum ht_fit_kind kind,
                          struct ht_fit **out) {
    struct ht_fit *fit = NULL;
    *out = NULL;
    TRY(HT_ALLOC(fit, 1));
    fit->medium = medium;
    fit->kind = kind;
    fit->counts = ht_fit_counts_none();
    enum ht_err err = make(fit);
    return HT_MADE(err, fit, ht_fit_destroy, out);
}

void ht_fit_destroy(struct ht_fit *fit) {
    if (!fit) return;
    for (int k = 0; k < 3; k++) ht_fit_axis_clear(&fit->axis[k]);
    for (int i = 0; i < 4; i++) free(fit->below[i].value);
    free(fit);
}

enum ht_fit_kind ht_fit_chosen(const struct ht_fit *fit) {
    return fit->kind;
}

bool ht_fit_uniform(const struct ht_fit *fit, double *K, double *b) {
    *K = fit->K;
    *b = fit->b;
    return fit->uniform;
}

bool ht_fit_density_uniform(const struct ht_fit *fit, double *b) {
    *b = fit->b;
    return fit->density_uniform;
}

struct ht_fit_counts ht_fit_counts(const struct ht_fit *fit) {
    return fit->counts;
}

void ht_fit_count(struct ht_fit *fit, bool count) {
    fit->quiet = !count;
}

struct ht_fit_counts ht_fit_counts_none(void) {
    return (struct ht_fit_counts){.least = {INFINITY, INFINITY}, .most = {-INFINITY, -INFINITY}};
}

/* The place is the lowest along x3, of these along x2, of these along x1:
 * whatever the order in which parts are counted. */
static void lower_place(const double x[3], bool any, double place[3]) {
    int k = 2;
    while (k > 0 && x[k] == place[k]) k--;
    if (!any || x[k] < place[k]) memcpy(place, x, 3 * sizeof *place);
}

void ht_fit_counts_cut(struct ht_fit_counts *counts, const double x[3]) {
    lower_place(x, counts->cut > 0, counts->place);
    counts->cut++;
}

void ht_fit_counts_add(const struct ht_fit_counts *more, struct ht_fit_counts *counts) {
    if (more->cut > 0) lower_place(more->place, counts->cut > 0, counts->place);
    counts->values += more->values;
    counts->cut += more->cut;
    for (int i = 0; i < 2; i++) {
        counts->least[i] = fmin(counts->least[i], more->least[i]);
        counts->most[i] = fmax(counts->most[i], more->most[i]);
    }
}

enum ht_err ht_fit_counts_share(struct ht_fit *fit, struct ht_comm *comm) {
    const int ranks = ht_comm_size(comm);
    HT_FREED struct ht_fit_counts *all = NULL;
    TRY(HT_ALLOC(all, ranks));
    TRY(ht_comm_gather(comm, &fit->counts, sizeof fit->counts, all));
    fit->counts = all[0];
    for (int r = 1; r < ranks; r++) ht_fit_counts_add(&all[r], &fit->counts);
    return HT_OK;
}

/* ---- checks ---- */

double ht_fit_fold(const struct ht_fit_axis *axis, double x) {
    if (x <= axis->upper) return x;
    return axis->periodic ? x - (axis->upper - axis->lower) : 2 * axis->upper - x;
}

double ht_fit_position(const struct ht_fit_job *job, int k, int64_t i) {
    const struct ht_fit_axis *axis = &job->fit->axis[k];
    if (k == 2) i = job->at3;
    if (job->fitted[k]) {
        double m = (double)(k == 1 ? job->first[1] + i : i);
        return axis->lower + (m + (job->shift >> k & 1u ? 0.5 : 0)) * axis->h;
    }
    int64_t box = k == 0 ? i : axis->box[k == 1 ? job->pieces[0] + i : i];
    return (axis->edge[box] + axis->edge[box + 1]) / 2;
}

/* "(x1, x2)" of an entry. */
static const char *place_text(const struct ht_fit_job *job, int64_t i1, int64_t i2,
                              char place[HT_PLACE]) {
    double x[3] = {ht_fit_position(job, 0, i1), ht_fit_position(job, 1, i2),
                   ht_fit_position(job, 2, 0)};
    return ht_grid_place(job->fit->medium->grid, x, place);
}

static enum ht_err refuse(const struct ht_fit_job *job, int axis, int64_t i1, int64_t i2, double a,
                          double b) {
    const struct ht_medium *medium = job->fit->medium;
    const struct ht_fit_role *role = &job->fit->role[job->quantity];
    const bool inverse = role->inverse < 0 && role->name == NULL;
    char place[HT_PLACE];
    return ht_params_error(medium->source->params, ht_fit_key(medium, role),
                           "gives %s = %.6g at %s next to %.6g along x%d: finite differences "
                           "take a contrast of at most %g",
                           ht_fit_name(medium, role), inverse ? 1 / a : a,
                           place_text(job, i1, i2, place), inverse ? 1 / b : b, axis + 1, CONTRAST);
}

enum { LANES = 8 };

void ht_fit_extend(int64_t count, const double *values, double range[2]) {
    double low[LANES], high[LANES];
    int64_t i = 0;
    for (int l = 0; l < LANES; l++) low[l] = range[0], high[l] = range[1];
    for (; i + LANES <= count; i += LANES)
        for (int l = 0; l < LANES; l++) {
            low[l] = values[i + l] < low[l] ? values[i + l] : low[l];
            high[l] = values[i + l] > high[l] ? values[i + l] : high[l];
        }
    for (; i < count; i++) {
        low[0] = fmin(low[0], values[i]);
        high[0] = fmax(high[0], values[i]);
    }
    for (int l = 0; l < LANES; l++) {
        range[0] = fmin(range[0], low[l]);
        range[1] = fmax(range[1], high[l]);
    }
}

bool ht_fit_too_wide(const double range[2]) {
    return range[1] > CONTRAST * range[0];
}

/* The first of n values at a that is too far from that at b; -1: none. */
static int64_t contrast(const double *a, const double *b, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if ((a[i] > CONTRAST * b[i] && b[i] > 0) || (b[i] > CONTRAST * a[i] && a[i] > 0)) return i;
    return -1;
}

enum ht_err ht_fit_check_beside(const struct ht_fit_job *job, int axis, int64_t i1, int64_t i2,
                                int64_t n, const double *a, const double *b) {
    const int64_t i = contrast(a, b, n);
    return i < 0 ? HT_OK : refuse(job, axis, i1 + i, i2, a[i], b[i]);
}

enum ht_err ht_fit_check_plane(struct ht_fit_job *job, const int64_t n[2], int64_t row,
                               const double *values, const double *before) {
    double *range = job->range[job->quantity];
    for (int64_t i2 = 0; i2 < n[1]; i2++) ht_fit_extend(n[0], values + i2 * row, range);
    if (!ht_fit_too_wide(range)) return HT_OK;
    for (int64_t i2 = 0; i2 < n[1]; i2++) {
        const double *line = values + i2 * row;
        TRY(ht_fit_check_beside(job, 0, 1, i2, n[0] - 1, line + 1, line));
        if (i2 > 0) TRY(ht_fit_check_beside(job, 1, 0, i2, n[0], line, line - row));
        if (before) TRY(ht_fit_check_beside(job, 2, 0, i2, n[0], line, before + i2 * row));
    }
    return HT_OK;
}

/* ---- output ---- */

static enum ht_err fail_value(const struct ht_fit_job *job, double value, int64_t i1, int64_t i2) {
    const struct ht_medium *medium = job->fit->medium;
    const struct ht_fit_role *role = &job->fit->role[job->quantity];
    char place[HT_PLACE];
    return ht_params_error(medium->source->params, ht_fit_key(medium, role),
                           "gives a fitted %s of %.6g at %s: must be positive and finite",
                           medium->eq->system->material[role->material].name, value,
                           place_text(job, i1, i2, place));
}

static void note_range(struct ht_fit_job *job, double value) {
    struct ht_fit_counts *counts = &job->counts;
    int which = job->what == HT_FIT_MODULUS ? 0 : 1;
    if (value < counts->least[which]) counts->least[which] = value;
    if (value > counts->most[which]) counts->most[which] = value;
}

enum ht_err ht_fit_emit_row(struct ht_fit_job *job, bool inverse, int64_t i2, const double *values,
                            double *out) {
    const int64_t n1 = job->fit->axis[0].nodes;
    for (int64_t i1 = 0; i1 < n1; i1++) {
        const double value = inverse ? 1 / values[i1] : values[i1];
        if (!(value > 0) || !isfinite(value)) return fail_value(job, value, i1, i2);
        note_range(job, value);
        out[i1] = value;
    }
    return HT_OK;
}

/* Values of the job's rows of plane at3 into its output: compliance or b. */
static enum ht_err emit(struct ht_fit_job *job, const struct ht_fit_done *done) {
    const struct ht_fit_axis *axis = job->fit->axis;
    int64_t n1 = axis[0].nodes, rows = job->last[1] - job->first[1];
    int64_t plane = (job->at3 - job->first[2]) * n1 * axis[1].nodes;
    double *out = job->out + plane + job->first[1] * n1;
    for (int64_t i2 = 0; i2 < rows; i2++)
        TRY(ht_fit_emit_row(job, job->what == HT_FIT_MODULUS, i2, done->value + i2 * done->row,
                            out + i2 * n1));
    return HT_OK;
}

/* ---- fill ---- */

static enum ht_err fill_varying(struct ht_fit_job *job, int64_t planes) {
    const struct ht_fit *fit = job->fit;
    int64_t size = ht_grid_plane(fit->medium->grid, HT_PRIMARY);
    /* Where nothing depends on x3 all planes are the first one. */
    if (!fit->medium->source->depends[2]) job->last[2] = job->first[2] + 1;
    TRY(fit->kind == HT_FIT_POINT ? ht_fit_points(job) : ht_fit_average(job));
    for (int64_t p = job->last[2] - job->first[2]; p < planes; p++)
        memcpy(job->out + p * size, job->out, (size_t)size * sizeof *job->out);
    return HT_OK;
}

static enum ht_err fill(struct ht_fit_job *job, double *out) {
    const struct ht_fit *fit = job->fit;
    const int64_t planes = job->last[2] - job->first[2];
    const int64_t count = planes * ht_grid_plane(fit->medium->grid, HT_PRIMARY);
    const bool density = job->what != HT_FIT_MODULUS;
    job->out = out;
    if (!fit->uniform && !(density && fit->density_uniform)) return fill_varying(job, planes);
    const double value = density ? fit->b : fit->K;
    note_range(job, value);
    for (int64_t i = 0; i < count; i++) out[i] = value;
    return HT_OK;
}

void ht_fit_continue(const struct ht_grid *grid, unsigned half, int64_t first, int64_t last,
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

enum ht_err ht_fit_fill(struct ht_fit *fit, int what, int64_t first, int64_t last, double *out) {
    const struct ht_grid *grid = fit->medium->grid;
    int64_t count = (last - first) * ht_grid_plane(grid, HT_PRIMARY);
    const int64_t low = ht_layers_inside(grid, 2, what == 3, first);
    const int64_t high = ht_layers_inside(grid, 2, what == 3, last - 1) + 1;
    const int quantity = what == HT_FIT_MODULUS ? HT_FIT_COMPLIANCE : HT_FIT_DENSITY;
    const enum ht_fit_window by = fit->kind == HT_FIT_BOX ? HT_FIT_BY_BOX : HT_FIT_BY_SINC;
    const struct ht_fit_channel channel = {.quantity = quantity,
                                           .shift = 1u << what >> 1,
                                           .window = {by, by, by},
                                           .track = fit->kind == HT_FIT_SINC};
    struct ht_fit_job job = {.fit = fit,
                             .what = what,
                             .quantity = quantity,
                             .own = what - 1,
                             .shift = channel.shift,
                             .nchannels = 1,
                             .channel = &channel,
                             .emit = emit,
                             .range = {{INFINITY, 0}, {INFINITY, 0}},
                             .counts = ht_fit_counts_none(),
                             .first = {0, 0, low},
                             .last = {0, fit->axis[1].nodes, high}};
    REQUIRE(what >= 0 && what <= grid->dims, HT_ERR_INTERNAL,
            "fit: nothing has the number %d in %d dimensions", what, grid->dims);
    REQUIRE(first >= 0 && first <= last && last <= ht_grid_planes(grid, HT_PRIMARY),
            HT_ERR_INTERNAL, "fit: no planes %lld to %lld", (long long)first, (long long)last);
    if (first == last) return HT_OK;
    TRY(fill(&job, out));
    ht_fit_continue(grid, channel.shift, first, last, low, high, out);
    job.counts.values = count;
    if (!fit->quiet) ht_fit_counts_add(&job.counts, &fit->counts);
    return HT_OK;
}
