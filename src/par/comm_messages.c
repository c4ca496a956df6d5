/* Messages between two ranks. */
#include "comm_private.h"

#include <stdlib.h>

struct ht_message {
    struct ht_comm *comm;
    MPI_Request request;
    bool receives;
};

/* As 8-byte units where the size allows, since MPI counts with an int. */
enum ht_err ht_comm_count(int64_t bytes, int *count, MPI_Datatype *type) {
    bool eights = bytes % 8 == 0;
    int64_t n = eights ? bytes / 8 : bytes;
    REQUIRE(n >= 0 && n <= INT32_MAX, HT_ERR_COMM, "a message of %lld bytes is too long",
            (long long)bytes);
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

enum ht_err ht_message_send(struct ht_comm *c, int to, int tag, const void *data, int64_t bytes,
                            struct ht_message **out) {
    int count;
    MPI_Datatype type;
    TRY(ht_comm_count(bytes, &count, &type));
    TRY(begin(c, out));
    return begun(MPI_Isend(data, count, type, to, tag, c->run, &(*out)->request), "sending", out);
}

enum ht_err ht_message_receive(struct ht_comm *c, int from, int tag, void *data, int64_t bytes,
                               struct ht_message **out) {
    int count;
    MPI_Datatype type;
    TRY(ht_comm_count(bytes, &count, &type));
    TRY(begin(c, out));
    (*out)->receives = true;
    return begun(MPI_Irecv(data, count, type, from, tag, c->run, &(*out)->request), "receiving",
                 out);
}

enum ht_err ht_message_done(struct ht_message **message, bool *done) {
    int flag = 1;
    *done = *message == NULL;
    if (*done) return HT_OK;
    TRY(ht_comm_check(MPI_Test(&(*message)->request, &flag, MPI_STATUS_IGNORE), "a message"));
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

/* Cancels a receive that has not begun to be answered. A message under way is completed when the
 * other side polls, too. All abandoned messages together get one second for that. */
void ht_message_abandon(struct ht_message *message) {
    const double patience = 1;
    int done = 0;
    if (message == NULL) return;
    struct ht_comm *c = message->comm;
    if (c->abandoned_at == 0) c->abandoned_at = ht_clock();
    /* A test that failed has freed the request, which must not be cancelled. */
    if (message->receives && message->request != MPI_REQUEST_NULL)
        (void)MPI_Cancel(&message->request);
    for (long n = 0; !done && (n == 0 || ht_clock() - c->abandoned_at < patience); n++) {
        if (MPI_Test(&message->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
        if (!done) ht_comm_pause(n);
    }
    free(message);
}
