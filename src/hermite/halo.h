/* Exchange of planes beyond a slab with its neighbours: the messages of an exchange and the two
 * tasks that begin and end it. The schedule decides which planes are exchanged when
 * (htwave/schedule.h).
 *
 * A half step computes a target plane from two neighbouring source planes: dual plane m from the
 * primary planes m and m + 1, primary plane m from the dual planes m - 1 and m. So k half steps
 * need k planes beyond the slab, alternately above and below; each half step uses up one. A
 * two-level scheme adds to the values of the target grid, so the planes that two ranks compute must
 * be up to date there as well.
 */
#ifndef HTWAVE_HERMITE_HALO_H
#define HTWAVE_HERMITE_HALO_H

#include "htwave/schedule.h"
#include "layer_kernels.h"

/* Device bytes of all message buffers; *message: bytes of the largest buffer.
 */
int64_t ht_halo_bytes(const struct ht_problem *problem, const struct ht_tuning *tuning,
                      int64_t *message);

struct ht_halo;
/* u[subgrid][field], memory[axis][side]: the stepper's buffers, which outlive the halo. Collective.
 */
HT_CHECKED enum ht_err ht_halo_create(const struct ht_problem *problem, struct ht_device *device,
                                      const struct ht_kernels *kernels,
                                      struct ht_buffer *(*u)[HT_MAX_FIELDS],
                                      const struct ht_layer_memory (*memory)[2],
                                      struct ht_halo **out);
/* NULL allowed. Call it after ht_halo_finish (MPI may lose a message whose receive was cancelled),
 * or after a failure that the ranks have agreed on. It waits up to a second for neighbours that
 * have buffers of this rank open. */
void ht_halo_destroy(struct ht_halo *halo);
/* Begins the exchange for a half step from a grid: packs the own planes for the neighbours, after
 * all work enqueued so far. */
HT_CHECKED enum ht_err ht_halo_send(struct ht_halo *halo, enum ht_subgrid from);
/* Ends the exchange: waits for messages, not for the device, and makes the planes available to work
 * enqueued from now on. */
HT_CHECKED enum ht_err ht_halo_receive(struct ht_halo *halo, enum ht_subgrid from);
/* Waits until all messages have left. Collective, as are ht_halo_send and ht_halo_receive. */
HT_CHECKED enum ht_err ht_halo_finish(struct ht_halo *halo);
/* Adds the counts of messages, their transports and the packing seconds to out. */
void ht_halo_traffic(const struct ht_halo *halo, struct ht_traffic *out);

#endif
