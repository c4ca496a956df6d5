/* Shared by the files that use MPI: src/core/comm*.c. */
#ifndef HTWAVE_PAR_COMM_PRIVATE_H
#define HTWAVE_PAR_COMM_PRIVATE_H

#include "htwave/comm.h"

#include <mpi.h>

/* Tag of ht_comm_collect, the largest that MPI guarantees. */
enum { HT_COMM_COLLECT = 32767 };

struct ht_comm {
    MPI_Comm run, agree, notice, machine;
    int rank, size, local_size;
    int *machine_rank;  /* [rank] on this machine; MPI_UNDEFINED elsewhere */
    enum ht_err failed; /* the agreed failure, and its message */
    char *message;
    double abandoned_at; /* when the first message was abandoned; 0: none */
};

/* code: an MPI error code. */
HT_CHECKED enum ht_err ht_comm_check(int code, const char *what);
/* count items of a type that have so many bytes. */
HT_CHECKED enum ht_err ht_comm_count(int64_t bytes, int *count, MPI_Datatype *type);
/* Fails when the ranks have agreed on a failure. */
HT_CHECKED enum ht_err ht_comm_sound(const struct ht_comm *comm);
/* Waits until the request is done or a rank has failed. */
HT_CHECKED enum ht_err ht_comm_wait(struct ht_comm *comm, MPI_Request *request, const char *what);

#endif
