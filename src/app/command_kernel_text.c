/* htwave kernel-text: the program text that a run would hand to the device's compiler. With --ptx
 * it is that of an NVIDIA device of that architecture. */
#include <stdlib.h>

#include "commands.h"
#include "htwave/simulation.h"

static enum ht_err print_run(const struct ht_params *params, int ptx) {
    struct ht_simulation *sim = NULL;
    struct ht_text text = {0};
    TRY(ht_simulation_plan(params, NULL, &sim));
    enum ht_err err = HT_OK;
    if (sim->device == NULL)
        err = ht_err_set(HT_ERR_DEVICE, "no device, so no kernels: %s",
                         sim->no_device ? sim->no_device : "device.backend is \"oracle\"");
    if (err == HT_OK && ptx > 0) sim->kernels.spec[0].ptx = ptx;
    if (err == HT_OK)
        err = ht_kernel_text(sim->kernels.variant, &sim->kernels.spec[0], &sim->kernels.shape[0],
                             &text);
    if (err == HT_OK) err = ht_args_print(&text);
    ht_text_free(&text);
    ht_simulation_destroy(sim);
    return err;
}

/* 10 times the architecture; 0 without the flag. */
static enum ht_err read_ptx(const struct ht_args *args, int *out) {
    const char *text = ht_args_value(args, "--ptx");
    int count = 0, *list = NULL;
    *out = 0;
    if (text == NULL) return HT_OK;
    TRY(ht_args_integers("--ptx", text, 1, 999, &count, &list));
    *out = list[0];
    free(list);
    return HT_OK;
}

enum ht_err ht_command_kernel_text(const struct ht_args *args) {
    struct ht_params *params = NULL;
    int ptx = 0;
    TRY(read_ptx(args, &ptx));
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &params));
    enum ht_err err = print_run(params, ptx);
    ht_params_destroy(params);
    return err;
}
