/* For tests of several ranks on few cores, by LD_PRELOAD: ranks that wait inside MPI sleep.
 * htwave's own waits do (ht_comm_pause), but MPI polls without end while it starts, ends, splits
 * communicators and opens or closes a shared file, and takes the cores from the ranks that it waits
 * for: more than half of the CPU time of five ranks on two cores.
 *
 * Every poll of MPICH on UCX calls ucp_worker_progress. Polls that follow each other at once and
 * find nothing are a wait. Other MPI libraries do not call it, and nothing changes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* Polls of a wait that go on at once, before others yield the core, and then sleep. */
enum { AT_ONCE = 20, YIELDS = 20 };
/* Polls further apart than this have work between them; nanoseconds. */
enum { APART = 20000 };
/* The first sleep, and how much longer each of the next ones is. */
enum { SLEEP = 20000, LONGER = 10000, LONGEST = 500000 };

static long clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void pause_after(long polls) {
    long length = SLEEP + (polls - AT_ONCE - YIELDS) * LONGER;
    if (polls <= AT_ONCE) return;
    if (polls <= AT_ONCE + YIELDS) {
        (void)sched_yield();
        return;
    }
    struct timespec moment = {.tv_nsec = length < LONGEST ? length : LONGEST};
    (void)nanosleep(&moment, NULL);
}

unsigned ucp_worker_progress(void *worker) {
    static unsigned (*progress)(void *);
    static _Thread_local long last, polls;
    if (progress == NULL) {
        /* the assignment that POSIX gives for functions of dlsym */
        *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
        if (progress == NULL) abort();
    }
    unsigned events = progress(worker);
    polls = events > 0 || clock_ns() - last > APART ? 0 : polls + 1;
    pause_after(polls);
    last = clock_ns();
    return events;
}
