/* htwave devices: the devices and their properties. */
#include <math.h>
#include <stdlib.h>

#include "commands.h"
#include "htwave/json.h"
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
    enum ht_err err = ht_limits_measure(device, false, NULL, &limits[0]);
    if (err == HT_OK && info->fp64) err = ht_limits_measure(device, true, NULL, &limits[1]);
    ht_device_close(device);
    *out = (struct measure){.bytes_per_s = fmax(limits[0].bytes_per_s, limits[1].bytes_per_s),
                            .fma_single = limits[0].fma_per_s,
                            .fma_double = limits[1].fma_per_s};
    return err;
}

static void add_json(const struct ht_device_info *info, const struct measure *m,
                     struct ht_json *json) {
    ht_json_open(json, NULL, '{');
    ht_json_integer(json, "index", info->index);
    ht_json_string(json, "name", info->name);
    ht_json_string(json, "vendor", info->vendor);
    ht_json_string(json, "platform", info->platform);
    ht_json_string(json, "driver", info->driver);
    ht_json_string(json, "backend", info->backend);
    ht_json_string(json, "id", info->id);
    ht_json_bool(json, "gpu", info->gpu);
    ht_json_bool(json, "fp64", info->fp64);
    ht_json_integer(json, "memory_bytes", info->memory);
    ht_json_integer(json, "max_buffer_bytes", info->max_buffer);
    ht_json_integer(json, "local_memory_bytes", info->local_memory);
    ht_json_integer(json, "max_group", info->max_group);
    ht_json_integer(json, "compute_units", info->compute_units);
    if (m->bytes_per_s > 0) ht_json_number(json, "copy_bytes_per_s", m->bytes_per_s);
    if (m->fma_single > 0) ht_json_number(json, "fma_single_per_s", m->fma_single);
    if (m->fma_double > 0) ht_json_number(json, "fma_double_per_s", m->fma_double);
    ht_json_close(json, '}');
}

static void add_text(const struct ht_device_info *info, const struct measure *m,
                     struct ht_text *text) {
    char memory[32], buffer[32], local[32];
    ht_text_add(text, "%d: %s\n", info->index, info->name);
    ht_text_add(text, "   %s, %s, %s, driver %s\n", info->backend, info->gpu ? "GPU" : "no GPU",
                info->platform, info->driver);
    ht_text_add(text,
                "   memory %s, largest buffer %s, local memory %s, groups of "
                "%lld, %d compute units, %s\n",
                ht_text_bytes((double)info->memory, memory),
                ht_text_bytes((double)info->max_buffer, buffer),
                ht_text_bytes((double)info->local_memory, local), (long long)info->max_group,
                info->compute_units, info->fp64 ? "single and double" : "single only");
    if (m->bytes_per_s > 0)
        ht_text_add(text, "   copies %.4g GB/s, single %.4g GFMA/s", m->bytes_per_s * 1e-9,
                    m->fma_single * 1e-9);
    if (m->fma_double > 0) ht_text_add(text, ", double %.4g GFMA/s", m->fma_double * 1e-9);
    if (m->bytes_per_s > 0) ht_text_add(text, "\n");
}

/* Back ends without devices, with the reason. */
static void add_missing(struct ht_json *json, struct ht_text *text) {
    const char *name;
    ht_json_open(json, "missing", '{');
    for (int b = 0; (name = ht_device_backend(b)) != NULL; b++) {
        const char *missing = ht_device_missing(name);
        if (missing == NULL) continue;
        ht_json_string(json, name, missing);
        ht_text_add(text, "no %s: %s\n", name, missing);
    }
    ht_json_close(json, '}');
}

static enum ht_err list(int count, const struct ht_device_info *infos, const struct ht_args *args) {
    struct ht_json json = {0};
    struct ht_text text = {0};
    enum ht_err err = HT_OK;
    ht_json_open(&json, NULL, '{');
    ht_json_open(&json, "devices", '[');
    for (int i = 0; err == HT_OK && i < count; i++) {
        struct measure m = {0};
        if (ht_args_value(args, "--measure")) err = measure(&infos[i], &m);
        add_json(&infos[i], &m, &json);
        add_text(&infos[i], &m, &text);
    }
    ht_json_close(&json, ']');
    add_missing(&json, &text);
    ht_json_close(&json, '}');
    ht_json_end(&json);
    ht_text_add(&text, "device.select takes a number, a part of a name, gpu "
                       "or cpu; device.backend = \"oracle\" needs none.\n");
    if (err == HT_OK) err = ht_args_print(args->json ? &json.text : &text);
    ht_text_free(&json.text);
    ht_text_free(&text);
    return err;
}

enum ht_err ht_command_devices(const struct ht_args *args) {
    int count = 0;
    struct ht_device_info *infos = NULL;
    TRY(ht_device_list(&count, &infos));
    enum ht_err err = list(count, infos, args);
    free(infos);
    return err;
}
