/* Sources of finite differences (docs/developers/differences.md), and receivers as those of adjoint
 * runs (docs/developers/gradients.md). The delta has the weights of reading points at the places of
 * a field, over the cell's volume; planes beyond the slab take it, too, wherever a pass computes
 * them.
 *
 * Of one field the stage adds g dt^2/12 f(t_n), the update the second difference of F, F'' = f, or
 * dt^2 f_n where dispersion is removed from traces (resampler.c), g the delta times the modulus. Of
 * a pair f_t = .. + M weight s(t) delta(x - x0) of a field f, M its coefficient at its place or 1
 * (struct ht_drive). Plane waves from outside are added to the terms whose differences cross the
 * surface of their box. */
#include "fd.h"
#include "src/solve/sampler_private.h"

/* Most values of a table: there are fewer rows of many columns. */
enum { TABLE = 1 << 22, LEAST_ROWS = 16 };

struct making {
    struct ht_fd_stepper *s;
    const struct ht_pair *pair; /* ONE: of one field */
    const struct ht_fd_driven *by;
    int field;
    struct ht_fd_injection *in;
    struct ht_grid grid;    /* at the places of what drives it, */
    int from;               /* this field */
    bool *wanted;           /* [plane of the grid] in the window */
    double *medium;         /* coefficients at these places of one plane, [coefficient][node] */
    int64_t plane;          /* this one; -1: none */
    struct ht_columns *all; /* on these planes, by nodes of the grid */
};

/* In place of a pair, of a stepper of one field, which is number 0. Its two tables of a plane wave
 * have the same columns, which are in the list once. */
static const struct ht_pair ONE = {.nfields = 1, .ncoefficients = 1, .group = {1, 0}};

static const struct ht_pair *pair_of(const struct ht_fd_stepper *s) {
    return s->problem.fd.pair != HT_PAIR_NONE ? &((const struct ht_pair_stepper *)s)->pair : &ONE;
}

static int group_of(const struct ht_pair *pair, int field) {
    return pair->group[1] >> field & 1u;
}

double ht_fd_weight(const struct ht_grid *grid, const int64_t m[3]) {
    double part = 1;
    for (int k = 0; k < 3; k++) part *= ht_grid_weight(grid, k, m[k]);
    return part;
}

/* ---- nodes ---- */

/* Where walls end an axis the last value between nodes is the image of the one before, and takes
 * what that takes: bits of `which` are axes along which the entry is for the image. False: none. */
static bool find_image(const struct making *m, unsigned which, const int64_t from[3], int64_t to[3],
                       double *sign) {
    const unsigned parity = m->pair->parity[m->field];
    memcpy(to, from, 3 * sizeof *to);
    *sign = 1;
    HT_EACH_BIT(k, which) {
        const int64_t last = ht_grid_nodes(&m->grid, HT_PRIMARY, k) - 1;
        if (!(parity >> k & 1u) || ht_grid_periodic(&m->grid, k) || from[k] != last - 1)
            return false;
        if (ht_grid_closed(&m->grid, k, 1)) return false;
        to[k] = last;
        *sign *= -m->grid.wall[k][1];
    }
    return true;
}

/* What the field takes at a node, and its images. */
static HT_ERR add_entries(struct making *m, int column, const int64_t node[3], double weight) {
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

/* What it takes at a node of what drives `from` there; own: times the medium, one field's later. */
static HT_ERR add_node(struct making *m, int column, bool own, const struct ht_point_node *node) {
    const struct ht_pair_stepper *pair = (const struct ht_pair_stepper *)m->s;
    double share[HT_MAX_FIELDS];
    if (m->pair == &ONE || m->by->bare) return add_entries(m, column, node->m, node->weight);
    if ((own || ht_pair_takers(pair, m->from, own) != 1u << m->from) && m->plane != node->m[2]) {
        m->plane = node->m[2];
        TRY(ht_pair_read(pair, m->pair->parity[m->field], m->plane, m->plane + 1, m->medium));
    }
    ht_pair_shares(pair, node->m, m->from, own, m->medium, share);
    return add_entries(m, column, node->m, node->weight * share[m->field]);
}

/* What it takes at other places than these nodes, by couplings at oblique faces. */
static HT_ERR add_coupled(struct making *m, int column, const struct ht_point *point) {
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
        m->s->problem.fd.faces, m->s->problem.eq, m->from, m->field, low, n, sum};
    for (int i = 0; i < point->count; i++)
        ht_pair_faces_spread(&spread, point->node[i].m, point->node[i].weight);
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        int64_t at[3] = {low[0] + i % n[0], low[1] + i / n[0] % n[1], low[2] + i / n[0] / n[1]};
        for (int k = 0; k < 3 && sum[i] != 0; k++)
            at[k] = ht_fd_inside(&m->grid, m->pair->parity[m->field], k, at[k]);
        TRY(add_entries(m, column, at, sum[i]));
    }
    return HT_OK;
}

