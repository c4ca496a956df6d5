/* Free sides of pairs: s_nn = 0 and s_nt = 0 on a plane of nodes (docs/developers/differences.md).
 * Differences along its normal end there by closures (struct ht_fd_closure). On the nodes of the
 * plane, which hold s_nn, the other stresses change by C - C_.n C_n./C_nn, where two free sides
 * meet by what is left of that for the second. */
#include "fd.h"
#include "tool_args.h"

int64_t ht_pair_surface(const struct ht_grid *grid, int axis, int side) {
    if (!ht_grid_closed(grid, axis, side)) return side ? HT_PAIR_FAR : -HT_PAIR_FAR;
    return side * grid->cells[axis];
}

void ht_pair_surface_plan(struct ht_pair_stepper *s) {
    const struct ht_grid *grid = s->fd.problem.grid;
    for (int n = 0; n < 6; n++)
        s->on.wall[n / 2][n % 2] = ht_pair_surface(grid, n / 2, n % 2) -
                                   s->fd.r.partition.window[HT_PRIMARY].origin[n / 2];
    for (int group = 0; group < 2 && ht_grid_closes(grid); group++)
        s->closure[group] =
            ht_fd_closure(s->fd.problem.fd.order, group == ht_pair_stresses(&s->pair));
}

void ht_pair_surface_weigh(const struct ht_pair_stepper *s, int field, struct ht_fd_ends *ends) {
    const struct ht_grid *grid = s->fd.problem.grid;
    const struct ht_fd_closure *closure = &s->closure[0];
    if (!ht_grid_closes(grid)) return;
    ends->weights = closure->weight[0];
    ends->count = 2 * HT_FD_CLOSED;
    for (int n = 0; n < 2 * grid->dims; n++) {
        const int k = n / 2, half = s->pair.parity[field] >> k & 1u;
        if (ends->half[k][n % 2] == 0 || !ht_grid_closed(grid, k, n % 2)) continue;
        ends->half[k][n % 2] = HT_SUM_ENDS * half * HT_FD_CLOSED + closure->nodes - half;
    }
}

unsigned ht_pair_surface_at(const struct ht_pair_stepper *s, const int64_t m[3]) {
    unsigned sides = 0;
    for (int k = 0; k < 3; k++)
        if (m[k] == s->on.wall[k][0] || m[k] == s->on.wall[k][1]) sides |= 1u << k;
    return sides;
}

int ht_pair_block(const struct ht_pair *pair, unsigned fields, const double *coefficient,
                  int64_t apart, int number[HT_MAX_FIELDS],
                  double c[HT_MAX_FIELDS][HT_MAX_FIELDS]) {
    int count = 0;
    memset(c, 0, HT_MAX_FIELDS * sizeof *c);
    HT_EACH_BIT(f, fields) number[f] = count++;
    for (const struct ht_pair_term *t = pair->term; t < pair->term + pair->nterms; t++)
        if (fields >> t->row & 1u)
            c[number[t->row]][number[t->partner]] = coefficient[t->coefficient * apart];
    return count;
}

void ht_pair_surface_release(const struct ht_pair_stepper *s, unsigned sides, bool absolute,
                             const double *coefficient, double *change) {
    const struct ht_pair *pair = &s->pair;
    const unsigned coupled = s->coupled & pair->group[ht_pair_stresses(pair)];
    double c[HT_MAX_FIELDS][HT_MAX_FIELDS], x[HT_MAX_FIELDS];
    int number[HT_MAX_FIELDS];
    unsigned fixed = 0;
    const int count = ht_pair_block(pair, coupled, coefficient, 1, number, c);
    HT_EACH_BIT(f, coupled) x[number[f]] = change[f];
    for (int k = 0; k < pair->dims && coupled != 0; k++)
        if (sides >> k & 1u) fixed |= 1u << number[ht_pair_normal(pair, k)];
    ht_pair_release(count, fixed, absolute, c, x);
    HT_EACH_BIT(f, coupled) change[f] = x[number[f]];
    HT_EACH_BIT(k, sides) change[ht_pair_normal(pair, k)] = 0;
}

/* ---- data ---- */

