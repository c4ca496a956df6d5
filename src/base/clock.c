/* Monotonic time: differences are wall time even if the date is changed. */
#include <time.h>

#include "htwave/base.h"

double ht_clock(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