/* Whether the field takes what drives the other one at the same place. */
static bool is_beside(const struct making *m) {
    return m->pair->parity[m->field] == m->pair->parity[m->from];
}

static HT_ERR add_point(struct making *m, int column, bool own, const struct ht_point *point) {
    if (!is_beside(m)) return add_coupled(m, column, point);
    for (int i = 0; i < point->count; i++) TRY(add_node(m, column, own, &point->node[i]));
    return HT_OK;
}

static bool is_own(const struct ht_shot *shot) {
    return shot->drive[0].material >= 0;
}

static void set_from(struct making *m, int from) {
    m->from = from;
    m->grid = ht_grid_places(m->s->problem.grid, m->pair->parity[from]);
}

/* ---- receivers as sources of an adjoint run ---- */

/* The nodes of a trace's reading, on a plane or, -1, on all, as a source; *whole: the sum of all
 * weights times the nodes' volumes over that of a cell. */
static HT_ERR find_reading(const struct ht_grid *grid, const struct ht_trace *trace, int64_t plane,
                           struct ht_point *out, double *whole) {
    struct ht_point_axis axis[3];
    *whole = 1 / ht_grid_volume(grid);
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        ht_point_axis_read(grid, k, trace->x[k], trace->reading.slope == k, &axis[k]);
        for (int i = 0; i < axis[k].count; i++) {
            sum += axis[k].weight[i];
            axis[k].weight[i] /= grid->h[k] * ht_grid_weight(grid, k, axis[k].node[i]);
        }
        *whole *= sum;
    }
    TRY(HT_ALLOC(out->node, (int64_t)axis[0].count * axis[1].count * axis[2].count));
    for (int i3 = 0; i3 < axis[2].count; i3++)
        for (int i2 = 0; i2 < axis[1].count && (plane < 0 || axis[2].node[i3] == plane); i2++)
            for (int i1 = 0; i1 < axis[0].count; i1++)
                out->node[out->count++] = (struct ht_point_node){
                    {axis[0].node[i1], axis[1].node[i2], axis[2].node[i3]},
                    axis[2].weight[i3] * axis[1].weight[i2] * axis[0].weight[i1]};
    return HT_OK;
}

/* On a plane, or, -1, on all. */
static HT_ERR add_reading(struct making *m, int column, int64_t plane) {
    HT_ENDED(ht_point_free) struct ht_point point = {.count = 0};
    const struct ht_trace trace = ht_trace_at(m->by->receivers, column);
    double whole;
    TRY(find_reading(&m->grid, &trace, plane, &point, &whole));
    if (m->pair == &ONE) m->in->whole[column] = whole;
    return add_point(m, column, true, &point);
}

/* Of traces of `from`. Where the medium is read plane by plane, each of which is read once. */
static HT_ERR add_readings(struct making *m) {
    const int64_t planes = ht_grid_planes(&m->grid, HT_PRIMARY);
    const bool by_planes = m->pair != &ONE && is_beside(m);
    HT_ARRAY(struct ht_range, near, m->in->columns);
    for (int t = 0; t < m->in->columns; t++) {
        const struct ht_trace trace = ht_trace_at(m->by->receivers, t);
        struct ht_point_axis axis;
        if (m->pair != &ONE && trace.reading.field != m->from) continue;
        if (!by_planes) TRY(add_reading(m, t, -1));
        ht_point_axis_read(&m->grid, 2, trace.x[2], trace.reading.slope == 2, &axis);
        if (axis.count > 0 && by_planes)
            near[t] = (struct ht_range){axis.node[0], axis.node[axis.count - 1] + 1};
    }
    for (int64_t p = 0; p < planes; p++)
        for (int t = 0; m->wanted[p] && t < m->in->columns; t++)
            if (p >= near[t].first && p < near[t].last) TRY(add_reading(m, t, p));
    return HT_OK;
}

