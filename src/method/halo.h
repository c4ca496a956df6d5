/* Planes beyond a slab: which of them a rank holds, which are up to date, and
 * their exchange with the neighbours.
 *
 * A half step takes targets from two neighbouring source planes: dual plane m
 * from the primary planes m and m + 1, primary plane m from the dual planes
 * m - 1 and m. So k half steps need k planes beyond the slab, shared out in
 * turn above and below; each half step loses one. By a scheme of two levels,
 * which adds to what stands on the target grid, the planes computed twice must
 * be up to date there as well.
 */
#ifndef HTWAVE_METHOD_HALO_H
#define HTWAVE_METHOD_HALO_H

#include "htwave/method.h"

/* What a rank's buffers hold of a mesh. */
struct ht_window ht_problem_window(const struct ht_problem *problem,
                                   enum ht_mesh mesh);
/* Device bytes of the messages' buffers; *message: of the largest of them. */
int64_t ht_halo_bytes(const struct ht_problem *problem,
                      const struct ht_tuning *tuning, int64_t *message);

/* What a half step computes: x3 planes of the target's window. Those that others
 * wait for are boundary planes, to be launched first; a range may be empty. */
struct ht_halo_ranges {
    int64_t boundary[2][2], interior[2]; /* [from, to) */
    bool sends; /* ht_halo_send follows the boundary's launches */
};

struct ht_halo;
/* u[mesh][field]: the stepper's buffers, which outlive the halo. Collective. */
HT_CHECKED enum ht_err ht_halo_create(const struct ht_problem *problem,
                                      struct ht_device *device,
                                      const struct ht_kernels *kernels,
                                      struct ht_buffer *(*u)[HT_MAX_FIELDS],
                                      struct ht_halo **out);
/* NULL allowed. After ht_halo_finish (MPI may lose a message whose receive was
 * cancelled) or after a failure that the ranks have agreed on, since others may
 * still answer. Waits up to a second for neighbours that have buffers of this
 * rank open. */
void ht_halo_destroy(struct ht_halo *halo);
/* The own planes of a mesh were overwritten: what others hold of them is out of
 * date. All ranks do the same between two half steps. */
void ht_halo_forget(struct ht_halo *halo, enum ht_mesh mesh);
/* Makes the source's planes beyond the slab available to work enqueued from now
 * on, and says what the half step computes. Waits for messages, not for the
 * device. */
HT_CHECKED enum ht_err ht_halo_prepare(struct ht_halo *halo, enum ht_mesh from,
                                       struct ht_halo_ranges *out);
/* Begins the exchange that the next half step needs, after the boundary. */
HT_CHECKED enum ht_err ht_halo_send(struct ht_halo *halo);
/* Waits for messages on their way, so that nothing of the exchange is open.
 * Collective, as are the two before. */
HT_CHECKED enum ht_err ht_halo_finish(struct ht_halo *halo);
void ht_halo_traffic(const struct ht_halo *halo, struct ht_traffic *out);

#endif
