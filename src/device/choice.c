/* The table of back ends, the list of all devices, and the choice of the device that is opened.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "device_private.h"

static const struct ht_backend *const backends[] = {&ht_backend_cuda, &ht_backend_opencl};
enum { NBACKENDS = sizeof backends / sizeof backends[0] };

/* Back end of a device of the common list, and its index there. */
static enum ht_err list_all(int *count, struct ht_device_info **infos, int **own_index) {
    int total = 0, counts[NBACKENDS];
    for (int b = 0; b < NBACKENDS; b++) {
        TRY(backends[b]->count(&counts[b]));
        total += counts[b];
    }
    TRY(HT_ALLOC(*infos, total));
    enum ht_err err = HT_ALLOC(*own_index, total);
    int n = 0;
    for (int b = 0; err == HT_OK && b < NBACKENDS; b++)
        for (int i = 0; err == HT_OK && i < counts[b]; i++, n++) {
            struct ht_device_info *info = *infos + n;
            err = backends[b]->info(i, info);
            info->backend = backends[b]->name;
            info->index = n;
            info->no_gemm = backends[b]->no_gemm();
            (*own_index)[n] = i;
        }
    if (err != HT_OK) {
        free(*infos);
        free(*own_index);
        *infos = NULL;
        *own_index = NULL;
        return err;
    }
    *count = total;
    return HT_OK;
}

enum ht_err ht_device_list(int *count, struct ht_device_info **out) {
    HT_FREED int *own_index = NULL;
    return list_all(count, out, &own_index);
}

static const struct ht_backend *backend_of(const char *name) {
    for (int b = 0; b < NBACKENDS; b++)
        if (strcmp(backends[b]->name, name) == 0) return backends[b];
    return NULL;
}

const char *ht_device_backend(int i) {
    return i >= 0 && i < NBACKENDS ? backends[i]->name : NULL;
}

const char *ht_device_missing(const char *backend) {
    const struct ht_backend *b = backend_of(backend);
    return b == NULL ? NULL : b->missing();
}

bool ht_device_built(const char *backend) {
    const struct ht_backend *b = backend_of(backend);
    return b != NULL && b->open != NULL;
}

const char *ht_device_no_gemm(const char *backend) {
    const struct ht_backend *b = backend_of(backend);
    if (b == NULL || b->no_gemm == NULL) return "no such back end";
    return b->no_gemm();
}

static bool contains(const char *text, const char *part) {
    for (; *text; text++) {
        size_t n = 0;
        while (part[n] && tolower((unsigned char)text[n]) == tolower((unsigned char)part[n])) n++;
        if (part[n] == '\0') return true;
    }
    return false;
}

static bool matches(const struct ht_device_info *info, const char *backend, const char *select) {
    char *end = NULL;
    long index = strtol(select, &end, 10);
    if (strcmp(backend, "auto") != 0 && strcmp(backend, info->backend) != 0) return false;
    if (strcmp(select, "auto") == 0) return true;
    if (end != select && *end == '\0') return info->index == index;
    if (strcmp(select, "gpu") == 0) return info->gpu;
    if (strcmp(select, "cpu") == 0) return !info->gpu;
    return contains(info->name, select) || contains(info->platform, select);
}

/* Two back ends may list the same GPU. When all processes of a machine use one back end they get
 * different GPUs. */
static int kind_of(const struct ht_device_info *info) {
    if (!info->gpu) return 2;
    return strcmp(info->backend, "cuda") == 0 ? 0 : 1;
}

int ht_device_choose(int count, const struct ht_device_info *infos, const char *backend,
                     const char *select, int sharer) {
    int best = 3, alike = 0;
    for (int n = 0; n < count; n++) {
        if (!matches(&infos[n], backend, select)) continue;
        if (kind_of(&infos[n]) < best) {
            best = kind_of(&infos[n]);
            alike = 0;
        }
        alike += kind_of(&infos[n]) == best;
    }
    if (alike == 0) return -1;
    int left = sharer % alike;
    for (int n = 0; n < count; n++)
        if (matches(&infos[n], backend, select) && kind_of(&infos[n]) == best && left-- == 0)
            return n;
    return -1;
}

static void add_reason(const char *backend, struct ht_text *text) {
    const char *missing = ht_device_missing(backend);
    if (missing != NULL)
        ht_text_add(text, "; no %s: %s", backend, missing);
    else if (backend_of(backend) == NULL) {
        ht_text_add(text, "; back ends are");
        for (int b = 0; b < NBACKENDS; b++)
            ht_text_add(text, "%s %s", b ? "," : "", backends[b]->name);
    }
}

static enum ht_err none_matches(int count, const struct ht_device_info *infos, const char *backend,
                                const char *select) {
    HT_FREED_TEXT struct ht_text text = {0};
    for (int n = 0; n < count; n++)
        ht_text_add(&text, "%s%d: %s (%s)", n ? "; " : "", n, infos[n].name, infos[n].backend);
    if (count == 0) ht_text_add(&text, "none");
    const bool any = strcmp(backend, "auto") == 0;
    if (!any) add_reason(backend, &text);
    for (int b = 0; any && count == 0 && b < NBACKENDS; b++) add_reason(backends[b]->name, &text);
    TRY(ht_text_status(&text));
    return ht_err_set(HT_ERR_DEVICE,
                      "no device matches device.backend = \"%s\", "
                      "device.select = \"%s\"; available: %s",
                      backend, select, text.data);
}

static enum ht_err open_one(const struct ht_device_info *info, int own_index,
                            struct ht_device **out) {
    struct ht_device *device = NULL;
    TRY(HT_ALLOC(device, 1));
    device->info = *info;
    device->backend = backend_of(info->backend);
    enum ht_err err = device->backend->open(own_index, &device->handle);
    return HT_MADE(err, device, free, out);
}

enum ht_err ht_device_open(const char *backend, const char *select, int sharer,
                           struct ht_device **out) {
    int count = 0;
    HT_FREED int *own_index = NULL;
    HT_FREED struct ht_device_info *infos = NULL;
    *out = NULL;
    TRY(list_all(&count, &infos, &own_index));
    int n = ht_device_choose(count, infos, backend, select, sharer);
    return n < 0 ? none_matches(count, infos, backend, select)
                 : open_one(&infos[n], own_index[n], out);
}
