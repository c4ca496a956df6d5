/* Ranks by MPI. Waits are polls, which end when another rank has failed: it sends a notice to every
 * other rank before it agrees. Notices, agreement and the run have separate communicators, since a
 * failure may leave collectives and messages of the run unfinished, to whose destinations MPI may
 * still write: collectives use their own buffers, and that of an unfinished one is never freed. */
#include "htwave/comm.h"

#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Tags of notices (of a failure; questions of a rank that has waited long, and answers), and of
 * ht_comm_collect: the largest that MPI guarantees. */
enum { NOTICE = 1, ASKS, ANSWERS, COLLECT = 32767 };
/* Bytes of a message about a failure; a longer one is cut. */
enum { MESSAGE = 16384 };

struct ht_comm {
    struct ht_comm *whole; /* whose part it is; NULL: none */
    MPI_Comm run, agree, notice;
    int rank, size, local_size;
    int *leader;        /* [rank]: the first rank of its machine */
    enum ht_err failed; /* the agreed failure, and its message */
    char message[MESSAGE];
    double abandoned_at; /* when the first message was abandoned; 0: none */
    double patience;     /* seconds, 0: without end */
    double looked;       /* times: last look for notices, */
    double since;        /* the first one of this wait, */
    double asked;        /* of the question to the others, 0: none */
    bool *answered;      /* [rank] */
};

static HT_ERR comm_check(int code, const char *what) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS) return HT_OK;
    (void)MPI_Error_string(code, text, &length);
    FAIL(HT_ERR_COMM, "%s: MPI error: %s", what, text);
}

static HT_ERR comm_sound(const struct ht_comm *c) {
    REQUIRE(c->failed == HT_OK, HT_ERR_ELSEWHERE, "the ranks have failed");
    return HT_OK;
}

/* ---- start and end ---- */

/* Polls of a wait that yield the core, before others sleep. A yield is short where each rank and
 * its device's driver have a core, else it takes the core from those that are waited for. */
static long yields = 2000;

static bool launched(void) {
    static const char *const variables[] = {"PMI_RANK", "PMI_FD", "PMIX_RANK",
                                            "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (getenv(variables[i]) != NULL) return true;
    return false;
}

/* Communicators of its own among the ranks of one. */
static HT_ERR connect_ranks(struct ht_comm *c, MPI_Comm among) {
    MPI_Comm *const comms[] = {&c->run, &c->agree, &c->notice};
    for (int i = 0; i < 3; i++) {
        TRY(comm_check(MPI_Comm_dup(among, comms[i]), "starting MPI"));
        TRY(comm_check(MPI_Comm_set_errhandler(*comms[i], MPI_ERRORS_RETURN), "starting MPI"));
    }
    TRY(comm_check(MPI_Comm_rank(c->run, &c->rank), "numbering ranks"));
    TRY(comm_check(MPI_Comm_size(c->run, &c->size), "counting ranks"));
    TRY(HT_ALLOC(c->leader, c->size));
    TRY(HT_ALLOC(c->answered, c->size));
    MPI_Comm machine = MPI_COMM_NULL;
    int first = c->rank;
    int code = MPI_Comm_split_type(c->run, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(machine, &c->local_size);
    if (code == MPI_SUCCESS) code = MPI_Bcast(&first, 1, MPI_INT, 0, machine);
    if (code == MPI_SUCCESS)
        code = MPI_Allgather(&first, 1, MPI_INT, c->leader, 1, MPI_INT, c->run);
    if (machine != MPI_COMM_NULL) (void)MPI_Comm_free(&machine);
    return comm_check(code, "finding the ranks of a machine");
}

static HT_ERR start(struct ht_comm *c) {
    /* htwave's message gives the reason; MPICH's adds nothing. */
    (void)setenv("MPIR_CVAR_SUPPRESS_ABORT_MESSAGE", "1", 0);
    int provided = 0;
    TRY(comm_check(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided), "starting MPI"));
    /* For calls without a communicator: by default MPI would end the job before any rank has
     * printed the reason. */
    MPI_Comm const given[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    for (int i = 0; i < 2; i++)
        TRY(comm_check(MPI_Comm_set_errhandler(given[i], MPI_ERRORS_RETURN), "starting MPI"));
    TRY(connect_ranks(c, MPI_COMM_WORLD));
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores > 0 && 2 * (long)c->local_size > cores) yields = 20;
    return HT_OK;
}

static void comm_free(struct ht_comm *c) {
    free(c->leader);
    free(c->answered);
    free(c);
}

/* After a failure MPI is not finalised: the process ends without MPI_Finalize, so that the launcher
 * ends the other ranks. */
HT_ERR ht_comm_start(struct ht_comm **out) {
    if (!launched()) return HT_OK;
    HT_CREATE(out, start(*out), comm_free);
}

/* Sleeps grow with the wait, to 1 ms. */
void ht_comm_pause(long polls) {
    const long sleeps = polls - yields;
    const long step = 20000; /* nanoseconds */
    const struct timespec moment = {.tv_nsec = step * (sleeps < 16L * 49 ? 1 + sleeps / 16 : 50)};
    if (sleeps < 0)
        sched_yield();
    else
        nanosleep(&moment, NULL);
}

/* Looks at a request until it is done or the time has come, whatever the other ranks do. */
static bool is_done_by(MPI_Request *request, double end) {
    int done = 0;
    for (long n = 0; !done && (n == 0 || ht_clock() < end); n++) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
        if (!done) ht_comm_pause(n);
    }
    return done;
}

