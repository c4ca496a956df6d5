/* A signal handler can tell the rest of the program through a static object
 * only (C11 7.14.1.1), so here is the one variable of this kind.
 */
#include "stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t wanted;

static void set(void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void note(int number) {
    (void)number;
    wanted = 1;
    set(SIG_DFL);
}

void ht_stop_watch(void) {
    wanted = 0;
    set(note);
}

void ht_stop_unwatch(void) {
    set(SIG_DFL);
    wanted = 0;
}

bool ht_stop_wanted(void) {
    return wanted != 0;
}
