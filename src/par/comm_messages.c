/* Messages between two ranks, memory that the ranks of a machine share. */
#include "comm_private.h"

#include <math.h>
#include <stdlib.h>
#include <sys/statvfs.h>

struct ht_message {
    struct ht_comm *comm;
    MPI_Request request;
    bool receives;
};

struct ht_shared {
    struct ht_comm *comm;
    MPI_Win win;
    struct ht_shared *next; /* of those to be freed */
};

/* ---- messages ---- */

/* As 8-byte units where the size allows, since MPI counts with an int. */
enum ht_err ht_comm_count(int64_t bytes, int *count, MPI_Datatype *type) {
    bool eights = bytes % 8 == 0;
    int64_t n = eights ? bytes / 8 : bytes;
    REQUIRE(n >= 0 && n <= INT32_MAX, HT_ERR_COMM,
            "a message of %lld bytes is too long", (long long)bytes);
    *count = (int)n;
    *type = eights ? MPI_UINT64_T : MPI_BYTE;
    return HT_OK;
}

static enum ht_err begin(struct ht_comm *c, struct ht_message **out) {
    struct ht_message *message = NULL;
    *out = NULL;
    REQUIRE(c != NULL, HT_ERR_INTERNAL, "a rank alone has no messages");
    TRY(ht_comm_sound(c));
    TRY(HT_ALLOC(message, 1));
    message->comm = c;
    message->request = MPI_REQUEST_NULL;
    *out = message;
    return HT_OK;
}

static enum ht_err begun(int code, const char *what, struct ht_message **out) {
    enum ht_err err = ht_comm_check(code, what);
    if (err != HT_OK) {
        free(*out);
        *out = NULL;
    }
    return err;
}

enum ht_err ht_message_send(struct ht_comm *c, int to, int tag,
                            const void *data, int64_t bytes,
                            struct ht_message **out) {
    int count;
    MPI_Datatype type;
    TRY(ht_comm_count(bytes, &count, &type));
    TRY(begin(c, out));
    return begun(
        MPI_Isend(data, count, type, to, tag, c->run, &(*out)->request),
        "sending", out);
}

enum ht_err ht_message_receive(struct ht_comm *c, int from, int tag, void *data,
                               int64_t bytes, struct ht_message **out) {
    int count;
    MPI_Datatype type;
    TRY(ht_comm_count(bytes, &count, &type));
    TRY(begin(c, out));
    (*out)->receives = true;
    return begun(
        MPI_Irecv(data, count, type, from, tag, c->run, &(*out)->request),
        "receiving", out);
}

enum ht_err ht_message_done(struct ht_message **message, bool *done) {
    int flag = 1;
    *done = *message == NULL;
    if (*done) return HT_OK;
    TRY(ht_comm_check(MPI_Test(&(*message)->request, &flag, MPI_STATUS_IGNORE),
                      "a message"));
    *done = flag != 0;
    if (!*done) return ht_comm_look_out((*message)->comm);
    free(*message);
    *message = NULL;
    return HT_OK;
}

enum ht_err ht_message_wait(struct ht_message **message) {
    if (*message == NULL) return HT_OK;
    TRY(ht_comm_wait((*message)->comm, &(*message)->request, "a message"));
    free(*message);
    *message = NULL;
    return HT_OK;
}

/* Cancels a receive that has not begun to be answered. A message under way is
 * completed when the other side polls, too. All abandoned messages together get
 * one second for that. */
