/* The device that a test runs on. HTWAVE_DEVICE chooses it, "cpu" when it is not set, among the
 * devices of the back end HTWAVE_BACKEND, "auto". */
#pragma once

#include "htwave/device.h"
#include "test.h"

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

/* The same by the words of io/recorded.h; by night on the device. */
static inline const char *test_judged(void) {
    return !test_all() && strcmp(test_numbers(), "oracle") == 0 ? "oracle" : "device";
}

HT_CHECKED static inline enum ht_err test_open_device(struct ht_device **out) {
    return ht_device_open(test_backend(), test_select(), 0, out);
}

/* It, or NULL and a line that skips. */
static inline struct ht_device *test_device_here(void) {
    struct ht_device *device = NULL;
    if (test_open_device(&device) != HT_OK) TEST_SKIP("no device: %s", ht_err_message());
    if (device != NULL) printf("device %s\n", ht_device_info(device)->name);
    return device;
}

/* Whether there is one with double precision. */
static inline bool test_have_double(void) {
    struct ht_device *device = test_device_here();
    const bool fp64 = device != NULL && ht_device_info(device)->fp64;
    if (device != NULL && !fp64) TEST_SKIP("the device has no double precision");
    ht_device_close(device);
    return fp64;
}

/* What a test judges on the device; ends main. */
static inline int test_on_device(const char *name, void (*judge)(struct ht_device *device)) {
    struct ht_device *device = test_device_here();
    if (device != NULL) judge(device);
    ht_device_close(device);
    return test_end(name);
}