static volatile sig_atomic_t last_code;

static void end_now(HT_UNUSED int unused) {
    _exit(last_code);
}

/* Does not return. MPI_Finalize keeps the launcher from killing the ranks that end a little later,
 * with messages of the launcher. Unfinished messages may make it wait for ever; an alarm ends that.
 */
static void end_failed(struct ht_comm *c, int exit_code) {
    const double patience = 5;
    MPI_Request request;
    /* MPI may print complaints about unfinished messages; they do not help users. */
    int nothing = open("/dev/null", O_WRONLY);
    fflush(NULL);
    if (nothing >= 0) {
        (void)dup2(nothing, STDOUT_FILENO);
        (void)dup2(nothing, STDERR_FILENO);
    }
    last_code = exit_code;
    (void)signal(SIGALRM, end_now);
    const bool done = MPI_Ibarrier(c->agree, &request) == MPI_SUCCESS &&
                      is_done_by(&request, ht_clock() + patience);
    (void)alarm(2);
    if (done) (void)MPI_Finalize();
    _exit(exit_code);
}

static void disconnect(struct ht_comm *c) {
    MPI_Comm *const comms[] = {&c->notice, &c->agree, &c->run};
    for (int i = 0; i < 3; i++)
        if (*comms[i] != MPI_COMM_NULL) (void)MPI_Comm_free(comms[i]);
}

void ht_comm_end(struct ht_comm *c, bool failed, int exit_code) {
    if (c == NULL) return;
    if (failed) end_failed(c, exit_code);
    disconnect(c);
    (void)MPI_Finalize();
    comm_free(c);
}

/* What MPI holds of a failed part stays, as of the whole. */
void ht_comm_leave(struct ht_comm *part) {
    struct ht_comm *c = part;
    if (c == NULL) return;
    if (c->whole->failed == HT_OK) disconnect(c);
    comm_free(c);
}

HT_ERR ht_comm_split(struct ht_comm *whole, int parts, struct ht_comm **out) {
    struct ht_comm *c = NULL;
    MPI_Comm among = MPI_COMM_NULL;
    if (whole == NULL) return HT_OK;
    TRY(comm_sound(whole));
    TRY(HT_ALLOC(c, 1));
    c->whole = whole;
    c->run = c->agree = c->notice = MPI_COMM_NULL;
    enum ht_err err = comm_check(
        MPI_Comm_split(whole->run, whole->rank / (whole->size / parts), whole->rank, &among),
        "dividing the ranks");
    if (err == HT_OK) err = connect_ranks(c, among);
    if (among != MPI_COMM_NULL) (void)MPI_Comm_free(&among);
    err = ht_comm_agree(whole, err);
    return HT_MADE(err, c, ht_comm_leave, out);
}

