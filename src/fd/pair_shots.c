/* Sources of pairs of groups of fields: f_t = .. + M weight s(t) delta(x - x0) of a field f, M its
 * own coefficient at its place or 1 (struct ht_drive). The delta has the weights of reading points
 * at the places of the field, over the cell's volume. Plane waves from outside are added to the
 * terms of f whose differences cross the surface of their box. */
#include "fd.h"
#include "src/solve/sampler_private.h"

struct making {
    struct ht_pair_stepper *s;
    const struct ht_pair_driven *by;
    int field;
    struct ht_fd_injection *in;
    struct ht_grid grid; /* at the places of what drives it, */
    int from;            /* this field */
    bool *wanted;        /* [plane of the grid] */
    double *medium;      /* coefficients at these places of one plane, [coefficient][node] */
    int64_t plane;       /* this one; -1: none */
    struct ht_columns *all;
};

/* Where walls end an axis the last value between nodes is the image of the one before, and takes
 * what that takes: bits of `which` are axes along which the entry is for the image. False: there is
 * none. */
static bool find_image(const struct making *m, unsigned which, const int64_t from[3], int64_t to[3],
                       double *sign) {
    const unsigned parity = m->s->pair.parity[m->field];
    memcpy(to, from, 3 * sizeof *to);
    *sign = 1;
    HT_EACH_BIT(k, which) {
        const int64_t last = ht_grid_nodes(&m->grid, HT_PRIMARY, k) - 1;
        if (!(parity >> k & 1u) || ht_grid_periodic(&m->grid, k) || from[k] != last - 1)
            return false;
        if (m->grid.wall[k][1] == HT_WALL_FREE) return false;
        to[k] = last;
        *sign *= -m->grid.wall[k][1];
    }
    return true;
}

/* What the field takes at a node, and its images. */
static enum ht_err add_entries(struct making *m, int column, const int64_t node[3], double weight) {
    const int64_t row = ht_grid_nodes(&m->grid, HT_PRIMARY, 0);
    const int64_t plane = ht_grid_plane(&m->grid, HT_PRIMARY);
    for (unsigned which = 0; which < 1u << m->grid.dims && weight != 0; which++) {
        int64_t at[3];
        double sign;
        if (!find_image(m, which, node, at, &sign) || !m->wanted[at[2]]) continue;
        TRY(ht_columns_add(m->all,
                           (struct ht_column_entry){.at = at[2] * plane + at[1] * row + at[0],
                                                    .column = column,
                                                    .weight = sign * weight}));
    }
    return HT_OK;
}

/* What it takes at a node of what drives field `from` there; own: times the medium. */
static enum ht_err add_node(struct making *m, int column, bool own,
                            const struct ht_point_node *node) {
    double share[HT_MAX_FIELDS] = {0};
    share[m->field] = 1;
    if (!m->by->bare && (own || ht_pair_takers(m->s, m->from, own) != 1u << m->from) &&
        m->plane != node->m[2]) {
        m->plane = node->m[2];
        TRY(ht_pair_read(m->s, m->s->pair.parity[m->field], m->plane, m->plane + 1, m->medium));
    }
    if (!m->by->bare) ht_pair_shares(m->s, node->m, m->from, own, m->medium, share);
    return add_entries(m, column, node->m, node->weight * share[m->field]);
}

