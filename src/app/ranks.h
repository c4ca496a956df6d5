/* The ranks of a run as processes: that they do the same thing, and which of
 * them use one device. All functions are collective; alone they find nothing.
 */
#ifndef HTWAVE_APP_RANKS_H
#define HTWAVE_APP_RANKS_H

#include "args.h"
#include "htwave/device.h"
#include "htwave/params.h"

/* Refuse ranks that run another program, another command, or other flags or
 * parameters than rank 0, naming them. */
HT_CHECKED enum ht_err ht_ranks_check_program(struct ht_comm *comm,
                                              const char *command);
HT_CHECKED enum ht_err ht_ranks_check_flags(const struct ht_args *args);
HT_CHECKED enum ht_err ht_ranks_check_params(struct ht_comm *comm,
                                             const struct ht_params *params);

/* As ht_device_open; ranks of a machine that have the same devices to choose
 * from take different ones in turn. */
HT_CHECKED enum ht_err ht_ranks_open(struct ht_comm *comm, const char *backend,
                                     const char *select,
                                     struct ht_device **out);
/* *out: how many lower ranks of this machine bring the same list. */
HT_CHECKED enum ht_err ht_ranks_sharer(struct ht_comm *comm, int count,
                                       const struct ht_device_info *infos,
                                       int *out);

/* Where a rank computes. */
struct ht_seat {
    int machine; /* the lowest rank on the same machine */
    int first;   /* the lowest rank that uses the same device; -1: it has none
                  */
    char name[128];
};
/* *out: those of all ranks, to be freed; info NULL: this rank has no device. */
HT_CHECKED enum ht_err ht_ranks_seats(struct ht_comm *comm,
                                      const struct ht_device_info *info,
                                      struct ht_seat **out);

/* "4 ranks on 3 x A, 1 x B": how many devices of which name; several ranks may
 * share one. */
void ht_ranks_add_devices(int ranks, const struct ht_seat *seat,
                          struct ht_text *text);
int ht_ranks_devices(int ranks, const struct ht_seat *seat);
int ht_ranks_machines(int ranks, const struct ht_seat *seat);

#endif
