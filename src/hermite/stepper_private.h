/* The stepper on a device: stepper.c creates it, lists its buffers and runs its schedules,
 * stepper_data.c transfers its data. */
#pragma once

#include "src/solve/runner.h"
#include "tool_args.h"

/* Memory variables of the layer of an axis and side, on one rank. */
struct ht_layer_memory {
    struct ht_window window[2];            /* [subgrid]; no nodes: none here */
    int64_t first[2][3];                   /* as in ht_absorbing_window */
    struct ht_buffer *u[2][HT_MAX_FIELDS]; /* by number among the axis's */
};

enum ht_stepper_use {
    HT_USE_FIELD,
    HT_USE_LAYER,
    HT_USE_MEDIUM,
    HT_USE_INTERPOLANT,
    HT_USE_REST,
    HT_USES
};
struct ht_stepper_buffer {
    enum ht_stepper_use use;
    struct ht_buffer **at; /* in the stepper */
    int64_t bytes;
};

struct ht_device_stepper {
    struct ht_runner r;
    struct ht_problem problem;
    struct ht_spec spec;
    struct ht_equations full; /* with the memory variables of all layers */
    int regions;
    struct ht_region region[HT_ABSORBING_BOXES];
    const struct ht_layer_kernels *layers;              /* NULL: none of cpml */
    struct ht_layer_memory memory[3][2];                /* [axis][side] */
    struct ht_ghost_args layer_ghosts[3][2];            /* theirs on the dual grid */
    struct ht_buffer *profile[2][3][HT_LAYER_PROFILES]; /* [subgrid][axis] */
    struct ht_tool *sponge;                             /* NULL: none */
    struct ht_buffer *jets[2][3];                       /* of a sponge: [subgrid][axis], as in
                                                           cl/sponge.cl; NULL: not damped */
    int sets; /* sets of kernels, each once; the first also fills
                 ghosts, packs and reduces */
    struct ht_kernels set[HT_ABSORBING_BOXES];
    int set_of[HT_ABSORBING_BOXES]; /* [region] */
    struct ht_injection *injection; /* NULL: no sources */
    struct ht_buffer *u[2][HT_MAX_FIELDS];
    struct ht_buffer *stored[2][HT_MAX_FIELDS]; /* of these, without gaps */
    struct ht_buffer *medium[2][HT_MAX_MATERIALS];
    struct ht_buffer *poly[HT_MAX_FIELDS];
    struct ht_buffer *work;                      /* NULL: no variant needs it */
    struct ht_buffer *scale[HT_ABSORBING_BOXES]; /* [region] */
    int buffers;                                 /* all of these */
    struct ht_stepper_buffer buffer[10 * HT_MAX_FIELDS + 2 * HT_MAX_MATERIALS + 64];
    struct ht_ghost_args ghosts[2]; /* of each grid */
    int64_t poly_planes;
    int element_size, coefs, padded_coefs;
    int storage[HT_MAX_COEFS]; /* storage index of each coefficient */
};

extern const struct ht_stepper_ops ht_device_stepper_ops;
void ht_device_stepper_destroy(void *self);
/* Fills the medium's buffers of the held planes. */
HT_CHECKED enum ht_err ht_stepper_fill_medium(struct ht_device_stepper *t, enum ht_subgrid subgrid);
