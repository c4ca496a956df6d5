/* SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGXCPU: the program ends with exit code
 * 1 and a message, at once or, while a command watches for them, in good order.
 */
#ifndef HTWAVE_APP_STOP_H
#define HTWAVE_APP_STOP_H

#include <stdbool.h>

/* From now on a signal ends the process at once; no file is left half-written.
 * speak: with a message, which of several ranks one prints. */
void ht_stop_end(bool speak);
/* The first signal is noted; SIGINT or SIGTERM as a second one kills. */
void ht_stop_watch(void);
void ht_stop_unwatch(void); /* signals end at once again; forgets one noted */
bool ht_stop_wanted(void);

#endif
