/* The parameters and expressions behind a medium, shared by src/model/medium*.c and fit*.c only. */
#pragma once

#include "htwave/medium.h"

/* One parameter of the system as the user gave it: samples (file), expr (expression) or else
 * numbers, one or one per layer. */
enum { HT_MEDIUM_NAME = 24 };
struct ht_medium_row {
    char name[HT_MEDIUM_NAME], key[32]; /* "c", "medium.c" */
    double single;                      /* number points to it when there is one */
    const double *number;
    int count;
    struct ht_expr *expr;
    struct ht_samples *samples;
    const struct ht_parameter *of;
    bool depends[3];
};

/* The boxes on which a medium is constant along an axis, from edge[i] to edge[i + 1]: layers,
 * samples from number `base` on, which reach half a spacing to either side, of expressions such of
 * a quarter of a spacing, for averages; or one. The first and the last sample have no end. */
struct ht_medium_boxes {
    int64_t count, base;
    double *edge;
};
struct ht_medium_source {
    const struct ht_params *params;
    enum ht_medium_type type;
    struct ht_medium_row row[HT_MAX_MATERIALS]; /* system's nparameters */
    const struct ht_medium_row *lattice; /* the first with a file: all have its lattice; or NULL */
    int chosen[HT_MAX_MATERIALS];
    unsigned shown[HT_MAX_MATERIALS]; /* parameters that decide a material */
    struct ht_jets *jets;             /* of the medium's degree */
    bool depends[3];                  /* on x1, x2, x3 */
    struct ht_medium_boxes boxes[3];
    bool kinks;              /* an expression is not smooth */
    int axis, layers;        /* layers: of layers - 1 ... */
    const double *interface; /* ... interfaces along axis */
    bool sampled;            /* see ht_medium_scan */
    int64_t every;       /* the scan computes the polynomials of one of so many nodes; 0: of none */
    struct ht_pool pool; /* of edges */
};

/* Nodes of a chunk, worth a thread. */
enum { LEAST_NODES = 512 };

/* The number of the layer at x; 0: there are none. */
static inline int ht_medium_layer(const struct ht_medium_source *source, const double x[3]) {
    int layer = 0;
    while (layer < source->layers - 1 && x[source->axis] >= source->interface[layer]) layer++;
    return layer;
}
/* Adds to shown[r] the parameters that decide material r or, with a rule, scalar r of so many. */
void ht_medium_find_shown(const struct ht_medium *medium, const struct ht_average *rule, int count,
                          unsigned *shown);

/* Those of an axis, one where nothing depends on it; of samples those that reach into the box. */
HT_ERR ht_medium_find_boxes(const struct ht_medium *medium, int k, bool depends,
                            struct ht_pool *pool, struct ht_medium_boxes *boxes);

/* samples.c: entry 0 of ht_samples_jet over ht_jets_make(dims, degree, true). inverse: of 1/values,
 * and the value is 1 over that; 0 stays. */
double ht_samples_value(const struct ht_samples *samples, bool inverse, int dims, int degree,
                        const double x[3], const double h[3]);
/* out[sample] += by times the derivative by it of the value of degree 1, whose neighbours are those
 * of ht_medium_parameter. */
void ht_samples_spread(const struct ht_samples *samples, int dims, const double x[3], double by,
                       double *out);

/* medium_node.c: the parameters, at first their defaults, and the materials at `count` points of a
 * line, or as jets at one point. */
struct ht_medium_work {
    int64_t count;
    double *x1, *value[HT_MAX_MATERIALS], *material[HT_MAX_MATERIALS];
    struct ht_medium_cell *cell;
};
HT_ERR ht_medium_work_create(const struct ht_medium *medium, int64_t count,
                             struct ht_medium_work *work);
void ht_medium_work_destroy(struct ht_medium_work *work);
/* What a value must be and is not; NULL: it is. */
const char *ht_medium_wrong(double value, bool positive, bool zero);
/* Whether materials are allowed. */
HT_ERR ht_medium_check(const struct ht_medium *medium, const double *material, const double x[3]);
/* A parameter's value at any point; degree: of the polynomial between samples, 0: the nearest. */
HT_ERR ht_medium_row_value(const struct ht_medium *medium, int parameter, int degree,
                           const double x[3], double *value);
/* The same, of degree 1, at the points x1[i], x[1], x[2]. */
HT_ERR ht_medium_row_line(const struct ht_medium *medium, int parameter, int64_t count,
                          const double *x1, const double x[3], double *out);
/* The polynomials of a node at x into work->material; flattened: they were reduced to the means
 * over the cell. */
HT_ERR ht_medium_node(const struct ht_medium *medium, const struct ht_medium_work *work,
                      const double x[3], bool *flattened);
/* Whether the power of a polynomial is left out at a node, on a wall (ht_medium_fill). */
bool ht_medium_drops(const struct ht_medium *medium, enum ht_subgrid subgrid,
                     const int64_t index[3], const int *power);

/* Speeds, walls, checks over all nodes of both grids. */
HT_ERR ht_medium_visit(struct ht_medium *medium);
