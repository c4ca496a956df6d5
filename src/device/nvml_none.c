/* Built instead of nvml.c: energy is unknown. */
#include "nvidia.h"

struct ht_nvml *ht_nvml_open(struct ht_pci pci) {
    (void)pci;
    return NULL;
}

void ht_nvml_close(struct ht_nvml *nvml) {
    (void)nvml;
}

double ht_nvml_joules(struct ht_nvml *nvml) {
    (void)nvml;
    return -1;
}
