/* The kernel of a sponge of Hermite methods: multiplies the polynomials of nodes by those of a
 * damping that depends on one axis (cl/sponge.cl).
 */
#ifndef HTWAVE_SPONGE_H
#define HTWAVE_SPONGE_H

#include "htwave/device.h"
#include "htwave/kernel.h"

struct ht_sponge_args; /* cl/sponge_args.h */

struct ht_sponge;
/* cache: directory of compiled programs, NULL: none. */
HT_CHECKED enum ht_err ht_sponge_create(struct ht_device *device, const struct ht_spec *spec,
                                        const char *cache, struct ht_sponge **out);
void ht_sponge_destroy(struct ht_sponge *sponge); /* NULL allowed */
/* Device seconds of all launches since the last call. */
double ht_sponge_seconds(struct ht_sponge *sponge);
/* Device seconds so far of the launches for a part. */
double ht_sponge_total(const struct ht_sponge *sponge, enum ht_step_part part);
/* coefs: N+1; lines: of coefficients along an axis. */
HT_CHECKED enum ht_err ht_sponge_text(bool fp64, int block, int coefs, int lines, int items,
                                      struct ht_text *out);
/* Multiplies one field in buffer u; enqueued. jets: [coefficient][index in the window along the
 * axis] in the field's precision. */
HT_CHECKED enum ht_err ht_sponge_multiply(struct ht_sponge *sponge, enum ht_step_part part,
                                          const struct ht_sponge_args *args, struct ht_buffer *jets,
                                          struct ht_buffer *u);

#endif
