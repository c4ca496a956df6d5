/* The ranks of a run as processes: that they run the same program with the same input, and the
 * device assigned to each rank. All functions are collective; a single rank passes every check.
 */
#ifndef HTWAVE_RANKS_H
#define HTWAVE_RANKS_H

#include "htwave/args.h"
#include "htwave/device.h"
#include "htwave/params.h"

/* Refuse ranks that run another program, another command, or other flags or parameters than rank 0,
 * naming them. */
HT_CHECKED enum ht_err ht_ranks_check_program(struct ht_comm *comm, const char *command);
HT_CHECKED enum ht_err ht_ranks_check_flags(const struct ht_args *args);
HT_CHECKED enum ht_err ht_ranks_check_params(struct ht_comm *comm, const struct ht_params *params);

/* As ht_device_open; ranks of a machine that can use the same devices take different ones in turn.
 */
HT_CHECKED enum ht_err ht_ranks_open(struct ht_comm *comm, const char *backend, const char *select,
                                     struct ht_device **out);
/* *out: number of lower ranks of this machine with the same list. */
HT_CHECKED enum ht_err ht_ranks_sharer(struct ht_comm *comm, int count,
                                       const struct ht_device_info *infos, int *out);

/* The device assigned to a rank. */
struct ht_assignment {
    int machine; /* the lowest rank on the same machine */
    int first;   /* the lowest rank that uses the same device; -1: it has none
                  */
    char name[128];
};
/* *out: the assignments of all ranks, freed by the caller; info NULL: this rank has no device. */
HT_CHECKED enum ht_err ht_ranks_assignments(struct ht_comm *comm, const struct ht_device_info *info,
                                            struct ht_assignment **out);

/* "4 ranks on 3 x A, 1 x B": number of devices of each name; several ranks may share one. */
void ht_ranks_add_devices(int ranks, const struct ht_assignment *assignment, struct ht_text *text);
int ht_ranks_devices(int ranks, const struct ht_assignment *assignment);
int ht_ranks_machines(int ranks, const struct ht_assignment *assignment);

#endif