struct ht_comm *ht_comm_whole(struct ht_comm *c) {
    return c != NULL && c->whole != NULL ? c->whole : c;
}

/* One of the few MPI functions that may be called before MPI is started. */
void ht_comm_library(char *buffer, size_t size) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "unknown";
    int length = 0;
    (void)MPI_Get_library_version(text, &length);
    text[strcspn(text, "\r\n")] = '\0';
    for (char *c = text; *c; c++)
        if (*c == '\t') *c = ' ';
    snprintf(buffer, size, "%s", text);
}

int ht_comm_rank(const struct ht_comm *c) {
    return c == NULL ? 0 : c->rank;
}

int ht_comm_size(const struct ht_comm *c) {
    return c == NULL ? 1 : c->size;
}

bool ht_comm_same_machine(const struct ht_comm *c, int rank) {
    return c == NULL || c->leader[rank] == c->leader[c->rank];
}

/* A rank that is bound has fewer than its share, or just that. */
int ht_comm_cores(const struct ht_comm *c) {
    const int64_t own = ht_threads_cores();
    const int64_t all = sysconf(_SC_NPROCESSORS_ONLN);
    if (c == NULL || all < 1) return (int)own;
    return (int)ht_most(1, ht_least(own, all / (c->whole != NULL ? c->whole : c)->local_size));
}

/* ---- failures and waits ---- */

/* A message without contents, which nobody waits for. */
static void say(const struct ht_comm *c, int tag, int to) {
    MPI_Request request;
    if (to != c->rank && MPI_Isend(NULL, 0, MPI_BYTE, to, tag, c->notice, &request) == MPI_SUCCESS)
        (void)MPI_Request_free(&request);
}

static void say_all(const struct ht_comm *c, int tag) {
    for (int r = 0; r < c->size; r++) say(c, tag, r);
}

