/* Pairs of groups of fields in a run: the plan's parts, the start, energies.
 *
 * The places of a field's values and their times differ from the nodes of the primary grid and the
 * step's time: ht_places_find has the initial data and the solution there. */
#include "fd.h"

/* ---- plan ---- */

static double symbol_of(const struct ht_plan *plan) {
    const struct ht_fd_weights w = ht_fd_weights(plan->problem.fd.order);
    return plan->grid.dims * ht_fd_symbol(&w, true, acos(-1.0));
}

/* As the step's bound needs it. */
static HT_ERR fill_raised(const void *medium, int what, int64_t first, int64_t last, double *out) {
    const struct ht_plan *plan = medium;
    TRY(ht_fd_fill_frame(plan, what, first, last, out));
    return plan->faces == NULL ? HT_OK : ht_pair_faces_raise(plan->faces, what, first, last, out);
}

/* The bound of omega^2; coefficients that are the same everywhere, but for rounding of averages,
 * become numbers. Collective. */
static HT_ERR find_bound(struct ht_plan *plan, const struct ht_pair *pair, double *bound) {
    const double rounding = 1e-12;
    double range[HT_MAX_TERMS][2];
    struct ht_fd_problem *fd = &plan->problem.fd;
    fd->fill = fill_raised;
    fd->medium = plan;
    TRY(ht_pair_bound(&plan->problem, pair, range, bound));
    fd->fill = ht_fd_fill_frame;
    for (int c = 0; c < pair->ncoefficients; c++) {
        const double least = range[c][0], most = range[c][1];
        const bool own = c < pair->nown && pair->coefficient[c].row == pair->coefficient[c].col;
        fd->fluid = fd->fluid || (own && !(least > 0));
        if (!(most - least <= rounding * fabs(most))) continue;
        fd->constant |= 1u << c;
        fd->number[c] = most;
    }
    return HT_OK;
}

/* Looks for couplings by a frame of their own, which would keep many arrays. Collective. */
static HT_ERR find_faces(struct ht_plan *plan, const struct ht_pair *pair, enum ht_fit_kind kind) {
    struct ht_fd_problem *fd = &plan->problem.fd;
    if (pair->ncouplings == 0 || !plan->params->medium.couplings) return HT_OK;
    TRY(ht_frame_create(plan->medium, pair, kind, &plan->frame));
    fd->fill = ht_fd_fill_frame;
    fd->medium = plan;
    const enum ht_err err = ht_pair_faces_find(
        &plan->problem, pair, ht_pair_bound_planes(&plan->problem) + 1, &plan->faces);
    if (!ht_frame_keeps(plan->frame)) {
        ht_frame_destroy(plan->frame);
        plan->frame = NULL;
    }
    TRY(err);
    fd->wide = ht_pair_faces_use(plan->faces, 0) || ht_pair_faces_use(plan->faces, 1);
    if (fd->wide) fd->faces = plan->faces;
    return HT_OK;
}

/* In a uniform medium without closed sides omega^2 <= c^2 S^2 sum 1/h^2, c the largest speed. */
static HT_ERR find_rate(struct ht_plan *plan) {
    const enum ht_fit_kind kind = ht_frame_kind(plan->medium, plan->params->medium.fit);
    double speed = 0, sum = 0, most;
    struct ht_pair pair;
    for (int k = 0; k < plan->grid.dims; k++) {
        speed = fmax(speed, plan->medium->speed[k]);
        sum += 1 / (plan->grid.h[k] * plan->grid.h[k] * plan->grid.dims);
    }
    plan->rate = speed * sqrt(sum);
    ht_problem_pair(&plan->problem, &pair);
    for (int c = 0; c < pair.nown && plan->medium->uniform; c++) {
        const struct ht_pair_coefficient *own = &pair.coefficient[c];
        if (own->row == own->col && plan->medium->constant[own->material] == 0)
            plan->problem.fd.fluid = true;
    }
    if (plan->medium->uniform && !ht_grid_closes(&plan->grid)) return HT_OK;
    plan->problem.grid = &plan->grid;
    if (plan->medium->uniform) {
        memcpy(plan->problem.uniform, plan->medium->constant, sizeof plan->problem.uniform);
        TRY(ht_pair_bound(&plan->problem, &pair, NULL, &most));
    } else {
        plan->problem.fd.pair = kind == HT_FIT_POINT ? HT_PAIR_TOGETHER : HT_PAIR_APART;
        ht_problem_pair(&plan->problem, &pair);
        TRY(find_faces(plan, &pair, kind));
        pair.ncouplings = 0;
        if (plan->frame == NULL) TRY(ht_frame_create(plan->medium, &pair, kind, &plan->frame));
        TRY(find_bound(plan, &pair, &most));
    }
    plan->rate = sqrt(most / symbol_of(plan));
    return HT_OK;
}

