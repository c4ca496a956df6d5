/* Finite differences by plain loops in double precision: what kernels are compared with. Straight
 * from the formulas of htwave/fd_kernel.h; shares the weights only. */
#include "fd.h"
#include "tool_args.h"

static double *host_of(const struct ht_buffer *array) {
    return array != NULL ? array->host : NULL;
}

/* ---- ghosts ---- */

/* Of one side of an axis: node `at` steps of `pitch` from the box. */
static void fill_side(const struct ht_fd_engine *e, const struct ht_fd_box *box, int axis, int side,
                      int kind, double *u) {
    const int64_t pitch[3] = {1, box->row, box->plane};
    const int64_t low = box->begin[axis], high = box->end[axis] - 1;
    const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2, half = kind > HT_FD_SIDE_NONE;
    for (int j = 1; j <= ht_fd_reach(&e->spec); j++) {
        const int64_t to = side == 0 ? low - j : high + j;
        const int64_t mirror = (side == 0 ? low + j : high - j) - half;
        const int64_t wrapped = side == 0 ? high + 1 - j : low - 1 + j;
        const int64_t from = kind == 0 ? wrapped : mirror;
        const double sign = kind - half * HT_FD_SIDE_HALF < 0 ? -1 : 1;
        for (int64_t mb = box->begin[b]; mb < box->end[b]; mb++)
            for (int64_t ma = box->begin[a]; ma < box->end[a]; ma++) {
                double *at = u + ma * pitch[a] + mb * pitch[b];
                at[to * pitch[axis]] = sign * at[from * pitch[axis]];
            }
    }
}

static HT_ERR plain_ghosts(struct ht_fd_engine *e, const struct ht_fd_box *box,
                           const int sides[3][2], struct ht_buffer *u) {
    for (int k = 0; k < e->spec.dims; k++)
        for (int side = 0; side < 2; side++)
            if (sides[k][side] != HT_FD_SIDE_NONE)
                fill_side(e, box, k, side, sides[k][side], u->host);
    return HT_OK;
}

/* ---- the operator ---- */

static double magnitude(const struct ht_fd_engine *e, double x) {
    return e->absolute ? fabs(x) : x;
}

/* The middle's weight is spread over the differences, so that a constant gives 0 without rounding,
 * and means do not drift. */
static double second(const struct ht_fd_engine *e, const double *u, int64_t pitch) {
    double sum = 0;
    for (int j = 1; j <= e->weights.radius; j++) {
        const double up = u[j * pitch], down = u[-j * pitch];
        sum += e->absolute ? fabs(e->weights.second[j]) * (fabs(up) + fabs(down) + 2 * fabs(u[0]))
                           : e->weights.second[j] * ((up - u[0]) + (down - u[0]));
    }
    return sum;
}

/* The staggered first difference between node 0 and node 1. */
static double first(const struct ht_fd_engine *e, const double *u, int64_t pitch) {
    double sum = 0;
    for (int j = 0; j < e->weights.radius; j++)
        sum += magnitude(e, e->weights.first[j]) *
               (magnitude(e, u[(j + 1) * pitch]) -
                (e->absolute ? -1 : 1) * magnitude(e, u[-j * pitch]));
    return sum;
}

/* d(b du) at node 0: differences of the fluxes at +-(j + 1/2). */
static double divergence(const struct ht_fd_engine *e, const double *u, const double *b,
                         int64_t pitch) {
    double sum = 0;
    for (int j = 0; j < e->weights.radius; j++) {
        const int64_t up = j * pitch, down = -(j + 1) * pitch;
        const double above = b[up] * first(e, u + up, pitch);
        const double below = b[down] * first(e, u + down, pitch);
        sum += magnitude(e, e->weights.first[j]) * (above - (e->absolute ? -1 : 1) * below);
    }
    return sum;
}

static int64_t pitch_of(const struct ht_fd_box *box, int axis) {
    return axis == 0 ? 1 : axis == 1 ? box->row : box->plane;
}

static double fd_plain_axis(const struct ht_fd_engine *e, const struct ht_fd_operator *law,
                            int axis, const double *u, int64_t at, int64_t pitch) {
    return e->spec.density ? divergence(e, u + at, law->b[axis]->host + at, pitch)
                           : second(e, u + at, pitch);
}

static double add_axes(const struct ht_fd_engine *e, const struct ht_fd_work *w, int64_t at) {
    double sum = 0;
    for (int k = 0; k < 3 && k < e->spec.dims; k++)
        sum += magnitude(e, w->law.scale[k]) *
               fd_plain_axis(e, &w->law, k, w->u->host, at, pitch_of(&w->box, k));
    return sum;
}

static double laplacian(const struct ht_fd_engine *e, const struct ht_fd_work *w, int64_t at) {
    return w->law.a->host[at] * add_axes(e, w, at);
}

/* Half of the weighted squares of differences of u from node 0. */
static double squares(const struct ht_fd_engine *e, const double *u, int64_t pitch) {
    double sum = 0;
    for (int j = 1; j <= e->weights.radius; j++)
        sum += e->weights.second[j] * (pow(u[j * pitch] - u[0], 2) + pow(u[-j * pitch] - u[0], 2));
    return sum / 2;
}

