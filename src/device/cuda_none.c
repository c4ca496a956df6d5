/* A build without CUDA (make CUDA=0, or without the toolkit's headers): no devices. */
#include "backend.h"
#include "nvidia.h"

static const char *cuda_missing(void) {
    return "this htwave was built without the headers of the CUDA toolkit";
}

static int cuda_count(void) {
    return 0;
}

const struct ht_backend ht_backend_cuda = {
    .name = "cuda",
    .count = cuda_count,
    .missing = cuda_missing,
};

const char *ht_nvrtc_missing(HT_UNUSED int driver) {
    return cuda_missing();
}

const char *ht_nvrtc_version(void) {
    return "";
}

HT_ERR ht_nvrtc_compile(HT_UNUSED const char *text, HT_UNUSED int architecture,
                        HT_UNUSED int registers, void **code, size_t *size) {
    *code = NULL;
    *size = 0;
    FAIL(HT_ERR_DEVICE, "%s", cuda_missing());
}