/* The fluid slips along the solid, and one value cannot hold both sides' velocities: errors are of
 * first order, but where the face is half a spacing off the nodes, on a row of shear stress. */
static HT_ERR warn_slip(const struct ht_plan *plan) {
    for (int k = 0; k < plan->grid.dims; k++) {
        bool found;
        double at;
        TRY(ht_medium_slip(plan->medium, k, &found, &at));
        if (!found) continue;
        const double rows = (at - plan->grid.lower[k]) / plan->grid.h[k] - 0.5;
        const double off = rows - round(rows);
        if (fabs(off) > 0.01)
            ht_warn("fluid meets solid at x%d = %.6g, %.2g of a spacing from the nearest row of "
                    "shear stress, where waves at the face err several times less: grid.lower and "
                    "grid.upper larger by %.6g along x%d put it there",
                    k + 1, at, fabs(off), off * plan->grid.h[k], k + 1);
    }
    return HT_OK;
}

enum ht_err ht_staggered_plan_medium(struct ht_plan *plan) {
    TRY(ht_medium_scan(plan->medium, true));
    plan->problem.fd = (struct ht_fd_problem){.order = plan->order, .pair = HT_PAIR_TOGETHER};
    TRY(find_rate(plan));
    if (plan->medium->vanishes && !plan->medium->uniform) TRY(warn_slip(plan));
    return ht_fd_check_points(plan);
}

enum ht_err ht_staggered_plan_slabs(const struct ht_plan *plan, const int64_t *start,
                                    int64_t thinnest) {
    struct ht_pair pair;
    ht_problem_pair(&plan->problem, &pair);
    REFUSE(plan->params->parallel.halo_depth > 1 && pair.npartners > 0, plan->params,
           "parallel.halo_depth", "must be 1 where the medium has a memory (%s)",
           plan->medium->loss_key);
    return ht_differences_plan_slabs(plan, start, thinnest);
}

/* What layers, losses and sources add is of one term. */
int ht_staggered_plan_stages(const struct ht_plan *plan) {
    const bool one = plan->problem.layers != NULL || plan->eq.losses != 0;
    return one || plan->params->shots.count > 0 ? 1 : 2;
}

/* |x - x^3/24| <= 2, x = dt omega. */
double ht_staggered_plan_limit(const struct ht_plan *plan, int stages) {
    return (stages > 1 ? cbrt(16) + cbrt(32) : 2) / sqrt(symbol_of(plan));
}

const char *ht_staggered_growth_cause(const struct ht_plan *plan) {
    if (plan->problem.layers != NULL && plan->layers.type == HT_ABSORBING_CPML)
        return "waves grow in the absorbing layers: take a larger absorbing.mix, or absorbing.type "
               "= \"sponge\"; or data lie outside of what the medium can hold, such as shear "
               "stress in a fluid";
    return "the device computes wrongly, or data lie outside of what the medium can hold, such as "
           "shear stress in a fluid; steps are proven stable";
}

/* Of each pass: the products of a difference, the terms of a row, and some for factors; the same
 * for layers, with five for what each of them does to a difference. */
double ht_staggered_oracle_roundings(const struct ht_problem *problem) {
    const double pass = 2 * (problem->fd.order / 2.0 + problem->eq->dims + 6);
    const double losses = problem->eq->losses != 0 ? 40 : 0;
    /* Means of up to 8 points, sums of couplings, and of 8 points of these. */
    const double faces = problem->fd.faces != NULL ? pass + 8.0 * problem->eq->dims + 16 : 0;
    if (problem->stages > 1) return 3 * (faces + pass);
    return faces + (problem->layers != NULL ? 2 * pass + 10 * problem->eq->dims : pass) + losses;
}