/* ---- plane waves ---- */

/* Whether a field takes differences of another one of which the wave has a table. */
static bool reads(const struct ht_pair *pair, const struct ht_fd_incidence *in, int row, int col) {
    bool found = pair == &ONE;
    for (int t = 0; t < pair->nterms && in->table[col] != NULL; t++)
        found = found || (pair->term[t].row == row && pair->term[t].col == col &&
                          in->surface.closed[pair->term[t].axis]);
    return found;
}

static int columns_of(const struct ht_fd_stepper *s, int shot, int row) {
    const struct ht_fd_incidence *in = s->incident[shot];
    const struct ht_pair *pair = pair_of(s);
    int count = in == NULL;
    for (int col = 0; col < pair->nfields && in != NULL; col++)
        if (reads(pair, in, row, col)) count += in->surface.columns;
    return count;
}

/* What of a table the field takes: of one field C u_i, of L along each axis. */
static int find_crossings(const struct making *m, const struct ht_fd_surface *surface, int col,
                          struct ht_fd_crossing *out) {
    int count = 0;
    for (int k = 0; k < m->grid.dims && m->pair == &ONE; k++)
        out[count++] = (struct ht_fd_crossing){k, pow(surface->shot->speed / m->grid.h[k], 2)};
    HT_EACH(const struct ht_pair_term, term, m->pair->term, m->pair->nterms) {
        const int material = m->pair->coefficient[term->coefficient].material;
        if (term->row == m->field && term->col == col)
            out[count++] = (struct ht_fd_crossing){
                term->axis, term->factor / m->grid.h[term->axis] *
                                (material < 0 ? 1 : surface->material[material])};
    }
    return count;
}

/* Those of one table after those of another. */
static HT_ERR add_wave(struct making *m, int shot) {
    const struct ht_fd_incidence *in = m->s->incident[shot];
    const unsigned parity = m->pair->parity[m->field];
    int column = m->in->column[shot];
    for (int col = 0; col < m->pair->nfields; col++) {
        struct ht_fd_crossing crossing[HT_MAX_TERMS];
        if (!reads(m->pair, in, m->field, col)) continue;
        const int count = find_crossings(m, &in->surface, col, crossing);
        for (int64_t p = 0; p < ht_grid_planes(&m->grid, HT_PRIMARY); p++)
            if (m->wanted[p])
                TRY(ht_fd_incidence_entries(in, parity, count, crossing, p, column, m->all));
        column += in->surface.columns;
    }
    return HT_OK;
}

/* ---- the list of the window ---- */

/* The plane of the grid that is plane m3 of the window. */
static int64_t grid_plane(const struct ht_fd_stepper *s, int64_t m3) {
    const struct ht_grid *grid = s->problem.grid;
    const int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    const int64_t m = s->own.first + m3 - s->box.begin[2];
    return grid->dims > 2 && ht_grid_periodic(grid, 2) ? (m % planes + planes) % planes : m;
}

/* The list, weights and table of what nodes of the grid take, at their nodes of these planes. */
static HT_ERR list_columns(const struct making *m, struct ht_range target) {
    const struct ht_fd_stepper *s = m->s;
    struct ht_fd_injection *in = m->in;
    const int columns = in->columns;
    const int64_t n1 = ht_grid_nodes(&m->grid, HT_PRIMARY, 0);
    const int64_t nodes = ht_grid_plane(&m->grid, HT_PRIMARY);
    const int64_t planes = ht_grid_planes(&m->grid, HT_PRIMARY);
    HT_ENDED(ht_columns_free) struct ht_columns window = {.count = 0};
    in->shapes = (struct ht_inject_shapes){.fields = 1, .terms = 1, .coefs = 1, .columns = columns};
    in->rows = ht_least(HT_FD_INJECTION_ROWS, TABLE / ht_most(columns, 1) / 2 * 2);
    in->rows = ht_most(in->rows, LEAST_ROWS);
    TRY(HT_TAKE(&in->pool, in->table, in->rows * columns));
    for (int64_t i = 0; i < m->all->count; i++) {
        struct ht_column_entry entry = m->all->entry[i];
        const int64_t at = entry.at % nodes;
        const int64_t later = entry.at / nodes - grid_plane(s, target.first);
        for (int64_t m3 = target.first + (later + planes) % planes; m3 < target.last;
             m3 += planes) {
            entry.at = m3 * s->box.plane + (at / n1 + s->box.begin[1]) * s->box.row + at % n1 +
                       s->box.begin[0];
            TRY(ht_columns_add(&window, entry));
        }
    }
    return ht_columns_list(&window, s->r.partition.window[HT_PRIMARY].count[2], s->box.plane,
                           &in->pool, &in->list, &in->plane, &in->shapes.value);
}

