/* How PoCL compiles what a test runs: without optimising it takes a third of the time, a tenth for
 * kernels of long straight lines. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>

/* For all programs compiled from now on. Optimised ones come first: once PoCL 3.1 has compiled one
 * without optimising, it calls built-in functions in all later ones of the process. */
static inline void test_optimise(bool optimise) {
    if (optimise)
        unsetenv("POCL_EXTRA_BUILD_FLAGS");
    else
        setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 1);
}