/* What it takes at other places than these nodes, by couplings at oblique faces. */
static enum ht_err add_coupled(struct making *m, int column, const struct ht_point *point) {
    int64_t low[3], n[3];
    if (point->count == 0) return HT_OK;
    for (int k = 0; k < 3; k++) {
        int64_t most = low[k] = point->node[0].m[k];
        for (int i = 1; i < point->count; i++) {
            low[k] = ht_least(low[k], point->node[i].m[k]);
            most = ht_most(most, point->node[i].m[k]);
        }
        low[k] = k < m->grid.dims ? low[k] - 1 : 0;
        n[k] = k < m->grid.dims ? most + 2 - low[k] : 1;
    }
    HT_ARRAY(double, sum, n[0] * n[1] * n[2]);
    const struct ht_pair_spread spread = {
        m->s->fd.problem.fd.faces, m->s->fd.problem.eq, m->from, m->field, low, n, sum};
    for (int i = 0; i < point->count; i++)
        ht_pair_faces_spread(&spread, point->node[i].m, point->node[i].weight);
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        int64_t at[3] = {low[0] + i % n[0], low[1] + i / n[0] % n[1], low[2] + i / n[0] / n[1]};
        for (int k = 0; k < 3 && sum[i] != 0; k++)
            at[k] = ht_fd_inside(&m->grid, m->s->pair.parity[m->field], k, at[k]);
        TRY(add_entries(m, column, at, sum[i]));
    }
    return HT_OK;
}

/* Whether the field takes what drives the other one at the same place. */
static bool is_beside(const struct making *m) {
    return m->s->pair.parity[m->field] == m->s->pair.parity[m->from];
}

static bool is_own(const struct ht_shot *shot) {
    return shot->drive[0].material >= 0;
}

/* ---- receivers as sources of an adjoint run ---- */

/* On a plane, or, -1, on all. */
static enum ht_err add_reading(struct making *m, int column, int64_t plane) {
    HT_ENDED(ht_point_free) struct ht_point point = {.count = 0};
    const struct ht_trace trace = ht_trace_at(m->by->receivers, column);
    double whole;
    TRY(ht_fd_reading(&m->grid, &trace, plane, &point, &whole));
    if (!is_beside(m)) return add_coupled(m, column, &point);
    for (int i = 0; i < point.count; i++) TRY(add_node(m, column, true, &point.node[i]));
    return HT_OK;
}

/* Of traces of `from`. Plane by plane, each of which is read once. */
static enum ht_err add_readings(struct making *m) {
    const int64_t planes = ht_grid_planes(&m->grid, HT_PRIMARY);
    HT_ARRAY(struct ht_range, near, m->in->columns);
    for (int t = 0; t < m->in->columns; t++) {
        const struct ht_trace trace = ht_trace_at(m->by->receivers, t);
        struct ht_point_axis axis;
        if (trace.reading.field != m->from) continue;
        if (!is_beside(m)) TRY(add_reading(m, t, -1));
        ht_point_axis_read(&m->grid, 2, trace.x[2], trace.reading.slope == 2, &axis);
        if (axis.count > 0 && is_beside(m))
            near[t] = (struct ht_range){axis.node[0], axis.node[axis.count - 1] + 1};
    }
    for (int64_t p = 0; p < planes; p++)
        for (int t = 0; m->wanted[p] && t < m->in->columns; t++)
            if (p >= near[t].first && p < near[t].last) TRY(add_reading(m, t, p));
    return HT_OK;
}

/* ---- plane waves ---- */

/* Whether a field takes differences of another one of which the wave has a table. */
static bool reads(const struct ht_pair_stepper *s, const struct ht_fd_incidence *in, int row,
                  int col) {
    bool found = false;
    for (int t = 0; t < s->pair.nterms && in->table[col] != NULL; t++)
        found = found || (s->pair.term[t].row == row && s->pair.term[t].col == col &&
                          in->surface.closed[s->pair.term[t].axis]);
    return found;
}

/* Columns of a shot for a field. */
static int columns_of(const struct ht_pair_stepper *s, int shot, int row) {
    const struct ht_fd_incidence *in = s->incident[shot];
    int count = in == NULL;
    for (int col = 0; col < s->pair.nfields && in != NULL; col++)
        if (reads(s, in, row, col)) count += in->surface.columns;
    return count;
}