/* ---- the modulus of one field ---- */

/* Of a plane of the window: its weights get the modulus, and are added to the sums over the grid if
 * it is an own one; wave: columns of plane waves, which have it; sums: [plane of the grid][2]
 * [column], parts of `whole`, and of the square of `size`. */
static HT_ERR weigh_plane(struct making *making, int64_t m3, const bool *wave, double *sums) {
    const struct ht_fd_stepper *s = making->s;
    const struct ht_fd_injection *in = making->in;
    const struct ht_grid *grid = s->problem.grid;
    const int64_t plane = grid_plane(s, m3);
    const int columns = in->columns;
    const double *modulus = making->medium;
    const bool counts = in->shots != NULL && plane >= s->own.first && plane < s->own.last;
    if (in->plane[m3] == in->plane[m3 + 1]) return HT_OK;
    TRY(s->problem.fd.fill(s->problem.fd.medium, 0, plane, plane + 1, making->medium));
    sums += counts ? plane * 2 * columns : 0;
    for (int64_t n = in->plane[m3]; n < in->plane[m3 + 1]; n++) {
        const int64_t at = in->list.at[n] - m3 * s->box.plane;
        const int64_t m[] = {at % s->box.row - s->box.begin[0], at / s->box.row - s->box.begin[1],
                             plane};
        const int64_t node = m[1] * ht_grid_nodes(grid, HT_PRIMARY, 0) + m[0];
        for (int e = in->list.begin[n]; e < in->list.begin[n + 1]; e++) {
            const int column = in->list.column[e];
            double *weight = &in->shapes.value[e];
            if (!wave[column] && s->problem.eq->second_order.rate < 0) *weight *= modulus[node];
            const double part = ht_fd_weight(grid, m) * *weight / modulus[node];
            if (!counts) continue;
            sums[column] += part;
            sums[columns + column] += part * *weight;
        }
    }
    return HT_OK;
}

/* At least |C u| where |u| is at most 1, in the norm of the energy; twice, as the stage adds at
 * most 12 times its twelfth. Faces add up per axis. */
static double size_of(const struct ht_fd_incidence *in, double modulus) {
    const struct ht_fd_surface *s = &in->surface;
    const int reach = s->star.count;
    const double volume = ht_grid_volume(s->grid);
    double sum = 0, all = 1, wide[3];
    for (int k = 0; k < 3 && k < s->grid->dims; k++) {
        const int64_t nodes = (s->upper[k] - s->lower[k]) / 2 + 1;
        wide[k] = (double)nodes;
        all *= wide[k];
    }
    for (int k = 0; k < 3 && k < s->grid->dims; k++) {
        const double face = all / wide[k];
        double square = 0;
        for (int layer = 0; s->closed[k] && layer < reach; layer++) {
            double row = 0;
            for (int j = layer; j < reach; j++) row += fabs(s->star.weight[j]);
            square += 4 * face * row * row; /* two faces of two sides */
        }
        sum += pow(s->shot->speed / s->grid->h[k], 2) * sqrt(square * volume / modulus);
    }
    return 2 * sum;
}

