/* NVML, loaded at run time: neither its header nor its library is needed to build htwave. The
 * declarations of the functions used follow NVML's documentation. */
#include "nvidia.h"

enum { NVML_SUCCESS = 0 };
typedef struct nvml_device *nvml_handle;

struct ht_nvml {
    void *library;
    bool started;
    nvml_handle device;
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *count);
    int (*by_index)(unsigned index, nvml_handle *device);
    int (*by_bus)(const char *bus, nvml_handle *device);
    int (*energy)(nvml_handle device, unsigned long long *millijoules);
};

static bool load(struct ht_nvml *n) {
    n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (n->library == NULL) return false;
    const struct {
        const char *name;
        void *function;
    } needed[] = {{"nvmlInit_v2", &n->init},
                  {"nvmlShutdown", &n->shutdown},
                  {"nvmlDeviceGetCount_v2", &n->count},
                  {"nvmlDeviceGetHandleByIndex_v2", &n->by_index},
                  {"nvmlDeviceGetHandleByPciBusId_v2", &n->by_bus},
                  {"nvmlDeviceGetTotalEnergyConsumption", &n->energy}};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!ht_library_find(n->library, needed[i].name, needed[i].function)) return false;
    return true;
}

struct ht_nvml *ht_nvml_open(const char *bus) {
    struct ht_nvml *n = calloc(1, sizeof *n);
    if (n == NULL) return NULL;
    unsigned count = 0;
    n->started = load(n) && n->init() == NVML_SUCCESS;
    const bool alone = n->started && *bus == '\0' && n->count(&count) == NVML_SUCCESS && count == 1;
    const int found = !n->started || (*bus == '\0' && !alone) ? -1
                      : alone                                 ? n->by_index(0, &n->device)
                                                              : n->by_bus(bus, &n->device);
    if (found == NVML_SUCCESS && ht_nvml_joules(n) >= 0) return n;
    ht_nvml_close(n);
    return NULL;
}

void ht_nvml_close(struct ht_nvml *n) {
    if (n == NULL) return;
    if (n->started) (void)n->shutdown();
    if (n->library != NULL) (void)dlclose(n->library);
    free(n);
}

double ht_nvml_joules(struct ht_nvml *n) {
    const double millijoule = 1e-3;
    unsigned long long counted = 0;
    if (n == NULL || n->energy(n->device, &counted) != NVML_SUCCESS) return -1;
    return millijoule * (double)counted;
}
