/* Absorbing layers of finite differences by plain loops in double precision:
 * straight from the formulas of cl/fd_layers.cl.
 */
#include "fd.h"

static const double *profile_of(const struct ht_fd_layers *l,
                                const struct ht_fd_side *side, int row,
                                int64_t depth) {
    return l->profile.host + side->profile + row * side->cells + depth;
}

static int64_t memory_of(const struct ht_fd_side *side, const int64_t m[3]) {
    return side->offset + m[0] * side->pitch[0] + m[1] * side->pitch[1] +
           m[2] * side->pitch[2];
}

static int64_t pitch_of(const struct ht_fd_box *box, int axis) {
    return axis == 0 ? 1 : axis == 1 ? box->row : box->plane;
}

static int64_t number_of(const struct ht_fd_box *box, const int64_t m[3]) {
    return m[2] * box->plane + m[1] * box->row + m[0];
}

#define EACH(box, m)                                                     \
    for ((m)[2] = (box)->begin[2]; (m)[2] < (box)->end[2]; (m)[2]++)     \
        for ((m)[1] = (box)->begin[1]; (m)[1] < (box)->end[1]; (m)[1]++) \
            for ((m)[0] = (box)->begin[0]; (m)[0] < (box)->end[0]; (m)[0]++)

enum ht_err
ht_fd_plain_flux(struct ht_fd_engine *e, const struct ht_fd_box *box,
                 const struct ht_fd_side *side, const struct ht_fd_law *law,
                 const struct ht_fd_layers *l, struct ht_fd_array u) {
    const struct ht_fd_weights w = ht_fd_weights(2 * l->radius);
    const int way = side->side == 0 ? 1 : -1, k = side->axis;
    const int64_t inward = way * pitch_of(box, k);
    int64_t m[3];
    EACH(box, m) {
        const int64_t own = memory_of(side, m);
        int64_t at[3] = {m[0], m[1], m[2]};
        at[k] = side->wall + way * m[k];
        const double *here = u.host + number_of(box, at);
        double slope = 0;
        for (int j = 0; j < l->radius; j++)
            slope += w.first[j] * (here[(j + 1) * inward] - here[-j * inward]);
        double change = *profile_of(l, side, 0, m[k]) * l->v.host[own] +
                        *profile_of(l, side, 1, m[k]) * slope;
        l->v.host[own] += change + slope;
        if (e->spec.density)
            change *=
                law->b[k].host[number_of(box, at) + (way > 0 ? 0 : inward)];
        l->q.host[own] = change;
    }
    return HT_OK;
}

/* q of a half point, odd at the wall. */
static double q_at(const struct ht_fd_layers *l, const struct ht_fd_side *side,
                   const int64_t m[3], int64_t half) {
    int64_t at[3] = {m[0], m[1], m[2]};
    at[side->axis] = half < 0 ? -1 - half : half;
    if (at[side->axis] >= side->cells) return 0;
    return (half < 0 ? -1 : 1) * l->q.host[memory_of(side, at)];
}

/* m: from the wall along the layer's axis; at: number in the window. */
static double correct(struct ht_fd_engine *e, const struct ht_fd_box *box,
                      const struct ht_fd_side *side,
                      const struct ht_fd_law *law, const struct ht_fd_layers *l,
                      const double *u, const int64_t m[3], int64_t at,
                      double *more) {
    const struct ht_fd_weights w = ht_fd_weights(2 * l->radius);
    const int k = side->axis;
    const int64_t depth = m[k];
    double change = 0;
    for (int j = 0; j < l->radius; j++)
        change += w.first[j] * (q_at(l, side, m, depth + j) -
                                q_at(l, side, m, depth - 1 - j));
    change *= law->a.host[at] * law->scale[k];
    if (depth < side->cells) {
        const int64_t own = memory_of(side, m);
        const double e_half = *profile_of(l, side, 2, depth);
        const double before = l->rest.host[own];
        l->flow.host[own] +=
            change + law->a.host[at] * law->scale[k] *
                         ht_fd_plain_axis(e, law, k, u, at, pitch_of(box, k));
        const double after = e_half * before -
                             *profile_of(l, side, 4, depth) * l->flow.host[own];
        l->rest.host[own] = e_half * after;
        *more += *profile_of(l, side, 3, depth) * (before + after);
    }
    return change;
}

enum ht_err ht_fd_plain_correct(struct ht_fd_engine *e, enum ht_step_part part,
                                const struct ht_fd_box *box,
                                const struct ht_fd_side *side,
                                const struct ht_fd_law *law,
                                const struct ht_fd_layers *l,
                                struct ht_fd_array u, struct ht_fd_array d,
                                struct ht_fd_array out) {
    const int way = side->side == 0 ? 1 : -1, k = side->axis;
    int64_t m[3];
    (void)part;
    EACH(box, m) {
        int64_t in[3] = {m[0], m[1], m[2]};
        in[k] = side->wall + way * m[k];
        const int64_t at = number_of(box, in);
        double more = 0;
        const double change =
            correct(e, box, side, law, l, u.host, m, at, &more);
        d.host[at] += change;
        out.host[at] += change + more;
    }
    return HT_OK;
}

enum ht_err ht_fd_plain_zone(struct ht_fd_engine *e, enum ht_step_part part,
                             const struct ht_fd_box *box, int sides,
                             const struct ht_fd_side *const *side,
                             const struct ht_fd_law *law,
                             const struct ht_fd_layers *l, struct ht_fd_array u,
                             struct ht_fd_array d, struct ht_fd_array out) {
    int64_t m[3];
    TRY(e->ops->update(e, part, box, law, u, d, u, out));
    EACH(box, m) {
        const int64_t at = number_of(box, m);
        double change = 0, more = 0;
        for (int i = 0; i < sides; i++) {
            const int way = side[i]->side == 0 ? 1 : -1, k = side[i]->axis;
            int64_t in[3] = {m[0], m[1], m[2]};
            in[k] = way * (m[k] - side[i]->wall);
            if (in[k] < side[i]->cells + l->radius)
                change +=
                    correct(e, box, side[i], law, l, u.host, in, at, &more);
        }
        d.host[at] += change;
        out.host[at] += change + more;
    }
    return HT_OK;
}

enum ht_err ht_fd_plain_damp(struct ht_fd_engine *e, enum ht_step_part part,
                             const struct ht_fd_box *box,
                             const struct ht_fd_side *side,
                             const struct ht_fd_layers *l, struct ht_fd_array u,
                             struct ht_fd_array d) {
    const int way = side->side == 0 ? 1 : -1, k = side->axis;
    int64_t m[3];
    (void)e, (void)part;
    EACH(box, m) {
        const double factor = *profile_of(l, side, 0, m[k]);
        int64_t in[3] = {m[0], m[1], m[2]};
        in[k] = side->wall + way * m[k];
        u.host[number_of(box, in)] *= factor;
        d.host[number_of(box, in)] *= factor;
    }
    return HT_OK;
}
