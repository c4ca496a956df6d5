/* A build without CLBlast (make WITHOUT=clblast). */
#include "gemm.h"

const char *ht_clblast_missing(void) {
    return "this htwave was built without CLBlast";
}

enum ht_err ht_clblast_gemm(cl_command_queue queue, bool fp64, const struct ht_gemm_shape *shape,
                            void *const buffers[3], cl_event *event) {
    (void)queue, (void)fp64, (void)shape, (void)buffers, (void)event;
    FAIL(HT_ERR_DEVICE, "%s", ht_clblast_missing());
}

void ht_clblast_forget(void) {}