/* Each rank has its planes; added in their order. Collective. */
static HT_ERR share_sums(const struct making *m, double *sum) {
    const struct ht_fd_stepper *s = m->s;
    struct ht_fd_injection *in = m->in;
    const int columns = in->columns;
    const int64_t planes = ht_grid_planes(&m->grid, HT_PRIMARY);
    const double volume = ht_grid_volume(&m->grid);
    TRY(HT_TAKE(&in->pool, in->size, in->shots->count));
    TRY(ht_comm_sum(m->grid.slab.comm, (int)(planes * 2 * columns), sum));
    for (int64_t p = 0; p < planes; p++, sum += 2 * (ptrdiff_t)columns) {
        for (int c = 0; c < columns; c++) in->whole[c] += sum[c];
        for (int i = 0; i < in->shots->count; i++)
            in->size[i] += volume * sum[columns + in->column[i]];
    }
    HT_EACH_BY(i, const struct ht_fd_incidence, wave, s->incident[i], in->shots->count) {
        const int modulus = s->problem.eq->second_order.modulus;
        in->size[i] =
            wave == NULL ? sqrt(in->size[i]) : size_of(wave, wave->surface.material[modulus]);
    }
    return HT_OK;
}

static HT_ERR weigh(struct making *m, struct ht_range target) {
    const struct ht_fd_injection *in = m->in;
    const int shots = in->shots != NULL ? in->shots->count : 0;
    HT_ARRAY(bool, wave, in->columns);
    HT_ARRAY(double, sums,
             (shots > 0 ? ht_grid_planes(&m->grid, HT_PRIMARY) * 2 * in->columns : 0));
    for (int i = 0; i < shots; i++)
        for (int c = in->column[i]; c < in->column[i + 1]; c++) wave[c] = m->s->incident[i] != NULL;
    for (int64_t m3 = target.first; m3 < target.last; m3++) TRY(weigh_plane(m, m3, wave, sums));
    return in->shots != NULL ? share_sums(m, sums) : HT_OK;
}

/* ---- lists ---- */

/* The fields that take what drives one; own: times the medium. */
static unsigned takers_of(const struct ht_fd_stepper *s, const struct ht_fd_driven *by, int from,
                          bool own) {
    const struct ht_pair *pair = pair_of(s);
    const int group = group_of(pair, from);
    if (pair == &ONE) return 1;
    if (by->bare) return 1u << from;
    unsigned takers = ht_pair_takers((const struct ht_pair_stepper *)s, from, own);
    for (int i = 0, c = 0; own && ht_pair_faces_use(s->problem.fd.faces, group) &&
                           i < ht_pair_couplings(pair, group, &c);
         i++) {
        const struct ht_pair_coefficient *of = &pair->coefficient[c + i];
        if (of->row == from || of->col == from) takers |= 1u << of->row | 1u << of->col;
    }
    return takers;
}

/* Of a drive of a shot; of plane waves none. */
static unsigned drive_takers(const struct ht_fd_stepper *s, const struct ht_fd_driven *by,
                             const struct ht_shot *shot, int number) {
    if (shot->type->outside != NULL || (is_own(shot) ? by->removes : by->bare)) return 0;
    return takers_of(s, by, shot->drive[number].field, is_own(shot));
}

/* A column for a shot, of a plane wave many, or for a trace. */
static HT_ERR make_columns(const struct making *m) {
    struct ht_fd_injection *in = m->in;
    if (m->by->receivers != NULL) {
        REQUIRE(m->by->receivers->traces < INT32_MAX, HT_ERR_MEMORY,
                "receivers: more than %d traces", INT32_MAX);
        in->columns = (int)m->by->receivers->traces;
        return HT_OK;
    }
    in->shots = m->s->problem.shots;
    TRY(HT_TAKE(&in->pool, in->column, in->shots->count + 1));
    for (int i = 0; i < in->shots->count; i++)
        in->column[i + 1] = in->column[i] + columns_of(m->s, i, m->field);
    in->columns = in->column[in->shots->count];
    return HT_OK;
}