/* Those of one field after those of another. */
static enum ht_err add_wave(struct making *m, int shot) {
    const struct ht_fd_incidence *in = m->s->incident[shot];
    const struct ht_fd_surface *surface = &in->surface;
    int column = m->in->column[shot];
    for (int col = 0; col < m->s->pair.nfields; col++) {
        struct ht_fd_crossing crossing[HT_MAX_TERMS];
        int count = 0;
        if (!reads(m->s, in, m->field, col)) continue;
        for (int t = 0; t < m->s->pair.nterms; t++) {
            const struct ht_pair_term *term = &m->s->pair.term[t];
            const int material = m->s->pair.coefficient[term->coefficient].material;
            if (term->row == m->field && term->col == col)
                crossing[count++] = (struct ht_fd_crossing){
                    term->axis, term->factor / m->grid.h[term->axis] *
                                    (material < 0 ? 1 : surface->material[material])};
        }
        for (int64_t p = 0; p < ht_grid_planes(&m->grid, HT_PRIMARY); p++)
            if (m->wanted[p])
                TRY(ht_fd_incidence_entries(in, m->s->pair.parity[m->field], count, crossing, p,
                                            column, m->all));
        column += surface->columns;
    }
    return HT_OK;
}

/* ---- lists ---- */

/* The fields that take what drives one; own: times the medium. */
static unsigned takers_of(const struct ht_pair_stepper *s, const struct ht_pair_driven *by,
                          int from, bool own) {
    const int group = s->pair.group[1] >> from & 1u;
    unsigned takers = ht_pair_takers(s, from, own);
    if (by->bare) return 1u << from;
    for (int i = 0, c = 0; own && ht_pair_faces_use(s->fd.problem.fd.faces, group) &&
                           i < ht_pair_couplings(&s->pair, group, &c);
         i++) {
        const struct ht_pair_coefficient *of = &s->pair.coefficient[c + i];
        if (of->row == from || of->col == from) takers |= 1u << of->row | 1u << of->col;
    }
    return takers;
}

/* Of a drive of a shot; of plane waves none. */
static unsigned drive_takers(const struct ht_pair_stepper *s, const struct ht_pair_driven *by,
                             const struct ht_shot *shot, int number) {
    if (shot->type->outside != NULL || (is_own(shot) ? by->removes : by->bare)) return 0;
    return takers_of(s, by, shot->drive[number].field, is_own(shot));
}

/* A column for a shot, of a plane wave many, or for a trace. */
static enum ht_err make_columns(const struct making *m) {
    struct ht_fd_injection *in = m->in;
    if (m->by->receivers != NULL) {
        REQUIRE(m->by->receivers->traces < INT32_MAX, HT_ERR_MEMORY,
                "receivers: more than %d traces", INT32_MAX);
        in->columns = (int)m->by->receivers->traces;
        return HT_OK;
    }
    in->shots = m->s->fd.problem.shots;
    TRY(HT_TAKE(&in->pool, in->column, in->shots->count + 1));
    for (int i = 0; i < in->shots->count; i++)
        in->column[i + 1] = in->column[i] + columns_of(m->s, i, m->field);
    in->columns = in->column[in->shots->count];
    return HT_OK;
}

static void set_from(struct making *m, int from) {
    m->from = from;
    for (int k = 0; k < 3; k++) m->grid.shift[k] = m->s->pair.parity[from] >> k & 1u ? 0.5 : 0;
}

static enum ht_err add_drives(struct making *m, int shot) {
    const struct ht_shot *of = &m->in->shots->shot[shot];
    const int column = m->in->column[shot];
    for (int d = 0; d < of->drives; d++) {
        HT_ENDED(ht_point_free) struct ht_point point = {.count = 0};
        if (!(drive_takers(m->s, m->by, of, d) >> m->field & 1u)) continue;
        set_from(m, of->drive[d].field);
        TRY(ht_shot_spread_drive(m->in->shots, shot, d, &m->grid, NULL, &point));
        if (!is_beside(m)) TRY(add_coupled(m, column, &point));
        for (int i = 0; is_beside(m) && i < point.count; i++) {
            if (m->by->removes) point.node[i].weight *= -1;
            TRY(add_node(m, column, is_own(of), &point.node[i]));
        }
    }
    return HT_OK;
}

