/* The stepper on a device: stepper.c creates it, lists its buffers and runs its schedules,
 * stepper_data.c transfers its data. */
#pragma once

#include "layer_kernels.h"
#include "src/solve/runner.h"
#include "tool_args.h"

struct ht_device_stepper {
    struct ht_runner r;
    struct ht_problem problem;
    struct ht_spec spec;
    int regions;
    struct ht_region *region;
    const struct ht_layer_kernels *layers;              /* NULL: none of cpml */
    struct ht_layer_memory memory[3][2];                /* [axis][side] */
    struct ht_ghost_args layer_ghosts[3][2];            /* theirs on the dual grid */
    struct ht_buffer *profile[2][3][HT_LAYER_PROFILES]; /* [subgrid][axis] */
    struct ht_tool *sponge;                             /* NULL: none */
    struct ht_buffer *jets[2][3];                       /* of a sponge: [subgrid][axis], as in
                                                           cl/sponge.cl; NULL: not damped */
    int sets; /* sets of kernels, each once; the first also fills
                 ghosts, packs and reduces */
    struct ht_kernels *set;
    int *set_of;                    /* [region] */
    struct ht_injection *injection; /* NULL: no sources */
    struct ht_buffer *u[2][HT_MAX_FIELDS];
    struct ht_buffer *stored[2][HT_MAX_FIELDS]; /* of these, without gaps */
    struct ht_buffer *medium[2][HT_MAX_MATERIALS];
    struct ht_buffer *poly[HT_MAX_FIELDS];
    struct ht_buffer *work;         /* NULL: no variant needs it */
    struct ht_buffer **scale;       /* [region] */
    struct ht_ghost_args ghosts[2]; /* of each grid */
    int64_t poly_planes;
    int element_size, coefs, padded_coefs;
    int storage[HT_MAX_COEFS]; /* storage index of each coefficient */
};

/* As in struct ht_stepper_ops. */
HT_CHECKED enum ht_err ht_stepper_put(void *self, enum ht_subgrid subgrid, int64_t first,
                                      int64_t last, const double *coefs);
HT_CHECKED enum ht_err ht_stepper_get(void *self, enum ht_subgrid subgrid, int field, int count,
                                      int64_t first, int64_t last, double *out);
void ht_stepper_archive(void *self, struct ht_archive *archive);
HT_CHECKED enum ht_err ht_stepper_measure(void *self, enum ht_subgrid subgrid, int count,
                                          const struct ht_quantity *what, struct ht_measure *out);
/* Fills the medium's buffers of the held planes. */
HT_CHECKED enum ht_err ht_stepper_fill_medium(struct ht_device_stepper *t, enum ht_subgrid subgrid);