/* ---- the start ---- */

/* What a fluid cannot have stays there for ever and drives the other group: stress in it is
 * -p times 1. Of each field the largest value, and the largest part of one that is not in the range
 * of C, with its node. */
struct range {
    const struct ht_plan *plan;
    struct ht_pair_stepper *s;
    double *medium; /* [coefficient][node] of planes; NULL: no fluid anywhere */
    int64_t part;
    double most[HT_MAX_FIELDS], rest[HT_MAX_FIELDS];
    int64_t node[HT_MAX_FIELDS];
};

/* Of fields that C couples, or of one, at a node of planes that begin at node `first`. */
static void find_rest(struct range *r, unsigned fields, const double *values, int64_t node,
                      int64_t first) {
    double c[HT_MAX_FIELDS][HT_MAX_FIELDS], left[HT_MAX_FIELDS][HT_MAX_FIELDS];
    double x[HT_MAX_FIELDS], y[HT_MAX_FIELDS];
    int number[HT_MAX_FIELDS];
    bool any = false;
    HT_EACH_BIT(f, fields) any = any || values[f * r->part + node] != 0;
    if (!any) return;
    const int count = ht_pair_block(&r->s->pair, fields, r->medium + node, r->part, number, c);
    HT_EACH_BIT(f, fields) {
        x[number[f]] = values[f * r->part + node];
        r->most[f] = fmax(r->most[f], fabs(x[number[f]]));
    }
    memcpy(left, c, sizeof left);
    ht_pair_invert(count, left, x, y);
    HT_EACH_BIT(f, fields) {
        double rest = values[f * r->part + node];
        for (int j = 0; j < count; j++) rest -= c[number[f]][j] * y[j];
        if (fabs(rest) <= r->rest[f]) continue;
        r->rest[f] = fabs(rest);
        r->node[f] = first + node;
    }
}

/* Fields of one parity on planes from `first` on. */
static HT_ERR look_at_range(struct range *r, unsigned fields, int64_t first, int64_t last,
                            const double *values) {
    const struct ht_pair *pair = &r->s->pair;
    const int64_t plane = ht_grid_plane(&r->plan->grid, HT_PRIMARY);
    r->part = plane * (last - first);
    if (r->medium == NULL) return HT_OK;
    for (int c = 0; c < pair->nown; c++) {
        if (!(fields >> pair->coefficient[c].row & 1u)) continue;
        TRY(ht_pair_fill(r->s, c, first, last, r->medium + c * r->part));
    }
    HT_EACH_BIT(f, fields) {
        const unsigned together = r->s->coupled >> f & 1u ? r->s->coupled & fields : 1u << f;
        if ((together & ((1u << f) - 1)) != 0) continue; /* with a lower one */
        for (int64_t n = 0; n < r->part; n++) find_rest(r, together, values, n, first * plane);
    }
    return HT_OK;
}

/* Refuses more than what tails of data leave. Collective. */
static HT_ERR judge_range(struct range *r, const char *key) {
    const struct ht_grid *grid = &r->plan->grid;
    const double tail = 1e-6;
    TRY(ht_comm_max(grid->slab.comm, HT_MAX_FIELDS, r->most));
    for (int f = 0; f < r->s->pair.nfields; f++) {
        double x[3];
        if (!(r->rest[f] > tail * r->most[f])) continue;
        ht_grid_position(grid, HT_PRIMARY, r->node[f], x);
        return ht_params_error(r->plan->params, key,
                               "%s at %s is none that the fluid there can have, which is a "
                               "pressure: the same normal stresses, and no shear stress",
                               r->plan->eq.field[f].name, HT_PLACED(grid, x));
    }
    return HT_OK;
}

