/* Kernels for the mean of a field that leapfrog keeps (docs/method.md, section
 * 13; cl/means.cl).
 */
#ifndef HTWAVE_MEANS_H
#define HTWAVE_MEANS_H

#include "htwave/device.h"
#include "htwave/kernel.h"

/* The weights of a field's coefficients whose sum over all nodes of a grid
 * obeys the leapfrog step of the mean, sum(t + dt/2) - 2 sum(t) + sum(t - dt/2)
 * = 0, where nothing fixes the mean: w S = 2 w, w[0] = 1, S the matrix of
 * ht_blocks_sums. weight[i], 0 for coefficients with an odd index. For specs of
 * equations with parities and old_sign -1. */
HT_CHECKED enum ht_err ht_mean_weights(const struct ht_spec *spec, int field,
                                       double weight[HT_MAX_COEFS]);

/* The nodes of a box of a window; ends marked in `half` weigh half. */
struct ht_mean_part {
    const struct ht_window *window;
    struct ht_box box;
    bool half[3][2]; /* [axis][lower, upper] */
};
struct ht_mean_sum {
    double sum, magnitudes; /* of the nodes' values, of their magnitudes */
};

/* The weights of a field on a device. */
struct ht_mean_form;
HT_CHECKED enum ht_err ht_mean_form_create(struct ht_device *device,
                                           const struct ht_spec *spec,
                                           int field,
                                           struct ht_mean_form **out);
void ht_mean_form_destroy(struct ht_mean_form *form); /* NULL allowed */

/* The kernels, for fp64 and block of a spec; compiled at the first launch. */
struct ht_means;
/* cache: directory of compiled programs, NULL: none. */
HT_CHECKED enum ht_err ht_means_create(struct ht_device *device,
                                       const struct ht_spec *spec,
                                       const char *cache,
                                       struct ht_means **out);
void ht_means_destroy(struct ht_means *means); /* NULL allowed */
/* wide: sums in double precision, which the device must have. */
HT_CHECKED enum ht_err ht_means_text(bool fp64, int block, bool wide, int items,
                                     struct ht_text *out);
/* Sums over each x3 plane of the part, out[plane], after all work enqueued so
 * far. They depend on the values of the plane alone. */
HT_CHECKED enum ht_err ht_means_sums(struct ht_means *means,
                                     const struct ht_mean_form *form,
                                     const struct ht_mean_part *part,
                                     struct ht_buffer *u,
                                     struct ht_mean_sum *out);
/* Adds a constant to the field at all nodes of a window; enqueued. */
HT_CHECKED enum ht_err ht_means_shift(struct ht_means *means,
                                      const struct ht_mean_form *form,
                                      const struct ht_window *window, double by,
                                      struct ht_buffer *u);
/* Device seconds of all launches since the last call. */
double ht_means_seconds(struct ht_means *means);

#endif
