/* htwave check --machine: predicted times on many devices. */
#ifndef HTWAVE_PREDICT_H
#define HTWAVE_PREDICT_H

#include "htwave/args.h"
#include "htwave/params.h"

/* Flags of a command's table that ht_predict_run understands. */
#define HT_PREDICT_FLAGS                                                    \
    {"--machine", "FILE", "predict times on many devices like that"},       \
        {"--gpus", "LIST", "numbers of them (default 1,2,4,..4096)"},       \
        {"--rate", "X", "cell half-steps/s of one (default: machine's)"}, { \
        "--measured", "CSV", "of bench scaling: compare, take its rate"     \
    }

/* Prints strong and weak scaling of a run on the machine of --machine. No
 * device is needed. */
HT_CHECKED enum ht_err ht_predict_run(const struct ht_args *args,
                                      const struct ht_params *params);

#endif
