/* Address of a device on the PCI bus. */
#ifndef HTWAVE_DEVICE_PCI_H
#define HTWAVE_DEVICE_PCI_H

#include <stddef.h>
#include <stdio.h>

struct ht_pci {
    int domain, bus, slot; /* bus -1: not known */
};

/* In the format of NVML and lspci; empty when it is not known. */
static inline void ht_pci_text(struct ht_pci pci, char *out, size_t size) {
    out[0] = '\0';
    if (pci.bus >= 0)
        snprintf(out, size, "%08x:%02x:%02x.0", (unsigned)pci.domain, (unsigned)pci.bus,
                 (unsigned)pci.slot);
}

#endif