/* Bit k: a value at node m of the grid lies beyond a free side of axis k; on it. */
static unsigned find_sides(const struct ht_pair_stepper *s, unsigned parity, const int64_t m[3],
                           bool beyond) {
    const struct ht_grid *grid = s->fd.problem.grid;
    unsigned sides = 0;
    for (int k = 0; k < grid->dims; k++) {
        const bool last = m[k] == ht_pair_surface(grid, k, 1);
        const bool first = m[k] == ht_pair_surface(grid, k, 0);
        const bool half = parity >> k & 1u;
        if (beyond ? half && last : !half && (first || last)) sides |= 1u << k;
    }
    return sides;
}

unsigned ht_pair_surface_on(const struct ht_pair_stepper *s, unsigned parity, const int64_t m[3]) {
    return parity == 0 ? find_sides(s, 0, m, false) : 0;
}

HT_ERR ht_pair_fill(const struct ht_pair_stepper *s, int c, int64_t first, int64_t last,
                    double *out) {
    const struct ht_problem *problem = &s->fd.problem;
    const int64_t nodes = (last - first) * ht_grid_plane(problem->grid, HT_PRIMARY);
    if (!(s->constant >> c & 1u)) return problem->fd.fill(problem->fd.medium, c, first, last, out);
    for (int64_t n = 0; n < nodes; n++) out[n] = s->on.number[c];
    return HT_OK;
}

HT_ERR ht_pair_read(const struct ht_pair_stepper *s, unsigned parity, int64_t first, int64_t last,
                    double *out) {
    const int64_t part = (last - first) * ht_grid_plane(s->fd.problem.grid, HT_PRIMARY);
    for (int c = 0; c < s->pair.ncoefficients; c++) {
        if (s->pair.coefficient[c].parity != parity) continue;
        TRY(ht_pair_fill(s, c, first, last, out + c * part));
    }
    return HT_OK;
}

unsigned ht_pair_takers(const struct ht_pair_stepper *s, int from, bool own) {
    const bool together = s->coupled >> from & 1u && (own || ht_grid_closes(s->fd.problem.grid));
    return together ? s->coupled & s->pair.group[s->pair.group[1] >> from & 1u] : 1u << from;
}

void ht_pair_shares(const struct ht_pair_stepper *s, const int64_t m[3], int from, bool own,
                    const double *coefficient, double out[HT_MAX_FIELDS]) {
    const int64_t n1 = ht_grid_nodes(s->fd.problem.grid, HT_PRIMARY, 0);
    const int64_t plane = ht_grid_plane(s->fd.problem.grid, HT_PRIMARY);
    const unsigned parity = s->pair.parity[from], on = ht_pair_surface_on(s, parity, m);
    double c[HT_MAX_TERMS] = {0};
    for (int i = 0; i < s->pair.ncoefficients; i++)
        if (s->pair.coefficient[i].parity == parity)
            c[i] = coefficient[i * plane + m[1] * n1 + m[0]];
    memset(out, 0, HT_MAX_FIELDS * sizeof *out);
    out[from] = 1;
    for (const struct ht_pair_term *t = s->pair.term; own && t < s->pair.term + s->pair.nterms; t++)
        if (t->partner == from) out[t->row] = c[t->coefficient];
    if (on != 0) ht_pair_surface_release(s, on, false, c, out);
}

HT_ERR ht_pair_surface_meet(const struct ht_pair_stepper *s, unsigned fields, int64_t first,
                            int64_t last, double *values) {
    const struct ht_grid *grid = s->fd.problem.grid;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0), n2 = ht_grid_nodes(grid, HT_PRIMARY, 1);
    const int64_t part = (last - first) * n1 * n2;
    if (!ht_grid_closes(grid)) return HT_OK;
    HT_ARRAY(double, medium, part * s->pair.ncoefficients);
    TRY(ht_pair_read(s, 0, first, last, medium));
    for (int64_t n = 0; n < part; n++) {
        const int64_t m[3] = {n % n1, n / n1 % n2, first + n / (n1 * n2)};
        const unsigned on = find_sides(s, 0, m, false);
        double x[HT_MAX_FIELDS] = {0}, c[HT_MAX_TERMS];
        HT_EACH_BIT(f, fields) {
            x[f] = find_sides(s, s->pair.parity[f], m, true) ? 0 : values[f * part + n];
        }
        for (int i = 0; i < s->pair.ncoefficients; i++) c[i] = medium[i * part + n];
        if (on != 0) ht_pair_surface_release(s, on, false, c, x);
        HT_EACH_BIT(f, fields) values[f * part + n] = x[f];
    }
    return HT_OK;
}