static enum ht_err make_field(struct ht_pair_stepper *s, const struct ht_pair_driven *by, int field,
                              struct ht_fd_injection **out) {
    HT_ENDED(ht_columns_free) struct ht_columns all = {0};
    struct making m = {
        .s = s, .by = by, .field = field, .grid = *s->fd.problem.grid, .plane = -1, .all = &all};
    int64_t begin, end;
    const int64_t plane = ht_grid_plane(&m.grid, HT_PRIMARY);
    HT_ENDED(ht_pool_free) struct ht_pool pool = {NULL};
    TRY(HT_ALLOC(*out, 1));
    m.in = *out;
    TRY(make_columns(&m));
    const int shots = m.in->shots != NULL ? m.in->shots->count : 0;
    set_from(&m, field);
    TRY(HT_TAKE(&pool, m.wanted, ht_grid_planes(&m.grid, HT_PRIMARY)));
    TRY(HT_TAKE(&pool, m.medium, s->pair.ncoefficients * plane));
    ht_fd_target_planes(&s->fd, &begin, &end, m.wanted);
    for (int from = 0; m.in->shots == NULL && from < s->pair.nfields; from++) {
        set_from(&m, from);
        if (takers_of(s, by, from, true) >> field & 1u) TRY(add_readings(&m));
    }
    for (int i = 0; i < shots; i++)
        if (s->incident[i] != NULL) TRY(add_wave(&m, i));
    for (int i = 0; i < shots; i++) TRY(add_drives(&m, i));
    m.in->dt = s->fd.problem.dt;
    TRY(ht_fd_list_columns(&s->fd, begin, end, m.all, m.in));
    return m.in->shots != NULL && s->fd.problem.fd.undispersed
               ? ht_fd_remove_dispersion(m.in, s->pair.group[1] >> field & 1u)
               : HT_OK;
}

enum ht_err ht_pair_injections_create(struct ht_pair_stepper *s, const struct ht_pair_driven *by,
                                      struct ht_fd_injection *out[HT_MAX_FIELDS]) {
    const struct ht_shots *shots = s->fd.problem.shots;
    unsigned driven = 0;
    for (int64_t t = 0; by->receivers != NULL && t < by->receivers->traces; t++)
        driven |= takers_of(s, by, ht_trace_at(by->receivers, t).reading.field, true);
    for (int i = 0; by->receivers == NULL && i < shots->count; i++) {
        for (int f = 0; s->incident[i] != NULL && f < s->pair.nfields; f++)
            if (columns_of(s, i, f) > 0) driven |= 1u << f;
        for (int d = 0; d < shots->shot[i].drives; d++)
            driven |= drive_takers(s, by, &shots->shot[i], d);
    }
    HT_EACH_BIT(f, driven) TRY(make_field(s, by, f, &out[f]));
    return HT_OK;
}

void ht_pair_injections_destroy(struct ht_fd_injection *list[HT_MAX_FIELDS]) {
    for (int f = 0; f < HT_MAX_FIELDS; f++) {
        ht_fd_injection_destroy(list[f]);
        list[f] = NULL;
    }
}

enum ht_err ht_pair_injection_create(void *self) {
    struct ht_pair_stepper *s = self;
    const struct ht_shots *shots = s->fd.problem.shots;
    const struct ht_pair_driven by = {.receivers = NULL};
    if (shots == NULL || !(s->fd.problem.dt > 0)) return HT_OK;
    TRY(HT_ALLOC(s->incident, shots->count));
    for (int i = 0; i < shots->count; i++)
        if (shots->shot[i].type->outside != NULL)
            TRY(ht_fd_incidence_create(&s->fd.problem, &shots->shot[i], &s->incident[i]));
    return ht_pair_injections_create(s, &by, s->injection);
}