/* Half of b (du)^2 at the half points to either side of node 0. */
static double fluxes(const struct ht_fd_engine *e, const double *u, const double *b,
                     int64_t pitch) {
    return (b[0] * pow(first(e, u, pitch), 2) + b[-pitch] * pow(first(e, u - pitch, pitch), 2)) / 2;
}

static int64_t node_at(const struct ht_fd_box *box, int64_t m1, int64_t m2, int64_t m3) {
    return m3 * box->plane + m2 * box->row + m1;
}

#define EACH_NODE(box)                                               \
    for (int64_t m3 = (box)->begin[2]; m3 < (box)->end[2]; m3++)     \
        for (int64_t m2 = (box)->begin[1]; m2 < (box)->end[1]; m2++) \
            for (int64_t m1 = (box)->begin[0]; m1 < (box)->end[0]; m1++)

/* What a node has of - <u, L u>, as differences alone. */
static double all_squares(const struct ht_fd_engine *e, const struct ht_fd_work *w, int64_t at) {
    const double *u = w->u->host + at;
    double sum = 0;
    for (int k = 0; k < 3 && k < e->spec.dims; k++) {
        const int64_t pitch = pitch_of(&w->box, k);
        sum += w->law.scale[k] * (e->spec.density ? fluxes(e, u, w->law.b[k]->host + at, pitch)
                                                  : squares(e, u, pitch));
    }
    return w->law.a->host[at] * sum;
}

static void work_at(const struct ht_fd_engine *e, const struct ht_fd_work *w, int64_t at) {
    double *u = host_of(w->u), *d = host_of(w->d), *p = host_of(w->p), *out = host_of(w->out);
    switch (w->operation) {
    case HT_FD_ADD:
        out[at] = magnitude(e, u[at]) + laplacian(e, w, at);
        break;
    case HT_FD_STEP:
        d[at] = magnitude(e, d[at]) + laplacian(e, w, at);
        if (out != NULL) out[at] = magnitude(e, p[at]) + d[at];
        break;
    case HT_FD_ADVANCE:
        if (d == NULL) p[at] += w->factor;
        if (d != NULL) p[at] = magnitude(e, p[at]) + magnitude(e, w->factor) * magnitude(e, d[at]);
        break;
    case HT_FD_SQUARES:
        out[at] = all_squares(e, w, at);
        break;
    case HT_FD_ABSORB: /* by lines */
        break;
    }
}

/* ---- sums ---- */

/* Of the node that is number m from an end. */
static double end_weight(const struct ht_fd_ends *ends, int half, int64_t m) {
    if (half > 1) return m < half % HT_SUM_ENDS ? ends->weights[half / HT_SUM_ENDS + m] : 1;
    return half == 1 && m == 0 ? 0.5 : 1;
}

static double weight(const struct ht_fd_part *part, const int64_t m[3]) {
    const struct ht_fd_ends *ends = &part->ends;
    double weight = 1;
    for (int k = 0; k < 3; k++)
        weight *= end_weight(ends, ends->half[k][0], m[k] - part->box.begin[k]) *
                  end_weight(ends, ends->half[k][1], part->box.end[k] - 1 - m[k]);
    return weight;
}

static HT_ERR plain_sums(HT_UNUSED struct ht_fd_engine *e, const struct ht_fd_part *part,
                         struct ht_buffer *x, struct ht_buffer *y, struct ht_buffer *a,
                         double level, struct ht_measure *out) {
    const struct ht_fd_box *box = &part->box;
    for (int64_t m3 = box->begin[2]; m3 < box->end[2]; m3++)
        out[m3 - box->begin[2]] = (struct ht_measure){.first = -1};
    EACH_NODE(box) {
        const int64_t at = node_at(box, m1, m2, m3), m[3] = {m1, m2, m3};
        const double by = a != NULL ? a->host[at] : 1;
        const double factor = by != 0 ? weight(part, m) / by : 0;
        const double value = x->host[at];
        struct ht_measure *sum = &out[m3 - box->begin[2]];
        if (!isfinite(value)) {
            if (sum->bad++ == 0)
                sum->first =
                    (m2 - box->begin[1]) * (box->end[0] - box->begin[0]) + m1 - box->begin[0];
        } else {
            sum->sum += factor * value * y->host[at];
            sum->mean += factor * value;
            sum->largest = fmax(sum->largest, fabs(value + level));
        }
    }
    return HT_OK;
}

/* ---- sources ---- */

static HT_ERR plain_inject(struct ht_fd_engine *e, struct ht_fd_injection *in, int64_t first,
                           int64_t last, int64_t row, struct ht_buffer *x, struct ht_buffer *y) {
    const struct ht_inject_list *list = &in->list;
    const double *amplitude = in->table + row * in->shapes.columns;
    for (int64_t i = first; i < last; i++) {
        double sum = 0;
        for (int k = list->begin[i]; k < list->begin[i + 1]; k++)
            sum += magnitude(e, in->shapes.value[k] * amplitude[list->column[k]]);
        x->host[list->at[i]] += sum;
        if (y != NULL) y->host[list->at[i]] += sum;
    }
    return HT_OK;
}

/* ---- sums of an adjoint run: as cl/fd_correlate.cl ---- */