void ht_message_abandon(struct ht_message *message) {
    const double patience = 1;
    int done = 0;
    if (message == NULL) return;
    struct ht_comm *c = message->comm;
    if (c->abandoned_at == 0) c->abandoned_at = ht_clock();
    /* A test that failed has freed the request, which must not be cancelled. */
    if (message->receives && message->request != MPI_REQUEST_NULL)
        (void)MPI_Cancel(&message->request);
    for (long n = 0;
         !done && (n == 0 || ht_clock() - c->abandoned_at < patience); n++) {
        if (MPI_Test(&message->request, &done, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            break;
        if (!done) ht_comm_pause(n);
    }
    free(message);
}

/* ---- shared memory ---- */

void ht_comm_free_shared(struct ht_comm *c) {
    while (c->destroyed != NULL) {
        struct ht_shared *memory = c->destroyed;
        c->destroyed = memory->next;
        (void)MPI_Win_unlock_all(memory->win);
        (void)MPI_Win_free(&memory->win);
        free(memory);
    }
}

/* Free bytes where Linux keeps shared memory. More can be allocated, but
 * accessing it raises SIGBUS. */
static int64_t free_bytes(void) {
    struct statvfs info;
    if (statvfs("/dev/shm", &info) != 0) return INT64_MAX;
    double bytes = (double)info.f_bavail * (double)info.f_frsize;
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

static enum ht_err meet(struct ht_comm *c) {
    const char *what = "memory that ranks share";
    MPI_Request request;
    TRY(ht_comm_check(MPI_Ibarrier(c->machine, &request), what));
    return ht_comm_wait(c, &request, what);
}

/* All ranks have the same number of them. The memory is free when the last rank
 * has freed its part. */
static enum ht_err free_destroyed(struct ht_comm *c) {
    if (c->destroyed == NULL) return HT_OK;
    TRY(meet(c));
    ht_comm_free_shared(c);
    return meet(c);
}

/* The same numbers on all ranks of the machine. After it all of them are here:
 * the calls that follow wait inside MPI, without polling for failures. */
static enum ht_err ask_room(struct ht_comm *c, int64_t bytes, double *wanted,
                            double *room) {
    const char *what = "memory that ranks share";
    int64_t *all = NULL; /* {bytes, free}: own, then of all; not freed on
                          * failure */
    MPI_Request request;
    TRY(free_destroyed(c));
    TRY(HT_ALLOC(all, 2 * (c->local_size + 1)));
    all[0] = bytes;
    all[1] = free_bytes();
    TRY(ht_comm_check(MPI_Iallgather(all, 2, MPI_INT64_T, all + 2, 2,
                                     MPI_INT64_T, c->machine, &request),
                      what));
    TRY(ht_comm_wait(c, &request, what));
    *wanted = 0;
    *room = INFINITY;
    for (int64_t r = 1; r <= c->local_size; r++) {
        *wanted += (double)all[2 * r];
        *room = fmin(*room, (double)all[2 * r + 1]);
    }
    free(all);
    return HT_OK;
}

static enum ht_err check_room(struct ht_comm *c, int64_t bytes) {
    double wanted, room;
    char text[2][32];
    TRY(ask_room(c, bytes, &wanted, &room));
    REQUIRE(wanted <= room, HT_ERR_MEMORY,
            "the ranks of a machine need %s of shared memory, but /dev/shm has "
            "%s free (containers: --shm-size)",
            ht_text_bytes(wanted, text[0]), ht_text_bytes(room, text[1]));
    return HT_OK;
}

static enum ht_err allocate_shared(struct ht_comm *c, int64_t bytes,
                                   struct ht_shared *memory) {
    const char *what = "memory that ranks share";
    void *own = NULL;
    TRY(check_room(c, bytes));
    TRY(ht_comm_check(MPI_Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL,
                                              c->machine, &own, &memory->win),
                      what));
    TRY(ht_comm_check(MPI_Win_set_errhandler(memory->win, MPI_ERRORS_RETURN),
                      what));
    return ht_comm_check(MPI_Win_lock_all(MPI_MODE_NOCHECK, memory->win), what);
}

enum ht_err ht_shared_fits(struct ht_comm *c, int64_t bytes, bool *fits) {
    double wanted, room;
    REQUIRE(c != NULL, HT_ERR_INTERNAL, "a rank alone shares no memory");
    TRY(ht_comm_sound(c));
    TRY(ask_room(c, bytes, &wanted, &room));
    *fits = wanted <= room;
    return HT_OK;
}

enum ht_err ht_shared_create(struct ht_comm *c, int64_t bytes,
                             struct ht_shared **out) {
    struct ht_shared *memory = NULL;
    *out = NULL;
    REQUIRE(c != NULL, HT_ERR_INTERNAL, "a rank alone shares no memory");
    TRY(ht_comm_sound(c));
    TRY(HT_ALLOC(memory, 1));
    memory->comm = c;
    enum ht_err err = allocate_shared(c, bytes, memory);
    if (err != HT_OK) {
        free(memory);
        return err;
    }
    *out = memory;
    return HT_OK;
}

void *ht_shared_part(const struct ht_shared *memory, int rank) {
    MPI_Aint size = 0;
    int unit = 0;
    void *part = NULL;
    int local = memory->comm->machine_rank[rank];
    if (local == MPI_UNDEFINED ||
        MPI_Win_shared_query(memory->win, local, &size, &unit, &part) !=
            MPI_SUCCESS)
        return NULL;
    return part;
}

void ht_shared_sync(struct ht_shared *memory) {
    (void)MPI_Win_sync(memory->win);
}

/* Only put on a list: freeing waits for the other ranks, and a rank that has
 * failed must first report it to them. */
void ht_shared_destroy(struct ht_shared *memory) {
    if (memory == NULL) return;
    memory->next = memory->comm->destroyed;
    memory->comm->destroyed = memory;
}
