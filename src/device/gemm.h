/* Matrix products for the OpenCL back end: src/device/clblast.c, or clblast_none.c in a build
 * without that library. */
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include "backend.h"

/* The operations no_gemm and gemm of struct ht_backend; the caller owns the event. */
const char *ht_clblast_missing(void);
HT_CHECKED enum ht_err ht_clblast_gemm(cl_command_queue queue, bool fp64,
                                       const struct ht_gemm_shape *shape, void *const buffers[3],
                                       cl_event *event);
/* Call before a context is released: the library caches its programs. */
void ht_clblast_forget(void);