static void correlate_slopes(const struct ht_fd_engine *e, const struct ht_fd_products *c, int axis,
                             int64_t at) {
    const int64_t pitch = pitch_of(&c->box, axis);
    const double slope = first(e, c->q->host + at, pitch), u = first(e, c->u->host + at, pitch);
    double *sum = &c->slopes[axis]->host[at];
    if (c->w == NULL)
        *sum += slope * u;
    else
        *sum += slope * first(e, c->w->host + at, pitch) +
                (first(e, c->o->host + at, pitch) - slope) * u;
}

static HT_ERR plain_correlate(struct ht_fd_engine *e, const struct ht_fd_products *c) {
    EACH_NODE(&c->box) {
        const int64_t at = node_at(&c->box, m1, m2, m3);
        const double d = c->d->host[at];
        double *sum = &c->compliance->host[at];
        *sum += c->sign * c->e->host[at] * d;
        if (c->w != NULL)
            *sum += 12 * (c->o->host[at] - c->q->host[at]) * (c->w->host[at] - c->u->host[at]);
        c->light->host[at] += d * d;
        for (int k = 0; e->spec.density && k < e->spec.dims; k++) correlate_slopes(e, c, k, at);
    }
    return HT_OK;
}

static HT_ERR plain_product(const struct ht_pair_product *p) {
    EACH_NODE(&p->box) {
        const int64_t at = node_at(&p->box, m1, m2, m3);
        double q[HT_PAIR_TOGETHER_MOST] = {0}, d[HT_PAIR_TOGETHER_MOST] = {0};
        for (int i = 0; i < p->count; i++) {
            q[i] = p->field[i].adjoint->host[at];
            d[i] = p->field[i].after->host[at] - p->field[i].before->host[at];
            if (p->lit) p->light->host[at] += d[i] * d[i];
        }
        ht_pair_parts(p->count, q);
        ht_pair_parts(p->count, d);
        for (int i = 0; i < p->count; i++)
            for (int j = i; j < p->count; j++)
                p->field[i].sum[j]->host[at] += q[i] * d[j] + (j > i ? q[j] * d[i] : 0);
    }
    return HT_OK;
}

static HT_ERR plain_copy(HT_UNUSED struct ht_tool *tool, int64_t count, struct ht_buffer *from,
                         struct ht_buffer *to) {
    memcpy(to->host, from->host, (size_t)count * sizeof *to->host);
    return HT_OK;
}

/* ---- shells, from the formulas of cl/fd_shell.cl ---- */

/* The values of a record, and its factors. */
struct codes {
    int16_t *code;
    float *factor;
    double *value;
};

static struct codes codes_of(const struct ht_fd_shell_form *form, const struct ht_buffer *ring,
                             int64_t slot) {
    void *record = (char *)ring->host + slot * form->bytes;
    return (struct codes){record, (float *)((char *)record + form->factors), record};
}

/* The node of value i of a plane's blocks, -1: none. */
static int64_t shell_node(const struct ht_fd_box *box, int64_t m3, int64_t i) {
    const int64_t wide = box->end[0] - box->begin[0], m2 = box->begin[1] + i / wide;
    return m2 < box->end[1] ? node_at(box, box->begin[0] + i % wide, m2, m3) : -1;
}

static void take_block(const struct ht_fd_shell_form *form, const double x[HT_FD_SHELL_BLOCK],
                       int64_t block, const struct codes *to) {
    double most = 0;
    for (int i = 0; i < HT_FD_SHELL_BLOCK; i++) most = fmax(most, fabs(x[i]));
    for (int64_t i = 0; i < HT_FD_SHELL_BLOCK; i++) {
        const int64_t at = block * HT_FD_SHELL_BLOCK + i;
        if (form->coded)
            to->code[at] = (int16_t)(most > 1e-33 ? lround(x[i] * (32767 / most)) : 0);
        else
            to->value[at] = x[i];
    }
    if (form->coded) to->factor[block] = (float)(most / 32767);
}

static HT_ERR plain_take(HT_UNUSED struct ht_tool *tool, const struct ht_fd_shell_form *form,
                         struct ht_buffer *u, double level, struct ht_buffer *ring, int64_t slot) {
    const struct codes to = codes_of(form, ring, slot);
    HT_EACH(const struct ht_fd_shell_box, of, form->box, form->count) {
        for (int64_t n = 0; n < of->blocks * (of->box.end[2] - of->box.begin[2]); n++) {
            const int64_t m3 = of->box.begin[2] + n / of->blocks;
            double x[HT_FD_SHELL_BLOCK];
            for (int64_t j = 0; j < HT_FD_SHELL_BLOCK; j++) {
                const int64_t at = shell_node(&of->box, m3, n % of->blocks * HT_FD_SHELL_BLOCK + j);
                x[j] = at < 0 ? 0 : u->host[at] + level;
            }
            take_block(form, x, of->first + n, &to);
        }
    }
    return HT_OK;
}

