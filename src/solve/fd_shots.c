/* Sources of finite differences (docs/differences.md). With u_tt = M u +
 * g f(t) and F'' = f a step takes
 *     w = u + dt^2/12 (L u + g f(t_n))                   (two terms)
 *     d = d + dt^2 L w + g (F(t_n+dt) - 2 F(t_n) + F(t_n-dt)),   u = u + d
 * where f is the signal or its derivative, F an integral of it, known in closed
 * form. Where dispersion is removed from traces dt^2 f_n is in the place of the
 * differences of F (fd_dispersion.c). g is the delta spread over nodes, times
 * the modulus there. Planes beyond the slab take it, too, wherever a pass
 * computes them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fd.h"
#include "htwave/shots.h"

/* Steps in the table at a time: one transfer for so many. */
enum { STEPS = 128 };

/* What shot number `column` adds at a node of the grid. */
struct entry {
    int64_t m[3];
    int column;
    double weight;
};

/* ---- all nodes of the grid ---- */

struct entries {
    int64_t count;
    struct entry *entry;
};

static enum ht_err append_shot(const struct ht_shots *shots, int column,
                               struct entries *all) {
    struct ht_point point;
    TRY(ht_shot_spread(shots, column, &point));
    struct entry *more =
        realloc(all->entry,
                (size_t)(all->count + point.count + 1) * sizeof *all->entry);
    if (more != NULL) all->entry = more;
    for (int i = 0; more != NULL && i < point.count; i++) {
        struct entry *entry = &more[all->count++];
        memcpy(entry->m, point.node[i].m, sizeof entry->m);
        entry->column = column;
        entry->weight = point.node[i].weight;
    }
    ht_point_free(&point);
    REQUIRE(more != NULL, HT_ERR_MEMORY, "out of memory for sources");
    return HT_OK;
}

