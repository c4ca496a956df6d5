/* Machine files: a table of keys, each with its offset in struct ht_machine. */

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* An option as in input files, with an offset in struct reading and the value of its unit. A key
 * without a default is required. */
struct key {
    struct ht_option option;
    double unit;
};
enum { KEYS = 18 };

struct reading {
    struct ht_machine machine;
    char *name;
    bool set[KEYS];
};

#define AT(member) offsetof(struct reading, machine.member)
#define ANY 1, 0
#define POSITIVE DBL_MIN, DBL_MAX
#define NOT_NEGATIVE 0, DBL_MAX
#define KEY(key, type, member, fallback, choices, unit, ...) \
    { {key, HT_OPT_##type, member, fallback, __VA_ARGS__, choices, "", ""}, unit }
#define REAL(key, member, fallback, unit, ...) \
    KEY(key, REAL, AT(member), fallback, NULL, unit, __VA_ARGS__)

static const struct key keys[KEYS] = {
    KEY("name", STRING, offsetof(struct reading, name), NULL, NULL, 1, ANY),
    REAL("device.memory", device.memory, NULL, 1e9, POSITIVE),
    REAL("device.copy", device.copy, NULL, 1e9, POSITIVE),
    /* two operations per multiply-add */
    REAL("device.single", device.fma[0], NULL, 0.5e12, POSITIVE),
    REAL("device.double", device.fma[1], NULL, 0.5e12, POSITIVE),
    REAL("device.rate", device.rate, "0.0", 1, NOT_NEGATIVE),
    REAL("device.fraction", device.fraction, "0.35", 1, DBL_MIN, 1),
    REAL("device.launch", device.launch_s, "0.0", 1e-6, NOT_NEGATIVE),
    REAL("device.boundary", device.boundary, "1.0", 1, 1, DBL_MAX),
    KEY("device.per_node", INT, AT(device.per_node), NULL, NULL, 1, 1, 4096),
    REAL("links.bandwidth", links.bytes_per_s, NULL, 1e9, POSITIVE),
    REAL("links.latency", links.latency_s, NULL, 1e-6, NOT_NEGATIVE),
    KEY("links.staged", BOOL, AT(links.staged), "false", NULL, 1, ANY),
    REAL("network.bandwidth", network.bytes_per_s, NULL, 1e9, POSITIVE),
    REAL("network.latency", network.latency_s, NULL, 1e-6, NOT_NEGATIVE),
    KEY("network.staged", BOOL, AT(network.staged), "true", NULL, 1, ANY),
    KEY("network.per", CHOICE, AT(per_node), "\"device\"", "device|node", 1, ANY),
    REAL("host.copy", host_copy, NULL, 1e9, POSITIVE),
};

/* Index of a key; -1: unknown. */
static int find_key(const char *name) {
    for (int i = 0; i < KEYS; i++)
        if (strcmp(keys[i].option.key, name) == 0) return i;
    return -1;
}

static bool is_section(const char *name) {
    size_t length = strlen(name);
    for (int i = 0; i < KEYS; i++)
        if (strncmp(keys[i].option.key, name, length) == 0 && keys[i].option.key[length] == '.')
            return true;
    return false;
}

static enum ht_err visit(void *data, const struct ht_setting *setting) {
    struct reading *reading = data;
    const int index = find_key(setting->key);
    if (index < 0 && setting->kind == HT_SETTING_GROUP && is_section(setting->key)) return HT_OK;
    if (index < 0) {
        static const char *const sections = "name, device, links, network and host";
        const char *known[KEYS];
        for (int i = 0; i < KEYS; i++) known[i] = keys[i].option.key;
        return ht_option_unknown(setting, "key", ht_text_nearest(setting->key, known, KEYS),
                                 "; a machine has", 1, &sections);
    }
    const struct ht_option *option = &keys[index].option;
    double *real = (double *)((char *)reading + option->offset);
    TRY(ht_option_store(reading, option, setting));
    if (option->type == HT_OPT_REAL) *real *= keys[index].unit;
    reading->set[index] = true;
    return HT_OK;
}

static enum ht_err read_keys(const char *path, struct reading *reading) {
    for (int i = 0; i < KEYS; i++)
        if (keys[i].option.fallback != NULL)
            TRY(ht_config_read_value(keys[i].option.key, keys[i].option.fallback, visit, reading));
    TRY(ht_config_read_file(path, visit, reading));
    for (int i = 0; i < KEYS; i++)
        REQUIRE(reading->set[i], HT_ERR_INPUT, "%s: not set (%s)", keys[i].option.key, path);
    snprintf(reading->machine.name, sizeof reading->machine.name, "%s", reading->name);
    return HT_OK;
}

enum ht_err ht_machine_read(const char *path, struct ht_machine *out) {
    struct reading reading = {.name = NULL};
    const enum ht_err err = read_keys(path, &reading);
    free(reading.name);
    *out = reading.machine;
    return err;
}
