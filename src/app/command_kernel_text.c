/* htwave kernel-text: the program text that a run would hand to the device's compiler. With --ptx
 * it is that of an NVIDIA device of that architecture. */
#include <stdlib.h>

#include "app.h"

/* 10 times the architecture; 0 without the flag. */
static enum ht_err read_ptx(const struct ht_args *args, int *out) {
    int count = 0;
    HT_FREED int *list = NULL;
    TRY(ht_args_integers(args, "--ptx", 1, 999, &count, &list));
    *out = list != NULL ? list[0] : 0;
    return HT_OK;
}

enum ht_err ht_command_kernel_text(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    int ptx = 0;
    TRY(read_ptx(args, &ptx));
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &params));
    HT_ENDED(ht_simulation_end) struct ht_simulation *sim = NULL;
    HT_FREED_TEXT struct ht_text text = {0};
    TRY(ht_simulation_plan(params, NULL, &sim));
    REQUIRE(sim->device != NULL, HT_ERR_DEVICE, "no device, so no kernels: %s",
            sim->no_device ? sim->no_device : "device.backend is \"oracle\"");
    if (ptx > 0) sim->kernels.spec[0].ptx = ptx;
    TRY(ht_kernel_text(sim->kernels.variant, &sim->kernels.spec[0], &sim->kernels.shape[0], &text));
    return ht_args_print(&text);
}
