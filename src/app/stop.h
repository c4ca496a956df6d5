/* SIGINT and SIGTERM as a wish to stop: the first one is noted and the run
 * ends in good order, a second one kills as ever.
 */
#ifndef HTWAVE_APP_STOP_H
#define HTWAVE_APP_STOP_H

#include <stdbool.h>

void ht_stop_watch(void);
void ht_stop_unwatch(void); /* signals kill again; forgets one noted */
bool ht_stop_wanted(void);

#endif
