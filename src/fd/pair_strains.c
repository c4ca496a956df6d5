/* Gradients of pairs with couplings at oblique faces (docs/developers/gradients.md): C has entries
 * between places, so that the adjoint field q = C y says nothing of y at a place. Of groups that
 * have couplings y is kept beside q, a sum over the steps of
 *     e = dt B_0 v,    C -> 1: the passes of the run with other coefficients,
 * and of the readings without the medium; beside it stands e of the forward run's step, with its
 * sources without the medium. Sums of their products are the derivatives by all entries of C. */
#include "fd_gradient.h"

enum { ADJOINT, FORWARD };
struct ht_pair_strains {
    unsigned fields;               /* of groups that have couplings */
    struct ht_pair_stepper raw[2]; /* of which passes see what they change, and C */
    struct ht_pair_stepper read;   /* of which sources' amplitudes are by */
    struct ht_buffer *one, *zero, *strain[2][HT_MAX_FIELDS];
    struct ht_buffer *sum[2];                            /* [point][coupling], of each group */
    struct ht_fd_injection *injection[2][HT_MAX_FIELDS]; /* readings, sources */
};

static struct ht_pair_stepper *stepper_of(const struct ht_gradient *g, int which) {
    return (struct ht_pair_stepper *)(which == ADJOINT ? g->adjoint : g->forward);
}

static bool uses(const struct ht_gradient *g, int group) {
    return ht_pair_faces_use(g->plan->problem.fd.faces, group);
}

/* ---- making ---- */

static int64_t numbers_of(const struct ht_gradient *g, int group) {
    const struct ht_pair_stepper *s = stepper_of(g, ADJOINT);
    int first;
    return s->meets[group].points * ht_pair_couplings(&s->pair, group, &first);
}

static enum ht_err make(const struct ht_gradient *g, struct ht_pair_strains *out) {
    struct ht_fd_engine *e = &g->adjoint->engine;
    const int64_t numbers = ht_fd_numbers(g->adjoint);
    TRY(ht_fd_array_create(e, numbers, &out->one));
    TRY(ht_fd_array_create(e, numbers, &out->zero));
    HT_ARRAY(double, ones, numbers);
    for (int64_t i = 0; i < numbers; i++) ones[i] = 1;
    TRY(ht_buffer_write_reals(out->one, e->spec.fp64, 0, numbers, ones));
    for (int which = 0; which < 2; which++) {
        struct ht_pair_stepper *raw = &out->raw[which];
        *raw = *stepper_of(g, which);
        for (int c = 0; c < raw->pair.ncoefficients; c++) {
            const bool own = raw->pair.coefficient[c].row == raw->pair.coefficient[c].col;
            raw->coefficient[c] = own ? out->one : out->zero;
            raw->number[c] = own;
        }
        HT_EACH_BIT(f, out->fields) TRY(ht_fd_array_create(e, numbers, &out->strain[which][f]));
    }
    for (int group = 0; group < 2; group++)
        if (uses(g, group)) TRY(ht_fd_array_create(e, numbers_of(g, group) + 1, &out->sum[group]));
    return HT_OK;
}

enum ht_err ht_pair_strains_create(struct ht_gradient *g) {
    const struct ht_pair *pair = &stepper_of(g, ADJOINT)->pair;
    if (!uses(g, 0) && !uses(g, 1)) return HT_OK;
    TRY(HT_ALLOC(g->strains, 1));
    for (int group = 0; group < 2; group++)
        if (uses(g, group)) g->strains->fields |= pair->group[group];
    return make(g, g->strains);
}

void ht_pair_strains_destroy(struct ht_gradient *g) {
    struct ht_pair_strains *s = g->strains;
    if (s == NULL) return;
    ht_buffer_destroy(s->one);
    ht_buffer_destroy(s->zero);
    for (int which = 0; which < 2; which++) {
        for (int f = 0; f < HT_MAX_FIELDS; f++) ht_buffer_destroy(s->strain[which][f]);
        ht_buffer_destroy(s->sum[which]);
        ht_pair_injections_destroy(s->injection[which]);
    }
    free(s);
    g->strains = NULL;
}