/* Of one field all drives are one list. */
static HT_ERR add_drives(struct making *m, int shot) {
    const struct ht_shot *of = &m->in->shots->shot[shot];
    for (int d = 0; d < (m->pair != &ONE ? of->drives : 1); d++) {
        HT_ENDED(ht_point_free) struct ht_point point = {.count = 0};
        if (!(drive_takers(m->s, m->by, of, d) >> m->field & 1u)) continue;
        set_from(m, of->drive[d].field);
        TRY(m->pair != &ONE ? ht_shot_spread_drive(m->in->shots, shot, d, &m->grid, NULL, &point)
                            : ht_shot_spread(m->in->shots, shot, m->wanted, &point));
        for (int i = 0; i < point.count && m->by->removes; i++) point.node[i].weight *= -1;
        TRY(add_point(m, m->in->column[shot], is_own(of), &point));
    }
    return HT_OK;
}

HT_ERR ht_fd_find_signal(const struct ht_fd_stepper *s, const struct ht_shot *shot, int field,
                         struct ht_fd_signal *out) {
    const struct ht_pair *pair = pair_of(s);
    return ht_fd_undispersed(shot, pair == &ONE ? ht_shot_order(s->problem.eq, shot) : 0,
                             s->problem.dt, group_of(pair, field), &out->count, &out->f);
}

static HT_ERR make_field(struct ht_fd_stepper *s, const struct ht_fd_driven *by, int field,
                         struct ht_fd_injection **out) {
    HT_ENDED(ht_columns_free) struct ht_columns all = {0};
    struct making m = {.s = s,
                       .pair = pair_of(s),
                       .by = by,
                       .field = field,
                       .grid = *s->problem.grid,
                       .plane = -1,
                       .all = &all};
    /* Planes of the window with targets, own ones and those of neighbours. */
    const struct ht_partition *p = &s->r.partition;
    const struct ht_range target = {p->neighbour[0] ? 0 : s->box.begin[2],
                                    p->neighbour[1] ? p->window[HT_PRIMARY].count[2]
                                                    : s->box.end[2]};
    HT_ENDED(ht_pool_free) struct ht_pool pool = {NULL};
    TRY(HT_ALLOC(*out, 1));
    struct ht_fd_injection *in = m.in = *out;
    TRY(make_columns(&m));
    const int shots = in->shots != NULL ? in->shots->count : 0;
    in->each = m.pair != &ONE ? 1 : 2;
    if (m.pair == &ONE) TRY(HT_TAKE(&in->pool, in->whole, in->columns));
    if (m.pair == &ONE) TRY(HT_TAKE(&in->pool, in->push, HT_FD_INJECTION_ROWS / 2));
    TRY(HT_TAKE(&pool, m.wanted, ht_grid_planes(&m.grid, HT_PRIMARY)));
    TRY(HT_TAKE(&pool, m.medium, m.pair->ncoefficients * ht_grid_plane(&m.grid, HT_PRIMARY)));
    for (int64_t m3 = target.first; m3 < target.last; m3++) m.wanted[grid_plane(s, m3)] = true;
    for (int from = 0; in->shots == NULL && from < m.pair->nfields; from++) {
        set_from(&m, from);
        if (takers_of(s, by, from, true) >> field & 1u) TRY(add_readings(&m));
    }
    set_from(&m, field);
    for (int i = 0; i < shots; i++)
        if (s->incident[i] != NULL) TRY(add_wave(&m, i));
    for (int i = 0; i < shots; i++) TRY(add_drives(&m, i));
    TRY(list_columns(&m, target));
    if (m.pair == &ONE) TRY(weigh(&m, target));
    if (in->shots == NULL || !s->problem.fd.undispersed) return HT_OK;
    TRY(HT_TAKE(&in->pool, in->undispersed, shots));
    in->signals = shots;
    for (int i = 0; i < shots; i++)
        TRY(ht_fd_find_signal(s, &in->shots->shot[i], field, &in->undispersed[i]));
    return HT_OK;
}

HT_ERR ht_fd_injections_create(struct ht_fd_stepper *s, const struct ht_fd_driven *by,
                               struct ht_fd_injection *out[HT_MAX_FIELDS]) {
    const struct ht_shots *shots = s->problem.shots;
    const struct ht_pair *pair = pair_of(s);
    unsigned driven = pair == &ONE;
    for (int64_t t = 0; by->receivers != NULL && t < by->receivers->traces; t++)
        driven |= takers_of(s, by, ht_trace_at(by->receivers, t).reading.field, true);
    for (int i = 0; by->receivers == NULL && i < shots->count; i++) {
        for (int f = 0; s->incident[i] != NULL && f < pair->nfields; f++)
            if (columns_of(s, i, f) > 0) driven |= 1u << f;
        for (int d = 0; d < shots->shot[i].drives; d++)
            driven |= drive_takers(s, by, &shots->shot[i], d);
    }
    HT_EACH_BIT(f, driven) TRY(make_field(s, by, f, &out[f]));
    return HT_OK;
}

