/* Program text to device code by NVRTC, the run-time compiler of the CUDA toolkit (cuda_nvrtc.c; in
 * cuda_none.c it is missing). It needs no device.
 */
#ifndef HTWAVE_DEVICE_CUDA_NVRTC_H
#define HTWAVE_DEVICE_CUDA_NVRTC_H

#include "htwave/base.h"

/* Why it cannot be used; NULL: it can. driver: 1000 major + 10 minor of the CUDA version that will
 * run the code, 0: any. The first call loads the library, which stays loaded. */
const char *ht_nvrtc_missing(int driver);
/* "13.0"; "" when it is missing. */
const char *ht_nvrtc_version(void);

/* Whether machine code for this architecture may use what it alone has (9.0a).
 */
bool ht_nvrtc_own(int architecture);

/* Machine code (a cubin) for the architecture (90: 9.0); where the compiler does not support that,
 * PTX for the nearest older one, which drivers translate. registers: as in struct ht_backend. *code
 * is owned by the caller. The message of a failure contains the compiler's log. */
HT_CHECKED enum ht_err ht_nvrtc_compile(const char *text, int architecture, int registers,
                                        void **code, size_t *size);

#endif