/* Beside what steppers have. */
int64_t ht_pair_strains_numbers(const struct ht_gradient *g) {
    int64_t arrays = 2, more = 0;
    if (g->strains == NULL) return 0;
    HT_EACH_BIT(f, g->strains->fields) arrays += 2;
    for (int group = 0; group < 2; group++) more += uses(g, group) ? numbers_of(g, group) + 1 : 0;
    return arrays * ht_fd_numbers(g->adjoint) + more;
}

/* A source adds x: the derivative is by y, of x = C times weights by the weights and q. */
enum ht_err ht_pair_strains_aim(struct ht_gradient *g, const struct ht_receivers *receivers) {
    const struct ht_pair_driven by[2] = {{.receivers = receivers, .bare = true}, {.bare = true}};
    struct ht_pair_strains *s = g->strains;
    for (int which = 0; which < 2 && s != NULL; which++) {
        ht_pair_injections_destroy(s->injection[which]);
        TRY(ht_pair_injections_create(stepper_of(g, which), &by[which], s->injection[which]));
    }
    if (s == NULL) return HT_OK;
    s->read = *stepper_of(g, ADJOINT);
    HT_EACH_BIT(f, s->fields)
        if (s->injection[FORWARD][f] == NULL) s->read.field[f] = s->strain[ADJOINT][f];
    g->handle[HT_FD_BY_STAGE] = (struct ht_stepper){.ops = &ht_pair_kind.ops, .self = &s->read};
    return HT_OK;
}

/* ---- a step ---- */

bool ht_pair_strains_have(const struct ht_gradient *g, int field) {
    return g->strains != NULL && (g->strains->fields >> field & 1u);
}

struct ht_buffer *const *ht_pair_strains_of(const struct ht_gradient *g, bool forward) {
    return g->strains->strain[forward ? FORWARD : ADJOINT];
}

struct ht_buffer *ht_pair_strains_zero(const struct ht_gradient *g) {
    return g->strains->zero;
}

/* += e of a group, on own planes and the next ones of neighbours, by other fields of which `from`
 * has the values; and what is injected. */
static enum ht_err add(const struct ht_gradient *g, int which, int group,
                       struct ht_buffer *const *from) {
    struct ht_pair_stepper *s = stepper_of(g, which), *raw = &g->strains->raw[which];
    struct ht_pair_task t = {
        .s = raw, .work = HT_PAIR_STEP, .part = HT_PART_INTERIOR, .group = group, .box = s->fd.box};
    t.box.begin[2] -= s->fd.r.partition.neighbour[0];
    t.box.end[2] += s->fd.r.partition.neighbour[1];
    for (int k = 0; k < 3; k++) t.scale[k] = s->fd.problem.dt / s->fd.problem.grid->h[k];
    for (int f = 0; f < s->pair.nfields; f++)
        raw->field[f] = s->pair.group[group] >> f & 1u ? g->strains->strain[which][f] : from[f];
    TRY(s->fd.engine.ops->pair(&s->fd.engine, &t));
    TRY(ht_pair_injections_step(s, g->strains->injection[which]));
    TRY(ht_pair_inject(s, g->strains->injection[which], s->pair.group[group], t.box.begin[2],
                       t.box.end[2], g->strains->strain[which]));
    return ht_pair_ghosts(s, s->pair.group[group], &s->fd.box, true, g->strains->strain[which]);
}

enum ht_err ht_pair_strains_begin(struct ht_gradient *g) {
    struct ht_pair_strains *s = g->strains;
    if (s == NULL) return HT_OK;
    for (int f = 0; f < HT_MAX_FIELDS; f++) {
        struct ht_fd_injection *in = s->injection[ADJOINT][f];
        if (s->fields >> f & 1u) TRY(ht_buffer_clear(s->strain[ADJOINT][f]));
        if (in == NULL) continue;
        in->given = g->readings[f]->given;
        in->factor = g->readings[f]->factor;
        in->steps = g->readings[f]->steps;
        in->first = in->last = 0;
    }
    for (int group = 0; group < 2; group++)
        if (uses(g, group)) TRY(ht_buffer_clear(s->sum[group]));
    return HT_OK;
}

enum ht_err ht_pair_strains_pass(struct ht_gradient *g, int group) {
    return g->strains != NULL && uses(g, group)
               ? add(g, ADJOINT, group, stepper_of(g, ADJOINT)->field)
               : HT_OK;
}

