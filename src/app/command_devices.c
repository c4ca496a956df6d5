/* htwave devices: the devices and their properties. */
#include <math.h>
#include <stdlib.h>

#include "app.h"
#include "htwave/kernel.h"

/* Measured limits of one device; 0: not measured. */
struct measure {
    double bytes_per_s, fma_single, fma_double;
};

static enum ht_err measure(const struct ht_device_info *info, struct measure *out) {
    struct ht_device *device = NULL;
    struct ht_limits limits[2] = {{0}};
    char index[16];
    snprintf(index, sizeof index, "%d", info->index);
    TRY(ht_device_open("auto", index, 0, &device));
    enum ht_err err = ht_limits_measure(device, false, &limits[0]);
    if (err == HT_OK && info->fp64) err = ht_limits_measure(device, true, &limits[1]);
    ht_device_close(device);
    *out = (struct measure){.bytes_per_s = fmax(limits[0].bytes_per_s, limits[1].bytes_per_s),
                            .fma_single = limits[0].fma_per_s,
                            .fma_double = limits[1].fma_per_s};
    return err;
}

static void add_device(const struct ht_device_info *info, const struct measure *m,
                       struct ht_facts *f) {
    ht_fact(f, open, NULL, '{');
    ht_fact(f, integer, "index", info->index);
    ht_fact(f, string, "name", info->name);
    ht_fact(f, string, "vendor", info->vendor);
    ht_fact(f, string, "platform", info->platform);
    ht_fact(f, string, "driver", info->driver);
    ht_fact(f, string, "backend", info->backend);
    ht_fact(f, string, "id", info->id);
    ht_fact(f, bool, "gpu", info->gpu);
    ht_fact(f, bool, "fp64", info->fp64);
    ht_fact(f, integer, "memory_bytes", info->memory);
    ht_fact(f, integer, "max_buffer_bytes", info->max_buffer);
    ht_fact(f, integer, "local_memory_bytes", info->local_memory);
    ht_fact(f, integer, "max_group", info->max_group);
    ht_fact(f, integer, "compute_units", info->compute_units);
    ht_say(f, "%d: %s\n   %s, %s, %s, driver %s\n", info->index, info->name, info->backend,
           info->gpu ? "GPU" : "no GPU", info->platform, info->driver);
    ht_say(
        f,
        "   memory %s, largest buffer %s, local memory %s, groups of %lld, %d compute units, %s\n",
        HT_BYTES(info->memory), HT_BYTES(info->max_buffer), HT_BYTES(info->local_memory),
        (long long)info->max_group, info->compute_units,
        info->fp64 ? "single and double" : "single only");
    if (m->bytes_per_s > 0) ht_fact(f, number, "copy_bytes_per_s", m->bytes_per_s);
    if (m->bytes_per_s > 0)
        ht_say(f, "   copies %.4g GB/s, single %.4g GFMA/s", m->bytes_per_s * 1e-9,
               m->fma_single * 1e-9);
    if (m->fma_single > 0) ht_fact(f, number, "fma_single_per_s", m->fma_single);
    if (m->fma_double > 0) ht_fact(f, number, "fma_double_per_s", m->fma_double);
    if (m->fma_double > 0) ht_say(f, ", double %.4g GFMA/s", m->fma_double * 1e-9);
    if (m->bytes_per_s > 0) ht_say(f, "\n");
    ht_fact(f, close, '}');
}

static enum ht_err list(int count, const struct ht_device_info *infos, const struct ht_args *args) {
    HT_ENDED(ht_facts_free) struct ht_facts f = ht_facts_open();
    ht_fact(&f, open, "devices", '[');
    for (int i = 0; i < count; i++) {
        struct measure m = {0};
        if (ht_args_value(args, "--measure")) TRY(measure(&infos[i], &m));
        add_device(&infos[i], &m, &f);
    }
    ht_fact(&f, close, ']');
    /* Back ends without devices, with the reason. */
    const char *name;
    ht_fact(&f, open, "missing", '{');
    for (int b = 0; (name = ht_device_backend(b)) != NULL; b++) {
        const char *missing = ht_device_missing(name);
        if (missing == NULL) continue;
        ht_fact(&f, string, name, missing);
        ht_say(&f, "no %s: %s\n", name, missing);
    }
    ht_fact(&f, close, '}');
    ht_say(&f, "device.select takes a number, a part of a name, gpu or cpu; device.backend = "
               "\"oracle\" needs none.\n");
    return ht_facts_print(&f, args->json);
}

enum ht_err ht_command_devices(const struct ht_args *args) {
    int count = 0;
    HT_FREED struct ht_device_info *infos = NULL;
    TRY(ht_device_list(&count, &infos));
    return list(count, infos, args);
}
