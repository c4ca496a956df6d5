/* Ranks by MPI. Waits are polls, which give way to other processes after a
 * while (ranks may share cores) and end when a rank has failed: it sends a
 * notice to every other rank before it agrees. Three communicators keep the
 * notices, the agreement and all else apart, since a failure may leave
 * collectives and messages of the run unfinished; the process then ends without
 * MPI_Finalize, which would wait for them.
 */
#include "htwave/comm.h"

#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NOTICE = 1 };

struct ht_comm {
    MPI_Comm run, agree, notice, machine;
    int rank, size, local, local_size;
    int *machine_rank; /* [rank] on this machine; MPI_UNDEFINED elsewhere */
};

struct ht_message {
    struct ht_comm *comm;
    MPI_Request request;
};

struct ht_window {
    struct ht_comm *comm;
    MPI_Win win;
};

static enum ht_err check(int code, const char *what) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS) return HT_OK;
    (void)MPI_Error_string(code, text, &length);
    FAIL(HT_ERR_COMM, "%s: MPI says: %s", what, text);
}

/* ---- start and end ---- */

static bool launched(void) {
    static const char *const marks[] = {"PMI_RANK", "PMI_FD", "PMIX_RANK",
                                        "OMPI_COMM_WORLD_RANK",
                                        "MPI_LOCALRANKID"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (getenv(marks[i]) != NULL) return true;
    return false;
}

static enum ht_err find_machine(struct ht_comm *c) {
    MPI_Group all, here;
    int *ranks = NULL;
    TRY(check(MPI_Comm_split_type(c->run, MPI_COMM_TYPE_SHARED, 0,
                                  MPI_INFO_NULL, &c->machine),
              "finding the ranks of a machine"));
    TRY(check(MPI_Comm_rank(c->machine, &c->local), "numbering ranks"));
    TRY(check(MPI_Comm_size(c->machine, &c->local_size), "counting ranks"));
    TRY(HT_ALLOC(c->machine_rank, c->size));
    TRY(HT_ALLOC(ranks, c->size));
    for (int r = 0; r < c->size; r++) ranks[r] = r;
    int code = MPI_Comm_group(c->run, &all);
    if (code == MPI_SUCCESS) code = MPI_Comm_group(c->machine, &here);
    if (code == MPI_SUCCESS)
        code = MPI_Group_translate_ranks(all, c->size, ranks, here,
                                         c->machine_rank);
    free(ranks);
    return check(code, "finding the ranks of a machine");
}

static enum ht_err start(struct ht_comm *c) {
    /* Our own message says why; MPICH's adds nothing. */
    (void)setenv("MPIR_CVAR_SUPPRESS_ABORT_MESSAGE", "1", 0);
    int provided = 0;
    TRY(check(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided),
              "starting MPI"));
    MPI_Comm *const comms[] = {&c->run, &c->agree, &c->notice};
    for (int i = 0; i < 3; i++) {
        TRY(check(MPI_Comm_dup(MPI_COMM_WORLD, comms[i]), "starting MPI"));
        TRY(check(MPI_Comm_set_errhandler(*comms[i], MPI_ERRORS_RETURN),
                  "starting MPI"));
    }
    TRY(check(MPI_Comm_rank(c->run, &c->rank), "numbering ranks"));
    TRY(check(MPI_Comm_size(c->run, &c->size), "counting ranks"));
    return find_machine(c);
}

enum ht_err ht_comm_start(struct ht_comm **out) {
    struct ht_comm *c = NULL;
    *out = NULL;
    if (!launched()) return HT_OK;
    TRY(HT_ALLOC(c, 1));
    enum ht_err err = start(c);
    if (err != HT_OK) {
        free(c->machine_rank);
        free(c);
        return err;
    }
    *out = c;
    return HT_OK;
}

void ht_comm_pause(long polls) {
    const long busy = 2000;
    const struct timespec moment = {.tv_nsec = 20000};
    if (polls < busy)
        sched_yield();
    else
        nanosleep(&moment, NULL);
}