static HT_ERR plain_put(HT_UNUSED struct ht_tool *tool, HT_UNUSED enum ht_step_part part,
                        const struct ht_fd_shell_form *form, int64_t first, int64_t last,
                        const struct ht_fd_shell_sum *sum, struct ht_buffer *ring,
                        struct ht_buffer *old, struct ht_buffer *u, struct ht_buffer *d) {
    struct codes from[HT_FD_SHELL_RECORDS];
    for (int r = 0; r < sum->count; r++) from[r] = codes_of(form, ring, sum->record[r]);
    HT_EACH(const struct ht_fd_shell_box, of, form->box, form->count) {
        const int64_t begin = of->box.begin[2];
        for (int64_t m3 = ht_most(first, begin); m3 < ht_least(last, of->box.end[2]); m3++)
            for (int64_t i = 0; i < of->blocks * HT_FD_SHELL_BLOCK; i++) {
                const int64_t at = shell_node(&of->box, m3, i);
                const int64_t value =
                    (of->first + (m3 - begin) * of->blocks) * HT_FD_SHELL_BLOCK + i;
                double x = 0;
                for (int r = 0; r < sum->count; r++)
                    x += sum->weight[r] *
                         (form->coded ? from[r].code[value] *
                                            (double)from[r].factor[value / HT_FD_SHELL_BLOCK]
                                      : from[r].value[value]);
                if (at < 0) continue;
                d->host[at] = x - old->host[at];
                u->host[at] = x;
            }
    }
    return HT_OK;
}

/* ---- absorbing layers, from the formulas of cl/fd_layers.cl: by lines along the normal ---- */

/* A line of a layer along its normal; m: its node on the wall. */
struct line {
    const struct ht_fd_engine *e;
    const struct ht_fd_work *w;
    const struct ht_fd_layers *l;
    const struct ht_fd_side *side;
    struct ht_fd_weights weights; /* of the layers' first differences */
    int64_t at, inward;           /* of that node in the window */
    int64_t own, pitch;           /* in the memory */
    int64_t m[3];                 /* indices of that node */
    int64_t first, last;          /* depths of the targets */
    double *q;                    /* [half point] */
};

static double minus(const struct line *line, double x) {
    return line->e->absolute ? x : -x;
}

static double profile_of(const struct line *line, int which, int64_t depth) {
    return magnitude(line->e, line->l->profile->host[ht_fd_side_profile(line->side, which, depth)]);
}

/* u at a depth, odd at the wall. */
static double u_at(const struct line *line, int64_t depth) {
    const double value =
        magnitude(line->e, line->w->u->host[line->at + ht_most(depth, -depth) * line->inward]);
    return depth < 0 ? minus(line, value) : value;
}

static void find_fluxes(const struct line *line) {
    const struct ht_fd_side *side = line->side;
    const double *b = host_of(line->w->law.b[side->axis]);
    for (int64_t half = 0; half < side->cells; half++) {
        const int64_t at = line->at + half * line->inward;
        const int64_t own = line->own + half * line->pitch;
        const double first = line->l->start ? profile_of(line, 3, half) : 0;
        const double memory = magnitude(line->e, line->l->memory[HT_FD_BEFORE]->host[own]) *
                              (line->l->start ? first : 1);
        double slope = 0;
        for (int j = 0; j < line->weights.radius; j++)
            slope += magnitude(line->e, line->weights.first[j]) *
                     (u_at(line, half + j + 1) + minus(line, u_at(line, half - j)));
        line->q[half] = (profile_of(line, 0, half) + first / 2) * slope + memory;
        if (half >= line->first && half < line->last)
            line->l->memory[HT_FD_HALVES]->host[own] =
                profile_of(line, 1, half) * slope + profile_of(line, 2, half) * line->q[half];
        if (line->e->spec.density) line->q[half] *= b[side->side == 0 ? at : at + line->inward];
    }
}

/* q of a half point, even at the wall. */
static double q_at(const struct line *line, int64_t half) {
    const int64_t inside = half < 0 ? -1 - half : half;
    return inside < line->side->cells ? line->q[inside] : 0;
}

/* The factor g of a node, of all its layers. */
static double factor_of(const struct line *line, int64_t depth) {
    struct line of = *line;
    double factor = 1;
    of.m[line->side->axis] += line->side->side == 0 ? depth : -depth;
    for (int i = 0; i < of.l->sides.count; i++) {
        of.side = &of.l->sides.side[i];
        const int64_t above = of.m[of.side->axis] - of.side->wall;
        const int64_t own = of.side->side == 0 ? above : -above;
        if (own < of.side->cells) factor *= profile_of(&of, HT_FD_PROFILES - 1, own);
    }
    return factor;
}

/* In the first step: g times d and what data in layers have, and a L u/2. */
static double begin(const struct line *line, double g, double memory, int64_t at) {
    const double all = line->w->law.a->host[at] * add_axes(line->e, line->w, at);
    return g * (line->w->out->host[at] + magnitude(line->e, memory)) + all / 2;
}

