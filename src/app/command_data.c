/* htwave data: the traces of all shots, into the files that a gradient reads. */
#include "app.h"

enum ht_err ht_command_data(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &params));
    params->output.snapshots = params->output.pictures = params->output.series = false;
    params->output.checkpoint.seconds = params->output.checkpoint.every = 0;
    return ht_run_shots(params, args, true);
}