static int compare(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    for (int k = 2; k >= 0; k--)
        if (x->m[k] != y->m[k]) return x->m[k] < y->m[k] ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

static bool same_node(const struct entry *a, const struct entry *b) {
    return memcmp(a->m, b->m, sizeof a->m) == 0;
}

/* ---- the modulus ---- */

static double half_at_walls(const struct ht_grid *grid, const int64_t m[3]) {
    double part = 1;
    for (int k = 0; k < 3 && k < grid->dims; k++)
        for (int side = 0; side < 2; side++) {
            const int64_t end =
                side == 0 ? 0 : ht_grid_nodes(grid, HT_PRIMARY, k) - 1;
            if (m[k] == end && ht_measure_half(grid, HT_PRIMARY, k, side))
                part /= 2;
        }
    return part;
}

/* Weights take the modulus where their law says so; sums over the grid of what
 * they add to d / a. Entries are sorted by planes. */
static enum ht_err scale(const struct ht_fd_stepper *s,
                         const struct entries *all, double *whole) {
    const struct ht_fd_problem *fd = &s->problem.fd;
    const struct ht_grid *grid = s->problem.grid;
    const int64_t row = ht_grid_nodes(grid, HT_PRIMARY, 0);
    double *plane = NULL;
    TRY(HT_ALLOC(plane, ht_grid_plane(grid, HT_PRIMARY)));
    enum ht_err err = HT_OK;
    for (int64_t i = 0; err == HT_OK && i < all->count; i++) {
        struct entry *e = &all->entry[i];
        const enum ht_shot_kind kind = s->problem.shots->shot[e->column].kind;
        if (i == 0 || e->m[2] != e[-1].m[2])
            err = fd->fill(fd->medium, 0, e->m[2], e->m[2] + 1, plane);
        const double modulus = plane[e->m[1] * row + e->m[0]];
        if (ht_shot_law(s->problem.eq, kind)->modulus) e->weight *= modulus;
        whole[e->column] += half_at_walls(grid, e->m) * e->weight / modulus;
    }
    free(plane);
    return err;
}

/* ---- the list of the window ---- */

/* Entries of the grid's plane that is plane m3 of the window: [*from, *to). */
static void find_plane(const struct ht_fd_stepper *s, const struct entries *all,
                       int64_t m3, int64_t *from, int64_t *to) {
    const struct ht_grid *grid = s->problem.grid;
    const int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    int64_t m = s->first + m3 - s->box.begin[2];
    if (grid->dims > 2 && ht_grid_periodic(grid, 2))
        m = (m % planes + planes) % planes;
    for (*from = 0; *from < all->count && all->entry[*from].m[2] < m;) ++*from;
    for (*to = *from; *to < all->count && all->entry[*to].m[2] == m;) ++*to;
}

static void add_entries(const struct ht_fd_stepper *s, int64_t m3,
                        const struct entry *from, int64_t count,
                        struct ht_fd_injected_nodes *list) {
    for (int64_t i = 0; i < count; i++) {
        const int entry = list->begin[list->count];
        if (i == 0 || !same_node(&from[i - 1], &from[i])) {
            list->at[list->count] =
                m3 * s->box.plane +
                (from[i].m[1] + s->box.begin[1]) * s->box.row + from[i].m[0] +
                s->box.begin[0];
            list->begin[++list->count] = entry;
        }
        list->column[entry] = from[i].column;
        list->weight[entry] = from[i].weight;
        list->begin[list->count] = entry + 1;
    }
}

/* Planes with targets: own ones, and those of neighbours. */
static enum ht_err make_list(const struct ht_fd_stepper *s,
                             const struct entries *all,
                             struct ht_fd_injection *in) {
    struct ht_fd_injected_nodes *list = &in->list;
    const bool *neighbour = s->slab.neighbour;
    const int64_t begin = neighbour[0] ? 0 : s->box.begin[2];
    const int64_t end = neighbour[1] ? s->count[2] : s->box.end[2];
    int64_t room = 0, from, to;
    for (int64_t m3 = begin; m3 < end; m3++) {
        find_plane(s, all, m3, &from, &to);
        room += to - from;
    }
    TRY(HT_ALLOC(in->plane, s->count[2] + 1));
    TRY(HT_ALLOC(list->at, room));
    TRY(HT_ALLOC(list->begin, room + 1));
    TRY(HT_ALLOC(list->column, room));
    TRY(HT_ALLOC(list->weight, room));
    for (int64_t m3 = 0; m3 < s->count[2]; m3++) {
        in->plane[m3] = list->count;
        if (m3 < begin || m3 >= end) continue;
        find_plane(s, all, m3, &from, &to);
        if (from < to) add_entries(s, m3, &all->entry[from], to - from, list);
    }
    in->plane[s->count[2]] = list->count;
    return HT_OK;
}

/* ---- making ---- */

static enum ht_err remove_dispersion(struct ht_fd_injection *in) {
    TRY(HT_ALLOC(in->undispersed, in->shots->count));
    for (int i = 0; i < in->shots->count; i++) {
        const struct ht_shot *shot = &in->shots->shot[i];
        TRY(ht_fd_undispersed(shot, ht_shot_law(in->eq, shot->kind)->derivative,
                              in->dt, &in->undispersed[i].count,
                              &in->undispersed[i].f));
    }
    return HT_OK;
}

static enum ht_err make(const struct ht_fd_stepper *s,
                        struct ht_fd_injection *in) {
    struct entries all = {.count = 0};
    enum ht_err err = HT_ALLOC(all.entry, 1);
    in->shots = s->problem.shots;
    in->eq = s->problem.eq;
    in->dt = s->problem.dt;
    in->values = (int64_t)2 * STEPS * in->shots->count;
    for (int i = 0; err == HT_OK && i < in->shots->count; i++)
        err = append_shot(in->shots, i, &all);
    if (err == HT_OK && all.count > 0)
        qsort(all.entry, (size_t)all.count, sizeof *all.entry, compare);
    if (err == HT_OK) err = HT_ALLOC(in->whole, in->shots->count);
    if (err == HT_OK) err = HT_ALLOC(in->table, in->values);
    if (err == HT_OK) err = HT_ALLOC(in->acts, STEPS);
    if (err == HT_OK) err = scale(s, &all, in->whole);
    if (err == HT_OK) err = make_list(s, &all, in);
    free(all.entry);
    if (err == HT_OK && s->problem.fd.undispersed) err = remove_dispersion(in);
    return err;
}

enum ht_err ht_fd_injection_create(const struct ht_fd_stepper *s,
                                   struct ht_fd_injection **out) {
    struct ht_fd_injection *in = NULL;
    *out = NULL;
    if (s->problem.shots == NULL) return HT_OK;
    TRY(HT_ALLOC(in, 1));
    const enum ht_err err = make(s, in);
    if (err != HT_OK) {
        ht_fd_injection_destroy(in);
        return err;
    }
    *out = in;
    return HT_OK;
}

void ht_fd_injection_destroy(struct ht_fd_injection *in) {
    if (in == NULL) return;
    ht_fd_injected_destroy(in->injected);
    free(in->list.at);
    free(in->list.begin);
    free(in->list.column);
    free(in->list.weight);
    free(in->plane);
    for (int i = 0; in->undispersed != NULL && i < in->shots->count; i++)
        free(in->undispersed[i].f);
    free(in->undispersed);
    free(in->whole);
    free(in->table);
    free(in->acts);
    free(in);
}

/* ---- amplitudes ---- */

/* Of the stage and of the update of the step from t; whether there are any. */
static bool amplitudes(const struct ht_fd_injection *in, int column, double t,
                       double *stage, double *update) {
    const struct ht_shot *shot = &in->shots->shot[column];
    const int order = ht_shot_law(in->eq, shot->kind)->derivative;
    const double dt = in->dt;
    *stage = *update = 0;
    if (in->undispersed != NULL) {
        const struct ht_fd_signal *signal = &in->undispersed[column];
        const int64_t n = llround(t / dt);
        if (n < 0 || n >= signal->count) return false;
        *update = dt * dt * signal->f[n];
        return true;
    }
    if (!ht_shot_acts(shot, t - dt, t + dt)) return false;
    *stage = dt * dt / 12 * ht_shot_at(shot, t, order);
    *update = ht_shot_at(shot, t + dt, order - 2) -
              2 * ht_shot_at(shot, t, order - 2) +
              ht_shot_at(shot, t - dt, order - 2);
    return true;
}

static void fill_table(struct ht_fd_injection *in) {
    const int columns = in->shots->count;
    for (int64_t j = 0; j < STEPS; j++) {
        double *row = in->table + 2 * j * columns;
        in->acts[j] = false;
        for (int i = 0; i < columns; i++)
            in->acts[j] |= amplitudes(in, i, (double)(in->first + j) * in->dt,
                                      &row[i], &row[columns + i]);
    }
}

enum ht_err ht_fd_injection_step(struct ht_fd_injection *in,
                                 struct ht_fd_engine *engine, int64_t step,
                                 bool back, double *mean) {
    const int columns = in->shots->count;
    const int64_t inside = step - in->first;
    *mean = 0;
    if (!in->filled || inside < 0 || inside >= STEPS) {
        in->first = back ? step - STEPS + 1 : step;
        in->filled = true;
        fill_table(in);
        TRY(engine->ops->amplitudes(engine, in));
    }
    const double *row = in->table + (2 * (step - in->first) + 1) * columns;
    for (int i = 0; i < columns; i++) *mean += in->whole[i] * row[i];
    return HT_OK;
}

enum ht_err ht_fd_injection_add(struct ht_fd_injection *in,
                                struct ht_fd_engine *engine,
                                enum ht_fd_pass pass, int64_t step,
                                int64_t begin, int64_t end,
                                struct ht_fd_array x, struct ht_fd_array y) {
    const int64_t first = in->plane[begin], last = in->plane[end];
    const int64_t row = 2 * (step - in->first) + (pass == HT_FD_STAGE ? 0 : 1);
    if (first == last || !in->acts[step - in->first]) return HT_OK;
    return engine->ops->inject(engine, in, first, last, row * in->shots->count,
                               pass == HT_FD_INCREMENT ? -1 : 1, x, y);
}
