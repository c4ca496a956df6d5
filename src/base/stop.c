#include "htwave/base.h"

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
