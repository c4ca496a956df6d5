/* For tests that read damaged files. */
#pragma once

/* HDF5 keeps memory of damaged files that it refuses (seen with 1.10.8): for the leak checker,
 * which gives the name. NOLINTBEGIN */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void) {
    return "leak:libhdf5";
}
/* NOLINTEND */
