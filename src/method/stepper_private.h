/* The stepper on a device, shared by its files: stepper.c makes it and steps,
 * stepper_data.c moves its data.
 */
#ifndef HTWAVE_METHOD_STEPPER_PRIVATE_H
#define HTWAVE_METHOD_STEPPER_PRIVATE_H

#include "ghost_args.h"
#include "halo.h"

struct ht_device_stepper {
    struct ht_problem problem;
    struct ht_spec spec;
    struct ht_device *device;
    struct ht_kernels kernels;
    struct ht_window window[2]; /* of each mesh */
    struct ht_ghost_args ghosts[2];
    struct ht_halo *halo;   /* NULL: the grid is not cut */
    struct ht_buffer *u[2][HT_MAX_FIELDS];
    struct ht_buffer *medium[2][HT_MAX_MATERIALS];
    struct ht_buffer *poly[HT_MAX_FIELDS];
    struct ht_buffer *work; /* NULL: the variant needs none */
    struct ht_buffer *scale;
    int64_t poly_planes;
    double before[2]; /* seconds that the kernels took for others */
    int word, coefs, places;
    int place[HT_MAX_COEFS]; /* of each coefficient */
};

/* As in struct ht_stepper_ops. */
HT_CHECKED enum ht_err ht_stepper_put(void *self, enum ht_mesh mesh,
                                      int64_t first, int64_t last,
                                      const double *coefs);
HT_CHECKED enum ht_err ht_stepper_get(void *self, enum ht_mesh mesh, int field,
                                      int count, int64_t first, int64_t last,
                                      double *out);
HT_CHECKED enum ht_err ht_stepper_measure(void *self, enum ht_mesh mesh,
                                          int count,
                                          const struct ht_quantity *what,
                                          struct ht_measure *out);
/* Makes and fills the buffers that a step reads: scale[term] of cl/evolve.cl,
 * the same for both half steps, and the medium of the planes held. */
HT_CHECKED enum ht_err ht_stepper_make_scale(struct ht_device_stepper *t);
/* Zeros in a field where no coefficient is stored, and everywhere else. */
HT_CHECKED enum ht_err ht_stepper_clear(struct ht_device_stepper *t,
                                        enum ht_mesh mesh, int field);
HT_CHECKED enum ht_err ht_stepper_make_medium(struct ht_device_stepper *t,
                                              enum ht_mesh mesh);

#endif