void ht_comm_end(struct ht_comm *c, bool failed, int exit_code) {
    if (c == NULL) return;
    if (!failed) {
        (void)MPI_Comm_free(&c->machine);
        (void)MPI_Comm_free(&c->notice);
        (void)MPI_Comm_free(&c->agree);
        (void)MPI_Comm_free(&c->run);
        (void)MPI_Finalize();
        free(c->machine_rank);
        free(c);
        return;
    }
    /* A rank that is gone earlier would have the launcher stop the others
     * before the message is out. */
    const double patience = 5;
    double began = ht_clock();
    MPI_Request request;
    int done = 0;
    fflush(NULL);
    if (MPI_Ibarrier(c->agree, &request) == MPI_SUCCESS)
        for (long n = 0; !done && ht_clock() - began < patience; n++) {
            if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
                break;
            ht_comm_pause(n);
        }
    _exit(exit_code);
}

int ht_comm_rank(const struct ht_comm *c) {
    return c == NULL ? 0 : c->rank;
}

int ht_comm_size(const struct ht_comm *c) {
    return c == NULL ? 1 : c->size;
}

int ht_comm_local(const struct ht_comm *c) {
    return c == NULL ? 0 : c->local;
}

int ht_comm_local_size(const struct ht_comm *c) {
    return c == NULL ? 1 : c->local_size;
}

bool ht_comm_same_machine(const struct ht_comm *c, int rank) {
    return c == NULL || c->machine_rank[rank] != MPI_UNDEFINED;
}

/* ---- failures and waits ---- */

enum ht_err ht_comm_look_out(struct ht_comm *c) {
    int there = 0;
    if (c == NULL) return HT_OK;
    TRY(check(MPI_Iprobe(MPI_ANY_SOURCE, NOTICE, c->notice, &there,
                         MPI_STATUS_IGNORE),
              "looking for failures"));
    REQUIRE(!there, HT_ERR_ELSEWHERE, "another rank has failed");
    return HT_OK;
}

/* Until the request is done or a rank has failed. */
static enum ht_err wait_for(struct ht_comm *c, MPI_Request *request,
                            const char *what) {
    int done = 0;
    for (long n = 0; !done; n++) {
        TRY(check(MPI_Test(request, &done, MPI_STATUS_IGNORE), what));
        if (done) break;
        if (n % 64 == 63) TRY(ht_comm_look_out(c));
        ht_comm_pause(n);
    }
    return HT_OK;
}

/* To all others. Nobody receives notices: they are only looked for. */
static void send_notices(struct ht_comm *c) {
    for (int r = 0; r < c->size; r++) {
        MPI_Request request;
        if (r == c->rank) continue;
        if (MPI_Isend(NULL, 0, MPI_BYTE, r, NOTICE, c->notice, &request) ==
            MPI_SUCCESS)
            (void)MPI_Request_free(&request);
    }
}

/* The lowest rank with an error of its own; -1: none has any. */
static int find_failed(const int *codes, int size, bool *all) {
    int first = -1;
    *all = true;
    for (int r = size - 1; r >= 0; r--) {
        if (codes[r] == HT_OK || codes[r] == HT_ERR_ELSEWHERE)
            *all = false;
        else
            first = r;
    }
    return first;
}

/* Without looking out: here all ranks come. */
static enum ht_err gather_codes(struct ht_comm *c, int own, int *codes) {
    MPI_Request request;
    int done = 0;
    TRY(check(
        MPI_Iallgather(&own, 1, MPI_INT, codes, 1, MPI_INT, c->agree, &request),
        "agreeing"));
    for (long n = 0; !done; n++) {
        TRY(check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "agreeing"));
        if (!done) ht_comm_pause(n);
    }
    return HT_OK;
}

static enum ht_err share_message(struct ht_comm *c, int from, int code,
                                 bool all) {
    char text[4096];
    snprintf(text, sizeof text, "%s", ht_err_message());
    TRY(check(MPI_Bcast(text, sizeof text, MPI_CHAR, from, c->agree),
              "agreeing"));
    if (all) FAIL((enum ht_err)code, "%s", text);
    FAIL((enum ht_err)code, "rank %d: %s", from, text);
}