/* What a node's d takes. */
static double correct(const struct line *line, int64_t depth) {
    const struct ht_fd_layers *l = line->l;
    const double *u = line->w->u->host;
    const int k = line->side->axis;
    const int64_t at = line->at + depth * line->inward;
    const double factor = line->w->law.a->host[at] * magnitude(line->e, line->w->law.scale[k]);
    const int64_t pitch = line->side->side == 0 ? line->inward : -line->inward;
    double change = 0;
    for (int j = 0; j < line->weights.radius; j++)
        change += magnitude(line->e, line->weights.first[j]) *
                  (q_at(line, depth + j) + minus(line, q_at(line, depth - 1 - j)));
    change *= factor;
    if (depth >= line->side->cells) return change;
    double *memory = &l->memory[HT_FD_NODES]->host[line->own + depth * line->pitch];
    const double p[4] = {profile_of(line, 4, depth), profile_of(line, 5, depth),
                         profile_of(line, 6, depth), profile_of(line, 7, depth)};
    const double step = factor * fd_plain_axis(line->e, &line->w->law, k, u, at, pitch);
    double x = step + change, excess;
    if (l->start) {
        const double g = factor_of(line, depth);
        x = begin(line, g, *memory, at) + step / 2 + change;
        excess = p[0] * x + minus(line, p[3] * g * magnitude(line->e, u[at]));
        *memory = (p[0] + p[1]) * x + minus(line, (1 + minus(line, p[2])) * excess);
    } else {
        excess = p[0] * x + magnitude(line->e, *memory);
        *memory = p[1] * x + p[2] * excess;
    }
    return change + excess;
}

/* Of a sponge, both; else d alone. */
static void damp_line(const struct line *line) {
    for (int64_t depth = line->first; depth < line->last; depth++) {
        const int64_t at = line->at + depth * line->inward;
        if (depth >= line->side->cells) continue;
        line->w->d->host[at] *= profile_of(line, HT_FD_PROFILES - 1, depth);
        if (line->l->sponge) line->w->out->host[at] *= profile_of(line, HT_FD_PROFILES - 1, depth);
    }
}

static void correct_line(const struct line *line) {
    find_fluxes(line);
    for (int64_t depth = line->first; depth < line->last; depth++)
        line->w->d->host[line->at + depth * line->inward] += correct(line, depth);
}

/* Until the step comes out has the d before. */
static void keep_line(const struct line *line) {
    double *d = line->w->d->host;
    for (int64_t depth = line->first; depth < line->last; depth++) {
        const int64_t at = line->at + depth * line->inward;
        d[at] = line->w->out->host[at] = magnitude(line->e, d[at]);
    }
}

/* The nodes of a box that a layer changes, by lines. */
static void do_side(struct line *line, void (*work)(const struct line *line)) {
    const struct ht_fd_side *side = line->side;
    const struct ht_fd_box *box = &line->w->box;
    const int k = side->axis, a = k == 0 ? 1 : 0, b = k == 2 ? 1 : 2;
    const int64_t reach = side->cells + line->l->sides.beyond;
    const int64_t first =
        side->side == 0 ? box->begin[k] - side->wall : side->wall - box->end[k] + 1;
    line->first = ht_most(first, 0);
    line->last = ht_least(first + box->end[k] - box->begin[k], reach);
    line->inward = (side->side == 0 ? 1 : -1) * pitch_of(box, k);
    line->pitch = side->pitch[k];
    for (int64_t mb = box->begin[b]; mb < box->end[b]; mb++)
        for (int64_t ma = box->begin[a]; ma < box->end[a]; ma++) {
            line->at =
                side->wall * pitch_of(box, k) + ma * pitch_of(box, a) + mb * pitch_of(box, b);
            line->m[k] = side->wall;
            line->m[a] = ma;
            line->m[b] = mb;
            line->own = side->offset + ma * side->pitch[a] + mb * side->pitch[b];
            if (line->first < line->last) work(line);
        }
}

static HT_ERR absorb(const struct ht_fd_engine *e, const struct ht_fd_work *w) {
    static void (*const works[])(const struct line *) = {keep_line, damp_line, correct_line};
    const struct ht_fd_layers *l = w->layers;
    struct line line = {.e = e, .w = w, .l = l, .weights = ht_fd_layer_weights(&e->spec)};
    int64_t most = 1;
    for (int i = 0; i < l->sides.count; i++) most = ht_most(most, l->sides.side[i].cells);
    HT_ARRAY(double, q, most);
    line.q = q;
    for (int work = l->sponge; work < (l->sponge ? 2 : 3); work++)
        for (int i = 0; i < l->sides.count; i++) {
            line.side = &l->sides.side[i];
            do_side(&line, works[work]);
        }
    return HT_OK;
}

static HT_ERR plain_work(struct ht_fd_engine *e, const struct ht_fd_work *w) {
    if (w->operation == HT_FD_ABSORB) return absorb(e, w);
    EACH_NODE(&w->box) work_at(e, w, node_at(&w->box, m1, m2, m3));
    return HT_OK;
}

/* ---- pairs ---- */

/* A term's share at node `at`, without its coefficient. */
static double pair_difference(const struct ht_pair_task *t, const struct ht_pair_term *term,
                              int64_t at) {
    const struct ht_pair_stepper *s = t->s;
    const struct ht_fd_engine *e = &s->fd.engine;
    const int64_t pitch = pitch_of(&t->box, term->axis);
    const double *f = s->on.field[term->col]->host + at;
    const int up = ht_pair_up(&s->pair, term->col, term->axis);
    const int64_t m =
        at / pitch % (term->axis == 2 ? INT64_MAX : pitch_of(&t->box, term->axis + 1) / pitch);
    int offset[HT_FD_CLOSED_ROW];
    double weight[HT_FD_CLOSED_ROW], sum = 0;
    const int closed = ht_fd_closed_row(&s->closure[s->pair.group[1] >> term->row & 1u],
                                        &e->weights, up, m - s->on.wall[term->axis][0],
                                        s->on.wall[term->axis][1] - m, offset, weight);
    for (int j = 0; j < closed; j++)
        sum += magnitude(e, weight[j]) * magnitude(e, f[offset[j] * pitch]);
    for (int j = 0; closed < 0 && j < e->weights.radius; j++) {
        const double above = magnitude(e, f[(up + j) * pitch]);
        const double below = magnitude(e, f[(up - 1 - j) * pitch]);
        sum += magnitude(e, e->weights.first[j]) * (e->absolute ? above + below : above - below);
    }
    return magnitude(e, term->factor) * sum;
}