static void swap_group(struct ht_gradient *g) {
    struct ht_pair_stepper *f = stepper_of(g, FORWARD);
    HT_EACH_BIT(i, f->pair.group[0]) {
        struct ht_buffer *const own = f->field[i];
        f->field[i] = g->strains->strain[FORWARD][i];
        g->strains->strain[FORWARD][i] = own;
    }
    for (int group = 0; group < 2; group++) ht_halo_overwritten(&f->fd.r.state, group);
}

/* Ghosts and planes of neighbours of group 1 before the step that is shown: by the pass that reads
 * them, whose result is not looked at. */
static enum ht_err complete(struct ht_gradient *g) {
    struct ht_runner *r = &g->forward->r;
    TRY(ht_pair_injection_step(g->forward, HT_PRIMARY));
    swap_group(g);
    enum ht_err err = ht_runner_run(r, &r->passes, 0, 1);
    if (err == HT_OK) err = ht_runner_complete(r);
    swap_group(g);
    return err;
}

/* Of the step that is shown. */
static enum ht_err show(struct ht_gradient *g, int group) {
    struct ht_pair_strains *s = g->strains;
    struct ht_pair_stepper *f = stepper_of(g, FORWARD);
    const int64_t numbers = ht_fd_numbers(g->forward);
    if (group == 0) TRY(complete(g));
    HT_EACH_BIT(i, f->pair.group[group])
        TRY(f->fd.engine.ops->copy(&f->fd.engine, s->zero, s->strain[FORWARD][i], numbers));
    return add(g, FORWARD, group, group == 0 ? f->field : g->past->after);
}

enum ht_err ht_pair_strains_add(struct ht_gradient *g) {
    for (int group = 0; g->strains != NULL && group < 2; group++) {
        const struct ht_pair_meet_sum sum = {.s = stepper_of(g, ADJOINT),
                                             .group = group,
                                             .y = g->strains->strain[ADJOINT],
                                             .e = g->strains->strain[FORWARD],
                                             .sum = g->strains->sum[group]};
        if (!uses(g, group)) continue;
        TRY(show(g, group));
        if (numbers_of(g, group) > 0)
            TRY(g->adjoint->engine.ops->meet_add(&g->adjoint->engine, &sum));
    }
    return HT_OK;
}

/* ---- sums ---- */

bool ht_pair_strains_sum(const struct ht_gradient *g, enum ht_gradient_sum sum) {
    const int c = (int)sum - HT_GRADIENT_COEFFICIENT - g->apart.ncoefficients;
    return g->strains != NULL && c >= 0 && c < g->apart.ncouplings;
}

/* The last point between nodes before a wall is an image. */
enum ht_err ht_pair_strains_read(const struct ht_gradient *g, enum ht_gradient_sum sum,
                                 int64_t first, int64_t last, double *out) {
    const struct ht_pair_stepper *s = stepper_of(g, ADJOINT);
    const int c = (int)sum - HT_GRADIENT_COEFFICIENT;
    const int group = g->apart.group[1] >> g->apart.coefficient[c].row & 1u;
    const int64_t n1 = ht_grid_nodes(&g->plan->grid, HT_PRIMARY, 0);
    const int64_t plane = ht_grid_plane(&g->plan->grid, HT_PRIMARY);
    const struct ht_fd_box *box = &s->fd.box;
    const struct ht_pair_meets *meets = &s->meets[group];
    int from = 0;
    const int couplings = ht_pair_couplings(&g->apart, group, &from);
    memset(out, 0, (size_t)((last - first) * plane) * sizeof *out);
    for (int64_t m3 = first; uses(g, group) && m3 < last; m3++, out += plane) {
        const int64_t window = m3 - s->fd.own.first + box->begin[2];
        const int64_t begin = meets->first[0][window], end = meets->first[0][window + 1];
        HT_ARRAY(double, values, (end - begin) * couplings + 1);
        TRY(ht_buffer_read_reals(g->strains->sum[group], s->fd.engine.spec.fp64, begin * couplings,
                                 (end - begin) * couplings, values));
        for (int64_t i = begin; i < end; i++) {
            const int64_t at = meets->at[i] - window * box->plane;
            const int64_t m1 = at % box->row - box->begin[0], m2 = at / box->row - box->begin[1];
            if (m1 >= 0 && m1 < n1 && m2 >= 0 && m2 < plane / n1)
                out[m2 * n1 + m1] = values[(i - begin) * couplings + c - from];
        }
    }
    return HT_OK;
}
