/* Keys and values that earlier versions took, and what to use instead. A value of a key that is
 * still there has a row with both; a key that is gone has a row without a value. */
#include "htwave/params.h"

static const struct {
    const char *key, *value, *advice;
} gone[] = {
    {"device.variant", "warp", "\"monolithic\", or time.scheme = \"fd\" where the medium varies"},
    {"device.variant", "parity-team",
     "\"auto\"; time.scheme = \"leapfrog\" takes less time for the same error"},
    {"device.variant", "parity-faces",
     "\"auto\"; time.scheme = \"leapfrog\" takes less time for the same error"},
    {"device.variant", "registers", "\"separable\" with time.stages = \"full\", or \"monolithic\""},
    {"device.variant", "separable-team", "\"separable\""},
    {"device.variant", "propagator-potential", "\"propagator\""},
    {"device.variant", "fd-fused", "\"fd-march\""},
    {"device.variant", "parity-chains",
     "\"auto\"; time.scheme = \"leapfrog\" takes less time for the same error, time.scheme = "
     "\"fd\" where the medium varies"},
    {"device.variant", "chains", "\"propagator-local\""},
    {"device.variant", "propagator-layers", "\"auto\"; absorbing layers have kernels of their own"},
    {"absorbing.organisation", NULL,
     "the one that a method has: by finite differences corrections in the layers, \"faces\", by "
     "Hermite methods kernels of their own, \"regions\""},
    {"absorbing.profile", NULL,
     "fewer absorbing.cells: the damping varies about every node, and 4 cells "
     "reflect no more than 8 did where it was constant there"},
    {"parallel.transport", "shared",
     "\"staged\": MPI takes memory that the ranks of a machine share"},
    {"parallel.weights", NULL, "equal slabs, which all runs have"},
};

const char *ht_params_gone(const char *key, const char *value) {
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        if (strcmp(gone[i].key, key) != 0) continue;
        if (gone[i].value == NULL || (value != NULL && strcmp(gone[i].value, value) == 0))
            return gone[i].advice;
    }
    return NULL;
}