static HT_ERR put_fields(const struct ht_plan *plan, const struct ht_places *places,
                         unsigned fields, struct range *range) {
    struct ht_pair_stepper *s = range->s;
    const int64_t plane = ht_grid_plane(&plan->grid, HT_PRIMARY);
    const int64_t block = ht_fd_block_planes(&plan->grid);
    const struct ht_range own = ht_grid_own(&plan->grid, HT_PRIMARY);
    HT_ARRAY(double, values, (block * plane * plan->eq.nfields));
    if (plan->problem.fd.fluid) TRY(HT_ALLOC(range->medium, block * plane * s->pair.nown));
    for (int64_t m = own.first; m < own.last; m += block)
        for (int i = 0; i < places->count; i++) {
            const int64_t last = ht_least(m + block, own.last), part = plane * (last - m);
            const unsigned mine = places->place[i].fields & fields;
            if (mine == 0) continue;
            TRY(ht_solution_fill(places->place[i].solution, HT_PRIMARY, 0, m, last, values));
            TRY(look_at_range(range, mine, m, last, values));
            TRY(ht_pair_surface_meet(s, mine, m, last, values));
            ht_plan_multiply(plan, false, part * plan->eq.nfields, values);
            HT_EACH_BIT(f, mine)
                TRY(ht_fd_move_planes(&s->fd, s->on.field[f], m, last, values + f * part, NULL));
        }
    return HT_OK;
}

/* Values of some fields at their places. */
static HT_ERR put_data(const struct ht_plan *plan, const struct ht_places *places,
                       struct ht_pair_stepper *s, unsigned fields) {
    struct range range = {.plan = plan, .s = s};
    enum ht_err err = ht_comm_agree(plan->grid.slab.comm, put_fields(plan, places, fields, &range));
    if (err == HT_OK) err = judge_range(&range, "initial");
    free(range.medium);
    for (int group = 0; group < 2; group++)
        if (s->pair.group[group] & fields) ht_halo_overwritten(&s->fd.r.state, group);
    return ht_comm_agree(plan->grid.slab.comm, err);
}

/* What a shot adds to its fields, plane by plane. */
static HT_ERR look_at_shot(struct range *r, int index, unsigned fields) {
    const struct ht_shots *shots = r->plan->problem.shots;
    const struct ht_shot *shot = &shots->shot[index];
    struct ht_point point[HT_MAX_DRIVES] = {{.count = 0}};
    enum ht_err err = HT_OK;
    HT_ARRAY(double, values, r->part * r->plan->eq.nfields);
    HT_ARRAY(double, medium, r->part * r->s->pair.ncoefficients);
    r->medium = medium;
    for (int d = 0; err == HT_OK && d < shot->drives; d++) {
        const struct ht_grid grid =
            ht_grid_places(&r->plan->grid, r->s->pair.parity[shot->drive[d].field]);
        err = ht_shot_spread_drive(shots, index, d, &grid, NULL, &point[d]);
    }
    const struct ht_range own = ht_grid_own(&r->plan->grid, HT_PRIMARY);
    const int64_t row = ht_grid_nodes(&r->plan->grid, HT_PRIMARY, 0);
    for (int64_t m = own.first; err == HT_OK && m < own.last; m++) {
        bool any = false;
        memset(values, 0, (size_t)(r->part * r->plan->eq.nfields) * sizeof *values);
        for (int d = 0; d < shot->drives; d++)
            HT_EACH(const struct ht_point_node, node, point[d].node, point[d].count) {
                if (node->m[2] != m) continue;
                any = true;
                values[shot->drive[d].field * r->part + node->m[1] * row + node->m[0]] =
                    node->weight;
            }
        if (any) err = look_at_range(r, fields, m, m + 1, values);
    }
    for (int d = 0; d < shot->drives; d++) ht_point_free(&point[d]);
    return err;
}

