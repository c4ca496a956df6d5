/* Shared by src/kernel/fd*.c. */
#ifndef HTWAVE_KERNEL_FD_PRIVATE_H
#define HTWAVE_KERNEL_FD_PRIVATE_H

#include "htwave/fd_kernel.h"

/* Weight j of row i of struct ht_fd_coefs (cl/fd_common.cl), which has ht_fd_coef_rows of them. */
double ht_fd_coef(const struct ht_fd_spec *spec, const struct ht_fd_weights *weights,
                  const double scale[3], int i, int j);
int ht_fd_coef_rows(const struct ht_fd_spec *spec);

#endif
