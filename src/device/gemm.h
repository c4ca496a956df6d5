/* Matrix products for the OpenCL back end: src/device/clblast.c, or clblast_none.c in a build
 * without that library. */
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include "backend.h"

/* A launch of matrix products; the caller owns the event. */
HT_ERR ht_clblast_gemm(cl_command_queue queue, const struct ht_launch *launch, cl_event *event);
/* Call before a context is released: the library caches its programs. */
void ht_clblast_forget(void);