/* What moment tensors add to stress must be in the range; a pressure always is. Collective. */
static HT_ERR check_shot(const struct ht_plan *plan, struct ht_pair_stepper *s, int index) {
    const struct ht_shot *shot = &plan->problem.shots->shot[index];
    struct range r = {.plan = plan, .s = s, .part = ht_grid_plane(&plan->grid, HT_PRIMARY)};
    unsigned driven = 0;
    bool pressure = true;
    for (int d = 0; d < shot->drives; d++) {
        if (shot->drive[d].material >= 0) return HT_OK;
        driven |= 1u << shot->drive[d].field;
        pressure = pressure && shot->drive[d].weight == shot->drive[0].weight;
    }
    if (pressure && driven == s->coupled) return HT_OK;
    if (driven & s->coupled) driven |= s->coupled;
    TRY(ht_comm_agree(plan->grid.slab.comm, look_at_shot(&r, index, driven)));
    return judge_range(&r, HT_KEY("sources.%d.%s", shot->group, shot->kind->takes));
}

/* a(-dt/2) = a - dt/2 A (b - dt/4 B a), which of a wave of the scheme is exact but for (omega
 * dt)^4/128; with two terms in time a - dt/2 A Q (b - dt/4 B (a - dt^2/48 A B a)), Q = 1 + dt^2/24
 * B A, but for (omega dt)^8/98304. b is put again, since it has changed. */
enum ht_err ht_staggered_start(const struct ht_plan *plan, HT_UNUSED struct ht_device *device,
                               HT_UNUSED const struct ht_tuning *tuning,
                               const struct ht_stepper *stepper) {
    struct ht_pair_stepper *s = ht_pair_stepper_of(stepper);
    HT_ENDED(ht_places_end) struct ht_places places = {0};
    TRY(ht_fd_rest(&s->fd));
    for (int i = 0;
         plan->problem.fd.fluid && plan->problem.shots != NULL && i < plan->problem.shots->count;
         i++)
        TRY(check_shot(plan, s, i));
    if (plan->solution->rest) return HT_OK;
    TRY(ht_places_find(plan, &places));
    TRY(put_data(plan, &places, s, ~0u));
    TRY(ht_fd_run_sequence(&s->fd, HT_FD_BEGIN));
    return put_data(plan, &places, s, s->pair.group[1]);
}

/* ---- energy ---- */

/* Sums over the places of a field: along axes with walls those between nodes are one less, and
 * walls halve only nodes. Over the field's own coefficient, but of coupled ones. */
static HT_ERR total(struct ht_pair_stepper *s, const struct ht_fd_part *part, int f,
                    struct ht_buffer *x, struct ht_buffer *y, struct ht_measure *out) {
    const struct ht_grid *grid = s->fd.problem.grid;
    struct ht_fd_part own = *part;
    int c = -1;
    for (int t = 0; t < s->pair.nterms && !(s->coupled >> f & 1u); t++)
        if (s->pair.term[t].row == f) c = s->pair.term[t].coefficient;
    ht_pair_surface_weigh(s, f, &own.ends);
    for (int k = 0; k < grid->dims; k++) {
        if (!(s->pair.parity[f] >> k & 1u) || ht_grid_periodic(grid, k)) continue;
        if (own.ends.half[k][1]) own.box.end[k]--;
        for (int side = 0; side < 2; side++)
            if (own.ends.half[k][side] == 1) own.ends.half[k][side] = 0;
    }
    const bool varies = c >= 0 && !(s->constant >> c & 1u);
    s->fd.law.a = varies ? s->on.coefficient[c] : NULL;
    TRY(ht_fd_total(&s->fd, &own, x, y, out));
    if (c >= 0 && !varies && out->sum != 0) out->sum /= s->on.number[c]; /* 0: a fluid's shear */
    return HT_OK;
}

/* By what x is multiplied: C^-1 x, or x of a field that is not coupled. */
static struct ht_buffer *partner_of(const struct ht_pair_stepper *s, int f, struct ht_buffer *x) {
    return s->coupled >> f & 1u ? s->on.solved[f] : x;
}

/* <x, C^-1 x> of a field, or of what the medium remembers of it; in each layer, too. */
static HT_ERR add_squares(struct ht_pair_stepper *s, int f, struct ht_buffer *x, double *squares,
                          struct ht_measure *sums, struct ht_state *out) {
    const struct ht_fd_part all = {s->fd.box, s->fd.ends};
    struct ht_fd_part layer;
    struct ht_measure part;
    TRY(total(s, &all, f, x, partner_of(s, f, x), sums));
    *squares += sums->sum;
    for (int n = 0; n < 6; n++) {
        if (!ht_fd_part_layer(&s->fd, n, &layer)) continue;
        TRY(total(s, &layer, f, x, partner_of(s, f, x), &part));
        out->layer[n / 2][n % 2] += part.sum;
    }
    return HT_OK;
}

