/* A build without CLBlast (make WITHOUT=clblast). */
#include "gemm.h"

const char *ht_clblast_missing(void) {
    return "this htwave was built without CLBlast";
}

HT_ERR ht_clblast_gemm(HT_UNUSED cl_command_queue queue, HT_UNUSED const struct ht_launch *launch,
                       HT_UNUSED cl_event *event) {
    FAIL(HT_ERR_DEVICE, "%s", ht_clblast_missing());
}

void ht_clblast_forget(void) {}