void ht_fd_injections_destroy(struct ht_fd_injection *list[HT_MAX_FIELDS]) {
    HT_EACH_BY(f, struct ht_fd_injection, in, list[f], HT_MAX_FIELDS) {
        list[f] = NULL;
        if (in == NULL) continue;
        ht_injected_destroy(in->injected);
        for (int i = 0; i < in->signals; i++) free(in->undispersed[i].f);
        ht_pool_free(&in->pool);
        free(in);
    }
}

HT_ERR ht_fd_sources_create(struct ht_fd_stepper *s) {
    const struct ht_shots *shots = s->problem.shots;
    const struct ht_fd_driven by = {.receivers = NULL};
    if (shots == NULL || !(s->problem.dt > 0)) return HT_OK;
    TRY(HT_ALLOC(s->incident, shots->count));
    for (int i = 0; i < shots->count; i++)
        if (shots->shot[i].type->outside != NULL)
            TRY(ht_fd_incidence_create(&s->problem, &shots->shot[i], &s->incident[i]));
    return ht_fd_injections_create(s, &by, s->injection);
}

void ht_fd_sources_destroy(struct ht_fd_stepper *s) {
    ht_fd_injections_destroy(s->injection);
    for (int i = 0; s->incident != NULL && i < s->problem.shots->count; i++)
        ht_fd_incidence_destroy(s->incident[i]);
    free(s->incident);
    s->incident = NULL;
}

/* ---- amplitudes ---- */

void ht_fd_amplitudes(const struct ht_fd_stepper *s, const struct ht_shot *shot, int field,
                      const struct ht_fd_signal *undispersed, int64_t n, double out[HT_FD_BY]) {
    const bool one = pair_of(s) == &ONE;
    const int order = one ? ht_shot_order(s->problem.eq, shot) : 0;
    const double dt = s->problem.dt, later = group_of(pair_of(s), field) ? 0.5 : 0;
    const double t = ((double)n + later) * dt;
    out[HT_FD_BY_UPDATE] = out[HT_FD_BY_STAGE] = 0;
    if (undispersed != NULL) {
        const double factor = one ? dt * dt : dt;
        if (n >= 0 && n < undispersed->count) out[HT_FD_BY_UPDATE] = factor * undispersed->f[n];
    } else if (!one) {
        out[HT_FD_BY_UPDATE] = dt * ht_shot_at(shot, t, 0);
    } else if (ht_shot_acts(shot, t - dt, t + dt)) {
        out[HT_FD_BY_STAGE] = dt * dt / 12 * ht_shot_at(shot, t, order);
        out[HT_FD_BY_UPDATE] = ht_shot_at(shot, t + dt, order - 2) -
                               2 * ht_shot_at(shot, t, order - 2) +
                               ht_shot_at(shot, t - dt, order - 2);
    }
}

/* What a plane wave adds in step n, in its columns; share: of it. */
static double wave_rows(const struct ht_fd_stepper *s, int field, int shot, int64_t n, double share,
                        double *update, double *stage) {
    const struct ht_pair *pair = pair_of(s);
    const struct ht_fd_incidence *in = s->incident[shot];
    const double dt = s->problem.dt;
    double largest = 0;
    for (int col = 0; pair != &ONE && col < pair->nfields; col++)
        if (reads(pair, in, field, col)) {
            ht_fd_incidence_row(in, col, n, share * dt, update);
            update += in->surface.columns;
        }
    if (pair != &ONE) return 0;
    ht_fd_incidence_row(in, HT_FD_INCIDENT_U, n, dt * dt / 12, stage);
    ht_fd_incidence_row(in, HT_FD_INCIDENT_W, n, dt * dt, update);
    for (int c = 0; c < in->surface.columns; c++)
        largest = fmax(largest, fmax(12 * fabs(stage[c]), fabs(update[c])));
    return largest;
}

