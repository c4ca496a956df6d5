/* Machine files: a table of keys, each with its offset in struct ht_machine. */
#include "htwave/machine.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "options.h"

/* An option as in input files, with an offset in struct ht_machine and the
 * value of its unit. A key without a default is required. */
struct key {
    struct ht_option option;
    double unit;
};

#define AT(member) offsetof(struct ht_machine, member)
#define ANY 1, 0
#define POSITIVE DBL_MIN, DBL_MAX
#define NOT_NEGATIVE 0, DBL_MAX
#define REAL(key, member, fallback, range, unit) \
    { {key, HT_OPT_REAL, AT(member), fallback, range, NULL, "", ""}, unit }

static const struct key keys[] = {
    {{"name", HT_OPT_STRING, AT(name), NULL, ANY, NULL, "", ""}, 1},
    REAL("device.memory", device.memory, NULL, POSITIVE, 1e9),
    REAL("device.copy", device.copy, NULL, POSITIVE, 1e9),
    /* two operations per multiply-add */
    REAL("device.single", device.fma[0], NULL, POSITIVE, 0.5e12),
    REAL("device.double", device.fma[1], NULL, POSITIVE, 0.5e12),
    REAL("device.rate", device.rate, "0.0", NOT_NEGATIVE, 1),
    {{"device.fraction", HT_OPT_REAL, AT(device.fraction), "0.35", DBL_MIN, 1,
      NULL, "", ""},
     1},
    REAL("device.launch", device.launch_s, "0.0", NOT_NEGATIVE, 1e-6),
    {{"device.boundary", HT_OPT_REAL, AT(device.boundary), "1.0", 1, DBL_MAX,
      NULL, "", ""},
     1},
    {{"device.per_node", HT_OPT_INT, AT(device.per_node), NULL, 1, 4096, NULL,
      "", ""},
     1},
    REAL("links.bandwidth", links.bytes_per_s, NULL, POSITIVE, 1e9),
    REAL("links.latency", links.latency_s, NULL, NOT_NEGATIVE, 1e-6),
    {{"links.staged", HT_OPT_BOOL, AT(links.staged), "false", ANY, NULL, "",
      ""},
     1},
    REAL("network.bandwidth", network.bytes_per_s, NULL, POSITIVE, 1e9),
    REAL("network.latency", network.latency_s, NULL, NOT_NEGATIVE, 1e-6),
    {{"network.staged", HT_OPT_BOOL, AT(network.staged), "true", ANY, NULL, "",
      ""},
     1},
    {{"network.per", HT_OPT_STRING, AT(per_node), "\"device\"", ANY,
      "device|node", "", ""},
     1},
    REAL("host.copy", host_copy, NULL, POSITIVE, 1e9),
};
enum { KEYS = sizeof keys / sizeof keys[0] };

struct reading {
    struct ht_machine *machine;
    bool set[KEYS];
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
        if (strncmp(keys[i].option.key, name, length) == 0 &&
            keys[i].option.key[length] == '.')
            return true;
    return false;
}

static enum ht_err fail_unknown(const struct ht_setting *setting) {
    const char *known[KEYS];
    for (int i = 0; i < KEYS; i++) known[i] = keys[i].option.key;
    const char *near = ht_text_nearest(setting->key, known, KEYS);
    if (near != NULL)
        FAIL(HT_ERR_INPUT, "%s: unknown key; did you mean %s? (%s)",
             setting->key, near, setting->place);
    FAIL(HT_ERR_INPUT,
         "%s: unknown key; a machine has name, device, links, network and host "
         "(%s)",
         setting->key, setting->place);
}

static enum ht_err fail_rule(const struct ht_setting *setting,
                             const char *rule) {
    FAIL(HT_ERR_INPUT, "%s = %s: must be %s (%s)", setting->key, setting->value,
         rule, setting->place);
}

static enum ht_err store_number(const struct key *key,
                                const struct ht_setting *setting, void *to) {
    const struct ht_option *option = &key->option;
    const struct ht_scalar *item = setting->item;
    bool whole = option->type == HT_OPT_INT;
    char range[160];
    if (item->kind != HT_SCALAR_INT && (whole || item->kind != HT_SCALAR_REAL))
        return fail_rule(setting, ht_option_type_words(option));
    if (!isfinite(item->real)) return fail_rule(setting, "finite");
    if (!(item->real >= option->low && item->real <= option->high))
        return fail_rule(setting, ht_option_range(option, range));
    if (whole)
        *(int *)to = (int)item->integer;
    else
        *(double *)to = item->real * key->unit;
    return HT_OK;
}

/* The name of the machine, or which of two choices was made. */
static enum ht_err store_string(const struct key *key,
                                const struct ht_setting *setting,
                                struct ht_machine *machine) {
    const struct ht_option *option = &key->option;
    char range[160];
    if (setting->item->kind != HT_SCALAR_STRING)
        return fail_rule(setting, ht_option_type_words(option));
    const char *text = setting->item->text;
    if (option->choices == NULL) {
        snprintf(machine->name, sizeof machine->name, "%s", text);
        return HT_OK;
    }
    machine->per_node = strcmp(text, "node") == 0;
    if (!machine->per_node && strcmp(text, "device") != 0)
        return fail_rule(setting, ht_option_range(option, range));
    return HT_OK;
}

static enum ht_err visit(void *data, const struct ht_setting *setting) {
    struct reading *reading = data;
    int index = find_key(setting->key);
    if (index < 0 && setting->kind == HT_SETTING_GROUP &&
        is_section(setting->key))
        return HT_OK;
    if (index < 0) return fail_unknown(setting);
    const struct key *key = &keys[index];
    void *to = (char *)reading->machine + key->option.offset;
    if (setting->kind != HT_SETTING_SCALAR)
        return fail_rule(setting, ht_option_type_words(&key->option));
    reading->set[index] = true;
    if (key->option.type == HT_OPT_STRING)
        return store_string(key, setting, reading->machine);
    if (key->option.type != HT_OPT_BOOL) return store_number(key, setting, to);
    if (setting->item->kind != HT_SCALAR_BOOL)
        return fail_rule(setting, ht_option_type_words(&key->option));
    *(bool *)to = setting->item->flag;
    return HT_OK;
}

enum ht_err ht_machine_read(const char *path, struct ht_machine *out) {
    struct reading reading = {.machine = out};
    *out = (struct ht_machine){.name = ""};
    for (int i = 0; i < KEYS; i++)
        if (keys[i].option.fallback != NULL)
            TRY(ht_config_read_value(keys[i].option.key,
                                     keys[i].option.fallback, visit, &reading));
    TRY(ht_config_read_file(path, visit, &reading));
    for (int i = 0; i < KEYS; i++)
        REQUIRE(reading.set[i], HT_ERR_INPUT, "%s: not set (%s)",
                keys[i].option.key, path);
    return HT_OK;
}
