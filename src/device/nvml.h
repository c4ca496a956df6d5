/* The energy counter of an NVIDIA device by NVML, the management library that comes with the
 * driver, loaded at run time (nvml.c; in nvml_none.c it is missing).
 */
#ifndef HTWAVE_DEVICE_NVML_H
#define HTWAVE_DEVICE_NVML_H

#include "pci.h"

struct ht_nvml;
/* NULL when the library, the device or its counter is missing; that is no error, energy is then
 * unknown. Without a bus address the only device is taken; with several devices none. */
struct ht_nvml *ht_nvml_open(struct ht_pci pci);
void ht_nvml_close(struct ht_nvml *nvml); /* NULL allowed */
/* Joules of the whole board since the driver was loaded; negative: unknown (also for NULL). */
double ht_nvml_joules(struct ht_nvml *nvml);

#endif
