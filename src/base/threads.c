/* Threads that live as long as one call. They take the next chunk by counting:
 * all chunks below one that has begun have begun as well, so that the lowest failure is always
 * found. Signals stay with the caller's thread. */
#ifdef __linux__
/* For sched_getaffinity. */
#define _GNU_SOURCE /* NOLINT */
#endif
#include "htwave/base.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { CHUNKS_PER_THREAD = 4, MOST_THREADS = 256 };

static _Atomic int chosen;        /* 0: as many as there are cores */
static _Thread_local bool inside; /* of a chunk */
static _Thread_local int worker;

int ht_threads_cores(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
#endif
    return (int)ht_least(ht_most(cores, 1), MOST_THREADS);
}

void ht_threads_set(int threads) {
    chosen = threads;
}

int ht_threads_count(void) {
    const int set = chosen, count = set > 0 ? set : ht_threads_cores();
    return (int)ht_least(count, MOST_THREADS);
}

int64_t ht_threads_chunks(int64_t items, int64_t least) {
    const int64_t threads = inside ? 1 : ht_threads_count();
    const int64_t chunks = threads > 1 ? CHUNKS_PER_THREAD * threads : 1;
    return ht_most(1, ht_least(chunks, items / ht_most(least, 1)));
}

int ht_threads_worker(void) {
    return worker;
}

struct task {
    enum ht_err (*run)(void *data, int64_t chunk);
    void *data;
    _Atomic int64_t next, end; /* end: the first chunk that is not begun */
    pthread_mutex_t lock;      /* of the failure */
    int64_t failed;
    enum ht_err err;
    char message[HT_ERR_MESSAGE];
};
struct thread {
    pthread_t id;
    struct task *task;
    int number;
};

static void run_chunks(struct task *task) {
    const bool before = inside;
    inside = true;
    for (;;) {
        const int64_t chunk = atomic_fetch_add(&task->next, 1);
        if (chunk >= atomic_load(&task->end)) break;
        const enum ht_err err = task->run(task->data, chunk);
        if (err != HT_OK) {
            pthread_mutex_lock(&task->lock);
            if (task->err == HT_OK || chunk < task->failed) {
                task->err = err;
                task->failed = chunk;
                snprintf(task->message, sizeof task->message, "%s", ht_err_message());
            }
            atomic_store(&task->end, 0);
            pthread_mutex_unlock(&task->lock);
        }
    }
    inside = before;
}

static void *run_thread(void *argument) {
    const struct thread *thread = argument;
    worker = thread->number;
    run_chunks(thread->task);
    return NULL;
}

/* Where a thread cannot be made the others do its work. */
static int start_threads(struct task *task, int count, struct thread *threads) {
    sigset_t all, before;
    int started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < count; i++) {
        struct thread *thread = &threads[started];
        *thread = (struct thread){.task = task, .number = started + 1};
        if (pthread_create(&thread->id, NULL, run_thread, thread) != 0) break;
        started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

HT_ERR ht_threads_run(int64_t chunks, enum ht_err (*run)(void *data, int64_t chunk), void *data) {
    struct thread threads[MOST_THREADS];
    const int64_t most = ht_least(chunks, inside ? 1 : ht_threads_count());
    if (most <= 1) {
        for (int64_t chunk = 0; chunk < chunks; chunk++) TRY(run(data, chunk));
        return HT_OK;
    }
    struct task task = {.run = run, .data = data, .end = chunks, .lock = PTHREAD_MUTEX_INITIALIZER};
    const int others = start_threads(&task, (int)most - 1, threads);
    run_chunks(&task);
    for (int i = 0; i < others; i++) pthread_join(threads[i].id, NULL);
    pthread_mutex_destroy(&task.lock);
    if (task.err != HT_OK) ht_err_set(task.err, "%s", task.message);
    return task.err;
}

struct share {
    enum ht_err (*run)(void *data, int64_t begin, int64_t end);
    void *data;
    int64_t items, chunks;
};

static HT_ERR run_share(void *data, int64_t chunk) {
    const struct share *s = data;
    return s->run(s->data, ht_threads_first(s->items, s->chunks, chunk),
                  ht_threads_first(s->items, s->chunks, chunk + 1));
}

HT_ERR ht_threads_share(int64_t items, int64_t least,
                        enum ht_err (*run)(void *data, int64_t begin, int64_t end), void *data) {
    struct share s = {run, data, items, ht_threads_chunks(items, least)};
    return ht_threads_run(s.chunks, run_share, &s);
}

/* ---- ends of runs ---- */

static _Thread_local struct {
    bool (*wanted)(void *context); /* NULL: nobody ends it */
    void *context;
} stop;

void ht_stop_by(bool (*wanted)(void *context), void *context) {
    stop.wanted = wanted;
    stop.context = context;
}

bool ht_stop_wanted(void) {
    return stop.wanted != NULL && stop.wanted(stop.context);
}
