/* Commands, whose table is in main.c, and what several of them use. */
#pragma once

#include "htwave/simulation.h"

/* ---- a function per command ---- */
typedef enum ht_err ht_command_do(const struct ht_args *args);
ht_command_do ht_command_run, ht_command_data, ht_command_gradient, ht_command_continue,
    ht_command_check, ht_command_converge, ht_command_describe, ht_command_bench, ht_command_tune,
    ht_command_selftest, ht_command_selftest_rows;
/* Refuses outputs that the plan cannot have, of this rank alone; tunes, says the banner, makes
 * kernels: after ht_simulation_plan. */
HT_ERR ht_run_check_wanted(const struct ht_simulation *sim);
HT_ERR ht_run_ready(struct ht_simulation *sim);
/* Of a command that runs shots for their traces: no other outputs; maps are warned of. */
void ht_traces_alone(struct ht_params *params, const char *command);

/* ---- signals.c: they end the program with exit code 1 and a message, after the current steps
 * while a command watches for them ---- */
/* From now on at once; no file is left half-written. speak: with a message. */
void ht_stop_end(bool speak);
/* Records the first signal; a second SIGINT or SIGTERM has its default action. */
void ht_stop_watch(void);
enum ht_err ht_stop_unwatch(enum ht_err err); /* forgets one noted; has that value */
#define HT_STOPPABLE(call) (ht_stop_watch(), ht_stop_unwatch(call))

/* ---- common.c ---- */
/* The input FILE (NULL: none) with `count` keys and those of `more`, between blanks. */
HT_ERR ht_input_read(const char *file, int count, char *const *keys, const char *more,
                     struct ht_params **out);
/* A device's limits, and as members of JSON; [double precision], 0: not known. */
HT_ERR ht_both_limits(struct ht_device *device, bool anew, struct ht_limits limits[2]);
double ht_copied(const struct ht_limits limits[2]);
#define HT_LIMIT_FACTS(limits)                               \
    HT_KNOWN("copy_bytes_per_s", ht_copied(limits)),         \
        HT_KNOWN("fma_single_per_s", (limits)[0].fma_per_s), \
        HT_KNOWN("fma_double_per_s", (limits)[1].fma_per_s)

/* ---- the combinations that bench and tune loop over, selected by common flags ---- */
/* Flags of a command's table that ht_sweep_read understands. */
#define HT_SWEEP_FLAGS                                                                          \
    {"--systems", "LIST", "of equations, as acoustic,advection"},                               \
        {"--dims", "LIST", "dimensions, as 2,3"},                                               \
        {"--orders", "LIST", "N, as 1,2,3; of fd the order in space"},                          \
        {"--schemes", "LIST", "taylor,leapfrog; bench: fd, too"},                               \
        {"--precisions", "LIST", "single,double"}, {"--variants", "LIST", "of kernels"},        \
        {"--layouts", "LIST", "tensor,blocked"}, {"--backend", "NAME", "auto, cuda or opencl"}, \
        {"--device", "NAME", "number, gpu, cpu or a part of its name; bench: all, too"}, {      \
        "--cache", "DIR", "of compiled kernels; auto, or none"                                  \
    }

struct ht_sweep {
    const struct ht_args *args;
    struct ht_integers orders; /* none given: 0 */
    struct ht_integers dims;   /* none given: 3 */
    bool differences;          /* schemes of finite differences, too */
};
/* Refuses unknown names and numbers out of range. differences: as above. */
HT_ERR ht_sweep_read(const struct ht_args *args, bool differences, struct ht_sweep *out);
/* Calls visit for each combination; orders where none are given: 4, 8, 16 of fd, 1 .. usual. */
typedef enum ht_err ht_sweep_visit(void *context, const struct ht_equations *eq,
                                   const struct ht_scheme *scheme, int order, bool fp64);
HT_ERR ht_sweep_each(const struct ht_sweep *sweep, const struct ht_device_info *info, int usual,
                     ht_sweep_visit *visit, void *context);
/* Calls visit for each device of a back end (NULL: of all) that `name` matches, "all": that is no
 * simulator; HT_ERR_DEVICE if there is none. */
typedef enum ht_err ht_device_visit(void *context, const struct ht_device_info *info);
HT_ERR ht_each_device(const char *name, const char *backend, ht_device_visit *visit, void *context);
/* The directory of compiled kernels, to be freed; NULL: none. */
HT_ERR ht_cache_of(const struct ht_sweep *sweep, char **cache);
/* The device, which uses *cache; free that. */
HT_ERR ht_sweep_open(const struct ht_sweep *sweep, char **cache, struct ht_device **out);

/* As device.layout names coefficient blocks of this length. */
static inline const char *ht_layout_name(int block) {
    return block > 1 ? "blocked" : "tensor";
}

/* ---- the parts of check, by its flags ---- */
/* Seconds that the steps of a simulation take, by its compiled kernels on a small version of its
 * grid; NaN where it has no device. Collective. */
HT_ERR ht_check_seconds(struct ht_simulation *sim, double *seconds);

/* check --error: which scheme, order, grid and precision reach an error, and what they take.
 * params: as read from the operands of args. */
HT_ERR ht_check_error(const struct ht_args *args, const struct ht_params *params);