static void read_coefficients(const struct ht_pair_stepper *s, int64_t at, double *out) {
    for (int c = 0; c < s->pair.ncoefficients; c++) out[c] = ht_pair_coefficient_at(s, c, at);
}

static void pair_release(const struct ht_pair_task *t, const int64_t m[3], int64_t at,
                         double *sum) {
    const struct ht_pair_stepper *s = t->s;
    const unsigned sides = ht_pair_surface_at(s, m);
    double coefficient[HT_MAX_TERMS];
    if (sides == 0 || t->group != ht_pair_stresses(&s->pair)) return;
    read_coefficients(s, at, coefficient);
    ht_pair_surface_release(s, sides, s->fd.engine.absolute, coefficient, sum);
}

static void pair_rows(const struct ht_pair_task *t, const int64_t m[3], int64_t at) {
    const struct ht_pair_stepper *s = t->s;
    const struct ht_fd_engine *e = &s->fd.engine;
    double sum[HT_MAX_FIELDS] = {0};
    HT_EACH(const struct ht_pair_term, term, s->pair.term, s->pair.nterms) {
        if (!(s->pair.group[t->group] >> term->row & 1u)) continue;
        sum[term->row] +=
            magnitude(e, t->scale[term->axis] * ht_pair_coefficient_at(s, term->coefficient, at)) *
            pair_difference(t, term, at);
    }
    pair_release(t, m, at, sum);
    if (t->work == HT_PAIR_STEP) ht_pair_lose(t, true, m, at, sum);
    HT_EACH_BIT(f, s->pair.group[t->group]) {
        if (t->work == HT_PAIR_STEP)
            s->on.field[f]->host[at] = magnitude(e, s->on.field[f]->host[at]) + sum[f];
        else
            s->on.rate[f]->host[at] =
                (t->work == HT_PAIR_STAGE ? s->on.field[f]->host[at] : 0) + sum[f];
    }
}

static void pair_solve(const struct ht_pair_stepper *s, int group, int64_t at) {
    const unsigned coupled = s->pair.group[group] & s->coupled;
    double c[HT_MAX_FIELDS][HT_MAX_FIELDS], x[HT_MAX_FIELDS], y[HT_MAX_FIELDS];
    double coefficient[HT_MAX_TERMS];
    int number[HT_MAX_FIELDS];
    read_coefficients(s, at, coefficient);
    const int count = ht_pair_block(&s->pair, coupled, coefficient, 1, number, c);
    HT_EACH_BIT(f, coupled) x[number[f]] = s->on.field[f]->host[at];
    ht_pair_invert(count, c, x, y);
    HT_EACH_BIT(f, coupled) s->on.solved[f]->host[at] = y[number[f]];
}

/* ---- couplings, from the formulas of cl/pair_faces.cl ---- */

/* The points of a field around one at node `at`; returns how many they are. */
static int find_near(const struct ht_pair_stepper *s, int group, int field, int64_t at,
                     int64_t near[8]) {
    const unsigned meets = s->pair.meets[group], apart = s->pair.parity[field] ^ meets;
    int count = 0;
    for (unsigned corner = 0; corner < 8; corner++) {
        if (corner & ~apart) continue;
        near[count] = at;
        for (int k = 0; k < 3; k++)
            near[count] += ((int)(corner >> k & 1u) - (int)((apart & ~meets) >> k & 1u)) *
                           pitch_of(&s->fd.box, k);
        count++;
    }
    return count;
}

/* Mean of the own change of a field at its points around one at node `at`. */
static double pair_mean(const struct ht_pair_task *t, int field, int64_t at) {
    const struct ht_pair *pair = &t->s->pair;
    int64_t near[8];
    const int count = find_near(t->s, t->group, field, at, near);
    double sum = 0;
    for (int i = 0; i < count; i++)
        for (int n = 0; n < pair->nterms; n++)
            if (pair->term[n].row == field && pair->term[n].partner == field)
                sum += magnitude(&t->s->fd.engine, t->scale[pair->term[n].axis]) *
                       pair_difference(t, &pair->term[n], near[i]);
    return sum / count;
}