enum ht_err ht_comm_agree(struct ht_comm *c, enum ht_err err) {
    int *codes = NULL;
    bool all = true;
    if (c == NULL || c->size == 1) return err;
    if (err != HT_OK && err != HT_ERR_ELSEWHERE) send_notices(c);
    if (ht_mem_alloc((size_t)c->size, sizeof *codes, &codes) != HT_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
    enum ht_err done = gather_codes(c, (int)err, codes);
    int first = done == HT_OK ? find_failed(codes, c->size, &all) : -1;
    int code = first < 0 ? HT_OK : codes[first];
    free(codes);
    TRY(done);
    return first < 0 ? HT_OK : share_message(c, first, code, all);
}

/* ---- collectives ---- */

enum ht_err ht_comm_gather(struct ht_comm *c, const void *own, size_t bytes,
                           void *all) {
    MPI_Request request;
    if (c == NULL) {
        memcpy(all, own, bytes);
        return HT_OK;
    }
    TRY(check(MPI_Iallgather(own, (int)bytes, MPI_BYTE, all, (int)bytes,
                             MPI_BYTE, c->run, &request),
              "gathering"));
    return wait_for(c, &request, "gathering");
}

enum ht_err ht_comm_broadcast(struct ht_comm *c, void *data, size_t bytes) {
    MPI_Request request;
    if (c == NULL) return HT_OK;
    TRY(check(MPI_Ibcast(data, (int)bytes, MPI_BYTE, 0, c->run, &request),
              "broadcasting"));
    return wait_for(c, &request, "broadcasting");
}

/* values <- combined with those of the ranks from 0 on. */
static enum ht_err combine(struct ht_comm *c, int count, double *values,
                           bool add) {
    double *all = NULL;
    if (c == NULL || count == 0) return HT_OK;
    TRY(HT_ALLOC(all, (size_t)count * (size_t)c->size));
    enum ht_err err =
        ht_comm_gather(c, values, (size_t)count * sizeof *values, all);
    for (int i = 0; err == HT_OK && i < count; i++) {
        values[i] = all[i];
        for (int r = 1; r < c->size; r++) {
            double other = all[r * count + i];
            if (add)
                values[i] += other;
            else if (other > values[i])
                values[i] = other;
        }
    }
    free(all);
    return err;
}

enum ht_err ht_comm_sum(struct ht_comm *c, int count, double *values) {
    return combine(c, count, values, true);
}

enum ht_err ht_comm_max(struct ht_comm *c, int count, double *values) {
    return combine(c, count, values, false);
}

/* ---- messages ---- */

/* In words of 8 bytes where the size allows, since MPI counts with an int. */
static enum ht_err count_of(int64_t bytes, int *count, MPI_Datatype *type) {
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
    TRY(HT_ALLOC(message, 1));
    message->comm = c;
    message->request = MPI_REQUEST_NULL;
    *out = message;
    return HT_OK;
}

static enum ht_err begun(int code, const char *what, struct ht_message **out) {
    enum ht_err err = check(code, what);
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
    TRY(count_of(bytes, &count, &type));
    TRY(begin(c, out));
    return begun(
        MPI_Isend(data, count, type, to, tag, c->run, &(*out)->request),
        "sending", out);
}

enum ht_err ht_message_receive(struct ht_comm *c, int from, int tag, void *data,
                               int64_t bytes, struct ht_message **out) {
    int count;
    MPI_Datatype type;
    TRY(count_of(bytes, &count, &type));
    TRY(begin(c, out));
    return begun(
        MPI_Irecv(data, count, type, from, tag, c->run, &(*out)->request),
        "receiving", out);
}

enum ht_err ht_message_done(struct ht_message **message, bool *done) {
    int flag = 1;
    *done = *message == NULL;
    if (*done) return HT_OK;
    TRY(check(MPI_Test(&(*message)->request, &flag, MPI_STATUS_IGNORE),
              "a message"));
    *done = flag != 0;
    if (!*done) return ht_comm_look_out((*message)->comm);
    free(*message);
    *message = NULL;
    return HT_OK;
}

enum ht_err ht_message_wait(struct ht_message **message) {
    if (*message == NULL) return HT_OK;
    TRY(wait_for((*message)->comm, &(*message)->request, "a message"));
    free(*message);
    *message = NULL;
    return HT_OK;
}

void ht_message_abandon(struct ht_message *message) {
    free(message);
}

/* ---- shared memory ---- */

enum ht_err ht_window_create(struct ht_comm *c, int64_t bytes,
                             struct ht_window **out) {
    struct ht_window *window = NULL;
    void *own = NULL;
    *out = NULL;
    TRY(HT_ALLOC(window, 1));
    window->comm = c;
    enum ht_err err =
        check(MPI_Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL,
                                      c->machine, &own, &window->win),
              "memory that ranks share");
    if (err == HT_OK)
        err = check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window->win),
                    "memory that ranks share");
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

void ht_window_destroy(struct ht_window *window) {
    if (window == NULL) return;
    (void)MPI_Win_unlock_all(window->win);
    (void)MPI_Win_free(&window->win);
    free(window);
}
