/* Work of the host on several cores at once. Work is cut into chunks that do not depend on each
 * other. Chunks depend on the number of threads; results must not: each is computed by one chunk
 * alone, and what is collected over chunks (largest values, sums of integers) does not depend on
 * order.
 */
#ifndef HTWAVE_THREADS_H
#define HTWAVE_THREADS_H

#include "htwave/base.h"

/* Cores that this process may use. */
int ht_threads_cores(void);
/* The most threads of ht_threads_run in this process, the caller among them; 0, as at first:
 * ht_threads_cores. */
void ht_threads_set(int threads);
int ht_threads_count(void);

/* worker: 0 .. ht_threads_count() - 1, one chunk of each at a time; 0 is the caller's thread, the
 * only one that may report progress. */
typedef enum ht_err ht_threads_function(void *data, int64_t chunk, int worker);
/* Runs the chunks 0 .. chunks - 1; they begin in this order. The error is that of the lowest chunk
 * that fails, with its message, as without threads; chunks above may have run. Inside of a chunk
 * there is one thread. */
HT_CHECKED enum ht_err ht_threads_run(int64_t chunks, ht_threads_function *run, void *data);
/* Chunks of so many items, each of at least `least`: several for each thread, which take them in
 * turn; one where there is one thread. */
int64_t ht_threads_chunks(int64_t items, int64_t least);
/* The first item of a chunk; that of chunk `chunks` is `items`. */
static inline int64_t ht_threads_first(int64_t items, int64_t chunks, int64_t chunk) {
    return items / chunks * chunk + items % chunks * chunk / chunks;
}

#endif
