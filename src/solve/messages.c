/* Counts of messages: of this method and of a nodal discontinuous Galerkin (dG) method of the same
 * degree.
 */
#include <math.h>

#include "htwave/schedule.h"

/* ---- this method ---- */

static double word_of(const struct ht_problem *p, bool fp64) {
    double element_size = ht_real_size(fp64);
    if (p->halo.precision == HT_HALO_SINGLE) element_size = 4;
    if (p->halo.precision == HT_HALO_HALF) element_size = 2;
    return element_size;
}

/* Numbers of a plane that have coefficients: the stored fields at its nodes, and memory variables
 * in layers along x1 and x2, which have nodes from the inner face or, on the dual grid, one before
 * it. Layers along x3 are taken not to reach the cut. */
double ht_message_values(const struct ht_problem *p, enum ht_subgrid of) {
    const double plane = (double)ht_grid_plane(p->grid, of);
    const unsigned axes = ht_absorbing_axes(p->layers);
    double values = plane * ht_problem_stored(p, of);
    struct ht_equations eq;
    if (axes == 0 || ht_equations_absorb(p->eq, axes, &eq) != HT_OK) return values;
    for (int n = 0; n < 4; n++) {
        const int axis = n / 2;
        const int64_t cells = p->layers->side[axis][n % 2].cells;
        if (cells > 0)
            values += ht_layer_fields(&eq, axis) * (double)(cells + 1) * plane /
                      (double)ht_grid_nodes(p->grid, of, axis);
    }
    return values;
}

/* A plane holds (N+1)^3 coefficients of each number. What a slab sends down, the slab below
 * receives from above. */
struct ht_exchange ht_exchange_count(const struct ht_problem *p, bool fp64, enum ht_subgrid from) {
    const bool two_level = p->scheme->two_level;
    struct ht_exchange sent = {{0, 0}};
    for (int side = 0; side < 2; side++)
        for (int of = 0; of < 2; of++)
            sent.bytes[side] +=
                ht_halo_planes(ht_halo_depth(p), from, (enum ht_subgrid)of, two_level, 1 - side) *
                ht_message_values(p, (enum ht_subgrid)of) * ht_grid_coefs(p->grid) *
                word_of(p, fp64);
    return sent;
}

double ht_message_plane(const struct ht_problem *p, bool fp64) {
    return (double)ht_grid_plane(p->grid, HT_PRIMARY) * word_of(p, fp64);
}

/* One message to a neighbour per exchange with planes for it. An exchange serves `depth` half
 * steps; a step has two. With an odd depth exchanges alternate between the grids. */
struct ht_sent ht_sent_here(const struct ht_problem *p, bool fp64) {
    int depth = ht_halo_depth(p), kinds = depth % 2 == 0 ? 1 : 2;
    struct ht_sent sum = {0, 0};
    if (p->fd.order > 0) {
        const struct ht_fd_slab slab = ht_fd_slab_of(p);
        return ht_fd_sent(&slab, ht_message_plane(p, fp64));
    }
    for (int from = 0; from < kinds; from++) {
        struct ht_exchange e = ht_exchange_count(p, fp64, (enum ht_subgrid)from);
        for (int side = 0; side < 2; side++) {
            sum.messages += e.bytes[side] > 0;
            sum.bytes += e.bytes[side];
        }
    }
    const double per_step = 2.0 / depth / kinds;
    sum.messages *= per_step;
    sum.bytes *= per_step;
    return sum;
}

/* ---- dG ---- */

/* Number of fields of the equivalent first-order system that dG needs: the pair (u, u_t) of a wave
 * equation becomes u_t and the gradient of u. */
static int first_order_fields(const struct ht_equations *eq) {
    for (int t = 0; t < eq->nterms; t++)
        if (eq->term[t].derivative == 2) return 1 + eq->dims;
    return eq->nfields;
}

/* Five stages (low-storage scheme of Carpenter and Kennedy 1994). In each stage a face of a cell
 * needs all fields at its (2N+2)^2 nodes from the cell on the other side; a slab sends both of its
 * faces. */
struct ht_sent ht_sent_dg(const struct ht_problem *p, bool fp64) {
    const int stages = 5, faces = 2;
    const double nodes = 2.0 * p->grid->order + 2;
    double face = (double)ht_grid_plane(p->grid, HT_DUAL);
    return (struct ht_sent){stages * faces, stages * faces * face * nodes * nodes *
                                                first_order_fields(p->eq) * word_of(p, fp64)};
}

/* Largest stable c dt/h in one dimension with upwind fluxes, the mass matrix of the 2N+2
 * Gauss-Lobatto nodes and these stages: from the eigenvalues of the symbol at 257 angles. The limit
 * is 1.5 to 2.5 times the least distance of nodes; test/unit/prediction.c steps just below and
 * above. In three dimensions the limit is smaller; no correction is made here. */
double ht_dg_step(int order) {
    static const double limit[HT_MAX_ORDER] = {0.4065, 0.2002, 0.1214, 0.0825,
                                               0.0602, 0.0461, 0.0366, 0.0299};
    return limit[order - 1];
}
