/* Absorbing layers of finite differences by plain loops in double precision,
 * straight from the formulas of cl/fd_layers.cl, side by side and line by line
 * along the normal.
 */
#include <math.h>
#include <stdlib.h>

#include "fd.h"

static int64_t pitch_of(const struct ht_fd_box *box, int axis) {
    return axis == 0 ? 1 : axis == 1 ? box->row : box->plane;
}

/* A line of a layer along its normal; m: its node on the wall. */
struct line {
    struct ht_fd_engine *e;
    const struct ht_fd_box *box;
    const struct ht_fd_law *law;
    const struct ht_fd_layers *l;
    const struct ht_fd_side *side;
    struct ht_fd_weights weights; /* of the layers' first differences */
    int64_t at, inward;           /* of that node in the window */
    int64_t own, pitch;           /* in the memory */
    int64_t first, last;          /* depths of the targets */
    double *q;                    /* [half point] */
};

static double size_of(const struct line *line, double x) {
    return line->e->absolute ? fabs(x) : x;
}

static double minus(const struct line *line, double x) {
    return line->e->absolute ? x : -x;
}

static double profile_of(const struct line *line, int which, int64_t depth) {
    const int numbers = line->l->sponge ? 1 : HT_FD_PROFILES;
    const int64_t at = line->side->profile + depth * numbers + which;
    return size_of(line, line->l->profile.host[at]);
}

/* u at a depth, odd at the wall. */
static double u_at(const struct line *line, const double *u, int64_t depth) {
    const double value =
        size_of(line, u[line->at + ht_most(depth, -depth) * line->inward]);
    return depth < 0 ? minus(line, value) : value;
}

static void find_fluxes(struct line *line, const double *u) {
    const struct ht_fd_side *side = line->side;
    const double *b = line->law->b[side->axis].host;
    for (int64_t half = 0; half < side->cells; half++) {
        const int64_t at = line->at + half * line->inward;
        const int64_t own = line->own + half * line->pitch;
        const double first = line->l->start ? profile_of(line, 3, half) : 0;
        const double memory = size_of(line, line->l->before.host[own]) *
                              (line->l->start ? first : 1);
        double slope = 0;
        for (int j = 0; j < line->weights.radius; j++)
            slope += size_of(line, line->weights.first[j]) *
                     (u_at(line, u, half + j + 1) +
                      minus(line, u_at(line, u, half - j)));
        line->q[half] =
            (profile_of(line, 0, half) + first / 2) * slope + memory;
        if (half >= line->first && half < line->last)
            line->l->halves.host[own] =
                profile_of(line, 1, half) * slope +
                profile_of(line, 2, half) * line->q[half];
        if (line->e->spec.density)
            line->q[half] *= b[side->side == 0 ? at : at + line->inward];
    }
}

/* q of a half point, even at the wall. */
static double q_at(const struct line *line, int64_t half) {
    const int64_t inside = half < 0 ? -1 - half : half;
    return inside < line->side->cells ? line->q[inside] : 0;
}

/* In the first step: d - a L u/2 of a node. */
static double begin(const struct line *line, const double *u, double d,
                    int64_t at) {
    double sum = 0;
    for (int k = 0; k < line->e->spec.dims; k++)
        sum += size_of(line, line->law->scale[k]) *
               ht_fd_plain_axis(line->e, line->law, k, u, at,
                                pitch_of(line->box, k));
    return d + minus(line, line->law->a.host[at] * sum / 2);
}

/* What a node's d takes. */
static double correct(const struct line *line, const double *u, double d,
                      int64_t depth) {
    const struct ht_fd_layers *l = line->l;
    const int k = line->side->axis;
    const int64_t at = line->at + depth * line->inward;
    const double factor =
        line->law->a.host[at] * size_of(line, line->law->scale[k]);
    const int64_t pitch = line->side->side == 0 ? line->inward : -line->inward;
    double change = 0;
    for (int j = 0; j < line->weights.radius; j++)
        change +=
            size_of(line, line->weights.first[j]) *
            (q_at(line, depth + j) + minus(line, q_at(line, depth - 1 - j)));
    change *= factor;
    if (depth >= line->side->cells) return change;
    double *memory = &l->nodes.host[line->own + depth * line->pitch];
    const double p[4] = {profile_of(line, 4, depth), profile_of(line, 5, depth),
                         profile_of(line, 6, depth),
                         profile_of(line, 7, depth)};
    const double step =
        factor * ht_fd_plain_axis(line->e, line->law, k, u, at, pitch);
    double x = step + change, excess;
    if (l->start) {
        x = begin(line, u, d, at) + size_of(line, *memory) + step / 2 + change;
        excess = p[0] * x + minus(line, p[3] * size_of(line, u[at]));
        *memory =
            (p[0] + p[1]) * x + minus(line, (1 + minus(line, p[2])) * excess);
    } else {
        excess = p[0] * x + size_of(line, *memory);
        *memory = p[1] * x + p[2] * excess;
    }
    return change + excess;
}