/* The rows of a step. Of one field the norm of what it adds is no more than that of the update and,
 * as dt^2 L is at most 12 in it, 12 times that of the stage. */
static double shot_rows(const struct ht_fd_stepper *s, const struct ht_fd_injection *in, int field,
                        int64_t n, double *update, double *stage) {
    const struct ht_pair *pair = pair_of(s);
    const double share = ht_pair_loses(pair, group_of(pair, field)) ? 0.5 : 1; /* is added twice */
    double push = 0;
    for (int i = 0; i < in->shots->count; i++) {
        const int c = in->column[i];
        double out[HT_FD_BY], largest;
        if (c == in->column[i + 1]) continue;
        if (s->incident[i] != NULL) {
            largest = wave_rows(s, field, i, n, share, &update[c], &stage[c]);
        } else {
            ht_fd_amplitudes(s, &in->shots->shot[i], field,
                             in->undispersed != NULL ? &in->undispersed[i] : NULL, n, out);
            update[c] = share * out[HT_FD_BY_UPDATE];
            if (pair == &ONE) stage[c] = out[HT_FD_BY_STAGE];
            largest = fabs(out[HT_FD_BY_UPDATE]) +
                      (s->problem.stages > 1 ? 12 * fabs(out[HT_FD_BY_STAGE]) : 0);
        }
        if (pair == &ONE) push += in->size[i] * largest;
    }
    return push;
}

/* Of an adjoint run, from the last step's values back; nothing counts the norm. Group 0 of a pair
 * has the opposite sign, and readings of the step after. */
static double given_row(const struct ht_fd_injection *in, bool turned, int64_t step, double *row) {
    const int64_t at = in->steps - 1 - step + turned;
    double largest = 0;
    for (int c = 0; c < in->columns; c++) {
        const bool some = at >= 0 && at < in->steps;
        row[c] = some ? (turned ? -1 : 1) * in->factor * in->given[at * in->columns + c] : 0;
        largest = fmax(largest, fabs(row[c]));
    }
    return largest;
}

void ht_fd_injections_step(struct ht_fd_stepper *s,
                           struct ht_fd_injection *const list[HT_MAX_FIELDS]) {
    for (int f = 0; f < HT_MAX_FIELDS; f++) {
        const struct ht_pair *pair = pair_of(s);
        const bool turned = pair != &ONE && group_of(pair, f) == 0;
        struct ht_fd_injection *in = list[f];
        if (in == NULL || (s->at >= in->first && s->at < in->last)) continue;
        in->first = s->at - s->at % (in->rows / in->each); /* also of steps taken backwards */
        in->last = in->first + in->rows / in->each;
        for (int64_t n = in->first; n < in->last; n++) {
            double *row = in->table + (n - in->first) * in->each * in->columns;
            const double push = in->shots != NULL ? shot_rows(s, in, f, n, row, row + in->columns)
                                                  : given_row(in, turned, n, row);
            if (in->push != NULL) in->push[n - in->first] = push;
        }
        in->fresh = true;
    }
}

void ht_fd_injections_give(struct ht_fd_injection *const list[HT_MAX_FIELDS], const double *given,
                           int64_t steps, double factor) {
    HT_EACH_BY(f, struct ht_fd_injection, in, list[f], HT_MAX_FIELDS) {
        if (in == NULL) continue;
        in->given = given;
        in->steps = steps;
        in->factor = factor;
        in->first = in->last = 0;
    }
}

HT_ERR ht_fd_inject(struct ht_fd_stepper *s, struct ht_fd_injection *const list[HT_MAX_FIELDS],
                    unsigned fields, int64_t begin, int64_t end, int row,
                    struct ht_buffer *const *to, struct ht_buffer *also) {
    HT_EACH_BIT(f, fields) {
        struct ht_fd_injection *in = list[f];
        if (in == NULL || in->plane[begin] >= in->plane[end]) continue;
        const int64_t step = s->at - in->first;
        if (in->push != NULL && !(in->push[step] > 0)) continue;
        TRY(s->engine.ops->inject(&s->engine, in, in->plane[begin], in->plane[end],
                                  in->each * step + row, to[f], also));
    }
    return HT_OK;
}
