/* The device that a test runs on. HTWAVE_DEVICE chooses it, "cpu" when it is not set, among the
 * devices of the back end HTWAVE_BACKEND, "auto". */
#pragma once

#include <stdlib.h>

#include "htwave/device.h"

static inline const char *test_backend(void) {
    const char *backend = getenv("HTWAVE_BACKEND");
    return backend ? backend : "auto";
}

static inline const char *test_select(void) {
    const char *select = getenv("HTWAVE_DEVICE");
    return select ? select : "cpu";
}

/* For runs whose numbers are judged and not the kernels, and that are small: on CPUs the serial
 * reference, for which nothing is compiled. */
static inline const char *test_numbers(void) {
    const bool chosen = getenv("HTWAVE_DEVICE") != NULL || getenv("HTWAVE_BACKEND") != NULL;
    return chosen ? test_backend() : "oracle";
}

HT_CHECKED static inline enum ht_err test_open_device(struct ht_device **out) {
    return ht_device_open(test_backend(), test_select(), 0, out);
}