void ht_pair_injection_destroy(void *stepper) {
    struct ht_pair_stepper *s = stepper;
    ht_pair_injections_destroy(s->injection);
    for (int i = 0; s->incident != NULL && i < s->fd.problem.shots->count; i++)
        ht_fd_incidence_destroy(s->incident[i]);
    free(s->incident);
    s->incident = NULL;
}

double ht_pair_amplitude(const struct ht_pair_stepper *s, const struct ht_shot *shot, int field,
                         const struct ht_fd_signal *undispersed, int64_t n) {
    const double later = s->pair.group[1] >> field & 1u ? 0.5 : 0, dt = s->fd.problem.dt;
    if (undispersed == NULL) return dt * ht_shot_at(shot, ((double)n + later) * dt, 0);
    return n < undispersed->count ? dt * undispersed->f[n] : 0;
}

/* What a shot adds in step n, in its columns; share: of it. */
static void fill_row(const struct ht_pair_stepper *s, int field, const struct ht_fd_injection *in,
                     int shot, int64_t n, double share, double *row) {
    const struct ht_fd_incidence *wave = s->incident[shot];
    if (wave == NULL)
        *row = share * ht_pair_amplitude(s, &in->shots->shot[shot], field,
                                         in->undispersed ? &in->undispersed[shot] : NULL, n);
    for (int col = 0; col < s->pair.nfields && wave != NULL; col++)
        if (reads(s, wave, field, col)) {
            ht_fd_incidence_row(wave, col, n, share * s->fd.problem.dt, row);
            row += wave->surface.columns;
        }
}

enum ht_err ht_pair_injections_step(struct ht_pair_stepper *s,
                                    struct ht_fd_injection *const list[HT_MAX_FIELDS]) {
    for (int f = 0; f < s->pair.nfields; f++) {
        struct ht_fd_injection *in = list[f];
        if (in == NULL || (s->fd.at >= in->first && s->fd.at < in->last)) continue;
        in->first = s->fd.at - s->fd.at % in->rows; /* also of steps that are taken backwards */
        in->last = in->first + in->rows;
        const int group = s->pair.group[1] >> f & 1u;
        const double share = ht_pair_loses(&s->pair, group) ? 0.5 : 1; /* is added twice */
        for (int64_t j = 0; j < in->rows; j++) {
            double *row = &in->table[j * in->columns];
            /* Of an adjoint run, group 0 has the opposite sign, and readings of the step after. */
            const int64_t at = in->steps - 1 - in->first - j + (group == 0);
            const bool none = at < 0 || at >= in->steps;
            for (int c = 0; in->shots == NULL && c < in->columns; c++)
                row[c] = none ? 0 : (group ? 1 : -1) * in->factor * in->given[at * in->columns + c];
            for (int i = 0; in->shots != NULL && i < in->shots->count; i++)
                if (in->column[i + 1] > in->column[i])
                    fill_row(s, f, in, i, in->first + j, share, row + in->column[i]);
        }
        TRY(s->fd.engine.ops->amplitudes(&s->fd.engine, in));
    }
    return HT_OK;
}

enum ht_err ht_pair_inject(struct ht_pair_stepper *s,
                           struct ht_fd_injection *const list[HT_MAX_FIELDS], unsigned fields,
                           int64_t begin, int64_t end, struct ht_buffer *const *to) {
    HT_EACH_BIT(f, fields) {
        struct ht_fd_injection *in = list[f];
        if (in == NULL || in->plane[begin] >= in->plane[end]) continue;
        TRY(s->fd.engine.ops->inject(&s->fd.engine, in, in->plane[begin], in->plane[end],
                                     s->fd.at - in->first, to[f], NULL));
    }
    return HT_OK;
}

enum ht_err ht_pair_injection_step(void *self, HT_UNUSED enum ht_subgrid from) {
    struct ht_pair_stepper *s = self;
    return ht_pair_injections_step(s, s->injection);
}