/* [point - first][row]. */
static void pair_meet(const struct ht_pair_task *t, const int64_t point[2], double *out) {
    const struct ht_pair *pair = &t->s->pair;
    const struct ht_pair_meets *meets = &t->s->meets[t->group];
    int row[HT_MAX_FIELDS], first = 0;
    const int rows = ht_pair_rows(pair, t->group, row);
    const int couplings = ht_pair_couplings(pair, t->group, &first);
    for (int64_t i = point[0]; i < point[1]; i++, out += rows) {
        double mean[HT_MAX_FIELDS], sum[HT_MAX_FIELDS] = {0};
        for (int j = 0; j < rows; j++) mean[row[j]] = pair_mean(t, row[j], meets->at[i]);
        for (int c = 0; c < couplings; c++) {
            const struct ht_pair_coefficient *of = &pair->coefficient[first + c];
            const double value = magnitude(&t->s->fd.engine, meets->value[i * couplings + c]);
            sum[of->row] += value * mean[of->col];
            sum[of->col] += value * mean[of->row];
        }
        for (int j = 0; j < rows; j++)
            out[j] =
                sum[row[j]] / (1 << ht_pair_axes(pair->parity[row[j]] ^ pair->meets[t->group]));
    }
}

static HT_ERR plain_meet(HT_UNUSED struct ht_fd_engine *e, const struct ht_pair_task *t) {
    const struct ht_pair_meets *meets = &t->s->meets[t->group];
    int row[HT_MAX_FIELDS];
    int64_t point[2], target[2];
    const int rows = ht_pair_rows(&t->s->pair, t->group, row);
    ht_pair_meets_range(t, point, target);
    HT_ARRAY(double, g, (point[1] - point[0]) * rows);
    pair_meet(t, point, g);
    for (int64_t i = target[0]; i < target[1]; i++) {
        const int64_t r = meets->to[i] % rows, at = meets->to[i] / rows;
        double *to = (t->work == HT_PAIR_STEP ? t->s->on.field : t->s->on.rate)[row[r]]->host;
        for (int j = 0; j < meets->corners; j++) {
            const int64_t near = meets->from[i * meets->corners + j];
            if (near < 0) continue;
            const double change = g[(near - point[0]) * rows + r];
            to[at] += change;
            if (t->keeps) ht_pair_rest(t->s, row[r], at, change);
        }
    }
    return HT_OK;
}

static double value_mean(const struct ht_pair_meet_sum *m, int field, int64_t at,
                         struct ht_buffer *const *of) {
    int64_t near[8];
    const int count = find_near(m->s, m->group, field, at, near);
    double sum = 0;
    for (int i = 0; i < count; i++) sum += of[field]->host[near[i]];
    return sum / count;
}

static HT_ERR plain_meet_add(HT_UNUSED struct ht_fd_engine *e, const struct ht_pair_meet_sum *m) {
    const struct ht_pair_meets *meets = &m->s->meets[m->group];
    const struct ht_fd_box *box = &m->s->fd.box;
    int first = 0;
    const int couplings = ht_pair_couplings(&m->s->pair, m->group, &first);
    for (int64_t i = meets->first[0][box->begin[2]]; i < meets->first[0][box->end[2]]; i++)
        for (int c = 0; c < couplings; c++) {
            const struct ht_pair_coefficient *of = &m->s->pair.coefficient[first + c];
            const int64_t at = meets->at[i];
            m->sum->host[i * couplings + c] +=
                value_mean(m, of->row, at, m->y) * value_mean(m, of->col, at, m->e) +
                value_mean(m, of->col, at, m->y) * value_mean(m, of->row, at, m->e);
        }
    return HT_OK;
}

/* ---- absorbing layers of pairs, from the formulas of cl/pair_layers.cl ---- */

/* A node, and the layer that it is in along each axis, -1: none. */
struct spot {
    const struct ht_pair_task *t;
    const struct ht_pair_stepper *s;
    int64_t m[3], at;
    int layer[3];
};

static bool find_layers(struct spot *spot) {
    bool any = false;
    for (int k = 0; k < 3; k++) {
        spot->layer[k] = -1;
        for (int i = 2 * k; i < 2 * k + 2; i++)
            if (spot->m[k] >= spot->s->layers.layer[i].begin[k] &&
                spot->m[k] < spot->s->layers.layer[i].end[k])
                spot->layer[k] = i;
        any = any || spot->layer[k] >= 0;
    }
    return any;
}

/* Number `which` of the profile of the layer of an axis, at a place of this parity. */
static double pair_profile(const struct spot *spot, int axis, unsigned parity, int which) {
    const struct ht_pair_stepper *s = spot->s;
    const int i = spot->layer[axis], half = parity >> axis & 1u;
    const int64_t begin = s->layers.layer[i].begin[axis];
    const int64_t depths = s->layers.layer[i].end[axis] - begin;
    const int64_t row = half * ht_pair_profiles(s->damping) + which;
    const int64_t at = s->layers.layer[i].profile + row * depths + spot->m[axis] - begin;
    return magnitude(&s->fd.engine, s->on.profile->host[at]);
}

/* A sponge, or the losses of matched layers. */
static void plain_sponge(const struct spot *spot) {
    const struct ht_pair_stepper *s = spot->s;
    const int which = ht_pair_profiles(s->damping) - 1;
    HT_EACH_BIT(f, s->pair.group[spot->t->group])
        for (int k = 0; k < 3; k++) {
            if (spot->layer[k] < 0) continue;
            const double factor = pair_profile(spot, k, s->pair.parity[f], which);
            s->on.field[f]->host[spot->at] *= factor;
            for (int i = 0; i < s->pair.npartners; i++)
                if (s->pair.owner[i] == f) s->on.partner[i]->host[spot->at] *= factor;
        }
}

