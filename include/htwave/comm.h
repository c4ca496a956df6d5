/* The ranks of a run; NULL stands for a single one, for which MPI is not called.
 *
 * A rank that waits for others polls for failures: when another rank enters ht_comm_agree with an
 * error, the wait ends with HT_ERR_ELSEWHERE, so that all ranks meet in ht_comm_agree. After a
 * failure any call but ht_comm_end fails at once, ht_comm_agree with the same failure. */
#pragma once

#include "htwave/base.h"

struct ht_comm;

/* *out: the ranks of the launcher, NULL without one (environment of PMI, PMIx, Open MPI, Slurm). */
HT_ERR ht_comm_start(struct ht_comm **out);
/* Collective. Does not return when failed: the process then ends with the exit code, after the
 * other ranks have called it, or after 5 s. The caller has printed its message before. */
void ht_comm_end(struct ht_comm *comm, bool failed, int exit_code);

/* Parts of neighbouring ranks, as many in each; *out: that of this rank, NULL where whole is. Waits
 * in a part end with failures anywhere: a rank of a part that has failed enters ht_comm_agree of
 * the part, then of the whole, and leaves. Collective. */
HT_ERR ht_comm_split(struct ht_comm *whole, int parts, struct ht_comm **out);
void ht_comm_leave(struct ht_comm *part);            /* NULL allowed; collective in it */
struct ht_comm *ht_comm_whole(struct ht_comm *comm); /* of a part, else itself */

/* A rank that has waited for so long (0, as at first: no limit) while another one neither comes nor
 * answers names that rank and ends all. The same on all ranks. */
void ht_comm_be_patient(struct ht_comm *comm, double seconds);

/* The first line of the MPI library's version text. */
void ht_comm_library(char *buffer, size_t size);

int ht_comm_rank(const struct ht_comm *comm);
int ht_comm_size(const struct ht_comm *comm);
bool ht_comm_same_machine(const struct ht_comm *comm, int rank);
/* Cores of this rank's machine for this rank, which may be bound to some. */
int ht_comm_cores(const struct ht_comm *comm);

/* ---- collectives ---- */
/* HT_OK when all ranks pass it, else the error of the lowest rank that has one, with its message,
 * on all ranks. A rank that has failed calls it before it waits for anything else. */
HT_ERR ht_comm_agree(struct ht_comm *comm, enum ht_err err);
/* Of a call by rank 0 alone. */
#define HT_BY_FIRST(comm, call) ht_comm_agree((comm), ht_comm_rank(comm) == 0 ? (call) : HT_OK)
/* Sum or maximum of each value over the ranks, in an order that depends on their number alone. A
 * NaN makes the result NaN. */
HT_ERR ht_comm_sum(struct ht_comm *comm, int count, double *values);
HT_ERR ht_comm_max(struct ht_comm *comm, int count, double *values);
HT_ERR ht_comm_broadcast(struct ht_comm *comm, void *data, size_t bytes);
/* *out: a copy of rank 0's text (NULL: empty) on all ranks, freed by the caller. */
HT_ERR ht_comm_broadcast_text(struct ht_comm *comm, const char *text, char **out);
/* all[rank]: the `bytes` bytes of each rank's own. */
HT_ERR ht_comm_gather(struct ht_comm *comm, const void *own, size_t bytes, void *all);

/* all, on rank 0: the parts of the ranks one after the other, each of the size that its rank
 * passes, at most that of a message (below). all is not used on other ranks. */
HT_ERR ht_comm_collect(struct ht_comm *comm, const void *own, int64_t bytes, void *all);

/* ---- messages between two ranks ---- */
/* Begins at once; data stays until it is done. Messages of one tag, 0..32766, arrive in order.
 * bytes is at most 2^31 - 1, or 2^34 - 8 where it is a multiple of 8. Not of a single rank. */
struct ht_message;
HT_ERR ht_message_send(struct ht_comm *comm, int to, int tag, const void *data, int64_t bytes,
                       struct ht_message **out);
HT_ERR ht_message_receive(struct ht_comm *comm, int from, int tag, void *data, int64_t bytes,
                          struct ht_message **out);
/* Does not wait. A message that is done is freed and *message NULL, which counts as done. */
HT_ERR ht_message_done(struct ht_message **message, bool *done);
HT_ERR ht_message_wait(struct ht_message **message);
/* Frees an unfinished message after a failure, which gets up to a second to complete; NULL allowed.
 * Where the other side may still answer, data must stay until the ranks have agreed. */
void ht_message_abandon(struct ht_message *message);
/* Sends or receives one and waits for it. */
HT_ERR ht_message_pass(struct ht_comm *comm, int rank, int tag, bool sends, void *data,
                       int64_t bytes);
/* Waits for a message until a time of ht_clock, also while other ranks fail; then abandons it. */
void ht_message_end(struct ht_message *message, double end);
/* HT_ERR_ELSEWHERE when another rank has failed: to be called while waiting for others. */
HT_ERR ht_comm_look_out(struct ht_comm *comm);
/* Between two polls: yields the core; after many polls sleeps for 20 us, in the end for 1 ms. */
void ht_comm_pause(long polls);