static void correct_line(struct line *line, const double *u, double *d,
                         const double *out) {
    find_fluxes(line, u);
    for (int64_t depth = line->first; depth < line->last; depth++) {
        const int64_t at = line->at + depth * line->inward;
        /* without what other layers have added */
        const double plain = out[at] + minus(line, size_of(line, u[at]));
        d[at] += correct(line, u, plain, depth);
    }
}

/* Of a sponge, both; else d alone. */
static void damp_line(const struct line *line, double *d, double *out) {
    const int which = line->l->sponge ? 0 : HT_FD_PROFILES - 1;
    for (int64_t depth = line->first; depth < line->last; depth++) {
        const int64_t at = line->at + depth * line->inward;
        if (depth >= line->side->cells) continue;
        d[at] *= profile_of(line, which, depth);
        if (line->l->sponge) out[at] *= profile_of(line, which, depth);
    }
}

/* out = u + d where layers have changed d. */
static void add_line(const struct line *line, const double *u, const double *d,
                     double *out) {
    for (int64_t depth = line->first; depth < line->last; depth++) {
        const int64_t at = line->at + depth * line->inward;
        out[at] = size_of(line, u[at]) + d[at];
    }
}

enum work { CORRECT, DAMP, ADD };

/* The nodes of a box that a layer changes, by lines. */
static void do_side(struct line *line, enum work work,
                    const struct ht_fd_box *box, const double *u, double *d,
                    double *out) {
    const struct ht_fd_side *side = line->side;
    const int k = side->axis, a = k == 0 ? 1 : 0, b = k == 2 ? 1 : 2;
    const int64_t reach = side->cells + line->l->sides.beyond;
    const int64_t first = side->side == 0 ? box->begin[k] - side->wall
                                          : side->wall - box->end[k] + 1;
    line->first = ht_most(first, 0);
    line->last = ht_least(first + box->end[k] - box->begin[k], reach);
    line->inward = (side->side == 0 ? 1 : -1) * pitch_of(box, k);
    line->pitch = side->pitch[k];
    for (int64_t mb = box->begin[b]; mb < box->end[b]; mb++)
        for (int64_t ma = box->begin[a]; ma < box->end[a]; ma++) {
            line->at = side->wall * pitch_of(box, k) + ma * pitch_of(box, a) +
                       mb * pitch_of(box, b);
            line->own =
                side->offset + ma * side->pitch[a] + mb * side->pitch[b];
            if (line->first >= line->last) continue;
            if (work == CORRECT)
                correct_line(line, u, d, out);
            else if (work == DAMP)
                damp_line(line, d, out);
            else
                add_line(line, u, d, out);
        }
}

enum ht_err ht_fd_plain_layers(struct ht_fd_engine *e, enum ht_step_part part,
                               const struct ht_fd_box *box,
                               const struct ht_fd_law *law,
                               const struct ht_fd_layers *l,
                               struct ht_fd_array u, struct ht_fd_array d,
                               struct ht_fd_array out) {
    struct line line = {.e = e,
                        .box = box,
                        .law = law,
                        .l = l,
                        .weights = ht_fd_layer_weights(&e->spec)};
    int64_t most = 1;
    (void)part;
    for (int i = 0; i < l->sides.count; i++)
        most = ht_most(most, l->sides.side[i].cells);
    TRY(HT_ALLOC(line.q, most));
    for (int work = l->sponge ? DAMP : CORRECT;
         work <= (l->sponge ? DAMP : ADD); work++)
        for (int i = 0; i < l->sides.count; i++) {
            line.side = &l->sides.side[i];
            do_side(&line, (enum work)work, box, u.host, d.host, out.host);
        }
    free(line.q);
    return HT_OK;
}
