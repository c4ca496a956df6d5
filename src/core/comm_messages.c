/* Messages between two ranks, memory that the ranks of a machine share. */
#include "comm_private.h"

#include <stdlib.h>

struct ht_message {
    struct ht_comm *comm;
    MPI_Request request;
    bool receives;
};

struct ht_window {
    struct ht_comm *comm;
    MPI_Win win;
    struct ht_window *next; /* of those to be freed */
};

/* ---- messages ---- */

/* In words of 8 bytes where the size allows, since MPI counts with an int. */
enum ht_err ht_comm_count(int64_t bytes, int *count, MPI_Datatype *type) {
    bool words = bytes % 8 == 0;
    int64_t n = words ? bytes / 8 : bytes;
    REQUIRE(n >= 0 && n <= INT32_MAX, HT_ERR_COMM,
            "a message of %lld bytes is too long", (long long)bytes);
    *count = (int)n;
    *type = words ? MPI_UINT64_T : MPI_BYTE;
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

/* A receive that nobody has begun to answer is cancelled; what is under way
 * comes to its end when the other side polls, too. All messages together get a
 * second for that; then they will not. */
void ht_message_abandon(struct ht_message *message) {
    const double patience = 1;
    int done = 0;
    if (message == NULL) return;
    struct ht_comm *c = message->comm;
    if (c->abandoned_at == 0) c->abandoned_at = ht_clock();
    if (message->receives) (void)MPI_Cancel(&message->request);
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

void ht_comm_free_windows(struct ht_comm *c) {
    while (c->destroyed != NULL) {
        struct ht_window *window = c->destroyed;
        c->destroyed = window->next;
        (void)MPI_Win_unlock_all(window->win);
        (void)MPI_Win_free(&window->win);
        free(window);
    }
}

static enum ht_err allocate_window(struct ht_comm *c, int64_t bytes,
                                   struct ht_window *window) {
    void *own = NULL;
    TRY(ht_comm_check(MPI_Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL,
                                              c->machine, &own, &window->win),
                      "memory that ranks share"));
    TRY(ht_comm_check(MPI_Win_set_errhandler(window->win, MPI_ERRORS_RETURN),
                      "memory that ranks share"));
    return ht_comm_check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window->win),
                         "memory that ranks share");
}

enum ht_err ht_window_create(struct ht_comm *c, int64_t bytes,
                             struct ht_window **out) {
    struct ht_window *window = NULL;
    MPI_Request request;
    *out = NULL;
    REQUIRE(c != NULL, HT_ERR_INTERNAL, "a rank alone shares no memory");
    TRY(ht_comm_sound(c));
    TRY(HT_ALLOC(window, 1));
    window->comm = c;
    /* What follows waits inside MPI: all must be sure to come. */
    enum ht_err err = ht_comm_check(MPI_Ibarrier(c->machine, &request),
                                    "memory that ranks share");
    if (err == HT_OK)
        err = ht_comm_wait(c, &request, "memory that ranks share");
    if (err == HT_OK) ht_comm_free_windows(c);
    if (err == HT_OK) err = allocate_window(c, bytes, window);
    if (err != HT_OK) {
        free(window);
        return err;
    }
    *out = window;
    return HT_OK;
}

void *ht_window_part(const struct ht_window *window, int rank) {
    MPI_Aint size = 0;
    int unit = 0;
    void *part = NULL;
    int local = window->comm->machine_rank[rank];
    if (local == MPI_UNDEFINED ||
        MPI_Win_shared_query(window->win, local, &size, &unit, &part) !=
            MPI_SUCCESS)
        return NULL;
    return part;
}

void ht_window_sync(struct ht_window *window) {
    (void)MPI_Win_sync(window->win);
}

/* Only noted: freeing waits for the other ranks, and one that has failed is on
 * its way to tell them. */
void ht_window_destroy(struct ht_window *window) {
    if (window == NULL) return;
    window->next = window->comm->destroyed;
    window->comm->destroyed = window;
}
