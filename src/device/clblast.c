/* Matrix products by CLBlast: the only file that includes it. Its strided-batched routine computes
 * products below about 128^3 with one kernel and no temporary buffer. It compiles its kernels at
 * the first call, some 20 s on a CPU. */
#include "gemm.h"

#include <clblast_c.h>

const char *ht_clblast_missing(void) {
    return NULL;
}

void ht_clblast_forget(void) {
    (void)CLBlastClearCache();
}

/* Names of the codes that a device can cause; the others print as numbers. */
static const char *status_name(CLBlastStatusCode status) {
    switch (status) {
    case CLBlastOpenCLBuildProgramFailure:
        return "its kernels do not compile";
    case CLBlastInvalidLocalThreadsTotal:
    case CLBlastInvalidLocalThreadsDim:
        return "its groups are larger than the device allows";
    case CLBlastInvalidLocalMemUsage:
        return "it needs more local memory than the device has";
    case CLBlastNoDoublePrecision:
        return "the device has no double precision";
    case CLBlastTempBufferAllocFailure:
        return "out of device memory";
    default:
        return "it failed";
    }
}

HT_ERR ht_clblast_gemm(cl_command_queue queue, const struct ht_launch *launch, cl_event *event) {
    const struct ht_gemm_shape *shape = launch->gemm;
    cl_mem buffer[3];
    const size_t m = (size_t)shape->m, n = (size_t)shape->n;
    const size_t k = (size_t)shape->k, batches = (size_t)shape->batches;
    size_t at[3], stride[3];
    for (int i = 0; i < 3; i++) {
        at[i] = (size_t)shape->at[i];
        stride[i] = (size_t)shape->stride[i];
        buffer[i] = (cl_mem)launch->args[i].value;
    }
    /* CLBlast refuses a stride of 0, even for one product. */
    if (stride[2] == 0) stride[2] = m * n;
#define PRODUCTS(gemm)                                                                           \
    gemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, m, n, k, 1, buffer[0],   \
         at[0], k, stride[0], buffer[1], at[1], n, stride[1], 0, buffer[2], at[2], n, stride[2], \
         batches, &queue, event)
    const CLBlastStatusCode status =
        launch->fp64 ? PRODUCTS(CLBlastDgemmStridedBatched) : PRODUCTS(CLBlastSgemmStridedBatched);
    REQUIRE(status == CLBlastSuccess, HT_ERR_DEVICE, "a matrix product by CLBlast: %s (status %d)",
            status_name(status), (int)status);
    return HT_OK;
}
