/* Libraries of NVIDIA that are loaded at run time: NVRTC, the compiler of the CUDA toolkit
 * (cuda_nvrtc.c; in cuda_none.c it is missing), which needs no device, and NVML, the management
 * library of the driver, for the energy counter. */
#pragma once

#include <dlfcn.h>

#include "htwave/device.h"

/* Stores the function's address in the function pointer at `function`, NULL when the library has no
 * such function. C has no cast from an object pointer to a function pointer; POSIX guarantees that
 * both have the same representation (dlsym). */
static inline bool ht_library_find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* The address of a device on the PCI bus, in the format of NVML and lspci. */
static inline void ht_bus_text(int domain, int bus, int slot, struct ht_device_info *info) {
    snprintf(info->bus, sizeof info->bus, "%08x:%02x:%02x.0", (unsigned)domain, (unsigned)bus,
             (unsigned)slot);
}

/* ---- nvml.c ---- */
struct ht_nvml;
/* NULL when the library, the device or its counter is missing; that is no error, energy is then
 * unknown. Without a bus address ("") the only device is taken; with several devices none. */
struct ht_nvml *ht_nvml_open(const char *bus);
void ht_nvml_close(struct ht_nvml *nvml); /* NULL allowed */
/* Joules of the whole board since the driver was loaded; negative: unknown (also for NULL). */
double ht_nvml_joules(struct ht_nvml *nvml);

/* ---- cuda_nvrtc.c ---- */
/* Why it cannot be used; NULL: it can. driver: 1000 major + 10 minor of the CUDA version that will
 * run the code, 0: any. The first call loads the library, which stays loaded. */
const char *ht_nvrtc_missing(int driver);
/* "13.0"; "" when it is missing. */
const char *ht_nvrtc_version(void);
/* Whether machine code for this architecture may use what it alone has (9.0a). */
bool ht_nvrtc_own(int architecture);
/* Machine code (a cubin) for the architecture (90: 9.0); where the compiler does not support that,
 * PTX for the nearest older one, which drivers translate. registers: as in struct ht_backend. *code
 * is owned by the caller. The message of a failure contains the compiler's log. */
HT_ERR ht_nvrtc_compile(const char *text, int architecture, int registers, void **code,
                        size_t *size);
