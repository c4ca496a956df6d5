/* Sources of pairs of groups of fields: f_t = .. + M weight s(t) delta(x - x0) of a field f, M its
 * own coefficient at its place or 1 (struct ht_drive). The delta has the weights of reading points
 * at the places of the field, over the cell's volume. Plane waves from outside are added to the
 * terms of f whose differences cross the surface of their box. */
#include "fd.h"

struct making {
    struct ht_pair_stepper *s;
    int field;
    struct ht_fd_injection *in;
    struct ht_grid grid; /* at the field's places */
    bool *wanted;        /* [plane of the grid] */
    double *medium;      /* of one plane */
    double *surface;     /* coefficients at its nodes, where sides are free */
    struct ht_columns all;
};

/* Where walls end an axis the last value between nodes is the image of the one before, and takes
 * what that takes: bits of `which` are axes along which the entry is for the image. False: there is
 * none. */
static bool find_image(const struct making *m, unsigned which, const int64_t from[3], int64_t to[3],
                       double *sign) {
    memcpy(to, from, 3 * sizeof *to);
    *sign = 1;
    HT_EACH_BIT(k, which) {
        const int64_t last = ht_grid_nodes(&m->grid, HT_PRIMARY, k) - 1;
        if (!(m->grid.shift[k] > 0) || ht_grid_periodic(&m->grid, k) || from[k] != last - 1)
            return false;
        if (m->grid.wall[k][1] == HT_WALL_FREE) return false;
        to[k] = last;
        *sign *= -m->grid.wall[k][1];
    }
    return true;
}

/* The field's coefficient on a plane of the grid. */
static enum ht_err read_medium(struct making *m, int64_t plane) {
    int c = 0;
    for (int t = 0; t < m->s->pair.nterms; t++)
        if (m->s->pair.term[t].row == m->field && m->s->pair.term[t].partner == m->field)
            c = m->s->pair.term[t].coefficient;
    return ht_pair_fill(m->s, c, plane, plane + 1, m->medium);
}

static enum ht_err add_node(struct making *m, int shot, bool own,
                            const struct ht_point_node *node) {
    const int64_t row = ht_grid_nodes(&m->grid, HT_PRIMARY, 0);
    const int64_t plane = ht_grid_plane(&m->grid, HT_PRIMARY);
    for (unsigned which = 0; which < 1u << m->grid.dims; which++) {
        int64_t at[3];
        double sign;
        if (!find_image(m, which, node->m, at, &sign) || !m->wanted[at[2]]) continue;
        const double factor = own ? m->medium[node->m[1] * row + node->m[0]] : 1;
        TRY(ht_columns_add(&m->all,
                           (struct ht_column_entry){.at = at[2] * plane + at[1] * row + at[0],
                                                    .column = m->in->column[shot],
                                                    .weight = sign * factor * node->weight}));
    }
    return HT_OK;
}

static enum ht_err add_drive(struct making *m, int shot, int number) {
    const struct ht_shots *shots = m->in->shots;
    const bool own = shots->shot[shot].drive[number].material >= 0;
    const int from = shots->shot[shot].drive[number].field;
    HT_ENDED(ht_point_free) struct ht_point point = {.count = 0};
    int64_t plane = -1;
    TRY(ht_shot_spread_drive(shots, shot, number, &m->grid, NULL, &point));
    for (int i = 0; i < point.count; i++) {
        struct ht_point_node *node = &point.node[i];
        const bool new = node->m[2] != plane;
        plane = node->m[2];
        if (own && new) TRY(read_medium(m, plane));
        if (m->surface != NULL && new)
            TRY(ht_pair_surface_read(m->s, plane, plane + 1, m->surface));
        node->weight *= ht_pair_surface_share(m->s, node->m, from, m->field, m->surface);
        if (node->weight != 0) TRY(add_node(m, shot, own, node));
    }
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
                                            column, &m->all));
        column += surface->columns;
    }
    return HT_OK;
}

/* ---- lists ---- */

static enum ht_err make_list(struct making *m) {
    struct ht_fd_injection *in = m->in;
    const struct ht_fd_stepper *fd = &m->s->fd;
    int64_t begin, end;
    ht_fd_target_planes(fd, &begin, &end, m->wanted);
    for (int i = 0; i < in->shots->count; i++)
        if (m->s->incident[i] != NULL) TRY(add_wave(m, i));
    for (int i = 0; i < in->shots->count; i++)
        for (int d = 0; d < in->shots->shot[i].drives && m->s->incident[i] == NULL; d++)
            if (ht_pair_surface_shares(m->s, in->shots->shot[i].drive[d].field) >> m->field & 1u)
                TRY(add_drive(m, i, d));
    return ht_fd_list_columns(fd, begin, end, &m->all, in);
}