/* What a field has: <f, C^-1 f>, of group 1 <f, D^-1 f> - <f, D^-1 rate>, the rate outside of
 * layers, where it is that of the steps. squares: the first. */
static HT_ERR add_field(struct ht_pair_stepper *s, int f, double time, double *energy,
                        double *squares, struct ht_state *out) {
    const struct ht_fd_part open = ht_fd_part_open(&s->fd);
    struct ht_measure sums, rates = {.sum = 0};
    TRY(add_squares(s, f, s->on.field[f], squares, &sums, out));
    if (sums.bad > 0) return ht_fd_not_finite(&s->fd, f, time, &sums);
    if (s->pair.group[1] >> f & 1u)
        TRY(total(s, &open, f, s->on.rate[f], partner_of(s, f, s->on.field[f]), &rates));
    *energy += sums.sum - rates.sum;
    out->largest[f] = sums.largest;
    return HT_OK;
}

/* C^+ of the coupled fields of a group. */
static HT_ERR solve(struct ht_pair_stepper *s, int group) {
    const struct ht_pair_task task = {
        .s = s, .work = HT_PAIR_SOLVE, .group = group, .box = s->fd.box};
    return s->fd.engine.ops->pair(&s->fd.engine, &task);
}

/* What the medium remembers of a field has the energy of one like it. */
static HT_ERR add_partners(struct ht_pair_stepper *s, int group, double *energy, double *squares,
                           struct ht_state *out) {
    struct ht_pair_stepper other = *s; /* with partners in the place of coupled fields */
    bool coupled = false;
    for (int i = 0; i < s->pair.npartners; i++)
        if ((s->pair.group[group] & s->coupled) >> s->pair.owner[i] & 1u) {
            other.on.field[s->pair.owner[i]] = s->on.partner[i];
            coupled = true;
        }
    if (coupled) TRY(solve(&other, group));
    for (int i = 0; i < s->pair.npartners; i++) {
        struct ht_measure sums;
        if (!(s->pair.group[group] >> s->pair.owner[i] & 1u)) continue;
        TRY(add_squares(s, s->pair.owner[i], s->on.partner[i], squares, &sums, out));
        *energy += sums.sum;
    }
    return HT_OK;
}

/* The largest value needs no quotient; of coupled fields the values themselves are looked at. What
 * couplings at oblique faces hold is left out: the energy is at most 1 + eps times the whole one
 * (pair_faces.c), which stays. */
HT_ERR ht_pair_find_energy(struct ht_pair_stepper *s, double time, struct ht_state *out) {
    double energy = 0, squares = 0, half = 0.5 * ht_grid_volume(s->fd.problem.grid);
    TRY(ht_fd_run_sequence(&s->fd, HT_FD_MEASURE));
    for (int group = 1; group >= 0; group--) {
        if (s->pair.group[group] & s->coupled) TRY(solve(s, group));
        HT_EACH_BIT(f, s->pair.group[group]) TRY(add_field(s, f, time, &energy, &squares, out));
        TRY(add_partners(s, group, &energy, &squares, out));
    }
    out->energy = out->content = half * energy;
    out->held = half * squares;
    for (int n = 0; n < 6; n++) out->layer[n / 2][n % 2] *= half;
    return HT_OK;
}

/* Energies round by some units of the squares. */
enum ht_err ht_staggered_state_measure(HT_UNUSED const struct ht_plan *plan,
                                       const struct ht_stepper *stepper, double time,
                                       struct ht_state *out) {
    struct ht_pair_stepper *s = ht_pair_stepper_of(stepper);
    *out = (struct ht_state){.energy = 0};
    TRY(ht_pair_find_energy(s, time, out));
    out->rounding = 16 * (s->fd.engine.spec.fp64 ? DBL_EPSILON : FLT_EPSILON) * out->held;
    return HT_OK;
}
