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

void ht_message_planes(const struct ht_problem *p, bool fp64, double bytes[HT_ARRAYS]) {
    for (int a = 0; a < HT_ARRAYS; a++)
        bytes[a] = ht_message_values(p, a) * ht_grid_coefs(p->grid) * word_of(p, fp64);
}

/* What a slab sends down, the slab below receives from above. */
struct ht_exchange ht_exchange_bytes(const struct ht_planes *planes,
                                     const double plane_bytes[HT_ARRAYS]) {
    struct ht_exchange sent = {{0, 0}};
    for (int a = 0; a < HT_ARRAYS; a++)
        for (int side = 0; side < 2; side++)
            sent.bytes[side] += (double)planes->of[a][1 - side] * plane_bytes[a];
    return sent;
}

/* One message to a neighbour per exchange with planes for it. An exchange serves `depth` passes of
 * a step's; after as many exchanges as a step has passes they begin anew. */
struct ht_sent ht_sent_here(const struct ht_problem *p, bool fp64) {
    const int depth = ht_halo_depth(p);
    double plane_bytes[HT_ARRAYS];
    struct ht_sent sum = {0, 0};
    struct ht_passes passes;
    ht_schedule_passes(p, &passes);
    ht_message_planes(p, fp64, plane_bytes);
    for (int i = 0; i < passes.count; i++) {
        const struct ht_planes planes =
            ht_exchange_planes(&passes, depth, i * depth % passes.count);
        const struct ht_exchange e = ht_exchange_bytes(&planes, plane_bytes);
        sum.messages += (e.bytes[0] > 0) + (e.bytes[1] > 0);
        sum.bytes += e.bytes[0] + e.bytes[1];
    }
    return (struct ht_sent){sum.messages / depth, sum.bytes / depth};
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
