/* What src/solve/duhamel*.c share: signals, the images of sources behind walls
 * and beyond periodic sides. Places are whole multiples of 2^-32 cells from the
 * lower end of an axis.
 */
#ifndef HTWAVE_SOLVE_DUHAMEL_PRIVATE_H
#define HTWAVE_SOLVE_DUHAMEL_PRIVATE_H

#include "htwave/duhamel.h"

/* Nothing acts before the run begins. order: as in ht_shot_at. */
static inline double ht_source_signal(const struct ht_shot *shot, double time,
                                      int order) {
    return time < 0 ? 0 : ht_shot_at(shot, time, order);
}

enum { HT_SOURCE_FRACTION = 32, HT_SOURCE_IMAGES = 160 };

/* Along an axis; a source that does not vary along it has one, of factor 1, at
 * every place. */
struct ht_source_image {
    int64_t at;
    int factor; /* of the walls passed */
    bool mirrored;
};
struct ht_source_images {
    int count[3];
    struct ht_source_image axis[3][HT_SOURCE_IMAGES];
};
/* Those of a point that reach into the box; reach in cells. */
void ht_source_images(const struct ht_problem *problem,
                      const struct ht_source_point *point,
                      const double reach[3], struct ht_source_images *out);
/* g of a point: K s of a monopole, s/rho of a force along its direction; of the
 * pair u, u_t it is added to u_t. */
struct ht_source_vector ht_source_vector(const struct ht_problem *problem,
                                         const struct ht_source_point *point);
/* That of an image: each field has the sign of the walls passed. */
struct ht_source_vector
ht_source_vector_image(const struct ht_problem *problem,
                       const struct ht_source_vector *source,
                       const struct ht_source_image *const image[3]);

/* ---- the Gaussian, duhamel_radius.c ---- */
/* What the waves of a source consist of: wavenumbers in cells, where it is
 * slowest, and their parts of the energy. */
struct ht_source_waves {
    double highest, k[HT_SIGNAL_BANDS], energy[HT_SIGNAL_BANDS];
};
struct ht_source_waves ht_source_waves(const struct ht_plan *plan,
                                       const struct ht_duhamel *d, int shot);
/* The largest spacing, in which radii are. */
double ht_source_cell(const struct ht_plan *plan);
double ht_source_least_radius(const struct ht_plan *plan);
/* Radius, where it is not given, and order of a form, and its error. */
void ht_source_choose(const struct ht_plan *plan, const struct ht_shot *shot,
                      const struct ht_source_waves *waves,
                      struct ht_source_form *form);

/* ---- lists ---- */
/* A node of a window takes a shape times the amplitudes of a column; number:
 * in what order entries of the same column are added. */
struct ht_injection_entry {
    int64_t at, number;
    int column, shape, wall;
};
/* Sorts the entries. */
HT_CHECKED enum ht_err ht_injection_make_list(int64_t count,
                                              struct ht_injection_entry *entry,
                                              const struct ht_window *window,
                                              struct ht_injection_grid *out);
/* odd[stored field][coefficient] of htwave/inject.h. */
void ht_injection_odd(const struct ht_problem *problem, enum ht_subgrid to,
                      int coefs, int *odd);
/* The node of the grid at an index of the window; the walls on which it lies,
 * as in htwave/inject.h. */
int64_t ht_source_node(const struct ht_grid *grid, enum ht_subgrid to,
                       const struct ht_window *window, int axis, int64_t index);
int ht_source_wall(const struct ht_grid *grid, enum ht_subgrid to, int axis,
                   int64_t m);
/* Adds the list's sums to plain arrays; table: the row of amplitudes, in which
 * `stride` values lie between those of two fields. */
void ht_injection_grid_add(const struct ht_injection_grid *g,
                           const double *table, int64_t stride, int64_t nodes,
                           double *u);
void ht_injection_grid_free(struct ht_injection_grid *g);

/* ---- plane waves from outside, duhamel_incidence.c ---- */
/* Whether the box of a plane wave is as long as the grid's along an axis. */
bool ht_source_open(const struct ht_grid *grid, const struct ht_shot *shot,
                    int axis);
/* Whether a target has sources on the other side of a wave's box. */
bool ht_incidence_beside(const struct ht_problem *problem,
                         const struct ht_shot *shot, enum ht_subgrid to,
                         const int64_t m[3]);
struct ht_incidence;
/* *out: NULL without plane waves. */
HT_CHECKED enum ht_err ht_incidence_create(const struct ht_problem *problem,
                                           const struct ht_window window[2],
                                           struct ht_incidence **out);
void ht_incidence_destroy(struct ht_incidence *in); /* NULL allowed */
HT_CHECKED enum ht_err ht_incidence_upload(struct ht_incidence *in,
                                           struct ht_injector *injector);
/* The half step that begins at q tau. */
HT_CHECKED enum ht_err ht_incidence_begin(struct ht_incidence *in, int64_t q,
                                          bool back);
HT_CHECKED enum ht_err ht_incidence_add(struct ht_incidence *in,
                                        enum ht_subgrid to, int64_t first,
                                        int64_t last, int64_t nodes,
                                        struct ht_buffer *const *u);
void ht_incidence_add_plain(const struct ht_incidence *in, enum ht_subgrid to,
                            int64_t nodes, double *u);
/* Device bytes of an upload, host bytes, at most. */
int64_t ht_incidence_bytes(const struct ht_problem *problem,
                           const struct ht_spec *spec);
int64_t ht_incidence_host_bytes(const struct ht_problem *problem);

#endif