static bool hears(const struct ht_comm *c, int tag, int *from) {
    MPI_Status status;
    int there = 0;
    if (MPI_Iprobe(MPI_ANY_SOURCE, tag, c->notice, &there, &status) != MPI_SUCCESS || !there)
        return false;
    *from = status.MPI_SOURCE;
    return MPI_Recv(NULL, 0, MPI_BYTE, *from, tag, c->notice, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/* Ends all ranks when some have not answered: they would not come to an agreement either. */
static void end_where_silent(const struct ht_comm *c) {
    HT_FREED_TEXT struct ht_text text = {0};
    int count = 0;
    for (int r = 0; r < c->size; r++)
        if (r != c->rank && !c->answered[r]) ht_text_add(&text, "%s%d", count++ ? ", " : "", r);
    if (count == 0) return;
    fprintf(stderr,
            "htwave: rank%s %s %s not answer, and rank %d has waited %g s (parallel.patience)\n",
            count > 1 ? "s" : "", text.data != NULL ? text.data : "", count > 1 ? "do" : "does",
            c->rank, c->patience);
    /* the launcher may end before it has passed that on */
    (void)nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    MPI_Abort(MPI_COMM_WORLD, ht_err_exit_code(HT_ERR_COMM));
}

static void begin_wait(struct ht_comm *c, double now) {
    c->since = now;
    c->asked = 0;
}

/* A rank that has looked out for `patience` asks the others. Those that wait, too, answer when they
 * look out; where several ask the lowest one goes on. */
static void find_silent(struct ht_comm *c) {
    const double now = ht_clock(), pause = 1;
    int from;
    if (now - c->looked > pause) begin_wait(c, now); /* it has done something else */
    c->looked = now;
    while (hears(c, ASKS, &from)) {
        say(c, ANSWERS, from);
        if (from < c->rank) begin_wait(c, now);
    }
    while (c->asked > 0 && hears(c, ANSWERS, &from)) c->answered[from] = true;
    if (c->patience <= 0 || now - c->since < c->patience) return;
    if (c->asked == 0) {
        memset(c->answered, 0, (size_t)c->size * sizeof *c->answered);
        say_all(c, ASKS);
        c->asked = now;
    } else if (now - c->asked > fmin(c->patience, 10)) {
        end_where_silent(c);
        begin_wait(c, now); /* all wait, for one that answers */
    }
}

void ht_comm_be_patient(struct ht_comm *c, double seconds) {
    if (c != NULL) c->patience = seconds;
}

HT_ERR ht_comm_look_out(struct ht_comm *c) {
    int there = 0;
    if (c == NULL) return HT_OK;
    TRY(ht_comm_look_out(c->whole));
    TRY(comm_sound(c));
    if (c->size > 1) find_silent(c);
    TRY(comm_check(MPI_Iprobe(MPI_ANY_SOURCE, NOTICE, c->notice, &there, MPI_STATUS_IGNORE),
                   "looking for failures"));
    REQUIRE(!there, HT_ERR_ELSEWHERE, "another rank has failed");
    return HT_OK;
}

/* Data that a rank sent before it failed may still be arriving. Without this grace period a failure
 * of all ranks would be reported as that of one. agrees: does not look for failures, since all
 * ranks come there. */
static HT_ERR comm_wait(struct ht_comm *c, MPI_Request *request, const char *what, bool agrees) {
    const double grace = 0.05;
    double noticed = 0;
    enum ht_err err = HT_OK;
    int done = 0;
    for (long n = 0; !done; n++) {
        TRY(comm_check(MPI_Test(request, &done, MPI_STATUS_IGNORE), what));
        if (done) break;
        if (agrees && n % 64 == 63) {
            find_silent(c);
            if (c->whole != NULL) find_silent(c->whole);
        } else if (err == HT_OK && n % 64 == 63) {
            err = ht_comm_look_out(c);
            noticed = ht_clock();
        }
        if (err != HT_OK && ht_clock() - noticed > grace) return err;
        ht_comm_pause(n);
    }
    c->looked = 0; /* another wait begins */
    return HT_OK;
}

/* The lowest rank that failed itself, else the lowest with any error; -1: no rank has failed. */
static int find_failed(const int *codes, int size, bool *all) {
    int own = -1, any = -1;
    *all = true;
    for (int r = size - 1; r >= 0; r--) {
        if (codes[r] != HT_OK) any = r;
        if (codes[r] == HT_OK || codes[r] == HT_ERR_ELSEWHERE)
            *all = false;
        else
            own = r;
    }
    return own >= 0 ? own : any;
}

static HT_ERR agree(struct ht_comm *c, enum ht_err err) {
    HT_FREED int *codes = NULL;
    bool all = true;
    /* These notices are only probed, never received. */
    if (err != HT_OK && err != HT_ERR_ELSEWHERE) say_all(c, NOTICE);
    if (ht_mem_alloc((size_t)c->size, sizeof *codes, &codes) != HT_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Request request;
    const int own = (int)err;
    TRY(comm_check(MPI_Iallgather(&own, 1, MPI_INT, codes, 1, MPI_INT, c->agree, &request),
                   "agreeing"));
    TRY(comm_wait(c, &request, "agreeing", true));
    const int first = find_failed(codes, c->size, &all);
    if (first < 0) return HT_OK;
    /* Copies the message of rank `from` to c->message on all ranks. */
    if (all || c->rank != first)
        snprintf(c->message, MESSAGE, "%s", ht_err_message());
    else
        snprintf(c->message, MESSAGE, "rank %d: %s", first, ht_err_message());
    TRY(comm_check(MPI_Bcast(c->message, MESSAGE, MPI_CHAR, first, c->agree), "agreeing"));
    c->failed = (enum ht_err)codes[first];
    return c->failed;
}

/* Only once: the other ranks do not join a second agreement. */
HT_ERR ht_comm_agree(struct ht_comm *c, enum ht_err err) {
    if (c == NULL || c->size == 1) return err;
    if (c->failed == HT_OK && agree(c, err) == HT_OK) return HT_OK;
    /* MPI failed here alone: the others wait in this agreement, and learn of that */
    if (c->failed == HT_OK && agree(c, HT_ERR_COMM) != HT_OK && c->failed == HT_OK)
        return HT_ERR_COMM;
    return ht_err_set(c->failed, "%s", c->message);
}

/* ---- messages between two ranks ---- */

struct ht_message {
    struct ht_comm *comm;
    MPI_Request request;
    bool receives;
};

/* As 8-byte units where the size allows, since MPI counts with an int. */
static HT_ERR comm_count(int64_t bytes, int *count, MPI_Datatype *type) {
    bool eights = bytes % 8 == 0;
    int64_t n = eights ? bytes / 8 : bytes;
    REQUIRE(n >= 0 && n <= INT32_MAX, HT_ERR_COMM, "a message of %lld bytes is too long",
            (long long)bytes);
    *count = (int)n;
    *type = eights ? MPI_UINT64_T : MPI_BYTE;
    return HT_OK;
}

static void end_message(struct ht_message **message) {
    free(*message);
    *message = NULL;
}

/* data: not changed where it is sent. */
static HT_ERR begin(struct ht_comm *c, int with, int tag, bool receives, void *data, int64_t bytes,
                    struct ht_message **out) {
    int count;
    MPI_Datatype type;
    TRY(comm_count(bytes, &count, &type));
    *out = NULL;
    REQUIRE(c != NULL, HT_ERR_INTERNAL, "a rank alone has no messages");
    TRY(comm_sound(c));
    TRY(HT_ALLOC(*out, 1));
    **out = (struct ht_message){.comm = c, .request = MPI_REQUEST_NULL, .receives = receives};
    MPI_Request *request = &(*out)->request;
    const int code = receives ? MPI_Irecv(data, count, type, with, tag, c->run, request)
                              : MPI_Isend(data, count, type, with, tag, c->run, request);
    const enum ht_err err = comm_check(code, receives ? "receiving" : "sending");
    if (err != HT_OK) end_message(out);
    return err;
}

HT_ERR ht_message_send(struct ht_comm *c, int to, int tag, const void *data, int64_t bytes,
                       struct ht_message **out) {
    return begin(c, to, tag, false, (void *)data, bytes, out);
}

HT_ERR ht_message_receive(struct ht_comm *c, int from, int tag, void *data, int64_t bytes,
                          struct ht_message **out) {
    return begin(c, from, tag, true, data, bytes, out);
}

HT_ERR ht_message_done(struct ht_message **message, bool *done) {
    int flag = 1;
    *done = *message == NULL;
    if (*done) return HT_OK;
    TRY(comm_check(MPI_Test(&(*message)->request, &flag, MPI_STATUS_IGNORE), "a message"));
    *done = flag != 0;
    if (!*done) return ht_comm_look_out((*message)->comm);
    (*message)->comm->looked = 0; /* another wait begins */
    end_message(message);
    return HT_OK;
}

HT_ERR ht_message_wait(struct ht_message **message) {
    if (*message == NULL) return HT_OK;
    TRY(comm_wait((*message)->comm, &(*message)->request, "a message", false));
    end_message(message);
    return HT_OK;
}

/* Cancels a receive that has not begun to be answered. A message under way is completed when the
 * other side polls, too. All abandoned messages together get one second for that. */
void ht_message_abandon(struct ht_message *message) {
    const double patience = 1;
    if (message == NULL) return;
    struct ht_comm *c = message->comm;
    if (c->abandoned_at == 0) c->abandoned_at = ht_clock();
    /* A test that failed has freed the request, which must not be cancelled. */
    if (message->receives && message->request != MPI_REQUEST_NULL)
        (void)MPI_Cancel(&message->request);
    (void)is_done_by(&message->request, c->abandoned_at + patience);
    free(message);
}

HT_ERR ht_message_pass(struct ht_comm *comm, int rank, int tag, bool sends, void *data,
                       int64_t bytes) {
    struct ht_message *message = NULL;
    TRY(begin(comm, rank, tag, !sends, data, bytes, &message));
    const enum ht_err err = ht_message_wait(&message);
    ht_message_abandon(message);
    return err;
}

void ht_message_end(struct ht_message *message, double end) {
    if (message == NULL) return;
    if (is_done_by(&message->request, end))
        free(message);
    else
        ht_message_abandon(message);
}

/* ---- collectives ---- */

static void copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0) memmove(to, from, bytes);
}

/* What all ranks have, or rank 0, through a buffer of its own: not freed on failure. */
static HT_ERR collective(struct ht_comm *c, bool gathers, const void *own, size_t bytes,
                         void *out) {
    const char *what = gathers ? "gathering" : "broadcasting";
    const size_t parts = gathers ? (size_t)c->size : 0;
    int count;
    MPI_Datatype type;
    MPI_Request request;
    unsigned char *room = NULL; /* own part, then all */
    TRY(comm_sound(c));
    TRY(comm_count((int64_t)bytes, &count, &type));
    TRY(ht_mem_alloc(parts + 1, bytes, &room));
    copy(room, own, bytes);
    TRY(comm_check(
        gathers ? MPI_Iallgather(room, count, type, room + bytes, count, type, c->run, &request)
                : MPI_Ibcast(room, count, type, 0, c->run, &request),
        what));
    TRY(comm_wait(c, &request, what, false));
    copy(out, gathers ? room + bytes : room, gathers ? parts * bytes : bytes);
    free(room);
    return HT_OK;
}

HT_ERR ht_comm_gather(struct ht_comm *c, const void *own, size_t bytes, void *all) {
    if (c != NULL) return collective(c, true, own, bytes, all);
    copy(all, own, bytes);
    return HT_OK;
}

HT_ERR ht_comm_broadcast(struct ht_comm *c, void *data, size_t bytes) {
    return c != NULL ? collective(c, false, data, bytes, data) : HT_OK;
}

HT_ERR ht_comm_broadcast_text(struct ht_comm *c, const char *text, char **out) {
    size_t size = text != NULL ? strlen(text) + 1 : 0;
    *out = NULL;
    TRY(ht_comm_broadcast(c, &size, sizeof size));
    TRY(HT_ALLOC(*out, size));
    if (text != NULL && ht_comm_rank(c) == 0) memcpy(*out, text, size);
    return ht_comm_broadcast(c, *out, size);
}

/* values <- combined with those of the other ranks in the order of ranks. */
static HT_ERR combine(struct ht_comm *c, int count, double *values, bool add) {
    if (c == NULL || count == 0) return HT_OK;
    size_t n = (size_t)count;
    HT_ARRAY(double, all, (n * (size_t)c->size));
    TRY(ht_comm_gather(c, values, n * sizeof *values, all));
    for (size_t i = 0; i < n; i++) {
        values[i] = all[i];
        for (size_t r = 1; r < (size_t)c->size; r++) {
            double other = all[r * n + i];
            if (add)
                values[i] += other;
            else if (other > values[i] || isnan(other))
                values[i] = other;
        }
    }
    return HT_OK;
}

HT_ERR ht_comm_sum(struct ht_comm *c, int count, double *values) {
    return combine(c, count, values, true);
}

HT_ERR ht_comm_max(struct ht_comm *c, int count, double *values) {
    return combine(c, count, values, false);
}

HT_ERR ht_comm_collect(struct ht_comm *c, const void *own, int64_t bytes, void *all) {
    if (c == NULL) {
        copy(all, own, (size_t)bytes);
        return HT_OK;
    }
    HT_ARRAY(int64_t, sizes, c->size);
    TRY(ht_comm_gather(c, &bytes, sizeof bytes, sizes));
    /* what is sent is not changed */
    if (c->rank != 0) return ht_message_pass(c, 0, COLLECT, true, (void *)own, bytes);
    copy(all, own, (size_t)bytes);
    char *to = (char *)all + bytes;
    for (int r = 1; r < c->size; to += sizes[r++])
        TRY(ht_message_pass(c, r, COLLECT, false, to, sizes[r]));
    return HT_OK;
}
