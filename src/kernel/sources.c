/* Kernel files by name. */
#include <string.h>

#include "htwave/kernel_sources.h"

enum ht_err ht_kernel_add_source(const char *name, struct ht_text *out) {
    for (int i = 0; ht_kernel_sources[i].name != NULL; i++)
        if (strcmp(ht_kernel_sources[i].name, name) == 0) {
            ht_text_add(out, "%s", ht_kernel_sources[i].text);
            return HT_OK;
        }
    FAIL(HT_ERR_INTERNAL, "no kernel file %s", name);
}
