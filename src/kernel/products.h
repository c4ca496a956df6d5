/* Interpolation of gathered vertex values by matrix products: products.c. */
#ifndef HTWAVE_KERNEL_PRODUCTS_H
#define HTWAVE_KERNEL_PRODUCTS_H

#include "htwave/kernel.h"

struct ht_products;
HT_CHECKED enum ht_err ht_products_create(struct ht_device *device, const struct ht_spec *spec,
                                          struct ht_products **out);
void ht_products_destroy(struct ht_products *products); /* NULL allowed */
/* The one of the two buffers that must hold the vertex values so that the interpolants end in poly.
 */
struct ht_buffer *ht_products_source(const struct ht_products *products, struct ht_buffer *poly,
                                     struct ht_buffer *work);
/* Enqueues the interpolation of `targets` cells of one field. */
HT_CHECKED enum ht_err ht_products_run(struct ht_products *products, int64_t targets,
                                       struct ht_buffer *poly, struct ht_buffer *work);
double ht_products_seconds(struct ht_products *products);

#endif
