/* The ranks of a run: processes that a launcher (mpiexec, srun) has started
 * together. A run without a launcher has no communicator: NULL stands for a
 * rank alone below, for which nothing of MPI is called.
 *
 * Functions marked collective are called by all ranks in the same order. While
 * a rank waits for others it looks out for failures: when another rank enters
 * ht_comm_agree with an error, the wait ends with HT_ERR_ELSEWHERE, so that all
 * ranks meet in ht_comm_agree. After a failure nothing but ht_comm_end may
 * follow: whatever else is called then fails at once, ht_comm_agree with the
 * same failure.
 */
#ifndef HTWAVE_COMM_H
#define HTWAVE_COMM_H

#include "htwave/base.h"

struct ht_comm;

/* *out: the ranks of the launcher, NULL where there is none (environment of
 * PMI, PMIx, Open MPI, Slurm). */
HT_CHECKED enum ht_err ht_comm_start(struct ht_comm **out);
/* Collective. Does not return when failed: then the process ends with the exit
 * code, after the other ranks have come here or 5 s; what it has to say it has
 * said. */
void ht_comm_end(struct ht_comm *comm, bool failed, int exit_code);

/* The first line of what the MPI library says of itself. */
void ht_comm_library(char *buffer, size_t size);

int ht_comm_rank(const struct ht_comm *comm);
int ht_comm_size(const struct ht_comm *comm);
bool ht_comm_same_machine(const struct ht_comm *comm, int rank);

/* ---- collectives ---- */
/* HT_OK when all ranks bring it, else the error of the lowest rank that has
 * one, with its message, on all ranks. It begins with that rank
 * unless all have failed. May wait for all others: a rank that has failed comes
 * here before it waits for anything else. */
HT_CHECKED enum ht_err ht_comm_agree(struct ht_comm *comm, enum ht_err err);
/* Of each value over the ranks, in an order that depends on their number
 * alone. A NaN makes the result NaN. */
HT_CHECKED enum ht_err ht_comm_sum(struct ht_comm *comm, int count,
                                   double *values);
HT_CHECKED enum ht_err ht_comm_max(struct ht_comm *comm, int count,
                                   double *values);
/* What rank 0 holds. */
HT_CHECKED enum ht_err ht_comm_broadcast(struct ht_comm *comm, void *data,
                                         size_t bytes);
/* all[rank]: what each rank holds in own, so many bytes. */
HT_CHECKED enum ht_err ht_comm_gather(struct ht_comm *comm, const void *own,
                                      size_t bytes, void *all);

/* all, on rank 0: the parts of the ranks one after the other, of as many bytes
 * as each brings. all is not looked at on other ranks. */
HT_CHECKED enum ht_err ht_comm_collect(struct ht_comm *comm, const void *own,
                                       int64_t bytes, void *all);

/* ---- messages between two ranks ---- */
/* Refused for a rank alone (NULL), as is shared memory. */
/* Begun at once; data must stay until the message is done. A receiver knows
 * the size; messages of one tag between two ranks arrive in order. tag is
 * 0..32766, bytes at most 2^31 - 1, of multiples of 8 at most 2^34 - 8. */
struct ht_message;
HT_CHECKED enum ht_err ht_message_send(struct ht_comm *comm, int to, int tag,
                                       const void *data, int64_t bytes,
                                       struct ht_message **out);
HT_CHECKED enum ht_err ht_message_receive(struct ht_comm *comm, int from,
                                          int tag, void *data, int64_t bytes,
                                          struct ht_message **out);
/* Without waiting; a message that is done is freed and *message NULL (which is
 * done as well). */
HT_CHECKED enum ht_err ht_message_done(struct ht_message **message, bool *done);
HT_CHECKED enum ht_err ht_message_wait(struct ht_message **message);
/* Frees a message that never came to an end, after a failure; NULL allowed. It
 * gets up to a second to come to it. Where the other side may still answer
 * later, data must stay until the ranks have agreed. */
void ht_message_abandon(struct ht_message *message);
/* HT_ERR_ELSEWHERE when another rank has failed; to be asked now and then by
 * who waits for something else that depends on other ranks. */
HT_CHECKED enum ht_err ht_comm_look_out(struct ht_comm *comm);
/* Between two looks: gives way to who waits for the core, after many polls
 * for some 20 us. */
void ht_comm_pause(long polls);

/* ---- memory that the ranks of a machine share ---- */
/* Each rank brings a part of so many bytes. Collective. HT_ERR_MEMORY, on all
 * ranks of a machine, where that has no room for it. */
struct ht_shared;
HT_CHECKED enum ht_err ht_shared_create(struct ht_comm *comm, int64_t bytes,
                                        struct ht_shared **out);
/* Whether the machine has room for it. Collective; the same on all its ranks.
 */
HT_CHECKED enum ht_err ht_shared_fits(struct ht_comm *comm, int64_t bytes,
                                      bool *fits);
/* Of the ranks of this machine; NULL for others. */
void *ht_shared_part(const struct ht_shared *window, int rank);
/* Makes what this rank wrote visible to those that learn of it afterwards, and
 * what it has learned of visible to it. */
void ht_shared_sync(struct ht_shared *window);
/* In the same order on all ranks; waits for nobody, so that a rank that has
 * failed may call it. The memory goes with the next window or the end. NULL
 * allowed. */
void ht_shared_destroy(struct ht_shared *window);

#endif