/* Difference number `slot` of what layers remember at a node. */
static double *memory_at(const struct spot *spot, int axis, int slot) {
    const struct ht_pair_stepper *s = spot->s;
    const int i = spot->layer[axis];
    int64_t number = slot;
    for (int k = 2; k >= 0; k--) {
        const int64_t begin = s->layers.layer[i].begin[k];
        number = number * (s->layers.layer[i].end[k] - begin) + spot->m[k] - begin;
    }
    return &s->on.memory[spot->t->group]->host[s->layers.layer[i].memory + number];
}

/* The change of a difference d; number: among those of the group, along: of those of its axis. */
static double pair_change(const struct spot *spot, const struct ht_pair_term *term, int number,
                          int along, double d) {
    const unsigned parity = spot->s->pair.parity[term->row];
    const bool mixes = spot->s->damping == HT_PAIR_MIXED;
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const bool own = k == term->axis;
        if (spot->layer[k] < 0 || !(own || mixes)) continue;
        double *psi = memory_at(spot, k, mixes ? number : along);
        *psi = pair_profile(spot, k, parity, own ? 0 : 2) * magnitude(&spot->s->fd.engine, *psi) +
               pair_profile(spot, k, parity, own ? 1 : 3) * (d + sum);
        sum += *psi;
    }
    return sum;
}

/* Terms that take the same difference share its memory: it changes with the first of them. */
static void plain_matched(const struct spot *spot) {
    const struct ht_pair_task *t = spot->t;
    const struct ht_pair_stepper *s = spot->s;
    const struct ht_fd_engine *e = &s->fd.engine;
    double change[HT_MAX_FIELDS][3], sum[HT_MAX_FIELDS] = {0};
    bool known[HT_MAX_FIELDS][3] = {{false}};
    int number = 0, along[3] = {0, 0, 0};
    for (int n = 0; n < s->pair.nterms; n++) {
        struct ht_pair_term term = s->pair.term[n];
        const double factor = term.factor;
        double *now = &change[term.col][term.axis];
        if (!(s->pair.group[t->group] >> term.row & 1u)) continue;
        term.factor = 1;
        if (!known[term.col][term.axis]) {
            const double d =
                magnitude(e, t->scale[term.axis]) * pair_difference(t, &term, spot->at);
            *now = pair_change(spot, &term, number++, along[term.axis]++, d);
            known[term.col][term.axis] = true;
        }
        sum[term.row] +=
            magnitude(e, factor * ht_pair_coefficient_at(s, term.coefficient, spot->at)) * *now;
    }
    pair_release(t, spot->m, spot->at, sum);
    ht_pair_lose(t, false, spot->m, spot->at, sum);
    HT_EACH_BIT(f, s->pair.group[t->group]) s->on.field[f]->host[spot->at] += sum[f];
}

static HT_ERR plain_pair(HT_UNUSED struct ht_fd_engine *e, const struct ht_pair_task *t) {
    EACH_NODE(&t->box) {
        const int64_t at = node_at(&t->box, m1, m2, m3), m[3] = {m1, m2, m3};
        if (t->work == HT_PAIR_SOLVE)
            pair_solve(t->s, t->group, at);
        else
            pair_rows(t, m, at);
        struct spot spot = {.t = t, .s = t->s, .m = {m1, m2, m3}, .at = at};
        if (t->layers == NULL || !find_layers(&spot)) continue;
        if (t->s->damping != HT_PAIR_SPONGE) plain_matched(&spot);
        plain_sponge(&spot);
    }
    return HT_OK;
}

const struct ht_fd_engine_ops ht_fd_plain_ops = {
    .ghosts = plain_ghosts,
    .work = plain_work,
    .sums = plain_sums,
    .inject = plain_inject,
    .correlate = plain_correlate,
    .product = plain_product,
    .copy = plain_copy,
    .take = plain_take,
    .put = plain_put,
    .pair = plain_pair,
    .meet = plain_meet,
    .meet_add = plain_meet_add,
};

/* ---- verification ---- */

/* Longest chain of roundings behind an output, of both passes: the products of an operator, and
 * some for its factors and the medium in single precision. A layer's q, or L_k, becomes F, r' and
 * what u takes by 12 more at most, after which two sums follow for each side. */
double ht_differences_oracle_roundings(const struct ht_problem *p) {
    const double radius = p->fd.order / 2.0, dims = p->eq->dims;
    const double products = p->fd.density ? 4 * radius : 2 * radius + 1;
    const double layers = p->layers != NULL ? products + 12 + 4 * dims : 0;
    return p->stages * (dims * products + 8) + layers;
}

/* Some more points than the stencil and the closures of two sides span. */
void ht_differences_shrink(const struct ht_problem *problem,
                           HT_UNUSED const struct ht_variant *variant, struct ht_part *out) {
    const struct ht_fd_spec spec = ht_fd_spec_of(problem, true);
    const int64_t open = problem->fd.faces != NULL ? 3 : 0;
    const int64_t closed = ht_grid_closes(problem->grid) ? (int64_t)2 * HT_FD_CLOSED + open : 0;
    const int64_t least = ht_most(ht_fd_reach(&spec) + 2, closed);
    const struct ht_box box = {.end = {least + 3, least + 1, least}};
    ht_problem_part(problem, &box, HT_SIDES_SAME, HT_MEDIUM_TEST, out);
}
