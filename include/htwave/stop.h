/* SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGXCPU: the program ends with exit code 1 and a message, at
 * once or, while a command watches for them, after the current steps.
 */
#ifndef HTWAVE_STOP_H
#define HTWAVE_STOP_H

#include <stdbool.h>

/* From now on a signal ends the process at once; no file is left half-written. speak: with a
 * message, which only one of several ranks prints. */
void ht_stop_end(bool speak);
/* Records the first signal; a second SIGINT or SIGTERM terminates the process (default action). */
void ht_stop_watch(void);
void ht_stop_unwatch(void); /* signals end at once again; forgets one noted */
bool ht_stop_wanted(void);

#endif