static enum ht_err make_field(struct ht_pair_stepper *s, int field) {
    const struct ht_shots *shots = s->fd.problem.shots;
    struct making m = {.s = s, .field = field, .grid = *s->fd.problem.grid};
    TRY(HT_ALLOC(s->injection[field], 1));
    m.in = s->injection[field];
    m.in->shots = shots;
    TRY(HT_TAKE(&m.in->pool, m.in->column, shots->count + 1));
    for (int i = 0; i < shots->count; i++)
        m.in->column[i + 1] = m.in->column[i] + columns_of(s, i, field);
    m.in->columns = m.in->column[shots->count];
    for (int k = 0; k < 3; k++) m.grid.shift[k] = s->pair.parity[field] >> k & 1u ? 0.5 : 0;
    HT_ENDED(ht_pool_free) struct ht_pool pool = {NULL};
    TRY(HT_TAKE(&pool, m.wanted, ht_grid_planes(&m.grid, HT_PRIMARY)));
    TRY(HT_TAKE(&pool, m.medium, ht_grid_plane(&m.grid, HT_PRIMARY)));
    if ((m.s->coupled >> field & 1u) && ht_grid_free(&m.grid))
        TRY(HT_TAKE(&pool, m.surface, s->pair.ncoefficients * ht_grid_plane(&m.grid, HT_PRIMARY)));
    enum ht_err err = make_list(&m);
    m.in->dt = s->fd.problem.dt;
    if (err == HT_OK && s->fd.problem.fd.undispersed)
        err = ht_fd_remove_dispersion(m.in, s->pair.group[1] >> field & 1u);
    ht_columns_free(&m.all);
    return err;
}

enum ht_err ht_pair_injection_create(void *self) {
    struct ht_pair_stepper *s = self;
    const struct ht_shots *shots = s->fd.problem.shots;
    unsigned driven = 0;
    if (shots == NULL || !(s->fd.problem.dt > 0)) return HT_OK;
    TRY(HT_ALLOC(s->incident, shots->count));
    for (int i = 0; i < shots->count; i++)
        if (shots->shot[i].type->outside != NULL) {
            TRY(ht_fd_incidence_create(&s->fd.problem, &shots->shot[i], &s->incident[i]));
            for (int f = 0; f < s->pair.nfields; f++)
                if (columns_of(s, i, f) > 0) driven |= 1u << f;
        }
    for (int i = 0; i < shots->count; i++)
        for (int d = 0; d < shots->shot[i].drives && s->incident[i] == NULL; d++)
            driven |= ht_pair_surface_shares(s, shots->shot[i].drive[d].field);
    HT_EACH_BIT(f, driven) TRY(make_field(s, f));
    return HT_OK;
}

void ht_pair_injection_destroy(void *stepper) {
    struct ht_pair_stepper *s = stepper;
    for (int f = 0; f < s->pair.nfields; f++) {
        ht_fd_injection_destroy(s->injection[f]);
        s->injection[f] = NULL;
    }
    for (int i = 0; s->incident != NULL && i < s->fd.problem.shots->count; i++)
        ht_fd_incidence_destroy(s->incident[i]);
    free(s->incident);
    s->incident = NULL;
}

/* What a shot adds in step n, over the time `later`, in its columns. */
static void fill_row(const struct ht_pair_stepper *s, int field, const struct ht_fd_injection *in,
                     int shot, int64_t n, double later, double share, double *row) {
    const struct ht_fd_incidence *wave = s->incident[shot];
    const struct ht_fd_signal *signal = in->undispersed ? &in->undispersed[shot] : NULL;
    const double time = ((double)n + later) * s->fd.problem.dt;
    if (wave == NULL)
        *row = share * (signal == NULL      ? ht_shot_at(&in->shots->shot[shot], time, 0)
                        : n < signal->count ? signal->f[n]
                                            : 0);
    for (int col = 0; col < s->pair.nfields && wave != NULL; col++)
        if (reads(s, wave, field, col)) {
            ht_fd_incidence_row(wave, col, n, share, row);
            row += wave->surface.columns;
        }
}

static void fill_table(const struct ht_pair_stepper *s, int field, struct ht_fd_injection *in) {
    const int group = s->pair.group[1] >> field & 1u, columns = in->columns;
    const double later = group ? 0.5 : 0, dt = s->fd.problem.dt;
    const double share = ht_pair_loses(&s->pair, group) ? dt / 2 : dt; /* is added twice */
    for (int64_t j = 0; j < in->rows; j++)
        for (int i = 0; i < in->shots->count; i++)
            if (in->column[i + 1] > in->column[i])
                fill_row(s, field, in, i, in->first + j, later, share,
                         &in->table[j * columns + in->column[i]]);
}

enum ht_err ht_pair_injection_step(void *self, HT_UNUSED enum ht_subgrid from) {
    struct ht_pair_stepper *s = self;
    for (int f = 0; f < s->pair.nfields; f++) {
        struct ht_fd_injection *in = s->injection[f];
        if (in == NULL) continue;
        if (s->fd.at >= in->first && s->fd.at < in->last) continue;
        in->first = s->fd.at;
        in->last = in->first + in->rows;
        fill_table(s, f, in);
        TRY(s->fd.engine.ops->amplitudes(&s->fd.engine, in));
    }
    return HT_OK;
}
